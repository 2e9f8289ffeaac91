"""Bad input ends in one clear line on standard error and exit code 2, an interruption in one line and 130."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

import typer

PERMISSION = "change its permissions, or name another place"
REMEDIES = {
    errno.EACCES: PERMISSION,
    errno.EPERM: PERMISSION,
    errno.EROFS: "name a place that can be written",
    errno.ENOSPC: "free some space, or name a place on another disk",
    errno.EDQUOT: "free some space, or name a place on another disk",
    errno.EFBIG: "name a place where larger files are allowed",
    errno.ENOENT: "check the path",
    errno.EISDIR: "name a file in it",
    errno.ENOTDIR: "a part of this path is a file; name another place",
    errno.EEXIST: "name another place",
}


@contextmanager
def refusals() -> Iterator[None]:
    """Turn errors about the input or the output folder into one line and exit code 2, Ctrl-C into one line and 130.

    Examples
    --------
    >>> from proxembed.cli.refusal import refusals
    >>> with refusals():
    ...     pass
    """
    try:
        yield
    except OSError as error:
        refuse(told(error), error)
    except ValueError as error:
        refuse(" ".join(str(error).split()), error)
    except KeyboardInterrupt as error:
        typer.echo("proxembed: interrupted; nothing was written.", err=True)
        raise typer.Exit(130) from error


def told(error: OSError) -> str:
    """The file, what is wrong with it, and what to do, where the system tells but what is wrong.

    Examples
    --------
    >>> from proxembed.cli.refusal import told
    >>> told(FileNotFoundError(2, "No such file or directory", "m.skops"))
    'm.skops: No such file or directory; check the path.'
    """
    reason = error.strerror or " ".join(str(error).split()).removesuffix(".")
    if error.errno in REMEDIES and error.strerror == os.strerror(error.errno):
        reason += f"; {REMEDIES[error.errno]}"
    return f"{error.filename}: {reason}." if error.filename else f"{reason}."


def refuse(line: str, cause: Exception | None = None) -> None:
    """Print one line on standard error and leave with exit code 2."""
    typer.echo(f"proxembed: {line}", err=True)
    raise typer.Exit(2) from cause
