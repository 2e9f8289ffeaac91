"""Lists in text cells, in the forms in which programs write them."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

from .numerals import NUMBER

TAGS = re.compile(r"(?:<[^<>\s][^<>]*>\s*)+")
TAG = re.compile(r"<([^<>]+)>")
ARRAY = re.compile(r"array\((.*?)(?:, dtype=.*)?\)", re.DOTALL)
CLOSED = {"[": "]", "{": "}", "(": ")"}
QUOTED_ENTRY = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*""")
POSTGRES_ENTRY = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|([^",{}]*))\s*(?:,|$)')
NAME_KEYS = ("name", "label", "title", "value", "id")


class ShortenedList(ValueError):
    """A list that its writer has cut, such as ``[0.1 0.2 ... 0.9]``."""


def listed(word: str) -> tuple[Any, ...] | None:
    """The entries of a list; None for other text.

    Lists, tuples and sets of Python, arrays of NumPy, JSON, arrays of Postgres (``{a,b}``), tags (``<a><b>``) and
    numbers with blanks between are read; of dictionaries the value of their ``name`` is taken
    (or of ``label``, ``title``, ``value`` or ``id``).

    Raises
    ------
    ShortenedList
        The list has an ellipsis in place of entries.

    Examples
    --------
    >>> from proxembed.tables.lists import listed
    >>> listed('["a", "b"]'), listed("['a' 'b']"), listed("{a,b}"), listed("<a><b>"), listed("('a',)")
    (('a', 'b'), ('a', 'b'), ('a', 'b'), ('a', 'b'), ('a',))
    >>> listed("[1 2.5]"), listed("a"), listed("[]"), listed('[{"id": 3, "name": "a"}]')
    ((1.0, 2.5), None, (), ('a',))
    """
    if (array := ARRAY.fullmatch(word)) is not None:
        word = array[1]
    if TAGS.fullmatch(word):
        return tuple(entry.strip() for entry in TAG.findall(word))
    if len(word) < 2 or CLOSED.get(word[0]) != word[-1]:
        return tuple() if word in ("set()", "frozenset()") else None
    inner = word[1:-1]
    if re.search(r"(?:^|[\s,])(?:\.\.\.|\u2026)(?:$|[\s,])", inner):
        raise ShortenedList(f"{word[:60]!r} is a list that was shortened when it was written")
    if word[0] == "[":
        bare = inner.replace(",", " ").split()
        if all(map(NUMBER.fullmatch, bare)):
            return tuple(map(float, bare))
        if (quoted := _quoted_entries(inner)) is not None:
            return quoted
    found = _python_or_json(word)
    if found is not None:
        return found
    return _postgres(inner) if word[0] == "{" and ":" not in inner else None


def _quoted_entries(inner: str) -> tuple[str, ...] | None:
    """Quoted texts with blanks between, as NumPy prints them; None for other text."""
    place, entries = 0, []
    while place < len(inner):
        entry = QUOTED_ENTRY.match(inner, place)
        if entry is None:
            return None
        entries.append(re.sub(r"\\(.)", r"\1", entry[1] if entry[1] is not None else entry[2]))
        place = entry.end()
    return tuple(entries)


def _python_or_json(word: str) -> tuple[Any, ...] | None:
    """A list, tuple, set or JSON array of texts, numbers or dictionaries with a name."""
    for read in (json.loads, ast.literal_eval):
        try:
            found = read(word)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
        if isinstance(found, set | frozenset):
            found = sorted(found, key=str)
        if isinstance(found, dict):
            found = [found] if "name" in found else None
        return tuple(map(_name, found)) if isinstance(found, list | tuple) else None
    return None


def _name(entry: Any) -> Any:
    """The name of a dictionary that has one; any other entry as it is."""
    key = next((key for key in NAME_KEYS if key in entry), None) if isinstance(entry, dict) else None
    return entry if key is None else entry[key]


def _postgres(inner: str) -> tuple[str, ...] | None:
    """The entries of ``{a,"b c"}``; None for other text."""
    place, entries = 0, []
    while place < len(inner):
        entry = POSTGRES_ENTRY.match(inner, place)
        if entry is None or entry.end() == place:
            return None
        entries.append(re.sub(r"\\(.)", r"\1", entry[1]) if entry[1] is not None else entry[2].strip())
        place = entry.end()
    return tuple(entry for entry in entries if entry and entry != "NULL")
