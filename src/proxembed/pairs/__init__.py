"""Measures of two rows: each one object with its formula, edge weight, derivative, parameters and uses."""
