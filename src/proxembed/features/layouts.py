"""Layouts: places of rows in one or two dimensions by their neighbours, and the place of a new row among them.

openTSNE and umap-learn are imported here, when they are needed; scikit-learn's t-SNE serves without them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from joblib import cpu_count, effective_n_jobs
from threadpoolctl import threadpool_limits

from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.operators.structured import Centering
from proxembed.algebra.pencil.eigen import solve
from proxembed.algebra.pencil.symmetric import descending, fix_signs, lead_signs
from proxembed.algebra.template import Template
from proxembed.execute.executor import own_configuration
from proxembed.proximity.backends import nearest
from proxembed.splits.splits import procrustes_frame

COMPONENTS = "components"
TITLES = {
    "opentsne": "laid out by t-SNE of openTSNE",
    "umap": "laid out by UMAP of umap-learn",
    "sklearn": "laid out by t-SNE of scikit-learn",
    COMPONENTS: "the first components, not laid out",
}
LAYOUTS = tuple(TITLES)
PERPLEXITY, UMAP_NEIGHBORS = 30, 15
FEW = 10  # rows below which a layout has no neighbourhoods to show
MOST_FEATURES = 30  # principal scores of the features that are laid out beside the components
PLACED_BY = 15  # neighbours that place a new row
WIDTH, SPACING = 3.0, 5  # the unit of distances on the map, in median distances of the 5th neighbour
STEPS, BLOCK = 25, 4096
STEPS_ON = 250  # of t-SNE from places of an earlier map
ONE_THREAD = 2000  # rows up to which the threads of scikit-learn's t-SNE, on a busy machine, wait more than they work


def tsne_installed() -> bool:
    """Whether openTSNE can be imported; nothing is imported to find out."""
    return find_spec("openTSNE") is not None


def umap_installed() -> bool:
    """Whether umap-learn can be imported; nothing is imported to find out."""
    return find_spec("umap") is not None


def missing_library(layout: str) -> str | None:
    """Name of the library of a layout, if it is not installed."""
    library, installed = {
        "opentsne": ("openTSNE", tsne_installed),
        "umap": ("umap-learn", umap_installed),
        "sklearn": ("scikit-learn", lambda: True),
        COMPONENTS: ("", lambda: True),
    }[layout]
    return None if installed() else library


def check_installed(name: str, layout: str) -> None:
    """Raise an ImportError if the library of a layout, which ``name`` needs, is not installed."""
    if (library := missing_library(layout)) is not None:
        raise ImportError(f"{name} needs {library}; install it (pip install 'proxembed[maps]').")


def layout_named(layout: str) -> str:
    """The layout that "auto" stands for: openTSNE, else umap-learn, else scikit-learn's t-SNE; any other name
    itself."""
    if layout != "auto":
        return layout
    return "opentsne" if tsne_installed() else "umap" if umap_installed() else "sklearn"


def perplexity_of(n: int, wanted: float = PERPLEXITY) -> float:
    """The perplexity of t-SNE on n rows: ``wanted``, at most a third of the other rows, at least 1."""
    return max(1.0, min(wanted, (n - 1) / 3))


def opentsne_map(
    rows: Any, n_components: int, perplexity: float, seed: Any, n_jobs: int | None = 1, begun: np.ndarray | None = None
) -> Any:
    """The fitted ``openTSNE.TSNEEmbedding`` of rows; without exaggeration from where they have ``begun``.
    [vandermaaten2008tsne]"""
    tsne = import_module("openTSNE").TSNE(
        n_components=n_components,
        perplexity=perplexity_of(rows.shape[0], perplexity),
        initialization=_start(rows, n_components),
        random_state=seed,
        n_jobs=1 if n_jobs is None else min(effective_n_jobs(n_jobs), cpu_count()),
    )
    if begun is None:
        return tsne.fit(rows)
    found = tsne.prepare_initial(rows)
    found[:] = begun
    return found.optimize(STEPS_ON, momentum=tsne.final_momentum)


def _start(rows: Any, n_components: int) -> str:
    """Where both libraries start: the principal scores, or places at random where there are too few of them."""
    return "pca" if min(rows.shape) >= n_components else "random"


def umap_model(n: int, n_components: int, n_neighbors: int, seed: Any, **options: Any) -> Any:
    """An unfitted ``umap.UMAP`` for n rows; on one thread, as a seed asks for.  [mcinnes2018umap]"""
    return import_module("umap").UMAP(
        n_components=n_components, n_neighbors=min(n_neighbors, n - 1), random_state=seed, n_jobs=1, **options
    )


@dataclass(frozen=True)
class Begun:
    """Where the rows of a map are at its start, and which of them are ``known`` from an earlier map, onto whose places
    the map is carried in the end."""

    places: np.ndarray
    known: np.ndarray

    def carried(self, places: np.ndarray) -> np.ndarray:
        """A map of these rows, turned, scaled and shifted so that known rows are nearest to where they were."""
        if not self.known.any():
            return places
        return procrustes_frame(places[self.known], self.places[self.known]).carry(places)


@dataclass(frozen=True)
class NeighborMap:
    """A map of the rows of an embedding, into which new rows are placed one by one. ``Z`` is the embedding as it was
    laid out: less its ``mean``, times ``factors`` (signs over one scale), in single precision. ``places`` are the
    places of its rows, ``unit`` their spacing."""

    mean: np.ndarray
    factors: np.ndarray
    Z: np.ndarray
    places: np.ndarray
    unit: float

    @classmethod
    def of(
        cls,
        Z: np.ndarray,
        layout: str,
        n_components: int,
        seed: int,
        n_jobs: int | None = None,
        begun: Begun | None = None,
    ) -> NeighborMap:
        """The map of the rows of Z; parameters as of ``lay_out``. Rounding, the signs of the components and the order
        of the rows do not change it. ``begun``: the rows at the start."""
        mean = Z.mean(axis=0)
        factors = lead_signs(Z - mean) / (float(np.sqrt(np.mean((Z - mean) ** 2))) or 1.0)
        Z = ((Z - mean) * factors).astype(np.float32).astype(np.float64)
        order, places = np.lexsort(Z.T[::-1]), np.empty((len(Z), n_components))
        if begun is None:
            places[order] = lay_out(Z[order], layout, n_components, seed, n_jobs)
        else:
            places[order] = lay_out(Z[order], layout, n_components, seed, n_jobs, begun.places[order])
            places = begun.carried(places)
        return cls(mean, factors, Z, places, spacing(places))

    def place(self, Z: np.ndarray) -> np.ndarray:
        """The places (m, q) of new rows Z (m, k), each by its own nearest rows."""
        return place_new((Z - self.mean) * self.factors, self.Z, self.places, self.unit)


@dataclass(frozen=True)
class BesideFeatures:
    """What lays out components Z and principal scores S of the features side by side: [Z, w S], each about its mean and
    over the mean norm of its rows, as the rows of fit have them. ``axes`` (d, k) and ``centre`` (d,) make S of X;
    ``level`` (q,) is the mean of Z; ``factors``: of both parts."""

    axes: np.ndarray
    centre: np.ndarray
    level: np.ndarray
    factors: tuple[float, float]

    @classmethod
    def of(cls, X: Any, Z: np.ndarray, weight: float) -> BesideFeatures:
        """Of distinct rows X (n, d), array or CSR, at least two, with components Z (n, q); at most 30 scores."""
        n, d = X.shape
        found = solve(Template(Centering(), offset=np.ones(n)), X, min(MOST_FEATURES, n - 1, d))
        axes, centre = np.ascontiguousarray(found.P[:, : found.bound]), np.asarray(found.mean)
        level = Z.mean(axis=0)
        S = CentredMatrix(X, centre).dot(axes, np.float64)
        return cls(axes, centre, level, (1.0 / _mean_norm(Z - level), weight / _mean_norm(S)))

    def __call__(self, X: Any, Z: np.ndarray) -> np.ndarray:
        """Both parts of rows X, (m, q + k)."""
        S = CentredMatrix(X, self.centre).dot(self.axes, np.float64)
        return np.hstack([(Z - self.level) * self.factors[0], S * self.factors[1]])

    def times(self, components: float, features: float) -> BesideFeatures:
        """With both parts multiplied."""
        return replace(self, factors=(self.factors[0] * components, self.factors[1] * features))


def _mean_norm(V: np.ndarray) -> float:
    """The mean length of rows; 1 where all are 0."""
    return float(np.sqrt(np.einsum("nq,nq->n", V, V)).mean()) or 1.0


@dataclass(frozen=True)
class FirstComponents:
    """The first components of an embedding as a map, on which nothing is laid out. ``places`` are those of its rows."""

    places: np.ndarray

    def place(self, Z: np.ndarray) -> np.ndarray:
        """The places (m, q) of new rows Z (m, k): their first q components."""
        return Z[:, : self.places.shape[1]]


@own_configuration()
def lay_out(
    Z: np.ndarray,
    layout: str,
    n_components: int,
    seed: int,
    n_jobs: int | None = None,
    begun: np.ndarray | None = None,
) -> np.ndarray:
    """Places of the rows of an embedding by their neighbours in it; from where they have ``begun``, (n, q)."""
    n = len(Z)
    if n < FEW:
        return principal_scores(Z, n_components)
    if layout == "opentsne":
        return np.asarray(opentsne_map(Z, n_components, PERPLEXITY, seed, n_jobs, begun), dtype=np.float64)
    if layout == "umap":
        init: Any = "spectral" if n > 10 * n_components else _start(Z, n_components)
        model = umap_model(n, n_components, UMAP_NEIGHBORS, seed, init=init if begun is None else begun)
        return np.asarray(model.fit_transform(Z), dtype=np.float64)
    from sklearn.manifold import TSNE

    settings: dict[str, Any] = {"init": begun, "early_exaggeration": 1.0, "learning_rate": max(n / 48, 50.0)}
    if begun is None:
        start = principal_scores(Z, n_components)
        settings = {"init": start * (1e-4 / (start[:, 0].std() or 1.0))}
    tsne = TSNE(n_components, perplexity=perplexity_of(n), random_state=seed, n_jobs=n_jobs, **settings)
    with threadpool_limits(1 if n <= ONE_THREAD else None, "openmp"):
        return tsne.fit_transform(Z).astype(np.float64)


def principal_scores(Z: np.ndarray, k: int) -> np.ndarray:
    """The first k principal scores of the rows of Z, the largest entry of each positive; zeros beyond the rank."""
    centred = Z - Z.mean(axis=0)
    V = descending(centred.T @ centred)[1][:, :k]
    scores = np.zeros((len(Z), k))
    scores[:, : V.shape[1]] = centred @ V
    return fix_signs(scores)


def spacing(places: np.ndarray) -> float:
    """The unit of distances on a map: three times the median distance of a place to its 5th neighbour; 1 for 0."""
    if len(places) < 2:
        return 1.0
    return WIDTH * float(np.median(nearest(places, min(SPACING, len(places) - 1)).distance[:, -1])) or 1.0


def place_new(Z_new: np.ndarray, Z: np.ndarray, places: np.ndarray, unit: float) -> np.ndarray:
    """The places of new rows on the map of rows Z: each by its own nearest rows, whatever comes with it. A new row is
    placed where sum_j p_j log(1 + |y - y_j|^2 / unit^2) is least, y_j the places of its 15 nearest rows and p_j = (1 -
    d_j^2 / d^2)^2 the weight of one at distance d_j, d the distance of the next row. Weights fall to 0 where a row
    leaves the neighbours, so that the place changes continuously, and the logarithm follows the majority of the
    neighbours: a row is not put into the void between two clusters. The search starts at the best of the neighbours'
    places and takes 25 steps of reweighted means."""
    out = np.empty((len(Z_new), places.shape[1]))
    for start in range(0, len(Z_new), BLOCK):
        part = slice(start, min(start + BLOCK, len(Z_new)))
        index, p = _weighted_neighbors(Z_new[part], Z)
        out[part] = _robust_centre(places[index], p, unit**2)
    return out


def _weighted_neighbors(Z_new: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The nearest rows, (m, K), and their weights, which fall to 0 at the distance of the next row."""
    found = nearest(Z, min(PLACED_BY + 1, len(Z)), queries=Z_new)
    if found.K == 1:
        return found.index, np.ones(found.index.shape)
    square = (found.distance / np.maximum(found.distance[:, -1:], np.finfo(float).tiny)) ** 2
    p = np.maximum(1.0 - square[:, :-1], 0.0) ** 2
    p[p.sum(axis=1) == 0] = 1.0  # all at one distance
    return found.index[:, :-1], p / p.sum(axis=1, keepdims=True)


def _robust_centre(Y: np.ndarray, p: np.ndarray, square: float) -> np.ndarray:
    """The best of the places Y (m, K, q) by the weighted sum of log(1 + distance^2 / square), then steps down."""
    gaps = np.log1p(((Y[:, :, None] - Y[:, None]) ** 2).sum(axis=3) / square)
    y = Y[np.arange(len(Y)), np.einsum("mj,mij->mi", p, gaps).argmin(axis=1)]
    for _ in range(STEPS):
        w = p / (1.0 + ((Y - y[:, None]) ** 2).sum(axis=2) / square)
        y = np.einsum("mj,mjq->mq", w, Y) / w.sum(axis=1, keepdims=True)
    return y
