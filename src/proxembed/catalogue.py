"""The catalogue: every registered estimator by name, with its role."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import MISSING
from typing import Any

from .base import ROLES, Embedder, Estimator, registry
from .params import declared
from .wrapper import FitWrapper, MethodWrapper

Need = Callable[[type[Any]], bool]


def _partly(cls: type[Any]) -> bool:
    """Whether rows with unknown labels take part; of a combinator the wrapped method decides."""
    return cls.class_traits.keeps_unknown


def _extends(cls: type[Any]) -> bool:
    """Whether it is made of other methods."""
    return issubclass(cls, MethodWrapper)


# What a person needs, and the classes that serve it by what they state of themselves: the first that holds.
NEEDS: dict[str, Need] = {
    "search for the best embedding, or assemble one": lambda cls: cls.role in ("search", "model"),
    "rivals: what an embedding must beat": lambda cls: cls.role == "rival",
    "embedding and labels with their uncertainty (Bayesian)": lambda cls: ".bayes." in f"{cls.__module__}.",
    "some labels are unknown": _partly,
    "predict labels from an embedding": lambda cls: cls.role == "classifier",
    "kernels, relations and extensions of a method": lambda cls: cls.role == "features" or _extends(cls),
    "no labels": lambda cls: cls.class_traits.labels is None,
    "one class per row": lambda cls: cls.class_traits.labels == "single",
    "several labels per row": lambda cls: True,
}
SHOWN = tuple(reversed(NEEDS))
LABELS = {"single": "one class per row", "multi": "any label sets", None: "none"}


def need_of(cls: type[Any]) -> str:
    """The need that a registered class serves, one of ``NEEDS``.

    Examples
    --------
    >>> from proxembed import FDA, SSDR, Kernelized
    >>> from proxembed.catalogue import need_of
    >>> [need_of(cls) for cls in (FDA, SSDR, Kernelized)]
    ['one class per row', 'some labels are unknown', 'kernels, relations and extensions of a method']
    """
    return next(need for need, holds in NEEDS.items() if holds(cls))


def unknown_rule(estimator: Any) -> str:
    """What fit does with a row of known and unknown label cells; "" if it takes no labels.

    Examples
    --------
    >>> from proxembed import BSML, LFDA, MESD, OPLS, SELF
    >>> from proxembed.catalogue import unknown_rule
    >>> [unknown_rule(each) for each in (OPLS(), OPLS(unknown="drop"), BSML(), MESD(LFDA()), MESD(SELF()))]
    ['mean', 'left out', 'known cells', 'left out', 'unlabelled']
    """
    if isinstance(estimator, FitWrapper):
        return unknown_rule(estimator.inner())
    if estimator.class_traits.labels is None or not isinstance(estimator, Embedder):
        return ""
    traits = estimator.traits
    if traits.fills_unknown:
        return "mean"
    if not traits.keeps_unknown:
        return "left out"
    return "unlabelled" if traits.whole_rows else "known cells"


def sentence_of(cls: type[Any]) -> str:
    """What a class does: its readable name, and one plain sentence, the first of its description.

    Examples
    --------
    >>> from proxembed import PCA
    >>> from proxembed.catalogue import sentence_of
    >>> sentence_of(PCA)
    'Principal component analysis. The directions of largest variance.'
    """
    title, _, rest = (inspect.getdoc(cls) or "").partition("\n\n")
    title = re.split(r": |,? \[\w+\]|\.?$", " ".join(title.split()))[0]
    first = re.split(r"[.:;](?:\s|$)", " ".join(rest.partition("\n\n")[0].split()))[0].replace("``", "")
    if not first or first.startswith(("Parameters", "Attributes", "Examples", "Raises")):
        return f"{title}."
    return f"{title}. {first}."


def listed() -> list[dict[str, str]]:
    """The estimators with name, need and summary, in the order of needs and names.

    Examples
    --------
    >>> from proxembed.catalogue import listed
    >>> next(row["need"] for row in listed() if row["name"] == "opls")
    'several labels per row'
    """
    rows = []
    for title, cls in estimators().items():
        facts = {"name": title.lower(), "class": title, "role": cls.role, "need": need_of(cls)}
        rows.append(facts | {"labels": LABELS[cls.class_traits.labels], "summary": sentence_of(cls)})
    return sorted(rows, key=lambda row: (SHOWN.index(row["need"]), row["name"]))


def described(name: str) -> dict[str, Any]:
    """The description of one estimator, by its name in upper or lower case.

    Returns
    -------
    dict
        What ``listed`` says, with ``doc`` (the whole documentation), ``parameters`` (name, default and meaning each)
        and ``citation`` (BibTeX, or None).

    Raises
    ------
    ValueError
        There is no such estimator.

    Examples
    --------
    >>> from proxembed.catalogue import described
    >>> found = described("pca")
    >>> found["class"], found["parameters"][0]["name"]
    ('PCA', 'n_components')
    """
    known = {title.lower(): (title, cls) for title, cls in estimators().items()}
    wanted = name.partition("(")[0].strip().lower()
    if wanted not in known:
        from difflib import get_close_matches

        near = get_close_matches(wanted, known, 3, cutoff=0.65)
        hint = f"is it {' or '.join(near)}?" if near else "`proxembed methods` lists them."
        raise ValueError(f"{name!r} is no estimator; {hint}")
    title, cls = known[wanted]
    parameters = [
        {"name": each, "default": None if field.default is MISSING else repr(field.default), "doc": spec.doc}
        for each, (field, spec) in declared(cls).items()
    ]
    cited = cls.citation() if hasattr(cls, "citation") else None
    row = next(row for row in listed() if row["class"] == title)
    return row | {"doc": inspect.getdoc(cls), "parameters": parameters, "citation": cited or None}


def estimators(*roles: str) -> dict[str, type[Estimator]]:
    """The registered estimators by class name, in alphabetical order; where roles are named, those of these roles.

    Raises
    ------
    ValueError
        An unknown role.

    Examples
    --------
    >>> from proxembed.catalogue import estimators
    >>> {"BSML", "MLGFHF", "MOPE", "DEFC"} <= set(estimators())
    True
    >>> list(estimators("search"))
    ['DEFC', 'EmbeddingSearch']
    """
    unknown = [role for role in roles if role not in ROLES]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is no role of an estimator; the roles are {', '.join(ROLES)}.")
    return {name: cls for name, cls in registry().items() if not roles or cls.role in roles}
