"""Lists written in text cells: JSON, Python lists, tuples and sets, numpy arrays, Postgres arrays, tags."""

import ast
import json
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from .quantities import NUMBER, quantity

TAGS = re.compile(r"(?:<[^<>/\s][^<>]*(?<!/)>)+")
CALL = re.compile(r"(?:array|frozenset|set)\((.*?)(?:,\s*dtype=[\w.'\"<>]+)?\)", re.DOTALL)
SCALAR = re.compile(r"\b(?:np|numpy)\.\w+\(([^()]*)\)")
ENTRY = re.compile(
    r"""(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|\.\.\.|\u2026|(None|nan|null)\b)(?:\s*,\s*|\s+|$)""", re.DOTALL
)
POSTGRES = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|([^{}",\'\\:]*))\s*(,|$)')
NAME_KEYS = ("name", "label", "title")  # of a dictionary
CUT = ("...", "\u2026")  # stand for the entries that were left out
NO_NUMBER = ("nan", "inf", "-inf")  # in a vector
FIRST = "[({<afsn"
CODES_CHOSEN = re.compile(r"[1-9]\d?(?:,[1-9]\d?)*", re.ASCII)
FEWEST_CHOSEN, FEWEST_FIRST = 8, 3  # different words of several codes, and their first codes


def listed(word: str) -> tuple[Any, ...] | None:
    """The entries of a list that is written in a cell; None for other text."""
    if word[:1] not in FIRST or len(word) < 2:
        return None
    if word[0] == "[" and word.endswith(CUT):
        return (...,)  # the end was cut off
    if word[0] not in "[({<":
        call = CALL.fullmatch(word)
        return () if word in ("set()", "frozenset()") else None if call is None else listed(call[1].strip())
    if word[0] == "<":
        return tuple(word[1:-1].split("><")) if TAGS.fullmatch(word) else None
    if word[0] + word[-1] not in ("[]", "()", "{}"):
        return None
    return _bracketed(SCALAR.sub(r"\1", word) if "p" in word and "(" in word[1:] else word)


def _bracketed(word: str) -> tuple[Any, ...] | None:
    inner = word[1:-1]
    bare = inner.replace(",", " ").split() if word[0] == "[" else ()
    if word[0] == "[" and all(each in CUT or each in NO_NUMBER or NUMBER.fullmatch(each) for each in bare):
        return tuple(... if each in CUT else float(each) for each in bare)
    if word[0] == "(" and quantity(word) is not None:  # (1,234) is a number
        return None
    for read in (_quoted, _literal, _postgres if word[0] == "{" else _unquoted):
        found = read(word)
        if found is not None:
            return found
    return None


def _quoted(word: str) -> tuple[Any, ...] | None:
    """Texts in quotes with blanks or commas between them; Python would join two with a blank between."""
    if word[0] != "[":
        return None
    entries: list[Any] = []
    inner = word[1:-1].strip()
    place = 0
    while place < len(inner):
        part = ENTRY.match(inner, place)
        if part is None:
            return None
        text = part[1] if part[1] is not None else part[2]
        entries.append(_unescaped(text) if text is not None else ... if part[3] is None else None)
        place = part.end()
    return tuple(entries)


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    for read in (json.loads, ast.literal_eval):
        try:
            return str(read('"' + text.replace("\\'", "'") + '"'))
        except (ValueError, SyntaxError):
            continue
    return text


def _literal(word: str) -> tuple[Any, ...] | None:
    for read in (json.loads, ast.literal_eval):
        try:
            found = read(word)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
        if isinstance(found, dict):
            return None if isinstance(name := _name_of(found), dict) else (name,)
        if isinstance(found, set | frozenset):
            found = sorted(found, key=lambda each: (str(type(each)), each))
        return tuple(map(_name_of, found)) if isinstance(found, list | tuple) else None
    return None


def _name_of(entry: Any) -> Any:
    """The name of a dictionary that has one; any other entry as it is."""
    keys = [key for key in NAME_KEYS if isinstance(entry.get(key), str)] if isinstance(entry, dict) else []
    return entry[keys[0]] if keys else entry


def _postgres(word: str) -> tuple[Any, ...] | None:
    """An array as PostgreSQL writes it: {a,"b c",NULL}."""
    inner, place, entries = word[1:-1], 0, []
    if not inner.strip():
        return ()
    while True:
        part = POSTGRES.match(inner, place)
        if part is None or part[1] is None and not part[2].strip():
            return None
        entries.append(part[2].strip() if part[1] is None else re.sub(r"\\(.)", r"\1", part[1]))
        if not part[3]:
            break
        place = part.end()
    found = [entry for entry in entries if entry != "NULL"]
    if found and all(map(NUMBER.fullmatch, found)):
        return tuple(map(float, found))
    return tuple(found)


def _unquoted(word: str) -> tuple[Any, ...] | None:
    """Texts without quotes, with commas between them: [a, b]."""
    inner = word[1:-1]
    if word[0] != "[" or any(mark in inner for mark in "[](){}'\""):
        return None
    entries = [entry.strip() for entry in inner.split(",")]
    if not all(entries) or len(entries) == 1 and len(inner.split()) > 1:
        return None
    return tuple(... if entry in CUT else entry for entry in entries)


def are_choices(words: Sequence[str]) -> bool:
    """Whether words joined by commas are choices of several, and not names or places such as Bern, Switzerland: there
    are fewer choices than words, half of them or more stand alone, or first in one word and later in another, and
    either one does the latter or all stand alone."""
    first, later, alone = set[str](), set[str](), set[str]()
    for word in words:
        one, *others = map(str.strip, word.split(","))
        (first if others else alone).add(one)
        later.update(others)
    several = first | later | alone
    free = bool(first & later) or several == alone
    return free and len(several) < len(words) and 2 * len(alone | first & later) >= len(several)


def are_codes_chosen(words: Sequence[str]) -> bool:
    """Whether words such as 1,4 are codes of several choices, and not numbers with a decimal comma: whole numbers from
    1, some of them alone, that rise in every word, in eight different words or more with three first codes or more."""
    if not words or not all(map(CODES_CHOSEN.fullmatch, words)):
        return False
    codes = [list(map(int, word.split(","))) for word in words]
    several = [each for each in codes if len(each) > 1]
    first, later = {each[0] for each in several}, {code for each in several for code in each[1:]}
    rise = all(one < other for each in several for one, other in pairwise(each))
    of_one = any(code < 10 for code in later)  # 1,25 and 2,50 are numbers
    return rise and of_one and len(codes) > len(several) >= FEWEST_CHOSEN and len(first) >= FEWEST_FIRST
