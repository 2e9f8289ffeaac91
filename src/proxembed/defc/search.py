"""DEFC: the search for the adaptive embedding model that serves a classifier best, as a scikit-learn estimator."""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from proxembed.adaptive import PairOptions, Switches
from proxembed.adaptive.stages import K_CAP
from proxembed.algebra.arrays.matrix import float_matrix
from proxembed.classify.rows import known_labels
from proxembed.params import Param, check_params, shown
from proxembed.splits.splitters import StratifiedFolds, as_splits
from proxembed.study.limits import check_limits
from proxembed.targets.labels import LabelMatrix
from proxembed.validation import checked_features, in_range, learning

from .model_search import ModelSearch, random_models, reduced8
from .nested_ga import nested_ga
from .objective import Evaluation, Objective, aligned
from .prefix_classifier import CLASSIFIERS, PrefixClassifier
from .prefix_scores import SCORINGS, prefix_scores
from .refit import carried_over, joined, refitted, trained_on
from .stage_cache import MAX_BYTES

SEARCHES = {"reduced8": reduced8, "ga": nested_ga, "random": random_models}
REFITS = ("all", "train")
PARAMETERS = {
    "search": Param(choices=tuple(SEARCHES)),
    "refit": Param(choices=REFITS),
    "classifier": Param(choices=CLASSIFIERS),
    "scoring": Param(choices=(None, *SCORINGS)),
    "n_components": Param(low=1, high=K_CAP, integer=True, choices=(None,)),
    "cache_bytes": Param(low=0, choices=(math.inf,)),
    "all_k": Param(kind=bool),
}


