"""One configuration on one split: fitted once and read out at every size; and the study, the loop of such trials."""

import math
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from proxembed.algebra.shared import Shared
from proxembed.estimator.catalogue import settings, title_of
from proxembed.evaluate.arms import Arm
from proxembed.evaluate.costs import PROTOTYPES, Shape, fit_work, fits_work, readout_work, shape_of
from proxembed.evaluate.part import Part, make_part
from proxembed.evaluate.results import RIDGE
from proxembed.evaluate.scoring import LATEST, Measures, Scores, score
from proxembed.execute.budget import WorkBudget
from proxembed.execute.executor import Progress, silent
from proxembed.execute.loop import Evaluator, Loop, Strategy, Trial, Work
from proxembed.measures.measures import Measure
from proxembed.measures.statistics import choose, expected_score, repeated_scores
from proxembed.methods.layout import Layout
from proxembed.params import declared
from proxembed.splits.splits import Split
from proxembed.targets.targets import Targets

from .candidates import KERNEL_FORM, PREFERRED, family_of, lighter, suited

CACHED_FOLDS = 5


class FoldParts:
    """The parts of several folds, on all training rows of a fold or on the first of them; the latest are kept."""

    def __init__(self, X: Any, labels: Targets, splits: Sequence[Split], kind: str, weights: np.ndarray | None = None):
        self.X, self.labels, self.splits, self.kind, self.weights = X, labels, tuple(splits), kind, weights
        self.rows = tuple(len(split.train) for split in self.splits)
        self.shared = Shared()
        self._shapes: dict[tuple[int, int | None], tuple[Shape, int]] = {}
        self._whole: OrderedDict[int, Part] = OrderedDict()
        self._short: OrderedDict[tuple[int, int], Part] = OrderedDict()

    def __getstate__(self) -> dict[str, Any]:
        """Each worker makes its own parts."""
        return {**vars(self), "_whole": OrderedDict(), "_short": OrderedDict()}

    def part(self, fold: int, rows: int | None = None) -> Part:
        """A fold with its first training rows; None: all of them."""
        if rows is None:
            return self._fold(fold)
        return _cached(self._short, (fold, rows), len(self.splits), lambda: self._fold(fold).first(rows))

    def shape(self, fold: int, rows: int | None = None) -> tuple[Shape, int]:
        """Sizes of the features and labels of a part, and the number of its held-out rows."""
        if (fold, rows) not in self._shapes:
            part = self.part(fold, rows)
            self._shapes[fold, rows] = shape_of(part.X, part.labels.c), len(part.Y_held_out)
        return self._shapes[fold, rows]

    def _fold(self, fold: int) -> Part:
        split = self.splits[fold]
        most = min(len(self.splits), CACHED_FOLDS)
        facts = (split.train, split.held_out, self.kind)
        make = partial(make_part, self.X, self.labels, *facts, weights=self.weights, shared=self.shared)
        return _cached(self._whole, fold, most, make)


def _cached(known: OrderedDict[Any, Part], key: Any, most: int, make: Any) -> Part:
    """The cached part of a key, made if it is missing; the least recently used part is dropped."""
    if key not in known:
        known[key] = make()
        if len(known) > most:
            known.popitem(last=False)
    known.move_to_end(key)
    return known[key]


KEEP = 3  # the best third of a rung goes on, to three times the rows
LEAST_ROWS = 400
STEPS_BELOW = 2
WHOLE_BELOW = 1000  # rows below which every configuration is scored on all rows of all folds
FOLDS, RACE_FOLDS = 5, 3  # of a choice, and of a race
FINALISTS = 8
FREE = {"random_state", "n_prototypes", "n_components", "bases"}  # what a preferred method may have set
INNER_FREE = {f"method__{name}" for name in FREE}


class Rung(NamedTuple):
    """A fidelity: a number of training rows, and the folds on which a trial is scored with as many."""

    rows: int
    folds: tuple[int, ...]

    @property
    def steps(self) -> list[tuple[int, int]]:
        """The (training rows, fold) of its fits."""
        return [(self.rows, fold) for fold in self.folds]


