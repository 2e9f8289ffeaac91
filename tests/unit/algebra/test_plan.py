"""The plan of a problem: values that do not depend on the order of reading, and what each route is computed from."""

import numpy as np
import pytest

import strategies
from designs import pairwise
from proxembed.algebra import pencil
from proxembed.algebra.operators.structured import Centering, Diagonal, LowRank, Operator
from proxembed.algebra.pencil.problem import Aim, Problem
from proxembed.algebra.template import Template

N = 24
WEIGHTS = np.where(np.arange(N) % 5 == 0, 0.0, 1.0 + np.arange(N) / N)
ROWS = {"tall": strategies.features_dense(N, 7, 1), "wide": strategies.features_dense(N, 40, 2)}
OFFSETS = {"equal": np.ones(N), "weights": WEIGHTS}
AIMS = {
    "sizes": None,
    "automatic": Aim(2, "auto"),
    "trace": Aim(2, 0.1),
    "absolute": Aim(2, 0.1, "absolute"),
    "iterative": Aim(2, 0.1, solver="iterative"),
    "primal": Aim(2, 0.1, solver="primal"),
    "trace ratio": Aim(2, 0.1, criterion="trace_ratio"),
}


def objectives(w: np.ndarray) -> dict[str, Operator]:
    labels = strategies.labels_multi(N, 3, 3)
    return {"labels": LowRank(labels, center=w), "full": Diagonal(np.linspace(-1.0, 1.0, N)) + Centering(w)}


def constraints(X: np.ndarray, w: np.ndarray) -> dict[str, Operator | None]:
    general = Diagonal(np.linspace(0.5, 2.0, N))
    squared = 2.0 * Centering(w) + LowRank(X, center=w)
    return {"none": None, "zero": 0.0 * Centering(w), "scatter": Centering(w), "squared": squared, "general": general}


def readings(d: int):
    """What is read of a problem, by name."""
    P = np.random.default_rng(0).standard_normal((d, 2))
    return {
        "gram": lambda one: one.gram,
        "coordinates": lambda one: one.coordinates.s,
        "basis": lambda one: one.coordinates.V,
        "places": lambda one: one.coordinates.T,
        "back": lambda one: one.coordinates.back(np.eye(one.coordinates.rank)[:, :2]),
        "rank": lambda one: one.rank,
        "trace": lambda one: one.constraint_trace(),
        "factor": lambda one: None if one.factors is None else one.factor[0],
        "objective": lambda one: one.apply_objective(P),
        "constraint": lambda one: one.apply_constraint(P, 0.2),
        "full": lambda one: one.gram_factor.ok,
    }


def orders(names: list[str]) -> list[list[str]]:
    """Each reading once as the first and once as the last."""
    return [names[start:] + names[:start] for start in range(len(names))]


@pairwise
@pytest.mark.parametrize("aim", AIMS)
@pytest.mark.parametrize("B", ["none", "zero", "scatter", "squared", "general"])
@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("A", ["labels", "full"])
def test_no_value_depends_on_the_order_of_reading(A, rows, offset, B, aim):
    X, w = ROWS[rows], OFFSETS[offset]
    template = Template(objectives(w)[A], constraints(X, w)[B], b=0.5, offset=w, target=objectives(w)["labels"].F)
    read = readings(X.shape[1])
    expected = {name: ask(Problem(template, X, aim=AIMS[aim])) for name, ask in read.items()}
    for order in orders(list(read)):
        one = Problem(template, X, aim=AIMS[aim])
        for name in order:
            np.testing.assert_array_equal(read[name](one), expected[name], err_msg=f"{name} in {order}")


GRAM = {"sizes": False, "trace": True, "absolute": True, "iterative": False, "primal": True, "trace ratio": True}


@pytest.mark.parametrize("aim", GRAM)
def test_products_of_the_scatter_come_from_its_matrix_where_that_is_formed(aim):
    w = OFFSETS["equal"]
    template = Template(LowRank(strategies.labels_multi(N, 3, 3), center=w), Centering(), offset=w)
    problem = Problem(template, ROWS["tall"], aim=AIMS[aim])
    assert problem.plan.gram == GRAM[aim]
    problem.constraint_trace()
    problem.apply_constraint(np.eye(7)[:, :1], 0.1)
    assert ("gram" in vars(problem)) == GRAM[aim]


@pytest.mark.parametrize(("scale", "rank"), [("trace", 6), ("absolute", 7)])
def test_above_the_limit_the_rank_is_that_of_planned_coordinates_or_a_bound(scale, rank, monkeypatch):
    monkeypatch.setattr(pencil.problem, "EXACT_RANK_UP_TO", 1)
    X, w = ROWS["tall"].copy(), OFFSETS["equal"]
    X[:, 1] = X[:, 0]
    template = Template(objectives(w)["full"], constraints(X, w)["general"], offset=w)
    for names in (["rank"], ["coordinates", "rank"], ["gram", "rank"]):
        one = Problem(template, X, aim=Aim(2, 0.1, scale))
        assert [readings(7)[name](one) for name in names][-1] == rank


@pytest.mark.parametrize(
    ("B", "ridge", "scale", "needed"),
    [
        ("none", "auto", "trace", False),
        ("scatter", 0.1, "trace", False),
        ("scatter", "auto", "trace", True),
        ("general", "auto", "trace", True),
        ("general", 0.1, "trace", True),
        ("general", 0.1, "absolute", False),
        ("general", 0.0, "trace", False),
    ],
)
def test_row_space_coordinates_are_planned_where_the_ridge_needs_them(B, ridge, scale, needed):
    w = OFFSETS["equal"]
    labels = strategies.labels_multi(N, 3, 3)
    template = Template(LowRank(labels, center=w), constraints(ROWS["tall"], w)[B], offset=w, target=labels)
    assert Problem(template, ROWS["tall"], aim=Aim(2, ridge, scale)).plan.coordinates == needed


def test_above_the_limit_products_take_over(monkeypatch):
    w = OFFSETS["equal"]
    template = Template(LowRank(strategies.labels_multi(N, 3, 3), center=w), Centering(), offset=w)
    monkeypatch.setattr(pencil.problem, "DENSE_LIMIT", 5)
    plan = Problem(template, ROWS["tall"], aim=Aim(2, "auto")).plan
    assert (plan.decomposes, plan.gram, plan.coordinates, plan.factored) == (False, False, False, True)
