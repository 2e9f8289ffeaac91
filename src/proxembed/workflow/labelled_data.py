"""The data of a run: arrays, a file or a Dataset in, a Dataset whose labels an embedding can serve out."""

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata

from proxembed.blocks import RowBlocks, is_dask
from proxembed.data import Columns, DataError, Dataset, fetch_openml_dataset, from_anndata, read
from proxembed.data.dataset import groups_of_copies, with_spelling_notes
from proxembed.data.large_table import takes as is_table
from proxembed.data.readers.columns import COPIES
from proxembed.data.readers.label_arrays import labels_of
from proxembed.data.readers.table import read_table
from proxembed.data.readers.table_covariates import covariate_names, read_covariates
from proxembed.data.readers.table_labels import FrameFile
from proxembed.data.unpacking import check_exists, plain_name
from proxembed.evaluate.arms import Arm, unweighted_rivals
from proxembed.evaluate.part import cells_of, rows_scored
from proxembed.features.encoded import with_example
from proxembed.features.scaling import scaling_apply
from proxembed.features.table import table_fit
from proxembed.measures.outputs import SKEWED, skewness
from proxembed.methods.table_encoder import table_and_notes
from proxembed.params import declared
from proxembed.splits.splits import NO_TEST_ROWS, Split, Splitting, holdout_split, splitting_kind, standard_split
from proxembed.splits.units import checked_units
from proxembed.study.candidates import component_sizes
from proxembed.tables import RawRows, TableRows
from proxembed.tables.axis import axis_names
from proxembed.tables.frames import frame_of, index_ids, is_frame, refuse_equal_names
from proxembed.tables.notes import counted, few_notes, shorten
from proxembed.targets.known import known_cells
from proxembed.targets.labels import MANY_LABELS

from .options import CompareOptions, OptionError, SearchOptions

OPENML = "openml:"
TABLE, ARRAYS = "your table", "your data"  # names of data sets of frames and of arrays
LEAST_ROWS = 4
SHOWN_LABELS = 3
TEST_SHARE = 0.25
NO_ROWS = np.zeros(0, dtype=np.intp)
LEAK = 0.995  # area under the ROC curve above which a column is noted; few ordinary features have more
COPY = 0.999  # rank correlation with a number above which it is
LEAST_OF_EACH, LEAST_KNOWN = 10, 20  # rows with the label, and without it, for such an area; rows for a correlation
MOST_EMPTY = 0.5  # share of empty cells of a column that is measured where it is known, and not as filled
MOST_ROWS, MOST_CELLS = 5000, 20_000_000  # that are searched for leaks
JOBS: dict[str, tuple[type, tuple[str, ...]]] = {  # what search and compare take beside X, y and what a file needs
    "search": (SearchOptions, ("encoder", "folder", "resume", "progress")),
    "compare": (CompareOptions, ("encoder", "folder", "progress")),
}
OF_FILES = tuple(name for name in declared(Columns) if name not in ("groups", "sample_weight"))


def labelled_data(
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    test: Any = None,
    sample_weight: Any = None,
    caller: str | None = None,
    **columns: Any,
) -> Dataset:
    """The data set of a run. Rows of weight 0 are left out."""
    if isinstance(sample_weight, str):
        found = _labelled(X, y, groups, test, caller, columns, sample_weight)
    else:
        found = _labelled(X, y, groups, test, caller, columns)
        if sample_weight is not None:
            sample_weight, order = rows_in_order(frame_of(X), sample_weight, "sample_weight")
            found = replace(found.weighted(sample_weight), notes=(*found.notes, *order))
    return found


