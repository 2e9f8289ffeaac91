"""Relations: every formula of Table II against a double loop, the 0/0 rules, sparse equals dense, cancellation."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import kendalltau, rankdata, spearmanr

from designs import each_value, pairwise
from proxembed import RelationFeatures
from proxembed.algebra.arrays import matrix
from proxembed.pairs.formulas import RELATIONS
from proxembed.pairs.relation import median_squared_distance, relation
from proxembed.proximity.graph import full_graph
from proxembed.proximity.weights import edge_weights

PARAMS = {
    "polynomial": {"degree": 3}, "gaussian": {"tau": 2.5}, "alternative": {"tau": 0.7}, "local_scaling": {"n_scale": 2},
}  # fmt: skip
FORMS = {"dense": np.asarray, "csr": sp.csr_array, "csc": sp.csc_matrix}


def rows(n, d=7, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[rng.random((n, d)) < 0.5] = 0.0
    return X


def pair():
    """Rows and prototypes with zero rows, a constant row, and rows that are also prototypes."""
    X, P = rows(12), rows(5, seed=1)
    X[2], X[5] = 0.0, 0.3
    P[1], P[3], P[4] = 0.0, X[7], 0.1
    return X, P


def naive(kind, x, p, degree=None, tau=None):
    d = len(x)
    if kind == "correlation":
        mx, mp = sum(x) / d, sum(p) / d
        x = [0.0] * d if max(x) == min(x) else [v - mx for v in x]
        p = [0.0] * d if max(p) == min(p) else [v - mp for v in p]
    G = sum(u * v for u, v in zip(x, p, strict=True))
    a, b = sum(u * u for u in x), sum(v * v for v in p)
    d2 = sum((u - v) ** 2 for u, v in zip(x, p, strict=True))
    values = {
        "dot": lambda: G,
        "polynomial": lambda: (1 + G) ** degree,
        "cosine": lambda: G / math.sqrt(a * b) if a * b else 0.0,
        "correlation": lambda: G / math.sqrt(a * b) if a * b else 0.0,
        "tanimoto": lambda: G / (a + b - G) if a + b - G else 0.0,
        "euclidean": lambda: math.sqrt(d2),
        "gaussian": lambda: math.exp(-d2 / tau),
        "alternative": lambda: 1 / (tau + d2 / (a + b)) if a + b else 1 / tau,
    }
    return values[kind]()


def nearest_but_itself(x, P, n_scale):
    """The n_scale-th smallest distance above 0, or the largest."""
    found = sorted(d for d in (math.dist(x, p) for p in P) if d > 0)
    return found[min(n_scale, len(found)) - 1] if found else 0.0


def loop(kind, X, P):
    if kind == "kendall":
        return np.array([[np.nan_to_num(kendalltau(x, p).statistic) for p in P] for x in X])
    if kind == "spearman":
        return loop("correlation", *(np.array([rankdata(row) for row in M]) for M in (X, P)))
    if kind == "local_scaling":
        s, t = ([nearest_but_itself(row, P, 2) for row in M] for M in (X, P))
        return np.array(
            [[math.exp(-(math.dist(x, p) ** 2) / (s[i] * t[j])) for j, p in enumerate(P)] for i, x in enumerate(X)]
        )
    return np.array([[naive(kind, list(x), list(p), **PARAMS.get(kind, {})) for p in P] for x in X])


@pairwise
@pytest.mark.parametrize("second", FORMS)
@pytest.mark.parametrize("first", FORMS)
@pytest.mark.parametrize("kind", RELATIONS)
def test_formula_against_a_double_loop(kind, first, second, monkeypatch):
    X, P = pair()
    expected = loop(kind, X, P)
    for entries in (2**21, 12):
        monkeypatch.setattr(matrix, "BLOCK_ENTRIES", entries)
        R = relation(kind, FORMS[first](X), FORMS[second](P), **PARAMS.get(kind, {}))
        assert isinstance(R, np.ndarray) and R.dtype == np.float64
        np.testing.assert_allclose(R, expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("first", FORMS)
@pytest.mark.parametrize("second", FORMS)
def test_zero_and_constant_rows(first, second):
    X, P = pair()
    A, B = FORMS[first](X), FORMS[second](P)
    for kind in ("cosine", "tanimoto", "kendall"):
        R = relation(kind, A, B)
        assert not R[2].any() and not R[:, 1].any()
    R = relation("correlation", A, B)
    assert not R[[2, 5]].any() and not R[:, [1, 4]].any()
    assert relation("alternative", A, B, tau=0.5)[2, 1] == 2.0
    assert relation("gaussian", A, B, tau=0.5)[2, 1] == 1.0


@pairwise
@pytest.mark.parametrize("first", FORMS)
@pytest.mark.parametrize("second", FORMS)
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_identical_rows_have_distance_exactly_zero(first, second, offset):
    X = rows(9) + offset
    A, B = FORMS[first](X), FORMS[second](X[::-1].copy())
    D = relation("euclidean", A, B)
    same = (X[:, None] == X[::-1][None]).all(axis=2)
    assert same.sum() >= 9
    assert (D[same] == 0).all() and (D[~same] > 0).all()
    assert (relation("gaussian", A, B, tau=1.0)[same] == 1).all()
    assert (relation("alternative", A, B, tau=1.0)[same] == 1).all()


@pytest.mark.parametrize("first", FORMS)
@pytest.mark.parametrize("second", FORMS)
def test_small_distances_far_from_the_origin_do_not_cancel(first, second):
    rng = np.random.default_rng(3)
    P = rng.normal(size=(6, 4)) * 1e4 + 1e4
    X = P + rng.normal(size=P.shape) * 1e-5
    X[0] = -1e7
    expected = np.sqrt(((X[:, None] - P[None]) ** 2).sum(axis=2))
    np.testing.assert_allclose(relation("euclidean", FORMS[first](X), FORMS[second](P)), expected, rtol=1e-8)


def test_dense_distances_do_not_lose_digits_to_a_common_offset():
    X, P = pair()
    X, P = np.round(X, 6), np.round(P, 6)
    far = relation("euclidean", X + 2.0**20, P + 2.0**20)
    np.testing.assert_allclose(far, relation("euclidean", X, P), rtol=1e-7, atol=1e-9)


def test_tanimoto_of_binary_rows_is_jaccard():
    X = (rows(10) > 0).astype(float)
    sets = [set(np.flatnonzero(x)) for x in X]
    jaccard = [[len(s & t) / len(s | t) if s | t else 0.0 for t in sets] for s in sets]
    np.testing.assert_allclose(relation("tanimoto", X, X), jaccard, rtol=1e-15)


def test_ranges():
    X, P = pair()
    for kind in ("cosine", "correlation"):
        many = np.random.default_rng(0).normal(size=(200, 7))
        R = relation(kind, np.vstack([X, 1e3 * many]), np.vstack([P, many]))
        assert R.max() <= 1 and R.min() >= -1
    tau = 0.3
    R = relation("alternative", abs(X), abs(P), tau=tau)
    assert R.max() <= 1 / tau and R.min() >= 1 / (tau + 1) - 1e-12
    assert set(np.unique(relation("correlation", [[1.0, 2.0], [5.0, 3.0]], [[0.0, 1.0]]).round(12))) == {-1.0, 1.0}


def test_correlation_against_numpy():
    X, P = np.random.default_rng(0).normal(size=(2, 6, 9)) + 50
    expected = np.corrcoef(X, P)[:6, 6:]
    np.testing.assert_allclose(relation("correlation", X, P), expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(relation("correlation", sp.csr_array(X), P), expected, rtol=1e-8, atol=1e-10)


@each_value
@pytest.mark.parametrize("kind", RELATIONS)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_float32_stays_and_the_input_is_untouched(kind, form):
    X, P = (form(M.astype(np.float32)) for M in pair())
    before = X.copy(), P.copy()
    R = relation(kind, X, P, **PARAMS.get(kind, {}))
    assert R.dtype == np.float32
    np.testing.assert_allclose(R, relation(kind, *pair(), **PARAMS.get(kind, {})), rtol=1e-5, atol=1e-5)
    for now, then in zip((X, P), before, strict=True):
        assert not abs(now - then).max()


def test_large_sparse_rows_are_not_densified():
    rng = np.random.default_rng(0)
    places = rng.integers(0, 2000, 2000), rng.integers(0, 10**7, 2000)
    X = sp.csr_array((rng.random(2000), places), shape=(2000, 10**7))
    for kind in RELATIONS:
        if kind == "kendall":
            with pytest.raises(ValueError, match="compares all pairs of features: X has 10,000,000"):
                relation(kind, X, X[:3])
        else:
            assert relation(kind, X, X[:3], **PARAMS.get(kind, {})).shape == (2000, 3)


def test_geodesic_features_follow_the_graph_of_the_prototypes():
    """Points on two far arcs: shortest paths by Floyd and Warshall, new rows through their nearest prototypes."""
    angle = np.linspace(0, 4, 12)
    arc = np.column_stack([np.cos(angle), np.sin(angle)])
    X = np.vstack([arc, 50.0 + arc])
    new = np.vstack([0.9 * arc[:3], X[:4]])
    D = np.linalg.norm(X[:, None] - X, axis=2)
    near = np.argsort(D + 1e9 * np.eye(24), axis=1)[:, :2]
    G = np.full((24, 24), np.inf)
    for i, links in enumerate(near):
        G[i, links] = G[links, i] = D[i, links]
    np.fill_diagonal(G, 0.0)
    for k in range(24):
        G = np.minimum(G, G[:, [k]] + G[k])
    E = np.linalg.norm(new[:, None] - X, axis=2)
    first = np.argsort(E, axis=1)[:, :2]
    lengths = np.array([np.min([E[q, i] + G[i] for i in first[q]], axis=0) for q in range(len(new))])
    for form in (np.asarray, sp.csr_array):
        fitted = RelationFeatures("geodesic", n_neighbors=2).fit(form(X))
        tau = np.median(G[np.isfinite(G) & ~np.eye(24, dtype=bool)] ** 2)
        assert fitted.tau_ == pytest.approx(tau)
        np.testing.assert_allclose(fitted.transform(form(new)), np.exp(-(lengths**2) / tau), rtol=1e-9, atol=1e-12)
        assert (fitted.transform(form(new))[:, 12:] == 0).all()
        assert fitted.feature_effects(np.ones((1, 24))).shape == (1, 2)
    one = RelationFeatures("geodesic", prototypes="farthest", n_prototypes=1, random_state=0).fit(X)
    assert one.tau_ == 1.0 and one.transform(X).shape == (24, 1)


def test_spearman_against_scipy():
    X, P = np.random.default_rng(0).normal(size=(2, 6, 9))
    expected = [[spearmanr(x, p).statistic for p in P] for x in X]
    np.testing.assert_allclose(relation("spearman", X, P), expected, rtol=1e-10, atol=1e-12)
    with pytest.raises(ValueError, match="needs at least 2"):
        relation("spearman", X[:, :1], P[:, :1])


def test_local_scaling_of_all_rows_is_that_of_a_full_graph():
    """Rows among their prototypes have the scale of local scaling; K above the number of prototypes takes the last."""
    X = rows(20)
    for K in (1, 3, 40):
        W = edge_weights(X, full_graph(X), "local_scaling", n_scale=K).toarray() + np.eye(20)
        R = RelationFeatures("local_scaling", n_scale=K).fit(X)
        np.testing.assert_allclose(R.transform(X), W, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(R.transform(X[[4]])[0], R.transform(X)[4], rtol=1e-12)  # whatever rows come with it
    np.testing.assert_array_equal(relation("local_scaling", [[1.0], [2.0]], [[1.0], [1.0]]), [[1.0, 1.0], [0.0, 0.0]])
    with pytest.raises(ValueError, match="n_scale=0 is out of range"):
        relation("local_scaling", X, X, n_scale=0)


def test_gaussian_that_underflows_is_zero():
    np.testing.assert_array_equal(relation("gaussian", [[0.0], [1e3]], [[0.0]], tau=1e-300), [[1.0], [0.0]])


def test_fractional_degree():
    np.testing.assert_allclose(relation("polynomial", [[1.0]], [[3.0]], degree=0.5), [[2.0]])
    with pytest.raises(ValueError, match="degree=0.5 is fractional"):
        relation("polynomial", [[1.0]], [[-3.0]], degree=0.5)


def test_a_function_is_accepted_and_checked():
    def manhattan(X, P, power=1):
        return abs(X[:, None] - P[None]).sum(axis=2) ** power

    np.testing.assert_array_equal(relation(manhattan, [[1.0, 2.0]], [[0.0, 0.0]], power=2), [[9.0]])
    with pytest.raises(ValueError, match="shape"):
        relation(lambda X, P: X, [[1.0, 2.0]], [[0.0, 0.0]])
    with pytest.raises(ValueError, match="finite"):
        relation(lambda X, P: np.full((1, 1), np.nan), [[1.0, 2.0]], [[0.0, 0.0]])


def test_bad_calls_are_named():
    X, P = pair()
    with pytest.raises(ValueError, match="kind='rbf'.*gaussian"):
        relation("rbf", X, P)
    with pytest.raises(ValueError, match="needs the parameter tau"):
        relation("gaussian", X, P)
    with pytest.raises(ValueError, match="gamma=1 is not a parameter.*tau"):
        relation("gaussian", X, P, gamma=1)
    for kind in ("gaussian", "alternative"):
        for tau in (0, -1.0, np.inf, np.nan, "auto", True):
            with pytest.raises(ValueError, match="tau="):
                relation(kind, X, P, tau=tau)
    with pytest.raises(ValueError, match="degree="):
        relation("polynomial", X, P, degree=0)
    with pytest.raises(ValueError, match="7 features|has 3 features"):
        relation("dot", X, P[:, :3])
    with pytest.raises(ValueError, match="at least one prototype"):
        relation("dot", X, P[:0])
    with pytest.raises(ValueError, match="at least 2"):
        relation("correlation", X[:, :1], P[:, :1])
    for kind in ("dot", "polynomial", "euclidean", "tanimoto"):
        for form in (np.asarray, sp.csr_array):
            with pytest.raises(ValueError, match=f"'{kind}'.*scale the rows"):
                relation(kind, form(X * 1e200), form(P * 1e200), **PARAMS.get(kind, {}))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_median_squared_distance(form):
    X = rows(30)
    pairs = [((X[i] - X[j]) ** 2).sum() for i in range(30) for j in range(i)]
    assert median_squared_distance(form(X)) == pytest.approx(np.median(pairs), rel=1e-12)
    assert median_squared_distance(form(X + 0.0), max_rows=30) == pytest.approx(np.median(pairs), rel=1e-12)
    sampled = median_squared_distance(form(X), max_rows=10, seed=3)
    assert sampled == median_squared_distance(form(X), max_rows=10, seed=3)
    assert min(pairs) <= sampled <= max(pairs)
    assert sampled != median_squared_distance(form(X), max_rows=10, seed=4)


def test_median_squared_distance_of_duplicates():
    X = np.zeros((6, 2))
    assert median_squared_distance(X) == 1.0
    assert median_squared_distance(X[:1]) == 1.0
    X[0] = [3.0, 0.0]
    assert median_squared_distance(X) == pytest.approx(9 * 5 / 15)
    with pytest.raises(ValueError, match="max_rows=1 "):
        median_squared_distance(X, max_rows=1)
    with pytest.raises(ValueError, match="overflow"):
        median_squared_distance(X * 1e200)
