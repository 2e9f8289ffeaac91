"""ARFF files, dense or sparse; the labels of Mulan and MEKA data sets are named by XML, by -C, or by the caller."""

from __future__ import annotations

import difflib
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from proxembed.data.dataset import Dataset, Matrix
from proxembed.data.errors import DataError, shorten
from proxembed.data.readers.arff_header import Attribute, Header, read_header
from proxembed.data.readers.arff_rows import read_rows
from proxembed.data.readers.cells import truth
from proxembed.data.readers.columns import Columns, required
from proxembed.data.readers.reader import PART, Labels, Reader, Rows, feature_names, source_by_name
from proxembed.data.unpacking import opened
from proxembed.tables.cells import truth_words

COUNT = re.compile(r"-C\s+(-?\d{1,9})\b", re.ASCII)


class Arff(Reader):
    """ARFF files of Mulan and MEKA."""

    name = "arff"
    suffixes = (".arff",)
    accepts = ".arff or .arff.gz (Mulan with its XML beside it, or MEKA)"
    place = 4

    def read(self, path: Path, test: Path | None, labels: Labels | None, columns: Columns) -> Dataset:
        data = _read(path, labels)
        return data if test is None else _joined(data, _read(test, labels), path, test, PART.sub("", _stem(path)))

    def read_rows(self, path: Path, source: dict[str, Any]) -> Rows:
        """The attributes that the training file had as features."""
        with opened(path) as stream:
            header = read_header(stream, path)
            raw, _ = read_rows(stream, header, path)
        raw = raw.tocsc() if sparse.issparse(raw) else raw
        X, names = _select(raw, header.attributes, np.arange(len(header.attributes)))
        wanted = feature_names(source)
        if wanted is not None:
            required(wanted, names, path, "the training file")
            place = {name: j for j, name in enumerate(names)}
            X = X[:, [place[name] for name in wanted]]
        return (X.tocsr() if sparse.issparse(X) else np.ascontiguousarray(X)), None

    def source(self, data: Dataset) -> dict[str, Any]:
        return source_by_name(self.name, data)


def _read(path: Path, labels: Labels | None) -> Dataset:
    with opened(path) as stream:
        header = read_header(stream, path)
        columns = _label_columns(path, header, labels)
        raw, lines = read_rows(stream, header, path)
    raw = raw.tocsc() if sparse.issparse(raw) else raw
    features = np.setdiff1d(np.arange(len(header.attributes)), columns)
    if features.size == 0:
        raise DataError.at(path, None, "every attribute is a label", "keep at least one feature")
    if (first := _first_missing(raw, features)) is not None:
        row, column = first
        raise DataError.at(
            path,
            int(lines[row]),
            f"? in feature {shorten(header.attributes[column].name)} (column {column + 1})",
            "fill in missing feature values or drop the row",
        )
    X, names = _select(raw, header.attributes, features)
    values, label_names = _label_values(raw, header.attributes, columns, path, lines)
    missing = np.isnan(values.data)
    Y, unknown = values.copy(), values.copy()
    Y.data, unknown.data = np.where(missing, 0, values.data), missing
    return Dataset(X.tocsr() if sparse.issparse(X) else X, Y, names, label_names, _stem(path), unknown=unknown)


def _joined(train: Dataset, test: Dataset, train_path: Path, test_path: Path, name: str) -> Dataset:
    """One data set of training rows, then test rows, with the split; both must name the same columns."""
    for what, one, other in (
        ("feature", train.feature_names, test.feature_names),
        ("label", train.label_names, test.label_names),
    ):
        if one != other:
            fault = f"it has {len(other)} {what}s, not the {len(one)} of {train_path}"
            if len(one) == len(other):
                place = next(j for j in range(len(one)) if one[j] != other[j])
                fault = f"{what} {place + 1} is {shorten(other[place])}, not {shorten(one[place])} as in {train_path}"
            raise DataError.at(test_path, None, fault, f"give two files with the same {what}s in the same order")
    stack = sparse.vstack if sparse.issparse(train.X) else np.vstack
    n = train.X.shape[0]
    unknown = None
    if train.unknown is not None or test.unknown is not None:
        known = [
            sparse.csr_array(part.Y.shape, dtype=bool) if part.unknown is None else part.unknown
            for part in (train, test)
        ]
        unknown = sparse.vstack(known)
    return Dataset(
        stack([train.X, test.X]),
        sparse.vstack([train.Y, test.Y]),
        train.feature_names,
        train.label_names,
        name,
        np.arange(n),
        np.arange(n, n + test.X.shape[0]),
        unknown=unknown,
    )


