"""Diagnosis of an embedding: what labels shuffled at random give, optimism, labels that got worse, stability; and the
cross-fitted embedding of any estimator."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array
from sklearn.utils.validation import check_consistent_length

from proxembed.algebra.pencil.symmetric import eigenvalues, orthonormal_columns
from proxembed.algebra.shared import sharing
from proxembed.blocks import RowBlocks, blocks_of
from proxembed.blocks.row_blocks import length
from proxembed.estimator.validation import conversion_errors, numeric_rows
from proxembed.estimator.weights import checked_weights, present_rows, weights_of
from proxembed.execute.executor import own_configuration
from proxembed.execute.ledger import digest
from proxembed.execute.loop import Evaluator, Loop, OneBatch, Trial, Work
from proxembed.measures.measures import (
    AVERAGE_PRECISION,
    DEFAULT_NEIGHBORS,
    Measure,
    measure_for,
    measures_of_kind,
)
from proxembed.measures.metrics import average_precision
from proxembed.measures.neighbors import new_neighbor_weights
from proxembed.measures.outputs import near_outputs, q2_each
from proxembed.measures.statistics import row_units
from proxembed.methods.around import with_size
from proxembed.methods.pipeline import embedding_part, groups_apart
from proxembed.methods.table_encoder import TableEncoder, table_of
from proxembed.params import accept_classes
from proxembed.splits.shuffles import COUNTED, ROWS, LabelShuffle
from proxembed.splits.splits import Split, as_splits, crossfit_blocks, groups_of, labelled_folds, splits_of_present
from proxembed.splits.splits import crossfit as out_of_fold
from proxembed.splits.units import checked_units
from proxembed.tables import RawRows, TableRows
from proxembed.tables.frames import frame_of
from proxembed.targets.known import take_labels
from proxembed.targets.labels import MANY_LABELS, LabelMatrix
from proxembed.targets.outputs import Outputs
from proxembed.targets.reading import holds_numbers, read_targets
from proxembed.targets.targets import Targets

from .component_tests import component_tests
from .foreign import embedding_method, last_step
from .part import make_part, unscaled_part
from .scoring import Embedding, OutputReadings, Readings, fitted_on_part, readings_of


def crossfit_embedding(estimator: Any, X: Any, y: Any = None, cv: Any = 5, *, groups: Any = None) -> Any:
    """Out-of-fold embedding of training rows: each row embedded by a model fitted without it.

    A supervised embedding shows its own rows as better separated than new ones. A rotation or reflection, a scale and a
    shift (orthogonal Procrustes) carry the embedding of each fold onto that of the model fitted on all rows.

    Parameters
    ----------
    estimator : transformer, or pipeline with one
        Unfitted; cloned for each fit. The final classifier of a pipeline is left out.
    X : array or sparse matrix of shape (n, d), or RowBlocks with y in the blocks
    y : labels in any form
    cv : int, splitter or list of splits, default=5
        Must hold out every row whose labels are known. Rows held out several times get the mean. Of RowBlocks the
        number of random folds.
    groups : array of shape (n,), optional
        Passed to a splitter, and to the fits of an estimator that takes them.

    Returns
    -------
    array of shape (n, k)
        Rows with unknown labels that are never held out get the embedding of the model fitted on all rows. Of
        RowBlocks blocks (Z, y), computed when they are read, by ``crossfit_blocks``.

    Raises
    ------
    ValueError
        ``cv`` leaves out a row with known labels, or ``groups`` beside RowBlocks.

    Examples
    --------
    >>> from proxembed import OPLS
    >>> from proxembed.data import digits
    >>> from proxembed import crossfit_embedding
    >>> data = digits()
    >>> crossfit_embedding(OPLS(n_components=3), data.X, data.Y, cv=3).shape
    (1797, 3)
    """
    method = embedding_part(estimator)
    if (blocks := blocks_of(X, y)) is not None:
        if groups is not None:
            raise ValueError("groups is not allowed with blocks of rows, whose folds are random; leave it out.")
        return crossfit_blocks(method, blocks, cv)
    X, known = checked_rows(X, y, getattr(last_step(method), "target_type", None), method)
    whole = clone(method).fit(X, y, **groups_of(method, groups)).transform(X)
    given = accept_classes(clone(method)), X, y, whole, as_splits(cv, X, y, groups), known
    return out_of_fold(*given, groups=groups)


def checked_rows(X: Any, y: Any, target_type: Any = None, method: Any = None) -> tuple[Any, np.ndarray]:
    """X as an array or CSR of floats, or the rows of a table for a ``method`` that begins with a TableEncoder; and
    which of its rows have known labels alone; y in any form, of X's length, read by ``target_type``."""
    if isinstance(method, Pipeline) and isinstance(method[0], TableEncoder):
        X = table if (table := table_of(frame_of(X))) is not None else X
    if not isinstance(X, TableRows | RawRows):
        X = numeric_rows(X)
        with conversion_errors(type(last_step(method)).__name__):
            X = check_array(
                X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_min_samples=2, input_name="X"
            )
    if y is None:
        raise ValueError("y is None; pass the labels of the rows of X.")
    labels = targets_of(y, target_type)
    check_consistent_length(X, labels.Y)
    return X, labels.rows_any


