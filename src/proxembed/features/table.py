"""Rows of a table as one matrix of features: filled, encoded and scaled by what the given rows show."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer

from proxembed.features.scaling import ScalingState, scaling_apply, scaling_fit
from proxembed.tables import Column, TableRows
from proxembed.tables.cells import commonest_words, stems
from proxembed.tables.rows import small_indices
from proxembed.tables.unseen import UnseenCells, share_alone

MOST_VALUES = 30  # categories with a 0/1 column each; of more, the most frequent ones and the share of rows
LEAST_ROWS = 2  # in which a word, or a name of a list, has to occur
DAY = 86400.0
PARTS = ("days", "month", "day", "weekday", "hour")
EMPTY = "(empty)"


@dataclass(frozen=True)
class WordBlock:
    """One column of texts or lists of names: its terms, and their tf-idf. ``words``: of a text the commonest full word
    of each stem, by which features are named."""

    column: str
    kind: str
    terms: tuple[str, ...]
    scaling: ScalingState
    words: tuple[str, ...] = ()

    def counts(self, cells: NDArray[np.object_]) -> sp.csr_array:
        """How often each cell holds each term."""
        counter = CountVectorizer(analyzer=_analyzer(self.kind), vocabulary=self.terms)
        return sp.csr_array(counter.transform(cells), dtype=np.float64)

    @property
    def feature_names(self) -> list[str]:
        """One per term."""
        return [f"{self.column}: {term}" for term in self.words or self.terms]


@dataclass(frozen=True)
class TableState:
    """What was learned from the rows of a table."""

    kind = "table"
    columns: tuple[Column, ...]
    origins: tuple[float, ...]
    filled: NDArray[np.intp]
    medians: NDArray[np.float64]
    holed: NDArray[np.intp]
    categories: tuple[tuple[str, tuple[str, ...], NDArray[np.float64]], ...]
    varying: NDArray[np.intp]
    scaling: ScalingState | None
    words: tuple[WordBlock, ...]
    weight: float
    feature_names: tuple[str, ...]
    alone: tuple[tuple[str, float], ...] = ()

    @property
    def n_features(self) -> int:
        """Number of columns of the table."""
        return len(self.columns)

    @property
    def n_features_out(self) -> int:
        """Number of features."""
        return len(self.feature_names)

    @property
    def category_features(self) -> dict[str, NDArray[np.intp]]:
        """The features of each column of categories: one per value and the share of rows, without constant ones."""
        found, first = {}, len(self.medians) + len(self.holed)
        for name, values, _ in self.categories:
            end = first + min(len(values), MOST_VALUES) + (len(values) > MOST_VALUES)
            found[name] = np.flatnonzero((self.varying >= first) & (self.varying < end))
            first = end
        return found

    def holes(self, rows: TableRows) -> NDArray[np.bool_]:
        """Of the features that are not words, which cells of rows stand for an empty one, and do not say so."""
        parts = [np.isnan(_numbers(rows, self.origins)[:, self.filled]), np.zeros((len(rows), len(self.holed)), bool)]
        for name, values, _ in self.categories:
            filled = [value != "" for value in values[:MOST_VALUES]] + [True] * (len(values) > MOST_VALUES)
            parts.append(np.outer(rows[name] == "", filled))
        return np.hstack(parts)[:, self.varying]

    def unseen(self, rows: TableRows) -> list[UnseenCells]:
        """Of each column of categories or of lists of names, the cells of rows that this was not learned from."""
        values = {name: values for name, values, _ in self.categories}
        values |= {block.column: block.terms for block in self.words if block.kind == "names"}
        found = [UnseenCells(name, values[name], alone) for name, alone in self.alone if name in values]
        for unseen in found:
            unseen.add(rows[unseen.column])
        return found

    def apply(self, rows: TableRows) -> Any:
        """The features of rows with the same columns: an array, or a CSR array where there are words. Categories and
        words that were not there when this was learned are zeros, empty numbers the median."""
        dense = [] if self.scaling is None else [scaling_apply(self.scaling, self._unscaled(rows))]
        words = (self.weight * scaling_apply(each.scaling, each.counts(rows[each.column])) for each in self.words)
        return _side_by_side([*dense, *words])

    def in_units(self, rows: TableRows) -> Any:
        """The features of rows as ``apply`` returns them, before their scaling: numbers in their units, and 1 for a
        value or a word that a cell holds, else 0."""
        dense = [] if self.scaling is None else [self._unscaled(rows)]
        counts = (each.counts(rows[each.column]) for each in self.words)
        return _side_by_side([*dense, *((each > 0).astype(np.float64) for each in counts)])

    def _unscaled(self, rows: TableRows) -> NDArray[np.float64]:
        numbers = _numbers(rows, self.origins)[:, self.filled]
        return _dense(rows, numbers, self.medians, self.holed, self.categories)[:, self.varying]


def _side_by_side(blocks: list[Any]) -> Any:
    """Blocks of columns as one array, or a CSR array where there are words."""
    if not any(map(sp.issparse, blocks)):
        return blocks[0]
    return small_indices(sp.hstack([sp.csr_array(block) for block in blocks], format="csr"))


def features_fit(
    kind: str | Callable[..., ScalingState], X: Any, sample_weight: NDArray[np.float64] | None = None
) -> ScalingState | TableState:
    """What makes features of rows, which occur ``sample_weight`` times each: of a matrix its scaling, of the rows of a
    table their encoding."""
    return (
        table_fit(X, sample_weight) if isinstance(X, TableRows) else scaling_fit(kind, X, sample_weight=sample_weight)
    )


def table_fit(rows: TableRows, sample_weight: NDArray[np.float64] | None = None) -> TableState:
    """Learn from the rows of a table how they become features. Numbers, scales, truth values, vectors and the parts of
    dates get the median where they are empty, and a 0/1 column that says so. A category is one 0/1 column per value; of
    one with more than 30 values the most frequent have such a column, and all the share of the rows with their value.
    Columns that do not vary are dropped, all others get mean 0 and variance 1. Texts and lists of names become
    sublinear tf-idf of terms that two rows or more hold. ``sample_weight``: how often each row counts in these means
    and variances, in the shares of values and in the tf-idf; the median is that of the rows."""
    origins = tuple(_first(rows[column.name]) for column in rows.columns if column.kind == "date")
    numbers = _numbers(rows, origins)
    filled = np.flatnonzero(_known(numbers))
    numbers = numbers[:, filled]
    medians, holed = np.nanmedian(numbers, axis=0), np.flatnonzero(np.isnan(numbers).any(axis=0))
    categories = tuple(
        _category(column.name, rows[column.name], sample_weight) for column in _of_kind(rows, "category")
    )
    dense = _dense(rows, numbers, medians, holed, categories)
    varying = np.flatnonzero(dense.min(axis=0) < dense.max(axis=0)) if dense.shape[1] else np.empty(0, dtype=np.intp)
    names = _dense_names(rows, filled, holed, categories)
    words = tuple(
        block for column in _of_kind(rows, "text", "names") if (block := _word_block(rows, column, sample_weight))
    )
    if not len(varying) and not words:
        raise ValueError("no column of the table varies between these rows; give more rows, or other columns.")
    scaling = scaling_fit("standard", dense[:, varying], sample_weight=sample_weight) if len(varying) else None
    feature_names = (*(names[j] for j in varying), *(name for block in words for name in block.feature_names))
    weight = float(np.sqrt(max(1, len(varying))))
    learned = (origins, filled, medians, holed, categories, varying, scaling, words, weight, feature_names)
    return TableState(rows.columns, *learned, _alone(rows))


def _alone(rows: TableRows) -> tuple[tuple[str, float], ...]:
    return tuple((column.name, share_alone(rows[column.name])) for column in _of_kind(rows, "category", "names"))


def _of_kind(rows: TableRows, *kinds: str) -> list[Column]:
    return [column for column in rows.columns if column.kind in kinds]


def _first(times: NDArray[np.float64]) -> float:
    known = times[np.isfinite(times)]
    return float(known.min()) if len(known) else 0.0


def _numbers(rows: TableRows, origins: tuple[float, ...]) -> NDArray[np.float64]:
    """All that is a number or becomes some, NaN where empty."""
    blocks, dates = [np.empty((len(rows), 0))], iter(origins)
    for column in _of_kind(rows, "number", "boolean", "ordered", "date", "vector"):
        cells = rows[column.name]
        if column.kind == "date":
            blocks.append(_date_parts(cells, next(dates)))
        else:
            blocks.append(cells if column.kind == "vector" else cells[:, None])
    return np.hstack(blocks)


def _number_names(rows: TableRows) -> list[str]:
    names = []
    for column in _of_kind(rows, "number", "boolean", "ordered", "date", "vector"):
        if column.kind == "date":
            names += [f"{column.name}: {part}" for part in PARTS]
        else:
            sized = [f"{column.name}[{j}]" for j in range(column.size)]
            names += sized if column.kind == "vector" else [column.name]
    return names


def _date_parts(times: NDArray[np.float64], origin: float) -> NDArray[np.float64]:
    """Days since the first, month, day of the month, day of the week and hour."""
    days = np.floor(times / DAY)
    known = np.isfinite(times)
    moments = np.where(known, times, 0.0).astype("int64").astype("datetime64[s]")
    month = moments.astype("datetime64[M]")
    parts = np.column_stack(
        [
            (times - origin) / DAY,
            month.astype(int) % 12 + 1,
            (moments.astype("datetime64[D]") - month.astype("datetime64[D]")).astype(int) + 1,
            (days + 3) % 7,  # the first of January 1970 was a Thursday; Monday is 0
            (times % DAY) // 3600,
        ]
    )
    parts[~known] = np.nan
    return parts


def _known(numbers: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Columns with a known cell, and with two cells that differ."""
    known = np.isfinite(numbers)
    low = np.where(known, numbers, np.inf).min(axis=0, initial=np.inf)
    high = np.where(known, numbers, -np.inf).max(axis=0, initial=-np.inf)
    return known.any(axis=0) & ((low < high) | ~known.all(axis=0))


