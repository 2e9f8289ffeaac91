"""Columns of odd tables: their values, and the text of each cell in some style."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd

Rng = np.random.Generator
WORDS = ("red", "green", "blue", "dark sea", "Zürich", "O'Hara", 'the "one"')
# separators, encodings, line ends and words for empty cells of a file
SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "latin-1")
LINE_ENDS = {"lf": "\n", "crlf": "\r\n"}
EMPTY = ("", "NA", "nan", "?", "<NA>", "-", "missing")
# style of numbers -> mark between thousands, decimal mark
NUMBERS = {
    "plain": ("", "."),
    "comma": ("", ","),
    "english": (",", "."),
    "german": (".", ","),
    "blank": (" ", ","),
    "nbsp": ("\u00a0", "."),
    "narrow": ("\u202f", ","),
    "swiss": ("'", "."),
    "curly": ("\u2019", "."),
}
DATES = {
    "iso": "%Y-%m-%d",
    "iso seconds": "%Y-%m-%dT%H:%M:%S",
    "dots": "%d.%m.%Y",
    "slashes": "%d/%m/%Y",
    "american": "%m/%d/%Y",
}
LISTS: dict[str, Callable[[Sequence[str]], str]] = {
    "json": lambda names: json.dumps(list(names)),
    "python": lambda names: repr(list(names)),
    "tuple": lambda names: repr(tuple(names)),
    "set": lambda names: repr(set(names)) if names else "[]",
    "numpy": lambda names: str(np.array(names, dtype=object)),
    "postgres": lambda names: "{" + ",".join(f'"{name}"' for name in names) + "}",
    "tags": lambda names: "".join(f"<{name}>" for name in names),
    "dicts": lambda names: repr([{"id": j, "name": name} for j, name in enumerate(names)]),
    "semicolons": ";".join,
}


def _decimals(places: int, size: float) -> Callable[[Rng, int], list[Any]]:
    return lambda rng, n: [round(float(value), places) for value in rng.normal(0.0, size, n)]


# kind of column -> its values
KINDS: dict[str, Callable[[Rng, int], list[Any]]] = {
    "whole": lambda rng, n: [int(v) for v in rng.integers(0, 30, n)],
    "large": lambda rng, n: [int(v) for v in rng.integers(-(10**7), 10**7, n)],
    "thousands": lambda rng, n: [int(v) * 1000 + 234 for v in rng.integers(1, 90, n)],
    "one decimal": _decimals(1, 9.0),
    "two decimals": _decimals(2, 3000.0),
    "three decimals": lambda rng, n: [round(1 + float(v), 3) for v in rng.uniform(0.1, 0.999, n)],
    "fractions": lambda rng, n: [round(float(v), 3) for v in rng.uniform(0.1, 0.999, n)],
    "scales": lambda rng, n: [float(f"{v:.3e}") for v in 10.0 ** rng.integers(-9, 9, n) * rng.normal(size=n)],
    "category": lambda rng, n: [WORDS[j] for j in rng.integers(0, len(WORDS), n)],
    "date": lambda rng, n: [datetime(2021, 1, 1) + timedelta(days=int(d)) for d in rng.integers(0, 900, n)],
    "vector": lambda rng, n: [[round(float(v), 2) for v in rng.normal(size=2)] for _ in range(n)],
    "names": lambda rng, n: [tuple(w for w in ("red", "blue", "O'Hara") if rng.random() < 0.5) for _ in range(n)],
}
NUMERIC = tuple(kind for kind in KINDS if kind not in ("category", "date", "vector", "names"))


@dataclass(frozen=True)
class Style:
    """How a file is written; every field is at its plainest by default."""

    number: str = "plain"
    date: str = "iso"
    names: str = "json"
    separator: str = "comma"
    encoding: str = "utf-8"
    line_end: str = "lf"
    empty: str = ""


@dataclass
class Table:
    """Columns of values, of which some are empty (None), and two classes; of an even seed no value is empty."""

    kinds: tuple[str, ...]
    n: int
    seed: int
    columns: dict[str, list[Any]] = field(init=False)
    classes: list[str] = field(init=False)

    def __post_init__(self) -> None:
        rng = np.random.default_rng([self.seed, 5])
        self.columns = {}
        for j, kind in enumerate(self.kinds):
            values = KINDS[kind](rng, self.n)
            holes = rng.random(self.n) < (0.0 if kind == "vector" else 0.1 * (self.seed % 2))
            self.columns[f"c{j}"] = [None if hole else value for value, hole in zip(values, holes, strict=True)]
        self.classes = ["uv"[int(j)] for j in rng.permutation(self.n) % 2]

    def kind(self, name: str) -> str:
        return self.kinds[int(name[1:])]

    def frame(self) -> pd.DataFrame:
        """The columns as pandas keeps them by default."""
        return pd.DataFrame({name: pd.Series(cells) for name, cells in self.columns.items()})

    def text(self, style: Style, **more: list[Any]) -> bytes:
        """A delimited file of the columns, of ``more`` columns of text and of the classes, as y."""
        shown = {name: [written(cell, style) for cell in cells] for name, cells in self.columns.items()}
        shown = {**more, **shown, "y": self.classes}
        target = io.StringIO()
        writer = csv.writer(target, delimiter=SEPARATORS[style.separator], lineterminator=LINE_ENDS[style.line_end])
        writer.writerows([list(shown), *zip(*shown.values(), strict=True)])
        text = target.getvalue()
        try:
            return text.encode(style.encoding)
        except UnicodeEncodeError:  # Latin-1 lacks some blanks and quotes
            return text.encode()


def fits(table: Table, style: Style, reader: str) -> bool:
    """Whether all numbers of a file, written in a style, are also numbers of the style ``reader``."""
    thousands, decimal = map(re.escape, NUMBERS[reader])
    groups = rf"\d{{1,3}}(?:{thousands}\d{{3}})+|" if thousands else ""
    form = re.compile(rf"[+-]?(?:{groups}\d+)(?:{decimal}\d+)?(?:e[+-]?\d+)?")
    cells = [cell for name, cells in table.columns.items() if table.kind(name) in NUMERIC for cell in cells]
    return all(cell is None or form.fullmatch(written(cell, style)) for cell in cells)


def written(cell: Any, style: Style) -> str:
    """A value as text."""
    if cell is None:
        return style.empty
    if isinstance(cell, list):
        return json.dumps(cell)
    if isinstance(cell, tuple):
        return LISTS[style.names](cell)
    if isinstance(cell, datetime):
        return cell.strftime(DATES[style.date])
    if isinstance(cell, str):
        return cell
    thousands, decimal = NUMBERS[style.number]
    shown = repr(cell) if "e" in repr(cell) else f"{cell:,}"
    return shown.replace(",", "_").replace(".", decimal).replace("_", thousands)
