"""Gönen 2014: Bayesian supervised and semi-supervised multi-label learning."""
