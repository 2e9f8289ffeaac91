"""The measures of held-out rows: one object each, by name in one registry.

Further measures join by ``register``; a function of the held-out labels and their scores is taken wherever a name is.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from proxembed.params import call_user_function, safe_repr

from .calibration import brier_score, calibration_error
from .metrics import (
    balanced_accuracy,
    hamming_loss,
    instance_accuracy,
    instance_f1,
    instance_precision,
    instance_recall,
    jaccard_at_k,
    log_loss,
    macro_auc,
    macro_average_precision,
    macro_f1,
    micro_auc,
    micro_f1,
    rarest_average_precision,
    subset_accuracy,
)
from .outputs import OutputCells, agreement, q2, r2, spearman

READS = ("scores", "labels", "probabilities", "neighbors", "new neighbors")
AVERAGE_PRECISION, JACCARD = "macro average precision", "Jaccard@{}"
NEW_JACCARD = "new-new Jaccard@{}"  # of new rows among themselves
ENOUGH = 5  # rows per neighbour, below which nearly all rows would be neighbours of each other
MACRO_F1, MICRO_F1 = "macro F1", "micro F1"
BRIER = "Brier score"
MACRO_AUC, RAREST = "macro AUC", "average precision of the rarest label"
Q2, AGREEMENT, NEW_AGREEMENT = "Q2", "A@{}", "new-new A@{}"  # of numbers
LABELS, NUMBERS, ANY = "labels", "numbers", "any"  # what a measure takes
DEFAULT_NEIGHBORS = 10
ALL_NEIGHBORS = 100  # training rows of one class each from which on neighbours are 10 whatever the classes


def every_label(counts: np.ndarray, n: int, least: int) -> np.ndarray:
    """Labels on which a measure is defined: all."""
    return np.ones(len(counts), dtype=bool)


def enough_positives(counts: np.ndarray, n: int, least: int) -> np.ndarray:
    """Labels with enough positive rows."""
    return counts >= least


def both_values(counts: np.ndarray, n: int, least: int) -> np.ndarray:
    """Labels with positive and negative rows."""
    return (counts > 0) & (counts < n)


def enough_rows(counts: np.ndarray, n: int, least: int, n_neighbors: int) -> np.ndarray:
    """Labels with a value of neighbours among the held-out rows: all where there are 5 rows per neighbour, or none."""
    return np.full(len(counts), n >= ENOUGH * n_neighbors)


@dataclass(frozen=True)
class Measure:
    """A measure of how well an embedding serves held-out rows.

    Parameters
    ----------
    name : str
    reads : {"scores", "labels", "probabilities", "neighbors", "new neighbors"}
        What ``function`` reads beside the true labels Y (m, c): real scores (m, c), predicted labels (m, c),
        probabilities (m, c), or the labels of the training rows (n, c) and the weights of each row's nearest, a sparse
        array (m, n) whose rows sum to 1; of new neighbours Y again and the weights of the nearest other held-out rows,
        (m, m).
    function : callable
        Returns a number, or a number with the number of labels that it rests on.
    loss : bool, default=False
        Whether less is better.
    worst, best : float, default=0 and 1
        Values of a failure and of a perfect embedding.
    defined : callable
        Gets the number of positive rows of each label, the number of rows and the least number of positive rows, and
        returns for each label whether the measure is defined on it. Without any such label the measure is NaN.
    takes_least : bool, default=False
        Whether ``function`` has an argument ``min_positives``.
    n_neighbors : int, default=10
        Of a measure that reads neighbours.
    over : {"labels", "cells", "rows"}, default="labels"
        What it is a mean over. With unknown cells it is the mean over labels of the value on their known rows, the
        value on all known cells as one label, or the value on the known cells of each row.
    unit : str, default=""
        Unit of its values, for an axis; "": "0 to 1" if these are its worst and best values.
    further : bool, default=False
        Whether a comparison scores it beside the measure that decides.
    takes : {"labels", "numbers", "any"}, default="labels"
        Of "numbers", ``function`` reads `measures.outputs.OutputCells` beside predictions of F or moments of
        neighbours; of "any" it gets labels and scores, or numbers and their predictions in units, NaN where unknown.
        Where rows have weights, it must have an argument ``sample_weight`` (m,).

    Raises
    ------
    ValueError
        ``reads`` is unknown.

    See Also
    --------
    proxembed.measures.register : Adds a measure.
    proxembed.measures.macro_average_precision : The measure of predictions.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.measures import Measure
    >>> largest = Measure("top label", "scores", lambda Y, S: Y[np.arange(len(Y)), S.argmax(axis=1)].mean())
    >>> largest.value(np.array([[1, 0], [1, 0]]), np.array([[0.9, 0.1], [0.2, 0.8]]))
    (0.5, 2)
    """

    name: str
    reads: str
    function: Callable[..., Any]
    loss: bool = False
    worst: float = 0.0
    best: float = 1.0
    defined: Callable[[np.ndarray, int, int], np.ndarray] = every_label
    takes_least: bool = False
    n_neighbors: int = DEFAULT_NEIGHBORS
    over: str = "labels"
    unit: str = ""
    further: bool = False
    takes: str = LABELS

    def __post_init__(self) -> None:
        if self.reads not in READS:
            raise ValueError(f"reads={safe_repr(self.reads)} is unknown; a measure reads one of {', '.join(READS)}.")

    @property
    def goal(self) -> str:
        """The goal of the embeddings that it judges: "neighbours" or "predict"."""
        return "neighbours" if self.reads.endswith("neighbors") else "predict"

    @property
    def weighs(self) -> bool:
        """Whether its function takes ``sample_weight``, how often each row counts."""
        own: Any = self.function
        if isinstance(own, partial) and own.func is call_user_function:
            own = own.args[1]
        try:
            return "sample_weight" in inspect.signature(own).parameters
        except (TypeError, ValueError):  # a compiled function that shows no signature
            return False

    def check_weighs(self, weights: Any) -> None:
        """A ValueError if rows have weights (None: they have none), and the function takes none."""
        if weights is not None and not self.weighs:
            raise ValueError(
                f"{self.name} takes no weights of rows: give its function an argument sample_weight, or name another "
                "measure."
            )

    def value(
        self, Y: Any, reading: Any, least: int = 1, known: np.ndarray | None = None, weights: np.ndarray | None = None
    ) -> tuple[float, int]:
        """The value on held-out rows, of known cells where some are unknown, and the number of labels it rests on.
        ``weights`` (m,): how often each row counts; None: once."""
        self.check_weighs(weights)
        weighed = {} if weights is None else {"sample_weight": weights}
        if self.reads == "new neighbors" and reading is None:
            return np.nan, Y.shape[1]
        if isinstance(Y, OutputCells):
            read = (Y.in_units(Y.F), Y.in_units(reading)) if self.takes == ANY else (Y, reading)
            found = self.function(*read, **weighed)
            return (float(found[0]), int(found[1])) if isinstance(found, tuple) else (float(found), Y.shape[1])
        if known is not None and self.goal == "predict":
            return self._value_of_cells(Y, reading, least, known, weights)
        options = weighed | ({"min_positives": least} if self.takes_least else {})
        readings = reading if self.goal == "neighbours" else (reading,)
        cells = {} if known is None else {"known": known}
        found = self.function(Y, *readings, **options, **cells)
        return (float(found[0]), int(found[1])) if isinstance(found, tuple) else (float(found), Y.shape[1])

    def _value_of_cells(
        self, Y: Any, reading: Any, least: int, known: np.ndarray, w: np.ndarray | None = None
    ) -> tuple[float, int]:
        """The value where some cells are unknown, as ``over`` says."""
        if not known.any():
            return np.nan, 0
        if self.over == "rows":
            rows = known.any(axis=1)
            truth, sets = ((np.asarray(cells, dtype=bool) & known)[rows] for cells in (Y, reading))
            own = self.value(truth, sets, weights=None if w is None else w[rows])
            return own[0], int(known.any(axis=0).sum())
        if self.over == "cells":
            each_cell = None if w is None else np.broadcast_to(w[:, None], known.shape)[known]
            return self.value(Y[known][:, None], reading[known][:, None], least, weights=each_cell)[0], Y.shape[1]
        if self.takes_least:  # these choose among labels
            weighed = {} if w is None else {"sample_weight": w}
            found = self.function(Y, reading, min_positives=least, known=known, **weighed)
            return float(found[0]), int(found[1])
        each = [
            self.value(Y[rows, j : j + 1], reading[rows, j : j + 1], least, weights=None if w is None else w[rows])
            for j, rows in enumerate(known.T)
            if rows.any()
        ]
        values = [value for value, labels in each if labels and np.isfinite(value)]
        return (float(np.mean(values)), len(values)) if values else (np.nan, 0)

    def is_defined(self, Y: Any, least: int = 1) -> bool:
        """Whether the measure has a value on held-out rows of labels Y, or of numbers."""
        if isinstance(Y, OutputCells):
            return bool(self.defined(np.ones(Y.shape[1]), len(Y), least).any())
        return bool(self.defined(np.asarray(Y.sum(axis=0)).ravel(), Y.shape[0], least).any())

    def score(self, value: float) -> float:
        """The value with its sign such that larger is better, as of scikit-learn's scorers."""
        return -value if self.loss else value

    def failed(self, Y: Any, least: int = 1) -> float:
        """The value of a failure on rows of labels Y; NaN where the measure is undefined on them."""
        return self.worst if self.is_defined(Y, least) else np.nan


