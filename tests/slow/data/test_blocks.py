"""Ridges on the larger real data sets."""

import pytest

from data import test_blocks as smaller


@pytest.mark.parametrize("name", ["corel5k", "tmc2007-500"])
def test_the_ridge_is_found_without_the_whole_grid(name, data_folder, monkeypatch):
    smaller.test_the_ridge_is_found_without_the_whole_grid(name, data_folder, monkeypatch)


def test_ridges_of_blocks(data_folder):
    smaller.test_ridges_of_blocks("enron", data_folder)
