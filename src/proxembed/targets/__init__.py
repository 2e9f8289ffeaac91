"""Targets: every rule of y."""

from .labels import LabelMatrix

__all__ = ["LabelMatrix"]
