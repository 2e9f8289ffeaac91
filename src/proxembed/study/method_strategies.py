"""The strategies of a search of methods: races, models that learn from the trials, and draws at random.

Nothing is begun that would leave no time for the last fit: what a fit will cost is forecast from earlier ones.
"""

import json
import math
from collections.abc import Collection, Iterator
from statistics import median
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from proxembed.estimator.catalogue import settings
from proxembed.evaluate.arms import MAP_SIZE
from proxembed.evaluate.costs import machine_speed
from proxembed.execute.loop import Work
from proxembed.methods.layout import Layout

from .candidates import FOR_MAPS, Candidate, Draws, plain_name, winners
from .optuna_study import imported, optuna_installed, tpe_proposal
from .trials import FINALISTS, KEEP, MethodTrial, Rung, SearchStrategy, Study, best_trial, finalists

WIDTH = 9
TOGETHER = 3  # proposals of a model before it learns what they gave
STOP = 2.0  # standard errors behind the best, from which a configuration is dropped
FAVOURITES = 3
TRIES = 50
GROWTH = 2.0
SLACK = 1.25
FINAL_SHARE = 0.4  # of the budget, at most, for the folds on which the choice is made
LAID_OUT = 3  # methods that are tried as maps: anchors, and at least one other
WEIGHTS = (None, 0.5, 0.0)  # of the features beside the components on a map; None: 1, or 0 without labels

Batches = Iterator[list[Work]]


def cost(study: Study, t: MethodTrial, rows: int) -> float:
    """Forecast seconds of a fit of this trial on ``rows`` rows, from earlier fits of it or of others."""
    known = {m: max(_seconds_on(t, m)) for m in {m for m, _ in t.outcomes}}
    if not known:
        same = [seconds for other in study.trials if other.title == t.title for seconds in _seconds_on(other, rows)]
        any_method = [seconds for other in study.trials for seconds in _seconds_on(other, rows)]
        return max(same) if same else median(any_method or [0.0])
    if rows in known:
        return known[rows]
    *earlier, last = sorted(known)
    power = GROWTH
    if earlier and known[earlier[-1]] > 0:
        power = math.log(known[last] / known[earlier[-1]]) / math.log(last / earlier[-1])
    return known[last] * (rows / last) ** min(max(power, 1.0), 3.0)


def _seconds_on(t: MethodTrial, rows: int) -> list[float]:
    """Seconds of the fits of a trial on this many rows."""
    return [outcome.seconds for (m, _), outcome in t.outcomes.items() if m == rows]


def reserve(study: Study, t: MethodTrial | None) -> float:
    """Seconds to keep for the last fit, on all rows."""
    return 0.0 if t is None else SLACK * cost(study, t, study.evaluator.full)


def remaining_cost(study: Study, t: MethodTrial, rung: Rung, begun: Collection[int] = ()) -> float:
    """Forecast cost of the fits that a trial lacks at a rung, except on folds ``begun``: units of work if these are
    counted, else seconds."""
    missing = [step for step in rung.steps if step not in t.outcomes and step[1] not in begun]
    if study.work < math.inf:
        return sum(study.forecast(t, step) for step in missing)
    return cost(study, t, rung.rows) * len(missing)


def affordable(study: Study, t: MethodTrial, rung: Rung, left: float, begun: Collection[int] = ()) -> bool:
    """Whether ``left`` covers the rung and, if in seconds, the last fit (on all rows also that of this trial)."""
    if left == math.inf:
        return True
    lacking = remaining_cost(study, t, rung, begun)
    if study.work < math.inf:
        return left >= lacking
    last = reserve(study, best_trial(study.trials))
    return left >= lacking + (max(last, reserve(study, t)) if rung.rows >= t.rungs[-1].rows else last)


def final_share(study: Study) -> float:
    """Work or seconds that a race reserves for the maps, and for the final folds at most 40 % of the budget: forecast
    for as many trials as will come there, from the cost of the present finalists. Nothing for final folds if this share
    does not suffice for the leader of the race."""
    whole = study.work if study.work < math.inf else study.seconds
    entrants = finalists(study.trials)
    if whole == math.inf or not entrants:
        return 0.0
    maps, final, needed = map_share(study), study.evaluator.final, 0.0
    if final not in study.evaluator.rungs and remaining_cost(study, entrants[0], final) <= FINAL_SHARE * whole:
        needed = sum(remaining_cost(study, t, final) for t in entrants) * FINALISTS / len(entrants)
    return maps + min(FINAL_SHARE * whole, needed)


