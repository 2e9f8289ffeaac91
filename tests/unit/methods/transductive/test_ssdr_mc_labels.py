"""SSDRMC's labels: what is predicted and what its scores say of it, thresholds, rows without a path, new rows."""

import warnings

import numpy as np
import pytest

import strategies
from proxembed import SSDRMC
from proxembed.classify.thresholds import label_folds, tune_thresholds
from proxembed.methods.transductive.label_iteration import LocalWeights
from proxembed.proximity.backends import nearest

N, D, C, K = 80, 20, 4, 8
X, TRUE = strategies.labelled_rows(N, D, C, 5)
NEW = strategies.told_by_labels(strategies.features_dense(30, D, 6), TRUE[:30], 5)
KNOWN = np.random.default_rng(0).random(N) < 0.5
Y = np.where(KNOWN[:, None], TRUE, np.nan)
CLASSES = np.where(KNOWN, TRUE.argmax(axis=1), np.nan)
CALM = {"preset": "recommended", "n_neighbors": K}


def fit(rows=X, y=Y, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of closed components and large soft labels
        return SSDRMC(**{**CALM, **options}).fit(rows, y)


SETTINGS = [
    {},
    {"min_labels": 1, "label_threshold": 0.6},
    {"prior": "paper", "prior_strength": 0.1},
    {"prior": "masked", "prior_strength": 0.1},
    {"monotone": True, "alpha": 0.9, "max_label_changes": 0},
    {"label_threshold": [0.2, 0.3, 0.4, 0.9], "weights": "signed"},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda each: "-".join(each) or "default")
def test_scores_and_probabilities_agree_with_what_is_predicted(settings):
    fitted = fit(**settings)
    np.testing.assert_array_equal(fitted.predict(X), fitted.transduction_)
    for rows in (X, NEW):
        predicted, scores, p = fitted.predict(rows) > 0, fitted.decision_function(rows), fitted.predict_proba(rows)
        np.testing.assert_array_equal(predicted, scores > 0)
        np.testing.assert_array_equal(predicted, scores >= 0)
        np.testing.assert_array_equal(predicted, p >= 0.5)
        assert p.min() >= 0 and p.max() <= 1 and len(np.unique(p)) > 10


@pytest.mark.parametrize("prior", ["hard", "masked", "paper"])
@pytest.mark.parametrize("many", [True, False])
def test_classes_agree_too_and_given_ones_hold(prior, many):
    y = CLASSES if many else np.where(np.isnan(CLASSES), np.nan, CLASSES > 0)
    fitted = fit(y=y, prior=prior, prior_strength=0.05)
    if prior != "masked":
        np.testing.assert_array_equal(fitted.transduction_[KNOWN], y[KNOWN])
    np.testing.assert_array_equal(fitted.predict(X), fitted.transduction_)
    for rows in (X, NEW):
        predicted, p, scores = fitted.predict(rows), fitted.predict_proba(rows), fitted.decision_function(rows)
        np.testing.assert_array_equal(predicted, fitted.classes_[p.argmax(axis=1)])
        np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
        chosen = scores.argmax(axis=1) if many else (scores > 0).astype(int)
        np.testing.assert_array_equal(predicted, fitted.classes_[chosen])


def test_the_published_prior_would_lose_given_classes_by_soft_labels_alone():
    fitted = fit(y=CLASSES, prior="paper", prior_strength=0.05)
    assert np.any(fitted.soft_labels_.argmax(axis=1)[KNOWN] != CLASSES[KNOWN])
    assert fitted._F.sum(axis=1).tolist() == [1] * N


def test_classes_that_stay_are_refused():
    with pytest.raises(ValueError, match="SSDRMC: monotone=True is not allowed with one class per row"):
        fit(y=CLASSES, monotone=True)


def test_a_row_without_any_class_has_the_classes_shares():
    far = np.vstack([X, X[:12] + 1000.0])
    y = np.append(np.where(KNOWN, (CLASSES == 1).astype(float), np.nan), np.full(12, np.nan))
    y = np.where(np.isnan(y), np.nan, 1 - y)  # class 0 is the rare one
    fitted = fit(far, 1 - y, prior="paper", max_iter=1)
    assert not fitted.soft_labels_[N:].any()
    share = np.mean((1 - y)[:N][KNOWN] == 0)
    assert 0.5 < share < 0.95
    np.testing.assert_allclose(fitted.predict_proba(far[N:])[:, 0], share, rtol=1e-12)


def test_soft_labels_that_differ_by_rounding_are_equal():
    fitted = fit(label_threshold=0.5)
    soft = np.array([[0.5 - 1e-10, 0.5 + 1e-10, 0.5 - 1e-6, 0.5 + 1e-6]])
    assert fitted._decide(soft).tolist() == [[True, True, False, True]]
    one = fit(y=CLASSES)
    soft = np.array([[0.2, 0.4 - 1e-10, 0.4], [0.2, 0.4 - 1e-6, 0.4]])
    assert one._decide(soft).argmax(axis=1).tolist() == [1, 2]


def test_ties_do_not_follow_the_order_of_rows():
    """Whole numbers as features and all rows as neighbours: many soft labels are 1/2 but for rounding."""
    for seed in range(25):
        rng = np.random.default_rng(seed)
        rows, true = rng.integers(0, 4, (40, 2)).astype(float), (rng.random((40, 3)) < 0.5).astype(float)
        y = np.where(rng.random(40)[:, None] < 0.5, true, np.nan)
        y[0], y[1] = 1, 0
        order, options = rng.permutation(40), {"n_neighbors": 39, "label_threshold": 0.5}
        one, other = fit(rows, y, **options), fit(rows[order], y[order], **options)
        np.testing.assert_array_equal(other.transduction_, one.transduction_[order])


def test_the_tuned_threshold_is_the_best_on_labelled_rows_that_were_hidden():
    full = np.flatnonzero(KNOWN)
    held_out = full[next(iter(label_folds(5, TRUE[full] > 0)))[1]]
    y = np.array(Y)
    y[held_out] = np.nan
    for init in ("features", "zero"):
        options = {"init": init, "balance": "trace", "alpha": 0.4}
        soft = fit(y=y, max_iter=1, **options).soft_labels_[held_out]
        cut = float(tune_thresholds(soft, TRUE[held_out] > 0).global_cut)
        tuned = fit(label_threshold="tuned", **options)
        assert 0.01 < cut < 0.99 and abs(cut - 0.5) > 1e-3
        np.testing.assert_allclose(tuned.cuts_, cut, atol=1e-9)
        given = fit(label_threshold=float(tuned.cuts_[0]), **options)
        np.testing.assert_array_equal(tuned.soft_labels_, given.soft_labels_)
        np.testing.assert_array_equal(tuned.reconstruction_.data, given.reconstruction_.data)


def test_tuning_leaves_no_scale_of_labels_behind():
    model = SSDRMC(**CALM, balance="trace", init="zero", label_threshold="tuned")
    model._form = "indicator"
    local = LocalWeights(40 * X, nearest(X, K).index, model._blend(), C)
    model._tuned(local, np.repeat(KNOWN[:, None], C, axis=1), TRUE > 0)
    assert local.blend.scale == 1.0 and local.labels is None


def test_classes_need_no_threshold_and_no_rows_to_tune_one():
    few = np.where(np.cumsum(KNOWN) <= 8, CLASSES, np.nan)
    one, other = fit(y=few, label_threshold="tuned"), fit(y=few)
    np.testing.assert_array_equal(one.transduction_, other.transduction_)
    column = fit(y=np.where(KNOWN, TRUE[:, 0], np.nan)[:, None], label_threshold=0.9)
    np.testing.assert_array_equal(column.transduction_, column.soft_labels_.argmax(axis=1))


@pytest.mark.parametrize("bad", [["a", "b", "c", "d"], [0.2, [0.3], 0.4, 0.5], [[0.3] * 4], [0.1, 0.2, 0.3, np.nan]])
def test_thresholds_that_are_no_numbers_are_refused_by_name(bad):
    with pytest.raises(ValueError, match=r"SSDRMC: label_threshold=.* is not allowed: it must be a number"):
        fit(label_threshold=bad)


@pytest.mark.parametrize(
    ("name", "value"), [("reg", np.inf), ("reg", 1e-20), ("prior_strength", np.inf), ("prior_strength", 1e300)]
)
def test_numbers_that_no_system_bears_are_refused_by_name(name, value):
    with pytest.raises(ValueError, match=f"SSDRMC: {name}=.* is not allowed"):
        fit(prior="masked", **{name: value})


@pytest.mark.parametrize("reg", [1e-12, 1e6])
@pytest.mark.parametrize("strength", [1e-12, 1e12])
def test_the_ends_of_their_ranges_are_solved(reg, strength):
    fitted = fit(np.round(X), reg=reg, prior="masked", prior_strength=strength)
    assert np.isfinite(fitted.soft_labels_).all() and np.isfinite(fitted.embedding_).all()


def test_an_anchor_takes_the_place_of_the_last_neighbour():
    rows, y = np.vstack([X, X[:12] + 1000.0]), np.vstack([Y, np.full((12, C), np.nan)])
    W = fit(rows, y, weights="signed").reconstruction_
    d2 = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
    np.fill_diagonal(d2, np.inf)
    order = np.argsort(d2, axis=1, kind="stable")
    labelled = np.flatnonzero(KNOWN)
    for i in range(N, N + 12):
        anchor = labelled[d2[i, labelled].argmin()]
        assert set(W[[i]].indices.tolist()) == {*order[i, : K - 1].tolist(), anchor}
    np.testing.assert_array_equal(np.sort(W[[0]].indices), np.sort(order[0, :K]))


def test_rows_known_in_part_are_reached_where_no_row_is_known_in_full():
    y = np.array(Y)
    y[KNOWN, np.arange(KNOWN.sum()) % C] = np.nan
    assert np.isnan(y).any(axis=1).all()
    raised, anchored = fit(y=y, unreachable="raise"), fit(y=y)
    np.testing.assert_array_equal(raised.reconstruction_.toarray(), anchored.reconstruction_.toarray())
    d2 = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    np.fill_diagonal(d2, np.inf)
    near = np.sort(np.argsort(d2, axis=1, kind="stable")[:, :K], axis=1)
    np.testing.assert_array_equal(anchored.reconstruction_.indices.reshape(N, K), near)


def test_a_row_known_in_part_is_no_goal_where_others_are_known_in_full():
    rows, y = np.vstack([X, X[:12] + 1000.0]), np.vstack([Y, np.full((12, C), np.nan)])
    y[N, 0] = 1.0
    with pytest.raises(ValueError, match="12 rows have no path"):
        fit(rows, y, unreachable="raise")


def test_every_round_of_a_new_row_takes_its_labels_anew():
    rng = np.random.default_rng(0)
    rows, new, true = rng.standard_normal((60, 4)), rng.standard_normal((200, 4)), rng.random((60, C)) < 0.5
    options = {"alpha": 0.3, "reg": 1e-3}
    fitted = {refine: fit(rows, true.astype(float), refine=refine, **options) for refine in (0, 1, 2, 9)}
    d2 = ((new[:, None] - rows[None]) ** 2).sum(axis=2)
    index = np.argsort(d2, axis=1, kind="stable")[:, :K]
    F = np.empty((10, 200, C), dtype=bool)
    for i, near in enumerate(index):
        P, Q = (new[i] - rows[near]) @ (new[i] - rows[near]).T, None
        for turn in range(10):
            L = P if Q is None else 0.7 * P + 0.3 * Q
            w = np.maximum(np.linalg.solve(L + 1e-3 * np.trace(L) / K * np.eye(K), np.ones(K)), 0)
            F[turn, i] = w / w.sum() @ true[near] >= 0.3
            difference = F[turn, i].astype(float) - true[near]
            Q = difference @ difference.T
    for refine, each in fitted.items():
        np.testing.assert_array_equal(each.predict(new), F[refine], err_msg=str(refine))
    assert [np.any(F[i] != F[i + 1]) for i in range(2)] == [True, True]


def test_few_rows_are_all_neighbours_of_a_new_one():
    fitted = fit(X[:6], TRUE[:6], n_neighbors=15, refine=0, reg=0.5)
    P = (NEW[0] - X[:6]) @ (NEW[0] - X[:6]).T
    w = np.maximum(np.linalg.solve(P + 0.5 * np.trace(P) / 6 * np.eye(6), np.ones(6)), 0)
    np.testing.assert_allclose(fitted.transform(NEW[:1])[0], w / w.sum() @ fitted.embedding_, atol=1e-9)


def test_the_largest_soft_label_told_is_one_of_an_unknown_cell():
    fitted = fit(weights="signed")
    assert fitted.trace_[-1]["largest"] == np.abs(fitted.soft_labels_[~KNOWN]).max()
    assert fit(y=TRUE).trace_[-1]["largest"] == 0.0


def test_a_route_that_solved_a_pass_is_tried_first_in_the_next(monkeypatch):
    from proxembed.algebra.graphs import nonsymmetric

    calls = []

    def fails(A, B, start, limit):
        calls.append(limit)
        return np.full(B.shape, np.nan), limit

    monkeypatch.setitem(nonsymmetric.ROUTES, "bicgstab", fails)
    monkeypatch.setattr(nonsymmetric, "FACTOR_UP_TO", 0)
    monkeypatch.setattr(nonsymmetric, "EASY_STEPS", 0)
    fitted = fit(alpha=0.9, max_label_changes=0)
    assert fitted.n_iter_ >= 2 and len(calls) == 1 and fitted.solver_ == "factor"
    plain = fit(alpha=0.9, max_label_changes=0, solver="factor")
    np.testing.assert_array_equal(fitted.soft_labels_, plain.soft_labels_)
