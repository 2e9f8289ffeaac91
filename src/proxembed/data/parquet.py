"""Parquet out: named columns as the bytes of a file; reading stands with the other formats in `readers`."""

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
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise ValueError("a .parquet file needs pyarrow: pip install 'proxembed[data]', or write .csv.") from error
    buffer = io.BytesIO()
    parquet.write_table(pyarrow.table({name: pyarrow.array(values) for name, values in columns.items()}), buffer)
    return buffer.getvalue()
