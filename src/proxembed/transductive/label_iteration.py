"""The alternation of SSDR-MC: weights from labels, soft labels from weights, labels from soft labels, until they stay.

In: local weights, known labels, a rule of inference and one of decision. Out: labels, soft labels and the course of the
run; a run that returns to earlier labels ends in the member of its cycle with the smallest cost. [qian2010ssdrmc]
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from ..proximity.reconstruction import reconstruction_matrix
from .label_inference import Inference, column_groups
from .label_weights import LocalWeights
from .reach import neighbour_pattern, reaches


@dataclass(frozen=True)
class Outcome:
    """Labels (n x c of bool), the soft labels they come from, W, how the run ended and one record a pass.

    The soft labels come from W, but for a cycle, whose W is that of the labels.
    """

    labels: np.ndarray
    soft: np.ndarray
    W: sparse.csr_array
    status: str
    trace: list[dict[str, Any]]


@dataclass
class Alternation:
    """``decide`` maps soft labels to labels (n x c of bool); ``start`` is "features" or "zero"; ``gains``: a label once
    found stays."""

    weights: LocalWeights
    known: np.ndarray
    Y: np.ndarray
    inference: Inference
    decide: Callable[[np.ndarray], np.ndarray]
    max_changes: int = 5
    max_iter: int = 50
    start: str = "features"
    gains: bool = False
    balance: bool = False
    trace: list[dict[str, Any]] = field(default_factory=list)
    route: str = ""

    def run(self) -> Outcome:
        """Passes until at most ``max_changes`` cells change, a cycle, or ``max_iter``; two at least."""
        F, soft = self.Y & self.known, (self.Y & self.known).astype(np.float64)
        states: list[np.ndarray] = []
        seen: dict[bytes, int] = {}
        status = "max_iter"
        if self.balance and self.start == "zero":
            self._balance(F)
        for number in range(1, self.max_iter + 1):
            began = time.perf_counter()
            before = F
            solved = self.weights.update(None if number == 1 and self.start == "features" else F)
            if number == 1 or solved or self.inference.prior == "paper":
                soft, told = self._soft(F, soft)
            F = self.decided(soft, F)
            changed = int(np.count_nonzero(F != before))
            if number == 1 and self.balance and self.start == "features":
                self._balance(F)
            self.trace.append(self._record(F, soft, changed, told, began))
            if number > 1 and changed <= self.max_changes:
                status = "converged"
                break
            states.append(np.packbits(F))
            first = seen.setdefault(states[-1].tobytes(), number)
            if first < number:
                status = "cycle"
                F, soft = self._least(states[first - 1 : number - 1], soft)
                break
        return Outcome(F, soft, self._matrix(), status, self.trace)

    def decided(self, soft: np.ndarray, before: np.ndarray) -> np.ndarray:
        """Labels from soft labels: known cells keep theirs but for prior="masked", which fits them too."""
        F = self.decide(soft)
        if self.gains:
            F |= before & ~self.known
        return F if self.inference.prior == "masked" else np.where(self.known, self.Y, F)

    def _matrix(self) -> sparse.csr_array:
        return reconstruction_matrix(self.weights.index, self.weights.weights, len(self.known))

    def _soft(self, F: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, dict[str, Any]]:
        """Soft labels of the weights as they are; for prior="paper" from all labels found so far."""
        given = self.Y & self.known
        if self.inference.prior == "paper":
            given = given | (F & ~self.known)
        unreached = self._unreached()
        found = self.inference.soft(self._matrix(), self.known, given.astype(np.float64), unreached, start, self.route)
        self.route = found.solver.rpartition("+")[2]
        told = {"solver": found.solver, "residual": found.residual, "unreached": int(np.count_nonzero(unreached))}
        return found.Z, told

    def _unreached(self) -> np.ndarray:
        """Cells of rows without a path of weights to a row where the label is known."""
        out = np.zeros(self.known.shape, dtype=bool)
        if self.inference.prior == "paper":
            return out
        edges = neighbour_pattern(self.weights.index, self.weights.weights)
        for columns in column_groups(self.known):
            out[:, columns] = ~reaches(edges, self.known[:, columns[0]])[:, None]
        return out

    def _balance(self, F: np.ndarray) -> None:
        """The Gram matrices of labels brought to the size of the features', so that alpha has no unit."""
        features, labels = self.weights.mean_traces(F.astype(np.float64), np.flatnonzero(self.known.any(axis=1)))
        if features > 0 and labels > 0:
            self.weights.scale_labels(features / labels)

    def cost(self, F: np.ndarray) -> tuple[float, float]:
        """(1 - alpha) |X - WX|^2 and alpha |F - WF|^2, for the weights as they are."""
        blend, labels = self.weights.blend, F.astype(np.float64)
        error = float(np.sum((labels - self._matrix() @ labels) ** 2))
        return self.weights.feature_error(), blend.alpha * blend.scale * error

    def _record(self, F: Any, soft: np.ndarray, changed: int, told: dict[str, Any], began: float) -> dict[str, Any]:
        features, labels = self.cost(F)
        return {
            "changed": changed,
            "feature_cost": features,
            "label_cost": labels,
            "residual": told["residual"],
            "largest": float(np.abs(soft[~self.known]).max(initial=0.0)),
            "unreached": told["unreached"],
            "solver": told["solver"],
            "seconds": time.perf_counter() - began,
        }

    def _least(self, cycle: list[np.ndarray], soft: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The labels of a cycle of smallest cost and the soft labels they came from; leaves the weights made from
        these labels."""
        members = [self._unpacked(bits) for bits in cycle]
        costs = []
        for F in members:
            self.weights.update(F)
            costs.append(sum(self.cost(F)))
        best = int(np.argmin(costs))
        before = members[best - 1]
        self.weights.update(before)
        soft, _ = self._soft(before, soft)
        self.weights.update(members[best])
        return members[best], soft

    def _unpacked(self, bits: np.ndarray) -> np.ndarray:
        n, c = self.known.shape
        return np.unpackbits(bits, count=n * c).reshape(n, c).astype(bool)
