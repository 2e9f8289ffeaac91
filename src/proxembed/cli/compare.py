"""`proxembed compare`: compare methods with rivals on one labelled file."""

from pathlib import Path
from typing import Any

import typer

from .options import (
    DATA,
    ENCODER,
    JSON,
    KEEP_RIVAL,
    TEST,
    check_kept_rival,
    named_encoder,
    program_options,
    save_rival,
    table_options,
    takes,
    training_data,
)
from .refusal import refusals
from .terminal import head, leave_interrupted, print_json, print_summary, progress_bar


@takes("columns", "compare", n_jobs=-1)
def compare(
    file: str = DATA,
    test: Path | None = TEST,
    out: Path | None = typer.Option(None, "--out", "-o", help="Output folder; default NAME-compare."),
    keep_rival: str | None = KEEP_RIVAL,
    encoder: str | None = ENCODER,
    json_output: bool = JSON,
    **given: Any,
) -> None:
    """Compare embeddings with simple rivals by cross-validation."""
    with refusals():
        from proxembed.features.encoded import with_encoder
        from proxembed.workflow.options import CompareOptions

        standard = given["standard_split"] or test is not None
        options = program_options(CompareOptions, given | {"standard_split": standard})
        own = named_encoder(encoder)
        dataset = with_encoder(training_data(file, **table_options(given), test=test), own)
        check_kept_rival(keep_rival, dataset, options.methods)
        folder = out or Path(f"{dataset.name}-compare")
        compare_and_show(dataset, options, Path(file), folder, json_output, keep_rival)


def compare_and_show(
    dataset: Any, options: Any, file: Path, folder: Path, json_output: bool, keep_rival: str | None = None
) -> None:
    """Run a comparison and print its table, or its summary as JSON; after an interruption exit with its code."""
    from proxembed.report.page import planned_folds
    from proxembed.workflow.comparison import run_comparison
    from proxembed.workflow.record import note_written

    with progress_bar(quiet=json_output) as progress:
        found = run_comparison(dataset, options, head("compare", options.seed, file), folder, progress)
        save_rival(found, keep_rival, progress)
    summary, tested = found.record["summary"], found.record["contrasts"]
    done, of = len(set(summary["folds"]) & set(summary["fold_sizes"])), planned_folds(summary["protocol"])
    try:
        with note_written(found.folder):
            if json_output:
                print_json(summary | {"contrasts": tested})
            else:
                cuts = list(summary["protocol"]["cuts"])
                if done < of and not summary["interrupted"]:
                    cuts.append(f"{done} complete folds of {of}")
                print_summary(summary, found.folder.paths, tested, cuts)
    finally:
        if summary["interrupted"]:
            leave_interrupted(f"kept {done} complete folds of {of} in {found.folder.listing}.")
