"""Stored results: one ledger per method, which has a line per fold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks import LAST_SECONDS, PROTOCOLS, RESULTS, TRACKS, VERSION
from benchmarks.cell import KEY, VALUES
from benchmarks.sets import SETS
from proxembed.execute.ledger import Ledger, read_header

COLUMNS = (
    "method", "kind", *KEY, "k", "components", "tried", *VALUES, "seconds", "failure", "version", "benchmark",
    "parameters",
)  # fmt: skip
Key = tuple[str, str, str, int]


def file_name(method: str) -> str:
    """The file of a method: its name, with one hyphen for whatever a file name had better not hold.

    Examples
    --------
    >>> from benchmarks.store import file_name
    >>> file_name("Kernelized(MVMD, n_prototypes=500)"), file_name("all features")
    ('Kernelized-MVMD-n_prototypes-500.jsonl', 'all-features.jsonl')
    """
    return re.sub(r"[^\w.]+", "-", method).strip("-") + ".jsonl"


def place_of(method: str, home: Path) -> Path:
    """The path of the file of a method."""
    return home / RESULTS / file_name(method)


def ledger_at(path: Path, method: str, last: float = LAST_SECONDS) -> Ledger:
    """The ledger of a method, begun if there is none; ``last``: CPU seconds that it has for the last fit on a fold.

    Raises a ValueError if the file holds another method, as names may differ in signs alone, or other seconds.
    """
    facts = {"method": method, **({} if last == LAST_SECONDS else {"max_seconds": last})}
    header = read_header(path)
    held = facts if header is None else header["facts"]
    if held.get("method") != method:
        raise ValueError(
            f"{path.name} holds the results of {held.get('method')!r}, not of {method!r}; rename one of the two."
        )
    if held != facts:
        raise ValueError(
            f"{path.name} holds folds under --max-seconds {held.get('max_seconds', LAST_SECONDS):g}, not {last:g}; "
            "name another file by --lines, or remove it."
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    return Ledger(path).begin(facts)


def read_rows(method: str, home: Path) -> list[dict[str, Any]]:
    """The stored rows of a method, in the order of tracks, protocols, sets and folds."""
    return read_file(place_of(method, home), method)


def read_file(path: Path, method: str, last: float = LAST_SECONDS) -> list[dict[str, Any]]:
    """The rows of a method in a file, in the same order; none if there is no file. ``last`` as of ``ledger_at``.

    Raises a ValueError for rows of another version of the benchmark.
    """
    if not path.is_file():
        return []
    stored = ledger_at(path, method, last).results
    if others := {str(row.get("benchmark")) for _, row in stored} - {VERSION}:
        raise ValueError(
            f"{path.name} holds results of version {min(others)} of the benchmark, which is at version {VERSION}; "
            "remove the file, and run the method again."
        )
    return sorted(({"method": method, **dict(zip(KEY, key, strict=True)), **row} for key, row in stored), key=_place)


def keys_of(rows: Iterable[dict[str, Any]]) -> set[Key]:
    """The (set, protocol, track, fold) of stored rows."""
    return {(row["set"], row["protocol"], row["track"], row["fold"]) for row in rows}


class Results:
    """The results of methods, each in a ledger of its own, as one ledger whose keys begin with the method."""

    def __init__(self, paths: Mapping[str, Path], last: float = LAST_SECONDS):
        self.ledgers = {method: ledger_at(path, method, last) for method, path in paths.items()}

    def find(self, key: list[Any]) -> None:
        """None: what is stored is not asked for, or to be replaced."""

    def add(self, key: list[Any], row: dict[str, Any]) -> None:
        """Add the row of a method and fold."""
        self.ledgers[key[0]].add(key[1:], row)

    def close(self) -> None:
        """Remove the files of methods without results."""
        for ledger in self.ledgers.values():
            ledger.close()


def _place(row: dict[str, Any]) -> tuple:
    sets = list(SETS)
    at = sets.index(row["set"]) if row["set"] in sets else len(sets)
    return TRACKS.index(row["track"]), PROTOCOLS.index(row["protocol"]), at, row["set"], row["fold"]
