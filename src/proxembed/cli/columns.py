"""The options that say which column of DATA means what, shared by every verb that reads labelled rows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from proxembed.data import Dataset

OPENML = "openml:"
COMMA = re.compile(r',(?=(?:[^"]*"[^"]*")*[^"]*$)')  # outside double quotes
QUOTED = re.compile(r'^"(.*)"$', re.DOTALL)
LABELS = typer.Option(
    None,
    "--labels",
    metavar="COLUMNS",
    help="Label columns: names or globs such as 'topic_*', separated by commas or in several options; a name with a "
    "comma stands in double quotes. One column may hold classes or, with --separator, several labels. ARFF: its XML "
    "file. npy: the file of the labels.",
)
TEXT = typer.Option(None, "--text", metavar="COLUMN", help="Column of texts; their words become the features.")
ID = typer.Option(None, "--id", metavar="COLUMN", help="Column that names the rows.")
GROUPS = typer.Option(None, "--groups", metavar="COLUMN", help="Column whose equal values no split may part.")
TIME = typer.Option(None, "--time", metavar="COLUMN", help="Column of numbers or ISO dates that orders the rows.")
DROP = typer.Option(None, "--drop", metavar="COLUMNS", help="Columns to leave out: names or globs, like --labels.")
SEPARATOR = typer.Option(
    None, "--separator", metavar="TEXT", help="What joins the labels in the cells of the one label column, such as ';'."
)


def dataset_from(
    file: str | Path,
    labels: list[str] | None = None,
    text: str | None = None,
    id: str | None = None,
    groups: str | None = None,
    time: str | None = None,
    drop: list[str] | None = None,
    separator: str | None = None,
    test: str | Path | None = None,
) -> Dataset:
    """Read DATA, a file or ``openml:NAME``, with the column options as they were given.

    Raises DataError (a ValueError of one line) where the file or an option does not fit.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from proxembed.cli.columns import dataset_from
    >>> file = pathlib.Path(tempfile.mkdtemp(), "toy.csv")
    >>> size = file.write_text("row,hue,t_red,t_blue\\na,0.1,1,0\\nb,0.9,,1\\n")
    >>> dataset_from(file, ["t_*"], id="row").label_names
    ('t_red', 't_blue')
    """
    from proxembed.data import Columns, DataError, fetch_openml_dataset, read

    names = one_by_one(labels)
    given = {"text": text, "id": id, "groups": groups, "time": time, "separator": separator}
    if str(file).startswith(OPENML):
        refused = [f"--{option}" for option, value in {**given, "test": test}.items() if value is not None]
        if refused:
            raise DataError(
                f"{file}: {', '.join(refused)} was given, but an OpenML set takes --labels and --drop only."
            )
        return fetch_openml_dataset(str(file).removeprefix(OPENML), labels=names or None, drop=one_by_one(drop))
    path = Path(file)
    source, names = label_file(path, names)
    columns = Columns(labels=tuple(names), drop=tuple(one_by_one(drop)), **given)
    return read(path, labels=source, test=test, columns=columns)


def label_file(path: Path, names: list[str]) -> tuple[str | list[str] | None, list[str]]:
    """What --labels holds for a file without named columns (a file, or ARFF attributes), and the columns that it names.

    Examples
    --------
    >>> from pathlib import Path
    >>> from proxembed.cli.columns import label_file
    >>> label_file(Path("toy.arff"), ["a", "b"]), label_file(Path("toy.csv"), ["a", "b"])
    ((['a', 'b'], []), (None, ['a', 'b']))
    """
    files = [name for name in names if Path(name).is_file()]
    if path.suffix.lower() == ".npy":
        if not files:
            return (names[0] if names else None), []
        return files[0], [name for name in names if name != files[0]]
    if Path(path.name.lower().removesuffix(".gz")).suffix == ".arff":
        return (names[0] if names == files[:1] and names else names or None), []
    return None, names


def one_by_one(options: list[str] | None) -> list[str]:
    """Names of an option that is given several times or holds several names between commas.

    A name that holds a comma stands in double quotes, as in CSV.

    Examples
    --------
    >>> from proxembed.cli.columns import one_by_one
    >>> one_by_one(["a, b", "topic_*"]), one_by_one(None)
    (['a', 'b', 'topic_*'], [])
    >>> one_by_one(['"sea, blue",red'])
    ['sea, blue', 'red']
    """
    parts = [part.strip() for option in options or () for part in COMMA.split(option)]
    return [QUOTED.sub(lambda found: found[1].replace('""', '"'), part) for part in parts if part]