def _stem(path: Path) -> str:
    return re.sub(r"\.arff(\.gz)?$", "", path.name, flags=re.IGNORECASE)


def _label_columns(path: Path, header: Header, labels: Labels | None) -> NDArray[np.intp]:
    """Columns of the labels in ARFF order: named by `labels`, by the XML beside the file, or by MEKA's -C."""
    if labels is None:
        beside = [path.with_name(f"{stem}.xml") for stem in dict.fromkeys((_stem(path), PART.sub("", _stem(path))))]
        labels = next((file for file in beside if file.is_file()), None)
        if labels is None:
            return _counted(path, header, " or ".join(file.name for file in beside))
    if isinstance(labels, str) and not Path(labels).is_file():
        raise DataError.at(
            path,
            None,
            f"labels={shorten(labels)} is no file",
            "give the path of the Mulan XML file, or a list of attribute names",
        )
    names = _xml_names(Path(labels)) if isinstance(labels, str | Path) else list(labels)
    source = str(labels) if isinstance(labels, str | Path) else "labels"
    if not names:
        raise DataError.at(path, None, f"{source} names no label", "name at least one attribute")
    attributes = [attribute.name for attribute in header.attributes]
    places: dict[str, list[int]] = {}
    for j, name in enumerate(attributes):
        places.setdefault(name, []).append(j)
    for name in names:
        if len(places.get(name, ())) != 1:
            fault = "is the name of several attributes" if name in places else "is no attribute of the file"
            near = difflib.get_close_matches(str(name), attributes, n=1)
            remedy = f"did you mean {shorten(near[0])}?" if near and name not in places else "correct the names"
            raise DataError.at(path, None, f"label {shorten(str(name))} of {source} {fault}", remedy)
    return np.unique([places[name][0] for name in names])


def _counted(path: Path, header: Header, beside: str) -> NDArray[np.intp]:
    match, total = COUNT.search(header.relation), len(header.attributes)
    if match is None:
        raise DataError.at(
            path,
            None,
            f"no labels are named: there is no {beside} beside it and no -C in @relation",
            "give labels=PATH.xml or labels=[attribute names]",
        )
    count = int(match[1])
    if not 0 < abs(count) < total:
        raise DataError.at(
            path,
            None,
            f"-C {count} in @relation does not fit {total} attributes",
            "give -C n for the first n, or -C -n for the last n attributes",
        )
    return np.arange(count) if count > 0 else np.arange(total + count, total)


def _xml_names(path: Path) -> list[str]:
    """Label names of a Mulan XML file, hierarchies flattened."""
    with opened(path) as stream:
        content = stream.read()
    try:
        root = ElementTree.fromstring(content)
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        line = getattr(error, "position", (None,))[0]
        raise DataError.at(path, line, f"this is no XML ({error})", "give the Mulan XML file of the labels") from error
    given = [element.get("name") for element in root.iter() if element.tag.rpartition("}")[2] == "label"]
    names = [name for name in given if name is not None]
    if len(names) < len(given):
        raise DataError.at(path, None, "a <label> has no name", 'write <label name="..."></label>')
    return names


def _select(raw: Matrix, attributes: Sequence[Attribute], columns: NDArray[np.intp]) -> tuple[Matrix, list[str]]:
    """Chosen columns as numbers; a text attribute becomes one 0/1 column per value, named `attribute=value`."""
    parts, names = [], []

    def apart(j: int) -> bool:
        return attributes[j].text or (sparse.issparse(raw) and attributes[j].omitted != 0)

    for special, found in groupby(columns.tolist(), key=apart):
        group = list(found)
        if not special:
            parts.append(raw[:, group])
            names += [attributes[j].name for j in group]
            continue
        for j in group:
            column = _column(raw, j, attributes[j])[:, None]
            if attributes[j].text:
                column = np.where(np.isnan(column), np.nan, column == np.arange(len(attributes[j].values)))
                names += [f"{attributes[j].name}={value}" for value in attributes[j].values]
            else:
                names.append(attributes[j].name)
            parts.append(sparse.csc_array(column) if sparse.issparse(raw) else column)
    if sparse.issparse(raw):
        selected = sparse.hstack(parts, format="csc")
        selected.eliminate_zeros()
        return selected, names
    return np.ascontiguousarray(np.hstack(parts)), names


