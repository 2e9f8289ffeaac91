"""How fast is a large CSV file read? The ratio to pandas.read_csv of the same file, timed in turn in the same run.

    python bench/read_csv.py [--quick] [--megabytes 1000]

The file is made here: 100 columns of numbers with six decimals and 10 label columns of 0 and 1. pandas gives a
DataFrame; `proxembed.data.read` gives the checked Dataset: a matrix of features and a sparse label indicator. pandas
parses on one core; proxembed parses blocks on all, so the ratio needs two cores. In a small file (--quick) the fixed
costs show.
"""

from __future__ import annotations

import measure

LIMIT = 1.5
FEATURES, LABELS, ROWS = 100, 10, 5_000


def make(path: str, megabytes: int) -> int:
    """Write blocks of the same rows until the file is large enough; its number of rows."""
    import numpy as np

    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(ROWS, FEATURES)), rng.integers(0, 2, (ROWS, LABELS))
    names = [f"x{j}" for j in range(FEATURES)] + [f"y{j}" for j in range(LABELS)]
    lines = (",".join([*(f"{x:.6f}" for x in xs), *map(str, ys)]) for xs, ys in zip(X, Y.tolist(), strict=True))
    block, rows = ("\n".join(lines) + "\n").encode(), 0
    with open(path, "wb") as file:
        file.write((",".join(names) + "\n").encode())
        while file.tell() < megabytes * 1_000_000:
            file.write(block)
            rows += ROWS
    return rows


def main() -> None:
    parser = measure.arguments(__doc__.splitlines()[0], repeats=3)
    parser.add_argument("--megabytes", type=int, default=1000, help="size of the file")
    options = parser.parse_args()
    measure.fix_threads(options.threads)
    import tempfile
    import time
    from pathlib import Path

    import numpy as np
    import pandas as pd

    from proxembed.data import read

    megabytes, repeats = (20, 1) if options.quick else (options.megabytes, options.repeats)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "made.csv"))
        rows = make(path, megabytes)
        tasks = {"proxembed": lambda: read(path, labels="y*"), "pandas": lambda: pd.read_csv(path)}
        seconds: dict[str, list[float]] = {name: [] for name in tasks}
        for repeat in range(repeats + 1):
            for name, task in tasks.items():
                start = time.perf_counter()
                table = task()
                if repeat > 0:  # the first one warms up
                    seconds[name].append(time.perf_counter() - start)
                if len(table.X if name == "proxembed" else table) != rows:
                    raise SystemExit(f"{name} did not read {rows} rows")
                del table
        ours, theirs = (float(np.median(seconds[name])) for name in tasks)
        ratio = ours / theirs
        measure.show(
            f"CSV of {megabytes} MB, {rows:,} rows x {FEATURES + LABELS} columns",
            ["reader", "seconds", "ratio", "limit"],
            [
                ["proxembed", ours, ratio, measure.within(ratio, None if options.quick else LIMIT)],
                ["pandas.read_csv", theirs, 1.0, ""],
            ],
        )


if __name__ == "__main__":
    main()
