"""Measures of held-out rows: one object each, functions and statistics."""

from .measures import Measure, register
from .metrics import average_precision, jaccard_at_k, macro_average_precision
from .neighbors import kept_neighbors, neighbor_weights, new_neighbor_weights

__all__ = [
    "Measure",
    "average_precision",
    "jaccard_at_k",
    "kept_neighbors",
    "macro_average_precision",
    "neighbor_weights",
    "new_neighbor_weights",
    "register",
]
