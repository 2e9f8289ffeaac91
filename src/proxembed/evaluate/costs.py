"""What steps of a search cost, forecast from the sizes of the data by a table of measured coefficients.

One unit of work is one second of a core on which the probe of ``machine_speed`` takes 7.5 ms; ``bench/costs.py``
measures the table (``costs.json``). A forecast is a sum of terms with coefficients of at least 0; a factor of 2 is
within its error.
"""

import json
import time
from collections.abc import Callable, Iterable
from functools import cache
from importlib.resources import files
from math import floor, log2
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from proxembed.algebra.pencil.linear import DENSE_LIMIT
from proxembed.algebra.pencil.symmetric import descending
from proxembed.classify.ridge import LOO_ROWS
from proxembed.estimator.catalogue import settings, title_of
from proxembed.features.kernel import TUNING_ROWS
from proxembed.features.layouts import COMPONENTS
from proxembed.features.leaves import DENSE_FROM, MOST_LABELS, SCORES
from proxembed.methods.around import ReadoutAxes, Scaled, with_size
from proxembed.methods.dependence import OPLS
from proxembed.methods.forest import RIDGE_FOLDS, RIDGE_TREES, ForestLeaves
from proxembed.methods.kernelized import Kernelized
from proxembed.methods.layout import FOLDS, Layout, method_for
from proxembed.methods.out_of_fold import BASES
from proxembed.methods.target_space import TargetSpace
from proxembed.methods.views import GRID, SCORE_FOLDS, WEIGHT_FOLDS, Views
from proxembed.methods.views import TUNING_ROWS as OF_VIEWS
from proxembed.tables import RawRows
from proxembed.targets.labels import MANY_LABELS

# Most rows of a kernel of all rows, and the prototypes of one of more rows. A fit of 500 features takes 4.4 CPU seconds
# at 5,000 rows and 24 at 10,000; 2,500 took 31 when each width was decomposed on all rows. 6,000: a buffer of 288 MB.
# Fewer prototypes are neither cheaper below that nor as precise (tmc2007, 5,000 rows: .611, and .607 of 1,000).
KERNEL_ROWS, PROTOTYPES = 6000, 1000
# Seconds of leave-one-out of a ridge regression by its smaller side: for each cube of this side (of a kernel too), and
# for each product that a Gram matrix of wide rows is made of (bench/target_bases.py).
LEFT_OUT, SIDE_ENTRY = 1.6e-11, 2e-10
INTERPOLATED = 10_000  # rows from which t-SNE of openTSNE interpolates
MAPPED = 2.2e-10  # seconds for each p^3 of the decomposition that maps a kernel, where a method needs its coordinates
ITERATED = 3600  # side of a decomposition that takes as long as the routes above ``DENSE_LIMIT`` (reuters, 5,400 rows)
# Seconds of a tree: however few its rows; and for each row and halving of these, per target, per entry that the row
# stores of the features that a split may choose from, and for both. Of ten real sets, dense and sparse, of 150 to 8,000
# rows, they are within a factor of 2 of the time measured (bench/forests.py).
TREE, TREE_TARGET, TREE_ENTRY, TREE_BOTH = 5e-4, 1.7e-8, 1e-8, 2e-10
MADE_DENSE = 0.65  # of that time: where trees grow on sparse rows as dense ones
LEAF_CUBE, LEAF_ENTRY = 2.5e-11, 5e-7  # seconds of OPLS on leaves for each n^3, and for each entry of their rows
LABEL_MODEL = 2e-3  # seconds of a model of scikit-learn for one label
LABEL_ENTRY = 2e-8  # and for each entry of its rows
FOREST_VIEWS, FOREST = ("leaves", "scores"), "forest"
USUAL_FOREST = FOREST, 2, "sqrt", "random"  # of ``TargetSpace``, of the views that are named, and of forest scores
TERMS = ("1", "nw", "nwq", "q3", "nwc", "nc", "npw", "npp", "p3", "npc", "nnw", "nnc", "nn", "n3", "t3")
LINEAR = TERMS[:6]
KERNEL = (*LINEAR, *TERMS[6:10], "t3")  # t: the rows that width and ridge are chosen on
GRAPH = (*LINEAR, *TERMS[10:14])


