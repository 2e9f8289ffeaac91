"""What the paper says of Figure 2, of relation features and of their cost, and whether it came out so.  [mu2012mesd]

Scores and sharpness are paired by draw and told by intervals. Seconds are told by the draws: a claim of cost came out
where all draws agree with it, did not where all disagree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from papers.claim import claim
from papers.difference import LEVEL, MISSING, Difference, every, within
from papers.mesd_mope.claims import NEAR, all_above
from papers.mesd_mope.draws import Scores, by_share
from papers.mesd_mope.fit_seconds import GENERALISED, ORDINARY, cubic, square_entrants, square_name, timed_entrants
from papers.mesd_mope.matrices import EXISTING, FEATURES, SCHEMES

ORIGINAL, RELATED, FEWER = "tf-idf rows", "relation features", "few prototypes"
KINDS = (ORIGINAL, RELATED, FEWER)
MATRIX_PART, SQUARE_PART = "matrices", "d x d problems"
LIMITS = {ORDINARY: 300.0, GENERALISED: 2500.0}
PUBLISHED_TERMS = 24_012
NO_EMBEDDING = "no embedding"


def seconds_part(kind: str) -> str:
    """The part that holds the CPU seconds of fits on a kind of features.

    Examples
    --------
    >>> from papers.mesd_mope.feature_claims import seconds_part
    >>> seconds_part("tf-idf rows")
    'seconds on tf-idf rows'
    """
    return f"seconds on {kind}"


@dataclass(frozen=True)
class Held:
    """What a record holds, as arrays over the draws: scores of each kind of features, sharpness, CPU seconds."""

    scores: Mapping[str, Scores]
    sharpness: Scores
    seconds: Mapping[str, Mapping[str, np.ndarray]]
    square: Mapping[str, np.ndarray]
    terms: np.ndarray
    widths: Sequence[int]

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Held:
        """From a record of the experiment."""
        stages, parts = list(record["stages"].values()), by_share(record["parts"])
        rows = tuple(float(np.mean([stage[part] for stage in stages])) for part in ("training", "test"))
        scores = {kind: Scores.of(parts[kind], *rows) for kind in KINDS}
        sharpness = Scores(over_draws(parts[MATRIX_PART], "sharpness"), {}, *rows)
        seconds = {kind: over_draws(parts[seconds_part(kind)], "cpu_seconds") for kind in KINDS}
        square, terms = over_draws(parts[SQUARE_PART], "cpu_seconds"), np.array([stage["terms"] for stage in stages])
        return cls(scores, sharpness, seconds, square, terms, record["widths"])

    def ratios(self, kind: str, other: str) -> dict[str, np.ndarray]:
        """Seconds on one kind of features over those on another, for each method and draw."""
        first, second = self.seconds[kind], self.seconds[other]
        return {name: first[name] / second[name] for name in first if name in second}

    def predicted(self, name: str, terms: Any) -> np.ndarray | None:
        """Seconds of the d x d problem, extrapolated by d^3 from the largest that was timed; None without it."""
        measured = self.square.get(square_name(name, self.widths[-1]))
        return None if measured is None else cubic(1.0, self.widths[-1], terms) * measured


def over_draws(draws: Sequence[Sequence[Mapping[str, Any]]], key: str) -> dict[str, np.ndarray]:
    """Entrant -> its values over the draws; one that lacks a value in some draw is left out.

    Examples
    --------
    >>> from papers.mesd_mope.feature_claims import over_draws
    >>> over_draws([[{"entrant": "a", "x": 1}, {"entrant": "b", "x": None}], [{"entrant": "a", "x": 2}]], "x")
    {'a': array([1, 2])}
    """
    found: dict[str, list[float]] = {}
    for entry in (entry for entries in draws for entry in entries):
        if entry[key] is not None:
            found.setdefault(entry["entrant"], []).append(entry[key])
    return {name: np.array(values) for name, values in found.items() if len(values) == len(draws)}


def agreed(values: Sequence[np.ndarray], bound: float = 1.0) -> bool | None:
    """Whether all arrays over the draws lie above a bound: yes where every draw of each does, no where all draws of one
    lie below it; of a single draw nothing is told.

    Examples
    --------
    >>> import numpy as np
    >>> from papers.mesd_mope.feature_claims import agreed
    >>> above, open_, below = np.array([2.0, 3.0]), np.array([0.5, 2.0]), np.array([0.5, 0.6])
    >>> agreed([above]), agreed([above, open_]), agreed([below, above]), agreed([np.array([2.0])]), agreed([])
    (True, None, False, None, None)
    """
    told = [each for each in values if len(each) > 1]
    if any((each < bound).all() for each in told):
        return False
    return True if told and len(told) == len(values) and all((each > bound).all() for each in told) else None


def feature_claims(record: Mapping[str, Any]) -> list[dict]:
    """All claims beside what came out, as plain data."""
    held = Held.of(record)
    return [*_of_matrices(held), *_of_scores(held), *_of_seconds(held)]


def _of_matrices(held: Held) -> list[dict]:
    less_distinct = "W has roughly the class structure of the label matrices, though less distinct"
    sharper = "the schemes of MOPE give matrices with sharper class structure than those of CCA and HSL"
    better = "and with comparatively higher scores than CCA and HSL"
    came, words, interval = _named(EXISTING + SCHEMES, (FEATURES,))(held.sharpness)
    value = held.sharpness.values.get(FEATURES)
    own = Difference() if value is None else held.sharpness.mean(value)
    came = False if every([own]) is False else came if every([own]) else None
    judge = _named(SCHEMES, EXISTING)
    return [
        claim(less_distinct, "Fig. 2", "sharpness", came, words, f"W {own.words}; {interval}"),
        _judged(sharper, "Fig. 2", "sharpness", judge(held.sharpness)),
        _judged(better, "Fig. 2", "macro F1", judge(held.scores[RELATED])),
    ]


def _named(ones: Sequence[str], others: Sequence[str]) -> Callable[[Scores], tuple]:
    """The judge of "each of some names is above each of others"; that it is not so needs a pair that ``surely_below``
    finds, since of many pairs one lies below by chance."""

    def judge(scores: Scores) -> tuple[bool | None, str, str]:
        came, words, interval = all_above(lambda _: list(ones), lambda _: list(others))(scores)
        return None if came is False and not surely_below(scores, ones, others) else came, words, interval

    return judge


def surely_below(scores: Scores, ones: Sequence[str], others: Sequence[str]) -> bool:
    """Whether one of some names lies below one of others, by intervals that hold for all pairs at once (Bonferroni).

    Examples
    --------
    >>> import numpy as np
    >>> from papers.mesd_mope.draws import Scores
    >>> from papers.mesd_mope.feature_claims import surely_below
    >>> scores = Scores({"a": np.array([0.1, 0.2, 0.1]), "b": np.array([0.5, 0.6, 0.5])}, {}, 200, 100)
    >>> surely_below(scores, ["a"], ["b"]), surely_below(scores, ["b"], ["a"])
    (True, False)
    """
    level = 1 - (1 - LEVEL) / (len(ones) * len(others))
    return any(scores.less(one, other, level).high < 0 for one in ones for other in others)


def _judged(published: str, where: str, labels: str, verdict: tuple) -> dict:
    came, words, interval = verdict
    return claim(published, where, labels, came, words, interval)


def _of_scores(held: Held) -> list[dict]:
    said = "embeddings of relation features discriminate similarly to those of the original features"
    return [
        _judged(said, "section 3.5", "all rows as prototypes", _similar(held, RELATED)),
        _judged(said, "section 3.5", "few rows as prototypes", _similar(held, FEWER)),
    ]


def gaps(held: Held, kind: str) -> dict[str, np.ndarray]:
    """The macro F1 of each embedding on relation features less that on the tf-idf rows, in every draw."""
    ours, others = held.scores[kind].values, held.scores[ORIGINAL].values
    return {name: ours[name] - others[name] for name in ours if name in others and name != NO_EMBEDDING}


def _similar(held: Held, kind: str) -> tuple[bool | None, str, str]:
    """All are alike where each is; they are not where their mean, draw by draw, is not: it is one interval, so that the
    number of methods makes no chance of its own."""
    found, scores = gaps(held, kind), held.scores[ORIGINAL]
    if not found:
        return None, MISSING, MISSING
    each = {name: scores.mean(values) for name, values in found.items()}
    overall = scores.mean(np.mean(list(found.values()), axis=0))
    whole = set(found) >= {name for name in scores.members(*scores.groups) if name != NO_EMBEDDING}
    came = False if _near([overall]) is False else True if whole and _near(list(each.values())) else None
    ends = sorted(each.items(), key=lambda item: item[1].mean)
    words = "; ".join(f"{name} {difference.words}" for name, difference in (ends[0], ends[-1]))
    inside, outside = (sum(_near([one]) is told for one in each.values()) for told in (True, False))
    counts = f"{inside} of {len(each)} methods within {NEAR:g}, {outside} outside"
    return came, f"from {words}", f"mean of the methods {overall.words}; {counts}"


def _near(differences: Sequence[Difference]) -> bool | None:
    return within(differences, -NEAR, NEAR)


def _of_seconds(held: Held) -> list[dict]:
    limit = {
        ORDINARY: "with relation features the cost is less than 300 seconds",
        GENERALISED: "and no more than 2,500 seconds where a generalised eigenproblem is solved",
    }
    square = "the d x d problem of the original features makes it impractical; with relation features n alone counts"
    fewer = "p prototypes reduce the cost further, to O(p^3)"
    ratio = "relation features reduce the cost of a fit"
    return [
        *(_judged(said, "section 4.3.1", "CPU seconds", _below(held, group)) for group, said in limit.items()),
        _judged(square, "section 4.3.1", "CPU seconds, d x d", _square(held)),
        _judged(ratio, "section 3.5", "CPU seconds, our routes", _cheaper(held, ORIGINAL, RELATED)),
        _judged(fewer, "section 3.5", "CPU seconds, our routes", _cheaper(held, RELATED, FEWER)),
    ]


def _below(held: Held, group: str) -> tuple[bool | None, str, str]:
    """By the largest seconds of a fit in each draw."""
    names = [each.name for each in timed_entrants() if each.group == group]
    known = {name: held.seconds[RELATED][name] for name in names if name in held.seconds[RELATED]}
    if not known:
        return None, MISSING, MISSING
    largest = np.max(list(known.values()), axis=0)
    came = agreed([LIMITS[group] / largest])
    words = ", ".join(f"{name} {seconds.mean():.1f}" for name, seconds in known.items())
    return came if len(known) == len(names) else None, words, f"largest of a fit {span(largest, '.1f')} seconds"


def _square(held: Held) -> tuple[bool | None, str, str]:
    """By the seconds of the d x d problem, from those timed, over those of a fit on relation features."""
    names = [each.name for each in square_entrants()]
    ours, words = {}, []
    for name in names:
        seconds, related = held.predicted(name, held.terms), held.seconds[RELATED].get(name)
        if seconds is None or related is None:
            continue
        ours[name] = seconds / related
        theirs = held.predicted(name, PUBLISHED_TERMS)
        words.append(
            f"{name}: {seconds.mean():,.0f} for all terms by d^3 ({theirs.mean():,.0f} for the paper's "
            f"{PUBLISHED_TERMS:,}) against {related.mean():.1f}"
        )
    came = agreed(list(ours.values())) if len(ours) == len(names) else None
    told = "; ".join(f"{name} {span(each, ',.0f')} times" for name, each in ours.items())
    return came, "; ".join(words) or MISSING, told or MISSING


def _cheaper(held: Held, dear: str, cheap: str) -> tuple[bool | None, str, str]:
    found = held.ratios(dear, cheap)
    came = agreed(list(found.values()))
    if came and len(found) < len(timed_entrants()):
        came = None
    means = ", ".join(f"{name} {np.exp(np.log(each).mean()):.3g}" for name, each in found.items())
    told = "; ".join(f"{name} {span(each, '.3g')}" for name, each in found.items())
    return came, f"seconds on {dear} over those on {cheap}: {means}" if found else MISSING, told or MISSING


def span(values: np.ndarray, form: str) -> str:
    """The smallest and the largest of the draws, in words.

    Examples
    --------
    >>> import numpy as np
    >>> from papers.mesd_mope.feature_claims import span
    >>> span(np.array([1.25, 3.5]), ".1f"), span(np.array([2.0]), ".1f")
    ('1.2 to 3.5', '2.0 (one draw)')
    """
    return f"{values.min():{form}} to {values.max():{form}}" if len(values) > 1 else f"{values[0]:{form}} (one draw)"
