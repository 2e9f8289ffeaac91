"""Notes on the columns of a table: a few of each kind, and the names of the other columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

SHOWN_NOTES = 5  # of one kind
SHOWN_NAMES = 10
QUOTED = re.compile(r"""('[^']*'|"[^"]*")((, | and )('[^']*'|"[^"]*"))*""")
NUMBER = re.compile(r"\d[\d.,e+-]*")


def few_notes(notes: Iterable[tuple[str, str]]) -> list[str]:
    """The notes, of one kind at most 5, and a line that names the columns of the others."""
    kinds: dict[str, list[tuple[str, str]]] = {}
    for column, text in notes:
        kinds.setdefault(_kind(column, text), []).append((column, text))
    found = []
    for each in kinds.values():
        shown = SHOWN_NOTES if len(each) > SHOWN_NOTES + 1 else len(each)  # the last one takes a line in any case
        found += [text for _, text in each[:shown]]
        if others := list(dict.fromkeys(column for column, _ in each[shown:])):
            found.append(f"and {len(others):,} more columns: {few_names(others)}")
    return found


def few_names(names: Sequence[str]) -> str:
    """The first 10 names, and how many others there are."""
    more = f" and {len(names) - SHOWN_NAMES:,} more" if len(names) > SHOWN_NAMES else ""
    return ", ".join(names[:SHOWN_NAMES]) + more


def _kind(column: str, text: str) -> str:
    """A note without its column, quoted text and numbers."""
    own = re.sub(rf"(?<!\w){re.escape(column)}(?!\w)", "''", text)
    return NUMBER.sub("0", QUOTED.sub("''", own))
