"""Leaves of a forest as sparse features: rows are alike where many trees put them into one leaf.  [breiman2001forests]

In: rows and what the forest is grown on. Out: a ``LeafMap``, which takes any rows to features, and in ``GrownRows`` the
leaves of these rows and how often each tree has drawn them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from proxembed.algebra.arrays.matrix import guard_dense
from proxembed.algebra.pencil.symmetric import lanczos, top
from proxembed.algebra.shared import remembered_each
from proxembed.targets.labels import MANY_LABELS
from proxembed.targets.targets import Targets

MOST_LABELS = 50  # from more labels on the forest is grown on their leading principal scores
SCORES = 30
DENSE_FROM = 0.03  # share of stored entries from which trees grow faster on dense rows
MOST_DENSE = 1 << 26  # cells of these
LARGEST = float(np.finfo(np.float32).max)  # values beyond, of rows that were not in fit, are as large to a tree
ATTRIBUTES = {"left": "children_left", "right": "children_right", "feature": "feature", "threshold": "threshold"}
NODE_DTYPES = {"left": np.int32, "right": np.int32, "feature": np.int32, "threshold": np.float64}


class GrownRows(NamedTuple):
    """The rows that T trees were grown on: the column of the leaf of each row in each tree, (m, T), and how often each
    tree has drawn it, times how often it counts, (m, T)."""

    leaves: NDArray[np.intp]
    draws: NDArray[np.float64]


@dataclass(frozen=True)
class LeafMap:
    """The leaves of T trees as columns: q(x) has the entry (T M)^-1/2 in the column of each leaf that x falls into.
    ``M`` is the number of rows that the leaf was grown on, each as often as it was drawn. For V with the entries (T
    M)^-1/2 times the draws of a row, q(x) V'Y is the vote of the forest."""

    ends: NDArray[np.intp]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    entries: NDArray[np.float64]
    unit: NDArray[np.float64]

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @property
    def n_trees(self) -> int:
        """T."""
        return len(self.ends) - 1

    @cached_property
    def trees(self) -> list[Any]:
        """The trees as scikit-learn applies them."""
        from sklearn.tree._tree import NODE_DTYPE, Tree

        count, inner = np.diff(self.ends), self.left >= 0
        node, most = (np.arange(len(inner)) - np.repeat(self.ends[:-1], count))[inner], np.repeat(count, count)[inner]
        children, feature = (self.left[inner], self.right[inner]), self.feature[inner]
        whole = all(np.all((node < child) & (child < most)) for child in children)
        if np.any(count < 1) or not whole or np.any(feature < 0) or np.any(feature >= len(self.unit)):
            raise ValueError("The trees of this model are damaged; fit it again.")
        nodes = np.zeros(len(inner), dtype=NODE_DTYPE)
        nodes["left_child"], nodes["right_child"] = np.where(inner, self.left, -1), np.where(inner, self.right, -1)
        nodes["feature"], nodes["threshold"] = np.where(inner, self.feature, -2), self.threshold
        found, one_class = [], np.array([1], dtype=np.intp)
        for start, end in pairwise(self.ends):
            tree, size, values = Tree(len(self.unit), one_class, 1), int(end - start), np.zeros((end - start, 1, 1))
            state = {"max_depth": size, "node_count": size, "nodes": nodes[start:end], "values": values}
            tree.__setstate__(state)
            found.append(tree)
        return found

    @cached_property
    def column(self) -> NDArray[np.intp]:
        """The column of each node that is a leaf."""
        return np.cumsum(self.left < 0) - 1

    def leaves(self, X: Any) -> NDArray[np.intp]:
        """The column of the leaf of each row in each tree, (m, T)."""
        X = for_trees(X, self.unit)
        nodes = [start + tree.apply(X) for start, tree in zip(self.ends[:-1], self.trees, strict=True)]
        return self.column[np.column_stack(nodes)]

    def features(self, X: Any) -> sparse.csr_array:
        """q(x) of rows, (m, leaves), T entries per row."""
        return leaf_rows(self.leaves(X), self.entries)

    def own_features(self, own: GrownRows) -> sparse.csr_array:
        """q(x) of the rows that the forest was grown on."""
        return leaf_rows(own.leaves, self.entries)

    def unbiased(self, own: GrownRows) -> sparse.csr_array:
        """q(x) of the rows that the forest was grown on, over the trees that were grown without each row alone. A row
        drawn for every tree has no entry."""
        unseen = own.draws == 0
        share = self.n_trees / np.maximum(unseen.sum(axis=1), 1)
        return leaf_rows(own.leaves, self.entries, unseen, share)

    def votes(self, own: GrownRows, T: np.ndarray) -> NDArray[np.float64]:
        """V'T (leaves, q) of the rows that the forest was grown on: q(x) V'T is the vote of the forest on T."""
        V = self.own_features(own)
        V.data *= own.draws.ravel()  # leaves are numbered tree by tree
        return np.asarray(V.T @ T)

    def effects(self, weights: np.ndarray) -> np.ndarray:
        """What the splits of each feature do to combinations of the leaves, (k, leaves) to (k, d). A combination is a
        sum over trees of the value of a leaf. A split parts the rows of its node: the difference of the mean values on
        its two sides, weighted by the share of all rows that reach it, is what it does. Of each feature these are
        summed in size; the sign is that of their sum (positive: larger where the feature is)."""
        k, nodes = weights.shape[0], len(self.left)
        root = np.repeat(self.ends[:-1], np.diff(self.ends))
        leaf, inner = np.flatnonzero(self.left < 0), np.flatnonzero(self.left >= 0)
        left, right = root[inner] + self.left[inner], root[inner] + self.right[inner]
        mass, total = np.zeros(nodes), np.zeros((nodes, k))
        mass[leaf] = 1.0 / (self.n_trees * self.entries**2)
        total[leaf] = mass[leaf, None] * (weights * self.entries).T
        for node, one, other in zip(inner[::-1], left[::-1], right[::-1], strict=True):  # children before parents
            mass[node] = mass[one] + mass[other]
            total[node] = total[one] + total[other]
        mean = total / mass[:, None]
        steps = (mean[right] - mean[left]) * (mass[inner] / mass[root[inner]])[:, None]
        size, direction = np.zeros((len(self.unit), k)), np.zeros((len(self.unit), k))
        np.add.at(size, self.feature[inner], np.abs(steps))
        np.add.at(direction, self.feature[inner], steps)
        return (size * np.where(direction < 0, -1.0, 1.0)).T


