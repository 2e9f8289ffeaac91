"""Tables in memory, of every library that narwhals knows: frames, lazy relations, their columns and cells."""

import difflib
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from datetime import date, timedelta
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from .cells import plain_value
from .column import is_real

SHOWN = 5
Coded = tuple[NDArray[np.integer], list[Hashable]]


def is_frame(X: Any) -> bool:
    """Whether X is a DataFrame of some library."""
    from narwhals import dependencies

    return dependencies.is_into_dataframe(X)


def index_ids(X: Any) -> tuple[str, ...] | None:
    """The names of the rows of a pandas DataFrame, if its index has a different text for each."""
    index = X.index if hasattr(X, "iloc") and hasattr(X, "columns") else None
    if index is None or not index.is_unique or not all(isinstance(each, str) for each in index):
        return None
    return tuple(index)


def frame_of(X: Any) -> Any:
    """A lazy relation (polars, DuckDB, Ibis) or an Arrow table or batch as a DataFrame; anything else as it is."""
    if isinstance(X, np.ndarray) or issparse(X):
        return X
    import narwhals

    if type(X).__name__ == "RecordBatch":
        X = narwhals.from_arrow(X, backend="pyarrow")
    X = narwhals.to_native(X, pass_through=True)
    arrow = narwhals.dependencies.is_pyarrow_table(X)
    if not arrow and is_frame(X):
        return X
    frame = narwhals.from_native(X, pass_through=True)
    if isinstance(frame, narwhals.LazyFrame) and not frame.implementation.is_dask():
        try:
            frame = frame.collect()
        except Exception as error:  # whatever the query raises
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise ValueError(f"the {type(X).__name__} cannot be collected ({reason}); correct its query.") from error
    elif not arrow:
        return X
    if not frame.implementation.is_pyarrow():
        return frame.to_native()
    try:
        return frame.to_native().to_pandas(integer_object_nulls=True)  # as floats they would lose digits
    except ModuleNotFoundError:
        pass
    try:
        return frame.to_polars()
    except ModuleNotFoundError as error:
        raise ValueError("an Arrow table needs pandas or polars: pip install 'proxembed[data]'.") from error


def rows_of(X: Any) -> Any:
    """Rows for a model, in a DataFrame if they have names; ValueError for one row, or for a mapping."""
    X = frame_of(X)
    if getattr(getattr(X, "dtype", None), "names", None):
        raise ValueError("X is an array of records; pass DataFrame(X), whose columns have names.")
    if isinstance(X, np.ndarray) or issparse(X):
        return X
    from narwhals import dependencies

    series = dependencies.is_into_series(X)
    mapping = isinstance(X, Mapping)
    if mapping or series or isinstance(X, list) and any(isinstance(row, Mapping) for row in X[:1]):
        what = "list of dict" if isinstance(X, list) else type(X).__name__
        raise ValueError(
            f"X is a {what}; pass the rows as a DataFrame, such as DataFrame([row]) for one row, or as a 2-D array."
        )
    return X


class FrameColumn:
    """One column of a table in memory: an array of numbers as it is, any other by its distinct cells."""

    def __init__(self, cells: Any) -> None:
        self._cells = cells

    @cached_property
    def array(self) -> NDArray[Any] | None:
        """The cells as numbers or truth values, NaN where empty; None if an array does not hold them exactly."""
        import narwhals

        cells = narwhals.from_native(self._cells, series_only=True, pass_through=True)
        if not isinstance(cells, np.ndarray | narwhals.Series):
            return None
        try:
            array = np.asarray(cells) if isinstance(cells, np.ndarray) else cells.to_numpy()
        except Exception:  # whatever a library raises for a type that NumPy does not have
            return None
        holed = isinstance(cells, narwhals.Series) and cells.dtype.is_integer() and array.dtype.kind == "f"
        return array if array.ndim == 1 and array.dtype.kind in "biuf" and not holed else None

    @cached_property
    def coded(self) -> Coded:
        """Codes into the distinct cells in the order of their first rows, -1 where empty; sets and lists are tuples."""
        if self.array is not None:
            return _coded_numbers(self.array)
        values, codes = coded(cells_of(self._cells))
        table, filled = np.full(len(values) + 1, -1), [value for value in values if value is not None]
        table[[j for j, value in enumerate(values) if value is not None]] = np.arange(len(filled))
        return table[codes], filled

    @property
    def place(self) -> str:
        """What the column holds: "number", "text", "date", "vector", "sets" or "other"."""
        if self.array is not None:
            return "number"
        kinds = {_kind(value) for value in self.coded[1]}
        if len(kinds) == 1:
            return kinds.pop()
        return "number" if not kinds else "text" if kinds <= {"number", "text", "date"} else "other"

    @property
    def numbers(self) -> NDArray[np.floating]:
        """The cells of a column of numbers, float32 or float64, NaN where empty."""
        if self.array is not None:
            kept = self.array.dtype in (np.float32, np.float64)
            return self.array if kept else self.array.astype(np.float64)
        codes, values = self.coded
        return np.array([*map(float, values), np.nan], dtype=np.float64)[codes]  # type: ignore[arg-type]  # numbers

    @property
    def vectors(self) -> tuple[NDArray[np.floating], NDArray[np.integer]]:
        """The values of a column of vectors one after the other, and the length of each vector; -1 where empty."""
        codes, values = self.coded
        held = [np.asarray(value, dtype=np.float64) for value in values]
        lengths = np.array([*map(len, held), -1])[codes]
        rows = [held[code] for code in codes if code >= 0]
        return np.concatenate(rows) if rows else np.empty(0), lengths


