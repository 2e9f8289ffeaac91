"""Proximities between rows: from features (weights), from labels (similarity)."""
