"""The complete examples of CONTRIBUTING.md, as the files that a contributor would write."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[1] / "CONTRIBUTING.md"


def examples(section: str, language: str = "python") -> list[str]:
    """The code blocks of a section."""
    text = PAGE.read_text(encoding="utf-8").partition(f"## {section}\n")[2].partition("\n## ")[0]
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)
