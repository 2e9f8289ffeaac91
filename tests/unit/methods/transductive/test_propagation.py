"""Propagation as estimators: labels in and out, graphs, cuts, new rows, and what is refused."""

import re
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import average_precision_score, f1_score

import strategies
from designs import each_value, pairwise
from proxembed import MLGFHF, MLGRF, MLLGC, SMSE
from proxembed.classify.thresholds import label_folds, tune_thresholds
from proxembed.methods.transductive.propagator import mass_cuts

N, C = 60, 4
X, TRUE = strategies.labelled_rows(N, 6, C, 3)
NEW = strategies.told_by_labels(strategies.features_dense(8, 6, 4), TRUE[:8], 3)
KNOWN = np.arange(N) % 3 > 0
Y = np.where(KNOWN[:, None], TRUE, np.nan)
CLASSES = TRUE.argmax(axis=1)
METHODS = [MLGFHF(), SMSE(), SMSE(form="soft"), MLGRF(), MLLGC(), MLLGC(sigma_form="similarity")]
every = pytest.mark.parametrize("estimator", METHODS, ids=repr)

LINE = np.arange(4.0)[:, None]
PATH = {"graph": "closeness", "eps": 1.0, "weights": "constant"}


def fixed(estimator):
    return clone(estimator).set_params(decision="fixed")


def test_harmonic_scores_of_four_points_on_a_line():
    fitted = MLGFHF(**PATH).fit(LINE, [1, np.nan, np.nan, 0])
    np.testing.assert_allclose(fitted.scores_[:, 1], [1, 2 / 3, 1 / 3, 0], atol=1e-12)
    np.testing.assert_allclose(fitted.scores_.sum(axis=1), 1.0, atol=1e-12)
    assert fitted.transduction_.tolist() == [1, 1, 0, 0]
    np.testing.assert_allclose(fitted.transform([[0.4], [2.5]])[:, 1], [5 / 6, 1 / 6], atol=1e-12)
    assert fitted.predict([[0.4], [2.6]]).tolist() == [1, 0]


def test_fields_of_three_points_on_a_line_with_both_ends_labelled():
    """(J + L) z = e1 and (I + Lsym) z = e1, by hand; r = 1 / sqrt(2) links the ends to the middle in Lsym."""
    options = {**PATH, "label_smoothness": 0, "smoothness": 1.0}
    y = np.array([[1.0, 0.0], [np.nan, np.nan], [0.0, 1.0]])
    np.testing.assert_allclose(MLGRF(**options).fit(LINE[:3], y).scores_[:, 0], [0.75, 0.5, 0.25], atol=1e-12)
    z, r = MLLGC(**options).fit(LINE[:3], y).scores_[:, 0], 2**-0.5
    np.testing.assert_allclose(z, [7 / 12, r / 3, 1 / 12], atol=1e-12)


def test_the_graph_is_that_of_the_nearest_rows_with_gaussian_weights():
    d2 = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    near = np.zeros((N, N), dtype=bool)
    for i in range(N):
        near[i, np.argsort(np.where(np.arange(N) == i, np.inf, d2[i]), kind="stable")[:3]] = True
    near |= near.T
    W = np.where(near, np.exp(-d2 / np.median(d2[near])), 0.0)
    fitted = fixed(MLGFHF(n_neighbors=3)).fit(X, Y)
    np.testing.assert_allclose(fitted.affinity_.toarray(), W, atol=1e-12)
    index = np.argsort(((NEW[:, None] - X[None]) ** 2).sum(axis=2), axis=1, kind="stable")[:, :3]
    w = np.exp(-np.take_along_axis(((NEW[:, None] - X[None]) ** 2).sum(axis=2), index, axis=1) / fitted.tau_)
    expected = np.einsum("ij,ijc->ic", w, fitted.scores_[index]) / w.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(fitted.transform(NEW), expected, atol=1e-12)


