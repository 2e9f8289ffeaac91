"""The page, curves and figure of the quality of the choices of searches, from the lines that ``choices.py`` stores."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable
from io import StringIO
from textwrap import fill
from typing import Any

import numpy as np
from choices import ARMS, BUDGETS, CURVE_SETS, FOLDER, GOALS, SETS, wanted
from scipy.stats import rankdata
from scipy.stats import t as student

from proxembed.execute.atomic_files import write_whole
from proxembed.report.figures import COLOURS, MARKERS

PAGE, CURVES, FIGURE = (FOLDER / f"choices{suffix}" for suffix in (".md", ".csv", ".png"))
LEVEL = 0.01  # a gain below this is level
AIMS = {"predict": (0.010, 0.005), "neighbours": (0.012, 0.010)}  # most regret, and what is aimed at
RIVALS = {"predict": ("forest scores", "logistic regression"), "neighbours": ("label lookup", "logistic regression")}
COLUMNS = ("set", "goal", "work", "splits", "choice", "best_arm", "best", "regret")
HEAD = """# How well `proxembed search` chooses

`make search-choices`: ten sets, three splits (a quarter of the rows held out), one search per goal, with budgets of
150 and 450 units of work (about as many seconds of one core).

{state}

*CPU s*: CPU seconds of a whole search, with one thread, beside another one; mean over the splits. *Choice*: what the
search chose, on the held-out rows; mean over the splits; it may be a rival. *Best arm*: of our own arms the one of
the best mean in hindsight. Arms are the families that a search of any of these budgets compared, each at the size
that was best on its folds, and the first arms of a search for labels (anchors), fitted beside it at min(labels, 30)
components whether or not its budget reached them. *Regret*: the best arm less the choice, with the 95 % interval of
the mean over several splits; as the best of some twenty arms profits from chance, a regret of 0 is not to be had.
Rivals are fitted on all training rows, without a bound on their work. A search starts without the winners that the
portfolio has of the set at hand. The anchors were chosen on most of these sets, so that their values here are no
evidence for other data.
"""


def state_of(lines: list[dict]) -> str:
    """How much of the whole run the lines are, and of which code, in sentences."""
    return fill(f"{_share_run(lines)} {_code_of(lines)}", 120, break_on_hyphens=False)


def _code_of(lines: list[dict]) -> str:
    """The commits of the package that made the lines."""
    counts = Counter(line["commit"] for line in lines)
    each = ", ".join(f"{commit} ({count})" for commit, count in counts.items())
    return f"Last commit of the package when a line was made, with the number of lines: {each}."


def _share_run(lines: list[dict]) -> str:
    have = {(line["set"], line["split"], line["goal"], line["work"]) for line in lines}
    plan = list(wanted(SETS, 3, BUDGETS))
    missing = [key for key in plan if key not in have]
    if not missing:
        return "All of it was run."
    parts = []
    for work in (None, *sorted({key[3] for key in plan if key[3] is not None})):
        asked = [key for key in plan if key[3] == work]
        done = [key for key in asked if key in have]
        what = "fits of fixed arms" if work is None else f"searches at {work:g} units"
        parts.append(f"{len(done)} of {len(asked)} {what}{_where(done)}")
    return f"**Part of it was run**: {'; '.join(parts)}."


def _where(keys: list[tuple]) -> str:
    names = [name for name in SETS if any(key[0] == name for key in keys)]
    counts = {name: len({key[1] for key in keys if key[0] == name}) for name in names}
    texts = [f"{name} ({count} split{'s' * (count > 1)})" for name, count in counts.items()]
    return f" ({', '.join(texts)})" if texts else ""


def best_sizes(line: dict) -> dict[str, float]:
    """Of each of our arms in a leaderboard the held-out value at the size that is best on the folds."""
    found: dict[str, dict] = {}
    for entry in line["arms"]:
        if not entry["rival"] and entry["test"] is not None and entry["folds"] is not None:
            known = found.get(entry["arm"])
            if known is None or entry["folds"] > known["folds"]:
                found[entry["arm"]] = entry
    return {name: entry["test"] for name, entry in found.items()}


def choice_value(line: dict) -> float:
    """What the choice has on the held-out rows."""
    chosen = line["chosen"]
    return next(e["test"] for e in line["arms"] if (e["arm"], e["k"]) == (chosen["arm"], chosen["k"]))


class Lines:
    """The lines by what they are asked for."""

    def __init__(self, lines: Iterable[dict]):
        lines = list(lines)
        self.arms = {(line["set"], line["split"]): line["arms"] for line in lines if line["goal"] == ARMS}
        self.searches = [line for line in lines if line["goal"] != ARMS]
        self.rows = {(line["set"], line["split"]): (line["rows"], line["held_out"]) for line in lines}

    def found(self, name: str, goal: str, work: float) -> list[dict]:
        """The searches of a set, goal and budget, one per split; those of splits whose fixed arms are there."""
        asked = (name, goal, work)
        own = [line for line in self.searches if (line["set"], line["goal"], line["work"]) == asked]
        return sorted((line for line in own if (name, line["split"]) in self.arms), key=lambda line: line["split"])

    def budgets(self, goal: str) -> list[float]:
        """The budgets of the searches for a goal."""
        return sorted({line["work"] for line in self.searches if line["goal"] == goal})

    def fixed(self, name: str, goal: str, splits: list[int], rival: bool) -> dict[str, float]:
        """Means over splits of the anchors of a set, or of the rivals; of those that did not fail."""
        each = [
            {e["arm"]: e["test"] for e in self.arms[name, split][goal] if e["rival"] is rival and e["test"] is not None}
            for split in splits
        ]
        return _means(each)

    def splits(self, name: str) -> list[int]:
        """The splits of a set whose fixed arms are there."""
        return sorted(split for known, split in self.arms if known == name)

    def best(self, name: str, goal: str, splits: list[int]) -> tuple[str, dict[int, float]]:
        """Of our own arms, fixed or of any search, the one of the best mean over the splits, with its values."""
        arms: dict[tuple, dict[int, float]] = {}
        for split in splits:
            for entry in self.arms[name, split][goal]:
                if not entry["rival"] and entry["test"] is not None:
                    arms.setdefault((entry["arm"], None), {})[split] = entry["test"]
        for line in self.searches:
            if (line["set"], line["goal"]) == (name, goal):
                for arm, value in best_sizes(line).items():
                    arms.setdefault((arm, line["work"]), {})[line["split"]] = value
        whole = {key: values for key, values in arms.items() if set(splits) <= set(values)}
        best = max(whole, key=lambda key: float(np.mean([whole[key][split] for split in splits])))
        return best[0], whole[best]


def _means(each: list[dict[str, float]]) -> dict[str, float]:
    common = set.intersection(*(set(one) for one in each)) if each else set()
    return {name: float(np.mean([one[name] for one in each])) for name in (each[0] if each else ()) if name in common}


def judged(known: Lines, name: str, goal: str, work: float) -> dict[str, Any] | None:
    """Choice, best arm, regret and rivals of one set, goal and budget over its splits; None where there is none."""
    lines = known.found(name, goal, work)
    if not lines:
        return None
    splits = [line["split"] for line in lines]
    choices = np.array([choice_value(line) for line in lines])
    arm, values = known.best(name, goal, splits)
    gaps = np.array([values[split] for split in splits]) - choices
    rivals = known.fixed(name, goal, splits, rival=True)
    return {
        **{"splits": splits, "choice": float(choices.mean()), "regret": float(gaps.mean()), "interval": interval(gaps)},
        "cpu": float(np.mean([line["cpu"] for line in lines])),
        "chosen": sorted({line["chosen"]["arm"] for line in lines}),
        "best": (arm, float(np.mean([values[split] for split in splits]))),
        "rivals": {rival: rivals.get(rival, np.nan) for rival in RIVALS[goal]},
        "anchors": known.fixed(name, goal, splits, rival=False),
    }


def interval(values: np.ndarray) -> tuple[float, float]:
    """The 95 % interval of a mean: by Student's t, of which the jackknife's error is that of the mean."""
    if len(values) < 2:
        return np.nan, np.nan
    half = student.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return float(values.mean() - half), float(values.mean() + half)


def between(pair: tuple[float, float], form: str = "+.3f") -> str:
    """An interval in brackets; nothing where there is none."""
    return "" if np.isnan(pair[0]) else f" ({pair[0]:{form}} to {pair[1]:{form}})"


def goal_table(known: Lines, goal: str, work: float) -> str:
    """One table of regrets, and what it says."""
    rows = {name: row for name in SETS if (row := judged(known, name, goal, work))}
    rivals = RIVALS[goal]
    head = ("data", "splits", "CPU s", "chosen", "choice", "best arm", "regret", *rivals)
    text = f"| {' | '.join(head)} |\n" + "|---" * len(head) + "|\n"
    for name, row in rows.items():
        values = " | ".join(f"{row['rivals'][rival]:.3f}" for rival in rivals)
        text += (
            f"| {name} | {len(row['splits'])} | {row['cpu']:.0f} | {', '.join(row['chosen'])} | {row['choice']:.3f} "
            f"| {row['best'][0]}: {row['best'][1]:.3f} | {row['regret']:+.4f}{between(row['interval'])} | {values} |\n"
        )
    regrets = np.array([row["regret"] for row in rows.values()])
    most, aim = AIMS[goal]
    behind = [
        f"{name} ({rival} {value - row['choice']:+.3f})"
        for name, row in rows.items()
        for rival, value in row["rivals"].items()
        if value - row["choice"] > LEVEL
    ]
    return text + (
        f"\nMean regret {regrets.mean():+.4f}{between(interval(regrets))} over {len(rows)} sets (asked: at most "
        f"{most:.3f}; aim {aim:.3f}). Behind a rival by more than {LEVEL:g}: {', '.join(behind) or 'on no set'}.\n\n"
        + against_anchors(rows)
    )


def against_anchors(rows: dict[str, dict]) -> str:
    """The means of the choices beside those of every fixed arm, on the sets where both are."""
    names = list(dict.fromkeys(arm for row in rows.values() for arm in row["anchors"]))
    text = "| always this arm | sets | its mean | mean of the choices | choice less arm | sets where it is ahead |\n"
    text += "|---" * 6 + "|\n"
    for arm in names:
        own = [(row["anchors"][arm], row["choice"]) for row in rows.values() if arm in row["anchors"]]
        values = np.array(own)
        gaps = values[:, 1] - values[:, 0]
        text += (
            f"| {arm} | {len(own)} | {values[:, 0].mean():.4f} | {values[:, 1].mean():.4f} "
            f"| {gaps.mean():+.4f}{between(interval(gaps))} | {int((gaps < 0).sum())} |\n"
        )
    return text


def rank_table(known: Lines, goal: str) -> str:
    """Mean ranks of the anchors over the sets, each anchor at its mean over the splits of the set."""
    each = {name: known.fixed(name, goal, splits, False) for name in SETS if (splits := known.splits(name))}
    arms = list(dict.fromkeys(arm for values in each.values() for arm in values))
    each = {name: values for name, values in each.items() if set(arms) <= set(values)}
    text = "| arm | mean | mean rank | without one set |\n|---|---|---|---|\n"
    values = np.array([[own[arm] for arm in arms] for own in each.values()])

    def clipped(own: np.ndarray) -> tuple[float, float]:
        low, high = np.clip(interval(own), 1, len(arms))
        return float(low), float(high)

    ranks = rankdata(-np.round(values, 9), axis=1)
    left_out = (ranks.sum(axis=0) - ranks) / max(len(ranks) - 1, 1)
    for j in np.argsort(ranks.mean(axis=0), kind="stable"):
        text += (
            f"| {arms[j]} | {values[:, j].mean():.3f} "
            f"| {ranks[:, j].mean():.2f}{between(clipped(ranks[:, j]), '.2f')} "
            f"| {left_out[:, j].min():.2f} to {left_out[:, j].max():.2f} |\n"
        )
    first = {arms[j] for j in left_out.argmin(axis=1)}
    counts = ", ".join(f"{name} ({len(known.splits(name))})" for name in each)
    return text + (
        f"\n{len(each)} sets, with the number of splits: {counts}. First whichever set is left out: "
        f"{next(iter(first)) if len(first) == 1 else 'not one arm, but ' + ', '.join(sorted(first))}.\n"
    )


def curve_points(known: Lines) -> list[dict[str, Any]]:
    """Regret against the budget, of the splits that all budgets of a set and goal have, against one best arm."""
    found = []
    for name in CURVE_SETS:
        for goal in GOALS:
            lines = {work: known.found(name, goal, work) for work in known.budgets(goal)}
            lines = {work: own for work, own in lines.items() if own}
            shared = set.intersection(*({line["split"] for line in own} for own in lines.values())) if lines else set()
            splits = sorted(shared)
            if not splits:
                continue
            arm, values = known.best(name, goal, splits)
            best = float(np.mean([values[split] for split in splits]))
            for work, own in lines.items():
                choice = float(np.mean([choice_value(line) for line in own if line["split"] in splits]))
                cells = (name, goal, work, len(splits), choice, arm, best, best - choice)
                found.append(dict(zip(COLUMNS, cells, strict=True)))
    return found


def figure(points: list[dict], known: Lines) -> None:
    """Regret against the budget: one panel per goal, one line per set."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    plot, panels = plt.subplots(1, len(GOALS), figsize=(8, 3.8), layout="constrained")
    for axes, (goal, measure) in zip(panels, GOALS.items(), strict=True):
        for name, colour, mark in zip(CURVE_SETS, COLOURS, MARKERS, strict=False):
            own = [point for point in points if (point["set"], point["goal"]) == (name, goal)]
            if own:
                rows = known.rows[name, 0][1]
                label = f"{name}: {own[0]['splits']} split{'s' * (own[0]['splits'] > 1)} of {rows} held-out rows"
                at, regrets = [point["work"] for point in own], [point["regret"] for point in own]
                axes.plot(at, regrets, color=colour, marker=mark, label=label)
        ticks = sorted({point["work"] for point in points} | {15.0, 450.0})
        axes.set(xscale="log", xlabel="budget (units of work, about seconds of one core)")
        axes.set(ylabel=f"regret in {measure.partition(' (')[0]}", title=goal)
        axes.set_xticks(ticks, [f"{work:g}" for work in ticks])
        axes.minorticks_off()
        axes.axhline(0, color="#999999", linewidth=0.8)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.2))
    plot.savefig(FIGURE, dpi=150)