def _labelled(
    X: Any, y: Any, groups: Any, test: Any, caller: str | None, columns: dict[str, Any], weights: str | None = None
) -> Dataset:
    """The data set of a run, with the weights of the rows in a column."""
    given = {name: value for name, value in columns.items() if value is not None}
    if unknown := set(columns) - set(OF_FILES):
        raise TypeError(_unknown_option(sorted(unknown)[0], caller))
    if isinstance(X, RowBlocks) or is_dask(X) or is_dask(y):
        what = "X is RowBlocks" if isinstance(X, RowBlocks) else f"{'X' if is_dask(X) else 'y'} is a dask collection"
        raise ValueError(
            f"{what}; searches and comparisons take rows in memory. Pass a sample of the rows and its labels, then fit "
            "the method that is found on all rows."
        )
    X = frame_of(X)
    if isinstance(groups, str) and groups == COPIES and not isinstance(X, str | Path):
        return with_copies_together(_labelled(X, y, False, test, caller, columns, weights))
    if weights is not None:
        if not (isinstance(X, str | Path) or is_frame(X)):
            raise ValueError(
                f"sample_weight={weights!r} names a column, but X is neither a file nor a table; pass an array of one "
                "weight per row."
            )
        given["sample_weight"] = weights
    if is_frame(X):
        refuse_equal_names("X", map(str, X.columns))
    if isinstance(X, str | Path):
        if y is not None:
            raise ValueError(f"y was passed beside the file {X}; name its label columns with labels instead.")
        return _grouped(read_labelled(X, groups=_of_column(groups), test=test, **given), groups)
    if isinstance(X, Dataset):
        if given or not (y is test is None and (groups is None or groups is False)):
            raise ValueError("X is a Dataset, which holds labels, groups and test rows; leave all but X out.")
        return with_spelling_notes(replace(X, groups=None) if groups is False else X)
    y, order = rows_in_order(X, y, "y")
    groups, more = rows_in_order(X, groups, "groups")
    data = with_spelling_notes(_in_memory(X, y, groups, given))
    return _held_out(replace(data, notes=(*data.notes, *order, *more)), test)


def _in_memory(X: Any, y: Any, groups: Any, given: dict[str, Any]) -> Dataset:
    """The data set of arrays, a DataFrame or AnnData, by what X offers."""
    if all(hasattr(X, name) for name in ("obs", "var_names", "X")):
        return _of_anndata(X, y, groups, **given)
    frame = is_frame(X)
    for name in given:
        if name != "target_type" and not frame or name == "labels" and y is not None:
            raise ValueError(
                f"{name} names columns, but X is neither a file nor a table with its labels; leave it out."
            )
    return frame_dataset(X, y, groups=groups, **given) if frame else _of_arrays(X, y, groups, **given)


def _of_anndata(X: Any, y: Any, groups: Any, **columns: Any) -> Dataset:
    others = [name for name in columns if name not in ("labels", "targets", "target_type")]
    unnamed = columns.keys().isdisjoint(("labels", "targets"))
    if y is not None or unnamed or others:
        given = "no labels are named" if unnamed else f"{[*others, 'y'][0]} was passed"
        raise ValueError(
            f"X is AnnData, and {given}; name the columns of obs with labels, or with targets where they hold numbers."
        )
    named = groups if isinstance(groups, str) else None
    return _grouped(from_anndata(X, groups=named, **columns), groups)


def rows_in_order(X: Any, beside: Any, what: str) -> tuple[Any, tuple[str, ...]]:
    """Labels or groups of pandas in the order of the index of X, and a note if they are not in that order."""
    if not (hasattr(X, "iloc") and hasattr(beside, "iloc")) or len(X) != len(beside):
        return beside, ()
    rows, own = X.index, beside.index
    if rows.equals(own):
        return beside, ()
    same = rows.is_unique and own.is_unique and bool(rows.isin(own).all())
    if any(type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1) for index in (rows, own)):
        if same:
            raise ValueError(
                f"the indices of X and {what} hold the same numbers in another order, and one of them is a default "
                f"index, so that it may or may not name the rows. Pass {what}.loc[X.index] to match by the index, or "
                f"{what}.to_numpy() to match by position."
            )
        return beside, (f"{what} is matched to X by position: their indices differ, and one is a default index",)
    if not same:
        raise ValueError(
            f"the indices of X and {what} differ; give both the same unique index values, or pass {what}.to_numpy() to "
            "match by position."
        )
    return beside.loc[rows], (f"{what} is put in the order of the index of X",)


