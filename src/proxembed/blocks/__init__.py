"""Blocks of rows that are read one after another, or worked on where they are: arrays, memory maps, files of NumPy and
SciPy, iterables, collections of dask (imported here alone)."""

from .dask_blocks import blocks_of, is_dask, lazily, pieces_of, transform_lazily
from .row_blocks import RowBlocks
from .weighted import WeightedTargets, split_weights

__all__ = [
    "RowBlocks",
    "WeightedTargets",
    "blocks_of",
    "is_dask",
    "lazily",
    "pieces_of",
    "split_weights",
    "transform_lazily",
]
