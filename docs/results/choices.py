"""Does `proxembed search` choose well? Regret of its choice on three splits of each set, for a goal.

``choices.py run`` appends one line per set, split and goal to search/choices.jsonl, and one with all rivals of the set
and split; those that are there are kept. It writes search/choices.md. A quarter of the rows is held out by the seed of
the split; the budget is counted work, so that load does not count. ``choices.py page`` writes the page alone.
"""

import argparse
import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import t as student

import proxembed
from proxembed.data import read
from proxembed.study.method_strategies import Auto
from proxembed.workflow.labelled_data import with_test_rows

FOLDER = Path(__file__).parent / "search"
LINES, PAGE = FOLDER / "choices.jsonl", FOLDER / "choices.md"
SETS = "emotions birds enron scene yeast dna satimage corel5k reuters tmc2007-500".split()
GOALS = {"predict": "macro average precision (ridge)", "neighbours": "Jaccard@10 (cosine kNN)"}
RIVALS = "rivals"  # in place of a goal: what all rivals have
LEVEL = 0.01  # a gain below this is level
HEAD = """# How well `proxembed search` chooses

`make search-choices`: each set, up to {splits} splits (a quarter of the rows held out), {work:g} units of work (about
as many seconds of one core), one search per goal. An arm is a family that the search compared on the folds of the
training rows, at its own best size there, or a rival. *Choice*: mean over the splits of what the search chose, on the
held-out rows; *best arm*: the arm of the best mean, among those that every split has; *regret*: the best arm less the
choice, with the 95 % interval of the mean over several splits; *best rival*: its mean, and the gain of the choice
over it. The strategy `auto` starts without the winners that the portfolio has of the set at hand. Rivals that a run
of this budget leaves out (forests, label lookup, gradient boosting) are compared beside it, without a bound on their
work.
"""


def run_cell(folder: Path, name: str, split: int, goal: str, work: float) -> dict:
    """One search: what was chosen and what every arm has on the held-out rows.

    The winners that the portfolio has of this set are left out: held-out rows were among those that chose them.
    """
    Auto.without = (name,)
    data = replace(read(folder / f"{name}.npz"), train_idx=None, test_idx=None)
    data, parts = with_test_rows(data, split)
    found = proxembed.search(data, goal=goal, max_work=work, max_seconds=None, seed=split)
    summary, measure = found.record["summary"], GOALS[goal]
    chosen = summary.get("saved") or {key: summary["verdict"]["goals"][goal][key] for key in ("arm", "k")}
    cell = {"set": name, "split": split, "goal": goal, "work": work, "rows": len(parts.train)}
    trials = len(found.record["search"]["trials"])
    return cell | {"trials": trials, "chosen": chosen, "arms": arms_of(summary, measure)}


def arms_of(summary: dict, measure: str) -> list[dict]:
    """The entries of a leaderboard that have a measure: its mean over the folds and its value on the held-out rows."""
    return [
        {
            **{key: entry[key] for key in ("arm", "k", "rival")},
            "folds": entry["scores"][measure]["mean"],
            "test": entry["scores"][measure]["test"],
        }
        for entry in summary["leaderboard"]
        if measure in entry["scores"]
    ]


def run_rivals(folder: Path, name: str, split: int) -> dict:
    """All rivals of one set and split, beside OPLS."""
    data = replace(read(folder / f"{name}.npz"), train_idx=None, test_idx=None)
    data, parts = with_test_rows(data, split)
    found = proxembed.compare(data, methods="opls", folds=3, standard_split=True, seed=split)
    arms = {goal: [arm for arm in arms_of(found.record["summary"], m) if arm["rival"]] for goal, m in GOALS.items()}
    return {"set": name, "split": split, "goal": RIVALS, "rows": len(parts.train), "arms": arms}


def best_sizes(cell: dict) -> dict[str, dict]:
    """Of each arm the size that is best on the folds."""
    found: dict[str, dict] = {}
    for entry in cell["arms"]:
        if entry["test"] is not None and entry["folds"] is not None:
            known = found.get(entry["arm"])
            if known is None or entry["folds"] > known["folds"]:
                found[entry["arm"]] = entry
    return found


def choice_value(cell: dict) -> float:
    """What the choice has on the held-out rows."""
    chosen = cell["chosen"]
    return next(e["test"] for e in cell["arms"] if (e["arm"], e["k"]) == (chosen["arm"], chosen["k"]))


