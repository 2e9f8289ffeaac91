"""Kinds of y: which labels the rows have, and the form in which they come."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

import strategies


@dataclass(frozen=True)
class Labels:
    """What a y says: ``on`` (n x c, 0/1, NaN where unknown), one class per row or several, and the names in order."""

    on: np.ndarray
    single: bool
    names: list = field(default_factory=list)

    @property
    def unknown(self) -> np.ndarray:
        """Rows of which nothing is known."""
        return np.isnan(self.on).all(axis=1)

    @property
    def codes(self) -> list:
        """The column of each row's class, None where it is unknown (one class per row only)."""
        return [None if lost else int(j) for lost, j in zip(self.unknown, self.known.argmax(axis=1), strict=True)]

    @property
    def known(self) -> np.ndarray:
        return np.nan_to_num(self.on)

    @property
    def plain(self) -> np.ndarray:
        """The same labels in the plainest form: numbers of classes, or an indicator, NaN where unknown."""
        if not self.single:
            return self.on
        codes = [np.nan if code is None else code for code in self.codes]
        return np.array(codes) if self.unknown.any() else np.array(codes, dtype=int)

    def called(self, names: list) -> Labels:
        """With names for the columns that some row has, in their order; further columns and names are left out."""
        present = np.flatnonzero(self.known.any(axis=0))
        keep = present[: len(names)] if present.size else np.array([0])
        on = self.on[:, keep].copy()
        if self.single:
            on[~self.unknown & (np.nansum(on, axis=1) == 0), 0] = 1.0
        return replace(self, on=on, names=names[: len(keep)])


@dataclass(frozen=True)
class Target:
    """y as an estimator gets it, and what it says; ``labels`` is None where y must be refused, or may mean anything."""

    y: Any
    labels: Labels | None
    refused: bool = False


def _single(codes: np.ndarray) -> Labels:
    return Labels(strategies.one_hot(codes), single=True)


def _classes(c: int) -> Callable[[np.random.Generator, int], Labels]:
    return lambda rng, n: _single(rng.permutation(np.arange(n) % c))


def _lost_rows(share: float, made: Callable) -> Callable[[np.random.Generator, int], Labels]:
    def lost(rng: np.random.Generator, n: int) -> Labels:
        labels = made(rng, n)
        on = labels.on.copy()
        on[rng.permutation(n)[: int(share * n)]] = np.nan
        return replace(labels, on=on)

    return lost


def _lost_cells(rng: np.random.Generator, n: int) -> Labels:
    labels = _several(4)(rng, n)
    return replace(labels, on=np.where(rng.random(labels.on.shape) < 0.08, np.nan, labels.on))


def _several(c: int) -> Callable[[np.random.Generator, int], Labels]:
    def made(rng: np.random.Generator, n: int) -> Labels:
        on = (rng.random((n, c)) < np.linspace(0.3, 0.6, c)).astype(float)
        on[np.arange(min(n, c)), np.arange(min(n, c))] = 1.0
        return Labels(on, single=False)

    return made


def _with_column(column: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.random.Generator, int], Labels]:
    def made(rng: np.random.Generator, n: int) -> Labels:
        on = _several(3)(rng, n).on
        return Labels(np.insert(on, 1, column(on), axis=1), single=False)

    return made


def _without_a_label(rng: np.random.Generator, n: int) -> Labels:
    on = _several(4)(rng, n).on
    on[::3] = 0.0
    return Labels(on, single=False)


