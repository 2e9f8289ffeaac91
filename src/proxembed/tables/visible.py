"""Names from data as people can see them: control characters are shown, never dropped or carried out."""

from __future__ import annotations

import unicodedata
from typing import Any

BLANKS = "\n\r\t"
JOINERS = "\u200c\u200d"  # of scripts and of emoji


def visible(text: str) -> str:
    """The text with an escape in place of each character that cannot be seen, such as a backslash and x07 for
    the bell."""
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
        return visible(value)
    if isinstance(value, dict):
        return {visible_texts(key): visible_texts(each) for key, each in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(visible_texts, value))
    return value
