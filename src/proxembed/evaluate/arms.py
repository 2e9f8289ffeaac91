"""Arms of a comparison: registered methods by name, and the rivals that stand in every leaderboard."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp

from proxembed.catalogue import estimators, method_named, method_names, name_of, title_of
from proxembed.params import declared
from proxembed.proximity.layouts import tsne_installed, umap_installed

from .label_scores import LabelScores
from .rivals import FOREST_ROWS, NCA, TSNE, UMAP, ForestProximity, SupervisedUMAP
from .score_rivals import NEWTON_FEATURES, BoostedScores, ForestScores, LogisticScores, ScoreRival, SVMScores

ALL_FEATURES = "all features"
RIVAL_METHODS = ("PCA", "LSI")  # the methods that stand in every leaderboard as rivals
DEFAULT_METHODS = ("opls", "cca", "mddm", "hsl", "mvmd")
KERNEL_ROWS = 3000
MAP_SIZE = 2
RIVAL_SECONDS = 60.0
PENALTY_GRID = "C", (0.1, 1.0, 10.0)
BOOSTED_LABELS, BOOSTED_ROWS, NCA_ROWS = 20, 20_000, 5000
UMAPS = "umap-learn"
PARTLY = "labels are all known in fewer than half of the rows"


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
    grid : (parameter, values), optional
        Of an estimator that predicts by itself: what is chosen on inner folds of the training part.
    each_size : bool, default=False
        Whether the first k of more components are no embedding of size k: it is fitted again for each size, of which
        it gets 2 and the largest alone.
    largest : int, optional
        Its largest number of components.
    lookup : Arm, optional
        Of an estimator that gives shares of labels: the arm that is scored from the same fit with the training rows at
        their labels, see ``scoring.LookupReadings``.

    Examples
    --------
    >>> from proxembed.evaluate.arms import Arm
    >>> Arm("all features", None, rival=True).name
    'all features'
    """

    name: str
    estimator: Any  # None: the features themselves
    rival: bool = False
    grid: tuple[str, tuple[Any, ...]] | None = None
    each_size: bool = False
    largest: int | None = None
    lookup: "Arm | None" = None

    @property
    def names(self) -> tuple[str, ...]:
        """Its name, and that of the arm that is scored from the same fit."""
        return (self.name,) if self.lookup is None else (self.name, self.lookup.name)

    @property
    def predicts(self) -> bool:
        """Whether it scores labels by itself, so that its scores stand in place of a read-out's."""
        return isinstance(self.estimator, ScoreRival)

    def sizes(self, asked: tuple[int, ...]) -> tuple[int | None, ...]:
        """The numbers of components at which it is scored, of those asked for; None alone where it has no size."""
        if self.estimator is None or self.predicts:
            return (None,)
        small = [k for k in asked if self.largest is None or k <= self.largest]
        if not self.each_size:
            return tuple(small)
        return tuple(sorted({k for k in small if k == MAP_SIZE} | set(small[-1:])))


def method_arms(names: Any, *, several_labels: bool = True) -> tuple[Arm, ...]:
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
        An unknown name (the message lists near names), or a method that cannot embed new rows.

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
        if several_labels and estimator.traits.labels == "single":
            estimator = classes["MESD"](estimator)
        check_places_rows(estimator)
        arms.setdefault(name_of(estimator), embedding_arm(name_of(estimator), estimator))
    return tuple(arms.values())


def check_places_rows(estimator: Any) -> None:
    """A ValueError for a method that, as it is set, has no rule for new rows; the message says what to do instead.

    Examples
    --------
    >>> from proxembed import LaplacianEigenmaps
    >>> from proxembed.evaluate.arms import check_places_rows
    >>> check_places_rows(LaplacianEigenmaps(weights="reconstruction"))
    Traceback (most recent call last):
    ValueError: LaplacianEigenmaps has no weights for the links of new rows where W is given or made of ...
    """
    if not hasattr(type(estimator), "transform"):
        return
    try:
        estimator.transform  # noqa: B018  # an attribute only where there is a rule
    except AttributeError as absent:
        raise ValueError(str(absent.__cause__ or absent)) from None


def embedding_arm(name: str, estimator: Any) -> Arm:
    """The arm of an embedding; one with a largest number of components, such as a map, is fitted for each size.

    So is one whose first components are no embedding of a smaller size; its largest is the size that it has.

    Examples
    --------
    >>> from proxembed import OPLS, Layout
    >>> from proxembed.evaluate.arms import embedding_arm
    >>> embedding_arm("map", Layout()).sizes((2, 5, 10)), embedding_arm("OPLS", OPLS()).sizes((2, 5, 10))
    ((2,), (2, 5, 10))
    """
    most = declared(type(estimator))["n_components"][1].high
    if most is None and estimator.class_traits.each_size:
        most = estimator.n_components
        return Arm(name, estimator, each_size=True, largest=int(most) if isinstance(most, Integral) else None)
    return Arm(name, estimator) if most is None else Arm(name, estimator, each_size=True, largest=int(most))


