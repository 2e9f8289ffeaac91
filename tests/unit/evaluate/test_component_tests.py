"""Tests of single components: figures of R, definitions in dense matrices, false alarms, power, units and refusals."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from proxembed import CCA, OPLS, PCA, PLS, RowBlocks, Scaling
from proxembed.evaluate.component_tests import _axes_of, _read_covariates, component_tests
from proxembed.evaluate.diagnose import diagnose
from proxembed.targets.reading import read_targets

STORED = json.loads(Path(__file__).with_name("axes_in_r.json").read_text())
X, Y, Z, LEVEL = (np.array(STORED[name]) for name in ("X", "Y", "z", "level"))
N = len(X)
RDA = OPLS(ridge=0, scale_targets="none")
CANONICAL = CCA(ridge=0, scale_targets="none")
PARTIAL_LS = PLS(deflation="nipals", scale_targets="none")
LEVELS = np.array(["a", "b", "c"])[LEVEL]


def found_in(method, X=X, Y=Y, k=3, **options):
    return component_tests(method, X, read_targets(Y, scale_targets="none"), k, **options)


def column(found, name):
    return np.array([each[name] for each in found])


def axes(method, Z=None, X=X, Y=Y, k=3):
    return _axes_of(method, X, Y, *_read_covariates(Z, len(X)), k)


def near_p(found, theirs):
    """Within four standard errors of the difference of two estimates."""
    theirs = np.array(theirs)
    error = np.sqrt(theirs * (1 - theirs) * (1 / found[0]["n_permutations"] + 1 / 9999))
    return np.all(np.abs(column(found, "p") - theirs) <= 4 * error + 1e-3)


def test_redundancy_analysis_is_that_of_vegan():
    orders = [(j * np.arange(N) + j * j) % N for j in range(1, N)]
    for name, covariates in (("alone", None), ("numbers", Z)):
        found = axes(RDA, covariates)
        np.testing.assert_allclose(found.statistics(), STORED[f"{name}.statistic"], rtol=1e-8)
        permuted = [found.statistics(order) for order in orders]
        np.testing.assert_allclose(np.ravel(permuted), STORED[f"{name}.permuted"], rtol=1e-8)
    table = pd.DataFrame({"level": LEVELS, "z": Z})
    for name, covariates in (("numbers", Z), ("levels", table)):
        found = found_in(RDA, covariates=covariates, n_permutations=299)
        np.testing.assert_allclose(column(found, "statistic"), STORED[f"{name}.statistic"], rtol=1e-8)
        np.testing.assert_allclose(column(found, "share"), STORED[f"{name}.share"], rtol=1e-8)
        assert near_p(found, STORED[f"{name}.p"]), (name, column(found, "p"))


def test_canonical_correlations_and_pls_are_those_of_r():
    squared = np.array(STORED["canonical.correlations"]) ** 2
    statistics = squared / (1 - squared) * (N - 2 - 3)
    np.testing.assert_allclose(axes(CANONICAL, Z).statistics(), statistics, rtol=1e-8)
    share = np.array(STORED["pls.explained"])
    statistics = share / ((1 - np.cumsum(share)) / (N - 2 - np.arange(1, 4)))
    found = axes(PARTIAL_LS, Z)
    np.testing.assert_allclose(found.statistics(), statistics, rtol=1e-8)
    np.testing.assert_allclose(found.explained / found.total, share, rtol=1e-8)


def rest(A, *columns):
    """A less its regression on a constant and columns."""
    B = np.column_stack([np.ones(len(A)), *columns])
    return A - B @ np.linalg.lstsq(B, A, rcond=None)[0]


def test_estimators_find_the_components_of_r():
    """After a regression on z: the axes of vegan's rda, the correlations of cancor, and pls by plsr."""
    left, y = rest(X, Z), rest(Y, Z)
    total = np.sum(y**2)
    np.testing.assert_allclose(RDA.fit(left, y).eigenvalues_ / total, STORED["numbers.share"], rtol=1e-8)
    np.testing.assert_allclose(
        np.sqrt(CANONICAL.fit(left, y).eigenvalues_), STORED["canonical.correlations"], rtol=1e-8
    )
    T = PLS(n_components=3, deflation="nipals", scale_targets="none").fit(left, y).transform(left)
    explained = np.sum((T.T @ y) ** 2, axis=1) / np.sum(T**2, axis=0)
    np.testing.assert_allclose(explained / total, STORED["pls.explained"], rtol=1e-8)


def first_of(kind, X, Y):
    """The first axis of X, the first canonical variate of y, and the squares (or the correlation) explained."""
    if kind == "pls":
        t = X @ np.linalg.svd(X.T @ Y)[0][:, 0]
        return t, None, np.sum((t @ Y) ** 2) / (t @ t)
    H = X @ np.linalg.pinv(X, rcond=1e-8)
    if kind == "rda":
        u, s, _ = np.linalg.svd(H @ Y)
        return u[:, 0], None, s[0] ** 2
    G = Y @ np.linalg.pinv(Y, rcond=1e-8)
    u, s, v = np.linalg.svd(H @ G)
    return u[:, 0], v[0], s[0] ** 2


