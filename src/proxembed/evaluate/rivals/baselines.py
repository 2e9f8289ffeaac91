"""Rivals that learn little or nothing: all features, their largest variances, a random projection, Fisher's plane."""

from typing import Any

from proxembed.estimator.catalogue import title_of
from proxembed.estimator.traits import Traits
from proxembed.methods.fisher import FDA
from proxembed.methods.multilabel import MESD
from proxembed.methods.variance import LSI, PCA

from ..costs import Shape, fit_work
from .rival import DataFacts, Rival


class AllFeatures(Rival):
    """The features themselves, scaled as for every arm."""

    title = "all features"
    position = 10
    cut = "never"

    @classmethod
    def build(cls, facts: DataFacts) -> Any:
        return None


class RandomProjection(Rival):
    """The Gaussian random projection of scikit-learn."""

    title = "random projection"
    position = 70
    cut = "never"

    @classmethod
    def build(cls, facts: DataFacts) -> Any:
        from sklearn.random_projection import GaussianRandomProjection

        return GaussianRandomProjection(random_state=facts.seed)


class MethodRival(Rival):
    """Base of a rival that is a registered method, and goes by its name."""

    cut = "never"

    @classmethod
    def name_of(cls, estimator: Any) -> str:
        return title_of(estimator)

    @classmethod
    def work(cls, estimator: Any, shape: Shape, forest_rows: int) -> float:
        return fit_work(estimator, shape)


class LargestVariance(MethodRival):
    """PCA, or LSI of sparse features."""

    title = "PCA"
    position = 20
    methods = ("PCA", "LSI")

    @classmethod
    def build(cls, facts: DataFacts) -> Any:
        return LSI() if facts.sparse else PCA()


class FisherPlane(MethodRival):
    """FDA, inside MESD where rows carry several labels."""

    title = "FDA"
    position = 140
    goal = "map"
    class_traits = Traits(labels="multi")

    @classmethod
    def build(cls, facts: DataFacts) -> Any:
        return FDA() if facts.one_class else MESD(FDA())
