"""Weights of rows: whole ones are repeats, zero is absence, and the oracle of leave-one-out with fractions."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.linalg import eigh
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from designs import WHOLE
from proxembed import (
    CCA,
    DLA,
    DMLDA,
    DNE,
    DONPP,
    FDA,
    HSL,
    LFDA,
    LPP,
    LSI,
    MDDM,
    MESD,
    MFA,
    MLDA,
    MLLS,
    MLSI,
    MMC,
    MOPE,
    MORP,
    MVMD,
    NPP,
    OLPP,
    OLPPR,
    ONPP,
    ONPPR,
    OPLS,
    PCA,
    PLS,
    SELF,
    SFEHS,
    SLVM,
    SONPP,
    SSDR,
    SSFDA,
    SSMMC,
    SSMOPE,
    CopyLDA,
    ForestLeaves,
    Isomap,
    Kernelized,
    LaplacianEigenmaps,
    PCovR,
    ReadoutAxes,
    Scaled,
    Sliced,
    Views,
    ssdr_mfa,
)
from proxembed.algebra.arrays.matrix import equal_rows
from proxembed.algebra.pencil.linear import RIDGE_GRID
from proxembed.blocks import RowBlocks
from proxembed.estimator.rows import Rows
from proxembed.features.scaling import scaling_fit
from proxembed.methods import views
from proxembed.methods.semisupervised import PartlyLabelled
from proxembed.proximity.reconstruction import reconstruction_weights
from proxembed.targets.labels import LabelMatrix

N = 22
RNG = np.random.default_rng(3)
W = RNG.integers(0, 4, N)
WIDE = RNG.standard_normal((N, 40)) + 2.0
TALL = WIDE[:, :6]
SPARSE = sparse.csr_array(np.where(RNG.random(WIDE.shape) < 0.5, WIDE, 0.0))
LABELS = (RNG.random((N, 3)) < 0.45).astype(int)
CLASSES = np.arange(N) % 3
NUMBERS = np.exp(TALL[:, :2] + RNG.standard_normal((N, 2)))
COPIES = np.repeat(np.arange(N), W)
SHUFFLED = np.random.default_rng(0).permutation(COPIES)

WITHOUT = [PCA(n_components=3, whiten=True), LSI(n_components=3)]
OF_CLASSES = [FDA(ridge=0.1, constraint="within"), FDA(), MMC()]
OF_LABELS = [
    CopyLDA(),
    MLDA(ridge=0.1),
    MLDA(correlation=False),
    DMLDA(weights="mlda", n_components=3),
    MDDM(label_kernel="rbf"),
    SFEHS(label_kernel="rbf"),
    HSL("clique", self_loops=False, ridge=0.1, n_components=2),
    HSL("star", center=False),
    MESD(),
    MESD(FDA(ridge=0.1), weighting="mimj"),
    MESD(MMC(), weighting="printed"),
    MESD(LFDA(affinity="constant", ridge=0.1), weighting="printed"),
    MOPE("labels", ridge=0.1, objective="normalized", n_components=2),
    MOPE("latent", ridge=0.1, constraint="embedding", n_components=2),
]
OF_BOTH = [
    CCA(ridge=0.1, ridge_y=0.1),
    CCA(),
    PLS(),
    PLS(n_components=4, deflation="simpls"),
    PLS(n_components=4, deflation="nipals"),
    OPLS(),
    OPLS(ridge=0.1, extend=True, n_components=5),
    MDDM(metric="features"),
    SFEHS(),
    MVMD(n_components=3, balance="trace"),
    MORP(n_components=3),
    MLSI(n_components=3),
    MLSI(form="ratio", center=True, n_components=3),
    MLLS(),
    PCovR(n_components=2, ridge=0.1),
]
CASES = [
    *((method, None) for method in WITHOUT),
    *((method, CLASSES) for method in OF_CLASSES),
    *((method, LABELS) for method in OF_LABELS),
    (MESD(), LABELS[:, :1]),
    (Sliced(FDA(ridge=0.1)), NUMBERS[:, 0]),
    *((method, y) for method in OF_BOTH for y in (LABELS, NUMBERS)),
]


def learned(model, X):
    """What a fit gives, up to the signs of components."""
    Z = model.transform(X)
    found = [np.abs(Z), model.eigenvalues_, model.mean_, np.atleast_1d(getattr(model, "ridge_", 0.0))]
    found += [np.abs(getattr(model, "label_loadings_", Z))]
    if hasattr(model, "coef_"):
        found += [model.coef_, model.intercept_]
    return found


def assert_alike(model, other, X):
    for own, same in zip(learned(model, X), learned(other, X), strict=True):
        np.testing.assert_allclose(own, same, rtol=1e-9, atol=1e-9 * np.abs(same).max())


def weighted_and_repeated(method, X, y=None, copies=COPIES):
    """A fit with weights, and one of every row as often as it counts."""
    return clone(method).fit(X, y, sample_weight=W), clone(method).fit(X[copies], None if y is None else y[copies])


def assert_same_places(weighted, repeated, X, atol, loadings=None):
    """The same embedding, and label loadings up to ``loadings``; but for signs."""
    Z = np.abs(repeated.transform(X))
    np.testing.assert_allclose(np.abs(weighted.transform(X)), Z, atol=atol * Z.max())
    if loadings is not None:
        np.testing.assert_allclose(np.abs(weighted.label_loadings_), np.abs(repeated.label_loadings_), atol=loadings)


def with_holes():
    """Labels with unknown cells in all columns but the first."""
    unknown = np.where(RNG.random(LABELS.shape) < 0.2, np.nan, LABELS)
    unknown[:, 0] = LABELS[:, 0]
    return unknown


@pytest.mark.parametrize("turn", range(3))
def test_whole_weights_are_repeats_and_zero_is_absence(turn):
    X = (TALL, WIDE, SPARSE)[turn]
    for method, y in CASES if WHOLE else CASES[turn::6]:
        assert_alike(*weighted_and_repeated(method, X, y, SHUFFLED), X)


@pytest.mark.parametrize(
    "method, y",
    [
        (Kernelized(OPLS(ridge=0.1), tau=20.0), NUMBERS),
        (Kernelized(FDA(ridge=0.1), tau=20.0), CLASSES),
        (Kernelized(PCA(n_components=2), tau=20.0), None),
        (Kernelized(MLLS(), kernel="linear"), LABELS),
        (Kernelized(MESD(FDA(ridge=0.1), weighting="printed"), tau=20.0), LABELS),
    ],
)
def test_kernels_of_weighted_rows_are_those_of_repeats(method, y, monkeypatch):
    Z, merged = (model.transform(WIDE) for model in weighted_and_repeated(method, WIDE, y))
    monkeypatch.setattr(Kernelized, "merges_rows", False)
    repeated = clone(method).fit(WIDE[COPIES], None if y is None else y[COPIES]).transform(WIDE)
    for other in (merged, repeated):
        np.testing.assert_allclose(Z @ Z.T, other @ other.T, atol=1e-7 * np.abs(Z @ Z.T).max())


def test_kernels_are_chosen_on_distinct_rows():
    for method in (Kernelized(), Kernelized(n_prototypes=8, random_state=0), Kernelized(constraint="coef")):
        weighted, repeated = weighted_and_repeated(method, TALL, LABELS)
        assert (weighted.tau_, weighted.ridge_) == pytest.approx((repeated.tau_, repeated.ridge_), rel=1e-9)
        np.testing.assert_allclose(weighted.transform(TALL), repeated.transform(TALL), atol=1e-9)


@pytest.mark.parametrize("method", [LPP(n_components=2, ridge=0.1), OLPP(n_components=2), NPP(n_components=2), ONPP()])
def test_graphs_of_weighted_rows_are_those_of_distinct_rows(method):
    assert_alike(*weighted_and_repeated(method, WIDE, None, SHUFFLED), WIDE)
    with pytest.raises(ValueError, match="OLPP takes no sample_weight: its graph holds all rows"):
        OLPP(graph="full").fit(WIDE, sample_weight=W)


def test_forests_count_rows_by_their_weights(monkeypatch):
    many, unknown = (RNG.random((N, 55)) < 0.4).astype(int), with_holes()
    settings = {"n_estimators": 12, "n_components": 1}
    cases: list = [({}, LABELS), ({"rows": "oob"}, CLASSES), ({"ridge": "folds"}, NUMBERS), ({}, many), ({}, unknown)]
    cases += [({"method": method}, LABELS) for method in (MLDA(ridge=0.1), MDDM(), MESD(FDA(), weighting="printed"))]
    cases += [({"ridge": "folds", "match_scale": True, "rows": "oob", "n_estimators": 3}, NUMBERS)]
    for own, y in cases:
        weighted, repeated = weighted_and_repeated(ForestLeaves(**settings | own), TALL, y)
        new = np.vstack([TALL, TALL + 0.1])
        assert_alike(weighted, repeated, new)
        assert weighted.scale_ == pytest.approx(repeated.scale_, rel=1e-9)
        if "ridge" not in own:
            with monkeypatch.context() as patch:
                patch.setattr(ForestLeaves, "merges_rows", False)
                apart = ForestLeaves(**settings | own).fit(TALL[COPIES], y[COPIES])
            assert_alike(weighted, apart, TALL[W > 0])
    with pytest.raises(ValueError, match="ForestLeaves takes no sample_weight: .*; use OPLS"):
        ForestLeaves(NPP()).fit(TALL, LABELS, sample_weight=W)


def test_scalings_count_rows_by_their_weights():
    counts = np.floor(np.abs(TALL))
    cases: list = [(Scaled(PCA(n_components=2), "center"), X, None) for X in (TALL, WIDE)]
    cases += [(Scaled(OPLS(n_components=2), pca_var=0.8), X, NUMBERS) for X in (TALL, SPARSE)]
    cases += [(Scaled(OPLS(n_components=2), "whiten"), X, LABELS) for X in (TALL, WIDE)]
    cases += [(Scaled(OPLS(n_components=2), "quantile"), X, LABELS) for X in (TALL, SPARSE)]
    cases += [(Scaled(kind="pca"), SPARSE, LABELS), (Scaled(kind="tfidf"), counts, LABELS)]
    cases += [(Scaled(OLPP(n_components=2)), TALL, None), (Scaled(ForestLeaves(n_estimators=5)), TALL, CLASSES)]
    for method, X, y in cases:
        weighted, repeated = weighted_and_repeated(method, X, y)
        assert_same_places(weighted, repeated, X if y is not CLASSES else X[W > 0], 1e-8)
        for own, same in zip(weighted.explain().features, repeated.explain().features, strict=True):
            assert own[0] == same[0] and abs(own[1]) == pytest.approx(abs(same[1]), rel=1e-7)
        if y is NUMBERS:
            assert weighted.targets_[0].mean == pytest.approx(NUMBERS[COPIES, 0].mean(), rel=1e-12)
    for method in (Scaled(kind=lambda X: scaling_fit("none", X)), Scaled(Isomap())):
        with pytest.raises(ValueError, match="takes no sample_weight"):
            method.fit(TALL, LABELS, sample_weight=W)


def test_readouts_count_rows_by_their_weights():
    unknown = np.where(RNG.random(LABELS.shape) < 0.2, np.nan, LABELS)
    unknown[0] = np.nan
    cases: list = [(OPLS(), TALL, LABELS), (OPLS(ridge=0.1), WIDE, unknown), (CCA(ridge=0.1), TALL, NUMBERS)]
    for method, X, y in [*cases, (Kernelized(tau=20.0, ridge=0.1), SPARSE, CLASSES)]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            weighted, repeated = weighted_and_repeated(ReadoutAxes(method), X, y)
        assert_same_places(weighted, repeated, X, 1e-7, loadings=1e-7)


OF_LINKS = [
    (LFDA(ridge=0.1, n_components=2), CLASSES),
    (LFDA(ridge=0.1, n_components=2, scope="global", n_links=3), CLASSES),
    (MFA(n_components=2), CLASSES),
    (MFA(n_components=2, pairs="point", weights="gaussian"), CLASSES),
    (MFA(n_components=2), NUMBERS),
    (DLA(n_components=2), CLASSES),
    (DNE(n_components=2, scope="class", weights="gaussian"), CLASSES),
    (OLPPR(n_components=2, balance="trace"), CLASSES),
    (SONPP(n_components=2), CLASSES),
    (SONPP(n_components=2, n_neighbors=None), CLASSES),
    (DONPP(n_components=2), CLASSES),
    (ONPPR(n_components=2), CLASSES),
    (MESD(LFDA(), ridge=0.1, weighting="printed", constraint="embedding"), LABELS),
    (MESD(MFA(), weighting="mimj", n_components=2), LABELS),
    (Kernelized(MESD(LFDA(ridge=0.1)), tau=20.0, n_components=2), LABELS),
]


SOME = np.arange(N) % 4 == 1
PARTLY = np.where(SOME, np.nan, CLASSES)
PARTLY_LABELS, PARTLY_NUMBERS = (np.where(SOME[:, None], np.nan, y) for y in (LABELS, NUMBERS))
KERNELS = [Kernelized(method, tau=20.0) for method in (FDA(ridge=0.1), PCA())]
OF_SOME = [
    (SELF(n_components=2, ridge=0.1), PARTLY),
    (SELF(n_components=2, ridge=0.1, base="lpp"), PARTLY),
    (SSFDA(), PARTLY),
    (SSMMC(n_components=2), PARTLY),
    (MESD(SSFDA()), PARTLY_LABELS),
    (SSMOPE(n_components=2), PARTLY_LABELS),
    (SSDR(OPLS(), LPP(), n_components=2, constraint="mixed"), PARTLY_LABELS),
    (SSDR(OPLS(ridge=0.1, unknown="mean"), OLPP(), n_components=2, constraint="mixed"), PARTLY_NUMBERS),
    (ssdr_mfa(n_components=2), PARTLY),
]
OF_SOME_SUMS = [
    (SSFDA(graph_weight=0.0), PARTLY),
    (SSDR(FDA(ridge=0.1), PCA(), n_components=2, balance="trace", constraint="mixed"), PARTLY),
    (SSDR(MESD(FDA()), PCA(), n_components=2, balance="spectral"), PARTLY_LABELS),
    (SSDR(*KERNELS, n_components=2, constraint="mixed"), PARTLY),
]


def test_latent_places_of_weighted_rows_are_those_of_repeats():
    cases: list = [({}, TALL, LABELS), ({"center": True}, WIDE, NUMBERS), ({"ridge": 0.1}, SPARSE, with_holes())]
    for own, X, y in [*cases, ({"ridge": 0.1, "scaling": "unit"}, TALL, LABELS)]:
        weighted, repeated = weighted_and_repeated(SLVM(n_components=2, **own), X, y, SHUFFLED)
        assert weighted.ridge_ == pytest.approx(repeated.ridge_, rel=1e-9)
        np.testing.assert_allclose(weighted.eigenvalues_, repeated.eigenvalues_, rtol=1e-9)
        new, kept = X + X, X[W > 0]
        for place in (lambda model, at=kept: model.transform(at), lambda model, at=new: model.transform(at)):
            one, other = np.abs(place(weighted)), np.abs(place(repeated))
            np.testing.assert_allclose(one, other, atol=1e-8 * other.max())
        loadings = np.abs(repeated.label_loadings_)
        np.testing.assert_allclose(np.abs(weighted.label_loadings_), loadings, atol=1e-8)


@pytest.mark.parametrize("own", [{}, {"normalization": "symmetric"}, {"weights": "reconstruction", "n_neighbors": 4}])
def test_maps_of_weighted_rows_are_those_of_repeats(own):
    copies = np.random.default_rng(0).permutation(np.repeat(np.arange(N), W))
    weighted = LaplacianEigenmaps(**own).fit(TALL, sample_weight=W)
    repeated = LaplacianEigenmaps(**own).fit(TALL[copies])
    np.testing.assert_allclose(weighted.eigenvalues_, repeated.eigenvalues_, rtol=1e-9, atol=1e-12)
    order = np.searchsorted(np.flatnonzero(W), copies)
    Z = repeated.embedding_
    np.testing.assert_allclose(np.abs(weighted.embedding_[order]), np.abs(Z), atol=1e-9 * np.abs(Z).max())
    if own.get("weights") is None:
        new = np.abs(repeated.transform(TALL + 0.1))
        np.testing.assert_allclose(np.abs(weighted.transform(TALL + 0.1)), new, atol=1e-9 * new.max())
    with pytest.raises(ValueError, match="LaplacianEigenmaps takes no sample_weight: its graph holds all rows"):
        LaplacianEigenmaps(graph="full").fit(TALL, sample_weight=W)


def test_rows_with_and_without_labels_count_by_their_weights(monkeypatch):
    for method, y in (OF_SOME if WHOLE else OF_SOME[1::2]) + OF_SOME_SUMS:
        if method is OF_SOME_SUMS[0][0]:
            monkeypatch.setattr(PartlyLabelled, "merges_rows", False)
        weighted, repeated = weighted_and_repeated(method, TALL, y, SHUFFLED)
        assert_same_places(weighted, repeated, TALL, 1e-9, loadings=1e-9)
        assert weighted.ridge_ == pytest.approx(repeated.ridge_, rel=1e-9)
        if y is PARTLY_NUMBERS:
            assert weighted.targets_[0].mean == pytest.approx(np.nanmean(y[COPIES, 0]), rel=1e-12)
            np.testing.assert_allclose(weighted._readout_.products**2, repeated._readout_.products**2, rtol=1e-7)
    message = "SSDR takes no sample_weight: Isomap takes none: it links pairs of rows"
    with pytest.raises(ValueError, match=message):
        SSDR(FDA(), Isomap()).fit(TALL, PARTLY, sample_weight=W)


def test_links_inside_classes_and_between_them_are_those_of_distinct_rows():
    for method, y in OF_LINKS if WHOLE else OF_LINKS[::2]:
        assert_same_places(*weighted_and_repeated(method, TALL, y, SHUFFLED), TALL, 1e-9, loadings=1e-9)
    with pytest.raises(ValueError, match="LFDA takes no sample_weight: weights of all pairs of rows are given"):
        LFDA(affinity=np.eye(N)).fit(TALL, CLASSES, sample_weight=W)


def test_links_count_as_often_as_both_of_their_rows():
    """Against the links of distinct rows, written out for all copies."""
    kept = np.flatnonzero(W)
    copies, rows = np.repeat(np.arange(len(kept)), W[kept]), Rows(TALL[kept], LabelMatrix.of(CLASSES[kept]))
    X, c = TALL[kept][copies], CLASSES[kept][copies]

    def spread(links):
        return spread_of(X, links.toarray()[np.ix_(copies, copies)])

    between, within = spread(rows.enemies(20, "class")), spread(rows.friends(5))
    within += 1e-6 * np.trace(within) / 6 * np.eye(6)
    mfa = MFA(n_components=2).fit(TALL, CLASSES, sample_weight=W)
    np.testing.assert_allclose(mfa.eigenvalues_, eigh(between, within)[0][::-1][:2], rtol=1e-9)
    patches = rows.friends(5, "directed") - 0.3 * rows.enemies(5, link="directed")
    dla = DLA(n_components=2).fit(TALL, CLASSES, sample_weight=W)
    np.testing.assert_allclose(dla.eigenvalues_, np.linalg.eigvalsh(spread(patches + patches.T))[:2], rtol=1e-9)
    errors = np.zeros((6, 6))
    for index, near in rows.class_neighbors(5):
        own = rows.X[index]
        left = own - np.einsum("ij,ijd->id", reconstruction_weights(own, near.index, reg=1e-3), own[near.index])
        errors += left.T @ (W[kept][index][:, None] * left)
    sonpp = SONPP(n_components=2).fit(TALL, CLASSES, sample_weight=W)
    np.testing.assert_allclose(sonpp.eigenvalues_, np.linalg.eigvalsh(errors)[:2], rtol=1e-9)
    affinity = np.zeros((len(X), len(X)))
    for k, (index, near) in enumerate(rows.class_neighbors(7)):
        scale, place = near.distance[:, -1], np.full(len(kept), -1)
        place[index] = np.arange(len(index))
        own = np.flatnonzero(c == k)
        at = place[copies[own]]
        gaps = np.sum((X[own][:, None] - X[own][None]) ** 2, axis=2)
        affinity[np.ix_(own, own)] = np.exp(-gaps / np.outer(scale[at], scale[at]))
    sizes = np.bincount(c)
    within = affinity / sizes[c]
    between = np.where(c[:, None] == c, affinity * (1 / len(X) - 1 / sizes[c]), 1 / len(X))
    B = spread_of(X, within)
    lfda = LFDA(n_components=2).fit(TALL, CLASSES, sample_weight=W)
    np.testing.assert_allclose(lfda.eigenvalues_, eigh(spread_of(X, between), B)[0][::-1][:2], rtol=1e-8)


def spread_of(X, L):
    return X.T @ (np.diag(L.sum(axis=1)) - L) @ X


def test_edges_count_as_often_as_both_of_their_rows():
    kept = np.flatnonzero(W)
    copies = np.repeat(kept, W[kept])
    links = OLPP(n_components=2)._weights(Rows(TALL[kept], None))[0].toarray()
    links = links[np.ix_(*[np.repeat(np.arange(len(kept)), W[kept])] * 2)]  # of copies, which do not link each other
    degree = links.sum(axis=0)
    centred = TALL[copies] - degree @ TALL[copies] / degree.sum()
    values = eigh(centred.T @ (np.diag(degree) - links) @ centred, centred.T @ (degree[:, None] * centred))[0]
    np.testing.assert_allclose(LPP(n_components=3).fit(TALL, sample_weight=W).eigenvalues_, values[:3], rtol=1e-9)
    about = TALL[copies] - TALL[copies].mean(axis=0)
    values = np.linalg.eigvalsh(about.T @ links @ about)[::-1]
    np.testing.assert_allclose(OLPP(n_components=3).fit(TALL, sample_weight=W).eigenvalues_, values[:3], rtol=1e-9)


def test_the_chosen_ridge_leaves_weighted_rows_out_whole():
    w = RNG.uniform(0.2, 3.0, N)
    X, y = WIDE, NUMBERS
    centred = X - w @ X / w.sum()
    unit = (w @ centred**2).sum() / min(w.sum(), X.shape[1])
    F = (y - w @ y / w.sum()) / np.sqrt(w @ (y - w @ y / w.sum()) ** 2 / w.sum())
    errors = np.zeros(len(RIDGE_GRID))
    for i in range(N):
        rest = np.arange(N) != i
        v, T = w[rest], F[rest]
        mean, level = v @ X[rest] / v.sum(), v @ T / v.sum()
        K = (X[rest] - mean) @ (X[rest] - mean).T
        for j, ridge in enumerate(RIDGE_GRID * unit):
            C = np.linalg.solve(v[:, None] * K + ridge * np.eye(N - 1), v[:, None] * (T - level))
            errors[j] += w[i] * np.sum((F[i] - level - (X[i] - mean) @ (X[rest] - mean).T @ C) ** 2)
    model = OPLS().fit(X, y, sample_weight=w)
    np.testing.assert_allclose(model.ridge_, RIDGE_GRID[np.argmin(errors)] * unit, rtol=1e-10)
    np.testing.assert_allclose([target.mean for target in model.targets_], w @ y / w.sum(), rtol=1e-12)


def test_equal_rows_of_an_unweighted_fit_are_left_out_together():
    three = np.repeat(np.arange(N), 3)
    y = RNG.standard_normal((N, 1))
    model = OPLS().fit(TALL[three], y[three])
    assert model.ridge_ == pytest.approx(3 * OPLS().fit(TALL, y).ridge_, rel=1e-10)
    apart = y[three] + 1e-9 * np.arange(3 * N)[:, None]
    assert OPLS().fit(TALL[three], apart).ridge_ < model.ridge_ / 2  # what is left out is known by its copies


def test_unknown_cells_are_at_weighted_means():
    y = np.where(RNG.random(LABELS.shape) < 0.2, np.nan, LABELS)
    y[0] = np.nan
    w = np.maximum(W, 1)
    copies, numbers = np.repeat(np.arange(N), w), np.where(np.isnan(y), np.nan, NUMBERS[:, [0, 1, 0]])
    one_of = np.where(y[:, 0] == 1, np.nan, CLASSES)
    means = OPLS(ridge=0.1, unknown="mean")
    for method, target in [(means, y), (means, numbers), (FDA(ridge=0.1), one_of)]:
        with pytest.warns(UserWarning, match="left out of fit"):
            weighted = clone(method).fit(TALL, target, sample_weight=w)
        with pytest.warns(UserWarning, match="left out of fit"):
            repeated = clone(method).fit(TALL[copies], target[copies])
        assert_alike(weighted, repeated, TALL)


def test_filled_cells_are_those_of_repeated_rows():
    w = np.maximum(W, 1)
    copies = np.random.default_rng(0).permutation(np.repeat(np.arange(N), w))
    numbers = NUMBERS[:, [0, 1, 0]] + [0.0, 10.0, 1.0]
    numbers[RNG.random(numbers.shape) < 0.25] = np.nan
    numbers[np.isnan(numbers).all(axis=1), 0] = 1.0
    labels = np.where(RNG.random(LABELS.shape) < 0.2, np.nan, LABELS)
    labels[np.isnan(labels).all(axis=1), 0] = 1.0
    mixed = pd.DataFrame({"size": numbers[:, 0], "kind": np.array(list("abc"), dtype=object)[CLASSES]})
    mixed.loc[[2, 5, 9], "kind"], mixed.loc[[2, 5, 9], "size"] = None, 1.0
    cases: list = [(OPLS(ridge=0.1), numbers), (OPLS(), numbers), (OPLS(unknown="fill"), labels), (OPLS(), mixed)]
    cases += [(MORP(n_components=3), sparse.csr_array(numbers)), (PLS(scale_targets="none"), numbers)]
    cases += [(MLDA(ridge=0.1, unknown="fill"), labels), (Scaled(OPLS(n_components=2)), numbers)]
    for turn, X in enumerate((TALL, WIDE, SPARSE)):
        for method, y in cases if WHOLE else cases[turn::3]:
            rows = y.iloc[copies] if hasattr(y, "iloc") else y[copies]
            weighted, repeated = clone(method).fit(X, y, sample_weight=w), clone(method).fit(X[copies], rows)
            found, same = weighted.transform(X), repeated.transform(X)
            np.testing.assert_allclose(np.abs(found), np.abs(same), rtol=0, atol=1e-8 * np.abs(same).max())
            inner, other = (getattr(each, "method_", each) for each in (weighted, repeated))
            assert inner.ridge_ == pytest.approx(other.ridge_, rel=1e-8)
            assert {each.filled_by for each in inner.targets_} <= {"fill", None}
            assert all(each.filled_by for each in inner.targets_ if each.n_unknown)
            for own, alike in zip(inner.targets_, other.targets_, strict=True):
                np.testing.assert_allclose(own.mean, alike.mean, rtol=1e-9)
                assert own.scale == pytest.approx(alike.scale, rel=1e-9)
            if hasattr(inner, "coef_"):
                np.testing.assert_allclose(inner.coef_, other.coef_, atol=1e-8 * np.abs(other.coef_).max())
    kernels = (Kernelized(OPLS(ridge=0.1), tau=20.0), Kernelized())
    for method in kernels:
        weighted = clone(method).fit(WIDE, numbers, sample_weight=w).transform(WIDE)
        repeated = clone(method).fit(WIDE[copies], numbers[copies]).transform(WIDE)
        np.testing.assert_allclose(np.abs(weighted), np.abs(repeated), atol=1e-7 * np.abs(repeated).max())


def test_filled_cells_of_equal_rows_are_those_of_one_row_of_their_number():
    y = NUMBERS.copy()
    y[[1, 4, 6, 9], [0, 1, 1, 0]] = np.nan
    three = np.repeat(np.arange(N), 3)
    one, all_three = OPLS().fit(TALL, y), OPLS().fit(TALL[three], y[three])
    assert all_three.ridge_ == pytest.approx(3 * one.ridge_, rel=1e-9)
    np.testing.assert_allclose(all_three.predict(TALL), one.predict(TALL), rtol=1e-8)
    zero = np.arange(N) > 3
    np.testing.assert_allclose(
        OPLS().fit(TALL, y, sample_weight=0.5 * zero).ridge_, 0.5 * OPLS().fit(TALL[zero], y[zero]).ridge_, rtol=1e-9
    )


def test_parts_with_weights_are_a_fit_with_weights():
    w, y = W * 0.3, NUMBERS.copy()
    y[[1, 2, 15], [0, 1, 0]] = np.nan
    cases: list = [(PCA(n_components=3, whiten=True), None), (FDA(ridge=0.1), CLASSES), (MLLS(), LABELS)]
    cases += [(MORP(n_components=3), NUMBERS), (MESD(FDA(ridge=0.1)), LABELS), (OPLS(ridge=0.1, unknown="drop"), y)]
    for X in (TALL, SPARSE):
        for method, target in cases:
            parts, whole = clone(method), clone(method)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for rows in (slice(0, 13), slice(13, N)):
                    parts.partial_fit(X[rows], None if target is None else target[rows], sample_weight=w[rows])
                assert_alike(parts, whole.fit(X, target, sample_weight=w), X)
    weighted = OPLS().partial_fit(TALL, NUMBERS, sample_weight=W)
    assert_alike(weighted, OPLS().partial_fit(TALL[COPIES], NUMBERS[COPIES]), TALL)
    with pytest.raises(ValueError, match="sample_weight must come with the blocks, as"):
        OPLS().partial_fit(RowBlocks([(TALL, LABELS)]), sample_weight=W)


def test_score_counts_rows_by_their_weights():
    model = OPLS().fit(TALL, NUMBERS)
    for y in (NUMBERS, np.where(RNG.random(NUMBERS.shape) < 0.1, np.nan, NUMBERS)):
        expected = model.score(TALL[COPIES], y[COPIES])
        assert model.score(TALL, y, sample_weight=W) == pytest.approx(expected, rel=1e-12)


def test_weights_go_through_pipelines():
    expected = OPLS().fit(TALL, LABELS, sample_weight=W).transform(TALL)
    model = make_pipeline(FunctionTransformer(), OPLS())
    np.testing.assert_array_equal(model.fit(TALL, LABELS, opls__sample_weight=W).transform(TALL), expected)
    with config_context(enable_metadata_routing=True):
        model = make_pipeline(FunctionTransformer(), OPLS().set_fit_request(sample_weight=True))
        np.testing.assert_array_equal(model.fit(TALL, LABELS, sample_weight=W).transform(TALL), expected)


def test_ones_change_nothing():
    ones, plain = OPLS().fit(WIDE, NUMBERS, sample_weight=[1] * N), OPLS().fit(WIDE, NUMBERS)
    np.testing.assert_array_equal(ones.components_, plain.components_)


def test_bad_weights_are_named():
    negative, zero = W - 0.0, np.zeros(N)
    negative[7] = -1
    for w, message in [
        (negative, r"sample_weight holds -1 \(row 7\); give weights of at least 0"),
        (np.where(negative < 0, np.nan, 1.0), r"sample_weight holds nan \(row 7\)"),
        (zero, r"sample_weight is zero for every row\."),
        (W[:10], f"sample_weight has 10 values, y has {N} rows."),
        (W[:, None], "sample_weight has 2 dimensions"),
        (["a"] * N, "one number for each row"),
    ]:
        with pytest.raises(ValueError, match=message):
            OPLS().fit(TALL, LABELS, sample_weight=w)
    with pytest.raises(ValueError, match=f"sample_weight has 10 values, X has {N} rows."):
        PCA().fit(TALL, sample_weight=W[:10])
    with pytest.raises(ValueError, match="Isomap takes no sample_weight: .* use PCA or LSI instead"):
        Isomap().fit(TALL, sample_weight=W)
    with pytest.raises(
        ValueError, match="Kernelized takes no sample_weight: .* are given; use OPLS, CCA or PLS instead"
    ):
        Kernelized(kernel="precomputed").fit(TALL @ TALL.T, LABELS, sample_weight=W)


def test_equal_rows_are_found():
    X = RNG.integers(0, 2, (300, 8)).astype(np.float64)
    _, expected = np.unique(X, axis=0, return_inverse=True)
    for rows in (X, sparse.csr_array(X)):
        first, place = equal_rows(rows)
        np.testing.assert_array_equal(X[first][place], X)
        assert len(first) == expected.max() + 1 and np.all(np.diff(first) > 0)
    labels = sparse.csr_array(np.arange(300.0)[:, None] + 1)
    assert equal_rows(X, labels) is None
    assert equal_rows(RNG.standard_normal((300, 2))) is None
    first, place = equal_rows(np.array([[0.0, 1.0], [2.0, 1.0], [-0.0, 1.0]]))
    assert first.tolist() == [0, 1] and place.tolist() == [0, 1, 0]


def test_views_count_rows_by_their_weights(monkeypatch):
    unknown = with_holes()
    holes, few = np.where(RNG.random(NUMBERS.shape) < 0.1, np.nan, NUMBERS), {"n_estimators": 4}
    models = ["features", GaussianNB(), Ridge()]
    cases: list = [(Views(OPLS(ridge=0.1), views=["features", "kernel", "leaves", "scores"], **few), LABELS)]
    cases += [(Views(OPLS(ridge=0.1), views=models), unknown), (Views(FDA(ridge=0.1), views=["features"]), CLASSES)]
    cases += [(Views(OPLS(), views=["features", Ridge()], weights="folds"), NUMBERS)]
    cases += [
        (Views(OPLS(unknown="mean"), views=["features", Ridge()]), holes),
        (Views(PCA(), views=["features"]), None),
    ]
    cases += [(Views(MESD(), views=["features", Ridge()], weights="folds"), LABELS)] if WHOLE else []
    monkeypatch.setattr(views, "GRID", (0.0, 1.0))
    for method, y in cases:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            weighted, repeated = weighted_and_repeated(method, TALL, y)
        new = np.vstack([TALL, TALL + 0.1])
        assert_alike(weighted, repeated, new)
        np.testing.assert_array_equal(weighted.weights_, repeated.weights_)
    for method, y in [cases[2], (Views(OPLS(ridge=0.1), views=models), LABELS)]:
        with monkeypatch.context() as patch:
            patch.setattr(Views, "merges_rows", False)
            apart = clone(method).fit(TALL[COPIES], y[COPIES])
        weighted = clone(method).fit(TALL, y, sample_weight=W)
        assert_same_places(weighted, apart, TALL, 1e-7)
        np.testing.assert_allclose(weighted.eigenvalues_, apart.eigenvalues_, rtol=1e-7)
    with pytest.raises(ValueError, match="Views takes no sample_weight: its view KNeighborsClassifier takes none"):
        Views(views=["features", KNeighborsClassifier()]).fit(TALL, LABELS, sample_weight=W)
