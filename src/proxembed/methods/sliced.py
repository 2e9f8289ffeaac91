"""Sliced: a method for one class per row on slices of numbers, as sliced inverse regression is FDA on slices."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans

from proxembed.algebra.pencil.eigen import Solution
from proxembed.estimator.base import Prepared
from proxembed.estimator.rows import Rows
from proxembed.estimator.traits import Traits
from proxembed.estimator.weights import repeated_labels
from proxembed.params import SEED, integers, param
from proxembed.targets.labels import LabelMatrix

from .classes_of_rows import ClassesOfRows

STARTS = 3  # of k-means, of which the best counts
DIGITS = 9  # by which distances from the mean are told apart


class Sliced(
    ClassesOfRows,
    labels="multi",
    takes_numbers=True,
    needs_all_rows="its slices are made from the numbers of all rows",
):
    """Slices of y as the classes of any single-label method; with FDA it is sliced inverse regression.  [li1991sir]

    Carries a method for one class per row over to numbers. One column of y is cut into slices of equal size by rank,
    equal values staying together; several columns are clustered by k-means. Where y holds at most n_slices different
    values, or rows, each is a slice. Labels are not sliced: classes stay as they are, and each label set is a class.
    FDA has at most one component less than there are slices. Its directions follow the mean of X given y, so that they
    need no linear relation to y.

    Attributes
    ----------
    n_slices_ : int, the slices that were made.
    method_ : the wrapped method with its parameters.

    Raises
    ------
    ValueError
        For a method that is not single-label, n_components above its bound on the slices, bad X or y.

    See Also
    --------
    proxembed.OPLS : Ridge regression of the labels, restricted to k components.
    proxembed.MESD : Any method for one class per row, for several labels.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_diabetes
    >>> from proxembed import FDA, Sliced
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = Sliced(FDA(), n_components=2, target_type="real").fit(X, y)
    >>> abs(round(float(np.corrcoef(model.transform(X)[:, 0], y)[0, 1]), 1))
    0.7
    """

    task = "makes classes of numbers"

    n_slices: int = param(
        default=10, low=2, integer=True, search=integers(3, 20), doc="Slices of y; fewer where equal values fill some."
    )
    random_state: Any = param(default=0, like=SEED, doc="Seed of k-means, which slices several columns.")

    @property
    def traits(self) -> Traits:
        """Numbers in any case; the cells of a row are known for its slice, or the row has none."""
        return replace(super().traits, takes_numbers=True, takes_counts=False, takes_shares=False)

    def target_scaling(self) -> Any:
        return self.scale_targets

    def prepare(self, rows: Rows) -> Prepared:
        return replace(super().prepare(rows), attributes={"n_slices_": self.with_classes(rows).labels.c})

    def _chosen(self, found: Solution) -> Solution:
        """The solution cut to what was asked for, or an error that names the bound by the slices."""
        k = self._n_components()
        if isinstance(k, int) and k > found.bound:
            most = f"{found.bound} component{'s' * (found.bound != 1)}"
            raise ValueError(
                f"n_components={k} is more than the {most} that Sliced has on {self.n_slices_} slices (its rank "
                f"bound). Use n_components <= {found.bound}, or a larger n_slices."
            )
        return super()._chosen(found)

    def with_classes(self, rows: Rows) -> Rows:
        """The rows with their slices as labels; the same object every time."""
        return rows.relabelled(
            ("sliced", self.n_slices),
            self.random_state,
            lambda labels: slices(labels, self.n_slices, self.random_state),
        )


def slices(targets: Any, number: int, random_state: Any = None) -> LabelMatrix:
    """At most ``number`` slices of targets as classes, of labels one per label set; rows with an unknown cell have an
    unknown one. Rows that occur several times count as often."""
    n, times = targets.Y.shape[0], getattr(targets, "times", None)
    known = np.arange(n) if targets.unknown is None else np.flatnonzero(targets.rows_known)
    rows, place = (targets if len(known) == n else targets.held().take(known)).groups()
    counts = np.bincount(place, times)
    if len(rows) <= number or isinstance(targets, LabelMatrix):
        slice_of = np.arange(len(rows))
    elif rows.shape[1] == 1:
        slice_of = _by_rank(counts, number)
    else:
        slice_of = _by_means(rows, counts, number, random_state)
    _, codes = np.unique(slice_of[place], return_inverse=True)
    c = int(codes.max()) + 1
    Y = sparse.csc_array((np.ones(len(known)), (known, codes)), shape=(n, c))
    hidden = np.isin(np.arange(n), known, invert=True)
    unknown = sparse.csc_array(np.repeat(hidden[:, None], c, axis=1)) if hidden.any() else None
    found = LabelMatrix(Y, np.arange(c), "classes", unknown)
    return found if times is None else repeated_labels(found, times, whole=True)


def _by_rank(counts: np.ndarray, number: int) -> np.ndarray:
    """The slice of each of some ascending values, which occur ``counts`` times, by the middle of its ranks."""
    middle = np.cumsum(counts) - counts / 2
    return np.minimum((number * middle / counts.sum()).astype(np.intp), number - 1)


def _by_means(rows: np.ndarray, counts: np.ndarray, number: int, random_state: Any) -> np.ndarray:
    """The cluster of each of some distinct rows, which occur ``counts`` times. They are taken by their distance from
    the mean, so that neither their order nor that of the columns matters."""
    length = np.linalg.norm(rows - np.average(rows, axis=0, weights=counts), axis=1)
    order = np.argsort(np.round(length / length.max(), DIGITS), kind="stable")
    means = KMeans(number, n_init=STARTS, random_state=random_state)
    labels = np.empty(len(rows), dtype=np.intp)
    labels[order] = means.fit(rows[order], sample_weight=counts[order]).labels_
    return labels
