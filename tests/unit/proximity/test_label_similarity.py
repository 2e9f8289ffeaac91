"""G of the three schemes against loops over label sets: names, empties, scaling, defaults, blocks, errors."""

from functools import partial

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from scipy.stats import kendalltau, spearmanr

import strategies
from designs import WHOLE, each_value, pairwise
from memory import traced_memory
from oracles import label_similarities as oracle
from oracles import preserving
from proxembed.algebra.arrays.matrix import guard_dense
from proxembed.proximity import label_similarity as label_similarity_module
from proxembed.proximity.label_similarity import (
    LABEL_KERNELS,
    LATENT_SIMILARITIES,
    OF_POINTS,
    SET_SIMILARITIES,
    LabelSimilarity,
    checked_similarity,
    class_similarity,
    label_similarity,
    latent_between,
    latent_labels,
    mean_differing,
    similarity,
)
from proxembed.targets.labels import LabelMatrix

STRINGS = tuple(SET_SIMILARITIES)
OF_MEMBERS = ("cooccurrence", "dice", "scaled_dice", "jaccard", "cosine", "hamming", "hamming_linear")


def random_labels(seed: int, n: int = 26, c: int = 5) -> np.ndarray:
    """Random label sets with repeats, empty rows and, at times, an empty class."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, c)) < rng.choice([0.15, 0.4, 0.8])).astype(float)
    Y[n // 2 : n // 2 + 4] = Y[:4]
    Y[[3, n - 1]] = 0.0
    Y[0, :2] = 1.0
    if seed % 3 == 0:
        Y[:, c - 1] = 0.0
    return Y


def whole(G: LabelSimilarity) -> np.ndarray:
    """n x n through the groups, after the pairs gave the same."""
    index, Gu = G.grouped()
    found = Gu[np.ix_(index, index)]
    i, j = np.divmod(np.arange(G.n**2), G.n)
    np.testing.assert_allclose(G.pairs(i, j).reshape(G.n, G.n), found, rtol=0, atol=1e-15)
    assert np.array_equal(Gu, Gu.T) and Gu.min() >= 0.0 and Gu.max() <= 1.0
    return found


def check(G: LabelSimilarity, expected: np.ndarray) -> None:
    """G is ``expected`` over its largest entry, by groups, pairs and the factor."""
    top = expected.max() or 1.0
    assert G.scale == pytest.approx(top, rel=1e-14)
    found = whole(G)
    np.testing.assert_allclose(found, expected / top, rtol=1e-13, atol=1e-15)
    if G.factor() is not None:
        F, S, _ = G.factor()
        S = np.eye(F.shape[1]) if S is None else np.diag(S) if S.ndim == 1 else S
        assert sparse.issparse(F) and F.format == "csc"
        np.testing.assert_allclose(F @ S @ F.T.toarray(), found, rtol=1e-13, atol=1e-14)


@each_value
@pytest.mark.parametrize("kind", STRINGS)
@pytest.mark.parametrize("seed", range(6 if WHOLE else 2))
def test_label_strings_equal_loops_over_sets(seed, kind):
    Y = random_labels(seed)
    G = label_similarity(LabelMatrix.of(Y), "labels", kind)
    check(G, oracle.scheme_labels(Y, kind))
    assert (G.factor() is not None) == (kind in ("and", "cosine", "hamming_linear"))


def test_the_width_of_hamming():
    Y = random_labels(1)
    check(label_similarity(LabelMatrix.of(Y), "labels", "hamming", tau=0.7), oracle.scheme_labels(Y, "hamming", 0.7))
    assert mean_differing(np.unique(Y, axis=0)) == pytest.approx(oracle.mean_differing(oracle.label_sets(Y)))
    assert mean_differing(np.eye(3)[:1]) == 1.0
    assert mean_differing(np.array([[0.0, 1.0], [1.0, 1.0]])) == 1.0
    assert mean_differing(np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]])) == 3.0


@each_value
@pytest.mark.parametrize("kind", OF_MEMBERS)
@pytest.mark.parametrize("seed", range(6 if WHOLE else 2))
def test_class_similarity_equals_loops_over_members(seed, kind):
    Y = random_labels(seed)
    labels = LabelMatrix.of(Y)
    Sigma = oracle.class_sigma(Y, kind)
    np.testing.assert_allclose(class_similarity(labels, kind), Sigma, rtol=1e-14, atol=0)
    check(label_similarity(labels, "classes", kind), oracle.scheme_classes(Y, Sigma))


@pairwise
@pytest.mark.parametrize("latent", ["pca", "lsi"])
@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("seed", range(4 if WHOLE else 1))
def test_latent_classes_are_latent_labels_of_the_transposed_matrix(seed, centred, latent):
    """Classes without rows are left out; Y' is decomposed as it is, c x n."""
    Y = random_labels(seed)
    used = np.flatnonzero(Y.sum(axis=0))
    T = Y[:, used].T
    V = np.linalg.svd(T - T.mean(axis=0) if latent == "pca" else T, full_matrices=False)[2][:2].T
    phi = (T - T.mean(axis=0) if centred else T) @ V
    found = label_similarity_module.latent_classes(LabelMatrix.of(Y), used, latent, 2, centred)
    np.testing.assert_allclose(found @ found.T, phi @ phi.T, rtol=0, atol=1e-10)
    np.testing.assert_allclose(np.abs(found), np.abs(phi), rtol=0, atol=1e-8)


