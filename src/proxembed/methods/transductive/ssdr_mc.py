"""SSDRMC: an embedding and the labels of all rows from one set of reconstruction weights."""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from proxembed.algebra.arrays.blas import one_pool
from proxembed.algebra.arrays.matrix import guard_dense
from proxembed.algebra.graphs.bottom_residual import SOLVERS as EIGEN_SOLVERS
from proxembed.algebra.graphs.bottom_residual import bottom_residual
from proxembed.algebra.graphs.nonsymmetric import SOLVERS
from proxembed.classify.label_classifier import LabelClassifier
from proxembed.estimator.direct import stored_like
from proxembed.estimator.neighborly import Neighborly
from proxembed.estimator.nested import Nested
from proxembed.estimator.rows import Rows, SeenRows
from proxembed.estimator.validation import in_range
from proxembed.estimator.weights import refuse_arguments
from proxembed.params import integers, log, param
from proxembed.proximity.backends import nearest
from proxembed.targets.labels import LabelMatrix

from .label_iteration import (
    LOCAL_WEIGHTS,
    OBJECTIVES,
    PRIORS,
    Alternation,
    Blend,
    Inference,
    InferredLabels,
    LocalWeights,
    new_weights,
)
from .propagator import FIFTHS, agreeing, cut_at_half, distributions, hidden_fifth, neighbour_pattern, one_cut, reaches

CUT = 0.5
PRESETS = {"paper": (1e-3, "signed"), "recommended": (0.05, "clip")}
LARGE = 5.0  # soft labels beyond this mean a graph whose weights nearly cancel
SLACK = 1e-8  # soft labels that differ by less are equal: solvers leave so much
LEAST_SCORE = float(np.finfo(np.float64).tiny)


