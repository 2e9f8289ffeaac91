"""The checks of X that all estimators share, and the frame of a fit: X becomes an array or CSR of floats, what no
method can compute with is refused, and a fit that fails leaves an unfitted estimator."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_classifier
from sklearn.utils.validation import assert_all_finite, validate_data

from proxembed.algebra.arrays.centred import CentredMatrix, rounding_of_sums
from proxembed.algebra.arrays.matrix import entry_bounds, float_matrix, largest_entry
from proxembed.blocks import RowBlocks, is_dask
from proxembed.execute.executor import own_configuration
from proxembed.tables.frames import refuse_equal_names, rows_of
from proxembed.targets.outputs import OutputReading
from proxembed.targets.targets import Targets
from proxembed.targets.values import is_moment

from .callbacks import fit_task

FILL = (
    ", and no method has a rule for unknown features. Fill them in, such as by sklearn.impute.SimpleImputer on "
    "X.filled(numpy.nan)."
)
FOR_NUMBERS = {"LFDA": "MFA(target_neighbors=10), "}  # what serves numbers as well as slices do
LOST = 1e-4  # of the scatter of sparse rows, that rounding may make
NO_FLOATS = (
    "X holds entries that are not floating-point numbers ({}). Pass numbers: dates as days since one of them, integers "
    "that fit float64."
)
LISTS = (
    "X holds lists in its cells, or rows of different lengths ({}). Pass one number per cell: a 2-D array, or a "
    "DataFrame with a column for each entry of the lists."
)
TEXTS = (
    "X holds texts ({}). Put a TableEncoder in front, which makes numbers of the columns of a DataFrame: "
    "make_pipeline(TableEncoder(), method)."
)
UNKNOWN = "Input X contains NaN"  # the words of scikit-learn
UNKNOWN_REMEDY = (
    "has no rule for unknown features. Put a TableEncoder in front, which fills and marks them: "
    "make_pipeline(TableEncoder(), {}(...))."
)
UNKNOWN_LATER = "was fitted on rows without unknown features. Fit it on rows that have some, or fill them in."


@contextmanager
def learning(estimator: Any, failure: type[BaseException] = BaseException) -> Iterator[None]:
    """The time of a fit: an earlier one is forgotten, and one that fails leaves an unfitted estimator. The
    configuration of scikit-learn is that of this package. ``failure``: what counts as one; under Exception a search
    keeps what it had found by an interruption."""
    forget(estimator)
    try:
        with own_configuration(), fit_task(estimator):
            yield
    except failure:
        forget(estimator)
        raise


def forget(estimator: Any, kept: tuple[str, ...] = ()) -> None:
    """Delete the fitted attributes, except for those ``kept``."""
    for name in [name for name in vars(estimator) if name.endswith("_") and name not in kept]:
        delattr(estimator, name)


def checked_features(estimator: Any, X: Any, *, reset: bool, block: bool = False, product: bool = False) -> Any:
    """X as a float32 or float64 array, or a canonical CSR array; the caller's object is never changed. With ``reset``
    (fit) the names and the number of features are remembered, else they are compared. ``block``: X is a part of fit's
    rows, of which one row is enough. ``product``: X will be multiplied, and the caller sees by the product where
    entries are not finite; these pass here, and entries of sparse X may repeat. Raises ValueError for what is not a
    matrix of finite numbers, malformed sparse matrices, masked entries, columns of one name, and in fit for numbers
    that cannot be squared."""
    if isinstance(X, RowBlocks):
        raise ValueError(
            f"{type(estimator).__name__} does not take blocks of rows here. Pass X as an array: a sample of "
            "them, as RowBlocks.sample gives, or RowBlocks.stacked() where all rows fit in memory."
        )
    if is_dask(X):
        raise ValueError(
            f"{type(estimator).__name__} does not take dask collections here. Pass X.compute() where all rows fit in "
            "memory, else a sample of them."
        )
    X = numeric_rows(X)
    with conversion_errors(type(estimator).__name__), np.errstate(over="ignore", invalid="ignore"):
        X = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=(np.float64, np.float32),
            ensure_min_samples=2 if reset and not block else 1,
            ensure_all_finite=not (reset or block or product),  # in fit the sum of squares shows it below
        )
    X = float_matrix(X, canonical=not product)
    if reset or block:
        refuse_extreme(X, owner=type(estimator).__name__)
    if reset and not block:
        refuse_far(X)
    return X


def numeric_rows(X: Any) -> Any:
    """X as scikit-learn converts it; a ValueError for rows that it would take for other numbers than they are."""
    X = rows_of(X)
    refuse_malformed(X)
    refuse_masked(X)
    if hasattr(X, "columns"):
        refuse_equal_names("X", X.columns)
        if any(getattr(dtype, "fill_value", 0) != 0 for dtype in X.dtypes):  # sparse columns about another value
            X = X.astype({name: dtype.subtype for name, dtype in X.dtypes.items() if hasattr(dtype, "fill_value")})
    refuse_moments(X)
    return X


@contextmanager
def conversion_errors(owner: str) -> Iterator[None]:
    """The errors of NumPy and scikit-learn for rows that are no numbers, with the remedy; of their types."""
    try:
        yield
    except (np.exceptions.DTypePromotionError, OverflowError) as error:
        raise ValueError(NO_FLOATS.format(error)) from error
    except TypeError as error:
        if "must be a string or a real number" in str(error):
            raise TypeError(NO_FLOATS.format(error)) from error
        raise
    except ValueError as error:
        if "could not convert string to float" in str(error):
            raise ValueError(TEXTS.format(error)) from error
        if "setting an array element with a sequence" in str(error):
            raise ValueError(LISTS.format(error)) from error
        _refuse_unknown(error, owner)
        raise


def refuse_not_finite(X: Any, owner: str) -> None:
    """A ValueError, in scikit-learn's words, for entries that are not finite; ``owner``: the name of an estimator."""
    with np.errstate(all="ignore"):  # scikit-learn adds the entries up
        try:
            assert_all_finite(X, estimator_name=owner, input_name="X")
        except ValueError as error:
            _refuse_unknown(error, owner)
            raise


