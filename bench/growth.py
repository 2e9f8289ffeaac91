"""How time and memory grow with rows (1k to 50k) and features (50 to 5,000), for one method of each family.

Every fit runs in a process of its own. Memory is the peak resident size above that of the loaded data and libraries.
An exponent is the slope of the last three points on logarithmic axes: 1 is linear growth, 2 quadratic. A method stops
growing where its next fit would, at that slope, pass its share of the time, and a kernel method of all rows at 4,000.
Writes growth.csv, growth.png and README.md into docs/results/growth, or into --out.
"""

import argparse
import csv
import json
import platform
import resource
import sys
import tempfile
import time
from pathlib import Path

from measure import arguments, chosen, fit_arguments, fix_threads, median_seconds, own_process, resident_bytes, show

CLASSES, LATENT = 5, 8
ROWS = {False: (1000, 2000, 5000, 10_000, 20_000, 50_000), True: (300, 600, 1200)}
FEATURES = {False: (50, 150, 500, 1500, 5000), True: (20, 40, 80)}
FIXED_D, FIXED_N = 50, 1000
QUICK_D, QUICK_N = 20, 300
LONGEST, BRIEF = 30.0, 0.5
TAIL = 3
SWEEPS = {"n": "rows", "d": "features"}
# name -> (class, family, options, most rows)
METHODS = {
    "OPLS": ("OPLS", "labels and a ridge", {}, None),
    "FDA": ("FDA", "class scatter", {}, None),
    "LPP": ("LPP", "neighbour graph, projection", {}, None),
    "NPP": ("NPP", "reconstruction, projection", {}, None),
    "LFDA": ("LFDA", "affinities inside classes", {}, None),
    "LLE": ("LLE", "reconstruction, map", {"n_components": 2}, None),
    "LaplacianEigenmaps": ("LaplacianEigenmaps", "neighbour graph, map", {"n_components": 2}, None),
    "Isomap, 200 landmarks": ("Isomap", "geodesics, map", {"n_components": 2, "n_landmarks": 200}, None),
    "Kernelized(OPLS)": ("Kernelized", "kernel of all rows", {}, 4000),
}


def planted(n: int, d: int):
    """Rows around eight latent dimensions with noise, and the class of each: overlapping, so that graphs hang
    together."""
    import numpy as np

    rng = np.random.default_rng((n, d))
    y = rng.integers(0, CLASSES, n)
    latent = rng.standard_normal((n, LATENT)) + 1.2 * np.random.default_rng(0).standard_normal((CLASSES, LATENT))[y]
    X = latent @ rng.standard_normal((LATENT, d))
    X += 0.3 * rng.standard_normal((n, d))
    return X, y


def estimator_of(name: str):
    """The method, and whether it takes an indicator of several labels."""
    import proxembed

    cls, _, options, _ = METHODS[name]
    if cls == "Kernelized":
        return proxembed.Kernelized(proxembed.OPLS())
    return getattr(proxembed, cls)(**options)


def one_fit(folder: Path, name: str) -> None:
    """Fit in this process and print what was measured, as one line of JSON."""
    import warnings

    import numpy as np

    warnings.simplefilter("ignore")  # that a graph of planted rows had to be joined is no news here
    X, y = np.load(folder / "X.npy"), np.load(folder / "y.npy")
    method = estimator_of(name)
    labels = y if method.traits.labels == "single" else np.eye(CLASSES)[y]
    few = np.concatenate([np.flatnonzero(y == k)[:40] for k in range(CLASSES)])
    method.fit(X[few], labels[few])
    before = resident_bytes()
    started = time.perf_counter()
    method.fit(X, labels)
    seconds = time.perf_counter() - started
    above = max(0, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before)
    if seconds < BRIEF:
        seconds, _ = median_seconds(lambda: method.fit(X, labels), 3)
    print(json.dumps({"seconds": seconds, "megabytes": above / 1e6, "solver": method.solver_}))


def sizes_of(sweep: str, quick: bool) -> list[tuple[int, int]]:
    """(n, d) of each point of a sweep."""
    if sweep == "n":
        return [(n, QUICK_D if quick else FIXED_D) for n in ROWS[quick]]
    return [(QUICK_N if quick else FIXED_N, d) for d in FEATURES[quick]]


def exponent(points: list[dict], sweep: str, measure: str) -> float | None:
    """The slope of the last points on logarithmic axes."""
    import numpy as np

    tail = [point for point in points if point[measure] > 0][-TAIL:]
    if len(tail) < 2:
        return None
    return float(np.polyfit(np.log([p[sweep] for p in tail]), np.log([p[measure] for p in tail]), 1)[0])


def too_long(points: list[dict], sweep: str, size: int) -> bool:
    """Whether the next point would pass the time that one fit may take."""
    slope = exponent(points, sweep, "seconds")
    if slope is None:
        return False
    return points[-1]["seconds"] * (size / points[-1][sweep]) ** max(slope, 1.0) > LONGEST


