"""What the rows of a selection have in common: the labels and features that differ between them and the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from proxembed.measures.selections import Differences, differences
from proxembed.measures.statistics import holm
from proxembed.params import safe_repr
from proxembed.report import table_card
from proxembed.tables.notes import few_names, shorten, visible

SHOWN = 20  # rows of a table that are printed
ENOUGH = 5  # held-out rows on each side from which on they alone are tested
FOOT = (
    "effect: how much larger the values inside are (Cliff's delta, -1 to 1; of two values the difference of their "
    "shares). p: Fisher's exact test of two values, else the rank sum test, by Holm's rule for all {} tests."
)
DRAWN = (
    "Features differ in any case where the selection was drawn on a map of them, and so do labels that the map was "
    "fitted to: trust the p of labels of held-out rows."
)
REMEDY = (
    f"For those, name test rows in the search (test=), and select so that at least {ENOUGH} of them are inside and "
    f"{ENOUGH} outside."
)


@dataclass(frozen=True)
class Difference:
    """One label, output or feature: its means inside and outside the selection, effect, p, and p by Holm's rule."""

    name: str
    kind: str  # "label", "output" or "feature"
    inside: float
    outside: float
    effect: float
    p: float
    p_holm: float


@dataclass(frozen=True)
class DifferingRows:
    """What differs between selected rows and the others, strongest evidence first: a sequence of ``Difference``.

    Attributes
    ----------
    entries : tuple of Difference
    inside, outside : int
        Rows that were compared.
    held_out : bool
        Whether these are the rows that the model has not seen, else all rows.
    fitted : int
        How many of them the model was fitted on.
    """

    entries: tuple[Difference, ...]
    inside: int
    outside: int
    held_out: bool
    fitted: int

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Difference]:
        return iter(self.entries)

    def __getitem__(self, place: Any) -> Any:
        return self.entries[place]

    def to_frame(self) -> Any:
        """The same as a DataFrame, or as a list of dict where pandas is not installed."""
        rows = [dict(vars(each)) for each in self.entries]
        try:
            from pandas import DataFrame
        except ModuleNotFoundError:
            return rows
        return DataFrame(rows)

    @property
    def title(self) -> str:
        """The rows that were compared, in words."""
        mixed = 0 < self.fitted < self.inside + self.outside
        what = "rows" if mixed else "held-out rows" if self.held_out else "rows of the fit"
        told = f"{self.inside:,} {what} inside, {self.outside:,} outside"
        return f"{told}; {self.fitted:,} of them are rows of the fit" if mixed else told

    def _cells(self) -> list[tuple[str, ...]]:
        """The lines of the table, with a heading."""
        lines: list[tuple[str, ...]] = [("name", "kind", "mean inside", "mean outside", "effect", "p (Holm)")]
        for each in self.entries[:SHOWN]:
            numbers = f"{each.inside:.3g}", f"{each.outside:.3g}", f"{each.effect:+.2f}", f"{each.p_holm:.2g}"
            lines.append((visible(each.name), each.kind, *numbers))
        return lines

    @property
    def _notes(self) -> list[str]:
        hidden = len(self) - min(len(self), SHOWN)
        more = [f"{hidden:,} more are in to_frame()."] if hidden else []
        return [*more, FOOT.format(f"{len(self):,}"), DRAWN, *([] if self.held_out else [REMEDY])]

    def __str__(self) -> str:
        lines = self._cells()
        wide = [max(map(len, column)) for column in zip(*lines, strict=True)]
        told = [
            "  ".join([line[0].ljust(wide[0]), line[1].ljust(wide[1]), *map(str.rjust, line[2:], wide[2:])])
            for line in lines
        ]
        return "\n".join([self.title, *told, *self._notes])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head, *lines = self._cells()
        return table_card(self.title, head, lines, self._notes)


