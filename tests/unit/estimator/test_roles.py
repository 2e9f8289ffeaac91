"""Roles: what every registered class is for, and which of them searches and comparisons draw."""

import json

import numpy as np
import pytest
from sklearn.base import clone
from typer.testing import CliRunner

import strategies
from proxembed import MESD
from proxembed.algebra.operators.structured import Centering
from proxembed.algebra.template import Template
from proxembed.classify.label_classifier import LabelClassifier
from proxembed.cli import app
from proxembed.estimator.base import ROLES, Embedder, Estimator, SpectralEmbedder, registry
from proxembed.estimator.catalogue import BY_NAME, estimators, method_names
from proxembed.evaluate.arms import method_arms
from proxembed.evaluate.rivals.rival import RIVALS, RivalEmbedding, rivals
from proxembed.params import check_params, methods, param
from proxembed.study.candidates import candidates, inner_classes

# Of the classes below each test says what they are; of classes that are added later, what follows from the registry.
NAMED = """
    BSML BSSML CCA ClassicalMDS CopyLDA DLA DMLDA DNE DONPP DirectMOPE EmbeddingModel FDA ForestLeaves HSL Isomap
    Kernelized LFDA LLE LPP LSI LaplacianEigenmaps Layout MDDM MESD MFA MLDA MLLS MLSI MMC MOPE MORP MVMD NPP OLPP OLPPR
    ONPP ONPPR OPLS PCA PLS ReadoutAxes SELF SFEHS SLVM SONPP SSDR SSDRMC Scaled SSFDA SSMMC SSMOPE Views
"""
SEARCHED = """
    CCA ClassicalMDS CopyLDA DLA DMLDA DNE DONPP DirectMOPE FDA ForestLeaves(OPLS) HSL Isomap Kernelized(OPLS) LFDA LLE
    LPP LaplacianEigenmaps MDDM MFA MLDA MLLS MLSI MMC MOPE MORP MVMD NPP OLPP OLPPR ONPP ONPPR OPLS PLS SFEHS SLVM
    SONPP Views(Kernelized(OPLS))
"""
PARTLY = "BSML BSSML SELF SSDR SSDRMC SSFDA SSMMC SSMOPE"
SINGLE = "DLA DNE DONPP FDA LFDA MFA MMC OLPPR ONPPR SELF SONPP SSFDA SSMMC"


def titles(found) -> list[str]:
    return [candidate.title for candidate in found]


def wrapped(names: str) -> set[str]:
    """The titles where rows have several labels."""
    return {f"MESD({name})" if name in SINGLE.split() else name for name in names.split()}


def test_the_names_that_a_comparison_takes():
    by_role = [name for name, cls in registry().items() if cls.role in ("method", "model")]
    assert list(method_names().values()) == by_role and set(NAMED.split()) <= set(by_role)
    assert list(method_names()) == [name.lower() for name in method_names().values()]


def test_what_a_search_draws():
    drawn, several = titles(candidates(several_labels=False)), set(titles(candidates()))
    never = set(NAMED.split()) - set(SEARCHED.split())
    assert set(SEARCHED.split()) <= set(drawn) and never.isdisjoint(drawn) and drawn == sorted(set(drawn))
    assert wrapped(SEARCHED) <= several and wrapped(" ".join(never)).isdisjoint(several)
    partly = set(titles(candidates(partly_labelled=True)))
    assert wrapped(f"{SEARCHED} {PARTLY}") <= partly and wrapped(" ".join(never - set(PARTLY.split()))).isdisjoint(
        partly
    )


def test_what_a_comparison_of_all_methods_draws():
    names = {
        name
        for name in NAMED.split()
        if name not in ("PCA", "LSI", "SSDR", "MESD", "Kernelized", "ForestLeaves")
        and name not in ("Layout", "ReadoutAxes", "Scaled", "Views")
    }
    extensions = {
        "MESD(FDA)",
        "Kernelized(OPLS)",
        "ForestLeaves(OPLS)",
        "Layout(TargetSpace)",
        "ReadoutAxes(OPLS)",
        "Views(Kernelized(OPLS))",
        "Scaled(OPLS)",
        "SSDR",
    }
    drawn = {arm.name for arm in method_arms(["all"])}
    assert wrapped(" ".join(names)) | extensions <= drawn and drawn.isdisjoint({"PCA", "LSI"})


