"""Arms of a comparison: registered methods by name, and the rivals that stand in every leaderboard."""

import difflib
from dataclasses import dataclass

import scipy.sparse as sp
from sklearn.base import BaseEstimator

from proxembed.catalogue import estimators

from .label_scores import LabelScores
from .rivals import FOREST_ROWS, ForestProximity, SupervisedUMAP, umap_installed

ALL_FEATURES = "all features"
RIVAL_METHODS = ("PCA", "LSI")
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
    return {name.lower(): name for name, cls in estimators().items() if "n_components" in cls._get_param_names()}


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


def method_arms(names, *, several_labels: bool = True) -> tuple[Arm, ...]:
    """Build the arms of registered methods; a single-label method is wrapped by MESD when rows carry several labels.

    Parameters
    ----------
    names : sequence of str
        Class names in any case, or "all".
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
    wanted = list(dict.fromkeys(name.strip().lower() for name in names))
    if wanted == ["all"]:
        wanted = [name for name, title in known.items() if title not in RIVAL_METHODS]
    arms: dict[str, Arm] = {}
    for name in wanted:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=3)
            hint = f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(known)}."
            raise ValueError(f"unknown method {name!r}; {hint}")
        title = known[name]
        estimator = classes[title]()
        if several_labels and estimator.label_kind == "single":
            estimator = classes["MESD"](estimator)
        arms.setdefault(title_of(estimator), Arm(title_of(estimator), estimator))
    return tuple(arms.values())


def rival_arms(X, seed: int = 0, n_rows: int | None = None) -> tuple[Arm, ...]:
    """Build the rivals: all features, PCA (LSI for sparse X), random projection, label scores, forest proximity.

    Supervised UMAP is one more where umap-learn is installed.

    Parameters
    ----------
    X : array or sparse array
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

    variance = "LSI" if sp.issparse(X) else "PCA"
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