def targets_of(y: Any, target_type: Any = None) -> Targets:
    """The outputs where y holds numbers, else the labels in any form."""
    found = read_targets(y, target_type) if isinstance(y, Outputs) or holds_numbers(y, target_type) else None
    return found if isinstance(found, Outputs) else LabelMatrix.of(y, target_type)


SHUFFLE, HALF, KILLED = "shuffle", "half", "killed"
LEVEL = 0.05  # of the test against shuffled labels
LEAST_DISTINCT = round(1 / LEVEL)  # different shuffles, with which p can reach the level
WORSE_BY = 0.01  # a label's average precision has to fall by more to be called worse


@dataclass(frozen=True)
class Diagnosis:
    """What ``diagnose`` found.

    Parameters
    ----------
    measure : str
    held_out, raw, own_rows : float
        Mean over folds of the measure on held-out rows, on held-out rows read from all features, and on the very rows
        that the embedding was fitted on.
    null : tuple of float
        Held-out values with labels shuffled among the rows.
    p : float
        Share of the shuffles, the true labels counted in, that do as well as the true labels. A shuffle that the
        method cannot be fitted or scored on counts as one of them.
    passed : bool
        Whether p is at most 0.05, which takes 19 shuffles and 20 different ones that are possible.
    worse_labels : tuple of dict
        ``label``, ``n`` (positive rows) and average precision ``raw`` and ``embedded``, largest loss first.
    stability : tuple of float
        For each component the share, from 0 to 1, that is found again from a random half of the rows. Empty, as
        ``angles``, where no half could be tried.
    angles : tuple of float
        Mean principal angles in degrees between the embeddings of all rows and of a half, smallest first.
    failed_resamples : int
        Halves that the estimator could not be fitted on; they count as stability 0.
    n : int
        Number of rows used.
    n_all : int or None
        All rows of the blocks of which these are a sample; None for rows in memory.
    embedding : array of shape (n, k) or None
        Out-of-fold embedding of the rows, if requested.
    unit : {"rows", "groups", "shifts in time"}
        What a shuffle moves.
    distinct : int
        Number of different shuffles that are possible, counted up to 1,000,000.
    failed_shuffles : int
        Shuffles on which the estimator could not be fitted, or without a held-out positive row.
    tested : float or None
        What the values of the shuffles are compared with. With more than 1,000 labels both are of the first fold alone;
        None: ``held_out``.
    permuted : tuple of (float, float, float)
        Of each shuffle of numbers: the measure on held-out rows, on the rows of fit, and the mean over the outputs of
        the absolute correlation of shuffled and true values. Empty for labels.
    killed : int
        Shuffles and halves that are left out, as their worker process was killed twice.
    components : tuple of dict
        Of each component, if requested: ``component`` (from 1), ``statistic`` (pseudo-F), ``p``, ``share`` of the
        variance of y that it explains after the covariates (0 to 1), and ``n_permutations``.

    See Also
    --------
    proxembed.diagnose : One method against shuffled labels.

    Examples
    --------
    >>> from proxembed import Diagnosis
    >>> found = Diagnosis("AP", 0.5, 0.6, 0.9, (0.2, 0.3), 1 / 3, True, (), (1.0,), (0.0,), 0, 10)
    >>> found.describe()["optimism"]
    0.4
    """

    measure: str
    held_out: float
    raw: float
    own_rows: float
    null: tuple[float, ...]
    p: float
    passed: bool
    worse_labels: tuple[dict[str, Any], ...]
    stability: tuple[float, ...]
    angles: tuple[float, ...]
    failed_resamples: int
    n: int
    n_all: int | None = None
    embedding: np.ndarray | None = field(default=None, repr=False, compare=False)
    unit: str = ROWS
    distinct: int = COUNTED
    failed_shuffles: int = 0
    tested: float | None = None
    permuted: tuple[Sequence[float], ...] = ()
    components: tuple[dict[str, Any], ...] = ()
    killed: int = 0

    @property
    def optimism(self) -> float:
        """How much better the embedding looks on its own rows than on held-out ones."""
        return self.own_rows - self.held_out

    def describe(self) -> dict[str, Any]:
        """The findings as plain data, without the embedding."""
        return {
            "measure": self.measure,
            "value": self.held_out if self.tested is None else self.tested,
            "raw": self.raw,
            "null": list(self.null),
            "p": self.p,
            "passed": self.passed,
            "own_rows": self.own_rows,
            "held_out": self.held_out,
            "optimism": self.optimism,
            "worse_labels": [dict(row) for row in self.worse_labels],
            "stability": list(self.stability),
            "angles": list(self.angles),
            "failed_resamples": self.failed_resamples,
            "n_shuffles": len(self.null) + self.failed_shuffles,
            "failed_shuffles": self.failed_shuffles,
            "unit": self.unit,
            "distinct": self.distinct,
            "n": self.n,
            "n_all": self.n_all,
            "permuted": [list(each) for each in self.permuted],
            "components": [dict(each) for each in self.components],
            "killed": self.killed,
        }


