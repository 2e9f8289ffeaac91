"""Dense and CSR matrices: float copies, the guard against large dense arrays, and of their rows blocks, lengths,
quotients, ranks, fingerprints, and the order in which a sparse factor stays small."""

import math
from collections.abc import Iterator
from typing import Any, TypeAlias, TypeVar

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components, dijkstra, reverse_cuthill_mckee
from scipy.stats import rankdata

from .blas import in_threads, matmul

BLOCK_ENTRIES = 2**21
EXTREME = 200  # powers of two, either way: the fourth power of what lies between is far from the ends of float64

# An ndarray or a canonical csr_array; scipy.sparse is untyped, and issparse does not narrow a union.
Matrix: TypeAlias = Any
Compressed = TypeVar("Compressed", sparse.csr_array, sparse.csc_array)
MAX_DENSE_BYTES = 2 << 30
RANKED_ENTRIES = 1 << 17
ORDERED_FROM = 20_000  # rows: vectors of fewer stay in the cache in any order
# Mean number of links of the row at the end of a link: ordering takes time quadratic in the links of each row.
MOST_LINKS = 400
PROBED_COLUMNS = 4  # whose entries may show that no two rows are equal
CLOSE = 1e-10  # of the largest product of a row with a vector, differences that may be rounding
ENTRY_BYTES = 24  # of a factor: value and row number, below and above the diagonal


def float_matrix(X: Any, name: str = "X", *, canonical: bool = True) -> Matrix:
    """X as a 2-D float32 or float64 array, or as a canonical CSR array; the caller's arrays are never written to.
    ``canonical=False``: repeated entries of sparse X may stay apart."""
    X = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"{name} has {X.ndim} dimension(s); rows x features (2) are needed: use {name}.reshape(n, d).")
    if X.dtype.kind not in "fiub":
        raise TypeError(f"{name} has dtype {X.dtype}; real numbers are needed: convert it to float64 first.")
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    return canonical_csr(X) if canonical and sparse.issparse(X) else X


def canonical_csr(X: Any) -> sparse.csr_array:
    """CSR in canonical order: rows that are not in order, or repeat entries, are copied first. Put in order in place,
    they would share half of their arrays with the caller's."""
    X = sparse.csr_array(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def row_blocks(n_rows: int, width: int) -> Iterator[slice]:
    """Slices that cut n_rows rows into blocks of at most about ``BLOCK_ENTRIES`` entries."""
    step = max(1, BLOCK_ENTRIES // max(1, width))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def row_squares(X: Matrix) -> np.ndarray:
    """Squared Euclidean length of each row, accumulated in float64; inf where it overflows."""
    with np.errstate(over="ignore", under="ignore"):
        if sparse.issparse(X):
            squares = np.square(X.data, dtype=np.float64)
            return sparse.csr_array((squares, X.indices, X.indptr), shape=X.shape).sum(axis=1)
        return np.einsum("ij,ij->i", X, X, dtype=np.float64)


def row_norms(X: Matrix) -> np.ndarray:
    """Euclidean length of each row; rows whose squares under- or overflow are scaled by their largest entry first."""
    squares = row_squares(X)
    norms = np.sqrt(squares)
    extreme = np.flatnonzero((squares < 1e-280) | ~np.isfinite(squares))
    if extreme.size:
        part = X[extreme].astype(np.float64)
        largest = abs(part).max(axis=1)
        largest = np.asarray(largest.toarray() if sparse.issparse(largest) else largest).reshape(-1)
        divisor = np.where(largest > 0, largest, 1.0)
        norms[extreme] = largest * np.sqrt(row_squares(divide_rows(part, divisor)))
    return norms


def centred_lengths(X: Matrix) -> tuple[np.ndarray, np.ndarray]:
    """Mean of each row over all d features, and the length of the centred row (exactly 0 for a constant row)."""
    d = X.shape[1]
    mean = np.asarray(X.sum(axis=1, dtype=np.float64)).reshape(-1) / d
    largest, smallest = X.max(axis=1), X.min(axis=1)
    if sparse.issparse(X):
        largest, smallest = largest.toarray(), smallest.toarray()
        stored = np.diff(X.indptr)
        difference = sparse.csr_array((X.data - np.repeat(mean, stored), X.indices, X.indptr), shape=X.shape)
        squares = row_squares(difference) + (d - stored) * mean**2
    else:
        squares = np.empty(X.shape[0])
        for rows in row_blocks(*X.shape):
            squares[rows] = row_squares(X[rows] - mean[rows, None])
    constant = np.asarray(largest).reshape(-1) == np.asarray(smallest).reshape(-1)
    return mean, np.where(constant, 0.0, np.sqrt(squares))


def all_ones(weights: np.ndarray | None) -> bool:
    """Whether all rows weigh one; None stands for ones."""
    return weights is None or bool(np.all(weights == 1.0))


def divide_rows(X: Matrix, divisor: np.ndarray) -> Matrix:
    """A new matrix whose row i is row i of X divided by ``divisor[i]``; sparse stays sparse, the dtype is kept."""
    if sparse.issparse(X):
        out = X.copy()
        out.data = (X.data / np.repeat(divisor, np.diff(X.indptr))).astype(X.dtype, copy=False)
        return out
    return np.divide(X, divisor[:, None], out=np.empty_like(X), casting="same_kind")


def largest_entry(X: Matrix) -> float:
    """The largest absolute value."""
    values = X.data[: X.indptr[-1]] if sparse.issparse(X) else X
    return max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))


