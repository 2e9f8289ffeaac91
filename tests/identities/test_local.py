"""The local and the class-preserving families against their definitions by pairs, and their identities."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone

import strategies
from designs import each_value
from identities.comparison import DIFFERENT, IDENTITY, assert_same_embedding, span_distance
from identities.local_problems import assert_close, matrices, problems, rows_of
from oracles import dense, local
from proxembed import DLA, DNE, DONPP, FDA, LFDA, MFA, MMC, OLPPR, ONPPR, SONPP
from proxembed.algebra.template import patch_alignment
from proxembed.estimator.rows import Rows
from proxembed.targets.labels import LabelMatrix

METHODS = [
    LFDA(), LFDA(scope="global"), LFDA(n_neighbors=2), LFDA(affinity="constant"),
    LFDA(n_links=2), LFDA(n_neighbors=3, n_links=5), LFDA(scope="global", n_links=3),
    MFA(), MFA(pairs="point"), MFA(n_friends=2, n_enemies=7), MFA(n_friends=2, n_enemies=3, pairs="point"),
    DLA(), DLA(n_friends=2, n_enemies=3, lam=1.0), DLA(lam=0.0),
    DNE(), DNE(scope="class"), DNE(n_neighbors=2),
    OLPPR(), OLPPR(ws="indicator", beta=0.1), OLPPR(balance="trace", n_neighbors=3),
    SONPP(), SONPP(n_neighbors=3, reg=0.1), SONPP(n_neighbors=None),
    DONPP(), DONPP(n_neighbors=4, beta=0.7, n_enemies=2),
    ONPPR(), ONPPR(n_neighbors=None, beta=0.1, n_enemies=3),
]  # fmt: skip
every = pytest.mark.parametrize("method", METHODS, ids=repr)
INVARIANT = [m for m in METHODS if getattr(m, "weights", "") != "alternative"]


@pytest.fixture(params=problems(), ids=lambda p: p.name)
def problem(request):
    return request.param


@every
def test_matrices_are_those_of_the_definition(method, problem):
    data = local.Copies(problem.dense, problem.Y)
    A, B = matrices(method, rows_of(problem))
    Ap, Bp = local.pencil(method, data)
    scale = max(np.abs(Ap).max(), 0.0 if Bp is None else np.abs(Bp).max())
    np.testing.assert_allclose(A, Ap, rtol=0, atol=1e-9 * scale)
    assert (B is None) == (Bp is None)
    if B is not None:
        assert_close(B, Bp)


@each_value
@every
@pytest.mark.parametrize("kind", [0, 1], ids=["wide", "tall"])
def test_fits_are_the_solutions_of_the_definition(method, kind):
    problem = problems()[kind]
    X = problem.dense
    Ap, Bp = local.pencil(method, local.Copies(X, problem.Y))
    ridge, sense = 0.0, -1 if Bp is None else 1
    if Bp is not None:
        ridge = dense.trace_ridge(Bp, X - X.mean(axis=0), 1e-6 if method.ridge == "auto" else method.ridge)
    Bp = np.eye(X.shape[1]) if Bp is None else Bp + ridge * np.eye(X.shape[1])
    P, w = dense.dense_solve(Ap, Bp, X - X.mean(axis=0))
    scale = np.abs(w).max()
    k = max((k for k in (1, 2, 3) if w[k - 1] - w[k] > 1e-3 * scale), default=1)  # a clear gap follows
    fitted = clone(method).set_params(n_components=k).fit(problem.X, problem.classes)
    np.testing.assert_allclose(fitted.eigenvalues_, sense * w[:k], rtol=0, atol=1e-8 * scale)
    if w[k - 1] - w[k] > 1e-3 * scale:
        assert dense.gram_error(fitted.transform(X), (X - X.mean(axis=0)) @ P[:, :k]) < 1e-6


@every
def test_one_class_a_row_is_required(method):
    X, Y = strategies.features_dense(20, 4), strategies.labels_multi(20, 3)
    with pytest.raises(ValueError, match="MESD"):
        type(method)().fit(X, Y)


@pytest.mark.parametrize("cls", [LFDA, MFA, SONPP])
def test_a_class_of_two_rows_is_required(cls):
    X = strategies.features_dense(6, 4)
    with pytest.raises(ValueError, match="at least two rows"):
        cls(target_type="classes").fit(X, np.arange(6))


@pytest.mark.parametrize("method", INVARIANT, ids=repr)
def test_a_shift_of_the_rows_changes_no_matrix(method):
    problem = problems()[1]
    rows = rows_of(problem)
    moved = Rows(problem.X + 50.0, rows.labels)
    for found, expected in zip(matrices(method, moved), matrices(method, rows), strict=True):
        if expected is not None:
            assert_close(found, expected, 1e-8)


@pytest.mark.parametrize("method", [OLPPR(), ONPPR()], ids=repr)
def test_the_published_repulsion_sees_the_origin(method):
    problem = problems()[1]
    rows = rows_of(problem)
    found, _ = matrices(method, Rows(problem.X + 50.0, rows.labels))
    expected, _ = matrices(method, rows)
    assert np.abs(found - expected).max() > DIFFERENT * np.abs(expected).max()
    free = type(method)(weights="gaussian")
    assert_close(matrices(free, Rows(problem.X + 50.0, rows.labels))[0], matrices(free, rows)[0], 1e-8)


@every
def test_names_of_classes_change_nothing(method):
    problem = problems()[4]
    names = np.array(["delta", "alpha", "charlie", "bravo"])
    plain = matrices(method, rows_of(problem))
    renamed = matrices(method, Rows(problem.X, LabelMatrix.of(names[problem.classes])))
    for found, expected in zip(renamed, plain, strict=True):
        if expected is not None:
            assert_close(found, expected, 1e-12)


# ------------------------------------------------------------------------------------------------------------- LFDA


def test_lfda_of_constant_affinities_is_fda(problem):
    fda = FDA(constraint="within", ridge=0.3, ridge_scale="absolute").fit(problem.X, problem.classes)
    lfda = LFDA(affinity="constant", ridge=0.3, ridge_scale="absolute").fit(problem.X, problem.classes)
    assert_same_embedding(lfda, fda, problem.X)


def test_lfda_differs_from_fda():
    problem = problems()[1]
    fda = FDA(constraint="within", ridge=0.0).fit(problem.X, problem.classes)
    assert span_distance(LFDA().fit(problem.X, problem.classes).components_.T, fda.components_.T) > DIFFERENT


def test_local_mixture_scatter_instead_of_the_local_between_scatter():
    problem = problems()[1]
    Slb, Slw = matrices(LFDA(), rows_of(problem))
    X = problem.dense - problem.dense.mean(axis=0)
    P, w = dense.dense_solve(Slb, Slw, X, 3)
    Q, mixed = dense.dense_solve(Slb + Slw, Slw, X, 3)
    np.testing.assert_allclose(mixed, w + 1, rtol=IDENTITY)
    assert dense.gram_error(X @ Q, X @ P) < IDENTITY


def test_lfda_has_more_components_than_classes_less_one():
    problem = problems()[1]
    assert LFDA(n_components=9).fit(problem.X, problem.classes).n_components_ == 9


def test_lfda_keeps_a_class_of_two_parts_apart():
    """FDA brings both parts of the first class to the mean between them, where the other class lies."""
    rng = np.random.default_rng(0)
    centres = np.repeat([[-6.0, 0.0], [6.0, 0.0], [0.0, 3.0]], 40, axis=0)
    X, y = centres + rng.standard_normal((120, 2)), np.repeat([0, 0, 1], 40)
    lead = {cls: np.abs(cls(n_components=1, ridge=0.0).fit(X, y).components_[0]) for cls in (FDA, LFDA)}
    assert lead[FDA].argmax() == 1 and lead[LFDA].argmax() == 0


# ------------------------------------------------------------------------------------------------------- MFA, DLA, DNE


@pytest.mark.parametrize("cls", [MFA, DLA])
def test_more_friends_and_enemies_than_there_are_stand_for_all(cls):
    problem = problems()[4]
    many = {"n_friends": 25, "n_enemies": 50} | ({"pairs": "point"} if cls is MFA else {})
    all_ = many | {"n_friends": 13, "n_enemies": 29}
    rows = rows_of(problem)
    for found, expected in zip(matrices(cls(**many), rows), matrices(cls(**all_), rows), strict=True):
        if expected is not None:
            np.testing.assert_array_equal(found, expected)


FOUR_ROWS = [
    LFDA(), LFDA(scope="global"), MFA(), MFA(pairs="point"), DLA(), DNE(), DNE(scope="class"),
    OLPPR(), SONPP(), DONPP(), ONPPR(),
]  # fmt: skip


@pytest.mark.parametrize("method", FOUR_ROWS, ids=repr)
def test_default_counts_fit_four_rows(method):
    """More neighbours than there are rows: all of them, as by the largest counts that exist."""
    X, y = strategies.features_dense(4, 3, 2), np.array([0, 0, 1, 1])
    whole = {"n_neighbors"} if isinstance(method, DONPP) else set()
    counts = {name for name in ("n_friends", "n_enemies", "n_neighbors") if hasattr(method, name)} - whole
    most = {name: 12 if (name, getattr(method, "pairs", "")) == ("n_enemies", "class") else 3 for name in counts}
    few = clone(method).set_params(**most)
    fitted = [estimator.fit(X, y).transform(X) for estimator in (clone(method), few)]
    np.testing.assert_array_equal(*fitted)


@pytest.mark.parametrize("ridge", [0.0, 1e-3])
@pytest.mark.parametrize(
    "method", [LFDA(), LFDA(affinity="constant"), MFA(), MFA(pairs="point"), FDA(constraint="within")], ids=repr
)
def test_classes_of_coinciding_rows_leave_no_constraint(method, ridge):
    X, y = np.repeat(strategies.features_dense(3, 4, 1) + 10.0, 10, axis=0), np.repeat([0, 1, 2], 10)
    with pytest.raises(ValueError, match="constraint is zero on these rows.*ridge_scale='absolute'"):
        clone(method).set_params(ridge=ridge).fit(X, y)
    fitted = clone(method).set_params(ridge=0.5, ridge_scale="absolute", n_components=2).fit(X, y)
    assert 0 < fitted.eigenvalues_[-1] < 1e6
    apart = X + 1e-4 * strategies.features_dense(30, 4, 2)
    assert np.isfinite(clone(method).set_params(ridge=ridge).fit(apart, y).eigenvalues_).all()


def test_paths_along_links_are_no_weights_of_links():
    problem = problems()[1]
    for cls in (MFA, DNE, OLPPR, ONPPR):
        with pytest.raises(ValueError, match="weights='geodesic'"):
            cls(weights="geodesic").fit(problem.X, problem.classes)


@pytest.mark.parametrize("scope", ["class", "global"])
def test_dne_has_one_width_for_friends_and_enemies(scope):
    problem = problems()[1]
    data = local.Copies(problem.dense, problem.Y)
    if scope == "class":
        near, far = local.friends(data, 5), local.enemies(data, 5)
    else:
        near, far = (local.near_by_label(data, 5, same) for same in (True, False))
    tau = np.median(data.D[(near + far) > 0] ** 2)
    assert abs(np.median(data.D[near > 0] ** 2) - tau) > DIFFERENT * tau
    found, _ = matrices(DNE(scope=scope, weights="gaussian"), rows_of(problem))
    assert_close(found, -dense.pair_scatter(data.X, np.exp(-(data.D**2) / tau) * (near - far)))


def test_dla_is_a_patch_alignment():
    """Patches D'diag(1..1, -lam..-lam)D of each row with its friends and enemies sum to L(Wd + Wd')."""
    problem, method = problems()[1], DLA(n_friends=3, n_enemies=4, lam=0.4)
    data = local.Copies(problem.dense, problem.Y)
    near, far = local.friend_lists(data, 3), local.enemy_lists(data, 4)
    patches = []
    for copy in data.list:
        inside, outside = sorted(near[copy]), sorted(j for j, _ in far[copy])
        D = np.hstack([-np.ones((len(inside + outside), 1)), np.eye(len(inside + outside))])
        weights = np.diag([1.0] * len(inside) + [-0.4] * len(outside))
        patches.append((np.array([copy[0], *inside, *outside]), D.T @ weights @ D))
    A = patch_alignment(patches, data.n)
    assert_close(matrices(method, rows_of(problem))[0], -(problem.dense.T @ (A @ problem.dense)))


def test_dne_takes_the_negative_eigenvalues():
    problem = problems()[1]
    X = problem.dense
    fitted = DNE().fit(X, problem.classes)
    w = np.linalg.eigvalsh(-local.pencil(DNE(), local.Copies(X, problem.Y))[0])
    assert fitted.n_components_ == np.sum(w < 0) < X.shape[1]
    np.testing.assert_allclose(fitted.eigenvalues_, w[w < 0], rtol=1e-8)
    assert DNE(n_components=9).fit(X, problem.classes).eigenvalues_[-1] > 0


def test_dne_of_classes_far_apart_has_no_negative_eigenvalue():
    X = strategies.features_dense(30, 4, 1)
    y = np.repeat([0, 1], 15)
    X[y == 1] += 1000.0
    fitted = DNE().fit(X, y)
    assert fitted.n_components_ == 1 and fitted.eigenvalues_[0] > 0


def delta(problem, K):
    """+1 where a row is a near friend of another, -1 where a near enemy, either way."""
    data = local.Copies(problem.dense, problem.Y)
    return local.friends(data, K) - local.enemies(data, K)


def test_class_scope_dne_is_the_delta_template():
    """max tr P'X'(A - B)XP, A = L(delta(delta - 1)), B = L(delta(delta + 1)): A - B = -2 L(friends - enemies)."""
    problem = problems()[1]
    D = delta(problem, 4)
    A, B = (dense.pair_scatter(problem.dense, D * (D - sign)) for sign in (1, -1))
    found, _ = matrices(DNE(scope="class", n_neighbors=4), rows_of(problem))
    assert_close(A - B, 2 * found)
    other, _ = matrices(DNE(n_neighbors=4), rows_of(problem))
    assert np.abs(other - found).max() > DIFFERENT * np.abs(found).max()


def test_point_mfa_is_the_delta_template():
    problem = problems()[1]
    D = delta(problem, 4)
    A, B = (dense.pair_scatter(problem.dense, D * (D - sign)) for sign in (1, -1))
    for found, expected in zip(
        matrices(MFA(n_friends=4, n_enemies=4, pairs="point"), rows_of(problem)), (A, B), strict=True
    ):
        assert_close(2 * found, expected)


def test_all_neighbours_make_the_delta_template_mmc_and_fda():
    problem = problems()[1]
    Slb, Slw = matrices(LFDA(affinity="constant"), rows_of(problem))
    mmc, _ = matrices(MMC(), rows_of(problem))
    assert_close(Slb - Slw, mmc)
    fda = FDA(constraint="within", ridge=0.3, ridge_scale="absolute").fit(problem.X, problem.classes)
    X = problem.dense - problem.dense.mean(axis=0)
    P, _ = dense.dense_solve(Slb, Slw + 0.3 * np.eye(X.shape[1]), X, 3)
    assert dense.gram_error(X @ P, fda.transform(problem.X)) < IDENTITY


def test_singular_friends_need_the_range_or_a_ridge():
    """Few friends in many dimensions: without ridge only the range of X'L(Wi)X is left, with it the row space."""
    problem = problems()[0]
    B = local.pencil(MFA(n_friends=1), local.Copies(problem.dense, problem.Y))[1]
    rank, space = np.linalg.matrix_rank(B), len(problem.dense) - 1
    assert rank < space
    bare = MFA(n_friends=1, ridge=0.0, n_components=rank).fit(problem.X, problem.classes)
    assert np.all(np.isfinite(bare.components_)) and np.all(np.isfinite(bare.eigenvalues_))
    with pytest.raises(ValueError, match=f"{rank} components"):
        MFA(n_friends=1, ridge=0.0, n_components=rank + 1).fit(problem.X, problem.classes)
    whole = MFA(n_friends=1, n_components=space).fit(problem.X, problem.classes)
    assert whole.n_components_ == space
    assert whole.ridge_ == pytest.approx(1e-6 * np.trace(B) / min(problem.dense.shape), rel=1e-8)


