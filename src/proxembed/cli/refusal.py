"""Bad input ends in one clear line on standard error and exit code 2."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer


@contextmanager
def refusals() -> Iterator[None]:
    """Turn errors about the input or the output folder into one line and exit code 2.

    Examples
    --------
    >>> from proxembed.cli.refusal import refusals
    >>> with refusals():
    ...     pass
    """
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        refuse(f"{error.filename}: {reason}." if error.filename else f"{reason}.", error)
    except ValueError as error:
        refuse(" ".join(str(error).split()), error)


def refuse(line: str, cause: Exception | None = None) -> None:
    """Print one line on standard error and leave with exit code 2."""
    typer.echo(f"proxembed: {line}", err=True)
    raise typer.Exit(2) from cause
