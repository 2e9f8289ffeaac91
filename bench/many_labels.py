"""What thousands of labels cost: CPU seconds and memory of each method on 8,352 rows, 256 features and 9,135 labels.

Each fit runs in a process of its own; OPLS stands beside X'Y, X'X and one eigendecomposition of 256 (the rival). Rows
have three of 60 topics each, which move their features and from which their 16.6 labels are drawn, of frequencies that
fall as a power of their rank. Every label has a row, many have one alone, and every fortieth column is equal to another
one, so that Y'Y is singular. y is a CSR matrix. CPU seconds are those of the fit, of all threads. Memory is the peak of
the process above its size before the fit, in MiB.
"""

import json
import resource
import time
import warnings
from pathlib import Path

from measure import PeakMemory, arguments, chosen, fit_arguments, fix_threads, own_process, show, within

ROWS, FEATURES, LABELS, PER_ROW, TOPICS = 8352, 256, 9135, 16.6, 60
QUICK = (900, 64, 1100)
LIMIT = 180  # CPU seconds, after which a fit is given up
K = 64
LIMITS = {"OPLS auto": 1.0, "CCA auto": 10.0}
REFERENCE = "X'Y and X'X and eigh"

METHODS = {
    REFERENCE: None,
    "OPLS auto": "OPLS(n_components=k)",
    "OPLS": "OPLS(n_components=k, ridge=1e-3)",
    "PLS": "PLS(n_components=k)",
    "CCA auto": "CCA(n_components=k)",
    "CCA": "CCA(n_components=k, ridge=1e-3)",
    "CCA ridge_y": "CCA(n_components=k, ridge=1e-3, ridge_y=1e-2)",
    "MDDM": "MDDM(n_components=k)",
    "MDDM features": "MDDM(n_components=k, metric='features')",
    "MDDM cosine": "MDDM(n_components=k, label_kernel='cosine')",
    "MDDM rbf": "MDDM(n_components=k, label_kernel='rbf')",
    "MVMD": "MVMD(n_components=k)",
    "MLSI": "MLSI(n_components=k)",
    "MLSI ratio": "MLSI(n_components=k, form='ratio')",
    "MORP": "MORP(n_components=k)",
    "MLLS": "MLLS(n_components=k)",
    "SLVM": "SLVM(n_components=k)",
    "SFEHS": "SFEHS(n_components=k)",
    "HSL": "HSL(n_components=k)",
    "HSL clique": "HSL('clique', n_components=k, ridge=1e-3)",
    "CopyLDA": "CopyLDA(n_components=k)",
    "MESD(FDA)": "MESD(FDA(), n_components=k)",
    "MESD(MMC)": "MESD(MMC(), n_components=k)",
    "MLDA": "MLDA(n_components=k)",
    "DMLDA": "DMLDA(n_components=k)",
    "MOPE classes": "MOPE(n_components=k)",
    "MOPE labels": "MOPE('labels', n_components=k)",
    "SSDR": "SSDR(n_components=k)",
    "Kernelized(OPLS)": "Kernelized(OPLS(n_components=k), n_prototypes=300)",
    "MultiOutputRidge": "MultiOutputRidge(penalty='auto')",
    "fit_on(OPLS)": "fit_on",
}


def many_labels(n: int, d: int, c: int):
    """X (n, d) float64 and y, an n x c CSR matrix of 0 and 1."""
    import numpy as np
    from scipy import sparse

    rng = np.random.default_rng(0)
    plain = c - c // 40
    frequency = (np.arange(plain) + 3.0) ** -0.9
    topic = rng.integers(0, TOPICS, plain)
    of_topic = [np.flatnonzero(topic == t) for t in range(TOPICS)]
    mixtures = rng.integers(0, TOPICS, (n, 3))
    rows, labels = [np.zeros(0, dtype=int)], [np.zeros(0, dtype=int)]
    for t in range(TOPICS):
        who = np.repeat(*np.unique(np.nonzero(mixtures == t)[0], return_counts=True))
        who = np.repeat(who, rng.poisson(1.18 * PER_ROW / 3, len(who)))
        share = frequency[of_topic[t]]
        rows.append(who)
        labels.append(rng.choice(of_topic[t], len(who), p=share / share.sum()))
    on = sparse.csc_array(
        (np.ones(sum(map(len, rows))), (np.concatenate(rows), np.concatenate(labels))), shape=(n, plain)
    )
    missing = np.flatnonzero(np.diff(on.indptr) == 0)
    on = on + sparse.csc_array((np.ones(len(missing)), (rng.integers(0, n, len(missing)), missing)), shape=(n, plain))
    on = sparse.hstack([on, on[:, rng.choice(plain, c - plain, replace=False)]], format="csr")[:, rng.permutation(c)]
    on.data = np.ones(on.nnz)
    centres = rng.standard_normal((TOPICS, d))
    X = centres[mixtures].mean(axis=1) + 0.5 * rng.standard_normal((n, d))
    return X, on.astype(np.uint8)


