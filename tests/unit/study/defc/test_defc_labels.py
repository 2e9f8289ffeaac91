"""DEFC: forms of labels, validation labels that do not fit, the last fit on more rows, fewer errors of 1-NN."""

import numpy as np
import pytest
from scipy import sparse

from designs import each_value
from proxembed import EmbeddingModel
from proxembed.methods.adaptive import Limits
from proxembed.study.defc.search import grown
from proxembed.targets.labels import LabelMatrix
from unit.study.defc.test_defc import found, made, several, without_seconds

__all__ = ["made", "several"]  # fixtures


def test_validation_labels_of_other_classes_alone_are_refused(made, several):
    X, y = made
    with pytest.raises(ValueError, match="y_val has no label that y holds"):
        found(X[:40], y[:40], X[40:], np.array(["a", "b", "c"])[y[40:]])
    X, Y = several
    with pytest.raises(ValueError, match="y_val has no label that y holds"):
        found(X[:40], Y[:40], X[40:], np.zeros((10, 3), dtype=int))


@each_value
@pytest.mark.parametrize("classifier", ["1nn", "flda"])
@pytest.mark.parametrize("search", ["reduced8", "random"])
def test_a_single_label_is_told_from_its_absence_and_comes_back_in_its_form(made, search, classifier):
    X, y = made
    has = (y > 0).astype(int)
    forms = {
        "indicator": sparse.csr_array(has[:, None]),
        "signs": sparse.csr_array(2 * has[:, None] - 1),
        "sets": [{"a"} if one else set() for one in has],
    }
    options = {"search": search, "classifier": classifier, "max_evals": 4, "n_components": 5}
    models = {form: found(X, labels, **options) for form, labels in forms.items()}
    predicted = models["indicator"].predict(X)
    assert predicted.shape == (60, 1) and np.mean(predicted[:, 0] == has) > 0.7
    assert models["signs"].predict(X).tolist() == (2 * predicted - 1).tolist()
    assert models["sets"].predict(X) == [{"a"} if one else set() for one in predicted[:, 0]]
    boards = [without_seconds(model.leaderboard_) for model in models.values()]
    assert boards[0] == boards[1] == boards[2]
    assert models["indicator"].measure_ == "macro F1" and np.mean([e["failed"] is None for e in boards[0]]) > 0.8
    assert models["sets"].score(X, forms["sets"]) > 0.7


def test_neighbours_of_the_last_fit_grow_by_the_rows_that_folds_left_out(made):
    """From four fifths of the rows to all of them."""
    X, y = made
    counts = {"n_friends": "n_friends", "n_enemies": "n_enemies", "n_neighbors": "n_neighbors"}
    changed, limits = 0, Limits.of(LabelMatrix.of(y))
    for seed in range(6):
        search = found(X, y, search="random", max_evals=8, random_state=seed)
        grown_to = grown(search.best_params_, search.best_switches_, limits, limits, 1.25)
        for name in set(counts) & set(search.best_params_):
            assert getattr(search.best_estimator_, counts[name]) == grown_to[name]
            changed += grown_to[name] not in (None, search.best_params_[name])
    assert changed >= 2


def test_validation_rows_of_an_unseen_class_stay_out_of_the_last_fit(made):
    X, y = made
    strange = np.where(np.arange(20) < 5, 9, y[40:])
    search = found(X[:40], y[:40], X[40:], strange, classifier="flda")
    params, kept = dict(search.best_params_), np.r_[:40, 45:60]
    k = params.pop("k")
    limits = [Limits.of(LabelMatrix.of(part)) for part in (y[:40], y[kept])]
    after = grown(params, search.best_switches_, *limits, 55 / 40)
    model = EmbeddingModel.from_switches(search.best_switches_, after, n_components=k).fit(X[kept], y[kept])
    np.testing.assert_allclose(search.transform(X), model.transform(X), atol=1e-12)
    assert set(search.predict(X)) <= set(y) and search.decision_function(X).shape == (60, 3)


def test_training_rows_with_one_label_each_learn_cuts_where_validation_rows_have_several(several):
    X, Y = several
    one = np.eye(3, dtype=int)[Y.argmax(axis=1)]
    several_of_val = Y[30:] | np.eye(3, dtype=int)[np.zeros(20, dtype=int)]
    search = found(X[:30], one[:30], X[30:], several_of_val, classifier="flda", refit="train")
    assert search.classifier_.thresholds_ is not None
    assert search.score(X[30:], several_of_val) == pytest.approx(search.best_score_, abs=1e-12)
    plain = found(X[:30], one[:30], X[30:], one[30:], classifier="flda", refit="train")
    assert plain.classifier_.thresholds_ is None and (plain.predict(X).sum(axis=1) == 1).all()
