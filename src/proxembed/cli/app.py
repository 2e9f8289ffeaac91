"""The typer application and its entry point."""

import sys
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup

from .compare import compare
from .data import data
from .demo import demo
from .fit import fit
from .methods import methods
from .predict import predict
from .report import report
from .reproduce import reproduce
from .search import search
from .transform import transform


class Program(TyperGroup):
    """The program, whose words on a wrong option, argument or verb are one line, as for all bad input."""

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any) -> Any:
        """Run a verb; in standalone mode leave with its exit code."""
        if not extra.pop("standalone_mode", True):
            return super().main(args, prog_name, standalone_mode=False, **extra)
        try:
            code = super().main(args, prog_name, standalone_mode=False, **extra)
        except Exception as error:
            words, context = getattr(error, "format_message", None), getattr(error, "ctx", None)
            if words is None:  # not about the command line
                raise
            line = " ".join(words().split()).removesuffix(".")
            if line:  # else the help was shown
                asked = context.command_path if context is not None else "proxembed"
                typer.echo(f"proxembed: {line}{' See' if line[-1] == '?' else '; see'} `{asked} --help`.", err=True)
            code = 2
        sys.exit(code or 0)


app = typer.Typer(
    cls=Program,
    help="Find, fit and explain low-dimensional embeddings of rows with one label, several labels, or some missing.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for verb in (search, fit, transform, predict, compare, report, reproduce, data, methods, demo):
    app.command()(verb)


def main() -> None:
    """Run the program.

    Examples
    --------
    >>> from proxembed.cli import main
    >>> callable(main)
    True
    """
    app()