MEASURES: dict[str, Measure] = {}


def register(measure: Measure) -> Measure:
    """Register a measure under its name.

    Raises
    ------
    ValueError
        Its name is taken.

    Examples
    --------
    >>> from proxembed.measures.measures import MEASURES
    >>> from proxembed.measures import register
    >>> register(MEASURES["macro F1"])
    Traceback (most recent call last):
    ValueError: a measure named 'macro F1' is registered already; choose another name.
    """
    if measure.name in MEASURES:
        raise ValueError(f"a measure named {measure.name!r} is registered already; choose another name.")
    MEASURES[measure.name] = measure
    return measure


for _measure in (
    Measure(AVERAGE_PRECISION, "scores", macro_average_precision, defined=enough_positives, takes_least=True),
    Measure(JACCARD.format(DEFAULT_NEIGHBORS), "neighbors", jaccard_at_k),
    Measure(
        NEW_JACCARD.format(DEFAULT_NEIGHBORS),
        "new neighbors",
        jaccard_at_k,
        defined=partial(enough_rows, n_neighbors=DEFAULT_NEIGHBORS),
    ),
    Measure(MACRO_F1, "labels", macro_f1, further=True),
    Measure(MICRO_F1, "labels", micro_f1, over="cells", further=True),
    Measure("subset accuracy", "labels", subset_accuracy, over="rows"),
    Measure("instance F1", "labels", instance_f1, over="rows"),
    Measure("instance precision", "labels", instance_precision, over="rows"),
    Measure("instance recall", "labels", instance_recall, over="rows"),
    Measure("instance accuracy", "labels", instance_accuracy, over="rows"),
    Measure("balanced accuracy", "labels", balanced_accuracy, defined=both_values),
    Measure(
        RAREST,
        "scores",
        rarest_average_precision,
        defined=enough_positives,
        takes_least=True,
    ),
    Measure(MACRO_AUC, "scores", macro_auc, defined=both_values),
    Measure("micro AUC", "scores", micro_auc, over="cells"),
    Measure("Hamming loss", "labels", hamming_loss, loss=True, worst=1.0, best=0.0, over="cells", further=True),
    Measure(
        "log-loss",
        "probabilities",
        log_loss,
        loss=True,
        worst=-float(np.log(np.finfo(float).eps)),
        best=0.0,
        unit="nats",
        further=True,
    ),
    Measure(BRIER, "probabilities", brier_score, loss=True, worst=1.0, best=0.0, further=True),
    Measure("calibration error", "probabilities", calibration_error, loss=True, worst=1.0, best=0.0, further=True),
    Measure(Q2, "scores", q2, takes=NUMBERS, unit="at most 1"),
    Measure("R2", "scores", r2, takes=NUMBERS, unit="at most 1", further=True),
    Measure("Spearman", "scores", spearman, worst=-1.0, takes=NUMBERS, unit="-1 to 1", further=True),
    Measure(AGREEMENT.format(DEFAULT_NEIGHBORS), "neighbors", agreement, takes=NUMBERS, unit="at most 1"),
    Measure(
        NEW_AGREEMENT.format(DEFAULT_NEIGHBORS),
        "new neighbors",
        agreement,
        defined=partial(enough_rows, n_neighbors=DEFAULT_NEIGHBORS),
        takes=NUMBERS,
        unit="at most 1",
    ),
):
    register(_measure)


