"""The verdicts of all searches in one table per goal: reads search/*/results.json, writes search/README.md."""

import json
from pathlib import Path

HERE = Path(__file__).parent / "search"
HEAD = """# What `proxembed search` found

From `results.json` of each folder (`make search-results`); `proxembed report FOLDER` writes its page. The values are
those of the test rows, scored once; the gain has its 95 % interval. Work is the budget of the search, in the units of
`--max-work`. [How it judges](../../how_it_judges.md) explains the terms.
"""
TABLE = """
## {title}

| data | rows | labels | verdict | embedding | value | against | gain | a rival ahead | work | made |
|---|---|---|---|---|---|---|---|---|---|---|
"""
COMPRESS = """
## Compress

| data | rows | labels | verdict | embedding | numbers | of features | keeps | work | made |
|---|---|---|---|---|---|---|---|---|---|
"""


def at(entry: dict) -> str:
    """An arm with its size."""
    return entry["arm"] if entry["k"] is None else f"{entry['arm']}, k = {entry['k']}"


def line(name: str, record: dict, goal: str) -> str:
    """The line of one search and goal."""
    facts, found = record["summary"]["dataset"], record["summary"]["verdict"]["goals"][goal]
    cells = [f"[{name}]({name}/model.md)", f"{facts['n']:,}", str(facts["labels"]), found["word"], at(found)]
    if goal == "compress":
        shares = (f"{100 * share['share']:.1f} % of {measure}" for measure, share in found["shares"].items())
        cells += [str(found["components"]), f"{found['d']:,}", ", ".join(shares)]
    else:
        low, high = found["interval"]
        rival = found["rival"]
        ahead = rival is not None and rival["value"] > found["value"]
        cells += [
            f"{found['value']:.3f}",
            f"{at(found['base'])}: {found['base']['value']:.3f}",
            f"{found['gain']:+.3f} ({low:+.3f} to {high:+.3f})",
            f"{at(rival)}: {rival['value']:.3f}" if ahead else "none",
        ]
    return "| " + " | ".join([*cells, f"{record['search']['budget']['work']:g}", record["created"][:10]]) + " |\n"


def main() -> None:
    records = {path.parent.name: json.loads(path.read_text()) for path in sorted(HERE.glob("*/results.json"))}
    text = HEAD
    for goal in ("neighbours", "predict", "compress", "map"):
        text += COMPRESS if goal == "compress" else TABLE.format(title=goal.capitalize())
        text += "".join(line(name, record, goal) for name, record in records.items())
    (HERE / "README.md").write_text(text)


if __name__ == "__main__":
    main()
