"""Targets: every rule of y."""
