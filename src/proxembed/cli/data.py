"""`proxembed data`: describe a labelled file."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from .options import JSON, TEST, dataset_from, in_program_words, takes
from .refusal import refusals
from .terminal import command, print_json

if TYPE_CHECKING:
    from proxembed.data import Dataset


@takes("columns")
def data(
    file: str = typer.Argument(
        metavar="DATA",
        help="A labelled file: CSV, Parquet or a folder of Parquet files, .npz, .npy, svmlight, ARFF; or openml:NAME.",
    ),
    test: Path | None = TEST,
    json_output: bool = JSON,
    **given: Any,
) -> None:
    """Show how a labelled file is read: columns, sizes, labels and possible problems."""
    with refusals():
        dataset = dataset_from(file, **given, test=test)
        facts = dataset.describe()
        if json_output:
            print_json(facts | {"columns": dataset.columns})
            return
        print_card(dataset, facts)
        found = None if given["groups"] else (dataset.source or {}).get("groups")
        typer.echo(next_step(dataset, file, found))


def print_card(dataset: Dataset, facts: dict[str, Any]) -> None:
    """Print how each column was read, and the facts on the data set."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from proxembed.report import data_card
    from proxembed.tables.notes import visible

    console = Console()
    if dataset.columns is not None:
        table = Table("column", "read as", "for example")
        for column in dataset.columns:
            table.add_row(*map(Text, map(visible, column)))
        console.print(table)
    table = Table(show_header=False)
    for what, value in data_card(facts):
        table.add_row(what, Text(visible(value)))
    console.print(table)


def next_step(dataset: Dataset, file: str, groups: str | None) -> str:
    """The search command to run next, or what must be fixed before."""
    from proxembed.workflow.labelled_data import check_labels

    try:
        check_labels(dataset, file)
    except ValueError as error:
        return f"fix before a search: {in_program_words(str(error))}"
    return f"next: {proposed(command(), groups)}"


def proposed(described: str, groups: str | None = None) -> str:
    """The search command with the options of ``proxembed data``, and the groups that were found."""
    words = shlex.split(described)
    named = [] if groups is None else ["--groups", groups]
    return shlex.join([words[0], "search", *(word for word in words[2:] if word != "--json"), *named])
