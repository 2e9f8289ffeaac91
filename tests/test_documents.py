"""The pages say what the code does: the commands, settings, files, layers and versions that they name exist."""

import ast
import inspect
import re
import shlex
import sys
import tomllib
from pathlib import Path

import pytest
import typer.main

import proxembed
from proxembed.classify.thresholds import SHRINK
from proxembed.cli import app
from proxembed.data import digits
from proxembed.data.readers import READERS
from proxembed.evaluate.rivals.rival import rivals
from proxembed.measures.measures import MEASURES
from proxembed.study.defc.model_strategies import ModelStrategy
from proxembed.study.trials import STRATEGIES
from proxembed.workflow import engines
from proxembed.workflow.labelled_data import TEST_SHARE

ROOT = Path(__file__).resolve().parents[1]
GENERATED = {"results", "generated", "_build"}
PAGES = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if not GENERATED & set(path.parts)
}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CONTRACTS = {contract["id"]: contract for contract in PROJECT["tool"]["importlinter"]["contracts"]}
LAYERS = [[room.strip().strip("()") for room in re.split("[|:]", layer)] for layer in CONTRACTS["layers"]["layers"]]
EIGENSOLVER = re.compile(r"\b(?:eigh|eigvalsh|eigsh|eigh_tridiagonal|lobpcg|dsyevd)\(")

TAGS = ROOT / "examples" / "tags.csv"
EXAMPLES = sorted((ROOT / "docs" / "examples").glob("*.py"))

sys.path += [str(ROOT / "docs" / each) for each in ("_ext", "results", "figures")]  # what writes the generated pages
import api_pages  # noqa: E402
import local_links  # noqa: E402
import pages  # noqa: E402
import readme_tables  # noqa: E402
from example_order import LISTED  # noqa: E402
from fitted_names import escape  # noqa: E402
from method_table import table  # noqa: E402
from program_reference import reference  # noqa: E402
from rival_table import rival_table  # noqa: E402


def quoted(page: str) -> list[str]:
    """What stands in backticks on one line of a page, code blocks apart."""
    text = re.sub(r"^```.*?^```", "", PAGES[page], flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"`([^`\n]+)`", text)


def blocks(page: str, language: str = "") -> list[str]:
    fenced = re.findall(r"^```(\S*)\n(.*?)^```", PAGES[page], re.MULTILINE | re.DOTALL)
    return [text for kind, text in fenced if kind == language]


def test_commands_exist_with_their_options():
    whole, seen = typer.main.get_command(app), 0
    lines = [(page, line) for page in PAGES for block in blocks(page) for line in block.splitlines()]
    lines += [(page, text) for page in PAGES for text in quoted(page)]
    for page, line in lines:
        if not line.startswith("proxembed "):
            continue
        verb, *words = words_after = shlex.split(line, comments=True)[1:]
        if verb.startswith("-"):  # of the program itself
            verb, words = "", words_after
        assert not verb or verb in whole.commands, (page, line)
        known = {option for parameter in (whole.commands[verb] if verb else whole).params for option in parameter.opts}
        known |= {"--help"}  # click adds it
        assert {word for word in words if re.match("-{1,2}[a-z]", word)} <= known, (page, line)
        seen += 1
    assert seen > 30


def test_results_name_no_path_of_a_machine():
    """Commands and files in records and pages of results are relative to the checkout."""
    absolute = re.compile(r"""[\s"'`=](/(?:tmp|work|home|root|Users|mnt|var)/[^\s"'`]*)""")
    stored = [*(ROOT / "docs" / "results").rglob("*"), *(ROOT / "benchmarks").rglob("*.csv")]
    texts = [path for path in stored if path.suffix in {".json", ".jsonl", ".csv", ".md", ".svg"}]
    hits = {str(path.relative_to(ROOT)): absolute.findall(path.read_text(encoding="utf-8")) for path in texts}
    assert not {name: found for name, found in hits.items() if found}


def test_make_has_the_targets():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    told = {page: set(re.findall(r"(?:^|`)make ([a-z-]+)", PAGES[page], re.MULTILINE)) for page in PAGES}
    assert {page: names - targets for page, names in told.items() if not names <= targets} == {}
    assert {"test", "demo"} <= set().union(*told.values())