def _coded_numbers(array: NDArray[Any]) -> Coded:
    empty = np.isnan(array) if array.dtype.kind == "f" else np.zeros(len(array), dtype=bool)
    values, first, places = np.unique(array[~empty], return_index=True, return_inverse=True)
    order, codes = np.argsort(first), np.full(len(array), -1)
    codes[~empty] = np.argsort(order)[places]
    return codes, values[order].tolist()


def _kind(value: Hashable) -> str:
    if isinstance(value, tuple):
        kinds = {_kind(entry) for entry in value}
        return "vector" if kinds == {"number"} else "sets" if kinds <= {"text"} else "other"
    if isinstance(value, str):
        return "text"
    if isinstance(value, date):
        return "date"
    if isinstance(value, bool) or (is_real(value) and not isinstance(value, timedelta)):
        return "number"
    return "other"


def coded(cells: Iterable[Any]) -> tuple[list[Any], NDArray[np.intp]]:
    """Distinct cells in the order of their first row, and the place of each row's cell among them."""
    code: dict[Any, int] = {}
    values: list[Any] = []
    codes = []
    for cell in cells:
        value = plain_value(cell)
        place = code.setdefault(_key(value), len(values))
        if place == len(values):
            values.append(value)
        codes.append(place)
    return values, np.array(codes, dtype=np.intp)


def _key(value: Any) -> Hashable:
    """What equal cells share; cells of different types differ, and those without a hash have that of their text."""
    try:
        hash(value)
    except TypeError:
        return type(value), repr(value)
    return type(value), value


def cells_of(values: Any) -> list[Any]:
    """The cells of a column, of whatever it is made; dates and durations of NumPy stay such."""
    import narwhals

    values = narwhals.from_native(values, series_only=True, pass_through=True)
    if isinstance(values, narwhals.Series):
        return values.to_list()
    return values.tolist() if isinstance(values, np.ndarray) and values.dtype.kind not in "mM" else list(values)


def with_columns(X: Any, names: Sequence[str]) -> Any:
    """A DataFrame with these of its columns alone, in this order; ValueError as of ``columns_by_name``."""
    columns_by_name(X, names)
    return X[list(names)]


def in_order(y: Any, names: Iterable[Any]) -> Any:
    """A table that has columns of exactly these names, in their order; anything else as it is."""
    y, wanted = frame_of(y), [str(name) for name in names]
    labels = {str(label): label for label in y.columns} if hasattr(y, "columns") else {}
    if list(labels) == wanted or labels.keys() != set(wanted) or len(y.columns) != len(wanted):
        return y
    return y[[labels[name] for name in wanted]]


def named_columns(X: Any, table: str = "X") -> dict[str, Any]:
    """The columns of a mapping or a DataFrame by their names as text; ValueError for equal names."""
    labels = _labels(X)
    names = [str(label) for label in labels]
    for each in (labels, names):
        refuse_equal_names(table, each)
    return {name: X[label] for name, label in zip(names, labels, strict=True)}


def columns_by_name(X: Any, names: Sequence[str]) -> dict[str, Any]:
    """The columns of these names, in their order; ValueError if one is missing, with near names, or there twice."""
    labels: dict[str, Any] = {}
    twice = []
    wanted = set(names)
    for label in _labels(X):
        name = str(label)
        if name in labels and name in wanted:
            twice += [name, name]
        labels[name] = label
    refuse_equal_names("X", twice)
    if missing := [name for name in names if name not in labels]:
        raise ValueError(_missing_columns(missing, list(labels)))
    return {name: X[labels[name]] for name in names}


def _labels(X: Any) -> list[Any]:
    return list(X) if isinstance(X, Mapping) else list(X.columns)


def _missing_columns(missing: Sequence[str], known: Sequence[str]) -> str:
    folded = {name.casefold(): name for name in known}
    shown = []
    for name in missing[:SHOWN]:
        near = difflib.get_close_matches(name.casefold(), folded, n=1)
        shown.append(repr(name) + (f" (did you mean {folded[near[0]]!r}?)" if near else ""))
    more = f" and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
    word = "column" if len(missing) == 1 else "columns"
    return f"X has no {word} {', '.join(shown)}{more}; give the columns that the model was fitted on."


def refuse_equal_names(table: str, names: Iterable[Any]) -> None:
    """Raise a ValueError if several columns of a table have one name."""
    twice = [repr(name) for name, count in Counter(names).items() if count > 1]
    if twice:
        more = "" if len(twice) <= SHOWN else f" (and {len(twice) - SHOWN} more names)"
        raise ValueError(
            f"{table} has several columns named {', '.join(twice[:SHOWN])}{more}; give each a name of its own, or pass "
            f"{table}.to_numpy()."
        )
