"""The house rules as tests: layers, rooms, sizes, names, documentation, cheap imports.

`python tests/test_architecture.py` prints the rooms, floors, imports upwards, cycles, files and lines of the package.
"""

import ast
import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys
import tomllib
from functools import cache
from importlib.metadata import version
from pathlib import Path

import pytest

import proxembed

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "proxembed"
BESIDE = ("papers", "benchmarks")  # they import the package, never the reverse
SOURCES = sorted(PACKAGE.rglob("*.py"))

MAX_FILE_LINES = 800
MAX_FUNCTION_LINES = 50
# "file.py" or "file.py:function" -> why it may be longer. An entry without a good reason is to be split instead.
LONGER_WITH_REASON: dict[str, str] = {}

# A heavy library and the one room that imports it, inside its functions.
ONE_ROOM = {
    "matplotlib": "report",
    "PIL": "report",
    "jinja2": "report",
    "rich": "cli",
    "typer": "cli",
    "click": "cli",
    "pandas": "workflow",
    "pyarrow": "data",
    "narwhals": "tables",
    "umap": "features",
    "openTSNE": "features",
    "optuna": "study",
    "jscatter": "workflow",
    "mlflow": "workflow",
    "skore": "workflow",
    "dask": "blocks",
    "distributed": "blocks",
}
AT_MODULE_LEVEL = {"typer", "click", "rich"}  # `cli` modules other than its entry are themselves imported lazily

LINEAR_ALGEBRA = ("scipy.linalg", "scipy.sparse.linalg", "numpy.linalg")
SOLVERS_ELSEWHERE = {"randomized_svd", "randomized_range_finder", "_randomized_eigsh", "svd_flip"}


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes(tree: ast.AST) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree))


def trees() -> dict[Path, ast.Module]:
    """Every file of the package, parsed once."""
    return {path: tree_of(path) for path in SOURCES}


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def where(path: Path, node: ast.AST) -> str:
    return f"{path.relative_to(ROOT)}:{node.lineno}"


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    paths = [str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, env=environment)


