"""Fixtures of the tests on real data."""

from runs import few_rivals

__all__ = ["few_rivals"]
