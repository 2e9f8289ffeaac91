"""EmbeddingSearch where y holds numbers."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_regressor

from proxembed.study.candidates import OF_NUMBERS, candidates, component_sizes
from proxembed.study.embedding_search import EmbeddingSearch


def rows(n=120, d=6, c=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    Y = X[:, :c] @ rng.normal(size=(c, c)) + 0.3 * rng.normal(size=(n, c))
    return X, 10 * Y + 50


@pytest.fixture(scope="module")
def found():
    X, Y = rows()
    table = pd.DataFrame(Y, columns=["fat", "water"])
    return EmbeddingSearch(["opls", "kernelized"], max_trials=2, cv=3).fit(X, table), X, table


def test_it_chooses_by_q2_and_predicts_in_units_and_names(found):
    model, X, Y = found
    assert model.best_params_["method"] == "OPLS" and model.best_score_ > 0.7
    predicted = model.predict(X)
    assert list(predicted.columns) == ["fat", "water"] and abs(predicted["fat"].mean() - Y["fat"].mean()) < 0.5
    assert model.score(X, Y) > 0.7 and model.transform(X).shape == (120, model.best_params_["n_components"])
    assert [output.kind for output in model.targets_] == ["real", "real"] and is_regressor(model)
    assert not is_regressor(EmbeddingSearch())


def test_predictions_of_a_search_are_those_of_its_best_estimator_fitted_alone(found):
    model, X, Y = found
    again = model.best_estimator_.predict(X)
    assert np.array_equal(model.predict(X), again)
    low, high = Y.min().to_numpy(), Y.max().to_numpy()
    far = model.predict(100 * X).to_numpy()
    assert (far >= low - 1e-9).all() and (far <= high + 1e-9).all()


def test_unknown_cells_and_one_output():
    X, Y = rows(c=1)
    y = Y[:, 0].copy()
    y[::7] = np.nan
    with pytest.warns(UserWarning, match="rows have no known output and are left out of fit"):
        model = EmbeddingSearch(["opls"], max_trials=1, cv=3, target_type="real").fit(X, y)
    assert model.predict(X).shape == (120,) and model.leaders_[0].n_components == 1


def test_methods_of_labels_alone_are_not_drawn_and_measures_of_labels_are_refused():
    X, Y = rows(n=40)
    with pytest.raises(ValueError, match=r"macro F1 needs labels; y holds numbers: use Q2 or A@10\."):
        EmbeddingSearch(["opls"], max_trials=1, measure="macro F1").fit(X, Y)
    model = EmbeddingSearch(None, max_trials=5, cv=2, n_components=2, strategy="random").fit(X, Y)
    assert not any(trial["failure"] for trial in model.trials_)
    assert set(OF_NUMBERS) == {"opls", "kernelized", "views", "forestleaves", "targetspace"}
    assert 1 in component_sizes(1, numbers=True)
    ways = [
        [each.default().deflation for each in candidates(names, numbers=numbers)]
        for names, numbers in (("pls", True), ("PLS(deflation='simpls')", True), ("pls", False))
    ]
    assert ways == [["nipals"], ["simpls"], [None]]  # PLS of numbers has more components than outputs
    with pytest.raises(ValueError, match=r"Every column of y is constant\."):
        EmbeddingSearch(["opls"], max_trials=1, target_type="real").fit(X, np.full(40, 2.5))