@every
def test_a_row_of_training_keeps_its_scores(estimator):
    fitted = clone(estimator).fit(X, Y)
    np.testing.assert_array_equal(fitted.transform(X), fitted.scores_)
    np.testing.assert_array_equal(fitted.predict(X), fitted.transduction_)
    np.testing.assert_array_equal(fitted.predict_proba(X), fitted.label_distributions_)
    np.testing.assert_array_equal(fitted.fit_transform(X, Y), fitted.scores_)
    assert fitted.transform(X.astype(np.float32)).dtype == np.float32


@each_value
@every
@pytest.mark.parametrize("decision", ["tuned", "cmn", "fixed"])
def test_scores_probabilities_and_labels_agree(estimator, decision):
    fitted = clone(estimator).set_params(decision=decision).fit(X, Y)
    for rows in (X, NEW):
        predicted, p = fitted.predict(rows), fitted.predict_proba(rows)
        assert p.shape == (len(rows), C) and p.min() > 0 and p.max() < 1
        np.testing.assert_array_equal(predicted, p > 0.5)
        np.testing.assert_array_equal(predicted, fitted.decision_function(rows) > 0)
    if estimator.form == "exact" if isinstance(estimator, SMSE) else isinstance(estimator, MLGFHF):
        np.testing.assert_array_equal(fitted.transduction_[KNOWN], TRUE[KNOWN])
    assert fitted.score(X, fitted.transduction_) == 1.0 > fitted.score(X, 1 - fitted.transduction_)


@every
def test_scores_of_decision_are_shares_less_their_cuts(estimator):
    fitted = clone(estimator).fit(X, Y)
    assert fitted.shares_.min() >= 0 and fitted.shares_.max() <= 1 and fitted.cuts_.shape == (C,)
    np.testing.assert_array_equal(fitted.decision_function(X), fitted.shares_ - fitted.cuts_)
    np.testing.assert_array_equal(fitted.transform(X), fitted.scores_)
    for j, p in enumerate(fitted.predict_proba(X).T):
        order = np.argsort(fitted.shares_[:, j])
        assert np.all(np.diff(p[order]) >= -1e-12)


@every
def test_tuned_cuts_come_from_rows_whose_labels_were_hidden(estimator):
    fitted = clone(estimator).fit(X, Y)
    index = np.flatnonzero(KNOWN)
    held_out_shares = np.empty((len(index), C))
    for _, held_out in label_folds(5, TRUE[KNOWN] > 0):
        hidden = Y.copy()
        hidden[index[held_out]] = np.nan
        held_out_shares[held_out] = fixed(estimator).fit(X, hidden).shares_[index[held_out]]
    np.testing.assert_allclose(
        fitted.cuts_, np.clip(tune_thresholds(held_out_shares, TRUE[KNOWN]).cuts, 0, 1), atol=1e-9
    )
    np.testing.assert_array_equal(fixed(estimator).fit(X, Y).cuts_, 0.5)


@every
def test_class_mass_normalisation_is_its_rule(estimator):
    fitted = clone(estimator).set_params(decision="cmn").fit(X, Y)
    h, q = fitted.shares_, TRUE[KNOWN].mean(axis=0)
    own, rest = h[~KNOWN].sum(axis=0), (1 - h[~KNOWN]).sum(axis=0)
    expected = q * h / own > (1 - q) * (1 - h) / rest
    np.testing.assert_array_equal(fitted.transduction_, expected)
    assert np.any(fitted.transduction_ != (h > 0.5)) or np.allclose(fitted.cuts_, 0.5, atol=0.1)


def test_class_mass_without_any_mass_cuts_at_half():
    np.testing.assert_array_equal(mass_cuts(np.zeros((0, 2)), np.array([0.2, 0.5])), 0.5)


@every
def test_all_rows_labelled(estimator):
    fitted = clone(estimator).fit(X, TRUE)
    assert np.all(np.isfinite(fitted.scores_)) and fitted.transduction_.shape == TRUE.shape
    if isinstance(estimator, MLGFHF) or getattr(estimator, "form", "") == "exact":
        np.testing.assert_array_equal(fitted.scores_, TRUE)
        np.testing.assert_array_equal(fitted.transduction_, TRUE)
        assert fitted.solver_ == "none"


