"""Neighbour searches that know labels: friends inside each class and enemies outside, over label copies without
copying.

In: rows and a LabelMatrix, several labels per row allowed. Out: n x n CSR of weights: how many pairs of copies of two
rows are linked. A row with m labels stands for m copies; lists hold distinct rows and never the row itself.
[mu2012mesd]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.targets.labels import LabelMatrix

from .backends import SAMPLE, EnemyLists, Neighbors, check_count, check_library, measured, nearest, settled
from .distances import canonical, check_distances, check_metric
from .graph import check_kind
from .search import Lists, exact_lists, given_lists, is_measured, queried_lists, rank_in

LINKS = ("undirected", "directed", "mutual")
PAIRS = 1 << 16
FEW_SINGLE = 8  # times as many rows with several labels: they share one list per row
FIRST = 4  # enemies of every copy that are looked for before the nearest pairs of a class are known


def class_neighbors(
    X: Any, labels: LabelMatrix, K: int, *, metric: Any = "euclidean", algorithm: Any = "exact"
) -> Iterator[tuple[np.ndarray, Neighbors]]:
    """For each class its rows, and their K nearest inside the class in the class's own numbering. A class of fewer than
    K + 1 rows has lists of all its other rows; a class of one row has lists of no column. Each class has an index of
    its own; "auto" goes by the rows of all classes."""
    check_count(K, max(1, labels.n - 1))
    if not is_measured(metric):
        algorithm = settled(X, labels.n, int(K), metric, algorithm)
    for k in range(labels.c):
        rows = class_rows(labels, k)
        most = min(int(K), len(rows) - 1)
        if most < 1:
            yield rows, Neighbors(np.empty((len(rows), 0), dtype=np.intp), np.empty((len(rows), 0)))
            continue
        yield rows, nearest(take_rows(X, rows, metric), most, metric=metric, algorithm=algorithm)


def class_rows(labels: LabelMatrix, k: int) -> np.ndarray:
    """The rows of class k, ascending."""
    Y = labels.Y
    return np.sort(Y.indices[Y.indptr[k] : Y.indptr[k + 1]]).astype(np.intp)


def shared_labels(labels: LabelMatrix, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """How many labels rows i[t] and j[t] share, (YY')_ij, for every t."""
    Y = labels.Y.tocsr()
    out = np.empty(len(i))
    for start in range(0, len(i), PAIRS):
        part = slice(start, start + PAIRS)
        out[part] = np.asarray(Y[i[part]].multiply(Y[j[part]]).sum(axis=1)).ravel()
    return out


def take_rows(X: Any, rows: np.ndarray, metric: Any) -> Any:
    """Some rows, of a matrix of distances also the columns."""
    return X[np.ix_(rows, rows)] if metric == "precomputed" else X[rows]


@dataclass(frozen=True)
class Searched:
    """A search that ran: the algorithm, the recall in a sample (None for an exact one) and the lists."""

    algorithm: str
    recall: float | None
    lists: int


def friends(
    X: Any,
    labels: LabelMatrix,
    K: int,
    *,
    link: str = "undirected",
    metric: Any = "euclidean",
    algorithm: Any = "exact",
    record: list[Searched] | None = None,
) -> sparse.csr_array:
    """In how many classes two rows are linked, one being among the K nearest of the other in the class. sum_k max(F_k,
    F_k') for link="undirected", sum_k F_k for "directed", sum_k min(F_k, F_k') for "mutual"; n x n. ``record`` takes up
    the search of each class."""
    check_kind(link, LINKS, "link")
    rows, columns, weights = [], [], []
    for own, found in class_neighbors(X, labels, K, metric=metric, algorithm=algorithm):
        linked = _linked(found, link)
        rows.append(np.repeat(own, np.diff(linked.indptr)))
        columns.append(own[linked.indices])
        weights.append(linked.data)
        if record is not None:
            record.append(Searched(found.algorithm, found.recall, len(own)))
    return _counted(np.concatenate(rows), np.concatenate(columns), np.concatenate(weights), labels.n)


def _linked(found: Neighbors, link: str) -> sparse.csr_array:
    """The links of one class, F, max(F, F') or min(F, F'), in the class's own numbering."""
    n, K = found.index.shape
    F = sparse.csr_array((np.ones(n * K), found.index.ravel(), np.arange(n + 1) * K), shape=(n, n))
    if link == "directed":
        return F
    F.sort_indices()
    other = F.T.tocsr()
    return sparse.csr_array(F.minimum(other) if link == "mutual" else F.maximum(other))


def enemies(
    X: Any,
    labels: LabelMatrix,
    K: int,
    by: str = "point",
    *,
    link: str = "undirected",
    copies: str = "distinct",
    enemy: str = "any",
    metric: str = "euclidean",
    algorithm: Any = "exact",
    record: list[Searched] | None = None,
) -> sparse.csr_array:
    """How many pairs of copies with different labels link two rows, n x n. A copy (i, k) has as enemies the K nearest
    other rows with a label that is not k ("point"), or a class the K nearest pairs of its rows and their enemies
    ("class"). ``link``: either copy chooses the other ("undirected"), the one the other ("directed"), or both
    ("mutual"). ``copies``: "distinct" links all copies of a chosen row that have another label, "count" lets each use
    one of the K places. ``enemy="disjoint"`` leaves only rows that share no label. "faiss-ivf" and "faiss-hnsw" search
    one set of inverted lists, for each label without the lists that hold no enemy; other algorithms make an index of
    the enemies of each label. ``record`` takes up the search."""
    check_metric(metric)
    check_kind(link, LINKS, "link")
    check_kind(by, ("point", "class"), "by")
    check_kind(copies, ("distinct", "count"), "copies")
    check_kind(enemy, ("any", "disjoint"), "enemy")
    check_count(K, max(1, labels.n - 1) if by == "point" else max(1, labels.n * (labels.n - 1)))
    K, search = int(K), _Search(X, labels, enemy, metric, algorithm)
    chosen = search.nearest_pairs(K) if by == "class" else search.chosen(*search.lists(K))
    if record is not None:
        record.append(search.searched)
    if copies == "count":
        return _counted_copies(chosen, labels, K, by, link)
    return _distinct_rows(chosen, labels, link)


@dataclass(frozen=True)
class Chosen:
    """Enemies: copy (i, k) has chosen row j, at a distance."""

    i: np.ndarray
    k: np.ndarray
    j: np.ndarray
    distance: np.ndarray

    def first_pairs(self, classes: int, K: int) -> Chosen:
        """The K nearest entries of every class, by (distance, i, j)."""
        order = np.lexsort((self.j, self.i, self.distance, self.k))
        order = order[rank_in(self.k[order], classes) < K]
        return Chosen(self.i[order], self.k[order], self.j[order], self.distance[order])

    def joined(self, other: Chosen) -> Chosen:
        """The entries of both."""
        columns = zip(astuple(self), astuple(other), strict=True)
        return Chosen(*(np.concatenate(column) for column in columns))


class _Search:
    """The search of the nearest enemies of every copy (i, k), in the order of copies and nearness."""

    def __init__(self, X: Any, labels: LabelMatrix, enemy: str, metric: str, algorithm: Any):
        self.labels, self.enemy, self.metric = labels, enemy, metric
        Y = labels.Y.tocsr()
        Y.sort_indices()
        self.row, self.label = np.repeat(np.arange(labels.n), np.diff(Y.indptr)), Y.indices.astype(np.int64)
        self.allowed = _disjoint(Y, self.row) if enemy == "disjoint" else _another_label(labels, self.label)
        self.algorithm = settled(X, len(self.row), 1, metric, algorithm, labelled=True)
        self.given, self.X = X, check_distances(X) if metric == "precomputed" else canonical(X, metric)
        self.recall: float | None = None
        self.rows = np.flatnonzero(labels.m > 0)
        self.only = only_label(labels)

    @property
    def exact(self) -> bool:
        """Whether the lists hold the nearest enemies for certain."""
        return isinstance(self.algorithm, str) and self.algorithm == "exact"

    @property
    def in_lists(self) -> bool:
        """Whether the rows are searched in inverted lists, one set of them for all labels."""
        return isinstance(self.algorithm, str) and self.algorithm.startswith("faiss") and self.metric != "precomputed"

    @property
    def searched(self) -> Searched:
        """The search that ran."""
        name = self.algorithm if isinstance(self.algorithm, str) else type(self.algorithm).__name__
        return Searched("faiss-ivf" if name == "faiss-hnsw" else name, self.recall, len(self.row))

    @property
    def of_rows(self) -> bool:
        """Whether one list per row is searched for all its copies: labels must differ, or rows of one label are few."""
        few = bool(FEW_SINGLE * np.count_nonzero(self.labels.m == 1) <= len(self.rows))
        return self.enemy == "disjoint" or (few and self.metric != "precomputed")

    @cached_property
    def kind(self) -> np.ndarray:
        """Rows of one kind may enter the same lists."""
        if self.labels.one_hot:
            kind = np.zeros(self.labels.n, dtype=np.int64)
            kind[self.row] = self.label
            return kind
        return self.labels.group_of_row()

    @property
    def order(self) -> np.ndarray:
        """The rows with labels, kind by kind."""
        return self.rows[np.argsort(self.kind[self.rows], kind="stable")]

    def lists(self, K: int) -> tuple[np.ndarray, np.ndarray]:
        """(index, distance) of the K nearest enemies of all copies, -1 and infinity where there are fewer."""
        K = min(K, self.labels.n - 1)
        if not self.exact:
            return self._approximate(K)
        if not self.of_rows:
            return self._exact(Lists(self.row, self.allowed), K)
        own = np.searchsorted(self.rows, self.row)
        if self.enemy == "disjoint":
            index, distance = self._exact(Lists(self.rows, _disjoint(self.labels.Y.tocsr(), self.rows)), K)
            return index[own], distance[own]
        one_label = np.where(self.labels.m == 1, self.only, -2)[self.rows]
        index, distance = self._exact(Lists(self.rows, _another_label(self.labels, one_label)), K)
        return self._of_copies(index[own], distance[own], K)

    def _approximate(self, K: int) -> tuple[np.ndarray, np.ndarray]:
        """The lists by another library or an object, for the copies of one label (or of one label set) at a time."""
        index = np.full((len(self.row), K), -1, dtype=np.intp)
        distance = np.full(index.shape, np.inf)
        lists = self._inverted() if self.in_lists else None
        for copies, rows in self._by_code():
            if lists is not None:
                near = lists.among(rows, self.row[copies], min(K + 1, len(rows)))
                found = measured(self.X[self.row[copies]], self.X, near, K, self.metric, self.row[copies])
            else:
                found = self._by_index(copies, rows, K)
            index[copies, : found[0].shape[1]], distance[copies, : found[0].shape[1]] = found
        if self.metric != "precomputed":
            some = np.sort(np.random.default_rng(0).permutation(len(self.row))[:SAMPLE])
            _, exact = self._queried(some, K)
            self.recall = float(np.mean(distance[some] <= exact[:, -1:])) if len(some) else 1.0
        return index, distance

    def _by_code(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The copies of each label, or of each label set where labels must differ, and the rows that are enemies."""
        table, group = self.labels.groups()
        single, Y = np.eye(self.labels.c), self.labels.Y
        for code in range(self.labels.c if self.enemy == "any" else len(table)):
            copies = np.flatnonzero(self.label == code if self.enemy == "any" else group[self.row] == code)
            shared = Y @ (single[code] if self.enemy == "any" else table[code])
            enemies = self.labels.m > shared if self.enemy == "any" else (shared == 0) & (self.labels.m > 0)
            if len(copies) and enemies.any():
                yield copies, np.flatnonzero(enemies)

    def _inverted(self) -> EnemyLists:
        check_library(self.algorithm, self.X)
        return EnemyLists(self.X, whole=self.algorithm == "faiss")

    def _by_index(self, copies: np.ndarray, rows: np.ndarray, K: int) -> tuple[np.ndarray, np.ndarray]:
        """The nearest of some rows to the rows of the copies, themselves left out, by an index of these rows."""
        X, own, most = self.given, self.row[copies], min(K + 1, len(rows))
        if self.metric == "precomputed":
            found = nearest(X[np.ix_(rows, rows)], most, queries=X[np.ix_(own, rows)], metric=self.metric)
        else:
            found = nearest(X[rows], most, queries=X[own], metric=self.metric, algorithm=self.algorithm)
        near = rows[found.index]
        itself = near == own[:, None]
        order = np.argsort(itself, axis=1, kind="stable")[:, :K]
        near = np.take_along_axis(np.where(itself, -1, near), order, axis=1)
        return near, np.where(near < 0, np.inf, np.take_along_axis(found.distance, order, axis=1))

    def _exact(self, lists: Lists, K: int) -> tuple[np.ndarray, np.ndarray]:
        if self.metric == "precomputed":
            return given_lists(self.X, lists, K)
        return exact_lists(self.X, lists, K, self.metric, self.order, self.kind)

    def _of_copies(self, index: np.ndarray, distance: np.ndarray, K: int) -> tuple[np.ndarray, np.ndarray]:
        """The lists of rows as those of their copies: rows with the label of the copy alone go, others are found."""
        wrong = (index >= 0) & (self.only[index] == self.label[:, None])
        lacking = np.flatnonzero(wrong.any(axis=1) & (index[:, -1] >= 0))
        index[wrong], distance[wrong] = -1, np.inf
        order = np.argsort(wrong, axis=1, kind="stable")
        index, distance = np.take_along_axis(index, order, axis=1), np.take_along_axis(distance, order, axis=1)
        if len(lacking):
            index[lacking], distance[lacking] = self._queried(lacking, K)
        return index, distance

    def _queried(self, copies: np.ndarray, K: int) -> tuple[np.ndarray, np.ndarray]:
        """The lists of a few copies."""
        wanted = Lists(self.row, self.allowed).take(copies)
        return queried_lists(self.X, wanted, K, self.metric, self.order, self.kind)

    def nearest_pairs(self, K: int) -> Chosen:
        """The K nearest pairs of the copies of every class and their enemies. A few enemies of every copy come first:
        the K-th of their pairs in a class bounds its distances, and only copies with all of these few within the bound
        can have more pairs."""
        most, c = min(K, self.labels.n - 1), self.labels.c
        by_parts = (self.exact or self.in_lists) and self.metric != "precomputed" and most > FIRST
        index, distance = self.lists(FIRST if by_parts else most)
        found = self.chosen(index, distance).first_pairs(c, K)
        if not by_parts:
            return found
        count = np.bincount(found.k, minlength=c)
        bound = np.where(count >= K, np.append(found.distance, np.inf)[np.cumsum(count) - 1], np.inf)
        more = np.flatnonzero((index[:, -1] >= 0) & (distance[:, -1] <= bound[self.label]))
        wider = self._queried(more, most)
        index[more] = -1
        return self.chosen(index, distance).joined(self.chosen(*wider, more)).first_pairs(c, K)

    def chosen(self, index: np.ndarray, distance: np.ndarray, copies: np.ndarray | slice = slice(None)) -> Chosen:
        """Lists of some copies as pairs."""
        row, label = self.row[copies], self.label[copies]
        copy, place = np.nonzero(index >= 0)
        return Chosen(row[copy], label[copy], index[copy, place].astype(np.int64), distance[copy, place])


def only_label(labels: LabelMatrix) -> np.ndarray:
    """The label of every row that has one label only; -1 for others."""
    only = np.full(labels.n, -1, dtype=np.int32)
    Y = labels.Y.tocsr()
    single = np.flatnonzero(labels.m == 1)
    only[single] = Y.indices[Y.indptr[single]]
    return only


def _another_label(labels: LabelMatrix, label: np.ndarray) -> Callable[..., Any]:
    """Whether a row has a label other than the list's own."""
    only, none, label = only_label(labels), labels.m == 0, label.astype(np.int32)

    def allowed(lists: np.ndarray, rows: np.ndarray, axis: int) -> np.ndarray:
        if axis == 0:
            found = label[lists][:, None] != only[rows][None, :]
        else:
            found = only[rows][:, None] != label[lists][None, :]
        if none[rows].any():
            found &= ~none[rows][None, :] if axis == 0 else ~none[rows][:, None]
        return found

    return allowed


def _disjoint(Y: sparse.csr_array, own: np.ndarray) -> Callable[..., Any]:
    """Whether a row has labels and none of those of the list's row."""
    none = np.diff(Y.indptr) == 0

    def allowed(lists: np.ndarray, rows: np.ndarray, axis: int) -> np.ndarray:
        first, second = (Y[own[lists]], Y[rows]) if axis == 0 else (Y[rows], Y[own[lists]])
        found = (first @ second.T).toarray() == 0
        found &= ~none[rows][None, :] if axis == 0 else ~none[rows][:, None]
        return found

    return allowed


def _places(labels: LabelMatrix, j: np.ndarray, k: np.ndarray) -> tuple[np.ndarray, np.ndarray, sparse.csr_array]:
    """Where label k stands among the labels of row j (ascending), whether it does, and Y by rows."""
    Y = labels.Y.tocsr()
    Y.sort_indices()
    keys = np.repeat(np.arange(labels.n, dtype=np.int64), np.diff(Y.indptr)) * labels.c + Y.indices
    at = np.searchsorted(keys, j * labels.c + k)
    has = np.take(np.append(keys, -1), at) == j * labels.c + k
    return at - Y.indptr[j], has, Y


def _distinct_rows(chosen: Chosen, labels: LabelMatrix, link: str) -> sparse.csr_array:
    """Dr = sum_k (m_j - y_jk) E_k; Dr + Dr' - Al o Al' + Om; Al o Al' - Om, with Al = sum_k E_k and Om the pairs that
    choose each other by the same label."""
    n, (i, k, j) = labels.n, (chosen.i, chosen.k, chosen.j)
    _, has, _ = _places(labels, j, k)
    Dr = _counted(i, j, labels.m[j] - has, n)
    if link == "directed":
        return Dr
    Al = _counted(i, j, np.ones(len(i)), n)
    i, k, j = i[has], k[has], j[has]  # only a row with the label k can choose back by it
    same = np.isin((k * n + i) * n + j, (k * n + j) * n + i)
    Om = _counted(i[same], j[same], np.ones(int(same.sum())), n)
    both = Al.multiply(Al.T) - Om
    found = sparse.csr_array(both if link == "mutual" else Dr + Dr.T - both)
    found.eliminate_zeros()
    return found


def _counted_copies(chosen: Chosen, labels: LabelMatrix, K: int, by: str, link: str) -> sparse.csr_array:
    """The links where every copy uses one of K places: from one copy to another, then collapsed."""
    i, k, j = chosen.i, chosen.k, chosen.j
    place, has, Y = _places(labels, j, k)
    size = (labels.m[j] - has).astype(np.int64)
    group = k if by == "class" else Y.indptr[i].astype(np.int64) + _places(labels, i, k)[0]
    total = np.cumsum(size) - size
    first = np.flatnonzero(np.diff(group, prepend=-1))
    before = total - np.repeat(total[first], np.diff(np.append(first, len(group))))
    used = np.clip(K - before, 0, size)
    entry = np.repeat(np.arange(len(i)), used)
    step = rank_in(entry, len(i))
    step = step + (has[entry] & (step >= place[entry]))
    source = Y.indptr[i].astype(np.int64) + _places(labels, i, k)[0]
    E = _counted(source[entry], Y.indptr[j][entry] + step, np.ones(len(entry)), Y.nnz)
    if link != "directed":
        E = sparse.csr_array(E.maximum(E.T) if link == "undirected" else E.minimum(E.T))
    E = E.tocoo()
    row = np.repeat(np.arange(labels.n), np.diff(Y.indptr))
    return _counted(row[E.row], row[E.col], E.data, labels.n)


def _counted(i: np.ndarray, j: np.ndarray, weight: np.ndarray, n: int) -> sparse.csr_array:
    """The n x n matrix with the weights added at (i, j)."""
    found = sparse.csr_array((np.asarray(weight, dtype=np.float64), (i, j)), shape=(n, n))
    found.sum_duplicates()
    return found