def leaf_rows(
    leaves: np.ndarray, entries: np.ndarray, used: np.ndarray | None = None, factor: np.ndarray | None = None
) -> sparse.csr_array:
    """The sparse rows with the entry of each leaf, times a factor per row; only those of the trees ``used``."""
    m, T = leaves.shape
    used = np.ones(leaves.shape, dtype=bool) if used is None else used
    data = entries[leaves] if factor is None else entries[leaves] * factor[:, None]
    ends = np.concatenate([[0], np.cumsum(used.sum(axis=1))])
    rows = sparse.csr_array((data[used], leaves[used].astype(np.int32), ends), shape=(m, len(entries)))
    rows.sort_indices()
    return rows


def grown(
    X: Any,
    T: np.ndarray,
    counts: np.ndarray,
    *,
    n_estimators: int,
    min_samples_leaf: int,
    max_features: Any,
    random_state: Any,
    forest: str = "random",
) -> tuple[LeafMap, GrownRows]:
    """Grow regression trees (squared error), each on rows drawn with replacement, and map their leaves. Where all rows
    count once, these are the trees of scikit-learn's RandomForestRegressor, or those of its ExtraTreesRegressor with
    ``bootstrap=True``."""
    from sklearn import config_context
    from sklearn.tree import DecisionTreeRegressor, ExtraTreeRegressor

    kind = {"random": DecisionTreeRegressor, "extra": ExtraTreeRegressor}[forest]
    n, unit = X.shape[0], column_unit(X)
    varying = varying_columns(X)  # constant features change nothing, not even what is drawn
    among = for_trees(X, unit)[:, varying]
    rows = rows_to_grow_on(among)
    T = np.ascontiguousarray(T, dtype=np.float64)

    def tree(seed: int) -> dict[str, np.ndarray]:
        one = kind(min_samples_leaf=min(min_samples_leaf, n), max_features=max_features, random_state=seed)
        drawn = np.bincount(np.random.RandomState(seed).randint(0, n, n), minlength=n)
        with config_context(assume_finite=True, skip_parameter_validation=True):  # they are those above
            own = one.fit(rows, T, sample_weight=drawn * counts, check_input=False).tree_
        nodes = {name: getattr(own, attribute).astype(NODE_DTYPES[name]) for name, attribute in ATTRIBUTES.items()}
        return nodes | {"leaf": own.apply(among).astype(np.int32), "drawn": drawn.astype(np.int32)}

    def several(seeds: list[int]) -> list[dict[str, np.ndarray]]:
        return list(Parallel(prefer="threads")(delayed(tree)(seed) for seed in seeds))

    random = check_random_state(random_state)
    seeds = [random.randint(np.iinfo(np.int32).max) for _ in range(n_estimators)]
    trees = remembered_each(several, seeds, "trees", forest, min_samples_leaf, max_features, rows, T, counts)
    nodes = {name: np.concatenate([each[name] for each in trees]) for name in ATTRIBUTES}
    nodes["feature"] = np.where(nodes["left"] < 0, -1, varying[np.maximum(nodes["feature"], 0)]).astype(np.int32)
    ends = np.cumsum([0, *(len(each["left"]) for each in trees)])
    bare = LeafMap(ends, **nodes, entries=np.ones(int((nodes["left"] < 0).sum())), unit=unit)
    leaves = bare.column[np.column_stack([each["leaf"] for each in trees]) + ends[:-1]]
    own = GrownRows(leaves, np.column_stack([each["drawn"] for each in trees]) * counts[:, None])
    size = np.bincount(own.leaves.ravel(), own.draws.ravel(), minlength=len(bare.entries))
    return replace(bare, entries=1.0 / np.sqrt(n_estimators * size)), own