def _category(
    name: str, cells: NDArray[np.object_], w: NDArray[np.float64] | None = None
) -> tuple[str, tuple[str, ...], NDArray[np.float64]]:
    """The values of a category, the most frequent first, and the share of the rows with each."""
    values, place = np.unique(cells.astype(str), return_inverse=True)
    counts = np.bincount(place, w)
    order = np.argsort(-counts, kind="stable")
    return name, tuple(map(str, values[order])), counts[order] / (len(cells) if w is None else w.sum())


def _dense(rows: TableRows, numbers: Any, medians: Any, holed: Any, categories: Any) -> NDArray[np.float64]:
    """The filled numbers, the 0/1 columns of empty cells and of categories, and the shares of their values."""
    empty = np.isnan(numbers)
    parts = [np.where(empty, medians, numbers), empty[:, holed].astype(np.float64)]
    for name, values, shares in categories:
        place = {value: j for j, value in enumerate(values)}
        codes = np.array([place.get(cell, -1) for cell in rows[name]], dtype=np.intp)
        parts.append((codes[:, None] == np.arange(min(len(values), MOST_VALUES))).astype(np.float64))
        if len(values) > MOST_VALUES:
            parts.append(np.append(shares, 0.0)[codes][:, None])
    return np.hstack(parts)


