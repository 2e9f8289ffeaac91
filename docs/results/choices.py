"""Does `proxembed search` choose well? What it chooses and what each fixed arm has, on held-out rows of ten sets.

``choices.py run`` appends lines to search/choices.jsonl and writes the page (``choices_page.py``); lines that are there
are kept, so that a run that was stopped goes on. A quarter of the rows is held out by the seed of the split. One line
per set and split has all anchors of the search at a fixed size, and rivals ("arms"); one per set, split, goal and
budget has what a search of this budget chose and compared. The budget is counted work, so that load does not count.
``choices.py page`` writes the page alone.
"""

import argparse
import json
import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

import proxembed
from proxembed.data import read
from proxembed.estimator.catalogue import method_named, title_of
from proxembed.evaluate.arms import embedding_arm, entrants
from proxembed.evaluate.part import prepare
from proxembed.evaluate.scoring import Measures, score
from proxembed.measures.measures import measure_of
from proxembed.study.candidates import ANCHORS, suited
from proxembed.study.method_strategies import Auto
from proxembed.workflow.labelled_data import with_test_rows

FOLDER = Path(__file__).parent / "search"
LINES = FOLDER / "choices.jsonl"
SETS = "emotions birds yeast scene dna enron satimage reuters tmc2007-500 corel5k".split()
READ = {"predict": ("macro average precision", "ridge"), "neighbours": ("Jaccard@10", "cosine kNN")}
GOALS = {goal: f"{measure} ({readout})" for goal, (measure, readout) in READ.items()}
ARMS = "arms"  # in place of a goal: what the fixed arms have
BUDGETS = (150.0, 450.0)
CURVE_SETS, CURVE_BUDGETS = ("emotions", "birds", "yeast"), (15.0, 30.0, 60.0, 120.0)  # and those above
RIVALS = ("all features", "logistic regression", "forest scores")  # the last one with its lookup of labels
MOST_COMPONENTS = 30


def held_out_data(folder: Path, name: str, split: int) -> tuple[Any, Any]:
    """A data set without its own split, and its training and held-out rows."""
    return with_test_rows(replace(read(folder / f"{name}.npz"), train_idx=None, test_idx=None), split)


def run_search(folder: Path, name: str, split: int, goal: str, work: float) -> dict:
    """One search: what was chosen and what its leaders have on the held-out rows.

    The winners that the portfolio has of this set are left out: held-out rows were among those that chose them.
    """
    Auto.without = (name,)
    data, parts = held_out_data(folder, name, split)
    started = time.process_time()
    found = proxembed.search(data, goal=goal, max_work=work, max_seconds=None, seed=split)
    summary = found.record["summary"]
    chosen = summary.get("saved") or {key: summary["verdict"]["goals"][goal][key] for key in ("arm", "k")}
    return {
        **{"set": name, "split": split, "goal": goal, "work": work, "rows": len(parts.train)},
        "held_out": len(parts.held_out),
        "cpu": round(time.process_time() - started, 1),
        "trials": len(found.record["search"]["trials"]),
        "chosen": {key: chosen[key] for key in ("arm", "k")},
        "arms": leaders(summary, GOALS[goal]),
    }


def leaders(summary: dict, measure: str) -> list[dict]:
    """The entries of a leaderboard that have a measure: its mean over the folds and its value on the held-out rows."""
    return [
        {
            **{key: entry[key] for key in ("arm", "k", "rival")},
            "folds": entry["scores"][measure]["mean"],
            "test": entry["scores"][measure]["test"],
        }
        for entry in summary["leaderboard"]
        if measure in entry["scores"]
    ]


