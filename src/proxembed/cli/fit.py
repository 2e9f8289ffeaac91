"""`proxembed fit`: fit one method on one labelled file and save the model."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import typer

from .options import (
    DATA,
    ENCODER,
    JSON,
    JUDGED,
    MEMORY,
    METHOD,
    SAMPLE,
    SETTINGS,
    SIZE,
    TIME,
    dataset_from,
    large_table,
    named_encoder,
    table_options,
    takes,
)
from .refusal import refusals
from .terminal import command, notes, print_json, progress_bar


def setting(text: str) -> tuple[str, object]:
    """Read one --set NAME=VALUE; JSON (a number, true, null) is parsed, anything else is text."""
    import json

    name, equals, value = text.partition("=")
    if not (name and equals):
        raise ValueError(f"--set {text!r} must be NAME=VALUE, such as ridge=0.1.")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, a list of thousands of brackets
        raise ValueError(f"--set {name}: the value of {len(value):,} characters cannot be read.") from error


PARTS_DASK = typer.Option(
    None,
    "--dask",
    metavar="local|ADDRESS",
    help="Read Parquet by parts on a dask cluster: local workers, one per core, or the workers of the scheduler at "
    "ADDRESS, which must see DATA under the same path.",
    rich_help_panel=TIME,
)


@takes("columns", "search.seed", "budget")
def fit(
    file: str = DATA,
    method: str = METHOD,
    size: int = SIZE,
    settings: list[str] = SETTINGS,
    standard: bool = typer.Option(
        False, "--standard-split", help="Fit only the training rows named in the file.", rich_help_panel=JUDGED
    ),
    memory: str = MEMORY,
    sample: int = SAMPLE,
    dask: str = PARTS_DASK,
    encoder: str | None = ENCODER,
    out: Path | None = typer.Option(None, "--out", "-o", help="Model file (.skops); default NAME.skops."),
    json_output: bool = JSON,
    **given: Any,
) -> None:
    """Fit one method with scaling and a predictor of the labels or numbers, and save it with a model card."""
    with refusals():
        from proxembed.estimator.catalogue import title_of
        from proxembed.features.encoded import with_encoder
        from proxembed.persist import check_model_path
        from proxembed.workflow.labelled_data import check_labels
        from proxembed.workflow.large_fit import fits_from_sums
        from proxembed.workflow.one_fit import fit_and_save, method_with, training_rows

        if out is not None:
            check_model_path(check_suffix(out))
        check_dask(dask, file, standard)
        seed, columns, own = (
            given["seed"],
            table_options(given),
            named_encoder(encoder, memory=memory, sample=sample, dask=dask),
        )
        made = partial(method_with, method, size, dict(map(setting, settings or [])), seed)

        def by_sums(single: bool) -> bool:
            return fits_from_sums(made(several_labels=not single))

        whole = standard or own is not None
        large = None if whole else large_table(file, columns, memory, sample, seed, dask is not None, by_sums)
        dataset = with_encoder(dataset_from(file, **columns), own) if large is None else large.sample
        path = check_model_path(out or Path(f"{dataset.name}.skops"))
        dataset = training_rows(dataset) if standard else dataset
        check_labels(dataset, file)
        single = dataset.single_label if large is None else large.table.single_label
        estimator = made(several_labels=not single and dataset.outputs is None)
        with notes(), fitting(title_of(estimator), large is not None, json_output, dask) as progress:
            budget = {name: given[name] for name in ("max_seconds", "max_work")}
            done = fit_and_save(dataset, estimator, path, command(), large, progress, **budget)
        show(done, json_output)


def check_dask(dask: str | None, file: str, standard: bool) -> None:
    """Raise a ValueError if --dask names no cluster or does not apply."""
    from proxembed.workflow.options import check_cluster

    check_cluster(dask)
    if dask is not None and (standard or file.startswith("openml:")):
        what = "--standard-split" if standard else file
        raise ValueError(f"--dask {dask} reads Parquet files by parts, which {what} does not allow; leave it out.")


@contextmanager
def fitting(title: str, parts: bool, quiet: bool, dask: str | None = None) -> Iterator[Callable[..., Any]]:
    """Show progress over the rows if they are read by parts, here or on a cluster; else a line during the fit."""
    from joblib import effective_n_jobs
    from rich.console import Console

    from proxembed.blocks.cluster import on_cluster

    if parts:
        with on_cluster(dask, effective_n_jobs(-1)), progress_bar(quiet) as progress:
            yield progress
    else:
        with Console(stderr=True, quiet=quiet).status(f"fitting {title}"):
            yield lambda *arguments: None


def check_suffix(path: Path) -> Path:
    """Return the path of a model, whose name must end in .skops."""
    if path.suffix != ".skops":
        raise ValueError(f"-o {str(path)!r} must end in .skops, the only format of a model: -o {path.stem}.skops.")
    return path


def show(done: dict[str, Any], json_output: bool) -> None:
    """Print what was fitted and written."""
    if json_output:
        print_json(done)
        return
    rows = f"{done['rows']:,} rows"
    if "sample" in done:
        of_sample = [part for part, by in (("scaling", "scaled_by"), ("read-out", "read_out_by")) if done[by] != "all"]
        rows += f" ({' and '.join(of_sample)} of {done['sample']:,})" if of_sample else ""
    what, count = ("output", done["outputs"]) if "outputs" in done else ("label", done["labels"])
    size = f"{rows}, {done['features']:,} features, {count} {what}{'s' * (count != 1)}"
    components = f"{done['components']} component{'s' * (done['components'] != 1)}"
    typer.echo(f"{done['method']}: {components} of {size} in {done['seconds']:.1f} s")
    if names := done.get("feature_names"):
        from proxembed.tables.notes import few_names, visible

        typer.echo(f"features: {visible(few_names(names))}")
    typer.echo(f"written: {', '.join(done['written'])}")
