"""Ctrl-C, SIGTERM, SIGHUP and SIGKILL in every phase of `search` and `compare`: what was finished is in the folder."""

import json
import os
import re
import shutil
import signal
import threading

import numpy as np
import pytest

from designs import each_value, in_turn
from proxembed.cli.terminal import exit_code, interruptible
from proxembed.evaluate.results import Results
from proxembed.persist import load
from proxembed.study import trials
from proxembed.workflow import comparison, main_job
from proxembed.workflow import record as record_module
from proxembed.workflow.record import retry_once
from runs import program, without_nested_folds

QUICK = ["--methods", "opls,mvmd", "--max-trials", "2", "-k", "1,2", "--folds", "2", "--shuffles", "19"]
FAST = ["--methods", "opls", "-k", "1,2", "--folds", "2", "--jobs", "1"]
UNFINISHED = {"unfinished.json"}
VALUES = UNFINISHED | {"predictions.npz"}
COMPARED = {"leaderboard.csv", "predictions.npz", "results.json"}
PAGE = COMPARED | {"index.html"}
STUDY = {"study.jsonl"}
MODEL = {"model.skops", "model.md", "embedding.npz"}
# Where a phase of the search begins, what is in the folder then, what at the end, and the sections that are missing.
SEARCH = {
    "comparison": (main_job, "run", UNFINISHED, UNFINISHED | MODEL, ()),
    "summary": (main_job, "summarise", VALUES, PAGE | MODEL, ("map", "diagnosis")),
    "test rows": (main_job, "held_out_evidence", COMPARED, PAGE | MODEL, ("map", "diagnosis")),
    "diagnosis": (main_job, "run_diagnosis", COMPARED, PAGE | MODEL, ("diagnosis",)),
    "last fit": (main_job, "fit_on", COMPARED, PAGE, ("components",)),
    "model": (main_job, "saved_model", COMPARED, PAGE, ("components",)),
    "components": (main_job, "model_section", COMPARED | MODEL, PAGE | MODEL, ("components",)),
    "page": (record_module, "page_html", COMPARED | MODEL, PAGE | MODEL, ()),
}
COMPARE = {
    "summary": (comparison, "summarise", VALUES, PAGE, ("map", "components")),
    "contrasts": (comparison, "contrasts", COMPARED, PAGE, ("map", "components")),
    "held-out rows": (comparison, "held_out_evidence", COMPARED, PAGE, ("map", "components")),
    "components": (comparison, "fit_on", COMPARED, PAGE, ("components",)),
    "page": (record_module, "page_html", COMPARED, PAGE, ()),
}


@pytest.fixture(autouse=True)
def few_rivals(monkeypatch):
    """The forest is slow to grow and is tested in its own room."""
    whole = main_job.rival_arms
    for room in (main_job, comparison):
        monkeypatch.setattr(room, "rival_arms", lambda *args, **options: whole(*args, **options)[:2])
    without_nested_folds(monkeypatch)


@pytest.fixture(autouse=True)
def short_diagnosis(monkeypatch):
    """One shuffle and one half: what they find is tested with the diagnosis."""
    whole = main_job.diagnose
    monkeypatch.setattr(main_job, "diagnose", lambda *given, **more: whole(*given[:3], 1, n_resamples=1, **more))


@pytest.fixture
def out(tmp_path):
    """A folder with the files of an earlier run, and one of the user's."""
    folder = tmp_path / "out"
    folder.mkdir()
    for name in PAGE | MODEL | UNFINISHED | STUDY | {"mine.txt"}:
        (folder / name).write_text("<!-- proxembed model card --> of an earlier run")
    return folder


def names(folder):
    """What is in a folder, but for what an ended comparison leaves to the run that resumes."""
    return {path.name for path in folder.iterdir() if path.name != ".comparison.jsonl"}