def map_share(study: Study) -> float:
    """Forecast cost of the maps of the present candidates at all weights of the features (units of work if these are
    counted, else seconds)."""
    evaluator = study.evaluator
    maps = layouts_of_best(study) if evaluator.layouts else []
    work = sum(evaluator.work(layout, step) for layout in maps for step in evaluator.final.steps)
    return work if study.work < math.inf else work / machine_speed()


def layouts_of_best(study: Study) -> list[Layout]:
    """Layouts of the anchors that are tried as maps, and of the best of other methods, at each weight of the features:
    all of them at the first weight, then at the others."""
    evaluator = study.evaluator
    usable = [t for t in study.trials if not t.failure and not isinstance(t.config, Layout)]
    names = {name: [t for t in usable if plain_name(t.config) == name][:1] for name in FOR_MAPS}
    anchors = [t for found in names.values() for t in found]
    others = [t for t in best_of_families(study) if t not in anchors]
    found = []
    for t in [*anchors, *others[: max(1, LAID_OUT - len(anchors))]]:
        size = t.best(t.furthest)[1] if t.config.traits.labels is None else None
        if size is None or size > MAP_SIZE:
            found.append(clone(t.config).set_params(n_components=size))
    return [
        Layout(clone(method), features=weight)
        for weight in WEIGHTS[: None if evaluator.budget is None else evaluator.budget.weights]
        for method in found
        if weight is None or method.traits.labels is not None
    ]


def best_of_families(study: Study) -> list[MethodTrial]:
    """The finalists that are not layouts, the best of each method, the best of all first."""
    final = study.evaluator.final
    families: dict[str, MethodTrial] = {}
    known = [t for t in finalists(study.trials) if not isinstance(t.config, Layout)]
    for t in sorted(known, key=lambda t: (t.has(final), t.best(final)[0]), reverse=True):
        families.setdefault(t.title, t)
    return list(families.values())


