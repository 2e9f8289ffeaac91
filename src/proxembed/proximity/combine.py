"""Psi: weights from features (W) and similarities from labels (G) combined into one proximity, pair by pair."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..params import call_for_array
from .graph import edge_rows, sorted_edges, symmetric
from .label_similarity import LabelSimilarity

COMBINATIONS = ("priority", "hadamard", "sum")


def combine(
    kind: str | Callable[[Any, np.ndarray], np.ndarray],
    w: Any,
    g: np.ndarray,
    *,
    a: float = 1.0,
    b: float = 1.0,
    beta: float = 1.0,
    gamma: float = 1.0,
) -> np.ndarray:
    """Proximity psi of pairs of rows with weights w and similarities g, both in [0, 1].  [mu2012mesd]

    Labels come first in "priority", (43): psi = gamma g^a / (1 + beta (1 - w^b)) + (1 - gamma) w^b lies between
    g^a / (1 + beta) and g^a where gamma is 1, and rows without a similarity have none there. 0^0 is 1, but g = 0 always
    gives g^a = 0.

    Parameters
    ----------
    kind : "priority", "hadamard" (g w), "sum" (beta g + (1 - beta) w), or a callable (w, g) -> psi.
    w : array, number or None
        Weights, of the shape of g or broadcast to it. None: labels only, which is g^a for "priority" and g for the
        other two; a callable then gets ones.
    g : array
        Similarities.
    a, b, beta, gamma : float
        As in the formulas; a, b, beta at least 0, gamma (and beta of "sum") at most 1.

    Returns
    -------
    ndarray of the shape of g

    Raises
    ------
    ValueError
        For another kind, parameters out of range, w or g outside [0, 1], and a callable whose result is not finite or
        not of the shape of g.

    Examples
    --------
    >>> combine("priority", np.array([0.0, 1.0, 1.0]), np.array([0.5, 0.5, 0.0]))
    array([0.25, 0.5 , 0.  ])
    """
    g = np.asarray(g, dtype=np.float64)
    _check_unit("g", g)
    if w is not None:
        w = np.asarray(w, dtype=np.float64)
        _check_unit("w", w)
    if callable(kind):
        return _called(kind, np.ones(g.shape) if w is None else np.broadcast_to(w, g.shape), g)
    check_combination(kind, a=a, b=b, beta=beta, gamma=gamma)
    if kind == "priority":
        return combine_priority(w, g, a, b, beta, gamma)
    return combine_hadamard(w, g) if kind == "hadamard" else combine_sum(w, g, beta)


@dataclass(frozen=True)
class Combination:
    """psi(w, g) of one kind and its parameters, as ``combine`` takes them.

    Examples
    --------
    >>> Combination("sum", {"beta": 0.5})(1.0, np.array([0.0]))
    array([0.5])
    """

    kind: str | Callable[..., Any] = "priority"
    parameters: dict[str, Any] = field(default_factory=dict)

    def __call__(self, w: Any, g: np.ndarray) -> np.ndarray:
        return combine(self.kind, w, g, **self.parameters)

    @property
    def rises(self) -> bool:
        """Whether psi is known not to fall where w grows."""
        return isinstance(self.kind, str)


def combine_priority(
    w: np.ndarray | None, g: np.ndarray, a: float = 1.0, b: float = 1.0, beta: float = 1.0, gamma: float = 1.0
) -> np.ndarray:
    """gamma g^a / (1 + beta (1 - w^b)) + (1 - gamma) w^b, (43) where gamma is 1; g^a without weights.  [mu2012mesd]

    Examples
    --------
    >>> combine_priority(np.array([0.25]), np.array([0.25]), a=0.5, b=0.5)
    array([0.33333333])
    """
    labels = np.where(g > 0.0, g**a, 0.0) if a != 1.0 else g
    if w is None:
        return np.array(labels)
    features = w**b if b != 1.0 else w
    psi = labels / (1.0 + beta * (1.0 - features))
    return psi if gamma == 1.0 else gamma * psi + (1.0 - gamma) * features


def combine_hadamard(w: np.ndarray | None, g: np.ndarray) -> np.ndarray:
    """g w; g without weights.

    Examples
    --------
    >>> combine_hadamard(np.array([0.5]), np.array([0.5]))
    array([0.25])
    """
    return np.array(g) if w is None else g * w


def combine_sum(w: np.ndarray | None, g: np.ndarray, beta: float) -> np.ndarray:
    """beta g + (1 - beta) w; g without weights.

    Examples
    --------
    >>> combine_sum(np.array([1.0]), np.array([0.0]), 0.25)
    array([0.75])
    """
    return np.array(g) if w is None else beta * g + (1.0 - beta) * w


def check_combination(kind: str, *, a: float = 1.0, b: float = 1.0, beta: float = 1.0, gamma: float = 1.0) -> None:
    """A ValueError for a combination that is not known and for parameters out of range."""
    if kind not in COMBINATIONS:
        raise ValueError(
            f"combine={kind!r} is not known; choose one of {', '.join(COMBINATIONS)}, or pass a callable (w, g)."
        )
    for name, value in (("a", a), ("b", b), ("beta", beta), ("gamma", gamma)):
        most = 1.0 if name == "gamma" or (name == "beta" and kind == "sum") else np.inf
        if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 <= value <= most or value == np.inf:
            allowed = "from 0 to 1" if most == 1.0 else "of at least 0"
            raise ValueError(f"{name}={value!r} is not allowed with combine={kind!r}: a finite number {allowed} is.")


def unit_weights(W: Any) -> Any:
    """Weights as ``combine`` takes them: max(w, 0) over the largest; CSR keeps its stored entries, and all may be 0.

    Examples
    --------
    >>> unit_weights(np.array([[0.0, 4.0], [-1.0, 2.0]]))
    array([[0. , 1. ],
           [0. , 0.5]])
    """
    if sp.issparse(W):
        W = sp.csr_array(W, dtype=np.float64)
        return sp.csr_array((unit_weights(W.data), W.indices, W.indptr), shape=W.shape)
    values = np.maximum(np.asarray(W, dtype=np.float64), 0.0)
    top = float(values.max(initial=0.0))
    if not top < np.inf:
        raise ValueError("W holds weights that are not finite: scale X, or set absent weights to 0.")
    return values / top if top > 0.0 else values


def combine_grouped(
    G: LabelSimilarity, W: Any = None, kind: str | Callable[..., Any] = "priority", **parameters: float
) -> tuple[np.ndarray, np.ndarray, sp.csr_array | None]:
    """Psi of all pairs of rows in structured form, exactly: Psi = E P E' + C, E the label set of each row.

    Off the edges of W the weights are 0, so that psi depends on the label sets alone; C holds what the edges change.

    Parameters
    ----------
    G : LabelSimilarity
    W : None (labels only), or symmetric sparse matrix of shape (n, n), in [0, 1]
    kind, parameters
        Of ``combine``.

    Returns
    -------
    index : array of shape (n,), the label set of each row.
    P : array of shape (u, u), symmetric.
    C : csr_array of shape (n, n), symmetric; None without W.

    Examples
    --------
    >>> from proxembed.targets.labels import LabelMatrix
    >>> from proxembed.proximity.label_similarity import label_similarity
    >>> G = label_similarity(LabelMatrix.of(np.array([0, 0, 1])), "labels")
    >>> index, P, C = combine_grouped(G, sp.csr_array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    >>> P[np.ix_(index, index)] + C.toarray()
    array([[0.5, 1. , 0. ],
           [1. , 0.5, 0. ],
           [0. , 0. , 0.5]])
    """
    psi, (index, Gu) = Combination(kind, parameters), G.grouped()
    if W is None:
        return index, psi(None, Gu), None
    W = checked_weights(W, G.n)
    g = Gu[index[edge_rows(W)], index[W.indices]]
    change = psi(W.data, g) - psi(np.zeros(len(g)), g)
    return index, psi(np.zeros(Gu.shape), Gu), sp.csr_array((change, W.indices, W.indptr), shape=W.shape)


def checked_weights(W: Any, n: int) -> sp.csr_array:
    """W as canonical CSR, symmetric in every bit; a ValueError where it is not a sparse symmetric n x n matrix.

    Examples
    --------
    >>> checked_weights(sp.csr_array([[0.0, 1.0], [1.0, 0.0]]), 2).data
    array([1., 1.])
    """
    if not sp.issparse(W) or W.shape != (n, n):
        raise ValueError(
            f"W of type {type(W).__name__} and shape {getattr(W, 'shape', None)} is not allowed: it is a sparse "
            f"{n:,} x {n:,} matrix, or None. Pass sparse.csr_array(W)."
        )
    if not getattr(W, "has_canonical_format", False):
        W = sp.csr_array(W, copy=True)
        W.sum_duplicates()
    edges = sorted_edges(W)
    if symmetric(edges):
        return edges
    gap = abs(edges - edges.T).max()
    if not gap <= 1e-10:
        raise ValueError(f"W differs from its transpose by up to {gap:.3g}: pass (W + W.T) / 2.")
    return sorted_edges((edges + edges.T) / 2.0)


def _called(kind: Callable[..., Any], w: np.ndarray, g: np.ndarray) -> np.ndarray:
    psi = call_for_array("combine", kind, w, g)
    if psi.shape != g.shape or not np.isfinite(psi).all():
        raise ValueError(
            f"combine={kind!r} must return finite values of the shape {g.shape} of g; it returned {psi.shape}, "
            f"{'all finite' if np.isfinite(psi).all() else 'not all finite'}."
        )
    return psi


def _check_unit(name: str, values: np.ndarray) -> None:
    if values.size and not (values.min() >= 0.0 and values.max() <= 1.0):
        raise ValueError(
            f"{name} holds values from {values.min():g} to {values.max():g}; from 0 to 1 is allowed: clip it at 0 and "
            "divide by its maximum (unit_weights)."
        )