def _refuse_unknown(error: ValueError, owner: str) -> None:
    """Raise the error of an estimator for NaN in X, if this is the error of scikit-learn for it."""
    if UNKNOWN in str(error):
        remedy = UNKNOWN_LATER if owner == "TableEncoder" else UNKNOWN_REMEDY.format(owner)
        raise ValueError(f"{UNKNOWN}.\n{owner} {remedy}") from error


def refuse_malformed(X: Any) -> None:
    """A ValueError for a sparse matrix whose indices lie outside it: compiled code would follow them."""
    if not sp.issparse(X) or X.ndim != 2 or X.format not in ("csr", "csc", "bsr", "coo"):
        return
    fault = _coordinate_fault(X) if X.format == "coo" else _pointer_fault(X)
    if fault:
        raise ValueError(
            f"X is a malformed {X.format} matrix: {fault}. Build it again from its entries, such as by "
            "scipy.sparse.coo_array((data, (rows, columns)), shape=(n, d))."
        )


def refuse_masked(X: Any, name: str = "X", remedy: str = FILL) -> None:
    """A ValueError for masked entries, which would be taken as they lie under the mask."""
    parts = X if isinstance(X, list | tuple) else [getattr(X, "data", None) if sp.issparse(X) else X]
    counts: list[Any] = [np.ma.count_masked(part) for part in parts if isinstance(part, np.ma.MaskedArray)]
    masked = int(sum(counts))
    if masked:
        raise ValueError(f"{name} has {masked} masked entries{remedy}")


def refuse_far(X: Any) -> None:
    """A ValueError for sparse X so far from the origin that the sums by which it is centred cancel. A column that holds
    a zero varies as much as it is far from the origin; one without zeros may not."""
    if not sp.issparse(X) or not np.any(np.bincount(X.indices, minlength=X.shape[1]) == X.shape[0]):
        return
    rows = CentredMatrix.centred(X, np.ones(X.shape[0]))
    mean: Any = rows.centre
    if not rows.constant:
        refuse_lost(rounding_of_sums(mean, X.shape[0]), rows.squared_norm())


