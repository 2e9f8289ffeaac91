"""EmbeddingSearch: the search as a scikit-learn estimator, and what it shares with DEFC."""

import math
from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import version
from inspect import signature
from numbers import Integral
from os import PathLike
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils import RegressorTags
from sklearn.utils.validation import check_is_fitted

from proxembed.classify.label_classifier import ExactMatch
from proxembed.estimator.base import Estimator
from proxembed.estimator.callbacks import also_reported
from proxembed.estimator.catalogue import settings
from proxembed.estimator.validation import checked_features, learning
from proxembed.estimator.weights import check_takes_weights, checked_weights, present_rows, takes_weights
from proxembed.evaluate.arms import MAP_SIZE
from proxembed.evaluate.part import choose_scaling
from proxembed.execute.budget import WorkBudget
from proxembed.execute.ledger import Ledger, digest, opened
from proxembed.features.scaling import scaling_choices
from proxembed.measures.measures import Measure, measure_for, measure_of
from proxembed.methods.around import ReadoutAxes
from proxembed.methods.pipeline import embedding_pipeline, fit_model
from proxembed.params import SEED, Param, check_params, param, safe_repr, seed_of
from proxembed.splits.splits import GroupFolds, Split, StratifiedFolds, as_splits, splits_of_present
from proxembed.splits.units import checked_units
from proxembed.tables import RawRows, TableRows
from proxembed.tables.frames import frame_of
from proxembed.targets.labels import MANY_LABELS, LabelMatrix
from proxembed.targets.outputs import OutputReading, Outputs
from proxembed.targets.reading import read_targets
from proxembed.targets.targets import Output, Targets

from .candidates import ANCHORS, FIRST, Candidate, candidates, component_sizes, family_of
from .method_strategies import MethodStrategy
from .trials import (
    STRATEGIES,
    Choice,
    FoldParts,
    FoldScores,
    MethodTrial,
    SearchStrategy,
    Study,
    chosen,
    final_fold_count,
    fold_count,
    list_strategies,
    preferred_among,
    untuned,
)


def _takes_progress(function: Any) -> bool:
    if not callable(function) or isinstance(function, type):
        return False
    try:
        signature(function).bind(0, 1, "")
    except TypeError:
        return False
    except ValueError:  # a compiled function that shows no signature
        return True
    return True


COUNT = Param(low=1, high=10_000_000, integer=True, choices=(None,))
SECONDS = Param(above=0, choices=(None, math.inf))
JOBS = Param(low=-1024, high=1024, integer=True, choices=(None,))
STORAGE = Param(
    choices=(None,), words="the name of a folder", test=lambda value: isinstance(value, str | PathLike | Ledger)
)
STORED = (
    "Folder in which every finished fit is stored as a line of ``study.jsonl``; a search with the same data, options "
    "and seed continues from it, and any other raises an error. None stores nothing."
)
FREE = {"max_seconds", "max_trials", "max_evals", "max_work", "n_jobs", "progress", "storage", "refit", "cache_bytes"}
ELSEWHERE = {"cv", "final_cv", "random_state"}  # among the facts as folds and as the seed
PROGRESS = Param(choices=(None,), words="a function of (done, total, text)", test=_takes_progress)