def column_unit(X: Any) -> NDArray[np.float64]:
    """Powers of two that take each column of X to about 2^20: to a tree, values that differ by 1e-7 are equal."""
    size = abs(X).max(axis=0)
    size = np.ravel(size.toarray() if sparse.issparse(size) else size).astype(np.float64)
    return np.exp2(np.where(size > 0, 20.0 - np.frexp(size)[1], 0.0))


def varying_columns(X: Any) -> NDArray[np.intp]:
    """Non-constant columns, or all columns if every column is constant."""
    low, high = X.min(axis=0), X.max(axis=0)
    low, high = (np.ravel(each.toarray() if sparse.issparse(each) else each) for each in (low, high))
    varying = np.flatnonzero(low < high)
    return varying if len(varying) else np.arange(X.shape[1])


def for_trees(X: Any, unit: np.ndarray) -> Any:
    """X as scikit-learn's trees take it: float32, with 32-bit indices where it is sparse."""
    if not sparse.issparse(X):
        return np.asarray(np.clip(X * unit, -LARGEST, LARGEST), dtype=np.float32, order="C")
    X = sparse.csr_matrix(X @ sparse.diags_array(unit))
    data = np.clip(X.data, -LARGEST, LARGEST).astype(np.float32)
    return sparse.csr_matrix((data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)


def rows_to_grow_on(X: Any) -> Any:
    """Rows as trees grow on them fastest: dense, or by column where they store few entries. Either gives the same
    trees, except for targets that rounding makes differ."""
    if not sparse.issparse(X):
        return np.ascontiguousarray(X)
    cells = X.shape[0] * X.shape[1]
    return X.toarray(order="C") if DENSE_FROM * cells <= X.nnz and cells <= MOST_DENSE else X.tocsc()


def forest_targets(labels: Targets, Y: Any) -> Any:
    """What a forest is grown on: the labels, or their leading principal scores where there are many."""
    if labels.c <= MOST_LABELS:
        return Y
    if labels.c > MANY_LABELS:
        F, sums = labels.Y, labels.sums
        w = labels.row_counts
        _, V = lanczos(lambda v: F.T @ (w * (F @ v)) - sums * (sums @ v / labels.n), labels.c, SCORES)
        return np.asarray(Y @ V)
    guard_dense((labels.c, labels.c), "The scatter of the labels that the forest is grown on")
    _, V = top(labels.centred_gram, SCORES)
    return np.asarray(Y @ V)
