"""What do neighbours cost where training rows tie by the thousand, as in lookups of the labels of classes?

    python bench/ties.py [--quick]

4,000 rows of predicted shares look for their ten nearest of 11,250 and of 22,500 training rows, which stand at seven
classes, and 4,000 normal rows for those of as many normal rows, which do not tie. The rival is scikit-learn's
NearestNeighbors ("brute", cosine), which takes the first ten of the rows that tie. CPU seconds of one thread, the least
of the repeats.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from measure import arguments, fix_threads, show

QUERIES, ROWS, CLASSES = 4000, 22_500, 7


def least(task: Callable[[], Any], repeats: int) -> float:
    """The least CPU seconds of repeated calls."""
    found = []
    for _ in range(repeats):
        started = time.process_time()
        task()
        found.append(time.process_time() - started)
    return min(found)


def main() -> None:
    options = arguments(__doc__.partition("\n")[0]).parse_args()
    fix_threads(1)
    import numpy as np
    from sklearn.neighbors import NearestNeighbors

    from proxembed.measures import neighbor_weights

    m, n, repeats = (200, 1000, 1) if options.quick else (QUERIES, ROWS, options.repeats)
    rng, rows = np.random.default_rng(0), []
    sides = {
        "lookups of classes": lambda n: (rng.random((m, CLASSES)), np.eye(CLASSES)[rng.integers(0, CLASSES, n)]),
        "no ties": lambda n: (rng.normal(size=(m, CLASSES)), rng.normal(size=(n, CLASSES))),
    }
    for name, size in ((name, size) for name in sides for size in (n // 2, n)):
        Q, Z = sides[name](size)
        other = NearestNeighbors(n_neighbors=10, algorithm="brute", metric="cosine").fit(Z)
        ours, theirs = least(partial(neighbor_weights, Q, Z), repeats), least(partial(other.kneighbors, Q), repeats)
        rows.append([name, size, ours, theirs, ours / theirs])
    show("Ten nearest rows", ["training rows", "rows", "CPU s", "scikit-learn, CPU s", "ratio"], rows)


if __name__ == "__main__":
    main()
