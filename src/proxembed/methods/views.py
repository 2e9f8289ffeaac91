"""Views: a method on several descriptions of the rows side by side: features, kernel map, forest leaves, and label
scores from models that have not seen the row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from proxembed.algebra.pencil.eigen import Solution
from proxembed.algebra.shared import sharing
from proxembed.algebra.template import Template
from proxembed.estimator.base import Prepared, SpectralEmbedder
from proxembed.estimator.readout import ReadOut
from proxembed.estimator.rows import Rows
from proxembed.estimator.traits import Traits
from proxembed.estimator.weights import (
    WeightedRows,
    as_given,
    held_under,
    repeated_labels,
    takes_weights,
    weights_of,
    with_weighted_means,
)
from proxembed.estimator.wrapper import METHOD, LabelledFeatures, TemplateWrapper, refuse_features
from proxembed.features.leaves import forest_targets
from proxembed.features.scaling import Block, scaled
from proxembed.pairs.relation import column_deviations
from proxembed.params import SEED, Param, methods, param, seed_of
from proxembed.proximity.backends import nearest
from proxembed.splits.splits import Split
from proxembed.tables.notes import few_names
from proxembed.tables.rows import for_solvers
from proxembed.targets.known import known_rows_per_label, smoothed_log_odds
from proxembed.targets.labels import LabelMatrix
from proxembed.targets.targets import Targets

from .forest import ForestLeaves, ForestVotes, averaged_rows, distinct_folds
from .kernelized import Kernelized
from .variance import PCA


@dataclass(frozen=True)
class LabelModels:
    """One model for each label, or one regressor of all; a number where the known cells of a label are all alike. The
    score of a classifier is its ``decision_function``, else the probability of the label, that of a regressor its
    prediction. A label that all rows carry, or none, has the log odds of its smoothed share (k + 1) / (n + 2), that
    share where scores are probabilities, or 0 or 1 of a regressor."""

    models: list[Any]

    @classmethod
    def of(cls, estimator: Any, X: Any, labels: Targets, times: np.ndarray | None = None) -> LabelModels:
        """Copies of an estimator, fitted on the rows where a label is known. A regressor that takes several outputs is
        fitted on all labels at once, unknown cells at the mean of their label. Numbers take regressors alone.
        ``times``: how often each row occurs."""
        X, regressor = for_solvers(X), is_regressor(estimator)
        if labels.numbers and not regressor:
            raise ValueError(
                f"Views cannot take {type(estimator).__name__}, a classifier, for numbers; use a regressor."
            )
        if regressor and labels.c > 1 and get_tags(estimator).target_tags.multi_output:
            filled = with_weighted_means(labels, times).Y.toarray()
            return cls([clone(estimator).fit(X, filled, **weights_of(times))])
        models: list[Any] = []
        if not isinstance(labels, LabelMatrix):
            F, known = labels.Y.toarray(), labels.known_cells
            for j in range(labels.c):
                rows = slice(None) if known is None else np.flatnonzero(known[:, j])
                models.append(clone(estimator).fit(X[rows], F[rows, j], **weights_of(times, rows)))
            return cls(models)
        for rows, column in known_rows_per_label(labels):
            if column.any() and not column.all():
                target = column.astype(float if regressor else int)
                models.append(clone(estimator).fit(X[rows], target, **weights_of(times, rows)))
            elif regressor:
                models.append(float(column.any()))
            else:
                number = len(column) if times is None else times[rows].sum()
                odds = float(smoothed_log_odds(number if column.any() else 0, number))
                models.append(odds if hasattr(estimator, "decision_function") else float(1 / (1 + np.exp(-odds))))
        return cls(models)

    def lift(self, X: Any) -> np.ndarray:
        """The scores (m, c) of rows X."""
        X = for_solvers(X)
        columns = [np.full(X.shape[0], m) if isinstance(m, float) else _scores(m, X) for m in self.models]
        return np.hstack([np.reshape(column, (X.shape[0], -1)) for column in columns]).astype(np.float64)


def _scores(model: Any, X: Any) -> np.ndarray:
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    return model.predict_proba(X)[:, 1] if hasattr(model, "predict_proba") else model.predict(X)


def scores_out_of_fold(
    estimator: Any, X: Any, labels: Targets, splits: Iterable[Split], times: np.ndarray | None = None
) -> np.ndarray:
    """The scores (n, c) of rows, those of each held-out part by models fitted on the others, each as often as it
    occurs."""
    found, labels = np.empty((X.shape[0], labels.c)), labels.held()
    for split in splits:
        own, counts = split.train, None if times is None else times[split.train]
        models = LabelModels.of(estimator, X[own], labels.take(own), counts)
        found[split.held_out] = models.lift(X[split.held_out])
    return found


NAMED = ("features", "kernel", "leaves", "scores")
GRID = (0.0, 0.5, 1.0, 2.0, 4.0)
# Most rows for the width of a kernel on views: the best width on leaves depends on how many rows share one. Macro
# average precision of yeast (1,500 rows) is .522 to .525 with the width of 800 rows, and .533 to .536 with that of all.
TUNING_ROWS = 2000
WEIGHT_FOLDS, SCORE_FOLDS, NEIGHBORS = 3, 5, 10
SCORES = Traits(labels="multi")  # of an estimator of scikit-learn
WEIGHT = Param(low=0, high=1e6)


def _is_view(value: Any) -> bool:
    """Whether a view is named, lists columns, makes features of its own, or scores labels."""
    if isinstance(value, str):
        return value in NAMED
    if isinstance(value, list | tuple):
        return len(value) > 0 and all(isinstance(name, str | Integral) and not isinstance(name, bool) for name in value)
    if isinstance(value, type) or not isinstance(value, BaseEstimator):
        return False
    return isinstance(value, Kernelized | ForestLeaves) or is_classifier(value) or is_regressor(value)


def _are_views(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) > 0 and all(map(_is_view, value))


def _are_weights(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(WEIGHT.permits, value)) and any(each > 0 for each in value)
    return (isinstance(value, str) and value == "folds") or WEIGHT.permits(value)


@dataclass(frozen=True)
class Plain:
    """The features themselves, or some of them, as a view, with the standard deviation of each feature."""

    deviations: np.ndarray
    columns: np.ndarray | None = None

    def lift(self, X: Any) -> Any:
        """X as it is, or its columns."""
        return X if self.columns is None else X[:, self.columns]

    def feature_effects(self, weights: np.ndarray) -> np.ndarray:
        """The weights of the standardised features; 0 for those that the view does not have."""
        if self.columns is None:
            return weights * self.deviations
        effects = np.zeros((len(weights), len(self.deviations)))
        effects[:, self.columns] = weights * self.deviations[self.columns]
        return effects


@dataclass(frozen=True)
class OnViews(Prepared):
    """The views that ``lift`` needs with the scale of each, and the template of the wrapped method, for fit alone.
    ``deviations``: the standard deviation of each column of the blocks among the rows of fit."""

    views: tuple[Any, ...] = ()
    blocks: tuple[Block, ...] = ()
    deviations: np.ndarray | None = None
    inner: Template | None = None

    def for_new_rows(self) -> Prepared:
        kept: dict[str, Any] = {"views": self.views, "blocks": self.blocks, "deviations": self.deviations}
        return OnViews(**vars(super().for_new_rows()), **kept)

    def columns(self, X: Any) -> Any:
        """The blocks of rows X side by side."""
        return scaled(self.blocks, [view.lift(X) for view in self.views])


class _Alone(TemplateWrapper, labels="multi"):
    """The wrapped method under the settings of its combinator."""

    method: SpectralEmbedder = param(kw_only=False, kind=SpectralEmbedder, doc="The method.")

    @property
    def traits(self) -> Traits:
        return replace(super().traits, labels=self.inner().traits.labels)

    def learn(self, rows: Rows, found: Solution) -> None:
        """The read-out of F, and the range of F, where y holds numbers."""
        super().learn(rows, found)
        if isinstance(rows.labels, LabelMatrix):
            return
        self._of_outputs = ReadOut.of(rows, found.problem.rows, self.components_.T, found.ridge)
        if rows.labels.of_block:
            totals = rows.labels.totals
            self._level_, self._range_ = totals.level_and_scale[0], (totals.low, totals.high)
            return
        F = rows.labels.Y.toarray()
        self._level_, self._range_ = F.mean(axis=0), (F.min(axis=0), F.max(axis=0))

    def predicted(self, X: Any) -> np.ndarray:
        """F of new rows by the read-out, within the range of the training rows."""
        Z = self.transform(X) - self._of_outputs.mean
        steps, kept = Z @ self._of_outputs.weights, self._of_outputs.kept
        if steps.shape[1] < len(self._level_):  # the others were constant
            steps, found = np.zeros((len(Z), len(self._level_))), steps
            steps[:, kept] = found
        return np.clip(steps + self._level_, *self._range_)


class _AloneOnFactor(_Alone, labels="multi"):
    """The same, of an F that is not scaled again."""

    def target_scaling(self) -> str:
        return "none"


class Views(LabelledFeatures, labels="multi"):
    """Views side by side: any method on scaled blocks of features, kernel map, forest leaves and label scores.
    [wolpert1992stacking] [breiman2001forests]

    Puts blocks of columns side by side in front of a method. Each block (view) is centred if it is dense, divided by
    the root mean squared distance of its rows to their mean, and multiplied by its weight. "features" is X itself,
    "kernel" the features of ``Kernelized()``, "leaves" those of ``ForestLeaves(rows="oob")``, "scores" the votes of a
    forest per label, or its means of the numbers of y. A Kernelized or ForestLeaves estimator in their place brings its
    own settings. A list of names, globs or numbers of columns is a block of these columns, as in
    ``views=[["a", "b"], ["c*"], "scores"]``; names are those of the DataFrame of ``fit``. Any classifier or regressor
    of scikit-learn forms a view of its scores: ``decision_function``, else probabilities, else predictions, from one
    model per label (a regressor with several outputs: one model). Numbers take regressors.

    The scores of a training row come from trees, or from models of five folds, that have seen neither the row nor an
    equal one; the scores of new rows come from models of all rows. A training row keeps its place in ``transform``, and
    so does a row equal to it. Forests replace an unknown cell with the mean of its label, and models of one label leave
    it out; around OPLS, CCA and PLS a row without any known label is treated as a new row.

    ``explain`` adds up the effects of the features through features, kernel, leaves and votes; models of scikit-learn
    have none.

    Attributes
    ----------
    method_ : the wrapped method with its parameters.
    weights_ : (number of views,) array, the weights used.
    views_ : list, the fitted views whose weight is not 0, in order; each has ``lift(X)``.
    ridge_ : float, the ridge used, absolute.
    components_ : (k, r) array of the embedding of what the method projects: the blocks, or their kernel rows.
    eigenvalues_ : (k,) array.

    Raises
    ------
    ValueError
        For a view or weights of an unknown kind, numbers of views and weights that differ, a method that places rows
        directly or makes features from the labels, ``ForestLeaves(rows="all")`` beside a ridge or a width that
        leave-one-out chooses (its error is too small on such leaves), n_components above the bound, bad X or y. From
        ``explain`` where all views are models of scikit-learn.

    See Also
    --------
    proxembed.Kernelized : The same method on a kernel.
    proxembed.ForestLeaves : The same method on the leaves of a forest.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.pipeline import make_pipeline
    >>> from proxembed import OPLS, Views
    >>> from proxembed.classify import LabelKNN
    >>> from proxembed.data import digits
    >>> data = digits()
    >>> views = Views(OPLS(), views=["kernel", "leaves", GaussianNB()], n_components=6, n_estimators=50)
    >>> model = make_pipeline(views, LabelKNN()).fit(data.X[:400], data.Y[:400])
    >>> model.score(data.X[400:], data.Y[400:]) > 0.85  # rows whose whole label set is right
    True
    """

    attributes = ""
    method: SpectralEmbedder | None = param(
        default=None,
        like=METHOD,
        kw_only=False,
        search=methods("multi"),
        doc="Any projection method; None: Kernelized(OPLS()).",
    )
    views: list[Any] | tuple[Any, ...] = param(
        default=("features", "scores"),
        words="a list of 'features', 'kernel', 'leaves', 'scores', lists of columns, Kernelized or ForestLeaves, "
        "classifiers or regressors of scikit-learn",
        test=_are_views,
        search=(("features", "scores"), ("features", "leaves"), ("features", "leaves", "scores")),
        doc="The views, at least one.",
    )
    weights: float | list[Any] | tuple[Any, ...] | str = param(
        default=0.5,
        words="a number >= 0 and <= 1e+06, a list of one such number per view (not all 0), or 'folds'",
        test=_are_weights,
        search=(0.5, 1.0, 2.0),
        doc="One weight per view, or one number for all but the first, whose weight is then 1; folds: the number among "
        "0, 0.5, 1, 2 and 4 under which rows left out by three folds have the largest Jaccard@10 (cosine) to the other "
        "rows, or the least squared error of their predictions where y holds numbers, with views and method fitted "
        "again in each fold.",
    )
    n_estimators: int = param(
        default=300, low=1, high=100_000, integer=True, doc='Trees of the forests of "leaves" and "scores".'
    )
    random_state: int | None = param(default=0, like=SEED, doc="Seed of forests and folds.")

    def default_method(self) -> SpectralEmbedder:
        return Kernelized()

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; where ``deep``, those of the estimators among the views as views__NUMBER__NAME."""
        found = super().get_params(deep=deep)
        for number, view in enumerate(self.views if deep and isinstance(self.views, list | tuple) else ()):
            if isinstance(view, BaseEstimator):
                found[f"views__{number}"] = view
                found |= {f"views__{number}__{name}": value for name, value in view.get_params().items()}
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters by the names of ``get_params``; a view by its number, as views__0. Returns self."""
        inside = {name: params.pop(name) for name in list(params) if name.startswith("views__")}
        super().set_params(**params)
        for name, value in inside.items():
            number, _, rest = name.removeprefix("views__").partition("__")
            known = self.get_params()
            if f"views__{number}" not in known and (rest or not number.isdecimal() or int(number) >= len(self.views)):
                raise ValueError(f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {[*known]}.")
            if rest:
                known[f"views__{number}"].set_params(**{rest: value})
            else:
                self.views = type(self.views)(
                    value if place == int(number) else view for place, view in enumerate(self.views)
                )
        return self

    @property
    def traits(self) -> Traits:
        """Labels as the wrapped method takes them, or where a view or the choice of weights needs them."""
        inner = self.inner().traits
        labels = inner.labels or ("multi" if self._learns_labels() else None)
        return replace(super().traits, labels=labels)

    def _given_views(self) -> Any:
        """The views; none where the parameter holds something else."""
        given: Any = self.views
        return given if isinstance(given, list | tuple) else ()

    def _learns_labels(self) -> bool:
        def learns(view: Any) -> bool:
            if isinstance(view, str | list | tuple):
                return view in ("leaves", "scores")
            return getattr(view, "traits", SCORES).labels is not None

        return isinstance(self.weights, str) or any(map(learns, self._given_views()))

    @property
    def _unweighted_view(self) -> str:
        """The first view whose rows have no weights; empty for none."""
        for view in self._given_views():
            if not isinstance(view, str | list | tuple) and not takes_weights(view):
                return type(view).__name__
        return ""

    @property
    def weighs_rows(self) -> bool:
        return super().weighs_rows and not self._unweighted_view

    @property
    def why_unweighted(self) -> str:
        view = self._unweighted_view
        return f"its view {view} takes none" if view and super().weighs_rows else super().why_unweighted

    def count_rows(self, rows: Rows, counts: np.ndarray) -> Rows:
        """As the wrapped method takes them, unknown cells at means; the views have the labels as they are."""
        if rows.labels is None:
            return super().count_rows(rows, counts)
        given = rows.labels if isinstance(rows.labels, LabelMatrix) else held_under(rows.labels, counts)
        filled = given if self.fill_rule(given) is None else with_weighted_means(given, counts)
        found = super().count_rows(replace(rows, labels=filled), counts)
        return replace(found, plain=given) if isinstance(found, WeightedRows) else found

    @property
    def views_(self) -> list[Any]:
        """The fitted views whose weight is not 0."""
        check_is_fitted(self, "n_components_")
        return list(self.prepared_.views)

    def check_method(self, method: SpectralEmbedder, role: str | None = None) -> None:
        name = type(method).__name__
        if method.class_traits.direct:
            raise ValueError(f"{name} places the rows themselves and has no projection; wrap a projection method.")
        refuse_features("Views", method)
        for each in (method, *(view for view in self.views if isinstance(view, Kernelized))):
            if each.__sklearn_tags__().input_tags.pairwise:
                raise ValueError(f"Views cannot take {type(each).__name__} on precomputed values; name a kernel.")
        leaves = any(isinstance(view, ForestLeaves) and view.rows == "all" for view in self.views)
        if leaves and (chosen := self._chosen_by_leave_one_out(method)):
            raise ValueError(
                f"ForestLeaves(rows='all') cannot be a view beside {chosen}='auto', whose leave-one-out error is far "
                f"too small on leaves that the labels have shaped; use rows='oob', or a number for {chosen}."
            )

    def _chosen_by_leave_one_out(self, method: SpectralEmbedder) -> str:
        """The name of a parameter that the labels choose in closed form."""
        ridge = self.ridge
        while True:
            ridge = getattr(method, "ridge", 0.0) if ridge is None else ridge
            if isinstance(method, Kernelized) and method.kernel == "gaussian" and method.tau == "auto":
                return "tau"
            if not isinstance(method, TemplateWrapper):
                return "ridge" if ridge == "auto" else ""
            method = method.inner()

    def resolve(self) -> None:
        super().resolve()
        if isinstance(self.method_, Kernelized) and self.method_.tuning_rows is None:
            self.method_.tuning_rows = TUNING_ROWS
        if isinstance(self.weights, list | tuple) and len(self.weights) != len(self.views):
            raise ValueError(
                f"weights={self.weights!r} has {len(self.weights)} numbers, and there are {len(self.views)} views; "
                "give one number per view."
            )

    def natural_components(self, rows: Rows) -> int:
        return self.method_.natural_components(replace(rows, X=self.prepared_.training))

    def prepare(self, rows: Rows) -> Prepared:
        """With the views of weight, their scales and the template of the wrapped method on their blocks."""
        seed = seed_of(self.random_state)
        given = as_given(rows)
        weights = np.array(self._weights(given, seed), dtype=np.float64)
        used = np.flatnonzero(weights)
        views, own = self._learned(given, [self.views[number] for number in used], seed)
        blocks = tuple(Block.of(each, weight, rows.counts) for each, weight in zip(own, weights[used], strict=True))
        training = scaled(blocks, own)
        placed = replace(self.filled(rows), X=training)
        settings = vars(super().prepare(placed)) | {"attributes": {"weights_": weights}}
        deviations, inner = column_deviations(training, rows.counts), self.method_.template(placed)
        return OnViews(**settings, views=tuple(views), blocks=blocks, deviations=deviations, inner=inner)

    def _weights(self, rows: Rows, seed: int) -> tuple[float, ...]:
        """The weight of each view."""
        if isinstance(self.weights, list | tuple):
            return tuple(self.weights)
        rest = self._weight_of_folds(rows, seed) if isinstance(self.weights, str) else float(self.weights)
        return (1.0, *[rest] * (len(self.views) - 1))

    def _weight_of_folds(self, rows: Rows, seed: int) -> float:
        """The weight under which held-out rows are placed among rows of the most similar labels, or their numbers are
        predicted with the least squared error, all refitted."""
        found, labels = np.zeros(len(GRID)), rows.labels.held()
        for _, own, new in distinct_folds(rows.X, labels, WEIGHT_FOLDS, seed):
            part, new = replace(rows, labels=labels).take(own), new[labels.rows_any[new]]
            views, training = self._learned(part, list(self.views), seed)
            held_out = [view.lift(rows.X[new]) for view in views]
            known, truth = part.labels.rows_any, labels.take(new)
            times = rows.times[new]
            Y, Y_new = (each.with_means().Y.toarray() for each in (part.labels.take(known), truth))
            for i, weight in enumerate(GRID):
                used = len(views) if weight else 1
                sizes = [weight if at else 1.0 for at in range(used)]
                blocks = [Block.of(each, size, part.counts) for each, size in zip(training, sizes, strict=False)]
                R, R_new = (scaled(blocks, side[:used]) for side in (training, held_out))
                model = self._fitted_alone(R, part)
                if isinstance(labels, LabelMatrix):
                    Z, Z_new = model.transform(R), model.transform(R_new)
                    found[i] += times.sum() * label_agreement(Z[known], Y, Z_new, Y_new, times)
                else:
                    found[i] -= squared_error(model, R_new, truth, times)
        return GRID[int(np.argmax(np.round(found / rows.times.sum(), 12)))]

    def _fitted_alone(self, R: Any, part: Rows) -> Any:
        """The wrapped method on the blocks R of some rows; numbers in F as they are."""
        if part.counts is None:
            return self._alone(_Alone).fit(R, self.filled(part).labels)
        labels = with_weighted_means(part.labels, part.counts)
        if isinstance(labels, LabelMatrix):
            return self._alone(_Alone).fit(R, labels, sample_weight=part.counts)
        model = self._alone(_AloneOnFactor).set_params(target_type="real")
        return model.fit(R, labels.Y.toarray(), sample_weight=part.counts)

    def _alone(self, kind: type[_Alone]) -> SpectralEmbedder:
        names = ("n_components", "scaling", "solver", "ridge", "ridge_scale")
        return kind(self.member(), **{name: getattr(self, name) for name in names})

    def _learned(self, rows: Rows, views: list[Any], seed: int) -> tuple[list[Any], list[Any]]:
        """The fitted views, and the description of the rows by each."""
        known = np.arange(rows.n) if rows.labels is None else np.flatnonzero(rows.labels.rows_any)
        part = rows if len(known) == rows.n else rows.take(known)
        fitted, described = [], []
        with sharing():  # leaves and scores have one forest
            for view in views:
                found, own = self._view(view, part, seed)
                if len(known) < rows.n:
                    own = with_others(own, found, rows.X, known)
                fitted.append(found)
                described.append(own)
        return fitted, described

    def _view(self, view: Any, rows: Rows, seed: int) -> tuple[Any, Any]:
        """A view learned from rows of which some labels are known, and their own description."""
        if isinstance(view, str) and view == "features":
            return Plain(column_deviations(rows.X, rows.counts)), rows.X
        if isinstance(view, list | tuple):
            block = Plain(column_deviations(rows.X, rows.counts), self._numbers_of(view, rows.X.shape[1]))
            return block, block.lift(rows.X)
        if isinstance(view, str) and view == "scores":
            return self._votes(rows, seed)
        if isinstance(view, str):
            kernel = Kernelized(random_state=seed) if rows.labels is not None else Kernelized(PCA(), random_state=seed)
            leaves = ForestLeaves(rows="oob", n_estimators=self.n_estimators, random_state=seed)
            return self._lifted({"kernel": kernel, "leaves": leaves}[view], rows)
        if isinstance(view, Kernelized | ForestLeaves):
            return self._lifted(clone(view), rows)
        splits = distinct_folds(rows.X, rows.labels, SCORE_FOLDS, seed)
        if not splits:
            raise ValueError("Scores of the labels need at least two different rows of X; pass more rows.")
        own = scores_out_of_fold(view, rows.X, rows.labels, splits, rows.counts)
        return LabelModels.of(view, rows.X, rows.labels, rows.counts), own

    def _numbers_of(self, view: list[Any] | tuple[Any, ...], d: int) -> np.ndarray:
        """The numbers of the columns that a view lists."""
        names = getattr(self, "feature_names_in_", None)
        found: dict[int, None] = {}
        for each in view:
            if isinstance(each, str):
                exact = [j for j, name in enumerate([] if names is None else names) if name == each]
                own = exact or [j for j, name in enumerate([] if names is None else names) if fnmatchcase(name, each)]
            else:
                own = [int(each)] if 0 <= each < d else []
            if not own:
                known = f"the {d} columns of X" if names is None else f"the columns {few_names(list(names))}"
                more = "; pass X as a DataFrame, or give numbers of columns" if names is None else ""
                raise ValueError(f"views={self.views!r} lists {each!r}, which is none of {known}{more}.")
            found.update(dict.fromkeys(own))
        return np.array(list(found))

    def _lifted(self, view: Any, rows: Rows) -> tuple[Any, Any]:
        """A combinator that makes features, ready for new rows, and its features of these rows."""
        view.resolve()
        if rows.labels is not None:
            rows = replace(rows, labels=with_weighted_means(rows.labels, rows.counts))
            view.check_labels(rows.labels)
        if rows.counts is not None:
            rows = view.count_rows(replace(rows, counts=None), rows.counts)
        view.make_ready(rows)
        own = view.explicit().training
        view.release()
        return view, own

    def _votes(self, rows: Rows, seed: int) -> tuple[ForestVotes, np.ndarray]:
        """A forest, and its out-of-bag shares of the labels; equal rows are one row to it."""
        labels = with_weighted_means(rows.labels, rows.counts)
        if rows.counts is not None:
            labels = repeated_labels(labels, rows.counts, whole=False)
        X, Y, counts, number = averaged_rows(rows.X, labels.Y, rows.times)
        settings = {"n_estimators": int(self.n_estimators), "min_samples_leaf": 2, "max_features": "sqrt"}
        votes, own = ForestVotes.of(X, forest_targets(labels, Y), Y, counts, **settings, random_state=seed)
        return votes, own[number]

    def lift(self, X: Any) -> Any:
        """What the method projects of rows X: their blocks, or what it makes of these."""
        return self.method_.lift(self.prepared_.columns(X))

    def feature_effects(self, weights: np.ndarray) -> np.ndarray:
        """The sum of the effects through features, kernel, leaves and votes of a forest; models of scikit-learn have
        none."""
        slopes, deviations = self.method_.feature_effects(weights), self.prepared_.deviations
        if slopes is not weights:  # effects of one standard deviation of a column
            slopes = np.divide(slopes, deviations, out=np.zeros(slopes.shape), where=deviations > 0)
        total, start = None, 0
        for view, block in zip(self.prepared_.views, self.prepared_.blocks, strict=True):
            part = slopes[:, start : start + block.width]
            start += block.width
            if hasattr(view, "feature_effects"):
                factor = block.weight / block.size if block.size else 0.0
                effects = view.feature_effects(part * factor)
                total = effects if total is None else total + effects
        if total is None:
            raise ValueError(
                "Every view is scores of scikit-learn's models, which have no effects of features to explain; put "
                "'features' among the views."
            )
        return total


def squared_error(model: Any, X: Any, truth: Targets, times: np.ndarray) -> float:
    """The sum of the squared errors of the F of new rows X that ``_Alone`` predicts, over their known cells, each row
    as often as it occurs."""
    errors = times[:, None] * (model.predicted(X) - truth.Y.toarray()) ** 2
    return float(np.sum(errors if truth.known_cells is None else errors * truth.known_cells))


def with_others(own: Any, view: Any, X: Any, known: np.ndarray) -> Any:
    """The description of all rows X by a fitted view: ``own`` that of the rows ``known``, the others as new rows."""
    others = np.setdiff1d(np.arange(X.shape[0]), known)
    new = view.lift(X[others])
    stacked = sparse.csr_array(sparse.vstack([own, new])) if sparse.issparse(own) else np.vstack([own, new])
    return stacked[np.argsort(np.concatenate([known, others]))]


def label_agreement(
    Z: np.ndarray, Y: np.ndarray, Z_new: np.ndarray, Y_new: np.ndarray, times: np.ndarray | None = None
) -> float:
    """Jaccard@10: the mean similarity of the labels of new rows and of their ten nearest rows by cosine. Of shares the
    similarity is the sum of the smaller ones over that of the larger ones; 1 of two empty sets. ``times``: how often
    each new row occurs."""
    near, found = nearest(Z, min(NEIGHBORS, len(Z)), queries=Z_new, metric="cosine").index, []
    for each in near.T:
        common, union = np.minimum(Y_new, Y[each]).sum(axis=1), np.maximum(Y_new, Y[each]).sum(axis=1)
        found.append(np.where(union > 0, common / np.where(union > 0, union, 1), 1.0))
    return float(np.average(np.mean(found, axis=0), weights=times))
