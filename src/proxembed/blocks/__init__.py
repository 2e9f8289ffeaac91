"""Blocks of rows that are read one after another, or worked on where they are: arrays, memory maps, files of NumPy and
SciPy, iterables, collections of dask (imported here alone)."""

from .dask_blocks import blocks_of, is_dask, lazily, pieces_of, transform_lazily
from .row_blocks import RowBlocks

__all__ = ["RowBlocks", "blocks_of", "is_dask", "lazily", "pieces_of", "transform_lazily"]
