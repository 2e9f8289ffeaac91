"""Columns that depend on others, on every linear method: one measured in two units, a total beside its parts.

Centring leaves rounding in the direction of the dependence, of the size of the means. No method may take it for a
feature, however large the means are beside the spread.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from contracts.estimators import SPECTRAL, build, gram_distance, kind
from designs import WHOLE, each_value, pairwise
from proxembed import FDA, RowBlocks
from proxembed.algebra.operators.structured import Centering
from proxembed.algebra.pencil.eigen import near_collinear
from proxembed.algebra.pencil.problem import Problem
from proxembed.algebra.template import Template

N, D = 60, 5
DRAWS = 2 if WHOLE else 1
SAME, TIMES = 1e-8, 100
CLASSES = np.arange(N) % 3
W = np.random.default_rng(7).random((N, N))
W = np.triu(W, 1) + np.triu(W, 1).T
LEVELS = pytest.mark.parametrize("level", [20.0, 1e3], ids=["mean-20", "mean-1000"])
FORMS = pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
DEPENDENT = {
    "unit": lambda X: X[:, 0] * 1.8 + 32,
    "total": lambda X: X.sum(axis=1),
    "difference": lambda X: X[:, 1] - X[:, 3] / 3,
}

GIVEN = {  # options by which the proximities do not depend on the features
    "LPP": {"weights": W},
    "LFDA": {"affinity": W},
    "MESD": {"method": FDA(ridge=0.0)},
    "Sliced": {"method": FDA(ridge=0.0)},
    "PCovR": {"beta": 1.0},  # below, the features count by their scatter
    "MFA": {"weights": W, "n_friends": N, "n_enemies": N, "pairs": "point"},
    "SSFDA": {"weights": W},
    "DNE": {"weights": W, "n_neighbors": N},
}
UNCENTRED = {"MLSI"}  # without a ridge; two units of one column depend on each other about the mean alone
NOT_OF_FEATURES = {"ForestLeaves", "Isomap", "Kernelized", "LLE", "LaplacianEigenmaps", "Views"}
LINEAR = [cls for cls in SPECTRAL if cls.__name__ not in NOT_OF_FEATURES]


def options(cls: type) -> dict[str, Any]:
    """Proximities that are given, where that can be, and no ridge."""
    own = {"ridge": 0.0} if "ridge" in vars(cls()) and vars(cls())["ridge"] is not None else {}
    return own | GIVEN.get(cls.__name__, {})


def template_of(cls: type, X: np.ndarray) -> Template:
    """The template of a method of features X and labels of the first features."""
    method = build(cls, **options(cls))
    method.resolve()
    rows = method._validate(X, target(cls, X))
    method.make_ready(rows)
    return method.template(rows)


def under_scatter(cls: type) -> bool:
    """Whether the constraint is a scatter alone, and no proximity changes with a column that depends on others."""
    X = features(0, 20.0)
    own, full = template_of(cls, X), template_of(cls, np.column_stack([X, 100 * DEPENDENT["difference"](X)]))
    V = np.random.default_rng(1).random((N, 3))
    if own.B is None or own.b != 0 or cls.class_traits.direct:
        return False
    return all(np.allclose(one @ V, other @ V) for one, other in ((own.A, full.A), (own.B, full.B)))


def features(seed: int, level: float) -> np.ndarray:
    """Rows whose columns have the mean ``level`` or up to twice that at a spread of 1; two tell of the classes."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, D)) + level * (1 + rng.random(D))
    X[:, 0] += CLASSES
    X[:, 1] += CLASSES == 1
    return X.round(3)


def target(cls: type, X: np.ndarray) -> np.ndarray | None:
    Y = np.column_stack([CLASSES != 2, CLASSES == 2, *(X[:, j] > np.median(X[:, j]) for j in (1, 2))]).astype(int)
    return {None: None, "single": CLASSES, "multi": Y}[kind(cls)]


NEAR = (
    "without a ridge the components are inaccurate, because columns of X are nearly collinear: column 0, column 5. "
    "Remove columns that the others determine, or use a positive ridge."
)
SCATTER = [cls for cls in LINEAR if under_scatter(cls)]
FROM_SUMS = [
    cls for cls in SCATTER if cls.__name__ not in GIVEN and build(cls, **options(cls)).traits.from_sums is not None
]
linear, scatter = (pytest.mark.parametrize("cls", group, ids=lambda c: c.__name__) for group in (LINEAR, SCATTER))
dependent = pytest.mark.parametrize("name", DEPENDENT)


def test_the_methods_under_a_scatter_are_known():
    assert {"CCA", "DMLDA", "FDA", "LFDA", "LPP", "MESD", "MFA", "MLDA", "OPLS", "SSFDA"} <= {
        cls.__name__ for cls in SCATTER
    }


@pytest.mark.parametrize("cls", [cls for cls in SPECTRAL if cls.__name__ in NOT_OF_FEATURES], ids=lambda c: c.__name__)
def test_the_others_do_not_project_the_features(cls):
    X = features(0, 20.0)
    fitted = build(cls).fit(X, target(cls, X))
    assert not hasattr(fitted, "components_") or fitted.components_.shape[1] != D


