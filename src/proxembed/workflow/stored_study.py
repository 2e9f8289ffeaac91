"""The study of the main job on disk: what its outcomes depend on, and the budget with which an ended run goes on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from proxembed.evaluate.measures import measure_of
from proxembed.execute.executor import Progress
from proxembed.study.storage import STUDY, StudyFile, as_json, digest, read_header

from .options import OptionError, SearchOptions
from .run_folder import RunFolder

BUDGET = ("max_seconds", "max_work", "n_jobs", "dask")
FREE = {*BUDGET, "max_trials"}


def folder_of(folder: str | Path | None, resume: str | Path | None) -> str | Path | None:
    """The folder of a run that may go on in ``resume``; an OptionError where both are named and differ.

    Examples
    --------
    >>> from proxembed.workflow.stored_study import folder_of
    >>> folder_of(None, "out")
    'out'
    """
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


class StoredParts:
    """The finished parts of a phase after the search, each a line of the study file.

    Parameters
    ----------
    file : StudyFile
    phase : str
    *facts : what the parts depend on beside the options and data of the search, as ``digest`` takes it

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from proxembed.study.storage import StudyFile
    >>> from proxembed.workflow.stored_study import StoredParts
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "study.jsonl"
    ...     StoredParts(StudyFile(path).begin({}), "diagnosis", "OPLS").keep("shuffle", 0, {"value": 0.5})
    ...     again = StoredParts(StudyFile(path).begin({}), "diagnosis", "OPLS")
    >>> again.find("shuffle", 0), again.find("half", 0)
    ({'value': 0.5}, None)
    """

    def __init__(self, file: StudyFile, phase: str, *facts: Any):
        self.file, self.key = file, [phase, digest(*facts)]

    def find(self, part: str, number: int) -> Any:
        """What a part has given; None where it is not finished."""
        return self.file.outcome([*self.key, part, number])

    def keep(self, part: str, number: int, value: Any) -> None:
        """Add a finished part."""
        self.file.append([*self.key, part, number], value)


@contextmanager
def stored_study(
    place: RunFolder | None, options: SearchOptions, dataset: Any, work: float, resume: bool, progress: Progress
) -> Iterator[StudyFile | None]:
    """The study file of a run, to which its engine appends, while the block lasts; None without a folder.

    Parameters
    ----------
    place : RunFolder or None
    options : SearchOptions
    dataset : Dataset
    work : float
        The budget, kept for the run that resumes.
    resume : bool
        Whether to go on with the study that is there; else it is replaced.
    progress : callable
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
    file = StudyFile(path, facts | {"data": digest(*arrays)}, resume=resume, budget=budget)
    try:
        yield file
    finally:
        file.close()
        if not file.empty:
            place.note(STUDY)
