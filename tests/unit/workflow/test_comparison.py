"""The comparison: its options, what it writes, the sections of the page, refusals."""

import json
import os
import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import proxembed
from proxembed.data import Dataset
from proxembed.evaluate import evidence
from proxembed.evaluate.arms import Arm, method_arms, rival_arms
from proxembed.evaluate.run import Protocol, run
from proxembed.splits.splits import Splitting
from proxembed.workflow import comparison
from proxembed.workflow.comparison import (
    arms_of,
    cut_rivals,
    finished,
    map_options,
    pairs_of,
    protocol_of,
    run_comparison,
)
from proxembed.workflow.labelled_data import component_range
from proxembed.workflow.options import CompareOptions
from runs import LAY_OUT, with_usual_speed, without_figures, without_layouts

FAST = {"methods": "opls", "n_components": (1, 2), "folds": 2, "n_jobs": 1}


def run_job(folder, dataset, kind="compare", **more):
    options = CompareOptions(**{**FAST, **more})
    head = {"kind": kind, "command": "proxembed compare made.npz", "seed": options.seed, "data_hash": None}
    return run_comparison(dataset, options, head, folder)


@pytest.fixture(scope="module")
def dataset():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    Y = (X[:, :3] + 0.5 * rng.normal(size=(80, 3)) > 0).astype(np.uint8)
    names = ["<b>", "two", "three"]
    return Dataset(X, Y, label_names=names, name="made", train_idx=np.arange(60), test_idx=np.arange(60, 80))


def with_four_rivals(patch):
    patch.setattr(comparison, "rival_arms", lambda *args, **options: rival_arms(*args, **options)[:4])


@pytest.fixture(autouse=True)
def few_rivals(monkeypatch):
    """The forest is slow to grow and is tested in its own room."""
    with_four_rivals(monkeypatch)


@pytest.fixture(scope="module")
def written(dataset, tmp_path_factory):
    """What a comparison found and wrote, and the fits of its arms."""
    fits = []
    with pytest.MonkeyPatch.context() as patch:
        for change in (without_figures, without_layouts, with_usual_speed, with_four_rivals):
            change(patch)
        patch.setattr(comparison, "run", lambda *given, **more: fits.append(run(*given, **more)) or fits[-1])
        found = run_job(tmp_path_factory.mktemp("written") / "out", dataset, seed=3)
    return found, fits[0]


def record_of(folder):
    return json.loads((folder / "results.json").read_text())


def test_the_folder_holds_everything_that_is_promised(written):
    folder = written[0].folder.folder
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["index.html", "leaderboard.csv", "predictions.npz", "results.json"]
    record = record_of(folder)
    assert record["kind"] == "compare" and record["seed"] == 3 and record["data_hash"] is None
    with np.load(folder / "predictions.npz") as file:
        keys = [(str(file["arm"][i]), int(file["k"][i]), str(file["fold"][i])) for i in range(len(file["arm"]))]
        rows = np.concatenate([file[name] for name in file.files if name.startswith("rows_")])
    assert ("OPLS", 2, "1") in keys and sorted(rows) == list(range(80))


def test_the_record_has_contrasts_map_labels_and_components(written):
    record = record_of(written[0].folder.folder)
    assert [(entry["a"], entry["b"]) for entry in record["contrasts"]] == [
        ("best method", "all features"),
        ("best method", "best rival"),
    ]
    assert [panel["title"] for panel in record["map"]["panels"]] == ["PCA", "OPLS", "OPLS on shuffled labels"]
    assert record["map"]["held_out"] == record["summary"]["fold_sizes"]["1"]["held_out"]
    assert {row["label"] for row in record["label_table"]} == {"<b>", "two", "three"}
    precision = {row["label"]: row["ap_raw"] for row in record["label_table"]}
    assert all(0 < value < 1 for value in precision.values())
    raw = next(entry for entry in record["summary"]["leaderboard"] if entry["arm"] == "all features")
    mean = raw["scores"]["macro average precision (ridge)"]["mean"]
    assert np.mean(list(precision.values())) == pytest.approx(mean, abs=1e-4)
    assert [row["component"] for row in record["components"]][0] == 1


def test_the_map_shows_the_test_rows_where_they_are_scored(dataset, tmp_path):
    run_job(tmp_path, dataset, standard_split=True)
    record = record_of(tmp_path)
    assert record["map"]["held_out"] == 20 and record["summary"]["fold_sizes"]["test"]["held_out"] == 20


