"""MLLS: a penalty beside which everything else is rounding."""

from __future__ import annotations

import numpy as np
import pytest

from proxembed import MLLS


def test_a_predictor_lost_in_rounding_is_refused():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((12, 3)), rng.integers(0, 2, (12, 4))
    with pytest.raises(ValueError, match="MLLS: alpha=9223372036854775808 is so large beside beta=0.1"):
        MLLS(alpha=2**63).fit(X, Y)
    assert np.isfinite(MLLS(alpha=1e6).fit(X, Y).coef_).all()
