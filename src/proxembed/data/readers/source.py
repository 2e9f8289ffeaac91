"""Bytes of a data file, plain or gzipped, with every failure to get them told as a DataError."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np
from scipy import sparse

from proxembed.data.dataset import Dataset
from proxembed.data.errors import DataError, shorten
from proxembed.data.unpacking import Unpacked, most_unpacked

GZIP_MAGIC = b"\x1f\x8b"


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Binary stream of a file; gzip is recognised by its first bytes, whatever the name, and unpacked up to a limit."""
    if path.exists() and not path.is_file() and not path.is_dir():
        remedy = "write what it gives to a file first"
        raise DataError.at(path, None, "it is a pipe or a device, which cannot be read twice", remedy)
    try:
        with open(path, "rb") as raw:
            if raw.peek(2)[:2] == GZIP_MAGIC:
                with gzip.open(raw) as packed:
                    yield Unpacked(packed, path, most_unpacked())
            else:
                yield raw
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError.at(path, None, "the gzip data are cut short or damaged", "fetch the file again") from error
    except OSError as error:
        reason = "no such file" if isinstance(error, FileNotFoundError) else f"it cannot be read ({error.strerror})"
        raise DataError.at(path, None, reason, "check the path and the right to read it") from error


def joined(train: Dataset, test: Dataset, train_path: Path, test_path: Path, name: str) -> Dataset:
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
