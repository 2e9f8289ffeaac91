"""The options for the meaning of columns of DATA, shared by every command that reads labelled rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .interruption import say
from .options import DECLARED, LISTS, in_program_words, memory_bytes

if TYPE_CHECKING:
    from proxembed.data import Dataset

COMMA = re.compile(r',(?=(?:[^"]*"[^"]*")*[^"]*$)')  # outside double quotes
QUOTED = re.compile(r'^"(.*)"$', re.DOTALL)


def table_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The table options among the arguments of a verb."""
    return {name: given[name] for name in DECLARED["columns"]}


def dataset_from(
    file: str | Path, labels: list[str] | None = None, test: str | Path | None = None, **columns: Any
) -> Dataset:
    """Read DATA, a file or ``openml:NAME``, with column options of the program; print its notes."""
    from proxembed.workflow.labelled_data import read_labelled

    dataset = in_program(read_labelled(file, test=test, **column_values({"labels": labels, **columns})))
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
    """DATA as a table to read part by part, with notes, if it needs more than --memory; else None."""
    from proxembed.data import Columns
    from proxembed.workflow.large_fit import large_fit

    purposes = Columns(**column_values(columns))
    found = large_fit(Path(file), purposes, memory_bytes(memory), sample, seed, spread)
    if found is not None:
        drawn, rows = found.sample.X.shape[0], found.table.n
        note = f"{rows:,} rows are read by parts; choices use a sample of {drawn:,}"
        found.sample = in_program(replace(found.sample, notes=(note, *found.sample.notes)))
        say_notes(found.sample.notes)
    return found


def column_values(options: Mapping[str, Any]) -> dict[str, Any]:
    """The values of column options: several names from one text, and "none" for no groups and no missing texts."""
    values = {name: value if name not in LISTS else one_by_one(value) for name, value in options.items()}
    if values.get("groups") == "none":
        values["groups"] = False
    if "missing" in values:
        given = options["missing"] is not None
        values["missing"] = [text for text in values["missing"] if text != "none"] if given else None
    return values


def say_notes(notes: Sequence[str]) -> None:
    """Print each note about the data as one line on standard error."""
    for note in notes:
        say(f"note: {note}")


def training_data(file: str | Path, **columns: Any) -> Dataset:
    """Read DATA and check its labels."""
    return checked_data(dataset_from(file, **columns), file)


def checked_data(dataset: Dataset, file: str | Path) -> Dataset:
    """Check the labels of the data set, and add notes about columns that alone predict a label."""
    from proxembed.workflow.labelled_data import check_labels, with_leaks

    check_labels(dataset, file)
    whole = in_program(with_leaks(dataset))
    say_notes(whole.notes[len(dataset.notes) :])
    return whole


def one_by_one(options: list[str] | None) -> list[str]:
    """The names in an option that may be repeated and may hold several names separated by commas, quoted as in CSV."""
    parts = [part.strip() for option in options or () for part in COMMA.split(option)]
    return [QUOTED.sub(lambda found: found[1].replace('""', '"'), part) for part in parts if part]
