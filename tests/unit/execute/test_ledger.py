"""The ledger: what is stored comes back, what is torn or foreign does not, and a search goes on where it was."""

import json
import os
import pickle

import numpy as np
import pytest
from scipy import sparse

from designs import WHOLE
from proxembed import DEFC, EmbeddingSearch
from proxembed.execute.atomic_files import alone_in
from proxembed.execute.ledger import Ledger, digest, read_header
from proxembed.study import trials
from proxembed.study.trials import STRATEGIES
from proxembed.tables import Column, TableRows
from proxembed.targets.labels import LabelMatrix

rng = np.random.default_rng(0)
X = rng.normal(size=(90, 5))
Y = (X[:, :3] + 0.7 * rng.normal(size=(90, 3)) > 0).astype(int)
METHODS = {"methods": ["opls", "mmc", "mvmd"], "n_components": 2, "max_trials": 6, "max_seconds": None}
SEARCHES = {
    **{name: EmbeddingSearch(**METHODS, strategy=name) for name in STRATEGIES["methods"] if name != "tpe"},
    **{f"{name} of models": DEFC(name, max_evals=50 if name == "ga" else 24, cv=2) for name in STRATEGIES["models"]},
    "two workers": EmbeddingSearch(**METHODS, n_jobs=2),
}


def trials_of(search):
    found = search.trials_ if isinstance(search, EmbeddingSearch) else search.leaderboard_
    return [{key: value for key, value in trial.items() if key != "seconds"} for trial in found]


def search(name, folder, **options):
    known = SEARCHES[name]
    return type(known)(**{**known.get_params(), "storage": folder, **options}).fit(X, Y)


def steps_of(lines):
    return [json.dumps(json.loads(line)["key"]) for line in lines[1:]]


@pytest.mark.parametrize("name", [name for name in SEARCHES if name != "two workers"])
def test_a_search_goes_on_from_any_line_and_ends_as_the_whole_one(name, tmp_path):
    goes_on_from_any_line(name, tmp_path)


def goes_on_from_any_line(name, tmp_path):
    whole, path = search(name, None), tmp_path / "study.jsonl"
    assert trials_of(search(name, tmp_path)) == trials_of(whole)
    lines = path.read_text().splitlines(keepends=True)
    points = (1, 2, 9, len(lines) - 1, len(lines)) if WHOLE else ((2, len(lines) - 1)[[*SEARCHES].index(name) % 2],)
    for number in (5,) if name in ("two workers", "ga of models") else points:
        path.write_text("".join(lines[:number]) + '{"id": "torn')
        again = search(name, tmp_path)
        assert trials_of(again) == trials_of(whole) and again.best_score_ == whole.best_score_
        assert np.array_equal(again.transform(X), whole.transform(X))
        told = path.read_text().splitlines()
        assert len(told) == len(lines) == 1 + len(set(steps_of(told))), "every fit once, and the torn line is gone"
        assert told[:number] == [line.strip() for line in lines[:number]]


def test_what_is_stored_is_not_fitted_again(tmp_path, monkeypatch):
    search("halving", tmp_path)

    def fitted(*args, **options):
        raise AssertionError("fitted")

    monkeypatch.setattr(trials, "score", fitted)
    assert len(search("halving", tmp_path).trials_) == 6


def test_a_larger_budget_goes_on_as_if_it_had_been_asked_for(tmp_path):
    search("halving", tmp_path, max_trials=4)
    assert trials_of(search("halving", tmp_path, max_trials=7)) == trials_of(search("halving", None, max_trials=7))


def test_a_trial_draws_from_its_number_alone():
    """Fewer draws before it, as another strategy takes them, do not change a drawn configuration."""
    few, many = (search("random", None, max_trials=number).trials_ for number in (4, 7))
    assert [t["params"] for t in few] == [t["params"] for t in many[:4]]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"random_state": 1}, "seed (0 then, 1 now)"),
        ({"n_components": 3}, "n_components (2 then, 3 now)"),
        ({"measure": "Jaccard@10"}, "measure ('macro average precision' then, 'Jaccard@10' now)"),
        ({"methods": ["opls"]}, "methods (['opls', 'mmc', 'mvmd'] then, ['opls'] now)"),
        ({"strategy": "random"}, "strategy ('halving' then, 'random' now)"),
        ({"cv": 4}, "inner folds"),
    ],
)
def test_other_options_are_refused_by_name(options, words, tmp_path):
    search("halving", tmp_path, max_trials=1)
    before = (tmp_path / "study.jsonl").read_text()
    with pytest.raises(ValueError, match="is the study of another search, which differs in") as refused:
        search("halving", tmp_path, **options)
    assert words in str(refused.value) and (tmp_path / "study.jsonl").read_text() == before


