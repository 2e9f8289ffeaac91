"""The header of an ARFF file: its relation, its attributes and what they declare; quoted tokens."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from proxembed.data.errors import DataError
from proxembed.data.unpacking import decode
from proxembed.tables.cells import truth_words
from proxembed.tables.notes import shorten
from proxembed.tables.quantities import NUMBER

QUOTED = r"""'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+\""""
NAME = re.compile(rf"\s*({QUOTED}|[^\s{{]+)", re.DOTALL)
VALUE = re.compile(rf"\s*({QUOTED}|[^,]*)\s*(,|$)", re.DOTALL)
ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
NUMERIC, FREE = ("numeric", "real", "integer"), ("string", "date")


@lru_cache(maxsize=1024)
def _distinct_numbers(values: tuple[str, ...]) -> np.ndarray | None:
    if not all(NUMBER.fullmatch(value) for value in values):
        return None
    numbers = np.array(values, dtype=np.float64)
    numbers.flags.writeable = False  # shared by all attributes of these values
    return numbers if len(set(numbers.tolist())) == len(numbers) and np.isfinite(numbers).all() else None


@dataclass(frozen=True)
class Attribute:
    """One ARFF attribute: numeric where `values` is None, else nominal with these declared values, or ``free``: of
    texts or dates, of the declared ``kind``."""

    name: str
    values: tuple[str, ...] | None = None
    free: str = ""

    @property
    def numbers(self) -> np.ndarray | None:
        """Declared values as distinct numbers, or None where they are text (or the attribute is numeric)."""
        return None if self.values is None else _distinct_numbers(self.values)

    @property
    def text(self) -> bool:
        """Whether values are text, kept as their positions in the declaration."""
        return self.values is not None and self.numbers is None

    @property
    def encoded(self) -> bool:
        """Whether a table encodes its cells: texts, dates, and truth values in words."""
        return bool(self.free) or self.text and truth_words(self.values or ()) is not None

    @property
    def omitted(self) -> float:
        """Value of a cell left out of a sparse row: 0, or the first declared value of a nominal attribute."""
        return 0.0 if self.numbers is None else float(self.numbers[0])


@dataclass(frozen=True)
class Header:
    """Relation name, attributes, the number of the last header line, and the attributes that KEEL names as outputs."""

    relation: str
    attributes: tuple[Attribute, ...]
    lines: int
    outputs: tuple[str, ...] = ()


def unquote(token: str) -> str:
    """Text of a token, its quotes and backslash escapes resolved."""
    token = token.strip()
    if len(token) < 2 or token[0] not in "'\"" or token[-1] != token[0]:
        return token
    plain = {"n": "\n", "t": "\t", "r": "\r"}
    text = ESCAPE.sub(lambda m: chr(int(m[1][1:], 16)) if len(m[1]) > 1 else plain.get(m[1], m[1]), token[1:-1])
    return text.encode("utf-16", "surrogatepass").decode(
        "utf-16", "replace"
    )  # Java writes two halves of some characters


def tokens(text: str) -> list[str]:
    """Comma-separated tokens of a line, quotes kept; commas inside a quoted token do not separate."""
    if "'" not in text and '"' not in text:
        return [token.strip() for token in text.split(",")]
    found, position, more = [], 0, True
    while more:
        match: Any = VALUE.match(text, position)  # of anything, an empty value too
        found.append(match[1].strip())
        position, more = match.end(), bool(match[2])
    return found


def read_header(stream: Iterable[bytes], path: Path) -> Header:
    """Header up to and with the @data line; `stream` then stands at the first line after it."""
    relation, attributes = "", []
    outputs: tuple[str, ...] = ()
    number = 0
    for number, line in _statements(stream, path):
        words: Any = re.match(r"(\S+)\s*(.*)", line, re.DOTALL)
        word, rest = words.groups()
        match word.lower():
            case "@relation":
                relation = unquote(rest)
            case "@attribute":
                attributes.append(_attribute(rest, path, number))
            case "@data":
                if not attributes:
                    raise DataError.at(path, number, "@data comes before any @attribute", "declare the columns first")
                return Header(relation, tuple(attributes), number, outputs)
            case "@outputs" | "@output":
                outputs = tuple(map(unquote, tokens(rest)))
            case "@inputs" | "@input":
                continue
            case _:
                raise DataError.at(
                    path,
                    number,
                    f"{shorten(line)} is not an ARFF header line",
                    "header lines start with @relation, @attribute, @data or %",
                )
    if number == 0:
        raise DataError.at(path, None, "the file is empty", "fetch or write it again")
    raise DataError.at(path, None, "there is no @data line", "check that the file is complete and is ARFF")


def _statements(stream: Iterable[bytes], path: Path) -> Iterator[tuple[int, str]]:
    for number, raw in enumerate(stream, start=1):
        if number == 1:
            if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
                raise DataError.at(path, 1, "the file is UTF-16", "save it as UTF-8")
            raw = raw.removeprefix(b"\xef\xbb\xbf")
        line = decode(raw, path, number).strip()
        if line and not line.startswith("%"):
            yield number, line


def _attribute(text: str, path: Path, line: int) -> Attribute:
    match = NAME.match(text)
    kind = "" if match is None else text[match.end() :].strip()
    if match is None or not kind:
        raise DataError.at(
            path,
            line,
            f"@attribute {shorten(text)} lacks a name or a type",
            "write @attribute NAME TYPE, the name in quotes where it holds spaces",
        )
    name = unquote(match[1])
    if kind.startswith("{"):
        return Attribute(name, _values(kind, name, path, line))
    word = re.split(r"[\s\[]", kind, maxsplit=1)[0].lower()  # KEEL writes the range in brackets
    if word in NUMERIC:
        return Attribute(name)
    if word in FREE:
        return Attribute(name, free=kind)
    remedy = "write @attribute NAME TYPE, the name in quotes where it holds spaces"
    if word == "relational":
        remedy = "drop the column or turn it into numbers first"
    reason = f"attribute {shorten(name)} has type {shorten(kind)}, which is none of {', '.join((*NUMERIC, *FREE))}"
    raise DataError.at(path, line, f"{reason} and {{value,value,...}}", remedy)


@lru_cache(maxsize=1024)  # files declare the same few values again and again
def _declared(kind: str) -> tuple[str, ...]:
    return tuple(unquote(token) for token in tokens(kind[1:-1]))


def _values(kind: str, name: str, path: Path, line: int) -> tuple[str, ...]:
    if not kind.endswith("}"):
        raise DataError.at(
            path,
            line,
            f"the values of attribute {shorten(name)} lack the closing brace",
            "write {value,value,...} on one line",
        )
    values = _declared(kind)
    if "" in values or len(set(values)) < len(values):
        raise DataError.at(
            path, line, f"attribute {shorten(name)} declares an empty or a repeated value", "declare every value once"
        )
    return values
