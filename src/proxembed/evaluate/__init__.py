"""Honest evaluation: measures, splits, rivals and the protocol of a comparison."""

from .label_scores import LabelScores

__all__ = ["LabelScores"]
