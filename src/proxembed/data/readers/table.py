"""Tables, CSV or Parquet, whose columns are told apart by `Columns`; and tables of labels for vectors elsewhere."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from proxembed.data.dataset import Dataset, Matrix
from proxembed.data.errors import DataError, shorten
from proxembed.data.readers.blocks import TableFile
from proxembed.data.readers.cells import MISSING, Cells, name_of, seconds
from proxembed.data.readers.columns import Columns, Roles, required, resolve
from proxembed.data.readers.table_features import Feature, FeatureReader, feature_kinds
from proxembed.data.readers.table_file import open_table
from proxembed.data.readers.table_labels import read_labels

PART = re.compile(r"[-_](train|test)$", re.IGNORECASE)
SUFFIXES = (".csv", ".tsv", ".tab", ".parquet", ".pq")


@dataclass
class Gathered:
    """What one pass over a file gives: feature columns, and the cells of each column with another purpose."""

    file: TableFile
    features: FeatureReader
    cells: dict[str, Cells]


def read(path: Path, test: Path | None, columns: Columns) -> Dataset:
    """Data set of a table, or of a training and a test table; see `proxembed.data.read`."""
    file = open_table(path)
    roles = resolve(columns, file.names, path)
    indices = getattr(file, "index", ())
    roles = replace(roles, features=tuple(name for name in roles.features if name not in indices))
    if not roles.labels:
        shown = ", ".join(shorten(name) for name in file.names[:6])
        raise DataError.at(
            path,
            None,
            f"nothing names the labels among its columns {shown}{', ...' if len(file.names) > 6 else ''}",
            "give labels=[names or globs] (--labels 'topic_*')",
        )
    files = [file]
    if test is not None:
        files.append(open_table(test))
        required(roles.named, files[1].names, test, f"the training file {path.name}")
    kinds = feature_kinds(file, roles.features, roles.text)
    parts = [gather(each, kinds, _others(roles)) for each in files]
    X, features = matrices([part.features for part in parts], None)
    name = _stem(path) if test is None else PART.sub("", _stem(path))
    return assembled(parts, roles, columns, X, features, name)


def beside(path: Path, columns: Columns, X: NDArray[np.floating], name: str) -> Dataset:
    """Data set of vectors X and of a table that labels them row by row; without label names, by all other columns."""
    file = open_table(path)
    roles = resolve(columns, file.names, path)
    roles = replace(roles, labels=roles.labels or roles.features, features=())
    part = gather(file, {}, _others(roles))
    if part.features.rows != X.shape[0]:
        reason = f"it labels {part.features.rows} rows, but there are {X.shape[0]} vectors"
        raise DataError.at(path, None, reason, "give one row for each vector, in the same order")
    return assembled([part], roles, columns, X, (), name)


def gather(file: TableFile, kinds: dict[str, str], others: dict[str, Sequence[str]]) -> Gathered:
    """One pass over a file in blocks; `others` holds, for each column read as cells, what its empty cells hold."""
    features = FeatureReader(file, kinds)
    cells = {name: Cells(missing) for name, missing in others.items()}
    for block in file.blocks({**dict.fromkeys(others, "cells"), **features.wanted}):
        features.add(block)
        for name, column in cells.items():
            column.add(*block.cells(name))
    return Gathered(file, features, cells)


def matrices(
    parts: Sequence[FeatureReader], features: tuple[Feature, ...] | None
) -> tuple[Matrix, tuple[Feature, ...]]:
    """The rows of one or two files as one matrix, in the given columns or in those that the first file shows."""
    if "text" in parts[0].kinds.values():
        words = None if features is None else features[0].values
        counts = []
        for part in parts:
            X, feature = part.counted(words)
            words = feature.values
            counts.append(X)
        return sparse.vstack(counts, format="csr"), (feature,)
    found = parts[0].features() if features is None else features
    blocks = [part.matrix(found) for part in parts]
    return blocks[0] if len(blocks) == 1 else np.concatenate(blocks), found


def assembled(
    parts: Sequence[Gathered], roles: Roles, columns: Columns, X: Matrix, features: tuple[Feature, ...], name: str
) -> Dataset:
    """The data set of the gathered columns, training rows first."""
    label_cells = [(part.file, {label: part.cells[label] for label in roles.labels}) for part in parts]
    labels = read_labels(label_cells, columns.separator)
    n = parts[0].features.rows
    split = {"train_idx": np.arange(n), "test_idx": np.arange(n, X.shape[0])} if len(parts) == 2 else {}
    return Dataset(
        X,
        sparse.vstack([part.Y for part in labels]),
        [column for feature in features for column in feature.names] or None,
        labels[0].names,
        name,
        unknown=sparse.vstack([part.unknown for part in labels]),
        ids=None if roles.id is None else tuple(row for part in parts for row in row_ids(part, roles.id)),
        groups=None if roles.groups is None else _groups(parts, roles.groups),
        times=None if roles.time is None else np.concatenate([_times(part, roles.time) for part in parts]),
        source=_source(roles, columns, features) if features else None,
        **split,
    )


def _source(roles: Roles, columns: Columns, features: Sequence[Feature]) -> dict[str, Any]:
    """How the columns were read, as a JSON-able dict; enough to read the features and ids of new rows."""
    return {
        "format": "table",
        "features": [feature.plain() for feature in features],
        "labels": list(roles.labels),
        "separator": columns.separator,
        "id": roles.id,
        "groups": roles.groups,
        "time": roles.time,
    }


def _others(roles: Roles) -> dict[str, Sequence[str]]:
    """Columns that are read as cells, each with the texts of an empty cell; a row may be called NA."""
    others: dict[str, Sequence[str]] = dict.fromkeys(roles.labels, MISSING)
    if roles.time is not None:
        others[roles.time] = MISSING
    others.update((name, ("",)) for name in (roles.id, roles.groups) if name is not None)
    return others


def _stem(path: Path) -> str:
    name = re.sub(r"\.gz$", "", path.name, flags=re.IGNORECASE)
    return Path(name).stem


def row_ids(part: Gathered, name: str) -> tuple[str, ...]:
    """The cells of the id column, one a row."""
    _filled(part, name, "id", "name every row")
    cells = part.cells[name]
    return tuple(np.array([name_of(value) for value in cells.values], dtype=object)[cells.codes])


def _groups(parts: Sequence[Gathered], name: str) -> NDArray[np.intp]:
    """Codes of the groups over all files."""
    for part in parts:
        _filled(part, name, "groups", "give every row a group; a row on its own has one of its own")
    code: dict[str, int] = {}
    codes = []
    for part in parts:
        cells = part.cells[name]
        table = [code.setdefault(name_of(value), len(code)) for value in cells.values]
        codes.append(np.array(table, dtype=np.intp)[cells.codes])
    return np.concatenate(codes)


def _times(part: Gathered, name: str) -> NDArray[np.float64]:
    _filled(part, name, "time", "give every row a time, or drop the row")
    cells = part.cells[name]
    known = [seconds(value) for value in cells.values]
    if None in known:
        code = known.index(None)
        raise part.file.fault(
            cells.first(code),
            f"{shorten(str(cells.values[code]))} in time column {shorten(name)} is no number and no ISO date",
            "write numbers, or dates like 2024-12-31 or 2024-12-31T23:59:00",
        )
    return np.array(known, dtype=np.float64)[cells.codes]


def _filled(part: Gathered, name: str, purpose: str, remedy: str) -> None:
    row = part.cells[name].first_empty
    if row is not None:
        raise part.file.fault(row, f"the cell of {purpose} column {shorten(name)} is empty", remedy)