class MethodStrategy(SearchStrategy):
    """What strategies for methods share: the first candidates, the rungs, the draws."""

    space = "methods"

    def __init__(self, first: tuple[Candidate, ...], pool: tuple[Candidate, ...]):
        self.first, self.pool = first, pool

    def batches(self, study: Study) -> Batches:
        """The first candidates on every rung, then what ``after`` asks for, then the best of all on the final folds."""
        budget = study.evaluator.budget
        planned = None if budget is None else budget.anchors
        for number, candidate in enumerate(self.first[: study.max_trials]):
            keep = final_share(study) if planned is not None and number >= len(planned) else 0.0
            form = candidate.default() if number == 0 else self.form(study, candidate.default(), keep)
            if opening := self.entered(study, form):
                yield from self.opened(study, opening, number == 0, keep)
        if budget is None or budget.draws:
            yield from self.after(study)
        yield from self.final(study)

    def form(self, study: Study, estimator: Any, keep: float) -> Any:
        """A first candidate, or, where work is counted and it is too dear, the first of its lighter forms that is not;
        the candidate where all are."""
        if study.work == math.inf:
            return estimator
        for each in study.evaluator.forms(estimator):
            fresh = study.evaluator.trial(clone(each), study.seed)
            left = study.work_left - keep
            if study.evaluator.permits(fresh.config) and affordable(study, fresh, study.evaluator.rungs[-1], left):
                return each
        return estimator

    def opened(self, study: Study, opening: MethodTrial, owed: bool, keep: float = 0.0) -> Batches:
        """A first candidate: where work is counted, on all rows of every fold if its forecast fits, ``keep`` left over;
        else on every rung, the first of which tells what the others take."""
        if study.work == math.inf:
            for rung in study.evaluator.rungs:
                fits = bool(opening.outcomes) and affordable(study, opening, rung, study.seconds)
                yield from self.rung(study, [opening], rung, owed or fits)
        elif owed or affordable(study, opening, study.evaluator.rungs[-1], study.work_left - keep):
            for rung in study.evaluator.rungs[-2:]:  # one fold, then all
                yield from self.rung(study, [opening], rung, True)

    def after(self, study: Study) -> Batches:
        """The batches after the first candidates."""
        raise TypeError(f"{type(self).__name__} must define after(study).")

    def final(self, study: Study) -> Batches:
        """The best trials on the final folds, if these differ from the folds of the race; then, if maps are requested,
        layouts of the best trials."""
        entrants, least, final = finalists(study.trials), 1 if study.evaluator.layouts else 2, study.evaluator.final
        if final not in study.evaluator.rungs and len(entrants) >= least:
            left = (study.left if study.work == math.inf else study.work_left) - map_share(study)
            if affordable(study, entrants[0], final, left):
                yield from self.rung(study, entrants, final, keep=map_share(study))
        if study.evaluator.layouts:
            yield from self.maps(study)

    def maps(self, study: Study) -> Batches:
        """Layouts of the best trials on the final folds; at further weights those that were laid out at the first."""
        final, laid_out = study.evaluator.final, set()
        for layout in layouts_of_best(study):
            method = plain_name(layout.method)
            if layout.features is not None and method not in laid_out:
                continue
            if entered := self.entered(study, layout):
                yield from self.rung(study, [entered], final)
                if entered.has(final):
                    laid_out.add(method)

    def entered(self, study: Study, estimator: Any, proposal: Any = None) -> MethodTrial | None:
        """A new trial of the study, or None where the same configuration was tried already."""
        fresh = study.evaluator.trial(estimator, study.seed)
        fresh.proposal = proposal
        key = json.dumps([fresh.title, settings(estimator)], sort_keys=True, default=repr)
        if key in study.entered or (study.entered and not study.evaluator.permits(fresh.config)):
            return None
        study.entered[key] = fresh
        return fresh

    def drawn(self, study: Study, favourites: tuple[Candidate, ...]) -> list[MethodTrial]:
        """Up to nine new configurations, as the budget of trials allows: half of them of the favourites, if any."""
        number = min(study.trials_left, WIDTH)
        found: list[MethodTrial] = []
        for attempt in range(TRIES * int(number)):
            draws = Draws(study.generator(len(study.entered), attempt))
            among = favourites if favourites and draws.chance("favourites") else self.pool
            fresh = self.entered(study, draws.choice("family", among).sample(draws))
            if fresh is not None:
                found.append(fresh)
            if len(found) == number:
                break
        return found

    def proposed(self, study: Study, width: int = TOGETHER) -> list[MethodTrial]:
        """Up to three new configurations that TPE proposes, as the budget of trials allows."""
        number = min(study.trials_left, width)
        found: list[MethodTrial] = []
        for attempt in range(TRIES):
            if len(found) == number:
                break
            estimator, proposal = tpe_proposal(study, self.pool, attempt)
            fresh = self.entered(study, estimator, proposal)
            found += [] if fresh is None else [fresh]
        return found

    def rung(
        self, study: Study, trials: list[MethodTrial], rung: Rung, owed: bool = False, keep: float = 0.0
    ) -> Batches:
        """The fits that the trials lack at one rung, one per worker at a time, as far as the budget allows; ``keep`` of
        it is left for what comes later."""
        waiting = [(t, step) for t in trials for step in rung.steps if step not in t.outcomes]
        while waiting:
            batch, waiting = waiting[: study.executor.n_jobs], waiting[study.executor.n_jobs :]
            batch = batch if owed else self._affordable(study, batch, rung, keep)
            if work := [_fit(study, t, step, owed) for t, step in batch if not t.failure]:
                yield work

    def _affordable(self, study: Study, batch: list[Any], rung: Rung, keep: float) -> list[Any]:
        """The fits of a batch that the budget still has, one after the other."""
        if study.work == math.inf:
            return [pair for pair in batch if affordable(study, pair[0], rung, study.left - keep)]
        taken: list[Any] = []
        left = study.work_left - keep if study.left > 0 else 0.0
        for t, step in batch:
            if affordable(study, t, rung, left, [other[1] for each, other in taken if each is t]):
                taken.append((t, step))
                left -= study.forecast(t, step)
        return taken


