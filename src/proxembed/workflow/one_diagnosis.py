"""One method examined on a data set: what `proxembed diagnose` does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from proxembed.catalogue import title_of
from proxembed.data import Dataset
from proxembed.evaluate.diagnose import Diagnosis, diagnose
from proxembed.evaluate.part import choose_scaling
from proxembed.execute.configuration import own_configuration
from proxembed.model import embedding_pipeline, training_labels
from proxembed.splits.splits import LEAST_GROUPS, Splitting, fold_limit, make_splits
from proxembed.targets.labels import LabelMatrix

from .record import named_labels


@own_configuration()
def diagnose_method(
    dataset: Dataset, estimator: BaseEstimator, n_folds: int = 3, *, n_all: int | None = None, **options: Any
) -> dict[str, Any]:
    """Diagnose a method, with scaling, on folds that respect the groups and the order of time of a data set.

    Parameters
    ----------
    dataset : Dataset
    estimator : unfitted method
    n_folds : int, default=3
    n_all : int, optional
        The rows of the table of which the data set is a sample.
    **options
        As ``evaluate.diagnose.diagnose`` takes them: ``n_shuffles``, ``n_resamples``, ``measure``, ``seed``,
        ``n_jobs``.

    Returns
    -------
    dict
        ``method``, and what ``Diagnosis.describe`` returns, labels by name.

    Raises
    ------
    ValueError
        The method cannot be fitted, an option is out of range, or the rows cannot be split.

    Examples
    --------
    >>> from proxembed import OPLS
    >>> from proxembed.data import digits
    >>> from proxembed.workflow.one_diagnosis import diagnose_method
    >>> found = diagnose_method(digits().take(range(200)), OPLS(n_components=2), n_shuffles=19, n_resamples=2)
    >>> found["method"], found["passed"]
    ('OPLS', True)
    """
    scaling = choose_scaling(dataset.X, LabelMatrix.of(dataset.y), dataset.groups)
    model = embedding_pipeline(estimator, dataset.X, readout=False, scaling=scaling)
    n_folds = fold_limit(dataset, n_folds)
    folds = make_splits(dataset, Splitting(n_folds=n_folds, seed=options.get("seed", 0)))
    found = replace(diagnose(model, dataset.X, training_labels(dataset), cv=folds, **options), n_all=n_all)
    text = verdict(found, groups_of(dataset))
    return {"method": title_of(estimator), **named_labels(found.describe(), dataset), "verdict": text}


def groups_of(dataset: Dataset) -> int | None:
    """The number of groups that the folds keep whole; None without groups."""
    return None if dataset.groups is None else len(np.unique(dataset.groups))


def verdict(found: Diagnosis, groups: int | None = None) -> str:
    """What a diagnosis says, in one sentence; ``groups`` is the number of groups of the rows.

    Examples
    --------
    >>> from proxembed.evaluate.diagnose import Diagnosis
    >>> from proxembed.workflow.one_diagnosis import verdict
    >>> verdict(Diagnosis("AP", 0.5, 0.6, 0.9, (0.2, 0.3), 1 / 3, False, (), (1.0,), (0.0,), 0, 10))
    'Cannot tell: 2 shuffles of the labels are too few; take 19 or more.'
    >>> verdict(Diagnosis("AP", 0.5, 0.6, 0.9, (0.2,) * 19, 1 / 20, True, (), (1.0,), (0.0,), 0, 10))
    'Better than shuffled labels: no shuffle of 19 reaches 0.500 on held-out rows; all features have 0.600.'
    """
    if groups is not None and groups < LEAST_GROUPS:
        return f"Cannot tell: the rows are of {groups} groups; {LEAST_GROUPS} or more are needed."
    shuffles, reached = len(found.null), sum(value >= found.held_out for value in found.null)
    if shuffles < 19:
        return f"Cannot tell: {shuffles} shuffles of the labels are too few; take 19 or more."
    times = "no shuffle" if reached == 0 else f"{reached} shuffle{'s' * (reached != 1)}"
    reach = f"reach{'es' * (reached < 2)} {found.held_out:.3f} on held-out rows"
    if found.passed:
        return f"Better than shuffled labels: {times} of {shuffles} {reach}; all features have {found.raw:.3f}."
    return f"Not better than shuffled labels: {times} of {shuffles} {reach} (p = {found.p:.3f})."
