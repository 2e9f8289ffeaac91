"""Parquet out: a DataFrame as the bytes of a file; tables are written by `table_writer`, and read in `readers`."""

from __future__ import annotations

import io
from typing import Any

from proxembed.tables.plain import plain_value


def frame_bytes(frame: Any) -> bytes:
    """A DataFrame as the content of a Parquet file, without the index of a pandas DataFrame.

    Parameters
    ----------
    frame : pandas or polars DataFrame

    Returns
    -------
    bytes

    Raises
    ------
    ValueError
        pyarrow is not installed, or a column holds cells of several kinds.

    Examples
    --------
    >>> from pandas import DataFrame
    >>> from proxembed.data.parquet import frame_bytes
    >>> frame_bytes(DataFrame({"age": [30, 50], "left": ["yes", "no"]}))[:4]
    b'PAR1'
    """
    pyarrow, parquet = _pyarrow("a DataFrame that holds its labels needs pyarrow: pip install 'proxembed[data]'.")
    try:
        table = (
            frame.to_arrow()
            if hasattr(frame, "to_arrow")
            else pyarrow.Table.from_pandas(_of_arrow_types(frame), preserve_index=False)
        )
    except (pyarrow.ArrowException, TypeError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise ValueError(
            f"X holds a column whose cells are of several kinds ({reason}); make them one kind."
        ) from error
    return _bytes(parquet, table)


def _of_arrow_types(frame: Any) -> Any:
    """A pandas DataFrame in types of Arrow: sparse columns dense, intervals and periods as text, sets as lists."""
    given = [frame.iloc[:, place] for place in range(frame.shape[1])]
    columns = [(cells, _of_arrow_type(cells)) for cells in given]
    if all(cells is found for cells, found in columns):
        return frame
    found = type(frame)(dict(enumerate(each for _, each in columns)), index=frame.index)
    return found.set_axis(frame.columns, axis=1)


def _of_arrow_type(cells: Any) -> Any:
    dtype = cells.dtype
    held = str(getattr(getattr(dtype, "categories", None), "dtype", dtype)).casefold()
    if held.startswith("sparse"):
        return cells.to_numpy()
    if held.startswith(("interval", "period")):
        return [None if each is None else str(each) for each in map(plain_value, cells)]
    if dtype.kind == "O" and any(isinstance(each, set | frozenset) for each in cells):
        return [list(found) if isinstance(found := plain_value(each), tuple) else found for each in cells]
    return cells


def _pyarrow(remedy: str) -> tuple[Any, Any]:
    """The modules of pyarrow, or an error with this remedy."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise ValueError(remedy) from error
    return pyarrow, parquet


def _bytes(parquet: Any, table: Any) -> bytes:
    """A table of Arrow as a file in memory."""
    buffer = io.BytesIO()
    parquet.write_table(table, buffer)
    return buffer.getvalue()