def _fit(study: Study, t: MethodTrial, step: tuple[int, int], owed: bool) -> Work:
    bound = study.seconds < math.inf and not owed
    reserved = reserve(study, best_trial(study.trials)) if study.work == math.inf else 0.0
    limit = study.left - reserved if bound else None
    same = [o for other in study.trials if other.title == t.title for o in other.outcomes.values()]
    return Work(t, [step], owed, {"bounded": any(o.bounded and not o.failure for o in same), "limit": limit})


class Halving(MethodStrategy):
    """Successive halving: every method with its defaults, then drawn configurations, half of them of the methods that
    did best so far. All are scored on few rows and one fold, and the best third of them on more."""

    name = "halving"
    words = "every method, then drawn configurations, with many rows on few of them first"

    def after(self, study: Study) -> Batches:
        """The races."""
        pool = self.pool
        order = study.generator().permutation(len(pool))[: int(min(study.trials_left, len(pool)))]
        defaults = [self.entered(study, pool[i].default()) for i in order]
        yield from self.race(study, [t for t in defaults if t is not None])
        while not study.perfect and (trials := self.drawn(study, self.favourites(study))):
            before = len(study.outcomes)
            yield from self.race(study, trials)
            if len(study.outcomes) == before:
                break

    def favourites(self, study: Study) -> tuple[Candidate, ...]:
        """The candidates whose methods did best so far; all where there are none."""
        ranked = sorted((t for t in study.trials if t.complete), key=lambda t: -t.score)
        makers = ([candidate for candidate in self.pool if candidate.makes(t.config)] for t in ranked)
        groups = list(dict.fromkeys(tuple(group) for group in makers if group))[:FAVOURITES]
        return tuple(dict.fromkeys(candidate for group in groups for candidate in group)) or self.pool

    def race(self, study: Study, trials: list[MethodTrial], keep: float = 0.0) -> Batches:
        """Score the trials rung by rung; the best third of each rung goes on. If work is counted, every rung gets an
        equal share of what the race may spend; ``keep`` is left over."""
        rungs = study.evaluator.rungs
        for number, rung in enumerate(rungs):
            own = keep + final_share(study)
            later = len(rungs) - number - 1
            yield from self.climbed(study, trials, rung, own + _later_share(study, own, later))
            trials = [t for t in trials if t.has(rung)]
            trials.sort(key=lambda t: -t.best(rung)[0])
            if later:
                trials = trials[: math.ceil(len(trials) / KEEP)]

    def climbed(self, study: Study, trials: list[MethodTrial], rung: Rung, keep: float) -> Batches:
        """All trials on all folds of a rung."""
        yield from self.rung(study, trials, rung, keep=keep)


def _later_share(study: Study, keep: float, later: int) -> float:
    """Counted work for ``later`` further steps, if each gets as much as this one and ``keep`` is left over."""
    return max(study.work_left - keep, 0.0) * later / (later + 1) if study.work < math.inf else 0.0


class RandomMethods(MethodStrategy):
    """The baseline: configurations drawn from all methods alike, each scored on all rows of all folds."""

    name = "random"
    words = "drawn configurations, each on all rows of all folds"

    def after(self, study: Study) -> Batches:
        """The draws, nine at a time."""
        while not study.perfect and (trials := self.drawn(study, ())):
            before = len(study.outcomes)
            yield from self.rung(study, trials, study.evaluator.rungs[-1], keep=final_share(study))
            if len(study.outcomes) == before:
                break


class ProposedMethods(MethodStrategy):
    """Configurations that optuna's TPE proposes after the earlier ones, each on all rows of all folds."""

    name = "tpe"
    words = "proposals of optuna, each on all rows of all folds"

    def __init__(self, first: tuple[Candidate, ...], pool: tuple[Candidate, ...]):
        imported('strategy="tpe"')
        super().__init__(first, pool)

    def after(self, study: Study) -> Batches:
        """The proposals, three at a time."""
        while not study.perfect and (trials := self.proposed(study)):
            before = len(study.outcomes)
            yield from self.rung(study, trials, study.evaluator.rungs[-1], keep=final_share(study))
            if len(study.outcomes) == before:
                break


