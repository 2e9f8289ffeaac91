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
        found.append(mvmd.drawn(contenders()[0], each, plan, first=False))
    assert found[0]["chosen"] == found[1]["chosen"] and found[0]["k"] == found[1]["k"]
    assert found[0][LOSS] == pytest.approx(1 - found[1][LOSS])


def test_a_count_above_0_is_a_label(tmp_path):
    np.savez(tmp_path / "wq.npz", X=np.eye(3), Y=[[0.0, 5.0], [1.0, 0.0], [0.0, 0.0]], target_names=["a", "b"])
    found = mvmd.species(tmp_path / "wq.npz")
    assert found.Y.toarray().tolist() == [[0, 1], [1, 0], [0, 0]] and list(found.label_names) == ["a", "b"]


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
    assert text.count("MVMD is overall superior to") == 1
    assert "quick run" in text and "## Subset accuracy" in text and "**" in text


@pytest.mark.parametrize(("shift", "sets", "came"), [(0.1, 9, True), (-0.1, 9, False), (0.0, 9, None), (0.1, 8, None)])
def test_superiority_is_told_by_ranks_over_nine_sets_or_more(shift, sets, came):
    def entry(title, value):
        values = {measure: [1 - value if measure == LOSS else value] for measure in MEASURES}
        return {"entrant": title, "failure": None, **values}

    rng, parts = np.random.default_rng(0), {}
    for i in range(sets):
        others = [entry(title, 0.5 + 0.01 * rng.normal()) for title in RIVALS]
        parts[f"set {i}"] = [entry(OURS, 0.5 + shift + 0.01 * rng.normal()), *others]
    found = superior(parts)
    assert found.came_out is came and "mean rank" in found.ours
    assert sets > 8 or found.decided_by.startswith("9 sets at least (here 8)")


def test_claims_of_spectra_can_come_out_can_fail_and_need_five_sets(record):
    def came(few, many, sets=6):
        made = json.loads(json.dumps(record[0]))
        parts = {f"set {i}": made["parts"][SETS[0]] for i in range(sets)}
        for entry in made["parts"][SETS[0]]:
            entry["spectrum"] = {"95 %": few, "99.9 %": many}
        held = {"parts": parts, "sets": dict.fromkeys(parts, {"labels": 6})}
        return [each["came_out"] for each in claims(held)[1:4]]

    assert came(2, 50) == [True, False, True] and came(2, 3) == [False, True, None] and came(7, 3)[2] is False
    assert came(2, 50, sets=4) == [None, None, None]


def test_a_later_run_of_one_set_keeps_the_others_on_the_page(record, data):
    """The folder holds three sets; a run of one of them goes on from there, and its claims still rest on three."""
    before, folder = record
    after = mvmd.run(Request(data, folder, quick=True, sets=SETS[1:2]))
    assert after["sets"] == before["sets"] and list(after["parts"]) == list(before["parts"])
    assert after["claims"] == before["claims"]


def test_a_run_that_ends_after_one_draw_goes_on_from_it(data, tmp_path, monkeypatch):
    whole, made = mvmd.one_draw, []

    def stopped(contender, rows, plan, draw):
        if draw == 1:
            raise KeyboardInterrupt
        return whole(contender, rows, plan, draw)

    def counted(contender, rows, plan, draw):
        made.append((contender and contender.title, draw))
        return whole(contender, rows, plan, draw)

    monkeypatch.setattr(mvmd, "contenders", lambda: contenders()[:1])
    asked = Request(data, tmp_path, quick=True, sets=SETS[:1])
    monkeypatch.setattr(mvmd, "one_draw", stopped)
    with pytest.raises(KeyboardInterrupt):
        mvmd.run(asked)
    monkeypatch.setattr(mvmd, "one_draw", counted)
    found = mvmd.run(asked)
    assert made == [(OURS, 1), (None, 0), (None, 1)]
    again = mvmd.run(replace(asked, force=True))
    for one, other in zip(found["parts"][SETS[0]], again["parts"][SETS[0]], strict=True):
        assert all(one[measure] == pytest.approx(other[measure], rel=1e-5) for measure in MEASURES)
        assert one["chosen"] == other["chosen"]
        assert one.get("by_size", {}) == pytest.approx(other.get("by_size", {}), rel=1e-5)
