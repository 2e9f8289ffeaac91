"""Readers of data files: `read` and `read_rows` pick the format from the file name."""

import importlib
import pkgutil
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.data.dataset import Dataset, Matrix, with_spelling_notes
from proxembed.data.errors import DataError
from proxembed.data.readers.columns import Columns
from proxembed.data.readers.parquet_parts import parquet_files
from proxembed.data.readers.reader import READERS, SAME_COLUMNS, Labels, NamedRows, Reader, readers, width
from proxembed.data.readers.svmlight import BY_CONTENT
from proxembed.data.readers.text_layout import check_rows_are_rows, first_lines
from proxembed.data.unpacking import check_exists, opened, plain_name
from proxembed.tables import TableRows
from proxembed.tables.rows import small_indices

OF_FOLDER = "name one file in it"
SAVED_AGAIN = dict.fromkeys((".xls", ".xlsb", ".ods", ".numbers"), "save it as .xlsx or .csv") | {
    suffix: f"write it as Parquet, in pandas by pandas.{call}(FILE).to_parquet('table.parquet')"
    for suffix, call in {
        ".sav": "read_spss",
        ".dta": "read_stata",
        ".sas7bdat": "read_sas",
        ".xpt": "read_sas",
        ".orc": "read_orc",
        ".pkl": "read_pickle",
        ".pickle": "read_pickle",
        ".xml": "read_xml",
        ".h5": "read_hdf",
        ".hdf5": "read_hdf",
        ".hdf": "read_hdf",
    }.items()
}
SAVED_AGAIN |= dict.fromkeys(
    (".html", ".htm"), "write its table as Parquet, in pandas by pandas.read_html(FILE)[0].to_parquet('table.parquet')"
)
SAVED_AGAIN |= dict.fromkeys(
    (".sqlite", ".sqlite3", ".db"),
    "write a table of it as Parquet, in pandas by pandas.read_sql('SELECT * FROM TABLE', sqlite3.connect(FILE))"
    ".to_parquet('table.parquet')",
)
SAVED_AGAIN |= {
    ".mat": "write its arrays as .npz, in SciPy by m = scipy.io.loadmat(FILE) and numpy.savez('t.npz', X=m['...'], "
    "Y=m['...'])",
    ".mtx": "write it as .npz beside its labels, in SciPy by X = scipy.io.mmread(FILE).tocsr() and "
    "numpy.savez('t.npz', data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, Y=LABELS)",
    ".geojson": "name it .json",
}
SAVED_AGAIN |= dict.fromkeys((".tar", ".tgz", ".7z", ".rar"), "unpack it, and give one of its files")
SAVED_AGAIN |= dict.fromkeys((".rds", ".rda", ".rdata"), "write it as CSV, in R by write.csv(TABLE, 'table.csv')")
FIRST_LINES = 5
XC_HEADER = re.compile(r"\d+ \d+ \d+\s*")
INDEX_VALUE = re.compile(r"(?:[^\s:,]+(?:,[^\s:,]+)*\s+)?(?:qid:\d+\s+)?\d+:[^\s:,;|]+(?=\s|$)")

__all__ = [
    "READERS",
    "Reader",
    "checked_rows",
    "format_of",
    "import_formats",
    "read",
    "read_rows",
    "row_parts",
    "size_of",
]


def import_formats(folders: Iterable[str]) -> None:
    """Import every module of this package that lies in the folders, so that its readers join the registry."""
    for module in pkgutil.iter_modules(folders):
        importlib.import_module(f"{__name__}.{module.name}")


