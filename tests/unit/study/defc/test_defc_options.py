"""Options that all candidates share: from DEFC and Objective to every embedding, the last one as well."""

import numpy as np
import pytest

from proxembed import DEFC, EmbeddingModel
from proxembed.methods.adaptive import PairOptions, StageRows, Stages, Switches
from proxembed.study.defc.objective import Objective, prefix_scores
from proxembed.targets.labels import LabelMatrix

RNG = np.random.default_rng(4)
Y = (RNG.random((90, 4)) < 0.4).astype(int)
Y[:4] = np.eye(4, dtype=int)
X = Y @ RNG.normal(size=(4, 5)) + 0.7 * RNG.normal(size=(90, 5))
TRAIN, OUT = np.arange(60), np.arange(60, 90)
MODEL = Switches(2, 5, 0, 1, 1, 2, 1, 0)
VALUES = {"n_friends": 4, "n_enemies": 18, "lam": 0.1}
OTHER = {
    "link": "mutual",
    "enemy_pool": "other",
    "g_raw": True,
    "multilabel": "mesd",
    "lam_scale": "raw",
    "label_similarity": "constant",
}


def test_every_option_has_another_value_here():
    assert OTHER.keys() == vars(PairOptions()).keys()
    assert not OTHER.items() & vars(PairOptions()).items()


@pytest.mark.parametrize("name", OTHER)
def test_an_objective_scores_the_embedding_of_its_options(name):
    labels, options = LabelMatrix.of(Y), {name: OTHER[name]}
    found = Objective(X, labels, [(TRAIN, OUT)], k_cap=5, **options).evaluate(MODEL, VALUES)
    train, out = labels.take(TRAIN), labels.take(OUT)
    placed = Stages(StageRows(X[TRAIN], train, X[OUT]), k_cap=5, **options).embed(MODEL, VALUES)
    assert found.score == prefix_scores("1nn", placed.Z, train, placed.Z_val, out, "macro F1").max() > 0
    usual = Stages(StageRows(X[TRAIN], train, X[OUT]), k_cap=5).embed(MODEL, VALUES)
    assert not np.allclose(placed.Z_val, usual.Z_val)


@pytest.mark.parametrize("name", OTHER)
def test_the_best_model_is_fitted_again_with_the_options_of_its_search(name):
    options = {name: OTHER[name]}
    search = DEFC("random", max_evals=8, refit="train", **options).fit(X[TRAIN], Y[TRAIN], X[OUT], Y[OUT])
    assert getattr(search.best_estimator_, name) == OTHER[name]
    params = {**search.best_params_}
    k = params.pop("k")
    model = EmbeddingModel.from_switches(search.best_switches_, params, n_components=k, **options)
    assert np.array_equal(search.transform(X), model.fit(X[TRAIN], Y[TRAIN]).transform(X))
    assert search.score(X[OUT], Y[OUT]) == pytest.approx(search.best_score_, abs=1e-12)


@pytest.mark.parametrize("name", OTHER)
def test_an_option_that_is_not_known_is_refused_before_the_search(name):
    with pytest.raises(ValueError, match=f"{name}='unit'"):
        DEFC(**{name: "unit"}).fit(X, Y)


@pytest.mark.parametrize("value", [1, np.array([True, False]), None])
def test_an_option_of_another_type_is_refused_before_the_search(value):
    with pytest.raises(ValueError, match="g_raw=.* is not known; choose one of False, True"):
        DEFC(g_raw=value).fit(X, Y)
