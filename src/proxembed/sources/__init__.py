"""Blocks of rows that are read one after another: arrays, memory maps, files of NumPy and SciPy, iterables."""

from .row_blocks import RowBlocks

__all__ = ["RowBlocks"]