def refuse_lost(noise: float, scatter: float) -> None:
    """A ValueError where rounding may make more than 1e-4 of the scatter of sparse rows."""
    if noise > LOST * scatter:
        raise ValueError(
            "X is sparse, and its rows lie so close together, beside their distance from the origin, that centring "
            "without a dense copy leaves little but rounding. Pass X.toarray()."
        )


def refuse_moments(X: Any) -> None:
    """A ValueError for dates and durations, of which NumPy would make their number of nanoseconds or days."""
    for part in _parts_that_may_be_moments(X):
        entries = np.asarray(part)
        dtypes = (getattr(part, "dtype", entries.dtype), entries.dtype)
        moment = next((dtype for dtype in dtypes if getattr(dtype, "kind", "") in ("m", "M")), None)
        if moment is None and entries.dtype.kind == "O":
            moment = next((repr(entry) for entry in entries.flat if is_moment(type(entry))), None)
        if moment is not None:
            raise ValueError(NO_FLOATS.format(moment))


def _parts_that_may_be_moments(X: Any) -> list[Any]:
    """X as an array, or the columns of a table: those of pandas that are not known to be numbers."""
    if hasattr(X, "dtypes") and hasattr(X, "iloc"):
        columns = range(X.shape[1]) if X.ndim == 2 else ()
        return [X.iloc[:, j] for j in columns if X.dtypes.iloc[j].kind in "mMO"]
    if hasattr(X, "columns"):
        return [X[name] for name in X.columns]
    if not isinstance(X, np.ndarray | list | tuple):
        return []
    try:
        return [np.asarray(X)]
    except (ValueError, OverflowError):  # rows of different lengths, and the like, which scikit-learn's check names
        return []


def _coordinate_fault(X: Any) -> str:
    return _index_fault(X.row, X.shape[0], "row") or _index_fault(X.col, X.shape[1], "column")


def _pointer_fault(X: Any) -> str:
    """What is wrong with the indices and pointers of a CSR, CSC or BSR matrix; "" for nothing."""
    height, width = getattr(X, "blocksize", (1, 1))
    rows, columns = X.shape[0] // height, X.shape[1] // width
    kind, outer, inner = ("row", columns, rows) if X.format == "csc" else ("column", rows, columns)
    pointers, stored = X.indptr, len(X.indices)
    if len(pointers) != outer + 1 or pointers[0] != 0 or pointers[-1] > min(stored, len(X.data)):
        return f"indptr must run from 0 to the number of entries, {stored}, in {outer + 1} steps"
    if np.any(pointers[1:] < pointers[:-1]):
        return "indptr decreases"
    return _index_fault(X.indices[: pointers[-1]], inner, kind)


def _index_fault(index: np.ndarray, size: int, kind: str) -> str:
    unsigned = index.view(f"u{index.itemsize}") if index.dtype.kind == "i" else index  # negative ones become large
    if len(index) == 0 or unsigned.max() < size:
        return ""
    wrong = index.min() if index.min() < 0 else index.max()
    return f"{kind} {wrong} is not among its {size} {kind}s, numbered from 0"


