"""What a comparison found, as plain data: a row for each measure, and the scores of held-out rows."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .measures import is_loss

RIDGE, NEIGHBORS = "ridge", "cosine kNN"
TEST = "test"
SAME_ROWS = "the same rows for every query"


def measure_name(measure: str, readout: str) -> str:
    """Name a measure with its read-out, as in tables and file columns.

    Examples
    --------
    >>> from proxembed.evaluate.results import measure_name
    >>> measure_name("macro average precision", "ridge")
    'macro average precision (ridge)'
    """
    return f"{measure} ({readout})"


def sign_of(name: str) -> float:
    """1, or -1 where less is better, of a measure with its read-out.

    Examples
    --------
    >>> from proxembed.evaluate.results import sign_of
    >>> sign_of("Hamming loss (ridge)"), sign_of("macro F1 (ridge)")
    (-1.0, 1.0)
    """
    return -1.0 if is_loss(name.rpartition(" (")[0]) else 1.0


def reason_of(error: Exception) -> str:
    """What went wrong, in one line, as ``failure`` holds it.

    Examples
    --------
    >>> from proxembed.evaluate.results import reason_of
    >>> reason_of(ValueError("two\\nlines"))
    'ValueError: two lines'
    """
    return " ".join(f"{type(error).__name__}: {error}".split())


def without_numbers(text: str) -> str:
    """A text with every number as 0: what texts of one kind have in common.

    Examples
    --------
    >>> from proxembed.evaluate.results import without_numbers
    >>> without_numbers("3 rows of 1.2e-3 s")
    '0 rows of 0 s'
    """
    return re.sub(r"\d[\d.,e+-]*", "0", text)


def merged_notes(notes: Sequence[str]) -> list[str]:
    """Notes ("arm: text") in one line where they differ only in the arm and in numbers; the last one is shown.

    Examples
    --------
    >>> from proxembed.evaluate.results import merged_notes
    >>> merged_notes(["OPLS: OPLS leaves out 3 rows.", "MESD(FDA): MESD leaves out 2 rows.", "NCA: slow."])
    ['OPLS, MESD(FDA): leaves out 2 rows.', 'NCA: slow.']
    """
    kinds: dict[str, tuple[dict[str, None], str]] = {}
    for note in notes:
        arm, _, text = note.partition(": ")
        own = text.removeprefix(arm.partition("(")[0] + " ")
        arms = kinds.get(kind := without_numbers(own), ({}, ""))[0] | {arm: None}
        kinds[kind] = arms, own if len(arms) > 1 else text
    return [f"{', '.join(arms)}: {text}" for arms, text in kinds.values()]


@dataclass
class Results:
    """What a comparison found, as plain data.

    ``rows`` holds one dict for each arm, k, fold and measure: ``arm, rival, k, components, fold, readout, measure,
    value, labels, seconds, failure``. A failed arm has the worst value of each measure and the reason in
    ``failure``. ``seconds`` counts fitting (once for all k) and the read-outs of this k. ``predictions`` holds the
    ridge scores of the held-out rows under (arm, k, fold), float32 (of an arm that predicts by itself, its own
    scores). Under the same keys ``similarity`` holds each row's mean similarity to its neighbours (also for "the
    same rows for every query"), ``new_similarity`` that to its neighbours among the held-out rows, ``hubs`` the
    share of rows that list the training row listed most, and ``queries`` the seconds of 1,000 neighbour queries.
    ``scalings`` holds the scaling of each fold, ``held_out`` the numbers of its held-out rows, and ``measure`` the
    primary measure. ``few`` says why the scored rows of the "folds" or "test rows" are too few for a verdict.

    Examples
    --------
    >>> from proxembed.evaluate.results import Results
    >>> Results(dataset={"name": "made"}, protocol={}).rows
    []
    """

    dataset: dict[str, Any]
    protocol: dict[str, Any]
    rows: list[dict[str, Any]] = field(default_factory=list)
    folds: dict[str, dict[str, Any]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    preprocessing: str = ""
    scalings: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    interrupted: bool = False
    predictions: dict[tuple[str, int | None, str], np.ndarray] = field(default_factory=dict)
    similarity: dict[tuple[str, int | None, str], np.ndarray] = field(default_factory=dict)
    new_similarity: dict[tuple[str, int | None, str], np.ndarray] = field(default_factory=dict)
    hubs: dict[tuple[str, int | None, str], float] = field(default_factory=dict)
    queries: dict[tuple[str, int | None, str], float] = field(default_factory=dict)
    held_out: dict[str, np.ndarray] = field(default_factory=dict)
    measure: Any = None
    few: dict[str, str | None] = field(default_factory=dict)
