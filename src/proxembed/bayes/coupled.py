"""The factorised posterior of the coupled model and its conditional updates: projection, coordinates, classifiers.

z = Q'x + noise, t = W'z + b + noise, and a label is known by where its t lies. Every update is the optimum of the lower
bound in one factor, so that the bound never falls, in whatever order and however seldom a factor is renewed.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from proxembed.algebra.arrays.blas import gram, matmul
from proxembed.algebra.arrays.centred import CentredMatrix

from .gamma import LOG_TWO_PI, GammaPrior, Precision
from .precision import inverse_stack, may_keep, posterior
from .targets import Targets

LARGEST_SQUARES = 1e280


@dataclass(frozen=True)
class Hyper:
    """Gamma priors of the biases, the projection and the weights; the noise variance of z; one precision per column."""

    bias: GammaPrior
    projection: GammaPrior
    weights: GammaPrior
    variance: float = 1.0
    shared: bool = False


@dataclass
class State:
    """Means Q (d, R), Z (n, R), B (R+1, L; the bias first), T (n, L); covariance parts of Q and of B (L, R+1, R+1).

    ``spread`` is the diagonal of the covariances of Q, (d, R), or their traces, (R,), where a column has one precision.
    ``phi``, ``lam`` and ``psi`` are the precisions of Q, of the biases and of the weights after a sweep.
    """

    Q: np.ndarray
    Z: np.ndarray
    B: np.ndarray
    T: np.ndarray
    spread: np.ndarray
    cov_B: np.ndarray
    phi: Precision | None = None
    lam: Precision | None = None
    psi: Precision | None = None


def check_size(X: CentredMatrix) -> None:
    """ValueError for rows whose squares leave no room in floating point."""
    with np.errstate(over="ignore"):
        size = X.squared_norm()
    if not size < LARGEST_SQUARES:
        raise ValueError(
            f"The squares of X sum to {size:g}, which is not below {LARGEST_SQUARES:g}; scale the features to unit "
            "variance."
        )


class Coupled:
    """Data, priors and the sweep: Phi, Q, Z, (lambda, Psi), (b, W), T."""

    def __init__(self, X: Any, targets: Targets, hyper: Hyper, n_components: int, refresh: int = 1):
        self.X = X if isinstance(X, CentredMatrix) else CentredMatrix(X)
        self.targets, self.hyper, self.R = targets, hyper, n_components
        self.n, self.d = self.X.shape
        check_size(self.X)
        self.route = posterior(self.X, hyper.variance, hyper.shared)
        seldom = not hyper.shared and may_keep(self.route, n_components)
        self.refresh = refresh if seldom else 1  # one precision per column costs nothing to renew

    def sweep(self, state: State, renew: bool) -> float:
        """Replace every factor, the precisions of the projection where ``renew``; return the lower bound."""
        self.update_projection(state, renew)
        self.update_coordinates(state)
        self.update_classifiers(state)
        self.update_scores(state)
        return self.bound(state)

    def update_projection(self, state: State, renew: bool) -> None:
        """Phi (where wanted) and Q."""
        if renew:
            self.phi = self.hyper.projection.posterior(self._moment_Q(state))
            state.Q = self.route.refresh(self.phi.mean, state.Z, self.refresh > 1)
            state.spread = self.route.diagonal
        else:
            state.Q = self.route.means(state.Z)
        state.phi = self.phi

    def update_coordinates(self, state: State) -> None:
        """Z: one covariance for all rows."""
        W, v = state.B[1:], self.hyper.variance
        joint = state.cov_B.sum(axis=0)
        self.WW = matmul(W, W.T) + joint[1:, 1:]
        level = W @ state.B[0] + joint[1:, 0]
        cov, logdet = inverse_stack((self.WW + np.eye(self.R) / v)[None])
        self.cov_Z, self.logdet_Z = cov[0], float(logdet[0])
        self.XQ = self.X.dot(state.Q)
        right = matmul(state.T, W.T) - level + self.XQ / v
        state.Z = matmul(right, self.cov_Z)

    def update_classifiers(self, state: State) -> None:
        """lambda, Psi, then (b, W): one covariance a label."""
        moment = state.B**2 + np.diagonal(state.cov_B, axis1=1, axis2=2).T
        state.lam = self.hyper.bias.posterior(moment[0])
        state.psi = self.hyper.weights.posterior(moment[1:])
        total = state.Z.sum(axis=0)
        self.G = np.empty((self.R + 1, self.R + 1))
        self.G[0, 0], self.G[0, 1:], self.G[1:, 0] = self.n, total, total
        self.G[1:, 1:] = gram(state.Z)
        K = np.repeat(self.G[None], len(state.lam.scale), axis=0)
        K[:, 1:, 1:] += self.n * self.cov_Z
        diagonal = np.arange(self.R + 1)
        K[:, diagonal, diagonal] += np.vstack([state.lam.mean, state.psi.mean]).T
        state.cov_B, self.logdet_B = inverse_stack(K)
        right = np.vstack([state.T.sum(axis=0), matmul(state.Z.T, state.T)])
        state.B = np.einsum("ors,so->ro", state.cov_B, right)

    def update_scores(self, state: State, mass: bool = True) -> None:
        """T, and the sum of log Zeta where wanted."""
        W, b, Z = np.ascontiguousarray(state.B[1:]), state.B[0], state.Z
        state.T, self.log_zeta = self.targets.expect(lambda part: Z[part] @ W + b, mass)

    def pack(self, state: State) -> np.ndarray:
        """Z and B, weighted alike, as one vector."""
        return np.concatenate([state.Z.ravel(), np.sqrt(self.n) * state.B.ravel()])

    def moved(self, state: State, point: np.ndarray) -> State:
        """Another state with the Z and B of a vector, and the T that fits them."""
        beyond, size = copy(state), state.Z.size
        beyond.Z = point[:size].reshape(state.Z.shape)
        beyond.B = point[size:].reshape(state.B.shape) / np.sqrt(self.n)
        self.update_scores(beyond, mass=False)
        return beyond

    def _moment_Q(self, state: State) -> np.ndarray:
        squares = state.Q**2
        return (squares.sum(axis=0) if self.hyper.shared else squares) + state.spread

    def bound(self, state: State) -> float:
        """The lower bound of log p(Y | X) right after T was updated."""
        n, R, L, v = self.n, self.R, state.B.shape[1], self.hyper.variance
        moment = state.B**2 + np.diagonal(state.cov_B, axis1=1, axis2=2).T
        precisions = self.phi.bound(self._moment_Q(state)) + state.lam.bound(moment[0]) + state.psi.bound(moment[1:])
        entropy = 0.5 * (R * self.d * (LOG_TWO_PI + 1.0) + float(self.route.logdet.sum()))
        entropy += 0.5 * n * (R * (LOG_TWO_PI + 1.0) + self.logdet_Z)
        entropy += 0.5 * (L * (R + 1) * (LOG_TWO_PI + 1.0) + float(self.logdet_B.sum()))
        difference = state.Z - self.XQ
        scattered = R * self.d - float(np.sum(self.phi.mean * state.spread))  # sum_s tr(S C_qs) / v
        noise = float(np.vdot(difference, difference)) + n * float(np.trace(self.cov_Z))
        coordinates = -0.5 * (noise / v + scattered + n * R * float(np.log(2.0 * np.pi * v)))
        W = state.B[1:]
        WW = matmul(W, W.T) + state.cov_B[:, 1:, 1:].sum(axis=0)
        spread = float(np.sum(state.cov_B.sum(axis=0) * self.G)) + n * float(np.sum(WW * self.cov_Z))
        return precisions + entropy + coordinates + self.log_zeta - 0.5 * spread
