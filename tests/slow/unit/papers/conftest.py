"""A folder of small data sets, a stage of the paper's experiment made of one, and the test that what is done stays."""

from dataclasses import replace

import pytest

from papers.mesd_mope.reuters_ten import reuters_ten
from slow.unit.papers.made import counted_set, dense_set


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("data")
    dense_set(place / "emotions.npz")
    counted_set(place / "reuters.npz")
    return place


@pytest.fixture(scope="session")
def stage(folder):
    return reuters_ten(folder, seed=0)


@pytest.fixture
def done_once(monkeypatch):
    """Call it with an experiment, its request and record: what is done is done again only where that is forced."""

    def check(experiment, request, record):
        def again(*arguments):
            raise RuntimeError("run again")

        monkeypatch.setattr(experiment, "compete", again)
        assert experiment.run(request)["parts"] == record["parts"]
        with pytest.raises(RuntimeError, match="run again"):
            experiment.run(replace(request, force=True))

    return check
