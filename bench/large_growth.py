"""How fits on blocks grow from three measured sizes to 10^8 rows: CPU seconds, memory, bytes over a network.

Rows of a Parquet file (100 float32 features, 20 labels) for OPLS and PLS, of memory-mapped arrays (50 features) for
Kernelized(OPLS()) with 1,000 prototypes; every fit runs in a process of its own with one thread. Seconds are a straight
line through the sizes, whose slope is the cost of a row; "fit of line" is the largest deviation. A worker of a cluster
sends the sums of a piece of 1,000,000 rows. Disks are those of the page cache: the bytes that are read are stated, and
a disk slower than their share of the seconds is what such a fit waits for. Writes growth.csv and README.md into
docs/results/large-growth, or into --out.
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
            "fit": fit, "us a row": 1e6 * slope, "fit of line": off,
            "memory": [round(line["memory"] / 2**20) for line in own], "CPU hours": whole / 3600,
            "read": readings * AIM * own[-1]["data"] / own[-1]["rows"], "sums": sent,
            "network": readings * sent * AIM / PIECE, "workers": math.ceil(whole / PATIENCE),
        })  # fmt: skip
    return found


COLUMNS = [
    "fit",
    "CPU us a row",
    "fit of line",
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
            one["fit"], f"{one['us a row']:.2f}", f"{one['fit of line']:.1%}", ", ".join(map(str, one["memory"])),
            f"{one['CPU hours']:.2f}", f"{one['read'] / 1e9:.0f}", f"{one['sums'] / 1e6:.2g}",
            f"{one['network'] / 1e9:.2g}", str(one["workers"]),
        ]
        for one in found
    ]  # fmt: skip


def page(found: list[dict], quick: bool) -> str:
    """The page as Markdown."""
    sizes = "; ".join(
        f"{name}: {', '.join(f'{rows:,}' for rows in each[quick])} rows"
        for name, each in (("Parquet", SIZES), ("kernel", KERNEL_SIZES))
    )
    lines = ["| " + " | ".join(row) + " |" for row in [COLUMNS, ["---"] * len(COLUMNS), *table_of(found)]]
    text = "\n".join(lines)
    return (
        f"# Fits on blocks: growth to 10^8 rows\n\n{__doc__.split('Writes')[0].strip()}\n\n"
        f"Measured at {sizes}. *CPU hours*, *GB read*, *GB sent* and *workers* are forecasts of {AIM:,} rows; "
        f"*workers* are of one thread each: so many end within {PATIENCE / 60:.0f} minutes if nothing else bounds them."
        "\n\n"
        f"{text}\n\nMade by `python bench/large_growth.py`, Python {platform.python_version()}; every number is in "
        "`growth.csv`.\n"
    )


def main() -> None:
    parser = arguments(__doc__.partition("\n")[0], repeats=1)
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "docs" / "results" / "large-growth")
    given = parser.parse_args()
    fix_threads(1)
    lines = measured(given.quick)
    found = forecasts(lines, given.quick)
    given.out.mkdir(parents=True, exist_ok=True)
    with (given.out / "growth.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)
    (given.out / "README.md").write_text(page(found, given.quick))
    show(__doc__, COLUMNS, table_of(found))


if __name__ == "__main__":
    main()
