"""The factorised posterior of the coupled model and its conditional updates: projection, coordinates, classifiers.

z = Q'x + noise, t = W'z + b + noise; a label is known by where its t lies, a number is its t. Every update is the
optimum of the lower bound in one factor, so that the bound never falls, in whatever order and however seldom a factor
is renewed.
"""

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.algebra.arrays.blas import gram, matmul
from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.pencil.linear import ridge_solve
from proxembed.algebra.pencil.symmetric import fix_signs
from proxembed.classify.neighbors import nearest_rows

from .measured import MeasuredScores
from .precision import inverse_stack, left_singular, may_keep, posterior, ridge_diagonal, ridge_with_level
from .truncated import LOG_TWO_PI, GammaPrior, LabelSigns, Precision

LARGEST_SQUARES = 1e280
PRIORS = ("entry", "column", "row")
Scores = LabelSigns | MeasuredScores


@dataclass(frozen=True)
class Hyper:
    """Gamma priors of the biases, the projection and the weights; the noise variance of z; whether each entry, column
    or row of the projection has a precision."""

    bias: GammaPrior
    projection: GammaPrior
    weights: GammaPrior
    variance: float = 1.0
    prior: str = "entry"

    @property
    def shared(self) -> bool:
        """Whether all entries of a column have one precision."""
        return self.prior == "column"


