"""MESD of every single-label method, its n x n matrices against explicit duplication: one table for all methods, all
weightings and all rules of the search, one-hot labels, and kernels."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.base import clone

import proxembed
import strategies
from designs import WHOLE as EVERY_CASE
from designs import each_value, pairwise, share
from identities.comparison import DIFFERENT, gram_distance
from oracles import copies, dense, local
from proxembed import DLA, DNE, DONPP, FDA, LFDA, MESD, MFA, MMC, OLPPR, ONPPR, SONPP, Kernelized
from proxembed.blocks import RowBlocks
from proxembed.estimator.base import registry
from proxembed.estimator.rows import Rows
from proxembed.targets.labels import LabelMatrix

EXACT = 1e-12
WHOLE = 1e-11  # the closed form that leaves out each row of a class in turn loses a digit at a row of great leverage
REG = 0.1  # well-conditioned systems of weights: two ways to solve them differ by rounding only
WEIGHTINGS = ("none", "mimj", "printed")
RULES = list(itertools.product(("distinct", "count"), ("any", "disjoint")))

# every single-label method in the forms that have matrices of their own; a registered one without an entry fails
TABLE = {
    "FDA": [FDA(), FDA(constraint="within")],
    "MMC": [MMC(), MMC(lam=0.3)],
    "LFDA": [
        LFDA(n_neighbors=3),
        LFDA(n_neighbors=3, scope="global"),
        LFDA(affinity="constant"),
        LFDA(n_neighbors=3, n_links=2),
        LFDA(n_neighbors=3, n_links=4, scope="global"),
    ],
    "MFA": [MFA(n_friends=3, n_enemies=8), MFA(n_friends=3, n_enemies=4, pairs="point"), MFA()],
    "DLA": [DLA(n_friends=3, n_enemies=4), DLA(lam=1.0)],
    "DNE": [DNE(n_neighbors=4), DNE(n_neighbors=4, scope="class")],
    "OLPPR": [OLPPR(n_neighbors=4), OLPPR(n_neighbors=4, ws="indicator", balance="trace")],
    "SONPP": [SONPP(n_neighbors=3, reg=REG), SONPP(n_neighbors=None, reg=REG)],
    "DONPP": [DONPP(n_enemies=4, reg=REG), DONPP(n_neighbors=3, n_enemies=4, beta=1.0, reg=REG)],
    "ONPPR": [ONPPR(n_neighbors=3, n_enemies=4, reg=REG), ONPPR(n_neighbors=None, reg=REG)],
}
METHODS = [method for forms in TABLE.values() for method in forms]
COUNTS = [method for method in METHODS if isinstance(method, MFA | DLA | DNE)]  # matrices of (halves of) whole numbers
SEARCHING = [m for m in METHODS if isinstance(m, MFA | DLA | DONPP) or (isinstance(m, DNE) and m.scope == "class")]
every = pytest.mark.parametrize("method", METHODS, ids=repr)
rules = pytest.mark.parametrize(("rule", "enemy"), RULES, ids=["-".join(rule) for rule in RULES])
N = 24


def labels(seed: int, density: float) -> np.ndarray:
    """Several labels per row, a row without labels, and a class of one row."""
    Y = strategies.labels_multi(N, 4, seed, density)
    Y[5] = 0.0
    Y[:, 3] = 0.0
    Y[7, 3] = 1.0
    return Y


PROBLEMS = {
    "few labels": (strategies.features_dense(N, 5, 13), labels(13, 0.2)),
    "duplicate rows": (strategies.features_duplicate_rows(N, 5, 14), labels(14, 0.5)),
    "many labels, wide": (strategies.features_dense(N, 40, 15), labels(15, 0.8)),
}
problems = pytest.mark.parametrize("name", PROBLEMS)


def impossible(method, weighting: str) -> bool:
    """FDA refuses the within-class scatter as a constraint of weighted copies."""
    return isinstance(method, FDA) and method.constraint == "within" and weighting != "none"


def found_operators(method, X, Y, weighting="none", rule="distinct", enemy="any"):
    rows = Rows(X, LabelMatrix.of(Y.astype(int)), weighting=weighting, copies=rule, enemy=enemy)
    template = method.template(rows)
    return [None if op is None else op.todense(len(X)) for op in (template.A, template.B)]


def largest_error(found, expected) -> float:
    """Over A and B, relative to the largest entry of either."""
    scale = max(np.abs(M).max() for M in expected if M is not None)
    pairs = zip(found, expected, strict=True)
    return max(np.abs(M - E).max() for M, E in pairs if E is not None) / scale


def test_every_single_label_method_has_its_row():
    for name in proxembed.__all__:
        getattr(proxembed, name)
    methods = {name: method for name, method in registry().items() if method.role == "method"}
    single = {
        name
        for name, method in methods.items()
        if method.class_traits.labels == "single" and not method.class_traits.keeps_unknown
    }
    assert set(TABLE) == single == set(copies.DEFINITIONS)
    assert all(type(method).__name__ == name for name, forms in TABLE.items() for method in forms)


@pairwise
@every
@rules
@problems
def test_matrices_are_those_of_explicit_duplication(method, rule, enemy, name):
    X, Y = PROBLEMS[name]
    data = local.Copies(X, Y, rule, enemy)
    for weighting in WEIGHTINGS:
        if impossible(method, weighting):
            with pytest.raises(ValueError, match="constraint"):
                found_operators(method, X, Y, weighting, rule, enemy)
            continue
        found = found_operators(method, X, Y, weighting, rule, enemy)
        expected = copies.operators(method, data, weighting)
        assert (found[1] is None) == (expected[1] is None)
        whole = getattr(method, "n_neighbors", 0) is None
        assert largest_error(found, expected) <= (WHOLE if whole else EXACT), weighting


@pairwise
@pytest.mark.parametrize("method", [m for m in COUNTS if not isinstance(m, DLA)], ids=repr)
@rules
@problems
def test_counts_of_links_are_exact(method, rule, enemy, name):
    X, Y = PROBLEMS[name]
    expected = copies.operators(method, local.Copies(X, Y, rule, enemy))
    for M, E in zip(found_operators(method, X, Y, "none", rule, enemy), expected, strict=True):
        np.testing.assert_array_equal(M, E)


@each_value
@every
@pytest.mark.parametrize("rule", ["distinct", "count"])
def test_one_hot_labels_have_the_matrices_of_the_method(method, rule):
    problem = strategies.problems_single()[1]
    labels = LabelMatrix.of(problem.classes)
    plain = method.template(Rows(problem.X, labels))
    for weighting, enemy in itertools.product(WEIGHTINGS, ("any", "disjoint")):
        if impossible(method, weighting):
            continue
        found = method.template(Rows(problem.X, labels, weighting=weighting, copies=rule, enemy=enemy))
        np.testing.assert_array_equal(found.A.sandwich(problem.X), plain.A.sandwich(problem.X))
        if plain.B is not None:
            np.testing.assert_array_equal(found.B.sandwich(problem.X), plain.B.sandwich(problem.X))


@every
def test_one_hot_labels_give_the_fit_of_the_method_under_every_rule(method):
    problem = strategies.problems_single()[0]
    base = clone(method).set_params(n_components=2).fit(problem.X, problem.classes)
    cases = list(itertools.product(WEIGHTINGS, RULES))
    for weighting, (rule, enemy) in cases if EVERY_CASE else share(cases, METHODS.index(method), 4):
        if impossible(method, weighting):
            continue
        extended = MESD(method, weighting=weighting, copies=rule, enemy=enemy, n_components=2)
        extended.fit(problem.X, problem.Y.astype(int))
        np.testing.assert_array_equal(extended.components_, base.components_)
        np.testing.assert_array_equal(extended.eigenvalues_, base.eigenvalues_)


@every
def test_each_weighting_has_matrices_of_its_own(method):
    """Negative control: on several labels per row no weighting passes for another."""
    X, Y = PROBLEMS["duplicate rows"]
    data, possible = local.Copies(X, Y), [each for each in WEIGHTINGS if not impossible(method, each)]
    found = {weighting: found_operators(method, X, Y, weighting) for weighting in possible}
    expected = {weighting: copies.operators(method, data, weighting) for weighting in possible}
    for one, other in itertools.permutations(possible, 2):
        same_residual = isinstance(method, SONPP | DONPP | ONPPR) and "none" not in (one, other)
        assert same_residual or largest_error(found[one], expected[other]) > DIFFERENT


@pytest.mark.parametrize("method", SEARCHING, ids=repr)
def test_each_rule_of_the_search_has_matrices_of_its_own(method):
    """Negative control: the lists of one rule are not those of another, on one of the problems at least."""
    problems = PROBLEMS.values()
    found = {rule: [found_operators(method, X, Y, "none", *rule) for X, Y in problems] for rule in RULES}
    expected = {rule: [copies.operators(method, local.Copies(X, Y, *rule)) for X, Y in problems] for rule in RULES}
    for one, other in itertools.combinations(RULES, 2):
        assert max(map(largest_error, found[one], expected[other])) > DIFFERENT


@pytest.mark.parametrize("method", [m for m in METHODS if m not in SEARCHING], ids=repr)
def test_rules_of_enemies_leave_methods_without_enemies_alone(method):
    X, Y = PROBLEMS["duplicate rows"]
    plain = found_operators(method, X, Y)
    for rule in RULES:
        for M, E in zip(found_operators(method, X, Y, "none", *rule), plain, strict=True):
            np.testing.assert_array_equal(M, E)


KERNEL = {"kernel": "gaussian", "tau": 9.0}
RIDGE = {"ridge": 0.2, "ridge_scale": "absolute"}
KERNELS = [FDA(**RIDGE), MFA(n_friends=3, n_enemies=8, **RIDGE), MFA(n_friends=3, pairs="point", **RIDGE)]
kernels = pytest.mark.parametrize("method", KERNELS, ids=repr)


def kernel_reference(method, X, Y, weighting, rule, k=2):
    """Gram matrix and eigenvalues of max tr G'KAKG, G'(KBK + 0.2 K)G = I, by the operators of explicit duplication."""
    data = local.Copies(X, Y, rule)
    A, B = copies.operators(method, data, weighting)
    mass = data.m if weighting == "none" else (data.m > 0).astype(float)
    K = np.exp(-(data.D**2) / KERNEL["tau"])
    level = mass / mass.sum()
    C = np.eye(data.n) - np.outer(np.ones(data.n), level)
    w, U = np.linalg.eigh(C @ K @ C.T)
    T = U[:, w > 1e-10 * w.max()] * np.sqrt(w[w > 1e-10 * w.max()])
    b, E = np.linalg.eigh(T.T @ B @ T + 0.2 * np.eye(T.shape[1]))
    R = E / np.sqrt(b)
    found, Q = np.linalg.eigh(R.T @ T.T @ A @ T @ R)
    Z = T @ R @ Q[:, ::-1][:, :k]
    return Z, found[::-1][:k]


@pairwise
@kernels
@pytest.mark.parametrize("weighting", WEIGHTINGS)
@pytest.mark.parametrize("rule", ["distinct", "count"])
@pytest.mark.parametrize("order", ["MESD outside", "Kernelized outside"])
def test_kernel_methods_on_copies(method, weighting, rule, order, monkeypatch):
    X, Y = PROBLEMS["duplicate rows"]
    for cls in (MESD, Kernelized):
        monkeypatch.setattr(cls, "merges_rows", False)  # equal rows apart, as the reference has them
    options = {"weighting": weighting, "copies": rule}
    if order == "MESD outside":
        fitted = MESD(Kernelized(method, **KERNEL), n_components=2, **options)
    else:
        fitted = Kernelized(MESD(method, **options), n_components=2, **KERNEL)
    fitted.fit(X, Y.astype(int))
    Z, w = kernel_reference(method, X, Y, weighting, rule)
    np.testing.assert_allclose(fitted.eigenvalues_, w, rtol=0, atol=1e-8 * np.abs(w).max())
    assert gram_distance(fitted.transform(X), Z) < 1e-7


@kernels
def test_kernel_methods_on_one_hot_labels_are_themselves(method):
    problem = strategies.problems_single()[1]
    base = Kernelized(method, n_components=2, **KERNEL).fit(problem.X, problem.classes)
    for fitted in (
        MESD(Kernelized(method, **KERNEL), n_components=2),
        Kernelized(MESD(method), n_components=2, **KERNEL),
    ):
        fitted.fit(problem.X, problem.Y.astype(int))
        np.testing.assert_array_equal(fitted.eigenvalues_, base.eigenvalues_)
        np.testing.assert_array_equal(fitted.transform(problem.X), base.transform(problem.X))


def test_kernel_and_plain_extension_differ():
    """Negative control: the kernel is used."""
    X, Y = PROBLEMS["duplicate rows"]
    plain = MESD(FDA(**RIDGE), n_components=2).fit(X, Y.astype(int)).transform(X)
    kernel = MESD(Kernelized(FDA(**RIDGE), **KERNEL), n_components=2).fit(X, Y.astype(int)).transform(X)
    assert gram_distance(kernel, plain) > DIFFERENT


def test_kernelized_methods_for_several_labels_are_refused():
    X, Y = PROBLEMS["duplicate rows"]
    with pytest.raises(ValueError, match="already takes several labels"):
        MESD(Kernelized(MESD(FDA()))).fit(X, Y.astype(int))


def test_a_given_kernel_matrix_stays_square_in_cross_validation():
    method = MESD(Kernelized(FDA(), kernel="precomputed"))
    assert method.__sklearn_tags__().input_tags.pairwise
    assert not MESD(Kernelized(FDA())).__sklearn_tags__().input_tags.pairwise


@pytest.mark.parametrize("inner", METHODS, ids=str)
def test_a_lone_label_is_two_classes(inner):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 5))
    y = (X[:, 0] + 0.5 * rng.normal(size=60) > 0.4).astype(float)
    lone = LabelMatrix.of(np.column_stack([y, y])).with_columns(np.array([0]))
    found, expected = MESD(clone(inner)).fit(X, lone), clone(inner).fit(X, y)
    np.testing.assert_allclose(found.transform(X), expected.transform(X), rtol=0, atol=1e-9)
    assert found.transform(X).shape[1] == expected.transform(X).shape[1]


# ---------------------------------------------------------------------------- the embedding of all copies orthonormal


@each_value
@every
@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_orthonormal_copies_are_those_of_explicit_duplication(method, weighting):
    """Z~'Z~ = I of the copies about their mean, made row by row, under the objective of the method."""
    X, Y = PROBLEMS["few labels"]
    if getattr(method, "constraint", None) == "within" and weighting != "none":
        method = FDA()  # the other form is refused
    used = Y[:, Y.sum(axis=0) > 0]
    A, _ = copies.operators(method, local.Copies(X, used), weighting)
    duplicated = np.vstack([X[[i] * int(m)] for i, m in enumerate(used.sum(axis=1))])
    centred = duplicated - duplicated.mean(axis=0)
    P, w = dense.dense_solve(X.T @ A @ X, centred.T @ centred, centred)
    sense = -1 if isinstance(method, DLA | DNE | OLPPR | SONPP | DONPP | ONPPR) else 1
    k = max((k for k in (1, 2, 3) if w[k - 1] - w[k] > 1e-6 * np.abs(w).max()), default=1)
    fitted = MESD(clone(method), weighting=weighting, constraint="embedding", n_components=k)
    fitted.set_params(ridge=0.0, ridge_scale="absolute").fit(X, Y)
    np.testing.assert_allclose(fitted.eigenvalues_, sense * w[:k], rtol=0, atol=1e-8 * np.abs(w).max())
    np.testing.assert_allclose(fitted.mean_, duplicated.mean(axis=0), rtol=0, atol=1e-12)
    Z = fitted.transform(duplicated)
    np.testing.assert_allclose(Z.T @ Z, np.eye(k), rtol=0, atol=1e-8)
    assert gram_distance(Z, centred @ P[:, :k]) < 1e-6


