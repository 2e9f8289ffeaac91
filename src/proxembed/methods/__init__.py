"""The methods, one family a file; importing this package fills the registry."""

from . import dependence, fisher, hypergraph, latent, multilabel, relation, variance

__all__ = ["dependence", "fisher", "hypergraph", "latent", "multilabel", "relation", "variance"]
