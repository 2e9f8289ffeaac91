"""Quotes of other programs than those of CSV: after a blank, single ones, and with backslashes inside."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence

from proxembed.data.readers.text_layout import SEPARATORS, most_frequent

Rewrite = Callable[[bytes, str], bytes]  # of a file with a separator


def other_quotes(lines: Sequence[str]) -> tuple[Callable[[bytes], bytes] | None, str]:
    """What turns the quotes of a file with these first lines into those of CSV, and a note; None, "" where they are."""
    content = "\n".join(lines).encode()
    separator = most_frequent(content.replace(b'\\"', b"").decode().split("\n"))
    if not lines or separator not in SEPARATORS:
        return None, ""
    rewrite: Rewrite | None = None
    note = ""
    if 2 * (len(content) - len(_after_blanks(content, separator))) >= len(lines) > 1:
        rewrite, note = _after_blanks, "blanks before quotes are left out"
    elif b'"' not in content and re.fullmatch(rf"'[^']*'(?:{re.escape(separator)}'[^']*')+", lines[0].strip()):
        rewrite, note = _single, "cells are in single quotes"
    elif b'\\"' in content and not _is_csv(content, separator) and _is_csv(_escaped(content, separator), separator):
        rewrite, note = _escaped, 'quotes in cells are written as \\"'
    return None if rewrite is None else lambda whole: rewrite(whole, separator), note


def _after_blanks(content: bytes, separator: str) -> bytes:
    pattern = re.compile(rb'"(?:[^"]|"")*"|(?<=%b) +(?=")' % re.escape(separator.encode()))
    return pattern.sub(lambda part: part[0] if part[0][:1] == b'"' else b"", content)


def _single(content: bytes, separator: str) -> bytes:
    mark = re.escape(separator.encode())
    pattern = re.compile(rb"(^|%b)'((?:[^'\r\n]|'')*)'(?=%b|\r|$)" % (mark, mark), re.MULTILINE)
    return pattern.sub(lambda part: b'%b"%b"' % (part[1], part[2].replace(b"''", b"'")), content)


def _escaped(content: bytes, separator: str) -> bytes:
    return content.replace(b'\\"', b'""')


def _is_csv(content: bytes, separator: str) -> bool:
    """Whether all quotes that begin a cell end one; the last one may be open."""
    try:
        list(csv.reader(content.decode().splitlines(keepends=True), delimiter=separator, strict=True))
    except csv.Error as error:
        return "unexpected end" in str(error)
    return True
