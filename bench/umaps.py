"""What does UMAP cost?  CPU seconds of UMAP and supervised UMAP at one size, beside their forecast.

    python bench/umaps.py [--few]     # --few: without the shapes of 4,000 rows and more

Rows are drawn; training rows and a quarter as many held-out ones are placed. Printed per shape: seconds, and forecast /
measured; of the first shapes, small and large, most is compiled, which is printed beside them. At the end coefficients
of non-negative least squares on the relative error, of which `evaluate.rivals.maps` has those of the machine of
``costs.PROBE`` (printed: its seconds here).
"""

import os
import sys
import time
import warnings
from typing import Any

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402
from scipy.optimize import nnls  # noqa: E402

from proxembed.evaluate import costs  # noqa: E402
from proxembed.evaluate.rivals import maps  # noqa: E402
from proxembed.evaluate.rivals.rival import DataFacts  # noqa: E402
from proxembed.targets.labels import LabelMatrix  # noqa: E402

SHAPES = (  # rows, features, labels, size
    (500, 20, 6, 2),
    (1000, 100, 6, 20),
    (2000, 500, 6, 2),
    (2000, 100, 50, 2),
    (3000, 36, 6, 10),
    (4000, 100, 20, 2),
    (5000, 500, 20, 20),
    (8000, 100, 6, 2),
)


def drawn(n: int, d: int, c: int, classes: bool) -> tuple[np.ndarray, LabelMatrix]:
    """Gaussian rows with the labels of four in five: classes, or sets in which each label has a tenth of the rows."""
    random = np.random.default_rng(n + d + c)
    X = random.normal(size=(n + n // 4, d))
    S = X[:, : min(d, 20)] @ random.normal(size=(min(d, 20), c)) + random.normal(size=(len(X), c))
    Y = np.eye(c)[S.argmax(axis=1)] if classes else np.quantile(S, 0.9, axis=0) <= S
    return X, LabelMatrix.of(Y[:n].astype(np.uint8))


def seconds(rival: Any, X: np.ndarray, labels: LabelMatrix, k: int) -> float:
    started = time.process_time()
    model = rival(k, random_state=0).fit(X[: labels.n], labels)
    model.transform(X[labels.n :])
    return time.process_time() - started


def main() -> None:
    warnings.simplefilter("ignore")
    print(f"probe {np.median([costs.speed_probe(time.process_time) for _ in range(costs.PROBES)]):.4f} s")
    found = []
    for rival, classes in ((maps.UMAP, True), (maps.SupervisedUMAP, True), (maps.SupervisedUMAP, False)):
        before = None
        for n, d, c, k in SHAPES[: 5 if "--few" in sys.argv else None]:
            X, labels = drawn(n, d, c, classes)
            facts = DataFacts(costs.Shape(n, d, float(d), c), one_class=classes)
            forecast = (rival.forecast(facts._replace(splits=2)) - rival.forecast(facts._replace(splits=1))) / 2
            descends = n >= maps.DESCENT_ROWS
            if before != descends:  # compiled before it is measured
                print(
                    f"{rival.title}, {n:,} rows: {seconds(rival, X, labels, k):.1f} s with what is compiled", flush=True
                )
                before = descends
            spent = seconds(rival, X, labels, k)
            sets = rival.crossed and not classes
            found.append(
                (
                    [n * (not descends), n**2 * (not descends), n * descends, sets * n * min(1, maps.MANY_SETS / c)],
                    spent,
                )
            )
            kind = "" if not rival.crossed else " of classes" if classes else " of label sets"
            print(
                f"{rival.title}{kind} {n:5d} x {d:3d}, {c:2d} labels, size {k:2d}: {spent:6.2f} s, "
                f"forecast / measured {forecast / spent:.2f}",
                flush=True,
            )
    A, b = np.array([values for values, _ in found], dtype=float), np.array([spent for _, spent in found])
    scale = np.maximum(A.max(axis=0), 1.0)
    weights = nnls(A / b[:, None] / scale, np.ones(len(b)))[0] / scale
    named = zip(("PLACED", "PAIR", "DESCENDED", "SET"), weights, strict=True)
    print(" ".join(f"{name} {weight:.2g}" for name, weight in named))


if __name__ == "__main__":
    main()
