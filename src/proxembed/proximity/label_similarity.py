"""LabelSimilarity: G, the similarities of rows by their labels, as similarities of the distinct label sets.

In: labels and one of three schemes: label strings, latent labels, similarities of classes. Out: G in [0, 1], known by
blocks of label sets, by pairs of rows, as a low-rank factor where there is one, and never n x n.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from proxembed.algebra.arrays.blas import each_in_threads, symmetrise
from proxembed.algebra.arrays.matrix import guard_dense, row_blocks, row_squares
from proxembed.algebra.pencil.symmetric import RANGE_TOLERANCE, descending, eigenvalues, fix_signs
from proxembed.pairs.formulas import PairMeasure, SetPairs, cosine, gaussian, measures_for, ratio
from proxembed.params import call_for_array, call_user_function
from proxembed.targets.labels import MANY_LABELS, LabelMatrix

from .backends import nearest
from .distances import squared_norms
from .graph import geodesics, neighbor_graph
from .reconstruction import reconstruction_matrix, reconstruction_weights
from .weights import LOCAL_NEIGHBORS, correlation_blocks

ROUNDING = 1e-12
SKEW = 1e-6  # of the largest value: what single precision leaves of symmetry


SET_SIMILARITIES = measures_for("sets")
LABEL_KERNELS = measures_for("label kernel")


def similarity_of_sets(
    measure: PairMeasure, shared: np.ndarray, left: np.ndarray, right: np.ndarray, tau: float | None = 1.0
) -> np.ndarray:
    """The measure of label sets from their shared labels and sizes; ``tau``: its width, or the number of labels."""
    values: Any = measure.values
    return values(SetPairs(shared, left, right), **measure.settings(tau=tau))


def label_sets(labels: LabelMatrix) -> tuple[Any, np.ndarray]:
    """The distinct label sets, u x c, and the set of each row; a sparse matrix where labels are many."""
    return labels.distinct_sets() if labels.c > MANY_LABELS and not labels.of_block else labels.groups()


def _dense(sets: Any, who: str) -> np.ndarray:
    """Label sets as the array that callables take."""
    if not sparse.issparse(sets):
        return np.asarray(sets)
    guard_dense(sets.shape, f"{who}: the label sets")
    return np.asarray(sets.toarray())


def _shared(left: Any, right: Any) -> np.ndarray:
    """Left right' of label sets, weighted or not, as an array."""
    products = left @ right.T
    return np.asarray(products.toarray() if sparse.issparse(products) else products)


def similarity(kind: str | Callable[[np.ndarray], np.ndarray], sets: Any, tau: float | None = None) -> np.ndarray:
    """The label kernel of this name, or of a callable sets -> u x u, checked to be symmetric and finite. ``sets``: an
    array or a sparse matrix. ``tau``: the width of "rbf", by default ``mean_differing``."""
    u = sets.shape[0]
    guard_dense((u, u), f"label_kernel={kind!r}: the similarities of all label sets")
    if callable(kind):
        found = call_user_function("label_kernel", kind, _dense(sets, f"label_kernel={kind!r}"))
        return checked_similarity(found, u, f"label_kernel={kind!r}")
    m = row_squares(sets)  # of 0 and 1 the number of labels
    width = mean_differing(sets) if kind == "rbf" and tau is None else tau
    found = np.empty((u, u))
    for part in row_blocks(u, u):
        shared = _shared(sets[part], sets)
        found[part] = similarity_of_sets(LABEL_KERNELS[kind], shared, m[part, None], m[None, :], width)
    return found


def mean_differing(sets: Any) -> float:
    """The mean number of labels in which two distinct rows of ``sets`` differ, at least 1: the default tau of (37)."""
    u, counts = sets.shape[0], sets.sum(axis=0)
    if u < 2:
        return 1.0
    total = u * counts.sum() - counts @ counts
    return max(float(total / (u * (u - 1) / 2)), 1.0)


