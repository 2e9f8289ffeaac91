"""Parquet out: named columns or a DataFrame as the bytes of a file; the reader stands in `readers`."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray


def parquet_bytes(columns: Mapping[str, NDArray | Sequence[Any]]) -> bytes:
    """Named columns as the content of a Parquet file.

    Parameters
    ----------
    columns : mapping of str to a 1-D array or a list, all of one length

    Returns
    -------
    bytes

    Raises
    ------
    ValueError
        pyarrow is not installed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from proxembed.data import read
    >>> from proxembed.data.parquet import parquet_bytes
    >>> file = pathlib.Path(tempfile.mkdtemp(), "toy.parquet")
    >>> size = file.write_bytes(parquet_bytes({"hue": [0.5, 0.25], "red": [1, 0]}))
    >>> read(file, labels=["red"]).X.tolist()
    [[0.5], [0.25]]
    """
    pyarrow, parquet = _pyarrow("a .parquet file needs pyarrow: pip install 'proxembed[data]', or write .csv.")
    return _bytes(parquet, pyarrow.table({name: pyarrow.array(values) for name, values in columns.items()}))


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
            frame.to_arrow() if hasattr(frame, "to_arrow") else pyarrow.Table.from_pandas(frame, preserve_index=False)
        )
    except (pyarrow.ArrowException, TypeError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise ValueError(
            f"X holds a column whose cells are of several kinds ({reason}); make them one kind."
        ) from error
    return _bytes(parquet, table)


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
