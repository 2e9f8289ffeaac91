"""The Bayesian multi-label experiment as a whole: fits, traces, page; what is done is not done again."""

import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import t as student

from clocks import Clock
from papers import EXPERIMENTS, Request
from papers.bsml import experiment as gonen
from papers.bsml import fits
from papers.bsml.bounds import RUNS, reached, trace, traced
from papers.bsml.fits import (
    BASELINES,
    DIMENSIONS,
    NEIGHBORS,
    PREDICTIVES,
    SplitRows,
    compete,
    fits_of,
    time_run,
    timed_fits,
)
from papers.bsml.readings import AUC, HAMMING, LOG_LOSS, less, measures, reading
from papers.groups import row_groups
from proxembed import BSML, BSSML
from proxembed.data import read
from slow.unit.papers.made import dense_set

SMALL = gonen.Plan(sweeps=8, starts=1, relevance_starts=2, draws={"emotions": 2})


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    place = tmp_path_factory.mktemp("rows")
    dense_set(place / "emotions.npz")
    return SplitRows.of(read(place / "emotions.npz"))


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(gonen, "QUICK", SMALL)


def request(folder, place, **asked):
    return Request(folder, place, quick=True, command="python -m papers", **asked)


def named(rows, name):
    return next(fit for fit in fits_of("emotions", rows.Y.shape[1], SMALL) if fit.name == name)


def test_a_run_leaves_claims_figures_and_a_record_and_is_not_repeated(folder, tmp_path, small, done_once):
    record = gonen.run(request(folder, tmp_path))
    assert list(record["parts"]) == [
        "emotions", "emotions, bound", "emotions, seconds", "emotions, draw 1", "emotions, draw 2"
    ]  # fmt: skip
    assert not [entry for entries in record["parts"].values() for entry in entries if entry["failure"]]
    assert json.loads((tmp_path / "results.json").read_text()) == record
    page = (tmp_path / "README.md").read_text()
    fit = next(entry for entry in record["parts"]["emotions"] if entry["entrant"] == "BSML, svd")
    assert f"svd {fit['scores']['Hamming loss']:.4f}" in page and "A quick run" in page and "## Failures" not in page
    for name in ("dimensions.svg", "neighbors.svg", "times.svg", "bounds.svg"):
        assert ElementTree.parse(tmp_path / name).getroot().tag.endswith("svg") and name in page
    done_once(gonen, request(folder, tmp_path), record)


def test_the_progress_has_one_total_for_sets_of_unequal_numbers_of_fits_and_ends_at_it(tmp_path, small, monkeypatch):
    for name in ("emotions", "tmc2007-500"):
        dense_set(tmp_path / f"{name}.npz")
    for job, name_of in (("compete", lambda fit: fit.name), ("trace", str), ("time_run", str)):
        done = lambda each, *rest, name_of=name_of: {"entrant": name_of(each), "seconds": 0.0, "failure": None}  # noqa: E731
        monkeypatch.setattr(gonen, job, done)
    monkeypatch.setattr(gonen, "_write", lambda *given: None)
    monkeypatch.setitem(DIMENSIONS, "tmc2007-500", (2, 3))
    told = []
    asked = request(tmp_path, tmp_path, sets=("emotions", "tmc2007-500"), progress=lambda *given: told.append(given))
    parts = gonen.run(asked)["parts"]
    assert len(parts["emotions"]) != len(parts["tmc2007-500"])
    redrawn = [entry["entrant"] for entry in parts["tmc2007-500, random split"]]
    assert redrawn == ["PROBIT", "BSML, svd", "BSSML, svd", "BSSML, printed, svd"]
    done, totals = [given[0] for given in told], {given[1] for given in told}
    assert totals == {sum(map(len, parts.values()))} == {done[-1]} and done == sorted(done)


def test_two_processes_find_what_one_finds(folder, tmp_path, small):
    found = []
    for jobs in (1, 2):
        (tmp_path / str(jobs)).mkdir()
        record = gonen.run(request(folder, tmp_path / str(jobs), n_jobs=jobs))
        found.append(
            [[entry.get("scores", entry.get("bounds")) for entry in part] for part in record["parts"].values()][:2]
        )
    assert found[0] == found[1]


