"""Data that need no file: scikit-learn's bundled digits with true attributes of every digit."""

from __future__ import annotations

import numpy as np

from proxembed.data.dataset import Dataset

ATTRIBUTES = {
    "even": (0, 2, 4, 6, 8),
    "prime": (2, 3, 5, 7),
    "at least five": (5, 6, 7, 8, 9),
    "has a loop": (0, 6, 8, 9),
    "square": (0, 1, 4, 9),
    "multiple of three": (0, 3, 6, 9),
    "Fibonacci": (0, 1, 2, 3, 5, 8),
}


def digits() -> Dataset:
    """Handwritten digits (1,797 images of 8 x 8 pixels) with seven true attributes of the digit as labels.

    The labels follow from the digit alone, so that all are known and none is an opinion:

    ==================  ======================================================================================
    even                0 2 4 6 8
    prime               2 3 5 7
    at least five       5 6 7 8 9
    has a loop          0 6 8 9: always drawn with a closed loop (4 is left out: closed in some hands only)
    square              0 1 4 9: the square of a whole number
    multiple of three   0 3 6 9
    Fibonacci           0 1 2 3 5 8: a member of the Fibonacci sequence
    ==================  ======================================================================================

    No label is constant, no two are alike, and every digit has a label set of its own.

    Returns
    -------
    Dataset
        X of shape (1797, 64) with grey values from 0 to 16 (features ``pixel_row_column``), Y of shape (1797, 7);
        the same rows in the same order on every call.

    Examples
    --------
    >>> from proxembed.data import digits
    >>> data = digits()
    >>> data.X.shape, data.label_names[:3]
    ((1797, 64), ('even', 'prime', 'at least five'))
    >>> data.Y.toarray()[3].tolist()  # the fourth image is a three: prime, multiple of three, Fibonacci
    [0, 1, 0, 0, 0, 1, 1]
    """
    from sklearn.datasets import load_digits  # costs over a second to import: only where it is used

    bundle = load_digits()
    holds = np.zeros((10, len(ATTRIBUTES)), dtype=np.uint8)
    for column, members in enumerate(ATTRIBUTES.values()):
        holds[list(members), column] = 1
    licence = "UCI Optical Recognition of Handwritten Digits (E. Alpaydin, C. Kaynak), CC BY 4.0"
    labels = tuple(ATTRIBUTES)
    return Dataset(bundle.data, holds[bundle.target], bundle.feature_names, labels, "digits", licence=licence)
