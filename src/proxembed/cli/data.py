"""`proxembed data`: describe a labelled file."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from .options import JSON, TEST, dataset_from, in_program_words, say_notes, takes
from .refusal import refusals
from .terminal import command, print_json, say

EMPTY = "no labels"
MOST_LINES = 100  # of the columns of a table
MARKS = (("empty", EMPTY),)  # the options that settle columns of one mark each

if TYPE_CHECKING:
    from proxembed.data import Dataset
    from proxembed.data.errors import UnlabelledTable


@takes("columns")
def data(
    file: str = typer.Argument(
        metavar="DATA",
        help="A labelled file: CSV, Excel, Parquet or a folder of Parquet files, Feather, JSON lines, .h5ad, .npz, "
        ".npy, svmlight, ARFF; or openml:NAME.",
    ),
    test: Path | None = TEST,
    json_output: bool = JSON,
    **given: Any,
) -> None:
    """Show how a labelled file is read: columns, sizes, labels and possible problems."""
    with refusals():
        from proxembed.data.errors import DataError, UnlabelledTable

        settled: list[str] = []
        try:
            dataset = dataset_from(file, **given, test=test)
        except UnlabelledTable as unlabelled:
            show_unlabelled(unlabelled, json_output)
            return
        except DataError as question:
            if question.options != MARKS:
                raise
            dataset = dataset_from(file, **given | {"empty": EMPTY}, test=test)
            say(f"note: marks are read as 1 and empty cells as 0; a search asks for this (--empty {EMPTY!r})")
            settled = ["--empty", EMPTY]
        facts = dataset.describe()
        if json_output:
            print_json(facts | {"columns": dataset.columns})
            return
        print_card(dataset, facts)
        found = None if given["groups"] else (dataset.source or {}).get("groups")
        typer.echo(next_step(dataset, file, [*settled, *([] if found is None else ["--groups", found])]))


def show_unlabelled(found: UnlabelledTable, json_output: bool) -> None:
    """Print the columns of a table without named labels, and how to name what is to be predicted."""
    rows, whole = found.rows
    proposals = [with_options(each) for each in (found.options, *found.instead) if each]
    say_notes(list(map(in_program_words, found.notes)))
    if json_output:
        print_json({"n": rows, "whole": whole, "columns": found.columns, "proposed": next(iter(proposals), None)})
        return
    print_columns(found.columns)
    read = f"{rows:,} rows" if whole else f"the first {rows:,} rows"
    typer.echo(f"{read}, {len(found.columns):,} columns; nothing to predict is named yet.")
    add = "add --targets COLUMN,... (numbers) or --labels COLUMN,... (classes, tags)"
    typer.echo(f"next: {add}{', such as:' if proposals else ''}")
    for proposal in proposals:
        typer.echo(f"  {proposal}")


def with_options(options: Sequence[tuple[str, str]]) -> str:
    """The command with options, the values of one joined by commas; "" without options."""
    from proxembed.tables.reading import quoted

    names = dict.fromkeys(name for name, _ in options)
    flags = [f"--{name} {','.join(quoted(value) for each, value in options if each == name)}" for name in names]
    return " ".join([command(), *flags]) if flags else ""


def print_columns(columns: Sequence[tuple[str, str, str]]) -> None:
    """Print how each column was read; those named by numbers in order, such as wavelengths, in one line, and of many
    columns those that follow each other and were read alike."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from proxembed.tables.axis import axis_names
    from proxembed.tables.notes import visible

    named = set(axis_names([name for name, words, _ in columns if words.startswith("number")]))
    axis = [column for column in columns if column[0] in named and column[1].startswith("number")]
    lines = [column for column in columns if column not in axis[1:]] if axis else list(columns)
    table = Table("column", "read as", "for example")
    for first, *others in _alike(lines) if len(lines) > MOST_LINES else ([each] for each in lines):
        name, words, example = first
        if axis and first == axis[0]:
            name, words = f"{name} ... {axis[-1][0]}", f"{words}: {spectra_words([each for each, *_ in axis])}"
        elif others:
            name, words = f"{name} ... {others[-1][0]}", f"{words}: {1 + len(others):,} columns"
        table.add_row(*map(Text, map(visible, (name, words, example))))
    Console().print(table)


def _alike(columns: Sequence[tuple[str, str, str]]) -> Iterator[list[tuple[str, str, str]]]:
    """The columns, those that follow each other and were read alike together, and the last ones of more than
    ``MOST_LINES`` such."""
    groups = [list(group) for _, group in groupby(columns, key=lambda column: column[1].partition(";")[0])]
    yield from groups[: MOST_LINES - 1]
    if rest := [column for group in groups[MOST_LINES - 1 :] for column in group]:
        name, _, example = rest[0]
        yield [(name, "in several ways (all with --json)", example), *rest[1:]]


def spectra_words(names: Sequence[str]) -> str:
    """What columns named by numbers in order are."""
    return f"{len(names):,} columns named by numbers from {names[0]} to {names[-1]} (spectra), drawn in order"


def print_card(dataset: Dataset, facts: dict[str, Any]) -> None:
    """Print how each column was read, and the facts on the data set."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from proxembed.report import data_card
    from proxembed.tables.axis import axis_of
    from proxembed.tables.notes import visible

    if dataset.columns is not None:
        print_columns(dataset.columns)
    table = Table(show_header=False)
    for what, value in data_card(facts):
        table.add_row(what, Text(visible(value)))
    if axis_of(dataset.feature_names or ()) is not None:
        table.add_row("features", spectra_words(dataset.feature_names or ()))
    Console().print(table)


def next_step(dataset: Dataset, file: str, more: Sequence[str]) -> str:
    """The search command to run next, with more options, or what must be fixed before."""
    from proxembed.workflow.labelled_data import check_labels, with_test_rows

    try:
        check_labels(dataset, file)
        with_test_rows(dataset, 0)
    except ValueError as error:
        return f"fix before a search: {in_program_words(str(error))}"
    return f"next: {proposed(command(), more)}"


def proposed(described: str, more: Sequence[str] = ()) -> str:
    """The search command with the options of ``proxembed data``, and more."""
    words = shlex.split(described)
    return shlex.join([words[0], "search", *(word for word in words[2:] if word != "--json"), *more])