def test_what_a_wrapper_draws():
    drawn = [cls.__name__ for cls in inner_classes(MESD, methods("single"))]
    assert drawn == [
        name for name, cls in estimators("method").items() if cls.class_traits.labels == "single" and name != "MESD"
    ]
    assert set(SINGLE.split()) <= set(drawn)


X, Y = strategies.labelled_rows(30, 6, 3, 1)


def strength():
    return param(default=1.0, above=0, doc="Strength of nothing.")


def planted_method():
    class PlantedMethod(SpectralEmbedder):
        """A planted embedding.  [pearson1901pca]"""

        strength: float = strength()

        def template(self, rows):
            return Template(self.strength * Centering(), offset=rows.ones)

    return PlantedMethod


class Fitted:
    """A fit that does nothing but to check."""

    def fit(self, X, y=None):
        check_params(self)
        self.n_features_in_ = X.shape[1]
        return self


def planted_model():
    class PlantedModel(Fitted, Embedder):
        """A planted model."""

        role = "model"
        n_components: int | None = param(default=None, low=1, integer=True, choices=(None,), doc="Components.")
        strength: float = strength()

    return PlantedModel


def planted_features():
    class PlantedFeatures(Fitted, Embedder):
        """Planted features."""

        strength: float = strength()

    return PlantedFeatures


def planted_rival():
    class PlantedRival(Fitted, RivalEmbedding):
        """A planted rival."""

        title = "planted rival"

        n_components: int | None = param(default=None, low=1, integer=True, choices=(None,), doc="Components.")
        strength: float = strength()

    return PlantedRival


def planted_classifier():
    class PlantedClassifier(Fitted, LabelClassifier):
        """A planted classifier."""

        strength: float = strength()

        def _scores(self, X):
            return np.ones((len(X), 1))

    return PlantedClassifier


def planted_search():
    class PlantedSearch(Fitted, Estimator):
        """A planted search."""

        role = "search"
        strength: float = strength()

    return PlantedSearch


PLANTS = (planted_method, planted_model, planted_features, planted_rival, planted_classifier, planted_search)


@pytest.fixture(autouse=True)
def scratch_registry(monkeypatch):
    """The classes of the package alone, whatever other tests have planted; those made here leave no trace."""
    own = {name: cls for name, cls in registry().items() if cls.__module__.startswith("proxembed.")}
    monkeypatch.setattr("proxembed.estimator.base._REGISTRY", own)
    monkeypatch.setattr("proxembed.evaluate.rivals.rival.RIVALS", dict(RIVALS))


@pytest.fixture(params=PLANTS, ids=ROLES)
def planted(request):
    """A class of each role, defined in the test."""
    return request.param()


def listed() -> list[dict]:
    """What `proxembed methods --json` prints."""
    return json.loads(CliRunner().invoke(app, ["methods", "--json"]).stdout)


def test_there_is_a_plant_of_each_role(scratch_registry):
    assert tuple(plant().role for plant in PLANTS) == ROLES


def test_a_planted_class_is_registered_and_listed(planted):
    assert registry()[planted.__name__] is planted is estimators(planted.role)[planted.__name__]
    rows = listed()
    (row,) = [row for row in rows if row["class"] == planted.__name__]
    assert (row["role"], row["name"]) == (planted.role, planted.__name__.lower())
    assert row["summary"].lower().startswith(("a planted", "planted"))
    assert f"{len(rows)} estimators" in CliRunner().invoke(app, ["methods"]).stdout


def test_a_planted_class_has_its_parameters_built_checked_and_documented(planted):
    assert planted().get_params()["strength"] == 1.0
    assert repr(clone(planted(strength=2.0))) == f"{planted.__name__}(strength=2.0)"
    assert "strength : a number > 0 and <= 1e+100, default=1.0\n    Strength of nothing.\n" in planted.__doc__
    assert planted().fit(X, Y).n_features_in_ == 6
    with pytest.raises(ValueError, match=f"{planted.__name__}: strength=-1 is not allowed; strength must be a number"):
        planted(strength=-1).fit(X, Y)


