"""Published numbers and sentences of the Bayesian multi-label paper beside what came out, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from papers.bsml.fits import HAMMING
from papers.bsml.published import PUBLISHED, RELEVANCE, Published
from papers.bsml.words import WORDS, Curves
from papers.claim import claim

Parts = Mapping[str, Sequence[Mapping]]


def claims(parts: Parts) -> list[dict]:
    """Of every set that is there: numbers, then words; each ``published, where, labels, came_out, ours``."""
    held = {name: [entry for entry in entries if "scores" in entry] for name, entries in parts.items()}
    found = [_number(each, held[each.data]) for each in PUBLISHED if held.get(each.data)]
    for each in WORDS:
        if held.get(each.data):
            came, ours = each.judge(Curves(held[each.data]))
            found.append(claim(each.published, each.where, each.data, came, ours))
    return found


def whole(entries: Sequence[Mapping], method: str) -> list[Mapping]:
    """The finished fits of a method with as many components as labels, from every start."""
    known = [entry for entry in entries if entry["method"] == method]
    largest = max((entry["k"] or 0 for entry in known), default=0)
    return [entry for entry in known if (entry["k"] or 0) == largest and entry["scores"] is not None]


def _number(each: Published, entries: Sequence[Mapping]) -> dict:
    """A Hamming loss: every start must come as near as is asked; of BSML+ARD the one with the largest bound."""
    found = whole(entries, each.method)
    if not found:
        return claim(f"{each.method}, Hamming loss {each.value:.4f}", each.where, each.data, None, "no fit finished")
    if each.method == RELEVANCE:
        chosen = [max(found, key=lambda entry: entry["bound"])]
        ours = f"{_relevance(found)}; largest bound: {chosen[0]['scores'][HAMMING]:.4f}, {chosen[0]['active']} in use"
        kept = f", {each.dimensions} dimensions"
    else:
        chosen, kept = found, ""
        ours = ", ".join(f"{entry['start']} {entry['scores'][HAMMING]:.4f}" for entry in found)
    told = f"{each.method}, Hamming loss {each.value:.4f}{kept}"
    if each.target is None or each.tolerance is None:
        return claim(told, each.where, each.data, None, f"{ours}; {each.why}")
    near = all(abs(entry["scores"][HAMMING] - each.target) <= each.tolerance for entry in chosen)
    return claim(f"{told} (asked: {each.target:g} ± {each.tolerance:g})", each.where, each.data, near, ours)


def _relevance(found: Sequence[Mapping]) -> str:
    """Median and range over the starts, and how many ended with how many components."""
    losses = [entry["scores"][HAMMING] for entry in found]
    counts = sorted({entry["active"] for entry in found})
    ended = ", ".join(f"{n} in {sum(entry['active'] == n for entry in found)}" for n in counts)
    starts = f"{len(found)} starts: median {median(losses):.4f}, {min(losses):.4f} to {max(losses):.4f}"
    return f"{starts}; components in use: {ended}"