@dataclass(eq=False)
class MethodTrial(Trial):
    """A trial of an unfitted estimator, whose outcomes go by number of training rows and fold."""

    worst: float = 0.0
    proposal: Any = None
    rungs: tuple[Rung, ...] = field(kw_only=True)
    final: Rung = field(kw_only=True)

    @property
    def family(self) -> str:
        """Its method, however the features are scaled."""
        return family_of(self.config)

    @property
    def failure(self) -> str | None:
        """The first failure, or None."""
        return next((outcome.failure for outcome in self.outcomes.values() if outcome.failure), None)

    @property
    def seconds(self) -> float:
        """Seconds spent on it."""
        return sum(outcome.seconds for outcome in self.outcomes.values())

    def at(self, rung: Rung) -> list[Scores]:
        """Its outcomes at a rung, by fold."""
        return [self.outcomes[step] for step in rung.steps if step in self.outcomes]

    def has(self, rung: Rung) -> bool:
        """Whether it was scored on all folds of a rung, and failed nowhere."""
        return not self.failure and len(self.at(rung)) == len(rung.folds)

    def means(self, rung: Rung) -> dict[int, float]:
        """The mean over the folds of a rung at each size; empty where a fit failed or none was made."""
        outcomes = self.at(rung)
        if not outcomes or any(outcome.failure for outcome in outcomes):
            return {}
        curves = [outcome.curve for outcome in outcomes]
        sizes = sorted(k for k in set().union(*curves) if all(k in curve or k > max(curve) for curve in curves))
        return {k: self._mean([curve[min(k, max(curve))] for curve in curves]) for k in sizes}

    def _mean(self, values: list[float]) -> float:
        """The mean of the folds whose score is defined; the worst score without such folds."""
        defined = [value for value in values if not np.isnan(value)]
        return float(np.mean(defined)) if defined else self.worst

    def ordered(self, sizes: Iterable[int]) -> list[int]:
        """Sizes in the order in which one of several equal scores is taken: the smallest first, the largest of a method
        that predicts labels itself, at all sizes alike."""
        return sorted(sizes, reverse=hasattr(self.config, "label_scores"))

    def best(self, rung: Rung) -> tuple[float, int]:
        """The best mean over the folds of a rung, and its size; of equal ones the first of ``ordered``."""
        means = self.means(rung)
        k = max(self.ordered(means), key=means.__getitem__, default=0)
        return means.get(k, self.worst), k

    @property
    def furthest(self) -> Rung:
        """The last rung of the race with all folds scored, else the last with any, else the first."""
        whole = [rung for rung in self.rungs if self.has(rung)] or [rung for rung in self.rungs if self.at(rung)]
        return whole[-1] if whole else self.rungs[0]

    def standing(self) -> tuple[int, float]:
        """How far it came in the race (the place of the rung), and its score there."""
        return self.rungs.index(self.furthest), self.best(self.furthest)[0]

    @property
    def complete(self) -> bool:
        """Whether it was scored on all rows of all folds of the race."""
        return self.has(self.rungs[-1])

    @property
    def score(self) -> float:
        """The score of a complete trial; -inf of another, whose score is not comparable."""
        return self.best(self.rungs[-1])[0] if self.complete else -math.inf

    def score_at(self, rung: Rung, size: int | None) -> float:
        """The mean over the folds of a rung at a size, None for its best one; -inf where there is none."""
        return self.best(rung)[0] if size is None else self.means(rung).get(size, -math.inf)

    def by_fold(self, rung: Rung, k: int) -> list[float]:
        """The scores at a size of the folds of a rung."""
        return [o.curve.get(min(k, max(o.curve, default=0)), self.worst) for o in self.at(rung)]

    def kept_shares(self, rung: Rung) -> list[float]:
        """What a layout keeps of the neighbours in X on the folds of a rung; NaN where it is none."""
        maps = isinstance(self.config, Layout)
        return [next(iter(o.kept.values()), np.nan) if maps else np.nan for o in self.at(rung)]

    def by_size(self, rung: Rung, sizes: Iterable[int]) -> dict[int, np.ndarray]:
        """Scores per fold of a rung, for each of the sizes that every fold has or that exceeds all sizes of the fold;
        empty unless all folds of the rung were scored."""
        curves = [outcome.curve for outcome in self.at(rung)] if self.has(rung) else []
        scored = [k for k in sizes if curves and all(k in curve or k > max(curve) for curve in curves)]
        return {k: np.array(self.by_fold(rung, k)) for k in scored}

    def by(self, measure: Measure) -> "MethodTrial":
        """The same trial as a further measure scores it, on the folds on which it was measured."""
        known = {step: o for step, o in self.outcomes.items() if o.failure or measure.name in o.curves}
        curves = {step: replace(o, curve=o.curves.get(measure.name, {})) for step, o in known.items()}
        return replace(self, outcomes=curves, worst=measure.score(measure.worst))

    def plain(self) -> dict[str, Any]:
        """The trial as plain data: scores at the furthest rung of the race (of the final folds, if it was not in the
        race) and, separately, on the final folds."""
        shown = self.furthest if self.at(self.furthest) else self.final
        score, k = self.best(shown)
        own = self.final not in self.rungs and self.has(self.final)
        return {
            "method": self.title,
            "params": settings(self.config),
            "k": k or None,
            "score": score,
            "scores": self.means(shown),
            "by_fold": self.by_fold(shown, k),
            "rows": shown.rows,
            "complete": self.complete,
            "final": self.means(self.final) if own else None,
            "seconds": self.seconds,
            "failure": self.failure,
            "notes": sorted({note for outcome in self.outcomes.values() for note in outcome.notes}),
        }


