"""What a rival is: something simple that an embedding must beat, stated by one class; and the registry of rivals."""

from abc import abstractmethod
from math import inf
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, RegressorMixin, TransformerMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from proxembed.algebra.arrays.matrix import guard_dense
from proxembed.classify.label_classifier import LabelClassifier
from proxembed.estimator.base import Estimator
from proxembed.estimator.traits import Traits
from proxembed.estimator.validation import checked_features, in_range, learning
from proxembed.estimator.weights import checked_weights, held_under, weighed_rows, weights_of_known
from proxembed.features.layouts import missing_library
from proxembed.params import Param, check_params, declared
from proxembed.tables.notes import counted
from proxembed.targets.known import known_labels, known_rows
from proxembed.targets.labels import LabelMatrix
from proxembed.targets.outputs import Outputs
from proxembed.targets.reading import read_targets

from ..costs import Shape, fit_work, step_work, table

FOREST_ROWS = 5000
SIZE = Param(low=1, integer=True, choices=(None,))
RIVALS: "dict[str, type[Rival]]" = {}


class DataFacts(NamedTuple):
    """What a rival may know of the data and of the comparison."""

    shape: Shape
    sparse: bool = False
    one_class: bool = False  # each row carries one label
    one_label: bool = False  # there is one label; the rows with and without it are two classes
    whole_rows: bool = True  # the labels of at least half of the rows are all known
    seed: int = 0
    splits: int = 1  # fits of the comparison
    forest_rows: int = FOREST_ROWS  # rows that forests are grown on at most
    numbers: bool = False  # the targets are outputs: numbers, or columns of several kinds


class Rival:
    """What a rival states of itself. A class with a ``title`` joins the registry."""

    title: ClassVar[str]  # its name on the leaderboard
    position: ClassVar[int] = 1000  # place in the list of rivals, of which the last are cut first
    takes: ClassVar[tuple[str, ...]] = ("labels",)  # "labels", "numbers" or both: the targets beside which it stands
    goal: ClassVar[str | None] = None  # "map": it stands for maps alone, at two components; None: for every goal
    class_traits: ClassVar[Traits] = Traits()  # of an estimator, the keywords of its class statement
    reads_whole_rows: ClassVar[bool] = False  # True: it needs rows whose labels are all known
    most_labels: ClassVar[float] = inf
    most_rows: ClassVar[float] = inf
    most_coefficients: ClassVar[float] = inf  # features times columns of targets
    most_cells: ClassVar[float] = inf  # rows times features times columns of targets
    library: ClassVar[str | None] = None  # a layout whose library it needs
    share: ClassVar[float] = 1.0  # part of the budget of a rival that it may take
    label_wise: ClassVar[bool] = False  # True: its work grows with labels, of which there may be thousands
    cut: ClassVar[str] = "late"  # when a search short of budget leaves it out: "first", "late", "last" or "never"
    predicts: ClassVar[bool] = False  # True: its own scores stand in place of a read-out's
    places_unseen: ClassVar[bool] = False  # True: it places a training row by models that have not seen it
    grid: ClassVar[tuple[str, tuple[Any, ...]] | None] = None  # a parameter and the values that inner folds choose from
    first_trees: ClassVar[bool] = False  # True: its trees are the first ones of the forest that methods usually have
    lookup: ClassVar[str | None] = None  # title of a second rival: training rows at their labels, new rows at scores
    weighs_rows: ClassVar[bool] = False  # True: its fit takes weights of rows
    methods: ClassVar[tuple[str, ...]] = ()  # registered methods that searches leave out, because they stand here

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "title" not in vars(cls):
            return
        known = RIVALS.get(cls.title)
        if known is not None and known.__module__ != cls.__module__:
            raise TypeError(
                f"A rival named {cls.title!r} is already registered by {known.__module__}; choose another title."
            )
        RIVALS[cls.title] = cls

    @classmethod
    def build(cls, facts: DataFacts) -> Any:
        """The unfitted estimator; None: the features themselves."""
        given, made = {"random_state": facts.seed, "max_rows": facts.forest_rows}, declared(cls)
        return cls(**{name: value for name, value in given.items() if name in made})

    @classmethod
    def name_of(cls, estimator: Any) -> str:
        """Its name on this leaderboard."""
        return cls.title

    @classmethod
    def forecast(cls, facts: DataFacts) -> float:
        """Work of all its fits in the comparison; 0: as the table of costs says, and it always takes part."""
        return 0.0

    @classmethod
    def work(cls, estimator: Any, shape: Shape, forest_rows: int) -> float:
        """Work of one fit, of a rival without a forecast."""
        return step_work(cls.title, shape) if cls.title in table() else fit_work(estimator, shape)

    @classmethod
    def not_installed(cls) -> str:
        """The library that it needs and that is not installed; "" where there is none."""
        return (cls.library and missing_library(cls.library)) or ""

    @classmethod
    def lacks(cls, facts: DataFacts) -> str:
        """Why it does not suit the data; "" where it does."""
        n, d, c = facts.shape.n, facts.shape.d, facts.shape.c
        if library := cls.not_installed():
            return f"{library} is not installed (pip install 'proxembed[maps]')"
        if cls.class_traits.labels == "single" and not (facts.one_class or facts.one_label):
            return "rows carry several labels or none"
        if cls.reads_whole_rows and not facts.whole_rows and not facts.numbers:
            return "labels are all known in fewer than half of the rows"
        if d * c > cls.most_coefficients:
            return f"{d:,} features times {counted(c, 'output')}; it takes up to {cls.most_coefficients:,}"
        if n * d * c > cls.most_cells:
            return f"{n:,} rows times {d:,} features times {counted(c, 'output')}; it takes up to {cls.most_cells:,}"
        if c <= cls.most_labels and n <= cls.most_rows:
            return ""
        if cls.most_labels == inf:
            return f"{n:,} rows; it takes up to {cls.most_rows:,}"
        return f"{counted(c, 'label')} and {n:,} rows; it takes up to {cls.most_labels} and {cls.most_rows:,}"


