"""A fit that fails leaves nothing half-fitted behind, whether it was the first or the second."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from contracts.estimators import (
    CENTRED,
    CLASSES,
    EVERY,
    D,
    N,
    X,
    Y,
    dense,
    kind,
    output,
    y_for,
)
from proxembed import (
    MMC,
    OPLS,
    PCA,
    Kernelized,
)
from proxembed.base import SpectralEmbedder


def failing_fits(cls: type) -> dict:
    """Ways in which a fit fails early (input), in the middle (labels) and late (after the solver)."""
    holes = X.copy()
    holes[0, 0] = np.nan
    ways = {"X": ({}, holes, y_for(cls))}
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


def fails(cls: type, way: str, estimator) -> bool:
    options, rows, y = failing_fits(cls)[way]
    try:
        estimator.set_params(**options).fit(rows, y)
    except ValueError:
        return True
    return False


@pytest.mark.parametrize(("cls", "way"), FAILURES, ids=lambda v: getattr(v, "__name__", v))
def test_a_failed_fit_leaves_nothing_that_transforms(cls, way):
    estimator = cls()
    if not fails(cls, way, estimator):
        assert way == "constant" and cls not in CENTRED, "the fit was meant to fail"
        return
    with pytest.raises(NotFittedError):
        output(estimator, X)
    assert not [
        name for name in ("components_", "eigenvalues_", "n_components_", "embedding_") if hasattr(estimator, name)
    ]


@pytest.mark.parametrize(("cls", "way"), FAILURES, ids=lambda v: getattr(v, "__name__", v))
def test_a_failed_second_fit_leaves_the_first_or_nothing(cls, way):
    """Never old components beside new prototypes, classes or means."""
    before = np.random.default_rng(9).permutation(N)[: N - 8]
    y = y_for(cls)
    if kind(cls) == "single":
        first = np.array(["d", "b", "a", "c"])[y]
    elif kind(cls) == "multi":
        first = np.insert(Y, 1, 1.0 - Y[:, 0], axis=1)
    else:
        first = None
    estimator = cls().fit(0.5 * X[before], None if first is None else first[before])
    Z = output(estimator, X)
    told = estimator.explain(0) if hasattr(estimator, "explain") else None
    if not fails(cls, way, estimator):
        return
    try:
        after = output(estimator, X)
    except NotFittedError:
        return
    np.testing.assert_array_equal(dense(after), dense(Z))
    if told is not None:
        assert estimator.explain(0) == told


def test_a_failed_second_fit_on_another_width():
    """The first fit still embeds the rows that it knows, or says that it is not fitted."""
    for estimator in (OPLS(), MMC(), PCA(), Kernelized(OPLS(ridge=0.1))):
        y = CLASSES if isinstance(estimator, MMC) else Y
        estimator.fit(X, y)
        Z = estimator.transform(X)
        with pytest.raises(ValueError, match="n_components"):
            estimator.set_params(n_components=500).fit(X[:, :5], y)
        try:
            after = estimator.transform(X)
        except NotFittedError:
            continue
        np.testing.assert_array_equal(after, Z)
