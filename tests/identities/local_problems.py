"""Problems with one class per row for the local families, and the matrices of a template on them."""

from __future__ import annotations

import numpy as np

import strategies
from proxembed.estimator.rows import Rows
from proxembed.targets.labels import LabelMatrix


def problems() -> list[strategies.Problem]:
    """Dense tall, wide, sparse, duplicated rows, and classes of one and of three rows."""
    wide, tall, _, text, twins = strategies.problems_single()
    y = np.repeat([0, 1, 2, 3], [1, 3, 12, 14])
    uneven = strategies.Problem("uneven", strategies.features_dense(30, 5, 9), strategies.one_hot(y))
    return [wide, tall, text, twins, uneven]


def rows_of(problem) -> Rows:
    return Rows(problem.X, LabelMatrix.of(problem.classes))


def matrices(method, rows) -> tuple[np.ndarray, np.ndarray | None]:
    """X'AX and X'BX (None: the constraint is P'P = I) as the method's template has them."""
    template = method.template(rows)
    return template.A.sandwich(rows.X), None if template.B is None else template.B.sandwich(rows.X)


def assert_close(found, expected, tolerance=1e-9) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * np.abs(expected).max())
