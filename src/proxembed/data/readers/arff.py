"""ARFF files, dense or sparse, from the header on; their labels are named by XML, by -C, or by the caller.

Dense rows with empty cells (?), texts, dates or truth values such as {f,t} are read as a table.
"""

from __future__ import annotations

import difflib
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from proxembed.data.dataset import Dataset, Matrix
from proxembed.data.errors import DataError
from proxembed.data.readers.arff_header import QUOTED, Attribute, Header, read_header, tokens, unquote
from proxembed.data.readers.columns import Columns, required, resolve, truths
from proxembed.data.readers.label_arrays import labels_beside
from proxembed.data.readers.reader import PART, Labels, NamedRows, Reader, feature_names, source_by_name
from proxembed.data.readers.table import new_rows, read_table
from proxembed.data.readers.table_file import TableFile, table_of_columns
from proxembed.data.readers.table_labels import FrameFile
from proxembed.data.readers.text_layout import FileLayout
from proxembed.data.unpacking import decode, opened, plain_name
from proxembed.tables.cells import truth_words
from proxembed.tables.notes import shorten
from proxembed.tables.quantities import NUMBER

COUNT = re.compile(r"-C\s+(-?\d{1,9})\b", re.ASCII)
BLOCK_BYTES = 1 << 22
NUMBER_BYTES = NUMBER.pattern.encode()
PLAIN_ROW = re.compile(rb"\{\s*+(?:\d++\s++(?:%b)\s*+(?:,\s*+\d++\s++(?:%b)\s*+)*+)?\}" % (NUMBER_BYTES, NUMBER_BYTES))
ENTRY = re.compile(rf"\s*(\d+)\s+({QUOTED}|[^,\s][^,]*)\s*(,|$)", re.ASCII | re.DOTALL)
DIGITS = b"0123456789"
SHORT = 9  # digits of a whole number that int32 holds
LINE_END = ord("\n")
SPACED = bytes.maketrans(b"{},", b"   ")
Entries = tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]  # entries per row, columns, values
CLASSES, NUMBERS = "classes", "numbers"  # what a file holds that is read as a table
OF_SPARSE = ("labels", "targets", "target_type", "drop", "keep")
NO_FEATURE = "every attribute is a label", "keep at least one feature"
NO_ROWS, COMPLETE = "there are no rows after @data", "check that the file is complete"


class Arff(Reader):
    """ARFF files of Mulan and MEKA."""

    name = "arff"
    suffixes = (".arff",)
    accepts = ".arff (Mulan with its XML beside it, MEKA or KEEL)"
    place = 4
    takes_columns = True

    def read(self, path: Path, test: Path | None, labels: Labels | None, columns: Columns) -> Dataset:
        if given := FileLayout.of(columns).plain():
            reason = f"{', '.join(given)} was given, but an ARFF file says so itself"
            raise DataError.at(path, None, reason, "leave it out")
        paths = [path] if test is None else [path, test]
        name = _stem(path) if test is None else PART.sub("", _stem(path))
        if labels is None and columns.labels:
            labels = columns.labels
        unnamed = labels is None and not columns.targets and not _says_labels(path)
        if unnamed and not any(map(_is_sparse, paths)):
            return read_table([_as_table(each) for each in paths], columns, name)  # which tells its columns
        numbers = columns.target_type == "real"
        if not numbers and not [field for field in columns.fields_set if field not in ("target_type", "labels")]:
            read = [_read(each, labels, columns.target_type) for each in paths]
            parts = [data for data in read if isinstance(data, Dataset)]
            if len(parts) == len(paths):
                return parts[0] if test is None else _joined(parts[0], parts[1], path, test, name)
            numbers = NUMBERS in read
        if labels is not None or not columns.targets:
            columns = _with_labels(columns, _label_attributes(path, labels), numbers)
        if any(map(_is_sparse, paths)):
            return _of_sparse(paths, columns, name)
        return read_table([_as_table(each) for each in paths], columns, name)

    def read_rows(self, path: Path, source: dict[str, Any]) -> NamedRows:
        """The attributes that the training file had as features."""
        if "columns" in source and not _is_sparse(path):
            return new_rows(_as_table(path), source)
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
        return data.source or source_by_name(self.name, data)


def _says_labels(path: Path) -> bool:
    """Whether a file names its labels, by the XML beside it, KEEL's @outputs or MEKA's -C."""
    with opened(path) as stream:
        header = read_header(stream, path)
    return _xml_beside(path)[0] is not None or bool(header.outputs) or COUNT.search(header.relation) is not None


