"""MESD against explicit duplication of the rows (seconds; memory of the search), and against scikit-learn's brute-force
neighbour search on the training rows of Reuters-21578."""

import multiprocessing
import resource
import statistics
import time
from concurrent.futures import ProcessPoolExecutor

from contenders import data_file
from measure import arguments, at_least, fix_threads, show, within

CARDINALITIES = (1, 2, 4, 8)
CLASSES = 16
METHODS = ("FDA", "LFDA", "MFA", "DNE")
SLOWER, MEMORY_SHARE, REUTERS = 1.0, 4.0, 1.5
K = 5
REUTERS_TASKS = (
    ("MESD(LFDA(ridge=1.0), n_components=10)", "fit"),
    ("MESD(MFA(ridge=1.0), n_components=10)", "fit"),
    ("MESD(MFA(ridge=1.0, pairs='point'), n_components=10)", "fit"),
    ("MESD(LFDA())", "template"),
    ("MESD(MFA())", "template"),
    ("MESD(MFA(pairs='point'))", "template"),
    ("MESD(DNE(scope='class'))", "template"),
)


def planted(n: int, d: int, labels: int):
    """Rows around the means of their label sets, with a given number of labels each."""
    import numpy as np

    rng = np.random.default_rng(0)
    Y = np.zeros((n, CLASSES), dtype=int)
    for row in Y:
        row[rng.choice(CLASSES, labels, replace=False)] = 1
    return Y @ rng.standard_normal((CLASSES, d)) + rng.standard_normal((n, d)) * np.linspace(2.0, 0.5, d), Y


def duplicated(X, Y):
    """Each row once per label, and the label of each copy."""
    import numpy as np

    row, label = np.nonzero(Y)
    return X[row], label


def both_fits(name: str, n: int, d: int, labels: int):
    """The fit of MESD, and that of the method on duplicated rows; the duplication is part of the second."""
    import proxembed

    X, Y = planted(n, d, labels)
    base = getattr(proxembed, name)(n_components=5)
    ridge = {"ridge": 1e-3} if hasattr(base, "ridge_scale") and "ridge" in base.get_params() else {}
    base.set_params(**ridge)
    return lambda: proxembed.MESD(base).fit(X, Y), lambda: base.fit(*duplicated(X, Y))


def in_turns(tasks, repeats: int, warm: bool = True) -> list[float]:
    """Median seconds of each task, run in turns so that they meet the same load."""
    seconds = [[] for _ in tasks]
    for task in tasks if warm else ():
        task()
    for _ in range(repeats):
        for own, task in zip(seconds, tasks, strict=True):
            start = time.perf_counter()
            task()
            own.append(time.perf_counter() - start)
    return [statistics.median(own) for own in seconds]


