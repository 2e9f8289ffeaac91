"""Rows: the label matrices that templates are made of, against their definitions as plain arrays."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import KNeighborsTransformer

import strategies
from designs import pairwise
from proxembed.algebra.operators.structured import Laplacian, Sparse
from proxembed.estimator.rows import Rows, reciprocal
from proxembed.proximity import labelled
from proxembed.proximity.backends import nearest
from proxembed.proximity.graph import close_graph, feature_graph, full_graph
from proxembed.targets.labels import LabelMatrix

Y = strategies.labels_multi(12, 4, 3)
Y[5] = 0.0
X = strategies.features_dense(12, 3, 0)


def rows(weighting=None, table=Y) -> Rows:
    return Rows(X, LabelMatrix.of(table), weighting)


def shared(table=Y) -> np.ndarray:
    m = table.sum(axis=1)
    return np.outer(m, m)


def test_uniform_weights():
    assert rows().n == 12
    np.testing.assert_array_equal(rows().ones, np.ones(12))
    assert Rows(X, None).n == 12


def test_mass_of_each_weighting():
    m = Y.sum(axis=1)
    np.testing.assert_array_equal(rows().mass, np.ones(12))
    np.testing.assert_array_equal(rows("none").mass, m)
    for weighting in ("mimj", "printed"):
        np.testing.assert_array_equal(rows(weighting).mass, m > 0)


def test_class_mean_is_the_projection_on_class_means():
    W = rows().class_mean().todense()
    np.testing.assert_allclose(W, Y @ np.diag(1 / Y.sum(axis=0)) @ Y.T, atol=1e-14)
    one_hot = strategies.one_hot(strategies.labels_classes(12, 3, 1))
    W = rows(table=one_hot).class_mean().todense()
    np.testing.assert_allclose(W @ W, W, atol=1e-14)
    np.testing.assert_allclose(
        (W @ X)[one_hot[:, 0] > 0], np.tile(X[one_hot[:, 0] > 0].mean(axis=0), (int(one_hot[:, 0].sum()), 1))
    )


def test_grand_mean():
    np.testing.assert_allclose(rows().grand_mean().todense(), shared() / Y.sum(), atol=1e-14)


@pytest.mark.parametrize("matrix", ["class_mean", "grand_mean"])
@pytest.mark.parametrize("weighting", [None, "none", "mimj", "printed"])
def test_weighing_pairs_of_copies(matrix, weighting):
    part = rows(weighting)
    W = getattr(part, matrix)().todense()
    inverse = np.divide(1.0, shared(), out=np.zeros((12, 12)), where=shared() > 0)
    expected = {None: W, "none": W, "mimj": W * inverse, "printed": W * (Y @ Y.T) * inverse}[weighting]
    np.testing.assert_allclose(part.weigh(getattr(part, matrix)()).todense(), expected, atol=1e-14)


@pytest.mark.parametrize("weighting", [None, "mimj", "printed"])
def test_rows_without_labels_weigh_nothing(weighting):
    part = rows(weighting)
    L = Laplacian(part.weigh(part.class_mean())).todense()
    np.testing.assert_array_equal(L[5], 0.0)
    np.testing.assert_allclose(L.sum(axis=1), 0.0, atol=1e-14)


def test_one_label_a_row_makes_all_weightings_one():
    one_hot = strategies.one_hot(strategies.labels_classes(12, 3, 1))
    plain = rows(None, one_hot)
    for weighting in ("none", "mimj", "printed"):
        part = rows(weighting, one_hot)
        np.testing.assert_array_equal(part.mass, plain.mass)
        np.testing.assert_allclose(part.weigh(part.class_mean()).todense(), plain.class_mean().todense(), atol=1e-15)
    np.testing.assert_allclose(plain.grand_mean().todense(), np.full((12, 12), 1 / 12))


def test_coded_labels_are_sparse_and_equal_after_centring():
    zero_one, signs = rows().coded("01"), rows().coded("pm1")
    np.testing.assert_array_equal(zero_one.toarray(), Y)
    assert signs.nnz == zero_one.nnz
    centre = np.eye(12) - 1 / 12
    np.testing.assert_allclose(centre @ signs.toarray(), centre @ (2 * Y - 1), atol=1e-14)


def test_reciprocal_of_zero_is_zero():
    np.testing.assert_array_equal(reciprocal(np.array([0.0, 2.0, -4.0])), [0.0, 0.5, -0.25])


WEIGHTINGS = [None, "none", "mimj", "printed"]


def dense_parts() -> tuple[np.ndarray, np.ndarray]:
    """A graph's weights, symmetric with a zero that is stored, and (YY')."""
    W = rows().graph("undirected", 3)
    W.data[W.indices == 5] = 0.0
    W = sparse.csr_array(W)
    W.data[np.repeat(np.arange(12), np.diff(W.indptr)) == 5] = 0.0
    return W, Y @ Y.T


@pairwise
@pytest.mark.parametrize("form", [sparse.csr_array, Sparse])
@pytest.mark.parametrize("same_class", [True, False])
@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_weighing_the_entries_of_a_sparse_matrix(weighting, same_class, form):
    W, common = dense_parts()
    dense = W.toarray()
    inverse = np.divide(1.0, shared(), out=np.zeros((12, 12)), where=shared() > 0)
    expected = {None: dense, "none": dense, "mimj": dense * inverse, "printed": dense * inverse}[weighting]
    if weighting == "printed" and same_class:
        expected = expected * common
    found = rows(weighting).weigh(form(W), same_class)
    assert isinstance(found, form)
    found = found.W if form is Sparse else found
    np.testing.assert_allclose(found.toarray(), expected, atol=1e-15)
    np.testing.assert_array_equal(found.toarray(), found.toarray().T)
    assert found.nnz == W.nnz
    np.testing.assert_array_equal(W.toarray(), dense)


def test_pairs_of_copies_on_the_edges_of_a_graph():
    graph, common = dense_parts()
    pattern = np.zeros((12, 12), dtype=bool)
    pattern[np.repeat(np.arange(12), np.diff(graph.indptr)), graph.indices] = True
    part = rows("none")
    np.testing.assert_array_equal(part.copy_pairs(graph, True).toarray(), np.where(pattern, common, 0.0))
    np.testing.assert_array_equal(part.copy_pairs(graph, False).toarray(), np.where(pattern, shared() - common, 0.0))
    assert part.copy_pairs(graph, False).nnz == graph.nnz


def test_searches_are_those_of_proximity_and_made_once():
    part = Rows(X, LabelMatrix.of(Y), "none", copies="count", enemy="disjoint")
    asked = [
        (part.neighbors, (3,), {}, nearest(X, 3).distance),
        (part.neighbors, (3,), {"metric": "cosine"}, nearest(X, 3, metric="cosine").distance),
        (part.graph, ("mutual", 3), {}, feature_graph(X, "mutual", 3)),
        (part.graph, ("closeness", 3, 2.0), {}, close_graph(X, 2.0)),
        (part.graph, ("full",), {}, full_graph(X)),
        (part.friends, (2,), {}, labelled.friends(X, part.labels, 2)),
        (part.friends, (2, "directed"), {}, labelled.friends(X, part.labels, 2, link="directed")),
    ]
    for by in ("point", "class"):
        for link in ("undirected", "directed", "mutual"):
            wanted = labelled.enemies(X, part.labels, 2, by, link=link, copies="count", enemy="disjoint")
            asked.append((part.enemies, (2, by, link), {}, wanted))
    for ask, arguments, options, wanted in asked:
        found = ask(*arguments, **options)
        assert ask(*arguments, **options) is found
        found, wanted = (M.toarray() if sparse.issparse(M) else getattr(M, "distance", M) for M in (found, wanted))
        np.testing.assert_array_equal(found, wanted)
    plain = replace(part, copies="distinct", enemy="any")
    assert abs(plain.enemies(2) - part.enemies(2)).sum() > 0
    assert part.graph("directed", 3) is not part.graph("undirected", 3)


def test_another_search_object_is_asked_anew():
    part, first, second = rows(), KNeighborsTransformer(n_neighbors=3), KNeighborsTransformer(n_neighbors=3)
    assert part.neighbors(3, algorithm=first) is part.neighbors(3, algorithm=first)
    assert part.neighbors(3, algorithm=first) is not part.neighbors(3, algorithm=second)
    assert part.neighbors(3, algorithm=first).recall == 1.0
    np.testing.assert_array_equal(part.neighbors(3, algorithm=first).index, part.neighbors(3).index)


def test_neighbours_inside_classes():
    part = rows()
    found = part.class_neighbors(2)
    assert part.class_neighbors(2) is found and len(found) == 4
    for k, (members, near) in enumerate(found):
        np.testing.assert_array_equal(members, np.flatnonzero(Y[:, k]))
        np.testing.assert_array_equal(near.index, nearest(X[members], min(2, len(members) - 1)).index)


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_classes_with_the_weights_of_their_residuals(weighting):
    m = Y.sum(axis=1)
    for k, (members, weights) in enumerate(rows(weighting).classes()):
        np.testing.assert_array_equal(members, np.flatnonzero(Y[:, k]))
        expected = 1 / m[members] if weighting in ("mimj", "printed") else np.ones(len(members))
        np.testing.assert_array_equal(weights, expected)


def test_labelled_rows_are_rows_of_their_own():
    Y = np.array([[1.0, 0.0], [np.nan, 1.0], [0.0, 1.0], [np.nan, np.nan]])
    part, index = Rows(np.arange(8.0).reshape(4, 2), LabelMatrix.of(Y), weighting="none").labelled()
    assert index.tolist() == [0, 2] and part.X.tolist() == [[0.0, 1.0], [4.0, 5.0]] and part.weighting == "none"
    assert part.labels.unknown is None and part.labels.Y.toarray().tolist() == [[1.0, 0.0], [0.0, 1.0]]
