"""MESD: the multi-label extension of any single-label method, by counting each row once per label without copying
it."""

from dataclasses import replace

import numpy as np

from proxembed.algebra.operators.structured import Laplacian
from proxembed.algebra.template import Template
from proxembed.estimator.rows import Rows
from proxembed.estimator.traits import Traits
from proxembed.estimator.weights import WeightedRows
from proxembed.estimator.wrapper import innermost
from proxembed.params import param

from .classes_of_rows import ClassesOfRows
from .fisher import FDA, MMC


class MESD(
    ClassesOfRows, labels="multi", takes_shares=True, needs_all_rows="its method needs all rows; FDA and MMC do not"
):
    """Multi-label extension by sample duplication of any single-label method: its template with label copies collapsed.
    [mu2012mesd]

    Extends a method for one class per row to several labels, as if each row were copied once per label. The copies
    share one embedding, so the problem of the copies reduces to the original rows. With one label per row it is the
    method itself. Rows without labels have no weight, except with a single label: rows with it and without it are then
    two classes.

    Attributes
    ----------
    components_ : (k, d) array, P'.
    mean_ : (d,) array, the mean of all label copies.
    eigenvalues_ : (k,) array.
    method_ : the wrapped method with its parameters.

    Raises
    ------
    ValueError
        For a method that is not single-label, n_components above its bound, bad X or y.

    See Also
    --------
    proxembed.DirectMESD : MESD that places the rows themselves.
    proxembed.CopyLDA : Discriminants of rows counted once per label.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from proxembed import FDA, MESD
    >>> from proxembed.classify import LabelKNN
    >>> from proxembed.data import digits
    >>> data = digits()
    >>> model = make_pipeline(MESD(FDA(), n_components=6), LabelKNN()).fit(data.X[:1200], data.Y[:1200])
    >>> model.score(data.X[1200:], data.Y[1200:]) > 0.8  # rows whose whole label set is right
    True
    """

    task = "extends single-label methods"

    weighting: str = param(
        default="none",
        choices=("none", "mimj", "printed"),
        doc="Weights of pairs of copies: 1, 1/(m_i m_j), or the form printed in the paper's text.",
    )

    copies: str = param(
        default="distinct",
        choices=("distinct", "count"),
        doc="Neighbours of other classes: distinct rows, or each of their copies takes a place.",
    )
    enemy: str = param(
        default="any",
        choices=("any", "disjoint"),
        doc="Rows of other classes: those with any label that the copy does not have, or with no label of the row.",
    )

    constraint: str = param(
        default="method",
        choices=("method", "embedding"),
        doc="What is orthonormal: as the wrapped method has it, or the embedding of all copies, B = diag(m), m the "
        "labels per row; about the copies' mean, up to the ridge.",
    )

    def count_rows(self, rows: Rows, counts: np.ndarray) -> Rows:
        inner = self.inner()
        if not inner.follows_from_sums:
            return inner.count_rows(rows, counts)
        return WeightedRows.of(rows, counts, whole=self.weighting != "none")

    @property
    def traits(self) -> Traits:
        """Sums as the wrapped method, where copies weigh one, else all labels come first; shares for class means."""
        inner, once = self.inner().traits, self.weighting == "none"
        shares = once and isinstance(innermost(self), FDA | MMC)
        return replace(
            super().traits,
            from_sums=inner.from_sums if once else inner.from_sums and "labels",
            takes_shares=shares,
            takes_counts=shares,
            takes_numbers=False,
            unknown=self.unknown,
        )

    def template(self, rows: Rows) -> Template:
        copied, template = self.with_classes(rows), super().template(rows)
        if self.constraint == "method":
            return template
        return replace(template, B=Laplacian(copied.grand_mean()), b=0.0, offset=copied.each_counted(copied.labels.m))

    def with_classes(self, rows: Rows) -> Rows:
        return rows.copied(self.weighting, self.copies, self.enemy)
