"""The adaptive model's special cases, its merged switch vectors, and its reduction to the row space."""

from itertools import groupby, product

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from designs import each_value
from identities.comparison import IDENTITY, gram_distance, span_distance
from proxembed import MMC
from proxembed.algebra.operators.structured import Laplacian, Sparse
from proxembed.algebra.pencil.eigen import solve
from proxembed.algebra.template import Template
from proxembed.estimator.rows import Rows
from proxembed.methods.adaptive import Limits, StageRows, Stages, Switches, pairs, sample
from proxembed.methods.adaptive.pairs import rank_matrices
from proxembed.targets.labels import LabelMatrix
from strategies import canonical_switches, every_switches

RNG = np.random.default_rng(3)
N, D, C = 60, 7, 4
y = np.concatenate([np.arange(C), RNG.integers(0, C, N - C)])
X = RNG.normal(size=(N, D)) @ RNG.normal(size=(D, D)) + RNG.normal(0.0, 2.0, (C, D))[y]
NEW = X[:20] + RNG.normal(size=(20, D))
LABELS = LabelMatrix.of(y)
SIMILARITY = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 60.0)


def scatters(T, labels=y):
    """Scatter matrices between and within classes by their definition."""
    mean = T.mean(axis=0)
    S_b, S_w = (np.zeros((T.shape[1],) * 2) for _ in range(2))
    for k in np.unique(labels):
        part = T[labels == k]
        S_b += len(part) * np.outer(part.mean(axis=0) - mean, part.mean(axis=0) - mean)
        S_w += (part - part.mean(axis=0)).T @ (part - part.mean(axis=0))
    return S_b, S_w


def top(A, B=None, k=3):
    w, P = scipy.linalg.eigh(A, B)
    return w[::-1][:k], P[:, ::-1][:, :k]


def embed(vector, values, rows=X, labels=LABELS, new=None, **options):
    found = Stages(StageRows(rows, labels, new), **options).embed(Switches.of(vector), values)
    assert found.failed is None, found.failed
    return found


def test_scatter_matrices_are_those_of_the_fisher_weights():
    S_b, S_w = scatters(X)
    ranks, weights = rank_matrices(SIMILARITY, LABELS), pairs.PairLabels(LABELS)
    A, B = pairs.fisher_matrices(ranks, N - 1, None, weights)
    for found, expected in [
        (pairs.laplacian_product(X, weights.between), S_b),
        (pairs.laplacian_product(X, weights.within), S_w),
        (pairs.laplacian_product(X, A), S_b),
        (pairs.laplacian_product(X, B), S_w),
        (pairs.global_fisher(X, LABELS)[0], S_b),
        (pairs.global_fisher(X, LABELS)[1], S_w),
    ]:
        assert np.abs(found - expected).max() < 1e-12 * np.abs(expected).max()


def test_traces_are_sums_over_pairs():
    """(11) to (14)."""
    S_b, S_w = scatters(X)
    d2 = ((X[:, None] - X) ** 2).sum(axis=2)
    weights = pairs.PairLabels(LABELS)
    assert np.isclose(np.trace(S_w), (weights.within * d2).sum() / 2, rtol=1e-12)
    assert np.isclose(np.trace(S_b), (weights.between * d2).sum() / 2, rtol=1e-12)
    assert np.isclose(np.trace(S_b), d2.sum() / (2 * N) - np.trace(S_w), rtol=1e-12)


def test_all_pairs_of_friends_and_enemies():
    ranks = rank_matrices(SIMILARITY, LABELS)
    same = y[:, None] == y
    friends = pairs.friend_matrix(ranks, np.bincount(y).max() - 1, None, pairs.PairLabels(LABELS))
    enemies, _ = pairs.enemy_matrix(ranks, N - 1, None)
    assert np.array_equal(friends, same & ~np.eye(N, dtype=bool))
    assert np.array_equal(enemies, ~same)


