"""New rows for a model: the feature matrix of a file in the columns of the training file; labels are not read."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.data.dataset import Dataset, Matrix
from proxembed.data.errors import DataError, shorten
from proxembed.data.readers import arff_rows, mulan, npy, npz, svmlight, table
from proxembed.data.readers.arff_header import read_header
from proxembed.data.readers.columns import required
from proxembed.data.readers.source import opened
from proxembed.data.readers.table_features import Feature
from proxembed.data.readers.table_file import open_table

SVMLIGHT = (".svm", ".svmlight", ".libsvm", ".txt", ".scale", ".t", ".tr", ".val")
SAME_COLUMNS = "give a file with the features that the model was fitted on, in their order"
Rows = tuple[Matrix, tuple[str, ...] | None]


def plain_source(data: Dataset, form: str) -> dict[str, Any]:
    """What `read_rows` must know of a training file that is no table: its format and feature names.

    Examples
    --------
    >>> from proxembed.data import Dataset
    >>> from proxembed.data.readers.new_rows import plain_source
    >>> plain_source(Dataset([[0.0, 1.0]], [[1]], feature_names=["hue", "size"]), "arff")
    {'format': 'arff', 'n_features': 2, 'names': ['hue', 'size']}
    >>> plain_source(Dataset([[0.0, 1.0]], [[1]]), "npz")
    {'format': 'npz', 'n_features': 2}
    """
    d = data.X.shape[1]
    source: dict[str, Any] = {"format": form, "n_features": d}
    if form == "svmlight":
        return {**source, "start": int(data.feature_names[0])}
    if data.feature_names != tuple(f"x{j}" for j in range(d)):
        source["names"] = list(data.feature_names)
    return source


def read_rows(path: str | Path, source: dict[str, Any]) -> Rows:
    """Features and ids of new rows, in the columns of a training file that was read before.

    Tables and ARFF are read by the names of the columns, in any order and beside others. The columns of .npz, .npy and
    svmlight files must be those of the training file, in their order. Labels may be there; they are not read.

    Parameters
    ----------
    path : str or Path
        A file of any format that `proxembed.data.read` takes; it need not be that of the training file.
    source : dict
        `Dataset.source` of the training file.

    Returns
    -------
    X : array or csr_array of shape (n, d)
    ids : tuple of str, or None where the training file had no id column or the new file has none

    Raises
    ------
    DataError
        Where the file lacks a feature, or holds a value that the training file did not.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from proxembed.data import Columns, read, read_rows
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> size = (folder / "old.csv").write_text("doc,x,kind,even\\na,1,red,0\\nb,2,blue,1\\nc,4,red,1\\nd,5,blue,0\\n")
    >>> data = read(folder / "old.csv", columns=Columns(labels=("even",), id="doc"))
    >>> size = (folder / "new.csv").write_text("kind,doc,x\\nblue,e,7\\n")
    >>> X, ids = read_rows(folder / "new.csv", data.source)
    >>> data.feature_names, X.tolist(), ids
    (('x', 'kind=blue', 'kind=red'), [[7.0, 1.0, 0.0]], ('e',))
    """
    path = Path(path)
    if path.is_dir():
        raise DataError.at(path, None, "this is a folder", "name one file in it")
    suffix = Path(re.sub(r"\.gz$", "", path.name, flags=re.IGNORECASE)).suffix.lower()
    if suffix in table.SUFFIXES:
        return _from_table(path, source)
    if suffix not in READERS:
        accepted = ", ".join((*table.SUFFIXES, *READERS))
        raise DataError.at(path, None, "the name tells no known format", f"accepted are {accepted}")
    X = READERS[suffix](path, source)
    d = _width(source)
    if d is not None and X.shape[1] != d:
        raise DataError.at(path, None, f"it has {X.shape[1]} features, not the {d} of the training file", SAME_COLUMNS)
    if not np.isfinite(X.data if sparse.issparse(X) else X).all():
        raise DataError.at(path, None, "it holds NaN or infinite features", "fill them in or drop their rows")
    return X, None


def _width(source: dict[str, Any]) -> int | None:
    if source.get("format") == "table":
        return sum(len(Feature.of(facts).names) for facts in source["features"])
    return source.get("n_features")


def _from_table(path: Path, source: dict[str, Any]) -> Rows:
    file = open_table(path)
    if source.get("format") == "table":
        features = tuple(Feature.of(facts) for facts in source["features"])
    elif "names" in source:
        features = tuple(Feature(name, "number") for name in source["names"])
    else:
        reason = "the training file did not name its features, so that columns cannot be found by name"
        raise DataError.at(path, None, reason, "give the new rows in the format of the training file")
    required([feature.name for feature in features], file.names, path, "the training file")
    for feature in features if file.typed else ():
        held = file.places[feature.name]
        if feature.kind in ("number", "vector") and held != feature.kind:
            reason = f"column {shorten(feature.name)} holds {held}, not a {feature.kind} a row as the training file did"
            raise DataError.at(path, None, reason, "give a file with columns of the same types")
    name = source.get("id") if source.get("id") in file.names else None
    kinds = {feature.name: feature.kind for feature in features}
    part = table.gather(file, kinds, {} if name is None else {name: ("",)})
    X, _ = table.matrices([part.features], features)
    return X, None if name is None else table.row_ids(part, name)


def _from_arff(path: Path, source: dict[str, Any]) -> Matrix:
    """The attributes that the training file had as features."""
    with opened(path) as stream:
        header = read_header(stream, path)
        raw, _ = arff_rows.read_rows(stream, header, path)
    raw = raw.tocsc() if sparse.issparse(raw) else raw
    every = np.arange(len(header.attributes))
    X, names = mulan.select(raw, header.attributes, every)
    wanted = source.get("names")
    if wanted is None and source.get("format") == "table":
        wanted = [name for facts in source["features"] for name in Feature.of(facts).names]
    if wanted is not None:
        required(wanted, names, path, "the training file")
        place = {name: j for j, name in enumerate(names)}
        X = X[:, [place[name] for name in wanted]]
    return X.tocsr() if sparse.issparse(X) else np.ascontiguousarray(X)


def _from_npz(path: Path, source: dict[str, Any]) -> Matrix:
    arrays = npz.load(path)
    if "X" in arrays:
        return _two_dimensional(arrays["X"], path)
    if not all(part in arrays for part in npz.CSR_PARTS):
        reason = "the archive holds no features (X, or data, indices, indptr, shape)"
        raise DataError.at(path, None, reason, npz.FORM)
    return npz.csr_of(arrays, path)


def _two_dimensional(X: Any, path: Path) -> Matrix:
    if X.ndim != 2 or X.dtype.kind not in "biuf" or 0 in X.shape:
        raise DataError.at(path, None, f"X has shape {X.shape} and type {X.dtype}", npz.FORM)
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


def _from_npy(path: Path, source: dict[str, Any]) -> Matrix:
    return _two_dimensional(npy.vectors(path), path)


def _from_svmlight(path: Path, source: dict[str, Any]) -> Matrix:
    """Features by their index; a file may stop short of the last ones."""
    X, start = sparse.csr_array(svmlight.load([path])[0]), source.get("start", 1)
    d = _width(source)
    if d is None:
        return X[:, start:]
    if X.shape[1] > start + d:
        reason = f"its largest feature index is {X.shape[1] - 1}, not {start + d - 1} as in the training file"
        raise DataError.at(path, None, reason, SAME_COLUMNS)
    X.resize(X.shape[0], start + d)
    return X[:, start:]


READERS: dict[str, Callable[[Path, dict[str, Any]], Matrix]] = {
    ".npz": _from_npz,
    ".npy": _from_npy,
    ".arff": _from_arff,
    **dict.fromkeys(SVMLIGHT, _from_svmlight),
}