def _xml_beside(path: Path) -> tuple[Path | None, str]:
    """The XML file beside an ARFF file, and the names that it may have."""
    files = [path.with_name(f"{stem}.xml") for stem in dict.fromkeys((_stem(path), PART.sub("", _stem(path))))]
    return next((file for file in files if file.is_file()), None), " or ".join(file.name for file in files)


def _label_attributes(path: Path, labels: Labels | None) -> list[Attribute]:
    with opened(path) as stream:
        header = read_header(stream, path)
    return [header.attributes[j] for j in _label_columns(path, header, labels)]


def _with_labels(columns: Columns, labels: Sequence[Attribute], numbers: bool) -> Columns:
    """The columns with these attributes as labels, several as outputs of classes if one declares other values than a
    label; or, if they hold ``numbers``, as targets."""
    names = tuple(attribute.name for attribute in labels)
    if numbers:
        return replace(columns, labels=(), targets=(*names, *columns.targets), target_type=None)
    classes = columns.target_type is None and _hold_classes(labels)
    return replace(columns, labels=names, target_type="classes" if classes else columns.target_type)


def _is_sparse(path: Path) -> bool:
    with opened(path) as stream:
        first = next(_blocks(stream, read_header(stream, path).lines), None)
    return first is not None and first[0][0].startswith(b"{")


def _as_table(path: Path) -> TableFile:
    """Dense rows as a table: numbers, the words of nominal attributes, and texts; empty where ? stands."""
    parts: list[list[Any]] = []
    with opened(path) as stream:
        header = read_header(stream, path)
        for rows, numbers in _blocks(stream, header.lines):
            parts.append(_DenseRows(rows, numbers, header.attributes, path).columns())
    if not parts:
        raise DataError.at(path, None, NO_ROWS, COMPLETE)
    return table_of_columns(path, [attribute.name for attribute in header.attributes], parts)


class _LabelCells(FrameFile):
    """The columns of labels of sparse rows, with the lines of these."""

    def __init__(self, cells: dict[str, list[Any]], path: Path, places: Sequence[str]) -> None:
        super().__init__(cells, str(path))
        self._places = places

    def place(self, row: int) -> str:
        return self._places[row]


def _of_sparse(paths: Sequence[Path], columns: Columns, name: str) -> Dataset:
    """The data set of sparse rows with labels of classes or numbers, which are read as those beside an array."""
    if unfit := [field for field in columns.fields_set if field not in OF_SPARSE]:
        reason = f"its rows are sparse, and {', '.join(unfit)} is for dense rows"
        raise DataError.at(paths[0], None, reason, "leave it out, or write dense rows")
    X: list[Any] = []
    cells: dict[str, list[Any]] = {}
    places: list[str] = []
    for path in paths:
        with opened(path) as stream:
            header = read_header(stream, path)
            raw, lines = read_rows(stream, header, path)
        raw = sparse.csc_array(raw) if sparse.issparse(raw) else raw
        place = {attribute.name: j for j, attribute in enumerate(header.attributes)}
        roles = resolve(columns, list(place), path)
        if not roles.features:
            raise DataError.at(path, None, *NO_FEATURE)
        features = np.array([place[each] for each in roles.features])
        _refuse_missing(raw, features, header, path, lines)
        X.append(_select(raw, header.attributes, features))
        places += [f"line {line}" if path == paths[0] else f"line {line} of {path.name}" for line in lines.tolist()]
        for each in (*roles.labels, *roles.targets):
            attribute = header.attributes[place[each]]
            cells.setdefault(each, []).extend(_cells(_column(raw, place[each], attribute), attribute))
    for other, (_, names) in zip(paths[1:], X[1:], strict=True):
        _check_names("feature", X[0][1], names, paths[0], other)
    labels = labels_beside(_LabelCells(cells, paths[0], places), roles, columns.target_type)
    rows = sparse.vstack([sparse.csr_array(part) for part, _ in X], format="csr")
    fields: dict[str, Any] = {"unknown": labels.unknown, "values": labels.values, "outputs": labels.outputs}
    if len(paths) > 1:
        n = X[0][0].shape[0]
        fields |= {"train_idx": np.arange(n), "test_idx": np.arange(n, rows.shape[0])}
    return Dataset(rows, labels.Y, X[0][1], labels.names, name, notes=labels.notes, **fields)


