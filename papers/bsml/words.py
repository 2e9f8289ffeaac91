"""What the paper says in words of its curves over the dimension (Figures 2 to 5), each with its check.

A judge gets ``Curves``, of the published split or of random draws of it, and returns the verdict by the rule of
``papers.rule``, of differences over the test rows that are positive where the first method is better.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from papers.bsml.fits import BASELINES, PROBIT
from papers.bsml.published import BSML, EMOTIONS, SCENE, TMC, YEAST
from papers.bsml.readings import AUC, HAMMING, LOW, MACRO, MEASURES, MICRO, Reading, less_by_draw
from papers.rule import RUN_MISSING, Difference, Grades, Verdict, over_blocks

MDDM = f"MDDM+{PROBIT}"
MLDA = f"MLDA+{PROBIT}"
ALIKE = 0.03
TIMES = "runs"
Place = tuple[str, int | None]
Pairs = dict[str, Difference]
UNKNOWN = Verdict(None, "too few fits finished", "too few fits finished", RUN_MISSING)


def anything(k: int) -> bool:
    """Every dimension is wanted."""
    return True


class Curves:
    """Readings by method and dimension, of unreduced PROBIT under None: with the probit, or of nearest neighbours.

    Entries with a ``draw`` are those of random draws, others those of the published split.
    """

    def __init__(self, entries: Sequence[Mapping], neighbors: bool = False, runs: Sequence[Mapping] = ()):
        self.entries, self.runs = entries, runs
        self.readings: dict[Place, dict[int | None, Reading]] = {}
        self.seconds: dict[Place, float] = {}
        for entry in entries:
            found = entry["neighbors"] if neighbors else entry
            if entry["start"] in ("svd", "") and found is not None and found["scores"] is not None:
                self.readings.setdefault((entry["method"], entry["k"]), {})[entry.get("draw")] = found
                self.seconds[entry["method"], entry["k"]] = entry["cpu_seconds"]

    @property
    def by_neighbors(self) -> Curves:
        """The same embeddings, read by nearest neighbours."""
        return Curves(self.entries, neighbors=True)

    def at(self, method: str, k: int | None, measure: str) -> float | None:
        """The value of a method at a dimension, the mean of the draws; None where there is none."""
        values = [each["scores"][measure] for each in self.readings.get((method, k), {}).values()]
        return None if not values or None in values else sum(values) / len(values)

    def sizes(self, wanted: Callable[[int], bool] = anything) -> list[int]:
        """The dimensions of BSML's curve."""
        return sorted(k for method, k in self.readings if method == BSML and k is not None and wanted(k))

    def over(self, one: Place, other: Place, measure: str) -> Difference:
        """How much better one method at a dimension is than another."""
        return less_by_draw(self.readings.get(one, {}), self.readings.get(other, {}), measure)

    def best(self, k: int, measure: str, methods: Sequence[str]) -> str | None:
        """The best of some methods at a dimension."""
        held = {name: value for name in methods if (value := self.at(name, k, measure)) is not None}
        if not held:
            return None
        return (min if measure in LOW else max)(held, key=held.__getitem__)

    def over_others(self, method: str, k: int, measure: str) -> Pairs:
        """How much better a method is than each of BSML and the baselines that is there at a dimension, by words."""
        others = [name for name in (BSML, *BASELINES) if name != method and (name, k) in self.readings]
        return {f"{method} over {o}, {measure}, R = {k}": self.over((method, k), (o, k), measure) for o in others}


Judge = Callable[[Curves], Verdict]


@dataclass(frozen=True)
class Words:
    """One sentence of the paper about a data set, where it stands, and its check."""

    published: str
    where: str
    data: str
    judge: Judge


