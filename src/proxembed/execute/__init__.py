"""Execution: one executor on joblib's active backend, and budgets of seconds."""
