"""What the DEFC experiment found: means over the draws, paired differences, and what the paper says of them.

[mu2012defc]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from papers.claim import claim
from papers.defc.criteria import CRITERIA, FISHER
from papers.defc.parts import REUTERS
from papers.defc.rivals import GA, REDUCED, RIVALS
from papers.defc.trials import PERMUTED
from papers.experiment import DIGITS
from papers.rule import DRAWS, LEAST, RUN_MISSING, UNKNOWN, Difference, Grades, Verdict, over_blocks, over_rows
from proxembed.methods.adaptive import Switches

CRITERIA_ENDING, ALL = ", criteria", "all sets"
NEAR, SAVED = 0.01, 0.75
BY_DRAW = ("draws", "without")
Found = Mapping[str, Any]


def conclusions(parts: Mapping[str, list[dict]]) -> dict:
    """Tables and paired differences, as plain data.

    Returns
    -------
    dict
        ``tables`` (part -> method -> means over the draws), ``against`` (part -> each of DEFC's searches -> the other
        methods, paired over the draws), ``criteria`` (set -> the two forms against Fisher's criterion), ``permuted``
        (part -> test score less chance), ``chosen`` (part -> draw, switches and k of the genetic search's best) and
        ``narrow`` (part -> the search of eight models beside the full one, a value a draw: what the full one gains, and
        the share of its seconds that the narrow one saves).
    """
    made: dict[str, Any] = {"tables": {}, "against": {}, "criteria": {}, "permuted": {}, "chosen": {}}
    searched = {part: held for part, held in parts.items() if not part.endswith(CRITERIA_ENDING)}
    made["narrow"] = {part: _narrow(held) for part, held in searched.items()}
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
        made["chosen"][part] = [
            {"draw": each["draw"], "switches": each["chosen"]["switches"], "k": each["k"]} for each in best
        ]
    return made


def _narrow(entries: Sequence[Found]) -> dict[str, list[float]]:
    """Draws in which both searches have a score."""
    held = {
        method: {e["draw"]: e for e in entries if e["method"] == method and e["test"] is not None}
        for method in (GA, REDUCED)
    }
    both = [(full, held[REDUCED][draw]) for draw, full in held[GA].items() if draw in held[REDUCED]]
    return {
        "gain": [full["test"] - narrow["test"] for full, narrow in both],
        "saved": [1.0 - narrow["seconds"] / full["seconds"] for full, narrow in both],
    }


def draw_words(draws: Mapping[str, int]) -> str:
    """How many draws the parts have, in words.

    Examples
    --------
    >>> from papers.defc.findings import draw_words
    >>> draw_words({"dna, 1-NN": 5, "dna, FLDA": 10}), draw_words({"dna, 1-NN": 5})
    ('5 to 10', '5')
    """
    few, many = min(draws.values(), default=0), max(draws.values(), default=0)
    return f"{few}" if few == many else f"{few} to {many}"


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
        "without": {str(entry["draw"]): entry["without"] for entry in held if entry.get("without")},
        "seconds": float(sum(entry["seconds"] for entry in entries)),
    }


def paired(tables: Mapping[str, Found], a: str, b: str) -> dict:
    """The test score of a less that of b, by draw and test row: mean, interval of the mean, and the verdict for a.

    The verdict is "wins" or "loses" where the difference is decided at 5 %, else "ties"; None of fewer than five draws.

    Examples
    --------
    >>> from papers.defc.findings import paired
    >>> ours, theirs = dict.fromkeys("01234", 0.9), {"0": 0.8, "1": 0.81, "2": 0.8, "3": 0.79, "4": 0.8}
    >>> found = paired({"DEFC": {"draws": ours}, "PCA": {"draws": theirs}}, "DEFC", "PCA")
    >>> round(found["mean"], 3), found["verdict"]
    (0.1, 'wins')
    """
    found = difference(tables, a, b)
    p = found.p()
    verdict = ("ties" if p > 0.05 else "wins" if found.mean > 0 else "loses") if found.decides else None
    return {**_told(found), "verdict": verdict}


def difference(tables: Mapping[str, Found], a: str, b: str) -> Difference:
    """The test score of one method less that of another, over the draws that both have."""
    one, other = (tables.get(name, {}).get("draws", {}) for name in (a, b))
    shared = [draw for draw in one if draw in other]
    groups = [tables.get(name, {}).get("without", {}) for name in (a, b)]
    if not shared:
        return Difference()
    first = np.array([one[draw] - other[draw] for draw in shared])[:, None]
    if not all(draw in each for each in groups for draw in shared):
        return over_rows(first)
    return over_rows(np.hstack([first, [np.subtract(groups[0][draw], groups[1][draw]) for draw in shared]]))


def _told(found: Difference) -> dict:
    """Mean and interval as plain data; None where there is none."""
    known, interval = np.isfinite(found.mean), np.isfinite(found.error)
    return {"mean": found.mean if known else None, "interval": found.interval() if interval else None}


def above_chance(entries: Sequence[Found]) -> dict:
    """Test score less chance of fits to permuted labels: the values of the draws, their mean and interval."""
    held = [entry for entry in entries if entry["method"] == PERMUTED and entry["test"] is not None]
    means = {
        name: float(np.mean([e[name] for e in held])) if held else None for name in ("test", "validation", "chance")
    }
    apart = [entry["test"] - entry["chance"] for entry in held]
    return {**means, **_told(over_blocks(apart)), "draws": apart}


def claims(found: Found) -> list[dict]:
    """What the paper says, and checks of ours, beside what came out: plain data. A part with more draws than another is
    judged by the further ones alone: the first ones have chosen it for them."""
    draws = {part: len(found["tables"][part].get(GA, {}).get("draws", ())) for part in found["against"]}
    first = min(draws.values(), default=0)
    made = [_best_of_all(part, found["tables"][part], first if draws[part] > first else 0) for part in found["against"]]
    made += _narrow_search(found["narrow"])
    made += _criteria(found)
    return [*made, *_options(found["chosen"]), _at_chance(found["permuted"])]


def best_rival(table: Mapping[str, Found]) -> str | None:
    """The existing method of the largest mean test score, to the digits of a record; None where none finished."""
    known = [name for name in RIVALS if name in table and table[name]["test"] is not None]
    return max(known, key=lambda name: round(table[name]["test"], DIGITS), default=None)


def _best_of_all(part: str, table: Mapping[str, Found], first: int = 0) -> dict:
    best, mine = best_rival(table), table[GA]["test"] if GA in table else None
    published, where = "DEFC outperforms all the existing methods", "Table V, section III-B"
    if mine is None or best is None:
        return claim(published, where, part, UNKNOWN)
    words = f"DEFC {mine:.4f}; the best existing method, {best}, {table[best]['test']:.4f}"
    judged = {name: table[name] | _from_draw(table[name], first) for name in (GA, *RIVALS) if name in table}
    pairs = {f"DEFC less {name}": difference(judged, GA, name) for name in RIVALS if name in table}
    words += f"; the differences of draws {first + 1} to {len(table[GA]['draws'])} alone" if first else ""
    return claim(published, where, part, Grades.of(pairs).verdict(words))


def _from_draw(table: Found, first: int) -> dict:
    """The values of a table by draw, without the draws before one."""
    return {key: {draw: value for draw, value in table[key].items() if int(draw) >= first} for key in BY_DRAW}


def _narrow_search(narrow: Mapping[str, Mapping[str, Sequence[float]]]) -> list[dict]:
    """Of Reuters, of which the paper says it."""
    held = {part: each for part, each in narrow.items() if part.startswith(REUTERS.name) and each["gain"]}
    published = (
        "a search of the eight models alone is almost as good as the full one",
        f"it takes more than {100 * SAVED:.0f} % less time",
    )
    verdicts = [UNKNOWN, UNKNOWN]
    if held:
        lost = {
            f"{part}, narrow less full": over_blocks([-value for value in each["gain"]]) for part, each in held.items()
        }
        words = "; ".join(f"{name} {each.mean:+.4f}" for name, each in lost.items()) + f" (almost: {-NEAR:g} at least)"
        saved = {part: over_blocks(each["saved"]) for part, each in held.items()}
        shares = "; ".join(f"{part} {each.mean:.3f}" for part, each in saved.items())
        verdicts = [
            Grades.of(lost, -NEAR).verdict(words),
            Grades.of(saved, SAVED).verdict(f"of the seconds saved: {shares}; both numbers of settings are ours"),
        ]
    return [claim(words, "section III-C", REUTERS.name, told) for words, told in zip(published, verdicts, strict=True)]


def _criteria(found: Found) -> list[dict]:
    """The claim about Reuters, and the same question of other sets as checks of ours."""
    published = "both forms of friends and enemies are better than Fisher's criterion, at equal settings"
    made = []
    if REUTERS.name not in found["criteria"]:
        made.append(claim(published, "section III-B", REUTERS.name, UNKNOWN))
    for name in found["criteria"]:
        table = found["tables"][name + CRITERIA_ENDING]
        scores = {form: table[form]["test"] for form in CRITERIA if form in table}
        words = "; ".join(f"{form} {score:.4f}" for form, score in scores.items() if score is not None)
        pairs = {f"{form} less {FISHER}": difference(table, form, FISHER) for form in CRITERIA if form != FISHER}
        own = name != REUTERS.name
        where = "of Reuters alone" if own else "section III-B"
        made.append(claim(published, where, name, Grades.of(pairs).verdict(words), own))
    return made


def _options(chosen: Mapping[str, list[Found]]) -> list[dict]:
    """What Table VI is said to show, over the best models of all searches: their shares, a value for each draw that
    all of them have."""
    draws = [{each["draw"] for each in held} for held in chosen.values() if held]
    shared = set.intersection(*draws) if draws else set()
    known = [each for held in chosen.values() for each in held if each["draw"] in shared]
    best = [(each["draw"], Switches.of(each["switches"])) for each in known]
    made = []
    for words, asked in (
        ("the ratio (18) is chosen in the vast majority of cases", lambda each: each.eo == 2),
        ("features are most often standardised or whitened", lambda each: each.p in (3, 5)),
        ("relations are most often polynomial or Euclidean", lambda each: each.r in (2, 5)),
    ):
        made.append(claim(words, "Table VI", ALL, _more_than_half([(draw, asked(each)) for draw, each in best])))
    others = [sum(each.s == s for _, each in best) for s in range(1, 8) if s != 2]
    rival = [s for s in range(1, 8) if s != 2][int(np.argmax(others))]
    words = "pairs are by polynomial similarity more often than by any other"
    either = [(draw, each.s == 2) for draw, each in best if each.s in (2, rival)]
    return [_related(best), *made, claim(words, "Table VI", ALL, _more_than_half(either))]


def _related(best: Sequence[tuple[int, Switches]]) -> dict:
    """Whether every search has chosen relation features: a fact of each, where there are enough draws."""
    number, draws = sum(each.r > 0 for _, each in best), len({draw for draw, _ in best})
    enough = draws >= LEAST
    lacking = None if enough else f"{LEAST} {DRAWS} (here {draws})" if best else RUN_MISSING
    told = Verdict(number == len(best) if enough else None, f"by {number} of {len(best)} searches", "a count", lacking)
    return claim("relation features are chosen for all data sets", "Table VI", ALL, told)


def _more_than_half(asked: Sequence[tuple[int, bool]]) -> Verdict:
    """Whether more than half of the searches have chosen something, by the share of each draw."""
    if not asked:
        return UNKNOWN
    shares = [np.mean([is_so for other, is_so in asked if other == draw]) for draw in sorted({d for d, _ in asked})]
    number = sum(is_so for _, is_so in asked)
    words = f"by {number} of {len(asked)} searches (most: more than half)"
    return Grades.of({"share of a draw": over_blocks(shares)}, 0.5).verdict(words)


def _at_chance(permuted: Mapping[str, Found]) -> dict:
    """A check of ours: it fails where some part differs from chance."""
    known = {part: over_blocks(each["draws"]) for part, each in permuted.items()}
    words = "; ".join(f"{part} {each.mean:+.3f}" for part, each in known.items() if np.isfinite(each.mean))
    apart = len(known) - Grades.of(known).count(None)
    enough = bool(known) and all(each.decides for each in known.values())
    lacking = None if enough else f"{LEAST} {DRAWS} (here {min((each.blocks for each in known.values()), default=0)})"
    told = Verdict(apart == 0 if enough else None, f"test score less chance: {words}",
                   f"{apart} of {len(known)} differ from 0", lacking)  # fmt: skip
    return claim("with permuted labels the test score is at chance", "a check of ours", ALL, told, own=True)
