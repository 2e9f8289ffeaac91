"""Links between rows, counted by labels, times weights from features."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .distances import canonical, pair_distances
from .weights import edge_weights


def weighted_links(
    X: Any, links: sparse.csr_array, kind: str, tau: float | None = None, scale: np.ndarray | None = None
) -> sparse.csr_array:
    """The links (n x n, zero diagonal) times the weights of ``edge_weights`` on the same pairs; "constant" leaves them.

    ``scale``: the local scales of the rows where they are known.

    Examples
    --------
    >>> links = sparse.csr_array([[0.0, 2.0], [2.0, 0.0]])
    >>> weighted_links(np.array([[0.0], [1.0]]), links, "alternative").toarray()
    array([[0., 1.],
           [1., 0.]])
    """
    if kind == "constant":
        return links
    links = sparse.csr_array(links)
    X = canonical(X)
    row = np.repeat(np.arange(links.shape[0]), np.diff(links.indptr))
    distance = pair_distances(X, row, X, links.indices)
    graph = sparse.csr_array((distance, links.indices, links.indptr), shape=links.shape)
    weights = edge_weights(X, graph, kind, tau=tau, scale=scale)
    return sparse.csr_array((links.data * weights.data, links.indices, links.indptr), shape=links.shape)