def checked_similarity(values: object, size: int, given: str) -> np.ndarray:
    """A caller's similarities as a symmetric array of their own; errors begin with ``given``."""
    needed = f"{given} is not allowed: a finite symmetric {size:,} x {size:,} matrix is needed"
    try:
        G = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as fault:
        raise ValueError(f"{needed}, not {type(values).__name__}: {fault}.") from fault
    if G.shape != (size, size):
        raise ValueError(f"{needed}; its shape is {G.shape}.")
    top = float(np.max([G.max(initial=0.0), -G.min(initial=0.0)]))
    if not np.isfinite(top):
        wrong = ~np.isfinite(G)
        raise ValueError(f"{needed}; {np.count_nonzero(wrong):,} entries are not finite, the first at {_place(wrong)}.")
    skew = _largest_skew(G)
    if skew > SKEW * top:
        raise ValueError(f"{needed}; it differs from its transpose by up to {skew:.3g}. Take (S + S.T) / 2.")
    return symmetrise(G)


def _largest_skew(A: np.ndarray) -> float:
    parts = row_blocks(len(A), len(A))
    return max((float(np.abs(A[p, p.start :] - A[p.start :, p].T).max()) for p in parts), default=0.0)


def _place(wrong: np.ndarray) -> tuple[int, ...]:
    return tuple(int(k) for k in np.argwhere(wrong)[0])


def clip_negative(values: np.ndarray) -> np.ndarray:
    """Cosines and their like as similarities: 0 where they are negative, or positive by rounding only."""
    return np.where(values > ROUNDING, values, 0.0)


LATENT = ("pca", "lsi")
LATENT_SIMILARITIES = measures_for("latent")
LATENT_KINDS = (*LATENT_SIMILARITIES, "reconstruction")
SHARE = 0.9
NEAREST = 5  # points that rebuild a point, or from which a path begins

Between = Callable[[np.ndarray, np.ndarray], np.ndarray]


def latent_labels(
    labels: LabelMatrix,
    sets: Any,
    kind: str | Callable[[np.ndarray], np.ndarray] = "pca",
    n_latent: int | None = None,
    centred: bool = False,
) -> np.ndarray:
    """phi(y) = Py'y of the label sets, (39): Py holds the leading directions of the labels of all rows. [mu2012mesd]
    ``centred``: of y less the mean label vector, so that phi are PCA scores."""
    if callable(kind):
        return _points(kind, _dense(sets, f"latent={kind!r}"), "label sets")
    _check_latent(kind)
    w, V = descending(labels.centred_gram if kind == "pca" else labels.gram)
    P = fix_signs(V[:, : _directions(w, kind, n_latent)])  # correlations over the coordinates depend on their signs
    points = np.asarray(sets @ P)
    return points - (labels.nk / labels.n) @ P if centred else points


def latent_classes(
    labels: LabelMatrix,
    used: np.ndarray,
    kind: str | Callable[[np.ndarray], np.ndarray] = "pca",
    n_latent: int | None = None,
    centred: bool = False,
) -> np.ndarray:
    """phi of classes, (39) with Y' in the place of Y: the rows that carry a label are its vector of 0/1. [mu2012mesd]
    Parameters, result and errors as for ``latent_labels``, for the classes ``used``; a callable takes their r x n
    vectors. The directions (of n entries) are never formed: points follow from Y'Y."""
    if callable(kind):
        guard_dense((len(used), labels.n), f"latent={kind!r}: the rows of each label")
        return _points(kind, labels.Y.T.tocsr()[used].toarray(), "classes")
    _check_latent(kind)
    G = labels.gram[np.ix_(used, used)]
    right = G - G.mean(axis=1, keepdims=True) if kind == "pca" else G
    w, U = descending(right - right.mean(axis=0) if kind == "pca" else G)
    k = _directions(w, kind, n_latent)
    phi = fix_signs(right @ (U[:, :k] / np.sqrt(w[:k])))
    return phi - phi.mean(axis=0) if centred else phi