@each_value
@pytest.mark.parametrize("kind", LATENT_SIMILARITIES)
@pytest.mark.parametrize("seed", range(2 if WHOLE else 1))
def test_classes_are_compared_by_every_similarity_of_latent_points(seed, kind):
    Y = random_labels(seed)
    used = np.flatnonzero(Y.sum(axis=0))
    T = Y[:, used].T
    phi = T @ np.linalg.svd(T - T.mean(axis=0), full_matrices=False)[2][:3].T
    phi *= np.sign(phi[np.abs(phi).argmax(axis=0), np.arange(3)])  # correlations over the directions know their signs
    expected = np.zeros((Y.shape[1], Y.shape[1]))
    expected[np.ix_(used, used)] = latent_loops(kind, phi)
    labels = LabelMatrix.of(Y)
    Sigma = class_similarity(labels, f"latent_{kind}", n_latent=3, n_scale=2)
    np.testing.assert_allclose(Sigma, expected, rtol=0, atol=1e-9)
    G = label_similarity(labels, "classes", f"latent_{kind}", n_latent=3, n_scale=2)
    check(G, oracle.scheme_classes(Y, Sigma))


def latent_loops(kind: str, phi: np.ndarray) -> np.ndarray:
    """A similarity of points, by pairs; negative ones 0."""
    n = len(phi)
    E = cdist(phi, phi)
    pairs = ~np.eye(n, dtype=bool)
    if kind in ("gaussian", "minkowski"):
        return np.exp(-(E**2) / (E**2)[pairs].mean())
    if kind == "geodesic":  # at most five other points: every one is a neighbour
        return np.exp(-(E**2) / (E**2)[pairs].mean())
    if kind == "reconstruction":
        V = preserving.reconstruction(phi, min(5, n - 1))
        G = np.maximum(V + V.T - V.T @ V, 0.0) * pairs
        return G + max(G.max(), 1.0) * np.eye(n)
    if kind == "local_scaling":
        s = np.sort(E, axis=1)[:, 2]
        return np.exp(-(E**2) / np.outer(s, s))
    squares = (phi**2).sum(axis=1)
    if kind == "alternative":
        return 1.0 / (1.0 + E**2 / (squares[:, None] + squares))
    if kind == "tanimoto":
        dots = phi @ phi.T
        return np.maximum(dots / (squares[:, None] + squares - dots), 0.0)
    of_two = {
        "cosine": lambda x, y: x @ y / np.sqrt((x @ x) * (y @ y)),
        "pearson": lambda x, y: np.corrcoef(x, y)[0, 1],
        "spearman": lambda x, y: spearmanr(x, y).statistic,
        "kendall": lambda x, y: kendalltau(x, y).statistic,
    }[kind]
    return np.maximum([[of_two(x, y) for y in phi] for x in phi], 0.0)


