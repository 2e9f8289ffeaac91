"""The search space: which methods fit the labels, parameters drawn from declared ranges, and configurations that have
won on other data sets."""

import json
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from sklearn.base import clone

from proxembed.estimator.base import Embedder, SpectralEmbedder
from proxembed.estimator.catalogue import estimators, method_named, name_of, named_members, settings, title_of
from proxembed.evaluate.arms import method_arms
from proxembed.evaluate.costs import KERNEL_ROWS, PROTOTYPES, Shape
from proxembed.evaluate.rivals.rival import rival_methods
from proxembed.measures.measures import AVERAGE_PRECISION, DEFAULT_NEIGHBORS, JACCARD
from proxembed.methods.around import ComponentWrapper, ReadoutAxes, Scaled
from proxembed.methods.dependence import PLS
from proxembed.methods.out_of_fold import BASES
from proxembed.methods.target_space import OF_NUMBERS as NUMBER_BASES
from proxembed.methods.target_space import TargetSpace
from proxembed.params import Integers, Log, Methods, declared, log, safe_repr


class Draws:
    """Values drawn at random."""

    def __init__(self, rng: np.random.Generator):
        self.rng = rng

    def choice(self, name: str, options: Sequence[Any]) -> Any:
        """One of several."""
        return options[int(self.rng.integers(len(options)))]

    def chance(self, name: str) -> bool:
        """True half of the time."""
        return bool(self.rng.random() < 0.5)

    def whole(self, name: str, low: int, high: int) -> int:
        """A whole number, the ends included."""
        return int(self.rng.integers(low, high + 1))

    def real(self, name: str, low: float, high: float) -> float:
        """A number between the ends."""
        return float(self.rng.uniform(low, high))

    def log_real(self, name: str, low: float, high: float) -> float:
        """A number between the ends, uniform in the logarithm."""
        return float(np.clip(np.exp(self.rng.uniform(np.log(low), np.log(high))), low, high))


FIRST = ("opls", "kernelized")  # of numbers, and of rows that are fitted by parts
VIEWS = "Views(Kernelized(OPLS), views=('features', 'leaves', 'scores'), weights=1.0)"
ANCHORS = (  # tried in this order before anything is drawn; where all are too dear, the last are left out first
    "OPLS",
    "TargetSpace",
    "ForestLeaves(OPLS)",
    "ReadoutAxes(ForestLeaves(OPLS))",
    "Kernelized(OPLS)",
    VIEWS,
    f"ReadoutAxes({VIEWS})",
)
# What a search for numbers tries; no method wins everywhere.
OF_NUMBERS = (*FIRST, "views", "forestleaves", "targetspace")
# In default construction the first of these that was fitted is left for evidence only.
KERNEL_FORM = "Kernelized(OPLS)"
PREFERRED = ("TargetSpace", KERNEL_FORM)
# Of the anchors that the budget has room for, a search for a map lays out these, in this order.
FOR_MAPS = ("TargetSpace", KERNEL_FORM, f"ReadoutAxes({VIEWS})", "ForestLeaves(OPLS)")
RIDGES = log(1e-6, 1e2)
SIZES = (2, 5, 10, 20, 50, 100)
DEAR_BASES = ("kernel", "forest", "ridge")  # of TargetSpace, in the order in which they are left out of a search
VARIANCE = (0.8, 0.9, 0.95, 0.99)  # shares that principal components keep before a kernel


def component_sizes(n_labels: int, numbers: bool = False) -> tuple[int, ...]:
    """Numbers of components worth trying: up to the number of labels (at least 10), and that number itself; of
    ``numbers`` one component, too."""
    sizes = {k for k in SIZES if k <= max(10, n_labels)} | ({1} if numbers else set())
    return tuple(sorted(sizes | ({n_labels} if 2 <= n_labels <= SIZES[-1] else set())))


@dataclass(frozen=True)
class Candidate:
    """A method to search: a registered class, perhaps the class that it wraps, and fixed parameters."""

    cls: type[Any]
    inner: type | None = None
    fixed: tuple[tuple[str, Any], ...] = ()
    weighed: bool = False
    scalings: tuple[str, ...] = ()
    numbers: bool = False

    @property
    def title(self) -> str:
        """Name in tables."""
        return title_of(self.default())

    def default(self) -> Embedder:
        """The method with its default parameters, and those that are fixed."""
        return self._made(self.cls() if self.inner is None else self.cls(self.inner()))

    def sample(self, draws: Draws) -> Embedder:
        """The method with parameters from their search ranges, those that are fixed, and a scaling."""
        return self._made(sample(self.cls, draws, self.inner, numbers=self.numbers), draws)

    def _made(self, method: Embedder, draws: Draws | None = None) -> Embedder:
        method.set_params(**{name: clone(value, safe=False) for name, value in self.fixed})
        if draws is not None and self.scalings and not method.traits.scales:
            method = self._scaled(method, draws)
        return ReadoutAxes(method) if self.weighed else method

    def _scaled(self, method: Embedder, draws: Draws) -> Embedder:
        """The method with a scaling, of a kernel perhaps with principal components."""
        usual, *others = self.scalings
        kind = usual if not others or draws.chance("usual scaling") else draws.choice("scaling", others)
        kernel = "kernel" in declared(self.cls) and draws.chance("components before a kernel")
        share = draws.choice("share of variance", VARIANCE) if kernel else 1.0
        return method if kind == usual and share == 1 else Scaled(method, kind, pca_var=share)

    def makes(self, config: Embedder) -> bool:
        """Whether a configuration is of this class, and weighed as this one is."""
        return isinstance(config, ReadoutAxes) == self.weighed and type(_bare(config)) is self.cls

    def covers(self, config: Embedder) -> bool:
        """Whether it could be drawn here: of this class, with the class that is wrapped and what is fixed."""
        if not self.makes(config):
            return False
        values = _bare(config).get_params()
        inner = self.inner is None or type(values["method"] or self.inner()) is self.inner
        if self.numbers and not config.traits.takes_numbers:
            return False
        return inner and all(values.get(name) == value for name, value in self.fixed)