def _unknown_option(name: str, caller: str | None) -> str:
    """What a name is that the caller does not take: an option of another function, or a misspelling of its own."""
    taken = {job: (*(field.name for field in fields(kind)), *more) for job, (kind, more) in JOBS.items()}
    told = f"{name} is not an option" if caller is None else f"{name} is not an option of {caller}"
    if takers := [job for job, names in taken.items() if name in names]:
        return f"{told}, but one of {' and '.join(takers)}; leave it out, or call {' or '.join(takers)}."
    own = (
        *OF_FILES,
        "groups",
        "test",
        "sample_weight",
        *(each for job in taken if caller in (None, job) for each in taken[job]),
    )
    if near := difflib.get_close_matches(name, own, n=1):
        return f"{told}; did you mean {near[0]}?"
    return f"{told}; those of a file are {', '.join(OF_FILES)}, groups, test, sample_weight."


def _of_column(groups: Any) -> Any:
    """The groups as the reader of a table takes them: those of an array are none of its columns."""
    return groups if groups is None or isinstance(groups, str) else False


def with_copies_together(dataset: Dataset) -> Dataset:
    """The data set whose groups are rows of equal features, without training rows that are copies of named test rows;
    without groups, and with a note, where no two rows are equal."""
    if COPIES in (dataset.feature_names or ()):
        raise ValueError(
            f"groups={COPIES!r} keeps rows of equal features together, and a column has this name; rename the column."
        )
    groups = groups_of_copies(dataset)
    found, n = len(np.unique(groups)), len(groups)
    if found == n:
        return replace(dataset, notes=(*dataset.notes, f"groups={COPIES!r}: no two rows have equal features"))
    note = f"groups={COPIES!r}: {n:,} rows are {found:,} groups of rows with equal features"
    train, test = dataset.train_idx, dataset.test_idx
    if train is not None and test is not None:
        alone = train[~np.isin(groups[train], groups[test])]
        note += f"; {len(train) - len(alone):,} training rows are copies of test rows, and are left out"
        train = alone
    return replace(dataset, groups=groups, train_idx=train, notes=(*dataset.notes, note))


def _grouped(dataset: Dataset, groups: Any) -> Dataset:
    """The data set with the groups of an array, if one was given."""
    if groups is None or groups is False or isinstance(groups, str):
        return dataset
    return replace(dataset, groups=checked_units(groups, None, dataset.X.shape[0])[0])


def _of_arrays(X: Any, y: Any, groups: Any, target_type: Any = None) -> Dataset:
    if y is None:
        raise ValueError("y=None: pass the labels of the rows of X.")
    if isinstance(groups, str):
        raise ValueError(f"groups={groups!r} names no column of X; pass an array of one group per row.")
    labels = labels_of(y, target_type)
    table, notes = table_and_notes(X)
    names: Any = None if table is None else [column.name for column in table.columns]
    dataset = Dataset(
        X if table is None else table,
        labels.Y,
        names,
        labels.names,
        ARRAYS,
        outputs=labels.outputs,
        unknown=labels.unknown,
        source=None if table is None else {"format": "table", "columns": [column.plain() for column in table.columns]},
        notes=(*notes, *labels.notes),
        values=labels.values,
    )
    return _grouped(dataset, groups)


def frame_dataset(frame: Any, y: Any = None, *, groups: Any = None, **columns: Any) -> Dataset:
    """A DataFrame, read as a file of its columns is, with the labels in its columns or in y."""
    given = {**columns, "groups": _of_column(groups)}
    if y is None:
        if isinstance(given.get("target_type"), Mapping):
            raise ValueError("target_type={...} is of y; name the columns of numbers in the table by targets.")
        return _named(_grouped(read_table([FrameFile(frame)], Columns(**given), TABLE), groups), frame, given)
    kind = given.pop("target_type", None)
    purposes = Columns(**given)
    labels = labels_of(y, kind, purposes.separator, purposes.empty)
    return _named(_grouped(read_table([FrameFile(frame)], purposes, TABLE, labels), groups), frame, given)