def leads(method: str, measures: Sequence[str], wanted: Callable[[int], bool] = anything) -> Judge:
    """Whether a method is the best of BSML and the baselines at every such dimension, in each of the measures."""

    def judge(curves: Curves) -> Verdict:
        sizes, told = curves.sizes(wanted), []
        pairs: Pairs = {}
        for measure in measures:
            if not sizes or any(curves.at(method, k, measure) is None for k in sizes):
                return UNKNOWN
            first = {k: curves.best(k, measure, [method, BSML, *BASELINES]) for k in sizes}
            lost = {k: name for k, name in first.items() if name != method}
            told.append(f"{measure}: first at {len(sizes) - len(lost)} of {len(sizes)}{_behind(lost)}")
            for k in sizes:
                pairs |= curves.over_others(method, k, measure)
        return Grades.of(pairs).verdict("; ".join(told))

    return judge


def _behind(lost: Mapping[int, str | None]) -> str:
    """Which method is first where, in words."""
    by: dict[str, list[str]] = {}
    for k, name in lost.items():
        by.setdefault(str(name), []).append(str(k))
    return "".join(f" ({name} at R = {', '.join(sizes)})" for name, sizes in by.items())


def leads_by_neighbors(wanted: Callable[[int], bool]) -> Judge:
    """Whether BSML has the lowest Hamming loss at every such dimension with nearest neighbours on the components."""
    judge = leads(BSML, (HAMMING,), wanted)
    return lambda curves: judge(curves.by_neighbors)


def beats_probit(
    methods: Sequence[str], measures: Sequence[str], wanted: Callable[[int], bool] = anything, better: bool = True
) -> Judge:
    """Whether methods are better (or worse) than unreduced PROBIT at every such dimension."""

    def judge(curves: Curves) -> Verdict:
        told: list[str] = []
        pairs: Pairs = {}
        for measure in measures:
            counts = []
            for method in methods:
                sizes = [k for k in curves.sizes(wanted) if curves.at(method, k, measure) is not None]
                found = [curves.over((method, k), (PROBIT, None), measure) for k in sizes]
                if not found or curves.at(PROBIT, None, measure) is None:
                    return UNKNOWN
                found = found if better else [each.turned for each in found]
                ends = (method, PROBIT) if better else (PROBIT, method)
                names = (f"{ends[0]} over {ends[1]}, {measure}, R = {k}" for k in sizes)
                pairs |= dict(zip(names, found, strict=True))
                counts.append(f"{method} {sum(each.mean > 0 for each in found)} of {len(found)}")
            told.append(f"{measure} {'better' if better else 'worse'}: {', '.join(counts)}")
        return Grades.of(pairs).verdict("; ".join(told))

    return judge


def gap(other: str | None, low: float, high: float) -> Judge:
    """Whether the Hamming loss at R = 2 is so much less: BSML's than the best baseline's, or unreduced PROBIT's than
    BSML's."""

    def judge(curves: Curves) -> Verdict:
        ours, name = (BSML, 2), other or curves.best(2, HAMMING, list(BASELINES))
        theirs = (str(name), None if name == PROBIT else 2)
        values = [curves.at(*place, HAMMING) for place in (ours, theirs)]
        if None in values:
            return UNKNOWN
        found = curves.over(*((theirs, ours) if name == PROBIT else (ours, theirs)), HAMMING)
        words = f"{BSML} {values[0]:.4f}, {name} {values[1]:.4f}: {100 * found.mean:+.1f} per cent"
        return Grades.of({f"asked {low:g} to {high:g}:": found}, low, high).verdict(words)

    return judge


def alike(pairs: Sequence[tuple[str, str]], wanted: Callable[[int], bool] = anything) -> Judge:
    """Whether both F1 of pairs of methods differ by at most ``ALIKE`` at every such dimension."""

    def judge(curves: Curves) -> Verdict:
        apart: Pairs = {}
        for a, b in pairs:
            for k in curves.sizes(wanted):
                place = (b, None if b == PROBIT else k)
                if {(a, k), place} <= curves.readings.keys():
                    for measure in (MACRO, MICRO):
                        apart[f"{a} less {b}, {measure}, R = {k}"] = curves.over((a, k), place, measure)
        return _alike(apart)

    return judge


