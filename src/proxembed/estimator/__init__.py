"""The estimator base: one contract for every method, and the list of all estimators."""

from .base import SpectralEmbedder
from .catalogue import described, estimators, listed, unknown_rule
from .explain import Explanation
from .rows import Rows

__all__ = ["Explanation", "Rows", "SpectralEmbedder", "described", "estimators", "listed", "unknown_rule"]
