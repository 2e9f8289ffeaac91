"""Rows: all that a method may know about the rows, and the label matrices that templates are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.algebra.arrays.blas import matmul
from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.arrays.matrix import fingerprints, multipliers, over, unit_of
from proxembed.algebra.operators.structured import LowRank, Repeats, Sparse
from proxembed.algebra.pencil.problem import CONSTANT
from proxembed.algebra.template import Template
from proxembed.blocks import RowBlocks
from proxembed.params import call_user_function
from proxembed.proximity import labelled
from proxembed.proximity.backends import Neighbors, nearest
from proxembed.proximity.distances import canonical, pair_distances
from proxembed.proximity.graph import OF_NEIGHBORS, feature_graph, neighbor_graph
from proxembed.proximity.labelled import Searched
from proxembed.proximity.search import all_distances, as_cosine, is_measured
from proxembed.proximity.weights import given_weights
from proxembed.targets.known import take_labels
from proxembed.targets.labels import LabelMatrix


@dataclass(frozen=True)
class Origin:
    """What was given to fit: y in the caller's form, for functions that are parameters, the number of rows, and which
    of them these rows are (None: all)."""

    y: Any
    n: int
    index: np.ndarray | None = None

    def take(self, index: np.ndarray) -> Origin:
        """The origin of some of the rows."""
        y = None if self.y is None else take_labels(self.y, index)
        return Origin(y, self.n, index if self.index is None else self.index[index])


@dataclass(frozen=True)
class Rows:
    """Checked rows X (n x d) with their labels; ``weighting``, ``copies`` and ``enemy`` are set by MESD alone
    (weighting None: no copies); ``source`` holds the blocks that they are a sample of; ``counts`` (n,) how often each
    row occurs, where equal rows have been merged. Searches are kept for as long as the object, by their arguments: a
    method may ask twice."""

    X: Any
    labels: Any  # Targets, a LabelMatrix for methods that take labels alone; None without
    weighting: str | None = None
    copies: str = "distinct"
    enemy: str = "any"
    origin: Origin | None = None
    source: RowBlocks | None = None
    counts: np.ndarray | None = None

    @property
    def n(self) -> Any:
        """Rows."""
        return self.X.shape[0]

    @property
    def d(self) -> int:
        """Features."""
        return self.X.shape[1]

    @property
    def summed(self) -> bool:
        """Whether these rows stand for others of the same sums, whose features are lifted already."""
        return False

    @cached_property
    def ones(self) -> np.ndarray:
        """Uniform row weights."""
        return np.ones(self.n)

    @property
    def times(self) -> np.ndarray:
        """How often each row occurs."""
        return self.ones if self.counts is None else self.counts

    @property
    def stated(self) -> np.ndarray | None:
        """How often each row occurs, where a template on these rows has to say so itself; None for once."""
        return self.counts

    @property
    def unstated(self) -> np.ndarray:
        """How often each row occurs, where a template does not say so before it is ``weighted``."""
        return self.ones

    def each_counted(self, F: Any) -> Any:
        """The factor of labels (n x q, or n) of a template, each row as often as it occurs."""
        if self.stated is None:
            return F
        return sparse.csc_array(sparse.diags_array(self.stated) @ F) if sparse.issparse(F) else (F.T * self.stated).T

    def links_counted(self, W: Any) -> Any:
        """Links of rows (CSR) as often as both of their rows occur."""
        if self.stated is None:
            return W
        times = sparse.diags_array(self.stated)
        return sparse.csr_array(times @ W @ times)

    @cached_property
    def class_sizes(self) -> np.ndarray:
        """The rows of each class, (c,), each as often as it occurs."""
        return self.labels.nk if self.stated is None else np.asarray(self.labels.Y.T @ self.stated)

    @cached_property
    def mass(self) -> np.ndarray:
        """Row weights of the scatter: ones; under MESD the labels per row, or 1[m > 0] where copies are weighted."""
        if self.weighting is None:
            return self.each_counted(self.ones)
        return self.each_counted(self.labels.m if self.weighting == "none" else (self.labels.m > 0).astype(np.float64))

    def build_template(self, method: Any) -> Template:
        """The template of a method on these rows."""
        return method.template(self)

    def route(self, solver: str) -> str:
        """The solver for these rows, where ``solver`` is asked for."""
        return solver

    def resolve_ridge(self, ridge: float | str | None, scale: str | None, template: Template) -> tuple[Any, Any]:
        """The ridge with its unit, as the solver takes them."""
        return ridge, scale

    def squared_norm(self, center: np.ndarray | None) -> float:
        """The sum of squares of X, centred by the weighted mean unless ``center`` is None."""
        return CentredMatrix.centred(self.X, center).squared_norm()

    def weighted(self, template: Template) -> Template:
        """The template with each row as often as it occurs; one that is stated so gets the number of rows."""
        if self.counts is None:
            return template
        own = self.counts if template.offset is None else self.counts[template.offset != 0]
        return replace(template, count=float(own.sum()))

    @cached_property
    def repeats(self) -> Repeats | None:
        """``counts`` with what they are multiplied by; None where every row occurs once."""
        return None if self.counts is None else Repeats(self.counts)

    def score_scatter(self, R: CentredMatrix, P: np.ndarray) -> np.ndarray:
        """P'Xc'XcP, for the centred rows R of X over their unit."""
        scaled = P * R.unit
        return matmul(scaled.T, R.normal_dot(scaled))

    def traces(self) -> tuple[float, float, float]:
        """The traces of Xc'Xc and of Xc'YY'Xc for X over a unit, and this unit, a power of two."""
        unit = unit_of(self.X)
        rows = CentredMatrix.centred(over(self.X, unit), self.ones)
        if rows.constant:
            raise ValueError(CONSTANT)
        return rows.squared_norm(), float(np.sum(rows.tdot(self.labels.Y) ** 2)), unit

    def coded(self, kind: str) -> sparse.csc_array:
        """Y as 1/0 ("01"), or as +1/-1 less the constant -1 ("pm1": 2Y), which centring removes; sparse either way.
        Numbers are not coded."""
        return self.labels.Y * 2.0 if self.codes(kind) else self.labels.Y

    def codes(self, kind: str) -> bool:
        """Whether ``coded`` doubles Y."""
        return kind == "pm1" and isinstance(self.labels, LabelMatrix)

    def class_mean(self) -> LowRank:
        """Y N^-1 Y': projection on the class means."""
        return LowRank(self.each_counted(self.labels.Y), reciprocal(self.class_sizes), sums=self.class_sizes)

    def grand_mean(self) -> LowRank:
        """m m' / nt: projection on the mean of all label copies."""
        m, total = self.each_counted(self.labels.m), self.labels.nt if self.stated is None else self.class_sizes.sum()
        return LowRank(m[:, None], np.array([1.0 / total]), sums=np.array([total]))

    def neighbors(self, K: int, *, metric: Any = "euclidean", algorithm: Any = "exact") -> Neighbors:
        """The K nearest other rows of every row."""

        def work() -> Any:
            found = nearest(self.X, K, metric=metric, algorithm=algorithm)
            self._record(algorithm).append(Searched(found.algorithm, found.recall, self.n))
            return found

        return self._kept(("neighbors", K, metric), algorithm, work)

    def search_input(self, metric: Any) -> tuple[Any, Any]:
        """X and the metric as searches take them that know the Euclidean distance, the cosine and given distances: for
        another metric the distances of all rows, kept, and "precomputed"."""
        if is_measured(metric):
            return self._kept(("distances", metric), "exact", lambda: all_distances(self.X, metric)), "precomputed"
        return as_cosine(self.X, metric)

    def pair_distances(self, i: np.ndarray, j: np.ndarray, metric: Any = "euclidean") -> np.ndarray:
        """The distance of rows i[t] and j[t] for every t."""
        X, known = self.search_input(metric)
        if known == "precomputed":
            return np.asarray(X[i, j])
        X = canonical(X, known)
        return pair_distances(X, i, X, j, known)

    def graph(
        self,
        kind: str = "undirected",
        K: int = 5,
        eps: float | None = None,
        *,
        metric: Any = "euclidean",
        algorithm: Any = "exact",
    ) -> sparse.csr_array:
        """A graph over the rows as CSR of distances; explicit zeros are edges. Kinds: proximity.graph.GRAPH_KINDS."""

        def work() -> Any:
            if kind in OF_NEIGHBORS:
                return neighbor_graph(self.neighbors(K, metric=metric, algorithm=algorithm), self.n, kind)
            return feature_graph(self.X, kind, K, eps, metric=metric, algorithm=algorithm)

        return self._kept(("graph", kind, K, eps, metric), algorithm, work)

    def target_graph(self, K: int, *, algorithm: Any = "exact") -> sparse.csr_array:
        """The undirected graph of the K rows nearest to each in the targets F, CSR of ones."""

        def work() -> Any:
            found = nearest(self.labels.Y.toarray(), K, algorithm=algorithm)
            self._record(algorithm).append(Searched(found.algorithm, found.recall, self.n))
            graph = neighbor_graph(found, self.n)
            graph.data = np.ones(graph.nnz)
            return graph

        return self._kept(("targets", K), algorithm, work)

    def friends(
        self, K: int, link: str = "undirected", *, metric: Any = "euclidean", algorithm: Any = "exact"
    ) -> sparse.csr_array:
        """Links inside classes, collapsed over label copies: sum_k max(F_k, F_k'); sum_k F_k for link="directed"."""
        return self._kept(
            ("friends", K, link, metric),
            algorithm,
            lambda: labelled.friends(
                self.X,
                self.label_matrix,
                K,
                link=link,
                metric=metric,
                algorithm=algorithm,
                record=self._record(algorithm),
            ),
        )

    def enemies(
        self,
        K: int,
        by: str = "point",
        link: str = "undirected",
        *,
        metric: Any = "euclidean",
        algorithm: Any = "exact",
    ) -> sparse.csr_array:
        """Links between classes, collapsed over label copies: K nearest enemies per row ("point") or class pairs."""

        def work() -> Any:
            X, known = self.search_input(metric)
            options = {"copies": self.copies, "enemy": self.enemy, "metric": known, "algorithm": algorithm}
            return labelled.enemies(X, self.label_matrix, K, by, link=link, record=self._record(algorithm), **options)

        return self._kept(("enemies", K, by, link, metric), algorithm, work)

    def class_neighbors(
        self, K: int, *, metric: Any = "euclidean", algorithm: Any = "exact"
    ) -> list[tuple[np.ndarray, Neighbors]]:
        """For each class its rows and their K nearest inside it, in the class's own numbering."""

        def work() -> Any:
            found = list(labelled.class_neighbors(self.X, self.label_matrix, K, metric=metric, algorithm=algorithm))
            record = self._record(algorithm)
            record += [Searched(near.algorithm, near.recall, len(index)) for index, near in found]
            return found

        return self._kept(("class", K, metric), algorithm, work)

    def search_info(self, algorithm: Any) -> tuple[str | None, float | None]:
        """(name, recall) of the searches of these rows that were asked of an algorithm: an approximate one where there
        were several, and the mean of the recalls over the lists; None for an exact one, (None, None) for none."""
        record = self._record(algorithm)
        found = [(each.recall, each) for each in record if each.recall is not None]
        if not found:
            return (record[0].algorithm if record else None), None
        lists = sum(each.lists for _, each in found)
        return found[0][1].algorithm, sum(recall * each.lists for recall, each in found) / max(lists, 1)

    def copy_pairs(self, graph: sparse.csr_array, same: bool) -> sparse.csr_array:
        """For each edge of a graph the pairs of copies of its rows with the same label, (YY')_ij, or with different
        ones, (mm' - YY')_ij; the data of the graph are not looked at."""
        i = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
        counts = labelled.shared_labels(self.label_matrix, i, graph.indices)
        if not same:
            counts = self.labels.m[i] * self.labels.m[graph.indices] - counts
        return sparse.csr_array((counts, graph.indices, graph.indptr), shape=graph.shape)

    def classes(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """For each class its rows and the weights of their residuals: ones, or 1/m_i where copies are weighted, times
        how often each row occurs."""
        weights = self.each_counted(self.ones if self.weighting in (None, "none") else reciprocal(self.labels.m))
        rows = (labelled.class_rows(self.label_matrix, k) for k in range(self.label_matrix.c))
        return [(index, weights[index]) for index in rows]

    def copied(self, weighting: str, copies: str, enemy: str) -> Rows:
        """The rows with each counted once per label, as MESD asks; the same object for the same arguments. A lone label
        makes two classes, so that every row has one copy."""
        labels = self.label_matrix if self.label_matrix.c > 1 else self.label_matrix.two_classes()
        work = lambda: replace(self, labels=labels, weighting=weighting, copies=copies, enemy=enemy)  # noqa: E731
        return self._kept(("copied", weighting, copies, enemy), None, work)

    def relabelled(self, arguments: tuple[Any, ...], setting: Any, made: Callable[[Any], Any]) -> Rows:
        """The rows with labels made of their labels; the same object for the same arguments and the same setting."""
        return self._kept(arguments, setting, lambda: replace(self, labels=made(self.labels)))

    def unlabelled(self) -> Rows:
        """The rows without their labels, the same object every time."""
        return self._kept(("unlabelled",), None, lambda: Rows(self.X, None, origin=self.origin, counts=self.counts))

    def take(self, index: np.ndarray) -> Rows:
        """Some of the rows with their labels, as rows of their own."""
        labels = None if self.labels is None else self.labels.take(index)
        origin = None if self.origin is None else self.origin.take(index)
        counts = None if self.counts is None else self.counts[index]
        return replace(self, X=self.X[index], labels=labels, origin=origin, counts=counts)

    def part(self, index: np.ndarray) -> Rows:
        """Some of the rows, whose numbers in y keep the means and scales of these rows."""
        return Rows(self.X[index], self.labels.held().take(index))

    def given_weights(self, W: Any, name: str = "weights") -> sparse.csr_array:
        """W of these rows from the parameter ``name`` of a method: a matrix for all rows given to fit, or a function
        (X, y) that makes one for these rows, y as it was given to fit, the labels of these rows."""

        def work() -> Any:
            if callable(W):
                return given_weights(call_user_function(name, W, self.X, self.origin and self.origin.y), self.n, name)
            whole = given_weights(W, self.n if self.origin is None else self.origin.n, name)
            index = None if self.origin is None else self.origin.index
            return whole if index is None else whole[index][:, index]

        return self._kept(("given weights",), W, work)

    def filled(self, rule: str | None, weights: np.ndarray | None = None) -> Rows:
        """The rows with unknown cells filled as of ``Targets.fill_unknown``, by ``weights``, or the number of times
        that each row occurs."""
        if rule is None:
            return self
        weights = self.stated if weights is None else weights
        return replace(self, labels=self.labels.fill_unknown(rule, self.X, weights))

    def labelled(self, rule: str | None = None) -> tuple[Rows, np.ndarray]:
        """The rows whose labels are all known, as rows of their own, and their index; the same objects every time. With
        a ``rule``: the rows with a known label, unknown cells filled by it."""
        return self._kept(("labelled", rule), None, lambda: self._labelled(rule))

    def _labelled(self, rule: str | None) -> tuple[Rows, np.ndarray]:
        labels = self.label_matrix
        if labels.unknown is None:
            return self, np.arange(self.n)
        index = np.flatnonzero(labels.rows_known if rule is None else labels.rows_any)
        return self.take(index).filled(rule), index

    @cached_property
    def with_label(self) -> tuple[Rows, np.ndarray]:
        """The rows that have a label, as rows of their own, and their index: under MESD the others have no copies and
        are nobody's neighbours. Their searches count as searches of these rows."""
        if not isinstance(self.labels, LabelMatrix):
            return self, np.arange(self.n)
        index = np.flatnonzero(self.labels.m > 0)
        if len(index) == self.n:
            return self, index
        part = self.take(index)
        vars(part)["_records"] = self._records
        return part, index

    @property
    def label_matrix(self) -> LabelMatrix:
        """The labels; a ValueError where there are none."""
        if self.labels is None:
            raise ValueError(
                "labels=None is not allowed here: friends, enemies and classes need labels; pass y to fit."
            )
        return self.labels

    @cached_property
    def _searches(self) -> dict[tuple[Any, ...], Any]:
        return {}

    @cached_property
    def _records(self) -> dict[str | int, list[Searched]]:
        return {}

    def _record(self, algorithm: Any) -> list[Searched]:
        """The searches so far that were asked of an algorithm."""
        return self._records.setdefault(_named(algorithm), [])

    def _weighed_entries(self, W: sparse.csr_array, same_class: bool) -> sparse.csr_array:
        scale, i = reciprocal(self.labels.m), np.repeat(np.arange(self.n), np.diff(W.indptr))
        data = W.data * (scale[i] * scale[W.indices])
        if self.weighting == "printed" and same_class:
            data *= labelled.shared_labels(self.label_matrix, i, W.indices)
        return sparse.csr_array((data, W.indices, W.indptr), shape=W.shape)

    def _kept(self, arguments: tuple[Any, ...], algorithm: Any, work: Callable[[], Any]) -> Any:
        """``work()``, done once for the same arguments; algorithms that are not names are compared by identity."""
        key = (*arguments, _named(algorithm))
        if key not in self._searches:
            self._searches[key] = (work(), algorithm)
        return self._searches[key][0]

    def _weighed_sums(self, W: LowRank) -> np.ndarray | None:
        """F'1 of the weighed factor, where it is not that of its rows."""
        return None

    def _weighed_shares(self) -> np.ndarray | None:
        """Y'M^-1 Y, where it is not that of these rows."""
        return None

    def weigh(self, W: Any, same_class: bool = True) -> Any:
        """W itself; W / (m m') for "mimj"; (YY') o W / (m m') for "printed" where W links rows of one class. W is a
        LowRank or Sparse operator or a CSR matrix, and so is the result. Always before Laplacian().
        ``same_class=False``: W links all rows, whatever their labels."""
        if self.weighting in (None, "none"):
            return W
        if sparse.issparse(W):
            return self._weighed_entries(sparse.csr_array(W), same_class)
        graph = W.graph()
        if graph is not None:
            return Sparse(self._weighed_entries(graph, same_class))
        scale = sparse.diags_array(reciprocal(self.labels.m))
        factor = scale @ sparse.csc_array(W.F)
        if self.weighting == "mimj" or not same_class:
            return LowRank(sparse.csc_array(factor), W.S, sums=self._weighed_sums(W))
        return _times_shared_labels(LowRank(factor, W.S), self.labels.Y, self._weighed_shares())


@dataclass(frozen=True)
class BlockRows(Rows):
    """The rows of a block, on which a method states its template for the rows of all blocks. ``n``, and what the labels
    add up to, are those of all rows (``labels`` is a LabelBlock); ``ones`` and ``mass`` have an entry for each row of
    the block. ``scatter`` holds the sums of squares of all rows, about 0 and about their mean, and ``dependence`` that
    of Xc'Y, once they are known."""

    count: float = 0
    scatter: tuple[float, float] = (np.nan, np.nan)
    dependence: float = np.nan

    @property
    def n(self) -> Any:
        """Rows of all blocks."""
        return self.count

    @cached_property
    def ones(self) -> np.ndarray:
        """Uniform weights of the rows of this block."""
        return np.ones(self.X.shape[0])

    def _weighed_sums(self, W: LowRank) -> np.ndarray | None:
        return self.labels.shares if W.F is self.labels.Y else np.array([float(self.n - self.labels.bare)])

    def _weighed_shares(self) -> np.ndarray | None:
        return self.labels.shared

    def squared_norm(self, center: np.ndarray | None) -> float:
        """The sum of squares of the rows of all blocks; NaN before it is known."""
        return self.scatter[0 if center is None else 1]

    def traces(self) -> tuple[float, float, float]:
        return self.scatter[1], self.dependence, 1.0


class SeenRows:
    """Finds rows that are identical to a training row, by exact 64-bit fingerprints; of equal rows the first counts."""

    def __init__(self, X: Any):
        self.multipliers = multipliers(X.shape[1])
        prints = fingerprints(X, self.multipliers)
        self.prints, self.first = np.unique(prints, return_index=True)

    def find(self, X: Any) -> np.ndarray:
        """For each row its index among the training rows, or -1."""
        prints = fingerprints(X, self.multipliers)
        place = np.minimum(np.searchsorted(self.prints, prints), len(self.prints) - 1)
        return np.where(self.prints[place] == prints, self.first[place], -1)


def _named(algorithm: Any) -> str | int:
    """An algorithm as a key: its name, or the object that it is."""
    return algorithm if isinstance(algorithm, str) else id(algorithm)


def reciprocal(w: np.ndarray) -> np.ndarray:
    """1/w with 1/0 := 0, also for a w so small that 1/w overflows."""
    return np.divide(1.0, w, out=np.zeros_like(w, dtype=np.float64), where=np.abs(w) > 1.0 / np.finfo(float).max)


def _times_shared_labels(W: LowRank, Y: sparse.csc_array, shared: np.ndarray | None) -> LowRank:
    """W o YY' as a low-rank operator: one factor column for each column of W's factor and each label that meets it.
    ``shared``: sums of these columns, in rows of a block those of all rows."""
    columns, weights, sums = [], [], []
    F, S = sparse.csc_array(W.F), W.S
    for j in range(F.shape[1]):
        product = sparse.csc_array(Y.multiply(F[:, [j]]))
        used = np.flatnonzero(np.diff(product.indptr) if shared is None else shared[j])
        columns.append(product[:, used])
        weights.append(np.full(len(used), 1.0 if S is None else S[j]))
        if shared is not None:
            sums.append(shared[j, used])
    factor = sparse.csc_array(sparse.hstack(columns))
    return LowRank(factor, np.concatenate(weights), sums=None if shared is None else np.concatenate(sums))
