"""The plan of a search: how its budget is shared among the phases, and what is cut so that the whole command fits.

All of it follows from the sizes of the data, the options and the work. Seconds become work once, at the start.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

import numpy as np

from proxembed.estimator.catalogue import estimators
from proxembed.evaluate.arms import RIVAL_SECONDS, Entrant, entrants
from proxembed.evaluate.costs import (
    KERNEL_ROWS,
    PROTOTYPES,
    Shape,
    all_features_work,
    decision_work,
    fit_work,
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
from proxembed.evaluate.part import CHOICE_FOLDS, CHOICE_LABELS, CHOICE_ROWS
from proxembed.evaluate.rivals.rival import FOREST_ROWS
from proxembed.execute import clock
from proxembed.execute.executor import in_this_process, workers
from proxembed.features.scaling import scaling_kinds
from proxembed.methods.layout import Layout
from proxembed.splits.splits import Split
from proxembed.targets.labels import MANY_LABELS

from .labelled_data import has_whole_rows
from .options import SearchOptions

DIAGNOSIS, KERNEL_DIAGNOSIS = 5000, 1000
DIAGNOSIS_ROWS = (2000, 1000, 500, 250)  # of a diagnosis that is cut
EACH_MORE = 0.6  # what a further process adds
DEAREST = 0.125  # of the work, for a fit on all rows
GAINS = 6  # gains whose interval is drawn for the verdict
LAYOUTS = 3  # maps beside each other: PCA, the choice, shuffled labels
HONEST_FITS = 10  # of honest maps of numbers, and of shuffled ones, by models of five folds
OVERHEAD = 3.0  # work of reading, drawing and writing the page
WRITTEN = 5e-4  # work of each of thousands of labels in the record, the page and the model
STARTING = 2.0  # work of a process that starts, which imports the libraries
RESERVE = 0.15  # of the work, for what is forecast too low
LEAST_SAVING = 0.02  # of the work; a cut that saves less is not made
SHARES = 0.3, 0.15
TEST_ROWS = 4000
FORESTS = 2000, 1000, 500, 250  # rows that a rival's forest is cut to


@dataclass(frozen=True)
class Cuts:
    """What the phases work on. ``rows`` and ``test_rows`` are None for all of them."""

    shuffles: int
    folds: int
    sizes: tuple[int, ...]
    diagnosis: int = DIAGNOSIS
    leading: bool = False
    decisions: bool = True
    layouts: bool = True
    forest: int = FOREST_ROWS
    share: float = SHARES[0]
    rows: int | None = None
    test_rows: int | None = None
    prototypes: int | None = None
    left_out: tuple[str, ...] = ()


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
    scalings: int = 1
    whole_rows: bool = True
    numbers: bool = False  # predictions of numbers need no thresholds
    cuts: Cuts = field(init=False)
    phases: dict[str, float] = field(init=False)
    too_dear: list[str] = field(default_factory=list)
    by_clock: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        options = self.options
        self.cuts = Cuts(options.shuffles, options.folds, self.sizes, decisions=not self.numbers)
        self._settle(_likely(options))

    @property
    def bounded(self) -> bool:
        """Whether there is a budget."""
        return self.work < inf

    @property
    def rival_limits(self) -> dict[str, Any]:
        """By what ``rival_arms`` decides which rivals take part."""
        return {"splits": self.options.folds + 1, "seconds": rival_seconds(self.work), "whole_rows": self.whole_rows}

    @property
    def rate(self) -> float:
        """Units of work that these processes do per second on this machine."""
        return machine_speed() * _processes(self.options)

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
    def dearest(self) -> float:
        """Largest work of a fit on all rows that the search tries."""
        return self.work * DEAREST

    def seconds(self, phase: str) -> float:
        """Forecast seconds of a phase; the last fit is of one process."""
        return self.phases[phase] / (machine_speed() if phase == "last fit and page" else self.rate)

    def leave_for(self, *phases: str) -> float:
        """Seconds from now until these phases must begin."""
        return self.left - sum(self.seconds(phase) for phase in phases)

    def settle(self, leaders: Sequence[tuple[str, Any]], done: float) -> None:
        """Settle the phases after a search whose leaders and work are known."""
        self.phases["search"] = done
        if self.bounded:
            self._settle([method for _, method in leaders], done)

    def _settle(self, leaders: Sequence[Any], done: float | None = None) -> None:
        """Cut, in order, until what comes after the search leaves its share of the work to it."""
        least = LEAST_SAVING * self.work

        def work(cuts: Cuts) -> float:
            return sum(self._forecast(cuts, leaders, done).values())

        for step in (None, *_steps(self.cuts, self.shape, self.rivals, len(self.split.held_out), done is not None)):
            after = work(self.cuts)
            room = self.planned - (self.cuts.share * self.work if done is None else done)
            if after <= room:
                break
            if step is None:
                continue
            tried, small = replace(self.cuts, **step), replace(self.cuts, diagnosis=DIAGNOSIS_ROWS[-1])
            if "shuffles" in step and work(small) - work(tried) < least:  # a small diagnosis is hardly dearer than none
                tried = small
            if after - work(tried) >= least or "share" in step:
                self.cuts = tried
        phases = self._forecast(self.cuts, leaders, done)
        own = max(self.planned - sum(phases.values()), 0.1 * self.work) if done is None else done
        self.phases = {"search": own if self.bounded else 0.0, **phases}

    def _forecast(self, cuts: Cuts, leaders: Sequence[Any], searched: float | None = None) -> dict[str, float]:
        n = min(len(self.split.train), cuts.rows or self.shape.n)
        m = min(len(self.split.held_out), cuts.test_rows or self.shape.n)
        parts = [(n - n // cuts.folds, n // cuts.folds)] * cuts.folds + [(n, m)]
        leaders = [_capped(each, cuts) for each in leaders]
        if searched is None:  # what the search will not try cannot lead
            linear = estimators()["OPLS"]()
            leaders = [each if fit_work(each, self.shape) <= self.dearest else linear for each in leaders]
        dear = max((fit_work(each, self.shape.rows(n)) for each in leaders), default=0.0)
        last = max((fit_work(each, self.shape) for each in leaders), default=0.0)
        some = min(n, cuts.diagnosis)
        shuffled = max((fit_work(each, self.shape.rows(some)) for each in leaders), default=0.0)
        c, k = self.shape.c, max(cuts.sizes)
        whole = last_work(self.shape)
        fits = HONEST_FITS if self.numbers else 2
        laid_out = cuts.layouts * (fits * dear + LAYOUTS * layout_work(min(n, LAID_OUT)))
        return {
            "comparison": sum(self._part(cuts, leaders, *part) for part in parts) + GAINS * redrawn_work(m, c),
            "diagnosis": (4 if cuts.decisions else 1) * dear
            + laid_out
            + 2 * decision_work(n, c, k) * cuts.decisions
            + self._features(n, m)
            + (self._shown_labels(n, m, k) if c > MANY_LABELS else 0.0)
            + (cuts.shuffles + 14) * (shuffled + readout_work(some, some // 3, k, c)) * (cuts.shuffles > 0),
            "last fit and page": 3 * last + whole + OVERHEAD + WRITTEN * max(c - MANY_LABELS, 0),
        }

    def _shown_labels(self, n: int, m: int, k: int) -> float:
        """Work of the average precision of every label on the test rows, of all features and of the choice."""
        each = (label_work("readout", n, size, self.shape.c) for size in (self.shape.d, k))
        return sum(each) + 2 * label_work("precision", m, k, self.shape.c)

    def _part(self, cuts: Cuts, leaders: list[Any], n: int, m: int) -> float:
        """Work of all arms on one split."""
        shape, c = self.shape.rows(n), self.shape.c
        work = self._features(n, m) + decision_work(n, c, max(cuts.sizes)) * cuts.decisions
        for place, estimator in enumerate(leaders):
            decided, fit = cuts.decisions and (not cuts.leading or place == 0), fit_work(estimator, shape)
            work += fit + 2 * fit * decided
            for size in cuts.sizes:
                work += readout_work(n, m, size, c) + decided * decision_work(n, c, size)
        decided = cuts.decisions and not cuts.leading
        for entrant in self.rivals:
            if entrant.arm.name not in cuts.left_out and self._enters(entrant, cuts):
                work += self._rival(entrant, shape, cuts)
                sizes: Any = (c,) if entrant.arm.predicts else entrant.arm.sizes(cuts.sizes)
                for size in sizes:
                    work += readout_work(n, m, size, c) + decided * decision_work(n, c, size)
        return work

    def _rival(self, entrant: Entrant, shape: Shape, cuts: Cuts) -> float:
        """Work of the fits of a rival on one split; a forest grows on some rows and places all."""
        if not entrant.seconds:
            return entrant.rival.work(entrant.arm.estimator, shape, cuts.forest)
        seconds = entrant.seconds * _grown(entrant, cuts, self.shape.n)
        return seconds / self.rival_limits["splits"] * shape.n / self.shape.n

    def _enters(self, entrant: Entrant, cuts: Cuts) -> bool:
        """Whether a rival takes part with a forest as the cuts leave it, as ``rival_arms`` decides."""
        seconds = entrant.seconds * _grown(entrant, cuts, self.shape.n)
        return not replace(entrant, seconds=seconds).reason(self.rival_limits["seconds"])

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
    def lines(self) -> list[str]:
        """What was cut, a line each, and what the clock decided."""
        options, cuts, found = self.options, self.cuts, []
        if cuts.shuffles < options.shuffles:
            found.append(f"no diagnosis on shuffled labels ({options.shuffles} shuffles requested)")
        elif cuts.diagnosis < DIAGNOSIS:
            found.append(f"diagnosis on {cuts.diagnosis:,} rows")
        if not cuts.layouts:
            found.append("maps of the first two components only")
        if self.numbers:
            pass
        elif not cuts.decisions:
            found.append("no F1, Hamming loss and probabilities; no threshold and calibration error of single labels")
        elif cuts.leading:
            found.append("F1, Hamming loss and probabilities only of all features and the leading method")
        if cuts.forest < FOREST_ROWS:
            found.append(f"forest of the rival grown on {cuts.forest:,} rows")
        if cuts.left_out:
            found.append(f"rivals left out: {', '.join(cuts.left_out)}")
        if cuts.share < SHARES[0]:
            found.append("fewer drawn trials in the search")
        if cuts.folds < options.folds:
            found.append(f"{cuts.folds} folds instead of {options.folds}")
        if cuts.rows is not None:
            found.append(f"search and comparison on {cuts.rows:,} of {len(self.split.train):,} training rows")
        if cuts.test_rows is not None:
            found.append(f"{cuts.test_rows:,} of {len(self.split.held_out):,} test rows, drawn at random")
        if cuts.prototypes is not None and cuts.prototypes < PROTOTYPES:
            found.append(f"kernels with at most {cuts.prototypes} prototypes")
        if cuts.sizes != self.sizes:
            found.append(f"only sizes {', '.join(map(str, cuts.sizes))}")
        return found + self.too_dear + [f"the clock decided: {text}" for text in self.by_clock]

    @property
    def forecast_line(self) -> str:
        """The forecast of every phase in words."""
        each = {phase: self.seconds(phase) for phase in self.phases}
        asked: Any
        if self.options.max_work is not None:
            each, asked, unit = self.phases, self.work, "units of work"
        else:
            asked, unit = self.options.max_seconds, "s"
        text = ", ".join(f"{phase} {value:.0f}" + " s" * (unit == "s") for phase, value in each.items())
        return f"{text}: about {sum(each.values()):.0f} of {asked:g} {unit}"

    def describe(self) -> dict[str, Any]:
        """The plan as plain data, for the record."""
        return {
            "work": self.work if self.bounded else None,
            "max_seconds": None if self.options.max_work is not None else self.options.max_seconds,
            "phases": dict(self.phases),
            "cuts": self.lines,
            "by_clock": list(self.by_clock),
        }


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
        work = float(f"{left * machine_speed() * _processes(options):.3g}")
    whole = has_whole_rows(dataset)
    given: dict[str, Any] = {"splits": options.folds + 1, "whole_rows": whole}
    known, least = (entrants(dataset.X, dataset.targets, options.seed, rows, **given) for rows in (None, FORESTS[-1]))
    pairs = zip(known[1:], least[1:], strict=True)
    rivals = tuple(each for each, smallest in pairs if not smallest.reason(rival_seconds(work)))
    shape, scalings = shape_of(dataset.X, dataset.targets.c), len(scaling_kinds(dataset.X))
    return Plan(
        work, options, shape, split, sizes, started, rivals, scalings, whole, numbers=dataset.outputs is not None
    )


def rival_seconds(work: float) -> float:
    """What one rival may take, by its own forecast."""
    return work if work < inf else RIVAL_SECONDS


def _processes(options: SearchOptions) -> float:
    return 1 + EACH_MORE * (workers(options.n_jobs) - 1)


def _likely(options: SearchOptions) -> list[Any]:
    """The leaders as the plan expects them before the search: a kernel and two linear methods, or those named."""
    if options.engine == "defc":
        return [estimators()["EmbeddingModel"]()] * 3
    if options.methods:
        from proxembed.evaluate.arms import method_arms

        return [arm.estimator for arm in method_arms(options.methods)][:3]
    likely = [estimators()["Kernelized"](), *[estimators()["OPLS"]()] * 2]
    return [*map(Layout, likely[:2]), likely[2]] if options.goal == "map" else likely


def _capped(estimator: Any, cuts: Cuts) -> Any:
    """A method with the prototypes that the plan leaves it."""
    own = getattr(estimator, "n_prototypes", 0)
    if cuts.prototypes is None or own == 0 or (own is not None and own <= cuts.prototypes):
        return estimator
    return type(estimator)(n_prototypes=cuts.prototypes)


def _grown(entrant: Entrant, cuts: Cuts, n: int) -> float:
    """The part of the rows of its forest that the cuts leave a rival; 1 without a forest."""
    own = hasattr(entrant.arm.estimator, "max_rows")
    return min(cuts.forest, n) / min(FOREST_ROWS, n) if own else 1.0


def _steps(
    cuts: Cuts, shape: Shape, rivals: Sequence[Entrant], n_test: int, searched: bool
) -> Iterator[dict[str, Any]]:
    """The cuts in the order in which they are made; what the search rests on is settled before it."""
    many = shape.c > MANY_LABELS
    if spare := tuple(each.arm.name for each in rivals if each.rival.cut == "first" or many and each.rival.label_wise):
        yield {"left_out": spare}
    if many:
        yield {"decisions": False}
    for rows in DIAGNOSIS_ROWS:
        yield {"diagnosis": rows}
    yield {"shuffles": 0}
    yield {"layouts": False}
    yield {"leading": True}
    for forest in FORESTS:
        yield {"forest": forest}
    dear = [each.arm.name for each in rivals if each.rival.cut != "never"]
    for number in range(len(dear)):
        yield {"left_out": (*spare * many, *(name for name in dear[-1 - number :] if not many or name not in spare))}
    if not searched:
        yield {"share": SHARES[1]}
    if cuts.folds > 3:
        yield {"folds": 3}
    if n_test > TEST_ROWS and not searched:
        yield {"test_rows": TEST_ROWS}
    if not searched:
        large = {"prototypes": PROTOTYPES} if shape.n > KERNEL_ROWS else {}
        for rows in (20_000, 12_000, 8000, 5000):
            if shape.n > 1.5 * rows:
                yield {"rows": rows, **large}
        for prototypes in (500, 250):
            if shape.n > prototypes:
                yield {"prototypes": prototypes}
    if len(cuts.sizes) > 3:
        yield {"sizes": tuple(sorted({cuts.sizes[0], cuts.sizes[len(cuts.sizes) // 2], cuts.sizes[-1]}))}
    if not searched:
        for rows in (3000, 2000, 1000):
            if shape.n > 1.5 * rows:
                yield {"rows": rows}
        if n_test > 1000:
            yield {"test_rows": 1000}
