"""LPP, OLPP, NPP and ONPP against their definitions, against the maps that they make linear, and where data are
degenerate."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from sklearn.neighbors import KNeighborsTransformer

import strategies
from designs import each_value, pairwise
from identities.comparison import IDENTITY, assert_same_embedding, gram_distance, span_distance
from oracles import dense, preserving
from proxembed import LPP, NPP, OLPP, ONPP
from proxembed.algebra.arrays import blas
from proxembed.algebra.operators.structured import Laplacian, Sparse
from proxembed.estimator.rows import Rows
from proxembed.proximity.graph import components

K = 4
FIXTURES = {
    "tall": strategies.features_dense(60, 9, 2),
    "wide": strategies.features_dense(30, 60, 1),
    "text": strategies.features_text(50, 300, 4),
}
on_fixtures = pytest.mark.parametrize("X", FIXTURES.values(), ids=FIXTURES)


def as_dense(X) -> np.ndarray:
    return X.toarray() if sp.issparse(X) else X


def assert_solves(fitted, pencil: dense.Pencil, X, k: int = 3) -> None:
    """The embedding, the eigenvalues and the mean are those of the dense pencil."""
    X = as_dense(X)
    P, w = dense.dense_solve(pencil.Ap, pencil.Bp, pencil.rows(X), k)
    np.testing.assert_allclose(fitted.mean_, pencil.mean, rtol=0, atol=1e-10)
    np.testing.assert_allclose(fitted.eigenvalues_, -w, rtol=0, atol=IDENTITY * max(1.0, np.abs(w).max()))
    assert gram_distance(fitted.transform(X), (X - pencil.mean) @ P) < IDENTITY


# ------------------------------------------------------------------------------------------------ definitions


@pairwise
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("constraint", ["degree", "gram"])
@on_fixtures
def test_lpp_is_its_definition(X, constraint, center):
    W = preserving.gaussian_weights(as_dense(X), preserving.adjacency(as_dense(X), K))
    fitted = LPP(n_components=3, n_neighbors=K, constraint=constraint, center=center).fit(X)
    assert_solves(fitted, preserving.lpp(as_dense(X), W, constraint, center), X)


@on_fixtures
def test_npp_and_onpp_are_their_definitions(X):
    M = preserving.residual_matrix(preserving.reconstruction(as_dense(X), K))
    for center in (True, False):
        fitted = NPP(n_components=3, n_neighbors=K, center=center).fit(X)
        assert_solves(fitted, preserving.npp(as_dense(X), M, center), X)
    assert_solves(ONPP(n_components=3, n_neighbors=K).fit(X), preserving.orthogonal(as_dense(X), M), X)


@each_value
@pytest.mark.parametrize(("kind", "K"), [("undirected", 4), ("mutual", 20), ("directed", 4)])
@on_fixtures
def test_olpp_is_its_definition_on_every_graph(X, kind, K):
    A = preserving.adjacency(as_dense(X), K, kind)
    W = preserving.gaussian_weights(as_dense(X), A)
    assert components(sp.csr_array(W))[0] == 1  # each part more is a direction more without cost
    fitted = OLPP(n_components=3, n_neighbors=K, graph=kind, objective="laplacian").fit(X)
    assert_solves(fitted, preserving.orthogonal(as_dense(X), dense.laplacian((W + W.T) / 2)), X)


@pytest.mark.parametrize("kind", ["undirected", "mutual"])
@on_fixtures
def test_olpp_of_proximity_maximises_what_neighbours_share(X, kind):
    """max P'X'HWHXP, P'P = I: what is taken where no objective is named."""
    K = 20 if kind == "mutual" else 4
    W = preserving.gaussian_weights(as_dense(X), preserving.adjacency(as_dense(X), K, kind))
    W = (W + W.T) / 2
    fitted = OLPP(n_components=2, n_neighbors=K, graph=kind).fit(X)
    pencil = preserving.orthogonal(as_dense(X), -W)
    P, w = dense.dense_solve(pencil.Ap, pencil.Bp, pencil.rows(as_dense(X)), 2)
    assert w.min() > 0
    np.testing.assert_allclose(fitted.eigenvalues_, w, rtol=IDENTITY)
    assert gram_distance(fitted.transform(X), (as_dense(X) - pencil.mean) @ P) < IDENTITY