FORMS = {
    "sets": [
        set("abcd"[j] for j in np.flatnonzero(row)) if known else None for row, known in zip(TRUE, KNOWN, strict=True)
    ],
    "signs": 2 * Y - 1,
    "sparse": sp.csr_array(Y),
}


@pytest.mark.parametrize("form", FORMS)
def test_labels_come_back_in_the_form_of_y(form):
    plain, fitted = MLLGC().fit(X, Y), MLLGC().fit(X, FORMS[form])
    np.testing.assert_array_equal(fitted.scores_, plain.scores_)
    expected = {
        "sets": [set("abcd"[j] for j in np.flatnonzero(row)) for row in plain.transduction_],
        "signs": 2 * plain.transduction_ - 1,
        "sparse": plain.transduction_,
    }[form]
    assert np.array_equal(fitted.transduction_, expected) if form != "sets" else fitted.transduction_ == expected
    assert fitted.score(X, fitted.predict(X)) == 1.0


@each_value
@every
@pytest.mark.parametrize("decision", ["tuned", "cmn"])
def test_one_class_a_row(estimator, decision):
    names = np.array(["d", "b", "a", "c"])
    y = names[CLASSES].astype(object)
    y[~KNOWN] = None
    fitted = clone(estimator).set_params(decision=decision).fit(X, y)
    assert fitted.classes_.tolist() == ["a", "b", "c", "d"] and fitted.cuts_ is None
    assert set(fitted.transduction_) <= set(names)
    np.testing.assert_allclose(fitted.predict_proba(NEW).sum(axis=1), 1.0)
    np.testing.assert_array_equal(fitted.predict(NEW), fitted.classes_[fitted.predict_proba(NEW).argmax(axis=1)])
    numbers = clone(fitted).fit(X, np.where(KNOWN, CLASSES, np.nan))  # 0..3 are d, b, a, c
    np.testing.assert_allclose(numbers.scores_[:, [2, 1, 3, 0]], fitted.scores_, atol=1e-9)
    np.testing.assert_array_equal(names[numbers.predict(X)], fitted.predict(X))


@every
def test_order_of_rows_and_of_labels_does_not_matter(estimator):
    estimator = fixed(estimator)
    Z = estimator.fit(X, Y).scores_
    rows, columns = np.random.default_rng(0).permutation(N), [2, 0, 3, 1]
    np.testing.assert_allclose(clone(estimator).fit(X[rows], Y[rows]).scores_, Z[rows], atol=1e-8)
    np.testing.assert_allclose(clone(estimator).fit(X, Y[:, columns]).scores_, Z[:, columns], atol=1e-9)


@every
def test_sparse_rows_are_dense_rows(estimator):
    rows = strategies.features_text(N, 80, 3)
    one, other = clone(estimator).fit(rows, Y), clone(estimator).fit(rows.toarray(), Y)
    np.testing.assert_allclose(one.scores_, other.scores_, atol=1e-9)
    new = strategies.features_text(5, 80, 8)
    np.testing.assert_allclose(one.transform(new), other.transform(new.toarray()), atol=1e-9)
    np.testing.assert_allclose(one.transform(new.toarray()), one.transform(new), atol=1e-12)


GRAPHS = [
    {"graph": "mutual", "n_neighbors": 20},
    {"graph": "directed"},
    {"graph": "full"},
    {"weights": "cosine"},
    {"weights": "local_scaling"},
    {"metric": "cosine"},
    {"weights": "alternative", "tau": 0.5},
    {"weights": "geodesic"},
]


@pytest.mark.parametrize("options", GRAPHS, ids=str)
def test_every_graph(options):
    fitted = SMSE(**options).fit(X, Y)
    W = fitted.affinity_
    assert abs(W - W.T).max() < 1e-15 and not W.diagonal().any()
    assert np.all(np.isfinite(fitted.transform(NEW))) and np.linalg.norm(fitted.transform(NEW)) > 0


