"""The alternation of SSDR-MC: weights from labels, soft labels from weights, labels from soft labels, until they stay.

In: local weights, known labels, a rule of inference and one of decision. Out: labels, soft labels and the course of the
run; a run that returns to earlier labels ends in the member of its cycle with the smallest cost. [qian2010ssdrmc]
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.algebra.arrays.blas import in_threads, one_pool
from proxembed.algebra.arrays.matrix import solve_batch
from proxembed.algebra.graphs.nonsymmetric import Solved, normal_solve, solve
from proxembed.proximity.reconstruction import affine_weights, local_grams, reconstruction_matrix, rows_a_block

from .propagator import neighbour_pattern, reaches

TRIALS = 3  # exchanges of whole sets without progress before single indices are exchanged, which always ends


def simplex_weights(L: np.ndarray, reg: float) -> np.ndarray:
    """argmin w'(L + reg tr(L) I)w on the simplex, (b, K), for stacked b x K x K positive semidefinite matrices. v >= 0
    with Lv >= 1 and v'(Lv - 1) = 0, over its sum: found by exchanging sets of indices between v > 0 and v = 0 (block
    principal pivoting, [portugal1994bpp]). Equal weights where L = 0. reg : above 0, so that L is definite."""
    b, K, _ = L.shape
    trace = np.einsum("ijj->i", L)
    zero = trace <= 0
    L = L / np.where(zero, 1.0, trace)[:, None, None]
    np.einsum("ijj->ij", L)[...] += reg
    np.einsum("ijj->ij", L)[zero] = 1.0
    v = np.zeros((b, K))
    free = np.ones((b, K), dtype=bool)
    fewest, trials = np.full(b, K + 1), np.full(b, TRIALS)
    open_ = np.arange(b)
    for _ in range(2**K + K):
        v[open_], wrong = _tried(L[open_], free[open_])
        count = wrong.sum(axis=1)
        more = np.flatnonzero(count)
        if len(more) == 0:
            break
        open_, wrong, count = open_[more], wrong[more], count[more]
        better = count < fewest[open_]
        fewest[open_] = np.where(better, count, fewest[open_])
        trials[open_] = np.where(better, TRIALS, trials[open_] - 1)
        single = trials[open_] < 0
        last = K - 1 - np.argmax(wrong[:, ::-1], axis=1)
        wrong[single] = np.arange(K) == last[single, None]
        free[open_] ^= wrong
    v = np.maximum(v, 0.0)
    return v / v.sum(axis=1, keepdims=True)


def _tried(L: np.ndarray, free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """v of L_FF v_F = 1, 0 elsewhere, and which indices are on the wrong side."""
    both = free[:, :, None] & free[:, None, :]
    system = np.where(both, L, np.where(np.eye(L.shape[1], dtype=bool), 1.0, 0.0))
    v, _ = solve_batch(system, free.astype(np.float64))
    v[~free] = 0.0
    y = np.einsum("ijk,ik->ij", L, v) - 1.0
    return v, np.where(free, v < 0, y < -1e-10)


LOCAL_WEIGHTS = ("signed", "clip", "nnls")
KEPT_BYTES = 1 << 29  # of the Gram matrices of the features, which are made anew above it


@dataclass(frozen=True)
class Blend:
    """How weights are made: share ``alpha`` of the labels, factor ``scale`` on their Gram matrices, ridge ``reg`` in
    units of the mean diagonal, and ``kind``."""

    alpha: float
    reg: float
    kind: str = "signed"
    scale: float = 1.0

    def weights(self, P: np.ndarray, Q: np.ndarray | None, powers: np.ndarray | None, d: int) -> np.ndarray:
        """The weights (b, K) of a block from its Gram matrices (b, K, K), those of the labels Q over the features'
        powers of two; Q None: of the features alone."""
        if Q is None:
            L = np.array(P)
        elif powers is None:
            L = (1.0 - self.alpha) * P + (self.alpha * self.scale) * Q
        else:  # over whichever power is larger, so that nothing overflows
            L = (1.0 - self.alpha) * unscaled(P, np.minimum(powers, 0), 2)
            L += (self.alpha * self.scale) * unscaled(Q, np.maximum(powers, 0), -2)
        reg = self.reg / P.shape[1]
        if self.kind == "nnls":
            return simplex_weights(L, reg)
        w = affine_weights(L, reg, d)
        return clipped(w) if self.kind == "clip" else w


def unscaled(G: np.ndarray, powers: np.ndarray | None, sign: int) -> np.ndarray:
    """G_i times 2^(sign p_i); infinite beyond the largest number."""
    if powers is None:
        return G
    with np.errstate(over="ignore"):
        return np.ldexp(G, (sign * powers).reshape(-1, *[1] * (G.ndim - 1)))


def clipped(w: np.ndarray) -> np.ndarray:
    """Weights below 0 set to 0 and the rest brought to sum 1; equal weights if all are 0 or less."""
    w = np.maximum(w, 0.0)
    total = w.sum(axis=1, keepdims=True)
    return np.where(total > 0, w / np.where(total > 0, total, 1.0), 1.0 / w.shape[1])


def label_grams(own: np.ndarray, F: np.ndarray, index: np.ndarray) -> np.ndarray:
    """(f_j - f_i)'(f_l - f_i) of rows with labels ``own`` (b, c) and their neighbours among the rows of F."""
    difference = F[index].astype(np.float64) - own[:, None, :].astype(np.float64)
    return difference @ difference.transpose(0, 2, 1)


