"""What a search and a comparison are asked to do: one typed object each, checked before any work.

Each option is declared once, as a `param()`. ``make options`` writes the signatures of ``search`` and ``compare``,
their Parameters and the options of the program from here.
"""

from __future__ import annotations  # their text stands in the generated signatures

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from importlib.util import find_spec
from numbers import Integral
from pathlib import Path
from typing import Any, Self

import numpy as np

from proxembed.params import declared, param, safe_repr

TRIED, TIME, JUDGED = "What is tried", "How long it takes", "How it is judged"  # groups of options in the help
CLASSIFIERS = ("1nn", "flda", "svm")
LEAST_SHUFFLES = 19
NEAR_GOALS = ("neighbours", "map")
NEAR_MEASURES = ("Jaccard@", "A@")
PREDICT_MEASURES = ("macro average precision", "Q2")


WORK: dict[str, Any] = {"default": None, "choices": (None,), "above": 0, "high": 1e12, "panel": TIME}


class OptionError(ValueError):
    """An option whose value is not allowed: its name, the value, and the rest of the sentence."""

    def __init__(self, name: str, value: Any, reason: str):
        super().__init__(f"{name}={safe_repr(value)} {reason}")
        self.name, self.value, self.reason = name, value, reason


def check_option(options: type, name: str, value: Any) -> None:
    """Raise OptionError if the declaration of an option does not permit the value."""
    spec = declared(options)[name][1]
    if not spec.permits(value):
        raise OptionError(name, value, f"{spec.fault(value)}.")


def check_cluster(dask: Any) -> None:
    """Raise OptionError for what names no cluster, and if the library is missing."""
    check_option(RunOptions, "dask", dask)
    if dask is not None and find_spec("distributed") is None:
        raise OptionError("dask", dask, "needs dask, which is not installed: pip install 'proxembed[dask]'.")


def _whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _sizes(n_components: Any) -> tuple[int, ...] | None:
    """Sizes in ascending order, each once."""
    if n_components is None:
        return None
    if _whole(n_components):
        n_components = (n_components,)
    if not isinstance(n_components, Sequence) or isinstance(n_components, str) or not all(map(_whole, n_components)):
        reason = "must be a whole number or several, such as (2, 5, 10)."
        raise OptionError("n_components", n_components, reason)
    sizes = tuple(sorted({int(k) for k in n_components}))
    if not sizes or sizes[0] < 1:
        reason = f"holds {sizes[0] if sizes else 'none'}; each number of components must be at least 1."
        raise OptionError("n_components", n_components, reason)
    return sizes


def _methods(methods: Any) -> tuple[str, ...] | None:
    if methods is None:
        return None
    if isinstance(methods, str):
        from proxembed.estimator.catalogue import split_names

        methods = split_names(methods)
    if not all(isinstance(name, str) for name in methods):
        raise OptionError("methods", methods, 'must be names of methods, such as ("opls", "mddm").')
    return tuple(name.strip() for name in methods)


