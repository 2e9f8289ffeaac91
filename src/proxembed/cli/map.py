"""`proxembed map`: draw a map of the rows of a labelled file."""

from pathlib import Path
from typing import Any

import typer

from .options import (
    DATA,
    ENCODER,
    JSON,
    TEST,
    TRIED,
    complete_methods,
    dataset_from,
    named_encoder,
    table_options,
    takes,
)
from .refusal import refusals
from .terminal import command, notes, print_json, progress_bar


@takes("columns", "search.seed", "budget")
def map(
    file: str = DATA,
    method: str = typer.Option(
        None,
        "--method",
        "-m",
        help="Method whose components are laid out; by default TargetSpace, of numbers or many rows Kernelized(OPLS).",
        autocompletion=complete_methods,
        rich_help_panel=TRIED,
    ),
    layout: str = typer.Option(
        "auto",
        help="opentsne, umap, sklearn, components (none), or auto: the first that is installed, components for at most "
        "two outputs.",
        rich_help_panel=TRIED,
    ),
    test: Path | None = TEST,
    out: list[Path] = typer.Option(
        [Path("map.html")],
        "--out",
        "-o",
        help="A .html, .png or .svg file, or a .parquet table for embedding-atlas; may be repeated.",
    ),
    features: bool = typer.Option(
        True,
        "--features/--no-features",
        help="Whether the page holds values of features, at most two million, which a box on it compares.",
    ),
    encoder: str | None = ENCODER,
    json_output: bool = JSON,
    **given: Any,
) -> None:
    """Draw a map of the rows, with held-out rows and the map of shuffled labels, or outputs, beside it."""
    with refusals():
        from proxembed.execute.atomic_files import check_writable
        from proxembed.features.encoded import with_encoder
        from proxembed.workflow.one_fit import check_map_path, draw_map, map_facts, write_map

        for path in out:
            check_writable(check_map_path(path))
        own = named_encoder(encoder)
        dataset = with_encoder(dataset_from(file, **table_options(given), test=test), own)
        with notes(), progress_bar(json_output) as progress:
            asked = {name: given[name] for name in ("seed", "max_seconds", "max_work")}
            asked["table"] = any(path.suffix == ".parquet" for path in out)
            asked["features"] = features
            record = draw_map(dataset, method, layout, **asked, command=command(), progress=progress)
            for path in out:
                write_map(record, path)
        show(map_facts(record) | {"written": [str(path) for path in out]}, json_output)


def show(done: dict[str, Any], json_output: bool) -> None:
    """Print the Jaccard@10, or A@10, of the maps, and what was written."""
    if json_output:
        print_json(done)
        return
    from proxembed.features.layouts import TITLES

    rows = f"{done['train']:,} training rows, {done['held_out']:,} held out"
    typer.echo(f"{done['method']}, {TITLES[done['layout']]}: {rows}")
    measure, what = done["measure"], "labels" if done["measure"].startswith("Jaccard") else "outputs"
    for each in done["maps"]:
        for name, values in (
            (f"{each['map']}{' map' * (each['map'] in ('plain', 'honest'))}", each),
            (f"  on shuffled {what}", each["null"]),
        ):
            typer.echo(f"{name:<22} {measure} {in_words(values)}")
            if values.get("on_ranks"):
                typer.echo(f"{'    of ranks':<22} {measure} {in_words(values['on_ranks'])}")
    typer.echo(f"{'by chance':<22} {measure} {done['chance']:.3f}")
    for line in done["cuts"]:
        typer.echo(f"cut for the budget: {line}")
    typer.echo(f"written: {', '.join(done['written'])}")


def in_words(values: dict[str, float]) -> str:
    """The figures of a map."""
    own, new, among = (values[name] for name in ("inside", "outside", "among"))
    kept = values.get("kept", float("nan"))
    keeps = "" if kept != kept else f"; keeps {kept:.0%} of their nearest rows"
    return f"{own:.3f} of training rows, {new:.3f} of held-out rows, {among:.3f} among held-out rows{keeps}"
