"""Honest evaluation: scores of held-out rows, rivals, the protocol of a comparison and its verdict."""
