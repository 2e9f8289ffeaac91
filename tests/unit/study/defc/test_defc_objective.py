"""Objective: scores of candidates on held-out rows, the best number of components, and what fails."""

import pickle
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
import scipy.sparse as sp

from proxembed.methods.adaptive import StageRows, Stages, Switches, sample
from proxembed.study.defc.objective import Objective, aligned, best_size, prefix_scores
from proxembed.targets.labels import LabelMatrix
from strategies import every_switches

MODEL = Switches(3, 5, 0, 5, 2, 2, 2, 0)
VALUES = {"similarity_sigma": 0.4, "n_neighbors": 20, "lam": 0.1}


def rows(seed=0, n=80, d=5, c=3):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(c), rng.integers(0, c, n - c)])
    return rng.normal(size=(c, d))[y] * 1.3 + rng.normal(size=(n, d)), y


def halves(n, parts=3):
    return [(np.flatnonzero(np.arange(n) % parts != fold), np.arange(fold, n, parts)) for fold in range(parts)]


@pytest.mark.parametrize("classifier", ["1nn", "flda"])
def test_the_score_is_the_best_mean_over_the_parts(classifier):
    X, y = rows()
    labels, splits = LabelMatrix.of(y), halves(80)
    found = Objective(X, labels, splits, classifier=classifier, k_cap=20, all_k=True).evaluate(MODEL, VALUES)
    curves = []
    for train, out in splits:
        placed = Stages(StageRows(X[train], labels.take(train), X[out]), k_cap=20).embed(MODEL, VALUES)
        part = labels.take(train), placed.Z_val, labels.take(out)
        curves.append(prefix_scores(classifier, placed.Z, *part, "subset accuracy"))
    mean = np.mean(curves, axis=0)
    assert found.k == int(np.flatnonzero(mean >= mean.max() - 1e-12)[0]) + 1
    assert found.score == mean[found.k - 1] > mean.min()
    assert found.by_fold == tuple(curve[found.k - 1] for curve in curves)
    assert found.switches == MODEL.as_tuple() and found.params == VALUES and found.failed is None and found.seconds > 0


def test_equal_scores_go_to_the_fewest_components():
    scores = np.array([[0.0, 0.3, 0.1], [0.2, 0.2, 0.2], [0.0, 0.1, 0.3]])
    means = scores.mean(axis=0)
    assert means[1] < means[2] < means[1] + 1e-15  # equal but for rounding
    assert best_size([1, 2, 4], scores) == (2, means[1], (0.3, 0.2, 0.1))


