"""Classifiers on embeddings, as scikit-learn estimators, and the one rule that cuts their scores."""

from .flda import FLDAClassifier
from .neighbors import MLKNN, LabelKNN
from .rank_svm import RankSVM
from .ridge import MultiOutputRidge
from .thresholds import Thresholded, Thresholds, apply_thresholds, cross_fitted_scores, tune_thresholds

__all__ = [
    "MLKNN",
    "FLDAClassifier",
    "LabelKNN",
    "MultiOutputRidge",
    "RankSVM",
    "Thresholded",
    "Thresholds",
    "apply_thresholds",
    "cross_fitted_scores",
    "tune_thresholds",
]
