"""A public name in backticks is a link to its page, on every page and in every docstring."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from api_pages import groups
from docutils import nodes
from sphinx import addnodes

import proxembed

NAME = re.compile(r"(?:proxembed\.)?([\w.]+?)(\(.*\))?", re.DOTALL)


@cache
def targets() -> dict[str, str]:
    """Full path of every public name: by that path, by the path below the package, and by the name alone."""
    entries = [entry for each in groups().values() for entry in each]
    found = {name: entry.path for entry in entries for name in (entry.path, entry.page, entry.title)}
    return found | {alias: f"proxembed.{alias}" for alias in proxembed._ALIASES}


def target_of(text: str) -> str | None:
    """The public name that a literal is, if it is one.

    A word in lower case alone, such as ``search``, may be anything; with its brackets or its module it is a function.
    """
    found = NAME.fullmatch(text)
    if found is None or not (found[1][0].isupper() or found[2] or "." in text):
        return None
    return targets().get(found[1])


def link(app: Any, doctree: nodes.document) -> None:
    """Wrap each such literal in a reference."""
    for literal in list(doctree.findall(nodes.literal)):
        parents = {type(parent) for parent in ancestors(literal)}
        if parents & {nodes.reference, addnodes.pending_xref, nodes.title, addnodes.desc_signature}:
            continue
        path = target_of(literal.astext())
        if path is not None:
            wanted = addnodes.pending_xref(
                "", refdomain="py", reftype="obj", reftarget=path, refdoc=app.env.docname, refwarn=True
            )
            literal.replace_self(wanted)
            wanted += literal


def ancestors(node: nodes.Node) -> list[nodes.Node]:
    found = []
    while (node := node.parent) is not None:
        found.append(node)
    return found


def setup(app: Any) -> dict[str, bool]:
    app.connect("doctree-read", link)
    return {"parallel_read_safe": True}
