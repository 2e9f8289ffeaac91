"""`proxembed demo`: the main job on built-in data."""

from pathlib import Path
from typing import Any

import typer

from proxembed.execute import clock

from .options import JSON, takes
from .refusal import refusals
from .search import search_and_show


@takes("search.max_seconds", "search.max_work", "search.seed", "search.n_jobs")
def demo(
    out: Path = typer.Option(Path("demo"), "--out", "-o", help="Output folder."), json_output: bool = JSON, **given: Any
) -> None:
    """Search built-in data: 1,797 images of digits with seven attributes each (even, prime, a loop, ...)."""
    started = clock.now()
    with refusals():
        from proxembed.data import digits
        from proxembed.workflow.options import SearchOptions

        search_and_show(digits(), SearchOptions.of(given), None, out, json_output, started)
