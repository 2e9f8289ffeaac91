"""The methods, one family a file; importing this package fills the registry."""

from . import (
    class_preserving,
    dependence,
    fisher,
    hypergraph,
    isomap,
    latent,
    local,
    manifold,
    mope,
    multilabel,
    named_combinations,
    preserving,
    relation,
    semisupervised,
    spectral_maps,
    variance,
)

__all__ = [
    "class_preserving",
    "dependence",
    "fisher",
    "hypergraph",
    "isomap",
    "latent",
    "local",
    "manifold",
    "mope",
    "multilabel",
    "named_combinations",
    "preserving",
    "relation",
    "semisupervised",
    "spectral_maps",
    "variance",
]
