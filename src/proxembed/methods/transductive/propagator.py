"""Propagation: what the methods that spread labels over a graph share; a method states one linear equation."""

import warnings
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from proxembed.algebra.arrays.matrix import guard_dense
from proxembed.algebra.graphs.harmonic import SOLVERS, least_eigenvalue, shifted_solves, sylvester
from proxembed.algebra.pencil.symmetric import eigenvalues
from proxembed.classify.label_classifier import ExactMatch, LabelsOrNumbers, fitted_to_labels
from proxembed.classify.thresholds import label_folds, tune_thresholds
from proxembed.estimator.direct import stored_like
from proxembed.estimator.neighborly import Weighted, warn_unlinked
from proxembed.estimator.predicts import EXTRAPOLATE_DOC
from proxembed.estimator.rows import Rows, SeenRows, reciprocal
from proxembed.estimator.validation import in_range, index_of
from proxembed.estimator.weights import refuse_arguments
from proxembed.params import param
from proxembed.proximity.graph import components
from proxembed.proximity.weights import positive_links
from proxembed.targets.known import warn_partly_known
from proxembed.targets.labels import LabelMatrix
from proxembed.targets.outputs import OutputReading, Outputs
from proxembed.targets.targets import Targets

FIFTHS = 5
CUTS = (0.01, 0.99)
DECISIONS = ("tuned", "cmn", "fixed")
LARGEST_CUT = 1.0 - 1e-12  # a share of 1, which a labelled row has, is always above the cut


