"""Every solver route gives the same components, and all of them pass a certificate that knows no solver."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import strategies
from designs import each_value
from invariants.cases import Case, Data, assert_same_gram, embedded, fitted, on_cases, stated
from proxembed import DMLDA, FDA, HSL, MDDM, MESD, MLDA, MLSI, MORP, OPLS, PCA, PLS, CopyLDA, Kernelized, PCovR, Views

# Conjugate gradients and LOBPCG stop at a relative residual of 1e-7; over the eigenvalue gaps of the data (1e-2 and
# more, 1e-3 for CCA) that is 1e-4 in the embedding. Dense routes meet at rounding, MORP and MLSI at rounding times
# n / eps.
DENSE_ROUTES, INVERTED, ITERATED = 1e-8, 1e-6, 1e-3
CERTIFIED = 1e-7


def settled(case: Case, data: Data) -> dict:
    """Options that fix what the default construction chose by itself, so that only the route differs."""
    base = fitted(case, data)
    options = {"n_components": base.n_components_}
    if "ridge" in base.get_params() and not base.class_traits.direct:
        options |= {"ridge": base.ridge_, "ridge_scale": "absolute"}
    if getattr(base, "tau", None) == "auto" and base.tau_ is not None:
        options["tau"] = base.tau_
    return options


@each_value
@on_cases(lambda c: not c.prototype.class_traits.direct and c.nested)
@pytest.mark.parametrize("solver", ["thin", "primal", "dual", "iterative"])
def test_every_route_gives_the_same_embedding(case, data, solver):
    """Or refuses in words: "thin" without low rank, "iterative" without anything added to a constraint."""
    try:
        other = case.fit(data, solver=solver, **settled(case, data))
    except ValueError as refusal:
        assert 'solver="thin" needs' in str(refusal) or "ridge=0 needs" in str(refusal)
        return
    limit = INVERTED if "MORP" in case.name or "MLSI" in case.name else DENSE_ROUTES
    expected = embedded(fitted(case, data), data)
    assert_same_gram(embedded(other, data), expected, ITERATED if solver == "iterative" else limit)


@pytest.mark.parametrize("method", [MORP(solver="iterative"), MLSI(solver="iterative")], ids=lambda m: type(m).__name__)
def test_a_refused_route_names_a_remedy_that_the_method_has(method):
    X, Y = strategies.labelled_rows(40, 60, 4, 3)
    with pytest.raises(ValueError) as refusal:
        method.fit(X, Y)
    assert "Pass a positive ridge" not in str(refusal.value) or "ridge" in method.get_params()
    assert "solver" in str(refusal.value)


@pytest.mark.parametrize("solver", ["thin", "iterative"])
def test_low_rank_methods_have_every_route(solver):
    """So that a refusal is not taken for agreement: the methods of low rank run on each route, under its own name."""
    X, Y = strategies.labelled_rows(40, 60, 4, 3)
    for method in (OPLS(ridge=0.1), HSL(ridge=0.1), MLDA(ridge=0.1), CopyLDA(ridge=0.1), PLS(), MDDM()):
        assert method.set_params(solver=solver).fit(X, Y).solver_ == solver


@pytest.mark.parametrize("shape", [(60, 11), (30, 60)])
@pytest.mark.parametrize("solver", ["primal", "dual"])
def test_a_forced_route_is_the_one_that_runs(solver, shape):
    """Or the one that is refused: never another in silence."""
    X = strategies.features_dense(*shape, 3)
    try:
        fit = PCA(n_components=2, solver=solver).fit(X)
    except ValueError as refusal:
        assert f'solver="{solver}"' in str(refusal)
        return
    assert fit.solver_ == solver


@on_cases(lambda c: c.labels is not None and not c.prototype.class_traits.direct)
def test_the_natural_number_does_not_depend_on_the_route(case, data):
    """`n_components=None` and the bound belong to the method, not to the route that happens to be cheapest."""
    base = fitted(case, data)
    options = {k: v for k, v in settled(case, data).items() if k != "n_components"}
    assert case.fit(data, solver="primal", **options).n_components_ == base.n_components_


BOUNDED = [
    (FDA(ridge=0.0), 3),
    (FDA(ridge=0.1), 3),
    (FDA(ridge=0.1, constraint="within"), 3),
    (MESD(FDA(ridge=0.0)), 3),
    (MESD(FDA(ridge=0.1, constraint="within")), 3),
    (CopyLDA(ridge=0.0), 3),
    (MLDA(ridge=0.0), 3),
    (OPLS(ridge=0.0), 4),
    (OPLS(ridge=0.1), 4),
    (PLS(), 4),
    (MDDM(), 4),
    (HSL(ridge=0.0), 4),
]


@each_value
@pytest.mark.parametrize("shape", [(60, 11), (30, 60)], ids=["tall", "wide"])
@pytest.mark.parametrize(("method", "bound"), BOUNDED, ids=lambda v: str(v).replace(" ", ""))
def test_the_rank_bound_holds_on_every_route(method, bound, shape):
    """c - 1 for Fisher's family, the rank of the labels for the others: one more is an error that names the bound."""
    n, d = shape
    single = method.traits.labels == "single"
    Y = strategies.one_hot(strategies.labels_classes(n, 4, 2)) if single else strategies.labels_multi(n, 4, 2)
    X = strategies.told_by_labels(strategies.features_dense(n, d, 2), Y, 2)
    assert method.set_params(n_components=None).fit(X, Y).n_components_ == bound
    with pytest.raises(ValueError, match=f"n_components={bound + 1} is more than the {bound} components"):
        method.set_params(n_components=bound + 1).fit(X, Y)