def best_trial(trials: Iterable[MethodTrial]) -> MethodTrial | None:
    """The complete trial of the best score, of equal ones the earliest; else the furthest one that has a score."""
    usable = [t for t in trials if t.outcomes and not t.failure]
    complete = [t for t in usable if t.complete]
    if complete:
        return max(complete, key=lambda t: t.score)
    return max(usable, key=MethodTrial.standing, default=None)


def finalists(trials: Iterable[MethodTrial]) -> list[MethodTrial]:
    """The trials for the final folds: the furthest and best of each of the best eight families, the best of
    all first."""
    usable = sorted((t for t in trials if t.outcomes and not t.failure), key=MethodTrial.standing, reverse=True)
    families: dict[str, MethodTrial] = {}
    for t in usable:
        families.setdefault(t.family, t)
    first = list(families.values())
    ranked = [*first, *(t for t in usable if t not in first)]
    complete = [t for t in ranked if t.complete]
    anchors = [[t for t in complete if untuned(t.config, name)][:1] for name in PREFERRED]
    return list(dict.fromkeys([*ranked[:1], *sum(anchors, []), *ranked]))[:FINALISTS]


@dataclass(frozen=True)
class Choice:
    """The trial that a search ends with, at its size, and what may be expected of it."""

    trial: MethodTrial
    k: int
    mean: float
    repeated: np.ndarray | None
    anchored: bool
    rung: Rung
    among: tuple[MethodTrial, ...]

    @property
    def score(self) -> float | None:
        """What may be expected of it: the mean of ``repeated``."""
        return expected_score(self.repeated)

    @property
    def final(self) -> bool:
        """Whether the folds are those of the trial's ``final``."""
        return bool(self.among) and self.rung == self.trial.final


def chosen(trials: Iterable[MethodTrial], size: int | None = None, anchored: bool = True) -> Choice | None:
    """The choice among the trials scored on the final folds, at one size (None: at all their sizes). With fewer than
    two of them it is made among complete trials; without any, it is the furthest trial that has a score. ``anchored``:
    the preferred method is left only for what is clearly ahead. A ``size`` is that of a map: of the layouts that are
    not clearly behind, it is the one that keeps most of the neighbours in X."""
    trials = list(trials)
    if not trials:
        return None
    final, last = trials[0].final, trials[0].rungs[-1]
    among, rung = [t for t in trials if t.has(final)], final
    if len(among) < 2 and final != last:
        among, rung = [t for t in trials if t.complete], last
    if not among:
        furthest = best_trial(trials)
        if furthest is None:
            return None
        mean, k = furthest.best(furthest.furthest)
        return Choice(furthest, k, mean, None, False, furthest.furthest, ())
    entrants = [(t, k) for t in among for k in t.ordered(t.means(rung)) if size in (None, k)]
    if not entrants:
        return chosen(trials, anchored=anchored)
    values = np.array([t.by_fold(rung, k) for t, k in entrants])
    preferred = preferred_among(t.config for t in among)
    anchor = [anchored and untuned(t.config, preferred) for t, _ in entrants]
    kept = None if size is None else np.array([t.kept_shares(rung) for t, _ in entrants])
    at = choose(values, anchor, kept)
    trial, k = entrants[at]
    repeated = repeated_scores(values, anchor, kept)
    return Choice(trial, k, trial.means(rung)[k], repeated, at != choose(values), rung, tuple(among))