def selected_rows(selection: Any, n: int, ids: Sequence[str] | None = None) -> np.ndarray:
    """A selection of n rows, numbers of rows, their ids or a mask, as a mask. Raises ValueError for another one."""
    given = np.asarray(list(selection) if isinstance(selection, Set) else selection)
    if ids is not None and given.ndim == 1 and given.size and all(isinstance(each, str) for each in given):
        if unknown := sorted({*given} - {*ids}):
            shown = few_names([shorten(each) for each in unknown])
            raise ValueError(f"selection holds {shown}, which the {n} rows do not have as an id.")
        mask = np.isin(np.array(ids, dtype=object), given.astype(object))
    elif given.dtype == bool and given.shape == (n,):
        mask = given
    elif given.ndim == 1 and (given.dtype.kind in "iu" or not given.size):
        if given.size and not 0 <= given.min() <= given.max() < n:
            raise ValueError(f"selection holds row {given.max() if given.max() >= n else given.min()} of {n} rows.")
        mask = np.zeros(n, dtype=bool)
        mask[given.astype(np.intp)] = True
    else:
        raise ValueError(
            f"selection={safe_repr(selection)} must be numbers of rows from 0 to {n - 1}, "
            f"{'' if ids is None else 'ids of rows, '}or {n} times True or False."
        )
    if not 0 < np.count_nonzero(mask) < n:
        raise ValueError(f"selection holds {np.count_nonzero(mask)} of {n} rows; select some of them, but not all.")
    return mask


def tested_rows(selected: np.ndarray, held_out: np.ndarray) -> tuple[np.ndarray, bool]:
    """The rows to compare (numbers): those held out where there are at least 5 on each side, else all; and whether they
    are held out."""
    enough = all(np.count_nonzero(held_out & side) >= ENOUGH for side in (selected, ~selected))
    return (np.flatnonzero(held_out) if enough else np.arange(len(selected))), enough


def differing_rows(
    dataset: Any, X: Any, names: Sequence[str], selected: np.ndarray, held_out: np.ndarray
) -> DifferingRows:
    """The labels, or outputs, of a data set and its features X (n, d) of these names that differ between the selected
    rows (mask) and the others, of the ``held_out`` ones (mask) where they are enough."""
    rows, alone = tested_rows(selected, held_out)
    inside = selected[rows]
    if dataset.outputs is None:
        kind, targets = "label", (list(dataset.label_names), dataset.targets.take(rows).indicator)
    else:
        kind, targets = "output", _outputs(dataset.outputs, rows)
    found = [*_told(kind, *targets, inside), *_told("feature", names, X[rows], inside)]
    adjusted = holm(np.array([each.p for each in found]))
    entries = [replace(each, p_holm=float(p)) for each, p in zip(found, adjusted, strict=True)]
    entries.sort(key=lambda each: (each.p_holm, each.p, -abs(each.effect)))
    fitted = np.count_nonzero(~held_out[rows])
    return DifferingRows(tuple(entries), int(inside.sum()), int((~inside).sum()), alone, int(fitted))


def _told(kind: str, names: Sequence[str], values: Any, inside: np.ndarray) -> list[Difference]:
    """The columns that can be compared, not yet adjusted for their number."""
    found: Differences = differences(values, inside)
    told = []
    for name, *numbers in zip(names, *found, strict=True):
        a, b, effect, p = map(float, numbers)
        if p == p:
            told.append(Difference(str(name), kind, a, b, effect, p, p))
    return told


def _outputs(outputs: Any, rows: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Names and values of the outputs of some rows: numbers and ranks as they are, classes as one column each."""
    cells = np.asarray(outputs, dtype=np.float64)[rows]
    parts = []
    for column, values in zip(outputs.layout.columns, cells.T[..., None], strict=True):
        member = np.where(np.isnan(values), np.nan, values == np.arange(column.size))
        parts.append(member if column.kind == "classes" else values)
    return [name for column in outputs.layout.columns for name in column.names], np.hstack(parts)
