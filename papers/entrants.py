"""What enters an experiment: an estimator, the few values that are tried of its parameters, and where it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from proxembed.estimator.base import Embedder
from proxembed.estimator.catalogue import settings, title_of

Grid = Mapping[str, tuple]
OLPP_OBJECTIVE = "proximity"
OLPP_WORDS = f'OLPP, alone and as a member of a pair, runs with `objective="{OLPP_OBJECTIVE}"`.'


@dataclass(frozen=True)
class Entrant:
    """One entrant of an experiment, fixed before it runs.

    Parameters
    ----------
    name : str
        Name in the tables.
    estimator : transformer or None
        Unfitted; None stands for the features themselves.
    grid : mapping of str to tuple, or sequence of such mappings
        Parameter names (nested ones with two underscores) and the values tried of each; several grids are joined.
    group : str
        What the tables call its kind.
    rival : bool, default=False
        Whether it is there to be beaten.
    direct : bool, default=False
        Whether its own label scores are what counts (a transductive method), with no read-out on an embedding.

    Examples
    --------
    >>> from proxembed import MMC
    >>> from papers.entrants import Entrant
    >>> [each.lam for each in Entrant("MMC", MMC(), {"lam": (0.1, 1.0)}).configurations()]
    [0.1, 1.0]
    """

    name: str
    estimator: Any
    grid: Grid | Sequence[Grid] = field(default_factory=dict)
    group: str = ""
    rival: bool = False
    direct: bool = False

    def describe(self) -> dict:
        """Name, method and grid, as plain data."""
        grids = [{name: [repr(value) for value in values] for name, values in grid.items()} for grid in self._grids()]
        grid = grids[0] if isinstance(self.grid, Mapping) else grids
        return {"name": self.name, "start": changed_parameters(self.estimator), "grid": grid}

    def _grids(self) -> list[Grid]:
        return [self.grid] if isinstance(self.grid, Mapping) else list(self.grid)

    def configurations(self, limit: int | None = None, seed: int = 0) -> list[Any]:
        """Unfitted estimators: the whole grid, or the estimator as it is and then draws from the grid.

        ``limit`` counts the estimator as it is; of equal configurations the first is kept.
        """
        if self.estimator is None:
            return [None]
        combinations = list(ParameterGrid([dict(grid) for grid in self._grids()]))
        if limit is not None:
            order = np.random.default_rng(seed).permutation(len(combinations))
            combinations = [{}, *(combinations[i] for i in order)]
        found: dict[str, Any] = {}
        for values in combinations:
            if len(found) == limit:
                break
            each = clone(self.estimator).set_params(**values)
            found.setdefault(repr(changed_parameters(each)), each)
        return list(found.values())


def changed_parameters(estimator: Any) -> dict[str, Any]:
    """The method and its parameters that differ from their defaults, as plain data.

    Examples
    --------
    >>> from proxembed import MESD, MMC
    >>> from papers.entrants import changed_parameters
    >>> changed_parameters(MESD(MMC(lam=0.5)))
    {'method': 'MESD(MMC)', 'method__lam': 0.5}
    """
    if estimator is None:
        return {"method": "none"}
    if not isinstance(estimator, Embedder):
        usual = type(estimator)().get_params(deep=False)
        changed = {name: value for name, value in estimator.get_params(deep=False).items() if value != usual[name]}
        return {"method": type(estimator).__name__, **changed}
    return {"method": title_of(estimator), **settings(estimator)}
