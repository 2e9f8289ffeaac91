"""Vectors in a .npy file, such as frozen embeddings, with their labels in a second file."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import MAGIC_PREFIX
from numpy.typing import NDArray

from proxembed.data.dataset import Dataset, indicator_and_unknown
from proxembed.data.errors import DataError, numpy_error_text, shorten
from proxembed.data.readers.columns import Columns
from proxembed.data.readers.reader import Labels, NamedRows, Reader
from proxembed.data.readers.table import Table, beside
from proxembed.data.readers.table_labels import array_labels
from proxembed.data.unpacking import check_array, most_unpacked, opened

LABEL_FILES = "a CSV or Parquet table, or a .npy file with classes or an indicator of 0 and 1 (NaN where unknown)"


class Npy(Reader):
    """A 2-D array of `numpy.save`, labelled row by row by a table or a second array."""

    name = "npy"
    suffixes = (".npy",)
    accepts = ".npy (vectors, with a label file)"
    place = 3
    takes_columns = True

    def read(self, path: Path, test: Path | None, labels: Labels | None, columns: Columns) -> Dataset:
        if test is not None:
            remedy = "put all rows in one file, and split them by groups or time"
            raise DataError.at(test, None, "a second npy file was given", remedy)
        if labels is None:
            raise DataError.at(path, None, "a .npy file holds no labels", f"give labels=FILE, {LABEL_FILES}")
        if not isinstance(labels, str | Path):
            raise DataError.at(path, None, "labels= holds several texts", "give the one file of the labels")
        file, X, name = Path(labels), _vectors(path), path.name.removesuffix(".npy")
        suffix = Path(file.name.lower().removesuffix(".gz")).suffix
        if suffix in Table.suffixes:
            return beside(file, columns, X, name)
        if suffix != ".npy":
            raise DataError.at(file, None, "the file name has no known ending of a label file", f"give {LABEL_FILES}")
        if unfit := [field for field in columns.fields_set if field != "target_type"]:
            fields = ", ".join(unfit)
            raise DataError.at(file, None, f"{fields} was given, but the array has no named columns", "leave it out")
        return _labelled(X, file, name, columns.target_type)

    def read_rows(self, path: Path, source: dict[str, Any]) -> NamedRows:
        X = _shaped(_array(path), path)
        return _floats(X if "columns" in source else _finite(X, path)), None

    def row_parts(self, path: Path, source: dict[str, Any], rows: int) -> Iterator[NamedRows]:
        if path.suffix.lower() == ".gz":
            yield self.read_rows(path, source)
            return
        X = _shaped(_mapped(path), path)
        for first in range(0, len(X), rows):
            part = np.asarray(X[first : first + rows])
            yield _floats(part if "columns" in source else _finite(part, path, first)), None

    def size(self, path: Path) -> tuple[int, int | None]:
        if path.suffix.lower() == ".gz":
            return super().size(path)
        return path.stat().st_size, len(_shaped(_mapped(path), path))


def _floats(X: NDArray[Any]) -> NDArray[np.floating]:
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


def _vectors(path: Path) -> NDArray[np.floating]:
    """The 2-D array of numbers in a .npy file."""
    return _finite(_shaped(_array(path), path), path)


def _mapped(path: Path) -> NDArray[Any]:
    """The array in a .npy file, memory-mapped and never unpickled."""
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError):
        return _array(path)  # which says what is wrong


def _shaped(X: NDArray[Any], path: Path) -> NDArray[Any]:
    """The array, which must be 2-D and of numbers."""
    if X.ndim != 2 or X.dtype.kind not in "biuf" or 0 in X.shape:
        raise DataError.at(
            path, None, f"the array has shape {X.shape} and type {X.dtype}", "save one row of numbers a row of data"
        )
    return X


def _finite(X: NDArray[Any], path: Path, before: int = 0) -> NDArray[Any]:
    """The rows, of which none may hold a number that is not finite; ``before``: rows of the file before them."""
    if X.dtype.kind == "f" and not np.isfinite(X).all():
        row, column = np.argwhere(~np.isfinite(X))[0]
        raise DataError.at(
            path,
            None,
            f"row {before + row + 1} holds {X[row, column]} in column {column + 1}",
            "drop the row or fill it in",
        )
    return X


def _array(path: Path) -> NDArray[Any]:
    """The array in a .npy file, never unpickled."""
    with opened(path) as stream:
        try:
            size, _, first = stream.seek(0, io.SEEK_END), stream.seek(0), stream.read(len(MAGIC_PREFIX))
            stream.seek(0)
            if first == MAGIC_PREFIX:  # else NumPy says what it is
                check_array(stream, size, path, "the array", most_unpacked())
            stream.seek(0)
            found = np.load(stream, allow_pickle=False)
        except DataError:
            raise
        except (ValueError, EOFError, OSError) as error:
            reason = shorten(numpy_error_text(error), 160).strip("'")
            raise DataError.at(
                path, None, f"it is no readable .npy file ({reason})", "save one array with numpy.save"
            ) from error
    if not isinstance(found, np.ndarray):
        raise DataError.at(path, None, "it holds several arrays", "save one array with numpy.save")
    return found


def _labelled(X: NDArray[np.floating], file: Path, name: str, target_type: str | None) -> Dataset:
    """Data set of vectors and of the classes or the indicator in a .npy file."""
    Y = _array(file)
    if Y.ndim == 0 or len(Y) != X.shape[0]:
        reason = f"it has shape {Y.shape}, but there are {X.shape[0]} vectors"
        raise DataError.at(file, None, reason, "give the labels of each vector, in the same order")
    try:
        return _dataset(X, Y, name, file, target_type)
    except DataError as error:
        raise error.of_file(file) from error


def _dataset(X: NDArray[np.floating], Y: NDArray[Any], name: str, file: Path, target_type: str | None) -> Dataset:
    if Y.ndim == 1:
        found = array_labels(Y, file, target_type)
        return Dataset(X, found.Y, None, found.names, name, unknown=found.unknown, values=found.values)  # type: ignore[arg-type]  # None: numbered
    Y, unknown = indicator_and_unknown(Y)
    return Dataset(X, Y, name=name, unknown=unknown)
