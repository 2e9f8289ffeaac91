"""What the test rows say of a chosen embedding: maps beside rivals and shuffled labels, each label's score."""

import functools
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from proxembed.algebra.shared import sharing
from proxembed.classify.thresholds import tune_thresholds
from proxembed.estimator.base import Estimator
from proxembed.estimator.catalogue import title_of
from proxembed.execute.executor import Progress
from proxembed.features.layouts import COMPONENTS, NeighborMap, layout_named
from proxembed.measures.calibration import label_calibration_error, probabilities_of, reliability
from proxembed.measures.metrics import average_precision, class_weights, is_yes_no, jaccard_at_k
from proxembed.measures.neighbors import kept_of, neighbor_weights, new_neighbor_weights
from proxembed.measures.outputs import OutputCells, agreement, as_ranks, near_outputs, r2, skewed_outputs
from proxembed.methods.around import embedded_within_bound, with_size
from proxembed.methods.layout import FOLDS, Layout
from proxembed.methods.pipeline import unseen_scores
from proxembed.methods.variance import LSI, PCA
from proxembed.proximity.reordering import even_sample
from proxembed.splits.splits import GroupFolds, Split, StratifiedFolds, as_splits, crossfit
from proxembed.targets.labels import LabelMatrix
from proxembed.targets.values import sparse_labels

from .arms import ALL_FEATURES, Arm, rival_arms
from .layouts import fitted_layout, map_of
from .measured_classes import class_columns
from .part import KEPT_ROWS, Part, make_part, prepare, units_of
from .rivals.maps import TSNE_FEATURES, SupervisedUMAP
from .scoring import Embedding, OutputReadings, Readings, embed, fitted_on_part, own_embedding, own_scores, readings_of

MOST_ROWS = 5000  # of either kind that figures are taken over
HONEST_ABOVE = 0.1  # how much more alike the neighbours of training rows may be before the honest map leads
K = 10
FREQUENT = 100  # positive rows of a label that is part of the reliability curve
LAID_OUT = 1000  # training rows of a map beside others


@dataclass(frozen=True)
class Places:
    """One map: where it puts the rows of fit and the held-out ones, and how alike the labels of neighbours are (of
    numbers A@10, ``on_ranks`` too where an output is skewed). ``kept``: the share of the ten nearest training rows of a
    held-out row in scaled X that are among its ten nearest on the map. ``form``: "plain", or of one part alone "without
    features" or "features alone"."""

    honest: bool
    shuffled: bool
    train: np.ndarray
    new: np.ndarray
    inside: float
    outside: float
    among: float
    chance: float
    on_ranks: dict[str, float] | None = None
    kept: float = float("nan")
    form: str = "plain"


def drawn_maps(
    layout: Layout, part: Part, honest: bool = True, *, progress: Progress | None = None
) -> list[tuple[Places, Places]]:
    """The maps of a method, each with that of shuffled training labels, the one to look at first in front: an honest
    one, if it may be drawn, where the plain one flatters the training rows; where features are laid out beside the
    components, also the map of either alone, by the same fit."""
    shuffled = part.shuffled()
    step = _Steps(progress or (lambda done, total, text: None))
    what = "labels" if part.outputs is None else "outputs"
    fitted, plain = step(
        f"{len(part.Y_held_out):,} held-out rows on the map", lambda: _fitted(layout, part, False, False)
    )
    honest = honest and layout.traits.labels is not None and plain.inside - plain.outside > HONEST_ABOVE
    several = fitted.features_ > 0
    step.total = 2 + 2 * honest + several
    fitted_null, null = step(f"the map of shuffled {what}", lambda: _fitted(layout, shuffled, False, True))
    found = [(plain, null)]
    if honest:
        first = step("the honest map, by models of folds", lambda: _fitted(layout, part, True, False)[1])
        first_null = step(f"the honest map of shuffled {what}", lambda: _fitted(layout, shuffled, True, True)[1])
        found.insert(0, (first, first_null))
    if several:
        found += step("the maps of either part", lambda: _parts(fitted, fitted_null, part, shuffled))
    step("done", lambda: None)
    return found


def _parts(fitted: Layout, fitted_null: Layout, part: Part, shuffled: Part) -> list[tuple[Places, Places]]:
    """The maps of the components alone and of the features alone, of which shuffled labels change the figures only."""
    alone, null = (each.reweighted(1, 0) for each in (fitted, fitted_null))
    features = fitted.reweighted(0, 1)
    return [
        (
            _places(own, part, form=name),
            _places(other, shuffled, shuffled=True, form=name),
        )
        for name, own, other in (("without features", alone, null), ("features alone", features, features))
    ]


