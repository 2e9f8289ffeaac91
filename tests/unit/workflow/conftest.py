"""Fixtures of the workflow."""

import pytest

from runs import empty_figures, few_rivals, full_at, planes_alone, short_layouts, usual_speed

__all__ = ["empty_figures", "few_rivals", "full_at", "planes_alone", "short_layouts", "usual_speed"]


@pytest.fixture(autouse=True)
def quick(few_rivals):
    """All tests of this folder."""
