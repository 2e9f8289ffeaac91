"""What a run has finished after the search, on disk, for a run that resumes.

One file per arm and split of the comparison, and one per fit for the test rows; a file that is not whole is ignored.
"""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import zlib
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from proxembed.evaluate.arms import Arm
from proxembed.evaluate.measures import measure_of
from proxembed.evaluate.parallel import Finished
from proxembed.evaluate.protocol import Protocol
from proxembed.evaluate.scoring import Outcome
from proxembed.persist import write_whole
from proxembed.splits.splits import Split
from proxembed.study.storage import digest

from .run_folder import npz_bytes

ARMS = ".comparison"
ARRAYS = ("predictions", "similarity", "new_similarity")
NUMBERS = ("hubs", "queries")
DAMAGED = (OSError, ValueError, LookupError, EOFError, BadZipFile, zlib.error)


class StoredArms:
    """What arms have done on splits, in files that are named by all that it depends on.

    Parameters
    ----------
    folder : Path
        Made with the first file.
    data : str
        A hash of the data set.
    resume : bool
        Whether the files that are there are taken up; else they go.

    Examples
    --------
    >>> from pathlib import Path
    >>> from proxembed.evaluate.arms import Arm
    >>> from proxembed.evaluate.protocol import Protocol
    >>> from proxembed.splits.folds import Split
    >>> from proxembed.workflow.stored_arms import StoredArms
    >>> arm, split = Arm("all features", None, rival=True), Split("1", np.arange(4), np.arange(4, 6))
    >>> StoredArms(Path("no such folder"), "digest", resume=True).find(Protocol((arm,), (2,)), split, arm) is None
    True
    """

    def __init__(self, folder: Path, data: str, *, resume: bool):
        self.folder, self.data = folder, data
        if not resume:
            self.clear()

    def find(self, protocol: Protocol, split: Split, arm: Arm) -> Finished | None:
        """What an arm has done on a split; None where it is not there. The numbers of both are 0."""
        try:
            content = io.BytesIO(self._path(protocol, split, arm).read_bytes())
            with np.load(content) as file:
                facts = json.loads(str(file["facts"]))
                values = {name: [file[f"{name}{i}"] for i in range(len(facts[name]))] for name in ARRAYS}
                rows = file["rows"]
        except DAMAGED:
            return None
        outcome = facts["outcome"]
        for name in ARRAYS:
            outcome[name] = {tuple(key): each for key, each in zip(facts[name], values[name], strict=True)}
        for name in NUMBERS:
            outcome[name] = {tuple(key): value for key, value in outcome[name]}
        return Finished(0, 0, Outcome(**outcome), facts["scaling"], facts["sizes"], rows)

    def keep(self, protocol: Protocol, split: Split, arm: Arm, found: Finished) -> None:
        """Write what an arm has done on a split, unless it failed: another run may fare better."""
        outcome = found.outcome
        if any(row["failure"] for row in outcome.rows):
            return
        plain = {name: value for name, value in vars(outcome).items() if name not in ARRAYS}
        plain |= {name: [[list(key), value] for key, value in getattr(outcome, name).items()] for name in NUMBERS}
        facts: dict[str, Any] = {"outcome": plain, "scaling": found.scaling, "sizes": found.sizes}
        facts |= {name: [list(key) for key in getattr(outcome, name)] for name in ARRAYS}
        arrays = {f"{name}{i}": each for name in ARRAYS for i, each in enumerate(getattr(outcome, name).values())}
        self.folder.mkdir(exist_ok=True)
        content = {"facts": json.dumps(facts, default=_plain), "rows": found.rows, **arrays}
        write_whole({self._path(protocol, split, arm): npz_bytes(content)})

    def arrays(self, facts: tuple[Any, ...], make: Callable[[], tuple[np.ndarray, ...]]) -> tuple[np.ndarray, ...]:
        """The arrays that belong to these facts: those that are there, or what ``make()`` returns, which is kept."""
        path = self.folder / f"{digest('arrays', self.data, version('proxembed'), *facts)[-32:]}.npz"
        try:
            with np.load(io.BytesIO(path.read_bytes())) as file:
                return tuple(file[f"{i}"] for i in range(len(file.files)))
        except DAMAGED:  # not there, or not whole
            made = make()
        self.folder.mkdir(exist_ok=True)
        write_whole({path: npz_bytes({f"{i}": each for i, each in enumerate(made)})})
        return made

    def clear(self) -> None:
        """Remove what is there: the comparison is in the results, or is begun anew."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _path(self, protocol: Protocol, split: Split, arm: Arm) -> Path:
        names = ("sizes", "n_neighbors", "min_positives", "seed", "max_seconds", "keep_predictions")
        facts: Mapping[str, Any] = {
            **{name: getattr(protocol, name) for name in names},
            "data": self.data,
            "version": version("proxembed"),
            "split": digest(split.name, split.train, split.held_out),
            "measure": measure_of(protocol.measure).name,
            "further": protocol.further_of(arm),
            "refitted": protocol.refitted(arm),
            "arm": [arm.name, arm.rival, arm.grid, arm.each_size, arm.largest, type(arm.estimator).__name__],
            "parameters": {} if arm.estimator is None else arm.estimator.get_params(),
        }
        text = json.dumps(facts, sort_keys=True, default=repr)
        return self.folder / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.npz"


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)
