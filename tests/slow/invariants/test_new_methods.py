"""A new method is a class statement: the steps of CONTRIBUTING.md on a copy of the repository, and every law there."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "results", "_build")
LAWS = "tests/invariants", "tests/contracts", "tests/test_sklearn_contract.py"
FAMILY = "src/proxembed/methods/variance.py"
EXAMPLE = ">>> from proxembed import {0}\n    >>> {0}().n_components is None\n    True"
ENTRY = "\n@article{planted2024,\n  author = {Planter, P.},\n  title = {Planting},\n  year = {2024}\n}\n"
SMALLEST = '''
class LeastVariance(SpectralEmbedder):
    """Directions of least variance: minimise P'HP, P'P = I.  [planted2024]

    Examples
    --------
    {example}
    """

    def template(self, rows):
        return Template(-Centering(), offset=rows.ones, sense=-1)
'''


def contributed() -> str:
    """The class statement that CONTRIBUTING.md shows, under a name of its own."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    text = re.search(r"```python\n(class MVMD.*?)```", page, re.DOTALL)[1]
    text = text.replace("class MVMD", "class ContributedSpread").replace("xu2016mvmd", "planted2024")
    return "\n\n" + text.replace(">>> ...", EXAMPLE.format("ContributedSpread"))


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy of the repository with a maximising and a minimising method, made as CONTRIBUTING.md says."""
    folder = shutil.copytree(ROOT, tmp_path_factory.mktemp("copy") / "repository", ignore=LEFT_OUT)
    with (folder / FAMILY).open("a", encoding="utf-8") as family:
        family.write(contributed() + SMALLEST.format(example=EXAMPLE.format("LeastVariance")))
    with (folder / "src/proxembed/references.bib").open("a", encoding="utf-8") as bibliography:
        bibliography.write(ENTRY)
    table = folder / "src/proxembed/__init__.py"
    text = table.read_text(encoding="utf-8")
    for name in ("ContributedSpread", "LeastVariance"):
        text = text.replace("_NAMES = {\n", f'_NAMES = {{\n    "{name}": "methods.variance",\n')
        line = "    from .methods.variance import {0} as {0}\n"
        text = text.replace(line.format("PCA"), line.format("PCA") + line.format(name))
    table.write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (LAWS, "ContributedSpread or LeastVariance"),
        (("tests/test_architecture.py",), "table or registry or bibliography or cites or documented"),
    ],
    ids=["laws", "rules"],
)
def test_there_is_no_further_step(checkout, files, words):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment |= {"PYTHONPATH": str(checkout / "src"), "TEST_PRODUCTS": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", words, *files]
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:]
    assert files != LAWS or int(re.search(r"(\d+) passed", done.stdout)[1]) > 100