def _points(kind: Callable[..., Any], vectors: np.ndarray, what: str) -> np.ndarray:
    """The latent variables of a function, checked."""
    phi = call_for_array("latent", kind, vectors)
    if phi.ndim != 2 or len(phi) != len(vectors) or not np.isfinite(phi).all():
        raise ValueError(
            f"latent={kind!r} must return a finite array with a row for each of the {len(vectors)} {what}; it "
            f"returned one of shape {phi.shape}."
        )
    return phi


def _check_latent(kind: object) -> None:
    if not isinstance(kind, str) or kind not in LATENT:
        raise ValueError(f"latent={kind!r} is not known; choose one of {', '.join(LATENT)}, or pass a callable.")


def _directions(w: np.ndarray, kind: str, n_latent: int | None) -> int:
    """How many directions of this spectrum are taken: ``n_latent``, or those that hold 90 % of it."""
    rank = int(np.count_nonzero(w > RANGE_TOLERANCE * w[0])) if w[0] > 0 else 0
    if n_latent is None:
        share = np.cumsum(w[:rank]) / max(w[:rank].sum(), np.finfo(float).tiny)
        n_latent = min(int(np.searchsorted(share, SHARE)) + 1, rank)
    elif isinstance(n_latent, bool) or not isinstance(n_latent, int | np.integer) or not 1 <= n_latent <= rank:
        raise ValueError(
            f"n_latent={n_latent!r} is not allowed: it must be a whole number from 1 to {rank}, the rank of the "
            f'labels under latent="{kind}", or None.'
        )
    return n_latent


def latent_between(
    phi: np.ndarray,
    kind: str | Callable[..., Any] = "cosine",
    tau: float | None = None,
    p: float = 2.0,
    n_scale: int = LOCAL_NEIGHBORS,
) -> tuple[Between, float]:
    """Similarities of latent points: (function of two index vectors a, b -> (len(a), len(b)) array, largest value).
    ``kind``: a name of LATENT_KINDS, or a callable phi -> u x u. Negative values become 0. ``tau``: the width;
    None: the mean over all pairs of points of what it divides, or 1. ``p``: the power of "minkowski", (40)."""
    if callable(kind):
        guard_dense((len(phi), len(phi)), f"similarity={kind!r}: the similarities of all label sets")
        G = checked_similarity(call_user_function("similarity", kind, phi), len(phi), f"similarity={kind!r}")
        np.maximum(G, 0.0, out=G)
        return lambda a, b: G[np.ix_(a, b)], float(G.max(initial=0.0))
    if isinstance(kind, str) and kind == "reconstruction":
        G = _reconstructed(phi)
        return lambda a, b: G[np.ix_(a, b)], float(G[0, 0])
    if not isinstance(kind, str) or kind not in LATENT_SIMILARITIES:
        raise ValueError(
            f"similarity={kind!r} of latent labels is not known; choose one of {', '.join(LATENT_SIMILARITIES)}, "
            "reconstruction, or pass a callable."
        )
    measure: Any = LATENT_SIMILARITIES[kind]
    if measure.signed:
        return _clipped(correlation_blocks(phi, kind)), 1.0
    if measure.weight is None and measure.values is not None:
        squares = row_squares(phi)
        return _clipped(lambda a, b: measure.values(SetPairs(phi[a] @ phi[b].T, squares[a, None], squares[b]))), 1.0
    return _of_distances(phi, kind, tau, p, n_scale)


def _clipped(between: Between) -> Between:
    return lambda a, b: clip_negative(between(a, b))


