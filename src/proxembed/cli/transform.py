"""`proxembed transform`: embed new rows with a saved model."""

from functools import partial
from pathlib import Path
from typing import Any

import typer

from .options import JSON, MEMORY, MODEL, NEW, TRUST, memory_bytes
from .refusal import refusals
from .terminal import notes, print_json, progress_bar

SUFFIXES = (".npz", ".csv", ".parquet")
ANNDATA = ".h5ad"


COSINE = typer.Option(
    False,
    "--cosine",
    help="Write the rows about the mean of the fitted rows with one constant number more, so that their cosines are "
    "those by which a search judges neighbours.",
)


def transform(
    model: Path = MODEL,
    file: Path = NEW,
    out: Path | None = typer.Option(
        None,
        "--out",
        "-o",
        help="A .npz, .csv or .parquet file; default NEW-embedding.npz. Of an .h5ad file a copy, .h5ad, with the "
        "embedding in obsm; default NEW-embedding.h5ad.",
    ),
    cosine: bool = COSINE,
    trust: list[str] = TRUST,
    memory: str = MEMORY,
    json_output: bool = JSON,
) -> None:
    """Embed new rows with a saved model."""
    with refusals():
        from proxembed.data.readers.table import stem
        from proxembed.workflow.new_rows import through_model

        is_anndata = file.suffix.lower() == ANNDATA
        out = out or Path(f"{stem(file)}-embedding{ANNDATA if is_anndata else '.npz'}")
        target = table_path(out, [model, file], (*SUFFIXES, ANNDATA) if is_anndata else SUFFIXES)
        most = memory_bytes(memory)
        with notes(), progress_bar(json_output) as progress:
            done = through_model(
                model, file, target, partial(embedded, path=model, cosine=cosine), most, progress, trust or ()
            )
        report({"rows": done["rows"], "components": done["columns"] - cosine, "written": str(target)}, json_output)


def embedded(
    fitted: Any, X: Any, source: dict[str, Any], path: Path, cosine: bool
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The embedding of rows X as named columns and as an array, ``cosine``: in the frame of the fitted rows; an error
    names the model file."""
    import numpy as np

    from proxembed.measures.neighbors import framed
    from proxembed.methods.pipeline import embedding_part
    from proxembed.workflow.record import FRAME

    try:
        part = embedding_part(fitted)
    except TypeError as error:
        raise ValueError(f"{path}: {error}") from error
    Z = part.transform(X)
    Z = np.asarray(Z.toarray() if hasattr(Z, "toarray") else Z)
    if cosine:
        if FRAME not in source:
            raise ValueError(
                f"{path} does not record the mean of its rows, as models of searches do whose neighbours are found by "
                "cosine: leave --cosine out, or search again."
            )
        Z = framed(Z, **source[FRAME])
    names = [f"z{j}" for j in range(Z.shape[1] - cosine)] + ["constant"] * cosine
    return dict(zip(names, Z.T, strict=True)), {"Z": Z}


def table_path(path: Path, inputs: list[Path], suffixes: tuple[str, ...] = SUFFIXES) -> Path:
    """Check before the work that the output path can be written and is none of the input files."""
    from proxembed.execute.atomic_files import check_writable

    if path.suffix.lower() not in suffixes:
        raise ValueError(f"-o {str(path)!r} must end in one of {', '.join(suffixes)}.")
    for source in inputs:
        if path.exists() and source.exists() and path.samefile(source):
            raise ValueError(f"-o {str(path)!r} is a file that is read; name another one.")
        if source.is_dir() and source.resolve() in path.resolve().parents:
            raise ValueError(f"-o {str(path)!r} lies in the folder that is read; name a file beside it.")
    return check_writable(path)


def report(done: dict[str, Any], json_output: bool) -> None:
    """Print the number of rows, and what was written."""
    if json_output:
        print_json(done)
        return
    sizes = ", ".join(
        f"{value:,} {name[: -1 if value == 1 else None]}" for name, value in done.items() if name != "written"
    )
    typer.echo(f"{sizes}; written: {done['written']}")