def run_arms(folder: Path, name: str, split: int) -> dict:
    """All anchors at min(labels, 30) components, and rivals, fitted on the training rows and read out as a leaderboard
    is."""
    data, parts = held_out_data(folder, name, split)
    part, k = prepare(data, parts, split), min(data.Y.shape[1], MOST_COMPONENTS)
    measures = Measures(tuple((measure_of(measure), readout) for measure, readout in READ.values()), (k,))
    methods = (suited(method_named(anchor), len(parts.train), split) for anchor in ANCHORS)
    rivals = entrants(data.X[parts.train], data.targets.take(parts.train), split, n_rows=len(parts.train))
    arms = [embedding_arm(title_of(method), method) for method in methods]
    found: dict[str, list[dict]] = {goal: [] for goal in GOALS}
    for arm in (*arms, *(each.arm for each in rivals if each.arm.name in RIVALS)):
        started = time.process_time()
        scores = score(arm, part, measures)
        cpu = round(time.process_time() - started, 1)
        for row in scores.rows:
            goal = next(goal for goal, read_out in READ.items() if read_out == (row["measure"], row["readout"]))
            value = None if row["failure"] else row["value"]
            found[goal].append({"arm": row["arm"], "k": row["k"], "rival": row["rival"], "test": value, "cpu": cpu})
    rows = {"rows": len(parts.train), "held_out": len(parts.held_out)}
    return {"set": name, "split": split, "goal": ARMS, "work": None, **rows, "arms": found}


def wanted(sets: list[str], splits: int, budgets: tuple[float, ...]) -> Iterator[tuple[str, int, str, float | None]]:
    """Set, split, goal and budget of all lines, in the order in which they are made."""
    low, *high = sorted(budgets)
    for split in range(splits):
        yield from ((name, split, ARMS, None) for name in sets)
        yield from ((name, split, goal, low) for name in sets for goal in GOALS)
        curves = [name for name in sets if name in CURVE_SETS]
        yield from ((name, split, goal, work) for name in curves for work in CURVE_BUDGETS for goal in GOALS)
        yield from ((name, split, goal, work) for work in high for name in sets for goal in GOALS)


def key_of(line: dict) -> tuple[str, int, str, float | None]:
    """What tells a line from others."""
    return line["set"], line["split"], line["goal"], line["work"]


def known_lines() -> list[dict]:
    """The lines that are there."""
    return [json.loads(line) for line in LINES.read_text().splitlines()] if LINES.exists() else []


def run_line(folder: Path, name: str, split: int, goal: str, work: float | None) -> dict:
    """One line, with the commit of the code that made it."""
    line = run_arms(folder, name, split) if work is None else run_search(folder, name, split, goal, work)
    return {**line, "commit": commit()}


def commit() -> str:
    """The last commit that changed the package, with a plus if it was changed since."""
    package = ["--", Path(proxembed.__file__).parent]
    last = ["git", "log", "-1", "--abbrev=8", "--format=%h", *package]
    found = subprocess.run(last, cwd=FOLDER, capture_output=True, text=True, check=True).stdout.strip()
    changed = subprocess.run(["git", "diff", "--quiet", *package], cwd=FOLDER, check=False).returncode
    return found + ("+" if changed else "")


def main() -> None:
    from choices_page import write_page

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("do", choices=("run", "page"))
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--budgets", default=",".join(f"{work:g}" for work in BUDGETS), help="units of work")
    parser.add_argument("--goals", default=",".join((ARMS, *GOALS)), help=f"{ARMS} for the fixed arms")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if options.do == "run":
        folder = Path(os.environ.get("PROXEMBED_DATA", "../shared/data"))
        done = {key_of(line) for line in known_lines()}
        budgets = tuple(float(work) for work in options.budgets.split(","))
        asked = wanted(options.sets.split(","), options.splits, budgets)
        keys = [key for key in asked if key not in done and key[2] in options.goals.split(",")]
        tasks = (delayed(run_line)(folder, *key) for key in keys)
        for line in Parallel(n_jobs=options.jobs, return_as="generator_unordered")(tasks):
            with LINES.open("a") as lines:
                lines.write(json.dumps(line) + "\n")
            print(time.strftime("%H:%M:%S"), *key_of(line), line.get("chosen", ""), line.get("cpu", ""), flush=True)
    write_page(known_lines())


if __name__ == "__main__":
    main()