def peak_of_search(task: str, n: int, d: int, labels: int) -> int:
    """Bytes by which a search of enemies raises the peak of a fresh process; a small search comes before it."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_peak, task, n, d, labels).result()


def _peak(task: str, n: int, d: int, labels: int) -> int:
    import tracemalloc

    from proxembed.estimator.rows import Rows
    from proxembed.targets.labels import LabelMatrix

    X, Y = planted(n, d, labels)

    def search(X, Y) -> None:
        if task == "MESD":
            Rows(X, LabelMatrix.of(Y), weighting="none").enemies(K)
        else:
            copies, label = duplicated(X, Y)
            Rows(copies, LabelMatrix.of(label)).enemies(K)

    search(X[:50], Y[:50])
    tracemalloc.start()
    search(X, Y)
    return tracemalloc.get_traced_memory()[1]


def against_duplication(names: list[str], quick: bool, repeats: int) -> None:
    n, d = (400, 100) if quick else (1500, 100)
    lines = []
    for labels in CARDINALITIES:
        for name in names:
            ours, theirs = in_turns(both_fits(name, n, d, labels), repeats)
            lines.append([name, labels, ours, theirs, theirs / ours, within(ours / theirs, SLOWER)])
    title = f"fits of {n} x {d}, {CLASSES} labels, median of {repeats} in turns; within: ours over duplication"
    show(title, ["method", "labels per row", "MESD, s", "duplicated, s", "times", "limit"], lines)


def memory_against_duplication(quick: bool) -> None:
    n, d = (400, 100) if quick else (3000, 2000)
    lines = []
    for labels in CARDINALITIES:
        ours, theirs = peak_of_search("MESD", n, d, labels), peak_of_search("duplicated", n, d, labels)
        verdict = "" if labels != 4 else at_least(theirs / ours, MEMORY_SHARE)
        lines.append([labels, ours / 2**20, theirs / 2**20, theirs / ours, verdict])
    title = f"peak of the search of {K} enemies per copy, {n} x {d}, each in a fresh process"
    show(title, ["labels per row", "MESD, MB", "duplicated, MB", "times less", "limit"], lines)


def reuters(quick: bool):
    """Sublinear tf-idf of the training rows and their labels."""
    import numpy as np
    from scipy.sparse import csr_array
    from sklearn.feature_extraction.text import TfidfTransformer

    path = data_file("reuters.npz")
    if path is None:
        return None
    with np.load(path, allow_pickle=False) as file:
        counts = csr_array((file["data"], file["indices"], file["indptr"]), shape=tuple(file["shape"])).astype(float)
        rows = file["train_idx"][: 1000 if quick else None]
        Y = np.asarray(file["Y"])[rows]
    return csr_array(TfidfTransformer(sublinear_tf=True).fit_transform(counts[rows])), Y[:, Y.any(axis=0)]


def against_neighbours(quick: bool, repeats: int) -> None:
    """Fits, and the templates alone (neighbour searches and operators: what MESD itself adds), over one search."""
    found = reuters(quick)
    if found is None:
        print("Reuters-21578 is not here (set PROXEMBED_DATA): no comparison with neighbour searches.")
        return
    from sklearn.neighbors import NearestNeighbors

    import proxembed
    from proxembed.estimator.rows import Rows
    from proxembed.targets.labels import LabelMatrix

    X, Y = found
    labels = LabelMatrix.of(Y)

    def rival():
        return NearestNeighbors(n_neighbors=10, algorithm="brute", n_jobs=2).fit(X).kneighbors()

    rival()
    lines = []
    for words, part in sorted(REUTERS_TASKS, key=lambda task: task[1], reverse=True):  # fits raise the peak
        method = eval(words, vars(proxembed) | {name: getattr(proxembed, name) for name in proxembed.__all__})
        whole = lambda method=method: method.fit(X, Y)  # noqa: E731
        alone = lambda method=method: method.method.template(Rows(X, labels, weighting="none"))  # noqa: E731
        fit = part == "fit"
        theirs, ours = in_turns((rival, whole if fit else alone), 1 if fit else repeats, warm=not fit)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        solver = method.solver_ if fit else ""
        lines.append([words, part, ours, theirs, ours / theirs, within(ours / theirs, REUTERS), peak, solver])
    title = f"Reuters-21578, training rows {X.shape[0]} x {X.shape[1]}; rival NearestNeighbors(10, brute, n_jobs=2)"
    show(title, ["task", "part", "ours, s", "rival, s", "ratio", "limit", "peak so far, GB", "solver"], lines)


def main() -> None:
    parser = arguments(__doc__, repeats=3)
    parser.add_argument("--parts", default="seconds,memory,reuters", help="which tables, separated by commas")
    options = parser.parse_args()
    fix_threads(options.threads)
    names = [name for name in METHODS if not options.methods or name in options.methods.split(",")]
    repeats = 1 if options.quick else options.repeats
    parts = options.parts.split(",")
    if "memory" in parts:
        memory_against_duplication(options.quick)
    if "seconds" in parts:
        against_duplication(names, options.quick, repeats)
    if "reuters" in parts:
        against_neighbours(options.quick, repeats)


if __name__ == "__main__":
    main()
