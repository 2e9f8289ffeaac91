"""BSML of several representations against the plain model on copies made by hand, one for each view of a row."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import ndtr

from oracles.coupled import Plain
from proxembed import BSML, load, save

N, R = 26, 2
RNG = np.random.default_rng(4)
X = RNG.standard_normal((N, 7))
VIEWS = [[0, 2, 4], [1, 3, 5, 6]]
X[:9, VIEWS[1]] = 0.0  # the first rows have the first view alone
X[9:18, VIEWS[0]] = 0.0
Y = (RNG.standard_normal((N, 3)) + X[:, :3] > 0).astype(float)
ROWS, VIEW = np.nonzero([[X[i, view].any() for view in VIEWS] for i in range(N)])
COPIES = np.array([[X[i, f] if f in VIEWS[m] else 0.0 for f in range(7)] for i, m in zip(ROWS, VIEW, strict=True)])
FORMS = {"dense": X, "CSR": sp.csr_array(X)}


def plain(sweeps):
    init = {"Q": RNG.standard_normal((7, R)), "Z": RNG.standard_normal((len(ROWS), R))}
    init |= {"B": RNG.standard_normal((R + 1, 3)), "T": RNG.standard_normal((len(ROWS), 3))}
    model = Plain(COPIES, 2.0 * Y[ROWS] - 1.0, **init)
    return init, model, [model.sweep() for _ in range(sweeps)]


@pytest.mark.parametrize("form", FORMS)
def test_each_view_has_a_projection_into_one_space(form):
    init, model, bounds = plain(4)
    found = BSML(n_components=R, views=VIEWS, init=init, tol=0, max_iter=4).fit(FORMS[form], Y)
    np.testing.assert_allclose(found.lower_bound_, bounds, rtol=1e-9)
    np.testing.assert_allclose(found.components_, model.Q.T, rtol=0, atol=1e-8)
    for s, C in enumerate(model.C_Q):  # projections of two views are independent, and each has the rows of its view
        assert np.abs(C[np.ix_(*VIEWS)]).max() < 1e-12
        for m, view in enumerate(VIEWS):
            own = X[ROWS[VIEW == m]][:, view]
            K = np.diag(model.A_phi * model.beta_phi[view, s]) + own.T @ own
            np.testing.assert_allclose(C[np.ix_(view, view)], np.linalg.inv(K), rtol=1e-9)


def test_rows_lie_at_the_mean_of_their_views():
    init, model, _ = plain(3)
    found = BSML(n_components=R, views=VIEWS, init=init, tol=0, max_iter=3).fit(X, Y)
    new = np.vstack([X[:2], X[9:11], X[20:22], np.zeros((1, 7))])
    Z, spread = found.transform(new, return_std=True)
    own = found.components_.T
    for i, x in enumerate(new):
        present = [view for view in VIEWS if x[view].any()]
        places = [x[view] @ own[view] for view in present] or [np.zeros(R)]
        np.testing.assert_allclose(Z[i], np.mean(places, axis=0), rtol=0, atol=1e-9)
        K = [np.diag(found.precision_projection_[s]) + COPIES.T @ COPIES for s in range(R)]
        for s in range(R):
            each = [1.0 + x[view] @ np.linalg.inv(K[s])[np.ix_(view, view)] @ x[view] for view in present] or [1.0]
            assert spread[i, s] ** 2 == pytest.approx(sum(each) / len(each) ** 2, rel=1e-6)
    Z1 = np.column_stack([np.ones(len(new)), Z])
    scores = Z1 @ model.B
    variance = 1.0 + np.column_stack([np.einsum("ir,rs,is->i", Z1, C, Z1) for C in model.C_B])
    np.testing.assert_allclose(found.predict_proba(new), ndtr(scores / np.sqrt(variance)), rtol=1e-7)
    np.testing.assert_allclose(found.transform(sp.csr_array(new)), Z, rtol=0, atol=1e-12)


def test_what_is_learned_in_one_view_serves_another():
    """Two rotations of one space: labels of many rows in the first, of few in the second."""
    rng = np.random.default_rng(0)
    latent = rng.standard_normal((460, 3))
    labels = (latent @ rng.standard_normal((3, 8)) > 0).astype(int)
    first, second = (latent @ rng.standard_normal((3, 10)) + 0.3 * rng.standard_normal((460, 10)) for _ in range(2))
    rows = np.zeros((460, 20))
    rows[:240, :10], rows[240:, 10:] = first[:240], second[240:]
    fit = np.arange(460) < 252  # twelve rows of the second view
    joint = BSML(n_components=3, views=[range(10), range(10, 20)]).fit(rows[fit], labels[fit])
    alone = BSML(n_components=3).fit(second[240:252], labels[240:252])
    wrong = np.mean(joint.predict(rows[~fit]) != labels[~fit]), np.mean(alone.predict(second[252:]) != labels[252:])
    assert wrong[0] < wrong[1] - 0.02


def test_weights_numbers_and_saved_models(tmp_path):
    times = 1 + np.arange(N) % 3
    again = np.repeat(np.arange(N), times)
    weighted = BSML(n_components=R, views=VIEWS, tol=0, max_iter=5).fit(X, Y, sample_weight=times)
    repeated = BSML(n_components=R, views=VIEWS, tol=0, max_iter=5).fit(X[again], Y[again])
    np.testing.assert_allclose(weighted.lower_bound_, repeated.lower_bound_, rtol=1e-8)
    settings = {"n_components": R, "tol": 0, "max_iter": 5}
    numbers = BSML(views=[[0, 1, 2], np.arange(3, 7)], target_type="real", **settings).fit(X, X[:, :2] + X[:, 1:3])
    loaded = load(save(numbers, tmp_path / "model.skops"))
    np.testing.assert_array_equal(loaded.predict(X), numbers.predict(X))
    one, none = BSML(views=[range(7)], **settings).fit(X, Y), BSML(**settings).fit(X, Y)
    np.testing.assert_allclose(one.transform(X), none.transform(X), rtol=0, atol=1e-9)


@pytest.mark.parametrize("views", [[[0, 1]], [[0, 1, 2], [2, 3, 4, 5, 6]], [range(6), [7]], [[0.5], range(7)], 3, []])
def test_other_views_are_refused(views):
    with pytest.raises(ValueError, match="views"):
        BSML(n_components=R, views=views).fit(X, Y)


def test_rows_without_entries_are_refused():
    with pytest.raises(ValueError, match="in any of the views"):
        BSML(n_components=R, views=VIEWS).fit(np.zeros_like(X), Y)
