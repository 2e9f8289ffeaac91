"""Draws of the experiments: names of their parts, scores of the entrants over the draws, and paired differences.

[mu2012mesd]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from papers.difference import LEVEL, Difference
from proxembed.measures.statistics import nadeau_bengio

DRAW = ", draw "
Parts = Mapping[str, Sequence[Mapping[str, Any]]]


def part_name(share: float, draw: int) -> str:
    """The name of the part of a share of labelled rows and a draw, counted from 1.

    Examples
    --------
    >>> from papers.mesd_mope.draws import part_name
    >>> part_name(0.4, 2)
    '40 %, draw 2'
    """
    return f"{100 * share:g} %{DRAW}{draw}"


def by_share(parts: Parts) -> dict[str, list[Sequence[Mapping[str, Any]]]]:
    """Share of labelled rows -> the entries of each of its draws.

    Examples
    --------
    >>> from papers.mesd_mope.draws import by_share
    >>> by_share({"40 %, draw 1": [], "80 %, draw 1": [], "40 %, draw 2": []})
    {'40 %': [[], []], '80 %': [[]]}
    """
    made: dict[str, list[Sequence[Mapping[str, Any]]]] = {}
    for name, entries in parts.items():
        made.setdefault(name.partition(DRAW)[0], []).append(entries)
    return made


@dataclass(frozen=True)
class Scores:
    """Test scores of one share of labelled rows.

    Parameters
    ----------
    values : mapping of str to array of shape (draws,)
        Macro F1 of the entrants that have one in every draw.
    groups : mapping of str to list of str
        The entrants of each kind, those without scores among them.
    train, test : float
        Documents of the training and the test part.

    Examples
    --------
    >>> from papers.mesd_mope.draws import Scores
    >>> entries = [{"entrant": "PCA", "group": "unsupervised", "test": 0.9}]
    >>> Scores.of([entries, entries], 200, 100).values["PCA"].tolist()
    [0.9, 0.9]
    """

    values: Mapping[str, np.ndarray]
    groups: Mapping[str, list[str]]
    train: float
    test: float

    @classmethod
    def of(cls, draws: Sequence[Sequence[Mapping[str, Any]]], train: float, test: float) -> Scores:
        """The scores of the draws; an entrant that lacks one in some draw has none."""
        found: dict[str, list[float]] = {}
        groups: dict[str, list[str]] = {}
        for entry in (entry for entries in draws for entry in entries):
            names = groups.setdefault(entry["group"], [])
            names += [entry["entrant"]] if entry["entrant"] not in names else []
            if entry["test"] is not None:
                found.setdefault(entry["entrant"], []).append(entry["test"])
        values = {name: np.array(each) for name, each in found.items() if len(each) == len(draws)}
        return cls(values, groups, train, test)

    def members(self, *groups: str) -> list[str]:
        """The entrants of some kinds, in the order of the kinds."""
        return [name for group in groups for name in self.groups.get(group, [])]

    def mean(self, values: np.ndarray, level: float = LEVEL) -> Difference:
        """The mean of one value a draw, with the interval of Nadeau and Bengio: draws share training documents.
        [nadeau2003inference]"""
        interval = nadeau_bengio(values, self.train, self.test, level)
        return Difference(float(np.mean(values)), *(interval or (-np.inf, np.inf)))

    def less(self, one: str, other: str, level: float = LEVEL) -> Difference:
        """The score of one entrant less that of another, paired by draw."""
        if one not in self.values or other not in self.values:
            return Difference()
        return self.mean(self.values[one] - self.values[other], level)

    def best(self, names: Sequence[str]) -> np.ndarray | None:
        """The best score of some entrants in each draw; None where one of them lacks scores."""
        if not names or any(name not in self.values for name in names):
            return None
        return np.max([self.values[name] for name in names], axis=0)
