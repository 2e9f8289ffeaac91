"""`proxembed demo`: the main job on built-in data."""

from pathlib import Path
from typing import Any

import typer

from proxembed.execute import clock

from .options import JSON, KEEP_RIVAL, check_kept_rival, takes
from .refusal import refusals
from .search import search_and_show

WORK = 13.0  # units of the default budget: the verdict comes within 20 seconds of one core


@takes(
    "search.goal",
    "search.max_seconds",
    "search.max_work",
    "search.embedding",
    "search.seed",
    "search.n_jobs",
    max_seconds=None,
)
def demo(
    out: Path = typer.Option(Path("demo"), "--out", "-o", help="Output folder."),
    keep_rival: str | None = KEEP_RIVAL,
    json_output: bool = JSON,
    **given: Any,
) -> None:
    """Search built-in data: 1,797 images of digits with seven attributes each (even, prime, a loop, ...).

    Without a budget it does 13 units of work: the verdict comes within 20 seconds; --max-seconds 300 tries more.
    """
    started = clock.now()
    given = {name: value for name, value in given.items() if value is not None}
    if not given.keys() & {"max_seconds", "max_work"}:
        given["max_work"] = WORK
    with refusals():
        from proxembed.data import digits
        from proxembed.workflow.options import SearchOptions

        dataset, options = digits(), SearchOptions.of(given)
        check_kept_rival(keep_rival, dataset, options.methods)
        search_and_show(dataset, options, None, out, json_output, started, keep_rival=keep_rival)