def untuned(config: Any, name: str = KERNEL_FORM) -> bool:
    """Whether a configuration is the method of this name as it is by default, or a layout of it, whatever its size,
    seed and prototypes."""
    if isinstance(config, Layout):
        return untuned(config.member(), name) and set(settings(config)) <= {"random_state", *INNER_FREE}
    return title_of(config) == name and set(settings(config)) <= FREE


def preferred_among(configs: Iterable[Any], names: Sequence[str] = PREFERRED) -> str:
    """The method that another one must beat by a standard error: the first of these names that is among
    configurations, else the last name."""
    configs = list(configs)
    return next((name for name in names if any(untuned(config, name) for config in configs)), names[-1])


def fold_count(rows: int, groups: Any = None) -> int:
    """Folds of a search: five below 1,000 rows, else three; no more than there are groups to keep together, or rows."""
    return _folds_of(FOLDS if rows < WHOLE_BELOW else RACE_FOLDS, rows, groups)


def final_fold_count(rows: int, groups: Any = None) -> int:
    """Number of separate folds for the choice: none below 1,000 rows, else five, or fewer if there are few groups."""
    return 0 if rows < WHOLE_BELOW else _folds_of(FOLDS, rows, groups)


def _folds_of(usual: int, rows: int, groups: Any) -> int:
    most = rows if groups is None else len(np.unique(groups))
    return max(2, min(usual, most))


