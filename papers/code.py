"""Which code made a number: the commit where it lies in a git checkout, and a hash of its source files."""

from __future__ import annotations

import hashlib
import subprocess
from functools import cache
from pathlib import Path

import proxembed

PAPERS = Path(__file__).resolve().parent
SOURCES = (PAPERS, Path(proxembed.__file__).resolve().parent)
DIGITS = 12


@cache
def code() -> dict[str, str | None]:
    """The commit of the experiments (None outside a git checkout), and a hash of their source files and the package's.

    Examples
    --------
    >>> from papers.code import code
    >>> len(code()["sources"])
    12
    """
    found = hashlib.sha256()
    for folder in SOURCES:
        for path in sorted(folder.rglob("*.py")):
            found.update(f"{folder.name}/{path.relative_to(folder).as_posix()}\0".encode())
            found.update(path.read_bytes())
    return {"commit": _commit(), "sources": found.hexdigest()[:DIGITS]}


def _commit() -> str | None:
    """The commit of the checkout that tracks the experiments."""
    here = ["git", "-C", str(PAPERS)]
    try:
        subprocess.check_call(
            [*here, "ls-files", "--error-unmatch", Path(__file__).name],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        found = subprocess.check_output([*here, "rev-parse", "HEAD"], stderr=subprocess.DEVNULL, text=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return found.strip()[:DIGITS]
