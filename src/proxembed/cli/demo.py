"""`proxembed demo`: the main job on built-in data."""

from pathlib import Path

import typer

from proxembed.execute import clock

from .refusal import refusals
from .search import search_and_show

SECONDS = 40.0


def demo(
    max_seconds: float = typer.Option(SECONDS, "--max-seconds", help="Time limit of the command; cuts are reported."),
    max_work: float = typer.Option(None, "--max-work", help="Limit in units of work; makes a run repeatable."),
    seed: int = typer.Option(0, "--seed", help="Seed of folds, search, shuffles and random projection.", min=0),
    jobs: int = typer.Option(1, "--jobs", "-j", help="Processes; 1 leaves all cores to each fit, -1 is one per core."),
    out: Path = typer.Option(Path("demo"), "--out", "-o", help="Output folder."),
    json_output: bool = typer.Option(False, "--json", help="Print JSON instead of a table."),
) -> None:
    """Search built-in data: 1,797 images of digits with seven attributes each (even, prime, a loop, ...)."""
    started = clock.now()
    with refusals():
        from proxembed.data import digits
        from proxembed.workflow.options import SearchOptions

        options = SearchOptions(max_seconds=max_seconds, max_work=max_work, seed=seed, n_jobs=jobs)
        search_and_show(digits(), options, None, out, json_output, started)
