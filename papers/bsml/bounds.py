"""The lower bound of BSML against seconds: plain and extrapolated sweeps, from the two starts."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from papers.bsml.fits import SplitRows
from proxembed.algebra.arrays.blas import one_thread
from proxembed.methods.bayes.ascent import ascend
from proxembed.methods.bayes.coupled import Coupled, Hyper, State, start
from proxembed.methods.bayes.truncated import GammaPrior, LabelSigns

RUNS = {
    f"{init}, {'extrapolated' if accelerate else 'plain'}": (init, accelerate)
    for init in ("random", "svd")
    for accelerate in (False, True)
}
SLOWEST = "random, plain"
KEPT = 80
TRACES = "{}, bound"


def traced(
    X: Any, Y: np.ndarray, init: str, accelerate: bool, sweeps: int, seed: int = 0, clock: Any = time.perf_counter
) -> tuple[np.ndarray, np.ndarray]:
    """Seconds since the beginning and bound after every sweep of BSML with as many components as labels.

    The start is among the seconds, and so are the sweeps that extrapolation undoes. ``clock`` counts the seconds.

    Examples
    --------
    >>> from proxembed.data import digits
    >>> from papers.bsml.bounds import traced
    >>> data = digits()
    >>> seconds, bounds = traced(data.X / 4, data.Y.toarray(), "svd", True, 5)
    >>> len(seconds), bool((bounds[1:] >= bounds[:-1]).all())
    (5, True)
    """
    stamps = []

    class Traced(Coupled):
        def sweep(self, state: State, renew: bool) -> float:
            bound = super().sweep(state, renew)
            stamps.append(clock())
            return bound

    prior, R = GammaPrior(1.0, 1.0), Y.shape[1]
    began = clock()
    with one_thread:
        model = Traced(X, LabelSigns(2.0 * Y - 1.0), Hyper(prior, prior, prior), R, 10)
        state = start(init, model.X, model.targets, R, False, np.random.default_rng(seed))
        found = ascend(model, state, max_iter=sweeps, tol=0.0, accelerate=accelerate)
    return np.array(stamps) - began, np.array(found.bounds)


def trace(name: str, rows: SplitRows, sweeps: int, seed: int) -> dict:
    """A run of ``RUNS`` as an entry: CPU seconds and bounds at sweeps that lie ever further apart.

    Returns
    -------
    dict
        Plain data: ``entrant, sweeps, at, bounds, seconds, failure``.
    """
    began = time.perf_counter()
    at, bounds = traced(rows.X, rows.Y, *RUNS[name], sweeps, seed, time.process_time)
    chosen = np.unique(np.rint(np.geomspace(1, sweeps, KEPT)).astype(int)) - 1
    return {
        "entrant": name,
        "sweeps": (chosen + 1).tolist(),
        "at": at[chosen].tolist(),
        "bounds": bounds[chosen].tolist(),
        "seconds": time.perf_counter() - began,
        "failure": None,
    }


def reached(entry: dict, bound: float) -> tuple[int, float] | None:
    """The first kept sweep of a run at which its bound was as high, and the seconds until then; None for never.

    Examples
    --------
    >>> from papers.bsml.bounds import reached
    >>> reached({"sweeps": [1, 4], "at": [0.1, 0.4], "bounds": [-9.0, -5.0]}, -6.0)
    (4, 0.4)
    """
    for sweep, seconds, value in zip(entry["sweeps"], entry["at"], entry["bounds"], strict=True):
        if value >= bound:
            return sweep, seconds
    return None
