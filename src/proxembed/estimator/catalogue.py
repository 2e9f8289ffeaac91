"""The catalogue: every registered estimator by name, with its role, and the names of estimators with parameters."""

import ast
import difflib
import inspect
import re
from collections.abc import Callable
from dataclasses import MISSING
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from proxembed.params import declared

from .base import ROLES, Embedder, Estimator, registry
from .wrapper import FitWrapper, MethodWrapper

BY_NAME = ("method", "model")  # the roles of the embeddings that go by their names; searches draw the first alone
COUNTERPARTS = {  # the methods here of names that other libraries go by
    "lda": ["fda", "mesd"],
    "lineardiscriminantanalysis": ["fda", "mesd"],
    "kfda": ["kernelized(fda)"],
    "kpca": ["kernelized(pca)"],
    "kernelpca": ["kernelized(pca)"],
    "nca": ["lfda"],
    "plsregression": ["pls", "opls"],
    "spectralembedding": ["laplacianeigenmaps"],
    "svd": ["lsi"],
    "truncatedsvd": ["lsi"],
    "tsne": ["layout"],
    "umap": ["layout"],
}
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
    """The need that a registered class serves, one of ``NEEDS``."""
    return next(need for need, holds in NEEDS.items() if holds(cls))


def unknown_rule(estimator: Any) -> str:
    """What fit does with a row of known and unknown label cells; "" if it takes no labels."""
    if isinstance(estimator, FitWrapper):
        return unknown_rule(estimator.inner())
    if estimator.class_traits.labels is None or not isinstance(estimator, Embedder):
        return ""
    traits = estimator.traits
    if traits.fills_unknown:
        automatic = "fill or mean" if traits.takes_numbers else "mean"
        return automatic if traits.unknown == "auto" else traits.unknown
    if not traits.keeps_unknown:
        return "left out"
    return "unlabelled" if traits.whole_rows else "known cells"


def sentence_of(cls: type[Any]) -> str:
    """What a class does: its readable name, and one plain sentence, the first of its description."""
    title, _, rest = (inspect.getdoc(cls) or "").partition("\n\n")
    title = re.split(r": |,? \[\w+\]|\.?$", " ".join(title.split()))[0]
    first = re.split(r"[.:;](?:\s|$)", " ".join(rest.partition("\n\n")[0].split()))[0].replace("``", "")
    if not first or first.startswith(("Parameters", "Attributes", "Examples", "Raises")):
        return f"{title}."
    return f"{title}. {first}."


def listed() -> list[dict[str, str]]:
    """The estimators with name, need and summary, in the order of needs and names."""
    rows = []
    for title, cls in estimators().items():
        facts = {"name": title.lower(), "class": title, "role": cls.role, "need": need_of(cls)}
        rows.append(facts | {"labels": LABELS[cls.class_traits.labels], "summary": sentence_of(cls)})
    return sorted(rows, key=lambda row: (SHOWN.index(row["need"]), row["name"]))


def described(name: str) -> dict[str, Any]:
    """The description of one estimator, by its name in upper or lower case."""
    known = {title.lower(): (title, cls) for title, cls in estimators().items()}
    wanted = name.partition("(")[0].strip().lower()
    if wanted not in known:
        near = difflib.get_close_matches(wanted, known, 3, cutoff=0.65)
        hint = f"is it {' or '.join(near)}?" if near else "`proxembed methods` lists them."
        raise ValueError(f"{name!r} is not an estimator; {hint}")
    title, cls = known[wanted]
    parameters = [
        {"name": each, "default": None if field.default is MISSING else repr(field.default), "doc": spec.doc}
        for each, (field, spec) in declared(cls).items()
    ]
    cited = cls.citation() if hasattr(cls, "citation") else None
    row = next(row for row in listed() if row["class"] == title)
    return row | {"doc": inspect.getdoc(cls), "parameters": parameters, "citation": cited or None}


def estimators(*roles: str) -> dict[str, type[Estimator]]:
    """The registered estimators by class name, in alphabetical order; where roles are named, those of these roles."""
    unknown = [role for role in roles if role not in ROLES]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is not a role of an estimator; the roles are {', '.join(ROLES)}.")
    return {name: cls for name, cls in registry().items() if not roles or cls.role in roles}


