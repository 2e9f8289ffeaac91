"""LFDA against metric-learn's (n = 5,000, d = 100), and against a brute-force neighbour search on tmc2007-500."""

import resource

from contenders import data_file
from measure import arguments, at_least, fix_threads, median_seconds, show, within

FASTER, SLOWER, MEMORY = 5.0, 1.5, 2.0
CLASSES = (2, 5, 10, 20)
K = 7


def clusters(n: int, d: int, classes: int):
    """Gaussian classes, each of two parts."""
    import numpy as np

    rng = np.random.default_rng(0)
    y = rng.integers(0, classes, n)
    centres = 3.0 * rng.standard_normal((classes, 2, d)) / np.sqrt(d)
    return centres[y, rng.integers(0, 2, n)] + rng.standard_normal((n, d)) * np.linspace(1.5, 0.3, d), y


def first_labels(quick: bool):
    """tmc2007-500 with each row's first label as its class, or rows of the same size; float64, dense."""
    import numpy as np
    from scipy.sparse import csr_array

    rows = slice(0, 3000 if quick else None)
    path = data_file("tmc2007-500.npz")
    if path is None:
        X, y = clusters(28596, 500, 22)
        return X[rows], y[rows], "synthetic rows of the size of tmc2007-500"
    with np.load(path, allow_pickle=False) as file:
        X = csr_array((file["data"], file["indices"], file["indptr"]), shape=tuple(file["shape"])).toarray()
        y = np.asarray(file["Y"]).argmax(axis=1)
    return X[rows].astype(float), y[rows], "tmc2007-500, first label"


def metric_learn_lfda():
    """metric-learn's class, or None where it is not installed (`pip install metric-learn`).

    Its release 0.7 passes `force_all_finite` to scikit-learn's checks, which newer ones do not know; without that word
    its fit is as published.
    """
    try:
        from metric_learn import LFDA, _util
    except ImportError:
        return None
    for name in ("check_X_y", "check_array"):
        setattr(_util, name, without_word(getattr(_util, name)))
    return LFDA


def without_word(check):
    """The check without the word that it does not know."""
    return lambda *rows, force_all_finite=True, **rest: check(*rows, **rest)


def against_metric_learn(quick: bool, repeats: int) -> None:
    """Fits of the same data; eigenvalues are not compared where names of classes change the rival's result."""
    from proxembed import LFDA

    Rival = metric_learn_lfda()
    n, d = (1000, 50) if quick else (5000, 100)
    lines = []
    for classes in CLASSES:
        X, y = clusters(n, d, classes)
        ours, _ = median_seconds(lambda X=X, y=y: LFDA(n_components=10).fit(X, y), repeats)
        line = [classes, ours, "metric-learn is not installed", "", ""]
        if Rival is not None:
            theirs, _ = median_seconds(lambda X=X, y=y: Rival(n_components=10, k=K).fit(X, y), repeats)
            line[2:] = [theirs, theirs / ours, at_least(theirs / ours, FASTER)]
        lines.append(line)
    show(f"LFDA of {n} x {d}, median of {repeats}", ["classes", "ours, s", "metric-learn, s", "times", "limit"], lines)


def against_neighbours(quick: bool, repeats: int) -> None:
    """The whole fit over one neighbour search of all rows."""
    from sklearn.neighbors import NearestNeighbors

    from proxembed import LFDA

    X, y, origin = first_labels(quick)
    rival, _ = median_seconds(
        lambda: NearestNeighbors(n_neighbors=10, algorithm="brute", n_jobs=2).fit(X).kneighbors(), repeats
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    lines = [["NearestNeighbors(brute, n_jobs=2)", rival, 1.0, "", ""]]
    for method in (LFDA(n_components=10), LFDA(n_components=10, scope="global")):
        seconds, _ = median_seconds(lambda method=method: method.fit(X, y), repeats)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        limits = f"{within(seconds / rival, SLOWER)}; {within(memory, MEMORY)} GB"
        lines.append([repr(method), seconds, seconds / rival, memory, limits])
    title = (
        f"{origin}, {X.shape[0]} x {X.shape[1]}, median of {repeats}; peak of the process before ours {before:.2f} GB"
    )
    show(title, ["task", "seconds", "ratio", "peak GB", "limits"], lines)


def main() -> None:
    options = arguments(__doc__, repeats=3).parse_args()
    fix_threads(options.threads)
    repeats = 1 if options.quick else options.repeats
    against_metric_learn(options.quick, repeats)
    against_neighbours(options.quick, repeats)


if __name__ == "__main__":
    main()
