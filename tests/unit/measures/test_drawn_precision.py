"""The interval of macro average precision for many labels at once: against one label after the other."""

import math

import numpy as np
import pytest

from proxembed.measures.metrics import average_precision
from proxembed.measures.statistics import (
    drawn_precision,
    drawn_weights,
    unseen_variance,
    weighted_average_precision,
)


@pytest.fixture
def made():
    rng = np.random.default_rng(0)
    truth = rng.random((130, 30)) < np.r_[np.full(4, 0.004), np.full(16, 0.03), np.linspace(0.1, 0.8, 10)]
    return truth, np.round(rng.normal(size=truth.shape) + truth, 1).astype(np.float32)


def test_all_labels_drawn_at_once_are_each_label_drawn_alone(made):
    truth, S = made
    weights = drawn_weights(len(truth), n_draws=60)
    found, present = drawn_precision(S, truth, weights), np.flatnonzero(truth.any(axis=0))
    assert 0 < truth.sum(axis=0)[present].min() < 3 and truth.sum(axis=0).max() > 50
    np.testing.assert_allclose(found.once, average_precision(truth, S)[present], rtol=1e-12)
    for place, j in enumerate(present):
        wanted = weighted_average_precision(truth[:, j], S[:, j], weights)
        np.testing.assert_allclose(found.drawn[:, place], wanted, rtol=1e-12)
    assert np.isnan(found.drawn).any(), "some draw leaves no positive row of a rare label"


def test_the_blocks_of_labels_do_not_show(made, monkeypatch):
    truth, S = made
    weights = drawn_weights(len(truth), n_draws=20)
    whole = drawn_precision(S, truth, weights)
    for name in ("statistics", "ranks"):
        monkeypatch.setattr(f"proxembed.measures.{name}.CELLS", 300)
    for one, other in zip(whole, drawn_precision(S, truth, weights), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def one_label_after_the_other(parts, unit):
    """The definition of ``unseen_variance``."""
    own = np.isfinite(parts)
    parts, own = parts[:, own.any(axis=0)], own[:, own.any(axis=0)]
    means, c, units = np.nanmean(parts, axis=0), parts.shape[1], int(unit.max()) + 1
    seen, whole = np.zeros(units), np.zeros(units)
    for part, rows, mean in zip(parts.T, own.T, means, strict=True):
        count = np.bincount(unit[rows], minlength=units)
        share = count / count.sum()
        deviation = np.bincount(unit[rows], part[rows] - mean, units) / (c * count.sum())
        if share.max() < 1:
            seen += deviation
            whole += deviation / np.sqrt(1 - share)
        else:
            whole += share * (mean - means.mean()) / math.sqrt(c * (c - 1))
    return whole @ whole - seen @ seen


@pytest.mark.parametrize("grouped", [False, True])
def test_the_unseen_variance_is_that_of_one_label_after_the_other(made, grouped):
    truth, _ = made
    rng = np.random.default_rng(1)
    parts = np.where(truth, rng.normal(size=truth.shape), np.nan)
    unit = rng.integers(0, 15, len(truth)) if grouped else np.arange(len(truth))
    wanted = one_label_after_the_other(parts, unit)
    assert unseen_variance(parts, unit if grouped else None) == pytest.approx(wanted, rel=1e-9) and wanted > 0


def test_a_single_label_of_one_unit_has_no_variance_to_tell():
    assert unseen_variance(np.array([[0.5], [np.nan]])) == math.inf
