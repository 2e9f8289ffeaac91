"""What a comparison found, as plain data: measures, their worst values, rows, and the scores of held-out rows."""

from dataclasses import dataclass, field

import numpy as np

AVERAGE_PRECISION, JACCARD = "macro average precision", "Jaccard@{}"
MACRO_F1, MICRO_F1, HAMMING = "macro F1", "micro F1", "Hamming loss"
LOG_LOSS, CALIBRATION = "log-loss", "calibration error"
LOSSES = frozenset({HAMMING, LOG_LOSS, CALIBRATION})
RIDGE, LOGISTIC, NEIGHBORS = "ridge", "logistic", "cosine kNN"
TEST = "test"
WORST = {HAMMING: 1.0, CALIBRATION: 1.0, LOG_LOSS: -float(np.log(np.finfo(float).eps))}


def measure_name(measure: str, readout: str) -> str:
    """Name a measure with its read-out, as in tables and file columns.

    Examples
    --------
    >>> from proxembed.evaluate.results import measure_name
    >>> measure_name("macro average precision", "ridge")
    'macro average precision (ridge)'
    """
    return f"{measure} ({readout})"


def worst_value(measure: str) -> float:
    """Value that a failure counts as: 0, or for a loss the largest it can be (log-loss: of a probability of 2e-16).

    Examples
    --------
    >>> from proxembed.evaluate.results import worst_value
    >>> worst_value("macro F1"), worst_value("Hamming loss"), round(worst_value("log-loss"), 1)
    (0.0, 1.0, 36.0)
    """
    return WORST.get(measure, 0.0)


def reason_of(error: Exception) -> str:
    """What went wrong, in one line, as ``failure`` holds it.

    Examples
    --------
    >>> from proxembed.evaluate.results import reason_of
    >>> reason_of(ValueError("two\\nlines"))
    'ValueError: two lines'
    """
    return " ".join(f"{type(error).__name__}: {error}".split())


@dataclass
class Results:
    """What a comparison found, as plain data.

    ``rows`` holds one dict for each arm, k, fold and measure: ``arm, rival, k, components, fold, readout, measure,
    value, labels, seconds, failure``. A failed arm has the worst value of each measure and the reason in ``failure``.
    ``seconds`` counts fitting (once for all k) and the read-outs of this k. ``predictions`` holds the ridge scores of
    the held-out rows under (arm, k, fold), float32, and ``held_out`` the numbers of these rows under the fold.

    Examples
    --------
    >>> from proxembed.evaluate.results import Results
    >>> Results(dataset={"name": "made"}, protocol={}).rows
    []
    """

    dataset: dict
    protocol: dict
    rows: list[dict] = field(default_factory=list)
    folds: dict[str, dict] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    preprocessing: str = ""
    seconds: float = 0.0
    interrupted: bool = False
    predictions: dict[tuple[str, int | None, str], np.ndarray] = field(default_factory=dict)
    held_out: dict[str, np.ndarray] = field(default_factory=dict)