def test_of_planted_classes_embeddings_go_by_name_and_methods_are_drawn(planted):
    named, name = planted.role in BY_NAME, planted.__name__
    assert (name in method_names().values()) is named
    assert (name in titles(candidates())) is (planted.role == "method")
    assert (name in {arm.name for arm in method_arms(["all"])}) is named
    if named:
        assert titles(candidates([name])) == [name]
    else:
        with pytest.raises(ValueError, match=f"unknown method '{name}'"):
            candidates([name])


def test_no_planted_class_is_left():
    assert [name for name in registry() if name.startswith("Planted")] == []


@pytest.mark.parametrize("role", ["methods", "", None, 3], ids=repr)
def test_an_unknown_role_is_refused(scratch_registry, role):
    with pytest.raises(TypeError, match="Odd: role=.* is not allowed; role must be one of method, model, features, "):
        type("Odd", (Estimator,), {"role": role})
    assert "Odd" not in registry()


def test_a_class_without_a_role_is_refused(scratch_registry):
    with pytest.raises(TypeError, match="Bare: role=None is not allowed"):
        type("Bare", (Estimator,), {})


@pytest.mark.parametrize("role", ["method", "model"])
def test_an_embedding_without_a_size_is_refused(scratch_registry, role):
    with pytest.raises(TypeError, match="Sizeless has no number of components.*declare n_components, or state role"):
        type("Sizeless", (Embedder,), {"role": role})


def test_the_role_of_every_registered_class():
    ours = {name: cls for name, cls in estimators().items() if cls.__module__.startswith("proxembed.")}
    roles = {role: sorted(name for name, cls in ours.items() if cls.role == role) for role in ROLES}
    models = {"EmbeddingModel", "Layout", "ReadoutAxes", "Scaled"}
    learned = {"FLDAClassifier", "LabelKNN", "MLKNN", "MultiOutputRidge", "RankSVM", "Thresholded", "VariationalProbit"}
    assert models <= set(roles["model"]) and set(NAMED.split()) - models <= set(roles["method"])
    assert {"RelationFeatures", "Scaling", "TableEncoder"} <= set(roles["features"])
    assert roles["rival"] == sorted(cls.__name__ for cls in rivals() if issubclass(cls, Estimator))
    assert {"DEFC", "EmbeddingSearch"} <= set(roles["search"])
    assert learned | {"MLGFHF", "MLGRF", "MLLGC", "SMSE"} <= set(roles["classifier"])


def test_an_unknown_role_cannot_be_asked_for():
    with pytest.raises(ValueError, match="'methods' is not a role of an estimator; the roles are method, model"):
        estimators("methods")


def test_the_constructor_keeps_the_order_of_its_positional_parameters():
    from proxembed import DEFC, MLKNN, EmbeddingSearch, FLDAClassifier, LabelKNN, Thresholded, VariationalProbit
    from proxembed.evaluate.rivals.forests import ForestProximity
    from proxembed.evaluate.rivals.maps import SupervisedUMAP

    assert (DEFC("ga", "flda").search, DEFC("ga", "flda").classifier) == ("ga", "flda")
    names = ["methods", "n_components", "max_seconds", "cv", "measure", "random_state", "n_jobs"]
    search = EmbeddingSearch(*names)
    assert [getattr(search, name) for name in names] == names
    first = {FLDAClassifier: "threshold", LabelKNN: "n_neighbors", MLKNN: "n_neighbors", Thresholded: "classifier"}
    first |= {VariationalProbit: "hyper", ForestProximity: "n_components", SupervisedUMAP: "n_components"}
    for cls, name in first.items():
        assert getattr(cls("first"), name) == "first"
        with pytest.raises(TypeError):
            cls("first", "second")
    with pytest.raises(TypeError):
        EmbeddingSearch(*names, 40)
