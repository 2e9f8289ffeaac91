"""Arms of a comparison: registered methods by name, and the rivals that stand in every leaderboard."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import scipy.sparse as sp

from proxembed.estimator.catalogue import estimators, method_named, method_names, name_of
from proxembed.estimator.weights import takes_weights
from proxembed.params import declared
from proxembed.targets.labels import LabelMatrix
from proxembed.targets.outputs import Outputs
from proxembed.targets.targets import Targets

from .costs import KERNEL_ROWS, shape_of
from .rivals.linear import AllFeatures, RandomProjection
from .rivals.rival import FOREST_ROWS, DataFacts, Rival, rival_methods, rivals

ALL_FEATURES = AllFeatures.title
DEFAULT_METHODS = ("opls", "cca", "mddm", "hsl", "mvmd")
MAP_SIZE = 2
RIVAL_WORK = 60.0  # units of ``costs`` that a rival may take where no budget is given
EVERYWHERE = 10.0  # times as many may one take that stands in every leaderboard


def default_methods(n_rows: int) -> tuple[str, ...]:
    """Methods compared when none is named; Kernelized, of cost n^3, up to 6,000 rows."""
    return (*DEFAULT_METHODS, "kernelized") if n_rows <= KERNEL_ROWS else DEFAULT_METHODS


@dataclass(frozen=True)
class Arm:
    """One entrant of a comparison."""

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
        return bool(getattr(self.estimator, "predicts", False))

    @property
    def reads_features(self) -> bool:
        """Whether its predictions of labels come from the features, at every number of components alike."""
        return hasattr(self.estimator, "label_scores")

    def sizes(self, asked: tuple[int, ...]) -> tuple[int | None, ...]:
        """The numbers of components at which it is scored, of those asked for; None alone where it has no size."""
        if self.estimator is None or self.predicts:
            return (None,)
        small = [k for k in asked if self.largest is None or k <= self.largest]
        if not self.each_size:
            return tuple(small)
        return tuple(sorted({k for k in small if k == MAP_SIZE} | set(small[-1:])))


def method_arms(names: Any, *, several_labels: bool = True) -> tuple[Arm, ...]:
    """Build the arms of registered methods; a single-label method is wrapped by MESD when rows carry several labels."""
    known, classes = method_names(), estimators()
    wanted = list(dict.fromkeys(name.strip() for name in names))
    if [name.lower() for name in wanted] == ["all"]:
        wanted = [name for name, title in known.items() if title not in rival_methods()]
    arms: dict[str, Arm] = {}
    for name in wanted:
        estimator = method_named(name)
        if several_labels and estimator.traits.labels == "single":
            estimator = classes["MESD"](estimator)
        check_places_rows(estimator)
        arms.setdefault(name_of(estimator), embedding_arm(name_of(estimator), estimator))
    return tuple(arms.values())


def check_places_rows(estimator: Any) -> None:
    """A ValueError for a method that, as it is set, has no rule for new rows; the message says what to do instead."""
    if not hasattr(type(estimator), "transform"):
        return
    try:
        estimator.transform  # noqa: B018  # an attribute only where there is a rule
    except AttributeError as absent:
        raise ValueError(str(absent.__cause__ or absent)) from None


def embedding_arm(name: str, estimator: Any) -> Arm:
    """The arm of an embedding; one with a largest number of components, such as a map, is fitted for each size."""
    most = declared(type(estimator))["n_components"][1].high
    if most is None and estimator.class_traits.each_size:
        most = estimator.n_components
        return Arm(name, estimator, each_size=True, largest=int(most) if isinstance(most, Integral) else None)
    return Arm(name, estimator) if most is None else Arm(name, estimator, each_size=True, largest=int(most))


@dataclass(frozen=True)
class Entrant:
    """A rival as it would take part in one comparison."""

    arm: Arm
    rival: type[Rival]
    work: float = 0.0
    lacks: str = ""

    def reason(self, work: float) -> str:
        """Why it takes no part, where a rival may take these units of work; empty where it does."""
        limit = self.rival.share * work * (EVERYWHERE if self.rival.cut == "last" else 1.0)
        late = f"a forecast of {self.work:.0f} units of work, of which it may take {limit:.0f}"
        return self.lacks or (late if self.work > limit else "")


def entrants(
    X: Any,
    targets: Targets | None = None,
    seed: int = 0,
    n_rows: int | None = None,
    splits: int = 1,
    whole_rows: bool = True,
) -> tuple[Entrant, ...]:
    """All rivals of targets of a kind in the order of their importance, with what decides whether they take part."""
    shape = shape_of(X, 1 if targets is None else targets.c)
    sparse, numbers = sp.issparse(X) or getattr(X, "is_sparse", False), isinstance(targets, Outputs)
    one_class = isinstance(targets, LabelMatrix) and bool((targets.m == 1).all())
    rows = FOREST_ROWS if n_rows is None else n_rows
    one_label = isinstance(targets, LabelMatrix) and targets.c == 1
    facts = DataFacts(shape, sparse, one_class, one_label, whole_rows, seed, splits, rows, numbers)
    kind = "numbers" if numbers else "labels"
    return tuple(_entrant(rival, facts) for rival in rivals() if kind in rival.takes)


def _entrant(rival: type[Rival], facts: DataFacts) -> Entrant:
    estimator = rival.build(facts)
    largest = MAP_SIZE if rival.goal == "map" else None
    lookup = None if rival.lookup is None else Arm(rival.lookup, None, True)
    arm = Arm(rival.name_of(estimator), estimator, True, rival.grid, rival.class_traits.each_size, largest, lookup)
    return Entrant(arm, rival, rival.forecast(facts), rival.lacks(facts))


def rival_arms(*data: Any, work: float = RIVAL_WORK, **more: Any) -> tuple[Arm, ...]:
    """The rivals that take part, all features first; of the arguments of ``entrants``."""
    return tuple(entrant.arm for entrant in entrants(*data, **more) if not entrant.reason(work))


def left_out_rivals(*data: Any, work: float = RIVAL_WORK, **more: Any) -> tuple[str, ...]:
    """A sentence on each rival that takes no part, as ``rival_arms`` decides."""
    reasons = [(entrant.arm.name, entrant.reason(work)) for entrant in entrants(*data, **more)]
    return tuple(f"{name} takes no part: {reason}." for name, reason in reasons if reason)


def unweighted_rivals(arms: Sequence[Arm]) -> tuple[str, ...]:
    """A sentence on the rivals among some arms that are fitted without the weights of the rows."""
    names = [arm.name for arm in arms if arm.rival and arm.estimator is not None and arm.name != RandomProjection.title]
    known = {arm.name: arm.estimator for arm in arms}
    names = [name for name in names if not takes_weights(known[name])]
    if not names:
        return ()
    return (f"Fitted without the weights of the rows, which its library does not take: {', '.join(names)}.",)


def without_duplicates(rivals: Sequence[Arm], names: Collection[str]) -> tuple[Arm, ...]:
    """The rivals without map-only ones that are already among the named arms, such as FDA if it leads the search."""
    return tuple(arm for arm in rivals if arm.largest is None or arm.name not in names)