@dataclass
class State:
    """Means Q (d, R), Z (n, R), B (R+1, L; the bias first), T (n, L); covariance parts of Q and of B (L, R+1, R+1).
    ``spread`` is the diagonal of the covariances of Q, (d, R), or their traces, (R,), where a column has one precision.
    ``phi``, ``lam`` and ``psi`` are the precisions of Q, of the biases and of the weights after a sweep; ``noise`` (L,)
    those expected of t about W'z + b, 1 for labels."""

    Q: np.ndarray
    Z: np.ndarray
    B: np.ndarray
    T: np.ndarray
    spread: np.ndarray
    cov_B: np.ndarray
    noise: np.ndarray
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
    """Data, priors and the sweep: Phi, Q, Z, (lambda, Psi), (b, W), T, tau. Rows that occur several times
    (``targets.times``, fractions allowed) have the same z and t every time; ``n`` counts them as often."""

    def __init__(self, X: Any, targets: Scores, hyper: Hyper, n_components: int, refresh: int = 1):
        self.X = X if isinstance(X, CentredMatrix) else CentredMatrix(X)
        self.targets, self.hyper, self.R = targets, hyper, n_components
        self.d, self.times = self.X.shape[1], targets.times
        self.n: Any = self.X.shape[0] if self.times is None else float(self.times.sum())
        self.rooted = rooted_rows(self.X, self.times)
        check_size(self.rooted)
        self.route = posterior(self.rooted, hyper.variance, hyper.shared)
        seldom = hyper.prior == "entry" and may_keep(self.route, n_components)
        self.refresh = refresh if seldom else 1  # those of columns cost nothing to renew, those of rows settle last

    def sweep(self, state: State, renew: bool) -> float:
        """Replace every factor, the precisions of the projection where ``renew``; return the lower bound."""
        self.update_projection(state, renew)
        self.update_coordinates(state)
        self.update_classifiers(state)
        self.update_scores(state)
        self.update_noise(state)
        return self.bound(state)

    def update_projection(self, state: State, renew: bool) -> None:
        """Phi (where wanted) and Q."""
        if renew:
            self.phi = self.hyper.projection.posterior(self._moment_Q(state))
            state.Q = self.route.refresh(self.phi.mean, rooted(state.Z, self.times), self.refresh > 1)
            state.spread = self.route.diagonal
        else:
            state.Q = self.route.means(rooted(state.Z, self.times))
        state.phi = self.phi

    def update_coordinates(self, state: State) -> None:
        """Z: one covariance for all rows."""
        v, W = self.hyper.variance, state.B[1:]
        weighed, joint = W * state.noise, _summed(state.cov_B, state.noise)
        self.WW = matmul(weighed, W.T) + joint[1:, 1:]
        level = weighed @ state.B[0] + joint[1:, 0]
        cov, logdet = inverse_stack((self.WW + np.eye(self.R) / v)[None])
        self.cov_Z, self.logdet_Z = cov[0], float(logdet[0])
        self.XQ = self.X.dot(state.Q)
        right = matmul(state.T, weighed.T) - level + self.XQ / v
        state.Z = matmul(right, self.cov_Z)

    def update_classifiers(self, state: State) -> None:
        """lambda, Psi, then (b, W): one covariance a label."""
        moment = state.B**2 + np.diagonal(state.cov_B, axis1=1, axis2=2).T
        state.lam = self.hyper.bias.posterior(moment[0])
        state.psi = self.hyper.weights.posterior(moment[1:])
        T, total = repeated(state.T, self.times), repeated(state.Z, self.times).sum(axis=0)
        self.G = np.empty((self.R + 1, self.R + 1))
        self.G[0, 0], self.G[0, 1:], self.G[1:, 0] = self.n, total, total
        self.G[1:, 1:] = gram(rooted(state.Z, self.times))
        K = np.repeat(self.G[None], len(state.lam.scale), axis=0)
        K[:, 1:, 1:] += self.n * self.cov_Z
        K *= state.noise[:, None, None]
        diagonal = np.arange(self.R + 1)
        K[:, diagonal, diagonal] += np.vstack([state.lam.mean, state.psi.mean]).T
        state.cov_B, self.logdet_B = inverse_stack(K)
        right = np.vstack([T.sum(axis=0), matmul(state.Z.T, T)]) * state.noise
        state.B = np.einsum("ors,so->ro", state.cov_B, right)

    def update_scores(self, state: State, mass: bool = True) -> None:
        """T, and the sum of log Zeta where wanted."""
        W, b, Z = np.ascontiguousarray(state.B[1:]), state.B[0], state.Z
        state.T, self.log_zeta = self.targets.expect(lambda part: Z[part] @ W + b, mass)

    def update_noise(self, state: State) -> None:
        """tau of the numbers, from the squares of t about W'z + b that are expected where t is known. Where it is not,
        t is the mean of W'z + b, whose variance counts."""
        self.noise_bound, own = 0.0, self.targets.numbers
        if isinstance(self.targets, LabelSigns) or not own.any():
            return
        W, C = state.B[1:, own], state.cov_B[own]
        squares = repeated((state.T[:, own] - (matmul(state.Z, W) + state.B[0, own])) ** 2, self.times).sum(axis=0)
        squares += np.einsum("ors,rs->o", C, self.G)
        squares += self.n * ((W * matmul(self.cov_Z, W)).sum(axis=0) + np.einsum("ors,rs->o", C[:, 1:, 1:], self.cov_Z))
        noise = state.noise.copy()
        noise[own], self.noise_bound = self.targets.noise(squares)
        state.noise = noise

    def pack(self, state: State) -> np.ndarray:
        """Z and B, weighted alike, as one vector."""
        return np.concatenate([rooted(state.Z, self.times).ravel(), np.sqrt(self.n) * state.B.ravel()])

    def moved(self, state: State, point: np.ndarray) -> State:
        """Another state with the Z and B of a vector, and the T that fits them."""
        beyond, size = copy(state), state.Z.size
        Z = point[:size].reshape(state.Z.shape)
        beyond.Z = Z if self.times is None else Z / np.sqrt(self.times)[:, None]
        beyond.B = point[size:].reshape(state.B.shape) / np.sqrt(self.n)
        self.update_scores(beyond, mass=False)
        return beyond

    def _moment_Q(self, state: State) -> np.ndarray:
        squares = state.Q**2
        if self.hyper.prior == "row":
            return (squares + state.spread).sum(axis=1, keepdims=True)
        return (squares.sum(axis=0) if self.hyper.shared else squares) + state.spread

    def bound(self, state: State) -> float:
        """The lower bound of log p(Y | X) right after T and tau were updated."""
        n, R, L, v = self.n, self.R, state.B.shape[1], self.hyper.variance
        moment = state.B**2 + np.diagonal(state.cov_B, axis1=1, axis2=2).T
        precisions = self.phi.bound(self._moment_Q(state)) + state.lam.bound(moment[0]) + state.psi.bound(moment[1:])
        entropy = 0.5 * (R * self.d * (LOG_TWO_PI + 1.0) + float(self.route.logdet.sum()))
        entropy += 0.5 * n * (R * (LOG_TWO_PI + 1.0) + self.logdet_Z)
        entropy += 0.5 * (L * (R + 1) * (LOG_TWO_PI + 1.0) + float(self.logdet_B.sum()))
        difference = rooted(state.Z - self.XQ, self.times)
        scattered = R * self.d - float(np.sum(self.phi.mean * state.spread))  # sum_s tr(S C_qs) / v
        noise = float(np.vdot(difference, difference)) + n * float(np.trace(self.cov_Z))
        coordinates = -0.5 * (noise / v + scattered + n * R * float(np.log(2.0 * np.pi * v)))
        W, cut = state.B[1:], 1.0 - self.targets.numbers
        joint = _summed(state.cov_B, cut)
        WW = matmul(W * cut, W.T) + joint[1:, 1:]
        spread = float(np.sum(joint * self.G)) + n * float(np.sum(WW * self.cov_Z))
        return precisions + entropy + coordinates + self.log_zeta + self.noise_bound - 0.5 * spread


def repeated(M: np.ndarray, times: np.ndarray | None) -> np.ndarray:
    """diag(times) M: with a transposed matrix before it, the product of rows that occur so often."""
    return M if times is None else times[:, None] * M


def rooted(M: np.ndarray, times: np.ndarray | None) -> np.ndarray:
    """diag(times)^1/2 M, the squares of which are those of rows that occur so often."""
    return M if times is None else np.sqrt(times)[:, None] * M


