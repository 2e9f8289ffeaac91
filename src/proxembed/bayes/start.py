"""Where the updates start: the fitted scores of a ridge regression, random arrays, or arrays that are given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from proxembed.algebra.arrays.blas import gram, matmul
from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.pencil.linear import ridge_solve
from proxembed.algebra.pencil.symmetric import fix_signs

from ..classify.nearest import nearest_rows
from .coupled import State
from .precision import inverse_stack, left_singular, ridge_diagonal, ridge_with_level
from .targets import Targets

SCORE = 0.8
RANK_TOLERANCE = 1e-10
ARRAYS = ("Q", "Z", "B", "T")


def start(init: Any, X: CentredMatrix, targets: Targets, R: int, shared: bool, rng: np.random.Generator) -> State:
    """The state named by ``init``: "svd", "random" or a mapping of arrays."""
    if isinstance(init, Mapping):
        return start_from_arrays(init, X, targets, R, shared)
    return (spectral if init == "svd" else drawn)(X, targets, R, shared, rng)


def unit_spread(d: int, R: int, shared: bool) -> np.ndarray:
    """Diagonals (or traces) of identity covariances of Q."""
    return np.full(R, float(d)) if shared else np.ones((d, R))


def drawn(X: CentredMatrix, targets: Targets, R: int, shared: bool, rng: np.random.Generator) -> State:
    """Standard normal Q, Z and B with unit covariances; T = |N(0, 1)| y, unknown entries by the nearest known row."""
    (n, c), d = targets.shape, X.shape[1]
    Q, Z, B = rng.standard_normal((d, R)), rng.standard_normal((n, R)), rng.standard_normal((R + 1, c))
    T = np.abs(rng.standard_normal((n, c))) * guessed_signs(X, targets)
    return State(Q, Z, B, T, unit_spread(d, R, shared), np.repeat(np.eye(R + 1)[None], c, axis=0))


def guessed_signs(X: CentredMatrix, targets: Targets) -> np.ndarray:
    """Signs of the labels; an unknown one is that of the nearest row where it is known."""
    if targets.unknown is None:
        return targets.signs
    signs = targets.signs.copy()
    for label in np.flatnonzero(targets.unknown.any(axis=0)):
        hidden = targets.unknown[:, label]
        known = np.flatnonzero(~hidden)
        nearest = nearest_rows(X.X[np.flatnonzero(hidden)], X.X[known], 1)[:, 0]
        signs[hidden, label] = signs[known[nearest], label]
    return signs


def start_from_arrays(arrays: Mapping[str, Any], X: CentredMatrix, targets: Targets, R: int, shared: bool) -> State:
    """Row-wise arrays Q (d, R), Z (n, R), B (R+1, L) and T (n, L), with unit covariances of Q and B."""
    (n, c), d = targets.shape, X.shape[1]
    shapes = {"Q": (d, R), "Z": (n, R), "B": (R + 1, c), "T": (n, c)}
    if set(arrays) != set(ARRAYS):
        raise ValueError(
            f"init has the keys {sorted(arrays, key=str)}; pass the arrays Q (d, R), Z (n, R), B (R+1, L; the bias "
            "first) and T (n, L)."
        )
    counted = "n counts the rows with a known label, all rows in BSSML, and L the labels that some row has"
    found = {}
    for name in ARRAYS:
        try:
            found[name] = np.array(arrays[name], dtype=np.float64, order="C")
        except (TypeError, ValueError) as error:
            raise ValueError(f"init[{name!r}] is no array of numbers; pass one of shape {shapes[name]}.") from error
        if found[name].shape != shapes[name]:
            raise ValueError(
                f"init[{name!r}] has shape {found[name].shape}; it must be {shapes[name]}, where {counted}."
            )
        if not np.all(np.isfinite(found[name])):
            raise ValueError(f"init[{name!r}] holds NaN or infinite values; every start must be finite.")
    unit = np.repeat(np.eye(R + 1)[None], c, axis=0)
    return State(found["Q"], found["Z"], found["B"], found["T"], unit_spread(d, R, shared), unit)


def ridge_scores(X: CentredMatrix, targets: Targets) -> np.ndarray:
    """Fitted scores (n, L) of the ridge regression of 0.8 y on [1 X] over the rows with any known label."""
    T = SCORE * targets.signs
    rows = np.arange(len(T))
    if targets.unknown is not None:
        T = np.where(targets.unknown, 0.0, T)
        rows = np.flatnonzero(~targets.unknown.all(axis=1))
    lam = max(1.0, 1e-3 * X.squared_norm() / X.shape[1])
    coefficients, level = ridge_with_level(X, T, lam, rows)
    return X.dot(coefficients) + level


def spectral(X: CentredMatrix, targets: Targets, R: int, shared: bool, rng: np.random.Generator) -> State:
    """Z from the left singular vectors of the ridge scores; B, Q and their covariances from unit ridges on them."""
    n, c = targets.shape
    F = ridge_scores(X, targets)
    T = SCORE * targets.signs
    if targets.unknown is not None:
        least = 0.1 + (targets.gap or 0.0)
        T = np.where(targets.unknown, np.sign(F) * np.maximum(np.abs(F), least), T)
    U, s = left_singular(F - F.mean(axis=0))
    r = min(R, int(np.count_nonzero(s > RANK_TOLERANCE * max(s[0], 0.0))))
    Z = 0.1 * rng.standard_normal((n, R)) if r < R else np.empty((n, R))
    Z[:, :r] = np.sqrt(n) * fix_signs(U[:, :r])
    Z1 = np.hstack([np.ones((n, 1)), Z])
    cov, _ = inverse_stack((gram(Z1) + np.eye(R + 1))[None])
    B = matmul(cov[0], matmul(Z1.T, T))
    Q, _ = ridge_solve(X, Z, 1.0, center=False)
    diagonal = ridge_diagonal(X, 1.0)
    spread = np.full(R, diagonal.sum()) if shared else np.repeat(diagonal[:, None], R, axis=1)
    return State(Q, Z, B, T, spread, np.repeat(cov, c, axis=0))