def run_sweep(sweep: str, names: list[str], quick: bool, threads: int) -> list[dict]:
    """All points of a sweep, sizes ascending, so that a method can stop in time."""
    import numpy as np

    found: list[dict] = []
    for n, d in sizes_of(sweep, quick):
        with tempfile.TemporaryDirectory() as folder:
            X, y = planted(n, d)
            np.save(Path(folder) / "X.npy", X)
            np.save(Path(folder) / "y.npy", y)
            del X, y
            for name in names:
                own = [point for point in found if point["method"] == name]
                most = METHODS[name][3]
                if (most is not None and n > most) or too_long(own, sweep, n if sweep == "n" else d):
                    continue
                point = {"method": name, "sweep": sweep, "n": n, "d": d} | own_process(
                    __file__, name, Path(folder), threads
                )
                print(f"{name}, {n:,} x {d:,}: {point['seconds']:.3g} s", file=sys.stderr, flush=True)
                found.append(point)
    return found


def of(points: list[dict], name: str, sweep: str) -> list[dict]:
    return [point for point in points if point["method"] == name and point["sweep"] == sweep]


def exponents(points: list[dict], names: list[str]) -> list[list[str]]:
    """For each method its exponents in time and memory, against rows and against features."""
    table = []
    for name in names:
        slopes = [exponent(of(points, name, s), s, m) for s in SWEEPS for m in ("seconds", "megabytes")]
        largest = max((p["n"] for p in of(points, name, "n")), default=0)
        table.append(
            [name, METHODS[name][1], *("" if slope is None else f"{slope:.1f}" for slope in slopes), f"{largest:,}"]
        )
    return table


COLUMNS = ["method", "family", "time, rows", "memory, rows", "time, features", "memory, features", "largest n"]


def draw(points: list[dict], names: list[str], path: Path) -> None:
    """Four panels on logarithmic axes: time and memory against rows and against features."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot
    from matplotlib.ticker import FuncFormatter, NullFormatter

    from proxembed.report.figures import COLOURS, MARKERS, STYLE

    units = {"seconds": "seconds a fit", "megabytes": "peak memory above the data, MB"}
    with matplotlib.rc_context(STYLE):
        figure, axes = pyplot.subplots(2, 2, figsize=(9.6, 8.4), layout="constrained", sharey="row")
        for row, (measure, unit) in enumerate(units.items()):
            for panel, (sweep, what) in zip(axes[row], SWEEPS.items(), strict=True):
                fixed = {(p["d"] if sweep == "n" else p["n"]) for p in points if p["sweep"] == sweep}
                other = "d" if sweep == "n" else "n"
                for number, name in enumerate(names):
                    line = [p for p in of(points, name, sweep) if p[measure] > 0]
                    panel.plot(
                        [p[sweep] for p in line],
                        [p[measure] for p in line],
                        color=COLOURS[number % len(COLOURS)],
                        marker=MARKERS[number % len(MARKERS)],
                        linestyle="-" if number < len(COLOURS) else "--",
                        linewidth=1.5,
                        markersize=5,
                        label=name,
                    )
                panel.set(xscale="log", yscale="log", xlabel=f"{what} {sweep} (log scale)", ylabel=f"{unit} (log)")
                panel.set_title(f"{other} = {', '.join(f'{v:,}' for v in sorted(fixed))}", fontsize=10, loc="left")
                panel.grid(color="#dddddd", linewidth=0.6)
                ticks = sorted({p[sweep] for p in points if p["sweep"] == sweep})
                panel.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
                panel.xaxis.set_minor_formatter(NullFormatter())
                panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
        figure.savefig(path, dpi=110, metadata={"Software": None})
        pyplot.close(figure)


def write(points: list[dict], names: list[str], folder: Path, command: str, threads: int) -> None:
    """growth.csv, growth.png and README.md."""
    folder.mkdir(parents=True, exist_ok=True)
    columns = ["method", "sweep", "n", "d", "seconds", "megabytes", "solver"]
    with open(folder / "growth.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        for point in points:
            writer.writerow(point | {m: f"{point[m]:.4g}" for m in ("seconds", "megabytes")})
    draw(points, names, folder / "growth.png")
    from importlib.metadata import version

    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn"))
    table = [COLUMNS, ["---"] * len(COLUMNS), *exponents(points, names)]
    lines = [
        "# Growth of time and memory",
        "",
        *__doc__.strip().splitlines()[:5],
        "",
        "![time and memory against rows and features](growth.png)",
        "",
        "Exponents of growth:",
        "",
        *("| " + " | ".join(row) + " |" for row in table),
        "",
        f"Made by `{command}` with {threads} threads, Python {platform.python_version()}, {versions}. "
        f"Rows are planted around {LATENT} latent dimensions, {CLASSES} classes; every number is in `growth.csv`.",
    ]
    (folder / "README.md").write_text("\n".join(lines) + "\n")


def options() -> argparse.Namespace:
    parser = arguments(__doc__.partition("\n")[0], repeats=1)
    results = Path(__file__).resolve().parents[1] / "docs" / "results" / "growth"
    parser.add_argument("--out", type=Path, default=results, help="folder for the table, the figure and the page")
    fit_arguments(parser, METHODS)
    return parser.parse_args()


def main() -> None:
    given = options()
    fix_threads(given.threads)
    if given.fit:
        one_fit(given.folder, given.fit)
        return
    names = chosen(METHODS, given.methods)
    points = [point for sweep in SWEEPS for point in run_sweep(sweep, names, given.quick, given.threads)]
    command = "python bench/growth.py" + (" --quick" if given.quick else "")
    write(points, names, given.out, command, given.threads)
    show("Exponents of growth: the slope of the last points on logarithmic axes", COLUMNS, exponents(points, names))


if __name__ == "__main__":
    main()
