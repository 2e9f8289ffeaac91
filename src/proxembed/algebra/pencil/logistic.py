"""Logistic regressions of few variables, many at once, and least squares with weights that are not negative."""

import numpy as np
from scipy.optimize import nnls
from scipy.special import log_softmax

STEPS, HALVINGS = 100, 30
SETTLED, LEVEL = 1e-16, 1e-12  # shares of the loss: what a step gains at the end, and what rounding adds
LEVEL_PENALTY = 1e-10  # of the intercept: keeps the steps defined where rounding would not


def logistic_weights(
    A: np.ndarray, T: np.ndarray, mass: np.ndarray, penalty: float, beside: np.ndarray | None = None
) -> np.ndarray:
    """Coefficients (c, 1 + r), the intercept first, of c logistic regressions by Newton steps: the least sum over rows
    of mass times the log-loss, plus penalty / 2 times the squares of all coefficients but the intercept. A (c, n,
    r): the variables; T (c, n): targets from 0 to 1; mass (c, n): how often each cell counts, 0 where unknown;
    ``beside`` (c, n): what is added to the log odds, None: nothing. Each target has to lie between 0 and 1 in the mean
    of its rows."""
    A = np.concatenate([np.ones((*A.shape[:2], 1)), A], axis=2)
    weights = np.full(A.shape[2], penalty)
    weights[0] = LEVEL_PENALTY
    B = np.zeros((len(A), A.shape[2]))
    if beside is None:
        share = np.einsum("cn,cn->c", mass, T) / mass.sum(axis=1)
        B[:, 0] = np.log(share / (1.0 - share))
        beside = np.zeros(T.shape)
    loss, p = _loss(A, T, mass, weights, B, beside)
    for _ in range(STEPS):
        slope = np.einsum("cnr,cn->cr", A, mass * (p - T)) + weights * B
        bend = np.swapaxes(A * (mass * p * (1.0 - p))[:, :, None], 1, 2) @ A + np.diag(weights)
        step = np.linalg.solve(bend, slope[:, :, None])[:, :, 0]
        if not np.any(np.einsum("cr,cr->c", step, slope) > SETTLED * np.maximum(loss, 1.0)):
            break
        size = np.ones(len(A))
        for _ in range(HALVINGS):
            further = B - size[:, None] * step
            found, ahead = _loss(A, T, mass, weights, further, beside)
            worse = found > loss + LEVEL * np.abs(loss)
            if not worse.any():
                break
            size = np.where(worse, size / 2, size)
        B, loss, p = further, found, ahead
    return B


def log_odds(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """The log odds (c, n) of rows A (c, n, r) under coefficients B (c, 1 + r)."""
    return np.einsum("cnr,cr->cn", A, B[:, 1:]) + B[:, :1]


def _loss(
    A: np.ndarray, T: np.ndarray, mass: np.ndarray, weights: np.ndarray, B: np.ndarray, beside: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The penalised losses (c,) and the probabilities (c, n), from one exponential."""
    odds = np.einsum("cnr,cr->cn", A, B) + beside
    small = np.exp(-np.abs(odds))
    each = np.einsum("cn,cn->c", mass, np.maximum(odds, 0.0) + np.log1p(small) - T * odds)
    return each + (weights * B**2).sum(axis=1) / 2, np.where(odds >= 0, 1.0, small) / (1.0 + small)


def softmax_weights(S: np.ndarray, T: np.ndarray, mass: np.ndarray, penalty: float) -> tuple[float, np.ndarray]:
    """Slope and levels (c,) of the least sum over rows of mass (n,) times -T log softmax(slope S + levels), plus
    penalty / 2 times the squares of the levels, by Newton steps. S (n, c): scores that differ in some row; T (n, c):
    targets above 0 with the sum 1 in each row."""

    def loss_at(v: np.ndarray) -> tuple[float, np.ndarray]:
        odds = log_softmax(v[0] * S + v[1:], axis=1)
        return float(-mass @ (T * odds).sum(axis=1) + penalty / 2 * v[1:] @ v[1:]), np.exp(odds)

    v = np.eye(1, 1 + S.shape[1])[0]
    loss, P = loss_at(v)
    for _ in range(STEPS):
        residual, weighed, mean = mass[:, None] * (P - T), mass[:, None] * P, (P * S).sum(axis=1)
        slope = np.concatenate([[(residual * S).sum()], residual.sum(axis=0) + penalty * v[1:]])
        bend = np.empty((len(v), len(v)))
        bend[0, 0] = (weighed * S**2).sum() - mass @ mean**2 + LEVEL_PENALTY
        bend[0, 1:] = bend[1:, 0] = (weighed * (S - mean[:, None])).sum(axis=0)
        bend[1:, 1:] = np.diag(weighed.sum(axis=0) + penalty) - weighed.T @ P
        step = np.linalg.solve(bend, slope)
        if step @ slope <= SETTLED * max(loss, 1.0):
            break
        for _ in range(HALVINGS):
            ahead, P = loss_at(v - step)
            if ahead <= loss + LEVEL * abs(loss):
                break
            step = step / 2
        v, loss = v - step, ahead
    return float(v[0]), v[1:]


def shared_weights(A: np.ndarray, t: np.ndarray) -> np.ndarray:
    """w (r,) >= 0 of least ||A w - t||, A (m, r), from the products alone."""
    scale = np.sqrt(np.einsum("mr,mr->r", A, A))
    unit = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    orthogonal, triangle = np.linalg.qr(A * unit)
    return nnls(triangle, orthogonal.T @ t)[0] * unit
