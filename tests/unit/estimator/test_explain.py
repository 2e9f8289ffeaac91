"""label_loadings: of unit length whatever the size of rows and components. The bibliography by key: an entry alone."""

from __future__ import annotations

import numpy as np
import pytest

from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.estimator.explain import Explanation, bibliography, citation, label_loadings
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


def test_an_explanation_prints_a_line_per_feature_and_label():
    found = Explanation(1, [("width\x1b", -0.123456), ("mass", 1e-5)], [("red", 0.98765)], effects=True)
    lines = [
        "component 1",
        "features (effects):",
        "  -0.123  width\\x1b",
        "  +1e-05  mass",
        "labels (loadings):",
        "  +0.988  red",
    ]
    assert str(found).splitlines() == lines
    assert str(Explanation(0, [("mass", 2.0)], [])).splitlines() == ["component 0", "features (weights):", "  +2  mass"]
