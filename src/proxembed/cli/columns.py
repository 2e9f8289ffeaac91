"""The options for the meaning of columns of DATA, shared by every command that reads labelled rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from .interruption import say
from .options import in_program_words, memory_bytes

if TYPE_CHECKING:
    from proxembed.data import Dataset

COMMA = re.compile(r',(?=(?:[^"]*"[^"]*")*[^"]*$)')  # outside double quotes
QUOTED = re.compile(r'^"(.*)"$', re.DOTALL)
LABELS = typer.Option(
    None,
    "--labels",
    metavar="COLUMNS",
    help="Label columns: names or globs such as 'topic_*', separated by commas, or in several options; quote a name "
    "that contains a comma. One column may hold classes or, with --separator, several labels. ARFF: the XML file of "
    "the labels. npy: the file of the labels.",
)
TEXT = typer.Option(None, "--text", metavar="COLUMNS", help="Text columns, if they are not recognised as texts.")
ID = typer.Option(None, "--id", metavar="COLUMN", help="Column of row names.")
GROUPS = typer.Option(
    None,
    "--groups",
    metavar="COLUMN",
    help="Column of groups, which no split divides; 'none' for no groups. "
    "By default an identifier that rows share, such as patient_id.",
)
TIME = typer.Option(None, "--time", metavar="COLUMN", help="Column of numbers or ISO dates that orders the rows.")
DROP = typer.Option(None, "--drop", metavar="COLUMNS", help="Columns to leave out: names or globs.")
KEEP = typer.Option(None, "--keep", metavar="COLUMNS", help="Feature columns; all others are left out: names or globs.")
MISSING = typer.Option(
    None,
    "--missing",
    metavar="TEXT",
    help="Other values that mean an empty cell, such as -999; 'none' if there are none.",
)
DECIMAL = typer.Option(
    None, "--decimal", metavar=",|.", help="The mark before the decimals, if all numbers fit both readings (1,234)."
)
CATEGORY = typer.Option(
    None, "--category", metavar="COLUMNS", help="Columns of categories, even if their cells are numbers or dates."
)
EMPTY = typer.Option(
    "no labels",
    "--empty",
    metavar="'no labels'|unknown",
    help="What an empty cell of joined labels means.",
)
SEPARATOR = typer.Option(
    None, "--separator", metavar="TEXT", help="Text that separates the labels in one column, such as ';'."
)
TARGET_TYPE = typer.Option(
    None,
    "--target-type",
    metavar="classes",
    help="Read the whole numbers in the one label column as classes, however many there are.",
)


OF_TABLES = tuple("labels text id groups time drop keep missing decimal category empty separator target_type".split())


def table_options(given: dict[str, Any]) -> dict[str, Any]:
    """The table options among the arguments of a command.

    Examples
    --------
    >>> from proxembed.cli.columns import OF_TABLES, table_options
    >>> table_options({**dict.fromkeys(OF_TABLES), "seed": 0}) == dict.fromkeys(OF_TABLES)
    True
    """
    return {name: given[name] for name in OF_TABLES}


def dataset_from(
    file: str | Path,
    labels: list[str] | None = None,
    text: list[str] | None = None,
    id: str | None = None,
    groups: str | None = None,
    time: str | None = None,
    drop: list[str] | None = None,
    separator: str | None = None,
    test: str | Path | None = None,
    keep: list[str] | None = None,
    missing: list[str] | None = None,
    empty: str = "no labels",
    decimal: str | None = None,
    category: list[str] | None = None,
    target_type: str | None = None,
) -> Dataset:
    """Read DATA, a file or ``openml:NAME``, with the given column options.

    Raises DataError (a ValueError of one line) if the file or an option does not fit.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from proxembed.cli.columns import dataset_from
    >>> file = pathlib.Path(tempfile.mkdtemp(), "toy.csv")
    >>> size = file.write_text("row,hue,t_red,t_blue\\na,0.1,1,0\\nb,0.9,,1\\n")
    >>> dataset_from(file, ["t_*"], id="row").label_names
    ('t_red', 't_blue')
    """
    from proxembed.workflow.labelled_data import read_labelled

    lists = {"labels": labels, "text": text, "drop": drop, "keep": keep, "missing": missing, "category": category}
    more: dict[str, Any] = {
        **read_options(lists),
        "id": id,
        "groups": named_groups(groups),
        "time": time,
        "separator": separator,
        "test": test,
    }
    others: dict[str, Any] = {"empty": empty, "decimal": decimal, "target_type": target_type}
    dataset = in_program(read_labelled(file, **more, **others))
    say_notes(dataset.notes)
    return dataset


def in_program(dataset: Dataset) -> Dataset:
    """The data set with notes that name options of the program."""
    return replace(dataset, notes=tuple(map(in_program_words, dataset.notes)))


def large_table(
    file: str | Path,
    columns: dict[str, Any],
    memory: str | None,
    sample: int | None,
    seed: int,
    spread: bool = False,
) -> Any:
    """DATA as a table to read part by part, with notes, if it needs more than --memory; else None.

    With ``spread`` the workers of a cluster read it, for any size.
    """
    from proxembed.workflow.labelled_data import table_columns
    from proxembed.workflow.large_fit import large_fit

    lists = {name: columns[name] for name in ("labels", "text", "drop", "keep", "missing", "category")}
    others = {name: value for name, value in columns.items() if name not in lists}
    others["groups"] = named_groups(others["groups"])
    purposes = table_columns(**read_options(lists), **others)
    found = large_fit(Path(file), purposes, memory_bytes(memory), sample, seed, spread)
    if found is not None:
        drawn, rows = found.sample.X.shape[0], found.table.n
        note = f"{rows:,} rows are read by parts; choices use a sample of {drawn:,}"
        found.sample = in_program(replace(found.sample, notes=(note, *found.sample.notes)))
        say_notes(found.sample.notes)
    return found


def read_options(lists: dict[str, list[str] | None]) -> dict[str, list[str] | None]:
    """Split options that hold several names; "none" in --missing stands for no text.

    Examples
    --------
    >>> from proxembed.cli.columns import read_options
    >>> read_options({"labels": ["a,b"], "missing": ["none"]}), read_options({"missing": None})
    ({'labels': ['a', 'b'], 'missing': []}, {'missing': None})
    """
    found: dict[str, list[str] | None] = {name: one_by_one(names) for name, names in lists.items() if name != "missing"}
    codes = lists["missing"]
    return found | {"missing": None if codes is None else [code for code in one_by_one(codes) if code != "none"]}


def named_groups(option: str | None) -> Any:
    """The column of --groups; False for 'none'.

    Examples
    --------
    >>> from proxembed.cli.columns import named_groups
    >>> named_groups("patient"), named_groups("none"), named_groups(None)
    ('patient', False, None)
    """
    return False if option == "none" else option


def say_notes(notes: Sequence[str]) -> None:
    """Print each note about the data as one line on standard error."""
    for note in notes:
        say(f"note: {note}")


def training_data(file: str | Path, **columns: Any) -> Dataset:
    """Read DATA and check its labels.

    Raises ValueError (DataError if the file or an option does not fit), each of one line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from proxembed.cli.columns import training_data
    >>> file = pathlib.Path(tempfile.mkdtemp(), "toy.csv")
    >>> size = file.write_text("hue,red,blue\\n0.1,1,0\\n0.9,0,1\\n0.8,0,0\\n0.2,1,1\\n")
    >>> training_data(file, labels=["red", "blue"])
    Dataset(name='toy', n=4, d=1, labels=2)
    """
    return checked_data(dataset_from(file, **columns), file)


def checked_data(dataset: Dataset, file: str | Path) -> Dataset:
    """Check the labels of the data set, and add notes about columns that alone predict a label."""
    from proxembed.workflow.labelled_data import check_labels
    from proxembed.workflow.leaks import with_leaks

    check_labels(dataset, file)
    whole = in_program(with_leaks(dataset))
    say_notes(whole.notes[len(dataset.notes) :])
    return whole


def one_by_one(options: list[str] | None) -> list[str]:
    """The names in an option that may be repeated and may hold several names separated by commas.

    A name that contains a comma is in double quotes, as in CSV.

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
