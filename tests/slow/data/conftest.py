"""Fixtures of the slow tests on real data."""

from runs import empty_figures, few_rivals, planes_alone

__all__ = ["empty_figures", "few_rivals", "planes_alone"]
