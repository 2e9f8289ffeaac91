"""Files of NumPy: vectors with their labels in a second file, and archives that hold all parts of a data set."""

import io
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import MAGIC_PREFIX
from numpy.typing import NDArray
from scipy import sparse

from proxembed.data.dataset import Dataset, Matrix, class_name, one_hot
from proxembed.data.errors import DataError, numpy_error_text
from proxembed.data.readers.columns import Columns, required
from proxembed.data.readers.label_arrays import labels_of_array
from proxembed.data.readers.reader import Labels, NamedRows, Reader, feature_names, numbered, source_by_name
from proxembed.data.readers.svmlight import MAX_FEATURES
from proxembed.data.readers.table import Table, beside
from proxembed.data.unpacking import check_array, check_arrays, is_packed, most_unpacked, opened, plain_name
from proxembed.tables.notes import shorten

LABEL_FILES = "a CSV or Parquet table, or a .npy file of classes, 0 and 1, or numbers (NaN where unknown)"
CSR_PARTS = ("data", "indices", "indptr", "shape")
NAMES = ("label_names", "target_names")
WANTED = (*CSR_PARTS, "X", "Y", "y", "classes", "train_idx", "test_idx", "feature_names", *NAMES, "licence")
LISTS = {  # keys of 1-D arrays -> the types they may have (NumPy's own for an empty list, float64, besides)
    **dict.fromkeys(("indices", "indptr", "train_idx", "test_idx"), ("iu", "whole numbers")),
    "data": ("biuf", "numbers"),
    **dict.fromkeys(("feature_names", *NAMES, "classes"), ("biufUS", "names")),
}
FORM = "save X (or data, indices, indptr, shape of CSR) and Y with numpy.savez, without object arrays"


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
        suffix = Path(plain_name(file).lower()).suffix
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
        if is_packed(path):
            yield self.read_rows(path, source)
            return
        X = _shaped(_mapped(path), path)
        for first in range(0, len(X), rows):
            part = np.asarray(X[first : first + rows])
            yield _floats(part if "columns" in source else _finite(part, path, first)), None

    def size(self, path: Path) -> tuple[int, int | None]:
        if is_packed(path):
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
            path, None, f"the array has shape {X.shape} and type {X.dtype}", "save one row of numbers per row of data"
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
                path, None, f"it cannot be read as an .npy file ({reason})", "save one array with numpy.save"
            ) from error
    if not isinstance(found, np.ndarray):
        raise DataError.at(path, None, "it holds several arrays", "save one array with numpy.save")
    return found


def _labelled(X: NDArray[np.floating], file: Path, name: str, target_type: str | None) -> Dataset:
    """Data set of vectors and of the labels or numbers in a .npy file."""
    Y = _array(file)
    if Y.ndim == 0 or len(Y) != X.shape[0]:
        reason = f"it has shape {Y.shape}, but there are {X.shape[0]} vectors"
        raise DataError.at(file, None, reason, "give the labels of each vector, in the same order")
    try:
        return _dataset(X, Y, None, target_type, file, name=name)
    except DataError as error:
        raise error.of_file(file) from error


def _dataset(X: Matrix, Y: NDArray[Any], names: Any, target_type: str | None, path: Path, **fields: Any) -> Dataset:
    """The data set of features and of the labels or numbers in an array, whose columns have these names."""
    found = labels_of_array(Y, names, target_type, path)
    fields |= {"unknown": found.unknown, "values": found.values, "outputs": found.outputs, "notes": found.notes}
    return Dataset(X, found.Y, label_names=found.names, **fields)


class Npz(Reader):
    """Archives of `numpy.savez`, never unpickled."""

    name = "npz"
    suffixes = (".npz",)
    accepts = ".npz (arrays X or data, indices, indptr, shape, and Y)"
    place = 2

    def read(self, path: Path, test: Path | None, labels: Labels | None, columns: Columns) -> Dataset:
        if test is not None:
            raise DataError.at(test, None, "a second npz file was given", "store the split as train_idx and test_idx")
        if labels is not None:
            raise DataError.at(path, None, "labels= was given, but an npz file holds its labels", "leave labels= out")
        return _data_of_arrays(_load(path), path, columns.target_type)

    def read_rows(self, path: Path, source: dict[str, Any]) -> NamedRows:
        """Features by their names if the archive and the training file name them, else by position."""
        arrays = _load(path)
        if "X" in arrays:
            X: Matrix = _two_dimensional(arrays["X"], path)
        elif all(part in arrays for part in CSR_PARTS):
            X = _csr(arrays, path)
        else:
            reason = "the archive holds no features (X, or data, indices, indptr, shape)"
            raise DataError.at(path, None, reason, FORM)
        wanted = feature_names(source)
        if wanted is None or "feature_names" not in arrays:
            return X, None
        return _columns_named(wanted, X, arrays["feature_names"], path), None


