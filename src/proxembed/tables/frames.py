"""Tables in memory: pandas and polars DataFrames, polars LazyFrames and Arrow tables; their columns by name."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

SHOWN = 5


def frame_of(X: Any) -> Any:
    """A LazyFrame or an Arrow table as a DataFrame; anything else as it is.

    Raises ValueError for a LazyFrame that cannot be collected, and for an Arrow table without pandas and polars.

    >>> from polars import DataFrame
    >>> from proxembed.tables.frames import frame_of
    >>> frame_of(DataFrame({"age": [30, 50]}).lazy()).columns, frame_of([1])
    (['age'], [1])
    """
    kind = type(X)
    if kind.__name__ == "LazyFrame" and kind.__module__.startswith("polars"):
        try:
            return X.collect()
        except Exception as error:  # whatever the query raises
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise ValueError(f"the LazyFrame cannot be collected ({reason}); correct its query.") from error
    if not (kind.__module__.startswith("pyarrow") and hasattr(X, "column_names")):
        return X
    try:
        return X.to_pandas()
    except ModuleNotFoundError:
        pass
    try:
        from polars import from_arrow
    except ModuleNotFoundError as error:
        raise ValueError("an Arrow table needs pandas or polars: pip install 'proxembed[data]'.") from error
    return from_arrow(X)


def rows_of(X: Any) -> Any:
    """New rows for a model, a LazyFrame or an Arrow table as a DataFrame; ValueError for one row, or for a mapping.

    >>> from proxembed.tables.frames import rows_of
    >>> rows_of({"age": 30})
    Traceback (most recent call last):
    ValueError: X is a dict; pass the rows as a DataFrame, such as DataFrame([row]) for one row, or as a 2-D array.
    """
    X = frame_of(X)
    if getattr(getattr(X, "dtype", None), "names", None):
        raise ValueError("X is an array of records; pass DataFrame(X), whose columns have names.")
    series = hasattr(X, "to_numpy") and not hasattr(X, "columns")
    if isinstance(X, Mapping) or series or isinstance(X, list) and any(isinstance(row, Mapping) for row in X[:1]):
        what = "list of dict" if isinstance(X, list) else type(X).__name__
        raise ValueError(
            f"X is a {what}; pass the rows as a DataFrame, such as DataFrame([row]) for one row, or as a 2-D array."
        )
    return X


def with_columns(X: Any, names: Sequence[str]) -> Any:
    """A DataFrame with these of its columns alone, in this order; ValueError as of ``columns_by_name``.

    >>> from pandas import DataFrame
    >>> from proxembed.tables.frames import with_columns
    >>> list(with_columns(DataFrame({"b": [1], "a": [2], "c": [3]}), ["a", "b"]).columns)
    ['a', 'b']
    """
    columns_by_name(X, names)
    return X[list(names)]


def named_columns(X: Any) -> dict[str, Any]:
    """The columns of a mapping or a DataFrame by their names as text; ValueError for equal names.

    >>> from pandas import DataFrame
    >>> from proxembed.tables.frames import named_columns
    >>> {name: list(cells) for name, cells in named_columns(DataFrame({0: [1, 2]})).items()}
    {'0': [1, 2]}
    """
    labels = list(X) if isinstance(X, Mapping) else list(X.columns)
    names = [str(label) for label in labels]
    refuse_equal_names("X", labels)
    refuse_equal_names("X", names)
    return {name: X[label] for name, label in zip(names, labels, strict=True)}


def number_array(cells: Any) -> NDArray[Any] | None:
    """The cells of a column as a 1-D array of numbers or truth values, NaN where empty; None for any other column.

    >>> from polars import Series
    >>> from proxembed.tables.frames import number_array
    >>> number_array(Series([1, 2])).tolist(), number_array(Series(["a"])), number_array(Series([[1, 2]]))
    ([1, 2], None, None)
    """
    try:
        array = cells.to_numpy() if hasattr(cells, "to_numpy") else np.asarray(cells)
    except Exception:  # whatever a library raises for a type that NumPy does not have
        return None
    return array if array.ndim == 1 and array.dtype.kind in "biuf" else None


def columns_by_name(X: Any, names: Sequence[str]) -> dict[str, Any]:
    """The columns of these names, in their order; other columns are ignored.

    Raises ValueError for missing columns, with near names, and for several columns of one of the names.

    >>> from proxembed.tables.frames import columns_by_name
    >>> columns_by_name({"b": [1], "a": [2], "c": [3]}, ["a", "b"])
    {'a': [2], 'b': [1]}
    >>> columns_by_name({"Age": [1]}, ["age"])
    Traceback (most recent call last):
    ValueError: X has no column 'age' (did you mean 'Age'?); give the columns that the model was fitted on.
    """
    labels: dict[str, Any] = {}
    twice = []
    wanted = set(names)
    for label in list(X) if isinstance(X, Mapping) else list(X.columns):
        name = str(label)
        if name in labels and name in wanted:
            twice += [name, name]
        labels[name] = label
    refuse_equal_names("X", twice)
    if missing := [name for name in names if name not in labels]:
        raise ValueError(_missing_columns(missing, list(labels)))
    return {name: X[labels[name]] for name in names}


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
    """Raise a ValueError where several columns of a table have one name.

    >>> refuse_equal_names("X", ["a", "b", "a"])
    Traceback (most recent call last):
    ValueError: X has several columns named 'a'; give each a name of its own, or pass X.to_numpy().
    """
    twice = [repr(name) for name, count in Counter(names).items() if count > 1]
    if twice:
        more = "" if len(twice) <= SHOWN else f" (and {len(twice) - SHOWN} more names)"
        raise ValueError(
            f"{table} has several columns named {', '.join(twice[:SHOWN])}{more}; give each a name of its own, or pass "
            f"{table}.to_numpy()."
        )
