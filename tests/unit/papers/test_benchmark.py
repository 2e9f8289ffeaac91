"""The benchmark as a whole: its page, its counts, and that a set that is done is not done again."""

import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
import pytest

from papers import EXPERIMENTS, Request
from papers.benchmark import multilabel as benchmark_multilabel
from papers.benchmark.findings import contrasted, failures, paired
from papers.entrants import Entrant
from proxembed import OPLS, PCA

LATE = {"failure": "timed out: the 6 CPU seconds of tuning were spent"}
OURS = benchmark_multilabel.supervised_entrants.__globals__["OURS"]


@pytest.fixture
def few(monkeypatch):
    entrants = (Entrant("OPLS", OPLS(), {"ridge": (1.0, 10.0)}, OURS), Entrant("PCA", PCA(), rival=True))
    for name in ("supervised_entrants", "partly_labelled_entrants"):
        monkeypatch.setattr(benchmark_multilabel, name, lambda seed: entrants)


def request(folder, place, **asked):
    return Request(folder, place, quick=True, sets=("emotions",), command="python -m papers", **asked)


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


def test_a_set_that_is_done_is_not_done_again_unless_forced(folder, tmp_path, few, done_once):
    asked = request(folder, tmp_path)
    done_once(benchmark_multilabel, asked, benchmark_multilabel.run(asked))


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
        "yeast": [
            {"entrant": "A", "failure": None, "other_sizes": {}, "tried": tried},
            {"entrant": "B", "failure": None, "other_sizes": {}, "tried": []},
            {"entrant": "C", "failure": None, "other_sizes": {"22": "timed out: late"}, "tried": [*tried, LATE]},
        ]
    }
    reason = {"part": "yeast", "entrant": "A", "last_fit": False, "other_sizes": [], "reason": "ValueError: bad"}
    first, third = failures(parts)
    assert first == {**reason, "trials": 1, "trials_timed_out": 0, "of": 2}
    assert (third["last_fit"], third["other_sizes"], third["reason"]) == (False, ["22"], "timed out: late")
    assert (third["trials"], third["trials_timed_out"], third["of"]) == (2, 1, 3)


def test_only_declared_contrasts_are_tested_and_shares_are_averaged_on_each_set():
    sets = "abcdefgh"
    whole = {"A": {name: 0.5 + 0.01 * i for i, name in enumerate(sets, 1)}, "B": dict.fromkeys(sets, 0.5)}
    few = {"A": {"a": 0.6, "b": 0.3}, "B": {"a": 0.5, "b": 0.4, "c": 0.1}}
    many = {"A": {"a": 0.9}, "B": {"a": 0.5, "b": 0.4}}  # A timed out on b
    found = {"all labels": {"values": whole}} | {
        f"{share} % of the labels": {"values": values} for share, values in ((5, few), (80, many))
    }
    one, two = contrasted([("all labels", "A", "B"), ("some labels", "A", "B"), ("some labels", "A", "none")], found)
    assert one["sets"] == 8 and one["p"] == pytest.approx(2 / 2**8) and one["p_holm"] == pytest.approx(4 / 2**8)
    assert two["sets"] == 2 and two["mean"] == pytest.approx(((0.1 + 0.4) / 2 - 0.1) / 2)


def test_the_declared_contrasts_name_entrants_and_can_reach_the_level():
    from papers.benchmark.entrants import partly_labelled_entrants, supervised_entrants

    names = {
        labels: {each.name for each in entrants(0)}
        for labels, entrants in (("all labels", supervised_entrants), ("some labels", partly_labelled_entrants))
    }
    declared = benchmark_multilabel.CONTRASTS
    assert all({a, b} <= names[labels] for labels, a, b in declared)
    assert len(declared) * 2 / 2 ** len(EXPERIMENTS["benchmark-multilabel"].files) < 0.05


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the clock may ring in any callback
def test_what_the_clock_ended_is_no_value_and_is_done_again(folder, tmp_path, few, monkeypatch):
    whole, late = benchmark_multilabel.compete, []

    def ended(entrant, *arguments):
        if entrant.name == "OPLS":
            late.append(entrant.name)
            arguments = (*arguments[:-2], replace(arguments[-2], last_seconds=1e-9), arguments[-1])
        return whole(entrant, *arguments)

    monkeypatch.setattr(benchmark_multilabel, "compete", ended)
    record = benchmark_multilabel.run(request(folder, tmp_path))
    assert set(record["conclusions"]["all labels"]["values"]) == {"PCA"} and len(late) == 2
    assert not record["conclusions"]["all labels"]["paired"] and "| OPLS | timed out |" in page_of(tmp_path)
    monkeypatch.setattr(benchmark_multilabel, "compete", whole)
    again = benchmark_multilabel.run(request(folder, tmp_path))
    assert set(again["conclusions"]["all labels"]["values"]) == {"OPLS", "PCA"}
    assert [[each["entrant"] for each in entries] for entries in again["parts"].values()] == [["OPLS", "PCA"]] * 2
    assert again["parts"]["emotions"][1] == record["parts"]["emotions"][1]
    assert "timed out |" not in page_of(tmp_path)


def page_of(place):
    return (place / "README.md").read_text()


def test_all_entrants_have_names_of_their_own_and_build():
    from papers.benchmark.entrants import partly_labelled_entrants, supervised_entrants

    for entrants in (supervised_entrants(0), partly_labelled_entrants(0)):
        names = [entrant.name for entrant in entrants]
        assert len(set(names)) == len(names)
        for entrant in entrants:
            assert 1 <= len(entrant.configurations(6)) <= 6 and entrant.describe()["name"] == entrant.name


def test_the_trials_of_mope_are_different_embeddings():
    from papers.benchmark.entrants import supervised_entrants

    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(80, 8)), rng.random((80, 5)) < 0.4
    for entrant in supervised_entrants(0)[:3]:
        found = []
        for each in entrant.configurations(6, 0):
            Z = each.set_params(n_components=3).fit(X, Y).transform(X)
            found.append(Z @ Z.T / np.sum(Z**2))
        assert len(found) == 6
        assert min(np.abs(a - b).max() for i, a in enumerate(found) for b in found[:i]) > 1e-6