def _columns_named(wanted: Sequence[str], X: Matrix, given: NDArray[Any], path: Path) -> Matrix:
    """The columns of X of these names, in their order; ``given`` are the names of all its columns."""
    names = [str(name) for name in given.ravel().tolist()]
    if list(wanted) == numbered(len(wanted)) and not set(wanted) & set(names):
        return X  # the training rows were an array without names
    if given.ndim != 1 or len(names) != X.shape[1]:
        reason = f"feature_names has shape {given.shape}, but X has {X.shape[1]} columns"
        raise DataError.at(path, None, reason, "save one name per column")
    required(wanted, names, path, "the training file")
    if twice := [name for name in wanted if names.count(name) > 1]:
        raise DataError.at(path, None, f"two features are named {shorten(twice[0])}", "give each a name of its own")
    if list(wanted) == names:
        return X
    place = {name: j for j, name in enumerate(names)}
    return X[:, [place[name] for name in wanted]]


def _load(path: Path) -> dict[str, NDArray[Any]]:
    with opened(path) as stream:
        try:
            if zipfile.is_zipfile(stream):
                check_arrays(stream, path, most_unpacked(), WANTED)
            stream.seek(0)
            archive = np.load(stream, allow_pickle=False)
            if isinstance(archive, np.ndarray):
                raise ValueError("it is a single array")
            arrays = {key: archive[key] for key in archive.files if key in WANTED}
            if no_array := [key for key, array in arrays.items() if not isinstance(array, np.ndarray)]:
                raise ValueError(f"{no_array[0]} is not an array")
            for array in arrays.values():
                if array.dtype.kind == "U":
                    "".join(array.ravel().tolist()).encode()  # raises where text holds what is not a character
            return {key: array.astype(array.dtype.newbyteorder("="), copy=False) for key, array in arrays.items()}
        except DataError:
            raise
        except Exception as error:  # damaged zip members fail in many ways: every one means the same here
            words = shorten(numpy_error_text(error), 160).strip("'")
            reason = f"it cannot be read as an npz archive ({type(error).__name__}: {words})"
            raise DataError.at(path, None, reason, FORM) from error


def _data_of_arrays(arrays: dict[str, NDArray[Any]], path: Path, target_type: str | None) -> Dataset:
    for key, (kinds, what) in LISTS.items():
        array = arrays.get(key)
        if array is not None and (array.ndim != 1 or array.dtype.kind not in kinds + "f" * (not array.size)):
            reason = f"{key} has shape {array.shape} and type {array.dtype}"
            raise DataError.at(path, None, reason, f"save it as a 1-D array of {what}")
    X = arrays.get("X")
    if X is None and all(part in arrays for part in CSR_PARTS):
        X = _csr(arrays, path)
    Y = arrays.get("Y", arrays.get("y"))
    if X is None or Y is None:
        missing = "features (X, or data, indices, indptr, shape)" if X is None else "labels (Y)"
        raise DataError.at(path, None, f"the archive holds no {missing}", FORM)
    names: Any = next((arrays[key] for key in NAMES if key in arrays), None)
    licence = arrays.get("licence")
    fields: dict[str, Any] = {key: arrays.get(key) for key in ("feature_names", "train_idx", "test_idx")}
    fields |= {"name": path.name.removesuffix(".npz"), "licence": None if licence is None else str(licence)}
    codes = Y.ndim == 1 and ("classes" in arrays or names is not None and len(names) > 1)
    if codes and target_type != "real" and not (Y.dtype.kind == "f" and (Y % 1 > 0).any()):
        Y, names = _from_codes(Y, names, arrays.get("classes"))
        data = Dataset(X, Y, label_names=names, **fields)
    else:
        data = _dataset(X, Y, names, target_type, path, **fields)
    return replace(data, source=source_by_name("npz", data)) if "feature_names" in arrays else data


def _csr(arrays: dict[str, NDArray[Any]], path: Path) -> sparse.csr_array:
    data, indices, indptr, shape = (arrays[part] for part in CSR_PARTS)
    try:
        if shape.dtype.kind not in "iu" or shape.ndim != 1:
            raise TypeError(f"shape has type {shape.dtype} and {shape.ndim} dimensions")
        if (indptr[1:] < indptr[:-1]).any():  # scipy overlooks it where the last entry is negative
            raise ValueError("indptr falls")
        X = sparse.csr_array((data, indices, indptr), shape=tuple(int(size) for size in shape))
        X.check_format(full_check=True)
    except (ValueError, TypeError, OverflowError, IndexError) as error:
        raise DataError.at(path, None, f"data, indices, indptr, shape are not a CSR matrix ({error})", FORM) from error
    if X.shape[-1] > MAX_FEATURES:
        raise DataError.at(
            path, None, f"shape gives {X.shape[-1]} columns, above {MAX_FEATURES}", "renumber the features"
        )
    return X


def _two_dimensional(X: NDArray[Any], path: Path) -> Matrix:
    if X.ndim != 2 or X.dtype.kind not in "biuf" or 0 in X.shape:
        raise DataError.at(path, None, f"X has shape {X.shape} and type {X.dtype}", FORM)
    return _floats(X)


def _from_codes(y: NDArray[Any], names: Any, classes: NDArray[Any] | None) -> tuple[sparse.csc_array, tuple[str, ...]]:
    """One-hot indicator of codes into `label_names` or `classes`."""
    if names is None and classes is not None:
        names = [class_name(value) for value in classes]
    return one_hot(y, names)