@dataclass(frozen=True)
class RunOptions:
    """The options that a search and a comparison share."""

    methods: tuple[str, ...] | None = param(
        default=None,
        choices=(None,),
        words="names of methods",
        takes="Sequence[str] | str | None",
        panel=TRIED,
        flags=("--methods", "-m"),
        metavar="NAME,...",
        doc='Names of methods and models, or "all"; rivals are always compared. None: a search takes all, a comparison '
        "a few that suit the data.",
    )
    n_components: tuple[int, ...] | None = param(
        default=None,
        choices=(None,),
        words="an integer or several",
        takes="int | Sequence[int] | None",
        panel=TRIED,
        flags=("-k",),
        metavar="2,5,10",
        doc="Numbers of components. None: 2, 5, 10, ... up to the number of labels (at least 10).",
    )
    folds: int = param(
        default=5,
        low=2,
        integer=True,
        panel=JUDGED,
        doc="Number of folds of the comparison: stratified, or by ``groups`` or ``time``.",
    )
    seed: int = param(default=0, low=0, integer=True, doc="Seed of all that is drawn: folds, search, shuffles, rivals.")
    n_jobs: int = param(
        default=1,
        choices=(-1,),
        low=1,
        integer=True,
        panel=TIME,
        flags=("--jobs", "-j"),
        doc="Processes; 1 leaves all cores to each fit, -1 is one per core.",
    )
    measure: str | Callable[..., Any] | None = param(
        default=None,
        choices=(None,),
        words="the name of a measure or a function (Y, S) -> float",
        panel=JUDGED,
        metavar="NAME",
        doc="Measure that decides: {measures}; in Python also a function of held-out labels and their scores (or "
        "numbers and their predictions), larger is better. None: macro average precision of labels, Q2 of numbers.",
    )
    tolerance: float = param(
        default=0.03,
        low=0,
        below=1,
        panel=JUDGED,
        doc="Loss that counts as level, as a share of what all features gain over a constant prediction, and at most "
        "twice that share of what they miss.",
    )
    dask: str | None = param(
        default=None,
        choices=(None, "local"),
        words="the address of a scheduler, such as tcp://10.0.0.5:8786",
        test=lambda value: isinstance(value, str) and ":" in value,
        panel=TIME,
        metavar="local|ADDRESS",
        doc='Cluster for the fits: "local" for ``n_jobs`` local workers (1 means one per core), or the address of a '
        "dask scheduler, all of whose workers are used. If a worker dies, another repeats its fits.",
    )

    def __post_init__(self) -> None:
        for name in declared(type(self)):
            check_option(type(self), name, getattr(self, name))
        check_cluster(self.dask)
        if self.measure is not None:
            check_measure(self.measure)
        object.__setattr__(self, "methods", _methods(self.methods))
        object.__setattr__(self, "n_components", _sizes(self.n_components))

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """The options among the arguments of a function."""
        return cls(**{name: given[name] for name in declared(cls) if name in given})


