"""Entries of y as they came in: tables, masked arrays and lists become arrays that hold every entry exactly.

NumPy finds one type for the entries of a list, and in doing so may round, cut or rename them; here such entries stay
Python objects.
"""

from collections.abc import Iterable
from numbers import Real
from typing import Any, NoReturn

import numpy as np
from scipy import sparse

from proxembed.tables.cells import is_empty, plain_value
from proxembed.tables.frames import frame_of, refuse_equal_names

COMPLEX = "Complex data not supported: y must hold classes, 0 and 1, or real numbers."
FORMS = "pass 1-D classes or numbers, an n x c array of numbers or of 0 and 1, or a list of sets of labels."
LENGTHS = f"y has rows of different lengths, or lists beside other entries; {FORMS}"
INFINITY = "Input y contains infinity; labels must be finite, NaN stands for unknown."
CLASSES_OR_NUMBERS = "classes or measurements? Pass target_type='real' or 'classes'."
CELLS: dict[Any, float] = {-1: -1.0, 0: 0.0, 1: 1.0}
MOMENTS = (np.datetime64, np.timedelta64)
NUMBERS = frozenset({bool, int, float})
NEVER_MISSING = frozenset({bool, int, str, bytes})
PLAIN: dict[type, Any] = {bool: bool, int: int, float: float, str: str.__str__, bytes: bytes}
MOST_NUMBERS, LEAST_ROWS_OF_EACH = 20, 3  # different whole numbers that are classes, or rows of each on average
VALUE_TYPES = ((bool, np.bool_), MOMENTS, (int, float, np.integer, np.floating), str, bytes)  # the first that fits


def is_moment(kind: type) -> bool:
    """Whether values of a type are dates, times or durations, of Python, NumPy or pandas."""
    return issubclass(kind, MOMENTS) or hasattr(kind, "isoformat") or hasattr(kind, "total_seconds")


def unwrapped(y: Any) -> tuple[Any, np.ndarray | None]:
    """y without its table or mask, and the names of the columns of a table of several (else None). Columns whose type
    NumPy does not have (nullable, categorical, of another library) become Python objects; in them and in lists, arrays
    and series of labels become lists, and lists of whole numbers in a series sets. Masked entries become None (NaN or
    NaT where the type has it)."""
    names, y = None, frame_of(y)
    if hasattr(y, "columns") and hasattr(y, "to_numpy"):
        if len(y.columns) == 1:
            return unwrapped(y.iloc[:, 0] if hasattr(y, "iloc") else y[y.columns[0]])
        names = np.asarray([str(name) for name in y.columns], dtype=object)
        refuse_equal_names("y", names)
        plain = not hasattr(y, "iloc") or all(isinstance(t, np.dtype) and t.kind in "iuf" for t in y.dtypes)
        y = y.to_numpy() if plain else y.to_numpy(dtype=object)
    elif hasattr(y, "to_numpy"):
        y = y.to_numpy() if isinstance(getattr(y, "dtype", None), np.dtype) else _python_objects(y)
        y = _label_numbers(y) if isinstance(y, np.ndarray) and y.dtype == object and y.ndim == 1 else y
    if sparse.issparse(y):
        return _unmasked_sparse(y), names
    return (_unmasked(y) if isinstance(y, np.ma.MaskedArray) else _label_lists(y)), names


def _python_objects(y: Any) -> np.ndarray:
    """The entries of a series whose type NumPy does not have."""
    name = next((name for name in ("to_pylist", "to_list") if hasattr(y, name)), None)
    return object_array(y if name is None else getattr(y, name)())


