"""A new method, reader, rival, measure, strategy and option: the examples of CONTRIBUTING.md in a copy, tested."""

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
PACKAGE = "src/proxembed"
READER, METHOD, RIVAL = (
    f"{PACKAGE}/{name}.py" for name in ("data/readers/slashed", "methods/lsda", "evaluate/rivals/means")
)
MEASURE, STRATEGY, FAMILY = (
    f"{PACKAGE}/{name}.py" for name in ("measures/measures", "study/method_strategies", "methods/variance")
)
LAWS = "tests/invariants", "tests/contracts", "tests/test_sklearn_contract.py", METHOD
OPTIONS = tuple(f"tests/{name}.py" for name in ("unit/workflow/test_options", "unit/cli/test_app"))
RIVALS = (f"{PACKAGE}/evaluate/rivals", "tests/unit/evaluate/rivals") + tuple(
    f"tests/{name}.py"
    for name in ("unit/evaluate/test_arms", "unit/estimator/test_roles", "unit/estimator/test_base")
    + ("unit/targets/test_target_type", "unit/cli/test_program")
)
RIVALS += (
    "tests/unit/workflow/test_plan.py::test_every_method_and_rival_has_its_cost",
    "tests/test_architecture.py::test_the_lazy_table_equals_the_registry",
)
MEASURES = (MEASURE,) + tuple(
    f"tests/unit/{name}.py"
    for name in ("measures/test_measures", "measures/test_bootstrap", "evaluate/test_known_cells")
)
STRATEGIES = tuple(
    f"tests/{name}.py"
    for name in ("unit/study/test_strategies", "unit/study/test_search", "unit/study/defc/test_defc")
    + ("unit/cli/test_search_defc", "unit/execute/test_ledger", "unit/workflow/test_options")
)
NAMED = "strateg or defaults or bad_parameters or do_not_fit or declarations"
PLANTED = "\n@article{planted2024,\n  author = {Planter, P.},\n  title = {Planting},\n  year = {2024}\n}\n"
SMALLEST = '''

class LeastVariance(SpectralEmbedder):
    """Directions of least variance: minimise P'HP, P'P = I.  [planted2024]

    Examples
    --------
    >>> from proxembed import LeastVariance
    >>> LeastVariance().n_components is None
    True
    """

    def template(self, rows):
        return Template(-Centering(), offset=rows.ones, sense=-1)
'''


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy of the repository with the examples of CONTRIBUTING.md and a method that minimises."""
    folder = shutil.copytree(ROOT, tmp_path_factory.mktemp("copy") / "repository", ignore=LEFT_OUT)
    method, name = contributed.examples("Adding a method")
    (paper,) = contributed.examples("Adding a method", "bibtex")
    append(folder / METHOD, method)
    append(folder / FAMILY, SMALLEST)
    append(folder / PACKAGE / "references.bib", f"\n{paper}{PLANTED}")
    append(folder / PACKAGE / "__init__.pyi", f"{name}from .methods.variance import LeastVariance as LeastVariance\n")
    for kind, path in {"reader": READER, "rival": RIVAL, "measure": MEASURE, "search strategy": STRATEGY}.items():
        (example,) = contributed.examples(f"Adding a {kind}")
        append(folder / path, example if kind in ("reader", "rival") else f"\n\n{example}")
    add_option(folder)
    done = run_in(folder, "tests/option_blocks.py")  # as `make options`
    assert done.returncode == 0, done.stderr
    return folder


def append(path: Path, text: str) -> None:
    """Add a text at the end of a file, which it makes if there is none."""
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    path.write_text(before + text, encoding="utf-8")


def add_option(folder: Path) -> None:
    """Add the option of CONTRIBUTING.md, and use it."""
    declaration, use = contributed.examples("Adding an option")
    for name, within, before, text in (
        ("options", "class SearchOptions", "    def __post_init__", f"{declaration}\n"),
        ("main_job", "def run_search", "    make_splits(", use),
    ):
        path = folder / PACKAGE / "workflow" / f"{name}.py"
        source = path.read_text(encoding="utf-8")
        place = source.index(before, source.index(within))
        path.write_text(source[:place] + text + source[place:], encoding="utf-8")


def run_in(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Python in the copy, whose package and tests it imports."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment |= {"PYTHONPATH": f"{folder / 'src'}{os.pathsep}{folder / 'tests'}", "TEST_PRODUCTS": "1"}
    return subprocess.run([sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (LAWS, "LSDA or LeastVariance"),
        (("tests/test_architecture.py",), "table or registry or bibliography or cites or documented"),
        (OPTIONS, "option or help or declarations"),
        (("tests/contracts/test_readers.py", READER), "slash or listed"),
        (RIVALS, ""),
        (MEASURES, ""),
        (STRATEGIES, NAMED),
    ],
    ids=["laws", "rules", "options", "readers", "rivals", "measures", "strategies"],
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
    assert "max_rows : None or an integer >= 100, default=None" in doc and "max_rows: int | None = None" in signature
    table = run_in(checkout, "-c", "from docs._ext.program_reference import reference; print(*reference('1').values())")
    assert re.search(r"^\| `--max-rows` \*NUMBER\* \|  \| Largest number", table.stdout, re.MULTILINE), table.stderr


NEW_STRATEGY = """
import inspect, json
import proxembed
from proxembed.data import digits
from typer.testing import CliRunner
from proxembed.cli import app
found = proxembed.EmbeddingSearch(["opls", "mvmd"], 2, strategy="defaults", max_seconds=None)
data = digits().take(range(200))
found.fit(data.X, data.Y)
help = CliRunner().invoke(app, ["search", "--help"], env={"COLUMNS": "400"}).output
texts = [inspect.getdoc(each) for each in (proxembed.search, proxembed.EmbeddingSearch)]
print(json.dumps([[trial["params"] for trial in found.trials_], help, *texts]))
"""


def test_a_strategy_is_one_class(checkout):
    done = run_in(checkout, "-c", NEW_STRATEGY)
    assert done.returncode == 0, done.stderr[-4000:]
    params, *texts = json.loads(done.stdout)
    assert params and not any(params)
    assert all('"defaults": every method in default' in " ".join(text.split()) for text in texts[1:])
    assert '"defaults"' in texts[0]
    page = run_in(
        checkout, "-c", "from docs._ext.rival_table import rival_table; print(*rival_table().values())"
    ).stdout
    assert "| defaults | methods | every method in default construction" in page