class Shape(NamedTuple):
    """Sizes of what is worked on: rows, features, entries of a row that are stored, labels, prototypes."""

    n: int
    d: int
    w: float
    c: int
    p: int | None = None
    grouped: bool = False  # whether rows are in groups, which the folds of an honest map keep together

    @property
    def stored(self) -> int:
        """Entries that all rows store."""
        return round(self.n * self.w)

    def rows(self, n: int) -> "Shape":
        """The same of other rows."""
        return self._replace(n=max(int(n), 2))

    def terms(self) -> dict[str, float]:
        """The value of every term."""
        n, d, w, c = self.n, self.d, self.w, self.c
        most = self.p or (PROTOTYPES if n > KERNEL_ROWS else n)
        p, q = min(n, most), min(n, d) if min(n, d) <= DENSE_LIMIT else ITERATED
        chosen = n * p * w * (p < n)  # prototypes are chosen by k-means; all rows are none that are chosen
        values = (1, n * w, n * w * q, q**3, n * w * c, n * c, chosen, n * p * p, p**3, n * p * c)
        tuned = min(n, TUNING_ROWS) ** 3
        return dict(zip(TERMS, (*values, n * n * w, n * n * c, n * n, n**3, tuned), strict=True))


def shape_of(X: Any, n_labels: int) -> Shape:
    """The shape of features of any kind, and a number of labels."""
    n, d = X.shape
    if isinstance(X, RawRows) and X.example is not None:
        example = shape_of(X.example, n_labels)
        return Shape(n, example.d, example.w, n_labels)
    return Shape(n, d, float(X.nnz / max(n, 1) if sp.issparse(X) else d), n_labels)


@cache
def table() -> dict[str, dict[str, float]]:
    """Coefficients of each step: {step: {term: units of work}}."""
    return json.loads(files(__package__).joinpath("costs.json").read_text())


def step_work(step: str, shape: Shape | dict[str, float]) -> float:
    """Work of a step of the table, for a shape or for the values of its terms."""
    values = shape.terms() if isinstance(shape, Shape) else shape
    return sum(seconds * values[term] for term, seconds in table()[step].items())


def fit_work(estimator: Any, shape: Shape) -> float:
    """Work of a fit of an embedding for all sizes, and of the embedding of its rows."""
    if isinstance(estimator, Layout):
        return map_work(estimator, shape)
    if isinstance(estimator, ReadoutAxes):
        return fit_work(estimator.member(), shape) + label_work("readout", shape.n, shape.c, shape.c)
    if isinstance(estimator, Views):
        return views_work(estimator, shape)
    if isinstance(estimator, TargetSpace):
        return sum(target_works(estimator, shape).values())
    if type(estimator) is ForestLeaves:
        grown, d, w = _view_work(estimator, estimator.n_estimators, shape)
        method, on_leaves = estimator.member("method"), shape._replace(d=d, w=w)
        opls = LEAF_CUBE * shape.n**3 + LEAF_ENTRY * on_leaves.stored  # its ridge is given, so nothing is decomposed
        work = grown + (opls if type(method) is OPLS else fit_work(method, on_leaves))
        return work * (1 + RIDGE_FOLDS * min(1.0, RIDGE_TREES / estimator.n_estimators) * (estimator.ridge == "folds"))
    if isinstance(estimator, Scaled):
        work = fit_work(estimator.member(), shape) + (estimator.pca_var < 1) * step_work("PCA", shape)
        return work + (estimator.kind == "quantile") * step_work("step:quantile", shape)
    title, known = title_of(estimator), table()
    shape = shape._replace(c=min(shape.c, MANY_LABELS))  # more labels are sparse: OPLS, CCA and MDDM take no longer
    prototypes = getattr(estimator, "n_prototypes", None)
    shape = shape if prototypes is None else shape._replace(p=int(prototypes))
    inner = f"MESD({title})", title.removeprefix("MESD(").removesuffix(")")
    for name in (title, *inner, f"{type(estimator).__name__}(OPLS)"):
        if name in known:
            mapped = isinstance(estimator, Kernelized) and name != title  # its A need not be of low rank
            return step_work(name, shape) + mapped * kernel_map_work(shape) + tuning_work(estimator, shape.n)
    methods = [step_work(name, shape) for name in known if not name.startswith(("step:", "many:"))]
    return float(np.quantile(methods, 0.75))


def fit_parts(estimator: Any, shape: Shape) -> dict[Any, float]:
    """Work of a fit by its parts, each by what is fitted: a part that another method has too is fitted once, where the
    fits of both share it (``Part.shared``, ``Part.latest``). A method and its form with weighted axes have one in
    common, methods on a forest of the same settings the forest."""
    if isinstance(estimator, ReadoutAxes):
        parts = fit_parts(estimator.member(), shape)
        return parts | {("weighted axes", *parts): label_work("readout", shape.n, shape.c, shape.c)}
    named = settings(with_size(estimator, None))  # one fit serves all sizes
    own, whole = (title_of(estimator), repr(named)), fit_work(estimator, shape)
    forest = forest_of(estimator)
    if forest is None:
        return {own: whole}
    grown = forest_work(shape, int(estimator.n_estimators))
    return {forest: grown, own: max(whole - grown, 0.0)}


