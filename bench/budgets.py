"""Does `--max-seconds` hold?  Seconds asked and spent by the whole command, on five sets.

    python bench/budgets.py [SET ...] [-j 2]     # fifty (50,000 x 384, 200 labels), words (7,395 x 1,836, 159 labels),
                                                 # tmc2007-500, reuters, enron

The first two are drawn; the others come from $PROXEMBED_DATA, or the folder shared/data beside the checkout. CPU
seconds are those of the program and its processes. Every run must leave a page.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

DATA = Path(os.environ.get("PROXEMBED_DATA", Path(__file__).parents[2] / "shared" / "data"))
ASKED = {"fifty": 120, "words": 60, "tmc2007-500": 60, "reuters": 120, "enron": 20}
POSITIVE = 0.015  # share of the rows that carry a label


def labelled(scores: np.ndarray) -> np.ndarray:
    return (scores >= np.quantile(scores, 1 - POSITIVE, axis=0)).astype(np.uint8)


def fifty(place: Path) -> Path:
    """Gaussian rows, labels by linear scores plus noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50_000, 384)).astype(np.float32)
    W = rng.normal(size=(384, 200)).astype(np.float32) / np.sqrt(384)
    Y = labelled(X @ W + 0.5 * rng.normal(size=(50_000, 200)).astype(np.float32))
    np.savez(place / "fifty.npz", X=X, Y=Y)
    return place / "fifty.npz"


def words(place: Path) -> Path:
    """Rows of 0 and 1, about 80 words each, from 40 topics, which the labels depend on."""
    rng = np.random.default_rng(0)
    topics, shares = rng.dirichlet(np.full(1836, 0.05), size=40), rng.dirichlet(np.full(40, 0.08), size=7395)
    X = sp.csr_matrix((rng.random((7395, 1836)) < np.minimum(83 * shares @ topics, 1)).astype(np.float32))
    Y = labelled(shares @ rng.normal(size=(40, 159)) + 0.15 * rng.normal(size=(7395, 159)))
    np.savez(place / "words.npz", data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, Y=Y)
    return place / "words.npz"


def spent(file: Path, seconds: int, jobs: str, out: Path) -> tuple[float, float]:
    """Seconds and CPU seconds of the whole command."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-c", "from proxembed.cli import main; main()", "search", str(file)]
    options = ["--max-seconds", str(seconds), "-j", jobs, "-o", str(out)]
    subprocess.run([*command, *options], check=True, capture_output=True)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    words_given = sys.argv[1:]
    jobs = words_given.pop(words_given.index("-j") + 1) if "-j" in words_given else "2"
    names = [name for name in words_given if name in ASKED] or list(ASKED)
    print("| set | asked (s) | spent (s) | CPU (s) | page |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name in names:
            file = {"fifty": fifty, "words": words}[name](place) if name in ("fifty", "words") else DATA / f"{name}.npz"
            wall, cpu = spent(file, ASKED[name], jobs, place / "out")
            whole = (place / "out" / "index.html").exists() and (place / "out" / "model.skops").exists()
            page = "whole" if whole else "missing"
            print(f"| {name} | {ASKED[name]} | {wall:.0f} | {cpu:.0f} | {page} |", flush=True)


if __name__ == "__main__":
    main()
