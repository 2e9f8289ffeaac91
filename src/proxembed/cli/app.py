"""The typer application and its entry point."""

import typer

from .compare import compare
from .data import data
from .demo import demo
from .methods import methods

app = typer.Typer(
    help="Find, fit and explain low-dimensional embeddings of rows with one label, several labels, or some missing.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for verb in (compare, demo, data, methods):
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
