"""Splits: stratified folds, groups, time, held-out parts."""

from .splits import (
    GroupFolds,
    Split,
    Splitting,
    StratifiedFolds,
    group_folds,
    holdout_split,
    make_splits,
    standard_split,
    stratified_folds,
)

__all__ = [
    "GroupFolds",
    "Split",
    "Splitting",
    "StratifiedFolds",
    "group_folds",
    "holdout_split",
    "make_splits",
    "standard_split",
    "stratified_folds",
]
