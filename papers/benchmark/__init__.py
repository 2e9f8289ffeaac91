"""The benchmark of multi-label and partly labelled embeddings on eight sets."""
