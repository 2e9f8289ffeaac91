"""The study: candidates, trials and successive halving, behind EmbeddingSearch."""

from .embedding_search import EmbeddingSearch

__all__ = ["EmbeddingSearch"]
