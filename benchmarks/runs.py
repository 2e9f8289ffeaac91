"""A run of the benchmark: which folds of which methods are missing, and their results as they come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.cell import run_cell
from benchmarks.entrants import DEFAULTS, entrant
from benchmarks.sets import Unavailable, read_set
from benchmarks.store import add, done
from papers.workers import unordered_results

Cell = tuple[str, str, str, int, str]  # set, protocol, track, fold, method


@dataclass(frozen=True)
class Plan:
    """What is run: cells in order, and the folders of data and benchmark.

    The methods of a fold come one after another, as they share its rows; the folds of all sets come in turn, so that a
    run that is ended early has some folds of every set.
    """

    cells: tuple[Cell, ...]
    data: Path | None
    home: Path

    @classmethod
    def of(
        cls, methods: Sequence[str] | None, sets: Sequence[str], protocols: Sequence[str], tracks: Sequence[str],
        folds: int, data: Path | None, home: Path, force: bool = False,
    ) -> Plan:  # fmt: skip
        """The plan of some methods, None for those of each track that the page expects.

        Parameters
        ----------
        methods : names as ``entrant`` takes them, or None
        sets, protocols, tracks : names
        folds : int
            The first folds only.
        data, home : Path
        force : bool, default=False
            Whether stored results are replaced.
        """
        named = None if methods is None else tuple(dict.fromkeys(entrant(name).name for name in methods))
        of_track = {track: named or DEFAULTS[track] for track in tracks}
        held = {} if force else {name: done(name, home) for names in of_track.values() for name in names}
        cells = (
            (name, protocol, track, fold, method)
            for track in tracks
            for protocol in protocols
            for fold in range(1, folds + 1)
            for name in sets
            for method in of_track[track]
        )
        return cls(tuple(cell for cell in cells if cell[:4] not in held.get(cell[4], ())), data, home)

    def skipped(self) -> dict[str, str]:
        """The sets of the plan that cannot be read, with the reason."""
        found = {}
        for name in dict.fromkeys(cell[0] for cell in self.cells):
            try:
                read_set(name, self.data)
            except Unavailable as error:
                found[name] = str(error)
        return found

    def lacking(self) -> dict[str, str]:
        """The methods of the plan whose library is not installed, with the reason."""
        reasons = {name: entrant(name).lacks for name in dict.fromkeys(cell[4] for cell in self.cells)}
        return {name: f"{name}: {reason}" for name, reason in reasons.items() if reason}


def execute(plan: Plan, n_jobs: int) -> Iterator[str]:
    """Run the cells and store each as it is finished; a line for each, and for each set or method that is skipped.

    Raises
    ------
    ValueError
        The data of a set are not those of its stored folds.
    """
    skipped, lacking = plan.skipped(), plan.lacking()
    yield from (f"skipped: {reason}" for reason in (skipped | lacking).values())
    cells = [cell for cell in plan.cells if cell[0] not in skipped and cell[4] not in lacking]
    data = None if plan.data is None else str(plan.data)
    arguments = [(*cell, str(plan.home), data) for cell in cells]
    for count, (number, row) in enumerate(unordered_results(run_cell, arguments, n_jobs), start=1):
        name, protocol, track, fold, method = cells[number]
        add(method, row, plan.home)
        told = row["failure"] or f"average precision {row['average_precision']}"
        yield f"{count}/{len(cells)} {track} {protocol} {fold} {name} {method}: {row['seconds']:.2f} s, {told}"
