"""`proxembed demo`: the same comparison on built-in data."""

from pathlib import Path

import typer

from .compare import compare_and_show
from .refusal import refusals

ROWS = 1000  # of the 1,797 images: the verdict takes seconds


def demo(
    seed: int = typer.Option(0, "--seed", help="Seed of folds and rivals.", min=0),
    jobs: int = typer.Option(-1, "--jobs", "-j", help="Processes; -1 is one per core."),
    out: Path = typer.Option(Path("demo"), "--out", "-o", help="Output folder."),
    json_output: bool = typer.Option(False, "--json", help="Print JSON instead of a table."),
) -> None:
    """Compare embeddings of built-in data: 1,000 images of digits with seven attributes (even, prime, a loop, ...)."""
    with refusals():
        from proxembed.data import digits
        from proxembed.workflow.options import CompareOptions

        compare_and_show(
            digits().take(range(ROWS)), CompareOptions(seed=seed, n_jobs=jobs), "demo", None, out, json_output
        )