def test_olpp_of_proximity_leaves_out_what_neighbours_have_opposite():
    """Linked rows share the first feature and differ in the second: X'WX = diag(4, -4)."""
    X = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    W = np.kron(np.eye(2), [[0.0, 1.0], [1.0, 0.0]])
    fitted = OLPP(weights=W).fit(X)
    np.testing.assert_allclose(fitted.components_, [[1.0, 0.0]], atol=1e-12)
    np.testing.assert_allclose(fitted.eigenvalues_, [4.0])


def test_ridge_is_added_to_the_constraint():
    X = FIXTURES["tall"]
    W = preserving.gaussian_weights(X, preserving.adjacency(X, K))
    absolute = LPP(n_components=3, n_neighbors=K, ridge=0.7, ridge_scale="absolute").fit(X)
    assert_solves(absolute, preserving.lpp(X, W, ridge=0.7), X)
    Bp = preserving.lpp(X, W).Bp
    relative = LPP(n_components=3, n_neighbors=K, ridge=0.7).fit(X)
    assert relative.ridge_ == pytest.approx(0.7 * np.trace(Bp) / len(Bp), rel=1e-10)


def test_weights_by_distance_by_eps_and_by_hand():
    X = FIXTURES["tall"]
    E = preserving.distances(X)
    eps = float(np.quantile(E, 0.15))
    near = (E <= eps) & ~np.eye(len(X), dtype=bool)
    constant = LPP(n_components=3, graph="closeness", eps=eps, weights="constant").fit(X)
    assert_solves(constant, preserving.lpp(X, near.astype(float)), X)
    whole = LPP(n_components=3, graph="full", tau=9.0).fit(X)
    assert_solves(whole, preserving.lpp(X, preserving.gaussian_weights(X, ~np.eye(len(X), dtype=bool), 9.0)), X)
    given_by_hand = LPP(n_components=3, weights=np.exp(-(E**2) / 9.0) * ~np.eye(len(X), dtype=bool)).fit(X)
    assert_same_embedding(given_by_hand, whole, X)


# ------------------------------------------------------------------------------------- linear forms of direct maps


@pytest.mark.parametrize("method", [LPP, OLPP])
def test_local_scales_are_measured_in_the_metric_of_the_graph(method):
    X = np.abs(FIXTURES["tall"]) * np.linspace(1.0, 30.0, 60)[:, None]
    fitted = method(metric="cosine", weights="local_scaling", n_neighbors=K)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    D = 1.0 - unit @ unit.T
    np.fill_diagonal(D, np.inf)
    linked = D <= np.sort(D, axis=1)[:, [K - 1]]
    scale = np.sort(D, axis=1)[:, 6]
    W = np.where(linked | linked.T, np.exp(-(D**2) / np.outer(scale, scale)), 0.0)
    np.testing.assert_allclose(fitted._graph_weights(Rows(X, None)).toarray(), W, rtol=0, atol=1e-8)


@pytest.mark.parametrize("graph", [{"graph": "full"}, {"graph": "closeness", "eps": 4.0}], ids=str)
def test_geodesic_weights_measure_along_the_graph_of_neighbours(graph):
    X = FIXTURES["tall"]
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    g = np.where(preserving.adjacency(X, K) > 0, D, np.inf)
    np.fill_diagonal(g, 0.0)
    for k in range(len(X)):
        g = np.minimum(g, g[:, [k]] + g[[k]])
    W = np.where(D <= graph.get("eps", np.inf), np.exp(-(g**2) / 9.0), 0.0)
    np.fill_diagonal(W, 0.0)
    fitted = LPP(weights="geodesic", n_neighbors=K, tau=9.0, n_components=3, **graph).fit(X)
    assert_solves(fitted, preserving.lpp(X, W, "degree", True), X)
    plain = LPP(n_neighbors=K, tau=9.0, n_components=3, **graph).fit(X)
    assert np.abs(plain.eigenvalues_ - fitted.eigenvalues_).max() > 1e-3


@pytest.mark.parametrize("method", [LPP, OLPP, NPP, ONPP])
def test_the_recall_of_an_approximate_search_is_kept(method):
    X = FIXTURES["tall"]
    assert method().fit(X).recall_ is None
    assert method(algorithm=KNeighborsTransformer(n_neighbors=5)).fit(X).recall_ == 1.0


@pytest.mark.parametrize("method", [LPP(), OLPP(objective="laplacian"), NPP(), ONPP()], ids=lambda m: type(m).__name__)
def test_a_share_of_the_spectrum_is_refused(method):
    for share in (0.1, 0.99):
        words = f"{type(method).__name__}: n_components={share} is not allowed.*an integer"
        with pytest.raises(ValueError, match=words):
            method.set_params(n_components=share).fit(FIXTURES["tall"])


