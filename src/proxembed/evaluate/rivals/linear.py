"""Linear rivals: all features, their largest variances, a random projection, Fisher's plane, linear models."""

from abc import abstractmethod
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import decomposition
from sklearn.utils import check_random_state

from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.classify.ridge import PENALTY, chosen_penalty, feature_variances, ridge_fit, ridge_out_of_fold
from proxembed.estimator.catalogue import title_of
from proxembed.estimator.rows import SeenRows
from proxembed.estimator.traits import Traits
from proxembed.estimator.validation import in_range
from proxembed.estimator.weights import weights_of, with_weighted_means
from proxembed.methods.dependence import PLS
from proxembed.methods.fisher import FDA
from proxembed.methods.multilabel import MESD
from proxembed.methods.variance import LSI, PCA
from proxembed.params import SEED, param
from proxembed.tables.rows import for_solvers
from proxembed.targets.known import known_rows_per_label, smoothed_log_odds
from proxembed.targets.labels import MANY_LABELS, LabelMatrix

from ..costs import Shape, fit_work, shape_of, step_work
from .rival import SIZE, DataFacts, Rival, RivalEmbedding, RivalScores, WeightedRival

NEWTON_FEATURES = 500
NEWTON, ENTRY = 4e-10, 6e-8  # work of a label: by a row and the square of features, by an entry that is stored
DECOMPOSED = 1.5e-10  # seconds of a singular value decomposition, by the product of its sides and the smaller one
PENALTY_GRID = "C", (0.1, 1.0, 10.0)


def by_newton(shape: Shape) -> bool:
    """Whether logistic regression takes Newton steps: few, where first-order ones on dense rows need a thousand."""
    cheap = shape.w == shape.d or NEWTON * shape.d**2 <= ENTRY * shape.w
    return shape.d <= NEWTON_FEATURES and cheap


class LinearScores(RivalScores, abstract=True):
    """Base of one linear model per label. A subclass gives ``_model(X, w)`` and ``_constant(column, w)``."""

    label_wise = True

    def _fit(self, X: Any, labels: LabelMatrix, w: np.ndarray | None) -> None:
        model, X = self._model(X, w)
        self.coef_, self.intercept_ = np.zeros((X.shape[1], labels.c)), np.zeros(labels.c)
        for j, (rows, column) in enumerate(known_rows_per_label(labels)):
            if column.any() and not column.all():
                model.fit(X[rows], column, **weights_of(w, rows))
                self.coef_[:, j], self.intercept_[j] = model.coef_[0], model.intercept_[0]
            else:
                self.intercept_[j] = self._constant(column, np.ones(len(column)) if w is None else w[rows])
        self._remember(labels)

    @abstractmethod
    def _model(self, X: Any, w: np.ndarray | None) -> tuple[Any, Any]:
        """The unfitted model of scikit-learn, and the rows in the form that it takes."""

    @abstractmethod
    def _constant(self, column: np.ndarray, w: np.ndarray) -> float:
        """The score of a label that all rows carry, or none; each row counts ``w`` times."""

    def _scores(self, X: Any) -> np.ndarray:
        return X @ self.coef_ + self.intercept_


class LogisticScores(LinearScores):
    """Logistic regression, one model per label: each row gets the log odds of its labels.  [cox1958regression]

    The l2-penalised logistic regression of scikit-learn. For up to 500 features it uses Newton steps on a dense copy,
    unless rows store so little that L-BFGS on these entries is cheaper; for more features L-BFGS. A label that all
    training rows have, or none, gets the log odds of its smoothed share.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (d, c) and (c,)

    Raises
    ------
    ValueError
        A parameter out of range, or y does not fit X.

    See Also
    --------
    proxembed.compare : Methods and rivals on the same folds.
    proxembed.evaluate.SVMScores : Linear SVM.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.rivals.linear import LogisticScores
    >>> X, Y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([[0, 1], [0, 1], [1, 1], [1, 1]])
    >>> LogisticScores().fit(X, Y).decision_function([[-1.5], [1.5]]).round(1).tolist()
    [[-1.5, 1.6], [1.5, 1.6]]
    """

    title = "logistic regression"
    position = 30
    cut = "last"
    grid = PENALTY_GRID
    C: float = param(default=1.0, above=0, kw_only=False, doc="Inverse of the penalty.")

    @classmethod
    def forecast(cls, facts: DataFacts) -> float:
        """Three fits of all labels and some of ten; Newton steps cost n d^2 each."""
        s = facts.shape
        label = 0.003 + (NEWTON * s.n * s.d**2 if by_newton(s) else ENTRY * s.stored)
        return facts.splits * label * (3 * s.c + 6 * min(s.c, 10))

    def _model(self, X: Any, w: np.ndarray | None) -> tuple[Any, Any]:
        from sklearn.linear_model import LogisticRegression

        newton = by_newton(shape_of(X, 1))
        model = LogisticRegression(C=self.C, solver="newton-cholesky" if newton else "lbfgs", max_iter=1000)
        return model, X.toarray() if newton and sp.issparse(X) else for_solvers(X)

    def _constant(self, column: np.ndarray, w: np.ndarray) -> float:
        return float(smoothed_log_odds(w @ column, w.sum()))


