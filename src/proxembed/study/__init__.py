"""The study: the loop of every search, its strategies for methods, and EmbeddingSearch."""

from .embedding_search import EmbeddingSearch

__all__ = ["EmbeddingSearch"]