def test_named_files_and_tests_exist():
    sources = {
        path.as_posix(): path.read_text(encoding="utf-8")
        for folder in ("src", "tests", "bench", "benchmarks", "docs")
        for path in ROOT.glob(f"{folder}/**/*.py")
    }
    tests = set(re.findall(r"def (test_\w+)\(", "\n".join(sources.values())))
    named = {(page, text) for page in PAGES for text in quoted(page)}
    files = {(page, text) for page, text in named if re.fullmatch(r"[\w/]+\.py", text)}
    assert {each for each in files if not any(path.endswith(f"/{each[1]}") for path in sources)} == set()
    assert {(page, text) for page, text in named if re.fullmatch(r"test_\w+", text) and text not in tests} == set()
    assert len(files) > 10


def test_named_estimators_can_be_built():
    built = 0
    for text in {text for page in PAGES for text in quoted(page)}:
        if re.match(r"[A-Z]\w*\(", text) and text.partition("(")[0] in proxembed.__all__:
            names = {name: getattr(proxembed, name) for name in re.findall(r"\b[A-Z]\w+(?=\()", text)}
            eval(text, names | {"method": proxembed.FDA()}).get_params()
            built += 1
    assert built > 20


def test_the_code_of_the_readme_runs(monkeypatch, tmp_path):
    """Of each section in a Python of its own, with one method and budgets of 1, on a part of the rows;
    tests/slow/test_readme.py runs it as it is."""
    sections = re.split("^## ", PAGES["README.md"], flags=re.MULTILINE)
    codes = ["\n".join(re.findall("^```python\n(.*?)^```", each, re.MULTILINE | re.DOTALL)) for each in sections]
    first, second = filter(None, codes)
    rows, labels = digits().Y.shape
    some = digits().take(range(0, rows, 15))
    monkeypatch.setattr("proxembed.data.digits", lambda: some)
    monkeypatch.chdir(tmp_path)
    said: list = []
    fast = "methods='opls', max_trials=1, max_work=1, folds=2, shuffles=0"
    for code in (first, second):
        names = {"print": said.append}
        assert len(re.findall(r"max_work=\d+", code)) == 1, "units of work: the answer does not depend on the load"
        exec(re.sub(r"max_work=\d+", fast, code).replace('"examples/tags.csv")', f"{str(TAGS)!r}, nrows=150)"), names)
        if code is first:
            assert names["Z"].shape[0] == 150
    assert f"{rows:,} digits" in second and labels == 7
    assert "seven true attributes" in second and "nearest training rows" in str(said[2]) and "all features" in said[1]
    assert said[0].startswith("Neighbours found by") or "neighbours" in said[0]
    assert (tmp_path / "digits-search" / "index.html").exists() and (tmp_path / "tags-search" / "model.md").exists()


def test_the_script_of_the_example_writes_the_table(tmp_path):
    sys.path.append(str(ROOT / "examples"))
    import make_tags

    make_tags.main(tmp_path / "tags.csv")
    assert (tmp_path / "tags.csv").read_bytes() == TAGS.read_bytes()
    assert f"{make_tags.ROWS} recipes" in PAGES["README.md"]


@pytest.mark.skipif(
    not list((ROOT / "docs" / "results" / "search").glob("*/results.json")), reason="the sdist has no records"
)
def test_the_results_of_the_readme_are_those_of_the_records():
    text, records = PAGES["README.md"], readme_tables.multi_label_records()
    assert text.partition(readme_tables.BEGIN)[2].partition(readme_tables.END)[0] == readme_tables.short_table(records)
    assert readme_tables.ALL.read_text(encoding="utf-8") == readme_tables.page(records)


