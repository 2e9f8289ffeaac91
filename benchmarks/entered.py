"""A transformer from outside that enters the benchmark by its address, MODULE:NAME or MODULE:NAME(key=value)."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from benchmarks import MOST_COMPONENTS
from proxembed.targets.labels import LabelMatrix
from proxembed.targets.outputs import Outputs

SEED = 0
FORM = "write MODULE:NAME or MODULE:NAME(key=value), as in sklearn.decomposition:PCA(whiten=True)"
DEFAULT_SIZE = "n_components"


class Address(NamedTuple):
    """Where a transformer comes from: a class, or a function that returns an instance, and its arguments."""

    make: Callable[..., Any]
    arguments: dict[str, Any]

    @property
    def sized(self) -> bool:
        """Whether the benchmark chooses the number of components: the class takes it, and it is not given."""
        try:
            known = inspect.signature(self.make).parameters
        except ValueError:  # a compiled class that shows no signature
            return False
        return DEFAULT_SIZE in known and DEFAULT_SIZE not in self.arguments


def is_outside(name: str) -> bool:
    """Whether a name is the address of a transformer from outside.

    Examples
    --------
    >>> from benchmarks.entered import is_outside
    >>> is_outside("sklearn.decomposition:PCA"), is_outside("MESD(LFDA)")
    (True, False)
    """
    return ":" in name.partition("(")[0]


def address_of(entry: str) -> Address:
    """Import what an address names.

    Parameters
    ----------
    entry : str
        "module:Class" or "module:function", perhaps with keyword arguments that are literals in brackets.

    Raises
    ------
    ValueError
        The text has another form, or the module or name cannot be imported.

    Examples
    --------
    >>> from benchmarks.entered import address_of
    >>> address_of("sklearn.decomposition:PCA(whiten=True)").arguments
    {'whiten': True}
    """
    module, _, rest = entry.strip().partition(":")
    name, arguments = _call_of(entry, rest)
    try:
        make = getattr(import_module(module), name)
    except (Exception, SystemExit) as error:  # the code of others, which may raise anything
        raise ValueError(
            f"{entry} cannot be imported: {_line(error)}; name a module that Python finds, and a class or function "
            "in it."
        ) from error
    if not callable(make):
        raise ValueError(f"{entry} is neither a class nor a function; {FORM}.")
    return Address(make, arguments)


def _call_of(entry: str, text: str) -> tuple[str, dict[str, Any]]:
    """The name and the keyword arguments of "NAME" or "NAME(key=value)"."""
    try:
        tree = ast.parse(text, mode="eval").body
        if isinstance(tree, ast.Name):
            return tree.id, {}
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and not tree.args:
            return tree.func.id, {str(each.arg): ast.literal_eval(each.value) for each in tree.keywords if each.arg}
    except (SyntaxError, ValueError) as error:
        raise ValueError(
            f"{entry} cannot be read; {FORM}, each value a number, a string or another literal."
        ) from error
    raise ValueError(f"{entry} cannot be read; {FORM}.")


def made_of(entry: str, size: int | None = None) -> Any:
    """An unfitted transformer of an address, with a number of components where one is given.

    ``random_state=None`` becomes 0, so that a run repeats.

    Raises
    ------
    ValueError
        It cannot be made, or what is made has no ``fit`` and ``transform``.
    """
    make, arguments = address_of(entry)
    arguments = arguments if size is None else {**arguments, DEFAULT_SIZE: size}
    try:
        made = make(**arguments)
    except (Exception, SystemExit) as error:
        raise ValueError(f"{entry} cannot be made: {_line(error)}.") from error
    lacking = [name for name in ("fit", "transform") if not callable(getattr(made, name, None))]
    if lacking:
        raise ValueError(f"{entry} has no {lacking[0]}; the benchmark calls fit(X) or fit(X, Y), and transform(X).")
    if isinstance(made, BaseEstimator) and made.get_params().get("random_state", SEED) is None:
        made.set_params(random_state=SEED)
    return made


class Entered(BaseEstimator):
    """A transformer from outside as the benchmark fits it.

    ``fit`` hands over the rows whose labels are known and these labels as an array (n, c) of 0 and 1; a transformer
    whose ``fit`` takes no second argument gets all rows. Outputs that are numbers are an array (n, c) of these. Sparse
    rows become arrays, unless the transformer's scikit-learn tag says that it takes them as they are.

    Parameters
    ----------
    entry : str
        Its address.
    size : int, optional
        Its number of components; None: its own.
    """

    n_components = None

    def __init__(self, entry: str, size: int | None = None) -> None:
        self.entry = entry
        self.size = size

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:  # noqa: N803  # scikit-learn's name
        if self.size is None:
            return self.entry
        head, _, rest = self.entry.partition("(")
        own = rest.rpartition(")")[0]
        return f"{head}({own}{', ' if own else ''}{DEFAULT_SIZE}={self.size})"

    def __sklearn_tags__(self) -> Any:
        """A transformer that is given labels may have learned from them: scores are cut by models refitted without."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = takes_labels(made_of(self.entry, self.size))
        return tags

    def at_sizes(self, sizes: Sequence[int], limit: int) -> list[Entered]:
        """The configurations: as it is, or with at most ``limit`` of the numbers of components, the largest first."""
        if not address_of(self.entry).sized:
            return [self]
        places = np.unique(np.linspace(0, len(sizes) - 1, min(limit, len(sizes))).round().astype(int))
        return [Entered(self.entry, int(sizes[place])) for place in places[::-1]]

    def fit(self, X: Any, y: Any = None) -> Entered:
        """Fit the transformer to the rows."""
        made = made_of(self.entry, self.size)
        X = _as_taken(made, X)
        if isinstance(y, Outputs):
            made.fit(X, y.raw) if takes_labels(made) else made.fit(X)
        elif takes_labels(made):
            labels = LabelMatrix.of(y)
            known = np.flatnonzero(labels.rows_known)
            made.fit(X[known], labels.take(known).Y.toarray().astype(np.int64))
        else:
            made.fit(X)
        self.transformer_ = made
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The embedding of rows, checked: a row per row, at most 50 columns, finite numbers."""
        Z = self.transformer_.transform(_as_taken(self.transformer_, X))
        Z = np.asarray(Z.toarray() if sp.issparse(Z) else Z)
        if Z.ndim != 2 or len(Z) != X.shape[0] or not 1 <= Z.shape[1] <= MOST_COMPONENTS:
            raise ValueError(
                f"transform returned an array of shape {Z.shape} for {X.shape[0]} rows, and must return a row for each "
                f"with 1 to {MOST_COMPONENTS} columns"
            )
        if Z.dtype.kind not in "biuf" or not np.isfinite(Z).all():
            raise ValueError("transform returned NaN, infinity or values that are no numbers")
        return Z.astype(np.float64)

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """The embedding of the rows of the fit."""
        return self.fit(X, y).transform(X)


def takes_labels(transformer: Any) -> bool:
    """Whether ``fit`` takes a second argument, by position.

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> from benchmarks.entered import takes_labels
    >>> takes_labels(PCA())
    True
    """
    try:
        known = list(inspect.signature(transformer.fit).parameters.values())
    except ValueError:
        return True
    by_place = [each for each in known if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    return len(by_place) > 1 or any(each.kind is each.VAR_POSITIONAL for each in known)


def _as_taken(transformer: Any, X: Any) -> Any:
    if not sp.issparse(X):
        return X
    tags = transformer.__sklearn_tags__() if isinstance(transformer, BaseEstimator) else None
    return X if tags is not None and tags.input_tags.sparse else X.toarray()


def _line(error: Exception) -> str:
    """The message of another library, on one line."""
    return " ".join(f"{type(error).__name__}: {error}".split()).rstrip(".")
