"""The SSDR-MC experiments: the rows and their draws, one rule of cutting, and claims that can fail."""

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from papers.experiment import Request
from papers.ssdr_mc import experiment as ssdr_mc
from papers.ssdr_mc.entrants import (
    COUPLED,
    RANKED,
    REDUCED,
    TUNED,
    Scored,
    coupled_scores,
    entrants,
    harmonic_scores,
)
from papers.ssdr_mc.page import page
from papers.ssdr_mc.rows import LabelledRows, rows_of
from papers.ssdr_mc.surface import row_of_surface, settings
from proxembed import PCA, SSDRMC
from proxembed.classify import RankSVM
from proxembed.data import read
from proxembed.measures.metrics import micro_f1
from proxembed.methods.transductive.propagator import hidden_fifth
from proxembed.proximity.backends import nearest
from slow.unit.papers.made import counted_set, dense_set


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    place = tmp_path_factory.mktemp("ssdr")
    for seed, name in enumerate(("emotions", "scene", "yeast")):
        dense_set(place / f"{name}.npz", seed=seed)
    counted_set(place / "tmc2007-500.npz")
    return place


def yeast(folder, **how):
    return rows_of(read(folder / "yeast.npz"), "yeast", 0, **how)


def test_rows_are_standardised_by_the_rows_that_the_protocol_says(data):
    every, published = yeast(data), yeast(data, published=True)
    np.testing.assert_allclose(every.X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(published.X[published.training].mean(axis=0), 0, atol=1e-12)
    assert np.abs(published.X.mean(axis=0)).max() > 1e-3 and published.training.sum() == 60
    documents = read(data / "tmc2007-500.npz")
    text = rows_of(documents, "tmc2007-500", 0, 50)
    np.testing.assert_allclose(text.X.power(2).sum(axis=1), 1.0)
    assert text.X.shape[0] == 50 and (rows_of(documents, "tmc2007-500", 1, 50).X != text.X).nnz


def test_draws_are_nested_and_the_same_for_all(data):
    rows = yeast(data)
    few, many = (rows.known(share, 3, 1) for share in (0.1, 0.5))
    assert (few.sum(), many.sum()) == (9, 45) and (few <= many).all()
    assert (rows.known(0.5, 3, 2) != many).any() and (rows.known(0.5, 4, 1) != many).any()


@pytest.mark.parametrize("entrant", entrants(), ids=lambda entrant: entrant.name)
def test_hidden_labels_are_not_seen_and_labels_are_found(data, entrant):
    rows = yeast(data)
    known = rows.known(0.6, 0, 0)
    found, _ = entrant.labels(rows.X, rows.Y, known, 0.4)
    other = np.where(known[:, None], rows.Y, ~rows.Y)
    np.testing.assert_array_equal(entrant.labels(rows.X, other, known, 0.4)[0], found)
    assert np.mean(found[~known] == rows.Y[~known]) > 0.65


def test_a_tuned_cut_is_the_best_on_hidden_rows():
    rng = np.random.default_rng(0)
    Y = rng.random((60, 3)) < 0.4
    rows = LabelledRows("made", np.zeros((60, 1)), Y, np.ones(60, dtype=bool))
    entrant = Scored("oracle", (lambda X, Y, known: np.where(Y, 0.2, 0.1),))
    known = rows.known(0.5, 0, 0)
    assert 0.1 < entrant.chosen(rows.X, Y, known, TUNED)[1] < 0.2
    np.testing.assert_array_equal(entrant.labels(rows.X, Y, known, TUNED)[0], Y)
    assert not entrant.labels(rows.X, Y, known, 0.3)[0].any()


def test_the_candidate_that_is_best_on_hidden_labelled_rows_takes_part():
    rng = np.random.default_rng(1)
    Y, known = np.repeat(rng.random((60, 1)) < 0.4, 2, axis=1), np.arange(60) < 40
    asked = []

    def of(share, low, high):
        """Scores that are right in a share of the labelled rows, in no other; they tell what they were given."""

        def scores(X, Y, some):
            asked.append((share, some))
            right = (np.arange(60) % 10 < 10 * share) & known
            return np.where(right[:, None] == Y, high, low)

        return scores

    low, high = 0.05, 0.15
    best, sure, shy = of(1.0, low, high), of(0.8, 0.0, 1.0), of(0.6, 0.0, 1.0)
    entrant = Scored("it", (shy, best, sure))
    scores, cut = entrant.chosen(None, Y, known, TUNED)
    assert scores is best and low < cut < high
    assert entrant.chosen(None, Y, known, 0.3) == (sure, 0.3), "at the cut that is used, not at its own best"
    assert entrant.chosen(None, Y, known, 0.1) == (best, 0.1)
    held_out = hidden_fifth(np.flatnonzero(known), Y)
    assert len(asked) == 9 and all(not some[held_out].any() and some.sum() == 32 for _, some in asked)
    assert not any(some[40:].any() for _, some in asked)
    asked.clear()
    found, _ = entrant.labels(None, Y, known, TUNED)
    assert [share for share, _ in asked] == [0.6, 1.0, 0.8, 1.0] and np.array_equal(asked[-1][1], known)
    np.testing.assert_array_equal(found[known], Y[known])


def test_rank_svm_has_the_papers_kernel_and_tries_penalties_and_numbers_of_components(data):
    rows = yeast(data)
    known = rows.known(0.6, 0, 0)
    ranked, reduced = (next(each for each in entrants() if each.name == name) for name in (RANKED, REDUCED))
    told = [tuple(each.keywords.values()) for each in (*ranked.candidates, *reduced.candidates)]
    assert told == [(3,), (10,), (30,), (3, 20), (10, 20), (30, 20), (3, 50), (10, 50), (30, 50)]
    assert reduced.describe()["choices"][-1] == {"C": 30.0, "size": 50}
    Z = PCA(n_components=3).fit(rows.X).transform(rows.X)
    for features, scores in ((rows.X, ranked.candidates[1]), (Z, partial(reduced.candidates[1], size=3))):
        fitted = RankSVM(C=10, kernel="gaussian", tol=1e-6).fit(features[known], rows.Y[known].astype(int))
        own = fitted.decision_function(features)
        found = scores(rows.X, rows.Y, known)
        assert np.corrcoef(found.ravel(), own.ravel())[0, 1] > 0.999
        assert np.mean((found >= 0.5) == (own >= 0)) > 0.97, "its own threshold is at a half"


def dense_coupled(X, Y, known, coupling):
    """L_uu F + F l2 L_C = W_ul Y_l on the symmetrised graph of 15 neighbours, by one Kronecker system."""
    found = nearest(X, 15)
    width = found.distance[:, -1].mean()
    W = np.zeros((len(X), len(X)))
    for i, (near, apart) in enumerate(zip(found.index, found.distance, strict=True)):
        W[i, near] = np.exp(-(apart**2) / (2 * width**2))
    W = np.maximum(W, W.T)
    labelled = Y[known].astype(float)
    cosine = labelled.T @ labelled / np.outer(*2 * [np.linalg.norm(labelled, axis=0)])
    label = coupling * (np.diag(cosine.sum(axis=1)) - cosine)
    rows = ~known
    L = (np.diag(W.sum(axis=1)) - W)[np.ix_(rows, rows)]
    n, c = len(L), Y.shape[1]
    system = np.kron(L, np.eye(c)) + np.kron(np.eye(n), label)
    return np.linalg.solve(system, (W[np.ix_(rows, known)] @ labelled).ravel()).reshape(n, c)


def test_coupled_harmonic_functions_are_those_of_chen_on_the_same_graph(data):
    rows = yeast(data)
    known = rows.known(0.6, 0, 0)
    expected = dense_coupled(rows.X, rows.Y, known, 1.0)
    found = coupled_scores(rows.X, rows.Y, known, coupling=1.0)
    np.testing.assert_allclose(found[~known], expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(found[known], rows.Y[known])
    plain = harmonic_scores(rows.X, rows.Y, known)
    np.testing.assert_allclose(coupled_scores(rows.X, rows.Y, known, coupling=0.0), plain, rtol=1e-6, atol=1e-9)
    assert np.abs(plain - found).max() > 0.01
    entrant = next(each for each in entrants() if each.name == COUPLED)
    assert [each["coupling"] for each in entrant.describe()["choices"]] == [0.01, 0.1, 1.0]


def test_the_thresholds_of_an_alpha_that_share_work_end_as_fits_of_their_own(data):
    rows = yeast(data)
    known, cuts = rows.known(0.5, 0, 1), (0.1, 0.3, 0.6)
    for alpha in (0.1, 0.9):
        row = row_of_surface(alpha, cuts, rows, known)
        fits = [SSDRMC(alpha=alpha, label_threshold=cut).fit(rows.X, np.where(known[:, None], rows.Y, np.nan))
                for cut in cuts]  # fmt: skip
        for fit, found in zip(fits, settings(alpha, cuts, rows, known), strict=True):
            np.testing.assert_array_equal(found.labels, fit.transduction_ > 0)
        assert row["passes"] == [fit.n_iter_ for fit in fits] and row["failure"] is None
        assert row["converged"] == [fit.status_ == "converged" for fit in fits]
        assert row["f1"] == [micro_f1(rows.Y[~known], fit.transduction_[~known] > 0) for fit in fits]
    assert len(set(row["f1"])) > 1


def test_a_surface_refuses_rows_that_no_label_reaches():
    X = np.vstack([np.random.default_rng(0).normal(size=(20, 2)) + 100 * far for far in (0, 1)])
    rows = LabelledRows("made", X, np.ones((40, 2)) > 0, np.ones(40, dtype=bool))
    assert "no path" in row_of_surface(0.1, (0.3,), rows, np.arange(40) < 20)["failure"]


def test_the_settings_of_a_surface_are_the_middles_of_equal_parts():
    grid = ssdr_mc.Plan().grid
    assert len(grid) == 25 and grid[0] == 0.02 and np.allclose(np.diff(grid), 0.04) and grid[-1] == 0.98


def test_an_entry_scores_the_unlabelled_rows_alone_and_keeps_a_failure():
    Y = np.array([[1, 0], [0, 1], [1, 1], [0, 0]]) > 0
    rows = LabelledRows("made", np.zeros((4, 1)), Y, np.ones(4, dtype=bool))
    known = np.array([True, True, False, False])
    entry = ssdr_mc.compete(Scored("ones", (lambda X, Y, known: np.ones(Y.shape),)), 0.3, rows, known, 0.5)
    assert entry["f1"] == 2 * 2 / (2 + 4) and entry["hamming"] == 0.5 and entry["failure"] is None
    assert entry["share"] == 50 and entry["entrant"] == "ones, H = 0.3, 50 %"

    def broken(X, Y, known):
        raise FloatingPointError("no scores")

    failed = ssdr_mc.compete(Scored("broken", (broken,)), 0.3, rows, known)
    assert failed["failure"] == "FloatingPointError: no scores" and "f1" not in failed and failed["share"] is None


def test_a_quick_run_leaves_its_folder_and_goes_on_from_it_with_more_draws(data, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    one = ssdr_mc.run(Request(data, folder, quick=True, draws=1))["parts"]
    assert not any(part.endswith("draw 2") for part in one)
    request = Request(data, folder, quick=True)
    found = ssdr_mc.run(request)
    assert {part: found["parts"][part] for part in one} == one and len(found["parts"]) == len(one) + 5
    entries = [entry for part in found["parts"].values() for entry in part]
    assert {each["entrant"]: each["failure"] for each in entries if each["failure"]} == {}
    assert json.loads((folder / "results.json").read_text()) == found
    text = (folder / "README.md").read_text()
    assert text == page(found) and all(each["published"] in text for each in found["claims"])
    assert "quick run" in text and "- 2 draws, not fifty" in text
    for name in ("curves", "surface", "digit_images", "digit_projections"):
        assert f"]({name}.svg)" in text and (folder / f"{name}.svg").read_text().startswith("<svg")
    assert ssdr_mc.run(request)["parts"] == found["parts"] and not (folder / "ledger.jsonl").exists()
    whole = ssdr_mc.run(replace(request, folder=tmp_path))["parts"]
    scores = [{(part, e["entrant"]): e.get("f1") for part, each in run.items() for e in each}
              for run in (whole, found["parts"])]  # fmt: skip
    assert scores[0] == scores[1]


def test_the_progress_ends_at_its_total(data, tmp_path):
    told = []
    ssdr_mc.run(Request(data, tmp_path, quick=True, progress=lambda done, total, text: told.append((done, total))))
    assert told[-1][0] == told[-1][1]
