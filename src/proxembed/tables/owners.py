"""The columns of a table that say whose row it is: the one that groups the rows, and what a person is told of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .identifiers import grouping
from .reading import Reading, quoted


@dataclass(frozen=True)
class Owners:
    """What is decided about the identifiers of a table.

    Parameters
    ----------
    groups : str or None
        The column that groups the rows, where none was named.
    notes : tuple of str
        A note on each identifier.
    """

    groups: str | None = None
    notes: tuple[str, ...] = ()


def owners(readings: Sequence[Reading], codes: Mapping[str, NDArray[np.integer]], groups: Any = None) -> Owners:
    """Which of the columns that were read as identifiers groups the rows.

    Parameters
    ----------
    readings : sequence of Reading
    codes : mapping of names to int arrays of the places of the cells by row, -1 where empty
    groups : None, or False or anything else where nothing is to be chosen

    Examples
    --------
    >>> from proxembed.tables import coded, owners, read_columns
    >>> cells = {"patient": coded([1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])}
    >>> print(owners(read_columns(cells), {name: codes for name, (_, codes) in cells.items()}).groups)
    patient
    """
    found = [reading.name for reading in readings if reading.role == "groups"]
    if not found:
        return Owners()
    chosen = grouping({name: codes[name] for name in found}) if groups is None else None
    return Owners(chosen, tuple(_note(name, codes[name], chosen) for name in found))


def _note(name: str, codes: NDArray[np.integer], chosen: str | None) -> str:
    """A note on an identifier."""
    known = np.asarray(codes)[np.asarray(codes) >= 0]
    text = f"{name} is an identifier ({len(np.unique(known)):,} values in {len(known):,} rows) and is not a feature"
    keep = f"--keep {quoted(name)}, beside the other features, makes it one"
    if name == chosen:
        return f"{text}; it is used as groups, so that no split divides its rows (--groups none: no groups; {keep})"
    return f"{text} (--groups {quoted(name)} keeps its rows together; {keep})"


def group_codes(codes: NDArray[np.integer]) -> NDArray[np.intp]:
    """The groups of rows by the cells of a column; a row whose cell is empty (-1) is a group of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.tables.owners import group_codes
    >>> group_codes(np.array([0, -1, 0, -1])).tolist()
    [0, 1, 0, 2]
    """
    found = np.asarray(codes, dtype=np.intp).copy()
    empty = found < 0
    found[empty] = found.max(initial=-1) + 1 + np.arange(int(empty.sum()))
    return found
