"""Estimators that each break one rule, which the fuzzer must report."""

from __future__ import annotations

import os
import signal

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from proxembed.targets.labels import LabelMatrix


class Honest(ClassifierMixin, TransformerMixin, BaseEstimator):
    """Centres X and scores labels by their means: the rule that the others break."""

    def fit(self, X, y):
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        X = self._checked(X, reset=True)
        labels = LabelMatrix.of(y)
        if labels.n != len(X):
            raise ValueError(f"X has {len(X)} rows, y has {labels.n}.")
        known = np.flatnonzero(labels.rows_known)
        if len(known) == 0:
            raise ValueError("y is unknown in every row.")
        X, labels = X[known], labels.take(known)
        self.learn(X, labels)
        self._labels, self.classes_ = labels.take(slice(0, 0)), labels.classes_
        self.n_components_ = X.shape[1]
        return self

    def learn(self, X, labels) -> None:
        self.mean_ = X.mean(axis=0)
        self.means_ = (labels.Y.T @ (X - self.mean_)) / np.maximum(labels.nk, 1)[:, None]

    def _checked(self, X, reset: bool = False):
        X = validate_data(
            self,
            X,
            reset=reset,
            accept_sparse=True,
            dtype=(np.float64, np.float32),
            ensure_min_samples=2 if reset else 1,
        )
        X = X.toarray() if hasattr(X, "toarray") else X
        size = float(np.abs(X).max())
        if not 1e-15 < size < 1e15 and size:
            raise ValueError(f"X has the magnitude {size}; scale X.")
        return X

    def transform(self, X):
        check_is_fitted(self, "n_components_")
        X = self._checked(X)
        return (X - self.mean_).astype(X.dtype)

    def decision_function(self, X):
        check_is_fitted(self, "n_components_")
        scores = (self._checked(X) - self.mean_) @ self.means_.T
        one_column = self._labels.form == "classes" and len(self.classes_) == 2
        return scores[:, 1] - scores[:, 0] if one_column else scores

    def predict(self, X):
        check_is_fitted(self, "n_components_")
        scores = (self._checked(X) - self.mean_) @ self.means_.T
        if self._labels.form == "classes":
            return self.classes_[scores.argmax(axis=1)]
        return self._labels.decode(scores > 0)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class NotFinite(Honest):
    """NaN in the embedding."""

    def transform(self, X):
        return super().transform(X) * np.nan


class NoColumns(Honest):
    """An embedding without columns."""

    def transform(self, X):
        return super().transform(X)[:, :0]


class ChangesX(Honest):
    """Centres the caller's X in its place."""

    def fit(self, X, y):
        if isinstance(X, np.ndarray) and X.dtype == np.float64 and X.ndim == 2 and X.flags.writeable and X.size:
            X -= 0.125
        return super().fit(X, y)


class MergesClasses(Honest):
    """Reads classes as floats, so that integers above 2**53 become one."""

    def fit(self, X, y):
        if not isinstance(y, np.ndarray) or y.ndim != 1 or y.dtype.kind not in "iu":
            return super().fit(X, y)
        return super().fit(X, y.astype(float))


class RawIndexError(Honest):
    """Looks for a sixth column."""

    def learn(self, X, labels) -> None:
        super().learn(X, labels)
        self.sixth_ = X[0][5]


class RawWarning(Honest):
    """Divides by the spread of every column."""

    def learn(self, X, labels) -> None:
        super().learn(X, labels)
        self.spread_ = X / X.std(axis=0)


class ByFirstRow(Honest):
    """Takes the first row for the origin."""

    def learn(self, X, labels) -> None:
        super().learn(X, labels)
        self.mean_ = X[0]


class ByFirstColumn(Honest):
    """Weighs the first column twice."""

    def transform(self, X):
        Z = super().transform(X)
        Z[:, 0] *= 2
        return Z


class ByFirstLabel(Honest):
    """Adds a multiple of the first label's mean to the embedding."""

    def transform(self, X):
        return super().transform(X) + self.means_[0]


class KeepsOldFit(Honest):
    """A second fit that fails leaves the first one."""

    def fit(self, X, y):
        before = dict(vars(self))
        try:
            return super().fit(X, y)
        except ValueError:
            vars(self).update(before)
            raise


class Remembers(Honest):
    """A second fit starts from the first."""

    def learn(self, X, labels) -> None:
        old = getattr(type(self), "_before", 0.0)
        super().learn(X, labels)
        self.mean_ = self.mean_ + 0.01 * old
        type(self)._before = old + 1.0


class InventsClasses(Honest):
    """Predicts a class that y does not hold."""

    def predict(self, X):
        found = super().predict(X)
        return found if isinstance(found, list) else np.full_like(found, 99 if found.dtype.kind in "iuf" else "?")


class Rounds(Honest):
    """Keeps one digit where X is float32."""

    def transform(self, X):
        Z = super().transform(X)
        return np.round(Z, 1) if Z.dtype == np.float32 else Z


class Hangs(Honest):
    """Never ends on X of many columns."""

    def learn(self, X, labels) -> None:
        super().learn(X, labels)
        while X.shape[1] > 4:
            sum(range(1000))


class TakesNaN(Honest):
    """Takes NaN for 0."""

    def _checked(self, X, reset: bool = False):
        if isinstance(X, np.ndarray) and X.dtype.kind == "f":
            X = np.nan_to_num(X)
        return super()._checked(X, reset)


class ForgetsNames(Honest):
    """Takes a table for an array."""

    def _checked(self, X, reset: bool = False):
        return super()._checked(X.to_numpy() if hasattr(X, "to_numpy") else X, reset)


class Dies(Honest):
    """Ends the process on X of many columns."""

    def learn(self, X, labels) -> None:
        super().learn(X, labels)
        if X.shape[1] > 4:
            os.kill(os.getpid(), signal.SIGKILL)


class Devours(Honest):
    """Asks for more memory than any machine has, on X of many columns."""

    def learn(self, X, labels) -> None:
        super().learn(X, labels)
        self.all_ = np.ones(10**13 if X.shape[1] > 4 else 1)


PLANTED = {cls.__name__: cls for cls in Honest.__subclasses__()} | {"Honest": Honest}


def build(name: str) -> BaseEstimator | None:
    """A planted estimator of this name; None for names of the package."""
    return PLANTED[name]() if name in PLANTED else None
