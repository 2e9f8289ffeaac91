"""What a search and a comparison are asked to do: one typed object each, checked before any work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from importlib.util import find_spec
from numbers import Integral, Real
from typing import Any

ENGINES = ("methods", "defc")
CLASSIFIERS = ("1nn", "flda", "svm")
LEAST_SHUFFLES = 19
GOALS = ("predict", "neighbours", "map", "compress")
NEAR_GOALS = ("neighbours", "map")
TOLERANCE = 0.03
AVERAGE_PRECISION, JACCARD = "macro average precision", "Jaccard@10"


class OptionError(ValueError):
    """An option whose value is not allowed: its name, the value, and the rest of the sentence.

    The program tells the same by the name that the option has there.

    Examples
    --------
    >>> from proxembed.workflow.options import OptionError
    >>> str(OptionError("n_jobs", 0, "must be a number of processes above 0, or -1 for one per core."))
    'n_jobs=0 must be a number of processes above 0, or -1 for one per core.'
    """

    def __init__(self, name: str, value: Any, reason: str):
        super().__init__(f"{name}={value!r} {reason}")
        self.name, self.value, self.reason = name, value, reason


def check_limits(
    n_jobs: int = 1, max_seconds: float | None = None, max_trials: int | None = None, max_work: float | None = None
) -> None:
    """Raise OptionError for limits that leave nothing to run.

    Examples
    --------
    >>> from proxembed.workflow.options import check_limits
    >>> check_limits(max_seconds=0)
    Traceback (most recent call last):
    proxembed.workflow.options.OptionError: max_seconds=0 must be a number of seconds above 0.
    """
    if not _whole(n_jobs) or n_jobs == 0 or n_jobs < -1:
        raise OptionError("n_jobs", n_jobs, "must be a number of processes above 0, or -1 for one per core.")
    if max_seconds is not None and (not isinstance(max_seconds, Real) or not max_seconds > 0):
        raise OptionError("max_seconds", max_seconds, "must be a number of seconds above 0.")
    if max_work is not None and (
        isinstance(max_work, bool) or not isinstance(max_work, Real) or not 0 < max_work <= 1e12
    ):
        raise OptionError("max_work", max_work, "must be a number of units of work above 0.")
    if max_trials is not None:
        check_count("max_trials", max_trials, 1)


def check_count(name: str, value: Any, least: int) -> None:
    """Raise OptionError for what is no whole number of at least ``least``.

    Examples
    --------
    >>> from proxembed.workflow.options import check_count
    >>> check_count("folds", 2.5, 2)
    Traceback (most recent call last):
    proxembed.workflow.options.OptionError: folds=2.5 must be a whole number of at least 2.
    """
    if not _whole(value) or value < least:
        raise OptionError(name, value, f"must be a whole number of at least {least}.")


def check_tolerance(tolerance: Any) -> None:
    """Raise OptionError for what is no share from 0 on and below 1.

    Examples
    --------
    >>> from proxembed.workflow.options import check_tolerance
    >>> check_tolerance(3)
    Traceback (most recent call last):
    proxembed.workflow.options.OptionError: tolerance=3 must be a share of at least 0 and below 1, such as 0.03 for 3 %.
    """
    share = tolerance  # as Any: Real has no order of its own
    if isinstance(tolerance, bool) or not isinstance(tolerance, Real) or not 0 <= share < 1:
        raise OptionError("tolerance", tolerance, "must be a share of at least 0 and below 1, such as 0.03 for 3 %.")


def check_cluster(dask: Any) -> None:
    """Raise OptionError for what names no cluster, and where the library is missing.

    Examples
    --------
    >>> from proxembed.workflow.options import check_cluster
    >>> check_cluster(2)
    Traceback (most recent call last):
    proxembed.workflow.options.OptionError: dask=2 must be 'local' or the address of a scheduler, such as ...
    """
    if dask is None:
        return
    if not isinstance(dask, str) or not (dask == "local" or ":" in dask):
        reason = "must be 'local' or the address of a scheduler, such as tcp://10.0.0.5:8786."
        raise OptionError("dask", dask, reason)
    if find_spec("distributed") is None:
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
        from proxembed.evaluate.arms import split_names

        methods = split_names(methods)
    if not all(isinstance(name, str) for name in methods):
        raise OptionError("methods", methods, 'must be names of methods, such as ("opls", "mddm").')
    return tuple(name.strip() for name in methods)


@dataclass(frozen=True)
class SearchOptions:
    """The options of a search; ``proxembed.search`` explains them.

    Raises
    ------
    OptionError
        A value is not allowed.

    Examples
    --------
    >>> from proxembed.workflow.options import SearchOptions
    >>> SearchOptions(n_components=[5, 2]).n_components
    (2, 5)
    >>> SearchOptions(classifier="1nn")
    Traceback (most recent call last):
    proxembed.workflow.options.OptionError: classifier='1nn' is an option of the engine 'defc'; name that engine, ...
    """

    methods: Any = None  # names; a tuple of them, or None, once it is made
    n_components: Any = None  # sizes, likewise
    engine: str = "methods"
    strategy: str | None = None
    classifier: str | None = None
    max_seconds: float | None = 60.0
    max_trials: int | None = None
    folds: int = 5
    shuffles: int = 20
    seed: int = 0
    n_jobs: int = 1
    measure: Any = AVERAGE_PRECISION
    goal: str | None = None
    tolerance: float = TOLERANCE
    refit_all: bool = False
    max_work: float | None = None
    dask: str | None = None

    def __post_init__(self) -> None:
        check_limits(self.n_jobs, self.max_seconds, self.max_trials, self.max_work)
        check_cluster(self.dask)
        if not isinstance(self.refit_all, bool):
            raise OptionError("refit_all", self.refit_all, "must be True or False.")
        check_tolerance(self.tolerance)
        _check_folds(self)
        check_count("shuffles", self.shuffles, 0)
        if 0 < self.shuffles < LEAST_SHUFFLES:
            reason = f"are too few for a test at the 5 % level; take at least {LEAST_SHUFFLES}, or 0 for no diagnosis."
            raise OptionError("shuffles", self.shuffles, reason)
        if self.measure != AVERAGE_PRECISION:
            check_measure(self.measure)
        object.__setattr__(self, "methods", _methods(self.methods))
        object.__setattr__(self, "n_components", _sizes(self.n_components))
        self._check_goal()
        self._check_engine()

    def _check_goal(self) -> None:
        """A goal has its measure, and a map its size; raise OptionError for others beside it."""
        if self.goal is None:
            return
        if self.goal not in GOALS:
            raise OptionError("goal", self.goal, f"is unknown; choose one of {', '.join(GOALS)}.")
        measured = JACCARD if self.goal in NEAR_GOALS else AVERAGE_PRECISION
        if measured == JACCARD and str(self.measure).startswith("Jaccard@"):
            measured = self.measure
        if self.measure not in (AVERAGE_PRECISION, measured):
            raise OptionError(
                "measure", self.measure, f"is not that of the goal {self.goal!r}; leave one of the two out."
            )
        object.__setattr__(self, "measure", measured)
        if self.goal == "map" and self.n_components not in (None, (2,)):
            raise OptionError("n_components", self.n_components, "is not the size of a map, which is 2; leave it out.")
        if self.goal == "map":
            object.__setattr__(self, "n_components", (2,))

    def _check_engine(self) -> None:
        strategies = () if self.strategy is None else known_strategies(self.engine)
        choices = (("engine", ENGINES), ("strategy", strategies), ("classifier", CLASSIFIERS))
        for name, allowed in choices:
            value = getattr(self, name)
            if value is not None and value not in allowed:
                to = f" to the engine {self.engine!r}" if name == "strategy" else ""
                raise OptionError(name, value, f"is unknown{to}; choose one of {', '.join(allowed)}.")
        if self.strategy == "tpe":
            _check_optuna()
        if self.classifier is not None and self.engine != "defc":
            reason = "is an option of the engine 'defc'; name that engine, or leave it out."
            raise OptionError("classifier", self.classifier, reason)
        if self.engine == "defc" and self.measure != AVERAGE_PRECISION:
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
class CompareOptions:
    """The options of a comparison; ``proxembed.compare`` explains them.

    Raises
    ------
    OptionError
        A value is not allowed.

    Examples
    --------
    >>> from proxembed.workflow.options import CompareOptions
    >>> CompareOptions(methods="opls, mddm").methods
    ('opls', 'mddm')
    """

    methods: Any = None  # names; a tuple of them, or None, once it is made
    n_components: Any = None  # sizes, likewise
    folds: int = 5
    repeats: int = 1
    standard_split: bool = False
    min_positives: int = 1
    max_seconds: float | None = None
    contrasts: Sequence[tuple[str, str]] = ()
    seed: int = 0
    n_jobs: int = -1
    measure: Any = AVERAGE_PRECISION
    tolerance: float = TOLERANCE
    dask: str | None = None

    def __post_init__(self) -> None:
        check_limits(self.n_jobs, self.max_seconds)
        check_cluster(self.dask)
        check_tolerance(self.tolerance)
        _check_folds(self)
        check_count("repeats", self.repeats, 1)
        check_count("min_positives", self.min_positives, 1)
        if self.measure != AVERAGE_PRECISION:
            check_measure(self.measure)
        object.__setattr__(self, "methods", _methods(self.methods))
        object.__setattr__(self, "n_components", _sizes(self.n_components))


def _check_folds(options: SearchOptions | CompareOptions) -> None:
    check_count("folds", options.folds, 2)
    check_count("seed", options.seed, 0)


def check_measure(measure: Any) -> None:
    """Raise OptionError for what is neither a measure nor its name nor a function; loads the measures."""
    from proxembed.evaluate.measures import MEASURES, measure_of

    try:
        measure_of(measure)
    except ValueError as error:
        reason = f"is unknown; use one of {', '.join(MEASURES)}, or in Python a function of (Y, S)."
        raise OptionError("measure", measure, reason) from error


def known_strategies(engine: str) -> tuple[str, ...]:
    """Names of the strategies of an engine; loads them.

    Examples
    --------
    >>> from proxembed.workflow.options import known_strategies
    >>> known_strategies("defc")
    ('reduced8', 'ga', 'random')
    """
    from proxembed.defc.model_strategies import ModelStrategy
    from proxembed.study.method_strategies import MethodStrategy
    from proxembed.study.strategies import STRATEGIES

    return tuple(STRATEGIES[(ModelStrategy if engine == "defc" else MethodStrategy).space])


def where_asked(run: Callable[..., Any]) -> Callable[..., Any]:
    """A function (dataset, options, ...) whose tasks run on the cluster that the options name.

    It runs under the package's own configuration of scikit-learn.

    Raises
    ------
    ValueError
        From that function: no scheduler answers at the address, or it has no workers.

    Examples
    --------
    >>> from proxembed.workflow.options import SearchOptions, where_asked
    >>> where_asked(lambda dataset, options: dataset)("rows", SearchOptions())
    'rows'
    """

    @wraps(run)
    def there(dataset: Any, options: SearchOptions | CompareOptions, *rest: Any, **named: Any) -> Any:
        from joblib import effective_n_jobs

        from proxembed.execute.configuration import own_configuration
        from proxembed.sources.cluster import on_cluster

        n_workers = effective_n_jobs(-1 if options.n_jobs == 1 else options.n_jobs)
        with on_cluster(options.dask, n_workers), own_configuration():
            return run(dataset, options, *rest, **named)

    return there


def call_text(function: str, data: str, options: SearchOptions | CompareOptions) -> str:
    """The call that repeats a run, with the options that are not at their defaults.

    Examples
    --------
    >>> from proxembed.workflow.options import SearchOptions, call_text
    >>> call_text("search", "X, y", SearchOptions(seed=3))
    'proxembed.search(X, y, seed=3)'
    """
    values = {each.name: getattr(options, each.name) for each in fields(options)}
    changed = [f"{each.name}={values[each.name]!r}" for each in fields(options) if values[each.name] != each.default]
    return f"proxembed.{function}({', '.join([data, *changed])})"
