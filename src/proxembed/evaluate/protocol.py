"""The protocol of a comparison: arms x sizes x folds x read-outs, every choice made inside the training part."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from proxembed.measures.measures import (
    AVERAGE_PRECISION,
    JACCARD,
    MEASURES,
    NEW_JACCARD,
    Measure,
    is_jaccard,
    measure_of,
)
from proxembed.splits.splits import Splitting

from .arms import Arm
from .compare import SIDES
from .results import NEIGHBORS, RIDGE
from .scoring import Measures, Pairs

KNOWN_CELLS = (
    "{partly:,} of {rows:,} rows have known and unknown labels. Methods learn from their known cells and are scored on "
    "known cells only; methods that cannot learn from such rows leave them out."
)


@dataclass(frozen=True)
class Protocol:
    """What a comparison does, fixed before it runs."""

    arms: tuple[Arm, ...]
    sizes: tuple[int, ...]
    splitting: Splitting = Splitting()
    standard: bool = False
    n_neighbors: int = 10
    min_positives: int = 1
    seed: int = 0
    n_jobs: int = 1
    max_seconds: float | None = None
    contrasts: tuple[tuple[str, str], ...] = (("best method", "all features"),)
    keep_predictions: bool = True
    measure: str | Measure | Callable[..., Any] = AVERAGE_PRECISION
    notes: tuple[str, ...] = ()
    train_rows: np.ndarray | None = None
    test_rows: np.ndarray | None = None
    decided: tuple[str, ...] | None = None
    deadline: float | None = None

    def __post_init__(self) -> None:
        measure_of(self.measure)
        names = self.names
        if not names or len(set(names)) < len(names):
            raise ValueError(f"arms must be at least one, with different names; got {names}.")
        if not self.sizes or any(int(k) != k or k < 1 for k in self.sizes):
            raise ValueError(f"sizes={self.sizes!r} must be whole numbers of at least 1, such as (2, 5, 10).")
        if self.max_seconds is not None and not self.max_seconds > 0:
            raise ValueError(f"max_seconds={self.max_seconds!r} must be above 0, or None for no limit.")
        for side in (side for pair in self.contrasts for side in pair):
            if side not in (*names, *SIDES):
                raise ValueError(f"contrasts name {side!r}, which is no arm; use one of {', '.join([*SIDES, *names])}.")
        object.__setattr__(self, "sizes", tuple(sorted({int(k) for k in self.sizes})))

    @property
    def n_folds(self) -> int:
        """Number of folds of one repeat."""
        return self.splitting.n_folds

    @property
    def measures(self) -> tuple[tuple[str, str], ...]:
        """Pairs (measure, read-out): the primary one, then those that need no threshold."""
        primary = measure_of(self.measure)
        first = primary.name, NEIGHBORS if primary.goal == "neighbours" else RIDGE
        near = ((name, NEIGHBORS) for name in (AVERAGE_PRECISION, *(each.name for each in self.neighbor_measures)))
        return tuple(dict.fromkeys((first, (AVERAGE_PRECISION, RIDGE), *near)))

    @property
    def neighbor_measure(self) -> Measure:
        """The Jaccard measure of neighbours: the primary one, or that of ``n_neighbors``."""
        primary = measure_of(self.measure)
        return primary if is_jaccard(primary.name) else measure_of(JACCARD.format(self.n_neighbors))

    @property
    def new_neighbor_measure(self) -> Measure:
        """The same of held-out rows among themselves."""
        return measure_of(NEW_JACCARD.format(self.neighbor_measure.n_neighbors))

    @property
    def neighbor_measures(self) -> tuple[Measure, Measure]:
        """Both."""
        return self.neighbor_measure, self.new_neighbor_measure

    @property
    def names(self) -> list[str]:
        """Names of the leaderboard in the order of the arms."""
        return [name for arm in self.arms for name in arm.names]

    def measure_named(self, name: str) -> Measure:
        """The measure of a pair: the primary one may be a function of the user's."""
        primary = measure_of(self.measure)
        return primary if primary.name == name else measure_of(name)

    @property
    def further_measures(self) -> tuple[tuple[str, str], ...]:
        """Pairs (measure, read-out) beside them: decisions by the one shared threshold rule, and probabilities."""
        pairs = ((measure.name, RIDGE) for measure in MEASURES.values() if measure.further)
        return tuple(pair for pair in pairs if pair not in self.measures)

    def further_of(self, arm: Arm) -> tuple[tuple[str, str], ...]:
        """The further measures of an arm: none where its decisions are not asked for."""
        return self.further_measures if self.decided is None or arm.name in self.decided else ()

    def refitted(self, arm: Arm) -> bool:
        """Whether cuts are tuned by fits on inner folds: where the arm's decisions or the primary measure need them."""
        return bool(self.further_of(arm)) or measure_of(self.measure).reads in ("labels", "probabilities")

    def measures_of(self, arm: Arm) -> Measures:
        """What is measured of an arm on each split."""
        return Measures(
            self._named(self.measures),
            self.sizes,
            self._named(self.further_of(arm)),
            self.n_neighbors,
            self.min_positives,
            self.refitted(arm),
            self.max_seconds,
            self.neighbor_measures if self.keep_predictions else None,
        )

    def _named(self, pairs: tuple[tuple[str, str], ...]) -> Pairs:
        return tuple((self.measure_named(name), readout) for name, readout in pairs)

    def describe(self) -> dict[str, Any]:
        """The protocol as plain data."""
        plain = {
            key: value
            for key, value in vars(self).items()
            if key not in ("arms", "splitting", "measure", "notes", *_ROWS)
        }
        pairs = {name: [list(pair) for pair in getattr(self, name)] for name in _PAIRS}
        sizes = list(self.sizes)
        return {
            "arms": self.names,
            **plain,
            "sizes": sizes,
            "n_folds": self.n_folds,
            "splitting": asdict(self.splitting),
            **pairs,
        }


_ROWS = "train_rows", "test_rows", "deadline"
_PAIRS = ("measures", "further_measures", "contrasts")
