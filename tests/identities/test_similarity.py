"""Identities of the label similarities and of Psi: what is what in which case, with controls where they part."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import strategies
from designs import WHOLE, each_value
from oracles import label_similarities as oracle
from proxembed.proximity.combine import combine, combine_grouped, sparsify
from proxembed.proximity.label_similarity import SET_SIMILARITIES, LabelSimilarity, class_similarity, label_similarity
from proxembed.targets.labels import LabelMatrix

CLOSE = 1e-13
SEEDS = range(4 if WHOLE else 1)


def labels_of(seed: int, n: int = 40, c: int = 5) -> np.ndarray:
    """Label sets with repeats and rows without labels."""
    Y = strategies.labels_multi(n, c, seed, density=0.35)
    Y[n // 2 : n // 2 + 5] = Y[:5]
    Y[n // 3] = 0.0
    return Y


def whole(G: LabelSimilarity) -> np.ndarray:
    """The unscaled n x n G."""
    index, Gu = G.grouped()
    return G.scale * Gu[np.ix_(index, index)]


def of(Y: np.ndarray, *arguments, **options) -> np.ndarray:
    return whole(label_similarity(LabelMatrix.of(Y), *arguments, **options))


def assert_same(A: np.ndarray, B: np.ndarray) -> None:
    np.testing.assert_allclose(A, B, rtol=0, atol=CLOSE * max(1.0, np.abs(B).max()))


def assert_differ(A: np.ndarray, B: np.ndarray) -> None:
    assert np.abs(A - B).max() > 1e-2 * np.abs(B).max()


def least(A: np.ndarray) -> float:
    """The smallest eigenvalue over the largest."""
    w = np.linalg.eigvalsh(A)
    return w[0] / w[-1]


@each_value
@pytest.mark.parametrize("kind", SET_SIMILARITIES)
@pytest.mark.parametrize("seed", SEEDS)
def test_similarities_of_label_strings_are_positive_semidefinite(seed, kind):
    assert least(of(labels_of(seed), "labels", kind)) > -1e-13


@each_value
@pytest.mark.parametrize("kind", ["cooccurrence", "dice", "jaccard", "cosine", "hamming", "hamming_linear"])
@pytest.mark.parametrize("seed", SEEDS)
def test_class_similarities_are_positive_semidefinite(seed, kind):
    assert least(class_similarity(LabelMatrix.of(labels_of(seed)), kind)) > -1e-13
    assert least(of(labels_of(seed), "classes", kind)) > -1e-13


def test_a_minkowski_power_above_two_is_not_positive_semidefinite():
    """A negative control: exp(-|x|^p) is no kernel above p = 2."""
    phi = np.linspace(0.0, 3.0, 12)[:, None]
    Y = np.tril(np.ones((12, 11)), -1)
    for p, definite in ((1.0, True), (2.0, True), (4.0, False)):
        G = of(Y, "latent", "minkowski", latent=lambda sets: phi, p=p, tau=1.0)
        assert (least(G) > -1e-12) == definite


@pytest.mark.parametrize("seed", SEEDS)
def test_linear_hamming_has_rank_at_most_c_plus_1(seed):
    Y = labels_of(seed)
    assert np.linalg.matrix_rank(of(Y, "labels", "hamming_linear"), hermitian=True) <= 6
    assert np.linalg.matrix_rank(of(Y, "labels", "hamming"), hermitian=True) > 6
    both = np.hstack([Y, 1 - Y])
    assert_same(of(Y, "labels", "hamming_linear"), both @ both.T / 5)


@pytest.mark.parametrize("seed", SEEDS)
def test_tanimoto_of_label_sets_is_jaccard(seed):
    Y = labels_of(seed)
    jaccard = of(Y, "labels", "jaccard")
    assert_same(of(Y, "latent", "tanimoto", latent=lambda sets: sets), jaccard)
    assert_differ(of(Y, "latent", "tanimoto", latent=lambda sets: 2.0 * sets - 1.0), jaccard)


@pytest.mark.parametrize("latent", ["pca", "lsi"])
@pytest.mark.parametrize("seed", SEEDS)
def test_all_latent_directions_are_the_labels_themselves(seed, latent):
    """Py is a rotation of the labels then: lengths, inner products and distances are those of the 0/1 rows."""
    Y = labels_of(seed)
    options = {"latent": latent, "n_latent": 5}
    assert_same(of(Y, "latent", "cosine", **options), of(Y, "labels", "cosine"))
    assert_same(of(Y, "latent", "tanimoto", **options), of(Y, "labels", "jaccard"))
    assert_same(of(Y, "latent", "minkowski", tau=1.5, **options), of(Y, "labels", "hamming", tau=1.5))
    assert_same(of(Y, "latent", "gaussian", tau=1.5, **options), of(Y, "labels", "hamming", tau=1.5))
    assert_differ(of(Y, "latent", "cosine", latent=latent, n_latent=2), of(Y, "labels", "cosine"))
    assert_differ(of(Y, "latent", "cosine", centred=True, **options), of(Y, "labels", "cosine"))


@pytest.mark.parametrize("seed", SEEDS)
def test_minkowski_of_power_one_is_hamming(seed):
    Y = labels_of(seed)
    assert_same(of(Y, "latent", "minkowski", latent=lambda sets: sets, p=1.0), of(Y, "labels", "hamming"))


@pytest.mark.parametrize("seed", SEEDS)
def test_one_label_a_row(seed):
    Y = strategies.one_hot(strategies.labels_classes(40, 4, seed))
    same = Y @ Y.T
    assert_same(of(Y, "labels", "scaled_dice"), Y / Y.sum(axis=0) @ Y.T)
    for kind in ("and", "cosine", "dice", "jaccard"):
        assert_same(of(Y, "labels", kind), same)
    for kind in ("dice", "jaccard", "cosine"):
        assert_same(of(Y, "classes", kind), same)
    Sigma = np.random.default_rng(seed).random((4, 4))
    Sigma += Sigma.T
    y = Y.argmax(axis=1)
    assert_same(of(Y, "classes", Sigma), Sigma[np.ix_(y, y)])


@pytest.mark.parametrize("seed", SEEDS)
def test_several_labels_a_row_tell_them_apart(seed):
    """A negative control for the case of one label."""
    Y = labels_of(seed)
    kinds = [of(Y, "labels", kind) for kind in ("and", "cosine", "dice", "jaccard", "hamming", "hamming_linear")]
    for i, one in enumerate(kinds):
        for other in kinds[:i]:
            assert_differ(one, other)
    assert_differ(of(Y, "labels", "scaled_dice"), Y @ np.diag(1 / Y.sum(axis=0)) @ Y.T)


@each_value
@pytest.mark.parametrize("scheme", ["labels", "latent", "classes"])
@pytest.mark.parametrize("seed", SEEDS)
def test_label_sets_stand_for_rows(seed, scheme):
    """X'GX = (Eg'X)' Gu (Eg'X)."""
    Y = labels_of(seed)
    X = strategies.features_dense(len(Y), 6, seed)
    G = label_similarity(LabelMatrix.of(Y), scheme)
    index, Gu = G.grouped()
    assert len(Gu) == len(np.unique(Y, axis=0)) < len(Y)
    sums = np.zeros((len(Gu), 6))
    np.add.at(sums, index, X)
    i, j = np.divmod(np.arange(G.n**2), G.n)
    assert_same(sums.T @ Gu @ sums, X.T @ G.pairs(i, j).reshape(G.n, G.n) @ X)


@pytest.mark.parametrize("seed", SEEDS)
def test_means_over_classes_are_a_matrix_product(seed):
    """G = M^-1 Y Sigma Y' M^-1, the mean of Sigma over the labels of both rows; Sigma = I: entropy-weighted labels."""
    Y = labels_of(seed)
    F = np.divide(Y, Y.sum(axis=1, keepdims=True), out=np.zeros_like(Y), where=Y.sum(axis=1, keepdims=True) > 0)
    Sigma = oracle.class_sigma(Y, "dice")
    assert_same(of(Y, "classes", "dice"), F @ Sigma @ F.T)
    assert_same(F @ Sigma @ F.T, oracle.scheme_classes(Y, Sigma))
    assert_same(of(Y, "classes", np.eye(5)), F @ F.T)
    assert_differ(of(Y, "classes", "dice"), F @ F.T)


