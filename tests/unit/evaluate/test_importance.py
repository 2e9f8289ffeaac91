"""Permutation importance against its definition."""

import numpy as np
import pytest

from proxembed.evaluate import importance
from proxembed.evaluate.importance import feature_blocks, permutation_losses


def test_losses_are_those_of_rows_predicted_again(monkeypatch):
    rng = np.random.default_rng(0)
    X, B = rng.normal(size=(50, 6)), np.zeros((6, 2))
    B[0, 0], B[3, 1], B[4, 1] = 2.0, 1.0, 1.0
    Y = X @ B + 0.1 * rng.normal(size=(50, 2))
    Y[3, 0] = np.nan
    blocks = [np.array([0]), np.array([1, 2]), np.array([3, 4])]
    level = np.array([0.1, -0.2])
    found = permutation_losses(lambda rows: rows @ B, X, Y, level, blocks)
    draw = np.random.default_rng(0)
    for block, losses in zip(blocks, found, strict=True):
        changed = X.copy()
        changed[:, block] = X[draw.permutation(50)][:, block]
        before, after = (np.nansum((Y - rows @ B) ** 2, axis=0) for rows in (X, changed))
        np.testing.assert_allclose(losses, (after - before) / np.nansum((Y - level) ** 2, axis=0), rtol=1e-12)
    assert found[0, 0] > 1 and found[2, 1] > 1 and np.abs(found[1]).max() == 0 == abs(found[0, 1])
    monkeypatch.setattr(importance, "CHUNK_BYTES", 1)
    np.testing.assert_allclose(permutation_losses(lambda rows: rows @ B, X, Y, level, blocks), found, rtol=1e-12)


@pytest.mark.parametrize(("d", "ordered", "count"), [(7, False, 7), (100, True, 20), (999, False, 200), (12, True, 12)])
def test_blocks_are_of_adjacent_features_and_hold_each_once(d, ordered, count):
    blocks = feature_blocks(d, ordered)
    assert len(blocks) == count and np.concatenate(blocks).tolist() == list(range(d))
