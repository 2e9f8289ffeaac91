"""Mu et al. 2012 (TNNLS): adaptive embeddings."""
