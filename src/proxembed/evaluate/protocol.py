"""The protocol of a comparison: arms x sizes x folds x read-outs, every choice made inside the training part."""

import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from proxembed.classify import MultiOutputRidge
from proxembed.features.scaling import scaling_apply, scaling_fit

from .arms import Arm
from .metrics import jaccard_at_k, macro_average_precision
from .neighbors import cosine_neighbors, neighbor_scores
from .splits import Split, standard_split, stratified_folds

AVERAGE_PRECISION = "macro average precision"
JACCARD = "Jaccard@{}"
RIDGE, NEIGHBORS = "ridge", "cosine kNN"
WORST = 0.0
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Protocol:
    """What a comparison does, fixed before it runs.

    Parameters
    ----------
    arms : tuple of Arm
        Entrants; names must differ.
    sizes : tuple of int
        Values of k, the number of components.
    n_folds : int, default=5
        Multi-label stratified folds (inside the training rows when ``standard`` is True).
    standard : bool, default=False
        Also train on the data's standard training rows and score its test rows once, as fold "test".
    n_neighbors : int, default=10
        Neighbours of the cosine read-out and of the Jaccard measure.
    min_positives : int, default=1
        Labels with fewer positive held-out rows are left out of the average precision of that fold.
    seed : int, default=0
        Seed of the folds.

    Raises
    ------
    ValueError
        No arm, arms of one name, or a size below 1.

    Examples
    --------
    >>> from proxembed.evaluate.arms import Arm
    >>> from proxembed.evaluate.protocol import Protocol
    >>> Protocol((Arm("all features", None, rival=True),), sizes=(2, 5)).n_folds
    5
    """

    arms: tuple[Arm, ...]
    sizes: tuple[int, ...]
    n_folds: int = 5
    standard: bool = False
    n_neighbors: int = 10
    min_positives: int = 1
    seed: int = 0

    def __post_init__(self):
        names = [arm.name for arm in self.arms]
        if not names or len(set(names)) < len(names):
            raise ValueError(f"arms must be at least one, with different names; got {names}.")
        if not self.sizes or any(int(k) != k or k < 1 for k in self.sizes):
            raise ValueError(f"sizes={self.sizes!r} must be whole numbers of at least 1, such as (2, 5, 10).")
        object.__setattr__(self, "sizes", tuple(sorted({int(k) for k in self.sizes})))

    @property
    def measures(self) -> tuple[tuple[str, str], ...]:
        """Pairs (measure, read-out); the first is the primary one."""
        jaccard = JACCARD.format(self.n_neighbors)
        return (AVERAGE_PRECISION, RIDGE), (AVERAGE_PRECISION, NEIGHBORS), (jaccard, NEIGHBORS)

    def describe(self) -> dict:
        """The protocol as plain data."""
        plain = {**asdict(self), "arms": [arm.name for arm in self.arms], "sizes": list(self.sizes)}
        return {**plain, "measures": [list(pair) for pair in self.measures]}


@dataclass
class Results:
    """What a comparison found, as plain data.

    ``rows`` holds one dict for each arm, k, fold and measure: ``arm, rival, k, components, fold, readout, measure,
    value, labels, seconds, failure``. A failed arm has the worst value (0) and the reason in ``failure``.
    ``seconds`` counts fitting (once for all k) and the read-outs of this k.
    """

    dataset: dict
    protocol: dict
    rows: list[dict] = field(default_factory=list)
    folds: dict[str, dict] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    preprocessing: str = ""
    seconds: float = 0.0
    interrupted: bool = False


@dataclass(frozen=True)
class _Part:
    """One split with its features prepared on the training rows."""

    name: str
    X: Any
    Y: Any
    X_held_out: Any
    Y_held_out: Any


def scaling_kind(X) -> str:
    """Name the scaling that every arm gets: "standard" (dense), "tfidf" (sparse counts above 1) or "none".

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.protocol import scaling_kind
    >>> scaling_kind(np.eye(2))
    'standard'
    """
    if not sp.issparse(X):
        return "standard"
    counts = X.data.size > 0 and X.data.min() >= 0 and X.data.max() > 1 and bool(np.all(X.data == np.rint(X.data)))
    return "tfidf" if counts else "none"


