"""Readers of labelled files: one function, `read`, that picks the format from the file name."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from proxembed.data.dataset import Dataset
from proxembed.data.errors import DataError
from proxembed.data.readers import mulan, npy, npz, svmlight, table
from proxembed.data.readers.columns import Columns
from proxembed.data.readers.new_rows import SVMLIGHT, plain_source

ACCEPTED = (
    ".csv, .tsv, .tab, .parquet and .pq (a table with named columns), .npz (arrays X or data, indices, indptr, shape, "
    "and Y), .npy (vectors, with a label file), .arff or .arff.gz (Mulan with its XML beside it, or MEKA) and .svm, "
    ".svmlight, .libsvm, .txt, .scale, .t, .tr, .val (svmlight); text formats each also with .gz"
)
Labels = str | Path | Sequence[str]
Reader = Callable[[Path, Path | None, Labels | None, Columns], Dataset]


def read(
    path: str | Path,
    labels: Labels | None = None,
    test: str | Path | None = None,
    columns: Columns | None = None,
) -> Dataset:
    """Read a labelled file: CSV, Parquet, npz, npy, svmlight, or dense or sparse Mulan/MEKA ARFF, by its suffix.

    Only the file named is read. To read a training file and its test file as one data set with the standard split
    in `train_idx` and `test_idx` (training rows first), give the second as `test`.

    In a table, every column that `columns` does not name for another purpose is a feature: numbers as they are; text
    of at most 30 different values as one 0/1 column a value, named ``column=value``; a column of vectors (lists in
    Parquet, ``[0.5, 1.25]`` in CSV) as its numbers, ``column[0]``, ``column[1]``, ... An empty label cell (also NaN,
    NA, null, None, ?) is unknown; in a column of joined labels, a cell of nothing but the separator is a row without
    labels. Dates, other text and missing features are refused.

    Parameters
    ----------
    path : str or Path
        ``NAME.csv``, ``NAME.parquet``, ``NAME.npz``, ``NAME.npy``, ``NAME.arff`` or ``NAME.svm`` (also .tsv, .tab, .pq,
        .svmlight, .libsvm, .txt, .scale, .t, .tr, .val); the formats of text also with ``.gz``.
    labels : str, Path or sequence of str, optional
        Table: the same as ``columns.labels``. ARFF: the Mulan XML file, or the names of the label attributes; None
        looks for ``NAME.xml`` beside the file (NAME also without ``-train`` or ``-test``), then for MEKA's ``-C n`` in
        ``@relation``; a single nominal attribute that is not {0,1} is read as one class a row. npy: the file of the
        labels, a table or a .npy file.
    test : str or Path, optional
        Test file of the same format, features and labels; not for npz, which holds its own split, and npy.
    columns : Columns, optional
        Tables, and the label table of npy: which columns hold labels, text, ids, groups, time, or are left out.

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
    reader = _reader(path)
    if test is None:
        return reader(path, None, labels, columns)
    test = Path(test)
    if _reader(test) is not reader:
        raise DataError.at(test, None, f"the format differs from that of {path}", "give two files of one format")
    return reader(path, test, labels, columns)


def _reader(path: Path) -> Reader:
    stem = re.sub(r"\.gz$", "", path.name, flags=re.IGNORECASE)
    reader = READERS.get(Path(stem).suffix.lower())
    if path.is_dir():
        raise DataError.at(path, None, "this is a folder", f"name one file in it; accepted are {ACCEPTED}")
    if reader is None:
        raise DataError.at(path, None, "the name tells no known format", f"accepted are {ACCEPTED}")
    return reader


def _table(path: Path, test: Path | None, labels: Labels | None, columns: Columns) -> Dataset:
    if labels is not None:
        if columns.labels:
            raise DataError.at(path, None, "labels= was given beside columns.labels", "name the labels once")
        columns = replace(columns, labels=(str(labels),) if isinstance(labels, str | Path) else tuple(labels))
    return table.read(path, test, columns)


def _vectors(path: Path, test: Path | None, labels: Labels | None, columns: Columns) -> Dataset:
    if test is not None:
        remedy = "put all rows in one file, and split them by groups or time"
        raise DataError.at(test, None, "a second npy file was given", remedy)
    if labels is not None and not isinstance(labels, str | Path):
        raise DataError.at(path, None, "labels= holds several texts", "give the one file of the labels")
    return _sourced(npy.read(path, labels, columns), "npy")


def _arff(path: Path, test: Path | None, labels: Labels | None, columns: Columns) -> Dataset:
    _unnamed(path, columns)
    return _sourced(mulan.read(path, test, labels), "arff")


def _npz(path: Path, test: Path | None, labels: Labels | None, columns: Columns) -> Dataset:
    _unnamed(path, columns)
    return _sourced(npz.read(path, test, labels), "npz")


def _svmlight(path: Path, test: Path | None, labels: Labels | None, columns: Columns) -> Dataset:
    _unnamed(path, columns)
    return _sourced(svmlight.read(path, test, labels), "svmlight")


def _sourced(data: Dataset, form: str) -> Dataset:
    return replace(data, source=plain_source(data, form))


def _unnamed(path: Path, columns: Columns) -> None:
    """Refuse column options for a format whose columns they cannot name."""
    if columns.fields_set:
        fields = ", ".join(columns.fields_set)
        raise DataError.at(
            path,
            None,
            f"{fields} was given, but columns are named by purpose in tables only",
            "leave it out, or give a CSV or Parquet file",
        )


READERS: dict[str, Reader] = {
    ".npz": _npz,
    ".npy": _vectors,
    ".arff": _arff,
    **dict.fromkeys(table.SUFFIXES, _table),
    **dict.fromkeys(SVMLIGHT, _svmlight),
}
