"""Ours beside rivals on multi-label sets, from search/*/results.json and maps.csv: five sets in the README, all in
search/tables.md."""

import csv
import json
import re
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
README, ALL = HERE.parents[1] / "README.md", HERE / "search" / "tables.md"
RIVALS_FILE = HERE / "search" / "rivals.csv"  # of search_rivals.py
BEGIN, END = "<!-- begin of what docs/results/readme_tables.py writes -->\n", "<!-- end -->\n"
WORDS = ("better", "level", "worse", "cannot tell")
GOALS = {"predict": "Macro average precision", "neighbours": "Jaccard@10 of the neighbours' label sets"}
RIVALS = {
    "all features": ("all features",),
    "logistic regression": ("logistic regression",),
    "label scores": ("label scores",),
    "forest scores": ("forest scores", "label lookup"),  # the lookup reads neighbours from the forest's scores
    "forest proximity": ("forest proximity",),
    "supervised UMAP": ("supervised UMAP",),
}
SHOWN = ("corel5k", "emotions", "reuters", "scene", "yeast")  # in the README: images, music, news, photographs, genes
COLUMNS = "| data (training rows) | macro AP: ours | all features | best rival | verdict "
COLUMNS += "| Jaccard@10: ours | all features | best rival | verdict |"
SHORT = """
{columns}
|---|---|---|---|---|---|---|---|---|
{lines}

Of all {sets} sets, predictions are {predict}; neighbours are {neighbours}.
A rival has a higher value than ours for predictions on {predict_above}, for neighbours on {neighbours_above} of them
([all tables](docs/results/search/tables.md)).
"""
PAGE = """# Ours beside rivals

`make search-results` runs `proxembed search --max-work 150` per data set, of reuters and tmc2007-500 with 450 units,
and writes these tables. The values are those of the test rows, which are scored once. Our method and size, and the
sizes of the rivals, are chosen on the training rows. Average precision is that of a ridge regression on the
embedding, and neighbours are found by cosine. The verdict compares ours with all features. For neighbours there is a
second baseline, used if it scores higher: the same ten rows for every query, those whose label sets are closest to
all others on average.

A number in brackets after a forest is the number of training rows it was grown on, if the budget did not allow all.
Rivals in italics did not fit into the budget of the search. They were fitted afterwards on the same rows, folds and
sizes (`docs/results/search_rivals.py`). A dash: fitted in neither, for its cost on many rows.
"""
TABLE = """
{title} ({words}):

| data | training rows | ours | method and size | verdict | {rivals} |
|---|---|---|---|---|{bars}|
{lines}

{above}
"""
LAYOUT, RIVAL = "Layout()", "supervised UMAP"
MAPS = """
In two dimensions, neighbours on the map of `Layout()` share more labels than on the map of supervised UMAP for the
held-out rows of {ahead} of {sets} sets, on {clear} by at least 0.05; on {kept} it keeps at least 90 % of the neighbours
in the features that supervised UMAP keeps ([maps]({folder}maps.md)).
"""


def multi_label_records() -> dict[str, dict[str, Any]]:
    """The record of every search on rows with several labels, by the name of the set."""
    found = {path.parent.name: json.loads(path.read_text()) for path in sorted(HERE.glob("search/*/results.json"))}
    return {name: each for name, each in found.items() if not each["summary"]["dataset"]["single_label"]}


def stored_rivals(name: str | None = None) -> list[dict[str, str]]:
    """The rows of the file of rivals that the searches left out, for one set or for all."""
    if not RIVALS_FILE.exists():
        return []
    with open(RIVALS_FILE, newline="") as file:
        return [row for row in csv.DictReader(file) if name in (None, row["set"])]


def rival_value(record: dict[str, Any], name: str, rival: str, measure: str) -> str:
    """The test value of a rival, at the arm and size that are best on the folds of the training rows.

    A forest that was grown on a part of the rows has their number in brackets. The value of a rival that the search
    left out comes from ``RIVALS_FILE`` and is in italics; a dash if it is not there either.
    """
    board = [entry for entry in record["summary"]["leaderboard"] if entry["arm"] in RIVALS[rival]]
    scores = [entry["scores"][measure] for entry in board if measure in entry["scores"]]
    if scores:
        rows = forest_rows(record) if rival.startswith("forest") else ""
        return f"{max(scores, key=lambda each: each['mean'])['test']:.3f}{rows}"
    stored = [row for row in stored_rivals(name) if row["arm"] in RIVALS[rival] and row["measure"] == measure]
    if not stored:
        return "-"
    return f"*{float(max(stored, key=lambda row: float(row['fold_mean']))['test']):.3f}*"


def forest_rows(record: dict[str, Any]) -> str:
    """The rows that the forests of the rivals were grown on, in brackets, where the budget did not allow all."""
    said = re.search(r"forest of the rival grown on ([\d,]+) rows", "; ".join(record["search"]["budget"]["cuts"]))
    return f" ({said[1]})" if said else ""


def rival_values(record: dict[str, Any], name: str, goal: str) -> dict[str, str]:
    """The test value of each rival for one goal."""
    measure = record["summary"]["verdict"]["goals"][goal]["measure"]
    return {rival: rival_value(record, name, rival, measure) for rival in RIVALS}


