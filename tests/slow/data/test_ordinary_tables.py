"""A search and a comparison of ordinary tables of every kind."""

import pytest

from data.tables import TABLES
from data.test_ordinary_tables import searched_and_compared

pytestmark = pytest.mark.usefixtures("few_rivals")


@pytest.mark.parametrize("name", [name for name in TABLES if name != "survey"])
def test_search_and_compare_take_the_table(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    searched_and_compared(tmp_path, name)