class SVMScores(LinearScores):
    """Linear support vector machine, one per label: each row gets its margin, above 0 if the label is predicted.

    scikit-learn's ``LinearSVC`` with squared hinge and l2 penalty. Rows are divided by their root mean square distance
    from the mean, so the meaning of C does not depend on the scale of X. A label that all training rows have, or none,
    gets 1 or -1. [fan2008liblinear]

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (d, c) and (c,)

    Raises
    ------
    ValueError
        A parameter out of range, or y does not fit X.

    See Also
    --------
    proxembed.compare : Methods and rivals on the same folds.
    proxembed.evaluate.LogisticScores : Logistic regression.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.rivals.linear import SVMScores
    >>> X, Y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([[0, 1], [0, 1], [1, 1], [1, 1]])
    >>> SVMScores().fit(X, Y).predict([[-1.5], [1.5]]).tolist()
    [[0, 1], [1, 1]]
    """

    title = "linear SVM"
    position = 130
    share = 0.2
    cut = "first"
    grid = PENALTY_GRID
    C: float = param(default=1.0, above=0, kw_only=False, doc="Weight of the errors.")
    tol: float = param(default=0.01, above=0, doc="Tolerance of the solver of ``LinearSVC``.")

    @classmethod
    def forecast(cls, facts: DataFacts) -> float:
        """Three fits of all labels and six of ten; steps cost what is stored."""
        s = facts.shape
        return facts.splits * (0.002 + 5e-8 * s.stored) * (3 * s.c + 6 * min(s.c, 10))

    def _model(self, X: Any, w: np.ndarray | None) -> tuple[Any, Any]:
        from sklearn.svm import LinearSVC

        if w is None:
            square = float(feature_variances(X).sum()) or 1.0
        else:
            square = CentredMatrix.centred(X, w).squared_norm(w) / w.sum() or 1.0
        model = LinearSVC(C=self.C / square, intercept_scaling=np.sqrt(square), dual=False, tol=self.tol)
        return model, for_solvers(X)

    def _constant(self, column: np.ndarray, w: np.ndarray) -> float:
        return 1.0 if column.any() else -1.0


