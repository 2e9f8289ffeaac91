"""The adaptive embedding model: six stages, with the switches and parameters that a search may set."""

from .candidate import Embedded
from .copies import limits_of
from .embedding_model import EmbeddingModel
from .options import PairOptions
from .parameters import Limits, domain, sample
from .stages import StageRows, Stages
from .switches import Switches

__all__ = [
    "Embedded",
    "EmbeddingModel",
    "Limits",
    "PairOptions",
    "StageRows",
    "Stages",
    "Switches",
    "domain",
    "limits_of",
    "sample",
]
