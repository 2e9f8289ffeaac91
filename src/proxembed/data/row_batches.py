"""Blocks of rows of Parquet files: chosen columns, read a batch at a time, for fits on more rows than fit in memory."""

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proxembed.blocks import RowBlocks
from proxembed.blocks.weighted import with_weights
from proxembed.data.readers.parquet_parts import parquet_files, read_from, valid_batches
from proxembed.tables.notes import few_names

LARGE_GROUP = 256 << 20  # bytes of a row group, all of which lie in memory while it is read


def parquet_blocks(
    files: str | Path | Sequence[str | Path],
    labels: str | Sequence[str] | None = None,
    *,
    features: Sequence[str] | None = None,
    sample_weight: str | None = None,
    block_rows: int = 65_536,
    precision: str = "float64",
) -> RowBlocks:
    """Blocks of rows of Parquet files, as ``fit`` and ``transform`` take them.

    Parameters
    ----------
    files : path or list of paths
        Files or folders; of a folder its .parquet files, and those of subfolders such as ``year=2024``, in the order
        of their names.
    labels : str or list of str, optional
        One column of classes, of numbers or of lists of label names, or several columns of 0 and 1, of numbers and of
        classes as text; null stands for unknown.
    features : list of str, optional
        Columns of numbers, or of lists of numbers that are as long in every row (vectors). None: all columns but the
        labels and the weights.
    sample_weight : str, optional
        A column of numbers >= 0: how often each row counts.
    block_rows : int, most rows of a block.
    precision : "float64" or "float32", as in ``RowBlocks``.

    Returns
    -------
    RowBlocks
        X is float32 where all features are small integers or float32, else float64.

    Raises
    ------
    ValueError
        pyarrow is not installed; a file or a column is missing; a file is damaged, or was replaced by one with other
        columns; a feature holds no numbers, or vectors of different lengths.

    Warns
    -----
    UserWarning
        A file has a row group of more than 256 MiB, which is in memory as a whole.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from proxembed import OPLS
    >>> from proxembed.data import digits, parquet_blocks
    >>> from proxembed.data.table_writer import TableWriter
    >>> data = digits()
    >>> even, prime = data.Y[:, [0, 1]].toarray().T
    >>> columns = {f"pixel{j}": data.X[:, j] for j in range(64)} | {"even": even, "prime": prime}
    >>> file = pathlib.Path(tempfile.mkdtemp(), "digits.parquet")
    >>> with TableWriter(file) as table:
    ...     table.add(columns)
    >>> rows = parquet_blocks(file, labels=["even", "prime"], block_rows=1000)
    >>> [X.shape for X, y in rows]
    [(1000, 64), (797, 64)]
    >>> OPLS().fit(rows).n_components_
    2
    """
    _need_pyarrow()
    paths = _paths(files)
    if not isinstance(block_rows, int) or block_rows < 1:
        raise ValueError(f"block_rows={block_rows!r} is not allowed; it must be a whole number of at least 1.")
    names = [labels] if isinstance(labels, str) else list(labels or [])
    weights = [] if sample_weight is None else [sample_weight]
    chosen = _features(paths[0], [*names, *weights]) if features is None else list(features)
    for path in paths:
        with read_from(path) as file:
            _check(file, path, [*chosen, *names, *weights])
            _warn_of_groups(file, path)

    def batches(columns: list[str]) -> Iterator[Any]:
        for path in paths:
            with read_from(path) as file:
                _check(file, path, columns)  # it may have been replaced
                yield from (batch for batch in valid_batches(file, block_rows, columns) if batch.num_rows)

    def targets(batch: Any, number: int) -> Any:
        w = None if sample_weight is None else _numbers(batch.column(sample_weight), sample_weight)
        return with_weights(_labels(batch, labels), w, batch.num_rows, f"block {number}")

    def read() -> Iterator[tuple[NDArray[Any], Any]]:
        columns = list(dict.fromkeys([*chosen, *names, *weights]))
        return ((_matrix(batch, chosen), targets(batch, i)) for i, batch in enumerate(batches(columns)))

    def read_labels() -> Iterator[Any]:
        return (targets(batch, i) for i, batch in enumerate(batches([*names, *weights])))

    return RowBlocks(read, labels=read_labels if names else None, precision=precision).of_files(paths)


