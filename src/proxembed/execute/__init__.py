"""Execution: budgets of seconds."""
