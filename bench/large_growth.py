"""How fits on blocks grow from three measured sizes to 10^8 rows: CPU seconds, memory, bytes over a network.

OPLS and PLS read Parquet files (100 float32 features, 20 labels); Kernelized(OPLS()) with 1,000 prototypes reads
memory-mapped arrays (50 features). Each fit runs in a process of its own with one thread. CPU seconds are fitted by a
straight line in the number of rows: its slope is the cost per row, and "deviation" its largest error relative to the
longest fit. On a cluster, each worker sends the sums of 1,000,000 rows in one message. The files are in the page cache;
on a cold disk, reading takes at least the stated bytes over the speed of the disk. Writes growth.csv and README.md into
docs/results/large-growth, or into --out; ``--page`` rewrites the page from an existing growth.csv.
"""

import csv
import json
import math
import pickle
import platform
import sys
import tempfile
from pathlib import Path

import blocks
import kernel_blocks
from measure import arguments, fix_threads, own_process, show

SIZES = {False: (500_000, 1_000_000, 2_000_000), True: (100_000, 200_000, 300_000)}
KERNEL_SIZES = {False: (62_500, 125_000, 250_000), True: (4_000, 8_000, 16_000)}
PROTOTYPES = {False: 1000, True: 100}
AIM, PIECE, PATIENCE = 10**8, 10**6, 600.0  # rows; rows a task of a worker reads; seconds that the cluster may take
KERNEL = "Kernelized(OPLS())"
# name -> readings of the rows
READINGS = {"PLS": 1, "OPLS ridge 0.1": 1, "OPLS": 2, KERNEL: 2}


def measured(quick: bool) -> list[dict]:
    """One line per fit and size: CPU seconds, seconds, memory in bytes, bytes of the data."""
    lines = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for rows in SIZES[quick]:
            file = folder / "rows.parquet"
            blocks.write_data(file, rows)
            for fit in [fit for fit in READINGS if fit != KERNEL]:
                run = own_process(blocks.__file__, fit, file, 1)
                lines.append({"fit": fit, "rows": rows, "data": file.stat().st_size, **run})
                print(f"{fit}, {rows:,} rows: {run['processor']:.3g} CPU s", file=sys.stderr, flush=True)
        most, p = KERNEL_SIZES[quick][-1], PROTOTYPES[quick]
        kernel_blocks.write_data(folder, most, 50)
        for rows in KERNEL_SIZES[quick]:
            (folder / "asked.json").write_text(json.dumps({"n": rows, "p": p}))
            run = own_process(kernel_blocks.__file__, KERNEL, folder, 1)
            size = rows * (50 * 4 + kernel_blocks.LABELS)
            lines.append({"fit": KERNEL, "rows": rows, "data": size, **run})
            print(f"{KERNEL}, {rows:,} rows: {run['processor']:.3g} CPU s", file=sys.stderr, flush=True)
    return [{key: line[key] for key in ("fit", "rows", "data", "seconds", "processor", "memory")} for line in lines]


def sums_bytes(fit: str, quick: bool) -> int:
    """Bytes of the sums that a worker sends for one piece."""
    import numpy as np

    from proxembed import OPLS, PLS

    d, c = (50, kernel_blocks.LABELS) if fit == KERNEL else (blocks.D, blocks.LABELS)
    draw, p = np.random.default_rng(0), PROTOTYPES[quick]
    X, Y = draw.normal(size=(2 * p, d)), draw.random((2 * p, c)) < 0.3
    if fit == KERNEL:  # the sums are those of OPLS on the kernel's rows, with what X'Y of the rows adds
        X = np.hstack([X, draw.normal(size=(2 * p, p - d))])
    method = PLS() if fit == "PLS" else OPLS(ridge=0.1)
    return len(pickle.dumps(method.partial_fit(X, Y).sums_))