def test_a_fit_that_fails_is_told_and_the_others_stand(rows, folder, tmp_path, small, monkeypatch):
    whole = gonen.compete

    def failing(fit, rows):
        return whole(replace(fit, kind="reduced") if fit.method == "PROBIT" else fit, rows)

    monkeypatch.setattr(gonen, "compete", failing)
    record = gonen.run(request(folder, tmp_path))
    entry = next(entry for entry in record["parts"]["emotions"] if entry["entrant"] == "PROBIT")
    assert entry["scores"] is None and "AttributeError" in entry["failure"]
    page = (tmp_path / "README.md").read_text()
    assert "## Failures" in page and "| emotions | PROBIT |" in page
    claim = next(each for each in record["claims"] if "is better than PROBIT" in each["published"])
    assert claim["came_out"] is None and claim["ours"] == "too few fits finished"


@pytest.mark.parametrize("name", EXPERIMENTS["bayesian-multilabel"].files)
def test_fits_have_names_of_their_own_and_published_settings(name):
    labels = DIMENSIONS[name][-1]
    fits = fits_of(name, labels, gonen.Plan())
    names = [fit.name for fit in fits]
    assert len(set(names)) == len(names)
    assert sum(fit.method == "BSML+ARD" and fit.model.prior == "column" for fit in fits) == 10
    for fit in fits:
        settings = fit.model.get_params() if fit.kind != "reduced" else fit.sweeps
        assert (settings["accelerate"], settings["tol"], settings["max_iter"]) == (False, 0, 500)
    assert {fit.k for fit in fits if fit.method == "BSML"} == set(DIMENSIONS[name])
    assert max(fit.k for fit in fits if fit.method.startswith("MLDA")) < labels
    assert {fit.method for fit in fits if fit.kind == "reduced"} == set(BASELINES)


def test_a_random_split_has_the_sizes_of_the_given_one_and_every_row_once(tmp_path):
    dense_set(tmp_path / "emotions.npz")
    dataset = read(tmp_path / "emotions.npz")
    dataset = replace(dataset, X=np.arange(len(dataset.X), dtype=float)[:, None], feature_names=None)
    given, redrawn = SplitRows.of(dataset), SplitRows.of(dataset, 0)
    assert redrawn.X.shape == given.X.shape and redrawn.X_test.shape == given.X_test.shape
    assert not np.array_equal(redrawn.Y, given.Y) and redrawn.X.mean() == pytest.approx(0)
    together = np.sort(np.concatenate([redrawn.X, redrawn.X_test]).ravel())
    assert np.diff(together) == pytest.approx(np.full(len(together) - 1, np.diff(together)[0]))


def test_random_draws_have_splits_of_their_own_and_a_row_is_in_one_group_in_all_of_them(tmp_path):
    dense_set(tmp_path / "emotions.npz")
    dataset = read(tmp_path / "emotions.npz")
    n = len(dataset.X)
    dataset = replace(dataset, X=np.arange(n, dtype=float)[:, None], feature_names=None)
    first, second = (SplitRows.of(dataset, (0, draw)) for draw in (1, 2))
    numbers = [rank_of(each.X_test, np.vstack([each.X, each.X_test])) for each in (first, second)]
    assert set(numbers[0]) != set(numbers[1])
    for each, rows in zip((first, second), numbers, strict=True):
        np.testing.assert_array_equal(each.groups, row_groups(n)[rows])


def rank_of(part, whole):
    """The places of some numbers among all, which are the rows' own numbers."""
    return np.searchsorted(np.sort(whole.ravel()), part.ravel())


def test_the_measures_without_groups_follow_the_rows_groups(rows):
    fit = named(rows, "PCA+PROBIT, R = 2")
    found, turned = compete(fit, rows), compete(fit, replace(rows, groups=rows.groups[::-1]))
    assert found["scores"] == turned["scores"] and found["without"] != turned["without"]
    assert found["neighbors"]["without"] != turned["neighbors"]["without"]


