"""`proxembed methods`: the registered methods."""

import typer

from .refusal import refusals


def methods(json_output: bool = typer.Option(False, "--json", help="Print JSON for machines.")) -> None:
    """List the methods that --methods takes."""
    with refusals():
        from proxembed.catalogue import estimators

        rows = []
        for name, title in sorted((name.lower(), name) for name in estimators()):
            cls = estimators()[title]
            kind = {"single": "one label a row", "multi": "several labels"}.get(cls.labels or "", "no labels needed")
            rows.append({"name": name, "class": title, "labels": kind, "summary": cls.__doc__.strip().splitlines()[0]})
        if json_output:
            import json

            typer.echo(json.dumps(rows, indent=2))
            return
        from rich.console import Console
        from rich.table import Table

        table = Table(title=f"{len(rows)} methods", title_justify="left")
        for heading in ("name", "labels", "what it does"):
            table.add_column(heading, overflow="fold", no_wrap=heading == "name")
        for row in rows:
            table.add_row(row["name"], row["labels"], row["summary"].replace("[", r"\["))
        Console().print(table)
