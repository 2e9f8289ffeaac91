"""`proxembed demo`: the same comparison on built-in data."""

from pathlib import Path

import typer

from .refusal import refusals


def demo(
    seed: int = typer.Option(0, "--seed", help="Seed of folds and random projection.", min=0),
    out: Path = typer.Option(Path("demo"), "--out", "-o", help="Folder of the results."),
    json_output: bool = typer.Option(False, "--json", help="Print JSON for machines, no table."),
) -> None:
    """Run the comparison on built-in data: images of digits with attributes (even, prime, has a loop, ...)."""
    with refusals():
        from proxembed.data import digits

        from .job import run_job

        run_job(digits(), None, None, 5, False, seed, out, json_output)
