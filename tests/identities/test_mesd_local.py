"""MESD of the local and class-preserving families against explicit duplication: every pair of copies, by loops."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import strategies
from designs import each_value
from identities.comparison import DIFFERENT
from oracles import dense, local
from proxembed import DLA, DNE, DONPP, FDA, LFDA, MESD, MFA, OLPPR, ONPPR, SONPP
from proxembed.estimator.rows import Rows
from proxembed.methods.local import LINK_WEIGHTS
from proxembed.targets.labels import LabelMatrix

METHODS = [
    LFDA(n_neighbors=3), LFDA(n_neighbors=3, scope="global"), LFDA(affinity="constant"),
    MFA(n_friends=3, n_enemies=8, ridge=1e-6), MFA(n_friends=3, n_enemies=4, pairs="point", ridge=1e-6),
    DLA(n_friends=3, n_enemies=4),
    DNE(n_neighbors=4), DNE(n_neighbors=4, scope="class"),
    OLPPR(n_neighbors=4), OLPPR(n_neighbors=4, ws="indicator", balance="trace"),
    SONPP(n_neighbors=3), SONPP(n_neighbors=None),
    DONPP(n_enemies=4), ONPPR(n_neighbors=3, n_enemies=4),
]  # fmt: skip
every = pytest.mark.parametrize("method", METHODS, ids=repr)
searching = pytest.mark.parametrize(
    "method", [m for m in METHODS if isinstance(m, MFA | DLA | DONPP) or getattr(m, "scope", "") == "class"], ids=repr
)
weighted = pytest.mark.parametrize("weighting", ["none", "mimj", "printed"])
N = 24


def labels(seed: int) -> np.ndarray:
    """Several labels per row, a row without labels, and a class of one row."""
    Y = strategies.labels_multi(N, 4, seed)
    Y[5] = 0.0
    Y[:, 3] = 0.0
    Y[7, 3] = 1.0
    return Y


PROBLEMS = {
    "general": (strategies.features_dense(N, 5, 3), labels(3)),
    "duplicate rows": (strategies.features_duplicate_rows(N, 5, 4), labels(4)),
    "wide": (strategies.features_dense(N, 40, 5), labels(5)),
}


@pytest.fixture(params=PROBLEMS.values(), ids=PROBLEMS)
def problem(request):
    return request.param


def assert_same_matrices(method, rows, data, weighting) -> None:
    template = method.template(rows)
    Ap, Bp = local.pencil(method, data, weighting)
    scale = max(np.abs(Ap).max(), 0.0 if Bp is None else np.abs(Bp).max())
    np.testing.assert_allclose(template.A.sandwich(rows.X), Ap, rtol=0, atol=1e-9 * scale)
    if Bp is not None:
        np.testing.assert_allclose(template.B.sandwich(rows.X), Bp, rtol=0, atol=1e-9 * scale)


@each_value
@every
@weighted
def test_matrices_of_explicit_duplication(method, weighting, problem):
    X, Y = problem
    rows = Rows(X, LabelMatrix.of(Y.astype(int)), weighting=weighting)
    assert_same_matrices(method, rows, local.Copies(X, Y), weighting)


@each_value
@searching
@pytest.mark.parametrize(("copies", "enemy"), [("count", "any"), ("distinct", "disjoint"), ("count", "disjoint")])
def test_rules_of_the_search_over_copies(method, copies, enemy, problem):
    X, Y = problem
    rows = Rows(X, LabelMatrix.of(Y.astype(int)), weighting="none", copies=copies, enemy=enemy)
    assert_same_matrices(method, rows, local.Copies(X, Y, copies, enemy), "none")


@each_value
@every
@weighted
def test_fits_are_the_solutions_of_explicit_duplication(method, weighting):
    X, Y = PROBLEMS["general"]
    data = local.Copies(X, Y)
    Ap, Bp = local.pencil(method, data, weighting)
    mass = data.m if weighting == "none" else (data.m > 0).astype(float)
    mean = mass @ X / mass.sum()
    seen = (X - mean)[mass > 0]
    sense = -1 if Bp is None else 1
    Bp = np.eye(X.shape[1]) if Bp is None else Bp + dense.trace_ridge(Bp, seen, method.ridge) * np.eye(X.shape[1])
    P, w = dense.dense_solve(Ap, Bp, seen, 2)
    fitted = MESD(method, weighting=weighting, n_components=2).fit(X, Y.astype(int))
    np.testing.assert_allclose(fitted.mean_, mean, rtol=0, atol=1e-12)
    np.testing.assert_allclose(fitted.eigenvalues_, sense * w, rtol=0, atol=1e-8 * np.abs(w).max())
    assert dense.gram_error(fitted.transform(X), (X - mean) @ P) < 1e-6


@each_value
@every
@weighted
def test_one_hot_labels_give_the_method_itself(method, weighting):
    for problem in strategies.problems_single()[:2]:
        base = clone(method).set_params(n_components=2).fit(problem.X, problem.classes)
        extended = MESD(method, weighting=weighting, n_components=2).fit(problem.X, problem.Y.astype(int))
        np.testing.assert_allclose(extended.mean_, base.mean_, rtol=1e-13)
        np.testing.assert_allclose(
            extended.eigenvalues_, base.eigenvalues_, rtol=0, atol=1e-10 * np.abs(base.eigenvalues_).max()
        )
        assert dense.gram_error(extended.transform(problem.X), base.transform(problem.X)) < 1e-8


@weighted
def test_constant_affinities_give_the_extension_of_fda(weighting):
    X, Y = PROBLEMS["general"]
    rows = Rows(X, LabelMatrix.of(Y.astype(int)), weighting=weighting)
    lfda, fda = LFDA(affinity="constant").template(rows), FDA(constraint="total").template(rows)
    np.testing.assert_allclose(lfda.A.sandwich(X), fda.A.sandwich(X), rtol=0, atol=1e-10 * np.abs(X.T @ X).max())


@every
def test_weightings_matter_on_several_labels_a_row(method):
    X, Y = PROBLEMS["general"]
    found = {}
    for weighting in ("none", "mimj", "printed"):
        template = method.template(Rows(X, LabelMatrix.of(Y.astype(int)), weighting=weighting))
        operator = template.A if template.B is None else template.B
        M = operator.sandwich(X)
        found[weighting] = M / np.linalg.norm(M)
    assert np.linalg.norm(found["none"] - found["mimj"]) > DIFFERENT
    if not isinstance(method, SONPP | DONPP | ONPPR):  # the residual of a copy has one weight in both
        assert np.linalg.norm(found["printed"] - found["mimj"]) > DIFFERENT


@pytest.mark.parametrize("method", [MFA(n_enemies=8), MFA(n_enemies=4, pairs="point"), DLA()], ids=repr)
def test_rules_of_the_search_matter(method):
    X, Y = PROBLEMS["general"]
    fits = [
        MESD(method, n_components=2, **rule).fit(X, Y.astype(int)).transform(X)
        for rule in ({}, {"copies": "count"}, {"enemy": "disjoint"})
    ]
    for i in range(3):
        for j in range(i):
            assert dense.gram_error(fits[i], fits[j]) > DIFFERENT


def test_a_row_without_labels_weighs_nothing():
    """Neither as a neighbour nor in the mean: leaving it out changes no component."""
    X, Y = PROBLEMS["general"]
    keep = Y.sum(axis=1) > 0
    weights = [kind for kind in LINK_WEIGHTS if kind != "constant"]
    linked = [MFA(n_enemies=8), MFA(pairs="point"), DNE(n_neighbors=4), DNE(scope="class"), OLPPR(), ONPPR()]
    for method in METHODS + [clone(m).set_params(weights=kind) for m in linked for kind in weights]:
        full = MESD(method, n_components=2).fit(X, Y.astype(int))
        left = MESD(method, n_components=2).fit(X[keep], Y[keep].astype(int))
        np.testing.assert_allclose(full.mean_, left.mean_, rtol=0, atol=1e-12)
        assert dense.gram_error(full.transform(X), left.transform(X)) < 1e-8, method


@pytest.mark.parametrize("method", [LFDA(scope="global"), MFA(), DNE(), OLPPR(), SONPP(), DONPP(), ONPPR()], ids=repr)
def test_default_counts_fit_a_few_labelled_rows(method):
    X, Y = strategies.features_dense(N, 3, 2), np.zeros((N, 2), dtype=int)
    Y[:4] = [[1, 0], [1, 0], [0, 1], [0, 1]]
    full, left = MESD(method).fit(X, Y), MESD(method).fit(X[:4], Y[:4])
    np.testing.assert_allclose(full.eigenvalues_, left.eigenvalues_, rtol=1e-7, atol=1e-12)


def test_the_extension_of_dne_takes_its_negative_eigenvalues():
    X, Y = PROBLEMS["general"]
    fitted = MESD(DNE(n_neighbors=4)).fit(X, Y.astype(int))
    w = np.linalg.eigvalsh(-local.pencil(DNE(n_neighbors=4), local.Copies(X, Y))[0])
    np.testing.assert_allclose(fitted.eigenvalues_, w[w < 0], rtol=1e-8)
