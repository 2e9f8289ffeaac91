"""Published numbers and sentences of the Bayesian multi-label paper beside what came out, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from statistics import median

from papers.bsml.published import DRAW, DRAWS, FIRST_DRAWS, PUBLISHED, REDRAWN, RELEVANCE, TIMED, Published
from papers.bsml.readings import HAMMING
from papers.bsml.words import WORDS, Curves, Words, reductions_are_fastest
from papers.claim import claim
from papers.markdown import DASH
from papers.rule import LEAST, RUN_MISSING, Verdict

Parts = Mapping[str, Sequence[Mapping]]
NONE_FINISHED = Verdict(None, "no fit finished", DASH, RUN_MISSING)


def claims(parts: Parts) -> list[dict]:
    """Of every set that is there: numbers, then words; each ``published, where, labels, came_out, ours, interval,
    decided_by, own``, and ``given``: the verdict on the published split, where random draws of it decide."""
    held = {name: [entry for entry in entries if "scores" in entry] for name, entries in parts.items()}
    found = []
    for each in PUBLISHED:
        if held.get(each.data):
            entries = whole(held[each.data], each.method)
            found.append(_number(each, entries))
            found += [_dimensions(each, entries)] if each.dimensions else []
        redrawn = REDRAWN.get(each.data, "")
        if entries := whole(held.get(redrawn, []), each.method):
            found.append(_number(replace(each, data=redrawn, why=""), entries, own=True))
    for each in WORDS:
        if held.get(each.data):
            found.append(_sentence(each, held, parts.get(TIMED.get(each.data, ""), ())))
    return found


def _sentence(each: Words, held: Parts, runs: Sequence[Mapping]) -> dict:
    """A sentence, by the random draws of the split where there are enough, else by the published one."""
    given = each.judge(Curves(held[each.data], runs=runs))
    number, drawn = draws_of(held, each.data)
    if number < LEAST or each.judge is reductions_are_fastest:
        return claim(each.published, each.where, each.data, given)
    labels = f"{each.data}, {number} {'further ' * (each.data in FIRST_DRAWS)}random splits"
    return {**claim(each.published, each.where, labels, each.judge(Curves(drawn))), "given": asdict(given)}


def draws_of(parts: Parts, data: str) -> tuple[int, list[Mapping]]:
    """How many random draws of a set's split are judged, and their entries, each with its ``draw``: of a set with
    further draws these alone, as the first ones have chosen it for them."""
    numbers = range(1 + FIRST_DRAWS.get(data, 0), 1 + DRAWS.get(data, 0))
    names = {draw: DRAW.format(data, draw) for draw in numbers}
    known = {draw: parts[name] for draw, name in names.items() if parts.get(name)}
    return len(known), [{**entry, "draw": draw} for draw, entries in known.items() for entry in entries]


def whole(entries: Sequence[Mapping], method: str) -> list[Mapping]:
    """The finished fits of a method with as many components as labels, from every start."""
    known = [entry for entry in entries if entry["method"] == method]
    largest = max((entry["k"] or 0 for entry in known), default=0)
    return [entry for entry in known if (entry["k"] or 0) == largest and entry["scores"] is not None]


def _number(each: Published, found: Sequence[Mapping], own: bool = False) -> dict:
    """A Hamming loss: came out where every start comes as near as is asked, did not where none does; of BSML+ARD the
    start with the largest bound decides."""
    said = f"{each.method}, Hamming loss {each.value:.4f} (asked: {each.target:g} ± {each.tolerance:g})"
    if not found:
        return claim(said, each.where, each.data, NONE_FINISHED)
    losses = [entry["scores"][HAMMING] for entry in found]
    many = "1 start" if len(losses) == 1 else f"{len(losses)} starts"
    interval = f"{min(losses):.4f} to {max(losses):.4f} over {many}"
    if each.method == RELEVANCE:
        losses = [_best(found)["scores"][HAMMING]]
        ours = f"largest bound {losses[0]:.4f}; median of {len(found)} starts {_median(found):.4f}"
    else:
        ours = ", ".join(f"{entry['start']} {entry['scores'][HAMMING]:.4f}" for entry in found)
    near = [abs(loss - each.target) <= each.tolerance for loss in losses]
    came = True if all(near) else None if any(near) else False
    ours += f"; {each.why}" if each.why and came is not True else ""
    lacking = "a start that is nearest by its bound: the starts disagree" if came is None else None
    return claim(said, each.where, each.data, Verdict(came, ours, interval, lacking), own)


def _dimensions(each: Published, found: Sequence[Mapping]) -> dict:
    """The components that BSML+ARD keeps, from the start with the largest bound."""
    said = f"{each.method} keeps {each.dimensions} dimensions"
    if not found:
        return claim(said, each.where, each.data, NONE_FINISHED)
    counts = sorted(entry["active"] for entry in found)
    ended = ", ".join(f"{n} in {counts.count(n)}" for n in sorted(set(counts)))
    kept = _best(found)["active"]
    interval = f"{counts[0]} to {counts[-1]} over {len(counts)} starts"
    verdict = Verdict(kept == each.dimensions, f"largest bound {kept}; {ended} starts", interval)
    return claim(said, each.where, each.data, verdict)


def _best(found: Sequence[Mapping]) -> Mapping:
    return max(found, key=lambda entry: entry["bound"])


def _median(found: Sequence[Mapping]) -> float:
    return median(entry["scores"][HAMMING] for entry in found)
