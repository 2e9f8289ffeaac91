"""Execution: executor, budgets and clock, the one loop that runs fits, the one ledger of finished work, whole files."""
