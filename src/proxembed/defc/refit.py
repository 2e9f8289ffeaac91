"""The best candidate of a search fitted again, on more rows than it was found on."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.adaptive import EmbeddingModel, Limits, PairOptions, StageRows, Stages, Switches, domain, limits_of
from proxembed.adaptive.embedding_model import COUNTS
from proxembed.targets.labels import LabelMatrix

from .objective import Evaluation, Objective


def grown(
    params: dict[str, float], switches: Switches, old: Limits, new: Limits, factor: float
) -> dict[str, float | None]:
    """Parameters for more rows: numbers of neighbours in proportion, those that meant all rows still do.

    Examples
    --------
    >>> params = {"similarity_sigma": 1.0, "n_friends": 4, "n_enemies": 39, "lam": 0.1}
    >>> grown(params, Switches(3, 5, 0, 5, 1, 1, 2, 0), Limits(40, 20, 40), Limits(80, 40, 80), 2)
    {'similarity_sigma': 1.0, 'n_friends': 8, 'n_enemies': None, 'lam': 0.1}
    """
    found: dict[str, float | None] = dict(params)
    for name in params.keys() & COUNTS:
        all_rows = params[name] >= domain(name, switches, old).high
        found[name] = None if all_rows else domain(name, switches, new).clip(math.floor(factor * params[name] + 0.5))
    return found


def carried_over(
    params: dict[str, float], switches: Any, searched: LabelMatrix, rows: float, labels: LabelMatrix, **options: Any
) -> dict[str, float | None]:
    """Parameters found by fits on ``rows`` of the rows searched (of folds the mean), for a fit on other rows.

    ``options`` are those of ``PairOptions`` with which they were found.

    Examples
    --------
    >>> searched, params = LabelMatrix.of([0, 1] * 20), {"n_friends": 4, "lam": 0.1}
    >>> carried_over(params, (3, 5, 0, 5, 1, 1, 2, 0), searched, 32, searched)
    {'n_friends': 5, 'lam': 0.1}
    """
    if labels.n == rows:
        return dict(params)
    old, new = (limits_of(each, PairOptions(**options)) for each in (searched, labels))
    return grown(params, Switches.of(switches), old, new, labels.n / rows)


def trained_on(objective: Objective) -> float:
    """Rows on which candidates were fitted; of folds the mean."""
    if objective.further is not None:
        return objective.labels.n
    return float(np.mean([len(train) for train, _ in objective.splits]))


def joined(X: Any, labels: LabelMatrix, further: tuple[Any, LabelMatrix]) -> tuple[Any, LabelMatrix]:
    """Training and validation rows as one; validation rows of a class that only they have stay out."""
    X_val, labels_val = further
    if labels.form == "classes":
        known = np.flatnonzero(labels_val.m > 0)
        X_val, labels_val = X_val[known], labels_val.take(known)
    stack = sparse.vstack if sparse.issparse(X) else np.vstack
    Y = sparse.csc_array(sparse.vstack([labels.Y, labels_val.Y]))
    return stack([X, X_val]), replace(labels, Y=Y)


def refitted(best: Evaluation, params: dict[str, Any], X: Any, labels: LabelMatrix, **options: Any) -> EmbeddingModel:
    """The best candidate on these rows, with its number of components, or as many as it has here.

    ``options`` are those of ``PairOptions`` with which it was found.
    """
    model = EmbeddingModel.from_switches(best.switches, params, n_components=best.k, n_landmarks=None, **options)
    try:
        return model.fit(X, labels)
    except ValueError as error:
        found = Stages(StageRows(X, labels), **options).embed(model.switches(), params)
        if found.failed is not None:
            raise ValueError(
                f"the best candidate, {list(best.switches)}, cannot be fitted on all {labels.n} rows: {found.failed} "
                'Give validation rows and refit="train", or another random_state.'
            ) from error
        return model.set_params(n_components=min(best.k, found.Z.shape[1])).fit(X, labels)
