"""SSDR and its relatives as estimators: what they take and refuse, what is unknown, ridges, numbers, wrapping."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.pipeline import Pipeline, make_pipeline

import proxembed
import strategies
from designs import pairwise
from invariants.cases import gram_distance
from proxembed import (
    CCA,
    DNE,
    FDA,
    LFDA,
    LLE,
    LPP,
    MDDM,
    MESD,
    MFA,
    MLLS,
    MOPE,
    NPP,
    OLPP,
    OPLS,
    PCA,
    SELF,
    SLVM,
    SSDR,
    SSFDA,
    SSMMC,
    SSMOPE,
    ClassicalMDS,
    Isomap,
    Kernelized,
    LaplacianEigenmaps,
    ssdr_dne,
    ssdr_mfa,
)
from proxembed.features.kernel import kernel_coordinates, least_loo
from proxembed.methods.relation import WIDTHS
from proxembed.pairs.relation import median_squared_distance
from proxembed.study.candidates import Draws, sample

N = 45
X, FULL = strategies.labelled_rows(N, 8, 4, 3)
LABELLED = np.arange(0, N, 3)
Y = np.full(FULL.shape, np.nan)
Y[LABELLED] = FULL[LABELLED]
CLASSES = strategies.labels_classes(N, 3, 4)
y = np.where(np.isin(np.arange(N), LABELLED), CLASSES.astype(float), np.nan)
EVERY = [
    SSDR(),
    SSDR(constraint="mixed"),
    SSMOPE(),
    SELF(),
    SSFDA(),
    SSMMC(),
    MESD(SELF()),
    Kernelized(SSFDA(), tau=9.0),
]
every = pytest.mark.parametrize("method", EVERY, ids=lambda m: repr(m).replace("\n", ""))


def labels_for(method):
    return y if method.traits.labels == "single" else Y


# ------------------------------------------------------------------------------------------------ what is unknown


@every
def test_rows_without_labels_take_part_in_silence(method):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = clone(method).fit(X, labels_for(method))
    assert fitted.transform(X).shape == (N, fitted.n_components_)
    some = clone(method).fit(X[LABELLED], labels_for(method)[LABELLED])
    assert np.abs(fitted.transform(X) - some.transform(X)).max() > 1e-3


@every
def test_what_marks_the_unknown_is_free(method):
    known = labels_for(method)
    expected = clone(method).fit(X, known).transform(X)
    if method.traits.labels == "single":
        forms = [np.array([None if np.isnan(v) else f"class {v:g}" for v in known], dtype=object)]
    else:
        forms = [sp.csr_array(known), [None if np.isnan(r).any() else set(np.flatnonzero(r)) for r in known]]
    for form in forms:
        np.testing.assert_allclose(clone(method).fit(X, form).transform(X), expected, rtol=0, atol=1e-9)


DROPPING = [
    SSDR(MESD(FDA(), unknown="drop")),
    SSMOPE(),
    SSDR(MDDM(unknown="drop"), PCA(), constraint="mixed"),
    SSDR(MDDM(label_kernel="rbf"), PCA(), constraint="mixed"),
]


@pytest.mark.parametrize("method", DROPPING, ids=repr)
def test_rows_known_in_part_are_unlabelled_and_counted(method):
    holes = Y.copy()
    holes[LABELLED[:2], 1] = np.nan
    with pytest.warns(
        UserWarning, match=r"2 of 45 rows have some known and some unknown labels, and count as unlabelled"
    ):
        fitted = clone(method).fit(X, holes)
    without = Y.copy()
    without[LABELLED[:2]] = np.nan
    np.testing.assert_array_equal(fitted.transform(X), clone(method).fit(X, without).transform(X))


def test_a_label_that_no_fully_known_row_has_is_left_out_of_the_fit():
    wider = np.column_stack([Y, np.where(np.isnan(Y[:, 0]), np.nan, 0.0)])
    wider[1] = [0.0, 1.0, np.nan, 0.0, 1.0]
    with pytest.warns(UserWarning, match="1 of 45 rows"):
        fitted = SSDR(CCA(unknown="drop"), PCA(), constraint="mixed").fit(X, wider)
    np.testing.assert_allclose(
        fitted.transform(X), SSDR(CCA(), PCA(), constraint="mixed").fit(X, Y).transform(X), rtol=0, atol=1e-10
    )
    assert dict(fitted.explain(0, n_labels=5).labels)["4"] != 0.0  # loadings read every known cell


def test_loadings_are_those_of_the_labelled_rows():
    fitted = SSDR(MESD(FDA()), OLPP(), mix=0.2).fit(X, Y)
    Z, L = fitted.transform(X[LABELLED]), FULL[LABELLED]
    share = L.mean(axis=0)
    expected = (Z[:, 0] - Z[:, 0].mean()) @ (L - share) / np.sqrt(share * (1 - share))
    expected /= np.linalg.norm(expected)
    np.testing.assert_allclose(fitted.label_loadings_[0], expected, rtol=0, atol=1e-10)


@every
def test_too_few_labelled_rows(method):
    single = method.traits.labels == "single"
    for number, message in ((1, "one class only|at least two labelled"), (0, "unknown in every")):
        few = np.full(N, np.nan) if single else np.full((N, 4), np.nan)
        few[:number] = 1.0 if single else [1.0, 0.0, 1.0, 0.0]
        with pytest.raises(ValueError, match=message):
            clone(method).fit(X, few)
    same = np.where(np.arange(N) < 9, 1.0, np.nan)
    with pytest.raises(ValueError, match="one class only"):
        clone(method).fit(X, same if single else np.repeat(same[:, None], 4, axis=1))


def test_rows_known_in_part_alone_are_no_labelled_rows():
    holes = FULL.astype(float)
    holes[np.arange(N), np.arange(N) % 4] = np.nan
    with pytest.warns(UserWarning, match="45 of 45"), pytest.raises(ValueError, match="only 0 of 45 rows are fully"):
        SSDR(MESD(FDA(), unknown="drop")).fit(X, holes)


@pytest.mark.parametrize("supervised", [OPLS(ridge=0.1), MESD(FDA(ridge=0.1))], ids=str)
def test_rows_known_in_part_are_labelled_rows_where_cells_are_means(supervised):
    holes = FULL.astype(float)
    holes[np.arange(N), np.arange(N) % 4] = np.nan
    method = SSDR(supervised, PCA(), mix=0.0, constraint="mixed")
    alone = clone(supervised).fit(X, holes)
    assert gram_distance(method.fit(X, holes).transform(X), alone.transform(X)) < 1e-8


# ------------------------------------------------------------------------------------------------ members


@pytest.mark.parametrize(
    ("supervised", "unsupervised", "message"),
    [
        (PCA(), OLPP(), "supervised=PCA is not allowed.*takes labels.*first argument"),
        (MDDM(), OPLS(), "unsupervised=OPLS is not allowed.*takes no labels"),
        (MLLS(), PCA(), "MLLS maps its eigenvectors back"),
        (MDDM(), PCA(whiten=True), "PCA maps its eigenvectors back or rescales.*whiten=False"),
        (SSMOPE(), PCA(), "SSMOPE is semi-supervised by itself"),
        (MESD(SELF()), PCA(), "MESD is semi-supervised by itself"),
        (Kernelized(OPLS()), PCA(), "Kernelized and PCA cannot be combined.*both into Kernelized"),
        (OPLS(), Kernelized(PCA()), "one runs on a kernel and the other does not"),
        (Kernelized(OPLS(), tau=1.0), Kernelized(PCA(), tau=2.0), "differ in tau"),
        (Kernelized(OPLS(), kernel="linear"), Kernelized(PCA(), tau=2.0), "differ in kernel, tau"),
        (Kernelized(MLLS()), Kernelized(PCA()), "MLLS maps"),
        (MDDM(), ClassicalMDS(metric="precomputed"), "ClassicalMDS on precomputed values"),
        (Kernelized(OPLS(), kernel="precomputed"), Kernelized(PCA(), kernel="precomputed"), "precomputed values"),
        (MDDM(), Isomap(n_landmarks=10), "Isomap places 10 of 45 rows.*no landmarks"),
        (MESD(OPLS()), PCA(), "MESD extends single-label methods"),
        (MDDM(), OLPP(n_neighbors=0), "OLPP: n_neighbors=0 is not allowed"),
        (MESD(MFA(n_friends=0)), OLPP(), "MFA: n_friends=0 is not allowed"),
    ],
)
def test_members_that_cannot_be(supervised, unsupervised, message):
    with pytest.raises(ValueError, match=message):
        SSDR(supervised, unsupervised).fit(X, Y)


def test_wrappers_around_combinations():
    with pytest.raises(ValueError, match="Kernelized cannot wrap SSDR.*put each of the two into Kernelized"):
        Kernelized(SSDR()).fit(X, Y)
    with pytest.raises(ValueError, match="SSDR already takes several labels"):
        MESD(SSDR()).fit(X, Y)
    with pytest.raises(ValueError, match="several labels. Use MESD.FDA"):
        SSDR(FDA(), PCA()).fit(X, FULL)


def test_a_kernel_is_chosen_by_the_labelled_rows_alone():
    """Labels of unlabelled rows, which are stored as absent, must not enter the choice of width and ridge."""
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    widths = median_squared_distance(X) * WIDTHS
    inside = np.ix_(LABELLED, LABELLED)
    copies = FULL[LABELLED].sum(axis=1)  # of the labelled rows, which weigh by them in LFDA's mean under MESD
    weights = N * (0.5 / N + 0.5 * copies / copies.sum())
    coordinates = {tau: kernel_coordinates(np.exp(-squares[inside] / tau), weights) for tau in widths}
    expected = least_loo(widths, coordinates.get, FULL[LABELLED], len(weights))
    fitted = Kernelized(MESD(SELF()), ridge="auto").fit(X, Y)
    assert (fitted.tau_, fitted.ridge_) == pytest.approx(expected)
    mistaken = Kernelized(MESD(SELF()), ridge="auto").fit(X, np.nan_to_num(Y))
    assert (mistaken.tau_, mistaken.ridge_) != (fitted.tau_, pytest.approx(fitted.ridge_))


@pairwise
@pytest.mark.parametrize("U", [LLE(), LaplacianEigenmaps(), Isomap(), ClassicalMDS(), LPP(), NPP()], ids=repr)
@pytest.mark.parametrize("S", [MESD(LFDA()), MOPE(), SLVM(), CCA()], ids=repr)
@pytest.mark.parametrize("constraint", ["mixed", "projection", "supervised"])
def test_any_pair_fits_and_places_new_rows(S, U, constraint):
    for balance in ("none", "trace", "spectral"):
        fitted = SSDR(S, U, constraint=constraint, balance=balance, n_components=2).fit(X, Y)
        assert fitted.transform(X[:3] + 0.1).shape == (3, 2) and np.isfinite(fitted.transform(X)).all()


def test_flipping_needs_a_constraint():
    with pytest.raises(ValueError, match="flip=True is not allowed with MDDM"):
        SSDR(MDDM(), OLPP(), flip=True).fit(X, Y)


def test_an_objective_belongs_to_the_olpp_that_is_not_given():
    for method in (SSDR(None, PCA()), SSMOPE(None, OLPP()), ssdr_mfa(unsupervised=OLPP(), objective="laplacian")):
        with pytest.raises(ValueError, match="objective='laplacian' is not allowed with unsupervised=.*Leave one"):
            method.set_params(objective="laplacian").fit(X, Y)
    for objective in ("proximity", "laplacian"):
        fitted = SSMOPE(objective=objective).fit(X, Y)
        assert fitted.unsupervised_.objective == objective and fitted.unsupervised is None
    assert SSDR().fit(X, Y).unsupervised_.objective == "proximity"
    assert ssdr_mfa().unsupervised.objective == "laplacian"
    assert ssdr_dne(objective="proximity").unsupervised.objective == "proximity"
    with pytest.raises(ValueError, match="objective='graph' is not allowed"):
        SSDR(objective="graph").fit(X, Y)


@pytest.mark.parametrize("gamma", [-0.1, np.nan, np.inf])
def test_gamma_of_the_published_pairs(gamma):
    with pytest.raises(ValueError, match="gamma=.*must be a number >= 0"):
        ssdr_mfa(gamma)
    assert ssdr_dne(3.0, n_components=2).get_params()["n_components"] == 2


def test_an_objective_of_size_zero_has_no_balance():
    ring = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    split = np.array([0, 0, 1, 1])  # equal class means: no scatter between them
    with pytest.raises(ValueError, match='size 0 by which it would be divided. Use balance="none"'):
        SSDR(FDA(constraint="within"), PCA(), balance="trace").fit(ring, split)


# ------------------------------------------------------------------------------------------------ ridges and numbers


def ridge_of(method) -> float:
    return clone(method).fit(X[LABELLED], FULL[LABELLED]).ridge_


def test_the_ridge_is_that_of_the_members_in_their_shares():
    S, U = OPLS(ridge=0.3), LPP(ridge=0.2)
    alone = U.fit(X).ridge_
    for mix in (0.0, 0.25, 1.0):
        fitted = SSDR(S, U, mix=mix, constraint="mixed", n_components=2).fit(X, Y)
        assert fitted.ridge_ == pytest.approx(mix * alone + (1 - mix) * ridge_of(S), rel=1e-9)
    assert SSDR(S, U, constraint="supervised").fit(X, Y).ridge_ == pytest.approx(ridge_of(S), rel=1e-9)
    assert SSDR(S, U, constraint="projection").fit(X, Y).ridge_ == 0.0


def test_an_own_ridge_takes_the_place_of_both():
    def fitted(**options):
        return SSDR(OPLS(ridge=9.0), LPP(ridge=9.0), mix=0.25, constraint="mixed", n_components=2, **options).fit(X, Y)

    assert fitted(ridge=0.7, ridge_scale="absolute").ridge_ == 0.7
    expected = 0.25 * LPP(ridge=0.7).fit(X).ridge_ + 0.75 * ridge_of(OPLS(ridge=0.7))
    assert fitted(ridge=0.7, ridge_scale="trace").ridge_ == pytest.approx(expected, rel=1e-9)
    assert fitted(ridge="auto").ridge_ == pytest.approx(ridge_of(OPLS(ridge="auto")), rel=1e-9)
    again = fitted(ridge=fitted().ridge_, ridge_scale="absolute")
    np.testing.assert_allclose(again.transform(X), fitted().transform(X), rtol=0, atol=1e-8)


def test_how_many_components():
    assert SSDR().fit(X, Y).n_components_ == 3  # c - 1 of MESD(FDA)
    assert SSDR(MDDM(), PCA()).fit(X, Y).n_components_ == 4
    assert SSDR(MDDM(n_components=3), PCA(n_components=2)).fit(X, Y).n_components_ == 3
    assert SSDR(MDDM(), PCA(n_components=2)).fit(X, Y).n_components_ == 2
    assert SSDR(MDDM(n_components=3), PCA(), n_components=5).fit(X, Y).n_components_ == 5
    assert SSDR(MDDM(), PCA(), mix=1.0).fit(X, Y).n_components_ == 2
    assert SSFDA().fit(X, y).n_components_ == SELF().fit(X, y).n_components_ == 2


def test_bounds():
    """The rank of the rows in general, c - 1 for SSFDA, the labelled member's own at mix=0."""
    for method, labels, bound in (
        (SSDR(), Y, 8),
        (SSDR(MESD(FDA()), OLPP(), mix=0.0, constraint="mixed"), Y, 3),
        (SELF(), y, 8),
        (SSFDA(), y, 2),
        (SSMMC(), y, 8),
        (SSMOPE(), Y, 8),
    ):
        with pytest.raises(ValueError, match=f"n_components=9 is more than the {bound} components"):
            clone(method).set_params(n_components=9).fit(X, labels)
        assert clone(method).set_params(n_components=bound).fit(X, labels).n_components_ == bound


