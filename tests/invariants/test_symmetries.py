"""What must not change an embedding: the origin, the order of rows and labels, names of classes, storage, axes."""

import numpy as np
import scipy.sparse as sp

import strategies
from invariants.cases import Case, assert_same_gram, embedded, fitted, gram_distance, on_cases
from proxembed import SLVM

# Rounding through one dense eigenproblem; MORP and MLSI pass through an inverse of condition n / eps.
ROUNDING, INVERTED, SINGLE_PRECISION, DIFFERENT = 1e-8, 1e-6, 1e-4, 1e-2
DENSE = ("tall", "wide")


def tolerance(case: Case) -> float:
    return INVERTED if "MORP" in case.name or "MLSI" in case.name else ROUNDING


def shifted(case: Case, data):
    """The embedding after every row moved by the same vector."""
    step = 2.0 * np.random.default_rng(1).standard_normal(data.X.shape[1])
    moved = data.with_rows(data.X + step, data.new + step)
    return embedded(case.fit(moved, n_components=fitted(case, data).n_components_), moved)


@on_cases(lambda c: not c.moves_with_origin, DENSE)
def test_shift_changes_nothing(case, data):
    assert_same_gram(shifted(case, data), embedded(fitted(case, data), data), tolerance(case))


@on_cases(lambda c: c.moves_with_origin, DENSE)
def test_uncentred_methods_see_the_origin(case, data):
    assert gram_distance(shifted(case, data), embedded(fitted(case, data), data)) > DIFFERENT


@on_cases(lambda c: not c.draws_rows)
def test_permuted_rows_give_the_permuted_embedding(case, data):
    order = np.random.default_rng(2).permutation(len(data.Y))
    permuted = case.build().fit(data.X[order], None if case.labels is None else data.y[order])
    assert_same_gram(embedded(permuted, data), embedded(fitted(case, data), data), tolerance(case))


@on_cases(lambda c: c.labels == "multi", shared=True)
def test_order_of_label_columns_is_free(case, data):
    order = np.random.default_rng(3).permutation(data.Y.shape[1])
    permuted = case.build().fit(data.X, data.Y[:, order])
    assert_same_gram(embedded(permuted, data), embedded(fitted(case, data), data), tolerance(case))


@on_cases(lambda c: c.labels == "single", shared=True)
def test_names_of_classes_are_free(case, data):
    expected = embedded(fitted(case, data), data)
    for names in (
        np.array(["zeta", "alpha", "mid", "beta"]),
        np.array([7, -3, 100, 0]),
        np.array([2.0, 5.0, 3.0, 4.0]),
    ):
        renamed = case.build().fit(data.X, names[data.y])
        assert_same_gram(embedded(renamed, data), expected, tolerance(case))
    one_hot = case.build().fit(data.X, data.Y[:, [2, 0, 3, 1]])
    assert_same_gram(embedded(one_hot, data), expected, tolerance(case))


@on_cases(lambda c: c.labels == "multi", shared=True)
def test_names_of_labels_are_free(case, data):
    names = np.array(["zeta", "alpha", "mid", "beta"])
    sets = [set(names[row > 0]) for row in data.Y]
    assert_same_gram(
        embedded(case.build().fit(data.X, sets), data), embedded(fitted(case, data), data), tolerance(case)
    )


@on_cases(lambda c: c.labels == "multi", ("tall",), shared=True)
def test_coding_of_labels_is_free(case, data):
    expected = embedded(fitted(case, data), data)
    for Y in (2 * data.Y - 1, data.Y.astype(bool), sp.csr_array(data.Y), sp.csc_matrix(data.Y)):
        assert_same_gram(embedded(case.build().fit(data.X, Y), data), expected, tolerance(case))


@on_cases()
def test_sparse_equals_dense(case, data):
    y = None if case.labels is None else data.y
    expected = embedded(fitted(case, data), data)
    forms = {
        "tall": [np.asfortranarray(data.dense), sp.csr_array(data.dense), sp.csc_matrix(data.dense)],
        "wide": [sp.csr_array(data.dense)],
        "sparse text": [data.dense, sp.csc_matrix(data.dense)],
    }
    for X in forms[data.name]:
        other = case.build().fit(X, y)
        assert_same_gram(embedded(other, data), expected, tolerance(case))
        sparse_rows = np.vstack([other.transform(X), other.transform(sp.csr_array(data.new))])
        assert_same_gram(sparse_rows, expected, tolerance(case))


