"""SSDR and the named semi-supervised methods: both ends of the mix, the dense formulas in between, and controls."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from designs import each_value, pairwise
from identities.comparison import DIFFERENT, IDENTITY, assert_same_embedding, gram_distance, span_distance
from identities.partly_labelled import OBJECTIVES, RIDGE, SHAPES, Partly, assert_solves, on_shapes
from oracles import dense, local, preserving
from proxembed import (
    CCA,
    DNE,
    DONPP,
    FDA,
    HSL,
    LFDA,
    LLE,
    LPP,
    LSI,
    MDDM,
    MESD,
    MFA,
    MLSI,
    MMC,
    MOPE,
    MORP,
    MVMD,
    NPP,
    OLPP,
    ONPP,
    OPLS,
    PCA,
    PLS,
    SFEHS,
    SSDR,
    ClassicalMDS,
    Isomap,
    Kernelized,
    LaplacianEigenmaps,
)

# ---------------------------------------------------------------------------------------------------------- the ends

SUPERVISED = [
    MESD(FDA()),
    MESD(FDA(**RIDGE)),
    MESD(MMC()),
    MESD(LFDA(ridge=0.1)),
    MESD(MFA()),
    MESD(DNE()),
    MESD(DONPP()),
    CCA(),
    OPLS(ridge=0.2),
    PLS(),
    MDDM(metric="features", mix=0.4),
    HSL(),
    SFEHS(),
    MVMD(),
    MORP(),
    MLSI(form="ratio"),
    MOPE(),
    MOPE("labels", weights="gaussian", objective="laplacian", n_components=3),
]
UNSUPERVISED = [PCA(), LSI(), LPP(), LPP(center=False, ridge=0.1), OLPP(), NPP(ridge=0.1), ONPP()]


def name(method) -> str:
    return repr(method).replace("\n", "").replace(" ", "")


@each_value
@on_shapes
@pytest.mark.parametrize("supervised", SUPERVISED, ids=name)
def test_without_share_of_the_unsupervised_method_the_supervised_one_is_left(supervised, shape):
    data = Partly(shape, single=False)
    alone = clone(supervised).fit(data.Xl, data.Yl)
    for unsupervised in (OLPP(), PCA(), LLE()):
        mixed = SSDR(supervised, unsupervised, mix=0.0, constraint="mixed").fit(data.X, data.Y)
        assert_same_embedding(mixed, alone, data.X, 1e-6 if isinstance(supervised, MORP) else IDENTITY)
        np.testing.assert_allclose(mixed.mean_, alone.mean_, rtol=0, atol=1e-12)
        np.testing.assert_allclose(mixed.ridge_, alone.ridge_, rtol=1e-9)


@each_value
@on_shapes
@pytest.mark.parametrize("unsupervised", UNSUPERVISED, ids=name)
def test_with_the_whole_share_the_unsupervised_method_is_left(unsupervised, shape):
    data = Partly(shape, single=False)
    alone = clone(unsupervised).fit(data.X)
    for supervised in (MESD(FDA()), MDDM(), CCA(**RIDGE)):
        mixed = SSDR(supervised, unsupervised, mix=1.0, constraint="mixed").fit(data.X, data.Y)
        assert_same_embedding(mixed, alone, data.X)
        np.testing.assert_allclose(mixed.mean_, alone.mean_, rtol=0, atol=1e-12)


PLACED = [
    (LaplacianEigenmaps(), LPP()),
    (LaplacianEigenmaps(n_neighbors=8, weights="constant"), LPP(n_neighbors=8, weights="constant")),
    (LaplacianEigenmaps(normalization="none"), LPP(constraint="gram")),
    (LLE(), NPP()),
]


@on_shapes
@pytest.mark.parametrize(("placed", "linear"), PLACED, ids=name)
def test_a_method_that_places_rows_takes_part_by_its_linear_form(placed, linear, shape):
    data = Partly(shape, single=False)
    for mix in (0.3, 1.0):
        one, other = (SSDR(MDDM(), U, mix=mix, constraint="mixed", n_components=2) for U in (placed, linear))
        assert_same_embedding(one.fit(data.X, data.Y), other.fit(data.X, data.Y), data.X)


def test_isomap_takes_part_by_its_doubly_centred_paths():
    data = Partly("tall", single=False)
    complete = Isomap(n_neighbors=59)  # every pair is linked, so that paths are distances: A = Xc Xc'
    fitted = SSDR(MDDM(), complete, mix=0.2, n_components=3).fit(data.X, data.Y)
    S = dense.mddm(data.Xl, data.Yl).Ap
    scatter = data.Xc.T @ data.Xc
    assert_solves(fitted, data, 0.2 * scatter @ scatter + 0.8 * S, np.eye(9))
    scaled = SSDR(MDDM(), ClassicalMDS(), mix=0.2, n_components=3).fit(data.X, data.Y)
    assert_same_embedding(fitted, scaled, data.X)


@on_shapes
@pytest.mark.parametrize("supervised", [MESD(FDA()), MESD(LFDA()), OPLS(), CCA(), HSL()], ids=name)
def test_ends_under_orthonormal_projections(supervised, shape):
    """Under P'P = I the ends are the leading eigenvectors of either objective matrix, whatever the constraints."""
    data = Partly(shape, single=False)
    ends = [SSDR(supervised, LPP(), mix=mix, n_components=3).fit(data.X, data.Y) for mix in (0.0, 1.0)]
    pencils = {"OPLS": dense.opls, "CCA": dense.cca, "HSL": dense.hsl}
    if type(supervised).__name__ in pencils:
        A = pencils[type(supervised).__name__](data.Xl, data.Yl).Ap
    elif isinstance(supervised.method, FDA):
        A = dense.mesd_fda(data.Xl, data.Yl).Ap
    else:
        A, _ = local.pencil(LFDA(), local.Copies(data.Xl, data.Yl))
    P, w = dense.dense_solve(A, np.eye(len(A)), data.Xl - ends[0].mean_, 3)
    np.testing.assert_allclose(ends[0].eigenvalues_, w, rtol=0, atol=IDENTITY * w[0])
    assert span_distance(ends[0].components_.T, P) < IDENTITY
    assert_solves(ends[1], data, -data.graph, np.eye(len(A)), sense=-1)
    for end in ends:
        np.testing.assert_allclose(end.components_ @ end.components_.T, np.eye(3), rtol=0, atol=IDENTITY)


