"""What a record of the SSDR-MC experiments holds: names of its parts, curves and surfaces over the draws.

A part is a set in one draw of the labelled rows; an entry in it is a method at a cut and a share of labelled rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from papers.rule import Difference, over_rows

Cut = float | str
Entry = Mapping[str, Any]
Parts = Mapping[str, list[dict]]
SPLIT_PART, IMAGE_PART = "{}, published split", "digit images"
DRAW, SURFACE = ", draw ", ", alpha and threshold"
PLANNED_DRAWS = 10
NEAR = 0.02  # micro F1 so far below the best of a grid is excellent
WIDER = 0.05  # the second look at its area, and the box of accurate settings


def draw_part(name: str, draw: int) -> str:
    """The part of a set in a draw, counted from 1.

    >>> draw_part("yeast", 2), surface_part("yeast", 2)
    ('yeast, draw 2', 'yeast, alpha and threshold, draw 2')
    """
    return f"{name}{DRAW}{draw}"


def surface_part(name: str, draw: int) -> str:
    """The part of a set's grid of alpha and threshold in a draw."""
    return draw_part(name + SURFACE, draw)


def drawn(parts: Parts, kind: str = "") -> dict[str, list[int]]:
    """Set -> its draws, of the curves or (with ``SURFACE``) of the grids.

    >>> parts = {"yeast, draw 1": [], "yeast, draw 2": [], "yeast, alpha and threshold, draw 1": []}
    >>> drawn(parts), drawn(parts, SURFACE)
    ({'yeast': [1, 2]}, {'yeast': [1]})
    """
    found: dict[str, list[int]] = {}
    for part in parts:
        name, _, draw = part.partition(DRAW)
        if draw and name.endswith(SURFACE) == bool(kind):
            found.setdefault(name.removesuffix(SURFACE), []).append(int(draw))
    return found


@dataclass(frozen=True)
class Curves:
    """The finished entries of a set at one cut, by share of labelled rows in per cent, method and draw."""

    draws: list[int]
    entries: Mapping[tuple[float, str, int], Entry]

    @classmethod
    def of(cls, parts: Parts, name: str, cut: Cut) -> Curves:
        """The entries of a set; those that failed are left out."""
        draws = drawn(parts).get(name, [])
        held = ((draw, entry) for draw in draws for entry in parts[draw_part(name, draw)])
        entries = {(e["share"], e["method"], draw): e for draw, e in held if e["cut"] == cut and not e["failure"]}
        return cls(draws, entries)

    @property
    def shares(self) -> list[float]:
        """The shares of labelled rows in per cent, ascending."""
        return sorted({share for share, _, _ in self.entries})

    @property
    def methods(self) -> list[str]:
        """The methods, in the order of the entries."""
        return list(dict.fromkeys(method for _, method, _ in self.entries))

    def values(self, method: str, value: Callable[[Entry], float] | str = "f1") -> np.ndarray:
        """A number of a method's entries, (draws, shares); NaN where an entry is missing."""
        read = (lambda entry: entry[value]) if isinstance(value, str) else value
        found = np.full((len(self.draws), len(self.shares)), np.nan)
        for i, draw in enumerate(self.draws):
            for j, share in enumerate(self.shares):
                entry = self.entries.get((share, method, draw))
                found[i, j] = np.nan if entry is None else read(entry)
        return found

    def cells(self, method: str) -> np.ndarray:
        """Micro F1 of a method's entries, and that without each group of rows, (draws, shares, 1 + groups); one column
        where some entry has no groups."""
        known = [entry.get("f1_without") for (_, each, _), entry in self.entries.items() if each == method]
        width = min((len(each or ()) for each in known), default=0)
        columns = [self.values(method, lambda entry, g=g: entry["f1_without"][g]) for g in range(width)]
        return np.stack([self.values(method), *columns], axis=-1)

    def at(self, share: float, method: str, value: Callable[[Entry], float] | str) -> np.ndarray:
        """A number of a method's entries at one share, (draws,)."""
        shares = self.shares
        return self.values(method, value)[:, shares.index(share)] if share in shares else np.empty(0)


def over_draws(values: np.ndarray) -> Difference:
    """The mean over draws of one number, (draws,), of several, (draws, shares), or of several with those without each
    group of rows, (draws, shares, 1 + groups); draws with gaps are left out."""
    each = np.asarray(values, dtype=float)
    if each.ndim > 1:
        each = each.mean(axis=1) if each.size else np.empty(0)
    return over_rows(each if each.ndim == 2 else each[:, None])


@dataclass(frozen=True)
class Grid:
    """Micro F1, passes and whether they converged, of a set over alpha (a,) and cuts (h,), each (draws, a, h)."""

    draws: list[int]
    alpha: np.ndarray
    cuts: np.ndarray
    f1: np.ndarray
    passes: np.ndarray
    converged: np.ndarray

    @classmethod
    def of(cls, parts: Parts, name: str) -> Grid | None:
        """The draws that are whole; None where there is none."""
        held = {draw: parts[surface_part(name, draw)] for draw in drawn(parts, SURFACE).get(name, [])}
        draws = [draw for draw, each in held.items() if each and not any(row["failure"] for row in each)]
        if not draws:
            return None
        rows = [held[draw] for draw in draws]
        told = {key: np.array([[row[key] for row in each] for each in rows]) for key in ("f1", "passes", "converged")}
        return cls(draws, np.array([row["alpha"] for row in rows[0]]), np.array(rows[0][0]["cuts"]), **told)

    def excellent(self, near: float = NEAR) -> np.ndarray:
        """Where micro F1 is within ``near`` of the largest of its draw, bool (draws, a, h)."""
        return self.f1 >= self.best[:, None, None] - near

    @property
    def best(self) -> np.ndarray:
        """The largest micro F1 of each draw, (draws,)."""
        return self.f1.max(axis=(1, 2))