@pytest.mark.parametrize("lam", [0.3, 1.0])
def test_margins_of_orthonormal_copies_are_fisher_analysis(lam):
    """Sb - lam Sw under St = Sb + Sw = I has the vectors of Sb, and (1 + lam) w - lam for its values."""
    X, Y = PROBLEMS["few labels"]
    margin = MESD(MMC(lam=lam), constraint="embedding", n_components=2).fit(X, Y)
    fisher = MESD(FDA(ridge=0.0), n_components=2).fit(X, Y)
    assert gram_distance(margin.transform(X), fisher.transform(X)) < 1e-8
    np.testing.assert_allclose(margin.eigenvalues_, (1.0 + lam) * fisher.eigenvalues_ - lam, rtol=1e-9)
    other = MESD(MMC(lam=lam), n_components=2).fit(X, Y)
    assert gram_distance(margin.transform(X), other.transform(X)) > DIFFERENT


def test_orthonormal_copies_from_sums_of_blocks():
    X, Y = PROBLEMS["few labels"]
    model = MESD(MMC(), constraint="embedding", n_components=2)
    whole = clone(model).fit(X, Y)
    blocks = clone(model).fit(RowBlocks([(X[:9], Y[:9]), (X[9:], Y[9:])]))
    assert gram_distance(blocks.transform(X), whole.transform(X)) < 1e-8
