"""A run of the benchmark: which folds of which methods are missing, and their results as they come."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from benchmarks.cell import run_cell
from benchmarks.entrants import DEFAULTS, entrant
from benchmarks.sets import Unavailable, read_set
from benchmarks.store import Results, done
from proxembed.execute.loop import Evaluator, Loop, OneBatch, Trial, Work

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


class Cells(Evaluator):
    """Runs methods on folds: a configuration is a method, a step the set, protocol, track and number of a fold."""

    def __init__(self, home: Path, data: Path | None):
        self.home, self.data = str(home), None if data is None else str(data)

    def evaluate(self, method: str, cell: tuple[str, str, str, int]) -> dict[str, Any]:
        """The results of the method on the fold."""
        return run_cell(*cell, method, self.home, self.data)

    def key(self, method: str, cell: tuple[str, str, str, int]) -> list[Any]:
        """Method, set, protocol, track and fold."""
        return [method, *cell]


def execute(plan: Plan, n_jobs: int, echo: Callable[[str], Any]) -> None:
    """Run the cells and store each as it is finished; echo a line for each, and for each set or method that is skipped.

    Raises
    ------
    ValueError
        The data of a set are not those of its stored folds.
    KeyboardInterrupt
        After Ctrl-C; what is finished is stored.
    """
    skipped, lacking = plan.skipped(), plan.lacking()
    for reason in (skipped | lacking).values():
        echo(f"skipped: {reason}")
    cells = [cell for cell in plan.cells if cell[0] not in skipped and cell[4] not in lacking]
    trials = {method: Trial(method, method) for *_, method in cells}

    def report(loop: Loop, work: Work, done: bool) -> None:
        if done:
            (name, protocol, track, fold), row = work.steps[0], loop.outcomes[-1]
            told = row["failure"] or f"average precision {row['average_precision']}"
            where = f"{len(loop.outcomes)}/{len(cells)} {track} {protocol} {fold} {name} {work.trial.title}"
            echo(f"{where}: {row['seconds']:.2f} s, {told}")

    results = Results(trials, plan.home)
    loop = Loop(
        Cells(plan.home, plan.data), n_jobs=n_jobs, ordered=False, lone_here=True, ledger=results, report=report
    )
    try:
        with threadpool_limits(1, user_api="blas"):  # of this process: CPU time is the same with workers
            loop.run(OneBatch([Work(trials[cell[4]], [cell[:4]]) for cell in cells]))
    finally:
        results.close()
    if loop.interrupted:
        raise KeyboardInterrupt
