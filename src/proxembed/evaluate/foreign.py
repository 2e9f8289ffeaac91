"""Transformers of other libraries, fitted on labels in a form that they take."""

import inspect
import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.pipeline import Pipeline

from proxembed.estimator.base import Estimator
from proxembed.estimator.weights import check_takes_weights
from proxembed.execute.executor import callers_configuration
from proxembed.methods.pipeline import EmbeddingPipeline, embedding_part
from proxembed.targets.labels import LabelMatrix
from proxembed.targets.outputs import Outputs
from proxembed.targets.reading import read_targets

SHOWN = 160  # characters of another library's message


class ForeignTransformer(TransformerMixin, BaseEstimator):
    """A transformer of another library, fitted on labels in one form."""

    def __init__(self, transformer: Any, labels: str = "given") -> None:
        self.transformer = transformer
        self.labels = labels

    def fit(self, X: Any, y: Any = None) -> "ForeignTransformer":
        """Fit a clone of the transformer."""
        target = () if self.labels == "none" else (_in_form(y, self.labels),)
        self.transformer_ = clone(self.transformer)
        last = last_step(self.transformer_)
        if "save_tree" in last.get_params():  # PaCMAP: its index, without which it embeds no new rows
            last.set_params(save_tree=True)
        with callers_configuration():
            self.transformer_.fit(X, *target)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The embedding of rows, as an array of floats."""
        with callers_configuration():
            Z = self.transformer_.transform(X)
        return np.asarray(Z.toarray() if sparse.issparse(Z) else Z, dtype=np.float64)


def embedding_method(estimator: Any, X: Any, y: Any, weighed: bool = False) -> Any:
    """The part of an estimator that embeds rows, which can be cloned and fitted on labels in any form; ``weighed``: on
    rows with weights, which those of other libraries do not take here."""
    if isinstance(estimator, type):
        raise TypeError(f"{estimator.__name__} is a class; pass an instance of it, such as {estimator.__name__}().")
    method = embedding_part(estimator)
    last = last_step(method)
    if isinstance(last, Estimator | ForeignTransformer):
        if weighed:
            check_takes_weights(method)
        return EmbeddingPipeline(method.steps) if weighed and type(method) is Pipeline else method
    if weighed:
        raise ValueError(
            f"sample_weight is not allowed with {type(last).__name__}, a transformer of another library; leave it out."
        )
    takes = inspect.signature(last.fit).parameters.get("y")
    forms = _forms(y) if takes is not None else []
    errors: list[Exception] = []
    for form in [*forms, *["none"] * (takes is None or takes.default is not inspect.Parameter.empty)]:
        tried = ForeignTransformer(method, form)
        try:
            clone(tried).fit(X, y).transform(X)
        except Exception as error:  # other libraries raise errors of any kind
            errors.append(error)
            continue
        if form == "none" and errors:
            warnings.warn(
                f"{type(last).__name__} is fitted without labels, since it does not take these: {_line(errors[0])}",
                stacklevel=3,
            )
        return tried
    remedy = "give it labels of the kind that it takes, or wrap it in a class with fit(X) and transform(X)"
    if not isinstance(y, Outputs) and LabelMatrix.of(y).several:
        remedy = "rows with several labels need a method that takes them, such as OPLS() or MESD(FDA())"
    raise ValueError(
        f"{type(last).__name__} cannot be fitted on these rows and labels, or cannot embed rows: {_line(errors[0])}; "
        f"{remedy}."
    ) from errors[0]


def last_step(method: Any) -> Any:
    """The last step of a pipeline; any other estimator itself."""
    return method[-1] if isinstance(method, Pipeline) else method


def _forms(y: Any) -> list[str]:
    """The forms of labels to try, in order."""
    if isinstance(y, Outputs):
        return ["numbers"]
    labels = LabelMatrix.of(y)
    classes = labels.form == "classes" and not isinstance(y, LabelMatrix)
    first = "given" if classes or isinstance(y, np.ndarray) or hasattr(y, "iloc") else "dense"
    return [first, *["codes"] * (labels.one_hot and labels.unknown is None)]


def _in_form(y: Any, form: str) -> Any:
    if form == "given":
        return y
    if form == "numbers":
        F = read_targets(y).with_means().Y.toarray()
        return F[:, 0] if F.shape[1] == 1 else F
    labels = LabelMatrix.of(y)
    if form == "codes":
        return labels.Y.tocsr().indices.astype(np.int64)
    dense = labels.indicator
    return dense.toarray().astype(np.int64) if sparse.issparse(dense) else dense


def _line(error: Exception) -> str:
    """The message of another library, on one line of bounded length."""
    text = " ".join(str(error).split()).rstrip(".") or type(error).__name__
    return text if len(text) <= SHOWN else f"{text[:SHOWN]} ..."
