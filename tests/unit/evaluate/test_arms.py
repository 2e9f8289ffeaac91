"""Arms by name: wrapping, near names, no arm twice, and rivals that follow the kind of features."""

import re
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from proxembed import LaplacianEigenmaps
from proxembed.estimator.base import registry
from proxembed.estimator.catalogue import COUNTERPARTS, method_named, method_names, name_of, split_names
from proxembed.evaluate.arms import (
    check_places_rows,
    default_methods,
    entrants,
    left_out_rivals,
    method_arms,
    rival_arms,
)
from proxembed.targets.labels import LabelMatrix
from proxembed.targets.reading import read_targets


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


@pytest.mark.parametrize(
    ("name", "hint"), [("opsl", "did you mean opls"), ("zzz", "known methods are b"), ("", "known methods")]
)
def test_unknown_names_are_refused_with_near_ones(name, hint):
    with pytest.raises(ValueError, match=f"unknown method {name!r}; {hint}"):
        method_arms([name])


def test_names_of_other_libraries_are_answered_with_their_counterparts():
    for name, counterparts in COUNTERPARTS.items():
        for counterpart in counterparts:
            assert hasattr(method_named(counterpart), "fit")
        with pytest.raises(ValueError, match=f"unknown method {name!r}; did you mean {re.escape(counterparts[0])}"):
            method_named(name)
        assert name not in method_names()


SVM, FISHER = "linear SVM", "MESD(FDA)"
IN_ORDER = ["all features", "PCA", "label scores", "forest scores", "NCA", "supervised UMAP", SVM]


def stated(holds):
    """Names of the rivals of whose classes this holds, where rows carry several labels."""
    return [entrant.arm.name for entrant in entrants(np.ones((40, 3))) if holds(entrant.rival)]


@pytest.fixture(params=[False, True], ids=["without maps", "with maps"])
def maps(request, monkeypatch):
    for name in ("umap_installed", "tsne_installed"):
        monkeypatch.setattr(f"proxembed.features.layouts.{name}", lambda: request.param)
    return request.param


def test_a_method_without_a_rule_for_new_rows_is_refused():
    with pytest.raises(ValueError, match="LaplacianEigenmaps has no weights for the links of new rows"):
        check_places_rows(LaplacianEigenmaps(weights="reconstruction"))


def test_a_map_is_fitted_at_the_sizes_that_it_has():
    (arm,) = method_arms(["Layout(OPLS)"])
    assert arm.each_size and arm.sizes((1, 2, 5)) == (2,) and arm.sizes((5, 10)) == ()
    assert not method_arms(["OPLS"])[0].each_size


def test_rivals_follow_the_kind_of_features_and_of_labels(maps):
    one_class = LabelMatrix.of(np.column_stack([np.arange(40) == 0, np.arange(40) != 0]).astype(int))
    X = np.ones((40, 3))
    every = stated(lambda rival: maps or rival.library is None)
    several = stated(lambda rival: (maps or rival.library is None) and rival.class_traits.labels != "single")
    assert names(rival_arms(X)) == several
    assert [name for name in every if name in IN_ORDER] == [name for name in IN_ORDER if name in every]
    assert names(rival_arms(X, one_class)) == ["FDA" if name == FISHER else name for name in every]
    whole = stated(lambda rival: rival.reads_whole_rows)
    assert names(rival_arms(X, whole_rows=False)) == [name for name in several if name not in whole]
    told = "supervised UMAP takes no part: labels are all known in fewer than half of the rows."
    assert not maps or told in left_out_rivals(X, whole_rows=False)
    assert names(rival_arms(sp.csr_array(X)))[1] == "LSI"
    assert all(arm.rival for arm in rival_arms(X))


def test_a_rival_that_takes_no_part_is_named_with_the_reason(maps):
    X, Y = np.ones((30_000, 2)), LabelMatrix.of(np.ones((30_000, 3), dtype=int))
    told = " ".join(left_out_rivals(X, Y))
    assert "gradient boosting takes no part: 3 labels and 30,000 rows; it takes up to 20 and 20,000." in told
    assert "NCA takes no part: rows carry several labels or none." in told
    one_label = LabelMatrix.of(np.arange(40)[:, None] % 2)
    assert "NCA" in names(rival_arms(X[:40], one_label)), "the rows with and without a label are two classes"
    assert ("UMAP takes no part: umap-learn is not installed" in told) is not maps
    every = names(entrant.arm for entrant in entrants(X, Y))
    assert sorted(names(rival_arms(X, Y)) + [name for name in every if f"{name} takes no part" in told]) == sorted(
        every
    )