@dataclass(frozen=True)
class Entrant:
    """A rival, the seconds that it may take on one split by a forecast from sizes, and what it needs.

    Parameters
    ----------
    arm : Arm
    seconds : float, default=0
        Forecast; 0 where it always takes part.
    share : float, default=1
        The part of the budget of a rival that it may take.
    lacks : str, default=""
        Why it does not suit the data.

    Examples
    --------
    >>> from proxembed.evaluate.arms import Arm, Entrant
    >>> Entrant(Arm("forest scores", None), seconds=90.0).reason(60.0)
    'a forecast of 90 s, of which it may take 60 s'
    """

    arm: Arm
    seconds: float = 0.0
    share: float = 1.0
    lacks: str = ""

    def reason(self, seconds: float) -> str:
        """Why it takes no part, where a rival may take these seconds; empty where it does."""
        limit = self.share * seconds
        late = f"a forecast of {self.seconds:.0f} s, of which it may take {limit:.0f} s"
        return self.lacks or (late if self.seconds > limit else "")


@dataclass(frozen=True)
class Shape:
    """What a forecast knows of the data: rows, features, entries stored, labels, one class per row, splits."""

    n: int
    d: int
    stored: int
    c: int
    one_class: bool
    splits: int

    @classmethod
    def of(cls, X: Any, Y: Any, splits: int) -> "Shape":
        """Of features and an indicator, or None."""
        n, d = X.shape
        stored = X.nnz if sp.issparse(X) else n * d
        return cls(n, d, stored, 1, False, splits) if Y is None else cls(n, d, stored, Y.shape[1], one_hot(Y), splits)


def one_hot(Y: Any) -> bool:
    """Whether each row of an indicator carries one label."""
    return bool(np.all(np.asarray(Y.sum(axis=1)).ravel() == 1))


def entrants(
    X: Any, Y: Any = None, seed: int = 0, n_rows: int | None = None, splits: int = 1, whole_rows: bool = True
) -> tuple[Entrant, ...]:
    """All rivals in the order of their importance, with what decides whether they take part.

    Parameters
    ----------
    X : array or sparse array of shape (n, d), or TableRows
        Only its kind and sizes matter.
    Y : array or sparse array of shape (n, c), optional
        Labels, of which only the sizes matter; None: one label.
    seed : int, default=0
        Seed of whatever is drawn.
    n_rows : int, optional
        Training rows that forests are grown on at most; None for 5,000.
    splits : int, default=1
        Splits that the rival is fitted on.
    whole_rows : bool, default=True
        Whether the labels of at least half of the rows are all known.

    Returns
    -------
    tuple of Entrant

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.arms import entrants
    >>> [entrant.lacks for entrant in entrants(np.eye(3)) if entrant.arm.name == "NCA"]
    ['rows carry several labels or none']
    """
    from sklearn.random_projection import GaussianRandomProjection

    shape, rows = Shape.of(X, Y, splits), FOREST_ROWS if n_rows is None else n_rows
    variance = "LSI" if sp.issparse(X) or getattr(X, "is_sparse", False) else "PCA"
    proximity, grown = ForestProximity(max_rows=rows, random_state=seed), ForestScores(max_rows=rows, random_state=seed)
    drawn: dict[str, Any] = {"random_state": seed}
    several = "" if shape.one_class else "rows carry several labels or none"
    whole = "" if whole_rows else PARTLY
    fisher = estimators()["FDA"]() if shape.one_class else estimators()["MESD"](estimators()["FDA"]())
    many = f"{shape.c} labels and {shape.n:,} rows; it takes up to {BOOSTED_LABELS} and {BOOSTED_ROWS:,}"
    table: list[tuple[str, Any, dict[str, Any], dict[str, Any]]] = [
        (ALL_FEATURES, None, {}, {}),
        (variance, estimators()[variance](), {}, {}),
        ("logistic regression", LogisticScores(), {"grid": PENALTY_GRID}, {"seconds": _logistic_seconds(shape)}),
        ("label scores", LabelScores(**drawn), {}, {}),
        ("forest scores", grown, {"lookup": Arm("label lookup", None, True)},
         {"seconds": shape.splits * _forest(shape, grown), "share": 0.4}),
        ("forest proximity", proximity, {}, {}),
        ("random projection", GaussianRandomProjection(**drawn), {}, {}),
        ("gradient boosting", BoostedScores(**drawn), {},
         {"seconds": _boosted_seconds(shape), "share": 0.4,
          "lacks": many if shape.c > BOOSTED_LABELS or shape.n > BOOSTED_ROWS else ""}),
        ("NCA", NCA(**drawn), {"each_size": True},
         {"seconds": _nca_seconds(shape), "share": 0.3,
          "lacks": several or (f"{shape.n:,} rows; it takes up to {NCA_ROWS:,}" if shape.n > NCA_ROWS else "")}),
        ("UMAP", UMAP(**drawn), {"each_size": True}, _map_facts(shape, umap_installed(), UMAPS)),
        ("supervised UMAP", SupervisedUMAP(**drawn), {"each_size": True},
         _map_facts(shape, umap_installed(), UMAPS, whole)),
        ("t-SNE", TSNE(**drawn), {"each_size": True, "largest": MAP_SIZE},
         _map_facts(shape, tsne_installed(), "openTSNE")),
        ("linear SVM", SVMScores(), {"grid": PENALTY_GRID}, {"seconds": _svm_seconds(shape), "share": 0.2}),
        (title_of(fisher), fisher, {"largest": MAP_SIZE}, {}),
    ]  # fmt: skip
    return tuple(Entrant(Arm(name, estimator, True, **how), **facts) for name, estimator, how, facts in table)