def _label_numbers(y: np.ndarray) -> np.ndarray:
    """The entries of a series with sets in place of lists of whole numbers; a table of 0 and 1 stays as it is."""
    rows = [list(row) for row in y if isinstance(row, list | tuple | np.ndarray) and np.ndim(row) == 1]
    values = {value for row in rows for value in row if isinstance(value, int | np.integer)}
    whole = sum(map(len, rows)) and all(
        type(value) is int or isinstance(value, np.integer) for row in rows for value in row
    )
    if not whole or len(rows) + sum(map(is_empty, y)) < len(y) or values <= {0, 1} and len(set(map(len, rows))) == 1:
        return y
    return object_array(None if is_empty(row) else {int(value) for value in row} for row in y)


def _label_lists(y: Any) -> Any:
    """y with lists in place of arrays and series of names, as Parquet and Arrow give them; any other y as it is."""
    if not (isinstance(y, list | tuple) or isinstance(y, np.ndarray) and y.dtype == object and y.ndim == 1):
        return y
    if not any(map(_holds_names, y)):
        return y
    return [list(plain_value(row)) if _holds_names(row) else plain_value(row) for row in y]


def _holds_names(row: Any) -> bool:
    if isinstance(row, np.ndarray):
        return row.ndim == 1 and (row.dtype.kind in "UTO" or row.size == 0) and all(map(_is_name, row.tolist()))
    return hasattr(row, "to_list") or hasattr(row, "as_py") and isinstance(plain_value(row), tuple)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) or is_empty(value)


def _unmasked(y: np.ma.MaskedArray) -> np.ndarray:
    if not np.ma.getmaskarray(y).any():
        return np.ma.getdata(y)
    if y.dtype.kind in "fmM":
        filling: Any = np.nan if y.dtype.kind == "f" else np.array("NaT", dtype=y.dtype)
        return y.filled(filling)
    values = np.ma.getdata(y).astype(object)
    values[np.ma.getmaskarray(y)] = None
    return values


def _unmasked_sparse(y: Any) -> Any:
    if not isinstance(getattr(y, "data", None), np.ma.MaskedArray):
        return y
    data = y.data.astype(np.float64).filled(np.nan)
    y = y.copy()
    y.data = data
    return y


def entries(y: Any) -> np.ndarray:
    """y as a 1-D or 2-D array: an array in its own type, a list as Python objects. Raises ValueError for rows of
    different lengths, other numbers of axes and complex numbers."""
    try:
        array = _listed([_row(row) for row in y]) if isinstance(y, list | tuple) else np.asarray(y)
    except ValueError as error:
        raise ValueError(LENGTHS) from error
    array = array.astype(object) if array.dtype.kind == "T" else array  # variable strings are saved by pickle alone
    types = set(map(type, array.ravel().tolist())) - {type(np.ma.masked)} if array.dtype == object else set()
    if any(issubclass(t, list | tuple | np.ndarray) for t in types):
        raise ValueError(LENGTHS)
    if array.ndim not in (1, 2):
        raise ValueError(f"y should be a 1d array, got an array of shape {array.shape} instead; {FORMS}")
    if array.dtype.kind == "c" or any(issubclass(t, complex | np.complexfloating) for t in types):
        raise ValueError(COMPLEX)
    if array.dtype.kind == "V":
        raise ValueError(f"y is a structured array of type {array.dtype}; {FORMS}")
    return array


def _listed(rows: list[Any]) -> np.ndarray:
    if all(isinstance(row, list | tuple) and len(row) > 1 for row in rows):
        if set().union(*(map(type, row) for row in rows)) <= NUMBERS:
            return np.asarray(rows)  # an indicator: no number is rounded to -1, 0 or 1
    return np.asarray(rows, dtype=object)


def _row(row: Any) -> Any:
    """A row without its mask; the entry of an array without axes."""
    if not isinstance(row, np.ndarray) or row is np.ma.masked:
        return row
    row = _unmasked(row) if isinstance(row, np.ma.MaskedArray) else row
    return row if row.ndim else row[()]


