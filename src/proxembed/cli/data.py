"""`proxembed data`: describe a labelled data file."""

from pathlib import Path

import typer

from .refusal import refusals


def data(
    file: Path = typer.Argument(help="A labelled file: .npz, svmlight or Mulan ARFF (with its XML)."),
    labels: Path = typer.Option(None, "--labels", help="XML list of the labels of an ARFF file."),
    json_output: bool = typer.Option(False, "--json", help="Print JSON for machines."),
) -> None:
    """Describe a labelled data file: sizes, labels, and rows and columns to be wary of."""
    with refusals():
        from proxembed.data import read

        facts = read(file, labels=labels).describe()
        if json_output:
            import json

            typer.echo(json.dumps(facts, indent=2))
            return
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        from proxembed.report import data_card

        table = Table(show_header=False)
        for what, value in data_card(facts):
            table.add_row(what, Text(value))
        Console().print(table)