def rivals() -> tuple[type[Rival], ...]:
    """All rivals in the order of their importance."""
    return tuple(sorted(RIVALS.values(), key=lambda rival: rival.position))


def rival_methods() -> set[str]:
    """Class names of the methods that stand on every leaderboard as rivals, so that searches leave them out."""
    return {name for rival in RIVALS.values() for name in rival.methods}


def dense_features(X: Any, name: str) -> np.ndarray:
    """Dense rows of the same type for the rival of this name; a ValueError for sparse ones above 2 GiB."""
    if not sp.issparse(X):
        return X
    guard_dense(X.shape, f"The dense X of {name}", itemsize=X.dtype.itemsize)
    return X.toarray()


class RivalEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator, Rival, abstract=True):
    """Base of a rival that embeds dense or sparse rows, from labels of any form. A subclass sets ``n_components_`` in
    fit."""

    role = "rival"

    def _new_rows(self, X: Any) -> Any:
        check_is_fitted(self, "n_components_")
        return checked_features(self, X, reset=False)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = self.class_traits.labels is not None
        tags.target_tags.multi_output = self.class_traits.labels == "multi"
        return tags


class WeightedRival(Estimator, abstract=True):
    """The ``fit`` of a rival of labels whose rows may have weights. A subclass gives ``_fit(X, labels, w)``."""

    weighs_rows = True

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to the rows with a known label.

        Parameters
        ----------
        X : (n, d) array or sparse matrix
        y : labels in any form
            Classes, an indicator, or label sets.
        sample_weight : (n,) numbers >= 0, optional
            How often each row counts.

        Returns
        -------
        self
        """
        with learning(self):
            check_params(self)
            X = checked_features(self, X, reset=True)
            X, y, w = weighed_rows(X, y, sample_weight)
            X, labels = known_labels(self, X, y, cells=True)
            self._fit(X, labels, weights_of_known(self, y, w))
        return self

    @abstractmethod
    def _fit(self, X: Any, labels: LabelMatrix, w: np.ndarray | None) -> None:
        """Fit to checked rows and their labels; ``w``: how often each row counts, None: once."""


class RivalScores(WeightedRival, LabelClassifier, Rival, abstract=True):
    """Base of a rival that takes part by its own scores. A subclass gives ``_fit(X, labels, w)``, which calls
    ``_remember(labels)``, and ``_scores(X)``."""

    role = "rival"
    predicts = True


class RivalNumbers(RegressorMixin, Estimator, Rival, abstract=True):
    """Base of a rival that predicts numbers, and classes beside them by their indicators. A subclass defines
    ``_fit(X, y, folds, w)``, which may set ``own_factor_``, and ``_factor(X)``."""

    role = "rival"
    predicts = True
    takes = ("numbers",)

    def fit(self, X: Any, y: Any, folds: Any = None) -> Self:
        """Fit to the rows with a known cell, other cells at the mean of their column.

        Parameters
        ----------
        X : (n, d) array or sparse matrix
        y : (n,) or (n, q) numbers, or outputs
            NaN where unknown.
        folds : (n,) whole numbers from 0, optional
            The folds by which parameters are chosen and training rows predicted, such as those that keep groups
            together; None: random ones, and of a forest the rows that a tree has not drawn.

        Returns
        -------
        self
        """
        return self._fit_rows(X, y, folds)

    def _fit_rows(self, X: Any, y: Any, folds: Any, sample_weight: Any = None) -> Self:
        with learning(self):
            check_params(self)
            X = checked_features(self, X, reset=True)
            name = type(self).__name__
            if y is None:
                raise ValueError(f"{name} requires y to be passed, but the target y is None; give numbers.")
            outputs = read_targets(y, getattr(self, "target_type", None) or "real")
            if not isinstance(outputs, Outputs):
                raise ValueError(f"{name} takes numbers, and y holds labels: pass target_type='real'.")
            check_consistent_length(X, outputs.cells)
            rows = known_rows(name, outputs, stacklevel=3)
            if len(rows) < 2:
                raise ValueError(f"{name} needs at least 2 rows with known numbers; got {len(rows)} sample.")
            w = None
            if sample_weight is not None:
                own = checked_weights(sample_weight, X, outputs)
                rows = rows[own[rows] > 0]
                w = own[rows]
            outputs = outputs.take(rows) if w is None else held_under(outputs.take(rows), w)
            self._reading_ = outputs.reading
            folds = None if folds is None else np.unique(folds[rows], return_inverse=True)[1]
            self._fit(X[rows], outputs, folds, w)
        return self

    @abstractmethod
    def _fit(self, X: Any, y: Outputs, folds: np.ndarray | None, w: np.ndarray | None) -> None:
        """Fit to checked rows and their outputs; ``w``: how often each row counts, None: once.
        ``own_factor_``: F of these rows by models that have not seen them."""

    @abstractmethod
    def _factor(self, X: Any) -> np.ndarray:
        """F of checked rows."""

    def predict_factor(self, X: Any) -> np.ndarray:
        """Predictions (m, r) of the standardised factor F of the training rows, for rows X (m, d)."""
        check_is_fitted(self)
        X = checked_features(self, X, reset=False)
        return in_range(self._factor(X), X, np.float64)

    def predict(self, X: Any) -> Any:
        """Predictions in the form and units of y, within the range of the training rows. X: (m, d)."""
        F, scale = self.predict_factor(X), self._reading_.scale
        raw = np.divide(F, scale, out=np.zeros_like(F), where=scale > 0) + self._reading_.level
        return self._reading_.decoded(raw)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The mean over the columns of y of R2 (numbers and ranks) or accuracy, over the known cells. X: (m, d); y: in
        the form of that of fit; sample_weight: (m,)."""
        return self._reading_.score(y, self.predict(X), sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        return tags


class WeightedNumbers(RivalNumbers, abstract=True):
    """Base of a rival of numbers whose rows may have weights: ``w`` of ``_fit``."""

    weighs_rows = True

    def fit(self, X: Any, y: Any, folds: Any = None, sample_weight: Any = None) -> Self:
        """Fit to the rows with a known cell, as ``RivalNumbers`` does, with weights.

        Parameters
        ----------
        X : (n, d) array or sparse matrix
        y : (n,) or (n, q) numbers, or outputs
            NaN where unknown.
        folds : (n,) whole numbers from 0, optional
            The folds by which parameters are chosen and training rows predicted.
        sample_weight : (n,) numbers >= 0, optional
            How often each row counts.

        Returns
        -------
        self
        """
        return self._fit_rows(X, y, folds, sample_weight)
