"""One split made ready: features scaled by the training part, rows with known labels set apart, inner folds."""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.pipeline import Pipeline

from proxembed.algebra.shared import Shared, key_of
from proxembed.classify.ridge import fit_readout, loo_penalty, ridge_fit
from proxembed.data.dataset import copied_rows
from proxembed.estimator.base import Estimator
from proxembed.estimator.traits import Traits
from proxembed.estimator.weights import held_under, with_weighted_means
from proxembed.features.encoded import encoded, encoder_apply, encoder_fit, is_supervised, stacked
from proxembed.features.scaling import scaling_apply, scaling_fit, scaling_kinds
from proxembed.features.table import features_fit
from proxembed.measures.calibration import Calibration, calibrated, calibrated_classes
from proxembed.measures.measures import DEFAULT_NEIGHBORS
from proxembed.measures.metrics import macro_average_precision
from proxembed.measures.neighbors import kept_of, neighbor_weights
from proxembed.measures.outputs import OutputCells
from proxembed.measures.statistics import row_units
from proxembed.methods.layout import PlacedRows
from proxembed.proximity.reordering import even_sample
from proxembed.splits.shuffles import LabelShuffle
from proxembed.splits.splits import Split
from proxembed.tables import RawRows, TableRows
from proxembed.targets.known import take_labels
from proxembed.targets.labels import MANY_LABELS, LabelMatrix
from proxembed.targets.outputs import Outputs
from proxembed.targets.targets import Targets, rows_with_known_cell

from .results import TEST

INNER_FOLDS = 3
CHOICE_ROWS, CHOICE_LABELS, CHOICE_FOLDS = 600, 30, 3
KEPT_AMONG, KEPT_ROWS = 5000, 1000  # training and held-out rows whose neighbours on a map are compared to those in X


class Unscaled(NamedTuple):
    """Features as they are in the data, and the numbers of the rows of a part."""

    X: Any
    train: np.ndarray
    held_out: np.ndarray


