"""One page per public name, and their index by what a person needs, written from the registry and from the lists below.

A public name that stands in no group, or in two, is an error of the build.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import proxembed
from proxembed.estimator.catalogue import SHOWN, estimators, need_of, sentence_of
from proxembed.estimator.explain import cited_keys
from proxembed.estimator.online import public_path

# What is no estimator, by group: dotted names below ``proxembed``.
FUNCTIONS = {
    "Search and compare": [
        "search",
        "compare",
        "diagnose",
        "SearchResult",
        "Comparison",
    ],
    "Fitted models: files and cards": [
        "fit_on",
        "save",
        "load",
        "model_card",
        "estimator.Explanation",
    ],
    "Labels": ["unlabelled", "targets.LabelMatrix"],
    "Data: files, tables, built-in data": [
        "data.Dataset",
        "data.read",
        "data.read_rows",
        "data.Columns",
        "data.DataError",
        "data.size_of",
        "data.row_parts",
        "data.from_anndata",
        "data.fetch_openml_dataset",
        "data.text_counts",
        "data.digits",
        "data.banana",
        "data.swiss_roll",
        "data.zipf_counts",
    ],
    "Rows beyond memory": ["RowBlocks", "data.parquet_blocks", "Sums"],
    "Splits": [
        "splits.Splitting",
        "splits.make_splits",
        "splits.holdout_split",
        "splits.standard_split",
        "splits.stratified_folds",
        "splits.group_folds",
        "splits.Split",
        "splits.StratifiedFolds",
        "splits.GroupFolds",
        "crossfit_embedding",
    ],
    "Measures": [
        "Diagnosis",
        "measures.Measure",
        "measures.register",
        "measures.macro_average_precision",
        "measures.average_precision",
        "measures.jaccard_at_k",
        "measures.neighbor_weights",
        "measures.new_neighbor_weights",
        "measures.kept_neighbors",
        "classify.Thresholds",
        "classify.tune_thresholds",
        "classify.apply_thresholds",
        "classify.cross_fitted_scores",
    ],
    "Proximity matrices": [
        "patch_alignment",
        "proximity.combine_priority",
        "vat",
        "ivat",
        "covat",
    ],
    "Semi-supervised combinations": ["ssdr_mfa", "ssdr_lfda", "ssdr_dne", "ssdr_donpp"],
    "Lists of estimators, studies": ["estimator.estimators", "estimator.listed", "estimator.described", "to_optuna"],
    "Figures": ["report.Plane", "report.decision_lines"],
}
FIRST = ("Search and compare", "Fitted models: files and cards")
MEMBERS = (
    "fit",
    "partial_fit",
    "merge",
    "transform",
    "fit_transform",
    "inverse_transform",
    "truncate",
    "explain",
    "predict",
    "predict_proba",
    "decision_function",
    "score",
    "describe",
    "from_switches",
    "proximity",
)
FORMULAS = (r"(.+?): ((?:A|A_g|Z) = .+|(?:max|min)imise .+)", r"(.+?), (A = .+)", r"(.+?): (.+)")
NAME = re.compile(r"(?:proxembed\.)?([\w.]+?)(\(.*\))?", re.DOTALL)
PAGE = """# {title}

```{{eval-rst}}
{directive}

{members}
```
{cite}
```{{eval-rst}}
.. minigallery:: {names}
   :add-heading: Examples that use {title}
   :heading-level: -
```
"""
CITE = """
## Citation

```bibtex
{bibtex}
```
"""
INDEX = """# API reference

Every public name, grouped by purpose. Import names without a module from `proxembed` itself
(`from proxembed import OPLS`), which loads each on first use.

{groups}
"""
GROUP = """## {title}

| name | description |
|---|---|
{rows}

```{{toctree}}
:hidden:
:caption: {title}

{pages}
```
"""


@dataclass(frozen=True)
class Entry:
    """A public name: where it is imported from, what it is, and the file of its page."""

    path: str
    thing: Any
    is_estimator: bool = False

    @property
    def title(self) -> str:
        return self.path.rpartition(".")[2]

    @property
    def page(self) -> str:
        """Name of the file: the path below the package."""
        return self.path.removeprefix("proxembed.")

    @property
    def aliases(self) -> list[str]:
        return [name for name, target in proxembed._aliases.items() if f"proxembed.{target}" == self.path]


def thing_of(path: str) -> Any:
    """The object at a dotted path."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


def groups() -> dict[str, list[Entry]]:
    """The public names by group: the main job first, then the estimators by need, then what serves them."""
    found: dict[str, list[Entry]] = {need: [] for need in SHOWN}
    for cls in estimators().values():
        found[need_of(cls)].append(Entry(public_path(cls), cls, True))
    written = {
        title: [Entry(f"proxembed.{name}", thing_of(f"proxembed.{name}")) for name in names]
        for title, names in FUNCTIONS.items()
    }
    first = {title: written.pop(title) for title in FIRST}
    return first | found | written


