"""The budget of a search in units of work: what it may do follows from sizes alone, never from the clock."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf


@dataclass(frozen=True)
class WorkBudget:
    """Work that a search may do, and what it must leave alone.

    Parameters
    ----------
    work : float
        Units of ``proxembed.evaluate.costs``.
    last_rows : int, optional
        Rows of the last fit; None: those of the search.
    last_work : float, default=inf
        Largest work of the last fit: costlier configurations are not tried.
    prototypes : int, optional
        Most prototypes of a kernel; None: 1,000 above 3,000 rows.

    Examples
    --------
    >>> from proxembed.study.work_budget import WorkBudget
    >>> WorkBudget(5).permits(4.0)
    True
    """

    work: float
    last_rows: int | None = None
    last_work: float = inf
    prototypes: int | None = None

    def permits(self, last: float) -> bool:
        """Whether a last fit of this work is within bounds."""
        return last <= self.last_work
