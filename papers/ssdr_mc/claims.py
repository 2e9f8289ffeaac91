"""What the SSDR-MC paper says of its experiments, and whether it came out so.  [qian2010ssdrmc]

Its Figures 3 and 4 are pictures without numbers; the shares of the area and the words beside them are checked, and its
words on Figure 2, of faces, on images of digits. The Hamming losses are those that a later paper reports of the method
[gonen2014bsml]. Differences are paired by draw of the labelled rows, and judged by the rule of ``papers.rule``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np

from papers.claim import claim
from papers.rule import UNKNOWN, Difference, Grades, Verdict
from papers.ssdr_mc.entrants import AS_PRINTED, CLIPPED, COUPLED, HARMONIC, PAPER, RANKED, REDUCED
from papers.ssdr_mc.images import FIRST, LAST, SIZES, SUPERVISED, UNSUPERVISED, ssdr_mc
from papers.ssdr_mc.results import IMAGE_PART, NEAR, SPLIT_PART, WIDER, Curves, Entry, Grid, Parts, drawn, over_draws
from papers.ssdr_mc.rows import TEXT

Judged = tuple[Grades | None, str, bool]  # what is asked of a surface, in words, and whether a fact speaks against it
HAMMING = {"emotions": 0.2805, "scene": 0.1345, "yeast": 0.2485}
AREA = {"yeast": 0.554, "scene": 0.356}
RIVALS = (AS_PRINTED, RANKED, REDUCED, HARMONIC, COUPLED)
HAMMING_NEAR, LEVEL, SMALL = 0.01, 0.9877, 0.05
BOX = (0.05, 0.25), (0.2, 0.6)
FEW_BELOW, NO_EFFECT = 0.1, 0.01  # share of weights below 0 that is sparse; difference in micro F1 that is none
MARGINAL = 0.05  # of images beside one of their digit
STEPS = 8


def claims(record: Mapping[str, Any]) -> list[dict]:
    """The claims beside what came out, as plain data."""
    parts, plan = record["parts"], record["plan"]
    cut, here = plan["cut"], round(100 * plan["grid_share"], 6)
    curves = {name: Curves.of(parts, name, cut) for name in drawn(parts)}
    grids = {name: Grid.of(parts, name) for name in AREA}
    images = [entry for entry in parts.get(IMAGE_PART, []) if not entry["failure"]]
    found = [
        claim(f"Hamming loss {value} on {name}", "Gonen 2014, SSDR-MC", "published split", _hamming(parts, name, cut))
        for name, value in HAMMING.items()
    ]
    found += [claim(words, "Fig. 2", "digits for faces", told, own=True) for words, told in _images(images)]
    for name, area in AREA.items():
        words = f"micro F1 is excellent and stable on {100 * area:g} % of all alpha and H, {name}"
        found.append(claim(words, "Fig. 3", f"{here:g} %", _region(grids[name], area)))
    for words, judge in _SETTINGS:
        found.append(claim(words, "parameter selection", f"{here:g} %", _over_sets(grids, judge)))
    for rival in RIVALS:
        words = f"significantly above {rival} at the 98.77 % level, all results pooled"
        words += ", C tuned" if rival == RANKED else ""
        found.append(claim(words, "Fig. 4", "all shares", _pooled(curves, rival), own=rival == RANKED))
    text = curves.get(TEXT)
    for words, where, of, told in (
        (f"{REDUCED} does not outperform {RANKED} where features are many ({TEXT})", "Fig. 4(c)", None, _reduced(text)),
        ("micro F1 rises with every step of the labelled share", "Fig. 4", None, _rises(curves)),
        ("seconds comparable with the others, fewer where features are many", "performance comparison", here,
         _seconds(text, here)),
        ("negative weights are sparse and small (far below 0.1)", "label inference", here, _negative(curves, here)),
        ("weights below 0 may be discarded without an effect on accuracy", "label inference", here,
         _discarded(curves, here)),
    ):  # fmt: skip
        found.append(claim(words, where, "all shares" if of is None else f"{of:g} %", told))
    return found


def entry_on_split(parts: Parts, name: str, method: str, cut: float | str) -> Entry | None:
    """The entry of a method on the published split of a set; None where it is missing or failed."""
    for entry in parts.get(SPLIT_PART.format(name), []):
        if entry["method"] == method and entry["cut"] == cut and not entry["failure"]:
            return entry
    return None


def _hamming(parts: Parts, name: str, cut: float) -> Verdict:
    entry = entry_on_split(parts, name, PAPER, cut)
    if entry is None:
        return UNKNOWN
    near = abs(entry["hamming"] - HAMMING[name]) <= HAMMING_NEAR
    words = f"{entry['hamming']:.4f} at H = {cut:g} (asked: within {HAMMING_NEAR:g})"
    return Verdict(near, words, "one split, nothing random")


def _images(entries: Sequence[Mapping[str, Any]]) -> list[tuple[str, Verdict]]:
    """The words on Figure 2, of images of digits, under both numbers of neighbours."""
    names = UNSUPERVISED, SUPERVISED
    found = [(f"{SUPERVISED} separates people only marginally better than {UNSUPERVISED}", _marginal(entries))]
    for size in SIZES:
        found += [
            (f"SSDR-MC separates them better than both, K = {size}", _above(entries, size, names)),
            (f"and better pass by pass, K = {size}", _by_pass(entries, size)),
            (f"those that share more attributes lie nearer, K = {size}", _traits(entries, size)),
        ]
    return found


def _beside(entries: Sequence[Mapping[str, Any]], name: str) -> np.ndarray:
    """How many images lie beside one of their digit in a projection, by draw."""
    return np.array([entry["together"][name] for entry in entries])


def _marginal(entries: Sequence[Mapping[str, Any]]) -> Verdict:
    if not entries:
        return UNKNOWN
    ours, other = (_beside(entries, name) for name in (SUPERVISED, UNSUPERVISED))
    gain = over_draws(ours - other)
    words = f"beside one of their digit {ours.mean():.2f} and {other.mean():.2f}; marginal: at most {MARGINAL:g}"
    return Grades.of({f"less {UNSUPERVISED}": gain}, -inf, MARGINAL).verdict(words)


def _above(entries: Sequence[Mapping[str, Any]], size: int, others: Sequence[str]) -> Verdict:
    if not entries:
        return UNKNOWN
    ours = _beside(entries, ssdr_mc(size, LAST))
    pairs = {f"less {name}": over_draws(ours - _beside(entries, name)) for name in others}
    return Grades.of(pairs).verdict(f"beside one of their digit {ours.mean():.2f}")


def _by_pass(entries: Sequence[Mapping[str, Any]], size: int) -> Verdict:
    if not entries:
        return UNKNOWN
    passes = [entry["passes"][str(size)] for entry in entries]
    first, last = (_beside(entries, ssdr_mc(size, place)) for place in (FIRST, LAST))
    gain = over_draws(last - first)
    words = f"first pass {first.mean():.2f}, last {last.mean():.2f}; {min(passes)} to {max(passes)} passes"
    return Grades.of({"last less first": gain}).verdict(words)


def _traits(entries: Sequence[Mapping[str, Any]], size: int) -> Verdict:
    """By the rank correlation of distances with attributes that differ, after the last pass."""
    each = [entry["traits"][ssdr_mc(size, LAST)] for entry in entries]
    found = over_draws(np.array([value for value in each if value is not None], dtype=float))
    if not np.isfinite(found.mean):
        return UNKNOWN
    return Grades.of({"rank correlation": found}).verdict(f"{found.mean:.2f}")


def _region(grid: Grid | None, area: float) -> Verdict:
    if grid is None:
        return UNKNOWN
    shares = [grid.excellent(near).mean(axis=(1, 2)) for near in (NEAR, WIDER)]
    found = over_draws(shares[0])
    words = f"{100 * found.mean:.0f} % within {NEAR:g} of the best, {grid.best.mean():.3f}; "
    words += f"{100 * shares[1].mean():.0f} % within {WIDER:g}"
    return Grades.of({"share of the area": found}, area).verdict(words)


def _over_sets(grids: Mapping[str, Grid | None], judge: Callable[[str, Grid], Judged]) -> Verdict:
    """A judgement on both surfaces; it did not come out where a fact speaks against it."""
    told = [judge(name, grid) for name, grid in grids.items() if grid is not None]
    if len(told) < len(AREA) or any(grades is None for grades, _, _ in told):
        return UNKNOWN
    grades = Grades({name: asked for found, _, _ in told if found for name, asked in found.asked.items()})
    verdict = grades.verdict("; ".join(words for _, words, _ in told))
    against = any(contrary for _, _, contrary in told) and all(e.difference.decides for e in grades.asked.values())
    return replace(verdict, came_out=False, decided_by=None) if against else verdict


def _box(name: str, grid: Grid) -> Judged:
    """By the best of the grid less the worst of the box."""
    inside = np.ix_(*((values >= low) & (values <= high) for values, (low, high) in zip(
        (grid.alpha, grid.cuts), BOX, strict=True)))  # fmt: skip
    values = np.array([f1[inside].ravel() for f1 in grid.f1])
    if values.size == 0:
        return None, f"{name}: no setting of the grid lies there", False
    found = over_draws(grid.best - values.min(axis=1))
    lowest, highest = values.min(axis=1).mean(), values.max(axis=1).mean()
    words = f"{name}: {lowest:.3f} to {highest:.3f} there, {grid.best.mean():.3f} the best; accurate: {WIDER:g}"
    return Grades.of({f"{name}, best less worst of the box": found}, -inf, WIDER), words, False


def _passes(name: str, grid: Grid) -> Judged:
    """By the most passes of an excellent setting, all of which must converge."""
    good = grid.excellent()
    most = over_draws([passes[where].max() for passes, where in zip(grid.passes, good, strict=True)])
    least, ended = grid.passes[good].min(), grid.converged[good].mean()
    words = f"{name}: {least} to {grid.passes[good].max()} passes, {100 * ended:.0f} % converged"
    return Grades.of({f"{name}, most passes": most}, -inf, STEPS + 0.5), words, bool(ended < 1.0)


def _coincide(name: str, grid: Grid) -> Judged:
    """By the mean passes of the excellent settings less those of the others."""
    good = grid.excellent()
    if any(where.all() for where in good):
        return None, f"{name}: all settings are near the best", False
    pairs = zip(grid.passes, good, strict=True)
    each = np.array([(passes[where].mean(), passes[~where].mean()) for passes, where in pairs])
    found, (inside, outside) = over_draws(each[:, 0] - each[:, 1]), each.mean(axis=0)
    words = f"{name}: {inside:.1f} passes on average near the best, {outside:.1f} elsewhere"
    return Grades.of({f"{name}, passes near it less elsewhere": found}, -inf, 0.0), words, False


_SETTINGS = (
    ("accurate for 0.05 <= alpha <= 0.25 and 0.2 <= H <= 0.6", _box),
    ("where it is accurate it converges in a small number (4 to 8) of steps", _passes),
    ("accuracy and quick convergence go together", _coincide),
)


def _pooled(curves: Mapping[str, Curves], rival: str) -> Verdict:
    """By the mean over sets and shares of each draw, at the paper's level."""
    gains = {name: _less(each, PAPER, rival) for name, each in sorted(curves.items())}
    draws = min((len(each) for each in gains.values()), default=0)
    if not draws:
        return UNKNOWN
    width = min(each.shape[-1] for each in gains.values())
    found = over_draws(np.hstack([each[:draws, :, :width] for each in gains.values()]))
    if not np.isfinite(found.mean):
        return UNKNOWN
    each_set = ", ".join(f"{name} {np.nanmean(each[..., 0]):+.3f}" for name, each in gains.items())
    told = Grades.of({f"{100 * LEVEL:g} %:": found}, level=LEVEL)
    return told.verdict(f"mean difference {found.mean:+.3f} ({each_set})")


