"""`proxembed diagnose`: one method on held-out rows, on its own rows and on shuffled labels."""

from typing import Any

import typer

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
    checked_data,
    dataset_from,
    large_table,
    table_options,
)
from .fit import setting
from .options import MEMORY, METHOD, SAMPLE
from .refusal import refusals
from .terminal import notes, print_json

SHOWN = 5  # labels served worse


def diagnose(
    file: str = typer.Argument(metavar="DATA", help="A labelled file, a folder of Parquet files, or openml:NAME."),
    method: str = METHOD,
    size: int = typer.Option(None, "-k", help="Number of components; by default that of the method.", min=1),
    settings: list[str] = typer.Option(
        None, "--set", metavar="NAME=VALUE", help="A parameter of the method; may be repeated."
    ),
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
    measure: str = typer.Option(
        "macro average precision",
        "--measure",
        help="Measure: macro average precision, Jaccard@10, macro AUC, ...",
    ),
    shuffles: int = typer.Option(20, "--shuffles", help="Number of shuffles of the labels; a verdict needs 19.", min=1),
    halves: int = typer.Option(10, "--halves", help="Number of random halves of the rows, for the stability.", min=1),
    folds: int = typer.Option(3, "--folds", help="Number of folds: stratified, or by --groups or --time.", min=2),
    memory: str = MEMORY,
    sample: int = SAMPLE,
    seed: int = typer.Option(0, "--seed", help="Seed of folds, shuffles, halves and random methods.", min=0),
    jobs: int = typer.Option(-1, "--jobs", "-j", help="Processes; -1 is one per core."),
    json_output: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Test one method: held-out rows against shuffled labels, optimism, stability, labels served worse."""
    with refusals():
        from rich.console import Console

        from proxembed.evaluate.arms import title_of
        from proxembed.workflow.one_diagnosis import diagnose_method
        from proxembed.workflow.one_fit import method_with

        large = large_table(file, table_options(locals()), memory, sample, seed)
        dataset = dataset_from(file, **table_options(locals())) if large is None else large.sample
        dataset = checked_data(dataset, file)
        given = dict(map(setting, settings or []))
        estimator = method_with(method, size, given, seed, several_labels=not dataset.single_label)
        options = {"n_shuffles": shuffles, "n_resamples": halves, "measure": measure, "seed": seed, "n_jobs": jobs}
        with notes(), Console(stderr=True, quiet=json_output).status(f"diagnosing {title_of(estimator)}"):
            found = diagnose_method(dataset, estimator, folds, n_all=large and large.table.n, **options)
        show(found, json_output)


def show(found: dict[str, Any], json_output: bool) -> None:
    """Print the figures, and last the verdict."""
    if json_output:
        print_json(found)
        return
    from proxembed.tables.visible import visible

    rows = f"{found['n']:,} rows" + (f" of {found['n_all']:,}" if found["n_all"] else "")
    stable = found["stability"]
    low, high = min(found["null"]), max(found["null"])
    lines = {
        "held-out rows": f"{found['held_out']:.3f} (all features {found['raw']:.3f})",
        "its own rows": f"{found['own_rows']:.3f} (optimism {found['optimism']:+.3f})",
        "shuffled labels": f"{low:.3f} to {high:.3f} in {found['n_shuffles']} shuffles, p = {found['p']:.3f}",
        "stability": f"{', '.join(f'{value:.2f}' for value in stable[:10])}{', ...' * (len(stable) > 10)} "
        "(share of each component found again from half of the rows)",
    }
    if found["failed_resamples"]:
        lines["stability"] += f" ({found['failed_resamples']} halves could not be fitted)"
    typer.echo(f"{found['method']}, {len(stable)} components: {found['measure']} on {rows}")
    for name, text in lines.items():
        typer.echo(f"  {name:<16} {text}")
    worse = found["worse_labels"]
    for row in worse[:SHOWN]:
        scores = f"{row['embedded']:.3f} instead of {row['raw']:.3f}, n = {row['n']}"
        typer.echo(f"  worse label      {visible(row['label'])}: {scores}")
    if len(worse) > SHOWN:
        typer.echo(f"                   and {len(worse) - SHOWN} more labels; --json lists all")
    typer.echo(found["verdict"])
