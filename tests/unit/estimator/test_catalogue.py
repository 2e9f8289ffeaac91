"""The list of estimators by need: derived from what the classes state, in plain sentences."""

import re

import pytest

from proxembed import BSML, LFDA, MDDM, MESD, OPLS, PCA, SELF, SSDR, ForestLeaves
from proxembed.classify.label_classifier import LabelClassifier
from proxembed.estimator.base import SpectralEmbedder, registry
from proxembed.estimator.catalogue import (
    NEEDS,
    described,
    estimators,
    listed,
    named_members,
    need_of,
    sentence_of,
    unknown_rule,
)
from proxembed.estimator.wrapper import TemplateWrapper

OURS = [cls for cls in estimators().values() if cls.__module__.startswith("proxembed.")]


def test_every_estimator_is_listed_once_under_a_need():
    rows = listed()
    assert sorted(row["class"] for row in rows) == sorted(estimators())
    needs = [row["need"] for row in rows]
    assert set(needs) == set(NEEDS) and needs == sorted(needs, key=list(NEEDS)[::-1].index)


@pytest.mark.parametrize(
    ("need", "names"),
    [
        ("several labels per row", {"OPLS", "MDDM", "MORP"}),
        ("one class per row", {"FDA", "LFDA"}),
        ("no labels", {"PCA", "Isomap"}),
        ("some labels are unknown", {"SSDR", "SELF", "MLLGC", "SSDRMC"}),
        ("kernels, relations and extensions of a method", {"Kernelized", "MESD", "RelationFeatures", "Scaling"}),
        ("embedding and labels with their uncertainty (Bayesian)", {"BSML", "BSSML", "VariationalProbit"}),
        ("predict labels from an embedding", {"LabelKNN", "MultiOutputRidge", "Thresholded"}),
        ("rivals: what an embedding must beat", {"LabelScores"}),
        ("search for the best embedding, or assemble one", {"DEFC", "EmbeddingSearch", "EmbeddingModel"}),
    ],
)
def test_needs(need, names):
    found = {row["class"] for row in listed() if row["need"] == need}
    assert names <= found


@pytest.mark.parametrize(
    ("base", "traits", "need"),
    [
        (SpectralEmbedder, {"labels": "single"}, "one class per row"),
        (SpectralEmbedder, {"labels": None}, "no labels"),
        (SpectralEmbedder, {"labels": "multi"}, "several labels per row"),
        (SpectralEmbedder, {"labels": "multi", "keeps_unknown": True}, "some labels are unknown"),
        (TemplateWrapper, {}, "kernels, relations and extensions of a method"),
        (LabelClassifier, {}, "predict labels from an embedding"),
        (BSML, {}, "embedding and labels with their uncertainty (Bayesian)"),
    ],
)
def test_a_planted_class_falls_under_the_need_of_its_facts(base, traits, need, monkeypatch):
    monkeypatch.setattr("proxembed.estimator.base._REGISTRY", dict(registry()))
    own = {"__doc__": "A planted one: A = I.\n\nDoes nothing. Ever.", "__module__": f"{base.__module__}_planted"}
    planted = type("Planted", (base,), own, **traits)
    assert need_of(planted) == need
    row = next(row for row in listed() if row["class"] == "Planted")
    assert row["need"] == need and row["summary"] == "A planted one. Does nothing."


@pytest.mark.parametrize("cls", OURS, ids=lambda cls: cls.__name__)
def test_sentences_are_plain(cls):
    sentence = sentence_of(cls)
    assert sentence.count(". ") == 1 and 30 < len(sentence) < 260
    assert not re.search(r"= I\b|\^|\|\||sum_|``|P'|X'|\[\w+\d{4}\w*\]", sentence), sentence


def test_one_is_described_in_full():
    found = described("Kernelized(OPLS)")
    assert found["class"] == "Kernelized" and found["citation"].startswith("@")
    kernel = next(each for each in found["parameters"] if each["name"] == "kernel")
    assert kernel["default"] == "'gaussian'"
    assert "constraint" in found["doc"] and found["need"] == "kernels, relations and extensions of a method"
    with pytest.raises(ValueError, match=r"^'oplss' is not an estimator; is it opls"):
        described("oplss")


def test_what_fit_does_with_a_partly_known_row():
    methods = OPLS(), OPLS(unknown="drop"), BSML(), MESD(LFDA()), MESD(SELF()), PCA(), MESD(), ForestLeaves()
    found = [unknown_rule(each) for each in methods]
    assert found == ["fill or mean", "left out", "known cells", "left out", "unlabelled", "", "mean", "mean"]


def test_members_are_the_methods_that_parameters_hold():
    assert list(named_members(SSDR(MDDM()))) == ["supervised"] and named_members(OPLS()) == {}
