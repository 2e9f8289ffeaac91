"""Compare the rivals of the README that a search left out for its budget, on the split of that search.

    python docs/results/search_rivals.py DATA [SET ...]

Writes search/rivals.csv. Rows, folds, sizes, scaling and read-outs are those of the search: all features are fitted
again, and their values must be equal to those in the record of the search. Sets that are in the file are skipped.
"""

from __future__ import annotations

import csv
import sys
from io import StringIO
from pathlib import Path
from typing import Any

from readme_tables import RIVALS, RIVALS_FILE, multi_label_records, stored_rivals

from proxembed.data import Dataset, read
from proxembed.evaluate.arms import ALL_FEATURES, entrants
from proxembed.evaluate.run import Protocol, run
from proxembed.evaluate.verdict import summarise
from proxembed.execute.atomic_files import write_whole
from proxembed.splits.splits import Splitting, standard_split
from proxembed.workflow.plan import drawn_part

MEASURES = ("macro average precision (ridge)", "Jaccard@10 (cosine kNN)")
COLUMNS = ("set", "arm", "k", "measure", "fold_mean", "test", "seconds")
ROUNDING = 1e-6  # between the values of all features here and in the search


def left_out(record: dict[str, Any]) -> list[str]:
    """The first arm of each rival of the README that the search has not compared."""
    compared = set(record["summary"]["protocol"]["arms"])
    return [arms[0] for arms in RIVALS.values() if not compared & set(arms)]


def compare_left_out(dataset: Dataset, record: dict[str, Any], names: list[str]) -> list[dict[str, Any]]:
    """The leaderboard of all features and these rivals on the rows and folds of a search."""
    done, sizes = record["summary"]["protocol"], record["summary"]["fold_sizes"]["test"]
    part = drawn_part(standard_split(dataset), sizes["train"], sizes["held_out"], done["seed"])
    known = entrants(dataset.X[part.train], dataset.targets.take(part.train), done["seed"], splits=done["n_folds"] + 1)
    protocol = Protocol(
        tuple(entrant.arm for entrant in known if entrant.arm.name in (ALL_FEATURES, *names)),
        tuple(done["sizes"]),
        splitting=Splitting(n_folds=done["n_folds"], seed=done["splitting"]["seed"]),
        standard=True,
        seed=done["seed"],
        decided=(ALL_FEATURES,),
        contrasts=(),
        train_rows=part.train,
        test_rows=part.held_out,
    )
    results = run(protocol, dataset, lambda done, total, text: print(f"  {done} of {total}: {text}", flush=True))
    return summarise(results, dataset)["leaderboard"]


def check_same_rows(found: list[dict[str, Any]], searched: list[dict[str, Any]]) -> None:
    """Exit with an error if the test values of all features differ from those of the search."""
    now, then = (next(each["scores"] for each in board if each["arm"] == ALL_FEATURES) for board in (found, searched))
    differ = {name: (then[name]["test"], now[name]["test"]) for name in MEASURES}
    differ = {name: values for name, values in differ.items() if abs(values[0] - values[1]) > ROUNDING}
    if differ:
        raise SystemExit(f"all features have other values on the test rows than in the search: {differ}")


def lines(name: str, board: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of the file for one set: a rival, a size and a measure each."""
    return [
        {"set": name, "arm": entry["arm"], "k": entry["k"] or "", "measure": measure}
        | {"fold_mean": f"{score['mean']:.6f}", "test": f"{score['test']:.6f}", "seconds": f"{entry['seconds']:.1f}"}
        for entry in board
        if entry["arm"] != ALL_FEATURES
        for measure, score in entry["scores"].items()
        if measure in MEASURES
    ]


def main(data: str, *sets: str) -> None:
    rows = stored_rivals()
    for name, record in multi_label_records().items():
        names = left_out(record)
        if not names or name in {row["set"] for row in rows} or (sets and name not in sets):
            continue
        print(f"{name}: {', '.join(names)}", flush=True)
        board = compare_left_out(read(Path(data) / f"{name}.npz"), record, names)
        check_same_rows(board, record["summary"]["leaderboard"])
        rows = sorted([*rows, *lines(name, board)], key=lambda row: row["set"])
        text = StringIO()
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        write_whole({RIVALS_FILE: text.getvalue().encode()})


if __name__ == "__main__":
    main(*sys.argv[1:])
