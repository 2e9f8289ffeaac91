"""Traits: stated in the class statement, inherited one by one, and derived from parameters and wrapped methods."""

import pytest

from proxembed import (
    DNE,
    FDA,
    MESD,
    MLDA,
    OPLS,
    PCA,
    SFEHS,
    SSDR,
    DirectMOPE,
    ForestLeaves,
    Isomap,
    Kernelized,
    Layout,
    ReadoutAxes,
    Scaled,
    Views,
)
from proxembed.data import digits
from proxembed.estimator.base import SpectralEmbedder, registry
from proxembed.estimator.traits import Traits


@pytest.fixture(autouse=True)
def scratch_registry(monkeypatch):
    monkeypatch.setattr("proxembed.estimator.base._REGISTRY", dict(registry()))


def test_a_class_inherits_each_trait_that_it_does_not_state():
    class Placed(Isomap, labels="multi"):
        pass

    assert Placed.class_traits == Traits(labels="multi", direct=True, positive_only=True)
    assert Isomap.class_traits.labels is None


def test_an_unknown_trait_and_one_in_the_body_are_refused():
    with pytest.raises(TypeError, match="unexpected keyword argument 'label'"):
        type("Odd", (SpectralEmbedder,), {}, label="multi")
    with pytest.raises(TypeError, match=r"Odd.labels is a trait: write `class Odd\(..., labels='multi'\)`."):
        type("Odd", (SpectralEmbedder,), {"labels": "multi"})
    assert "Odd" not in registry()


def test_parameters_decide_where_they_matter():
    assert [MLDA(correlation=value).traits.from_sums for value in (True, False)] == ["labels", "rows"]
    assert [OPLS(unknown=value).traits.fills_unknown for value in ("auto", "fill", "mean", "drop")] == [True] * 3 + [
        False
    ]
    assert DirectMOPE("labels").traits.positive_only and DirectMOPE("labels").traits.from_sums is None


@pytest.mark.parametrize("wrap", [Kernelized, Layout, Scaled])
@pytest.mark.parametrize("method", [PCA(), FDA(), OPLS()], ids=repr)
def test_a_wrapper_takes_the_labels_of_its_method(wrap, method):
    assert wrap(method).traits.labels == method.traits.labels


def test_a_wrapper_keeps_components_of_positive_eigenvalue_as_its_method_does():
    for wrap in (Kernelized, ForestLeaves, Views):
        assert [wrap(method).traits.positive_only for method in (SFEHS(), OPLS())] == [True, False]
    assert MESD(DNE()).traits.positive_only and not MESD(FDA()).traits.positive_only
    data = digits()
    assert Kernelized(SFEHS(), tau=50.0).fit(data.X[:200], data.Y[:200]).eigenvalues_.min() > 0


def test_a_wrapper_takes_unknown_cells_as_its_method_does():
    assert Kernelized(OPLS(unknown="drop")).traits.unknown == "drop"
    assert Kernelized(OPLS()).traits.fills_unknown and SSDR(OPLS(), PCA()).traits.fills_unknown
    assert [MESD(FDA(), unknown=value).traits.fills_unknown for value in ("mean", "drop")] == [True, False]
    assert not MESD(FDA(), weighting="mimj").traits.takes_shares


def test_scaling_is_that_of_the_wrapped_method():
    assert [wrap(Scaled(OPLS())).traits.scales for wrap in (Layout, ReadoutAxes)] == [True, True]
    assert not Layout(OPLS()).traits.scales and Scaled(PCA()).traits.scales