@own_configuration()
@sharing()  # shuffles change no rows: what fits make of these alone
def diagnose(
    estimator: Any,
    X: Any,
    y: Any = None,
    n_shuffles: int = 20,
    *,
    measure: str | Measure | Callable[..., Any] | None = None,
    n_folds: int = 3,
    n_resamples: int = 10,
    seed: int = 0,
    cv: Any = None,
    groups: Any = None,
    times: Any = None,
    crossfit: bool = False,
    sample_rows: int = 20_000,
    n_jobs: int | None = 1,
    store: Any = None,
    target_type: Any = None,
    per_component: bool = False,
    covariates: Any = None,
    n_permutations: int = 999,
    sample_weight: Any = None,
) -> Diagnosis:
    """Test an embedding against shuffled labels, and measure its optimism, its stability and the labels served worse.

    The read-out is multi-output ridge (of ``TargetSpace`` its own stack). The null fits and scores the same folds with
    label sets shuffled among rows (inside each held-out part, so that label counts stay the same). Rows of a group, and
    rows in the order of time, depend on each other; shuffled one by one they give too low a null, by which labels that
    say nothing of the features pass in up to half of the tests. So whole groups exchange their labels, and with times
    all labels are shifted along time by a random number of rows (of groups, with both).
    [winkler2015multilevel; lancaster2018surrogate]
    The page "How it judges" of the documentation has all units.

    All features are scaled as in a comparison; the estimator gets X unscaled, so put a method that needs scaling into
    a pipeline. For the stability, a model of a random half of the rows embeds the other half; the stability of a
    component of the model of all rows is its squared cosine with the subspace of that model.

    Parameters
    ----------
    estimator : transformer, or pipeline with one
        Of this package or any other (scikit-learn, umap-learn, openTSNE.sklearn, pacmap), unfitted or fitted; only
        clones are fitted. The final classifier of a pipeline is left out. A transformer of another library whose
        ``fit`` has no ``y`` gets no labels; one that does not take several labels per row is fitted without labels,
        with a warning.
    X : array or sparse matrix of shape (n, d), or RowBlocks with y in the blocks
        Of RowBlocks a uniform sample is used (``Diagnosis.n`` rows of ``Diagnosis.n_all``).
    y : labels in any form
        Rows with unknown labels are used for training, never shuffled and never scored.
    n_shuffles : int, default=20
        With fewer than 19, p cannot reach 0.05, and nothing passes. With more than 1,000 labels each is scored on the
        first fold alone, as ``Diagnosis.tested`` is.
    measure : str, Measure or callable(Y, S) -> float, optional
        One that reads scores or the labels of neighbours, larger being better; None for the macro average precision.
    n_folds : int, default=3
    n_resamples : int, default=10
    seed : int, default=0
    cv : splitter or list of splits, optional
        Used instead of folds that are stratified, of whole groups, or in the order of time.
    groups : array of shape (n,), optional
        The group of each row, such as a patient: folds, shuffles and halves keep its rows together, and so do the
        folds inside them, by which scaling and penalty are chosen and an honest ``Layout`` places rows.
    times : array of shape (n,), optional
        The time of each row, as a number: folds are in its order, and labels are shifted along it.
    crossfit : bool, default=False
        Also return the out-of-fold embedding of all rows, in ``Diagnosis.embedding``.
    sample_rows : int, default=20,000
        Largest number of sampled rows of RowBlocks.
    n_jobs : int, default=1
        Processes for the shuffles and the halves. One whose process is killed twice, such as for lack of memory, is
        left out (``Diagnosis.killed``).
    store : Ledger, optional
        Stores each finished shuffle and half, and returns those of an interrupted run.
    target_type : {"real", "classes", "labels"} or dict, optional
        As of the estimators; it is decided on all rows, for all fits. None: that of the estimator.
    per_component : bool, default=False
        Also test each component of OPLS (redundancy analysis), CCA or PLS given the earlier ones, on the rows of the
        fit, without folds (``Diagnosis.components``). The page "How it judges" has the statistics.
        [legendre2011axes; winkler2020cca; freedman1983nonstochastic]
    covariates : array of shape (n,) or (n, p), or table of n rows, optional
        What the tests of the components partial out of X and y: columns of numbers, and of others (texts, truth values,
        categories) the levels, inside which rows are then permuted.
    n_permutations : int, default=999
        For each component.
    sample_weight : array of shape (n,), optional
        How often each row counts, in every fit and every measure: numbers of at least 0; rows of weight 0 are left out.
        Shuffled labels come without the weights of their rows. The estimator must take ``sample_weight``.

    Returns
    -------
    Diagnosis

    Raises
    ------
    TypeError
        The estimator has no ``transform``, so that it cannot place rows that it was not fitted on.
    ValueError
        A number below 1, an unknown measure, weights that the estimator or the measure does not take, data that cannot
        be split, an estimator that these cannot be fitted to, a group that ``cv`` splits, groups, times, weights or
        covariates beside RowBlocks, covariates without ``per_component``, weights with it, or components that cannot be
        tested (another method, fewer rows than dimensions).

    Examples
    --------
    >>> from proxembed import OPLS
    >>> from proxembed.data import digits
    >>> from proxembed import diagnose
    >>> data = digits().take(range(300))
    >>> found = diagnose(OPLS(n_components=3), data.X, data.Y, n_shuffles=19, n_resamples=2)
    >>> found.passed, found.held_out > max(found.null), found.optimism > 0
    (True, True, True)
    >>> tested = diagnose(
    ...     OPLS(n_components=2, ridge=1.0), data.X, data.Y, n_shuffles=1, n_resamples=1, per_component=True,
    ...     covariates=data.X.mean(axis=1), n_permutations=99,
    ... )
    >>> [(each["component"], each["p"]) for each in tested.components]
    [(1, 0.01), (2, 0.01)]
    """
    _check_covariates(covariates, per_component and blocks_of(X, y) is None)
    _check(n_shuffles=n_shuffles, n_resamples=n_resamples, seed=seed, n_permutations=n_permutations)
    X, y, groups, times, cv, sample_weight = _present(X, y, groups, times, cv, sample_weight, per_component)
    target_type = target_type or getattr(last_step(estimator), "target_type", None)
    X, y, labels, n_all, groups, times = _looked_at(X, y, sample_rows, seed, groups, times, target_type, estimator)
    measure, y = _checked_measure(measure, labels, sample_weight), labels if isinstance(labels, Outputs) else y
    method = accept_classes(clone(embedding_method(estimator, X, y, weighed=sample_weight is not None)))
    splits = _splits(labels, X, y, cv, n_folds, groups, times, seed)
    shuffle = LabelShuffle.of(labels, splits, groups=groups, times=times)
    Z = _embedding(method, X, y, sample_weight, groups)
    test = partial(component_tests, covariates=covariates, groups=groups, times=times, n_permutations=n_permutations)
    components = test(method, X, labels, Z.shape[1], seed=seed) if per_component else ()
    true, raw = (_scores(m, X, y, labels, splits, measure, sample_weight, groups) for m in (method, None))
    rows = _drawn_rows(shuffle, n_shuffles, groups, n_resamples, seed)
    scored = _folds_of_shuffles(true, labels.c)
    refits = _Refits(method, X, y, labels, [splits[j] for j in scored], measure, Z, rows, sample_weight, groups)
    null, cosines = _refitted(refits, n_jobs, store)
    return Diagnosis(
        **_values(measure, labels, raw, true),
        **_halves(cosines, Z.shape[1]),
        n=X.shape[0],
        n_all=n_all,
        embedding=out_of_fold(method, X, y, Z, splits, labels.rows_any, sample_weight, groups) if crossfit else None,
        **_tested(_mean([true[fold].held_out for fold in scored]), null, shuffle),
        components=components,
        killed=sum(map(len, rows.values())) - len(null) - len(cosines),
    )


