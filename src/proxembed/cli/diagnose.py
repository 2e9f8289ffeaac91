"""`proxembed diagnose`: one method on held-out rows, on its own rows and on shuffled labels."""

from typing import Any

import typer

from .fit import setting
from .options import (
    DATA,
    ENCODER,
    JSON,
    MEMORY,
    METHOD,
    SAMPLE,
    SETTINGS,
    SIZE,
    checked_data,
    column_values,
    dataset_from,
    large_table,
    named_encoder,
    one_by_one,
    table_options,
    takes,
)
from .refusal import refusals
from .terminal import notes, print_json

SHOWN = 5  # labels served worse


@takes(
    "columns",
    "search.measure",
    "search.folds",
    "search.seed",
    "search.n_jobs",
    "budget",
    "diagnose",
    folds=3,
    n_jobs=-1,
)
def diagnose(
    file: str = DATA,
    method: str = METHOD,
    size: int = SIZE,
    settings: list[str] = SETTINGS,
    memory: str = MEMORY,
    sample: int = SAMPLE,
    encoder: str | None = ENCODER,
    json_output: bool = JSON,
    **given: Any,
) -> None:
    """Test one method: held-out rows against shuffled labels (or outputs), optimism, stability, labels served worse."""
    with refusals():
        from rich.console import Console

        from proxembed.estimator.catalogue import title_of
        from proxembed.features.encoded import with_encoder
        from proxembed.workflow.one_fit import diagnose_method, method_with

        seed, columns, own = given["seed"], table_options(given), named_encoder(encoder, memory=memory, sample=sample)
        covariates = covariates_beside(file, columns, given)
        large = large_table(file, columns, memory, sample, seed) if own is None else None
        if large is not None and covariates is not None:
            raise ValueError("--covariates is for tables in memory; give more --memory, or leave it out.")
        dataset = checked_data(dataset_from(file, **columns) if large is None else large.sample, file)
        dataset = with_encoder(dataset, own)
        parameters = dict(map(setting, settings or []))
        estimator = method_with(method, size, parameters, seed, several_labels=dataset.several_labels)
        options = {
            name: given[name] for name in ("measure", "seed", "n_jobs", "per_component", "max_seconds", "max_work")
        }
        options |= {"n_shuffles": given["shuffles"], "n_resamples": given["halves"], "covariates": covariates}
        with notes(), Console(stderr=True, quiet=json_output).status(f"diagnosing {title_of(estimator)}"):
            found = diagnose_method(dataset, estimator, given["folds"], n_all=large and large.table.n, **options)
        show(found, json_output)


def covariates_beside(file: str, columns: dict[str, Any], given: dict[str, Any]) -> Any:
    """The covariates that --covariates names, by column, or None; ``columns`` then leaves them out of the features."""
    asked = one_by_one(given["covariates"])
    if not asked:
        return None
    from proxembed.tables.reading import quoted
    from proxembed.workflow.labelled_data import covariate_columns

    if not given["per_component"]:
        raise ValueError("--covariates needs --per-component, whose tests take them off; add it, or leave them out.")
    found = covariate_columns(file, asked, **{**column_values(columns), "groups": False})
    columns["drop"] = [*(columns["drop"] or ()), *map(quoted, found)]
    return found


def show(found: dict[str, Any], json_output: bool) -> None:
    """Print the figures, and last the verdict."""
    if json_output:
        print_json(found)
        return
    from proxembed.splits.shuffles import GROUPS, TIMES, counted
    from proxembed.tables.notes import visible

    rows = f"{found['n']:,} rows" + (f" of {found['n_all']:,}" if found["n_all"] else "")
    stable = found["stability"]
    fold = f" of the first fold, against {found['value']:.3f}" if found["value"] != found["held_out"] else ""
    null = f"{min(found['null']):.3f} to {max(found['null']):.3f} in " if found["null"] else ""
    moved = {GROUPS: " of whole groups", TIMES: " along time"}.get(found["unit"], "")
    unit = f"{moved} ({counted(found['distinct'])} possible)" if moved else ""
    least = f", the least that {found['n_shuffles']} show" if found["p"] * (found["n_shuffles"] + 1) < 1.5 else ""
    failed = f", of which {found['failed_shuffles']} could not be scored" if found["failed_shuffles"] else ""
    shuffled = f"shuffled {found['what']}"
    lines = {
        "held-out rows": f"{found['held_out']:.3f} (all features {found['raw']:.3f})",
        "its own rows": f"{found['own_rows']:.3f} (optimism {found['optimism']:+.3f})",
        shuffled: f"{null}{found['n_shuffles']} shuffles{unit}{fold}{failed}, p = {found['p']:.3f}{least}",
        "stability": f"{', '.join(f'{value:.2f}' for value in stable[:10])}{', ...' * (len(stable) > 10)} "
        "(share of each component found again from half of the rows)",
    }
    if not stable:
        lines["stability"] = "not known: no half could be tried"
    if found["failed_resamples"]:
        lines["stability"] += f" ({found['failed_resamples']} halves could not be fitted)"
    count = f", {len(stable)} component{'s' * (len(stable) != 1)}" if stable else ""
    typer.echo(f"{found['method']}{count}: {found['measure']} on {rows}")
    for name, text in lines.items():
        typer.echo(f"  {name:<16} {text}")
    if found["covariates"]:
        covariates = [f"{visible(each['name'])} ({each['kind']})" for each in found["covariates"]]
        typer.echo(f"  {'covariates':<16} {', '.join(covariates)}")
    for row in found["components"]:
        tested = f"pseudo-F {row['statistic']:.3g}, p = {row['p']:.3f} of {row['n_permutations']} shuffles"
        typer.echo(f"  component {row['component']:<6} {tested}, {row['share']:.1%} of the variance of y")
    worse = found["worse_labels"]
    for row in worse[:SHOWN]:
        scores = f"{row['embedded']:.3f} instead of {row['raw']:.3f}, n = {row['n']}"
        typer.echo(f"  worse {found['what'][:-1]:<10} {visible(row['label'])}: {scores}")
    if len(worse) > SHOWN:
        typer.echo(f"                   and {len(worse) - SHOWN} more {found['what']}; --json lists all")
    for line in found["cuts"]:
        typer.echo(f"cut for the budget: {line}")
    for line in found["missing"]:
        typer.echo(f"cut: {line}")
    typer.echo(found["verdict"])
