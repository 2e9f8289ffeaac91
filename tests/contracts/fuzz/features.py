"""Kinds of X: what the values are, and how they are stored."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

import strategies

Rng = np.random.Generator


@dataclass(frozen=True)
class RowCase:
    """X as an estimator gets it, and the matrix that it stands for; ``matrix`` is None where X must be refused."""

    X: Any
    matrix: np.ndarray | None


def _scaled(factor: float) -> Callable[[Rng, np.ndarray], np.ndarray]:
    """Values of this largest magnitude."""
    return lambda rng, A: A / np.abs(A).max() * factor


def _repeated_rows(rng: Rng, A: np.ndarray) -> np.ndarray:
    return A[rng.integers(0, max(2, len(A) // 2), len(A))]


def _one_row_differs(rng: Rng, A: np.ndarray) -> np.ndarray:
    return np.vstack([A[:1] + 1.0, np.repeat(A[:1], len(A) - 1, axis=0)])


def _one_column_varies(rng: Rng, A: np.ndarray) -> np.ndarray:
    return np.column_stack([A[:, :1], np.repeat(A[:1, 1:], len(A), axis=0)])


def _repeated_columns(rng: Rng, A: np.ndarray) -> np.ndarray:
    return A[:, rng.integers(0, max(1, A.shape[1] // 2), A.shape[1])]


def _with(place: Callable[[Rng, np.ndarray], Any], value: float) -> Callable[[Rng, np.ndarray], np.ndarray]:
    def changed(rng: Rng, A: np.ndarray) -> np.ndarray:
        A = A.copy()
        A[place(rng, A)] = value
        return A

    return changed


def _row(rng: Rng, A: np.ndarray) -> tuple:
    return (int(rng.integers(len(A))), slice(None))


def _column(rng: Rng, A: np.ndarray) -> tuple:
    return (slice(None), int(rng.integers(A.shape[1])))


def _cell(rng: Rng, A: np.ndarray) -> tuple:
    return (0, int(rng.integers(A.shape[1])))


SCALES = (1e-300, 1e-200, 1e-150, 1e-100, 1e-30, 1e-22, 1e-15, 1e15, 1e18, 3.4e38, 1e100, 1e150, 1e160, 1.7e308)
# name -> values made from a plain matrix
VALUES: dict[str, Callable[[Rng, np.ndarray], np.ndarray]] = {
    "plain": lambda rng, A: A,
    **{f"{factor:g}": _scaled(factor) for factor in SCALES},
    "columns of all scales": lambda rng, A: A * np.geomspace(1e-200, 1.0, A.shape[1]),
    "one small cell": _with(_cell, 1e-300),
    "one large cell": _with(_cell, 1e12),
    "one subnormal cell": _with(_cell, 5e-324),
    "one large column": lambda rng, A: A * np.where(np.arange(A.shape[1]) == 0, 1e120, 1.0),
    "far from the origin": lambda rng, A: A + 1e9,
    "two far groups": lambda rng, A: A + np.where(np.arange(len(A)) % 2, 1e3, 0.0)[:, None],
    "zeros": lambda rng, A: np.zeros_like(A),
    "constant": lambda rng, A: np.full_like(A, 0.1),
    "constant columns": lambda rng, A: np.repeat(A[:1], len(A), axis=0),
    "repeated rows": _repeated_rows,
    "one row differs": _one_row_differs,
    "a row of zeros": _with(_row, 0.0),
    "a column of zeros": _with(_column, 0.0),
    "one column varies": _one_column_varies,
    "repeated columns": _repeated_columns,
    "one direction": lambda rng, A: np.outer(A[:, 0], A[0]),
    "whole numbers": lambda rng, A: np.round(3 * A),
    "counts": lambda rng, A: rng.poisson(1.0, A.shape).astype(float),
    "zeros and ones": lambda rng, A: (A > np.median(A)).astype(float),
    "mostly zeros": lambda rng, A: np.where(rng.random(A.shape) < 0.8, 0.0, A),
}


def _as(dtype: str) -> Callable[[np.ndarray], RowCase]:
    def stored(A: np.ndarray) -> RowCase:
        kind = np.dtype(dtype).kind
        if kind in "iu":
            ends = np.iinfo(dtype)
            A = np.round(np.clip(4 * A, max(ends.min, -(2**40)), min(ends.max, 2**40)))
        elif kind == "b":
            A = A > np.median(A)
        with np.errstate(over="ignore"):
            X = A.astype(dtype)
        wide = np.asarray(X, dtype=np.float32 if dtype == "float32" else np.float64)
        return RowCase(X, wide if np.isfinite(wide).all() else None)

    return stored


def _equal(change: Callable[[np.ndarray], Any]) -> Callable[[np.ndarray], RowCase]:
    return lambda A: RowCase(change(A), A)


def _refused(change: Callable[[np.ndarray], Any]) -> Callable[[np.ndarray], RowCase]:
    return lambda A: RowCase(change(A), None)


def _strided(A: np.ndarray) -> np.ndarray:
    wide = np.full((2 * len(A), 3 * A.shape[1]), np.nan)
    wide[::2, ::3] = A
    return wide[::2, ::3]


def _read_only(A: np.ndarray) -> np.ndarray:
    A = A.copy()
    A.setflags(write=False)
    return A


def _memory_map(A: np.ndarray) -> np.ndarray:
    with tempfile.TemporaryDirectory() as folder:  # the mapping outlives the name of its file
        np.save(Path(folder) / "X.npy", A)
        return np.load(Path(folder) / "X.npy", mmap_mode="r")


def _unsorted(A: np.ndarray) -> sp.csr_array:
    X = sp.csr_array(A)
    for start, end in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        X.indices[start:end], X.data[start:end] = X.indices[start:end][::-1].copy(), X.data[start:end][::-1].copy()
    X.has_sorted_indices = False
    return X


def _in_parts(A: np.ndarray) -> sp.csr_array:
    """Every entry as two equal halves, side by side."""
    X = sp.csr_array(A)
    return sp.csr_array((np.repeat(X.data, 2) / 2, np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape)


def _long_indices(A: np.ndarray) -> sp.csr_array:
    X = sp.csr_array(A)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def _read_only_csr(A: np.ndarray) -> sp.csr_array:
    X = sp.csr_array(A)
    for part in (X.data, X.indices, X.indptr):
        part.setflags(write=False)
    return X


def _damaged(part: str, change: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray], RowCase]:
    """CSR with one array damaged after it was made, which SciPy does not look at again."""

    def made(A: np.ndarray) -> RowCase:
        X = sp.csr_array(np.where(A == 0, 1.0, A))
        setattr(X, part, change(getattr(X, part).copy()))
        return RowCase(X, None)

    return made


def _set(place: int, value: int) -> Callable[[np.ndarray], np.ndarray]:
    def changed(indices: np.ndarray) -> np.ndarray:
        indices[place] = value
        return indices

    return changed


def _names(A: np.ndarray) -> list[str]:
    return [f"feature {j}" for j in range(A.shape[1])]


def _frame(A: np.ndarray, columns: list | None = None, **options: Any) -> pd.DataFrame:
    return pd.DataFrame(A, columns=_names(A) if columns is None else columns, **options)


def _frame_of_many_types(A: np.ndarray) -> RowCase:
    frame = _frame(A).astype({"feature 0": np.float32})
    frame["feature 0"] = np.sign(frame["feature 0"]).astype(np.int8)
    frame["flag"] = A[:, 0] > 0
    return RowCase(frame, frame.to_numpy(dtype=np.float64))


def _frame_with(value: Any, dtype: str) -> Callable[[np.ndarray], RowCase]:
    def made(A: np.ndarray) -> RowCase:
        frame = _frame(A).astype(dtype)
        frame.iloc[0, 0] = value
        return RowCase(frame, None)

    return made


def _named(first: Any) -> Callable[[np.ndarray], pd.DataFrame]:
    return lambda A: _frame(A, [first, *_names(A)[1:]])


def _cell_is(value: Any) -> Callable[[np.ndarray], np.ndarray]:
    def changed(A: np.ndarray) -> np.ndarray:
        A = A.astype(object if not isinstance(value, float | complex) else type(value))
        A[0, -1] = value
        return A

    return changed


def _masked(A: np.ndarray) -> np.ma.MaskedArray:
    mask = np.zeros(A.shape, dtype=bool)
    mask[0, 0] = True
    return np.ma.masked_array(A, mask)


# name -> the matrix stored so; one that must be refused stands for no matrix
STORAGES: dict[str, Callable[[np.ndarray], RowCase]] = {
    "array": _equal(lambda A: A),
    **{name: _as(name) for name in ("float32", "float16", "int64", "int8", "uint8", "bool")},
    "long double": _equal(lambda A: A.astype(np.longdouble)),
    "objects": _equal(lambda A: A.astype(object)),
    "text of numbers": _equal(lambda A: np.array([[repr(float(v)) for v in row] for row in A])),
    "list of lists": _equal(lambda A: A.tolist()),
    "Fortran order": _equal(np.asfortranarray),
    "negative strides": _equal(lambda A: np.ascontiguousarray(A[::-1, ::-1])[::-1, ::-1]),
    "every second row": _equal(_strided),
    "byte-swapped": _equal(lambda A: A.astype(A.dtype.newbyteorder())),
    "read-only": _equal(_read_only),
    "memory map": _equal(_memory_map),
    "csr": _equal(sp.csr_array),
    "csr matrix": _equal(sp.csr_matrix),
    "csr of float32": lambda A: RowCase(sp.csr_array(_as("float32")(A).X), _as("float32")(A).matrix),
    "csr of int8": lambda A: RowCase(sp.csr_array(_as("int8")(A).X), _as("int8")(A).matrix),
    "csr of bool": lambda A: RowCase(sp.csr_array(_as("bool")(A).X), _as("bool")(A).matrix),
    "csr unsorted": _equal(_unsorted),
    "csr in parts": _equal(_in_parts),
    "csr of int64 indices": _equal(_long_indices),
    "csr read-only": _equal(_read_only_csr),
    "csc": _equal(sp.csc_array),
    "coo": _equal(sp.coo_array),
    "lil": _equal(sp.lil_array),
    "bsr": _equal(sp.bsr_array),
    "csr, a column beyond the last": _damaged("indices", _set(0, 10**6)),
    "csr, a negative column": _damaged("indices", _set(-1, -3)),
    "csr, rows that overlap": _damaged("indptr", lambda p: np.concatenate([p[:1], p[2:3], p[1:2], p[3:]])),
    "csr, too few values": _damaged("data", lambda data: data[:-1]),
    "csr, rows beyond the end": _damaged("indptr", _set(-1, 10**6)),
    "csr with NaN": _refused(lambda A: sp.csr_array(_cell_is(np.nan)(A))),
    "table": _equal(_frame),
    "table of float32": lambda A: RowCase(_frame(_as("float32")(A).X), _as("float32")(A).matrix),
    "table of many types": _frame_of_many_types,
    "table of objects": _equal(lambda A: _frame(A.astype(object))),
    "table of nullable floats": _equal(lambda A: _frame(A).astype("Float64")),
    "table of Arrow floats": _equal(lambda A: _frame(A).astype("float64[pyarrow]")),
    "table of sparse columns": _equal(lambda A: pd.DataFrame.sparse.from_spmatrix(sp.csr_matrix(A), columns=_names(A))),
    "table with its own index": _equal(lambda A: _frame(A, index=np.arange(len(A))[::-1] * 7)),
    "table without names": _equal(pd.DataFrame),
    "table of hostile names": _equal(lambda A: _frame(A, [f"{{{{ {j} }}}}<b>\n標" for j in range(A.shape[1])])),
    "table of equal names": _equal(lambda A: _frame(A, ["same"] * A.shape[1])),
    "table of text and number names": _equal(_named(7)),
    "table of levels of names": _equal(lambda A: _frame(A, pd.MultiIndex.from_product([["a"], _names(A)]))),
    "table with NA": _frame_with(pd.NA, "Float64"),
    "table with None": _frame_with(None, "object"),
    "table of text": _refused(lambda A: _frame(A).assign(**{"feature 0": "word"})),
    "table of categories": _refused(lambda A: _frame(A).assign(**{"feature 0": pd.Categorical(["word"] * len(A))})),
    "table of dates": _refused(lambda A: _frame(A).assign(**{"feature 0": pd.Timestamp("2024-02-03")})),
    "series": _refused(lambda A: pd.Series(A[:, 0])),
    "masked": _refused(_masked),
    "NaN": _refused(_cell_is(np.nan)),
    "infinity": _refused(_cell_is(np.inf)),
    "None": _refused(_cell_is(None)),
    "an integer of 400 digits": _refused(_cell_is(10**400)),
    "text": _refused(_cell_is("word")),
    "a list in a cell": _refused(_cell_is({1, 2})),
    "complex": _refused(_cell_is(1j)),
    "records": _refused(lambda A: np.zeros(len(A), dtype=[("a", float), ("b", float)])),
    "bytes": _refused(lambda A: np.full(A.shape, b"ab")),
    "one axis": _refused(lambda A: A[:, 0]),
    "three axes": _refused(lambda A: A[:, :, None]),
    "one number": _refused(lambda A: np.float64(3.0)),
    "no rows": _refused(lambda A: A[:0]),
    "no columns": _refused(lambda A: A[:, :0]),
    "csr without columns": _refused(lambda A: sp.csr_array((len(A), 0))),
    "rows of different lengths": _refused(lambda A: [[1.0, *A[0]], *A[1:].tolist()]),
    "nothing": _refused(lambda A: None),
    "a word": _refused(lambda A: "word"),
    "a dictionary": _refused(lambda A: {"a": A}),
    "a generator": _refused(lambda A: (row for row in A)),
}
ACCEPTABLE = [
    name for name, stored in STORAGES.items() if stored(np.array([[1.0, 2.0], [0.5, 3.0]])).matrix is not None
]
REFUSED = [name for name in STORAGES if name not in ACCEPTABLE]


def matrix(values: str, n: int, d: int, seed: int) -> np.ndarray:
    """n x d values of a kind, float64."""
    rng = np.random.default_rng(seed)
    return np.ascontiguousarray(VALUES[values](rng, strategies.features_dense(n, d, seed)))