@pairwise
@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("made", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("seed", range(3))
def test_class_similarity_of_features(seed, made, binary):
    Y, labels = random_labels(seed), LabelMatrix.of(random_labels(seed))
    rng = np.random.default_rng(seed + 100)
    X = rng.standard_normal((len(Y), 7)) * (rng.random((len(Y), 7)) < 0.4)
    V = Y.T @ X
    V = (V > 0).astype(float) if binary else V
    name = "features_binary" if binary else "features"
    used = np.flatnonzero(Y.sum(axis=0))
    length = np.linalg.norm(V, axis=1)
    cosines = np.zeros((5, 5))
    squares = np.zeros((5, 5))
    for s in used:
        for t in used:
            cosines[s, t] = max(V[s] @ V[t] / (length[s] * length[t]), 0.0) if length[s] * length[t] else 0.0
            squares[s, t] = ((V[s] - V[t]) ** 2).sum()
    gaussian = np.exp(-squares / squares[np.ix_(used, used)][np.triu_indices(len(used), 1)].mean())
    gaussian[Y.sum(axis=0) == 0] = gaussian[:, Y.sum(axis=0) == 0] = 0.0
    for kind, expected in ((name, cosines), (f"{name}_gaussian", gaussian)):
        Sigma = class_similarity(labels, kind, features=made(X))
        np.testing.assert_allclose(Sigma, expected, rtol=0, atol=1e-13)
        check(label_similarity(labels, "classes", kind, class_features=made(X)), oracle.scheme_classes(Y, Sigma))


@each_value
@pytest.mark.parametrize("made", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("kind", [kind.removeprefix("features_") for kind in OF_POINTS])
def test_class_vectors_are_compared_by_every_measure_of_rows(kind, made):
    Y = random_labels(1)
    used = np.flatnonzero(Y.sum(axis=0))
    X = np.random.default_rng(101).standard_normal((len(Y), 7))
    expected = np.zeros((Y.shape[1], Y.shape[1]))
    expected[np.ix_(used, used)] = latent_loops(kind, (Y.T @ X)[used])
    Sigma = class_similarity(LabelMatrix.of(Y), f"features_{kind}", features=made(X), n_scale=2)
    np.testing.assert_allclose(Sigma, expected, rtol=0, atol=1e-9)


def test_class_similarity_of_the_caller():
    """An indefinite matrix: negative entries become 0 and the largest g is found off the diagonal."""
    Y = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 0, 0]])
    Sigma = np.array([[0.1, 3.0, -1.0], [3.0, 0.2, 0.5], [-1.0, 0.5, 0.3]])
    expected = oracle.scheme_classes(Y, np.maximum(Sigma, 0.0))
    assert expected.max() > np.diag(expected).max()
    labels = LabelMatrix.of(Y)
    for G in (
        label_similarity(labels, "classes", Sigma),
        label_similarity(labels, "classes", lambda members: Sigma if members.shape == (3, 5) else None),
        label_similarity(labels, similarity=Sigma.tolist()),
    ):
        check(G, expected)


def test_the_default_is_dice_of_classes():
    Y = random_labels(2)
    G = label_similarity(LabelMatrix.of(Y))
    check(G, oracle.scheme_classes(Y, oracle.class_sigma(Y, "dice")))
    assert np.abs(whole(G) - whole(label_similarity(LabelMatrix.of(Y), "labels"))).max() > 0.05


def principal(Y: np.ndarray, k: int, centre: bool) -> np.ndarray:
    return np.linalg.svd(Y - Y.mean(axis=0) if centre else Y)[2][:k].T


