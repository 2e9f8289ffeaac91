"""What a verdict promises, on drawn data: false alarms of shuffled labels and of every goal, and covered intervals.

    python bench/verdicts.py            all runs that docs/results/verdicts.jsonl lacks, and the tables
    python bench/verdicts.py --quick    two runs of each part, in a temporary file

Shuffles: a diagnosis of OPLS with 19 shuffles, 100 times per situation, at the 5 % level. The labels of four situations
are independent of the features, while rows of a group, or near in time, are like each other; a valid test passes
between 1 and 11 of 100 of them, but for one in a hundred. In the fifth, labels depend on the features.

Searches: 40 searches with labels shuffled among all rows; each goal may be *better* in 3 of them at most.

Intervals: 120 searches on 300 training and 100 test rows. The truth of a gain is that of the same models on 3,000 other
rows; the 95 % interval of each goal must hold it in at least 108.

The seeds of all runs follow from their numbers below. A run that is interrupted goes on where it stopped.
"""

from __future__ import annotations

import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from measure import arguments, fix_threads, show

FILE = Path(__file__).parents[1] / "docs" / "results" / "verdicts.jsonl"
RUNS = {"shuffles": 100, "searches": 40, "intervals": 120}
FIRST_SEED = {"shuffles": 10_000, "searches": 20_000, "intervals": 40_000}
SITUATIONS = ("30 groups of 10", "100 groups of 3", "300 rows in time", "300 rows", "30 groups of 10, related")
ALARMS, FOUND = (1, 11), 80  # of 100
BETTER_AT_MOST, COVERED_AT_LEAST = 3, 108
FEATURES, TRAIN, TEST_ROWS, OTHERS = 20, 300, 100, 3000
SEARCH = {"max_seconds": None, "max_trials": 8, "shuffles": 0, "n_jobs": 1}


def situation(name: str, seed: int) -> tuple[Any, Any, dict[str, Any]]:
    """Features, labels and the groups or times of 300 rows."""
    import numpy as np
    from scipy.signal import lfilter

    rng = np.random.default_rng(seed)
    if name == "300 rows":
        return rng.normal(size=(300, FEATURES)), rng.random((300, 2)) < 0.5, {}
    if name == "300 rows in time":
        both = lfilter([1], [1, -0.95], rng.normal(size=(500, FEATURES + 2)), axis=0)[200:]
        return both[:, :FEATURES], both[:, FEATURES:] > 0, {"times": np.arange(300.0)}
    count = int(name.split()[0])
    groups = np.repeat(np.arange(count), 300 // count)
    X = rng.normal(size=(count, FEATURES))[groups] + rng.normal(size=(300, FEATURES))
    if name.endswith("related"):
        return X, X[:, :2] + 0.5 * rng.normal(size=(300, 2)) > 0, {"groups": groups}
    return X, (rng.random((count, 2)) < 0.5)[groups], {"groups": groups}


def shuffled(name: str, seed: int) -> dict[str, Any]:
    """Whether the labels of a situation pass as better than shuffled ones, and by shuffles of single rows."""
    from proxembed import OPLS, diagnose

    X, Y, units = situation(name, seed)
    run = {"n_shuffles": 19, "n_resamples": 1, "seed": seed}
    found = diagnose(OPLS(), X, Y.astype(int), **run, **units)
    alone = found if not units else diagnose(OPLS(), X, Y.astype(int), **run)
    return {"passed": found.passed, "rows": alone.passed}


def planted(seed: int, rows: int) -> tuple[Any, Any]:
    """Features and eight labels of 3 to 40 % of the rows, which depend on four directions."""
    import numpy as np

    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, FEATURES)) @ np.diag(np.geomspace(2, 0.5, FEATURES))
    scores = X @ rng.normal(size=(FEATURES, 4)) @ rng.normal(size=(4, 8))
    scores += scores.std(axis=0) * rng.normal(size=scores.shape)
    ranks = scores.argsort(axis=0).argsort(axis=0) / rows
    return X, (ranks >= 1 - np.geomspace(0.03, 0.4, 8)).astype(int)


def searched(_: str, seed: int) -> dict[str, Any]:
    """The word of each goal of a search on shuffled labels."""
    import numpy as np

    import proxembed

    X, Y = planted(seed, TRAIN + TEST_ROWS)
    Y = Y[np.random.default_rng(seed + 1).permutation(len(Y))]
    found = proxembed.search(X, Y, seed=seed, max_work=8.0, **SEARCH)
    return {name: goal["word"] for name, goal in found.verdict["goals"].items()}


