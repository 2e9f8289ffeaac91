"""What happens when the classifier of the best candidate cannot be fitted on all rows."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB

import strategies
from proxembed import DEFC

N = 60
Y = strategies.labels_classes(N, 3, 0)
X = strategies.told_by_labels(strategies.features_dense(N, 6, 0), np.eye(3)[Y], 0)


class OnParts(ClassifierMixin, BaseEstimator):
    """A classifier that raises in its first fits on all rows."""

    raises = 0

    def fit(self, Z, y):
        if len(Z) == N and OnParts.raises:
            OnParts.raises -= 1
            raise RuntimeError("no room")
        self.inner_ = GaussianNB().fit(Z, y)
        self.classes_ = self.inner_.classes_
        return self

    def predict(self, Z):
        return self.inner_.predict(Z)


def fitted(raises, monkeypatch):
    monkeypatch.setattr(OnParts, "raises", raises)
    return DEFC(classifier=OnParts(), search="random", max_evals=12, cv=2, n_components=4, random_state=0).fit(X, Y)


def test_the_next_candidate_is_used_if_the_classifier_of_the_best_raises(monkeypatch):
    expected = [entry for entry in fitted(0, monkeypatch).leaderboard_ if not entry["failed"]][2]
    with pytest.warns(UserWarning, match=rf"2 of 12 .* the first: RuntimeError: no room \(on all {N} rows\)"):
        search = fitted(2, monkeypatch)
    assert search.best_score_ == expected["score"] and search.best_params_["k"] == expected["k"]
    assert search.transform(X).shape == (N, expected["k"]) and search.score(X, Y) > 0.4
    assert [bool(entry["failed"]) for entry in search.leaderboard_[-2:]] == [True, True]


def test_if_no_candidate_can_be_refitted_the_error_gives_the_reason(monkeypatch):
    with pytest.raises(ValueError, match=rf"no candidate can be used .* no room \(on all {N} rows\). .* classifier"):
        fitted(12, monkeypatch)