class LabelScores(WeightedRival, RivalEmbedding):
    """Cross-fitted label scores: each row becomes its c ridge scores, from models that have not seen it.

    Training rows get the scores of a model fitted on the other folds, so they look like those of new rows. New rows get
    the scores of the model fitted on all training rows. A row identical to a training row counts as that row, so
    ``fit_transform`` equals ``transform``; identical rows share a fold. [wolpert1992stacking]

    Attributes
    ----------
    scores_ : array of shape (number of distinct training rows, c)
        Cross-fitted scores of the training rows.
    coef_, intercept_ : arrays of shape (d, c) and (c,)
        The model for new rows.
    penalty_ : float
    n_components_ : int
    classes_ : (c,) array, the labels.

    Raises
    ------
    ValueError
        A parameter out of range, or fewer than two distinct rows.

    See Also
    --------
    proxembed.TargetSpace : Stacked predictions as coordinates.
    proxembed.Views : Several kinds of features side by side.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed import LabelScores
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> Y = (X[:, :2] > 0).astype(int)
    >>> LabelScores().fit_transform(X, Y).shape
    (40, 2)
    """

    title = "label scores"
    position = 40
    label_wise = True
    places_unseen = True
    n_components: int | None = param(
        default=None,
        like=SIZE,
        kw_only=False,
        doc="None keeps one column for each of the c labels that some row has; a number (at most c) reduces the scores "
        "to that many principal components.",
    )
    penalty: float | str = param(
        default="auto", like=PENALTY, doc="Ridge penalty; auto: the least leave-one-out error of all training rows."
    )
    n_folds: int = param(
        default=5, low=2, integer=True, doc="Folds of the cross-fitting; at most the number of distinct rows is used."
    )
    random_state: int | None = param(default=0, like=SEED, doc="Seed of the folds.")

    @classmethod
    def forecast(cls, facts: DataFacts) -> float:
        """Of many labels their scores are reduced by a decomposition of an array of rows and labels."""
        s = facts.shape
        if s.c <= MANY_LABELS:
            return 0.0
        return facts.splits * (step_work(cls.title, s) + DECOMPOSED * s.n * s.c * min(s.n, s.c))

    def _fit(self, X: Any, labels: LabelMatrix, w: np.ndarray | None) -> None:
        labels = labels.drop_empty()
        if labels.c == 0:
            raise ValueError("LabelScores needs a label that some row has; y has none, pass rows with labels.")
        if self.n_components is not None and self.n_components > labels.c:
            raise ValueError(f"n_components={self.n_components!r} must be from 1 to the number of labels ({labels.c}).")
        T = with_weighted_means(labels, w).Y.toarray().astype(np.float64)
        seen = SeenRows(X)
        first, group = np.unique(seen.find(X), return_inverse=True)
        folds = self._folds(len(first))
        penalty = chosen_penalty(self.penalty, X, T, w)
        scores = np.empty((len(first), T.shape[1]))
        scores[group] = ridge_out_of_fold(X, T, penalty, folds[group], w)
        self._reduce(scores[group])
        self.coef_, self.intercept_ = ridge_fit(X, T, penalty, weights=w)
        self.scores_, self.penalty_, self._seen, self._first = scores, penalty, seen, first
        self.classes_ = labels.classes_

    def _folds(self, n_rows: int) -> np.ndarray:
        if n_rows < 2:
            raise ValueError(f"LabelScores needs at least 2 distinct rows to cross-fit; got {n_rows} sample.")
        order = check_random_state(self.random_state).permutation(n_rows)
        return order % min(self.n_folds, n_rows)

    def _reduce(self, S: np.ndarray) -> None:
        c = S.shape[1]
        if self.n_components is None:
            self.n_components_, self.reduction_ = c, None
            return
        self.reduction_ = decomposition.PCA(min(self.n_components, *S.shape), svd_solver="full").fit(S)
        self.n_components_ = self.reduction_.n_components_

    def transform(self, X: Any) -> Any:
        """Score rows: cross-fitted scores for rows identical to a training row, the full model's for others. X: (m, d)
        array or sparse matrix. Returns (m, n_components_)."""
        X = self._new_rows(X)
        S = X @ self.coef_ + self.intercept_
        seen = self._seen.find(X)
        S[seen >= 0] = self.scores_[np.searchsorted(self._first, seen[seen >= 0])]
        S = in_range(S, X, np.float64)
        return S if self.reduction_ is None else self.reduction_.transform(S)


class AllFeatures(Rival):
    """The features themselves, scaled as for every arm."""

    title = "all features"
    takes = ("labels", "numbers")
    position = 10
    cut = "never"

    @classmethod
    def build(cls, facts: DataFacts) -> Any:
        return None


class RandomProjection(Rival):
    """The Gaussian random projection of scikit-learn."""

    title = "random projection"
    takes = ("labels", "numbers")
    position = 70

    @classmethod
    def build(cls, facts: DataFacts) -> Any:
        from sklearn.random_projection import GaussianRandomProjection

        return GaussianRandomProjection(random_state=facts.seed)


class MethodRival(Rival):
    """Base of a rival that is a registered method, and goes by its name."""

    cut = "never"

    @classmethod
    def name_of(cls, estimator: Any) -> str:
        return title_of(estimator)

    @classmethod
    def work(cls, estimator: Any, shape: Shape, forest_rows: int) -> float:
        return fit_work(estimator, shape)


class LargestVariance(MethodRival):
    """PCA, or LSI of sparse features."""

    title = "PCA"
    takes = ("labels", "numbers")
    position = 20
    methods = ("PCA", "LSI")

    @classmethod
    def build(cls, facts: DataFacts) -> Any:
        return LSI() if facts.sparse else PCA()


class FisherPlane(MethodRival):
    """FDA, inside MESD where rows carry several labels."""

    title = "FDA"
    position = 140
    cut = "last"
    goal = "map"
    class_traits = Traits(labels="multi")

    @classmethod
    def build(cls, facts: DataFacts) -> Any:
        return FDA() if facts.one_class else MESD(FDA())


class PLSPlane(MethodRival):
    """The first two components of PLS."""

    title = "PLS"
    position = 145
    takes = ("numbers",)
    goal = "map"
    class_traits = Traits(labels="multi")

    @classmethod
    def build(cls, facts: DataFacts) -> Any:
        return PLS(deflation="simpls")
