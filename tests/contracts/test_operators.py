"""One contract for every operator: whatever is asked of it, it is the symmetric matrix that its definition says."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest
from scipy import sparse

from contracts.operators import (
    SOME,
    N,
    composed_cases,
    draw,
    graph,
    laplacian_array,
    leaves,
    matrices,
    spread_cases,
    weights,
)
from designs import each_value, in_turn
from proxembed.algebra.arrays.matrix import guard_dense
from proxembed.algebra.operators.inverse import Inverse
from proxembed.algebra.operators.structured import (
    Centering,
    Dense,
    Diagonal,
    Identity,
    Laplacian,
    LowRank,
    Multiple,
    Operator,
    Spread,
    Sum,
)

RELATIVE = 1e-12
WIDE = 1500


WITHIN = leaves(N) + composed_cases(N)
CASES = WITHIN + spread_cases()
# One spread operator in six, other ones for the next test.
every = in_turn("case", CASES, 6, WITHIN, ids=lambda case: case.name)
sized = in_turn("case", [c for c in CASES if c.operator.n is not None], 6, WITHIN, ids=lambda case: case.name)


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


@each_value
@pytest.mark.parametrize("form", MATRICES)
@every
def test_sandwich(case, form):
    X, array = MATRICES[form]
    found = case.operator.sandwich(X)
    size = np.abs(array.T) @ np.abs(case.array) @ np.abs(array)
    assert found.dtype == np.float64
    assert_close(found, array.T @ case.array @ array, size.max())
    assert_close(found, found.T, size.max())


@each_value
@pytest.mark.parametrize("form", MATRICES)
@every
def test_trace_of_the_sandwich(case, form):
    X, array = MATRICES[form]
    size = np.trace(np.abs(array.T) @ np.abs(case.array) @ np.abs(array))
    found = case.operator.trace_on(X)
    assert isinstance(found, float)
    assert_close(found, np.trace(array.T @ case.array @ array), size)


@every
def test_trace_of_wide_rows_needs_no_square_of_their_columns(case):
    X = draw(N, WIDE, seed=5)
    tracemalloc.start()
    found, (_, peak) = case.operator.trace_on(X), tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert_close(found, np.trace(case.array @ X @ X.T), np.trace(np.abs(case.array) @ np.abs(X) @ np.abs(X.T)))
    assert peak < WIDE * WIDE * 8 / 2


@every
def test_weights_on_both_sides(case):
    r = np.linspace(-1.0, 2.0, N)
    found = case.operator.weighted(r)
    assert_close(found.todense(N), r[:, None] * case.array * r, 4 * np.abs(case.array).max())


@sized
def test_laplacians(case):
    found = case.operator.laplacian()
    assert_close(found.todense(), laplacian_array(case.array), np.abs(case.array).sum(axis=1).max())
    assert isinstance(Laplacian(case.operator), type(found))


@every
def test_stated_forms_are_the_operator(case):
    size = np.abs(case.array).max()
    for form in (case.operator.low_rank(), case.operator.graph()):
        if form is not None:
            assert_close(form.todense(), case.array, size)
    stated = case.operator.diagonal_and_factors(N)
    if stated is not None:
        d, factors = stated
        total = np.diag(np.zeros(N) if d is None else d) + sum(c * factor.todense() for c, factor in factors)
        assert_close(total, case.array, size)


@pytest.mark.parametrize("case", [c for c in CASES if c.null and "spread" not in c.name], ids=lambda case: case.name)
def test_centred_operators_annihilate_the_constant(case):
    assert_close(case.operator @ np.ones(N), np.zeros(N), np.abs(case.array).sum(axis=1).max())


@every
def test_terms_sum_to_the_operator_and_are_leaves(case):
    terms = case.operator.terms()
    assert all(not isinstance(leaf, Sum | Multiple) for _, leaf in terms)
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


@each_value
@pytest.mark.parametrize("scalar", SCALARS, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("case", leaves(N)[::6] + composed_cases(N), ids=lambda case: case.name)
def test_scalars_of_every_type_on_either_side(case, scalar):
    for found, factor in ((scalar * case.operator, 3), (case.operator * scalar, 3), (case.operator / scalar, 1 / 3)):
        assert isinstance(found, Operator)
        assert_close(found.todense(N), factor * case.array, 3 * np.abs(case.array).max())


@each_value
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
        lambda: Inverse(1.0, LowRank(np.ones((n, 1)))).sandwich(sparse.csr_array((n, n))),
    ):
        with pytest.raises(ValueError, match="20,000 x 20,000"):
            refused()
    np.testing.assert_array_equal(LowRank(tall).diagonal(), np.zeros(n))  # in blocks
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
