"""The experiments of the SSDR-MC paper, and its Hamming loss in a later one.  [qian2010ssdrmc, gonen2014bsml]

Three parts: the published splits of emotions, scene and yeast; micro F1 of the unlabelled rows against the share of
labelled ones, beside a harmonic function, RankSVM and two linear embeddings cut by the same rule; and micro F1 over a
grid of alpha and the threshold (the paper's Figure 3).
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from papers.experiment import Kept, Request, run_part
from papers.part_names import part_name
from papers.ssdr_mc.claims import SPLIT_PART, SURFACE_PART, claims
from papers.ssdr_mc.entrants import PAPER, TUNED, Alternated, Scored, clipped, entrants
from papers.ssdr_mc.page import figures, page
from papers.ssdr_mc.rows import TEXT, LabelledRows, rows_of
from proxembed.data import read
from proxembed.evaluate.decisions import micro_f1
from proxembed.evaluate.results import reason_of

NAME = "ssdr-mc"
SPLIT_SETS, SURFACE_SETS = ("emotions", "scene", "yeast"), ("yeast", "scene")
CURVE_SETS = (*SURFACE_SETS, TEXT)
ON_SPLITS = 3  # entrants of the published splits: both presets and the harmonic function
NOTES, NOTE = 3, 200


@dataclass(frozen=True)
class Plan:
    """The experiments, fixed before they run; ``rows`` at most of a set, ``text_rows`` of the text."""

    seed: int = 0
    draws: int = 10
    shares: tuple[float, ...] = (0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
    cut: float = 0.3
    tuned_shares: tuple[float, ...] = (0.05, 0.2, 0.35, 0.5)
    split_cuts: tuple[float, ...] = (0.3, 0.5)
    grid: tuple[float, ...] = (0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95)
    grid_share: float = 0.35
    text_rows: int = 3000
    rows: int | None = None


QUICK = {
    "draws": 2,
    "shares": (0.2, 0.35),
    "tuned_shares": (0.35,),
    "grid": (0.15, 0.55),
    "rows": 240,
    "text_rows": 240,
}


def run(request: Request) -> dict:
    """Run what the folder does not hold yet.

    Parameters
    ----------
    request : Request

    Returns
    -------
    dict
        The record: ``plan, sets, parts, claims``; parts are such as "emotions, published split", "yeast at 35 %" and
        "yeast, alpha and threshold".
    """
    plan = Plan(seed=request.seed, **(QUICK if request.quick else {}))
    return _Run(request, plan).record()


class _Run:
    """The experiments under way."""

    def __init__(self, request: Request, plan: Plan):
        self.request, self.plan = request, plan
        self.entrants = entrants()
        stated = {**asdict(plan), "entrants": [each.describe() for each in (*self.entrants, clipped())]}
        self.kept = Kept(request, NAME, stated)
        names = dict.fromkeys((*CURVE_SETS, *SPLIT_SETS))
        self.data = {name: read(request.data / f"{name}.npz") for name in names}
        self.rows = {name: self._rows(name) for name in names}
        self.kept.record["sets"] = {name: facts(rows) for name, rows in self.rows.items()}
        self.on_splits = [(each, cut) for each in self.entrants[:ON_SPLITS] for cut in plan.split_cuts]
        self.total = len(SPLIT_SETS) * len(self.on_splits) + len(SURFACE_SETS) * len(plan.grid)
        self.total += len(CURVE_SETS) * sum(len(self._at(share)) for share in plan.shares)
        self.done = 0

    def record(self) -> dict:
        """Run every part; the record as it is after the last one."""
        for name in SPLIT_SETS:
            self._split(name)
        for name in CURVE_SETS:
            rows = self.rows[name]
            for share in self.plan.shares:
                self._share(rows, share)
            if name in SURFACE_SETS:
                self._surface(rows)
            self._write()
        return self.kept.record

    def _rows(self, name: str) -> LabelledRows:
        limit = self.plan.text_rows if name == TEXT else self.plan.rows
        return rows_of(self.data[name], name, self.plan.seed, limit)

    def _at(self, share: float) -> list[tuple[Alternated | Scored, float | str]]:
        """The entrants at a share of labelled rows, each with its cut."""
        cuts: list[float | str] = [self.plan.cut, *([TUNED] if share in self.plan.tuned_shares else [])]
        wanted = [(each, cut) for cut in cuts for each in self.entrants]
        return [*wanted, (clipped(), self.plan.cut)] if share == self.plan.grid_share else wanted

    def _split(self, name: str) -> None:
        """The published training rows labelled, the test rows not."""
        rows = rows_of(self.data[name], name, self.plan.seed, self.plan.rows, published=True)
        tasks = {title(each, cut): (each, cut, rows, [rows.training]) for each, cut in self.on_splits}
        self._part(SPLIT_PART.format(name), tasks, compete)

    def _share(self, rows: LabelledRows, share: float) -> None:
        """Every entrant at a share of labelled rows, the draws the same for all."""
        known = [rows.known(share, self.plan.seed, draw) for draw in range(self.plan.draws)]
        tasks = {title(each, cut): (each, cut, rows, known) for each, cut in self._at(share)}
        self._part(part_name(rows.name, share), tasks, compete)

    def _surface(self, rows: LabelledRows) -> None:
        """The paper preset over the grid, at one draw."""
        known, grid = rows.known(self.plan.grid_share, self.plan.seed, 0), self.plan.grid
        tasks = {f"alpha {alpha:g}": (alpha, grid, rows, known) for alpha in grid}
        self._part(SURFACE_PART.format(rows.name), tasks, row_of_surface)

    def _part(self, part: str, tasks: Mapping[str, tuple], work) -> None:
        if self.request.force:
            self.kept.drop(part)
        self.done = run_part(self.kept, part, tasks, work, self.request, self.done, self.total)

    def _write(self) -> None:
        self.kept.record["claims"] = claims(self.kept.record)
        self.kept.write(page(self.kept.record), figures(self.kept.record))


def facts(rows: LabelledRows) -> dict[str, int]:
    """The size of a set, as plain data."""
    n, c = rows.Y.shape
    return {"n": n, "d": rows.X.shape[1], "labels": c}


def title(entrant: Alternated | Scored, cut: float | str) -> str:
    """The name of an entrant with its cut, as in the record.

    >>> title(clipped(), 0.3)
    'SSDR-MC, paper, none below 0, H = 0.3'
    """
    return f"{entrant.name}, H = {cut}" if cut != TUNED else f"{entrant.name}, H tuned"


def compete(entrant: Alternated | Scored, cut: float | str, rows: LabelledRows, draws: Sequence[np.ndarray]) -> dict:
    """An entrant's entry: micro F1 and Hamming loss on the unlabelled rows of each draw, and CPU seconds of each."""
    started, told = time.perf_counter(), {"f1": [], "hamming": [], "cpu_seconds": []}
    course: dict[str, list] = {}
    failure = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            for known in draws:
                began = time.process_time()
                found, facts = entrant.labels(rows.X, rows.Y, known, cut)
                told["cpu_seconds"].append(time.process_time() - began)
                truth, found = rows.Y[~known], found[~known]
                told["f1"].append(micro_f1(truth, found))
                told["hamming"].append(float(np.mean(truth != found)))
                for key, value in facts.items():
                    course.setdefault(key, []).append(value)
        except Exception as error:
            failure = reason_of(error)
    notes = dict.fromkeys(" ".join(str(each.message).split())[:NOTE] for each in caught)
    entry = {"entrant": title(entrant, cut), "method": entrant.name, "cut": cut, **told, **course}
    return {**entry, "seconds": time.perf_counter() - started, "failure": failure, "notes": list(notes)[:NOTES]}


def row_of_surface(alpha: float, cuts: Sequence[float], rows: LabelledRows, known: np.ndarray) -> dict:
    """Micro F1, passes and whether they converged, at one alpha and every threshold."""
    entrant = Alternated(PAPER, {"alpha": alpha})
    each = [compete(entrant, cut, rows, [known]) for cut in cuts]
    failures = [entry["failure"] for entry in each if entry["failure"]]
    entry: dict[str, Any] = {"entrant": f"alpha {alpha:g}", "alpha": alpha, "cuts": list(cuts)}
    for key in ("f1", "passes", "converged"):
        entry[key] = [(one.get(key) or [None])[0] for one in each]
    return {**entry, "seconds": sum(one["seconds"] for one in each), "failure": failures[0] if failures else None}
