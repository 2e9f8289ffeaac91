"""One page a method and the great table, written from the registry: what a class states, the documentation shows."""

from __future__ import annotations

from pathlib import Path

import proxembed
from proxembed.base import Embedder
from proxembed.catalogue import estimators
from proxembed.citation import cited_keys
from proxembed.params import declared

LABELS = {None: "none needed", "single": "one class per row", "multi": "any"}
PAGE = """# {name}

{summary}

```{{eval-rst}}
.. autoclass:: proxembed.{name}

{members}
```

## Citation

```bibtex
{bibtex}
```
"""
TABLE = """# All methods

One row a registered method. *Labels*: what y must be. *Ridge*: whether the constraint takes one. *Placed*: whether the
rows themselves are placed, new ones by a rule of their own, instead of being projected. *Searched*: the parameters with
a declared search range.

| method | what it is | labels | ridge | placed | searched | source |
|---|---|---|---|---|---|---|
{rows}

```{{toctree}}
:hidden:

{names}
```
"""
MEMBERS = ("fit", "transform", "fit_transform", "truncate", "explain", "predict", "predict_proba", "decision_function")


def methods() -> dict[str, type[Embedder]]:
    """The registered embeddings, and what learns with them, that are public names."""
    return {n: cls for n, cls in estimators().items() if issubclass(cls, Embedder) and n in proxembed.__all__}


def summary(cls: type[Embedder]) -> str:
    """The first paragraph of the docstring, without the citation keys."""
    first = " ".join(cls.__doc__.strip().split("\n\n")[0].split())
    for key in cited_keys(cls):
        first = first.replace(f"[{key}]", "")
    return " ".join(first.split()).rstrip(".") + "."


def searched(cls: type[Embedder]) -> list[str]:
    """Names of the parameters with a search range."""
    return [name for name, (_, spec) in declared(cls).items() if spec.search is not None]


def table_row(name: str, cls: type[Embedder]) -> str:
    """The method's row of the great table."""
    taken = declared(cls)
    cells = [
        f"[{name}]({name}.md)",
        summary(cls).split(":")[0].split(" [")[0].rstrip("."),
        LABELS[cls.labels],
        "yes" if "ridge" in taken else "",
        "yes" if getattr(cls, "direct", False) else "",
        ", ".join(f"`{one}`" for one in searched(cls)),
        ", ".join(cited_keys(cls)),
    ]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def write_pages(folder: Path) -> None:
    """Write every page anew; pages of methods that are gone are removed."""
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.md"):
        old.unlink()
    known = methods()
    for name, cls in known.items():
        members = "\n".join(f".. automethod:: proxembed.{name}.{member}" for member in MEMBERS if hasattr(cls, member))
        page = PAGE.format(name=name, summary=summary(cls), members=members, bibtex=cls.citation().strip())
        (folder / f"{name}.md").write_text(page, encoding="utf-8")
    rows = "\n".join(table_row(name, cls) for name, cls in known.items())
    (folder / "index.md").write_text(TABLE.format(rows=rows, names="\n".join(known)), encoding="utf-8")