def test_more_features_than_labelled_rows_reach_the_space_of_all_rows():
    wide = strategies.features_dense(N, 70, 5)
    fitted = SSDR(MDDM(), PCA(), n_components=40).fit(wide, Y)
    assert fitted.n_components_ == 40 > len(LABELLED)
    with pytest.raises(ValueError, match="more than the 44 components"):
        SSDR(MDDM(), PCA(), n_components=45).fit(wide, Y)


def test_the_useful_directions_of_an_indefinite_matrix():
    fitted = SSDR(MESD(DNE()), OLPP(objective="laplacian"), mix=0.01).fit(X, Y)
    assert 1 <= fitted.n_components_ <= 8 and np.all(fitted.eigenvalues_ < 0)


def test_singular_constraints_are_whitened_on_their_range():
    few = np.full(N, np.nan)
    few[[0, 1, 2, 3]] = [0, 0, 1, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = SSDR(LFDA(), LPP(), mix=0.5, constraint="mixed", n_components=2).fit(X, few)
        alone = SSDR(LFDA(), LPP(), constraint="supervised", n_components=1).fit(X, few)
    assert np.isfinite(fitted.components_).all() and np.isfinite(alone.components_).all()


def test_duplicate_rows_labelled_unlike():
    twice, labels = np.vstack([X, X]), np.concatenate([Y, np.roll(Y, 1, axis=0)])
    for method in (SSDR(), SSDR(MESD(LFDA(ridge=0.1)), LLE(), constraint="mixed"), SSMOPE()):
        Z = clone(method).fit(twice, labels).transform(twice)
        np.testing.assert_allclose(Z[:N], Z[N:], rtol=0, atol=1e-12)


# ------------------------------------------------------------------------------------------------ as estimators


@every
def test_pickled_and_cloned_with_unknown_labels(method):
    fitted = clone(method).fit(X, labels_for(method))
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.transform(X), fitted.transform(X))
    assert repr(clone(fitted)) == repr(clone(method))