def rungs(counts: Sequence[int], full: int) -> tuple[Rung, ...]:
    """Fidelities: a ninth and a third of the rows where they are many, all rows, all folds."""
    rows, whole = min(counts), tuple(range(len(counts)))
    if full < WHOLE_BELOW:
        return (Rung(rows, whole),)
    below = [rows // KEEP**step for step in range(STEPS_BELOW, 0, -1) if rows // KEEP**step >= LEAST_ROWS]
    return (*(Rung(m, (0,)) for m in below), Rung(rows, (0,)), Rung(rows, whole))


class FoldScores(Evaluator):
    """Scores configurations on the held-out rows of folds; a step is (training rows, fold)."""

    def __init__(
        self,
        folds: FoldParts,
        full: int,
        sizes: tuple[int, ...],
        measure: Measure,
        budget: WorkBudget | None = None,
        n_race: int | None = None,
        layouts: bool = False,
        beside: Sequence[Measure] = (),
    ):
        self.layouts, self.further = layouts, tuple(beside)
        self.folds, self.budget, self.full, self.sizes, self.measure = folds, budget, full, sizes, measure
        race, further = folds.rows[:n_race], range(len(folds.rows))[n_race:] if n_race else ()
        self.rungs = rungs(race, full)
        self.final = Rung(min(folds.rows[fold] for fold in further), tuple(further)) if further else self.rungs[-1]
        self.perfect = measure.score(measure.best)
        self._whole = {*self.rungs[-1].steps, *self.final.steps}

    def trial(self, estimator: Any, seed: int) -> MethodTrial:
        """A trial of an unfitted estimator, made fit for these rows."""
        worst = self.measure.score(self.measure.worst)
        prototypes = None if self.budget is None else self.budget.prototypes
        config = suited(estimator, self.full, seed, prototypes)
        if not self.permits(config):  # a kernel of all rows may be too dear, and one of prototypes not
            config = suited(config, self.full, seed, min(prototypes or PROTOTYPES, PROTOTYPES))
        return MethodTrial(config, title_of(config), worst=worst, rungs=self.rungs, final=self.final)

    def forms(self, estimator: Any) -> Iterator[Any]:
        """A configuration, unless the budget leaves it fewer bases, and its lighter forms."""
        rows, bases = (
            (self.full, None) if self.budget is None else (self.budget.last_rows or self.full, self.budget.bases)
        )
        for each in lighter(estimator, rows, self.folds.shape(0)[0].d, self.folds.part(0).outputs is not None):
            own = getattr(each, "bases", ())
            if bases is None or (own is not None and {*own} <= {*bases}):
                yield each

    def work(self, config: Any, step: tuple[int, int], kept: Iterable[Any] = ()) -> float:
        """Forecast work of a step, from the sizes alone; ``kept``: configurations whose fits on its rows are there."""
        shape, m = self.folds.shape(*self._place(step))
        measures = (self.measure, *(self.further if step in self._whole else ()))
        read = sum(readout_work(step[0], m, k, shape.c, each.reads) for k in self.sizes_of(config) for each in measures)
        if len(self.rungs[-1].folds) > CACHED_FOLDS:
            kept = ()
        fit = fits_work([config], shape, kept)
        if self.layouts and isinstance(config, Layout) and config.features is not None:
            fit -= fit_work(config.member(), shape)  # which the map at the first weight has fitted
        return fit + read

    def sizes_of(self, config: Any) -> tuple[Any, ...]:
        """The sizes at which a configuration is scored: a map has two dimensions at most."""
        return _arm(config).sizes(self.sizes)

    def _place(self, step: tuple[int, int]) -> tuple[int, int | None]:
        """The fold of a step and its training rows, None for all."""
        return step[1], None if step in self._whole else step[0]

    def permits(self, config: Any) -> bool:
        """Whether the last fit of a configuration is within the budget."""
        if self.budget is None:
            return True
        last = self.folds.shape(0)[0].rows(self.budget.last_rows or self.full)
        return self.budget.permits(fit_work(config, last))

    def key(self, config: Any, step: tuple[int, int]) -> list[Any]:
        """Method, parameters, number of training rows and fold."""
        return [title_of(config), settings(config), *step]

    def plain(self, scores: Scores) -> dict[str, Any] | None:
        """The scores of a step as plain data; None where it was stopped."""
        return None if scores.stopped else scores.plain()

    def restored(self, plain: dict[str, Any]) -> Scores:
        """The scores of their plain data."""
        return Scores.of(plain)

    def lost(self, config: Any, step: tuple[int, int], reason: str) -> Scores:
        """The scores of a fit whose process was ended."""
        return Scores(failure=reason, stopped=True)

    def evaluate(self, config: Any, step: tuple[int, int], bounded: bool = False, limit: float | None = None) -> Scores:
        """The scores of one fit, stopped after ``limit`` seconds; ``bounded``: its method is known to be."""
        further = tuple((each, RIDGE) for each in self.further) if step in self._whole else ()
        measures = Measures(((self.measure, RIDGE),), self.sizes, further, max_seconds=limit, maps=self.layouts)
        found = score(_arm(config), self.folds.part(*self._place(step)), measures, bounded)
        if found.stopped and limit is not None:
            found.failure = f"stopped after {limit:.3g} s: the time of the search was spent"
        found.curves = {} if found.failure else {each.name: _curve(found.rows, each) for each, _ in further}
        found.rows = []  # the curves have all that a search needs
        return found


def _curve(rows: Iterable[dict[str, Any]], measure: Measure) -> dict[int, float]:
    """The scores by a measure at each number of components."""
    return {row["components"]: measure.score(row["value"]) for row in rows if row["measure"] == measure.name}


def _arm(config: Any) -> Arm:
    """A configuration as an arm, of which one fit serves all sizes."""
    most = declared(type(config))["n_components"][1].high
    return Arm(title_of(config), config, largest=None if most is None else int(most))


class Study(Loop):
    """A search: what was tried so far, what it may spend, and the loop that carries it on."""

    def __init__(
        self,
        evaluator: Any,
        *,
        seed: int = 0,
        max_trials: int | None = None,
        patience: int | None = None,
        progress: Progress | None = None,
        **bounds: Any,
    ):
        super().__init__(evaluator, lone_here=True, report=Study._show, **bounds)
        self.seed, self.max_trials, self.patience = seed, max_trials, math.inf if patience is None else patience
        self.entered: dict[Any, Any] = {}
        self.history: list[dict[str, Any]] = []
        self._progress, self._improved = silent if progress is None else progress, 0
        self._latest: dict[Any, deque[Any]] = {}

    @property
    def trials(self) -> list[Any]:
        """Trials of which something is finished."""
        return [trial for trial in self.entered.values() if trial.outcomes]

    @property
    def trials_left(self) -> float:
        """How many more trials the budget has."""
        return math.inf if self.max_trials is None else max(self.max_trials - len(self.entered), 0)

    @property
    def best_score(self) -> float:
        """The best score so far, -inf without any."""
        return self.history[-1]["best"] if self.history else -math.inf

    @property
    def perfect(self) -> bool:
        """Whether no score can be better than the best."""
        return self.best_score >= self.evaluator.perfect

    @property
    def spent(self) -> bool:
        """Whether a bound or the patience is reached; never before the first outcome."""
        return super().spent or bool(self.outcomes) and len(self.outcomes) - self._improved >= self.patience

    @property
    def over(self) -> bool:
        """Whether the budget is spent, or no score can be better than the best."""
        return self.spent or self.perfect

    def generator(self, *key: int) -> np.random.Generator:
        """The generator of the numbers that belong to this key alone."""
        return np.random.default_rng(np.random.SeedSequence([self.seed, *key]))

    def forecast(self, trial: Any, step: Any) -> float:
        """Work of a step, from sizes alone. One process keeps the latest fits on the same rows (``Part.latest``)."""
        kept = self._latest.get(step, ()) if self.executor.n_jobs == 1 else ()
        return self.evaluator.work(trial.config, step, kept)

    def _record(self, trial: Any, step: Any, outcome: Any, ended: float) -> None:
        super()._record(trial, step, outcome, ended)
        if self.work < math.inf:
            self._latest.setdefault(step, deque(maxlen=LATEST)).append(trial.config)
        score, best = trial.score, self.best_score
        if score > best:
            self._improved = len(self.outcomes)
        seconds = max(ended - self._started, self.history[-1]["seconds"] if self.history else 0.0)
        self.history.append({"evaluations": len(self.outcomes), "seconds": seconds, "best": max(score, best)})

    def _show(self, work: Work, done: bool) -> None:
        """Report seconds where they are bounded, else work, evaluations or trials."""
        at, total = len(self.entered), self.max_trials or 0
        if self.seconds < math.inf:
            at, total = int(min(self.seconds - self.left, self.seconds)), int(self.seconds)
        elif self.work < math.inf:
            at, total = int(min(self.work_done, self.work)), int(self.work)
        elif self.max_evals < math.inf:
            at, total = len(self.outcomes), int(self.max_evals)
        best = "" if self.best_score == -math.inf else f"best {self.best_score:.3f}, "
        self._progress(at, total, f"search, {len(self.entered)} trials: {best}now {work.trial.title}")


STRATEGIES: dict[str, dict[str, type[Any]]] = {}


class SearchStrategy(Strategy):
    """How a search goes on. A class with a ``name`` joins those that searches, the program and the page know."""

    space: ClassVar[str]  # what is searched: "methods" (``EmbeddingSearch``) or "models" (``DEFC``)
    name: ClassVar[str]
    words: ClassVar[str]  # what it tries, for pages and lists of options

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" not in vars(cls):
            return
        known = STRATEGIES.setdefault(cls.space, {})
        if cls.name in known:
            raise ValueError(
                f"a strategy named {cls.name!r} is registered for {cls.space} already; choose another name."
            )
        known[cls.name] = cls


def list_strategies(space: str) -> str:
    """The names of the strategies of a space, each with what it tries."""
    return "; ".join(f'"{name}": {strategy.words}' for name, strategy in STRATEGIES[space].items())
