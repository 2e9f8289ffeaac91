"""Data of the DEFC experiment in random training, validation and test parts, sizes as in the paper.  [mu2012defc]

Three sets of the paper, and a Swiss roll of our own: its noise of 2 lets one nearest neighbour of 400 rows be right in
some 84.5 % of the cases, as it is on the roll of the paper, whose formula is not given. The Reuters documents are
those with one label, in parts as large as the paper's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from papers.groups import row_groups
from proxembed.data import Dataset, read, swiss_roll
from proxembed.data.synthetic import ROLL_ANGLES
from proxembed.features.scaling import scaling_apply, scaling_fit

ROLL = "Swiss roll"
ROLL_NOISE, QUARTERS = 2.0, 4
DOCUMENTS = 2  # the stream of the seed that draws them


@dataclass(frozen=True)
class Source:
    """A data set, the sizes of its parts and the largest k; ``file`` is None for what is made.

    With ``classes`` it holds documents: those of the ``classes`` largest labels that have one label alone, as
    tf-idf vectors whose document frequencies are those of the training part.
    """

    name: str
    file: str | None
    sizes: tuple[int, int, int]
    largest: int
    classes: int | None = None

    def read(self, folder: Path) -> Dataset | None:
        """The data set of its file."""
        return None if self.file is None else read(folder / f"{self.file}.npz")


REUTERS = Source("Reuters", "reuters", (500, 1230, 1229), 100, classes=11)
SOURCES = (
    Source("satimage", "satimage", (489, 3946, 2000), 100),
    Source("dna", "dna", (497, 1503, 1186), 100),
    Source("banana", "banana", (400, 2000, 2900), 2),
    Source(ROLL, None, (400, 2400, 2800), 2),
    REUTERS,
)


@dataclass(frozen=True)
class Parts:
    """Rows (arrays, or sparse ones of documents) and classes (codes from 0) of the training, validation and test parts,
    and the groups of the test rows (``papers.groups``).

    Examples
    --------
    >>> import numpy as np
    >>> from papers.defc.parts import Parts
    >>> X, y = np.zeros((5, 1)), np.arange(5)
    >>> mixed = Parts(X, y, X, y, X, y, y).permuted(1)
    >>> mixed.y.tolist(), mixed.y_test.tolist()
    ([4, 0, 1, 2, 3], [0, 1, 2, 3, 4])
    """

    X: Any
    y: np.ndarray
    X_val: Any
    y_val: np.ndarray
    X_test: Any
    y_test: np.ndarray
    test_groups: np.ndarray

    def permuted(self, seed: int) -> Parts:
        """The same rows with the classes of the training and validation parts in random order; those of the test part
        stay."""
        rng = np.random.default_rng(seed)
        return replace(self, y=rng.permutation(self.y), y_val=rng.permutation(self.y_val))


def random_parts(source: Source, dataset: Dataset | None, seed: int, rows: tuple[int, int, int] | None = None) -> Parts:
    """Random parts of a source; where it has a test part of its own, that is the test part of every draw.

    Parameters
    ----------
    source : Source
    dataset : Dataset or None
        What the source has read.
    seed : int
    rows : tuple of three int, optional
        Sizes instead of those of the source: the first rows of each part.
    """
    X, y, test, numbers = _rows(source, dataset, seed)
    train, validation, tested = source.sizes
    rng = np.random.default_rng(seed)
    pool = rng.permutation(np.setdiff1d(np.arange(len(y)), test))
    held = rng.permutation(test) if len(test) else pool[train + validation :]
    if len(pool) < train + validation or len(held) != tested:
        raise ValueError(
            f"{source.name} has {len(pool)} rows to draw from and {len(held)} to test; {train} + {validation} and "
            f"{tested} are needed. Name the folder that holds the whole file."
        )
    whole, sizes = (pool[:train], pool[train : train + validation], held), rows or source.sizes
    parts = [part[:size] for part, size in zip(whole, sizes, strict=True)]
    cut = [X[part] for part in parts]
    if source.classes is not None:
        state = scaling_fit("tfidf", cut[0])
        cut = [scaling_apply(state, X_part) for X_part in cut]
    groups = row_groups(len(numbers) if dataset is None else dataset.X.shape[0], numbers[parts[2]])
    return Parts(*(values for X_part, part in zip(cut, parts, strict=True) for values in (X_part, y[part])), groups)


def documents(dataset: Dataset, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows with one label alone, of the labels that have the most of these, and their classes.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.data import Dataset
    >>> from papers.defc.parts import documents
    >>> Y = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1], [0, 1, 0], [0, 0, 1], [0, 0, 1]])
    >>> [each.tolist() for each in documents(Dataset(np.eye(7), Y), 2)]
    [[1, 3, 4, 5, 6], [1, 0, 1, 0, 0]]
    """
    Y = np.asarray(dataset.Y.toarray()).astype(np.int64)
    Y = np.where((Y.sum(axis=1) == 1)[:, None], Y, 0)
    Y = Y[:, np.argsort(-Y.sum(axis=0), kind="stable")[:classes]]
    rows = np.flatnonzero(Y.any(axis=1))
    return rows, Y[rows].argmax(axis=1)


def _rows(source: Source, dataset: Dataset | None, seed: int) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
    """All rows (of documents as many as are needed), their classes, the rows of a test part of the source's own, and
    the number of each row in the data set."""
    if dataset is None:
        n = sum(source.sizes)
        return *quartered_roll(n, seed), np.empty(0, dtype=int), np.arange(n)
    if source.classes is not None:
        features: Any = dataset.X
        rows, y = documents(dataset, source.classes)
        drawn = np.random.default_rng((seed, DOCUMENTS)).permutation(len(rows))[: sum(source.sizes)]
        return features[rows[drawn]], y[drawn], np.empty(0, dtype=int), rows[drawn]
    y = np.asarray(dataset.Y.toarray().argmax(axis=1))
    test = np.empty(0, dtype=int) if dataset.test_idx is None else dataset.test_idx
    return np.asarray(dataset.X, dtype=np.float64), y, test, np.arange(len(y))


def quartered_roll(n: int, seed: int, noise: float = ROLL_NOISE) -> tuple[np.ndarray, np.ndarray]:
    """A Swiss roll in space whose classes are the quarters of its angle.

    Parameters
    ----------
    n, seed : int
    noise : float, default=2.0
        Standard deviation in each of the three directions; the classes are those of the points without it.

    Returns
    -------
    X : array of shape (n, 3)
    y : array of shape (n,), 0 (inmost) to 3

    Examples
    --------
    >>> from papers.defc.parts import quartered_roll
    >>> X, y = quartered_roll(1000, seed=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((1000, 3), [0, 1, 2, 3])
    """
    still: np.ndarray = np.asarray(swiss_roll(n, seed, 0.0).X)
    angle = np.hypot(still[:, 0], still[:, 2])  # the radius of the spiral is its angle
    start, stop = ROLL_ANGLES
    quarter = np.floor((angle - start) / (stop - start) * QUARTERS).astype(int)
    return np.asarray(swiss_roll(n, seed, noise).X), np.clip(quarter, 0, QUARTERS - 1)
