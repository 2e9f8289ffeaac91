"""The one error of the data room: a file or an array that cannot be a labelled data set."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from proxembed.tables.notes import few_notes

Option = tuple[str, str]  # an argument and its value, such as ("drop", "v")

OF_FEATURES = ("drop", "category")  # arguments


class Fault(NamedTuple):
    """A problem with a table: the arguments that settle it, those that settle it in another way, or else a remedy."""

    text: str
    options: tuple[Option, ...] = ()
    instead: tuple[Option, ...] = ()
    remedy: str = ""


class DataError(ValueError):
    """Labelled data that cannot be read, with file, line, reason and remedy in one sentence.

    See Also
    --------
    proxembed.data.read : Reads a file.

    Examples
    --------
    >>> from proxembed.data import DataError
    >>> str(DataError.at("cal500.arff", 12, "the row has 3 values, not 4", "add the missing value"))
    'cal500.arff, line 12: the row has 3 values, not 4; add the missing value.'
    """

    options: tuple[Option, ...] = ()  # the arguments that solve it
    instead: tuple[tuple[Option, ...], ...] = ()  # others that do
    names_file = False

    @classmethod
    def at(cls, path: str | Path, line: int | None, reason: str, remedy: str) -> DataError:
        """Error for a place in a file; `line` counts from 1 and is None where no line is at fault."""
        place = str(path) if line is None else f"{path}, line {line}"
        error = cls(f"{place}: {reason}; {remedy}{'' if remedy.endswith('?') else '.'}")
        error.names_file = True
        return error

    def of_file(self, path: str | Path) -> DataError:
        """The error itself if it names a file, else an error that names this file."""
        if self.names_file:
            return self
        error = DataError(f"{path}: {self}")
        error.names_file = True
        return error


class TableFaults(DataError):
    """All that has to be settled before a table can be used, with the options that settle it."""

    names_file = True

    def __init__(self, path: str | Path, problems: Sequence[Any]) -> None:
        self.path, self.problems = str(path), [Fault(*problem) for problem in problems]
        texts = "; ".join(self.texts)
        count = f"{len(problems)} problems: " if len(problems) > 1 else ""
        super().__init__(f"{path}: {count}{texts}{self.remedy and f'; {self.remedy}'}.")

    @property
    def texts(self) -> list[str]:
        """What is wrong; of many problems of one kind the first ones, and the columns of the others."""
        return few_notes(
            (_column_of(each.text), f"{each.text}: {each.remedy}" if each.remedy else each.text)
            for each in self.problems
        )

    @property
    def answers(self) -> list[tuple[Option, ...]]:
        """The arguments that solve all problems, and those that solve them in another way, if there is one; a column
        that they name to be predicted is neither left out nor a category."""
        first = [option for each in self.problems for option in each.options]
        other = [option for each in self.problems for option in each.instead or each.options]
        both = [_without_predicted(each) for each in ([first] if other == first else [first, other]) if each]
        return list(dict.fromkeys(both))

    @property
    def remedy(self) -> str:
        """What to do; "" where each problem says it."""
        if all(each.remedy for each in self.problems):
            return ""
        if self.answers:
            return f"add {', or '.join(map(arguments_text, self.answers))}"
        return "correct it" if len(self.problems) == 1 else "correct them"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path, self.problems)


class UnlabelledTable(DataError):
    """A table without a problem but that nothing to predict is named: how its first rows read its columns."""

    columns: tuple[tuple[str, str, str], ...] = ()  # name, what it is read as, an example
    rows: tuple[int, bool] = (0, True)  # how many were read, and whether these are all
    notes: tuple[str, ...] = ()  # on the file itself

    @classmethod
    def of(
        cls, error: DataError, columns: Sequence[tuple[str, str, str]], rows: tuple[int, bool], notes: Sequence[str]
    ) -> UnlabelledTable:
        """The error with what was read."""
        found = cls(str(error))
        found.options, found.instead, found.names_file = error.options, error.instead, True
        found.columns, found.rows, found.notes = tuple(columns), rows, tuple(notes)
        return found


def _without_predicted(options: Sequence[Option]) -> tuple[Option, ...]:
    """The options without those that make features of labels and targets, or drop them."""
    predicted = {value for name, value in options if name in ("labels", "targets")}
    return tuple(dict.fromkeys(each for each in options if each[0] not in OF_FEATURES or each[1] not in predicted))


def _column_of(text: str) -> str:
    """The column that a problem names first, in quotes; "" for none."""
    quoted = re.search("'[^']*'", text)
    return "" if quoted is None else quoted[0]


def arguments_text(options: Sequence[Option]) -> str:
    """Arguments as a call from Python writes them; several values of one name become a list."""
    values: dict[str, list[str]] = {}
    for name, value in options:
        values.setdefault(name, []).append(value)
    return ", ".join(f"{name}={each if len(each) > 1 else each[0]!r}" for name, each in values.items())


def numpy_error_text(error: Exception) -> str:
    """What NumPy says of a file, on one line; its advice to load objects unsafely is left out."""
    text = " ".join(str(error).split())
    return "it holds Python objects, or is of another format" if "pickled" in text else text.removesuffix(".")
