"""label_loadings: of unit length whatever the size of rows and components. The bibliography by key: an entry alone."""

from __future__ import annotations

import numpy as np
import pytest

from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.estimator.explain import bibliography, citation, label_loadings
from proxembed.targets.labels import LabelMatrix


@pytest.mark.parametrize(("rows", "weights"), [(1e150, 1e150), (1e150, 1e-150), (1e-150, 1e-150)])
def test_loadings_of_extreme_rows_and_components(rows, weights):
    rng = np.random.default_rng(0)
    X, P = rng.standard_normal((10, 3)), rng.standard_normal((2, 3))
    labels = LabelMatrix.of(rng.integers(0, 2, (10, 4)))
    plain = label_loadings(CentredMatrix.centred(X, np.ones(10)), labels, P)
    found = label_loadings(CentredMatrix.centred(rows * X, np.ones(10)), labels, weights * P)
    np.testing.assert_allclose(found, plain, rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, rtol=1e-12)


def test_entries_of_the_bibliography_hold_no_headings():
    for key, entry in bibliography().items():
        assert entry.startswith("@") and entry.endswith("\n}") and f"{{{key}," in entry
        assert entry.count("\n@") == 0 and not any(line.startswith("%") for line in entry.splitlines())
    assert citation(["qian2010ssdrmc"]) == bibliography()["qian2010ssdrmc"]
