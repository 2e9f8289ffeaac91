"""Propagation against its equations: Sylvester by dense algebra, zero gradients, limit cases, definiteness."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import solve_sylvester
from sklearn.semi_supervised import LabelSpreading

import strategies
from designs import pairwise
from proxembed import MLGFHF, MLGRF, MLLGC, SMSE
from proxembed.methods.transductive.propagation import label_correlation, laplacian

N, C = 70, 4
X, TRUE = strategies.labelled_rows(N, 6, C, 3)
KNOWN = np.arange(N) % 3 == 0
Y = np.where(KNOWN[:, None], TRUE, np.nan)
Y0 = np.where(KNOWN[:, None], TRUE, 0.0)
SIGMAS = ("cosine", "gaussian", "chen")
STRONG = {"smoothness": 3.0, "label_smoothness": 0.2}


def matrices(fitted) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """W, L and Lsym of a fit, dense."""
    W = fitted.affinity_.toarray()
    degree = W.sum(axis=1)
    root = 1.0 / np.sqrt(degree)
    return W, np.diag(degree) - W, np.eye(len(W)) - root[:, None] * W * root


def correlation(kind: str, tau: float | None = None) -> np.ndarray:
    """Sigma by loops, as the definition says."""
    columns = TRUE[KNOWN].T
    squares = [np.sum((s - t) ** 2) for i, s in enumerate(columns) for t in columns[:i]]
    S = np.ones((C, C))
    for i, s in enumerate(columns):
        for j, t in enumerate(columns):
            cosine = 1.0 if i == j else s @ t / np.linalg.norm(s) / np.linalg.norm(t)
            value = {
                "cosine": cosine,
                "gaussian": np.exp(-np.sum((s - t) ** 2) / (tau or np.median(squares))),
                "chen": np.exp(-(1 - cosine) / (tau or 1.0)),
            }
            S[i, j] = value[kind]
    return S


def label_laplacian(S: np.ndarray, normalized: bool) -> np.ndarray:
    degree = S.sum(axis=1)
    return np.eye(C) - S / np.sqrt(np.outer(degree, degree)) if normalized else np.diag(degree) - S


def fit(estimator, y=Y):
    return estimator.set_params(decision="fixed").fit(X, y)


def assert_close(Z, expected, tolerance=1e-9):
    np.testing.assert_allclose(Z, expected, rtol=0, atol=tolerance * np.abs(expected).max())


@pytest.mark.parametrize("tau", [None, 0.7])
@pytest.mark.parametrize("kind", SIGMAS)
def test_label_correlations_are_their_definition(kind, tau):
    assert_close(label_correlation(sp.csc_array(TRUE[KNOWN]), kind, tau), correlation(kind, tau), 1e-14)


def test_a_label_without_rows_is_correlated_with_itself_alone():
    S = label_correlation(sp.csc_array([[1.0, 0.0], [1.0, 0.0]]))
    assert S.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert laplacian(S, normalized=True).tolist() == [[0.0, 0.0], [0.0, 0.0]]


@pairwise
@pytest.mark.parametrize("solver", ["factor", "cg"])
@pytest.mark.parametrize("which", ["auto", "standard", "normalized"])
@pytest.mark.parametrize("kind", SIGMAS)
def test_smse_exact_is_the_sylvester_solution(kind, which, solver):
    found = fit(SMSE(sigma=kind, label_laplacian=which, solver=solver, **STRONG))
    _, L, _ = matrices(found)
    u, Ls = ~KNOWN, label_laplacian(correlation(kind), which == "normalized")
    expected = solve_sylvester(3.0 * L[np.ix_(u, u)], 0.2 * Ls, -3.0 * L[np.ix_(u, KNOWN)] @ TRUE[KNOWN])
    assert_close(found.scores_[u], expected)
    np.testing.assert_array_equal(found.scores_[KNOWN], TRUE[KNOWN])
    assert found.solver_ == solver


@pytest.mark.parametrize("solver", ["factor", "cg"])
@pytest.mark.parametrize("which", ["auto", "standard", "normalized"])
def test_smse_soft_is_the_sylvester_solution(which, solver):
    found = fit(SMSE(form="soft", label_laplacian=which, solver=solver, **STRONG))
    Lsym, Ls = matrices(found)[2], label_laplacian(correlation("cosine"), which != "standard")
    assert_close(found.scores_, solve_sylvester(np.eye(N) + 3.0 * Lsym, 0.2 * Ls, Y0))


def test_the_two_laplacians_of_labels_differ():
    one, other = (fit(SMSE(label_laplacian=which, **STRONG)).scores_ for which in ("standard", "normalized"))
    assert np.abs(one - other).max() > 1e-3


@pytest.mark.parametrize("solver", ["factor", "cg"])
@pytest.mark.parametrize("form", ["laplacian", "similarity"])
def test_fields_are_the_sylvester_solution(form, solver):
    S = correlation("cosine")
    for cls, l2 in ((MLGRF, 0.01), (MLLGC, 0.2)):
        found = fit(cls(sigma_form=form, smoothness=2.0, label_smoothness=l2, solver=solver))
        _, L, Lsym = matrices(found)
        A = np.diag(KNOWN * 1.0) + 2.0 * L if cls is MLGRF else np.eye(N) + 2.0 * Lsym
        T = l2 * (label_laplacian(S, False) if form == "laplacian" else -S)
        assert_close(found.scores_, solve_sylvester(A, T, Y0))


def test_gradients_are_zero_and_solutions_are_minima():
    """The cost of each method at its scores: zero gradient where scores are free, and no random step goes down."""
    S, rng = correlation("cosine"), np.random.default_rng(0)
    Ls, Ln = label_laplacian(S, False), label_laplacian(S, True)
    cases = {
        "exact": (SMSE(**STRONG), lambda L, Lsym: (3.0 * L, 0.2 * Ls, 0.0)),
        "soft": (SMSE(form="soft", **STRONG), lambda L, Lsym: (3.0 * Lsym, 0.2 * Ln, 1.0)),
        "random field": (MLGRF(**STRONG), lambda L, Lsym: (3.0 * L, 0.2 * Ls, KNOWN * 1.0)),
        "printed": (MLLGC(sigma_form="similarity", **STRONG), lambda L, Lsym: (3.0 * Lsym, -0.2 * S, 1.0)),
    }
    for name, (estimator, terms) in cases.items():
        found = fit(estimator)
        graph, label, fidelity = terms(*matrices(found)[1:])
        fidelity = np.broadcast_to(fidelity, N)
        free = ~KNOWN if name == "exact" else np.ones(N, dtype=bool)

        def cost(Z, graph=graph, label=label, fidelity=fidelity):
            fit_term = np.sum(fidelity[:, None] * (Z - Y0) ** 2)
            return (np.sum(Z * (graph @ Z)) + np.sum((Z @ label) * Z) + fit_term) / 2

        Z = found.scores_
        gradient = graph @ Z + Z @ label + fidelity[:, None] * (Z - Y0)
        assert np.abs(gradient[free]).max() < 1e-9, name
        for size in (1e-3, 1.0):
            step = size * rng.standard_normal(Z.shape) * free[:, None]
            assert cost(Z + step) > cost(Z), name


def test_without_a_label_term_smse_is_the_harmonic_function():
    harmonic = fit(MLGFHF())
    assert_close(fit(SMSE(label_smoothness=0)).scores_, harmonic.scores_, 1e-10)
    assert_close(fit(SMSE(label_smoothness=1e-14)).scores_, harmonic.scores_, 1e-9)
    assert np.abs(fit(SMSE(label_smoothness=1.0)).scores_ - harmonic.scores_).max() > 1e-3
    _, L, _ = matrices(harmonic)
    u = ~KNOWN
    expected = -np.linalg.solve(L[np.ix_(u, u)], L[np.ix_(u, KNOWN)] @ TRUE[KNOWN])
    assert_close(harmonic.scores_[u], expected)


@pytest.mark.parametrize("alpha", [0.2, 0.5, 0.99])
def test_without_a_label_term_mllgc_is_local_and_global_consistency(alpha):
    found = fit(MLLGC(label_smoothness=0, smoothness=alpha / (1 - alpha)))
    W = matrices(found)[0]
    root = 1.0 / np.sqrt(W.sum(axis=1))
    S = root[:, None] * W * root
    assert_close(found.scores_, (1 - alpha) * np.linalg.solve(np.eye(N) - alpha * S, Y0))
    soft = fit(SMSE(form="soft", label_smoothness=0, smoothness=alpha / (1 - alpha)))
    np.testing.assert_array_equal(soft.scores_, found.scores_)


def test_with_one_class_a_row_it_is_scikit_learns_label_spreading():
    classes = TRUE.argmax(axis=1)
    found = fit(MLLGC(label_smoothness=0, smoothness=4.0), np.where(KNOWN, classes, np.nan))
    W = found.affinity_.toarray()
    rival = LabelSpreading(kernel=lambda X, y=None: W, alpha=0.8, max_iter=10_000, tol=1e-13)
    rival.fit(X, np.where(KNOWN, classes, -1))
    assert_close(found.label_distributions_, rival.label_distributions_, 1e-8)
    np.testing.assert_array_equal(found.transduction_, rival.transduction_)


def test_smse_soft_and_mllgc_are_one_method_with_the_same_laplacian():
    soft, field = fit(SMSE(form="soft", label_laplacian="standard", **STRONG)), fit(MLLGC(**STRONG))
    np.testing.assert_array_equal(soft.scores_, field.scores_)
    assert np.abs(fit(SMSE(form="soft", **STRONG)).scores_ - field.scores_).max() > 1e-3


def test_harmonic_scores_obey_the_maximum_principle():
    for estimator in (MLGFHF(), SMSE(**STRONG), MLGFHF(solver="cg", n_neighbors=9)):
        scores = fit(estimator).scores_
        assert scores.min() >= -1e-10 and scores.max() <= 1 + 1e-10
        inner = scores[~KNOWN]
        assert np.mean((inner > 1e-6) & (inner < 1 - 1e-6)) > 0.9
    assert fit(MLLGC(sigma_form="similarity", smoothness=0.1, label_smoothness=0.3)).scores_.max() > 1


@pytest.mark.parametrize(
    "estimator",
    [
        MLGFHF(),
        SMSE(label_laplacian="normalized", **STRONG),
        SMSE(form="soft", **STRONG),
        MLGRF(**STRONG),
        MLLGC(**STRONG),
        MLLGC(sigma_form="similarity", **STRONG),
    ],
    ids=repr,
)
def test_shares_are_scores_over_those_of_labels_that_every_labelled_row_has(estimator):
    """The scores of a label are linear in its rows, and at most those of all labelled rows: a share lies in [0, 1]."""
    found = fit(estimator)
    assert found.scores_.min() >= -1e-10
    assert 0 <= found.shares_.min() and found.shares_.max() <= 1
    equation = found.equation(found.affinity_, KNOWN, np.ones(N, dtype=bool), sp.csc_array(Y0))
    T = np.zeros((C, C)) if equation.T is None else equation.T
    full = np.repeat(KNOWN[:, None] * 1.0, C, axis=1)
    ceiling = full.copy()
    ceiling[equation.rows] = solve_sylvester(equation.A.toarray(), T, equation.M @ full)
    assert np.all(found.scores_ <= ceiling * (1 + 1e-9))
    assert_close(found.shares_, found.scores_ / ceiling, 1e-8)


@pytest.mark.parametrize("cls", [MLGRF, MLLGC])
def test_the_printed_form_is_positive_definite_below_the_bound_that_the_error_names(cls):
    probe = fit(cls(label_smoothness=0, smoothness=2.0))
    _, L, Lsym = matrices(probe)
    A = np.diag(KNOWN * 1.0) + 2.0 * L if cls is MLGRF else np.eye(N) + 2.0 * Lsym
    S = correlation("cosine")
    bound = np.linalg.eigvalsh(A)[0] / np.linalg.eigvalsh(S)[-1]
    fit(cls(sigma_form="similarity", smoothness=2.0, label_smoothness=0.999 * bound))
    with pytest.raises(ValueError, match=rf"below {bound:.3g}.* sigma_form='laplacian'"):
        fit(cls(sigma_form="similarity", smoothness=2.0, label_smoothness=1.001 * bound))
    whole = np.kron(np.eye(C), A) - 1.001 * bound * np.kron(S, np.eye(N))
    assert np.linalg.eigvalsh(whole)[0] < 0
    fit(cls(smoothness=2.0, label_smoothness=1000 * bound))


def test_the_printed_random_field_has_no_minimum_where_labels_do_not_reach():
    apart = np.vstack([X, X[:10] + 1000.0])
    y = np.vstack([Y, np.full((10, C), np.nan)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        with pytest.raises(ValueError, match="only for label_smoothness 0, as some rows have no path"):
            MLGRF(sigma_form="similarity", label_smoothness=1e-9, decision="fixed").fit(apart, y)
        MLGRF(decision="fixed").fit(apart, y)
