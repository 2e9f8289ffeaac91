"""`proxembed data`: describe a labelled data file."""

from pathlib import Path

import typer

from .columns import DROP, GROUPS, ID, LABELS, SEPARATOR, TEXT, TIME, dataset_from
from .refusal import refusals


def data(
    file: str = typer.Argument(
        metavar="DATA", help="A labelled file: CSV, Parquet, .npz, .npy, svmlight, ARFF; or openml:NAME."
    ),
    labels: list[str] = LABELS,
    text: str = TEXT,
    id: str = ID,
    groups: str = GROUPS,
    time: str = TIME,
    drop: list[str] = DROP,
    separator: str = SEPARATOR,
    test: Path = typer.Option(None, "--test", help="Test file of the same columns."),
    json_output: bool = typer.Option(False, "--json", help="Print JSON for machines."),
) -> None:
    """Describe a labelled data file: sizes, labels, and rows and columns to be wary of."""
    with refusals():
        facts = dataset_from(file, labels, text, id, groups, time, drop, separator, test).describe()
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