def curves_text(points: list[dict]) -> str:
    """The section of the curves."""
    text = "\n## Regret against work\n\n![Regret against the budget](choices.png)\n\n"
    text += "Of each set and goal the regret is that against one best arm, of the splits that all its budgets have "
    text += "([choices.csv](choices.csv)).\n\n"
    budgets = sorted({point["work"] for point in points})
    text += f"| goal | data | splits | {' | '.join(f'{work:g}' for work in budgets)} |\n" + "|---" * (3 + len(budgets))
    text += "|\n"
    for goal in GOALS:
        for name in CURVE_SETS:
            own = {point["work"]: point for point in points if (point["set"], point["goal"]) == (name, goal)}
            if own:
                cells = " | ".join(f"{own[work]['regret']:+.3f}" if work in own else "-" for work in budgets)
                text += f"| {goal} | {name} | {next(iter(own.values()))['splits']} | {cells} |\n"
    return text


def page(lines: list[dict]) -> str:
    """The whole page."""
    known = Lines(lines)
    text = HEAD.format(state=state_of(lines))
    for goal, measure in GOALS.items():
        for work in (work for work in BUDGETS if any(known.found(name, goal, work) for name in SETS)):
            text += f"\n## {goal.capitalize()}, {work:g} units: {measure}\n\n" + goal_table(known, goal, work)
    for goal, measure in GOALS.items():
        if known.arms:
            text += (
                f"\n## Ranks of the fixed arms, {goal}: {measure}\n\nMean rank over the sets (1 is best) with its 95 % "
                f"interval by the jackknife over sets; beside it the range when one set is left out.\n\n"
                + rank_table(known, goal)
            )
    points = curve_points(known)
    return text + (curves_text(points) if len({point["work"] for point in points}) > 1 else "")


def write_page(lines: list[dict]) -> None:
    """Write the page, and the curves with their figure."""
    known = Lines(lines)
    points = curve_points(known)
    text = StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {key: f"{value:.6f}" if isinstance(value, float) and key != "work" else value for key, value in point.items()}
        for point in points
    )
    write_whole({PAGE: page(lines).encode(), CURVES: text.getvalue().encode()})
    if len({point["work"] for point in points}) > 1:
        figure(points, known)
