"""Regressed: rows placed by their labels, new rows by the ridge regression of these places on the features."""

from __future__ import annotations

from typing import Any

import numpy as np

from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.operators.structured import Centering, LowRank
from proxembed.algebra.pencil.eigen import Solution, choose_ridge
from proxembed.algebra.pencil.linear import ridge_solve
from proxembed.algebra.pencil.problem import Aim, Problem
from proxembed.algebra.template import Template
from proxembed.rows import Rows

from ..direct import DirectEmbedder
from ..explain import label_loadings
from ..params import param


class Regressed(DirectEmbedder, abstract=True):
    """A method that places labelled rows, and new ones by the ridge regression of Z on X. [yu2005mlsi]"""

    columns = ("intercept_",)
    ridge: float | str = param(
        default="auto",
        low=0,
        choices=("auto",),
        search="ridge",
        doc="Ridge of the regression that embeds new rows; auto: least leave-one-out error.",
    )
    ridge_scale: str = param(
        default="trace", choices=("trace", "absolute"), doc="Unit of the ridge: tr(Xc'Xc) / min(n, d), or 1."
    )

    def projects(self) -> bool:
        return True

    def learn(self, rows: Rows, found: Solution) -> None:
        """The regression of the places on the features."""
        Z = self.embedding_
        regression = Template(LowRank(rows.labels.Y), Centering(), b=0, offset=rows.ones, target=Z)
        aim = Aim(ridge=self.ridge, ridge_scale=self.ridge_scale)
        problem = Problem(regression, rows.X, raw_gram=found.gram_of(rows.X), aim=aim, factors=[Z])
        ridge = choose_ridge(problem, self.ridge, self.ridge_scale)
        gram = problem.gram if problem.plan.decomposes else None
        W, self.intercept_ = ridge_solve(problem.rows, Z, ridge, gram=gram)
        self.ridge_, self.components_ = problem.of_rows(ridge), np.ascontiguousarray(W.T / problem.unit)
        self.label_loadings_ = label_loadings(problem.rows, rows.label_matrix, self.components_)

    def extend(self, X: Any) -> np.ndarray:
        return CentredMatrix(X).dot(self.components_.T) + self.intercept_
