"""`proxembed compare`: compare methods with rivals on one labelled file."""

from pathlib import Path
from typing import Any

import typer

from proxembed.workflow.options import CompareOptions

from .columns import (
    CATEGORY,
    DECIMAL,
    DROP,
    EMPTY,
    GROUPS,
    ID,
    KEEP,
    LABELS,
    MISSING,
    SEPARATOR,
    TARGET_TYPE,
    TEXT,
    TIME,
    table_options,
    training_data,
)
from .interruption import leave_interrupted
from .options import DASK, MEASURE, METHODS, TOLERANCE, parse_contrasts, parse_sizes
from .refusal import refusals
from .terminal import head, print_json, print_summary, progress_bar


def compare(
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
    empty: str = EMPTY,
    separator: str = SEPARATOR,
    target_type: str = TARGET_TYPE,
    test: Path = typer.Option(None, "--test", help="Test file with the same columns; its rows are scored once."),
    standard: bool = typer.Option(False, "--standard-split", help="Also score the test rows named in the file."),
    methods: str = METHODS,
    sizes: str = typer.Option(None, "-k", help="Numbers of components separated by commas, such as 2,5,10."),
    folds: int = typer.Option(5, "--folds", help="Number of folds: stratified, or by --groups or --time.", min=2),
    repeats: int = typer.Option(1, "--repeats", help="Repetitions of the folds with other seeds.", min=1),
    least: int = typer.Option(1, "--min-positives", help="Held-out positives that a label needs to be scored.", min=1),
    max_seconds: float = typer.Option(None, "--max-seconds", help="Time limit per arm and fold; more is a loss."),
    pairs: list[str] = typer.Option(None, "--contrast", metavar="A:B", help="Two arms to compare, such as opls:raw."),
    measure: str = MEASURE,
    tolerance: float = TOLERANCE,
    seed: int = typer.Option(0, "--seed", help="Seed of folds and rivals.", min=0),
    jobs: int = typer.Option(-1, "--jobs", "-j", help="Processes; -1 is one per core."),
    dask: str = DASK,
    out: Path | None = typer.Option(None, "--out", "-o", help="Output folder; default NAME-compare."),
    json_output: bool = typer.Option(False, "--json", help="Print JSON instead of a table."),
) -> None:
    """Compare embeddings with simple rivals by cross-validation."""
    with refusals():
        options = CompareOptions(
            methods=methods,
            n_components=parse_sizes(sizes),
            folds=folds,
            repeats=repeats,
            standard_split=standard or test is not None,
            min_positives=least,
            max_seconds=max_seconds,
            contrasts=parse_contrasts(pairs or ()),
            seed=seed,
            n_jobs=jobs,
            measure=measure,
            tolerance=tolerance,
            dask=dask,
        )
        dataset = training_data(file, **table_options(locals()), test=test)
        compare_and_show(dataset, options, Path(file), out or Path(f"{dataset.name}-compare"), json_output)


def compare_and_show(dataset: Any, options: Any, file: Path, folder: Path, json_output: bool) -> None:
    """Run a comparison and print its table, or its summary as JSON; after an interruption exit with its code."""
    from proxembed.workflow.comparison import run_comparison
    from proxembed.workflow.run_folder import note_written

    with progress_bar(quiet=json_output) as progress:
        found = run_comparison(dataset, options, head("compare", options.seed, file), folder, progress)
    summary, tested = found.record["summary"], found.record["contrasts"]
    try:
        with note_written(found.folder):
            if json_output:
                print_json(summary | {"contrasts": tested})
            else:
                print_summary(summary, found.folder.paths, tested)
    finally:
        if summary["interrupted"]:
            done, of = len(set(summary["folds"]) & set(summary["fold_sizes"])), options.folds * options.repeats
            leave_interrupted(f"kept {done} complete folds of {of} in {found.folder.listing}.")
