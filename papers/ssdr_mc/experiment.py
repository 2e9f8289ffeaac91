"""The experiments of the SSDR-MC paper, and its Hamming loss in a later one.  [qian2010ssdrmc, gonen2014bsml]

The published splits of emotions, scene and yeast; images of digits in two dimensions (for the paper's Figure 2); and,
in draws of the labelled rows, micro F1 of the unlabelled ones against the share of labelled ones, beside harmonic
functions, RankSVM and two linear embeddings cut by the same rule, and over a grid of alpha and the threshold (its
Figure 3).
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from papers.experiment import Kept, Request, run_part
from papers.groups import row_groups, without_each
from papers.ssdr_mc.claims import claims
from papers.ssdr_mc.entrants import TUNED, Alternated, Scored, as_printed, clipped, entrants
from papers.ssdr_mc.images import image_draw
from papers.ssdr_mc.page import figures, page
from papers.ssdr_mc.results import IMAGE_PART, PLANNED_DRAWS, SPLIT_PART, draw_part, surface_part
from papers.ssdr_mc.rows import TEXT, LabelledRows, rows_of
from papers.ssdr_mc.surface import row_of_surface
from proxembed.data import read
from proxembed.evaluate.results import reason_of
from proxembed.measures.metrics import micro_f1

NAME = "ssdr-mc"
SPLIT_SETS, SURFACE_SETS = ("emotions", "scene", "yeast"), ("yeast", "scene")
CURVE_SETS = (*SURFACE_SETS, TEXT)
ON_SPLITS = 4  # entrants of the published splits: both presets and the harmonic functions
SIDE = 25  # settings of alpha, and of the threshold: the midpoints of 25 equal parts of 0 to 1
NOTES, NOTE = 3, 200


@dataclass(frozen=True)
class Plan:
    """The experiments, fixed before they run; ``rows`` at most of a set, ``text_rows`` of the text.

    The grid of alpha and the threshold is gone through in the first ``surface_draws`` of the draws.
    """

    seed: int = 0
    draws: int = PLANNED_DRAWS
    shares: tuple[float, ...] = (0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
    cut: float = 0.3
    tuned_shares: tuple[float, ...] = (0.05, 0.2, 0.35, 0.5)
    split_cuts: tuple[float, ...] = (0.3, 0.5)
    grid: tuple[float, ...] = tuple((i + 0.5) / SIDE for i in range(SIDE))
    grid_share: float = 0.35
    surface_draws: int = 5
    image_draws: int = 20
    text_rows: int = 3000
    rows: int | None = None

    def stated(self) -> dict:
        """What the numbers rest on; not how many draws there are, as a later run may go on with more."""
        return {name: value for name, value in asdict(self).items() if name != "draws"}


QUICK = {
    "draws": 2,
    "shares": (0.2, 0.35),
    "tuned_shares": (0.35,),
    "grid": (0.14, 0.54),
    "surface_draws": 2,
    "image_draws": 2,
    "rows": 240,
    "text_rows": 240,
}


def run(request: Request) -> dict:
    """Run what the folder does not hold yet, and write record, page and figures after every draw.

    Parameters
    ----------
    request : Request

    Returns
    -------
    dict
        The record: ``plan, sets, parts, claims``; parts are "emotions, published split", "digit images", "yeast,
        draw 1", "yeast, alpha and threshold, draw 1" and the like.
    """
    plan = Plan(seed=request.seed, **(QUICK if request.quick else {}))
    return _Run(request, replace(plan, draws=request.draws or plan.draws)).record()


class _Run:
    """The experiments under way."""

    def __init__(self, request: Request, plan: Plan):
        self.request, self.plan = request, plan
        self.entrants = entrants()
        described = [each.describe() for each in (*self.entrants, as_printed(), clipped())]
        self.kept = Kept(request, NAME, {**plan.stated(), "entrants": described})
        names = dict.fromkeys((*CURVE_SETS, *SPLIT_SETS))
        self.data = {name: read(request.data / f"{name}.npz") for name in names}
        self.rows = {name: self._rows(name) for name in names}
        self.kept.record["sets"] = {name: facts(rows) for name, rows in self.rows.items()}
        self.on_splits = [(each, cut) for each in self.entrants[:ON_SPLITS] for cut in plan.split_cuts]
        self.surfaces = min(plan.draws, plan.surface_draws)
        self.total = len(SPLIT_SETS) * len(self.on_splits) + plan.image_draws
        self.total += plan.draws * len(CURVE_SETS) * sum(len(self._at(share)) for share in plan.shares)
        self.total += self.surfaces * len(SURFACE_SETS) * len(plan.grid)
        self.done = 0

    def record(self) -> dict:
        """Run every part; the record as it is after the last one."""
        for name in SPLIT_SETS:
            self._split(name)
        tasks = {f"draw {draw}": (self.plan.seed, draw) for draw in range(1, self.plan.image_draws + 1)}
        self._part(IMAGE_PART, tasks, image_draw)
        for draw in range(1, self.plan.draws + 1):
            for name in CURVE_SETS:
                self._curves(self.rows[name], draw)
            for name in SURFACE_SETS if draw <= self.surfaces else ():
                self._surface(self.rows[name], draw)
            self._write()
        return self.kept.record

    def _rows(self, name: str) -> LabelledRows:
        limit = self.plan.text_rows if name == TEXT else self.plan.rows
        return rows_of(self.data[name], name, self.plan.seed, limit)

    def _at(self, share: float) -> list[tuple[Alternated | Scored, float | str]]:
        """The entrants at a share of labelled rows, each with its cut."""
        cuts: list[float | str] = [self.plan.cut, *([TUNED] if share in self.plan.tuned_shares else [])]
        wanted = [(each, cut) for cut in cuts for each in self.entrants] + [(as_printed(), self.plan.cut)]
        return [*wanted, (clipped(), self.plan.cut)] if share == self.plan.grid_share else wanted

    def _split(self, name: str) -> None:
        """The published training rows labelled, the test rows not."""
        rows = rows_of(self.data[name], name, self.plan.seed, self.plan.rows, published=True)
        tasks = {title(each, cut): (each, cut, rows, rows.training) for each, cut in self.on_splits}
        self._part(SPLIT_PART.format(name), tasks, compete)

    def _curves(self, rows: LabelledRows, draw: int) -> None:
        """Every entrant at every share of labelled rows, which are the same for all; the longest fits first."""
        tasks = {}
        for share in reversed(self.plan.shares):
            known = rows.known(share, self.plan.seed, draw)
            tasks |= {title(each, cut, share): (each, cut, rows, known, share) for each, cut in self._at(share)}
        self._part(draw_part(rows.name, draw), tasks, compete)

    def _surface(self, rows: LabelledRows, draw: int) -> None:
        """The paper preset over the grid."""
        known, grid = rows.known(self.plan.grid_share, self.plan.seed, draw), self.plan.grid
        tasks = {f"alpha {alpha:g}": (alpha, grid, rows, known) for alpha in grid}
        self._part(surface_part(rows.name, draw), tasks, row_of_surface)

    def _part(self, part: str, tasks: Mapping[str, tuple], work: Callable[..., dict]) -> None:
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


def title(entrant: Alternated | Scored, cut: float | str, share: float | None = None) -> str:
    """The name of an entrant with its cut and share of labelled rows, as in the record.

    >>> title(clipped(), 0.3, 0.35)
    'SSDR-MC, paper, none below 0, H = 0.3, 35 %'
    """
    named = f"{entrant.name}, H = {cut}" if cut != TUNED else f"{entrant.name}, H tuned"
    return named if share is None else f"{named}, {100 * share:g} %"


def compete(
    entrant: Alternated | Scored, cut: float | str, rows: LabelledRows, known: np.ndarray, share: float | None = None
) -> dict:
    """An entrant's entry: micro F1 and Hamming loss on the unlabelled rows, CPU seconds, and the course of its run."""
    started, cpu, failure = time.perf_counter(), time.process_time(), None
    entry: dict[str, Any] = {"entrant": title(entrant, cut, share), "method": entrant.name, "cut": cut}
    entry["share"] = None if share is None else 100 * share
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found, course = entrant.labels(rows.X, rows.Y, known, cut)
            entry["cpu_seconds"] = time.process_time() - cpu
            truth, found = rows.Y[~known], found[~known]
            entry |= {"f1": micro_f1(truth, found), "hamming": float(np.mean(truth != found)), **course}
            group = row_groups(len(rows.Y), np.flatnonzero(~known))
            entry["f1_without"] = without_each(group, lambda kept: micro_f1(truth[kept], found[kept]))
        except Exception as error:
            failure = reason_of(error)
    notes = dict.fromkeys(" ".join(str(each.message).split())[:NOTE] for each in caught)
    return {**entry, "seconds": time.perf_counter() - started, "failure": failure, "notes": list(notes)[:NOTES]}
