"""Fixtures of the report."""

import pytest

from proxembed.report import adaptive, figures
from runs import EMPTY, nothing


@pytest.fixture
def without_figures(monkeypatch):
    """Figures of the page without lines, for tests of what lies around them."""
    for module in (figures, adaptive):
        monkeypatch.setattr(module, "svg_text", lambda size, draw, salt: EMPTY(size, nothing, salt))
