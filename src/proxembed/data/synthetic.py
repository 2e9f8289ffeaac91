"""Made data with labels, drawn by formula: two crescents (banana) and a rolled-up sheet (Swiss roll)."""

from __future__ import annotations

import math
from numbers import Integral, Real

import numpy as np

from proxembed.data.dataset import Dataset

LICENCE = "made by a formula, free of rights"
RADIUS = 5.0


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
    turn = np.linspace(1.5 * math.pi, 4.5 * math.pi, 2001)
    length = (turn * np.sqrt(1 + turn**2) + np.arcsinh(turn)) / 2  # of the spiral, from its centre
    t = np.interp(length[0] + along * (length[-1] - length[0]), length, turn)
    X = np.column_stack([t * np.cos(t), 21 * height, t * np.sin(t)]) + noise * rng.standard_normal((n, 3))
    Y = np.column_stack([along > 0.5, height > 0.5, np.abs(along - 0.5) < 0.25]).astype(np.uint8)
    return Dataset(X, Y, ["x", "height", "z"], ["outer", "upper", "middle"], "swiss roll", licence=LICENCE)


def _generator(n: int, seed: int, noise: float) -> np.random.Generator:
    if not isinstance(n, Integral) or isinstance(n, bool) or n < 2:
        raise ValueError(f"n={n!r} must be a whole number of rows, at least 2; give for instance n=1000.")
    if not isinstance(seed, Integral) or isinstance(seed, bool) or seed < 0:
        raise ValueError(f"seed={seed!r} must be a whole number from 0 up; give for instance seed=0.")
    if not isinstance(noise, Real) or isinstance(noise, bool) or not 0 <= noise < math.inf:
        raise ValueError(f"noise={noise!r} must be a finite number from 0 up; 0 gives no noise.")
    return np.random.default_rng(seed)
