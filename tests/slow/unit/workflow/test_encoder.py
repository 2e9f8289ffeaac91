"""search and compare with an encoder: fitted on training rows alone, the same figures as preprocessing by hand."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin

import proxembed
from runs import empty_figures, few_rivals, planes_alone

__all__ = ["empty_figures", "few_rivals", "planes_alone"]
RNG = np.random.default_rng(0)
X = RNG.normal(5.0, 1.0, size=(80, 5)) * RNG.uniform(1, 3, size=(80, 1))
CLASSES = np.where(X[:, 0] > X[:, 1], "a", "b")
TEST = np.arange(60, 80)
QUICK = {"methods": "opls", "n_components": 1, "folds": 2}


def snv(X):
    return (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True)


class Spy(TransformerMixin, BaseEstimator):
    """Standard normal variate that counts the rows, by their first cell, which it was fitted on."""

    seen: list = []

    def fit(self, X, y=None):
        Spy.seen.append(frozenset(np.asarray(X)[:, 0].tolist()))
        return self

    def transform(self, X):
        return snv(X)


@pytest.fixture(autouse=True)
def quick(few_rivals, empty_figures, planes_alone):
    Spy.seen = []


def as_floats(values):
    return np.array(values, dtype=float)


def figures(found):
    summary = found.record["summary"]["leaderboard"]
    return [
        (row["arm"], row["k"], {name: score["by_fold"] for name, score in row["scores"].items()}) for row in summary
    ]


def same(ours, theirs):
    assert [row[:2] for row in ours] == [row[:2] for row in theirs]
    for (_, _, mine), (_, _, other) in zip(ours, theirs, strict=True):
        assert mine.keys() == other.keys()
        assert all(np.allclose(*map(as_floats, (mine[n], other[n])), atol=1e-8, equal_nan=True) for n in mine)


def test_a_search_fits_the_encoder_on_training_rows_alone_and_gives_what_it_gives_by_hand():
    more = {**QUICK, "max_trials": 1, "max_seconds": None, "shuffles": 0, "test": TEST}
    ours, theirs = proxembed.search(X, CLASSES, encoder=Spy(), **more), proxembed.search(snv(X), CLASSES, **more)
    train = frozenset(X[:60, 0].tolist())
    assert all(seen <= train for seen in Spy.seen) and min(map(len, Spy.seen)) < 60
    same(figures(ours), figures(theirs))
    assert np.allclose(ours.embedding, theirs.embedding, atol=1e-8)
    assert np.allclose(ours.model.transform(X), theirs.model.transform(snv(X)), atol=1e-8)
    assert ", encoder=Spy(), " in ours.record["command"]


def test_a_comparison_fits_the_encoder_inside_its_folds():
    ours = proxembed.compare(X, CLASSES, encoder=Spy(), **QUICK)
    same(figures(ours), figures(proxembed.compare(snv(X), CLASSES, **QUICK)))
    assert [len(seen) for seen in Spy.seen[1:]].count(40) >= 2 and len(Spy.seen[0]) == 80  # the first for sizes alone
