"""AnnData files (.h5ad): read through `from_anndata`, and an embedding written back as an entry of ``obsm``."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from proxembed.data.dataset import Dataset
from proxembed.data.errors import DataError
from proxembed.data.readers.columns import Columns, required, resolve
from proxembed.data.readers.reader import PART, Labels, NamedRows, Reader, feature_names, source_by_name
from proxembed.data.unpacking import check_exists, most_unpacked, too_large
from proxembed.tables.notes import shorten

TAKEN = ("labels", "targets", "groups", "target_type")  # of Columns
OF_OBS = "obs:"  # which may stand before a name
EMBEDDING = "X_proxembed"


class AnnDataFile(Reader):
    """AnnData files: the variables of X are features, columns of ``obs`` hold labels and groups."""

    name = "h5ad"
    suffixes = (".h5ad",)
    accepts = ".h5ad (AnnData)"
    place = 2
    takes_columns = True

    def read(self, path: Path, test: Path | None, labels: Labels | None, columns: Columns) -> Dataset:
        from proxembed.data.anndata import from_anndata  # which imports this package

        if unfit := [field for field in columns.fields_set if field not in TAKEN]:
            reason = f"{', '.join(unfit)} was given, but of an .h5ad file only labels, targets and groups are named"
            raise DataError.at(path, None, reason, "leave it out")
        names = [labels] if isinstance(labels, str | Path) else labels or columns.labels
        adata = _adata(path)
        if not names and not columns.targets:
            held = ", ".join(map(shorten, adata.obs.columns[:12]))
            remedy = f"name one of them, such as labels={str(next(iter(adata.obs.columns), 'type'))!r}"
            raise DataError.at(path, None, f"no labels are named; its obs holds {held}", remedy)
        groups = columns.groups.removeprefix(OF_OBS) if isinstance(columns.groups, str) else None
        wanted = [str(name).removeprefix(OF_OBS) for name in names]
        targets = [name.removeprefix(OF_OBS) for name in columns.targets]
        options: dict[str, Any] = {"targets": targets, "groups": groups, "target_type": columns.target_type}
        if test is None:
            return replace(from_anndata(adata, wanted, **options), name=path.stem)
        asked = Columns(labels=wanted, targets=targets, groups=groups)
        roles = resolve(asked, [str(name) for name in adata.obs.columns], path)
        used = [*roles.labels, *roles.targets, *filter(None, [roles.groups])]
        both = _joined(adata, _adata(test), path, test, used)
        n, m = adata.n_obs, len(both.obs_names)
        split: dict[str, Any] = {"train_idx": np.arange(n), "test_idx": np.arange(n, m)}
        return replace(from_anndata(both, wanted, **options), name=PART.sub("", path.stem), **split)

    def read_rows(self, path: Path, source: dict[str, Any]) -> NamedRows:
        """The variables that the training file had as features, and the names of the observations."""
        adata = _adata(path)
        return _features(adata, feature_names(source), path), tuple(map(str, adata.obs_names))

    def source(self, data: Dataset) -> dict[str, Any]:
        return source_by_name(self.name, data)


def _features(adata: Any, wanted: Sequence[str] | None, path: Path) -> Any:
    """X of these variables; of all without names."""
    X: Any = adata.X
    if X is None:
        raise DataError.at(path, None, "its X is None", "store the features in X")
    if wanted is None:
        return X
    names = list(map(str, adata.var_names))
    required(wanted, names, path, "the training file")
    place = {name: j for j, name in enumerate(names)}
    return X[:, [place[name] for name in wanted]]


def _joined(train: Any, test: Any, path: Path, test_path: Path, columns: Sequence[str]) -> Any:
    """Training and then test observations, with these columns of ``obs`` and the variables of the training file."""
    names = list(map(str, train.var_names))
    required(columns, [str(name) for name in test.obs.columns], test_path, "obs of the training file")
    parts = [_features(train, None, path), _features(test, names, test_path)]
    stack = sparse.vstack if any(map(sparse.issparse, parts)) else np.vstack
    return SimpleNamespace(
        X=stack(parts),
        obs={name: [*train.obs[name], *test.obs[name]] for name in columns},
        var_names=names,
        obs_names=[*map(str, train.obs_names), *map(str, test.obs_names)],
    )


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """What h5py and anndata cannot read, as one error; without the warnings of anndata about pandas' own options."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except (OSError, KeyError, ValueError, TypeError, RuntimeError, AttributeError) as error:
        if isinstance(error, DataError):
            raise
        reason = f"it cannot be read as an AnnData file ({shorten(' '.join(str(error).split()), 120)})"
        raise DataError.at(path, None, reason, "fetch it again, or write it with write_h5ad") from error


def _adata(path: Path) -> Any:
    try:
        import anndata
        import h5py
    except ImportError as error:
        remedy = "install it (pip install 'proxembed[anndata]'), or write the file as Parquet"
        raise DataError.at(path, None, "AnnData files need anndata, which is not installed", remedy) from error
    check_exists(path)
    sizes: list[int] = []

    def add(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            sizes.append(int(np.prod(item.shape or (), dtype=object)) * item.dtype.itemsize)

    with _told(path):
        with h5py.File(path) as file:
            file.visititems(add)
        if sum(sizes) > most_unpacked():
            raise too_large(path, "its arrays", sum(sizes), most_unpacked(), "give fewer rows or sparse ones")
        return anndata.read_h5ad(path)


def write_embedding(source: Path, out: Path, Z: NDArray[np.floating]) -> None:
    """Write a copy of an .h5ad file to ``out``, with the rows of Z (n, k) as ``obsm["X_proxembed"]``."""
    import h5py
    from anndata.io import write_elem

    shutil.copyfile(source, out)
    with _told(source), h5py.File(out, "a") as file:
        write_elem(file.require_group("obsm"), EMBEDDING, Z)
