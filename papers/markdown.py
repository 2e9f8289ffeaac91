"""Tables of a Markdown page, and who made its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

DASH = "–"
CAME = {True: "yes", False: "no", None: "cannot be told"}
REASON = 160
RULE = """\
- Every claim is judged by the rule of all pages ([claims.md](../claims.md)): each difference by its p-value after
  Holm's correction within the claim, at 5 %; fewer than five draws give no verdict. Intervals are at 95 %, each by
  itself, unless another level stands beside them; so are the p-values that are shown."""
BLOCKS = """
- The record has no values without groups of test rows yet. Until the experiment is run again, the draws are the blocks
  (Student's t): that is valid for these rows only, since redrawn parts of one data set share rows."""
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


def claims_table(claims: Iterable[Mapping[str, Any]], of: str = "set") -> str:
    """The table of what a paper says beside what came out, then that of our own checks where there are any; ``of``
    heads their data.

    Examples
    --------
    >>> from papers.claim import claim
    >>> from papers.markdown import claims_table
    >>> from papers.rule import UNKNOWN
    >>> claims_table([claim("A beats B", "Table 1", "yeast", UNKNOWN)]).splitlines()[2].split(" | ")[5]
    'cannot be told'
    """
    held = list(claims)
    text = _claims([each for each in held if not each["own"]], "the paper says", of)
    own = [each for each in held if each["own"]]
    return (
        text
        if not own
        else f"{text}\nChecks of our own, of data of which the paper does not say it:\n\n" + _claims(own, "asked", of)
    )


def _claims(held: Sequence[Mapping[str, Any]], said: str, of: str) -> str:
    head = (said, "where", of, "ours", "interval", "came out", "open until")
    return table(
        head,
        [
            (each["published"], each["where"], each["labels"], each["ours"], each["interval"],
             CAME[each["came_out"]], each["decided_by"] or DASH)
            for each in held
        ],
    )  # fmt: skip


def rule_words(whole: bool) -> str:
    """The rule of verdicts; that the draws are the blocks where not every entry has values without groups of rows."""
    return RULE if whole else RULE + BLOCKS


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