def missing_entries(y: np.ndarray) -> np.ndarray:
    """True where an entry of an array is unknown, in its shape."""
    if y.dtype.kind == "f":
        return np.isnan(y)
    if y.dtype.kind in "mM":
        return np.isnat(y)
    if y.dtype.kind in "biuUS":
        return np.zeros(y.shape, dtype=bool)
    missing = (type(value) not in NEVER_MISSING and is_empty(value) for value in y.ravel().tolist())
    return np.fromiter(missing, dtype=bool, count=y.size).reshape(y.shape)


def classes_of(y: Any) -> np.ndarray:
    """1-D classes exactly as they came in: an array of one type where it holds them all, else of Python objects. Raises
    ValueError as ``entries`` and ``class_values`` do; where some are unknown they stay as they are."""
    y = entries(unwrapped(y)[0])
    plain = y.dtype != object or y.ndim != 1 or missing_entries(y).any()
    return y if plain else class_values(y)


def class_values(known: np.ndarray) -> np.ndarray:
    """Known classes that are Python objects as an array of one type, where it holds each of them exactly. Raises
    ValueError for objects that are neither numbers nor text, and for different kinds of them."""
    values = known.tolist()
    types = set(map(type, values))
    kinds = {next((kind for kind in VALUE_TYPES if issubclass(t, kind)), None) for t in types}
    names = {str(value.dtype) for value in values} if kinds == {MOMENTS} else {t.__name__ for t in types}
    if len(kinds) > 1 or None in kinds or (kinds == {MOMENTS} and len(names) > 1):
        raise ValueError(
            f"Unknown label type: y {'mixes' if len(names) > 1 else 'holds objects of type'} {sorted(names)}; use "
            "numbers only, strings only, or sets of labels (as strings: [str(value) for value in y])."
        )
    array = np.asarray(values)
    if kinds == {MOMENTS}:
        return array
    if types - set(PLAIN):
        values = [_plain(value) for value in values]
    return array if array.dtype.kind in "biufUS" and array.tolist() == values else object_array(values)


def _plain(value: Any) -> Any:
    """The number or text of a value of a NumPy type, or of a type derived from Python's."""
    if isinstance(value, np.generic):
        return value.item()
    return next(plain(value) for kind, plain in PLAIN.items() if isinstance(value, kind))


def object_array(values: Iterable[Any]) -> np.ndarray:
    """A 1-D array of Python objects, whatever they are."""
    values = list(values)
    return np.fromiter(values, dtype=object, count=len(values))


