"""`proxembed compare`: methods and honest rivals on one labelled file."""

from pathlib import Path

import typer

from .refusal import refusals


def compare(
    file: Path = typer.Argument(metavar="DATA", help="A labelled file: .npz, svmlight or Mulan ARFF (with its XML)."),
    methods: str = typer.Option(None, "--methods", "-m", help='Names separated by commas, or "all"; see `methods`.'),
    sizes: str = typer.Option(None, "-k", help="Numbers of components separated by commas, such as 2,5,10."),
    folds: int = typer.Option(5, "--folds", help="Stratified folds.", min=2),
    test: Path = typer.Option(None, "--test", help="Test file of the same columns; its rows are scored once."),
    standard: bool = typer.Option(False, "--standard-split", help="Also score the test rows that the file names."),
    labels: Path = typer.Option(None, "--labels", help="XML list of the labels of an ARFF file."),
    seed: int = typer.Option(0, "--seed", help="Seed of folds and random projection.", min=0),
    out: Path = typer.Option(None, "--out", "-o", help="Folder of the results [default: NAME-compare]."),
    json_output: bool = typer.Option(False, "--json", help="Print JSON for machines, no table."),
) -> None:
    """Compare embeddings of labelled rows by cross-validation, beside the rivals that they must beat."""
    with refusals():
        from proxembed.data import read

        from .job import run_job

        dataset = read(file, labels=labels, test=test)
        folder = out or Path(f"{dataset.name}-compare")
        run_job(dataset, methods, sizes, folds, standard or test is not None, seed, folder, json_output)