def test_a_share_of_what_neighbours_share():
    """n_components=0.5 takes the fewest leading eigenvalues that make up half of the positive ones."""
    X = FIXTURES["tall"]
    values = OLPP(n_neighbors=K).fit(X).eigenvalues_
    some = OLPP(n_neighbors=K, n_components=0.5).fit(X).eigenvalues_
    assert len(some) < len(values) and some.sum() >= 0.5 * values.sum() > some[:-1].sum()


def bottom_pencil(A: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues ascending and vectors of (A, B), B diagonal and positive."""
    half = 1 / np.sqrt(np.diag(B))
    w, V = np.linalg.eigh(half[:, None] * A * half)
    return w, half[:, None] * V


def test_lpp_of_an_invertible_matrix_is_laplacian_eigenmaps():
    X = strategies.features_dense(25, 25, 3)
    W = preserving.gaussian_weights(X, preserving.adjacency(X, K))
    w, Z = bottom_pencil(dense.laplacian(W), np.diag(W.sum(axis=1)))
    published = LPP(n_components=4, n_neighbors=K, center=False).fit(X)
    np.testing.assert_allclose(published.eigenvalues_, w[:4], rtol=0, atol=IDENTITY)
    assert gram_distance(published.transform(X), Z[:, :4]) < IDENTITY
    centred = LPP(n_components=3, n_neighbors=K).fit(X)  # the D-weighted mean takes the constant vector away
    np.testing.assert_allclose(centred.eigenvalues_, w[1:4], rtol=0, atol=IDENTITY)
    assert gram_distance(centred.transform(X), Z[:, 1:4]) < IDENTITY


def test_npp_of_an_invertible_matrix_is_locally_linear_embedding():
    X = strategies.features_dense(25, 25, 3)
    w, Z = np.linalg.eigh(preserving.residual_matrix(preserving.reconstruction(X, K)))
    assert gram_distance(NPP(n_components=3, n_neighbors=K).fit_transform(X), Z[:, 1:4]) < IDENTITY
    published = NPP(n_components=4, n_neighbors=K, center=False).fit(X)
    np.testing.assert_allclose(published.eigenvalues_, w[:4], rtol=0, atol=IDENTITY)
    assert gram_distance(published.transform(X), Z[:, :4]) < IDENTITY


def test_objectives_do_not_move_with_the_origin():
    X = FIXTURES["tall"]
    moved = X + 30.0 * np.arange(1.0, X.shape[1] + 1)
    for method in (LPP(n_neighbors=K), NPP(n_neighbors=K)):
        loss = method.template(Rows(X, None)).A
        np.testing.assert_allclose(loss.sandwich(moved), loss.sandwich(X), rtol=0, atol=1e-9)
        np.testing.assert_allclose(loss @ np.ones(len(X)), 0, rtol=0, atol=1e-12)


# -------------------------------------------------------------------------------------------------- certificates


@pytest.mark.parametrize("method", [OLPP(objective="laplacian"), ONPP()], ids=["OLPP", "ONPP"])
@on_fixtures
def test_no_rotation_inside_the_row_space_has_a_smaller_trace(X, method):
    fitted = method.set_params(n_neighbors=K, n_components=3).fit(X)
    P, Xc = fitted.components_.T, as_dense(X) - as_dense(X).mean(axis=0)
    loss = -method.template(Rows(X, None)).A.todense()
    np.testing.assert_allclose(P.T @ P, np.eye(3), rtol=0, atol=1e-12)
    M, V = Xc.T @ loss @ Xc, dense.row_space(Xc)
    assert np.trace(P.T @ M @ P) == pytest.approx(fitted.eigenvalues_.sum(), rel=IDENTITY)
    rng = np.random.default_rng(0)
    for _ in range(50):
        Q = V @ np.linalg.qr(rng.standard_normal((V.shape[1], 3)))[0]
        assert np.trace(Q.T @ M @ Q) >= fitted.eigenvalues_.sum() * (1 - 1e-10)
        near = np.linalg.qr(P + 0.05 * V @ rng.standard_normal((V.shape[1], 3)))[0]
        assert np.trace(near.T @ M @ near) >= fitted.eigenvalues_.sum() * (1 - 1e-10)


def test_leaving_out_the_first_vector_of_onpp_is_worse():
    """Negative control: after centring there is no trivial vector, though some codes drop one."""
    X = FIXTURES["tall"]
    fitted = ONPP(n_components=3, n_neighbors=K).fit(X)
    spread = (fitted.transform(X)[:, 0] - fitted.transform(X)[:, 0].mean()).std()
    assert fitted.eigenvalues_[0] > 1e-3 and spread > 1e-2
    assert fitted.eigenvalues_[1:].sum() > 1.5 * fitted.eigenvalues_[:2].sum()


@settings(max_examples=15, deadline=None)
@given(strategies.general_position())
def test_definitions_in_general_position(data):
    X = data[0]
    size = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    assume(size[min(X.shape[1], len(X) - 1) - 1] > 1e-4 * size[0])  # else both sides guess at the rank
    W = preserving.adjacency(X, 3).astype(float)
    k = min(2, X.shape[1])
    lpp = LPP(n_components=k, n_neighbors=3, weights="constant").fit(X)
    assert_solves(lpp, preserving.lpp(X, W), X, k)
    olpp = OLPP(n_components=k, n_neighbors=3, weights="constant", objective="laplacian").fit(X)
    assert_solves(olpp, preserving.orthogonal(X, dense.laplacian(W)), X, k)


# ------------------------------------------------------------------------------------------------- degenerate data


@pytest.mark.parametrize("method", [OLPP(objective="laplacian"), ONPP()], ids=["OLPP", "ONPP"])
def test_the_null_space_is_never_chosen_where_features_outnumber_rows(method):
    """Negative control: without the restriction to the row space, every direction found maps all rows to one point."""
    X = FIXTURES["wide"]
    loss = -method.template(Rows(X, None)).A.todense()
    _, P = np.linalg.eigh(X.T @ loss @ X)
    assert (X @ P[:, :3]).std(axis=0).max() < 1e-10
    Z = method.set_params(n_components=3).fit(X).transform(X)
    assert Z.std(axis=0).min() > 1e-2


def test_the_mean_direction_is_not_in_the_row_space_of_the_centred_rows():
    """Negative control: in the row space of X itself one direction more has objective zero."""
    X = FIXTURES["wide"]
    method = OLPP(objective="laplacian")
    loss = -method.template(Rows(X, None)).A.todense()
    V = dense.row_space(X)
    w = np.linalg.eigvalsh(V.T @ X.T @ loss @ X @ V)
    fitted = method.set_params(n_components=3).fit(X)
    assert abs(w[0]) < 1e-10 * w[-1] and fitted.eigenvalues_[0] > 1e-2
    with pytest.raises(ValueError, match="n_components=30 is more than the 29 components"):
        method.set_params(n_components=30).fit(X)


def test_weighted_centring_removes_exactly_the_constant_solution():
    """1 in range(X): eigenvalue 0 as published; the D-weighted mean takes it away, and leaves the others."""
    X = np.column_stack([FIXTURES["tall"], np.ones(60)])
    published = LPP(n_components=6, center=False).fit(X)
    assert abs(published.eigenvalues_[0]) < 1e-12
    constant = published.transform(X)[:, 0]
    assert constant.std() < 1e-6 * abs(constant.mean())
    centred = LPP(n_components=5).fit(X)
    np.testing.assert_allclose(centred.eigenvalues_, published.eigenvalues_[1:], rtol=0, atol=1e-10)
    W = preserving.gaussian_weights(X, preserving.adjacency(X, 5))
    plain = preserving.lpp(X - X.mean(axis=0), W, center=False)  # negative control: the mean of the rows does not
    _, w = dense.dense_solve(plain.Ap, plain.Bp, X - X.mean(axis=0), 5)
    assert np.abs(-w - centred.eigenvalues_).max() > 1e-6


@pytest.mark.parametrize("method", [LPP(), LPP(constraint="gram"), NPP()], ids=["degree", "gram", "NPP"])
def test_a_singular_constraint_is_whitened_on_its_range(method):
    """Nine features and two more that say nothing new: a direction of the null space would cost nothing."""
    X = np.column_stack([FIXTURES["tall"], FIXTURES["tall"][:, 0], np.zeros(60)])
    fitted = method.set_params(n_components=9).fit(X)
    assert np.linalg.matrix_rank(X - X.mean(axis=0)) == 9
    assert fitted.eigenvalues_[0] > 1e-3
    template = method.template(Rows(X, None))
    Z = fitted.transform(X)
    np.testing.assert_allclose(Z.T @ (template.B @ Z), np.eye(9), rtol=0, atol=1e-9)
    with pytest.raises(ValueError, match="n_components=10 is more than the 9 components"):
        method.set_params(n_components=10).fit(X)


def test_the_second_copy_of_a_feature_changes_nothing_but_distances():
    X, copies = FIXTURES["tall"], np.column_stack([FIXTURES["tall"], FIXTURES["tall"]])
    for method in (LPP, NPP):  # all distances grow by the root of two
        one, two = method(n_components=3).fit(X), method(n_components=3).fit(copies)
        assert gram_distance(two.transform(copies), one.transform(X)) < IDENTITY


def test_isolated_rows_have_no_weight():
    X = FIXTURES["tall"].copy()
    X[[7, 33]] += 50.0 * np.arange(1, 10)
    X[33] *= -1
    fitted = LPP(n_components=3, n_neighbors=3, graph="mutual").fit(X)
    graph = Rows(X, None).graph("mutual", 3)
    alone = np.flatnonzero(np.diff(graph.indptr) == 0)
    assert {7, 33} <= set(alone.tolist())
    W = preserving.gaussian_weights(X, preserving.adjacency(X, 3, "mutual"))
    assert_solves(fitted, preserving.lpp(X, W), X)
    changed = X.copy()
    changed[[7, 33]] *= 2.0
    again = LPP(n_components=3, n_neighbors=3, graph="mutual").fit(changed)
    np.testing.assert_allclose(again.eigenvalues_, fitted.eigenvalues_, rtol=IDENTITY)
    assert span_distance(again.components_.T, fitted.components_.T) < IDENTITY


def test_a_disconnected_graph_has_a_component_without_cost_where_the_features_tell_the_parts():
    side = np.repeat([0.0, 1.0], 30)
    X = np.column_stack([strategies.features_dense(60, 6, 3), side])
    X[:, :6] += 100.0 * side[:, None]
    count, label = components(Rows(X, None).graph("undirected", 5))
    assert count == 2
    fitted = LPP(n_components=3).fit(X)
    assert abs(fitted.eigenvalues_[0]) < 1e-12 < 1e-3 < fitted.eigenvalues_[1]
    Z = fitted.transform(X)[:, 0]
    assert max(Z[label == 0].std(), Z[label == 1].std()) < 1e-6 * np.ptp(Z)
    W = preserving.gaussian_weights(X, preserving.adjacency(X, 5))
    np.testing.assert_allclose(W.sum(axis=1) @ Z, 0, rtol=0, atol=1e-9)


def test_duplicates_are_neighbours_at_distance_zero():
    X = strategies.features_duplicate_rows(36, 8, 5)
    graph = Rows(X, None).graph("undirected", 1)
    assert np.all(graph[np.arange(12), np.arange(24, 36)] == 0.0)
    Z = OLPP(n_components=3).fit_transform(X)
    np.testing.assert_allclose(Z[:12], Z[24:], rtol=0, atol=1e-13 * np.abs(Z).max())


# ------------------------------------------------------------------------------------------- refusals, determinism


def test_refusals_name_the_argument_and_the_remedy():
    X = FIXTURES["tall"]
    for method in (LPP, OLPP, NPP, ONPP):
        with pytest.raises(
            ValueError, match=rf"{method.__name__}: n_neighbors=60 is not allowed.*1 to 59.*fewer neighbours"
        ):
            method(n_neighbors=60).fit(X)
    with pytest.raises(ValueError, match="OLPP: no two rows are neighbours .*larger eps"):
        OLPP(graph="closeness", eps=1e-9).fit(X)
    with pytest.raises(ValueError, match="eps"):
        OLPP(graph="closeness").fit(X)


@pytest.mark.parametrize("method", [LPP(), OLPP(), NPP(), ONPP()], ids=lambda m: type(m).__name__)
def test_the_number_of_threads_changes_nothing(method, monkeypatch):
    X = strategies.features_dense(700, 40, 8)
    found = []
    for workers in (1, 2):
        monkeypatch.setattr(blas, "threads", lambda workers=workers: workers)
        found.append(method.fit(X).components_.copy())
    np.testing.assert_allclose(found[0], found[1], rtol=0, atol=1e-10 * np.abs(found[0]).max())


def test_the_graph_laplacian_of_the_template_has_the_degrees_on_its_diagonal():
    W = sp.csr_array(preserving.adjacency(FIXTURES["tall"], 3).astype(float))
    ((_, leaf),) = Laplacian(Sparse(W)).terms()
    assert isinstance(leaf, Sparse)
    np.testing.assert_array_equal(leaf.todense(), dense.laplacian(W.toarray()))