# name -> labels of n rows, one class per row
CLASSES: dict[str, Callable[[np.random.Generator, int], Labels]] = {
    "plain classes": lambda rng, n: (
        _single(strategies.labels_classes(n, 3, int(rng.integers(2**16)))) if n >= 6 else _classes(2)(rng, n)
    ),
    "two classes": _classes(2),
    "one class": _classes(1),
    "a class per row": lambda rng, n: _single(rng.permutation(n)),
    "lonely class": lambda rng, n: _single(np.where(np.arange(n) == 0, 2, np.arange(n) % 2)),
    "unknown classes": _lost_rows(0.3, _classes(3)),
    "one class known": _lost_rows(0.999, _classes(3)),
    "all unknown": _lost_rows(1.0, _classes(3)),
}
# name -> labels of n rows, several a row
SETS: dict[str, Callable[[np.random.Generator, int], Labels]] = {
    "plain sets": _several(4),
    "two labels": _several(2),
    "more labels than rows": lambda rng, n: _several(n + 3)(rng, n),
    "an empty column": _with_column(lambda on: np.zeros(len(on))),
    "a full column": _with_column(lambda on: np.ones(len(on))),
    "equal columns": _with_column(lambda on: on[:, 1]),
    "opposite columns": _with_column(lambda on: 1 - on[:, 1]),
    "an unknown column": _with_column(lambda on: np.full(len(on), np.nan)),
    "rows without labels": _without_a_label,
    "no labels": lambda rng, n: Labels(np.zeros((n, 3)), single=False),
    "all labels": lambda rng, n: Labels(np.ones((n, 3)), single=False),
    "unknown cells": _lost_cells,
    "unknown rows": _lost_rows(0.3, _several(4)),
    "one row known": _lost_rows(0.999, _several(4)),
    "nothing known": _lost_rows(1.0, _several(4)),
}
WORDS = ["Ä", "b", "naïve 标签", "z\n<b>"]
WORDS = sorted(WORDS)
NULS = ["a", "a\0", "a\0\0", "b"]
HUGE = [2**53, 2**53 + 1, 2**53 + 2, 2**60 + 1]
GIANT = [2**64, 2**64 + 1, 2**70, 10**30]


def _listed(labels: Labels, names: list, missing: Any = None) -> list:
    return [missing if code is None else names[code] for code in labels.codes]


def _named(names: list, make: Callable[[list], Any], missing: Any = None) -> Callable[[Labels], Target]:
    """One class per row under these names, through a list of them."""

    def made(labels: Labels) -> Target:
        labels = labels.called(names)
        return Target(make(_listed(labels, labels.names, missing)), labels)

    return made


def _known(names: list, make: Callable[[list], Any]) -> Callable[[Labels], Target]:
    """As ``_named`` in forms that have no sign for unknown: unknown rows get the first class."""

    def made(labels: Labels) -> Target:
        labels = replace(labels, on=np.where(np.isnan(labels.on), np.arange(labels.on.shape[1]) == 0, labels.on))
        return _named(names, make)(labels)

    return made


def _objects(values: list) -> np.ndarray:
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def _masked_classes(labels: Labels) -> Target:
    labels = labels.called([0, 1, 2, 3])
    y = np.array(_listed(labels, labels.names, 0))
    return Target(np.ma.masked_array(y, mask=labels.unknown), labels)


def _unlike(values: list, as_array: bool) -> Callable[[Labels], Target]:
    """Classes of types that have no common one: to be refused."""

    def made(labels: Labels) -> Target:
        y = [values[i % len(values)] for i in range(len(labels.on))]
        return Target(_objects(y) if as_array else y, None, refused=True)

    return made


def _refused(make: Callable[[np.ndarray], Any]) -> Callable[[Labels], Target]:
    return lambda labels: Target(make(np.array(labels.known.argmax(axis=1))), None, refused=True)


def _as_is(make: Callable[[np.ndarray], Any]) -> Callable[[Labels], Target]:
    return lambda labels: Target(make(np.array(labels.known.argmax(axis=1))), None)


