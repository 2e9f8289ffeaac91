"""What a comparison found, as plain data: a row for each measure, and the scores of held-out rows."""

import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from proxembed.classify.score_products import FactoredScores
from proxembed.measures.measures import MEASURES, is_loss, is_near
from proxembed.measures.metrics import average_precision
from proxembed.targets.known import known_cells
from proxembed.targets.values import dense_labels

from .constant import Constant

RIDGE, NEIGHBORS = "ridge", "cosine kNN"
NEAREST = "kNN"  # of numbers: by distance or by cosine
TEST = "test"
FEW_LABELS = 3  # whose decisions are named label by label
SAME_ROWS = "the same rows for every query"


def measure_name(measure: str, readout: str) -> str:
    """Name a measure with its read-out, as in tables and file columns."""
    return f"{measure} ({readout})"


def name_parts(name: str) -> tuple[str, str]:
    """The measure and the read-out of which ``measure_name`` made a name."""
    measure, _, readout = name.removesuffix(")").rpartition(" (")
    return measure, readout


def sign_of(name: str) -> float:
    """1, or -1 where less is better, of a measure with its read-out."""
    return -1.0 if is_loss(name_parts(name)[0]) else 1.0


def best_of(name: str) -> float:
    """The best value of a measure with its read-out; inf of a user's function, which may have no bound."""
    measure, _ = name_parts(name)
    return MEASURES[measure].best if measure in MEASURES else 1.0 if is_near(measure) else np.inf


def reason_of(error: Exception) -> str:
    """What went wrong, in one line, as ``failure`` holds it."""
    return " ".join(f"{type(error).__name__}: {error}".split())


def without_numbers(text: str) -> str:
    """A text with every number as 0: what texts of one kind have in common."""
    return re.sub(r"\d[\d.,e+-]*", "0", text)


def merged_notes(notes: Sequence[str]) -> list[str]:
    """Notes ("arm: text") in one line where they differ only in the arm and in numbers; the last one is shown."""
    kinds: dict[str, tuple[dict[str, None], str]] = {}
    for note in notes:
        arm, _, text = note.partition(": ")
        own = text.removeprefix(arm.partition("(")[0] + " ")
        arms = kinds.get(kind := without_numbers(own), ({}, ""))[0] | {arm: None}
        kinds[kind] = arms, own if len(arms) > 1 else text
    return [f"{', '.join(arms)}: {text}" for arms, text in kinds.values()]


Kept = np.ndarray | FactoredScores
Key = tuple[str, int | None]
ByKey = dict[tuple[str, int | None, str], Any]  # by arm, k and part


@dataclass(kw_only=True)
class KeptByKey:
    """What is kept of the held-out rows of each arm, number of components and part."""

    predictions: ByKey = field(default_factory=dict)
    similarity: ByKey = field(default_factory=dict)
    new_similarity: ByKey = field(default_factory=dict)
    hubs: ByKey = field(default_factory=dict)
    queries: ByKey = field(default_factory=dict)
    kept: ByKey = field(default_factory=dict)  # of the neighbours in X, by maps
    exchanged: ByKey = field(default_factory=dict)  # see ``exchange_score``
    exchanged_alone: ByKey = field(default_factory=dict)  # the same of test rows without a copy
    decisions: ByKey = field(default_factory=dict)  # see ``decided_counts``


BY_KEY = tuple(each.name for each in fields(KeptByKey))
BY_FOLD = "folds", "scalings", "held_out", "constants", "same_rows", "truths"


