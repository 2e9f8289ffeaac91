"""What a candidate may be refused for, checked by its own matrices."""

from __future__ import annotations

import numpy as np

from proxembed.methods.adaptive import pairs
from proxembed.methods.adaptive.candidate import Candidate

COINCIDE = 1e-12  # squared distance of rows that differ by rounding, beside the largest


def weighted_pairs(candidate, apart: bool) -> np.ndarray:
    """The proximities of the pairs that the objective pushes apart, or draws together, as an n x n array."""
    if candidate.options["criterion"] == "fisher":
        k = candidate.values["n_neighbors"]
        found = pairs.fisher_matrices(candidate.ranks, k, candidate.weights, candidate.setting.pairs)
        return np.abs(found[0 if apart else 1])
    if not apart:
        return pairs.friend_matrix(
            candidate.ranks, candidate.values["n_friends"], candidate.weights, candidate.setting.pairs
        )
    try:
        return pairs.enemy_matrix(candidate.ranks, candidate.values["n_enemies"], candidate.weights)[0]
    except ValueError:  # no pair has a weight
        return np.zeros((candidate.n, candidate.n))


def assert_refused_for_its_reason(stages, switches, values, reason: str) -> None:
    """Whitened rows of more features than rows are equally far apart, at a negative cosine; one centred feature has
    cosines +1 and -1 alone, and its rows coincide as relation features: pairs without a weight, or without a distance,
    are all that a candidate may be refused for, and similarities as they are for sums below 0."""
    candidate = Candidate(stages._setting, switches, dict(values), [])
    if candidate.setting.options.g_raw and candidate.weights is not None:
        assert (candidate.weights < 0).any(), (switches, reason)
        return
    W = weighted_pairs(candidate, "no enemies" in reason)
    T = candidate.space.T
    squares = ((T[:, None] - T[None]) ** 2).sum(axis=2)
    assert "no enemies" in reason or "no friends" in reason, (switches, reason)
    assert squares[W > 0].max(initial=0.0) <= COINCIDE * squares.max(), (switches, reason)