def test_without_a_method_that_worked_there_is_no_map(dataset, tmp_path, monkeypatch):
    broken = Arm("broken", method_arms(["opls"])[0].estimator.set_params(ridge=-1))
    monkeypatch.setattr(comparison, "method_arms", lambda *args, **options: (broken,))
    run_job(tmp_path, dataset)
    record = record_of(tmp_path)
    assert record["map"] is None and record["label_table"] is None
    assert {row["failure"] is None for row in record["rows"] if row["arm"] == "broken"} == {False}
    assert record["contrasts"][0]["difference"] < 0


def test_two_processes_write_what_one_writes(dataset, written, tmp_path):
    run_job(tmp_path, dataset, seed=3, n_jobs=2)
    alone, together = (record_of(folder)["summary"]["best"] for folder in (written[0].folder.folder, tmp_path))
    assert [entry["arm"] for entry in alone] == [entry["arm"] for entry in together]


def interrupted_at(calls: int, monkeypatch):
    whole = comparison.run

    def stopped(protocol, dataset, progress, **more):
        def stop(done, total, text):
            if done == calls and not text.startswith("interrupted"):
                raise KeyboardInterrupt

        return whole(protocol, dataset, stop, **more)

    monkeypatch.setattr(comparison, "run", stopped)


def test_interruption_keeps_the_complete_folds(dataset, tmp_path, monkeypatch):
    interrupted_at(7, monkeypatch)
    found = run_job(tmp_path, dataset)
    record = record_of(tmp_path)
    assert found.interrupted and record["summary"]["interrupted"] and record["map"] is None
    assert record["summary"]["folds"] == ["1"] and "OPLS" in (tmp_path / "leaderboard.csv").read_text()


def test_interruption_before_the_first_arm_writes_nothing(dataset, tmp_path, monkeypatch):
    interrupted_at(0, monkeypatch)
    with pytest.raises(KeyboardInterrupt) as stopped:
        run_job(tmp_path, dataset)
    assert stopped.value.__notes__ == ["no arm was finished by then; nothing was written"]
    assert list(tmp_path.iterdir()) == []


def test_interruption_of_the_map_keeps_the_comparison(dataset, tmp_path, monkeypatch):
    def stop(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(comparison, "held_out_evidence", stop)
    assert run_job(tmp_path, dataset).interrupted
    record = record_of(tmp_path)
    assert record["map"] is None and len(record["summary"]["folds"]) == 2


def test_a_budget_is_told_in_the_failures(dataset, tmp_path):
    run_job(tmp_path, dataset, max_seconds=1e-9)
    failures = record_of(tmp_path)["summary"]["failures"]
    assert failures and all("budget of 1e-09 seconds" in reason for _, _, reason in failures)


def test_a_budget_leaves_out_rivals_by_their_forecasts(dataset, monkeypatch):
    """The least important first, each by its share too, in one line; what is not cut stays as it was."""
    costly = {"PCA": 2.0, "logistic regression": 6.0, "label scores": 3.0}
    known = comparison.entrants(dataset.X, dataset.targets)
    priced = tuple(replace(each, work=costly.get(each.arm.name, 0.0)) for each in known)
    monkeypatch.setattr(comparison, "entrants", lambda *data, **given: priced)
    names = [each.arm.name for each in priced if each.arm.name in costly]
    assert names == [*costly] and cut_rivals(CompareOptions(), dataset, 2) is None
    for work, gone in ((4.0, ("logistic regression", "label scores")), (6.0, ("logistic regression",)), (11.0, ())):
        assert cut_rivals(CompareOptions(max_work=work), dataset, 2) == gone, work
    protocol = protocol_of(CompareOptions(max_work=4.0, methods="opls"), dataset)
    gone = cut_rivals(CompareOptions(max_work=4.0), dataset, 2)
    assert protocol.cuts == (f"rivals left out: {', '.join(gone)}",) and not {*gone} & {*protocol.names}
    assert any(note == f"Cut for the budget: rivals left out: {', '.join(gone)}." for note in protocol.notes)
    assert (
        len(arms_of(("opls", "labelscores"), dataset, 0, 1, ("label scores",)))
        == len(arms_of(("opls",), dataset, 0)) - 1
    )


def test_an_output_folder_that_is_a_file_is_refused_before_the_work(dataset, tmp_path, monkeypatch):
    (tmp_path / "taken").write_text("mine")
    monkeypatch.setattr(comparison, "run", None)
    with pytest.raises(FileExistsError):
        run_job(tmp_path / "taken", dataset)
    assert (tmp_path / "taken").read_text() == "mine"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="the superuser writes everywhere")
