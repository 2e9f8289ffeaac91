"""Latent variables shared by features and labels: SLVM, MORP, MLSI, and the shared subspace of MLLS."""

import warnings
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from proxembed.algebra.arrays.blas import matmul
from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.arrays.matrix import dense_side
from proxembed.algebra.operators.inverse import Inverse
from proxembed.algebra.operators.structured import Centering, Dense, Identity, LowRank, Operator, Sum
from proxembed.algebra.pencil.direct import Placement, solve_direct
from proxembed.algebra.pencil.eigen import Solution, choose_ridge
from proxembed.algebra.pencil.problem import ROUNDING, Aim, Problem
from proxembed.algebra.pencil.symmetric import eigenvalues, orthonormal_columns, solve_linear
from proxembed.algebra.template import Template
from proxembed.blocks import RowBlocks, blocks_of, lazily
from proxembed.classify.label_classifier import fitted_to_labels
from proxembed.estimator.base import SpectralEmbedder
from proxembed.estimator.explain import label_loadings
from proxembed.estimator.known_blocks import refuse_once
from proxembed.estimator.predicts import EXTRAPOLATE_DOC, KnowsRanges
from proxembed.estimator.rows import Rows
from proxembed.estimator.sums import SummedRows, summed_rows
from proxembed.estimator.validation import in_range, index_of
from proxembed.estimator.weights import WeightedRows
from proxembed.params import log, param
from proxembed.targets.outputs import OutputReading

from .mope import Regressed

BETA_DOC = "Weight of the labels against the features in K = beta YY' + (1 - beta) XX'."
FORMS, BALANCES = ("inverse", "ratio"), ("none", "trace")
FORM_DOC = "Minimise P'(X'K^-1 X + penalty I)P, or maximise P'X'KXP subject to P'(X'X + penalty I)P = I."
BALANCE_DOC = "What YY' and XX' are divided by first: nothing, as published, or each by its trace."
NO_EFFECT = 1e-3  # the largest relative change by the targets that counts as none


def shared_weights(beta: float, balance: str, of_targets: float, of_features: float) -> tuple[float, float]:
    """The weights of YY' and of XX' in K: beta and 1 - beta, each over the trace of its term with balance="trace".
    Raises ValueError for targets of trace 0."""
    if balance == "none":
        return beta, 1.0 - beta
    if beta > 0 and of_targets <= 0:
        raise ValueError(
            'balance="trace" is not allowed here: the targets do not vary, so that the trace of their term, by which '
            'it would be divided, is 0. Use balance="none".'
        )
    return beta / of_targets if beta > 0 else 0.0, (1.0 - beta) / (of_features or 1.0) if beta < 1 else 0.0


def weights_of(rows: Rows, beta: float, center: np.ndarray | None, balance: str) -> tuple[float, float]:
    """``shared_weights`` of these rows, both terms centred where ``center`` is given."""
    sizes = (rows.labels.trace(center), rows.squared_norm(center)) if balance == "trace" else (1.0, 1.0)
    return shared_weights(beta, balance, *sizes)


def shared_kernel(rows: Rows, weights: tuple[float, float], center: np.ndarray | None) -> Operator:
    """K, the sum of YY' and XX' by their weights; both centred where ``center`` is given, numbers in Y in any case."""
    of_targets = LowRank(rows.labels.Y, center=rows.labels.centring(rows.ones, center))
    parts = zip(weights, (of_targets, LowRank(rows.X, center=center)), strict=True)
    return Sum([(weight, op) for weight, op in parts if weight != 0])


def shared_trace(rows: Rows, weights: tuple[float, float], center: np.ndarray | None) -> float:
    """The trace of K of these weights of YY' and XX'."""
    return weights[0] * rows.labels.trace(center) + weights[1] * rows.squared_norm(center)


