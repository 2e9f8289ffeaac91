"""BSML and BSSML number by number against the plain updates, the bound's ascent, and what the estimators promise."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_info, threadpool_limits

import strategies
from designs import pairwise
from oracles.coupled import Plain
from proxembed import BSML, BSSML, load, save
from proxembed.methods.bayes import truncated
from proxembed.methods.bayes.coupled import Coupled

HYPER = (1.3, 0.7, 0.9, 1.4, 1.1, 0.8)
VARIANTS = {
    "entry": {},
    "column": {"prior": "column"},
    "column, unit prior": {"prior": "column", "hyper": (1.0,) * 6},
    "row": {"prior": "row"},
    "row, unit prior": {"prior": "row", "hyper": (1.0,) * 6, "sigma_z": 0.5},
    "narrow z": {"sigma_z": np.sqrt(0.1)},
    "margin": {"margin": 0.5},
    "all": {"prior": "column", "sigma_z": 0.7, "margin": 0.25},
}


def problem(n=40, d=9, c=4, seed=3):
    X, Y = strategies.labelled_rows(n, d, c, seed)
    return (X - X.mean(axis=0)) / X.std(axis=0), Y


def arrays(n, d, c, R, signs, seed=5):
    rng = np.random.default_rng(seed)
    shapes = {"Q": (d, R), "Z": (n, R), "B": (R + 1, c)}
    found = {name: rng.standard_normal(shape) for name, shape in shapes.items()}
    return found | {"T": np.abs(rng.standard_normal((n, c))) * signs}


def with_holes(Y, share=0.6, seed=7):
    holes = np.random.default_rng(seed).random(Y.shape) < share
    holes[np.arange(Y.shape[1]), np.arange(Y.shape[1])] = False
    return np.where(holes, np.nan, Y), holes


def plain(X, Y, init, options, R, sweeps, **labels):
    default = (1, 1, 1e-10, 1e10, 1, 1) if "prior" in options else (1,) * 6
    model = Plain(
        X,
        2 * Y - 1,
        **init,
        v=options.get("sigma_z", 1.0) ** 2,
        hyper=options.get("hyper", default),
        prior=options.get("prior", "entry"),
        margin=options.get("margin", 0.0),
        **labels,
    )
    return model, [model.sweep() for _ in range(sweeps)]


def assert_same(fit, model, bounds):
    np.testing.assert_allclose(fit.lower_bound_, bounds, rtol=1e-10)
    np.testing.assert_allclose(fit.components_.T, model.Q, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(fit.weights_, model.B[1:], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(fit.bias_, model.B[0], rtol=1e-8, atol=1e-10)


@pairwise
@pytest.mark.parametrize("options", VARIANTS.values(), ids=VARIANTS)
@pytest.mark.parametrize("shape", [(40, 9), (12, 30), (20, 20)], ids=str)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_bsml_equals_the_plain_updates(options, shape, form):
    """Every sweep, from given arrays: primal, dual and one-decomposition routes, wide and tall."""
    X, Y = problem(*shape)
    init = arrays(*shape, 4, 3, 2 * Y - 1)
    model, bounds = plain(X, Y, init, options, 3, 12)
    fit = BSML(n_components=3, init=init, tol=0, max_iter=12, **options).fit(form(X), Y)
    assert_same(fit, model, bounds)
    assert fit.n_iter_ == 12 and fit.n_components_ == 3


def test_priors_go_to_their_places():
    X, Y = problem()
    init = arrays(40, 9, 4, 3, 2 * Y - 1)
    model, bounds = plain(X, Y, init, {"hyper": HYPER}, 3, 8)
    assert_same(BSML(n_components=3, init=init, tol=0, max_iter=8, hyper=HYPER).fit(X, Y), model, bounds)
    other = BSML(n_components=3, init=init, tol=0, max_iter=8, hyper=HYPER[2:] + HYPER[:2]).fit(X, Y)
    assert abs(other.lower_bound_[-1] - bounds[-1]) > 1e-3


@pytest.mark.parametrize("margin", [0.0, 0.5], ids=["published", "printed"])
@pytest.mark.parametrize("prior", [0.5, 0.3])
def test_bssml_equals_the_plain_updates(margin, prior):
    X, Y = problem()
    holed, holes = with_holes(Y)
    holed[9:15] = np.nan
    holes[9:15] = True
    signs = np.where(holes, 1.0, 2 * Y - 1)
    init = arrays(40, 9, 4, 3, signs)
    model, bounds = plain(X, Y, init, {"margin": margin}, 3, 12, unknown=holes, gap=0.5, shares=(1 - prior, prior))
    fit = BSSML(n_components=3, init=init, tol=0, max_iter=12, margin=margin, class_prior=prior).fit(X, holed)
    assert_same(fit, model, bounds)
    np.testing.assert_allclose(fit.transductive_scores_, model.M, rtol=1e-8, atol=1e-9)
    np.testing.assert_array_equal(fit.transduction_[~holes], Y[~holes])


def test_unknown_cells_constrain_nothing_in_bsml():
    X, Y = problem()
    holed, holes = with_holes(Y)
    keep = ~holes.all(axis=1)
    init = arrays(int(keep.sum()), 9, 4, 3, (2 * Y - 1)[keep])
    model, bounds = plain(X[keep], Y[keep], init, {}, 3, 10, unknown=holes[keep])
    if keep.all():
        fit = BSML(n_components=3, init=init, tol=0, max_iter=10).fit(X, holed)
    else:
        with pytest.warns(UserWarning, match="rows have no known label and are left out of fit. BSSML uses them"):
            fit = BSML(n_components=3, init=init, tol=0, max_iter=10).fit(X, holed)
    assert_same(fit, model, bounds)


@pairwise
@pytest.mark.parametrize("accelerate", [False, True], ids=["plain", "extrapolated"])
@pytest.mark.parametrize("refresh", [1, 10])
@pytest.mark.parametrize("holes", [False, True], ids=["full", "60 % missing"])
@pytest.mark.parametrize("options", VARIANTS.values(), ids=VARIANTS)
@pytest.mark.parametrize("cls", [BSML, BSSML])
def test_the_bound_never_falls(cls, options, holes, refresh, accelerate):
    X, Y = problem(60, 12)
    if holes:
        Y = with_holes(Y)[0]
        Y[:, 0] = np.where(np.isnan(Y).all(axis=1), 1.0, Y[:, 0])
    fit = cls(n_components=3, refresh=refresh, accelerate=accelerate, tol=0, max_iter=35, **options).fit(X, Y)
    bounds = np.array(fit.lower_bound_)
    assert len(bounds) == 35 and not fit.converged_
    assert np.all(np.diff(bounds) >= -1e-9 * np.abs(bounds[1:])) and bounds[-1] > bounds[0]


def test_extrapolation_gains_and_keeps_the_same_optimum():
    X, Y = problem(120, 20, 5)
    slow = BSML(accelerate=False, tol=0, max_iter=400).fit(X, Y)
    fast = BSML(tol=0, max_iter=100).fit(X, Y)
    assert fast.lower_bound_[-1] >= slow.lower_bound_[-1] - 1e-4 * abs(slow.lower_bound_[-1])
    reached = np.argmax(np.array(fast.lower_bound_) >= slow.lower_bound_[99])
    assert 0 < reached < 50
    again = BSML(accelerate=False, tol=0, max_iter=5, refresh=1).fit(X, Y)
    assert again.lower_bound_[-1] < slow.lower_bound_[-1]


def test_inverses_that_may_not_be_kept_are_renewed_every_sweep(monkeypatch):
    X, Y = problem()
    expected = BSML(refresh=1, tol=0, max_iter=20).fit(X, Y)
    monkeypatch.setattr("proxembed.methods.bayes.precision.KEPT_BYTES", 0)
    fit = BSML(refresh=10, tol=0, max_iter=20).fit(X, Y)
    np.testing.assert_allclose(fit.lower_bound_, expected.lower_bound_, rtol=1e-12)


def test_blocks_of_rows_change_nothing(monkeypatch):
    X, Y = problem(90)
    expected = BSML(tol=0, max_iter=15).fit(X, Y)
    for entries in (4, 77, 200):
        monkeypatch.setattr(truncated, "BLOCK_ENTRIES", entries)
        fit = BSML(tol=0, max_iter=15).fit(X, Y)
        np.testing.assert_allclose(fit.lower_bound_, expected.lower_bound_, rtol=1e-10)


@pytest.mark.parametrize("cls", [BSML, BSSML])
def test_single_precision_and_sparse_rows(cls):
    X, Y = problem(60, 12)
    Y = with_holes(Y, 0.3)[0]
    expected = cls(tol=0, max_iter=15, accelerate=False).fit(X, Y)
    sparse = cls(tol=0, max_iter=15, accelerate=False).fit(sp.csr_array(X), Y)
    single = cls(tol=0, max_iter=15, accelerate=False).fit(X.astype(np.float32), Y)
    np.testing.assert_allclose(sparse.lower_bound_, expected.lower_bound_, rtol=1e-9)
    np.testing.assert_allclose(single.lower_bound_, expected.lower_bound_, rtol=1e-4)
    np.testing.assert_allclose(sparse.predict_proba(sp.csr_array(X)), expected.predict_proba(X), atol=1e-7)
    assert single.transform(X.astype(np.float32)).dtype == np.float32


def test_precisions_of_columns_find_the_number_of_components():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 20))
    scores = X @ rng.standard_normal((20, 2)) @ rng.standard_normal((2, 5))
    Y = (scores + 0.3 * rng.standard_normal(scores.shape) > 0).astype(float)
    sparse = BSML(n_components=5, prior="column", tol=0, max_iter=200).fit(X, Y)
    assert sparse.n_active_ == 2
    assert BSML(n_components=5, prior="column", hyper=(1,) * 6, tol=0, max_iter=200).fit(X, Y).n_active_ <= 5


def test_the_largest_bound_of_several_starts_is_kept():
    X, Y = problem()
    ends = [BSML(init="random", n_init=k, tol=0, max_iter=15, random_state=1).fit(X, Y) for k in (1, 4)]
    assert ends[1].lower_bound_[-1] >= ends[0].lower_bound_[-1]
    twice = BSML(init="random", n_init=4, tol=0, max_iter=15, random_state=1).fit(X, Y)
    np.testing.assert_array_equal(twice.components_, ends[1].components_)


@pytest.mark.parametrize("prior", ["entry", "column", "row"])
@pytest.mark.parametrize("shape", [(40, 9), (12, 30)], ids=str)
def test_deviations_and_probabilities_by_definition(prior, shape):
    X, Y = problem(*shape)
    init = arrays(*shape, 4, 3, 2 * Y - 1)
    options = {"sigma_z": 0.8} | ({} if prior == "entry" else {"prior": prior})
    model, _ = plain(X, Y, init, options, 3, 6)
    fit = BSML(n_components=3, init=init, tol=0, max_iter=6, **options).fit(X, Y)
    new = problem(5, shape[1], 4, seed=11)[0]
    mean, deviation = fit.transform(new, return_std=True)
    spread = np.column_stack([0.64 + np.einsum("if,fg,ig->i", new, C, new) for C in model.C_Q])
    np.testing.assert_allclose(mean, new @ model.Q, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(deviation, np.sqrt(spread), rtol=1e-8)
    np.testing.assert_allclose(fit.transform(sp.csr_array(new), return_std=True)[1], deviation, rtol=1e-10)
    Z1 = np.column_stack([np.ones(5), mean])
    variance = 1 + np.stack([np.einsum("ir,rs,is->i", Z1, C, Z1) for C in model.C_B], axis=1)
    np.testing.assert_allclose(fit.predict_proba(new), norm.cdf(Z1 @ model.B / np.sqrt(variance)), rtol=1e-7)
    second = model.B[1:] ** 2 + np.stack([np.diag(C)[1:] for C in model.C_B], axis=1)
    full = fit.set_params(predictive="full").predict_proba(new)
    np.testing.assert_allclose(full, norm.cdf(Z1 @ model.B / np.sqrt(variance + spread @ second)), rtol=1e-7)
    printed = fit.set_params(predictive="printed").predict_proba(new)
    np.testing.assert_allclose(printed, norm.cdf(Z1 @ model.B / variance), rtol=1e-7)


def test_predictions_come_in_the_form_of_y():
    X, Y = problem(60, 9)
    names = np.array(["d", "b", "a", "c"])
    classes = names[Y.argmax(axis=1)]
    fit = BSML().fit(X, classes)
    P = fit.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    np.testing.assert_array_equal(fit.predict(X), fit.classes_[P.argmax(axis=1)])
    assert fit.score(X, classes) > 0.6
    sets = [set(names[row > 0]) for row in Y]
    assert isinstance(BSML().fit(X, sets).predict(X)[0], set)
    semi = [*classes[:30], *[None] * 30]
    found = BSSML().fit(X, semi).transduction_
    assert found.shape == (60,) and (found[:30] == classes[:30]).all() and set(found) <= set(names)


def test_columns_that_are_unknown_full_or_empty():
    X, Y = problem(60, 9)
    Y = np.column_stack([Y, np.full(60, np.nan), np.ones(60), np.zeros(60)])
    with pytest.warns(UserWarning, match="1 of 7 labels are unknown in every row"):
        fit = BSSML().fit(X, Y)
    P = fit.predict_proba(X)
    assert np.all(P[:, 4] == 0.5) and np.all(P[:, 5] > 0.9) and np.all(P[:, 6] < 0.1)
    assert fit.predict(X).shape == (60, 7) and fit.transduction_.shape == (60, 7)
    assert fit.weights_.shape[1] == fit.n_components_ == 5
    np.testing.assert_allclose(P[:, 6], 1 / 62)


def test_a_row_without_labels_lies_near_its_projection():
    X, Y = problem(60, 9)
    holed = Y.copy()
    holed[50:] = np.nan
    fit = BSSML().fit(X, holed)
    assert np.all(np.isfinite(fit.transductive_scores_))
    inductive = fit.transform(X) @ fit.weights_ + fit.bias_
    agree = np.sign(fit.transductive_scores_[50:]) == np.sign(inductive[50:])
    assert agree.mean() > 0.9
    assert np.mean(fit.transduction_[50:] == Y[50:]) > 0.7


def test_hyper_may_be_an_array():
    X, Y = problem()
    one, other = (BSML(hyper=h, tol=0, max_iter=5).fit(X, Y) for h in (HYPER, np.array(HYPER)))
    assert one.lower_bound_ == other.lower_bound_
    with pytest.raises(ValueError, match="(?s)hyper=.*6 finite numbers"):
        BSML(hyper=np.ones((2, 3))).fit(X, Y)


@pytest.mark.parametrize(
    ("scale", "message"), [(1e155, "largest value of X.* overflows"), (1e140, "squares of X sum to.*unit variance")]
)
def test_numbers_that_overflow_are_told(scale, message):
    X, Y = problem()
    with pytest.raises(ValueError, match=message):
        BSML(n_components=3, init="random").fit(X * scale, Y)


def test_given_arrays_that_count_other_rows_are_told():
    X, Y = problem()
    Y[3:6] = np.nan
    with (
        pytest.warns(UserWarning, match="left out"),
        pytest.raises(ValueError, match="must be .37, 3., where n counts"),
    ):
        BSML(n_components=3, init=arrays(40, 9, 4, 3, np.ones((40, 4)))).fit(X, Y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"init": {"Q": np.zeros((9, 3))}}, "init has the keys"),
        ({"init": dict.fromkeys("QZBT", np.zeros((2, 2)))}, r"init\['Q'\] has shape \(2, 2\)"),
        ({"hyper": (1, 1)}, "hyper=.*6 finite numbers"),
        ({"hyper": (1, 1, 0, 1, 1, 1)}, "hyper=.*above 0"),
        ({"n_components": 0}, "n_components=0 is not allowed"),
        ({"tol": -1.0}, "tol=-1.0 is not allowed"),
        ({"sigma_z": np.inf}, "sigma_z=inf is not allowed"),
        ({"sigma_z": 1e200}, "sigma_z=1e[+]200 is not allowed"),
        ({"margin": np.inf}, "margin=inf is not allowed"),
        ({"init": {**arrays(40, 9, 4, 3, 1.0), "Z": np.full((40, 3), np.nan)}}, r"init\['Z'\] holds NaN or infinite"),
        ({"init": {**arrays(40, 9, 4, 3, 1.0), "B": "no"}}, r"init\['B'\] is not an array of numbers.*\(4, 4\)"),
    ],
)
def test_settings_that_are_refused(options, message):
    X, Y = problem()
    with pytest.raises(ValueError, match=message):
        BSML(**{"n_components": 3} | options).fit(X, Y)


@pytest.mark.parametrize(
    "prior", [[0.5, 0.5], [0.0, 0.5, 0.5, 0.5], [0.5, 0.5, 0.5, np.nan], list("abcd"), [[0.5], [0.5, 0.5]]], ids=str
)
def test_class_priors_that_are_refused(prior):
    X, Y = problem()
    with pytest.raises(ValueError, match="class_prior=.*one for each of the 4 labels"):
        BSSML(class_prior=prior).fit(X, Y)


def test_too_long_on_both_sides_is_refused_with_the_way_out(monkeypatch):
    X, Y = problem()
    monkeypatch.setattr("proxembed.methods.bayes.precision.DENSE_LIMIT", 8)
    with pytest.raises(ValueError, match="principal components, or use prior='column'"):
        BSML().fit(X, Y)
    BSML(prior="column").fit(X, Y)


def test_a_bound_that_has_not_settled_is_told():
    X, Y = problem()
    with pytest.warns(ConvergenceWarning, match="BSML stopped after 3 sweeps"):
        fit = BSML(max_iter=3).fit(X, Y)
    assert not fit.converged_ and fit.n_iter_ == 3


def test_models_are_saved_and_loaded(tmp_path):
    X, Y = problem()
    for cls in (BSML, BSSML):
        fit = cls().fit(X, Y)
        again = load(save(fit, tmp_path / "model.skops"))
        np.testing.assert_array_equal(again.predict_proba(X), fit.predict_proba(X))
        np.testing.assert_array_equal(again.transform(X, return_std=True)[1], fit.transform(X, return_std=True)[1])


def test_a_choice_that_is_an_array_is_refused_by_name():
    with pytest.raises(ValueError, match=r"BSML: prior=array\(\[1, 2\]\) is not allowed; prior must be 'entry', "):
        BSML(prior=np.array([1, 2])).fit(np.eye(4), np.eye(4))


def test_a_loss_of_rows_is_counted():
    X, Y = problem()
    Y[3:6] = np.nan
    with pytest.warns(UserWarning, match="3 of 40 rows have no known label and are left out of fit"):
        fit = BSML().fit(X, Y)
    other = BSML().fit(np.delete(X, [3, 4, 5], axis=0), np.delete(Y, [3, 4, 5], axis=0))
    np.testing.assert_allclose(fit.components_, other.components_, atol=1e-10)


def test_explain_names_what_a_component_is_made_of_and_serves():
    X, Y = problem()
    fit = BSML(n_components=2).fit(X, Y)
    told = fit.explain(1, n_features=3, n_labels=2)
    assert told.features[0][1] == pytest.approx(fit.components_[1][np.abs(fit.components_[1]).argmax()])
    label, loading = told.labels[0]
    assert label == str(fit.classes_[np.abs(fit.weights_[1]).argmax()])
    assert loading == pytest.approx(np.abs(fit.weights_[1]).max() / np.linalg.norm(fit.weights_[1]) * np.sign(loading))
    with pytest.raises(ValueError, match="component=2"):
        fit.explain(2)


@pytest.mark.parametrize("cls", [BSML, BSSML])
def test_threads_of_blas_do_not_wait_for_each_other_in_a_fit(cls, monkeypatch):
    """Columns and blocks are shared out among threads, each with one thread of BLAS; afterwards all are as before."""

    def pools():
        known = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]  # other libraries bring theirs
        return {pool["num_threads"] for pool in known if "numpy" in pool["filepath"] or "scipy" in pool["filepath"]}

    seen, sweep = [], Coupled.sweep
    monkeypatch.setattr(Coupled, "sweep", lambda *given: seen.append(pools()) or sweep(*given))
    X, Y = problem()
    with threadpool_limits(2, user_api="blas"):
        before = pools()
        cls(n_components=2, max_iter=2, tol=0).fit(X, Y)
        assert pools() == before
    assert seen and all(one == {1} for one in seen)
