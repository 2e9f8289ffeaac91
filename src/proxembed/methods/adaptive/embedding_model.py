"""EmbeddingModel: the six stages with chosen options as one estimator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from proxembed.algebra.arrays.matrix import row_blocks
from proxembed.estimator.base import Embedder, natural_components
from proxembed.estimator.nested import Nested
from proxembed.estimator.validation import in_range
from proxembed.features.prototypes import LANDMARK_COUNT, LANDMARK_SEED_DOC, landmark_count, landmark_rows
from proxembed.params import SEED, integers, log, param
from proxembed.targets.labels import LabelMatrix

from .candidate import Embedded, StageRows, Stages
from .pairs import CHOICES, PairOptions
from .points import Projection, float64
from .switches import CRITERIA, OBJECTIVES, OPTIONS, PAIR_WEIGHTS, PREPROCESSINGS, RELATIONS, SIMILARITIES, Switches

EXACT_UP_TO, LANDMARKS = 5000, 2000  # a fit takes n^3 multiplications and some ten n x n arrays
COUNTS = ("n_friends", "n_enemies", "n_neighbors")
ALL_DOC = " None: all."
SIGMA_DOC = "Width of the Gaussian {}, in medians of the squared distances."


def _degree(role: str) -> Any:
    return param(default=2, low=1, integer=True, search=integers(1, 5), doc=f"Degree of the polynomial {role}.")


def _sigma(role: str) -> Any:
    return param(default=1.0, above=0, search=log(2.0**-5, 2.0**5), doc=SIGMA_DOC.format(role))


def _tau(role: str) -> Any:
    return param(default=1.0, above=0, search=log(1e-3, 10.0), doc=f"Width of the alternative weight as {role}.")


class EmbeddingModel(Nested, Embedder, labels="multi"):
    """Adaptive embedding model: preprocessing, relation features, pairs from the preprocessed rows, projection.
    [mu2012defc]

    Preprocessing, relations to the rows of the fit, pairs and projection, each chosen by a switch, in one estimator.
    The rows are preprocessed. The features are their relations to the rows of the fit (or the rows themselves),
    preprocessed again. Similarities of the preprocessed rows and the labels determine which pairs to separate (A') and
    which to keep together (B'). The projection P maximises tr P'X_t'(L(A') - lam L(B'))X_t P or a variant of it.
    ``from_switches`` sets the options found by a search. Rows may have several labels. A fit needs n x n arrays; with
    ``n_landmarks`` the model is fitted on rows drawn at random, from every label set in proportion, and places all
    others as new rows.

    Attributes
    ----------
    landmarks_ : indices of the rows that the model was fitted on, among those whose labels are known.
    switches_ : tuple of eight integers, the options.
    eigenvalues_ : (k,) array.
    n_components_ : int, k.
    repairs_ : tuple of str, the rules that were needed to make the options work on these data.

    Raises
    ------
    ValueError
        For options that have no embedding on these data (the message says why), n_components above the bound, bad X or
        y.

    See Also
    --------
    proxembed.DEFC : Assembles and tunes a model by search.

    Examples
    --------
    >>> from proxembed import EmbeddingModel
    >>> from proxembed.data import digits
    >>> X, Y = digits().X[:200], digits().Y[:200]
    >>> model = EmbeddingModel(relation="cosine", n_components=2).fit(X, Y)
    >>> model.transform(X).shape
    (200, 2)
    """

    role = "model"

    n_components: int | None = param(
        default=None, low=1, integer=True, choices=(None,), doc="Components k; None: the rank of the labels."
    )
    preprocessing: str = param(
        default="standard", choices=PREPROCESSINGS, search=PREPROCESSINGS, doc="Preprocessing of the rows."
    )
    relation: str = param(
        default="euclidean",
        choices=RELATIONS,
        search=RELATIONS,
        doc="Measure of the relation features; none: the rows themselves.",
    )
    relation_preprocessing: str = param(
        default="none", choices=PREPROCESSINGS, search=PREPROCESSINGS, doc="Preprocessing of the relation features."
    )
    similarity: str = param(
        default="gaussian", choices=SIMILARITIES, search=SIMILARITIES, doc="Measure of the similarity of rows."
    )
    criterion: str = param(
        default="fisher", choices=CRITERIA, search=CRITERIA, doc="Friends and enemies, or local Fisher weights."
    )
    pair_weights: str = param(
        default="similarity", choices=PAIR_WEIGHTS, search=PAIR_WEIGHTS, doc="Weight of a pair: 1, or its similarity."
    )
    objective: str = param(
        default="ratio",
        choices=OBJECTIVES,
        search=OBJECTIVES,
        doc="Difference or ratio of both parts, enemies far apart only, friends close together only.",
    )
    orthonormal: bool = param(
        default=False, kind=bool, search=(False, True), doc="Whether P is made orthonormal (the ratio's is not)."
    )
    relation_p: int = _degree("relation")
    relation_sigma: float = _sigma("relation")
    relation_tau: float = _tau("relation")
    similarity_p: int = _degree("similarity")
    similarity_sigma: float = _sigma("similarity")
    similarity_tau: float = _tau("similarity")
    n_friends: int | None = param(
        default=5, low=1, integer=True, choices=(None,), doc="Friends of a row in its class." + ALL_DOC
    )
    n_enemies: int | None = param(
        default=20,
        low=1,
        integer=True,
        choices=(None,),
        doc="Nearest rows, of its own and one other class by default, among which a row has enemies." + ALL_DOC,
    )
    n_neighbors: int | None = param(
        default=None, low=1, integer=True, choices=(None,), doc="Neighbours for local Fisher weights." + ALL_DOC
    )
    lam: float = param(
        default=0.1,
        low=0,
        search=log(1e-6, 1e2),
        doc="Weight of the friends (difference) or ridge of the constraint (ratio).",
    )
    lam_scale: str = param(
        default="trace", choices=CHOICES["lam_scale"], doc="Unit of lam: the balance of the traces, or 1."
    )
    link: str = param(
        default="undirected", choices=CHOICES["link"], doc="Whether one row or both must be near the other."
    )
    enemy_pool: str = param(
        default="pair",
        choices=CHOICES["enemy_pool"],
        doc="Whether enemies are among the nearest rows of a row's own and one other class, or of the other alone.",
    )
    g_raw: bool = param(
        default=False,
        kind=bool,
        doc="Whether similarities weigh pairs as they are, or as shares of the largest one, 0 where they are negative.",
    )
    multilabel: str = param(
        default="sets",
        choices=CHOICES["multilabel"],
        doc="Rows of several labels are paired by their label sets, or as copies, one for each label (MESD).",
    )
    label_similarity: str = param(
        default="dice",
        choices=CHOICES["label_similarity"],
        doc='Weight of friends by their label sets, where multilabel="sets".',
    )
    n_landmarks: int | str | None = param(
        default="auto", like=LANDMARK_COUNT, doc="Rows to fit on; None: all; auto: all up to 5,000 rows, 2,000 above."
    )
    random_state: Any = param(default=0, like=SEED, doc=LANDMARK_SEED_DOC)

    @classmethod
    def from_switches(cls, switches: Any, params: Mapping[str, float] | None = None, **options: Any) -> EmbeddingModel:
        """The model of eight switches and the parameters that a search has found for them.

        Parameters
        ----------
        switches : Switches, or eight integers in the order p, r, t, s, em, g, eo, o.
        params : values by the names of ``Switches.numeric()``; those left out have their default.
        **options : further parameters, such as n_components.

        Examples
        --------
        >>> EmbeddingModel.from_switches([3, 5, 0, 5, 1, 2, 2, 0], {"n_friends": 3}, n_components=2).n_friends
        3
        """
        return cls(**Switches.of(switches).options(), **dict[str, Any](params or {}), **options)

    def switches(self) -> Switches:
        """The options as eight integers."""
        return Switches.named(**{option: getattr(self, option) for option, _, _ in OPTIONS.values()})

    def describe(self) -> str:
        """The model in words, with the parameters that it has.

        >>> print(EmbeddingModel(relation="none", criterion="pairs", objective="friends").describe())
        features standardised; no relation features; neighbours by gaussian; friends and enemies, weighted by
        similarity; friends close together (similarity_sigma=1.0, n_friends=5)
        """
        switches = self.switches()
        values = self._values(switches).items()
        shown = ", ".join(f"{name}={'all' if value is None else value}" for name, value in values)
        return f"{switches.describe()} ({shown})" if shown else switches.describe()

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the projection.

        Parameters
        ----------
        X : (n, d) array or CSR
        y : labels in any form

        Returns
        -------
        self
        """
        with self._learning():
            rows = self._validate(X, y)
            switches = self.switches()
            self.landmarks_: Any = chosen_landmarks(
                "EmbeddingModel", rows.X, rows.label_matrix, self.n_landmarks, self.random_state
            )
            part = StageRows(rows.X, rows.label_matrix)
            if self.landmarks_ is None:
                self.landmarks_ = np.arange(rows.n)
            else:
                part = StageRows(rows.X[self.landmarks_], rows.labels.take(self.landmarks_))
            stages = Stages(part, **PairOptions.taken_from(self))
            found = stages.embed(switches, self._values(switches))
            if found.failed is not None:
                raise ValueError(f"EmbeddingModel has no embedding of these rows by these options. {found.failed}")
            self._store(found, natural_components(rows))
            self.switches_ = switches.as_tuple()
        return self

    def transform(self, X: Any) -> Any:
        """The embedding of rows X, (m, d) to (m, k), in X's float type."""
        check_is_fitted(self, "projection_")
        X = self._input(X, reset=False)
        projection = Projection.restored(self.projection_)
        parts = row_blocks(X.shape[0], max(X.shape[1], len(self.landmarks_)))
        return in_range(np.vstack([projection.apply(float64(X[part])) for part in parts]), X)

    def _store(self, found: Embedded, natural: int) -> None:
        bound = found.Z.shape[1]
        k = min(natural, bound) if self.n_components is None else int(self.n_components)
        if k > bound:
            raise ValueError(
                f"n_components={k} is more than the {bound} components that EmbeddingModel has on these data. "
                f"Use n_components <= {bound}, or None for the natural number."
            )
        self._flat = found.flat
        self._refuse_flat(k)
        self.projection_, self.eigenvalues_ = found.projection.first(k).stored(), found.eigenvalues[:k]
        self.repairs_, self.n_components_ = found.repairs, k

    def _refuse_flat(self, k: int) -> None:
        if k <= self._flat:
            raise ValueError(
                f"All rows coincide in the first {k} components of these options, up to rounding. Use n_components > "
                f"{self._flat}, or another objective."
            )

    def shorten(self, short: Any, k: int) -> None:
        self._refuse_flat(k)
        short.projection_ = Projection.restored(self.projection_).first(k).stored()

    def _values(self, switches: Switches) -> dict[str, Any]:
        return {name: getattr(self, name) for name in switches.numeric()}


def chosen_landmarks(name: str, X: Any, labels: LabelMatrix, asked: int | str | None, seed: Any) -> np.ndarray | None:
    """The rows on which the estimator ``name`` with ``n_landmarks=asked`` is fitted, of every label set in proportion;
    None for all."""
    number = landmark_count(name, asked, labels.n, EXACT_UP_TO, LANDMARKS)
    return None if number is None else landmark_rows(X, number, y_groups=labels.group_of_row(), random_state=seed)
