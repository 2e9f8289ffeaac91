"""The scaling of a training part is chosen by its own rows, once for all arms and for the saved model."""

import numpy as np
import pytest
import scipy.sparse as sp

from proxembed import EmbeddingSearch
from proxembed.data import Dataset
from proxembed.evaluate.arms import Arm
from proxembed.evaluate.part import choose_scaling, inner_folds, make_part, prepare, several_groups
from proxembed.evaluate.results import TEST
from proxembed.evaluate.run import Protocol, run
from proxembed.evaluate.scoring import Readings
from proxembed.features.scaling import scaling_kinds
from proxembed.measures.metrics import exchange_score
from proxembed.splits.splits import Split, Splitting, stratified_folds
from proxembed.targets.known import known_cells
from proxembed.targets.labels import LabelMatrix


def texts(n=400, seed=0):
    """0/1 words: 40 that many texts hold, more or less of them, and 200 that few hold, whose topic they tell."""
    draw = np.random.default_rng(seed)
    topic = draw.integers(2, size=(n, 1))
    often = draw.random((n, 40)) < draw.choice([0.1, 0.9], size=(n, 1))
    rare = draw.random((n, 200)) < np.where((np.arange(200) < 100) == (topic == 1), 0.02, 0.005)
    return sp.csr_array(np.hstack([often, rare]).astype(float)), topic


@pytest.mark.parametrize(
    ("X", "kinds"),
    [
        (np.random.default_rng(0).normal(size=(5, 4)), ("standard",)),
        (np.arange(20.0).reshape(5, 4), ("standard",)),
        (np.eye(8), ("standard", "tfidf", "none")),
        (sp.csr_array(np.eye(3)), ("none", "tfidf", "unit")),
        (sp.csr_array(2 * np.eye(3)), ("tfidf", "unit", "none")),
        (sp.csr_array(0.5 * np.eye(3)), ("none", "unit")),
        (sp.csr_array(-np.eye(3)), ("none",)),
        (sp.csr_array((3, 3)), ("none", "tfidf", "unit")),
    ],
)
def test_scalings_that_may_suit_follow_the_kind_of_features(X, kinds):
    assert scaling_kinds(X) == kinds


def test_words_that_few_texts_hold_are_weighted_where_they_tell_the_topic():
    X, topic = texts()
    assert choose_scaling(X, LabelMatrix.of(topic)) == "tfidf"
    assert choose_scaling(X[:, :40], LabelMatrix.of(np.asarray(X[:, [0]].todense()).astype(int))) == "none"


def test_of_equal_scalings_the_usual_one_is_taken():
    X = sp.csr_array(np.tile(np.eye(2), (20, 1)))
    assert choose_scaling(X, LabelMatrix.of(np.tile(np.eye(2, dtype=int), (20, 1)))) == "none"
    counts = sp.csr_array(np.tile(2.0 * np.eye(2), (20, 1)))
    assert choose_scaling(counts, LabelMatrix.of(np.tile(np.eye(2, dtype=int), (20, 1)))) == "tfidf"


def test_rows_with_unknown_labels_and_few_rows_are_borne():
    X, topic = texts(60)
    y = topic.astype(float)
    y[::2] = np.nan
    assert choose_scaling(X, LabelMatrix.of(y)) in scaling_kinds(X)
    assert choose_scaling(X[:2], LabelMatrix.of(topic[:2])) == "none"


def test_groups_stay_in_one_fold():
    groups = np.repeat(np.arange(9), 4)
    fold = inner_folds(36, groups, 3, seed=1)
    assert all(len(set(fold[groups == group])) == 1 for group in range(9)) and set(fold) == {0, 1, 2}


def test_held_out_rows_have_no_part_in_the_choice(monkeypatch):
    X, topic = texts()
    asked = []
    monkeypatch.setattr("proxembed.evaluate.part.choose_scaling", lambda own, *rest: asked.append(own) or "unit")
    part = make_part(X, LabelMatrix.of(topic), np.arange(300), np.arange(300, 400))
    assert part.scaling == "unit" and np.array_equal(asked[0].toarray(), X[:300].toarray())
    np.testing.assert_allclose(np.sqrt((part.X.toarray() ** 2).sum(axis=1)).max(), 1.0)


def test_a_comparison_a_search_and_its_model_share_the_choice():
    X, topic = texts()
    data = Dataset(X, topic)
    raw = Arm("all features", None, rival=True)
    results = run(Protocol((raw,), (2,), splitting=Splitting(n_folds=2)), data)
    assert results.preprocessing == "tfidf"
    assert results.scalings == {"1": "tfidf", "2": "tfidf"}
    part = prepare(data, stratified_folds(data.Y, 2)[0])
    assert part.scaling == "tfidf"
    search = EmbeddingSearch(["OPLS"], max_trials=1, cv=2, random_state=0).fit(X, topic)
    assert search.scaling_ == search.best_estimator_["scaling"].kind == "tfidf"


def test_the_choice_scores_a_bounded_number_of_rows_and_labels(monkeypatch):
    shapes = []
    monkeypatch.setattr(
        "proxembed.evaluate.part._scaling_score",
        lambda kind, X, labels, fold, weights: shapes.append((X.shape, labels.Y.shape)) or 0.0,
    )
    X = sp.csr_array(np.eye(2000, 5))
    choose_scaling(X, LabelMatrix.of(np.ones((2000, 50), dtype=int)))
    assert set(shapes) == {((600, 5), (600, 30))}


def test_known_cells_and_groups_of_some_rows():
    assert known_cells(sp.csc_array([[True, False], [False, False]]), np.array([0])).tolist() == [[False, True]]
    data = Dataset(np.eye(3), np.eye(3), groups=[4, 4, 5])
    assert several_groups(data, np.array([0, 1])) is None and several_groups(data, np.array([0, 2])).tolist() == [4, 5]


def test_test_rows_without_a_copy_in_training_are_known_and_exchanged_among_themselves():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(80, 3)), (rng.random((80, 3)) < 0.5).astype(int)
    X[60:66] = X[:6]
    split = Split(TEST, np.arange(60), np.arange(60, 80))
    part = prepare(Dataset(X, Y, name="made"), split)
    np.testing.assert_array_equal(part.alone, np.arange(20) >= 6)
    assert prepare(Dataset(X, Y, name="made"), split._replace(name="1")).alone is None
    assert part.inside(np.arange(30), np.arange(30, 60)).alone is None
    whole, alone = Readings(part.X, part.X_held_out, part).exchanged(5)
    (Y_train, near, *_), keep = Readings(part.X, part.X_held_out, part).neighbors(5), part.alone
    assert alone == exchange_score(part.held_out_sets[keep], Y_train, near[keep]) != whole
