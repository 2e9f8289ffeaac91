"""Permutation tests of single components of OPLS (redundancy analysis), CCA and PLS, each given the earlier ones and
covariates."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array

from proxembed.algebra.pencil.axes import (
    ROUNDING,
    Axes,
    CanonicalAxes,
    CovarianceAxes,
    Partialled,
    RedundancyAxes,
    covariate_basis,
)
from proxembed.methods.dependence import CCA, OPLS, PLS
from proxembed.splits.shuffles import LabelShuffle
from proxembed.splits.splits import Split
from proxembed.tables.frames import FrameColumn, frame_of, is_frame, named_columns
from proxembed.targets.outputs import Outputs
from proxembed.targets.targets import Targets

TIED = 1e-10  # statistics that differ by a smaller share are equal


def component_tests(
    method: Any,
    X: Any,
    targets: Targets,
    k: int,
    *,
    covariates: Any = None,
    groups: Any = None,
    times: Any = None,
    n_permutations: int = 999,
    seed: int = 0,
) -> tuple[dict[str, Any], ...]:
    """Test the first k components of OPLS, CCA or PLS in order, each given the earlier ones and covariates.

    With the covariates and a constant partialled out of X and y (m dimensions), r the rank of X and
    ||y||^2 the squares of y that are then left, the pseudo-F of component a is

    - OPLS: lambda_a / (RSS / (n - m - r)), lambda_a the a-th eigenvalue of Y'HY, H = X (X'X)^-1 X', RSS = ||y||^2 - tr
      Y'HY: the forward test of redundancy analysis, as ``anova.cca(by = "axis")`` of vegan has it [legendre2011axes];
    - CCA: lambda_a / ((1 - lambda_a) / (n - m - r)), lambda_a the a-th squared canonical correlation; the earlier
      canonical variates are taken off y too [winkler2020cca];
    - PLS: e_a / (RSS_a / (n - m - a)), e_a = s_a^2 / t_a't_a what the scores t_a of largest covariance s_a with y
      explain, RSS_a = ||y||^2 - e_1 - ... - e_a. Earlier scores are partialled out of X, as
      ``PLS(deflation="nipals")`` does it; the first component is the same under every deflation.

    A ridge that is a number holds in the test, with H = X (X'X + ridge I)^-1 X' and r its trace; with
    ``ridge="auto"``, which reads y, the test has none. The residuals of y on the covariates and the earlier components
    are permuted and added to the fitted values, of which partialling out leaves the residuals alone
    [freedman1983nonstochastic]; the first eigenvalue of what these give on the rest of X makes the statistic.

    Parameters
    ----------
    method : OPLS, CCA or PLS, or pipeline that ends with one
        Earlier steps are fitted without y.
    X : array or sparse matrix of shape (n, d)
        Made dense.
    targets : Targets of n rows
        Numbers are scaled as ``scale_targets`` of the method says; unknown cells are at the mean of their column, and
        rows without a known cell are left out.
    k : int
        Number of components.
    covariates : array of shape (n,) or (n, p), or table of n rows, optional
        Columns of numbers are partialled out; of other columns (texts, truth values, categories) each combination of
        levels is partialled out, and rows are permuted inside it.
    groups, times : array of shape (n,), optional
        Whole groups are permuted, or y is shifted along time, as in ``diagnose``.
    n_permutations : int, default=999
    seed : int, default=0

    Returns
    -------
    tuple of dict
        Of each component that X and y have: ``component`` (from 1), ``statistic`` (pseudo-F), ``p`` = (1 + permutations
        that reach it) / (1 + permutations), ``share`` of the variance of y after the covariates that the component
        explains, and ``n_permutations``. The p are not corrected: a component counts if it and all earlier ones do.

    Raises
    ------
    ValueError
        Another method, covariates that are missing in a row or leave nothing of X or y, fewer rows than the test needs,
        a group with several levels of a covariate, or rows that cannot be permuted.
    """
    known = np.flatnonzero(targets.rows_any)
    last = method[-1] if isinstance(method, Pipeline) else method
    rows, targets = _features(method, X)[known], targets.take(known)
    if isinstance(targets, Outputs) and hasattr(last, "target_scaling"):
        targets = targets.rescaled(last.target_scaling())
    numbers, level = (each[known] for each in _read_covariates(covariates, X.shape[0]))
    level = np.unique(level, return_inverse=True)[1]
    groups, times = (None if each is None else np.asarray(each)[known] for each in (groups, times))
    axes = _axes_of(last, rows, targets.with_means().Y.toarray(), numbers, level, k)
    shuffle = _shuffle(targets, level, groups, times)
    observed, hits = axes.statistics(), np.zeros(axes.count)
    random = np.random.default_rng([seed, 1])
    for _ in range(n_permutations):
        hits += axes.statistics(shuffle.order(random)) >= observed * (1 - TIED)
    return tuple(
        {
            "component": a + 1,
            "statistic": float(observed[a]),
            "p": float((1 + hits[a]) / (1 + n_permutations)),
            "share": float(axes.explained[a] / axes.total),
            "n_permutations": n_permutations,
        }
        for a in range(axes.count)
    )


def _axes_of(last: Any, X: np.ndarray, Y: np.ndarray, numbers: np.ndarray, level: np.ndarray, k: int) -> Axes:
    """The components of a method after the covariates."""
    Q = covariate_basis(numbers, level)
    x, y = Partialled.of(X, Q), Partialled.of(Y, Q)
    if not len(x.d) or not len(y.d):
        what = "y" if len(x.d) else "X"
        raise ValueError(f"covariates leave nothing of {what} to test; leave out those that determine it.")
    if isinstance(last, PLS):
        if len(Y) - Q.shape[1] >= 2:
            return CovarianceAxes(Q, x, y, k)
    else:
        U = x.basis(last.ridge, last.ridge_scale)
        left = len(Y) - Q.shape[1] - float(np.sum(U**2))
        if isinstance(last, CCA):
            V = y.basis(last.ridge_y, last.ridge_scale)
            if left - float(np.sum(V**2)) + 1 >= 1 - ROUNDING:
                return CanonicalAxes(Q, U, V, y, k)
        elif left >= 1 - ROUNDING:
            return RedundancyAxes(Q, U, y, k)
    raise ValueError(
        f"{len(Y)} rows are too few to test components of {X.shape[1]} features after {Q.shape[1] - 1} dimensions "
        "of covariates; set ridge to a number, such as ridge=1.0, or use PLS."
    )


def _features(method: Any, X: Any) -> np.ndarray:
    """The rows as the last step of a method gets them, dense."""
    last = method[-1] if isinstance(method, Pipeline) else method
    if not isinstance(last, OPLS | CCA | PLS):
        raise ValueError(
            f"per_component tests OPLS, CCA and PLS (alone, or last in a pipeline), not {type(last).__name__}; leave "
            "it out, or diagnose one of these."
        )
    if isinstance(method, Pipeline) and len(method) > 1:
        X = clone(method[:-1]).fit_transform(X)
    return check_array(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


@dataclass(frozen=True)
class _Covariate:
    """One column: its numbers (n,), or the codes of its levels."""

    numbers: np.ndarray | None
    codes: np.ndarray | None


def _read_covariates(covariates: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The columns of numbers (n, p), and for each row the number of its combination of levels of the others, (n,)."""
    if covariates is None:
        return np.zeros((n, 0)), np.zeros(n, dtype=np.intp)
    columns = {name: _read_column(name, cells, n) for name, cells in _columns(covariates).items()}
    numbers = [each.numbers for each in columns.values() if each.numbers is not None]
    codes = [each.codes for each in columns.values() if each.codes is not None]
    level = np.unique(np.column_stack(codes), axis=0, return_inverse=True)[1].ravel() if codes else np.zeros(n, np.intp)
    return np.column_stack(numbers) if numbers else np.zeros((n, 0)), level


def _columns(covariates: Any) -> dict[str, Any]:
    """The columns of a table or an array by name, or by number."""
    covariates = frame_of(covariates)
    if hasattr(covariates, "to_frame"):
        covariates = covariates.to_frame()
    if is_frame(covariates) or isinstance(covariates, Mapping):
        return named_columns(covariates, "covariates")
    array = np.asarray(covariates.toarray() if sparse.issparse(covariates) else covariates)
    if array.ndim not in (1, 2):
        raise ValueError(f"covariates has shape {array.shape}; give one row per row of X and one column per covariate.")
    array = array[:, None] if array.ndim == 1 else array
    return {str(j): array[:, j] for j in range(array.shape[1])}


def _read_column(name: str, cells: Any, n: int) -> _Covariate:
    column = FrameColumn(cells)
    classes = str(getattr(cells, "dtype", "")) in ("bool", "category", "Boolean", "boolean")
    if column.place == "number" and not classes:
        values = np.asarray(column.numbers, dtype=np.float64)
        empty = ~np.isfinite(values)
        found = _Covariate(values, None)
    else:
        values = np.asarray(column.coded[0])
        empty = values < 0
        found = _Covariate(None, values)
    if len(values) != n:
        raise ValueError(f"covariates has {len(values)} rows in column {name}, X has {n}; give one per row of X.")
    if empty.any():
        raise ValueError(
            f"covariates column {name} is empty or not finite in row {int(np.argmax(empty))}; fill it in, or leave the "
            "row out of X, y and covariates."
        )
    return found


def _shuffle(targets: Targets, level: np.ndarray, groups: Any, times: Any) -> LabelShuffle:
    """The permutations of rows: inside each level, of whole groups, or along time."""
    strata = [np.flatnonzero(level == each) for each in range(int(level.max()) + 1)]
    if times is not None:
        strata = strata[:1]
    elif groups is not None:
        pairs = np.unique(np.column_stack([np.unique(groups, return_inverse=True)[1], level]), axis=0)
        if len(pairs) > len(np.unique(groups)):
            raise ValueError(
                "covariates vary in level inside a group, so that whole groups cannot be permuted inside levels; give "
                "the levels as columns of 0 and 1, which are only partialled out."
            )
    splits = [Split(str(number), np.zeros(0, dtype=np.intp), rows) for number, rows in enumerate(strata)]
    shuffle = LabelShuffle.of(targets, splits, groups=groups, times=times)
    if all(len(blocks) < 2 for blocks in shuffle.strata):
        raise ValueError("no two rows (or groups) have the same levels of the covariates; give coarser levels.")
    return shuffle