def _of_distances(phi: np.ndarray, kind: str, tau: float | None, p: float, n_scale: int) -> tuple[Between, float]:
    measure: Any = LATENT_SIMILARITIES[kind]
    if kind == "minkowski":
        if not 1.0 <= p < np.inf:
            raise ValueError(f"p={p!r} is not allowed: Minkowski's power is a finite number of at least 1.")

        def powers(a: np.ndarray, b: np.ndarray) -> np.ndarray:
            return _differences(phi[a], phi[b], p)

        width = _mean_of_reachable_pairs(powers, len(phi)) if tau is None else tau
        return lambda a, b: gaussian(powers(a, b), width), 1.0
    if kind == "geodesic":
        distance = _geodesic_points(phi)
    else:

        def distance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
            return cdist(phi[a], phi[b])

    width = 1.0 if tau is None else tau
    if measure.median_width and tau is None:
        width = _mean_of_reachable_pairs(lambda a, b: distance(a, b) ** 2, len(phi))
    if measure.ends is None:
        return lambda a, b: measure.weight(distance(a, b), width), float(measure.weight(np.zeros(1), width)[0])
    largest = float(measure.weight(np.zeros(1), width, np.ones(1), np.ones(1))[0])
    own = _scales(distance, np.arange(len(phi)), n_scale) if measure.ends == "scales" else row_squares(phi)
    return lambda a, b: measure.weight(distance(a, b), width, own[a, None], own[b][None, :]), largest


def _differences(left: np.ndarray, right: np.ndarray, p: float) -> np.ndarray:
    """sum |x - y|^p of all pairs of points."""
    if p == 2.0:
        return cdist(left, right, "sqeuclidean")
    return cdist(left, right, "cityblock") if p == 1.0 else cdist(left, right, "minkowski", p=p) ** p


def _mean_of_reachable_pairs(values: Between, u: int) -> float:
    """The mean over all pairs of different points, those at no finite distance apart; 1 where that is 0."""
    total, count, everyone = 0.0, 0, np.arange(u)
    for part in row_blocks(u, u):
        found = values(everyone[part], everyone)
        reached = np.isfinite(found)
        total += float(found[reached].sum())
        count += int(np.count_nonzero(reached)) - len(found)
    return total / count if count and total > 0.0 else 1.0


def _scales(distance: Between, everyone: np.ndarray, n_scale: int) -> np.ndarray:
    """The distance of each point to its K-th nearest other point, or to the last."""
    u = len(everyone)
    if u < 2:
        return np.zeros(u)
    rank = min(int(n_scale), u - 1)
    blocks = (distance(everyone[part], everyone) for part in row_blocks(u, u))
    return np.concatenate([np.partition(block, rank, axis=1)[:, rank] for block in blocks])


def _geodesic_points(phi: np.ndarray) -> Between:
    u = len(phi)
    if u < 2:
        return lambda a, b: np.zeros((len(a), len(b)))
    guard_dense((u, u), "The geodesic distances of the label sets")
    paths = geodesics(neighbor_graph(nearest(phi, min(NEAREST, u - 1)), u))
    return lambda a, b: paths[np.ix_(a, b)]


def _reconstructed(phi: np.ndarray) -> np.ndarray:
    """V + V' - V'V where it is positive, V the weights of LLE that rebuild a point from its five nearest ones; of a
    point with itself the largest value, at least 1."""
    u = len(phi)
    guard_dense((u, u), "The reconstruction weights of the label sets")
    index = nearest(phi, min(NEAREST, u - 1)).index if u > 1 else np.empty((u, 0), dtype=np.intp)
    V = reconstruction_matrix(index, reconstruction_weights(phi, index), u)
    G = clip_negative((V + V.T - V.T @ V).toarray())
    np.fill_diagonal(G, max(float(G.max()), 1.0))
    return G


OF_POINTS = tuple(
    f"features_{kind}"
    for kind in ("local_scaling", "alternative", "pearson", "spearman", "kendall", "geodesic", "reconstruction")
)
OF_FEATURES = ("features", "features_gaussian", "features_binary", "features_binary_gaussian", *OF_POINTS)
OF_LATENT = tuple(f"latent_{kind}" for kind in LATENT_KINDS)
OF_MEMBERS = {"cooccurrence" if kind == "and" else kind: measure for kind, measure in SET_SIMILARITIES.items()}
CLASS_SIMILARITIES = (*OF_MEMBERS, *OF_LATENT, *OF_FEATURES)


