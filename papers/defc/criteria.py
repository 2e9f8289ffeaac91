"""Fisher's criterion beside the two forms of friends and enemies, at equal settings.  [mu2012defc]

As in the paper: relation features by the polynomial kernel, features not preprocessed, the difference (17), FLDA. Every
form is tried with the same degrees and the same lambdas; neighbours are the nearest rows by the Gaussian.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from papers.defc.parts import Parts
from proxembed.methods.adaptive import EmbeddingModel, Limits, Switches, domain
from proxembed.study.defc.objective import Evaluation, Objective
from proxembed.targets.labels import LabelMatrix

FISHER, PAIRS, LOCAL = "Fisher's criterion", "friends and enemies (2), (3)", "local Fisher (15), (16)"
OPTIONS = {
    "preprocessing": "none",
    "relation": "polynomial",
    "relation_preprocessing": "none",
    "similarity": "gaussian",
    "pair_weights": "constant",
    "objective": "difference",
    "orthonormal": False,
}
CRITERIA = {name: Switches.named(**OPTIONS, criterion="pairs" if name == PAIRS else "fisher") for name in
            (FISHER, PAIRS, LOCAL)}  # fmt: skip
# On Reuters, in per cent.
PUBLISHED = {FISHER: 85.76, PAIRS: 88.12, LOCAL: 86.74}


def equal_settings(name: str, limits: Limits, number: int, seed: int) -> list[dict[str, Any]]:
    """So many settings of a criterion; the degree and lambda of each are those of the same place of the others.

    Examples
    --------
    >>> from proxembed.methods.adaptive import Limits
    >>> from papers.defc.criteria import FISHER, PAIRS, equal_settings
    >>> one, other = (equal_settings(name, Limits(60, 30, 60), 1, seed=0)[0] for name in (FISHER, PAIRS))
    >>> one["relation_p"] == other["relation_p"], one["lam"] == other["lam"], sorted(set(other) - set(one))
    (True, True, ['n_enemies', 'n_friends'])
    """
    shared, own = (np.random.default_rng((seed, stream)) for stream in (0, 1))
    switches, found = CRITERIA[name], []
    for _ in range(number):
        values: dict[str, Any] = {each: domain(each, switches, limits).sample(shared) for each in ("relation_p", "lam")}
        for each in ("n_friends", "n_enemies", "n_neighbors"):
            if each in switches.numeric():
                values[each] = None if name == FISHER else domain(each, switches, limits).sample(own)
        found.append({**values, "similarity_sigma": 1.0})  # which rows are nearest does not depend on it
    return found


def best_of_criterion(
    name: str, parts: Parts, classifier: str, largest: int, number: int, seed: int
) -> tuple[dict, EmbeddingModel]:
    """The best setting on the validation part, as plain data, and its model of the training part.

    Raises
    ------
    ValueError
        No setting can be used on these rows.
    """
    labels, switches = LabelMatrix.of(parts.y), CRITERIA[name]
    further = parts.X_val, LabelMatrix.of(parts.y_val)
    objective = Objective(parts.X, labels, further, classifier=classifier, measure="subset accuracy", k_cap=largest)
    tried = [objective.evaluate(switches, each) for each in equal_settings(name, objective.limits, number, seed)]
    best = max(tried, key=lambda each: each.score)
    if best.k is None:
        raise ValueError(f"{name} has no embedding of these rows by any of {number} settings: {best.failed}")
    model = EmbeddingModel.from_switches(switches, best.params, n_components=best.k).fit(parts.X, parts.y)
    return {**_told(best), "evaluations": number, "failed": sum(each.k is None for each in tried)}, model


def _told(best: Evaluation) -> dict:
    return {"validation": best.score, "k": best.k, "chosen": dict(best.params)}
