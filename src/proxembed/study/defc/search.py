"""DEFC: the search for the adaptive embedding model that serves a classifier best, as a scikit-learn estimator."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from proxembed.algebra.arrays.matrix import float_matrix
from proxembed.estimator.validation import checked_features, in_range, learning
from proxembed.evaluate.results import reason_of
from proxembed.methods.adaptive import (
    EmbeddingModel,
    Limits,
    PairOptions,
    StageRows,
    Stages,
    Switches,
    domain,
    limits_of,
)
from proxembed.methods.adaptive.candidate import K_CAP
from proxembed.methods.adaptive.embedding_model import COUNTS, chosen_landmarks
from proxembed.params import SEED, declared, param
from proxembed.targets.known import known_labels
from proxembed.targets.labels import LabelMatrix

from ..embedding_search import COUNT, JOBS, PROGRESS, SECONDS, STORAGE, STORED, SearchEstimator
from ..trials import Study, list_strategies
from .model_strategies import ModelStrategy
from .objective import MAX_BYTES, RAISED, Evaluation, Objective, aligned, predicted_measure, prefix_scores, ranked
from .prefixes import CLASSIFIERS, PrefixClassifier, is_unfitted_classifier


def grown(
    params: dict[str, float], switches: Switches, old: Limits, new: Limits, factor: float
) -> dict[str, float | None]:
    """Parameters for more rows: numbers of neighbours in proportion, those that meant all rows still do."""
    found: dict[str, float | None] = dict(params)
    for name in params.keys() & COUNTS:
        all_rows = params[name] >= domain(name, switches, old).high
        found[name] = None if all_rows else domain(name, switches, new).clip(math.floor(factor * params[name] + 0.5))
    return found


def carried_over(
    params: dict[str, float], switches: Any, searched: LabelMatrix, rows: float, labels: LabelMatrix, **options: Any
) -> dict[str, float | None]:
    """Parameters found by fits on ``rows`` of the rows searched (of folds the mean), for a fit on other rows."""
    if labels.n == rows:
        return dict(params)
    old, new = (limits_of(each, PairOptions(**options)) for each in (searched, labels))
    return grown(params, Switches.of(switches), old, new, labels.n / rows)


def trained_on(objective: Objective) -> float:
    """Rows on which candidates were fitted; of folds the mean."""
    if objective.further is not None:
        return objective.labels.n
    return float(np.mean([len(train) for train, _ in objective.splits]))


def joined(X: Any, labels: LabelMatrix, further: tuple[Any, LabelMatrix]) -> tuple[Any, LabelMatrix]:
    """Training and validation rows as one; validation rows of a class that only they have stay out."""
    X_val, labels_val = further
    if labels.form == "classes":
        known = np.flatnonzero(labels_val.m > 0)
        X_val, labels_val = X_val[known], labels_val.take(known)
    stack = sparse.vstack if sparse.issparse(X) else np.vstack
    Y = sparse.csc_array(sparse.vstack([labels.Y, labels_val.Y]))
    return stack([X, X_val]), replace(labels, Y=Y)


def refitted(best: Evaluation, params: dict[str, Any], X: Any, labels: LabelMatrix, **options: Any) -> EmbeddingModel:
    """The best candidate on these rows, with its number of components, or as many as it has here."""
    model = EmbeddingModel.from_switches(best.switches, params, n_components=best.k, n_landmarks=None, **options)
    try:
        return model.fit(X, labels)
    except ValueError as error:
        found = Stages(StageRows(X, labels), **options).embed(model.switches(), params)
        if found.failed is not None:
            raise ValueError(
                f"the best candidate, {list(best.switches)}, cannot be fitted on all {labels.n} rows: {found.failed} "
                'Give validation rows and refit="train", or another random_state.'
            ) from error
        return model.set_params(n_components=min(best.k, found.Z.shape[1])).fit(X, labels)


REFITS = ("all", "train")
NAMES = {"1nn": "nearest row", "flda": "Fisher discriminants", "svm": "linear SVM"}


def _pair_option(name: str) -> Any:
    """Declare an option of every candidate as ``EmbeddingModel`` does."""
    option, spec = declared(EmbeddingModel)[name]
    return param(default=option.default, like=spec, doc=f"For every candidate: {spec.doc[0].lower()}{spec.doc[1:]}")


class DEFC(SearchEstimator):
    """Adaptive data embedding for classification: search the six stages of ``EmbeddingModel`` for those that serve a
    classifier best.  [mu2012defc]

    Assembles a model from six stages and tunes it on held-out rows. Each candidate is fitted on training rows and
    scored on held-out rows, for many numbers of components at once. The best candidate is fitted again on all rows. Its
    score in the search is the best of many and therefore optimistic; score the model on rows that the search has not
    seen.

    A candidate needs n x n arrays. With ``n_landmarks`` candidates are fitted on landmarks: rows drawn at random, from
    every label set in proportion. Validation rows, if given, are cut to as many. The best model is then also fitted on
    landmarks and places all rows; its classifier is fitted on all rows.

    Attributes
    ----------
    best_switches_ : Switches
        The options of the best candidate, in canonical form.
    best_params_ : dict
        Its parameters as searched, and its number of components k.
    best_score_ : float
    best_estimator_ : EmbeddingModel
        Fitted again, on landmarks where there are any; its parameters are those of the refit.
    landmarks_ : array of indices
        The rows of X that were searched, among those whose labels are known.
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
    measure_ : str
    classes_ : array of classes, or names of the label columns.

    Raises
    ------
    ValueError
        A parameter out of range, labels that do not differ between rows or training rows of a fold, validation rows
        without labels or the reverse, or without any label that y holds, or no candidate that works.

    See Also
    --------
    proxembed.EmbeddingModel : The model of six stages.
    proxembed.EmbeddingSearch : Searches methods and their parameters.

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

    search: str = param(
        default="reduced8",
        words="the name of a strategy",
        kw_only=False,
        doc=f"Name of the search strategy. {list_strategies(ModelStrategy.space)}. The genetic algorithm needs some "
        "thousands of evaluations to search both levels: with 3,750 or more each of 150 models has 25 settings. With "
        "fewer there are fewer models (never under 50); below 1,250 a model has fewer settings than one generation of "
        "parameters, 4 of them with the default of 200, which are then mere draws.",
    )
    classifier: Any = param(
        default="1nn",
        choices=CLASSIFIERS,
        kw_only=False,
        words="a classifier of scikit-learn",
        test=is_unfitted_classifier,
        doc="Nearest row, Fisher discriminants, a linear support vector machine of standardised components, or any "
        "classifier of scikit-learn: it is fitted again for each number of components that is tried, and with "
        "several labels per row for each label.",
    )
    measure: Any = param(
        default=None,
        choices=(None,),
        words="a measure of predicted labels or of scores",
        doc='A name, such as "subset accuracy", "macro F1" or "macro average precision", or a function (Y, S) of '
        "held-out labels and scores; None: subset accuracy with one class per row, macro F1 with several labels. A "
        "loss has its sign changed.",
    )
    cv: Any = param(
        default=5,
        words="a number of folds or a splitter",
        doc="Stratified folds, or a scikit-learn splitter, if fit gets no validation rows.",
    )
    max_evals: int | None = param(
        default=200,
        like=COUNT,
        doc="Largest number of candidates; the result is then the same in every run with enough seconds. A perfect "
        "score ends the search earlier.",
    )
    max_seconds: float | None = param(
        default=None,
        like=SECONDS,
        doc="Seconds after which no further candidate is started (the first always is); the last fit is not counted. "
        "Infinity is None.",
    )
    patience: int | None = param(
        default=None,
        like=COUNT,
        doc="Number of candidates in a row without a better score that ends the search; checked after every four of "
        "each model at hand (eight models, or a generation of up to 25), or after 25 random ones.",
    )
    n_components: int | None = param(
        default=None, low=1, high=K_CAP, integer=True, choices=(None,), doc=f"Most components; None: {K_CAP}."
    )
    all_k: bool = param(
        default=False,
        kind=bool,
        doc='Whether "1nn" is scored for every number of components; else for each up to 16, four an octave beyond, '
        'and the largest that all folds have. "flda" is scored for every one.',
    )
    refit: str = param(
        default="all",
        choices=REFITS,
        doc="Whether the best candidate is fitted again on training and validation rows (numbers of neighbours grow "
        "with the number of rows), or on the training rows alone, unchanged. Without validation rows it is always "
        "fitted on all rows.",
    )
    link: str = _pair_option("link")
    enemy_pool: str = _pair_option("enemy_pool")
    g_raw: bool = _pair_option("g_raw")
    multilabel: str = _pair_option("multilabel")
    lam_scale: str = _pair_option("lam_scale")
    label_similarity: str = _pair_option("label_similarity")
    cache_bytes: int = param(
        default=MAX_BYTES,
        low=0,
        choices=(math.inf,),
        doc="Memory for stages that candidates share, in each process; 0 keeps none.",
    )
    n_landmarks: int | str | None = param(
        default="auto",
        like=declared(EmbeddingModel)["n_landmarks"][1],
        doc="Rows to search and fit on; None: all; auto: all up to 5,000 rows, 2,000 above.",
    )
    n_jobs: int | None = param(default=1, like=JOBS, doc="Worker processes; the result does not depend on them.")
    random_state: Any = param(default=0, like=SEED, doc="Seed of landmarks, folds, models and parameters.")
    storage: Any = param(default=None, like=STORAGE, doc=STORED)
    progress: Any = param(default=None, like=PROGRESS, doc="Called as ``progress(done, total, text)``.")

    def fit(self, X: Any, y: Any, X_val: Any = None, y_val: Any = None) -> Self:
        """Search, then fit the best candidate again.

        Parameters
        ----------
        X : (n, d) array or sparse matrix
        y : labels in any form
            Rows with unknown ones are left out, with a warning.
        X_val, y_val : rows and their labels in the form of y, optional
            By which candidates are judged; None: by folds of X. A class that y does not hold is one that no
            candidate can predict.

        Returns
        -------
        self
        """
        with learning(self, Exception):
            self._check(X_val, y_val)
            rows, labels = self._rows(X, y)
            further = None if X_val is None else self._further(X_val, y_val, rows, labels)
            seed = self._seed()
            part, part_labels, self.landmarks_ = self._landmarks(rows, labels, seed)
            few = None if further is None else self._landmarks(*further, seed, validation=True)[:2]
            study = self._searched(part, part_labels, few, seed)
            outcomes = self._refit_best(study, (rows, labels), further, seed)
            self._warn_of_failures(outcomes)
            self.classes_ = labels.classes_
        return self

    def _check(self, X_val: Any, y_val: Any) -> None:
        PairOptions(**PairOptions.taken_from(self))
        if self.measure is not None:
            predicted_measure(self.measure)
        self._check_limits()
        endless = not self._strategy(ModelStrategy, "search").ends and self.max_seconds in (None, math.inf)
        if endless and self.max_evals is None and self.patience is None:
            raise ValueError(
                f"max_evals=None and max_seconds={self.max_seconds} would never end the search; give one, or patience."
            )
        if (X_val is None) != (y_val is None):
            given, missing = ("y_val", "X_val") if X_val is None else ("X_val", "y_val")
            raise ValueError(f"{given} is given without {missing}; validation needs both rows and labels, or neither.")

    def _rows(self, X: Any, y: Any) -> tuple[Any, LabelMatrix]:
        """Checked rows with known labels that differ."""
        self._check_y(y)
        X = checked_features(self, X, reset=True)
        X, labels = known_labels(self, float_matrix(X), y)
        if not labels.differ:
            raise ValueError(
                f"{type(self).__name__} needs labels that differ between rows, but y holds one class only in the "
                f"{labels.n} rows whose labels are known. Pass rows of at least two classes."
            )
        return X, labels

    def _further(self, X_val: Any, y_val: Any, X: Any, labels: LabelMatrix) -> tuple[Any, LabelMatrix]:
        X_val = checked_features(self, X_val, reset=False)
        X_val, labels_val = known_labels(self, float_matrix(X_val), y_val, target_type="classes")
        if sparse.issparse(X) != sparse.issparse(X_val):
            X_val = sparse.csr_array(X_val) if sparse.issparse(X) else X_val.toarray()
        labels_val = aligned(labels_val, labels)
        if not labels_val.nk[labels.nk > 0].any():
            raise ValueError(
                "y_val has no label that y holds in any of its rows, so that every candidate would be equally bad; "
                "pass validation rows of the classes of y."
            )
        return X_val, labels_val

    def _refit_best(self, study: Study, known: Any, further: Any, seed: int) -> list[Evaluation]:
        """Refit the best candidate whose classifier can be fitted on all rows; the outcomes, with those that cannot."""
        outcomes = list(study.outcomes)
        while (best := ranked(outcomes)[0]).failed is None:
            self._keep(study, outcomes, best)
            failed = self._refit(best, study.evaluator, known, further, seed)
            if failed is None:
                return outcomes
            place = next(place for place, each in enumerate(outcomes) if each is best)
            outcomes[place] = replace(best, score=-math.inf, failed=failed)
        raise ValueError(
            f"no candidate can be used on these rows; the first of {len(outcomes)}: {best.failed}. Pass rows that "
            "vary, or another classifier."
        )

    def _warn_of_failures(self, outcomes: Sequence[Evaluation]) -> None:
        """Warn of the candidates that raised exceptions."""
        raised = [each.failed for each in outcomes if each.failed is not None and each.failed.startswith(RAISED)]
        if raised:
            warnings.warn(
                f"{type(self).__name__}: {len(raised)} of {len(outcomes)} candidates raised an exception and count as "
                f"the worst; the first: {raised[0].removeprefix(RAISED)}",
                UserWarning,
                stacklevel=3,
            )

    def _landmarks(
        self, X: Any, labels: LabelMatrix, seed: int, validation: bool = False
    ) -> tuple[Any, LabelMatrix, np.ndarray]:
        """Landmarks, their labels and their numbers; all rows where there are none, or no more validation rows."""
        asked: Any = self.n_landmarks
        if validation and isinstance(asked, Integral) and int(asked) >= labels.n:
            asked = None
        index = chosen_landmarks("DEFC", X, labels, asked, seed)
        if index is None:
            return X, labels, np.arange(labels.n)
        return X[index], labels.take(index), index

    def _searched(self, X: Any, labels: LabelMatrix, further: Any, seed: int) -> Study:
        folds: Any = None
        if further is None:
            folds = self._folds(X, labels, seed)
        objective = Objective(
            X,
            labels,
            folds if further is None else further,
            classifier=self.classifier,
            measure=self.measure,
            k_cap=K_CAP if self.n_components is None else int(self.n_components),
            all_k=self.all_k,
            cache_bytes=self.cache_bytes,
            **PairOptions.taken_from(self),
        )
        strategy, data = (
            self._strategy(ModelStrategy, "search")(),
            {"features": X, "labels": labels, "inner folds": folds},
        )
        if further is not None:
            data |= {"validation features": further[0], "validation labels": further[1]}
        bounds = {"max_evals": self.max_evals, "patience": self.patience}
        with threadpool_limits(1, "blas"):
            study = self._study(objective, seed, strategy, data, **bounds)
        if study.interrupted and all(evaluation.failed for evaluation in study.outcomes):
            raise KeyboardInterrupt
        return study

    def _folds(self, X: Any, labels: LabelMatrix, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
        splits = [(split.train, split.held_out) for split in self._splits(X, labels, seed)]
        for train, _ in splits:
            if not labels.take(train).differ:
                smallest = int(labels.nk[labels.nk > 0].min())
                raise ValueError(
                    f"cv={self.cv!r} leaves training rows of one class only in a fold, since the smallest class has "
                    f"{smallest} rows; take fewer folds, more rows of that class, or pass X_val and y_val."
                )
        return splits

    def _refit(self, best: Evaluation, objective: Objective, known: Any, further: Any, seed: int) -> str | None:
        """Refit a candidate, on landmarks if any, and its classifier on all rows; the reason if that raised."""
        X, labels = known
        if further is not None and self.refit == "all":
            X, labels = joined(X, labels, further)
        part, part_labels, _ = self._landmarks(X, labels, seed)
        rows, options = trained_on(objective), objective.options
        params = carried_over(best.params, best.switches, objective.labels, rows, part_labels, **options)
        model = refitted(best, params, part, part_labels, **options)
        trained = model.transform(X.astype(np.float64, copy=False)), labels
        classifier = PrefixClassifier(self.classifier, one_label=objective.one_label)
        try:
            classifier = classifier.fit(*trained).calibrate(*objective.unseen_scores(best))
        except MemoryError:
            raise
        except Exception as error:  # classifiers of other libraries raise errors of any kind
            if not is_unfitted_classifier(self.classifier):
                raise
            return f"{RAISED}{reason_of(error)} (on all {labels.n} rows)"
        self._trained, self.classifier_, self.best_estimator_ = trained, classifier, model
        return None

    def _keep(self, study: Study, outcomes: Sequence[Evaluation], best: Evaluation) -> None:
        self.best_switches_ = Switches.of(best.switches)
        self.best_params_ = {**best.params, "k": best.k}
        self.best_score_ = best.score
        self.leaderboard_ = [evaluation.entry() for evaluation in ranked(outcomes)]
        self.history_, self.cache_stats_ = study.history, study.cache_stats
        self.n_models_, self.n_evaluations_ = len(study.trials), len(outcomes)
        self.measure_, self.interrupted_ = study.evaluator.measure.name, study.interrupted

    def describe(self) -> str:
        """The best candidate in words, with its classifier and its score in the search."""
        check_is_fitted(self, "best_estimator_")
        own = self.classifier_.classifier
        name = type(own).__name__ if is_unfitted_classifier(own) else NAMES[own]
        return (
            f"{self.best_estimator_.describe()}; {self.best_estimator_.n_components_} components; {name} "
            f"({self.measure_} {self.best_score_:.3f} in the search, the best of {self.n_evaluations_} candidates of "
            f"{self.n_models_} models)"
        )

    def transform(self, X: Any) -> Any:
        """The embedding of rows, (m, d) to (m, k), by the best candidate, in X's float type."""
        X = self._new_rows(X)
        return in_range(self._embedded(X), X)

    def predict(self, X: Any) -> Any:
        """Labels of rows, (m, d), in the form in which y came."""
        Z = self._embedded(self._new_rows(X))
        return self.classifier_.predict(Z)

    @available_if(lambda self: not (isinstance(self.classifier, str) and self.classifier == "1nn"))
    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of the labels by the classifier: (m, c), or (m,) for 1-D y with two classes."""
        Z = self._embedded(self._new_rows(X))
        return self.classifier_.decision_function(Z)

    @available_if(lambda self: hasattr(vars(self).get("classifier_", PrefixClassifier), "predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the labels of rows, (m, d), calibrated on the rows that the search held out: of nearest rows
        how often such a row has the label. Returns (m, c), in the order of ``classes_``; with one class per row they
        sum to 1. Labels are predicted by the classifier, whose class need not be the most probable one."""
        Z = self._embedded(self._new_rows(X))
        return self.classifier_.predict_proba(Z)

    def score(self, X: Any, y: Any) -> float:
        """The measure of the search, ``measure_``, on further rows, (m, d), and their labels."""
        X, labels = known_labels(self, self._new_rows(X), y, target_type="classes", task="score")
        Z, labels_trained = self._trained
        truth = aligned(labels, labels_trained)
        rows = Z, labels_trained, self._embedded(X), truth
        found, measure = self.classifier_, self.measure_ if self.measure is None else self.measure
        return float(prefix_scores(found.classifier, *rows, measure, [Z.shape[1]], one_label=found.one_label)[0])

    def _new_rows(self, X: Any) -> Any:
        check_is_fitted(self, "best_estimator_")
        X = checked_features(self, X, reset=False)
        return float_matrix(X)

    def _embedded(self, X: Any) -> np.ndarray:
        return np.asarray(self.best_estimator_.transform(X.astype(np.float64, copy=False)))

    @property
    def _n_features_out(self) -> int:
        return self.best_estimator_.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
