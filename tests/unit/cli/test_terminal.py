"""What the terminal shows: the table, contrasts in words, hostile names as text, progress on standard error only."""

import sys
import warnings
from pathlib import Path

import pytest

from proxembed.cli import terminal
from proxembed.cli.terminal import (
    EarlyVerdict,
    contrast_text,
    leaderboard_table,
    notes,
    print_summary,
    print_verdict,
    progress_bar,
)

NAME = "macro average precision (ridge)"


def make_summary(arm="OPLS"):
    score = {"mean": 0.5, "standard_error": 0.01}
    entry = {"arm": arm, "rival": False, "k": 2, "scores": {NAME: score}, "failures": [], "seconds": 0.1}
    rival = {**entry, "arm": "all features", "rival": True, "k": None, "failures": ["ValueError: no"]}
    return {
        "dataset": {"name": "made", "n": 1000, "d": 5, "labels": 3},
        "measures": [NAME],
        "folds": ["1", "2"],
        "fold_sizes": {"1": {"train": 600, "held_out": 300}, "test": {"train": 900, "held_out": 100}},
        "best": [entry, rival],
        "failures": [["all features", None, "ValueError: no"]],
        "notes": ["OPLS: careful"],
        "verdict": {
            "headline": "Neighbours on the map share more [labels].",
            "goals": {
                "map": {
                    "title": "Map",
                    "word": "better",
                    "sentence": "0.5 [instead] of 0.4.",
                    "plain": "Neighbours on the map share more [labels].",
                    "advice": "What to do: use this map.",
                }
            },
            "note": "On 3 test rows.",
            "text": "",
        },
    }


@pytest.fixture
def entry():
    numbers = {"difference": -0.1, "interval": [-0.15, -0.05], "p_holm": 0.00001}
    return {"a": "OPLS", "b": "PCA", **numbers, "bayes": {"worse": 0.98, "rope": 0.02, "better": 0.0}}


def test_the_command_against_copied_rows_stands_on_a_line_of_its_own(capsys):
    summary = make_summary()
    more = {
        "warnings": ["7 rows have a copy."],
        "warning_command": "proxembed search a.csv --groups copies -o a-grouped",
    }
    goal = summary["verdict"]["goals"]["map"] | {"not_saved": "These are figures of OPLS."}
    print_summary({**summary, "verdict": {**summary["verdict"], **more, "goals": {"map": goal}}}, ["index.html"])
    lines = capsys.readouterr().out.splitlines()
    assert "    proxembed search a.csv --groups copies -o a-grouped" in lines and "⚠ 7 rows have a copy." in lines
    assert lines.index("These are figures of OPLS.") < lines.index("What to do: use this map.")


def test_everything_is_shown_and_the_verdict_last(capsys, entry):
    print_summary(make_summary(), ["index.html"], [entry])
    shown = capsys.readouterr()
    words = " ".join(shown.out.split())
    assert shown.err == "" and words.endswith("Map: better. What to do: use this map.")
    for text in (
        "mean ± s.e. over 2 folds of 900 rows together",
        "OPLS",
        "all features* (failed)",
        "0.500 ± 0.010",
        "failed, counted as 0: all features: ValueError",
    ):
        assert text in words
    assert (
        "OPLS - PCA: -0.100" in words
        and "1 note (a warning, or a rival left out) is listed on the page" in words
        and "written: index.html" in words
    )


def test_the_table_of_a_map_tells_what_it_keeps(capsys):
    summary = make_summary()
    summary["best"][0]["kept"] = {"mean": 0.284, "by_fold": [0.284], "test": 0.5, "rows": 100}
    print_summary(summary, [])
    assert "kept" not in capsys.readouterr().out
    summary["verdict"]["asked"] = "map"
    print_summary(summary, [])
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["28", "%"] in [line[-3:-1] for line in lines] and "–" in next(line for line in lines if "features*" in line)
    assert any(line[-2:] == ["kept", "s/fold"] for line in lines)


def test_a_contrast_in_words(entry):
    assert "p < 0.001 (Holm)" in contrast_text(entry)
    assert contrast_text({**entry, "interval": None, "p_holm": None, "bayes": None}) == "OPLS - PCA: -0.100"


def test_names_with_markup_stay_text(capsys):
    print_summary(make_summary("[red]x[/red]"), [], [])
    assert "[red]x[/red]" in capsys.readouterr().out
    assert leaderboard_table(make_summary("[/]")).row_count == 2


def test_what_predicts_by_itself_is_marked_in_the_table(capsys):
    summary = make_summary("x")
    first, *others = summary["best"]
    name = next(iter(first["scores"]))
    summary["best"] = [first | {"reads_features": True}, *others]
    assert "(ridge)" in name
    print_summary(summary, [], [])
    shown = capsys.readouterr().out
    assert f"{first['arm']}†" in shown and "† predicts by itself, not by a ridge" in shown and shown.count("†") == 2