def forest_of(estimator: Any) -> tuple[Any, ...] | None:
    """The settings of the forest that a method grows on the rows beside the number of its trees: of fewer trees it is
    the first ones of a larger forest. None: it grows none."""
    known: tuple[Any, ...] = USUAL_FOREST
    if isinstance(estimator, TargetSpace):
        grows = estimator.bases is None or "forest" in estimator.bases
    elif isinstance(estimator, Views):
        grows = any(isinstance(view, str) and view in FOREST_VIEWS for view in estimator.views)
    else:
        grows = type(estimator) is ForestLeaves
        if grows:
            known = FOREST, estimator.min_samples_leaf, estimator.max_features, estimator.forest
    return (*known, estimator.random_state) if grows else None


def fits_work(estimators: Iterable[Any], shape: Shape, kept: Iterable[Any] = ()) -> float:
    """Work of fits on the same rows, of which each part counts once; those of ``kept``, methods whose fits are there
    already, do not count."""
    known, every = _parts_of(kept, shape), _parts_of(estimators, shape)
    return sum(max(work - known.get(part, 0.0), 0.0) for part, work in every.items())


def _parts_of(estimators: Iterable[Any], shape: Shape) -> dict[Any, float]:
    """The parts of several fits, each at the largest of its works: of a forest that of the most trees."""
    found: dict[Any, float] = {}
    for estimator in estimators:
        for part, work in fit_parts(estimator, shape).items():
            found[part] = max(work, found.get(part, 0.0))
    return found


def tuning_work(estimator: Any, n: int) -> float:
    """Work of a choice of width and ridge on another number of rows than the default."""
    own: int = getattr(estimator, "tuning_rows", None) or TUNING_ROWS
    return table()["Kernelized(OPLS)"]["t3"] * (min(n, own) ** 3 - min(n, TUNING_ROWS) ** 3)


def kernel_map_work(shape: Shape) -> float:
    """Work of the decomposition of a kernel matrix."""
    return MAPPED * shape.terms()["p3"]


def target_works(estimator: TargetSpace, shape: Shape) -> dict[str, float]:
    """Work of each base of ``TargetSpace`` by its name, and of joining them and placing the rows ("stack", with the
    neighbours, which are looked for in the same way)."""
    n, side = shape.n, min(shape.n, shape.d)
    ridge = step_work("OPLS", shape)
    if side > LOO_ROWS:  # the rows that the penalty is chosen on
        ridge = step_work("OPLS", shape.rows(LOO_ROWS)) + SIDE_ENTRY * n * shape.w * side
    every: dict[str, float] = {
        "ridge": ridge + LEFT_OUT * side**3,
        "kernel": step_work("Kernelized(OPLS)", shape) + LEFT_OUT * shape.terms()["p3"],
        "forest": forest_work(shape, int(estimator.n_estimators)),
        "neighbors": 0.0,
    }
    names = estimator.bases or [name for name, base in BASES.items() if base.fits(n, shape.d)]
    return {name: every[name] for name in names} | {"stack": step_work("step:targets", shape)}


def views_work(estimator: Views, shape: Shape) -> float:
    """Work of learning views of rows, and of the method on them; on folds too, where these choose the weights."""
    learned, width, stored = 0.0, 0, 0.0
    if forest_of(estimator) is not None:  # leaves and scores have one
        learned = forest_work(shape, int(estimator.n_estimators))
    for view in estimator.views:
        work, d, w = _view_work(view, int(estimator.n_estimators), shape)
        learned, width, stored = learned + work, width + d, stored + w
    method = estimator.member("method")
    if isinstance(method, Kernelized) and method.tuning_rows is None:
        method.tuning_rows = OF_VIEWS
    work = fit_work(method, shape._replace(d=width, w=stored))
    folds = WEIGHT_FOLDS if isinstance(estimator.weights, str) else 0
    return learned + work + folds * (learned + len(GRID) * work)