def line(name: str, record: dict[str, Any], goal: str, rivals: list[str]) -> str:
    """The line of one data set for one goal."""
    summary = record["summary"]
    found = summary["verdict"]["goals"][goal]
    trained = f"{summary['fold_sizes']['test']['train']:,}"
    ours = [f"{found['value']:.3f}", f"{found['arm']}, k = {found['k']}", found["word"]]
    return "| " + " | ".join([f"[{name}]({name}/model.md)", trained, *ours, *rivals]) + " |"


def maps_sentence(rows: list[dict[str, str]], folder: str = "") -> str:
    """On how many sets the layout is above supervised UMAP on new rows, and keeps nearly as much."""
    known = {(row["set"], row["map"]): (float(row["new"]), float(row["kept"])) for row in rows}
    sets = [name for name, kind in known if kind == RIVAL]
    gains = [known[name, LAYOUT][0] - known[name, RIVAL][0] for name in sets]
    kept = sum(known[name, LAYOUT][1] >= 0.9 * known[name, RIVAL][1] for name in sets)
    counts = {"ahead": sum(gain > 0 for gain in gains), "clear": sum(gain >= 0.05 for gain in gains)}
    return MAPS.format(**counts, sets=len(sets), kept=kept, folder=folder)


def number(value: str) -> float:
    """The number of a cell of a table, without its marks; below all others where there is none."""
    return -1.0 if value == "-" else float(value.strip("*").split(" ")[0])


def short_line(name: str, record: dict[str, Any]) -> str:
    """The line of one data set in the README: for both goals ours, all features, the highest rival and the verdict."""
    summary = record["summary"]
    cells = [f"[{name}](docs/results/search/{name}/model.md) ({summary['fold_sizes']['test']['train']:,})"]
    for goal in GOALS:
        found, rivals = summary["verdict"]["goals"][goal], rival_values(record, name, goal)
        features = rivals.pop("all features")
        best = max(rivals, key=lambda rival: number(rivals[rival]))
        cells += [f"{found['value']:.3f}", features, f"{best} {number(rivals[best]):.3f}", found["word"]]
    return "| " + " | ".join(cells) + " |"


def verdict_counts(records: dict[str, dict[str, Any]], goal: str) -> str:
    """How many sets have each verdict for one goal, in words."""
    found = [record["summary"]["verdict"]["goals"][goal]["word"] for record in records.values()]
    counts = ", ".join(f"{word} on {found.count(word)}" for word in WORDS if word in found)
    return counts


def above_ours(records: dict[str, dict[str, Any]], values: dict[str, dict[str, str]], goal: str) -> str:
    """A sentence that names the rivals with a higher value than ours, and the sets."""
    found: dict[str, list[str]] = {}
    for name, rivals in values.items():
        ours = round(records[name]["summary"]["verdict"]["goals"][goal]["value"], 3)
        for rival, value in rivals.items():
            if number(value) > ours:
                found.setdefault(rival, []).append(name)
    told = "; ".join(f"{rival} on {', '.join(names)}" for rival, names in found.items())
    return f"Higher than ours: {told}." if told else "No rival is higher than ours."


def count_above(records: dict[str, dict[str, Any]], goal: str) -> int:
    """On how many sets some rival has a higher value than ours."""
    found = 0
    for name, record in records.items():
        ours = round(record["summary"]["verdict"]["goals"][goal]["value"], 3)
        found += any(number(value) > ours for value in rival_values(record, name, goal).values())
    return found


def table(records: dict[str, dict[str, Any]], goal: str, title: str) -> str:
    """The table of one goal, with a column per rival that took part in any of the searches."""
    values = {name: rival_values(record, name, goal) for name, record in records.items()}
    shown = [rival for rival in RIVALS if any(each[rival] != "-" for each in values.values())]
    return TABLE.format(
        title=title,
        words=f"of {len(records)} sets {verdict_counts(records, goal)}",
        rivals=" | ".join(shown),
        bars="|".join("---" for _ in shown),
        lines="\n".join(
            line(name, record, goal, [values[name][rival] for rival in shown]) for name, record in records.items()
        ),
        above=above_ours(records, values, goal),
    )


def maps_rows() -> list[dict[str, str]]:
    """The lines of search/maps.csv."""
    with open(HERE / "search" / "maps.csv", newline="") as file:
        return list(csv.DictReader(file))


def short_table(records: dict[str, dict[str, Any]]) -> str:
    """The text between the two marks of the README."""
    lines = "\n".join(short_line(name, records[name]) for name in SHOWN)
    counts: dict[str, Any] = {goal: verdict_counts(records, goal) for goal in GOALS}
    counts |= {f"{goal}_above": count_above(records, goal) for goal in GOALS}
    return SHORT.format(columns=COLUMNS, lines=lines, sets=len(records), **counts) + maps_sentence(
        maps_rows(), "docs/results/search/"
    )


def page(records: dict[str, dict[str, Any]]) -> str:
    """The page with a table per goal of all sets."""
    return PAGE + "".join(table(records, goal, title) for goal, title in GOALS.items()) + maps_sentence(maps_rows())


def main() -> None:
    records = multi_label_records()
    before, _, rest = README.read_text().partition(BEGIN)
    README.write_text(before + BEGIN + short_table(records) + END + rest.partition(END)[2])
    ALL.write_text(page(records))


if __name__ == "__main__":
    main()
