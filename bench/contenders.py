"""The methods that the questions time, and the folder of the real data."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from measure import chosen, median_seconds

RIDGE = 1e-3
NON_LINEAR_OR_WRAPPING = {"ForestLeaves", "MESD", "Kernelized", "RelationFeatures", "Scaling"}


def data_file(name: str) -> Path | None:
    """A real data set of $PROXEMBED_DATA, or of shared/data beside the checkout; None where it is missing."""
    named = os.environ.get("PROXEMBED_DATA")
    folder = Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "data"
    return folder / name if (folder / name).is_file() else None


def multi_label_methods() -> dict[str, Callable[[], Any]]:
    """Every public multi-label method by name, and MESD of the single-label ones; no kernels, no relation features."""
    import proxembed
    from proxembed import FDA, MESD, MMC
    from proxembed.estimator.base import Embedder

    listed = [getattr(proxembed, name) for name in proxembed.__all__]
    found = {
        cls.__name__: cls
        for cls in listed
        if isinstance(cls, type) and issubclass(cls, Embedder) and cls.class_traits.labels == "multi"
        if cls.__name__ not in NON_LINEAR_OR_WRAPPING
    }
    return found | {"MESD(FDA)": lambda: MESD(FDA()), "MESD(MMC)": lambda: MESD(MMC())}


def timed_fits(X, Y, wanted: str, repeats: int) -> Iterator[tuple[str, float | str | None, float, str]]:
    """(method, ridge, median seconds, solver) of every fit: with the ridge given, and with ridge="auto"."""
    available = multi_label_methods()
    for name in chosen(available, wanted):
        ridges = [RIDGE, "auto"] if "ridge" in available[name]().get_params() else [None]
        for ridge in ridges:
            estimator = available[name]()
            if ridge is not None:
                estimator.set_params(ridge=ridge)
            seconds, fitted = median_seconds(lambda estimator=estimator: estimator.fit(X, Y), repeats)
            print(f"{name} {ridge or ''}: {seconds:.3g} s", file=sys.stderr, flush=True)
            yield name, ridge, seconds, getattr(fitted, "solver_", "")
