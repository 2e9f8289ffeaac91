"""OPLS with ridge="auto" over OPLS with a given ridge, and the checks of X and y over that fit; CPU seconds, in turn.

Beside them the least that any such fit needs: X'X in float64 by tiles, X'Y by dense tiles, and the eigenvectors of X'X.
"""

import time
from collections.abc import Callable
from typing import Any

from measure import arguments, fix_threads, show, within

SHAPES = {False: ((300_000, 100, 20), (50_000, 384, 200)), True: ((3_000, 50, 10),)}
AUTO, CHECKS, TILE = 1.6, 0.1, 8192


def drawn(n: int, d: int, c: int) -> tuple[Any, Any]:
    """float32 rows and 0/1 labels that they tell, about 15 % of them on."""
    import numpy as np

    draw = np.random.default_rng(0)
    X = draw.standard_normal((n, d), dtype=np.float32)
    scores = X @ draw.standard_normal((d, c), dtype=np.float32)
    noise = draw.standard_normal((n, c), dtype=np.float32)
    return X, (scores + d**0.5 * noise > 1.5 * d**0.5).astype(np.int8)


def least(X, Y) -> None:
    """X'X, X'Y and eigenvectors, by SciPy's BLAS."""
    import numpy as np
    from scipy.linalg import eigh
    from scipy.linalg.blas import dgemm, dsyrk

    G, E = np.zeros((X.shape[1],) * 2, order="F"), 0.0
    for start in range(0, len(X), TILE):
        rows, own = X[start : start + TILE].astype(float).T, Y[start : start + TILE].astype(float).T
        dsyrk(1.0, rows, beta=1.0, c=G, lower=1, overwrite_c=1)
        E = E + dgemm(1.0, rows, own, trans_b=1)
    eigh(G, lower=True)


def cpu_seconds(tasks: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """The least CPU seconds of each task, run in turn."""
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(repeats):
        for name, task in tasks.items():
            started = time.process_time()
            task()
            seconds[name].append(time.process_time() - started)
    return {name: min(found) for name, found in seconds.items()}


def main() -> None:
    options = arguments(__doc__.partition("\n")[0]).parse_args()
    fix_threads(options.threads)
    from proxembed import OPLS

    rows = []
    for shape in SHAPES[options.quick]:
        X, Y = drawn(*shape)
        tasks = {
            "least": lambda X=X, Y=Y: least(X, Y),
            "given": lambda X=X, Y=Y: OPLS(ridge=0.1).fit(X, Y),
            "auto": lambda X=X, Y=Y: OPLS().fit(X, Y),
            "checks": lambda X=X, Y=Y: OPLS()._validate(X, Y),
        }
        found = cpu_seconds(tasks, 1 if options.quick else options.repeats)
        auto, checks = found["auto"] / found["given"], found["checks"] / found["given"]
        rows.append([" x ".join(map(str, shape)), *found.values(), auto, within(auto, AUTO)])
        rows[-1] += [checks, within(checks, CHECKS)]
    columns = ["n x d x c", *tasks, "auto / given", "limit", "checks / given", "limit"]
    show(f"{__doc__}\n{options.threads} threads of BLAS, least of {options.repeats}", columns, rows)


if __name__ == "__main__":
    main()
