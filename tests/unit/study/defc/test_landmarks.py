"""Landmarks of DEFC: the rows that are searched and fitted; the classifier is that of all rows."""

import numpy as np
import pytest

from proxembed import DEFC
from proxembed.methods import adaptive

RNG = np.random.default_rng(0)
Y = RNG.choice(3, 120, p=[0.6, 0.3, 0.1])
X = RNG.normal(size=(120, 6)) + np.eye(6)[Y] * 3
NEW = RNG.normal(size=(9, 6)) + np.eye(6)[[0, 1, 2] * 3] * 3
SEARCH = {"max_evals": 8, "cv": 2}


def same_embedding(one, other):
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-7 * np.abs(other).max())


def patch_limits(monkeypatch, exact: int, number: int) -> None:
    monkeypatch.setattr(adaptive.embedding_model, "EXACT_UP_TO", exact)
    monkeypatch.setattr(adaptive.embedding_model, "LANDMARKS", number)


def test_a_search_on_landmarks_is_the_search_of_these_rows_and_predicts_from_all():
    found = DEFC(n_landmarks=60, **SEARCH).fit(X, Y)
    assert len(found.landmarks_) == 60
    alone = DEFC(**SEARCH).fit(X[found.landmarks_], Y[found.landmarks_])
    assert found.best_switches_ == alone.best_switches_ and found.best_params_ == alone.best_params_
    assert [one["score"] for one in found.leaderboard_] == [one["score"] for one in alone.leaderboard_]
    same_embedding(found.transform(NEW), alone.transform(NEW))
    distance = np.linalg.norm(found.transform(NEW)[:, None] - found.transform(X)[None], axis=2)
    np.testing.assert_array_equal(found.predict(NEW), Y[distance.argmin(axis=1)])  # 1-NN among all rows
    np.testing.assert_array_equal(found.predict(X), Y)


@pytest.mark.parametrize("refit", ["all", "train"])
def test_validation_rows_are_landmarks_too(refit, monkeypatch):
    val, y_val = X[60:], Y[60:]
    found = DEFC(n_landmarks=30, refit=refit, **SEARCH).fit(X[:60], Y[:60], val, y_val)
    assert len(found.landmarks_) == 30 and len(found.best_estimator_.landmarks_) == 30
    np.testing.assert_array_equal(found.predict(X[:60]), Y[:60])
    assert np.array_equal(found.predict(val), y_val) == (refit == "all")  # classified among all rows joined
    fewer = DEFC(n_landmarks=30, refit=refit, **SEARCH).fit(X[:60], Y[:60], val[:20], y_val[:20])
    assert np.isfinite(fewer.best_score_)
    patch_limits(monkeypatch, 59, 30)
    same_embedding(DEFC(refit=refit, **SEARCH).fit(X[:60], Y[:60], val, y_val).transform(NEW), found.transform(NEW))


def test_all_rows_as_landmarks_are_the_whole_search():
    every, exact = DEFC(n_landmarks=120, **SEARCH).fit(X, Y), DEFC(n_landmarks=None, **SEARCH).fit(X, Y)
    assert every.best_params_ == exact.best_params_
    np.testing.assert_array_equal(every.transform(NEW), exact.transform(NEW))


def test_numbers_of_landmarks_that_do_not_fit():
    with pytest.raises(ValueError, match="DEFC: n_landmarks=121 is not allowed with 120 rows"):
        DEFC(n_landmarks=121, **SEARCH).fit(X, Y)
    with pytest.raises(ValueError, match="n_landmarks='some' is not allowed"):
        DEFC(n_landmarks="some", **SEARCH).fit(X, Y)