def class_similarity(
    labels: LabelMatrix,
    kind: str | Callable[..., Any] | np.ndarray = "dice",
    *,
    tau: float | None = None,
    features: Any = None,
    latent: str | Callable[..., Any] = "pca",
    n_latent: int | None = None,
    centred: bool = False,
    p: float = 2.0,
    n_scale: int = LOCAL_NEIGHBORS,
) -> np.ndarray:
    """Sigma of (42), similarities of the c classes: symmetric, at least 0. [mu2012mesd] Classes are compared as sets of
    the rows that carry them ("cooccurrence": Y'Y; "scaled_dice" counts a shared row 1/m_i), by latent variables
    ("latent_..."), or by their vectors Y'X ("features...", "binary": 1[Y'X > 0]; "features" alone: cosines). A class
    without rows is similar to none."""
    if callable(kind):
        guard_dense((labels.c, labels.n), f"similarity={kind!r}: the rows of each label")
        Sigma = checked_similarity(
            call_user_function("similarity", kind, labels.Y.T.toarray()), labels.c, f"similarity={kind!r}"
        )
    elif not isinstance(kind, str):
        Sigma = checked_similarity(kind, labels.c, "similarity")
    elif kind not in CLASS_SIMILARITIES:
        raise ValueError(
            f"similarity={kind!r} of classes is not known; choose one of {', '.join(CLASS_SIMILARITIES)}, a c x c "
            "array, or a callable."
        )
    elif kind in OF_LATENT:
        used = np.flatnonzero(labels.nk > 0)
        phi = latent_classes(labels, used, latent, n_latent, centred)
        Sigma = _of_points(used, labels.c, latent_between(phi, kind.removeprefix("latent_"), tau, p, n_scale)[0])
    elif kind in OF_POINTS:
        used = np.flatnonzero(labels.nk > 0)
        V = _class_vectors(labels, kind, features)[used]
        guard_dense(V.shape, f"similarity={kind!r}: the vectors of the classes")
        V = np.asarray(V.toarray() if sparse.issparse(V) else V, dtype=np.float64)
        Sigma = _of_points(used, labels.c, latent_between(V, kind.removeprefix("features_"), tau, p, n_scale)[0])
    elif kind in OF_FEATURES:
        Sigma = _of_vectors(labels, kind, features, tau)
    else:
        Sigma = _of_members(labels, kind, tau)
    return np.maximum(Sigma, 0.0, out=Sigma)


def _of_members(labels: LabelMatrix, kind: str, tau: float | None) -> np.ndarray:
    """A similarity of the sets of rows that carry the labels."""
    shared, size = labels.shared if kind == "scaled_dice" else labels.gram, labels.nk
    if kind == "hamming" and tau is None:
        used = np.ix_(size > 0, size > 0)
        tau = max(_mean_of_pairs((size[:, None] + size - 2.0 * shared)[used]), 1.0)
    width = float(labels.n) if kind == "hamming_linear" else tau
    for part in row_blocks(*shared.shape):
        shared[part] = similarity_of_sets(OF_MEMBERS[kind], shared[part], size[part, None], size[None, :], width)
    return _without_empty(shared, labels)


def _of_points(used: np.ndarray, c: int, between: Between) -> np.ndarray:
    """The similarities of the points of the classes ``used``, 0 for the others."""
    everyone, Sigma = np.arange(len(used)), np.zeros((c, c))
    Sigma[np.ix_(used, used)] = between(everyone, everyone)
    return (Sigma + Sigma.T) / 2.0


