"""The adaptive embedding model: six stages, with the switches and parameters that a search may set."""

from .candidate import Embedded, StageRows, Stages
from .copies import Limits, domain, limits_of, sample
from .embedding_model import EmbeddingModel
from .pairs import PairOptions
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