class SearchEstimator(ClassNamePrefixFeaturesOutMixin, ClassifierMixin, TransformerMixin, Estimator, abstract=True):
    """Base of the searches."""

    role = "search"

    def _strategy(self, base: type[SearchStrategy], parameter: str) -> type[Any]:
        """The strategy in the space of ``base`` that ``parameter`` names; a ValueError where there is none."""
        name, known = getattr(self, parameter), STRATEGIES[base.space]
        if not isinstance(name, str) or name not in known:
            *others, last = map(repr, known)
            names = f"{', '.join(others)} or {last}"
            raise ValueError(f"{parameter}={safe_repr(name)} is not allowed; {parameter} must be {names}.")
        return known[name]

    def _check_limits(self) -> None:
        """ValueErrors for declared parameters that are not permitted."""
        check_params(self)
        if self.n_jobs == 0:
            raise ValueError(
                f"{type(self).__name__}: n_jobs=0 is not allowed; pass a number of processes, -1 for one per core, or "
                "None."
            )

    def _check_y(self, y: Any) -> None:
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")

    def _seed(self) -> int:
        """The seed of this fit; a generator gives another one each time."""
        return seed_of(self.random_state)

    def _splits(self, X: Any, labels: Targets, seed: int, groups: Any = None, usual: int | None = None) -> list[Split]:
        """The splits of ``cv``, of None the usual number; of a number, stratified folds, or folds of whole groups."""
        return self._splits_of(usual if self.cv is None else self.cv, "cv", X, labels, seed, groups)

    def _splits_of(
        self, cv: Any, parameter: str, X: Any, labels: Targets, seed: int, groups: Any = None
    ) -> list[Split]:
        """The splits of a number of folds, or of a splitter; a list of splits names rows as they were given to fit."""
        if (present := vars(self).get("_row_numbers")) is not None and not isinstance(cv, Integral):
            cv = cv if hasattr(cv, "get_n_splits") else splits_of_present(cv, present)
        if isinstance(cv, bool) or isinstance(cv, Integral) and not 2 <= int(cv) <= labels.n:
            raise ValueError(
                f"{parameter}={safe_repr(cv)} must be a number of folds from 2 to the {labels.n} rows, or a splitter."
            )
        if not isinstance(cv, Integral) and not hasattr(cv, "get_n_splits") and not np.iterable(cv):
            allowed = "a number of folds, a splitter, or a list of (training, held-out) rows"
            raise ValueError(f"{parameter}={safe_repr(cv)} must be {allowed}.")
        if isinstance(cv, Integral):
            cv = (StratifiedFolds if groups is None else GroupFolds)(int(cv), random_state=seed)
        return as_splits(cv, X, labels, groups)

    def _study(
        self, evaluator: Any, seed: int, strategy: SearchStrategy, data: Mapping[str, Any], **bounds: Any
    ) -> Study:
        """The study, carried out; with ``storage`` it goes on where an earlier one of the same ``data`` has ended."""
        seconds = None if self.max_seconds == math.inf else self.max_seconds
        bounds |= {"max_seconds": seconds, "n_jobs": self.n_jobs, "progress": also_reported(self, self.progress)}
        with opened(self.storage) as ledger:
            if ledger is not None:
                options = self.get_params(deep=False).items()
                facts = {name: value for name, value in options if name not in FREE | ELSEWHERE}
                hashes = {name: digest(values) for name, values in data.items()}
                facts |= {"version": version("proxembed"), "measure": evaluator.measure.name, "seed": seed}
                ledger.begin(facts | hashes)
            return Study(evaluator, seed=seed, ledger=ledger, **bounds).run(strategy)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        return tags


LEADERS = 5
FINAL_SEED = 2  # after that of the folds of the race, and of a comparison
SIZE = Param(low=1, integer=True)
WORK = Param(above=0, high=1e12)


def _is_work(value: Any) -> bool:
    return isinstance(value, WorkBudget) or WORK.permits(value)


