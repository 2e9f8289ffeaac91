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
from proxembed.data.errors import DataError
from proxembed.data.readers.arff_header import Attribute
from proxembed.data.readers.columns import Columns, resolve
from proxembed.data.readers.label_arrays import labels_beside
from proxembed.data.readers.table_labels import FrameFile
from proxembed.tables.notes import shorten


def fetch_openml_dataset(
    name: str | int,
    version: int | None = None,
    labels: str | Sequence[str] | None = None,
    *,
    targets: str | Sequence[str] = (),
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
        Names of the label columns, or patterns with ``*`` and ``?``; None takes the default target of the data set,
        unless there are ``targets``.
    targets : str or sequence of str
        Names or patterns of columns of numbers to predict. A default target that holds fractions is one, too.
    drop : str or sequence of str
        Names or patterns of columns to leave out.
    data_home : str or Path, optional
        Folder of the cache; None takes scikit-learn's.
    target_type : {"classes", "labels"}, optional
        See ``Columns``.

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
    bunch = _fetched(name, version, data_home, place)
    columns = list(bunch.feature_names)
    if labels is None and not targets:
        labels, targets = _default_target(bunch, columns, place)
    wanted = Columns(labels=labels or (), targets=targets, drop=drop, target_type=target_type)
    roles = resolve(wanted, columns, place)
    if not roles.features:
        raise DataError.at(place, None, "no feature column is left", "name fewer columns as labels or to drop")
    used = {name: _cells(bunch, name) for name in columns if name in roles.labels or name in roles.targets}
    found = labels_beside(FrameFile(used, place, missing=()), roles, target_type)
    X, names = _features(bunch, roles.features, place)
    licence = _licence(bunch.details)
    more: dict[str, Any] = {"licence": licence, "unknown": found.unknown, "values": found.values}
    more["outputs"] = found.outputs
    return with_spelling_notes(Dataset(X, found.Y, names, found.names, bunch.details["name"], **more))


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


def _default_target(bunch: Any, columns: list[str], place: str) -> tuple[list[str], list[str]]:
    """The label columns and the columns of numbers of the default target: those that hold fractions."""
    target = bunch.details.get("default_target_attribute") or ""
    named = [target] if target in columns else [part.strip() for part in target.split(",") if part.strip()]
    if not named or not set(named) <= set(columns):
        reason = f"its default target {shorten(target)} is not a column" if named else "it has no default target"
        raise DataError.at(place, None, reason, "name the label columns with labels=[...]")
    given = [column for column in columns if column in named]
    numbers = [column for column in given if _holds_fractions(bunch, column)]
    return [column for column in given if column not in numbers], numbers


def _licence(details: Mapping[str, Any]) -> str:
    def stated(key: str) -> str:
        value = details.get(key) or "not stated"
        return " ".join((value if isinstance(value, str) else ", ".join(map(str, value))).split())

    citation = stated("citation" if details.get("citation") else "creator")
    return f"OpenML {details['name']}, version {details['version']}; licence: {stated('licence')}; cite: {citation}"


def _features(bunch: Any, features: Sequence[str], place: str) -> tuple[Matrix, list[str]]:
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
            reason = f"feature column {shorten(name)} lacks values"
            raise DataError.at(place, None, reason, f"leave it out: drop=[{name!r}]")
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


def _holds_fractions(bunch: Any, name: str) -> bool:
    """Whether a column holds a number that is not whole."""
    column = bunch.data[:, [bunch.feature_names.index(name)]]
    values = column.data if sparse.issparse(column) else column
    return name not in bunch.categories and bool((values % 1 > 0).any())


def _cells(bunch: Any, name: str) -> list[Any]:
    """Cells of a column: the values that the codes of a nominal one stand for."""
    column = bunch.data[:, [bunch.feature_names.index(name)]]
    codes = (column.toarray() if sparse.issparse(column) else column).ravel().tolist()
    values = bunch.categories.get(name)
    return codes if values is None else [None if code != code else values[int(code)] for code in codes]