def _present(
    X: Any, y: Any, groups: Any, times: Any, cv: Any, sample_weight: Any, per_component: bool
) -> tuple[Any, ...]:
    """The rows of non-zero weight with what comes beside them; weights of 1 alone are none (None)."""
    if sample_weight is None:
        return X, y, groups, times, cv, None
    if per_component:
        raise ValueError("sample_weight is not allowed with per_component=True, whose tests permute rows alike.")
    if blocks_of(X, y) is not None:
        raise ValueError("sample_weight is not allowed with blocks of rows; leave it out, or pass arrays.")
    w = checked_weights(sample_weight, X, y)
    X, y, own = present_rows(X, y, w)
    if len(own) < len(w):
        present = np.flatnonzero(w)
        groups, times = (None if each is None else np.asarray(each)[present] for each in (groups, times))
        cv = cv if cv is None or hasattr(cv, "get_n_splits") or isinstance(cv, int) else splits_of_present(cv, present)
    return X, y, groups, times, cv, None if (own == 1.0).all() else own


def _splits(labels: Targets, X: Any, y: Any, cv: Any, n_folds: int, groups: Any, times: Any, seed: int) -> list[Split]:
    """The splits of ``cv``; without it folds that are stratified, of whole groups, or in the order of time."""
    if cv is not None:
        return as_splits(cv, X, y, groups)
    return labelled_folds(labels, n_folds, groups=groups, times=times, seed=seed)


