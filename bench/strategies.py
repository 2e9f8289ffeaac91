"""Which strategy of search finds the better embedding with the same work?

Of each set ROWS training rows are searched by each strategy with each budget and seed (counted work, so that load does
not count), and the best so far is scored on the test rows that the set names. "tpe" needs optuna, "auto" proposes by it
where it is installed; from the portfolio it takes no winners of the set at hand. A ratio below 1 is a smaller value
than that of halving.
"""

import argparse
import os
import warnings
from pathlib import Path

import numpy as np

from proxembed import EmbeddingSearch
from proxembed.data import read
from proxembed.evaluate.measures import MEASURES
from proxembed.evaluate.part import make_part
from proxembed.model import training_labels
from proxembed.study.method_strategies import Auto
from proxembed.study.optuna_study import optuna_installed
from proxembed.study.trials import run_trial
from proxembed.targets.labels import LabelMatrix

MEASURE = MEASURES["macro average precision"]


def held_out(data, rows: np.ndarray, strategy: str, work: float, seed: int) -> tuple[float, int]:
    """The precision of the choice on the test rows, and the number of trials."""
    train = data.take(rows)
    search = EmbeddingSearch(strategy=strategy, max_work=work, max_trials=None, max_seconds=None, refit=False)
    search.set_params(random_state=seed).fit(train.X, training_labels(train))
    best = search.leaders_[0]
    part = make_part(data.X, LabelMatrix.of(data.y), rows, data.test_idx, search.scaling_)
    return run_trial(best, part, (best.n_components,), MEASURE).curve[best.n_components], len(search.trials_)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", default="emotions,birds,yeast,scene")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=400)
    parser.add_argument("--work", default="30", help="budgets, in units of work")
    options = parser.parse_args()
    names = ["halving", "random", *(["tpe"] if optuna_installed() else []), "auto"]
    found: dict[float, dict[str, list[float]]] = {}
    print(f"{'set':10s} {'seed':>4s} {'work':>5s} " + " ".join(f"{name:>14s}" for name in names), flush=True)
    for each in options.sets.split(","):
        data = read(Path(os.environ.get("PROXEMBED_DATA", "../shared/data")) / f"{each}.npz")
        Auto.without = (each,)
        for seed in range(options.seeds):
            rows = np.sort(np.random.default_rng(seed).permutation(data.train_idx)[: options.rows])
            for work in map(float, options.work.split(",")):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    values = [held_out(data, rows, name, work, seed) for name in names]
                for name, (value, _) in zip(names, values, strict=True):
                    found.setdefault(work, {}).setdefault(name, []).append(value)
                cells = " ".join(f"{value:9.4f} ({n:2d})" for value, n in values)
                print(f"{each:10s} {seed:4d} {work:5g} {cells}", flush=True)
    for work, by_name in found.items():
        report(work, by_name)


def report(work: float, by_name: dict[str, list[float]]) -> None:
    """The means of the strategies at one budget, and their gains over halving with standard errors."""
    halving = np.array(by_name["halving"])
    for name, values in by_name.items():
        gap = np.array(values) - halving
        error = gap.std(ddof=1) / np.sqrt(len(gap)) if len(gap) > 1 else np.nan
        print(f"{work:g} units: {name:8s} mean {np.mean(values):.4f}, ratio to halving "
              f"{np.mean(values) / halving.mean():.4f}, gain {gap.mean():+.4f} (se {error:.4f})")  # fmt: skip


if __name__ == "__main__":
    main()
