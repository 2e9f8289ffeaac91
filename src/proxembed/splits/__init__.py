"""Splits: stratified folds, groups, time, held-out parts."""