def rooted_rows(X: CentredMatrix, times: np.ndarray | None) -> CentredMatrix:
    """``rooted`` of the features, dense or sparse."""
    if times is None:
        return X
    if X.sparse:
        return CentredMatrix(sparse.csr_array(sparse.diags_array(np.sqrt(times)) @ X.X))
    return CentredMatrix(rooted(X.X, times))


def _summed(stack: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The weighted sum of a stack of matrices."""
    return np.einsum("o,ors->rs", weights, stack)


RANK_TOLERANCE = 1e-10
ARRAYS = ("Q", "Z", "B", "T")


def start(init: Any, X: CentredMatrix, targets: Scores, R: int, shared: bool, rng: np.random.Generator) -> State:
    """The state named by ``init``: "svd", "random" or a mapping of arrays."""
    if isinstance(init, Mapping):
        return start_from_arrays(init, X, targets, R, shared)
    return (spectral if init == "svd" else drawn)(X, targets, R, shared, rng)


def unit_spread(d: int, R: int, shared: bool) -> np.ndarray:
    """Diagonals (or traces) of identity covariances of Q."""
    return np.full(R, float(d)) if shared else np.ones((d, R))


def drawn(X: CentredMatrix, targets: Scores, R: int, shared: bool, rng: np.random.Generator) -> State:
    """Standard normal Q, Z and B with unit covariances; T = |N(0, 1)| y of labels, F of numbers, unknown entries by the
    nearest known row."""
    (n, c), d = targets.shape, X.shape[1]
    Q, Z, B = rng.standard_normal((d, R)), rng.standard_normal((n, R)), rng.standard_normal((R + 1, c))
    T = targets.drawn(rng, lambda hidden: nearest_known(X, hidden))
    return State(Q, Z, B, T, unit_spread(d, R, shared), np.repeat(np.eye(R + 1)[None], c, axis=0), np.ones(c))


def nearest_known(X: CentredMatrix, hidden: np.ndarray) -> np.ndarray:
    """For each row of a mask the number of the nearest row outside it."""
    known = np.flatnonzero(~hidden)
    return known[nearest_rows(X.X[np.flatnonzero(hidden)], X.X[known], 1)[:, 0]]


def start_from_arrays(arrays: Mapping[str, Any], X: CentredMatrix, targets: Scores, R: int, shared: bool) -> State:
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
            raise ValueError(f"init[{name!r}] is not an array of numbers; pass one of shape {shapes[name]}.") from error
        if found[name].shape != shapes[name]:
            raise ValueError(
                f"init[{name!r}] has shape {found[name].shape}; it must be {shapes[name]}, where {counted}."
            )
        if not np.all(np.isfinite(found[name])):
            raise ValueError(f"init[{name!r}] holds NaN or infinite values; every start must be finite.")
    unit = np.repeat(np.eye(R + 1)[None], c, axis=0)
    return State(found["Q"], found["Z"], found["B"], found["T"], unit_spread(d, R, shared), unit, np.ones(c))


def ridge_scores(X: CentredMatrix, targets: Scores) -> np.ndarray:
    """Fitted scores (n, L) of the ridge regression of the first scores on [1 X] over the rows with any known cell."""
    T, times = targets.first(), targets.times
    rows = np.arange(len(T))
    if targets.unknown is not None:
        T = np.where(targets.unknown, 0.0, T)
        rows = np.flatnonzero(~targets.unknown.all(axis=1))
    lam = max(1.0, 1e-3 * X.squared_norm(times) / X.shape[1])
    coefficients, level = ridge_with_level(X, T, lam, rows, times)
    return X.dot(coefficients) + level


def spectral(X: CentredMatrix, targets: Scores, R: int, shared: bool, rng: np.random.Generator) -> State:
    """Z from the left singular vectors of the ridge scores; B, Q and their covariances from unit ridges on them."""
    (n, c), times = targets.shape, targets.times
    F = ridge_scores(X, targets)
    T = targets.completed(F)
    U, s = left_singular(rooted(F - np.average(F, axis=0, weights=times), times))
    r = min(R, int(np.count_nonzero(s > RANK_TOLERANCE * max(s[0], 0.0))))
    Z = 0.1 * rng.standard_normal((n, R)) if r < R else np.empty((n, R))
    each = U[:, :r] if times is None else U[:, :r] / np.sqrt(times)[:, None]
    Z[:, :r] = np.sqrt(n if times is None else times.sum()) * fix_signs(each)
    Z1 = np.hstack([np.ones((n, 1)), Z])
    cov, _ = inverse_stack((gram(rooted(Z1, times)) + np.eye(R + 1))[None])
    B = matmul(cov[0], matmul(Z1.T, repeated(T, times)))
    Q, _ = ridge_solve(X, Z, 1.0, center=False, weights=times)
    diagonal = ridge_diagonal(rooted_rows(X, times), 1.0)
    spread = np.full(R, diagonal.sum()) if shared else np.repeat(diagonal[:, None], R, axis=1)
    return State(Q, Z, B, T, spread, np.repeat(cov, c, axis=0), np.ones(c))