def measure_of(measure: str | Measure | Callable[[Any, Any], float]) -> Measure:
    """The measure of a name (of "Jaccard@k" any k), a measure itself, or the measure of a function (Y, S)."""
    if isinstance(measure, Measure):
        return measure
    if callable(measure):
        name = getattr(measure, "__name__", type(measure).__name__)
        return Measure(name, "scores", partial(call_user_function, "measure", measure), best=np.inf, takes=ANY)
    if isinstance(measure, str):
        if measure in MEASURES:
            return MEASURES[measure]
        kind, _, k = measure.partition("@")
        like = MEASURES.get(f"{kind}@{DEFAULT_NEIGHBORS}")
        if like is not None and k.isascii() and k.isdigit() and int(k) > 0:
            defined = partial(enough_rows, n_neighbors=int(k)) if like.reads == "new neighbors" else like.defined
            return replace(like, name=f"{kind}@{int(k)}", defined=defined, n_neighbors=int(k))
    names = ", ".join(MEASURES)
    raise ValueError(f"measure={safe_repr(measure)} is unknown; use one of {names}, or a function of (Y, S).")


class KindOfMeasures(NamedTuple):
    """The names of the measures that judge targets of one kind: predictions, neighbours, new rows among themselves."""

    predict: str
    near: str
    new: str


