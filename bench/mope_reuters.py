"""MOPE, MESD-LFDA and MESD-MFA on the training rows of Reuters (7,770 x 23,484, sparse) against a brute-force neighbour
search of the same rows: seconds in one run, and the peak memory of each fit in a fresh process."""

import json
import statistics
import time
from pathlib import Path

from contenders import data_file
from measure import arguments, fit_arguments, fix_threads, own_process, resident_bytes, show, within

SECONDS, RATIO = 2.0, 1.5
K = 10
LABELS_ALONE = {
    "labels, Dice": {"scheme": "labels"},
    "labels, shared": {"scheme": "labels", "similarity": "and"},
    "labels, cosine": {"scheme": "labels", "similarity": "cosine"},
    "labels, scaled Dice": {"scheme": "labels", "similarity": "scaled_dice"},
    "labels, Jaccard": {"scheme": "labels", "similarity": "jaccard"},
    "labels, Hamming": {"scheme": "labels", "similarity": "hamming"},
    "labels, linear Hamming": {"scheme": "labels", "similarity": "hamming_linear"},
    "latent, PCA": {"scheme": "latent"},
    "latent, LSI": {"scheme": "latent", "latent": "lsi"},
    "classes, Dice": {"scheme": "classes"},
    "classes, features": {"scheme": "classes", "similarity": "features"},
}
PSI = {"weights": "gaussian", "n_neighbors": K, "n_links": K}
LINKED = {
    "W, Psi, K=10, labels": {"scheme": "labels", "n_components": 10, **PSI},
    "W, Psi, K=10, classes": {"scheme": "classes", "n_components": 10, **PSI},
    "W, Psi, K=10, latent": {"scheme": "latent", "n_components": 10, **PSI},
    "W, Psi, K=10, 90 components": {"scheme": "labels", **PSI},
}
WHOLE = {
    "all of W, Psi, K=10, labels": {"scheme": "labels", "n_components": 10, **PSI, "graph": "full"},
    "all of W, Psi, K=10, cosine": {
        "scheme": "labels",
        "n_components": 10,
        **PSI,
        "graph": "full",
        "weights": "cosine",
    },
}
NAMES = ["neighbours", *LABELS_ALONE, *LINKED, *WHOLE, "MESD(LFDA())", "MESD(MFA())"]


def rows(quick: bool):
    """Log counts of the training rows at unit length, float64 CSR, with their labels; the size without the file is that
    of the file."""
    import numpy as np
    from scipy.sparse import csr_array, random_array

    path = data_file("reuters.npz")
    if path is None:
        rng = np.random.default_rng(0)
        X = random_array((7770, 23484), density=3e-3, format="csr", rng=rng)
        Y = (rng.random((7770, 90)) < 0.4 / (1 + np.arange(90))).astype(np.uint8)
    else:
        with np.load(path, allow_pickle=False) as file:
            X = csr_array((file["data"], file["indices"], file["indptr"]), shape=tuple(file["shape"]))
            index = file["train_idx"]
            X, Y = X[index], np.asarray(file["Y"])[index]
    some = slice(0, 1500 if quick else None)
    X, Y = csr_array(X[some], dtype=np.float64), Y[some]
    X.data = np.log1p(X.data)
    X = csr_array(X.multiply(1.0 / np.maximum(np.sqrt(X.multiply(X).sum(axis=1)), 1e-300)[:, None]))
    keep = np.asarray(Y.sum(axis=0)).ravel() > 0
    return X, Y[:, keep]


def task(name: str, X, Y):
    """What is timed under this name."""
    from sklearn.neighbors import NearestNeighbors

    from proxembed import LFDA, MESD, MFA, MOPE

    if name == "neighbours":
        return lambda: NearestNeighbors(n_neighbors=K, algorithm="brute", n_jobs=2).fit(X).kneighbors()
    if name.startswith("MESD"):
        method = {"MESD(LFDA())": LFDA(), "MESD(MFA())": MFA()}[name]
        return lambda: MESD(method, n_components=10).fit(X, Y)
    options = {**LABELS_ALONE, **LINKED, **WHOLE}[name]
    return lambda: MOPE(**options).fit(X, Y)


def one_fit(name: str, quick: bool) -> None:
    """One run in this process: seconds, and the peak above what the data take."""
    X, Y = rows(quick)
    work = task(name, X, Y)
    before = resident_bytes()
    Path("/proc/self/clear_refs").write_text("5")  # the peak from here on
    start = time.perf_counter()
    work()
    seconds = time.perf_counter() - start
    peak = next(
        int(line.split()[1]) * 1024
        for line in Path("/proc/self/status").read_text().splitlines()
        if line.startswith("VmHWM")
    )
    print(json.dumps({"seconds": seconds, "gigabytes": max(0.0, peak - before) / 2**30}))


def compared(names: list[str], quick: bool, repeats: int) -> dict[str, float]:
    """Median seconds of each task, all of them in turn in every round, so that they meet the same machine."""
    X, Y = rows(quick)
    tasks = {name: task(name, X, Y) for name in names}
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for round_ in range(repeats + 1):
        for name, work in tasks.items():
            start = time.perf_counter()
            work()
            if round_ or not repeats:
                seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in seconds.items()}


def main() -> None:
    parser = arguments(__doc__, repeats=3)
    fit_arguments(parser, NAMES)
    options = parser.parse_args()
    fix_threads(options.threads)
    if options.fit:
        one_fit(options.fit, options.quick)
        return
    repeats = 1 if options.quick else options.repeats
    wanted = options.methods.split(";")  # names hold commas
    names = [name for name in NAMES if not options.methods or name == "neighbours" or name in wanted]
    found = compared(names, options.quick, repeats)
    lines = []
    for name in names:
        memory = "" if options.quick else own_process(__file__, name, Path(), options.threads)["gigabytes"]
        seconds, ratio = found[name], found[name] / found["neighbours"]
        limit = within(seconds, SECONDS) + " s" if name in LABELS_ALONE else within(ratio, RATIO)
        lines.append([name, seconds, ratio, memory, "" if name == "neighbours" or name in WHOLE else limit])
    show(
        f"Reuters, median of {repeats}; peak above the data, fresh process",
        ["task", "seconds", "ratio", "peak GiB", "limit"],
        lines,
    )


if __name__ == "__main__":
    main()
