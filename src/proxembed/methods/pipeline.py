"""What a model is: scaling, an embedding and a read-out in one scikit-learn pipeline, and the labels to fit it on."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.base import clone
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from proxembed.blocks import is_dask
from proxembed.classify import Thresholded
from proxembed.classify.label_classifier import LabelClassifier
from proxembed.classify.log_odds import LogOdds
from proxembed.classify.ridge import fit_readout
from proxembed.classify.score_products import UnseenScores, joined_scores
from proxembed.classify.thresholds import label_folds
from proxembed.estimator.base import SpectralEmbedder
from proxembed.estimator.explain import Explanation, explanation
from proxembed.estimator.traits import Traits
from proxembed.estimator.weights import (
    check_takes_weights,
    checked_weights,
    present_rows,
    takes_weights,
    weights_of,
    with_weighted_means,
)
from proxembed.estimator.wrapper import MethodWrapper
from proxembed.execute.executor import own_configuration
from proxembed.features.encoded import with_encoder, with_example
from proxembed.features.scaling import scaled_by_sums, scaling_kind
from proxembed.proximity.reordering import even_sample
from proxembed.splits.splits import groups_of
from proxembed.tables import RawRows, TableRows
from proxembed.tables.frames import frame_of, in_order, rows_of, with_columns
from proxembed.tables.notes import few_names
from proxembed.tables.rows import matrix_by_name
from proxembed.targets.labels import LabelMatrix
from proxembed.targets.outputs import Outputs
from proxembed.targets.reading import read_targets
from proxembed.targets.targets import Output, Targets
from proxembed.targets.values import class_values, classes_of, missing_entries, object_array

from .around import embedded_within_bound
from .output_readout import OutputReadout
from .relation import RelationFeatures, Scaling
from .row_encoder import RowEncoder
from .table_encoder import TableEncoder

CUT_FOLDS = 3
NAMES = ("feature_names_", "label_names_", "label_values_")


def _last_has(name: str) -> Callable[[Any], bool]:
    return lambda model: hasattr(model.steps[-1][1], name)


class EmbeddingPipeline(Pipeline):
    """A scikit-learn Pipeline that embeds, and predicts where its last step does. ``transform`` is the embedding,
    whether or not a classifier follows it; all else (``predict``, ``decision_function``, ``named_steps``, slices,
    parameters, ``set_output``) is that of ``Pipeline``. The columns of a DataFrame are selected by the names of those
    given to fit: their order does not matter, additional columns are ignored, and missing ones raise ValueError. The
    columns of an array go by position. A global ``transform_output`` of scikit-learn sets the container of the
    embedding; between steps, only ``set_output`` sets another one than arrays."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self._reads_out():  # it embeds, too, and the rows are those of the first step
            tags.transformer_tags = get_tags(self.steps[-2][1]).transformer_tags
            tags.input_tags.sparse = get_tags(self.steps[0][1]).input_tags.sparse
        return tags

    def _reads_out(self) -> bool:
        """Whether the last step only predicts, and those before it embed."""
        last = self.steps[-1][1]
        return len(self.steps) > 1 and hasattr(last, "predict") and not hasattr(last, "transform")

    def _embeds(self) -> bool:
        return self._reads_out() or super()._can_transform()

    @property
    def _part(self) -> EmbeddingPipeline:
        """The steps up to the embedding."""
        return self[:-1] if self._reads_out() else self

    def __getitem__(self, ind: Any) -> Any:
        """A step by place or name, or the pipeline of a slice of steps."""
        part = super().__getitem__(ind)
        if isinstance(ind, slice) and len(part) and part.steps[0] is self.steps[0]:
            kept = (*NAMES, "_sklearn_output_config")
            part.__dict__.update({name: vars(self)[name] for name in kept if name in vars(self)})
        return part

    def _at_once(self, X: Any, readout: tuple[np.ndarray, np.ndarray] | None = None) -> np.ndarray | None:
        """The embedding of rows X, or its scores by a linear read-out, by one product with the scaling: less than half
        the time of one step after the other. None where the steps are others, or are to say what is wrong with the
        rows."""
        steps = [step for _, step in (self.steps[:-1] if self._reads_out() else self.steps)]
        if len(steps) != 2 or not (isinstance(steps[0], Scaling) and isinstance(steps[1], SpectralEmbedder)):
            return None
        first, embedding = steps
        state, named = getattr(first, "state_", None), hasattr(first, "feature_names_in_")
        if state is None or not scaled_by_sums(first) or named or not hasattr(embedding, "components_"):
            return None
        if any("_sklearn_output_config" in vars(step) for step in steps) or not _plain(X, state.n_features):
            return None
        return embedding.transform_blockwise(X, state.mean, state.std, readout)

    def _scores_at_once(self, X: Any) -> np.ndarray | None:
        """The scores of a linear read-out by one product for all steps; None where there is no such product."""
        last = self.steps[-1][1]
        linear = last.linear_scores() if self._reads_out() and isinstance(last, LabelClassifier) else None
        return None if linear is None else self._at_once(X, linear)

    def set_output(self, *, transform: str | None = None) -> EmbeddingPipeline:
        """Set the container of the embedding: "default", "pandas" or "polars"; steps give each other arrays."""
        if transform not in (None, "default", "pandas", "polars"):
            raise ValueError(f"transform={transform!r} is not allowed; use 'default', 'pandas' or 'polars'.")
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}
        return self

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> EmbeddingPipeline:
        """Fit all steps; y: labels in any form, or numbers where the last step reads out numbers. sample_weight: (n,)
        numbers >= 0, how often each row counts in every step; a ValueError if the embedding takes none."""
        self._forget_names()
        with own_configuration(keeps_routing=True):
            X, y, weighed = self._weighed(frame_of(X), y, sample_weight)
            if isinstance(self.steps[-1][1], OutputReadout):
                return self._fit_outputs(X, y, **weighed, **params)
            if self._reads_itself():
                return self._fit_itself(X, y, params.pop("readout__scores", None), weighed | params)
            return super().fit(X, y, **self._of_steps(**weighed), **params)

    def _weighed(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, dict[str, np.ndarray]]:
        """The rows of non-zero weight, and their weights as ``fit`` takes them by name; ones alone count as none."""
        if sample_weight is None:
            return X, y, {}
        X, y, w = present_rows(X, y, checked_weights(sample_weight, X, y))
        if (w == 1.0).all():
            return X, y, {}
        check_takes_weights(self._part)
        return X, y, {"sample_weight": w}

    def _of_steps(self, sample_weight: np.ndarray | None = None) -> dict[str, np.ndarray]:
        """The weights of the rows as ``Pipeline`` takes them: for each step that takes some, all in one with metadata
        routing, where the steps request them."""
        if sample_weight is None:
            return {}
        if get_config().get("enable_metadata_routing", False):
            return {"sample_weight": sample_weight}
        return {f"{name}__sample_weight": sample_weight for name, step in self.steps if takes_weights(step)}

    def _fit_outputs(self, X: Any, y: Any, sample_weight: np.ndarray | None = None, **params: Any) -> EmbeddingPipeline:
        """Fit the embedding, and the read-out that goes with it."""
        embedding, part = self.steps[-2][1], self[:-1]
        if (rows := getattr(X, "shape", (2,))[0]) == 1:
            raise ValueError(f"Found n_samples={rows} in X, while a minimum of 2 is required.")
        scaling, kind = embedding.target_scaling(), getattr(embedding, "target_type", None)
        targets = (
            y.rescaled(scaling) if isinstance(y, Outputs) else None if y is None else read_targets(y, kind, scaling)
        )
        if y is not None and not isinstance(targets, Outputs):
            raise ValueError(
                "y holds labels, and the last step of this model reads out numbers: pass target_type='real' to the "
                "method, or fit a model of embedding_pipeline(method, X)."
            )
        part.fit(X, targets, sample_weight, **params)
        if targets is None:
            raise ValueError("This model requires y to be passed, but the target y is None.")
        self.steps[-1][1].fit(lambda: part.transform(X), targets, embedding, sample_weight=sample_weight)
        return self

    def _reads_itself(self) -> bool:
        """Whether the embedding itself predicts the labels, and the last step cuts its log odds."""
        last = self.steps[-1][1]
        return self._reads_out() and isinstance(last, Thresholded) and isinstance(last.classifier, LogOdds)

    def _fit_itself(self, X: Any, y: Any, scores: Any, params: dict[str, Any]) -> EmbeddingPipeline:
        """Fit the embedding, and cut its log odds of rows that it has not seen: ``scores``, or its own."""
        part, embedding = self[:-1], self.steps[-2][1]
        part.fit(X, y, **params)
        own = embedding.own_label_scores()
        known = LabelMatrix.of(y).rows_any
        scores = own if scores is None else scores
        S = np.zeros((len(known), own.shape[1]))  # rows without a known label take no part
        S[known] = scores
        self.steps[-1][1].fit(S, y, scores=scores, **weights_of(params.get("sample_weight")))
        return self

    def _log_odds(self, rows: Any) -> Any:
        """The log odds of the labels of rows by the embedding itself; None where the last step reads its components."""
        if not self._reads_itself():
            return None
        for _, step in self.steps[:-2]:
            rows = step.transform(rows)
        return self.steps[-2][1].label_scores(rows)

    def _forget_names(self) -> None:
        for name in NAMES:
            self.__dict__.pop(name, None)

    def _columns(self, X: Any) -> Any:
        """The rows of X in the columns of the fit: those of a DataFrame by name, those of an array by position."""
        X, first = rows_of(X), self.steps[0][1]
        named = hasattr(X, "columns") and not isinstance(X, TableRows) and getattr(first, "columns_", None) is None
        names = getattr(self, "feature_names_", getattr(first, "feature_names_in_", None))
        if names is None or not named:
            return X
        if hasattr(self, "feature_names_") and not is_dask(X):
            return matrix_by_name(X, names)
        return with_columns(X, list(names))

    @available_if(_embeds)
    def transform(self, X: Any, **params: Any) -> Any:
        """The embedding of rows X, (m, d) to (m, k)."""
        rows = self._columns(X)
        with own_configuration(keeps_routing=True):
            Z = None if params else self._at_once(rows)
            if Z is None:
                Z = self._part.transform(rows, **params) if self._reads_out() else super().transform(rows, **params)
        return self._contained(Z, X)

    @available_if(_embeds)
    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> Any:
        """Fit, and return the embedding of X, (n, k); sample_weight: as of ``fit``."""
        X = frame_of(X)
        if self._reads_out() or sample_weight is not None:
            return self.fit(X, y, sample_weight, **params).transform(X)
        self._forget_names()
        with own_configuration(keeps_routing=True):
            Z = super().fit_transform(X, y, **params)
        return self._contained(Z, X)

    def _contained(self, Z: Any, X: Any) -> Any:
        """The embedding of rows X in the container of this model, or in that configured for all transformers."""
        plain = isinstance(Z, np.ndarray) or sparse.issparse(Z)
        container = vars(self).get("_sklearn_output_config", {}).get("transform", get_config()["transform_output"])
        if container != "default" and plain and hasattr(self._part.steps[-1][1], "get_feature_names_out"):
            named = FunctionTransformer(feature_names_out=lambda *_: self.get_feature_names_out())
            Z = named.set_output(transform=container).transform(Z)
        if hasattr(Z, "iloc") and hasattr(X, "iloc"):
            Z.index = X.index
        return Z

    @available_if(_last_has("predict"))
    @own_configuration(keeps_routing=True)
    def predict(self, X: Any, **params: Any) -> Any:
        """The labels of rows X: for one label column its values as they came in, (m,); else an indicator, (m, c)."""
        rows, values = self._columns(X), getattr(self, "label_values_", None)
        found = super().predict(rows, **params) if params else self._predicted(rows)
        if values is None:
            if hasattr(found, "iloc") and hasattr(X, "iloc"):
                found.index = X.index
            return found
        if self.label_names_ is not None:  # one label
            return values[np.asarray(found.toarray() if sparse.issparse(found) else found).ravel().astype(int)]
        return values[np.searchsorted(self.steps[-1][1].classes_, found)]

    def _predicted(self, rows: Any) -> Any:
        """The labels of rows, with as few products as there can be."""
        last = self.steps[-1][1]
        if (S := self._log_odds(rows)) is not None:
            return last.predict(S)
        if (scores := self._scores_at_once(rows)) is not None:
            return last.labels_of(scores)
        Z = self._at_once(rows)
        return super().predict(rows) if Z is None else last.predict(Z)

    @available_if(_last_has("predict_proba"))
    @own_configuration(keeps_routing=True)
    def predict_proba(self, X: Any, **params: Any) -> Any:
        """The probabilities of the labels of rows X, (m, c), in the order of the labels; of one class per row, or one
        label whose values came in, in the order of ``classes_``, with the sum 1. They are calibrated on training rows,
        of which the scores are by fits that have not seen them (see ``Thresholded``)."""
        rows = self._columns(X)
        Z = self._log_odds(rows)
        Z = self._at_once(rows) if Z is None and not params else Z
        P = super().predict_proba(rows, **params) if Z is None else self.steps[-1][1].predict_proba(Z)
        one_label = getattr(self, "label_values_", None) is not None and self.label_names_ is not None
        return np.column_stack([1 - P, P]) if one_label else P

    @available_if(_last_has("predict_log_proba"))
    @own_configuration(keeps_routing=True)
    def predict_log_proba(self, X: Any, **params: Any) -> Any:
        """The logarithms of the probabilities of the labels of rows X."""
        return super().predict_log_proba(self._columns(X), **params)

    @available_if(_last_has("decision_function"))
    @own_configuration(keeps_routing=True)
    def decision_function(self, X: Any, **params: Any) -> Any:
        """The scores of the labels of rows X."""
        rows = self._columns(X)
        if (S := self._log_odds(rows)) is not None:
            return self.steps[-1][1].decision_function(S)
        if not params and (scores := self._scores_at_once(rows)) is not None:
            return scores
        Z = None if params else self._at_once(rows)
        return super().decision_function(rows, **params) if Z is None else self.steps[-1][1].decision_function(Z)

    @available_if(_last_has("score_samples"))
    @own_configuration(keeps_routing=True)
    def score_samples(self, X: Any) -> Any:
        """The score of each row of X."""
        return super().score_samples(self._columns(X))

    @available_if(_last_has("score"))
    @own_configuration(keeps_routing=True)
    def score(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> Any:
        """The score of rows X with labels y, as the last step defines it."""
        if getattr(self, "label_values_", None) is None:
            rows, y = self._columns(X), in_order(y, getattr(self, "label_names_", None) or ())
            if (S := self._log_odds(rows)) is not None:
                return self.steps[-1][1].score(S, y, sample_weight)
            return super().score(rows, y, sample_weight=sample_weight, **params)
        return self._accuracy(self.predict(X, **params), classes_of(y), sample_weight)

    def _accuracy(self, predicted: np.ndarray, true: np.ndarray, weights: Any) -> float:
        """The share of the rows with a known class whose class is predicted."""
        true = true[:, 0] if true.ndim == 2 and true.shape[1] == 1 else true
        if true.shape != predicted.shape:
            raise ValueError(f"y has shape {true.shape}; give one label for each of the {len(predicted)} rows of X.")
        known = ~missing_entries(true)
        if not known.any():
            raise ValueError("y has no known label; pass the labels of some rows.")
        labels, given = self.classes_.tolist(), set(true[known].tolist())
        if given.isdisjoint(labels) and set(map(type, given)).isdisjoint(map(type, labels)):
            held = few_names([str(label) for label in labels])
            raise ValueError(f"y holds none of the labels of the model, {held}; give labels as those of the fit.")
        weights = None if weights is None else checked_weights(weights, predicted)[known]
        if weights is not None and not weights.any():
            raise ValueError("sample_weight is 0 in every row with a known label; weigh some of them.")
        return float(np.average(predicted[known] == true[known], weights=weights))

    @property
    def classes_(self) -> Any:
        """The classes, as ``predict`` returns them."""
        values = getattr(self, "label_values_", None)
        return self.steps[-1][1].classes_ if values is None else values

    @property
    def targets_(self) -> tuple[Output, ...]:
        """How each column of y was read, of a model of numbers."""
        return self.steps[-1][1].targets_

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the components."""
        part = self._part
        if part is self:
            return super().get_feature_names_out(input_features)
        return part.get_feature_names_out(input_features)

    def _explains(self) -> bool:
        embedding = self._part.steps[-1][1]
        if not hasattr(embedding, "explain"):
            raise AttributeError(
                f"{type(embedding).__name__} has no projection, so that no feature has a weight in a component. For "
                "the features that move the prediction of a row use explain_row of the result of a search."
            )
        return True

    @available_if(_explains)
    def explain(self, component: int = 0, n_features: int = 10, n_labels: int = 10) -> Explanation:
        """The strongest features of a component, and the labels or outputs that it serves, by name. The features are
        those that the first step gives: standardised, or those that the columns of a table become. Their numbers are
        those of the embedding's own ``explain``; relation features are traced back to what they are made of."""
        *steps, embedding = (step for _, step in self._part.steps)
        related = [step for step in steps if isinstance(step, RelationFeatures)]
        names = getattr(self, "feature_names_", None)
        if names is None and steps:
            names = getattr(steps[0], "feature_names_in_", None)
        if steps and isinstance(steps[0], TableEncoder | RowEncoder) and steps[0].columns_ is not None:
            names = steps[0].get_feature_names_out()
        return explanation(
            embedding,
            component,
            n_features,
            n_labels,
            before=related,
            feature_names=names,
            label_names=getattr(self, "label_names_", None),
        )


@own_configuration()
def fit_on(
    method: Any, dataset: Any, *, readout: bool = True, scaling: str | None = None, encoder: Any = None
) -> EmbeddingPipeline:
    """Fit a pipeline of scaling, a method and a read-out on a data set, and keep the names of the data.

    Parameters
    ----------
    method : transformer
    dataset : proxembed.data.Dataset
        Its ``sample_weight`` counts in every step.
    readout : bool, default=True
        Whether it also predicts labels, with thresholds tuned as in ``fit_model``, or numbers by ``OutputReadout``.
    scaling : str, optional
        As for ``embedding_pipeline``.
    encoder : transformer or Pipeline of scikit-learn, optional
        Preprocessing of your own in front of all else; a clone is fitted, and the model takes raw rows.

    Returns
    -------
    EmbeddingPipeline
        Fitted.

    Raises
    ------
    TypeError
        ``dataset`` is not a data set, or ``encoder`` not a transformer.
    ValueError
        The encoder fails, changes the number of rows, or gives NaN.

    Examples
    --------
    >>> from proxembed import OPLS
    >>> from proxembed.data import digits
    >>> from proxembed import fit_on
    >>> list(fit_on(OPLS(n_components=3), digits(), readout=False).named_steps)
    ['scaling', 'embedding']

    Of numbers the model is a regressor:

    >>> from proxembed import Kernelized
    >>> from proxembed.data import Dataset
    >>> from sklearn.datasets import load_linnerud
    >>> data = Dataset.from_targets(*load_linnerud(return_X_y=True))
    >>> fit_on(Kernelized(OPLS()), data).predict(data.X).shape
    (20, 3)
    """
    if not hasattr(dataset, "label_names"):
        made = "Dataset(X, Y), Dataset.from_classes(X, classes) or read(file) of proxembed.data"
        got = type(dataset).__name__
        raise TypeError(f"fit_on(method, dataset) needs a data set; got {got}. Make one with {made}.")
    dataset = with_encoder(dataset, encoder)
    y = training_labels(dataset)
    numbers = isinstance(y, Outputs)
    if scaling is None and isinstance(dataset.X, RawRows) and dataset.X.example is None:
        scaling = scaling_kind(with_example(dataset.X, lambda: dataset.targets))
    model = embedding_pipeline(method, dataset.X, readout=readout, scaling=scaling, numbers=numbers)
    if readout and not numbers:
        fit_model(model, dataset.X, y, dataset.groups, dataset.sample_weight)
    else:
        y = y.rescaled(model["embedding"].target_scaling()) if numbers else y
        model.fit(dataset.X, y, dataset.sample_weight, **groups_of(model, dataset.groups))
    name_data(model, dataset, dataset.of_classes)
    return model


def name_data(model: EmbeddingPipeline, dataset: Any, of_classes: bool) -> None:
    """Set the names and the label values of a data set in a pipeline that is fitted on its classes or indicator."""
    if not isinstance(dataset.X, TableRows | RawRows):
        model.feature_names_ = tuple(dataset.feature_names)
    model.label_names_ = None if of_classes or dataset.outputs is not None else tuple(dataset.label_names)
    model.label_values_ = None
    values, readout = dataset.values, model.steps[-1][1]
    if values is None or not hasattr(readout, "predict"):
        return
    if of_classes:
        held = dict(zip(dataset.label_names, values, strict=True))
        values = [held[name] for name in readout.classes_]
    elif len(dataset.label_names) != 1:
        return  # rows without a class, whose labels are an indicator
    try:
        model.label_values_ = class_values(object_array(values))
    except ValueError:  # values of several kinds: their names stand for them
        return


def embedding_pipeline(
    method: Any, X: Any, *, readout: bool = True, scaling: str | None = None, numbers: bool = False
) -> EmbeddingPipeline:
    """The unfitted pipeline that is saved, searched and shown: scaling, embedding, read-out, of ``numbers`` too; before
    them the encoder of raw rows."""
    if isinstance(method, type) or not (hasattr(method, "fit") and hasattr(method, "transform")):
        raise TypeError(
            f"method={method!r} is not a transformer; pass an embedding with fit and transform, such as OPLS()."
        )
    unscaled = get_tags(method).input_tags.pairwise or getattr(method, "traits", Traits()).scales
    kind = "none" if unscaled else scaling_kind(X) if scaling is None else scaling
    first = TableEncoder() if isinstance(X, TableRows) else Scaling(kind)
    steps: list[tuple[str, Any]] = [("scaling", first), ("embedding", clone(method))]
    if isinstance(X, RawRows):
        steps.insert(0, ("encoder", RowEncoder(X.encoder)))
    if readout:
        labels = Thresholded(LogOdds() if hasattr(method, "label_scores") else None)
        steps.append(("readout", OutputReadout(extrapolates(method)) if numbers else labels))
    return EmbeddingPipeline(steps)


def extrapolates(method: Any) -> bool:
    """Whether predictions of a method, or of that inside it, may leave the range of the training rows."""
    while isinstance(method, MethodWrapper):
        method = method.inner(method.members[0])
    return bool(getattr(method, "extrapolate", False))


@own_configuration()
def fit_model(
    model: EmbeddingPipeline, X: Any, y: Any, groups: Any = None, weights: np.ndarray | None = None
) -> EmbeddingPipeline:
    """Fit a pipeline of ``embedding_pipeline``, with cuts and probabilities tuned on rows that the embedding has not
    seen. A supervised embedding sets its own rows further apart than new ones, so that cuts tuned on them lie too high
    or too low for new rows, and probabilities too near 0 and 1. Here scaling, embedding and ridge are fitted again on
    each of three folds' other rows. Rows of one group alone are taken like rows without groups. ``weights``: how often
    each row counts."""
    labels = LabelMatrix.of(y)
    groups = groups_apart(groups, labels)
    together = groups_of(model, groups)
    if model._reads_itself() and groups is None:
        return model.fit(X, y, weights)  # its log odds of the rows of fit have not seen them
    try:
        unseen = _unseen_log_odds if model._reads_itself() else unseen_scores
        scores = unseen(model[:-1], X, labels, groups, weights)
    except ValueError as error:
        model.fit(X, y, weights, **together)  # raises where the fit on all rows is impossible, too
        what = "probabilities" if labels.form == "classes" else "cuts and probabilities"
        warnings.warn(f"{what} are tuned on rows that the embedding has seen: {error}", stacklevel=2)
        return model
    return model.fit(X, y, weights, readout__scores=scores, **together)


def cut_rows(method: Any, n: int) -> int:
    """Of n rows those on which a method is fitted in each of three folds to tune cuts: two thirds, of a map fewer."""
    return min(n - n // CUT_FOLDS, _most_rows_for_cuts(method) or n)


def _most_rows_for_cuts(method: Any) -> int | None:
    """The rows to which a method, or a pipeline with it, is fitted at most to tune cuts; None: all."""
    last = method.steps[-1][1] if isinstance(method, Pipeline) else method
    return getattr(last, "most_rows_for_cuts", None)


def _sample_for_cuts(rows: np.ndarray, known: np.ndarray, most: int | None) -> np.ndarray:
    """Rows, or an even sample of ``most`` of them that takes known labels first; ``known``: which rows have some."""
    if most is None or len(rows) <= most:
        return rows
    own, others = rows[known], rows[~known]
    own = own[even_sample(len(own), most)]
    return np.sort(np.concatenate([own, others[even_sample(len(others), most - len(own))]]))


def groups_apart(groups: Any, labels: Targets) -> np.ndarray | None:
    """The groups of rows; None without groups, or if all rows with known labels are in one group."""
    of_rows = None if groups is None else np.asarray(groups)
    return None if of_rows is None or len(np.unique(of_rows[labels.rows_any])) < 2 else of_rows


@own_configuration()
def unseen_scores(
    method: Any, X: Any, labels: LabelMatrix, groups: Any = None, weights: np.ndarray | None = None
) -> np.ndarray | UnseenScores:
    """Ridge scores of the rows with known labels, each by a model and a read-out fitted without its fold of three. Rows
    with unknown labels are learned from, unless their group is left out; a map is fitted to some of the rows, among
    which it places the others. Rows of a group are in one fold; rows of one
    group alone are parted like rows without groups. ``weights``: how often each row counts."""
    known = np.flatnonzero(labels.rows_any)
    own = labels.take(known)
    groups = groups_apart(groups, labels)
    w = None if weights is None else weights[known]
    targets = sparse.csr_array(own.Y) if own.unknown is None else with_weighted_means(own, w).Y.toarray()
    fold = _cut_folds(own.Y, None if groups is None else groups[known])

    def embed(rows: np.ndarray, left_out: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        some = _sample_for_cuts(rows, labels.rows_any[rows], _most_rows_for_cuts(method))
        new = left_out if len(some) == len(rows) else np.concatenate([rows, left_out])
        w_some, own_groups = (None if each is None else each[some] for each in (weights, groups))
        Z, Z_new = embedded_within_bound(method, X[some], labels.take(some), X[new], w_some, own_groups)
        return (Z, Z_new) if new is left_out else (Z_new[: len(rows)], Z_new[len(rows) :])

    return fold_scores(unseen_embeddings(embed, known, fold, labels.n, groups), targets, fold, weights=w)


def _unseen_log_odds(method: Any, X: Any, labels: LabelMatrix, groups: Any, weights: np.ndarray | None) -> np.ndarray:
    """The log odds of the rows with known labels by an embedding that predicts these itself, fitted without the rows'
    groups, as in ``unseen_scores``."""
    known = np.flatnonzero(labels.rows_any)
    fold = _cut_folds(labels.take(known).Y, np.asarray(groups)[known])
    found = np.empty((len(known), labels.c))
    for each in range(fold.max() + 1):
        left_out = known[fold == each]
        rows = rows_without(left_out, labels.n, groups)
        fitted = EmbeddingPipeline([*clone(method).steps, ("readout", Thresholded(LogOdds()))])
        together = groups_of(fitted, groups, rows)
        fitted[:-1].fit(X[rows], labels.take(rows), **weights_of(weights, rows), **together)
        found[fold == each] = fitted._log_odds(X[left_out])
    return found


def unseen_embeddings(
    embed: Callable[[np.ndarray, np.ndarray], tuple[Any, Any]], known: np.ndarray, fold: np.ndarray, n: int, groups: Any
) -> Iterator[tuple[Any, Any]]:
    """For each fold of the known rows the embeddings of the other known rows and of its own, by a fit without them.
    ``embed(rows, left_out)`` fits on some of the n rows and embeds both. Rows of a left-out group are not fitted on."""
    for each in range(fold.max() + 1):
        left_out = known[fold == each]
        rows = rows_without(left_out, n, groups)
        Z, Z_left_out = embed(rows, left_out)
        yield Z[np.flatnonzero(np.isin(rows, known))], Z_left_out


def fold_scores(
    embeddings: Iterable[tuple[Any, Any]],
    targets: Any,
    fold: np.ndarray,
    keep_together: bool = False,
    weights: np.ndarray | None = None,
) -> np.ndarray | UnseenScores:
    """Ridge scores of all known rows by read-outs of ``unseen_embeddings``, of many labels as products; penalties by
    folds to ``keep_together``. ``weights``: how often each known row counts."""

    def read(each: int, Z: Any, Z_left_out: Any) -> tuple[np.ndarray, Any, Any]:
        others = fold != each
        own = None if weights is None else weights[others]
        readout = fit_readout(Z, targets[others], fold[others] if keep_together else None, own)
        return np.flatnonzero(fold == each), readout, Z_left_out

    return joined_scores(targets.shape, (read(each, *pair) for each, pair in enumerate(embeddings)))


def rows_without(left_out: np.ndarray, n: int, groups: Any = None) -> np.ndarray:
    """Rows to fit on: all rows except the left-out ones and rows that share a group with them."""
    rows = np.setdiff1d(np.arange(n), left_out)
    if groups is None:
        return rows
    groups = np.asarray(groups)
    return rows[~np.isin(groups[rows], groups[left_out])]


def _cut_folds(Y: Any, groups: np.ndarray | None) -> np.ndarray:
    """The fold of each row: stratified, or of whole groups."""
    if groups is None:
        parts = label_folds(CUT_FOLDS, Y)
    else:
        parts = GroupKFold(min(CUT_FOLDS, len(np.unique(groups)))).split(groups, groups=groups)
    fold = np.empty(Y.shape[0], dtype=np.intp)
    for number, (_, left_out) in enumerate(parts):
        fold[left_out] = number
    return fold


def _plain(X: Any, width: int) -> bool:
    """Whether X is an array of float32 or float64 rows of a width."""
    return type(X) is np.ndarray and X.dtype in (np.float32, np.float64) and X.shape[1:] == (width,) and len(X) > 0


def embedding_part(model: Any) -> Any:
    """The part of a model that embeds rows: the model itself, or a pipeline without its final classifier."""
    last = model[-1] if isinstance(model, Pipeline) else model
    name, predicts = type(last).__name__, hasattr(last, "predict")
    ends = predicts or last == "passthrough"  # else the scaling before a map without transform would be taken for it
    part = model[:-1] if ends and isinstance(model, Pipeline) and len(model) > 1 and not _embeds(last) else model
    if not _embeds(part):
        if predicts:
            raise TypeError(f"{name} only predicts and has no embedding; use predict.")
        raise TypeError(
            f"{name} has no transform, so that it cannot place rows that it was not fitted on; give an estimator that "
            "has one (for t-SNE Layout, or openTSNE.sklearn.TSNE), or wrap it in a class with fit(X) and transform(X)."
        )
    return part


def _embeds(estimator: Any) -> bool:
    return hasattr(estimator, "transform")


def training_labels(dataset: Any) -> Any:
    """Labels of a data set in the form in which a model learns most from them. One class per row becomes class names
    (so that exactly one is predicted), None where it is unknown; other labels stay an indicator, with NaN where a cell
    is unknown."""
    if not dataset.of_classes:
        return dataset.y
    Y, names = dataset.Y.tocsr(), np.array([None, *dataset.label_names], dtype=object)
    codes = np.zeros(Y.shape[0], dtype=np.intp)
    codes[np.diff(Y.indptr) > 0] = Y.indices + 1
    return names[codes]


def source_of(dataset: Any) -> dict[str, Any]:
    """What a saved model must know to read new rows and to name its predictions: pass it to ``persist.save``."""
    features = {"n_features": dataset.X.shape[1], "names": list(dataset.feature_names)}
    return {**(dataset.source or features), "label_names": list(dataset.label_names)}
