"""What must hold of tables, frames and files: a law returns what is wrong, or raises the refusal of the package."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse as sp

from proxembed import PCA, TableEncoder
from proxembed.data import Columns, Dataset, read, read_rows
from proxembed.methods.pipeline import fit_on

from .cells import NUMBERS, NUMERIC, SEPARATORS, Rng, Style, Table, fits

LABELS = Columns(labels=("y",))
Law = Callable[["Table", "Place"], "str | None"]
LAWS: dict[str, Law] = {}


@dataclass
class Place:
    """A folder for files, how they are written, and what is drawn beside the table."""

    folder: Path
    style: Style
    rng: Rng

    def file(self, name: str, content: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(content)
        return path

    def plain(self) -> Place:
        """The same, with cells in their plainest style."""
        return replace(self, style=Style(separator=self.style.separator, encoding=self.style.encoding))

    def read(self, table: Table, **more: list[Any]) -> Dataset:
        """The data set of the table, written in the style of the case."""
        return read(self.file("t.csv", table.text(self.style, **more)), columns=LABELS)


def law(name: str) -> Callable[[Law], Law]:
    def kept(function: Law) -> Law:
        LAWS[name] = function
        return function

    return kept


def _dense(X: Any) -> np.ndarray:
    return X.toarray() if sp.issparse(X) else np.asarray(X)


def _apart(found: Any, wanted: Any, what: str) -> str | None:
    found, wanted = _dense(found), _dense(wanted)
    if found.shape == wanted.shape and np.allclose(found, wanted, rtol=1e-6, atol=1e-9, equal_nan=True):
        return None
    if found.shape != wanted.shape:
        return f"{what} differ: shapes {found.shape} and {wanted.shape}"
    return f"{what} differ: {found[found != wanted][:3]} for {wanted[found != wanted][:3]}"


def _numbers(X: Any, names: Any, name: str) -> np.ndarray | None:
    """A column of numbers or dates of a matrix or of rows of a table; None where it is read as something else."""
    if not hasattr(X, "columns"):
        return _dense(X)[:, list(names).index(name)] if name in names else None
    kinds = {column.name: column.kind for column in X.columns}
    return X[name] if kinds.get(name) in ("number", "date", "boolean") else None


def _misread(table: Table, data: Dataset, X: Any, told: str) -> str | None:
    """The first column of numbers or dates with other values than the table; a note on it allows another reading."""
    for name, cells in table.columns.items():
        if table.kind(name) not in (*NUMERIC, "date") or len({cell for cell in cells if cell is not None}) < 3:
            continue
        found = _numbers(X, data.feature_names, name)
        if found is None:
            if name not in told:
                return f"{name} ({table.kind(name)}) is not read as numbers, and no note says so"
            continue
        wanted = [np.nan if cell is None else _plain(cell) for cell in cells]
        if name not in told and (wrong := _apart(found, wanted, f"values of {name} ({table.kind(name)})")):
            return wrong
    return None


def _open(table: Table, style: Style, reader: str) -> bool:
    """Whether a file may also be meant in the style of its reader."""
    return style.number != reader and fits(table, style, reader)


def _plain(cell: Any) -> float:
    return (cell - pd.Timestamp(1970, 1, 1)).total_seconds() if hasattr(cell, "year") else float(cell)


@law("cells are read")
def cells_are_read(table: Table, place: Place) -> str | None:
    """Numbers and dates are read as they are meant, refused or noted; 1.234 may be a decimal number if all may."""
    data = place.read(table)
    return None if _open(table, place.style, "plain") else _misread(table, data, data.X, " ".join(data.notes))


@law("new rows in another style")
def another_style(table: Table, place: Place) -> str | None:
    """New rows in another style of numbers are read as they are meant, or refused, if a cell shows the style."""
    data = place.read(table)
    other = replace(place.style, number=str(place.rng.choice(list(NUMBERS))))
    if _open(table, place.style, "plain") or _open(table, other, place.style.number):
        return None
    if wrong := _misread(table, data, data.X, " ".join(data.notes)):
        return wrong
    X, _ = read_rows(place.file("n.csv", table.text(other)), data.source)
    return _misread(table, data, X, " ".join(data.notes))


@law("lists of labels")
def lists_of_labels(table: Table, place: Place) -> str | None:
    """A column of lists gives the sets of its names as labels."""
    lists = Table(("names",), table.n, 2 * table.seed)
    data = read(place.file("t.csv", lists.text(place.style, x=[str(j * j % 7) for j in range(table.n)])), labels=["c0"])
    found = [{name for name, on in zip(data.label_names, row, strict=True) if on} for row in data.Y.toarray()]
    wanted = list(map(set, lists.columns["c0"]))
    return None if found == wanted else f"labels in {place.style.names} differ: {data.label_names}, {found[:4]}"


@law("row numbers are no feature")
def row_numbers(table: Table, place: Place) -> str | None:
    """A column 0..n-1, named or not, does not change the features of the others."""
    name = str(place.rng.choice(["", "Unnamed: 0", "X", "Case", "sample"]))
    numbered = place.read(table, **{name: [str(j) for j in range(table.n)]})
    found, wanted = (TableEncoder().fit_transform(data.X) for data in (numbered, place.read(table)))
    return _apart(found, wanted, f"with {name!r}: rows")


def _embedded(model: Any, X: Any, wanted: Any, what: str) -> str | None:
    """What is wrong with new rows that must not be refused."""
    try:
        return _apart(model.transform(X), wanted, what)
    except ValueError as error:
        return f"{what} differ: refused: {error}"


def _changed(frame: pd.DataFrame, place: Place) -> Mapping[str, pd.DataFrame]:
    shuffled = frame[list(place.rng.permutation(frame.columns))]
    return {"shuffled": shuffled, "added": frame.assign(extra=1.5)[["extra", *frame.columns]]}


@law("columns by name")
def columns_by_name(table: Table, place: Place) -> str | None:
    """A model embeds a frame, with columns shuffled or added, as the rows of the file that it was fitted on."""
    data = place.plain().read(table)
    model, frame = fit_on(PCA(), data), table.frame()
    wanted = model.transform(data.X)
    for what, changed in {"the frame": frame, **_changed(frame, place)}.items():
        if wrong := _embedded(model, changed, wanted, f"{what}: rows"):
            return wrong
    features = {feature.removesuffix("[0]") for feature in data.feature_names}  # the numbers of vectors: v[0], v[1]
    name = str(place.rng.choice([column for column in frame if column in features]))
    for what, short in {"missing": frame.drop(columns=name), "renamed": frame.rename(columns={name: "z9"})}.items():
        try:
            model.transform(short)
        except ValueError as error:
            if name not in str(error):
                return f"the {what} column {name} is not named: {error}"
        else:
            return f"the {what} column {name} is not missed"
    return None


@law("columns of files by name")
def columns_of_files(table: Table, place: Place) -> str | None:
    """New rows of a file whose columns stand in another order, beside others, are those of the training file."""
    data, style = place.plain().read(table), place.style
    known = {"sep": SEPARATORS[style.separator], "encoding": style.encoding, "dtype": str, "keep_default_na": False}
    mixed = pd.read_csv(place.folder / "t.csv", **known).assign(extra="7")
    mixed = mixed[list(place.rng.permutation(mixed.columns))]
    X, _ = read_rows(place.file("n.csv", mixed.to_csv(index=False).encode()), data.source)
    encoder = TableEncoder().fit(data.X)
    return _apart(encoder.transform(X), encoder.transform(data.X), "rows")


def _categories(frame: pd.DataFrame) -> pd.DataFrame:
    texts = [name for name in frame if frame[name].map(lambda cell: isinstance(cell, str)).any()]
    return frame.astype(dict.fromkeys(texts, "category"))


def _sparse(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.astype(dict.fromkeys(frame.select_dtypes("float"), pd.SparseDtype(float, np.nan)))


TYPES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "nullable": lambda frame: frame.convert_dtypes(),
    "arrow": lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
    "objects": lambda frame: frame.astype(object).where(frame.notna(), None),
    "categories": _categories,
    "sparse": _sparse,
    "polars": pl.from_pandas,
    "lazy polars": lambda frame: pl.from_pandas(frame).lazy(),
    "arrow table": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
}


@law("types of frames")
def types_of_frames(table: Table, place: Place) -> str | None:
    """The rows of a frame stay the same in other types, to a fit and to an encoder that was fitted before."""
    frame, name = table.frame(), str(place.rng.choice(list(TYPES)))
    other = TYPES[name](frame)
    encoder, again = TableEncoder().fit(frame), TableEncoder().fit(other)
    wanted = encoder.transform(frame)
    return _embedded(again, other, wanted, f"{name}: rows") or _embedded(encoder, other, wanted, f"{name}: new rows")


@law("file and memory")
def file_and_memory(table: Table, place: Place) -> str | None:
    """The same rows in CSV, in Parquet and in memory become the same features."""
    frame = table.frame()
    frame.assign(y=table.classes).to_parquet(place.folder / "t.parquet")
    stored = TableEncoder().fit_transform(read(place.folder / "t.parquet", columns=LABELS).X)
    if wrong := _apart(stored, TableEncoder().fit_transform(frame), "Parquet and memory"):
        return wrong
    plain = read(place.file("plain.csv", table.text(Style())), columns=LABELS)
    return _apart(stored, TableEncoder().fit_transform(plain.X), "Parquet and CSV")


def _files(X: np.ndarray, Y: np.ndarray, place: Place) -> dict[str, Callable[[], Dataset]]:
    """The same rows in every format of matrices."""
    folder, d = place.folder, X.shape[1]
    np.savez(folder / "t.npz", X=X, Y=Y)
    np.save(folder / "t.npy", X)
    np.save(folder / "y.npy", Y)
    pairs = ["".join(f" {j}:{float(x)!r}" for j, x in enumerate(row, start=1)) for row in X]
    lines = [",".join(map(str, np.flatnonzero(y))) + pair for y, pair in zip(Y, pairs, strict=True)]
    place.file("t.svm", "\n".join(lines).encode())
    header = [f"@attribute l{j} {{0,1}}" for j in range(Y.shape[1])] + [f"@attribute x{j} numeric" for j in range(d)]
    cells = [",".join([*map(str, y), *map(repr, map(float, row))]) for row, y in zip(X, Y, strict=True)]
    place.file("t.arff", "\n".join([f"@relation 't: -C {Y.shape[1]}'", *header, "@data", *cells]).encode())
    names = [*(f"l{j}" for j in range(Y.shape[1])), *(f"x{j}" for j in range(d))]
    place.file("t.csv", "\n".join([",".join(names), *cells]).encode())
    pd.DataFrame(np.column_stack([Y, X]), columns=names).to_parquet(folder / "t.parquet")
    return {
        "t.npz": lambda: read(folder / "t.npz"),
        "t.npy": lambda: read(folder / "t.npy", labels=folder / "y.npy"),
        "t.svm": lambda: read(folder / "t.svm"),
        "t.arff": lambda: read(folder / "t.arff"),
        "t.csv": lambda: read(folder / "t.csv", columns=Columns(labels=("l*",))),
        "t.parquet": lambda: read(folder / "t.parquet", columns=Columns(labels=("l*",))),
    }


def _matrix(table: Table, place: Place) -> tuple[np.ndarray, np.ndarray]:
    X = place.rng.normal(size=(table.n, 3)) * 10.0 ** place.rng.integers(-5, 6)
    Y = (place.rng.random((table.n, 2)) < 0.6).astype(int)
    Y[0] = 1  # svmlight has no labels without a row
    return X, Y


@law("formats of matrices")
def formats(table: Table, place: Place) -> str | None:
    """Rows and labels are the same in every format."""
    X, Y = _matrix(table, place)
    for name, made in _files(X, Y, place).items():
        data = made()
        if wrong := _apart(data.X, X, f"{name}: rows") or _apart(data.Y, Y, f"{name}: labels"):
            return wrong
    return None


@law("damaged files")
def damaged(table: Table, place: Place) -> str | None:
    """A file with a damaged byte, or without its end, is read or refused."""
    made = _files(*_matrix(table, place), place)
    name = str(place.rng.choice(list(made)))
    content, at = bytearray((place.folder / name).read_bytes()), int(place.rng.integers(1, 200))
    at = min(at, len(content) - 1)
    content[at : at + 1] = place.rng.choice([b"", b"\xff", b"\x00", b'"', b"\n", b",", b"e"])
    content = content if place.rng.random() < 0.7 else content[: int(place.rng.integers(len(content)))]
    place.file(name, bytes(content))
    made[name]()
    return None
