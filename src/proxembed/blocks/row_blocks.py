"""RowBlocks: rows in blocks (X, y) that are read one after another, so that they need not fit in memory.

In: arrays, memory maps, .npy and .npz files, or a function that starts a new reading. Out: an iterable of (X, y).
"""

from __future__ import annotations

import copy
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from os import PathLike, fspath
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from .readings import FILE_REMEDY, FUNCTION_REMEDY, Readings
from .weighted import WeightedTargets, with_weights

BLOCK_ROWS = 65_536
PRECISIONS = ("float64", "float32")
Block = tuple[Any, Any]
Drawn = tuple[np.ndarray, Any, Any]
Path = str | PathLike[str]


class RowBlocks:
    """Rows in blocks, for ``fit`` and ``transform`` of methods that need sums of the rows alone.

    Parameters
    ----------
    blocks : callable, list or iterator
        A function without arguments that starts a new reading, a list, or an iterator (read once). Each block is X,
        a pair (X, y), or (X, y, sample_weight): X an array, a DataFrame or a sparse matrix with the same features in
        every block, y the labels of its rows in any form that ``fit`` takes (None without), and the numbers >= 0 of
        times that each row counts. These come back as ``WeightedTargets`` in the place of y.
    labels : callable, optional
        A function that starts a reading of y alone, where this costs less.
    precision : "float64" or "float32"
        Type in which tiles of rows, less their mean, are multiplied; sums are always float64. "float32" halves the
        time, with relative errors of about 1e-7 in the sums.

    Raises
    ------
    ValueError
        For another ``precision``, blocks whose X and y differ in length, blocks without rows, and a second reading of
        an iterator. A fit that reads the rows several times raises it for a reading with another number of rows or
        with other rows than the first one.
    TypeError
        For ``blocks`` that are none of these.

    See Also
    --------
    proxembed.Sums : All that is kept of blocks of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed import OPLS, RowBlocks
    >>> from proxembed.data import digits
    >>> data = digits()
    >>> rows = RowBlocks.from_arrays(data.X, data.Y, block_rows=500)
    >>> model = OPLS(n_components=3).fit(rows)
    >>> [Z.shape for Z, _ in model.transform(rows)]
    [(500, 3), (500, 3), (500, 3), (297, 3)]
    >>> bool(np.allclose(model.eigenvalues_, OPLS(n_components=3).fit(data.X, data.Y).eigenvalues_))
    True
    """

    by_row = False  # whether the rows are those of ``map`` by a function of single rows
    spread = False  # whether the rows are in pieces that other processes or threads work on
    _of_dask: ClassVar[Callable[..., RowBlocks]]  # set where the subclass for pieces of dask is defined

    def __init__(
        self,
        blocks: Callable[[], Iterable[Any]] | Sequence[Any] | Iterator[Any],
        *,
        labels: Callable[[], Iterable[Any]] | None = None,
        precision: str = "float64",
    ):
        if precision not in PRECISIONS:
            raise ValueError(f"precision={precision!r} is not allowed; it must be one of {', '.join(PRECISIONS)}.")
        if not callable(blocks) and not isinstance(blocks, list | tuple | Iterator):
            raise TypeError(
                f"blocks must be a function that starts a new reading, a list or an iterator, not "
                f"{type(blocks).__name__}. RowBlocks.from_arrays(X, y) takes arrays."
            )
        self.precision = precision
        self._blocks, self._labels = blocks, labels
        self._started = False
        self._in_memory = not callable(blocks)
        self._name, self._remedy = f"RowBlocks({getattr(blocks, '__name__', type(blocks).__name__)})", FUNCTION_REMEDY
        self._readings: Readings | None = None
        self._origin: tuple[RowBlocks, Callable[[Any], Any]] | None = None

    @property
    def rereadable(self) -> bool:
        """Whether the rows can be read more than once: False for an iterator."""
        return not isinstance(self._blocks, Iterator)

    def __iter__(self) -> Iterator[Block]:
        """The blocks as pairs (X, y); y is None where there are no labels."""
        pairs = self._pairs()
        return pairs if self._readings is None else self._readings.over(pairs)

    def _pairs(self) -> Iterator[Block]:
        for number, block in enumerate(self._reading()):
            yield pair(block, number)

    def checked(self, readings: Readings | None = None) -> RowBlocks:
        """These rows, of which every reading must equal the first: what a fit reads.

        Rows in memory and iterators are returned as they are, unless ``readings``, those of another process, are given.

        >>> import numpy as np
        >>> generator = iter([np.ones((3, 1))])
        >>> rows = RowBlocks(lambda: generator).checked()
        >>> [rows.stacked().shape, rows.stacked().shape]
        Traceback (most recent call last):
        ...
        ValueError: RowBlocks(<lambda>) gave 3 rows in reading 1 and 0 rows in reading 2; every reading must ...
        """
        if self._origin is not None:
            rows, function = self._origin
            return rows.checked(readings).map(function, by_row=self.by_row)
        if self._readings is not None or readings is None and (self._in_memory or not self.rereadable):
            return self
        found = copy.copy(self)
        found._readings = Readings(self._name, self._remedy) if readings is None else readings
        return found

    def _reading(self) -> Iterable[Any]:
        if callable(self._blocks):
            return self._blocks()
        if self.rereadable:
            return self._blocks
        if self._started:
            raise ValueError(
                "These blocks come from an iterator, which can be read once. Pass a function that starts a new "
                "reading: RowBlocks(lambda: ...)."
            )
        self._started = True
        return self._blocks

    def labels(self) -> Iterator[Any]:
        """The y of each block."""
        if self._labels is None:
            return (y for _, y in self)
        pairs = ((None, y) for y in self._labels())
        return (y for _, y in (pairs if self._readings is None else self._readings.over(pairs)))

    def map(self, function: Callable[[Any], Any], *, by_row: bool = False) -> RowBlocks:
        """Blocks (function(X), y), computed when they are read; ``by_row``: each row of function(X) depends on that row
        of X alone, so that a reading of a few rows computes no others.

        >>> import numpy as np
        >>> RowBlocks([np.ones((2, 1)), np.ones((1, 1))]).map(lambda X: 3 * X).stacked().ravel()
        array([3., 3., 3.])
        """
        pairs = ((function(X), y) for X, y in self)
        if not self.rereadable:
            return RowBlocks(pairs, precision=self.precision)
        found = RowBlocks(
            lambda: ((function(X), y) for X, y in self),
            labels=None if self._labels is None else self.labels,
            precision=self.precision,
        )
        found._origin, found.by_row = (self, function), by_row
        return found

    def picked(self, numbers: np.ndarray) -> Iterator[Block]:
        """The rows of these sorted numbers, as blocks of one reading; of a function ``by_row`` no others are computed.

        >>> import numpy as np
        >>> rows = RowBlocks([np.arange(4.0)[:, None], np.arange(9.0)[:, None]]).map(np.sqrt, by_row=True)
        >>> [X.ravel().tolist() for X, _ in rows.picked(np.array([1, 4, 8]))]
        [[1.0], [0.0, 2.0]]
        """
        rows, function = self._origin if self._origin is not None and self.by_row else (self, lambda X: X)
        before = 0
        for X, y in rows:
            after = before + length(X)
            own = numbers[np.searchsorted(numbers, before) : np.searchsorted(numbers, after)] - before
            before = after
            if len(own):
                yield function(some(X, own)), None if y is None else some(y, own)

    def reduce(
        self, function: Callable[[Any, int], Any], merge: Callable[[Sequence[Any]], Any], *, labels: bool = False
    ) -> Any:
        """``function(rows, 0)`` of these rows; of rows in several pieces ``merge`` of a list of the results.

        A piece is RowBlocks, ``number`` its place; with ``labels`` an iterable of the y of its blocks.

        >>> import numpy as np
        >>> RowBlocks([np.ones((2, 1)), np.ones((3, 1))]).reduce(lambda rows, number: sum(len(X) for X, _ in rows), sum)
        5
        """
        return function(self.labels() if labels else self, 0)

    def sample(self, n_rows: int, *, seed: int = 0) -> tuple[Any, Any]:
        """A uniform sample of the rows in their order, (X, y): all rows where there are no more than ``n_rows``.

        One reading; the sample does not depend on how the rows are cut into blocks. y is None where there are no
        labels; tables become arrays. Raises ValueError unless ``n_rows`` is a whole number of at least 1.

        >>> import numpy as np
        >>> X, y = RowBlocks.from_arrays(np.arange(100.0)[:, None], list("ab") * 50, block_rows=30).sample(4)
        >>> X.shape, len(y)
        ((4, 1), 4)
        """
        if isinstance(n_rows, bool) or not isinstance(n_rows, int | np.integer) or n_rows < 1:
            raise ValueError(f"n_rows={n_rows!r} is not allowed; it must be a whole number of at least 1.")
        found = self.reduce(partial(drawn_rows, int(n_rows), seed), partial(fewest_keys, int(n_rows)))
        _, X, y = zip(*found, strict=True)
        if isinstance(y[0], WeightedTargets):
            raise ValueError("A sample of blocks has no weights: make the blocks without sample_weight for it.")
        return stacked(X), None if y[0] is None else stacked(y)

    def stacked(self) -> Any:
        """All rows of X as one array or CSR array in memory.

        >>> import numpy as np
        >>> RowBlocks([np.eye(2), np.eye(2)]).stacked().shape
        (4, 2)
        """
        return stacked([X for X, _ in self])

    @classmethod
    def from_arrays(
        cls,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        block_rows: int = BLOCK_ROWS,
        precision: str = "float64",
    ) -> RowBlocks:
        """Blocks of rows of an array, a memory map or a CSR matrix (n, d), and of labels y in memory or mapped;
        ``sample_weight`` (n,): how often each row counts.

        >>> import numpy as np
        >>> [len(X) for X, y in RowBlocks.from_arrays(np.ones((5, 2)), np.arange(5), block_rows=2)]
        [2, 2, 1]
        """
        X = sparse.csr_array(X) if sparse.issparse(X) else X
        if sample_weight is not None:
            y = y.tocsr() if sparse.issparse(y) else y
            if y is not None and length(y) != X.shape[0]:
                raise ValueError(f"X has {X.shape[0]:,} rows, y has {length(y):,}.")
            y = with_weights(y, sample_weight, X.shape[0], "X")
        found = cls._of_parts([(lambda: X, None if y is None else (lambda: y), None)], block_rows, precision)
        found._in_memory = _in_memory(X) and _in_memory(y)
        return found

    @classmethod
    def from_npy(
        cls,
        X: Path | Sequence[Path],
        y: Any = None,
        *,
        sample_weight: Any = None,
        block_rows: int = BLOCK_ROWS,
        precision: str = "float64",
    ) -> RowBlocks:
        """Blocks of rows of one or several .npy files, memory-mapped; ``y``: as many files, or labels of all rows;
        ``sample_weight``: the same of how often each row counts.

        Raises ValueError where X and y are different numbers of files, and FileNotFoundError for a missing file.

        >>> import pathlib, tempfile
        >>> import numpy as np
        >>> file = pathlib.Path(tempfile.mkdtemp(), "X.npy")
        >>> np.save(file, np.ones((5, 2)))
        >>> [X.shape for X, y in RowBlocks.from_npy(file, block_rows=3)]
        [(3, 2), (2, 2)]
        """
        files = _paths(X)
        return cls._of_parts(
            _with_labels([_mapped(file) for file in files], y, sample_weight), block_rows, precision
        ).of_files(files)

    @classmethod
    def from_npz(
        cls,
        X: Path | Sequence[Path],
        y: Any = None,
        *,
        sample_weight: Any = None,
        block_rows: int = BLOCK_ROWS,
        precision: str = "float64",
    ) -> RowBlocks:
        """Blocks of rows of one or several files of ``scipy.sparse.save_npz``, each of which is loaded as a whole.

        ``y`` and ``sample_weight``: as many .npy files, or those of all rows. Raises as ``from_npy`` does.

        >>> import pathlib, tempfile
        >>> from scipy import sparse
        >>> file = pathlib.Path(tempfile.mkdtemp(), "X.npz")
        >>> sparse.save_npz(file, sparse.csr_array(sparse.eye_array(4)))
        >>> [X.shape for X, y in RowBlocks.from_npz(file, block_rows=3)]
        [(3, 4), (1, 4)]
        """
        files = _paths(X)
        return cls._of_parts(
            _with_labels([_loaded(file) for file in files], y, sample_weight), block_rows, precision
        ).of_files(files)

    @classmethod
    def from_csr(
        cls,
        folder: Path | Sequence[Path],
        n_features: int,
        y: Any = None,
        *,
        sample_weight: Any = None,
        block_rows: int = BLOCK_ROWS,
        precision: str = "float64",
    ) -> RowBlocks:
        """Blocks of rows of memory-mapped CSR parts: folders with data.npy, indices.npy and indptr.npy.

        ``y`` and ``sample_weight``: as many .npy files, or those of all rows. Raises as ``from_npy`` does.

        >>> import pathlib, tempfile
        >>> import numpy as np
        >>> from scipy import sparse
        >>> folder, X = pathlib.Path(tempfile.mkdtemp()), sparse.csr_array(sparse.eye_array(4))
        >>> for name in ("data", "indices", "indptr"):
        ...     np.save(folder / f"{name}.npy", getattr(X, name))
        >>> [X.shape for X, y in RowBlocks.from_csr(folder, 4, block_rows=3)]
        [(3, 4), (1, 4)]
        """
        parts = [_mapped_csr(one, n_features) for one in _paths(folder)]
        return cls._of_parts(_with_labels(parts, y, sample_weight), block_rows, precision).of_files(_paths(folder))

    @classmethod
    def from_dask(cls, X: Any, y: Any = None, *, sample_weight: Any = None, precision: str = "float64") -> RowBlocks:
        """Rows in pieces of dask, worked on where they are: by the cluster of a ``distributed.Client``, or by threads.

        Only sums (d x d, d x c) travel; the pieces are computed once for each reading, one at a time by each thread.

        Parameters
        ----------
        X : dask array or dask DataFrame, or list of dask.delayed values
            A delayed value is X, a pair (X, y), (X, y, sample_weight) or RowBlocks:
            ``dask.delayed(parquet_blocks)(path, labels)`` has a worker read a file, a block at a time. The blocks of an
            array may be sparse.
        y : dask array, Series or DataFrame with the partitions of X, or labels in memory, optional
            Labels in memory need an X whose blocks have known lengths.
        sample_weight : dask array or Series as y, or numbers in memory, optional
            How often each row counts.
        precision : "float64" or "float32", as above.

        Raises
        ------
        TypeError
            For other collections.
        ValueError
            For y with another number of rows or partitions, and a y in memory with an X of unknown lengths.

        Examples
        --------
        >>> from dask import delayed
        >>> from proxembed import OPLS
        >>> from proxembed.data import digits
        >>> data = digits()
        >>> parts = [delayed(data.X)[:900], delayed(data.X)[900:]]
        >>> rows = RowBlocks.from_dask([delayed((X, y)) for X, y in zip(parts, (data.Y[:900], data.Y[900:]))])
        >>> [Z.shape for Z, _ in OPLS(n_components=3).fit(rows).transform(rows)]
        [(900, 3), (897, 3)]
        """
        return cls._of_dask(X, y, precision, sample_weight)

    def of_files(self, files: Sequence[Path]) -> RowBlocks:
        """The same rows, which errors name by their files."""
        more = f" and {len(files) - 1} more" if len(files) > 1 else ""
        self._name, self._remedy = f"{fspath(files[0])}{more}", FILE_REMEDY
        return self

    @classmethod
    def _of_parts(cls, parts: list[Any], block_rows: int, precision: str) -> RowBlocks:
        """Blocks of parts, each of functions that open X, y and the weights of the rows, or None; the same function in
        several parts opens those of all rows."""
        if not isinstance(block_rows, int) or block_rows < 1:
            raise ValueError(f"block_rows={block_rows!r} is not allowed; it must be a whole number of at least 1.")
        names = ("y", "sample_weight")
        shared = [len(parts) > 1 and parts[1][i] is parts[0][i] is not None for i in (1, 2)]

        def read() -> Iterator[Block]:
            start = 0
            for number, (open_X, *openers) in enumerate(parts):
                X, held = open_X(), [None if each is None else each() for each in openers]
                for name, own, whole in zip(names, held, shared, strict=True):
                    if own is not None and not whole and length(own) != X.shape[0]:
                        raise ValueError(f"Part {number} has {X.shape[0]:,} rows of X and {length(own):,} of {name}.")
                    if own is not None and length(own) < start * whole + X.shape[0]:
                        raise ValueError(f"X has {start + X.shape[0]:,} rows or more, {name} has {length(own):,}.")
                for first in range(0, X.shape[0], block_rows):
                    last = min(first + block_rows, X.shape[0])
                    y, weights = (
                        None if own is None else rows_between(own, first + start * whole, last + start * whole)
                        for own, whole in zip(held, shared, strict=True)
                    )
                    yield X[first:last], with_weights(y, weights, last - first, f"part {number}")
                start += X.shape[0]
            for name, opener, whole in zip(names, parts[0][1:], shared, strict=True):
                if whole and length(opener()) != start:
                    raise ValueError(f"X has {start:,} rows, {name} has {length(opener()):,}.")

        return cls(read, precision=precision)