class _Steps:
    """Runs named steps and reports progress before each."""

    def __init__(self, progress: Progress):
        self.progress, self.done, self.total = progress, 0, 2

    def __call__(self, text: str, work: Callable[[], Any]) -> Any:
        self.progress(self.done, self.total, text)
        self.done += 1
        return work()


def _fitted(layout: Layout, part: Part, honest: bool, shuffled: bool) -> tuple[Layout, Places]:
    """A fitted layout and its map; only the first map of a method shows its warnings."""
    with warnings.catch_warnings():
        if honest or shuffled:
            warnings.simplefilter("ignore")
        fitted = clone(layout).set_params(honest=honest)
        X, y, _ = part.rows_for(layout)
        fitted.fit(X, y if layout.traits.labels is not None else None, groups=part.groups)
        return fitted, _places(fitted, part, honest, shuffled)


def _places(fitted: Layout, part: Part, honest: bool = False, shuffled: bool = False, form: str = "plain") -> Places:
    """The map of a fitted layout and its figures."""
    X, _, X_held_out = part.rows_for(fitted)
    train, new = fitted.transform(X), fitted.transform(X_held_out)
    own = train[part.known_rows]
    if part.outputs is not None:
        weights = part.known_weights, part.weights_held_out
        figures: dict[str, Any] = output_figures(own, new, part.Y, part.Y_held_out, *weights)
    else:
        figures = map_figures(own, new, part.Y, part.Y_held_out, part.known_cells, part.known_held_out)
    return Places(honest, shuffled, train, new, **figures, kept=part.kept_share(train, new), form=form)


def output_figures(
    Z: np.ndarray, Z_new: np.ndarray, cells: OutputCells, cells_new: OutputCells, w: Any = None, w_new: Any = None
) -> dict[str, Any]:
    """How alike the outputs of ten neighbours on a map are, A@10: of training rows, of held-out rows, and by chance, 0;
    the same of ranks (``on_ranks``) where an output is skewed, else None. ``w``, ``w_new``: how often rows count."""
    own, new = (even_sample(len(each), MOST_ROWS) for each in (Z, Z_new))
    Z, cells, Z_new, cells_new = Z[own], cells.take(own), Z_new[new], cells_new.take(new)
    w, w_new = None if w is None else w[own], None if w_new is None else w_new[new]
    near: dict[str, Any] = {"outside": neighbor_weights(Z_new, Z, K, metric="euclidean")}
    if len(Z) > 1:
        near["inside"] = new_neighbor_weights(Z, Z, K, metric="euclidean")
    if len(Z_new) > 1:
        near["among"] = new_neighbor_weights(Z_new, Z, K, metric="euclidean")

    def figures(train: OutputCells, held_out: OutputCells) -> dict[str, float]:
        sides = {"inside": (train, train), "outside": (held_out, train), "among": (held_out, held_out)}
        found = dict.fromkeys(sides, float("nan"))
        for name, weights in near.items():
            rows, others = sides[name]
            near_of = near_outputs(weights, others.F, others.known)
            found[name] = agreement(rows, near_of, w if name == "inside" else w_new)[0]
        return found

    skewed = skewed_outputs(cells)
    on_ranks = figures(*as_ranks(cells, cells_new)) if skewed.any() else None
    return {**figures(cells, cells_new), "chance": 0.0, "on_ranks": on_ranks}


def places_on_layout(Z: np.ndarray, Z_new: np.ndarray, part: Part) -> tuple[np.ndarray, np.ndarray]:
    """The places of at most 1,000 training rows on a layout of these, and those of the held-out rows."""
    rows = part.known_rows[even_sample(len(part.known_rows), LAID_OUT)]
    found = NeighborMap.of(Z[rows], layout_named("auto"), 2, part.seed)
    return found.places, found.place(Z_new)


def scored_places(places: np.ndarray, new: np.ndarray, part: Part) -> tuple[np.ndarray, float]:
    """The places of the held-out rows with their Jaccard@10 among the training rows that ``even_sample`` takes."""
    some = even_sample(len(part.known_rows), LAID_OUT)
    known = None if part.known_cells is None else part.known_cells[some]
    weights = neighbor_weights(new, places, K)
    seen: dict[str, Any] = {"known": part.known_held_out, "sample_weight": part.weights_held_out}
    return new, jaccard_at_k(part.Y_held_out, part.Y[some], weights, known, **seen)


