"""A run of the benchmark: which folds of which methods are missing, and their results as they come."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from benchmarks import LAST_SECONDS
from benchmarks.cell import Effort, run_cell
from benchmarks.entered import is_outside
from benchmarks.entrants import DECLARED, LEFT_OUT, entrant
from benchmarks.folds import stored_facts, tracks_of
from benchmarks.sets import Unavailable, read_set
from benchmarks.store import Results, keys_of, place_of, read_file
from proxembed.execute.budget import OutOfBudget
from proxembed.execute.loop import Evaluator, Loop, OneBatch, Trial, Work

Cell = tuple[str, str, str, int, str]  # set, protocol, track, fold, method


@dataclass(frozen=True)
class Plan:
    """What is run: cells in order, the folders of data and benchmark, the file of lines of a method that is not stored
    among the others, and the CPU seconds of the last fit on a fold.

    The methods of a fold come one after another, as they share its rows; the folds of all sets come in turn, so that a
    run that is ended early has some folds of every set.
    """

    cells: tuple[Cell, ...]
    data: Path | None
    home: Path
    lines: Path | None = None
    last: float = LAST_SECONDS

    @classmethod
    def of(
        cls, methods: Sequence[str] | None, sets: Sequence[str], protocols: Sequence[str], tracks: Sequence[str],
        folds: int, data: Path | None, home: Path, force: bool = False, lines: Path | None = None,
        last: float = LAST_SECONDS,
    ) -> Plan:  # fmt: skip
        """The plan of some methods, None for those that are declared for each track and kind of folds.

        Parameters
        ----------
        methods : names as ``entrant`` takes them, or None
        sets, protocols, tracks : names
        folds : int
            The first folds only.
        data, home : Path
        force : bool, default=False
            Whether stored results are replaced.
        lines : Path, optional
            The file of the one method that is named; None: its file among those of the others.
        last : float, default=12
            CPU seconds of the last fit on a fold.
        """
        named = None if methods is None else tuple(dict.fromkeys(entrant(name).name for name in methods))
        among = {(track, protocol): named or DECLARED[track, protocol] for track in tracks for protocol in protocols}
        every = dict.fromkeys(name for names in among.values() for name in names)
        taking = {track: {name for name in every if entrant(name).takes(track)} for track in tracks}
        tracks_by_set = {name: tracks_of(facts) for name, facts in stored_facts(home).items()}
        files = {name: lines or place_of(name, home) for name in every}
        held = {} if force else {name: keys_of(read_file(file, name, last)) for name, file in files.items()}
        cells = (
            (name, protocol, track, fold, method)
            for track in tracks
            for protocol in protocols
            for fold in range(1, folds + 1)
            for name in sets
            if track in tracks_by_set[name] and (named or name not in LEFT_OUT.get((track, protocol), ()))
            for method in among[track, protocol]
            if method in taking[track]
        )
        return cls(tuple(cell for cell in cells if cell[:4] not in held.get(cell[4], ())), data, home, lines, last)

    @property
    def paths(self) -> dict[str, Path]:
        """Method -> the file of its lines."""
        return {name: self.lines or place_of(name, self.home) for name in dict.fromkeys(cell[4] for cell in self.cells)}

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

    def __init__(self, home: Path, data: Path | None, effort: Effort):
        self.home, self.data, self.effort = str(home), None if data is None else str(data), effort

    def evaluate(self, method: str, cell: tuple[str, str, str, int]) -> dict[str, Any]:
        """The results of the method on the fold; a ValueError if a transformer from outside fails there."""
        row = run_cell(*cell, method, self.home, self.data, self.effort)
        if row["failure"] and is_outside(method):
            name, protocol, track, fold = cell
            where = f"fold {fold} of {name} (track {track}, {protocol} folds)"
            raise ValueError(refusal(method, where, row["failure"], self.effort.last))
        return row

    def key(self, method: str, cell: tuple[str, str, str, int]) -> list[Any]:
        """Method, set, protocol, track and fold."""
        return [method, *cell]


def refusal(method: str, where: str, failure: str, seconds: float) -> str:
    """The sentence on a transformer from outside that cannot be judged."""
    if failure.startswith(OutOfBudget.__name__):
        return f"{method} took more than {seconds:g} CPU seconds on {where}; make it faster, or raise --max-seconds."
    kind, _, reason = failure.partition(": ")
    own = kind in (ValueError.__name__, FloatingPointError.__name__)
    return f"{method} is refused on {where}: {(reason if own else failure).rstrip('.')}."


def execute(plan: Plan, n_jobs: int, echo: Callable[[str], Any]) -> None:
    """Run the cells and store each as it is finished; echo a line for each, and for each set or method that is skipped.

    Raises
    ------
    ValueError
        The data of a set are not those of its stored folds, or a transformer from outside fails.
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
            value = f"Q2 {row['q2']}" if "q2" in row else f"average precision {row['average_precision']}"
            told = row["failure"] or value
            where = f"{len(loop.outcomes)}/{len(cells)} {track} {protocol} {fold} {name} {work.trial.title}"
            echo(f"{where}: {row['seconds']:.2f} s, {told}")

    results = Results({name: path for name, path in plan.paths.items() if name in trials}, plan.last)
    loop = Loop(
        Cells(plan.home, plan.data, Effort(last=plan.last)),
        n_jobs=n_jobs,
        ordered=False,
        lone_here=True,
        ledger=results,
        report=report,
    )
    try:
        with threadpool_limits(1, user_api="blas"):  # of this process: CPU time is the same with workers
            loop.run(OneBatch([Work(trials[cell[4]], [cell[:4]]) for cell in cells]))
    finally:
        results.close()
    if loop.interrupted:
        raise KeyboardInterrupt