@dataclass(frozen=True)
class Part:
    """One split with its features scaled by the training rows: what a comparison and a search score embeddings on.

    ``labels`` are those of the training rows, or their outputs; ``Y_held_out`` of labels a bool array, of outputs their
    cells in F, by the means and factors ``standard`` of the training rows. ``raw`` are the training and held-out rows
    before an encoder that learns from labels: it is fitted again wherever other rows or labels take part. Training rows
    count by ``weights`` in every fit, and held-out rows by ``weights_held_out`` in every measure."""

    X: Any
    labels: Targets
    X_held_out: Any
    Y_held_out: Any
    name: str = ""
    scaling: str = "none"
    groups: Any = None
    times: Any = None
    rows: Any = None  # int array
    seed: int = 0
    known_held_out: np.ndarray | None = None
    unscaled: "Unscaled | None" = None
    given: Any = None
    standard: Any = None  # (level, scale) of outputs
    raw: Any = None  # (training rows, held-out rows)
    weights: np.ndarray | None = None  # how often each training row counts; None: once
    weights_held_out: np.ndarray | None = None
    alone: np.ndarray | None = None  # which test rows have no copy among the training rows (mask); None: all
    shared: Shared = field(default_factory=Shared, repr=False, compare=False)  # by the fits on these rows, or some

    @property
    def outputs(self) -> Outputs | None:
        """The outputs of the training rows; None where they have labels."""
        return self.labels if isinstance(self.labels, Outputs) else None

    def rows_for(self, estimator: Any) -> tuple[Any, Any, Any]:
        """Training rows, their labels and held-out rows for an estimator: unscaled if it scales for itself."""
        y = self.labels if self.given is None and isinstance(estimator, Estimator) else self.y
        last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
        if self.outputs is not None and hasattr(last, "target_scaling"):
            y = self.outputs.rescaled(last.target_scaling())
        if self.unscaled is None or not getattr(estimator, "traits", Traits()).scales:
            return self.X, y, self.X_held_out
        return self.unscaled.X[self.unscaled.train], y, self.unscaled.X[self.unscaled.held_out]

    def inside(self, rows: np.ndarray, held_out: np.ndarray) -> "Part":
        """The part that trains on some of its training rows and holds out others; all else is unchanged."""
        own = self.unscaled
        own = None if own is None else Unscaled(own.X, own.train[rows], own.train[held_out])
        given = None if self.given is None else take_labels(self.given, rows)
        some: dict[str, Any] = {"weights": some_weights(self.weights, rows), "groups": self._groups_of(rows)}
        part = replace(self, labels=self.labels.take(rows), given=given, alone=None, **some)
        if self.raw is not None:
            part = scaled_part(replace(part, X=self.raw[0][rows], X_held_out=self.raw[0][held_out]), self.scaling)
        else:
            part = replace(part, X=self.X[rows], X_held_out=self.X[held_out], unscaled=own)
        vars(part)["latest"] = self._latest_inside.setdefault(key_of(rows, held_out), OrderedDict())
        return part

    def _groups_of(self, rows: Any) -> np.ndarray | None:
        """The groups of some training rows; None without groups."""
        return None if self.groups is None else np.asarray(self.groups)[rows]

    def first(self, rows: int) -> "Part":
        """The part with its first training rows only."""
        own = self.unscaled
        own = None if own is None else own._replace(train=own.train[:rows])
        raw = None if self.raw is None else (self.raw[0][:rows], self.raw[1])
        some: dict[str, Any] = {"labels": self.labels.take(np.arange(rows)), "unscaled": own, "raw": raw}
        some["groups"] = self._groups_of(slice(rows))
        return replace(self, X=self.X[:rows], weights=some_weights(self.weights, slice(rows)), **some)

    def shuffled(self) -> "Part":
        """The part with its training labels shuffled: of rows, of whole groups, or along time."""
        shuffle = LabelShuffle.of(self.labels, groups=self.groups, times=self.times)
        part = replace(self, labels=self.labels.take(shuffle.order(np.random.default_rng(self.seed))))
        return (
            part
            if self.raw is None
            else scaled_part(replace(part, X=self.raw[0], X_held_out=self.raw[1]), self.scaling)
        )

    @cached_property
    def known_rows(self) -> np.ndarray:
        """Numbers of the training rows that read-outs learn from, see ``Targets.rows_any``."""
        return np.flatnonzero(self.labels.rows_any)

    @cached_property
    def known_weights(self) -> np.ndarray | None:
        """How often each of these rows counts; None: once."""
        return some_weights(self.weights, self.known_rows)

    @cached_property
    def read(self) -> Any:
        """Labels or outputs of these rows."""
        return self.labels.take(self.known_rows)

    @cached_property
    def label_rank(self) -> int:
        """The rank of the labels of these rows about their means; their number where that takes too long, cells are
        unknown, or y holds numbers."""
        labels: Any = self.read.drop_empty()
        plain = self.outputs is None and self.known_cells is None and not self.many_labels
        return int(labels.rank) if plain else int(labels.c)

    @cached_property
    def Y(self) -> Any:
        """Labels of these rows, 0 or 1, and 0 where unknown; of outputs their cells."""
        if self.outputs is not None:
            return cells_of(self.read, self.standard)
        return sp.csr_array(self.read.Y).astype(np.uint8)

    @cached_property
    def known_cells(self) -> np.ndarray | None:
        """True where a cell of these rows is known, (rows, c); None where all are."""
        return self.read.known_cells

    @cached_property
    def indicator(self) -> np.ndarray:
        """Labels of these rows as a bool array, (rows, c)."""
        return self.Y.toarray().astype(bool)

    @cached_property
    def held_out_sets(self) -> Any:
        """Labels of the held-out rows, sparse; of outputs their cells."""
        return self.Y_held_out if self.outputs is not None else sp.csr_array(self.Y_held_out)

    @cached_property
    def targets(self) -> Any:
        """Labels of these rows for a read-out, (rows, c), sparse where there are many: an unknown cell is the mean of
        its label, or of its column of F."""
        if self.outputs is not None:
            return self.Y.F
        if self.known_cells is not None:
            return with_weighted_means(self.read, self.known_weights).Y.toarray()
        return self.Y if self.many_labels else self.indicator

    @property
    def many_labels(self) -> bool:
        """Whether there are more than 1,000 labels; then no array of all rows and labels is kept."""
        return self.labels.c > MANY_LABELS

    @property
    def y(self) -> Any:
        """Labels of all training rows as they were given, else 0 or 1, and NaN where unknown; or the outputs."""
        if self.outputs is not None:
            return self.outputs
        return self.labels.indicator if self.given is None else self.given  # type: ignore[attr-defined]  # labels

    @cached_property
    def inner(self) -> np.ndarray:
        """Inner fold of each row with known labels, on which cuts and probabilities are tuned."""
        return inner_folds(len(self.known_rows), self._groups_of(self.known_rows), INNER_FOLDS, self.seed)

    @property
    def of_classes(self) -> bool:
        """Whether each row with known labels carries exactly one of several labels."""
        labels: Any = self.read
        known = self.known_cells is None or bool(self.known_cells.all())
        return labels.c > 1 and known and not labels.several and not labels.bare

    def calibrated(self, scores: Any) -> Calibration:
        """Maps from scores to probabilities, by scores of the rows with known labels, (rows, c), of models that have
        not seen them; of classes where each row carries one label."""
        if self.of_classes:
            return calibrated_classes(scores, self.Y, self.known_weights)
        return calibrated(scores, self.indicator, self.known_cells, self.known_weights)

    @cached_property
    def latest(self) -> OrderedDict[Any, Any]:
        """The embeddings that were fitted last on these rows, by what was fitted, for methods that are made of them."""
        return OrderedDict()

    @cached_property
    def _latest_inside(self) -> dict[str, OrderedDict[Any, Any]]:
        """Those of the parts ``inside``, which are made again for each arm."""
        return {}

    @cached_property
    def laid_out(self) -> dict[str, PlacedRows]:
        """Components of these rows and of the held-out ones by methods whose maps were made here."""
        return {}

    @cached_property
    def near_features(self) -> tuple[np.ndarray, np.ndarray, Any]:
        """Numbers of at most 5,000 training and 1,000 held-out rows, and the weights of the ten nearest of the former
        in scaled X to each of the latter."""
        among, some = (
            even_sample(X.shape[0], most) for X, most in ((self.X, KEPT_AMONG), (self.X_held_out, KEPT_ROWS))
        )
        return (
            among,
            some,
            neighbor_weights(self.X_held_out[some], self.X[among], DEFAULT_NEIGHBORS, metric="euclidean"),
        )

    def kept_share(self, Z: Any, Z_held_out: Any) -> float:
        """The share of these neighbours that a map of the training and the held-out rows keeps."""
        among, some, near = self.near_features
        return kept_of(near, Z_held_out[some], Z[among], DEFAULT_NEIGHBORS)

    @property
    def sizes(self) -> dict[str, Any]:
        """Numbers of rows, as plain data."""
        return {"train": self.X.shape[0], "held_out": len(self.rows)}


