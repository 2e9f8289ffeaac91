"""Arms by name: wrapping, near names, no arm twice, and rivals that follow the kind of features."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from proxembed.base import registry
from proxembed.evaluate.arms import default_methods, method_arms, method_names, rival_arms


def names(arms):
    return [arm.name for arm in arms]


def test_single_label_methods_are_wrapped_only_where_rows_carry_several_labels():
    assert names(method_arms(["FDA", "opls"])) == ["MESD(FDA)", "OPLS"]
    assert names(method_arms(["fda"], several_labels=False)) == ["FDA"]


def test_no_arm_stands_twice():
    assert names(method_arms(["fda", "mesd", "opls", "OPLS "])) == ["MESD(FDA)", "OPLS"]


def test_all_is_every_method_with_a_size_but_the_rivals():
    arms = method_arms(["all"], several_labels=False)
    assert len(arms) == len(method_names()) - 2
    assert {"PCA", "LSI", "Scaling"}.isdisjoint(names(arms))
    assert all(clone(arm.estimator).set_params(n_components=2).n_components == 2 for arm in arms)


def test_defaults_exist():
    assert set(default_methods(10)) <= {name.lower() for name in registry()}


@pytest.mark.parametrize(("name", "hint"), [("opsl", "did you mean opls"), ("zzz", "known are b"), ("", "known are")])
def test_unknown_names_are_refused_with_near_ones(name, hint):
    with pytest.raises(ValueError, match=f"unknown method {name!r}; {hint}"):
        method_arms([name])


RIVALS = ["all features", "PCA", "random projection", "label scores", "forest proximity"]


def test_rivals_follow_the_kind_of_features(monkeypatch):
    monkeypatch.setattr("proxembed.evaluate.arms.umap_installed", lambda: False)
    assert names(rival_arms(np.eye(2))) == RIVALS
    assert names(rival_arms(sp.eye_array(2)))[1] == "LSI"
    assert all(arm.rival for arm in rival_arms(np.eye(2)))


def test_supervised_umap_is_a_rival_where_it_is_installed(monkeypatch):
    monkeypatch.setattr("proxembed.evaluate.arms.umap_installed", lambda: True)
    arm = rival_arms(np.eye(2), seed=3)[-1]
    assert (arm.name, arm.rival, arm.estimator.random_state) == ("supervised UMAP", True, 3)


def test_the_forest_is_bounded_and_seeded():
    forests = [rival_arms(np.eye(2))[4].estimator, rival_arms(np.eye(2), seed=7, n_rows=100)[4].estimator]
    assert [(forest.max_rows, forest.random_state) for forest in forests] == [(5000, 0), (100, 7)]
