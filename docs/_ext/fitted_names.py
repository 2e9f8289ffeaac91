"""Names of fitted attributes in docstrings end in an underscore, which reStructuredText would read as a link."""

from __future__ import annotations

import re
from typing import Any

QUOTED = re.compile(r"(``.*?``|`.*?`)")
FITTED = re.compile(r"(?<![\w\\])([A-Za-z]\w*)_(?!\w)")


def escape(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Escape the underscore wherever a name stands neither in backticks nor in an example."""
    example = False
    for number, line in enumerate(lines):
        example = line.lstrip().startswith(">>>") or (example and bool(line.strip()))
        if not example:
            parts = QUOTED.split(line)
            parts[::2] = [FITTED.sub(r"\1\\_", part) for part in parts[::2]]
            lines[number] = "".join(parts)


def setup(app: Any) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", escape, priority=900)  # after numpydoc
    return {"parallel_read_safe": True}
