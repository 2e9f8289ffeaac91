"""Effects of features on kernel models: derivatives against finite differences, permutations, what matters and what
does not."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from proxembed import FDA, MESD, OPLS, PCA, SSDR, Kernelized, RelationFeatures
from proxembed.pairs.relation import LEAST_ROWS, MOST_ROWS, column_deviations, relation, relation_effects

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 5)) * [1.0, 3.0, 0.2, 1.0, 1.0] + [0.0, 5.0, 0.0, 0.0, 1.0]
Y = (X[:, :2] + rng.normal(size=(60, 2)) > [0.0, 5.0]).astype(int)
STEP = 1e-5


def differences(embed, rows: np.ndarray) -> np.ndarray:
    """(m, k, d): central differences of an embedding by each feature."""
    found = []
    for j in range(rows.shape[1]):
        step = STEP * np.eye(rows.shape[1])[j]
        found.append((embed(rows + step) - embed(rows - step)) / (2 * STEP))
    return np.stack(found, axis=2)


def signed_means(gradients: np.ndarray) -> np.ndarray:
    return np.sign(gradients.sum(axis=0)) * np.abs(gradients).mean(axis=0)


@pytest.mark.parametrize("constraint", ["feature", "coef"])
@pytest.mark.parametrize(
    "kernel",
    [{"kernel": "gaussian"}, {"kernel": "linear"}, {"kernel": "cosine"}, {"kernel": "polynomial", "degree": 3}],
    ids=lambda kernel: kernel["kernel"],
)
def test_effects_of_kernels_are_mean_absolute_derivatives(kernel, constraint):
    model = Kernelized(OPLS(), n_components=2, constraint=constraint, **kernel).fit(X, Y)
    expected = signed_means(differences(model.transform, X)) * X.std(axis=0)
    found = model.feature_effects(model.components_)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6 * np.abs(expected).max())
    named = dict(model.explain(1).features)
    np.testing.assert_allclose([named[f"x{j}"] for j in range(5)], found[1], rtol=1e-9)


@pytest.mark.parametrize("kind", ["dot", "polynomial", "gaussian", "cosine"])
def test_effects_of_relation_features(kind):
    relate = RelationFeatures(kind, n_prototypes=20, prototypes="random", random_state=0).fit(X)
    weights = rng.normal(size=(3, 20))
    rows = relate.prototypes_
    expected = signed_means(differences(lambda R: relate.transform(R) @ weights.T, rows)) * rows.std(axis=0)
    np.testing.assert_allclose(relate.feature_effects(weights), expected, rtol=1e-4, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize(
    "kernel",
    ["gaussian", "polynomial", lambda A, B: np.exp(-((A[:, None] - B[None]) ** 2).sum(axis=2) / 10)],
    ids=["gaussian", "polynomial", "function"],
)
def test_two_of_ten_features_matter(kernel):
    """The labels are the sign of the product of two features: no linear weight knows them."""
    draw = np.random.default_rng(1)
    rows = draw.normal(size=(400, 10))
    y = rows[:, 2] * rows[:, 7] > 0
    model = Kernelized(OPLS(), n_components=1, kernel=kernel).fit(rows, y)
    told = model.explain(0, n_features=10).features
    assert {name for name, _ in told[:2]} == {"x2", "x7"}
    assert abs(told[1][1]) > 1.5 * abs(told[2][1])


@pytest.mark.parametrize("kind", ["dot", "polynomial", "gaussian", "cosine", "tanimoto"])
def test_sparse_rows_have_the_effects_of_dense_ones(kind):
    rows = rng.poisson(0.5, size=(50, 8)).astype(float)
    rows[0] = 0.0
    weights, more = rng.normal(size=(2, 50)), {"tau": 3.0} if kind == "gaussian" else {}
    dense = relation_effects(kind, rows, weights, **more)
    np.testing.assert_allclose(
        relation_effects(kind, sp.csr_array(rows), weights, **more), dense, rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(column_deviations(sp.csr_array(rows)), rows.std(axis=0), rtol=1e-12)


def test_a_permuted_linear_relation_has_about_the_weights_of_standardised_features():
    rows = np.random.default_rng(2).normal(size=(200, 4)) * [1.0, 2.0, 0.0, 5.0]
    weights = np.random.default_rng(3).normal(size=(2, 200))
    exact = relation_effects("dot", rows, weights)
    permuted = relation_effects(lambda A, B: relation("dot", A, B), rows, weights)
    assert (permuted[:, 2] == 0).all() and (exact[:, 2] == 0).all()
    np.testing.assert_allclose(permuted, exact, rtol=0.15)


def test_combinators_pass_the_effects_of_their_kernel_on():
    kernel = Kernelized(PCA(), kernel="gaussian", tau=20.0)
    partly = Y.astype(float)
    partly[20:] = np.nan
    for model in (
        MESD(Kernelized(FDA(), tau=20.0), n_components=1).fit(X, Y),
        SSDR(Kernelized(OPLS(), tau=20.0), kernel, balance="trace", n_components=2).fit(X, partly),
    ):
        rows = getattr(model, "method_", getattr(model, "unsupervised_", None)).prototypes_
        expected = signed_means(differences(model.transform, rows)) * rows.std(axis=0)
        found = model.feature_effects(model.components_)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6 * np.abs(expected).max())


def test_precomputed_kernels_have_the_weights_of_their_standardised_columns():
    K = X @ X.T
    model = Kernelized(OPLS(), n_components=2, kernel="precomputed").fit(K, Y)
    gradient = differences(model.transform, K[:1])[0]
    np.testing.assert_allclose(model.feature_effects(model.components_), gradient * K.std(axis=0), rtol=1e-4, atol=1e-8)


def test_few_rows_are_looked_at_where_prototypes_are_many(monkeypatch):
    seen = []
    relations = lambda kind, A, B, **more: seen.append(len(A)) or relation(kind, A, B, **more)  # noqa: E731
    monkeypatch.setattr("proxembed.pairs.relation.relation", relations)
    relation_effects("dot", rng.normal(size=(1000, 3)), np.ones((1, 1000)))
    relation_effects("dot", np.ones((2000, 5000)), np.ones((1, 2000)))
    assert seen[0] == MOST_ROWS and sum(seen[1:]) == LEAST_ROWS