def _dense_names(rows: TableRows, filled: Any, holed: Any, categories: Any) -> list[str]:
    every = _number_names(rows)
    numbers = [every[j] for j in filled]
    names = numbers + [f"{numbers[j]} {EMPTY}" for j in holed]
    for name, values, _ in categories:
        names += [f"{name}={value or EMPTY}" for value in values[:MOST_VALUES]]
        names += [f"{name} (share of rows)"] if len(values) > MOST_VALUES else []
    return names


def _word_block(rows: TableRows, column: Column, w: NDArray[np.float64] | None = None) -> WordBlock | None:
    """The terms of a column that enough rows hold, with their tf-idf; None where there are none."""
    counter = CountVectorizer(analyzer=_analyzer(column.kind))
    try:
        counts = counter.fit_transform(rows[column.name])
    except ValueError:  # no cell has a term
        return None
    held = np.flatnonzero(np.bincount(counts.indices, minlength=counts.shape[1]) >= LEAST_ROWS)
    if not len(held):
        return None
    terms = counter.get_feature_names_out()[held]
    scaling = scaling_fit("tfidf", sp.csr_array(counts, dtype=np.float64)[:, held], sample_weight=w)
    words = commonest_words(rows[column.name], map(str, terms)) if column.kind == "text" else ()
    return WordBlock(column.name, column.kind, tuple(map(str, terms)), scaling, words)


def _analyzer(kind: str) -> Callable[[Any], list[str]]:
    """From a cell to its terms: the stems of a text, the names of a list."""
    return stems() if kind == "text" else list
