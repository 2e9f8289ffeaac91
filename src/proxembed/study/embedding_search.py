"""EmbeddingSearch: the search as a scikit-learn estimator."""

from __future__ import annotations

import math
from numbers import Integral

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from proxembed.classify.label_classifier import ExactMatch
from proxembed.model import embedding_pipeline, fit_model, scaling_kind
from proxembed.params import Param, check_params, shown
from proxembed.splits.splitters import GroupFolds, StratifiedFolds, as_splits
from proxembed.targets.labels import LabelMatrix
from proxembed.validation import checked_features, learning

from .candidates import FIRST, candidates, component_sizes, settings
from .halving import Study, Task, search
from .limits import check_limits
from .trials import MEASURES, Part, Trial, make_part

LEADERS = 5
SIZE = Param(low=1, integer=True)


class EmbeddingSearch(ClassNamePrefixFeaturesOutMixin, ExactMatch, TransformerMixin, BaseEstimator):
    """Search for the embedding that serves the labels best: method, parameters and size by inner cross-validation.

    First OPLS and its kernel form, whose ridge and width have closed-form choices; then every method, and
    configurations drawn from the ranges that the methods declare, by successive halving over rows and folds: one fit
    serves all sizes, scaling is fitted inside each fold, the read-out is multi-output ridge. The best is fitted again
    on all rows. The scores of the search are those of a winner among many: judge it on rows that the search has not
    seen.

    Parameters
    ----------
    methods : sequence of str, or None
        Names of methods; None searches all. Where some are named, only they are tried.
    n_components : int, sequence of int, or None
        Size, or sizes to choose from, of which a method takes what it has; None: 2, 5, 10, ... up to the number of
        labels (at least 10).
    max_seconds : float or None, default=60
        Budget of the whole fit, the last fit included. OPLS (the first of ``methods``) is finished whatever it costs,
        its kernel form where that takes no more than the budget once more.
    cv : int or splitter, default=3
        Stratified folds (folds of whole groups where groups are given), or a scikit-learn splitter. Rows with unknown
        labels are never held out.
    measure : str or callable, default="macro average precision"
        Also "Jaccard@10"; or a function (Y, S) -> float of held-out labels and ridge scores, larger being better.
    random_state : int, RandomState instance or None, default=0
        Seed of folds and drawn parameters.
    n_jobs : int or None, default=1
        Fits at a time.
    max_trials : int or None, default=40
        Most configurations; the result is then the same in every run whose seconds suffice. None: seconds alone.
    progress : callable, optional
        Called as ``progress(done, total, text)`` before each fit.

    Attributes
    ----------
    best_estimator_ : Pipeline of scaling, embedding and thresholded read-out, fitted on all rows.
    best_params_ : dict
        Method, size, and the parameters that are not at their defaults.
    best_score_ : float
    leaders_ : list of estimators
        Unfitted, at their best sizes: the best configuration of each of the best methods, at most five.
    trials_ : list of dict
        Of each configuration: method, params, k (best size), score (its mean over folds), scores (the mean at each
        size), by_fold (at the best size), rows (trained on), complete (whether on all rows of all folds; scores of
        others are not comparable), seconds, failure, notes.
    interrupted_ : bool
        Whether Ctrl-C ended the search; the best so far is kept. After Ctrl-C in the last fit, ``fit`` raises
        KeyboardInterrupt, and all attributes but ``best_estimator_`` and ``classes_`` are there.
    classes_ : array of classes, or names of the label columns.

    Raises
    ------
    ValueError
        A parameter out of range, labels that do not differ between rows, or no configuration that works.

    Examples
    --------
    >>> from proxembed.data import digits
    >>> from proxembed import EmbeddingSearch
    >>> data = digits().take(range(300))
    >>> found = EmbeddingSearch(["opls", "mvmd"], n_components=3, max_trials=2).fit(data.X, data.Y)
    >>> found.transform(data.X).shape, len(found.trials_)
    ((300, 3), 2)
    """

    def __init__(
        self,
        methods=None,
        n_components=None,
        max_seconds=60,
        cv=3,
        measure="macro average precision",
        random_state=0,
        n_jobs=1,
        *,
        max_trials=40,
        progress=None,
    ):
        self.methods = methods
        self.n_components = n_components
        self.max_seconds = max_seconds
        self.cv = cv
        self.measure = measure
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.max_trials = max_trials
        self.progress = progress

    def fit(self, X, y, groups=None):
        """Search, then fit the best configuration on all rows.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
        y : labels in any form, NaN for unknown
        groups : array of shape (n,), optional
            Rows of one group are never on both sides of a fold.

        Returns
        -------
        self
        """
        with learning(self, Exception):
            self._check()
            X = checked_features(self, X, reset=True)
            labels = self._labels(X, y)
            sizes = self._sizes(labels.drop_empty().c)
            first, pool = self._candidates(labels)
            study = search(self._task(X, y, labels, groups, sizes), first, pool)
            best = study.best()
            if best is None:
                if study.interrupted:
                    raise KeyboardInterrupt
                failures = "; ".join(f"{t.title}: {t.failure}" for t in study.trials[:3])
                raise ValueError(f"no configuration could be fitted on these rows ({failures}).")
            self._keep(study, best, X, y, groups)
        return self

    def _check(self) -> None:
        check_limits(self, "max_trials")
        check_params(self, {"measure": Param(choices=tuple(MEASURES), callable=True)})
        if self.methods is not None and not isinstance(self.methods, str | list | tuple | set | np.ndarray):
            raise ValueError(f"methods={shown(self.methods)} must be a list of names of methods, or None for all.")
        if self._seconds is None and self.max_trials is None:
            raise ValueError(f"max_seconds={self.max_seconds} and max_trials=None would search for ever; give one.")

    @property
    def _seconds(self) -> float | None:
        return None if self.max_seconds in (None, math.inf) else float(self.max_seconds)

    def _labels(self, X, y) -> LabelMatrix:
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        labels = LabelMatrix.of(y)
        if labels.n != X.shape[0]:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has {X.shape[0]} rows, "
                f"y has {labels.n}."
            )
        known = labels.take(np.flatnonzero(labels.rows_known))
        if not known.differ:
            raise ValueError(
                "y holds one class only in the rows whose labels are all known, so that no embedding can serve it; "
                "pass rows of at least two classes."
            )
        return labels

    def _sizes(self, n_labels: int) -> tuple[int, ...]:
        asked = self.n_components
        if asked is None:
            return component_sizes(n_labels)
        sizes = tuple(asked) if isinstance(asked, list | tuple | set) or np.ndim(asked) == 1 else (asked,)
        if not sizes or not all(SIZE.permits(k) for k in sizes):
            raise ValueError(f"n_components={shown(asked)} must be whole numbers of at least 1, or None.")
        return tuple(sorted({int(k) for k in sizes}))

    def _candidates(self, labels: LabelMatrix):
        several = not labels.take(np.flatnonzero(labels.rows_known)).one_hot
        partly = labels.unknown is not None
        pool = candidates(self.methods, several_labels=several, partly_labelled=partly)
        opening = candidates(FIRST) if self.methods is None else pool[:1]
        return opening, pool

    def _task(self, X, y, labels: LabelMatrix, groups, sizes: tuple[int, ...]) -> Task:
        given = isinstance(self.random_state, Integral)
        seed = int(self.random_state) if given else int(check_random_state(self.random_state).randint(2**31 - 1))
        return Task(
            self._parts(X, labels, groups, seed),
            X.shape[0],
            sizes,
            self.measure,
            self._seconds,
            self.max_trials,
            seed,
            self.n_jobs,
            **({} if self.progress is None else {"progress": self.progress}),
        )

    def _parts(self, X, labels: LabelMatrix, groups, seed: int) -> tuple[Part, ...]:
        """The folds, training rows in drawn order, so that the first of them stand for all."""
        cv = self.cv
        if isinstance(cv, bool) or isinstance(cv, Integral) and not 2 <= cv <= labels.n:
            raise ValueError(f"cv={shown(cv)} must be a number of folds from 2 to the {labels.n} rows, or a splitter.")
        if isinstance(cv, Integral):
            folds = StratifiedFolds if groups is None else GroupFolds
            cv = folds(int(cv), random_state=seed)
        rng, kind = np.random.default_rng(seed), scaling_kind(X)
        splits = as_splits(cv, X, labels, groups)
        return tuple(make_part(X, labels, rng.permutation(split.train), split.held_out, kind) for split in splits)

    def _keep(self, study: Study, best, X, y, groups) -> None:
        complete = sorted(study.complete(), key=lambda t: -t.standing()[1]) or [best]
        titles = list(dict.fromkeys(t.title for t in complete))[:LEADERS]
        self.leaders_ = [_sized(next(t for t in complete if t.title == title)) for title in titles]
        method = _sized(best)
        self.best_params_ = {"method": best.title, **settings(method)}
        self.best_score_ = best.standing()[1]
        self.trials_ = [t.plain(t in study.complete()) for t in study.trials]
        self.interrupted_ = study.interrupted
        # last, so that a KeyboardInterrupt leaves what was searched
        self.best_estimator_ = fit_model(embedding_pipeline(method, X), X, y, groups)
        self.classes_ = self.best_estimator_[-1].classes_

    def transform(self, X):
        """The embedding of rows by the best estimator.

        Parameters
        ----------
        X : array or sparse matrix of shape (m, d)

        Returns
        -------
        array of shape (m, k)
        """
        X = self._new_rows(X)
        return self.best_estimator_[:-1].transform(X)

    def predict(self, X):
        """Predict labels, in the form in which y came, by the thresholded read-out.

        Parameters
        ----------
        X : array or sparse matrix of shape (m, d)

        Returns
        -------
        classes of shape (m,), an indicator of shape (m, c), or a list of m sets
        """
        X = self._new_rows(X)
        return self.best_estimator_.predict(X)

    def decision_function(self, X):
        """Scores of the labels, larger meaning more likely.

        Parameters
        ----------
        X : array or sparse matrix of shape (m, d)

        Returns
        -------
        array of shape (m, c), or (m,) for 1-D y with two classes
        """
        X = self._new_rows(X)
        return self.best_estimator_.decision_function(X)

    def _new_rows(self, X):
        check_is_fitted(self, "best_estimator_")
        return checked_features(self, X, reset=False)

    @property
    def _n_features_out(self) -> int:
        return self.best_estimator_[-2].n_components_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        return tags


def _sized(t: Trial):
    """The unfitted estimator of a trial, at its best size."""
    return clone(t.estimator).set_params(n_components=t.best(t.standing()[0])[1])
