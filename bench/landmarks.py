"""What landmarks cost: Isomap, LLE, EmbeddingModel and DEFC with landmarks against the same method on all rows, on real
sets where both run, and seconds and memory of 200,000 rows of 50 features, where landmarks alone run.

67 % of (at most 4,500) rows to train, seed 0. J@10: mean Jaccard similarity of the label sets of a held-out row and of
its 10 nearest training rows in the embedding. Procrustes: the disparity of both embeddings of the training rows after
translation, rotation and scaling, from 0 (the same map) to 1. DEFC takes eight evaluations on two folds. The large rows
are smooth functions of 10 numbers around 20 centres, with noise; memory is that above the start, in MiB.
"""

import json
import os
import tempfile
import time
import warnings
from pathlib import Path

from contenders import data_file
from measure import PeakMemory, arguments, chosen, fit_arguments, fix_threads, own_process, show, within

SETS, ROWS, QUICK_ROWS = ("satimage", "dna", "tmc2007-500"), 4500, 450
LARGE, QUICK_LARGE, FEATURES, CENTRES, HELD_OUT = 200_000, 3000, 50, 20, 2000
MEMORY_LIMIT = 4096  # MiB
METHODS: dict[str, tuple[dict, tuple[int, ...]]] = {
    "Isomap": ({"n_neighbors": 10, "n_components": 10}, (100, 500)),
    "LLE": ({"n_neighbors": 10, "n_components": 10}, (500, 1000)),
    "EmbeddingModel": ({"n_components": 10}, (500, 1000)),
    "DEFC": ({"max_evals": 8, "cv": 2}, (500,)),
}
LARGE_OPTIONS = {"DEFC": {"n_landmarks": 1000}}  # of the others "auto"


def method(name: str, n_landmarks, quick: bool):
    """The estimator; fewer landmarks where there are few rows."""
    import proxembed

    if quick and isinstance(n_landmarks, int):
        n_landmarks //= 5
    return getattr(proxembed, name)(n_landmarks=n_landmarks, **METHODS[name][0])


def fitted(model, rows) -> tuple[float, object, float]:
    """Seconds of the fit, the embedding of the training rows, and J@10 of the others."""
    from held_out import nearest_jaccard

    start = time.perf_counter()
    model.fit(rows.X, rows.Y)
    seconds = time.perf_counter() - start
    Z = model.transform(rows.X)
    return seconds, Z, nearest_jaccard(Z, model.transform(rows.X_new), rows)


def small(name: str, quick: bool) -> list[list]:
    """The lines of one method on the real sets."""
    from scipy.spatial import procrustes

    from held_out import drawn

    table = []
    for data in SETS:
        rows = drawn(data_file(f"{data}.npz").parent, data, QUICK_ROWS if quick else ROWS)
        seconds, exact, share = fitted(method(name, None, quick), rows)
        table.append([name, data, len(rows.Y), "all", seconds, "", share, "", ""])
        for number in METHODS[name][1]:
            model = method(name, number, quick)
            own, Z, J = fitted(model, rows)
            disparity = float(procrustes(exact, Z)[2]) if Z.shape == exact.shape else ""
            table.append([name, data, len(rows.Y), model.n_landmarks, own, seconds / own, J, J - share, disparity])
    return table


def large_rows(n: int):
    """Rows, of which the last are held out, and the number of their centre as an indicator."""
    import numpy as np

    rng = np.random.default_rng(0)
    y = rng.integers(0, CENTRES, n + HELD_OUT)
    latent = (rng.uniform(-10, 10, (CENTRES, 10)) + 0.0)[y] + 4.0 * rng.standard_normal((len(y), 10))
    X = np.tanh(latent @ rng.standard_normal((10, FEATURES)) / 10)
    return X + 0.05 * rng.standard_normal(X.shape), np.eye(CENTRES, dtype=int)[y]


def one_fit(folder: Path, name: str) -> None:
    """Fit in this process with the landmarks of ``LARGE_OPTIONS`` and print what was measured, as one line of JSON."""
    from held_out import Drawn

    n = int((folder / "rows").read_text())
    X, Y = large_rows(n)
    rows = Drawn(X[:n], Y[:n], X[n:], Y[n:])
    model = method(name, "auto", False).set_params(**LARGE_OPTIONS.get(name, {}))
    memory = PeakMemory()
    memory.start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # graphs in pieces
        seconds, _, J = fitted(model, rows)
    told = {"seconds": seconds, "memory": memory.above_start(), "J": J, "landmarks": len(model.landmarks_)}
    print(json.dumps(told | {"algorithm": getattr(model, "algorithm_", None)}))


def large(name: str, n: int, threads: int) -> list:
    """The line of one method on the large rows, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "rows").write_text(str(n))
        run = own_process(__file__, name, Path(folder), threads)
    memory = round(run["memory"] / 2**20)
    return [name, n, run["landmarks"], run["algorithm"], run["seconds"], memory, within(memory, MEMORY_LIMIT), run["J"]]


def main() -> None:
    parser = arguments(__doc__.partition("\n")[0], repeats=1)
    parser.add_argument("--parts", default="small,large", help="small, large, or both separated by a comma")
    fit_arguments(parser, METHODS)
    options = parser.parse_args()
    fix_threads(options.threads)
    if options.fit:
        one_fit(options.folder, options.fit)
        return
    warnings.simplefilter("ignore")  # graphs in pieces: both sides say so, which is not the question
    names, parts = chosen(METHODS, options.methods), options.parts.split(",")
    if "small" in parts:
        columns = ["method", "rows of", "n", "landmarks", "s", "all s / s", "J@10", "less all", "Procrustes"]
        if any(data_file(f"{name}.npz") is None for name in SETS):
            raise SystemExit(f"{', '.join(SETS)} are needed in {os.environ.get('PROXEMBED_DATA', 'shared/data')}")
        show(f"{__doc__}\nreal sets", columns, [line for name in names for line in small(name, options.quick)])
    if "large" in parts:
        n = QUICK_LARGE if options.quick else LARGE
        columns = ["method", "rows", "landmarks", "search", "s", "memory", "limit", "J@10"]
        show("many rows", columns, [large(name, n, options.threads) for name in names])


if __name__ == "__main__":
    main()