def read(
    path: str | Path,
    labels: Labels | None = None,
    test: str | Path | None = None,
    columns: Columns | None = None,
    *,
    targets: str | Sequence[str] | None = None,
) -> Dataset:
    """Read a labelled file, in the format that its suffix names.

    Only the file named is read; a folder of Parquet files is read as one table, the files in the order of their names,
    and its subfolders such as ``year=2024`` give a column each. To read a training file and its test file as one data
    set with the standard split in `train_idx` and `test_idx` (training rows first), give the second as `test`.

    In a table, every column that `columns` does not name for another purpose is a feature. Numbers and vectors (lists
    in Parquet, ``[0.5, 1.25]`` in CSV) give a matrix. A table with empty cells, categories, dates, texts, truth values,
    scales, units or lists of names gives `TableRows`, which a `TableEncoder` turns into numbers; `Dataset.columns`
    says how each column was read, and `Dataset.notes` what was left out, such as ids. An empty label cell (also NaN,
    NA, null, None, ?) is unknown; in a column of joined labels it is a row without labels. What must be asked, such as
    whether -999 is an empty cell, is listed in one error.

    Parameters
    ----------
    path : str or Path
        A file with one of the suffixes {accepted}. Or a folder.
    labels : str, Path or sequence of str, optional
        Table: the same as ``columns.labels``. ARFF: the Mulan XML file, or the names of the label attributes; None
        looks for ``NAME.xml`` beside the file (NAME also without ``-train`` or ``-test``), then for MEKA's ``-C n`` in
        ``@relation``; a single nominal attribute that is not {0,1} is read as one class per row. npy: the file of the
        labels, a table or a .npy file.
    test : str or Path, optional
        Test file of the same format, features and labels; not for npz, which holds its own split, npy and h5ad.
    columns : Columns, optional
        Tables, dense ARFF, h5ad, and the label table of npy: which columns hold labels, text, ids, groups, time, or are
        left out. npz, npy and svmlight take ``target_type`` alone: fractions there are numbers, and so are several
        columns with more than 0 and 1.
    targets : str or sequence of str, optional
        The same as ``columns.targets``: columns of numbers to predict.

    Returns
    -------
    Dataset
        Sparse ARFF, svmlight and texts give a `csr_array`, everything else an array (npz what it holds).

    Raises
    ------
    DataError
        A `ValueError` whose message is one sentence: file, line, reason and remedy.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from proxembed.data import read
    >>> file = pathlib.Path(tempfile.mkdtemp(), "toy.arff")
    >>> header = "@relation 'toy: -C 1'\\n@attribute beach {0,1}\\n@attribute hue numeric\\n@data\\n"
    >>> size = file.write_text(header + "1,0.25\\n0,0.5\\n")
    >>> data = read(file)
    >>> data.label_names, data.X.tolist(), data.Y.toarray().tolist()
    (('beach',), [[0.25], [0.5]], [[1], [0]])
    """
    path, columns = Path(path), columns or Columns()
    if targets is not None:
        if columns.targets:
            raise DataError.at(path, None, "targets= was given beside columns.targets", "name the targets once")
        columns = replace(columns, targets=targets)
    accepted = f"accepted are {_accepted()}"
    reader = _reader(path, accepted, f"{OF_FOLDER}; {accepted}")
    if test is not None:
        test = Path(test)
        if _reader(test, accepted, f"{OF_FOLDER}; {accepted}") is not reader:
            raise DataError.at(test, None, f"the format differs from that of {path}", "give two files of one format")
    unfit = () if reader.takes_columns else [field for field in columns.fields_set if field != "target_type"]
    if unfit:
        fields = ", ".join(unfit)
        reason = f"{fields} was given, but columns of this format are not named by purpose"
        raise DataError.at(path, None, reason, "leave it out, or give a table, such as a CSV file")
    try:
        data = with_spelling_notes(reader.read(path, test, labels, columns))
    except DataError as error:  # that of a Dataset names no file
        raise error.of_file(path) from error.__cause__
    source = reader.source(data)
    return data if source is data.source else replace(data, source=source)


def _accepted() -> str:
    """The suffixes of all formats, with what the files hold."""
    *most, last = [reader.accepts for reader in readers()]
    return f"{', '.join(most)} and {last}; text formats each also with .gz, .bz2, .xz, .zst or .zip"


def read_rows(path: str | Path, source: dict[str, Any]) -> NamedRows:
    """Features and ids of new rows, in the columns of a training file that was read before.

    Tables, ARFF and .npz with ``feature_names`` are read by the names of the columns, in any order and beside others.
    The columns of other .npz, .npy and svmlight files must be those of the training file, in their order. Labels may be
    there; they are not read.

    Parameters
    ----------
    path : str or Path
        A file of any format that `proxembed.data.read` takes; it need not be that of the training file.
    source : dict
        `Dataset.source` of the training file.

    Returns
    -------
    X : array or csr_array of shape (n, d), or TableRows
    ids : tuple of str, or None where the training file had no id column or the new file has none

    Raises
    ------
    DataError
        Where the file lacks a feature, or holds a cell that is not what its column holds.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from proxembed.data import Columns, read, read_rows
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> size = (folder / "old.csv").write_text("doc,x,kind,even\\na,1,red,0\\nb,2,blue,1\\nc,4,red,1\\nd,5,blue,0\\n")
    >>> data = read(folder / "old.csv", columns=Columns(labels=("even",), id="doc"))
    >>> size = (folder / "new.csv").write_text("kind,doc,x\\nblue,e,7\\n")
    >>> X, ids = read_rows(folder / "new.csv", data.source)
    >>> data.feature_names, X["x"].tolist(), X["kind"].tolist(), ids
    (('x', 'kind'), [7.0], ['blue'], ('e',))
    """
    path = Path(path)
    return checked_rows(path, source, _rows_reader(path).read_rows(path, source))