@pytest.mark.parametrize("similarity", [1, 5])
def test_mmc(similarity):
    values = {"similarity_sigma": 1.0, "n_neighbors": N - 1, "lam": 1.0}
    found = embed([0, 0, 0, similarity, 2, 1, 1, 0], values, lam_scale="raw")
    S_b, S_w = scatters(X)
    w, P = top(S_b - S_w)
    assert np.allclose(found.eigenvalues[:3], w, rtol=0, atol=IDENTITY * np.abs(w).max())
    assert gram_distance(found.Z[:, :3], X @ P) < IDENTITY
    assert (
        gram_distance(found.Z[:, :2] - found.Z[:, :2].mean(axis=0), MMC(n_components=2).fit(X, y).transform(X)) < 1e-8
    )


def pair_weights(criterion, S, values):
    """The weights of pairs that lie apart and of pairs that lie near, from their similarities."""
    ranks, labels = rank_matrices(S, LABELS), pairs.PairLabels(LABELS)
    if criterion == 1:
        return S * (ranks.enemies <= values["n_enemies"]), S * (ranks.friends <= values["n_friends"])
    return tuple(W * S * (ranks.neighbors <= values["n_neighbors"]) for W in (labels.between, labels.within))


@pytest.mark.parametrize("lam", [0.0, 0.1, 30.0])
def test_regularised_fda(lam):
    found = embed([0, 0, 0, 1, 2, 1, 2, 0], {"n_neighbors": N - 1, "lam": lam}, lam_scale="raw")
    S_b, S_w = scatters(X)
    w, P = top(S_b, S_w + lam * np.eye(D))
    assert np.allclose(found.eigenvalues[:3], w, rtol=IDENTITY)
    assert gram_distance(found.Z[:, :3], X @ P) < IDENTITY
    orthonormal = embed([0, 0, 0, 1, 2, 1, 2, 1], {"n_neighbors": N - 1, "lam": lam}, lam_scale="raw")
    assert span_distance(orthonormal.projection.P[:, :3], found.projection.P[:, :3]) < IDENTITY
    assert gram_distance(orthonormal.Z[:, :3], X @ np.linalg.qr(P)[0]) < IDENTITY


def test_fewer_neighbours_are_not_fda():
    found = embed([0, 0, 0, 5, 2, 1, 2, 0], {"similarity_sigma": 1.0, "n_neighbors": 9, "lam": 0.1}, lam_scale="raw")
    S_b, S_w = scatters(X)
    assert gram_distance(found.Z[:, :3], X @ top(S_b, S_w + 0.1 * np.eye(D))[1]) > 1e-2


def test_kernel_fda():
    """R = K, constraint P'(K L(W_w) K + lam I)P = I."""
    d2 = ((X[:, None] - X) ** 2).sum(axis=2)
    width = 0.1 * np.median(d2[np.triu_indices(N, 1)])
    K = np.exp(-d2 / width)
    found = embed([0, 6, 0, 1, 2, 1, 2, 0], {"relation_sigma": 0.1, "n_neighbors": N - 1, "lam": 0.5}, lam_scale="raw")
    S_b, S_w = scatters(K)
    w, P = top(S_b, S_w + 0.5 * np.eye(N))
    assert np.allclose(found.eigenvalues[:3], w, rtol=IDENTITY)
    assert gram_distance(found.Z[:, :3], K @ P) < IDENTITY


def test_lam_is_in_units_of_the_traces():
    S_b, S_w = scatters(X)
    for objective, unit in ((1, np.trace(S_b) / np.trace(S_w)), (2, np.trace(S_w) / D)):
        vector = [0, 0, 0, 1, 2, 1, objective, 0]
        scaled = embed(vector, {"n_neighbors": None, "lam": 0.3})
        raw = embed(vector, {"n_neighbors": N - 1, "lam": 0.3 * unit}, lam_scale="raw")
        assert np.allclose(scaled.eigenvalues, raw.eigenvalues, rtol=0, atol=1e-10 * raw.eigenvalues[0])


def test_friends_only_takes_the_small_eigenvalues_inside_the_row_space():
    rows = X @ RNG.normal(size=(D, 12))  # rank 7 of 12: five directions would give Z = 0
    found = embed([2, 0, 0, 1, 1, 2, 4, 0], {"n_friends": 6}, rows)
    S = (rows - rows.mean(axis=0)) @ (rows - rows.mean(axis=0)).T
    W = np.maximum(S, 0.0) / np.abs(S).max() * (rank_matrices(S, LABELS).friends <= 6)
    V = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)[2][:D].T
    T = (rows - rows.mean(axis=0)) @ V
    w, P = scipy.linalg.eigh(T.T @ (np.diag(W.sum(axis=1)) - W) @ T)
    assert found.Z.shape[1] == D
    assert np.allclose(found.eigenvalues, w, rtol=IDENTITY)
    assert gram_distance(found.Z[:, :2], T @ P[:, :2]) < IDENTITY


