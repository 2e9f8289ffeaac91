"""The study of the main job on disk: what its outcomes depend on, and the budget with which an ended run goes on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from proxembed.evaluate.measures import measure_of
from proxembed.execute.executor import Progress
from proxembed.execute.ledger import STUDY, Ledger, as_json, digest, read_header

from .options import OptionError, SearchOptions
from .run_folder import RunFolder

COMPARISON = ".comparison.jsonl"
BUDGET = ("max_seconds", "max_work", "n_jobs", "dask")
FREE = {*BUDGET, "max_trials"}


def folder_of(folder: str | Path | None, resume: str | Path | None) -> str | Path | None:
    """The folder of a run that may go on in ``resume``; an OptionError where both are named and differ."""
    if resume is None:
        return folder
    if folder is not None and Path(folder) != Path(resume):
        raise OptionError("resume", str(resume), f"is not the folder {str(folder)!r}; name one of the two.")
    return resume


def stored_work(folder: Path, options: SearchOptions) -> float | None:
    """The work of the run that a folder holds, in whose place these options would ask for seconds; None for others."""
    header = read_header(folder / STUDY)
    if header is None or any(header["budget"].get(name) != getattr(options, name) for name in BUDGET):
        return None
    return float(header["budget"]["work"])


@contextmanager
def stored_study(
    place: RunFolder | None, options: SearchOptions, dataset: Any, work: float, resume: bool, progress: Progress
) -> Iterator[Ledger | None]:
    """The ledger of a run, to which its engine adds, while the block lasts; None without a folder.

    With ``resume`` it goes on with the study that is there, else it replaces it. ``work`` is the budget, kept for the
    run that resumes.
    """
    if place is None:
        yield None
        return
    path = place.folder / STUDY
    earlier = read_header(path) is not None
    if resume and not earlier:
        progress(0, 0, f"nothing to resume in {place.folder}: the search begins")
    if earlier and not resume:
        progress(0, 0, f"the earlier search in {place.folder} is replaced")
    given = asdict(options) | {"measure": measure_of(options.measure).name}
    facts = {name: value for name, value in given.items() if name not in FREE}
    arrays = (dataset.X, dataset.Y, dataset.unknown, dataset.train_idx, dataset.test_idx, dataset.groups, dataset.times)
    budget = {name: getattr(options, name) for name in BUDGET} | {"work": as_json(work)}
    ledger = Ledger(path, facts | {"data": digest(*arrays)}, resume=resume, budget=budget)
    try:
        yield ledger
    finally:
        ledger.close()
        if not ledger.empty:
            place.note(STUDY)


@contextmanager
def stored_comparison(study: Ledger | None) -> Iterator[Ledger | None]:
    """The ledger of what follows the search of a study: that of an ended run, or a new one; None without a study."""
    if study is None:
        yield None
        return
    path, facts = study.path.with_name(COMPARISON), {"study": study.id}
    header = read_header(path)
    if header is not None and header["facts"] != facts:
        path.unlink()
    ledger = Ledger(path).begin(facts)
    try:
        yield ledger
    finally:
        ledger.close()