def test_a_measure_without_a_value_has_no_column_and_80_columns_suffice(capsys):
    near, new = "Jaccard@10 (cosine kNN)", "new-new Jaccard@10 (cosine kNN)"
    summary = make_summary("logistic regression")
    summary["measures"] = [NAME, near, new]
    for value in (0.25, None, float("nan")):
        for entry in summary["best"]:
            entry["scores"] |= {near: entry["scores"][NAME], new: {"mean": value, "standard_error": None}}
        print_summary(summary, [])
        shown = capsys.readouterr().out
        assert "  0.10" in shown and ("new-new" in shown) == (value == 0.25)
    summary["verdict"]["asked"] = "map"
    summary["best"][0] |= {"arm": "Layout(ReadoutAxes(TargetSpace))", "kept": {"mean": 0.28}}
    for entry in summary["best"]:
        entry["scores"][new] = entry["scores"][NAME]
    print_summary(summary, [])
    assert "28 %    0.10" in capsys.readouterr().out


def test_progress_never_goes_to_standard_output(capsys):
    for quiet in (True, False):
        with progress_bar(quiet) as progress:
            progress(1, 2, "[/] half")
            progress(2, 2, "done")
        assert capsys.readouterr().out == ""


def test_warnings_of_one_kind_are_one_line_with_their_number(capsys):
    with notes():
        for rows in (3, 4, 5):
            warnings.warn(f"{rows} rows were left out", stacklevel=1)
        warnings.warn("something else", stacklevel=1)
    shown = capsys.readouterr().err.splitlines()
    assert shown == ["proxembed: note: 5 rows were left out (3 times)", "proxembed: note: something else"]


def test_progress_that_is_piped_is_a_line_a_phase_without_control_characters(capsys):
    with progress_bar(quiet=False) as progress:
        progress(0, 0, "forecast: search 20 s: about 57 of 60 s")
        for trial in range(3):
            progress(trial, 9, f"search, {trial} trials: now OPLS")
        progress(1, 4, "fold 1: OPLS done")
        progress(2, 4, "fold 1: PCA done")
    shown = capsys.readouterr().err
    assert shown.splitlines() == [
        "proxembed: forecast: search 20 s: about 57 of 60 s",
        "proxembed: search",
        "proxembed: fold 1",
    ]
    assert all(character.isprintable() or character == "\n" for character in shown)


def test_a_verdict_that_nobody_reads_does_not_end_the_run(monkeypatch, capsys):
    with progress_bar(quiet=False) as progress:
        early, unread = EarlyVerdict(progress), EarlyVerdict(progress)
        early(make_summary())
        verdict = capsys.readouterr().out
        with monkeypatch.context() as patch:
            patch.setattr(terminal, "print_scores", lambda summary: sys.exit(1))
            unread(make_summary())
    early.finish(make_summary(), [Path("index.html")], [], "")
    rest = capsys.readouterr().out
    assert "Map: better." in verdict and "Map: better." not in rest
    assert "written: index.html" in rest and "written:" not in verdict
    with pytest.raises(SystemExit):
        unread.finish(make_summary(), [], [], "")


def test_what_the_saved_model_answers_stands_under_the_word_of_predictions(capsys):
    summary, answers = make_summary(), "On the test rows the saved model finds 3 of 4 rows."
    summary["verdict"]["goals"]["map"]["answers"] = answers
    print_verdict(summary["verdict"])
    lines = capsys.readouterr().out.splitlines()
    assert lines.index(answers) == next(i for i, line in enumerate(lines) if line.startswith("Map: ")) + 1


def test_what_was_cut_and_the_command_that_repeats_are_printed(capsys):
    print_summary(make_summary(), [], cuts=["3 folds instead of 5"], repeat="proxembed search a.csv --max-work 9")
    words = " ".join(capsys.readouterr().out.split())
    assert (
        "cut for the budget: 3 folds instead of 5" in words
        and "to repeat this run: proxembed search a.csv --max-work 9" in words
    )


def test_cuts_are_left_to_the_page_but_not_the_command_against_them(capsys):
    cut = {"what": "Left out:", "lines": [["Map", "no t-SNE"]], "why": "Why: short.", "undo": "To cut nothing:"}
    summary = make_summary()
    summary["verdict"] |= {"cut": cut | {"command": "proxembed search a.csv --max-work 90"}}
    print_summary(summary, [Path("out/index.html"), Path("out/model.skops")])
    shown = capsys.readouterr().out
    told = "What was cut: the page lists it, with the verdicts that it weakens. Why: short. To cut nothing:"
    lines = shown.splitlines()
    assert told in " ".join(shown.split())
    assert "    proxembed search a.csv --max-work 90" in lines and "written: index.html, model.skops in out" in lines
    summary["verdict"]["cut"] = {"what": "Nothing was cut.", "lines": [], "why": "", "undo": "", "command": ""}
    print_summary(summary, [Path("index.html"), Path("out/model.skops")])
    lines = capsys.readouterr().out.splitlines()
    assert "What was cut: Nothing was cut." in lines and "written: index.html, out/model.skops" in lines
