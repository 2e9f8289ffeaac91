"""The passes of SSDR-MC against a plain loop over dense matrices: what is kept from pass to pass, cycles and gains."""

import warnings

import numpy as np
import pytest

from proxembed import SSDRMC
from proxembed.methods.transductive.label_iteration import Alternation, Blend, Inference, LocalWeights
from proxembed.proximity.backends import nearest

K, H = 5, 0.3


def rows(seed: int, n: int = 40, d: int = 4, share: float = 0.4):
    """Rows, 0/1 labels that they say little of, and which rows are labelled."""
    rng = np.random.default_rng(seed)
    X, Y = rng.standard_normal((n, d)), (rng.random((n, 3)) < 0.5).astype(float)
    known = rng.random(n) < share
    known[:2], Y[0], Y[1] = True, 1, 0
    return X, Y, known


def fit(X, Y, known, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of large soft labels and closed components
        return SSDRMC(n_neighbors=K, max_label_changes=0, **options).fit(X, np.where(known[:, None], Y, np.nan))


def gram(V, i, index):
    return (V[i] - V[index[i]]) @ (V[i] - V[index[i]]).T


def dense_weights(X, index, F, alpha: float, reg: float, clip: bool, scale: float = 1.0):
    W = np.zeros((len(X), len(X)))
    for i in range(len(X)):
        L = gram(X, i, index)
        if F is not None:
            L = (1 - alpha) * L + alpha * scale * gram(F.astype(float), i, index)
        w = np.linalg.solve(L + reg * np.trace(L) / K * np.eye(K), np.ones(K))
        w = np.maximum(w / w.sum(), 0.0) if clip else w
        W[i, index[i]] = w / w.sum()
    return W


class Loop:
    """The alternation as it is written, and nothing kept."""

    def __init__(self, X, Y, known, alpha, reg=1e-3, clip=False, gains=False, beta=None, zero=False, balance=False):
        self.X, self.Y, self.known, self.alpha, self.reg, self.clip = X, Y > 0, known, alpha, reg, clip
        self.gains, self.beta, self.zero, self.balance, self.scale = gains, beta, zero, balance, 1.0
        self.index = nearest(X, K).index

    def weights(self, F):
        return dense_weights(self.X, self.index, F, self.alpha, self.reg, self.clip, self.scale)

    def soft(self, W, F):
        A, u = np.eye(len(W)) - W, ~self.known
        given = np.where(self.known[:, None], self.Y, F).astype(float)
        if self.beta is not None:
            return np.linalg.solve(A + self.beta * np.eye(len(W)), self.beta * given)
        out = np.where(self.known[:, None], self.Y, 0.0)
        out[u] = np.linalg.solve(A[np.ix_(u, u)], -A[u][:, self.known] @ self.Y[self.known].astype(float))
        return out

    def decided(self, soft, F):
        found = soft >= H
        found = found | F if self.gains else found
        return np.where(self.known[:, None], self.Y, found)

    def cost(self, F):
        W, V = self.weights(F), F.astype(float)
        features, labels = (np.sum((M - W @ M) ** 2) for M in (self.X, V))
        return (1 - self.alpha) * features + self.alpha * self.scale * labels

    def rescale(self, F):
        n = len(self.X)
        features, labels = (
            np.mean([np.trace(gram(V, i, self.index)) for i in some])
            for V, some in ((self.X, range(n)), (F.astype(float), np.flatnonzero(self.known)))
        )
        self.scale = features / labels

    def run(self):
        """(labels, soft labels, W, status, passes)."""
        F, states = self.Y & self.known[:, None], []
        if self.balance and self.zero:
            self.rescale(F)
        for number in range(1, 51):
            W, before = self.weights(None if number == 1 and not self.zero else F), F
            soft = self.soft(W, F)
            F = self.decided(soft, F)
            if number == 1 and self.balance and not self.zero:
                self.rescale(F)
            if number > 1 and np.array_equal(F, before):
                return F, soft, W, "converged", number
            if any(np.array_equal(F, each) for each in states):
                first = next(i for i, each in enumerate(states) if np.array_equal(F, each))
                return *self.least(states[first:]), "cycle", number
            states.append(F)
        return F, soft, W, "max_iter", number

    def least(self, members):
        best = int(np.argmin([self.cost(F) for F in members]))
        return members[best], self.soft(self.weights(members[best - 1]), members[best - 1]), self.weights(members[best])


def same(fitted, loop):
    F, soft, W, status, passes = loop.run()
    assert (fitted.status_, fitted.n_iter_) == (status, passes)
    np.testing.assert_array_equal(fitted.transduction_, F)
    np.testing.assert_allclose(fitted.soft_labels_, soft, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(fitted.reconstruction_.toarray(), W, rtol=1e-6, atol=1e-7)
    return status, passes


@pytest.mark.parametrize("init", ["features", "zero"])
@pytest.mark.parametrize("balance", ["none", "trace"])
def test_passes_are_those_of_the_plain_loop(init, balance):
    most = 0
    for seed in range(12):
        X, Y, known = rows(seed, share=0.5 if seed % 2 else 0.85)
        X = 40 * X
        options = {"alpha": 0.5, "reg": 0.05}
        fitted = fit(X, Y, known, weights="clip", unreachable="prior", init=init, balance=balance, **options)
        if fitted.trace_[-1]["unreached"] == 0:
            loop = Loop(X, Y, known, clip=True, zero=init == "zero", balance=balance == "trace", **options)
            most = max(most, same(fitted, loop)[1])
    assert most >= 3


def test_weights_after_convergence_are_those_of_the_labels():
    for seed in range(6):
        X, Y, known = rows(seed, n=60, d=6, share=0.9)
        for init in ("features", "zero"):
            fitted = fit(40 * X, Y, known, preset="recommended", init=init, alpha=0.5, balance="trace")
            fresh = dense_weights(
                40 * X, nearest(X, K).index, fitted.transduction_, 0.5, 0.05, True, fitted._blended.scale
            )
            assert fitted._blended.scale > 100 and fitted.status_ == "converged"
            np.testing.assert_allclose(fitted.reconstruction_.toarray(), fresh, atol=1e-8)


def test_a_cycle_ends_in_its_member_of_least_cost_with_the_weights_of_it():
    longest, lengths = 0, set()
    for seed in range(60):
        X, Y, known = rows(seed, n=30, d=3, share=0.3)
        fitted = fit(X, Y, known, alpha=0.9, solver="factor", unreachable="prior")
        if fitted.status_ == "cycle" and fitted.trace_[-1]["unreached"] == 0:
            loop = Loop(X, Y, known, 0.9)
            same(fitted, loop)
            lengths.add(fitted.n_iter_)
            before = loop.weights(fitted.transduction_) @ fitted.soft_labels_ - fitted.soft_labels_
            longest = max(longest, np.abs(before[~known]).max())
    assert len(lengths) >= 2
    assert longest > 1e-2  # the soft labels are those of the labels before


def test_monotone_labels_and_the_published_prior_gain_only():
    gained = 0
    for seed in range(12):
        X, Y, known = rows(seed)
        for name, options in (("monotone", {"monotone": True}), ("paper", {"prior": "paper"})):
            fitted = fit(X, Y, known, alpha=0.8, reg=0.01, weights="clip", unreachable="prior", **options)
            if fitted.trace_[-1]["unreached"] == 0:
                beta = 1.0 if name == "paper" else None
                same(fitted, Loop(X, Y, known, 0.8, 0.01, True, gains=True, beta=beta))
                lost = fitted.transduction_[~known] > (fitted.soft_labels_ >= H)[~known]
                gained += lost.any() and name == "monotone"
    assert gained >= 1


def local(X, scale=1.0, alpha=0.3):
    return LocalWeights(X, nearest(X, K).index, Blend(alpha, 0.01, "signed", scale), 3)


def test_only_rows_that_see_a_change_are_solved_anew():
    X, Y, _ = rows(0)
    F = Y > 0
    weights, index = local(X), nearest(X, K).index
    assert weights.update(F) == len(X)
    for i in range(len(X)):
        F = np.array(F)
        F[i, 1] ^= True
        seen = (index == i).any(axis=1)
        seen[i] = True
        fresh = local(X)
        fresh.update(F)
        assert weights.update(F) == seen.sum() < len(X)
        np.testing.assert_array_equal(weights.weights, fresh.weights)


def test_another_scale_makes_all_weights_anew():
    X, Y, _ = rows(1)
    weights, fresh = local(X), local(X, scale=7.0)
    weights.update(Y > 0)
    before = np.array(weights.weights)
    weights.scale_labels(7.0)
    weights.update(Y > 0)
    fresh.update(Y > 0)
    np.testing.assert_array_equal(weights.weights, fresh.weights)
    assert np.abs(weights.weights - before).max() > 1e-3


def test_the_cost_has_both_parts_with_their_factors():
    X, Y, known = rows(2)
    weights = local(X, scale=3.0, alpha=0.4)
    weights.update(Y > 0)
    run = Alternation(weights, np.repeat(known[:, None], 3, axis=1), Y > 0, Inference(), lambda soft: soft >= H)
    W = np.zeros((len(X), len(X)))
    np.put_along_axis(W, weights.index, weights.weights, axis=1)
    features, labels = (np.sum((M - W @ M) ** 2) for M in (X, Y))
    np.testing.assert_allclose(run.cost(Y > 0), (0.6 * features, 0.4 * 3.0 * labels), rtol=1e-10)


def test_costs_of_rows_whose_squares_leave_the_range_are_in_their_units():
    X, Y, _ = rows(3)
    X = 1e130 * X
    X[:, 0] *= 1e20
    plain, scaled = local(2.0**-440 * X), local(X)
    for weights in (plain, scaled):
        weights.update(None)
    assert scaled.far and not plain.far
    np.testing.assert_allclose(scaled.weights, plain.weights, rtol=1e-9)
    np.testing.assert_allclose(scaled.feature_error(), plain.feature_error() * 2.0**440 * 2.0**440, rtol=1e-9)
