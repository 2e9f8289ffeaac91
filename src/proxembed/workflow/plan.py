"""The plan of a search: how its budget is shared among the phases, and what is cut so that the whole command fits.

All of it follows from the sizes of the data, the options and the work. Seconds become work once, at the start. The plan
is a link of one chain, from the cheapest whole job to all that was asked for, whose order and forecasts do not depend
on the budget: the richest link that fits. So more work never means fewer rows, folds, shuffles, rivals or anchors.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil, floor, inf, log10
from typing import Any

import numpy as np
from sklearn.base import clone

from proxembed.estimator.catalogue import estimators, title_of
from proxembed.evaluate.arms import Entrant, entrants, method_arms
from proxembed.evaluate.costs import (
    FOREST,
    USUAL_FOREST,
    Shape,
    all_features_work,
    decision_work,
    fit_parts,
    fit_work,
    fits_work,
    forest_of,
    label_work,
    last_work,
    layout_work,
    machine_speed,
    readout_work,
    redrawn_work,
    shape_of,
    step_work,
)
from proxembed.evaluate.evidence import LAID_OUT
from proxembed.evaluate.part import CHOICE_FOLDS, CHOICE_LABELS, CHOICE_ROWS, INNER_FOLDS
from proxembed.evaluate.rivals.maps import SupervisedUMAP
from proxembed.evaluate.rivals.rival import FOREST_ROWS
from proxembed.execute import clock
from proxembed.execute.budget import WorkBudget
from proxembed.execute.executor import in_this_process, workers
from proxembed.features.leaves import MOST_LABELS
from proxembed.features.scaling import scaling_kinds
from proxembed.methods.dependence import OPLS
from proxembed.methods.layout import Layout, method_for
from proxembed.methods.pipeline import CUT_FOLDS, cut_rows
from proxembed.methods.target_space import TargetSpace
from proxembed.splits.splits import Split
from proxembed.study.candidates import ANCHORS, FIRST, FOR_MAPS, PREFERRED, candidates, fewer_bases
from proxembed.study.method_strategies import WEIGHTS
from proxembed.study.trials import FOLDS, RACE_FOLDS, WHOLE_BELOW
from proxembed.targets.labels import MANY_LABELS

from .labelled_data import has_whole_rows
from .options import SearchOptions

DIAGNOSIS, KERNEL_DIAGNOSIS = 5000, 1000
DIAGNOSIS_ROWS = (2000, 1000, 500, 250)  # of a diagnosis that is cut
EACH_MORE = 0.6  # what a further process adds
DEAREST = 0.125  # of the work, for a fit on all rows
GAINS = 6  # gains whose interval is drawn for the verdict
LAYOUTS = 3  # maps beside each other: PCA, the choice, shuffled labels
HONEST, FORMS = "honest", 5  # a form of a map, and how many there are at other weights, of shuffled labels too
HONEST_FITS = 10  # of honest maps of numbers, and of shuffled ones, by models of five folds
TUNED = INNER_FOLDS * (1 - 1 / INNER_FOLDS)  # fits of all rows that those of inner folds are as dear as
OVERHEAD = 3.0  # work of reading, drawing and writing the page
WRITTEN = 5e-4  # work of each of thousands of labels in the record, the page and the model
STARTING = 2.0  # work of a process that starts, which imports the libraries
RESERVE = 0.15  # of the work, for what is forecast too low
LEAST_SAVING = 0.02  # of the work; a cut after the search that saves less is not made
GROWTH = 5.0  # of a job by one more anchor, up to which this comes before other things
SHARES = 0.3, 0.15  # of the work, for the search, whatever its anchors cost
LEADERS = 3
SEARCHED = "share", "rows", "test_rows", "prototypes", "bases", "anchors", "outer", "weights"  # of a search
SEARCHED_AGAIN = "folds", "sizes"  # on which the searches inside nested folds rest, too
CHECKED = "shuffles", "diagnosis", "layouts"  # of what follows the comparison
LESS: dict[str, Any] = {"leaders": 1, "decisions": False}  # of few rows, before fewer of them are held out
OUTER_FOLDS = 5  # of one repeat of nested folds
TEST_ROWS = 4000, 1000
FORESTS = 2000, 1000, 500, 250  # rows that a rival's forest is cut to
FEWER_PROTOTYPES = 500, 250
FEWER_ROWS = 20_000, 12_000, 8000, 5000, 3000, 2000, 1000
SPARED = 0.9  # of the work of ``TargetSpace``, below which another base is left out
ALIKE = 0.5  # of the dearest anchor, from which the last of the list goes first


@dataclass(frozen=True)
class Cuts:
    """What the phases work on. ``rows``, ``test_rows`` and ``anchors`` are None for all of them."""

    shuffles: int
    folds: int
    sizes: tuple[int, ...]
    diagnosis: int = DIAGNOSIS
    leading: bool = False
    decisions: bool = True
    layouts: bool = True
    forest: int = FOREST_ROWS
    share: float = SHARES[0]
    leaders: int = LEADERS
    rows: int | None = None
    test_rows: int | None = None
    prototypes: int | None = None
    bases: tuple[str, ...] | None = None  # of ``TargetSpace``; None: all
    left_out: tuple[str, ...] = ()
    anchors: tuple[str, ...] | None = None
    outer: int = 1  # splits that hold rows out: one quarter, or nested folds
    weights: int = len(WEIGHTS)  # of the features, at which a search for a map lays out its anchors; 0: it does not


@dataclass
class Plan:
    """The budget of one search, its cuts, and the forecast of each phase."""

    work: float
    options: SearchOptions
    shape: Shape
    split: Split
    sizes: tuple[int, ...]
    started: float
    rivals: tuple[Entrant, ...]
    absent: tuple[Entrant, ...] = ()  # rivals that cannot take part
    anchors: tuple[tuple[str, Any], ...] = ()  # what the search begins with: names and methods
    scalings: int = 1
    whole_rows: bool = True
    numbers: bool = False  # predictions of numbers need no thresholds
    grouped: bool = False  # no split divides a group of rows
    cuts: Cuts = field(init=False)
    phases: dict[str, float] = field(init=False)
    each_search: float = field(init=False)  # work of one search
    too_dear: list[str] = field(default_factory=list)
    killed: list[str] = field(default_factory=list)  # what is missing because its worker process was ended twice
    sampled_fit: list[str] = field(default_factory=list)
    by_clock: list[str] = field(default_factory=list)
    unfinished: list[str] = field(default_factory=list)  # steps that Ctrl-C has ended
    leading: list[Any] = field(default_factory=list)  # the leaders where methods are named
    outer: tuple[int, ...] = (1,)  # numbers of outer splits to choose from, the most first
    searching: WorkBudget | None = None  # what each search may do, once the first one has begun
    answered: bool = False  # whether it is known how many answers of the chosen model are right
    later: float = 0.0  # forecast of all that was asked for, once the leaders are known
    _fits: dict[Any, tuple[Any, float]] = field(default_factory=dict, init=False, repr=False)
    _layouts: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        self.cuts = self._whole
        self._settle()

    @property
    def bounded(self) -> bool:
        """Whether there is a budget."""
        return self.work < inf

    @property
    def rival_limits(self) -> dict[str, Any]:
        """What ``rival_arms`` takes beside the data; the cuts say which rivals the budget has no room for."""
        return {"splits": self.options.folds + 1, "work": inf, "whole_rows": self.whole_rows}

    @property
    def races(self) -> bool:
        """Whether drawn configurations race, so that the choice is made on folds of its own."""
        return self.cuts.share == SHARES[0]

    @property
    def draws(self) -> bool:
        """Whether the search goes on from its anchors to other configurations. These are cut before all else: they have
        to wait for shuffles, maps, folds and sizes. Of numbers the anchors are few."""
        whole, cuts = self._whole, self.cuts
        waits = any(getattr(cuts, name) != getattr(whole, name) for name in ("shuffles", "layouts", "folds", "sizes"))
        return cuts.share > 0 or self.numbers or not waits

    @property
    def kept_anchors(self) -> tuple[str, ...] | None:
        """The names of the anchors that the search begins with; None where methods are named."""
        own = tuple(name for name, _ in self.anchors if self.cuts.anchors is None or name in self.cuts.anchors)
        return None if self.options.methods else own or None

    @property
    def rate(self) -> float:
        """Units of work that these processes do per second on this machine."""
        return speed(self.options.n_jobs)

    @property
    def left(self) -> float:
        """Seconds until the emergency clock: infinite where work was asked for."""
        if self.options.max_work is not None or self.options.max_seconds is None:
            return inf
        return self.options.max_seconds - (clock.now() - self.started)

    @property
    def planned(self) -> float:
        """The work that the phases share."""
        return self.work * (1 - RESERVE)

    @property
    def enough(self) -> float:
        """Work of a budget that cuts nothing, as far as the forecasts tell: of the phases as planned, and with the
        leaders as they were found."""
        whole = self._whole
        phases = self._forecast(whole)
        each, room = sum(phases.values()), 1 - RESERVE
        return max(each / room, (each - phases["search"]) / (room - whole.share), self.later / room)

    @property
    def dearest(self) -> float:
        """Largest work of a fit on all rows that the search tries."""
        kept = [(name, each) for name, each in self.anchors if name in (self.kept_anchors or ())]
        tried = [each for _, each in kept]
        if self.options.goal == "map":
            tried += [self._map(each) for name, each in kept if name in FOR_MAPS]
        return max([self.work * DEAREST, *(self._fit(each, self.shape.n, self.cuts) for each in tried)])

    @property
    def fitted_rows(self) -> int:
        """The number of rows of the saved model."""
        return self.shape.n if self.options.refit_all else len(self.split.train)

    @property
    def searches(self) -> int:
        """The number of searches: one inside each nested fold, and that of the saved model."""
        return self.cuts.outer + 1 if self.cuts.outer > 1 else 1

    def seconds(self, phase: str) -> float:
        """Forecast seconds of a phase; the last fit is of one process."""
        return self.phases[phase] / (machine_speed() if phase == "last fit and page" else self.rate)

    def leave_for(self, *phases: str) -> float:
        """Seconds from now until these phases must begin."""
        return self.left - sum(self.seconds(phase) for phase in phases)

    def _settle(self) -> None:
        """Take the richest link of the chain that fits the budget, or else the cheapest one."""
        whole, rest = self.cuts, 0.0
        for cuts in reversed(self._chain(whole)) if self.bounded else [whole]:
            phases = self._forecast(cuts)
            rest = sum(phases.values()) - phases["search"]
            own = max(phases["search"], cuts.share * self.work) if self.bounded else 0.0
            self.cuts, self.phases = cuts, phases | {"search": own}
            if rest + own <= self.planned:
                break
        if self.bounded:  # what is cut may still find room after the search
            room = self.planned - rest
            most = room if self.cuts == whole else min(room, SHARES[0] * self.work)
            self.phases["search"] = max(most, self.phases["search"])
        self.each_search = self.phases["search"] / self.searches

    def settle(self, leaders: Sequence[tuple[str, Any]], done: float, tried: Iterable[str] = ()) -> None:
        """Settle what follows a search whose leaders, work and methods are known, which may have room for what was
        cut."""
        done *= self.searches
        self.phases["search"] = done
        known = {*(self.kept_anchors or ()), *(name for name, each in self.anchors if title_of(each) in {*tried})}
        if self.cuts.anchors is not None:
            names = tuple(name for name, _ in self.anchors if name in known)
            self.cuts = replace(self.cuts, anchors=None if len(names) == len(self.anchors) else names)
        if not self.bounded:
            return
        methods = [method for _, method in leaders]

        def work(cuts: Cuts) -> float:
            return sum(self._forecast(cuts, methods, done).values())

        whole, searched = self._whole, self.cuts
        self.later = work(whole)
        kept = {name: getattr(searched, name) for name in (*SEARCHED, *(SEARCHED_AGAIN if searched.outer > 1 else ()))}
        steps = *_steps(self, searched=True), *_last_steps(self, searched=True)
        self.cuts = self._fitting(replace(whole, **kept), steps, work)
        self.phases = self._forecast(self.cuts, methods, done)

    def settle_choice(self, methods: Sequence[Any]) -> None:
        """Settle what follows the comparison, where the methods are known that are diagnosed, shown and saved: what was
        cut for dearer leaders may have room."""
        if not self.bounded:
            return
        done = {phase: self.phases[phase] for phase in ("search", "comparison")}

        def forecast(cuts: Cuts) -> dict[str, float]:
            return self._forecast(replace(cuts, leaders=LEADERS), list(methods), 0.0) | done

        whole = {name: getattr(self._whole, name) for name in CHECKED}
        steps = [step for step in _steps(self, searched=True) if {*step} <= {*CHECKED}]
        cuts = self._fitting(replace(self.cuts, **whole), steps, lambda cuts: sum(forecast(cuts).values()))
        if sum(forecast(cuts).values()) <= self.planned:  # else what was settled stays
            self.cuts, self.phases = cuts, forecast(cuts)

    def _fitting(self, cuts: Cuts, steps: Iterable[dict[str, Any]], work: Callable[[Cuts], float]) -> Cuts:
        """The cuts with as many of the steps as the budget needs, but for those that save little."""
        for step in steps:
            present, fewer = work(cuts), replace(cuts, **step)
            if present <= self.planned:
                break
            if present - work(fewer) >= LEAST_SAVING * self.work:
                cuts = fewer
        return cuts

    @property
    def _whole(self) -> Cuts:
        options = self.options
        return Cuts(options.shuffles, options.folds, self.sizes, decisions=not self.numbers, outer=self.outer[0])

    def _chain(self, whole: Cuts) -> list[Cuts]:
        """What the phases may work on, the cheapest first. Upwards from the least that has all rows, the next anchor
        comes before more folds, sizes, rivals and shuffles, unless it makes the job ``GROWTH`` times as dear. What a
        map needs comes before the rows, of which a map takes time by each."""
        upper = _cumulated(whole, _steps(self))
        lower = _cumulated(upper[0], _last_steps(self))
        sets, j = [*_anchor_sets(self)], 0
        a = self._first_anchors(sets)
        path = [*(replace(lower[0], **each) for each in sets[:a]), *(replace(cuts, **sets[a]) for cuts in lower)]
        present = self._cost(path[-1])
        while (a, j) != (len(sets) - 1, len(upper) - 1):
            further = None if a == len(sets) - 1 else replace(upper[j], **sets[a + 1])
            if further is not None and (j == len(upper) - 1 or self._cost(further) <= GROWTH * present):
                a += 1
            else:
                j += 1
            path.append(replace(upper[j], **sets[a]))
            present = self._cost(path[-1])
        return path

    def _first_anchors(self, sets: list[dict[str, Any]]) -> int:
        """The place of the anchors that come before rows: the fewest; of a map the first ones of which two are laid
        out."""
        names = [name for name, _ in self.anchors]
        if self.options.goal != "map" or not {*PREFERRED} <= {*names}:
            return 0
        return next(i for i, each in enumerate(sets) if {*PREFERRED} <= {*(each["anchors"] or names)})

    def _cost(self, cuts: Cuts) -> float:
        return sum(self._forecast(cuts).values())

    def _forecast(self, cuts: Cuts, leaders: list[Any] | None = None, done: float | None = None) -> dict[str, float]:
        nested = cuts.outer > 1
        n = min(self.shape.n if nested else len(self.split.train), cuts.rows or self.shape.n)
        m = min(len(self.split.held_out), cuts.test_rows or self.shape.n)
        fold = n - n // cuts.folds, n // cuts.folds
        if leaders is None:
            leaders = self._likely(cuts)
        else:
            cuts = replace(cuts, bases=None)  # methods that a search has found have theirs
        leaders = compared_of(leaders, cuts)
        some = min(n, cuts.diagnosis)
        dear, shuffled = (max((self._fit(each, rows, cuts) for each in leaders), default=0.0) for rows in (n, some))
        shown = max((self._fit(each, n, cuts) * (2 + self.refits(each, cuts)) for each in leaders), default=0.0)
        last = max((self._last_fit(each, cuts) for each in leaders), default=0.0)
        c, k = self.shape.c, max(cuts.sizes)
        whole = last_work(self.shape.rows(self.fitted_rows))  # measured with OPLS, its fits for thresholds among it
        opls = self._last_fit(self._opls, cuts)
        fits = HONEST_FITS if self.numbers else 2
        again = fits * (dear if self.numbers else max((self._again(each, n, cuts) for each in leaders), default=0.0))
        laid_out = cuts.layouts * (again + LAYOUTS * layout_work(min(n, LAID_OUT)) + self._forms(leaders, n))
        if nested:
            outer = n - n // OUTER_FOLDS
            search = self._opening(cuts, n) + cuts.outer * self._opening(cuts, outer)
            comparison = cuts.outer * self._part(cuts, leaders, outer, n - outer)
            comparison += GAINS * redrawn_work(n, c) * ceil(cuts.outer / OUTER_FOLDS)
        else:
            search = self._opening(cuts, n)
            comparison = cuts.folds * self._part(cuts, leaders, *fold) + self._part(cuts, leaders, n, m)
            comparison += GAINS * redrawn_work(m, c)
        return {
            "search": search if done is None else done,
            "comparison": comparison,
            "diagnosis": shown
            + laid_out
            + 2 * decision_work(n, c, k) * cuts.decisions
            + self._features(n, m)
            + (self._shown_labels(n, m, k) if c > MANY_LABELS else 0.0)
            + (cuts.shuffles + 14) * (shuffled + readout_work(some, some // 3, k, c)) * (cuts.shuffles > 0),
            "last fit and page": max(last - opls, 0.0) + whole + OVERHEAD + WRITTEN * max(c - MANY_LABELS, 0),
        }

    def _fit(self, estimator: Any, n: int, cuts: Cuts | None = None) -> float:
        """Work of a fit on some rows, with the prototypes and bases that the cuts leave; each is forecast once."""
        key = id(estimator), n, cuts and (cuts.prototypes, cuts.bases)
        if key not in self._fits:
            capped = estimator if cuts is None else _capped(estimator, cuts)
            self._fits[key] = estimator, fit_work(capped, self.shape.rows(n))
        return self._fits[key][1]

    def refits(self, estimator: Any, cuts: Cuts | None = None) -> float:
        """Fits that thresholds and probabilities take beside the one: those of inner folds, of two thirds of the rows.
        A method that predicts labels by models that have not seen the row has these by the one fit."""
        if cuts is not None and not cuts.decisions:
            return 0.0
        return 0.0 if hasattr(estimator, "label_scores") and not self.grouped else TUNED

    def _last_fit(self, estimator: Any, cuts: Cuts) -> float:
        """Work of the fit of the saved model, with those by which its thresholds are tuned; of maps these are small."""
        n = self.fitted_rows
        if isinstance(estimator, Layout) and not self.numbers:
            return self._fit(estimator, n, cuts) + CUT_FOLDS * self._fit(estimator, cut_rows(estimator, n), cuts)
        return self._fit(estimator, n, cuts) * (1 + self.refits(estimator))

    def _fits_together(self, methods: Sequence[Any], cuts: Cuts, n: int) -> float:
        """Work of fits of methods on the same rows; one process keeps the latest, which the next may share. One that is
        there several times stands for others of its cost."""
        if not in_this_process(self.options.n_jobs):
            return sum(self._fit(each, n, cuts) for each in methods)
        once = list({id(each): each for each in methods}.values())
        key = *map(id, once), n, cuts.prototypes, cuts.bases
        if key not in self._fits:
            self._fits[key] = once, fits_work([_capped(each, cuts) for each in once], self.shape.rows(n))
        repeated = sum(self._fit(each, n, cuts) for each in methods) - sum(self._fit(each, n, cuts) for each in once)
        return self._fits[key][1] + repeated

    def _again(self, estimator: Any, n: int, cuts: Cuts) -> float:
        """Work of another fit of a method beside a first one on the same rows: all but a forest."""
        parts = fit_parts(_capped(estimator, cuts), self.shape.rows(n))
        return sum(work for part, work in parts.items() if part[0] != FOREST)

    def _kept(self, cuts: Cuts) -> list[Any]:
        """The anchors that the cuts leave."""
        return [each for name, each in self.anchors if cuts.anchors is None or name in cuts.anchors]

    def _opening(self, cuts: Cuts, n: int) -> float:
        """Work of the anchors on the folds of the search."""
        folds = cuts.folds
        if cuts.share == SHARES[0]:
            folds = FOLDS if n < WHOLE_BELOW else RACE_FOLDS + FOLDS
        rows = n - n // min(folds, FOLDS)
        reads = "neighbors" if self.options.goal in ("neighbours", "map") else "scores"
        measured = (reads,) if self.options.goal is not None else ("scores", "neighbors")
        read = sum(readout_work(rows, n - rows, size, self.shape.c, each) for size in cuts.sizes for each in measured)
        maps = min(folds, FOLDS) * self._maps(cuts, rows) if self.options.goal == "map" else 0.0
        return folds * (self._fits_together(self._kept(cuts), cuts, rows) + read * len(self._kept(cuts))) + maps

    def _maps(self, cuts: Cuts, n: int) -> float:
        """Work of the maps of anchors on one fold, at the weights of the features that the cuts leave."""
        if cuts.weights == 0:
            return 0.0
        further, kept = (cuts.weights - 1) * layout_work(n), cuts.anchors
        maps = [self._map(each) for name, each in self.anchors if name in FOR_MAPS and (kept is None or name in kept)]
        return sum(self._fit(each, n, cuts) + further for each in maps)

    def _forms(self, leaders: list[Any], n: int) -> float:
        """Work of the further forms of the dearest map: two honest ones, and those at other weights of the features."""
        maps = [each for each in leaders if isinstance(each, Layout)]
        for each in maps:
            self._layouts.setdefault((id(each), HONEST), clone(each).set_params(honest=True))
        honest = max((self._fit(self._layouts[id(each), HONEST], n) for each in maps), default=0.0)
        return (2 * honest + FORMS * layout_work(n)) * bool(maps and not self.numbers)

    def _likely(self, cuts: Cuts) -> list[Any]:
        """The leaders as the plan expects them before the search: the dearest anchors, or methods that are named; for a
        map layouts of the dearest anchor and of what Layout() lays out."""
        if self.options.methods or self.options.engine == "defc":
            return self.leading
        kept = self._kept(cuts)
        first = sorted(range(len(kept)), key=lambda i: -self._fit(kept[i], self.shape.n))
        likely = [kept[i] for i in [*first, *[0] * LEADERS][:LEADERS]]
        return [self._map(likely[0]), self._map(self.usual), likely[2]] if self.options.goal == "map" else likely

    @cached_property
    def usual(self) -> Any:
        """What Layout() lays out of rows of this shape."""
        return method_for(self.shape.n, self.shape.d, not self.numbers)

    @cached_property
    def _opls(self) -> Any:
        return OPLS()

    def _map(self, method: Any) -> Any:
        """The layout of an anchor, always the same object."""
        return self._layouts.setdefault(id(method), Layout(method))

    def _shown_labels(self, n: int, m: int, k: int) -> float:
        """Work of the average precision of every label on the test rows, of all features and of the choice."""
        each = (label_work("readout", n, size, self.shape.c) for size in (self.shape.d, k))
        return sum(each) + 2 * label_work("precision", m, k, self.shape.c)

    def _part(self, cuts: Cuts, leaders: list[Any], n: int, m: int) -> float:
        """Work of all arms on one split; a rival may have trees that one of the leaders has grown."""
        shape, c = self.shape.rows(n), self.shape.c
        work = self._features(n, m) + decision_work(n, c, max(cuts.sizes)) * cuts.decisions
        tuned = leaders[: 1 if cuts.leading else None] if cuts.decisions else []
        refitted = [each for each in tuned if self.refits(each)]
        work += self._fits_together(leaders, cuts, n) + TUNED * self._fits_together(refitted, cuts, n)
        for size in cuts.sizes:
            work += len(leaders) * readout_work(n, m, size, c) + len(tuned) * decision_work(n, c, size)
        decided, grown = cuts.decisions and not cuts.leading, self._grown_by(leaders, cuts, n)
        for entrant in self.rivals:
            if entrant.arm.name not in cuts.left_out:
                work += 0.0 if grown and entrant.rival.first_trees else self._rival(entrant, shape, cuts)
                sizes: Any = (c,) if entrant.arm.predicts else entrant.arm.sizes(cuts.sizes)
                for size in sizes:
                    work += readout_work(n, m, size, c) + decided * decision_work(n, c, size)
        return work

    def _grown_by(self, leaders: Sequence[Any], cuts: Cuts, n: int) -> bool:
        """Whether the usual forest of all rows and labels is grown for a leader, in the process of the rivals."""
        if n > cuts.forest or self.shape.c > MOST_LABELS or not in_this_process(self.options.n_jobs):
            return False
        return any(forest[:-1] == USUAL_FOREST for forest in map(forest_of, leaders) if forest is not None)

    def cut_of(self, entrant: Entrant) -> str:
        """When a rival is left out: of those that go early, supervised UMAP stays where a map is asked for."""
        stays = self.options.goal == "map" and entrant.rival is SupervisedUMAP
        return "last" if stays else entrant.rival.cut

    def _rival(self, entrant: Entrant, shape: Shape, cuts: Cuts) -> float:
        """Work of the fits of a rival on one split; a forest grows on some rows and places all."""
        if not entrant.work:
            return entrant.rival.work(entrant.arm.estimator, shape, cuts.forest)
        work = entrant.work * _grown(entrant, cuts, self.shape.n)
        return work / self.rival_limits["splits"] * shape.n / self.shape.n

    def _features(self, n: int, m: int) -> float:
        """Work of reading all features: ridge, neighbours, average precision."""
        near = {"1": 1.0, "nn": float(m * n), "nnw": float(m * n * self.shape.w)}
        own = all_features_work(self.shape.rows(n)) + step_work("step:near features", near)
        return own + self._scaling(n)

    def _scaling(self, n: int) -> float:
        """Work of the choice of a scaling on these rows."""
        some = self.shape.rows(min(n, CHOICE_ROWS) * (CHOICE_FOLDS - 1) // CHOICE_FOLDS)
        fit = step_work("step:all features", some._replace(c=min(self.shape.c, CHOICE_LABELS)))
        return fit * CHOICE_FOLDS * self.scalings * (self.scalings > 1)

    def taking_part(self) -> Split:
        """The split with the rows that search, comparison and test work on."""
        return drawn_part(self.split, self.cuts.rows, self.cuts.test_rows, self.options.seed)

    @property
    def forecast_line(self) -> str:
        """The forecast of every phase in words; where it is above the budget, what is done and what would suffice."""
        each = {phase: self.seconds(phase) for phase in self.phases}
        asked: Any
        if self.options.max_work is not None:
            each, asked, unit = self.phases, self.work, "units of work"
        else:
            asked, unit = self.options.max_seconds, "s"
        text = ", ".join(f"{phase} {value:.0f}" + " s" * (unit == "s") for phase, value in each.items())
        whole = sum(each.values())
        text = f"{text}: about {whole:.0f} of {asked:g} {unit}"
        if whole <= asked:
            rate = 1.0 if self.options.max_work is not None else self.rate
            return (
                text if self.cuts == self._whole else f"{text} after cuts; without any about {self.enough / rate:.0f}"
            )
        room = f"a budget of {round_up(whole)} {unit} has room for it"
        return f"{text}; the cheapest whole job is done all the same, {room}"

    def describe(self) -> dict[str, Any]:
        """The plan as plain data, for the record."""
        return {
            "work": self.work if self.bounded else None,
            "max_seconds": None if self.options.max_work is not None else self.options.max_seconds,
            "phases": dict(self.phases),
            "by_clock": list(self.by_clock),
        }


def compared_of(leaders: Sequence[Any], cuts: Cuts) -> list[Any]:
    """The leaders that the cuts leave in the comparison, the first ones; uncut all that a search has found."""
    return list(leaders if cuts.leaders == LEADERS else leaders[: cuts.leaders])


def drawn_part(split: Split, rows: int | None, test_rows: int | None, seed: int) -> Split:
    """Draw ``rows`` training rows and ``test_rows`` test rows of a split at random, without replacement."""
    draw = np.random.default_rng(seed)
    train, held_out = (
        known if some is None or some >= len(known) else np.sort(draw.permutation(known)[:some])
        for known, some in ((split.train, rows), (split.held_out, test_rows))
    )
    return Split(split.name, train, held_out)


def make_plan(
    options: SearchOptions,
    dataset: Any,
    split: Split,
    sizes: tuple[int, ...],
    started: float,
    work: float | None = None,
    outer: tuple[int, ...] = (1,),
) -> Plan:
    """The plan of a search of these data."""
    if work is not None:
        pass
    elif options.max_work is not None:
        work = float(options.max_work)
    elif options.max_seconds is None:
        work = inf
    else:
        starting = STARTING / machine_speed() * (not in_this_process(options.n_jobs))  # all at a time
        left = max(options.max_seconds - (clock.now() - started) - starting, 0.5 * options.max_seconds)
        work = float(f"{left * speed(options.n_jobs):.3g}")
    whole, numbers = has_whole_rows(dataset), dataset.outputs is not None
    known = entrants(dataset.X, dataset.targets, options.seed, splits=options.folds + 1, whole_rows=whole)
    rivals = tuple(each for each in known[1:] if not each.lacks)
    absent = tuple(each for each in known[1:] if each.lacks)
    grouped, scalings = getattr(dataset, "groups", None) is not None, len(scaling_kinds(dataset.X))
    shape = shape_of(dataset.X, dataset.targets.c)._replace(grouped=grouped)
    likely = _leading(options)
    given = _anchors(options, numbers), scalings, whole, numbers, grouped
    return Plan(work, options, shape, split, sizes, started, rivals, absent, *given, leading=likely, outer=outer)


def _leading(options: SearchOptions) -> list[Any]:
    """The leaders of a search of named methods, or of the adaptive model, as the plan expects them."""
    if options.engine == "defc":
        return [estimators()["EmbeddingModel"]()] * LEADERS
    found = [arm.estimator for arm in method_arms(options.methods or ())][:LEADERS]
    return [*map(Layout, found[:2]), *found[2:]] if options.goal == "map" else found


def _anchors(options: SearchOptions, numbers: bool) -> tuple[tuple[str, Any], ...]:
    """What a search begins with, by name."""
    if options.engine == "defc":
        return ()
    if options.methods:
        return tuple((arm.name, arm.estimator) for arm in method_arms(options.methods)[:1])
    names = FIRST if numbers else ANCHORS
    return tuple(zip(names, (each.default() for each in candidates(names)), strict=True))


def round_up(value: float) -> str:
    """A number of at least this size, with two digits."""
    unit = 10.0 ** (floor(log10(value)) - 1)
    return f"{ceil(value / unit) * unit:g}"


def speed(n_jobs: int) -> float:
    """Units of work that processes do per second on this machine."""
    return machine_speed() * (1 + EACH_MORE * (workers(n_jobs) - 1))


def _capped(estimator: Any, cuts: Cuts) -> Any:
    """A method with the prototypes, or bases, that the plan leaves it, or a layout of it."""
    if isinstance(estimator, Layout) and estimator.method is not None:
        inner = _capped(estimator.method, cuts)
        return estimator if inner is estimator.method else clone(estimator).set_params(method=inner)
    if isinstance(estimator, TargetSpace):
        return estimator if cuts.bases is None or estimator.bases else TargetSpace(bases=cuts.bases)
    own = getattr(estimator, "n_prototypes", 0)
    if cuts.prototypes is None or own == 0 or (own is not None and own <= cuts.prototypes):
        return estimator
    return type(estimator)(n_prototypes=cuts.prototypes)


def _grown(entrant: Entrant, cuts: Cuts, n: int) -> float:
    """The part of the rows of its forest that the cuts leave a rival; 1 without a forest."""
    own = hasattr(entrant.arm.estimator, "max_rows")
    return min(cuts.forest, n) / min(FOREST_ROWS, n) if own else 1.0


def _cumulated(cuts: Cuts, steps: Iterable[dict[str, Any]]) -> list[Cuts]:
    """The cuts, each beside those before it; the last, which has all of them, comes first."""
    found = [cuts]
    for step in steps:
        found.append(replace(found[-1], **step))
    return found[::-1]


def _steps(plan: Plan, searched: bool = False) -> Iterator[dict[str, Any]]:
    """The cuts that come before anchors, in the order in which they are made; what the search rests on is settled
    before it."""
    many, rivals, sizes = plan.shape.c > MANY_LABELS, plan.rivals, plan.sizes
    spare, again = _spare(plan), searched and plan.cuts.outer > 1
    if many:
        yield {"left_out": spare}
        yield {"decisions": False}
    if not searched:
        anchored = plan.anchors and not plan.options.methods
        yield {"share": 0.0 if anchored else SHARES[1]}
    if spare and not many:
        yield {"left_out": spare}
    for rows in DIAGNOSIS_ROWS[:-1]:
        yield {"diagnosis": rows}
    yield {"leading": True}
    for left_out in _more_left_out(spare, [each.arm.name for each in rivals if plan.cut_of(each) in ("first", "late")]):
        yield {"left_out": left_out}
    yield {"diagnosis": DIAGNOSIS_ROWS[-1]}
    yield {"shuffles": 0}
    yield {"layouts": False}
    for forest in FORESTS[:2]:
        yield {"forest": forest}
    if not searched and len(plan.split.held_out) > TEST_ROWS[0]:
        yield {"test_rows": TEST_ROWS[0]}
    if plan.options.folds > 3 and not again:
        yield {"folds": 3}
    if len(plan.outer) > 1 and not searched:
        yield from (LESS, *({"outer": outer} for outer in plan.outer[1:]))
    if len(sizes) > 3 and not again:
        yield {"sizes": tuple(sorted({sizes[0], sizes[len(sizes) // 2], sizes[-1]}))}
    yield {"leaders": 2}
    yield {"decisions": False}
    if plan.options.goal == "map" and not searched:
        yield from ({"weights": 1}, {"weights": 0})


def _last_steps(plan: Plan, searched: bool = False) -> Iterator[dict[str, Any]]:
    """The cuts that are made where no anchor but the first is left."""
    yield {"leaders": 1}
    if len(plan.sizes) > 2 and not (searched and plan.cuts.outer > 1):
        yield {"sizes": (plan.sizes[0], plan.sizes[-1])}
    for forest in FORESTS[2:]:
        yield {"forest": forest}
    if not searched and len(plan.split.held_out) > TEST_ROWS[1]:
        yield {"test_rows": TEST_ROWS[1]}
    last = [each.arm.name for each in plan.rivals if plan.cut_of(each) == "last"]
    if searched and not {*last} & {*plan.cuts.left_out}:  # those that were planned for stay, whatever the search took
        return
    gone = [each.arm.name for each in plan.rivals if plan.cut_of(each) in ("first", "late")]
    gone = [*dict.fromkeys([*_spare(plan), *gone])]
    for left_out in _more_left_out(gone, last):
        yield {"left_out": left_out}
    if not searched:
        for rows in FEWER_ROWS:
            if len(plan.split.train) > 1.5 * rows:
                yield {"rows": rows}


def _spare(plan: Plan) -> tuple[str, ...]:
    """The rivals that go first: spare ones, of thousands of labels those that go by labels, and dear ones."""
    many = plan.shape.c > MANY_LABELS
    dear = sum(each.work for each in plan.rivals if each.rival.cut == "last") + OVERHEAD
    return tuple(
        each.arm.name
        for each in plan.rivals
        if each.rival.cut == "first"
        or many
        and each.rival.label_wise
        or plan.cut_of(each) == "late"
        and each.work * each.rival.share > dear
    )


def _more_left_out(gone: Sequence[str], names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Rivals that are left out, one more at a time, the last of the list first."""
    left = [name for name in names if name not in gone]
    for number in range(len(left)):
        yield (*gone, *left[-1 - number :])