def forecasts(lines: list[dict], quick: bool) -> list[dict]:
    """Per fit the straight line through its sizes, and what it says of 10^8 rows."""
    import numpy as np

    found = []
    for fit, readings in READINGS.items():
        own = [line for line in lines if line["fit"] == fit]
        rows, seconds = (np.array([line[key] for line in own], dtype=float) for key in ("rows", "processor"))
        slope, start = np.polyfit(rows, seconds, 1)
        whole, sent = start + slope * AIM, sums_bytes(fit, quick)
        off = np.abs(start + slope * rows - seconds).max() / seconds.max()
        found.append({
            "fit": fit, "us a row": 1e6 * slope, "deviation": off,
            "memory": [round(line["memory"] / 2**20) for line in own], "CPU hours": whole / 3600,
            "read": readings * AIM * own[-1]["data"] / own[-1]["rows"], "sums": sent,
            "network": readings * sent * AIM / PIECE, "workers": math.ceil(whole / PATIENCE),
        })  # fmt: skip
    return found


COLUMNS = [
    "fit",
    "CPU us a row",
    "deviation",
    "MiB at the three sizes",
    "CPU hours",
    "GB read",
    "MB a message",
    "GB sent",
    "workers",
]


def table_of(found: list[dict]) -> list[list[str]]:
    return [
        [
            one["fit"], f"{one['us a row']:.2f}", f"{one['deviation']:.1%}", ", ".join(map(str, one["memory"])),
            f"{one['CPU hours']:.2f}", f"{one['read'] / 1e9:.0f}", f"{one['sums'] / 1e6:.2g}",
            f"{one['network'] / 1e9:.2g}", str(one["workers"]),
        ]
        for one in found
    ]  # fmt: skip


def page(found: list[dict], quick: bool) -> str:
    """The page as Markdown."""
    lines = ["| " + " | ".join(row) + " |" for row in [COLUMNS, ["---"] * len(COLUMNS), *table_of(found)]]
    return "\n".join(
        [
            "# Fits on blocks: growth to 10^8 rows",
            "",
            __doc__.split("Writes")[0].strip(),
            "",
            f"- Measured on Parquet files of {_listed(SIZES[quick])} rows.",
            f"- Measured with the kernel on {_listed(KERNEL_SIZES[quick])} rows.",
            f"- *CPU hours*, *GB read*, *GB sent* and *workers* are forecasts for {AIM:,} rows; *workers* counts",
            f"  the one-thread workers that finish within {PATIENCE / 60:.0f} minutes if nothing else limits them.",
            "",
            *lines,
            "",
            f"Made by `python bench/large_growth.py`, Python {platform.python_version()}; figures in `growth.csv`.",
            "",
        ]
    )


def _listed(sizes: tuple[int, ...]) -> str:
    *first, last = (f"{size:,}" for size in sizes)
    return f"{', '.join(first)} and {last}"


def known(file: Path) -> list[dict]:
    """The lines of a growth.csv."""
    kinds = {"fit": str, "rows": int, "data": int, "seconds": float, "processor": float, "memory": int}
    with file.open(newline="") as lines:
        return [{key: kinds[key](value) for key, value in line.items()} for line in csv.DictReader(lines)]


def main() -> None:
    parser = arguments(__doc__.partition("\n")[0], repeats=1)
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "docs" / "results" / "large-growth")
    parser.add_argument("--page", action="store_true", help="rewrite the page from an existing growth.csv")
    given = parser.parse_args()
    fix_threads(1)
    table = given.out / "growth.csv"
    lines = known(table) if given.page else measured(given.quick)
    found = forecasts(lines, given.quick)
    given.out.mkdir(parents=True, exist_ok=True)
    if not given.page:
        with table.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(lines[0]))
            writer.writeheader()
            writer.writerows(lines)
    (given.out / "README.md").write_text(page(found, given.quick))
    show(__doc__, COLUMNS, table_of(found))


if __name__ == "__main__":
    main()
