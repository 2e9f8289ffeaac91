"""The search space: which methods fit the labels, and parameters drawn from the ranges that the methods declare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from proxembed.base import Embedder, SpectralEmbedder
from proxembed.catalogue import estimators
from proxembed.evaluate.arms import KERNEL_ROWS, RIVAL_METHODS, method_arms, method_names, title_of
from proxembed.params import Integers, Log, Methods, declared, log

FIRST = ("opls", "kernelized")
PROTOTYPES = 1000
RIDGES = log(1e-6, 1e2)
SIZES = (2, 5, 10, 20, 50, 100)


def component_sizes(n_labels: int) -> tuple[int, ...]:
    """Numbers of components worth trying: up to the number of labels (at least 10), and that number itself.

    Examples
    --------
    >>> from proxembed.study.candidates import component_sizes
    >>> component_sizes(6), component_sizes(90)
    ((2, 5, 6, 10), (2, 5, 10, 20, 50, 90))
    """
    sizes = {k for k in SIZES if k <= max(10, n_labels)}
    return tuple(sorted(sizes | ({n_labels} if 2 <= n_labels <= SIZES[-1] else set())))


@dataclass(frozen=True)
class Candidate:
    """A method to search: a registered class, and for a wrapper perhaps the one class that it wraps.

    Examples
    --------
    >>> from proxembed import FDA, MESD
    >>> from proxembed.study.candidates import Candidate
    >>> Candidate(MESD, FDA).title
    'MESD(FDA)'
    """

    cls: type
    inner: type | None = None

    @property
    def title(self) -> str:
        """Name in tables."""
        return title_of(self.default())

    def default(self) -> Embedder:
        """The method with its default parameters."""
        return self.cls() if self.inner is None else self.cls(self.inner())

    def sample(self, rng: np.random.Generator) -> Embedder:
        """The method with parameters drawn from their search ranges."""
        return sample(self.cls, rng, self.inner)


def candidates(
    names: Sequence[str] | str | None = None, *, several_labels: bool = True, partly_labelled: bool = False
) -> tuple[Candidate, ...]:
    """The methods to search.

    With several labels a row, single-label methods stand inside the extension that takes them. Where no names are
    given, that extension is not a candidate of its own: with one label a row it changes nothing.

    Parameters
    ----------
    names : sequence of str, or None
        Class names in any case; None for every method that is not a rival in every leaderboard.
    several_labels : bool, default=True
        Whether rows carry several labels, or none.
    partly_labelled : bool, default=False
        Whether some labels are unknown; where none are, methods that learn from such rows enter by name alone.

    Returns
    -------
    tuple of Candidate

    Raises
    ------
    ValueError
        An unknown name, or no name at all.

    Examples
    --------
    >>> from proxembed.study.candidates import candidates
    >>> [candidate.title for candidate in candidates(["opls", "fda"])]
    ['OPLS', 'MESD(FDA)']
    >>> [candidate.title for candidate in candidates(["opls", "fda"], several_labels=False)]
    ['OPLS', 'FDA']
    """
    known = method_names()
    if names is None:
        open_to_all = [title for title, cls in estimators().items() if not _extends(cls) and title not in RIVAL_METHODS]
        learners = [title for title in open_to_all if estimators()[title].keeps_unknown is True]
        names = [n for n, title in known.items() if title in open_to_all and (partly_labelled or title not in learners)]
    names = [names] if isinstance(names, str) else list(names)
    if not names:
        raise ValueError("methods is empty; name at least one method, or pass None for all.")
    found = {}
    for arm in method_arms(names, several_labels=several_labels):
        inner = getattr(arm.estimator, "method", None)
        found[arm.name] = Candidate(type(arm.estimator), None if inner is None else type(inner))
    return tuple(found.values())


def _extends(cls: type) -> bool:
    return any(spec.search == Methods("single") for _, spec in declared(cls).values())


def sample(cls: type, rng: np.random.Generator, inner: type | None = None) -> Embedder:
    """Draw an unfitted estimator: every parameter that declares a search range takes a value from it.

    A ``Log`` range is uniform in the logarithm, ``Integers`` and a pair of whole numbers are uniform over these, a
    pair of fractions is uniform between them, any other tuple is a choice; "ridge" is automatic half of the time and
    else logarithmic; ``Methods`` draws a registered class that the wrapper takes, and its parameters in turn.

    Parameters
    ----------
    cls : class
        Registered estimator.
    rng : numpy Generator
    inner : class, optional
        What a wrapper wraps; None draws that too.

    Returns
    -------
    estimator

    Raises
    ------
    TypeError
        A search range of an unknown kind.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed import MMC
    >>> from proxembed.study.candidates import sample
    >>> 0.01 <= sample(MMC, np.random.default_rng(0)).lam <= 100
    True
    """
    values = {}
    for name, (_, spec) in declared(cls).items():
        if spec.search is None:
            continue
        if isinstance(spec.search, Methods):
            inside = [inner] if inner is not None else inner_classes(cls, spec.search)
            values[name] = sample(inside[rng.integers(len(inside))], rng)
            while not _takes(cls(), values[name]):  # what a wrapper inside has drawn may not suit
                values[name] = sample(inside[rng.integers(len(inside))], rng)
        else:
            values[name] = _value(spec.search, rng)
    return cls(**values)


def _value(search: Any, rng: np.random.Generator) -> Any:
    if search == "ridge":
        return "auto" if rng.random() < 0.5 else _value(RIDGES, rng)
    if isinstance(search, Log):
        return float(np.clip(np.exp(rng.uniform(np.log(search.low), np.log(search.high))), search.low, search.high))
    if isinstance(search, Integers):
        return int(rng.integers(search.low, search.high + 1))
    if not isinstance(search, tuple) or not search:
        raise TypeError(f"search={search!r} is not a search range; declare log(), integers(), methods() or a tuple.")
    if len(search) == 2 and all(type(end) is int for end in search):
        return int(rng.integers(search[0], search[1] + 1))
    if len(search) == 2 and all(type(end) in (int, float) for end in search):
        return float(rng.uniform(*search))
    return search[rng.integers(len(search))]


def inner_classes(cls: type, search: Methods) -> list[type]:
    """The registered classes of this kind of labels that a wrapper takes, never one of its own kind.

    Examples
    --------
    >>> from proxembed import MESD
    >>> from proxembed.study.candidates import inner_classes
    >>> from proxembed.params import methods
    >>> sorted(inner.__name__ for inner in inner_classes(MESD, methods("single")))[:2]
    ['DLA', 'DNE']
    """
    known = [estimators()[title] for title in method_names().values()]
    known = [c for c in known if issubclass(c, SpectralEmbedder) and not issubclass(c, cls)]
    return [c for c in known if c.labels == search.labels and _takes(cls(), c())]


def _takes(wrapper: Any, inner: Embedder) -> bool:
    try:
        wrapper.check_method(inner)
    except ValueError:
        return False
    return True


def suited(estimator: Embedder, n_rows: int, seed: int | None) -> Embedder:
    """The estimator made fit for this many rows: a kernel gets 1,000 prototypes above 3,000 rows; seeds are set.

    Examples
    --------
    >>> from proxembed import Kernelized
    >>> from proxembed.study.candidates import suited
    >>> suited(Kernelized(), 10_000, 7)
    Kernelized(n_prototypes=1000, random_state=7)
    """
    known = declared(type(estimator))
    if "random_state" in known and seed is not None:
        estimator.set_params(random_state=seed)
    if "n_prototypes" in known and n_rows > KERNEL_ROWS and estimator.n_prototypes is None:
        estimator.set_params(n_prototypes=PROTOTYPES)
    return estimator


def settings(estimator: Any) -> dict[str, Any]:
    """The parameters of an estimator that differ from their defaults, as plain data; those of a wrapped method too.

    Which method is wrapped stands in the title (``title_of``), not here.

    Examples
    --------
    >>> from proxembed import MESD, MMC
    >>> from proxembed.study.candidates import settings
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