class LocalWeights:
    """The weights of all rows, made anew only where labels have changed."""

    def __init__(self, X: Any, index: np.ndarray, blend: Blend, c: int):
        self.X, self.index, self.blend = X, index, blend
        n, K = index.shape
        self.block = max(1, min(rows_a_block(X, K), (1 << 20) // (K * max(K, c))))
        self.kept: Any = np.empty((n, K, K)) if 8 * n * K * K <= KEPT_BYTES else None
        self.powers, self.far = np.zeros(n, dtype=int), False
        self.weights = np.empty((n, K))
        self.labels: np.ndarray | None = None
        self.solved = 0
        if self.kept is not None:
            self._each(np.arange(n), self._keep)

    def update(self, F: np.ndarray | None) -> int:
        """Weights for the 0/1 labels F (n, c), or from the features alone; returns how many rows were solved."""
        n = len(self.index)
        if F is None or self.blend.alpha == 0:
            dirty = np.arange(n) if self.solved == 0 or self.labels is not None else np.arange(0)
            F = None
        elif self.labels is None:
            dirty = np.arange(n)
        else:
            changed = (F != self.labels).any(axis=1)
            dirty = np.flatnonzero(changed | changed[self.index].any(axis=1))

        def work(rows: np.ndarray) -> None:
            P, powers = self._grams(rows)
            Q = None if F is None else label_grams(F[rows], F, self.index[rows])
            self.weights[rows] = self.blend.weights(P, Q, powers, self.X.shape[1])

        self._each(dirty, work)
        self.labels = None if F is None else np.array(F)
        self.solved += len(dirty)
        return len(dirty)

    def feature_error(self) -> float:
        """(1 - alpha) |X - WX|^2 of the weights as they are."""
        parts = np.zeros(len(self.index))

        def work(rows: np.ndarray) -> None:
            P, powers = self._grams(rows)
            w = self.weights[rows]
            parts[rows] = unscaled(np.einsum("ij,ijk,ik->i", w, P, w), powers, 2)

        self._each(np.arange(len(self.index)), work)
        return float((1.0 - self.blend.alpha) * parts.sum())

    def scale_labels(self, scale: float) -> None:
        """Take the Gram matrices of labels times ``scale`` from now on, in the weights of every row."""
        self.blend = replace(self.blend, scale=scale)
        self.labels, self.solved = None, 0

    def mean_traces(self, F: np.ndarray, rows: np.ndarray) -> tuple[float, float]:
        """The mean traces of P over all rows, and of Q over some."""
        features, labels = np.zeros(len(self.index)), np.zeros(len(self.index))
        chosen = np.zeros(len(self.index), dtype=bool)
        chosen[rows] = True

        def work(some: np.ndarray) -> None:
            P, powers = self._grams(some)
            features[some] = unscaled(np.einsum("ijj->i", P), powers, 2)
            own = some[chosen[some]]
            labels[own] = ((F[self.index[own]] - F[own][:, None, :]) ** 2).sum(axis=(1, 2))

        self._each(np.arange(len(self.index)), work)
        return float(features.mean()), float(labels[rows].mean())

    def _grams(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        if self.kept is None:
            return local_grams(self.X, self.X[rows], self.index[rows])
        return self.kept[rows], self.powers[rows] if self.far else None

    def _keep(self, rows: np.ndarray) -> None:
        P, powers = local_grams(self.X, self.X[rows], self.index[rows])
        self.kept[rows] = P
        if powers is not None:
            self.powers[rows], self.far = powers, True

    def _each(self, rows: np.ndarray, work: Callable[[np.ndarray], Any]) -> None:
        with one_pool:
            in_threads(lambda part: work(rows[part]), len(rows), self.block)


def new_weights(
    X: Any, queries: Any, index: np.ndarray, blend: Blend, labels: np.ndarray | None = None, F: Any = None
) -> np.ndarray:
    """The weights that rebuild new rows from their neighbours in X; ``labels`` of the new rows and F of X's rows take
    part where they are given."""
    m, K = index.shape
    c = 1 if labels is None else labels.shape[1]
    weights = np.empty((m, K))

    def work(part: slice) -> None:
        P, powers = local_grams(X, queries[part], index[part])
        Q = None if labels is None else label_grams(labels[part], F, index[part])
        weights[part] = blend.weights(P, Q, powers, X.shape[1])

    with one_pool:
        in_threads(work, m, max(1, min(rows_a_block(X, K), (1 << 20) // (K * max(K, c)))))
    return weights


PRIORS = ("hard", "masked", "paper")
OBJECTIVES = ("paper", "exact")


@dataclass(frozen=True)
class Inference:
    """How labels are inferred: "paper" solves (I - W + B) F = B Y, "exact" ((I - W)'(I - W) + B) F = B Y on the free
    cells, B the strength of the prior: on the known cells ("masked"), on all ("paper"), or known cells are fixed
    ("hard") and B = 0."""

    objective: str = "paper"
    prior: str = "hard"
    strength: float = 1.0
    solver: str = "auto"

    def soft(
        self, W: Any, known: np.ndarray, Y: np.ndarray, unreached: np.ndarray, start: np.ndarray, first: str = ""
    ) -> Solved:
        """F (n x c) from W (CSR), the mask of known cells (n x c), their labels, the cells without a path to a known
        one, which take the share of the label among known cells, a start (n x c) and the route to try first."""
        A = sparse.csr_array(sparse.eye_array(W.shape[0]) - W)
        out = np.where(known, Y, 0.0)
        solvers, steps, residual = [], 0, 0.0
        for columns in column_groups(known, unreached):
            some, lost = known[:, columns[0]], unreached[:, columns[0]]
            if lost.any():
                out[np.ix_(lost, columns)] = Y[some][:, columns].mean(axis=0)
            fixed = lost | some if self.prior == "hard" else lost
            found = self._free(A, some, fixed, Y[:, columns], out[:, columns], start[:, columns], first)
            out[np.ix_(~fixed, columns)] = found.Z
            solvers.append(found.solver)
            first = found.solver
            steps, residual = max(steps, found.steps), max(residual, found.residual)
        return Solved(out, "+".join(dict.fromkeys(solvers)), steps, residual)

    def _free(
        self, A: Any, known: np.ndarray, fixed: np.ndarray, Y: Any, F: np.ndarray, start: np.ndarray, first: str
    ) -> Solved:
        """Labels of the rows that are not fixed, from those in F of the others; the columns share their known rows."""
        free, rest = np.flatnonzero(~fixed), np.flatnonzero(fixed)
        b = np.zeros(len(free))
        if self.prior != "hard":
            b[known[free] | (self.prior == "paper")] = self.strength
        rhs = b[:, None] * Y[free]
        if self.objective == "exact":
            own = sparse.csr_array(A[:, free])
            return normal_solve(own, b, rhs - own.T @ (A[:, rest] @ F[rest]), start=start[free])
        rows = A[free]
        M = sparse.csr_array(rows[:, free] + sparse.diags_array(b))
        return solve(M, rhs - rows[:, rest] @ F[rest], start=start[free], solver=self.solver, first=first)


def column_groups(*masks: np.ndarray) -> list[np.ndarray]:
    """The columns of masks (n x c) in groups of equal ones, in order of their first: they share a linear system."""
    packed = np.packbits(np.vstack(masks), axis=0)
    groups: dict[bytes, list[int]] = {}
    for j in range(packed.shape[1]):
        groups.setdefault(packed[:, j].tobytes(), []).append(j)
    return [np.array(columns) for columns in groups.values()]


@dataclass(frozen=True)
class InferredLabels:
    """Labels (n x c of bool), the soft labels they come from, W, how the run ended and one record a pass. The soft
    labels come from W, except for a cycle, whose W is that of the labels."""

    labels: np.ndarray
    soft: np.ndarray
    W: sparse.csr_array
    status: str
    trace: list[dict[str, Any]]


@dataclass
class Alternation:
    """``decide`` maps soft labels to labels (n x c of bool); ``start`` is "features" or "zero"; ``gains``: a label once
    found stays."""

    weights: LocalWeights
    known: np.ndarray
    Y: np.ndarray
    inference: Inference
    decide: Callable[[np.ndarray], np.ndarray]
    max_changes: int = 5
    max_iter: int = 50
    start: str = "features"
    gains: bool = False
    balance: bool = False
    trace: list[dict[str, Any]] = field(default_factory=list)
    route: str = ""

    def run(self) -> InferredLabels:
        """Passes until at most ``max_changes`` cells change, a cycle, or ``max_iter``; two at least."""
        F, soft = self.Y & self.known, (self.Y & self.known).astype(np.float64)
        states: list[np.ndarray] = []
        seen: dict[bytes, int] = {}
        status = "max_iter"
        if self.balance and self.start == "zero":
            self._balance(F)
        for number in range(1, self.max_iter + 1):
            began = time.perf_counter()
            before = F
            solved = self.weights.update(None if number == 1 and self.start == "features" else F)
            if number == 1 or solved or self.inference.prior == "paper":
                soft, facts = self._soft(F, soft)
            F = self.decided(soft, F)
            changed = int(np.count_nonzero(F != before))
            if number == 1 and self.balance and self.start == "features":
                self._balance(F)
            self.trace.append(self._record(F, soft, changed, facts, began))
            if number > 1 and changed <= self.max_changes:
                status = "converged"
                break
            states.append(np.packbits(F))
            first = seen.setdefault(states[-1].tobytes(), number)
            if first < number:
                status = "cycle"
                F, soft = self._least(states[first - 1 : number - 1], soft)
                break
        return InferredLabels(F, soft, self._matrix(), status, self.trace)

    def decided(self, soft: np.ndarray, before: np.ndarray) -> np.ndarray:
        """Labels from soft labels: known cells keep theirs except for prior="masked", which fits them too."""
        F = self.decide(soft)
        if self.gains:
            F |= before & ~self.known
        return F if self.inference.prior == "masked" else np.where(self.known, self.Y, F)

    def _matrix(self) -> sparse.csr_array:
        return reconstruction_matrix(self.weights.index, self.weights.weights, len(self.known))

    def _soft(self, F: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, dict[str, Any]]:
        """Soft labels of the weights as they are; for prior="paper" from all labels found so far."""
        given = self.Y & self.known
        if self.inference.prior == "paper":
            given = given | (F & ~self.known)
        unreached = self._unreached()
        found = self.inference.soft(self._matrix(), self.known, given.astype(np.float64), unreached, start, self.route)
        self.route = found.solver.rpartition("+")[2]
        facts = {"solver": found.solver, "residual": found.residual, "unreached": int(np.count_nonzero(unreached))}
        return found.Z, facts

    def _unreached(self) -> np.ndarray:
        """Cells of rows without a path of weights to a row where the label is known."""
        out = np.zeros(self.known.shape, dtype=bool)
        if self.inference.prior == "paper":
            return out
        edges = neighbour_pattern(self.weights.index, self.weights.weights)
        for columns in column_groups(self.known):
            out[:, columns] = ~reaches(edges, self.known[:, columns[0]])[:, None]
        return out

    def _balance(self, F: np.ndarray) -> None:
        """The Gram matrices of labels brought to the size of the features', so that alpha has no unit."""
        features, labels = self.weights.mean_traces(F.astype(np.float64), np.flatnonzero(self.known.any(axis=1)))
        if features > 0 and labels > 0:
            self.weights.scale_labels(features / labels)

    def cost(self, F: np.ndarray) -> tuple[float, float]:
        """(1 - alpha) |X - WX|^2 and alpha |F - WF|^2, for the weights as they are."""
        blend, labels = self.weights.blend, F.astype(np.float64)
        error = float(np.sum((labels - self._matrix() @ labels) ** 2))
        return self.weights.feature_error(), blend.alpha * blend.scale * error

    def _record(self, F: Any, soft: np.ndarray, changed: int, facts: dict[str, Any], began: float) -> dict[str, Any]:
        features, labels = self.cost(F)
        return {
            "changed": changed,
            "feature_cost": features,
            "label_cost": labels,
            "residual": facts["residual"],
            "largest": float(np.abs(soft[~self.known]).max(initial=0.0)),
            "unreached": facts["unreached"],
            "solver": facts["solver"],
            "seconds": time.perf_counter() - began,
        }

    def _least(self, cycle: list[np.ndarray], soft: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The labels of a cycle of smallest cost and the soft labels they came from; leaves the weights made from these
        labels."""
        members = [self._unpacked(bits) for bits in cycle]
        costs = []
        for F in members:
            self.weights.update(F)
            costs.append(sum(self.cost(F)))
        best = int(np.argmin(costs))
        before = members[best - 1]
        self.weights.update(before)
        soft, _ = self._soft(before, soft)
        self.weights.update(members[best])
        return members[best], soft

    def _unpacked(self, bits: np.ndarray) -> np.ndarray:
        n, c = self.known.shape
        return np.unpackbits(bits, count=n * c).reshape(n, c).astype(bool)
