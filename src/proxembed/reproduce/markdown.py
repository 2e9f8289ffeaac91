"""Tables of a Markdown page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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


def _line(cells: Sequence[object]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"
