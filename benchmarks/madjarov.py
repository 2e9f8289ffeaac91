"""The read-outs of the package in the measures of a published comparison of multi-label classifiers. [madjarov2012]

``python -m benchmarks madjarov`` runs what is missing on the train and test files of Mulan, a stored line per set and
method, and writes the page. Every method is tuned inside the training rows as in the benchmark, at a larger budget.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import coverage_error, label_ranking_average_precision_score, label_ranking_loss
from threadpoolctl import threadpool_limits

import proxembed
from benchmarks import HOME, NAME, VERSION
from benchmarks import PAGE as RANKS
from benchmarks.cell import SEED, Effort, K, Task, choose, make_task
from benchmarks.entrants import entrant, words_of
from benchmarks.sets import SETS
from papers.markdown import DASH, table
from proxembed.evaluate.results import RIDGE
from proxembed.evaluate.run import Protocol
from proxembed.evaluate.scoring import lost, score
from proxembed.execute.atomic_files import write_whole
from proxembed.execute.budget import CpuSeconds
from proxembed.execute.ledger import Ledger
from proxembed.measures.measures import Measure, measure_of

LINES, PAGE = HOME / "madjarov.jsonl", RANKS.parent / "madjarov2012"
ON = ("emotions", "scene", "yeast", "enron", "corel5k", "tmc2007-500")
METHODS = (
    "all features", "logistic regression", "PCA", "OPLS", "CCA", "MDDM", "MESD(FDA)", "Kernelized(OPLS)", "TargetSpace",
    "Views(OPLS)", "ForestLeaves(OPLS)",
)  # fmt: skip
MOST_ROWS = {"Kernelized(OPLS)": 6000, "TargetSpace": 6000, "Views(OPLS)": 6000, "ForestLeaves(OPLS)": 4000}
EFFORT = Effort(3, 60.0, 240.0)


def one_error(Y: Any, S: Any) -> float:
    """Share of the rows that do not have the label of their largest score.

    Examples
    --------
    >>> import numpy as np
    >>> from benchmarks.madjarov import one_error
    >>> one_error(np.array([[1, 0], [1, 0]]), np.array([[0.9, 0.1], [0.2, 0.8]]))
    0.5
    """
    return float(1 - np.asarray(Y)[np.arange(len(Y)), np.argmax(S, axis=1)].mean())


def coverage(Y: Any, S: Any) -> float:
    """How many labels, beside the first, one goes down the list of a row by score until all of its labels are seen.

    Examples
    --------
    >>> import numpy as np
    >>> from benchmarks.madjarov import coverage
    >>> coverage(np.array([[1, 0, 0], [1, 0, 1]]), np.array([[0.9, 0.1, 0.3], [0.8, 0.5, 0.3]]))
    1.0
    """
    return float(coverage_error(Y, S) - 1)


def _rates(Y: Any, predicted: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """True positives, predicted and true cells of each label."""
    Y, predicted = np.asarray(Y, dtype=bool), np.asarray(predicted, dtype=bool)
    return (Y & predicted).sum(axis=0), predicted.sum(axis=0), Y.sum(axis=0)


def micro_precision(Y: Any, predicted: Any) -> float:
    """Share of the predicted cells that are true."""
    hits, said, _ = _rates(Y, predicted)
    return float(hits.sum() / max(said.sum(), 1))


def micro_recall(Y: Any, predicted: Any) -> float:
    """Share of the true cells that are predicted."""
    hits, _, true = _rates(Y, predicted)
    return float(hits.sum() / max(true.sum(), 1))


def macro_precision(Y: Any, predicted: Any) -> float:
    """Mean over labels of the share of the predicted rows that are true; 0 for a label that is never predicted."""
    hits, said, _ = _rates(Y, predicted)
    return float(np.mean(hits / np.maximum(said, 1)))


def macro_recall(Y: Any, predicted: Any) -> float:
    """Mean over labels of the share of the true rows that are predicted; 0 for a label without a true row."""
    hits, _, true = _rates(Y, predicted)
    return float(np.mean(hits / np.maximum(true, 1)))


def _loss(name: str, function: Callable[..., float], worst: float) -> Measure:
    return Measure(name, "scores", function, loss=True, worst=worst, best=0.0)


MEASURES = {  # heading -> measure, in the order of the page
    "Hamming loss": measure_of("Hamming loss"),
    "accuracy": measure_of("instance accuracy"),
    "precision": measure_of("instance precision"),
    "recall": measure_of("instance recall"),
    "F1": measure_of("instance F1"),
    "subset accuracy": measure_of("subset accuracy"),
    "micro precision": Measure("micro precision", "labels", micro_precision),
    "micro recall": Measure("micro recall", "labels", micro_recall),
    "micro F1": measure_of("micro F1"),
    "macro precision": Measure("macro precision", "labels", macro_precision),
    "macro recall": Measure("macro recall", "labels", macro_recall),
    "macro F1": measure_of("macro F1"),
    "one-error": _loss("one-error", one_error, 1.0),
    "coverage": _loss("coverage", coverage, np.inf),
    "ranking loss": _loss("ranking loss", label_ranking_loss, 1.0),
    "average precision": Measure("average precision of rows", "scores", label_ranking_average_precision_score),
}


def split_task(name: str, data: Path | None) -> Task:
    """The task of the train and test rows of a set, all rows and labels of it."""
    return make_task(replace(SETS[name].read(data), name=name))


def judge(method: str, task: Task, effort: Effort = EFFORT) -> dict[str, Any]:
    """One method: chosen inside the training rows, fitted to all of them, its scores and cut labels measured once.

    Returns
    -------
    dict
        ``train`` and ``test`` rows, ``k, parameters, tried``, the measures by heading, ``seconds`` (CPU), ``failure``,
        ``version`` of the package and of the ``benchmark``.
    """
    started, one = time.process_time(), entrant(method)
    estimator, k, tried = choose(one, task, effort)
    arm = replace(one.arm, estimator=estimator)
    options = {"n_neighbors": K, "seed": SEED, "contrasts": (), "keep_predictions": False}
    measures = Protocol((arm,), (k,), max_seconds=CpuSeconds(effort.last), **options).measures_of(arm)
    pairs = tuple((measure, RIDGE) for measure in MEASURES.values())
    measures = replace(measures, pairs=pairs, further=(), refits=True)
    found = score(arm, task.outer, measures).rows or lost(arm, task.outer, measures, "it gave no row").rows
    failure = found[0]["failure"]
    by_name = {row["measure"]: row["value"] for row in found}
    return {
        "train": task.outer.X.shape[0],
        "test": task.outer.X_held_out.shape[0],
        "k": k if one.tuned else None,
        "parameters": words_of(estimator),
        "tried": tried,
        **{head: None if failure else round(by_name[each.name], 6) for head, each in MEASURES.items()},
        "seconds": round(time.process_time() - started, 2),
        "failure": failure,
        "version": proxembed.__version__,
        "benchmark": VERSION,
    }


def taking_part(name: str, n_rows: int) -> tuple[str, ...]:
    """The methods of a set; some are left out of sets with many training rows."""
    return tuple(method for method in METHODS if n_rows <= MOST_ROWS.get(method, n_rows))


def execute(sets: Sequence[str], data: Path | None, lines: Path, echo: Callable[[str], Any]) -> None:
    """Run what is missing, a line per set and method stored as it is finished."""
    ledger = Ledger(lines).begin({"comparison": "madjarov2012"})
    try:
        with threadpool_limits(1, user_api="blas"):
            for name in sets:
                task = split_task(name, data)
                for method in taking_part(name, task.outer.X.shape[0]):
                    if ledger.find([name, method]) is None:
                        ledger.add([name, method], row := judge(method, task))
                        echo(f"{name} {method}: {row['seconds']:.1f} s, {row['failure'] or row['micro F1']}")
    finally:
        ledger.close()


def read(lines: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """(set, method) -> its stored values; empty without a file."""
    if not lines.is_file():
        return {}
    return {tuple(key): row for key, row in Ledger(lines).begin({"comparison": "madjarov2012"}).results}


def page(rows: Mapping[tuple[str, str], Mapping[str, Any]]) -> str:
    """The page: a table per measure, a row per method and a column per set; ``rows``: (set, method) -> its values."""
    sets = [name for name in ON if any(of == name for of, _ in rows)]
    tables = [line for head in MEASURES for line in _of(head, sets, rows)]
    return "\n".join([*_head(sets, rows), *_short(sets, rows), *tables])


def _short(sets: Sequence[str], rows: Mapping[tuple[str, str], Mapping[str, Any]]) -> list[str]:
    """In how many of the measures each method has the best value of a set."""
    counts = {method: [0] * len(sets) for method in METHODS}
    for place, name in enumerate(sets):
        for head in MEASURES:
            values = {method: _shown(rows.get((name, method), {}).get(head), head) for method in METHODS}
            best = _best(values.values(), head)
            for method, value in values.items():
                counts[method][place] += value is not None and value == best
    lines = [
        (method, *(str(each) if (name, method) in rows else DASH for each, name in zip(found, sets, strict=True)))
        for method, found in sorted(counts.items(), key=lambda item: -sum(item[1]))
    ]
    words = (
        f"In how many of the {len(MEASURES)} measures a method has the best value of the set, ties counted for each."
    )
    return ["## In short", "", words, "", table(("method", *sets), lines)]


def _head(sets: Sequence[str], rows: Mapping[tuple[str, str], Mapping[str, Any]]) -> list[str]:
    sizes = {name: (row["train"], row["test"]) for (name, _), row in rows.items()}
    effort, versions = EFFORT, ", ".join(sorted({row["version"] for row in rows.values()}))
    absent = [name for name in ON if name not in sets]
    left = "; ".join(f"{name} above {most:,} training rows" for name, most in MOST_ROWS.items())
    return [
        "# Beside a published comparison of multi-label classifiers",
        "",
        "Madjarov, Kocev, Gjorgjevikj and Džeroski (2012), *An extensive experimental comparison of methods for "
        "multi-label learning*, Pattern Recognition 45(9), 3084-3104 [madjarov2012], compare 12 classifiers by 16 "
        "measures on 11 sets. Six of the sets are judged here in the same 16 measures, with embeddings and read-outs "
        "of this package.",
        "",
        "**The values of the paper are not copied here**: its tables were not at hand when this page was made, and no "
        "value is quoted from memory. To compare, lay the tables of its section on results beside those below.",
        "",
        f"- Made by `python -m benchmarks madjarov` ({NAME} {VERSION}, proxembed {versions}); the lines are in "
        "`benchmarks/madjarov.jsonl`.",
        "- Training and test rows are those of Mulan's train and test files, all labels taking part: "
        f"{'; '.join(f'{name} {sizes[name][0]:,} / {sizes[name][1]:,}' for name in sets)}. That the paper has the same "
        "rows was not checked.",
        f"- A method has its defaults and two draws from its search ranges. The configuration and the number of "
        "components are those of the largest macro average precision on a quarter of the training rows (three folds of "
        f"them where they are few), within {effort.tuning:g} CPU seconds; the last fit has {effort.last:g}.",
        "- Scores are those of a ridge read-out of the components, or the method's own (TargetSpace, Views, "
        "ForestLeaves, logistic regression). Labels are cut where F1 is largest on training rows, by scores of models "
        "that have not seen them: that favours the F1 measures over Hamming loss and subset accuracy.",
        "- Accuracy, precision, recall, F1 and average precision without *micro* or *macro* are means over rows. Where "
        "a label is never predicted, or has no test row, its share in a macro measure is 0. Coverage counts labels "
        "beside the first.",
        f"- Left out: {left}.",
        *([f"- Not run yet: {', '.join(absent)}."] if absent else []),
        "",
    ]


def _of(head: str, sets: Sequence[str], rows: Mapping[tuple[str, str], Mapping[str, Any]]) -> list[str]:
    """The table of a measure, the best value of each set in bold."""
    columns = []
    for name in sets:
        values = {method: _shown(rows.get((name, method), {}).get(head), head) for method in METHODS}
        best = _best(values.values(), head)
        columns.append({method: _cell(value, best, head) for method, value in values.items()})
    lines = [(method, *(column[method] for column in columns)) for method in METHODS]
    loss = MEASURES[head].loss
    title = f"## {head[0].upper()}{head[1:]}, {'lower' if loss else 'higher'} is better"
    return [title, "", table(("method", *sets), lines)]


def _digits(head: str) -> int:
    return 2 if head == "coverage" else 3


def _shown(value: float | None, head: str) -> float | None:
    """A value as it is shown; None where there is none."""
    return None if value is None else round(value, _digits(head))


def _best(values: Iterable[float | None], head: str) -> float | None:
    """The best of the values as they are shown."""
    known = [value for value in values if value is not None]
    return (min if MEASURES[head].loss else max)(known, default=None)


def _cell(value: float | None, best: float | None, head: str) -> str:
    if value is None:
        return DASH
    text = f"{value:.{_digits(head)}f}"
    return f"**{text}**" if value == best else text


def write(lines: Path, out: Path) -> None:
    """Write the page of the stored lines."""
    out.mkdir(parents=True, exist_ok=True)
    write_whole({out / "README.md": page(read(lines)).encode()})