def of_this_run(folder):
    files = [folder / name for name in names(folder) if (folder / name).is_file()]
    return {path.name for path in files if b"of an earlier run" not in path.read_bytes()[:60]}


def interrupted(monkeypatch, room, name, times=1, seen=lambda: None):
    """Interrupt a phase as it begins, so many times; what ``seen`` gave then."""
    whole, found = getattr(room, name), []

    def stopped(*arguments, **options):
        found.append(seen())
        if len(found) <= times:
            raise KeyboardInterrupt
        return whole(*arguments, **options)

    monkeypatch.setattr(room, name, stopped)
    return found


def last_line(done):
    assert done.exit_code == 130 and "Traceback" not in done.output, (done.output, done.exception)
    return done.stderr.strip().splitlines()[-1]


def check_record(out, missing):
    """Record and page tell of the interruption, and of all sections but the missing ones."""
    record = json.loads((out / "results.json").read_text())
    assert record["summary"]["interrupted"] and "Interrupted:" in (out / "index.html").read_text()
    sections = ("map", "diagnosis", "components") if record["kind"] == "search" else ("map", "components")
    assert [part for part in sections if record[part] is None] == list(missing)
    if record["kind"] == "search" and missing:
        cut = record["summary"]["verdict"]["cut"]
        assert cut["lines"][-1][0] == "Not finished" and cut["command"].endswith(" --resume")
        words = {"map": "pictures of held-out", "diagnosis": "shuffled", "components": "no model is saved|table of"}
        assert all(re.search(words[part], cut["lines"][-1][1]) for part in missing)


@in_turn("phase", list(SEARCH), 2, ["comparison", "page"])
def test_an_interruption_of_the_search_keeps_what_was_finished(unsplit, out, monkeypatch, phase):
    room, name, before, after, missing = SEARCH[phase]
    found = interrupted(monkeypatch, room, name, seen=lambda: of_this_run(out))
    done = program("search", unsplit, *QUICK, "-o", out)
    assert found and found[0] == before | STUDY, done.output
    line = last_line(done)
    after = after | STUDY
    assert of_this_run(out) == after and names(out) == after | {"mine.txt"}, "nothing of the earlier run"
    assert line.startswith("proxembed: interrupted; ") and f"{out}: " in line and all(name in line for name in after)
    if "results.json" in after:
        check_record(out, missing)
    else:
        record = json.loads((out / "unfinished.json").read_text())
        assert len(record["search"]["trials"]) == 2 and record["search"]["leaders"][0]["n_components"]
    if "model.skops" in after:
        assert load(out / "model.skops").predict(np.zeros((1, 6))).shape == (1, 3)


@in_turn("phase", list(COMPARE), 2, ["summary"])
def test_an_interruption_of_the_comparison_keeps_what_was_finished(file, out, monkeypatch, phase):
    room, name, before, after, missing = COMPARE[phase]
    found = interrupted(monkeypatch, room, name, seen=lambda: of_this_run(out))
    done = program("compare", file, *FAST, "-o", out)
    assert found and found[0] == before, done.output
    line = last_line(done)
    left = after | MODEL | STUDY | {"mine.txt"}
    assert of_this_run(out) == after and names(out) == left, "models are not a comparison's"
    assert "kept 2 complete folds of 2" in line and all(name in line for name in after)
    check_record(out, missing)


@each_value
@pytest.mark.parametrize("verb", ["search", "compare"])
@pytest.mark.parametrize("phase", ["summary", "page"])
def test_a_second_interruption_leaves_what_is_on_disk(unsplit, file, out, monkeypatch, verb, phase):
    room, name, before, *_ = (SEARCH if verb == "search" else COMPARE)[phase]
    interrupted(monkeypatch, room, name, times=2)
    done = program(verb, *((unsplit, *QUICK) if verb == "search" else (file, *FAST)), "-o", out)
    before = before | STUDY if verb == "search" else before
    assert of_this_run(out) == before and not names(out) & {"index.html", ".running"}
    line = last_line(done)
    assert line.startswith(f"proxembed: interrupted; kept in {out}: ") and all(name in line for name in before)