class Auto(Halving):
    """Configurations that won on data sets of similar sizes (``portfolio``), then every method with its defaults, the
    cheap ones first; both together get half of the counted work of the race. Then in turn proposals of TPE (if optuna
    is installed) and draws from the methods that did best so far. All race over rows and over folds; a configuration
    that is clearly behind the best on the folds so far is dropped."""

    name = "auto"
    words = (
        "configurations that won on data sets of similar sizes, then every method, then in turn proposals of optuna "
        "(if it is installed) and draws, with many rows on few of them first; what is clearly behind is dropped"
    )

    without: ClassVar[tuple[str, ...]] = ()

    def after(self, study: Study) -> Batches:
        """The races."""
        half = max(study.work_left - final_share(study), 0.0) / 2 if study.work < math.inf else 0.0
        warm = self.warm(study)
        yield from self.race(study, warm, keep=half)
        if not study.perfect:
            yield from self.race(study, self.defaults(study), keep=half)
        if not study.perfect:  # those that the half had no work for
            yield from self.race(study, [t for t in warm if not t.outcomes])
        by_model = optuna_installed()
        while not study.perfect and (trials := self.proposed(study) if by_model else self.near_best(study)):
            before = len(study.outcomes)
            yield from self.race(study, trials)
            if len(study.outcomes) == before:
                break
            by_model = optuna_installed() and not by_model

    def warm(self, study: Study) -> list[MethodTrial]:
        """The winners on like sets, of those methods that are searched."""
        evaluator = study.evaluator
        neighbors = evaluator.measure.goal == "neighbours"
        known = winners(evaluator.folds.shape(0)[0], neighbors, self.without)
        fitting = [config for config in known if any(candidate.covers(config) for candidate in self.pool)]
        made = (self.entered(study, config) for config in fitting[: int(min(study.trials_left, len(fitting)))])
        return [t for t in made if t is not None]

    def defaults(self, study: Study) -> list[MethodTrial]:
        """Every method in default construction, in the order of their forecast work."""
        made = (self.entered(study, candidate.default()) for candidate in self._cheap_first(study))
        return [t for t in made if t is not None]

    def _cheap_first(self, study: Study) -> list[Candidate]:
        step = study.evaluator.rungs[0].steps[0]
        ranked = sorted(self.pool, key=lambda candidate: study.evaluator.work(candidate.default(), step))
        return ranked[: int(min(study.trials_left, len(ranked)))]

    def near_best(self, study: Study) -> list[MethodTrial]:
        """Draws, half of them from the methods that did best so far."""
        return self.drawn(study, self.favourites(study))

    def climbed(self, study: Study, trials: list[MethodTrial], rung: Rung, keep: float) -> Batches:
        """The folds of a rung one after the other, each with those trials that are not clearly behind the best."""
        for number in range(len(rung.folds)):
            part, later = Rung(rung.rows, rung.folds[: number + 1]), len(rung.folds) - number - 1
            yield from self.rung(study, trials, part, keep=keep + _later_share(study, keep, later))
            trials = [t for t in trials if t.has(part) and not behind(study, t, part)]
            trials.sort(key=lambda t: -t.best(part)[0])


def behind(study: Study, t: MethodTrial, part: Rung) -> bool:
    """Whether a trial trails the best complete one by more than two standard errors on the folds so far."""
    last = study.evaluator.rungs[-1]
    complete = [other for other in study.trials if other.complete and other is not t]
    if part.rows != last.rows or len(part.folds) < 2 or len(complete) < 2:
        return False
    best = max(complete, key=lambda other: other.score)
    mark = np.array(best.by_fold(last, best.best(last)[1]))
    gaps = [mark - other.by_fold(last, other.best(last)[1]) for other in complete if other is not best]
    own = mark[: len(part.folds)] - t.by_fold(part, t.best(part)[1])
    if not (np.isfinite(own).all() and all(np.isfinite(gap).all() for gap in gaps)):  # a fold without a measure
        return False
    spread = median(float(gap.std(ddof=1)) for gap in gaps)
    return bool(own.mean() > STOP * spread / math.sqrt(len(own)))
