"""CentredMatrix against X - 1 mean' written out: dense and sparse, float64 and float32, near the origin and far."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import strategies
from designs import each_value, pairwise
from proxembed.algebra.arrays import blas
from proxembed.algebra.arrays import centred as centred_module
from proxembed.algebra.arrays.centred import CentredMatrix, symmetric_from_lower, weighted_mean

N, D = 37, 6
SIGNED = np.random.default_rng(1).standard_normal(N)
POSITIVE60 = np.random.default_rng(2).random(60) + 0.5
POSITIVE = 0.2 + np.abs(SIGNED)


def spotted(n: int = N, d: int = D) -> np.ndarray:
    X = strategies.features_text(n, d, seed=2).toarray()
    X[:, 1] = 0.0
    X[4] = 0.0
    return X


def forms() -> dict[str, tuple[CentredMatrix, np.ndarray]]:
    """The operator and the array it stands for."""
    dense, mostly_zero = strategies.features_dense(N, D, 3), spotted()
    narrow, mean = dense.astype(np.float32), np.linspace(-1, 1, D)
    sparse_narrow = sparse.csr_array(mostly_zero.astype(np.float32))
    return {
        "dense": (CentredMatrix(dense), dense),
        "dense, any mean": (CentredMatrix(dense, mean), dense - mean),
        "dense, own mean": (CentredMatrix.centred(dense, np.ones(N)), dense - dense.mean(axis=0)),
        "dense, weighted mean": (
            CentredMatrix.centred(dense, POSITIVE),
            dense - np.average(dense, axis=0, weights=POSITIVE),
        ),
        "float32": (CentredMatrix(narrow), narrow.astype(float)),
        "float32, own mean": (
            CentredMatrix.centred(narrow, np.ones(N)),
            narrow.astype(float) - narrow.astype(float).mean(axis=0),
        ),
        "csr": (CentredMatrix(sparse.csr_array(mostly_zero)), mostly_zero),
        "csr matrix, any mean": (CentredMatrix(sparse.csr_matrix(mostly_zero), mean), mostly_zero - mean),
        "csr, weighted mean": (
            CentredMatrix.centred(sparse.csr_array(mostly_zero), POSITIVE),
            mostly_zero - np.average(mostly_zero, axis=0, weights=POSITIVE),
        ),
        "float32 csr, own mean": (
            CentredMatrix.centred(sparse_narrow, np.ones(N)),
            sparse_narrow.toarray().astype(float) - sparse_narrow.toarray().astype(float).mean(axis=0),
        ),
    }


FORMS = forms()
every = pytest.mark.parametrize("form", FORMS)
weighted = pytest.mark.parametrize(
    "weights", [None, np.ones(N), POSITIVE, SIGNED, -POSITIVE, np.zeros(N)], ids=["none", "1", "+", "+-", "-", "0"]
)


def assert_close(found, expected, relative: float = 1e-12) -> None:
    size = max(float(np.abs(expected).max(initial=0.0)), 1.0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=relative * size)


@every
def test_products(form):
    rows, X = FORMS[form]
    V, U = strategies.features_dense(D, 3, 4), strategies.features_dense(N, 3, 5)
    for found, expected in (
        (rows.dot(V), X @ V),
        (rows.dot(V[:, 0]), X @ V[:, 0]),
        (rows.tdot(U), X.T @ U),
        (rows.tdot(U[:, 0]), X.T @ U[:, 0]),
        (rows.column_sums(), X.sum(axis=0)),
    ):
        assert found.dtype == np.float64
        assert_close(found, expected)


@each_value
@pytest.mark.parametrize("make", [sparse.csc_array, sparse.csr_array, sparse.csc_matrix], ids=lambda m: m.__name__)
@every
def test_transposed_product_with_a_sparse_matrix(form, make):
    rows, X = FORMS[form]
    U = strategies.labels_multi(N, 4, 6)
    assert_close(rows.tdot(make(U)), X.T @ U)


@each_value
@pytest.mark.parametrize("many", [0.0, 1.0], ids=["dense blocks", "sparse blocks"])
@every
def test_transposed_product_with_a_sparse_matrix_block_by_block(form, many, monkeypatch):
    rows, X = FORMS[form]
    monkeypatch.setattr(centred_module, "MANY", many)
    monkeypatch.setattr(centred_module, "block_rows", lambda *_: 10)
    U = strategies.labels_multi(N, 4, 6)
    assert_close(rows.tdot(sparse.csc_array(U)), X.T @ U)


@pytest.mark.parametrize("columns", [(), (3,)], ids=["vector", "matrix"])
def test_tall_products_by_blocks_are_the_same_for_any_number_of_threads(columns, monkeypatch):
    monkeypatch.setattr(centred_module, "THREADED", 0)
    monkeypatch.setattr(centred_module, "block_rows", lambda *_: 5)
    X, rng = strategies.features_dense(N, D, 3), np.random.default_rng(0)
    V, U, found = rng.normal(size=(D, *columns)), rng.normal(size=(N, *columns)), []
    for threads in (1, 2, 5):
        monkeypatch.setattr(blas, "threads", lambda threads=threads: threads)
        found.append((centred_module.tall_dot(X, V), centred_module.tall_tdot(X, U)))
    assert_close(found[0][0], X @ V)
    assert_close(found[0][1], X.T @ U)
    for other in found[1:]:
        np.testing.assert_array_equal(found[0][0], other[0])
        np.testing.assert_array_equal(found[0][1], other[1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("threaded", [0, 1 << 60], ids=["threads", "none"])
@pytest.mark.parametrize("columns", [(), (1,), (3,)], ids=["vector", "column", "matrix"])
def test_tall_products_keep_double_precision_and_take_a_level_off(columns, threaded, dtype, monkeypatch):
    monkeypatch.setattr(centred_module, "THREADED", threaded)
    monkeypatch.setattr(centred_module, "block_rows", lambda *_: 5)
    X, rng = strategies.features_dense(N, D, 3).astype(dtype), np.random.default_rng(0)
    V, level = rng.normal(size=(D, *columns)), rng.normal(size=columns)
    assert_close(centred_module.tall_dot(X, V), X.astype(float) @ V)
    assert_close(centred_module.tall_dot(X, V, level), X.astype(float) @ V - level)
    kept = X.copy()
    shift = rng.normal(size=D)
    for rows in (X, np.asfortranarray(X)):
        assert_close(centred_module.tall_dot(rows, V, level, shift=shift), (X.astype(float) - shift) @ V - level)
    np.testing.assert_array_equal(X, kept)


def test_products_show_what_is_not_finite_unless_every_component_has_a_zero():
    P = np.array([[1.0, 0.0], [0.0, 2.0]])
    assert not centred_module.shows_entries(np.ones((2, 2)), P)
    assert centred_module.shows_entries(np.ones((2, 2)), np.vstack([P, np.ones(2)]))
    assert centred_module.shows_entries(sparse.csr_array(np.eye(2)), P)


@every
def test_gram_matrices_by_tiles_are_the_same_for_any_number_of_threads(form, monkeypatch):
    monkeypatch.setattr(centred_module, "block_rows", lambda *_: 5)
    expected = FORMS[form][1].T @ FORMS[form][1]
    monkeypatch.setattr(centred_module, "THREADED", 0)
    found = []
    for threads in (1, 2, 5):
        monkeypatch.setattr(blas, "threads", lambda threads=threads: threads)
        found.append(forms()[form][0].gram())
    assert_close(found[0], expected)
    for other in found[1:]:
        np.testing.assert_array_equal(found[0], other)


@every
def test_the_kept_product_belongs_to_its_matrix(form):
    rows, X = FORMS[form]
    first, second = (sparse.csc_array(strategies.labels_multi(N, 4, seed)) for seed in (6, 7))
    for U in (first, second, first, first.copy(), 2.0 * first):
        assert_close(rows.tdot(U), X.T @ U.toarray())
    assert_close(rows.tdot(first.toarray()), X.T @ first.toarray())


@pytest.mark.parametrize("form", ["dense, own mean", "csr"])
def test_what_is_kept_is_not_changed_through_an_answer(form):
    rows, X = forms()[form]
    U = sparse.csc_array(strategies.labels_multi(N, 4, 6))
    for ask in (lambda: rows.tdot(U), rows.gram, rows.outer_gram, rows.column_norms):
        answer = ask()
        kept = answer.copy()
        if answer.flags.writeable:
            answer *= 2.0
        np.testing.assert_array_equal(ask(), kept)


@each_value
@weighted
@every
def test_gram_norm_and_column_norms(form, weights):
    rows, X = FORMS[form]
    w = np.ones(N) if weights is None else weights
    expected = X.T @ (w[:, None] * X)
    found = rows.gram(weights)
    assert found.dtype == np.float64
    assert_close(found, expected)
    assert_close(found, found.T, 1e-14)
    assert_close(rows.squared_norm(weights), np.trace(expected))
    if w.min() >= 0:
        assert_close(rows.column_norms(weights), np.diag(expected))


@each_value
@pytest.mark.parametrize("weights", [None, POSITIVE, np.where(SIGNED > 0, SIGNED, 0)], ids=["none", "+", "with 0"])
@every
def test_outer_gram(form, weights):
    rows, X = FORMS[form]
    root = np.ones(N) if weights is None else np.sqrt(weights)
    assert_close(rows.outer_gram(weights), (root[:, None] * X) @ (root[:, None] * X).T)


@each_value
@pytest.mark.parametrize(
    "index", [slice(3, 11), np.array([5, 0, 5, 36]), np.arange(N) % 3 == 0], ids=["slice", "rows", "mask"]
)
@every
def test_taken_rows_keep_the_mean(form, index):
    rows, X = FORMS[form]
    taken = rows.take(index)
    assert taken.shape == X[index].shape
    assert_close(taken.dot(np.eye(D)), X[index])
    assert_close(taken.column_sums(), X[index].sum(axis=0))


@every
def test_blocks_are_the_rows_in_order(form):
    rows, X = FORMS[form]
    parts, blocks = zip(*rows.blocks(), strict=True)
    assert_close(np.vstack(blocks), X)
    assert parts[0].start == 0 and parts[-1].stop == N


@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_many_blocks_give_what_one_does(kind, monkeypatch):
    X = strategies.features_text(300, 8, 3)
    X = X.toarray() if kind == "dense" else X
    w = np.random.default_rng(0).standard_normal(300)
    rows = CentredMatrix.centred(X, np.ones(300))

    def answers():
        return [rows.gram(w), rows.outer_gram(), rows.squared_norm(w), rows.column_norms(np.abs(w))]

    whole = answers()
    monkeypatch.setattr(centred_module, "block_rows", lambda *_: 64)
    assert len(list(rows.blocks())) == 5
    for one, many in zip(whole, answers(), strict=True):
        assert_close(many, one, 1e-13)


def test_sparse_equals_dense():
    X = strategies.features_text(60, 200, 1)
    U, V = strategies.labels_multi(60, 5, 1), strategies.features_dense(200, 3, 1)
    a, b = CentredMatrix.centred(X, np.ones(60)), CentredMatrix.centred(X.toarray(), np.ones(60))
    assert_close(a.centre, b.centre)
    for ask in (
        lambda M: M.dot(V),
        lambda M: M.tdot(U),
        lambda M: M.gram(),
        lambda M: M.outer_gram(),
        lambda M: M.column_norms(),
        lambda M: M.squared_norm(),
    ):
        assert_close(ask(a), ask(b))


SHIFT = 1e4


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
def test_dense_rows_far_from_the_origin_keep_relative_accuracy(dtype):
    """The shift is 1e4 times the spread: squaring before subtracting would lose eight of sixteen digits."""
    X = (strategies.features_dense(N, D, 8) + SHIFT).astype(dtype)
    exact = X.astype(np.longdouble)
    exact = (exact - exact.mean(axis=0)).astype(float)
    rows = CentredMatrix.centred(X, np.ones(N))
    V, U = strategies.features_dense(D, 2, 9), strategies.features_dense(N, 2, 9)
    for found, expected in (
        (rows.dot(V), exact @ V),
        (rows.tdot(U), exact.T @ U),
        (rows.gram(), exact.T @ exact),
        (rows.gram(SIGNED), exact.T @ (SIGNED[:, None] * exact)),
        (rows.outer_gram(), exact @ exact.T),
        (rows.squared_norm(), np.sum(exact**2)),
        (rows.column_norms(), np.sum(exact**2, axis=0)),
    ):
        assert_close(found, expected, 1e-10)


def test_sparse_rows_of_large_values_keep_relative_accuracy():
    """Where zeros are many, the spread is as large as the values and the rank-one form of centring loses nothing."""
    X = spotted() * SHIFT
    exact = X - X.mean(axis=0)
    rows = CentredMatrix.centred(sparse.csr_array(X), np.ones(N))
    assert_close(rows.gram(), exact.T @ exact, 1e-13)
    assert_close(rows.outer_gram(), exact @ exact.T, 1e-13)
    assert_close(rows.column_norms(), np.sum(exact**2, axis=0), 1e-13)
    assert (rows.column_norms() >= 0).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_weighted_mean_is_float64(make, dtype):
    X = spotted().astype(dtype)
    found = weighted_mean(make(X), POSITIVE)
    assert found.dtype == np.float64 and found.shape == (D,)
    assert_close(found, np.average(X.astype(float), axis=0, weights=POSITIVE), 1e-14)


def test_of_keeps_a_centred_matrix_and_wraps_an_array():
    rows = CentredMatrix(spotted(), np.ones(D))
    assert CentredMatrix.of(rows) is rows
    assert CentredMatrix.of(rows.X).mean is None
    assert CentredMatrix.centred(rows.X, None).mean is None


def test_symmetric_from_lower_ignores_the_upper_triangle():
    G = strategies.features_dense(5, 5, 0)
    found = symmetric_from_lower(G.copy())
    np.testing.assert_array_equal(np.tril(found), np.tril(G))
    np.testing.assert_array_equal(found, found.T)


@pytest.mark.parametrize("make", [np.array, sparse.csr_array], ids=["dense", "csr"])
def test_inputs_are_untouched(make):
    X, U, V, w = (
        make(spotted()),
        strategies.features_dense(N, 2, 0),
        strategies.features_dense(D, 2, 0),
        POSITIVE.copy(),
    )
    before = spotted()
    kept = [U.copy(), V.copy(), w.copy()]
    rows = CentredMatrix.centred(X, w)
    rows.dot(V), rows.tdot(U), rows.gram(w), rows.outer_gram(w), rows.squared_norm(w), rows.column_norms(w)
    np.testing.assert_array_equal(X if make is np.array else X.toarray(), before)
    for now, then in zip([U, V, w], kept, strict=True):
        np.testing.assert_array_equal(now, then)


@pytest.mark.parametrize("stored", [sparse.csr_array, sparse.csc_array], ids=["csr", "csc"])
def test_columns_stored_in_full_are_centred_in_place(stored):
    """Sparse rows 1e6 spreads from the origin in some columns keep the accuracy of dense ones; the others stay."""
    X = strategies.features_text(60, 20, 1).toarray()
    X[:, 3:6] = 1e6 + np.random.default_rng(1).standard_normal((60, 3))
    a, b = CentredMatrix.centred(stored(X), POSITIVE60), CentredMatrix.centred(X, POSITIVE60)
    assert a.X.nnz == a.given.nnz
    assert np.array_equal(a.taken != 0, (X != 0).all(axis=0))
    assert_close(a.centre / 1e6, b.mean / 1e6)
    for found, expected in (
        (a.gram(), b.gram()),
        (a.outer_gram(), b.outer_gram()),
        (a.tdot(np.eye(60)), b.tdot(np.eye(60))),
    ):
        assert_close(found, expected, 1e-10)
    assert_close(a.dot(np.eye(20)), X - b.mean, 1e-9)


@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array, sparse.csc_array], ids=["dense", "csr", "csc"])
def test_a_known_gram_matrix_of_the_given_rows_is_taken_about_their_mean(stored):
    """Or computed anew: the mean that is left after centring in place is not that of the given rows."""
    X = 1.0 + np.random.default_rng(1).standard_normal((60, 8))
    X[::2, :3] = 0.0
    rows = CentredMatrix.centred(stored(X), np.ones(60))
    known, centred = rows.gram_from(X.T @ X), X - X.mean(axis=0)
    assert_close(rows.gram() if known is None else known, centred.T @ centred)


@pairwise
@pytest.mark.parametrize("weights", [np.ones(60), POSITIVE60], ids=["rows weigh 1", "weighted"])
@pytest.mark.parametrize("value", [0.1, 7.7, -1e6 / 3])
@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array, sparse.csc_array], ids=["dense", "csr", "csc"])
def test_centring_leaves_nothing_of_a_constant_column(stored, value, weights):
    X = np.column_stack([np.random.default_rng(1).standard_normal((60, 3)), np.full(60, value)])
    rows = CentredMatrix.centred(stored(X), weights)
    np.testing.assert_array_equal(rows.gram(weights)[:, 3], 0.0)
    np.testing.assert_allclose(rows.centre[3], value, rtol=1e-14)