def _alike(apart: Pairs) -> Verdict:
    """Whether all differences lie within ``ALIKE``; the largest is told."""
    if not apart:
        return UNKNOWN
    name, largest = max(apart.items(), key=lambda item: abs(item[1].mean))
    words = f"at most {abs(largest.mean):.3f} apart ({name}); {ALIKE:g} counts as comparable"
    return Grades.of(apart, -ALIKE, ALIKE).verdict(words)


def alike_by_neighbors(curves: Curves) -> Verdict:
    """Whether nearest neighbours on the components and the probit are alike, in every measure and dimension."""
    other = curves.by_neighbors
    apart = {
        f"{place[0]} by neighbours, {measure}, R = {place[1]}": less_by_draw(
            found, curves.readings.get(place, {}), measure
        )
        for place, found in other.readings.items()
        for measure in MEASURES
        if place in curves.readings
    }
    return _alike(apart)


def only_one(curves: Curves) -> Verdict:
    """Whether BSML alone has a larger average AUC than PROBIT at every dimension above 2: BSML has it everywhere, and
    each baseline has a smaller one where it lies lowest."""
    sizes, always = curves.sizes(lambda k: k > 2), []
    asked: Pairs = {}
    for method in (BSML, *BASELINES):
        known = [k for k in sizes if (method, k) in curves.readings]
        if not known or curves.at(PROBIT, None, AUC) is None:
            return UNKNOWN
        pairs = {f"{method} over {PROBIT}, R = {k}": curves.over((method, k), (PROBIT, None), AUC) for k in known}
        always += [method] if all(each.mean > 0 for each in pairs.values()) else []
        if method == BSML:
            asked |= pairs
        else:
            lowest = min(known, key=lambda k: pairs[f"{method} over {PROBIT}, R = {k}"].mean)
            asked[f"{PROBIT} over {method}, R = {lowest}"] = pairs[f"{method} over {PROBIT}, R = {lowest}"].turned
    return Grades.of(asked).verdict(f"always above PROBIT: {', '.join(always) or 'none'}")


def below_and_not_above(curves: Curves) -> Verdict:
    """Whether BSML leads in macro F1 at every dimension below 13, and from there on lies behind the best other one."""
    below = leads(BSML, (MACRO,), lambda k: k < 13)(curves)
    sizes, asked = curves.sizes(lambda k: k >= 13), {}
    if below is UNKNOWN or not sizes or any(curves.at(BSML, k, MACRO) is None for k in sizes):
        return UNKNOWN
    for k in curves.sizes(lambda k: k < 13):
        asked |= curves.over_others(BSML, k, MACRO)
    for k in sizes:
        other = curves.best(k, MACRO, list(BASELINES))
        if other is None:
            return UNKNOWN
        asked[f"{other} over {BSML}, {MACRO}, R = {k}"] = curves.over((other, k), (BSML, k), MACRO)
    above = [k for k in sizes if curves.best(k, MACRO, [BSML, *BASELINES]) == BSML]
    return Grades.of(asked).verdict(f"below 13 {below.ours}; from 13 on first at {len(above)} of {len(sizes)}")


def reductions_are_fastest(curves: Curves) -> Verdict:
    """Whether each reduction with its PROBIT takes less time than PROBIT on all features, and that less than BSML, at
    their largest dimensions, by the logarithms of their CPU seconds; runs are the blocks."""
    spent = [run["cpu_seconds"] for run in curves.runs]
    if not spent:
        return UNKNOWN
    order = [*((name, PROBIT) for name in BASELINES), (PROBIT, BSML)]
    pairs = {f"{less} before {more}": _log_ratio(spent, more, less) for less, more in order}
    means = (f"{name} {sum(each[name] for each in spent) / len(spent):.2f}" for name in (*BASELINES, PROBIT, BSML))
    return Grades.of(pairs).verdict(f"CPU seconds {', '.join(means)}; logarithms of ratios")


def _log_ratio(spent: Sequence[Mapping[str, float]], more: str, less: str) -> Difference:
    return over_blocks([math.log(each[more] / each[less]) for each in spent], TIMES)