def method_names() -> dict[str, str]:
    """Names that ``method_arms`` takes (the class names in lower case), with the class name of each."""
    return {name.lower(): name for name in estimators(*BY_NAME)}


def title_of(estimator: Any) -> str:
    """Class name of an estimator, with that of the method it wraps."""
    title = str(type(estimator).__name__)
    if "method" not in estimator.get_params(deep=False):
        return title
    return f"{title}({title_of(estimator.method or estimator.default_method())})"


def settings(estimator: Any) -> dict[str, Any]:
    """The parameters of an estimator that differ from their defaults, as plain data; those of a wrapped method too.
    Which method is wrapped stands in the title (``title_of``), not here."""
    found: dict[str, Any] = {}
    for name, (f, _) in declared(type(estimator)).items():
        value = getattr(estimator, name)
        if isinstance(value, Embedder):
            found |= {f"{name}__{inner}": v for inner, v in settings(value).items()}
        elif value is not f.default and value != f.default:
            found[name] = value.item() if isinstance(value, np.generic) else value
    return found


def name_of(estimator: Any) -> str:
    """The name of an estimator with its parameters that are not at their defaults, as ``method_named`` reads it."""
    members = named_members(estimator)
    inside = ("method__", *(f"{name}__" for name in members))
    values = {name: value for name, value in settings(estimator).items() if not name.startswith(inside)}
    parts = [f"{name}={name_of(member)}" for name, member in members.items()]
    parts += [f"{name}={value!r}" for name, value in values.items()]
    if "method" in estimator.get_params(deep=False):
        parts.insert(0, name_of(estimator.method or estimator.default_method()))
    return type(estimator).__name__ + (f"({', '.join(parts)})" if parts else "")


def named_members(estimator: Any) -> dict[str, Embedder]:
    """The methods that parameters of an estimator hold, except for the one that it wraps."""
    values = estimator.get_params(deep=False).items()
    return {name: value for name, value in values if name != "method" and isinstance(value, Embedder)}


def split_names(text: str) -> list[str]:
    """Names separated by commas; commas inside brackets belong to a name."""
    names, depth = [""], 0
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth <= 0:
            names.append("")
        else:
            names[-1] += character
    return [name.strip() for name in names]


def method_named(name: str) -> BaseEstimator:
    """The method that a name stands for, as tables show it, with parameters in brackets where there are some."""
    try:
        tree = ast.parse(name.strip(), mode="eval").body if "(" in name else ast.Name(name.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        tree = ast.Name(name.strip())
    return _estimator_of(tree, name)


def _estimator_of(tree: ast.expr, name: str) -> BaseEstimator:
    """The estimator of a name, or of a call of names and constants."""
    call = tree if isinstance(tree, ast.Call) else ast.Call(tree, [], [])
    if not isinstance(call.func, ast.Name) or len(call.args) > 1 or any(key.arg is None for key in call.keywords):
        raise ValueError(f"method {name!r} cannot be read; write it like 'MESD(FDA)' or 'Kernelized(OPLS, tau=2.0)'.")
    known, title = method_names(), call.func.id.lower()
    if title not in known:
        near = COUNTERPARTS.get(title) or difflib.get_close_matches(title, known, n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else f"known methods are {', '.join(known)}."
        raise ValueError(f"unknown method {call.func.id!r}; {hint}")
    estimator = estimators()[known[title]]()
    values = {str(key.arg): _value_of(key.value, name) for key in call.keywords}
    if call.args:
        values["method"] = _value_of(call.args[0], name)
    if unknown := sorted(set(values) - set(estimator.get_params(deep=False))):
        raise ValueError(f"{unknown[0]!r} is not a parameter of {known[title]}; see `proxembed methods {title}`.")
    return estimator.set_params(**values)


def _value_of(tree: ast.expr, name: str) -> Any:
    """A constant, or a method."""
    try:
        return ast.literal_eval(tree)
    except (ValueError, TypeError, RecursionError):
        return _estimator_of(tree, name)