def map_figures(
    Z: np.ndarray, Z_new: np.ndarray, Y: Any, Y_new: Any, known: Any = None, known_new: Any = None
) -> dict[str, float]:
    """How alike the labels of ten neighbours on a map are: training rows, held-out rows, and by chance."""
    own, new = (even_sample(len(each), MOST_ROWS) for each in (Z, Z_new))
    Z, Y, known = Z[own], sparse_labels(Y[own]), None if known is None else known[own]
    Z_new, Y_new, known_new = Z_new[new], sparse_labels(Y_new[new]), None if known_new is None else known_new[new]
    inside = outside = among = float("nan")
    if len(Z) > 1:
        inside = jaccard_at_k(Y, Y, new_neighbor_weights(Z, Z, K), known, known=known)
    outside = jaccard_at_k(Y_new, Y, neighbor_weights(Z_new, Z, K), known, known=known_new)
    if len(Z_new) > 1:
        among = jaccard_at_k(Y_new, Y_new, new_neighbor_weights(Z_new, Z, K), known_new, known=known_new)
    chance = _chance(Y_new, Y, known_new, known)
    return {"inside": inside, "outside": outside, "among": among, "chance": chance}


def _chance(Y: Any, Y_train: Any, known: Any, known_train: Any) -> float:
    """Mean similarity of the label sets of all pairs of a held-out and a training row that have known cells in
    common."""
    Y, Y_train = Y.astype(np.float64), Y_train.astype(np.float64)
    common = (Y @ Y_train.T).toarray()
    if known is None and known_train is None:
        union = Y.sum(axis=1)[:, None] + Y_train.sum(axis=1) - common
        similarity = np.where(union == 0, 1.0, common / np.maximum(union, 1))
        return float(np.average(similarity.mean(axis=1), weights=class_weights(Y)))
    cells, cells_train = (
        np.ones(labels.shape) if mask is None else np.asarray(mask, dtype=np.float64)
        for labels, mask in ((Y, known), (Y_train, known_train))
    )
    union = Y @ cells_train.T + (Y_train @ cells.T).T - common
    similarity = np.where(union == 0, 1.0, common / np.maximum(union, 1))
    return float(similarity[cells @ cells_train.T > 0].mean())


SHOWN = 2
ALL_LAID_OUT = "all components laid out"

Arrays = tuple[np.ndarray, ...]
Keep = Callable[[str, Callable[[], Arrays]], Arrays]


def always_made(_name: str, make: Callable[[], Arrays]) -> Arrays:
    """What a fit gives, of which nothing is kept."""
    return make()


@dataclass(frozen=True)
class Evidence:
    """What a method, fitted on the training rows, does on the test rows. ``scores``: of one yes/no label per title the
    one score of the training rows, by models that have not seen them, and of the test rows; ``train_has``: which
    training rows have the label. ``judged``: the number of the panel whose map the verdict speaks of."""

    rows: np.ndarray
    panels: list[tuple[str, np.ndarray, float | None, list[dict[str, Any]] | None]]
    ap_raw: np.ndarray
    ap_embedded: np.ndarray
    thresholds: np.ndarray
    calibration: np.ndarray
    reliability: "Curve"
    features: Any
    embeddings: list[tuple[str, np.ndarray]]
    laid_out: list["Laid"] = field(default_factory=list)
    scores: list[tuple[str, np.ndarray, np.ndarray]] | None = None
    train_has: np.ndarray | None = None
    judged: int | None = None


class Curve(NamedTuple):
    """The reliability curve of the cells of some labels in held-out rows: per bin the mean probability, the share of
    positive cells and the number of cells; no bin where no label is frequent."""

    probability: np.ndarray
    share: np.ndarray
    cells: np.ndarray
    labels: int
    rows: int


class Laid(NamedTuple):
    """Held-out rows on a map of all components: Jaccard@10, the share of the ten nearest rows in X that it keeps, and
    the forms of the map beside which it is shown."""

    title: str
    places: np.ndarray
    score: float | None
    kept: float
    forms: tuple[str, ...]


