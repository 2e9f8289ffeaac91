"""What an experiment is, and the folder that it fills: what is finished is in a ledger until the record is written."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from papers.code import code
from papers.workers import unordered_results
from proxembed.data import Dataset
from proxembed.execute.atomic_files import write_whole
from proxembed.execute.ledger import Ledger, digest
from proxembed.report import versions
from proxembed.splits.splits import standard_split

Progress = Callable[[int, int, str], None]
LEDGER, RECORD, PAGE = "ledger.jsonl", "results.json", "README.md"
RUN = ("command", "created", "jobs", "code", "data")
DIGITS = 6


def _silent(done: int, total: int, text: str) -> None:
    """No progress is shown."""


@dataclass(frozen=True)
class Request:
    """What is asked of an experiment.

    Parameters
    ----------
    data : Path
        Folder of the data files.
    folder : Path
        Where results go; it exists.
    seed : int, default=0
    quick : bool, default=False
        A small part of the data and of the grids: proves that everything runs, and says nothing of the methods.
    n_jobs : int, default=1
        Worker processes, each with one BLAS thread.
    force : bool, default=False
        Do again what the folder holds already.
    sets : tuple of str
        Data sets of an experiment on several; empty for all.
    command : str
        The command that repeats the run.
    hashes : mapping of str to str
        Hash of each data file.
    progress : callable
        Called as ``progress(done, total, text)``.
    draws : int, optional
        Random draws of the parts instead of those of the experiment's plan; a later run with more goes on from there.
    """

    data: Path
    folder: Path
    seed: int = 0
    quick: bool = False
    n_jobs: int = 1
    force: bool = False
    sets: tuple[str, ...] = ()
    command: str = ""
    hashes: Mapping[str, str] = field(default_factory=dict)
    progress: Progress = _silent
    draws: int | None = None


@dataclass(frozen=True)
class Experiment:
    """A named experiment: what it asks, the data files it reads, and the function that runs it.

    ``run(request)`` writes the folder and returns the record, plain data.
    """

    name: str
    title: str
    files: tuple[str, ...]
    run: Callable[[Request], dict]
    minutes: int
    has_sets: bool = False
    has_draws: bool = False


@dataclass(frozen=True)
class Draws:
    """The finished draws of an entry that takes long, in the ledger of its run; workers add to it."""

    ledger: Ledger
    key: tuple[str, ...]
    held: Mapping[int, dict]

    def remember(self, draw: int, make: Callable[[], dict]) -> dict:
        """What a draw gave, plain data: what is held, or else made and added to the ledger."""
        if draw in self.held:
            return self.held[draw]
        found = plain(make())
        self.ledger.add([*self.key, draw], found)
        return found


class Kept:
    """The record of a run in its folder. Entries, and draws of those that take long, go into a ledger as they finish,
    and into the record when it is written; a later run, also of one that was killed, goes on from both. A plan may gain
    entrants; the entries of one that it describes otherwise are made anew.

    Parameters
    ----------
    request : Request
    name : str
        The experiment.
    plan : dict
        What the numbers rest on, as plain data.

    Attributes
    ----------
    record : dict
        ``plan`` and ``parts`` (part -> entries, each with its ``entrant``), facts on the latest run that made entries,
        and ``runs``: commands, code and data of all runs, to which each entry's number ``run`` points.

    Raises
    ------
    ValueError
        The folder holds a run of another plan or of other data, or a damaged record.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from papers.experiment import Kept, Request
    >>> with tempfile.TemporaryDirectory() as place:
    ...     request = Request(Path(place), Path(place))
    ...     Kept(request, "made", {"seed": 0}).add("yeast", {"entrant": "PCA", "seconds": 1.0, "failure": None})
    ...     Kept(request, "made", {"seed": 0}).missing("yeast", ["PCA", "LSI"])
    ['LSI']
    """

    def __init__(self, request: Request, name: str, plan: dict):
        self.folder, plan = request.folder, plain(plan)
        self._made = made_by(request, name)
        self.record = {**self._made, "plan": plan, "runs": [], "parts": {}}
        facts = {"experiment": name, "plan": digest(json.dumps(plan, sort_keys=True))}
        self._ledger = Ledger(self.folder / LEDGER, facts, resume=not request.force)
        earlier = self._earlier()
        if earlier is not None and earlier.get("experiment") == name and same_but_entrants(earlier.get("plan"), plan):
            self._go_on(earlier, request.force)
        elif earlier is not None and not request.force:
            raise ValueError(
                f"{self.folder / RECORD} holds a run of another plan (experiment, seed, --quick or version of the "
                "grids); name another folder with -o, or replace it with --force."
            )
        if self._ledger.path.is_file() and not request.force:
            self._take_over()

    @property
    def ledger(self) -> Ledger:
        """The ledger of what is finished, begun where it is not."""
        return self._ledger if self._ledger.begun else self._ledger.begin({})

    def draws(self, part: str, entrant: str, number: int) -> Draws:
        """The draws of an entry that are in the ledger, of the same data, and where others go as they finish."""
        key = part, entrant, digest(json.dumps(self._made["data"].get(f"{part}.npz")))
        ledger = self.ledger
        known = {draw: ledger.find([*key, draw]) for draw in range(number)}
        return Draws(ledger, key, {draw: found for draw, found in known.items() if found is not None})

    def _take_over(self) -> None:
        """The entries that a run which was stopped has left in the ledger."""
        for key, found in self.ledger.results:
            if isinstance(found, dict) and found.keys() == {"entry", "run"}:
                self._same_data(found["run"]["data"], self._ledger.path)
                self._put(key[0], found["entry"], found["run"])

    def _same_data(self, held: Mapping[str, str], path: Path) -> None:
        given = self._made["data"]
        other = [name for name in given if name in held and held[name] != given[name]]
        if other:
            raise ValueError(
                f"{path} rests on another {', '.join(other)} than is there now (its hash differs); "
                "name another folder with -o, or do it again with --force."
            )

    def _go_on(self, earlier: dict, force: bool) -> None:
        """Take over what an earlier run left; its data must be today's where both name a file."""
        held, given = earlier.get("data", {}), self.record["data"]
        self.record |= {key: earlier[key] for key in self._made if key in earlier}
        if not force:
            self._same_data(held, self.folder / RECORD)
        self.record["data"] = {**held, **given}
        self.record["runs"] = earlier.get("runs", [{key: earlier.get(key) for key in RUN}])
        stale = changed_entrants(earlier["plan"], self.record["plan"])
        self.record["parts"] = {
            part: [{"run": 0, **entry} for entry in entries if entry.get("method", entry["entrant"]) not in stale]
            for part, entries in earlier["parts"].items()
        }

    def _earlier(self) -> dict | None:
        path = self.folder / RECORD
        if not path.is_file():
            return None
        try:
            held = json.loads(path.read_text(encoding="utf-8"))
        except json.JSONDecodeError as error:
            raise ValueError(f"{path} is not JSON: {error}; delete it or name another folder.") from error
        return held if isinstance(held, dict) else {}

    def drop(self, part: str) -> None:
        """Forget what is held of a part."""
        self.record["parts"].pop(part, None)

    def missing(self, part: str, names: Sequence[str]) -> list[str]:
        """The entrants of a part that have no entry yet, or one that the clock ended."""
        held = {entry["entrant"] for entry in self.record["parts"].get(part, []) if not entry.get("timed_out")}
        return [name for name in names if name not in held]

    def add(self, part: str, entry: dict) -> None:
        """Keep an entry in place of an earlier one, plain data, in the ledger, too."""
        run, entry = {key: self._made[key] for key in RUN}, plain(entry)
        self.ledger.add([part, entry["entrant"]], {"entry": entry, "run": run})
        self._put(part, entry, run)

    def _put(self, part: str, entry: dict, run: dict) -> None:
        """An entry in the record, with the number of its run among ``runs``, which that joins with its first entry."""
        runs = self.record["runs"]
        if run not in runs:
            runs.append(run)
            self.record |= {**self._made, **run, "data": {**self.record["data"], **run["data"]}}
        others = [each for each in self.record["parts"].get(part, []) if each["entrant"] != entry["entrant"]]
        self.record["parts"][part] = [*others, {**entry, "run": runs.index(run)}]

    def order(self, part: str, names: Sequence[str]) -> None:
        """Put the entries of a part into the order of the entrants; others are left out."""
        held = {entry["entrant"]: entry for entry in self.record["parts"].get(part, [])}
        self.record["parts"][part] = [held[name] for name in names if name in held]

    def write(self, page: str, figures: Mapping[str, str]) -> None:
        """Write the record, the page and the figures; the ledger, which they hold, goes."""
        self.record = plain(self.record)
        texts = {name: text.encode("utf-8") for name, text in {PAGE: page, **figures}.items()}
        write_whole({self.folder / name: content for name, content in {RECORD: _json(self.record), **texts}.items()})
        if self._ledger.path.is_file():
            self._ledger.path.unlink()
        self._ledger.begun = False


