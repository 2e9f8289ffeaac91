"""`proxembed methods`: list the estimators by need, or describe one."""

from itertools import groupby
from typing import Any

import typer

from .options import JSON
from .refusal import refusals
from .terminal import print_json


def methods(
    name: str | None = typer.Argument(None, metavar="NAME", help="An estimator to describe, such as opls."),
    json_output: bool = JSON,
) -> None:
    """List the methods and other estimators by need, or describe one."""
    with refusals():
        from proxembed.estimator.catalogue import described, listed

        found: Any = listed() if name is None else described(name)
        if json_output:
            print_json(found)
        elif name is None:
            show_list(found)
        else:
            show_one(found)


def show_list(rows: list[dict[str, str]]) -> None:
    """Print one paragraph per need, with one line per estimator."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    for need, group in groupby(rows, key=lambda row: row["need"]):
        console.print(Text(f"{need[0].upper()}{need[1:]}", style="bold"))
        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for row in group:
            table.add_row(Text(f"  {row['name']}"), Text(row["summary"]))
        console.print(table)
        console.print()
    console.print(Text(f"{len(rows)} estimators; `proxembed methods NAME` describes one."))


def show_one(row: dict[str, Any]) -> None:
    """Print the docstring of an estimator, and its citation."""
    typer.echo(f"{row['class']} (role {row['role']}; labels: {row['labels']}; for: {row['need']})\n")
    typer.echo(row["doc"])
    if row["citation"]:
        typer.echo(f"\n{row['citation']}")
