"""The unit of a relative ridge is tr(R'BR) / min(n, d) + b: sizes and traces alone, on every method and route."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import strategies
from designs import in_turn, pairwise
from invariants.cases import Case, cases, projected_rows
from proxembed import CCA, FDA, MESD, MFA, OPLS, PCA, SELF, SSDR, Kernelized
from proxembed.algebra.pencil import problem
from proxembed.algebra.pencil.linear import RIDGE_GRID
from proxembed.estimator.base import PencilEmbedder

N, D, RANK = 80, 40, 3
Y = strategies.labels_multi(N, 4, 3)
LOW_RANK = strategies.features_dense(N, RANK, 5) @ np.random.default_rng(6).standard_normal((RANK, D))
FAINT = np.outer(*(np.random.default_rng(7 + i).standard_normal(size) for i, size in enumerate((N, D))))
FAINT *= 1e-7 * np.linalg.norm(LOW_RANK, 2) / np.linalg.norm(FAINT)
EDGE = (LOW_RANK + 0.1 * FAINT, LOW_RANK + 10 * FAINT)  # a fourth direction that numerical rank drops, and keeps


def with_ridge(case: Case) -> bool:
    names = case.prototype.get_params()
    return "ridge" in names and names.get("ridge_scale", "trace") in (None, "trace")


RELATIVE = [case for case in cases() if with_ridge(case)]


@pytest.mark.filterwarnings("ignore:.*nearly collinear:UserWarning")  # of methods that stay without a ridge
@in_turn("case", RELATIVE, 3, [case for case in RELATIVE if case.default], ids=lambda case: case.name)
def test_a_direction_at_the_edge_of_numerical_rank_does_not_move_the_ridge(case):
    y = Y.argmax(axis=1) if case.labels == "single" else Y
    ridge = {"ridge": 0.1} if isinstance(case.prototype, PencilEmbedder) else {}
    one, two = (case.build(n_components=1, **ridge).fit(X, y) for X in EDGE)
    assert two.ridge_ == pytest.approx(one.ridge_, rel=1e-4)


def scatter(X) -> float:
    return float(np.sum((X - X.mean(axis=0)) ** 2))


@pairwise
@pytest.mark.parametrize("solver", ["auto", "thin", "primal", "dual", "iterative"])
@pytest.mark.parametrize("shape", [(80, 40), (30, 60)], ids=str)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("method", [OPLS(), CCA(), MESD(FDA())], ids=lambda m: type(m).__name__)
def test_the_unit_is_the_trace_over_the_smaller_side_on_every_route(method, form, shape, solver):
    X, labels = LOW_RANK[: shape[0]] @ np.eye(D, shape[1]), Y[: shape[0]]
    found = clone(method).set_params(ridge=0.1, ridge_scale="trace", solver=solver).fit(form(X), labels)
    rows = np.repeat(X, labels.sum(axis=1).astype(int), axis=0) if isinstance(method, MESD) else X
    assert found.ridge_ == pytest.approx(0.1 * scatter(rows) / min(shape), rel=1e-9)


def test_rows_without_weight_are_not_counted():
    """Ten rows that weigh nothing, since they have no label, in a matrix of more features than rows."""
    X, labels = LOW_RANK[:30], Y[:30].copy()
    labels[:10] = 0.0
    found = MESD(FDA(ridge=0.1)).fit(X, labels)
    copies = np.repeat(X, labels.sum(axis=1).astype(int), axis=0)
    assert found.ridge_ == pytest.approx(0.1 * scatter(copies) / 20, rel=1e-9)


def test_what_is_added_by_the_template_is_added_to_the_unit():
    """SELF's constraint is (1 - beta) Slw + beta I."""
    classes = Y.argmax(axis=1)
    within, mixed = (SELF(beta=b, ridge=0.1, ridge_scale="trace").fit(LOW_RANK, classes).ridge_ for b in (0.0, 0.25))
    assert mixed == pytest.approx(0.75 * within + 0.25 * 0.1, rel=1e-9)


def test_the_bound_of_a_large_rank_is_not_the_unit(monkeypatch):
    before = OPLS(ridge=0.1).fit(LOW_RANK, Y).ridge_
    monkeypatch.setattr(problem, "EXACT_RANK_UP_TO", 1)
    assert OPLS(ridge=0.1).fit(LOW_RANK, Y).ridge_ == before


@pytest.mark.parametrize("constraint", ["feature", "coef"])
@pytest.mark.parametrize("n_prototypes", [None, 12])
def test_a_kernel_counts_its_prototypes(n_prototypes, constraint):
    """Not the eigenvalues of the kernel matrix that its map keeps: here three."""
    options = {"kernel": "linear", "n_prototypes": n_prototypes, "prototypes": "farthest", "random_state": 0}
    model = Kernelized(OPLS(ridge=0.1), n_components=2, constraint=constraint, **options).fit(LOW_RANK, Y)
    R = projected_rows(model, LOW_RANK, Y)
    assert model.ridge_ == pytest.approx(0.1 * scatter(R) / (n_prototypes or N), rel=1e-9)


@pytest.mark.parametrize("tau", ["auto", 20.0])
def test_the_grid_of_an_automatic_ridge_counts_the_same(tau):
    model = Kernelized(OPLS(), tau=tau).fit(LOW_RANK, Y)
    steps = model.ridge_ / (scatter(projected_rows(model, LOW_RANK, Y)) / N)
    assert np.min(np.abs(RIDGE_GRID / steps - 1.0)) < 1e-6
    plain = OPLS().fit(LOW_RANK, Y).ridge_ / (scatter(LOW_RANK) / D)
    assert np.min(np.abs(RIDGE_GRID / plain - 1.0)) < 1e-9


def test_the_automatic_ridge_is_the_same_on_every_route():
    routes = ("auto", "thin", "primal", "dual", "iterative")
    first, *others = (OPLS(solver=solver).fit(LOW_RANK, Y).ridge_ for solver in routes)
    assert others == pytest.approx([first] * len(others), rel=1e-9)


def test_sizes_of_a_mixture_read_no_rank():
    options = {"mix": 0.3, "balance": "trace", "constraint": "mixed", "n_components": 1}
    one, two = (SSDR(MESD(MFA(ridge=0.1)), PCA(), **options).fit(X, Y).ridge_ for X in EDGE)
    assert two == pytest.approx(one, rel=1e-4)


def test_the_ridge_on_the_labels_counts_label_columns():
    """Two equal columns lower the rank of Yc and not the unit."""
    twins = np.hstack([Y, Y[:, :1]])
    Yc = twins - twins.mean(axis=0)
    absolute = 0.3 * np.sum(Yc**2) / twins.shape[1]
    relative = CCA(ridge_y=0.3, ridge=0.1).fit(LOW_RANK, twins)
    same = CCA(ridge_y=absolute, ridge=relative.ridge_, ridge_scale="absolute").fit(LOW_RANK, twins)
    np.testing.assert_allclose(relative.eigenvalues_, same.eigenvalues_, rtol=1e-9)
