"""DEFC: the search over the switches and parameters of the adaptive model."""

from .search import DEFC

__all__ = ["DEFC"]
