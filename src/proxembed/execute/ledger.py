"""The ledger of finished work: a line of JSON per key and result, appended and synced, from which a later run goes on.

It remembers results, not the order of the work: a run that resumes asks for the same work again, in the same order, and
takes from the ledger what is there. Its end is that of a run that nothing has stopped.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import uuid
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.tables import RawRows, TableRows
from proxembed.tables.raw_rows import encoder_text
from proxembed.targets.labels import LabelMatrix

from .atomic_files import alone_in, written_place

FORMAT = 2  # 1: studies whose lines name a step and its outcome
STUDY = "study.jsonl"
DIGEST = "digest:"
SUM = b', "sum": "'
ARRAY = "array"


class Ledger:
    """Finished work in a file to which processes append."""

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
        self._results: dict[str, Any] = {}
        self._earlier = b""
        self.begun = False

    def __getstate__(self) -> dict[str, Any]:
        """Workers append and do not read."""
        return {**vars(self), "_results": {}, "_earlier": b""}

    @property
    def empty(self) -> bool:
        """Whether no work is finished."""
        return not self.begun or not self._results and not any(True for _ in self._finished())

    def begin(self, facts: Mapping[str, Any]) -> Ledger:
        """Read the file, or begin one; returns self. Raises a ValueError if it holds something else or other facts."""
        facts = json.loads(_text({**self.facts, **facts}))
        header = read_header(self.path) if self.resume else None
        if header is not None:
            _check_same(self.path, header["facts"], facts)
            self.id = header["id"]
            self._results = {_text(line["key"]): line["result"] for line in self._finished()}
            _cut_torn_line(self.path)
        else:
            with suppress(FileNotFoundError):
                self._earlier = self.path.read_bytes()
                self.path.unlink()
            try:
                self._append({"format": FORMAT, "id": self.id, "facts": facts, "budget": self.budget})
            except OSError:
                self._put_back()
                raise
        self.begun = True
        return self

    @property
    def results(self) -> list[tuple[Any, Any]]:
        """The (key, result) pairs that were there when the ledger was begun; the last one of each key."""
        return [(json.loads(key), result) for key, result in self._results.items()]

    def find(self, key: Any) -> Any:
        """The result of a key; None if it is not there."""
        return self._results.get(_text(key)) if self._results else None

    def add(self, key: Any, result: Any) -> None:
        """Add the result of finished work: on disk when this returns."""
        self._append({"id": self.id, "key": key, "result": result})

    def remember(self, key: Any, make: Callable[[], Any]) -> Any:
        """The result of a key: the one that is there, or that of ``make()``, which is added."""
        if (found := self.find(key)) is None:
            self.add(key, found := make())
        return found

    def close(self) -> None:
        """Remove a file without finished work, in favour of the one that it has replaced."""
        if self.begun and self.empty:
            self.begun = False
            self._put_back()

    def _put_back(self) -> None:
        """The file that this one has replaced, if any, in its place."""
        self.path.unlink(missing_ok=True)
        if self._earlier:
            self.path.write_bytes(self._earlier)

    def _finished(self) -> Iterator[dict[str, Any]]:
        """The lines of this ledger that are as they were written."""
        with suppress(FileNotFoundError), open(self.path, "rb") as file:
            file.readline()
            for line in map(_parsed, file):
                if line is not None and line["id"] == self.id:
                    yield line

    def _append(self, line: Mapping[str, Any]) -> None:
        """One write to the end of the file: processes do not mix their lines."""
        try:
            with open(self.path, "ab", buffering=0) as file:
                file.write(_summed(json.dumps(line, default=_plain).encode()))
                os.fsync(file.fileno())
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from error


@contextmanager
def opened(storage: Any) -> Iterator[Ledger | None]:
    """The ledger of a ``storage`` parameter: None, a Ledger, or a folder, which is then this process's alone."""
    if storage is None:
        yield None
        return
    if not isinstance(storage, Ledger):
        written_place(Path(storage)).mkdir(parents=True, exist_ok=True)
    with nullcontext() if isinstance(storage, Ledger) else alone_in(Path(storage)):
        ledger = storage if isinstance(storage, Ledger) else Ledger(Path(storage) / STUDY)
        try:
            yield ledger
        finally:
            ledger.close()