def _class_vectors(labels: LabelMatrix, kind: str, features: Any) -> Any:
    """Y'X."""
    if features is None or features.shape[0] != labels.n:
        given = "none" if features is None else f"{features.shape[0]:,} rows"
        raise ValueError(f"similarity={kind!r} needs class_features, the {labels.n:,} rows of X; got {given}.")
    return labels.Y.T.tocsr() @ features


def _of_vectors(labels: LabelMatrix, kind: str, features: Any, tau: float | None) -> np.ndarray:
    """The cosine or the Gaussian of the class vectors Y'X."""
    V = _class_vectors(labels, kind, features)
    if "binary" in kind:
        V = (V > 0).astype(np.float64)
    dots = V @ V.T
    dots = np.asarray(dots.toarray() if sparse.issparse(dots) else dots, dtype=np.float64)
    squares = squared_norms(sparse.csr_array(V) if sparse.issparse(V) else np.asarray(V, dtype=np.float64))
    if "gaussian" not in kind:
        length = np.sqrt(squares)
        Sigma = clip_negative(cosine(dots, length[:, None], length[None, :]))
    else:
        d2 = np.maximum(squares[:, None] + squares - 2.0 * dots, 0.0)
        np.fill_diagonal(d2, 0.0)
        used = np.ix_(labels.nk > 0, labels.nk > 0)
        Sigma = gaussian(d2, (_mean_of_pairs(d2[used]) or 1.0) if tau is None else tau)
    return _without_empty((Sigma + Sigma.T) / 2.0, labels)


def _without_empty(Sigma: np.ndarray, labels: LabelMatrix) -> np.ndarray:
    empty = labels.nk == 0
    Sigma[empty] = 0.0
    Sigma[:, empty] = 0.0
    return Sigma


def _mean_of_pairs(D: np.ndarray) -> float:
    """The mean of the entries above the diagonal; 0 where there are none."""
    return float(D[np.triu_indices(len(D), 1)].mean()) if len(D) > 1 else 0.0


SCHEMES = ("labels", "latent", "classes")
DEFAULTS = {"labels": "dice", "latent": "cosine", "classes": "dice"}
TABLE = 8  # label sets per pair up to which the similarities of all of them are looked up in a table
SETS = 64
PAIRS = 1 << 16  # looked up at a time: their temporary arrays stay in the cache
Factor = tuple[Any, np.ndarray | None, np.ndarray | None]


