"""MOPE's parameters, refusals and memory: what is asked of it beside the formula."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline

import strategies
from designs import WHOLE, pairwise
from memory import traced_memory
from proxembed import FDA, LPP, MOPE, OPLS, PCA, Kernelized, LaplacianEigenmaps, RelationFeatures
from proxembed.estimator.rows import Rows
from proxembed.params import declared
from proxembed.proximity.distances import canonical, pair_distances
from proxembed.proximity.graph import full_graph
from proxembed.proximity.label_similarity import CLASS_SIMILARITIES, LATENT_KINDS, SET_SIMILARITIES
from proxembed.proximity.weights import WIDTH_ROWS, AllPairs, BlockDistances, edge_weights, used_tau, used_width
from proxembed.study.candidates import Draws, sample
from proxembed.targets.labels import LabelMatrix

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
        ({"combine": "sum", "beta": 2.0}, "beta=2.0 is not allowed with combine='sum'"),
        ({"combine": "hadamard"}, "combine='hadamard' is not allowed with weights=None.*Pass weights"),
        ({"combine": "sum", "scheme": "labels"}, "combine='sum' is not allowed with weights=None"),
        ({"gamma": 0.5}, "gamma=0.5 is not allowed with weights=None.*leave gamma at 1"),
        ({"gamma": 0.0, "combine": lambda w, g: g}, "gamma=0.0 is not allowed with weights=None"),
        ({"n_latent": 2}, "n_latent=2 is not allowed with scheme='classes'"),
        (
            {"scheme": "latent", "latent": PCA(n_components=2), "n_latent": 2},
            r"n_latent=2 is not allowed with latent=PCA",
        ),
        ({"similarity": np.triu(np.ones((4, 4)))}, "similarity is not allowed.*transpose by up to 1"),
        ({"similarity": lambda sets: np.eye(3)}, "similarity=<function .* is not allowed.*its shape is"),
        ({"n_components": 5}, "n_components=5 is more than the 3 components"),
    ],
    ids=lambda v: str(v)[:40],
)
def test_what_is_not_allowed_is_named(options, said):
    with pytest.raises(ValueError, match=said):
        MOPE(**options).fit(X, Y)


def test_rows_without_any_proximity_are_refused():
    with pytest.raises(ValueError, match="no row has a proximity above 0.*or a combine that gives values above 0"):
        MOPE(weights="gaussian", combine=lambda w, g: 0.0 * g).fit(X, Y)


ALONE = np.eye(40)


@pytest.mark.parametrize(
    ("options", "advice"),
    [
        ({}, "weights of the features with gamma below 1"),
        ({"similarity": "and"}, "weights of the features with gamma below 1"),
        ({"scheme": "classes", "constraint": "embedding"}, "weights of the features with gamma below 1"),
        ({"scheme": "latent", "n_latent": 39, "center": False}, "weights of the features with gamma below 1"),
        ({"n_links": 4, "self_loops": True, "link": "mutual"}, "link='undirected'"),
        ({"weights": "gaussian"}, "gamma below 1, a graph with more neighbors or"),
        ({"weights": "gaussian", "graph": "full"}, "hamming', gamma below 1 or"),
        (
            {"weights": "gaussian", "combine": "hadamard"},
            "combine='sum' with beta below 1, a graph with more neighbors",
        ),
        ({"weights": "gaussian", "combine": "sum"}, "combine='sum' with beta below 1"),
    ],
    ids=str,
)
def test_a_laplacian_of_rows_that_are_like_themselves_alone_is_refused(options, advice):
    """Every row has a label of its own: the Laplacian is nothing but rounding; what helps depends on settings."""
    refused = MOPE(**{"scheme": "labels", "objective": "laplacian", **options})
    with pytest.raises(ValueError, match=f"no two rows have a proximity above 0.*{advice}.*objective='proximity'"):
        refused.fit(X, ALONE)
    told = ALONE.copy()
    told[:2, 0] = 1.0
    if "combine" not in options:
        assert MOPE(**{"scheme": "labels", "objective": "laplacian", **options, "n_components": 1}).fit(X, told)


def test_what_gives_proximities_is_accepted():
    for options in ({"gamma": 0.5}, {"combine": "sum", "beta": 0.5}):
        model = MOPE("labels", objective="laplacian", weights="gaussian", n_components=2, **options).fit(X, ALONE)
        assert np.isfinite(model.components_).all()


def test_every_similarity_is_named_in_the_parameters():
    for names in (SET_SIMILARITIES, LATENT_KINDS, CLASS_SIMILARITIES):
        assert [name for name in names if f'"{name}"' not in declared(MOPE)["similarity"][1].doc] == []


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


@pytest.mark.parametrize("seed", range(12 if WHOLE else 4))
def test_sampled_settings_fit(seed):
    estimator = sample(MOPE, Draws(np.random.default_rng(seed))).set_params(n_components=2)
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
        {"weights": "gaussian", "graph": "full", "tau": 1.0, "n_links": 8},
    ):
        model = MOPE(n_components=3, **options)
        model.fit(wide, labels)
        with traced_memory() as memory:
            model.fit(wide, labels)
        assert memory.peak < 8 * n * n, f"{options}: {memory.peak / 2**20:.0f} MiB"


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"self_loops": True},
        {"scheme": "classes", "self_loops": True},
        {"scheme": "latent", "n_latent": 5, "self_loops": True},
        {"weights": "gaussian", "self_loops": True},
        {"weights": "gaussian", "graph": "full", "tau": 1.0, "self_loops": True},
    ],
    ids=str,
)
def test_links_of_as_many_label_sets_as_rows_hold_no_table_of_them(options):
    """3,000 rows of 60 labels: one u x u array of float64 would be 72 MB."""
    n = 3000
    labels = np.random.default_rng(0).random((n, 60)) < 0.12
    rows = Rows(strategies.features_dense(n, 3, 1), LabelMatrix.of(labels))
    model = MOPE(**{"scheme": "labels", "n_links": 8, **options})
    assert len(np.unique(labels, axis=0)) > 0.98 * n
    with traced_memory() as memory:
        model.proximity(rows)
    assert memory.peak < 0.7 * 8 * n * n, f"{memory.peak / 2**20:.0f} MiB"


def test_the_guard_names_the_size_of_all_pairs():
    n = 20_000
    many = np.tile(np.arange(2.0), n // 2)[:, None] + np.arange(n)[:, None] / n
    model = MOPE(weights="gaussian", graph="full")
    with pytest.raises(ValueError, match="20,000 x 20,000"):
        model._of_all_pairs(
            model._label_similarity(Rows(many, LabelMatrix.of(np.arange(n) % 2))), lambda part: np.ones((1, n))
        )


KINDS = ("constant", "gaussian", "local_scaling", "alternative", "cosine", "pearson", "spearman", "kendall")


@pairwise
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_weights_of_all_pairs_by_blocks(kind, form, metric):
    """Those of the edges of a full graph and of rows with themselves, over the largest; with duplicates, a row of zeros
    and a constant one."""
    special = X.copy()
    special[3], special[7], special[9] = special[5], 0.0, 2.0
    for values in (form(special), form(special).astype(np.float32)):
        exact = Rows(values.astype(np.float64), None)
        W = edge_weights(exact.X, exact.graph("full", metric=metric), kind, metric=metric).toarray()
        none = {"cosine": [7], "pearson": [7, 9], "spearman": [7, 9], "kendall": [7, 9]}.get(kind, [])
        W += np.diag(np.where(np.isin(np.arange(40), none), 0.0, 1.0))
        blocks = AllPairs(values, kind, metric=metric)
        found = np.vstack([blocks(slice(0, 13)), blocks(slice(13, 40))])
        np.testing.assert_allclose(found, W / W.max(), rtol=0, atol=1e-12)
        np.testing.assert_allclose(np.diag(found), blocks.diagonal(), rtol=0, atol=1e-15)
        assert found.max() == pytest.approx(1.0, rel=1e-14) and found.max() <= 1.0


@pairwise
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("size", [1e-200, 1e-9, 1.0, 1e9, 1e200])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_distances_of_blocks(form, size, metric):
    """Rows far from the origin and close to one another, equal ones, and features of extreme size."""
    close = 100.0 + 1e-4 * X
    close[3] = close[5]
    values = form(close * size)
    i, j = np.divmod(np.arange(1600), 40)
    Z = canonical(values, metric)
    expected = pair_distances(Z, i, Z, j, metric).reshape(40, 40)
    blocks = BlockDistances(values, metric)
    found = np.vstack([blocks(slice(0, 11)), blocks(slice(11, 40))])
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=2e-12 * (metric == "cosine"))
    assert found[3, 5] == found[5, 3] == 0.0


def test_weights_that_overflow_are_refused():
    with pytest.raises(ValueError, match="weights='cosine' gives values that are not finite"):
        AllPairs(X * 1e200, "cosine")
    for power in (-600, 600):  # a ratio of squares knows no unit
        large, W = (AllPairs(rows, "alternative")(slice(0, len(X))) for rows in (np.ldexp(X, power), X))
        np.testing.assert_allclose(large, W, rtol=1e-12)
    with pytest.raises(ValueError, match="weights='pearson' correlates two rows over their features"):
        AllPairs(X[:, :1], "pearson")


def test_geodesic_weights_of_all_pairs():
    """Along the same graph of neighbours as those of the methods on full graphs."""
    options = {"weights": "geodesic", "graph": "full", "n_neighbors": 6}
    rows = Rows(X, LabelMatrix.of(Y))
    W = LPP(self_loops=True, **options)._graph_weights(rows).toarray()
    found = MOPE(gamma=0.0, **options).proximity(rows).todense()
    np.testing.assert_allclose(found, W / W.max(), rtol=0, atol=1e-12)


def test_the_width_of_many_rows_is_that_of_some():
    many = np.random.default_rng(0).standard_normal((WIDTH_ROWS + 50, 2))
    width = used_width(many, "gaussian", None, "euclidean")
    i, j = np.triu_indices(len(many), 1)
    assert abs(width / np.median(((many[i] - many[j]) ** 2).sum(axis=1)) - 1.0) < 0.05
    assert used_width(many, "gaussian", None, "euclidean") == width
    assert used_width(many, "gaussian", 3.0, "euclidean") == 3.0
    few = used_width(many[:60], "gaussian", None, "euclidean")
    np.testing.assert_allclose(few, used_tau(full_graph(many[:60]), "gaussian"), rtol=1e-12)


def test_a_matrix_of_weights_by_a_callable_of_all_pairs():
    def weigh(rows, graph):
        return np.exp(-np.abs(np.subtract.outer(rows[:, 0], rows[:, 0])))

    for options in ({}, {"n_links": 39}):
        expected = weigh(X, None)
        np.fill_diagonal(expected, 0.0 if options else 1.0)
        found = MOPE(weights=weigh, graph="full", gamma=0.0, **options).proximity(Rows(X, LabelMatrix.of(Y))).todense()
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_the_ridge_of_an_orthonormal_embedding_is_chosen_on_the_labels():
    chosen = MOPE(constraint="embedding").fit(X, Y)
    assert chosen.ridge_ > 0
    np.testing.assert_allclose(chosen.ridge_, OPLS().fit(X, Y).ridge_)
    assert MOPE().fit(X, Y).ridge_ == 0.0
