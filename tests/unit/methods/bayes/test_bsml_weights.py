"""Weights of rows in BSML: whole ones are repeats with the same z and t, zero is absence; refusals elsewhere."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from designs import WHOLE
from proxembed import BSML, BSSML, MLGFHF, MLGRF, MLLGC, SMSE, SSDRMC

N, D = 30, 6
RNG = np.random.default_rng(2)
W = RNG.integers(0, 4, N)
COPIES = np.random.default_rng(0).permutation(np.repeat(np.arange(N), W))
X = RNG.standard_normal((N, D))
WIDE = RNG.standard_normal((N, 2 * N))
LABELS = (X[:, :3] + 0.5 * RNG.standard_normal((N, 3)) > 0).astype(float)
HOLES = np.where(RNG.random(LABELS.shape) < 0.2, np.nan, LABELS)
HOLES[5] = np.nan
NUMBERS = X[:, :2] * [1.0, 30.0] + RNG.standard_normal((N, 2)) * [0.3, 9.0] + [0.0, 100.0]
NUMBERS[[1, 7, 9, 20], [0, 1, 1, 0]] = np.nan
MIXED = pd.DataFrame({"size": NUMBERS[:, 0], "kind": np.array(list("ab"), dtype=object)[LABELS[:, 0].astype(int)]})
RARE = np.column_stack([LABELS[:, :2], np.where(np.arange(N) < 20, 0.0, np.nan)])
CASES = [
    ({}, X, LABELS),
    ({"prior": "row"}, X, NUMBERS),
    ({"prior": "column", "accelerate": False}, WIDE, HOLES),
    ({"margin": 0.2, "predictive": "full"}, sp.csr_array(X), HOLES),
    ({"n_components": 1}, WIDE, MIXED),
    ({}, X, RARE),
    ({"n_components": 1}, X, (np.arange(N) % 3).astype(str)),
]


def taken(y, rows):
    return y.iloc[rows] if hasattr(y, "iloc") else y[rows]


@pytest.mark.parametrize("turn", range(2))
def test_whole_weights_are_repeats_and_zero_is_absence(turn):
    for options, rows, y in CASES if WHOLE else CASES[turn::2]:
        model = dict(n_components=2, tol=0, max_iter=12) | options
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # rows without a known cell, labels that no row has
            weighted = BSML(**model).fit(rows, y, sample_weight=W)
            repeated = BSML(**model).fit(rows[COPIES], taken(y, COPIES))
        np.testing.assert_allclose(weighted.lower_bound_, repeated.lower_bound_, rtol=1e-8)
        for name in ("components_", "weights_", "bias_", "noise_", "precision_projection_"):
            own, same = getattr(weighted, name), getattr(repeated, name)
            np.testing.assert_allclose(own, same, rtol=1e-6, atol=1e-7 * np.abs(same).max())
        for own, same in zip(weighted.transform(rows, True), repeated.transform(rows, True), strict=True):
            np.testing.assert_allclose(own, same, rtol=1e-6, atol=1e-7)
        if hasattr(weighted, "predict_proba"):
            np.testing.assert_allclose(weighted.predict_proba(rows), repeated.predict_proba(rows), rtol=1e-6, atol=1e-9)
        elif y is NUMBERS:
            np.testing.assert_allclose(weighted.predict(rows), repeated.predict(rows), rtol=1e-6)
            assert weighted.targets_[1].mean == pytest.approx(np.nanmean(NUMBERS[COPIES, 1]), rel=1e-12)


def test_fractions_lie_between_and_ones_change_nothing():
    model = BSML(n_components=2, tol=0, max_iter=5)
    for y in (LABELS, NUMBERS):
        plain = BSML(**model.get_params()).fit(X, y)
        ones = BSML(**model.get_params()).fit(X, y, sample_weight=np.ones(N))
        np.testing.assert_allclose(ones.lower_bound_, plain.lower_bound_, rtol=1e-12)
        parts = BSML(**model.get_params()).fit(np.vstack([X, X]), np.vstack([y, y]), sample_weight=np.full(2 * N, 0.5))
        np.testing.assert_allclose(parts.lower_bound_, plain.lower_bound_, rtol=1e-8)
        np.testing.assert_allclose(parts.transform(X), plain.transform(X), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("model", [BSSML(), MLGFHF(), MLGRF(), MLLGC(), SMSE(), SSDRMC()], ids=repr)
def test_methods_whose_rows_have_no_weights_say_so(model):
    message = f"{type(model).__name__} takes no sample_weight: .*; use OPLS, CCA or PLS instead"
    for fit in (lambda: model.fit(X, LABELS, sample_weight=W), lambda: model.fit(X, LABELS, W)):
        with pytest.raises(ValueError, match=message):
            fit()
    with pytest.raises(TypeError, match="groups"):
        model.fit(X, LABELS, groups=W)