def _bare(config: Embedder) -> Any:
    """The method of a configuration, without its scaling and without the weights of its axes."""
    while isinstance(config, ComponentWrapper):
        config = config.member()
    return config


def candidates(
    names: Sequence[str] | str | None = None,
    *,
    several_labels: bool = True,
    partly_labelled: bool = False,
    weighed: bool = False,
    scalings: tuple[str, ...] = (),
    numbers: bool = False,
) -> tuple[Candidate, ...]:
    """The methods to search."""
    if names is None and numbers:
        names = OF_NUMBERS
    elif names is None:
        names = [
            name.lower()
            for name, cls in estimators("method").items()
            if name not in rival_methods()
            and not _extends(cls)
            and not cls.class_traits.own_matrices
            and (partly_labelled or not cls.class_traits.keeps_unknown)  # of a wrapper, what it wraps decides
        ]
    several = [names] if isinstance(names, str) else list(names) if np.iterable(names) else [None]
    if not all(isinstance(name, str) for name in several):
        raise ValueError(
            f"methods={safe_repr(names)} is not allowed; it must be a name, a sequence of names, or None for all."
        )
    names = several
    if not names:
        raise ValueError("methods is empty; name at least one method, or pass None for all.")
    found = {}
    for arm in method_arms(names, several_labels=several_labels):
        inner: Any = getattr(arm.estimator, "method", None)
        fixed = named_members(arm.estimator) | settings(arm.estimator)
        if getattr(inner, "method", None) is not None:
            fixed = {"method__method": inner.method} | fixed
        if numbers and isinstance(arm.estimator, PLS):  # else it would have no more components than outputs
            fixed = {"deflation": "nipals"} | fixed
        kept: dict[str, Any] = {"fixed": tuple(fixed.items()), "scalings": scalings, "numbers": numbers}
        found[arm.name] = Candidate(type(arm.estimator), None if inner is None else type(inner), **kept)
    again = [replace(each, weighed=True) for each in found.values() if not each.cls.class_traits.each_size]
    return (*found.values(), *(again if weighed else ()))


def family_of(config: Any) -> str:
    """The title of a configuration without its scaling."""
    if isinstance(config, Scaled):
        return family_of(config.member())
    return f"ReadoutAxes({family_of(config.member())})" if isinstance(config, ReadoutAxes) else title_of(config)


def _extends(cls: type) -> bool:
    return any(spec.search == Methods("single") for _, spec in declared(cls).values())


def sample(cls: type, draws: Draws, inner: type | None = None, path: str = "", numbers: bool = False) -> Embedder:
    """An unfitted estimator: every parameter that declares a search range takes a value from it; of ``numbers`` the
    methods in a wrapper take these."""
    values, path = {}, f"{path}{cls.__name__}."
    for name, (_, spec) in declared(cls).items():
        if isinstance(spec.search, Methods):
            values[name] = _inside(cls, spec.search, inner, draws, f"{path}{name}", numbers)
        elif spec.search is not None:
            values[name] = _value(spec.search, draws, f"{path}{name}")
    return cls(**values)


def _inside(cls: type, search: Methods, inner: type | None, draws: Draws, path: str, numbers: bool = False) -> Embedder:
    """The method in a wrapper; a name of its own for each attempt, as what a wrapper inside has drawn may not suit."""
    inside = [inner] if inner is not None else inner_classes(cls, search)
    inside = [each for each in inside if each().traits.takes_numbers] if numbers else inside
    attempt, own = 0, path
    while True:
        method = sample(
            inside[0] if len(inside) == 1 else draws.choice(own, inside), draws, path=f"{own}=", numbers=numbers
        )
        if _takes(cls(), method):
            return method
        attempt, own = attempt + 1, f"{path}~{attempt + 1}"


