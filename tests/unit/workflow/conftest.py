"""Fixtures of the workflow."""

from runs import empty_figures, full_at, usual_speed

__all__ = ["empty_figures", "full_at", "usual_speed"]
