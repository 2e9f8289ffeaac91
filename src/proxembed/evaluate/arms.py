"""Arms of a comparison: registered methods by name, and the rivals that stand in every leaderboard."""

import ast
import difflib
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from proxembed.base import Embedder
from proxembed.catalogue import estimators
from proxembed.params import declared

from .label_scores import LabelScores
from .rivals import FOREST_ROWS, ForestProximity, SupervisedUMAP, umap_installed

ALL_FEATURES = "all features"
BY_NAME = ("method", "model")  # the roles of the embeddings that go by their names; searches draw the first alone
RIVAL_METHODS = ("PCA", "LSI")  # the methods that stand in every leaderboard as rivals
DEFAULT_METHODS = ("opls", "cca", "mddm", "hsl", "mvmd")
KERNEL_ROWS = 3000


def default_methods(n_rows: int) -> tuple[str, ...]:
    """Methods compared when none is named; Kernelized, of cost n^3, up to 3,000 rows.

    Examples
    --------
    >>> from proxembed.evaluate.arms import default_methods
    >>> "kernelized" in default_methods(1000), "kernelized" in default_methods(10000)
    (True, False)
    """
    return (*DEFAULT_METHODS, "kernelized") if n_rows <= KERNEL_ROWS else DEFAULT_METHODS


@dataclass(frozen=True)
class Arm:
    """One entrant of a comparison.

    Parameters
    ----------
    name : str
        Name in the leaderboard.
    estimator : transformer or None
        Unfitted, with a parameter ``n_components``; None stands for all features, which have no size.
    rival : bool, default=False
        True for what an embedding must beat.

    Examples
    --------
    >>> from proxembed.evaluate.arms import Arm
    >>> Arm("all features", None, rival=True).name
    'all features'
    """

    name: str
    estimator: BaseEstimator | None
    rival: bool = False


def method_names() -> dict[str, str]:
    """Names that ``method_arms`` takes (the class names in lower case), with the class name of each.

    Examples
    --------
    >>> from proxembed.evaluate.arms import method_names
    >>> method_names()["opls"]
    'OPLS'
    """
    return {name.lower(): name for name in estimators(*BY_NAME)}


def title_of(estimator) -> str:
    """Class name of an estimator, with that of the method it wraps.

    Examples
    --------
    >>> from proxembed import Kernelized
    >>> from proxembed.evaluate.arms import title_of
    >>> title_of(Kernelized())
    'Kernelized(OPLS)'
    """
    title = type(estimator).__name__
    if "method" not in estimator.get_params(deep=False):
        return title
    return f"{title}({title_of(estimator.method or estimator.default_method())})"


def settings(estimator: Any) -> dict[str, Any]:
    """The parameters of an estimator that differ from their defaults, as plain data; those of a wrapped method too.

    Which method is wrapped stands in the title (``title_of``), not here.

    Examples
    --------
    >>> from proxembed import MESD, MMC
    >>> from proxembed.evaluate.arms import settings
    >>> settings(MESD(MMC(lam=0.5), n_components=2))
    {'n_components': 2, 'method__lam': 0.5}
    """
    found: dict[str, Any] = {}
    for name, (f, _) in declared(type(estimator)).items():
        value = getattr(estimator, name)
        if isinstance(value, Embedder):
            found |= {f"{name}__{inner}": v for inner, v in settings(value).items()}
        elif value is not f.default and value != f.default:
            found[name] = value.item() if isinstance(value, np.generic) else value
    return found


def name_of(estimator) -> str:
    """The name of an estimator with its parameters that are not at their defaults, as ``method_named`` reads it.

    Examples
    --------
    >>> from proxembed import MVMD, Kernelized
    >>> from proxembed.evaluate.arms import name_of
    >>> name_of(Kernelized(MVMD(beta=0.2), n_prototypes=500))
    'Kernelized(MVMD(beta=0.2), n_prototypes=500)'
    """
    values = {name: value for name, value in settings(estimator).items() if not name.startswith("method__")}
    parts = [f"{name}={value!r}" for name, value in values.items()]
    if "method" in estimator.get_params(deep=False):
        parts.insert(0, name_of(estimator.method or estimator.default_method()))
    return type(estimator).__name__ + (f"({', '.join(parts)})" if parts else "")


def split_names(text: str) -> list[str]:
    """Names separated by commas; commas inside brackets belong to a name.

    Examples
    --------
    >>> from proxembed.evaluate.arms import split_names
    >>> split_names("opls, Kernelized(MVMD, n_prototypes=500)")
    ['opls', 'Kernelized(MVMD, n_prototypes=500)']
    """
    names, depth = [""], 0
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth <= 0:
            names.append("")
        else:
            names[-1] += character
    return [name.strip() for name in names]


