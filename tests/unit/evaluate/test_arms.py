"""Arms by name: wrapping, near names, no arm twice, and rivals that follow the kind of features."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from proxembed.base import registry
from proxembed.evaluate.arms import (
    default_methods,
    method_arms,
    method_named,
    method_names,
    name_of,
    rival_arms,
    split_names,
)


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


@pytest.mark.parametrize(
    "name", ["MESD(FDA)", "Kernelized(MVMD, n_prototypes=500)", "Kernelized(MVMD(beta=0.2))", "OPLS(ridge=0.1)"]
)
def test_a_name_that_a_table_shows_is_read_again(name):
    estimator = method_named(name)
    assert name_of(estimator) == name and names(method_arms([name])) == [name]
    assert name_of(method_named(name.lower())) == name


def test_names_separated_by_commas_keep_their_brackets():
    assert split_names("opls,Kernelized(MVMD, tau=2.0) ,mesd(fda)") == [
        "opls",
        "Kernelized(MVMD, tau=2.0)",
        "mesd(fda)",
    ]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("MESD(FAD)", "unknown method 'FAD'; did you mean mfa or fda"),
        ("OPLS(rigde=1)", "'rigde' is no parameter of OPLS"),
        ("OPLS(FDA)", "'method' is no parameter of OPLS"),
        ("Kernelized(OPLS, FDA)", "cannot be read"),
        ("Kernelized(__import__('os'))", "unknown method '__import__'"),
        ("OPLS(ridge=open('x'))", "unknown method 'open'"),
        ("a.b(c)", "cannot be read"),
        ("OPLS(**{})", "cannot be read"),
    ],
)
def test_what_is_no_method_is_refused_by_name(name, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        method_named(name)
