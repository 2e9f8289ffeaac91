"""Tables of a Markdown page, and who made its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

QUICK_WARNING = "**A quick run on a small part of the rows: it shows that everything runs, not how good anything is.**"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table, with an empty line after it; bars in cells are escaped.

    Examples
    --------
    >>> from proxembed.reproduce.markdown import table
    >>> print(table(("a", "b"), [(1, "x|y")]).strip())
    | a | b |
    |---|---|
    | 1 | x\\|y |
    """
    lines = [_line(head), "|" + "---|" * len(head), *(_line(row) for row in rows)]
    return "\n".join(lines) + "\n"


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
