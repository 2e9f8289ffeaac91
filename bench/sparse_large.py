"""Large sparse data (100,000 x 50,000, 80 non-zeros a row, 50 labels): time and memory against TruncatedSVD(50).

Every fit runs in a process of its own: X is loaded, the resident size noted, and a thread samples it while fit runs.
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

from measure import PeakMemory, arguments, chosen, fit_arguments, fix_threads, own_process, show, within

K = LABELS = 50
NNZ = 80
SIZES = {False: (100_000, 50_000), True: (4_000, 3_000)}
RIVAL = "TruncatedSVD"
MEMORY_LIMIT = 1.5
RESIDUAL_LIMIT = 1e-6
# name in the table -> (estimator, ridge in units of the trace, limit of the ratio of times)
CONTENDERS = {
    RIVAL: (RIVAL, None, None),
    "MDDM": ("MDDM", None, 1 / 8),
    "PLS": ("PLS", None, 1 / 8),
    "CCA 1e-3": ("CCA", 1e-3, 5.0),
    "OPLS 1e-3": ("OPLS", 1e-3, 5.0),
    "HSL 1e-3": ("HSL", 1e-3, 5.0),
    "CCA 1": ("CCA", 1.0, 1.5),
    "OPLS 1": ("OPLS", 1.0, 1.5),
    "HSL 1": ("HSL", 1.0, 1.5),
}


def estimator_of(name: str, ridge: float | None):
    """The estimator with k components; its ridge, where it has one, in units of the trace."""
    if name == RIVAL:
        from sklearn.decomposition import TruncatedSVD

        return TruncatedSVD(K, random_state=0)
    import proxembed

    estimator = getattr(proxembed, name)(n_components=K)
    return estimator if ridge is None else estimator.set_params(ridge=ridge, ridge_scale="trace")


def label_factor(name: str, Y):
    """E with A = Xc'E E'Xc: the method's definition, from which the residual is recomputed."""
    import numpy as np

    Yc = Y - Y.mean(axis=0)
    if name == "CCA":
        values, vectors = np.linalg.eigh(Yc.T @ Yc)
        keep = values > 1e-10 * values[-1]
        return Yc @ (vectors[:, keep] / np.sqrt(values[keep]))
    if name == "HSL":
        m = Y.sum(axis=1, keepdims=True)
        return np.divide(Y, np.sqrt(m), where=m > 0, out=np.zeros_like(Y)) / np.sqrt(Y.sum(axis=0))
    return Yc


def relative_residual(name: str, fitted, X, Y) -> float:
    """||Ap P - Bp P diag(w)|| / ||Bp P diag(w)|| from the definitions in float64."""
    import numpy as np

    P, w = fitted.components_.T.astype(float), fitted.eigenvalues_
    mean = np.asarray(X.mean(axis=0)).ravel()

    def centred(V):
        return X @ V - mean @ V

    def adjoint(U):
        return X.T @ U - np.outer(mean, U.sum(axis=0))

    E = label_factor(name, Y.astype(float))
    AP = adjoint(E @ (E.T @ centred(P)))
    BP = adjoint(centred(P)) + fitted.ridge_ * P if name in ("CCA", "OPLS", "HSL") else P
    return float(np.linalg.norm(AP - BP * w) / np.linalg.norm(BP * w))


def one_fit(folder: Path, contender: str) -> None:
    """Fit in this process and print what was measured, as one line of JSON."""
    import numpy as np
    from scipy import sparse

    name, ridge, _ = CONTENDERS[contender]
    parts = [np.load(folder / f"{part}.npy") for part in ("data", "indices", "indptr")]
    Y = np.load(folder / "Y.npy")
    X = sparse.csr_array(tuple(parts), shape=(len(Y), int((folder / "d").read_text())))
    small = X[:200], Y[:200]
    small = small[0], small[1] if small[1].any() else np.eye(LABELS, dtype=np.uint8)[np.arange(200) % LABELS]
    estimator_of(name, ridge).set_params(n_components=2).fit(*small)
    memory = PeakMemory()
    memory.start()
    begin = time.perf_counter()
    fitted = estimator_of(name, ridge).fit(X, Y)
    seconds = time.perf_counter() - begin
    peak = memory.above_start()
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    residual = None if name == RIVAL else relative_residual(name, fitted, X, Y)
    solver = getattr(fitted, "solver_", "randomized")
    print(json.dumps({"seconds": seconds, "memory": peak / size, "residual": residual, "solver": solver}))


def measured(contender: str, folder: Path, threads: int, repeats: int) -> dict:
    """Median seconds and largest memory over fresh processes."""
    runs = [own_process(__file__, contender, folder, threads) for _ in range(repeats)]
    runs.sort(key=lambda run: run["seconds"])
    return runs[len(runs) // 2] | {"memory": max(run["memory"] for run in runs)}


def write_data(folder: Path, quick: bool) -> None:
    """X and Y as plain arrays, so that a fit loads nothing but them."""
    import numpy as np

    from planted import planted_text

    n, d = SIZES[quick]
    X, Y = planted_text(n, d, LABELS, NNZ, seed=0)
    for part in ("data", "indices", "indptr"):
        np.save(folder / f"{part}.npy", getattr(X, part))
    np.save(folder / "Y.npy", Y)
    (folder / "d").write_text(str(d))


def options() -> argparse.Namespace:
    parser = arguments(__doc__.partition("\n")[0], repeats=3)
    fit_arguments(parser, CONTENDERS)
    return parser.parse_args()


def main() -> None:
    given = options()
    fix_threads(given.threads)
    if given.fit:
        one_fit(given.folder, given.fit)
        return
    repeats = 1 if given.quick else given.repeats
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        write_data(Path(folder), given.quick)
        rival = measured(RIVAL, Path(folder), given.threads, repeats)
        for name in [RIVAL, *(n for n in chosen(CONTENDERS, given.methods) if n != RIVAL)]:
            run = rival if name == RIVAL else measured(name, Path(folder), given.threads, repeats)
            ratio, residual = run["seconds"] / rival["seconds"], run["residual"]
            print(f"{name}: {run['seconds']:.3g} s", file=sys.stderr, flush=True)
            limits = ["", "", ""]
            if name != RIVAL:
                values = [(ratio, CONTENDERS[name][2]), (residual, RESIDUAL_LIMIT), (run["memory"], MEMORY_LIMIT)]
                limits = [within(value, limit) for value, limit in values]
            shown = "" if residual is None else f"{residual:.1e}"
            rows.append(
                [name, run["seconds"], ratio, limits[0], shown, limits[1], run["memory"], limits[2], run["solver"]]
            )
    size = " x ".join(f"{s:,}" for s in SIZES[given.quick])
    title = f"{__doc__}\n{size}, {given.threads} threads, median of {repeats}; memory above loading, in sizes of X"
    columns = ["method, ridge", "seconds", "ratio", "limit", "residual", "limit", "memory", "limit", "solver"]
    show(title, columns, rows)


if __name__ == "__main__":
    main()
