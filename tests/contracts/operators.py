"""Every operator beside the array it stands for, and every form of X that a sandwich takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from designs import WHOLE, covering, whole
from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.arrays.class_blocks import ClassLinks, ClassResiduals, ClassWeights, Residual
from proxembed.algebra.operators.inverse import Inverse
from proxembed.algebra.operators.structured import (
    Centering,
    Dense,
    Diagonal,
    Identity,
    Laplacian,
    LowRank,
    Operator,
    Sparse,
)

N = 9
SOME = np.array([7, 2, 0, 5, 8, 3])


def frozen(array: np.ndarray) -> np.ndarray:
    """The array, not writable: an operator that wrote into its input would raise."""
    array.setflags(write=False)
    return array


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return frozen(np.random.default_rng((seed, *shape)).standard_normal(shape))


def holes(array: np.ndarray, seed: int = 0) -> np.ndarray:
    """The array with about half of its entries zero."""
    return frozen(array * (np.random.default_rng(seed + 50).random(array.shape) < 0.5))


def graph(n: int) -> np.ndarray:
    W = holes(np.abs(draw(n, n, seed=3)))
    return frozen(W + W.T)


def weights(n: int) -> np.ndarray:
    return frozen(0.5 + np.random.default_rng(n).random(n))


def weights_with_zeros(n: int) -> np.ndarray:
    w = weights(n).copy()
    w[[1, n - 2]] = 0.0
    return frozen(w)


@dataclass(frozen=True)
class Case:
    """An operator and, made another way, the array it stands for. ``null``: the constant vector is annihilated."""

    name: str
    operator: Operator
    array: np.ndarray
    null: bool = False


class Products(Operator):
    """A symmetric array of which the products alone are stated: the least that an operator defines."""

    def __init__(self, A: np.ndarray):
        self.n, self._product = len(A), A.__matmul__

    def __matmul__(self, V):
        return self._product(V)


def low_rank_array(F, S, center) -> np.ndarray:
    n, q = F.shape
    S = np.eye(q) if S is None else np.diag(S) if S.ndim == 1 else S
    J = np.eye(n) if center is None else np.eye(n) - np.outer(center, np.ones(n)) / center.sum()
    return J @ F @ S @ F.T @ J.T


def centering_array(w: np.ndarray) -> np.ndarray:
    return np.diag(w) - np.outer(w, w) / w.sum()


def laplacian_array(W: np.ndarray) -> np.ndarray:
    L = -W.copy()
    for i in range(len(W)):
        L[i, i] += W[i].sum()
    return L


def low_rank_cases(n: int) -> list[Case]:
    dense, spotted = draw(n, 3), holes(draw(n, 3, seed=1))
    factors = {"dense": (dense, dense), "csc": (sparse.csc_array(spotted), spotted)}
    inner = {"I": None, "vector": frozen(np.array([1.5, -0.7, 0.3])), "matrix": frozen(draw(3, 3) + draw(3, 3).T)}
    centers = {"none": None, "uniform": frozen(np.ones(n)), "weighted": weights(n), "zeros": weights_with_zeros(n)}
    axes = list(factors.items()), list(inner.items()), list(centers.items())
    rows = (whole if WHOLE else covering)([*map(len, axes)])
    cases = [
        Case(f"low rank, {f} F, S {s}, center {c}", LowRank(F, S, w), low_rank_array(A, S, w), null=w is not None)
        for (f, (F, A)), (s, S), (c, w) in ((axes[0][i], axes[1][j], axes[2][k]) for i, j, k in sorted(rows))
    ]
    csr, one = sparse.csr_array(spotted), draw(n, 1, seed=2)
    return cases + [
        Case("low rank, csr F", LowRank(csr, None, weights(n)), low_rank_array(spotted, None, weights(n)), null=True),
        Case("low rank, one column", LowRank(one), low_rank_array(one, None, None)),
    ]


def plain_cases(n: int) -> list[Case]:
    W, d, w, z = graph(n), draw(n, seed=4), weights(n), weights_with_zeros(n)
    positive, Q = frozen(np.abs(draw(n, 2))), np.array([[2.0, -0.4], [-0.4, 1.0]])
    one = frozen(w[:, None].copy())
    rank_one, signed = LowRank(one, np.array([1 / w.sum()])), LowRank(draw(n, 1), np.array([0.3]))
    symmetric = frozen(draw(n, n) + draw(n, n).T)
    return [
        Case("sparse csr", Sparse(sparse.csr_array(W)), W),
        Case("sparse coo", Sparse(sparse.coo_array(W)), W),
        Case("laplacian of a graph", Laplacian(Sparse(W)), laplacian_array(W), null=True),
        Case(
            "laplacian of low rank", Laplacian(LowRank(positive, Q)), laplacian_array(positive @ Q @ positive.T), True
        ),
        Case("laplacian of rank one", Laplacian(rank_one), laplacian_array(np.outer(w, w) / w.sum()), null=True),
        Case(
            "laplacian of signed rank one", Laplacian(signed), laplacian_array(0.3 * signed.F @ signed.F.T), null=True
        ),
        Case("diagonal", Diagonal(d), np.diag(d)),
        Case("identity", Identity(n), np.eye(n)),
        Case("identity of any size", Identity(), np.eye(n)),
        Case("centering", Centering(), np.eye(n) - 1 / n, null=True),
        Case("weighted centering", Centering(w), centering_array(w), null=True),
        Case("centering with zero weights", Centering(z), centering_array(z), null=True),
        Case("guarded dense", Dense(symmetric), symmetric),
        Case("products alone", Products(symmetric), symmetric),
    ]


def inverse_cases(n: int) -> list[Case]:
    F, wide, S = draw(n, 3, seed=6), draw(n, n + 4, seed=7), np.array([2.0, 0.5, 1.0])
    half, spotted = draw(3, 2), holes(draw(n, 4, seed=8))
    P, w = half @ half.T, weights(n)

    def inverse(eps, K):
        return np.linalg.inv(eps * np.eye(n) + K)

    both = 0.7 * LowRank(F) + 2.0 * LowRank(sparse.csc_array(spotted), center=w)
    array = 0.7 * F @ F.T + 2.0 * low_rank_array(spotted, None, w)
    return [
        Case("inverse, p < n", Inverse(0.5, LowRank(F)), inverse(0.5, F @ F.T)),
        Case("inverse, p > n", Inverse(0.5, LowRank(wide)), inverse(0.5, wide @ wide.T)),
        Case("inverse, S a vector", Inverse(0.2, LowRank(F, S)), inverse(0.2, F @ np.diag(S) @ F.T)),
        Case("inverse, S singular", Inverse(0.2, LowRank(F, P)), inverse(0.2, F @ P @ F.T)),
        Case("inverse of a sum", Inverse(1.3, both), inverse(1.3, array)),
        Case("inverse, K = 0", Inverse(2.0, LowRank(np.zeros((n, 1)))), np.eye(n) / 2),
    ]


def class_cases(n: int) -> list[Case]:
    """Operators made of blocks of rows; the blocks overlap, as classes of several labels per row do."""
    blocks = [np.arange(0, n - 2), np.arange(n - 1, 1, -2), np.array([n // 2])]
    inner = [graph(len(index)) for index in blocks]
    tiles = [lambda rows, columns, A=A: A[rows, columns].copy() for A in inner]
    weights_ = ClassWeights(n, [(index, lambda tile=tile: tile) for index, tile in zip(blocks, tiles, strict=True)])
    links = ClassLinks(n, [(index, sparse.csr_array(A)) for index, A in zip(blocks, inner, strict=True)])
    factors = np.array([[0.5, 2.0, 3.0], [1.0, -1.0, 0.0]])
    wide = [np.zeros((n, n)) for _ in factors]
    for row, total in zip(factors, wide, strict=True):
        for c, index, A in zip(row, blocks, inner, strict=True):
            total[np.ix_(index, index)] += c * laplacian_array(A)
    residuals, squares = [], np.zeros((n, n))
    for k, index in enumerate(blocks):
        size, plain = len(index), float(k != 1)
        U, B, scale = draw(size, 2, seed=20 + k), draw(size, 2, seed=30 + k), weights(size)
        residuals.append(Residual(index, U, B, scale, plain))
        R = scale[:, None] * (plain * (np.eye(size) - 1 / size) - B @ U.T)
        squares[np.ix_(index, index)] += R.T @ R
    return [
        Case("laplacian inside classes", weights_.laplacian(factors[0]), wide[0], null=True),
        Case("its sibling", weights_.laplacian(factors[1]), wide[1], null=True),
        Case("laplacian of links inside classes", links.laplacian(factors[0]), wide[0], null=True),
        Case("its sibling of the same links", links.laplacian(factors[1]), wide[1], null=True),
        Case("residuals inside classes", ClassResiduals(n, residuals), squares),
    ]


def leaves(n: int) -> list[Case]:
    return low_rank_cases(n) + plain_cases(n) + inverse_cases(n) + class_cases(n)


def composed_cases(n: int) -> list[Case]:
    A, B, C = plain_cases(n)[0], low_rank_cases(n)[7], plain_cases(n)[9]
    return [
        Case("sum", A.operator + B.operator, A.array + B.array),
        Case("difference", A.operator - B.operator, A.array - B.array),
        Case("negative", -A.operator, -A.array),
        Case("scaled", 2.5 * A.operator, 2.5 * A.array),
        Case("nested", 0.5 * (A.operator - 2 * (B.operator + C.operator)) / 4 - C.operator,
             0.125 * (A.array - 2 * (B.array + C.array)) - C.array),
        Case("sum of any size", 0.3 * Identity() + Centering(), 0.3 * np.eye(n) + np.eye(n) - 1 / n),
    ]  # fmt: skip


def spread_cases() -> list[Case]:
    """Every leaf and sum on 6 rows, seen from 9 rows in another order; and once more inside a spread."""
    cases = []
    for case in leaves(len(SOME)) + composed_cases(len(SOME)):
        wide = np.zeros((N, N))
        wide[np.ix_(SOME, SOME)] = case.array
        cases.append(Case(f"{case.name}, spread", case.operator.spread(SOME, N), wide, case.null))
    inner, index = np.array([4, 1, 3]), SOME[[4, 1, 3]]
    W = graph(3)
    twice = np.zeros((N, N))
    twice[np.ix_(index, index)] = W
    return cases + [Case("spread twice", Sparse(W).spread(inner, 6).spread(SOME, N), twice)]


def matrices() -> dict[str, tuple[object, np.ndarray]]:
    """Every form of X that a sandwich takes, with the array that it stands for."""
    dense, wide = draw(N, 4, seed=9), draw(N, 2 * N, seed=10)
    spotted = holes(draw(N, 5, seed=11))
    csr, narrow = sparse.csr_array(spotted), sparse.csr_array(spotted.astype(np.float32))
    frozen(csr.data), frozen(narrow.data)
    m4, m5 = frozen(weights(N) @ dense / weights(N).sum()), frozen(spotted.mean(axis=0))
    return {
        "dense": (dense, dense),
        "wide dense": (wide, wide),
        "float32 dense": (frozen(dense.astype(np.float32)), dense.astype(np.float32).astype(float)),
        "csr": (csr, spotted),
        "csr matrix": (sparse.csr_matrix(spotted), spotted),
        "float32 csr": (narrow, spotted.astype(np.float32).astype(float)),
        "centred dense": (CentredMatrix(dense, m4), dense - m4),
        "centred csr": (CentredMatrix(csr, m5), spotted - m5),
        "centred float32 csr": (CentredMatrix(narrow, m5), spotted.astype(np.float32) - m5),
    }