def _anchor_sets(plan: Plan) -> Iterator[dict[str, Any]]:
    """The anchors that a search may begin with, the fewest first. Of those that cost about as much as the dearest one,
    the last of the list goes first; before it goes, a kernel gets fewer prototypes and ``TargetSpace`` fewer bases, of
    which the fewest stay until OPLS is alone; a search that adds it later may take ridge and neighbours."""
    left = {name: plan._fit(each, plan.shape.n) for name, each in plan.anchors}
    spaces = {name: each for name, each in plan.anchors if isinstance(each, TargetSpace) and each.bases is None}
    fewer = list(fewer_bases(plan.fitted_rows, plan.shape.d, plan.numbers))
    later = [each for each in fewer if "ridge" in each][-1:]
    found: list[dict[str, Any]] = [{"anchors": None}]
    while len(left) > 1:
        further = list(left)[1:]
        further = [name for name in further if fewer or name not in spaces] or further
        dearest = max(left[name] for name in further)
        name = [name for name in further if left[name] >= ALIKE * dearest][-1]
        present = {key: found[-1].get(key) for key in ("prototypes", "bases")}
        if name in spaces and fewer:
            present["bases"] = fewer.pop(0)
            work = plan._fit(spaces[name], plan.shape.n, Cuts(0, 0, (), bases=present["bases"]))
            if work < SPARED * left[name]:
                left[name] = work
                found.append({"anchors": tuple(left), **present})
            continue
        if name.startswith(("Kernelized", "kernelized")):
            few = [each for each in FEWER_PROTOTYPES if plan.shape.n > each]
            found += [{"anchors": tuple(left), **present, "prototypes": each} for each in few]
        del left[name]
        if later and not {*left} & {*spaces}:
            present["bases"] = later[0]
        found.append({"anchors": tuple(left), **present, "prototypes": found[-1].get("prototypes")})
    return reversed(found)
