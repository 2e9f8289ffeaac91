"""The figures of the Bayesian multi-label experiments: measures over the dimension, and bounds over seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from papers.bsml.bounds import RUNS, TRACES
from papers.bsml.fits import BASELINES, HAMMING, MEASURES, PROBIT
from papers.bsml.published import BSML
from proxembed.report.line_panels import Panel, line_panels

CURVES, BOUNDS = "dimensions.svg", "bounds.svg"
LEAST = 1e-2  # nats below the highest bound that are still drawn


def figures(record: Mapping[str, Any]) -> dict[str, str]:
    """SVG files by name."""
    sets, parts = record["sets"], record["parts"]
    curves = [panel for name in sets for panel in _curves(name, parts[name])]
    drawn = {}
    if curves:
        told = ", ".join(f"{name} {facts['test']:,}" for name, facts in sets.items())
        drawn[CURVES] = line_panels(curves, len(MEASURES), f"test rows of the standard splits: {told}")
    bounds = [_bounds(name, found) for name in sets if (found := parts.get(TRACES.format(name)))]
    if bounds:
        rows = ", ".join(
            f"{name} {facts['train']:,} x {facts['d']}, R = {facts['labels']}" for name, facts in sets.items()
        )
        drawn[BOUNDS] = line_panels(bounds, min(2, len(bounds)), f"training rows x features: {rows}", marks=False)
    return drawn


def _curves(name: str, entries: Sequence[Mapping]) -> list[Panel]:
    """Each measure of a data set over the dimension; unreduced PROBIT is a level."""
    panels = []
    plain = {entry["method"]: entry["scores"] for entry in entries if entry["method"] == PROBIT and entry["scores"]}
    for measure in MEASURES:
        lines = {}
        for method in (BSML, *BASELINES):
            found = sorted(
                (entry["k"], entry["scores"][measure])
                for entry in entries
                if entry["method"] == method and entry["start"] in ("svd", "") and entry["scores"]
            )
            lines[method] = ([k for k, _ in found], [value for _, value in found])
        levels = {method: scores[measure] for method, scores in plain.items()}
        better = "lower" if measure == HAMMING else "higher"
        panels.append(Panel(name, "components R", f"{measure} ({better} is better)", lines, levels))
    return panels


def _bounds(name: str, entries: Sequence[Mapping]) -> Panel:
    """How far every run is below the highest bound that one of them reached."""
    highest = max(max(entry["bounds"]) for entry in entries)
    lines = {}
    for run in RUNS:
        entry = next((each for each in entries if each["entrant"] == run), None)
        if entry is not None:
            points = [(at, highest - bound) for at, bound in zip(entry["at"], entry["bounds"], strict=True)]
            kept = [(at, below) for at, below in points if below >= LEAST]
            lines[run] = ([at for at, _ in kept], [below for _, below in kept])
    y = f"nats below {highest:,.1f}"
    return Panel(name, "CPU seconds, one thread", y, lines, xscale="log", yscale="log")
