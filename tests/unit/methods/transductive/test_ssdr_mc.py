"""SSDRMC as an estimator: rows without a path to labels, cycles, thresholds, new rows, forms of labels, real data."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning

import strategies
from proxembed import SSDRMC
from proxembed.methods.transductive.label_iteration import Alternation, Blend, Inference, LocalWeights

N, D, C = 80, 20, 4
X, TRUE = strategies.labelled_rows(N, D, C, 5)
NEW = strategies.told_by_labels(strategies.features_dense(9, D, 6), TRUE[:9], 5)
KNOWN = np.random.default_rng(0).random(N) < 0.5
Y = np.where(KNOWN[:, None], TRUE, np.nan)
CALM = {"preset": "recommended", "n_neighbors": 8}


def fit(rows=X, y=Y, **options):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The neighbour graph has")
        return SSDRMC(**{**CALM, **options}).fit(rows, y)


def micro_f1(predicted, true) -> float:
    return 2 * np.sum(predicted * true) / (np.sum(predicted) + np.sum(true))


def apart():
    """Rows with a cluster of 12 unlabelled ones far away."""
    return np.vstack([X, X[:12] + 1000.0]), np.vstack([Y, np.full((12, C), np.nan)])


def test_presets_and_single_settings():
    one = fit(preset="paper", reg=0.05, weights="clip")
    np.testing.assert_array_equal(one.soft_labels_, fit().soft_labels_)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        other = SSDRMC(n_neighbors=8).fit(X, Y)
        same = SSDRMC(n_neighbors=8, reg=1e-3, weights="signed").fit(X, Y)
    np.testing.assert_array_equal(other.soft_labels_, same.soft_labels_)
    assert other.reconstruction_.data.min() < 0 <= one.reconstruction_.data.min()


@pytest.mark.parametrize("unreachable", ["anchor", "prior"])
@pytest.mark.parametrize("objective", ["paper", "exact"])
def test_a_cluster_without_labels_has_finite_ones(unreachable, objective):
    rows, y = apart()
    fitted = fit(rows, y, unreachable=unreachable, objective=objective)
    assert np.isfinite(fitted.soft_labels_).all() and np.isfinite(fitted.embedding_).all()
    weights = fitted.reconstruction_
    np.testing.assert_array_equal(np.diff(weights.indptr), 8)
    near = np.isin(weights[N:].indices, np.flatnonzero(KNOWN)).sum()
    assert near == (12 if unreachable == "anchor" else 0)


def test_a_cluster_without_labels_is_refused():
    rows, y = apart()
    with pytest.raises(ValueError, match="12 rows have no path"):
        fit(rows, y, unreachable="raise")


def test_closed_components_are_told_and_come_first():
    rows, y = apart()
    with pytest.warns(UserWarning, match="has 2 connected components that no edge leaves"):
        fitted = SSDRMC(**CALM, unreachable="prior").fit(rows, y)
    Z = fitted.embedding_[:, 0]
    assert fitted.eigenvalues_[0] == 0 < fitted.eigenvalues_[1]
    assert np.ptp(Z[N:]) < 1e-9 and abs(Z[N] - Z[:N].mean()) > 0.1


class Flipping:
    """A rule of decision that swaps between two label matrices, whatever the soft labels."""

    def __init__(self, first, second):
        self.members, self.calls = (first, second), 0

    def __call__(self, soft):
        self.calls += 1
        return np.array(self.members[self.calls % 2])


def test_a_run_that_returns_ends_in_the_member_of_least_cost():
    rng = np.random.default_rng(0)
    smooth, rough = TRUE > 0, rng.random(TRUE.shape) < 0.5
    from proxembed.proximity.backends import nearest

    index = nearest(X, 8).index
    known = np.zeros(TRUE.shape, dtype=bool)
    known[0] = True
    for first, second in ((smooth, rough), (rough, smooth)):
        local = LocalWeights(X, index, Blend(0.5, 0.05, "clip"), C)
        run = Alternation(local, known, smooth, Inference(), Flipping(first, second), max_changes=0)
        costs = []
        for F in (smooth, np.where(known, smooth, rough)):
            local.update(F)
            costs.append(sum(run.cost(F)))
        assert costs[0] < costs[1]
        found = run.run()
        assert found.status == "cycle" and len(found.trace) < 6
        np.testing.assert_array_equal(found.labels, smooth)


def test_monotone_labels_stay_and_end():
    fitted = fit(monotone=True, alpha=0.6)
    assert fitted.status_ in ("converged", "cycle")
    assert np.all(fitted.transduction_[~KNOWN] >= (fitted.soft_labels_ >= fitted.cuts_)[~KNOWN])


def test_stopping_at_max_iter_is_told():
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        fitted = fit(max_iter=2, alpha=0.9, max_label_changes=0, init="zero", reg=1e-3)
    assert fitted.status_ == "max_iter" and fitted.n_iter_ == 2


def test_large_soft_labels_are_told():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((60, 5))
    y = np.full((60, 2), np.nan)
    y[:8] = np.eye(2)[np.arange(8) % 2]
    with pytest.warns(UserWarning, match="soft labels reach"):
        SSDRMC(n_neighbors=5, max_iter=1).fit(rows, y)


@pytest.mark.parametrize("prior", ["hard", "masked", "paper"])
def test_all_rows_labelled(prior):
    fitted = fit(y=TRUE, prior=prior, prior_strength=100.0)
    np.testing.assert_array_equal(fitted.transduction_, TRUE)
    if prior == "hard":
        np.testing.assert_array_equal(fitted.soft_labels_, TRUE)
    assert fitted.status_ == "converged" and fitted.n_iter_ == 2


def test_the_published_prior_gains_labels_only():
    fitted = fit(prior="paper", label_threshold=0.2)
    np.testing.assert_array_equal(fitted.transduction_[KNOWN], TRUE[KNOWN])
    assert np.all(fitted.transduction_[~KNOWN] >= (fitted.soft_labels_ >= 0.2)[~KNOWN])
    np.testing.assert_array_equal(fitted.predict(X), fitted.transduction_)


def test_thresholds():
    per_label = [0.2, 0.3, 0.4, 0.5]
    fitted = fit(label_threshold=per_label, max_label_changes=0)
    np.testing.assert_array_equal(fitted.transduction_[~KNOWN], (fitted.soft_labels_ >= per_label)[~KNOWN])
    tuned = fit(label_threshold="tuned")
    assert np.ptp(tuned.cuts_) == 0 and 0.01 <= tuned.cuts_[0] <= 0.99
    strict = fit(label_threshold=0.95, min_labels=1).transduction_
    assert strict[~KNOWN].sum(axis=1).min() >= 1 > fit(label_threshold=0.95).transduction_[~KNOWN].sum(axis=1).min()
    with pytest.raises(ValueError, match="label_threshold=.* is not allowed"):
        fit(label_threshold=[0.3, 0.3])


def test_rows_of_training_and_new_rows():
    fitted = fit()
    np.testing.assert_array_equal(fitted.transform(X), fitted.embedding_)
    np.testing.assert_array_equal(fitted.predict(X), fitted.transduction_)
    assert fitted.transform(X.astype(np.float32)).dtype == np.float32
    near = X + 1e-7
    agree = np.mean(fit(reg=1e-8).predict(near) == fit(reg=1e-8).transduction_)
    assert agree > 0.95
    for rows in (X, NEW):
        p, predicted = fitted.predict_proba(rows), fitted.predict(rows)
        np.testing.assert_array_equal(predicted, fitted.decision_function(rows) >= 0)
        np.testing.assert_array_equal(predicted, p >= 0.5)


def test_new_rows_are_rebuilt_from_their_neighbours():
    plain, refined = fit(refine=0, alpha=0.4), fit(refine=1, alpha=0.4)
    K = 8
    d2 = ((NEW[:, None] - X[None]) ** 2).sum(axis=2)
    index = np.argsort(d2, axis=1, kind="stable")[:, :K]

    def rebuilt(i, labels):
        P = (NEW[i] - X[index[i]]) @ (NEW[i] - X[index[i]]).T
        L = P
        if labels is not None:
            difference = labels - plain.transduction_[index[i]]
            L = 0.6 * P + 0.4 * difference @ difference.T
        w = np.linalg.solve(L + 0.05 * np.trace(L) / K * np.eye(K), np.ones(K))
        w = np.maximum(w, 0)
        return w / w.sum()

    for i in range(len(NEW)):
        w = rebuilt(i, None)
        soft = w @ plain.soft_labels_[index[i]]
        np.testing.assert_allclose(plain.transform(NEW)[i], w @ plain.embedding_[index[i]], atol=1e-9)
        np.testing.assert_allclose(plain.decision_function(NEW)[i], soft - 0.3, atol=1e-9)
        w = rebuilt(i, soft >= 0.3)
        np.testing.assert_allclose(refined.decision_function(NEW)[i], w @ plain.soft_labels_[index[i]] - 0.3, atol=1e-9)
    assert np.abs(plain.transform(NEW) - refined.transform(NEW)).max() > 1e-6


def test_labels_come_back_in_the_form_of_y():
    plain = fit()
    signs = fit(y=2 * Y - 1)
    np.testing.assert_array_equal(signs.transduction_, 2 * plain.transduction_ - 1)
    sets = [set("abcd"[j] for j in np.flatnonzero(r)) if k else None for r, k in zip(TRUE, KNOWN, strict=True)]
    assert fit(y=sets).transduction_ == [set("abcd"[j] for j in np.flatnonzero(r)) for r in plain.transduction_]
    classes = TRUE.argmax(axis=1)
    y = np.where(KNOWN, classes, np.nan)
    one = fit(y=y)
    np.testing.assert_array_equal(one.transduction_[KNOWN], classes[KNOWN])
    np.testing.assert_array_equal(one.transduction_, one.soft_labels_.argmax(axis=1))
    np.testing.assert_allclose(one.soft_labels_.sum(axis=1), 1.0, atol=1e-6)
    np.testing.assert_array_equal(one.predict(NEW), one.predict_proba(NEW).argmax(axis=1))
    hole = np.insert(Y, 1, np.where(KNOWN, 0.0, np.nan), axis=1)
    empty = fit(y=hole)
    assert empty.transduction_.shape == (N, C + 1) and empty.transduction_[:, 1].sum() == 0
    np.testing.assert_array_equal(np.delete(empty.transduction_, 1, axis=1), plain.transduction_)
    assert empty.predict(NEW)[:, 1].sum() == 0


def test_duplicates_and_constant_columns():
    twice = fit(np.vstack([X, X]), np.vstack([Y, Y]))
    assert np.isfinite(twice.soft_labels_).all()
    np.testing.assert_allclose(twice.reconstruction_.sum(axis=1), 1.0, atol=1e-10)
    same = fit(np.zeros((30, 2)), Y[:30], unreachable="prior", alpha=0.0)
    np.testing.assert_allclose(same.reconstruction_.data, 1 / 8)
    np.testing.assert_array_equal(fit(np.hstack([X, np.full((N, 1), 7.0)])).soft_labels_, fit().soft_labels_)


def test_extreme_sizes_of_features():
    """Sizes whose square float64 holds; others are refused at the door of fit."""
    for size in (1e-150, 1e150):
        scaled = fit(size * X)
        assert np.isfinite(scaled.soft_labels_).all()
    np.testing.assert_allclose(scaled.soft_labels_, fit(alpha=0.0).soft_labels_, atol=1e-8)  # labels weigh nothing


def test_few_rows_take_all_others_and_too_many_components_are_refused():
    assert np.diff(fit(X[:6], Y[:6]).reconstruction_.indptr).tolist() == [5] * 6
    with pytest.raises(ValueError, match="n_components=80 is more than the 79"):
        fit(n_components=N)


def test_the_neighbours_are_left_as_they_were():
    """Weights as a matrix sort their columns; the list of neighbours, nearest first, must not be what is sorted."""
    from proxembed.proximity.reconstruction import reconstruction_matrix

    index = np.array([[2, 1], [0, 2], [1, 0]])
    W = reconstruction_matrix(index, np.full((3, 2), 0.5), 3)
    assert index.tolist() == [[2, 1], [0, 2], [1, 0]] and W.has_sorted_indices


def test_two_moons():
    rows, moon = make_moons(400, noise=0.08, random_state=0)
    known = np.random.default_rng(0).permutation(400) < 40
    true = np.eye(2)[moon]
    fitted = fit(rows, np.where(known[:, None], true, np.nan), n_neighbors=15)
    assert micro_f1(fitted.transduction_[~known], true[~known]) > 0.97


def test_truncate_is_a_fit_with_fewer_components():
    """Eigenvectors to the tolerance of the eigensolver, labels number for number."""
    full, small = fit(n_components=4), fit(n_components=2)
    short = full.truncate(2)
    np.testing.assert_allclose(short.transform(NEW), small.transform(NEW), rtol=0, atol=1e-6)
    np.testing.assert_array_equal(short.predict(NEW), small.predict(NEW))
    assert full.transform(NEW).shape == (9, 4) and short.n_components_ == 2 and len(short.eigenvalues_) == 2
