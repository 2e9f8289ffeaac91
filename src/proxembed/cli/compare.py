"""`proxembed compare`: methods and honest rivals on one labelled file."""

from pathlib import Path

import typer

from .checks import check_labels, check_limits
from .columns import DROP, GROUPS, ID, LABELS, SEPARATOR, TEXT, TIME, dataset_from
from .refusal import refusals


def compare(
    file: str = typer.Argument(metavar="DATA", help="A labelled file, or openml:NAME; see `proxembed data`."),
    labels: list[str] = LABELS,
    text: str = TEXT,
    id: str = ID,
    groups: str = GROUPS,
    time: str = TIME,
    drop: list[str] = DROP,
    separator: str = SEPARATOR,
    test: Path = typer.Option(None, "--test", help="Test file of the same columns; its rows are scored once."),
    standard: bool = typer.Option(False, "--standard-split", help="Also score the test rows that the file names."),
    methods: str = typer.Option(None, "--methods", "-m", help='Names separated by commas, or "all"; see `methods`.'),
    sizes: str = typer.Option(None, "-k", help="Numbers of components separated by commas, such as 2,5,10."),
    folds: int = typer.Option(5, "--folds", help="Folds: stratified, or by --groups or --time.", min=2),
    repeats: int = typer.Option(1, "--repeats", help="Repeats of the folds with other seeds.", min=1),
    least: int = typer.Option(1, "--min-positives", help="Held-out positives a label needs to be scored.", min=1),
    max_seconds: float = typer.Option(None, "--max-seconds", help="Budget of each arm on each fold; more is a loss."),
    pairs: list[str] = typer.Option(
        None, "--contrast", metavar="A:B", help="Arms to test, such as opls:raw; repeat it."
    ),
    seed: int = typer.Option(0, "--seed", help="Seed of folds and rivals.", min=0),
    jobs: int = typer.Option(-1, "--jobs", "-j", help="Processes; -1 is one a core."),
    out: Path = typer.Option(None, "--out", "-o", help="Folder of the results; without it NAME-compare."),
    json_output: bool = typer.Option(False, "--json", help="Print JSON for machines, no table."),
) -> None:
    """Compare embeddings of labelled rows by cross-validation, beside the rivals that they must beat."""
    with refusals():
        check_limits(jobs, max_seconds)
        dataset = dataset_from(file, labels, text, id, groups, time, drop, separator, test)
        check_labels(dataset, file)
        from .job import Job, run_job

        folder = out or Path(f"{dataset.name}-compare")
        options = {"methods": methods, "sizes": sizes, "folds": folds, "repeats": repeats, "min_positives": least}
        options |= {"max_seconds": max_seconds, "pairs": tuple(pairs or ()), "seed": seed, "jobs": jobs}
        job = Job("compare", folder, Path(file), standard=standard or test is not None, quiet=json_output, **options)
        run_job(job, dataset)