NUMBERS = list(range(64))
# name -> one class per row in a form
CLASS_FORMS: dict[str, Callable[[Labels], Target]] = {
    "plain": lambda labels: Target(labels.called(NUMBERS).plain, labels.called(NUMBERS)),
    "list": _named(NUMBERS, list),
    "list with NaN": _named(NUMBERS, list, np.nan),
    "tuple": _named(NUMBERS, tuple),
    "int8": _known([-5, -2, 0, 127], lambda v: np.array(v, dtype=np.int8)),
    "huge integers": _known(HUGE, np.array),
    "huge integers, listed": _named(HUGE, list),
    "huge integers, listed with NaN": _named(HUGE, list, np.nan),
    "huge integers as objects": _named(HUGE, _objects),
    "huge nullable integers": _named(HUGE, lambda v: pd.Series(pd.array(v, dtype="Int64")), pd.NA),
    "uint64": _known([2**63, 2**63 + 1, 2**63 + 2], lambda v: np.array(v, dtype=np.uint64)),
    "integers beyond 64 bits": _named(GIANT, _objects),
    "integers beyond 64 bits, listed": _named(GIANT, list),
    "nullable integers": _named([-3, 0, 4, 9], lambda v: pd.Series(pd.array(v, dtype="Int64")), pd.NA),
    "Arrow integers": _named([-3, 0, 4, 9], lambda v: pd.Series(pd.array(v, dtype="int64[pyarrow]")), pd.NA),
    "floats": _named([-1.0, 0.0, 2.0, 5.0], lambda v: np.array(v, dtype=float), np.nan),
    "float32": _named([1.0, 2.0, 5.0], lambda v: np.array(v, dtype=np.float32), np.nan),
    "huge floats": _named([1e19, 2e19, 3e200], lambda v: np.array(v, dtype=float), np.nan),
    "bool": _known([False, True], np.array),
    "nullable bool": _named([False, True], lambda v: pd.Series(pd.array(v, dtype="boolean")), pd.NA),
    "text": _known(WORDS, np.array),
    "text, listed": _named(WORDS, list),
    "text, listed with NaN": _named(WORDS, list, np.nan),
    "text as objects": _named(WORDS, _objects),
    "text of nothing and blanks": _known(["", " ", "None", "nan"], list),
    "text with NUL": _named(NULS, _objects),
    "text with NUL, listed": _named(NULS, list),
    "NumPy strings": _known(WORDS, lambda v: np.array(v, dtype=np.dtypes.StringDType())),
    "bytes": _as_is(lambda codes: np.array([b"a", b"b", b"c"])[codes % 3]),
    "series of text": _named(WORDS, lambda v: pd.Series(v, dtype="str"), pd.NA),
    "series of objects": _named(WORDS, lambda v: pd.Series(v, dtype=object)),
    "categories": _named(WORDS, lambda v: pd.Series(pd.Categorical(v, categories=[*WORDS, "unused"]))),
    "categories of numbers": _named([-3, 0, 4, 9], lambda v: pd.Categorical(v, categories=[9, 4, 0, -3])),
    "n x 1": _known(NUMBERS, lambda v: np.array(v)[:, None]),
    "n x 1 of text": _known(WORDS, lambda v: np.array(v)[:, None]),
    "table of one column": _named(WORDS, lambda v: pd.DataFrame({"class": v})),
    "masked": _masked_classes,
    "dates": _as_is(lambda codes: np.datetime64("2024-02-03") + codes),
    "decimals": _as_is(lambda codes: [Decimal(int(code)) for code in codes]),
    "mixed, listed": _unlike([1, "a", 2], as_array=False),
    "mixed": _unlike([1, "a", 2], as_array=True),
    "text and bytes": _unlike(["a", b"a"], as_array=False),
    "text and tuples": _unlike(["a", ("b", "c")], as_array=True),
    "fractions": _as_is(lambda codes: codes + 0.5),  # numbers to some methods
    "infinity": _refused(lambda codes: np.where(np.arange(len(codes)) == 0, np.inf, codes)),
    "complex": _refused(lambda codes: codes + 1j),
    "too long": _refused(lambda codes: np.append(codes, codes[0])),
    "too short": _refused(lambda codes: codes[:-1]),
    "none at all": _refused(lambda codes: None),
    "a number": _refused(lambda codes: 3),
    "a word": _refused(lambda codes: "word"),
    "empty": _refused(lambda codes: codes[:0]),
    "records": _refused(lambda codes: np.zeros(len(codes), dtype=[("a", int), ("b", int)])),
    "a generator": _refused(lambda codes: (code for code in codes)),
    "a dictionary": _refused(lambda codes: dict(enumerate(codes))),
}


def _cells(labels: Labels, missing: Any, off: Any = 0, on: Any = 1) -> np.ndarray:
    """The indicator as objects."""
    cells = np.where(labels.known > 0, on, off).astype(object)
    cells[np.isnan(labels.on)] = missing
    return cells


def _indicator(make: Callable[[np.ndarray], Any]) -> Callable[[Labels], Target]:
    """An n x c array that can say unknown."""
    return lambda labels: Target(make(labels.on), replace(labels, names=NUMBERS[: labels.on.shape[1]]))