def _prepare(dataset, split: Split) -> tuple[_Part, str]:
    Y = sp.csr_array(dataset.Y)
    X, X_held_out = dataset.X[split.train], dataset.X[split.held_out]
    kind = scaling_kind(X)
    state = scaling_fit(kind, X)
    part = _Part(
        split.name, scaling_apply(state, X), Y[split.train], scaling_apply(state, X_held_out), Y[split.held_out]
    )
    return part, kind


def _fit(arm: Arm, sizes: tuple[int, ...], part: _Part, bounded: set[str]):
    """Fit one arm for all sizes at once, at the largest size that it can have.

    A method whose bound is below the largest size is fitted at its natural number (and noted in ``bounded``, so that
    the next fold does not try in vain), an unsupervised one, whose natural number says little, at the largest size
    that works.
    """
    if arm.estimator is None:
        return part.X, part.X_held_out, 0.0
    limit = min(max(sizes), part.X.shape[1], part.X.shape[0] - 1)
    if arm.name in bounded:
        return _fit_at(arm, None, part)
    try:
        return _fit_at(arm, limit, part)
    except ValueError:
        natural = _fit_at(arm, None, part)
    if getattr(arm.estimator, "label_kind", None) is not None:
        bounded.add(arm.name)
    else:
        for k in sorted(sizes, reverse=True):
            if natural[0].shape[1] < k < limit:
                try:
                    return _fit_at(arm, k, part)
                except ValueError:
                    continue
    return natural


def _fit_at(arm: Arm, k: int | None, part: _Part) -> tuple[np.ndarray, np.ndarray, float]:
    started = time.perf_counter()
    estimator = clone(arm.estimator).set_params(n_components=k)
    Z = np.asarray(estimator.fit_transform(part.X, part.Y), dtype=np.float64)
    Z_held_out = np.asarray(estimator.transform(part.X_held_out), dtype=np.float64)
    if not (np.isfinite(Z).all() and np.isfinite(Z_held_out).all()):
        raise FloatingPointError("the embedding holds NaN or infinity")
    return Z, Z_held_out, time.perf_counter() - started


def _score(Z, Z_held_out, part: _Part, protocol: Protocol) -> list[tuple[float, int]]:
    """Values of ``protocol.measures``, each with the number of labels or rows that it rests on."""
    ridge = MultiOutputRidge(penalty="auto").fit(Z, part.Y)
    scores = ridge.decision_function(Z_held_out).reshape(part.Y_held_out.shape)
    neighbors = cosine_neighbors(Z_held_out, Z, protocol.n_neighbors)
    least = protocol.min_positives
    linear = macro_average_precision(part.Y_held_out, scores, min_positives=least)
    local = macro_average_precision(part.Y_held_out, neighbor_scores(neighbors, part.Y), min_positives=least)
    return [linear, local, (jaccard_at_k(part.Y_held_out, part.Y, neighbors), part.Y.shape[1])]


def _rows(arm: Arm, k, components, part: _Part, protocol: Protocol, values, seconds: float, failure: str | None = None):
    values = values or [(WORST, part.Y.shape[1])] * len(protocol.measures)
    return [
        {
            "arm": arm.name,
            "rival": arm.rival,
            "k": k,
            "components": components,
            "fold": part.name,
            "readout": readout,
            "measure": measure,
            "value": float(value),
            "labels": int(labels),
            "seconds": seconds,
            "failure": failure,
        }
        for (measure, readout), (value, labels) in zip(protocol.measures, values, strict=True)
    ]


def _reason(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())


def _run_arm(arm: Arm, part: _Part, protocol: Protocol, bounded: set[str]) -> list[dict]:
    """All rows of one arm on one split; whatever it raises becomes the worst value, with the reason."""
    sizes = (None,) if arm.estimator is None else protocol.sizes
    started = time.perf_counter()
    try:
        Z, Z_held_out, fitting = _fit(arm, protocol.sizes, part, bounded)
    except Exception as error:
        spent, reason = time.perf_counter() - started, _reason(error)
        return [row for k in sizes for row in _rows(arm, k, 0, part, protocol, None, spent, reason)]
    rows, known = [], {}
    for k in sizes:
        width = Z.shape[1] if k is None else min(k, Z.shape[1])
        if width not in known:
            started = time.perf_counter()
            try:
                values, failure = _score(Z[:, :width], Z_held_out[:, :width], part, protocol), None
            except Exception as error:
                values, failure = None, _reason(error)
            known[width] = values, fitting + time.perf_counter() - started, failure
        rows += _rows(arm, k, width, part, protocol, *known[width])
    return rows


