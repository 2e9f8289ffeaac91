"""New methods, readers, rivals, measures: the steps of CONTRIBUTING.md on a copy of the repository, and its tests."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import contributed

ROOT = Path(__file__).resolve().parents[3]
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "results", "_build")
READER = "src/proxembed/data/readers/slashed.py"
LAWS = "tests/invariants", "tests/contracts", "tests/test_sklearn_contract.py"
OPTIONS = tuple(f"tests/{name}.py" for name in ("unit/workflow/test_options", "unit/cli/test_app"))
RIVALS = ("src/proxembed/evaluate/rivals", "tests/unit/evaluate/rivals") + tuple(
    f"tests/{name}.py"
    for name in ("unit/evaluate/test_arms", "unit/test_roles", "unit/test_base")
    + ("unit/targets/test_target_type", "unit/cli/test_program")
)
RIVALS += (
    "tests/unit/workflow/test_plan.py::test_every_method_and_rival_has_its_cost",
    "tests/test_architecture.py::test_the_lazy_table_equals_the_registry",
)
MEASURES = ("src/proxembed/measures/measures.py",) + tuple(
    f"tests/unit/evaluate/{name}.py" for name in ("test_measures", "test_known_cells", "test_bootstrap")
)
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


def contributed_method() -> str:
    """The class statement that CONTRIBUTING.md shows, under a name of its own."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    text = re.search(r"```python\n(class MVMD.*?)```", page, re.DOTALL)[1]
    text = text.replace("class MVMD", "class ContributedSpread").replace("xu2016mvmd", "planted2024")
    return "\n\n" + text.replace(">>> ...", EXAMPLE.format("ContributedSpread"))


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy of the repository with a reader, a maximising and a minimising method, made as CONTRIBUTING.md says."""
    folder = shutil.copytree(ROOT, tmp_path_factory.mktemp("copy") / "repository", ignore=LEFT_OUT)
    (folder / READER).write_text(contributed.example("Adding a reader"), encoding="utf-8")
    with (folder / FAMILY).open("a", encoding="utf-8") as family:
        family.write(contributed_method() + SMALLEST.format(example=EXAMPLE.format("LeastVariance")))
    with (folder / "src/proxembed/references.bib").open("a", encoding="utf-8") as bibliography:
        bibliography.write(ENTRY)
    table = folder / "src/proxembed/__init__.py"
    text = table.read_text(encoding="utf-8")
    for name in ("ContributedSpread", "LeastVariance"):
        text = text.replace("_NAMES = {\n", f'_NAMES = {{\n    "{name}": "methods.variance",\n')
        line = "    from .methods.variance import {0} as {0}\n"
        text = text.replace(line.format("PCA"), line.format("PCA") + line.format(name))
    table.write_text(text, encoding="utf-8")
    add_option(folder)
    add_rival_and_measure(folder)
    return folder


def add_option(folder: Path) -> None:
    """Add the option of CONTRIBUTING.md, use it, and run what `make options` runs."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Adding an option")[2]
    declaration, use = re.findall(r"```python\n(.*?)```", page, re.DOTALL)[:2]
    for name, within, before, text in (
        ("options", "class SearchOptions", "    def __post_init__", f"{declaration}\n"),
        ("main_job", "def run_search", "    make_splits(", use),
    ):
        path = folder / "src/proxembed/workflow" / f"{name}.py"
        source = path.read_text(encoding="utf-8")
        place = source.index(before, source.index(within))
        path.write_text(source[:place] + text + source[place:], encoding="utf-8")
    done = run_in(folder, "tests/option_blocks.py")
    assert done.returncode == 0, done.stderr


def run_in(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Python in the copy, whose package and tests it imports."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment |= {"PYTHONPATH": f"{folder / 'src'}{os.pathsep}{folder / 'tests'}", "TEST_PRODUCTS": "1"}
    return subprocess.run([sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True)


def add_rival_and_measure(folder: Path) -> None:
    """Add what CONTRIBUTING.md shows of each: the rival as a file of its own, the measure at the end of the others."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    sections = [page.partition(f"## Adding a {kind}\n")[2] for kind in ("rival", "measure")]
    rival, measure = (re.search(r"```python\n(.*?)```", section, re.DOTALL)[1] for section in sections)
    rooms = folder / "src/proxembed/evaluate"
    (rooms / "rivals" / "means.py").write_text(rival, encoding="utf-8")
    with (rooms / "measures.py").open("a", encoding="utf-8") as measures:
        measures.write(f"\n\n{measure}")


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (LAWS, "ContributedSpread or LeastVariance"),
        (("tests/test_architecture.py",), "table or registry or bibliography or cites or documented"),
        (OPTIONS, "option or help or declarations"),
        (("tests/contracts/test_readers.py", READER), "slash or listed"),
        (RIVALS, ""),
        (MEASURES, ""),
    ],
    ids=["laws", "rules", "options", "readers", "rivals", "measures"],
)
def test_there_is_no_further_step(checkout, files, words):
    done = run_in(checkout, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", words, *files)
    assert done.returncode == 0, done.stdout[-4000:]
    assert files != LAWS or int(re.search(r"(\d+) passed", done.stdout)[1]) > 100


NEW_OPTION = """
import inspect, json
import proxembed, proxembed.workflow.main_job as job
from proxembed.data import digits
from typer.testing import CliRunner
from proxembed.cli import app
rows, run = [], job.run_engine
job.run_engine = lambda *given: rows.append(len(given[2].train)) or run(*given)
data = digits().take(range(400))
proxembed.search(data, methods="opls", n_components=2, folds=2, shuffles=0, max_trials=1, max_work=1, max_rows=150)
try:
    proxembed.search(data, max_rows=5)
except ValueError as error:
    refused = str(error)
help = CliRunner().invoke(app, ["search", "--help"], env={"COLUMNS": "200"}).output
doc = inspect.getdoc(proxembed.search)
print(json.dumps([rows, refused, help, doc, str(inspect.signature(proxembed.search))]))
"""


def test_an_option_is_one_declaration_and_its_use(checkout):
    done = run_in(checkout, "-c", NEW_OPTION)
    assert done.returncode == 0, done.stderr[-4000:]
    rows, refused, shown, doc, signature = json.loads(done.stdout)
    assert rows == [150] and refused == "max_rows=5 must be None or an integer >= 100."
    assert "--max-rows" in shown and "drawn at random with --seed" in shown
    assert "max_rows : None or an integer >= 100, default=None" in doc and "max_rows: 'int | None' = None" in signature
    table = run_in(checkout, "-c", "from docs._ext.program_reference import reference; print(*reference('1').values())")
    assert re.search(r"^\| `--max-rows` \*NUMBER\* \|  \| Largest number", table.stdout, re.MULTILINE), table.stderr
