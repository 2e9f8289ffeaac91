"""Layout: a map of all components of a method by their neighbours, into which new rows are placed one by one."""

import warnings
from copy import copy, deepcopy
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted

from proxembed.estimator.base import Embedder
from proxembed.estimator.rows import Rows, SeenRows
from proxembed.estimator.weights import checked_weights, merged_rows
from proxembed.estimator.wrapper import FitWrapper
from proxembed.features.layouts import (
    COMPONENTS,
    LAYOUTS,
    Begun,
    BesideFeatures,
    FirstComponents,
    NeighborMap,
    check_installed,
    layout_named,
)
from proxembed.params import SEED, param
from proxembed.splits.shuffles import joined_groups
from proxembed.splits.splits import GroupFolds, StratifiedFolds, as_splits, crossfit
from proxembed.splits.units import checked_units
from proxembed.targets.labels import LabelMatrix

from .dependence import OPLS
from .kernelized import Kernelized
from .out_of_fold import KERNEL_ROWS, PROTOTYPES
from .target_space import TargetSpace

FOLDS = 5
MOST_ROWS_FOR_CUTS = 1000  # rows of the maps by which the cuts of a model are tuned
INSIDE_START = "start__"
MOST_ROWS, MOST_COLUMNS = 20_000, 2000  # below which TargetSpace is laid out by default


def method_for(n: int, d: int, labels: bool = True) -> Embedder:
    """The method that ``Layout()`` lays out, for n rows of d features with labels, else numbers: TargetSpace of labels
    below 20,000 rows and 2,000 features, OPLS from 20,000 rows, else Kernelized(OPLS()), on 1,000 prototypes above
    6,000 rows."""
    if n >= MOST_ROWS:
        return OPLS()
    if labels and d < MOST_COLUMNS:
        return TargetSpace()
    return Kernelized(n_prototypes=PROTOTYPES if n > KERNEL_ROWS else None)


class PlacedRows:
    """Rows whose components are known, in place of the method that has placed them: X (n, d) of its fit with components
    Z (n, k), and new rows."""

    def __init__(self, X: Any, Z: np.ndarray, X_new: Any, Z_new: np.ndarray):
        self.rows = (SeenRows(X), Z), (SeenRows(X_new), Z_new)

    def transform(self, X: Any) -> np.ndarray:
        """The components of some of these rows, of equal ones as of fit's."""
        (own, Z), (new, Z_new) = self.rows
        seen = own.find(X)
        return np.where(seen[:, None] >= 0, Z[seen], Z_new[new.find(X)])


