"""A folder of small data sets, and a stage of the paper's experiment made of one."""

import pytest

from proxembed.reproduce.reuters_ten import reuters_ten
from unit.reproduce.made import counted_set, dense_set


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("data")
    dense_set(place / "emotions.npz")
    counted_set(place / "reuters.npz")
    return place


@pytest.fixture(scope="session")
def stage(folder):
    return reuters_ten(folder, seed=0)