def _read(path: Path, labels: Labels | None, target_type: str | None) -> Dataset | str:
    """The data set of a file of numbers and declared words; CLASSES or NUMBERS for one that needs another reading."""
    with opened(path) as stream:
        header = read_header(stream, path)
        columns = _label_columns(path, header, labels)
        features = np.setdiff1d(np.arange(len(header.attributes)), columns)
        if features.size == 0:
            raise DataError.at(path, None, *NO_FEATURE)
        encoded = any(header.attributes[j].encoded for j in features) and not _is_sparse(path)
        if encoded or _hold_classes([header.attributes[j] for j in columns]):
            return CLASSES
        raw, lines = read_rows(stream, header, path)
    raw = raw.tocsc() if sparse.issparse(raw) else raw
    if not sparse.issparse(raw) and _first_missing(raw, features) is not None:
        return CLASSES
    _refuse_missing(raw, features, header, path, lines)
    held = [_column(raw, j, header.attributes[j]) for j in columns if header.attributes[j].values is None]
    if target_type is None and len(held) == len(columns) and all(map(_holds_fractions, held)):
        return NUMBERS
    if target_type == "classes" and not all(np.isin(column[~np.isnan(column)], (-1, 0, 1)).all() for column in held):
        return CLASSES
    X, names = _select(raw, header.attributes, features)
    values, label_names = _label_values(raw, header.attributes, columns, path, lines)
    missing = np.isnan(values.data)
    Y, unknown = values.copy(), values.copy()
    Y.data, unknown.data = np.where(missing, 0, values.data), missing
    return Dataset(X.tocsr() if sparse.issparse(X) else X, Y, names, label_names, _stem(path), unknown=unknown)


def _joined(train: Dataset, test: Dataset, train_path: Path, test_path: Path, name: str) -> Dataset:
    """One data set of training rows, then test rows, with the split; both must name the same columns."""
    _check_names("feature", train.feature_names, test.feature_names, train_path, test_path)
    _check_names("label", train.label_names, test.label_names, train_path, test_path)
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


def _check_names(what: str, one: Sequence[str], other: Sequence[str], train_path: Path, test_path: Path) -> None:
    """Refuse a test file whose features or labels have other names than those of the training file."""
    if one != other:
        fault = f"it has {len(other)} {what}s, not the {len(one)} of {train_path}"
        if len(one) == len(other):
            place = next(j for j in range(len(one)) if one[j] != other[j])
            fault = f"{what} {place + 1} is {shorten(other[place])}, not {shorten(one[place])} as in {train_path}"
        raise DataError.at(test_path, None, fault, f"give two files with the same {what}s in the same order")


def _stem(path: Path) -> str:
    return re.sub(r"\.arff$", "", plain_name(path), flags=re.IGNORECASE)


def _label_columns(path: Path, header: Header, labels: Labels | None) -> NDArray[np.intp]:
    """Columns of the labels in ARFF order: named by `labels`, by the XML beside the file, by KEEL's @outputs, or by
    MEKA's -C."""
    if labels is None:
        labels, tried = _xml_beside(path)
        labels = labels or header.outputs or None
        if labels is None:
            return _counted(path, header, tried)
    if isinstance(labels, str) and not Path(labels).is_file():
        raise DataError.at(
            path,
            None,
            f"labels={shorten(labels)} is not a file",
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
            fault = "is the name of several attributes" if name in places else "is not an attribute of the file"
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
        raise DataError.at(path, line, f"this is not XML ({error})", "give the Mulan XML file of the labels") from error
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
            "labels must be 0 or 1 (or -1 and 1), or ? where unknown (targets= names numbers)",
        )
    return values, names


def _hold_classes(labels: Sequence[Attribute]) -> bool:
    """Whether one of several labels declares other values than 0 and 1, -1 and 1, or (all of them) truth words."""
    declared = [label for label in labels if label.values is not None]
    if len(labels) < 2 or len(declared) == len(labels) and all(truth_words(label.values or ()) for label in labels):
        return False
    return not all(map(_binary, declared))


def _binary(attribute: Attribute) -> bool:
    declared = set() if attribute.numbers is None else set(attribute.numbers.tolist())
    return attribute.numbers is not None and (declared <= {0.0, 1.0} or declared == {-1.0, 1.0})


