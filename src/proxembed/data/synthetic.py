"""Data that need no file: scikit-learn's digits with true attributes, and data drawn by formula (two crescents, a
rolled-up sheet, documents as counts of terms)."""

import math
from numbers import Integral, Real

import numpy as np
from scipy import sparse

from proxembed.data.dataset import Dataset

LICENCE = "made by a formula, free of rights"
RADIUS = 5.0
OWN_SHARE = 0.3
ROLL_ANGLES = 1.5 * math.pi, 4.5 * math.pi
ATTRIBUTES = {
    "even": (0, 2, 4, 6, 8),
    "prime": (2, 3, 5, 7),
    "at least five": (5, 6, 7, 8, 9),
    "has a loop": (0, 6, 8, 9),
    "square": (0, 1, 4, 9),
    "multiple of three": (0, 3, 6, 9),
    "Fibonacci": (0, 1, 2, 3, 5, 8),
}


def banana(n: int = 1000, seed: int = 0, noise: float = 1.0) -> Dataset:
    """Two interlocked crescents in the plane, one class each: classes that no line separates.

    Each class lies on 5/8 of a circle of radius 5 with Gaussian noise; the second crescent is the first turned by
    half a circle and moved into the mouth of the first. Half of the rows belong to each class, in random order.
    (The benchmark set of the same name is other data.)

    Parameters
    ----------
    n : int
        Rows, at least 2.
    seed : int
        Seed of the random draws; the same seed gives the same data.
    noise : float
        Standard deviation of the noise, from 0 up.

    Returns
    -------
    Dataset
        X of shape (n, 2), Y one-hot of shape (n, 2).

    Raises
    ------
    ValueError
        Where n, seed or noise is out of range.

    Examples
    --------
    >>> from proxembed.data import banana
    >>> data = banana(400, seed=0)
    >>> data.X.shape, data.label_names, data.Y.sum(axis=0).tolist()
    ((400, 2), ('upper', 'lower'), [200, 200])
    """
    rng = _generator(n, seed, noise)
    side = rng.permutation(np.arange(n) % 2)
    angle = math.pi * (rng.uniform(-0.125, 1.125, n) + side)
    X = RADIUS * np.column_stack([np.cos(angle), np.sin(angle)]) + noise * rng.standard_normal((n, 2))
    X[side == 1] += RADIUS * np.array([1.0, 0.1])
    return Dataset.from_classes(X, side, ["upper", "lower"], feature_names=["x", "y"], name="banana", licence=LICENCE)


def swiss_roll(n: int = 1000, seed: int = 0, noise: float = 0.0) -> Dataset:
    """A flat sheet rolled up in space, with three labels that are simple on the sheet and tangled in space.

    Points are spread evenly over a sheet of height 21 whose length is that of the spiral r = t from t = 1.5 pi to
    4.5 pi (about 90).
    The labels say where on the sheet a point lies: "outer" (second half of its length), "upper" (upper half of its
    height) and "middle" (the middle half of its length), so that rows have none to three labels.

    Parameters
    ----------
    n : int
        Rows, at least 2.
    seed : int
        Seed of the random draws; the same seed gives the same data.
    noise : float
        Standard deviation of Gaussian noise in space, from 0 up.

    Returns
    -------
    Dataset
        X of shape (n, 3), Y of shape (n, 3).

    Raises
    ------
    ValueError
        Where n, seed or noise is out of range.

    Examples
    --------
    >>> from proxembed.data import swiss_roll
    >>> data = swiss_roll(500, seed=0)
    >>> data.X.shape, data.label_names, data.describe()["label_sets"]
    ((500, 3), ('outer', 'upper', 'middle'), 8)
    """
    rng = _generator(n, seed, noise)
    along, height = rng.random((2, n))
    turn = np.linspace(*ROLL_ANGLES, 2001)
    length = (turn * np.sqrt(1 + turn**2) + np.arcsinh(turn)) / 2  # of the spiral, from its centre
    t = np.interp(length[0] + along * (length[-1] - length[0]), length, turn)
    X = np.column_stack([t * np.cos(t), 21 * height, t * np.sin(t)]) + noise * rng.standard_normal((n, 3))
    Y = np.column_stack([along > 0.5, height > 0.5, np.abs(along - 0.5) < 0.25]).astype(np.uint8)
    return Dataset(X, Y, ["x", "height", "z"], ["outer", "upper", "middle"], "swiss roll", licence=LICENCE)