def row_parts(path: str | Path, source: dict[str, Any], rows: int) -> Iterator[NamedRows]:
    """Features and ids of new rows in parts, so that they need not fit in memory together.

    Tables and .npy files are read a part at a time, other formats, and packed .npy files, as a whole.

    Parameters
    ----------
    path, source : as of `read_rows`
    rows : int
        About how many rows a part has; a table is parsed some thousand rows at a time, and a part has one such block.

    Yields
    ------
    X, ids : as of `read_rows`

    Raises
    ------
    DataError
        As of `read_rows`, when the part is read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from proxembed.data import row_parts
    >>> file = pathlib.Path(tempfile.mkdtemp(), "new.npy")
    >>> np.save(file, np.ones((5, 3)))
    >>> [X.shape for X, ids in row_parts(file, {"format": "npy", "n_features": 3}, 2)]
    [(2, 3), (2, 3), (1, 3)]
    """
    path = Path(path)
    for part in _rows_reader(path).row_parts(path, source, rows):
        yield checked_rows(path, source, part)


def size_of(path: str | Path) -> tuple[int, int | None]:
    """About how many bytes the rows of a file take in memory, and how many rows there are; None if unknown.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from proxembed.data import size_of
    >>> file = pathlib.Path(tempfile.mkdtemp(), "new.npy")
    >>> np.save(file, np.ones((5, 3)))
    >>> size_of(file)
    (248, 5)
    """
    path = Path(path)
    return _rows_reader(path).size(path)


def _rows_reader(path: Path) -> Reader:
    accepted = ", ".join(suffix for reader in readers() for suffix in reader.suffixes)
    return _reader(path, f"accepted are {accepted}", OF_FOLDER)


def checked_rows(path: Path, source: dict[str, Any], rows: NamedRows) -> NamedRows:
    """New rows, of the width of the training rows and of finite numbers; NaN is an empty cell of a table's columns."""
    (X, ids), d = rows, width(source)
    if d is not None and X.shape[1] != d:
        raise DataError.at(path, None, f"it has {X.shape[1]} features, not the {d} of the training file", SAME_COLUMNS)
    if not isinstance(X, TableRows) and not _finite(X, unknown="columns" in source):
        raise DataError.at(path, None, "it holds NaN or infinite features", "fill them in or drop their rows")
    return small_indices(X), ids


def _reader(path: Path, accepted: str, of_folder: str) -> Reader:
    """The reader of a file by its suffix, or of a folder of Parquet files."""
    check_exists(path)
    if path.is_dir():
        if not parquet_files(path):
            raise DataError.at(path, None, "this is a folder without .parquet files", of_folder)
        return READERS[".parquet"]
    reader = format_of(path)
    if reader is None:
        if Path(plain_name(path)).suffix.lower() == ".gct":
            with opened(path) as stream:
                check_rows_are_rows(path, first_lines(stream))
        suffix = Path(plain_name(path)).suffix
        if path.suffix.lower() == ".zip" and not suffix:
            raise DataError.at(path, None, "it is not an archive of one file", "unpack it, and give one of its files")
        if remedy := SAVED_AGAIN.get(suffix.lower()):
            raise DataError.at(path, None, f"{suffix} files are not read", remedy)
        accepted = f"if it is a table of text, name it {path.stem}.csv; {accepted}"
        raise DataError.at(path, None, "the file name has no known ending", accepted)
    return reader


def format_of(path: Path) -> Reader | None:
    """The reader of a file, by its suffix or, of those of text such as .txt, by its first lines; None for no format."""
    suffix = Path(plain_name(path)).suffix.lower()
    if suffix in BY_CONTENT:
        with opened(path) as stream:
            lines = list(filter(str.strip, first_lines(stream)))
        if next((line for line in lines if line[0] != "%"), "").lower().startswith("@relation"):
            return READERS[".arff"]
        suffix = ".csv" if _is_table(lines[:FIRST_LINES]) else ".svm"
    return READERS.get(suffix)


def _is_table(lines: Sequence[str]) -> bool:
    """Whether the first lines of a file of text are of a table: they hold no INDEX:VALUE, as those of svmlight do."""
    header = next((line for line in lines if not line.startswith("#")), "")
    if re.search(r"[^\W\d_]", header) and ":" not in header:  # names
        return True
    if not lines or XC_HEADER.fullmatch(lines[0]) and not all(map(XC_HEADER.fullmatch, lines)):
        return False
    return not any(INDEX_VALUE.match(line) for line in lines)


def _finite(X: Matrix, unknown: bool = False) -> bool:
    """Whether all numbers are finite; ``unknown``: or NaN in a dense X."""
    values = X.data if sparse.issparse(X) else X
    with np.errstate(all="ignore"):
        total = values.sum()
    if np.isfinite(total) or np.isfinite(values).all():  # a finite sum has finite terms
        return True
    return unknown and not sparse.issparse(X) and not np.isinf(values).any()


import_formats(__path__)
read.__doc__ = (read.__doc__ or "").replace("{accepted}", _accepted())