def _of_words(raw: Matrix, attributes: Sequence[Attribute], columns: NDArray[np.intp]) -> sparse.csc_array:
    """Label cells of attributes that declare two truth words, such as {no,yes}, as 0, 1 or NaN."""
    found = []
    for j in columns:
        codes, words = _column(raw, j, attributes[j]), attributes[j].values or ()
        table = np.array(truths(words), dtype=np.float64)
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


def _holds_fractions(column: NDArray[np.float64]) -> bool:
    return bool((column[~np.isnan(column)] % 1).any())


def _refuse_missing(
    raw: Matrix, features: NDArray[np.intp], header: Header, path: Path, lines: NDArray[np.intp]
) -> None:
    """Refuse ? in a feature."""
    if (first := _first_missing(raw, features)) is not None:
        row, column = first
        raise DataError.at(
            path,
            int(lines[row]),
            f"? in feature {shorten(header.attributes[column].name)} (column {column + 1})",
            "fill in missing feature values or drop the row",
        )


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


def read_rows(stream: BinaryIO, header: Header, path: Path) -> tuple[Any, NDArray[np.intp]]:
    """All rows as numbers over all attributes, and the line of the file each row stands on."""
    blocks: list[Any] = []
    numbered: list[NDArray[np.intp]] = []
    parse: type[_SparseRows] | type[_DenseRows] | None = None
    width = len(header.attributes)
    for rows, numbers in _blocks(stream, header.lines):
        if parse is None:
            parse = _SparseRows if rows[0].startswith(b"{") else _DenseRows
        block = parse(rows, numbers, header.attributes, path)
        blocks.append(block.plain() or block.exact())
        numbered.append(numbers)
    if parse is None:
        raise DataError.at(path, None, NO_ROWS, COMPLETE)
    lines = np.concatenate(numbered)
    if parse is _DenseRows:
        return np.concatenate([block[0] for block in blocks]), lines
    counts, columns, values = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return sparse.csr_array((values, columns, indptr), shape=(len(lines), width)), lines


def _blocks(stream: BinaryIO, first: int) -> Iterator[tuple[list[bytes], NDArray[np.intp]]]:
    while text := stream.read(BLOCK_BYTES):
        block = (text + stream.readline()).removesuffix(b"\n").split(b"\n")
        rows = list(map(bytes.strip, block))
        keep = [i for i, row in enumerate(rows) if row and not row.startswith(b"%")]
        if keep:
            yield [rows[i] for i in keep], np.array(keep) + first + 1
        first += len(block)


class _Rows:
    """A block of rows with what both layouts share: declared values, and the code of one token."""

    def __init__(self, rows: list[bytes], lines: NDArray[np.intp], attributes: Sequence[Attribute], path: Path):
        self.rows, self.lines, self.attributes, self.path = rows, lines, attributes, path

    def fault(self, row: int, reason: str, remedy: str) -> DataError:
        return DataError.at(self.path, int(self.lines[row]), reason, remedy)

    def declared(self) -> dict[tuple[float, ...], list[int]]:
        """Columns with declared numbers, grouped by these numbers."""
        groups: dict[tuple[float, ...], list[int]] = {}
        for j, attribute in enumerate(self.attributes):
            if attribute.numbers is not None:
                groups.setdefault(tuple(sorted(attribute.numbers.tolist())), []).append(j)
        return groups

    def code(self, row: int, column: int, token: str) -> float:
        """Number of one token; NaN for `?`."""
        attribute = self.attributes[column]
        if token == "?":
            return np.nan
        if attribute.free:
            reason = (
                f"attribute {shorten(attribute.name)} has type {shorten(attribute.free)}, which is read in dense rows"
            )
            raise self.fault(row, reason, "drop the column, or write dense rows")
        text = unquote(token)
        if attribute.values is not None and text in attribute.values:
            place = attribute.values.index(text)
            numbers: Any = attribute.numbers
            return float(place if attribute.text else numbers[place])
        what = f"{shorten(text)} in column {column + 1} ({shorten(attribute.name)})"
        if not attribute.text and NUMBER.fullmatch(text):
            number = float(text)
            if not np.isfinite(number):
                raise self.fault(row, f"{what} is too large for a number", "correct the value")
            if attribute.numbers is None or number in attribute.numbers:
                return number
        if attribute.values is None:
            raise self.fault(row, f"{what} is not a number", "correct the value")
        raise self.fault(
            row, f"{what} is not one of the declared values", "correct the value or add it to the @attribute line"
        )


