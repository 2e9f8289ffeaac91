"""The complete examples of CONTRIBUTING.md, as the files that a contributor would write."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[1] / "CONTRIBUTING.md"


def example(section: str) -> str:
    """The Python code of a section."""
    text = PAGE.read_text(encoding="utf-8").partition(f"## {section}\n")[2].partition("\n## ")[0]
    return re.search(r"```python\n(.*?)```", text, re.DOTALL)[1]
