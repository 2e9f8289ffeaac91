"""SSDRMC on tmc2007-500 (28,596 x 500, 22 labels), 35% of the rows labelled: seconds and peak memory after the
neighbour search, and the growth of both with rows. Its labels are judged by `make reproduce NAMES=ssdr-mc`.

The limits, 30 seconds and 2 GB, are for a whole fit less its neighbours, embedding included. Every fit runs in a
process of its own. Residuals are the largest of a pass's systems, relative, and of the embedding, beside 1. Writes
growth.csv, growth.png and README.md into docs/results/ssdr-mc-growth, or into --out.
"""

import csv
import json
import resource
import sys
import time
from pathlib import Path

from measure import arguments, chosen, fit_arguments, fix_threads, own_process, show, within

SECONDS, BYTES = 30.0, 2e9
LABELLED = 0.35
ROWS = {False: (1000, 2000, 4000, 8000, 16_000, 28_596), True: (500, 1000)}
SETTINGS = {
    "paper": {},
    "recommended": {"preset": "recommended"},
    "paper exact": {"objective": "exact"},
    "recommended exact": {"preset": "recommended", "objective": "exact"},
}
COLUMNS = ["setting", "n", "neighbours s", "seconds", "passes s", "embedding s", "peak GB", "passes", "solver", "eigen"]
COLUMNS += ["residual", "embedding residual", "warnings"]


def hidden(Y, seed: int = 0):
    """Labels of a random share of the rows, NaN in the others, and the mask of the labelled ones."""
    import numpy as np

    known = np.zeros(len(Y), dtype=bool)
    known[np.random.default_rng(seed).permutation(len(Y))[: round(LABELLED * len(Y))]] = True
    return np.where(known[:, None], Y.astype(float), np.nan), known


def unit_rows(X):
    import numpy as np

    length = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(length > 0, length, 1.0)


def one_fit(folder: Path, name: str) -> None:
    """Fit in this process and print what was measured, as one line of JSON."""
    import warnings

    import numpy as np

    import proxembed
    from proxembed.estimator.rows import Rows
    from proxembed.measures.metrics import micro_f1
    from proxembed.methods.transductive import ssdr_mc

    X, Y = np.load(folder / "X.npy"), np.load(folder / "Y.npy")
    y, known = hidden(Y)
    spent, made = {"neighbours": 0.0, "embedding": 0.0}, {}

    def timed(what, work):
        def call(*given, **options):
            start = time.perf_counter()
            found = work(*given, **options)
            spent[what] += time.perf_counter() - start
            made[what] = found
            return found

        return call

    Rows.neighbors = timed("neighbours", Rows.neighbors)
    ssdr_mc.bottom_residual = timed("embedding", ssdr_mc.bottom_residual)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.perf_counter()
        fitted = proxembed.SSDRMC(**SETTINGS[name]).fit(X, y)
        seconds = time.perf_counter() - start - spent["neighbours"]
    told = dict.fromkeys(str(each.message).partition(". ")[0] for each in caught)
    record = {
        "n": len(X),
        "neighbours": spent["neighbours"],
        "seconds": seconds,
        "passes": sum(each["seconds"] for each in fitted.trace_),
        "embedding": spent["embedding"],
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "n_iter": fitted.n_iter_,
        "status": fitted.status_,
        "solver": fitted.solver_,
        "eigen": fitted.eigen_solver_,
        "residual": max(each["residual"] for each in fitted.trace_),
        "embedding residual": made["embedding"].residual,
        "warnings": "; ".join(told) or "none",
        "f1": micro_f1(Y[~known], fitted.transduction_[~known]),
    }
    print(json.dumps(record))


def growth(names: list[str], quick: bool, threads: int) -> list[dict]:
    """All settings at all numbers of rows, the first rows of a random order."""
    import tempfile

    import numpy as np

    from tmc2007 import read_data

    X, Y, _ = read_data(False)
    X, order = unit_rows(X), np.random.default_rng(1).permutation(len(X))
    found = []
    for n in ROWS[quick]:
        with tempfile.TemporaryDirectory() as folder:
            rows = order[: min(n, len(X))]
            np.save(Path(folder) / "X.npy", X[rows])
            np.save(Path(folder) / "Y.npy", Y[rows])
            for name in names:
                point = {"setting": name} | own_process(__file__, name, Path(folder), threads)
                print(f"{name}, {n:,} rows: {point['seconds']:.3g} s", file=sys.stderr, flush=True)
                found.append(point)
    return found