def entry_bounds(X: Matrix) -> tuple[float, float]:
    """Bounds of the largest absolute value by one pass: the root mean square and the root of the sum of squares. (0,
    inf) where these squares under- or overflow, and for entries that are not floats or not finite. Entries of sparse X:
    the stored ones."""
    values = X.data[: X.indptr[-1]] if sparse.issparse(X) else X.T if X.flags.f_contiguous else X
    parts = (values[rows].ravel(order="K") for rows in row_blocks(len(values), values.size // max(1, len(values))))
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        squares = sum(float(part @ part) for part in parts)
    limits = np.finfo(X.dtype if X.dtype.kind == "f" else np.float64)
    if not limits.tiny * values.size < squares < limits.max or X.dtype.kind != "f":
        return 0.0, np.inf
    return float(np.sqrt(squares / values.size)), float(np.sqrt(squares))


def ordinary(X: Matrix) -> bool:
    """Whether one pass shows that the largest entry lies between 2^-200 and 2^199."""
    low, high = entry_bounds(X)
    return 2.0**-EXTREME <= low and high <= 2.0 ** (EXTREME - 1)


def unit_of(X: Matrix) -> float:
    """A power of two over which rows of extreme size are taken, so that products of their squares are ordinary numbers:
    the largest entry is then about 2^100 or 2^-100. 1 for entries between 2^-200 and 2^200."""
    if X.dtype == np.float32:  # its squares are ordinary numbers of float64
        return 1.0
    if ordinary(X):
        return 1.0
    exponent = int(np.frexp(largest_entry(X))[1])
    return 1.0 if abs(exponent) <= EXTREME else float(2.0 ** (exponent - np.sign(exponent) * EXTREME // 2))


def over(X: Matrix, unit: float) -> Matrix:
    """X / unit for a power of two; X itself for 1."""
    return X if unit == 1.0 else X * (1.0 / unit)


def dense_side() -> int:
    """The side of the largest square float64 array that is within MAX_DENSE_BYTES."""
    return math.isqrt(MAX_DENSE_BYTES // 8)


def guard_dense(
    shape: tuple[int, ...],
    what: str,
    max_dense_bytes: int = MAX_DENSE_BYTES,
    itemsize: int = 8,
    *,
    remedy: str = "Use fewer rows or features, prototypes, or a method with a sparse form.",
) -> None:
    """Raise a ValueError when an array of this shape would take more than ``max_dense_bytes``."""
    size = math.prod(map(int, shape)) * itemsize
    if size > max_dense_bytes:
        dims = " x ".join(f"{s:,}" for s in shape)
        raise ValueError(
            f"{what} would be a dense {dims} array of {size / 2**30:.1f} GiB, above max_dense_bytes = "
            f"{max_dense_bytes / 2**30:.1f} GiB. {remedy}"
        )


def solve_batch(M: np.ndarray, E: np.ndarray) -> tuple[np.ndarray, bool]:
    """M_i^-1 e_i for stacked b x K x K matrices and b x K right sides, and whether none was exactly singular."""
    try:
        return np.linalg.solve(M, E[..., None])[..., 0], True
    except np.linalg.LinAlgError:
        return np.full(E.shape, np.nan), False


def mid_ranks(X: Matrix) -> Matrix:
    """Mid-ranks of each row over its features, up to a constant per row; of sparse rows only stored entries change."""
    n, d = X.shape
    if not sparse.issparse(X):
        out = np.empty((n, d), dtype=np.float32 if d < 1 << 22 else np.float64)

        def work(part: slice) -> None:
            out[part] = rankdata(X[part], axis=1)

        in_threads(work, n, max(1, RANKED_ENTRIES // max(1, d)))
        return out
    X = sparse.csr_array(X, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    row = np.repeat(np.arange(n), np.diff(X.indptr))
    order = np.lexsort((X.data, row))
    value, owner = X.data[order], row[order]
    new = np.ones(len(value), dtype=bool)
    new[1:] = (value[1:] != value[:-1]) | (owner[1:] != owner[:-1])
    starts = np.flatnonzero(new)
    ends = np.append(starts[1:], len(value))
    middle = ((starts + ends + 1) / 2)[np.cumsum(new) - 1] - X.indptr[owner]
    negative = np.bincount(row, weights=X.data < 0, minlength=n)
    zeros = d - np.diff(X.indptr)
    middle += np.where(value > 0, zeros[owner], 0) - (negative + (zeros + 1) / 2)[owner]
    ranks = np.empty(len(value))
    ranks[order] = middle
    return sparse.csr_array((ranks, X.indices, X.indptr), shape=X.shape)


def multipliers(d: int) -> np.ndarray:
    """The fixed odd numbers of d features."""
    return np.random.default_rng(20).integers(1, 2**63, size=d, dtype=np.uint64) * np.uint64(2) + np.uint64(1)


def fingerprints(X: Any, multipliers: np.ndarray) -> np.ndarray:
    """Sum over columns of a scrambled bit pattern times a fixed odd number, modulo 2^64; zero entries add nothing. X:
    (n, d) array or CSR without repeated entries. Equal rows have equal fingerprints; rows of equal fingerprints are
    equal except for a chance of 2^-64 a pair."""
    if sparse.issparse(X):
        terms = _scrambled(X.data) * multipliers[X.indices]
        sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(terms, dtype=np.uint64)])
        return sums[X.indptr[1:]] - sums[X.indptr[:-1]]
    out = np.empty(X.shape[0], dtype=np.uint64)

    def work(part: slice) -> None:
        out[part] = _scrambled(X[part]) @ multipliers

    chunk = max(1, (1 << 17) // max(X.shape[1], 1))
    in_threads(work, X.shape[0], chunk, chunk)
    return out


def equal_rows(X: Any, beside: Any = None) -> tuple[np.ndarray, np.ndarray] | None:
    """The first row of each kind of equal rows, in order, and the number of its kind for each row; None where all rows
    differ, which a few columns show in most cases. ``beside``: a CSR matrix of further entries by which rows differ."""
    some = _rows_of_equal_entries(X)
    if len(some) == 0:
        return None
    d, of_beside = X.shape[1], 0 if beside is None else beside.shape[1]
    odd = multipliers(d + of_beside)
    prints = fingerprints(X[some], odd[:d])
    if beside is not None:
        prints = prints + fingerprints(beside[some], odd[d:])
    _, first, kind = np.unique(prints, return_index=True, return_inverse=True)
    if len(first) == len(some):
        return None
    leader = np.arange(X.shape[0])
    leader[some] = some[first[np.ravel(kind)]]
    firsts = np.flatnonzero(leader == np.arange(X.shape[0]))
    return firsts, np.searchsorted(firsts, leader)


def _rows_of_equal_entries(X: Any) -> np.ndarray:
    """Rows that may equal another one: their entries in a few columns do, and their product with a vector does up to
    rounding. All rows of sparse X."""
    n, d = X.shape
    if sparse.issparse(X):
        return np.arange(n)
    factors, key = np.random.default_rng(21).uniform(1.0, 2.0, d), np.zeros(n)
    for j in np.unique(np.linspace(0, d - 1, PROBED_COLUMNS + 2).astype(np.intp)[1:-1]):
        key += factors[j] * X[:, j]
    rows = _close(key, 0.0)
    if len(rows) and X.dtype == np.float64:
        key = matmul(X if 2 * len(rows) > n else X[rows], factors)
        key = key[rows] if 2 * len(rows) > n else key
        rows = rows[_close(key, CLOSE * float(np.abs(key).max()))]
    return rows


def _close(key: np.ndarray, width: float) -> np.ndarray:
    """The places of numbers that differ from another one by at most ``width``."""
    ordered = np.sort(key)
    if not np.any(ordered[1:] - ordered[:-1] <= width):
        return np.empty(0, dtype=np.intp)
    order, chosen = np.argsort(key), np.zeros(len(key), dtype=bool)
    same = np.flatnonzero(np.diff(key[order]) <= width)
    chosen[order[same]] = chosen[order[same + 1]] = True
    return np.flatnonzero(chosen)


def _scrambled(values: np.ndarray) -> np.ndarray:
    """The bit patterns of float64 values (-0 as 0), mixed so that their sum is not linear in them."""
    bits = np.add(values, 0.0, dtype=np.float64, order="C").view(np.uint64)
    bits ^= bits >> np.uint64(29)
    bits *= np.uint64(0xBF58476D1CE4E5B9)
    bits ^= bits >> np.uint64(32)
    return bits


def short_indices(A: Compressed) -> Compressed:
    """The matrix with 32-bit indices where they reach, as SuperLU and older releases' shortest paths need; one that has
    them already as it is."""
    if A.indices.dtype == np.int32 or max(A.nnz, *A.shape) >= 2**31:
        return A
    return type(A)((A.data, A.indices.astype(np.int32), A.indptr.astype(np.int32)), shape=A.shape)


def near_order(M: sparse.csr_array) -> np.ndarray:
    """The reverse Cuthill-McKee order of the rows of a symmetric sparse matrix. [cuthill1969bandwidth] In this order
    most links of a row lead to rows near it: a product with a graph of 500,000 rows in arbitrary order takes a third of
    the time. The rows of a graph component are consecutive. The given order is returned if the matrix has few rows, if
    ordering would take longer than it saves (rows with very many links), and from 2^31 links on."""
    links = np.diff(M.indptr).astype(np.float64)
    if M.shape[0] < ORDERED_FROM or links @ links > MOST_LINKS * M.nnz or M.nnz >= 2**31:
        return np.arange(M.shape[0])
    return np.asarray(reverse_cuthill_mckee(sparse.csr_matrix(short_indices(M)), symmetric_mode=True))


def permuted(M: sparse.csr_array, order: np.ndarray) -> sparse.csr_array:
    """M[order][:, order], its columns ascending; M itself where nothing changes places."""
    if np.array_equal(order, np.arange(len(order))):
        return M
    moved = sparse.csr_array(M[order][:, order])
    moved.sort_indices()
    return moved


def restored(Z: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Rows that were found in an order, each in its own place."""
    out = np.empty_like(Z)
    out[order] = Z
    return out


def factor_fits(entries: float) -> bool:
    """Whether a factor with this number of entries in one half of it fits in memory."""
    return ENTRY_BYTES * entries <= 4 * MAX_DENSE_BYTES


def fill(M: sparse.csr_array, null: sparse.csr_array) -> tuple[float, float, int]:
    """Estimates from breadth-first levels: multiplications for a factor of M, its entries, and the number of levels.
    One search from the first row of each component; a factor in the order of the levels is made of blocks as wide as
    these are."""
    columns = null.tocsc()
    roots = columns.indices[columns.indptr[:-1]]
    label = np.zeros(M.shape[0], dtype=np.int64)
    label[columns.indices] = np.repeat(np.arange(null.shape[1]), np.diff(columns.indptr))
    pattern = short_indices(sparse.csr_array((np.ones(M.nnz), M.indices, M.indptr), shape=M.shape))
    distance = dijkstra(pattern, unweighted=True, indices=roots, min_only=True)
    level = np.where(np.isfinite(distance), distance, 0.0).astype(np.int64)
    levels = int(level.max(initial=0)) + 1
    widths = np.bincount(label * levels + level).astype(np.float64)
    return float(np.sum(widths**3)), float(1.5 * np.sum(widths**2)), levels


def estimated_fill(A: sparse.csr_array) -> tuple[float, float]:
    """Multiplications for a factor of A, its pattern taken as symmetric, and the entries of one half of the factor."""
    n = A.shape[0]
    count, label = connected_components(A, directed=False)
    work, entries, _ = fill(A, sparse.csr_array((np.ones(n), (np.arange(n), label)), shape=(n, count)))
    return work, entries