OF_LABELS = KindOfMeasures(AVERAGE_PRECISION, JACCARD, NEW_JACCARD)
OF_NUMBERS = KindOfMeasures(Q2, AGREEMENT, NEW_AGREEMENT)


def measures_of_kind(numbers: bool) -> KindOfMeasures:
    """The names of the measures of labels, or of numbers."""
    return OF_NUMBERS if numbers else OF_LABELS


def measure_for(measure: Any, numbers: bool) -> Measure:
    """The measure of a name for targets of this kind, None: the usual one of predictions; a ValueError for a measure of
    the other kind."""
    kind = measures_of_kind(numbers)
    found = measure_of(kind.predict if measure is None else measure)
    if found.takes in (ANY, NUMBERS if numbers else LABELS):
        return found
    near = kind.near.format(found.n_neighbors)
    use = near if found.goal == "neighbours" else f"{kind.predict} or {near}"
    if numbers:
        raise ValueError(f"{found.name} needs labels; y holds numbers: use {use}.")
    raise ValueError(f"{found.name} needs numbers; y holds labels: use {use}.")


def neighbors_of(dataset: Any, train: np.ndarray) -> int:
    """Number of neighbours to compare: 10, or with few rows of one class each the smallest class size above 1."""
    if len(train) >= ALL_NEIGHBORS or not dataset.single_label:
        return DEFAULT_NEIGHBORS
    sizes = np.asarray(dataset.Y.tocsr()[train].sum(axis=0)).ravel()
    return int(min([DEFAULT_NEIGHBORS, *sizes[sizes > 1]]))


def is_near(name: str) -> bool:
    """Whether a measure is Jaccard@k or A@k of some k, the likeness of a row and its nearest training rows."""
    return name.startswith((JACCARD.format(""), AGREEMENT.format("")))


def is_new_near(name: str) -> bool:
    """Whether a measure is the same among new rows."""
    return name.startswith((NEW_JACCARD.format(""), NEW_AGREEMENT.format("")))


def unit_of_measure(name: str) -> str:
    """The range or unit of a measure in brackets, for an axis; empty for a user's function."""
    if not (name in MEASURES or is_near(name) or is_new_near(name)):
        return ""
    measure = measure_of(name)
    unit = measure.unit or ("0 to 1" if {measure.worst, measure.best} == {0.0, 1.0} else "")
    return f" ({unit})" if unit else ""


def is_loss(name: str) -> bool:
    """Whether less is better of the measure of a name; a name that is not registered is a user's function."""
    return name in MEASURES and MEASURES[name].loss