@dataclass(frozen=True)
class OutputPlane:
    """A map where y holds numbers: the places of the test rows, and those of training rows whose numbers among all
    of these are ``rows``; ``figures``: of ``output_figures``."""

    title: str
    new: np.ndarray
    train: np.ndarray
    rows: np.ndarray
    figures: dict[str, Any]
    honest: bool = False
    laid_out: bool = False

    @property
    def flatters(self) -> bool:
        """Whether training rows are more like their neighbours than test rows are, by so much that their places depend
        on their own outputs."""
        return bool(self.figures["inside"] - self.figures["outside"] > HONEST_ABOVE)


@dataclass(frozen=True)
class OutputEvidence:
    """Planes of the test rows where y holds numbers; ``fitted``: R2 of the training rows per number of components;
    ``raw``: scores of the test rows by a ridge regression on all features, where there are columns of classes."""

    rows: np.ndarray
    planes: list[OutputPlane]
    fitted: dict[int, float]
    raw: np.ndarray | None = None


def output_evidence(
    method: Any,
    dataset: Any,
    split: Split,
    sizes: Sequence[int],
    *,
    seed: int = 0,
    name: str | None = None,
    lay_out: bool = False,
) -> OutputEvidence:
    """Fit a method, PCA, and the method on shuffled outputs on the training rows, and place the test rows: in their
    first two components, and in a layout of all components where there are more than two outputs. Where this map
    flatters the training rows, an honest one, and one of shuffled outputs, is last (with ``lay_out``)."""
    part = prepare(dataset, split, seed)
    title = title_of(method) if name is None else name
    with warnings.catch_warnings(), sharing():
        warnings.simplefilter("ignore")  # the comparison has given the warnings of this method
        plain = LSI() if sp.issparse(part.X) else PCA()
        plane = clone(plain).set_params(n_components=_plane_size(part))
        shuffled = part.shuffled()
        shown: list[Any] = [
            (title_of(plain), *_embedded(plane, part), part),
            (title, *_embedded(method, part), part),
            (f"{title} on shuffled outputs", *_embedded(method, shuffled), shuffled),
        ]
        planes = [_output_plane(title, Z, Z_new, own, False) for title, Z, Z_new, own in shown]
        wide = lay_out and dataset.targets.rank > SHOWN
        planes += [_output_plane(title, Z, Z_new, own, True) for title, Z, Z_new, own in shown[1:] if wide]
        if lay_out and planes[-2].flatters and hasattr(method, "traits") and method.traits.labels is not None:
            for name, Z, Z_new, each in shown[1:]:
                honest = _output_plane(name, _honest_places(method, Z, each), Z_new, each, wide)
                planes.append(replace(honest, honest=True))
        found = fitted_on_part(with_size(method, max(sizes, default=None)), part, part.weights)
        embeddings = {k: Embedding(*found.at(k), own=found.own) for k in sizes if k <= found.Z.shape[1]}
        scores = {k: readings_of(embedding, part).fitted_scores for k, embedding in embeddings.items()}
        explained = {k: r2(part.Y, fitted_scores, part.known_weights)[0] for k, fitted_scores in scores.items()}
        every = OutputReadings(part.X, part.X_held_out, part)
        raw = every.readout.scores(part.X_held_out) if class_columns(dataset.targets) else None
    return OutputEvidence(part.rows, planes, explained, raw)


def _output_plane(title: str, Z: Any, Z_new: Any, part: Part, laid_out: bool) -> OutputPlane:
    """The places of the training rows with a known output and of the held-out rows in two coordinates: the first
    components, or a layout of all."""
    some = np.arange(len(part.known_rows))
    if laid_out:
        some = even_sample(len(some), LAID_OUT)
        Z, Z_new = places_on_layout(Z, Z_new, part)
    else:
        Z, Z_new = Z[part.known_rows, :SHOWN], Z_new[:, :SHOWN]
    w = None if part.known_weights is None else part.known_weights[some]
    figures = output_figures(Z, Z_new, part.Y.take(some), part.Y_held_out, w, part.weights_held_out)
    return OutputPlane(title, Z_new, Z, part.known_rows[some], figures, laid_out=laid_out)


def _honest_places(method: Any, Z: np.ndarray, part: Part) -> np.ndarray:
    """The embedding of the training rows by models of folds that have not seen them, in the frame of Z."""
    X, y, _ = part.rows_for(method)
    folds: Any = StratifiedFolds if part.groups is None else GroupFolds
    splits = as_splits(folds(FOLDS, random_state=part.seed), X, part.labels, part.groups)
    return crossfit(method, X, y, Z, splits, part.labels.rows_any, part.weights, part.groups)


