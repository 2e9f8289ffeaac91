"""Structured operators on rows: what a template is made of."""
