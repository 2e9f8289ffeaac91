"""Stored results: one CSV file per method, a row per fold, written whole after each."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from pathlib import Path

from benchmarks import PROTOCOLS, RESULTS, TRACKS
from benchmarks.cell import KEY, MEASURES
from benchmarks.sets import SETS
from proxembed.execute.atomic_files import write_whole

COLUMNS = (
    "method", "kind", *KEY, "k", "components", "tried", *MEASURES, "seconds", "failure", "version", "parameters",
)  # fmt: skip
Key = tuple[str, str, str, int]


def file_name(method: str) -> str:
    """The file of a method: its name, with one hyphen for whatever a file name had better not hold.

    Examples
    --------
    >>> from benchmarks.store import file_name
    >>> file_name("Kernelized(MVMD, n_prototypes=500)"), file_name("all features")
    ('Kernelized-MVMD-n_prototypes-500.csv', 'all-features.csv')
    """
    return re.sub(r"[^\w.]+", "-", method).strip("-") + ".csv"


def read_rows(method: str, home: Path) -> list[dict[str, str]]:
    """The stored rows of a method.

    Raises
    ------
    ValueError
        The file holds another method, whose name differs in signs alone.
    """
    path = home / RESULTS / file_name(method)
    if not path.is_file():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    other = next((row["method"] for row in rows if row["method"] != method), None)
    if other is not None:
        raise ValueError(f"{path.name} holds the results of {other!r}, not of {method!r}; rename one of the two.")
    return rows


def done(method: str, home: Path) -> set[Key]:
    """The (set, protocol, track, fold) of which results are stored.

    Examples
    --------
    >>> from pathlib import Path
    >>> from benchmarks.store import done
    >>> done("OPLS", Path("nowhere"))
    set()
    """
    return {(row["set"], row["protocol"], row["track"], int(row["fold"])) for row in read_rows(method, home)}


def add(method: str, row: dict, home: Path) -> None:
    """Store a row in place of an earlier one of the same fold."""
    key = tuple(str(row[name]) for name in KEY)
    others = [each for each in read_rows(method, home) if tuple(each[name] for name in KEY) != key]
    write(method, [*others, {"method": method, **row}], home)


def write(method: str, rows: Iterable[dict], home: Path) -> None:
    """Write the file of a method, in the order of tracks, protocols, sets and folds."""
    text = io.StringIO()
    table = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    table.writeheader()
    table.writerows(sorted(rows, key=_place))
    place = home / RESULTS
    place.mkdir(parents=True, exist_ok=True)
    write_whole({place / file_name(method): text.getvalue().encode()})


def _place(row: dict) -> tuple:
    sets = list(SETS)
    at = sets.index(row["set"]) if row["set"] in sets else len(sets)
    return TRACKS.index(row["track"]), PROTOCOLS.index(row["protocol"]), at, row["set"], int(row["fold"])
