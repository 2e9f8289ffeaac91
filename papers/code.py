"""Which code made a number: the commit where the package lies in a git checkout, and a hash of its source files."""

from __future__ import annotations

import hashlib
import subprocess
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent
DIGITS = 12


@cache
def code() -> dict[str, str | None]:
    """The package's commit (None outside a git checkout) and a hash of its source files.

    Examples
    --------
    >>> from papers.code import code
    >>> len(code()["sources"])
    12
    """
    found = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        found.update(f"{path.relative_to(PACKAGE).as_posix()}\0".encode())
        found.update(path.read_bytes())
    return {"commit": _commit(), "sources": found.hexdigest()[:DIGITS]}


def _commit() -> str | None:
    """The commit of the checkout that tracks the package."""
    here = ["git", "-C", str(PACKAGE)]
    try:
        subprocess.check_call(
            [*here, "ls-files", "--error-unmatch", "base.py"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        found = subprocess.check_output([*here, "rev-parse", "HEAD"], stderr=subprocess.DEVNULL, text=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return found.strip()[:DIGITS]