class Layout(FitWrapper):
    """Supervised map: a method first, then a neighbour layout (t-SNE or UMAP) of all of its components.
    [vandermaaten2008tsne] [mcinnes2018umap]

    Laid out are all components of the method beside the features, [Z, w S]: S are at most 30 principal scores of X, w
    is ``features``, and both parts are centred and have mean norm 1. With w = 0 the map shows the method alone; the
    larger w, the more of a row's nearest neighbours in X it keeps. With ``layout="components"`` nothing is laid out:
    the map is the first components of the method.

    Without a method, labels are laid out by ``TargetSpace()`` below 20,000 rows and 2,000 features, by ``OPLS()`` from
    20,000 rows, and else by ``Kernelized(OPLS())``, on 1,000 prototypes above 6,000 rows; so are numbers, and so is
    ``layout="components"``, but by ``Kernelized(OPLS())`` in place of TargetSpace.

    Rows that are near in what is laid out are near on the map. A new row is placed only by its nearest training rows,
    independently of other new rows; a training row keeps its place. Equal rows have one place, and rows with unknown
    labels are on the map too.

    The place of a training row depends on its own labels, so even meaningless labels form clusters among the training
    rows. ``honest=True`` lays out training rows by models of five folds that have not seen them, aligned with the model
    of all rows by orthogonal Procrustes, so training rows look like new rows; ``TargetSpace`` places them by its own
    cross-fitted predictions (its ``honest=True``), without refits. With ``groups`` given to ``fit``, the folds keep the
    rows of a group together, and TargetSpace is fitted to them, too. Principal scores know no labels. t-SNE and UMAP
    amplify rounding: maps made with other processors or libraries show the same neighbours in other places.

    A map that is fitted again, to more rows or other labels, is another one: ``start=`` keeps it comparable. Rows that
    are equal to a training row of ``start`` (in X, as it was passed to both fits) begin at their old places, and other
    rows where ``start.transform`` puts them. t-SNE then takes 250 steps without exaggeration, UMAP all of its own; in
    the end the map is turned, scaled and shifted so that known rows are nearest to their old places. The features must
    be the same, and so must their scaling: pass X scaled as before. A layout holds its ``start`` as it is (also in
    copies by scikit-learn's ``clone``): ``set_params`` does not reach into it, and ``set_params(start=None)`` lets go
    of it. A fitted layout is saved without its ``start``, which only the fit needs.

    Attributes
    ----------
    method_ : the fitted method.
    layout_ : str, the layout used: "opentsne", "umap", "sklearn" or "components".
    features_ : float, the weight w of the features.
    map_ : NeighborMap, the embedding as it was laid out; or FirstComponents.
    places_ : (u, n_components) array, the places of the distinct training rows in their order of appearance.
    n_components_ : int, with "components" at most the components of the method.

    Raises
    ------
    ValueError
        For a method that cannot embed new rows, a Layout as the method, bad X or y; ``honest=True`` with fewer than two
        rows of known labels.
    ImportError
        The library of ``layout`` is not installed.

    See Also
    --------
    proxembed.TargetSpace : Stacked predictions as coordinates.
    proxembed.ReadoutAxes : Components weighted by a read-out.

    Examples
    --------
    >>> from proxembed import OPLS, Layout
    >>> from proxembed.data import digits
    >>> data = digits()
    >>> layout = Layout(OPLS(), layout="sklearn").fit(data.X[:300], data.Y[:300])
    >>> layout.transform(data.X[300:]).shape
    (1497, 2)
    >>> more = Layout(OPLS(), layout="sklearn", start=layout).fit(data.X[:400], data.Y[:400])
    >>> more.places_.shape
    (400, 2)
    """

    method: Embedder | None = param(
        default=None,
        kw_only=False,
        choices=(None,),
        kind=Embedder,
        doc="Any method that embeds new rows; None: by the sizes of X and the kind of y, as above.",
    )
    n_components: int = param(default=2, low=1, high=2, integer=True, doc="Dimensions of the map.")
    layout: str = param(
        default="auto",
        choices=("auto", *LAYOUTS),
        doc="Library of the layout; auto: openTSNE, else umap-learn, else scikit-learn's t-SNE; components: none, the "
        "first components of the method.",
    )
    features: float | None = param(
        default=None,
        low=0,
        choices=(None,),
        doc="Weight w of the features beside the components; None: 1, or 0 for a method without labels.",
    )
    start: Any = param(
        default=None,
        choices=(None,),
        words="a fitted Layout",
        test=lambda value: isinstance(value, Layout),
        doc="An earlier map of the same features, in whose places known rows begin; None: begin anew.",
    )
    honest: bool = param(
        default=False, kind=bool, doc="Lay out training rows by models of folds that have not seen them."
    )
    random_state: int | None = param(default=0, like=SEED, doc="Seed of the folds and the positions.")
    n_jobs: int | None = param(
        default=None, low=-1, integer=True, choices=(None,), doc="Threads of the layout; the map does not depend on it."
    )

    most_rows_for_cuts: ClassVar[int] = MOST_ROWS_FOR_CUTS

    def default_method(self) -> Embedder:
        return TargetSpace()

    def check_method(self, method: Any, role: str | None = None) -> None:
        if isinstance(method, Layout):
            raise ValueError("Layout cannot wrap Layout; pass the method that is to be laid out.")

    @property
    def lays_out_features(self) -> bool:
        """Whether the features are laid out beside the components."""
        learns = self.method is None or self.method.traits.labels is not None
        return self.layout != COMPONENTS and (learns if self.features is None else self.features > 0)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the method, and lay out its embedding.

        Parameters
        ----------
        X : (n, d) array or CSR
        y : labels in any form that the method takes
        sample_weight : (n,) numbers >= 0, optional
            How often each row counts; a row of weight 0 counts as absent. As the method takes them.
        groups : (n,) array, optional
            The group of each row: with ``honest=True`` no row is placed by a model that has seen a row of its group.
            Rows of one group alone are taken like rows without groups.

        Returns
        -------
        self
        """
        groups = None if groups is None else checked_units(groups, None, _num_samples(X))[0]
        if groups is not None and sample_weight is not None:
            groups = groups[checked_weights(sample_weight, X) > 0]
        self._groups = groups
        try:
            return super().fit(X, y, sample_weight)
        finally:
            del self._groups

    def fit_method(self, rows: Rows) -> None:
        """Fit the method, and lay out its embedding."""
        self.layout_ = layout_named(self.layout)
        check_installed(f"layout={self.layout!r}", self.layout_)
        self._check_start(rows.X.shape[1])
        seed = self._drawn_seed()
        every, rows = rows.X, merged_rows(rows) if self.weighs_rows else rows
        self._set_method(rows)
        placed = self.__dict__.pop("_placed", None)
        if placed is None:
            self.fit_inside(rows.X, rows)
        else:
            self.method_ = placed
        self._seen = SeenRows(rows.X)
        self._first, number = np.unique(self._seen.find(rows.X), return_inverse=True)
        Z = np.asarray(self.method_.transform(rows.X), dtype=np.float64)
        joined = self._joined(every, rows, number) if self.honest and rows.labels is not None else None
        if joined is not None:
            Z = self._crossfitted(rows, Z, joined, seed)
        self.n_components_ = int(self.n_components)
        if self.layout_ == COMPONENTS:
            self.n_components_ = min(self.n_components_, Z.shape[1])
            self.map_: FirstComponents | NeighborMap = FirstComponents(Z[self._seen.first, : self.n_components_])
            return
        # by fingerprint: where two entries tie, signs follow the rows, not their order
        X, Z = rows.X[self._seen.first].astype(np.float64), Z[self._seen.first]
        several = self.features_ > 0 and len(Z) > 1
        self._beside = BesideFeatures.of(X, Z, self.features_) if several else None
        begun = None if self.start is None else self._begun(rows.X[self._seen.first])
        self.map_ = NeighborMap.of(self._laid(X, Z), self.layout_, self.n_components_, seed, self.n_jobs, begun)

    def _begun(self, X: Any) -> Begun:
        """Where distinct rows are on the map of ``start``. Warns where it has none of them."""
        known = self.start._seen.find(X) >= 0
        if not known.any():
            warnings.warn(
                "None of the rows is a training row of start, so that no place is kept; rows are known where all their "
                "values are equal: give both fits the same scaling and the same float type.",
                UserWarning,
                stacklevel=2,
            )
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="X does not have valid feature names")  # compared in _check_start
            places = np.asarray(self.start.transform(X), dtype=np.float64)
        return Begun(places, known)

    def _check_start(self, d: int) -> None:
        """Raise a ValueError for a ``start`` from which this map of d features cannot begin."""
        start = self.start
        if start is None:
            return
        if not hasattr(start, "map_"):
            raise ValueError("start must be a fitted Layout; fit it first, or pass start=None.")
        if COMPONENTS in (self.layout_, start.layout_):
            raise ValueError(f"start is not allowed with layout={COMPONENTS!r}, which lays nothing out.")
        if start.n_components_ != self.n_components or start.n_features_in_ != d:
            raise ValueError(
                f"start has {start.n_components_} dimensions of rows of {start.n_features_in_} features; this map is "
                f"to have {self.n_components} of {d}. Fit both on the same features, with the same n_components."
            )
        names, before = (getattr(each, "feature_names_in_", None) for each in (self, start))
        if names is not None and before is not None and list(names) != list(before):
            raise ValueError(
                "start was fitted on columns of other names, or in another order; give both fits the same columns."
            )

    def __sklearn_clone__(self) -> Any:
        """An unfitted copy, with ``start`` as it was fitted."""
        found = super().__sklearn_clone__()
        found.start = self.start
        return found

    def __getstate__(self) -> dict[str, Any]:
        """What is saved: a fitted map without the earlier one, which would bring those before it."""
        state = super().__getstate__()
        return {**state, "start": None} if "map_" in state else state

    def __copy__(self) -> Self:
        found = type(self).__new__(type(self))
        found.__dict__.update(vars(self))
        return found

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """A copy, whose ``start`` is the same map, since no fit changes it."""
        found = copy(self)
        own = {name: value for name, value in vars(self).items() if name != "start"}
        found.__dict__.update(deepcopy(own, memo))
        return found

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; where ``deep``, those of the method as method__NAME."""
        found = super().get_params(deep=deep)
        return {name: value for name, value in found.items() if not name.startswith(INSIDE_START)}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by the names of ``get_params``. Returns self."""
        for name in params:
            if name.startswith(INSIDE_START):
                raise ValueError(
                    f"{name} cannot be set: start is an earlier map, which stays as it was fitted; set the parameter "
                    "of this layout, or pass another start."
                )
        return super().set_params(**params)

    def fit_around(self, placed: PlacedRows, X: Any, y: Any) -> Self:
        """As ``fit``, with the components of these rows and of new ones as ``method``, fitted to them, has placed them
        before; not for ``honest=True``."""
        self._placed = placed
        return self.fit(X, y)

    def _drawn_seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _set_method(self, rows: Rows) -> None:
        """The method that None stands for on these rows, in its honest form if it has one, and the weight of the
        features."""
        if self.method is None:
            labels = isinstance(rows.labels, LabelMatrix) and self.layout_ != COMPONENTS
            self.method_ = method_for(rows.n, rows.X.shape[1], labels)
        if self.honest and isinstance(self.method_, TargetSpace):
            self.method_.set_params(honest=True)
        weight = float(rows.labels is not None) if self.features is None else float(self.features)
        self.features_ = 0.0 if self.layout_ == COMPONENTS else weight

    def _laid(self, X: Any, Z: np.ndarray) -> np.ndarray:
        """What is laid out of rows X with components Z; of a model of a former format Z alone."""
        beside = vars(self).get("_beside")
        return Z if beside is None else beside(X, Z)

    def _joined(self, X: Any, rows: Rows, number: np.ndarray) -> np.ndarray | None:
        """For each of the rows what folds keep together: equal rows by their ``number``, and with groups, those of all
        rows X, groups; None where nothing is fitted on folds."""
        if self._groups is not None:
            joined = joined_groups(np.searchsorted(self._first, self._seen.find(X)), self._groups)[number]
            if len(np.unique(joined[rows.labels.rows_any])) > 1:
                return joined
        return None if isinstance(self.method_, TargetSpace) else number

    def _crossfitted(self, rows: Rows, Z: np.ndarray, joined: np.ndarray, seed: int) -> np.ndarray:
        """Each row by a model that has not seen it nor a row that is ``joined`` to it; those without labels as they
        are."""
        known = rows.labels.rows_any
        n_folds = min(FOLDS, len(np.unique(joined[known])))
        if n_folds < 2:
            raise ValueError(
                "honest=True needs at least two different rows with known labels; pass more of them, or honest=False."
            )
        several = len(np.unique(joined)) < rows.n
        folds = GroupFolds(n_folds, random_state=seed) if several else StratifiedFolds(n_folds, random_state=seed)
        splits = as_splits(folds, rows.X, rows.labels, joined if several else None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the fit of all rows has warned of the same
            return crossfit(clone(self.method_), rows.X, rows.labels, Z, splits, known, rows.counts)

    def reweighted(self, components: float, features: float) -> Self:
        """A copy with the map of [a Z, b S] in place of [Z, w S], by the same fitted method: a = 1 and b = 0 lay out
        the components alone, a = 0 and b = 1 the features alone (``features_`` is inf). Raises ValueError where no
        features were laid out."""
        check_is_fitted(self, "map_")
        beside, former = vars(self).get("_beside"), self.map_
        if beside is None or not isinstance(former, NeighborMap):
            raise ValueError("No features were laid out beside the components; fit with features above 0.")
        factors, q = (float(components), features / self.features_), len(beside.level)
        found = copy(self)
        found._beside, found.features_ = beside.times(*factors), features / components if components else np.inf
        laid = (former.Z / former.factors + former.mean) * np.repeat(factors, [q, former.Z.shape[1] - q])
        found.map_ = NeighborMap.of(laid, self.layout_, self.n_components_, self._drawn_seed(), self.n_jobs)
        return found

    @property
    def places_(self) -> np.ndarray:
        """The places of the distinct training rows."""
        check_is_fitted(self, "map_")
        return self.map_.places[np.argsort(self._seen.first)]

    def embed(self, X: Any) -> np.ndarray:
        """The places (m, n_components) of checked rows, in double precision."""
        seen = self._seen.find(X)
        new = np.flatnonzero(seen < 0)
        places = np.empty((X.shape[0], self.n_components_))
        places[seen >= 0] = self.places_[np.searchsorted(self._first, seen[seen >= 0])]
        if len(new):
            X = X[new].astype(np.float64)
            Z = np.asarray(self.method_.transform(X), dtype=np.float64)
            places[new] = self.map_.place(self._laid(X, Z))
        return places
