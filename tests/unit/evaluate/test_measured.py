"""Errors of prediction, VIP, Hotelling's T2, distances to the model, and the section of the record made of them."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.sparse import csr_array
from sklearn.cross_decomposition import PLSRegression
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score

from proxembed import OPLS, PLS, Kernelized, Scaled, fit_on
from proxembed.data import Dataset
from proxembed.evaluate import measured
from proxembed.evaluate.measured import (
    distances_to_model,
    hotelling_limit,
    hotelling_t2,
    measured_section,
    prediction_errors,
    vip,
)

WAVELENGTHS = [f"{850 + 2 * j}" for j in range(20)]


def made(n: int = 60, names=WAVELENGTHS, holes: float = 0.1, seed: int = 0) -> Dataset:
    """Spectra of three peaks, two outputs from them, some cells unknown, and one row far from all others."""
    rng = np.random.default_rng(seed)
    peaks = rng.normal(size=(n, 3))
    grid = np.arange(len(names))
    X = peaks @ np.exp(-((grid - np.array([[4], [9], [15]])) ** 2) / 8) + 0.05 * rng.normal(size=(n, len(names)))
    Y = peaks @ rng.normal(size=(3, 2)) + 0.2 * rng.normal(size=(n, 2))
    X[0] = 30 + 10 * rng.normal(size=len(names))
    Y[rng.random((n, 2)) < holes] = np.nan
    return Dataset.from_targets(X, Y, feature_names=names, ids=[f"sample {i}" for i in range(n)])


def section(method, data, **more):
    train, held_out = np.arange(1, 41), np.concatenate([[0], np.arange(41, 60)])
    splits = [(train[train % 5 != fold], train[train % 5 == fold]) for fold in range(5)]
    model = fit_on(method, data.take(train))
    return model, measured_section(model, data, train, held_out, splits=splits, **more)


def test_errors_are_those_of_the_known_cells():
    rng = np.random.default_rng(0)
    y, guess = rng.normal(3, 2, 30), rng.normal(3, 2, 30)
    y[[2, 7]] = np.nan
    a, b = y[~np.isnan(y)], guess[~np.isnan(y)]
    found = prediction_errors(y, guess, 2.5)
    expected = {
        "n": 28, "q2": 1 - ((a - b) ** 2).sum() / ((a - 2.5) ** 2).sum(), "r2": r2_score(a, b),
        "rmsep": np.sqrt(((a - b) ** 2).mean()), "bias": (b - a).mean(),
        "rpd": a.std(ddof=1) / np.sqrt(((a - b) ** 2).mean()), "spearman": stats.spearmanr(a, b)[0],
    }  # fmt: skip
    assert found == pytest.approx(expected, rel=1e-12)
    none = prediction_errors([np.nan], [1.0], 0.0)
    assert none.pop("n") == 0 and set(none.values()) == {None}
    one = prediction_errors([2.0], [1.5], 0.0)
    assert one["r2"] is one["rpd"] is one["spearman"] is None and one["q2"] == pytest.approx(1 - 0.25 / 4)
    with pytest.raises(ValueError, match="two arrays"):
        prediction_errors([1.0, 2.0], [1.0], 0.0)


def test_the_mean_square_of_vip_is_one_and_units_of_weights_do_not_matter():
    rng = np.random.default_rng(1)
    W, T, Q = rng.normal(size=(7, 3)), rng.normal(size=(20, 3)), rng.normal(size=(2, 3))
    found = vip(W, T, Q)
    assert np.mean(found**2) == pytest.approx(1, rel=1e-12)
    np.testing.assert_allclose(vip(W * [3, 0.1, 5], T, Q), found, rtol=1e-12)
    s = [(T[:, a] @ T[:, a]) * (Q[:, a] @ Q[:, a]) for a in range(3)]
    by_hand = [np.sqrt(7 * sum(s[a] * W[j, a] ** 2 / (W[:, a] @ W[:, a]) for a in range(3)) / sum(s)) for j in range(7)]
    np.testing.assert_allclose(found, by_hand, rtol=1e-12)
    with pytest.raises(ValueError, match="explain nothing"):
        vip(W, T, 0 * Q)


def test_vip_of_deflated_pls_is_that_of_the_weights_of_plsregression():
    data = made(holes=0.0)
    train = np.arange(1, 41)
    model = fit_on(PLS(n_components=3, deflation="nipals"), data.take(train))
    found = measured_section(model, data, train, np.arange(41, 60))
    X = model[0].transform(data.X[train])
    Y = np.column_stack(data.targets.take(train).as_given())
    other = PLSRegression(3, scale=False, tol=1e-14, max_iter=5000).fit(X, (Y - Y.mean(axis=0)) / Y.std(axis=0))
    expected = vip(other.x_weights_, other.x_scores_, other.y_loadings_)
    np.testing.assert_allclose(found["vip"]["values"], expected, rtol=1e-4)  # five digits are kept


@pytest.mark.parametrize("n", [15, 40])
def test_the_limit_of_t2_covers_95_percent_of_new_rows(n):
    rng = np.random.default_rng(n)
    inside = [
        (hotelling_t2(rng.normal(size=(20, 3)), rng.normal(size=(n, 3))) <= hotelling_limit(n, 3)).mean()
        for _ in range(400)
    ]
    too_small = stats.chi2.ppf(0.95, 3)
    assert abs(np.mean(inside) - 0.95) < 0.01
    assert hotelling_limit(n, 3) > too_small and hotelling_limit(10**6, 3) == pytest.approx(too_small, rel=1e-4)
    with pytest.raises(ValueError, match="too few"):
        hotelling_limit(3, 3)


def test_t2_does_not_depend_on_the_units_of_the_scores():
    rng = np.random.default_rng(2)
    Z, new, A = rng.normal(size=(30, 3)), rng.normal(size=(5, 3)), rng.normal(size=(3, 3))
    inverse = np.linalg.inv(np.cov(Z.T))
    expected = [(t - Z.mean(axis=0)) @ inverse @ (t - Z.mean(axis=0)) for t in new]
    np.testing.assert_allclose(hotelling_t2(new, Z), expected, rtol=1e-10)
    np.testing.assert_allclose(hotelling_t2(new @ A * 1e6, Z @ A * 1e6), expected, rtol=1e-8)
    assert hotelling_t2(new[:, :1], Z[:, :1]).shape == (5,)


def test_the_distance_is_what_a_regression_on_the_scores_leaves():
    rng = np.random.default_rng(3)
    X, new = rng.normal(size=(30, 8)) + 5, rng.normal(size=(6, 8)) + 5
    P = rng.normal(size=(8, 2))
    rest = new - LinearRegression().fit(X @ P, X).predict(new @ P)
    expected = np.sqrt((rest**2).mean(axis=1))
    np.testing.assert_allclose(distances_to_model(X, X @ P, new, new @ P), expected, rtol=1e-10)
    assert distances_to_model(X, X @ np.eye(8), new, new).tolist() == [0.0] * 6  # as many components as features
    found = distances_to_model(csr_array(X), X @ P, csr_array(new), new @ P)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_the_section_is_plain_data_and_names_the_row_beyond_both_limits():
    data = made()
    curve, permutations = [(1, 0.5, 0.6), (2, np.nan, 0.9)], [(0.1, 0.2, -0.1)]
    model, found = section(OPLS(n_components=2), data, curve=curve, permutations=permutations)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["curve"] == [[1, 0.5, 0.6], [2, None, 0.9]] and found["permutations"] == [[0.1, 0.2, -0.1]]
    rows, limits, far = found["rows"], found["limits"], found["beyond"]
    beyond = (np.array(rows["t2"]) > limits["t2"]) & (np.array(rows["distance"]) > limits["distance"])
    assert {row["id"] for row in far["rows"]} == {*np.array(rows["ids"])[beyond]} and far["count"] == beyond.sum()
    assert far["rows"][0]["id"] == "sample 0" and not far["rows"][0]["train"]
    assert found["vip"]["x"] == found["outputs"][0]["coefficients"]["x"] == [float(name) for name in WAVELENGTHS]
    assert np.mean(np.square(found["vip"]["values"])) == pytest.approx(1, rel=1e-4)
    np.testing.assert_allclose(found["outputs"][1]["coefficients"]["values"], model["embedding"].coef_[1], rtol=1e-4)
    held_out = np.flatnonzero(~np.array(found["rows"]["train"]))
    predicted = np.asarray(model.predict(data.X[[0, *range(41, 60)]]))
    for j, output in enumerate(found["outputs"]):
        values = [np.nan if v is None else v for v in np.array(output["measured"], dtype=object)[held_out]]
        own = np.array(data.targets.as_given()[j])
        mean = np.nanmean(own[1:41])
        assert output["errors"] == pytest.approx(prediction_errors(values, predicted[:, j], mean), rel=1e-3)
        assert output["unknown"] == np.isnan(own).sum() == sum(value is None for value in output["measured"])
        ranks = [rank for rank in output["ranks"] if rank is not None]
        assert min(ranks) == 0 and max(ranks) == 1 and len(ranks) == 60 - output["unknown"]


def test_the_limit_of_the_distance_is_of_rows_that_the_folds_left_out():
    data, (rows, left) = made(holes=0.0), (np.arange(1, 30), np.arange(30, 41))
    train = np.arange(1, 41)
    model = fit_on(OPLS(n_components=2), data.take(train))
    found = measured_section(model, data, train, np.arange(41, 60), splits=[(rows, left)])
    part = fit_on(OPLS(n_components=2), data.take(rows), readout=False, scaling="standard")
    X, X_left = part[0].transform(data.X[rows]), part[0].transform(data.X[left])
    distances = distances_to_model(X, part.transform(data.X[rows]), X_left, part.transform(data.X[left]))
    assert found["limits"]["distance"] == pytest.approx(np.quantile(distances, 0.95), rel=1e-10)
    without = measured_section(model, data, train, np.arange(41, 60))
    assert without["limits"]["distance"] is None and without["beyond"] == {"count": 0, "rows": []}


def test_methods_without_coefficients_have_one_sentence_in_place_of_panels():
    found = section(Kernelized(OPLS(n_components=2)), made())[1]
    assert found["vip"] is found["rows"]["distance"] is found["outputs"][0]["coefficients"] is None
    assert "no coefficients" in found["absent"] and found["limits"]["t2"] is not None


def test_a_scaling_around_a_linear_method_is_that_of_a_pipeline(monkeypatch):
    monkeypatch.setattr(measured, "_number", float)  # in place of five digits
    data = made()
    units = replace(data, X=data.X * np.geomspace(0.01, 100, 20))
    both = [section(method, units)[1] for method in (Scaled(OPLS(n_components=2), "standard"), OPLS(n_components=2))]
    inside, pipeline = (
        [each["vip"]["values"], *(output["coefficients"]["values"] for output in each["outputs"])]
        + [each["rows"]["distance"], each["rows"]["t2"], [each["limits"]["distance"]]]
        for each in both
    )
    for own, other in zip(inside, pipeline, strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-10, atol=1e-10)
    assert all(each["standardised"] and each["absent"] is None for each in both)
    rows = section(Scaled(OPLS(n_components=2), "pca"), units)[1]
    kernel = section(Scaled(Kernelized(n_components=2)), units)[1]
    assert rows["vip"] is kernel["vip"] is None and kernel["outputs"][0]["importance"] is not None


def test_names_without_order_give_the_15_largest_and_classes_no_panel(monkeypatch):
    named = [f"gene {j}" for j in range(20)]
    found = section(OPLS(n_components=1), made(names=named))[1]
    assert found["vip"]["x"] is None and len(found["vip"]["names"]) == 15 and set(found["vip"]["names"]) < set(named)
    assert found["vip"]["values"] == sorted(found["vip"]["values"], reverse=True)
    monkeypatch.setattr(measured, "CURVE_POINTS", 5)
    thin = section(OPLS(n_components=1), made())[1]["vip"]
    assert len(thin["x"]) == 5 and thin["x"] == sorted(thin["x"])


def test_columns_of_classes_beside_numbers_have_figures_of_their_own():
    pandas = pytest.importorskip("pandas")
    data = made(holes=0.0)
    number = data.targets.as_given()[0]
    both = pandas.DataFrame({"kind": np.where(data.X[:, 4] > 0, "high", "low"), "value": number})
    mixed = Dataset.from_targets(data.X, both, feature_names=WAVELENGTHS)
    found = section(OPLS(n_components=1), mixed)[1]
    assert [output["name"] for output in found["outputs"]] == ["value"] and found["other_columns"] == []
    kinds = np.array(both["kind"])[[0, *range(41, 60)]]
    assert [found["classes"][0][name] for name in ("name", "n", "unknown")] == ["kind", 20, 0]
    counts = {row["class"]: row["n"] for row in found["classes"][0]["table"]}
    assert counts == {"high": np.sum(kinds == "high"), "low": np.sum(kinds == "low")}
    order = np.array(found["classes"][0]["classes"])[np.array(found["classes"][0]["places"])]
    np.testing.assert_array_equal(order, np.array(both["kind"])[[*range(1, 41), 0, *range(41, 60)]])
    coef = fit_on(OPLS(n_components=1), mixed.take(np.arange(1, 41)))["embedding"].coef_
    np.testing.assert_allclose(found["outputs"][0]["coefficients"]["values"], coef[2], rtol=1e-4)
    classes = pandas.DataFrame({"kind": both["kind"], "other": np.where(data.X[:, 9] > 0, "a", "b")})
    only = Dataset.from_targets(data.X, classes)
    model = fit_on(OPLS(), only)
    assert measured_section(model, only, np.arange(40), np.arange(40, 60)) is None


def test_agreement_of_ranks_stands_beside_that_of_values_of_a_skewed_output():
    data = made(holes=0.0)
    Y = np.column_stack(data.targets.as_given())
    skewed = Dataset.from_targets(data.X, np.column_stack([np.exp(3 * Y[:, 0]), Y[:, 1]]), feature_names=WAVELENGTHS)
    model, found = section(OPLS(n_components=2), skewed)
    first, second = found["outputs"]
    assert second["rank_agreement"] is None and 0 < second["agreement"] < 1
    Z = model.transform(skewed.X)
    train, held_out = np.arange(1, 41), np.concatenate([[0], np.arange(41, 60)])
    near = np.argsort(np.linalg.norm(Z[held_out][:, None] - Z[train][None], axis=2), axis=1)[:, :10]
    values = np.exp(3 * Y[:, 0])
    for name, all_values in (("agreement", values), ("rank_agreement", stats.rankdata(values))):
        v, u = all_values[held_out], all_values[train][near]
        by_hand = 1 - np.sum((v[:, None] - u) ** 2) / (np.sum((v[:, None, None] - u[None]) ** 2) / len(v))
        assert first[name] == pytest.approx(by_hand, abs=1e-4)
