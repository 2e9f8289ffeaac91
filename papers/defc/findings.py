"""What the DEFC experiment found: means over the draws, paired differences, and what the paper says of them.

[mu2012defc]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import stdtrit

from papers.claim import claim
from papers.defc.criteria import CRITERIA, FISHER
from papers.defc.rivals import GA, REDUCED, RIVALS
from papers.defc.trials import PERMUTED
from proxembed.adaptive import Switches

CRITERIA_ENDING, ALL = ", criteria", "all sets"
LEVEL, NULL_LEVEL, NEAR = 0.95, 0.99, 0.01
Found = Mapping[str, Any]


def conclusions(parts: Mapping[str, list[dict]]) -> dict:
    """Tables and paired differences, as plain data.

    Returns
    -------
    dict
        ``tables`` (part -> method -> means over the draws), ``against`` (part -> each of DEFC's searches -> the other
        methods, paired over the draws), ``criteria`` (set -> the two forms against Fisher's criterion), ``permuted``
        (part -> test score less chance) and ``chosen`` (part -> switches and k of the genetic search's best).
    """
    made: dict[str, Any] = {"tables": {}, "against": {}, "criteria": {}, "permuted": {}, "chosen": {}}
    for part, entries in parts.items():
        made["tables"][part] = tables = {method: mean_of(each) for method, each in by_method(entries).items()}
        if part.endswith(CRITERIA_ENDING):
            each = {form: paired(tables, form, FISHER) for form in CRITERIA if form != FISHER}
            made["criteria"][part.removesuffix(CRITERIA_ENDING)] = each
            continue
        others = [method for method in tables if method not in (GA, REDUCED, PERMUTED)]
        made["against"][part] = {
            GA: {other: paired(tables, GA, other) for other in [*others, REDUCED]},
            REDUCED: {other: paired(tables, REDUCED, other) for other in others},
        }
        made["permuted"][part] = above_chance(entries)
        best = [entry for entry in entries if entry["method"] == GA and entry["chosen"]]
        made["chosen"][part] = [{"switches": each["chosen"]["switches"], "k": each["k"]} for each in best]
    return made


def by_method(entries: Sequence[Found]) -> dict[str, list[Found]]:
    """Entries by method, in their order."""
    made: dict[str, list[Found]] = {}
    for entry in entries:
        made.setdefault(entry["method"], []).append(entry)
    return made


def mean_of(entries: Sequence[Found]) -> dict:
    """Means over the draws that have a test score; ``spread`` is the standard deviation, None for fewer than two.

    Examples
    --------
    >>> from papers.defc.findings import mean_of
    >>> one = {"draw": 0, "validation": 0.9, "k": 2, "evaluations": 5, "models": 1, "failed": 0, "seconds": 1.0}
    >>> found = mean_of([{**one, "test": 0.8}, {**one, "draw": 1, "test": 0.6}])
    >>> round(found["test"], 3), round(found["spread"], 3), round(found["optimism"], 3), found["draws"]
    (0.7, 0.141, 0.2, {'0': 0.8, '1': 0.6})
    """
    held = [entry for entry in entries if entry["test"] is not None]
    tests = [entry["test"] for entry in held]
    means = {name: float(np.mean([entry[name] for entry in held])) if held else None for name in
             ("test", "validation", "evaluations", "models", "failed")}  # fmt: skip
    return {
        **means,
        "spread": float(np.std(tests, ddof=1)) if len(tests) > 1 else None,
        "optimism": float(np.mean([entry["validation"] - entry["test"] for entry in held])) if held else None,
        "k": [entry["k"] for entry in held],
        "draws": {str(entry["draw"]): entry["test"] for entry in held},
        "seconds": float(sum(entry["seconds"] for entry in entries)),
    }


def paired(tables: Mapping[str, Found], a: str, b: str) -> dict:
    """The test score of a less that of b, draw by draw: mean, interval of the mean, and the verdict for a.

    The interval is Student's over the draws, at 95 %; "wins" and "loses" where it leaves out 0, else "ties"; None for
    fewer than two draws.

    Examples
    --------
    >>> from papers.defc.findings import paired
    >>> ours, theirs = {"0": 0.9, "1": 0.91, "2": 0.89}, {"0": 0.8, "1": 0.81, "2": 0.8}
    >>> found = paired({"DEFC": {"draws": ours}, "PCA": {"draws": theirs}}, "DEFC", "PCA")
    >>> round(found["mean"], 3), found["verdict"]
    (0.097, 'wins')
    """
    one, other = (tables.get(name, {}).get("draws", {}) for name in (a, b))
    differences = [value - other[draw] for draw, value in one.items() if draw in other]
    interval = interval_of_mean(differences, LEVEL)
    verdict = None
    if interval is not None:
        verdict = "wins" if interval[0] > 0 else "loses" if interval[1] < 0 else "ties"
    mean = float(np.mean(differences)) if differences else None
    return {"mean": mean, "interval": interval, "verdict": verdict}


def interval_of_mean(values: Sequence[float], level: float) -> tuple[float, float] | None:
    """Student's interval of the mean of independent values; None for fewer than two.

    Examples
    --------
    >>> from papers.defc.findings import interval_of_mean
    >>> [round(end, 3) for end in interval_of_mean([0.1, 0.2, 0.3], 0.95)]
    [-0.048, 0.448]
    """
    n = len(values)
    if n < 2:
        return None
    half = float(stdtrit(n - 1, 0.5 + level / 2)) * float(np.std(values, ddof=1)) / n**0.5
    mean = float(np.mean(values))
    return mean - half, mean + half


def above_chance(entries: Sequence[Found]) -> dict:
    """Test score less chance of fits to permuted labels: mean, interval at 99 %, and whether it holds 0."""
    held = [entry for entry in entries if entry["method"] == PERMUTED and entry["test"] is not None]
    differences = [entry["test"] - entry["chance"] for entry in held]
    interval = interval_of_mean(differences, NULL_LEVEL)
    return {
        "test": float(np.mean([entry["test"] for entry in held])) if held else None,
        "validation": float(np.mean([entry["validation"] for entry in held])) if held else None,
        "chance": float(np.mean([entry["chance"] for entry in held])) if held else None,
        "mean": float(np.mean(differences)) if held else None,
        "interval": interval,
        "at_chance": None if interval is None else interval[0] <= 0 <= interval[1],
    }


def claims(found: Found) -> list[dict]:
    """What the paper says, and a check of ours, beside what came out: plain data."""
    made = [_best_of_all(part, table) for part, table in found["tables"].items() if part in found["against"]]
    made.append(_narrow_search(found))
    made += [_criteria(name, each, found["tables"][name + CRITERIA_ENDING]) for name, each in found["criteria"].items()]
    return [*made, *_options(found["chosen"]), _at_chance(found["permuted"])]


def _best_of_all(part: str, table: Mapping[str, Found]) -> dict:
    scores = {name: table[name]["test"] for name in RIVALS if name in table and table[name]["test"] is not None}
    mine = table[GA]["test"] if GA in table else None
    published, where = "DEFC outperforms all the existing methods", "Table V, section III-B"
    if mine is None or not scores:
        return claim(published, where, part, None, "not all have a score")
    best = max(scores, key=lambda name: scores[name])
    words = f"DEFC {mine:.4f}; the best existing method, {best}, {scores[best]:.4f}"
    return claim(published, where, part, mine > scores[best], words)


def _narrow_search(found: Found) -> dict:
    means = [each[GA][REDUCED]["mean"] for each in found["against"].values()]
    published = "a search of the eight models alone is almost as good as the full one"
    known = [mean for mean in means if mean is not None]
    if not known or len(known) < len(means):
        return claim(published, "section III-C", ALL, None, "not all have a score")
    mean = float(np.mean(known))
    words = f"full less narrow: {mean:+.4f} on average, {min(known):+.4f} to {max(known):+.4f}"
    return claim(published, "section III-C", ALL, mean <= NEAR, f"{words} (almost: {NEAR:g} at most)")


def _criteria(name: str, each: Mapping[str, Found], table: Mapping[str, Found]) -> dict:
    scores = {form: table[form]["test"] for form in CRITERIA if form in table}
    known = len(scores) == len(CRITERIA) and None not in scores.values()
    words = "; ".join(f"{form} {score:.4f}" for form, score in scores.items() if score is not None)
    told = "; ".join(f"{form} {found['verdict']}" for form, found in each.items() if found["verdict"])
    came = all(scores[form] > scores[FISHER] for form in CRITERIA if form != FISHER) if known else None
    published = "both forms of friends and enemies are better than Fisher's criterion, at equal settings"
    return claim(published, "section III-B, Reuters", name, came, f"{words} ({told})" if told else words)


def _options(chosen: Mapping[str, list[Found]]) -> list[dict]:
    best = [Switches.of(each["switches"]) for held in chosen.values() for each in held]
    related, ratio = sum(each.r > 0 for each in best), sum(each.eo == 2 for each in best)
    where, n = "Table VI", len(best)
    return [
        claim("relation features are chosen for all data sets", where, ALL, related == n if n else None,
               f"by {related} of {n} searches"),
        claim("the ratio (18) is chosen in the vast majority of cases", where, ALL, 2 * ratio > n if n else None,
               f"by {ratio} of {n} searches (majority: more than half)"),
    ]  # fmt: skip


def _at_chance(permuted: Mapping[str, Found]) -> dict:
    known = {part: each for part, each in permuted.items() if each["at_chance"] is not None}
    words = "; ".join(f"{part} {each['mean']:+.3f}" for part, each in permuted.items() if each["mean"] is not None)
    published = "with permuted labels the test score is at chance"
    came = all(each["at_chance"] for each in known.values()) if known and len(known) == len(permuted) else None
    return claim(published, "a check of ours", ALL, came, f"test score less chance: {words}")