def added(parts: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    """The sums over several pieces, entry by entry: for ``RowBlocks.reduce``."""
    return tuple(sum(entries[1:], entries[0]) for entries in zip(*parts, strict=True))


def drawn_rows(
    n_rows: int, seed: int, blocks: Iterable[Block], number: int, take: Callable[[Any, Any], Any] | None = None
) -> list[Drawn]:
    """A uniform sample of the rows of piece ``number``: (keys, X, y) of some blocks, in their order."""
    take, draw = some if take is None else take, np.random.default_rng((seed, number))
    kept: list[Drawn] = []
    held, bound = 0, np.inf
    for X, y in blocks:
        keys = draw.random(length(X))
        index = np.flatnonzero(keys < bound)
        if len(index) == 0:
            continue
        kept.append((keys[index], some(X, index), None if y is None else take(y, index)))
        held += len(index)
        if held > 2 * n_rows:
            kept, held = fewest_keys(n_rows, [kept], take), n_rows
            bound = max(own.max() for own, _, _ in kept)
    return fewest_keys(n_rows, [kept], take)


def fewest_keys(n_rows: int, parts: Sequence[list[Drawn]], take: Callable[[Any, Any], Any] | None = None) -> list[Any]:
    """The rows of the smallest keys among those of several samples, in their order."""
    kept, take = [one for part in parts for one in part], some if take is None else take
    keys = np.concatenate([own for own, _, _ in kept]) if kept else np.empty(0)
    if len(keys) <= n_rows:
        return kept
    last = np.partition(keys, n_rows - 1)[n_rows - 1]
    rows = [(own, np.flatnonzero(own <= last), X, y) for own, X, y in kept]
    return [(own[i], some(X, i), None if y is None else take(y, i)) for own, i, X, y in rows if len(i)]


def some(y: Any, index: np.ndarray) -> Any:
    """Rows of y, in any of its forms, by their numbers."""
    if hasattr(y, "iloc"):
        return y.iloc[index]
    return [y[i] for i in index] if isinstance(y, list | tuple) else y[index]


def stacked(parts: Sequence[Any]) -> Any:
    """Blocks of X or of y as one."""
    if isinstance(parts[0], list):
        return [row for part in parts for row in part]
    if any(sparse.issparse(part) for part in parts):
        return sparse.csr_array(sparse.vstack(parts))
    return np.concatenate([np.asarray(part) for part in parts])


def pair(block: Any, number: int) -> Block:
    """A block as (X, y), of which both have the same number of rows, at least one."""
    X, y, *weights = block if isinstance(block, tuple) and len(block) in (2, 3) else (block, None)
    rows = length(X)
    if y is not None and length(y) != rows:
        raise ValueError(f"Block {number} has {rows:,} rows of X and {length(y):,} of y; they must be the same.")
    if rows == 0:
        raise ValueError(f"Block {number} has no rows; leave out empty blocks.")
    return X, with_weights(y, weights[0], rows, f"block {number}") if weights else y


def length(rows: Any) -> int:
    return rows.shape[0] if hasattr(rows, "shape") else len(rows)


def _in_memory(rows: Any) -> bool:
    """Whether rows cannot change between two readings, as those of a file can."""
    while isinstance(rows, np.ndarray) and not isinstance(rows, np.memmap) and rows.base is not None:
        rows = rows.base
    held = sparse.issparse(rows) or hasattr(rows, "iloc") or isinstance(rows, np.ndarray | list | tuple | bytes | None)
    return held and not isinstance(rows, np.memmap)


def rows_between(y: Any, first: int, last: int) -> Any:
    """Rows of y in any of its forms."""
    return y.iloc[first:last] if hasattr(y, "iloc") else y[first:last]


def _paths(files: Path | Sequence[Path]) -> list[str]:
    if isinstance(files, str | PathLike):
        return [fspath(files)]
    if len(files) == 0:
        raise ValueError("X names no files; pass at least one path.")
    return [fspath(file) for file in files]


def _with_labels(parts: list[Callable[[], Any]], y: Any, sample_weight: Any) -> list[Any]:
    """The parts of X with those of y and of the weights: as many files, or those of all rows."""
    opened = (_of_each(len(parts), y, "y", "labels"), _of_each(len(parts), sample_weight, "sample_weight", "weights"))
    return list(zip(parts, *opened, strict=True))


def _of_each(count: int, given: Any, name: str, what: str) -> list[Callable[[], Any] | None]:
    if given is None:
        return [None] * count
    several = isinstance(given, list | tuple) and len(given) > 0
    if not isinstance(given, str | PathLike) and not (several and all(str(one).endswith(".npy") for one in given)):
        whole: Callable[[], Any] = lambda: given  # noqa: E731
        return [whole] * count
    files = _paths(given)
    if len(files) != count:
        counts = f"{count} part{'s' * (count != 1)} and {name} {len(files)} file{'s' * (len(files) != 1)}"
        raise ValueError(f"X has {counts}; pass one file of {what} for each part.")
    return [_mapped(file) for file in files]


def _mapped(file: str) -> Callable[[], np.ndarray]:
    return lambda: _whole(file, lambda: np.load(file, mmap_mode="r"))


def _loaded(file: str) -> Callable[[], Any]:
    def load() -> Any:
        with open(file, "rb") as stream:
            return sparse.csr_array(sparse.load_npz(stream))

    return lambda: _whole(file, load)


def _whole(file: str, load: Callable[[], Any]) -> Any:
    """What a file holds; damage, which shows in many ways, as one ValueError."""
    try:
        return load()
    except FileNotFoundError:
        raise
    except (ValueError, OSError, EOFError, LookupError, SyntaxError, zipfile.BadZipFile, zlib.error) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise ValueError(f"{file} is damaged or was replaced ({reason or 'it ends early'}). Write it again.") from error


def _mapped_csr(folder: str, n_features: int) -> Callable[[], Any]:
    def opened() -> _CSRPart:
        data, indices, indptr = (_mapped(f"{folder}/{name}.npy")() for name in ("data", "indices", "indptr"))
        return _CSRPart(data, indices, np.asarray(indptr), n_features)

    return opened


class _CSRPart:
    """Memory-mapped arrays of a CSR matrix, of which slices of rows become CSR arrays."""

    def __init__(self, data: Any, indices: Any, indptr: np.ndarray, n_features: int):
        self.data, self.indices, self.indptr = data, indices, indptr
        self.shape = (len(indptr) - 1, n_features)

    def __getitem__(self, rows: slice) -> sparse.csr_array:
        pointers = self.indptr[rows.start : rows.stop + 1]
        entries = slice(pointers[0], pointers[-1])
        parts = self.data[entries], self.indices[entries], pointers - pointers[0]
        return sparse.csr_array(parts, shape=(len(pointers) - 1, self.shape[1]))