def _value(search: Any, draws: Draws, name: str) -> Any:
    if search == "ridge":
        return "auto" if draws.chance(f"{name} automatic") else _value(RIDGES, draws, name)
    if isinstance(search, Log):
        return draws.log_real(name, search.low, search.high)
    if isinstance(search, Integers):
        return draws.whole(name, search.low, search.high)
    if not isinstance(search, tuple) or not search:
        raise TypeError(f"search={search!r} is not a search range; declare log(), integers(), methods() or a tuple.")
    if len(search) == 2 and all(type(end) is int for end in search):
        return draws.whole(name, *search)
    if len(search) == 2 and all(type(end) in (int, float) for end in search):
        return draws.real(name, *search)
    return draws.choice(name, search)


def inner_classes(cls: type, search: Methods) -> list[type]:
    """The registered classes of this kind of labels that a wrapper takes, never one of its own kind."""
    known = [c for c in estimators("method").values() if issubclass(c, SpectralEmbedder) and not issubclass(c, cls)]
    return [c for c in known if c.class_traits.labels == search.labels and _takes(cls(), c())]


def _takes(wrapper: Any, inner: Embedder) -> bool:
    try:
        wrapper.check_method(inner)
    except ValueError:
        return False
    return True


def suited(estimator: Embedder, n_rows: int, seed: int | None, prototypes: int | None = None) -> Embedder:
    """The estimator made fit for this many rows: a kernel gets 1,000 prototypes above 6,000 rows; seeds are set."""
    if isinstance(estimator, ComponentWrapper) and estimator.method is not None:
        return estimator.set_params(method=suited(estimator.method, n_rows, seed, prototypes))
    known = declared(type(estimator))
    if "random_state" in known and seed is not None:
        estimator.set_params(random_state=seed)
    if "n_prototypes" in known and n_rows > KERNEL_ROWS and estimator.n_prototypes is None:
        estimator.set_params(n_prototypes=PROTOTYPES)
    if "n_prototypes" in known and prototypes is not None and (estimator.n_prototypes or n_rows) > prototypes:
        estimator.set_params(n_prototypes=prototypes)
    if "views" in known and "method" in known:
        inner = suited(estimator.inner(), n_rows, None, prototypes)
        if settings(inner) != settings(estimator.inner()):
            estimator.set_params(method=inner)
    return estimator


def fewer_bases(n_rows: int, d: int, numbers: bool = False) -> Iterator[tuple[str, ...]]:
    """What ``TargetSpace`` may be reduced to where all its bases are too dear: those that the sizes of X allow, one
    after the other left out."""
    left = [name for name, base in BASES.items() if base.fits(n_rows, d) and not (numbers and name not in NUMBER_BASES)]
    for name in DEAR_BASES:
        if name in left and len(left) > 1:
            left.remove(name)
            yield tuple(left)


def lighter(estimator: Embedder, n_rows: int, d: int, numbers: bool = False) -> Iterator[Embedder]:
    """A method, and what it may be reduced to where it is too dear."""
    yield estimator
    if isinstance(estimator, TargetSpace) and estimator.bases is None:
        for bases in fewer_bases(n_rows, d, numbers):
            yield clone(estimator).set_params(bases=bases)


NEAREST = 3  # data sets whose winners are taken
SCORES, NEIGHBORS = AVERAGE_PRECISION, JACCARD.format(DEFAULT_NEIGHBORS)  # the measures by which they have won
OWN = ("n_components", "random_state", "n_prototypes", "bases")  # what each search sets itself
DIGITS = 3


@cache
def portfolio() -> list[dict[str, Any]]:
    """Data sets: ``name``, ``shape`` (n, d, w, c as of ``costs.Shape``), ``winners``: names by measure, best first."""
    return json.loads(files(__package__).joinpath("portfolio.json").read_text())["sets"]


def winners(shape: Shape, neighbors: bool = False, without: Collection[str] = ()) -> list[Any]:
    """The configurations that have won on the three sets of the most similar sizes, the best of each set first."""
    rows = [row for row in portfolio() if row["name"] not in without]
    near = sorted(rows, key=lambda row: (_distance(shape, Shape(*row["shape"])), row["name"]))[:NEAREST]
    lists = [row["winners"][NEIGHBORS if neighbors else SCORES] for row in near]
    longest = max((len(names) for names in lists), default=0)
    ranked = [names[place] for place in range(longest) for names in lists if place < len(names)]
    return [method_named(name) for name in dict.fromkeys(ranked)]


def _distance(one: Shape, other: Shape) -> float:
    shares = (max(shape.w, 1.0) / shape.d for shape in (one, other))  # rows of zeros alone store nothing
    pairs = ((one.n, other.n), (one.d, other.d), tuple(shares), (one.c, other.c))
    return sum(math.log(a / b) ** 2 for a, b in pairs)


def plain_name(config: Any) -> str:
    """The name of a configuration in the portfolio: without size, seed and prototypes, numbers with three digits."""
    return name_of(_plain(config))


def _plain(config: Any) -> Any:
    values = {}
    for name, (parameter, _) in declared(type(config)).items():
        value = getattr(config, name)
        if name in OWN:
            value = parameter.default
        elif isinstance(value, float) and math.isfinite(value):
            value = float(f"{value:.{DIGITS}g}")
        elif hasattr(value, "get_params"):
            value = _plain(value)
        values[name] = value
    return type(config)(**values)
