"""The lines of README.md as they are pasted, of Python and of the program, in a folder with the example alone."""

import re
import shlex
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from proxembed.cli import app

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FENCED = re.findall(r"^```(\S*)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_python_prints_what_the_readme_says(checkout):
    at = next(i for i, (kind, text) in enumerate(FENCED) if kind == "python" and "tags.csv" in text)
    printed: list = []
    exec(FENCED[at][1], {"print": printed.append})
    numbers = re.compile(r"\.?\d+")
    (said,) = printed
    told = FENCED[at + 1][1].strip()
    assert numbers.sub("#", said) == numbers.sub("#", told)
    assert [float(each) for each in numbers.findall(said)] == pytest.approx(
        [float(each) for each in numbers.findall(told)], abs=0.02
    )


def test_more_python_runs_whatever_the_search_chooses(checkout):
    section = README[README.index("## More Python") :]
    code = "".join(re.findall("^```python\n(.*?)^```", section, re.MULTILINE | re.DOTALL))
    printed: list = []
    exec(code, {"print": printed.append})
    assert "nearest training rows" in str(printed[1]) and (checkout / "digits-search" / "index.html").exists()


def test_the_lines_of_the_program_run(checkout):
    lines = [line for kind, text in FENCED if not kind for line in text.splitlines() if line.startswith("proxembed ")]
    assert len(lines) >= 8
    for line in lines:
        done = CliRunner().invoke(app, shlex.split(line, comments=True)[1:])
        assert done.exit_code == 0, (line, done.output)
    assert (checkout / "tags-search" / "index.html").exists() and (checkout / "map.html").exists()
