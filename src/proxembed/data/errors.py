"""The one error of the data room: a file or an array that cannot be a labelled data set."""

from __future__ import annotations

from pathlib import Path
from typing import Any


class DataError(ValueError):
    """Labelled data that cannot be read, with file, line, reason and remedy in one sentence.

    Examples
    --------
    >>> from proxembed.data import DataError
    >>> str(DataError.at("cal500.arff", 12, "the row has 3 values, not 4", "add the missing value"))
    'cal500.arff, line 12: the row has 3 values, not 4; add the missing value.'
    """

    option: str = ""  # an option of the program that settles it

    @classmethod
    def at(cls, path: str | Path, line: int | None, reason: str, remedy: str) -> DataError:
        """Error for a place in a file; `line` counts from 1 and is None where no line is at fault."""
        place = str(path) if line is None else f"{path}, line {line}"
        return cls(f"{place}: {reason}; {remedy}{'' if remedy.endswith('?') else '.'}")


class TableFaults(DataError):
    """All that has to be settled before a table can be used, with the options that settle it.

    Parameters
    ----------
    path : str or Path
    problems : list of (text, option)
        What is wrong, and the option of the program that settles it, "" where there is none.

    Examples
    --------
    >>> from proxembed.data.errors import TableFaults
    >>> problems = [("column 'x' holds -999", "--missing=-999"), ("column 'v' holds lists", "--drop v")]
    >>> print(TableFaults("a.csv", problems))
    a.csv: 2 problems: column 'x' holds -999; column 'v' holds lists; add --missing=-999 --drop v.
    """

    def __init__(self, path: str | Path, problems: list[tuple[str, str]]) -> None:
        self.path, self.problems = str(path), problems
        self.options = " ".join(dict.fromkeys(option for _, option in problems if option))
        texts = "; ".join(text for text, _ in problems)
        count = f"{len(problems)} problems: " if len(problems) > 1 else ""
        super().__init__(f"{path}: {count}{texts}; {self.remedy}.")

    @property
    def remedy(self) -> str:
        """What to do, where one of the problems has no option."""
        unsettled = [text for text, option in self.problems if not option]
        return f"add {self.options}" if self.options else "correct " + ("it" if len(unsettled) == 1 else "them")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path, self.problems)


def shorten(text: object, width: int = 40) -> str:
    """Quoted form of foreign text for a message: printable, on one line, at most `width` characters."""
    shown = ascii(text) if not isinstance(text, str) or not text.isprintable() else f"'{text}'"
    return shown if len(shown) <= width else shown[: width - 3] + "..."


def numpy_error_text(error: Exception) -> str:
    """What NumPy says of a file, on one line; its advice to load objects unsafely is left out.

    Examples
    --------
    >>> from proxembed.data.errors import numpy_error_text
    >>> numpy_error_text(ValueError("This file contains pickled (object) data. If you trust the file ..."))
    'it holds Python objects, or is of another format'
    """
    text = " ".join(str(error).split())
    return "it holds Python objects, or is of another format" if "pickled" in text else text.removesuffix(".")
