"""How good are embeddings of forest leaves on new rows, and what does a ridge of folds change?  (minutes)

    python bench/leaves.py [SET ...]      # emotions, birds, scene, yeast, enron without names; PROXEMBED_DATA has them

67 % of (at most 1,500) rows to train, for seeds 0 and 1. Leaves of all trees and out of bag with a ridge of 1, beside
the forest's own scores and label lookup (training rows at their labels, new rows at forest scores); leaves of all trees
with a ridge that three folds choose. Printed: mAP, J to training rows (cosine, Euclidean), J of new rows among
themselves (the same two), seconds; see held_out.py. The last lines are means over all runs.
"""

import os
import sys
import time
import warnings
from pathlib import Path

for threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(threads, "1")

import numpy as np  # noqa: E402

from held_out import (  # noqa: E402
    Figures,
    drawn,
    figures_of,
    nearest_jaccard,
    new_jaccard,
    score_precision,
)
from proxembed import ForestLeaves  # noqa: E402
from proxembed.evaluate.rivals.forests import ForestScores  # noqa: E402

MOST, TREES = 1500, 300
SETS, SEEDS = ("emotions", "birds", "scene", "yeast", "enron"), (0, 1)
METRICS = ("cosine", "euclidean")


def models(seed: int) -> dict:
    return {
        "all, ridge 1": ForestLeaves(random_state=seed),
        "out of bag, ridge 1": ForestLeaves(rows="oob", random_state=seed),
        "all, ridge of folds": ForestLeaves(ridge="folds", random_state=seed),
    }


def of_forest(rows, seed: int) -> dict[str, Figures]:
    """Forest scores with training rows out of bag, and with training rows at their labels."""
    forest = ForestScores(n_estimators=TREES, random_state=seed).fit(rows.X, rows.Y)
    S, S_new = forest.own_scores_ + 0.5, forest.decision_function(rows.X_new) + 0.5
    precision, new = score_precision(S_new, rows.Y_new), [new_jaccard(S_new, rows, metric) for metric in METRICS]
    places = {"forest scores": S, "label lookup": rows.Y.astype(float)}
    return {
        name: Figures(precision, *(nearest_jaccard(Z, S_new, rows, metric) for metric in METRICS), *new)
        for name, Z in places.items()
    }


def show(name: str, line: str, found, note: str = "") -> None:
    print(f"{name:11s} {line:22s} {'/'.join(f'{value:.3f}' for value in found)} {note}", flush=True)


def main() -> None:
    warnings.simplefilter("ignore")
    every: dict[str, list[Figures]] = {}
    for name in sys.argv[1:] or SETS:
        for seed in SEEDS:
            rows = drawn(Path(os.environ["PROXEMBED_DATA"]), name, MOST, seed)
            run = f"{name} {seed}"
            for line, found in of_forest(rows, seed).items():
                show(run, line, found)
                every.setdefault(line, []).append(found)
            for line, model in models(seed).items():
                started = time.perf_counter()
                found = figures_of(model, rows)
                show(run, line, found, f"{time.perf_counter() - started:5.1f} s ridge {model.prepared_.ridge:g}")
                every.setdefault(line, []).append(found)
    for line, runs in every.items():
        show("mean", line, np.mean(runs, axis=0))


if __name__ == "__main__":
    main()