def judged(cells: list[dict]) -> dict:
    """Choice, best arm, regret and best rival of one set and goal over its splits."""
    arms = [best_sizes(cell) for cell in cells]
    common = set.intersection(*(set(each) for each in arms))
    means = {name: np.mean([each[name]["test"] for each in arms]) for name in sorted(common)}
    rivals = {name: value for name, value in means.items() if arms[0][name]["rival"]}
    choices = np.array([choice_value(cell) for cell in cells])
    best = max(means, key=means.__getitem__)
    rival = max(rivals, key=rivals.__getitem__)
    gaps = np.array([each[best]["test"] for each in arms]) - choices
    return {
        "choice": choices.mean(),
        "chosen": sorted({cell["chosen"]["arm"] for cell in cells}),
        "best": (best, means[best]),
        "regret": gaps.mean(),
        "interval": _interval(gaps),
        "rival": (rival, means[rival]),
        "gain": choices.mean() - means[rival],
    }


def _interval(gaps: np.ndarray) -> tuple[float, float]:
    if len(gaps) < 2:
        return np.nan, np.nan
    half = student.ppf(0.975, len(gaps) - 1) * gaps.std(ddof=1) / np.sqrt(len(gaps))
    return gaps.mean() - half, gaps.mean() + half


def page(cells: list[dict]) -> str:
    """The page: one table per goal, and what holds on all sets."""
    cells = with_rivals(cells)
    splits = len({cell["split"] for cell in cells})
    text = HEAD.format(splits=splits, work=max(cell["work"] for cell in cells))
    for goal, measure in GOALS.items():
        text += f"\n## {goal.capitalize()}: {measure}\n\n"
        text += "| data | splits | chosen | choice | best arm | regret | best rival | gain |\n" + "|---" * 8 + "|\n"
        rows = {}
        for name in SETS:
            own = [cell for cell in cells if (cell["set"], cell["goal"]) == (name, goal)]
            if own:
                row = rows[name] = judged(own)
                low, high = row["interval"]
                between = "" if np.isnan(low) else f" ({low:+.3f} to {high:+.3f})"
                text += (
                    f"| {name} | {len(own)} | {', '.join(row['chosen'])} | {row['choice']:.3f} "
                    f"| {row['best'][0]}: {row['best'][1]:.3f} | {row['regret']:+.4f}{between} "
                    f"| {row['rival'][0]}: {row['rival'][1]:.3f} | {row['gain']:+.4f} |\n"
                )
        behind = [name for name, row in rows.items() if row["gain"] < -LEVEL]
        text += (
            f"\nRegret on average {np.mean([row['regret'] for row in rows.values()]):+.4f} ({len(rows)} sets). Behind "
            f"the best rival by more than {LEVEL:g}: {', '.join(behind) or 'on no set'}.\n"
        )
    return text


def with_rivals(cells: list[dict]) -> list[dict]:
    """The searches, each with the rivals that its budget left out."""
    rivals = {(cell["set"], cell["split"]): cell["arms"] for cell in cells if cell["goal"] == RIVALS}
    found = []
    for cell in cells:
        if cell["goal"] in GOALS:
            own = {arm["arm"] for arm in cell["arms"]}
            further = rivals.get((cell["set"], cell["split"]), {}).get(cell["goal"], [])
            found.append(cell | {"arms": cell["arms"] + [arm for arm in further if arm["arm"] not in own]})
    return found


def known_cells() -> list[dict]:
    return [json.loads(line) for line in LINES.read_text().splitlines()] if LINES.exists() else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("do", choices=("run", "page"))
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--work", type=float, default=120.0)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if options.do == "run":
        folder = Path(os.environ.get("PROXEMBED_DATA", "../shared/data"))
        done = {(cell["set"], cell["split"], cell["goal"]) for cell in known_cells()}
        wanted = [(s, i, g) for i in range(options.splits) for s in options.sets.split(",") for g in (*GOALS, RIVALS)]
        tasks = (
            delayed(run_rivals)(folder, name, split)
            if goal == RIVALS
            else delayed(run_cell)(folder, name, split, goal, options.work)
            for name, split, goal in wanted
            if (name, split, goal) not in done
        )
        for cell in Parallel(n_jobs=options.jobs, return_as="generator_unordered")(tasks):
            with LINES.open("a") as lines:
                lines.write(json.dumps(cell) + "\n")
            print(cell["set"], cell["split"], cell["goal"], cell.get("chosen", ""), flush=True)
    PAGE.write_text(page(known_cells()))


if __name__ == "__main__":
    main()
