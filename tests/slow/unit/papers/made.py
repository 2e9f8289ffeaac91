"""Small generated data under the names of the real files."""

import numpy as np
import scipy.sparse as sp


def dense_set(path, n=90, train=60, seed=0):
    """Rows whose labels are signs of the first features."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    Y = (X[:, :3] + 0.5 * rng.normal(size=(n, 3)) > 0).astype(np.uint8)
    np.savez(path, X=X, Y=Y, train_idx=np.arange(train), test_idx=np.arange(train, n))


def counted_set(path, n=180, labels=12, terms=60, seed=0):
    """Documents: counts of terms, each label with terms of its own; the first labels are the larger ones."""
    rng = np.random.default_rng(seed)
    first = rng.choice(labels, size=n, p=np.arange(labels, 0, -1) / (labels * (labels + 1) / 2))
    Y = np.zeros((n, labels), dtype=np.uint8)
    Y[np.arange(n), first] = 1
    Y[rng.random(n) < 0.15, 0] = 1
    own = np.repeat(np.arange(labels), terms // labels)
    X = sp.csr_matrix(rng.poisson(0.2 + 1.5 * Y[:, own]).astype(np.float64))
    facts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}
    np.savez(path, Y=Y, train_idx=np.arange(n - 60), test_idx=np.arange(n - 60, n), **facts)