class _DenseRows(_Rows):
    """Rows of comma-separated values, one for every attribute."""

    def plain(self) -> tuple[NDArray[np.float64]] | None:
        text = b"\n".join(self.rows)
        places = {
            j: {value: place for place, value in enumerate(attribute.values or ()) if value != "?"}
            for j, attribute in enumerate(self.attributes)
            if attribute.text
        }
        if places and (b"'" in text or b'"' in text):
            return None
        converters = {j: lambda cell, place=place: place[cell.strip()] for j, place in places.items()}
        block = _numbers(text, len(self.rows), len(self.attributes), converters)
        if block is None:
            return None
        fits = all(np.isin(block[:, group], numbers).all() for numbers, group in self.declared().items())
        return (block,) if fits else None

    def exact(self) -> tuple[NDArray[np.float64]]:
        columns = [self._column(j, cells) for j, cells in enumerate(self._cells())]
        return (np.stack(columns, axis=1),)

    def columns(self) -> list[Any]:
        """Numbers as an array, NaN or masked where empty, and words and texts as a list, None where empty."""
        found: list[Any] = []
        for j, cells in enumerate(self._cells()):
            if self.attributes[j].free:
                found.append([None if cell == "?" else unquote(cell) for cell in cells])
            else:
                found.append(_cells(self._column(j, cells), self.attributes[j]))
        return found

    def _cells(self) -> Iterable[tuple[str, ...]]:
        """The tokens of every column."""
        width, table = len(self.attributes), []
        for i, row in enumerate(self.rows):
            cells = tokens(decode(row, self.path, int(self.lines[i])))
            if row.startswith(b"{"):
                raise self.fault(i, "a sparse row stands among dense rows", "write all rows in one layout")
            if len(cells) != width:
                raise self.fault(
                    i,
                    f"the row has {len(cells)} values, but {width} attributes are declared",
                    "give every attribute one value, with commas between",
                )
            table.append(cells)
        return zip(*table, strict=True)

    def _column(self, j: int, cells: tuple[str, ...]) -> NDArray[np.float64]:
        attribute = self.attributes[j]
        if attribute.values is None:
            numbers = _numbers("\n".join(cells).encode(), len(cells), 1)
            if numbers is not None:
                return numbers[:, 0]
        codes: dict[str, float] = {}
        for i, cell in enumerate(cells):
            if cell not in codes:
                codes[cell] = self.code(i, j, cell)
        return np.array([codes[cell] for cell in cells])


