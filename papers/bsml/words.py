"""What the paper says in words of its curves over the dimension (Figures 2 to 5), each with its check.

A judge gets ``Curves`` and returns whether it came out so and what came out, in words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from papers.bsml.fits import AUC, BASELINES, HAMMING, MACRO, MICRO, PROBIT
from papers.bsml.published import BSML, EMOTIONS, SCENE, TMC, YEAST

MDDM = f"MDDM+{PROBIT}"
MLDA = f"MLDA+{PROBIT}"
LOW = frozenset({HAMMING})  # measures where less is better
ALIKE = 0.03
Judgement = tuple[bool | None, str]
UNKNOWN: Judgement = (None, "too few fits finished")


class Curves:
    """Values by method, measure and dimension; of unreduced PROBIT by measure."""

    def __init__(self, entries: Sequence[Mapping]):
        self.values: dict[tuple[str, int | None], dict[str, float]] = {}
        for entry in entries:
            if entry["scores"] is not None and entry["start"] in ("svd", ""):
                self.values[entry["method"], entry["k"]] = entry["scores"]

    def at(self, method: str, k: int | None, measure: str) -> float | None:
        """The value of a method at a dimension; None where there is none."""
        return self.values.get((method, k), {}).get(measure)

    def sizes(self, wanted: Callable[[int], bool] = lambda k: True) -> list[int]:
        """The dimensions of BSML's curve."""
        return sorted(k for method, k in self.values if method == BSML and k is not None and wanted(k))

    def better(self, a: tuple[str, int | None], b: tuple[str, int | None], measure: str) -> bool | None:
        """Whether one method at a dimension is strictly better than another; None where either has no value."""
        first, second = self.at(*a, measure), self.at(*b, measure)
        if first is None or second is None:
            return None
        return first < second if measure in LOW else first > second

    def best(self, k: int, measure: str, methods: Sequence[str]) -> str | None:
        """The best of some methods at a dimension."""
        held = {name: value for name in methods if (value := self.at(name, k, measure)) is not None}
        if not held:
            return None
        return (min if measure in LOW else max)(held, key=held.__getitem__)


Judge = Callable[[Curves], Judgement]


@dataclass(frozen=True)
class Words:
    """One sentence of the paper about a data set, where it stands, and its check."""

    published: str
    where: str
    data: str
    judge: Judge


def leads(method: str, measures: Sequence[str], wanted: Callable[[int], bool] = lambda k: True) -> Judge:
    """Whether a method is the best of BSML and the baselines at every such dimension, in each of the measures."""

    def judge(curves: Curves) -> Judgement:
        others = [name for name in (BSML, *BASELINES) if name != method]
        sizes, told, came = curves.sizes(wanted), [], True
        for measure in measures:
            first = {k: curves.best(k, measure, [method, *others]) for k in sizes}
            if not sizes or any(curves.at(method, k, measure) is None for k in sizes):
                return UNKNOWN
            lost = {k: name for k, name in first.items() if name != method}
            came = came and not lost
            told.append(f"{measure}: first at {len(sizes) - len(lost)} of {len(sizes)}{_behind(lost)}")
        return came, "; ".join(told)

    return judge


def _behind(lost: Mapping[int, str | None]) -> str:
    """Which method is first where, in words."""
    by: dict[str, list[str]] = {}
    for k, name in lost.items():
        by.setdefault(str(name), []).append(str(k))
    return "".join(f" ({name} at R = {', '.join(sizes)})" for name, sizes in by.items())


def beats_probit(
    methods: Sequence[str], measures: Sequence[str], wanted: Callable[[int], bool] = lambda k: True, better: bool = True
) -> Judge:
    """Whether methods are better (or worse) than unreduced PROBIT at every such dimension."""

    def judge(curves: Curves) -> Judgement:
        told, came = [], True
        for measure in measures:
            counts = []
            for method in methods:
                sizes = [k for k in curves.sizes(wanted) if curves.at(method, k, measure) is not None]
                found = [curves.better((method, k), (PROBIT, None), measure) for k in sizes]
                if not found or None in found:
                    return UNKNOWN
                came = came and all(above is better for above in found)
                counts.append(f"{method} {sum(above is better for above in found)} of {len(found)}")
            told.append(f"{measure} {'better' if better else 'no better'}: {', '.join(counts)}")
        return came, "; ".join(told)

    return judge


def gap(other: str | None, low: float, high: float) -> Judge:
    """Whether Hamming losses at R = 2 differ by so much: the best baseline's (or unreduced PROBIT's) and BSML's."""

    def judge(curves: Curves) -> Judgement:
        ours = curves.at(BSML, 2, HAMMING)
        name = other or curves.best(2, HAMMING, list(BASELINES))
        theirs = None if name is None else curves.at(name, None if name == PROBIT else 2, HAMMING)
        if ours is None or theirs is None:
            return UNKNOWN
        apart = abs(theirs - ours)
        return low <= apart <= high, f"BSML {ours:.4f}, {name} {theirs:.4f}: {100 * apart:.1f} per cent"

    return judge


def alike(pairs: Sequence[tuple[str, str]], wanted: Callable[[int], bool] = lambda k: True) -> Judge:
    """Whether both F1 of pairs of methods differ by at most ``ALIKE`` at every such dimension."""

    def judge(curves: Curves) -> Judgement:
        apart = []
        for a, b in pairs:
            for measure in (MACRO, MICRO):
                for k in curves.sizes(wanted):
                    first, second = curves.at(a, k, measure), curves.at(b, None if b == PROBIT else k, measure)
                    if first is not None and second is not None:
                        apart.append((abs(first - second), f"{a} and {b}, {measure}, R = {k}"))
        if not apart:
            return UNKNOWN
        value, where = max(apart)
        return value <= ALIKE, f"at most {value:.3f} apart ({where}); {ALIKE:g} counts as comparable"

    return judge


def only_one(curves: Curves) -> Judgement:
    """Whether BSML alone has a larger average AUC than PROBIT at every dimension above 2."""
    sizes, always = curves.sizes(lambda k: k > 2), []
    for method in (BSML, *BASELINES):
        found = [curves.better((method, k), (PROBIT, None), AUC) for k in sizes]
        known = [each for each in found if each is not None]
        if not known:
            return UNKNOWN
        always += [method] if all(known) else []
    return always == [BSML], f"always above PROBIT: {', '.join(always) or 'none'}"


def below_and_not_above(curves: Curves) -> Judgement:
    """Whether BSML leads in macro F1 at every dimension below 13 and at none from there on."""
    below, words = leads(BSML, (MACRO,), lambda k: k < 13)(curves)
    sizes = curves.sizes(lambda k: k >= 13)
    if below is None or not sizes:
        return UNKNOWN
    above = [k for k in sizes if curves.best(k, MACRO, [BSML, *BASELINES]) == BSML]
    return below and not above, f"below 13 {words}; from 13 on first at {len(above)} of {len(sizes)}"


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
)  # fmt: skip