def method_named(name: str) -> BaseEstimator:
    """The method that a name stands for, as tables show it, with parameters in brackets where there are some.

    Parameters
    ----------
    name : str
        A class name in any case; in brackets a method that it wraps, and parameters as Python writes them.

    Returns
    -------
    unfitted estimator

    Raises
    ------
    ValueError
        An unknown name, a parameter that the method has not, or text that is no name.

    Examples
    --------
    >>> from proxembed.evaluate.arms import method_named
    >>> method_named("kernelized(MVMD(beta=0.2), n_prototypes=500)")
    Kernelized(method=MVMD(beta=0.2), n_prototypes=500)
    """
    try:
        tree = ast.parse(name.strip(), mode="eval").body if "(" in name else ast.Name(name.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        tree = ast.Name(name.strip())
    return _made(tree, name)


def _made(tree: ast.expr, name: str) -> BaseEstimator:
    """The estimator of a name, or of a call of names and constants."""
    call = tree if isinstance(tree, ast.Call) else ast.Call(tree, [], [])
    if not isinstance(call.func, ast.Name) or len(call.args) > 1 or any(key.arg is None for key in call.keywords):
        raise ValueError(f"method {name!r} cannot be read; write it like 'MESD(FDA)' or 'Kernelized(OPLS, tau=2.0)'.")
    known, title = method_names(), call.func.id.lower()
    if title not in known:
        near = difflib.get_close_matches(title, known, n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(known)}."
        raise ValueError(f"unknown method {call.func.id!r}; {hint}")
    estimator = estimators()[known[title]]()
    values = {key.arg: _value(key.value, name) for key in call.keywords}
    if call.args:
        values["method"] = _value(call.args[0], name)
    if unknown := sorted(set(values) - set(estimator.get_params(deep=False))):
        raise ValueError(f"{unknown[0]!r} is no parameter of {known[title]}; see `proxembed methods {title}`.")
    return estimator.set_params(**values)


def _value(tree: ast.expr, name: str):
    """A constant, or a method."""
    try:
        return ast.literal_eval(tree)
    except (ValueError, TypeError, RecursionError):
        return _made(tree, name)


def method_arms(names, *, several_labels: bool = True) -> tuple[Arm, ...]:
    """Build the arms of registered methods; a single-label method is wrapped by MESD when rows carry several labels.

    Parameters
    ----------
    names : sequence of str
        Names as ``method_named`` takes them, or "all".
    several_labels : bool, default=True
        Whether rows of the data carry several labels (or none).

    Returns
    -------
    tuple of Arm

    Raises
    ------
    ValueError
        An unknown name; the message lists near names.

    Examples
    --------
    >>> from proxembed.evaluate.arms import method_arms
    >>> [arm.name for arm in method_arms(["opls", "fda"])]
    ['OPLS', 'MESD(FDA)']
    """
    known, classes = method_names(), estimators()
    wanted = list(dict.fromkeys(name.strip() for name in names))
    if [name.lower() for name in wanted] == ["all"]:
        wanted = [name for name, title in known.items() if title not in RIVAL_METHODS]
    arms: dict[str, Arm] = {}
    for name in wanted:
        estimator = method_named(name)
        if several_labels and estimator.label_kind == "single":
            estimator = classes["MESD"](estimator)
        arms.setdefault(name_of(estimator), Arm(name_of(estimator), estimator))
    return tuple(arms.values())


def rival_arms(X, seed: int = 0, n_rows: int | None = None) -> tuple[Arm, ...]:
    """Build the rivals: all features, PCA (LSI for sparse X), random projection, label scores, forest proximity.

    Supervised UMAP is one more where umap-learn is installed.

    Parameters
    ----------
    X : array or sparse array, or TableRows
        The features; only their kind matters.
    seed : int, default=0
        Seed of the random projection, of the label scores' folds, of the forest and of UMAP.
    n_rows : int, optional
        Training rows that the forest is grown on at most; None for 5,000.

    Returns
    -------
    tuple of Arm

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.arms import rival_arms
    >>> [arm.name for arm in rival_arms(np.eye(3))]
    ['all features', 'PCA', 'random projection', 'label scores', 'forest proximity'...]
    """
    from sklearn.random_projection import GaussianRandomProjection

    variance = "LSI" if sp.issparse(X) or getattr(X, "is_sparse", False) else "PCA"
    forest = ForestProximity(max_rows=FOREST_ROWS if n_rows is None else n_rows, random_state=seed)
    arms = (
        Arm(ALL_FEATURES, None, rival=True),
        Arm(variance, estimators()[variance](), rival=True),
        Arm("random projection", GaussianRandomProjection(random_state=seed), rival=True),
        Arm("label scores", LabelScores(random_state=seed), rival=True),
        Arm("forest proximity", forest, rival=True),
    )
    if not umap_installed():
        return arms
    return (*arms, Arm("supervised UMAP", SupervisedUMAP(random_state=seed), rival=True))
