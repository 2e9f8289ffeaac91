"""What the DEFC experiment found: means over the draws, paired differences, and what the paper says of them.

[mu2012defc]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import stdtrit
from scipy.stats import binomtest

from papers.claim import claim
from papers.defc.criteria import CRITERIA, FISHER
from papers.defc.parts import REUTERS
from papers.defc.rivals import GA, REDUCED, RIVALS
from papers.defc.trials import PERMUTED
from proxembed.methods.adaptive import Switches

CRITERIA_ENDING, ALL = ", criteria", "all sets"
LEVEL, NULL_LEVEL, NEAR, SAVED = 0.95, 0.99, 0.01, 0.75
Found = Mapping[str, Any]


def conclusions(parts: Mapping[str, list[dict]]) -> dict:
    """Tables and paired differences, as plain data.

    Returns
    -------
    dict
        ``tables`` (part -> method -> means over the draws), ``against`` (part -> each of DEFC's searches -> the other
        methods, paired over the draws), ``criteria`` (set -> the two forms against Fisher's criterion), ``permuted``
        (part -> test score less chance), ``chosen`` (part -> switches and k of the genetic search's best) and
        ``narrow`` (the search of eight models beside the full one, a value a draw, the mean over the parts: what the
        full one gains, and the share of its seconds that the narrow one saves).
    """
    made: dict[str, Any] = {"tables": {}, "against": {}, "criteria": {}, "permuted": {}, "chosen": {}}
    made["narrow"] = _narrow({part: held for part, held in parts.items() if not part.endswith(CRITERIA_ENDING)})
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


def _narrow(parts: Mapping[str, Sequence[Found]]) -> dict[str, list[float]]:
    """Draws in which both searches have a score in every part."""
    held: dict[int, dict[str, list[Found]]] = {}
    for entries in parts.values():
        for entry in entries:
            if entry["method"] in (GA, REDUCED) and entry["test"] is not None:
                held.setdefault(entry["draw"], {GA: [], REDUCED: []})[entry["method"]].append(entry)
    whole = [each for each in held.values() if len(each[GA]) == len(each[REDUCED]) == len(parts)]
    sums = {name: [[sum(e[name] for e in each[method]) for method in (GA, REDUCED)] for each in whole]
            for name in ("test", "seconds")}  # fmt: skip
    return {
        "gain": [(full - narrow) / len(parts) for full, narrow in sums["test"]],
        "saved": [1.0 - narrow / full for full, narrow in sums["seconds"]],
    }


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


def interval_words(interval: Sequence[float] | None, level: float = LEVEL) -> str:
    """An interval in words, with its level.

    Examples
    --------
    >>> from papers.defc.findings import interval_words
    >>> interval_words((-0.01, 0.02)), interval_words(None)
    ('-0.0100 to +0.0200 (95 %)', 'none')
    """
    return "none" if interval is None else f"{interval[0]:+.4f} to {interval[1]:+.4f} ({100 * level:.0f} %)"


def beyond(interval: Sequence[float] | None, limit: float) -> bool | None:
    """Whether an interval lies above a limit; None where it holds the limit, or there is none.

    Examples
    --------
    >>> from papers.defc.findings import beyond
    >>> beyond((0.1, 0.2), 0.0), beyond((-0.2, -0.1), 0.0), beyond((-0.1, 0.1), 0.0), beyond(None, 0.0)
    (True, False, None, None)
    """
    if interval is None or interval[0] <= limit <= interval[1]:
        return None
    return interval[0] > limit


def claims(found: Found) -> list[dict]:
    """What the paper says, and checks of ours, beside what came out: plain data."""
    made = [_best_of_all(part, found["tables"][part], against[GA]) for part, against in found["against"].items()]
    made += _narrow_search(found["narrow"])
    made += _criteria(found)
    return [*made, *_options(found["chosen"]), _at_chance(found["permuted"])]


def _best_of_all(part: str, table: Mapping[str, Found], against: Mapping[str, Found]) -> dict:
    scores = {name: table[name]["test"] for name in RIVALS if name in table and table[name]["test"] is not None}
    mine = table[GA]["test"] if GA in table else None
    published, where = "DEFC outperforms all the existing methods", "Table V, section III-B"
    if mine is None or not scores:
        return claim(published, where, part, None, "not all have a score", "none")
    best = max(scores, key=lambda name: scores[name])
    verdicts = [against[name]["verdict"] for name in scores]
    came = True if set(verdicts) == {"wins"} else False if against[best]["verdict"] == "loses" else None
    words = f"DEFC {mine:.4f}; the best existing method, {best}, {scores[best]:.4f}; DEFC wins against "
    words += f"{verdicts.count('wins')} of {len(scores)}"
    return claim(published, where, part, came, words, interval_words(against[best]["interval"]))


def _narrow_search(narrow: Mapping[str, Sequence[float]]) -> list[dict]:
    gain, saved = (interval_of_mean(narrow[name], LEVEL) for name in ("gain", "saved"))
    published = (
        "a search of the eight models alone is almost as good as the full one",
        f"it takes more than {100 * SAVED:.0f} % less time",
    )
    told = ["not all have a score"] * 2
    if narrow["gain"]:
        told[0] = f"full less narrow: {np.mean(narrow['gain']):+.4f} (almost: {NEAR:g} at most)"
        told[1] = f"{np.mean(narrow['saved']):.3f} of the seconds saved; both numbers of settings are ours"
    far = beyond(gain, NEAR)
    return [
        claim(published[0], "section III-C", ALL, None if far is None else not far, told[0], interval_words(gain)),
        claim(published[1], "section III-C", ALL, beyond(saved, SAVED), told[1], interval_words(saved)),
    ]


def _criteria(found: Found) -> list[dict]:
    """The claim about Reuters, and the same question of other sets as checks of ours."""
    published = "both forms of friends and enemies are better than Fisher's criterion, at equal settings"
    made = []
    if REUTERS.name not in found["criteria"]:
        made.append(claim(published, "section III-B", REUTERS.name, None, "not among the sets here", "none"))
    for name, each in found["criteria"].items():
        table = found["tables"][name + CRITERIA_ENDING]
        scores = {form: table[form]["test"] for form in CRITERIA if form in table}
        words = "; ".join(f"{form} {score:.4f}" for form, score in scores.items() if score is not None)
        verdicts = {other["verdict"] for other in each.values()}
        came = True if verdicts == {"wins"} else False if "loses" in verdicts else None
        told = "; ".join(f"{form} {interval_words(other['interval'])}" for form, other in each.items())
        where = "section III-B" if name == REUTERS.name else "a check of ours; the paper has Reuters alone"
        made.append(claim(published, where, name, came, words, told))
    return made


def _options(chosen: Mapping[str, list[Found]]) -> list[dict]:
    """What Table VI is said to show, over the best models of all searches."""
    best = [Switches.of(each["switches"]) for held in chosen.values() for each in held]
    related, n = sum(each.r > 0 for each in best), len(best)
    similar = [sum(each.s == s for each in best) for s in range(1, 8)]
    polynomial, strongest = similar[1], max(similar[:1] + similar[2:])
    words = "relation features are chosen for all data sets"
    made = [
        claim(words, "Table VI", ALL, related == n if n else None, f"by {related} of {n} searches", _share(related, n))
    ]
    for words, number, of in (
        ("the ratio (18) is chosen in the vast majority of cases", sum(each.eo == 2 for each in best), n),
        ("features are most often standardised or whitened", sum(each.p in (3, 5) for each in best), n),
        ("relations are most often polynomial or Euclidean", sum(each.r in (2, 5) for each in best), n),
        ("pairs are by polynomial similarity more often than by any other", polynomial, polynomial + strongest),
    ):
        told = f"by {number} of {of} searches (most: more than half)"
        made.append(claim(words, "Table VI", ALL, beyond(_wilson(number, of), 0.5), told, _share(number, of)))
    return made


def _wilson(number: int, of: int) -> tuple[float, float] | None:
    """Wilson's interval of a share; None of nothing."""
    if not of:
        return None
    found = binomtest(number, of).proportion_ci(LEVEL, method="wilson")
    return float(found.low), float(found.high)


def _share(number: int, of: int) -> str:
    found = _wilson(number, of)
    return "none" if found is None else f"{found[0]:.2f} to {found[1]:.2f} ({100 * LEVEL:.0f} %)"


def _at_chance(permuted: Mapping[str, Found]) -> dict:
    known = {part: each for part, each in permuted.items() if each["at_chance"] is not None}
    words = "; ".join(f"{part} {each['mean']:+.3f}" for part, each in permuted.items() if each["mean"] is not None)
    published = "with permuted labels the test score is at chance"
    came = all(each["at_chance"] for each in known.values()) if known and len(known) == len(permuted) else None
    holding = sum(each["at_chance"] for each in known.values())
    holds = f"{holding} of {len(known)} intervals hold 0 (99 %)" if known else "none"
    return claim(published, "a check of ours", ALL, came, f"test score less chance: {words}", holds)