def _values(measure: Measure, labels: Targets, raw: "list[_Fold]", true: "list[_Fold]") -> dict[str, Any]:
    """The values of all features and of the method, as fields of a diagnosis."""
    return {
        "measure": measure.name,
        "raw": _mean([fold.held_out for fold in raw]),
        "own_rows": _mean([fold.own_rows for fold in true]),
        "held_out": _mean([fold.held_out for fold in true]),
        "worse_labels": _worse(labels, raw, true),
    }


def _folds_of_shuffles(true: "Sequence[_Fold]", c: int) -> list[int]:
    """The numbers of the folds that shuffles are scored on: all, or of many labels the first one with a value."""
    if c <= MANY_LABELS:
        return list(range(len(true)))
    return [next((number for number, fold in enumerate(true) if np.isfinite(fold.held_out)), 0)]


def _tested(tested: float, values: list[Any], shuffle: LabelShuffle) -> dict[str, Any]:
    """The test of a held-out value against those of shuffled labels, as fields of a diagnosis."""
    null = [value[0] if isinstance(value, list) else value for value in values if value is not None]
    failed = len(values) - len(null)
    p = (1 + failed + sum(value >= tested for value in null)) / (1 + len(values))
    return {
        "tested": tested,
        "null": tuple(null),
        "p": p,
        "passed": bool(p <= LEVEL and shuffle.distinct >= LEAST_DISTINCT),
        "unit": shuffle.unit,
        "distinct": shuffle.distinct,
        "failed_shuffles": failed,
        "permuted": tuple(value for value in values if isinstance(value, list)),
    }


def _looked_at(
    X: Any, y: Any, sample_rows: int, seed: int, groups: Any, times: Any, target_type: Any, method: Any
) -> tuple[Any, Any, Targets, int | None, Any, Any]:
    """The checked rows in memory, or a sample of blocks with the number of all their rows; y as given and as read; the
    checked groups and times."""
    blocks = blocks_of(X, y)
    if blocks is not None:
        if groups is not None or times is not None:
            raise ValueError("groups and times are not allowed with blocks of rows; leave them out, or pass arrays.")
        X, y = blocks.sample(sample_rows, seed=seed)
    n_all = None if blocks is None else blocks.reduce(_rows_of_piece, sum)
    X, labels = checked_rows(X, y, target_type, method)[0], targets_of(y, target_type)
    return X, y, labels, n_all, *checked_units(groups, times, X.shape[0])