def _column(raw: Matrix, j: int, attribute: Attribute) -> NDArray[np.float64]:
    """One column as a vector; cells left out of sparse rows hold the first declared value, as in Weka."""
    if not sparse.issparse(raw):
        return raw[:, j]
    column = np.full(raw.shape[0], attribute.omitted)
    here = slice(raw.indptr[j], raw.indptr[j + 1])
    column[raw.indices[here]] = raw.data[here]
    return column


def _label_values(
    raw: Matrix, attributes: Sequence[Attribute], columns: NDArray[np.intp], path: Path, lines: NDArray[np.intp]
) -> tuple[sparse.csc_array, list[str]]:
    """Label cells as 0, 1 or NaN, and label names; a lone label with other values is one class per row."""
    lone = attributes[columns[0]]
    if all(attributes[j].text and truth_words(attributes[j].values or ()) is not None for j in columns):
        return _of_words(raw, attributes, columns), [attributes[j].name for j in columns]
    if len(columns) == 1 and lone.values is not None and not _binary(lone):
        codes = _column(raw, columns[0], lone)[:, None]
        of_value = np.arange(len(lone.values)) if lone.text else lone.numbers
        return sparse.csc_array(np.where(np.isnan(codes), np.nan, codes == of_value)), list(lone.values)
    for j in columns:
        if attributes[j].values is not None and not _binary(attributes[j]):
            declared = shorten(",".join(attributes[j].values))
            raise DataError.at(
                path,
                None,
                f"label {shorten(attributes[j].name)} declares the values {declared}",
                "declare labels as {0,1}, {-1,1} or {no,yes} (only a lone label may have other values)",
            )
    selected, names = _select(raw, attributes, columns)
    values = _unsigned(sparse.csc_array(selected), path)
    wrong = np.flatnonzero((values.data != 1) & ~np.isnan(values.data))
    if wrong.size:
        first = wrong[np.argmin(values.indices[wrong])]
        name = names[np.searchsorted(values.indptr, first, "right") - 1]
        raise DataError.at(
            path,
            int(lines[values.indices[first]]),
            f"label {shorten(name)} is {values.data[first]:g}",
            "labels must be 0 or 1 (or -1 and 1), or ? where unknown",
        )
    return values, names


def _binary(attribute: Attribute) -> bool:
    declared = set() if attribute.numbers is None else set(attribute.numbers.tolist())
    return attribute.numbers is not None and (declared <= {0.0, 1.0} or declared == {-1.0, 1.0})


def _of_words(raw: Matrix, attributes: Sequence[Attribute], columns: NDArray[np.intp]) -> sparse.csc_array:
    """Label cells of attributes that declare two truth words, such as {no,yes}, as 0, 1 or NaN."""
    found = []
    for j in columns:
        codes, words = _column(raw, j, attributes[j]), attributes[j].values or ()
        table = np.array([truth(word) for word in words], dtype=np.float64)
        found.append(np.where(np.isnan(codes), np.nan, table[np.nan_to_num(codes).astype(np.intp)]))
    return sparse.csc_array(np.column_stack(found))


def _unsigned(values: sparse.csc_array, path: Path) -> sparse.csc_array:
    """Label cells of -1 and 1 as 0 and 1; a DataError for -1 beside 0."""
    negative = values.data == -1
    if not negative.any():
        return values
    if (values.data == 0).any() or values.nnz < values.shape[0] * values.shape[1]:
        reason = "the labels mix -1, 0 and 1: -1 may mean negative or unknown, and 0 likewise"
        remedy = "write 0 and 1 (or -1 and 1) for known labels, and ? where unknown"
        raise DataError.at(path, None, reason, remedy)
    values.data[negative] = 0.0
    values.eliminate_zeros()
    return values


def _first_missing(raw: Matrix, columns: NDArray[np.intp]) -> tuple[int, int] | None:
    """Row and column of the first NaN in the chosen columns, by rows."""
    chosen = raw[:, columns]
    if not sparse.issparse(chosen):
        rows, places = np.nonzero(np.isnan(chosen))
    else:
        stored = np.flatnonzero(np.isnan(chosen.data))
        rows, places = chosen.indices[stored], np.searchsorted(chosen.indptr, stored, "right") - 1
    if rows.size == 0:
        return None
    first = np.lexsort((places, rows))[0]
    return int(rows[first]), int(columns[places[first]])