def zipf_counts(
    n: int = 1000, seed: int = 0, n_features: int = 69_593, n_classes: int = 11, mean_length: float = 130.0
) -> Dataset:
    """Documents of one topic each as sparse counts of terms that follow Zipf's law: few terms are everywhere, most are
    in hardly any document.

    A document has 1 + Poisson(mean_length - 1) tokens. Seven of ten are drawn from the law of the language, in which
    the r-th term has a weight of 1/r; three of ten from that of the topic, the same law over an order of the terms that
    is the topic's own. Topics are about equally frequent, documents stand in random order.

    Parameters
    ----------
    n : int
        Rows (documents), at least 2.
    seed : int
        Seed of the random draws; the same seed gives the same data.
    n_features : int
        Terms d, at least 1; most are in no document unless n is large.
    n_classes : int
        Topics c, from 1 to n; the first n % c of them have one document more.
    mean_length : float
        Expected number of tokens of a document, from 1 up.

    Returns
    -------
    Dataset
        X a float64 CSR of shape (n, n_features), Y one-hot of shape (n, n_classes).

    Raises
    ------
    ValueError
        Where n, seed, n_features, n_classes or mean_length is out of range.

    Examples
    --------
    >>> from proxembed.data import zipf_counts
    >>> data = zipf_counts(200, seed=0, n_features=5000)
    >>> data.X.shape, data.X.nnz < 0.05 * 200 * 5000, data.Y.sum(axis=0).tolist()
    ((200, 5000), True, [19, 19, 18, 18, 18, 18, 18, 18, 18, 18, 18])
    """
    rng = _generator(n, seed, 0.0)
    _check_documents(n, n_features, n_classes, mean_length)
    topic = rng.permutation(np.arange(n) % n_classes)
    length = 1 + rng.poisson(mean_length - 1, n)
    row = np.repeat(np.arange(n), length)
    law = np.cumsum(1.0 / np.arange(1, n_features + 1))
    rank = np.searchsorted(law, rng.random(len(row)) * law[-1])
    orders = np.vstack([np.arange(n_features), *(rng.permutation(n_features) for _ in range(n_classes))])
    own = rng.random(len(row)) < OWN_SHARE
    term = orders[np.where(own, 1 + topic[row], 0), rank]
    X = sparse.csr_array(sparse.coo_array((np.ones(len(row)), (row, term)), shape=(n, n_features)))
    names = [f"topic {number}" for number in range(1, n_classes + 1)]
    return Dataset.from_classes(X, topic, names, name="documents", licence=LICENCE)


def _check_documents(n: int, n_features: int, n_classes: int, mean_length: float) -> None:
    for name, value, least, most in (("n_features", n_features, 1, math.inf), ("n_classes", n_classes, 1, n)):
        if not isinstance(value, Integral) or isinstance(value, bool) or not least <= value <= most:
            limit = f"at least {least}" if most == math.inf else f"from {least} to n={most}"
            raise ValueError(f"{name}={value!r} must be a whole number, {limit}; give for instance {name}=5.")
    if not isinstance(mean_length, Real) or isinstance(mean_length, bool) or not 1 <= mean_length < math.inf:
        raise ValueError(
            f"mean_length={mean_length!r} must be a finite number from 1 up; give for instance mean_length=130."
        )


def _generator(n: int, seed: int, noise: float) -> np.random.Generator:
    if not isinstance(n, Integral) or isinstance(n, bool) or n < 2:
        raise ValueError(f"n={n!r} must be a whole number of rows, at least 2; give for instance n=1000.")
    if not isinstance(seed, Integral) or isinstance(seed, bool) or seed < 0:
        raise ValueError(f"seed={seed!r} must be a whole number from 0 up; give for instance seed=0.")
    if not isinstance(noise, Real) or isinstance(noise, bool) or not 0 <= noise < math.inf:
        raise ValueError(f"noise={noise!r} must be a finite number from 0 up; 0 gives no noise.")
    return np.random.default_rng(seed)


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
