"""Fixtures of the report."""

import pytest

from proxembed.report import adaptive as convergence
from proxembed.report import figures
from runs import EMPTY, nothing


@pytest.fixture
def without_figures(monkeypatch):
    """Figures of the page without lines, for tests of what lies around them."""
    for module in (figures, convergence):
        monkeypatch.setattr(module, "svg_text", lambda size, draw, salt: EMPTY(size, nothing, salt))
