"""Honest evaluation: measures, splits, rivals and the protocol of a comparison."""

from .rivals.linear import LabelScores

__all__ = ["LabelScores"]