@pytest.mark.parametrize(
    "method", [SSDR(), SSDR(MDDM(), LLE(), constraint="mixed"), SSMOPE(), SELF(base=LPP())], ids=repr
)
def test_saved_models_come_back(method, tmp_path):
    fitted = clone(method).fit(X, labels_for(method))
    proxembed.save(fitted, tmp_path / "model.skops")
    np.testing.assert_array_equal(proxembed.load(tmp_path / "model.skops").transform(X), fitted.transform(X))


def test_aliases_nested_parameters_and_pipelines():
    assert proxembed.SemiSupervised is SSDR
    model = SSDR(MESD(FDA()), OLPP())
    model.set_params(supervised__method__ridge=0.5, unsupervised__n_neighbors=7)
    assert model.supervised.method.ridge == 0.5 and model.unsupervised.n_neighbors == 7
    for model in (Pipeline([("local", SELF(n_components=2))]), make_pipeline(SELF(n_components=2))):
        np.testing.assert_array_equal(model.fit_transform(X, y), SELF(n_components=2).fit_transform(X, y))
    assert model.set_params(self_lfda__n_components=1).fit_transform(X, y).shape[1] == 1
    assert model.get_feature_names_out().tolist() == ["self_lfda0"]
    assert SSMOPE().fit(X, Y).supervised_.scheme == "classes"


