"""TargetSpace: predictions of the targets by models that have not seen the row, as coordinates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.special import expit, logit
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.pencil.eigen import MAX_COMPONENTS
from proxembed.algebra.pencil.linear import evenly_spaced
from proxembed.algebra.pencil.logistic import log_odds, logistic_weights, shared_weights
from proxembed.algebra.pencil.problem import CONSTANT
from proxembed.algebra.pencil.symmetric import descending, fix_signs
from proxembed.blocks import lazily
from proxembed.classify.label_classifier import LabelsOrNumbers, fitted_to_labels
from proxembed.estimator.base import Embedder
from proxembed.estimator.nested import Nested
from proxembed.estimator.readout import ReadOut
from proxembed.estimator.rows import Rows, SeenRows
from proxembed.estimator.traits import Traits
from proxembed.estimator.validation import in_range, index_of
from proxembed.estimator.weights import weighed_rows
from proxembed.features.leaves import forest_targets
from proxembed.measures.metrics import row_jaccard
from proxembed.measures.neighbors import left_out_neighbor_weights
from proxembed.measures.outputs import OutputCells, agreement_each, mean_over_outputs, near_outputs
from proxembed.params import SEED, check_params, param, seed_of
from proxembed.proximity.search import rank_in
from proxembed.splits.splits import Split, stratified_folds
from proxembed.targets.known import known_columns, known_rows, smoothed_log_odds
from proxembed.targets.labels import LabelMatrix
from proxembed.targets.outputs import OutputReading

from .bayes.measured import is_number
from .bayes.probit import CERTAIN, ProbitClassifier
from .bayes.truncated import absent_odds
from .out_of_fold import BASES, Known, Sizes, learned, lifted

LEAST = 0.001  # scores of labels lie between this and 1 - LEAST
PENALTY = 10.0  # of the stack: 1 / C with C = 0.1
FOLDS, NEIGHBORS = 5, 10
OF_NUMBERS = ("ridge", "kernel", "forest")  # the bases that predict numbers
SHARES, POWERS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0), (0.5, 1.0, 2.0)
MOST_QUERIES = 2000  # rows, evenly spaced, by which the place of the rows of fit is chosen
ENTRIES = 1 << 24  # of the variables of regressions that are fitted at once


def _are_bases(value: Any) -> bool:
    return isinstance(value, list | tuple) and 0 < len(value) == len(set(value)) and set(value) <= set(BASES)


def clipped_logits(scores: np.ndarray) -> np.ndarray:
    """The logits of the scores of labels, cut to 0.001 to 0.999."""
    return logit(np.clip(scores, LEAST, 1.0 - LEAST))


def stack_weights(L: np.ndarray, T: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """The stack of each label, (c, 1 + bases): a logistic regression on the logits L (m, c, bases) of its scores, the
    intercept first. A label that all rows have, or none, has the log odds of its smoothed share."""
    known, positive = mass.sum(axis=0), (mass * T).sum(axis=0)
    B = np.zeros((T.shape[1], 1 + L.shape[2]))
    B[:, 0] = smoothed_log_odds(positive, known)
    vary = np.flatnonzero((positive > 0) & (positive < known))
    step = max(1, ENTRIES // max(L[:, 0].size, 1))
    for some in (vary[start : start + step] for start in range(0, len(vary), step)):
        A = np.ascontiguousarray(np.swapaxes(L[:, some], 0, 1))
        B[some] = logistic_weights(A, T[:, some].T, mass[:, some].T, PENALTY)
    return B


def stacked(L: np.ndarray, B: np.ndarray) -> np.ndarray:
    """The log odds (m, c) of rows by the stacks B."""
    return log_odds(np.swapaxes(L, 0, 1), B).T


def cross_stacked(L: np.ndarray, T: np.ndarray, mass: np.ndarray, folds: list[Split]) -> np.ndarray:
    """The log odds (m, c) of each row by stacks of the other folds."""
    found = np.empty(T.shape)
    for fold in folds:
        own = fold.train
        found[fold.held_out] = stacked(L[fold.held_out], stack_weights(L[own], T[own], mass[own]))
    return found


@dataclass(frozen=True)
class Stack:
    """What joins the scores (m, c, bases) of the bases. ``signed`` (c,): which columns are labels, joined by ``odds``
    (labels, 1 + bases); numbers are cut to their range (``low``, ``high``) and joined by ``weights`` (bases,)."""

    signed: np.ndarray
    odds: np.ndarray | None
    weights: np.ndarray | None
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, own: np.ndarray, known: Known, signed: np.ndarray, names: tuple[str, ...]) -> Stack:
        """Learned from the scores of rows by bases that have not seen them."""
        T, mass = known.T, known.mass
        odds = stack_weights(clipped_logits(own[:, signed]), T[:, signed], mass[:, signed]) if signed.any() else None
        seen = mass[:, ~signed] > 0
        low = np.where(seen, T[:, ~signed], np.inf).min(axis=0)
        high = np.where(seen, T[:, ~signed], -np.inf).max(axis=0)
        weights = None
        if not signed.all():
            used = np.array([name in OF_NUMBERS for name in names])
            used = used if used.any() else ~used
            root = np.sqrt(mass[:, ~signed])
            A = np.clip(own[:, ~signed], low[:, None], high[:, None]) * root[:, :, None]
            weights = np.zeros(len(names))
            weights[used] = shared_weights(A[:, :, used].reshape(-1, used.sum()), (T[:, ~signed] * root).ravel())
        return cls(signed, odds, weights, low, high)

    def log_odds(self, scores: np.ndarray) -> np.ndarray:
        """The log odds (m, labels) of new rows."""
        odds: Any = self.odds  # not None where some column is a label
        return stacked(clipped_logits(scores[:, self.signed]), odds)

    def predicted(self, scores: np.ndarray) -> np.ndarray:
        """Probabilities of labels and predictions of numbers, (m, c), of new rows."""
        return self._joined(scores, None if self.odds is None else self.log_odds(scores))

    def cross_fitted(self, own: np.ndarray, known: Known, folds: list[Split]) -> np.ndarray:
        """The same of the rows of fit: labels by stacks of the other folds."""
        T, mass, signed = known.T, known.mass, self.signed
        odds = None
        if self.odds is not None:
            odds = cross_stacked(clipped_logits(own[:, signed]), T[:, signed], mass[:, signed], folds)
        return self._joined(own, odds)

    def _joined(self, scores: np.ndarray, odds: np.ndarray | None) -> np.ndarray:
        found = np.empty(scores.shape[:2])
        if odds is not None:
            found[:, self.signed] = expit(odds)
        if self.weights is not None:
            cut = np.clip(scores[:, ~self.signed], self.low[:, None], self.high[:, None])
            found[:, ~self.signed] = cut @ self.weights
        return found


def unit_rows(V: np.ndarray) -> np.ndarray:
    """Rows of length 1; rows of zeros stay."""
    size = np.sqrt(np.einsum("mc,mc->m", V, V))[:, None]
    return np.divide(V, size, out=np.zeros_like(V), where=size > 0)


@dataclass(frozen=True)
class Placing:
    """Where rows stand: a row of fit at (1 - share) p^power + share T, its own targets T, a new row at p^power, both of
    length 1 if ``unit``."""

    share: float
    power: float
    unit: bool

    def new(self, P: np.ndarray) -> np.ndarray:
        """The coordinates of new rows by their predictions."""
        return unit_rows(P**self.power) if self.unit else P

    def own(self, P: np.ndarray, T: np.ndarray, known: np.ndarray) -> np.ndarray:
        """The coordinates of rows of fit; an unknown target is its prediction."""
        Q = P**self.power if self.unit else P
        mixed = Q + self.share * (np.where(known, T, Q) - Q)
        return unit_rows(mixed) if self.unit else mixed


def best_placing(found: list[tuple[float, Placing]]) -> Placing:
    """The first of the largest value up to rounding."""
    return found[int(np.argmax(np.round([value for value, _ in found], 12)))][1]


def standing(T: np.ndarray, known: np.ndarray, share: float) -> np.ndarray:
    """The numbers of the rows of fit that may be neighbours: all, or, where rows of equal targets have one place, of
    each such set as many as a row can have neighbours, and itself."""
    if share < 1 or not known.all():
        return np.arange(len(T))
    group = np.ravel(np.unique(T, axis=0, return_inverse=True)[1])
    order = np.argsort(group, kind="stable")
    return np.sort(order[rank_in(group[order], int(group.max()) + 1) <= NEIGHBORS])


def left_out_jaccard(P: np.ndarray, T: np.ndarray, known: np.ndarray, placing: Placing, labels: int) -> float:
    """Jaccard@10 of the rows of fit, each found as a new row among the others; of the first ``labels`` columns."""
    rows, among = evenly_spaced(len(P), MOST_QUERIES), standing(T, known, placing.share)
    near = left_out_neighbor_weights(placing.new(P[rows]), placing.own(P, T, known), rows, among, NEIGHBORS, "cosine")
    Y, some = T[:, :labels] >= 0.5, known[:, :labels]
    cells = {} if some.all() else {"known_train": some[among], "known": some[rows]}
    return float(row_jaccard(Y[rows], Y[among], near, **cells).mean())


def left_out_agreement(P: np.ndarray, cells: OutputCells, placing: Placing) -> float:
    """A@10 of the rows of fit, each found as a new row among the others."""
    F, known, rows = cells.F, cells.mask > 0, evenly_spaced(len(P), MOST_QUERIES)
    among = standing(F, known, placing.share)
    Z = placing.own(P, F, known)
    near = left_out_neighbor_weights(placing.new(P[rows]), Z, rows, among, NEIGHBORS, "euclidean")
    return float(mean_over_outputs(agreement_each(cells.take(rows), near_outputs(near, F[among], known[among]))))


class TargetSpace(
    LabelsOrNumbers,
    ProbitClassifier,
    Nested,
    Embedder,
    labels="multi",
    takes_numbers=True,
    needs_all_rows="every row is predicted by models of the others",
):
    """Target space: stacked predictions of the targets, by models that have not seen the row, as coordinates.
    [wolpert1992stacking] [breiman1996stacked]

    Rows are near if the same labels, or numbers, are predicted for them. Four bases predict every label: ridge
    regression, ridge regression on a Gaussian kernel, a random forest, and the nearest rows by cosine. For the rows of
    fit they do so without the row itself: by leave-one-out in closed form, and by the trees that were grown without it.
    A logistic regression of each label on the logits of the scores joins them (the stack), for the rows of fit
    cross-fitted in five folds; ``predict_proba`` is this stack. In searches, comparisons and saved models it predicts
    labels at every number of components. If rows without any label exist, to have none is one more label.

    A new row stands at p^g, the power g of its probabilities p, and a row of fit at a y + (1 - a) p^g between its
    labels and its cross-fitted probabilities, both at length 1. a and g have the largest Jaccard@10 when each row of
    fit is looked for as if it were new. The components are the leading right singular vectors of these places, about 0,
    or of p^g where the places of rows of fit are single labels (a = 1, one of three classes or more per row), as these
    vectors would then be the largest classes alone.

    Numbers are predicted by the first three bases, each limited to the range of the rows of fit, and joined by weights
    of at least 0 of least squared error, the same for all outputs. The coordinates are these predictions, in units of
    their standard deviation, and a has the largest A@10. Labels and classes beside numbers keep their stack.

    Equal rows count as one row of the mean of their targets, which is left out whole; other groups of rows are not
    known to ``fit``. Rows without a known target are placed as new ones, unknown ones are left out of the stack, and
    bases take them at the mean of their column. A row of fit keeps its place in ``transform``. Above 6,000 rows the
    kernel is that of 1,000 prototypes.

    Attributes
    ----------
    bases_ : tuple of str, the bases used.
    share_, power_ : float, a and g.
    axes_ : (number of predictions, k) array, the components.
    eigenvalues_ : (k,) array, the squared singular values.
    embedding_ : (n, k) array, the places of the rows of fit that have a known target.
    own_predictions_ : (n, c) array, the cross-fitted probabilities of these rows, or their predicted numbers in units
        of F by bases that have not seen them.
    stack_ : (c, 1 + bases) array, intercept and weights of the stack of each label, or None without labels.
    weights_ : (bases,) array, the weights by which the predictions of numbers are joined (0 for a base that takes no
        part), or None without numbers.
    classes_ : array of shape (c,), of labels.
    n_components_ : int

    Raises
    ------
    ValueError
        For fewer than two different rows, X that is constant, more components than predictions differ in, bad X or y.

    See Also
    --------
    proxembed.Views : Several kinds of features side by side.
    proxembed.LabelScores : Cross-fitted scores as an embedding.

    Examples
    --------
    >>> from proxembed import TargetSpace
    >>> from proxembed.data import digits
    >>> from proxembed.measures import jaccard_at_k, neighbor_weights
    >>> data = digits()
    >>> Y = data.Y.toarray()
    >>> space = TargetSpace(n_estimators=50).fit(data.X[:400], Y[:400])
    >>> near = neighbor_weights(space.transform(data.X[400:]), space.embedding_)
    >>> jaccard_at_k(Y[400:], Y[:400], near) > 0.85
    True
    """

    role = "method"

    n_components: int | float | None = param(
        default=None,
        above=0,
        choices=(None,),
        kw_only=False,
        doc="Components k; None: one per target, at most 100; a float in (0, 1): this share of the squared singular "
        "values.",
    )
    bases: list[Any] | tuple[Any, ...] | None = param(
        default=None,
        words=f"a list of different names from {', '.join(map(repr, BASES))}, or None",
        test=lambda value: value is None or _are_bases(value),
        doc="The bases; None: those of the four that the sizes of X allow. Of numbers the neighbours are none.",
    )
    honest: bool = param(
        default=False,
        kind=bool,
        doc="Place rows of fit as new rows are, by their cross-fitted predictions alone (a = 0).",
    )
    n_estimators: int = param(default=300, low=1, high=100_000, integer=True, doc="Trees of the forest.")
    n_neighbors: int = param(default=20, low=1, integer=True, doc="Nearest rows that predict.")
    random_state: int | None = param(default=0, like=SEED, doc="Seed of the forest, the folds and the prototypes.")

    @property
    def traits(self) -> Traits:
        """With unknown cells, which are left out."""
        return replace(super().traits, keeps_unknown=True)

    @property
    def weighs_rows(self) -> bool:
        """Rows may have weights."""
        return True

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the predictions, and place the rows.

        Parameters
        ----------
        X : (n, d) array or CSR of float32 or float64
        y : labels in any form, or numbers
            Unknown cells are allowed.
        sample_weight : (n,) numbers >= 0, optional
            How often each row counts; a row of weight 0 counts as absent.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            With the argument, what is allowed and the remedy.
        """
        with self._learning():
            check_params(self)
            X, y, weights = weighed_rows(X, y, sample_weight)
            self._fit_rows(self._validate(X, y, weights))
        return self

    def _validate(self, X: Any, y: Any, weights: np.ndarray | None = None) -> Rows:
        rows = super()._validate(X, y, weights)
        labels: Any = rows.labels
        keep = known_rows(type(self).__name__, labels, stacklevel=5)
        if CentredMatrix(rows.X[keep]).constant:
            raise ValueError(CONSTANT)
        if len(keep) == rows.X.shape[0]:
            return replace(rows, counts=weights)
        return Rows(rows.X[keep], labels.take(keep), counts=None if weights is None else weights[keep])

    def _columns(self, labels: Any, weights: np.ndarray | None) -> Any:
        if not isinstance(labels, LabelMatrix):
            return labels.drop_empty() if weights is None else labels.held(weights).drop_empty()
        self._absent_odds = absent_odds(labels, weights)  # type: ignore[misc]  # ClassVar keeps it from being a parameter
        return known_columns(labels, stacklevel=5).drop_empty()

    def _fit_rows(self, rows: Rows) -> None:
        seed = seed_of(self.random_state)
        labels: Any = rows.labels
        numbers = not isinstance(labels, LabelMatrix)
        known, number = _of_outputs(rows) if numbers else _of_labels(rows)
        self._count(np.ones(known.T.shape[1]), known.T.shape[1])  # too many are refused before anything is learned
        signed = _signed(labels) if numbers else np.ones(known.T.shape[1], dtype=bool)
        self.bases_ = self._chosen_bases(known, bool(signed.any()))
        sizes = Sizes(int(self.n_estimators), int(self.n_neighbors), seed)
        self._scorers, own = learned(known, self.bases_, sizes)
        self._stack = Stack.of(own, known, signed, self.bases_)
        P = self._stack.cross_fitted(own, known, _folds(known.T[:, signed], seed) if signed.any() else [])
        T, shares = known.T, (0.0,) if self.honest else SHARES
        if numbers:
            level, scale = _standard_of(labels)
            P, T = (_in_factor(each, signed, level, scale) for each in (P, T))
            kept = slice(None) if labels.kept_columns is None else labels.kept_columns
            cells = OutputCells(T, labels.reading.layout.owners[kept], level, scale, known.mass > 0)
            found = [(left_out_agreement(P, cells, each), each) for each in (Placing(a, 1.0, False) for a in shares)]
        else:
            tried = [Placing(a, g, True) for g in POWERS for a in shares]
            found = [(left_out_jaccard(P, T, known.mass > 0, each, labels.c), each) for each in tried]
        self._placing = best_placing(found)
        self._remember(labels)
        self._standard = _standard_of(labels) if numbers else None
        self.stack_, self.weights_ = self._stack.odds, self._stack.weights
        self.share_, self.power_ = self._placing.share, self._placing.power
        self.own_predictions_ = P[number, : labels.c]
        self._seen = SeenRows(rows.X)
        self._store(self._placing.own(P, T, known.mass > 0), self._placing.new(P), known.counts, number)

    def _chosen_bases(self, known: Known, labels: bool) -> tuple[str, ...]:
        """Those given, or those that the sizes allow and the targets use."""
        if self.bases is not None:
            return tuple(self.bases)
        fit = [name for name, base in BASES.items() if base.fits(*known.X.shape)]
        return tuple(name for name in fit if labels or name in OF_NUMBERS)

    def _remember(self, labels: Any) -> None:
        if isinstance(labels, LabelMatrix):
            super()._remember(labels)
        else:
            self._kept_ = labels.kept_columns

    def _store(self, S: np.ndarray, new: np.ndarray, counts: np.ndarray, number: np.ndarray) -> None:
        """The components, and the places S of the rows of fit; ``new``: their places as new rows."""
        products = S.T @ (S * counts[:, None])
        if len(S.T) > 2 and not np.any(products - np.diag(np.diag(products))):  # each is that of a single target
            products = new.T @ (new * counts[:, None])
        values, V = descending(products)
        values = np.maximum(values, 0.0)
        bound = int(np.count_nonzero(values > len(values) * np.finfo(float).eps * values[0]))
        k = self._count(values, bound)
        self.axes_ = fix_signs(V[:, :k])
        self.eigenvalues_ = values[:k]
        self.embedding_ = (S @ self.axes_)[number]
        self.n_components_ = k

    def _count(self, values: np.ndarray, bound: int) -> int:
        """The number of components by ``n_components``, at most ``bound``."""
        k = self.n_components
        if k is None:
            return min(bound, MAX_COMPONENTS)
        if isinstance(k, float) and k < 1:
            return min(int(np.searchsorted(np.cumsum(values), k * values.sum())) + 1, bound)
        if k != int(k) or k > bound:
            raise ValueError(
                f"n_components={k!r} is not allowed: TargetSpace has 1 to {bound} components on these data, as its "
                "predictions differ in no more directions. Use one of these numbers, or None."
            )
        return int(k)

    def shorten(self, short: Any, k: int) -> None:
        short.axes_, short.embedding_ = self.axes_[:, :k], self.embedding_[:, :k]

    def transform(self, X: Any) -> Any:
        """The embedding of rows X, (m, d) to (m, k), in X's float type; a row of fit has its own place."""
        X = self._checked(X)
        seen = self._seen.find(X)
        new = np.flatnonzero(seen < 0)
        return self._placed(X, seen, lifted(self._scorers, X[new]) if len(new) else None)

    def _placed(self, X: Any, seen: np.ndarray, scores: np.ndarray | None) -> Any:
        """The embedding of rows X; ``seen``: which row of fit each is, below 0 for new ones, whose scores by the
        bases are ``scores``."""
        Z = np.empty((X.shape[0], self.n_components_))
        Z[seen >= 0] = self.embedding_[seen[seen >= 0]]
        if scores is not None:
            Z[seen < 0] = self._placing.new(self._predictions(scores)) @ self.axes_
        return in_range(Z, X)

    def placed_and_scored(self, X: Any) -> tuple[Any, np.ndarray]:
        """``transform`` and ``label_scores`` of rows X (m, d), for which the bases predict once."""
        X = self._checked(X)
        scores, seen = lifted(self._scorers, X), self._seen.find(X)
        with np.errstate(over="ignore", invalid="ignore"):
            odds = in_range(self._log_odds(scores), X, np.float64)
        Z = self._placed(X, seen, scores[seen < 0] if (seen < 0).any() else None)
        return Z, np.clip(odds, -CERTAIN, CERTAIN)

    def _predictions(self, scores: np.ndarray) -> np.ndarray:
        """What places new rows: the probabilities of labels, or numbers in units of F, by the scores of the bases."""
        P = self._stack.predicted(scores)
        return P if self._standard is None else _in_factor(P, self._stack.signed, *self._standard)

    def _scores(self, X: Any) -> np.ndarray:
        return self._log_odds(lifted(self._scorers, X))

    def _log_odds(self, scores: np.ndarray) -> np.ndarray:
        """The log odds of the labels by the scores of the bases."""
        found = self._stack.log_odds(scores)
        c = len(self.classes_) if self._labels.kept_columns is None else len(self._labels.kept_columns)
        return self._completed(self._labels.expand(found[:, :c]))

    def _means(self, X: Any) -> np.ndarray:
        return self._scores(X)

    def label_scores(self, X: Any) -> np.ndarray:
        """Log odds of the labels of rows X (m, d) by the stack, (m, c): what reads labels out of this embedding at any
        number of components."""
        if (blocks := lazily(X, self.label_scores)) is not None:
            return blocks
        return np.clip(self._finite_scores(self._checked(X)), -CERTAIN, CERTAIN)

    def own_label_scores(self) -> np.ndarray:
        """The same of the rows of fit with a known label, by models and stacks that have not seen the row."""
        P = self.own_predictions_
        with np.errstate(divide="ignore"):
            odds = np.clip(logit(P), -CERTAIN, CERTAIN)
        return np.clip(self._completed(self._labels.expand(odds)), -CERTAIN, CERTAIN)

    def output_readout(self) -> ReadOut | None:
        """The components taken back to predictions of F, of which they are made; None for labels."""
        if self._standard is None:
            return None
        k = self.n_components_
        return ReadOut(np.eye(k), np.ascontiguousarray(self.axes_.T), np.zeros(k), self._kept_)

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self, "n_components_")
        return self._input(X, reset=False)

    def predict(self, X: Any) -> Any:
        """Predict rows X (m, d) in the form of y: labels as classes (m,), an indicator (m, c) or a list of m sets;
        numbers in their units and types. Beside numbers, labels are those with a probability of at least one half, and
        classes those with the largest. Blocks of them for RowBlocks."""
        check_is_fitted(self, "n_components_")
        if not isinstance(self._reading_, OutputReading):
            return super().predict(X)
        if (blocks := lazily(X, self.predict)) is not None:
            return blocks
        index = index_of(X)
        checked = self._checked(X)
        reading: Any = self._reading_
        P = self._predictions(lifted(self._scorers, checked))
        raw = reading.in_units(P, self._kept_) + reading.level
        return reading.decoded(in_range(raw, checked, np.float64), False, index)

    @available_if(fitted_to_labels)
    def decision_function(self, X: Any) -> np.ndarray:
        """Score rows by log odds: positive where the label is predicted. X: (m, d) array or sparse matrix. Returns (m,
        c), or (m,) for 1-D y with two classes. Of several labels per row they end at -36.7 and 36.7, where a
        probability in float64 is 1, so that scores and probabilities rank rows alike."""
        return super().decision_function(X)

    @available_if(fitted_to_labels)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the labels, by the stack. X: (m, d) array or sparse matrix. Returns (m, c); with one class
        per row they are those of exactly one label, and sum to one."""
        return super().predict_proba(X)


def _folds(T: np.ndarray, seed: int) -> list[Split]:
    """Folds that keep the labels in proportion, whatever the order of their columns."""
    Y = T >= 0.5
    return stratified_folds(Y[:, np.lexsort(Y)], min(FOLDS, len(T)), seed=seed)


def _of_labels(rows: Rows) -> tuple[Known, np.ndarray]:
    """What is known of labels; where rows without any exist, that they have none is the last column."""
    labels: Any = rows.labels
    Y = labels.Y.toarray().astype(np.float64)
    known = np.ones(Y.shape, dtype=bool) if labels.unknown is None else ~labels.unknown.toarray()
    some, every = (known & (Y > 0)).any(axis=1), known.all(axis=1)
    if np.any(every & ~some):
        Y = np.column_stack([Y, every & ~some])
        known = np.column_stack([known, every | some])
    filled = labels.with_means()
    return Known.of(rows.X, Y, known, rows.counts, lambda T: forest_targets(filled, T[:, : labels.c]))


def _signed(outputs: Any) -> np.ndarray:
    """Which columns of F are labels or classes, and no numbers."""
    signed = np.concatenate([np.full(each.size, not is_number(each)) for each in outputs.layout.columns])
    return signed if outputs.kept_columns is None else signed[outputs.kept_columns]


def _standard_of(outputs: Any) -> tuple[np.ndarray, np.ndarray]:
    """The mean and the factor of each column of F."""
    level, scale = outputs.level_and_scale
    kept = slice(None) if outputs.kept_columns is None else outputs.kept_columns
    return level[kept], scale[kept]


def _in_factor(values: np.ndarray, signed: np.ndarray, level: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Numbers in units of F as they are, probabilities of labels in units of F too."""
    return np.where(signed, (values - level) * scale, values)


def _of_outputs(rows: Rows) -> tuple[Known, np.ndarray]:
    """What is known of columns of several kinds: numbers in units of F, labels and classes as 0 and 1."""
    outputs: Any = rows.labels
    signed, (level, scale) = _signed(outputs), _standard_of(outputs)
    F, known = outputs.Y.toarray(), outputs.known_cells
    if outputs.is_sparse:
        F -= level * scale
    known = np.ones(F.shape, dtype=bool) if known is None else known
    T = np.where(signed, np.divide(F, scale, out=np.zeros_like(F), where=scale > 0) + level, F)
    filled = outputs.with_means()

    def grown(means: np.ndarray) -> Any:
        return forest_targets(filled, _in_factor(means, signed, level, scale))

    return Known.of(rows.X, T, known, rows.counts, grown)