def all_finite(values: np.ndarray) -> bool:
    """Whether all entries of an array are finite, as those of a finite sum are."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum()) or np.isfinite(values).all())


def index_of(X: Any) -> Any:
    """The index of a DataFrame, by which predictions are returned; else None."""
    return getattr(X, "index", None) if hasattr(X, "iloc") else None


def in_range(values: Any, X: Any, dtype: Any = None, *, left_out: bool = False, owner: str | None = None) -> Any:
    """Results for rows X in X's float type, or in ``dtype``; a ValueError where they are beyond its range.
    ``left_out``: a row of NaN alone is one that a method does not place. ``owner``: the name of an estimator that has
    not seen whether the entries of X are finite."""
    with np.errstate(over="ignore"):
        out = values.astype(X.dtype if dtype is None else dtype, copy=False)
    if all_finite(out.data if sp.issparse(out) else out):
        return out
    if owner is not None:
        refuse_not_finite(X, owner)
    table = out.toarray() if sp.issparse(out) else out.reshape(len(out), -1)
    wrong = ~np.isfinite(table).all(axis=1)
    if left_out:
        wrong &= ~np.isnan(table).all(axis=1)
    if wrong.any():
        raise ValueError(
            f"The results for {int(wrong.sum())} row(s) of X are beyond the range of {out.dtype}; the largest value of "
            f"X is {largest_entry(X):.3g} in size. Pass rows of the size of those given to fit, or float64 ones."
        )
    return out


def refuse_extreme(X: Any, name: str = "X", remedy: str | None = None, owner: str | None = None) -> None:
    """A ValueError where the largest entry of X cannot be squared, or n d such squares not be summed, in X's type; with
    the factor that brings it to about 1, or another ``remedy`` where X is not the caller's. With an ``owner``, the name
    of an estimator, entries that are not finite are refused first, in scikit-learn's words."""
    limits, (n, d) = np.finfo(X.dtype), X.shape
    low, high = entry_bounds(X)
    if 2 * np.sqrt(float(limits.tiny)) < low and 2 * high < np.sqrt(float(limits.max) / (n * d)):
        return
    if owner is not None:
        refuse_not_finite(X, owner)
    largest = largest_entry(X)
    if largest > np.sqrt(float(limits.max) / (n * d)):
        fault = f"the sum of {n:,} x {d:,} such squares overflows"
    elif 0.0 < largest < np.sqrt(float(limits.tiny)):
        fault = "its square underflows"
    else:
        return
    most = np.floor(np.log10(float(limits.max)))
    factor = 10.0 ** -np.clip(np.floor(np.log10(largest)), -most, most)
    raise ValueError(
        f"The largest value of {name} is {largest:.3g} in size, and {fault} {X.dtype}. "
        f"{remedy or f'Pass {name} * {factor:.0e}.'}"
    )


def refuse_numbers_for(estimator: Any, targets: Targets) -> None:
    """Raise a ValueError for numbers or columns of several kinds, which an estimator of labels does not take; it names
    what does, in a classifier after scikit-learn's words."""
    name, single = type(estimator).__name__, estimator.traits.labels == "single"
    what = "classes" if single else "labels or counts" if estimator.traits.takes_counts else "labels"
    if targets.numbers and all(output.kind != "real" for output in targets.reading.outputs(None)):
        raise ValueError(
            f"{name} takes {what}, and ordered categories in y are read as ranks: pass target_type='classes', or use "
            "OPLS or CCA."
        )
    held = f"{targets.numbers} numbers" if targets.numbers > 1 else "numbers"
    if not targets.numbers:
        held = f"{len(targets.reading.layout.columns)} columns of classes or memberships"
    inner = _innermost_name(estimator)
    ways = f"{FOR_NUMBERS.get(inner, '')}Sliced({inner}()), OPLS or CCA" if single else "OPLS, CCA or Sliced(FDA())"
    unknown = "Unknown label type: continuous. " if targets.numbers and is_classifier(estimator) else ""
    raise ValueError(f"{unknown}{name} takes {what}, y holds {held}: use {ways}.")


def _innermost_name(estimator: Any) -> str:
    """The class name of the method inside all wrappers."""
    while hasattr(estimator, "members"):
        estimator = estimator.inner(estimator.members[0])
    return type(estimator).__name__


def refuse_more_than_outputs(name: str, k: int, bound: int, reading: Any) -> None:
    """Raise a ValueError for k components, more than ``bound``, where this is the rank of numbers in y."""
    if not isinstance(reading, OutputReading) or bound > np.count_nonzero(reading.scale):
        return
    count = len(reading.layout.columns)
    what = "one output" if count == 1 else f"{count} outputs"
    ways = {"OPLS": "extend=True, or PLS(deflation='simpls')", "PLS": "or deflation='simpls'", "PCovR": "or beta < 1"}
    way = ways.get(name, "OPLS(extend=True), or PLS(deflation='simpls')")
    raise ValueError(
        f"n_components={k} exceeds {bound}, the rank of {what} in {name}: use n_components={bound}, {way}."
    )
