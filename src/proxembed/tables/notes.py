"""Notes on the columns of a table: a few of each kind, the names of the others, and characters that cannot be seen."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

SHOWN_NOTES = 5  # of one kind
SHOWN_NAMES = 10
SPELLINGS = 3  # groups of them
MOST_SPELLINGS = 1000  # values of a category that are compared
UNSEEN = ("M", "Z", "C")  # categories of characters: accents, blanks, control and format characters
QUOTED = re.compile(r"""('[^']*'|"[^"]*")((, | and )('[^']*'|"[^"]*"))*""")
NUMBER = re.compile(r"\d[\d.,e+-]*")


class SpellingNote(str):
    """A note on spellings, which tells nothing of what the cells are."""


class LeftOut(str):
    """A note on a column that is, by a guess, not used as a feature."""


def row_numbers_note(name: str, first: int, n: int) -> str:
    """A note on a column of row numbers."""
    last = first + n - 1
    return LeftOut(
        f"{name} holds the row numbers {first} to {last:,} and is not a feature "
        f"(keep={name!r}, beside the other features, makes it one)"
    )


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
            found.append(type(each[0][1])(f"and {len(others):,} more columns: {few_names(others)}"))
    return found


def few_names(names: Sequence[str]) -> str:
    """The first 10 names, and how many others there are."""
    more = f" and {len(names) - SHOWN_NAMES:,} more" if len(names) > SHOWN_NAMES else ""
    return ", ".join(names[:SHOWN_NAMES]) + more


def counted(count: int, noun: str) -> str:
    """A number with its noun, such as "1 label" and "2,000 labels"."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def _kind(column: str, text: str) -> str:
    """A note without its column, quoted text and numbers."""
    own = re.sub(rf"(?<!\w){re.escape(column)}(?!\w)", "''", text)
    return NUMBER.sub("0", QUOTED.sub("''", own))


BLANKS = "\n\r\t"
JOINERS = "\u200c\u200d"  # of scripts and of emoji


def visible(text: str) -> str:
    """The text with an escape for each character that cannot be seen, such as a backslash and x07 for the bell."""
    return text if text.isprintable() else "".join(map(_visible_character, text))


def _visible_character(c: str) -> str:
    if c.isprintable() or c in BLANKS or c in JOINERS or unicodedata.category(c) == "Zs":
        return c
    if ord(c) < 1 << 8:
        return f"\\x{ord(c):02x}"
    return f"\\u{ord(c):04x}" if ord(c) < 1 << 16 else f"\\U{ord(c):08x}"


def visible_texts(value: Any) -> Any:
    """Plain data with all of their texts visible, keys too; arrays and numbers stay."""
    if isinstance(value, str):
        return type(value)(visible(value))
    if isinstance(value, dict):
        return {visible_texts(key): visible_texts(each) for key, each in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(visible_texts, value))
    return value


def spelling_notes(names: Sequence[str], counts: Any, kind: str = "labels") -> tuple[str, ...]:
    """A note on names of a kind that differ only in case, blanks, accents or a last point, with the rows of each."""
    groups: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        groups.setdefault(_plain(name), []).append(place)
    several = [places for plain, places in groups.items() if plain and len(places) > 1]
    if not several:
        return ()
    shown = "; ".join(_listed_spellings([(names[j], int(counts[j])) for j in places]) for places in several[:SPELLINGS])
    more = f"; and {len(several) - SPELLINGS} more such groups" if len(several) > SPELLINGS else ""
    differ = f"{sum(map(len, several)):,} {kind} differ only in case, blanks, accents or a last point"
    return (f"{differ}: {shown}{more}; use one spelling if they mean the same",)


def spelled_alike(column: str, words: Sequence[str], counts: Any) -> str:
    """A note on the values of a category that differ in this way; "" for none."""
    rows = Counter[str]()
    for word, count in zip(words[: MOST_SPELLINGS + 1], counts, strict=False):
        rows[word] += int(count)
    notes = spelling_notes(list(rows), list(rows.values()), "values") if len(words) <= MOST_SPELLINGS else ()
    return SpellingNote("".join(f"{column}: {note}" for note in notes))


def _plain(name: str) -> str:
    """A name without case, blanks, accents, characters that cannot be seen and a last point."""
    kept = (
        sign
        for sign in unicodedata.normalize("NFKD", name.rstrip(". "))
        if not unicodedata.category(sign).startswith(UNSEEN)
    )
    return unicodedata.normalize("NFKD", "".join(kept).casefold())


def _listed_spellings(spellings: list[tuple[str, int]]) -> str:
    """Spellings and their rows, in ASCII if two of them look the same."""
    looks = {unicodedata.normalize("NFKC", name) for name, _ in spellings}
    form = shorten if len(looks) == len(spellings) else ascii
    return " and ".join(f"{form(name)} ({counted(count, 'row')})" for name, count in spellings)


def shorten(text: object, width: int = 40) -> str:
    """Quoted form of foreign text for a message: printable, on one line, at most `width` characters."""
    shown = ascii(text) if not isinstance(text, str) or not text.isprintable() else f"'{text}'"
    return shown if len(shown) <= width else shown[: width - 3] + "..."
