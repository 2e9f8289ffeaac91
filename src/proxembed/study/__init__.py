"""The study: the loop of every search, its strategies for methods, and EmbeddingSearch."""