def _named(dataset: Dataset, frame: Any, given: Mapping[str, Any]) -> Dataset:
    """The data set of a DataFrame with the ids of its index, unless a column was named that holds them."""
    ids = index_ids(frame) if dataset.ids is None else None
    if ids is not None and len(ids) > dataset.X.shape[0]:  # rows of weight 0 are left out
        ids = tuple(np.array(ids, dtype=object)[np.asarray(frame[given["sample_weight"]], dtype=np.float64) > 0])
    return dataset if ids is None else replace(dataset, ids=ids)


def _held_out(dataset: Dataset, test: Any) -> Dataset:
    """The data set with these test rows."""
    if test is None:
        return dataset
    held_out = np.asarray(test)
    n = dataset.X.shape[0]
    if held_out.dtype == bool and held_out.shape == (n,):
        held_out = np.flatnonzero(held_out)
    if held_out.ndim != 1 or held_out.dtype.kind not in "iu":
        raise ValueError("test must hold row numbers of X, or one truth value per row.")
    return replace(dataset, test_idx=held_out, train_idx=np.setdiff1d(np.arange(n), held_out))


def read_labelled(file: str | Path, test: str | Path | None = None, **columns: Any) -> Dataset:
    """Read a labelled file, or ``openml:NAME``, and a file of test rows; ``columns`` as of `Columns`."""
    if columns.get("groups") == COPIES:
        return with_copies_together(read_labelled(file, test, **{**columns, "groups": False}))
    names = _listed(columns.pop("labels", None))
    if str(file).startswith(OPENML):
        taken: dict[str, Any] = {
            "targets": _listed(columns.pop("targets", None)),
            "drop": _listed(columns.pop("drop", None)),
        }
        taken["target_type"] = columns.pop("target_type", None)
        refused = [*Columns(**columns).fields_set, *(["test"] if test is not None else [])]
        if refused:
            fields = ", ".join(refused)
            raise DataError(f"{file}: {fields} was given, but an OpenML set takes labels, targets and drop only.")
        return fetch_openml_dataset(str(file).removeprefix(OPENML), labels=names or None, **taken)
    path = Path(file)
    source, names = label_file(path, names)
    return read(path, labels=source, test=test, columns=Columns(labels=names, **columns))


def covariate_columns(file: str | Path, asked: Sequence[str], **columns: Any) -> Mapping[str, Any]:
    """The cells of the columns of a table that names or globs mean, in its order; ``columns`` as of `Columns`."""
    path, purposes = Path(file), Columns(**columns)
    if str(file).startswith(OPENML) or path.exists() and not is_table(path):
        raise DataError(f"{file}: covariates are columns of a table (CSV or Parquet); write the data as one.")
    check_exists(path)
    return read_covariates(path, purposes, covariate_names(path, purposes, asked))


def _listed(names: str | Sequence[str] | None) -> list[str]:
    return [names] if isinstance(names, str) else list(names or ())


def label_file(path: Path, names: list[str]) -> tuple[str | list[str] | None, list[str]]:
    """The label file (or ARFF attributes) among the names given as labels, and the names of columns among them."""
    files = [name for name in names if Path(name).is_file()]
    if path.suffix.lower() == ".npy":
        if not files:
            return (names[0] if names else None), []
        return files[0], [name for name in names if name != files[0]]
    if Path(plain_name(path).lower()).suffix == ".arff":
        return (names[0] if names == files[:1] and names else names or None), []
    return None, names


