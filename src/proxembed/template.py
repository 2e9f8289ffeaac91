"""Template: the pair of operators (A, B) that a spectral method is.

max tr[P'Ap P]  subject to  P'Bp P = I,   Ap = R'AR + a I,   Bp = R'BR + b I.     [mu2012mesd]
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .algebra.operators import Operator


@dataclass(frozen=True)
class Template:
    """A pair of structured operators and what the solver must know beside them.

    ``A`` is always maximised; ``sense=-1`` says that the method states a minimisation, so that the recorded
    eigenvalues are the method's own. ``B=None`` stands for 0. ``offset`` holds the row weights of the mean that
    transform subtracts (None: no centring) and of the row-space restriction. ``target`` is the label factor that
    ``ridge="auto"`` regresses on.
    """

    A: Operator
    B: Operator | None = None
    a: float = 0.0
    b: float = 1.0
    offset: np.ndarray | None = None
    target: Any = None
    sense: int = 1

    def flipped(self) -> Template:
        """(-B, A): within-scatter minimised under the between constraint, a and b likewise."""
        if self.B is None:
            raise ValueError("Only a template with a constraint operator B can be flipped.")
        return replace(self, A=-self.B, B=self.A, a=-self.b, b=self.a)

    def spread(self, index: np.ndarray, n: int) -> Template:
        """The same template on n rows, of which ``index`` are the ones it was made from."""

        def wide(op):
            return None if op is None else op.spread(index, n)

        offset = None
        if self.offset is not None:
            offset = np.zeros(n)
            offset[index] = self.offset
        return replace(self, A=wide(self.A), B=wide(self.B), offset=offset, target=None)

    def rescale(self, factor: float) -> Template:
        """The template with A and a multiplied by a positive factor: same embedding, eigenvalues scaled."""
        return replace(self, A=factor * self.A, a=factor * self.a)
