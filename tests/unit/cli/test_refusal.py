"""Errors of the system as one line with a remedy; an interruption as one line and exit code 130."""

import errno
import os
import signal
from concurrent.futures.process import BrokenProcessPool

import pytest
import typer

from proxembed.cli.refusal import refusals
from proxembed.cli.terminal import interruptible, say


def told(error, capsys):
    with pytest.raises(typer.Exit) as left, refusals():
        raise error
    found = capsys.readouterr()
    assert found.out == "" and len(found.err.splitlines()) == 1
    return left.value.exit_code, found.err


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.EACCES, "change its permissions, or name another place"),
        (errno.EROFS, "name a place that can be written"),
        (errno.ENOSPC, "free some space, or name a place on another disk"),
        (errno.ENOENT, "check the path"),
        (errno.EISDIR, "name a file in it"),
        (errno.ENOTDIR, "a part of this path is a file; name another place"),
        (errno.EEXIST, "name another place"),
    ],
)
def test_the_file_the_reason_and_the_remedy_are_told(number, remedy, capsys):
    line = f"proxembed: out/m.skops: {os.strerror(number)}; {remedy}.\n"
    assert told(OSError(number, os.strerror(number), "out/m.skops"), capsys) == (2, line)


def test_words_of_our_own_are_left_as_they_are(capsys):
    error = FileNotFoundError(errno.ENOENT, "its folder does not exist; make it first", "none/m.skops")
    assert told(error, capsys) == (2, "proxembed: none/m.skops: its folder does not exist; make it first.\n")


def test_an_error_without_a_file_or_of_several_lines_is_one_line(capsys):
    assert told(OSError("the disk\nis gone."), capsys) == (2, "proxembed: the disk is gone.\n")
    assert told(ValueError("first\nsecond"), capsys) == (2, "proxembed: first second\n")


def test_an_interruption_says_that_nothing_was_written(capsys):
    assert told(KeyboardInterrupt(), capsys) == (130, "proxembed: interrupted; nothing was written.\n")


def test_want_of_memory_is_told_with_what_was_wanted(capsys):
    line = "proxembed: not enough memory{}; give fewer rows or features, or fewer processes (--jobs 1)"
    wanted = "Unable to allocate 8.00 GiB for an array with shape (32768, 32768) and data type float64"
    code, found = told(MemoryError(wanted), capsys)
    assert code == 2 and found.startswith(line.format(f" ({wanted})"))
    assert told(MemoryError(), capsys)[1].startswith(line.format(""))


def test_a_worker_that_died_is_told(capsys):
    code, line = told(BrokenProcessPool("a process was terminated abruptly"), capsys)
    assert code == 2 and line.startswith("proxembed: a worker process was killed, perhaps for lack of memory")


@pytest.mark.parametrize(
    "error", [ValueError("no."), OSError(28, os.strerror(28), "a"), MemoryError(), KeyboardInterrupt()]
)
def test_what_was_kept_is_told_in_the_same_line(error, capsys):
    error.add_note("kept in out: results.json")
    assert "kept in out: results.json.\n" in told(error, capsys)[1]


def test_a_missing_extra_is_told_with_its_remedy(capsys):
    code, line = told(ImportError("layout='umap' needs umap-learn; install it."), capsys)
    assert code == 2 and line == "proxembed: layout='umap' needs umap-learn; install it.\n"


def test_a_module_of_the_program_that_is_missing_stays_a_bug():
    with pytest.raises(ModuleNotFoundError), refusals():
        import proxembed.nowhere  # noqa: F401


def test_a_bug_stays_one():
    with pytest.raises(ZeroDivisionError), refusals():
        raise ZeroDivisionError


def test_the_exit_code_tells_the_signal(capsys):
    with pytest.raises(typer.Exit) as left, interruptible(), refusals():
        signal.raise_signal(signal.SIGTERM)
    assert left.value.exit_code == 143 and capsys.readouterr().err.startswith(
        "proxembed: interrupted; nothing was written"
    )


def test_a_name_that_is_no_text_or_would_move_the_cursor_is_spelled_out(capsys):
    say("a\nb \x1b[31m \udcff é")
    assert capsys.readouterr().err == "proxembed: a b \\x1b[31m \\udcff é\n"


def test_a_terminal_that_is_gone_takes_no_words(monkeypatch):
    def gone(*arguments, **options):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(typer, "echo", gone)
    say("into nothing")
