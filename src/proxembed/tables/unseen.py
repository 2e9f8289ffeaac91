"""Cells of new rows that no training row has."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

from scipy.special import bdtrc

from .notes import few_notes
from .quantities import LEADING_ZERO
from .reading import cut
from .rows import TableRows

CHANCE = 0.05  # of as many unseen cells, by the share of training cells that stand alone
DIGITS = re.compile(r"\d+", re.ASCII)
SHORT = re.compile(r"([1-9]\d*)(?:\.0+)?", re.ASCII)  # a code that became a number
EXAMPLES = 2


class UnseenCellsWarning(UserWarning):
    """Most cells of a column of new rows are unknown to the model, or lack the leading zeros of the training rows."""


@dataclass
class UnseenCells:
    """The cells of a column of new rows, beside those of the training rows."""

    column: str
    values: Sequence[str]
    alone: float
    filled: int = 0
    unseen: Counter[Hashable] = field(default_factory=Counter)

    def add(self, cells: Iterable[Any]) -> None:
        """Count the cells of some new rows: text, or tuples of names."""
        known, counts = set(self.values), Counter(cells)
        for cell, count in counts.items():
            if cell:  # "" and () are empty
                self.filled += count
                if known.isdisjoint(cell if isinstance(cell, tuple) else (cell,)):
                    self.unseen[cell] += count

    @property
    def notes(self) -> list[str]:
        """Notes on the column."""
        padded = self._padded()
        short = sum(self.unseen[cell] for cell in padded)
        others = Counter({cell: count for cell, count in self.unseen.items() if cell not in padded})
        found = []
        if short:
            cell, code = next(iter(padded.items()))
            found.append(
                f"{self.column}: {short:,} of {self.filled:,} cells lack the leading zeros of the training rows, such "
                f"as {cell!r} for {code!r}; write the column as text, with its zeros"
            )
        if self._surprising(others.total()):
            shown = _listed(dict.fromkeys(chain.from_iterable(c if isinstance(c, tuple) else (c,) for c in others)))
            found.append(
                f"{self.column}: {others.total():,} of {self.filled:,} cells are unknown to the model, such as "
                f"{shown}; the training rows have {_listed(value for value in self.values if value)}"
            )
        return found

    def _surprising(self, count: int) -> bool:
        """Whether most cells are unseen, and more of them than the training rows let expect."""
        return 2 * count > self.filled and bool(bdtrc(count - 1, self.filled, min(self.alone, 1.0)) <= CHANCE)

    def _padded(self) -> dict[Hashable, str]:
        """The unseen codes that have lost their leading zeros, and each as the training rows write it."""
        codes = {value.lstrip("0"): value for value in self.values if DIGITS.fullmatch(value)}
        if not any(map(LEADING_ZERO.match, codes.values())):
            return {}
        widths = {len(code) for code in codes.values()}
        found: dict[Hashable, str] = {}
        for cell in self.unseen:
            part = SHORT.fullmatch(cell) if isinstance(cell, str) else None
            if part is not None and len(widths) == 1 and len(part[1]) < min(widths):
                found[cell] = part[1].zfill(*widths)
            elif part is not None and part[1] in codes:
                found[cell] = codes[part[1]]
        return found


def share_alone(cells: Iterable[Any]) -> float:
    """Share of the filled cells with no value that another cell has."""
    filled = [set(cell) if isinstance(cell, tuple) else {cell} for cell in cells if cell]
    counts = Counter(chain.from_iterable(filled))
    return sum(all(counts[value] == 1 for value in cell) for cell in filled) / max(len(filled), 1)


def unseen_notes(train: TableRows, new: TableRows) -> list[str]:
    """The notes on columns of categories and of lists of names of new rows."""
    found = []
    for column in train.columns:
        if column.kind in ("category", "names"):
            cells = train[column.name]
            values = dict.fromkeys(chain.from_iterable(cells) if column.kind == "names" else cells)
            unseen = UnseenCells(column.name, list(values), share_alone(cells))
            unseen.add(new[column.name])
            found += [(column.name, note) for note in unseen.notes]
    return few_notes(found)


_FILE: ContextVar[dict[str, UnseenCells] | None] = ContextVar("unseen cells of a file", default=None)


def warn_of(found: Iterable[UnseenCells]) -> None:
    """Warn of the columns with most cells unseen, or at the end of ``parts_of_one_file`` where it is open."""
    gathered = _FILE.get()
    if gathered is None:
        for note in few_notes((unseen.column, note) for unseen in found for note in unseen.notes):
            warnings.warn(note, UnseenCellsWarning, stacklevel=4)
        return
    for unseen in found:
        whole = gathered.setdefault(unseen.column, UnseenCells(unseen.column, unseen.values, unseen.alone))
        whole.filled += unseen.filled
        whole.unseen += unseen.unseen


@contextmanager
def parts_of_one_file() -> Iterator[None]:
    """Warn once of the rows of all parts, when all went through."""
    gathered: dict[str, UnseenCells] = {}
    token = _FILE.set(gathered)
    try:
        yield
    finally:
        _FILE.reset(token)
    warn_of(gathered.values())


def _listed(values: Iterable[Any]) -> str:
    return " and ".join(repr(cut(str(value))) for value in islice(values, EXAMPLES))
