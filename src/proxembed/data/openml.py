"""Data sets of OpenML by name, through scikit-learn's download and cache, with their licence and citation."""

from collections.abc import Mapping, Sequence
from http.client import HTTPException
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from proxembed.data.dataset import Dataset, Matrix, with_spelling_notes
from proxembed.data.errors import DataError, shorten
from proxembed.data.readers.arff_header import Attribute
from proxembed.data.readers.columns import Cells, Columns, resolve
from proxembed.data.readers.table_labels import LabelColumns, labels_in_memory


def fetch_openml_dataset(
    name: str | int,
    version: int | None = None,
    labels: str | Sequence[str] | None = None,
    *,
    drop: str | Sequence[str] = (),
    data_home: str | Path | None = None,
    target_type: str | None = None,
) -> Dataset:
    """Data set of OpenML by its name or id, fetched once and then read from scikit-learn's cache.

    A lone label column with other values than 0 and 1 (or FALSE and TRUE) is read as one class per row; an empty cell
    of a label column is unknown. A text column becomes one 0/1 column per value, named ``column=value``.
    Licence and citation stand in `Dataset.licence`, as OpenML states them.

    Parameters
    ----------
    name : str or int
        Name on OpenML, in capitals or not, or the id of one version.
    version : int, optional
        Version of the data set; None takes the oldest active one (with a warning where there are several). An id has
        none beside it.
    labels : str or sequence of str, optional
        Names of the label columns, or patterns with ``*`` and ``?``; None takes the default target of the data set.
    drop : str or sequence of str
        Names or patterns of columns to leave out.
    data_home : str or Path, optional
        Folder of the cache; None takes scikit-learn's.
    target_type : {"classes"}, optional
        As of ``Columns``.

    Returns
    -------
    Dataset
        X of shape (n, d), a `csr_array` where OpenML holds sparse ARFF; Y of shape (n, c).

    Raises
    ------
    DataError
        Where the set is not to be had, a name fits no column, or columns hold what is not a feature or label.

    Examples
    --------
    >>> from proxembed.data import fetch_openml_dataset
    >>> data = fetch_openml_dataset("emotions", version=3)  # doctest: +SKIP
    >>> data.X.shape, data.label_names[:2], data.licence  # doctest: +SKIP
    ((593, 72), ('amazed.suprised', 'happy.pleased'),
     'OpenML emotions, version 3; licence: Public; cite: http://ismir2008.ismir.net/papers/ISMIR2008_275.pdf')
    """
    place = f"OpenML data set {shorten(str(name))}"
    table, bunch = ColumnsInMemory(place), _fetched(name, version, data_home, place)
    columns = list(bunch.feature_names)
    wanted = _default_target(bunch.details, columns, table) if labels is None else labels
    roles = resolve(Columns(labels=wanted, drop=drop), columns, place)
    if not roles.features:
        raise table.fault(None, "no feature column is left", "name fewer columns as labels or to drop")
    found = table.labels({column: _cells(bunch, column) for column in roles.labels}, target_type)
    X, names = _features(bunch, roles.features, table)
    licence = _licence(bunch.details)
    more: dict[str, Any] = {"licence": licence, "unknown": found.unknown, "values": found.values}
    more["outputs"] = found.outputs
    return with_spelling_notes(Dataset(X, found.Y, names, found.names, bunch.details["name"], **more))


class ColumnsInMemory:
    """Columns in memory, for the rules that also read the label columns of table files."""

    def __init__(self, place: str) -> None:
        self.place = place

    def fault(self, row: int | None, reason: str, remedy: str) -> DataError:
        """An error at a row (counted from 0), or at the table as a whole."""
        return DataError.at(self.place, None, reason if row is None else f"row {row}: {reason}", remedy)

    def cells(self, column: Any) -> Cells:
        """A column (a Series, an array or a list) by its distinct values; None, NaN and NA are empty."""
        cells = Cells(missing=())
        code: dict[Any, int] = {}
        values = column.to_numpy(dtype=object, na_value=None) if hasattr(column, "to_numpy") else column
        values = np.asarray(values, dtype=object).tolist()
        codes = [code.setdefault(value, len(code)) if value == value else -1 for value in values]
        cells.add(np.array(codes, dtype=np.intp), list(code))
        return cells

    def labels(self, columns: Mapping[str, Any], target_type: str | None = None) -> LabelColumns:
        """Columns of 0 and 1 (FALSE and TRUE), or one column of classes; empty cells are unknown."""
        cells = {name: self.cells(column) for name, column in columns.items()}
        return labels_in_memory(self, cells, target_type)


