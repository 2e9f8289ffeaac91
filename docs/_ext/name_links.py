"""A public name in backticks is a link to its page, on every page and in every docstring."""

from __future__ import annotations

from typing import Any

from api_pages import target_of
from docutils import nodes
from sphinx import addnodes


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