@every
def test_pieces_without_a_labelled_row_have_scores_of_zero(estimator):
    if getattr(estimator, "sigma_form", "") == "similarity":
        estimator = clone(estimator).set_params(label_smoothness=0)
    apart, y = np.vstack([X, X[:10] + 1000.0]), np.vstack([Y, np.full((10, C), np.nan)])
    options = {"decision": "cmn", "weights": "constant"}
    with pytest.warns(UserWarning, match="10 rows lie in 1 components of the graph without a labelled row"):
        fitted = clone(estimator).set_params(**options).fit(apart, y)
    alone = clone(estimator).set_params(**options).fit(X, Y)
    np.testing.assert_allclose(fitted.scores_[:N], alone.scores_, atol=1e-9)
    assert not fitted.scores_[N:].any() and not fitted.transduction_[N:].any()
    np.testing.assert_allclose(fitted.cuts_, alone.cuts_, atol=1e-9)


def test_a_class_for_rows_that_no_label_reaches_is_the_most_frequent():
    apart, y = np.vstack([X, X[:10] + 1000.0]), np.append(np.where(KNOWN, CLASSES, np.nan), np.full(10, np.nan))
    with pytest.warns(UserWarning, match="without a labelled row"):
        fitted = MLGFHF().fit(apart, y)
    share = np.bincount(CLASSES[KNOWN]) / KNOWN.sum()
    np.testing.assert_allclose(fitted.label_distributions_[N:], np.tile(share, (10, 1)))
    assert np.all(fitted.transduction_[N:] == share.argmax())


def test_a_new_row_without_a_link_is_told():
    fitted = MLGFHF(graph="closeness", eps=1.0, weights="constant").fit(LINE, [1, np.nan, np.nan, 0])
    with pytest.warns(UserWarning, match="1 new rows have no link"):
        assert fitted.transform([[50.0]]).tolist() == [[0.0, 0.0]]


@every
def test_partly_unknown_rows_count_as_unlabelled(estimator):
    partly = Y.copy()
    partly[[1, 4, 7], [0, 1, 2]] = np.nan
    wholly = Y.copy()
    wholly[[1, 4, 7]] = np.nan
    with pytest.warns(UserWarning, match="3 of .* rows have some known and some unknown labels, and count"):
        one = clone(estimator).fit(X, partly)
    other = clone(estimator).fit(X, wholly)
    np.testing.assert_array_equal(one.scores_, other.scores_)
    np.testing.assert_array_equal(one.transduction_, other.transduction_)


def test_a_label_of_partly_unknown_rows_alone_is_predicted_nowhere():
    y = np.insert(Y, 1, 0.0, axis=1)
    y[4, 1], y[4, 3] = 1.0, np.nan
    wholly = Y.copy()
    wholly[4] = np.nan
    with pytest.warns(UserWarning, match="1 of .* rows have some known and some unknown labels"):
        fitted = SMSE().fit(X, y)
    assert (
        fitted.scores_.shape == (N, C + 1) and not fitted.scores_[:, 1].any() and not fitted.transduction_[:, 1].any()
    )
    np.testing.assert_array_equal(np.delete(fitted.scores_, 1, axis=1), SMSE().fit(X, wholly).scores_)


def test_no_row_is_wholly_known():
    y = TRUE.copy()
    y[np.arange(N), np.arange(N) % C] = np.nan
    with pytest.raises(ValueError, match="every row of y holds an unknown label"):
        MLGFHF().fit(X, y)


BAD_SIGMA = {
    "shape": (lambda Y: np.eye(2), r"shape \(2, 2\); \(4, 4\) is needed"),
    "not finite": (lambda Y: np.full((C, C), np.nan), "not finite"),
    "not symmetric": (lambda Y: np.triu(np.ones((C, C))), "not symmetric"),
}


@pytest.mark.parametrize("name", BAD_SIGMA)
def test_a_correlation_that_is_none(name):
    sigma, message = BAD_SIGMA[name]
    with pytest.raises(ValueError, match=message):
        MLLGC(sigma=sigma).fit(X, Y)


def test_a_correlation_of_ones_own():
    def same(columns):
        assert columns.shape == (KNOWN.sum(), C)
        return (columns.T @ columns).toarray()

    cosine = fixed(MLLGC(label_smoothness=0.3))
    own = clone(cosine).set_params(sigma=same).fit(X, Y).scores_
    assert np.abs(own - cosine.fit(X, Y).scores_).max() > 1e-3
    with pytest.raises(ValueError, match="sum to .* above 0"):
        fixed(SMSE(form="soft", sigma=lambda columns: -np.eye(C))).fit(X, Y)