@dataclass(frozen=True, eq=False)
class LabelSimilarity:
    """G of n rows: g_ij = between(set of i, set of j) / scale, within [0, 1]. ``index`` names the label set of each
    row; ``between(a, b)`` gives the unscaled similarities of sets a with sets b."""

    index: np.ndarray
    u: int
    between: Between
    scale: float = 1.0
    low_rank: Factor | None = None

    @property
    def n(self) -> int:
        """Rows."""
        return len(self.index)

    def of_sets(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Similarities of the label sets a with the label sets b, (len(a), len(b))."""
        found = self.between(a, b) / self.scale
        return np.clip(found, 0.0, 1.0, out=found)

    def pairs(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """g of the pairs of rows (i_t, j_t): looked up where the label sets are few beside the pairs, else the sets of
        a few i at a time are compared with those of their j."""
        if self.u * self.u <= TABLE * len(i):
            table, out = self._of_all_sets.ravel(), np.empty(len(i))
            for start in range(0, len(i), PAIRS):
                part = slice(start, start + PAIRS)
                out[part] = table.take(self.index[i[part]] * self.u + self.index[j[part]])
            return out
        left, right = self.index[i], self.index[j]
        order = np.argsort(left, kind="stable")
        ascending, first, out = left[order], np.unique(left), np.empty(len(left))
        for start in range(0, len(first), SETS):
            sets = first[start : start + SETS]
            begin, end = np.searchsorted(ascending, (sets[0], sets[-1] + 1))
            here = order[begin:end]
            others, place = np.unique(right[here], return_inverse=True)
            out[here] = self.of_sets(sets, others)[np.searchsorted(sets, left[here]), place]
        return out

    def own(self) -> np.ndarray:
        """g of each label set with itself, (u,)."""
        parts = (np.arange(start, min(start + SETS, self.u)) for start in range(0, self.u, SETS))
        return np.concatenate([np.diag(self.of_sets(part, part)) for part in parts])

    def factor(self) -> Factor | None:
        """(F, S, F'1) with G = F S F' exactly, as ``LowRank`` takes them: F n x q, S a vector (a diagonal), q x q or
        None; F'1 where F holds the rows of a block, else None. None for similarities that have no low-rank form."""
        return self.low_rank

    def grouped(self) -> tuple[np.ndarray, np.ndarray]:
        """(label set of each row, similarities of the u label sets, u x u, symmetric): G = E Gu E', always exact."""
        return self.index, self._of_all_sets

    @cached_property
    def _of_all_sets(self) -> np.ndarray:
        guard_dense((self.u, self.u), "The similarities of all label sets")
        everyone, G = np.arange(self.u), np.empty((self.u, self.u))

        def work(part: slice) -> None:
            G[part] = self.of_sets(everyone[part], everyone)

        each_in_threads(work, row_blocks(self.u, self.u))
        return symmetrise(G)


def label_similarity(
    labels: LabelMatrix,
    scheme: str = "classes",
    similarity: str | Callable[..., Any] | np.ndarray | None = None,
    *,
    tau: float | None = None,
    p: float = 2.0,
    latent: str | Callable[..., Any] | None = None,
    n_latent: int | None = None,
    centred: bool = False,
    class_features: Any = None,
    n_scale: int = LOCAL_NEIGHBORS,
) -> LabelSimilarity:
    """G, similarities of rows from their labels, over the largest value; negative ones are 0. [mu2012mesd] ``scheme``:
    "labels" compares label sets as strings of 0 and 1; "latent" their latent variables phi(y) = Py'y; "classes" takes
    the mean similarity of the classes of both rows, G = M^-1 Y Sigma Y' M^-1. Under "labels" and "classes" rows without
    labels are similar to none, except for the Hamming similarities."""
    if scheme not in SCHEMES:
        raise ValueError(f"scheme={scheme!r} is not known; choose one of {', '.join(SCHEMES)}.")
    if tau is not None and not 0.0 < tau < np.inf:
        raise ValueError(f"tau={tau!r} is out of range: a finite number above 0 is needed, or None for the default.")
    kind: Any = DEFAULTS[scheme] if similarity is None else similarity
    sets, index = label_sets(labels)
    if scheme == "labels":
        return _of_strings(labels, sets, index, kind, tau)
    if scheme == "classes":
        Sigma = class_similarity(
            labels, kind, tau=tau, features=class_features, latent="pca" if latent is None else latent,
            n_latent=n_latent, centred=centred, p=p, n_scale=n_scale,
        )  # fmt: skip
        return _of_classes(labels, sets, index, Sigma)
    phi = latent_labels(labels, sets, "pca" if latent is None else latent, n_latent, centred)
    between, largest = latent_between(phi, kind, tau, p, n_scale)
    return LabelSimilarity(index, sets.shape[0], between, largest or 1.0)


def _of_strings(labels: LabelMatrix, sets: Any, index: np.ndarray, kind: Any, tau: float | None) -> LabelSimilarity:
    """Scheme 1."""
    u, m = sets.shape[0], sets.sum(axis=1)
    if callable(kind):
        guard_dense((u, u), f"similarity={kind!r}: the similarities of all label sets")
        found = call_user_function("similarity", kind, _dense(sets, f"similarity={kind!r}"))
        G = checked_similarity(found, u, f"similarity={kind!r}")
        np.maximum(G, 0.0, out=G)
        return LabelSimilarity(index, u, lambda a, b: G[np.ix_(a, b)], float(G.max(initial=0.0)) or 1.0)
    if not isinstance(kind, str) or kind not in SET_SIMILARITIES:
        raise ValueError(
            f"similarity={kind!r} of label sets is not known; choose one of {', '.join(SET_SIMILARITIES)}, or pass a "
            "callable."
        )
    weights = ratio(1.0, labels.nk) if kind == "scaled_dice" else np.ones(labels.c)
    width = (mean_differing(sets) if tau is None else tau) if kind == "hamming" else float(labels.c)
    measure, weighted = SET_SIMILARITIES[kind], _by_columns(sets, weights)

    def between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return similarity_of_sets(measure, _shared(weighted[a], sets[b]), m[a, None], m[b][None, :], width)

    scale = 1.0
    if kind in ("and", "scaled_dice"):  # positive semidefinite: the largest value is on the diagonal
        own = (weighted * sets).sum(axis=1)
        scale = float((own if kind == "and" else own * ratio(1.0, m)).max(initial=0.0)) or 1.0
    return LabelSimilarity(index, u, between, scale, _string_factor(labels, sets, kind, scale))


def _by_columns(sets: Any, weights: np.ndarray) -> Any:
    """sets diag(weights)."""
    return sparse.csr_array(sets @ sparse.diags_array(weights)) if sparse.issparse(sets) else sets * weights


def _string_factor(labels: LabelMatrix, sets: Any, kind: str, scale: float) -> Factor | None:
    """Y; M^-1/2 Y; [Y, 1] with a (c + 1) x (c + 1) core for 1 - h/c."""
    Y, c = labels.Y, labels.c
    if kind == "and":
        return Y, np.full(c, 1.0 / scale), _sums(labels, lambda: sets)
    if kind == "cosine":
        F = sparse.csc_array(sparse.diags_array(np.sqrt(ratio(1.0, labels.m))) @ Y)
        return F, None, _sums(labels, lambda: np.sqrt(ratio(1.0, sets.sum(axis=1)))[:, None] * sets)
    if kind != "hamming_linear":
        return None
    S = np.diag(np.append(np.full(c, 2.0 / c), 1.0))
    S[:c, c] = S[c, :c] = -1.0 / c
    F = sparse.csc_array(sparse.hstack([Y, np.ones((Y.shape[0], 1))]))
    return F, S, _sums(labels, lambda: np.column_stack([sets, np.ones(len(sets))]))


def _sums(labels: LabelMatrix, of_sets: Callable[[], np.ndarray]) -> np.ndarray | None:
    """F'1 over all rows from the factor's rows of the label sets, where the labels are those of a block."""
    return labels.set_counts() @ of_sets() if labels.of_block else None


def _of_classes(labels: LabelMatrix, sets: Any, index: np.ndarray, Sigma: np.ndarray) -> LabelSimilarity:
    """Scheme 3, (42). Of many labels F is sparse, and products with Sigma are made as they are needed."""
    u, many = sets.shape[0], sparse.issparse(sets)
    share = ratio(1.0, sets.sum(axis=1))
    F = sparse.csr_array(sparse.diags_array(share) @ sets) if many else sets * share[:, None]
    FS: Any = None if many else F @ Sigma

    def between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.asarray((F[a] @ Sigma if FS is None else FS[a]) @ F[b].T)

    spectrum = None if many else eigenvalues(Sigma)
    if spectrum is not None and spectrum[-1] >= -1e-12 * abs(spectrum[0]):  # the largest value is on the diagonal
        scale = float(np.einsum("ij,ij->i", FS, F).max(initial=0.0))
    else:
        everyone = np.arange(u)
        scale = max(float(between(everyone[part], everyone).max()) for part in row_blocks(u, u))
    scale = scale or 1.0
    wide = sparse.csc_array(sparse.diags_array(ratio(1.0, labels.m)) @ labels.Y)
    return LabelSimilarity(index, u, between, scale, (wide, Sigma / scale, _sums(labels, lambda: F)))