def test_sizes_of_rivals_are_not_chosen_by_the_test_rows(monkeypatch):
    """The size that is best on the folds counts, not the one that is best on the test rows; so in the file of rivals
    that the search left out."""
    at = {"m": {"mean": 0.6, "test": 0.5}}, {"m": {"mean": 0.4, "test": 0.9}}
    board = [{"arm": "a", "scores": at[0]}, {"arm": "a", "scores": at[1]}, {"arm": "b", "scores": at[1]}]
    record = {"summary": {"leaderboard": board}, "search": {"budget": {"cuts": []}}}
    rows = [
        {"set": name, "arm": arm, "measure": "m", "fold_mean": mean, "test": test}
        for name, arm, mean, test in [("s", "c", "0.6", "0.51"), ("s", "c", "0.4", "0.9"), ("t", "a", "0.9", "0.1")]
    ]
    monkeypatch.setattr(readme_tables, "RIVALS", {"A": ("a",), "B": ("b",), "C": ("c", "d"), "D": ("d",)})
    monkeypatch.setattr(readme_tables, "stored_rivals", lambda name: [row for row in rows if row["set"] == name])
    found = [readme_tables.rival_value(record, "s", rival, "m") for rival in "ABCD"]
    assert found == ["0.500", "0.900", "*0.510*", "-"] and readme_tables.rival_value(record, "s", "A", "n") == "-"


def test_where_a_rival_is_higher_is_told():
    records = {name: {"summary": {"verdict": {"goals": {"predict": {"value": 0.5001}}}}} for name in "stu"}
    values = {"s": {"A": "0.500", "B": "*0.501*"}, "t": {"A": "0.7 (250)", "B": "-"}, "u": {"A": "0.1", "B": "0.9"}}
    assert readme_tables.above_ours(records, values, "predict") == "Higher than ours: B on s, u; A on t."
    assert readme_tables.above_ours(records, {"s": {"A": "0.500"}}, "predict") == "No rival is higher than ours."


def test_layouts_level_with_supervised_umap_are_not_above_it():
    own, rival = readme_tables.LAYOUT, readme_tables.RIVAL
    each = {"s": ((0.5, 0.19), (0.44, 0.2)), "t": ((0.5, 0.17), (0.5, 0.2)), "v": ((0.5, 0.3), (0.47, 0.2))}
    maps = [
        {"set": name, "map": kind, "new": str(new), "kept": str(kept)}
        for name, pair in each.items()
        for kind, (new, kept) in zip((own, rival), pair, strict=True)
    ]
    unfinished = {"set": "u", "map": own, "new": "0.9", "kept": "0.9"}
    told = " ".join(readme_tables.maps_sentence([*maps, unfinished]).split())
    assert "of 2 of 3 sets, on 1 by at least 0.05; on 2 it keeps at least 90 %" in told


def test_the_pictures_of_the_readme_are_there_and_small():
    for name in re.findall(r"!\[[^]]*\]\(([^)]*)\)", PAGES["README.md"]):
        assert (ROOT / name).stat().st_size < 300_000, name
    assert "docs/figures/tags_page.png" in PAGES["README.md"]


def test_every_tutorial_and_how_to_has_a_picture_with_a_description():
    shown = {page: re.findall(r"!\[([^]]*)\]\(\.\./([^)]*)\)", text) for page, text in PAGES.items()}
    drawn = {f"generated/figures/{each.__name__}.png" for each in pages.PAGES}
    for page, pictures in shown.items():
        if re.match(r"docs/(tutorials|howto)/(?!index)", page):
            assert pictures and all(len(words) > 20 for words, _ in pictures), page
            assert {path in drawn or (ROOT / "docs" / path).exists() for _, path in pictures} == {True}, page
    assert drawn <= {path for pictures in shown.values() for _, path in pictures}


def test_links_of_the_readme_to_files_exist():
    links = re.findall(r"\]\((?!https?:)([^)#]+)", PAGES["README.md"])
    assert len(links) > 10 and {link for link in links if not (ROOT / link).exists()} == set()


def test_local_links_of_built_pages(tmp_path):
    (tmp_path / "b").mkdir()
    links = [
        "b/c.html#here",
        "b/c.html#gone",
        "b/none.html",
        "https://elsewhere.org/x",
        "#top",
        "#bottom",
        "b/d%20e.png",
    ]
    page = "".join(f'<a href="{link}">x</a>' for link in links)
    (tmp_path / "a.html").write_text(f'<p id="top">{page}</p>')
    (tmp_path / "b" / "c.html").write_text('<a name="here"></a><img src="d e.png">')
    (tmp_path / "b" / "d e.png").write_bytes(b"")
    assert local_links.missing(tmp_path) == [
        "a.html: no anchor b/c.html#gone",
        "a.html: no file b/none.html",
        "a.html: no anchor #bottom",
    ]


