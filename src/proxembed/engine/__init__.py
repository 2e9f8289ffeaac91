"""The engine: the search for the embedding that serves the labels best."""

from .search import EmbeddingSearch

__all__ = ["EmbeddingSearch"]