@pairwise
@pytest.mark.parametrize("kind", ["pca", "lsi"])
@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_latent_points_are_projections_of_label_sets(seed, kind, centred):
    Y = random_labels(seed)
    labels = LabelMatrix.of(Y)
    sets, _ = labels.groups()
    P = principal(Y, 2, kind == "pca")
    phi = latent_labels(labels, sets, kind, 2, centred)
    points = (sets - centred * Y.mean(axis=0)) @ P
    np.testing.assert_allclose(phi @ phi.T, points @ points.T, rtol=0, atol=1e-12)
    lead = (np.abs(P) > (1 - 1e-6) * np.abs(P).max(axis=0)).argmax(axis=0)
    signs = np.sign(P[lead, [0, 1]])  # correlations over the directions know their signs
    np.testing.assert_allclose(phi, points * signs, rtol=0, atol=1e-10)
    share = np.cumsum(np.linalg.svd(Y - (kind == "pca") * Y.mean(axis=0))[1] ** 2)
    assert latent_labels(labels, sets, kind).shape[1] == 1 + np.count_nonzero(share < 0.9 * share[-1])


def test_latent_points_of_a_callable_and_constant_labels():
    labels = LabelMatrix.of(random_labels(0))
    sets, _ = labels.groups()
    assert np.array_equal(latent_labels(labels, sets, lambda S: S[:, :2] * 3), sets[:, :2] * 3)
    G = label_similarity(LabelMatrix.of(np.ones((4, 2))), "latent")
    assert G.scale == 1.0 and not whole(G).any()


def latent_by_loops(phi: np.ndarray, kind: str, p: float) -> np.ndarray:
    """Each similarity of latent points from its formula, pair by pair, before scaling."""
    u = len(phi)
    above = np.triu_indices(u, 1)
    powers = oracle.pair_matrix(u, lambda i, j: (np.abs(phi[i] - phi[j]) ** p).sum())
    D, squares = cdist(phi, phi), (phi**2).sum(axis=1)
    scale = np.sort(D, axis=1)[:, min(7, u - 1)]

    def over(a, b):
        return a / b if b else 0.0

    def correlation(x, y):
        return over(x @ y, np.linalg.norm(x) * np.linalg.norm(y))

    def local(i, j):
        product = scale[i] * scale[j]
        return np.exp(-(D[i, j] ** 2) / product) if product else float(D[i, j] == 0)

    pair = {
        "cosine": lambda i, j: correlation(phi[i], phi[j]),
        "minkowski": lambda i, j: np.exp(-powers[i, j] / powers[above].mean()),
        "gaussian": lambda i, j: np.exp(-(D[i, j] ** 2) / (D[above] ** 2).mean()),
        "tanimoto": lambda i, j: over(phi[i] @ phi[j], squares[i] + squares[j] - phi[i] @ phi[j]),
        "alternative": lambda i, j: 1 / (1 + over(D[i, j] ** 2, squares[i] + squares[j])),
        "local_scaling": local,
        "pearson": lambda i, j: correlation(phi[i] - phi[i].mean(), phi[j] - phi[j].mean()),
        "spearman": lambda i, j: np.nan_to_num(spearmanr(phi[i], phi[j]).statistic),
        "kendall": lambda i, j: np.nan_to_num(kendalltau(phi[i], phi[j]).statistic),
    }[kind]
    return np.maximum(oracle.pair_matrix(u, pair), 0.0)


@pairwise
@pytest.mark.filterwarnings("ignore::scipy.stats.ConstantInputWarning")
@pytest.mark.parametrize("p", [1.0, 2.0, 3.0])
@pytest.mark.parametrize("kind", [kind for kind in LATENT_SIMILARITIES if kind != "geodesic"])
@pytest.mark.parametrize("seed", range(3))
def test_latent_similarities_equal_their_formulas(seed, kind, p):
    """0/1 points are exact, so that constant rows and ties are those of the loops."""
    Y = random_labels(seed)
    labels = LabelMatrix.of(Y)
    sets, index = labels.groups()
    G = label_similarity(labels, "latent", kind, latent=lambda S: S, p=p)
    expected = latent_by_loops(sets, kind, p)
    np.testing.assert_allclose(whole(G), expected[np.ix_(index, index)], rtol=0, atol=1e-12)
    assert G.factor() is None


