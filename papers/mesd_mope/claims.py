"""What the paper says of its experiments on Reuters, and whether it came out so.  [mu2012mesd]

Its figures stand in pictures (Figures 2 and 4, Tables 3 and 4) that the text at hand does not hold; what its text says
of them in words is checked here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from papers.claim import claim
from papers.mesd_mope.entrants import COMBINED, EXTENDED, LABELS_ONLY, PUBLISHED, UNSUPERVISED

Scores = dict[str, float]
Parts = Mapping[str, list[dict]]
NEAR = 0.005


@dataclass(frozen=True)
class Claim:
    """One sentence of the paper, where it stands, and the check of it.

    ``judge`` gets the test scores by entrant and the entrants of each group, and returns whether it came out so (None
    where it cannot be told) and what came out, in words.
    """

    published: str
    where: str
    part: str
    judge: Callable[[Scores, dict[str, list[str]]], tuple[bool | None, str]]

    def check(self, parts: Parts) -> dict:
        """The claim beside what came out, as plain data."""
        entries = [entry for entry in parts[self.part] if entry["test"] is not None]
        scores = {entry["entrant"]: entry["test"] for entry in entries}
        groups: dict[str, list[str]] = {}
        for entry in entries:
            groups.setdefault(entry["group"], []).append(entry["entrant"])
        came, words = self.judge(scores, groups)
        return claim(self.published, self.where, self.part, came, words)


def supervised_claims() -> tuple[Claim, ...]:
    """The claims of experiment 1."""
    return tuple(Claim(*facts, "100 %", judge) for facts, judge in _SUPERVISED)


def partly_labelled_claims() -> tuple[Claim, ...]:
    """The claims of experiment 2."""
    order = "with few labels, labelled and unlabelled rows together beat either alone: SSMOPE above MOPE and OLPP"
    above = "SSMOPE outperforms the existing ML-LGC"
    return (
        Claim(above, "Table 4", "40 %", _above("SSMOPE", ("ML-LGC",))),
        Claim(above, "Table 4", "80 %", _above("SSMOPE", ("ML-LGC",))),
        Claim(order, "Table 4", "40 %", _above("SSMOPE", ("MOPE", "OLPP"))),
    )


def _above(ours: str, others: tuple[str, ...]):
    def judge(scores: Scores, groups: dict[str, list[str]]) -> tuple[bool | None, str]:
        missing = [name for name in (ours, *others) if name not in scores]
        if missing:
            return None, f"{', '.join(missing)} failed"
        told = ", ".join(f"{name} {scores[name]:.3f}" for name in (ours, *others))
        return all(scores[ours] > scores[name] for name in others), told

    return judge


def _best(scores: Scores, names: list[str]) -> tuple[str, float]:
    name = max(names, key=scores.__getitem__)
    return name, scores[name]


def _supervised_beat_unsupervised(scores: Scores, groups: dict[str, list[str]]) -> tuple[bool | None, str]:
    supervised = [name for group in (PUBLISHED, EXTENDED, LABELS_ONLY, COMBINED) for name in groups.get(group, [])]
    supervised = [name for name in supervised if name != "MDDM"]
    if not supervised or not groups.get(UNSUPERVISED):
        return None, "too few entrants finished"
    rival, value = _best(scores, groups[UNSUPERVISED])
    below = [f"{name} {scores[name]:.3f}" for name in supervised if scores[name] <= value]
    above = len(supervised) - len(below)
    words = f"{above} of {len(supervised)} above the best unsupervised one ({rival}, {value:.3f})"
    return not below, words + (f"; not above: {', '.join(below)}" if below else "")


def _mddm_is_poor(scores: Scores, groups: dict[str, list[str]]) -> tuple[bool | None, str]:
    others = [name for name in groups.get(PUBLISHED, []) if name != "MDDM"]
    if "MDDM" not in scores or not others:
        return None, "too few entrants finished"
    lowest = min(others, key=scores.__getitem__)
    words = f"MDDM {scores['MDDM']:.3f}; the lowest of the other existing methods: {lowest} {scores[lowest]:.3f}"
    return scores["MDDM"] < scores[lowest], words


def _scheme_three_is_best(scores: Scores, groups: dict[str, list[str]]) -> tuple[bool | None, str]:
    names = groups.get(LABELS_ONLY, [])
    third = [name for name in names if name.startswith("MOPE G3")]
    if not third or len(names) < 2:
        return None, "too few entrants finished"
    told = ", ".join(f"{name} {scores[name]:.3f}" for name in sorted(names, key=lambda name: -scores[name]))
    return _best(scores, names)[0] in third, told


def _proposed_keep_up(scores: Scores, groups: dict[str, list[str]]) -> tuple[bool | None, str]:
    ours = [name for group in (EXTENDED, LABELS_ONLY, COMBINED) for name in groups.get(group, [])]
    if not ours or not groups.get(PUBLISHED):
        return None, "too few entrants finished"
    rival, value = _best(scores, groups[PUBLISHED])
    below = [f"{name} {scores[name]:.3f}" for name in ours if scores[name] < value - NEAR]
    words = f"{len(ours) - len(below)} of {len(ours)} reach {rival} {value:.3f} within {NEAR:g}"
    return not below, words + (f"; below: {', '.join(below)}" if below else "")


def _proposed_lead(scores: Scores, groups: dict[str, list[str]]) -> tuple[bool | None, str]:
    ours = {name for group in (EXTENDED, LABELS_ONLY, COMBINED) for name in groups.get(group, [])}
    embedded = [name for names in groups.values() for name in names if name != "no embedding"]
    first = sorted(embedded, key=lambda name: -scores[name])[:3]
    if len(first) < 3:
        return None, "too few entrants finished"
    return set(first) <= ours, ", ".join(f"{name} {scores[name]:.3f}" for name in first)


def _priority_is_best(scores: Scores, groups: dict[str, list[str]]) -> tuple[bool | None, str]:
    names = ("MOPE G3 and W, priority", "MOPE G3 and W, Hadamard", "MOPE G3 and W, weighted sum")
    judge = _above(names[0], names[1:])
    return judge(scores, groups)


def _others_sometimes_lose(scores: Scores, groups: dict[str, list[str]]) -> tuple[bool | None, str]:
    alone, joined = ("MOPE G3, Dice", "MOPE W"), ("MOPE G3 and W, Hadamard", "MOPE G3 and W, weighted sum")
    missing = [name for name in (*alone, *joined) if name not in scores]
    if missing:
        return None, f"{', '.join(missing)} failed"
    value = max(scores[name] for name in alone)
    told = ", ".join(f"{name} {scores[name]:.3f}" for name in (*alone, *joined))
    return any(scores[name] < value for name in joined), told


def _gain_is_small(scores: Scores, groups: dict[str, list[str]]) -> tuple[bool | None, str]:
    advanced = [name for group in (EXTENDED, LABELS_ONLY, COMBINED) for name in groups.get(group, [])]
    advanced += [name for name in groups.get(PUBLISHED, []) if name.startswith("HSL")]
    if not advanced or not groups.get(UNSUPERVISED):
        return None, "too few entrants finished"
    rival, value = _best(scores, groups[UNSUPERVISED])
    low, high = (100 * (pick(scores[name] for name in advanced) - value) for pick in (min, max))
    return 0.2 <= low and high <= 1.2, f"{low:+.1f} to {high:+.1f} points over {rival} {value:.3f}"


_SUPERVISED = (
    (("supervised embeddings discriminate better than unsupervised ones", "Fig. 4"), _supervised_beat_unsupervised),
    (("the existing MDDM does not perform well", "Fig. 4"), _mddm_is_poor),
    (("of MOPE's three schemes on labels alone, scheme 3 works best", "Figs. 2, 4"), _scheme_three_is_best),
    (("every method made by MESD or MOPE is similar to or better than existing ones", "Fig. 4"), _proposed_keep_up),
    (("the three best are all made by MOPE and MESD", "Fig. 4"), _proposed_lead),
    (("the priority combination (43) beats Hadamard and weighted sum", "Table 3"), _priority_is_best),
    (("Hadamard and weighted sum sometimes fall below G or W alone", "Table 3"), _others_sometimes_lose),
    (("advanced supervised methods (HSL, MESD, MOPE) gain 0.2 to 1.2 %", "section 4.3"), _gain_is_small),
)