def _less(curves: Curves, one: str, other: str) -> np.ndarray:
    """Micro F1 of one method less that of another, (draws, shares, 1 + groups) where both have groups of rows."""
    first, second = curves.cells(one), curves.cells(other)
    width = min(first.shape[-1], second.shape[-1])
    return first[..., :width] - second[..., :width]


def _reduced(text: Curves | None) -> Verdict:
    found = Difference() if text is None else over_draws(_less(text, REDUCED, RANKED))
    if not np.isfinite(found.mean):
        return UNKNOWN
    words = f"mean difference {found.mean:+.3f}; {NO_EFFECT:g} is none"
    return Grades.of({f"{REDUCED} less {RANKED}": found}, -inf, NO_EFFECT).verdict(words)


def _rises(curves: Mapping[str, Curves]) -> Verdict:
    """By the steps between shares next to each other, of which the smaller one's rows are among the larger one's."""
    told: list[str] = []
    pairs: dict[str, Difference] = {}
    for name, each in sorted(curves.items()):
        shares, values = each.shares, each.values(PAPER)
        if len(shares) < 2 or not np.isfinite(values).any(axis=0).all():
            return UNKNOWN
        steps = {
            f"{name}, {a:g} to {b:g} %": over_draws(values[:, i + 1] - values[:, i])
            for i, (a, b) in enumerate(zip(shares, shares[1:], strict=False))
        }
        means, up = np.nanmean(values, axis=0), sum(step.mean > 0 for step in steps.values())
        told.append(f"{name} {means[0]:.3f} to {means[-1]:.3f}, {up} of {len(steps)} steps up")
        pairs |= steps
    return Grades.of(pairs).verdict("; ".join(told)) if pairs else UNKNOWN


