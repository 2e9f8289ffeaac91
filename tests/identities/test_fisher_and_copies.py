"""Fisher's scatters: single-label, on copies of multi-label rows, and as CCA, HSL and MLDA for one-hot labels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.base import clone

import strategies
from identities.comparison import (
    IDENTITY,
    assert_different_span,
    assert_same_embedding,
    assert_same_span,
    span_distance,
)
from oracles import dense
from proxembed import CCA, DMLDA, FDA, HSL, MESD, MLDA, MMC, CopyLDA

SINGLE = strategies.problems_single()
MULTI = strategies.problems_multi()
RIDGE = {"ridge": 0.3, "ridge_scale": "absolute"}


@pytest.fixture(params=SINGLE, ids=lambda p: p.name)
def single(request):
    return request.param


@pytest.fixture(params=MULTI, ids=lambda p: p.name)
def multi(request):
    return request.param


def separated(problem, limit=4) -> int:
    """How many components of Fisher's problem on the copies a clear gap follows."""
    pencil = dense.mesd_fda(problem.dense, problem.Y, 0.3)
    _, w = dense.dense_solve(pencil.Ap, pencil.Bp, pencil.rows(problem.dense))
    return max(k for k in range(1, limit + 1) if w[k - 1] - max(w[k], 0.0) > 1e-3 * w[0])


def test_total_and_within_constraints_give_one_subspace():
    problem = SINGLE[1]
    total = FDA(ridge=0.0).fit(problem.X, problem.classes)
    within = FDA(ridge=0.0, constraint="within").fit(problem.X, problem.classes)
    assert_same_span(total, within)
    l_w = within.eigenvalues_
    np.testing.assert_allclose(total.eigenvalues_, l_w / (1 + l_w), rtol=IDENTITY)


def test_total_and_within_constraints_agree_under_one_ridge(single):
    # Bp = St + lam I = Sb + (Sw + lam I): the pencils share their vectors for every ridge.
    total = FDA(**RIDGE).fit(single.X, single.classes)
    within = FDA(constraint="within", **RIDGE).fit(single.X, single.classes)
    assert_same_span(total, within)
    np.testing.assert_allclose(total.eigenvalues_, within.eigenvalues_ / (1 + within.eigenvalues_), rtol=IDENTITY)


@pytest.mark.parametrize("options", [{"ridge": 0.0}, RIDGE], ids=["no ridge", "ridge"])
def test_one_hot_labels_make_one_method_of_many(single, options):
    Y = single.Y.astype(int)
    fda = FDA(**options).fit(single.X, single.classes)
    k = fda.n_components_
    assert k == 3
    same = [CCA(n_components=k, **options), MLDA(n_components=k, **options), CopyLDA(n_components=k, **options)]
    same += [HSL(n_components=k, expansion=e, **options) for e in ("zhou", "star", "clique")]
    same += [MESD(FDA(), n_components=k, weighting=w, **options) for w in ("none", "mimj", "printed")]
    for method in same:
        assert_same_embedding(method.fit(single.X, Y), fda, single.X)


@pytest.mark.parametrize(
    ("base", "weighting"),
    [
        (MMC(), "none"),
        (MMC(), "mimj"),
        (MMC(lam=0.3), "mimj"),
        (MMC(lam=0.3), "printed"),
        (FDA(constraint="within", **RIDGE), "none"),
    ],
    ids=str,
)
def test_one_hot_labels_make_the_copies_the_rows(single, base, weighting):
    rows = base.fit(single.X, single.classes)
    copies = MESD(base, weighting=weighting, n_components=rows.n_components_).fit(single.X, single.Y.astype(int))
    assert_same_embedding(copies, rows, single.X)
    np.testing.assert_allclose(copies.mean_, rows.mean_, rtol=0, atol=1e-12)


