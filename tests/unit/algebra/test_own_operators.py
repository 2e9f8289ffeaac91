"""An operator that gives its size and its products alone: every route, combination and question works for it."""

import numpy as np
import pytest

import strategies
from contracts.operators import Products
from designs import pairwise
from proxembed import MESD, RowBlocks
from proxembed.algebra.operators.structured import Centering, Dense, LowRank, Operator
from proxembed.algebra.pencil.compressed import Demand
from proxembed.algebra.template import Template, mix
from proxembed.estimator.base import PencilEmbedder

N = 36
FEATURES = {"tall": strategies.features_dense(N, 8, 3), "wide": strategies.features_dense(N, 50, 4)}
CLASSES = strategies.labels_classes(N, 3, 5)


class Circulant(Operator):
    """Every row smoothed over its two neighbours on a circle."""

    def __init__(self, n: int):
        self.n = n

    def __matmul__(self, V):
        return V / 2 + (np.roll(V, 1, axis=0) + np.roll(V, -1, axis=0)) / 4


class Factor(Operator):
    """FF', which says so."""

    def __init__(self, F: np.ndarray):
        self.n, self.F = len(F), F

    def __matmul__(self, V):
        return self.F @ (self.F.T @ V)

    def low_rank(self):
        return LowRank(self.F)


class Twice(Operator):
    """2 I, which says what is to be summed over rows in blocks."""

    def __init__(self, n: int):
        self.n = n

    def __matmul__(self, V):
        return 2.0 * V

    def add_sums(self, sums):
        sums.add_scatter(None)

    def compressed(self, rows):
        return 2.0 * rows.scatter(None)


def definite(seed: int) -> np.ndarray:
    half = np.random.default_rng(seed).standard_normal((N, N))
    return half @ half.T / N


OBJECTIVES = {"circulant": Circulant(N), "products": Products(definite(1))}
CONSTRAINTS = {"none": None, "scatter": Centering(), "products": Products(definite(2))}


def as_array(op: Operator | None) -> Operator | None:
    return None if op is None else Dense(op.todense(N))


class _Planted(PencilEmbedder):
    """A method of any template.  [mu2012mesd]"""

    def template(self, rows):
        return self.planted


def fitted(template: Template, X, solver: str) -> _Planted:
    method = _Planted(n_components=3, solver=solver, ridge=0.1)
    method.planted = template
    return method.fit(X)


@pairwise
@pytest.mark.parametrize("solver", ["auto", "primal", "dual", "iterative"])
@pytest.mark.parametrize("B", CONSTRAINTS)
@pytest.mark.parametrize("A", OBJECTIVES)
@pytest.mark.parametrize("features", FEATURES)
def test_every_route_gives_the_components_of_the_same_array(features, A, B, solver):
    ones, X = np.ones(N), FEATURES[features]
    own = fitted(Template(OBJECTIVES[A], CONSTRAINTS[B], offset=ones), X, solver)
    known = fitted(Template(as_array(OBJECTIVES[A]), as_array(CONSTRAINTS[B]), offset=ones), X, solver)
    automatic = "primal" if features == "tall" else "dual"
    assert own.solver_ == known.solver_ == (automatic if solver == "auto" else solver)
    tolerance = 1e-5 if solver == "iterative" else 1e-9
    assert own.ridge_ == pytest.approx(known.ridge_, rel=1e-10)
    np.testing.assert_allclose(own.eigenvalues_, known.eigenvalues_, rtol=tolerance)
    size = np.abs(known.components_).max()
    np.testing.assert_allclose(own.components_, known.components_, rtol=0, atol=tolerance * size)


@pytest.mark.parametrize("features", FEATURES)
def test_a_low_rank_operator_that_says_so_takes_the_thin_route(features):
    F, ones = np.random.default_rng(7).standard_normal((N, 4)), np.ones(N)
    own = fitted(Template(Factor(F), Centering(), offset=ones), FEATURES[features], "auto")
    known = fitted(Template(LowRank(F), Centering(), offset=ones), FEATURES[features], "auto")
    assert own.solver_ == known.solver_ == "thin"
    np.testing.assert_allclose(own.components_, known.components_, rtol=0, atol=1e-12)


def test_sums_mixtures_and_spreads_take_it_like_any_other():
    index, ones = np.arange(0, N, 2), np.ones(N)
    supervised = Template(Circulant(len(index)), offset=np.ones(len(index))).spread(index, N)
    known = Template(Dense(Circulant(len(index)).todense()), offset=np.ones(len(index))).spread(index, N)
    other = Template(2.0 * Circulant(N) - 0.5 * LowRank(ones[:, None] / N), offset=ones)
    for solver in ("primal", "iterative"):
        one = fitted(mix(other, supervised, 0.3), FEATURES["tall"], solver)
        two = fitted(mix(other, known, 0.3), FEATURES["tall"], solver)
        np.testing.assert_allclose(one.components_, two.components_, rtol=0, atol=1e-6)


class _Smoothed(PencilEmbedder, labels="single"):
    """Class means of rows smoothed on a circle, under a smoothed scatter.  [mu2012mesd]"""

    plain = False

    def template(self, rows):
        smoothing = Circulant(rows.n)
        B = Centering() + (as_array(smoothing) if self.plain else smoothing)
        return Template(rows.class_mean(), B, b=0.0, offset=rows.mass, target=rows.labels.Y)


class _SmoothedArray(_Smoothed):
    """The same of arrays.  [mu2012mesd]"""

    plain = True


def test_combinators_take_a_method_with_such_an_operator():
    one, two = (MESD(cls(ridge=0.1)).fit(FEATURES["tall"], CLASSES) for cls in (_Smoothed, _SmoothedArray))
    np.testing.assert_allclose(one.components_, two.components_, rtol=0, atol=1e-9)


class _Doubled(PencilEmbedder, labels="single", from_sums="rows"):
    """Class means under twice the scatter about zero.  [mu2012mesd]"""

    def template(self, rows):
        return Template(rows.class_mean(), Twice(rows.n), b=0.0, offset=rows.ones)


def test_rows_in_blocks_need_the_sums_that_it_asks_for():
    X, ridge = FEATURES["tall"], 0.1
    blocks = RowBlocks.from_arrays(X, CLASSES, block_rows=11)
    whole, summed = _Doubled(ridge=ridge).fit(X, CLASSES), _Doubled(ridge=ridge).fit(blocks)
    np.testing.assert_allclose(summed.components_, whole.components_, rtol=0, atol=1e-9)


def test_an_operator_without_sums_is_refused_in_blocks():
    X, template = FEATURES["tall"], Template(Circulant(N))
    with pytest.raises(TypeError, match="Circulant operators are not known from sums of the rows"):
        Demand(template, X, np.ones(N))
