"""AnnData as labelled data, and other objects with X, obs and var_names, perhaps also layers and obsm."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proxembed.data.dataset import Dataset, with_spelling_notes
from proxembed.data.errors import DataError
from proxembed.data.readers.columns import Columns, resolve
from proxembed.data.readers.label_arrays import labels_beside
from proxembed.data.readers.table_labels import FrameFile
from proxembed.tables.notes import shorten

NEEDED = ("obs", "var_names", "X")


def from_anndata(
    adata: Any,
    labels: str | Sequence[str] = (),
    layer: str | None = None,
    *,
    obsm: str | None = None,
    targets: str | Sequence[str] = (),
    groups: str | None = None,
    target_type: str | None = None,
) -> Dataset:
    """Data set of an AnnData-like object: features of its variables, labels of its observations.

    The package anndata is not needed: any object with ``obs`` (a DataFrame, or a mapping of columns), ``var_names`` and
    ``X`` will do, and ``layers`` or ``obsm`` where they are asked for.

    Parameters
    ----------
    adata : object
        n observations of d variables; X, a layer or an entry of obsm may be sparse, and stays so.
    labels : str or sequence of str
        Columns of ``obs`` (names, or patterns with ``*`` and ``?``): one column of classes (NaN: unknown), or any
        number of columns of 0 and 1, or False and True. None is needed beside ``targets``.
    layer : str, optional
        Layer to read the features from; None reads X.
    obsm : str, optional
        Entry of obsm to read the features from instead, such as ``"X_pca"``; they are named ``X_pca0``, ``X_pca1``, ...
    targets : str or sequence of str
        Columns of ``obs`` that hold numbers to predict, such as an age (NaN: unknown).
    groups : str, optional
        Column of ``obs`` whose rows of equal value are never parted by a split, such as the donor.
    target_type : {"classes", "labels"}, optional
        See ``Columns``.

    Returns
    -------
    Dataset
        With `obs_names` as `ids`, where there are any.

    Raises
    ------
    DataError
        Where adata lacks what is asked for, or columns hold what is not a label, number or group.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from proxembed.data import from_anndata
    >>> cells = SimpleNamespace(X=np.eye(3), obs={"type": ["B", "T", "B"]}, var_names=["g1", "g2", "g3"])
    >>> data = from_anndata(cells, labels="type")
    >>> data.label_names, data.feature_names, data.Y.toarray().tolist()
    (('B', 'T'), ('g1', 'g2', 'g3'), [[1, 0], [0, 1], [1, 0]])
    """
    place = f"the {type(adata).__name__} given"
    if lacking := [name for name in NEEDED if not hasattr(adata, name)]:
        raise DataError.at(
            place, None, f"it has no {lacking[0]}", "give an AnnData object, or one with obs, var_names and X"
        )
    X, names = _features(adata, layer, obsm, place)
    columns = [str(name) for name in getattr(adata.obs, "columns", adata.obs)]
    roles = resolve(Columns(labels=labels, targets=targets, groups=groups, target_type=target_type), columns, place)
    if not (roles.labels or roles.targets):
        raise DataError.at(place, None, "no column is named as a label", "name columns of obs as labels or as targets")
    used = {*roles.labels, *roles.targets, roles.groups}
    table = FrameFile({name: adata.obs[name] for name in columns if name in used}, place, missing=())
    found = labels_beside(table, roles, target_type)
    ids = getattr(adata, "obs_names", None)
    data = Dataset(
        X,
        found.Y,
        names,
        found.names,
        "anndata",
        unknown=found.unknown,
        ids=None if ids is None else tuple(map(str, ids)),
        groups=None if roles.groups is None else _codes(table, roles.groups),
        notes=found.notes,
        values=found.values,
        outputs=found.outputs,
    )
    return with_spelling_notes(data)


def _features(adata: Any, layer: str | None, obsm: str | None, place: str) -> tuple[Any, list[str]]:
    if layer is not None and obsm is not None:
        raise DataError(f"layer={layer!r} and obsm={obsm!r} both name features; give one of them.")
    if obsm is not None:
        X = _entry(adata, "obsm", obsm, place)
    else:
        X = adata.X if layer is None else _entry(adata, "layers", layer, place)
    if X is None:
        raise DataError.at(place, None, "its X is None", "name a layer or an entry of obsm")
    X = X.to_memory() if hasattr(X, "to_memory") else X.to_numpy() if hasattr(X, "to_numpy") else X
    names = [f"{obsm}{j}" for j in range(X.shape[1])] if obsm is not None else [str(name) for name in adata.var_names]
    return X, names


def _entry(adata: Any, where: str, key: str, place: str) -> Any:
    entries: Mapping[str, Any] = getattr(adata, where, None) or {}
    if key not in entries:
        known = ", ".join(map(str, entries)) or "none"
        raise DataError.at(place, None, f"{where} holds no {shorten(key)}", f"choose from: {shorten(known, 120)}")
    return entries[key]


def _codes(table: FrameFile, name: str) -> NDArray[np.intp]:
    cells = table.cells(name)
    if cells.first_empty is not None:
        raise table.fault(cells.first_empty, f"groups column {shorten(name)} is empty", "fill it in or drop the row")
    return cells.codes.astype(np.intp)
