"""Measures of held-out rows, one object each."""