WORDS = (
    Words("BSML outperforms all baselines at every dimension in Hamming loss and average AUC", "Fig. 2", EMOTIONS,
          leads(BSML, (HAMMING, AUC))),
    Words("the difference is around two per cent when R = 2", "Fig. 2", EMOTIONS, gap(None, 0.01, 0.03)),
    Words("BSML is better than PROBIT on all features at every dimension", "Fig. 2", EMOTIONS,
          beats_probit([BSML], (HAMMING, AUC))),
    Words("BSML and MLDA+PROBIT are comparable in macro and micro F1", "Fig. 2", EMOTIONS, alike([(BSML, MLDA)])),
    Words("with two dimensions or more, both have F1 similar to PROBIT's", "Fig. 2", EMOTIONS,
          alike([(BSML, PROBIT), (MLDA, PROBIT)], lambda k: k >= 2)),
    Words("in Hamming loss BSML is the best reduction at R = 1 and 2", "Fig. 3", SCENE,
          leads(BSML, (HAMMING,), lambda k: k <= 2)),
    Words("after two dimensions MDDM+PROBIT has the lower Hamming loss", "Fig. 3", SCENE,
          leads(MDDM, (HAMMING,), lambda k: k > 2)),
    Words("after four dimensions every reduction has a lower Hamming loss than PROBIT", "Fig. 3", SCENE,
          beats_probit([BSML, *BASELINES], (HAMMING,), lambda k: k > 4)),
    Words("in macro and micro F1 BSML is the best reduction up to four dimensions", "Fig. 3", SCENE,
          leads(BSML, (MACRO, MICRO), lambda k: k <= 4)),
    Words("after four dimensions MDDM, MLLS, MLDA and BSML beat PROBIT in both F1", "Fig. 3", SCENE,
          beats_probit([BSML, *(name for name in BASELINES if not name.startswith("PCA"))], (MACRO, MICRO),
                       lambda k: k > 4)),
    Words("BSML outperforms all baselines in Hamming loss and micro F1", "Fig. 4", TMC, leads(BSML, (HAMMING, MICRO))),
    Words("and in average AUC when R > 1", "Fig. 4", TMC, leads(BSML, (AUC,), lambda k: k > 1)),
    Words("and in macro F1 only when R < 13", "Fig. 4", TMC, below_and_not_above),
    Words("but is not as good as PROBIT", "Fig. 4", TMC, beats_probit([BSML], (HAMMING,), better=False)),
    Words("with two dimensions it is around two per cent from PROBIT in Hamming loss", "Fig. 4", TMC,
          gap(PROBIT, 0.01, 0.03)),
    Words("MDDM+PROBIT has the lowest Hamming loss at R = 2", "Fig. 5", YEAST,
          leads(MDDM, (HAMMING,), lambda k: k == 2)),
    Words("BSML has the lowest Hamming loss at R = 3 and 4", "Fig. 5", YEAST,
          leads(BSML, (HAMMING,), lambda k: k in (3, 4))),
    Words("BSML has the largest average AUC when R > 2", "Fig. 5", YEAST, leads(BSML, (AUC,), lambda k: k > 2)),
    Words("and alone has a larger one than PROBIT throughout", "Fig. 5", YEAST, only_one),
    Words("with two or three dimensions BSML is clearly better in macro and micro F1", "Fig. 5", YEAST,
          leads(BSML, (MACRO, MICRO), lambda k: k in (2, 3))),
    Words("a reduction takes less time than PROBIT on all features, and that less than BSML", "Fig. 2", EMOTIONS,
          reductions_are_fastest),
    Words("a reduction takes less time than PROBIT on all features, and that less than BSML", "Fig. 4", TMC,
          reductions_are_fastest),
    *(Words("with k-NN after each reduction the performances are very similar", "section 5.1", data,
            alike_by_neighbors) for data in (EMOTIONS, SCENE, TMC, YEAST)),
    *(Words("BSML's lead at very low dimensions (R = 1, 2) is not PROBIT's: it has the lowest Hamming loss with k-NN",
            "section 5.1", data, leads_by_neighbors(lambda k: k <= 2)) for data in (EMOTIONS, SCENE, TMC)),
)  # fmt: skip