def reference(X, y, k: int) -> None:
    """The leading directions of (Xc'YcYc'Xc, Xc'Xc + ridge) by NumPy and SciPy alone."""
    import numpy as np
    from scipy import linalg

    mean = X.mean(axis=0)
    moments = (y.T.astype(np.float64) @ X).T - np.outer(mean, y.sum(axis=0))
    gram = X.T @ X - len(X) * np.outer(mean, mean)
    gram[np.diag_indices_from(gram)] += 1e-3 * np.trace(gram) / len(gram)
    linalg.eigh(moments @ moments.T, gram, subset_by_index=(len(gram) - k, len(gram) - 1))


def task(name: str, quick: bool):
    """What is timed: a function of X and y."""
    from proxembed.estimator.base import registry

    k = 8 if quick else K
    if name == REFERENCE:
        return lambda X, y: reference(X, y, k)
    if METHODS[name] == "fit_on":
        return lambda X, y: end_to_end(X, y, k)
    model = eval(METHODS[name], {**registry(), "k": k})
    return model.fit


def end_to_end(X, y, k: int) -> None:
    """A fit with its read-out on the first three quarters of the rows, and the scores on the others."""
    import numpy as np

    import proxembed
    from proxembed.data.dataset import Dataset

    n = len(X) * 3 // 4
    data = Dataset(X, y, [f"x{j}" for j in range(X.shape[1])], train_idx=np.arange(n), test_idx=np.arange(n, len(X)))
    proxembed.fit_on(proxembed.OPLS(n_components=k), data)


def one_fit(name: str, quick: bool) -> None:
    """Fit in this process and print what was measured, as one line of JSON."""
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT + 10))
    X, y = many_labels(*(QUICK if quick else (ROWS, FEATURES, LABELS)))
    fit = task(name, quick)
    warnings.simplefilter("ignore")
    small = X[:200], y[:200][:, abs(y[:200]).sum(axis=0) > 1]
    if METHODS[name] != "fit_on":
        task(name, True)(*small)  # what is imported and allocated once
    memory = PeakMemory()
    memory.start()
    start = time.process_time()
    fit(X, y)
    seconds = time.process_time() - start
    print(json.dumps({"seconds": seconds, "memory": memory.above_start()}))


def main() -> None:
    parser = arguments(__doc__.partition("\n")[0], repeats=1)
    fit_arguments(parser, METHODS)
    options = parser.parse_args()
    fix_threads(options.threads)
    if options.fit:
        one_fit(options.fit, options.quick)
        return
    n, _, c = QUICK if options.quick else (ROWS, FEATURES, LABELS)
    table = []
    for name in chosen(METHODS, options.methods):
        flags = ("--quick",) if options.quick else ()
        try:
            run = own_process(__file__, name, Path(), options.threads, *flags)
        except SystemExit as failure:
            table.append([name, "", "", str(failure).strip().splitlines()[-1][:90]])
            continue
        limit = None if options.quick else LIMITS.get(name)
        table.append([name, run["seconds"], round(run["memory"] / 2**20), within(run["seconds"], limit)])
        show("", ["method", "CPU s", "MiB", "limit"], table[-1:])
    title = f"{n:,} rows, {c:,} labels; a dense n x c array has {n * c * 8 / 2**20:,.0f} MiB"
    show(title, ["method", "CPU s", "MiB", "limit"], table)


if __name__ == "__main__":
    main()
