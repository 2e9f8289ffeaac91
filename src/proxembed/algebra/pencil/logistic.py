"""Logistic regressions of few variables, many at once, and least squares with weights that are not negative."""

import numpy as np
from scipy.optimize import nnls
from scipy.special import expit

STEPS, HALVINGS = 100, 30
SETTLED, LEVEL = 1e-16, 1e-12  # shares of the loss: what a step gains at the end, and what rounding adds
LEVEL_PENALTY = 1e-10  # of the intercept: keeps the steps defined where rounding would not


def logistic_weights(A: np.ndarray, T: np.ndarray, mass: np.ndarray, penalty: float) -> np.ndarray:
    """Coefficients (c, 1 + r), the intercept first, of c logistic regressions by Newton steps: the least sum over rows
    of mass times the log-loss, plus penalty / 2 times the squares of the coefficients but for the intercept. A (c, n,
    r): the variables; T (c, n): targets from 0 to 1; mass (c, n): how often each cell counts, 0 where unknown. Each
    target has to vary among its rows of positive mass."""
    A = np.concatenate([np.ones((*A.shape[:2], 1)), A], axis=2)
    weights = np.full(A.shape[2], penalty)
    weights[0] = LEVEL_PENALTY
    share = np.einsum("cn,cn->c", mass, T) / mass.sum(axis=1)
    B = np.zeros((len(A), A.shape[2]))
    B[:, 0] = np.log(share / (1.0 - share))
    loss, odds = _loss(A, T, mass, weights, B)
    for _ in range(STEPS):
        p = expit(odds)
        slope = _products(A, mass * (p - T)) + weights * B
        bend = np.swapaxes(A * (mass * p * (1.0 - p))[:, :, None], 1, 2) @ A + np.diag(weights)
        step = np.linalg.solve(bend, slope[:, :, None])[:, :, 0]
        if not np.any(np.einsum("cr,cr->c", step, slope) > SETTLED * np.maximum(loss, 1.0)):
            break
        size = np.ones(len(A))
        for _ in range(HALVINGS):
            further = B - size[:, None] * step
            found, ahead = _loss(A, T, mass, weights, further)
            worse = found > loss + LEVEL * np.abs(loss)
            if not worse.any():
                break
            size = np.where(worse, size / 2, size)
        B, loss, odds = further, found, ahead
    return B


def log_odds(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """The log odds (c, n) of rows A (c, n, r) under coefficients B (c, 1 + r)."""
    return np.einsum("cnr,cr->cn", A, B[:, 1:]) + B[:, :1]


def _loss(
    A: np.ndarray, T: np.ndarray, mass: np.ndarray, weights: np.ndarray, B: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The penalised losses (c,) and the log odds (c, n)."""
    odds = np.einsum("cnr,cr->cn", A, B)
    return np.einsum("cn,cn->c", mass, np.logaddexp(0.0, odds) - T * odds) + (weights * B**2).sum(axis=1) / 2, odds


def _products(A: np.ndarray, E: np.ndarray) -> np.ndarray:
    return np.einsum("cnr,cn->cr", A, E)


def shared_weights(A: np.ndarray, t: np.ndarray) -> np.ndarray:
    """w (r,) >= 0 of least ||A w - t||, A (m, r), from the products alone."""
    scale = np.sqrt(np.einsum("mr,mr->r", A, A))
    unit = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    orthogonal, triangle = np.linalg.qr(A * unit)
    return nnls(triangle, orthogonal.T @ t)[0] * unit