def _view_work(view: Any, trees: int, shape: Shape) -> tuple[float, int, float]:
    """Work of one view beside the forest of those that are named, its columns, and the entries of a row that it
    stores."""
    n, d, c = shape.n, shape.d, shape.c
    if isinstance(view, str) and view == "features":
        return 0.0, d, shape.w
    if isinstance(view, Kernelized) or view == "kernel":
        p = min(n, getattr(view, "n_prototypes", None) or n)
        return step_work("Kernelized(OPLS)", shape._replace(p=p)) + kernel_map_work(shape._replace(p=p)), p, float(p)
    if view == "scores":
        return 0.0, c, float(c)
    if isinstance(view, ForestLeaves) or view == "leaves":
        trees = int(getattr(view, "n_estimators", trees))
        return forest_work(shape, trees) * (view != "leaves"), trees * max(n // 4, 1), float(trees)
    return (SCORE_FOLDS + 1) * c * (LABEL_MODEL + LABEL_ENTRY * n * shape.w), c, float(c)


def forest_work(shape: Shape, trees: int) -> float:
    """Work of growing the forest of leaves: for the labels, or the leading scores of many."""
    return forest_seconds(shape._replace(c=grown_labels(shape.c)), trees)


def forest_seconds(shape: Shape, trees: int) -> float:
    """Forecast seconds of growing trees for c targets. A split may choose from the root of the number of features, of
    which a row stores w / d."""
    entries = shape.w / np.sqrt(shape.d)
    each = TREE_TARGET * shape.c + entries * (TREE_ENTRY + TREE_BOTH * shape.c)
    each *= MADE_DENSE if DENSE_FROM * shape.d <= shape.w < shape.d else 1.0
    return float(trees * (TREE + shape.n * np.log2(shape.n + 1) * each))


def grown_labels(c: int) -> int:
    """The targets that trees of leaves are grown on: labels, or the leading scores of many."""
    return c if c <= MOST_LABELS else SCORES


def map_work(layout: Layout, shape: Shape) -> float:
    """Work of a fit of a layout: of the method, on folds too for an honest map (TargetSpace has its own form without
    them, but of groups), of the principal scores of the features, and of the map."""
    plane = layout.layout == COMPONENTS
    method = method_for(shape.n, shape.d, not plane) if layout.method is None else layout.member()
    refits = FOLDS * bool(layout.honest and (shape.grouped or not isinstance(method, TargetSpace)))
    work = (1 + refits) * fit_work(method, shape)
    if plane:
        return work
    return work + layout.lays_out_features * step_work("PCA", shape) + layout_work(shape.n)


def layout_work(n: int) -> float:
    """Work of a map of n rows by their neighbours; from 10,000 rows t-SNE interpolates, and takes time by each row."""
    return step_work("step:layout", Shape(min(n, INTERPOLATED), 1, 1, 1)) * max(1.0, n / INTERPOLATED)


def label_work(step: str, n: int, k: int, n_labels: int) -> float:
    """Work of a step of all labels from k components; thousands of labels have steps of their own."""
    return step_work(f"{'many' if n_labels > MANY_LABELS else 'step'}:{step}", Shape(n, k, k, n_labels))


def readout_work(n: int, m: int, k: int, n_labels: int, reads: str = "all") -> float:
    """Work of scoring an embedding of k components: ridge, neighbours, average precision."""
    near = {"1": 1.0, "nn": float(m * (n + m))}  # training rows, and held-out rows among themselves
    ridge, neighbors = label_work("readout", n, k, n_labels), step_work("step:neighbours", near)
    precision = label_work("precision", m, k, n_labels)  # of ridge scores, and of neighbours' shares
    return {"scores": ridge + precision, "neighbors": neighbors}.get(reads, ridge + neighbors + 2 * precision)


def decision_work(n: int, n_labels: int, k: int) -> float:
    """Work of the cuts and probabilities of one embedding, from scores of n training rows."""
    return label_work("decisions", n, k, n_labels)


def redrawn_work(m: int, n_labels: int) -> float:
    """Work of the interval of one gain, from scores of m test rows."""
    return label_work("redrawn", m, 1, n_labels)


def last_work(shape: Shape) -> float:
    """Work of the read-out of the saved model, with its cuts."""
    return step_work("many:last fit" if shape.c > MANY_LABELS else "step:last fit", shape)


def all_features_work(shape: Shape) -> float:
    """Work of the read-out of all features."""
    return step_work("many:readout" if shape.c > MANY_LABELS else "step:all features", shape)


PROBE = 0.0075  # seconds that the probe takes on the machine whose seconds are the units of work
PROBES = 9


def speed_probe(clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds, on one core, of what fits are made of: a decomposition, products, and passes over memory."""
    draw = np.random.default_rng(0).normal(size=(150, 150))
    values, sums = np.ones(400_000), np.ones(400_000)
    with threadpool_limits(1, "blas"):
        started = clock()
        descending(draw @ draw.T)
        for _ in range(5):
            draw @ draw.T
            np.cumsum(values, out=sums)
        return clock() - started


@cache
def machine_speed() -> float:
    """Units of work a second of one core does here, rounded down to a power of the square root of 2."""
    probes = [speed_probe() for _ in range(PROBES)]
    return 2.0 ** (floor(2 * log2(1.1 * PROBE / float(np.median(probes)))) / 2)