def test_other_data_are_refused_by_name(tmp_path):
    known = EmbeddingSearch(["opls"], 2, max_trials=1, storage=tmp_path).fit(X, Y)
    moved = X.copy()
    moved[3, 2] += 1e-9
    with pytest.raises(ValueError, match="differs in features; resume with the same data"):
        known.fit(moved, Y)
    flipped = Y.copy()
    flipped[3, 2] = 1 - flipped[3, 2]
    with pytest.raises(ValueError, match="differs in inner folds, labels"):
        known.fit(X, flipped)


def test_another_file_of_this_name_is_let_alone(tmp_path):
    (tmp_path / "study.jsonl").write_text('{"mine": 1}\n')
    with pytest.raises(ValueError, match="study.jsonl is not a study of proxembed, or is damaged; move it away"):
        EmbeddingSearch(["opls"], 2, max_trials=1, storage=tmp_path).fit(X, Y)
    assert (tmp_path / "study.jsonl").read_text() == '{"mine": 1}\n'


def test_a_folder_is_searched_by_one_process_at_a_time(tmp_path):
    with alone_in(tmp_path), pytest.raises(ValueError, match=rf"by another run \(process {os.getpid()}\)"):
        EmbeddingSearch(["opls"], 2, max_trials=1, storage=tmp_path).fit(X, Y)
    EmbeddingSearch(["opls"], 2, max_trials=1, storage=tmp_path).fit(X, Y)
    assert [path.name for path in tmp_path.iterdir()] == ["study.jsonl"]


def test_a_folder_that_is_none_is_refused():
    with pytest.raises(ValueError, match="storage=3 is not allowed; storage must be None or the name of a folder"):
        EmbeddingSearch(storage=3).fit(X, Y)


def test_lines_of_another_study_and_torn_ones_are_skipped(tmp_path):
    path = tmp_path / "study.jsonl"
    own = Ledger(path).begin({"seed": 0})
    worker = pickle.loads(pickle.dumps(own))
    worker.add(["a", 0], 0.5)
    Ledger(path).add(["b", 0], 0.7)  # a worker of a killed run, whose file has been replaced
    with open(path, "a") as file:
        file.write("\x00\x00torn in the middle\n")
    own.add(["c", np.int64(1)], 0.9)
    again = Ledger(path).begin({"seed": 0})
    assert [again.find([name, number]) for name, number in (("a", 0), ("b", 0), ("c", 1))] == [0.5, None, 0.9]