# ------------------------------------------------------------------------------------------------ certificate


class Pencil:
    """The method's pencil as plain arrays: Ap, Bp and a basis V of the row space, from the estimator's own template."""

    def __init__(self, estimator, data: Data):
        same = clone(estimator)
        template = stated(same, data.X, None if estimator.traits.labels is None else data.y)
        same.explicit()
        R = same.prepared_.training
        R = np.asarray(R.toarray() if hasattr(R, "toarray") else R, dtype=np.float64)
        n, d = R.shape
        self.weights = np.zeros(n) if template.offset is None else template.offset
        inner = estimator.member() if isinstance(estimator, Views) else estimator
        inner = getattr(inner, "unsupervised_", inner)  # of SSDR, whose kernel map is that of this member
        self.of_map = isinstance(inner, Kernelized) and inner.constraint == "feature"
        if not self.of_map:
            R = R - estimator.mean_
        elif self.weights.any():
            R = R - self.weights @ R / self.weights.sum()
        self.R = R
        A, B = template.A.todense(n), np.zeros((n, n)) if template.B is None else template.B.todense(n)
        for operator in (A, B):
            np.testing.assert_allclose(operator, operator.T, rtol=0, atol=1e-12 * max(1.0, np.abs(operator).max()))
        self.Ap = R.T @ A @ R + template.a * np.eye(d)
        self.Bp = R.T @ B @ R + (template.b + estimator.ridge_) * np.eye(d)
        weighted = R if template.offset is None else np.sqrt(self.weights)[:, None] * R
        _, s, Vt = np.linalg.svd(weighted, full_matrices=False)
        self.V = Vt[s > s[0] * 1e-7].T
        self.sense, self.mean = template.sense, estimator.mean_
        self.total = data.dense.T @ self.weights / self.weights.sum() if self.weights.any() else None

    def range(self) -> np.ndarray:
        """A basis of the row space with P'BpP = I, on the range of Bp."""
        w, Q = np.linalg.eigh(self.V.T @ self.Bp @ self.V)
        keep = w > 1e-10 * w[-1]
        return self.V @ (Q[:, keep] / np.sqrt(w[keep]))


def eigenvectors(estimator, data: Data, pencil: Pencil) -> np.ndarray:
    """P of the template: the components before a rescaling or a map back (MLLS keeps Theta = M1 Q of its Q). Those of a
    kernel are coefficients of kernel values: P, in the row space of its map, follows from the places."""
    if pencil.of_map:
        return np.linalg.lstsq(pencil.R, estimator.transform(data.X), rcond=1e-12)[0]
    P = estimator.components_.T
    if type(estimator).__name__ == "MLLS":
        X = data.dense - estimator.mean_
        P = np.linalg.solve(X.T @ X / len(X) + (estimator.alpha + estimator.beta) * np.eye(len(P)), P)
    return P


def template_scaled(estimator) -> bool:
    """Whether the components are the eigenvectors themselves, not a rescaling or a basis of their span."""
    return (
        estimator.scaling in ("auto", "template")
        and not getattr(estimator, "whiten", False)
        and type(estimator).__name__ != "MLLS"
    )


@on_cases(lambda c: not c.prototype.class_traits.direct and c.nested and not isinstance(c.prototype, PCovR))
def test_certificate(case, data):
    """Not of PCovR, which is not its template: `identities/test_slices_and_covariates.py` has its definition."""
    estimator = fitted(case, data)
    pencil = Pencil(estimator, data)
    P, w = eigenvectors(estimator, data, pencil), pencil.sense * estimator.eigenvalues_
    if template_scaled(estimator):
        feasible = P.T @ pencil.Bp @ P
        np.testing.assert_allclose(feasible, np.eye(len(w)), rtol=0, atol=CERTIFIED)
    else:  # Rayleigh-Ritz on the span of the components
        L = np.linalg.cholesky(P.T @ pencil.Bp @ P)
        P = np.linalg.solve(L, P.T).T
        values, U = np.linalg.eigh(P.T @ pencil.Ap @ P)
        np.testing.assert_allclose(values[::-1], w, rtol=0, atol=CERTIFIED * np.abs(w).max())
        P = P @ U[:, ::-1]
    C = pencil.range()
    spread = np.linalg.norm(C.T @ pencil.Ap @ C, 2)  # the unit of eigenvalues that are zero but for rounding
    scale = np.linalg.norm(C.T @ pencil.Bp @ P) * max(np.abs(w).max(), CERTIFIED * spread)
    assert np.linalg.norm(C.T @ (pencil.Ap @ P - pencil.Bp @ P * w)) < CERTIFIED * scale
    assert np.linalg.norm(P - pencil.V @ (pencil.V.T @ P)) < CERTIFIED * np.linalg.norm(P)
    assert np.all(np.diff(w) <= CERTIFIED * max(np.abs(w).max(), CERTIFIED * spread))
    best_of_random(pencil, C, w)


