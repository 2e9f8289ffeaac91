"""Classifiers on embeddings, as scikit-learn estimators."""

from .multi_output_ridge import MultiOutputRidge

__all__ = ["MultiOutputRidge"]
