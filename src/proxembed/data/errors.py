"""The one error of the data room: a file or an array that cannot be a labelled data set."""

from __future__ import annotations

from pathlib import Path


class DataError(ValueError):
    """Labelled data that cannot be read, with file, line, reason and remedy in one sentence.

    Examples
    --------
    >>> from proxembed.data import DataError
    >>> str(DataError.at("cal500.arff", 12, "the row has 3 values, not 4", "add the missing value"))
    'cal500.arff, line 12: the row has 3 values, not 4; add the missing value.'
    """

    @classmethod
    def at(cls, path: str | Path, line: int | None, reason: str, remedy: str) -> DataError:
        """Error for a place in a file; `line` counts from 1 and is None where no line is at fault."""
        place = str(path) if line is None else f"{path}, line {line}"
        return cls(f"{place}: {reason}; {remedy}.")


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