@dataclass(frozen=True)
class SearchOptions(RunOptions):
    """The options of a search."""

    engine: str = param(
        default="methods",
        choices=("methods", "defc"),
        panel=TRIED,
        doc='Search among the methods, or with "defc" among the switches of the adaptive model.',
    )
    strategy: str | None = param(
        default=None,
        words="the name of a strategy",
        panel=TRIED,
        metavar="NAME",
        doc='Name of the search strategy. {methods}. Of the engine "defc": {models}. "ga" makes 4,000 trials unless '
        '``max_trials`` is given; allow minutes with ``max_seconds``. None: "auto", or "reduced8".',
    )
    classifier: str | None = param(
        default=None, choices=(None, *CLASSIFIERS), panel=TRIED, doc='Classifier of the engine "defc". None: "1nn".'
    )
    max_seconds: float | None = param(
        default=60.0,
        choices=(None, math.inf),
        above=0,
        panel=TIME,
        doc="Time limit of the whole job; what is cut for it is reported. None: no limit.",
    )
    max_trials: int | None = param(
        default=None,
        choices=(None,),
        low=1,
        integer=True,
        panel=TIME,
        doc="Largest number of configurations; makes the search repeatable.",
    )
    max_work: float | None = param(
        **WORK,
        doc="Budget in units of work instead of seconds, predicted from the sizes of the data, so that two runs do the "
        "same work under any load of the machine.",
    )
    shuffles: int = param(
        default=20,
        low=0,
        integer=True,
        panel=JUDGED,
        doc="Number of label shuffles in the diagnosis, at least 19; 0 for no diagnosis.",
    )
    goal: str | None = param(
        default=None,
        choices=(None, "predict", "neighbours", "map", "compress"),
        panel=JUDGED,
        doc='Goal of the embedding, which sets the measure (for neighbours and maps "Jaccard@10", of numbers "A@10") '
        "and the choice; the verdict covers all four. None: a search for predictions.",
    )
    embedding: bool = param(
        default=False,
        kind=bool,
        panel=JUDGED,
        doc="Whether the saved model is the best embedding also where the goal is to predict and the verdict is that "
        "another model, such as logistic regression, predicts better, which is saved otherwise.",
    )
    refit_all: bool = param(default=False, kind=bool, doc="Whether the last fit also uses the test rows of ``test``.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if 0 < self.shuffles < LEAST_SHUFFLES:
            reason = f"are too few for a test at the 5 % level; take at least {LEAST_SHUFFLES}, or 0 for no diagnosis."
            raise OptionError("shuffles", self.shuffles, reason)
        self._check_goal()
        self._check_engine()

    def _check_goal(self) -> None:
        """A goal has its measure, and a map its size; raise OptionError for others beside it."""
        if self.goal is None:
            return
        near = self.goal in NEAR_GOALS
        fits = str(self.measure).startswith(NEAR_MEASURES) if near else self.measure in PREDICT_MEASURES
        if self.measure is not None and not fits:
            raise OptionError(
                "measure", self.measure, f"is not that of the goal {self.goal!r}; leave one of the two out."
            )
        if self.goal == "map" and self.n_components not in (None, (2,)):
            raise OptionError("n_components", self.n_components, "is not the size of a map, which is 2; leave it out.")
        if self.goal == "map":
            object.__setattr__(self, "n_components", (2,))

    def _check_engine(self) -> None:
        strategies = () if self.strategy is None else known_strategies(self.engine)
        if self.strategy is not None and self.strategy not in strategies:
            reason = f"is unknown to the engine {self.engine!r}; choose one of {', '.join(strategies)}."
            raise OptionError("strategy", self.strategy, reason)
        if self.strategy == "tpe":
            _check_optuna()
        if self.classifier is not None and self.engine != "defc":
            reason = "is an option of the engine 'defc'; name that engine, or leave it out."
            raise OptionError("classifier", self.classifier, reason)
        if self.engine == "defc" and self.measure not in (None, PREDICT_MEASURES[0]):
            reason = "is the measure of a search of methods; the engine 'defc' has its own, leave one of the two out."
            raise OptionError("measure", self.measure, reason)
        if self.engine == "defc" and self.max_work is not None:
            reason = "is a budget of a search of methods; bound the engine 'defc' by max_trials or max_seconds."
            raise OptionError("max_work", self.max_work, reason)
        if self.engine == "defc" and self.methods is not None:
            reason = "names methods, but the engine 'defc' makes its own; leave one of the two out."
            raise OptionError("methods", self.methods, reason)


def _check_optuna() -> None:
    """Raise OptionError where the library of the strategy is missing."""
    from proxembed.study.optuna_study import REMEDY, optuna_installed

    if not optuna_installed():
        raise OptionError("strategy", "tpe", f"needs optuna, which is not installed: {REMEDY}, or take 'auto'.")


@dataclass(frozen=True)
class CompareOptions(RunOptions):
    """The options of a comparison."""

    repeats: int = param(
        default=1, low=1, integer=True, panel=JUDGED, doc="Number of repetitions, each with other folds."
    )
    standard_split: bool = param(
        default=False, kind=bool, panel=JUDGED, doc="Also score the test rows that the data name, once."
    )
    min_positives: int = param(
        default=1, low=1, integer=True, panel=JUDGED, doc="Positive held-out rows that a label needs to be scored."
    )
    max_seconds: float | None = param(
        default=None,
        choices=(None, math.inf),
        above=0,
        panel=TIME,
        doc="Time limit of the comparison: rivals whose forecasts do not fit in are left out, and so are folds after "
        "the third that would begin later; a method that exceeds it on one fold has lost there. None: no limit.",
    )
    max_work: float | None = param(
        **WORK,
        doc="Budget in units of work instead of seconds: rivals whose forecasts do not fit in are left out, the least "
        "important first.",
    )
    contrasts: Sequence[tuple[str, str]] = param(
        default=(),
        words="pairs of names",
        panel=JUDGED,
        flags=("--contrast",),
        metavar="A:B",
        doc='Methods or rivals to test against each other in pairs, such as OPLS and PCA; "best method", "best rival" '
        'and "raw" (all features) are allowed, too.',
    )


@dataclass(frozen=True)
class BudgetOptions:
    """The budget of one fit, one diagnosis or one map."""

    max_seconds: float | None = param(
        default=None,
        choices=(None, math.inf),
        above=0,
        panel=TIME,
        doc="Time limit, by a forecast from the sizes of the data: a diagnosis or a map above it is cut, a fit above "
        "it is refused. None: no limit.",
    )
    max_work: float | None = param(**WORK, doc="The same in units of work, for any load of the machine.")

    def __post_init__(self) -> None:
        for name in declared(type(self)):
            check_option(type(self), name, getattr(self, name))


@dataclass(frozen=True)
class DiagnoseOptions:
    """The options of a diagnosis that only the program has, or names so."""

    shuffles: int = param(
        default=20, low=1, integer=True, panel=JUDGED, doc="Number of shuffles of the labels; a verdict needs 19."
    )
    halves: int = param(
        default=10, low=1, integer=True, panel=JUDGED, doc="Number of random halves of the rows, for the stability."
    )
    per_component: bool = param(
        default=False,
        kind=bool,
        panel=JUDGED,
        doc="Also test each component of opls, cca or pls, given the earlier ones.",
    )
    covariates: Sequence[str] = param(
        default=(),
        words="names or globs",
        panel=JUDGED,
        metavar="COLUMN,...",
        doc="Columns of the table that ``per_component`` takes off features and labels, and that are not features: "
        "numbers by regression, texts and ``category`` columns by their levels, inside which rows are shuffled.",
    )


def check_measure(measure: Any) -> None:
    """Raise OptionError for what is neither a measure nor its name nor a function; loads the measures."""
    from proxembed.measures.measures import MEASURES, measure_of

    try:
        measure_of(measure)
    except ValueError as error:
        reason = f"is unknown; use one of {', '.join(MEASURES)}, or in Python a function of (Y, S)."
        raise OptionError("measure", measure, reason) from error


def measured_by(options: RunOptions, dataset: Any, train: Any) -> Any:
    """The measure that decides for a data set with these training rows; an OptionError for one of other targets."""
    from proxembed.measures.measures import measure_for, measures_of_kind, neighbors_of

    numbers, measure = dataset.outputs is not None, options.measure
    if measure is None and getattr(options, "goal", None) in NEAR_GOALS:
        return measures_of_kind(numbers).near.format(neighbors_of(dataset, train))
    try:
        found = measure_for(measure, numbers)
    except ValueError as error:
        raise OptionError("measure", measure, f"does not suit y: {error}") from error
    return found.name if isinstance(measure, str | None) else measure


def known_strategies(engine: str) -> tuple[str, ...]:
    """Names of the strategies of an engine; loads them."""
    from proxembed.study.defc.model_strategies import ModelStrategy
    from proxembed.study.method_strategies import MethodStrategy
    from proxembed.study.trials import STRATEGIES

    return tuple(STRATEGIES[(ModelStrategy if engine == "defc" else MethodStrategy).space])


def on_requested_cluster(run: Callable[..., Any]) -> Callable[..., Any]:
    """A function (dataset, options, ...) whose tasks run on the cluster of the options, under our configuration."""

    @wraps(run)
    def there(dataset: Any, options: RunOptions, *rest: Any, **named: Any) -> Any:
        from joblib import effective_n_jobs

        from proxembed.blocks.cluster import on_cluster
        from proxembed.execute.executor import own_configuration

        n_workers = effective_n_jobs(-1 if options.n_jobs == 1 else options.n_jobs)
        with on_cluster(options.dask, n_workers), own_configuration():
            return run(dataset, options, *rest, **named)

    return there


def call_text(function: str, data: str, options: RunOptions) -> str:
    """The call that repeats a run, with the options that are not at their defaults."""
    values = {each.name: getattr(options, each.name) for each in fields(options)}
    changed = {each.name: values[each.name] for each in fields(options) if values[each.name] != each.default}
    return f"proxembed.{function}({', '.join([data, *argument_texts(changed)])})"


def argument_texts(values: Mapping[str, Any]) -> list[str]:
    """Arguments as a call writes them: plain values as they are, all others (arrays, frames, functions) by a name."""
    return [f"{name}={_literal(value) or name}" for name, value in values.items()]


def _literal(value: Any) -> str | None:
    """The expression of a text, a number, True, False, None, or a list or tuple of these; None for other values."""
    if isinstance(value, list | tuple):
        parts = [_literal(each) for each in value]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        return f"[{', '.join(known)}]" if isinstance(value, list) else f"({', '.join(known)}{',' * (len(known) == 1)})"
    value = value.item() if isinstance(value, np.generic) else str(value) if isinstance(value, Path) else value
    if isinstance(value, float) and not math.isfinite(value):
        return f"float('{value}')"
    return repr(value) if value is None or isinstance(value, str | int | float) else None
