"""The typer application and its entry point."""

import typer

from .compare import compare
from .data import data
from .demo import demo
from .fit import fit
from .methods import methods
from .predict import predict
from .report import report
from .search import search
from .transform import transform

app = typer.Typer(
    help="Find, fit and explain low-dimensional embeddings of rows with one label, several labels, or some missing.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for verb in (search, fit, transform, predict, compare, report, data, methods, demo):
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
