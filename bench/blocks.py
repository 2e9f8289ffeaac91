"""Fits on blocks of a Parquet file (1,000,000 x 100 float32, 20 labels): seconds and memory beside reading it.

Every run has a process of its own; a thread samples its resident size. "read" reads all columns and keeps nothing.
"read and X'X" is the least that most methods need, by hand: batches of 65,536 rows, each column copied into a reused
tile of 8,192 rows in Fortran order, DSYRK. "column_stack and X'X" is the plain way. CPU seconds count all threads.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

from measure import PeakMemory, arguments, chosen, fit_arguments, fix_threads, own_process, show, within

D, LABELS, PART = 100, 20, 100_000
ROWS = {False: 1_000_000, True: 100_000}
READ, GRAM, PLAIN, RIVAL = "read", "read and X'X", "column_stack and X'X", "IncrementalPCA"
BATCH, TILE = 65_536, 8_192
# name -> the most times the CPU seconds of GRAM
CONTENDERS = {
    READ: None,
    GRAM: None,
    PLAIN: None,
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


def write_data(file: Path, rows: int, seed: int = 0) -> None:
    """Rows and the labels that they tell, by the same weights whatever the seed, in row groups of 100,000."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    weights = np.random.default_rng(0).standard_normal((D, LABELS)).astype(np.float32)
    draw = np.random.default_rng([1, seed])
    schema = [(f"x{j}", pa.float32()) for j in range(D)] + [(tag, pa.int8()) for tag in TAGS]
    with pq.ParquetWriter(file, pa.schema(schema), use_dictionary=False) as writer:
        for _ in range(rows // PART):
            X = draw.standard_normal((PART, D), dtype=np.float32)
            Y = (X @ weights + 10 * draw.standard_normal((PART, LABELS), dtype=np.float32) > 15).astype(np.int8)
            writer.write_table(pa.table([*X.T, *Y.T], names=[name for name, _ in schema]))


def batches(file: Path):
    """The columns of X of each batch, by pyarrow."""
    import pyarrow.parquet as pq

    names = [f"x{j}" for j in range(D)]
    for batch in pq.ParquetFile(file, pre_buffer=False).iter_batches(BATCH, columns=names):
        yield [batch.column(j).to_numpy() for j in range(D)]


def tiled_gram(file: Path) -> None:
    """X'X by tiles that are reused."""
    import numpy as np
    from scipy.linalg.blas import dsyrk

    G, tile = np.zeros((D, D), order="F"), np.empty((TILE, D), order="F")
    for columns in batches(file):
        for start in range(0, len(columns[0]), TILE):
            rows = min(TILE, len(columns[0]) - start)
            own = tile if rows == TILE else np.empty((rows, D), order="F")
            for j, column in enumerate(columns):
                own[:, j] = column[start : start + rows]
            dsyrk(1.0, own, beta=1.0, c=G, trans=1, overwrite_c=1)


def plain_gram(file: Path) -> None:
    """X'X of one array a batch."""
    import numpy as np

    G = np.zeros((D, D))
    for columns in batches(file):
        X = np.column_stack(columns).astype(np.float64)
        G += X.T @ X


def task(name: str, file: Path):
    """What is timed, as a function."""
    import numpy as np
    from sklearn.decomposition import IncrementalPCA

    from proxembed import OPLS, PCA, PLS, CopyLDA
    from proxembed.data import parquet_blocks

    precision = "float32" if name.endswith("float32") else "float64"
    blocks = parquet_blocks(file, TAGS, precision=precision)
    if name == READ:
        return lambda: [len(X) for X, _ in blocks]
    if name in (GRAM, PLAIN):
        return lambda: (tiled_gram if name == GRAM else plain_gram)(file)
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
        wall, ratio = seconds / runs[GRAM]["seconds"], processor / runs[GRAM]["processor"]
        limits = within(ratio, CONTENDERS[name]), within(memory / 2**20, MEMORY_LIMIT)
        table.append([name, seconds, processor, wall, ratio, limits[0], round(memory / 2**20), limits[1]])
    title = f"{__doc__}\n{rows:,} rows, {given.threads} threads; memory in MiB above the start"
    columns = ["fit", "seconds", "CPU seconds", f"over {GRAM}", "CPU over", "limit", "memory", "limit"]
    show(title, columns, table)


if __name__ == "__main__":
    main()
