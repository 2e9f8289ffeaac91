"""How fast is the ARFF reader? Ratios against scipy.io.arff and liac-arff, timed in the same run.

    python bench/read_arff.py [--quick]

Reads real files from $PROXEMBED_DATA (or ../shared/data) where that folder is there, and synthetic ones besides.
A ratio under 1 means that the rival takes longer. The limits: no slower than scipy on dense files, at most a fifth of
liac-arff's time on sparse ones (the copy of liac-arff that scikit-learn carries, where the package is not installed),
and all of tmc2007-500 (two sparse files, 28,596 rows) in under 3 seconds. scipy reads neither sparse files nor quoted
text values.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import gzip
import importlib
import io
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TextIO

import numpy as np
from scipy.io import arff as scipy_arff
from scipy.sparse import csr_array

from measure import show, within
from proxembed.data import read

REAL = (
    "emotions-train.arff",
    "yeast-train.arff",
    "birds-train.arff",
    "enron-train.arff.gz",
    "tmc2007-500-train.arff.gz",
)
PAIR = ("tmc2007-500-train.arff.gz", "tmc2007-500-test.arff.gz")
PAIR_SECONDS = 3.0
DENSE_RATIO, SPARSE_RATIO = 1.0, 0.2


def seconds(work: Callable[[], object], repeats: int) -> float:
    """Median wall time of a call, after one call to warm up."""
    work()
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def synthetic(folder: Path, rows: int) -> list[Path]:
    """Files of one shape each: numbers only, numbers and text values, sparse."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(rows, 50)).round(6), rng.integers(0, 2, rows)
    numbers = "".join(f"@attribute x{j} numeric\n" for j in range(50))
    colours = np.array(["red", "green", "blue"])[rng.integers(0, 3, rows)]
    cells = [",".join(map(str, row)) for row in X.tolist()]
    marks = [np.flatnonzero(row) for row in rng.random((rows, 50)) < 0.2]
    label, values = "@attribute y {0,1}\n", "@attribute c {red,green,blue}\n"
    texts = {
        "numbers": f"{numbers}{label}@data\n" + "\n".join(f"{c},{v}" for c, v in zip(cells, y, strict=True)),
        "text": f"{numbers}{values}{label}@data\n"
        + "\n".join(f"{c},{t},{v}" for c, t, v in zip(cells, colours, y, strict=True)),
        "sparse": f"{numbers}{label}@data\n" + "\n".join("{" + ",".join(f"{j} 1" for j in m) + "}" for m in marks),
    }
    for name, text in texts.items():
        (folder / f"synthetic-{name}.arff").write_text(f"@relation 'made: -C -1'\n{text}\n")
    return [folder / f"synthetic-{name}.arff" for name in texts]


def liac_arff() -> tuple[str, ModuleType | None]:
    """liac-arff, or scikit-learn's copy of it, with the name to print."""
    for name, module in (("liac-arff", "arff"), ("liac-arff (scikit-learn's copy)", "sklearn.externals._arff")):
        try:
            return name, importlib.import_module(module)
        except ImportError:
            continue
    return "liac-arff: not installed", None


def opened(path: Path) -> TextIO:
    return io.TextIOWrapper((gzip.open if path.suffix == ".gz" else open)(path, "rb"), "utf-8")


def matrix_by_liac(arff: ModuleType, path: Path, is_sparse: bool) -> object:
    """The numbers of a file as a matrix, which is what `read` gives besides labels and names."""
    with opened(path) as stream:
        loaded = arff.load(stream, encode_nominal=True, return_type=arff.COO if is_sparse else arff.DENSE)
    if not is_sparse:
        return np.array(loaded["data"], dtype=np.float64)
    values, rows, columns = loaded["data"]
    return csr_array((np.array(values, dtype=np.float64), (rows, columns)))


def matrix_by_scipy(path: Path) -> object:
    with opened(path) as stream:
        return scipy_arff.loadarff(stream)[0]


def rivals(path: Path) -> dict[str, tuple[Callable[[], object], float | None]]:
    """What else can read the file, with the limit of our ratio to it."""
    with opened(path) as stream:
        is_sparse = "\n{" in stream.read().lower().partition("@data")[2]
    found: dict[str, tuple[Callable[[], object], float | None]] = {}
    if not is_sparse:
        found["scipy.io.arff"] = (lambda: matrix_by_scipy(path)), DENSE_RATIO
    name, arff = liac_arff()
    if arff is not None:
        found[name] = (lambda: matrix_by_liac(arff, path, is_sparse)), SPARSE_RATIO if is_sparse else None
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rows and repeats")
    quick = parser.parse_args().quick
    repeats = 3 if quick else 7
    folder = Path(os.environ.get("PROXEMBED_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
    rows = []
    with tempfile.TemporaryDirectory() as made:
        files = [folder / name for name in REAL if (folder / name).is_file()]
        if quick:
            files = [path for path in files if "tmc2007" not in path.name]
        files += synthetic(Path(made), 1_000 if quick else 20_000)
        for path in files:
            ours = seconds(lambda path=path: read(path), repeats)
            for name, (rival, limit) in rivals(path).items():
                ratio = ours / seconds(rival, repeats)
                rows.append([path.name, ours, name, ratio, within(ratio, limit)])
    if all((folder / name).is_file() for name in PAIR):
        ours = seconds(lambda: read(folder / PAIR[0], test=folder / PAIR[1]), repeats)
        rows.append(["tmc2007-500, both files", ours, "", "", f"{within(ours, PAIR_SECONDS)} s"])
    if liac_arff()[1] is None:
        print("liac-arff is not installed: no ratio to it")
    show(__doc__.splitlines()[0], ["file", "seconds", "rival", "ours / rival", "limit"], rows)


if __name__ == "__main__":
    main()
