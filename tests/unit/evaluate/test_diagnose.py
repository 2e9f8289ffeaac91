"""Diagnosis: shuffled labels give chance, leaks and memory are caught, losses and unstable components are named."""

import json
import threading
from concurrent.futures.process import BrokenProcessPool
from functools import wraps

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from joblib import parallel_config
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA as DecomposedPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from proxembed import FDA, OPLS, PCA, Kernelized, Layout, RowBlocks, TableEncoder, TargetSpace
from proxembed.algebra.pencil import coordinates
from proxembed.algebra.pencil.symmetric import descending
from proxembed.data import Dataset
from proxembed.estimator.rows import SeenRows
from proxembed.evaluate.arms import Arm
from proxembed.evaluate.diagnose import crossfit_embedding, diagnose, embedding_method
from proxembed.evaluate.part import prepare
from proxembed.evaluate.results import RIDGE
from proxembed.evaluate.scoring import Measures, score
from proxembed.measures.measures import AVERAGE_PRECISION, measure_of
from proxembed.measures.metrics import jaccard_at_k, macro_average_precision
from proxembed.measures.neighbors import neighbor_weights, new_neighbor_weights
from proxembed.methods.pipeline import embedding_pipeline
from proxembed.splits.splits import GroupFolds, Split, StratifiedFolds
from proxembed.targets.labels import LabelMatrix
from proxembed.workflow.one_fit import killed_fits, verdict

N = 150


def made(seed=0, n=N, d=8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, :3] + 0.5 * rng.normal(size=(n, 3)) > 0.4).astype(int)


def noise(seed=0, n=N, d=8):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), (rng.random((n, 3)) < 0.4).astype(int)


class Memory(TransformerMixin, BaseEstimator):
    """A leaky estimator: rows seen in fit become their own labels, other rows noise."""

    def fit(self, X, y):
        self.seen_, self.Y_ = SeenRows(X), np.asarray(y, dtype=float)
        return self

    def transform(self, X):
        found = self.seen_.find(X)
        Z = np.random.default_rng(len(X)).normal(size=(len(X), self.Y_.shape[1]))
        return np.where(found[:, None] >= 0, self.Y_[found], Z)


class First(TransformerMixin, BaseEstimator):
    """The first column alone: whatever the rows, the same component; with a second one that is drawn anew."""

    def __init__(self, with_noise=False):
        self.with_noise = with_noise

    def fit(self, X, y=None):
        self.w_ = np.random.default_rng(int(1e6 * abs(X.sum()))).normal(size=X.shape[1] - 1)
        return self

    def transform(self, X):
        return np.column_stack([X[:, 0], X[:, 1:] @ self.w_])[:, : 2 if self.with_noise else 1]


def test_a_relation_passes_and_shuffled_labels_are_at_chance():
    X, Y = made()
    found = diagnose(OPLS(), X, Y, n_resamples=2)
    assert found.passed and found.p == 1 / 21 and len(found.null) == 20
    assert found.held_out > max(found.null) + 0.2
    assert found.held_out > random_scores(Y, 400).max() + 0.2


def random_scores(Y, n_draws):
    """Macro average precision of scores drawn at random on the folds of ``diagnose``: chance (not prevalence)."""
    rng, folds = np.random.default_rng(0), list(StratifiedFolds(3).split(Y, Y))
    draws = [
        [macro_average_precision(Y[part], rng.normal(size=Y[part].shape)).value for _, part in folds]
        for _ in range(n_draws)
    ]
    return np.mean(draws, axis=1)