def same_but_entrants(earlier: Any, plan: Mapping[str, Any]) -> bool:
    """Whether two plans differ at most in their ``entrants``, whose entries stand or fall one by one.

    Examples
    --------
    >>> from papers.experiment import same_but_entrants
    >>> same_but_entrants({"seed": 0, "entrants": []}, {"seed": 0, "entrants": [{"name": "PCA"}]})
    True
    """
    if not isinstance(earlier, Mapping):
        return False
    return {**earlier, "entrants": None} == {**plan, "entrants": None}


def changed_entrants(earlier: Mapping[str, Any], plan: Mapping[str, Any]) -> set[str]:
    """Names of the entrants of an earlier plan that this one lacks, or describes otherwise.

    Examples
    --------
    >>> from papers.experiment import changed_entrants
    >>> changed_entrants({"entrants": [{"name": "CCA", "ridge": 1}]}, {"entrants": [{"name": "CCA", "ridge": 2}]})
    {'CCA'}
    """
    present = {each["name"]: each for each in plan.get("entrants", ())}
    return {each["name"] for each in earlier.get("entrants", ()) if present.get(each["name"]) != each}


def plain(value: Any) -> Any:
    """Data as JSON holds them: numbers of 6 digits, None for what is not finite, text for other keys.

    Examples
    --------
    >>> from papers.experiment import plain
    >>> plain({1: (0.12345678, float("nan"))})
    {'1': [0.123457, None]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    return value if isinstance(value, str | int | None) else repr(value)


def _json(record: dict) -> bytes:
    return (json.dumps(record) + "\n").encode("utf-8")


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def made_by(request: Request, experiment: str) -> dict:
    """Where the numbers of a record come from: command, seed, code, versions, hashes of the data."""
    return {
        "experiment": experiment,
        "command": request.command,
        "created": _now(),
        "seed": request.seed,
        "quick": request.quick,
        "jobs": request.n_jobs,
        "code": code(),
        "versions": versions(),
        "data": dict(request.hashes),
    }


def reduced(dataset: Dataset, rows: int | None, seed: int) -> Dataset:
    """At most ``rows`` training rows and half as many test rows, drawn at random; the whole set for None.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from proxembed.data import digits
    >>> from papers.experiment import reduced
    >>> data = replace(digits(), train_idx=range(1000), test_idx=range(1000, 1797))
    >>> reduced(data, 100, 0).X.shape
    (150, 64)
    """
    if rows is None:
        return dataset
    rng, split = np.random.default_rng(seed), standard_split(dataset)
    chosen = [rng.permutation(split.train)[:rows], rng.permutation(split.held_out)[: rows // 2]]
    return dataset.take(np.sort(np.concatenate(chosen)))


def run_part(
    kept: Kept, part: str, tasks: Mapping[str, tuple], compete: Callable[..., dict], request: Request,
    done: int, total: int,
) -> int:  # fmt: skip
    """Run the entrants of a part that the folder does not hold yet; how many entrants are done then, in all.

    Parameters
    ----------
    kept : Kept
    part : str
    tasks : mapping of str to tuple
        For each entrant the arguments of ``compete``.
    compete : callable
        Returns the entry of an entrant.
    request : Request
    done, total : int
        Entrants of earlier parts, and of all.
    """
    names = list(tasks)
    missing = kept.missing(part, names)
    start = done + len(names) - len(missing)
    request.progress(start, total, part)
    for number, (_, entry) in enumerate(unordered_results(compete, [tasks[name] for name in missing], request.n_jobs)):
        kept.add(part, entry)
        request.progress(start + number + 1, total, f"{part}: {entry['entrant']}")
    kept.order(part, names)
    return done + len(names)