def test_the_members_given_are_left_as_they_are():
    S, U = MESD(FDA()), OLPP()
    fitted = SSDR(S, U).fit(X, Y)
    assert fitted.supervised is S and not vars(S).get("method_") and not hasattr(U, "recall_")
    assert fitted.unsupervised_.recall_ is None and fitted.supervised_ is not S


def test_a_failed_fit_leaves_nothing():
    model = SSDR(MDDM(), PCA()).fit(X, Y)
    with pytest.raises(ValueError, match="more than the"):
        model.set_params(n_components=50).fit(X, Y)
    assert not [name for name in vars(model) if name.endswith("_")]


@pytest.mark.parametrize("cls", [SSDR, SSMOPE, SELF, SSFDA, SSMMC])
def test_drawn_configurations_fit(cls):
    """Every configuration that a search may draw is one that can be fitted, where rows have 30 neighbours."""
    draws = Draws(np.random.default_rng(3))
    rows = np.vstack([X + 0.1 * np.random.default_rng(number).normal(size=X.shape) for number in range(3)])
    for _ in range(12):
        method = sample(cls, draws)
        labels = np.concatenate([labels_for(method)] * 3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            Z = method.set_params(n_components=1).fit(rows, labels).transform(X)
        assert np.isfinite(Z).all()


@pytest.mark.parametrize("wrap", [MESD, lambda method: Kernelized(MESD(method), tau=50.0)], ids=["MESD", "Kernelized"])
def test_a_wrapped_method_warns_of_partly_known_rows(wrap):
    Y = np.array([[1.0, 0.0], [0.0, 1.0]] * 6)
    Y[8:], Y[0, 0] = np.nan, np.nan
    X = np.random.default_rng(0).normal(size=(12, 3))
    with pytest.warns(UserWarning, match="SELF cannot use partly known labels of a row: 1 of 12 rows"):
        wrap(SELF()).fit(X, Y)
