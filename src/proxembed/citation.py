"""citation(): the BibTeX of what a class cites in its docstring, from the one bibliography of the package."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

KEY = re.compile(r"\[([a-z]+\d{4}[a-z0-9]*)\]")


@cache
def bibliography() -> dict[str, str]:
    """Every entry of references.bib by its key, without the headings between them."""
    text = files("proxembed").joinpath("references.bib").read_text(encoding="utf-8")
    text = re.sub(r"(?m)^%.*$", "", text)
    entries = re.split(r"(?m)^(?=@)", text)
    found = (re.match(r"@\w+\{([^,\s]+),", entry) for entry in entries)
    return {m.group(1): entry.strip() for m, entry in zip(found, entries, strict=True) if m}


def cited_keys(cls: type) -> list[str]:
    """Citation keys in the class docstring, in order of appearance."""
    return list(dict.fromkeys(KEY.findall(cls.__doc__ or "")))


def citation(keys: list[str]) -> str:
    """The BibTeX entries of the keys; a KeyError names one that is missing."""
    return "\n\n".join(bibliography()[key] for key in keys)