def test_latent_widths():
    """A width given divides the exponent; "alternative" is scaled by its largest value, 1/tau."""
    phi = np.random.default_rng(0).standard_normal((9, 3))
    everyone, d2 = np.arange(9), cdist(phi, phi, "sqeuclidean")
    for kind in ("minkowski", "gaussian"):
        between, top = latent_between(phi, kind, tau=0.3)
        np.testing.assert_allclose(between(everyone, everyone), np.exp(-d2 / 0.3), atol=1e-14)
        assert top == 1.0
    between, top = latent_between(phi, "alternative", tau=0.5)
    assert top == 2.0 and np.allclose(np.diag(between(everyone, everyone)), 2.0)


def test_geodesic_similarity_follows_paths():
    """Points on a line, far ends: paths along 5 neighbours add up to the distance, as the line is straight."""
    phi = np.arange(12.0)[:, None]
    between, _ = latent_between(phi, "geodesic", tau=4.0)
    everyone = np.arange(12)
    np.testing.assert_allclose(between(everyone, everyone), np.exp(-(cdist(phi, phi) ** 2) / 4.0), atol=1e-15)
    two = np.concatenate([phi, phi + 1000.0])
    between, _ = latent_between(two, "geodesic")
    assert not between(everyone, everyone + 12).any() and between(everyone, everyone).all()
    assert latent_between(phi[:1], "geodesic")[0](np.array([0]), np.array([0])) == 1.0


def test_reconstruction_similarity_is_that_of_the_weights_of_lle():
    phi = np.random.default_rng(1).standard_normal((12, 3))
    between, top = latent_between(phi, "reconstruction")
    everyone, expected = np.arange(12), latent_loops("reconstruction", phi)
    np.testing.assert_allclose(between(everyone, everyone), expected, rtol=0, atol=1e-9)
    assert top == pytest.approx(expected.max(), rel=1e-9)
    assert latent_between(phi[:1], "reconstruction")[0](np.array([0]), np.array([0])) == 1.0


@pytest.mark.parametrize("sets_at_once", [1, 3, 64])
@pytest.mark.parametrize("scheme", ["labels", "latent", "classes"])
def test_pairs_without_a_table_of_all_sets(monkeypatch, scheme, sets_at_once):
    labels = LabelMatrix.of(random_labels(4, n=40, c=7))
    G = label_similarity(labels, scheme)
    rng = np.random.default_rng(0)
    i, j = rng.integers(0, 40, (2, 300))
    table = G.pairs(i, j)
    assert "_of_all_sets" in vars(G)
    monkeypatch.setattr(label_similarity_module, "TABLE", 0)
    monkeypatch.setattr(label_similarity_module, "SETS", sets_at_once)
    fresh = label_similarity(labels, scheme)
    np.testing.assert_allclose(fresh.pairs(i, j), table, rtol=0, atol=1e-15)
    assert "_of_all_sets" not in vars(fresh)
    np.testing.assert_allclose(fresh.grouped()[1], G.grouped()[1], rtol=0, atol=1e-15)
    assert fresh.pairs(i[:0], j[:0]).shape == (0,)


def test_few_pairs_of_many_label_sets_take_no_table():
    """3,000 rows of as many label sets: u x u would be 72 MB."""
    n = 3000
    labels = LabelMatrix.of(np.random.default_rng(0).random((n, 60)) < 0.12)
    G, everyone = label_similarity(labels, "labels"), np.arange(n)
    assert G.u > 0.95 * n
    with traced_memory() as memory:
        own = G.pairs(everyone, everyone)
    assert memory.peak < 4e6 and "_of_all_sets" not in vars(G)
    np.testing.assert_array_equal(own, labels.m > 0)


def test_a_callers_array_stays_as_it_is():
    given = np.array([[1.0, 0.5], [0.5 + 1e-9, 1.0]])
    before = given.copy()
    found = checked_similarity(given, 2, "similarity")
    np.testing.assert_array_equal(given, before)
    assert found[0, 1] == found[1, 0] and found is not given


@pytest.mark.parametrize(
    ("scheme", "options"),
    [("labels", {}), ("latent", {"latent": lambda S: S}), ("classes", {})],
    ids=["labels", "latent", "classes"],
)
def test_a_callable_meets_the_size_guard_first(monkeypatch, scheme, options):
    monkeypatch.setattr(label_similarity_module, "guard_dense", partial(guard_dense, max_dense_bytes=100))
    labels = LabelMatrix.of(random_labels(1))
    with pytest.raises(ValueError, match="similarity=<function .* would be a dense"):
        label_similarity(labels, scheme, lambda S: pytest.fail("the guard comes first"), **options)