@pytest.mark.parametrize("scheme", ["labels", "latent", "classes"])
def test_order_and_names_of_labels_and_rows_do_not_matter(scheme):
    Y = labels_of(1)
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(40), rng.permutation(5)
    G = of(Y, scheme)
    assert_same(of(Y[:, columns], scheme), G)
    assert_same(of(Y[rows], scheme), G[np.ix_(rows, rows)])
    sets = [{f"label {9 - k}" for k in np.flatnonzero(row)} for row in Y]
    assert_same(of(sets, scheme), G)


@pytest.mark.parametrize("scheme", ["labels", "latent", "classes"])
def test_end_points_of_psi(scheme):
    """beta = 0, a = 1: G. gamma = 0, b = 1: W. beta = 0, a = b = 1: gamma G + (1 - gamma) W."""
    G = label_similarity(LabelMatrix.of(labels_of(2)), scheme)
    index, Gu = G.grouped()
    g = Gu[np.ix_(index, index)]
    W = np.random.default_rng(0).random((40, 40))
    W = (W + W.T) / 2
    np.testing.assert_array_equal(combine("priority", W, g, beta=0.0), g)
    np.testing.assert_array_equal(combine("priority", W, g, gamma=0.0), W)
    assert_same(combine("priority", W, g, beta=0.0, gamma=0.3), 0.3 * g + 0.7 * W)
    assert_same(combine("priority", W, g, beta=0.0, gamma=0.3), combine("sum", W, g, beta=0.3))
    np.testing.assert_array_equal(combine("priority", np.ones_like(g), g, beta=3.0), g)
    assert_same(combine("priority", np.zeros_like(g), g, beta=3.0), g / 4.0)
    assert_same(combine("priority", W, g, beta=1e20), np.where(W == 1.0, g, 0.0))
    assert_differ(combine("priority", W, g), g)


@pytest.mark.parametrize("seed", SEEDS)
def test_all_links_are_the_whole_psi_off_the_diagonal(seed):
    """K = n - 1 leaves nothing out, whatever the links; self loops bring the diagonal back."""
    G = label_similarity(LabelMatrix.of(labels_of(seed)), "classes")
    W = np.random.default_rng(seed).random((40, 40)) * (np.random.default_rng(seed + 9).random((40, 40)) < 0.1)
    W = np.triu(W, 1) + np.triu(W, 1).T
    index, P, C = combine_grouped(G, sparse.csr_array(W), a=0.5)
    Psi = P[np.ix_(index, index)] + C.toarray()
    for link in ("undirected", "mutual", "directed"):
        assert_same(sparsify(G, 39, sparse.csr_array(W), link=link, self_loops=True, a=0.5).toarray(), Psi)
    assert_differ(sparsify(G, 5, sparse.csr_array(W), self_loops=True, a=0.5).toarray(), Psi)
