"""What the paper says of its experiments on Reuters, and whether it came out so.  [mu2012mesd]

Its figures stand in pictures (Figures 2 and 4, Tables 3 and 4) that the text at hand does not hold; what its text says
of them in words is checked here, by the rule of ``papers.rule``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from papers.claim import claim
from papers.mesd_mope.draws import Parts, Scores, by_share, labels_name
from papers.mesd_mope.entrants import COMBINED, EXTENDED, LABELS_ONLY, PUBLISHED, UNSUPERVISED
from papers.rule import LISTED, MISSING, UNKNOWN, Difference, Grades, Verdict, over_rows

NEAR = 0.005
GAIN = (0.002, 0.012)
SCHEME_3, WEIGHTS, PRIORITY = "MOPE G3, Dice", "MOPE W", "MOPE G3 and W, priority"
OTHER_RULES = ("MOPE G3 and W, Hadamard", "MOPE G3 and W, weighted sum")


@dataclass(frozen=True)
class Claim:
    """One sentence of the paper, where it stands, and the check of it.

    ``judge`` gets the test scores of the draws and returns the verdict. The paper says it of its own number of
    components ``k``; with the tuned one (``own``) it is asked as a check of ours. ``groups``: the kinds of
    entrants that it is about, whose draws are those that have all of these.
    """

    published: str
    where: str
    labels: str
    judge: Callable[[Scores], Verdict]
    own: bool = False
    groups: tuple[str, ...] = ()

    def check(self, parts: Parts, test: float) -> dict:
        """The claim beside what came out, as plain data; ``test`` is the size of the test part."""
        verdict = self.judge(Scores.of(by_share(parts, self.groups).get(self.labels, []), test))
        return claim(self.published, self.where, self.labels, verdict, self.own)


def supervised_claims(k: int) -> tuple[Claim, ...]:
    """The claims of experiment 1, at the paper's k and at the tuned one."""
    return tuple(each for facts, judge, *of in _SUPERVISED for each in _both(*facts, 1.0, judge, k, *of))


def partly_labelled_claims(k: int) -> tuple[Claim, ...]:
    """The claims of experiment 2, at the paper's k and at the tuned one."""
    order = "with few labels, labelled and unlabelled rows together beat either alone: SSMOPE above MOPE and OLPP"
    above = "SSMOPE outperforms the existing ML-LGC"
    return (
        *_both(above, "Table 4", 0.4, _above("SSMOPE", ("ML-LGC",)), k),
        *_both(above, "Table 4", 0.8, _above("SSMOPE", ("ML-LGC",)), k),
        *_both(order, "Table 4", 0.4, _above("SSMOPE", ("MOPE", "OLPP")), k),
    )


def _both(
    words: str, where: str, share: float, judge: Callable[[Scores], Verdict], k: int, *groups: str
) -> tuple[Claim, Claim]:
    """A claim at the paper's number of components, and the check of it at the tuned one."""
    printed, tuned = labels_name(share, k), labels_name(share)
    return Claim(words, where, printed, judge, groups=groups), Claim(words, where, tuned, judge, True, groups)


def _values(scores: Scores, names: Sequence[str]) -> str:
    """The mean score of each entrant, the best first."""
    known = sorted((name for name in names if name in scores.values), key=lambda name: -scores.values[name].mean())
    told = [f"{name} {scores.values[name].mean():.3f}" for name in known]
    return ", ".join([*told, *(f"{name} failed" for name in names if name not in scores.values)]) or MISSING


def _pairs(scores: Scores, ones: Sequence[str], others: Sequence[str]) -> dict[str, Difference]:
    """The paired difference of each of some entrants less each of others, by words."""
    return {f"{one} less {other}": scores.less(one, other) for one in ones for other in others}


def _above(ours: str, others: tuple[str, ...]) -> Callable[[Scores], Verdict]:
    def judge(scores: Scores) -> Verdict:
        return Grades.of(_pairs(scores, (ours,), others)).verdict(_values(scores, (ours, *others)))

    return judge


