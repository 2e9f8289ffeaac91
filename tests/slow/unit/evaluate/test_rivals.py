"""Rivals of the packages of an extra: maps place new rows by their cluster."""

import numpy as np
import pytest
import scipy.sparse as sp

from proxembed.evaluate.rivals.maps import TSNE, UMAP, SupervisedUMAP


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("rival", [UMAP, SupervisedUMAP, TSNE])
@pytest.mark.parametrize("sparse", [False, True])
def test_maps_of_the_real_packages_place_new_rows_by_their_cluster(rival, sparse):
    pytest.importorskip("openTSNE" if rival is TSNE else "umap")
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, size=180)
    X = rng.normal(size=(180, 60)) + 6 * np.eye(3, 60)[y] * np.sqrt(10)
    X = sp.csr_array(X) if sparse else X
    model = rival(random_state=0)
    Z, Z_new = model.fit_transform(X[:120], y[:120]), model.transform(X[120:])
    assert Z.shape == (120, 2) and Z_new.shape == (60, 2) and np.isfinite(Z_new).all()
    near = ((Z_new[:, None] - Z[None]) ** 2).sum(axis=2).argmin(axis=1)
    assert (y[:120][near] == y[120:]).mean() > 0.95
