"""What the MVMD paper says of its experiments, and whether it came out so.  [xu2016mvmd]

Differences are of the means over draws, one per set and measure, losses turned round; their intervals are over sets.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from papers.claim import claim
from papers.difference import MISSING, mean_of_draws
from papers.mvmd.contenders import OURS
from proxembed.measures.metrics import (
    hamming_loss,
    instance_accuracy,
    instance_f1,
    instance_precision,
    instance_recall,
    subset_accuracy,
)

LOSS = "Hamming loss"
MEASURES = {
    LOSS: hamming_loss,
    "accuracy": instance_accuracy,
    "F1": instance_f1,
    "precision": instance_precision,
    "recall": instance_recall,
    "subset accuracy": subset_accuracy,
}
RIVALS = ("PCA", "MDDMp", "MDDMf", "CCA", "MLSI", "MLDA", "DMLDA")
MANY, FEW = ("PCA", "MLSI", "DMLDA"), ("CCA", "MDDMp", "MDDMf", "MLDA")

Parts = Mapping[str, list[dict]]


def claims(record: Mapping[str, Any]) -> list[dict]:
    """The claims beside what came out, as plain data."""
    parts = record["parts"]
    every = f"{len(parts)} sets"
    found = [
        claim(f"MVMD is overall superior to {rival} by six measures", "abstract, introduction", every, *told)
        for rival in RIVALS
        for told in [superior(parts, rival)]
    ]
    words = "PCA, MLSI and DMLDA have many small positive eigenvalues"
    found.append(claim(words, "introduction", every, *_small(record, MANY, many=True)))
    words = "CCA, MDDM and MLDA have a few large positive eigenvalues"
    found.append(claim(words, "introduction", every, *_small(record, FEW, many=False)))
    words = "MVMD has a few large eigenvalues and many small ones"
    found.append(claim(words, "section 5", every, *_few_and_many(record)))
    words = "the projected features of MVMD are not de-correlated"
    found.append(claim(words, "section 5", every, *_correlated(parts)))
    words = "MVMD compares well in computational time"
    return [*found, claim(words, "introduction", every, *_seconds(parts))]


def entry_of(parts: Parts, part: str, title: str) -> dict | None:
    """The entry of a method on a set; None where it is missing or failed."""
    return next((e for e in parts.get(part, []) if e["entrant"] == title and not e["failure"]), None)


def gain(ours: dict, other: dict, measure: str) -> float:
    """The mean over draws of ours less the other's; above 0 is better for losses, too.

    >>> gain({"Hamming loss": [0.1, 0.2]}, {"Hamming loss": [0.2, 0.2]}, "Hamming loss")
    0.05
    """
    found = float(np.mean(ours[measure]) - np.mean(other[measure]))
    return round(-found if measure == LOSS else found, 12)


def gains(parts: Parts, rival: str, measure: str) -> np.ndarray:
    """The gain over a rival on each set that both have."""
    pairs = [(entry_of(parts, part, OURS), entry_of(parts, part, rival)) for part in parts]
    return np.array([gain(ours, other, measure) for ours, other in pairs if ours and other])


def superior(parts: Parts, rival: str) -> tuple[bool | None, str, str | None]:
    """Whether MVMD is above a rival by every measure, its intervals above 0; not, where one is below 0.

    Returns what came out, the mean gains, and their intervals.
    """
    found = {measure: gains(parts, rival, measure) for measure in MEASURES}
    if min(len(each) for each in found.values()) < 2:
        return None, MISSING, None
    bounds = {measure: mean_of_draws(each) for measure, each in found.items()}
    above = [measure for measure, each in bounds.items() if each.low > 0]
    below = [measure for measure, each in bounds.items() if each.high < 0]
    means = ", ".join(f"{measure} {each.mean:+.3f}" for measure, each in bounds.items())
    intervals = ", ".join(f"{measure} {each.low:+.3f} to {each.high:+.3f}" for measure, each in bounds.items())
    return True if len(above) == len(MEASURES) else False if below else None, means, intervals


def _small(record: Mapping[str, Any], titles: tuple[str, ...], *, many: bool) -> tuple[bool | None, str]:
    """Whether 99.9 % of the spectrum take more components than there are labels, on most sets."""
    parts, above = record["parts"], {}
    for title in titles:
        known = {part: entry for part in parts if (entry := entry_of(parts, part, title))}
        above[title] = [e["spectrum"]["99.9 %"] > record["sets"][part]["labels"] for part, e in known.items()]
    if not all(above.values()):
        return None, MISSING
    told = "; ".join(f"{title} on {sum(each)} of {len(each)}" for title, each in above.items())
    shares = [np.mean(each) for each in above.values()]
    came = all(share > 0.5 for share in shares) if many else all(share < 0.5 for share in shares)
    return came, f"more components than labels for 99.9 % of the spectrum: {told}"


def _few_and_many(record: Mapping[str, Any]) -> tuple[bool | None, str]:
    """Whether at most as many components as labels hold 95 % of MVMD's spectrum, and more the rest, on every set."""
    parts, found = record["parts"], []
    entries = {part: entry for part in parts if (entry := entry_of(parts, part, OURS))}
    if not entries:
        return None, MISSING
    told = []
    for part, entry in entries.items():
        few, most = entry["spectrum"]["95 %"], entry["spectrum"]["99.9 %"]
        found.append(few <= record["sets"][part]["labels"] < most)
        told.append(f"{part} {few} and {most}")
    return all(found), f"components for 95 and 99.9 %: {'; '.join(told)}"


def _correlated(parts: Parts) -> tuple[bool | None, str]:
    entries = {part: entry for part in parts if (entry := entry_of(parts, part, OURS)) and entry["k"][0] > 1}
    if not entries:
        return None, MISSING
    told = "; ".join(f"{part} {e['correlation']:.2f}" for part, e in entries.items())
    return all(e["correlation"] > 0.01 for e in entries.values()), f"largest correlation: {told}"


def _seconds(parts: Parts) -> tuple[bool | None, str]:
    """Its mean CPU seconds of a fit against the median of its rivals."""
    ratios = []
    for part in parts:
        known = [entry_of(parts, part, title) for title in (OURS, *RIVALS)]
        if all(known):
            ours, *others = (float(np.mean(entry["fit_seconds"])) for entry in known)
            ratios.append(ours / float(np.median(others)))
    if not ratios:
        return None, MISSING
    return max(ratios) <= 1.0, f"{min(ratios):.2f} to {max(ratios):.2f} times the median of the rivals"
