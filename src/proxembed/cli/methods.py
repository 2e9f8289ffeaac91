"""`proxembed methods`: the registered estimators by role."""

from itertools import groupby

import typer

from .refusal import refusals
from .terminal import print_json


def methods(json_output: bool = typer.Option(False, "--json", help="Print JSON for machines.")) -> None:
    """List the estimators by role; --method and --methods take the methods and the models."""
    with refusals():
        rows = described()
        if json_output:
            print_json(rows)
            return
        from rich.console import Console
        from rich.table import Table

        table = Table(title=f"{len(rows)} estimators", title_justify="left")
        for heading in ("name", "role", "labels", "what it does"):
            table.add_column(heading, overflow="fold", no_wrap=heading in ("name", "role"))
        for _, group in groupby(rows, key=lambda row: row["role"]):
            for row in group:
                table.add_row(row["name"], row["role"], row["labels"], row["summary"].replace("[", r"\["))
            table.add_section()
        Console().print(table)


def described() -> list[dict[str, str]]:
    """What is listed of every registered estimator, in the order of roles and names."""
    from proxembed.base import ROLES
    from proxembed.catalogue import estimators

    rows = []
    for role in ROLES:
        for name, title, cls in sorted((title.lower(), title, cls) for title, cls in estimators(role).items()):
            kind = {"single": "one label per row", "multi": "several labels"}.get(cls.labels or "", "no labels needed")
            summary = (cls.__doc__ or "").strip().partition("\n")[0]
            rows.append({"name": name, "class": title, "role": role, "labels": kind, "summary": summary})
    return rows
