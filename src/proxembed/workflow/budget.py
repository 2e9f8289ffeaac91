"""The budget of one fit, one diagnosis and one map: forecasts from the sizes of the data, and what is cut to fit in."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, inf
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from proxembed.estimator.catalogue import title_of
from proxembed.evaluate.arms import MAP_SIZE, Arm
from proxembed.evaluate.costs import (
    PROTOTYPES,
    Shape,
    all_features_work,
    decision_work,
    fit_work,
    last_work,
    layout_work,
    readout_work,
    shape_of,
    step_work,
)
from proxembed.evaluate.part import KEPT_AMONG, KEPT_ROWS
from proxembed.evaluate.results import FEW_LABELS
from proxembed.methods.dependence import OPLS
from proxembed.methods.kernelized import Kernelized
from proxembed.methods.layout import Layout
from proxembed.methods.pipeline import CUT_FOLDS, cut_rows
from proxembed.report.map_page import NO_HONEST
from proxembed.splits.splits import fold_limit
from proxembed.study.candidates import suited
from proxembed.tables.notes import counted
from proxembed.targets.labels import MANY_LABELS

from .options import LEAST_SHUFFLES, NEAR_MEASURES, BudgetOptions
from .plan import FEWER_PROTOTYPES, FEWER_ROWS, Plan, drawn_part, round_up, speed

LESS_ROWS = *FEWER_ROWS, 500  # than a search, which has other things to cut
USUAL_SIZE = 10  # components of a method that names none


@dataclass(frozen=True)
class Budget:
    """What one command may take: ``asked`` seconds, or units of work, of which there are ``rate`` in each."""

    asked: float
    rate: float
    option: str

    @classmethod
    def of(cls, max_seconds: float | None = None, max_work: float | None = None, n_jobs: int = 1) -> "Budget":
        """The budget of these options; an OptionError for values out of range."""
        options = BudgetOptions(max_seconds=max_seconds, max_work=max_work)
        if options.max_work is not None:
            return cls(float(options.max_work), 1.0, "--max-work")
        seconds = inf if options.max_seconds is None else float(options.max_seconds)
        return cls(seconds, 1.0 if seconds == inf else speed(n_jobs), "--max-seconds")

    def has_room(self, work: float) -> bool:
        return work <= self.asked * self.rate

    def forecast(self, work: float) -> str:
        """The forecast beside the budget, in words."""
        value, unit = work / self.rate, "s" if self.option == "--max-seconds" else "units of work (seconds of one core)"
        return f"forecast {f'{value:,.0f}' if value >= 10 else f'{value:.2g}'} of {self.asked:g} {unit}"

    def larger(self, work: float) -> str:
        """The option with a value that has room."""
        return f"{self.option} {round_up(work / self.rate)}"

    def without_room(self, work: float) -> list[str]:
        """A line where even the cheapest job is forecast above the budget."""
        if self.has_room(work):
            return []
        return [f"{self.forecast(work)}; the cheapest job is done all the same, {self.larger(work)} has room for it"]


def counted_arms(plan: Plan, arms: Sequence[Arm], rows: int) -> tuple[str, ...]:
    """The arms whose decisions for few labels are counted on the test rows, though the plan has cut them: the cheapest
    ones, as long as the fits on ``rows`` training rows that cuts are tuned on fit into what it leaves of the budget."""
    shape, left, found = plan.shape.rows(rows), plan.work - sum(plan.phases.values()), []
    each = {arm.name: plan.refits(arm.estimator) * fit_work(arm.estimator, shape) for arm in arms}
    for name in sorted(each, key=lambda name: each[name]):
        left -= each[name] + decision_work(rows, shape.c, USUAL_SIZE)
        found += [name] * (left >= 0)
    return tuple(found) if shape.c <= FEW_LABELS else ()


def cheaper_methods(n: int, seed: int | None = None) -> Iterator[Any]:
    """Methods in place of a dear one on n rows, the dearest first."""
    yield from (suited(Kernelized(), n, seed, each) for each in (PROTOTYPES, *FEWER_PROTOTYPES) if n > each)
    yield OPLS()


def check_fit(budget: Budget, estimator: Any, dataset: Any, rows: int | None = None) -> None:
    """A ValueError with the forecast and what would fit, where a fit with its read-out is forecast above the budget.
    ``rows``: of a table that is read by parts, of which the data set is a sample."""
    if budget.asked == inf:
        return
    shape = shape_of(dataset.X, dataset.targets.c)

    def work(method: Any) -> float:
        cuts = 0 if dataset.outputs is not None else CUT_FOLDS  # folds whose scores the thresholds are tuned on
        sampled = cuts * fit_work(method, shape.rows(cut_rows(method, shape.n)))
        return fit_work(method, shape.rows(rows or shape.n)) + sampled + last_work(shape)

    needed = work(estimator)
    if budget.has_room(needed):
        return
    remedies = [budget.larger(needed)]
    others = cheaper_methods(shape.n) if isinstance(estimator, Kernelized) else iter([OPLS()])
    for other in others:
        words = "-m opls"
        if isinstance(other, Kernelized):
            words = f"--set n_prototypes={other.n_prototypes}"
            other = clone(estimator).set_params(n_prototypes=other.n_prototypes)
        if budget.has_room(work(other)):
            remedies.insert(0, words)
            break
    raise ValueError(f"{budget.forecast(needed)}: use {' or '.join(remedies)}.")


@dataclass(frozen=True)
class DiagnosisWork:
    """Forecasts of a diagnosis of a method on folds."""

    estimator: Any
    shape: Shape
    n_folds: int
    halves: int
    reads: str

    def of(self, n: int, shuffles: int) -> float:
        """Work on n rows with shuffles: folds, all features, shuffles, halves. Tests of components come on top."""
        n_fold, m = n - n // self.n_folds, n // self.n_folds
        k = getattr(self.estimator, "n_components", None)
        k = int(k) if k is not None and k >= 1 else min(USUAL_SIZE, self.shape.c)
        fold, c = self.shape.rows(n_fold), self.shape.c
        one = fit_work(self.estimator, fold) + readout_work(n_fold, m, k, c, self.reads)
        scored = self.n_folds if c <= MANY_LABELS else 1
        whole = fit_work(self.estimator, self.shape.rows(n)) + self.n_folds * all_features_work(fold)
        halved = self.halves * fit_work(self.estimator, self.shape.rows(ceil(n / 2)))
        return whole + halved + (self.n_folds + shuffles * scored) * one


def cut_diagnosis(
    budget: Budget, estimator: Any, dataset: Any, n_folds: int, options: dict[str, Any]
) -> tuple[Any, dict[str, Any], list[str]]:
    """The data set and the options of a diagnosis that fits the budget, with a line per cut: fewer shuffles, not below
    19, then fewer rows, drawn at random."""
    n, shuffles = dataset.X.shape[0], options.get("n_shuffles", 20)
    if budget.asked == inf:
        return dataset, options, []
    near = str(options.get("measure")).startswith(NEAR_MEASURES)
    folds, halves = fold_limit(dataset, n_folds), options.get("n_resamples", 10)
    shape = shape_of(dataset.X, dataset.targets.c)
    forecast = DiagnosisWork(estimator, shape, folds, halves, "neighbors" if near else "scores")
    steps = [(n, each) for each in range(shuffles, min(LEAST_SHUFFLES, shuffles) - 1, -1)]
    steps += [(rows, steps[-1][1]) for rows in LESS_ROWS if rows < n]
    rows, kept = next((each for each in steps if budget.has_room(forecast.of(*each))), steps[-1])
    lines = [f"{counted(kept, 'shuffle')} instead of {shuffles}"] * (kept < shuffles)
    if rows < n:
        lines.append(f"{rows:,} of {n:,} rows")
        some = np.sort(np.random.default_rng(options.get("seed", 0)).permutation(n)[:rows])
        dataset, covariates = dataset.take(some), options.get("covariates")
        if covariates is not None:
            options = options | {"covariates": {name: cells[some] for name, cells in covariates.items()}}
    return dataset, options | {"n_shuffles": kept}, lines + budget.without_room(forecast.of(rows, kept))


def training_shape(dataset: Any, split: Any) -> Shape:
    """The sizes of the training rows."""
    shape = shape_of(dataset.X[split.train], dataset.targets.c)
    return shape._replace(grouped=dataset.groups is not None)


def maps_work(layout: Layout, shape: Shape, m: int, honest: bool) -> float:
    """Work of the maps of a layout, each beside that of shuffled labels, with their figures for m held-out rows: the
    plain one, the ``honest`` one, and those of either part where features are laid out."""
    forms = [False, True] if honest else [False]
    fits = 2 * sum(fit_work(clone(layout).set_params(honest=each), shape) for each in forms)
    parts = layout_work(shape.n) if layout.lays_out_features else 0.0
    n, m, pairs = min(shape.n, KEPT_AMONG), min(m, KEPT_ROWS), len(forms) + 2 * bool(parts)
    near = step_work("step:near features", {"1": 1.0, "nn": float(m * n), "nnw": float(m * n * shape.w)})
    return fits + 3 * parts + 2 * near + 2 * pairs * readout_work(n, m, MAP_SIZE, shape.c, "neighbors")


class MapCuts(NamedTuple):
    """What is drawn of a map: its layout, its rows, whether an honest map may be drawn, and a line per cut."""

    layout: Layout
    split: Any
    honest: bool
    lines: list[str]


def cut_map(budget: Budget, layout: Layout, dataset: Any, split: Any, *, free: bool) -> MapCuts:
    """The map that fits the budget: first without an honest one, then of a cheaper method, where it is ``free``, then
    of fewer training rows."""
    shape = training_shape(dataset, split)
    n, seed = len(split.train), layout.random_state
    if budget.asked == inf:
        return MapCuts(layout, split, True, [])

    def steps() -> Iterator[tuple[int, Layout, bool]]:
        yield n, layout, True
        for rows in (n, *(each for each in LESS_ROWS if each < n)):
            yield rows, layout, False
            if free:
                cheaper = cheaper_methods(rows, seed)
                yield from ((rows, clone(layout).set_params(method=each), False) for each in cheaper)

    tried: list[tuple[int, Layout, bool, float]] = []
    for rows, each, honest in steps():
        tried.append((rows, each, honest, maps_work(each, shape.rows(rows), len(split.held_out), honest)))
        if budget.has_room(tried[-1][-1]):
            break
    else:
        tried.sort(key=lambda one: -one[-1])
    rows, chosen, honest, work = tried[-1]
    lines = [] if honest else [NO_HONEST]
    if chosen is not layout:
        few = getattr(chosen.method, "n_prototypes", None)
        kept = f"{title_of(chosen.method)}{f' with {few:,} prototypes' if few else ''}"
        lines.append(f"{kept} in place of {title_of(layout.method)}")
    if rows < n:
        lines.append(f"{rows:,} of {n:,} training rows")
    return MapCuts(chosen, drawn_part(split, rows, None, seed or 0), honest, lines + budget.without_room(work))
