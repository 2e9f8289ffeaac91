"""Tables, CSV, Parquet or in memory, as data sets: readings of their columns, rows, ids, groups and labels."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from proxembed.data.dataset import Dataset, Matrix
from proxembed.data.errors import DataError, Fault, TableFaults, UnlabelledTable
from proxembed.data.readers import sheets, typed_files
from proxembed.data.readers.columns import SINGLE, Cells, Columns, Roles, is_number, name_of, required, resolve, seconds
from proxembed.data.readers.merged_lines import MergedLinesWarning
from proxembed.data.readers.parquet_parts import SUFFIXES
from proxembed.data.readers.reader import PACKED, PART, Labels, NamedRows, Reader
from proxembed.data.readers.table_features import (
    Feature,
    FeatureReader,
    first_column_notes,
    number_columns,
    shared_names,
    suspected_rows,
    table_owners,
    with_row_names,
)
from proxembed.data.readers.table_file import (
    CsvFile,
    LeftOutLinesWarning,
    PartsOfTable,
    TableFile,
    check_layout,
    form_of,
    open_table,
)
from proxembed.data.readers.table_labels import LIKELY, LabelColumns, likely_labels, likely_targets, read_labels
from proxembed.data.readers.table_outputs import (
    outputs_note,
    reading_fault,
    table_outputs,
    target_readings,
    target_sets,
)
from proxembed.data.readers.text_layout import BLOCK_BYTES, FileLayout, is_total
from proxembed.data.unpacking import is_packed, opened, plain_name
from proxembed.tables import CellError, Column, Owners, Reading, TableRows, read_columns
from proxembed.tables.axis import axis_names
from proxembed.tables.cells import MISSING
from proxembed.tables.dates import date_style, may_be_times
from proxembed.tables.identifiers import code_name, group_codes, identifier_name
from proxembed.tables.notes import LeftOut, few_names, few_notes, shorten
from proxembed.tables.quantities import GROUPED, LEADING_ZERO
from proxembed.tables.reading import cell_text, holds_bare_dates, holds_missing_code
from proxembed.tables.unseen import unseen_notes
from proxembed.targets.output_totals import stacked_outputs

FEWEST_ACROSS = 6  # columns of numbers that may be samples
FIRST_ROWS = 10_000  # that are read of a table whose labels are not named
CellsOfFile = tuple[TableFile, dict[str, Cells]]


@dataclass
class Gathered:
    """What one pass over a file gives: feature columns, and the cells of each column with another purpose."""

    file: TableFile
    features: FeatureReader
    cells: dict[str, Cells]


class Table(Reader):
    """Files with named columns: CSV, Parquet, Excel, Feather and JSON lines."""

    name = "table"
    suffixes = (".csv", ".tsv", ".tab", *SUFFIXES, *sheets.SUFFIXES, *typed_files.SUFFIXES)
    accepts = f"{', '.join(suffixes[:-1])} and {suffixes[-1]} (a table with named columns)"
    place = 1
    takes_columns = True

    def read(self, path: Path, test: Path | None, labels: Labels | None, columns: Columns) -> Dataset:
        if labels is not None:
            if columns.labels:
                raise DataError.at(path, None, "labels= was given beside columns.labels", "name the labels once")
            columns = replace(columns, labels=(str(labels),) if isinstance(labels, str | Path) else tuple(labels))
        files = [_checked_table(each, columns) for each in (path, test) if each is not None]
        return read_table(files, columns, stem(path) if test is None else PART.sub("", stem(path)))

    def read_rows(self, path: Path, source: dict[str, Any]) -> NamedRows:
        file = open_table(path, layout_of(source))
        rows = new_rows(file, source)
        _warn_of_lines(file)
        return rows

    def row_parts(self, path: Path, source: dict[str, Any], rows: int) -> Iterator[NamedRows]:
        return parts_of(open_table(path, layout_of(source)), source, rows)

    def size(self, path: Path) -> tuple[int, int | None]:
        """By the lines of the first megabytes of a file of text; None rows of one that is unpacked to be read."""
        form = form_of(path)
        if form == "parquet":
            file: Any = open_table(path)
            return file.size, file.rows
        size = path.stat().st_size
        if is_packed(path) or form != "text":
            return PACKED * size, None
        with opened(path) as stream:
            first = stream.read(BLOCK_BYTES)
        return size, round(first.count(b"\n") * size / max(len(first), 1))

    def source(self, data: Dataset) -> dict[str, Any]:
        return data.source or {}


def _checked_table(path: Path, columns: Columns) -> TableFile:
    check_layout(path, FileLayout.of(columns))
    return open_table(path, FileLayout.of(columns))


def layout_of(source: dict[str, Any]) -> FileLayout:
    """What the caller said of the training file itself, which new files follow. For that file itself, whoever reads it
    again adds the ``answers``."""
    return FileLayout.of(source.get("layout") or {})


def parts_of(file: TableFile, source: dict[str, Any], rows: int) -> Iterator[NamedRows]:
    """The columns that the training file had as features, and the ids, about ``rows`` rows at a time."""
    parts = PartsOfTable(file, rows)
    while not parts.ended:
        yield new_rows(parts, source)
    _warn_of_lines(file)


def _warn_of_lines(file: TableFile) -> None:
    """Warn of lines of new rows that a quote has merged, and of those below the header that are left out."""
    if not isinstance(file, CsvFile):
        return
    for note, category in ((file.merged.note, MergedLinesWarning), (file.below_new, LeftOutLinesWarning)):
        if note:
            warnings.warn(f"{file.path.name}: {note}", category, stacklevel=3)


def new_rows(file: Any, source: dict[str, Any]) -> NamedRows:
    """The columns that the training file had as features, and the ids where both have the id column, or the column that
    was found to say which row it is; of a training file without one, those of a column of the new file alone."""
    found = source["found_id"] if "found_id" in source else _own_id(file.names, source)
    name = found if source.get("id") is None else source["id"]
    name = name if name in file.names else None
    others: dict[str, Sequence[str]] = {} if name is None else {name: ("",)}
    if "columns" in source:
        columns = tuple(Column.of(facts) for facts in source["columns"])
        required([column.name for column in columns], file.names, file.path, "the training file")
        cells = {**{column.name: MISSING for column in columns}, **others}
        part = _gather(file, {}, cells, source.get("missing") or ())
        return as_rows(file, columns, part.cells, new=True), _ids([part], name, found == name)
    if source.get("format") == "table":
        features = tuple(Feature.of(facts) for facts in source["features"])
    elif "names" in source:
        features = tuple(Feature(name, "number") for name in source["names"])
    else:
        reason = "the training file did not name its features, so that columns cannot be found by name"
        raise DataError.at(file.path, None, reason, "give the new rows in the format of the training file")
    required([feature.name for feature in features], file.names, file.path, "the training file")
    for feature in features if file.typed else ():
        held = file.places[feature.name]
        if feature.kind in ("number", "vector") and held != feature.kind:
            reason = f"column {shorten(feature.name)} holds {held}, not a {feature.kind} a row as the training file did"
            raise DataError.at(file.path, None, reason, "give a file with columns of the same types")
    part = _gather(file, {feature.name: feature.kind for feature in features}, others)
    X, _ = _matrices([part.features], features)
    return X, _ids([part], name, found == name)


def _own_id(names: Sequence[str], source: dict[str, Any]) -> str | None:
    """The first column that is named as an identifier and was not in the training file for another purpose."""
    features = {facts["name"] for facts in (*source.get("columns", ()), *source.get("features", ()))}
    known = {*features, *source.get("names", ()), *source.get("labels", ()), *source.get("targets", ())}
    known |= {source.get("groups"), source.get("time"), source.get("sample_weight")}
    return next((name for name in names if name not in known and identifier_name(name) == "identifier"), None)


def read_table(files: Sequence[TableFile], columns: Columns, name: str, given: LabelColumns | None = None) -> Dataset:
    """The data set of a training table, and perhaps of a test table with the same columns."""
    file = files[0]
    columns, row_notes = with_row_names(file, columns)
    roles = resolve(columns, file.names, file.path)
    indices = getattr(file, "index", ())
    roles = replace(roles, features=tuple(name for name in roles.features if name not in indices))
    for other in files[1:]:
        required(roles.named, other.names, other.path, f"the training file {file.path.name}")
    if not (roles.features or roles.text):
        raise file.fault(None, "no column is left for the features", "keep at least one column that is not a label")
    if not roles.features and len(roles.text) == 1 and file.places[roles.text[0]] != "text":
        raise file.fault(None, f"text column {shorten(roles.text[0])} holds no text", "name a column of texts")
    named = bool(roles.labels or roles.targets)
    read = _matrix(files, roles, columns, given) if named or given is not None else None
    if read is not None:
        parts, X, features, roles, notes = read
        held = _labels(parts, roles, columns) if given is None else [given]
        return _assembled(parts, roles, columns, X, name, held, features, notes=row_notes + notes)
    others = {**dict.fromkeys(shared_names(roles, columns), MISSING), **_others(roles)}
    readable = [name for name in (*roles.text, *roles.features) if file.places[name] != "other"]
    wanted = {**dict.fromkeys(readable, MISSING), **others}
    first = None if named or given is not None else FIRST_ROWS  # which tell what to ask
    parts = [_gather(each, {}, wanted, columns.missing or (), first=first) for each in files]
    mixed = mixed_rows([(part.file, part.cells) for part in parts], roles, columns)
    labels, problems = [], list(mixed.problems)
    try:
        if given is not None or not any(reading.problem for reading in mixed.targets):
            labels = _labels(parts, roles, columns, mixed.targets) if given is None else [given]
    except DataError as error:
        if not problems and named:
            raise
        if not named:
            if targets := likely_targets(mixed.numbers, file.names):
                error.options, error.instead = targets, ()
        if not problems:
            raise _unlabelled(error, parts[0], mixed) from error
        reason = str(error).removeprefix(f"{file.path}: ").removesuffix(".")
        problems.append((reason, error.options))
    if problems:
        raise TableFaults(file.path, problems)
    if mixed.rows is None:
        read_as = "; ".join(f"{reading.name}: {reading.words}" for reading in mixed.readings)
        raise file.fault(None, f"no column is left for the features ({read_as})", "name them with keep")
    found = table_owners(parts[0].cells, mixed.readings, roles, columns, target_sets(labels[0]))
    roles = replace(roles, groups=roles.groups or found.groups, found_id=_found_id(mixed.readings))
    mixed = described(mixed, found)
    if given is not None:
        labels_beside = ((name, "labels", cell) for name, cell in given.columns)
        mixed = replace(mixed, described=(*mixed.described, *labels_beside))
    return _assembled(parts, roles, columns, mixed.rows, name, labels, (), mixed, row_notes + found.notes)


def _unlabelled(error: DataError, part: Gathered, mixed: MixedRows) -> UnlabelledTable:
    """The error for a table nothing of which is named to be predicted, with what was read and notes on it."""
    kept = [(each.name, each.note) for each in mixed.readings if each.note and not isinstance(each.note, LeftOut)]
    rows, whole = _rows_read(part)
    ends = _row_notes(part, whole) if whole else ()
    notes = (*getattr(part.file, "notes", ()), *few_notes(kept), *ends, *_across(mixed.readings))
    return UnlabelledTable.of(error, mixed.described, (rows, whole), notes)


def _across(readings: Sequence[Reading]) -> tuple[str, ...]:
    """A note on a table of numbers beside an id, without a column that may be a label: its columns may be samples."""
    kept = [reading for reading in readings if reading.column is not None]
    numbers = [reading for reading in kept if reading.column is not None and reading.column.kind == "number"]
    if (
        not any(reading.role == "id" for reading in readings)
        or len(kept) > len(numbers)
        or len(numbers) < FEWEST_ACROSS
    ):
        return ()
    if any(LIKELY.search(reading.name) for reading in numbers) or axis_names([reading.name for reading in numbers]):
        return ()
    return (
        "if its columns are samples and its rows features, such as genes or peaks, transpose it first, in pandas by "
        "read_csv(FILE, index_col=0).T",
    )


def _rows_read(part: Gathered) -> tuple[int, bool]:
    """The number of rows that were read of a table whose labels are not named, and whether these are all."""
    rows = len(next(iter(part.cells.values())).codes)
    return rows, rows < FIRST_ROWS


def beside(path: Path, columns: Columns, X: NDArray[np.floating], name: str) -> Dataset:
    """Data set of vectors X and of a table that labels them row by row; without label names, by all other columns."""
    check_layout(path, layout := replace(FileLayout.of(columns), answers=None))  # every row is that of a vector
    file = open_table(path, layout)
    roles = resolve(columns, file.names, path)
    labels = roles.labels or (() if roles.targets else roles.features)
    roles = replace(roles, labels=labels, features=())
    part = _gather(file, {}, _others(roles), columns.missing or ())
    rows = len(part.cells[(*roles.labels, *roles.targets)[0]].codes)
    if rows != X.shape[0]:
        reason = f"it labels {rows} rows, but there are {X.shape[0]} vectors"
        raise DataError.at(path, None, reason, "give one row for each vector, in the same order")
    return _assembled([part], roles, columns, X, name, _labels([part], roles, columns))


def _matrix(
    files: Sequence[TableFile], roles: Roles, columns: Columns, given: LabelColumns | None = None
) -> tuple[list[Gathered], Matrix, tuple[Feature, ...], Roles, tuple[str, ...]] | None:
    """A table of numbers and vectors as a matrix, with roles that leave out identifiers; None for other tables."""
    read = _whole_matrix(files, roles, columns)
    if read is None:
        return None
    parts, X, features = read
    suspects = [] if columns.keep else suspected_rows(X[: parts[0].features.rows], features)
    wanted = (*suspects, *shared_names(roles, columns))
    cells = {**(_gather(files[0], {}, dict.fromkeys(wanted, MISSING)).cells if wanted else {}), **parts[0].cells}
    columns_read = {name: (cells[name].values, cells[name].codes) for name in suspects}
    readings = [
        reading
        for reading in read_columns(columns_read, missing=(), others=len(suspects) < len(features))
        if reading.column is None and not reading.problem
    ]
    left = {reading.name for reading in readings}
    numbers = number_columns(X[: parts[0].features.rows], features, left)
    labels = _labels(parts, roles, columns)[0] if given is None else given
    found = table_owners(cells, readings, roles, columns, target_sets(labels), numbers)
    left |= set(found.entities)
    if len(left) == len(features):
        return None
    features_left = tuple(name for name in roles.features if name not in left)
    changed = replace(roles, features=features_left, groups=roles.groups or found.groups)
    changed = replace(changed, found_id=_found_id(readings))
    notes = (*few_notes((reading.name, reading.note) for reading in readings if reading.note), *found.notes)
    read = read if changed == roles else _whole_matrix(files, changed, columns)
    return None if read is None else (*read, changed, notes)


def _found_id(readings: Sequence[Reading]) -> str | None:
    """The column whose cells say which row it is: all different, or else the row numbers."""
    found = {reading.role: reading.name for reading in reversed(readings)}
    return found.get("id", found.get("rows"))


def _whole_matrix(
    files: Sequence[TableFile], roles: Roles, columns: Columns
) -> tuple[list[Gathered], Matrix, tuple[Feature, ...]] | None:
    file, missing = files[0], columns.missing or ()
    if roles.text or missing or columns.category or any(map(code_name, roles.features)):
        return None
    if any(not is_matrix(each, roles.features, columns.decimal) for each in files):
        return None
    kinds = {name: file.places[name] for name in roles.features}
    try:
        parts = [_gather(each, kinds, _others(roles)) for each in files]
    except DataError:
        return None  # a cell is empty, or no number: the cells themselves tell what they are
    X, features = _matrices([part.features for part in parts], None)
    if isinstance(X, np.ndarray) and (holds_bare_dates(X) or columns.missing is None and holds_missing_code(X)):
        return None
    return parts, X, features


def labels_alone(file: TableFile, columns: Columns, most: int) -> LabelColumns:
    """The labels of all rows of a table whose features need not fit in memory; ``most`` rows are read at a time."""
    roles = resolve(columns, file.names, file.path)
    given = (*roles.labels, *roles.targets)
    named = given or [name for name in roles.features if file.places[name] != "other"]
    first = None if given else FIRST_ROWS
    part = _gather(file, {}, dict.fromkeys(named, MISSING), columns.missing or (), most, first)
    return _labels([part], roles, columns)[0]


def _gather(
    file: TableFile,
    kinds: dict[str, str],
    others: dict[str, Sequence[str]],
    missing: Sequence[str] = (),
    most: int | None = None,
    first: int | None = None,
) -> Gathered:
    """One pass over a file in blocks; `others` holds, for each column read as cells, what its empty cells hold."""
    features = FeatureReader(file, kinds)
    cells = {name: Cells(empty, missing) for name, empty in others.items()}
    rows = 0
    for block in file.blocks({**dict.fromkeys(others, "cells"), **kinds}, most or first):
        rows += block.rows
        features.add(block)
        for name, column in cells.items():
            column.add(*block.cells(name))
        if first is not None and rows >= first:
            break
    return Gathered(file, features, cells)


def _matrices(
    parts: Sequence[FeatureReader], features: tuple[Feature, ...] | None
) -> tuple[Matrix, tuple[Feature, ...]]:
    """The rows of one or two files as one matrix, in the given columns or in those that the first file shows."""
    found = parts[0].features() if features is None else features
    blocks = [part.matrix(found) for part in parts]
    return blocks[0] if len(blocks) == 1 else np.concatenate(blocks), found


def _labels(
    parts: Sequence[Gathered], roles: Roles, columns: Columns, readings: Sequence[Reading] | None = None
) -> list[LabelColumns]:
    """The labels and numbers of each file (``readings``: of the columns of numbers, where they are known); without
    named labels the columns that may hold them."""
    file = parts[0].file
    if not (roles.labels or roles.targets):
        shown = ", ".join(shorten(name) for name in file.names[:6])
        last = f", ..., {', '.join(map(shorten, file.names[6:][-3:]))}" if len(file.names) > 6 else ""
        error = DataError.at(
            file.path,
            None,
            f"no labels are named among its columns {shown}{last}",
            "name them or give a pattern, such as labels='topic_*', or targets='temp*' for numbers",
        )
        error.options, *instead = likely_labels(parts[0].cells) or [()]
        error.instead = tuple(instead)
        raise error
    cells = [(part.file, {label: part.cells[label] for label in roles.labels}) for part in parts]
    labels = read_labels(cells, columns.separator, columns.empty, columns.target_type) if roles.labels else None
    if labels is not None and not roles.targets:
        return labels
    files = [(part.file, part.cells) for part in parts]
    return table_outputs(files, roles, readings or target_readings(files[0], roles, columns), labels)


def _assembled(
    parts: Sequence[Gathered],
    roles: Roles,
    columns: Columns,
    X: Matrix | TableRows,
    name: str,
    labels: Sequence[LabelColumns],
    features: tuple[Feature, ...] = (),
    mixed: MixedRows | None = None,
    notes: Sequence[str] = (),
) -> Dataset:
    """The data set of the gathered columns, training rows first."""
    n = labels[0].Y.shape[0]
    several = [part.outputs for part in labels if part.outputs is not None]
    outputs = stacked_outputs(several) if several else None
    split: dict[str, Any] = {"train_idx": np.arange(n), "test_idx": np.arange(n, X.shape[0])} if len(parts) == 2 else {}
    names: Any = [column for feature in features for column in feature.names] or None
    weights = None if roles.sample_weight is None else np.concatenate([_weights(part, roles) for part in parts])
    found = Dataset(
        X,
        sparse.vstack([part.Y for part in labels]),
        names if mixed is None else [column.name for column in mixed.rows.columns],
        labels[0].names,
        name,
        outputs=outputs,
        unknown=sparse.vstack([part.unknown for part in labels]),
        ids=_ids(parts, roles.id),
        found_ids=_ids(parts, _found_beside(parts, roles), found=True),
        groups=None if roles.groups is None else _groups(parts, roles.groups, named=bool(columns.groups)),
        times=None if roles.time is None else np.concatenate([_times(part, roles.time) for part in parts]),
        source=_source(roles, columns, features, mixed, labels[0]) if features or mixed else None,
        values=labels[0].values,
        notes=(
            *getattr(parts[0].file, "notes", ()),
            *(f"{part.file.path.name}: {note}" for part in parts[1:] for note in getattr(part.file, "notes", ())),
            *(mixed.notes if mixed else ()),
            *first_column_notes(parts[0].file, roles.features),
            *_row_notes(parts[0], whole=mixed is not None),
            *(f"{part.file.path.name}: {note}" for part in parts[1:] for note in _row_notes(part, mixed is not None)),
            *notes,
            *labels[0].notes,
            *(() if outputs is None else (outputs_note(outputs),)),
        ),
        columns=None if mixed is None else mixed.described,
        **split,
    )
    return found if weights is None else found.weighted(weights)


def _row_notes(part: Gathered, whole: bool) -> Iterator[str]:
    """Notes on a last row of totals, and others beside it, and, if the ``whole`` rows were gathered as cells, on rows
    without any."""
    for name, cells in part.cells.items():
        last = int(cells.codes[-1])
        if last < 0 or not _totals(cells, [last]):
            continue
        totals = np.flatnonzero(np.isin(cells.codes, _totals(cells, range(len(cells.values)))))
        place, words = part.file.place(int(totals[0])), f"({shorten(cells.values[cells.codes[totals[0]]])} in {name})"
        if len(totals) == 1:
            yield f"{place}, the last one, may hold totals {words}: remove it if it does"
        else:
            yield f"{len(totals):,} rows, the first is {place}, may hold totals {words}: remove them if they do"
        break
    empty = np.logical_and.reduce([cells.codes < 0 for cells in part.cells.values()]) if whole else np.zeros(0)
    if count := int(empty.sum()):
        rows = "1 row has" if count == 1 else f"{count:,} rows have"
        yield f"{rows} no cell, the first is {part.file.place(int(np.argmax(empty)))}: remove empty rows"


def _totals(cells: Cells, places: Iterable[int]) -> list[int]:
    """The places of the values that stand once and name totals."""
    words = ((j, cells.values[j]) for j in places)
    return [j for j, word in words if isinstance(word, str) and is_total(word) and (cells.codes == j).sum() == 1]


def _source(
    roles: Roles, columns: Columns, features: Sequence[Feature], mixed: MixedRows | None, labels: LabelColumns
) -> dict[str, Any]:
    """How the columns were read, as a JSON-able dict; enough to read the features and ids of new rows."""
    if mixed is None:
        read: dict[str, Any] = {"features": [feature.plain() for feature in features]}
    else:
        read = {"columns": [column.plain() for column in mixed.rows.columns], "missing": list(columns.missing or ())}
    if labels.negative is not None:
        read["negative"] = labels.negative
    if roles.targets:
        read["targets"] = list(roles.targets)
    return {
        "format": "table",
        **read,
        "labels": list(roles.labels) or [name for name, _ in labels.columns],
        "separator": columns.separator,
        "id": roles.id,
        **({"found_id": roles.found_id} if roles.id is None and roles.found_id is not None else {}),
        "groups": roles.groups,
        "time": roles.time,
        **({"layout": layout} if (layout := FileLayout.of(columns).plain()) else {}),
        **({} if roles.sample_weight is None else {"sample_weight": roles.sample_weight}),
    }


def _others(roles: Roles) -> dict[str, Sequence[str]]:
    """Columns that are read as cells, each with the texts of an empty cell; a row may be called NA."""
    others: dict[str, Sequence[str]] = dict.fromkeys((*roles.labels, *roles.targets), MISSING)
    others.update((name, MISSING) for name in (roles.time, roles.sample_weight) if name is not None)
    others.update((name, ("",)) for name in (roles.id, roles.groups, roles.found_id) if name is not None)
    return others


def stem(path: Path) -> str:
    """The name of a file or folder without its suffixes for format and compression."""
    name = plain_name(path if path.name else path.resolve())
    return name if path.is_dir() and Path(name).suffix.lower() not in SUFFIXES else Path(name).stem


def _ids(parts: Sequence[Gathered], name: str | None, found: bool = False) -> tuple[str, ...] | None:
    """The row ids; None without an id column, or if an unnamed first column has empty cells. Those of a column that
    nobody named, but was ``found``, may be empty."""
    unnamed = name is not None and name == parts[0].file.row_names
    if name is None or unnamed and any(part.cells[name].first_empty is not None for part in parts):
        return None
    return tuple(row for part in parts for row in _row_ids(part, name, found))


def _found_beside(parts: Sequence[Gathered], roles: Roles) -> str | None:
    """The column that was found to say which row it is, if all files have it and no other was named."""
    found = roles.found_id if roles.id is None else None
    return found if all(found in part.cells for part in parts) else None


def _row_ids(part: Gathered, name: str, found: bool) -> tuple[str, ...]:
    """The cells of the id column, one per row, text as it stands in the file."""
    if not found:
        _filled(part, name, "id", "name every row")
    cells = part.cells[name]
    names = [value if isinstance(value, str) else name_of(value) for value in cells.values]
    return tuple(np.array([*names, ""], dtype=object)[cells.codes])


def _groups(parts: Sequence[Gathered], name: str, named: bool) -> NDArray[np.intp]:
    """Codes of the groups over all files; if no column was named, a row with an empty cell is its own group."""
    for part in parts if named else ():
        _filled(part, name, "groups", "give every row a group; a row on its own has one of its own")
    code: dict[str, int] = {}
    codes = []
    for part in parts:
        cells = part.cells[name]
        table = [code.setdefault(name_of(value), len(code)) for value in cells.values]
        codes.append(np.array([*table, -1], dtype=np.intp)[cells.codes])
    return group_codes(np.concatenate(codes))


def _weights(part: Gathered, roles: Roles) -> NDArray[np.float64]:
    """The weights of the rows of a file."""
    name: Any = roles.sample_weight
    _filled(part, name, "sample_weight", "give every row a weight, 0 for a row that is to be left out")
    cells = part.cells[name]
    known = [float(value) if is_number(value) else None for value in cells.values]
    wrong = [value is None or not (np.isfinite(value) and value >= 0) for value in known]
    if any(wrong):
        code = wrong.index(True)
        reason = f"sample_weight column {shorten(name)} holds {shorten(str(cells.values[code]))}"
        raise part.file.fault(cells.first(code), reason, "give weights that are numbers of at least 0")
    return np.array(known, dtype=np.float64)[cells.codes]


def _times(part: Gathered, name: str) -> NDArray[np.float64]:
    _filled(part, name, "time", "give every row a time, or drop the row")
    cells = part.cells[name]
    style = date_style([value.strip() for value in cells.values if isinstance(value, str)]) or "iso"
    known = [seconds(value, style) for value in cells.values]
    if None in known:
        code = known.index(None)
        raise part.file.fault(
            cells.first(code),
            f"{shorten(str(cells.values[code]))} in time column {shorten(name)} is neither a number nor a date",
            "write numbers, or dates like 2024-12-31, 2024-12-31T23:59:00 or 31/12/2024",
        )
    return np.array(known, dtype=np.float64)[cells.codes]


def _filled(part: Gathered, name: str, purpose: str, remedy: str) -> None:
    row = part.cells[name].first_empty
    if row is not None:
        raise part.file.fault(row, f"the cell of {purpose} column {shorten(name)} is empty", remedy)


@dataclass(frozen=True)
class MixedRows:
    """The feature columns of one or two files, training rows first."""

    rows: Any  # TableRows; None where no column is mixed
    readings: tuple[Reading, ...]
    problems: tuple[Any, ...]
    described: tuple[tuple[str, str, str], ...]
    targets: tuple[Reading, ...] = ()
    unseen: tuple[str, ...] = ()  # notes on cells of the second file that the first does not have

    @property
    def numbers(self) -> list[str]:
        """The feature columns of numbers."""
        return [each.name for each in self.readings if each.column is not None and each.column.kind == "number"]

    @property
    def notes(self) -> list[str]:
        """Notes on the columns."""
        found = [(reading.name, reading.note) for reading in self.readings if reading.note]
        constant = [reading.name for reading in self.readings if reading.words.startswith(("constant", "empty,"))]
        for column in () if self.rows is None else self.rows.columns:
            if column.kind == "date" and _ordered(self.rows[column.name]):
                option = f"time={column.name!r}"
                text = f"the rows are in the order of {column.name} ({option} tests on the latest ones)"
                found.append((column.name, text))
        notes = [*few_notes(found), *self.unseen]
        return notes + ([f"left out, because they say nothing: {few_names(constant)}"] if constant else [])


def is_matrix(file: TableFile, names: Sequence[str], decimal: str | None = None) -> bool:
    """Whether columns hold numbers with a decimal point and vectors alone, none of which looks like a code or a
    time."""
    if not file.typed and (decimal == "," or decimal is None and not _shows_points(file)):
        return False
    if any(file.places[name] not in ("number", "vector") for name in names):
        return False
    first = getattr(file, "first", {})
    cells = {name: first[name] for name in names if name in first}
    codes = any(LEADING_ZERO.match(cell) for each in cells.values() for cell in each)
    return not codes and not any(may_be_times(each, name) for name, each in cells.items())


def _shows_points(file: TableFile) -> bool:
    """Whether the first rows of a file of text show that points are decimal marks."""
    if getattr(file, "separator", ",") != ";":
        return True
    pointed = (cell for cells in getattr(file, "first", {}).values() for cell in map(str.strip, cells) if "." in cell)
    first = next(pointed, None)
    return first is None or not GROUPED.fullmatch(first) or not all(map(GROUPED.fullmatch, pointed))


def mixed_rows(parts: Sequence[CellsOfFile], roles: Roles, columns: Columns) -> MixedRows:
    """Read the cells of the feature columns; the first file, the training file, says what they hold."""
    file, cells = parts[0]
    purposes = {*roles.features, *roles.text, *roles.targets}
    chosen = [name for name in file.names if name in purposes]
    names = [name for name in chosen if name in cells]
    found = read_columns(
        {name: (cells[name].values, cells[name].codes) for name in names},
        texts=roles.text,
        kept=names if columns.keep else (),
        missing=columns.missing,
        decimal=columns.decimal,
        categories=list(filter(columns.is_category, names)),
        points=getattr(file, "separator", ",") != ";",
        targets=roles.targets,
    )
    problems = [reading_fault(file, cells, reading) for reading in found if reading.problem]
    problems += [
        Fault(f"column {shorten(name)} holds values that are neither numbers nor text", (("drop", name),))
        for name in chosen
        if name not in cells
    ]
    targets = tuple(reading for reading in found if reading.name in roles.targets)
    found = [reading for reading in found if reading.name not in roles.targets]
    features = tuple(reading.column for reading in found if reading.column is not None)
    rows, unseen = None, []
    if features and not problems:
        held_in = [as_rows(each, features, held) for each, held in parts]
        rows = TableRows.stack(held_in)
        unseen = [f"{parts[1][0].path.name}: {note}" for note in unseen_notes(*held_in)] if len(parts) == 2 else []
    readings = {reading.name: (reading.words, reading.example) for reading in found}
    readings |= {reading.name: (f"target, {reading.words}", reading.example) for reading in targets}
    for purpose in ("labels", *SINGLE):
        for name in names_of(roles, purpose):
            readings[name] = (purpose, first_cell(cells[name]))
    described = tuple((name, *readings[name]) for name in file.names if name in readings)
    return MixedRows(rows, tuple(found), tuple(problems), described, targets, tuple(unseen))


def first_cell(cells: Cells) -> str:
    """The first cell of a column for a person, "" if all are empty."""
    return shorten(cell_text(next(iter(cells.values), "")))[1:-1]


def described(mixed: MixedRows, found: Owners) -> MixedRows:
    """The rows without entities, and the readings with those of the entities and of the column chosen as groups."""
    words = {**dict.fromkeys(found.entities, "entity, left out"), **({found.groups: "groups"} if found.groups else {})}
    columns = ((name, words.get(name, read_as), example) for name, read_as, example in mixed.described)
    kept = [column for column in mixed.rows.columns if column.name not in found.entities]
    rows = TableRows(kept, [mixed.rows[column.name] for column in kept]) if found.entities else mixed.rows
    return replace(mixed, rows=rows, described=tuple(columns))


def _ordered(times: NDArray[Any]) -> bool:
    """Whether times never fall, and differ in most rows."""
    return len(times) > 2 and bool((times[1:] >= times[:-1]).all()) and 2 * len(np.unique(times)) > len(times)


def names_of(roles: Roles, purpose: str) -> tuple[str, ...]:
    """The columns of a purpose."""
    found = getattr(roles, purpose)
    return found if isinstance(found, tuple) else () if found is None else (found,)


def as_rows(file: TableFile, columns: Sequence[Column], cells: dict[str, Cells], new: bool = False) -> TableRows:
    """The cells of one file in columns of a known reading; DataError for a cell that does not fit its column."""
    arrays = []
    for column in columns:
        held = cells[column.name]
        try:
            arrays.append(column.parse(held.values, held.codes))
        except CellError as error:
            reason = f"{shorten(str(error.value))} in column {shorten(column.name)} is not {error.held}"
            remedy = "correct it, or leave the cell empty"
            raise file.fault(held.first(error.code), f"{reason}, as in the training file", remedy) from error
    return TableRows(columns, arrays, new)