def test_an_error_after_a_phase_tells_what_was_kept(unsplit, out, monkeypatch):
    def too_large(*arguments, **options):
        raise MemoryError("Unable to allocate 8.00 GiB")

    monkeypatch.setattr(main_job, "fit_on", too_large)
    done = program("search", unsplit, *QUICK, "-o", out)
    line = done.stderr.strip().splitlines()[-1]
    assert done.exit_code == 2 and "Traceback" not in done.stderr and "written: " not in done.stdout
    assert line.startswith("proxembed: not enough memory (Unable to allocate 8.00 GiB); give fewer rows")
    assert line.endswith(f"Before that: kept in {out}: leaderboard.csv, predictions.npz, results.json, study.jsonl.")
    assert of_this_run(out) == COMPARED | STUDY and not names(out) & MODEL


def test_before_anything_is_finished_the_earlier_run_stays(unsplit, file, out, monkeypatch):
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    interrupted(monkeypatch, main_job, "run_engine")
    assert last_line(program("search", unsplit, *QUICK, "-o", out)).endswith("interrupted; nothing was written.")
    interrupted(monkeypatch, comparison, "run")
    assert last_line(program("compare", file, *FAST, "-o", out)).endswith("interrupted; nothing was written.")
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


@pytest.mark.parametrize("name", sorted(PAGE | MODEL))
def test_a_blocked_name_is_refused_before_the_work(unsplit, tmp_path, monkeypatch, name):
    (tmp_path / "out" / name).mkdir(parents=True)
    monkeypatch.setattr(main_job, "run_engine", None)
    done = program("search", unsplit, *QUICK, "-o", tmp_path / "out")
    assert done.exit_code == 2 and f"out/{name}: this is a folder; name a file in it" in done.stderr
    assert names(tmp_path / "out") == {name}


def test_a_document_in_place_of_the_card_is_refused_before_the_work(unsplit, tmp_path, monkeypatch):
    (tmp_path / "model.md").write_text("# My notes")
    monkeypatch.setattr(main_job, "run_engine", None)
    done = program("search", unsplit, *QUICK, "-o", tmp_path)
    assert done.exit_code == 2 and "model.md exists and is not a model card" in done.stderr
    assert (tmp_path / "model.md").read_text() == "# My notes"


def test_folds_that_cannot_be_made_are_refused_before_the_search(unsplit, tmp_path, monkeypatch):
    monkeypatch.setattr(main_job, "run_engine", None)
    done = program("search", unsplit, *QUICK, "--folds", "91", "-o", tmp_path / "out")
    assert done.exit_code == 2 and "--folds 91 must be from 2 to the number of rows (90)" in done.stderr


SIGNALS = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


@pytest.fixture
def usual_handlers():
    """Those of a program, whatever the tests run under."""
    earlier = {}
    for name in SIGNALS:
        usual = signal.default_int_handler if name == "SIGINT" else signal.SIG_DFL
        earlier[name] = signal.signal(getattr(signal, name), usual)
    yield
    for name, handler in earlier.items():
        signal.signal(getattr(signal, name), handler)


def at_call(monkeypatch, room, name, number, act):
    """Do something as the call of this number of a function begins."""
    whole, calls = getattr(room, name), []

    def acting(*arguments, **options):
        calls.append(name)
        if len(calls) == number:
            act()
        return whole(*arguments, **options)

    monkeypatch.setattr(room, name, acting)


def test_a_signal_in_the_search_keeps_the_best_so_far(unsplit, tmp_path, monkeypatch, usual_handlers):
    at_call(monkeypatch, trials, "score", 9, lambda: signal.raise_signal(signal.SIGTERM))
    out = tmp_path / "out"
    done = program("search", unsplit, *QUICK, "--max-trials", "1000", "-o", out)
    assert done.exit_code == 143 and names(out) == MODEL | UNFINISHED | STUDY
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("proxembed: interrupted; the best so far (") and "Traceback" not in done.output, done.output