def test_rivals_of_a_forecast_above_the_budget_take_no_part(maps):
    X = np.ones((500, 50))
    assert names(rival_arms(X, work=0.0)) == [entrant.arm.name for entrant in entrants(X) if not entrant.work]
    assert {"label scores", "forest proximity"} <= set(names(rival_arms(X, work=0.0))) < set(names(rival_arms(X)))
    assert "logistic regression takes no part: a forecast of" in " ".join(left_out_rivals(X, work=0.0))
    svm = next(each for each in entrants(X) if each.arm.name == SVM)
    sizes = [(X, LabelMatrix.of(np.ones((500, 5), dtype=int)), 1), (np.ones((5000, 50)), None, 1), (X, None, 6)]
    dearer = [next(e for e in entrants(A, Y, splits=k) if e.arm.name == SVM) for A, Y, k in sizes]
    assert 0 < svm.work < min(each.work for each in dearer) and svm.reason(2 * svm.work)
    few, many = (len(rival_arms(X, splits=splits)) for splits in (1, 1000))
    assert many < few


def test_numbers_have_rivals_of_their_own(maps):
    rng = np.random.default_rng(0)
    X, y = np.ones((300, 40)), rng.normal(size=(300, 3))
    every = [entrant.arm.name for entrant in entrants(X, read_targets(y))]
    shared = {"all features", "PCA", "random projection", "UMAP", "supervised UMAP", "t-SNE"}
    predicting = {"ridge regression", "PLSRegression", "principal component regression", "random forest", "lasso"}
    assert set(every) == shared | predicting | {"boosted regression", "PLS"} and every[0] == "all features"
    assert set(every) & set(names(e.arm for e in entrants(X, LabelMatrix.of((y > 0).astype(int))))) == shared
    arms = {arm.name: arm for arm in rival_arms(X, read_targets(y), whole_rows=False)}
    assert all(arms[name].predicts and arms[name].sizes((1, 2)) == (None,) for name in predicting)
    assert arms["ridge regression"].names[1] == "ridge lookup" and arms["random forest"].names[1] == "forest lookup"
    assert arms["PLS"].sizes((1, 2, 5)) == (1, 2) and ("supervised UMAP" in arms) is maps
    told = " ".join(left_out_rivals(np.ones((900, 400)), read_targets(rng.normal(size=(900, 8)))))
    assert "lasso takes no part: 400 features times 8 outputs; it takes up to 3,000." in told
    assert "boosted regression takes no part: 900 rows times 400 features times 8 outputs" in told
    assert "logistic" not in told


def test_the_rivals_that_place_rows_anew_for_each_size(monkeypatch):
    monkeypatch.setattr("proxembed.features.layouts.tsne_installed", lambda: True)
    arms = {arm.name: arm for arm in rival_arms(np.ones((20, 3)), seed=3)}
    assert arms["t-SNE"].sizes((2, 5, 10)) == (2,) and arms["t-SNE"].sizes((5,)) == ()
    assert arms[FISHER].sizes((1, 2, 5)) == (1, 2) and arms[FISHER].sizes((5,)) == ()
    assert replace(arms["t-SNE"], largest=None).sizes((2, 5, 10)) == (2, 10)
    assert arms["PCA"].sizes((2, 5)) == (2, 5) and arms["all features"].sizes((2, 5)) == (None,)
    for name in ("logistic regression", SVM):
        assert arms[name].predicts and arms[name].sizes((2, 5)) == (None,) and arms[name].grid[0] == "C"
    assert not arms["all features"].predicts and not arms["PCA"].predicts
    assert arms["t-SNE"].estimator.random_state == 3


def test_the_forests_are_bounded_and_seeded():
    X = np.eye(2)
    for name in ("forest proximity", "forest scores"):
        forests = [
            next(arm.estimator for arm in arms if arm.name == name)
            for arms in (rival_arms(X), rival_arms(X, seed=7, n_rows=100))
        ]
        assert [(forest.max_rows, forest.random_state) for forest in forests] == [(5000, 0), (100, 7)]


@pytest.mark.parametrize(
    "name",
    [
        "MESD(FDA)",
        "Kernelized(MVMD, n_prototypes=500)",
        "Kernelized(MVMD(beta=0.2))",
        "OPLS(ridge=0.1)",
        "SSDR(supervised=MESD(FDA), unsupervised=PCA, mix=0.3)",
        "SSDR(supervised=MDDM(mix=0.2))",
    ],
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
        ("OPLS(rigde=1)", "'rigde' is not a parameter of OPLS"),
        ("OPLS(FDA)", "'method' is not a parameter of OPLS"),
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