def test_two_classes_give_the_direction_of_the_mean_difference():
    X = strategies.features_dense(40, 6, 3)
    y = strategies.labels_classes(40, 2, 3)
    Xc = X - X.mean(axis=0)
    direction = np.linalg.solve(Xc.T @ Xc + 0.3 * np.eye(6), X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0))
    fitted = FDA(**RIDGE).fit(X, y)
    assert span_distance(fitted.components_.T, direction[:, None]) < IDENTITY


@pytest.mark.parametrize("base", [FDA(**RIDGE), FDA(constraint="within", **RIDGE), FDA(ridge=0.0)], ids=repr)
def test_mesd_is_the_base_method_on_duplicated_rows(multi, base):
    X, label, _, _ = dense.copies(multi.dense, dense.drop_empty(multi.Y))
    k = separated(multi)
    explicit = clone(base).set_params(n_components=k).fit(X, label)
    collapsed = MESD(base, n_components=k).fit(multi.X, multi.Y.astype(int))
    assert_same_embedding(collapsed, explicit, multi.dense)
    np.testing.assert_allclose(collapsed.mean_, explicit.mean_, rtol=0, atol=1e-12)


@settings(max_examples=15, deadline=None)
@given(strategies.general_position())
def test_mesd_is_the_base_method_on_duplicated_rows_in_general_position(data):
    X, Y = data
    Y[len(Y) // 2] = 0.0  # a row without labels has no copies
    Y = dense.drop_empty(Y)
    Xt, label, _, _ = dense.copies(X, Y)
    for base in (FDA(**RIDGE), MMC(lam=0.1)):
        explicit = clone(base).set_params(n_components=1).fit(Xt, label)
        collapsed = MESD(base, n_components=1).fit(X, Y.astype(int))
        assert collapsed.eigenvalues_[0] == pytest.approx(explicit.eigenvalues_[0], rel=IDENTITY)
        np.testing.assert_allclose(collapsed.mean_, explicit.mean_, rtol=0, atol=1e-12)


def test_mmc_on_duplicated_rows(multi):
    X, label, _, _ = dense.copies(multi.dense, dense.drop_empty(multi.Y))
    pencil = dense.mesd_mmc(multi.dense, multi.Y, 0.02)
    _, w = dense.dense_solve(pencil.Ap, pencil.Bp, pencil.rows(multi.dense))
    k = max(k for k in range(1, 5) if w[k - 1] > 0 and w[k - 1] - max(w[k], 0.0) > 1e-3 * w[0])
    explicit = MMC(n_components=k, lam=0.02).fit(X, label)
    collapsed = MESD(MMC(lam=0.02), n_components=k).fit(multi.X, multi.Y.astype(int))
    assert_same_embedding(collapsed, explicit, multi.dense)


def test_copy_lda_is_mesd_of_fda_and_plain_mlda(multi):
    Y, k = multi.Y.astype(int), separated(multi)
    copy = CopyLDA(n_components=k, **RIDGE).fit(multi.X, Y)
    mesd = MESD(FDA(), n_components=k, **RIDGE).fit(multi.X, Y)
    plain = MLDA(n_components=k, correlation=False, normalize=False, **RIDGE).fit(multi.X, Y)
    assert_same_embedding(copy, mesd, multi.X)
    assert_same_embedding(plain, mesd, multi.X)
    np.testing.assert_allclose(copy.mean_, mesd.mean_, rtol=0, atol=1e-12)


def test_mmc_has_at_most_c_minus_1_positive_eigenvalues(single):
    rank = np.linalg.matrix_rank(single.dense - single.dense.mean(axis=0))
    w = MMC(n_components=int(rank), lam=0.05).fit(single.X, single.classes).eigenvalues_
    assert np.sum(w > 1e-9 * w[0]) <= 3
    assert np.all(np.diff(w) <= 1e-9 * w[0])


def test_rank_bounds_of_fisher_on_copies_and_of_cca():
    problem = MULTI[1]
    Y = problem.Y.astype(int)
    c = Y.shape[1]
    assert MESD(FDA(**RIDGE)).fit(problem.X, Y).n_components_ == c - 1
    assert CCA(**RIDGE).fit(problem.X, Y).n_components_ == c
    with pytest.raises(ValueError, match="n_components"):
        MESD(FDA(**RIDGE), n_components=c).fit(problem.X, Y)
    with pytest.raises(ValueError, match="n_components"):
        CCA(n_components=c + 1, **RIDGE).fit(problem.X, Y)


@pytest.mark.parametrize("options", [{"ridge": 0.0}, RIDGE], ids=["no ridge", "ridge"])
def test_equal_class_sizes_make_one_hypergraph(options):
    rng = np.random.default_rng(3)
    n, c, size = 40, 5, 24
    Y = np.zeros((n, c), dtype=int)
    for e in range(c):
        Y[rng.choice(n, size, replace=False), e] = 1
    Y[Y.sum(axis=1) == 0, 0] = 1
    Y[np.flatnonzero((Y[:, 0] == 1) & (Y.sum(axis=1) > 1))[: Y[:, 0].sum() - size], 0] = 0
    assert (Y.sum(axis=0) == size).all() and (Y.sum(axis=1) > 0).all() and (Y.sum(axis=1) > 1).any()
    X = strategies.features_dense(n, 7, 4)
    zhou, star, clique = (HSL(n_components=3, expansion=e, **options).fit(X, Y) for e in ("zhou", "star", "clique"))
    assert_same_embedding(star, zhou, X)
    assert_same_embedding(clique, zhou, X)
    if options["ridge"] == 0.0:
        loop_free = HSL(n_components=3, expansion="clique", self_loops=False, **options).fit(X, Y)
        assert_same_embedding(loop_free, zhou, X, eigenvalues=False)
        np.testing.assert_allclose(
            loop_free.eigenvalues_, (size * zhou.eigenvalues_ - 1) / (size - 1), rtol=0, atol=IDENTITY
        )


def test_hypergraph_expansions_differ_on_generic_labels():
    problem = MULTI[1]
    Y = problem.Y.astype(int)
    zhou, star, clique = (
        HSL(n_components=2, expansion=e, **RIDGE).fit(problem.X, Y) for e in ("zhou", "star", "clique")
    )
    assert_different_span(zhou, star)
    assert_different_span(zhou, clique)
    assert_different_span(star, clique)


def test_weightings_differ_on_multi_label_rows():
    problem = MULTI[1]
    Y = problem.Y.astype(int)
    none, mimj, printed = (
        MESD(FDA(), weighting=w, n_components=1, **RIDGE).fit(problem.X, Y) for w in ("none", "mimj", "printed")
    )
    assert_different_span(mimj, printed)
    assert_different_span(mimj, none)
    assert_different_span(printed, none)


def test_every_mlda_option_matters_on_multi_label_rows():
    problem = MULTI[1]
    Y = problem.Y.astype(int)

    def fitted(**options):
        return MLDA(n_components=2, **options, **RIDGE).fit(problem.X, Y)

    reference = fitted()
    for options in ({"correlation": False}, {"normalize": False}, {"correlation": False, "normalize": False}):
        assert_different_span(fitted(**options), reference)


def test_dmlda_is_not_bound_by_the_number_of_classes():
    problem = MULTI[1]
    fitted = DMLDA(n_components=8, **RIDGE).fit(problem.X, problem.Y.astype(int))
    assert fitted.n_components_ == 8 > problem.Y.shape[1]
    assert (fitted.eigenvalues_ > 0).all()


def test_renaming_classes_changes_nothing(single):
    names = np.array(["delta", "alpha", "charlie", "bravo"])
    for method in (FDA(**RIDGE), MMC(lam=0.1)):
        plain = method.fit(single.X, single.classes)
        Z, w = plain.transform(single.X), plain.eigenvalues_
        renamed = method.fit(single.X, names[single.classes])
        assert dense.gram_error(renamed.transform(single.X), Z) < IDENTITY
        np.testing.assert_allclose(renamed.eigenvalues_, w, rtol=IDENTITY)
