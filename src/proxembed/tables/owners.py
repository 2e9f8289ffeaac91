"""The columns of a table that say whose row it is: the one that groups the rows, and what a person is told of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .column import word_of
from .identifiers import grouping, is_entity, settles
from .notes import few_notes
from .reading import Reading


@dataclass(frozen=True)
class Owners:
    """What is decided about the identifiers of a table."""

    groups: str | None = None
    notes: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()


def owners(
    readings: Sequence[Reading],
    codes: Mapping[str, NDArray[np.integer]],
    groups: Any = None,
    entities: Sequence[str] = (),
) -> Owners:
    """Which of the identifiers and entities of a table groups the rows."""
    found = [reading.name for reading in readings if reading.role == "groups"]
    chosen = None
    if groups is None and (found or entities):
        chosen = grouping({name: codes[name] for name in entities or found})
        for name in found:
            chosen = name if settles(codes[chosen], codes[name]) else chosen
    own = None if chosen is None else codes[chosen]
    left = tuple(name for name in entities if name == chosen or own is None or not settles(own, codes[name]))
    kinds = (found, "an identifier"), (left, "an entity, each value of which has one label set")
    notes = few_notes((name, _note(name, codes[name], chosen, what)) for names, what in kinds for name in names)
    return Owners(chosen, tuple(notes), left)


def entities_of(
    cells: Mapping[str, tuple[Sequence[Any], NDArray[np.integer]]], sets: NDArray[np.integer], others: Sequence[Any]
) -> list[str]:
    """The columns whose values stand for entities, and follow from none of ``others``, the codes of identifiers."""
    return [
        name
        for name, (values, codes) in cells.items()
        if is_entity([word_of(value) for value in values], codes, sets)
        and not any(settles(other, codes) for other in others)
    ]


def _note(name: str, codes: NDArray[np.integer], chosen: str | None, what: str) -> str:
    """A note on an identifier or an entity."""
    known = np.asarray(codes)[np.asarray(codes) >= 0]
    text = f"{name} is {what} ({len(np.unique(known)):,} values in {len(known):,} rows) and is not a feature"
    keep = f"keep={name!r}, beside the other features, makes it one"
    if name == chosen:
        return f"{text}; it is used as groups, so that no split divides its rows (groups=False: no groups; {keep})"
    return f"{text} (groups={name!r} keeps its rows together; {keep})"


def group_codes(codes: NDArray[np.integer]) -> NDArray[np.intp]:
    """The groups of rows by the cells of a column; a row whose cell is empty (-1) is a group of its own."""
    found = np.asarray(codes, dtype=np.intp).copy()
    empty = found < 0
    found[empty] = found.max(initial=-1) + 1 + np.arange(int(empty.sum()))
    return found
