"""A prediction that can be checked: for a new row its nearest training rows with their labels, the features that moved
its prediction most, and whether it is far from all training rows."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics.pairwise import cosine_distances, euclidean_distances

from proxembed.data import Columns, read, read_rows
from proxembed.features.table import EMPTY, TableState
from proxembed.proximity.reordering import even_sample
from proxembed.tables.notes import visible

NEAREST, MOVED = 10, 10
PURPOSES = ("labels", "targets", "separator", "id", "groups", "time", "empty", "target_type")  # of columns, in a source
FAR_QUANTILE = 0.99  # of the distances of training rows to their neighbours; a row beyond it is far
DISTANCE_ROWS = 1000  # training rows, at most, whose distances are measured
MOST_TRIED, AT_ONCE = 2000, 512  # features that are set to their reference, and rows that are scored at a time
AGAINST = {
    "mean": "the mean of the training rows",
    "median": "the median of the training rows",
    "0": "the same row without the word, category or entry",
}
LINEAR = 1e-6  # relative error up to which scores count as linear in the scaled features
MOVE = 1e-7  # by which training rows are multiplied so that no model knows them again


@dataclass(frozen=True)
class Near:
    """A training row near to a new one: its number in the data, from 0, its id (or None), its distance and its labels
    in words."""

    row: int
    id: str | None
    distance: float
    labels: str

    @property
    def name(self) -> str:
        """The id, or else the number."""
        return f"row {self.row}" if self.id is None else self.id


@dataclass(frozen=True)
class Space:
    """How far a new row is: the Euclidean ``distance`` to its tenth nearest training row, and the ``limit`` within
    which 99 % of the training rows have their tenth nearest other row."""

    distance: float
    limit: float

    @property
    def far(self) -> bool:
        """Whether the row is further away than the limit."""
        return self.distance > self.limit


@dataclass(frozen=True)
class ExplainedRow:
    """Why a model predicts what it predicts for a row.

    Attributes
    ----------
    predicted : str
        The prediction in words.
    of : str
        The label or output whose score is explained: of labels that of the largest score.
    nearest : tuple of Near
        The ten nearest training rows in the embedding, nearest first.
    moved : tuple of (str, float)
        The features that moved the score most, and by how much: what it loses when the feature takes its mean of the
        training rows (median where the score is not linear in the features, 0 of sparse features), all others kept.
        The features of a category are set together and told as one, by the column and its value in the row.
    against : str
        What a feature is set to: "mean", "median" or "0".
    exact : bool
        Whether the score is linear in the scaled features, so that the changes of all features add up.
    features, embedding : Space
        How far the row is from the training rows in the scaled features and in the embedding.
    """

    predicted: str
    of: str
    nearest: tuple[Near, ...]
    moved: tuple[tuple[str, float], ...]
    against: str
    exact: bool
    features: Space
    embedding: Space

    @property
    def far(self) -> bool:
        """Whether the row is far from all training rows, in the features or in the embedding."""
        return self.features.far or self.embedding.far

    def describe(self) -> dict[str, Any]:
        """The same as plain data."""
        return {**asdict(self), "far": self.far}

    def columns(self) -> dict[str, Any]:
        """The same as cells of a table."""
        return {
            "explained": self.of,
            "moved by": "; ".join(f"{name} {change:+.3g}" for name, change in self.moved),
            "nearest": "; ".join(near.name for near in self.nearest),
            "nearest labels": "; ".join(near.labels for near in self.nearest),
            "nearest distance": "; ".join(f"{near.distance:.3g}" for near in self.nearest),
            "far": int(self.far),
        }

    def __str__(self) -> str:
        lines = [f"predicted: {self.predicted}"]
        if self.far:
            where = [name for name in ("features", "embedding") if getattr(self, name).far]
            told = ", ".join(
                f"{getattr(self, name).distance:.3g} in the {name}, of training rows up to "
                f"{getattr(self, name).limit:.3g}"
                for name in where
            )
            lines.append(f"FAR from all training rows, so that the prediction is a guess: tenth nearest at {told}")
        lines.append("nearest training rows (distance, row, labels):")
        lines += [f"  {near.distance:.3g}  {near.name}  {near.labels}" for near in self.nearest]
        lines.append(f"moved the score of {self.of} most, against {AGAINST[self.against]}:")
        lines += [f"  {change:+.3g}  {name}" for name, change in self.moved]
        return visible_lines(lines)


def visible_lines(lines: list[str]) -> str:
    """Lines as text, without invisible characters of names."""
    return "\n".join(map(visible, lines))


class RowExplainer:
    """Explains rows by a fitted model and the rows that it was fitted on (``dataset``; ``X``: their features as the
    model takes them, where they are others; ``rows``: their numbers in the data, where they are a part of these)."""

    def __init__(self, model: Any, dataset: Any, X: Any = None, rows: Any = None):
        names = [name for name, _ in model.steps]
        place = names.index("embedding") if "embedding" in names else len(names) - 1
        if place == 0:
            raise ValueError("a row is explained by a model with a step before its embedding, such as one of fit_on.")
        self.model, self.dataset, self.rows = model, dataset, rows
        self.head, self.tail, self.embedding = model[:place], model[place:], model.steps[place][1]
        self.X = self._features(dataset.X if X is None else X)
        self.Z = np.asarray(self.embedding.transform(self.X), dtype=np.float64)
        numbers = dataset.outputs is not None
        self.metric = "euclidean" if numbers or self.Z.shape[1] == 1 else "cosine"

    def _features(self, rows: Any) -> Any:
        found = self.head.transform(rows)
        return found.tocsr().astype(np.float64) if sp.issparse(found) else np.asarray(found, dtype=np.float64)

    @cached_property
    def feature_names(self) -> list[str]:
        """Names of the scaled features."""
        first = self.model.steps[0][1]
        names = getattr(self.model, "feature_names_", None)
        if getattr(first, "columns_", None) is not None:
            names = first.get_feature_names_out()
        d = self.X.shape[1]
        return [f"x{j}" for j in range(d)] if names is None or len(names) != d else [str(name) for name in names]

    @cached_property
    def _categories(self) -> dict[str, np.ndarray]:
        """The features of each column of categories, which are set together."""
        state = getattr(self.model.steps[0][1], "state_", None)
        found = state.category_features if isinstance(state, TableState) else {}
        return {name: features for name, features in found.items() if len(features)}

    @cached_property
    def _leads(self) -> np.ndarray:
        """Of each feature the first one of its category; of others the feature itself."""
        leads = np.arange(self.X.shape[1])
        for features in self._categories.values():
            leads[features] = features[0]
        return leads

    def _values(self, X: Any) -> dict[str, Any]:
        """The cells of the columns of categories of rows."""
        if not self._categories:
            return {}
        rows = self.model.steps[0][1]._known_columns(X)
        return {name: rows[name] for name in self._categories}

    @cached_property
    def limits(self) -> tuple[float, float]:
        """The limits of distance in the features and in the embedding, by training rows as if they were new."""
        some = even_sample(self.X.shape[0], DISTANCE_ROWS)
        rows = self.X[some]
        moved = np.asarray(self.embedding.transform(rows * (1 + MOVE)), dtype=np.float64)
        pairs = ((rows, self.X), (moved, self.Z))
        own, among = (tenth(euclidean_distances(new, old), some) for new, old in pairs)
        return float(np.quantile(own, FAR_QUANTILE)), float(np.quantile(among, FAR_QUANTILE))

    @cached_property
    def linear(self) -> bool:
        """Whether scores are linear in the scaled features, by some points on lines between training rows."""
        some = self.X[even_sample(self.X.shape[0], 40)]
        half = some.shape[0] // 2
        a, b = some[:half], some[half : 2 * half]
        ends, other = self._scores(a), self._scores(b)
        ahead = self._scores(2 * a - b)
        spread = float(np.ptp(np.concatenate([ends, other]))) or 1.0
        return bool(np.abs(ahead - 2 * ends + other).max(initial=0.0) <= LINEAR * spread)

    @property
    def against(self) -> str:
        """What a feature is set to, see ``ExplainedRow``."""
        return "0" if sp.issparse(self.X) else "mean" if self.linear else "median"

    @cached_property
    def reference(self) -> np.ndarray:
        """The value of each feature against which it moves a score; of sparse ones 0."""
        if sp.issparse(self.X):
            return np.zeros(self.X.shape[1])
        return self.X.mean(axis=0) if self.linear else np.median(self.X, axis=0)

    def _scores(self, rows: Any) -> np.ndarray:
        """The scores of labels, predictions of numbers in units, or coordinates of scaled rows, (m, c)."""
        if hasattr(self.tail.steps[-1][1], "values"):
            return np.asarray(self.tail[-1].values(self.tail[:-1].transform(rows)))
        found = self.tail.decision_function(rows) if hasattr(self.tail, "decision_function") else None
        found = np.asarray(self.embedding.transform(rows) if found is None else found)
        return (
            np.column_stack([-found, found]) if self._two_classes and found.ndim == 1 else found.reshape(len(found), -1)
        )

    @property
    def _two_classes(self) -> bool:
        return bool(self.dataset.of_classes and len(getattr(self.tail.steps[-1][1], "classes_", ())) == 2)

    def explain(self, X: Any) -> list[ExplainedRow]:
        """Explain rows X (m, d), as the model takes them."""
        rows = self._features(X)
        Z = np.asarray(self.embedding.transform(rows), dtype=np.float64)
        scores, words, values = self._scores(rows), self._words(X, Z), self._values(X)
        apart = euclidean_distances(Z, self.Z), euclidean_distances(rows, self.X)
        near = apart[0] if self.metric == "euclidean" else cosine_distances(Z, self.Z)
        tenths = [tenth(each) for each in apart]
        found = []
        for i, word in enumerate(words):
            j = self._explained(scores[i])
            spaces = (Space(float(each[i]), limit) for each, limit in zip(tenths[::-1], self.limits, strict=True))
            told = {self._categories[name][0]: f"{name}={cells[i] or EMPTY}" for name, cells in values.items()}
            moved = self._moved(rows[[i]], j, scores[i, j], told)
            how = self.against, self.linear
            found.append(ExplainedRow(word, self._named(j), self._nearest(near[i]), moved, *how, *spaces))
        return found

    def _nearest(self, apart: np.ndarray) -> tuple[Near, ...]:
        order = np.argsort(apart, kind="stable")[:NEAREST]
        ids = self.dataset.row_names
        return tuple(
            Near(
                int(row if self.rows is None else self.rows[row]),
                None if ids is None else str(ids[row]),
                float(apart[row]),
                self._labels(row),
            )
            for row in order
        )

    def _labels(self, row: int) -> str:
        """The labels or numbers of a training row in words."""
        data = self.dataset
        if data.outputs is not None:
            return ", ".join(f"{name} {values[row]}" for name, values in self._measured.items())
        values = getattr(self.model, "label_values_", None)
        if values is not None and len(data.label_names) == 1:
            return str(values[int(self._sets[[row]].nnz > 0)])
        carried = [data.label_names[j] for j in self._sets[[row]].indices]
        return ", ".join(carried) or getattr(data, "negative", None) or "no label"

    @cached_property
    def _sets(self) -> Any:
        return sp.csr_array(self.dataset.Y)

    @cached_property
    def _measured(self) -> dict[str, list[str]]:
        """The outputs of the training rows in words, by the names of their columns."""
        outputs, found = self.dataset.outputs, {}
        for column, cells in zip(outputs.layout.columns, outputs.as_given(), strict=True):
            if column.values is None:
                found[str(column.name)] = ["?" if np.isnan(each) else f"{each:.4g}" for each in cells]
            else:
                found[str(column.name)] = ["?" if each is None else str(each) for each in cells]
        return found

    @cached_property
    def _names(self) -> list[str]:
        """Names of the labels, of the columns of the outputs, or of the components where nothing is predicted."""
        last = self.tail.steps[-1][1]
        if self.dataset.outputs is not None:
            return [name for column in last.reading_.layout.columns for name in column.names]
        if not hasattr(self.tail, "predict"):
            return [f"component {j + 1}" for j in range(self.Z.shape[1])]
        return [str(name) for name in (last.classes_ if self.dataset.of_classes else self.dataset.label_names)]

    def _named(self, j: int) -> str:
        return self._names[j] if j < len(self._names) else str(j)

    def _explained(self, scores: np.ndarray) -> int:
        """The number of the score to explain."""
        if self.dataset.outputs is None:
            return int(np.argmax(scores))
        reading = self.tail.steps[-1][1].reading_
        return int(np.argmax(np.abs(scores - reading.level) * reading.scale))

    def _words(self, X: Any, Z: np.ndarray) -> list[str]:
        """The predictions in words."""
        if not hasattr(self.model, "predict"):
            return [", ".join(f"{z:.3g}" for z in row) for row in Z]
        if self.dataset.outputs is not None:
            columns = self.tail[-1].columns(Z)
            return [
                ", ".join(
                    f"{name} {values[i]:.4g}" if values.dtype.kind == "f" else f"{name} {values[i]}"
                    for name, values in columns.items()
                )
                for i in range(len(Z))
            ]
        found = self.model.predict(X)
        found = np.asarray(found.toarray() if sp.issparse(found) else found)
        if found.ndim == 1:
            return [str(each) for each in found]
        return [", ".join(name for name, on in zip(self._names, row, strict=True) if on) or "no label" for row in found]

    def _moved(self, row: Any, j: int, score: float, told: dict[int, str]) -> tuple[tuple[str, float], ...]:
        """The features that moved score j of a row most; ``told``: names of categories by their first feature."""
        if sp.issparse(row):
            tried = row.indices
        else:
            apart = np.abs(row[0] - self.reference)
            tried = np.argsort(-apart, kind="stable")
            tried = tried[apart[tried] > 0]
        leads = self._leads[tried]
        tried = leads[np.sort(np.unique(leads, return_index=True)[1])]  # each category once
        tried = tried if sp.issparse(row) else tried[:MOST_TRIED]
        changes = np.array([], dtype=np.float64)
        for start in range(0, len(tried), AT_ONCE):
            own = tried[start : start + AT_ONCE]
            copies = self._copies(row, own)
            changes = np.append(changes, score - self._scores(copies)[:, j])
        order = np.argsort(-np.abs(changes), kind="stable")[:MOVED]
        names = ((told.get(tried[i], self.feature_names[tried[i]]), float(changes[i])) for i in order)
        return tuple((name, change) for name, change in names if change != 0)

    def _copies(self, row: Any, leads: np.ndarray) -> Any:
        """Copies of a row, each with one feature, or all of one category, at the reference."""
        together = {features[0]: features for features in self._categories.values()}
        parts = [together.get(lead, [lead]) for lead in leads]
        places, features = np.repeat(np.arange(len(parts)), [len(part) for part in parts]), np.concatenate(parts)
        if sp.issparse(row):
            copies = sp.vstack([row] * len(leads)).tolil()
            copies[places, features] = 0.0
            return sp.csr_array(copies)
        copies = np.repeat(row, len(leads), axis=0)
        copies[places, features] = self.reference[features]
        return copies


def tenth(apart: np.ndarray, own: np.ndarray | None = None) -> np.ndarray:
    """The distance of each row to its tenth nearest training row, or the last one of fewer; ``own``: the training rows
    that the rows are, which are left out."""
    if own is not None:
        apart = apart.copy()
        apart[np.arange(len(own)), own] = np.inf
    most = apart.shape[1] - (own is not None)
    place = min(NEAREST, max(most, 1)) - 1
    return np.partition(apart, place, axis=1)[:, place]


def explainer_of(model: Any, path: Path, source: dict[str, Any]) -> RowExplainer:
    """The explainer of a saved model by the labelled file that it was fitted on, read as ``source`` records."""
    given = {name: source[name] for name in PURPOSES if source.get(name) is not None}
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    layout = source.get("layout") or {}
    answers = (*source.get("labels", ()), *source.get("targets", ()))
    labelled = read(path, columns=Columns(**given, **layout) if source.get("format") == "table" else None)
    X, ids = read_rows(path, source | {"layout": layout | {"answers": answers}})
    return RowExplainer(model, labelled if ids is None else replace(labelled, ids=ids), X)
