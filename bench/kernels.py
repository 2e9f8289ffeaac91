"""What does a kernel method cost beside KernelRidge, and what does the choice of width and ridge on 800 rows lose?

Ratios: CPU seconds of `Kernelized(OPLS())` at its defaults over those of scikit-learn's KernelRidge at the width and
ridge that it chose, on rows of tmc2007-500 (or synthetic rows of its size), fits alternating, the least of several.
Memory: resident size above the start of the fit, at 15,000 rows. Precision: macro average precision of the held-out
rows by a ridge read-out, width and ridge chosen on all training rows and on the sample (tmc2007: 2,500 rows), with all
rows in the kernel and with 300 prototypes.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from contenders import data_file
from measure import PeakMemory, arguments, chosen, fit_arguments, fix_threads, own_process, show, within
from tmc2007 import read_data

LIMITS = {2500: 4.0, 5000: 2.5, 10_000: 1.5}
QUICK_LIMITS: dict[int, float | None] = {1000: None}
MEMORY_ROWS, MEMORY_LIMIT = 15_000, 2.0  # GiB
SETS = ("emotions", "scene", "yeast", "enron", "tmc2007-500")
ROWS, LOSS = 2500, 0.003  # most training rows of a set; macro average precision that the sample may lose
PROTOTYPES = 300
PARTS = ("ratios", "memory", "precision")


def cpu_seconds(task: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = task()
    return time.process_time() - start, result


def some_rows(n: int) -> tuple[Any, Any]:
    """Evenly spaced rows with their labels."""
    import numpy as np

    X, Y, _ = read_data(quick=False)
    rows = np.linspace(0, len(X) - 1, n).astype(int)
    return X[rows], Y[rows]


def ratios(limits: dict[int, Any], repeats: int) -> None:
    """Fits of both, alternating."""
    from sklearn.kernel_ridge import KernelRidge

    from proxembed import OPLS, Kernelized

    lines = []
    for n, limit in limits.items():
        X, Y = some_rows(n)
        ours, theirs = [], []
        for _ in range(repeats if n <= 5000 else 1):
            seconds, model = cpu_seconds(lambda X=X, Y=Y: Kernelized(OPLS()).fit(X, Y))
            rival = KernelRidge(alpha=model.ridge_, kernel="rbf", gamma=1 / model.tau_)
            ours.append(seconds)
            theirs.append(cpu_seconds(lambda X=X, Y=Y, rival=rival: rival.fit(X, Y.astype(float)))[0])
        ratio = min(ours) / min(theirs)
        lines.append([f"{n:,}", min(ours), min(theirs), ratio, within(ratio, limit)])
    show("Ratios", ["rows", "Kernelized(OPLS())", "KernelRidge", "ratio", "limit"], lines)


def peak(rows: int) -> None:
    """Prints the resident size, in GiB, that a fit adds to its start."""
    from proxembed import OPLS, Kernelized

    X, Y = some_rows(rows)
    Kernelized(OPLS()).fit(X[:900], Y[:900])  # what is loaded on first use
    memory = PeakMemory()
    memory.start()
    Kernelized(OPLS()).fit(X, Y)
    print(memory.above_start() / 2**30)


def precision_of(name: str, tuned_on: int, prototypes: int | None) -> tuple[float, int]:
    """Macro average precision of the held-out rows, and the rows that width and ridge were chosen on."""
    import numpy as np
    from scipy.sparse import csr_array

    from proxembed import OPLS, Kernelized, MultiOutputRidge
    from proxembed.features import kernel
    from proxembed.measures import macro_average_precision

    with np.load(data_file(f"{name}.npz"), allow_pickle=False) as file:
        parts = {key: file[key] for key in file.files}
    X = parts.get("X")
    if X is None:
        X = csr_array((parts["data"], parts["indices"], parts["indptr"]), shape=tuple(parts["shape"])).toarray()
    X, Y, train, test = X.astype(float), parts["Y"], parts["train_idx"], parts["test_idx"]
    train = train[np.linspace(0, len(train) - 1, min(len(train), ROWS)).astype(int)]
    before = kernel.tuning_rows.__defaults__
    kernel.tuning_rows.__defaults__ = (tuned_on, None)
    try:
        model = Kernelized(OPLS(), n_prototypes=prototypes, random_state=0).fit(X[train], Y[train])
    finally:
        kernel.tuning_rows.__defaults__ = before
    scores = MultiOutputRidge().fit(model.transform(X[train]), Y[train]).decision_function(model.transform(X[test]))
    return macro_average_precision(Y[test], scores)[0], model.tuning_rows_


def precisions(names: tuple[str, ...]) -> None:
    """All rows against the sample."""
    from proxembed.features.kernel import TUNING_ROWS

    lines: list[list[Any]] = []
    for name in names:
        if data_file(f"{name}.npz") is not None:
            for p in (None, PROTOTYPES):
                (whole, rows), (sampled, few) = precision_of(name, ROWS, p), precision_of(name, TUNING_ROWS, p)
                loss = within(whole - sampled, LOSS)
                lines.append([name, p or "", f"{rows:,}", round(whole, 4), few, round(sampled, 4), loss])
    columns = ["set", "prototypes", "all rows", "precision", "sample", "precision", "loss"]
    show("Macro average precision", columns, lines)


def main() -> None:
    parser = arguments(__doc__.partition("\n")[0], repeats=3)
    fit_arguments(parser, PARTS)
    options = parser.parse_args()
    fix_threads(options.threads)
    rows = 2000 if options.quick else MEMORY_ROWS
    if options.fit == "memory":
        peak(rows)
        return
    asked = chosen(PARTS, options.methods)
    if "ratios" in asked:
        ratios(QUICK_LIMITS if options.quick else LIMITS, 1 if options.quick else options.repeats)
    if "memory" in asked:
        quick = ["--quick"] if options.quick else []
        gib = float(own_process(__file__, "memory", Path(), options.threads, *quick))
        show("Memory", ["rows", "GiB", "limit"], [[f"{rows:,}", gib, within(gib, MEMORY_LIMIT)]])
    if "precision" in asked:
        precisions(SETS[:1] if options.quick else SETS)


if __name__ == "__main__":
    main()
