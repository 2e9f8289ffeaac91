"""Weights of held-out rows: a whole weight is so many repeats of a row, in every measure, cut and probability."""

import numpy as np
import pytest
import scipy.sparse as sp

from proxembed.classify.thresholds import tune_thresholds
from proxembed.measures.calibration import calibrated
from proxembed.measures.measures import MEASURES, measure_of
from proxembed.measures.outputs import OutputCells, near_outputs

DRAW = np.random.default_rng(0)
M, N, C = 40, 30, 3
Y, S = DRAW.random((M, C)) < 0.4, np.round(DRAW.normal(size=(M, C)), 1)  # with ties
TIMES = DRAW.integers(1, 4, M)
REPEATED = np.repeat(np.arange(M), TIMES)
KNOWN = DRAW.random((M, C)) < 0.8
KNOWN[:2] = True
Y_TRAIN, NEAR = DRAW.random((N, C)) < 0.4, sp.csr_array(DRAW.dirichlet(np.ones(N), M))
F = DRAW.normal(size=(M, C))
READINGS = {"scores": S, "labels": S > 0, "probabilities": 1 / (1 + np.exp(-S))}


def value(measure, rows, known, weights=None):
    """A measure on some rows."""
    cells = None if known is None else known[rows]
    if measure.takes == "numbers":
        truth = OutputCells(F[rows] if known is None else np.where(cells, F[rows], 0.0), np.arange(C), *F[:2], cells)
        near = near_outputs(NEAR[rows], F[:N])
        return measure.value(truth, near if measure.reads == "neighbors" else S[rows], weights=weights)[0]
    reading = (Y_TRAIN, NEAR[rows]) if measure.reads == "neighbors" else READINGS[measure.reads][rows]
    return measure.value(Y[rows], reading, 1, cells, weights)[0]


def test_whole_weights_are_repeats_in_every_measure_and_scaled_ones_change_no_value():
    """Rows among themselves are left out: copies of a row would be its neighbours."""
    for measure in MEASURES.values():
        if measure.reads == "new neighbors":
            continue
        for known in (None, KNOWN):
            found = value(measure, np.arange(M), known, TIMES.astype(float))
            assert found == pytest.approx(value(measure, REPEATED, known), abs=1e-12), measure.name
            assert value(measure, np.arange(M), known, TIMES / 7.0) == pytest.approx(found, abs=1e-12), measure.name


def test_cuts_and_probabilities_of_whole_weights_are_those_of_repeats():
    for known in (None, KNOWN):
        cells = None if known is None else known[REPEATED]
        cuts = tune_thresholds(S, Y, known=known, sample_weight=TIMES.astype(float))
        expected = tune_thresholds(S[REPEATED], Y[REPEATED], known=cells)
        np.testing.assert_allclose(cuts.cuts, expected.cuts, rtol=1e-12)
        assert cuts.global_cut == pytest.approx(expected.global_cut)
        maps = calibrated(S, Y, known, TIMES.astype(float))
        np.testing.assert_allclose(maps[:5], calibrated(S[REPEATED], Y[REPEATED], cells)[:5], rtol=1e-5, atol=1e-9)


def test_a_function_of_the_user_gets_weights_or_is_refused():
    def hits(Y, S, sample_weight=None):
        return np.average((Y == (S > 0)).mean(axis=1), weights=sample_weight)

    assert measure_of(hits).value(Y, S, weights=TIMES.astype(float))[0] == pytest.approx(hits(Y, S, TIMES))
    with pytest.raises(ValueError, match="takes no weights of rows: give its function an argument sample_weight"):
        measure_of(lambda Y, S: 0.0).value(Y, S, weights=TIMES.astype(float))