def check_labels(dataset: Dataset, file: object = "y") -> None:
    """Raise ValueError for labels, or outputs, that hold nothing to learn: none given, the same in every row, or too
    few rows."""
    if dataset.outputs is not None:
        check_outputs(dataset, file)
        return
    known = np.flatnonzero(rows_scored(dataset))
    remedy = "check y" if file == "y" else "check which columns hold the labels (labels)"
    if not len(known):
        raise ValueError(f"{file}: every label is unknown; label some rows, or {remedy}.")
    Y = dataset.Y.tocsr()[known]
    cells = known_cells(dataset.unknown, known)
    row = "row" if len(known) == dataset.Y.shape[0] else "row with known labels"
    if Y.nnz == 0:
        raise ValueError(f"{file}: no {row} has a label; {remedy}.")
    if len(known) < LEAST_ROWS:
        few = f"{counted(len(known), 'row')} with known labels, and at least {LEAST_ROWS} are needed"
        raise ValueError(f"{file}: there {'is' if len(known) == 1 else 'are'} only {few}; label more rows.")
    counts = np.asarray(Y.sum(axis=0)).ravel()
    rows = len(known) if cells is None else cells.sum(axis=0)
    if ((counts == 0) | (counts == rows)).all():
        held = [shorten(dataset.label_names[int(label)]) for label in np.flatnonzero(counts)]
        more = f" and {len(held) - SHOWN_LABELS} more" if len(held) > SHOWN_LABELS else ""
        shown = ", ".join(held[:SHOWN_LABELS]) + more
        same = f"every {row} has the same labels ({shown}), so an embedding has nothing to separate"
        if cells is not None and counts.any():
            remedy = f"say empty='no labels' if empty cells are no labels, or {remedy}"
        raise ValueError(f"{file}: {same}; {remedy}.")


def check_outputs(dataset: Dataset, file: object) -> None:
    """Raise ValueError for outputs that hold nothing to learn."""
    known = int(rows_scored(dataset).sum())
    if known < LEAST_ROWS:
        rows = f"{counted(known, 'row')} with a known value"
        raise ValueError(f"{file}: y has {rows}, and at least {LEAST_ROWS} are needed; add rows, or check y.")
    if not dataset.targets.differ:
        raise ValueError(f"{file}: every column of y is constant, so an embedding has nothing to show; check y.")


def check_row_weights(dataset: Dataset, engine: str = "methods") -> None:
    """Raise an OptionError, or a ValueError, for what cannot be judged where rows have weights."""
    if dataset.sample_weight is None:
        return
    if engine == "defc":
        raise OptionError("engine", "defc", "takes no weights of rows (sample_weight); use the engine 'methods'.")
    if dataset.Y.shape[1] > MANY_LABELS:
        raise ValueError(
            f"sample_weight is not allowed with more than {MANY_LABELS:,} labels, and {dataset.name} has "
            f"{dataset.Y.shape[1]:,}; leave it out, or take fewer labels."
        )


def weight_notes(dataset: Dataset, arms: Sequence[Arm]) -> tuple[str, ...]:
    """What notes say of rivals where rows have weights."""
    return () if dataset.sample_weight is None else unweighted_rivals(arms)


def has_test_rows(dataset: Dataset) -> bool:
    """Whether the data, or who passed them, name test rows."""
    return dataset.train_idx is not None and dataset.test_idx is not None


def with_test_rows(dataset: Dataset, seed: int) -> tuple[Dataset, Split]:
    """The data set with a split into training and test rows: its own, or a quarter held out, with a note."""
    kind, groups = splitting_kind(dataset, Splitting()), dataset.groups
    if not has_test_rows(dataset) and kind == "groups" and groups is not None and len(np.unique(groups)) == 2:
        note = (
            "The rows are of 2 groups, so that no test rows can be set aside: the two folds have one group each, and "
            "the verdict cannot tell."
        )
        return replace(dataset, notes=(*dataset.notes, note)), Split("test", np.arange(len(groups)), NO_ROWS)
    if not has_test_rows(dataset):
        split = holdout_split(dataset, TEST_SHARE, seed)
        drawn = {"time": "the latest ones", "groups": "whole groups, drawn at random", "stratified": "drawn at random"}
        note = f"{NO_TEST_ROWS}: {len(split.held_out):,} rows were set aside as test rows, {drawn[kind]}."
        notes = (*dataset.notes, note)
        dataset = replace(dataset, train_idx=split.train, test_idx=split.held_out, notes=notes)
    return dataset, standard_split(dataset)


def with_every_row(dataset: Dataset, folds: int) -> tuple[Dataset, Split]:
    """The data set with the split of a search on all rows, and a note that nested folds score every one of them."""
    rows = np.arange(dataset.X.shape[0])
    note = (
        f"{NO_TEST_ROWS}, and there are few rows: each one is held out in nested folds, {folds} in all, in "
        "which the whole choice is made anew."
    )
    return replace(dataset, notes=(*dataset.notes, note)), Split("all", rows, NO_ROWS)