def imports(tree: ast.AST) -> list[tuple[ast.stmt, str]]:
    """Every absolute import in a tree: (statement, dotted name)."""
    found = []
    for node in nodes(tree):
        if isinstance(node, ast.Import):
            found += [(node, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found += [(node, f"{node.module}.{alias.name}") for alias in node.names]
    return found


def inside_functions(tree: ast.AST) -> set[ast.AST]:
    functions = [node for node in nodes(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return {child for function in functions for child in ast.walk(function)}


def solver_uses(tree: ast.AST) -> list[tuple[ast.AST, str]]:
    """Imports of, and attributes of, a linear-algebra module; norms apart."""
    found = [
        (node, name)
        for node, name in imports(tree)
        if (name.startswith(LINEAR_ALGEBRA) and name.rpartition(".")[2] != "norm")
        or (name.startswith("sklearn") and name.rpartition(".")[2] in SOLVERS_ELSEWHERE)
    ]
    for node in nodes(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute | ast.Name) and node.attr != "norm":
            owner = node.value.attr if isinstance(node.value, ast.Attribute) else node.value.id
            if owner in ("linalg", "sla", "spla"):
                found.append((node, f"{owner}.{node.attr}"))
    return found


# ---- rooms and floors: a room is a folder of the package, a file at its top, or one of the three folders beside it


def modules() -> dict[str, Path]:
    """Dotted name -> file, of the package and of the three folders that import it; the stub stands for the root."""
    found = {}
    for folder in (PACKAGE, *(ROOT / name for name in (*BESIDE, "bench"))):
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder.parent).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    stub = PACKAGE / "__init__.pyi"
    return found | ({"proxembed": stub} if stub.is_file() else {})


def imported(module: str, path: Path, known: dict[str, Path]) -> set[str]:
    """Modules that a file imports: at its top, in functions, and for type checkers alone."""
    package = module.split(".") if path.stem == "__init__" else module.split(".")[:-1]
    found = set()
    for node in nodes(tree_of(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*start, *([node.module] if node.module else [])])
            names = {f"{source}.{alias.name}" for alias in node.names}
            submodules = names & known.keys()
            found |= submodules | ({source} if len(submodules) < len(names) else set())
    return (found & known.keys()) - {module}


def room_of(module: str) -> str:
    parts = module.split(".")
    return (parts[1] if len(parts) > 1 else "__init__") if parts[0] == "proxembed" else parts[0]


def layers() -> list[list[str]]:
    """Rooms by layer, from the lowest to the highest, as the import contract has them; then those above it."""
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    contract = tools["importlinter"]["contracts"][0]
    declared = [re.findall(r"\w+", layer) for layer in reversed(contract["layers"])]
    return [*(layer for layer in declared if layer != ["cli"]), ["__init__"], ["cli"], ["__main__", "bench", *BESIDE]]


def components(graph: dict[str, set[str]]) -> list[set[str]]:
    """Groups of nodes that reach each other, each with more than one node."""

    def reached(node: str) -> set[str]:
        seen, left = set(), [node]
        while left:
            for other in graph[left.pop()] - seen:
                seen.add(other)
                left.append(other)
        return seen

    reach = {node: reached(node) for node in graph}
    groups = {frozenset(b for b in reach[a] if a in reach[b]) for a in graph if a in reach[a]}
    return sorted((set(group) for group in groups if len(group) > 1), key=sorted)


@cache
def architecture() -> dict[str, object]:
    """Rooms, floors (levels of imports between rooms), imports upwards and cycles of files."""
    known = modules()
    graph = {module: imported(module, path, known) for module, path in known.items()}
    rooms = {room_of(module) for module in known}
    pairs = {(room_of(a), room_of(b)): (a, b) for a in graph for b in graph[a] if room_of(a) != room_of(b)}
    level = {room: i for i, layer in enumerate(layers()) for room in layer}
    upwards = [f"{a} -> {b}" for (x, y), (a, b) in sorted(pairs.items()) if level.get(y, -1) > level.get(x, -1)]
    below = {room: {y for x, y in pairs if x == room and level.get(y, -1) <= level.get(x, -1)} for room in rooms}
    floor: dict[str, int] = {}

    def height(room: str, path: tuple[str, ...] = ()) -> int:
        if room not in floor:
            floor[room] = 1 + max((height(y, (*path, room)) for y in below[room] if y not in path), default=0)
        return floor[room]

    for room in sorted(rooms):
        height(room)
    return {
        "rooms": len(rooms),
        "floors": max(floor.values()),
        "imports between rooms": len(pairs),
        "imports upwards": upwards,
        "cycles of rooms": components({room: {y for x, y in pairs if x == room} for room in rooms}),
        "cycles of files": components(graph),
        "files": len(SOURCES),
        "lines": sum(len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES),
        "by floor": {i: sorted(room for room in rooms if floor[room] == i) for i in range(1, max(floor.values()) + 1)},
    }


def public_classes() -> dict[str, type]:
    return {name: cls for name in proxembed.__all__ if inspect.isclass(cls := getattr(proxembed, name))}


def registered() -> dict[str, type]:
    """The registry after every module of the package was imported; classes made by tests apart."""
    for module in pkgutil.walk_packages([str(PACKAGE)], "proxembed."):
        importlib.import_module(module.name)
    from proxembed.estimator.base import registry

    return {name: cls for name, cls in registry().items() if cls.__module__.startswith("proxembed.")}


def test_every_room_is_a_package():
    """A folder without __init__.py would be invisible to the import contract."""
    folders = {path.parent for path in SOURCES}
    assert [str(folder.relative_to(ROOT)) for folder in folders if not (folder / "__init__.py").is_file()] == []


def test_eigensolvers_and_factorisations_live_in_algebra():
    """But for the precisions of the Bayesian models."""
    found = [
        f"{where(path, node)} {name}"
        for path, tree in trees().items()
        if room(path) != "algebra" and "bayes" not in path.parts
        for node, name in solver_uses(tree)
    ]
    assert found == []


@pytest.mark.parametrize(
    "line",
    [
        "from scipy.linalg import eigh",
        "from scipy import linalg",
        "import scipy.sparse.linalg as spla",
        "from sklearn.utils.extmath import randomized_svd",
        "np.linalg.svd(X)",
        "scipy.linalg.cho_factor(B)",
    ],
)
def test_the_search_for_solvers_sees(line):
    assert solver_uses(ast.parse(line))


def test_norms_are_allowed_everywhere():
    assert solver_uses(ast.parse("from numpy.linalg import norm\nnp.linalg.norm(X)")) == []


def test_only_the_program_prints():
    found = []
    for path, tree in trees().items():
        if room(path) == "cli":
            continue
        for node in nodes(tree):
            printed = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
            stream = isinstance(node, ast.Attribute) and node.attr in ("stdout", "stderr")
            if printed or stream:
                found.append(where(path, node))
    assert found == []


def test_heavy_libraries_are_imported_lazily_in_one_room_each():
    found = []
    for path, tree in trees().items():
        found_here = [(node, name.partition(".")[0]) for node, name in imports(tree)]
        heavy = [(node, library) for node, library in found_here if library in ONE_ROOM]
        lazy = inside_functions(tree) if heavy else set()
        for node, library in heavy:
            if room(path) != ONE_ROOM[library]:
                found.append(f"{where(path, node)} imports {library}, which belongs to {ONE_ROOM[library]}")
            elif node not in lazy and library not in AT_MODULE_LEVEL:
                found.append(f"{where(path, node)} imports {library} at module level")
    assert found == []


def test_no_rooms_without_a_purpose():
    vague = {"util", "utils", "helper", "helpers", "common", "manager", "misc"}
    parts = {part.removesuffix(".py") for path in SOURCES for part in path.relative_to(PACKAGE).parts}
    assert parts & vague == set()


def test_files_are_short():
    files = [path for folder in ("src", *BESIDE, "tests", "bench") for path in sorted((ROOT / folder).rglob("*.py"))]
    lengths = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    assert {name: n for name, n in lengths.items() if n > MAX_FILE_LINES and name not in LONGER_WITH_REASON} == {}


def test_functions_are_short():
    found = {}
    paths = [path for folder in BESIDE for path in (ROOT / folder).rglob("*.py")]
    beside = {path: tree_of(path) for path in paths}
    for path, tree in (trees() | beside).items():
        for node in nodes(tree):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            doc = node.body[0] if ast.get_docstring(node) is not None else None
            lines = node.end_lineno - node.lineno + 1 - (doc.end_lineno - doc.lineno + 1 if doc else 0)
            name = f"{path.relative_to(ROOT)}:{node.name}"
            if lines > MAX_FUNCTION_LINES and name not in LONGER_WITH_REASON:
                found[name] = lines
    assert found == {}


def test_exceptions_to_the_sizes_still_exist():
    assert [name for name in LONGER_WITH_REASON if not (ROOT / name.partition(":")[0]).is_file()] == []


def test_the_lazy_table_equals_the_registry():
    """But for the rivals that comparisons alone build."""
    from sklearn.base import BaseEstimator

    listed = {cls for cls in public_classes().values() if issubclass(cls, BaseEstimator)}
    classes = registered()
    assert {cls.role for cls in set(classes.values()) ^ listed} == {"rival"} and listed <= set(classes.values())
    assert [name for name, cls in classes.items() if cls.role != "rival" and name not in proxembed.__all__] == []


def test_type_checkers_see_the_lazy_table():
    """The stub exports a name if it is imported as itself."""
    lines = ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8")).body
    names = [name for line in lines if isinstance(line, ast.ImportFrom) for name in line.names]
    assert [name.name for name in names if name.asname != name.name] == []
    assert {name.name for name in names} | set(proxembed._aliases) == set(proxembed.__all__)
    assert (PACKAGE / "py.typed").is_file()


def test_rooms_and_imports_between_them():
    found = architecture()
    assert found["imports upwards"] == [] and found["cycles of rooms"] == [] and found["cycles of files"] == []
    assert found["rooms"] <= 30 and found["floors"] <= 14


def test_every_listed_name_exists_and_is_unique():
    assert len(set(proxembed.__all__)) == len(proxembed.__all__)
    assert set(proxembed.__all__) <= set(dir(proxembed))
    assert [name for name in proxembed.__all__ if not hasattr(proxembed, name)] == []


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="NoSuchMethod"):
        _ = proxembed.NoSuchMethod


def test_the_version_is_that_of_the_distribution():
    assert proxembed.__version__ == version("proxembed")


def test_every_citation_key_is_in_the_bibliography():
    from proxembed.estimator.explain import KEY, bibliography

    cited = {key for path in SOURCES for key in KEY.findall(path.read_text(encoding="utf-8"))}
    assert cited - set(bibliography()) == set()


def test_every_registered_class_cites_its_source():
    from proxembed.estimator.explain import cited_keys

    uncited = ["EmbeddingSearch", "LabelKNN", "TableEncoder", "Thresholded"]  # of no single paper
    assert [name for name, cls in registered().items() if not cited_keys(cls)] == uncited


def test_bibliography_entries_are_complete():
    from proxembed.estimator.explain import KEY, bibliography

    needed = ("author", "title", "year")
    entries = bibliography()
    assert [key for key in entries if not KEY.fullmatch(f"[{key}]")] == []
    found = {key: [field for field in needed if f"{field} = {{" not in entry] for key, entry in entries.items()}
    assert {key: fields for key, fields in found.items() if fields} == {}
    years = {key: re.search(r"year = \{(\d{4})\}", entry).group(1) for key, entry in entries.items()}
    assert {key: year for key, year in years.items() if year not in key} == {}
    assert [key for key, entry in entries.items() if entry.count("{") != entry.count("}")] == []


def test_every_public_class_is_documented():
    found = {}
    for name, cls in public_classes().items():
        doc = inspect.getdoc(cls) or ""
        first = doc.partition("\n")[0]
        # nobody constructs a result
        facts = "Attributes\n" if cls.__module__ == "proxembed.workflow.results" else "Parameters\n"
        missing = [part for part in (facts, "Examples\n", ">>>") if part not in doc]
        if cls.__doc__ is None or len(first) < 20 or missing or first.startswith(f"{name}("):
            found[name] = missing or first
    assert found == {}


def test_every_public_function_is_documented():
    functions = {name: getattr(proxembed, name) for name in proxembed.__all__}
    functions = {name: value for name, value in functions.items() if inspect.isroutine(value)}
    assert [name for name, function in functions.items() if ">>>" not in (inspect.getdoc(function) or "")] == []


def test_import_is_cheap():
    result = run_python("import sys, proxembed; dir(proxembed); print(*sys.modules)")
    assert result.returncode == 0, result.stderr
    loaded = {name.partition(".")[0] for name in result.stdout.split()}
    assert loaded & {"numpy", "scipy", "sklearn", "matplotlib", "pandas", "typer", "rich"} == set()


def test_help_is_cheap():
    code = (
        "import sys\nfrom proxembed.cli import main\nsys.argv = ['proxembed', '--help']\n"
        "try:\n    main()\nexcept SystemExit as end:\n    print(end.code)\nprint(*sys.modules)"
    )
    result = run_python(code)
    assert result.returncode == 0, result.stderr
    assert "compare" in result.stdout
    loaded = {name.partition(".")[0] for name in result.stdout.splitlines()[-1].split()}
    assert loaded & {"numpy", "scipy", "sklearn", "matplotlib", "pandas", "jinja2"} == set()


def test_no_machine_paths_or_registry_hosts():
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if listing.returncode != 0:
        pytest.skip("not a git checkout: no list of the files that belong to the repository")
    folders = "|".join(["ro" + "ot", "wo" + "rk", "ho" + "me", "op" + "t", "Us" + "ers"])
    hosts = [("py", r"pi\.org"), ("python", r"hosted\.org"), ("npm", r"js\.org"), ("anaconda", r"\.org")]
    hosts = "|".join(map("".join, hosts))
    pattern = re.compile(rf"(?<![\w.\]])/(?:{folders})/|[A-Z]:\\\\|{hosts}")
    found = []
    for name in filter(None, listing.stdout.split("\0")):
        path = ROOT / name
        if not path.is_file() or path.is_symlink():
            continue
        text = path.read_bytes().decode("utf-8", errors="replace")
        found += [f"{name}: {match.group(0)}" for match in pattern.finditer(text)]
    assert found == []


def print_architecture() -> None:
    for title, value in architecture().items():
        if isinstance(value, int):
            print(f"{title}: {value:,}")
            continue
        entries = [f"{i}: {', '.join(rooms)}" for i, rooms in value.items()] if isinstance(value, dict) else value
        print(f"{title}:" if isinstance(value, dict) else f"{title}: {len(value)}")
        for entry in entries:
            print("   ", ", ".join(sorted(entry)) if isinstance(entry, set) else entry)


if __name__ == "__main__":
    print_architecture()