@pairwise
@scatter
@dependent
@LEVELS
@FORMS
def test_a_dependent_column_leaves_the_embedding_unchanged(cls, name, level, form):
    for seed in range(DRAWS):
        X = features(seed, level)
        full = np.column_stack([X, DEPENDENT[name](X)])
        own = build(cls, **options(cls)).fit(form(X), target(cls, X))
        found = build(cls, **options(cls)).fit(form(full), target(cls, X))
        assert gram_distance(found.transform(form(full)), own.transform(form(X))) < SAME


@each_value
@linear
@dependent
@LEVELS
@FORMS
def test_a_dependent_column_does_not_enlarge_the_components(cls, name, level, form):
    for seed in range(DRAWS):
        X = features(seed, level)
        full = np.column_stack([X, DEPENDENT[name](X)])
        own = build(cls, **options(cls)).fit(form(X), target(cls, X))
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            warnings.filterwarnings("ignore", "M(ORP|LSI): y has no effect")
            found = build(cls, **options(cls)).fit(form(full), target(cls, X))
        near = cls.__name__ in UNCENTRED and name == "unit" and level > 100
        assert [str(one.message).split(": ", 1)[1] for one in seen] == [NEAR] * near
        assert found.n_components_ <= own.n_components_
        assert np.abs(found.components_).max() <= TIMES * np.abs(own.components_).max()


@scatter
def test_a_large_column_of_float32_leaves_as_many_components(cls):
    """Its mean, far above the spread of the others, is rounded at 1e-7; the others are not."""
    X = np.column_stack([features(0, 0.0), 1.7e9 + 1e6 * np.random.default_rng(2).standard_normal(N)])
    own, found = (build(cls, **options(cls)).fit(X.astype(kind), target(cls, X)) for kind in (np.float64, np.float32))
    assert found.n_components_ == own.n_components_


@pairwise
@pytest.mark.parametrize("cls", FROM_SUMS, ids=lambda c: c.__name__)
@dependent
@LEVELS
def test_a_dependent_column_leaves_a_fit_from_blocks_unchanged(cls, name, level):
    X = features(0, level)
    y, full = target(cls, X), np.column_stack([X, DEPENDENT[name](X)])
    own = build(cls, **options(cls)).fit(RowBlocks([(X[:25], y[:25]), (X[25:], y[25:])]))
    found = build(cls, **options(cls)).fit(RowBlocks([(full[:25], y[:25]), (full[25:], y[25:])]))
    assert gram_distance(found.transform(full), own.transform(X)) < SAME


def nearly(X: np.ndarray, gap: float) -> np.ndarray:
    """X with a column more, which is its first one but for a share of noise."""
    return np.column_stack([X, X[:, 0] + gap * np.random.default_rng(5).standard_normal(N)])


@each_value
@scatter
@pytest.mark.parametrize("gap", [1e-7, 1e-9])
def test_nearly_collinear_columns_are_named_once(cls, gap):
    X = features(0, 0.0)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        build(cls, **options(cls)).fit(nearly(X, gap), target(cls, X))
    found = [str(one.message) for one in seen if "nearly collinear" in str(one.message)]
    assert len(found) == 1
    assert "columns of X are nearly collinear: column 0, column 5. Remove columns" in found[0]


@scatter
def test_nearly_collinear_columns_are_named_by_their_names(cls):
    X = features(0, 20.0)
    table = pd.DataFrame(nearly(X, 1e-7), columns=["celsius", "b", "c", "d", "e", "kelvin"])
    with pytest.warns(UserWarning, match="nearly collinear: 'celsius', 'kelvin'. Remove columns"):
        build(cls, **options(cls)).fit(table, target(cls, X))


def test_at_most_a_handful_of_columns_are_named():
    X = features(0, 0.0)
    full = np.column_stack([nearly(X, 1e-7), X[:, 1:4] * (1 + 1e-8 * np.arange(N))[:, None]])
    with pytest.warns(UserWarning, match="column 0, column 1, column 2, column 3, column 5, column 6 and 2 more. Rem"):
        FDA(ridge=0.0).fit(full, CLASSES)


@pairwise
@scatter
@LEVELS
@dependent
def test_exact_dependence_and_a_ridge_give_no_warning(cls, level, name):
    X = features(0, level)
    full = np.column_stack([X, DEPENDENT[name](X)])
    near = nearly(X, 1e-7)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*nearly collinear")
        build(cls, **options(cls)).fit(full, target(cls, X))
        if "ridge" in options(cls):
            build(cls, **(options(cls) | {"ridge": 1e-3})).fit(near, target(cls, X))


@pytest.mark.parametrize("n_constant", [1, 6])
def test_exact_dependence_beside_constant_columns_gives_no_warning(n_constant):
    X = np.zeros((60, 6 + n_constant))
    X[:, :4] = np.random.default_rng(0).standard_normal((60, 4))
    X[30, 4:6] = 3.0, 1.0
    problem = Problem(Template(Centering(), Centering(), offset=np.ones(60)), X)
    assert near_collinear(problem).tolist() == []
    X[:, 5] = X[:, 0] + 1e-8 * X[:, 1] + 1e-8 * np.random.default_rng(1).standard_normal(60)
    assert near_collinear(Problem(problem.template, X)).tolist() == [0, 5]
