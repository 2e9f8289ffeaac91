"""Targets: every rule of y."""

from .labels import LabelMatrix
from .outputs import Outputs
from .reading import read_targets
from .targets import Output, Targets

__all__ = ["LabelMatrix", "Output", "Outputs", "Targets", "read_targets"]
