"""`proxembed search`: find the embedding that serves the labels of a file best."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import typer

from proxembed.execute import clock
from proxembed.workflow.options import SearchOptions

from .columns import (
    CATEGORY,
    DECIMAL,
    DROP,
    GROUPS,
    ID,
    KEEP,
    LABELS,
    MISSING,
    SEPARATOR,
    TARGET_TYPE,
    TEXT,
    TIME,
    UNKNOWN,
    checked_data,
    large_table,
    table_options,
    training_data,
)
from .interruption import leave_interrupted
from .options import DASK, ENGINE, GOAL, MEASURE, MEMORY, SAMPLE, STRATEGY, TOLERANCE, complete_methods, parse_sizes
from .refusal import refusals
from .terminal import head, notes, print_json, print_summary, progress_bar

SEARCHED = typer.Option(
    None, "--methods", "-m", help="Names separated by commas; default all.", autocompletion=complete_methods
)


def search(
    file: str = typer.Argument(metavar="DATA", help="A labelled file, a folder of Parquet files, or openml:NAME."),
    labels: list[str] = LABELS,
    text: list[str] = TEXT,
    id: str = ID,
    groups: str = GROUPS,
    time: str = TIME,
    drop: list[str] = DROP,
    keep: list[str] = KEEP,
    missing: list[str] = MISSING,
    decimal: str = DECIMAL,
    category: list[str] = CATEGORY,
    unknown: str = UNKNOWN,
    separator: str = SEPARATOR,
    target_type: str = TARGET_TYPE,
    test: Path | None = typer.Option(None, "--test", help="Test file with the same columns; its rows are scored once."),
    engine: str = ENGINE,
    methods: str = SEARCHED,
    strategy: str = STRATEGY,
    classifier: str = typer.Option(None, "--classifier", help="With --engine defc: 1nn (the default), flda or svm."),
    sizes: str = typer.Option(None, "-k", help="Numbers of components separated by commas, such as 2,5,10."),
    max_seconds: float = typer.Option(60.0, "--max-seconds", help="Time limit of the command; cuts are reported."),
    max_work: float = typer.Option(None, "--max-work", help="Limit in units of work; makes a run repeatable."),
    max_trials: int = typer.Option(None, "--max-trials", help="Largest number of configurations."),
    folds: int = typer.Option(5, "--folds", help="Number of folds of the comparison with rivals.", min=2),
    shuffles: int = typer.Option(20, "--shuffles", help="Label shuffles in the diagnosis; 0 for none.", min=0),
    goal: str = GOAL,
    measure: str = MEASURE,
    tolerance: float = TOLERANCE,
    refit_all: bool = typer.Option(False, "--refit-all", help="Also fit the saved model on the rows of --test."),
    memory: str = MEMORY,
    sample: int = SAMPLE,
    seed: int = typer.Option(0, "--seed", help="Seed of folds, search, shuffles and random projection.", min=0),
    jobs: int = typer.Option(1, "--jobs", "-j", help="Processes; 1 leaves all cores to each fit, -1 is one per core."),
    dask: str = DASK,
    out: Path | None = typer.Option(None, "--out", "-o", help="Output folder; default NAME-search."),
    resume: bool = typer.Option(False, "--resume", help="Continue an interrupted run of this command in its folder."),
    json_output: bool = typer.Option(False, "--json", help="Print JSON instead of a table."),
) -> None:
    """Find the embedding that serves the labels best, compare it with simple rivals, and save it."""
    started = clock.now()
    with refusals():
        options = search_options(locals())
        large = large_table(file, table_options(locals()), memory, sample, seed) if test is None else None
        if large is None:
            dataset = training_data(file, **table_options(locals()), test=test)
        else:
            dataset, options = checked_data(large.sample, file), of_large(options)
        folder = out or Path(f"{dataset.name}-search")
        search_and_show(dataset, options, Path(file), folder, json_output, started, resume, large)


def search_options(given: dict[str, Any]) -> SearchOptions:
    """The search options among the arguments of the command.

    Examples
    --------
    >>> from proxembed.cli.search import search_options
    >>> search_options({"sizes": "5,2", "jobs": 2, "seed": 3}).n_components
    (2, 5)
    """
    others = {each.name: given[each.name] for each in fields(SearchOptions) if each.name in given}
    return SearchOptions(n_components=parse_sizes(given["sizes"]), n_jobs=given["jobs"], **others)


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
) -> None:
    """Run a search and print its leaderboard, or its summary as JSON; exit after an interruption."""
    from proxembed.workflow.main_job import run_search
    from proxembed.workflow.run_folder import note_written

    with notes(), progress_bar(quiet=json_output) as progress:
        run = head("search", options.seed, file)
        found = run_search(dataset, options, run, folder, progress, started, resume, large)
    listing = found.folder.listing
    if not found.compared:
        leave_interrupted(f"the best so far ({found.name}), not yet compared with rivals, is in {listing}.")
    try:
        with note_written(found.folder):
            if json_output:
                print_json(found.record["summary"])
            else:
                budget = found.record["search"]["budget"]
                print_summary(found.record["summary"], found.folder.paths, cuts=budget["cuts"], repeat=budget["repeat"])
    finally:
        if found.interrupted:
            leave_interrupted(f"the finished part is in {listing}.")
