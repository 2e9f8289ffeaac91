"""`proxembed search`: find the embedding that serves the labels of a file best."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from proxembed.execute import clock

from .options import (
    DATA,
    ENCODER,
    JSON,
    KEEP_RIVAL,
    MEMORY,
    SAMPLE,
    TEST,
    check_kept_rival,
    checked_data,
    large_table,
    named_encoder,
    program_options,
    save_rival,
    table_options,
    takes,
    training_data,
)
from .refusal import refusals
from .terminal import EarlyVerdict, head, leave_interrupted, notes, print_json, progress_bar

if TYPE_CHECKING:
    from proxembed.workflow.options import SearchOptions


FINISHES = "the same command with --resume finishes it"


@takes("columns", "search")
def search(
    file: str = DATA,
    test: Path | None = TEST,
    memory: str = MEMORY,
    sample: int = SAMPLE,
    out: Path | None = typer.Option(None, "--out", "-o", help="Output folder; default NAME-search."),
    resume: bool = typer.Option(False, "--resume", help="Continue an interrupted run of this command in its folder."),
    keep_rival: str | None = KEEP_RIVAL,
    encoder: str | None = ENCODER,
    json_output: bool = JSON,
    **given: Any,
) -> None:
    """Find the embedding that serves the labels or numbers best, compare it with simple rivals, and save it."""
    started = clock.now()
    with refusals():
        from proxembed.features.encoded import with_encoder
        from proxembed.workflow.options import SearchOptions

        options, columns, own = (
            program_options(SearchOptions, given),
            table_options(given),
            named_encoder(encoder, memory=memory, sample=sample),
        )
        large = large_table(file, columns, memory, sample, options.seed) if test is None and own is None else None
        if large is None:
            dataset = with_encoder(training_data(file, **columns, test=test), own)
        else:
            dataset, options = checked_data(large.sample, file), of_large(options)
        folder = out or Path(f"{dataset.name}-search")
        check_kept_rival(keep_rival, dataset, options.methods)
        search_and_show(dataset, options, Path(file), folder, json_output, started, resume, large, keep_rival)


def of_large(options: SearchOptions) -> SearchOptions:
    """The options of a search whose choice is fitted by parts; if no methods are named, only those that allow it."""
    from proxembed.workflow.large_fit import methods_by_parts

    free = options.engine == "methods" and options.methods is None
    return replace(options, methods=methods_by_parts()) if free else options


def search_and_show(
    dataset: Any,
    options: SearchOptions,
    file: Path | None,
    folder: Path,
    json_output: bool,
    started: float,
    resume: bool = False,
    large: Any = None,
    keep_rival: str | None = None,
) -> None:
    """Run a search and print leaderboard and verdict before the page is made, or the summary as JSON at the end; exit
    after an interruption."""
    from proxembed.workflow.main_job import run_search
    from proxembed.workflow.record import note_written

    with notes(), progress_bar(quiet=json_output) as progress:
        run = head("search", options.seed, file)
        early = EarlyVerdict(progress)
        judged = None if json_output else early
        found = run_search(dataset, options, run, folder, progress, started, resume, large, judged)
        save_rival(found, keep_rival, progress)
    listing = found.folder.listing
    if not found.compared:
        leave_interrupted(f"the best so far ({found.name}), not yet compared with rivals, is in {listing}; {FINISHES}.")
    try:
        with note_written(found.folder):
            if json_output:
                print_json(found.record["summary"])
            else:
                budget = found.record["search"]["budget"]
                early.finish(found.record["summary"], found.folder.paths, budget["cuts"], budget["repeat"])
    finally:
        if found.interrupted:
            leave_interrupted(f"the finished part is in {listing}; {FINISHES}.")
