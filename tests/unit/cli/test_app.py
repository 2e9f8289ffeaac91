"""Wrong words on the command line end as all bad input does; the help says everything."""

import re

import pytest
from rich.text import Text
from typer.testing import CliRunner

from proxembed.cli import app

VERBS = ("search", "fit", "transform", "predict", "compare", "report", "data", "methods", "demo")


def program(*words, **options):
    return CliRunner().invoke(app, list(words), **options)


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["fit"], ["DATA", "fit --help"]),
        (["fit", "--bogus"], ["--bogus", "fit --help"]),
        (["fit", "d.csv", "-k", "0"], ["-k", "fit --help"]),
        (["fit", "d.csv", "-k", "two"], ["-k", "fit --help"]),
        (["compare", "d.csv", "--folds", "1"], ["--folds", "compare --help"]),
        (["demo", "--seed", "-1"], ["--seed", "demo --help"]),
        (["fitt"], ["'fitt'", " --help"]),
    ],
)
def test_wrong_words_are_one_line_and_code_2(words, parts):
    done = program(*words)
    assert done.exit_code == 2 and done.stdout == "" and len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("proxembed: ") and all(part in done.stderr for part in parts), done.stderr


def test_without_words_the_help_is_shown():
    done = program()
    assert all(verb in done.output for verb in VERBS) and "proxembed: " not in done.stderr


@pytest.mark.parametrize("verb", VERBS)
def test_no_words_of_the_help_are_swallowed(verb):
    """Square brackets are markup to rich: what stands in them would not be shown."""
    done = program(verb, "--help", env={"COLUMNS": "200", "TERM": "dumb"})
    shown = " ".join(Text.from_ansi(done.stdout).plain.replace("│", " ").split())
    assert done.exit_code == 0
    for parameter in next(
        info.callback for info in app.registered_commands if info.callback.__name__ == verb
    ).__defaults__:
        words = " ".join((parameter.help or "").split())
        assert re.search(re.escape(words), shown), words


def test_a_bug_is_not_told_as_bad_input(monkeypatch):
    def broken(*args, **options):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("proxembed.cli.methods.refusals", broken)
    assert isinstance(program("methods").exception, ZeroDivisionError)
