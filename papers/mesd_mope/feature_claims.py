"""What the paper says of Figure 2, of relation features and of their cost, and whether it came out so.  [mu2012mesd]

All is judged by the rule of ``papers.rule``, seconds by the logarithms of their ratios, a value a draw.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from papers.claim import claim
from papers.mesd_mope.claims import NEAR, all_above
from papers.mesd_mope.draws import Scores, by_share
from papers.mesd_mope.fit_seconds import GENERALISED, ORDINARY, cubic, square_entrants, square_name, timed_entrants
from papers.mesd_mope.matrices import EXISTING, FEATURES, SCHEMES
from papers.rule import MISSING, UNKNOWN, Difference, Grades, Verdict, over_blocks, over_rows

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
        tested = float(np.mean([stage["test"] for stage in stages]))
        scores = {kind: Scores.of(parts[kind], tested) for kind in KINDS}
        sharp = over_draws(parts[MATRIX_PART], "sharpness")
        sharpness = Scores({name: values[:, None] for name, values in sharp.items()}, {}, tested)
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


def log_ratio(dear: Any, cheap: Any) -> Difference:
    """The logarithm of a ratio of seconds, a value a draw, with the draws as blocks.

    Examples
    --------
    >>> import numpy as np
    >>> from papers.mesd_mope.feature_claims import log_ratio
    >>> log_ratio(np.array([2.0, 2.0]), 1.0).words
    '+0.6931 (+0.6931 to +0.6931)'
    """
    return over_blocks(np.log(dear) - np.log(cheap))


def feature_claims(record: Mapping[str, Any]) -> list[dict]:
    """All claims beside what came out, as plain data."""
    held = Held.of(record)
    return [*_of_matrices(held), *_of_scores(held), *_of_seconds(held)]


def _of_matrices(held: Held) -> list[dict]:
    less_distinct = "W has roughly the class structure of the label matrices, though less distinct"
    sharper = "the schemes of MOPE give matrices with sharper class structure than those of CCA and HSL"
    better = "and with comparatively higher scores than CCA and HSL"
    known, sharp = held.sharpness.cells, all_above(lambda _: list(SCHEMES), lambda _: list(EXISTING))
    pairs = {f"{one} less {FEATURES}": held.sharpness.less(one, FEATURES) for one in EXISTING + SCHEMES}
    grades = Grades.of({FEATURES: over_rows(known[FEATURES]) if FEATURES in known else Difference(), **pairs})
    words = ", ".join(f"{name} {known[name].mean():.3f}" for name in (FEATURES, *EXISTING, *SCHEMES) if name in known)
    return [
        claim(less_distinct, "Fig. 2", "sharpness", grades.verdict(words or MISSING)),
        claim(sharper, "Fig. 2", "sharpness", sharp(held.sharpness)),
        claim(better, "Fig. 2", "macro F1", sharp(held.scores[RELATED])),
    ]


def _of_scores(held: Held) -> list[dict]:
    said = "embeddings of relation features discriminate similarly to those of the original features"
    return [
        claim(said, "section 3.5", "all rows as prototypes", _similar(held, RELATED)),
        claim(said, "section 3.5", "few rows as prototypes", _similar(held, FEWER)),
    ]


def gaps(held: Held, kind: str) -> dict[str, Difference]:
    """The macro F1 of each embedding on relation features less that on the tf-idf rows."""
    ours, others = held.scores[kind], held.scores[ORIGINAL]
    return {
        name: over_rows(ours.cells[name] - others.cells[name])
        for name in ours.cells
        if name in others.cells and name != NO_EMBEDDING
    }


def _similar(held: Held, kind: str) -> Verdict:
    """All methods that entered, each within ``NEAR``."""
    found, scores = gaps(held, kind), held.scores[ORIGINAL]
    if not found:
        return UNKNOWN
    entered = dict.fromkeys((*(name for name in scores.members(*scores.groups) if name != NO_EMBEDDING), *found))
    ends = sorted(found.items(), key=lambda item: item[1].mean)
    words = "; ".join(f"{name} {each.mean:+.4f}" for name, each in (ends[0], ends[-1]))
    return Grades.of({name: found.get(name, Difference()) for name in entered}, -NEAR, NEAR).verdict(f"from {words}")


def _of_seconds(held: Held) -> list[dict]:
    limit = {
        ORDINARY: "with relation features the cost is less than 300 seconds",
        GENERALISED: "and no more than 2,500 seconds where a generalised eigenproblem is solved",
    }
    square = "the d x d problem of the original features makes it impractical; with relation features n alone counts"
    fewer = "p prototypes reduce the cost further, to O(p^3)"
    ratio = "relation features reduce the cost of a fit"
    return [
        *(claim(said, "section 4.3.1", "CPU seconds", _below(held, group)) for group, said in limit.items()),
        claim(square, "section 4.3.1", "CPU seconds, d x d", _square(held)),
        claim(ratio, "section 3.5", "CPU seconds, our routes", _cheaper(held, ORIGINAL, RELATED)),
        claim(fewer, "section 3.5", "CPU seconds, our routes", _cheaper(held, RELATED, FEWER)),
    ]


def _below(held: Held, group: str) -> Verdict:
    """By the logarithms of the bound over the seconds of each fit."""
    names = [each.name for each in timed_entrants() if each.group == group]
    known = {name: held.seconds[RELATED][name] for name in names if name in held.seconds[RELATED]}
    if not known:
        return UNKNOWN
    pairs = {name: log_ratio(LIMITS[group], known[name]) if name in known else Difference() for name in names}
    words = ", ".join(f"{name} {seconds.mean():.1f} ({span(seconds, '.1f')})" for name, seconds in known.items())
    return Grades.of(pairs).verdict(words)


def _square(held: Held) -> Verdict:
    """By the seconds of the d x d problem, from those timed, over those of a fit on relation features."""
    names = [each.name for each in square_entrants()]
    ours, words = dict.fromkeys(names, Difference()), []
    for name in names:
        seconds, related = held.predicted(name, held.terms), held.seconds[RELATED].get(name)
        if seconds is None or related is None:
            continue
        ours[name] = log_ratio(seconds, related)
        theirs = held.predicted(name, PUBLISHED_TERMS)
        words.append(
            f"{name}: {seconds.mean():,.0f} for all terms by d^3 ({theirs.mean():,.0f} for the paper's "
            f"{PUBLISHED_TERMS:,}) against {related.mean():.1f}, {span(seconds / related, ',.0f')} times"
        )
    return Grades.of(ours).verdict("; ".join(words) or MISSING)


def _cheaper(held: Held, dear: str, cheap: str) -> Verdict:
    found = held.ratios(dear, cheap)
    pairs = {each.name: log_ratio(found[each.name], 1.0) if each.name in found else Difference()
             for each in timed_entrants()}  # fmt: skip
    told = "; ".join(f"{name} {np.exp(np.log(each).mean()):.3g} ({span(each, '.3g')})" for name, each in found.items())
    return Grades.of(pairs).verdict(f"seconds on {dear} over those on {cheap}: {told}" if found else MISSING)


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