@pytest.mark.parametrize("objective", [1, 2, 3])
@pytest.mark.parametrize("criterion", [1, 2])
def test_it_is_a_template_on_the_row_space(objective, criterion):
    """The solver of templates finds the same embedding from the pair (A, B)."""
    values = {"similarity_sigma": 1.0, "n_friends": 4, "n_enemies": 9, "n_neighbors": 25, "lam": 0.3}
    found = embed([2, 0, 0, 5, criterion, 2, objective, 0], values, lam_scale="raw")
    Xc = X - X.mean(axis=0)
    d2 = ((X[:, None] - X) ** 2).sum(axis=2)
    S = np.exp(-d2 / np.median(d2[np.triu_indices(N, 1)]))
    A, B = pair_weights(criterion, S, values)
    A, B = (Laplacian(Sparse(sp.csr_array(W))) for W in (A, B))
    template = {1: Template(A - 0.3 * B), 2: Template(A, B, b=0.3), 3: Template(A)}[objective]
    solution = solve(template, Rows(Xc, LABELS).X, 3)
    assert np.allclose(found.eigenvalues[:3], solution.eigenvalues, rtol=0, atol=1e-8 * solution.eigenvalues[0])
    assert gram_distance(found.Z[:, :3], Xc @ solution.P) < IDENTITY


def wide():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 100)
    rows = np.maximum(rng.normal(size=(100, 2000)) + rng.normal(size=(3, 2000))[labels] - 0.5, 0.0)
    return rows, labels


def test_row_space_equals_the_full_problem():
    rows, labels = wide()
    found = embed(
        [0, 0, 0, 1, 2, 1, 2, 0], {"n_neighbors": 99, "lam": 40.0}, rows, LabelMatrix.of(labels), lam_scale="raw"
    )
    S_b, S_w = scatters(rows, labels)
    w, P = scipy.linalg.eigh(S_b, S_w + 40.0 * np.eye(2000), subset_by_index=(1998, 1999))
    assert np.allclose(found.eigenvalues[:2], w[::-1], rtol=1e-10)
    assert gram_distance(found.Z[:, :2], rows @ P) < IDENTITY


@each_value
@pytest.mark.parametrize("p", [0, 1, 2, 3, 4, 5])
@pytest.mark.parametrize("relation", [0, 5, 6])
def test_gram_route_equals_dense_rows(p, relation):
    """Sparse rows are known by their inner products alone; dense ones are formed.

    Whitened rows of more features than rows are all equally far apart, neighbours by rounding alone: fewer are taken.
    """
    rows, labels = wide()
    d = 40 if p == 5 else 2000
    rows, labels, new = rows[:60, :d], LabelMatrix.of(labels[:60]), rows[60:80, :d]
    values = {"relation_sigma": 0.7, "similarity_tau": 0.5, "n_friends": 5, "n_enemies": 12, "lam": 0.2}
    vector = [p, relation, 2, 6, 1, 1, 2, 0]
    direct, by_gram = (
        embed(vector, values, stored(rows), labels, stored(new)) for stored in (np.asarray, sp.csr_array)
    )
    assert np.allclose(by_gram.eigenvalues[:5], direct.eigenvalues[:5], rtol=1e-7)
    assert gram_distance(by_gram.Z_val[:, :5], direct.Z_val[:, :5]) < 1e-6


class Kept(dict):
    def put(self, key, value, nbytes):
        self[key] = value


def distances(found, k):
    """Squared distances of the new rows to those of the fit by the first k components."""
    return ((found.Z_val[:, None, :k] - found.Z[None, :, :k]) ** 2).sum(axis=2)


