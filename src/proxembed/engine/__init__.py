"""The engine: the search for the embedding that serves the labels best."""

from .defc import DEFC
from .search import EmbeddingSearch

__all__ = ["DEFC", "EmbeddingSearch"]
