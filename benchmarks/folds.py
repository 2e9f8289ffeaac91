"""Stored folds: which rows and labels of a data set take part, in which fold each row is, and a hash of the data."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks import N_FOLDS, OUTPUTS, SPLITS, TRACKS
from proxembed.data import Dataset
from proxembed.execute.atomic_files import write_whole
from proxembed.splits.splits import stratified_folds

MOST_ROWS = 1000
LEAST = 20
SEED = 0
COLUMNS = ("row", "iterative", "random", "labelled")


@dataclass(frozen=True, eq=False)
class Folds:
    """The stored folds of one data set.

    Parameters
    ----------
    facts : dict
        ``hash`` of the whole data; numbers of its rows, features and labels or outputs; ``kept``, the labels that take
        part.
    rows : int array of shape (n,)
        Rows that take part, by number in the whole data.
    iterative, random : int arrays of shape (n,)
        The fold, from 1 to 5, in which each row is held out.
    labelled : int array of shape (n,)
        In the track "fifth", the fold in which each row keeps its labels, where it is trained on.
    """

    facts: dict
    rows: np.ndarray
    iterative: np.ndarray
    random: np.ndarray
    labelled: np.ndarray

    def sample(self, dataset: Dataset) -> Dataset:
        """The rows and labels, or outputs, that take part."""
        part = dataset.take(self.rows)
        if part.outputs is not None:
            return part
        kept = np.flatnonzero(np.isin(part.label_names, self.facts["kept"]))
        names = [part.label_names[j] for j in kept]
        return replace(part, Y=sp.csc_array(part.Y)[:, kept], label_names=names)

    def split(self, sample: Dataset, protocol: str, track: str, fold: int) -> Dataset:
        """The sample with the training and held-out rows of a fold; in the track "fifth" most labels are unknown."""
        fold_of = {"iterative": self.iterative, "random": self.random}[protocol]
        out = fold_of == fold
        unknown = None
        if track == "fifth":
            hidden = ~out & (self.labelled != fold)
            unknown = sp.csc_array(np.repeat(hidden[:, None], sample.Y.shape[1], axis=1))
            sample = replace(sample, Y=sp.csc_array(sample.Y.toarray() * ~hidden[:, None]))
        return replace(sample, unknown=unknown, train_idx=np.flatnonzero(~out), test_idx=np.flatnonzero(out))


def data_hash(dataset: Dataset) -> str:
    """SHA-256 of features and labels or outputs, the same for dense and sparse arrays of equal values.

    Examples
    --------
    >>> from benchmarks.folds import data_hash
    >>> from benchmarks.sets import read_set
    >>> data_hash(read_set("wine"))[:19]
    'sha256:f73ca5131785'
    """
    digest = hashlib.sha256()
    for values in (dataset.X, dataset.Y if dataset.outputs is None else dataset.outputs.raw):
        A = sp.csr_array(values, dtype=np.float64, copy=True)
        A.sum_duplicates()
        A.eliminate_zeros()
        digest.update(np.array(A.shape, dtype="<i8").tobytes())
        for part, kind in ((A.indptr, "<i8"), (A.indices, "<i8"), (A.data, "<f8")):
            digest.update(part.astype(kind).tobytes())
    digest.update("\n".join(dataset.label_names).encode())
    return f"sha256:{digest.hexdigest()}"


def make_folds(dataset: Dataset, most_rows: int = MOST_ROWS, least: int = LEAST) -> Folds:
    """Draw the rows that take part, and their folds.

    Parameters
    ----------
    dataset : Dataset
    most_rows : int, default=1000
        Rows that take part at most, drawn at random.
    least : int, default=20
        Labels with fewer rows, or fewer rows without it, in the sample are left out. Outputs all take part.

    Raises
    ------
    ValueError
        No label is left.

    Examples
    --------
    >>> from benchmarks.folds import make_folds
    >>> from benchmarks.sets import read_set
    >>> folds = make_folds(read_set("wine"))
    >>> len(folds.rows), sorted(set(folds.iterative.tolist())), folds.facts["kept"]
    (178, [1, 2, 3, 4, 5], ['class_0', 'class_1', 'class_2'])
    """
    rng = np.random.default_rng(SEED)
    (n, d), c = dataset.X.shape, dataset.targets.c
    rows = np.sort(rng.permutation(n)[:most_rows])
    facts = {"hash": data_hash(dataset), "rows": n, "features": d}
    last = {"licence": dataset.licence, "seed": SEED}
    if dataset.outputs is not None:
        F = dataset.outputs.raw[rows]
        facts |= {OUTPUTS: c, "sample": len(rows), **last}
        return Folds(facts, rows, _balanced(F, SEED), _at_random(len(rows), rng), _balanced(F, SEED + 1))
    Y = sp.csr_array(dataset.Y)[rows].toarray()
    positive = Y.sum(axis=0, dtype=np.int64)
    kept = np.flatnonzero((positive >= least) & (len(rows) - positive >= least))
    if len(kept) == 0:
        raise ValueError(f"{dataset.name} has no label with {least} rows and {least} others among {len(rows)} rows.")
    Y = Y[:, kept]
    random = _at_random(len(rows), rng)
    facts |= {
        "labels": c,
        "kept": [str(dataset.label_names[j]) for j in kept],
        "sample": len(rows),
        "labels_per_row": round(float(Y.sum() / len(rows)), 3),
        **last,
    }
    return Folds(facts, rows, _stratified(Y, SEED), random, _stratified(Y, SEED + 1))


def _at_random(n: int, rng: np.random.Generator) -> np.ndarray:
    """The fold of each row, from 1."""
    found = np.empty(n, dtype=int)
    found[rng.permutation(n)] = np.arange(n) % N_FOLDS + 1
    return found


def _balanced(F: np.ndarray, seed: int) -> np.ndarray:
    """The fold of each row, from 1, where outputs are numbers: of every five rows that follow each other along the
    first principal component of the standardised outputs, one is in each fold."""
    rng, varies = np.random.default_rng(seed), F.std(axis=0) > 0
    Z = (F[:, varies] - F[:, varies].mean(axis=0)) / F[:, varies].std(axis=0)
    order = np.argsort(Z @ np.linalg.svd(Z, full_matrices=False)[2][0], kind="stable")
    found = np.empty(len(F), dtype=int)
    for start in range(0, len(F), N_FOLDS):
        block = order[start : start + N_FOLDS]
        found[block] = rng.permutation(N_FOLDS)[: len(block)] + 1
    return found


def _stratified(Y: np.ndarray, seed: int) -> np.ndarray:
    """The fold of each row, from 1."""
    found = np.empty(len(Y), dtype=int)
    for split in stratified_folds(Y, N_FOLDS, seed=seed):
        found[split.held_out] = int(split.name)
    return found


def write_folds(name: str, folds: Folds, home: Path) -> None:
    """Write NAME.csv and NAME.json into the folder of the splits."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    table.writerows(
        zip(*(each.tolist() for each in (folds.rows, folds.iterative, folds.random, folds.labelled)), strict=True)
    )
    place = home / SPLITS
    place.mkdir(parents=True, exist_ok=True)
    write_whole(
        {
            place / f"{name}.csv": text.getvalue().encode(),
            place / f"{name}.json": (json.dumps(folds.facts, indent=1, ensure_ascii=False) + "\n").encode(),
        }
    )


