"""Transductive methods: the labels of the labelled rows spread over a graph of all rows."""

from .propagation import MLGFHF, MLGRF, MLLGC, SMSE
from .ssdr_mc import SSDRMC

__all__ = ["MLGFHF", "MLGRF", "MLLGC", "SMSE", "SSDRMC"]
