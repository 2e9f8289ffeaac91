"""Labels of tables, frames and arrays: columns of 0 and 1, columns of classes, or one of joined or listed labels."""

import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from proxembed.data.errors import DataError, Option
from proxembed.data.readers.columns import Cells, is_minus_one, is_number, name_of, truths
from proxembed.data.readers.table_file import TableFile
from proxembed.tables.axis import axis_names
from proxembed.tables.cells import MISSING, is_empty
from proxembed.tables.dates import clock_style, date_style
from proxembed.tables.frames import Coded, FrameColumn, named_columns
from proxembed.tables.identifiers import says_which_row
from proxembed.tables.lists import are_choices, listed
from proxembed.tables.notes import few_names, shorten
from proxembed.tables.quantities import ANY_GROUPS, LEADING_ZERO, NumberWords
from proxembed.targets.outputs import Column as OutputColumn
from proxembed.targets.outputs import Outputs, outputs_of
from proxembed.targets.values import (
    LEAST_ROWS_OF_EACH,
    MOST_NUMBERS,
    class_values,
    many_numbers,
    object_array,
    too_many_numbers,
)

JOINS = (";", "|", ",")  # what may join the labels of a lone label column
SEPARATORS = (*JOINS, "/", "\t")  # that are usual
PATH = " > "  # what stands between the steps of a path: each beginning of it is a label
MOST_TARGETS = 20  # that are proposed
MOST_ANSWERS = 3
MOST_TWICE = 0.05  # of the rows, that hold one label in two columns
FEWEST_JOINED = 10  # classes of words that stand in several of them
LEAST_CODE = 7  # a number that stands for an empty cell beside 0 and 1; one below it, such as 2, may be a further step
ZERO_ONE = "write 0 or 1 (or yes and no), and leave the cell empty where it is unknown"
NUMBERS_OF_FILE = "name columns of numbers with targets, or bin them into classes"
NUMBERS = "numbers are not labels: bin them into classes, or name the columns of a table with targets="
LIKELY = re.compile(
    r"(?:^|[\W_])(labels?|tags?|topics?|class|classes|target|category|categories|y|outcome|churn|diagnosis|genres?|"
    r"subjects?|keywords?|fault|failure|codes?|survived|species|sentiment|fraud|spam|attrition)(?:$|[\W_])",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class LabelColumns:
    """Labels of one file: their names, the indicator and the mask of unknown cells, both n x c, and notes. Or
    ``outputs``: numbers, or columns of several kinds, beside which there are no labels."""

    names: tuple[str, ...]
    Y: sparse.csc_array
    unknown: sparse.csc_array
    notes: tuple[str, ...] = ()
    negative: str | None = None
    values: tuple[Any, ...] | None = None
    columns: tuple[tuple[str, str], ...] = ()
    outputs: Outputs | None = None

    @classmethod
    def of_outputs(cls, outputs: Outputs, notes: tuple[str, ...] = ()) -> "LabelColumns":
        """Outputs, and no labels."""
        none = sparse.csc_array((outputs.n, 0), dtype=np.uint8)
        return cls((), none, none.astype(bool), notes, outputs=outputs)


@dataclass(frozen=True)
class LoneForm:
    """How the cells of a lone label column become label names."""

    names: Callable[[Any], tuple[str, ...]]
    open: bool = True
    note: str = ""
    classes: bool = False


def read_labels(
    parts: Sequence[tuple[Any, dict[str, Cells]]],
    separator: str | None,
    empty: str | None = None,
    target_type: str | None = None,
) -> list[LabelColumns]:
    """The labels of a training file, and of its test file, from the cells of their label columns."""
    file, columns = parts[0]
    if not columns:
        raise file.fault(None, "no column is named as a label", "name one or more, such as labels='topic_*'")
    if all((cells.codes < 0).all() for cells in columns.values()):
        raise file.fault(None, "every label cell is empty", "give labels to some rows at least")
    if len(columns) > 1:
        return _several(parts, separator, empty, target_type)
    (name,) = columns
    values = [value for _, cells in parts for value in cells[name].values]
    if separator:
        _refuse_separator(file, name, values, separator)
    for part, held in parts:
        _refuse_unnamed(part, name, held[name])
    form = _lone_form(values, separator)
    if form is None or form.classes and separator is None and _marks(columns):
        return _indicators(parts, empty)
    if form.classes:
        _refuse_identities(file, name, columns[name], target_type)
        _refuse_no_class(file, columns, empty)
    open_cells = form.open if empty is None else empty == "unknown"
    found = [(cells[name], [form.names(value) for value in cells[name].values]) for _, cells in parts]
    names = _in_order({label for _, of_value in found for labels in of_value for label in labels})
    if not names:
        raise file.fault(None, f"the cells of label column {shorten(name)} hold no label", "give labels to some rows")
    notes = _lone_notes(name, form, int((columns[name].codes < 0).sum()), open_cells)
    if form.classes:
        notes += (
            *_outer_blanks(name, columns[name]),
            *(_numbers_note(file, name, names) if target_type is None else ()),
        )
    own = _own_values(names, values, getattr(file, "typed", True)) if form.classes else None
    return [replace(_sets(names, *part, open_cells), notes=notes, values=own) for part in found]


def _several(
    parts: Sequence[Any], separator: str | None, empty: str | None, target_type: str | None
) -> list[LabelColumns]:
    """The labels of several columns: of 0 and 1, one label set where they share their values or their cells join
    labels, or outputs."""
    file, columns = parts[0]
    distinct = {name: list(dict.fromkeys(v for _, held in parts for v in held[name].values)) for name in columns}
    classes = [name for name, values in distinct.items() if _holds_classes(values, target_type)]
    alone = len(classes) == len(columns)
    join = separator
    if separator is None and alone and target_type != "classes":
        join = _joined([value for values in distinct.values() for value in values])
    if join:
        _refuse_unsplit(file, distinct, join, classes)
        hint = "" if separator else " (target_type='classes': one output per column)"
        return _one_set(parts, distinct, empty, f"their labels are joined by {join!r}{hint}", _splitter(join))
    if not classes or all(len(set(map(name_of, distinct[name]))) < 2 for name in classes):
        return _indicators(parts, empty)
    for name in classes:
        _refuse_fractions(file, name, columns[name])
    shared = alone and _share_values(columns.values())
    if target_type == "labels" or target_type is None and shared:
        reason = (
            "at least half of their cells hold a value of two columns (target_type='classes': one output per column)"
        )
        return _one_set(parts, distinct, empty, reason if shared else "target_type='labels'")
    _refuse_no_class(file, {name: columns[name] for name in classes}, empty)
    for name in classes:
        _refuse_identities(file, name, columns[name], target_type)
    others = [(each, {name: cells for name, cells in held.items() if name not in classes}) for each, held in parts]
    marks = None if alone else _indicators(others, empty)
    made = [_class_column(file, name, distinct[name]) for name in classes]
    notes = () if target_type is not None else (_classes_note(made, len(columns)),)
    found = []
    for number, (_, held) in enumerate(parts):
        cells = {column.name: coded(held[column.name], column, place) for column, place in made}
        layout = {column.name: column for column, _ in made}
        if marks is not None:
            ones, holes = marks[number].Y.toarray().astype(np.float64), marks[number].unknown.toarray()
            for j, name in enumerate(marks[number].names):
                layout[name], cells[name] = OutputColumn(name, "labels", dtype="int64"), ones[:, j]
                cells[name][holes[:, j]] = np.nan
        chosen = [(layout[name], cells[name]) for name in columns]
        found.append(LabelColumns.of_outputs(outputs_of(chosen), notes))
    return found


def _holds_classes(values: Sequence[Any], target_type: str | None) -> bool:
    """Whether a column beside others holds classes, all numbers or none: no 0 and 1 (yes and no), or two others and
    more beside them; words also where one of yes and no is missing."""
    plain = all(isinstance(value, str | bool | int | float) for value in values)
    if not values or not plain or len(set(map(is_number, values))) > 1:
        return False
    signed = any(map(is_minus_one, values))
    known = truths(values, signed and len(values) == 2)
    others, both = known.count(None), {0, 1} <= set(known)
    asked = target_type in ("classes", "labels") or not (both or is_number(values[0]))
    return others > 1 or others == len(values) > 0 or others == 1 and asked


def _share_values(columns: Collection[Cells]) -> bool:
    """Whether at least half of the cells of several columns, the empty ones aside, hold a value that stands in two, and
    the columns are not answers on one scale: most rows hold a value twice, or some do where no cell is empty and all
    columns hold the same values."""
    place: dict[str, int] = {}
    codes = []
    for held in columns:
        names = [place.setdefault(name_of(value), len(place)) for value in held.values]
        codes.append(np.array([*names, -1], dtype=np.intp)[held.codes])
    own = np.sort(np.stack(codes), axis=0)
    cells = np.bincount(own[own >= 0], minlength=len(place))
    in_columns = sum((np.bincount(np.unique(each[each >= 0]), minlength=len(place)) for each in codes), 0 * cells)
    twice = ((own[1:] == own[:-1]) & (own[1:] >= 0)).any(axis=0).mean()
    one_scale = own.min(initial=0) >= 0 and in_columns.min(initial=0) == len(codes)
    scale = twice > (MOST_TWICE if one_scale else 0.5)
    return bool(2 * cells[in_columns > 1].sum() >= cells.sum() and not scale)


def _one_set(
    parts: Sequence[Any],
    distinct: Mapping[str, Sequence[Any]],
    empty: str | None,
    reason: str,
    split: Callable[[Any], tuple[str, ...]] | None = None,
) -> list[LabelColumns]:
    """The values of several columns, or what they ``split`` into, as the label set of a row. An empty cell adds none;
    with ``empty`` "unknown" a row without any value is unknown."""
    names_of = split or (lambda value: (name_of(value),))
    names = _in_order({name for values in distinct.values() for value in values for name in names_of(value)})
    note = f"{few_names(list(distinct))} are read as one label set, since {reason}"
    found = []
    for file, columns in parts:
        merged = Cells(MISSING)
        for cells in columns.values():
            merged.add(cells.codes, cells.values)
        if split is None:
            _refuse_identities(file, " and ".join(map(str, list(distinct)[:2])), merged, "classes")
        each = [_sets(names, cells, list(map(names_of, cells.values)), False) for cells in columns.values()]
        Y = sparse.csc_array(sum(part.Y for part in each) > 0, dtype=np.uint8)
        blank = np.flatnonzero(Y.sum(axis=1, dtype=np.int64) == 0) if empty == "unknown" else np.empty(0, np.intp)
        found.append(LabelColumns(tuple(names), Y, _columns([blank] * len(names), Y.shape[0]), (note,)))
    return found


def _class_column(file: Any, name: str, values: Sequence[Any]) -> tuple[OutputColumn, dict[str, int]]:
    """A column of classes as an output, with the place of each class by its name."""
    names = _in_order(set(map(name_of, values)))
    own = object_array(_own_values(names, values, getattr(file, "typed", True)))
    try:
        own = class_values(own)
    except ValueError:  # values of several kinds: their names stand for them
        own = object_array(names)
    return OutputColumn(name, "classes", own, "object"), {each: place for place, each in enumerate(names)}


def coded(cells: Cells, column: OutputColumn, place: Mapping[str, int]) -> NDArray[np.float64]:
    """The cells of a column of classes as places of their classes, NaN where empty."""
    return np.array([*(place[name_of(value)] for value in cells.values), np.nan], dtype=np.float64)[cells.codes]


def _classes_note(made: Sequence[tuple[OutputColumn, Any]], columns: int) -> str:
    names = few_names([column.name for column, _ in made])
    several = "are read as outputs of classes" if len(made) > 1 else "is read as an output of classes"
    other = " (target_type='labels': one label set of all their values)" if len(made) == columns else ""
    return f"{names} {several}{other}"


def class_output(name: str, found: LabelColumns) -> list[tuple[OutputColumn, NDArray[np.float64]]]:
    """The labels of one column as outputs beside others: one output of classes, or one for each label."""
    ones, holes = found.Y.toarray(), found.unknown.toarray()
    if found.values is None:
        cells = np.where(holes, np.nan, ones)
        named = found.names if found.names == (name,) else tuple(f"{name}={label}" for label in found.names)
        return [(OutputColumn(each, "labels", dtype="int64"), cells[:, j]) for j, each in enumerate(named)]
    codes = ones[:, 0].astype(np.float64) if len(found.names) == 1 else ones.argmax(axis=1).astype(np.float64)
    codes[holes.any(axis=1)] = np.nan
    try:
        values = class_values(object_array(found.values))
    except ValueError:
        values = object_array(found.names)
    return [(OutputColumn(name, "classes", values, "object"), codes)]


def likely_labels(columns: dict[str, Cells]) -> list[tuple[Option, ...]]:
    """Up to three answers, the likeliest first, that name the columns that may be the labels: by their names, numbers
    that hardly repeat as targets; the last columns if these are of 0 and 1; the last ones of few values, words before
    numbers; and a last column of many numbers, or of measured ones, as a target. None if no column looks like it."""
    named = [name for name, cells in columns.items() if LIKELY.search(name) and _repeat(cells)]
    start = os.path.commonprefix(named)
    together = len(named) > 1 and len(start) > 1 and not start[-1].isalnum()
    answers = [[f"{start}*"]] if together else [[name] for name in reversed(named)]
    marks = list(takewhile(lambda name: _of_marks(columns[name]), reversed(columns)))[::-1]
    answers += [marks] if len(marks) > 1 and not named else []
    taken = {*named, *(marks if len(marks) > 1 else ())}
    open_names, end = [name for name in reversed(columns) if name not in taken], next(reversed(columns), "")
    few = [name for name in open_names if _few_values(name, columns[name], timed=name == end)]
    answers += [[name] for name in sorted(few, key=lambda name: _numeric(columns[name]))]
    numbers = [name for name, cells in columns.items() if LIKELY.search(name) and not named and _measured(cells)]
    found = [tuple(("labels", name) for name in each) for each in answers]
    last = [name for name in open_names[:1] if name == end and name not in numbers and _may_be_target(columns[name])]
    last = [] if says_which_row(end) else last
    targets = [[(("targets", name),) for name in names] for names in (reversed(numbers), last)]
    return [*[*targets[0], *found][: MOST_ANSWERS - len(last)], *targets[1]]


def _of_marks(cells: Cells) -> bool:
    """Whether a column holds both answers, such as 0 and 1 or yes and no."""
    signed = any(map(is_minus_one, cells.values))
    return set(truths(cells.values, signed)) == {0, 1}


def likely_targets(numbers: Sequence[str], names: Sequence[str]) -> tuple[Option, ...]:
    """The arguments that name what was measured beside spectra: the columns of ``numbers`` whose names are none, where
    the others of a table are an axis; () for other tables, and for more than 20."""
    axis = set(axis_names(names))
    found = [name for name in numbers if name not in axis]
    if not axis or len(found) > MOST_TARGETS:
        return ()
    return tuple(("targets", name) for name in found)


def _repeat(cells: Cells) -> bool:
    """Whether a column has several values, of which each stands in two rows on average, or joined or listed labels."""
    joined = any(isinstance(value, str) and any(join in value for join in JOINS) for value in cells.values)
    listing = any(isinstance(value, tuple | list) for value in cells.values)
    return len(cells.values) > 1 and (joined or listing or 2 * len(cells.values) <= int((cells.codes >= 0).sum()))


def _numeric(cells: Cells) -> bool:
    """Whether all cells are numbers, perhaps in one unit."""
    if all(map(is_number, cells.values)):
        return True
    held = NumberWords([value.strip() for value in cells.values if isinstance(value, str)])
    return len(held.words) == len(cells.values) and any(not held.misfits(style) for style in ANY_GROUPS.values())


def _measured(cells: Cells) -> bool:
    """Whether a column holds numbers, some of them with decimals or units."""
    if len(cells.values) < 2 or not _numeric(cells):
        return False
    return not all(is_number(value) and float(value).is_integer() for value in cells.values)


def _few_values(name: str, cells: Cells, timed: bool) -> bool:
    """Whether a column has from 2 to 20 values, each in 3 rows or more on average, none measured, and dates and times
    only if ``timed``."""
    known = int((cells.codes >= 0).sum())
    few = 2 <= len(cells.values) <= MOST_NUMBERS and known >= LEAST_ROWS_OF_EACH * len(cells.values)
    words = [value.strip() for value in cells.values if isinstance(value, str)]
    return few and not _measured(cells) and (timed or date_style(words) is None and clock_style(words, name) is None)


def _may_be_target(cells: Cells) -> bool:
    """Whether a column holds more than 20 different numbers, or measured ones."""
    return _measured(cells) or len(cells.values) > MOST_NUMBERS and all(map(is_number, cells.values))


def _lone_form(values: list[Any], separator: str | None) -> LoneForm | None:
    """How the cells of a lone label column are turned into label names; None where they are 0 and 1."""
    if all(_entries(value) is not None for value in values):
        written = any(isinstance(value, str) for value in values)
        return LoneForm(_listed_names, note="its cells are lists of labels" if written else "")
    if separator:
        note = "each beginning of a path is a label" if separator == ">" else ""
        return LoneForm(_splitter(separator), open=separator == ">", note=note)
    signed = any(map(is_minus_one, values))
    if separator is None and None not in truths(values, signed):
        return None
    texts = [value for value in values if isinstance(value, str)]
    if separator is None and len(texts) == len(values) and sum(PATH in text for text in texts) > len(texts) / 2:
        return LoneForm(_steps, note="each beginning of a path is a label (separator='' for one class a path)")
    if separator is None and (join := _joined(values)) is not None:
        note = f"its labels are joined by {join!r} (separator='' for one class per cell)"
        return LoneForm(_parts(join), open=False, note=note)
    words = {part for text in texts for part in text.split()} if len(texts) == len(values) else set()
    apart = FEWEST_JOINED <= len(values) >= 2 * len(words) > 0
    note = "its classes are made of a few words (separator=' ': labels joined by blanks)" if apart else ""
    return LoneForm(lambda value: (name_of(value),), note=note, classes=True)


def _listed_names(value: Any) -> tuple[str, ...]:
    return tuple(name_of(entry) for entry in _entries(value) or () if not is_empty(entry))


def _entries(value: Any) -> tuple[Any, ...] | None:
    """The entries of a cell that holds a list; None for any other cell."""
    found = listed(value.strip()) if isinstance(value, str) else value
    return found if isinstance(found, tuple) else None


def _refuse_unnamed(file: TableFile, name: str, cells: Cells) -> None:
    """Refuse lists from which entries were left out when they were written, and lists of what has no name."""
    for code, value in enumerate(cells.values):
        for entry in _entries(value) or ():
            if entry is ... or isinstance(entry, dict | list | tuple | set):
                held = "a list without all of its entries" if entry is ... else "a list of something else than names"
                raise file.fault(
                    cells.first(code),
                    f"label {shorten(name)} is {held}, {shorten(str(value))}",
                    "write the whole list, such as ['a', 'b']",
                )


def _parts(separator: str) -> Callable[[Any], tuple[str, ...]]:
    return lambda value: tuple(part.strip() for part in str(value).split(separator) if part.strip())


def _splitter(separator: str) -> Callable[[Any], tuple[str, ...]]:
    """What splits a cell into its labels."""
    return _steps if separator == ">" else _parts(separator)


def _steps(value: Any) -> tuple[str, ...]:
    """All beginnings of a path: Home > Garden is Home, and Home > Garden."""
    steps = [step.strip() for step in str(value).split(">") if step.strip()]
    return tuple(PATH.join(steps[: j + 1]) for j in range(len(steps)))


def _lone_notes(name: str, form: LoneForm, empty: int, open_cells: bool) -> tuple[str, ...]:
    """Notes on a lone label column: how it was split, and what its empty cells are."""
    words = [form.note] if form.note else []
    if empty and open_cells:
        words.append(f"its {empty:,} empty cells are unknown")
    elif empty:
        words.append(f"its {empty:,} empty cells are rows without labels (empty='unknown': unknown ones)")
    return (f"{name}: {'; '.join(words)}",) if words else ()


def _outer_blanks(name: str, cells: Cells) -> tuple[str, ...]:
    """A note on classes with and without outer blanks, which are read as one."""
    texts = {code: value for code, value in enumerate(cells.values) if isinstance(value, str)}
    spellings = Counter(text.strip() for text in texts.values())
    blank = {code: text for code, text in texts.items() if text != text.strip() and spellings[text.strip()] > 1}
    if not blank:
        return ()
    count, first = int(np.isin(cells.codes, list(blank)).sum()), next(iter(blank.values()))
    return (f"{name}: {count:,} cells such as {shorten(first)} are read as {shorten(first.strip())}, without blanks",)


def _refuse_unsplit(file: TableFile, distinct: Mapping[str, Sequence[Any]], join: str, classes: Sequence[str]) -> None:
    """Refuse to split several columns where one holds no text, or no cell has what joins labels."""
    other = next((name for name in distinct if name not in classes), None)
    if other is not None:
        reason = f"separator={join!r} splits text, and label column {shorten(other)} holds 0 and 1"
        raise file.fault(None, reason, "leave the separator or the column out")
    _refuse_separator(file, next(iter(distinct)), [value for values in distinct.values() for value in values], join)


def _refuse_no_class(file: TableFile, columns: Mapping[str, Cells], empty: str | None) -> None:
    """Refuse empty cells of classes as rows without a label: such a row has one class, known or not."""
    holed = next((name for name, cells in columns.items() if empty == "no labels" and (cells.codes < 0).any()), None)
    if holed is not None:
        reason = f"empty='no labels' was given, but label column {shorten(holed)} holds one class a row"
        raise file.fault(None, reason, "leave it out: its empty cells are unknown")


def _refuse_separator(file: TableFile, name: str, values: Sequence[object], separator: str) -> None:
    """Refuse a separator that no cell contains, where cells contain another usual one."""
    texts = [value for value in values if isinstance(value, str) and listed(value.strip()) is None]
    if any(separator in text for text in texts):
        return
    count = {join: sum(join in text for text in texts) for join in SEPARATORS}
    fits = max(SEPARATORS, key=lambda join: count[join])
    if not count[fits]:
        return
    example = next(text for text in texts if fits in text)
    raise file.fault(
        None,
        f"no cell of label column {shorten(name)} contains the separator {separator!r}, but cells contain {fits!r}, "
        f"such as {shorten(example.strip())}",
        f"give separator={fits!r} (or separator='' for one class per cell)",
    )


def _refuse_identities(file: TableFile, name: str, cells: Cells, target_type: str | None) -> None:
    """Refuse cells that are fractions, many whole numbers of few rows each, or text that hardly ever repeats."""
    known = int((cells.codes >= 0).sum())
    classes = len(set(map(name_of, cells.values)))
    _refuse_fractions(file, name, cells)
    if all(map(is_number, cells.values)):
        if target_type is None and too_many_numbers(classes, known):
            reason, _ = many_numbers(f"label column {shorten(name)}", classes, known)
            number = "target_type='real'" if str(file.path) == "y" else f"targets={name!r} in place of labels"
            raise file.fault(None, reason, f"pass target_type='classes' if they are classes, {number} if measurements")
        return
    if classes > max(2, known // 2):
        apart = 2 * sum(len(str(value).split()) > 1 for value in cells.values) > len(cells.values)
        raise file.fault(
            None,
            f"label column {shorten(name)} holds {classes} different classes in {known} rows, such as "
            f"{shorten(name_of(cells.values[0]))}",
            "name a column whose classes repeat; for labels joined in one cell give their separator"
            + (", separator=' ' if they are joined by blanks" if apart else ""),
        )


def _numbers_note(file: Any, name: str, classes: Sequence[str]) -> tuple[str, ...]:
    """A note on many whole numbers that are read as classes."""
    if len(classes) <= MOST_NUMBERS or not all(map(is_number, classes)):
        return ()
    number = "target_type='real'" if str(file.path) == "y" else f"targets={name!r} in place of labels"
    return (f"{name}: its {len(classes)} whole numbers are read as classes ({number} reads them as numbers)",)


def _refuse_fractions(file: TableFile, name: str, cells: Cells) -> None:
    """Refuse a column of numbers that are not all whole."""
    if not all(map(is_number, cells.values)):
        return
    for code, value in enumerate(cells.values):
        if not float(value).is_integer():
            raise file.fault(
                cells.first(code),
                f"label {shorten(name)} is the fraction {shorten(str(value))}",
                NUMBERS_OF_FILE if isinstance(getattr(file, "path", None), Path) and file.path.suffix else NUMBERS,
            )


def _own_values(names: Sequence[str], values: Sequence[Any], typed: bool) -> tuple[Any, ...]:
    """The cells of a column for each of its labels, as they came in; those of a file of text are read as numbers. A
    word keeps its outer blanks, unless cells of the same label have it with and without them."""
    held = {name_of(value): value for value in reversed(values)}
    spellings = Counter(name_of(value) for value in set(values))
    found = [
        value.strip() if isinstance(value, str) and spellings[name] > 1 else value
        for name, value in ((name, held[name]) for name in names)
    ]
    if not typed and all(isinstance(value, str) and is_number(value) for value in found):
        found = [value.strip() for value in found]
        if not any(map(LEADING_ZERO.match, found)):
            return tuple(int(value) if re.fullmatch(r"[+-]?\d+", value) else float(value) for value in found)
    return tuple(found)


def _indicators(parts: Sequence[tuple[Any, dict[str, Cells]]], empty: str | None = None) -> list[LabelColumns]:
    """The labels of columns of 0 and 1, of -1 and 1, or of one mark each, in each of the files."""
    held = [(file, name, cells) for file, columns in parts for name, cells in columns.items()]
    signed = any(is_minus_one(value) for _, _, cells in held for value in cells.values)
    for file, name, cells in held if signed else ():
        zero = next((code for code, value in enumerate(cells.values) if is_number(value) and float(value) == 0), None)
        if zero is not None:
            remedy = (
                "use 0 and 1 (or -1 and 1) for known labels, and leave the cell empty where the label is unknown "
                "(missing='-1' if -1 means unknown)"
            )
            reason = f"label {shorten(name)} is 0, but label cells are also -1, which may mean negative or unknown"
            raise file.fault(cells.first(zero), f"the labels mix -1, 0 and 1: {reason}", remedy)
    meanings = {}
    for name in parts[0][1]:
        values = list(dict.fromkeys(value for _, columns in parts for value in columns[name].values))
        meanings[name] = dict(zip(values, truths(values, signed), strict=True))
    marks = _marks(parts[0][1])
    return [_indicator(*part, meanings, empty, marks) for part in parts]


def _marks(columns: Mapping[str, Cells]) -> dict[str, str]:
    """The one word, such as x, that all filled cells of a column hold beside empty ones, by column."""
    found = {}
    for name, cells in columns.items():
        words = list(set(map(name_of, cells.values))) if (cells.codes < 0).any() else []
        if len(words) == 1 and truths(words) == [None] and not is_number(words[0]):
            found[name] = words[0]
    return found


def _indicator(
    file: TableFile,
    columns: dict[str, Cells],
    meanings: Mapping[str, Mapping[Any, int | None]],
    empty: str | None,
    marks: Mapping[str, str],
) -> LabelColumns:
    """The labels of the columns of one file, by what their cells mean in all files: 1, 0, or None for neither."""
    ones, holes, notes, negative, own = [], [], [], None, None
    for name, cells in columns.items():
        mark = marks.get(name)
        known = [1 if name_of(value) == mark else meanings[name][value] for value in cells.values]
        if None in known or mark is not None and empty is None:
            raise _not_zero_or_one(file, columns, name, known.index(None) if None in known else 0, mark)
        ones.append(np.flatnonzero(np.array([*known, 0])[cells.codes] == 1))
        holes.append(np.flatnonzero(cells.codes < 0) if empty != "no labels" else np.empty(0, np.intp))
        if len(columns) == 1:
            counts = np.bincount(cells.codes[cells.codes >= 0], minlength=len(known))
            each = Counter[str]()
            for value, count in zip(cells.values, counts.tolist(), strict=True):
                each[name_of(value)] += count
            words = ", ".join(f"{value}: {count:,}" for value, count in each.items())
            zeros = int((cells.codes < 0).sum()) if empty == "no labels" else 0
            words += f", empty: {zeros:,}, read as 0" if zeros else ""
            notes.append(f"{name} is read as one label ({words})")
            negative = next(
                (f"{name} {name_of(v)}" for v, is_one in zip(cells.values, known, strict=True) if not is_one), None
            )
            if {0, 1} <= set(known):
                pair = [cells.values[known.index(is_one)] for is_one in (0, 1)]
                own = _own_values([name_of(value) for value in pair], pair, getattr(file, "typed", True))
    n = len(cells.codes)
    Y, unknown = _columns(ones, n).astype(np.uint8), _columns(holes, n)
    return LabelColumns(tuple(columns), Y, unknown, tuple(notes), negative, own)


def _not_zero_or_one(
    file: TableFile, columns: dict[str, Cells], name: str, code: int, mark: str | None = None
) -> DataError:
    """The error for a cell that is neither 0 nor 1; of a column of a mark and empty cells a question."""
    value = name_of(columns[name].values[code])
    if mark is not None and value == mark:
        reason = f"label {shorten(name)} is {shorten(mark)} or empty in every row"
        remedy = "give empty='no labels' if an empty cell is 0, or empty='unknown'"
        error = file.fault(columns[name].first(code), reason, remedy)
        error.options = (("empty", "no labels"),)
        return error
    held = [[name_of(each) for each in cells.values] for cells in columns.values()]
    others = [set(truths(each for each in values if each != value)) for values in held if value in values]
    remedy, beside = ZERO_ONE, all(found == {0, 1} for found in others)
    if set() in others:
        remedy = f"write 1 for {shorten(value)} and 0 where there is none, and leave the cell empty where it is unknown"
    step = beside and is_number(value) and 1 < float(value) < LEAST_CODE
    if step:
        remedy = f"{remedy}; {NUMBERS_OF_FILE}"
    reason = f"label {shorten(name)} is {shorten(str(columns[name].values[code]))}, not 0 or 1"
    error = file.fault(columns[name].first(code), reason, remedy)
    if beside and not step:
        error.options = (("missing", value),)
    return error


def _sets(names: list[str], cells: Cells, of_value: list[tuple[str, ...]], open_cells: bool) -> LabelColumns:
    """The labels of a row are those of its cell; an empty cell is unknown in every label, or has none."""
    place = {label: j for j, label in enumerate(names)}
    flat = [(code, place[label]) for code, labels in enumerate(of_value) for label in set(labels)]
    shape = (len(of_value) + 1, len(names))  # the last row is that of an empty cell
    rows, columns = np.array(flat, dtype=np.intp).reshape(-1, 2).T
    table = sparse.csr_array((np.ones(len(flat), np.uint8), (rows, columns)), shape=shape)
    Y = sparse.csc_array(table[cells.codes.astype(np.intp) % shape[0]])
    empty = np.flatnonzero(cells.codes < 0) if open_cells else np.empty(0, dtype=np.intp)
    return LabelColumns(tuple(names), Y, _columns([empty] * len(names), len(cells.codes)))


def _in_order(names: set[str]) -> list[str]:
    """Numbers by size, then text by the alphabet."""
    return sorted(names, key=lambda name: (not is_number(name), float(name) if is_number(name) else 0.0, name))


def _joined(values: Sequence[object]) -> str | None:
    """What seems to join labels: the parts are at most as many as the cells, or occur as cells themselves; those
    between commas with blanks after them are choices, and no places such as Bern, Switzerland."""
    texts = {value.strip() for value in values if isinstance(value, str)}
    for join in JOINS:
        joint = {text for text in texts if join in text}
        parts = {part.strip() for text in joint for part in text.split(join)} - {""}
        if join == "," and joint and parts & texts and len(parts) <= len(texts):
            return join if any(re.search(r",\S", text) for text in joint) or are_choices(list(texts)) else None
        if join != "," and joint and (parts & texts or len(parts) <= len(joint)):
            return join
    return None


def _columns(rows: list[NDArray[np.intp]], n: int) -> sparse.csc_array:
    indptr = np.cumsum([0, *map(len, rows)])
    return sparse.csc_array((np.ones(indptr[-1], dtype=bool), np.concatenate(rows), indptr), shape=(n, len(rows)))


def label_sets(Y: Any, unknown: Any = None) -> NDArray[np.integer]:
    """The place of the label set of each row among all, -1 where a label is unknown."""
    weights = np.random.default_rng(0).random(sparse.csr_array(Y).shape[1])  # sums of which differ as the sets do
    sets = np.unique(np.round(sparse.csr_array(Y, dtype=np.float64) @ weights, 9), return_inverse=True)[1]
    if unknown is None:
        return sets
    return np.where(sparse.csr_array(unknown, dtype=np.float64).sum(axis=1) > 0, -1, sets)


class FrameBlock:
    """All rows of a DataFrame, as a block of a table."""

    def __init__(self, columns: Mapping[str, FrameColumn], rows: int) -> None:
        self._columns, self.rows = columns, rows

    def numbers(self, names: Sequence[str]) -> list[NDArray[np.floating]]:
        """Columns of numbers as one vector each."""
        return [self._columns[name].numbers for name in names]

    def cells(self, name: str) -> Coded:
        """A column as codes into its distinct values, -1 where empty."""
        return self._columns[name].coded

    def vectors(self, name: str) -> tuple[NDArray[np.floating], NDArray[np.integer]]:
        """A column of vectors as all their values in a row and the length of each; -1 for an empty cell."""
        return self._columns[name].vectors


class FrameFile:
    """A DataFrame without its index, or a mapping of names to columns, with the interface of a table file. ``missing``:
    the words for empty cells of columns with another purpose than features."""

    typed = True
    row_names: str | None = None

    def __init__(self, frame: Any, title: str = "X", missing: Collection[str] = MISSING) -> None:
        self.path, self._missing = Path(title), missing
        given = named_columns(frame, title)
        self.names = tuple(given)
        self.columns = {name: FrameColumn(cells) for name, cells in given.items()}
        self.rows: int | None = len(next(iter(given.values()), ()))
        if not self.rows:
            raise DataError(f"{title} has {self.rows} rows and {len(given)} columns; at least one of each is needed.")
        self.size = 8 * self.rows * len(given)
        self.places = {name: column.place for name, column in self.columns.items()}

    def blocks(self, wanted: dict[str, str], most: int | None = None) -> Iterator[Any]:
        """All rows, in one block."""
        yield FrameBlock(self.columns, self.rows or 0)

    def place(self, row: int) -> str:
        """The number of a row, counted from 0."""
        return f"row {row}"

    def fault(self, row: int | None, reason: str, remedy: str) -> DataError:
        """An error at a row, or in the table as a whole."""
        return DataError.at(self.path, None, reason if row is None else f"{self.place(row)}: {reason}", remedy)

    def cells(self, name: str) -> Cells:
        """The cells of a column with another purpose."""
        cells = Cells(self._missing)
        cells.add(*self.columns[name].coded)
        return cells
