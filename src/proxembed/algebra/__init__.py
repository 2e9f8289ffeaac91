"""Structured operators and the solvers that read their structure."""
