"""Errors of the system as one line with a remedy; an interruption as one line and exit code 130."""

import errno
import os

import pytest
import typer

from proxembed.cli.refusal import refusals


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