@pytest.mark.parametrize("method", [DLA(), DNE(), OLPPR(), SONPP(), DONPP(), ONPPR()], ids=repr)
def test_more_features_than_rows_leave_no_constant_direction(method):
    problem = problems()[0]
    space = len(problem.dense) - 1
    fitted = type(method)(n_components=space).fit(problem.X, problem.classes)
    assert fitted.transform(problem.X).std(axis=0).min() > 1e-6
    with pytest.raises(ValueError, match=f"{space} components"):
        type(method)(n_components=space + 1).fit(problem.X, problem.classes)


@pytest.mark.parametrize("method", [MFA(), MFA(pairs="point"), DNE(), DNE(scope="class")], ids=repr)
def test_links_may_be_weighted_by_features(method):
    problem = problems()[1]
    data = local.Copies(problem.dense, problem.Y)
    weighted = clone(method).set_params(weights="gaussian", tau=20.0)
    K, soft = np.exp(-(data.D**2) / 20.0), matrices(weighted, rows_of(problem))
    if isinstance(method, MFA):
        number = {"class": 20, "point": 5}[method.pairs]
        assert_close(soft[0], dense.pair_scatter(data.X, K * local.enemies(data, number, method.pairs)))
        assert_close(soft[1], dense.pair_scatter(data.X, K * local.friends(data, 5)))
        return
    if method.scope == "class":
        F = local.friends(data, 5) - local.enemies(data, 5)
    else:
        F = local.near_by_label(data, 5, True) - local.near_by_label(data, 5, False)
    assert_close(soft[0], -dense.pair_scatter(data.X, K * F))


