"""Fits on blocks of a Parquet file (5,000,000 x 100 float32, 20 labels): seconds and memory beside reading it.

Every run has a process of its own; a thread samples its resident size. "read" reads all columns
and keeps nothing; "read and X'X" adds each batch to a Gram matrix, tile by tile, the least that any method here needs.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

from measure import PeakMemory, arguments, chosen, fit_arguments, fix_threads, own_process, show, within

D, LABELS, PART = 100, 20, 100_000
ROWS = {False: 5_000_000, True: 100_000}
READ, GRAM, RIVAL = "read", "read and X'X", "IncrementalPCA"
# name -> the most times the seconds of GRAM
CONTENDERS = {
    READ: None,
    GRAM: None,
    RIVAL: None,
    "PCA": None,
    "PLS": None,
    "OPLS ridge 0.1": 1.5,
    "OPLS float32": None,
    "OPLS": None,
    "CopyLDA ridge 0.1": None,
}
MEMORY_LIMIT = 1024  # MiB
TAGS = [f"tag{k}" for k in range(LABELS)]


def write_data(file: Path, rows: int) -> None:
    """Rows and the labels that they tell, in row groups of 100,000."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    draw = np.random.default_rng(0)
    weights = draw.standard_normal((D, LABELS)).astype(np.float32)
    schema = [(f"x{j}", pa.float32()) for j in range(D)] + [(tag, pa.int8()) for tag in TAGS]
    with pq.ParquetWriter(file, pa.schema(schema), use_dictionary=False) as writer:
        for _ in range(rows // PART):
            X = draw.standard_normal((PART, D), dtype=np.float32)
            Y = (X @ weights + 10 * draw.standard_normal((PART, LABELS), dtype=np.float32) > 15).astype(np.int8)
            writer.write_table(pa.table([*X.T, *Y.T], names=[name for name, _ in schema]))


def task(name: str, file: Path):
    """What is timed, as a function."""
    import numpy as np
    from sklearn.decomposition import IncrementalPCA

    from proxembed import OPLS, PCA, PLS, CopyLDA
    from proxembed.algebra.arrays.moments import Moments
    from proxembed.data import parquet_blocks

    precision = "float32" if name.endswith("float32") else "float64"
    blocks = parquet_blocks(file, TAGS, precision=precision)
    if name == READ:
        return lambda: [len(X) for X, _ in blocks]
    if name == GRAM:
        sums = Moments(D, 1, 0, formed=[0])
        return lambda: [sums.update(X, [None], []) for X, _ in blocks]
    if name == RIVAL:
        rival = IncrementalPCA(LABELS)
        return lambda: [rival.partial_fit(np.ascontiguousarray(X)) for X, _ in blocks]
    estimator = {
        "PCA": PCA(n_components=LABELS),
        "PLS": PLS(),
        "OPLS": OPLS(),
        "CopyLDA ridge 0.1": CopyLDA(ridge=0.1),
    }.get(name, OPLS(ridge=0.1))
    return lambda: estimator.fit(blocks)


def one_fit(file: Path, name: str) -> None:
    """Run in this process and print what was measured, as one line of JSON."""
    run = task(name, file)
    memory = PeakMemory()
    memory.start()
    begin, processor = time.perf_counter(), time.process_time()
    run()
    seconds, processor = time.perf_counter() - begin, time.process_time() - processor
    print(json.dumps({"seconds": seconds, "processor": processor, "memory": memory.above_start()}))


def main() -> None:
    parser = arguments(__doc__.partition("\n")[0], repeats=2)
    parser.add_argument("--rows", type=int, default=None, help="rows of the file, a multiple of 100,000")
    fit_arguments(parser, CONTENDERS)
    given = parser.parse_args()
    fix_threads(given.threads)
    if given.fit:
        one_fit(given.folder, given.fit)
        return
    rows = given.rows or ROWS[given.quick]
    names = chosen(CONTENDERS, given.methods)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "rows.parquet")
        write_data(file, rows)
        runs = {}
        for name in dict.fromkeys([GRAM, *names]):
            own = [own_process(__file__, name, file, given.threads) for _ in range(1 if given.quick else given.repeats)]
            runs[name] = {key: min(run[key] for run in own) for key in own[0]}
            print(f"{name}: {runs[name]['seconds']:.3g} s", file=sys.stderr, flush=True)
    table = []
    for name in names:
        seconds, processor, memory = (runs[name][key] for key in ("seconds", "processor", "memory"))
        ratio = seconds / runs[GRAM]["seconds"]
        limits = within(ratio, CONTENDERS[name]), within(memory / 2**20, MEMORY_LIMIT)
        table.append([name, seconds, processor, ratio, limits[0], round(memory / 2**20), limits[1]])
    title = f"{__doc__}\n{rows:,} rows, {given.threads} threads; memory in MiB above the start"
    show(title, ["fit", "seconds", "CPU seconds", f"over {GRAM}", "limit", "memory", "limit"], table)


if __name__ == "__main__":
    main()