def held_out_evidence(
    method: Any,
    dataset: Any,
    split: Split,
    *,
    seed: int = 0,
    name: str | None = None,
    lay_out: bool = False,
    supervised_umap: bool = False,
    decided: bool = True,
    judged: tuple[Arm, tuple[int, ...]] | None = None,
    keep: Keep = always_made,
) -> Evidence:
    """Fit a method, PCA, and the method on shuffled labels on the training rows, and look at the test rows; unless
    ``decided``, the labels have no thresholds, calibration errors and reliability curve. ``judged``: the arm of the map
    of the verdict, which gets a panel of its own, and the sizes at which it was compared."""
    labels = LabelMatrix.of(dataset.y)
    rows = split.held_out[labels.rows_any[split.held_out]]
    if len(rows) == 0:
        raise ValueError("no test row has known labels, so that nothing can be shown of them; label some test rows.")
    facts: dict[str, Any] = {"seed": seed, "weights": dataset.sample_weight, **units_of(dataset, split.train)}
    part = make_part(dataset.X, labels, split.train, rows, **facts)
    shuffled = part.shuffled()
    plain = rival_arms(part.X, seed=seed)[1]
    title = title_of(method) if name is None else name
    with warnings.catch_warnings(), sharing():
        warnings.simplefilter("ignore")  # the comparison has given the warnings of this method
        plane = plain.estimator.set_params(n_components=_plane_size(part))
        Z, Z_held_out = keep("method", lambda: _embedded(method, part))
        pairs: list[tuple[str, Any, bool]] = [
            (plain.name, keep("plane", lambda: _embedded(plane, part)), False),
            (title, (Z, Z_held_out), True),
            (f"{title} on shuffled labels", keep("shuffled", lambda: _embedded(method, shuffled)), False),
        ]
        names = dataset.label_names
        panels = [_panel(name, pair[0], pair[1], part, names if ours else None) for name, pair, ours in pairs]
        other = [each for each in _judged_panels(judged, part, names, keep) if not _same_map(each, panels[1])]
        raw = Readings(part.X, part.X_held_out, part, dtype=np.float64).scores
        unseen, scores = _scores(method, Z, Z_held_out, part, keep)
        cuts, calibration, curve = *np.full((2, part.labels.c), np.nan), np.empty((3, 0))
        if decided:
            cuts, calibration, curve = keep("cuts", lambda: _decided(method, scores, part, unseen))
        own = [pair for _, pair, _ in pairs[1:]]
        maps = _laid_out(method, title, own, (part, shuffled), plain, supervised_umap, keep) if lay_out else []
    whole = [(name, held_out) for name, (_, held_out), _ in pairs[1:]]
    counted = part.known_held_out, part.weights_held_out
    of_raw, of_embedding = (average_precision(part.Y_held_out, each, *counted) for each in (raw, scores))
    shown = Curve(curve[0], curve[1], curve[2], int(frequent_labels(part).sum()), len(rows))
    found = Evidence(rows, panels + other, of_raw, of_embedding, cuts, calibration, shown, part.X_held_out, whole, maps)
    if not is_yes_no(part.Y_held_out):
        return replace(found, judged=None if judged is None else len(panels) if other else 1)
    of_method = None if unseen is None else (unseen[:, -1], scores[:, -1])
    return replace(found, scores=_histograms(pairs[1:], part, shuffled, of_method), train_has=part.indicator[:, -1])


def _judged_panels(judged: tuple[Arm, tuple[int, ...]] | None, part: Part, names: Any, keep: Keep) -> list[Any]:
    """The panel of the map of an arm as a comparison at some sizes has measured it; none of one yes/no label."""
    if judged is None or is_yes_no(part.Y_held_out):
        return []
    arm, sizes = judged
    alone = arm.each_size and not hasattr(arm.estimator, "at_size")

    def map_arrays() -> Arrays:
        Z, Z_held_out = embed(arm, part, (SHOWN,) if alone else arm.sizes(sizes)).at(SHOWN)
        return np.asarray(Z), np.asarray(Z_held_out)

    Z_map, new_map = keep("map", map_arrays)
    return [_panel(f"{arm.name} at k = {SHOWN}", Z_map, new_map, part, names)]


