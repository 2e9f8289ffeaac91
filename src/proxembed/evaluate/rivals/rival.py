"""What a rival is: something simple that an embedding must beat, stated by one class; and the registry of rivals."""

from abc import abstractmethod
from math import inf
from typing import Any, ClassVar, NamedTuple, Self

from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from proxembed.classify.label_classifier import LabelClassifier
from proxembed.estimator.base import Estimator
from proxembed.estimator.traits import Traits
from proxembed.estimator.validation import checked_features, learning
from proxembed.features.layouts import missing_library
from proxembed.params import Param, check_params, declared
from proxembed.targets.known import known_labels
from proxembed.targets.labels import LabelMatrix

from ..costs import Shape, fit_work, step_work, table

FOREST_ROWS = 5000
SIZE = Param(low=1, integer=True, choices=(None,))
RIVALS: "dict[str, type[Rival]]" = {}


class DataFacts(NamedTuple):
    """What a rival may know of the data and of the comparison."""

    shape: Shape
    sparse: bool = False
    one_class: bool = False  # each row carries one label
    whole_rows: bool = True  # the labels of at least half of the rows are all known
    seed: int = 0
    splits: int = 1  # fits of the comparison
    forest_rows: int = FOREST_ROWS  # rows that forests are grown on at most


class Rival:
    """What a rival states of itself. A class with a ``title`` joins the registry."""

    title: ClassVar[str]  # its name on the leaderboard
    position: ClassVar[int] = 1000  # place in the list of rivals, of which the last are cut first
    goal: ClassVar[str | None] = None  # "map": it stands for maps alone, at two components; None: for every goal
    class_traits: ClassVar[Traits] = Traits()  # of an estimator, the keywords of its class statement
    reads_whole_rows: ClassVar[bool] = False  # True: it needs rows whose labels are all known
    most_labels: ClassVar[float] = inf
    most_rows: ClassVar[float] = inf
    library: ClassVar[str | None] = None  # a layout whose library it needs
    share: ClassVar[float] = 1.0  # part of the budget of a rival that it may take
    label_wise: ClassVar[bool] = False  # True: its work grows with labels, of which there may be thousands
    cut: ClassVar[str] = "late"  # when a search that is short of time leaves it out: "first", "late" or "never"
    predicts: ClassVar[bool] = False  # True: its own scores stand in place of a read-out's
    places_unseen: ClassVar[bool] = False  # True: it places a training row by models that have not seen it
    grid: ClassVar[tuple[str, tuple[Any, ...]] | None] = None  # a parameter and the values that inner folds choose from
    lookup: ClassVar[str | None] = None  # title of a second rival: training rows at their labels, new rows at scores
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
        """Seconds of all its fits in the comparison; 0: as the table of costs says, and it always takes part."""
        return 0.0

    @classmethod
    def work(cls, estimator: Any, shape: Shape, forest_rows: int) -> float:
        """Work of one fit, of a rival without a forecast."""
        return step_work(cls.title, shape) if cls.title in table() else fit_work(estimator, shape)

    @classmethod
    def lacks(cls, facts: DataFacts) -> str:
        """Why it does not suit the data; "" where it does."""
        n, c = facts.shape.n, facts.shape.c
        if cls.library is not None and (library := missing_library(cls.library)) is not None:
            return f"{library} is not installed (pip install 'proxembed[maps]')"
        if cls.class_traits.labels == "single" and not facts.one_class:
            return "rows carry several labels or none"
        if cls.reads_whole_rows and not facts.whole_rows:
            return "labels are all known in fewer than half of the rows"
        if c <= cls.most_labels and n <= cls.most_rows:
            return ""
        if cls.most_labels == inf:
            return f"{n:,} rows; it takes up to {cls.most_rows:,}"
        return f"{c} labels and {n:,} rows; it takes up to {cls.most_labels} and {cls.most_rows:,}"


def rivals() -> tuple[type[Rival], ...]:
    """All rivals in the order of their importance."""
    return tuple(sorted(RIVALS.values(), key=lambda rival: rival.position))


def rival_methods() -> set[str]:
    """Class names of the methods that stand on every leaderboard as rivals, so that searches leave them out."""
    return {name for rival in RIVALS.values() for name in rival.methods}


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


class RivalScores(LabelClassifier, Rival, abstract=True):
    """Base of a rival that takes part by its own scores. A subclass defines ``_fit(X, labels)`` and ``_scores(X)``."""

    role = "rival"
    predicts = True

    def fit(self, X: Any, y: Any) -> Self:
        """Fit a score per label."""
        with learning(self):
            check_params(self)
            X = checked_features(self, X, reset=True)
            X, labels = known_labels(self, X, y, cells=True)
            self._fit(X, labels)
            self._remember(labels)
        return self

    @abstractmethod
    def _fit(self, X: Any, labels: LabelMatrix) -> None:
        """Fit to checked rows and their labels."""
