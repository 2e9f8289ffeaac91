"""How long do new rows take beside scikit-learn, a PCA of float32 rows, and MFA beside its own neighbour search?

CPU seconds of both sides in turn, in one process. The ratio is the median of those of all turns, and its spread their
quartiles. ``transform`` has k components of a fitted PCA, against scikit-learn's PCA.transform, or of a fitted LSI of
sparse rows (80 entries a row), against TruncatedSVD.transform. PCA of float32 rows is fitted with 10 components,
against scikit-learn's of as many at its defaults. MFA is fitted to rows of six classes, dense and wide sparse ones (2 %
filled), against the searches that this fit makes.
"""

import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from measure import arguments, chosen, fix_threads, show, within

EQUAL, SEARCH = 1.05, 1.575  # 1 and 1.5, and 5 % for the spread
TRANSFORM = {"float64": EQUAL, "float32": None}  # float32 rows are multiplied in float64 here, and in float32 there
COMPONENTS, FITTED, ENTRIES = (1, 5, 20), 10, 80
TURN = 0.05  # CPU seconds of the rival in a turn, at least: shorter calls are repeated
DENSE = {False: ((100_000, 100), (2_000, 100)), True: ((2_000, 20),)}
SPARSE = {False: ((100_000, 20_000),), True: ((2_000, 1_000),)}
SINGLE = {False: ((20_000, 200), (5_000, 500)), True: ((2_000, 50),)}
LABELLED = {False: (6_000, 100), True: (600, 20)}
WIDE, FILLED = {False: (6_000, 1_500), True: (600, 60)}, 0.02


class Case(NamedTuple):
    """One operation, ours and the rival's."""

    name: str
    ours: Callable[[], Any]
    rival: Callable[[], Any]
    limit: float | None


def drawn(shape: tuple[int, int], precision: str = "float64") -> Any:
    """Rows whose features depend on each other, away from the origin."""
    import numpy as np

    draw = np.random.default_rng(0)
    n, d = shape
    X = draw.standard_normal((n, d)) @ (draw.standard_normal((d, d)) / d**0.5) + draw.standard_normal(d)
    return X.astype(precision)


def dense(quick: bool) -> Iterator[Case]:
    from sklearn.decomposition import PCA as TheirPCA

    from proxembed import PCA

    for shape in DENSE[quick]:
        for precision in ("float64", "float32"):
            X = drawn(shape, precision)
            for k in COMPONENTS:
                ours, theirs = PCA(n_components=k).fit(X), TheirPCA(k).fit(X)
                name = f"transform {shape[0]:,} x {shape[1]} {precision}, k = {k}"
                tasks = [lambda X=X, one=one: one.transform(X) for one in (ours, theirs)]
                yield Case(name, *tasks, TRANSFORM[precision])


def sparse(quick: bool) -> Iterator[Case]:
    from scipy.sparse import random_array
    from sklearn.decomposition import TruncatedSVD

    from proxembed import LSI

    for n, d in SPARSE[quick]:
        for precision in ("float64", "float32"):
            X = random_array((n, d), density=ENTRIES / d, format="csr", rng=0, dtype=precision)
            for k in COMPONENTS:
                ours, theirs = LSI(n_components=k).fit(X[:2_000]), TruncatedSVD(k, random_state=0).fit(X[:2_000])
                name = f"transform {n:,} x {d:,} sparse {precision}, k = {k}"
                tasks = [lambda X=X, one=one: one.transform(X) for one in (ours, theirs)]
                yield Case(name, *tasks, TRANSFORM[precision])


def float32(quick: bool) -> Iterator[Case]:
    from sklearn.decomposition import PCA as TheirPCA

    from proxembed import PCA

    for shape in SINGLE[quick]:
        X = drawn(shape, "float32")
        name = f"PCA({FITTED}) of float32, {shape[0]:,} x {shape[1]}"
        both = PCA(n_components=FITTED), TheirPCA(FITTED, random_state=0)
        yield Case(name, *(lambda X=X, one=one: one.fit(X) for one in both), EQUAL)


def mfa(quick: bool) -> Iterator[Case]:
    import numpy as np
    from scipy.sparse import csr_array, random_array

    from proxembed import MFA
    from proxembed.estimator.rows import Rows
    from proxembed.targets.labels import LabelMatrix

    n, d = LABELLED[quick]
    draw = np.random.default_rng(0)
    y = draw.integers(0, 6, n)
    X = drawn((n, d)) + draw.standard_normal((6, d))[y]
    n, d = WIDE[quick]
    labels = draw.integers(0, 6, n)
    own = csr_array((np.ones(n), (np.arange(n), 5 * labels + draw.integers(0, 5, n))), shape=(n, d))
    wide = csr_array(random_array((n, d), density=FILLED, format="csr", rng=0) + own)
    for name, rows, classes in (("", X, y), (" sparse", wide, labels)):
        searches = partial(lambda rows, classes: MFA().search(Rows(rows, LabelMatrix.of(classes))), rows, classes)
        shape = f"MFA, {rows.shape[0]:,} x {rows.shape[1]:,}{name}, 6 classes"
        yield Case(shape, partial(MFA().fit, rows, classes), searches, SEARCH)


KINDS = {"dense": dense, "sparse": sparse, "float32": float32, "mfa": mfa}


def cpu_seconds(task: Callable[[], Any], times: int) -> float:
    """CPU seconds of one call, in the mean of several."""
    started = time.process_time()
    for _ in range(times):
        task()
    return (time.process_time() - started) / times


def measured(case: Case, turns: int) -> list[Any]:
    """CPU seconds of both in the median, of their ratios the median and the quartiles."""
    case.ours()
    case.rival()
    times = max(1, round(TURN / max(cpu_seconds(case.rival, 1), 1e-6)))
    found = [(cpu_seconds(case.ours, times), cpu_seconds(case.rival, times)) for _ in range(turns)]
    ratios = [ours / rival for ours, rival in found]
    low, middle, high = statistics.quantiles(ratios, n=4) if turns > 1 else ratios * 3
    ours, rival = (statistics.median(column) for column in zip(*found, strict=True))
    return [ours, rival, middle, f"{low:.2f}-{high:.2f}"]


def main() -> None:
    parser = arguments(__doc__.partition("\n")[0], repeats=7)
    parser.set_defaults(threads=1)
    given = parser.parse_args()
    fix_threads(given.threads)
    rows, turns = [], 1 if given.quick else given.repeats
    for kind in chosen(KINDS, given.methods):
        for case in KINDS[kind](given.quick):
            found = measured(case, turns)
            rows.append([case.name, *found, within(found[2], case.limit)])
    columns = ["operation", "ours, s", "rival, s", "ratio", "quartiles", "limit"]
    show(f"{__doc__}\n{given.threads} threads of BLAS, {turns} turns", columns, rows)


if __name__ == "__main__":
    main()