def test_a_folder_that_cannot_be_written_is_refused_before_the_work(dataset, tmp_path, monkeypatch):
    tmp_path.chmod(0o500)
    monkeypatch.setattr(comparison, "run", None)
    with pytest.raises(PermissionError):
        run_job(tmp_path, dataset)


@pytest.mark.parametrize("number", [None, 2], ids=["every file", "the second file"])
def test_a_full_disk_leaves_all_earlier_outputs(dataset, written, number, tmp_path, full_at, monkeypatch):
    """Arms that are fitted already, with other sections of the page."""
    shutil.copytree(written[0].folder.folder, tmp_path, dirs_exist_ok=True)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    monkeypatch.setattr(comparison, "run", lambda *given, **more: written[1])
    full_at(number)
    with pytest.raises(OSError, match="No space left"):
        run_job(tmp_path, dataset, seed=1)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_refusal_after_the_folder_was_made_takes_it_away_again(dataset, tmp_path):
    with pytest.raises(ValueError, match="n_folds=81"):
        run_job(tmp_path / "new" / "out", dataset, folds=81)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "old").mkdir()
    with pytest.raises(ValueError, match="n_folds=81"):
        run_job(tmp_path / "old", dataset, folds=81)
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


def test_a_refused_contrast_names_each_side_once():
    with pytest.raises(ValueError) as caught:
        pairs_of((("a", "b"),), method_arms(["opls"]))
    assert str(caught.value).endswith("the sides are OPLS, best method, best rival, all features.")


@pytest.mark.parametrize("pair", [("opls",), ("opls", "nothing"), ("opls", "opls"), ("a", "b", "c")])
def test_contrasts_that_name_no_arms_are_refused(pair):
    with pytest.raises(ValueError, match=r"contrasts=.* must be two of the arms"):
        pairs_of((pair,), method_arms(["opls"]))


def test_contrasts_with_arms_that_ctrl_c_left_without_results_are_left_out():
    summary = {"leaderboard": [{"arm": "OPLS"}, {"arm": "all features"}]}
    pairs = (("OPLS", "all features"), ("OPLS", "MDDM"), ("best method", "best rival"))
    assert finished(pairs, summary) == [pairs[0], pairs[2]]


def test_sizes_and_arms(dataset):
    assert (
        CompareOptions(n_components=[5, 2, 2]).n_components
        == (2, 5)
        == CompareOptions(n_components=(2, 5)).n_components
    )
    assert component_range(None, dataset) == (2, 3, 5) and CompareOptions(n_components=4).n_components == (4,)
    for sizes in ("two", 2.5, [2, "3"], [], (0, 2), True):
        with pytest.raises(ValueError, match="n_components=.*(must be|holds none)"):
            CompareOptions(n_components=sizes)
    with pytest.raises(ValueError, match="holds 51, but the data have 5 features; take fewer components"):
        component_range((2, 51), dataset)
    named = arms_of(("opls", "raw", "PCA", "labelscores", "forest"), dataset, 0)
    assert [arm.name for arm in named] == [arm.name for arm in arms_of(("opls",), dataset, 0)]
    with pytest.raises(ValueError, match="unknown method 'oplls'; did you mean opls"):
        arms_of(("oplls",), dataset, 0)


def test_a_file_has_its_hash_and_its_call_in_the_record(tmp_path, dataset):
    np.savez(tmp_path / "made.npz", X=dataset.X, Y=dataset.Y.toarray())
    found = proxembed.compare(tmp_path / "made.npz", methods="opls", n_components=2, folds=2)
    assert found.record["data_hash"].startswith("sha256:") and found.folder is None
    assert found.record["command"] == (  # what repeats the run
        f"proxembed.compare({str(tmp_path / 'made.npz')!r}, methods=('opls',), n_components=(2,), folds=2)"
    )


def test_what_is_saved_later_is_what_a_folder_gets_at_once(dataset, written, tmp_path):
    found = written[0]
    later = run_job(None, dataset, seed=3)
    assert later.folder is None and [path.name for path in later.save(tmp_path)] == found.folder.written
    for path in found.folder.folder.iterdir():
        assert (tmp_path / path.name).stat().st_size == pytest.approx(path.stat().st_size, rel=0.01)
    at_once, saved = map(record_of, (found.folder.folder, tmp_path))
    assert at_once["summary"]["verdict"] == saved["summary"]["verdict"] == later.verdict
    assert later.report()[:15] == "<!doctype html>" and later.verdict["text"].split()[0] in later._repr_html_()