def _same_map(panel: Any, other: Any) -> bool:
    """Whether two panels show the same map, as those of the first two components of one method at several sizes."""
    return panel[1].shape == other[1].shape and np.allclose(panel[1], other[1])


def _histograms(pairs: list[Any], part: Part, shuffled: Part, of_method: Any) -> list[tuple[str, Any, Any]]:
    """The scores of all features, of a method (``of_method``: its own), and of the method on shuffled labels unless it
    predicts by itself."""
    (title, (Z, Z_held_out), _), (null, (Z_null, Z_null_held_out), _) = pairs
    own = _score_pair(Z, Z_held_out, part) if of_method is None else of_method
    found = [(ALL_FEATURES, *_score_pair(part.X, part.X_held_out, part)), (title, *own)]
    return found + ([(null, *_score_pair(Z_null, Z_null_held_out, shuffled))] if of_method is None else [])


def _score_pair(Z: Any, Z_held_out: Any, part: Part) -> tuple[np.ndarray, np.ndarray]:
    """The ridge score of the last label: of training rows by read-outs that have not seen them, and of test rows."""
    found = Readings(Z, Z_held_out, part, dtype=np.float64)
    return np.asarray(found.own_scores)[:, -1], found.scores[:, -1]


def _laid_out(
    method: Any, title: str, own: list[Any], parts: tuple[Part, Part], plain: Any, supervised_umap: bool, keep: Keep
) -> list[Laid]:
    """Maps of all components of a method, beside those of PCA, of shuffled labels and of supervised UMAP; of a layout
    in every form."""
    part, shuffled = parts
    some = part.known_rows[even_sample(len(part.known_rows), LAID_OUT)]
    size = min(TSNE_FEATURES, part.X.shape[0] - 1, part.X.shape[1])
    components = clone(plain.estimator).set_params(n_components=size)
    first = keep("components", lambda: places_on_layout(*_embedded(components, part), part))
    if isinstance(method, Layout):
        forms = {_weight_words(_weight(method)): own} | _further_forms(method, parts, keep)
        named: dict[str, Any] = {words: [(Z[some], Z_new) for Z, Z_new in pairs] for words, pairs in forms.items()}
    else:
        whole = with_size(method, None) if isinstance(method, Estimator) else method
        layout = keep("layout", lambda: places_on_layout(*_embedded(whole, part), part))
        null = keep("layout, shuffled", lambda: places_on_layout(*_embedded(whole, shuffled), part))
        named = {ALL_LAID_OUT: [layout, null]}
    placed: list[tuple[str, Any, tuple[str, ...]]] = [(plain.name, first, tuple(named))]
    titles = title, f"{title} on shuffled labels"
    for words, pairs in named.items():
        placed += [(name, pair, (words,)) for name, pair in zip(titles, pairs, strict=False)]
    if supervised_umap:
        placed.append((SupervisedUMAP.title, keep("umap", lambda: _umap(some, part)), tuple(named)))
    new = even_sample(len(part.Y_held_out), KEPT_ROWS)
    near = neighbor_weights(part.X_held_out[new], part.X[some], K, metric="euclidean")
    return [
        Laid(name, *scored_places(places[0], places[1], part), kept_of(near, places[1][new], places[0], K), forms)
        for name, places, forms in placed
    ]


def _weight(layout: Layout) -> float:
    """The weight of the features of a layout."""
    return float(layout.traits.labels is not None) if layout.features is None else float(layout.features)


def _weight_words(weight: float) -> str:
    return f"features at weight {weight:g}" if weight else "without features"


def _further_forms(layout: Layout, parts: tuple[Part, Part], keep: Keep) -> dict[str, list[Arrays]]:
    """The places of the rows on other forms of a layout, and of all that labels have part in on those of shuffled
    labels: with the features at weight 1 and without them, the honest form, and the features alone."""
    if layout.traits.labels is None or layout.layout == COMPONENTS:
        return {}

    def at(part: Part, **changed: Any) -> Layout:
        return fitted_layout(clone(layout).set_params(**changed), part)

    def pairs(words: str, **changed: Any) -> list[Arrays]:
        return [
            keep(f"{words}, {name}", functools.partial(lambda part: map_of(at(part, **changed), part), part))
            for name, part in zip(("true", "shuffled"), parts, strict=True)
        ]

    found = {_weight_words(w): pairs(_weight_words(w), features=w) for w in (1.0, 0.0) if w != _weight(layout)}
    found["honest"] = pairs("honest", honest=True)
    part = parts[0]
    alone = keep("features alone", lambda: map_of(at(part, features=1.0).reweighted(0, 1), part))
    return found | {"features alone": [alone]}


