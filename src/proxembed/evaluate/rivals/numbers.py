"""Rivals that predict numbers: ridge regression, tuned PLS and principal component regression, lasso, forest, boosting.

Each is fitted to the factor F of the outputs: standardised numbers, with unknown cells at the mean of their column, and
classes as indicators.
"""

import warnings
from abc import abstractmethod
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from proxembed.algebra.arrays.matrix import guard_dense
from proxembed.classify.ridge import PENALTY, chosen_penalty, ridge_fit, ridge_out_of_fold
from proxembed.estimator.weights import weights_of
from proxembed.params import SEED, param
from proxembed.targets.outputs import Outputs

from ..costs import forest_seconds
from .forests import ONE_THREAD, GrowsForest
from .rival import DataFacts, RivalNumbers, WeightedNumbers

MOST_COEFFICIENTS = 3000  # of a lasso
MOST_CELLS = 400_000  # of boosting, of all columns of F
GRID, SMALLEST = 20, 1e-3  # penalties of a lasso, and the smallest as a share of the least that gives the mean


def factor_of(y: Outputs) -> np.ndarray:
    """F (n, r), unknown cells at the mean of their column."""
    return y.with_means().Y.toarray()


def fold_of(n: int, n_folds: int, seed: Any, given: np.ndarray | None = None) -> np.ndarray:
    """The fold of each of n rows: as given, where these are several, or at random."""
    if given is not None and given.max() > 0:
        return given
    return check_random_state(seed).permutation(n) % min(n_folds, n)


def dense_rows(X: Any, name: str) -> np.ndarray:
    """X as a float64 array, within 2 GiB."""
    guard_dense(X.shape, f"The dense X of {name}")
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)


class RidgeNumbers(WeightedNumbers):
    """Ridge regression on all features; in its lookup new rows stand at its predictions.  [hoerl1970ridge]

    Training rows are predicted by models of the other folds.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (d, r) and (r,)
    penalty_ : float
    own_factor_ : array of shape (number of rows with known numbers, r)

    Raises
    ------
    ValueError
        A parameter out of range, fewer than two rows, or y does not fit X.

    See Also
    --------
    proxembed.compare : Methods and rivals on the same folds.
    proxembed.OPLS : Ridge regression of the labels, restricted to k components.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.rivals.numbers import RidgeNumbers
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> float(np.round(RidgeNumbers().fit(X, X[:, 0] - X[:, 1]).score(X, X[:, 0] - X[:, 1]), 2))
    1.0
    """

    title = "ridge regression"
    position = 25
    cut = "last"
    lookup = "ridge lookup"
    penalty: float | str = param(
        default="auto", like=PENALTY, kw_only=False, doc="Ridge penalty; auto: the least leave-one-out error."
    )
    n_folds: int = param(default=5, low=2, integer=True, doc="Folds by which training rows are predicted.")
    random_state: int | None = param(default=0, like=SEED, doc="Seed of the folds.")

    @classmethod
    def forecast(cls, facts: DataFacts) -> float:
        """Six solutions, and the leave-one-out errors of all penalties."""
        s = facts.shape
        small = min(s.n, s.d)
        return facts.splits * (0.015 + 8e-10 * s.stored * small + 3e-9 * small**3 + 2e-8 * s.n * s.c * min(small, 100))

    def _fit(self, X: Any, y: Outputs, folds: np.ndarray | None, w: np.ndarray | None) -> None:
        F = factor_of(y)
        self.penalty_ = chosen_penalty(self.penalty, X, F, w)
        folds = fold_of(len(F), self.n_folds, self.random_state, folds)
        self.own_factor_ = ridge_out_of_fold(X, F, self.penalty_, folds, w)
        self.coef_, self.intercept_ = ridge_fit(X, F, self.penalty_, weights=w)

    def _factor(self, X: Any) -> np.ndarray:
        return X @ self.coef_ + self.intercept_


