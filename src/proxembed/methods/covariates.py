"""Principal covariates regression: between the principal components of X and reduced-rank regression."""

from dataclasses import replace

from proxembed.algebra.operators.structured import Centering, LowRank
from proxembed.algebra.pencil.covariates import principal_covariates
from proxembed.algebra.pencil.eigen import Solution
from proxembed.algebra.template import Template
from proxembed.estimator.base import PencilEmbedder
from proxembed.estimator.predicts import PredictsOutputs
from proxembed.estimator.rows import Rows
from proxembed.params import param


class PCovR(PredictsOutputs, PencilEmbedder, labels="multi", takes_shares=True, takes_numbers=True, from_sums="rows"):
    """Principal covariates regression: A = (1 - beta) Xc Xc'/||Xc||^2 + beta HH'/||Yc||^2, H the ridge regression of Yc
    on Xc, B = I - 11'/n.  [dejong1992pcovr]

    Components that explain the features and predict y, both in shares of their sums of squares: PCA at beta=0, OPLS at
    beta=1. Below 1 there can be more components than columns of y, up to the rank of X. Scores have unit length and are
    orthogonal. The ridge is that of the regression; the scores have none. Use it where a few components have to show
    the rows as well as serve a prediction.

    Attributes
    ----------
    eigenvalues_ : (k,) array, the share of both that each component explains: (1 - beta) times that of X plus beta
        times that of y; all of them sum to at most 1.
    ridge_ : float, the ridge of the regression, absolute.

    Raises
    ------
    ValueError
        For n_components above the rank of X (of Xc'Yc at beta=1), one label set only, bad X or y.

    See Also
    --------
    proxembed.OPLS : Ridge regression of the labels, restricted to k components.
    proxembed.PCA : Largest variance, without labels.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from proxembed import PCovR
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = PCovR(n_components=3, target_type="real").fit(X, y)
    >>> model.transform(X).shape, round(model.score(X, y), 2)
    ((442, 3), 0.52)
    """

    beta: float = param(default=0.5, low=0, high=1, search=(0.0, 1.0), doc="Weight of y against the features.")

    def template(self, rows: Rows) -> Template:
        """That of the regression, from which ``refine`` takes the ridge."""
        A = LowRank(rows.labels.Y, center=rows.ones)
        return Template(A, Centering(), b=0, offset=rows.ones, target=rows.labels.Y)

    @property
    def refines(self) -> bool:
        return True

    def refine(self, found: Solution, rows: Rows, k: int | None) -> Solution:
        problem, labels = found.problem, rows.labels
        unit = problem.of_rows(1.0)
        iterative = rows.route(self.solver) == "iterative" or not problem.plan.decomposes
        P, values = principal_covariates(problem, labels.centred_squares, self.beta, found.ridge / unit, k, iterative)
        return replace(found, P=P / problem.unit, eigenvalues=values, spectrum=values, bound=len(values))
