"""The figures of the Bayesian multi-label experiments: measures over the dimension, and bounds over seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from papers.bsml.bounds import RUNS, TRACES
from papers.bsml.fits import BASELINES, NEIGHBORS, PROBIT
from papers.bsml.published import BSML
from papers.bsml.readings import LOW, MEASURES
from papers.bsml.words import Curves
from papers.panels import Panel, line_panels

CURVES, NEIGHBOR_CURVES = "dimensions.svg", "neighbors.svg"
TIMES, BOUNDS = "times.svg", "bounds.svg"
METHODS = (BSML, *BASELINES)
LEAST = 1e-2  # nats below the highest bound that are still drawn


def figures(record: Mapping[str, Any]) -> dict[str, str]:
    """SVG files by name."""
    sets, parts = record["sets"], record["parts"]
    held = {name: Curves(parts[name]) for name in sets}
    drawn = {}
    if held:
        tested = ", ".join(f"{name} {facts['test']:,}" for name, facts in sets.items())
        note = f"test rows of the standard splits: {tested}"
        curves = [panel for name, each in held.items() for panel in _curves(name, each)]
        drawn[CURVES] = line_panels(curves, len(MEASURES), note)
        curves = [panel for name, each in held.items() for panel in _curves(name, each.by_neighbors)]
        drawn[NEIGHBOR_CURVES] = line_panels(curves, len(MEASURES), f"{NEIGHBORS} neighbours; {note}")
        times = [_times(name, each) for name, each in held.items()]
        drawn[TIMES] = line_panels(times, len(times), f"training rows x features: {_trained(sets)}")
    bounds = [_bounds(name, found) for name in sets if (found := parts.get(TRACES.format(name)))]
    if bounds:
        note = f"training rows x features: {_trained(sets)}"
        drawn[BOUNDS] = line_panels(bounds, min(2, len(bounds)), note, marks=False)
    return drawn


def _trained(sets: Mapping[str, Mapping]) -> str:
    return ", ".join(f"{name} {each['train']:,} x {each['d']}, R = {each['labels']}" for name, each in sets.items())


def _curves(name: str, curves: Curves) -> list[Panel]:
    """Each measure of a data set over the dimension; unreduced PROBIT is a level."""
    panels = []
    for measure in MEASURES:
        lines = {}
        for method in METHODS:
            points = [(k, value) for k in curves.sizes() if (value := curves.at(method, k, measure)) is not None]
            lines[method] = ([k for k, _ in points], [value for _, value in points])
        level = curves.at(PROBIT, None, measure)
        better = "lower" if measure in LOW else "higher"
        levels = {} if level is None else {PROBIT: level}
        panels.append(Panel(name, "components R", f"{measure} ({better} is better)", lines, levels))
    return panels


def _times(name: str, curves: Curves) -> Panel:
    """CPU seconds of training over the dimension."""
    lines = {}
    for method in METHODS:
        sizes = sorted(k for of, k in curves.seconds if of == method and k is not None)
        lines[method] = (sizes, [curves.seconds[method, k] for k in sizes])
    levels = {PROBIT: curves.seconds[PROBIT, None]} if (PROBIT, None) in curves.seconds else {}
    return Panel(name, "components R", "training, CPU seconds", lines, levels, yscale="log")


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