# ------------------------------------------------------------------------------------------------ the formulas between


@pairwise
@on_shapes
@pytest.mark.parametrize("mix", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_mixture_with_olpp_is_its_formula(objective, mix, shape):
    """(44) and (45) in dense arrays: OLPP contributes HWH, or W - D, as a member and where none is given."""
    data, d = Partly(shape, single=False), SHAPES[shape][1]
    F, I = dense.mesd_fda(data.Xl, data.Yl), np.eye(d)  # noqa: E741
    A = (1 - mix) * F.Ap + mix * data.of_olpp(objective)

    def fitted(supervised, constraint, **options):
        model = SSDR(supervised, mix=mix, constraint=constraint, n_components=2, **options)
        return model.fit(data.X, data.Y)

    assert_solves(fitted(None, "projection", objective=objective), data, A, I)
    given = {"unsupervised": OLPP(objective=objective)}
    assert_solves(fitted(MESD(FDA(ridge=0.0)), "mixed", **given), data, A, mix * I + (1 - mix) * F.Bp)
    assert_solves(fitted(MESD(FDA(**RIDGE)), "supervised", **given), data, A, F.Bp + 0.3 * I)


def test_neighbours_share_where_no_objective_is_named():
    data = Partly("tall", single=False)
    fitted = SSDR(MESD(FDA()), n_components=2).fit(data.X, data.Y)
    A = 0.5 * dense.mesd_fda(data.Xl, data.Yl).Ap + 0.5 * data.of_olpp("proximity")
    assert_solves(fitted, data, A, np.eye(9))


@on_shapes
@pytest.mark.parametrize("mix", [0.1, 0.5, 0.9])
def test_the_mixture_is_its_formula(mix, shape):
    """(44) and (45) in dense arrays, with the constraints of PCA and of LPP."""
    data, I = Partly(shape, single=False), np.eye(SHAPES[shape][1])  # noqa: E741
    M, O = dense.mddm(data.Xl, data.Yl), dense.opls(data.Xl, data.Yl, 0.3)  # noqa: E741
    scatter, lpp = data.Xc.T @ data.Xc, preserving.lpp(data.X, data.W)

    def fitted(supervised, unsupervised, constraint):
        return SSDR(supervised, unsupervised, mix=mix, constraint=constraint, n_components=2).fit(data.X, data.Y)

    A = (1 - mix) * M.Ap + mix * scatter
    assert_solves(fitted(MDDM(), PCA(), "mixed"), data, A, I)
    A = (1 - mix) * O.Ap - mix * data.graph
    assert_solves(fitted(OPLS(**RIDGE), LPP(), "mixed"), data, A, (1 - mix) * O.Bp + mix * lpp.Bp)


@on_shapes
@pytest.mark.parametrize("balance", ["trace", "spectral"])
def test_balanced_terms_are_divided_by_their_size(balance, shape):
    data, mix = Partly(shape, single=False), 0.4
    O, scatter = dense.opls(data.Xl, data.Yl, 0.0), data.Xc.T @ data.Xc  # noqa: E741
    I = np.eye(len(scatter))  # noqa: E741

    def size(M):
        return abs(np.trace(M)) if balance == "trace" else np.abs(np.linalg.eigvalsh(M)).max()

    A = (1 - mix) * O.Ap / size(O.Ap) + mix * scatter / size(scatter)
    plain = SSDR(OPLS(ridge=0.0), PCA(), mix=mix, balance=balance, n_components=3).fit(data.X, data.Y)
    assert_solves(plain, data, A, I)
    size_of_identity = min(data.Xc.shape) if balance == "trace" else 1.0
    B = (1 - mix) * O.Bp / size(O.Bp) + mix * I / size_of_identity
    mixed = SSDR(OPLS(ridge=0.0), PCA(), mix=mix, balance=balance, constraint="mixed", n_components=3)
    assert_solves(mixed.fit(data.X, data.Y), data, A, B)
    ridge = 0.5
    B = (1 - mix) * (O.Bp + ridge * I) / size(O.Bp) + mix * I / size_of_identity
    inner = OPLS(ridge=ridge, ridge_scale="absolute")
    assert_solves(mixed.set_params(supervised=inner).fit(data.X, data.Y), data, A, B)


def test_fully_labelled_rows_are_all_labelled():
    data = Partly("tall", single=False)
    F = dense.mesd_fda(data.X, data.full)
    fitted = SSDR(MESD(FDA()), OLPP(), mix=0.3, n_components=3).fit(data.X, data.full)
    assert_solves(fitted, data, 0.7 * F.Ap + 0.3 * data.of_olpp("proximity"), np.eye(9))


@on_shapes
def test_two_kernel_members_are_one_kernel_map(shape):
    """With a linear kernel the pair is the pair on X itself; with a Gaussian one both meet in one Gram matrix."""
    data = Partly(shape, single=False)
    k = {"n_components": 3, "mix": 0.2, "constraint": "mixed"}
    linear = SSDR(Kernelized(OPLS(**RIDGE), kernel="linear"), Kernelized(PCA(), kernel="linear"), **k)
    assert_same_embedding(linear.fit(data.X, data.Y), SSDR(OPLS(**RIDGE), PCA(), **k).fit(data.X, data.Y), data.X)
    tau = 30.0
    K = np.exp(-(preserving.distances(data.X) ** 2) / tau)
    w, U = np.linalg.eigh(K)
    T = (U * np.sqrt(np.maximum(w, 0)))[:, w > 1e-10 * w[-1]]
    pair = SSDR(Kernelized(OPLS(**RIDGE), tau=tau), Kernelized(PCA(), tau=tau), **k).fit(data.X, data.Y)
    mapped = SSDR(OPLS(**RIDGE), PCA(), **k).fit(T, data.Y)
    assert gram_distance(pair.transform(data.X), mapped.transform(T)) < 1e-6


# ------------------------------------------------------------------------------------------------- negative controls


def embedded(data: Partly, **options) -> np.ndarray:
    fitted = SSDR(MESD(FDA(**RIDGE)), OLPP(), n_components=2, **options).fit(data.X, data.Y)
    Z = fitted.transform(data.X)
    return Z - Z.mean(axis=0)


def test_between_the_ends_neither_member_is_met():
    data = Partly("tall", single=False)
    middle = embedded(data, mix=0.5, constraint="mixed")
    for mix in (0.0, 1.0):
        assert gram_distance(middle, embedded(data, mix=mix, constraint="mixed")) > DIFFERENT


def test_constraints_and_balances_differ():
    data = Partly("tall", single=False)
    kinds = [embedded(data, constraint=c) for c in ("mixed", "projection", "supervised")]
    kinds += [embedded(data, balance=b) for b in ("trace", "spectral")]
    for i, one in enumerate(kinds):
        assert all(gram_distance(one, other) > DIFFERENT for other in kinds[:i])


def test_unlabelled_rows_count_and_are_not_rows_without_labels():
    data = Partly("tall", single=False)
    fitted = SSDR(MESD(FDA(**RIDGE)), OLPP(), n_components=2).fit(data.X, data.Y)
    without = SSDR(MESD(FDA(**RIDGE)), OLPP(), n_components=2).fit(data.Xl, data.Yl)
    assert span_distance(fitted.components_.T, without.components_.T) > DIFFERENT
    for method in (MDDM(), MOPE()):
        unknown, none = (SSDR(method, PCA(), n_components=2).fit(data.X, Y) for Y in (data.Y, np.nan_to_num(data.Y)))
        assert span_distance(unknown.components_.T, none.components_.T) > DIFFERENT / 10


def test_a_minimisation_enters_with_its_sign():
    """With + L in place of - L the formula is missed: the sense of the unsupervised member is what the test sees."""
    data = Partly("tall", single=False)
    F = dense.mesd_fda(data.Xl, data.Yl)
    fitted = SSDR(MESD(FDA()), OLPP(objective="laplacian"), mix=0.5, n_components=2).fit(data.X, data.Y)
    P, _ = dense.dense_solve(0.5 * F.Ap + 0.5 * data.graph, np.eye(9), data.Xc, 2)
    assert span_distance(fitted.components_.T, P) > DIFFERENT


def test_two_kernels_by_themselves_are_not_one():
    """Control of the common lift: the map learned from the labelled rows alone gives another embedding."""
    data = Partly("tall", single=False)
    pair = SSDR(Kernelized(OPLS(**RIDGE), tau=30.0), Kernelized(PCA(), tau=30.0), mix=0.0, constraint="mixed")
    alone = Kernelized(OPLS(**RIDGE), tau=30.0).fit(data.Xl, data.Yl)
    # at mix=0 the objective sees labelled rows only, and so do the coordinates that it can reach
    assert gram_distance(pair.fit(data.X, data.Y).transform(data.Xl), alone.transform(data.Xl)) < 1e-6
    blend = SSDR(Kernelized(OPLS(**RIDGE), tau=30.0), Kernelized(PCA(), tau=30.0), mix=0.5, constraint="mixed")
    assert gram_distance(blend.fit(data.X, data.Y).transform(data.Xl), alone.transform(data.Xl)) > DIFFERENT