class _Shared(SpectralEmbedder, abstract=True):
    """A projection that keeps what features and targets share: min P'(X'K^-1 X + penalty I)P subject to P'X'XP = I, or
    max P'X'KXP subject to P'(X'X + penalty I)P = I. [yu2006morp]"""

    beta: float = param(default=0.5, low=0, high=1, search=(0.0, 1.0), doc=BETA_DOC)
    penalty: float = param(default=1e-3, above=0, search=log(1e-6, 1e2), doc="Penalty on P'P.")
    eps: float = param(
        default=1e-6, low=1e-16, high=1e16, doc='Added to K under form="inverse", in units of its mean eigenvalue.'
    )
    form: str = param(default="inverse", choices=FORMS, search=FORMS, doc=FORM_DOC)
    balance: str = param(default="none", choices=BALANCES, search=BALANCES, doc=BALANCE_DOC)

    @property
    def _centres(self) -> bool:
        """Whether X and Y are centred first."""
        return True

    def template(self, rows: Rows) -> Template:
        offset = rows.ones if self._centres else None
        B = Centering() if self._centres else Identity(rows.n)
        weights = weights_of(rows, self.beta, offset, self.balance)
        K = shared_kernel(rows, weights, offset)
        if self.form == "ratio":
            return Template(K, B, b=self.penalty, offset=offset)
        trace = shared_trace(rows, weights, offset)
        return Template(-Inverse(self.eps * trace / rows.n, K), B, a=-self.penalty, b=0, offset=offset, sense=-1)

    def learn(self, rows: Rows, found: Solution) -> None:
        """Warn of targets without effect: p'X'K^-1 Xp is at most p'p over the weight of XX', and equals it for every p
        if no vector lies in the ranges of both X and Y."""
        if self.form == "ratio" or not 0.0 < self.beta < 1.0:
            return
        weight = weights_of(rows, self.beta, rows.ones if self._centres else None, self.balance)[1]
        squares = np.sum((found.P / found.problem.unit) ** 2, axis=0)
        share = (np.abs(found.eigenvalues) - self.penalty * squares) * weight / squares
        if share.min() > 1.0 - NO_EFFECT:
            warnings.warn(
                f"{type(self).__name__}: y has no effect, and the components are those of "
                f"{'PCA' if self._centres else 'LSI'}, as wherever the columns of [X, Y] are linearly independent, "
                'with more rows than features and labels. Use form="ratio" with balance="trace".',
                UserWarning,
                stacklevel=4,
            )


class MORP(_Shared, labels="multi", takes_shares=True, takes_numbers=True, from_sums="rows"):
    """Multi-output regularised projection: minimise P'(X'K^-1 X + penalty I)P, B = I - 11'/n, K = beta YY' + (1 -
    beta) XX'.
    [yu2006morp]

    Latent variables that reconstruct both features and labels, restricted to linear functions of X. K gets eps times
    its mean eigenvalue, since centring makes it singular. Where [X, Y] has independent columns, as with more rows than
    features and labels, X'K^-1 X is I / (1 - beta), and the components are those of PCA, for any labels and any beta
    below 1: a fit warns. ``form="ratio"`` maximises P'X'KXP subject to P'(X'X + penalty I)P = I instead, SLVM within
    linear maps of X, in which labels always count; with ``balance="trace"`` beta is their share.

    Attributes
    ----------
    eigenvalues_ : (k,) array, ascending: the cost of each component.

    Raises
    ------
    ValueError
        For n_components above the rank of the centred rows, sizes whose dense form passes the guard, bad X or y.

    See Also
    --------
    proxembed.OPLS : Ridge regression of the labels, restricted to k components.
    proxembed.MLSI : Label kernel and features together.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from proxembed import MORP
    >>> from proxembed.classify import LabelKNN
    >>> from proxembed.data import digits
    >>> data = digits()
    >>> method = MORP(form="ratio", balance="trace", n_components=6)
    >>> model = make_pipeline(method, LabelKNN()).fit(data.X[:1200], data.Y[:1200])
    >>> model.score(data.X[1200:], data.Y[1200:]) > 0.8  # rows whose whole label set is right
    True
    """


