"""Rivals that predict by themselves: their scores are those of scikit-learn, and training rows never see their own."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.ensemble
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_info, threadpool_limits

from contracts.estimators import RIVALS, SMALL_RIVALS
from proxembed import load, save
from proxembed.data import Dataset
from proxembed.evaluate.arms import ALL_FEATURES, Arm, entrants
from proxembed.evaluate.part import prepare
from proxembed.evaluate.results import predictions_npz
from proxembed.evaluate.rivals import forests
from proxembed.evaluate.rivals.forests import BoostedScores, ForestScores
from proxembed.evaluate.rivals.linear import LogisticScores, SVMScores
from proxembed.evaluate.run import Protocol, run
from proxembed.evaluate.scoring import ScoreReadings, fitted_scores
from proxembed.evaluate.verdict import summarise
from proxembed.measures.metrics import jaccard_at_k, macro_average_precision, row_jaccard
from proxembed.measures.neighbors import neighbor_weights, new_neighbor_weights
from proxembed.splits.splits import Split, Splitting, standard_split
from proxembed.targets.labels import LabelMatrix

SMALL = [rival for rival in SMALL_RIVALS if rival.predicts and "labels" in rival.takes]


def data(n=240, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    return X, np.column_stack([X[:, 0] ** 2 > 0.5, X[:, 1] > 0.3, X[:, 0] * X[:, 1] > 0]).astype(int)


def test_forest_scores_embed_training_rows_as_new_ones_and_can_be_saved(tmp_path):
    X, Y = data()
    X[1] = X[0]  # equal rows are one row
    forest = ForestScores(n_estimators=20, max_rows=150).fit(X, Y)
    np.testing.assert_array_equal(forest.transform(X), forest.own_scores_)
    new = data(50, seed=1)[0]
    np.testing.assert_array_equal(forest.transform(new), forest.decision_function(new))
    own, seen = (np.mean((S > 0) == Y) for S in (forest.own_scores_, forest.decision_function(X)))
    assert seen > own + 0.02, "all trees know the training rows that they were grown on"
    loaded = load(save(forest, tmp_path / "forest.skops"))
    np.testing.assert_array_equal(loaded.transform(np.vstack([X, new])), forest.transform(np.vstack([X, new])))
    assert loaded.get_feature_names_out().tolist() == ["forestscores0", "forestscores1", "forestscores2"]


@pytest.mark.parametrize("shape", [lambda X: X, sp.csr_array, lambda X: np.hstack([X, np.zeros((len(X), 500))])])
def test_logistic_scores_are_scikit_learns_log_odds(shape):
    X, Y = data()
    ours = LogisticScores(C=0.5).fit(shape(X), Y).decision_function(shape(X))
    for j, column in enumerate(Y.T):
        theirs = LogisticRegression(C=0.5, tol=1e-10, max_iter=2000).fit(X, column).decision_function(X)
        np.testing.assert_allclose(ours[:, j], theirs, atol=5e-3)


@pytest.mark.parametrize("shape", [lambda X: X, sp.csr_array])
def test_svm_scores_are_those_of_scikit_learn_on_rows_of_unit_spread(shape):
    X, Y = data()
    X[np.abs(X) < 0.4] = 0.0
    X += np.array([3.0, 0, 0, 0, 0, 0])  # the spread is about the mean
    unit = X / np.sqrt(((X - X.mean(axis=0)) ** 2).sum(axis=1).mean())
    ours = SVMScores(C=0.3, tol=1e-6).fit(shape(X), Y).decision_function(shape(X))
    for j, column in enumerate(Y.T):
        theirs = LinearSVC(C=0.3, dual=False, tol=1e-8).fit(unit, column).decision_function(unit)
        np.testing.assert_allclose(ours[:, j], theirs, atol=5e-3)
    again = SVMScores(C=0.3, tol=1e-6).fit(shape(1000 * X), Y).decision_function(shape(1000 * X))
    np.testing.assert_allclose(again, ours, atol=5e-3)


def test_the_penalty_of_an_svm_counts_and_constant_rows_have_a_margin():
    X, Y = data()
    weak, strong = (SVMScores(C=C).fit(X, Y).coef_ for C in (0.01, 1.0))
    assert np.linalg.norm(weak) < 0.5 * np.linalg.norm(strong)
    S = SVMScores().fit(np.ones((20, 2)), np.arange(20) % 4 == 0).decision_function(np.ones((1, 2)))
    assert np.isfinite(S).all() and S[0] < 0


def test_an_svm_gives_a_label_of_all_rows_or_of_none_a_full_margin():
    X, Y = data(30)
    Y[:, 0], Y[:, 1] = 1, 0
    model = SVMScores().fit(X, Y)
    np.testing.assert_array_equal(model.decision_function(X)[:, :2], np.tile([1.0, -1.0], (30, 1)))
    np.testing.assert_array_equal(model.predict(X)[:, :2], Y[:, :2])


@pytest.mark.parametrize(("most", "threads"), [(200, 1), (199, 2)])
def test_boosting_of_few_rows_takes_one_thread(most, threads, monkeypatch):
    """Threads of OpenMP wait for each other at every node: beside another process, two took 15 s for 0.6 s of work."""
    seen = []

    class Watched(HistGradientBoostingClassifier):
        def fit(self, X, y):
            seen.append({pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "openmp"})
            return super().fit(X, y)

    monkeypatch.setattr(sklearn.ensemble, "HistGradientBoostingClassifier", Watched)
    monkeypatch.setattr(forests, "ONE_THREAD", most)
    X = np.random.default_rng(0).normal(size=(200, 3))
    with threadpool_limits(2, "openmp"):
        BoostedScores(max_iter=2).fit(X, X[:, :2] > 0)
    assert seen == [{threads}] * 2


@pytest.mark.parametrize("estimator", [LogisticScores(), BoostedScores(max_iter=3)])
def test_a_label_of_all_rows_or_of_none_gets_its_smoothed_log_odds(estimator):
    X, Y = data(30)
    Y[:, 0], Y[:, 1] = 1, 0
    S = estimator.fit(X, Y).decision_function(X)
    np.testing.assert_allclose(S[:, :2], np.tile([np.log(31), -np.log(31)], (30, 1)))


@pytest.mark.parametrize("estimator", [ForestScores(), BoostedScores()])
def test_trees_find_what_a_line_cannot(estimator):
    X, Y = data(600)
    lines, trees = (
        macro_average_precision(Y[400:], model.fit(X[:400], Y[:400]).decision_function(X[400:])).value
        for model in (LogisticScores(), estimator)
    )
    assert trees > lines + 0.1


def test_boosting_takes_sparse_rows_as_dense_ones_and_refuses_too_large_a_matrix():
    X, Y = data(80)
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    dense, sparse = (BoostedScores(max_iter=5).fit(M, Y).decision_function(M) for M in (X, sp.csr_array(X)))
    np.testing.assert_array_equal(dense, sparse)
    with pytest.raises(ValueError, match="dense X of gradient boosting"):
        BoostedScores().fit(sp.csr_array((40_000, 10_000)), np.arange(40_000) % 2)


def test_a_forest_of_fewer_rows_scores_the_others_as_new_ones():
    X, Y = data()
    forest = ForestScores(n_estimators=15, max_rows=60).fit(X, Y)
    whole = forest.decision_function(X)
    assert (forest.own_scores_ == whole).all(axis=1).sum() >= 180


def part_of(X, Y, **more):
    n = len(Y)
    return prepare(Dataset(X, Y, **more), Split("1", np.arange(2 * n // 3), np.arange(2 * n // 3, n)))


@pytest.mark.parametrize("estimator", SMALL, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("grouped", [False, True])
def test_scores_of_training_rows_do_not_know_their_own_labels(estimator, grouped):
    """Equal pairs of rows with noise for labels: scores that had seen a row, or its twin, would know them."""
    rng = np.random.default_rng(3)
    X, Y = np.repeat(rng.normal(size=(150, 20)), 2, axis=0), np.repeat(rng.integers(0, 2, size=(150, 2)), 2, axis=0)
    groups = np.repeat(np.arange(150), 2) if grouped else None
    if not grouped:
        X, Y = X[::2], Y[::2]
    part = part_of(X, Y, groups=groups)
    own, new = fitted_scores(Arm("it", estimator), part)
    truth = part.Y.toarray() > 0
    seen = estimator.fit(part.X, truth.astype(int)).decision_function(part.X)
    value, flattered = (macro_average_precision(truth, S).value for S in (own, seen))
    assert own.shape == truth.shape and new.shape == part.Y_held_out.shape
    assert abs(value - truth.mean()) < 0.1 < flattered - value


@pytest.mark.parametrize("estimator", [LogisticScores(), SVMScores()], ids=lambda e: type(e).__name__)
def test_the_penalty_of_a_linear_model_is_chosen_inside_the_training_part(estimator):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 60))
    Y = (X[:, :2] + 2 * rng.normal(size=(90, 2)) > 0).astype(int)
    part = part_of(X, Y)
    grid = "C", (1e-3, 1e3)
    own, new = fitted_scores(Arm("it", estimator, grid=grid), part)
    each = [fitted_scores(Arm("it", type(estimator)(C=C)), part) for C in grid[1]]
    assert not np.allclose(each[0][0], each[1][0])
    best = np.argmax([macro_average_precision(part.Y.toarray() > 0, S).value for S, _ in each])
    np.testing.assert_array_equal(own, each[best][0])
    np.testing.assert_array_equal(new, each[best][1])


def test_an_arm_that_predicts_is_measured_by_its_own_scores_everywhere():
    X, Y = data(180)
    dataset = Dataset(X, Y, train_idx=range(120), test_idx=range(120, 180))
    arms = Arm(ALL_FEATURES, None, rival=True), Arm("forest scores", ForestScores(n_estimators=30), rival=True)
    results = run(Protocol(arms, (2, 3), splitting=Splitting(n_folds=2), standard=True, notes=("NCA: no.",)), dataset)
    assert not any(row["failure"] for row in results.rows) and results.notes == ["NCA: no."]
    assert {row["k"] for row in results.rows} == {None}
    part = prepare(dataset, Split("test", np.arange(120), np.arange(120, 180)))
    S = ForestScores(n_estimators=30).fit(part.X, part.Y.toarray()).decision_function(part.X_held_out)
    kept = results.predictions["forest scores", None, "test"]
    np.testing.assert_array_equal(kept, S.astype(np.float32))
    value = macro_average_precision(Y[120:] > 0, kept).value
    entry = summarise(results, dataset)["leaderboard"][0]
    assert entry["arm"] == "forest scores" and entry["scores"]["macro average precision (ridge)"]["test"] == value
    assert entry["scores"]["log-loss (ridge)"]["test"] < 1 and entry["query_seconds"] > 0
    assert b"forest scores" not in predictions_npz(results)[:2]


@pytest.mark.parametrize("partly", [False, True], ids=["whole rows", "partly labelled rows"])
def test_a_comparison_scores_the_linear_svm_at_the_penalty_of_its_training_part(partly):
    X, Y = data(180)
    unknown = (np.arange(180)[:, None] % 3 == np.arange(3)) & partly
    dataset = Dataset(X, Y * ~unknown, train_idx=range(120), test_idx=range(120, 180), unknown=unknown)
    labels = np.where(unknown, np.nan, Y)
    arms = [each.arm for each in entrants(X, LabelMatrix.of(Y)) if each.arm.name == "linear SVM"]
    arms = Arm(ALL_FEATURES, None, rival=True), *arms
    results = run(Protocol(arms, (2,), splitting=Splitting(n_folds=2), standard=True), dataset)
    assert not any(row["failure"] for row in results.rows)
    kept, part = results.predictions["linear SVM", None, "test"], prepare(dataset, standard_split(dataset))
    _, scores = fitted_scores(arms[1], part)
    np.testing.assert_array_equal(kept, scores.astype(np.float32))
    tried = [SVMScores(C=C).fit(part.X, labels[:120]).decision_function(part.X_held_out) for C in (0.1, 1.0, 10.0)]
    assert sum(np.allclose(kept, each, atol=1e-6) for each in tried) == 1
    found = {row["fold"] for row in results.rows if row["arm"] == "linear SVM" and row["value"] is not None}
    assert found == {"1", "2", "test"}


def test_label_lookup_places_training_rows_at_their_labels_and_grows_no_forest_of_its_own(monkeypatch):
    X, Y = data(180)
    dataset = Dataset(X, Y, train_idx=range(120), test_idx=range(120, 180))
    fits, fit = [], ForestScores._fit
    monkeypatch.setattr(ForestScores, "_fit", lambda self, *rows: fits.append(1) or fit(self, *rows))
    arms = [each.arm for each in entrants(X, LabelMatrix.of(Y)) if each.arm.name == "forest scores"]
    arms = (Arm(ALL_FEATURES, None, rival=True), *arms)
    results = run(Protocol(arms, (2,), splitting=Splitting(n_folds=2), standard=True), dataset)
    assert len(fits) == 3 and results.protocol["arms"] == [ALL_FEATURES, "forest scores", "label lookup"]
    part = prepare(dataset, Split("test", np.arange(120), np.arange(120, 180)))
    shares = ForestScores().fit(part.X, part.Y.toarray()).decision_function(part.X_held_out) + 0.5
    near = neighbor_weights(shares, Y[:120].astype(float), 10)
    own = [row for row in results.rows if row["arm"] == "label lookup" and row["fold"] == "test"]
    found = {row["measure"]: row["value"] for row in own if row["readout"] == "cosine kNN"}
    assert found["Jaccard@10"] == pytest.approx(jaccard_at_k(Y[120:], Y[:120], near), abs=1e-12)
    among = new_neighbor_weights(shares, Y[:120].astype(float), 10)
    kept = results.new_similarity["label lookup", None, "test"]
    np.testing.assert_allclose(kept, row_jaccard(Y[120:], Y[120:], among), atol=1e-12)
    assert found["new-new Jaccard@10"] == kept.mean()


def test_neighbours_of_scores_are_those_of_rows_of_scores():
    X, Y = data(60)
    part = part_of(X, Y)
    own, new = fitted_scores(Arm("it", LogisticScores()), part)
    readings = ScoreReadings(own, new, part)
    _, weights = readings.neighbors(5)
    assert weights.shape == (20, 40) and np.array_equal(readings.own_scores, own)
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    assert readings.probabilities.min() >= 0 and readings.labels.shape == (20, 3)


@pytest.mark.parametrize(
    "estimator", [cls() for cls in RIVALS if cls.predicts and "labels" in cls.takes], ids=lambda e: type(e).__name__
)
def test_a_single_column_of_labels_has_scores_in_one_column(estimator):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    Y = (X[:, :1] + 0.3 * rng.normal(size=(90, 1)) > 0).astype(int)
    part = prepare(Dataset(X, Y), Split("1", np.arange(60), np.arange(60, 90)))
    own, new = fitted_scores(Arm("one", estimator), part)
    assert own.shape == (60, 1) and new.shape == (30, 1)
    assert np.corrcoef(new[:, 0], Y[60:, 0])[0, 1] > 0.5
