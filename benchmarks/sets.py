"""The data sets of the benchmark by name, and where each comes from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from proxembed.data import DataError, Dataset, digits, fetch_openml_dataset, read

FILE, BUNDLED, OPENML = "file", "scikit-learn", "OpenML"


class Unavailable(ValueError):
    """A data set that cannot be read here; the message says why."""


@dataclass(frozen=True)
class Source:
    """Where a data set comes from.

    Parameters
    ----------
    kind : {"file", "scikit-learn", "OpenML"}
    read : callable
        Returns the data set, given the folder of the data files (or None).
    number : int, optional
        The id on OpenML.
    """

    kind: str
    read: Callable[[Path | None], Dataset]
    number: int | None = None


def file_of(name: str, folder: Path | None) -> Path:
    """The file NAME.npz in the folder of the data files; Unavailable if it is missing."""
    if folder is None:
        raise Unavailable(f"{name}: no folder of data files is named; give --data DIR, or set PROXEMBED_DATA.")
    if not (folder / f"{name}.npz").is_file():
        raise Unavailable(f"{name}: {folder} has no {name}.npz.")
    return folder / f"{name}.npz"


def _of_file(name: str) -> Source:
    """A file NAME.npz in the folder of the data files."""

    return Source(FILE, lambda folder: read(file_of(name, folder)))


def _of_outputs(name: str) -> Source:
    """A file NAME.npz in the same folder, whose Y holds numbers."""

    def found(folder: Path | None) -> Dataset:
        file = np.load(file_of(name, folder), allow_pickle=False)
        return Dataset.from_targets(file["X"].astype(np.float64), file["Y"], "real")

    return Source(FILE, found)


def _of_classes(loader: str) -> Source:
    """A set of one class per row that scikit-learn brings along."""

    def found(folder: Path | None) -> Dataset:
        import sklearn.datasets

        bunch = getattr(sklearn.datasets, loader)()
        names = [str(name) for name in bunch.target_names]
        return Dataset.from_classes(bunch.data, bunch.target, names, feature_names=list(bunch.feature_names))

    return Source(BUNDLED, found)


def _of_openml(name: str, number: int) -> Source:
    """A set of OpenML by its id, from the network or scikit-learn's cache."""

    def found(folder: Path | None) -> Dataset:
        try:
            return fetch_openml_dataset(number)
        except DataError as error:
            raise Unavailable(f"{name}: {error}") from error

    return Source(OPENML, found, number)


FILES = (
    "emotions", "birds", "scene", "yeast", "enron", "corel5k", "tmc2007-500", "reuters", "dna", "satimage",
)  # fmt: skip
NUMBERS = ("jura", "tecator", "enb", "wq", "atp1d")  # files whose outputs are numbers
ON_OPENML = {"genbase": 40591, "image": 40592, "langLog": 40593, "slashdot": 40596}
SETS: dict[str, Source] = {
    **{name: _of_file(name) for name in FILES},
    "digits": Source(BUNDLED, lambda folder: digits()),
    "wine": _of_classes("load_wine"),
    "breast-cancer": _of_classes("load_breast_cancer"),
    **{name: _of_outputs(name) for name in NUMBERS},
    **{name: _of_openml(name, number) for name, number in ON_OPENML.items()},
}


def read_set(name: str, folder: Path | None = None) -> Dataset:
    """The data set of a name, without a standard split.

    Parameters
    ----------
    name : str
    folder : Path, optional
        Folder of the data files.

    Raises
    ------
    Unavailable
        The file is missing, or OpenML cannot be reached.
    ValueError
        No set has the name.

    Examples
    --------
    >>> from benchmarks.sets import read_set
    >>> read_set("wine")
    Dataset(name='wine', n=178, d=13, labels=3)
    """
    if name not in SETS:
        raise ValueError(f"set {name!r} is unknown; the sets are {', '.join(SETS)}.")
    return replace(SETS[name].read(folder), name=name, train_idx=None, test_idx=None)