class MLSI(_Shared, labels="multi", takes_shares=True, takes_numbers=True, from_sums="rows"):
    """Multi-label informed latent semantic indexing: MORP's problem without centring, or its ratio form.  [yu2005mlsi]

    Directions that reconstruct both the features and the labels of the rows. ``form="inverse"``: minimise P'(X'K^-1 X +
    penalty I)P subject to P'X'XP = I; ``"ratio"``: maximise P'X'KXP subject to P'(X'X + penalty I)P = I; K = beta YY' +
    (1 - beta) XX'. The inverse form is LSI for any labels where [X, Y] has independent columns, as explained for
    ``MORP``, and a fit warns.

    Attributes
    ----------
    components_ : (k, d) array, P'.
    mean_ : (d,) array subtracted before projection (zeros unless center=True).
    eigenvalues_ : (k,) array: ascending costs for "inverse", descending gains for "ratio".

    Raises
    ------
    ValueError
        For n_components above the rank of X, sizes whose dense form passes the guard, bad X or y.

    See Also
    --------
    proxembed.LSI : PCA without centring, for sparse rows.
    proxembed.MVMD : Variance of features and dependence on labels.

    Examples
    --------
    >>> from proxembed import MLSI
    >>> from proxembed.data import digits
    >>> data = digits()
    >>> MLSI(form="ratio", n_components=3).fit(data.X, data.Y).transform(data.X).shape
    (1797, 3)
    """

    center: bool = param(default=False, kind=bool, doc="Centre X and Y first.")

    @property
    def _centres(self) -> bool:
        return self.center

    def template(self, rows: Rows) -> Template:
        if self.form == "inverse":
            self._refuse_wide(rows)
        return super().template(rows)

    def _refuse_wide(self, rows: Rows) -> None:
        """A ValueError for rows of which neither side can be decomposed, which this form has to do."""
        if min(rows.X.shape) > dense_side():
            raise ValueError(
                f'MLSI: form="inverse" decomposes the smaller side of X, at most {dense_side():,} long; X is '
                f'{rows.n:,} x {rows.X.shape[1]:,}. Use form="ratio", which is iterative, or reduce X to '
                f"{dense_side():,} features or fewer first, such as by LSI."
            )


