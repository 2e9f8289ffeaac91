"""What the SSDR-MC paper says of its experiments, and whether it came out so.  [qian2010ssdrmc]

Its Figures 3 and 4 are pictures without numbers; the shares of the area and the words beside them are checked. The
Hamming losses are those that a later paper reports of the method.  [gonen2014bsml]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.stats import wilcoxon

from papers.claim import claim
from papers.part_names import part_name, set_and_share
from papers.ssdr_mc.entrants import CLIPPED, HARMONIC, PAPER, RANKED, REDUCED
from papers.ssdr_mc.rows import TEXT

Parts = Mapping[str, list[dict]]
Told = tuple[bool | None, str]
HAMMING = {"emotions": 0.2805, "scene": 0.1345, "yeast": 0.2485}
AREA = {"yeast": 0.554, "scene": 0.356}
RIVALS = (RANKED, REDUCED, HARMONIC)
NEAR, HAMMING_NEAR, LEVEL, SMALL = 0.02, 0.01, 1 - 0.9877, 0.05
BOX = (0.05, 0.25), (0.2, 0.6)
WIDER = 0.05  # below the best of the grid: the second look at its area, and the box of accurate settings
FEW_BELOW, NO_EFFECT = 0.1, 0.01  # share of weights below 0 that is sparse; difference in micro F1 that is none
STEPS, MISSING = 8, "too few entrants finished"
SPLIT_PART, SURFACE_PART = "{}, published split", "{}, alpha and threshold"


def claims(record: Mapping[str, Any]) -> list[dict]:
    """The claims beside what came out, as plain data."""
    parts, plan = record["parts"], record["plan"]
    cut, share = plan["cut"], plan["grid_share"]
    here = f"{100 * share:g} %"
    found = [
        claim(f"Hamming loss {value} on {name}", "Gonen 2014, SSDR-MC", "published split", *_hamming(parts, name, cut))
        for name, value in HAMMING.items()
    ]
    for name, area in AREA.items():
        words = f"micro F1 is excellent and stable on {100 * area:g} % of all alpha and H, {name}"
        found.append(claim(words, "Fig. 3", here, *_region(parts, name)))
    for words, judge in _SETTINGS:
        found.append(claim(words, "parameter selection", here, *_over_sets(parts, judge)))
    for rival in RIVALS:
        words = f"significantly above {rival} at the 98.77 % level, all results pooled"
        found.append(claim(words, "Fig. 4", "all shares", *_pooled(parts, rival, cut)))
    words = f"{REDUCED} does not outperform {RANKED} where features are many ({TEXT})"
    found.append(claim(words, "Fig. 4(c)", "all shares", *_reduced(parts, cut)))
    found.append(
        claim("micro F1 rises with every step of the labelled share", "Fig. 4", "all shares", *_rises(parts, cut))
    )
    words = "seconds comparable with the others, fewer where features are many"
    found.append(claim(words, "performance comparison", here, *_seconds(parts, part_name(TEXT, share), cut)))
    words = "negative weights are sparse and small (far below 0.1)"
    found.append(claim(words, "label inference", here, *_negative(parts, share, cut)))
    words = "weights below 0 may be discarded without an effect on accuracy"
    return [*found, claim(words, "label inference", here, *_discarded(parts, share, cut))]


def entry_of(parts: Parts, part: str, method: str, cut: float | str) -> dict | None:
    """The entry of a method at a cut; None where it is missing or failed."""
    for entry in parts.get(part, []):
        if entry.get("method") == method and entry["cut"] == cut and not entry["failure"]:
            return entry
    return None


def curve(parts: Parts, name: str, method: str, cut: float | str) -> dict[float, list[float]]:
    """Share of labelled rows in per cent -> micro F1 of each draw, ascending.

    >>> parts = {"yeast at 5 %": [{"method": "OPLS", "cut": 0.3, "failure": None, "f1": [0.5, 0.6]}]}
    >>> curve(parts, "yeast", "OPLS", 0.3)
    {5.0: [0.5, 0.6]}
    """
    found = {}
    for part in parts:
        of, share = set_and_share(part)
        if of == name and share is not None and (entry := entry_of(parts, part, method, cut)) is not None:
            found[share] = entry["f1"]
    return dict(sorted(found.items()))


def curve_sets(parts: Parts) -> list[str]:
    """The sets with a curve, in order.

    >>> curve_sets({"yeast, published split": [], "yeast at 5 %": [], "yeast at 10 %": []})
    ['yeast']
    """
    return list(dict.fromkeys(name for name, share in map(set_and_share, parts) if share is not None))


def surface(parts: Parts, name: str) -> dict[str, np.ndarray] | None:
    """alpha (a,), cuts (h,), and f1, passes, converged (a, h) of a set; None where a row is missing or failed."""
    rows = parts.get(SURFACE_PART.format(name), [])
    if not rows or any(row["failure"] for row in rows):
        return None
    told = {key: np.array([row[key] for row in rows]) for key in ("alpha", "f1", "passes", "converged")}
    return {**told, "cuts": np.array(rows[0]["cuts"])}


def near_best(found: Mapping[str, np.ndarray], near: float = NEAR) -> np.ndarray:
    """Where micro F1 is within ``near`` of the largest, bool (a, h)."""
    return found["f1"] >= found["f1"].max() - near


def _hamming(parts: Parts, name: str, cut: float) -> Told:
    entry = entry_of(parts, SPLIT_PART.format(name), PAPER, cut)
    if entry is None:
        return None, MISSING
    value = entry["hamming"][0]
    return abs(value - HAMMING[name]) <= HAMMING_NEAR, f"{value:.4f} at H = {cut:g}"


def _region(parts: Parts, name: str) -> Told:
    found = surface(parts, name)
    if found is None:
        return None, MISSING
    shares = [float(near_best(found, near).mean()) for near in (NEAR, WIDER)]
    words = f"{100 * shares[0]:.0f} % within {NEAR:g} of the best, {found['f1'].max():.3f}; "
    return shares[0] >= AREA[name], words + f"{100 * shares[1]:.0f} % within {WIDER:g}"


def _over_sets(parts: Parts, judge: Callable[[Mapping[str, np.ndarray]], Told]) -> Told:
    """A judgement on both surfaces; it came out where it did on both."""
    told = {name: judge(found) for name in AREA if (found := surface(parts, name)) is not None}
    if len(told) < len(AREA) or any(came is None for came, _ in told.values()):
        return None, MISSING
    return all(came for came, _ in told.values()), "; ".join(f"{name}: {words}" for name, (_, words) in told.items())


def _box(found: Mapping[str, np.ndarray]) -> Told:
    alpha, cuts = found["alpha"], found["cuts"]
    inside = np.ix_((alpha >= BOX[0][0]) & (alpha <= BOX[0][1]), (cuts >= BOX[1][0]) & (cuts <= BOX[1][1]))
    values = found["f1"][inside]
    if values.size == 0:
        return None, MISSING
    words = f"{values.min():.3f} to {values.max():.3f} there, {found['f1'].max():.3f} the best"
    return bool(values.min() >= found["f1"].max() - WIDER), words


def _passes(found: Mapping[str, np.ndarray]) -> Told:
    good = near_best(found)
    passes, ended = found["passes"][good], found["converged"][good]
    words = f"{passes.min()} to {passes.max()} passes, {100 * ended.mean():.0f} % converged"
    return bool(ended.all() and passes.max() <= STEPS), words


def _coincide(found: Mapping[str, np.ndarray]) -> Told:
    good = near_best(found)
    if good.all():
        return None, "all settings are near the best"
    inside, outside = (float(found["passes"][where].mean()) for where in (good, ~good))
    return inside < outside, f"{inside:.1f} passes on average near the best, {outside:.1f} elsewhere"


_SETTINGS = (
    ("accurate for 0.05 <= alpha <= 0.25 and 0.2 <= H <= 0.6", _box),
    ("where it is accurate it converges in a small number (4 to 8) of steps", _passes),
    ("accuracy and quick convergence go together", _coincide),
)


def _gains(parts: Parts, name: str, methods: tuple[str, str], cut: float) -> np.ndarray:
    """Micro F1 of the first method less that of the second, of each draw at each share that both have."""
    ours, theirs = (curve(parts, name, method, cut) for method in methods)
    shared = ours.keys() & theirs.keys()
    return np.array([gain for share in sorted(shared) for gain in np.subtract(ours[share], theirs[share])])


def _reduced(parts: Parts, cut: float) -> Told:
    values = _gains(parts, TEXT, (REDUCED, RANKED), cut)
    if len(values) == 0:
        return None, MISSING
    mean = float(values.mean())
    return mean <= 0, f"mean difference {mean:+.3f}, below 0 in {np.sum(values < 0)} of {len(values)} draws"


def _pooled(parts: Parts, rival: str, cut: float) -> Told:
    each_set = {name: _gains(parts, name, (PAPER, rival), cut) for name in sorted(curve_sets(parts))}
    gains = {name: values for name, values in each_set.items() if len(values)}
    values = np.concatenate([*gains.values()]) if gains else np.empty(0)
    if not np.any(values):
        return None, MISSING
    p = float(wilcoxon(values, alternative="greater").pvalue)
    told = ", ".join(f"{name} {np.mean(each):+.3f}" for name, each in gains.items())
    return p < LEVEL, f"mean difference {values.mean():+.3f} ({told}); Wilcoxon one-sided p = {p:.2g}"


def _rises(parts: Parts, cut: float) -> Told:
    told, rises = [], True
    for name in sorted(curve_sets(parts)):
        means = [np.mean(values) for values in curve(parts, name, PAPER, cut).values()]
        if len(means) < 2:
            return None, MISSING
        steps = np.diff(means)
        rises &= bool(np.all(steps > 0))
        told.append(f"{name} {means[0]:.3f} to {means[-1]:.3f}, {np.sum(steps > 0)} of {len(steps)} steps up")
    return (rises, "; ".join(told)) if told else (None, MISSING)


def _seconds(parts: Parts, part: str, cut: float) -> Told:
    entries = {method: entry_of(parts, part, method, cut) for method in (PAPER, *RIVALS)}
    if any(entry is None for entry in entries.values()):
        return None, MISSING
    spent = {method: float(np.median(entry["cpu_seconds"])) for method, entry in entries.items() if entry}
    told = ", ".join(f"{method} {value:.2f}" for method, value in spent.items())
    return spent[PAPER] <= max(spent[rival] for rival in RIVALS), f"CPU seconds of a run on {TEXT}: {told}"


def _at(parts: Parts, share: float, cut: float, method: str) -> dict[str, dict]:
    """Set -> entry of a method at a share of labelled rows."""
    each = {name: entry_of(parts, part_name(name, share), method, cut) for name in curve_sets(parts)}
    return {name: entry for name, entry in each.items() if entry is not None}


def _negative(parts: Parts, share: float, cut: float) -> Told:
    entries = _at(parts, share, cut, PAPER)
    if not entries:
        return None, MISSING
    shares = {name: float(np.mean(entry["below 0"])) for name, entry in entries.items()}
    sizes = {name: float(np.mean(entry["sizes below 0"], axis=0)[1]) for name, entry in entries.items()}
    told = "; ".join(
        f"{name} {100 * shares[name]:.0f} % of the weights, half of them beyond -{sizes[name]:.2f}" for name in shares
    )
    return max(shares.values()) <= FEW_BELOW and max(sizes.values()) <= SMALL, told


def _discarded(parts: Parts, share: float, cut: float) -> Told:
    ours, other = (_at(parts, share, cut, method) for method in (PAPER, CLIPPED))
    if not ours or ours.keys() != other.keys():
        return None, MISSING
    means = {name: (float(np.mean(other[name]["f1"])), float(np.mean(ours[name]["f1"]))) for name in ours}
    told = "; ".join(f"{name} {a:.3f} without, {b:.3f} with" for name, (a, b) in means.items())
    return all(abs(a - b) <= NO_EFFECT for a, b in means.values()), told
