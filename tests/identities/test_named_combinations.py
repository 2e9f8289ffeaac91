"""SELF, SSFDA, SSMMC, SSMOPE and the published pairs: their ends and their dense formulas."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from identities.comparison import IDENTITY, assert_same_embedding, span_distance
from identities.partly_labelled import OBJECTIVES, RIDGE, Partly, assert_solves, on_shapes
from oracles import dense, local, mope, preserving
from proxembed import (
    DNE,
    DONPP,
    FDA,
    LFDA,
    LPP,
    MESD,
    MFA,
    MMC,
    MOPE,
    OLPP,
    PCA,
    SELF,
    SSDR,
    SSFDA,
    SSMMC,
    SSMOPE,
    ssdr_dne,
    ssdr_donpp,
    ssdr_lfda,
    ssdr_mfa,
)


@on_shapes
def test_self_is_lfda_at_one_end_and_pca_at_the_other(shape):
    data = Partly(shape, single=True)
    for ridge in ({"ridge": 0.0}, RIDGE):
        one = SELF(beta=0.0, n_components=2, **ridge).fit(data.X, data.y)
        assert_same_embedding(one, LFDA(n_components=2, **ridge).fit(data.Xl, data.yl), data.X)
    other = SELF(beta=1.0, n_components=3).fit(data.X, data.y)
    assert_same_embedding(other, PCA(n_components=3).fit(data.X), data.X)


@pytest.mark.parametrize("beta", [0.2, 0.7])
@on_shapes
def test_self_is_its_formula(beta, shape):
    data = Partly(shape, single=True)
    Slb, Slw = local.pencil(LFDA(), local.Copies(data.Xl, data.Yl))
    St, I = data.Xc.T @ data.Xc, np.eye(data.X.shape[1])  # noqa: E741
    fitted = SELF(beta=beta, n_components=3).fit(data.X, data.y)
    assert_solves(fitted, data, (1 - beta) * Slb + beta * St, (1 - beta) * Slw + beta * I)
    lpp = preserving.lpp(data.X, data.W)
    graphed = SELF(beta=beta, base="lpp", n_components=3, **RIDGE).fit(data.X, data.y)
    B = (1 - beta) * Slw + beta * data.graph + 0.3 * I
    assert_solves(graphed, data, (1 - beta) * Slb + beta * lpp.Bp, B)
    own = SELF(beta=beta, base=LPP(), n_components=3, **RIDGE).fit(data.X, data.y)
    assert_same_embedding(own, graphed, data.X)


def test_self_with_a_graph_ends_in_lpp():
    """max X'DX under X'LX is min X'LX under X'DX: the same span, reciprocal eigenvalues."""
    data = Partly("tall", single=True)
    graphed = SELF(beta=1.0, base="lpp", n_components=3).fit(data.X, data.y)
    lpp = LPP(n_components=3).fit(data.X)
    assert span_distance(graphed.components_.T, lpp.components_.T) < IDENTITY
    np.testing.assert_allclose(graphed.eigenvalues_, 1 / lpp.eigenvalues_, rtol=IDENTITY)


@on_shapes
def test_ssfda_and_ssmmc_are_their_formulas(shape):
    data = Partly(shape, single=True)
    Sb, Sw, _, _ = dense.scatters(data.Xl, data.yl)
    I = np.eye(data.X.shape[1])  # noqa: E741
    for weight, ridge in ((0.1, 0.1), (2.0, 0.5)):
        fisher = SSFDA(graph_weight=weight, ridge=ridge).fit(data.X, data.y)
        assert fisher.n_components_ == 2 and fisher.ridge_ == ridge
        assert_solves(fisher, data, Sb, Sw + weight * data.graph + ridge * I)
        margin = SSMMC(lam=ridge, graph_weight=weight, n_components=3).fit(data.X, data.y)
        assert_solves(margin, data, Sb - ridge * Sw - weight * data.graph, I)


@on_shapes
def test_without_a_graph_they_are_fda_and_mmc_of_the_labelled_rows(shape):
    data = Partly(shape, single=True)
    for ridge in (0.0, 0.4):
        fisher = SSFDA(graph_weight=0.0, ridge=ridge).fit(data.X, data.y)
        alone = FDA(constraint="within", ridge=ridge, ridge_scale="absolute").fit(data.Xl, data.yl)
        assert_same_embedding(fisher, alone, data.X)
    margin = SSMMC(lam=0.7, graph_weight=0.0, n_components=2).fit(data.X, data.y)
    assert_same_embedding(margin, MMC(lam=0.7, n_components=2).fit(data.Xl, data.yl), data.X)


@pytest.mark.parametrize("gamma", [0.0, 0.1, 2.0])
def test_chatpatanasiri_and_kijsirikul_are_their_formulas(gamma):
    """min tr P'(Xl'L_c Xl + gamma X'LX)P subject to P'Xl'B Xl P = I; the eigenvalues are those over 1 + gamma."""
    data = Partly("tall", single=True)
    copies, I = local.Copies(data.Xl, data.Yl), np.eye(9)  # noqa: E741
    between, within = local.pencil(MFA(), copies)
    fitted = ssdr_mfa(gamma, n_components=2, **RIDGE).fit(data.X, data.y)
    assert_solves(fitted, data, -(within + gamma * data.graph) / (1 + gamma), between + 0.3 * I, sense=-1)
    between, within = local.pencil(LFDA(), copies)
    fitted = ssdr_lfda(gamma, n_components=2).fit(data.X, data.y)
    assert_solves(fitted, data, -(within + gamma * data.graph) / (1 + gamma), between, sense=-1, tolerance=1e-7)
    objective, _ = local.pencil(DNE(), copies)
    fitted = ssdr_dne(gamma, n_components=2).fit(data.X, data.y)
    assert_solves(fitted, data, (objective - gamma * data.graph) / (1 + gamma), I, sense=-1)


