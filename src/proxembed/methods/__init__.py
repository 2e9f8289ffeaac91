"""The methods, one family a file; importing this package fills the registry."""

from . import (
    dependence,
    fisher,
    forest,
    latent,
    layout,
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
from . import dependence as hypergraph
from . import manifold as isomap
from . import preserving as class_preserving

__all__ = [
    "class_preserving",
    "dependence",
    "fisher",
    "forest",
    "hypergraph",
    "isomap",
    "latent",
    "layout",
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
