"""Transformers of other libraries as methods: labels in a form that their ``fit`` takes, or no labels at all."""

import inspect
import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.pipeline import Pipeline

from proxembed.base import Estimator
from proxembed.execute.configuration import callers_configuration
from proxembed.model import embedding_part
from proxembed.targets.labels import LabelMatrix

SHOWN = 160  # characters of another library's message


class ForeignTransformer(TransformerMixin, BaseEstimator):
    """A transformer of another library, fitted on labels in one form.

    Parameters
    ----------
    transformer : transformer, or pipeline of them
    labels : {"given", "dense", "codes", "none"}
        What its ``fit`` gets: y as it is, y as a dense indicator (NaN where unknown), the number of each row's class,
        or nothing but X.

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> from proxembed.evaluate.foreign import ForeignTransformer
    >>> rows = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]
    >>> ForeignTransformer(PCA(1), "dense").fit(rows, [{"a"}, {"a", "b"}, {"b"}]).transform(rows).shape
    (3, 1)
    """

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


def embedding_method(estimator: Any, X: Any, y: Any) -> Any:
    """The part of an estimator that embeds rows, which can be cloned and fitted on labels in any form.

    Methods of this package are returned as they are. A transformer of another library is tried on all rows: with y as
    it is, as a dense indicator or as class numbers, and, where its ``fit`` can do without, without labels.

    Parameters
    ----------
    estimator : transformer, or pipeline with one
    X : array or sparse matrix of shape (n, d)
    y : labels in any form

    Returns
    -------
    estimator with ``fit(X, y)`` and ``transform(X)``

    Raises
    ------
    TypeError
        The estimator is a class, or has no ``transform``.
    ValueError
        It can be fitted on no form of the labels, or embeds no rows.

    Warns
    -----
    UserWarning
        It is fitted without the labels, because it takes none of this kind.

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> from proxembed.evaluate.foreign import embedding_method
    >>> rows = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]
    >>> embedding_method(PCA(1), rows, [[1, 0], [1, 1], [0, 1]])
    ForeignTransformer(labels='dense', transformer=PCA(n_components=1))
    """
    if isinstance(estimator, type):
        raise TypeError(f"{estimator.__name__} is a class; pass an instance of it, such as {estimator.__name__}().")
    method = embedding_part(estimator)
    last = last_step(method)
    if isinstance(last, Estimator | ForeignTransformer):
        return method
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
    if LabelMatrix.of(y).several:
        remedy = "rows with several labels need a method that takes them, such as OPLS() or MESD(FDA())"
    raise ValueError(
        f"{type(last).__name__} cannot be fitted on these rows and labels, or cannot embed rows: {_line(errors[0])}; "
        f"{remedy}."
    ) from errors[0]


def last_step(method: Any) -> Any:
    """The last step of a pipeline; any other estimator itself.

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> from sklearn.pipeline import make_pipeline
    >>> from proxembed.evaluate.foreign import last_step
    >>> last_step(make_pipeline(PCA(2)))
    PCA(n_components=2)
    """
    return method[-1] if isinstance(method, Pipeline) else method


def _forms(y: Any) -> list[str]:
    """The forms of labels to try, in order."""
    labels = LabelMatrix.of(y)
    classes = labels.form == "classes" and not isinstance(y, LabelMatrix)
    first = "given" if classes or isinstance(y, np.ndarray) or hasattr(y, "iloc") else "dense"
    return [first, *["codes"] * (labels.one_hot and labels.unknown is None)]


def _in_form(y: Any, form: str) -> Any:
    if form == "given":
        return y
    labels = LabelMatrix.of(y)
    if form == "codes":
        return labels.Y.tocsr().indices.astype(np.int64)
    dense = labels.indicator
    return dense.toarray().astype(np.int64) if sparse.issparse(dense) else dense


def _line(error: Exception) -> str:
    """The message of another library, on one line of bounded length."""
    text = " ".join(str(error).split()).rstrip(".") or type(error).__name__
    return text if len(text) <= SHOWN else f"{text[:SHOWN]} ..."
