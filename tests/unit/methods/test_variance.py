"""MVMD with balanced terms: what cannot be balanced is refused."""

from __future__ import annotations

import numpy as np
import pytest

from proxembed import MVMD


def test_a_term_without_trace_cannot_be_balanced():
    Y = np.array([[1, 0], [1, 1], [0, 0], [0, 1]])
    with pytest.raises(ValueError, match="X is constant"):
        MVMD(balance="trace").fit(np.zeros((4, 2)), Y)
    apart = np.array([[1.0], [-1.0], [-1.0], [1.0]])  # at right angles to both labels
    with pytest.raises(ValueError, match=r'balance="trace" is not allowed here: .* Use balance="none"'):
        MVMD(balance="trace").fit(apart, Y)
    assert MVMD().fit(apart, Y).n_components_ == 1


@pytest.mark.parametrize("size", [1e-150, 1e150])
def test_balanced_terms_of_extreme_rows(size):
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((12, 4)), rng.integers(0, 2, (12, 3))
    one, other = (MVMD(balance="trace", n_components=2).fit(factor * X, Y) for factor in (1.0, size))
    np.testing.assert_allclose(other.components_, one.components_, rtol=0, atol=1e-9)