@pytest.mark.parametrize("gamma", [0.1, 2.0])
def test_the_same_pairs_with_what_neighbours_share(gamma):
    """max tr P'(gamma X'HWHX - Xl'L_c Xl)P under the same constraints."""
    data = Partly("tall", single=True)
    copies, shared, options = local.Copies(data.Xl, data.Yl), data.of_olpp("proximity"), {"objective": "proximity"}
    between, within = local.pencil(MFA(), copies)
    fitted = ssdr_mfa(gamma, n_components=2, **options, **RIDGE).fit(data.X, data.y)
    assert_solves(fitted, data, (gamma * shared - within) / (1 + gamma), between + 0.3 * np.eye(9))
    between, within = local.pencil(LFDA(), copies)
    fitted = ssdr_lfda(gamma, n_components=2, **options).fit(data.X, data.y)
    assert_solves(fitted, data, (gamma * shared - within) / (1 + gamma), between, tolerance=1e-7)
    objective, _ = local.pencil(DNE(), copies)
    fitted = ssdr_dne(gamma, n_components=2, **options).fit(data.X, data.y)
    assert_solves(fitted, data, (objective + gamma * shared) / (1 + gamma), np.eye(9))


@pytest.mark.parametrize("gamma", [0.1, 1.0])
@on_shapes
def test_donpp_with_onpp_is_its_formula(gamma, shape):
    data = Partly(shape, single=True)
    objective, _ = local.pencil(DONPP(n_neighbors=3), local.Copies(data.Xl, data.Yl))
    M = preserving.residual_matrix(preserving.reconstruction(data.X, 5))
    A = (objective - gamma * data.X.T @ M @ data.X) / (1 + gamma)
    fitted = ssdr_donpp(gamma, DONPP(n_neighbors=3), n_components=3).fit(data.X, data.y)
    assert_solves(fitted, data, A, np.eye(len(A)), sense=-1)


@on_shapes
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_ssmope_is_olpp_and_mope(objective, shape):
    data = Partly(shape, single=False)
    for member in (MOPE("labels", similarity="and"), MOPE()):
        fitted = SSMOPE(member, objective=objective, mix=0.3, n_components=3).fit(data.X, data.Y)
        pair = SSDR(member, OLPP(objective=objective), mix=0.3, n_components=3)
        assert_same_embedding(fitted, pair.fit(data.X, data.Y), data.X)
    G = mope.similarity_of_sets("dice", data.Yl)
    Xl = data.Xl - data.Xl.mean(axis=0)
    A = 0.7 * Xl.T @ G @ Xl + 0.3 * data.of_olpp(objective)
    named = [{"objective": objective}, *([{}] if objective == "proximity" else [])]  # which is what None stands for
    for options in named:
        fitted = SSMOPE(MOPE("labels", similarity="dice"), mix=0.3, n_components=3, **options)
        assert_solves(fitted.fit(data.X, data.Y), data, A, np.eye(len(A)))


def test_several_labels_a_row_through_copies():
    """MESD of a semi-supervised method is the combination with MESD of its supervised part."""
    data = Partly("tall", single=False)
    for weighting in ("none", "mimj"):
        one = MESD(SELF(beta=0.4), weighting=weighting, n_components=3).fit(data.X, data.Y)
        member = MESD(LFDA(), weighting=weighting)
        other = SSDR(member, PCA(), mix=0.4, constraint="mixed", n_components=3).fit(data.X, data.Y)
        assert_same_embedding(one, other, data.X)
    one_hot = Partly("tall", single=True)
    for method in (SELF(), SSFDA(), SSMMC()):
        alone = clone(method).set_params(n_components=2).fit(one_hot.X, one_hot.y)
        assert_same_embedding(MESD(method, n_components=2).fit(one_hot.X, one_hot.Y), alone, one_hot.X)
