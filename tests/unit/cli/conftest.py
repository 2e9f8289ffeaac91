"""Fixtures of the verbs."""

from runs import empty_figures, file, full_at, made, unsplit, usual_speed

__all__ = ["empty_figures", "file", "full_at", "made", "unsplit", "usual_speed"]