def read_header(path: Path) -> dict[str, Any] | None:
    """The first line of a ledger: ``id``, ``facts`` and ``budget``; None if there is none."""
    try:
        with open(path, "rb") as file:
            line = file.readline()
    except FileNotFoundError:
        return None
    if not line.endswith(b"\n"):
        return None
    header = _parsed(line)
    if header is not None and header.get("format") == FORMAT:
        return header
    if _is_of_another_version(line):
        raise ValueError(
            f"{path} is a study of another version of proxembed, which cannot be resumed; move it away, or name "
            "another folder."
        )
    raise ValueError(f"{path} is not a study of proxembed, or is damaged; move it away, or name another folder.")


def as_json(value: float) -> float | str:
    """A number as JSON has it; ``float`` turns the word for what it has not back."""
    return float(value) if math.isfinite(value) else str(float(value))


def digest(*values: Any) -> str:
    """A hash of data: arrays, sparse matrices, labels, rows of a table, and what has a ``repr`` of its own."""
    state = hashlib.sha256()
    for value in values:
        _add(state, value)
    return f"{DIGEST}{state.hexdigest()}"


def _add(state: Any, value: Any) -> None:
    if isinstance(value, LabelMatrix):
        value = (value.form, value.classes_, value.Y, value.unknown)
    if isinstance(value, TableRows):
        value = (*map(repr, value.columns), *value.arrays)
    if isinstance(value, RawRows):
        columns = [np.asarray(value.X[name]) for name in value.X.columns] if value.is_frame else [value.X]
        value = (encoder_text(value.encoder), *value.names, *columns)
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


def _text(value: Any) -> str:
    """Plain data as text that does not depend on the order of names."""
    return json.dumps(value, sort_keys=True, default=_plain)


def _plain(value: Any) -> Any:
    """What JSON does not have: numbers of NumPy as Python's, arrays packed, of other things their words."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return {ARRAY: [value.dtype.str, value.shape, b64encode(zlib.compress(value.tobytes(), 1)).decode()]}
    return repr(value)


def _unpacked(value: dict[str, Any]) -> Any:
    """The array that ``_plain`` has packed; other objects as they are."""
    if set(value) != {ARRAY}:
        return value
    dtype, shape, data = value[ARRAY]
    return np.frombuffer(bytearray(zlib.decompress(b64decode(data))), dtype).reshape(shape)


def _summed(text: bytes) -> bytes:
    """A line: an object of JSON with its checksum as the last entry."""
    return text[:-1] + SUM + b'%08x"}\n' % zlib.crc32(text)


def _parsed(line: bytes) -> dict[str, Any] | None:
    """A line as it was written; None for any other one."""
    text = line.rpartition(SUM)[0] + b"}"
    return json.loads(text, object_hook=_unpacked) if _summed(text) == line else None


def _is_of_another_version(line: bytes) -> bool:
    """Whether this is the first line of a study in another format."""
    try:
        value = json.loads(line)
        return value.get("format") != FORMAT and "version" in value["facts"]
    except (ValueError, RecursionError, TypeError, LookupError, AttributeError):
        return False


def _cut_torn_line(path: Path) -> None:
    """Remove what follows the last end of a line."""
    with open(path, "rb+") as file:
        content = file.read()
        file.truncate(content.rfind(b"\n") + 1)


def _check_same(path: Path, then: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Raise a ValueError that names what differs."""
    names = [name for name in dict.fromkeys([*now, *then]) if then.get(name) != now.get(name)]
    if not names:
        return
    hidden = [name for name in names if str(now.get(name, then.get(name))).startswith(DIGEST)]
    shown = [f"{name} ({then.get(name)!r} then, {now.get(name)!r} now)" for name in names if name not in hidden]
    raise ValueError(
        f"{path} is the study of another search, which differs in {', '.join([*hidden, *shown])}; resume with the same "
        "data and options, or name another folder."
    )
