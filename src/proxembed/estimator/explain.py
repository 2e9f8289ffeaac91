"""explain() and citation(): what a component is made of, which labels it serves, and the BibTeX of a class."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from numbers import Integral
from typing import Any

import numpy as np

from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.arrays.matrix import over, row_norms, unit_of
from proxembed.algebra.operators.structured import Repeats
from proxembed.params import safe_repr
from proxembed.tables.notes import visible
from proxembed.targets.targets import Targets

from .weights import repeated_labels, with_weighted_means

KEY = re.compile(r"\[([a-z]+\d{4}[a-z0-9]*)\]")
UNRELATED = 1e-12  # share of the largest covariance with the labels, over the length of the component, that is rounding


@dataclass(frozen=True)
class Explanation:
    """Signed weights of the top features and signed loadings of the top labels or outputs of one component, strongest
    first.

    With ``effects`` the numbers of the features are not weights but effects of one standard deviation of a feature;
    for a forest, those of its splits.

    See Also
    --------
    proxembed.diagnose : One method against shuffled labels.
    """

    component: int
    features: list[tuple[str, float]]
    labels: list[tuple[str, float]]
    effects: bool = False

    def __str__(self) -> str:
        lines = [f"component {self.component}", f"features ({'effects' if self.effects else 'weights'}):"]
        lines += [f"  {number:+.3g}  {name}" for name, number in self.features]
        lines += ["labels (loadings):"] * bool(self.labels)
        lines += [f"  {number:+.3g}  {name}" for name, number in self.labels]
        return "\n".join(map(visible, lines))


def label_loadings(
    rows: CentredMatrix, labels: Targets, components: np.ndarray, repeats: Repeats | None = None
) -> np.ndarray:
    """(k, c): covariance of each component with each standardised label, scaled to unit length a component. Rows
    without a known label are left out; other unknown cells are at the mean of their label. ``repeats``: how often
    each row occurs."""
    if labels.unknown is not None:
        index = np.flatnonzero(labels.rows_any)
        rows, repeats = rows.take(index), None if repeats is None else Repeats(repeats.weights[index])
        labels = with_weighted_means(labels.take(index), None if repeats is None else repeats.weights)
    if repeats is not None:
        labels = repeated_labels(labels, repeats.weights, whole=False)
    deviation, components = labels.deviations, over(components, unit_of(components))
    covariance = centred_products(rows, components.T, labels, repeats)
    loadings = np.divide(covariance, deviation, out=np.zeros_like(covariance), where=deviation > 0)
    length = row_norms(loadings)[:, None]
    relative = length / np.maximum(row_norms(components)[:, None], np.finfo(float).tiny)
    length[relative <= UNRELATED * relative.max(initial=0.0)] = 0.0
    return labels.expand(np.divide(loadings, length, out=np.zeros_like(loadings), where=length > 0))


def centred_products(rows: Any, P: np.ndarray, labels: Targets, repeats: Repeats | None) -> np.ndarray:
    """P'Xc'Yc, k x c, of the rows X with their labels, each as often as it occurs; P of d x k."""
    share = labels.sums / labels.n
    if repeats is None:
        return rows.tdot_under(P, labels.Y) - np.outer(P.T @ rows.column_sums(), share)
    total = rows.tdot_under(P, repeats.weights[:, None])
    return rows.tdot_under(P, repeats.of(labels.Y)) - total * share


def explanation(
    estimator: Any,
    component: int,
    n_features: int,
    n_labels: int,
    *,
    before: Sequence[Any] = (),
    feature_names: Sequence[str] | None = None,
    label_names: Sequence[str] | None = None,
) -> Explanation:
    """The Explanation of one component of a fitted embedder. ``before`` are fitted transformers whose output it embeds,
    first to last; features are then those of the first. Names are those given, else those that the estimator knows;
    ``label_names`` are those of an indicator's columns."""
    _check_whole("component", component, estimator.n_components_ - 1)
    _check_whole("n_features", n_features)
    _check_whole("n_labels", n_labels)
    weights = estimator.components_[component : component + 1]
    effects = estimator.feature_effects(weights)
    for step in reversed(before):
        effects = step.feature_effects(effects)
    first, d = before[0] if before else estimator, effects.shape[1]
    names = getattr(first, "feature_names_in_", None) if feature_names is None else feature_names
    if names is None or len(names) != d:  # "lifted": by a lift that does not say what it makes of the features
        names = [f"{'x' if d == first.n_features_in_ else 'lifted'}{j}" for j in range(d)]
    labels: list[tuple[str, float]] = []
    if hasattr(estimator, "label_loadings_"):
        classes = vars(estimator).get("classes_") if label_names is None else label_names
        classes = estimator._reading_.names(None) if classes is None else classes
        labels = _strongest(classes, estimator.label_loadings_[component], n_labels)
    return Explanation(component, _strongest(names, effects[0], n_features), labels, effects is not weights)


def _check_whole(name: str, value: Any, most: int | None = None) -> None:
    if (
        not isinstance(value, bool)
        and isinstance(value, Integral)
        and 0 <= int(value)
        and (most is None or int(value) <= most)
    ):
        return
    allowed = "a whole number of at least 0" if most is None else f"a whole number from 0 to {most}"
    raise ValueError(f"{name}={safe_repr(value)} is not allowed; it must be {allowed}.")


def _strongest(names: Any, weights: np.ndarray, count: int) -> list[tuple[str, float]]:
    order = np.argsort(-np.abs(weights), kind="stable")[:count]
    return [(str(names[j]), float(weights[j])) for j in order]


@cache
def bibliography() -> dict[str, str]:
    """Every entry of references.bib by its key."""
    text = files("proxembed").joinpath("references.bib").read_text(encoding="utf-8")
    text = re.sub(r"(?m)^%.*$", "", text)
    entries = re.split(r"(?m)^(?=@)", text)
    found = (re.match(r"@\w+\{([^,\s]+),", entry) for entry in entries)
    return {m.group(1): entry.strip() for m, entry in zip(found, entries, strict=True) if m}


def cited_keys(cls: type) -> list[str]:
    """Citation keys in the class docstring, in order of appearance."""
    return list(dict.fromkeys(KEY.findall(cls.__doc__ or "")))


def citation(keys: list[str]) -> str:
    """The BibTeX entries of the keys; a KeyError names one that is missing."""
    return "\n\n".join(bibliography()[key] for key in keys)