def _splits(protocol: Protocol, dataset) -> list[Split]:
    rows = None
    if protocol.standard:
        test = standard_split(dataset)
        rows = np.sort(test.train)
    folds = stratified_folds(dataset.Y, protocol.n_folds, seed=protocol.seed, rows=rows)
    return [*folds, test] if protocol.standard else folds


def _check(dataset) -> None:
    if dataset.unknown is not None:
        raise ValueError(f"{dataset.name} has unknown labels, which a comparison cannot score; leave those rows out.")
    if dataset.Y.sum() == 0:
        raise ValueError(f"{dataset.name} has no row with a label; check which columns hold the labels.")


def _run_split(protocol: Protocol, dataset, split: Split, results: Results, bounded: set[str], report) -> None:
    """Add the rows of every arm on one split to the results; the split counts as complete only at the end."""
    part, results.preprocessing = _prepare(dataset, split)
    for number, arm in enumerate(protocol.arms):
        report(number, f"fold {split.name}: {arm.name}")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            results.rows += _run_arm(arm, part, protocol, bounded)
        results.notes += [f"{arm.name}: {' '.join(str(warning.message).split())}" for warning in caught]
    results.folds[split.name] = {"train": len(split.train), "held_out": len(split.held_out)}


def _report(progress: Progress, before: int, total: int, done: int, text: str) -> None:
    progress(before + done, total, text)


def _run_splits(protocol: Protocol, dataset, splits: list[Split], results: Results, progress: Progress) -> None:
    arms, total = len(protocol.arms), len(splits) * len(protocol.arms)
    bounded: set[str] = set()
    try:
        for number, split in enumerate(splits):
            before = number * arms
            report = partial(_report, progress, before, total)
            _run_split(protocol, dataset, split, results, bounded, report)
    except KeyboardInterrupt:
        results.interrupted = True
    progress(len(results.folds) * arms, total, "interrupted" if results.interrupted else "done")


def run(protocol: Protocol, dataset, progress: Progress | None = None) -> Results:
    """Run a comparison: every arm sees the same splits, scaling and read-outs, and is fitted once a split for all k.

    Features are standardised (dense), turned to sublinear tf-idf (sparse counts) or left as they are, with figures of
    the training part alone. The read-outs are multi-output ridge, its penalty chosen on the training part by
    closed-form leave-one-out, and the nearest training rows by cosine. An arm that raises gets the worst value.

    Parameters
    ----------
    protocol : Protocol
        What to do.
    dataset : proxembed.data.Dataset
        Rows with unknown labels are refused.
    progress : callable, optional
        Called as ``progress(done, total, text)`` before each arm, and once at the end.

    Returns
    -------
    Results
        With ``interrupted=True`` and all rows so far after a KeyboardInterrupt.

    Raises
    ------
    ValueError
        The data have unknown labels or no label, or the folds cannot be made.

    Examples
    --------
    >>> from proxembed.data import digits
    >>> from proxembed.evaluate.arms import Arm
    >>> from proxembed.evaluate.protocol import Protocol, run
    >>> protocol = Protocol((Arm("all features", None, rival=True),), sizes=(2,), n_folds=2)
    >>> len(run(protocol, digits()).rows)
    6
    """
    started = time.perf_counter()
    _check(dataset)
    splits = _splits(protocol, dataset)
    counts = [[str(name), int(count)] for name, count in zip(dataset.label_names, dataset.Y.sum(axis=0), strict=True)]
    results = Results(dataset={**dataset.describe(), "label_counts": counts}, protocol=protocol.describe())
    _run_splits(protocol, dataset, splits, results, progress or (lambda done, total, text: None))
    results.notes, results.seconds = list(dict.fromkeys(results.notes)), time.perf_counter() - started
    return results