@dataclass
class Results(KeptByKey):
    """What a comparison found, as plain data."""

    dataset: dict[str, Any]
    protocol: dict[str, Any]
    rows: list[dict[str, Any]] = field(default_factory=list)
    folds: dict[str, dict[str, Any]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    preprocessing: str = ""
    scalings: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    interrupted: bool = False
    held_out: dict[str, np.ndarray] = field(default_factory=dict)
    measure: Any = None
    few: dict[str, str | None] = field(default_factory=dict)
    constants: dict[str, Constant] = field(default_factory=dict)  # by fold, in the measure of predictions
    same_rows: dict[str, float] = field(default_factory=dict)  # by fold, in the measure of neighbours
    arms: tuple[Any, ...] = ()  # what took part
    truths: dict[str, Any] = field(default_factory=dict)  # by fold the cells of outputs, as their training rows scale
    repeats: list[list[str]] = field(default_factory=list)  # folds in which the choice was made anew, by repeat


def renamed(results: Results, names: Mapping[Key, Key]) -> Results:
    """The results of arms and sizes under other names, of each new one the present one; all others are left out."""
    by_arm: dict[Key, list[dict[str, Any]]] = {}
    for row in results.rows:
        by_arm.setdefault((row["arm"], row["k"]), []).append(row)
    rows = [{**row, "arm": arm, "k": k} for (arm, k), old in names.items() for row in by_arm.get(old, ())]
    found = replace(results, rows=rows)
    triples = [(new, old, fold) for new, old in names.items() for fold in results.held_out]
    for name in BY_KEY:
        kept = getattr(results, name)
        own = {(*new, fold): kept[*old, fold] for new, old, fold in triples if (*old, fold) in kept}
        setattr(found, name, own | {key: value for key, value in kept.items() if key[0] == SAME_ROWS})
    return found


def joined(parts: Sequence[Results]) -> Results:
    """The results of several folds, of the arms and sizes that all of them have."""
    common = set.intersection(*({(row["arm"], row["k"]) for row in part.rows} for part in parts))
    rows = [row for part in parts for row in part.rows if (row["arm"], row["k"]) in common]
    found = replace(parts[0], rows=rows, seconds=sum(part.seconds for part in parts), few={})
    for name in (*BY_KEY, *BY_FOLD):
        setattr(found, name, {key: value for part in parts for key, value in getattr(part, name).items()})
    found.notes = [*dict.fromkeys(note for part in parts for note in part.notes)]
    found.preprocessing = Counter(part.preprocessing for part in parts).most_common(1)[0][0]
    found.protocol = {**parts[0].protocol, "arms": [*dict.fromkeys(row["arm"] for row in rows)]}
    found.interrupted = any(part.interrupted for part in parts)
    return found


def predictions_npz(results: Results) -> bytes:
    """The scores of test rows as the content of an .npz of plain arrays; of all folds where no test rows were scored.
    Of many labels they are the product of ``scores_i_rows`` and ``scores_i_coef``, plus ``scores_i_intercept``."""
    folds = [TEST] if TEST in results.folds else list(results.held_out)
    keys = [key for key in results.predictions if key[2] in folds]
    arrays = {
        "arm": np.array([arm for arm, _, _ in keys], dtype=str),
        "k": np.array([-1 if k is None else k for _, k, _ in keys], dtype=np.int64),
        "fold": np.array([fold for _, _, fold in keys], dtype=str),
    }
    for i, key in enumerate(keys):
        found = results.predictions[key]
        parts = found.arrays if isinstance(found, FactoredScores) else {"": found}
        arrays |= {f"scores_{i}" + f"_{name}" * bool(name): part for name, part in parts.items()}
    for name in ("similarity", "new_similarity"):
        kept = getattr(results, name)
        arrays |= {f"{name}_{i}": kept[key] for i, key in enumerate(keys) if key in kept}
    for fold in folds:
        arrays[f"rows_{fold}"] = results.held_out[fold]
        if (SAME_ROWS, None, fold) in results.similarity:
            arrays[f"same_rows_{fold}"] = results.similarity[SAME_ROWS, None, fold]
    out = io.BytesIO()
    named: dict[str, Any] = arrays
    factored = any(isinstance(results.predictions[key], FactoredScores) for key in keys)
    (np.savez if factored else np.savez_compressed)(out, **named)  # numbers of factors are as good as drawn at random
    return out.getvalue()


def label_precisions(
    results: Results,
    Y: Any,
    arm: str,
    k: int | None,
    folds: Sequence[str] | None = None,
    unknown: Any = None,
    weights: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Average precision of each label at one arm and k, averaged over folds, and the number of folds.
    ``weights``: how often each row counts; None: once."""
    Y, each = sp.csr_array(Y), []
    for fold in [fold for fold in results.folds if fold != TEST] if folds is None else folds:
        truth = dense_labels(Y[results.held_out[fold]])
        S = results.predictions.get((arm, k, fold))
        worst = np.where(truth.any(axis=0), 0.0, np.nan)
        cells = known_cells(unknown, results.held_out[fold])
        own = None if weights is None else weights[results.held_out[fold]]
        each.append(worst if S is None else average_precision(truth, np.asarray(S), cells, own))
    table = np.array(each).reshape(-1, Y.shape[1])
    known = np.isfinite(table).sum(axis=0)
    return np.where(known, np.nansum(table, axis=0) / np.maximum(known, 1), np.nan), known
