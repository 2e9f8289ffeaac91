"""Proximities between rows: from features (weights), from labels (similarity)."""

from .combine import combine_priority

__all__ = ["combine_priority"]
