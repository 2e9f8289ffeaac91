"""Files written whole or not at all: a temporary name beside the target, then a rename."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path


def write_whole(files: Mapping[Path, bytes]) -> None:
    """Write files so that readers see the old ones or the new ones, never a part; all are written before any is shown.

    Parameters
    ----------
    files : mapping of Path to bytes
        Their folders must exist.

    Raises
    ------
    OSError
        With the name of the file that could not be written; earlier files stay as they were.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from proxembed.persist import write_whole
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole({Path(folder) / "note.bin": b"whole"})
    ...     (Path(folder) / "note.bin").read_bytes()
    b'whole'
    """
    staged: dict[Path, str] = {}
    try:
        for path, content in files.items():
            with _named(path):
                _stage(path, content, staged)
        for path in files:
            with _named(path):
                os.replace(staged[path], path)
            del staged[path]
    finally:
        for temporary in staged.values():
            with suppress(FileNotFoundError):
                os.unlink(temporary)


def check_writable(path: str | Path) -> Path:
    """Prove that a file of this name can be written, before the long part starts; nothing is left behind.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    Path

    Raises
    ------
    OSError
        The name is a folder, its folder does not exist or cannot be written.

    Examples
    --------
    >>> from proxembed.persist import check_writable
    >>> check_writable("no such folder/model.skops")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] its folder does not exist; make it first: 'no such folder/model.skops'
    """
    path = Path(path)
    with _named(path):
        _check_place(path)
        with tempfile.TemporaryFile(dir=path.parent):
            return path


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Errors name the file that was wanted, not the temporary one."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def _stage(path: Path, content: bytes, staged: dict[Path, str]) -> None:
    """Write the content under a temporary name beside its target and note that name."""
    _check_place(path)
    handle, staged[path] = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.chmod(staged[path], 0o644)


def _check_place(path: Path) -> None:
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "this is a folder; name a file in it")
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "its folder does not exist; make it first")
