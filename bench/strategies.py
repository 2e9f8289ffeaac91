"""Which strategy of search finds the better embedding with the same work?

Of each set ROWS training rows are searched by each strategy with each budget and seed (counted work, so that load does
not count), and the best so far is scored on the test rows that the set names. "tpe" needs optuna, "auto" proposes by it
where it is installed; from the portfolio it takes no winners of the set at hand.

Writes strategies.csv as the runs end (those that are there are kept), strategies.png and strategies.md into
docs/results/search, or into --out; ``--page`` writes the page alone.
"""

import argparse
import csv
import os
import warnings
from pathlib import Path

import numpy as np

from proxembed import EmbeddingSearch
from proxembed.data import read
from proxembed.evaluate.arms import Arm
from proxembed.evaluate.part import make_part
from proxembed.evaluate.results import RIDGE
from proxembed.evaluate.scoring import Measures, score
from proxembed.measures.measures import MEASURES
from proxembed.methods.pipeline import training_labels
from proxembed.report.figures import COLOURS
from proxembed.study.method_strategies import Auto
from proxembed.study.optuna_study import optuna_installed
from proxembed.targets.labels import LabelMatrix

COLUMNS = ["set", "seed", "work", "strategy", "value", "trials"]
MEASURE = MEASURES["macro average precision"]


def held_out(data, rows: np.ndarray, strategy: str, work: float, seed: int) -> tuple[float, int]:
    """The precision of the choice on the test rows, and the number of trials."""
    train = data.take(rows)
    search = EmbeddingSearch(strategy=strategy, max_work=work, max_trials=None, max_seconds=None, refit=False)
    search.set_params(random_state=seed).fit(train.X, training_labels(train))
    best = search.leaders_[0]
    part = make_part(data.X, LabelMatrix.of(data.y), rows, data.test_idx, search.scaling_)
    k = best.n_components
    return score(Arm("best", best), part, Measures(((MEASURE, RIDGE),), (k,))).curve[k], len(search.trials_)


def run(options: argparse.Namespace, file: Path) -> None:
    """Do the runs that the file has not yet."""
    names = ["halving", "random", *(["tpe"] if optuna_installed() else []), "auto"]
    done = {(line["set"], line["seed"], line["work"], line["strategy"]) for line in known(file)}
    for each in options.sets.split(","):
        data = read(Path(os.environ.get("PROXEMBED_DATA", "../shared/data")) / f"{each}.npz")
        Auto.without = (each,)
        for seed in range(options.seeds):
            rows = np.sort(np.random.default_rng(seed).permutation(data.train_idx)[: options.rows])
            for work in map(float, options.work.split(",")):
                for name in [name for name in names if (each, seed, work, name) not in done]:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        value, trials = held_out(data, rows, name, work, seed)
                    line = [each, seed, f"{work:g}", name, f"{value:.4f}", trials]
                    write_line(file, line)
                    print(*line, flush=True)


def write_line(file: Path, line: list) -> None:
    """Append one run."""
    fresh = not file.exists()
    with file.open("a", newline="") as out:
        csv.writer(out, lineterminator="\n").writerows(([COLUMNS] if fresh else []) + [line])


def known(file: Path) -> list[dict]:
    """The runs of the file."""
    if not file.exists():
        return []
    kinds = dict(zip(COLUMNS, (str, int, float, str, float, int), strict=True))
    with file.open(newline="") as lines:
        return [{key: kinds[key](value) for key, value in line.items()} for line in csv.DictReader(lines)]


def by_budget(lines: list[dict]) -> dict[float, dict[str, np.ndarray]]:
    """Of each budget the values of each strategy, on those sets and seeds that all strategies have."""
    found = {}
    names = list(dict.fromkeys(line["strategy"] for line in lines))
    for work in sorted({line["work"] for line in lines}):
        values = {(a["strategy"], a["set"], a["seed"]): a["value"] for a in lines if a["work"] == work}
        cells = sorted({key[1:] for key in values})
        cells = [cell for cell in cells if all((name, *cell) in values for name in names)]
        if cells:
            found[work] = {name: np.array([values[name, *cell] for cell in cells]) for name in names}
    return found


def page(lines: list[dict], rows: int) -> str:
    """The page: one table of means, and of gains over halving with their standard errors."""
    budgets = by_budget(lines)
    sets = ", ".join(dict.fromkeys(line["set"] for line in lines))
    text = (
        f"# Strategies of search at equal budgets\n\n`bench/strategies.py`: {rows} training rows of {sets}, the choice "
        "of each strategy scored on the test rows (macro average precision). A unit of work is about a second of one "
        "core. *Gain*: over halving, with its standard error over sets and seeds.\n\n"
        "![Means of the strategies](strategies.png)\n\n"
        "| work | runs | strategy | mean | gain | standard error |\n" + "|---" * 6 + "|\n"
    )
    for work, values in budgets.items():
        for name, own in values.items():
            gap = own - values["halving"]
            error = gap.std(ddof=1) / np.sqrt(len(gap)) if len(gap) > 1 else np.nan
            text += f"| {work:g} | {len(own)} | {name} | {own.mean():.4f} | {gap.mean():+.4f} | {error:.4f} |\n"
    return text


def figure(lines: list[dict], file: Path) -> None:
    """Means against the budget, one line per strategy."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    budgets = by_budget(lines)
    names = list(next(iter(budgets.values())))
    plot, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
    for name, colour, mark in zip(names, COLOURS, "os^D", strict=False):
        means = [values[name].mean() for values in budgets.values()]
        axes.plot(list(budgets), means, color=colour, marker=mark, label=name)
    runs = min(len(values[names[0]]) for values in budgets.values())
    axes.set(xscale="log", xlabel="budget (units of work, about seconds of one core)")
    axes.set(ylabel=f"macro average precision, test rows\n(mean of {runs} runs)")
    axes.set_xticks(list(budgets), [f"{work:g}" for work in budgets])
    axes.minorticks_off()
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    plot.savefig(file, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", default="emotions,birds,yeast,scene")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=400)
    parser.add_argument("--work", default="6,20,60", help="budgets, in units of work")
    parser.add_argument("--page", action="store_true", help="write the page of the runs that are there")
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "docs" / "results" / "search")
    options = parser.parse_args()
    file = options.out / "strategies.csv"
    if not options.page:
        run(options, file)
    lines = known(file)
    figure(lines, options.out / "strategies.png")
    (options.out / "strategies.md").write_text(page(lines, options.rows))
    print((options.out / "strategies.md").read_text())


if __name__ == "__main__":
    main()
