"""Every method against its dense definition: eigenvalues, components, offset, embeddings, on every kind of fixture.

Tolerances. Both sides solve the same pencil by different routes in double precision. An eigenvalue then differs by
about eps cond(Bp) max|w|, a component by that over the gap that follows it. On the fixtures cond(Bp) stays below 1e4 on
the row space and `components` asks for a gap of 1e-3 of the leading eigenvalue: 1e-10 for eigenvalues and 1e-8 for
projections leave a factor of ten and more; what is wrong in a formula shows at 1e-3 and above. The definitions of MORP
and MLSI invert an n x n matrix of condition n/eps = 6e7: with the published eps their own eigenvalues carry 1e-9
(against 50 digits the definition was off by 3e-10 and the package by 1e-14), hence a hundred times more for these two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest

import proxembed
import strategies
from designs import WHOLE, each_value, pairwise
from oracles import dense

EIGENVALUES, PROJECTION, GAP = 1e-10, 1e-8, 1e-3
INVERTED = 100.0
RIDGE = {"ridge": 0.2, "ridge_scale": "absolute"}
NO_RIDGE = {"ridge": 0.0}


@dataclass(frozen=True)
class Case:
    """One parameter setting: how to build the estimator, and its definition as a function of (X, Y)."""

    name: str
    build: Callable
    define: Callable[[np.ndarray, np.ndarray], dense.Pencil]
    sense: int = 1
    signed: bool = False  # eigenvalues of both signs are components of this method
    options: dict = field(default_factory=dict)

    def estimator(self, k):
        return self.build(n_components=k, **self.options)


def case(name, define, build=None, sense=1, signed=False, **options):
    label = ", ".join(f"{k}={getattr(v, '__name__', v)}" for k, v in options.items() if k != "ridge_scale")
    build = build or (lambda **kw: getattr(proxembed, name)(**kw))
    return Case(f"{name}({label})", build, define, sense, signed, options)


def copied(base, **base_options):
    return lambda **options: proxembed.MESD(getattr(proxembed, base)(**base_options), **options)


UNSUPERVISED = [
    case("PCA", dense.pca),
    case("LSI", dense.lsi),
]
SINGLE = [
    case("FDA", lambda X, Y: dense.fda(X, Y), **NO_RIDGE),
    case("FDA", lambda X, Y: dense.fda(X, Y, 0.2), **RIDGE),
    case("FDA", lambda X, Y: dense.fda(X, Y, 0.2, "within"), constraint="within", **RIDGE),
    case("FDA", lambda X, Y: dense.fda(X, Y, 0.0, "within"), constraint="within", **NO_RIDGE),
    case("MMC", dense.mmc, signed=True),
    case("MMC", lambda X, Y: dense.mmc(X, Y, 0.1), lam=0.1, signed=True),
]
DEPENDENCE = [
    case("MVMD", dense.mvmd),
    case("MVMD", lambda X, Y: dense.mvmd(X, Y, 0.3, "01"), beta=0.3, coding="01"),
    case("MVMD", lambda X, Y: dense.mvmd(X, Y, 0.3, "pm1", "trace"), beta=0.3, balance="trace"),
    case("CCA", dense.cca, **NO_RIDGE),
    case("CCA", lambda X, Y: dense.cca(X, Y, 0.2), **RIDGE),
    case("CCA", lambda X, Y: dense.cca(X, Y, 0.2, 0.7), ridge_y=0.7, **RIDGE),
    case("PLS", dense.pls),
    case("PCovR", lambda X, Y: dense.pcovr(X, Y, 0.2), **RIDGE),
    case("PCovR", lambda X, Y: dense.pcovr(X, Y, 0.2, 0.9), beta=0.9, **RIDGE),
    case("OPLS", dense.opls, **NO_RIDGE),
    case("OPLS", lambda X, Y: dense.opls(X, Y, 0.2), **RIDGE),
    case("MDDM", dense.mddm),
    case("MDDM", lambda X, Y: dense.mddm(X, Y, "features", 0.8), metric="features", mix=0.8),
    case("MDDM", lambda X, Y: dense.mddm(X, Y, kind="rbf", tau=1.7), label_kernel="rbf", tau=1.7),
    case("MDDM", lambda X, Y: dense.mddm(X, Y, kind="cosine"), label_kernel="cosine"),
    case("MDDM", lambda X, Y: dense.mddm(X, Y, kind="tanimoto"), label_kernel="tanimoto"),
    case("SFEHS", dense.sfehs),
    case("SFEHS", lambda X, Y: dense.sfehs(X, Y, "biased"), estimator="biased"),
]
HYPERGRAPH = [
    case("HSL", lambda X, Y, e=e: dense.hsl(X, Y, e, 0.2), expansion=e, **RIDGE) for e in ("zhou", "clique", "star")
] + [
    case("HSL", dense.hsl, **NO_RIDGE),
    case("HSL", lambda X, Y: dense.hsl(X, Y, "zhou", 0.2, center=False), center=False, **RIDGE),
    case("HSL", lambda X, Y: dense.hsl(X, Y, "star", 0.2, center=False), expansion="star", center=False, **RIDGE),
    case(
        "HSL",
        lambda X, Y: dense.hsl(X, Y, "clique", 0.2, self_loops=False),
        expansion="clique",
        self_loops=False,
        **RIDGE,
    ),
]
LATENT = [
    case("MORP", dense.morp, sense=-1),
    case("MORP", lambda X, Y: dense.morp(X, Y, 0.2, 0.3, 1e-2), beta=0.2, penalty=0.3, eps=1e-2, sense=-1),
    case(
        "MORP",
        lambda X, Y: dense.morp(X, Y, 0.3, 0.2, form="ratio", balance="trace"),
        beta=0.3,
        penalty=0.2,
        form="ratio",
        balance="trace",
    ),
    case(
        "MORP",
        lambda X, Y: dense.morp(X, Y, 0.4, 0.3, 1e-1, balance="trace"),
        beta=0.4,
        penalty=0.3,
        eps=1e-1,
        balance="trace",
        sense=-1,
    ),
    case("MLSI", dense.mlsi, sense=-1),
    case("MLSI", lambda X, Y: dense.mlsi(X, Y, 0.8, 0.1, 1e-2), beta=0.8, penalty=0.1, eps=1e-2, sense=-1),
    case("MLSI", lambda X, Y: dense.mlsi(X, Y, center=True), center=True, sense=-1),
    case("MLSI", lambda X, Y: dense.mlsi(X, Y, 0.7, 0.2, form="ratio"), beta=0.7, penalty=0.2, form="ratio"),
    case(
        "MLSI",
        lambda X, Y: dense.mlsi(X, Y, 0.7, 0.2, form="ratio", center=True),
        beta=0.7,
        penalty=0.2,
        form="ratio",
        center=True,
    ),
]
FISHER_LIKE = [
    case("MLDA", dense.mlda, **NO_RIDGE),
    case("MLDA", lambda X, Y: dense.mlda(X, Y, ridge=0.2), **RIDGE),
    case("MLDA", lambda X, Y: dense.mlda(X, Y, False, True, 0.2), correlation=False, **RIDGE),
    case("MLDA", lambda X, Y: dense.mlda(X, Y, True, False, 0.2), normalize=False, **RIDGE),
    case("DMLDA", lambda X, Y: dense.dmlda(X, Y, ridge=0.2), **RIDGE),
    case("DMLDA", lambda X, Y: dense.dmlda(X, Y, "mlda", 0.2), weights="mlda", **RIDGE),
    case("CopyLDA", dense.copy_lda, **NO_RIDGE),
    case("CopyLDA", lambda X, Y: dense.copy_lda(X, Y, 0.2), **RIDGE),
    case("MESD of FDA", dense.mesd_fda, copied("FDA"), **NO_RIDGE),
    case("MESD of FDA", lambda X, Y: dense.mesd_fda(X, Y, 0.2), copied("FDA"), **RIDGE),
    case(
        "MESD of FDA within",
        lambda X, Y: dense.mesd_fda(X, Y, 0.2, "within"),
        copied("FDA", constraint="within"),
        **RIDGE,
    ),
    case(
        "MESD of FDA",
        lambda X, Y: dense.mesd_fda(X, Y, 0.2, weighting="mimj"),
        copied("FDA"),
        weighting="mimj",
        signed=True,
        **RIDGE,
    ),
    case(
        "MESD of FDA",
        lambda X, Y: dense.mesd_fda(X, Y, 0.2, weighting="printed"),
        copied("FDA"),
        weighting="printed",
        signed=True,
        **RIDGE,
    ),
    case("MESD of MMC", lambda X, Y: dense.mesd_mmc(X, Y, 0.02), copied("MMC", lam=0.02), signed=True),
    case(
        "MESD of MMC",
        lambda X, Y: dense.mesd_mmc(X, Y, 0.02, "mimj"),
        copied("MMC", lam=0.02),
        weighting="mimj",
        signed=True,
    ),
]
MULTI = DEPENDENCE + HYPERGRAPH + LATENT + FISHER_LIKE


def components(w: np.ndarray, limit: int, every_sign: bool) -> int:
    """The largest number of components up to `limit` that a clear gap separates from the next eigenvalue."""
    scale = np.abs(w[: limit + 1]).max()
    floor = -np.inf if every_sign else 1e-6 * scale
    after = np.append(w, -np.inf if every_sign else 0.0)
    good = [k for k in range(1, min(limit, len(w)) + 1) if w[k - 1] > floor and w[k - 1] - after[k] > GAP * scale]
    return max(good, default=0)


def expected(case: Case, problem: strategies.Problem):
    """(P, w, pencil) of the definition, with as many components as are well separated."""
    X = problem.dense
    pencil = case.define(X, problem.Y)
    P, w = dense.dense_solve(pencil.Ap, pencil.Bp, pencil.rows(X))
    k = components(w, 5, case.sense < 0 or case.signed)
    assert k >= 1, f"fixture {problem.name!r} leaves {case.name} without a separated component: choose another seed"
    return P[:, :k], case.sense * w[:k], pencil


def check(case: Case, problem: strategies.Problem, y) -> None:
    P, w, pencil = expected(case, problem)
    fitted = case.estimator(P.shape[1]).fit(problem.X, y)
    assert fitted.components_.shape == P.T.shape
    slack = INVERTED if case.sense < 0 and "eps" not in case.options else 1.0
    np.testing.assert_allclose(fitted.eigenvalues_, w, rtol=0, atol=slack * EIGENVALUES * np.abs(w).max())
    mean = np.zeros(len(P)) if fitted.mean_ is None else fitted.mean_
    np.testing.assert_allclose(mean, pencil.mean, rtol=0, atol=1e-12 * max(1.0, np.abs(problem.dense).max()))
    assert dense.gram_error(fitted.components_.T, P) < slack * PROJECTION
    feasible = fitted.components_ @ pencil.Bp @ fitted.components_.T
    np.testing.assert_allclose(feasible, np.eye(len(w)), rtol=0, atol=PROJECTION)
    new = problem.dense[:7] + strategies.features_dense(7, problem.X.shape[1], 99)
    for rows in (problem.dense, new):
        assert dense.gram_error(fitted.transform(rows), (rows - pencil.mean) @ P) < slack * PROJECTION
    assert dense.gram_error(fitted.transform(problem.X), (problem.dense - pencil.mean) @ P) < slack * PROJECTION


def ids(value):
    return value.name if isinstance(value, Case | strategies.Problem) else None


@pytest.mark.parametrize("case", UNSUPERVISED, ids=ids)
@pytest.mark.parametrize("problem", strategies.problems_single(), ids=ids)
def test_unsupervised_methods_are_their_definitions(case, problem):
    check(case, problem, None)


@pytest.mark.parametrize("case", SINGLE, ids=ids)
@pytest.mark.parametrize("problem", strategies.problems_single(), ids=ids)
def test_single_label_methods_are_their_definitions(case, problem):
    check(case, problem, problem.classes)


def in_thirds(cases: list[Case], problems: list[strategies.Problem]) -> list:
    """Each case with one problem in three, other ones for the next case."""
    pairs = [(case, p) for i, case in enumerate(cases) for j, p in enumerate(problems) if WHOLE or (i + j) % 3 == 0]
    return [pytest.param(case, problem, id=f"{problem.name}-{case.name}") for case, problem in pairs]


@pytest.mark.parametrize(("case", "problem"), in_thirds(MULTI, strategies.problems_multi()))
def test_multi_label_methods_are_their_definitions(case, problem):
    check(case, problem, problem.Y.astype(int))


@each_value
@pytest.mark.parametrize("case", [c for c in MULTI if c.options.get("weighting") != "printed"], ids=ids)
@pytest.mark.parametrize("problem", strategies.problems_single()[1:4], ids=ids)
def test_multi_label_methods_are_their_definitions_on_one_hot_labels(case, problem):
    check(case, problem, problem.Y.astype(int))


def weighted_hypergraph_edges(Y):
    return np.linspace(0.5, 2.0, dense.drop_empty(Y).shape[1])


@each_value
@pytest.mark.parametrize("expansion", ["zhou", "clique", "star"])
@pytest.mark.parametrize("problem", [strategies.problems_multi()[i] for i in (0, 1, 4)], ids=ids)
def test_hypergraph_edges_carry_their_weights(expansion, problem):
    w_e = weighted_hypergraph_edges(problem.Y)
    weighted = case(
        "HSL",
        lambda X, Y: dense.hsl(X, Y, expansion, 0.2, w_e),
        expansion=expansion,
        edge_weights=w_e,
        **RIDGE,
    )
    check(weighted, problem, problem.Y.astype(int))


def check_whole_spectrum(estimator, pencil, problem, y):
    P, w = dense.dense_solve(pencil.Ap, pencil.Bp, pencil.rows(problem.dense))
    assert w[-1] < -GAP * w[0]
    fitted = estimator(len(w)).fit(problem.X, y)
    np.testing.assert_allclose(fitted.eigenvalues_, w, rtol=0, atol=EIGENVALUES * np.abs(w).max())
    assert dense.subspace_error(fitted.components_.T, P) < PROJECTION


@pytest.mark.parametrize("problem", strategies.problems_single(), ids=ids)
def test_mmc_goes_on_below_zero_inside_the_row_space(problem):
    check_whole_spectrum(
        lambda k: proxembed.MMC(n_components=k), dense.mmc(problem.dense, problem.Y), problem, problem.classes
    )


@pytest.mark.parametrize("problem", strategies.problems_multi(), ids=ids)
def test_mmc_on_copies_goes_on_below_zero_inside_the_row_space(problem):
    check_whole_spectrum(
        lambda k: proxembed.MESD(proxembed.MMC(), n_components=k),
        dense.mesd_mmc(problem.dense, problem.Y),
        problem,
        problem.Y.astype(int),
    )


@pairwise
@pytest.mark.parametrize("balance", ["none", "trace"])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("beta", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("problem", strategies.problems_multi(), ids=ids)
def test_slvm_embeds_the_rows_by_the_joint_kernel(problem, beta, center, balance):
    pencil = dense.slvm(problem.dense, problem.Y, beta, center, balance)
    Z, w = dense.dense_solve(pencil.Ap, pencil.Bp, np.eye(len(pencil.Ap)))
    k = components(w, 4, False)
    options = {"beta": beta, "center": center, "balance": balance}
    fitted = proxembed.SLVM(n_components=k, **options).fit(problem.X, problem.Y.astype(int))
    np.testing.assert_allclose(fitted.eigenvalues_, w[:k], rtol=0, atol=EIGENVALUES * w[0])
    assert dense.gram_error(fitted.embedding_, Z[:, :k]) < PROJECTION


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 0.1), (0.2, 2.0)])
@pytest.mark.parametrize("problem", strategies.problems_multi(), ids=ids)
def test_mlls_finds_the_shared_subspace(problem, alpha, beta):
    pencil = dense.mlls(problem.dense, problem.Y, alpha, beta)
    P, w = dense.dense_solve(pencil.Ap, pencil.Bp, pencil.rows(problem.dense))
    k = components(w, 3, False)
    fitted = proxembed.MLLS(n_components=k, alpha=alpha, beta=beta).fit(problem.X, problem.Y.astype(int))
    Theta = fitted.components_.T
    np.testing.assert_allclose(Theta.T @ Theta, np.eye(k), rtol=0, atol=1e-10)
    np.testing.assert_allclose(fitted.eigenvalues_, w[:k], rtol=0, atol=EIGENVALUES * w[0])
    assert dense.subspace_error(Theta, P[:, :k]) < PROJECTION
    best = dense.mlls_objective(problem.dense, problem.Y, Theta, alpha, beta)
    rng = np.random.default_rng(0)
    for _ in range(20):
        rival = np.linalg.qr(Theta + 0.05 * rng.standard_normal(Theta.shape))[0]
        assert best <= dense.mlls_objective(problem.dense, problem.Y, rival, alpha, beta)


RELATIVE = [
    ("FDA", "single", lambda X, Y: dense.fda(X, Y)),
    ("CCA", "multi", lambda X, Y: dense.cca(X, Y)),
    ("OPLS", "multi", lambda X, Y: dense.opls(X, Y)),
    ("HSL", "multi", lambda X, Y: dense.hsl(X, Y)),
    ("MLDA", "multi", lambda X, Y: dense.mlda(X, Y)),
    ("DMLDA", "multi", lambda X, Y: dense.dmlda(X, Y)),
]


@each_value
@pytest.mark.parametrize(("name", "labels", "define"), RELATIVE, ids=[r[0] for r in RELATIVE])
@pytest.mark.parametrize("index", range(4))
def test_a_relative_ridge_is_a_share_of_the_mean_of_the_constraint(name, labels, define, index):
    problem = (strategies.problems_single() if labels == "single" else strategies.problems_multi())[index]
    y = problem.classes if labels == "single" else problem.Y.astype(int)
    pencil = define(problem.dense, problem.Y)
    absolute = dense.trace_ridge(pencil.Bp, pencil.rows(problem.dense), 0.05)
    relative = getattr(proxembed, name)(n_components=1, ridge=0.05).fit(problem.X, y)
    fixed = getattr(proxembed, name)(n_components=1, ridge=absolute, ridge_scale="absolute").fit(problem.X, y)
    assert relative.ridge_ == pytest.approx(absolute, rel=1e-9)
    assert dense.gram_error(relative.components_.T, fixed.components_.T) < PROJECTION