def predictions(found, k):
    """The classes that 1-NN gives new rows; -1 where rows of two classes are equally near."""
    d2 = distances(found, k)
    near = d2 <= d2.min(axis=1, keepdims=True) + 1e-9 * d2.max()
    classes = np.where(near, y[: d2.shape[1]], -1)
    first = y[d2.argmin(axis=1)]
    return np.where((near & (classes != first[:, None])).any(axis=1), -1, first)


def separated(found):
    """The numbers of components that end at a gap of the spectrum: their span does not depend on rounding."""
    w = found.eigenvalues
    gap = np.abs(np.diff(w)) > 1e-5 * np.abs(w).max()
    return [k for k in range(1, min(6, len(w))) if gap[k - 1]]


WELL_CONDITIONED = {"lam": 0.5, "n_enemies": 15, "relation_p": 2, "relation_sigma": 0.2, "relation_tau": 0.05}


def assert_merged(chosen):
    """Each switch vector and the canonical one give new rows the same classes.

    Widths are such that no singular value of the relation features lies about the cut of the row space (1e-6).
    """
    rows, labels = X[:24, :5], LabelMatrix.of(y[:24])
    stages = Stages(StageRows(rows, labels, NEW[:, :5]), Kept())
    compared = 0
    for canonical, group in groupby(sorted(chosen, key=Switches.canonical), Switches.canonical):
        values = sample(canonical, Limits.of(labels), np.random.default_rng(canonical.as_tuple())) | WELL_CONDITIONED
        merged = stages.embed(canonical, values)
        expected = {k: predictions(merged, k) for k in separated(merged)} if merged.failed is None else {}
        for switches in group:
            found = stages.embed(switches, values)
            assert (found.failed is None) == (merged.failed is None), switches
            for k, other in expected.items():
                one = predictions(found, k)
                told = (one >= 0) & (other >= 0)
                assert np.array_equal(one[told], other[told]), (switches, k)
                compared += told.sum()
    assert compared > 20 * len(chosen)  # ties are few


def merged_vectors():
    return [s for s, canonical in zip(every_switches(), canonical_switches(), strict=True) if canonical != s]


def test_merged_switch_vectors_are_the_same_model():
    """Every merged choice of the first four stages, with one choice of the others in turn, and every merged end."""
    tails = list(product((1, 2), (1, 2), (1, 2, 3, 4), (0, 1)))
    heads = sorted({s.as_tuple()[:4] for s in merged_vectors()})
    turned = [Switches(*head, *tails[i % len(tails)]) for i, head in enumerate(heads)]
    ends = [Switches(p, 5, 3, 4, em, g, eo, 1) for p in (0, 3) for em, g, eo, o in tails if eo != 2 and o]
    assert_merged([s for s in [*turned, *ends] if s.canonical() != s])


@pytest.mark.parametrize("criterion", [1, 2])
@pytest.mark.parametrize("objective", [1, 2, 3, 4])
def test_one_hot_sets_are_classes(criterion, objective, monkeypatch):
    """The rules for several labels per row give the same bits where every row has one."""
    vector = [3, 5, 2, 5, criterion, 2, objective, 0]
    values = sample(Switches.of(vector), Limits.of(LABELS), np.random.default_rng(1))
    single = embed(vector, values, new=NEW)
    monkeypatch.setattr(LabelMatrix, "one_hot", False)
    several = embed(vector, values, new=NEW)
    assert np.array_equal(single.Z, several.Z) and np.array_equal(single.Z_val, several.Z_val)


def test_enemies_of_the_other_class_alone():
    """M_A of the n_enemies nearest rows of every other class, which rows inside their class have as well."""
    vector, values = [0, 0, 0, 5, 1, 1, 3, 0], {"similarity_sigma": 1.0, "n_enemies": 2}
    found = embed(vector, values, enemy_pool="other")
    A = np.zeros((N, N))
    d2 = ((X[:, None] - X) ** 2).sum(axis=2)
    for i in range(N):
        for u in set(y) - {y[i]}:
            A[i, sorted(np.flatnonzero(y == u), key=lambda j: d2[i, j])[:2]] = 1.0
    A = np.maximum(A, A.T)
    w, P = top(X.T @ (np.diag(A.sum(axis=1)) - A) @ X)
    assert np.allclose(found.eigenvalues[:3], w, rtol=IDENTITY)
    assert gram_distance(found.Z[:, :3], X @ P) < IDENTITY
    assert gram_distance(embed(vector, values).Z[:, :3], X @ P) > 1e-2
    both = [embed(vector, values | {"n_enemies": None}, enemy_pool=pool).Z for pool in ("pair", "other")]
    assert np.array_equal(*both)


