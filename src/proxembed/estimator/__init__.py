"""The estimator base: one contract for every method."""