class DEFC(ClassNamePrefixFeaturesOutMixin, ClassifierMixin, TransformerMixin, BaseEstimator):
    """Adaptive data embedding for classification: search the six stages of ``EmbeddingModel`` for those that serve a
    classifier best.  [mu2012defc]

    Each candidate is fitted on training rows and judged on held-out ones, for many numbers of components at once. The
    best one is fitted again, on all rows. Its score in the search is that of a winner among many: judge it on rows that
    the search has not seen.

    Parameters
    ----------
    search : {"reduced8", "ga", "random"}, default="reduced8"
        Eight models, whose parameters share the budget; a nested genetic algorithm over all models and their
        parameters; or models and parameters at random. The genetic algorithm needs some thousands of evaluations to
        search both levels: with 3,750 or more each of 150 models has 25 settings. With fewer there are fewer models
        (never under 50); below 1,250 a model has fewer settings than one generation of parameters, 4 of them with
        the default of 200, which are then mere draws.
    classifier : {"1nn", "flda"}, default="1nn"
        Nearest row, or Fisher discriminants.
    scoring : str or None, default=None
        "accuracy", "macro-F1", "micro-F1", "hamming" (1 - the loss) or "macro average precision"; None: accuracy with
        one class a row, macro-F1 with several labels.
    cv : int or splitter, default=5
        Stratified folds, or a scikit-learn splitter, where fit gets no validation rows.
    max_evals : int or None, default=200
        Most candidates; the result is then the same in every run whose seconds suffice. A score of 1 ends the search
        before.
    max_seconds : float or None, default=None
        No candidate but the first is begun after so many seconds; the last fit is not counted. Infinity is None.
    patience : int or None, default=None
        So many candidates in a row without a better score end the search; looked at after every four of each model at
        hand (eight models, or a generation of up to 25), or after 25 random ones.
    n_components : int or None, default=None
        Most components; None: 100.
    all_k : bool, default=False
        Whether "1nn" is scored for every number of components; else for each up to 16, four an octave beyond, and the
        largest that all folds have. "flda" is scored for every one.
    refit : {"all", "train"}, default="all"
        Whether the best candidate is fitted again on training and validation rows (numbers of neighbours grow with
        the number of rows), or on the training rows alone, unchanged. Without validation rows it is always fitted on
        all rows.
    undirected, enemy_pool, g_raw, multilabel, lam_scale, label_similarity : str or bool
        Of every candidate, as in ``EmbeddingModel``.
    cache_bytes : int, default=2**30
        Memory for stages that candidates share, in each process; 0 keeps none.
    n_jobs : int or None, default=1
        Worker processes; the result does not depend on them.
    random_state : int, RandomState instance or None, default=0
        Seed of folds, models and parameters.
    progress : callable, optional
        Called as ``progress(done, total, text)``.

    Attributes
    ----------
    best_switches_ : Switches
        The options of the best candidate, in canonical form.
    best_params_ : dict
        Its parameters as searched, and its number of components k.
    best_score_ : float
    best_estimator_ : EmbeddingModel
        Fitted again; its parameters are those of the refit.
    classifier_ : the classifier, fitted on its embedding.
    leaderboard_ : list of dict
        Of each candidate, best first: switches, params, k, score, by_fold, seconds, repairs, failed.
    history_ : list of dict
        After each evaluation: evaluations, seconds, best; where a generation of models ends also generation,
        generation_best and generation_mean.
    cache_stats_ : dict
        Hits, misses and evictions of the stages kept, and their bytes.
    n_models_, n_evaluations_ : int
    interrupted_ : bool
        Whether Ctrl-C ended the search; the best so far is kept.
    scoring_ : str
    classes_ : array of classes, or names of the label columns.

    Raises
    ------
    ValueError
        A parameter out of range, labels that do not differ between rows or training rows of a fold, validation rows
        without labels or the reverse, or without any label that y holds, or no candidate that works.

    Examples
    --------
    >>> from proxembed import DEFC
    >>> from proxembed.data import banana
    >>> data = banana(120)
    >>> y = data.Y.toarray().argmax(axis=1)
    >>> found = DEFC(max_evals=16).fit(data.X[:80], y[:80], data.X[80:], y[80:])
    >>> found.n_models_, found.n_evaluations_, found.best_score_ > 0.8
    (8, 16, True)
    >>> found.transform(data.X).shape[1] == found.best_params_["k"]
    True
    """

    def __init__(
        self,
        search="reduced8",
        classifier="1nn",
        *,
        scoring=None,
        cv=5,
        max_evals=200,
        max_seconds=None,
        patience=None,
        n_components=None,
        all_k=False,
        refit="all",
        undirected="or",
        enemy_pool="pair",
        g_raw=False,
        multilabel="sets",
        lam_scale="trace",
        label_similarity="dice",
        cache_bytes=MAX_BYTES,
        n_jobs=1,
        random_state=0,
        progress=None,
    ):
        self.search = search
        self.classifier = classifier
        self.scoring = scoring
        self.cv = cv
        self.max_evals = max_evals
        self.max_seconds = max_seconds
        self.patience = patience
        self.n_components = n_components
        self.all_k = all_k
        self.refit = refit
        self.undirected, self.enemy_pool, self.g_raw = undirected, enemy_pool, g_raw
        self.multilabel, self.label_similarity, self.lam_scale = multilabel, label_similarity, lam_scale
        self.cache_bytes = cache_bytes
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.progress = progress

    def fit(self, X, y, X_val=None, y_val=None):
        """Search, then fit the best candidate again.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
        y : labels in any form; rows with unknown ones are left out, with a warning
        X_val, y_val : rows by which candidates are judged, and their labels in the form of y; None: by folds of X.
            A class that y does not hold is one that no candidate can predict.

        Returns
        -------
        self
        """
        with learning(self, Exception):
            self._check(X_val, y_val)
            rows, labels = self._rows(X, y)
            further = None if X_val is None else self._further(X_val, y_val, rows, labels)
            found = self._searched(rows, labels, further)
            best = found.ranked()[0]
            if best.failed is not None:
                raise ValueError(
                    f"no candidate can embed these rows; the first of {len(found.evaluations)}: {best.failed}"
                )
            self._keep(found, best)
            self._refit(best, found.objective, further)  # last, so that a KeyboardInterrupt leaves what was searched
            self.classes_ = labels.classes_
        return self

    def _check(self, X_val, y_val) -> None:
        check_params(self, PARAMETERS)
        PairOptions(**PairOptions.taken_from(self))
        check_limits(self, "max_evals", "patience")
        if self.max_evals is None and self.patience is None and self._seconds is None and self.search != "ga":
            raise ValueError(
                f"max_evals=None and max_seconds={self.max_seconds} would search for ever; give one, or patience."
            )
        if (X_val is None) != (y_val is None):
            given, missing = ("y_val", "X_val") if X_val is None else ("X_val", "y_val")
            raise ValueError(f"{given} is given without {missing}; validation needs both rows and labels, or neither.")

    @property
    def _seconds(self) -> float | None:
        return None if self.max_seconds == math.inf else self.max_seconds

    def _rows(self, X, y) -> tuple[Any, LabelMatrix]:
        """Checked rows with known labels that differ."""
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        X = checked_features(self, X, reset=True)
        X, labels = known_labels(self, float_matrix(X), y)
        if not labels.differ:
            raise ValueError(
                f"{type(self).__name__} needs labels that differ between rows, but y holds one class only in the "
                f"{labels.n} rows whose labels are known. Pass rows of at least two classes."
            )
        return X, labels

    def _further(self, X_val, y_val, X, labels: LabelMatrix) -> tuple[Any, LabelMatrix]:
        X_val = checked_features(self, X_val, reset=False)
        X_val, labels_val = known_labels(self, float_matrix(X_val), y_val)
        if sparse.issparse(X) != sparse.issparse(X_val):
            X_val = sparse.csr_array(X_val) if sparse.issparse(X) else X_val.toarray()
        labels_val = aligned(labels_val, labels)
        if not labels_val.nk[labels.nk > 0].any():
            raise ValueError(
                "y_val has no label that y holds in any of its rows, so that every candidate would be equally bad; "
                "pass validation rows of the classes of y."
            )
        return X_val, labels_val

    def _searched(self, X, labels: LabelMatrix, further) -> ModelSearch:
        given = isinstance(self.random_state, Integral)
        seed = int(self.random_state) if given else int(check_random_state(self.random_state).randint(2**31 - 1))
        objective = Objective(
            X,
            labels,
            self._folds(X, labels, seed) if further is None else further,
            classifier=self.classifier,
            scoring=self.scoring,
            k_cap=K_CAP if self.n_components is None else int(self.n_components),
            all_k=self.all_k,
            cache_bytes=self.cache_bytes,
            **PairOptions.taken_from(self),
        )
        found = ModelSearch(
            objective,
            seed=seed,
            max_evals=self.max_evals,
            max_seconds=self._seconds,
            patience=self.patience,
            n_jobs=self.n_jobs,
            progress=self.progress,
        ).carry_out(SEARCHES[self.search])
        if found.interrupted and all(evaluation.failed for evaluation in found.evaluations):
            raise KeyboardInterrupt
        return found

    def _folds(self, X, labels: LabelMatrix, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
        cv = self.cv
        if isinstance(cv, bool) or isinstance(cv, Integral) and not 2 <= cv <= labels.n:
            raise ValueError(f"cv={shown(cv)} must be a number of folds from 2 to the {labels.n} rows, or a splitter.")
        if isinstance(cv, Integral):
            cv = StratifiedFolds(int(cv), random_state=seed)
        splits = [(split.train, split.held_out) for split in as_splits(cv, X, labels)]
        for train, _ in splits:
            if not labels.take(train).differ:
                smallest = int(labels.nk[labels.nk > 0].min())
                raise ValueError(
                    f"cv={self.cv!r} leaves training rows of one class only in a fold, since the smallest class has "
                    f"{smallest} rows; take fewer folds, more rows of that class, or pass X_val and y_val."
                )
        return splits

    def _refit(self, best: Evaluation, objective: Objective, further) -> None:
        """Fit the best candidate and its classifier again."""
        X, labels = objective.X, objective.labels
        if further is not None and self.refit == "all":
            X, labels = joined(X, labels, further)
        rows, options = trained_on(objective), objective.options
        params = carried_over(best.params, best.switches, objective.labels, rows, labels, **options)
        model = refitted(best, params, X, labels, **options)
        self._trained = model.transform(X.astype(np.float64, copy=False)), labels
        self.classifier_ = PrefixClassifier(self.classifier, one_label=objective.one_label).fit(*self._trained)
        self.best_estimator_ = model

    def _keep(self, found: ModelSearch, best: Evaluation) -> None:
        self.best_switches_ = Switches.of(best.switches)
        self.best_params_ = {**best.params, "k": best.k}
        self.best_score_ = best.score
        self.leaderboard_ = [evaluation.entry() for evaluation in found.ranked()]
        self.history_, self.cache_stats_ = found.history, found.cache_stats
        self.n_models_, self.n_evaluations_ = found.n_models, len(found.evaluations)
        self.scoring_, self.interrupted_ = found.objective.scoring, found.interrupted

    def describe(self) -> str:
        """The best candidate in words, with its classifier and its score in the search."""
        check_is_fitted(self, "best_estimator_")
        name = {"1nn": "nearest row", "flda": "Fisher discriminants"}[self.classifier_.classifier]
        return (
            f"{self.best_estimator_.describe()}; {self.best_estimator_.n_components_} components; {name} "
            f"({self.scoring_} {self.best_score_:.3f} in the search, the best of {self.n_evaluations_} candidates of "
            f"{self.n_models_} models)"
        )

    def transform(self, X):
        """The embedding of rows, (m, d) to (m, k), by the best candidate, in X's float type."""
        X = self._new_rows(X)
        return in_range(self._embedded(X), X)

    def predict(self, X):
        """Labels of rows, (m, d), in the form in which y came."""
        Z = self._embedded(self._new_rows(X))
        return self.classifier_.predict(Z)

    @available_if(lambda self: self.classifier == "flda")
    def decision_function(self, X):
        """Scores of the labels by Fisher discriminants: (m, c), or (m,) for 1-D y with two classes."""
        Z = self._embedded(self._new_rows(X))
        return self.classifier_.decision_function(Z)

    def score(self, X, y):
        """The measure of the search, ``scoring_``, on further rows, (m, d), and their labels."""
        X, labels = known_labels(self, self._new_rows(X), y)
        Z, labels_trained = self._trained
        truth = aligned(labels, labels_trained)
        rows = Z, labels_trained, self._embedded(X), truth
        found = self.classifier_
        return float(prefix_scores(found.classifier, *rows, self.scoring_, [Z.shape[1]], one_label=found.one_label)[0])

    def _new_rows(self, X):
        check_is_fitted(self, "best_estimator_")
        X = checked_features(self, X, reset=False)
        return float_matrix(X)

    def _embedded(self, X) -> np.ndarray:
        return self.best_estimator_.transform(X.astype(np.float64, copy=False))

    @property
    def _n_features_out(self) -> int:
        return self.best_estimator_.n_components_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
