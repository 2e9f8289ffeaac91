"""The verdicts of all searches in one table: reads search/*/results.json, writes search/README.md."""

import json
from pathlib import Path

HERE = Path(__file__).parent / "search"
HEAD = """# What `proxembed search` found

One line a data set, from `results.json` of its folder (`make search-results`); `proxembed report FOLDER` makes its
page. Macro average precision of a ridge read-out on the test rows, looked at once; the gain over all features with its
95 % interval by drawing test rows again. "Embed" is said where the interval lies above 0; beside it stands the best
rival embedding, which may be better still.

| data | rows | labels | verdict | embedding | test | all features | gain | best rival | null | made |
|---|---|---|---|---|---|---|---|---|---|---|
"""


def line(folder: Path) -> str:
    """The line of one search."""
    record = json.loads((folder / "results.json").read_text())
    summary, diagnosis = record["summary"], record["diagnosis"]
    facts, verdict, name = summary["dataset"], summary["verdict"], summary["measures"][0]
    test = {(entry["arm"], entry["k"]): entry["scores"][name]["test"] for entry in summary["leaderboard"]}
    low, high = verdict["interval"]
    rival = verdict["rival"]
    cells = [
        f"[{folder.name}]({folder.name})",
        f"{facts['n']:,}",
        str(facts["labels"]),
        verdict["headline"],
        f"{verdict['arm']}, k = {verdict['k']}",
        f"{test[verdict['arm'], verdict['k']]:.3f}",
        f"{test['all features', None]:.3f}",
        f"{verdict['gain']:+.3f} ({low:+.3f} to {high:+.3f})",
        f"{rival['arm']}, k = {rival['k']}: {test[rival['arm'], rival['k']]:.3f}",
        "–" if diagnosis is None else "beaten" if diagnosis["passed"] else f"not beaten, p = {diagnosis['p']:.2f}",
        record["created"][:10],
    ]
    return "| " + " | ".join(cells) + " |\n"


def main() -> None:
    lines = [line(path.parent) for path in sorted(HERE.glob("*/results.json"))]
    (HERE / "README.md").write_text(HEAD + "".join(lines))


if __name__ == "__main__":
    main()
