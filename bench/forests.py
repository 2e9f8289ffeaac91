"""What does a tree cost?  CPU seconds of growing one on rows of real sets, beside the forecast of `evaluate.costs`.

    python bench/forests.py [SET ...]     # sets of $PROXEMBED_DATA, or of the folder shared/data beside the checkout

Rows are drawn at random, scaled as the usual scaling of their features says; one core. Printed per set and number of
rows: milliseconds of a tree, and forecast / measured; at the end coefficients of non-negative least squares on the
relative error, of which `costs` has those of all sets, enlarged by a tenth.
"""

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402
from scipy.optimize import nnls  # noqa: E402

from proxembed.data import read  # noqa: E402
from proxembed.evaluate import costs  # noqa: E402
from proxembed.features.leaves import forest_targets, grown  # noqa: E402
from proxembed.features.scaling import scaling_apply, scaling_kinds  # noqa: E402
from proxembed.features.table import features_fit  # noqa: E402

DATA = Path(os.environ.get("PROXEMBED_DATA", Path(__file__).parents[2] / "shared" / "data"))
SETS = "emotions birds yeast scene enron dna satimage corel5k tmc2007-500 reuters".split()
ROWS, TREES = (150, 300, 450, 1000, 2000, 4000, 8000), 12


def measured(name: str) -> Iterator[tuple[costs.Shape, float]]:
    """The shape of some rows of a set, with the targets of its forest, and the seconds of a tree."""
    data = read(DATA / f"{name}.npz")
    order = np.random.default_rng(0).permutation(data.X.shape[0])
    for n in (n for n in ROWS if n <= 0.8 * len(order)):
        rows = np.sort(order[:n])
        X, labels = data.X[rows], data.targets.take(rows)
        X = scaling_apply(features_fit(scaling_kinds(X)[0], X), X)
        T = np.asarray(forest_targets(labels, labels.Y.toarray().astype(float)))
        started = time.process_time()
        grown(X, T, np.ones(n), n_estimators=TREES, min_samples_leaf=2, max_features="sqrt", random_state=0)
        yield costs.shape_of(X, T.shape[1]), (time.process_time() - started) / TREES


def terms(shape: costs.Shape) -> list[float]:
    """What each coefficient of a tree is multiplied with."""
    steps, entries = shape.n * np.log2(shape.n + 1), shape.w / np.sqrt(shape.d)
    return [1.0, steps * shape.c, steps * entries, steps * entries * shape.c]


def main() -> None:
    found = []
    for name in sys.argv[1:] or SETS:
        for shape, seconds in measured(name):
            found.append((terms(shape), seconds))
            ratio = costs.forest_seconds(shape, 1) / seconds
            print(f"{name:12s} {shape.n:5d} rows {1000 * seconds:8.2f} ms  forecast / measured {ratio:.2f}", flush=True)
    A, b = np.array([values for values, _ in found]), np.array([seconds for _, seconds in found])
    scale = A.max(axis=0)
    weights = nnls(A / b[:, None] / scale, np.ones(len(b)))[0] / scale
    named = zip(("TREE", "TREE_TARGET", "TREE_ENTRY", "TREE_BOTH"), weights, strict=True)
    print(" ".join(f"{name} {weight:.2g}" for name, weight in named))


if __name__ == "__main__":
    main()