def rival_arms(
    X: Any,
    Y: Any = None,
    seed: int = 0,
    n_rows: int | None = None,
    *,
    splits: int = 1,
    seconds: float = RIVAL_SECONDS,
    whole_rows: bool = True,
) -> tuple[Arm, ...]:
    """The rivals that take part, all features first.

    Parameters
    ----------
    X, Y, seed, n_rows, splits, whole_rows : as in ``entrants``
    seconds : float, default=60
        What one rival may take on all splits together, by a forecast from sizes.

    Returns
    -------
    tuple of Arm

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.arms import rival_arms
    >>> [arm.name for arm in rival_arms(np.eye(3))]
    ['all features', 'PCA', 'logistic regression', 'label scores', 'forest scores', 'forest proximity'...]
    """
    found = entrants(X, Y, seed, n_rows, splits, whole_rows)
    return tuple(entrant.arm for entrant in found if not entrant.reason(seconds))


def left_out_rivals(
    X: Any,
    Y: Any = None,
    seed: int = 0,
    n_rows: int | None = None,
    *,
    splits: int = 1,
    seconds: float = RIVAL_SECONDS,
    whole_rows: bool = True,
) -> tuple[str, ...]:
    """A sentence on each rival that takes no part, as ``rival_arms`` decides.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.arms import left_out_rivals
    >>> left_out_rivals(np.eye(3))[0]
    'NCA takes no part: rows carry several labels or none.'
    """
    found = entrants(X, Y, seed, n_rows, splits, whole_rows)
    reasons = [(entrant.arm.name, entrant.reason(seconds)) for entrant in found]
    return tuple(f"{name} takes no part: {reason}." for name, reason in reasons if reason)


def beside(rivals: Sequence[Arm], names: Collection[str]) -> tuple[Arm, ...]:
    """The rivals without those that stand for a map alone where arms of these names take part: FDA, if it leads.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.arms import beside, rival_arms
    >>> rivals = rival_arms(np.eye(3))
    >>> len(rivals) - len(beside(rivals, {"MESD(FDA)", "PCA"}))
    1
    """
    return tuple(arm for arm in rivals if arm.largest is None or arm.name not in names)


def _logistic_seconds(s: Shape) -> float:
    """Three fits of all labels and some of ten; Newton steps cost n d^2 each."""
    newton = s.d <= NEWTON_FEATURES
    label = 0.003 + (4e-10 * s.n * s.d**2 if newton else 6e-8 * s.stored)
    return s.splits * label * (3 * s.c + 6 * min(s.c, 10))


def _svm_seconds(s: Shape) -> float:
    """Three fits of all labels and six of ten; steps cost what is stored."""
    return s.splits * (0.002 + 5e-8 * s.stored) * (3 * s.c + 6 * min(s.c, 10))


def _forest(s: Shape, forest: ForestScores) -> float:
    return forest_seconds(min(s.n, forest.max_rows), s.d, s.c, forest.n_estimators)


def forest_seconds(n: int, d: int, c: int, trees: int) -> float:
    """Forecast seconds of growing trees for c labels on n rows of d features.

    Examples
    --------
    >>> from proxembed.evaluate.arms import forest_seconds
    >>> bool(forest_seconds(1000, 50, 5, 100) < forest_seconds(2000, 50, 5, 100))
    True
    """
    return float(trees * n * np.log2(n + 1) * np.sqrt(d) * (3e-8 + 8e-10 * c))


def _boosted_seconds(s: Shape) -> float:
    """Four fits per label: three without an inner fold each, and one of all rows."""
    return s.splits * 4 * s.c * (0.02 + 6e-4 * s.d + 4e-7 * s.n * s.d)


def _nca_seconds(s: Shape) -> float:
    """Up to 50 steps on all pairs of rows, for two sizes."""
    return s.splits * 2 * 50 * (1e-9 * s.n**2 + 1e-10 * s.n**2 * min(s.d, 50) + 1e-9 * s.n * s.d)


def _map_facts(s: Shape, installed: bool, package: str, lacks: str = "") -> dict[str, Any]:
    """Start of the compiler, and the places of the rows for two sizes."""
    lacks = lacks if installed else f"{package} is not installed (pip install 'proxembed[maps]')"
    return {"seconds": 10 + s.splits * (1 + 4e-3 * s.n + 4e-8 * s.n * s.d), "share": 0.4, "lacks": lacks}
