"""Does `--max-seconds` hold?  Seconds asked and spent by the whole command, on six sets.

    python bench/budgets.py [SET ...] [-j 2]     # fifty (50,000 x 384, 200 labels), words (7,395 x 1,836, 159 labels),
                                                 # tags (8,352 x 256, 9,135 labels, 16.4 per row),
                                                 # tmc2007-500, reuters, enron

The first three are drawn; the others come from $PROXEMBED_DATA, or the folder shared/data beside the checkout. CPU
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
ASKED = {"fifty": 120, "words": 60, "tags": 60, "tmc2007-500": 60, "reuters": 120, "enron": 20}
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


def tags(place: Path) -> Path:
    """Rows of 64 topics in Gaussian features; labels of power-law frequency, each of a few topics, many of one row."""
    rng = np.random.default_rng(0)
    n, c, t = 8352, 9135, 64
    shares = rng.gamma(0.3, size=(n, t))
    shares /= shares.sum(axis=1, keepdims=True)
    X = shares @ rng.normal(size=(t, 256)) + 0.1 * rng.normal(size=(n, 256))
    wanted = (np.arange(c) + 10.0) ** -0.9
    count = np.clip(np.round(wanted * 16.6 * n / wanted.sum()), 1, n // 3).astype(int)
    count[(rng.random(c) < 0.1) & (np.arange(c) > c // 2)] = 1
    topics, Y = rng.dirichlet(np.full(t, 0.05), size=c), np.zeros((n, c), dtype=np.uint8)
    for j in range(c):
        Y[np.argpartition(-(shares @ topics[j]) * rng.gumbel(1, 0.3, size=n), count[j])[: count[j]], j] = 1
    np.savez_compressed(place / "tags.npz", X=X.astype(np.float32), Y=Y)
    return place / "tags.npz"


def spent(file: Path, seconds: int, jobs: str, out: Path) -> tuple[float, float]:
    """Seconds and CPU seconds of the whole command."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-c", "from proxembed.cli import main; main()", "search", str(file)]
    options = ["--max-seconds", str(seconds), "-j", jobs, "-o", str(out)]
    subprocess.run([*command, *options], check=True, capture_output=True)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


DRAWN = {"fifty": fifty, "words": words, "tags": tags}


def main() -> None:
    words_given = sys.argv[1:]
    jobs = words_given.pop(words_given.index("-j") + 1) if "-j" in words_given else "2"
    names = [name for name in words_given if name in ASKED] or list(ASKED)
    print("| set | asked (s) | spent (s) | CPU (s) | page |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name in names:
            file = DRAWN[name](place) if name in DRAWN else DATA / f"{name}.npz"
            wall, cpu = spent(file, ASKED[name], jobs, place / "out")
            whole = (place / "out" / "index.html").exists() and (place / "out" / "model.skops").exists()
            page = "whole" if whole else "missing"
            print(f"| {name} | {ASKED[name]} | {wall:.0f} | {cpu:.0f} | {page} |", flush=True)


if __name__ == "__main__":
    main()