def test_links_to_headings_of_pages_lead_to_one():
    """`make docs` fails on such a link after minutes; pages that it writes itself it checks alone."""
    missing, seen = [], 0
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        if {"generated", "_build"} & set(path.parts):
            continue
        for page, heading in re.findall(r"\]\(([^)#:\s]*)#([^)\s]+)\)", path.read_text(encoding="utf-8")):
            at = path if not page else (path.parent / page).resolve()
            if at.suffix == ".md" and at.exists():
                seen += 1
                text = re.sub(r"^```.*?^```", "", at.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
                titles = re.findall(r"^#+ (.*)", text, re.MULTILINE)
                slugs = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
                missing += [] if heading in slugs else [(str(path.relative_to(ROOT)), page, heading)]
    assert seen > 50 and missing == []


def test_the_formats_of_the_readme_are_read():
    text = " ".join(PAGES["README.md"].split())
    assert (
        "a table (CSV, Excel, Parquet, Feather, JSON lines, AnnData), npz, svmlight, Mulan or MEKA ARFF, `.npy`" in text
    )
    suffixes = (".csv", ".xlsx", ".parquet", ".feather", ".jsonl", ".h5ad", ".npz", ".svmlight", ".arff", ".npy")
    assert {*suffixes} <= set(READERS)


def test_the_numbers_of_how_it_judges():
    text = " ".join(PAGES["docs/how_it_judges.md"].split())
    many, most = engines.MANY_ROWS, engines.MOST_ROWS
    tries = {name: strategy.evaluations for name, strategy in STRATEGIES[ModelStrategy.space].items()}
    assert TEST_SHARE == 0.25 and "A quarter of the rows is set aside" in text
    assert engines.LEADERS == 3 and "The best three, the untuned `TargetSpace()` among them if" in text
    assert engines.INNER_FOLDS == 3 and "on three inner folds" in text
    assert (
        f"above {many:,} training rows only the best model is compared, and above {most:,} the engine is refused"
        in text
    )
    assert f"({tries['random']} by default, {tries['ga']:,} with `ga`)" in text
    assert f"This is the strategy `{proxembed.EmbeddingSearch().strategy}`;" in text
    assert f"by default `{proxembed.DEFC().search}`, a search over eight models" in text
    assert f"by {SHRINK:g}/({SHRINK:g} + positives)" in text


def test_the_pythons_of_the_readme_are_those_of_the_package():
    tried = re.search(r"Tried with all tests: (.*?) See", PAGES["README.md"], re.DOTALL)[1]
    prefix = "Programming Language :: Python :: 3."
    classified = [text.rpartition(" ")[2] for text in PROJECT["project"]["classifiers"] if text.startswith(prefix)]
    assert sorted(set(re.findall(r"3\.\d+", tried))) == classified
    assert PROJECT["project"]["requires-python"] == f">={classified[0]}"


def test_the_version_is_the_same_everywhere():
    version = PROJECT["project"]["version"]
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(
        rf"^## \[.*\b{re.escape(version)}\b", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert re.findall(r"proxembed-([\d.]+)-py3", PAGES["docs/install.md"]) == [version]


def test_every_dependency_has_a_lower_bound():
    """`make test-lowest` installs each as ``name==version``."""
    extras = PROJECT["project"]["optional-dependencies"].values()
    for requirement in [*PROJECT["project"]["dependencies"], *(each for extra in extras for each in extra)]:
        assert re.fullmatch(r"[\w-]+>=\d[\d.]*|proxembed\[[\w,]+\]", requirement), requirement


def test_the_layers_of_the_guide_are_those_of_the_contract():
    (shown,) = (block for block in blocks("CONTRIBUTING.md") if block.startswith("cli"))
    layers, _, data = shown.partition("\ndata ")
    told = [re.split(r"\s*([|:])\s*", layer.strip()) for layer in layers.split(">")]
    contract = [re.split(r"\s*([|:])\s*", re.sub(r"[()]", "", layer)) for layer in CONTRACTS["layers"]["layers"]]
    assert told == contract and data.strip() == "knows labels, tables, blocks and params only"


def test_the_data_contracts_name_every_room():
    """Data knows labels, columns and blocks alone, and no room from `methods` down knows data: others are free."""
    rooms = [room for layer in LAYERS for room in layer]
    assert set(CONTRACTS["data-knows-labels-only"]["forbidden_modules"]) == {
        f"proxembed.{room}" for room in rooms if room not in ("data", "targets", "tables", "blocks", "params")
    }
    below = [room for room in rooms[rooms.index("methods") :] if room not in ("persist", "data")]
    assert set(CONTRACTS["estimators-read-no-files"]["source_modules"]) == {f"proxembed.{room}" for room in below}


def test_eigensolvers_are_called_where_decision_2_says():
    page = PAGES["docs/decisions/0002-rooms-beside-the-layout.md"]
    sentence = re.search(r"Eigensolvers of SciPy are called in (.*?), nowhere else", page, re.DOTALL)[1]
    algebra = ROOT / "src" / "proxembed" / "algebra"
    calling = {path.name for path in algebra.rglob("*.py") if EIGENSOLVER.search(path.read_text(encoding="utf-8"))}
    assert set(re.findall(r"`(\w+\.py)`", sentence)) == calling


def test_every_public_name_has_one_page():
    paths = [entry.path for group in api_pages.groups().values() for entry in group]
    assert len(paths) == len(set(paths)) and api_pages.public_names() <= set(paths)
    assert max(path.count(".") for path in paths) == 2  # at most two levels below the package
    files = [entry.page.lower() for group in api_pages.groups().values() for entry in group]
    assert len(files) == len(set(files))  # also where capitals make no difference to a file system
    assert "proxembed.targets.LabelMatrix" in paths and "proxembed.data.from_anndata" in paths


def test_public_classes_name_others_and_their_fits_describe_parameters():
    entries = [entry for group in api_pages.groups().values() for entry in group if inspect.isclass(entry.thing)]
    assert [each.path for each in entries if "See Also\n---" not in inspect.getdoc(each.thing)] == []
    named = re.findall(
        r"^(proxembed\.[\w.]+) : ", "\n".join(inspect.getdoc(each.thing) for each in entries), re.MULTILINE
    )
    paths = {entry.path for group in api_pages.groups().values() for entry in group}
    assert set(named) <= paths and len(named) > 150
    fits = [getattr(each.thing, name, None) for each in entries for name in ("fit", "partial_fit")]
    lacking = {fit.__qualname__ for fit in fits if fit is not None and "Parameters\n---" not in inspect.getdoc(fit)}
    assert lacking == set()


@pytest.mark.parametrize(
    "text, path",
    [
        ("OPLS()", "proxembed.OPLS"),
        ("MESD(FDA())", "proxembed.MESD"),
        ("SemiSupervised", "proxembed.SemiSupervised"),
        ("proxembed.search(X, y)", "proxembed.search"),
        ("LabelMatrix", "proxembed.targets.LabelMatrix"),
        ("search", None),
        ("X.mean()", None),
        ("n_components=2", None),
    ],
)
def test_which_names_become_links(text, path):
    assert api_pages.target_of(text) == path


def test_fitted_names_are_no_links():
    lines = ["coef_, intercept_ : (k,)", "``coef_`` of `x_`", ">>> model.coef_", "model_"]
    escape(None, "class", "", None, None, lines)
    assert lines == ["coef\\_, intercept\\_ : (k,)", "``coef_`` of `x_`", ">>> model.coef_", "model_"]


def test_the_table_of_pairs_is_that_of_the_classes():
    rows = {
        line.split("`")[1]: line.split(" | ") for line in table()["methods.md"].splitlines() if line.startswith("| [")
    }
    assert set(api_pages.estimators("method", "model")) == set(rows)
    assert rows["FDA"][1:4] == ["`A = Y N^-1 Y' - 11'/n, B = I - 11'/n`", "one class", "left out"]
    assert rows["FDA"][4:] == ["9", "rank 199", "thin |"]
    assert rows["PCA"][2] == "none" and rows["PCA"][4:6] == ["199", "I"] and rows["MDDM"][4:6] == ["7", "I"]


def test_the_page_of_rivals_measures_and_strategies_names_each():
    page = rival_table()["rivals.md"]
    strategies = [name for known in STRATEGIES.values() for name in known]
    for name in [*MEASURES, *(rival.title for rival in rivals()), *strategies]:
        assert f"| {name} " in page


def test_the_reference_of_the_program_has_every_option():
    text = reference("1.0")["commands.md"]
    for name, command in typer.main.get_command(app).commands.items():
        section = text.partition(f"## proxembed {name}\n")[2].partition("\n## ")[0]
        assert section
        for parameter in command.params:
            assert all(option in section for option in parameter.opts if option.startswith("-")), (name, parameter.name)
    assert "| `--seed` *NUMBER* | `0` |" in text and "proxembed search DATA [OPTIONS]" in text


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_is_listed_and_asks_a_question(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    title, bar, *_ = ast.get_docstring(tree).splitlines()
    assert path.name in LISTED and title.endswith("?") and bar == "=" * len(title)
    calls = [ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    assert "plt.show" in calls and any(name.endswith(".set") or name.endswith("set_xlabel") for name in calls)
    assert not any("fetch_" in name for name in calls)  # data that come with the packages


def test_every_listed_example_exists():
    assert sorted(LISTED) == [path.name for path in EXAMPLES] and len(LISTED) >= 12


def test_the_extras_of_the_install_page_are_those_of_the_package():
    told = dict(re.findall(r"^\| `([a-z]+)` \| ([^|]*) \|", PAGES["docs/install.md"], re.MULTILINE))
    extras = PROJECT["project"]["optional-dependencies"]
    assert set(told) == set(extras)
    for name in set(extras) - {"dev"}:
        packages = [re.match(r"[\w-]+", each)[0] for each in extras[name] if not each.startswith("proxembed")]
        assert told[name].split(", ") == packages, name


def test_what_the_readme_installs_runs_its_commands():
    """Tables, and a column of texts among their options."""
    (extras,) = re.findall(r"^pip install -e '\.\[([\w,]+)\]'", PAGES["README.md"], re.MULTILINE)
    brought = " ".join(sum((PROJECT["project"]["optional-dependencies"][name] for name in extras.split(",")), []))
    assert "--text" in PAGES["README.md"] and all(name in brought for name in ("pandas", "pyarrow", "snowballstemmer"))


def test_the_page_on_methods_includes_the_table_of_the_readme():
    for marker in re.findall(r':(?:start-after|end-before): "(.*)"', PAGES["docs/which_method.md"]):
        assert PAGES["README.md"].count(marker) == 1, marker


def test_examples_stand_on_public_names():
    """Nothing shows, and no one reads, an example of an internal name."""
    shown = set()
    for thing in (entry.thing for entries in api_pages.groups().values() for entry in entries):
        shown.add(f"{thing.__module__}.{thing.__qualname__}")
        for base in thing.__mro__ if inspect.isclass(thing) else ():
            shown |= {f"{base.__module__}.{base.__qualname__}.{name}" for name in vars(base) if name[0] != "_"}
    with_examples = set()
    for path in (ROOT / "src" / "proxembed").rglob("*.py"):
        module = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
        if ">>>" in (source := path.read_text("utf-8")):
            with_examples |= {f"{module}.{name}" for name in names_with_examples(ast.parse(source))}
    assert with_examples - shown == set() and len(with_examples) > 100


def names_with_examples(tree: ast.AST, outer: str = "") -> list[str]:
    """Dotted names of the functions and classes below a node whose docstrings hold an example."""
    found = []
    for node in ast.iter_child_nodes(tree):
        named = isinstance(node, ast.FunctionDef | ast.ClassDef)
        name = f"{outer}.{node.name}".lstrip(".") if named else outer
        if named and ">>>" in (ast.get_docstring(node) or ""):
            found.append(name)
        found += names_with_examples(node, name)
    return found