def test_negative_correlations_are_allowed_as_far_as_the_system_stays_definite():
    against = -np.ones((C, C)) + 2 * np.eye(C)
    fixed(MLLGC(sigma=lambda columns: against, label_smoothness=0.1)).fit(X, Y)
    with pytest.raises(ValueError, match=r"label_smoothness=1.0 is not allowed: .* below 0.25"):
        fixed(MLLGC(sigma=lambda columns: against, label_smoothness=1.0)).fit(X, Y)


def test_a_fold_that_leaves_the_system_indefinite_is_named():
    """Fewer labelled rows make the printed random field less definite: what all of them allow, a fold may not."""
    with pytest.raises(ValueError, match="positive definite only for label_smoothness below") as refusal:
        fixed(MLGRF(sigma_form="similarity", label_smoothness=1.0)).fit(X, Y)
    bound = float(str(refusal.value).split("label_smoothness below ")[1].split(". Use")[0])
    allowed = MLGRF(sigma_form="similarity", label_smoothness=0.999 * bound)
    fixed(allowed).fit(X, Y)
    with pytest.raises(ValueError, match="with a fold of the labelled rows hidden, as decision='tuned' does"):
        allowed.fit(X, Y)


@pytest.mark.parametrize("name", ["emotions", "birds"])
def test_real_rows_with_a_fifth_labelled(data_folder, name):
    """Held-out average precision and F1 above those of scores that know nothing of the row."""
    with np.load(data_folder / f"{name}.npz", allow_pickle=False) as file:
        rows, true = np.asarray(file["X"], dtype=float), np.asarray(file["Y"], dtype=float)
    rows = (rows - rows.mean(axis=0)) / np.maximum(rows.std(axis=0), 1e-9)
    known = np.random.default_rng(0).random(len(rows)) < 0.2
    y = np.where(known[:, None], true, np.nan)
    hidden = true[~known]
    scored = hidden.any(axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for estimator in METHODS:
            fitted = clone(estimator).set_params(n_neighbors=10).fit(rows, y)
            AP = average_precision_score(hidden[:, scored], fitted.shares_[~known][:, scored], average="macro")
            assert AP > 1.5 * hidden[:, scored].mean(), fitted
            F1 = f1_score(hidden, fitted.transduction_[~known], average="micro")
            chance = f1_score(
                hidden, np.random.default_rng(1).permutation(fitted.transduction_[~known]), average="micro"
            )
            assert F1 > 1.2 * chance, fitted


CORRELATED = pytest.mark.parametrize("cls", [MLGRF, MLLGC, SMSE], ids=lambda c: c.__name__)


@pairwise
@CORRELATED
@pytest.mark.parametrize("label_smoothness", [0.0, 5e-324, 1e6])
@pytest.mark.parametrize("smoothness", [1e-6, 1e6])
def test_every_weight_within_the_ranges_gives_scores(cls, smoothness, label_smoothness):
    for seed in range(4):
        draw = np.random.default_rng(seed)
        rows, y = draw.standard_normal((40, 4)), (draw.random((40, 3)) < 0.4).astype(float)
        y[draw.random(40) < 0.5] = np.nan
        model = cls(smoothness=smoothness, label_smoothness=label_smoothness).fit(rows, y)
        assert np.isfinite(model.scores_).all()


@CORRELATED
@pytest.mark.parametrize("value", [1e-320, 1e-30, 1e30])
def test_weights_beside_which_the_others_are_lost_are_refused(cls, value):
    named = re.escape(f"{cls.__name__}: smoothness={value!r} is not allowed; smoothness must be a number >= 1e-06")
    with pytest.raises(ValueError, match=named):
        cls(smoothness=value).fit(X, Y)
    if value > 1:
        with pytest.raises(ValueError, match="label_smoothness=1e.30 is not allowed; label_smoothness must be"):
            cls(label_smoothness=value).fit(X, Y)
