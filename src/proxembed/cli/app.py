"""The typer application and its entry point."""

import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from .compare import compare
from .data import data
from .demo import demo
from .diagnose import diagnose
from .fit import fit
from .map import map
from .methods import methods
from .options import FLAGS, LISTS
from .predict import predict
from .refusal import refusals
from .report import report
from .search import search
from .terminal import say
from .transform import transform

NOBODY_READS = 141  # the code that a shell reports for a program ended by SIGPIPE


class Verb(TyperCommand):
    """A verb, whose help has its options in groups of two or more; others stand under "Options"."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        options = [each for each in self.params if isinstance(each, TyperOption)]
        sizes = Counter(each.rich_help_panel for each in options)
        for option in options:
            option.rich_help_panel = option.rich_help_panel if sizes[option.rich_help_panel] > 1 else None


class Program(TyperGroup):
    """The program. A wrong option, argument or command ends with one line, like all bad input."""

    def main(  # type: ignore[override]  # the other parameters are among ``extra``
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> Any:
        """Run a command; in standalone mode exit with its code."""
        if not extra.pop("standalone_mode", True):
            return super().main(args, prog_name, standalone_mode=False, **extra)
        try:
            code = printed(lambda: super(Program, self).main(args, prog_name, standalone_mode=False, **extra))
        except Exception as error:
            words, context = getattr(error, "format_message", None), getattr(error, "ctx", None)
            if words is None:  # not about the command line
                raise
            line = " ".join(words().split()).removesuffix(".") + comma_hint(words(), args or sys.argv[1:])
            if line:  # else the help was shown
                asked = context.command_path if context is not None else "proxembed"
                say(f"{line}{' See' if line[-1] == '?' else '; see'} `{asked} --help`.")
            code = 2
        sys.exit(code or 0)


def comma_hint(refusal: str, args: Sequence[str]) -> str:
    """How to give several names to an option, for a refusal of an extra argument; "" for other refusals."""
    named = [word.partition("=")[0] for word in args]
    option = next((word for word in named if word in [FLAGS[name] for name in LISTS]), None)
    if option is None or not refusal.startswith("Got unexpected extra argument"):
        return ""
    return f"; join names with a comma: {option} a,b"


def printed(run: Callable[[], Any]) -> Any:
    """Run, flush the output, and return the exit code; end quietly if the reader of the output has gone."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # file names need not be text
    try:
        with refusals():  # the help is printed before a verb's own refusals
            code = run()
            try:
                if sys.stdout is not None:
                    sys.stdout.flush()
                return code
            except OSError:
                if not code:  # else the verb has said so, and left
                    raise
    except typer.Exit as left:
        code = left.exit_code
    except BrokenPipeError:
        code = NOBODY_READS
    except SystemExit as left:  # rich and click leave so, with 1, where nobody reads on
        code = NOBODY_READS if left.code == 1 else left.code
    with suppress(OSError, AttributeError), open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())  # what is left in the buffer cannot be printed
    return code


app = typer.Typer(cls=Program, invoke_without_command=True, pretty_exceptions_enable=False)

FIRST_STEPS = """proxembed finds the low-dimensional embedding that serves your labels best. To get started:

  proxembed demo                             find the best embedding of built-in data
  proxembed data table.csv --labels tag      show how a file is read, and the next command
  proxembed search table.csv --labels tag    find the best embedding; write the model and a report

`proxembed --help` lists all commands."""
GROUPS = {
    "Start here": (demo, data, search),
    "One method": (fit, transform, predict, methods),
    "Compare, test and show": (compare, diagnose, map, report),
}


def print_version(asked: bool) -> None:
    """Print the version and exit."""
    if asked:
        from importlib.metadata import version

        typer.echo(f"proxembed {version('proxembed')}")
        raise typer.Exit()


@app.callback()
def program(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", is_eager=True, callback=print_version, help="Print the version."),
) -> None:
    """Find, fit and explain low-dimensional embeddings of rows with labels: one, several, or partly unknown."""
    if context.invoked_subcommand is None:
        typer.echo(FIRST_STEPS)


for group, verbs in GROUPS.items():
    for verb in verbs:
        app.command(cls=Verb, rich_help_panel=group)(verb)


def main() -> None:
    """Run the program."""
    app()
