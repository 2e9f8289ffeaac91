"""svmlight and LIBSVM files, one or several labels per row, through scikit-learn's reader."""

import re
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from proxembed.data.dataset import Dataset, class_name
from proxembed.data.errors import DataError
from proxembed.data.readers.columns import Columns
from proxembed.data.readers.label_arrays import labels_of_array
from proxembed.data.readers.reader import SAME_COLUMNS, Labels, NamedRows, Reader, width
from proxembed.data.unpacking import opened
from proxembed.tables.notes import shorten
from proxembed.tables.quantities import NUMBER

MAX_FEATURES = 10_000_000
BY_CONTENT = (".txt", ".dat", ".data", ".train", ".test", ".tra", ".tes")  # of tables, too
HEADER = re.compile(rb"\d+ \d+ \d+\s*")  # of the Extreme Classification Repository: rows, features, labels
RENUMBER = "renumber its features as the training file counts them"
LABELS = re.compile(rb"[+-]?\d+(?:\.0*)?(?:,[+-]?\d+(?:\.0*)?)*|" + NUMBER.pattern.encode())
PAIR = re.compile(rb"(\d+):" + NUMBER.pattern.encode() + rb"|qid:\d+")


class Svmlight(Reader):
    """svmlight and LIBSVM files."""

    name = "svmlight"
    suffixes = (".svm", ".svmlight", ".libsvm", ".scale", ".t", ".tr", ".val", *BY_CONTENT)
    accepts = f"{', '.join(suffixes)} (svmlight; the last seven also for tables)"
    place = 5

    def read(self, path: Path, test: Path | None, labels: Labels | None, columns: Columns) -> Dataset:
        if labels is not None:
            raise DataError.at(
                path, None, "labels= was given, but an svmlight file holds its labels", "leave labels= out"
            )
        paths = [path] if test is None else [path, test]
        parts = _load(paths)
        X, ids = sparse.vstack(parts[0::2], format="csr"), [row for rows in parts[1::2] for row in rows]
        if X.shape[1] > MAX_FEATURES:
            raise DataError.at(
                path,
                None,
                f"the largest feature index is {X.shape[1] - 1}, above {MAX_FEATURES}",
                "renumber the features",
            )
        used = [np.unique(part.indices) for part in parts[0::2]]
        start = 0 if any(0 in indices for indices in used) else 1
        if test is not None:
            _refuse_other_base(test, *used)
        flat = np.array([label for row in ids for label in row], dtype=np.float64)
        if X.shape[1] <= start or not flat.size or not np.isfinite(X.data).all():
            raise _fault(paths, "it holds no label or no feature")
        if not np.isfinite(flat).all():
            raise _fault(paths, "it holds an infinite label")
        n = len(parts[1])
        fields: dict[str, Any] = {"name": path.name.split(".")[0]}
        fields["feature_names"] = [str(j) for j in range(start, X.shape[1])]
        fields |= {} if test is None else {"train_idx": np.arange(n), "test_idx": np.arange(n, len(ids))}
        if columns.target_type == "real" or (flat != np.floor(flat)).any():
            if any(len(row) != 1 for row in ids):
                raise _fault(paths, "it holds numbers, and rows without one or with several")
            numbers = labels_of_array(flat, None, "real", path)
            return Dataset(X[:, start:], numbers.Y, outputs=numbers.outputs, **fields)
        classes, codes = np.unique(flat, return_inverse=True)
        owner = np.repeat(np.arange(len(ids)), [len(row) for row in ids])
        Y = sparse.csc_array((np.ones(len(flat), np.intp), (owner, codes)), shape=(len(ids), len(classes)))
        Y.data = np.minimum(Y.data, 1)  # a label named twice in a row's list is one label
        return Dataset(X[:, start:], Y, label_names=[class_name(c) for c in classes], **fields)

    def read_rows(self, path: Path, source: dict[str, Any]) -> NamedRows:
        """Features by their index; a file may stop short of the last ones."""
        X = sparse.csr_array(_load([path])[0])
        from_zero, d = 0 in X.indices, width(source)
        start = source.get("start", 1) if source.get("format") == self.name else int(not from_zero)
        if from_zero and start:
            raise DataError.at(path, None, _counted(0), RENUMBER)
        if d is None:
            return X[:, start:], None
        if X.shape[1] > start + d:
            last = X.shape[1] - 1
            reason = f"its largest feature index is {last}, not {start + d - 1} as in the training file"
            if not start and last == d and not from_zero:
                raise DataError.at(path, None, f"{reason}, which counts features from 0", RENUMBER)
            raise DataError.at(path, None, reason, SAME_COLUMNS)
        X.resize(X.shape[0], start + d)
        return X[:, start:], None

    def source(self, data: Dataset) -> dict[str, Any]:
        return {"format": self.name, "n_features": data.X.shape[1], "start": int(data.feature_names[0])}


def _refuse_other_base(path: Path, train: NDArray[np.integer], test: NDArray[np.integer]) -> None:
    """Refuse a test file that counts its features otherwise than the training file does, where this can be told."""
    if 0 in test and 0 not in train:
        raise DataError.at(path, None, _counted(0), RENUMBER)
    if 0 in train and np.array_equal(test, train + 1):
        raise DataError.at(path, None, _counted(1), RENUMBER)


def _counted(base: int) -> str:
    return f"its features are counted from {base}, not from {1 - base} as in the training file"


def _load(paths: list[Path]) -> list[Any]:
    from sklearn.datasets import load_svmlight_files  # costs over a second to import: only where it is used

    with ExitStack() as stack:
        streams = [stack.enter_context(opened(path)) for path in paths]
        for stream in streams:
            if not HEADER.fullmatch(stream.readline()):
                stream.seek(0)
        try:
            return load_svmlight_files(streams, multilabel=True, zero_based=True)
        except DataError:
            raise
        except (ValueError, OverflowError, IndexError, MemoryError) as error:
            raise _fault(paths, f"it is not svmlight ({error})") from error


def _fault(paths: list[Path], otherwise: str) -> DataError:
    """The first malformed row of the files as an error, or `otherwise` where every row looks well formed."""
    form = "write LABEL[,LABEL...] INDEX:VALUE INDEX:VALUE, and so on"
    for path in paths:
        with opened(path) as stream:
            for line, raw in enumerate(stream, start=1):
                if line == 1 and HEADER.fullmatch(raw):
                    continue
                if reason := _reason(raw.partition(b"#")[0].split()):
                    return DataError.at(path, line, reason, form)
    return DataError.at(" and ".join(map(str, paths)), None, otherwise, form)


def _reason(cells: list[bytes]) -> str | None:
    last = -1
    for place, cell in enumerate(cells):
        shown = shorten(cell.decode("utf-8", "backslashreplace"))
        if place == 0 and b":" not in cell:
            if not LABELS.fullmatch(cell):
                return f"{shown} is not a comma-separated list of whole-number labels, or one number"
        elif not (match := PAIR.fullmatch(cell)) or not np.isfinite(float(cell.partition(b":")[2])):
            return f"{shown} is not INDEX:VALUE with an index from 0 up and a finite value"
        elif match[1] is not None:
            if len(match[1]) > 9:
                return f"index {shorten(match[1].decode())} is above {MAX_FEATURES}"
            if int(match[1]) <= last:
                return f"index {int(match[1])} does not rise above {last} before it"
            last = int(match[1])
    return None
