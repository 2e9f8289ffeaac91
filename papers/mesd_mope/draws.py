"""Draws of the experiments: names of their parts, scores of the entrants over the draws, and paired differences.

[mu2012mesd]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from papers.rule import Difference, over_rows

DRAW, PAPERS_K = ", draw ", ", k = "
Parts = Mapping[str, Sequence[Mapping[str, Any]]]


def part_name(share: float, draw: int, k: int | None = None) -> str:
    """The name of the part of a share of labelled rows and a draw, counted from 1; ``k``: that of the paper, not tuned.

    Examples
    --------
    >>> from papers.mesd_mope.draws import part_name
    >>> part_name(0.4, 2), part_name(0.4, 2, 800)
    ('40 %, draw 2', '40 %, k = 800, draw 2')
    """
    return f"{labels_name(share, k)}{DRAW}{draw}"


def labels_name(share: float, k: int | None = None) -> str:
    """A share of labelled rows, and the number of components where it is the paper's, as pages name them."""
    return f"{100 * share:g} %" if k is None else f"{100 * share:g} %{PAPERS_K}{k}"


def by_share(parts: Parts, groups: Sequence[str] = ()) -> dict[str, list[Sequence[Mapping[str, Any]]]]:
    """Share of labelled rows -> the entries of each of its draws that has all entrants of the first one; of some kinds
    of entrants alone where ``groups`` names them.

    Examples
    --------
    >>> from papers.mesd_mope.draws import by_share
    >>> by_share({"40 %, draw 1": [], "80 %, draw 1": [], "40 %, draw 2": []})
    {'40 %': [[], []], '80 %': [[]]}
    """
    made: dict[str, list[Sequence[Mapping[str, Any]]]] = {}
    for name, entries in parts.items():
        held = [entry for entry in entries if not groups or entry["group"] in groups]
        made.setdefault(name.partition(DRAW)[0], []).append(held)
    return {share: [each for each in draws if len(each) == len(draws[0])] for share, draws in made.items()}


@dataclass(frozen=True)
class Scores:
    """Test scores of one share of labelled rows.

    Parameters
    ----------
    cells : mapping of str to array of shape (draws, 1 + groups)
        Of the entrants that have a score in every draw: macro F1, and macro F1 without each group of test documents;
        one column where some entry of a record has no groups.
    groups : mapping of str to list of str
        The entrants of each kind, those without scores among them.
    test : float
        Documents of the test part.

    Examples
    --------
    >>> from papers.mesd_mope.draws import Scores
    >>> entries = [{"entrant": "PCA", "group": "unsupervised", "test": 0.9}]
    >>> Scores.of([entries, entries], 100).values["PCA"].tolist()
    [0.9, 0.9]
    """

    cells: Mapping[str, np.ndarray]
    groups: Mapping[str, list[str]]
    test: float

    @classmethod
    def of(cls, draws: Sequence[Sequence[Mapping[str, Any]]], test: float) -> Scores:
        """The scores of the draws; an entrant that lacks one in some draw has none."""
        found: dict[str, list[list[float]]] = {}
        groups: dict[str, list[str]] = {}
        for entry in (entry for entries in draws for entry in entries):
            names = groups.setdefault(entry["group"], [])
            names += [entry["entrant"]] if entry["entrant"] not in names else []
            if entry["test"] is not None:
                found.setdefault(entry["entrant"], []).append([entry["test"], *(entry.get("without") or [])])
        width = min((len(row) for rows in found.values() for row in rows), default=1)
        cells = {
            name: np.array([row[:width] for row in rows]) for name, rows in found.items() if len(rows) == len(draws)
        }
        return cls(cells, groups, test)

    @property
    def values(self) -> dict[str, np.ndarray]:
        """The scores alone, (draws,) for each entrant."""
        return {name: each[:, 0] for name, each in self.cells.items()}

    def members(self, *groups: str) -> list[str]:
        """The entrants of some kinds, in the order of the kinds."""
        return [name for group in groups for name in self.groups.get(group, [])]

    def less(self, one: str, other: str) -> Difference:
        """The score of one entrant less that of another, paired by draw and by test document."""
        if one not in self.cells or other not in self.cells:
            return Difference()
        return over_rows(self.cells[one] - self.cells[other])

    def best(self, names: Sequence[str]) -> np.ndarray | None:
        """The cells of the best score of some entrants in each draw; None where one of them lacks scores."""
        if not names or any(name not in self.cells for name in names):
            return None
        return np.max([self.cells[name] for name in names], axis=0)
