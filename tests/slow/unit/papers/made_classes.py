"""Generated rows of one class each under the names and sizes of the DEFC experiment's files."""

import numpy as np

from papers.defc.parts import SOURCES, Parts
from papers.groups import row_groups

FEATURES, CLASSES = 4, 3


def class_sets(folder, seed=0):
    """One file for each source that has one: blobs, and the test part of the sources that name one."""
    for source in SOURCES:
        if source.file is None:
            continue
        n, tested = sum(source.sizes), source.sizes[2]
        X, y = blobs(n, seed)
        split = (
            {}
            if source.name == "banana"
            else {"train_idx": np.arange(n - tested), "test_idx": np.arange(n - tested, n)}
        )
        np.savez(folder / f"{source.file}.npz", X=X, Y=y.astype(np.uint8), classes=np.arange(CLASSES), **split)


def blobs(n, seed=0):
    """Rows about the corners of a triangle that overlap."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, CLASSES, n)
    X = rng.normal(size=(n, FEATURES))
    X[:, :CLASSES] += 2.5 * np.eye(CLASSES)[y]
    return X, y


def small_parts(seed=0):
    """60 training, 80 validation and 80 test rows of the blobs."""
    X, y = blobs(220, seed)
    return Parts(X[:60], y[:60], X[60:140], y[60:140], X[140:], y[140:], row_groups(220, np.arange(140, 220)))
