"""How fast is the ARFF reader? Ratios against scipy.io.arff and liac-arff, timed in the same run.

    python bench/read_arff.py [--quick]

Reads real files from $PROXEMBED_DATA (or ../shared/data) where that folder is there, and synthetic ones besides.
A ratio under 1 means that the rival takes longer. scipy reads neither sparse files nor quoted text values.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import gzip
import importlib.util
import io
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.io import arff as scipy_arff

from proxembed.data import read

REAL = ("emotions-train.arff", "yeast-train.arff", "birds-train.arff", "tmc2007-500-train.arff.gz")


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


def rivals(path: Path) -> dict[str, Callable[[], object] | str]:
    """What else can read the file, or why it cannot."""
    content = (gzip.open if path.suffix == ".gz" else open)(path, "rb").read().decode()
    is_sparse = "\n{" in content.lower().partition("@data")[2]
    found: dict[str, Callable[[], object] | str] = {}
    found["scipy.io.arff"] = "cannot read sparse" if is_sparse else lambda: scipy_arff.loadarff(io.StringIO(content))
    if importlib.util.find_spec("arff") is None:
        found["liac-arff"] = "not installed"
    else:
        import arff

        form = arff.COO if is_sparse else arff.DENSE
        found["liac-arff"] = lambda: arff.loads(content, return_type=form)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rows and repeats")
    quick = parser.parse_args().quick
    repeats = 3 if quick else 7
    folder = Path(os.environ.get("PROXEMBED_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
    with tempfile.TemporaryDirectory() as made:
        files = [folder / name for name in REAL if (folder / name).is_file()]
        files += synthetic(Path(made), 1_000 if quick else 20_000)
        print(f"{'file':28} {'proxembed':>12}   ours / rival")
        for path in files:
            ours = seconds(lambda path=path: read(path), repeats)
            line = f"{path.name:28} {1e3 * ours:9.1f} ms"
            for name, rival in rivals(path).items():
                told = rival if isinstance(rival, str) else f"{ours / seconds(rival, repeats):.3f}"
                line += f"   {name}: {told}"
            print(line)


if __name__ == "__main__":
    main()