@pytest.mark.parametrize("objective", [1, 2, 3, 4])
@pytest.mark.parametrize("criterion", [1, 2])
def test_raw_weights_above_zero_are_a_unit_of_the_weights(criterion, objective):
    """Gaussian weights are shares of the largest one, 1, already; polynomial ones of even degree have another unit."""
    values = {"similarity_sigma": 0.7, "similarity_p": 2, "n_friends": 3, "n_enemies": 9, "n_neighbors": 12, "lam": 0.3}
    gaussian, polynomial = ([3, 0, 0, s, criterion, 2, objective, 0] for s in (5, 2))
    assert np.array_equal(embed(gaussian, values, g_raw=True).Z, embed(gaussian, values).Z)
    raw, shares = embed(polynomial, values, g_raw=True), embed(polynomial, values)
    G = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    unit = np.square(1 + G @ G.T).max()
    scale = 1.0 if objective == 2 else unit
    assert unit > 10 and np.allclose(raw.eigenvalues[:3], scale * shares.eigenvalues[:3], rtol=1e-8)
    raw, shares = (found.Z[:, :3] / np.linalg.norm(found.Z[:, :3], axis=0) for found in (raw, shares))
    assert np.abs(raw - shares).max() < 1e-6


@pytest.mark.parametrize("criterion", [1, 2])
def test_raw_weights_below_zero_are_taken_as_they_are(criterion):
    """(17) with dot products as weights, by sums over pairs."""
    values = {"n_friends": 5, "n_enemies": 20, "n_neighbors": 25, "lam": 0.3}
    found = embed([2, 0, 0, 1, criterion, 2, 1, 0], values, g_raw=True, lam_scale="raw")
    Xc = X - X.mean(axis=0)
    S = Xc @ Xc.T
    A, B = pair_weights(criterion, S, values)
    assert (A < 0).any() and (S[rank_matrices(S, LABELS).enemies <= 20] < 0).any()
    M = sum((A[i, j] - 0.3 * B[i, j]) * np.outer(Xc[i] - Xc[j], Xc[i] - Xc[j]) / 2 for i in range(N) for j in range(N))
    w, P = top(M)
    assert np.allclose(found.eigenvalues[:3], w, rtol=0, atol=IDENTITY * np.abs(w).max())
    assert gram_distance(found.Z[:, :3], Xc @ P) < IDENTITY
    clipped = embed([2, 0, 0, 1, criterion, 2, 1, 0], values)
    assert gram_distance(clipped.Z[:, :3], Xc @ P) > 1e-2


def test_several_labels_weigh_friends_by_their_sets():
    Y = (RNG.random((N, C)) < 0.4).astype(int)
    labels = LabelMatrix.of(Y)
    ranks = rank_matrices(SIMILARITY, labels)
    B = pairs.friend_matrix(ranks, None, SIMILARITY, pairs.PairLabels(labels))
    shared, m = Y @ Y.T, Y.sum(axis=1)
    expected = np.where(shared > 0, SIMILARITY * 2 * shared / np.maximum(m[:, None] + m, 1), 0.0)
    np.fill_diagonal(expected, 0.0)
    assert np.allclose(B, expected, rtol=1e-14)
    within = sum(np.outer(column, column) / column.sum() for column in Y.T.astype(float))
    assert np.allclose(pairs.PairLabels(labels).within, within, rtol=1e-14)
    assert np.allclose(pairs.PairLabels(labels).between, np.outer(m, m) / m.sum() - within, atol=1e-14)
    A, B = pairs.global_fisher(X, labels)
    copies, copied = np.repeat(X, m, axis=0), np.concatenate([np.flatnonzero(row) for row in Y])
    for found, explicit in zip((A, B), scatters(copies, copied), strict=True):
        assert np.abs(found - explicit).max() < 1e-12 * np.abs(explicit).max()
