"""The MVMD experiment: sizes by a share of the spectrum, choices inside the training rows, and claims that can fail."""

import json
from dataclasses import replace

import numpy as np
import pytest

from papers.experiment import Request
from papers.mvmd import experiment as mvmd
from papers.mvmd.claims import LOSS, MEASURES, RIVALS, claims, superior
from papers.mvmd.contenders import FEATURES, OURS, contenders, size_of
from papers.mvmd.page import page
from proxembed.data import read
from slow.unit.papers.made import dense_set

SETS = ("emotions", "scene", "yeast")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    place = tmp_path_factory.mktemp("mvmd")
    for seed, name in enumerate(SETS):
        dense_set(place / f"{name}.npz", seed=seed)
    return place


@pytest.fixture(scope="module")
def record(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("out")
    return mvmd.run(Request(data, folder, quick=True, sets=SETS)), folder


def test_the_size_is_the_least_that_holds_the_share():
    values = np.array([5.0, 3.0, 1.0, 1.0, -2.0])
    assert [size_of(values, share) for share in (0.1, 0.5, 0.51, 0.8, 0.9, 0.999)] == [1, 1, 2, 2, 3, 4]


def test_held_out_labels_do_not_change_what_is_chosen(data):
    """With the labels of the held-out rows turned round, parameters and sizes stay; the measures change."""
    rows, plan = read(data / "emotions.npz"), mvmd.Plan(draws=1)
    part = mvmd.drawn_part(rows, 0, 0)
    other = replace(part, Y_held_out=~part.Y_held_out)
    found = []
    for each in (part, other):
        entry = {key: [] for key in (*MEASURES, "chosen", "k", "fit_seconds")}
        mvmd.one_draw(entry, contenders()[0], each, plan, first=False)
        found.append(entry)
    assert found[0]["chosen"] == found[1]["chosen"] and found[0]["k"] == found[1]["k"]
    assert found[0][LOSS][0] == pytest.approx(1 - found[1][LOSS][0])


def test_every_method_is_scored_by_every_measure_in_every_draw(record):
    found, folder = record
    for part in SETS:
        entries = {entry["entrant"]: entry for entry in found["parts"][part]}
        assert set(entries) == {OURS, *RIVALS, FEATURES}
        for entry in entries.values():
            assert entry["failure"] is None
            assert all(len(entry[measure]) == 2 and 0 <= min(entry[measure]) for measure in MEASURES)
        assert all(0.4 < np.mean(entries[title]["F1"]) for title in (OURS, "CCA", FEATURES))
        assert len(entries[OURS]["by_beta"]) == 11
    assert json.loads((folder / "results.json").read_text())["plan"]["draws"] == 2
    assert (folder / "sizes.svg").exists() and (folder / "beta.svg").exists()


def test_the_page_tells_the_claims_and_the_best(record):
    text = page(record[0])
    assert text.count("MVMD is overall superior to") == 7
    assert "quick run" in text and "## Subset accuracy" in text and "**" in text


@pytest.mark.parametrize(("shift", "came"), [(0.1, True), (-0.1, False), (0.0, None)])
def test_superior_needs_every_interval_above_0(shift, came):
    def entry(title, value):
        values = {measure: [1 - value if measure == LOSS else value] for measure in MEASURES}
        return {"entrant": title, "failure": None, **values}

    parts = {f"set {i}": [entry(OURS, 0.5 + shift + 0.01 * i), entry("PCA", 0.5 + 0.011 * i)] for i in range(-2, 3)}
    assert superior(parts, "PCA")[0] is came


def test_claims_of_spectra_can_fail(record):
    found = {each["published"]: each["came_out"] for each in claims(record[0])}
    turned = json.loads(json.dumps(record[0]))
    for entries in turned["parts"].values():
        for entry in entries:
            if "spectrum" in entry:
                entry["spectrum"] = {"95 %": 1, "99.9 %": 1000 if entry["spectrum"]["99.9 %"] < 10 else 1}
    other = {each["published"]: each["came_out"] for each in claims(turned)}
    words = "CCA, MDDM and MLDA have a few large positive eigenvalues"
    assert found[words] is True and other[words] is False


def test_a_later_run_of_one_set_keeps_the_others_on_the_page(record, data):
    """The folder holds three sets; a run of one of them goes on from there, and its claims still rest on three."""
    before, folder = record
    after = mvmd.run(Request(data, folder, quick=True, sets=SETS[1:2]))
    assert after["sets"] == before["sets"] and list(after["parts"]) == list(before["parts"])
    assert after["claims"] == before["claims"]
