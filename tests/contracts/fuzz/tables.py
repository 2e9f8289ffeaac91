"""Cases of tables: which law is tried on which columns, and how the files are written; and their verdicts."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from .cells import DATES, EMPTY, ENCODINGS, KINDS, LINE_ENDS, LISTS, NUMBERS, SEPARATORS, Style, Table
from .judge import Verdict
from .limits import Fault, Refusal, attempt
from .table_laws import LAWS, Place

START = "table; "
CHOICES: dict[str, tuple[str, ...]] = {
    "number": tuple(NUMBERS),
    "date": tuple(DATES),
    "names": tuple(LISTS),
    "separator": tuple(SEPARATORS),
    "encoding": ENCODINGS,
    "line_end": tuple(LINE_ENDS),
    "empty": EMPTY,
}


@dataclass(frozen=True)
class TableCase:
    """A law, the kinds of the columns, the style of the file, the number of rows and the seed of all that is drawn.

    >>> case = TableCase("numbers are read", ("whole",), Style(separator="tab"))
    >>> print(case)
    table; numbers are read; whole; separator=tab; 24 rows; seed 0
    >>> TableCase.read(str(case)) == case
    True
    """

    law: str
    kinds: tuple[str, ...]
    style: Style = field(default_factory=Style)
    n: int = 24
    seed: int = 0

    @property
    def estimator(self) -> str:
        """What a failure is counted for."""
        return self.law

    def __str__(self) -> str:
        odd = [f"{name}={value}" for name, value in vars(self.style).items() if value != getattr(Style(), name)]
        return "; ".join([START[:-2], self.law, "+".join(self.kinds), *odd, f"{self.n} rows", f"seed {self.seed}"])

    @classmethod
    def read(cls, text: str) -> TableCase:
        """The case of a line of text."""
        law, kinds, *odd, n, seed = text.removeprefix(START).split("; ")
        style = Style(**dict(part.split("=", 1) for part in odd))
        return cls(law, tuple(kinds.split("+")), style, int(n.split()[0]), int(seed.split()[1]))

    def simpler(self) -> list[TableCase]:
        """Cases that are plainer than this one in one respect."""
        found = [replace(self, kinds=self.kinds[:j] + self.kinds[j + 1 :]) for j in range(len(self.kinds))]
        found = found if len(self.kinds) > 1 else []
        plain = [replace(self.style, **{f.name: f.default}) for f in fields(Style)]
        found += [replace(self, style=style) for style in plain if style != self.style]
        return found


def draws(seed: int) -> Iterator[tuple[TableCase, int]]:
    """Random cases without end, each with a number of laws that they do not need."""
    rng = np.random.default_rng([seed, 7])
    while True:
        kinds = tuple(str(kind) for kind in rng.choice(list(KINDS), int(rng.integers(1, 5))))
        odd = {name: str(rng.choice(values)) for name, values in CHOICES.items() if rng.random() < 0.4}
        n = int(rng.choice([12, 24, 60]))
        yield TableCase(str(rng.choice(list(LAWS))), kinds, Style(**odd), n, int(rng.integers(2**31))), 0


def judge(case: TableCase) -> Verdict:
    """Run a case: equal results or a refusal of one line pass."""
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder), case.style, np.random.default_rng([case.seed, 6]))
        table = Table(case.kinds, case.n, case.seed)
        try:
            found: Any = attempt(lambda: LAWS[case.law](table, place))
        except Fault as fault:
            return Verdict("raw", f"{fault.cause} [{case.law}]", fault.message.replace(folder, ""))
    if isinstance(found, Refusal):
        text = str(found.error).replace(folder, "")
        several = isinstance(found.error, UnicodeError) or "\n" in text
        return Verdict("raw", "a refusal of several lines", text) if several else Verdict("refused", "", text)
    if found is None:
        return Verdict("passed")
    return Verdict("silent", f"{case.law} [{found.partition(' differ')[0][:60]}]", found)
