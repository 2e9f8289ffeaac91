"""`proxembed transform`: new rows through a saved model; also the table files that `predict` writes."""

from pathlib import Path

import typer

from .refusal import refusals
from .terminal import notes, print_json

SUFFIXES = (".npz", ".csv", ".parquet")


def transform(
    model: Path = typer.Argument(metavar="MODEL", help="A .skops file of `fit` or `search`."),
    file: Path = typer.Argument(metavar="NEW", help="Rows with the features of the training file; labels not needed."),
    out: Path = typer.Option(None, "--out", "-o", help="A .npz, .csv or .parquet file; without it NEW-embedding.npz."),
    json_output: bool = typer.Option(False, "--json", help="Print JSON for machines."),
) -> None:
    """Embed the rows of a file with a saved model."""
    with refusals():
        target = table_path(out or Path(f"{plain_stem(file)}-embedding.npz"), [model, file])
        with notes():
            fitted, X, ids, _ = model_and_rows(model, file)
            Z = embedded(fitted, X, model)
        columns = {f"z{j}": Z[:, j] for j in range(Z.shape[1])}
        write_table(target, columns, ids, {"Z": Z})
        report({"rows": Z.shape[0], "components": Z.shape[1], "written": str(target)}, json_output)


def embedded(fitted, X, path: Path):
    """The embedding of rows X as a dense array, or a refusal that names the model file."""
    import numpy as np

    from proxembed.model import embedding_part

    try:
        part = embedding_part(fitted)
    except TypeError as error:
        raise ValueError(f"{path}: {error}") from error
    Z = part.transform(X)
    return np.asarray(Z.toarray() if hasattr(Z, "toarray") else Z)


def model_and_rows(model: Path, file: Path):
    """The saved model, the features and the ids of the new rows, and what the model knows of its training file."""
    from proxembed.data import read_rows
    from proxembed.persist import load, load_source

    fitted = load(model)
    source = load_source(model)
    if source is None:
        raise ValueError(
            f"{model} does not tell how its training rows were read; save it with source=source_of(dataset) "
            "(proxembed.model), or load it in Python with proxembed.persist.load."
        )
    X, ids = read_rows(file, source)
    return fitted, X, ids, source


def plain_stem(file: Path) -> str:
    """The file's name without its suffixes for format and compression.

    Examples
    --------
    >>> from pathlib import Path
    >>> from proxembed.cli.transform import plain_stem
    >>> plain_stem(Path("folder/new.arff.gz"))
    'new'
    """
    return Path(file.name.removesuffix(".gz")).stem


def table_path(path: Path, inputs: list[Path]) -> Path:
    """The path of a table that can be written and is none of the files read; checked before the work."""
    from proxembed.persist import check_writable

    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(f"-o {str(path)!r} must end in one of {', '.join(SUFFIXES)}.")
    for source in inputs:
        if path.exists() and source.exists() and path.samefile(source):
            raise ValueError(f"-o {str(path)!r} is a file that is read; name another one.")
    return check_writable(path)


def write_table(path: Path, columns: dict, ids, arrays: dict) -> None:
    """Write named columns as .csv or .parquet, with the ids first, or whole arrays as .npz."""
    from proxembed.data.parquet import parquet_bytes
    from proxembed.persist import write_whole
    from proxembed.workflow.run_folder import npz_bytes

    suffix = path.suffix.lower()
    if suffix == ".npz":
        content = npz_bytes(arrays if ids is None else {**arrays, "ids": ids})
    else:
        if ids is not None:
            columns = {("id" if "id" not in columns else "row id"): list(ids), **columns}
        content = csv_bytes(columns) if suffix == ".csv" else parquet_bytes(columns)
    write_whole({path: content})


def csv_bytes(columns: dict) -> bytes:
    """Named columns as CSV in UTF-8; numbers in full, so that reading them back gives the same.

    Examples
    --------
    >>> from proxembed.cli.transform import csv_bytes
    >>> csv_bytes({"id": ["a"], "z0": [0.1]})
    b'id,z0\\na,0.1\\n'
    """
    import csv
    import io

    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(getattr(v, "tolist", lambda v=v: v)() for v in columns.values()), strict=True))
    return out.getvalue().encode("utf-8")


def report(done: dict, json_output: bool) -> None:
    """Say how many rows went where."""
    if json_output:
        print_json(done)
        return
    sizes = ", ".join(f"{value:,} {name}" for name, value in done.items() if name != "written")
    typer.echo(f"{sizes}; written: {done['written']}")