def test_the_leaderboard_is_a_table_or_where_pandas_is_missing_a_list(written, monkeypatch):
    found = written[0]
    table = found.leaderboard
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    rows = found.leaderboard
    assert [row["arm"] for row in rows] == table["arm"].tolist() and "OPLS" in table["arm"].tolist()
    assert [row["seconds"] for row in rows] == table["seconds"].tolist() and set(table) >= {"k", "rival"}


def test_the_call_names_the_columns_of_the_file(tmp_path, dataset):
    kinds = ["ab"[int(value)] for value in dataset.Y.toarray()[:, 0]]
    rows = [",".join([*map(str, x), kind]) for x, kind in zip(dataset.X.round(3), kinds, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,c,d,e,kind", *rows]))
    found = proxembed.compare(tmp_path / "t.csv", labels="kind", drop=["e"], methods="fda", n_components=1, folds=2)
    call = found.record["command"]
    assert call.startswith(f"proxembed.compare({str(tmp_path / 't.csv')!r}, labels='kind', drop=['e'], ")
    again = eval(call, {"proxembed": proxembed})
    assert again.verdict == found.verdict
    given = {"labels": "kind", "methods": "fda", "n_components": 1, "folds": 2}
    grouped = proxembed.compare(tmp_path / "t.csv", groups=np.arange(len(rows)) // 2, **given).record["command"]
    assert ", groups=groups, " in grouped


def test_the_call_of_a_frame_runs_as_it_is(dataset):
    kinds = ["ab"[int(value)] for value in dataset.Y.toarray()[:, 0]]
    X = pd.DataFrame(dataset.X, columns=list("abcde")).assign(kind=kinds, team=np.arange(len(kinds)) // 2)
    given = {"methods": "fda", "n_components": 1, "folds": 2, "tolerance": np.float64(0.1)}
    found = proxembed.compare(X, labels="kind", drop=("e",), groups="team", **given)
    call = found.record["command"]
    assert call.startswith("proxembed.compare(X, groups='team', labels='kind', drop=('e',), methods=('fda',), ")
    assert eval(call, {"proxembed": proxembed, "X": X}).verdict == found.verdict
    weighted = proxembed.compare(X, labels=["kind"], sample_weight=np.ones(len(X)), **given).record["command"]
    assert "(X, sample_weight=sample_weight, labels=['kind'], " in weighted
    assert proxembed.compare(dataset.X, X["kind"], **given).record["command"].startswith("proxembed.compare(X, y, ")
    assert (
        proxembed.compare(dataset, methods="opls", n_components=1, folds=2)
        .record["command"]
        .startswith("proxembed.compare(dataset, ")
    )


def test_fda_is_a_rival_of_maps_unless_it_takes_part_itself(dataset, monkeypatch):
    monkeypatch.setattr(comparison, "rival_arms", rival_arms)
    data = dataset
    rival, ours = (next(a for a in arms_of((name,), data, 0) if a.name == "MESD(FDA)") for name in ("opls", "fda"))
    assert rival.rival and rival.sizes((2, 5)) == (2,) and not ours.rival and ours.sizes((2, 5)) == (2, 5)
    results = run(Protocol((rival,), (2, 5), splitting=Splitting(n_folds=2)), data)
    assert {row["k"] for row in results.rows} == {2} and not any(row["failure"] for row in results.rows)
    assert not run(Protocol((rival,), (5,), splitting=Splitting(n_folds=2)), data).rows


def test_the_page_of_a_comparison_shows_maps_of_all_components_as_that_of_a_search(dataset, tmp_path, monkeypatch):
    monkeypatch.setattr(evidence, "_laid_out", LAY_OUT)
    panels = run_job(tmp_path / "out", dataset).record["map"]["panels"]
    assert [panel["laid_out"] for panel in panels] == [False] * 3 + [True] * 3
    assert [panel["title"] for panel in panels] == 2 * ["PCA", "OPLS", "OPLS on shuffled labels"]
    assert (tmp_path / "out" / "index.html").read_text().count('data-places="0"') == 3
    rows = [{"arm": "OPLS"}, {"arm": "supervised UMAP"}]
    assert map_options(rows)["supervised_umap"] and not map_options(rows[:1])["supervised_umap"]