def draw(points: list[dict], path: Path) -> None:
    """Seconds and peak memory against rows, on logarithmic axes."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot
    from matplotlib.ticker import FuncFormatter, NullFormatter

    from proxembed.report.figures import COLOURS, MARKERS, STYLE

    with matplotlib.rc_context(STYLE):
        figure, axes = pyplot.subplots(1, 2, figsize=(9.6, 4.4), layout="constrained")
        panels = (("seconds", 1.0, "seconds after the neighbour search"), ("peak", 1e-9, "peak memory, GB"))
        for panel, (measure, unit, title) in zip(axes, panels, strict=True):
            for number, name in enumerate(dict.fromkeys(point["setting"] for point in points)):
                line = [point for point in points if point["setting"] == name]
                panel.plot(
                    [point["n"] for point in line],
                    [unit * point[measure] for point in line],
                    color=COLOURS[number],
                    marker=MARKERS[number],
                    label=name,
                )
            panel.set(xscale="log", yscale="log", xlabel="rows n (log scale)", ylabel=f"{title} (log)")
            panel.grid(color="#dddddd", linewidth=0.6)
            ticks = sorted({point["n"] for point in points})
            panel.set_xticks(ticks, [f"{tick:,}" for tick in ticks], rotation=40)
            panel.xaxis.set_minor_formatter(NullFormatter())
            panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            panel.yaxis.set_minor_formatter(
                FuncFormatter(lambda value, _: f"{value:g}" if f"{value:e}"[0] < "7" else "")
            )
        axes[0].legend(frameon=False)
        figure.savefig(path, dpi=110, metadata={"Software": None})
        pyplot.close(figure)


def cells(point: dict) -> list:
    order = ("setting", "n", "neighbours", "seconds", "passes", "embedding")
    told = ("n_iter", "solver", "eigen", "residual", "embedding residual", "warnings")
    return [*(point[key] for key in order), point["peak"] / 1e9, *(point[key] for key in told)]


def markdown(table: list[list]) -> list[str]:
    text = [[f"{cell:.3g}" if isinstance(cell, float) else str(cell) for cell in row] for row in table]
    text.insert(1, ["---"] * len(text[0]))
    return ["| " + " | ".join(row) + " |" for row in text]


def write(points: list[dict], folder: Path, threads: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "growth.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(points[0]))
        writer.writeheader()
        writer.writerows(points)
    draw(points, folder / "growth.png")
    lines = ["# SSDR-MC: time and memory", "", *__doc__.strip().splitlines(), ""]
    lines += ["![seconds and memory against rows](growth.png)", "", *markdown([COLUMNS, *map(cells, points)]), ""]
    settings = ",".join(dict.fromkeys(point["setting"] for point in points))
    lines += [f'Made by `python bench/ssdr_mc.py --methods "{settings}"` with {threads} threads.']
    (folder / "README.md").write_text("\n".join(lines) + "\n")


def main() -> None:
    parser = arguments(__doc__.partition("\n\n")[0], repeats=1)
    results = Path(__file__).resolve().parents[1] / "docs" / "results" / "ssdr-mc-growth"
    parser.add_argument("--out", type=Path, default=results, help="folder for the table, the figure and the page")
    fit_arguments(parser, SETTINGS)
    given = parser.parse_args()
    fix_threads(given.threads)
    if given.fit:
        one_fit(given.folder, given.fit)
        return
    points = growth(chosen(SETTINGS, given.methods), given.quick, given.threads)
    write(points, given.out, given.threads)
    show(__doc__.partition("\n\n")[0], COLUMNS, [cells(point) for point in points])
    for point in points:
        if point["n"] == ROWS[False][-1]:
            limits = within(point["seconds"], SECONDS), within(point["peak"], BYTES)
            show(f"{point['setting']}: limits", ["seconds", "bytes"], [list(limits)])


if __name__ == "__main__":
    main()
