"""The experiments of the Bayesian multi-label paper: BSML, BSML+ARD, BSSML and the baselines.  [gonen2014bsml]

The standard splits, features standardised by the training rows, as many components as labels or fewer for the curves,
500 plain sweeps a fit, the reductions read by nearest neighbours, too. The curves once more on random draws of the
split, which decide what the paper says of them. Nothing is tuned; the published numbers stand beside ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace

from papers import EXPERIMENTS
from papers.bsml.bounds import RUNS, TRACES, trace
from papers.bsml.claims import claims
from papers.bsml.figures import figures
from papers.bsml.fits import (
    DIMENSIONS,
    NEIGHBORS,
    SplitRows,
    compete,
    drawn_fits,
    fits_of,
    redrawn_fits,
    time_run,
    timed_fits,
)
from papers.bsml.page import page
from papers.bsml.published import DRAW, DRAWS, REDRAWN, RUNS_OF, TIMED
from papers.experiment import Kept, Request, reduced, run_part
from papers.groups import GROUPS
from proxembed.data import Dataset, read

NAME = "bayesian-multilabel"
QUICK_SETS = ("emotions",)
TIMED_RUNS = [f"run {number + 1}" for number in range(RUNS_OF)]


@dataclass(frozen=True)
class Plan:
    """What is run, fixed before: sweeps a fit, random starts of BSML and BSSML, of BSML+ARD, rows of a quick run,
    random draws of the split of each set."""

    seed: int = 0
    sweeps: int = 500
    starts: int = 3
    relevance_starts: int = 10
    rows: int | None = None
    draws: Mapping[str, int] = field(default_factory=DRAWS.copy)


QUICK = Plan(sweeps=20, starts=1, relevance_starts=2, rows=150, draws={"emotions": 2})


def run(request: Request) -> dict:
    """Run what the folder does not hold yet, set by set, and write record, page and figures after each.

    Parameters
    ----------
    request : Request

    Returns
    -------
    dict
        The record: ``plan, sets, parts, claims``; ``parts`` maps a set to its fits, "SET, bound" to its traces,
        "SET, draw 1" to the fits of its curves on a random split, "SET, random split" to others on one, and "SET,
        seconds" to runs that time the training alone.
    """
    plan = replace(QUICK if request.quick else Plan(), seed=request.seed)
    sets = request.sets or (QUICK_SETS if request.quick else EXPERIMENTS[NAME].files)
    stated = {"dimensions": DIMENSIONS, "neighbors": NEIGHBORS, "groups": GROUPS}
    planned = {name: value for name, value in asdict(plan).items() if name != "draws"}
    kept, done = Kept(request, NAME, planned | stated), 0
    data = {name: _read(request, plan, name) for name in sets}
    fits = {name: fits_of(name, dataset.Y.shape[1], plan) for name, dataset in data.items()}
    again = {name: redrawn_fits(data[name].Y.shape[1], plan) for name in data if name in REDRAWN}
    total = sum(len(each) + len(RUNS) for each in fits.values()) + sum(map(len, again.values()))
    total += RUNS_OF * len(data.keys() & TIMED.keys())
    curves = {name: drawn_fits(name, dataset.Y.shape[1], plan) for name, dataset in data.items()}
    total += sum(plan.draws.get(name, 0) * len(each) for name, each in curves.items())
    facts = {name: _facts(dataset) for name, dataset in data.items()}
    kept.record["sets"] = {}
    for name, dataset in data.items():
        rows = SplitRows.of(dataset)
        tasks = {fit.name: (fit, rows) for fit in fits[name]}
        traces = {each: (each, rows, plan.sweeps, plan.seed) for each in RUNS}
        parts = [(name, tasks, compete), (TRACES.format(name), traces, trace)]
        if name in again:
            redrawn = SplitRows.of(dataset, plan.seed)
            parts.append((REDRAWN[name], {fit.name: (fit, redrawn) for fit in again[name]}, compete))
        if name in TIMED:
            timed = timed_fits(name, dataset.Y.shape[1], plan)
            parts.append((TIMED[name], {run: (run, timed, rows) for run in TIMED_RUNS}, time_run))
        for draw in range(1, plan.draws.get(name, 0) + 1):
            drawn = SplitRows.of(dataset, (plan.seed, draw))
            parts.append((DRAW.format(name, draw), {fit.name: (fit, drawn) for fit in curves[name]}, compete))
        for part, asked, job in parts:
            if request.force:
                kept.drop(part)
            done = run_part(kept, part, asked, job, request, done, total)
        _write(kept, request, plan, facts)
    return kept.record


def _write(kept: Kept, request: Request, plan: Plan, facts: dict[str, dict]) -> None:
    """The record with the facts of all sets that it holds, its claims, page and figures."""
    record = kept.record
    held = [name for name in EXPERIMENTS[NAME].files if name in record["parts"]]
    for name in held:
        facts[name] = facts.get(name) or _facts(_read(request, plan, name))
    record["sets"] = {name: facts[name] for name in held}
    record["claims"] = claims(record["parts"])
    kept.write(page(record), figures(record))


def _read(request: Request, plan: Plan, name: str) -> Dataset:
    return reduced(read(request.data / f"{name}.npz"), plan.rows, plan.seed)


def _facts(dataset: Dataset) -> dict:
    described = dataset.describe()
    return {key: described[key] for key in ("n", "d", "labels", "cardinality", "train", "test")}
