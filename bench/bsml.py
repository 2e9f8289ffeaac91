"""BSML: the bound against seconds, plain and extrapolated sweeps, on four data sets; a sweep with an inv a column."""

from __future__ import annotations

import resource
import time

from contenders import data_file
from measure import arguments, fix_threads, median_seconds, show, within

SETS = ("emotions", "yeast", "scene", "tmc2007-500")
CPU_LIMITS = {"emotions": 2.0, "yeast": 6.0, "scene": 10.0}
SECONDS_LIMIT, SWEEPS, RATIO, GIGABYTES = 45.0, 500, 5.0, 1.0
LARGE = "tmc2007-500"
SHARES = (0.01, 0.03, 0.1, 0.3, 1.0)


def read(name: str, quick: bool):
    """Training rows, features standardised by themselves, and their labels; planted ones where the data are not."""
    import numpy as np
    from scipy.sparse import csr_array

    path = data_file(f"{name}.npz")
    if path is None:
        rng = np.random.default_rng(0)
        X = rng.standard_normal((1000, 60))
        Y = (X @ rng.standard_normal((60, 8)) + rng.standard_normal((1000, 8)) > 1).astype(float)
    else:
        with np.load(path, allow_pickle=False) as file:
            rows = file["train_idx"][: 1000 if quick else None]
            if "X" in file:
                X = file["X"][rows].astype(float)
            else:
                parts = (file["data"], file["indices"], file["indptr"])
                X = csr_array(parts, shape=tuple(file["shape"])).toarray()[rows].astype(float)
            Y = file["Y"][rows].astype(float)
    deviation = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0), Y


def timed(X, Y, init: str, accelerate: bool, sweeps: int):
    """Seconds and bound after every sweep, refused ones included; CPU seconds of the whole."""
    from papers.bsml.bounds import traced

    cpu = time.process_time()
    seconds, bounds = traced(X, Y, init, accelerate, sweeps)
    return seconds, bounds, time.process_time() - cpu


def naive_sweep(X, Y, state) -> None:
    """The same updates with one inverse a column and a label, each sweep; the bound is not even evaluated."""
    import numpy as np
    from scipy.special import log_ndtr

    Q, Z, B, T, CQ, CB, S = state
    signs = 2 * Y - 1
    for s in range(Q.shape[1]):
        phi = 1.5 / (1 + (Q[:, s] ** 2 + np.diag(CQ[s])) / 2)
        CQ[s] = np.linalg.inv(np.diag(phi) + S)
        Q[:, s] = CQ[s] @ (X.T @ Z[:, s])
    W = B[1:]
    CZ = np.linalg.inv(np.eye(len(W)) + W @ W.T + CB.sum(axis=0)[1:, 1:])
    Z[:] = (X @ Q + T @ W.T - W @ B[0] - CB.sum(axis=0)[1:, 0]) @ CZ
    Z1 = np.column_stack([np.ones(len(Z)), Z])
    G = Z1.T @ Z1
    G[1:, 1:] += len(Z) * CZ
    for o in range(B.shape[1]):
        precision = 1.5 / (1 + (B[:, o] ** 2 + np.diag(CB[o])) / 2)
        CB[o] = np.linalg.inv(np.diag(precision) + G)
        B[:, o] = CB[o] @ (Z1.T @ T[:, o])
    M = signs * (Z1 @ B)
    T[:] = signs * (M + np.exp(-0.5 * M**2 - 0.5 * np.log(2 * np.pi) - log_ndtr(M)))


def naive_state(X, Y):
    """Random arrays with unit covariances."""
    import numpy as np

    rng, (n, d), R = np.random.default_rng(0), X.shape, Y.shape[1]
    unit, small = np.repeat(np.eye(d)[None], R, axis=0), np.repeat(np.eye(R + 1)[None], R, axis=0)
    arrays = [rng.standard_normal(shape) for shape in ((d, R), (n, R), (R + 1, R))]
    return [*arrays, np.abs(rng.standard_normal(Y.shape)) * (2 * Y - 1), unit, small, X.T @ X]


def reached(seconds, bounds, at: float) -> str:
    """The bound after a number of seconds, in words."""
    done = bounds[seconds <= at]
    return f"{done[-1]:.1f}" if len(done) else ""


def one_set(name: str, X, Y, sweeps: int) -> tuple[list, float]:
    """Print the bound against seconds of one data set; a line of the summary and the seconds of a plain sweep."""
    import numpy as np

    runs, rows = {}, []
    for init, accelerate in (("random", False), ("svd", False), ("svd", True)):
        seconds, bounds, cpu = runs[init, accelerate] = timed(X, Y, init, accelerate, sweeps)
        total = runs["random", False][0][-1]
        label = f"{init}, {'extrapolated' if accelerate else 'plain'}"
        marks = [reached(seconds, bounds, share * total) for share in SHARES]
        rows.append([label, *marks, f"{bounds[-1]:.1f}", float(seconds[-1]), float(cpu)])
    columns = ["run", *[f"at {share * total:.2g} s" for share in SHARES], "end", "seconds", "CPU seconds"]
    show(f"{name}: bound against seconds, {sweeps} sweeps", columns, rows)
    (plain, goals, cpu), (seconds, bounds, _) = runs["random", False], runs["svd", True]
    hit = int(np.count_nonzero(bounds < goals[-1]))
    took = float(seconds[hit]) if hit < len(seconds) else float("inf")
    limit = SECONDS_LIMIT if name == LARGE else None
    bar = within(cpu, CPU_LIMITS.get(name))
    line = [name, f"{goals[-1]:.1f}", float(plain[-1]), float(cpu), bar, hit + 1, took, within(took, limit)]
    return line, float(plain[-1] - plain[0]) / (len(plain) - 1)


def verdict(kept: bool) -> str:
    """Whether a limit is kept, in a word."""
    return "kept" if kept else "MISSED"


def main() -> None:
    options = arguments(__doc__.partition("\n")[0], repeats=3).parse_args()
    fix_threads(options.threads)
    sweeps = 60 if options.quick else SWEEPS
    summary, ratios, planted = [], [], []
    for name in [name for name in options.methods.split(",") if name] or SETS:
        X, Y = read(name, options.quick)
        real = data_file(f"{name}.npz") is not None
        planted += [] if real else [name]
        line, ours = one_set(name if real else f"{name} (planted)", X, Y, sweeps)
        summary.append(line)
        state = naive_state(X, Y)
        theirs, _ = median_seconds(lambda X=X, Y=Y, state=state: naive_sweep(X, Y, state), options.repeats)
        bar = verdict(theirs / ours >= RATIO) if real and name == LARGE and not options.quick else ""
        ratios.append([name, f"{X.shape[0]} x {X.shape[1]}, R = {Y.shape[1]}", ours, theirs, theirs / ours, bar])
    columns = ["data", "bound", "plain s", "plain CPU s", "limit", "sweeps to it", "extrapolated s", "limit"]
    show(f"The bound of {sweeps} plain sweeps from a random start, {options.threads} threads", columns, summary)
    columns = ["data", "size", "ours", "inv", "ratio", f"at least {RATIO:g}"]
    show(f"Seconds a sweep, at least {RATIO:g} times faster on tmc2007-500", columns, ratios)
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    print(f"\nlargest resident size {size:.2f} GB, at most {GIGABYTES:g} GB: {verdict(size <= GIGABYTES)}")
    if planted:
        print(f"planted, the data are not there (nothing is shown of them): {', '.join(planted)}")


if __name__ == "__main__":
    main()