def test_the_sizes_are_those_that_all_parts_have():
    """Ranks 6, 4 and 6 of the training rows: four components are the most that can be compared, and are compared."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 6)), rng.integers(0, 3, 60)
    splits = halves(60)
    X[splits[1][0], 4:] = 0.0
    asked = []

    def scored(*given):
        asked.append(list(given[6]))
        return np.arange(len(given[6]), dtype=float)

    with mock.patch("proxembed.study.defc.objective.prefix_scores", scored):
        found = Objective(X, LabelMatrix.of(y), splits).evaluate(Switches(2, 0, 0, 5, 2, 2, 2, 0), VALUES)
    assert asked == [[1, 2, 3, 4]] * 3 and found.k == 4


@pytest.mark.parametrize("all_k", [False, True])
def test_nearest_rows_are_scored_on_a_grid_of_components_unless_all_are_asked_for(all_k):
    X, y = rows()
    labels, (train, out) = LabelMatrix.of(y), halves(80)[0]
    sizes, asked = list(range(1, 41)), []

    def scored(*given):
        asked.append(given[6])
        return np.array([float(k == 18) + float(k == 23) / 2 for k in given[6]])

    with mock.patch("proxembed.study.defc.objective.prefix_scores", scored):
        found = Objective(X, labels, [(train, out)], k_cap=40, all_k=all_k).evaluate(MODEL, VALUES)
    assert asked == [sizes if all_k else [*sizes[:16], 19, 23, 27, 32, 38, 40]]
    assert (found.k, found.score) == ((18, 1.0) if all_k else (23, 0.5))


def test_further_rows_are_scored_like_held_out_ones():
    X, y = rows()
    labels, (train, out) = LabelMatrix.of(y), halves(80)[0]
    split = Objective(X, labels, [(train, out)]).evaluate(MODEL, VALUES)
    further = Objective(X[train], labels.take(train), (X[out], LabelMatrix.of(y[out]))).evaluate(MODEL, VALUES)
    assert split == further and split.score > 0.5


def test_labels_of_further_rows_find_their_columns():
    X, y = rows(c=4)
    train, out = np.arange(60), np.arange(60, 80)
    names = np.array(["a", "b", "c", "d"])[y]
    few = out[(names[out] != "a")]
    objective = Objective(X[train], LabelMatrix.of(names[train]), (X[few], LabelMatrix.of(names[few])))
    whole = Objective(X, LabelMatrix.of(names), [(train, few)])
    assert objective.evaluate(MODEL, VALUES) == whole.evaluate(MODEL, VALUES)
    unseen = names[train] != "a"
    objective = Objective(X[train][unseen], LabelMatrix.of(names[train][unseen]), (X[out], LabelMatrix.of(names[out])))
    assert objective.evaluate(MODEL, VALUES).score <= np.mean(names[out] != "a") < 1


def test_columns_that_cannot_agree_are_refused():
    like = LabelMatrix.of([[1, 0], [1, 1]])
    for other in (LabelMatrix.of([[1, 0, 0], [1, 1, 1]]), LabelMatrix.of(["a", "b"])):
        with pytest.raises(ValueError, match="in one form with the same columns"):
            aligned(other, like)
    sets = aligned(LabelMatrix.of([{"b"}, {"a", "z"}, set()]), LabelMatrix.of([{"a", "b"}, {"c"}]))
    assert sets.Y.toarray().tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    assert aligned(like, like) is like


def test_one_hot_rows_of_several_labels_score_like_classes():
    """Spec 13.11, of the whole way from rows to scores."""
    X, y = rows()
    classes, sets = LabelMatrix.of(y), LabelMatrix.of(np.eye(3, dtype=int)[y])
    draws = np.random.default_rng(3)
    for classifier in ("1nn", "flda"):
        pair = [Objective(X, labels, halves(80), classifier=classifier, measure="subset accuracy", k_cap=8)
                for labels in (classes, sets)]  # fmt: skip
        for vector in ([3, 5, 0, 5, 1, 2, 2, 1], [3, 2, 0, 2, 2, 2, 1, 0], [0, 0, 0, 4, 2, 1, 2, 0]):
            params = sample(Switches.of(vector), pair[0].limits, draws)
            first, second = (objective.evaluate(vector, params) for objective in pair)
            assert first == second and first.score > 0.34


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_random_candidates_score_or_fail_and_are_never_nan(several, sparse):
    X, y = rows(5, n=50, d=6)
    X[10:14], X[:, 2] = X[9], 5.0
    Y = np.eye(3, dtype=int)[y] | (np.random.default_rng(0).random((50, 3)) < 0.2 * several)
    labels = LabelMatrix.of(Y if several else y)
    objective = Objective(sp.csr_array(X) if sparse else X, labels, halves(50, 2), k_cap=5)
    draws, every = np.random.default_rng(7), every_switches()
    failed = 0
    for number in draws.choice(len(every), 60, replace=False):
        found = objective.evaluate(every[number], sample(every[number], objective.limits, draws))
        failed += found.failed is not None
        assert found.score == -np.inf if found.failed else 0 <= found.score <= 1
        assert found.switches == every[number].canonical().as_tuple()
    assert failed < 6


def test_a_candidate_that_cannot_be_used_scores_worst():
    X, y = rows()
    huge = Objective(X * 1e80, LabelMatrix.of(y), halves(80))
    found = huge.evaluate([0, 2, 0, 3, 2, 1, 3, 0], {"relation_p": 5, "n_neighbors": 5})
    assert found.score == -np.inf and "not finite" in found.failed and found.k is None and found.by_fold == ()


def test_repairs_are_told_once():
    X, y = rows()
    X = np.column_stack([X, np.ones(80)])
    found = Objective(X, LabelMatrix.of(y), halves(80)).evaluate(MODEL, VALUES)
    assert found.repairs == ("1 constant features removed",)


def test_a_copy_for_another_process_scores_the_same():
    X, y = rows()
    objective = Objective(X, LabelMatrix.of(y), halves(80), classifier="flda")
    found = objective.evaluate(MODEL, VALUES)
    assert objective.cache_stats["entries"] > 0
    copy = pickle.loads(pickle.dumps(objective))
    assert copy.cache_stats["entries"] == 0 and copy.evaluate(MODEL, VALUES) == found
    assert len(pickle.dumps(objective)) < 20_000


def test_held_out_rows_do_not_reach_the_fit():
    X, y = rows()
    train, out = halves(80)[0]
    labels = LabelMatrix.of(y)
    one = Objective(X[train], labels.take(train), (X[out], labels.take(out)))
    other = Objective(X[train], labels.take(train), (X[out][:1] * 100, labels.take(out[:1])))
    first, second = (objective._folds[0].stages.embed(MODEL, VALUES) for objective in (one, other))
    assert np.array_equal(first.Z, second.Z)


def test_another_measure_is_followed():
    X, y = rows()
    Y = np.eye(3, dtype=int)[y]
    Y[::4, 0] = 1
    default, named, precision = (
        Objective(X, LabelMatrix.of(Y), halves(80), measure=measure).evaluate(MODEL, VALUES)
        for measure in (None, "macro F1", "macro average precision")
    )
    assert default == named != replace(precision, seconds=named.seconds)


def test_bad_calls_are_errors():
    X, y = rows()
    labels = LabelMatrix.of(y)
    with pytest.raises(ValueError, match="splits is empty"):
        Objective(X, labels, [])
    with pytest.raises(ValueError, match="measure='auc'"):
        Objective(X, labels, halves(80), measure="auc")
    with pytest.raises(ValueError, match="classifier='tree'"):
        Objective(X, labels, halves(80), classifier="tree")
    with pytest.raises(ValueError, match="params lacks 'lam'"):
        Objective(X, labels, halves(80)).evaluate(MODEL, {"similarity_sigma": 1.0, "n_neighbors": 3})
    empty = LabelMatrix.of(["z"]).take([0])
    with pytest.raises(ValueError, match="is not defined on the labels of a held-out part"):
        Objective(X, LabelMatrix.of(y.astype(str)), (X[:1], empty), measure="macro average precision")


@pytest.mark.parametrize("classifier", ["1nn", "flda"])
def test_components_in_which_all_rows_coincide_are_not_counted_as_an_embedding(classifier):
    X, y = np.resize([[1.0], [-2.0], [3.0]], (36, 1)), np.arange(36) // 3 % 2  # both points hold both classes
    vector, params, splits = Switches(1, 5, 0, 3, 2, 1, 4, 0), {"n_neighbors": 35}, [(np.arange(30), np.arange(30, 36))]
    found = Objective(X, LabelMatrix.of(y), splits, classifier=classifier, k_cap=2).evaluate(vector, params)
    assert found.failed is None and found.k == 2


def test_whether_a_row_has_one_label_is_decided_once_for_all_parts():
    """A part whose training rows happen to have one label each is scored by cuts, as the others are."""
    X, y = rows()
    Y = np.eye(3, dtype=int)[y]
    Y[:20, 2] = 1  # several labels in the first rows alone
    labels, splits = LabelMatrix.of(Y), [(np.arange(20, 80), np.arange(20)), (np.arange(60), np.arange(60, 80))]
    objective = Objective(X, labels, splits, classifier="flda", k_cap=4)
    assert labels.take(splits[0][0]).one_hot and not objective.one_label
    found = objective.evaluate(MODEL, VALUES)
    train, out = splits[0]
    placed = Stages(StageRows(X[train], labels.take(train), X[out]), k_cap=4).embed(MODEL, VALUES)
    part = labels.take(train), placed.Z_val, labels.take(out), "macro F1"
    cut, largest = (prefix_scores("flda", placed.Z, *part, one_label=one)[found.k - 1] for one in (False, True))
    assert found.by_fold[0] == cut != largest
    assert Objective(X, LabelMatrix.of(y), splits).one_label
    assert Objective(X, LabelMatrix.of(np.eye(3, dtype=int)[y]), splits).one_label
    part = LabelMatrix.of(np.eye(3, dtype=int)[y])
    assert not Objective(X, part, (X, labels)).one_label and Objective(X, part, (X, part)).one_label


def test_one_label_of_rows_with_several_is_refused():
    labels = LabelMatrix.of([[1, 1], [0, 1], [1, 0]])
    with pytest.raises(ValueError, match="one_label=True needs rows with exactly one label"):
        prefix_scores("flda", np.eye(3), labels, np.eye(3), labels, "subset accuracy", one_label=True)


def test_limits_of_a_single_label_are_those_of_two_classes():
    X, y = rows()
    one = Objective(X, LabelMatrix.of(sp.csr_array((y == 0)[:, None].astype(int))), halves(80))
    assert one.limits == Objective(X, LabelMatrix.of(y == 0), halves(80)).limits
