"""Fixtures of the verbs."""

from unit.cli.conftest import empty_figures, few_rivals, file, full_at, made, planes_alone, quick, unsplit, usual_speed

__all__ = [
    "empty_figures",
    "few_rivals",
    "file",
    "full_at",
    "made",
    "planes_alone",
    "quick",
    "unsplit",
    "usual_speed",
]
