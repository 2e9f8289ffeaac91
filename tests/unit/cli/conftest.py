"""Fixtures of the verbs."""

import pytest

from runs import empty_figures, few_rivals, file, full_at, made, planes_alone, short_layouts, unsplit, usual_speed

__all__ = [
    "empty_figures",
    "few_rivals",
    "file",
    "full_at",
    "made",
    "planes_alone",
    "short_layouts",
    "unsplit",
    "usual_speed",
]


@pytest.fixture(autouse=True)
def quick(few_rivals):
    """All tests of this folder."""