@on_cases(kinds=("sparse text",), shared=True)
def test_storage_of_a_sparse_matrix_is_free(case, data):
    """Unsorted columns, entries in parts and stored zeros are the same matrix."""
    X = data.X.tocoo()
    rows = np.concatenate([X.row, X.row, [0, 1]])[::-1]
    columns = np.concatenate([X.col, X.col, [5, 7]])[::-1]
    values = np.concatenate([0.25 * X.data, 0.75 * X.data, [0.0, 0.0]])[::-1]
    order = np.argsort(rows, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=X.shape[0]))])
    messy = sp.csr_array((values[order], columns[order], indptr), shape=X.shape)
    kept = messy.data.copy(), messy.indices.copy(), messy.indptr.copy()
    other = case.build().fit(messy, None if case.labels is None else data.y)
    assert_same_gram(
        np.vstack([other.transform(messy), other.transform(data.new)]),
        embedded(fitted(case, data), data),
        tolerance(case),
    )
    for now, before in zip((messy.data, messy.indices, messy.indptr), kept, strict=True):
        np.testing.assert_array_equal(now, before)


@on_cases()
def test_float32_is_close_to_float64(case, data):
    X = data.X.astype(np.float32)
    exact = data.with_rows(X.astype(np.float64), data.new.astype(np.float32).astype(np.float64))
    rough = data.with_rows(X, data.new.astype(np.float32))
    one, other = case.fit(rough), case.fit(exact)
    assert one.transform(rough.X).dtype == np.float32
    assert other.transform(exact.X).dtype == np.float64
    assert_same_gram(embedded(one, rough).astype(np.float64), embedded(other, exact), SINGLE_PRECISION)


@on_cases(lambda c: not c.axis_bound, kinds=DENSE)
def test_rotated_features_give_the_same_embedding(case, data):
    """Constraints are functions of inner products of rows, and so are all embeddings but those of trees."""
    Q = np.linalg.qr(np.random.default_rng(4).standard_normal((data.X.shape[1],) * 2))[0]
    turned = data.with_rows(data.X @ Q, data.new @ Q)
    assert_same_gram(embedded(case.fit(turned), turned), embedded(fitted(case, data), data), tolerance(case))


@on_cases(kinds=("sparse text",), shared=True)
def test_constant_and_absent_features_change_nothing(case, data):
    """Columns of zeros for every method; columns of ones too where the method does not see the origin."""
    n, m = data.X.shape[0], len(data.new)
    extra = [np.zeros((n, 2))] + ([] if case.moves_with_origin else [np.full((n, 1), 3.0)])
    added = [np.zeros((m, 2))] + ([] if case.moves_with_origin else [np.full((m, 1), 3.0)])
    wider = data.with_rows(sp.csr_array(sp.hstack([data.X, *extra])), np.hstack([data.new, *added]))
    assert_same_gram(embedded(case.fit(wider), wider), embedded(fitted(case, data), data), tolerance(case))


@on_cases(lambda c: c.labels == "multi", shared=True)
def test_an_empty_label_column_changes_nothing(case, data):
    Y = np.insert(data.Y, 2, 0.0, axis=1)
    other = case.build().fit(data.X, Y)
    assert_same_gram(embedded(other, data), embedded(fitted(case, data), data), tolerance(case))
    assert len(other.classes_) == Y.shape[1]


def test_every_method_of_the_registry_is_among_the_cases():
    from invariants.cases import cases
    from proxembed.estimator.base import SpectralEmbedder, registry

    spectral = {
        name for name, cls in registry().items() if issubclass(cls, SpectralEmbedder) and "proxembed" in cls.__module__
    }
    assert spectral == {type(case.prototype).__name__ for case in cases()}
    assert {"PCA", "FDA", "MESD", "Kernelized"} <= spectral
    names = [case.name for case in cases()]
    assert len(names) == len(set(names))


def test_edge_weights_belong_to_their_labels():
    """HSL's edge weights move with the label columns."""
    from proxembed import HSL

    X, Y = strategies.labelled_rows(40, 9, 4, 3)
    w, order = np.array([1.0, 2.0, 0.5, 4.0]), np.array([2, 0, 3, 1])
    one = HSL(edge_weights=list(w), ridge=0.1).fit(X, Y).transform(X)
    same = HSL(edge_weights=list(w[order]), ridge=0.1).fit(X, Y[:, order]).transform(X)
    other = HSL(edge_weights=list(w), ridge=0.1).fit(X, Y[:, order]).transform(X)
    assert_same_gram(same, one, ROUNDING)
    assert gram_distance(other, one) > DIFFERENT


def test_slvm_places_seen_rows_and_new_rows_differently():
    """A direct method: the rows of training have their own place, which the rule for new rows only approaches."""
    X, Y = strategies.labelled_rows(40, 9, 4, 3)
    fit = SLVM(n_components=3).fit(X, Y)
    np.testing.assert_array_equal(fit.transform(X), fit.embedding_)
    assert gram_distance(fit.extend(X), fit.embedding_) > 1e-3