def defined(kind, X, Y, Z, k, order):
    """The statistics of Freedman and Lane's permuted y, by whole matrices."""
    found, earlier, rank = [], [Z], np.linalg.matrix_rank(rest(X, Z))
    for a in range(k):
        moved = rest(Y, *earlier)
        starred = Y - moved + moved[order]
        left = rest(X, *earlier)
        _, _, value = first_of(kind, left, starred := rest(starred, *earlier))
        below = np.sum(starred**2) - value
        if kind == "rda":
            below, df = np.sum(rest(starred, left) ** 2), len(X) - 2 - rank
        else:
            below, df = (1 - value, len(X) - 2 - rank) if kind == "cca" else (below, len(X) - 2 - a - 1)
        found.append(value / (below / df))
        u, v, _ = first_of(kind, left, rest(Y, *earlier))
        earlier.append(u)
        if kind == "cca":  # the earlier variate of y is taken off y
            Y = Y - np.outer(v, v @ Y)
    return found


def test_permuted_statistics_are_those_of_the_definitions():
    random = np.random.default_rng(0)
    wide = np.hstack([X, random.normal(size=(N, 2))])
    for number, (kind, method) in enumerate({"rda": RDA, "cca": CANONICAL, "pls": PARTIAL_LS}.items()):
        found = axes(method, Z, wide, Y[:, :3])
        for order in (np.arange(N), random.permutation(N)):
            expected = defined(kind, wide, Y[:, :3], Z, 3, order)
            np.testing.assert_allclose(found.statistics(order), expected, rtol=1e-8, err_msg=f"{kind} {number}")


def test_a_ridge_is_that_of_the_estimator_and_auto_is_none():
    for method in (OPLS(ridge=0.7), OPLS(ridge=3.0, ridge_scale="absolute"), CCA(ridge=0.4, ridge_y=0.2)):
        method.set_params(scale_targets="none", n_components=3)
        values = method.fit(X, Y).eigenvalues_
        found = axes(method)
        if isinstance(method, CCA):
            np.testing.assert_allclose(found.statistics() / found.df, values / (1 - values), rtol=1e-8)
        else:
            np.testing.assert_allclose(found.explained, values, rtol=1e-8)
    np.testing.assert_allclose(axes(OPLS()).statistics(), axes(RDA).statistics())
    wide = np.random.default_rng(0).normal(size=(N, 40))
    with pytest.raises(ValueError, match="29 rows are too few to test components of 40 features"):
        found_in(OPLS(), wide)
    assert len(found_in(OPLS(ridge=1.0), wide, n_permutations=9)) == len(found_in(PLS(), wide, n_permutations=9)) == 3


def confounded(seed, n=40):
    """X and y that have nothing in common but what a covariate tells of both."""
    random = np.random.default_rng(seed)
    z = random.normal(size=n)
    return random.normal(size=(n, 3)) + z[:, None], random.normal(size=(n, 2)) + 1.5 * z[:, None], z


def test_a_covariate_that_explains_both_gives_no_false_alarms():
    given, alone = [], []
    for seed in range(40):
        X, Y, z = confounded(seed)
        given.append(found_in(RDA, X, Y, 1, covariates=z, n_permutations=19)[0]["p"])
        alone.append(found_in(RDA, X, Y, 1, n_permutations=19)[0]["p"] if seed < 5 else 0.05)
    assert np.mean(np.array(given) <= 0.05) <= 0.15 and np.mean(given) > 0.35
    assert np.mean(np.array(alone) <= 0.05) == 1


def two_axes(n=80):
    """Two axes, and features that vary alike in all directions, so that PLS needs no third one for them."""
    random = np.random.default_rng(1)
    X = np.sqrt(n) * np.linalg.qr(rest(random.normal(size=(n, 5))))[0]
    return X, X[:, :2] @ [[1.0, 0, 1, 0], [0, 0.8, -0.8, 0]] + random.normal(size=(n, 4))


def test_two_axes_are_found_and_the_third_is_not():
    for method in (OPLS(), CCA(), PLS(), make_pipeline(StandardScaler(), OPLS())):
        found = found_in(method, *two_axes(), n_permutations=99)
        assert column(found, "p")[:2].tolist() == [0.01, 0.01] and found[2]["p"] > 0.05, method
        assert [each["component"] for each in found] == [1, 2, 3]
        assert column(found, "share").sum() < 1