def tracks_of(facts: dict) -> tuple[str, ...]:
    """The tracks of a set, from its stored facts: one of its own where outputs are numbers."""
    return (OUTPUTS,) if OUTPUTS in facts else tuple(track for track in TRACKS if track != OUTPUTS)


def check_tracks(sets: Sequence[str], tracks: Sequence[str], home: Path) -> None:
    """Raise a ValueError if a set has none of the tracks."""
    facts = stored_facts(home)
    for name in sets:
        own = tracks_of(facts[name])
        if not set(own) & set(tracks):
            words = f"--tracks {','.join(tracks)}: {name} takes {' and '.join(own)}"
            raise ValueError(f"{words}; name one of these, or leave {name} out of --sets.")


def stored_facts(home: Path) -> dict[str, dict]:
    """The facts of every set whose folds are stored."""
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in (home / SPLITS).glob("*.json")}


def read_folds(name: str, dataset: Dataset | None, home: Path) -> Folds:
    """The stored folds of a set.

    Parameters
    ----------
    name : str
    dataset : Dataset or None
        The whole data, which must be those that the folds were made of; None: not looked at.
    home : Path
        Folder of the benchmark.

    Raises
    ------
    ValueError
        No folds are stored, or they rest on other data.
    """
    path = home / SPLITS / f"{name}.csv"
    if not path.is_file():
        raise ValueError(f"{name} has no stored folds; make them by `python -m benchmarks splits {name}`.")
    facts = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    if dataset is not None and data_hash(dataset) != facts["hash"]:
        raise ValueError(
            f"{name} is another version of the data than its stored folds were made of (the hash differs); "
            "get that version, or give this one a name of its own in benchmarks/sets.py."
        )
    columns = np.loadtxt(path, delimiter=",", skiprows=1, dtype=int, unpack=True)
    return Folds(facts, *columns)