def _need_pyarrow() -> None:
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError as error:
        raise ValueError("a .parquet file needs pyarrow: pip install 'proxembed[data]'.") from error


def _paths(files: str | Path | Sequence[str | Path]) -> list[Path]:
    given = [Path(files)] if isinstance(files, str | Path) else [Path(file) for file in files]
    found = [path for one in given for path in (parquet_files(one) if one.is_dir() else [one])]
    missing = [str(path) for path in found if not path.is_file()]
    if missing or not found:
        raise ValueError(
            f"{missing[0]} does not exist." if missing else f"{', '.join(map(str, given))} holds no .parquet file."
        )
    return found


def _features(path: Path, labels: list[str]) -> list[str]:
    apart = set(labels)
    with read_from(path) as file:
        return [name for name in file.schema_arrow.names if name not in apart]


def _check(file: Any, path: Path, columns: list[str]) -> None:
    known = dict.fromkeys(file.schema_arrow.names)
    missing = [name for name in columns if name not in known]
    if missing:
        raise ValueError(f"{path} has no column {missing[0]!r}; its columns are {few_names(list(known))}.")


def _warn_of_groups(file: Any, path: Path) -> None:
    groups = (file.metadata.row_group(i).total_byte_size for i in range(file.metadata.num_row_groups))
    largest = max(groups, default=0)
    if largest > LARGE_GROUP:
        warnings.warn(
            f"{path} has a row group of {largest / 2**20:,.0f} MiB, which is in memory as a whole while it is read. "
            "Write the file with smaller row groups (row_group_size=100_000).",
            UserWarning,
            stacklevel=3,
        )


def _matrix(batch: Any, features: list[str]) -> NDArray[Any]:
    """Columns of numbers and of vectors side by side, in the order of columns in memory."""
    parts = [_numbers(batch.column(name), name) for name in features]
    width = sum(1 if part.ndim == 1 else part.shape[1] for part in parts)
    single = all(part.dtype == np.float32 or (part.dtype.kind in "iub" and part.dtype.itemsize <= 2) for part in parts)
    X = np.empty((batch.num_rows, width), dtype=np.float32 if single else np.float64, order="F")
    start = 0
    for part in parts:
        wide = part[:, None] if part.ndim == 1 else part
        X[:, start : start + wide.shape[1]] = wide
        start += wide.shape[1]
    return X


def _numbers(column: Any, name: str) -> NDArray[Any]:
    """A column as (m,), or as (m, q) for vectors of q numbers; null is NaN."""
    kind = str(column.type)
    if "list" in kind:
        if column.null_count:
            raise ValueError(f"Column {name!r} holds {column.null_count} empty cells among its vectors; fill them in.")
        values = column.flatten().to_numpy(zero_copy_only=False)
        lengths = (
            np.diff(column.offsets.to_numpy()) if hasattr(column, "offsets") else np.array([column.type.list_size])
        )
        if lengths.min() != lengths.max():
            raise ValueError(
                f"Column {name!r} holds vectors of {lengths.min()} to {lengths.max()} numbers; all must be as long."
            )
        values = values.reshape(len(column), -1)
    else:
        values = column.to_numpy(zero_copy_only=False)
    if values.dtype.kind not in "fiub":
        raise ValueError(f"Column {name!r} is of type {kind}, not of numbers. Name the columns to use: features=[...].")
    return values


def _labels(batch: Any, labels: str | Sequence[str] | None) -> Any:
    """Classes, lists of names or an indicator; None without labels."""
    if labels is None:
        return None
    if isinstance(labels, str):
        column = batch.column(labels)
        if "list" in str(column.type) or "string" in str(column.type):
            return column.to_pylist()
        return column.to_numpy(zero_copy_only=False)
    return np.column_stack([_cells(batch.column(name)) for name in labels])


def _cells(column: Any) -> NDArray[Any]:
    """Cells of 0 and 1 and of numbers, null is NaN; of text, null is None."""
    values = column.to_numpy(zero_copy_only=False)
    if "string" in str(column.type):
        return values
    if values.dtype == object:  # true and false beside null
        return np.array([np.nan if value is None else float(value) for value in values])
    return values
