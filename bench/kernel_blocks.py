"""Fits of a kernel with 1,000 prototypes on memory-mapped rows of 50 features, of three sizes: time and memory.

Kernelized(OPLS()) chooses prototypes, width and ridge by itself; "at the width" is given that width and ridge. The
rival is scikit-learn's Nystroem of as many rows at the same width and ridge, with the normal equations of its Ridge
summed over blocks by NumPy: scikit-learn has no Ridge of blocks. Memory is that of arrays (the resident size less
mapped pages).
"""

import json
import tempfile
import time
from pathlib import Path

from measure import ArrayMemory, arguments, chosen, fit_arguments, fix_threads, own_process, show, within

SIZES = {False: (1_000_000, 50, 1000), True: (20_000, 10, 100)}
LABELS, BLOCK = 5, 50_000
NAMES = ("Kernelized(OPLS())", "at the width", "Nystroem + Ridge")
MEMORY_LIMIT = 2048  # MiB


def write_data(folder: Path, n: int, d: int) -> None:
    """Rows around ten centres and labels that a smooth function of them tells."""
    import numpy as np

    draw = np.random.default_rng(0)
    centres, W = draw.normal(size=(10, d)), draw.normal(size=(d, LABELS)) / np.sqrt(d)
    X = np.lib.format.open_memmap(folder / "X.npy", "w+", np.float32, (n, d))
    Y = np.lib.format.open_memmap(folder / "y.npy", "w+", np.int8, (n, LABELS))
    for start in range(0, n, BLOCK):
        rows = min(BLOCK, n - start)
        part = centres[draw.integers(0, 10, rows)] + draw.normal(size=(rows, d))
        X[start : start + rows] = part
        Y[start : start + rows] = np.sin(2 * part @ W) + 0.5 * draw.normal(size=(rows, LABELS)) > 0.5


def proxembed_fit(rows, p: int, **given) -> dict:
    from proxembed import OPLS, Kernelized

    model = Kernelized(OPLS(), n_prototypes=p, random_state=0, **given).fit(rows)
    return {"tau": model.tau_, "ridge": model.ridge_}


def nystroem_ridge(rows, p: int, tau: float, ridge: float) -> dict:
    """Coefficients of Ridge(alpha=ridge) on Nystroem's features, from sums about the mean of the first block."""
    import numpy as np
    from scipy import linalg
    from sklearn.kernel_approximation import Nystroem

    kernel = Nystroem(gamma=1.0 / tau, n_components=p, random_state=0)
    kernel.fit(rows.sample(10_000)[0].astype(np.float64))
    G, E, level, first, targets, n = np.zeros((p, p)), np.zeros((p, LABELS)), None, 0.0, 0.0, 0
    for X, y in rows:
        for start in range(0, len(X), 8192):
            Z, T = kernel.transform(X[start : start + 8192].astype(np.float64)), 2.0 * y[start : start + 8192] - 1.0
            level = Z.mean(axis=0) if level is None else level
            Z -= level
            G, E, n = G + Z.T @ Z, E + Z.T @ T, n + len(Z)
            first, targets = first + Z.sum(axis=0), targets + T.sum(axis=0)
    G -= np.outer(first, first) / n
    coef = linalg.solve(G + ridge * np.eye(p), E - np.outer(first, targets) / n, assume_a="pos")
    return {"coef": float(np.linalg.norm(coef))}


def one_fit(folder: Path, name: str) -> None:
    """Run in this process and print what was measured, as one line of JSON."""
    import numpy as np
    from sklearn.kernel_approximation import Nystroem  # noqa: F401  (imports are no part of a fit)

    from proxembed import Kernelized, RowBlocks  # noqa: F401

    asked = json.loads((folder / "asked.json").read_text())
    n, p = asked["n"], asked["p"]
    X, y = (np.load(folder / f"{part}.npy", mmap_mode="r")[:n] for part in "Xy")
    rows = RowBlocks.from_arrays(X, y, block_rows=BLOCK)
    memory = ArrayMemory()
    memory.start()
    begin, processor = time.perf_counter(), time.process_time()
    if name == "Nystroem + Ridge":
        found = nystroem_ridge(rows, p, asked["tau"], asked["ridge"])
    elif name == "at the width":
        found = proxembed_fit(rows, p, tau=asked["tau"], ridge=asked["ridge"], ridge_scale="absolute")
    else:
        found = proxembed_fit(rows, p)
    seconds, processor = time.perf_counter() - begin, time.process_time() - processor
    print(json.dumps(found | {"seconds": seconds, "processor": processor, "memory": memory.above_start()}))


def main() -> None:
    parser = arguments(__doc__.partition("\n")[0], repeats=1)
    parser.add_argument("--size", type=int, nargs=3, metavar=("N", "D", "P"), help="most rows, features, prototypes")
    fit_arguments(parser, NAMES)
    given = parser.parse_args()
    fix_threads(given.threads)
    if given.fit:
        one_fit(given.folder, given.fit)
        return
    most, d, p = given.size or SIZES[given.quick]
    table, rival = [], chosen(NAMES[1:], given.methods)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_data(folder, most, d)
        for n in (most // 16, most // 4, most):
            asked = {"n": n, "p": p}
            for contender in (NAMES[0], *rival):
                (folder / "asked.json").write_text(json.dumps(asked))
                run = own_process(__file__, contender, folder, given.threads)
                asked |= {key: run[key] for key in ("tau", "ridge") if key in run}
                memory, each = round(run["memory"] / 2**20), 1e6 * run["processor"] / n
                limit = within(memory, MEMORY_LIMIT)
                table.append([f"{n:,}", contender, run["seconds"], run["processor"], each, memory, limit])
    columns = ["rows", "fit", "seconds", "CPU seconds", "CPU us a row", "memory", "limit"]
    show(
        f"{__doc__}\n{d} features, {p:,} prototypes, {given.threads} threads; memory in MiB above the start",
        columns,
        table,
    )


if __name__ == "__main__":
    main()
