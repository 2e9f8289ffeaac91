"""The protocol: what is trained on what, failures as losses, permuted labels at chance, interruption, refusals."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import entropy
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA

from clocks import set_clock
from proxembed import OPLS, LabelScores, Scaling
from proxembed.classify import MultiOutputRidge
from proxembed.classify.thresholds import apply_thresholds, cross_fitted_scores, tune_thresholds
from proxembed.data import Dataset
from proxembed.estimator.traits import Traits
from proxembed.evaluate.arms import Arm
from proxembed.evaluate.compare import contrasts
from proxembed.evaluate.rivals.linear import LogisticScores
from proxembed.evaluate.run import Protocol, run
from proxembed.evaluate.scoring import decided_counts
from proxembed.evaluate.verdict import summarise
from proxembed.measures.calibration import brier_score, calibrated, probabilities_of
from proxembed.measures.measures import MEASURES
from proxembed.measures.metrics import (
    hamming_loss,
    jaccard_at_k,
    log_loss,
    macro_average_precision,
    macro_f1,
)
from proxembed.splits.splits import Splitting, make_splits

RAW = Arm("all features", None, rival=True)


class Broken(TransformerMixin, BaseEstimator):
    """Raises the error that it is given."""

    def __init__(self, error=None, n_components=None):
        self.error = error
        self.n_components = n_components

    def fit(self, X, y=None):
        raise self.error

    def transform(self, X):
        return X


class Recorder(TransformerMixin, BaseEstimator):
    """Keeps what it has seen; its embedding is the first columns, at most 3, and NaN if so asked."""

    seen = []
    traits = Traits(labels="multi")

    def __init__(self, n_components=None, poison=False):
        self.n_components = n_components
        self.poison = poison

    def fit(self, X, y):
        if self.n_components is not None and self.n_components > 3:
            raise ValueError("at most 3 components")
        Recorder.seen.append((X, y, self.n_components))
        return self

    def transform(self, X):
        Z = np.array(X[:, : self.n_components or 3])
        return Z * np.nan if self.poison else Z


@pytest.fixture
def dataset():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 6)) * [1, 10, 1, 1, 1, 1] + 5
    Y = np.column_stack([X[:, 0] > 5, X[:, 1] > 5, X[:, 2] > 6]).astype(np.uint8)
    return Dataset(X, Y, name="made", train_idx=np.arange(60), test_idx=np.arange(60, 90))


def values(results, **where):
    return [row["value"] for row in results.rows if all(row[key] == value for key, value in where.items())]


def test_every_arm_k_fold_and_measure_has_one_row(dataset):
    protocol = Protocol(
        (RAW, Arm("PCA", PCA(), rival=True), Arm("scores", LabelScores())), sizes=(3, 1), splitting=Splitting(n_folds=3)
    )
    results = run(protocol, dataset)
    keys = [(row["arm"], row["k"], row["fold"], row["measure"], row["readout"]) for row in results.rows]
    assert len(set(keys)) == len(keys) == 3 * (10 + 2 * 10 + 2 * 10)
    assert {row["k"] for row in results.rows if row["arm"] == "PCA"} == {1, 3}
    among = [row["value"] for row in results.rows if row["measure"] == "new-new Jaccard@10"]
    assert len(among) == 15 and np.isnan(among).all(), "30 held-out rows are too few to be neighbours of each other"
    known = [row for row in results.rows if row["measure"] != "new-new Jaccard@10"]
    assert all(0 <= row["value"] <= 1 for row in known if row["measure"] != "log-loss")
    assert all(row["value"] > 0 for row in known) and all(row["failure"] is None for row in results.rows)
    assert set(results.folds) == {"1", "2", "3"} and not results.interrupted


def test_arms_see_only_the_training_part_scaled_by_its_own_figures(dataset):
    Recorder.seen.clear()
    run(Protocol((Arm("recorder", Recorder()),), sizes=(2,), splitting=Splitting(n_folds=3)), dataset)
    assert len(Recorder.seen) == 3
    for X, y, k in Recorder.seen:
        assert abs(len(X) - 60) <= 2 and y.shape == (len(X), 3) and k == 2
        np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(X.std(axis=0, ddof=1), 1)


def test_sizes_above_the_bound_use_the_natural_number_and_say_so(dataset):
    results = run(Protocol((Arm("recorder", Recorder()),), sizes=(2, 5), splitting=Splitting(n_folds=2)), dataset)
    assert {(row["k"], row["components"]) for row in results.rows} == {(2, 2), (5, 3)}


def test_one_fit_serves_all_sizes(dataset):
    Recorder.seen.clear()
    several = run(Protocol((Arm("recorder", Recorder()),), sizes=(1, 2, 3), splitting=Splitting(n_folds=2)), dataset)
    assert len(Recorder.seen) == 2
    alone = run(Protocol((Arm("recorder", Recorder()),), sizes=(2,), splitting=Splitting(n_folds=2)), dataset)
    assert values(several, k=2) == values(alone, k=2)


@pytest.mark.parametrize("error", [RuntimeError("no\nroot"), ValueError("no\nroot"), MemoryError("no\nroot")])
def test_a_failing_arm_is_a_loss_with_its_reason_and_the_others_go_on(dataset, error):
    results = run(Protocol((Arm("broken", Broken(error)), RAW), sizes=(1, 2), splitting=Splitting(n_folds=2)), dataset)
    lost = [0.0] * 3 + [np.nan] + [0.0] * 2 + [1.0, MEASURES["log-loss"].worst, 1.0, 1.0]
    np.testing.assert_array_equal(values(results, arm="broken"), lost * 4)
    assert {row["failure"] for row in results.rows if row["arm"] == "broken"} == {f"{type(error).__name__}: no root"}
    assert min(values(results, arm="all features", measure="macro average precision")) > 0.3


def test_an_embedding_with_nan_is_a_failure(dataset):
    results = run(
        Protocol((Arm("poison", Recorder(poison=True)),), sizes=(2,), splitting=Splitting(n_folds=2)), dataset
    )
    assert values(results, measure="macro F1") == [0.0] * 2 and "NaN or infinity" in results.rows[0]["failure"]


def test_permuted_labels_give_chance_on_held_out_rows():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(1000, 20))
    Y = (rng.random((1000, 4)) < [0.5, 0.4, 0.3, 0.3]).astype(np.uint8)
    protocol = Protocol(
        (RAW, Arm("label scores", LabelScores()), Arm("PCA", PCA())), sizes=(3,), splitting=Splitting(n_folds=5)
    )
    results = run(protocol, Dataset(X, Y))
    blind = [macro_average_precision(Y[:200], rng.random((200, 4))).value for _ in range(200)]
    pairs = jaccard_at_k(Y, Y, np.full((1000, 1000), 1 / 1000))
    for arm in ("all features", "label scores", "PCA"):
        for readout in ("ridge", "cosine kNN"):
            precision = values(results, arm=arm, readout=readout, measure="macro average precision")
            assert abs(np.mean(precision) - np.mean(blind)) < 0.04
        assert abs(np.mean(values(results, arm=arm, measure="Jaccard@10")) - pairs) < 0.02
    learnable = (X[:, :4] + 0.3 * rng.normal(size=(1000, 4)) > 0).astype(np.uint8)
    chance = entropy(np.stack([Y.mean(axis=0), 1 - Y.mean(axis=0)])).mean()
    assert np.mean(values(results, measure="log-loss")) == pytest.approx(chance, abs=0.02)
    learned = run(protocol, Dataset(X, learnable))
    for measure in ("macro average precision", "macro F1"):
        assert np.mean(values(learned, arm="label scores", readout="ridge", measure=measure)) > 0.8
    assert np.mean(values(learned, arm="label scores", measure="log-loss")) < chance - 0.1


def test_the_standard_split_adds_a_test_fold_and_folds_stay_inside_its_training_rows(dataset):
    Recorder.seen.clear()
    results = run(
        Protocol((Arm("recorder", Recorder()),), sizes=(2,), splitting=Splitting(n_folds=3), standard=True), dataset
    )
    assert results.folds == {
        **{str(i): {"train": 40, "held_out": 20} for i in (1, 2, 3)},
        "test": {"train": 60, "held_out": 30},
    }
    assert [len(X) for X, _, _ in Recorder.seen] == [40, 40, 60, 40]  # test rows after two folds, whatever time is left


def test_the_same_seed_gives_the_same_values(dataset):
    protocol = Protocol(
        (RAW, Arm("label scores", LabelScores())), sizes=(2,), splitting=Splitting(n_folds=2, seed=3), seed=3
    )
    assert values(run(protocol, dataset)) == values(run(protocol, dataset))


def test_interruption_keeps_what_is_done(dataset):
    def stop(done, total, text):
        if done == 3 and not text.startswith("interrupted"):
            raise KeyboardInterrupt

    results = run(Protocol((RAW, Arm("PCA", PCA())), sizes=(2,), splitting=Splitting(n_folds=3)), dataset, stop)
    assert results.interrupted and set(results.folds) == {"1"}
    assert {(row["fold"], row["arm"]) for row in results.rows} == {
        ("1", "all features"),
        ("1", "PCA"),
        ("2", "all features"),
    }


def test_progress_ends_at_its_total(dataset):
    calls = []
    run(
        Protocol((RAW, Arm("PCA", PCA())), sizes=(2,), splitting=Splitting(n_folds=2)),
        dataset,
        lambda *call: calls.append(call),
    )
    assert [call[0] for call in calls] == [0, 1, 2, 3, 4] and calls[-1] == (4, 4, "all scored")


def test_one_label_and_labels_without_a_training_row_are_no_trouble():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    one = run(
        Protocol((RAW, Arm("scores", LabelScores())), sizes=(1,), splitting=Splitting(n_folds=2)),
        Dataset(X, (X[:, :1] > 0).astype(int)),
    )
    assert min(values(one, measure="macro average precision", readout="ridge")) > 0.8
    rare = np.column_stack([X[:, 0] > 0, np.arange(60) == 7, np.zeros(60)]).astype(int)
    results = run(
        Protocol((RAW, Arm("scores", LabelScores())), sizes=(3,), splitting=Splitting(n_folds=2)), Dataset(X, rare)
    )
    assert not any(row["failure"] for row in results.rows)
    assert {row["labels"] for row in results.rows if row["measure"] == "macro average precision"} == {1, 2}


def test_sparse_counts_go_through_whole(dataset):
    rng = np.random.default_rng(0)
    counts = sp.csr_array(rng.poisson(0.5, size=(80, 30)).astype(float))
    Y = np.column_stack([counts[:, [0]].toarray() > 0, counts[:, [1]].toarray() > 0]).astype(int)
    results = run(
        Protocol((RAW, Arm("scores", LabelScores())), sizes=(2,), splitting=Splitting(n_folds=2)), Dataset(counts, Y)
    )
    assert results.preprocessing == "tfidf" and min(values(results, measure="macro average precision")) > 0.5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"arms": ()}, "arms must be at least one"),
        ({"arms": (RAW, RAW)}, "different names"),
        ({"sizes": ()}, "sizes="),
        ({"sizes": (0, 2)}, "sizes="),
        ({"sizes": (1.5,)}, "sizes="),
        ({"max_seconds": 0}, "max_seconds=0 must be above 0"),
        ({"contrasts": (("OPLS", "all features"),)}, "contrasts name 'OPLS', which is not an arm"),
    ],
)
def test_impossible_protocols_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Protocol(**{"arms": (RAW,), "sizes": (2,), **options})


def test_data_that_cannot_be_scored_are_refused(dataset):
    protocol = Protocol((RAW,), sizes=(2,), splitting=Splitting(n_folds=2))
    with pytest.raises(ValueError, match="no row with a label"):
        run(protocol, Dataset(dataset.X, np.zeros((90, 2), dtype=int)))
    unknown = np.ones((90, 3), dtype=bool)
    with pytest.raises(ValueError, match="has no known label"):
        run(protocol, Dataset(dataset.X, np.zeros((90, 3), dtype=int), unknown=unknown))


class Witness(TransformerMixin, BaseEstimator):
    """Keeps the labels that it is given, and embeds by PCA."""

    seen = []

    def __init__(self, n_components=None):
        self.n_components = n_components

    def fit(self, X, y):
        Witness.seen.append(y)
        self.pca_ = PCA(self.n_components).fit(X)
        return self

    def transform(self, X):
        return self.pca_.transform(X)


def test_rows_without_a_known_label_are_trained_on_and_never_scored(dataset):
    unknown = np.zeros((90, 3), dtype=bool)
    unknown[[4, 30, 70]] = True
    data = Dataset(
        dataset.X, dataset.Y.toarray() * ~unknown, unknown=unknown, train_idx=range(60), test_idx=range(60, 90)
    )
    Witness.seen.clear()
    arms = RAW, Arm("witness", Witness()), Arm("OPLS", OPLS())
    protocol = Protocol(arms, sizes=(2,), splitting=Splitting(n_folds=2), standard=True)
    results = run(protocol, data)
    assert not any(row["failure"] for row in results.rows)
    assert [int(np.isnan(y).sum()) for y in Witness.seen] == [6, 6, 6]
    scored = [row for rows in results.held_out.values() for row in rows]
    assert sorted(scored) == [row for row in range(90) if row not in (4, 30, 70)]
    assert results.folds["test"] == {"train": 60, "held_out": 29}
    assert any("OPLS" in note for note in results.notes)


def test_rows_with_a_known_label_are_scored(dataset):
    unknown = np.zeros((90, 3), dtype=bool)
    unknown[[4, 30, 70], [0, 1, 2]] = True
    data = Dataset(dataset.X, dataset.Y.toarray() * ~unknown, unknown=unknown)
    results = run(Protocol((RAW, Arm("OPLS", OPLS())), sizes=(2,), splitting=Splitting(n_folds=2)), data)
    assert sorted(row for rows in results.held_out.values() for row in rows) == list(range(90))
    assert results.notes[0].startswith("3 of 90 rows have known and unknown labels.")
    assert results.few == {"folds": None, "test rows": None}


def test_held_out_scores_are_kept_and_give_the_values(dataset):
    protocol = Protocol((RAW, Arm("PCA", PCA())), sizes=(2, 9), splitting=Splitting(n_folds=2))
    results = run(protocol, dataset)
    assert list(results.predictions) == [
        (arm, k, fold) for fold in "12" for arm, k in (("all features", None), ("PCA", 2), ("PCA", 9))
    ]
    Y = dataset.Y.toarray()
    for (arm, k, fold), S in results.predictions.items():
        value = macro_average_precision(Y[results.held_out[fold]], S).value
        found = values(results, arm=arm, k=k, fold=fold, readout="ridge", measure="macro average precision")
        assert S.dtype == np.float32 and found == pytest.approx([value], abs=1e-6)
    dropped = run(replace(protocol, keep_predictions=False), dataset)
    assert dropped.predictions == {} and values(dropped) == values(results)


def scaled_parts(dataset, protocol):
    """Scaled rows and labels of the first split: those of training, then those held out."""
    split = make_splits(dataset, protocol.splitting)[0]
    scale, Y = Scaling("standard").fit(dataset.X[split.train]), dataset.Y.toarray()
    parts = ((scale.transform(dataset.X[rows]), Y[rows]) for rows in (split.train, split.held_out))
    return [each for part in parts for each in part]


def test_decisions_and_probabilities_of_all_features_by_hand(dataset):
    """The same numbers from the parts: ridge, cross-fitted scores, the shared rule, calibration."""
    protocol = Protocol((RAW,), sizes=(2,), splitting=Splitting(n_folds=2))
    results = run(protocol, dataset)
    X, Y, X_held_out, truth = scaled_parts(dataset, protocol)
    model = MultiOutputRidge(penalty="auto").fit(X, Y)
    S, inner = model.decision_function(X_held_out), np.random.default_rng(0).permutation(len(X)) % 3
    folds = [(inner != fold, inner == fold) for fold in range(3)]
    own = cross_fitted_scores(MultiOutputRidge(penalty=model.penalty_), X, Y, folds)
    decided = apply_thresholds(S, tune_thresholds(own, Y))
    expected = {"macro F1": macro_f1(truth, decided)[0], "Hamming loss": hamming_loss(truth, decided)}
    P = probabilities_of(S, calibrated(own, Y))
    by_cut, by_half = results.decisions["all features", None, "1"]
    for counts, said in ((by_cut, decided), (by_half, P > 0.5)):
        assert counts[1, 1].tolist() == (truth * said).sum(axis=0).tolist()
        assert counts[0, 1].tolist() == ((1 - truth) * said).sum(axis=0).tolist()
        assert counts.sum(axis=(0, 1)).tolist() == [len(truth)] * truth.shape[1]
    expected |= {"log-loss": log_loss(truth, P)[0], "Brier score": brier_score(truth, P)[0]}
    for measure, value in expected.items():
        assert values(results, fold="1", measure=measure, readout="ridge") == pytest.approx([value], rel=1e-7)


def test_cuts_of_a_supervised_embedding_come_from_rows_that_it_has_not_seen(dataset):
    """By hand: scaled once, OPLS and ridge fitted on two of three inner folds, scores of the third."""
    protocol = Protocol((RAW, Arm("OPLS", OPLS())), sizes=(2,), splitting=Splitting(n_folds=2))
    results = run(protocol, dataset)
    X, Y, X_held_out, truth = scaled_parts(dataset, protocol)
    inner, own = np.random.default_rng(0).permutation(len(X)) % 3, np.empty(Y.shape)
    for fold in range(3):
        rest = inner != fold
        method = OPLS(n_components=2).fit(X[rest], Y[rest])
        own[~rest] = (
            MultiOutputRidge(penalty="auto")
            .fit(method.transform(X[rest]), Y[rest])
            .decision_function(method.transform(X[~rest]))
        )
    method = OPLS(n_components=2).fit(X, Y)
    read = MultiOutputRidge(penalty="auto").fit(method.transform(X), Y)
    S, seen = read.decision_function(method.transform(X_held_out)), read.decision_function(method.transform(X))
    expected = hamming_loss(truth, apply_thresholds(S, tune_thresholds(own, Y)))
    loss = log_loss(truth, probabilities_of(S, calibrated(own, Y)))[0]
    found = {row["measure"]: row["value"] for row in results.rows if row["arm"] == "OPLS" and row["fold"] == "1"}
    assert found["Hamming loss"] == pytest.approx(expected) and found["log-loss"] == pytest.approx(loss)
    assert abs(log_loss(truth, probabilities_of(S, calibrated(seen, Y)))[0] - loss) > 1e-3  # the check above can fail


def test_of_classes_the_most_probable_one_is_the_decision(dataset):
    part = SimpleNamespace(of_classes=True, known_held_out=None, weights_held_out=None)
    part.Y_held_out = np.eye(3)[[0, 1, 2, 2]]
    probabilities = np.array([[0.4, 0.3, 0.3], [0.5, 0.3, 0.2], [0.1, 0.3, 0.6], [0.4, 0.3, 0.3]])
    for counts in decided_counts(part, np.zeros((4, 3)), probabilities):
        assert counts[1, 1].tolist() == [1, 0, 1] and counts[0, 1].tolist() == [2, 0, 0]


def test_decisions_that_are_not_asked_for_are_counted_of_few_labels_where_they_take_no_refit(dataset):
    arms = RAW, Arm("OPLS", OPLS()), Arm("PCA", PCA()), Arm("logistic", LogisticScores(), rival=True)
    Y = dataset.Y.toarray()
    few, many = Dataset(dataset.X, Y), Dataset(dataset.X, np.column_stack([Y, 1 - Y[:, 0]]))
    for data, decided, counted in ((few, (), 3), (few, ("OPLS",), 4), (many, (), 0), (many, ("OPLS",), 1)):
        results = run(Protocol(arms, sizes=(2,), splitting=Splitting(n_folds=2), decided=decided), data)
        assert len({arm for arm, _, _ in results.decisions}) == counted
        assert (("OPLS", 2, "1") in results.decisions) == bool(decided)
    tested = Dataset(few.X, Y, train_idx=np.arange(60), test_idx=np.arange(60, 90))
    tuned = [
        run(Protocol(arms, sizes=(2,), splitting=Splitting(n_folds=2), standard=True, **given), tested).decisions
        for given in ({"decided": (), "counted": ("OPLS",)}, {"decided": ("OPLS",)})
    ]
    assert [fold for arm, _, fold in tuned[0] if arm == "OPLS"] == ["test"]
    np.testing.assert_array_equal(tuned[0]["OPLS", 2, "test"], tuned[1]["OPLS", 2, "test"])


def test_what_is_not_scored_within_the_budget_is_a_loss(dataset, monkeypatch):
    monkeypatch.setattr(Slow, "clock", set_clock(monkeypatch))
    arms = RAW, Arm("slow", Slow())
    protocol = Protocol(arms, sizes=(1, 2), splitting=Splitting(n_folds=2), max_seconds=50.0)
    results = run(protocol, dataset)
    lost = [row for row in results.rows if row["arm"] == "slow"]
    assert {row["failure"] for row in lost} == {"OutOfBudget: the budget of 50 seconds an arm and split is spent"}
    assert {row["value"] for row in lost if row["measure"] == "macro F1"} == {0.0}
    assert not any(row["failure"] for row in results.rows if row["arm"] == "all features")


class Slow(Recorder):
    """Takes a minute by the clock of the test."""

    clock = None

    def fit(self, X, y):
        self.clock.forward(60)
        return self


def test_repeats_have_folds_of_their_own(dataset):
    protocol = Protocol((RAW,), sizes=(2,), splitting=Splitting(n_folds=2, n_repeats=3))
    results = run(protocol, dataset)
    assert len(results.folds) == 6 and len(set(map(tuple, results.held_out.values()))) == 6
    assert contrasts(summarise(results), protocol.contrasts) == []


def test_groups_stay_on_one_side(dataset):
    groups = np.arange(90) // 3
    data = Dataset(dataset.X, dataset.Y, groups=groups)
    results = run(Protocol((RAW,), sizes=(2,), splitting=Splitting(n_folds=3)), data)
    held_out = [set(groups[rows]) for rows in results.held_out.values()]
    assert sum(map(len, held_out)) == len(set().union(*held_out)) == 30


def test_the_protocol_describes_itself_as_plain_data(dataset):
    protocol = Protocol(
        (RAW, Arm("PCA", PCA())), sizes=(2,), splitting=Splitting(n_folds=2), contrasts=(("PCA", "all features"),)
    )
    plain = json.loads(json.dumps(protocol.describe()))
    assert plain["arms"] == ["all features", "PCA"] and plain["n_folds"] == 2 and plain["sizes"] == [2]
    assert plain["contrasts"] == [["PCA", "all features"]] and plain["splitting"]["kind"] == "auto"
    assert ["Hamming loss", "ridge"] in plain["further_measures"]
