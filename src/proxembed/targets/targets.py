"""Targets: what the labels and the numbers of y share, all of it in terms of the target factor F."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse

from proxembed.algebra.pencil.symmetric import numerical_rank

KINDS = ("real", "classes", "labels")  # words of target_type


@dataclass(frozen=True)
class Output:
    """How one column of y was read, and what it is in F.

    ``kind`` is "real", "ranks" (of ordered categories), "classes" or "labels" (0/1, or memberships from 0 to 1).
    ``columns`` are its columns of F: (value - ``mean``) / ``scale``, where ``scale`` is the standard deviation of the
    known cells over the weight of the column, 1 where it is not scaled or constant; of a class output one indicator per
    class, with one mean each. ``values`` are the classes, or the categories in order. ``n_unknown``: its unknown cells;
    ``n_filled``: those that fit has filled, ``filled_by`` the rule ("fill" or "mean"; None: none was filled)."""

    name: Any
    kind: str
    columns: tuple[int, ...]
    mean: Any = 0.0
    scale: float = 1.0
    n_unknown: int = 0
    values: Any = field(default=None, repr=False)
    n_filled: int = 0
    filled_by: str | None = None


class Targets(ABC):
    """Targets of n rows. ``Y`` is the factor F (n x c CSC, unknown cells stored as 0), ``unknown`` the mask of its
    unknown cells (CSC bool, or None), ``kept_columns`` those that F still has (None: all). ``LabelMatrix`` is the case
    of 0/1, ``Outputs`` that of numbers, or of columns of several kinds."""

    Y: sparse.csc_array
    unknown: Any  # sparse.csc_array | None
    kept_columns: Any

    if TYPE_CHECKING:  # of all rows; a block of rows has none of these

        def with_means(self) -> Self:
            """With each unknown cell at the mean of the known cells of its column."""

        def with_fill(self, X: Any, weights: np.ndarray | None = None) -> Self:
            """With each unknown cell as a ridge regression on X (n, d) of its column predicts it (``filled_cells``);
            ``weights``: how often each row occurs."""

        def take(self, rows: Any) -> Targets:
            """The targets of some rows (an index or a mask)."""

        def drop_empty(self) -> Targets:
            """Without the columns that say nothing about any row."""

    @property
    def n(self) -> Any:
        """Rows; in a block those of all rows, each as often as it occurs."""
        return self.Y.shape[0]

    def fill_unknown(self, rule: str | None, X: Any, weights: np.ndarray | None = None) -> Targets:
        """With unknown cells filled by a rule: "fill" (from the rows X), "mean", or None for as they are. ``weights``:
        how often each row occurs; means of numbers follow later, with their scales."""
        if rule is None:
            return self
        return self.with_fill(X, weights) if rule == "fill" else self.with_means()

    @property
    def of_block(self) -> bool:
        """Whether these are the targets of some rows, with the totals of all."""
        return False

    @property
    def noun(self) -> str:
        """What messages call a column of y."""
        return "output"

    @property
    def c(self) -> int:
        """Columns of F."""
        return self.Y.shape[1]

    @property
    @abstractmethod
    def reading(self) -> Any:
        """How they were read, for the estimator that is fitted on them."""

    @property
    @abstractmethod
    def width(self) -> int:
        """Columns of F before any was dropped."""

    @property
    def one_hot(self) -> bool:
        """Whether every row has exactly one class, as rows with numbers have one value."""
        return True

    @property
    def numbers(self) -> int:
        """How many columns of y are numbers or ranks."""
        return 0

    @property
    @abstractmethod
    def sums(self) -> np.ndarray:
        """F'1, (c,)."""

    @property
    @abstractmethod
    def gram(self) -> np.ndarray:
        """F'F, c x c."""

    @property
    def deviations(self) -> np.ndarray:
        """The standard deviation of each column of F, (c,)."""
        return np.sqrt(np.clip(np.diag(self.centred_gram), 0.0, None) / self.n)

    @property
    @abstractmethod
    def differ(self) -> bool:
        """Whether some column differs between rows."""

    def trace(self, center: Any) -> float:
        """The sum of the squares of F; about the means of its columns unless ``center`` is None."""
        return self.squares if center is None else self.centred_squares

    @property
    def squares(self) -> float:
        """The trace of F'F."""
        return float(self.Y.data @ self.Y.data)

    @property
    def centred_squares(self) -> float:
        """The trace of Fc'Fc."""
        return self.squares - float(self.sums @ self.sums) / self.n

    @property
    def default_tau(self) -> float | None:
        """The default width of a Gaussian kernel of the rows of F; None: that of distinct label sets."""
        return None

    def centring(self, ones: np.ndarray, center: np.ndarray | None) -> np.ndarray | None:
        """The row weights by which an operator made of F is centred, where it centres X by ``center``."""
        return center

    @cached_property
    def rows_known(self) -> np.ndarray:
        """True where no cell of the row is unknown."""
        if self.unknown is None:
            return np.ones(self.Y.shape[0], dtype=bool)
        return np.asarray(self.unknown.sum(axis=1)).ravel() == 0

    @cached_property
    def rows_any(self) -> np.ndarray:
        """True where at least one cell of the row is known."""
        return rows_with_known_cell(self.unknown, self.Y.shape[0])

    @property
    def known_cells(self) -> np.ndarray | None:
        """True where a cell is known, (n, c); None where all are."""
        return None if self.unknown is None else ~self.unknown.toarray()

    @property
    def known_counts(self) -> np.ndarray:
        """Rows per column whose cell is known."""
        if self.unknown is None:
            return np.full(self.c, float(self.n))
        return self.n - np.asarray(self.unknown.sum(axis=0), dtype=np.float64).ravel()

    @abstractmethod
    def groups(self) -> tuple[np.ndarray, np.ndarray]:
        """Distinct rows of F: (u x c array, index of its distinct row for each row)."""

    @property
    def row_counts(self) -> np.ndarray:
        """How often each row occurs, (n,)."""
        return np.ones(self.Y.shape[0])

    @property
    def row_values(self) -> sparse.csr_array:
        """A matrix by which rows of different targets differ, (n, any)."""
        Y = sparse.csr_array(self.Y)
        return Y if self.unknown is None else sparse.csr_array(sparse.hstack([Y, self.unknown]))

    def group_of_row(self) -> np.ndarray:
        """The index of its distinct row for each row of F, as ``groups`` counts them."""
        return self.groups()[1]

    def strata(self) -> np.ndarray:
        """For each row the number of a group of rows of like targets, which samples keep in proportion."""
        return self.group_of_row()

    def fold_labels(self, rows: np.ndarray) -> sparse.csr_array:
        """0/1 labels of some rows (m, s), unknown cells as 0, which stratified folds keep in proportion."""
        return sparse.csr_array(self.Y)[rows]

    @property
    def lone_numbers(self) -> np.ndarray | None:
        """The one column of numbers, (n,), along which folds take neighbouring rows each; None for other targets."""
        return None

    def held(self) -> Targets:
        """The same, of which parts keep the means and scales of these rows."""
        return self

    def set_counts(self) -> np.ndarray:
        """Rows of each distinct row of F, in the order of ``groups``."""
        return np.bincount(self.groups()[1]).astype(np.float64)

    def expand(self, columns: np.ndarray) -> np.ndarray:
        """An array with one column (or entry) per kept column of F, widened to all of them; zeros elsewhere."""
        if self.kept_columns is None:
            return columns
        full = np.zeros((*columns.shape[:-1], self.width))
        full[..., self.kept_columns] = columns
        return full

    @cached_property
    def centred_gram(self) -> np.ndarray:
        """Fc'Fc, c x c."""
        return self.gram - np.outer(self.sums, self.sums) / self.n

    @cached_property
    def rank(self) -> int:
        """The rank of the centred F; 0 where all rows have the same targets."""
        return numerical_rank(self.centred_gram)


def rows_with_known_cell(unknown: Any, n: int) -> np.ndarray:
    """Which of n rows have at least one known cell; ``unknown`` is the n x c mask of unknown cells, None for none."""
    if unknown is None:
        return np.ones(n, dtype=bool)
    return np.asarray(unknown.sum(axis=1)).ravel() < unknown.shape[1]