def test_default_constructions_warn_of_nothing(problem):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for cls in (LFDA, MFA, DLA, DNE, OLPPR, SONPP, DONPP, ONPPR):
            cls().fit(problem.X, problem.classes)


def test_lfda_with_links_to_all_rows_of_a_class_is_lfda(problem):
    every = LFDA(n_links=len(problem.X.toarray() if hasattr(problem.X, "toarray") else problem.X) - 1)
    for one, other in zip(matrices(every, rows_of(problem)), matrices(LFDA(), rows_of(problem)), strict=True):
        assert_close(one, other)
    few = matrices(LFDA(n_links=1), rows_of(problem))[1]
    assert np.abs(few - other).max() > 0.01 * np.abs(other).max()


@pytest.mark.parametrize(
    "method", [LFDA(n_links=5), MFA(), MFA(pairs="point"), DLA(), DNE(), DNE(scope="class")], ids=repr
)
def test_approximate_searches_are_told_with_their_recall(method):
    """Inverted lists of faiss: nearly the exact fit, and the attributes of the search."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 6300)
    X = rng.standard_normal((6300, 6)) + 2.0 * np.eye(6)[y]
    exact = method.fit(X, y)
    assert exact.algorithm_ == "exact" and exact.recall_ is None
    found = clone(method).set_params(algorithm="faiss-ivf").fit(X, y)
    assert found.algorithm_ == "faiss-ivf" and 0.9 < found.recall_ <= 1.0
    assert span_distance(found.components_[:1].T, exact.components_[:1].T) < 0.1