def test_features_are_standardised_by_the_training_rows_alone(rows):
    np.testing.assert_allclose(rows.X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(rows.X.std(axis=0, ddof=1), 1, rtol=1e-12)
    assert np.abs(rows.X_test.mean(axis=0)).max() > 0.01 and len(rows.X_test) == len(rows.Y_test) == 30


@pytest.mark.parametrize("name", ["BSML, svd", "BSSML, svd", "MLLS+PROBIT, R = 2"])
def test_no_fit_sees_the_labels_of_the_test_rows(rows, name):
    first = compete(named(rows, name), rows)
    other = compete(named(rows, name), replace(rows, Y_test=1 - rows.Y_test))
    assert first["bound"] == other["bound"] and first["failure"] is None
    assert first["scores"]["Hamming loss"] == pytest.approx(1 - other["scores"]["Hamming loss"])
    assert first["scores"]["average AUC"] == pytest.approx(1 - other["scores"]["average AUC"])


def test_bssml_is_measured_on_the_labels_that_it_infers_for_the_test_rows(rows):
    found = compete(named(rows, "BSSML, svd"), rows)
    y = np.vstack([rows.Y, np.full(rows.Y_test.shape, np.nan)])
    model = BSSML(accelerate=False, tol=0, max_iter=8).fit(np.vstack([rows.X, rows.X_test]), y)
    wrong = np.mean(model.transduction_[len(rows.Y) :] != rows.Y_test)
    assert found["scores"]["Hamming loss"] == wrong and found["bound"] == model.lower_bound_[-1]


def test_nearest_neighbours_read_the_standardised_components_of_reductions_and_of_bsml(rows):
    from sklearn.neighbors import NearestNeighbors

    found = compete(named(rows, "MLLS+PROBIT, R = 2"), rows)
    model = named(rows, "MLLS+PROBIT, R = 2").model.fit(rows.X, rows.Y)
    Z, Z_test = model.transform(rows.X), model.transform(rows.X_test)
    mean, scale = Z.mean(axis=0), Z.std(axis=0, ddof=1)
    nearest = NearestNeighbors(n_neighbors=NEIGHBORS).fit((Z - mean) / scale)
    shares = rows.Y[nearest.kneighbors((Z_test - mean) / scale)[1]].mean(axis=1)
    assert found["neighbors"]["scores"] == pytest.approx(measures(rows.Y_test, shares > 0.5, shares))
    assert compete(named(rows, "BSML, svd"), rows)["neighbors"] and NEIGHBORS % 2
    assert not compete(named(rows, "BSML, random 0"), rows)["neighbors"]


def test_predictives_share_their_labels_and_differ_in_their_probabilities(rows):
    found = compete(named(rows, "BSML, svd"), rows)
    model = named(rows, "BSML, svd").model.fit(rows.X, rows.Y)
    printed, corrected = (
        model.set_params(predictive=each).predict_proba(rows.X_test) for each in ("printed", "corrected")
    )
    np.testing.assert_array_equal(printed > 0.5, corrected > 0.5)
    assert list(found["predictives"]) == list(PREDICTIVES)
    told = {name: each["scores"] for name, each in found["predictives"].items()}
    assert told["corrected"][AUC] == pytest.approx(found["scores"][AUC])
    hits = np.where(rows.Y_test, printed, 1 - printed)
    assert told["printed"][LOG_LOSS] == pytest.approx(-np.log(hits).mean())
    assert len({each[LOG_LOSS] for each in told.values()}) == 3


def test_training_seconds_are_without_prediction(rows, monkeypatch):
    slow, clock = BSML.predict_proba, Clock()

    def sleepless(model, X):
        clock.forward(500)
        return slow(model, X)

    monkeypatch.setattr(BSML, "predict_proba", sleepless)
    monkeypatch.setattr(fits, "time", SimpleNamespace(perf_counter=clock, process_time=clock))
    found = compete(named(rows, "BSML, svd"), rows)
    assert found["seconds"] >= 500 and found["cpu_seconds"] == 0


def test_a_run_times_each_method_at_its_largest_dimension(rows, small):
    fits = timed_fits("emotions", rows.Y.shape[1], SMALL)
    largest = rows.Y.shape[1]
    assert [(fit.method, fit.k) for fit in fits] == [
        ("PROBIT", None), ("BSML", largest), *((name, largest - (name == "MLDA+PROBIT")) for name in BASELINES)
    ]  # fmt: skip
    found = time_run("run 1", fits, rows)
    assert list(found["cpu_seconds"]) == [fit.method for fit in fits] and min(found["cpu_seconds"].values()) > 0


def test_the_interval_of_a_difference_is_that_of_paired_rows():
    """Of a mean over rows the delete-a-group jackknife has the variance of the mean of the groups' means."""
    rng = np.random.default_rng(5)
    Y = (rng.random((400, 3)) < 0.4).astype(int)
    one, other = (np.where(rng.random(Y.shape) < share, 1 - Y, Y) for share in (0.2, 0.3))
    found = less(reading(Y, one, one), reading(Y, other, other), HAMMING)
    wrong = ((other != Y).astype(float) - (one != Y)).mean(axis=1)
    assert found.mean == pytest.approx(wrong.mean())
    error = wrong.std(ddof=1) / np.sqrt(400)
    low, high = found.interval()
    assert (high - low) / 2 == pytest.approx(student.ppf(0.975, 19) * error, rel=0.5)
    group = np.random.default_rng(0).permutation(400) % 20
    means = np.array([wrong[group == g].mean() for g in range(20)])
    half = student.ppf(0.975, 19) * means.std(ddof=1) / np.sqrt(20)
    assert (low, high) == pytest.approx((wrong.mean() - half, wrong.mean() + half))
    same = less(reading(Y, one, one), reading(Y, one, one), HAMMING)
    assert (same.mean, same.interval()) == (0, (0, 0))


def test_measures_of_hand_made_predictions():
    Y = np.array([[1, 1, 0], [0, 1, 0], [1, 1, 0], [0, 1, 1]])
    scores = np.array([[0.9, 0.1, 0.2], [0.8, 0.2, 0.1], [0.7, 0.3, 0.3], [0.1, 0.4, 0.9]])
    found = measures(Y, scores > 0.5, scores)
    assert found["Hamming loss"] == pytest.approx((1 + 4 + 0) / 12)
    assert found["average AUC"] == pytest.approx((0.75 + 1.0) / 2)  # the second label is on every row
    assert found["macro F1"] == pytest.approx((4 / 5 + 0 + 1) / 3) and found["micro F1"] == pytest.approx(6 / 11)


@pytest.mark.parametrize("accelerate", [False, True])
@pytest.mark.parametrize("init", ["svd", "random"])
def test_a_trace_is_the_bound_of_the_estimator(rows, init, accelerate):
    seconds, bounds = traced(rows.X, rows.Y, init, accelerate, 30)
    model = BSML(init=init, accelerate=accelerate, tol=0, max_iter=30).fit(rows.X, rows.Y)
    np.testing.assert_allclose(bounds, model.lower_bound_, rtol=1e-10)  # the order of sums grows by extrapolation
    assert len(seconds) == 30 and (np.diff(seconds) > 0).all() and seconds[0] > 0
    assert (np.diff(bounds) >= -1e-9 * np.abs(bounds[1:])).all()


def test_a_kept_trace_has_first_and_last_sweep_and_tells_when_a_bound_was_reached(rows):
    entry = trace("svd, extrapolated", rows, 200, 0)
    assert entry["sweeps"][0] == 1 and entry["sweeps"][-1] == 200 and len(entry["sweeps"]) == len(entry["at"]) < 100
    assert reached(entry, entry["bounds"][0])[0] == 1
    sweep, seconds = reached(entry, entry["bounds"][20])
    assert sweep <= entry["sweeps"][20] and seconds <= entry["at"][20]
    assert reached(entry, entry["bounds"][-1] + 1.0) is None
    assert set(RUNS) == {f"{init}, {how}" for init in ("random", "svd") for how in ("plain", "extrapolated")}