class SSDRMC(Nested, LabelClassifier, Neighborly, labels="multi", keeps_unknown=True):
    """Semi-supervised dimension reduction for multi-label classification: min (1 - alpha) tr(R'R) + alpha tr(E'E) over
    W and the unknown labels in F, R = X - WX, E = F - WF, W1 = 1.  [qian2010ssdrmc]

    The weights that reconstruct a row from its nearest neighbours also reconstruct its labels. Weights and unknown
    labels are computed in turns. Z consists of the smallest eigenvectors of (I - W)'(I - W), except the constant one.
    The units of the features matter: standardise columns that differ in scale. New rows are reconstructed from their
    neighbours in training; this differs from a fit that includes them.

    Attributes
    ----------
    embedding_ : (n, k) array, Z, Z'Z = I.
    n_components_ : int, k.
    eigenvalues_ : (k,) array, ascending.
    transduction_ : labels of the fitted rows, in the form of y.
    soft_labels_ : (n, c) array, F before the threshold; known labels as given (prior="hard") or as fitted.
    reconstruction_ : (n, n) CSR, W, the weights that the soft labels come from; after a cycle those of its labels.
    cuts_ : (c,) array, the thresholds.
    status_ : "converged", "cycle" (labels came back; those of least cost are kept) or "max_iter".
    trace_ : list of dict, for each pass: changed cells, both costs, residual, largest soft label of an unknown cell,
        cells without a path to a known one, solver, seconds.
    n_iter_ : int, passes.
    solver_, eigen_solver_ : the routes of the last soft labels and of the embedding.
    classes_ : (c,) array.
    recall_ : float or None, the sampled recall of an approximate search; None for an exact one.
    algorithm_ : str or None, the search that ran; None for none.

    Raises
    ------
    ValueError
        For bad X or y, labelled rows that all have the same labels, n_components above n - 1, a label_threshold of
        another length than the labels, monotone=True for one class per row (as y of one column is), and rows without a
        path to a labelled one under unreachable="raise".

    See Also
    --------
    proxembed.SSDR : Any supervised with any unsupervised method.
    proxembed.BSSML : BSML with rows without labels.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed import SSDRMC
    >>> from proxembed.data import digits
    >>> data = digits()
    >>> y = data.Y[:400].toarray().astype(float)
    >>> y[100:] = np.nan
    >>> model = SSDRMC(preset="recommended").fit(data.X[:400], y)
    >>> model.transduction_.shape, model.transform(data.X[400:402]).shape, model.predict(data.X[400:402]).shape
    ((400, 7), (2, 2), (2, 7))
    """

    role = "method"

    n_components: int = param(default=2, low=1, integer=True, doc="Components k; at most n - 1.")
    n_neighbors: int = param(
        default=15, low=1, integer=True, search=integers(5, 30), doc="Neighbours of a row; all others where n is less."
    )
    alpha: float = param(default=0.1, low=0, below=1, search=(0.0, 0.5), doc="Share of the labels in the weights.")
    label_threshold: Any = param(
        default=0.3,
        above=0,
        below=1,
        choices=("tuned",),
        kind=(np.ndarray, list, tuple),
        search=(0.2, 0.6),
        doc="H, soft labels of at least this are labels; one number a label, or tuned: where micro F1 is largest on a "
        "fifth of the labelled rows, hidden. One class per row: the largest soft label, whatever H.",
    )
    max_label_changes: int = param(
        default=5, low=0, integer=True, doc="T: largest number of cells that a pass may change to count as converged."
    )
    reg: float | None = param(
        default=None,
        low=1e-12,
        high=1e6,
        choices=(None,),
        search=log(1e-4, 1e-1),
        doc="xi, ridge of the local systems in units of their mean diagonal; None: by preset.",
    )
    weights: str | None = param(
        default=None,
        choices=(None, *LOCAL_WEIGHTS),
        doc="signed as published; clip: negative ones to 0, the rest to sum 1; nnls: the best nonnegative ones. "
        "None: by preset.",
    )
    objective: str = param(
        default="paper",
        choices=OBJECTIVES,
        doc="paper: labels of unlabelled rows rebuilt exactly; exact: the minimiser, errors of labelled rows included.",
    )
    prior: str = param(
        default="hard",
        choices=PRIORS,
        doc="Known labels hold (hard), or have weight prior_strength (masked); paper: unknown ones count as 0 with the "
        "same weight, and labels found are added and stay (one class per row: those of the last pass).",
    )
    prior_strength: float = param(
        default=1.0, low=1e-12, high=1e12, search=log(0.1, 10.0), doc="beta of masked and paper."
    )
    preset: str = param(
        default="paper", choices=tuple(PRESETS), doc="paper: reg 1e-3, signed; recommended: reg 0.05, clip."
    )
    max_iter: int = param(default=50, low=1, integer=True, doc="Largest number of passes.")
    init: str = param(
        default="features",
        choices=("features", "zero"),
        doc="First weights from the features alone, or with unknown labels 0.",
    )
    unreachable: str = param(
        default="anchor",
        choices=("anchor", "prior", "raise"),
        doc="Rows without a path to a labelled one: the last neighbour becomes the nearest labelled row; soft labels "
        "are the labels' shares; or an error. Paths that weights of 0 cut later give shares in each case (``trace_``).",
    )
    balance: str = param(
        default="none",
        choices=("none", "trace"),
        doc="trace: labels weighed to the size of the features, so that alpha has no unit.",
    )
    monotone: bool = param(default=False, kind=bool, doc="A label once found stays; not for one class per row.")
    min_labels: int = param(
        default=0, low=0, high=1, integer=True, doc="1: a row without a label gets its largest soft label."
    )
    refine: int = param(
        default=1, low=0, integer=True, doc="Rounds in which a new row's labels take part in its weights."
    )
    solver: str = param(default="auto", choices=SOLVERS, doc='Route of the linear systems of objective="paper".')
    eigen_solver: str = param(default="auto", choices=EIGEN_SOLVERS, doc="Route of the embedding.")

    def fit(self, X: Any, y: Any = None, *more: Any, **given: Any) -> Self:
        """Find the labels of all rows and the embedding.

        Parameters
        ----------
        X : (n, d) array or CSR of float32 or float64
        y : labels in any form of ``LabelMatrix``
            NaN where unknown; one column is one class per row, for which H does not count.
        *more, **given : further arguments
            A ValueError for ``sample_weight``; anything else is refused.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            With the argument, what is allowed and the remedy; also for ``sample_weight``, as rows have no weights
            here.
        """
        refuse_arguments(self, more, given)
        with self._learning():
            self._learn(self._validate(X, y))
        return self

    def _learn(self, rows: Rows) -> None:
        labels = rows.label_matrix
        if self.n_components > rows.n - 1:
            raise ValueError(
                f"{type(self).__name__}: n_components={self.n_components} is more than the {rows.n - 1} components of "
                f"{rows.n} rows. Use n_components <= {rows.n - 1}."
            )
        if self.monotone and labels.form == "classes":
            raise ValueError(
                f"{type(self).__name__}: monotone=True is not allowed with one class per row, as labels that stay "
                "would come to be several. Use monotone=False, or 0/1 labels in two or more columns."
            )
        guard_dense((rows.n, labels.c), "The soft labels of all rows and labels")
        Y = labels.Y.toarray() > 0
        known = np.ones(Y.shape, dtype=bool) if labels.unknown is None else ~labels.unknown.toarray()
        self._form, self._c = labels.form, labels.c
        index = self._anchored(rows, known)
        local = LocalWeights(rows.X, index, self._blend(), labels.c)
        self._cuts = self._thresholds(labels, local, known, Y)
        found = self._alternation(local, known, Y).run()
        self._warn(found)
        self._store(found, local, labels, rows)

    def _blend(self) -> Blend:
        reg, kind = PRESETS[self.preset]
        reg, kind = reg if self.reg is None else self.reg, kind if self.weights is None else self.weights
        return Blend(float(self.alpha), float(reg), kind)

    def _alternation(self, local: LocalWeights, known: np.ndarray, Y: np.ndarray) -> Alternation:
        return Alternation(
            local,
            known,
            Y,
            Inference(self.objective, self.prior, float(self.prior_strength), self.solver),
            self._decide,
            max_changes=int(self.max_label_changes),
            max_iter=int(self.max_iter),
            start=self.init,
            gains=bool(self.monotone) or (self.prior == "paper" and self._form != "classes"),
            balance=self.balance == "trace",
        )

    def _anchored(self, rows: Rows, known: np.ndarray) -> np.ndarray:
        """The neighbours of every row; the last one of a row without a path to a labelled row becomes the nearest of
        these."""
        found = rows.neighbors(min(int(self.n_neighbors), rows.n - 1), **self._search)
        self.recall_, self.algorithm_ = found.recall, found.algorithm
        labelled: Any = known.all(axis=1)
        labelled = labelled if labelled.any() else known.any(axis=1)
        lost = np.flatnonzero(~reaches(neighbour_pattern(found.index), labelled))
        if self.prior == "paper" or len(lost) == 0 or self.unreachable == "prior":
            return found.index
        if self.unreachable == "raise":
            raise ValueError(
                f"{type(self).__name__}: {len(lost)} rows have no path along their neighbours to a labelled row. Use "
                'more neighbours, label a row among them, or unreachable="anchor" or "prior".'
            )
        index, near = np.array(found.index), np.flatnonzero(labelled)
        index[lost, -1] = near[nearest(rows.X[near], 1, queries=rows.X[lost], **self._search).index[:, 0]]
        return index

    def _thresholds(self, labels: LabelMatrix, local: LocalWeights, known: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """A threshold for each label."""
        H, every = self.label_threshold, len(labels.classes_)
        if isinstance(H, str):
            return np.full(labels.c, CUT if self._form == "classes" else self._tuned(local, known, Y))
        try:
            H = np.asarray(H, dtype=np.float64)
        except (TypeError, ValueError):
            H = np.full(1 + every, np.nan)  # refused below
        if H.ndim == 0:
            return np.full(labels.c, float(H))
        if H.shape != (every,) or not np.all((H > 0) & (H < 1)):
            raise ValueError(
                f"{type(self).__name__}: label_threshold={self.label_threshold!r} is not allowed: it must be a number "
                f"above 0 and below 1, {every} such numbers, one for each label, or 'tuned'."
            )
        return H if labels.kept_columns is None else H[labels.kept_columns]

    def _tuned(self, local: LocalWeights, known: np.ndarray, Y: np.ndarray) -> float:
        """Where micro F1 is largest on a fifth of the labelled rows, their soft labels from the features' weights."""
        full = np.flatnonzero(known.all(axis=1))
        if len(full) < 2 * FIFTHS:
            raise ValueError(
                f"{type(self).__name__}: label_threshold='tuned' needs at least {2 * FIFTHS} labelled rows, and there "
                f"are {len(full)}. Give a number, such as 0.3."
            )
        held_out = hidden_fifth(full, Y)
        some = np.array(known)
        some[held_out] = False
        self._cuts = np.full(Y.shape[1], CUT)
        trial = self._alternation(local, some, Y)
        trial.max_iter = 1
        soft = trial.run().soft[held_out]
        local.scale_labels(1.0)
        return one_cut(soft, Y[held_out])

    def _decide(self, soft: np.ndarray) -> np.ndarray:
        """Labels (bool) of soft labels: at or above the threshold, or the largest of a row for one class per row."""
        near = soft >= soft.max(axis=1, keepdims=True) - SLACK
        largest = np.arange(soft.shape[1]) == near.argmax(axis=1)[:, None]
        if self._form == "classes":
            return largest
        F = soft >= self._cuts - SLACK
        if self.min_labels:
            F |= largest & ~F.any(axis=1, keepdims=True)
        return F

    def _warn(self, found: InferredLabels) -> None:
        name = type(self).__name__
        if found.status == "max_iter" and self.max_iter > 1:
            warnings.warn(
                f"{name}: labels still changed after max_iter={self.max_iter} passes. Use a smaller alpha, "
                'preset="recommended" or more passes.',
                ConvergenceWarning,
                stacklevel=4,
            )
        largest = found.trace[-1]["largest"]
        if largest > LARGE:
            warnings.warn(
                f"{name}: soft labels reach {largest:.3g} in size, as the weights of an ill-conditioned graph nearly "
                'cancel. Use weights="clip", a larger reg, or standardised features.',
                UserWarning,
                stacklevel=4,
            )

    def _store(self, found: InferredLabels, local: LocalWeights, labels: LabelMatrix, rows: Rows) -> None:
        Z = bottom_residual(found.W, int(self.n_components), solver=self.eigen_solver)
        self._blended, self._seen = local.blend, SeenRows(rows.X)
        self._F, self._soft = found.labels, found.soft
        self._n_labelled = int(np.count_nonzero(labels.rows_any))
        self._prior = labels.expand(labels.nk / self._n_labelled)
        self._remember(labels)
        self.training_, self.reconstruction_ = rows.X, found.W
        self.status_, self.trace_, self.n_iter_ = found.status, found.trace, len(found.trace)
        self.solver_, self.eigen_solver_ = found.trace[-1]["solver"], Z.solver
        self.cuts_ = np.full(len(self.classes_), self._cuts.mean())
        self.cuts_[slice(None) if labels.kept_columns is None else labels.kept_columns] = self._cuts
        self.soft_labels_ = labels.expand(found.soft)
        self.transduction_ = self._decoded(found.labels)
        self.eigenvalues_, self.embedding_, self.n_components_ = Z.eigenvalues, Z.Z, Z.Z.shape[1]

    def _decoded(self, F: np.ndarray) -> Any:
        """Labels in the form of y."""
        whole = self._labels.expand(F.astype(np.float64))
        return self.classes_[whole.argmax(axis=1)] if self._form == "classes" else self._labels.decode(whole)

    def shorten(self, short: Any, k: int) -> None:
        short.embedding_ = self.embedding_[:, :k]

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self, "embedding_")
        return self._input(X, reset=False)

    def _placed(self, X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Labels, soft labels and embedding of checked rows: their own, or by the weights that rebuild new rows."""
        known = self._seen.find(X)
        F, soft, Z = self._F[known], self._soft[known], self.embedding_[known]
        new = np.flatnonzero(known < 0)
        if len(new):
            F[new], soft[new], Z[new] = self._extended(stored_like(X[new], self.training_))
        return F, soft, Z

    def _extended(self, X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same of new rows; in ``refine`` rounds their labels take part in their weights."""
        K = min(int(self.n_neighbors), self.training_.shape[0])
        with one_pool:
            index = nearest(self.training_, K, queries=X, **self._search).index
            w = new_weights(self.training_, X, index, self._blended)
            F: Any = None
            for turn in range(int(self.refine) + 1):
                soft = np.einsum("ij,ijc->ic", w, self._soft[index])
                before, F = F, self._decide(soft)
                if (
                    turn == self.refine
                    or self._blended.alpha == 0
                    or (before is not None and np.array_equal(F, before))
                ):
                    break
                w = new_weights(self.training_, X, index, self._blended, F, self._F)
        return F, soft, np.einsum("ij,ijk->ik", w, self.embedding_[index])

    def transform(self, X: Any) -> Any:
        """The embedding of rows X, (m, d) to (m, k), in X's float type. A row seen in training has its own (the first
        of equal rows stands for all), others the mixture of their nearest rows' that rebuilds them."""
        X = self._checked(X)
        return in_range(self._placed(X)[2], X)

    def _predicted(self, X: Any) -> Any:
        """The labels of checked rows; those of ``transduction_`` for rows seen in training, the first of equal ones."""
        return self._decoded(self._placed(X)[0])

    def predict_proba(self, X: Any) -> np.ndarray:
        """Label probabilities of rows X, (m, c): soft labels with their threshold brought to 0.5, or classes summing
        to 1. At least 0.5 where the label is predicted, whatever the reason, or the largest of the classes."""
        F, soft, _ = self._placed(self._checked(X))
        F, soft = (self._labels.expand(each.astype(np.float64)) for each in (F, soft))
        if self._form == "classes":
            p = agreeing(distributions(np.maximum(soft, 0.0), np.ones(len(self.classes_)), self._prior), F)
            return p / p.sum(axis=1, keepdims=True)
        p = cut_at_half(np.clip(soft, 0.0, 1.0), self.cuts_, self._n_labelled)
        return np.where(F > 0, np.maximum(p, 0.5), np.minimum(p, np.nextafter(0.5, 0.0)))

    def _scores(self, X: Any) -> np.ndarray:
        """Soft labels over their thresholds, above 0 where the label is predicted and below elsewhere."""
        F, soft, _ = self._placed(X)
        F, soft = (self._labels.expand(each.astype(np.float64)) for each in (F, soft))
        if self._form != "classes":
            scores = soft - self.cuts_
            return np.where(F > 0, np.maximum(scores, LEAST_SCORE), np.minimum(scores, -LEAST_SCORE))
        soft = agreeing(soft, F)
        return soft @ np.array([[1.0, -1.0], [-1.0, 1.0]]) if len(self.classes_) == 2 else soft