def hidden_fifth(rows: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """A fifth of the labelled rows, labels spread evenly: hidden to tune a cut on. rows : numbers of the labelled rows.
    Y : (n, c) of bool."""
    return rows[next(iter(label_folds(FIFTHS, Y[rows])))[1]]


def one_cut(soft: np.ndarray, Y: np.ndarray) -> float:
    """The cut of all labels where micro F1 is largest, from 0.01 to 0.99; soft labels and labels are (m, c)."""
    return float(np.clip(tune_thresholds(soft, Y).global_cut, *CUTS))


def mass_cuts(shares: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Class-mass normalisation as cuts: label j where q h / sum h > (1 - q)(1 - h) / sum (1 - h). [zhu2003gfhf] shares
    : (m, c), h of the rows whose mass counts. prior : (c,), q, the share of labelled rows with each label."""
    own, rest = shares.sum(axis=0), (1.0 - shares).sum(axis=0)
    above, below = (1.0 - prior) * own, prior * rest
    total = above + below
    return np.divide(above, total, out=np.full(len(prior), 0.5), where=total > 0)


def mass_weights(shares: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Class-mass normalisation for one class per row: the largest q h / sum h is chosen.  [zhu2003gfhf]"""
    mass = shares.sum(axis=0)
    return np.divide(prior, mass, out=np.ones(len(prior)), where=mass > 0)


def cut_at_half(shares: np.ndarray, cuts: np.ndarray, n_labelled: int) -> np.ndarray:
    """Probabilities from shares h: their odds scaled so that the cut t comes to 0.5, and all drawn to 0.5 as two more
    rows would draw a rate, one with the label and one without."""
    above, below = shares * (1.0 - cuts), (1.0 - shares) * cuts
    total = above + below
    odds = np.divide(above, total, out=np.zeros_like(total), where=total > 0)
    return (n_labelled * odds + 1.0) / (n_labelled + 2.0)


def distributions(shares: np.ndarray, weights: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Rows of weighted shares that sum to 1; the prior where no class has any."""
    mass = shares * weights
    total = mass.sum(axis=1, keepdims=True)
    return np.where(total > 0, np.divide(mass, total, out=np.zeros_like(mass), where=total > 0), prior)


def agreeing(soft: np.ndarray, F: np.ndarray) -> np.ndarray:
    """Soft labels of classes, that of the predicted one raised to a bit above the others where it is below."""
    others = np.where(F > 0, -np.inf, soft).max(axis=1, keepdims=True)
    least = others + np.maximum(abs(others), 1.0) * 2.0**-27
    return np.where(F > 0, np.maximum(soft, least), soft)


FOLDS = 5
FAINT = 1e-9  # of the largest ceiling: what is below has come so far that only rounding is left


@dataclass(frozen=True)
class Equation:
    """A Z + Z T = M Y0 on some rows (the others are 0, or clamped to Y0); T None for 0. ``rows`` are the rows solved
    for, ``least`` a known lower bound of the eigenvalues of A (None: to be found)."""

    rows: np.ndarray
    A: sparse.csr_array
    M: sparse.csr_array
    T: np.ndarray | None
    least: float | None = None


@dataclass(frozen=True)
class Spread:
    """Scores Z (n x c), the equation that they solve, the solver and its steps; and, of labels, their shares of what a
    label of every labelled row would give."""

    scores: np.ndarray
    equation: Equation
    solver: str
    steps: int
    shares: Any = None


class Propagation(
    LabelsOrNumbers, ExactMatch, Weighted, labels="multi", keeps_unknown=True, whole_rows=True, abstract=True
):
    """An estimator that spreads the labels of labelled rows over a graph of all rows. [chen2008smse] A method defines
    ``equation(W, known, reached, Y)``. Rows with any unknown label count as unlabelled. Numbers in y are spread as F,
    about the mean of the labelled rows, which is predicted for rows that no path links to one."""

    role = "classifier"
    clamped: ClassVar[bool] = False
    attributes: ClassVar[str] = """
        scores_ : (n, c) array, Z; 0 for rows without a path to a labelled one, and for labels that no labelled row has.
        shares_ : (n, c) array in [0, 1], scores over those that the row would have if every labelled row had the label.
        label_distributions_ : (n, c) array, the probabilities of the fitted rows.
        transduction_ : labels of the fitted rows, in the form of y.
        cuts_ : (c,) array or None, where shares are cut; None with one class per row.
        classes_ : (c,) array; of numbers there are none, and no shares, probabilities and cuts.
        targets_ : tuple of Output, how y was read.
        affinity_ : (n, n) CSR, W.
        graph_component_ : (n,) array, the component of the graph of each row.
        tau_ : float or None, the width of the weights.
        recall_ : float or None, the sampled recall of an approximate search; None for an exact one.
        algorithm_ : str or None, the search that ran; None for none.
        solver_ : "factor", "cg", or "none" where no row was to be solved for.
        n_iter_ : int, the steps of conjugate gradients; 1 otherwise.
    """

    decision: str = param(
        default="tuned",
        choices=DECISIONS,
        doc="Threshold of the shares: tuned for each label on held-out labelled rows (the shared rule), at class-mass "
        "normalisation, or at 0.5. One class per row: the largest share, under cmn of normalised mass.",
    )
    solver: str = param(default="auto", choices=SOLVERS, doc="Route of the linear systems; auto follows the graph.")
    extrapolate: bool = param(default=False, kind=bool, doc=EXTRAPOLATE_DOC)

    def equation(self, W: sparse.csr_array, known: np.ndarray, reached: np.ndarray, Y: sparse.csc_array) -> Equation:
        """The linear system of the method: W (n x n), masks of labelled rows and of rows that a path links to one,
        and the labels of all rows, 0 where unknown (F of numbers, about the mean of the labelled rows)."""
        raise TypeError(f"{type(self).__name__} must define equation(W, known, reached, Y).")

    def _clamps(self) -> bool:
        """Whether labelled rows keep their labels as scores."""
        return self.clamped

    def fit(self, X: Any, y: Any = None, *more: Any, **given: Any) -> Self:
        """Spread the known labels over the graph of all rows.

        Parameters
        ----------
        X : (n, d) array or CSR of float32 or float64
        y : labels in any form, or numbers
            NaN where unknown.
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
            rows = self._validate(X, y)
            if isinstance(rows.labels, Outputs):
                self._learn_numbers(rows, rows.labels)
            else:
                self._learn_labels(rows)
        return self

    def _learn_graph(self, rows: Rows, known: np.ndarray, c: int) -> sparse.csr_array:
        """The graph of all rows, of which it keeps what fit is to keep."""
        guard_dense((rows.n, c), "The scores of all rows and labels")
        W, learned = self._weights(rows)
        for name, value in {"affinity_": W, **learned}.items():
            setattr(self, name, value)
        _, self.graph_component_ = components(W)
        self._warn_unreached(known)
        self._seen, self.training_ = SeenRows(rows.X), rows.X
        return W

    def _learn_numbers(self, rows: Rows, outputs: Outputs) -> None:
        known = self._known_rows(outputs)
        warn_partly_known(type(self).__name__, outputs, stacklevel=3)
        W = self._learn_graph(rows, known, outputs.c)
        F = outputs.Y.toarray()
        self._mean_ = F[known].mean(axis=0)
        found = self._scored(W, known, sparse.csc_array(np.where(known[:, None], F - self._mean_, 0.0)))
        self.solver_, self.n_iter_, self._kept_ = found.solver, found.steps, outputs.kept_columns
        self.scores_ = outputs.expand(found.scores)
        self.transduction_ = self._in_units(self.scores_)

    def _in_units(self, scores: np.ndarray, index: Any = None) -> Any:
        """Predictions in the form of y for scores of all columns of F about the mean of the labelled rows."""
        reading: Any = self._reading_
        own = scores if self._kept_ is None else scores[:, self._kept_]
        raw = reading.in_units(own + self._mean_, self._kept_) + reading.level
        return reading.decoded(raw, self.extrapolate, index)

    def _learn_labels(self, rows: Rows) -> None:
        labels, known = self._labelled(rows.label_matrix)
        W = self._learn_graph(rows, known, labels.c)
        found = self._spread(W, known, labels.Y)
        self._n_labelled = int(np.count_nonzero(known))
        prior = labels.nk / self._n_labelled
        one_class = labels.form == "classes"
        cuts = None if one_class else np.clip(self._cuts(found.shares, known, labels, prior), 0.0, LARGEST_CUT)
        weights = np.ones(labels.c)
        if one_class and self.decision == "cmn":
            weights = mass_weights(found.shares[self._mass_rows(known)], prior)
        self.cuts_ = None if cuts is None else labels.expand(cuts)
        self._class_weights, self._prior = labels.expand(weights), labels.expand(prior)
        self._labels = labels.take(slice(0, 0))
        self.solver_, self.n_iter_ = found.solver, found.steps
        self.shares_ = labels.expand(found.shares)
        self.label_distributions_ = self._probabilities(self.shares_)
        self.transduction_ = self._decided(self.shares_)
        self.scores_ = labels.expand(found.scores)

    def _weights(self, rows: Rows) -> tuple[Any, Any]:
        W, learned = super()._weights(rows)
        self.refuse_negative(W)
        return W if self._of_graph or self._weights_given else positive_links(W), learned

    def _labelled(self, labels: LabelMatrix) -> tuple[LabelMatrix, np.ndarray]:
        """The labels of fully known rows, 0 in the others, and the mask of these rows."""
        known = self._known_rows(labels)
        if not warn_partly_known(type(self).__name__, labels, stacklevel=4):
            return labels, known
        Y = sparse.csc_array(sparse.diags_array(known.astype(np.float64)) @ labels.Y)
        Y.eliminate_zeros()
        labels = replace(labels, Y=Y).drop_empty()
        self.check_labels(labels.take(known))
        return labels, known

    def _known_rows(self, targets: Targets) -> np.ndarray:
        """The mask of the fully known rows."""
        known = targets.rows_known
        if targets.rows_any.any() and not known.any():
            raise ValueError(
                f"{type(self).__name__}: every row of y holds an unknown label, and a row counts as labelled only "
                "where all of its labels are known. Fill in what is unknown in some rows."
            )
        return known

    def _warn_unreached(self, known: np.ndarray) -> None:
        unreached = ~self._reached(known)
        if unreached.any():
            count = len(np.unique(self.graph_component_[unreached]))
            numbers = isinstance(self._reading_, OutputReading)
            what = "their predictions are the mean of the labelled rows" if numbers else "their scores are 0"
            warnings.warn(
                f"{int(unreached.sum())} rows lie in {count} components of the graph without a labelled row: {what}. "
                "Use more neighbours, or label a row in each.",
                UserWarning,
                stacklevel=5,
            )

    def _reached(self, known: np.ndarray) -> np.ndarray:
        """True for rows that a path of the graph links to a labelled row, or that are labelled."""
        with_label = np.zeros(self.graph_component_.max() + 1, dtype=bool)
        with_label[self.graph_component_[known]] = True
        return with_label[self.graph_component_]

    def _spread(self, W: sparse.csr_array, known: np.ndarray, Y: sparse.csc_array, hidden: bool = False) -> Spread:
        """Scores and shares from the labels of the ``known`` rows, which alone are looked at."""
        found = self._scored(W, known, Y, hidden)
        ceiling, scores = self._ceiling(found.equation, known, self._reached(known), found.scores.shape), found.scores
        shares = np.divide(scores, ceiling, out=np.zeros_like(scores), where=ceiling > FAINT * ceiling.max(initial=0.0))
        return replace(found, shares=np.clip(shares, 0.0, 1.0))

    def _scored(self, W: sparse.csr_array, known: np.ndarray, Y: sparse.csc_array, hidden: bool = False) -> Spread:
        """Scores from the labels, or F, of the ``known`` rows."""
        Y = sparse.csc_array(sparse.diags_array(known.astype(np.float64)) @ Y)
        reached = self._reached(known)
        equation = self.equation(W, known, reached, Y)
        self._check_definite(equation, reached, hidden)
        scores = Y.toarray() if self._clamps() else np.zeros(Y.shape)
        solver, steps = "none", 1
        if len(equation.rows):
            B = (equation.M @ Y).toarray()
            if equation.T is None:
                found = shifted_solves(equation.A, np.zeros(B.shape[1]), B, solver=self.solver)
            else:
                found = sylvester(equation.A, equation.T, B, solver=self.solver)
            scores[equation.rows], solver, steps = found.Z, found.solver, found.steps
        return Spread(scores, equation, solver, steps)

    def _ceiling(self, equation: Equation, known: Any, reached: Any, shape: tuple[int, int]) -> np.ndarray:
        """The scores if every labelled row carried every label: no score is above them, as A + T is an M-matrix."""
        T: Any = equation.T
        keeps_ones = T is None or np.abs(T.sum(axis=1)).max() <= 1e-12 * np.abs(T).max()
        if self._clamps() and keeps_ones:
            return np.broadcast_to(reached.astype(np.float64)[:, None], shape)
        ones = np.repeat(known.astype(np.float64)[:, None], 1 if keeps_ones else shape[1], axis=1)
        ceiling = ones.copy() if self._clamps() else np.zeros_like(ones)
        if len(equation.rows):
            B = equation.M @ ones
            if keeps_ones:
                ceiling[equation.rows] = shifted_solves(equation.A, np.zeros(1), B, solver=self.solver).Z
            else:
                ceiling[equation.rows] = sylvester(equation.A, T, B, solver=self.solver).Z
        return np.broadcast_to(ceiling, shape)

    def _check_definite(self, equation: Equation, reached: np.ndarray, hidden: bool) -> None:
        """An error that names the admissible weight of the label term where A + T is not positive definite."""
        if equation.T is None or len(equation.rows) == 0:
            return
        lowest = -float(eigenvalues(equation.T)[-1])
        if lowest <= 1e-12 * float(np.abs(equation.T).max()):
            return
        least = least_eigenvalue(equation.A) if equation.least is None else equation.least
        if not reached.all() and equation.least is None:
            least = 0.0
        if lowest < least * (1.0 - 1e-9):
            return
        admissible = self.label_smoothness * least / lowest
        where = " with a fold of the labelled rows hidden, as decision='tuned' does" if hidden else ""
        bound = f"below {admissible:.4g}" if admissible > 0 else "0, as some rows have no path to a labelled one"
        other = "sigma_form='laplacian' with" if hasattr(self, "sigma_form") else "a sigma (such as 'cosine') with"
        raise ValueError(
            f"{type(self).__name__}: label_smoothness={self.label_smoothness!r} is not allowed: the system is positive "
            f"definite only for label_smoothness {bound}{where}. Use a smaller value, or {other} correlations of at "
            "least 0."
        )

    def _cuts(self, shares: np.ndarray, known: np.ndarray, labels: LabelMatrix, prior: np.ndarray) -> np.ndarray:
        """A cut per label."""
        if self.decision == "fixed":
            return np.full(labels.c, 0.5)
        if self.decision == "cmn":
            return mass_cuts(shares[self._mass_rows(known)], prior)
        index = np.flatnonzero(known)
        Y = labels.Y.tocsr()[index].toarray()
        held_out_shares = np.zeros(Y.shape)
        for train, held_out in label_folds(FOLDS, Y > 0):
            some = np.zeros(len(known), dtype=bool)
            some[index[train]] = True
            found = self._spread(self.affinity_, some, labels.Y, hidden=True)
            held_out_shares[held_out] = found.shares[index[held_out]]
        return tune_thresholds(held_out_shares, Y).cuts

    def _mass_rows(self, known: np.ndarray) -> np.ndarray:
        """The rows whose mass is normalised: the unlabelled ones that labels reach, or all where there are none."""
        rows = self._reached(known) & ~known
        return rows if rows.any() else np.ones(len(known), dtype=bool)

    @property
    def _n_features_out(self) -> int:
        return self.scores_.shape[1] if self._kept is None else len(self._kept)

    @property
    def _kept(self) -> Any:
        """The columns of the scores that are shown: of labels that a labelled row has, or of F that vary; None: all."""
        return self._labels.kept_columns if "_labels" in vars(self) else self._kept_

    def transform(self, X: Any) -> Any:
        """The scores of rows X, (m, d) to (m, k), in X's float type: a column per label that a labelled row has, or per
        column of F that varies. A row seen in training has its own scores (the first of equal rows stands for all),
        others those of one propagation step: sum w z_i / sum w over their neighbours in training."""
        X, scores = self._placed(X, "scores_")
        return in_range(scores if self._kept is None else scores[:, self._kept], X)

    def _placed(self, X: Any, name: str) -> tuple[Any, Any]:
        """X checked, and the rows' entries of a fitted table: their own, or one propagation step."""
        check_is_fitted(self, "scores_")
        X, table = self._input(X, reset=False), getattr(self, name)
        known = self._seen.find(X)
        out = table[known]
        new = np.flatnonzero(known < 0)
        if len(new):
            if (reason := self.no_links()) is not None:
                raise ValueError(reason)
            links = self._link_matrix(*self._links(stored_like(X[new], self.training_)))
            total = links.sum(axis=1)
            warn_unlinked(total, "scores of 0", stacklevel=3)
            out[new] = (links @ table) * reciprocal(total)[:, None]
        return X, out

    def _probabilities(self, shares: np.ndarray) -> np.ndarray:
        if self.cuts_ is None:
            return distributions(shares, self._class_weights, self._prior)
        return cut_at_half(shares, self.cuts_, self._n_labelled)

    def _decided(self, shares: np.ndarray) -> Any:
        if self.cuts_ is not None:
            return self._labels.decode(shares > self.cuts_)
        return self.classes_[self._probabilities(shares).argmax(axis=1)]

    def predict(self, X: Any) -> Any:
        """Labels of rows X in the form y came in: shares above their cut, or the largest for one class per row; numbers
        in their units and types."""
        if not isinstance(vars(self).get("_reading_"), OutputReading):
            return self._decided(self._placed(X, "shares_")[1])
        index = index_of(X)
        return self._in_units(self._placed(X, "scores_")[1], index)

    @available_if(fitted_to_labels)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Label probabilities of rows X, (m, c): shares with their cut brought to 0.5, or classes summing to 1."""
        return self._probabilities(self._placed(X, "shares_")[1])

    @available_if(fitted_to_labels)
    def decision_function(self, X: Any) -> np.ndarray:
        """Shares of rows X less their cut, (m, c): positive where a label is predicted. With one class per row the
        probabilities, (m,) the difference of the second and the first for two classes."""
        shares = self._placed(X, "shares_")[1]
        if self.cuts_ is not None:
            return shares - self.cuts_
        probabilities = self._probabilities(shares)
        return probabilities[:, 1] - probabilities[:, 0] if len(self.classes_) == 2 else probabilities

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_label = True
        return tags


NO_EDGE = 1e-12


def neighbour_pattern(index: np.ndarray, weights: np.ndarray | None = None) -> sparse.csr_array:
    """The edges from each row to its neighbours, n x n CSR of ones; those of weight 0 left out where weights
    are given."""
    n, K = index.shape
    kept = np.ones(index.shape, dtype=bool) if weights is None else np.abs(weights) > NO_EDGE
    ends = np.append(0, np.cumsum(kept.sum(axis=1)))
    return sparse.csr_array((np.ones(ends[-1]), index[kept], ends), shape=(n, n))


def reaches(edges: sparse.csr_array, labelled: np.ndarray) -> np.ndarray:
    """True for rows with a path along the edges to a labelled row, and for these; one search against the edges."""
    n = edges.shape[0]
    roots = np.flatnonzero(labelled)
    back = sparse.csr_array(edges.T)
    indptr = np.append(back.indptr, back.indptr[-1] + len(roots))
    graph = sparse.csr_array(
        (np.ones(indptr[-1]), np.append(back.indices, roots), indptr), shape=(n + 1, n + 1)
    )  # one more node, linked to all labelled rows
    found = breadth_first_order(graph, n, directed=True, return_predecessors=False)
    out = np.zeros(n + 1, dtype=bool)
    out[found] = True
    return out[:n]