def _certain(make: Callable[[np.ndarray], Any]) -> Callable[[Labels], Target]:
    """An n x c array that cannot say unknown: those cells are 0."""

    def made(labels: Labels) -> Target:
        labels = replace(labels, on=labels.known, names=NUMBERS[: labels.on.shape[1]])
        return Target(make(labels.on), labels)

    return made


def _signs(on: np.ndarray) -> np.ndarray:
    return 2 * on - 1


def _row_sets(names: list, kind: Callable, make: Callable[[list], Any] = list) -> Callable[[Labels], Target]:
    """One set of names per row, None for a row of which something is unknown."""

    def made(labels: Labels) -> Target:
        on = np.where(np.isnan(labels.on).any(axis=1)[:, None], np.nan, labels.on)
        labels = replace(labels, on=on).called(names)
        rows = [
            None if lost else kind(labels.names[j] for j in np.flatnonzero(row))
            for lost, row in zip(labels.unknown, labels.known, strict=True)
        ]
        return Target(make(rows), labels)

    return made


def _set_with(value: Any) -> Callable[[Labels], Target]:
    """Label sets one of which holds a sign for unknown."""

    def made(labels: Labels) -> Target:
        rows = _row_sets(["a", "b", "c", "d"], set, lambda rows: [row or set() for row in rows])(labels).y
        rows[0] = rows[0] | {value, "a"}
        return Target(rows, None, refused=True)

    return made


def _with_zeros(on: np.ndarray) -> sp.csr_array:
    """CSR in which every cell is written down, zeros too."""
    n, c = on.shape
    return sp.csr_array((on.ravel(), np.tile(np.arange(c), n), np.arange(n + 1) * c), shape=on.shape)


def _masked_cells(labels: Labels) -> Target:
    y = np.ma.masked_array(labels.known, mask=np.isnan(labels.on))
    return Target(y, replace(labels, names=NUMBERS[: labels.on.shape[1]]))


def _table(names: Callable[[int], list], missing: Any, dtype: str) -> Callable[[Labels], Target]:
    def made(labels: Labels) -> Target:
        columns = names(labels.on.shape[1])
        y = pd.DataFrame(_cells(labels, missing), columns=columns).astype(dtype)
        return Target(y, replace(labels, names=[str(name) for name in columns]))

    return made


def _cell(value: Any) -> Callable[[Labels], Target]:
    def made(labels: Labels) -> Target:
        cells = _cells(labels, None)
        cells[0, 0] = value
        return Target(cells, None, refused=True)

    return made


def _table_names(c: int) -> list[str]:
    return [f"label {j} <b>" for j in range(c)]


