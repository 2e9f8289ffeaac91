"""`proxembed map`: draw a map of the rows of a labelled file."""

from pathlib import Path
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
    dataset_from,
    table_options,
)
from .options import complete_methods
from .refusal import refusals
from .terminal import command, notes, print_json, progress_bar


def map(
    file: str = typer.Argument(metavar="DATA", help="A labelled file, a folder of Parquet files, or openml:NAME."),
    method: str = typer.Option(
        None,
        "--method",
        "-m",
        help="Method whose components are laid out; default Kernelized(OPLS).",
        autocompletion=complete_methods,
    ),
    layout: str = typer.Option(
        "auto", "--layout", help="opentsne, umap, sklearn, or auto: the first that is installed."
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
    test: Path = typer.Option(None, "--test", help="Test file with the same columns; its rows are held out."),
    seed: int = typer.Option(0, "--seed", help="Seed of held-out rows, folds and positions.", min=0),
    out: list[Path] = typer.Option(
        [Path("map.html")], "--out", "-o", help="A .html, .png or .svg file; may be repeated."
    ),
    json_output: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Draw a map of the rows, with held-out rows and the map of shuffled labels beside it."""
    with refusals():
        from proxembed.persist.whole import check_writable
        from proxembed.workflow.map_job import check_map_path, draw_map, map_facts, write_map

        for path in out:
            check_writable(check_map_path(path))
        dataset = dataset_from(file, **table_options(locals()), test=test)
        with notes(), progress_bar(json_output) as progress:
            record = draw_map(dataset, method, layout, seed=seed, command=command(), progress=progress)
            for path in out:
                write_map(record, path)
        show(map_facts(record) | {"written": [str(path) for path in out]}, json_output)


def show(done: dict[str, Any], json_output: bool) -> None:
    """Print the Jaccard@10 of the maps, and what was written."""
    if json_output:
        print_json(done)
        return
    from proxembed.proximity.layouts import TITLES

    rows = f"{done['train']:,} training rows, {done['held_out']:,} held out"
    typer.echo(f"{done['method']}, laid out by {TITLES[done['layout']]}: {rows}")
    for each in done["maps"]:
        for name, values in ((f"{each['map']} map", each), ("  on shuffled labels", each["null"])):
            typer.echo(
                f"{name:<20} Jaccard@10 {values['inside']:.3f} of training rows, {values['outside']:.3f} of held-out "
                f"rows, {values['among']:.3f} among held-out rows"
            )
    typer.echo(f"{'by chance':<20} Jaccard@10 {done['chance']:.3f}")
    typer.echo(f"written: {', '.join(done['written'])}")