@pytest.mark.parametrize("estimator", [OPLS(ridge=1e-3), Kernelized(OPLS()), PCA(n_components=3)])
def test_permuted_labels_give_chance_on_held_out_rows(estimator):
    """Over permutations, and not for each: a single one may be related to X by chance."""
    X, Y = made(n=90)
    permuted = [Y[np.random.default_rng(seed).permutation(len(Y))] for seed in range(8)]
    found = [diagnose(estimator, X, P, n_shuffles=1, n_resamples=1) for P in permuted]
    chance = random_scores(Y, 400)
    for values in ([each.held_out for each in found], [each.null[0] for each in found]):
        error = np.hypot(np.std(values, ddof=1) / np.sqrt(len(values)), np.std(chance) / np.sqrt(len(chance)))
        assert abs(np.mean(values) - chance.mean()) < 3 * error


def test_the_stack_of_target_space_is_what_is_diagnosed():
    """Its own read-out, as in a comparison: neither a ridge on its components, nor scores of rows that it has seen."""
    X, Y = made(n=80)
    space = TargetSpace(n_estimators=5, bases=["ridge", "forest"], n_components=1)
    split = Split("1", np.arange(50), np.arange(50, 80))
    for estimator in (space, make_pipeline(StandardScaler(), space)):
        found = diagnose(estimator, X, Y, n_shuffles=1, n_resamples=1, cv=[split])
        model = clone(estimator).fit(X[:50], Y[:50])
        held_out = macro_average_precision(Y[50:], model.predict_proba(X[50:])).value
        own = macro_average_precision(Y[:50], (model if estimator is space else model[-1]).own_predictions_).value
        assert (found.held_out, found.own_rows) == pytest.approx((held_out, own), abs=1e-6)
    data = Dataset(X, Y.astype(np.uint8))
    measures = Measures(((measure_of(AVERAGE_PRECISION), RIDGE),), (1,))
    assert score(Arm("space", space), prepare(data, split), measures).curve[1] == pytest.approx(held_out, abs=1e-6)


def test_a_leaky_estimator_is_caught():
    X, Y = made()
    found = diagnose(Memory(), X, Y, n_resamples=2)
    assert found.own_rows > 0.99 and found.optimism > 0.4
    chance = random_scores(Y, 400)
    assert not found.passed and chance.min() < found.held_out < chance.max()
    assert found.raw > found.held_out + 0.2 and len(found.worse_labels) == 3
    assert max(found.stability) < 0.3


def test_optimism_is_own_rows_less_held_out_ones():
    X, Y = noise(d=60)
    found = diagnose(OPLS(ridge=1e-3), X, Y, n_shuffles=1, n_resamples=1)
    assert found.optimism == found.own_rows - found.held_out > 0.3


def test_labels_that_got_worse_are_named_with_what_they_lost():
    X, Y = made()
    found = diagnose(First(), X, Y, n_shuffles=1, n_resamples=1)
    assert {row["label"] for row in found.worse_labels} == {"1", "2"}
    losses = [row["raw"] - row["embedded"] for row in found.worse_labels]
    assert losses == sorted(losses, reverse=True) and min(losses) > 0.2
    assert all(row["n"] == Y[:, int(row["label"])].sum() for row in found.worse_labels)


def test_stability_tells_components_that_are_found_again_from_those_that_are_not():
    X, Y = made(d=30)
    found = diagnose(First(with_noise=True), X, Y, n_shuffles=1)
    assert found.stability[0] > 0.999 and found.stability[1] < 0.5
    assert len(found.angles) == 2 and found.angles[0] < 5 < 45 < found.angles[1]


def test_stability_ignores_a_rotation_inside_the_subspace():
    X, Y = made()

    class Rotated(First):
        def transform(self, X):
            angle = self.w_[0]
            return X[:, :2] @ [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]

    found = diagnose(Rotated(), X, Y, n_shuffles=1)
    np.testing.assert_allclose(found.stability, 1.0, atol=1e-10)
    np.testing.assert_allclose(found.angles, 0.0, atol=1e-4)


