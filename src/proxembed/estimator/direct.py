"""DirectEmbedder: methods that place the rows themselves (R = I), with a rule of their own for rows not seen in fit."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.utils.metaestimators import available_if

from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.arrays.matrix import guard_dense
from proxembed.algebra.pencil.direct import Placement, solve_direct
from proxembed.algebra.pencil.eigen import Solution, rescaled
from proxembed.algebra.pencil.symmetric import lead_signs
from proxembed.algebra.template import Template
from proxembed.params import constant

from .base import SpectralEmbedder
from .rows import Rows, SeenRows
from .weights import without_weights


def _has_rule(estimator: DirectEmbedder) -> bool:
    """Whether new rows can be placed; the error names what to do instead."""
    reason = estimator.no_rule()
    if reason is not None:
        raise AttributeError(reason)
    return True


def _has_projection(estimator: DirectEmbedder) -> bool:
    """Whether new rows are placed by a projection, whose weights explain() returns."""
    if not estimator.projects():
        raise AttributeError(
            f"{type(estimator).__name__} places the rows themselves: there are no feature weights to explain."
        )
    return True


def stored_like(X: Any, training: Any) -> Any:
    """New rows in the form of the rows of training, dense or CSR."""
    if sparse.issparse(training) == sparse.issparse(X):
        return X
    if sparse.issparse(training):
        return sparse.csr_array(X)
    guard_dense(X.shape, "The dense form of new rows, as those of training are")
    return X.toarray()


class DirectEmbedder(SpectralEmbedder, direct=True, abstract=True):
    """A method that embeds the rows it is fitted on: max tr Z'AZ subject to Z'BZ = I. [mu2012mesd] A method defines
    ``template(rows)`` and ``extend(X)``, and may define ``place``, ``scaled``, ``complete``, ``no_rule`` and
    ``projects`` beside the hooks of every spectral method; ``learn`` sets what ``extend`` needs. A row that was seen in
    fit keeps its embedding (the first of equal rows stands for all); others are placed by ``extend``."""

    attributes = ""
    solver: str = constant("auto")  # routes follow the structure; a parameter where a method has several
    columns: ClassVar[tuple[str, ...]] = ()  # attributes made by learn() with one column (last axis) a component

    def fit(self, X: Any, y: Any = None, *more: Any, **given: Any) -> Self:
        """Place the rows; they have no weights.

        Parameters
        ----------
        X : (n, d) array or CSR of float32 or float64
        y : labels in any form of ``LabelMatrix``
            Ignored by unsupervised methods.
        *more, **given : further arguments
            A ValueError for ``sample_weight``; anything else is refused.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            With the argument, what is allowed and the remedy; also for ``sample_weight``, as rows have no weights
            here.
        """
        return super().fit(X, y, **without_weights(self, more, given))

    def place(self, template: Template, rows: Rows, k: int | None) -> Placement:
        """Z with Z'BZ = I and its eigenvalues: the eigenproblem of the template."""
        return solve_direct(template.A, k)

    def extend(self, X: Any) -> np.ndarray:
        """The embedding of new rows (m, k)."""
        raise TypeError(f"{type(self).__name__} must define extend(X).")

    def no_rule(self) -> str | None:
        """Why there is no rule for new rows and what to use instead; None where there is one."""
        return None

    def projects(self) -> bool:
        """Whether ``extend`` is a projection with ``components_``."""
        return False

    def check_rows(self, rows: Rows) -> None:
        if rows.labels is None and CentredMatrix(rows.X).constant:
            raise ValueError(
                "X is constant: every row is the same, so that there is nothing to embed. Pass rows that vary."
            )

    def solve(self, template: Template, rows: Rows, k: int | None) -> Solution:
        found = self.place(template, rows, k)
        if found.Z.shape[1] == 0:
            raise ValueError(
                f"{type(self).__name__} finds no direction in which these rows of X differ: no eigenvalue is positive. "
                "Pass rows that vary, or link more of them."
            )
        return Solution.placed(found, template.sense)

    def store(self, found: Solution, rows: Rows) -> None:
        self._seen = SeenRows(rows.X)
        self.eigenvalues_ = found.sense * found.eigenvalues
        self.solver_ = found.solver
        Z = self.complete(self.scaled(found, rows), rows)
        placed = np.flatnonzero(np.isfinite(Z).all(axis=1))
        self.embedding_ = Z * lead_signs(Z[placed])

    def scaled(self, found: Solution, rows: Rows) -> np.ndarray:
        """The eigenvectors with their columns scaled as ``scaling`` asks for."""
        return rescaled(found.P, found.eigenvalues, self.scaling_of(rows), found.sense)

    def complete(self, Z: np.ndarray, rows: Rows) -> np.ndarray:
        """The embedding of all rows (n, k), where the eigenproblem was that of some; NaN for a row left out."""
        return Z

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit and return the embedding of X, as ``transform`` would give it. X: (n, d) array or CSR. y: labels, for
        methods that take them. Returns (n, k) in X's float type; rows that fit leaves out, because their labels are
        unknown, are placed like new ones."""
        return SpectralEmbedder.transform(self.fit(X, y, **fit_params), X)

    def embed(self, X: Any) -> np.ndarray:
        known = self._seen.find(X)
        if np.all(known >= 0):
            return self.embedding_[known]
        Z = np.empty((X.shape[0], self.n_components_))
        Z[known >= 0] = self.embedding_[known[known >= 0]]
        Z[known < 0] = self.extend(X[np.flatnonzero(known < 0)])
        return Z

    def shorten(self, short: SpectralEmbedder, k: int) -> None:
        if self.embedding_ is not None:
            short.embedding_ = self.embedding_[:, :k]
        for name in self.columns:
            setattr(short, name, getattr(self, name)[..., :k])


# Put in after the class statement: inside it, scikit-learn would wrap these for set_output and lose available_if.
# mypy knows no method that is replaced.
DirectEmbedder.transform = available_if(_has_rule)(SpectralEmbedder.transform)  # type: ignore[method-assign]
DirectEmbedder.explain = available_if(_has_projection)(SpectralEmbedder.explain)  # type: ignore[method-assign]