def _umap(some: np.ndarray, part: Part) -> Arrays:
    rival = SupervisedUMAP(random_state=part.seed)
    return rival.fit_transform(part.X[some], part.labels.take(some)), rival.transform(part.X_held_out)


def _plane_size(part: Part) -> int:
    return min(SHOWN, *part.X.shape)


def _embedded(method: Any, part: Part) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(method, Layout) and part.weights is None:
        return map_of(fitted_layout(method, part), part)
    if hasattr(method, "label_scores"):
        return own_embedding(method, part)[:2]
    return embedded_within_bound(method, *part.rows_for(method), part.weights, part.groups)


def _panel(title: str, Z: Any, Z_held_out: Any, part: Part, label_names: Any) -> tuple[Any, ...]:
    plane, shown = Z[:, :SHOWN], Z_held_out[:, :SHOWN]
    directions = None if label_names is None else _directions(shown, part.held_out_sets, label_names)
    weights = neighbor_weights(shown, plane[part.known_rows])
    seen: dict[str, Any] = {"known": part.known_held_out, "sample_weight": part.weights_held_out}
    similarity = jaccard_at_k(part.held_out_sets, part.Y, weights, part.known_cells, **seen)
    return title, shown, similarity, directions


def _directions(Z: np.ndarray, Y: Any, label_names: Any) -> list[dict[str, Any]]:
    """From the middle of all rows to the middle of the rows of each label; none for a plane of one axis."""
    if Z.shape[1] < SHOWN:
        return []
    counts = Y.sum(axis=0)
    middles = (Y.T.astype(float) @ (Z - Z.mean(axis=0))) / np.maximum(counts, 1)[:, None]
    return [
        {"label": str(label_names[j]), "x": float(middles[j, 0]), "y": float(middles[j, 1])}
        for j in np.flatnonzero(counts)
    ]


def _scores(method: Any, Z: Any, Z_held_out: Any, part: Part, keep: Keep) -> tuple[np.ndarray | None, np.ndarray]:
    """Scores of the held-out rows, and of training rows by models that have not seen them; None where these are still
    to be made by a ridge."""
    if hasattr(method, "label_scores"):
        unseen, scores = keep("scores", lambda: own_scores(method, part))
        return unseen, scores
    return None, Readings(Z, Z_held_out, part, dtype=np.float64).scores


def _decided(method: Any, scores: np.ndarray, part: Part, unseen: np.ndarray | None = None) -> Arrays:
    """Cuts, calibration errors, and the reliability curve (3, bins) of the held-out cells of frequent labels. Cuts and
    probabilities are tuned on scores of training rows that the embedding has not seen, ``unseen`` or those of a
    ridge."""
    labels: Any = part.labels
    known, weights = part.known_cells, part.known_weights
    scored: Any = unseen
    if unseen is None:
        scored = unseen_scores(method, part.rows_for(method)[0], labels, part.groups, part.weights)
    probabilities = probabilities_of(scores, part.calibrated(scored))
    seen: dict[str, Any] = {"known": part.known_held_out, "sample_weight": part.weights_held_out}
    error = label_calibration_error(part.Y_held_out, probabilities, **seen)
    cuts = tune_thresholds(scored, part.indicator, known=known, sample_weight=weights).cuts
    some = frequent_labels(part)
    if not some.any():
        return cuts, error, np.empty((3, 0))
    seen["known"] = None if part.known_held_out is None else part.known_held_out[:, some]
    return cuts, error, np.array(reliability(part.Y_held_out[:, some], probabilities[:, some], **seen)[:3])


def frequent_labels(part: Part) -> np.ndarray:
    """Which labels have enough positive rows, held-out ones among them, for a reliability curve; of two classes the
    rarer one alone, which the other one mirrors."""
    counts = part.indicator.sum(axis=0) + np.asarray(part.Y_held_out).sum(axis=0)
    seen = np.asarray(part.Y_held_out).any(axis=0) if part.known_held_out is None else part.known_held_out.any(axis=0)
    found = np.asarray((counts >= FREQUENT) & seen)
    if part.of_classes and len(found) == 2:
        found[np.argmax(counts)] = False
    return found