def covered(_: str, seed: int) -> dict[str, Any]:
    """For each goal the gain and interval on 100 test rows, and the gain on 3,000 other ones."""
    import numpy as np

    import proxembed
    from proxembed.evaluate import verdict
    from proxembed.evaluate.results import TEST

    X, Y = planted(seed, TRAIN + TEST_ROWS + OTHERS)
    found = proxembed.search(X, Y, seed=seed, test=np.arange(TRAIN, len(X)), max_work=20.0, **SEARCH)
    results, entries = found.results, found.record["summary"]["leaderboard"]
    parts = np.arange(TEST_ROWS), np.arange(TEST_ROWS, TEST_ROWS + OTHERS)
    few, many = (verdict.TestGains(_of_rows(results, rows), found.dataset) for rows in parts)
    ours = [entry for entry in entries if not entry["rival"] and entry["components"]]
    raw = [entry for entry in entries if entry["arm"] == verdict.ALL_FEATURES]
    flat, rivals = (
        [entry for entry in entries if entry["k"] == 2 and entry["rival"] is rival] for rival in (False, True)
    )
    names = found.record["summary"]["measures"]
    sides = {
        "predict": (ours, raw, verdict.predict_measure(names)),
        "neighbours": (ours, raw, verdict.neighbor_measure(names)),
        "map": (flat, rivals, verdict.neighbor_measure(names)),
    }
    out = {}
    for goal, side in sides.items():
        drawn, truth = few.versus(*side), many.versus(*side)
        out[goal] = {"gain": drawn["gain"], "interval": drawn["interval"], "truth": truth["gain"]}
    assert TEST in results.folds
    return out


def _of_rows(results: Any, rows: Any) -> Any:
    """The results of some of the test rows."""
    from proxembed.evaluate.results import TEST

    kept = {
        name: {key: value[rows] for key, value in getattr(results, name).items() if key[2] == TEST}
        for name in ("predictions", "similarity")
    }
    return replace(results, **kept, new_similarity={}, held_out={TEST: results.held_out[TEST][rows]}, few={})


PARTS: dict[str, tuple[Callable[[str, int], dict[str, Any]], tuple[str, ...]]] = {
    "shuffles": (shuffled, SITUATIONS),
    "searches": (searched, ("shuffled labels",)),
    "intervals": (covered, ("planted labels",)),
}


def work(ledger: Any, part: str, kind: int, number: int) -> None:
    """Do one run and add what it found."""
    function, kinds = PARTS[part]
    seed = FIRST_SEED[part] + 1000 * kind + number
    ledger.add([part, kinds[kind], number], function(kinds[kind], seed))


def tables(found: dict[tuple[str, str], list[dict[str, Any]]]) -> None:
    """Print what was found and whether it is as promised."""
    rows = []
    for name in SITUATIONS:
        runs = found["shuffles", name]
        passed = sum(each["passed"] for each in runs)
        low, high = (FOUND, 100) if name.endswith("related") else ALARMS
        alone = sum(each["rows"] for each in runs)
        rows.append([name, len(runs), passed, f"{low} to {high}", low <= passed <= high, alone])
    columns = ["situation", "runs", "better", "promised", "kept", "better by shuffles of rows"]
    show("Better than shuffled labels", columns, rows)
    runs = found["searches", "shuffled labels"]
    goals = sorted({goal for each in runs for goal in each})
    better = {goal: sum(each.get(goal) == "better" for each in runs) for goal in goals}
    rows = [[goal, len(runs), count, BETTER_AT_MOST, count <= BETTER_AT_MOST] for goal, count in better.items()]
    show("Searches on shuffled labels", ["goal", "runs", "better", "at most", "kept"], rows)
    runs, rows = found["intervals", "planted labels"], []
    for goal in ("predict", "neighbours", "map"):
        each = [run[goal] for run in runs if run[goal]["interval"]]
        held = sum(one["interval"][0] <= one["truth"] <= one["interval"][1] for one in each)
        rows.append([goal, len(each), held, COVERED_AT_LEAST, held >= COVERED_AT_LEAST])
    show("Intervals that hold the truth", ["goal", "runs", "held", "at least", "kept"], rows)


def main() -> None:
    parser = arguments(__doc__.partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=2, help="processes, of one thread each")
    parser.add_argument("--part", choices=PARTS, help="only this part")
    options = parser.parse_args()
    fix_threads(1)
    from joblib import Parallel, delayed

    from proxembed.execute.ledger import Ledger

    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder) / FILE.name if options.quick else FILE).begin({"benchmark": "verdicts"})
        parts = [options.part] if options.part else list(PARTS)
        tasks = [
            (part, kind, number)
            for part in parts
            for number in range(2 if options.quick else RUNS[part])
            for kind in range(len(PARTS[part][1]))
            if ledger.find([part, PARTS[part][1][kind], number]) is None
        ]
        print(f"{len(tasks)} runs to do", file=sys.stderr)
        Parallel(n_jobs=options.jobs, verbose=5)(delayed(work)(ledger, *task) for task in tasks)
        found = defaultdict(list)
        for (part, kind, _), result in Ledger(ledger.path).begin({"benchmark": "verdicts"}).results:
            found[part, kind].append(result)
        tables(found)


if __name__ == "__main__":
    main()
