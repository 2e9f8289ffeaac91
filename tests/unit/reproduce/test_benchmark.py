"""The benchmark as a whole: its page, its counts, and that a set that is done is not done again."""

import json
import xml.etree.ElementTree as ElementTree

import pytest

from proxembed import OPLS, PCA
from proxembed.reproduce import Request, benchmark_multilabel
from proxembed.reproduce.benchmark_page import failures, paired
from proxembed.reproduce.entrants import Entrant

OURS = benchmark_multilabel.supervised_entrants.__globals__["OURS"]


@pytest.fixture
def few(monkeypatch):
    entrants = (Entrant("OPLS", OPLS(), {"ridge": (1.0, 10.0)}, OURS), Entrant("PCA", PCA(), rival=True))
    for name in ("supervised_entrants", "partly_labelled_entrants"):
        monkeypatch.setattr(benchmark_multilabel, name, lambda seed: entrants)


def request(folder, place, **asked):
    return Request(folder, place, quick=True, sets=("emotions",), command="proxembed reproduce", **asked)


def test_a_run_leaves_tables_figures_and_a_record(folder, tmp_path, few):
    record = benchmark_multilabel.run(request(folder, tmp_path))
    assert list(record["parts"]) == ["emotions", "emotions at 20 %"]
    assert json.loads((tmp_path / "results.json").read_text()) == record
    values = record["conclusions"]["all labels"]["values"]
    page = (tmp_path / "README.md").read_text()
    assert f"{values['OPLS']['emotions']:.3f}" in page and "A quick run" in page and "Failures\n\nNone." in page
    assert "20 % of the labels" in page and "At as many components as labels." in page
    for name in ("all-labels.svg", "partly-labelled.svg"):
        assert ElementTree.parse(tmp_path / name).getroot().tag.endswith("svg")


def test_a_set_that_is_done_is_not_done_again_unless_forced(folder, tmp_path, few, monkeypatch):
    first = benchmark_multilabel.run(request(folder, tmp_path))

    def again(*arguments):
        raise RuntimeError("run again")

    monkeypatch.setattr(benchmark_multilabel, "compete", again)
    assert benchmark_multilabel.run(request(folder, tmp_path))["parts"] == first["parts"]
    with pytest.raises(RuntimeError, match="run again"):
        benchmark_multilabel.run(request(folder, tmp_path, force=True))


def test_two_processes_find_what_one_finds(folder, tmp_path, few):
    found = []
    for jobs in (1, 2):
        (tmp_path / str(jobs)).mkdir()
        record = benchmark_multilabel.run(request(folder, tmp_path / str(jobs), n_jobs=jobs))
        found.append([[each["scores"] for each in entries] for entries in record["parts"].values()])
    assert found[0] == found[1]


def test_wins_ties_and_losses():
    values = {"ours": {"a": 0.5, "b": 0.505, "c": 0.1}, "other": {"a": 0.4, "b": 0.5, "c": 0.3}, "late": {"a": 0.6}}
    found = {entry["b"]: entry for entry in paired(values, ["ours"])}
    assert [found["other"][key] for key in ("wins", "ties", "losses", "sets")] == [1, 1, 1, 3]
    assert [found["late"][key] for key in ("wins", "ties", "losses", "sets")] == [0, 0, 1, 1]
    assert found["other"]["mean"] == pytest.approx((0.1 + 0.005 - 0.2) / 3)


def test_failures_are_told_with_their_reason():
    tried = [{"failure": None}, {"failure": "ValueError: bad"}]
    parts = {
        "yeast": [{"entrant": "A", "failure": None, "tried": tried}, {"entrant": "B", "failure": None, "tried": []}]
    }
    assert failures(parts) == [
        {"part": "yeast", "entrant": "A", "last_fit": False, "trials": 1, "of": 2, "reason": "ValueError: bad"}
    ]


def test_all_entrants_have_names_of_their_own_and_build():
    from proxembed.reproduce.benchmark_entrants import partly_labelled_entrants, supervised_entrants

    for entrants in (supervised_entrants(0), partly_labelled_entrants(0)):
        names = [entrant.name for entrant in entrants]
        assert len(set(names)) == len(names)
        for entrant in entrants:
            assert len(entrant.configurations(6)) <= 6 and entrant.describe()["name"] == entrant.name