def united_values(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The classes of both, in order; of classes that are all numbers or all text."""
    if one.tolist() == other.tolist():
        return one
    values = sorted({*one.tolist(), *other.tolist()})
    if one.dtype == object or other.dtype == object:
        return object_array(values)
    return np.array(values, dtype=np.result_type(one, other))


def are_comparable(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether the classes of both are numbers, or of both text."""
    text = [{isinstance(value, str | bytes) for value in values.tolist()} for values in (one, other)]
    return not text[0] or not text[1] or text[0] == text[1]


def positions(classes: np.ndarray, among: np.ndarray) -> np.ndarray:
    """The place of each class in a list that holds them all."""
    place = {value: number for number, value in enumerate(among.tolist())}
    return np.array([place[value] for value in classes.tolist()], dtype=np.intp)


def refuse_fractions(known: np.ndarray) -> None:
    """Raise a ValueError where classes are not finite, or no whole numbers; text passes."""
    if known.dtype == object:
        known = np.asarray([value for value in known.tolist() if isinstance(value, float | np.floating)])
    if not np.all(np.isfinite(known)):
        raise ValueError(INFINITY)
    if np.any(known != np.floor(known)):
        raise ValueError(
            f"Unknown label type: continuous. y holds fractions such as {known[known != np.floor(known)][0]:g}; labels "
            "are classes or 0 and 1. Round or bin a continuous target first, or fit a method of numbers such as OPLS."
        )


def too_many_numbers(distinct: int, rows: int) -> bool:
    """Whether this many different whole numbers in this many rows are classes only if the caller says so."""
    return distinct > MOST_NUMBERS and rows < LEAST_ROWS_OF_EACH * distinct


def many_numbers(what: str, distinct: int, rows: int) -> tuple[str, str]:
    """The reason and the remedy for whole numbers that are ``too_many_numbers``."""
    each = rows // distinct
    return (
        f"{what} holds {distinct} different whole numbers in {rows:,} rows, {each} row{'s' * (each != 1)} each",
        "pass target_type='classes' if they are classes; numbers are outputs of methods such as OPLS alone",
    )


def dense_labels(Y: Any) -> np.ndarray:
    """A 0/1 label matrix without unknown cells as a boolean array (n, c); sparse input becomes one byte an entry.
    Raises ValueError for other values, masked cells among them."""
    Y, _ = unwrapped(Y)
    if sparse.issparse(Y):
        return sparse_labels(Y).toarray()
    Y = np.asarray(Y)
    if Y.ndim != 2:
        raise ValueError(f"Y must be an n x c 0/1 matrix with one column per label; got shape {Y.shape}. Reshape it.")
    _check_cells(Y)
    return Y.astype(bool, copy=False)


def sparse_labels(Y: Any) -> sparse.csr_array:
    """The same as a boolean CSR array whose stored cells are the 1s, in the order of their columns; of a Y that is
    one with its arrays."""
    if not sparse.issparse(Y):
        return sparse.csr_array(dense_labels(Y))
    if isinstance(Y, sparse.csr_array) and Y.dtype == bool and Y.has_canonical_format and Y.data.all():
        return sparse.csr_array((Y.data, Y.indices, Y.indptr), shape=Y.shape)
    found = sparse.csr_array(Y, copy=True)
    found.sum_duplicates()
    _check_cells(found.data)
    found.eliminate_zeros()
    return found.astype(bool)


def _check_cells(cells: np.ndarray) -> None:
    if cells.dtype != bool and not np.isin(cells, (0, 1)).all():
        raise ValueError("Y must hold only 0 and 1; code known negatives as 0 and leave out rows with unknown labels.")


def indicator_cells(y: np.ndarray) -> np.ndarray:
    """The cells of an n x c table of Python objects: -1, 0 and 1 as float64, NaN where unknown. Raises ValueError for
    any other entry."""
    values = y.ravel().tolist()
    found = [CELLS.get(value) if isinstance(value, Real) else None for value in values]
    for value, cell in zip(values, found, strict=True):
        if cell is None and not is_empty(value):
            refuse_cell(value)
    return np.asarray([np.nan if cell is None else cell for cell in found]).reshape(y.shape)


def refuse_cell(value: Any) -> NoReturn:
    """Raise a ValueError for a cell of an indicator that is none of -1, 0 and 1."""
    if not isinstance(value, Real):
        raise ValueError(
            "y is a table of text; an n x c indicator holds 0 and 1. Pass 1-D classes or a list of sets of labels."
            if isinstance(value, str | bytes)
            else f"y holds objects of type {type(value).__name__}; an n x c indicator holds 0 and 1, NaN for unknown."
        )
    if value in (np.inf, -np.inf):
        raise ValueError(INFINITY)
    if value != value // 1:
        raise ValueError(
            f"y holds fractions such as {_brief(value)}; an n x c indicator holds 0 and 1, NaN for unknown. Numbers "
            "are outputs of methods such as OPLS."
        )
    raise ValueError(
        f"y holds {_brief(value)}; an n x c indicator holds only 0 and 1 (or -1 and +1), NaN for unknown. "
        "One class per row is passed as a 1-D array."
    )


def _brief(value: Any) -> str:
    """A number in at most 40 characters."""
    if isinstance(value, float | np.floating):
        return f"{value:g}"
    if isinstance(value, int) and value.bit_length() > 128:
        return f"an integer of {value.bit_length()} bits"
    return str(value)[:40]
