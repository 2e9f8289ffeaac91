"""What the MVMD paper says of its experiments, and whether it came out so.  [xu2016mvmd]

The claims speak of many sets, so that the sets are the blocks of ``papers.rule``, each by the mean of its draws.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from papers.claim import claim
from papers.mvmd.contenders import OURS
from papers.rule import SETS, UNKNOWN, Difference, Grades, Ranks, Verdict, over_blocks
from proxembed.measures.metrics import (
    hamming_loss,
    instance_accuracy,
    instance_f1,
    instance_precision,
    instance_recall,
    subset_accuracy,
)
from proxembed.measures.statistics import wilcoxon_holm

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
    told: tuple[tuple[str, str, Verdict], ...] = (
        (f"MVMD is overall superior to {', '.join(RIVALS)} by six measures", "abstract, introduction", superior(parts)),
        ("PCA, MLSI and DMLDA have many small positive eigenvalues", "introduction", _small(record, MANY, many=True)),
        ("CCA, MDDM and MLDA have a few large positive eigenvalues", "introduction", _small(record, FEW, many=False)),
        ("MVMD has a few large eigenvalues and many small ones", "section 5", _few_and_many(record)),
        ("the projected features of MVMD are not de-correlated", "section 5", _correlated(parts)),
        ("MVMD compares well in computational time", "introduction", _seconds(parts)),
    )
    return [claim(words, where, f"{len(parts)} sets", verdict) for words, where, verdict in told]


def entry_of(parts: Parts, part: str, title: str) -> dict | None:
    """The entry of a method on a set; None where it is missing or failed."""
    return next((e for e in parts.get(part, []) if e["entrant"] == title and not e["failure"]), None)


def values(parts: Parts) -> np.ndarray:
    """The mean over draws of each measure and method, larger ones better, of the sets that have all methods: of shape
    (sets, measures, methods), ours first."""
    found = []
    for part in parts:
        entries = [entry for title in (OURS, *RIVALS) if (entry := entry_of(parts, part, title))]
        if len(entries) == 1 + len(RIVALS):
            sign = {measure: -1.0 if measure == LOSS else 1.0 for measure in MEASURES}
            found.append([[sign[m] * float(np.mean(entry[m])) for entry in entries] for m in MEASURES])
    return np.round(np.array(found).reshape(len(found), len(MEASURES), 1 + len(RIVALS)), 12)


def superior(parts: Parts) -> Verdict:
    """By the mean ranks over sets and measures, of which a set is a block."""
    held = values(parts)
    if len(held) < 2:
        return UNKNOWN
    ranks, names = Ranks.of(held), (OURS, *RIVALS)
    by_rank = sorted(zip(ranks.mean, names, strict=True))
    words = "mean rank " + ", ".join(f"{name} {rank:.2f}" for rank, name in by_rank)
    return ranks.verdict(names, f"{words}; {_by_measure(held)}")


def _by_measure(held: np.ndarray) -> str:
    """The rivals that ours is ahead of and behind on each measure, by Wilcoxon's test over the sets, uncorrected."""
    told = []
    for i, measure in enumerate(MEASURES):
        apart = [held[:, i, 0] - held[:, i, j] for j in range(1, held.shape[2])]
        p, _ = wilcoxon_holm(apart)
        sides = {
            word: [name for name, each, q in zip(RIVALS, apart, p, strict=True) if q <= 0.05 and sign * each.sum() > 0]
            for word, sign in (("ahead of", 1), ("behind", -1))
        }
        told += [f"{measure}: {word} {', '.join(names)}" for word, names in sides.items() if names]
    return "by single measures, uncorrected p at most 0.05: " + ("; ".join(told) or "none")


def _log_ratios(record: Mapping[str, Any], title: str, share: str) -> Difference:
    """The logarithm of the components that hold a share of a spectrum over the labels, a value a set."""
    known = {part: entry for part in record["parts"] if (entry := entry_of(record["parts"], part, title))}
    found = [np.log(e["spectrum"][share] / record["sets"][part]["labels"]) for part, e in known.items()]
    return over_blocks(found, SETS)


def _small(record: Mapping[str, Any], titles: tuple[str, ...], *, many: bool) -> Verdict:
    """Whether 99.9 % of the spectrum take more components than there are labels, by their logarithms."""
    parts, above = record["parts"], {}
    for title in titles:
        known = {part: entry for part in parts if (entry := entry_of(parts, part, title))}
        above[title] = [e["spectrum"]["99.9 %"] > record["sets"][part]["labels"] for part, e in known.items()]
    if not all(above.values()):
        return UNKNOWN
    told = "; ".join(f"{title} on {sum(each)} of {len(each)}" for title, each in above.items())
    pairs = {title: _log_ratios(record, title, "99.9 %") for title in titles}
    pairs = pairs if many else {title: each.turned for title, each in pairs.items()}
    return Grades.of(pairs).verdict(f"more components than labels for 99.9 % of the spectrum: {told}")


def _few_and_many(record: Mapping[str, Any]) -> Verdict:
    """Whether fewer components than labels hold 95 % of MVMD's spectrum, and more the rest, by their logarithms."""
    parts = record["parts"]
    entries = {part: entry for part in parts if (entry := entry_of(parts, part, OURS))}
    if not entries:
        return UNKNOWN
    told = "; ".join(f"{part} {e['spectrum']['95 %']} and {e['spectrum']['99.9 %']}" for part, e in entries.items())
    pairs = {
        "fewer for 95 %": _log_ratios(record, OURS, "95 %").turned,
        "more for 99.9 %": _log_ratios(record, OURS, "99.9 %"),
    }
    return Grades.of(pairs).verdict(f"components for 95 and 99.9 %: {told}")


def _correlated(parts: Parts) -> Verdict:
    entries = {part: entry for part in parts if (entry := entry_of(parts, part, OURS)) and entry["k"][0] > 1}
    if not entries:
        return UNKNOWN
    told = "; ".join(f"{part} {e['correlation']:.2f}" for part, e in entries.items())
    found = over_blocks([e["correlation"] for e in entries.values()], SETS)
    return Grades.of({"largest correlation": found}, 0.01).verdict(told)


def _seconds(parts: Parts) -> Verdict:
    """Its mean CPU seconds of a fit against the median of its rivals, by the logarithm of their ratio."""
    ratios = []
    for part in parts:
        known = [entry for title in (OURS, *RIVALS) if (entry := entry_of(parts, part, title))]
        if len(known) == 1 + len(RIVALS):
            ours, *others = (float(np.mean(entry["fit_seconds"])) for entry in known)
            ratios.append(ours / float(np.median(others)))
    if not ratios:
        return UNKNOWN
    words = f"{min(ratios):.2f} to {max(ratios):.2f} times the median of the rivals"
    return Grades.of({"logarithm of their seconds over ours": over_blocks(np.log(ratios), SETS).turned}).verdict(words)