def test_levels_and_their_rows_are_kept_together():
    X, Y = two_axes(30)
    level = np.repeat(["a", "b"], 15)
    moved = Y + 50.0 * (level == "b")[:, None]
    expected = found_in(RDA, X, Y, covariates=level, n_permutations=19)
    for given in (level, level == "b", pd.Series(level, dtype="category"), pd.DataFrame({"l": level, "m": level})):
        found = found_in(RDA, X, moved, covariates=given, n_permutations=19)
        np.testing.assert_allclose(column(found, "statistic"), column(expected, "statistic"), rtol=1e-8)
        np.testing.assert_allclose(column(found, "p"), column(expected, "p"))
    numbers = found_in(RDA, X, moved, covariates=(level == "b").astype(float), n_permutations=19)
    np.testing.assert_allclose(column(numbers, "statistic"), column(expected, "statistic"), rtol=1e-8)


def test_groups_and_times_permute_whole_units():
    """Rows that repeat those of their group say nothing new: single rows give false alarms, groups and times do not."""
    random = np.random.default_rng(3)
    group, false = np.repeat(np.arange(10), 8), {"rows": 0, "groups": 0, "times": 0}
    for _ in range(12):
        X, Y = (random.normal(size=(10, 2))[group] + 0.1 * random.normal(size=(80, 2)) for _ in range(2))
        units = {"rows": {}, "groups": {"groups": group}, "times": {"times": np.arange(80)}}
        for name, unit in units.items():
            false[name] += found_in(RDA, X, Y, 1, n_permutations=19, **unit)[0]["p"] <= 0.05
    assert false["rows"] >= 10 and false["groups"] <= 3 and false["times"] <= 3, false


def test_labels_and_unknown_rows():
    X, Y = two_axes(90)
    labels = (Y[:, :3] > 0.3).astype(float)
    known = np.arange(90) % 9 != 4
    holed = np.where(known[:, None], labels, np.nan)
    codes = np.where(known, np.array(["in", "on"])[np.arange(90) % 2], "left out")
    for method in (OPLS(), CCA(), PLS()):
        found = component_tests(method, X, read_targets(holed), 2, covariates=codes, n_permutations=99)
        own = component_tests(
            method, X[known], read_targets(labels[known]), 2, covariates=codes[known], n_permutations=1
        )
        np.testing.assert_allclose(column(found, "statistic"), column(own, "statistic"))
        assert found[0]["p"] == 0.01
    classes = component_tests(OPLS(), X, read_targets(np.digitize(Y[:, 0], [-1, 1])), 5, n_permutations=19)
    assert len(classes) == 2


def test_a_diagnosis_tests_the_components_of_a_pipeline():
    X, Y = two_axes()
    method = make_pipeline(Scaling("standard"), OPLS(n_components=3, ridge=0.1))
    options = {"n_shuffles": 1, "n_resamples": 1}
    found = diagnose(method, X, Y, **options, per_component=True, covariates=X[:, 4], n_permutations=99)
    assert column(found.components, "p")[:2].tolist() == [0.01, 0.01] and found.components[2]["p"] > 0.05
    described = json.loads(json.dumps(found.describe()))["components"]
    assert described == list(found.components) and list(described[0]) == [
        "component",
        "statistic",
        "p",
        "share",
        "n_permutations",
    ]
    plain = diagnose(method, X, Y, **options)
    assert plain.components == () and plain.null == found.null


def test_what_cannot_be_tested_is_refused():
    X, Y = two_axes(30)
    level = np.array(["a", "b"])[np.arange(30) % 2]
    refused = [
        (PCA(), {}, "per_component tests OPLS, CCA and PLS .alone, or last in a pipeline., not PCA"),
        (RDA, {"covariates": X}, "covariates leave nothing of X"),
        (RDA, {"covariates": Y}, "covariates leave nothing of y"),
        (RDA, {"covariates": X[:20, 0]}, "covariates has 20 rows in column 0, X has 30"),
        (
            RDA,
            {"covariates": np.where(np.arange(30) == 7, np.nan, X[:, 0])},
            "column 0 is empty or not finite in row 7",
        ),
        (RDA, {"covariates": pd.DataFrame({"s": ["a", None, *"b" * 28]})}, "column s is empty or not finite in row 1"),
        (RDA, {"covariates": np.zeros((30, 1, 1))}, "covariates has shape"),
        (RDA, {"covariates": level, "groups": np.arange(30) // 3}, "covariates vary in level inside a group"),
        (RDA, {"groups": np.zeros(30)}, "no two rows .or groups. have the same levels"),
        (CANONICAL, {"covariates": np.random.default_rng(0).normal(size=(30, 22))}, "30 rows are too few"),
    ]
    for method, options, message in refused:
        with pytest.raises(ValueError, match=message):
            found_in(method, X, Y, **options)
    for rows, options in (((X, Y), {}), ((RowBlocks.from_arrays(X, Y),), {"per_component": True})):
        with pytest.raises(ValueError, match="covariates are for per_component=True"):
            diagnose(OPLS(), *rows, covariates=X[:, 0], **options)