@pytest.mark.parametrize("kind", ["rbf", lambda S: pytest.fail("the guard comes first")], ids=["name", "callable"])
def test_label_kernels_meet_the_size_guard_first(monkeypatch, kind):
    monkeypatch.setattr(label_similarity_module, "guard_dense", partial(guard_dense, max_dense_bytes=100))
    with pytest.raises(ValueError, match="label_kernel=.* would be a dense"):
        similarity(kind, np.eye(5))


def test_callables_of_sets_are_scaled_clipped_and_checked():
    Y = random_labels(5)
    labels = LabelMatrix.of(Y)
    sets, index = labels.groups()

    def overlap(S):
        return S @ S.T - 1.0

    expected = np.maximum(overlap(sets), 0.0)
    for scheme, options in (("labels", {}), ("latent", {"latent": lambda S: S})):
        G = label_similarity(labels, scheme, overlap, **options)
        np.testing.assert_allclose(whole(G), (expected / expected.max())[np.ix_(index, index)])
    for scheme in ("labels", "latent", "classes"):
        with pytest.raises(ValueError, match="similarity=<function .* differs from its transpose by up to"):
            label_similarity(labels, scheme, lambda S: np.triu(np.ones((len(S), len(S)))))
    with pytest.raises(ValueError, match="finite"):
        label_similarity(labels, "latent", latent=lambda S: S[:2])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scheme": "strings"}, "scheme='strings' is not known; choose one of labels, latent, classes"),
        ({"scheme": "labels", "similarity": "tanimoto"}, "similarity='tanimoto' of label sets is not known"),
        ({"scheme": "latent", "similarity": "dice"}, "similarity='dice' of latent labels is not known"),
        ({"scheme": "classes", "similarity": "and"}, "similarity='and' of classes is not known"),
        ({"scheme": "labels", "similarity": "hamming", "tau": 0.0}, "tau=0.0 is out of range"),
        ({"scheme": "latent", "similarity": "minkowski", "p": 0.5}, "p=0.5 is not allowed"),
        ({"scheme": "latent", "latent": "umap"}, "latent='umap' is not known"),
        ({"scheme": "latent", "n_latent": 6}, "n_latent=6 is not allowed: it must be a whole number from 1 to 5"),
        ({"scheme": "latent", "n_latent": True}, "n_latent=True is not allowed"),
        ({"similarity": "features"}, "needs class_features"),
        ({"similarity": "features", "class_features": np.ones((3, 2))}, "got 3 rows"),
        ({"similarity": np.eye(4)}, r"similarity is not allowed: .* 5 x 5 matrix is needed; its shape is \(4, 4\)"),
        ({"similarity": np.triu(np.full((5, 5), 3.0))}, "similarity is not allowed.*transpose by up to 3"),
        ({"similarity": np.diag([1, 1, 1, np.nan, np.inf])}, r"2 entries are not finite, the first at \(3, 3\)"),
    ],
)
def test_what_is_refused(options, message):
    labels = LabelMatrix.of(strategies.labels_multi(30, 5, 1))
    with pytest.raises(ValueError, match=message):
        label_similarity(labels, **options)


@pytest.mark.parametrize("seed", range(4 if WHOLE else 1))
def test_the_label_kernels_of_other_methods(seed):
    """MDDM and SFEHS: unscaled kernels of the distinct sets."""
    sets = np.unique(random_labels(seed), axis=0)
    same = {"linear": "and", "rbf": "hamming", "cosine": "cosine", "tanimoto": "jaccard"}
    assert set(same) == set(LABEL_KERNELS)
    for kernel, kind in same.items():
        np.testing.assert_allclose(similarity(kernel, sets), oracle.scheme_labels(sets, kind), rtol=1e-14)
    np.testing.assert_allclose(similarity("rbf", sets, 2.5), oracle.scheme_labels(sets, "hamming", 2.5), rtol=1e-14)
