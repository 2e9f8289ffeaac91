"""Hypergraph spectral learning: each label is a hyperedge around its rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.algebra.operators.structured import Centering, Diagonal, Identity, LowRank, Operator
from proxembed.algebra.template import Template
from proxembed.rows import Rows
from proxembed.targets.labels import LabelMatrix

from ..base import PencilEmbedder
from ..params import param
from ..rows import reciprocal
from ..traits import Traits


class HSL(PencilEmbedder, labels="multi", takes_shares=True):
    """Hypergraph spectral learning: A = S, the normalised hypergraph similarity of the rows, B = I - 11'/n.
    [sun2008hsl]

    Rows that share labels are drawn near each other, as rows of one hyperedge per label. S = D^-1/2 Y W Y' D^-1/2 with
    edge weights w over class sizes nk: w/nk for ``"zhou"`` [zhou2006hypergraph], w for ``"clique"`` and w/nk^2 for
    ``"star"`` [agarwal2006]; D holds the row sums that make S's top eigenvalue 1. With one label per row all three are
    FDA.

    Attributes
    ----------
    components_ : (k, d) array, P'.
    mean_ : (d,) array subtracted before projection (zeros with center=False).
    eigenvalues_ : (k,) array.
    ridge_ : float, the ridge used, absolute.

    Raises
    ------
    ValueError
        For edge_weights of another length than the nonempty labels, n_components above the bound, bad X or y.

    Examples
    --------
    >>> from proxembed import HSL
    >>> from proxembed.data import digits
    >>> data = digits()
    >>> HSL("star", n_components=3).fit(data.X, data.Y).transform(data.X).shape
    (1797, 3)
    """

    expansion: str = param(
        default="zhou",
        choices=("zhou", "clique", "star"),
        kw_only=False,
        doc="How a hyperedge becomes weights between rows.",
    )
    edge_weights: list[Any] | None = param(
        default=None, choices=(None,), kind=(list, tuple, np.ndarray), doc="One positive weight per label; None: all 1."
    )
    self_loops: bool = param(
        default=True, kind=bool, doc="False: the clique expansion without its diagonal (Agarwal's)."
    )
    center: bool = param(default=True, kind=bool, doc="Centre the rows; False as in the paper.")

    @property
    def traits(self) -> Traits:
        """ "zhou" with a given ridge and no edge weights needs the labels of a row; else all labels come first."""
        by_rows = self.expansion == "zhou" and self.edge_weights is None and self.ridge != "auto"
        return replace(super().traits, from_sums="rows" if by_rows else "labels")

    def template(self, rows: Rows) -> Template:
        labels = rows.label_matrix
        w, nk = self._weights(labels), labels.nk
        edge, degree = {"zhou": (w / nk, w), "clique": (w, w * nk), "star": (w / nk**2, w / nk)}[self.expansion]
        without_loops = self.expansion == "clique" and not self.self_loops
        loops = labels.Y.power(2) @ w if without_loops else 0.0
        D = labels.Y @ degree - loops
        F = sparse.csc_array(sparse.diags_array(np.sqrt(reciprocal(D))) @ labels.Y)
        offset = rows.ones if self.center else None
        A: Operator = LowRank(F, edge, center=offset)
        if without_loops:
            A = A - Diagonal(loops * reciprocal(D))
        B = Centering() if self.center else Identity(rows.n)
        target = sparse.csc_array(F @ sparse.diags_array(np.sqrt(edge)))
        return Template(A, B, b=0, offset=offset, target=target)

    def _weights(self, labels: LabelMatrix) -> np.ndarray:
        if self.edge_weights is None:
            return np.ones(labels.c)
        w = np.asarray(self.edge_weights, dtype=np.float64)
        if w.shape != (labels.c,) or not np.all(w > 0) or not np.all(np.isfinite(w)):
            raise ValueError(
                f"edge_weights must hold {labels.c} positive numbers, one for each label that some row has; "
                f"got shape {w.shape}."
            )
        return w
