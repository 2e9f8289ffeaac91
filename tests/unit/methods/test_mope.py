"""MOPE's parameters, refusals and memory: what is asked of it beside the formula."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline

import strategies
from proxembed import FDA, LPP, MOPE, OPLS, PCA, Kernelized, LaplacianEigenmaps, RelationFeatures
from proxembed.engine.space import sample
from proxembed.labels import LabelMatrix
from proxembed.proximity.all_pairs import WIDTH_ROWS, AllPairs
from proxembed.proximity.weights import edge_weights
from proxembed.rows import Rows

X = strategies.told_by_labels(strategies.features_dense(40, 9, 3), strategies.labels_multi(40, 4, 3), 3)
Y = strategies.labels_multi(40, 4, 3)


def gram(estimator) -> np.ndarray:
    Z = estimator.transform(X)
    return Z @ Z.T


# ------------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"scheme": "strings"}, "scheme='strings' is not allowed"),
        ({"similarity": "tanimoto"}, "similarity='tanimoto' of classes is not known"),
        ({"scheme": "labels", "similarity": "cooccurrence"}, "choose one of and"),
        ({"similarity": np.eye(3)}, r"shape \(3, 3\); \(4, 4\) is needed"),
        ({"combine": "max"}, "combine='max' is not allowed"),
        ({"combine": "sum", "beta": 2.0, "weights": "gaussian"}, "beta=2.0 is not allowed with combine='sum'"),
        ({"gamma": 1.5}, "gamma=1.5 is not allowed"),
        ({"weights": "precomputed"}, "weights='precomputed' is not allowed"),
        ({"n_links": 0}, "n_links=0 is not allowed"),
        ({"scheme": "latent", "n_latent": 9}, "n_latent=9 is not allowed"),
        ({"scheme": "latent", "latent": FDA()}, "come from an unsupervised method"),
        ({"scheme": "latent", "latent": LaplacianEigenmaps(normalization="none")}, "come from an unsupervised method"),
        ({"weights": "gaussian", "combine": lambda w, g: g[:1]}, "must return finite values of the shape"),
        ({"weights": "gaussian", "n_neighbors": 40}, "n_neighbors"),
        ({"n_components": 5}, "n_components=5 is more than the 3 components"),
    ],
    ids=lambda v: str(v)[:40],
)
def test_what_is_not_allowed_is_named(options, said):
    with pytest.raises(ValueError, match=said):
        MOPE(**options).fit(X, Y)


def test_rows_without_any_proximity_are_refused():
    with pytest.raises(ValueError, match="no two rows have a proximity above 0"):
        MOPE(weights="gaussian", combine=lambda w, g: 0.0 * g).fit(X, Y)


def test_negative_row_sums_cannot_be_normalised():
    with pytest.raises(ValueError, match="objective='normalized' needs proximities"):
        MOPE(weights="gaussian", combine=lambda w, g: g - 2.0, objective="normalized").fit(X, Y)


# ------------------------------------------------------------------------------------------------------- kinds of input


def test_rows_with_unknown_labels_are_left_out():
    partly = Y.copy()
    partly[[3, 17]] = np.nan
    partly[9, 1] = np.nan
    keep = np.setdiff1d(np.arange(40), [3, 9, 17])
    with pytest.warns(UserWarning, match="3 of 40 rows"):
        found = MOPE("labels", weights="gaussian", n_components=3).fit(X, partly)
    expected = MOPE("labels", weights="gaussian", n_components=3).fit(X[keep], Y[keep])
    np.testing.assert_array_equal(found.components_, expected.components_)


def test_labels_in_every_form():
    sets = [{f"label {k}" for k in np.flatnonzero(row)} for row in Y]
    expected = gram(MOPE("labels", n_components=3).fit(X, Y))
    for form in (sets, 2 * Y - 1, sp.csr_array(Y), np.insert(Y, 1, 0.0, axis=1)):
        np.testing.assert_allclose(gram(MOPE("labels", n_components=3).fit(X, form)), expected, atol=1e-9)


def test_kernels_and_relation_features():
    """The kernel form on a linear kernel is the method itself, and relation features are features like others."""
    for options in ({}, {"scheme": "labels", "weights": "gaussian"}):
        plain = MOPE(n_components=3, **options).fit(X, Y)
        linear = Kernelized(MOPE(**options), kernel="linear", n_components=3).fit(X, Y)
        np.testing.assert_allclose(gram(linear), gram(plain), atol=1e-8 * np.abs(gram(plain)).max())
        curved = Kernelized(MOPE(**options), kernel="gaussian", n_components=3).fit(X, Y)
        assert np.abs(gram(curved) - gram(plain)).max() > 1e-2 * np.abs(gram(plain)).max()
        related = make_pipeline(RelationFeatures("cosine"), MOPE(n_components=3, **options)).fit(X, Y)
        R = related[0].transform(X)
        np.testing.assert_array_equal(related.transform(X), MOPE(n_components=3, **options).fit(R, Y).transform(R))


def test_nested_parameters_of_the_latent_method():
    model = MOPE("latent", latent=PCA(n_components=2), n_components=2).set_params(latent__n_components=3)
    expected = MOPE("latent", latent=PCA(n_components=3), n_components=2).fit(X, Y)
    np.testing.assert_array_equal(model.fit(X, Y).components_, expected.components_)
    assert not hasattr(model.latent, "components_")
    other = MOPE("latent", latent=PCA(n_components=2), n_components=2).fit(X, Y)
    assert np.abs(gram(other) - gram(expected)).max() > 1e-2


def test_positive_components_only_unless_more_are_asked_for():
    found = MOPE("labels", weights="gaussian", n_links=5, link="mutual").fit(X, Y)
    assert np.all(found.eigenvalues_ > 0)
    more = MOPE("labels", weights="gaussian", n_links=5, link="mutual", n_components=9).fit(X, Y)
    assert more.eigenvalues_[-1] < 0
    costs = MOPE("labels", objective="laplacian", n_components=9).fit(X, Y).eigenvalues_
    assert np.all(np.diff(costs) >= 0) and costs[0] >= -1e-9


@pytest.mark.parametrize("seed", range(12))
def test_sampled_settings_fit(seed):
    estimator = sample(MOPE, np.random.default_rng(seed)).set_params(n_components=2)
    assert np.isfinite(estimator.fit(X, Y).transform(X)).all()


# ----------------------------------------------------------------------------------------------- forms and their memory


def test_no_matrix_of_all_pairs_of_rows():
    """3,000 rows: one n x n array of float64 would be 72 MB."""
    n = 3000
    wide = strategies.features_dense(n, 5, 1)
    labels = strategies.labels_multi(n, 6, 1)
    for options in (
        {"scheme": "labels"},
        {"n_links": 8},
        {"weights": "gaussian"},
        {"weights": "gaussian", "n_links": 8},
    ):
        model = MOPE(n_components=3, **options)
        model.fit(wide, labels)
        tracemalloc.start()
        model.fit(wide, labels)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 8 * n * n, f"{options}: {peak / 2**20:.0f} MiB"


def test_the_guard_names_the_size_of_all_pairs():
    n = 20_000
    many = np.tile(np.arange(2.0), n // 2)[:, None] + np.arange(n)[:, None] / n
    model = MOPE(weights="gaussian", graph="full")
    with pytest.raises(ValueError, match="20,000 x 20,000"):
        model._of_all_pairs(
            model._label_similarity(Rows(many, LabelMatrix.of(np.arange(n) % 2))), lambda part: np.ones((1, n))
        )


@pytest.mark.parametrize("kind", ["constant", "gaussian", "local_scaling", "alternative", "cosine", "pearson"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_weights_of_all_pairs_by_blocks(kind, form):
    rows = Rows(form(X), None)
    W = edge_weights(rows.X, rows.graph("full"), kind).toarray()
    blocks = AllPairs(rows.X, kind)
    found = np.vstack([blocks(slice(0, 13)), blocks(slice(13, 40))])
    np.testing.assert_allclose(found, W / W.max(), rtol=0, atol=1e-12)


def test_geodesic_weights_of_all_pairs():
    """Along the same graph of neighbours as those of the methods on full graphs."""
    options = {"weights": "geodesic", "graph": "full", "n_neighbors": 6}
    rows = Rows(X, LabelMatrix.of(Y))
    W = LPP(**options)._graph_weights(rows).toarray()
    found = MOPE(gamma=0.0, **options).proximity(rows).todense()
    np.testing.assert_allclose(found, W / W.max(), rtol=0, atol=1e-12)


def test_the_width_of_many_rows_is_that_of_some():
    many = np.random.default_rng(0).standard_normal((WIDTH_ROWS + 50, 2))
    blocks = AllPairs.__new__(AllPairs)
    blocks.X, blocks.kind, blocks.metric, blocks.n = many, "gaussian", "euclidean", len(many)
    width = blocks._width(None)
    i, j = np.triu_indices(len(many), 1)
    assert abs(width / np.median(((many[i] - many[j]) ** 2).sum(axis=1)) - 1.0) < 0.05
    assert blocks._width(None) == width and blocks._width(3.0) == 3.0


def test_a_matrix_of_weights_by_a_callable_of_all_pairs():
    def weigh(rows, graph):
        return np.exp(-np.abs(np.subtract.outer(rows[:, 0], rows[:, 0])))

    W = weigh(X, None)
    np.fill_diagonal(W, 0.0)
    for options in ({}, {"n_links": 39}):
        found = MOPE(weights=weigh, graph="full", gamma=0.0, **options).proximity(Rows(X, LabelMatrix.of(Y))).todense()
        np.testing.assert_allclose(found, W / W.max(), rtol=0, atol=1e-12)


def test_the_ridge_of_an_orthonormal_embedding_is_chosen_on_the_labels():
    chosen = MOPE(constraint="embedding").fit(X, Y)
    assert chosen.ridge_ > 0
    np.testing.assert_allclose(chosen.ridge_, OPLS().fit(X, Y).ridge_)
    assert MOPE().fit(X, Y).ridge_ == 0.0
