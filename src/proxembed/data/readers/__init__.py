"""Readers of labelled files: one function, `read`, that picks the format from the file name."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from proxembed.data.dataset import Dataset
from proxembed.data.errors import DataError
from proxembed.data.readers import mulan, npz, svmlight

ACCEPTED = (
    ".npz (arrays X or data, indices, indptr, shape, and Y), .arff or .arff.gz (Mulan with its XML beside it, or MEKA) "
    "and .svm, .svmlight, .libsvm, .txt, .scale, .t, .tr, .val (svmlight, each also with .gz)"
)
Labels = str | Path | Sequence[str]
Reader = Callable[[Path, Path | None, Labels | None], Dataset]
READERS: dict[str, Reader] = {
    ".npz": npz.read,
    ".arff": mulan.read,
    **dict.fromkeys((".svm", ".svmlight", ".libsvm", ".txt", ".scale", ".t", ".tr", ".val"), svmlight.read),
}


def read(path: str | Path, labels: Labels | None = None, test: str | Path | None = None) -> Dataset:
    """Read a labelled file: npz, svmlight, or dense or sparse Mulan/MEKA ARFF, by its suffix.

    Only the file named is read. To read a training file and its test file as one data set with the standard split
    in `train_idx` and `test_idx` (training rows first), give the second as `test`.

    Parameters
    ----------
    path : str or Path
        ``NAME.npz``, ``NAME.arff`` or ``NAME.svm`` (also .svmlight, .libsvm, .txt, .scale, .t, .tr, .val); the last
        two also with ``.gz``.
    labels : str, Path or sequence of str, optional
        ARFF only: the Mulan XML file, or the names of the label attributes. None looks for ``NAME.xml`` beside the
        file (NAME also without ``-train`` or ``-test``), then for MEKA's ``-C n`` in ``@relation``. A single nominal
        attribute that is not {0,1} is read as one class a row.
    test : str or Path, optional
        Test file of the same format, features and labels; not for npz, which holds its own split.

    Returns
    -------
    Dataset
        Sparse ARFF and svmlight give a `csr_array`, dense ARFF an array.

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
    path = Path(path)
    reader = _reader(path)
    if test is None:
        return reader(path, None, labels)
    test = Path(test)
    if _reader(test) is not reader:
        raise DataError.at(test, None, f"the format differs from that of {path}", "give two files of one format")
    return reader(path, test, labels)


def _reader(path: Path) -> Reader:
    stem = re.sub(r"\.gz$", "", path.name, flags=re.IGNORECASE)
    reader = READERS.get(Path(stem).suffix.lower())
    if path.is_dir():
        raise DataError.at(path, None, "this is a folder", f"name one file in it; accepted are {ACCEPTED}")
    if reader is None:
        raise DataError.at(path, None, "the name tells no known format", f"accepted are {ACCEPTED}")
    return reader