class EmbeddingSearch(ExactMatch, SearchEstimator):
    """Search for the embedding that serves the labels best: method, parameters and size by inner cross-validation.

    Searches method, parameters and number of components, and fits the best on all rows. The search starts with OPLS,
    TargetSpace, the forms of OPLS on forest leaves and a kernel, and both side by side (``Views``), each while its
    forecast fits the budget (of numbers with OPLS and its kernel form). Then follow configurations that won on data
    sets of similar sizes, every method, and configurations drawn from the ranges that the methods declare, some with
    their own scaling or with principal components before a kernel (``Scaled``). One fit serves all sizes, scaling is
    fitted inside each fold, and the read-out is multi-output ridge (of ``TargetSpace`` its own stack). If the measure
    is one of neighbours, each method is also tried with its axes weighted by that read-out (``ReadoutAxes``).

    Below 1,000 rows, each configuration is scored on all rows of all folds, or dropped when it is clearly behind on
    some of them. From 1,000 rows, races over rows and folds select the best configuration of each of the eight best
    methods, and these are scored on other folds (``final_cv``). The configuration with the best mean over the folds is
    chosen. Another method replaces the untuned ``TargetSpace`` (the kernel form where that was not fitted, and for
    maps) only if it is ahead by more than one standard error of the differences per fold (of labels; of numbers linear
    methods are often best). The best mean of many is optimistic;
    ``choice_score_`` is not.

    Attributes
    ----------
    best_estimator_ : Pipeline of scaling, embedding and thresholded read-out, fitted on all rows.
    best_params_ : dict
        Method, size, and the parameters that are not at their defaults.
    best_score_ : float
        The mean of the choice over the folds on which it was made: that of a winner among many.
    choice_score_ : float or None
        What to expect of it: the mean over the folds of what the same choice, made without that fold, scores on it.
    choice_scores_ : array of shape (n_choice_folds_,) or None
        The scores of which it is the mean, by fold.
    anchored_ : bool
        Whether the preferred method was kept, though another had a better mean by less than a standard error: the
        untuned ``TargetSpace()``, or ``Kernelized(OPLS())`` where that was not fitted, and for maps; or a layout that
        keeps more neighbours than that one.
    n_chosen_from_ : int
        How many configurations were scored on all folds on which the choice was made.
    n_choice_folds_ : int
        The number of these folds.
    final_ : bool
        Whether these are the final folds; False where the budget had no room on these for the leader of the race, or
        for two configurations.
    leaders_ : list of estimators
        Unfitted, at their best sizes: the choice, what would be chosen by ``further_measures``, then the best
        configuration of each of the best methods, five in all; the preferred method is among the first three.
    leader_scores_ : list of dict
        Of each of ``leaders_`` its scores by fold at each size (k -> array of shape (n_choice_folds_,)) on the folds of
        the choice; empty for one that was not scored on all of these.
    further_leaders_ : list of estimators
        Unfitted, what would be chosen by each of the further measures: at its best size, and in two coordinates.
    further_scores_ : dict
        By the name of each further measure a list such as ``leader_scores_``.
    scaling_ : str
        The kind of scaling, chosen on the rows of the fit; that of every configuration but those drawn with one of
        their own (``Scaled``).
    trials_ : list of dict
        Of each configuration: method, params, k (best size), score (its mean over folds), scores (the mean at each
        size), by_fold (at the best size), rows (trained on), complete (whether on all rows of all folds; scores of
        others are not comparable), final (the mean at each size over final folds, or None), seconds, failure, notes.
    interrupted_ : bool
        Whether Ctrl-C ended the search; the best so far is kept. After Ctrl-C in the last fit, ``fit`` raises
        KeyboardInterrupt, and all attributes but ``best_estimator_`` and ``classes_`` are there.
    work_ : float
        Units of work that were done, by forecast; 0 where no work was counted.
    stopped_by_clock_ : bool
        Whether the seconds ended the search before its work was done.
    classes_ : array of classes, or names of the label columns.
    unweighted_ : tuple of str
        A sentence on each method that was left out because it takes no weights of rows.

    Raises
    ------
    ValueError
        A parameter out of range, labels that do not differ between rows, or no configuration that works.

    See Also
    --------
    proxembed.search : The best embedding of a data set, and its verdict.
    proxembed.DEFC : Assembles and tunes a model by search.

    Examples
    --------
    >>> from proxembed.data import digits
    >>> from proxembed import EmbeddingSearch
    >>> data = digits().take(range(300))
    >>> found = EmbeddingSearch(["opls", "mvmd"], n_components=3, max_trials=2).fit(data.X, data.Y)
    >>> found.transform(data.X).shape, len(found.trials_)
    ((300, 3), 2)
    """

    methods: Any = param(
        default=None,
        choices=(None,),
        words="a list of names of methods",
        kw_only=False,
        doc="Names of the methods to try; None: all.",
    )
    n_components: Any = param(
        default=None,
        choices=(None,),
        words="a whole number of at least 1 or a list of such numbers",
        kw_only=False,
        doc="Size, or sizes to choose from; a method uses those that it has. None: 2, 5, 10, ... up to the number of "
        "labels or outputs (at least 10).",
    )
    max_seconds: float | None = param(
        default=60,
        like=SECONDS,
        kw_only=False,
        doc="Time limit of the whole fit, including the last one. OPLS (the first of ``methods``) is always finished; "
        "its kernel form is finished if that takes at most the budget once more.",
    )
    cv: Any = param(
        default=None,
        choices=(None,),
        words="a number of folds or a splitter",
        kw_only=False,
        doc="Stratified folds (of whole groups, if groups are given), or a scikit-learn splitter; None: 5 "
        "folds below 1,000 rows, else 3. Rows with unknown labels are never held out.",
    )
    final_cv: Any = param(
        default=None,
        choices=(None, 0),
        words="a number of folds or a splitter",
        doc="Other folds, on which the best few are scored again and the choice is made: stratified folds of another "
        "seed (of whole groups, if groups are given), or a splitter; 0: none, the choice is made on ``cv``. "
        "None: 5 folds from 1,000 rows, none below, or if ``cv`` is a splitter.",
    )
    measure: Any = param(
        default=None,
        choices=(None,),
        words="a measure",
        kw_only=False,
        doc='Name of a measure, such as "Jaccard@10", "macro F1" or "A@10", a ``Measure``, or a function (Y, S) -> '
        "float of held-out labels and ridge scores (or numbers and their predictions), larger being better. Scores of "
        "a loss have their sign changed. None: macro average precision of labels, Q2 of numbers.",
    )
    random_state: Any = param(default=0, like=SEED, kw_only=False, doc="Seed of folds and drawn parameters.")
    n_jobs: int | None = param(default=1, like=JOBS, kw_only=False, doc="Number of fits at a time.")
    max_trials: int | None = param(
        default=40,
        like=COUNT,
        doc="Largest number of configurations; the result is then the same in every run with enough seconds. None: "
        "only seconds.",
    )
    strategy: str = param(
        default="auto",
        words="the name of a strategy",
        doc=f"Name of the search strategy. {list_strategies(MethodStrategy.space)}.",
    )
    max_work: Any = param(
        default=None,
        choices=(None,),
        words="a number of units of work above 0, or a WorkBudget",
        test=_is_work,
        doc="Budget in units of work (seconds of one core of a reference machine), predicted from sizes only: trials "
        "and choice are then the same in every run, and the seconds are only a limit. None: seconds decide.",
    )
    further_measures: Any = param(
        default=(),
        words="a list of measures",
        test=lambda value: not isinstance(value, str) and np.iterable(value),
        doc="Further measures, such as one of neighbours: what would be chosen by each of them is among ``leaders_``, "
        "too. They are scored where all training rows of a fold are taken.",
    )
    layouts: bool = param(
        default=False,
        kind=bool,
        doc="Whether the search is for a map. The choice is then made in two coordinates, among the first two "
        "components of every configuration and the layouts (``Layout``) of the anchors ``TargetSpace()``, "
        "``Kernelized(OPLS())``, ``ReadoutAxes`` of views and ``ForestLeaves(OPLS())``, and of the best other method, "
        "with the features beside their components at weights 1, 0.5 and 0; of layouts within one standard error of "
        "the best it is the one that keeps most neighbours (``kept_neighbors``). They are tried last, with the rest of "
        "the budget; ``max_trials`` does not count them.",
    )
    refit: bool = param(default=True, kind=bool, doc="Whether the best is fitted again on all rows.")
    storage: Any = param(default=None, like=STORAGE, doc=STORED)
    progress: Any = param(default=None, like=PROGRESS, doc="Called as ``progress(done, total, text)`` as fits end.")

    def fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> Any:
        """Search, then fit the best configuration on all rows.

        Methods that take no weights are left out of a weighted search (``unweighted_``).

        Parameters
        ----------
        X : (n, d) array or sparse matrix, or TableRows
        y : labels in any form
            NaN for unknown.
        groups : (n,) array, optional
            Rows of one group are never on both sides of a fold.
        sample_weight : (n,) numbers >= 0, optional
            How often each row counts in every fit and, held out, in the measure; rows of weight 0 are left out.
            Folds are made of rows, whatever their weights.

        Returns
        -------
        self
        """
        with learning(self, Exception):
            self._check()
            X = frame_of(X)
            groups = None if groups is None else checked_units(groups, None, np.shape(X)[0])[0]
            X, y, groups, present = self._present(X, y, groups, sample_weight)
            X = self._features(X, reset=True)
            labels = self._targets(X, y)
            self._check_weighs(labels)
            sizes = self._sizes(labels)
            study = self._searched(X, labels, groups, sizes, present)
            best = chosen(study.trials, self._map_size, anchored=not isinstance(labels, Outputs))
            if best is None:
                if study.interrupted:
                    raise KeyboardInterrupt
                failures = "; ".join(f"{t.title}: {t.failure}" for t in study.trials[:3])
                raise ValueError(f"no configuration could be fitted on these rows ({failures}).")
            self._keep(study, best, X, labels, groups)
        return self

    def _present(self, X: Any, y: Any, groups: Any, sample_weight: Any) -> tuple[Any, Any, Any, Any]:
        """The rows of non-zero weight with their groups, and their numbers where some are left out (else None)."""
        self._weights: np.ndarray | None = None
        if sample_weight is None:
            return X, y, groups, None
        self._check_y(y)
        w = checked_weights(sample_weight, X, y)
        X, y, own = present_rows(X, y, w)
        self._weights = None if (own == 1.0).all() else own
        if len(own) == len(w):
            return X, y, groups, None
        present = np.flatnonzero(w)
        return X, y, None if groups is None else groups[present], present

    def _check_weighs(self, labels: Targets) -> None:
        """A ValueError for a measure, or a number of labels, that rows with weights cannot be judged by."""
        if self._weights is None:
            return
        self._measure(labels).check_weighs(self._weights)
        if not isinstance(labels, Outputs) and labels.c > MANY_LABELS:
            raise ValueError(
                f"sample_weight is not allowed with more than {MANY_LABELS:,} labels, and y has {labels.c:,}; leave it "
                "out, or take fewer labels."
            )

    @property
    def _map_size(self) -> int | None:
        """The one size among whose configurations the choice is made, for a map; None for all sizes."""
        return MAP_SIZE if self.layouts else None

    def _check(self) -> None:
        self._check_limits()
        for each in (self.measure, *self.further_measures):
            if each is not None:
                measure_of(each)
        self._strategy(MethodStrategy, "strategy")
        if self.methods is not None and not isinstance(self.methods, str | list | tuple | set | np.ndarray):
            raise ValueError(f"methods={safe_repr(self.methods)} must be a list of names of methods, or None for all.")
        if self.max_seconds in (None, math.inf) and self.max_trials is None and self.max_work is None:
            raise ValueError(
                f"max_seconds={self.max_seconds} and max_trials=None would never end the search; give one."
            )

    def _targets(self, X: Any, y: Any) -> Targets:
        self._check_y(y)
        labels = read_targets(y, self.target_type)
        labels = labels if isinstance(labels, Outputs) else LabelMatrix.of(y, self.target_type)
        self._reading_ = labels.reading
        if labels.n != X.shape[0]:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has {X.shape[0]} rows, "
                f"y has {labels.n}."
            )
        known = labels.take(np.flatnonzero(labels.rows_any))
        if not known.differ and isinstance(labels, Outputs):
            raise ValueError("Every column of y is constant.")
        if not known.differ:
            raise ValueError(
                "y holds one class only in the rows with known labels, so that no embedding can serve it; "
                "pass rows of at least two classes."
            )
        return labels

    def _sizes(self, labels: Targets) -> tuple[int, ...]:
        asked = self.n_components
        if asked is None:
            return component_sizes(labels.drop_empty().c, isinstance(labels, Outputs))
        sizes = tuple(asked) if isinstance(asked, list | tuple | set) or np.ndim(asked) == 1 else (asked,)
        if not sizes or not all(SIZE.permits(k) for k in sizes):
            raise ValueError(f"n_components={safe_repr(asked)} must be whole numbers of at least 1, or None.")
        return tuple(sorted({int(k) for k in sizes} | ({MAP_SIZE} if self.layouts else set())))

    def _candidates(self, X: Any, labels: Targets) -> tuple[tuple[Candidate, ...], tuple[Candidate, ...]]:
        numbers = isinstance(labels, Outputs)
        several = not labels.take(np.flatnonzero(labels.rows_any)).one_hot
        partly = labels.unknown is not None
        weighed = self._measure(labels).goal == "neighbours" and not numbers
        usual = () if isinstance(X, TableRows) else (self.scaling_,)
        scalings = tuple(dict.fromkeys([*usual, *scaling_choices(X)]))
        facts: dict[str, Any] = {
            "several_labels": several,
            "partly_labelled": partly,
            "weighed": weighed,
            "scalings": scalings,
            "numbers": numbers,
        }
        pool = self._weighing(candidates(self.methods, **facts))
        if self.methods is not None:
            return pool[:1], pool
        planned, every = getattr(self.max_work, "anchors", None) or (), FIRST if numbers else ANCHORS
        known = (*planned, *(name for name in every if name not in planned))
        opening = candidates(known, several_labels=several)
        return tuple(each for each in opening if self._weights is None or takes_weights(each.default())), pool

    def _weighing(self, pool: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
        """The candidates that take weights of rows, if rows have some; why others do not is kept."""
        self.unweighted_: tuple[str, ...] = ()
        if self._weights is None:
            return pool
        refused = {each.title: each.default() for each in pool if not takes_weights(each.default())}
        found = tuple(replace(each, scalings=weighed_scalings(each)) for each in pool if each.title not in refused)
        if not found:
            check_takes_weights(next(iter(refused.values())))
        self.unweighted_ = tuple(
            f"{name} takes no weights of rows: {own.why_unweighted}." for name, own in refused.items()
        )
        return found

    def _measure(self, labels: Targets) -> Measure:
        """The measure that decides for these targets."""
        return measure_for(self.measure, isinstance(labels, Outputs))

    def _searched(
        self, X: Any, labels: Targets, groups: Any, sizes: tuple[int, ...], present: np.ndarray | None = None
    ) -> Study:
        """``present``: the numbers of these rows among those given to fit; None: all."""
        seed, self._row_numbers = self._seed(), present
        known = None if groups is None else groups[labels.rows_any]
        race = self._splits(X, labels, seed, groups, usual=fold_count(labels.n, known))
        final = self._final_splits(X, labels, seed, groups, known)
        folds = self._folds([*race, *final], X, labels, groups, seed)
        strategy = self._strategy(MethodStrategy, "strategy")(*self._candidates(X, labels))
        budget = self.max_work if isinstance(self.max_work, WorkBudget | None) else WorkBudget(float(self.max_work))
        further = [measure_for(each, isinstance(labels, Outputs)) for each in self.further_measures]
        scores = FoldScores(folds, X.shape[0], sizes, self._measure(labels), budget, len(race), self.layouts, further)
        work = None if budget is None else budget.work
        data = {"features": X, "labels": labels, "inner folds": race, "final folds": final, "scaling": self.scaling_}
        if self._weights is not None:
            data["weights"] = self._weights
        return self._study(scores, seed, strategy, data, max_trials=self.max_trials, max_work=work)

    def _final_splits(self, X: Any, labels: Targets, seed: int, groups: Any, known: Any) -> list[Split]:
        """Folds for the final choice, if they differ from the folds of the race."""
        cv = self.final_cv
        if cv is None:
            cv = final_fold_count(labels.n, known) if self.cv is None or isinstance(self.cv, Integral) else 0
        if not isinstance(cv, bool) and isinstance(cv, Integral) and cv == 0:
            return []
        return self._splits_of(cv, "final_cv", X, labels, (seed + FINAL_SEED) % 2**32, groups)

    def _folds(self, splits: list[Split], X: Any, labels: Targets, groups: Any, seed: int) -> FoldParts:
        """The folds, training rows in drawn order, so that the first of them stand for all."""
        rng = np.random.default_rng(seed)
        self.scaling_ = choose_scaling(X, labels, groups, seed, self._weights)
        drawn = [Split(split.name, rng.permutation(split.train), split.held_out) for split in splits]
        return FoldParts(X, labels, drawn, self.scaling_, self._weights)

    def _keep(self, study: Study, best: Choice, X: Any, labels: Targets, groups: Any) -> None:
        further = self._of_further(study, isinstance(labels, Outputs))
        leading = self._leading(study, best, further)
        self.leaders_, self.further_leaders_ = ([_sized(t, k) for t, k in each] for each in (leading, further))
        method, asked = self.leaders_[0], [{*study.evaluator.sizes, each.n_components} for each in self.leaders_]
        scored = [(t, sorted(own)) for (t, _), own in zip(leading, asked, strict=True)]
        self.leader_scores_ = [t.by_size(best.rung, own) for t, own in scored]
        self.further_scores_ = {
            each.name: [t.by(each).by_size(best.rung, own) for t, own in scored] for each in study.evaluator.further
        }
        self.best_params_ = {"method": best.trial.title, **settings(method)}
        self.best_score_, self.anchored_ = best.mean, best.anchored
        self.choice_score_, self.choice_scores_ = best.score, best.repeated
        self.n_chosen_from_, self.n_choice_folds_, self.final_ = len(best.among), len(best.rung.folds), best.final
        self.trials_ = [t.plain() for t in study.trials]
        self.interrupted_ = study.interrupted
        self.work_, self.stopped_by_clock_ = study.work_done, study.stopped_by_clock
        if not self.refit:
            return
        # last, so that a KeyboardInterrupt leaves what was searched
        model = embedding_pipeline(method, X, scaling=self.scaling_, numbers=isinstance(labels, Outputs))
        if isinstance(labels, Outputs):
            self.best_estimator_ = model.fit(X, labels.rescaled(method.target_scaling()), self._weights)
            return
        self.best_estimator_ = fit_model(model, X, labels, groups, self._weights)
        self.classes_ = self.best_estimator_[-1].classes_

    def _of_further(self, study: Study, numbers: bool) -> list[tuple[MethodTrial, int]]:
        """What would be chosen by each further measure, with its size: at the best one, then in two coordinates."""
        found = []
        for measure in study.evaluator.further:
            known = {own: t for t in study.trials if (own := t.by(measure)).outcomes}
            for size in (None, MAP_SIZE):
                choice = chosen(known, size, anchored=not numbers)
                if choice is not None and choice.among:
                    found.append((known[choice.trial], choice.k))
        return found

    def _leading(
        self, study: Study, best: Choice, further: list[tuple[MethodTrial, int]]
    ) -> list[tuple[MethodTrial, int | None]]:
        """The leaders with their sizes, each of another method: the choice, those of further measures, then the best of
        each family. The preferred method is among the first three, before a further leader that would be the third."""
        families, anchor = self._by_family(study, best)
        own = [(t, self._map_size or t.best(best.rung)[1] or None) for t in families if t is not best.trial]
        ranked: list[tuple[MethodTrial, int | None]] = [(best.trial, best.k), *further, *own]
        first = {t.title: (t, k) for t, k in reversed(ranked)}
        titles = list(dict.fromkeys(t.title for t, _ in ranked))
        if anchor is not None:
            first |= {t.title: (t, k) for t, k in own if t is anchor}
            at = min(titles.index(anchor.title), 2)
            titles.remove(anchor.title)
            titles.insert(at, anchor.title)
        return [first[title] for title in titles[:LEADERS]]

    def _by_family(self, study: Study, best: Choice) -> tuple[list[MethodTrial], MethodTrial | None]:
        """The choice, then the best trial of each other family on the folds of the choice, then of families with only
        complete trials; and the trial of the preferred method, if that is of another family than the choice. A method
        and its ReadoutAxes, which predict alike, are one family of a search for predictions."""
        size, near = self._map_size, study.evaluator.measure.goal == "neighbours"

        def family(t: MethodTrial) -> str:
            return t.family if near or not isinstance(t.config, ReadoutAxes) else family_of(t.config.member())

        among = sorted(best.among, key=lambda t: -t.score_at(best.rung, size))
        complete = sorted((t for t in study.trials if t.complete), key=lambda t: -t.score_at(t.rungs[-1], size))
        ranked = [best.trial, *among, *complete]
        first: dict[str, MethodTrial] = {}
        for t in ranked:
            first.setdefault(family(t), t)
        preferred = preferred_among(t.config for t in best.among)
        anchor = next((family(t) for t in ranked if untuned(t.config, preferred)), None)
        if anchor is None or anchor == family(best.trial):
            return list(first.values()), None
        untuned_choice = chosen([t for t in best.among if family(t) == anchor], size)
        first[anchor] = first[anchor] if untuned_choice is None else untuned_choice.trial
        return list(first.values()), first[anchor]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        reading = vars(self).get("_reading_")
        if isinstance(reading, OutputReading) and all(column.kind == "real" for column in reading.layout.columns):
            tags.estimator_type, tags.regressor_tags, tags.classifier_tags = "regressor", RegressorTags(), None
        return tags

    @property
    def targets_(self) -> tuple[Output, ...]:
        """How each column of y was read."""
        check_is_fitted(self, "_reading_")
        return self._reading_.outputs(getattr(self, "classes_", None))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of rows whose labels are all predicted; of numbers R2, the mean over the columns of y. X: (m, d)
        array or sparse matrix. y: in the form of y in fit. sample_weight: (m,) array. Returns a float."""
        reading = vars(self).get("_reading_")
        if not isinstance(reading, OutputReading):
            return super().score(X, y, sample_weight)
        return reading.score(y, self.predict(X), None if sample_weight is None else np.asarray(sample_weight, float))

    def transform(self, X: Any) -> Any:
        """The embedding of rows by the best estimator. X: (m, d) array or sparse matrix. Returns (m, k)."""
        X = self._new_rows(X)
        return self.best_estimator_[:-1].transform(X)

    def predict(self, X: Any) -> Any:
        """Predict labels, in the form in which y came, by the thresholded read-out, or numbers in their units. X:
        (m, d) array or sparse matrix. Returns classes (m,), an indicator (m, c), a list of m sets, or numbers as y had
        them."""
        X = self._new_rows(X)
        return self.best_estimator_.predict(X)

    def decision_function(self, X: Any) -> Any:
        """Scores of the labels, larger meaning more likely. X: (m, d) array or sparse matrix. Returns (m, c), or (m,)
        for 1-D y with two classes."""
        X = self._new_rows(X)
        return self.best_estimator_.decision_function(X)

    def predict_proba(self, X: Any) -> Any:
        """Probabilities of the labels, calibrated on training rows of which the scores are by fits that have not seen
        them. X: (m, d) array or sparse matrix. Returns (m, c); with one class per row they sum to 1."""
        X = self._new_rows(X)
        return self.best_estimator_.predict_proba(X)

    def _new_rows(self, X: Any) -> Any:
        check_is_fitted(self, "best_estimator_")
        return self._features(X, reset=False)

    def _features(self, X: Any, reset: bool) -> Any:
        """X checked; rows of a table are checked by the encoder of the pipeline."""
        if not isinstance(X, TableRows | RawRows):
            return checked_features(self, X, reset=reset)
        if reset:
            self.n_features_in_ = X.shape[1]
        return X

    @property
    def _n_features_out(self) -> int:
        return self.best_estimator_[-2].n_components_


def weighed_scalings(candidate: Candidate) -> tuple[str, ...]:
    """The scalings of a candidate that count weights of rows."""
    return tuple(kind for kind in candidate.scalings if kind != "quantile")


def _sized(t: MethodTrial, k: int | None = None) -> Any:
    """The unfitted estimator of a trial, at a size or at its best one."""
    return clone(t.config).set_params(n_components=k or t.best(t.furthest)[1])
