"""kNN on psi against sorting every row of the whole Psi: ties, links, weights of every form, callables, rounding."""

import numpy as np
import pytest
from scipy import sparse

from designs import WHOLE, each_value, pairwise
from memory import traced_memory
from oracles import label_similarities as oracle
from proxembed.proximity import combine as combine_module
from proxembed.proximity.combine import combine, nearest_by_similarity, sparsify
from proxembed.proximity.label_similarity import LabelSimilarity, label_similarity
from proxembed.targets.labels import LabelMatrix

LINKS = ("undirected", "mutual", "directed")
KINDS = {
    "priority": ("priority", {"a": 0.3, "b": 1.3}),
    "with features": ("priority", {"gamma": 0.6, "beta": 2.0}),
    "weights alone": ("priority", {"gamma": 0.0}),
    "hadamard": ("hadamard", {}),
    "sum": ("sum", {"beta": 0.4}),
    "falling": (lambda w, g: g * (1.0 - 0.9 * w), {}),
    "negative": (lambda w, g: g + w - 0.5, {}),
}


def problem(seed: int, n: int = 28, scheme: str = "labels") -> tuple[LabelSimilarity, np.ndarray]:
    """Few label sets with many equal rows (ties everywhere), rows without labels, and weights on a grid with a hub."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, 4)) < 0.35).astype(float)
    Y[n // 2 :] = Y[rng.integers(0, 4, n - n // 2)]
    Y[[2, n - 1]] = 0.0
    W = rng.integers(0, 5, (n, n)) / 4 * (rng.random((n, n)) < 0.1)
    W[1] = rng.integers(0, 5, n) / 4
    W = np.maximum(W, W.T)
    np.fill_diagonal(W, 0.0)
    return label_similarity(LabelMatrix.of(Y), scheme), W


def whole(G: LabelSimilarity) -> np.ndarray:
    index, Gu = G.grouped()
    return Gu[np.ix_(index, index)]


def same(found: sparse.csr_array, expected: np.ndarray) -> None:
    assert found.has_sorted_indices and found.format == "csr"
    np.testing.assert_array_equal(found.toarray() != 0, expected != 0)
    np.testing.assert_allclose(found.toarray(), expected, rtol=1e-13, atol=0)


@pairwise
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("K", [1, 3, 27])
@pytest.mark.parametrize("seed", range(5 if WHOLE else 2))
def test_chosen_pairs_equal_sorted_rows(seed, K, kind):
    combined, options = KINDS[kind]
    for scheme in ("labels", "latent", "classes"):
        G, W = problem(seed, scheme=scheme)
        Psi = combine(combined, W, whole(G), **options)
        expected = oracle.chosen_by_sorting(Psi, K)
        same(nearest_by_similarity(G, K, sparse.csr_array(W), combined, **options), expected)
        same(nearest_by_similarity(G, K, lambda rows, W=W: W[rows], combined, **options), expected)


@each_value
@pytest.mark.parametrize("K", [1, 4, 27])
@pytest.mark.parametrize("seed", range(5 if WHOLE else 2))
def test_chosen_pairs_by_labels_alone(seed, K):
    for scheme in ("labels", "latent", "classes"):
        G, _ = problem(seed, scheme=scheme)
        for kind, options in (("priority", {"a": 0.5}), ("hadamard", {}), (lambda w, g: g * w / 2, {})):
            expected = oracle.chosen_by_sorting(combine(kind, None, whole(G), **options), K)
            same(nearest_by_similarity(G, K, None, kind, **options), expected)


@pairwise
@pytest.mark.parametrize("values", ["psi", "binary"])
@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("seed", range(4 if WHOLE else 2))
def test_links_and_values(seed, link, values):
    G, W = problem(seed)
    Psi = combine("priority", W, whole(G), a=0.3)
    D = oracle.chosen_by_sorting(Psi, 3)
    D = (D > 0) * 1.0 if values == "binary" else D
    found = sparsify(G, 3, sparse.csr_array(W), link=link, values=values, a=0.3)
    same(found, oracle.linked(D, link))
    assert (found != found.T).nnz == 0 and not found.diagonal().any()
    looped = sparsify(G, 3, sparse.csr_array(W), link=link, values=values, self_loops=True, a=0.3)
    own = np.diag(Psi)
    np.testing.assert_allclose(looped.diagonal(), (own > 0) if values == "binary" else own, rtol=1e-14)
    assert np.abs((looped - found).toarray() - np.diag(looped.diagonal())).max() == 0.0


def test_the_links_differ():
    """A negative control: where all agreed, a link could be mistaken for another."""
    G, W = problem(0)
    counts = {link: sparsify(G, 3, sparse.csr_array(W), link=link).nnz for link in LINKS}
    assert counts["mutual"] < counts["undirected"] == counts["directed"]
    either, half = (sparsify(G, 3, sparse.csr_array(W), link=link) for link in ("undirected", "directed"))
    assert abs(either - half).max() > 0.1


def test_self_loops_take_the_weights_of_the_diagonal():
    G, W = problem(1)
    np.fill_diagonal(W, 0.5)
    for given in (sparse.csr_array(W), lambda rows: W[rows]):
        found = sparsify(G, 2, given, self_loops=True, beta=3.0)
        np.testing.assert_allclose(found.diagonal(), np.diag(combine("priority", W, whole(G), beta=3.0)), rtol=1e-14)
    alone = sparsify(G, 2, None, self_loops=True)
    np.testing.assert_array_equal(alone.diagonal(), np.diag(whole(G)))


def test_rows_with_few_positive_psi_keep_what_they_have():
    Y = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 0], [0, 0, 0]])
    G = label_similarity(LabelMatrix.of(Y), "labels")
    found = nearest_by_similarity(G, 3)
    assert np.diff(found.indptr).tolist() == [1, 1, 0, 0, 0] and found.data.tolist() == [1.0, 1.0]
    W = sparse.csr_array(([0.5, 0.5], ([3, 4], [4, 3])), shape=(5, 5))
    assert nearest_by_similarity(G, 3, W).nnz == 2
    assert nearest_by_similarity(G, 3, W, gamma=0.5).toarray()[3, 4] == 0.25


def test_edges_of_weight_zero_change_nothing():
    G, W = problem(2)
    stored = sparse.csr_array(np.ones(W.shape))
    stored.data[:] = W.ravel()
    assert stored.nnz == W.size
    assert abs(sparsify(G, 3, stored) - sparsify(G, 3, sparse.csr_array(W))).max() == 0.0


def test_rounding_decides_no_tie():
    """Values that differ by rounding are equal: the lower index wins, in lists of sets and in blocks of rows."""
    index = np.arange(4)
    raw = np.array([[1, 0.3, 0.3, 0.3], [0.3, 1, 0, 0], [0.3, 0, 1, 0], [0.3, 0, 0, 1]])
    raw[0, 2] = raw[2, 0] = 0.1 + 0.2
    assert raw[0, 2] > raw[0, 1]
    G = LabelSimilarity(index, 4, lambda a, b: raw[np.ix_(a, b)])
    assert nearest_by_similarity(G, 1)[[0]].indices.tolist() == [1]
    assert nearest_by_similarity(G, 1, lambda rows: np.ones((4, 4))[rows])[[0]].indices.tolist() == [1]
    raw[0, 2] = raw[2, 0] = 0.3 + 1e-9
    G = LabelSimilarity(index, 4, lambda a, b: raw[np.ix_(a, b)])
    assert nearest_by_similarity(G, 1)[[0]].indices.tolist() == [2]


@pytest.mark.parametrize("kind", ["priority", "falling"])
def test_blocks_and_threads_do_not_matter(monkeypatch, kind):
    G, W = problem(3, n=60, scheme="classes")
    combined, options = KINDS[kind]

    def results():
        return [
            sparsify(G, 4, given, combined, **options)
            for given in (None, sparse.csr_array(W), lambda rows: W[rows])
        ]  # fmt: skip

    at_once = results()
    monkeypatch.setattr(
        combine_module, "row_blocks", lambda n, width: (slice(s, min(s + 7, n)) for s in range(0, n, 7))
    )
    for count in (1, 2):
        monkeypatch.setattr("proxembed.algebra.arrays.blas.threads", lambda count=count: count)
        for one, other in zip(at_once, results(), strict=True):
            assert abs(one - other).max() <= 1e-15 and np.array_equal(one.indices, other.indices)


def test_memory_is_that_of_the_links():
    """8,000 rows with 200 label sets: Psi would be 512 MB."""
    rng = np.random.default_rng(0)
    n = 8_000
    Y = np.zeros((n, 30))
    Y[np.arange(n), rng.integers(0, 30, n)] = 1.0
    Y[np.arange(n), rng.integers(0, 6, n)] = 1.0
    W = sparse.csr_array((rng.random(n), (np.arange(n), (np.arange(n) + 1) % n)), shape=(n, n))
    W = sparse.csr_array((W + W.T) / 2)
    G = label_similarity(LabelMatrix.of(Y), "labels")
    with traced_memory() as memory:
        found = sparsify(G, 10, W)
    assert found.nnz >= 10 * n and memory.peak < 100e6


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((0,), {}, "K=0 is not allowed"),
        ((28,), {}, "from 1 to 27"),
        ((2,), {"link": "closest"}, "link='closest' is not allowed"),
        ((2,), {"values": "ones"}, "values='ones' is not allowed; choose one of psi, binary"),
        ((2, np.ones((28, 28))), {}, "type ndarray"),
        ((2, sparse.csr_array((3, 3))), {}, r"shape \(3, 3\)"),
        ((2, sparse.csr_array(np.triu(np.ones((28, 28))))), {}, "transpose"),
        ((2, sparse.csr_array(np.full((28, 28), 2.0))), {}, "w holds values"),
        ((2, lambda rows: np.ones((3, 3))), {}, "it gave shape"),
        ((2, None, "product"), {}, "combine='product' is not known"),
        ((2,), {"beta": -1.0}, "beta=-1.0 is not allowed"),
    ],
)
def test_what_is_refused(arguments, options, message):
    G, _ = problem(0)
    with pytest.raises(ValueError, match=message):
        sparsify(G, *arguments, **options)


def test_the_claim_on_rising_psi_is_needed():
    """A negative control: lists of K + 1 rows are too short for a psi that falls with w."""
    G, W = problem(0)
    falling, _ = KINDS["falling"]
    expected = nearest_by_similarity(G, 1, sparse.csr_array(W), falling)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(combine_module.Combination, "rises", True)
        wrong = nearest_by_similarity(G, 1, sparse.csr_array(W), falling)
    assert abs(expected - wrong).max() > 0