def test_a_half_that_cannot_be_fitted_counts_as_unstable():
    X, Y = made(n=60)
    Y = np.column_stack([Y, np.zeros(60, dtype=int)])
    Y[:3, 3] = 1

    class Needs(First):
        def fit(self, X, y):
            if len(X) <= 30:
                raise ValueError("too few rows")
            return super().fit(X, y)

    found = diagnose(Needs(), X, Y, n_shuffles=1, n_resamples=4)
    assert found.failed_resamples == 4 and found.stability == (0.0,) and found.angles == (90.0,)


def grouped(seed, n_groups=20, size=6):
    """Features with group effects, and labels drawn per group."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), size)
    X = rng.normal(size=(n_groups, 8))[groups] + rng.normal(size=(len(groups), 8))
    return X, rng.integers(2, size=(n_groups, 2))[groups], groups


def test_a_relation_across_groups_passes():
    X, _, groups = grouped(0, n_groups=30, size=5)
    found = diagnose(OPLS(n_components=1), X, (X[:, :2].sum(axis=1) > 0).astype(int), n_shuffles=19, groups=groups)
    assert found.passed and found.unit == "groups" and found.distinct == 1_000_000
    assert found.describe()["unit"] == "groups"


def test_too_few_distinct_shuffles_never_pass():
    X, _, groups = grouped(0, n_groups=6, size=20)
    y = np.isin(groups, [0, 3]).astype(int)
    X[:, 0] += 9 * y
    found = diagnose(OPLS(n_components=1), X, y, n_shuffles=19, n_resamples=1, groups=groups, n_folds=2)
    assert found.distinct == 9 and not found.passed  # 3 places of the one positive group in each part


def test_with_times_folds_are_in_their_order_and_labels_are_shifted_along_it():
    rng = np.random.default_rng(1)
    times = rng.permutation(90)
    X = rng.normal(size=(90, 3))
    y = (X[:, 0] > 0).astype(int)
    found = diagnose(OPLS(n_components=1), X, y, n_shuffles=19, n_resamples=1, times=times)
    assert found.passed and found.unit == "shifts in time" and found.distinct == 90
    assert found.p == 0.05 and found.failed_shuffles == 0


def test_a_shuffle_that_cannot_be_scored_counts_as_reaching_the_true_labels():
    X = np.random.default_rng(2).normal(size=(60, 3))
    y = np.zeros(60, dtype=int)
    y[[5, 50]] = 1  # most shifts leave the only held-out part without a positive row
    split = np.arange(40), np.arange(48, 53)
    found = diagnose(OPLS(n_components=1), X, y, n_shuffles=19, n_resamples=1, cv=[split], times=np.arange(60))
    reached = sum(value >= found.held_out for value in found.null)
    assert found.failed_shuffles > 0 and len(found.null) == 19 - found.failed_shuffles
    assert found.p == (1 + found.failed_shuffles + reached) / 20 and found.describe()["n_shuffles"] == 19


def test_a_shuffle_with_fewer_components_is_fitted_with_those_that_there_are():
    rng = np.random.default_rng(0)
    X, times = rng.normal(size=(80, 4)), np.arange(80)
    Y = np.column_stack([X[:, 0] > 0, np.abs(times - 30) < 6]).astype(int)  # constant in some training parts if shifted
    found = diagnose(
        OPLS(n_components=2), X, Y, 19, n_resamples=1, times=times, cv=[(np.arange(40), np.arange(40, 80))]
    )
    assert found.failed_shuffles == 0 and len(found.null) == 19


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"groups": [1, 2]}, "groups=.* must have one entry per row of X .60."),
        ({"times": np.full(60, np.nan)}, "times holds nan in row 0"),
        ({"groups": np.arange(60) % 7, "cv": 3, "n_folds": 3}, None),
        ({"groups": np.arange(60) % 7, "cv": [(np.arange(40), np.arange(40, 60))]}, "GroupFolds"),
    ],
)
def test_groups_and_times_are_checked(more, message):
    X, Y = made(n=60)
    if message is None:  # a number of folds makes folds of whole groups
        assert diagnose(First(), X, Y, n_shuffles=1, n_resamples=1, **more).unit == "groups"
        return
    with pytest.raises(ValueError, match=message):
        diagnose(First(), X, Y, n_shuffles=1, n_resamples=1, **more)


def test_folds_inside_a_fold_keep_groups_together(monkeypatch):
    """Near copies with labels of chance: a penalty by leave-one-out predicts each row by its copy, and learns them."""
    random = np.random.default_rng(0)
    first, groups = random.normal(size=(60, 40)), np.tile(np.arange(60), 2)
    X, y = np.vstack([first, first + 1e-6]), np.tile(random.integers(2, size=60), 2)
    cv = [Split("1", *pair) for pair in GroupFolds(2).split(X, y, groups)]
    options = {"n_shuffles": 1, "n_resamples": 1, "cv": cv}
    rows, kept = (diagnose(DecomposedPCA(), X, y, **options, **more) for more in ({}, {"groups": groups}))
    assert rows.own_rows > kept.own_rows + 0.02
    fit, given = Layout.fit, []

    @wraps(fit)
    def seen(*args, **more):
        given.append(more["groups"])
        return fit(*args, **more)

    monkeypatch.setattr(Layout, "fit", seen)
    diagnose(Layout(PCA(), layout="components"), X, y, groups=groups, crossfit=True, **options)
    assert {len(each) for each in given} == {60, 120} and all(set(np.bincount(each)) <= {0, 2} for each in given)


class Dying(First):
    """Ends its worker at fits on some numbers of rows."""

    def __init__(self, rows=()):
        super().__init__()
        self.rows = rows

    def fit(self, X, y):
        if len(X) in self.rows and threading.current_thread() is not threading.main_thread():
            raise BrokenProcessPool("SIGKILL(-9)")
        return super().fit(X, y)


def test_fits_whose_worker_is_killed_twice_are_left_out():
    X, Y = made(n=60)
    options = {"n_shuffles": 19, "n_resamples": 2, "n_jobs": 2}
    with parallel_config(backend="threading"):
        shuffles, halves = (diagnose(Dying(rows), X, Y, **options) for rows in ((39, 40, 41), (30,)))
    assert shuffles.killed == 19 and shuffles.null == () and shuffles.failed_shuffles == 0 and not shuffles.passed
    assert shuffles.stability == pytest.approx((1.0,)) and shuffles.describe()["killed"] == 19
    assert halves.killed == 2 and len(halves.null) == 19 and halves.stability == halves.angles == ()
    assert halves.failed_resamples == 0 and halves.passed
    assert verdict(shuffles).startswith("Cannot tell: 0 shuffles of the labels are too few")
    assert killed_fits(halves, "labels")[0].startswith("without 2 fits on shuffled labels or on halves of the rows")


def test_groups_and_times_of_blocks_are_refused():
    X, Y = made(n=60)
    with pytest.raises(ValueError, match="groups and times are not allowed with blocks"):
        diagnose(OPLS(), RowBlocks(lambda: [(X, Y)]), groups=np.arange(60) % 7)


def test_halves_keep_the_rows_of_a_group_together():
    X, Y, groups = grouped(3)
    seen = []

    class Halves(First):
        def fit(self, X, y):
            seen.append(X[:, 0].copy())
            return super().fit(X, y)

    diagnose(Halves(), X, Y, n_shuffles=1, n_resamples=2, groups=groups)
    for half in seen[-2:]:
        inside = np.isin(X[:, 0], half)
        assert len(half) == 60 and all(len(set(inside[groups == group])) == 1 for group in range(20))


def test_unknown_rows_are_trained_on_and_never_scored():
    X, Y = made()
    holes = Y.astype(float)
    holes[:30] = np.nan
    far = X.copy()
    far[:30] += 1000.0

    class Counting(First):
        def fit(self, X, y):
            assert np.isnan(np.asarray(y, dtype=float)).any() and (X > 500).any()
            return super().fit(X, y)

        def transform(self, X):
            return np.clip(super().transform(X), -5, 5)

    class Spy:
        seen: list[int] = []

        def __call__(self, Y, S):
            self.seen.append(len(S))
            return 0.5

    spy = Spy()
    found = diagnose(Counting(), far, holes, n_shuffles=1, n_resamples=1, measure=spy)
    assert found.measure == "Spy" and found.n == N
    assert sum(spy.seen[:6:2]) == N - 30  # held-out rows of the three folds
    assert sum(spy.seen[1:6:2]) == 2 * (N - 30)  # the own rows that the read-out was fitted on


def test_shuffles_of_many_labels_are_scored_on_the_first_fold_as_the_true_labels_are(monkeypatch):
    X, Y = made()
    splits = StratifiedFolds(3, random_state=0)
    options = {"n_shuffles": 3, "n_resamples": 1, "cv": splits}
    every = diagnose(OPLS(), X, Y, **options)
    monkeypatch.setattr("proxembed.evaluate.diagnose.MANY_LABELS", 2)
    found = diagnose(OPLS(), X, Y, **options)
    first = list(splits.split(X, Y))[:1]
    monkeypatch.setattr("proxembed.evaluate.diagnose.MANY_LABELS", 1000)
    alone = diagnose(OPLS(), X, Y, **options | {"cv": first})
    assert found.held_out == pytest.approx(every.held_out, rel=1e-5) and every.tested == every.held_out
    assert found.tested == pytest.approx(alone.held_out, rel=1e-5) and found.tested != found.held_out
    assert len(found.null) == 3 and found.describe()["value"] == found.tested


def test_groups_and_pipelines_and_forms_of_y():
    X, Y = made()
    splits = [Split("1", *pair) for pair in GroupFolds(3).split(X, Y, np.arange(N) % 12)]
    assert diagnose(OPLS(), X, Y, n_shuffles=19, n_resamples=1, cv=splits).passed
    model = embedding_pipeline(OPLS(n_components=2), X)
    without = embedding_pipeline(OPLS(n_components=2), X, readout=False)
    assert diagnose(model, X, Y, 1, n_resamples=2) == diagnose(without, X, Y, 1, n_resamples=2)
    classes = np.array(["low", "mid", "high"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    assert diagnose(FDA(), X, classes, n_shuffles=19, n_resamples=1).passed
    sets = [{str(j) for j in np.flatnonzero(row)} for row in Y]
    values = [
        diagnose(OPLS(n_components=2), A, y, n_shuffles=1, n_resamples=1).held_out
        for A, y in ((X, Y), (X, sets), (X, sp.csr_array(Y)))
    ]
    np.testing.assert_allclose(values, values[0], rtol=1e-10)
    assert diagnose(StandardScaler(), sp.csr_array(X).toarray(), Y, 1, n_resamples=1).held_out > 0.7


def test_a_map_is_diagnosed_by_the_labels_of_neighbours():
    """Held out: the similarity of the labels of the ten nearest training rows; own rows: of other training rows."""
    X, Y = made()
    train, held_out = np.arange(N) % 3 > 0, np.arange(N) % 3 == 0
    split = Split("1", np.flatnonzero(train), np.flatnonzero(held_out))
    found = diagnose(OPLS(n_components=2), X, Y, 19, measure="Jaccard@10", n_resamples=1, cv=[split])
    model = OPLS(n_components=2).fit(X[train], Y[train])
    Z, Z_new = model.transform(X[train]), model.transform(X[held_out])
    assert found.measure == "Jaccard@10" and found.passed
    assert found.held_out == pytest.approx(jaccard_at_k(Y[held_out], Y[train], neighbor_weights(Z_new, Z)), abs=1e-12)
    own = jaccard_at_k(Y[train], Y[train], new_neighbor_weights(Z, Z))
    assert found.own_rows == pytest.approx(own, abs=1e-12) and found.optimism < 0.2
    assert np.mean(found.null) < found.held_out - 0.05


def test_the_seed_decides_and_workers_do_not():
    X, Y = made(n=80)
    with parallel_config(backend="threading"):
        one, again, parallel, other = (
            diagnose(OPLS(n_components=2), X, Y, n_shuffles=3, n_resamples=2, seed=seed, n_jobs=jobs)
            for seed, jobs in ((0, 1), (0, 1), (0, 2), (1, 1))
        )
    assert one == again == parallel and one.null != other.null


def test_findings_are_plain_data():
    X, Y = made(n=80)
    found = diagnose(OPLS(n_components=2), X, Y, n_shuffles=2, n_resamples=2, crossfit=True)
    plain = json.loads(json.dumps(found.describe(), allow_nan=False))
    assert plain["value"] == plain["held_out"] and plain["n_shuffles"] == 2 and plain["n"] == 80
    assert set(plain) >= {"measure", "raw", "null", "p", "passed", "own_rows", "optimism", "worse_labels", "stability"}
    assert found.embedding.shape == (80, 2) and "embedding" not in plain
    assert diagnose(OPLS(), X, Y, 1, n_resamples=1).embedding is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_shuffles": 0}, "n_shuffles=0 must be"),
        ({"n_resamples": 0}, "n_resamples=0 must be"),
        ({"n_folds": 1}, "n_folds=1 must be"),
        ({"measure": "F7"}, "measure='F7' is unknown; use one of macro average precision"),
        ({"measure": "Hamming loss"}, "reads neither scores nor neighbours, or is a loss; use"),
        ({"cv": []}, "gives no split"),
    ],
)
def test_bad_use_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        diagnose(OPLS(), *made(n=40), **options)
    with pytest.raises(TypeError, match="StratifiedFolds has no transform"):
        diagnose(StratifiedFolds(), *made(n=40))


def test_two_shuffles_pass_nothing():
    X, Y = made()
    assert not diagnose(OPLS(), X, Y, n_shuffles=2, n_resamples=1).passed


class Plain(TransformerMixin, BaseEstimator):
    """As in other libraries: one class per row as a number, or no labels."""

    def fit(self, X, y=None):
        if y is not None:
            y = np.asarray(y)
            if y.ndim != 1 or y.dtype.kind not in "if":
                raise RuntimeError("one number per row, please")
        self.mean_ = X.mean(axis=0) if y is None else X[y == y.min()].mean(axis=0)
        return self

    def transform(self, X):
        return X - self.mean_


class StartsAt(Plain):
    """As PaCMAP: the second argument of ``fit`` is no y, and without its index no rows are embedded."""

    def __init__(self, save_tree=False):
        self.save_tree = save_tree

    def fit(self, X, init=None):
        assert init is None
        return super().fit(X)

    def transform(self, X):
        assert self.save_tree
        return super().transform(X)


CLASSES = np.array(["low", "mid", "high"])


@pytest.mark.default_configuration  # the transformer reads arrays
@pytest.mark.parametrize("estimator", [Plain(), make_pipeline(StandardScaler(), Plain())])
def test_a_foreign_transformer_gets_labels_in_a_form_that_it_takes(estimator):
    X, Y = made(n=60)
    y = CLASSES[np.digitize(X[:, 0], [-0.5, 0.5])]
    numbers = np.unique(y, return_inverse=True)[1]
    options = {"n_shuffles": 1, "n_resamples": 1}
    assert embedding_method(estimator, X, y).labels == "codes"
    one_hot = np.eye(3, dtype=int)[numbers]
    assert diagnose(estimator, X, one_hot, **options).held_out == diagnose(estimator, X, numbers, **options).held_out
    sets = [set(np.flatnonzero(row)) for row in Y]
    for labels in (Y, sp.csr_array(Y), sets, LabelMatrix.of(Y)):
        with pytest.warns(UserWarning, match="Plain is fitted without labels.*one number per row, please"):
            found = diagnose(estimator, X, labels, **options)
        assert found.null[0] < found.held_out


@pytest.mark.default_configuration  # the transformer reads arrays
def test_labels_are_never_the_second_argument_of_a_fit_that_takes_none():
    X, Y = made(n=60)
    for estimator in (StartsAt(), make_pipeline(StandardScaler(), StartsAt())):
        assert diagnose(estimator, X, Y[:, :2], n_shuffles=1, n_resamples=1).n == 60
    assert embedding_method(StartsAt(), X, Y).labels == "none"


def test_sparse_labels_and_sets_reach_a_foreign_method_as_an_indicator():
    X, Y = made(n=60)
    values = [
        diagnose(PLSRegression(2), X, y, n_shuffles=1, n_resamples=1).held_out
        for y in (Y, sp.csr_array(Y), [set(np.flatnonzero(row)) for row in Y], LabelMatrix.of(Y))
    ]
    np.testing.assert_allclose(values, values[0], rtol=1e-10)


def test_a_foreign_method_that_cannot_go_without_the_labels_says_so():
    X, Y = made(n=60)
    with pytest.raises(
        ValueError, match="LinearDiscriminantAnalysis cannot be fitted on these rows and labels.*1d array"
    ):
        diagnose(LinearDiscriminantAnalysis(), X, Y)


def test_a_fitted_estimator_is_cloned():
    X, Y = made(n=60)
    fitted = DecomposedPCA(2).fit(X[:30])
    components = fitted.components_.copy()
    again = diagnose(fitted, X, Y, n_shuffles=1, n_resamples=1)
    assert again == diagnose(DecomposedPCA(2), X, Y, n_shuffles=1, n_resamples=1)
    np.testing.assert_array_equal(fitted.components_, components)


def test_the_rows_are_decomposed_once_for_all_shuffles(monkeypatch):
    decomposed = []  # kernels of rows, no read-outs of few components

    def counted(M):
        decomposed.extend([len(M)] * (len(M) > 8))
        return descending(M)

    monkeypatch.setattr(coordinates, "descending", counted)
    X, Y = made(n=60)
    few, many = ((diagnose(Kernelized(OPLS()), X, Y, shuffles, n_resamples=1), len(decomposed)) for shuffles in (1, 4))
    assert many[1] == 2 * few[1], "as many with four shuffles as with one"
    assert few[0].null == many[0].null[:1]


def test_rows_of_any_library_are_diagnosed_alike_and_a_table_by_its_encoder():
    X, Y = made(n=60)
    frame = pl.DataFrame(X, schema=[f"c{j}" for j in range(8)])
    wanted = diagnose(OPLS(), X, Y, n_shuffles=1, n_resamples=1)
    found = diagnose(OPLS(), frame.lazy(), Y, n_shuffles=1, n_resamples=1)  # of another memory layout
    for name in ("held_out", "null", "stability", "angles"):
        np.testing.assert_allclose(getattr(found, name), getattr(wanted, name), rtol=1e-9)
    mixed = frame.with_columns(word=pl.Series(np.where(Y[:, 0], "yes it is", "not so").tolist()))
    for encoder in (OPLS(), make_pipeline(StandardScaler(), OPLS())):
        with pytest.raises(ValueError, match="X holds texts .*Put a TableEncoder in front"):
            diagnose(encoder, mixed, Y)
    encoded = make_pipeline(TableEncoder(), OPLS())
    assert diagnose(encoded, mixed, Y, n_shuffles=1, n_resamples=1).held_out > wanted.held_out
    assert crossfit_embedding(encoded, mixed, Y, cv=2).shape == (60, 3)
