"""Labels of several spellings: names that differ only in case, blanks or accents."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from proxembed.data.dataset import Dataset
from proxembed.data.errors import shorten

SHOWN = 3  # groups of spellings
LEFT_OUT = ("M", "Z", "C")  # categories of characters: accents, blanks, control and format characters


def with_spelling_notes(dataset: Dataset) -> Dataset:
    """The data set, with a note on labels that differ only in case, blanks or accents."""
    notes = spelling_notes(dataset.label_names, np.asarray(dataset.Y.sum(axis=0)).ravel())
    return dataset if set(notes) <= set(dataset.notes) else replace(dataset, notes=(*dataset.notes, *notes))


def spelling_notes(names: Sequence[str], counts: Sequence[Any] | np.ndarray) -> tuple[str, ...]:
    """A note on names that differ only in case, blanks or accents, with the number of rows of each."""
    groups: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        groups.setdefault(_plain(name), []).append(place)
    several = [places for plain, places in groups.items() if plain and len(places) > 1]
    if not several:
        return ()
    shown = "; ".join(_shown([(names[j], int(counts[j])) for j in places]) for places in several[:SHOWN])
    more = f"; and {len(several) - SHOWN} more such groups" if len(several) > SHOWN else ""
    return (
        f"{sum(map(len, several)):,} labels differ only in case, blanks or accents: {shown}{more}; use one spelling if "
        "they mean the same",
    )


def _plain(name: str) -> str:
    """A name without case, blanks, accents and characters that cannot be seen."""
    kept = (sign for sign in unicodedata.normalize("NFKD", name) if not unicodedata.category(sign).startswith(LEFT_OUT))
    return unicodedata.normalize("NFKD", "".join(kept).casefold())


def _shown(spellings: list[tuple[str, int]]) -> str:
    """Spellings and their rows, in ASCII if two of them look the same."""
    looks = {unicodedata.normalize("NFKC", name) for name, _ in spellings}
    form = shorten if len(looks) == len(spellings) else ascii
    return " and ".join(f"{form(name)} ({count:,} row{'s' * (count != 1)})" for name, count in spellings)