def some_weights(weights: np.ndarray | None, rows: Any) -> np.ndarray | None:
    """The weights of some rows; None where each row counts once."""
    return None if weights is None else weights[rows]


def cells_of(outputs: Any, standard: tuple[np.ndarray, np.ndarray]) -> OutputCells:
    """The cells of outputs by means and factors of training rows."""
    own = outputs.in_standard(*standard)
    return OutputCells(own.Y.toarray(), own.layout.owners, *standard, own.known_cells)


def make_part(
    X: Any, labels: Targets, train: np.ndarray, held_out: np.ndarray, kind: str | None = None, **facts: Any
) -> Part:
    """Take the rows of a split, encode them where there is an encoder, and scale them, with figures of the training
    rows alone. ``facts``: as of ``unscaled_part``."""
    own = Unscaled(X, np.asarray(train), np.asarray(held_out))
    return scaled_part(replace(unscaled_part(X, labels, train, held_out, **facts), unscaled=own), kind)


def scaled_part(part: Part, kind: str | None) -> Part:
    """A part of rows as they are, encoded and scaled by its training rows; None chooses the scaling."""
    own = None if isinstance(part.X, TableRows) else part.unscaled  # an encoding of a table scales
    if isinstance(part.X, RawRows):
        part, own = _encoded_part(part)
    if kind is None:
        kind = choose_scaling(part.X, part.labels, part.groups, part.seed, part.weights)
    state = features_fit(kind, part.X, part.weights)
    scaled = scaling_apply(state, part.X), scaling_apply(state, part.X_held_out)
    return replace(part, X=scaled[0], X_held_out=scaled[1], scaling=kind, unscaled=own)