class TunedComponents(RivalNumbers, abstract=True):
    """Base of a regression on components, whose number has the least squared error on folds. A subclass gives
    ``_axes(X, F, k)``."""

    most_components: int = param(
        default=20, low=1, integer=True, kw_only=False, doc="The largest number of components that is tried."
    )
    n_folds: int = param(default=5, low=2, integer=True, doc="Folds by which the number is chosen.")
    random_state: int | None = param(default=0, like=SEED, doc="Seed of the folds.")

    @abstractmethod
    def _axes(self, X: np.ndarray, F: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Axes (d, k) of centred rows and the coefficients (k, r) of F on the scores. The first j of both are those of
        a fit of j components."""

    def _fit(self, X: Any, y: Outputs, folds: np.ndarray | None, w: np.ndarray | None) -> None:
        X, F = dense_rows(X, self.title), factor_of(y)
        folds = fold_of(len(F), self.n_folds, self.random_state, folds)
        least = len(F) - np.bincount(folds).max()
        most = max(min(self.most_components, X.shape[1], least - 1), 1)
        found = np.empty((most, *F.shape))
        for fold in range(folds.max() + 1):
            out = folds == fold
            mean, level = X[~out].mean(axis=0), F[~out].mean(axis=0)
            axes, coef = self._axes(X[~out] - mean, F[~out] - level, most)
            scores = (X[out] - mean) @ axes
            steps = scores.T[:, :, None] * coef[:, None, :]
            found[:, out] = level + np.cumsum(steps, axis=0)
        missed = (found - F) ** 2
        known = y.known_cells
        errors = missed.sum(axis=(1, 2)) if known is None else (missed * known).sum(axis=(1, 2))
        self.n_components_ = int(np.argmin(errors)) + 1
        self.own_factor_ = found[self.n_components_ - 1]
        self.mean_, self.level_ = X.mean(axis=0), F.mean(axis=0)
        self.axes_, self.loadings_ = self._axes(X - self.mean_, F - self.level_, self.n_components_)

    def _factor(self, X: Any) -> np.ndarray:
        return (X @ self.axes_ - self.mean_ @ self.axes_) @ self.loadings_ + self.level_


class PLSNumbers(TunedComponents):
    """Partial least squares regression, with up to 20 components as folds choose.  [wold1975pls]

    ``PLSRegression(scale=False)`` of scikit-learn. Sparse features become dense, within 2 GiB.

    Attributes
    ----------
    n_components_ : int
    axes_, loadings_ : arrays of shape (d, n_components_) and (n_components_, r)
    own_factor_ : array of shape (number of rows with known numbers, r)
        Predictions of training rows by the models of the other folds.

    Raises
    ------
    ValueError
        A parameter out of range, fewer than two rows, y does not fit X, or dense features above 2 GiB.

    See Also
    --------
    proxembed.compare : Methods and rivals on the same folds.
    proxembed.evaluate.PCRNumbers : Principal component regression.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.rivals.numbers import PLSNumbers
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> PLSNumbers().fit(X, X[:, 0] - X[:, 1]).n_components_ <= 3
    True
    """

    title = "PLSRegression"
    position = 32

    @classmethod
    def forecast(cls, facts: DataFacts) -> float:
        """Six fits of 20 components, with tens of passes over the rows for each where there are several outputs."""
        s = facts.shape
        passes = 4 if s.c == 1 else 30
        return facts.splits * 6 * min(20, s.d) * (3e-4 + passes * 1e-9 * s.n * (s.d + s.c))

    def _axes(self, X: np.ndarray, F: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        from sklearn.cross_decomposition import PLSRegression

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of components that say nothing more, or converge slowly
            model = PLSRegression(k, scale=False).fit(X, F)
        return model.x_rotations_, model.y_loadings_.T


class PCRNumbers(TunedComponents):
    """Regression on up to 20 principal components, as folds choose.  [massy1965pcr]

    Sparse features become dense, within 2 GiB.

    Attributes
    ----------
    n_components_ : int
    axes_, loadings_ : arrays of shape (d, n_components_) and (n_components_, r)
    own_factor_ : array of shape (number of rows with known numbers, r)
        Predictions of training rows by the models of the other folds.

    Raises
    ------
    ValueError
        A parameter out of range, fewer than two rows, y does not fit X, or dense features above 2 GiB.

    See Also
    --------
    proxembed.compare : Methods and rivals on the same folds.
    proxembed.evaluate.PLSNumbers : PLSRegression.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.rivals.numbers import PCRNumbers
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> PCRNumbers().fit(X, X[:, 0] - X[:, 1]).n_components_ <= 3
    True
    """

    title = "principal component regression"
    position = 35

    @classmethod
    def forecast(cls, facts: DataFacts) -> float:
        """Six decompositions."""
        s = facts.shape
        return facts.splits * 6 * (2e-3 + 2e-9 * s.n * s.d * min(s.n, s.d, 100))

    def _axes(self, X: np.ndarray, F: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        from sklearn.decomposition import PCA

        axes = PCA(k, random_state=self.random_state).fit(X).components_.T
        scores = X @ axes
        size = np.einsum("ij,ij->j", scores, scores)
        sound = size > size.max(initial=0.0) * np.finfo(np.float64).eps * max(X.shape)
        return axes, np.divide(scores.T @ F, size[:, None], out=np.zeros((k, F.shape[1])), where=sound[:, None])


class LassoNumbers(RivalNumbers):
    """Lasso with features chosen for all outputs together, and the penalty by three folds.  [tibshirani1996lasso]

    ``MultiTaskLassoCV`` (``LassoCV`` of one column) of scikit-learn on 20 penalties. Sparse features become dense.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (d, r) and (r,)
    alpha_ : float

    Raises
    ------
    ValueError
        A parameter out of range, fewer than two rows, or y does not fit X.

    See Also
    --------
    proxembed.compare : Methods and rivals on the same folds.
    proxembed.evaluate.RidgeNumbers : Ridge regression.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.rivals.numbers import LassoNumbers
    >>> X = np.random.default_rng(0).normal(size=(60, 9))
    >>> LassoNumbers().fit(X, X[:, :1] - X[:, 1:3]).coef_.shape
    (9, 2)
    """

    title = "lasso"
    position = 84
    most_coefficients = MOST_COEFFICIENTS
    share = 0.3
    n_folds: int = param(default=3, low=2, integer=True, kw_only=False, doc="Folds by which the penalty is chosen.")
    random_state: int | None = param(default=0, like=SEED, doc="Seed of the folds.")

    @classmethod
    def forecast(cls, facts: DataFacts) -> float:
        """Four paths of 20 penalties, of more passes over fewer rows."""
        s = facts.shape
        return facts.splits * (0.02 + 80 * (1e-4 + 5e-8 * min(s.n, 500) * s.d * (1 if s.c == 1 else 3 + s.c)))

    def _fit(self, X: Any, y: Outputs, folds: np.ndarray | None, w: np.ndarray | None) -> None:
        from sklearn.linear_model import LassoCV, MultiTaskLassoCV

        X, F = dense_rows(X, self.title), factor_of(y)
        products = (X - X.mean(axis=0)).T @ (F - F.mean(axis=0))
        largest = float(np.sqrt(np.einsum("ij,ij->i", products, products)).max(initial=0.0)) / len(F)
        if not largest > 0:
            self.coef_, self.intercept_, self.alpha_ = np.zeros((X.shape[1], F.shape[1])), F.mean(axis=0), 0.0
            return
        folds = fold_of(len(F), self.n_folds, self.random_state, folds)
        given = [(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in range(folds.max() + 1)]
        model, alphas = (LassoCV, MultiTaskLassoCV)[F.shape[1] > 1], largest * np.geomspace(1, SMALLEST, GRID)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            found = model(alphas=alphas, cv=given).fit(X, F if F.shape[1] > 1 else F[:, 0])
        self.coef_ = np.reshape(found.coef_, (F.shape[1], X.shape[1])).T
        self.intercept_, self.alpha_ = np.reshape(found.intercept_, F.shape[1]), float(found.alpha_)

    def _factor(self, X: Any) -> np.ndarray:
        return X @ self.coef_ + self.intercept_


class ForestNumbers(GrowsForest, WeightedNumbers):
    """Random forest regression, one forest for all outputs; in its lookup new rows stand at its predictions.

    The trees of scikit-learn's ``RandomForestRegressor``. Training rows are predicted by the trees grown without them.
    Equal rows count as one row in the forest. [breiman2001forests]

    Attributes
    ----------
    leaves_ : LeafMap
    votes_ : array of shape (leaves, r)
        What the leaves say: the predictions are linear in them.
    own_factor_ : array of shape (number of rows with known numbers, r)

    Raises
    ------
    ValueError
        A parameter out of range, fewer than two rows, or y does not fit X.

    See Also
    --------
    proxembed.compare : Methods and rivals on the same folds.
    proxembed.evaluate.BoostedNumbers : Boosting for numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.rivals.numbers import ForestNumbers
    >>> X = np.random.default_rng(0).normal(size=(80, 3))
    >>> forest = ForestNumbers(n_estimators=20).fit(X, X[:, 0] ** 2)
    >>> forest.predict_factor(X[:5]).shape, forest.own_factor_.shape
    ((5, 1), (80, 1))
    """

    title = "random forest"
    position = 52
    cut = "last"
    share = 0.4
    lookup = "forest lookup"
    n_estimators: int = param(default=300, low=1, high=100_000, integer=True, kw_only=False, doc="Trees.")

    @classmethod
    def forecast(cls, facts: DataFacts) -> float:
        s = facts.shape
        grown = forest_seconds(s.rows(min(s.n, facts.forest_rows)), cls.n_estimators)
        return facts.splits * (2e-3 * cls.n_estimators + 1.8 * grown)

    def _fit(self, X: Any, y: Outputs, folds: np.ndarray | None, w: np.ndarray | None) -> None:
        if folds is not None and folds.max() > 0:
            self._grow(X, factor_of(y), w)
            self.own_factor_ = self._cross_fitted(X, y.held(), folds, w)
        else:
            _, unseen, row = self._grow(X, factor_of(y), w)
            self.own_factor_ = unseen[row]

    def _cross_fitted(self, X: Any, y: Outputs, folds: np.ndarray, w: np.ndarray | None) -> np.ndarray:
        """F of each row by a forest of the other folds."""
        found = np.empty((len(folds), y.c))
        for fold in range(folds.max() + 1):
            out = folds == fold
            forest = clone(self)
            forest._grow(X[~out], factor_of(y.take(~out)), None if w is None else w[~out])
            found[out] = forest._factor(X[out])
        return found

    def _factor(self, X: Any) -> np.ndarray:
        return self._votes_of(X)


class BoostedNumbers(WeightedNumbers):
    """Gradient boosting of trees on binned features, one model per output, on its known cells.

    ``HistGradientBoostingRegressor`` of scikit-learn. Sparse features become dense. [friedman2001boosting]

    Attributes
    ----------
    models_ : list
        Per column of F a ``HistGradientBoostingRegressor``, or its value if it has one alone.
    n_iter_ : int
        The most trees that a column has.

    Raises
    ------
    ValueError
        A parameter out of range, fewer than two rows, or y does not fit X.

    See Also
    --------
    proxembed.compare : Methods and rivals on the same folds.
    proxembed.evaluate.ForestNumbers : A forest for numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.rivals.numbers import BoostedNumbers
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> bool(BoostedNumbers(max_iter=20).fit(X, X[:, 0] * X[:, 1]).score(X, X[:, 0] * X[:, 1]) > 0.5)
    True
    """

    title = "boosted regression"
    position = 82
    cut = "first"
    most_cells = MOST_CELLS
    share = 0.4
    max_iter: int = param(default=100, low=1, integer=True, kw_only=False, doc="Largest number of trees per output.")
    random_state: int | None = param(default=0, like=SEED, doc="Seed of the rows used for early stopping.")

    @classmethod
    def forecast(cls, facts: DataFacts) -> float:
        s = facts.shape
        return facts.splits * s.c * (0.05 + 2e-4 * min(s.n, 1000) + 1e-3 * s.d + 4e-6 * s.n * s.d)

    def _fit(self, X: Any, y: Outputs, folds: np.ndarray | None, w: np.ndarray | None) -> None:
        from sklearn.ensemble import HistGradientBoostingRegressor

        X, F, known = dense_rows(X, self.title), y.Y.toarray(), y.known_cells
        self.models_: list[Any] = []
        for j, column in enumerate(F.T):
            rows = slice(None) if known is None else np.flatnonzero(known[:, j])
            own = column[rows]
            if len(own) < 2 or np.ptp(own) == 0:
                self.models_.append(float(own[0]) if len(own) else 0.0)
                continue
            model = HistGradientBoostingRegressor(max_iter=self.max_iter, random_state=self.random_state)
            with threadpool_limits(1 if len(own) <= ONE_THREAD else None, "openmp"):  # as of ``BoostedScores``
                self.models_.append(model.fit(X[rows], own, **weights_of(w, rows)))
        self.n_iter_ = max((model.n_iter_ for model in self.models_ if not isinstance(model, float)), default=1)

    def _factor(self, X: Any) -> np.ndarray:
        X = dense_rows(X, self.title)
        columns = [np.full(len(X), m) if isinstance(m, float) else m.predict(X) for m in self.models_]
        return np.column_stack(columns)
