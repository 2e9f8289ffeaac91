"""`proxembed demo`: the same comparison on built-in data."""

from pathlib import Path

import typer

from .checks import check_limits
from .refusal import refusals


def demo(
    seed: int = typer.Option(0, "--seed", help="Seed of folds and rivals.", min=0),
    jobs: int = typer.Option(-1, "--jobs", "-j", help="Processes; -1 is one a core."),
    out: Path = typer.Option(Path("demo"), "--out", "-o", help="Folder of the results."),
    json_output: bool = typer.Option(False, "--json", help="Print JSON for machines, no table."),
) -> None:
    """Run the comparison on built-in data: images of digits with attributes (even, prime, has a loop, ...)."""
    with refusals():
        check_limits(jobs)
        from proxembed.data import digits

        from .job import Job, run_job

        run_job(Job("demo", out, seed=seed, jobs=jobs, quiet=json_output), digits())
