"""The results in the README: ours beside rivals on multi-label sets, from search/*/results.json and maps.csv."""

import csv
import json
import re
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
README = HERE.parents[1] / "README.md"
BEGIN, END = "<!-- begin of what docs/results/readme_tables.py writes -->\n", "<!-- end -->\n"
GOALS = {"predict": "Macro average precision", "neighbours": "Jaccard@10 of the neighbours' label sets"}
RIVALS = {
    "all features": ("all features",),
    "label scores": ("label scores",),
    "forest scores": ("forest scores", "label lookup"),  # the lookup reads neighbours from the forest's scores
    "forest proximity": ("forest proximity",),
    "supervised UMAP": ("supervised UMAP",),
}
TABLE = """
{title}:

| data | training rows | ours | | verdict | {rivals} |
|---|---|---|---|---|{bars}|
{lines}
"""
MAPS = """
On maps in two dimensions `Layout()` is above supervised UMAP on held-out rows of {ahead} of {sets} sets
([maps](docs/results/search/maps.md)).
"""


def multi_label_records() -> dict[str, dict[str, Any]]:
    """The record of every search on rows with several labels, by the name of the set."""
    found = {path.parent.name: json.loads(path.read_text()) for path in sorted(HERE.glob("search/*/results.json"))}
    return {name: each for name, each in found.items() if not each["summary"]["dataset"]["single_label"]}


def rival_value(leaderboard: list[dict[str, Any]], arms: tuple[str, ...], measure: str) -> str:
    """The test value of the arm and size that are best on the folds of the training rows; a dash if there is none."""
    scores = [line["scores"][measure] for line in leaderboard if line["arm"] in arms and measure in line["scores"]]
    if not scores:
        return "-"
    return f"{max(scores, key=lambda each: each['mean'])['test']:.3f}"


def forest_rows(record: dict[str, Any]) -> str:
    """The rows that the forests of the rivals were grown on, in brackets, where the seconds did not suffice for all."""
    said = re.search(r"forest of the rival grown on ([\d,]+) rows", "; ".join(record["search"]["budget"]["cuts"]))
    return f" ({said[1]})" if said else ""


def line(name: str, record: dict[str, Any], goal: str) -> str:
    """The line of one set for one goal."""
    summary = record["summary"]
    found = summary["verdict"]["goals"][goal]
    rivals = [
        value + (forest_rows(record) if rival.startswith("forest") and value != "-" else "")
        for rival, arms in RIVALS.items()
        for value in [rival_value(summary["leaderboard"], arms, found["measure"])]
    ]
    trained = f"{summary['fold_sizes']['test']['train']:,}"
    ours = [f"{found['value']:.3f}", f"{found['arm']}, k = {found['k']}", found["word"]]
    return "| " + " | ".join([f"[{name}](docs/results/search/{name}/model.md)", trained, *ours, *rivals]) + " |"


def maps_sentence(rows: list[dict[str, str]]) -> str:
    """On how many sets the layout is above supervised UMAP on new rows."""
    new = {(row["set"], row["map"]): float(row["new"]) for row in rows}
    sets = [name for name, kind in new if kind == "supervised UMAP"]
    ahead = sum(new[name, "Layout"] > new[name, "supervised UMAP"] for name in sets)
    return MAPS.format(ahead=ahead, sets=len(sets))


def tables() -> str:
    """What stands in the README between the two marks."""
    records = multi_label_records()
    text = "".join(
        TABLE.format(
            title=title,
            rivals=" | ".join(RIVALS),
            bars="|".join("---" for _ in RIVALS),
            lines="\n".join(line(name, record, goal) for name, record in records.items()),
        )
        for goal, title in GOALS.items()
    )
    with open(HERE / "search" / "maps.csv", newline="") as file:
        return text + maps_sentence(list(csv.DictReader(file)))


def main() -> None:
    before, _, rest = README.read_text().partition(BEGIN)
    README.write_text(before + BEGIN + tables() + END + rest.partition(END)[2])


if __name__ == "__main__":
    main()