# name -> several labels per row in a form
SET_FORMS: dict[str, Callable[[Labels], Target]] = {
    "indicator": _indicator(lambda on: on),
    "indicator of integers": _certain(lambda on: on.astype(int)),
    "indicator of uint8": _certain(lambda on: on.astype(np.uint8)),
    "indicator of bool": _certain(lambda on: on.astype(bool)),
    "indicator of objects": lambda labels: Target(
        _cells(labels, None), replace(labels, names=NUMBERS[: labels.on.shape[1]])
    ),
    "indicator, listed": _certain(lambda on: on.astype(int).tolist()),
    "indicator of float32": _indicator(lambda on: on.astype(np.float32)),
    "indicator in Fortran order": _indicator(np.asfortranarray),
    "signs": _indicator(_signs),
    "signs of int8": _certain(lambda on: _signs(on).astype(np.int8)),
    "csr": _indicator(sp.csr_array),
    "csc matrix": _indicator(sp.csc_matrix),
    "coo": _indicator(sp.coo_array),
    "lil": _certain(sp.lil_array),
    "csr of bool": _certain(lambda on: sp.csr_array(on.astype(bool))),
    "csr with written zeros": _indicator(_with_zeros),
    "csr of signs": _indicator(lambda on: sp.csr_array(_signs(on))),
    "masked": _masked_cells,
    "table": _table(_table_names, np.nan, "float64"),
    "table of nullable integers": _table(_table_names, pd.NA, "Int64"),
    "table of nullable bool": _table(_table_names, pd.NA, "boolean"),
    "table of objects": _table(_table_names, None, "object"),
    "table of number names": _table(lambda c: list(range(5, 5 + c)), np.nan, "float64"),
    "table of equal names": lambda labels: replace(
        _table(lambda c: ["same"] * c, np.nan, "float64")(labels), labels=None
    ),
    "sets": _row_sets(WORDS, set),
    "frozen sets": _row_sets(WORDS, frozenset),
    "sets in a tuple": _row_sets(WORDS, set, tuple),
    "sets as objects": _row_sets(WORDS, set, _objects),
    "series of sets": _row_sets(WORDS, set, lambda rows: pd.Series(rows, dtype=object)),
    "lists of text": _row_sets(WORDS, list),
    "tuples of text": _row_sets(WORDS, tuple),
    "sets of numbers": _row_sets([-3, 0, 4, 9], set),
    "sets of huge integers": _row_sets(GIANT, set),
    "sets of text with NUL": _row_sets(NULS, set),
    "sets of one text": lambda labels: Target([{"a"}] * len(labels.on), None),
    "sets of tuples": _row_sets([("a", 1), ("a", 2), ("b", 1)], set),
    "sets of all types": lambda labels: replace(_row_sets(["a", 1, 2.5, True], set)(labels), labels=None),
    "a set with None": _set_with(None),
    "a set with NaN": _set_with(np.nan),
    "a set with NA": _set_with(pd.NA),
    "a set with NaT": _set_with(pd.NaT),
    "lists of lists": lambda labels: Target([[["a"]]] * len(labels.on), None, refused=True),
    "lists of numbers": lambda labels: Target([[1] * (1 + i % 3) for i in range(len(labels.on))], None, refused=True),
    "sets and text": lambda labels: Target(["a", *[{"a", "b"}] * (len(labels.on) - 1)], None, refused=True),
    "-1 and 0": lambda labels: Target(-labels.known, None, refused=True),
    "-1, 0 and 1": lambda labels: Target(_with_first_cells(labels.known, (-1, 0, 1)), None, refused=True),
    "counts": lambda labels: Target(labels.known + _corner(labels) * 3, None),  # numbers or weights to some methods
    "shares": lambda labels: Target(labels.known * 0.5 + 0.25, None),
    "a cell of text": _cell("word"),
    "a cell of 400 digits": _cell(10**400),
    "a cell with a list": _cell([1]),
    "infinity": lambda labels: Target(np.where(_corner(labels), np.inf, labels.known), None, True),
    "csr with infinity": lambda labels: Target(
        sp.csr_array(np.where(_corner(labels), np.inf, 1.0)), None, refused=True
    ),
    "complex": lambda labels: Target(labels.known * 1j, None, refused=True),
    "three axes": lambda labels: Target(labels.known[:, :, None], None, refused=True),
    "no columns": lambda labels: Target(labels.known[:, :0], None, refused=True),
    "table without columns": lambda labels: Target(pd.DataFrame(index=range(len(labels.on))), None, refused=True),
    "too many rows": lambda labels: Target(np.vstack([labels.known, labels.known[:1]]), None, refused=True),
    "too many sets": lambda labels: Target([{"a"}, {"b"}] * len(labels.on), None, refused=True),
    "csr too short": lambda labels: Target(sp.csr_array(labels.known)[1:], None, refused=True),
}


def _corner(labels: Labels) -> np.ndarray:
    """1 in the first cell."""
    return (np.arange(labels.on.size) == 0).astype(float).reshape(labels.on.shape)


def _with_first_cells(on: np.ndarray, values: Sequence[float]) -> np.ndarray:
    cells = on.copy()
    cells.flat[: len(values)] = values
    return cells


VALUES = CLASSES | SETS


def forms(values: str) -> dict[str, Callable[[Labels], Target]]:
    """The forms in which labels of a kind can come."""
    return CLASS_FORMS if values in CLASSES else SET_FORMS


def as_plain(labels: Labels) -> Target:
    """Labels in the plainest form, their names numbers."""
    return CLASS_FORMS["plain"](labels) if labels.single else SET_FORMS["indicator"](labels)


def target(values: str, form: str, n: int, seed: int) -> Target:
    """The labels of n rows in a form."""
    labels = VALUES[values](np.random.default_rng([seed, 1]), n)
    return forms(values)[form](labels)
