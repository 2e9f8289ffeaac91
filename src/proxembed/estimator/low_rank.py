"""OfLowRank: methods that have as many components as their objective has positive eigenvalues, few beside the
features."""

from proxembed.params import param

from .base import SpectralEmbedder


class OfLowRank(SpectralEmbedder, abstract=True):
    """A method whose A is of low rank, that of the labels; ``fill`` gives it as many components as X has dimensions."""

    fill: str = param(
        default="none",
        choices=("none", "null"),
        doc='Components beyond the rank of A: none, or "null", directions of eigenvalue 0, orthonormal under the '
        "constraint: the principal axes of X within the null space of A, those of largest variance first.",
    )

    @property
    def fills_null(self) -> bool:
        return self.fill == "null"