def best_of_random(pencil: Pencil, C: np.ndarray, w: np.ndarray) -> None:
    """No random feasible P reaches the sum of the eigenvalues, and the spectrum on the range holds nothing larger."""
    rng = np.random.default_rng(5)
    M = C.T @ pencil.Ap @ C
    slack = CERTIFIED * max(1.0, np.abs(w).sum())
    for _ in range(25):
        Q = np.linalg.qr(rng.standard_normal((C.shape[1], len(w))))[0]
        assert np.trace(Q.T @ M @ Q) <= w.sum() + slack
    assert np.sort(np.linalg.eigvalsh(M))[::-1][: len(w)].sum() <= w.sum() + slack


@on_cases(lambda c: not c.nested)
def test_certificate_of_the_trace_ratio(case, data):
    """P'P = I, and at the ratio tr(P'ApP) / tr(P'BpP) the leading eigenvalues of Ap - ratio Bp sum to zero."""
    estimator = fitted(case, data)
    pencil = Pencil(estimator, data)
    P, V = estimator.components_.T, pencil.V
    np.testing.assert_allclose(P.T @ P, np.eye(P.shape[1]), rtol=0, atol=CERTIFIED)
    ratio = np.trace(P.T @ pencil.Ap @ P) / np.trace(P.T @ pencil.Bp @ P)
    leading = np.linalg.eigvalsh(V.T @ (pencil.Ap - ratio * pencil.Bp) @ V)[::-1][: P.shape[1]]
    assert abs(leading.sum()) < CERTIFIED * np.abs(np.linalg.eigvalsh(V.T @ pencil.Ap @ V)).max()
    rng = np.random.default_rng(5)
    for _ in range(25):
        Q = V @ np.linalg.qr(rng.standard_normal((V.shape[1], P.shape[1])))[0]
        assert np.trace(Q.T @ pencil.Ap @ Q) / np.trace(Q.T @ pencil.Bp @ Q) <= ratio + CERTIFIED


@on_cases(lambda c: not c.prototype.class_traits.direct)
def test_the_offset_is_the_weighted_mean(case, data):
    estimator = fitted(case, data)
    if case.lifted:
        return  # its mean is that of the kernel map; that its template is centred is the shift law
    pencil = Pencil(estimator, data)
    expected = np.zeros(data.X.shape[1]) if pencil.total is None else pencil.total
    np.testing.assert_allclose(estimator.mean_, expected, rtol=0, atol=1e-12 * max(1.0, np.abs(data.dense).max()))


@on_cases(lambda c: c.prototype.class_traits.direct and not getattr(c.prototype, "row_normalize", False))
def test_certificate_of_direct_methods(case, data):
    """Z'BZ = I but for the scaling, ||AZ - BZ diag(w)|| small, and no random feasible Z does better; off the null space
    where the method leaves that out."""
    estimator = fitted(case, data)
    template = stated(case.build(), data.X, None if case.labels is None else data.y)
    n = len(data.Y)
    A, d = template.A.todense(n), np.ones(n) if template.B is None else template.B.diagonal(n)
    Z, w = estimator.embedding_, template.sense * estimator.eigenvalues_
    Z = Z / np.sqrt(d @ Z**2)
    np.testing.assert_allclose(Z.T @ (d[:, None] * Z), np.eye(len(w)), rtol=0, atol=CERTIFIED)
    root = 1 / np.sqrt(d)
    M = root[:, None] * A * root
    spectrum, vectors = np.linalg.eigh(M)
    size = np.abs(spectrum).max()
    assert np.linalg.norm(root[:, None] * (A @ Z - d[:, None] * Z * w)) < CERTIFIED * size
    off = vectors[:, spectrum < -1e-12 * size] if case.on_graph else vectors
    allowed = off.T @ M @ off
    rng = np.random.default_rng(6)
    for _ in range(25):
        Q = np.linalg.qr(rng.standard_normal((off.shape[1], len(w))))[0]
        assert np.trace(Q.T @ allowed @ Q) <= w.sum() + CERTIFIED * size
    assert np.linalg.eigvalsh(allowed)[::-1][: len(w)].sum() <= w.sum() + CERTIFIED * size


def test_the_methods_that_cost_dmlda_its_rank_bound_keep_more_than_the_labels():
    """Negative control of the bounds: DMLDA is not limited to c - 1."""
    X, Y = strategies.labelled_rows(60, 11, 4, 2)
    assert DMLDA(ridge=0.1, n_components=8).fit(X, Y).n_components_ == 8
