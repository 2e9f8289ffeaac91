"""Whether two trees of the repository give the same results: scores, choices and page data of six data sets.

`python tests/same_results.py OUT.json` runs the searches of this tree (minutes) and writes what they found, without
times and versions; `python tests/same_results.py A.json B.json` compares two such files and exits with 1 if they
differ. Run both under one OpenBLAS kernel (OPENBLAS_CORETYPE) with OPENBLAS_NUM_THREADS=1.
"""

import csv
import json
import os
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

DATA = Path(os.environ.get("PROXEMBED_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
MOST_ROWS = 600  # evenly spaced rows of larger sets, so that the whole takes minutes
RUNS = {  # name -> file and options of the search
    "emotions": ("emotions.arff", {"max_trials": 10, "shuffles": 19}),
    "birds": ("birds.npz", {"max_trials": 6, "shuffles": 0, "goal": "neighbours"}),
    "scene": ("scene.npz", {"max_trials": 6, "shuffles": 0}),
    "yeast": ("yeast.npz", {"max_trials": 6, "shuffles": 0, "goal": "map"}),
    "enron": ("enron.npz", {"max_trials": 4, "shuffles": 0}),
    "dna": ("dna.npz", {"max_trials": 8, "shuffles": 0, "measure": "macro AUC"}),
    "emotions by DEFC": ("emotions.npz", {"engine": "defc", "max_trials": 2, "shuffles": 0}),
}
TIMES = {"seconds", "query_seconds", "created", "versions", "data_hash", "command", "budget", "work", "id", "sum"}


def without_times(value):
    """The value without what differs from run to run, or between versions of the package."""
    if isinstance(value, dict):
        return {key: without_times(entry) for key, entry in value.items() if key not in TIMES}
    return [without_times(entry) for entry in value] if isinstance(value, list) else value


def arrays(path):
    with np.load(path) as stored:
        return {name: [repr(each) for each in stored[name].ravel().tolist()] for name in stored.files}


def findings(folder: Path) -> dict:
    """What a run folder holds: page data, leaderboard, embedding and predictions."""
    with (folder / "leaderboard.csv").open(newline="") as file:
        board = [{key: cell for key, cell in row.items() if key not in TIMES} for row in csv.DictReader(file)]
    return {
        "results": without_times(json.loads((folder / "results.json").read_text())),
        "leaderboard": board,
        "embedding": arrays(folder / "embedding.npz"),
        "predictions": arrays(folder / "predictions.npz") if (folder / "predictions.npz").is_file() else None,
    }


def run(name: str) -> dict:
    import proxembed
    from proxembed import data

    file, options = RUNS[name]
    dataset = data.read(DATA / file)
    rows = dataset.X.shape[0]
    if rows > MOST_ROWS:
        dataset = dataset.take(np.linspace(0, rows - 1, MOST_ROWS).round().astype(int))
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        proxembed.search(dataset, max_seconds=None, seed=0, folder=Path(folder) / "run", **options)
        return findings(Path(folder) / "run")


def differences(a, b, place="") -> list[str]:
    """Places at which two findings differ, with both values."""
    if isinstance(a, dict) and isinstance(b, dict):
        keys = [*a, *(key for key in b if key not in a)]
        return [line for key in keys for line in differences(a.get(key), b.get(key), f"{place}/{key}")]
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return [line for i, pair in enumerate(zip(a, b, strict=True)) for line in differences(*pair, f"{place}[{i}]")]
    return [] if a == b or (a != a and b != b) else [f"{place}: {str(a)[:100]} | {str(b)[:100]}"]


def main(paths: list[str]) -> int:
    if len(paths) == 2:
        lines = differences(*(json.loads(Path(path).read_text()) for path in paths))
        print("\n".join(lines[:100]), f"{len(lines)} differences", sep="\n")
        return int(bool(lines))
    found = {}
    for name in RUNS:
        found[name] = run(name)
        print(name, len(found[name]["leaderboard"]), "lines of the leaderboard", flush=True)
        Path(paths[0]).write_text(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
