"""Fixtures of the workflow."""

from unit.workflow.conftest import empty_figures, few_rivals, full_at, planes_alone, quick, usual_speed

__all__ = ["empty_figures", "few_rivals", "full_at", "planes_alone", "quick", "usual_speed"]
