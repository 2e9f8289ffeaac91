"""Wrong words on the command line end as all bad input does; the help says everything."""

import inspect
import os
import re
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
import typer
from rich.text import Text
from typer.testing import CliRunner

import proxembed
from designs import in_turn
from proxembed.cli import app
from proxembed.cli.app import GROUPS

VERBS = ("search", "fit", "transform", "predict", "compare", "diagnose", "map", "report", "data", "methods", "demo")


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
        (["search", "d.csv", "--max-trials", "-1"], ["--max-trials", "search --help"]),
        (["demo", "--seed", "-1"], ["--seed", "demo --help"]),
        (["fitt"], ["'fitt'", " --help"]),
        (["data", "d.csv", "--labels", "a", "b"], ["(b); join names with a comma: --labels a,b; see", "data --help"]),
        (["fit", "d.csv", "--drop=a", "b"], ["(b); join names with a comma: --drop a,b; see"]),
    ],
)
def test_wrong_words_are_one_line_and_code_2(words, parts):
    done = program(*words)
    assert done.exit_code == 2 and done.stdout == "" and len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("proxembed: ") and all(part in done.stderr for part in parts), done.stderr


def test_without_words_the_first_three_commands_are_shown():
    done = program()
    assert done.exit_code == 0 and done.stderr == ""
    assert re.findall(r"^  proxembed (\w+)", done.stdout, re.MULTILINE) == ["demo", "data", "search"]


def test_the_help_shows_every_command_under_its_group():
    shown = Text.from_ansi(program("--help", env={"TERM": "dumb"}).stdout).plain
    heads = [shown.index(f"─ {group} ─") for group in GROUPS]
    assert heads == sorted(heads) and {verb.__name__ for verbs in GROUPS.values() for verb in verbs} == set(VERBS)
    for (group, verbs), end in zip(GROUPS.items(), [*heads[1:], len(shown)], strict=True):
        part = shown[shown.index(f"─ {group} ─") : end]
        assert re.findall(r"^│ (\w+) ", part, re.MULTILINE) == [verb.__name__ for verb in verbs]


@pytest.mark.parametrize(
    ("words", "word", "found"),
    [
        ("proxembed se", 1, "search"),
        ("proxembed fit --meth", 2, "--method"),
        ("proxembed map t.csv -m isom", 4, "isomap"),
        ("proxembed compare t.csv --methods opls,mdd", 4, "opls,mddm"),
    ],
)
def test_a_shell_completes_commands_options_and_methods(words, word, found):
    asked = {"COMP_WORDS": words, "COMP_CWORD": str(word), "_PROXEMBED_COMPLETE": "complete_bash"}
    done = program(env=asked, prog_name="proxembed")
    assert done.stdout.split() == [found]


@pytest.mark.parametrize("verb", VERBS)
def test_no_words_of_the_help_are_swallowed(verb):
    """Square brackets are markup to rich: what stands in them would not be shown."""
    done = program(verb, "--help", env={"COLUMNS": "200", "TERM": "dumb"})
    shown = " ".join(Text.from_ansi(done.stdout).plain.replace("│", " ").split())
    assert done.exit_code == 0
    callback = next(info.callback for info in app.registered_commands if info.callback.__name__ == verb)
    for parameter in inspect.signature(callback).parameters.values():
        words = " ".join((parameter.default.help or "").split())
        assert re.search(re.escape(words), shown), words


def test_a_bug_is_not_told_as_bad_input(monkeypatch):
    def broken(*args, **options):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("proxembed.cli.methods.refusals", broken)
    assert isinstance(program("methods").exception, ZeroDivisionError)


PROGRAM = "import sys; sys.argv[0] = 'proxembed'; from proxembed.cli import main; main()"


def process(words, **pipes):
    """The program in a process of its own."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **pipes}
    return subprocess.run([sys.executable, "-c", PROGRAM, *words], **pipes)


@pytest.mark.skipif(os.name != "posix", reason="pipes that nobody reads end a program in this way on POSIX")
@in_turn("words", [["--help"], ["methods"]], 2)
def test_where_nobody_reads_the_program_ends_quietly(words):
    read, write = os.pipe()
    os.close(read)
    try:
        done = process(words, stdout=write)
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device that is always full")
@in_turn("words", [["--help"], ["methods", "--json"]], 2)
def test_an_output_that_cannot_be_printed_is_one_line_and_code_2(words):
    with open("/dev/full", "wb") as full:
        done = process(words, stdout=full)
    assert done.returncode == 2 and done.stderr.decode().startswith("proxembed: No space left on device; free some")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.skipif(os.name != "posix", reason="closed by a POSIX shell")
def test_a_closed_output_is_no_error():
    command = 'exec "$0" -c "$1"'
    for closed, code in (("--help >&-", 0), ("--help 2>&-", 0), ("--nope 2>&-", 2)):
        done = subprocess.run(["sh", "-c", f"{command} {closed}", sys.executable, PROGRAM], capture_output=True)
        assert done.returncode == code and done.stderr == b""


@pytest.mark.skipif(sys.platform != "linux", reason="file names of any bytes")
def test_a_file_name_that_is_no_text_is_read_and_shown(tmp_path):
    name = os.fsdecode(os.path.join(os.fsencode(tmp_path), b"\xff.npz"))
    with open(name, "wb") as file:
        np.savez(file, X=np.eye(4), Y=np.eye(4))
    done = program("data", name)
    assert done.exit_code == 0 and r"\udcff" in done.stdout and done.stderr == ""
    done = program("data", name + ".gz")
    assert done.exit_code == 2 and r"\udcff.npz.gz: no such file" in done.stderr


def test_the_package_runs_as_a_module():
    done = subprocess.run([sys.executable, "-m", "proxembed", "--version"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout == f"proxembed {proxembed.__version__}\n"


def test_the_options_of_every_verb_stand_in_groups():
    """An option has one group in all verbs, no group has a single option, and few options are outside the groups."""
    verbs = typer.main.get_command(app).commands
    options = {name: [each for each in verb.params if each.param_type_name == "option"] for name, verb in verbs.items()}
    panels = [
        [(each.name, each.rich_help_panel) for each in found if each.rich_help_panel] for found in options.values()
    ]
    assert all(size > 1 for found in panels for size in Counter(panel for _, panel in found).values())
    grouped = {each for found in panels for each in found}
    assert len(grouped) == len(dict(grouped)) > 35
    assert all(sum(not each.rich_help_panel for each in found) <= 7 for found in options.values())
