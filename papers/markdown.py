"""Tables of a Markdown page, and who made its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

DASH = "–"
CAME = {True: "yes", False: "no", None: "cannot be told"}
CAME_OUT = {True: "came out", False: "did not", None: "cannot be told"}
REASON = 160
QUICK_WARNING = "**A quick run on a small part of the rows: it shows that everything runs, not how good anything is.**"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table, with an empty line after it; bars in cells are escaped.

    Examples
    --------
    >>> from papers.markdown import table
    >>> print(table(("a", "b"), [(1, "x|y")]).strip())
    | a | b |
    |---|---|
    | 1 | x\\|y |
    """
    lines = [_line(head), "|" + "---|" * len(head), *(_line(row) for row in rows)]
    return "\n".join(lines) + "\n"


def claims_table(
    claims: Iterable[Mapping[str, Any]],
    said: str = "the paper says",
    of: str = "set",
    came: Mapping[bool | None, str] = CAME,
) -> str:
    """The table of what a paper says beside what came out; ``said`` and ``of`` head two of its columns.

    Where a claim has an interval, all have a column for it, after what came out in numbers.

    Examples
    --------
    >>> from papers.claim import claim
    >>> from papers.markdown import claims_table
    >>> claims_table([claim("A beats B", "Table 1", "yeast", None, "B failed")]).splitlines()[-1]
    '| A beats B | Table 1 | yeast | cannot be told | B failed |'
    """
    held = list(claims)
    first = [(each["published"], each["where"], each["labels"]) for each in held]
    if not any("interval" in each for each in held):
        rows = [(*facts, came[each["came_out"]], each["ours"]) for facts, each in zip(first, held, strict=True)]
        return table((said, "where", of, "came out", "ours"), rows)
    last = [(each["ours"], each.get("interval", DASH), came[each["came_out"]]) for each in held]
    head = (said, "where", of, "ours", "interval", "came out")
    return table(head, [(*a, *b) for a, b in zip(first, last, strict=True)])


def failures(parts: Mapping[str, Sequence[Mapping[str, Any]]], entrant: str = "entrant") -> list[str]:
    """The section of the entries that failed, with the beginning of the reason; [] where none did.

    Examples
    --------
    >>> from papers.markdown import failures
    >>> failures({"yeast": [{"entrant": "PCA", "failure": None}]})
    []
    """
    rows = [
        (part, entry["entrant"], entry["failure"][:REASON])
        for part, entries in parts.items()
        for entry in entries
        if entry["failure"]
    ]
    return ["## Failures", "", table(("part", entrant, "reason"), rows)] if rows else []


def made_lines(record: Mapping[str, Any]) -> list[str]:
    """The commands that made the entries of a record, with date and code; a warning where the code changed between."""
    used = sorted({entry["run"] for entries in record["parts"].values() for entry in entries})
    runs = [record["runs"][number] for number in used]
    lines = [
        f"Made by `{run['command']}`, {run['created'][:10]}, seed {record['seed']}, {run['jobs']} processes"
        f"{_code(run['code'])}."
        for run in runs
    ]
    if len({str(run["code"]) for run in runs}) > 1:
        lines.append("The entries were not all made by the same code: the record has the run of each.")
    return [line for each in lines for line in (each, "")]


def _code(code: Mapping[str, str | None] | None) -> str:
    if code is None:
        return ""
    commit = f"commit {code['commit']}, " if code["commit"] else ""
    return f" ({commit}sources {code['sources']})"


def _line(cells: Sequence[object]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"
