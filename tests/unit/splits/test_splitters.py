"""scikit-learn splitters: usable by its tools, unknown rows in training, groups whole."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score

from proxembed.splits.splits import GroupFolds, Split, StratifiedFolds, as_splits

N = 60


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(N, 3))


@pytest.fixture
def y(X):
    return (X[:, 0] > 0.2).astype(int)


@pytest.mark.default_configuration  # under metadata routing, groups= is no argument of cross_val_score
@pytest.mark.parametrize("cv", [StratifiedFolds(3), StratifiedFolds(2, n_repeats=2), GroupFolds(3)])
def test_scikit_learn_takes_them(X, y, cv):
    groups = np.arange(N) % 6
    scores = cross_val_score(LogisticRegression(), X, y, cv=cv, params={}, groups=groups)
    assert len(scores) == cv.get_n_splits(X, y, groups) and scores.min() > 0.6
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=cv).fit(X, y, groups=groups)
    assert search.n_splits_ == cv.get_n_splits()
    assert repr(cv).startswith(type(cv).__name__)


@pytest.mark.parametrize("form", ["classes", "indicator", "sets"])
def test_unknown_rows_always_train_whatever_the_form_of_y(X, y, form):
    unknown = np.array([0, 7, 30])
    if form == "classes":
        labels = y.astype(float)
        labels[unknown] = np.nan
    elif form == "indicator":
        labels = np.column_stack([y, 1 - y]).astype(float)
        labels[unknown] = np.nan
        labels[12, 1] = np.nan  # a row with a known label may be held out
    else:
        labels = [None if i in unknown else {"a", "b"} if y[i] else {"b"} for i in range(N)]
    splits = list(StratifiedFolds(4).split(X, labels))
    assert len(splits) == 4
    for train, held_out in splits:
        assert np.isin(unknown, train).all() and not np.isin(unknown, held_out).any()
        assert len(train) + len(held_out) == N
    assert any(12 in held_out for _, held_out in splits)


def test_groups_are_whole_and_unknown_rows_of_a_held_out_group_are_on_neither_side(X, y):
    groups = np.arange(N) % 6
    labels = y.astype(float)
    labels[:6] = np.nan
    for train, held_out in GroupFolds(3).split(X, labels, groups):
        assert np.intersect1d(groups[train], groups[held_out]).size == 0
        assert held_out.min() >= 6 and np.isin(np.setdiff1d(np.arange(6), groups[held_out]), train).all()


def test_they_are_parameters_like_others():
    cv = StratifiedFolds(4, n_repeats=2, random_state=7)
    again = clone(cv, safe=False)
    assert (again.n_splits, again.n_repeats, again.random_state) == (4, 2, 7)


def test_cv_may_be_a_number_a_splitter_or_pairs(X, y):
    by_number, by_splitter = as_splits(3, X, y), as_splits(StratifiedFolds(3), X, y)
    assert [split.name for split in by_number] == ["1", "2", "3"]
    assert all(np.array_equal(a.held_out, b.held_out) for a, b in zip(by_number, by_splitter, strict=True))
    kept = [Split("test", np.arange(5), np.arange(5, 9))]
    assert as_splits(kept, X, y)[0].name == "test"
    assert as_splits(GroupFolds(2), X, y, np.arange(N) % 4)[0].name == "1"


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (lambda X, y: list(StratifiedFolds(3).split(X)), "StratifiedFolds requires y"),
        (lambda X, y: list(StratifiedFolds(1).split(X, y)), "n_folds=1"),
        (lambda X, y: list(StratifiedFolds(2, n_repeats=0).split(X, y)), "n_repeats=0"),
        (lambda X, y: list(GroupFolds(3).split(X, y)), "GroupFolds needs groups"),
        (lambda X, y: list(GroupFolds(3).split(X, y, [1, 2])), r"must have one entry per row of X \(60\)"),
        (lambda X, y: as_splits("five", X, y), "cv='five' must be"),
        (lambda X, y: as_splits([], X, y), "gives no split"),
        (lambda X, y: as_splits(True, X, y), "cv=True must be"),
    ],
)
def test_bad_use_is_refused(X, y, run, message):
    with pytest.raises(ValueError, match=message):
        run(X, y)


def test_numbers_are_dealt_out_along_their_order(X):
    y = X[:, 0] * 7.5
    for cv in (4, StratifiedFolds(4)):
        for split in as_splits(cv, X, y):
            assert sorted(np.argsort(np.argsort(y))[split.held_out] // 4) == list(range(15))
    groups = np.arange(N) % 6
    for train, held_out in GroupFolds(3).split(X, np.column_stack([y, X[:, 1]]), groups):
        assert len(held_out) == 20 and np.intersect1d(groups[train], groups[held_out]).size == 0