class _SparseRows(_Rows):
    """Rows of `{column value, column value, ...}`; columns count from 0 and what is left out is 0."""

    def plain(self) -> Entries | None:
        if any(attribute.text for attribute in self.attributes):
            return None
        entries = self._whole_numbers() or self._any_numbers()
        if entries is None:
            return None
        counts, columns, values = entries
        starts = np.repeat(np.arange(len(counts)), counts)
        rising = (np.diff(columns) > 0) | (np.diff(starts) > 0)
        if not rising.all() or (columns >= len(self.attributes)).any():
            return None
        return entries if np.isfinite(values).all() and self._fits(columns, values) else None

    def _whole_numbers(self) -> Entries | None:
        """Entries of rows whose values are short whole numbers, the common case, by their bytes; None for others."""
        text = b"\n".join(self.rows)
        around = text.translate(None, DIGITS).split(b"\n")  # of every row what stands around its numbers
        if any(shape != b"{" + b" ," * (len(shape) // 2 - 1) + b" " * (len(shape) > 2) + b"}" for shape in set(around)):
            return None
        if not text.startswith(b"{") or not text.endswith(b"}"):
            return None
        counts = (np.fromiter(map(len, around), np.intp, len(around)) - 1) // 2
        codes = np.frombuffer(text, dtype=np.uint8)
        digits = codes - np.uint8(ord("0"))  # wraps: what is not a digit is above 9
        edges = np.flatnonzero(np.diff(digits <= 9)) + 1
        first, last, length = edges[0::2], edges[1::2], edges[1::2] - edges[0::2]
        before, after = codes[first - 1], codes[last]
        outside = (before == LINE_END) | (after == LINE_END) | ((before == ord("{")) & (after == ord("}")))
        if len(first) != 2 * counts.sum() or outside.any():  # else every place for a number holds one
            return None
        longest = int(length.max(initial=0))
        if longest > SHORT:
            return None
        numbers = digits[first].astype(np.int32)
        for place in range(1, longest):
            longer = np.flatnonzero(length > place)
            numbers[longer] = 10 * numbers[longer] + digits[first[longer] + place]
        return counts, numbers[0::2].astype(np.intp), numbers[1::2].astype(np.float64)

    def _any_numbers(self) -> Entries | None:
        """Entries of rows of any numbers, told by a regular expression; None where something else stands there."""
        if not all(map(PLAIN_ROW.fullmatch, self.rows)):
            return None
        counts = np.array([row.count(b",") + (len(row) > 2 and not row[1:-1].isspace()) for row in self.rows], np.intp)
        total = int(counts.sum())
        flat = np.fromstring(b" ".join(self.rows).translate(SPACED), sep=" ") if total else np.zeros(0)
        if len(flat) != 2 * total or (flat[0::2] >= len(self.attributes)).any():
            return None
        return counts, flat[0::2].astype(np.intp), flat[1::2]

    def _fits(self, columns: NDArray[np.intp], values: NDArray[np.float64]) -> bool:
        group_of = np.full(len(self.attributes), -1)
        groups = self.declared()
        for number, group in enumerate(groups.values()):
            group_of[group] = number
        groups_here = group_of[columns]
        return all(np.isin(values[groups_here == g], numbers).all() for g, numbers in enumerate(groups))

    def exact(self) -> Entries:
        counts: list[int] = []
        columns: list[int] = []
        values: list[float] = []
        for i, row in enumerate(self.rows):
            entries = self._entries(i, decode(row, self.path, int(self.lines[i])))
            counts.append(len(entries))
            columns.extend(column for column, _ in entries)
            values.extend(value for _, value in entries)
        return np.array(counts, np.intp), np.array(columns, np.intp), np.array(values, np.float64)

    def _entries(self, i: int, row: str) -> list[tuple[int, float]]:
        if not row.startswith("{"):
            raise self.fault(i, "a dense row stands among sparse rows", "write all rows in one layout")
        if not row.endswith("}"):
            raise self.fault(i, "the closing brace of the sparse row is missing", "end the row with }")
        text, width = row[1:-1].strip(), len(self.attributes)
        entries: list[tuple[int, float]] = []
        position, more = 0, bool(text)
        while more:
            match = ENTRY.match(text, position)
            if match is None:
                raise self.fault(
                    i,
                    f"{shorten(text[position:].strip())} is not a column number and a value",
                    "write {column value,column value,...}",
                )
            column = int(match[1]) if len(match[1]) < 19 else width
            last = entries[-1][0] if entries else -1
            if column >= width:
                raise self.fault(
                    i,
                    f"column number {shorten(match[1])} is out of range",
                    f"number the {width} attributes from 0 to {width - 1}",
                )
            if column <= last:
                fault = "is given twice" if column == last else f"stands after column {last}"
                raise self.fault(i, f"column {column} {fault}", "give every column once, in rising order")
            entries.append((column, self.code(i, column, match[2].strip())))
            position, more = match.end(), bool(match[3])
        return entries


def _cells(column: NDArray[np.float64], attribute: Attribute) -> Any:
    """A column as its cells: words, None where empty, or numbers, NaN or masked where empty."""
    if attribute.text:
        words = (*(attribute.values or ()), None)
        return [words[int(code)] for code in np.nan_to_num(column, nan=-1)]
    declared = attribute.numbers
    whole = declared is not None and not (declared % 1).any() and np.abs(declared).max() < 2**53
    return _whole_numbers(column) if whole else column


def _whole_numbers(column: NDArray[np.float64]) -> NDArray[np.int64]:
    """A column of whole numbers as such, masked where unknown."""
    unknown = np.isnan(column)
    return np.ma.array(np.where(unknown, 0, column).astype(np.int64), mask=unknown)


def _numbers(text: bytes, rows: int, width: int, converters: Any = None) -> NDArray[np.float64] | None:
    """Finite numbers of comma-separated lines as a matrix, or None where they are anything else."""
    lines = text.decode("ascii").split("\n") if text.isascii() else []
    if not lines or not all(map(str.strip, lines)):
        return None
    try:
        block = np.loadtxt(lines, delimiter=",", comments=None, ndmin=2, converters=converters)
    except ValueError:
        return None
    return block if block.shape == (rows, width) and np.isfinite(block).all() else None