def _encoded_part(part: Part) -> tuple[Part, Unscaled]:
    """The part with its rows encoded, by an encoder fitted on the training rows; and these as they are unscaled."""
    raw = part.X, part.X_held_out
    fitted = encoder_fit(raw[0], lambda: part.labels, part.weights)
    train, held_out = (encoder_apply(fitted, rows.X) for rows in raw)
    n = train.shape[0]
    own = Unscaled(stacked(train, held_out), np.arange(n), np.arange(n, n + held_out.shape[0]))
    return replace(part, X=train, X_held_out=held_out, raw=raw if is_supervised(raw[0].encoder) else None), own


def unscaled_part(
    X: Any, labels: Targets, train: np.ndarray, held_out: np.ndarray, *, weights: np.ndarray | None = None, **facts: Any
) -> Part:
    """The rows of a split as they are; ``weights``: how often each row of X counts (None: once); ``facts`` are further
    arguments of ``Part``."""
    facts |= {"weights": some_weights(weights, train), "weights_held_out": some_weights(weights, held_out)}
    truth = labels.take(held_out)
    if isinstance(labels, Outputs):
        own = labels.take(train)
        of_training = own if weights is None else held_under(own, weights[train])
        facts["standard"] = of_training.level_and_scale
        return Part(X[train], own, X[held_out], cells_of(truth, facts["standard"]), **facts)
    facts["known_held_out"] = truth.known_cells
    return Part(X[train], labels.take(train), X[held_out], truth.Y.toarray() > 0, **facts)


def rows_scored(dataset: Any) -> np.ndarray:
    """Mask of the rows that can be scored, see ``Targets.rows_any``."""
    if dataset.outputs is not None:
        return dataset.outputs.rows_any
    return rows_with_known_cell(dataset.unknown, dataset.Y.shape[0])


def several_groups(dataset: Any, train: np.ndarray) -> np.ndarray | None:
    """The groups of training rows; None without groups, or if all rows with known labels are in one group."""
    if dataset.groups is None:
        return None
    groups = np.asarray(dataset.groups)[train]
    return groups if len(np.unique(groups[rows_scored(dataset)[train]])) > 1 else None


def units_of(dataset: Any, train: np.ndarray) -> dict[str, Any]:
    """The groups and the times of training rows, for a part."""
    times = None if dataset.times is None else np.asarray(dataset.times)[train]
    return {"groups": several_groups(dataset, train), "times": times}


def prepare(dataset: Any, split: Split, seed: int = 0, **more: Any) -> Part:
    """The part of a data set and a split; ``more``: further facts of it."""
    known = rows_scored(dataset)
    train, held_out = split.train, split.held_out[known[split.held_out]]
    count = int(known[train].sum())
    if count < 2 or len(held_out) == 0:
        raise ValueError(
            f"fold {split.name} has {count} training and {len(held_out)} held-out rows with known labels; "
            "it needs 2 and 1. Take fewer folds, or label more rows."
        )
    facts = {"name": split.name, "rows": held_out, "seed": seed, **units_of(dataset, train), **more}
    facts["weights"] = dataset.sample_weight
    if split.name == TEST:
        alone = ~copied_rows(dataset, held_out, train)
        facts["alone"] = None if alone.all() or not alone.any() else alone
    return make_part(dataset.X, dataset.targets, train, held_out, **facts)


