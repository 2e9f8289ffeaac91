"""The published figures on scene, and the sweeps that extrapolation saves on yeast."""

from unit.methods.bayes.test_published import (
    assert_bsml_as_published,
    assert_bssml_as_published,
    assert_extrapolation_saves_sweeps,
)


def test_bsml(data_folder):
    assert_bsml_as_published(data_folder, "scene", 0.113, 0.117, accelerate=True)


def test_bssml_on_the_rows_that_it_was_given(data_folder):
    """Where 500 plain sweeps end: the bound, and the labels with it, still improve."""
    assert_bssml_as_published(data_folder, "scene", 0.114, 0.118, accelerate=False, tol=0)


def test_extrapolation_saves_sweeps(data_folder):
    assert_extrapolation_saves_sweeps(data_folder, "yeast", 8)