DAMAGE = {
    "deep nesting": '{"id": "ID", "result": ' + "[" * 100_000 + "]" * 100_000 + ', "key": ["b", 0]}',
    "a huge integer": '{"id": "ID", "result": 1' + "0" * 5000 + ', "key": ["b", 0]}',
    "an integer above all floats": '{"id": "ID", "result": 1' + "0" * 400 + ', "key": ["b", 0]}',
    "a list": '["id", "result", "key"]',
    "a list in place of an outcome": '{"id": "ID", "result": [1, 2], "key": ["b", 0]}',
    "a number": "7",
    "text": '{"id": "ID", "result": "wrong", "key": ["b", 0]}',
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_lines_are_skipped(damage, tmp_path):
    path = tmp_path / "study.jsonl"
    own = Ledger(path).begin({"seed": 0})
    own.add(["a", 0], 0.5)
    with open(path, "a") as file:
        file.write(DAMAGE[damage].replace("ID", own.id) + "\n")
    own.add(["c", 0], 0.9)
    again = Ledger(path).begin({"seed": 0})
    assert [again.find([name, 0]) for name in "abc"] == [0.5, None, 0.9]


@pytest.mark.parametrize("changed", ["0.5", '"a"', '"result"', '"sum"'])
def test_a_line_that_was_changed_is_skipped(changed, tmp_path):
    path = tmp_path / "study.jsonl"
    Ledger(path).begin({"seed": 0}).add(["a", 0], 0.5)
    assert Ledger(path).begin({"seed": 0}).find(["a", 0]) == 0.5
    first, second = path.read_text().splitlines(keepends=True)
    path.write_text(first + second.replace(changed, changed[:-1] + "9" + changed[-1]))
    assert Ledger(path).begin({"seed": 0}).find(["a", 0]) is None


@pytest.mark.parametrize(
    "header",
    [
        *DAMAGE.values(),
        '{"id": "ID", "facts": ["seed", 0], "budget": {}}',
        '{"id": "ID", "facts": {"seed": 0}, "budget": [1]}',
        '{"id": 3, "facts": {"seed": 0}, "budget": {}}',
        '{"id": "ID", "facts": ' + "[" * 100_000 + "]" * 100_000 + ', "budget": {}}',
    ],
    ids=lambda header: header[:40] + str(len(header)),
)
def test_a_damaged_first_line_is_refused(header, tmp_path):
    path = tmp_path / "study.jsonl"
    path.write_text(header + "\n")
    for start in (lambda: Ledger(path).begin({"seed": 0}), lambda: read_header(path)):
        with pytest.raises(ValueError, match="is not a study of proxembed, or is damaged; move it away"):
            start()
    assert path.read_text() == header + "\n"
    Ledger(path, resume=False).begin({"seed": 0}).add("a", 1)
    assert Ledger(path).begin({"seed": 0}).find("a") == 1


def test_a_study_of_another_version_is_refused_by_name(tmp_path):
    path = tmp_path / "study.jsonl"
    Ledger(path).begin({"seed": 0, "version": "0.0.1"})
    with pytest.raises(ValueError, match=r"the study of another search, which differs in version \('0.0.1' then"):
        Ledger(path).begin({"seed": 0, "version": "0.0.2"})


@pytest.mark.parametrize("end", ["", ', "sum": "00000000"'])
def test_a_study_of_an_earlier_format_is_refused_in_one_sentence(end, tmp_path):
    path = tmp_path / "study.jsonl"
    before = '{"budget": {}, "facts": {"seed": 0, "version": "0.1.0"}, "id": "1"' + end + "}\n"
    path.write_text(before)
    for start in (lambda: Ledger(path).begin({"seed": 0}), lambda: read_header(path)):
        with pytest.raises(ValueError, match="is a study of another version of proxembed, which cannot be resumed; m"):
            start()
    assert path.read_text() == before


@pytest.mark.parametrize("values", [np.zeros((0, 3)), np.array(["a", "bc"]), np.eye(3, dtype=np.float32)[:, ::2]])
def test_arrays_come_back_as_they_were(values, tmp_path):
    Ledger(tmp_path / "one").begin({}).add("a", {"values": [values, 1.5], "none": None})
    found = Ledger(tmp_path / "one").begin({}).find("a")
    again, number = found["values"]
    assert again.dtype == values.dtype and again.shape == values.shape and np.array_equal(again, values)
    assert number == 1.5 and found["none"] is None and (again.flags.writeable or not again.size)


def test_what_is_remembered_is_made_once(tmp_path):
    first = Ledger(tmp_path / "one").begin({})
    assert first.remember("a", lambda: 3) == 3
    again = Ledger(tmp_path / "one").begin({})
    assert again.remember("a", lambda: pytest.fail("made again")) == 3


def test_a_search_with_damaged_lines_ends_as_the_whole_one(tmp_path):
    whole = search("halving", tmp_path)
    path = tmp_path / "study.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    lines[2] = lines[2].replace('"curve": [', '"curve": [[', 1)
    lines[3] = '{"facts": [], "result": []}\n'
    path.write_text("".join(lines))
    assert trials_of(search("halving", tmp_path)) == trials_of(whole)


def test_a_study_without_a_step_leaves_the_one_that_it_was_to_replace(tmp_path):
    path = tmp_path / "study.jsonl"
    first = Ledger(path).begin({})
    first.add("a", 1)
    first.close()
    before = path.read_bytes()
    Ledger(path, resume=False).begin({}).close()
    assert path.read_bytes() == before
    path.unlink()
    Ledger(path, resume=False).begin({}).close()
    assert not path.exists()


def test_what_the_clock_has_ended_is_not_stored(tmp_path, monkeypatch):
    outcome = trials.Scores({}, 0.1, failure="stopped", stopped=True)
    monkeypatch.setattr(trials, "score", lambda *args, **options: outcome)
    with pytest.raises(ValueError, match="no configuration could be fitted"):
        search("halving", tmp_path)
    assert not (tmp_path / "study.jsonl").exists()


def test_a_disk_that_is_full_is_told_with_the_name_of_the_file(tmp_path, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device.*study.jsonl"):
        search("halving", tmp_path)


def test_a_digest_follows_from_values_not_from_how_they_are_stored():
    S = sparse.csr_array(np.round(X))
    unsorted = sparse.csr_array((S.data[::-1], S.indices[::-1], np.r_[0, np.cumsum(np.diff(S.indptr)[::-1])]))[::-1]
    assert digest(S) == digest(unsorted.tocsr()) == digest(S.tocsc()) != digest(S[::-1])
    assert digest(np.asfortranarray(X)) == digest(X) != digest(X.T)
    y = np.where(Y == 1, 1.0, 0.0)
    y[0, 0] = np.nan
    assert digest(LabelMatrix.of(y)) != digest(LabelMatrix.of(Y)) == digest(LabelMatrix.of(Y.copy()))
    rows = [TableRows.of({"kind": kinds}, [Column("kind", "category")]) for kinds in (["a", "b"], ["a", "c"])]
    assert digest(rows[0]) != digest(rows[1]) and digest(rows[0]) == digest(rows[0][[0, 1]])
    assert digest(np.array(["a", ""])) != digest(np.array(["", "a"])) and digest(np.zeros(0)) != digest(
        np.zeros((0, 2))
    )
