"""The paper on the package cites what its list of references has, and says of the records what they say."""

import re
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAPER = (ROOT / "paper" / "paper.md").read_text(encoding="utf-8")
BODY = " ".join(PAPER.split("---\n", 2)[2].split())
NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8}

sys.path.append(str(ROOT / "docs" / "results"))
import readme_tables  # noqa: E402


def entries(path: str) -> dict[str, str]:
    """The entries of a BibTeX file, by key."""
    text = (ROOT / path).read_text(encoding="utf-8")
    return {found[1]: found[0] for found in re.finditer(r"^@\w+\{(\w+),.*?^\}$", text, re.MULTILINE | re.DOTALL)}


def test_citations_and_references_are_the_same():
    assert set(re.findall(r"@(\w+)", BODY)) == set(entries("paper/paper.bib"))


def test_shared_references_are_those_of_the_package():
    paper, package = entries("paper/paper.bib"), entries("src/proxembed/references.bib")
    shared = set(paper) & set(package)
    assert len(shared) > 10 and {key: paper[key] for key in shared} == {key: package[key] for key in shared}


def test_the_length_is_that_of_the_journal():
    assert 700 <= len(BODY.split()) <= 1000


@pytest.mark.skipif(not readme_tables.multi_label_records(), reason="the sdist has no records")
@pytest.mark.parametrize(
    ("goal", "sentence"),
    [
        ("neighbours", r"(?P<better>\w+) sets;"),
        ("predict", r"(?P<better>\w+), \*level\* on (?P<level>\w+), and could not be told on (?P<tell>\w+)\."),
    ],
)
def test_the_verdicts_are_those_of_the_records(goal, sentence):
    records = readme_tables.multi_label_records()
    words = Counter(record["summary"]["verdict"]["goals"][goal]["word"] for record in records.values())
    said = re.search(r"\*better\* on " + sentence, BODY).groupdict()
    told = {"cannot tell" if word == "tell" else word: NUMBERS[number] for word, number in said.items()}
    assert told == words and f"each of {next(word for word in NUMBERS if NUMBERS[word] == len(records))} multi" in BODY
