"""A DataFrame beside its labels without the columns that say whose row it is, and the groups that one of them gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proxembed.tables import TableRows, coded, owners, read_columns
from proxembed.tables.identifiers import FEWEST_OWNERS, says_which_row
from proxembed.tables.owners import entities_of, group_codes
from proxembed.tables.plain import plain_value
from proxembed.tables.rows import cells_of


@dataclass(frozen=True)
class OwnedFrame:
    """A DataFrame whose columns are features, the groups of its rows, or None, and notes on the columns left out."""

    X: Any
    groups: NDArray[np.intp] | None = None
    notes: tuple[str, ...] = ()


def owned_frame(X: Any, groups: Any = None, sets: Any = None) -> OwnedFrame:
    """What an array, a DataFrame or anything else gives as features and groups.

    Parameters
    ----------
    X : array, DataFrame or TableRows
    groups : array of shape (n,), the name of a column, or False for no groups; None: an identifier
    sets : int array of shape (n,), optional
        The places of the label sets of the rows, -1 where one is unknown; None: entities are not looked for.

    Raises
    ------
    ValueError
        ``groups`` names no column.

    Examples
    --------
    >>> from pandas import DataFrame
    >>> from proxembed.workflow.frame_owners import owned_frame
    >>> found = owned_frame(DataFrame({"patient": [*range(10), 9], "size": range(3, 14)}))
    >>> list(found.X.columns), found.groups.tolist()
    (['size'], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9])
    """
    if isinstance(groups, str):
        return _by_name(X, groups, sets)
    given = None if groups is None or groups is False else np.unique(np.asarray(groups), return_inverse=True)[1]
    if not hasattr(X, "columns") or isinstance(X, TableRows):
        return OwnedFrame(X, given)
    names = {str(name): name for name in X.columns}
    suspects = [name for name, own in names.items() if says_which_row(name) or _counts_rows(X[own])]
    cells = {name: coded(cells_of(X[names[name]])) for name in suspects}
    found = [
        reading
        for reading in read_columns(cells, missing=(), others=len(suspects) < len(names))
        if reading.column is None and not reading.problem
    ]
    left = {reading.name for reading in found}
    if len(left) == len(names):
        return OwnedFrame(X, given)
    others = [cells[reading.name][1] for reading in found if reading.role == "groups"]
    whole = {} if sets is None else _whole_numbers(X, {name: own for name, own in names.items() if name not in left})
    entities = entities_of(whole, sets, others if given is None else [*others, given])
    entities = [] if len(left) + len(entities) == len(names) else entities
    codes = {name: each for name, (_, each) in (cells | whole).items()}
    decided = owners(found, codes, groups, entities)
    left |= set(decided.entities)
    if not left:
        return OwnedFrame(X, given)
    notes = (*(reading.note for reading in found if reading.note), *decided.notes)
    found_groups = given if decided.groups is None else group_codes(codes[decided.groups])
    return OwnedFrame(X[[own for name, own in names.items() if name not in left]], found_groups, notes)


def _whole_numbers(X: Any, names: dict[str, Any]) -> dict[str, Any]:
    """The columns of whole numbers, or of words, as their distinct cells and the places of these by row."""
    found = {}
    for name, own in names.items():
        values, codes = coded(cells_of(X[own]))
        if len(values) < len(codes) and all(isinstance(value, str | int) or _is_whole(value) for value in values):
            found[name] = values, codes
    return found


def _is_whole(value: Any) -> bool:
    return isinstance(value, float) and value.is_integer()


def _by_name(X: Any, groups: str, sets: Any) -> OwnedFrame:
    names = {str(name): name for name in getattr(X, "columns", ())}
    if groups not in names or isinstance(X, TableRows):
        raise ValueError(f"groups={groups!r} names no column of X; pass an array of one group a row, or a column name.")
    codes = coded(cells_of(X[names[groups]]))[1]
    return owned_frame(X[[own for name, own in names.items() if name != groups]], codes, sets)


def _counts_rows(column: Any) -> bool:
    """Whether a column begins as row numbers do."""
    first = [plain_value(cell) for cell in cells_of(column[:FEWEST_OWNERS])]
    return len(first) == FEWEST_OWNERS and first[0] in (0, 1, "0", "1") and str(first[1]) in ("1", "2", "1.0", "2.0")