def choose_scaling(
    X: Any, labels: Targets, groups: Any = None, seed: int = 0, weights: np.ndarray | None = None
) -> str:
    """The scaling by which a ridge read-out of all features predicts best on inner folds of the rows."""
    if isinstance(X, RawRows):
        X = encoded(X, lambda: labels)
    kinds = scaling_kinds(X)
    rows = np.flatnonzero(labels.rows_any)
    random = np.random.default_rng(seed)
    rows = np.sort(random.permutation(rows)[:CHOICE_ROWS])
    if len(kinds) == 1 or len(rows) < CHOICE_FOLDS:
        return kinds[0]
    labels = labels.take(rows)
    if isinstance(labels, LabelMatrix):
        labels = labels.with_columns(np.argsort(-labels.nk, kind="stable")[:CHOICE_LABELS])
    fold = inner_folds(len(rows), None if groups is None else np.asarray(groups)[rows], CHOICE_FOLDS, seed)
    X, weights = X[rows], some_weights(weights, rows)
    score: Any = _scaling_score if isinstance(labels, LabelMatrix) else _scaling_score_of_outputs
    values = [score(kind, X, labels, fold, weights) for kind in kinds]
    return kinds[int(np.argmax(values))]


def _scaled_folds(kind: str, X: Any, fold: np.ndarray, w: np.ndarray | None) -> Iterator[tuple[Any, ...]]:
    """For each fold the masks of the other rows and of its own, and both as the others scale them."""
    for each in range(fold.max() + 1):
        train, held_out = fold != each, fold == each
        if train.any():
            state = scaling_fit(kind, X[train], sample_weight=some_weights(w, train))
            yield train, held_out, scaling_apply(state, X[train]), scaling_apply(state, X[held_out])


def _scaling_score(kind: str, X: Any, labels: LabelMatrix, fold: np.ndarray, w: np.ndarray | None) -> float:
    """Mean over the folds of the macro average precision; 0 of a fold without a positive row."""
    total, Y, known = 0.0, labels.Y.toarray() > 0, labels.known_cells
    T = with_weighted_means(labels, w).Y.toarray()
    for train, held_out, rows, new in _scaled_folds(kind, X, fold, w):
        scores = fit_readout(rows, T[train], weights=some_weights(w, train)).scores(new)
        cells = None if known is None else known[held_out]
        value = macro_average_precision(Y[held_out], scores, known=cells, sample_weight=some_weights(w, held_out)).value
        total += value if np.isfinite(value) else 0.0
    return total


def _scaling_score_of_outputs(kind: str, X: Any, outputs: Any, fold: np.ndarray, w: np.ndarray | None) -> float:
    """Minus the sum over the folds of the squared errors of F on known cells."""
    outputs = outputs if w is None else held_under(outputs, w)
    F, known, total = outputs.with_means().Y.toarray(), outputs.known_cells, 0.0
    for train, held_out, rows, new in _scaled_folds(kind, X, fold, w):
        own = some_weights(w, train)
        coef, intercept = ridge_fit(rows, F[train], loo_penalty(rows, F[train], own), weights=own)
        missed = F[held_out] - new @ coef - intercept
        squares = missed**2 if w is None else w[held_out, None] * missed**2
        total -= float(np.sum(squares[... if known is None else known[held_out]]))
    return total


def inner_folds(n: int, groups: Any, n_folds: int, seed: int) -> np.ndarray:
    """The fold of each of n rows, at random; a group stays in one fold where there are several groups."""
    unit = row_units(n, groups)
    unit = np.arange(n) if unit.max() == 0 else unit
    count = unit.max() + 1
    return (np.random.default_rng(seed).permutation(count) % min(n_folds, count))[unit]
