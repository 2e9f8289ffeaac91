"""One contract for every operator: whatever is asked of it, it is the symmetric matrix that its definition says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import sparse

from proxembed.algebra.centred import CentredMatrix
from proxembed.algebra.guard import guard_dense
from proxembed.algebra.inverse import Inverse
from proxembed.algebra.operators import (
    Centering,
    Dense,
    Diagonal,
    Identity,
    Laplacian,
    LowRank,
    Operator,
    Scaled,
    Sparse,
    Spread,
    Sum,
)

N = 9
SOME = np.array([7, 2, 0, 5, 8, 3])
RELATIVE = 1e-12


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
    cases = [
        Case(f"low rank, {f} F, S {s}, center {c}", LowRank(F, S, w), low_rank_array(A, S, w), null=w is not None)
        for f, (F, A) in factors.items()
        for s, S in inner.items()
        for c, w in centers.items()
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


def leaves(n: int) -> list[Case]:
    return low_rank_cases(n) + plain_cases(n) + inverse_cases(n)


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


CASES = leaves(N) + composed_cases(N) + spread_cases()
every = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
sized = pytest.mark.parametrize("case", [c for c in CASES if c.operator.n is not None], ids=lambda case: case.name)


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


MATRICES = matrices()


def assert_close(found, expected, scale: float | None = None) -> None:
    size = max(float(np.abs(expected).max(initial=0.0)), 1e-3 if scale is None else scale)
    np.testing.assert_allclose(found, expected, rtol=0, atol=RELATIVE * size)


@every
def test_products_with_matrices_and_vectors(case):
    V = draw(N, 4, seed=12)
    size = np.abs(case.array).sum(axis=1).max()
    assert_close(case.operator @ V, case.array @ V, size)
    assert_close(case.operator @ V[:, 0], case.array @ V[:, 0], size)
    assert (case.operator @ V[:, :1]).shape == (N, 1)


@every
def test_array_diagonal_and_trace(case):
    found = case.operator.todense(N)
    size = np.abs(case.array).max()
    assert found.shape == (N, N)
    assert_close(found, case.array, size)
    assert_close(found, found.T, size)
    assert_close(case.operator.diagonal(N), np.diag(case.array), size)
    assert_close(case.operator.trace(N), np.trace(case.array), N * size)
    assert isinstance(case.operator.trace(N), float)


@pytest.mark.parametrize("form", MATRICES)
@every
def test_sandwich(case, form):
    X, array = MATRICES[form]
    found = case.operator.sandwich(X)
    size = np.abs(array.T) @ np.abs(case.array) @ np.abs(array)
    assert found.dtype == np.float64
    assert_close(found, array.T @ case.array @ array, size.max())
    assert_close(found, found.T, size.max())


@pytest.mark.parametrize("case", [c for c in CASES if c.null and "spread" not in c.name], ids=lambda case: case.name)
def test_centred_operators_annihilate_the_constant(case):
    assert_close(case.operator @ np.ones(N), np.zeros(N), np.abs(case.array).sum(axis=1).max())


@every
def test_terms_sum_to_the_operator_and_are_leaves(case):
    terms = case.operator.terms()
    assert all(not isinstance(leaf, Sum | Scaled) for _, leaf in terms)
    assert all(len(leaf.terms()) == 1 for _, leaf in terms)
    size = np.abs(case.array).max()
    assert_close(sum(c * leaf.todense(N) for c, leaf in terms), case.array, size)
    for form in ("dense", "csr", "centred csr"):
        X, array = MATRICES[form]
        assert_close(sum(c * leaf.sandwich(X) for c, leaf in terms), array.T @ case.array @ array, 100 * size)


def test_spread_keeps_the_kind_of_leaf():
    kinds = {
        LowRank: LowRank(draw(6, 2), center=weights(6)),
        Diagonal: Diagonal(draw(6)),
        Centering: Centering(),
        Spread: Dense(graph(6)),
    }
    for kind, operator in kinds.items():
        ((c, leaf),) = operator.spread(SOME, N).terms()
        assert c == 1.0 and type(leaf) is kind
    ((_, twice),) = Dense(graph(3)).spread(np.array([4, 1, 3]), 6).spread(SOME, N).terms()
    assert isinstance(twice.op, Dense)


def test_laplacian_of_a_normalised_rank_one_weight_is_known_as_centering():
    w = weights(N)
    for F in (w[:, None], sparse.csc_array(w[:, None])):
        assert isinstance(Laplacian(LowRank(F, np.array([1 / w.sum()]))), Centering)
        assert not isinstance(Laplacian(LowRank(F, np.array([2 / w.sum()]))), Centering)
    with pytest.raises(ValueError, match="number of rows"):
        Laplacian(Identity())


SCALARS = [3, 3.0, np.float64(3), np.float32(3), np.int64(3), np.array(3.0)]


@pytest.mark.parametrize("scalar", SCALARS, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("case", leaves(N)[::6] + composed_cases(N), ids=lambda case: case.name)
def test_scalars_of_every_type_on_either_side(case, scalar):
    for found, factor in ((scalar * case.operator, 3), (case.operator * scalar, 3), (case.operator / scalar, 1 / 3)):
        assert isinstance(found, Operator)
        assert_close(found.todense(N), factor * case.array, 3 * np.abs(case.array).max())


@pytest.mark.parametrize("left", leaves(N)[::5], ids=lambda case: case.name)
@pytest.mark.parametrize("right", leaves(N)[2::7], ids=lambda case: case.name)
def test_sums_and_differences(left, right):
    size = np.abs(left.array).max() + np.abs(right.array).max()
    assert_close((left.operator + right.operator).todense(N), left.array + right.array, size)
    assert_close((left.operator - right.operator).todense(N), left.array - right.array, size)
    assert_close((-left.operator).todense(N), -left.array, size)


def test_operators_of_different_sizes_cannot_be_added():
    with pytest.raises(ValueError, match=r"\[4, 5\]"):
        Identity(4) + Diagonal(np.ones(5))
    assert (Identity() + Diagonal(np.ones(5))).n == 5


@pytest.mark.parametrize("other", [1, 2.0, np.float64(1), "A", None], ids=repr)
def test_only_operators_can_be_added(other):
    for combine in (lambda A: A + other, lambda A: A - other, lambda A: other + A):
        with pytest.raises(TypeError):
            combine(Identity(3))


WRONG: dict[str, Callable[[Operator, np.ndarray], object]] = {
    "matrix": lambda A, X: A @ X,
    "vector": lambda A, X: A @ X[:, 0],
    "sandwich": lambda A, X: A.sandwich(X),
    "sandwich of csr": lambda A, X: A.sandwich(sparse.csr_array(X)),
}


@sized
def test_wrong_sizes_raise(case):
    accepted = []
    for question, ask in WRONG.items():
        for rows in (1, N - 1, N + 1):
            try:
                ask(case.operator, draw(rows, 3))
            except ValueError:
                continue
            accepted.append((question, rows))
    assert accepted == []


@pytest.mark.parametrize("operator", [Identity(), Centering(), 2.0 * Identity() + Centering()], ids=["I", "H", "sum"])
def test_an_operator_of_any_size_asks_for_one(operator):
    for question in (operator.todense, operator.diagonal, operator.trace):
        with pytest.raises(ValueError, match="pass n"):
            question()
    assert operator.diagonal(5).shape == (5,)


def test_an_inverse_takes_positive_low_rank_terms_only():
    for K in (Diagonal(np.ones(4)), -1.0 * LowRank(draw(4, 1)), LowRank(draw(4, 1)) + Identity(4)):
        with pytest.raises(TypeError, match="positive coefficients"):
            Inverse(1.0, K)


@pytest.mark.parametrize("eps", [1.0, 1e-3])
@pytest.mark.parametrize("gap", [1e-2, 1e-4, 1e-6], ids=lambda gap: f"gap {gap:g}")
def test_an_inverse_holds_for_nearly_equal_factor_columns(gap, eps):
    f, X = draw(N, 2, seed=13), draw(N, 3, seed=14)
    F = np.column_stack([f[:, 0], f[:, 0] + gap * f[:, 1]])
    array = np.linalg.inv(eps * np.eye(N) + F @ F.T)
    operator = Inverse(eps, LowRank(F))
    tolerance = 1e-10 / eps  # the condition of eps I + K is about 1e4 at most: the reference itself is good to 1e-12
    np.testing.assert_allclose(operator @ X, array @ X, rtol=0, atol=tolerance)
    np.testing.assert_allclose(operator.diagonal(), np.diag(array), rtol=0, atol=tolerance)
    np.testing.assert_allclose(operator.sandwich(X), X.T @ array @ X, rtol=0, atol=tolerance)


def test_dense_arrays_above_the_guard_are_refused_with_their_size():
    n = 20_000
    huge, tall = np.broadcast_to(np.zeros(1), (n, n)), sparse.csc_array((n, n))
    with pytest.raises(ValueError, match=r"dense 20,000 x 20,000 array of 3\.0 GiB, above max_dense_bytes = 2\.0 GiB"):
        Dense(huge)
    for refused in (
        Diagonal(np.zeros(n)).todense,
        LowRank(sparse.csc_array((n, 1))).todense,
        LowRank(tall).dense_factor,
        LowRank(tall).diagonal,
        lambda: Inverse(1.0, LowRank(np.ones((n, 1)))).sandwich(sparse.csr_array((n, n))),
    ):
        with pytest.raises(ValueError, match="20,000 x 20,000"):
            refused()
    with pytest.raises(ValueError, match=r"4 x 4 .* 0\.0 GiB"):
        Dense(np.eye(4), max_dense_bytes=100)
    guard_dense((4, 4), "A small array", max_dense_bytes=128)
    with pytest.raises(ValueError, match="A small array"):
        guard_dense((4, 4), "A small array", max_dense_bytes=127)


@every
def test_questions_change_neither_operator_nor_input(case):
    """Arrays given to the cases are not writable; here the answers are asked for twice."""
    V, (X, _) = draw(N, 2, seed=12), MATRICES["centred csr"]
    V_before, X_before = V.copy(), X.X.toarray()

    def answers():
        A = case.operator
        return [A @ V, A.diagonal(N), A.sandwich(X), A.sandwich(V), A.todense(N)]

    for first, second in zip(answers(), answers(), strict=True):
        np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(V, V_before)
    np.testing.assert_array_equal(X.X.toarray(), X_before)


@every
def test_answers_are_the_callers_to_change(case):
    """Writing into a product, a diagonal or a sandwich leaves the operator as it was."""
    X, _ = matrices()["centred csr"]
    for ask in (lambda A: A @ np.ones((N, 2)), lambda A: A.diagonal(N), lambda A: A.sandwich(X)):
        first = ask(case.operator)
        kept = first.copy()
        if first.flags.writeable:
            first += 1.0
        np.testing.assert_array_equal(ask(case.operator), kept)