def _fetched(name: str | int, version: int | None, data_home: str | Path | None, place: str) -> Any:
    from sklearn.datasets import fetch_openml  # costs over a second to import: only where it is used

    wanted = _wanted(name, version)
    try:  # as_frame=False needs no pandas; `categories` holds the values of nominal columns
        return fetch_openml(**wanted, data_home=data_home, target_column=None, as_frame=False, parser="liac-arff")
    except (OSError, HTTPException) as error:
        reason = f"it could not be fetched ({shorten(str(error), 120)})"
        raise DataError.at(
            place, None, reason, "check the network; a set fetched before is read from the cache"
        ) from error
    except (ValueError, KeyError) as error:
        if "STRING" in str(error):
            reason, remedy = "it holds columns of free text", "export it as CSV and read that with text= or drop="
            raise DataError.at(place, None, reason, remedy) from error
        reason = f"it could not be read ({shorten(' '.join(str(error).split()).removesuffix('.'), 200)})"
        raise DataError.at(
            place, None, reason, "check the name and the version on openml.org, or clear the cache"
        ) from error


def _wanted(name: Any, version: int | None) -> dict[str, Any]:
    """What scikit-learn is asked for: an id, or a name with its version."""
    if isinstance(name, int) and not isinstance(name, bool) and name > 0:
        if version is not None:
            raise DataError(f"version={version!r} is not allowed with the id {name} of one version; leave it out.")
        return {"data_id": name}
    if not isinstance(name, str) or not name.strip():
        raise DataError(f"name={name!r} is not the name or id of an OpenML data set; give for example name='emotions'.")
    return {"name": name, "version": "active" if version is None else version}


def _default_target(details: Mapping[str, Any], columns: list[str], table: ColumnsInMemory) -> list[str]:
    target = details.get("default_target_attribute") or ""
    targets = [target] if target in columns else [part.strip() for part in target.split(",") if part.strip()]
    if not targets or not set(targets) <= set(columns):
        reason = f"its default target {shorten(target)} is not a column" if targets else "it has no default target"
        raise table.fault(None, reason, "name the label columns with labels=[...]")
    return [column for column in columns if column in targets]


def _licence(details: Mapping[str, Any]) -> str:
    def stated(key: str) -> str:
        value = details.get(key) or "not stated"
        return " ".join((value if isinstance(value, str) else ", ".join(map(str, value))).split())

    citation = stated("citation" if details.get("citation") else "creator")
    return f"OpenML {details['name']}, version {details['version']}; licence: {stated('licence')}; cite: {citation}"


def _features(bunch: Any, features: Sequence[str], table: ColumnsInMemory) -> tuple[Matrix, list[str]]:
    """Feature columns as numbers; a nominal column of text as one 0/1 column per value, as the ARFF reader has it."""
    place_of = {name: j for j, name in enumerate(bunch.feature_names)}
    X = sparse.csc_array(bunch.data) if sparse.issparse(bunch.data) else bunch.data
    parts, names = [], []

    def plain(name: str) -> bool:
        """Whether the codes are the values themselves."""
        values = bunch.categories.get(name, ())
        return list(values) == [str(code) for code in range(len(values))]

    for as_it_is, group in groupby(features, key=plain):
        columns = list(group)
        part = X[:, [place_of[name] for name in columns]]
        if (holes := _missing(part)).any():
            name = columns[int(holes.argmax())]
            raise table.fault(None, f"feature column {shorten(name)} lacks values", f"leave it out: drop=[{name!r}]")
        if as_it_is:
            parts.append(part)
            names += columns
            continue
        for j, name in enumerate(columns):
            values = tuple(bunch.categories[name])
            nominal = Attribute(name, values)
            codes = part[:, [j]].toarray() if sparse.issparse(part) else part[:, [j]]
            if nominal.text:
                parts.append((codes == np.arange(len(values))).astype(np.float64))
                names += [f"{name}={value}" for value in values]
            else:
                numbers: Any = nominal.numbers
                parts.append(numbers[codes.astype(np.intp)])
                names.append(name)
    if not sparse.issparse(X):
        return np.hstack(parts), names
    stacked = sparse.hstack([sparse.csc_array(part) for part in parts], format="csr")
    stacked.eliminate_zeros()
    return stacked, names


def _missing(X: Matrix) -> NDArray[np.bool_]:
    """Whether a column holds NaN."""
    if not sparse.issparse(X):
        return np.isnan(X).any(axis=0)
    found = np.zeros(X.shape[1], dtype=bool)
    found[np.searchsorted(X.indptr, np.flatnonzero(np.isnan(X.data)), "right") - 1] = True
    return found


def _cells(bunch: Any, name: str) -> list[Any]:
    """Cells of a column: the values that the codes of a nominal one stand for."""
    column = bunch.data[:, [bunch.feature_names.index(name)]]
    codes = (column.toarray() if sparse.issparse(column) else column).ravel().tolist()
    values = bunch.categories.get(name)
    return codes if values is None else [None if code != code else values[int(code)] for code in codes]
