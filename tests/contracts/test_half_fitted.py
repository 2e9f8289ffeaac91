"""A fit that fails leaves an unfitted estimator, whether it was the first or the second."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from contracts.estimators import (
    CENTRED,
    CLASSES,
    EVERY,
    READINGS,
    REPRESENTATIVES,
    D,
    N,
    X,
    Y,
    build,
    kind,
    output,
    y_for,
)
from designs import covered, one_each
from proxembed import (
    FDA,
    MMC,
    OPLS,
    PCA,
    Isomap,
    Kernelized,
    RelationFeatures,
)
from proxembed.estimator.base import SpectralEmbedder


def failing_fits(cls: type) -> dict:
    """Ways in which a fit fails early (input), in the middle (labels) and late (after the solver)."""
    holes = X.copy()
    holes[0, 0] = np.inf  # NaN is an unknown number for some
    ways = {"X": ({}, holes, y_for(cls))}
    first = next((name for name in build(cls).get_params(deep=False)), None)
    if first is not None:
        ways["parameter"] = ({first: object()}, X, y_for(cls))
    if kind(cls) is not None:
        ways["y"] = ({}, X, np.full((N, 4), np.nan))
        ways["length"] = ({}, X, y_for(cls)[:-1])
    if issubclass(cls, SpectralEmbedder):
        ways["bound"] = ({"n_components": 500}, X, y_for(cls))
        ways["scaling"] = ({"scaling": "none"}, X, y_for(cls))
        ways["constant"] = ({}, np.ones((N, D)), y_for(cls))
    if cls.__name__ == "LabelScores":
        ways["bound"] = ({"n_components": 500}, X, Y)
    return ways


FAILURES = [(cls, way) for cls in EVERY for way in failing_fits(cls)]
failing = one_each("cls,way", FAILURES, lambda cls: cls in REPRESENTATIVES, ids=lambda v: getattr(v, "__name__", v))


def fails(cls: type, way: str, estimator) -> bool:
    """Whether it fails; the one way that some methods can do with are rows that are all equal, where nothing is
    centred."""
    options, rows, y = failing_fits(cls)[way]
    try:
        estimator.set_params(**options).fit(rows, y)
    except (TypeError, ValueError):
        return True
    assert way == "constant" and cls not in CENTRED, "the fit was meant to fail"
    return False


def assert_unfitted(estimator) -> None:
    assert [name for name in vars(estimator) if name.endswith("_")] == []
    with pytest.raises(NotFittedError):
        check_is_fitted(estimator)
    for reading in READINGS:
        if hasattr(estimator, reading):
            with pytest.raises(NotFittedError):
                getattr(estimator, reading)(X)
    if hasattr(estimator, "explain"):
        with pytest.raises(NotFittedError):
            estimator.explain(0)


@covered("cls,way", FAILURES, ids=lambda v: getattr(v, "__name__", v))
def test_a_failed_fit_leaves_nothing(cls, way):
    estimator = build(cls)
    if fails(cls, way, estimator):
        assert_unfitted(estimator)


@failing
def test_a_failed_second_fit_leaves_nothing_of_the_first(cls, way):
    """Neither old components beside new prototypes, classes or means, nor the old fit under new parameters."""
    before = np.random.default_rng(9).permutation(N)[: N - 8]
    y = y_for(cls)
    if kind(cls) == "single":
        first = np.array(["d", "b", "a", "c"])[y]
    elif kind(cls) == "multi":
        first = np.insert(Y, 1, 1.0 - Y[:, 0], axis=1)
    else:
        first = None
    estimator = build(cls).fit(0.5 * X[before], None if first is None else first[before])
    output(estimator, X)
    if fails(cls, way, estimator):
        assert_unfitted(estimator)


def test_a_failed_second_fit_on_another_width():
    for estimator in (OPLS(), MMC(), PCA(), Kernelized(OPLS(ridge=0.1))):
        y = CLASSES if isinstance(estimator, MMC) else Y
        estimator.fit(X, y)
        with pytest.raises(ValueError, match="n_components"):
            estimator.set_params(n_components=500).fit(X[:, :5], y)
        assert_unfitted(estimator)


def interrupt(A, B):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "estimator",
    [Kernelized(FDA(), kernel=interrupt), RelationFeatures("polynomial"), Isomap()],
    ids=lambda e: type(e).__name__,
)
def test_an_interrupted_fit_leaves_nothing(estimator, monkeypatch):
    for name in ("proxembed.methods.relation.relation", "proxembed.methods.manifold.solve_direct"):
        monkeypatch.setattr(name, lambda *arguments, **options: interrupt(None, None))
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(X, CLASSES)
    assert_unfitted(estimator)
