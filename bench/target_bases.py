"""What does each part of TargetSpace cost?  CPU seconds of its bases and its stack on real sets, beside the forecast.

    python bench/target_bases.py [SET[:ROWS] ...]  # sets of $PROXEMBED_DATA, or of the folder shared/data

Rows (three quarters if ROWS is missing) are drawn at random and scaled as the usual scaling of their features says;
one core, the least of three fits. Printed per set: seconds of each base with the forecast of `evaluate.costs`, of the
stack (joining the bases and placing the rows) with that of the neighbours, of ``transform`` of a third as many new
rows, and the floor of ridge and kernel: a Cholesky factor and its inverse by LAPACK.
"""

import os
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402
from scipy.linalg.lapack import dpotrf, dtrtri  # noqa: E402

from proxembed import TargetSpace  # noqa: E402
from proxembed.data import read  # noqa: E402
from proxembed.evaluate import costs  # noqa: E402
from proxembed.features.scaling import scaling_apply, scaling_kinds  # noqa: E402
from proxembed.features.table import features_fit  # noqa: E402
from proxembed.methods.out_of_fold import BASES, KERNEL_ROWS, PROTOTYPES  # noqa: E402

DATA = Path(os.environ.get("PROXEMBED_DATA", Path(__file__).parents[2] / "shared" / "data"))
SETS = "yeast:1200 satimage:3200 corel5k:2500 tmc2007-500:6000 reuters:2700 reuters:5200 reuters:7800".split()
REPEATS = 3
spent: Counter[str] = Counter()


def timed(name: str) -> None:
    """Have the CPU seconds of a base counted."""
    base = BASES[name]

    def learn(known: Any, sizes: Any) -> Any:
        started = time.process_time()
        found = base.learn(known, sizes)
        spent[name] += time.process_time() - started
        return found

    BASES[name] = replace(base, learn=learn)


def least(task: Any) -> tuple[float, Counter[str]]:
    """The least CPU seconds of a task, and those of the bases then."""
    found = []
    for _ in range(REPEATS):
        spent.clear()
        started = time.process_time()
        task()
        found.append((time.process_time() - started, Counter(spent)))
    return min(found, key=lambda each: each[0])


def floor_of(side: int) -> float:
    """Seconds of a Cholesky factor of this side and its inverse."""
    M = np.eye(side, order="F") + np.full((side, side), 1e-6, order="F")
    return least(lambda: dtrtri(dpotrf(M, lower=1)[0], lower=1))[0]


def line(name: str, n: int | None) -> None:
    """Print the parts of a fit on n rows of a set, or on three quarters of them."""
    data = read(DATA / f"{name}.npz")
    n = n or data.X.shape[0] * 3 // 4
    order = np.random.default_rng(0).permutation(data.X.shape[0])
    rows, new = np.sort(order[:n]), np.sort(order[n : n + n // 3])
    features = features_fit(scaling_kinds(data.X)[0], data.X[rows])
    X, labels = scaling_apply(features, data.X[rows]), data.targets.take(rows)
    shape, space = costs.shape_of(X, labels.c), TargetSpace(random_state=0)
    whole, bases = least(lambda: space.fit(X, labels))
    works = costs.target_works(space, shape)
    works["stack"] += works.pop("neighbors")
    took = {each: bases[each] for each in works if each != "stack"}
    took["stack"] = whole - sum(took.values())
    placed = least(lambda: space.transform(scaling_apply(features, data.X[new])))[0]
    parts = ", ".join(f"{each} {took[each]:.2f} (x {works[each] / took[each]:.2f})" for each in works)
    sides = [min(X.shape), n if n <= KERNEL_ROWS else PROTOTYPES]
    print(f"{name} {n}: {parts}, transform {placed:.2f}; floors {floor_of(sides[0]):.2f}, {floor_of(sides[1]):.2f}")


def main() -> None:
    for name in BASES:
        timed(name)
    print("CPU seconds (x forecast / measured); floors of ridge, kernel")
    for name, _, n in (each.partition(":") for each in sys.argv[1:] or SETS):
        line(name, int(n) if n else None)


if __name__ == "__main__":
    main()