def n_features(dataset: Dataset) -> int:
    """Number of features of the training rows: of a table, those that its columns become; of rows before an encoder,
    those that it gives."""
    if isinstance(dataset.X, RawRows) and dataset.X.example is not None:
        return int(dataset.X.example.shape[1])
    if not isinstance(dataset.X, TableRows):
        return dataset.X.shape[1]
    rows = dataset.X if dataset.train_idx is None else dataset.X[dataset.train_idx]
    return table_fit(rows).n_features_out


def component_range(sizes: tuple[int, ...] | None, dataset: Dataset) -> tuple[int, ...]:
    """The sizes asked for, or those that the search tries, as far as there are features."""
    d = n_features(dataset)
    if sizes is None:
        return tuple(sorted({min(k, d) for k in component_sizes(dataset.targets.c, dataset.outputs is not None)}))
    if sizes[-1] > d:
        reason = f"holds {sizes[-1]}, but the data have {d} features; take fewer components."
        raise OptionError("n_components", sizes, reason)
    return sizes


def with_encoded_example(dataset: Dataset, rows: np.ndarray | None = None) -> Dataset:
    """The data set; its encoder, if it has one, is fitted once on these rows (None: all) for the sizes and the kind of
    the features, which forecasts and sizes go by, and so that a fault of it shows before the long part."""
    if not isinstance(dataset.X, RawRows):
        return dataset
    part = dataset if rows is None else dataset.take(rows)
    example = with_example(part.X, lambda: part.targets).example
    return replace(dataset, X=RawRows(dataset.X.X, dataset.X.encoder, dataset.X.names, example, dataset.X.of_cells))


def has_whole_rows(dataset: Dataset) -> bool:
    """Whether the labels of at least half of the rows with a known label are all known."""
    targets = dataset.targets
    return bool(2 * np.count_nonzero(targets.rows_known) >= np.count_nonzero(targets.rows_any))