class SLVM(Regressed, labels="multi", takes_shares=True, takes_numbers=True):
    """Supervised latent variable model: Z = leading left singular vectors of [sqrt(beta) Y, sqrt(1 - beta) X].
    [yu2005mlsi]

    Latent variables that reconstruct both features and labels, not restricted to linear functions; Z'Z = I. Y and X are
    first scaled to one sum of squares, so that beta is the share of the labels; ``balance="none"`` leaves them as they
    are, as published. New rows are embedded by the ridge regression of Z on X; a row seen in training keeps its own
    embedding, which its labels have part in: a classifier trained on such places is too confident on new rows.

    Attributes
    ----------
    embedding_ : (n, k) array, Z; None after a fit on RowBlocks, whose rows ``transform`` embeds as new ones.
    components_ : (k, d) array, and
    intercept_ : (k,) array, the regression that embeds new rows.
    eigenvalues_ : (k,) array, squared singular values of the stack.
    ridge_ : float, the ridge of the regression for new rows, absolute.

    Raises
    ------
    ValueError
        For n_components above the rank of [Y, X], bad X or y.

    See Also
    --------
    proxembed.CCA : Rare labels count as much as common ones.
    proxembed.OPLS : Ridge regression of the labels, restricted to k components.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from proxembed import SLVM
    >>> from proxembed.classify import LabelKNN
    >>> from proxembed.data import digits
    >>> data = digits()
    >>> model = make_pipeline(SLVM(n_components=10), LabelKNN()).fit(data.X[:1200], data.Y[:1200])
    >>> model.score(data.X[1200:], data.Y[1200:]) > 0.8  # rows whose whole label set is right
    True
    """

    beta: float = param(default=0.5, low=0, high=1, search=(0.0, 1.0), doc="Weight of the labels against the features.")
    balance: str = param(default="trace", choices=BALANCES, doc=BALANCE_DOC)
    center: bool = param(default=False, kind=bool, doc="Centre X and Y first.")

    def template(self, rows: Rows) -> Template:
        offset = rows.ones if self.center else None
        weights = weights_of(rows, self.beta, offset, self.balance)
        return Template(shared_kernel(rows, weights, offset), offset=offset)

    @property
    def weighs_rows(self) -> bool:
        return True

    @property
    def merges_rows(self) -> bool:
        """Not as places are found; the ridge of new rows leaves equal rows out together."""
        return False

    def place(self, template: Template, rows: Rows, k: int | None) -> Placement:
        """Of rows that occur w times Z with Z'diag(w)Z = I."""
        if not isinstance(rows, WeightedRows):
            return super().place(template, rows, k)
        root = np.sqrt(rows.times)
        found = solve_direct(rows.weighted(template).A.weighted(1.0 / root), k)
        return replace(found, Z=found.Z / root[:, None])

    def scaled(self, found: Solution, rows: Rows) -> np.ndarray:
        plain = isinstance(rows, WeightedRows) and self.scaling_of(rows) != "eigenvalue"
        return found.P if plain else super().scaled(found, rows)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the latent variables; of RowBlocks from X'X, X'Y and Y'Y.

        Blocks are read twice (three times with ``ridge="auto"``). No row keeps a place of its own then.

        Parameters
        ----------
        X : (n, d) array or CSR of float32 or float64, or RowBlocks with y in the blocks
        y : labels in any form of ``LabelMatrix``, or numbers
        sample_weight : (n,) numbers >= 0, optional
            How often each row counts; a row of weight 0 counts as absent, also from ``embedding_``. Those of
            RowBlocks come with the blocks.

        Returns
        -------
        self
        """
        if (blocks := blocks_of(X, y, sample_weight)) is None:
            return SpectralEmbedder.fit(self, X, y, sample_weight)
        with self._learning():
            self.resolve()
            refuse_once(self, blocks, "the sums of all rows")
            self._fit_blocks(blocks)
        return self

    def _fit_blocks(self, blocks: RowBlocks) -> None:
        stacked = _Stacked(center=self.center, **self._reading_parameters)
        rows = summed_rows(stacked, blocks)
        self.n_features_in_, self._reading_ = stacked.n_features_in_, stacked._reading_
        if hasattr(stacked, "classes_"):
            self.classes_ = stacked.classes_
        if hasattr(stacked, "feature_names_in_"):
            self.feature_names_in_ = stacked.feature_names_in_
        self.make_ready(rows)
        k, gram, c = self._n_to_solve(rows), _stacked_gram(rows), rows.totals.columns.size
        sizes = float(np.trace(gram[:c, :c])), float(np.trace(gram[c:, c:]))
        scale = np.repeat(np.sqrt(shared_weights(self.beta, self.balance, *sizes)), [c, rows.d])
        found = self.solve(Template(Dense(scale[:, None] * gram * scale)), rows, None)
        found = (
            found.first(min(k, found.bound)) if k is not None and self._n_components() is None else self._chosen(found)
        )
        axes = (
            scale[:, None] * self.scaled(found, rows) / np.sqrt(found.eigenvalues)
        )  # Z = [Y, X] axes, except for a level
        self.eigenvalues_, self.solver_, self.embedding_ = found.eigenvalues, found.solver, None
        self._regress(blocks, rows.totals, axes)
        self.release()
        self.n_components_ = len(found.eigenvalues)

    @property
    def _reading_parameters(self) -> dict[str, Any]:
        """The parameters by which y is read."""
        return {name: getattr(self, name) for name in ("target_type", "unknown", "scale_targets")}

    def _regress(self, blocks: RowBlocks, totals: Any, axes: np.ndarray) -> None:
        """The regression of Z on X."""
        placed = _Placed(**self._reading_parameters)
        placed.axes = np.split(axes, [totals.columns.size])
        rows = summed_rows(placed, blocks, totals)
        placed.make_ready(rows)
        template = rows.build_template(placed)
        aim = Aim(ridge=self.ridge, ridge_scale=self.ridge_scale)
        problem = Problem(template, rows.X, aim=aim, width=rows.d)
        ridge = choose_ridge(problem, *rows.resolve_ridge(self.ridge, self.ridge_scale, template))
        self.ridge_ = problem.of_rows(ridge)
        W, self.intercept_ = rows.found.regression(self.ridge_, rows.X)
        self.components_ = np.ascontiguousarray(W.T)
        if self.center:
            self.intercept_ = self.intercept_ - rows.found.target_level()
        self.label_loadings_ = label_loadings(problem.rows, rows.label_matrix, self.components_)

    def embed(self, X: Any) -> np.ndarray:
        return self.extend(X) if self.embedding_ is None else super().embed(X)


class _Stacked(SpectralEmbedder, labels="multi", takes_shares=True, takes_numbers=True, from_sums="rows"):
    """What SLVM has to know of rows in blocks: X'X and X'Y."""

    center: bool = param(default=False, kind=bool, doc="About the mean.")

    def template(self, rows: Rows) -> Template:
        offset = rows.ones if self.center else None
        return Template(shared_kernel(rows, (0.5, 0.5), offset), offset=offset)


class _Placed(SpectralEmbedder, labels="multi", takes_shares=True, takes_numbers=True, from_sums="rows"):
    """The regression on X of Z = [Y, X] axes, which follows from a row and its labels."""

    def template(self, rows: Rows) -> Template:
        of_labels, of_features = self.axes
        Z = rows.labels.Y @ of_labels + rows.X @ of_features
        return Template(LowRank(Z, center=rows.ones), Centering(), b=0, offset=rows.ones, target=Z)


_Stacked.__name__ = _Placed.__name__ = SLVM.__name__  # by which errors call them


def _stacked_gram(rows: SummedRows) -> np.ndarray:
    """[Y, X]'[Y, X], about the mean where the rows are centred."""
    found, labels = rows.found, rows.totals.no_rows()
    leaves: list[Any] = [leaf for _, leaf in found.template.A.terms()]
    E = next(found.product(leaf.F) for leaf in leaves if leaf.F is not found.demand.X)
    own = labels.centred_gram if found.centred else labels.gram
    return np.block([[own, E.T], [E, matmul(found.V * found.s**2, found.V.T)]])


