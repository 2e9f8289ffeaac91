"""Vectors in a .npy file, such as frozen embeddings, with their labels in a second file."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from numpy.lib.format import MAGIC_PREFIX
from numpy.typing import NDArray

from proxembed.data.dataset import Dataset, one_hot
from proxembed.data.errors import DataError, numpy_error_text, shorten
from proxembed.data.readers import table
from proxembed.data.readers.columns import Columns
from proxembed.data.readers.source import opened
from proxembed.data.unpacking import check_array, most_unpacked

LABEL_FILES = "a CSV or Parquet table, or a .npy file with classes or an indicator of 0 and 1 (NaN where unknown)"


def read(path: Path, labels: str | Path | None, columns: Columns) -> Dataset:
    """Data set of the rows of a 2-D array and of its label file, row by row; see `proxembed.data.read`.

    Of a table, the columns named as labels are read, or where none is named all but those of another purpose.
    """
    if labels is None:
        raise DataError.at(path, None, "a .npy file holds no labels", f"give labels=FILE, {LABEL_FILES}")
    file, X = Path(labels), vectors(path)
    suffix = Path(file.name.lower().removesuffix(".gz")).suffix
    if suffix in table.SUFFIXES:
        return table.beside(file, columns, X, path.name.removesuffix(".npy"))
    if suffix != ".npy":
        raise DataError.at(file, None, "the name tells no known label file", f"give {LABEL_FILES}")
    if columns.fields_set:
        fields = ", ".join(columns.fields_set)
        raise DataError.at(file, None, f"{fields} was given, but the array has no named columns", "leave it out")
    Y = array(file)
    if Y.ndim == 0 or len(Y) != X.shape[0]:
        reason = f"it has shape {Y.shape}, but there are {X.shape[0]} vectors"
        raise DataError.at(file, None, reason, "give the labels of each vector, in the same order")
    try:
        return _dataset(X, Y, path.name.removesuffix(".npy"))
    except DataError as error:
        raise DataError(f"{file}: {error}") from error


def vectors(path: Path) -> NDArray[np.floating]:
    """The 2-D array of numbers in a .npy file."""
    X = array(path)
    if X.ndim != 2 or X.dtype.kind not in "biuf" or 0 in X.shape:
        raise DataError.at(
            path, None, f"the array has shape {X.shape} and type {X.dtype}", "save one row of numbers a row of data"
        )
    if X.dtype.kind == "f" and not np.isfinite(X).all():
        row, column = np.argwhere(~np.isfinite(X))[0]
        raise DataError.at(
            path, None, f"row {row + 1} holds {X[row, column]} in column {column + 1}", "drop the row or fill it in"
        )
    return X


def array(path: Path) -> NDArray:
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


def _dataset(X: NDArray[np.floating], Y: NDArray, name: str) -> Dataset:
    if Y.ndim == 1:
        Y, names = one_hot(Y)
        return Dataset(X, Y, None, names, name)
    if Y.dtype.kind != "f":
        return Dataset(X, Y, name=name)
    unknown = np.isnan(Y)
    return Dataset(X, np.where(unknown, 0, Y), name=name, unknown=unknown)