def _seconds(text: Curves | None, share: float) -> Verdict:
    """By the seconds of each draw, less those of the slowest rival."""
    methods = (PAPER, *RIVALS)
    if text is None or share not in text.shares or not set(methods) <= set(text.methods):
        return UNKNOWN
    spent = {method: text.at(share, method, "cpu_seconds") for method in methods}
    found = over_draws(np.max([spent[rival] for rival in RIVALS], axis=0) - spent[PAPER])
    told = ", ".join(f"{method} {np.nanmedian(values):.2f}" for method, values in spent.items())
    words = f"CPU seconds of a run on {TEXT}: {told}"
    return Grades.of({"slowest rival less ours": found}).verdict(words)


def _negative(curves: Mapping[str, Curves], share: float) -> Verdict:
    told, grades = [], Grades({})
    for name, each in curves.items():
        below = over_draws(each.at(share, PAPER, "below 0"))
        sizes = over_draws(each.at(share, PAPER, lambda entry: entry["sizes below 0"][1]))
        if not np.isfinite(below.mean):
            return UNKNOWN
        told.append(f"{name} {100 * below.mean:.0f} % of the weights, half of them beyond -{sizes.mean:.2f}")
        grades |= Grades.of({f"{name}, share of the weights": below}, -inf, FEW_BELOW)
        grades |= Grades.of({f"{name}, median size": sizes}, -inf, SMALL)
    return grades.verdict(f"{'; '.join(told)}; sparse: {100 * FEW_BELOW:g} %") if told else UNKNOWN


def _discarded(curves: Mapping[str, Curves], share: float) -> Verdict:
    told: list[str] = []
    pairs: dict[str, Difference] = {}
    for name, each in curves.items():
        ours, other = (each.at(share, method, "f1") for method in (PAPER, CLIPPED))
        pairs[name] = over_draws(other - ours)
        if not np.isfinite(pairs[name].mean):
            return UNKNOWN
        told.append(f"{name} {np.nanmean(other):.3f} without, {np.nanmean(ours):.3f} with")
    if not told:
        return UNKNOWN
    return Grades.of(pairs, -NO_EFFECT, NO_EFFECT).verdict(f"{'; '.join(told)}; no effect: {NO_EFFECT:g}")
