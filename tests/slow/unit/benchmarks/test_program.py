"""`python -m benchmarks`: resumes, leaves other methods' files alone, skips what cannot be read, refuses other data."""

import shutil
from functools import partial
from itertools import product

import pytest

import benchmarks.runs
from benchmarks import HOME, N_FOLDS, OUTPUTS, PAGE, VERSION
from benchmarks.__main__ import app
from benchmarks.cell import KEPT, MEASURES, run_cell
from benchmarks.entrants import DECLARED, LEFT_OUT
from benchmarks.folds import stored_facts, tracks_of
from benchmarks.load import load
from benchmarks.store import COLUMNS, file_name, ledger_at, place_of, read_rows
from runs import invoke

program = partial(invoke, app)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A benchmark of one small set, without results."""
    monkeypatch.delenv("PROXEMBED_DATA", raising=False)
    (tmp_path / "splits").mkdir()
    for kind in ("csv", "json"):
        shutil.copy(HOME / "splits" / f"wine.{kind}", tmp_path / "splits")
    return tmp_path


def run(home, *methods, **options):
    words = [part for name, value in options.items() for part in (f"--{name}", value)]
    return program("run", *methods, "--home", home, "--folds", 1, "--tracks", "all", *words)


def contents(home):
    return {path.name: path.read_bytes() for path in (home / "results").glob("*")}


def test_what_is_stored_is_not_run_again(home, monkeypatch):
    done = run(home, "opls", "PCA")
    assert done.exit_code == 0 and done.output.count("\n") == 4, done.output
    held = contents(home)
    assert set(held) == {"OPLS.jsonl", "PCA.jsonl"}
    monkeypatch.setattr(benchmarks.runs, "run_cell", None)
    assert run(home, "opls", "PCA").output == "" and contents(home) == held


def test_a_run_goes_on_from_an_interruption_and_force_repeats(home, monkeypatch):
    whole, calls = benchmarks.runs.run_cell, []

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return whole(*arguments)

    monkeypatch.setattr(benchmarks.runs, "run_cell", interrupted)
    done = run(home, "PCA")
    assert done.exit_code == 130 and "the same command goes on from there" in done.output
    assert len(read_rows("PCA", home)) == 1
    assert run(home, "PCA").output.startswith("1/1 all random 1 wine PCA: ") and len(calls) == 3
    assert len(run(home, "PCA", protocols="random").output) == 0 and len(calls) == 3
    done = program("run", "PCA", "--home", home, "--folds", 1, "--tracks", "all", "--force")
    assert done.output.count("\n") == 2 and len(calls) == 5 and len(read_rows("PCA", home)) == 2


def test_a_new_method_joins_without_touching_the_files_of_others(home):
    run(home, "OPLS")
    held = contents(home)
    assert run(home, "MESD(LFDA(ridge=0.1))").exit_code == 0
    after = contents(home)
    assert b'"facts": {"method": "MESD(LFDA(ridge=0.1))"}' in after.pop("MESD-LFDA-ridge-0.1.jsonl").splitlines()[0]
    assert after == held
    assert sorted(set(load(home)["method"])) == ["MESD(LFDA(ridge=0.1))", "OPLS"]


def test_without_names_those_of_the_page_run(home, monkeypatch):
    monkeypatch.setattr(
        benchmarks.runs, "DECLARED", {("all", "iterative"): ("PCA", "OPLS"), ("all", "random"): ("PCA",)}
    )
    assert run(home).exit_code == 0 and set(contents(home)) == {"OPLS.jsonl", "PCA.jsonl"}


def test_a_set_that_cannot_be_read_is_skipped_with_the_reason(home):
    for kind in ("csv", "json"):
        shutil.copy(HOME / "splits" / f"scene.{kind}", home / "splits")
    done = run(home, "PCA")
    assert done.exit_code == 0 and "skipped: scene: no folder of data files is named; give --data" in done.output
    assert {row["set"] for row in read_rows("PCA", home)} == {"wine"}


def test_a_method_whose_library_is_missing_is_skipped_with_the_reason(home, monkeypatch):
    monkeypatch.setattr("proxembed.features.layouts.umap_installed", lambda: False)
    done = run(home, "supervised umap", "PCA", protocols="random")
    assert done.exit_code == 0 and set(contents(home)) == {"PCA.jsonl"}
    assert done.output.startswith("skipped: supervised UMAP: umap-learn is not installed (pip install"), done.output


def test_other_data_than_those_of_the_folds_are_refused(home):
    facts = home / "splits" / "wine.json"
    facts.write_text(facts.read_text().replace("sha256:", "sha256:0"))
    done = run(home, "PCA")
    assert done.exit_code == 2 and "wine is another version of the data" in " ".join(done.output.split())


def test_folds_are_drawn_once(home):
    done = program("splits", "breast-cancer", "--home", home)
    assert done.exit_code == 0 and done.output.startswith("breast-cancer: 569 of 569 rows, sha256:")
    for kind in ("csv", "json"):
        name = f"breast-cancer.{kind}"
        assert (home / "splits" / name).read_bytes() == (HOME / "splits" / name).read_bytes()
    again = program("splits", "wine", "--home", home)
    assert again.exit_code == 2 and "wine has stored folds, on which results rest" in " ".join(again.output.split())
    assert program("splits", "scene", "--home", home).output.startswith("skipped: scene: no folder")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "oplss"], "no method or rival is named 'oplss'; did you mean opls"),
        (["run", "PCA", "--sets", "iris"], "--sets 'iris' names 'iris'; it takes wine."),
        (["run", "PCA", "--tracks", "half"], "--tracks 'half' names 'half'; it takes all, fifth, outputs."),
        (["run", "PCA", "--data", "nowhere"], "--data names nowhere, which is no folder"),
        (["run", "PCA", "-j", "0"], "--jobs 0 must be"),
        (["splits", "iris"], "set 'iris' is unknown"),
    ],
)
def test_bad_input_is_one_line(home, words, message):
    done = program(*words, "--home", home)
    assert done.exit_code == 2 and message in " ".join(done.output.split()), done.output
    assert not (home / "results").exists()


def test_without_folds_there_is_nothing_to_run(tmp_path):
    done = program("run", "PCA", "--home", tmp_path)
    assert done.exit_code == 2 and "has no stored folds; make them by `python -m benchmarks splits`" in " ".join(
        done.output.split()
    )


def test_two_methods_do_not_share_a_file(home):
    ledger_at(place_of("MVMD(beta=0.2)", home), "MVMD(beta=0.2)").add(["wine", "random", "all", 1], {})
    assert file_name("MVMD(beta=0.2)") == file_name("MVMD(beta-0.2)")
    with pytest.raises(ValueError, match="holds the results of 'MVMD.beta=0.2.', not of 'MVMD.beta-0.2.'; rename"):
        read_rows("MVMD(beta-0.2)", home)


def test_all_stored_results_load():
    rows = load()
    assert list(rows.columns) == list(COLUMNS) and len(rows) == len(rows.drop_duplicates(list(COLUMNS[:6])))
    assert {path.name for path in (HOME / "results").iterdir()} == set(map(file_name, rows["method"]))
    numbers = rows["track"] == OUTPUTS
    labels, failed = rows[~numbers], rows[(rows["failure"] != "") & ~numbers]
    assert (failed["average_precision"] == 0).all() and labels["average_precision"].between(0, 1).all()
    assert rows.loc[numbers, "average_precision"].isna().all() and (rows.loc[numbers, "q2"] < 1).all()
    assert set(rows["benchmark"]) == {VERSION} and rows["kept"].dropna().between(0, 1).all()
    assert (rows.loc[rows["method"] == "all features", "kept"] > 0.9).all()  # all of them, but for ties


def test_what_is_declared_is_what_is_stored():
    """Every declared method has every fold of every set that has stored folds, and nothing else is stored."""
    rows, tracks = load(), {name: tracks_of(facts) for name, facts in stored_facts(HOME).items()}
    stored = set(rows[["method", "set", "protocol", "track", "fold"]].itertuples(index=False, name=None))
    folds = range(1, N_FOLDS + 1)
    declared = {
        (method, name, protocol, track, fold)
        for (track, protocol), methods in DECLARED.items()
        for method, name, fold in product(methods, tracks, folds)
        if track in tracks[name] and name not in LEFT_OUT.get((track, protocol), ())
    }
    assert stored == declared


@pytest.mark.parametrize("method", ["OPLS", "all features", "label scores", "random projection"])
def test_stored_lines_repeat(method):
    """A stored line is that of a run of today: the values to 1e-3, as processors round differently."""
    row = next(row for row in read_rows(method, HOME) if row["set"] == "wine" and row["track"] == "all")
    again = run_cell("wine", row["protocol"], "all", row["fold"], method, str(HOME), None)
    assert {name: again[name] for name in (*MEASURES, KEPT)} == pytest.approx(
        {name: row[name] for name in (*MEASURES, KEPT)}, abs=1e-3
    )


def test_without_results_the_table_is_empty(tmp_path):
    assert load(tmp_path).empty and list(load(tmp_path).columns) == list(COLUMNS)


def test_a_page_is_made_of_the_results(home, tmp_path):
    run(home, "OPLS", "all features", "PCA")
    done = program("page", "--home", home, "--out", tmp_path / "page")
    assert done.exit_code == 0 and "written: " in done.output
    names = {path.name for path in (tmp_path / "page").iterdir()}
    assert names == {"README.md", "intervals.csv", "ranks-all.svg", "seconds-all.svg"}
    assert PAGE.name == "benchmark"