def leaks(dataset: Dataset) -> list[str]:
    """Notes on columns of a table that alone predict an output: a label or a class with an area under the ROC curve
    above .995, a number with a rank correlation above .999."""
    if (dataset.source or {}).get("format") not in ("table", "arff"):
        return []
    rows = np.arange(dataset.X.shape[0]) if dataset.train_idx is None else dataset.train_idx
    rows = rows[:: -(-len(rows) // MOST_ROWS)]
    X, names = dataset.X[rows], list(dataset.feature_names or ())
    if isinstance(X, TableRows):
        state = table_fit(X)
        names = list(state.feature_names[: len(state.varying)])
        holes, X = state.holes(X), scaling_apply(state, X)[:, : len(names)]
        X = X.toarray() if hasattr(X, "toarray") else X
        X = np.where(holes & (holes.mean(axis=0) <= MOST_EMPTY), np.nan, X)
    if not isinstance(X, np.ndarray) or X.size == 0 or X.size > MOST_CELLS:
        return []
    if axis := set(axis_names(names)):  # no wavelength copies a label
        own = [j for j, name in enumerate(names) if name not in axis]
        X, names = X[:, own], [names[j] for j in own]
    found = [each for each in _strengths(dataset, X, rows) if each[2].max(initial=0) > each[1]]
    notes: dict[int, tuple[float, str]] = {}
    for output, least, strengths in found:
        measure = "AUC" if least == LEAK else "rank correlation"
        for j in np.flatnonzero(strengths > least).tolist():
            told = f"{names[j]} alone predicts {output!r} ({measure} {strengths[j]:.3f})"
            what = "label" if least == LEAK else "output"
            text = f"{told}: is it known before the {what}? If not, leave it out (drop)"
            notes[j] = max(notes.get(j, (0.0, "")), (strengths[j], text), key=lambda each: each[0])
    return few_notes((names[j], notes[j][1]) for j in sorted(notes))


def _strengths(dataset: Dataset, X: np.ndarray, rows: np.ndarray) -> Iterator[tuple[str, float, np.ndarray]]:
    """For each label, class and number, in the rows where it is known, how well every column alone predicts it, and
    above which strength this is noted."""
    if dataset.outputs is None:
        Y, known = dataset.Y.tocsr()[rows].toarray() > 0, known_cells(dataset.unknown, rows)
        if known is None:
            areas = _where_known(label_areas, X, Y).T
            yield from zip(dataset.label_names, repeat(LEAK), areas, strict=False)
        elif X.size * Y.shape[1] <= MOST_CELLS:
            for j, name in enumerate(dataset.label_names):
                yield name, LEAK, _where_known(label_areas, X[known[:, j]], Y[known[:, j], j : j + 1])[:, 0]
        return
    outputs = dataset.outputs.take(rows)
    if outputs.is_sparse or X.size * outputs.width > MOST_CELLS:
        return
    for number, column in enumerate(outputs.layout.columns):
        known = ~outputs.dense_holes()[:, number]
        own = outputs.cells[known, number]
        if column.kind == "classes":
            areas = _where_known(label_areas, X[known], own[:, None] == np.arange(column.size)).T
            yield from zip(column.names, repeat(LEAK), areas, strict=False)
        elif column.kind == "labels":
            yield column.name, LEAK, _where_known(label_areas, X[known], own[:, None] > 0)[:, 0]
        else:
            yield column.name, COPY, _where_known(rank_correlations, X[known], own)


def _where_known(measure: Callable[..., np.ndarray], X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """A measure of each column of X for y, in the rows where the column is known."""
    holed = np.isnan(X).any(axis=0)
    whole = measure(X[:, ~holed], y)
    found = np.zeros((X.shape[1], *whole.shape[1:]))
    found[~holed] = whole
    for j in np.flatnonzero(holed):
        known = ~np.isnan(X[:, j])
        found[j] = measure(X[known, j : j + 1], y[known])[0]
    return found


def skewed(dataset: Dataset) -> list[str]:
    """A note on numbers of at least 0 whose skewness is above 2 (the median over the outputs)."""
    if dataset.outputs is None:
        return []
    train = slice(None) if dataset.train_idx is None else dataset.train_idx
    outputs = dataset.outputs.take(np.arange(dataset.X.shape[0])[train])
    cells = cells_of(outputs, outputs.level_and_scale)
    skew = skewness(cells)
    numbers = np.isfinite(skew)
    values = cells.in_units(cells.F)[:, numbers[cells.owner]]
    if not numbers.any() or np.nanmin(values) < 0 or np.median(skew[numbers]) <= SKEWED:
        return []
    which = "Output is" if len(skew) == 1 else "Outputs are"
    return [f"{which} skewed (median skewness {np.median(skew[numbers]):.1f}, no number below 0): try log1p of them."]


def with_warnings(dataset: Dataset) -> Dataset:
    """The data set with notes on leaks and skewed numbers, which results and pages show."""
    return replace(dataset, notes=(*dataset.notes, *leaks(dataset), *skewed(dataset)))


def label_areas(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Area under the ROC curve of each column for each label, in the better direction; 0 for labels of few rows."""
    positive = Y.sum(axis=0)
    negative = len(Y) - positive
    enough = (positive >= LEAST_OF_EACH) & (negative >= LEAST_OF_EACH)
    sums = rankdata(X, axis=0).T @ Y.astype(np.float64)
    area = (sums - positive * (positive + 1) / 2) / np.maximum(positive * negative, 1)
    return np.where(enough, np.maximum(area, 1 - area), 0.0)


def rank_correlations(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Size of the rank correlation of each column with a number; 0 for few rows."""
    if len(y) < LEAST_KNOWN:
        return np.zeros(X.shape[1])
    ranks, own = rankdata(X, axis=0) - (len(y) + 1) / 2, rankdata(y) - (len(y) + 1) / 2
    size = np.sqrt((ranks**2).sum(axis=0) * (own @ own))
    return np.abs(ranks.T @ own) / np.where(size > 0, size, 1.0)