def _embedding(method: Any, X: Any, y: Any, weights: np.ndarray | None, groups: Any) -> np.ndarray:
    """The embedding of all rows by one model of them."""
    model = clone(method).fit(X, y, **weights_of(weights), **groups_of(method, groups))
    return np.asarray(model.transform(X), dtype=np.float64)


def _rows_of_piece(rows: RowBlocks, number: int) -> int:
    return sum(length(X) for X, _ in rows)


def _drawn_rows(
    shuffle: LabelShuffle, n_shuffles: int, groups: Any, n_resamples: int, seed: int
) -> dict[str, list[np.ndarray]]:
    """The orders of the shuffles, and the rows of the halves."""
    random = np.random.default_rng(seed)
    orders = [shuffle.order(random) for _ in range(n_shuffles)]
    return {SHUFFLE: orders, HALF: [_half(shuffle.labels.n, groups, random) for _ in range(n_resamples)]}


def _half(n: int, groups: Any, random: np.random.Generator) -> np.ndarray:
    """Sorted numbers of a random half of n rows, or of the rows of a random half of the groups."""
    unit = row_units(n, groups)
    count = unit.max() + 1
    return np.flatnonzero(np.isin(unit, random.permutation(count)[: (count + 1) // 2]))


def _check_covariates(covariates: Any, allowed: bool) -> None:
    if covariates is not None and not allowed:
        raise ValueError("covariates are for per_component=True, and for rows in memory; set it, or leave them out.")


def _check(**numbers: Any) -> None:
    for name, value in numbers.items():
        least = int(name != "seed")
        if isinstance(value, bool) or int(value) != value or value < least:
            raise ValueError(f"{name}={value!r} must be a whole number of at least {least}.")


def diagnosed_by(measure: Measure) -> bool:
    """Whether a diagnosis can go by a measure: it reads scores or neighbours, and grows with them."""
    return measure.reads in ("scores", "neighbors") and not measure.loss


def _checked_measure(measure: str | Measure | Callable[..., Any] | None, targets: Targets, weights: Any) -> Measure:
    """The measure, by which a diagnosis can go, also with these weights."""
    numbers = isinstance(targets, Outputs)
    chosen, kind = measure_for(measure, numbers), measures_of_kind(numbers)
    if not diagnosed_by(chosen):
        raise ValueError(
            f"measure={measure!r} reads neither scores nor neighbours, or is a loss; use {kind.predict!r}, "
            f"{kind.near.format(DEFAULT_NEIGHBORS)!r}, or a function of (Y, S)."
        )
    chosen.check_weighs(weights)
    return chosen


@dataclass(frozen=True)
class _Fold:
    """The measure on held-out and on own rows of one fold, and the average precision of each held-out label."""

    held_out: float
    own_rows: float
    each: np.ndarray


def _scores(
    method: Any, X: Any, y: Any, labels: Targets, splits: list[Split], measure: Measure, *units: Any
) -> list[_Fold]:
    """The scores of a method on each split, labels as they were given; of all features, scaled, where it is None;
    ``units``: weights and groups of the rows."""
    return [_score(readings, measure) for readings in _readings(method, X, y, labels, splits, *units)]


def _readings(
    method: Any, X: Any, y: Any, labels: Targets, splits: list[Split], weights: np.ndarray | None, groups: Any
) -> Iterator[Readings]:
    """What the read-outs of a method predict on each split; of many labels in single precision."""
    dtype = np.float32 if labels.c > MANY_LABELS else np.float64
    for train, held_out in ((split.train, split.held_out) for split in splits):
        units: dict[str, Any] = {"weights": weights, "groups": _groups_inside(groups, labels, train)}
        if method is None:
            part = make_part(X, labels, train, held_out, **units)
            found = Embedding(part.X, part.X_held_out)
        else:
            given = None if isinstance(labels, Outputs) else take_labels(y, train)
            part = unscaled_part(X, labels, train, held_out, given=given, **units)
            found = fitted_on_part(method, part, part.weights)
        yield readings_of(found, part, dtype)


def _groups_inside(groups: Any, labels: Targets, train: np.ndarray) -> np.ndarray | None:
    """The groups of training rows, which inner folds keep together."""
    return None if groups is None else groups_apart(np.asarray(groups)[train], labels.take(train))


def _held_out(readings: Readings, measure: Measure) -> float:
    """The measure on the held-out rows of one embedding."""
    part = readings.part
    return measure.value(
        part.Y_held_out, readings.of(measure), known=part.known_held_out, weights=part.weights_held_out
    )[0]


def _score(readings: Readings, measure: Measure) -> _Fold:
    """The scores of one embedding."""
    part = readings.part
    if isinstance(readings, OutputReadings):
        each = q2_each(part.Y_held_out, readings.scores, part.weights_held_out)
        return _Fold(_held_out(readings, measure), _own_rows(readings, measure), each)
    if measure.reads == "neighbors":
        Y, _, *cells = readings.neighbors(measure.n_neighbors)
        own: Any = (Y, new_neighbor_weights(readings.Z, readings.Z, measure.n_neighbors), *cells)
    else:
        own = readings.fitted_scores
    each = average_precision(part.Y_held_out, readings.scores, part.known_held_out, part.weights_held_out)
    if measure.name == AVERAGE_PRECISION and np.isfinite(each).any():
        held_out = float(each[np.isfinite(each)].mean())
    else:
        held_out = _held_out(readings, measure)
    own_rows = measure.value(part.indicator, own, known=part.known_cells, weights=part.known_weights)[0]
    return _Fold(held_out, own_rows, each)


def _own_rows(readings: OutputReadings, measure: Measure) -> float:
    """A measure of numbers on the rows of fit."""
    cells, w = readings.part.Y, readings.part.known_weights
    if measure.reads != "neighbors":
        return measure.value(cells, readings.fitted_scores, weights=w)[0]
    near = new_neighbor_weights(readings.Z, readings.Z, measure.n_neighbors, metric=readings.metric)
    return measure.value(cells, near_outputs(near, cells.F, cells.known), weights=w)[0]


@dataclass(frozen=True)
class _Refits(Evaluator):
    """Fits on shuffled labels and on halves of the rows: a configuration is one of the two, a step its number."""

    method: Any
    X: Any
    y: Any
    labels: Targets
    splits: list[Split]
    measure: Measure
    whole: np.ndarray
    rows: Mapping[str, list[np.ndarray]]
    weights: np.ndarray | None = None
    groups: Any = None

    @cached_property
    def name(self) -> str:
        """A hash of all that the fits depend on."""
        parameters = sorted(self.method.get_params().items())
        units = [np.asarray(each) for each in (self.weights, self.groups) if each is not None]
        return digest(self.X, self.labels, self.splits, self.measure.name, *self.rows.values(), parameters, *units)

    def evaluate(self, kind: str, number: int) -> Any:
        """The value of a shuffle, or the cosines of a half."""
        return (_null if kind == SHUFFLE else _cosines)(self, self.rows[kind][number])

    def key(self, kind: str, number: int) -> list[Any]:
        """What the fits depend on, the kind of the fit and its number."""
        return ["diagnosis", self.name, kind, number]

    def lost(self, kind: str, number: int, reason: str) -> Any:
        """What stands for a fit whose process was killed twice."""
        return KILLED

    def plain(self, value: Any) -> dict[str, Any]:
        """The value, which may be None."""
        return {"value": value}

    def restored(self, plain: dict[str, Any]) -> Any:
        """The value."""
        return plain["value"]


def _refitted(refits: _Refits, n_jobs: int | None, store: Any) -> tuple[list[Any], list[Any]]:
    """The values of all shuffles and the cosines of all halves, except for those whose process was killed twice."""
    trials = {kind: Trial(kind, kind) for kind in (SHUFFLE, HALF)}
    work = [Work(trials[kind], [number]) for kind in trials for number in range(len(refits.rows[kind]))]
    if Loop(refits, n_jobs=n_jobs, ledger=store).run(OneBatch(work)).interrupted:
        raise KeyboardInterrupt
    done = [[each for each in trial.outcomes.values() if not isinstance(each, str)] for trial in trials.values()]
    return done[0], done[1]


def _null(asked: _Refits, order: np.ndarray) -> Any:
    """The held-out value of one shuffle of the labels; with the components that there are if these are fewer than asked
    for. None if a fold cannot be fitted, or none can be scored."""
    y, labels = take_labels(asked.y, order), asked.labels.take(order)
    for method in (asked.method, with_size(asked.method, None)):
        try:
            folds = _readings(method, asked.X, y, labels, asked.splits, asked.weights, asked.groups)
            if isinstance(labels, Outputs):
                scored = [(fold.held_out, fold.own_rows) for fold in (_score(each, asked.measure) for each in folds)]
                return [*map(_mean, zip(*scored, strict=True)), _likeness(asked.labels, labels)]
            return _mean([_held_out(readings, asked.measure) for readings in folds])
        except ValueError:
            continue
    return None


def _likeness(true: Any, shuffled: Any) -> float:
    """The mean over the columns of F of the absolute correlation of true and shuffled values."""
    pairs = np.stack([_unit(each.with_means().Y.toarray()) for each in (true, shuffled)])
    return float(np.abs((pairs[0] * pairs[1]).sum(axis=0)).mean())


def _mean(values: Any) -> float:
    """Mean over folds; a fold without any positive row (NaN) says nothing."""
    values = [value for value in values if value == value]
    if not values:
        raise ValueError("no held-out part has a positive row, so that nothing can be scored; take fewer folds.")
    return float(np.mean(values))


def _worse(labels: Any, raw: list[_Fold], true: list[_Fold]) -> tuple[dict[str, Any], ...]:
    each = [np.array([fold.each for fold in folds]) for folds in (raw, true)]
    seen = np.isfinite(each[0]).sum(axis=0)
    before, after = (np.nansum(values, axis=0) / np.maximum(seen, 1) for values in each)
    lost = np.flatnonzero((seen > 0) & (before - after > WORSE_BY))
    order = lost[np.argsort((after - before)[lost], kind="stable")]
    if isinstance(labels, Outputs):
        names, known = [str(column.name) for column in labels.layout.columns], (~labels.dense_holes()).sum(axis=0)
        return tuple(
            {"label": names[j], "n": int(known[j]), "raw": float(before[j]), "embedded": float(after[j])} for j in order
        )
    return tuple(
        {"label": str(labels.classes_[j]), "n": int(labels.nk[j]), "raw": float(before[j]), "embedded": float(after[j])}
        for j in order
    )


def _cosines(asked: _Refits, part: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Squared cosines of each component with the subspace that one half finds, and of the principal angles."""
    method, X, y, whole = asked.method, asked.X, asked.y, asked.whole
    others = np.setdiff1d(np.arange(len(whole)), part)
    try:
        more = weights_of(asked.weights, part) | groups_of(method, asked.groups, part)
        Z = clone(method).fit(X[part], take_labels(y, part), **more).transform(X[others])
    except ValueError:
        return None
    basis, own = _basis(np.asarray(Z, dtype=np.float64)), _unit(whole[others])
    each = np.sum((basis.T @ own) ** 2, axis=0)
    shared = basis.T @ _basis(whole[others])
    return np.clip(each, 0.0, 1.0), np.clip(eigenvalues(shared.T @ shared), 0.0, 1.0)


def _unit(Z: np.ndarray) -> np.ndarray:
    """Centred columns of length 1; columns that do not vary are 0."""
    Z = Z - Z.mean(axis=0)
    length = np.linalg.norm(Z, axis=0)
    return np.divide(Z, length, out=np.zeros_like(Z), where=length > 1e-12 * max(length.max(), 1e-300))


def _basis(Z: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the centred columns that vary."""
    Z = _unit(Z)
    return orthonormal_columns(Z[:, np.any(Z != 0, axis=0)])


def _halves(cosines: Any, k: int) -> dict[str, Any]:
    """What the halves say of k components, as fields of a diagnosis."""
    failed = sum(found is None for found in cosines)
    return {"stability": _stability(cosines, k), "angles": _angles(cosines, k), "failed_resamples": failed}


def _stability(cosines: Any, k: int) -> tuple[float, ...]:
    rows = [np.zeros(k) if found is None else found[0] for found in cosines]
    return tuple(np.mean(rows, axis=0).tolist()) if rows else ()


def _angles(cosines: Any, k: int) -> tuple[float, ...]:
    """Mean principal angles in degrees; dimensions that a half lacks are at 90."""
    if not cosines:
        return ()
    rows = np.zeros((len(cosines), k))
    for row, found in zip(rows, cosines, strict=True):
        if found is not None:
            row[: len(found[1])] = found[1]
    return tuple(np.degrees(np.arccos(np.sqrt(rows))).mean(axis=0).tolist())