class MLLS(KnowsRanges, labels="multi", takes_shares=True, takes_numbers=True, from_sums="rows"):
    """Shared-subspace multi-label least squares: Theta'Theta = I shared by the predictors of all labels.  [ji2010mlls]

    The linear predictors of all labels share one subspace, and each has its own part. Minimises ||XW - Y||^2/n + alpha
    ||W - Theta V||^2 + beta ||W||^2. With M1 = Xc'Xc/n + (alpha + beta) I and P = M1 Q it is the template A = Yc Yc',
    Bp = M1 (M1 - alpha I) in Q, mapped back and orthonormalised. Inside a kernel X stands for its coordinates. As alpha
    goes to 0, Theta spans the k leading left singular vectors of the ridge coefficients (ridge n beta). With as many
    components as Xc'Yc has rank these are the span of OPLS under that ridge; fewer ones are not, as OPLS takes those
    that fit Y best.

    Attributes
    ----------
    components_ : (k, d) array, Theta'.
    mean_ : (d,) array subtracted before projection.
    eigenvalues_ : (k,) array.
    coef_ : (d, c) array, and
    intercept_ : (c,) array, the built-in predictor of the labels. Of numbers coef_ is (n_outputs, d), in units of y.

    Raises
    ------
    ValueError
        For n_components above the rank of Xc'Yc, one label set only, bad X or y.

    See Also
    --------
    proxembed.HSL : Hypergraph of shared labels.
    proxembed.OPLS : Ridge regression of the labels, restricted to k components.

    Examples
    --------
    >>> from proxembed import MLLS
    >>> from proxembed.data import digits
    >>> data = digits()
    >>> MLLS(n_components=3).fit(data.X, data.Y).predict(data.X).shape
    (1797, 7)
    """

    alpha: float = param(default=1.0, above=0, search=log(1e-3, 1e3), doc="Penalty on what lies outside the subspace.")
    beta: float = param(default=0.1, above=0, search=log(1e-3, 1e3), doc="Penalty on the predictors.")
    extrapolate: bool = param(default=False, kind=bool, doc=EXTRAPOLATE_DOC)

    def template(self, rows: Rows) -> Template:
        n, ones = rows.n, rows.ones
        squared = LowRank(rows.X, center=ones) / n**2
        B = squared + ((self.alpha + 2.0 * self.beta) / n) * Centering()
        b = (self.alpha + self.beta) * self.beta
        return Template(LowRank(rows.labels.Y, center=ones), B, b=b, offset=ones, rows=rows.X)

    def finish(self, P: np.ndarray, R: CentredMatrix, eigenvalues: np.ndarray) -> np.ndarray:
        return orthonormal_columns(self._shifted(P, R))

    def _shifted(self, P: np.ndarray, R: CentredMatrix) -> np.ndarray:
        """M1 P."""
        return R.normal_dot(P) * (R.unit * R.unit / R.count) + (self.alpha + self.beta) * P

    def learn(self, rows: Rows, found: Solution) -> None:
        """W = (M1 - alpha Theta Theta')^-1 Xc'Yc / n, through M1^-1 [Xc'Yc / n, Theta]; Theta spans M1 Q."""
        self.learn_ranges(rows, found)
        outputs = isinstance(self._reading_, OutputReading)
        self._labels = None if outputs else rows.labels.take(slice(0, 0))
        self._kept_ = rows.labels.kept_columns
        n, theta = rows.n, orthonormal_columns(self.components_.T)
        unit = found.problem.unit
        self._alone = found.problem.regression(rows.labels.Y, n * (self.alpha + self.beta) / (unit * unit)) / unit
        triangle = matmul(theta.T, self._shifted(found.P, found.problem.rows))  # Theta = M1 Q triangle^-1
        self._inner = solve_linear(triangle.T, found.P.T).T
        self._level = rows.labels.sums / n
        self._combine()

    def _combine(self) -> None:
        theta, inner = orthonormal_columns(self.components_.T), self._inner[:, : len(self.components_)]
        middle = np.eye(theta.shape[1]) - self.alpha * (theta.T @ inner)
        if eigenvalues((middle + middle.T) / 2)[-1] <= ROUNDING:
            raise ValueError(
                f"MLLS: alpha={self.alpha!r} is so large beside beta={self.beta!r} and X that the predictor is lost in "
                "rounding. Use a smaller alpha or a larger beta, or scale X up."
            )
        W = self._alone + inner @ solve_linear(middle, self.alpha * (theta.T @ self._alone))
        if self._labels is None:
            weights = self._reading_.in_units(W, self._kept_)
            self.coef_ = np.ascontiguousarray(weights.T)
            self.intercept_ = self._reading_.level - self.mean_ @ weights
            return
        self.coef_ = self._labels.expand(W)
        self.intercept_ = self._labels.expand(self._level - self.mean_ @ W)

    def truncate(self, k: int) -> Self:
        """The fitted estimator with its first k components, and the predictor that goes with them."""
        short = super().truncate(k)
        short._combine()
        return short

    @available_if(fitted_to_labels)
    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of labels of rows X, (m, c); 0.5 is the threshold between a label and none. Blocks of them for
        RowBlocks, a lazy array for dask."""
        check_is_fitted(self, "coef_")
        if (blocks := lazily(X, self.decision_function)) is not None:
            return blocks
        X = self._input(X, reset=False)
        return in_range(CentredMatrix(X).dot(self.coef_) + self.intercept_, X, np.float64)

    def predict(self, X: Any) -> Any:
        """Labels of rows X in the form y came in: scores of at least 0.5, or the highest for one class per row; numbers
        in their units, within the range of the training rows unless ``extrapolate``. Blocks of them for RowBlocks, a
        lazy array for dask (blocks, too, where y came in another form than an array)."""
        check_is_fitted(self, "coef_")
        if (blocks := lazily(X, self.predict)) is not None:
            return blocks
        if self._labels is None:
            index = index_of(X)
            X = self._input(X, reset=False)
            raw = CentredMatrix(X, self.mean_).dot(self.coef_.T) + self._reading_.level
            return self._reading_.decoded(in_range(raw, X, np.float64), self.extrapolate, index)
        scores = self.decision_function(X)
        if self._labels.form == "classes":
            return self._labels.decode(np.eye(scores.shape[1])[scores.argmax(axis=1)])
        return self._labels.decode(scores >= 0.5)
