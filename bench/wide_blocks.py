"""Fits on memory-mapped CSR parts too wide for X'X (2,000,000 x 200,000, 80 non-zeros a row): time and memory.

OPLS at ridge 1 takes conjugate gradients, a reading for each step; PLS takes one reading. Memory is that of arrays (the
resident size less mapped pages), sampled by a thread in a process of its own.
"""

import json
import tempfile
import time
from pathlib import Path

from measure import ArrayMemory, arguments, chosen, fit_arguments, fix_threads, own_process, show, within

LABELS, NNZ, PART = 50, 80, 100_000
SIZES = {False: (2_000_000, 200_000), True: (20_000, 6_000)}
NAMES = ("read", "PLS", "OPLS ridge 1", "CCA ridge 1")
MEMORY_LIMIT = 2048  # MiB


def write_data(folder: Path, n: int, d: int) -> None:
    """Parts of rows with words of a topic each, and labels that the topics tell."""
    import numpy as np

    draw = np.random.default_rng(0)
    for number, start in enumerate(range(0, n, PART)):
        rows, part = min(PART, n - start), folder / f"part{number:03d}"
        part.mkdir()
        topic = draw.integers(0, LABELS, rows)
        width = d // NNZ  # one word of each strip, so that none comes twice
        words = draw.integers(0, width, (rows, NNZ))
        words[:, ::4] = (topic[:, None] * (width // LABELS) + words[:, ::4] % max(width // LABELS, 1)) % width
        words += width * np.arange(NNZ)
        np.save(part / "indices.npy", words.astype(np.int32).ravel())
        np.save(part / "data.npy", draw.random(rows * NNZ, dtype=np.float32))
        np.save(part / "indptr.npy", np.arange(rows + 1, dtype=np.int64) * NNZ)
        Y = draw.random((rows, LABELS)) < 0.01
        Y[np.arange(rows), topic] |= draw.random(rows) < 0.8
        np.save(folder / f"y{number:03d}.npy", Y.astype(np.int8))


def one_fit(folder: Path, name: str) -> None:
    """Run in this process and print what was measured, as one line of JSON."""
    from proxembed import CCA, OPLS, PLS, RowBlocks

    d, readings = int((folder / "d").read_text()), []
    source = RowBlocks.from_csr(sorted(folder.glob("part*")), d, sorted(folder.glob("y*.npy")), block_rows=PART // 4)
    rows = RowBlocks(lambda: readings.append(1) or iter(source))
    methods = {"PLS": PLS(), "OPLS ridge 1": OPLS(ridge=1.0), "CCA ridge 1": CCA(ridge=1.0)}
    memory = ArrayMemory()
    memory.start()
    begin, processor = time.perf_counter(), time.process_time()
    if name == "read":
        for X, _ in rows:
            X.data.sum()
    else:
        methods[name].fit(rows)
    seconds, processor = time.perf_counter() - begin, time.process_time() - processor
    figures = {"seconds": seconds, "processor": processor, "memory": memory.above_start(), "readings": len(readings)}
    print(json.dumps(figures))


def main() -> None:
    parser = arguments(__doc__.partition("\n")[0], repeats=1)
    parser.add_argument("--size", type=int, nargs=2, metavar=("N", "D"), help="rows and features")
    fit_arguments(parser, NAMES)
    given = parser.parse_args()
    fix_threads(given.threads)
    if given.fit:
        one_fit(given.folder, given.fit)
        return
    n, d = given.size or SIZES[given.quick]
    table = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "d").write_text(str(d))
        write_data(folder, n, d)
        for contender in chosen(NAMES, given.methods):
            run = own_process(__file__, contender, folder, given.threads)
            memory = round(run["memory"] / 2**20)
            each = run["seconds"] / run["readings"]
            limit = within(memory, MEMORY_LIMIT)
            table.append([contender, run["seconds"], run["processor"], run["readings"], each, memory, limit])
    columns = ["fit", "seconds", "CPU seconds", "readings", "seconds each", "memory", "limit"]
    show(f"{__doc__}\n{n:,} x {d:,}, {given.threads} threads; memory in MiB above the start", columns, table)


if __name__ == "__main__":
    main()