def public_names() -> set[str]:
    """What a user imports: the names of the package, and of its rooms for data, classifiers, splits and measures."""
    names = {f"proxembed.{name}" for name in proxembed.__all__ if name not in proxembed._aliases}
    for room in ("proxembed.data", "proxembed.classify", "proxembed.splits", "proxembed.measures"):
        names |= {f"{room}.{name}" for name in import_module(room).__all__ if name not in proxembed.__all__}
    return names


def summary(thing: Any) -> str:
    """The first paragraph of the docstring on one line, without the keys of its sources."""
    first = " ".join((inspect.getdoc(thing) or "").partition("\n\n")[0].split())
    if inspect.isclass(thing):
        for key in cited_keys(thing):
            first = first.replace(f"[{key}]", "")
    return " ".join(first.split()).rstrip(".") + "."


def directive(entry: Entry) -> tuple[str, str]:
    """The directive of autodoc for a name, and those of its members."""
    if not inspect.isclass(entry.thing):
        return f".. autofunction:: {entry.path}", ""
    aliases = [f".. py:class:: proxembed.{name}\n\n   Another name of `{entry.title}`." for name in entry.aliases]
    if entry.is_estimator:
        members = [f".. automethod:: {entry.path}.{name}" for name in MEMBERS if hasattr(entry.thing, name)]
        return f".. autoclass:: {entry.path}", "\n".join([*members, *aliases])
    options = "" if issubclass(entry.thing, Exception) else "\n   :members:\n   :exclude-members: set_split_request"
    return f".. autoclass:: {entry.path}{options}", "\n".join(aliases)


def page(entry: Entry) -> str:
    """The page of one name."""
    first, members = directive(entry)
    bibtex = entry.thing.citation().strip() if hasattr(entry.thing, "citation") else ""
    cite = CITE.format(bibtex=bibtex) if bibtex else ""
    names = " ".join([entry.path, *(f"proxembed.{name}" for name in entry.aliases)])
    return PAGE.format(title=entry.title, directive=first, members=members, cite=cite, names=names)


def title_and_formula(cls: type) -> tuple[str, str]:
    """The readable name of an estimator, and the formula that its first paragraph gives."""
    told = summary(cls).rstrip(".")
    for pattern in FORMULAS:
        if found := re.fullmatch(pattern, told):
            return found[1], found[2].replace("``", "")
    return told, ""


def line(entry: Entry) -> str:
    """The line of the index: the name with its module where it has one of its own, and what it is."""
    told = sentence_of(entry.thing) if entry.is_estimator else summary(entry.thing).replace("``", "`")
    also = "".join(f" Also `{alias}`." for alias in entry.aliases)
    return f"| [`{entry.page}`]({entry.page}.md) | {told.replace('|', chr(92) + '|')}{also} |"


def targets_of_types() -> dict[str, str]:
    """Public classes by the names that types in docstrings use."""
    return {entry.title: entry.path for each in groups().values() for entry in each if inspect.isclass(entry.thing)}


def write_pages(folder: Path) -> None:
    """Write every page anew; pages of names that are gone are removed."""
    folder.mkdir(parents=True, exist_ok=True)
    found = groups()
    entries = [entry for each in found.values() for entry in each]
    paths = [entry.path for entry in entries]
    if wrong := public_names() - set(paths) | {path for path in paths if paths.count(path) > 1}:
        raise ValueError(f"{', '.join(sorted(wrong))}: in no group of the API reference, or in two; see FUNCTIONS.")
    files = {f"{entry.page}.md": page(entry) for entry in entries}
    files["index.md"] = INDEX.format(groups=index(found))
    write_all(folder, files)


def index(found: dict[str, list[Entry]]) -> str:
    """The groups of the index, a table each."""
    return "\n".join(
        GROUP.format(
            title=title[0].upper() + title[1:],
            rows="\n".join(map(line, entries)),
            pages="\n".join(entry.page for entry in entries),
        )
        for title, entries in found.items()
    )


def write_all(folder: Path, files: dict[str, str]) -> None:
    """Write what has changed, so that Sphinx reads no page twice, and remove Markdown files that are not named."""
    for old in folder.glob("*.md"):
        if old.name not in files:
            old.unlink()
    for name, text in files.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


@cache
def targets() -> dict[str, str]:
    """Full path of every public name: by that path, by the path below the package, and by the name alone."""
    entries = [entry for each in groups().values() for entry in each]
    found = {name: entry.path for entry in entries for name in (entry.path, entry.page, entry.title)}
    return found | {alias: f"proxembed.{alias}" for alias in proxembed._aliases}


def target_of(text: str) -> str | None:
    """The public name that a literal is, if it is one.

    A word in lower case alone, such as ``search``, may be anything; with its brackets or its module it is a function.
    """
    found = NAME.fullmatch(text)
    if found is None or not (found[1][0].isupper() or found[2] or "." in text):
        return None
    return targets().get(found[1])
