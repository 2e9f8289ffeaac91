"""SSDRMC on the images of scene: labels of the rows in the fit, of rows left out, and of sparse rows."""

import numpy as np
import pytest
import scipy.sparse as sp

from proxembed import SSDRMC
from unit.methods.transductive.test_ssdr_mc import micro_f1


def test_scene(data_folder):
    with np.load(data_folder / "scene.npz") as file:
        rows, true = file["X"].astype(float), file["Y"].astype(float)
    n = len(rows)
    known = np.zeros(n, dtype=bool)
    known[np.random.default_rng(0).permutation(n)[: round(0.35 * n)]] = True
    y = np.where(known[:, None], true, np.nan)
    paper, recommended = SSDRMC().fit(rows, y), SSDRMC(preset="recommended").fit(rows, y)
    assert micro_f1(paper.transduction_[~known], true[~known]) == pytest.approx(0.66, abs=0.01)
    assert micro_f1(recommended.transduction_[~known], true[~known]) == pytest.approx(0.71, abs=0.01)
    held_out = np.flatnonzero(~known)[:480]
    part = np.setdiff1d(np.arange(n), held_out)
    fewer = SSDRMC(preset="recommended").fit(rows[part], y[part])
    extended = fewer.predict(rows[held_out])
    assert np.mean(extended == recommended.transduction_[held_out]) > 0.95
    as_sparse = SSDRMC(preset="recommended").fit(sp.csr_array(rows), y)
    np.testing.assert_allclose(as_sparse.soft_labels_, recommended.soft_labels_, atol=1e-6)