@in_turn("name", SIGNALS, 3)
def test_a_signal_after_the_comparison_keeps_it_with_the_model_and_the_page(
    unsplit, tmp_path, monkeypatch, usual_handlers, name
):
    out, number = tmp_path / "out", getattr(signal, name)
    at_call(monkeypatch, main_job, "run_diagnosis", 1, lambda: signal.raise_signal(number))
    done = program("search", unsplit, *QUICK, "-o", out)
    assert done.exit_code == 128 + number and names(out) == PAGE | MODEL | STUDY and str(out) in done.stderr
    check_record(out, ("diagnosis",))


def test_what_a_kill_leaves_is_what_was_finished_and_the_next_run_clears_the_rest(unsplit, tmp_path, monkeypatch):
    out, killed = tmp_path / "out", tmp_path / "killed"
    at_call(monkeypatch, main_job, "run_diagnosis", 1, lambda: shutil.copytree(out, killed))
    assert program("search", unsplit, *QUICK, "-o", out).exit_code == 0
    left = names(killed)
    assert len(left - COMPARED - STUDY) == 1 and left > COMPARED | STUDY
    assert (left - COMPARED - STUDY).pop().startswith(".running-")
    assert program("report", killed).exit_code == 0 and names(killed) == PAGE | STUDY
    record = json.loads((killed / "results.json").read_text())
    assert record["map"] is not None and record["diagnosis"] is None


@pytest.mark.skipif(os.name != "posix", reason="locks are a POSIX matter here")
def test_a_second_run_into_the_same_folder_is_refused_while_the_first_lives(file, tmp_path, monkeypatch):
    out, second = tmp_path / "out", []

    def start_another():
        before = names(out)
        done = program("compare", file, *FAST, "-o", out)
        second.append((done, before, names(out)))

    at_call(monkeypatch, comparison, "contrasts", 1, start_another)
    assert program("compare", file, *FAST, "-o", out).exit_code == 0
    ((done, before, after),) = second
    assert done.exit_code == 2 and f"{out} is being written by another run (process {os.getpid()})" in done.stderr
    assert before == after
    assert names(out) == PAGE


def test_what_is_ignored_or_handled_stays_so():
    def mine(number, frame):
        raise AssertionError

    earlier = signal.signal(signal.SIGTERM, mine), signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with interruptible():
            assert signal.getsignal(signal.SIGTERM) is mine and signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, earlier[0])
        signal.signal(signal.SIGINT, earlier[1])


def test_the_first_signal_gives_the_exit_code():
    numbers = signal.SIGTERM, signal.SIGINT
    earlier = [signal.signal(number, signal.SIG_DFL) for number in numbers]  # a shell's background job ignores SIGINT
    try:
        with interruptible():
            for number in numbers:
                with pytest.raises(KeyboardInterrupt):
                    signal.raise_signal(number)
            assert exit_code() == 143
        with interruptible():
            assert exit_code() == 130
    finally:
        for number, handler in zip(numbers, earlier, strict=True):
            signal.signal(number, handler)


def test_outside_the_main_thread_signals_are_let_alone():
    failed = []

    def entered():
        try:
            with interruptible():
                pass
        except ValueError as error:
            failed.append(error)

    thread = threading.Thread(target=entered)
    thread.start()
    thread.join()
    assert not failed


def test_a_step_of_writing_up_is_done_again_once():
    results, calls = Results({}, {}), []

    def step():
        calls.append(1)
        if len(calls) in (1, 3, 4):
            raise KeyboardInterrupt
        return "done"

    assert retry_once(results, step) == "done" and results.interrupted
    with pytest.raises(KeyboardInterrupt):
        retry_once(results, step)
