"""Methods on neighbour graphs at 10^5 rows and more: whole fits against their own neighbour searches.

Rows of 50 float32 features in twenty clusters of ten intrinsic dimensions (--rows; the goal is set for 1,000,000).
Labels: ten classes, each of two clusters, 5 % of the rows with another class; MOPE and propagation have three more
labels, and propagation knows all of 2 % of the rows. Every contender runs in a process of its own; the rival is what
the same fit spends in its searches of neighbours, the sample of their recall included, once the library is compiled.
Memory is the peak resident size of that process, data and libraries included.
"""

import argparse
import json
import resource
import sys
import tempfile
import time
from pathlib import Path

from measure import arguments, chosen, fit_arguments, fix_threads, own_process, show, within

FEATURES, CLUSTERS, INTRINSIC, CLASSES, K = 50, 20, 10, 10, 10
WARMING = 3_000  # rows that are searched first: pynndescent compiles itself in every process
RATIO_LIMIT, MEMORY_LIMIT = 1.3, 8.0
NAMES = ("LPP", "OLPP", "NPP", "LFDA", "MFA", "MOPE", "LaplacianEigenmaps", "MLLGC", "MLGFHF")


def save_rows(n: int, folder: Path) -> None:
    """The rows, their classes and their label sets as files."""
    import numpy as np

    rng = np.random.default_rng(0)
    centres = 3.0 * rng.standard_normal((CLUSTERS, FEATURES))
    bases = rng.standard_normal((CLUSTERS, INTRINSIC, FEATURES))
    cluster = rng.integers(0, CLUSTERS, n)
    X = rng.standard_normal((n, FEATURES)).astype(np.float32) / 10
    for c in range(CLUSTERS):
        own = np.flatnonzero(cluster == c)
        X[own] += (centres[c] + rng.standard_normal((len(own), INTRINSIC)) @ bases[c]).astype(np.float32)
    y = np.where(rng.random(n) < 0.05, rng.integers(0, CLASSES, n), cluster % CLASSES)
    Y = np.column_stack([y[:, None] == np.arange(CLASSES), X[:, :3] > X[:, :3].mean(axis=0)])
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    np.save(folder / "Y.npy", Y.astype(np.float32))


def estimator(name: str, algorithm: str):
    """The method with K neighbours; two components, and LFDA with affinities of near rows alone."""
    import proxembed

    options = {
        "LFDA": {"n_links": K},
        "MFA": {"n_friends": K, "pairs": "point"},
        "MOPE": {"weights": "gaussian", "n_links": K, "n_neighbors": K},
    }.get(name, {"n_neighbors": K})
    if not name.startswith("ML"):
        options["n_components"] = 2
    return getattr(proxembed, name)(algorithm=algorithm, **options)


def one_fit(folder: Path, name: str, algorithm: str) -> None:
    """Fit in this process and print what was measured, as one line of JSON."""
    import numpy as np

    from proxembed.proximity import backends, labelled
    from proxembed.proximity.backends import settled

    X = np.load(folder / "X.npy")
    y: np.ndarray | None = np.load(folder / ("Y.npy" if name in ("MOPE", "MLLGC", "MLGFHF") else "y.npy"))
    if name.startswith("ML"):
        y[np.random.default_rng(1).random(len(y)) > 0.02] = np.nan
    library = settled(X, len(X), K, "euclidean", algorithm)
    if library != "exact":
        backends.nearest(X[:WARMING], K, algorithm=library)
    searches = []
    for module, part in ((backends, "approximate_nearest"), (backends, "exact_nearest"), (labelled._Search, "lists")):
        setattr(module, part, timed(getattr(module, part), searches))
    start = time.perf_counter(), time.process_time()
    fitted = estimator(name, algorithm).fit(X, y)
    found = {"seconds": time.perf_counter() - start[0], "processor": time.process_time() - start[1]}
    found["search"], found["search_processor"] = (sum(column) for column in zip(*searches, strict=True))
    found |= {"algorithm": fitted.algorithm_, "recall": fitted.recall_ or 1.0}
    found["gigabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    print(json.dumps(found))


def timed(search, spent: list):
    """The search, adding its wall-clock and processor seconds; one inside another counts once."""
    inside = []

    def measured(*given, **options):
        start = time.perf_counter(), time.process_time()
        inside.append(1)
        try:
            return search(*given, **options)
        finally:
            inside.pop()
            if not inside:
                spent.append((time.perf_counter() - start[0], time.process_time() - start[1]))

    return measured


def options() -> argparse.Namespace:
    parser = arguments(__doc__.partition("\n")[0], repeats=1)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--algorithm", default="auto", help='the search: "auto" is approximate above 100,000 rows')
    fit_arguments(parser, NAMES)
    return parser.parse_args()


def main() -> None:
    given = options()
    fix_threads(given.threads)
    if given.fit:
        one_fit(given.folder, given.fit, given.algorithm)
        return
    n = 5_000 if given.quick else given.rows
    lines = []
    columns = ["method", "seconds", "CPU s", "search", "CPU ratio", "limit", "recall", "peak GB", "limit", "algorithm"]
    with tempfile.TemporaryDirectory() as folder:
        save_rows(n, Path(folder))
        for name in chosen(NAMES, given.methods):
            found = own_process(__file__, name, Path(folder), given.threads, "--algorithm", given.algorithm)
            ratio = found["processor"] / found["search_processor"]
            limits = within(ratio, RATIO_LIMIT), within(found["gigabytes"], MEMORY_LIMIT)
            lines.append([name, found["seconds"], found["processor"], found["search"], ratio, limits[0]])
            lines[-1] += [found["recall"], found["gigabytes"], limits[1], found["algorithm"]]
            print(f"{name}: {found['seconds']:.3g} s", file=sys.stderr, flush=True)
    show(f"{__doc__}\n{n:,} x {FEATURES}, K = {K}, {given.threads} threads, one run each", columns, lines)


if __name__ == "__main__":
    main()
