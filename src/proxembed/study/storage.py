"""A study on disk: a line of JSON for each finished step, appended and synced, from which a later run goes on.

The file is a memory of outcomes, not of the search: a run that resumes asks for the same steps again, in the same
order, and takes from the file those that are there. Its end is that of a run that nothing has stopped, whatever the
strategy.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import uuid
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.persist.whole import alone_in, written_place
from proxembed.tables import TableRows
from proxembed.targets.labels import LabelMatrix

STUDY = "study.jsonl"
DIGEST = "digest:"
SUM = ', "sum": "'


class StudyFile:
    """The finished steps of one search, in a file to which processes append.

    The first line holds ``facts``, what the outcomes depend on; every other one the key of a step and its outcome. Each
    ends with its checksum. A line that is not whole, as a killed process leaves it, or that was changed is skipped, and
    its step is done again.

    Parameters
    ----------
    path : Path
    facts : mapping of str to what JSON has, optional
        Known beforehand; ``begin`` takes further ones.
    resume : bool, default=True
        Whether to go on with the study in the file; else it is replaced.
    budget : mapping, optional
        What the search may spend, as ``read_budget`` returns it; it may differ from that of the run before.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from proxembed.study.storage import StudyFile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "study.jsonl"
    ...     first = StudyFile(path).begin({"seed": 0})
    ...     first.append(["OPLS", 0], {"score": 0.5})
    ...     again = StudyFile(path).begin({"seed": 0})
    >>> again.outcome(["OPLS", 0]), again.outcome(["OPLS", 1])
    ({'score': 0.5}, None)
    """

    def __init__(
        self,
        path: Path,
        facts: Mapping[str, Any] | None = None,
        *,
        resume: bool = True,
        budget: Mapping[str, Any] | None = None,
    ):
        self.path, self.facts, self.resume = written_place(Path(path)), dict(facts or {}), resume
        self.budget = dict(budget or {})
        self.id = uuid.uuid4().hex
        self._known: dict[str, Any] = {}
        self._earlier = b""
        self.begun = False

    def __getstate__(self) -> dict[str, Any]:
        """Workers append and do not read."""
        return {**vars(self), "_known": {}, "_earlier": b""}

    @property
    def empty(self) -> bool:
        """Whether no step is finished."""
        return not self.begun or not self._known and len(_lines(self.path)) < 2

    def begin(self, facts: Mapping[str, Any]) -> StudyFile:
        """Read the study, or begin one where there is none; returns self.

        Raises
        ------
        ValueError
            The file holds a study with other facts, or something else.
        """
        facts = json.loads(_text({"version": version("proxembed"), **self.facts, **facts}))
        lines = _lines(self.path) if self.resume else []
        header = read_header(self.path) if lines else None
        if header is not None:
            _check_same(self.path, header["facts"], facts)
        self.begun = True
        if header is None:
            self._write_header(facts)
            return self
        self.id = header["id"]
        for line in lines[1:]:
            if line.get("id") == self.id and {"step", "outcome"} <= set(line):
                self._known[_text(line["step"])] = line["outcome"]
        _cut_torn_line(self.path)
        return self

    def outcome(self, key: Any) -> Any:
        """The outcome of a step as plain data, None where it is not finished."""
        return self._known.get(_text(key)) if self._known else None

    def append(self, key: Any, outcome: Any) -> None:
        """Add a finished step: on disk when this returns."""
        self._append({"id": self.id, "step": key, "outcome": outcome})

    def close(self) -> None:
        """Remove a file that has no finished step, in favour of the one that it has replaced."""
        if self.begun and self.empty:
            self.begun = False
            self.path.unlink(missing_ok=True)
            if self._earlier:
                self.path.write_bytes(self._earlier)

    def _write_header(self, facts: Mapping[str, Any]) -> None:
        with suppress(FileNotFoundError):
            self._earlier = self.path.read_bytes()
            self.path.unlink()
        self._append({"id": self.id, "facts": facts, "budget": self.budget})

    def _append(self, line: Mapping[str, Any]) -> None:
        """One write to the end of the file: processes do not mix their lines."""
        try:
            with open(self.path, "ab", buffering=0) as file:
                file.write(_summed(_text(line)).encode() + b"\n")
                os.fsync(file.fileno())
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from error


@contextmanager
def opened(storage: Any) -> Iterator[StudyFile | None]:
    """The study file of a ``storage`` parameter: None, a folder, which is then this process's alone, or a StudyFile.

    Raises
    ------
    ValueError
        Another process that lives searches in this folder.

    Examples
    --------
    >>> from proxembed.study.storage import opened
    >>> with opened(None) as file:
    ...     file is None
    True
    """
    if storage is None:
        yield None
        return
    if not isinstance(storage, StudyFile):
        written_place(Path(storage)).mkdir(parents=True, exist_ok=True)
    with nullcontext() if isinstance(storage, StudyFile) else alone_in(Path(storage)):
        file = storage if isinstance(storage, StudyFile) else StudyFile(Path(storage) / STUDY)
        try:
            yield file
        finally:
            file.close()


def read_header(path: Path) -> dict[str, Any] | None:
    """The first line of a study file: ``id``, ``facts`` and ``budget``; None where there is no study.

    Raises
    ------
    ValueError
        The file is something else, or its first line is damaged.

    Examples
    --------
    >>> from pathlib import Path
    >>> from proxembed.study.storage import read_header
    >>> read_header(Path("no such file")) is None
    True
    """
    lines = _lines(path)
    if not lines:
        return None
    header = lines[0]
    if not all(isinstance(header.get(name), kind) for name, kind in (("id", str), ("facts", dict), ("budget", dict))):
        raise ValueError(f"{path} is no study of proxembed, or is damaged; move it away, or name another folder.")
    return header


def as_json(value: float) -> float | str:
    """A number as JSON has it; ``float`` turns the word for what it has not back.

    Examples
    --------
    >>> import math
    >>> from proxembed.study.storage import as_json
    >>> as_json(0.5), as_json(-math.inf), float(as_json(-math.inf))
    (0.5, '-inf', -inf)
    """
    return float(value) if math.isfinite(value) else str(float(value))


def digest(*values: Any) -> str:
    """A hash of data: arrays, sparse matrices, labels, rows of a table, and what has a ``repr`` of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.study.storage import digest
    >>> digest(np.eye(2)) == digest(np.eye(2)), digest(np.eye(2)) == digest(np.eye(2) + 1)
    (True, False)
    """
    state = hashlib.sha256()
    for value in values:
        _add(state, value)
    return f"{DIGEST}{state.hexdigest()}"


def _add(state: Any, value: Any) -> None:
    if isinstance(value, LabelMatrix):
        value = (value.form, value.classes_, value.Y, value.unknown)
    if isinstance(value, TableRows):
        value = (*map(repr, value.columns), *value.arrays)
    if sparse.issparse(value):
        rows = sparse.csr_array(value, copy=True)
        rows.sum_duplicates()
        value = (rows.shape, rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data)
    if isinstance(value, list | tuple):
        state.update(f"({len(value)}".encode())
        for each in value:
            _add(state, each)
    elif isinstance(value, np.ndarray) and value.dtype != object:
        state.update(f"{value.dtype.str}{value.shape}".encode())
        if value.nbytes:
            state.update(np.ascontiguousarray(value).reshape(-1).view(np.uint8))
    else:
        state.update(repr(value.tolist() if isinstance(value, np.ndarray) else value).encode())


def _summed(text: str) -> str:
    """An object of JSON with its checksum as the last entry."""
    return f'{text[:-1]}{SUM}{zlib.crc32(text.encode("utf-8", "surrogatepass")):08x}"}}'


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=_plain)


def _plain(value: Any) -> Any:
    """NumPy's numbers as Python's; of other things their words."""
    return value.item() if isinstance(value, np.generic) else repr(value)


def _lines(path: Path) -> list[dict[str, Any]]:
    """The lines that are as they were written; {} for a first line that is not.

    A study of an earlier version has no checksums: of it the first line alone is read, which tells so.
    """
    found: list[dict[str, Any]] = []
    with suppress(FileNotFoundError), open(path, encoding="utf-8", errors="replace", newline="\n") as file:
        for number, line in enumerate(file):
            text = line.removesuffix("\n").rpartition(SUM)[0] + "}"
            if _summed(text) == line.removesuffix("\n") and line.endswith("\n"):
                found.append(json.loads(text))
            elif number == 0 and line.endswith("\n"):
                found.append(_of_another_version(line))
    return found


def _of_another_version(line: str) -> dict[str, Any]:
    """The first line of a study that another version wrote; {} for any other line."""
    try:
        value = json.loads(line)
        return value if value["facts"].get("version", version("proxembed")) != version("proxembed") else {}
    except (ValueError, RecursionError, TypeError, LookupError, AttributeError):
        return {}


def _cut_torn_line(path: Path) -> None:
    """Remove what follows the last end of a line."""
    with open(path, "rb+") as file:
        content = file.read()
        file.truncate(content.rfind(b"\n") + 1)


def _check_same(path: Path, then: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """A ValueError that names what differs."""
    names = [name for name in dict.fromkeys([*now, *then]) if then.get(name) != now.get(name)]
    if not names:
        return
    hidden = [name for name in names if str(now.get(name, then.get(name))).startswith(DIGEST)]
    shown = [f"{name} ({then.get(name)!r} then, {now.get(name)!r} now)" for name in names if name not in hidden]
    raise ValueError(
        f"{path} is the study of another search, which differs in {', '.join([*hidden, *shown])}; resume with the same "
        "data and options, or name another folder."
    )