def all_above(
    ones: Callable[[Scores], list[str]], others: Callable[[Scores], list[str]], bound: float = 0.0
) -> Callable[[Scores], Verdict]:
    """The judge of "each of some entrants is above each of others", by more than a bound."""

    def judge(scores: Scores) -> Verdict:
        first, second = ones(scores), others(scores)
        pairs = _pairs(scores, first, second)
        words = f"lowest of the former: {_lowest(scores, first)}; the latter: {_values(scores, second)}"
        return Grades.of(pairs, bound).verdict(words)

    return judge


def _lowest(scores: Scores, names: Sequence[str]) -> str:
    known = sorted((name for name in names if name in scores.values), key=lambda name: scores.values[name].mean())
    return _values(scores, known[:LISTED])


def _proposed(scores: Scores) -> list[str]:
    return scores.members(EXTENDED, LABELS_ONLY, COMBINED)


def _supervised(scores: Scores) -> list[str]:
    """All that see labels, but for MDDM, of which the paper says that it does not perform well."""
    return [name for name in (*scores.members(PUBLISHED), *_proposed(scores)) if name != "MDDM"]


def _existing(scores: Scores) -> list[str]:
    return scores.members(PUBLISHED)


def _unsupervised(scores: Scores) -> list[str]:
    return scores.members(UNSUPERVISED)


def _three_best(scores: Scores) -> Verdict:
    """By the third best of the proposed methods less the best of the others, draw by draw."""
    ours, others = _proposed(scores), [*_existing(scores), *_unsupervised(scores)]
    best = scores.best(others)
    if best is None or len(ours) < 3 or any(name not in scores.cells for name in ours):
        return UNKNOWN
    third = np.sort([scores.cells[name] for name in ours], axis=0)[-3]
    found = over_rows(third - best)
    means = sorted((*ours, *others), key=lambda name: -scores.values[name].mean())
    words = f"the three highest means: {_values(scores, means[:3])}"
    return Grades.of({"third best proposed method less the best other one, per draw": found}).verdict(words)


def _sometimes_below(scores: Scores) -> Verdict:
    pairs = _pairs(scores, OTHER_RULES, (SCHEME_3, WEIGHTS))
    return Grades.of(pairs).some(_values(scores, (SCHEME_3, WEIGHTS, *OTHER_RULES)))


def _gain_is_small(scores: Scores) -> Verdict:
    """By the gain of each advanced method over the best unsupervised one of each draw."""
    advanced = [*(name for name in _existing(scores) if name.startswith("HSL")), *_proposed(scores)]
    best = scores.best(_unsupervised(scores))
    if best is None or not advanced:
        return UNKNOWN
    gains = {name: over_rows(scores.cells[name] - best) if name in scores.cells else Difference() for name in advanced}
    means = [100 * each.mean for each in gains.values() if np.isfinite(each.mean)]
    words = f"{min(means):+.1f} to {max(means):+.1f} points over the best unsupervised one" if means else MISSING
    return Grades.of(gains, *GAIN).verdict(words)


def _schemes(scores: Scores) -> list[str]:
    return [name for name in scores.members(LABELS_ONLY) if name != SCHEME_3]


def _but_mddm(scores: Scores) -> list[str]:
    return [name for name in _existing(scores) if name != "MDDM"]


def _only(name: str) -> Callable[[Scores], list[str]]:
    return lambda scores: [name]


_SUPERVISED = (
    (
        ("supervised embeddings discriminate better than unsupervised ones", "Fig. 4"),
        all_above(_supervised, _unsupervised),
    ),
    (("the existing MDDM does not perform well", "Fig. 4"), all_above(_but_mddm, _only("MDDM"))),
    (
        ("of MOPE's three schemes on labels alone, scheme 3 works best", "Figs. 2, 4"),
        all_above(_only(SCHEME_3), _schemes),
        LABELS_ONLY,
    ),
    (
        ("every method made by MESD or MOPE is similar to or better than existing ones", "Fig. 4"),
        all_above(_proposed, _existing, -NEAR),
    ),
    (("the three best are all made by MOPE and MESD", "Fig. 4"), _three_best),
    (("the priority combination (43) beats Hadamard and weighted sum", "Table 3"), _above(PRIORITY, OTHER_RULES)),
    (("Hadamard and weighted sum sometimes fall below G or W alone", "Table 3"), _sometimes_below),
    (("advanced supervised methods (HSL, MESD, MOPE) gain 0.2 to 1.2 %", "section 4.3"), _gain_is_small),
)
