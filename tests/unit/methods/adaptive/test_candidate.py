"""Every candidate builds on ordinary and on degenerate data; caches change nothing; repairs follow their rules."""

import numpy as np
import pytest
import scipy.sparse as sp

from designs import WHOLE
from proxembed import EmbeddingModel
from proxembed.methods.adaptive import Limits, PairOptions, StageRows, Stages, Switches, limits_of, sample
from proxembed.methods.adaptive.candidate import K_CAP
from proxembed.methods.adaptive.pairs import rank_matrices
from proxembed.targets.labels import LabelMatrix
from strategies import every_switches
from unit.methods.adaptive.refusals import assert_refused_for_its_reason

MANY = 500 if WHOLE else 120  # candidates that are drawn


class Kept(dict):
    """A cache without a limit."""

    def put(self, key, value, nbytes):
        assert key not in self
        assert nbytes > 0
        self[key] = value


def rows(seed, n, d, c=3):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(c), rng.integers(0, c, n - c)])
    centres = rng.normal(0.0, 2.0, (c, d))
    return centres[y] + rng.normal(size=(n, d)), y


def degenerate():
    """Duplicate rows, a zero row, constant columns, a class of one row."""
    X, y = rows(1, 60, 6)
    X[10:20] = X[9]
    X[30], X[:, 2], X[:, 4] = 0.0, 5.0, 0.0
    y[:] = np.minimum(y, 1)
    y[59] = 2
    return X, y


def labels_of_several(n):
    Y = (np.random.default_rng(2).random((n, 4)) < 0.35).astype(int)
    Y[:4] = np.eye(4, dtype=int)
    return Y


DATA = {
    "ordinary": rows(0, 60, 5),
    "degenerate": degenerate(),
    "two classes": rows(3, 60, 3, 2),
    "one feature": rows(4, 30, 1),
    "wide and sparse": (sp.csr_array(np.maximum(rows(5, 40, 90)[0], 0.5) - 0.5), rows(5, 40, 90)[1]),
    "several labels": (rows(6, 40, 5)[0], labels_of_several(40)),
}


def new_rows(X):
    dense = X.toarray() if sp.issparse(X) else X
    new = dense[:8] + np.random.default_rng(9).normal(size=(8, dense.shape[1])) * (dense[:8] != 0)
    return sp.csr_array(new) if sp.issparse(X) else new


@pytest.mark.parametrize("name", DATA)
def test_random_candidates_build(name):
    X, y = DATA[name]
    rng = np.random.default_rng(len(name))
    stages = Stages(StageRows(X, LabelMatrix.of(y), new_rows(X)), Kept(), k_cap=6)
    limits = Limits.of(stages.labels)
    many = MANY if name in ("ordinary", "degenerate") else MANY // 4
    for number in rng.choice(len(every_switches()), many, replace=False):
        switches = every_switches()[number]
        values = sample(switches, limits, rng)
        found = stages.embed(switches, values)
        if found.failed is not None:
            assert name in ("one feature", "wide and sparse"), (switches, found.failed)
            assert_refused_for_its_reason(stages, switches, values, found.failed)
            continue
        assert np.isfinite(found.Z).all() and np.isfinite(found.Z_val).all()
        assert found.Z.shape[1] == found.Z_val.shape[1] == len(found.eigenvalues) <= 6


@pytest.mark.parametrize("name", ["degenerate", "several labels"])
@pytest.mark.parametrize("option", [{"g_raw": True}, {"enemy_pool": "other"}, {"multilabel": "mesd"}], ids=str)
def test_random_candidates_build_with_further_options(name, option):
    X, y = DATA[name]
    rng = np.random.default_rng(7)
    stages = Stages(StageRows(X, LabelMatrix.of(y), new_rows(X)), Kept(), k_cap=6, **option)
    limits = limits_of(stages.labels, PairOptions(**option))
    for number in rng.choice(len(every_switches()), MANY // 4, replace=False):
        values = sample(every_switches()[number], limits, rng)
        found = stages.embed(every_switches()[number], values)
        if found.failed is not None:
            assert option.get("g_raw"), (every_switches()[number], found.failed)
            assert_refused_for_its_reason(stages, every_switches()[number], values, found.failed)
            continue
        assert np.isfinite(found.Z).all() and np.isfinite(found.Z_val).all()


@pytest.mark.parametrize("name", ["ordinary", "wide and sparse", "several labels"])
def test_rows_of_the_fit_come_back_as_new_rows(name):
    X, y = DATA[name]
    rng = np.random.default_rng(1)
    stages = Stages(StageRows(X, LabelMatrix.of(y), X), Kept(), k_cap=3)
    limits = Limits.of(stages.labels)
    for number in rng.choice(len(every_switches()), MANY // 3, replace=False):
        switches = every_switches()[number]
        values = sample(switches, limits, rng)
        found = stages.embed(switches, values)
        if found.failed is not None:
            assert name == "wide and sparse"
            assert_refused_for_its_reason(stages, switches, values, found.failed)
            continue
        size = np.abs(found.Z).max()
        assert np.abs(found.Z_val - found.Z).max() < 1e-6 * size, switches
        assert np.abs(found.projection.apply(X) - found.Z).max() < 1e-6 * size, switches


@pytest.mark.parametrize("name", ["ordinary", "wide and sparse", "several labels"])
def test_caches_change_nothing(name):
    X, y = DATA[name]
    rng = np.random.default_rng(2)
    part = StageRows(X, LabelMatrix.of(y), new_rows(X))
    cache = Kept()
    with_cache, without = Stages(part, cache, name=("fold", 1)), Stages(part)
    limits = Limits.of(with_cache.labels)
    base = every_switches()[54321]
    for number in rng.choice(36288, MANY // 12, replace=False):  # without whitening and PCA: nothing fails
        switches = every_switches()[number]
        first, second = sample(switches, limits, rng), sample(switches, limits, rng)
        mixed = [first | {name: second[name]} for name in second]
        for values in (first, *mixed, first):
            found, expected = with_cache.embed(switches, values), without.embed(switches, values)
            assert np.array_equal(found.Z, expected.Z) and np.array_equal(found.Z_val, expected.Z_val)
    assert all(key[:2] == ("fold", 1) for key in cache)
    stored = len(cache)
    values = sample(base, limits, rng)
    with_cache.embed(base, values)
    assert len(cache) > stored
    stored = len(cache)
    with_cache.embed(base, values)
    assert len(cache) == stored


@pytest.mark.parametrize("vector", [[2, 5, 0, 5, 1, 2, 2, 0], [2, 5, 0, 5, 1, 2, 2, 1], [3, 0, 0, 4, 2, 1, 1, 0]])
def test_components_are_nested(vector):
    X, y = DATA["ordinary"]
    part = StageRows(X, LabelMatrix.of(y), new_rows(X))
    switches = Switches.of(vector)
    values = sample(switches, Limits.of(part.labels), np.random.default_rng(0))
    full = Stages(part).embed(switches, values)
    for k in range(1, full.Z.shape[1] + 1):
        short = Stages(part, k_cap=k).embed(switches, values)
        assert np.allclose(short.Z, full.Z[:, :k], rtol=0, atol=1e-9 * np.abs(full.Z).max())
        assert np.allclose(short.Z_val, full.Z_val[:, :k], rtol=0, atol=1e-9 * np.abs(full.Z).max())


def test_scale_of_the_features_changes_nothing():
    """R and S of dot products and distances scale with X; lam follows the traces, sigma the median."""
    X, y = DATA["ordinary"]
    for vector in (
        [0, 1, 0, 1, 1, 2, 1, 0],
        [2, 5, 2, 1, 1, 2, 2, 1],
        [0, 0, 0, 5, 2, 2, 2, 0],
        [2, 1, 3, 7, 2, 1, 1, 0],
    ):
        switches = Switches.of(vector)
        values = sample(switches, Limits.of(LabelMatrix.of(y)), np.random.default_rng(0))
        Z, scaled = (Stages(StageRows(f * X, LabelMatrix.of(y))).embed(switches, values).Z for f in (1.0, 8.0))
        Z, scaled = (M[:, :3] / np.linalg.norm(M[:, :3], axis=0) for M in (Z, scaled))
        assert np.abs(Z - scaled).max() < 1e-7, vector


def test_no_enemies_doubles_k_e_and_says_so():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [90.0], [91.0], [92.0], [93.0]])
    stages = Stages(StageRows(X, LabelMatrix.of([0] * 4 + [1] * 4)))
    found = stages.embed(Switches(0, 0, 0, 5, 1, 1, 3, 0), {"similarity_sigma": 1.0, "n_enemies": 3})
    assert found.failed is None and "n_enemies = 6 instead" in found.repairs[0]
    assert stages.embed(Switches(0, 0, 0, 5, 1, 1, 3, 0), {"similarity_sigma": 1.0, "n_enemies": 6}).repairs == ()
    assert stages.embed(Switches(0, 0, 0, 5, 1, 1, 3, 0), {"similarity_sigma": 1.0, "n_enemies": None}).repairs == ()


@pytest.mark.parametrize("seed", range(20 if WHOLE else 5))
def test_friends_that_coincide_are_no_friends_whatever_rounding_leaves_of_them(seed):
    counts = [6, 6, 3, 2]
    X = np.repeat(np.random.default_rng(seed).normal(size=(4, 3)), counts, axis=0)
    stages = Stages(StageRows(X, LabelMatrix.of(np.repeat(np.arange(4), counts))))
    values = {"n_friends": 3, "n_enemies": None, "lam": 0.5, "similarity_sigma": 0.7}
    difference = stages.embed(Switches(2, 0, 0, 3, 1, 1, 1, 0), values)
    assert difference.failed is None and difference.repairs == ("no friends: enemies only",)
    for objective in (2, 4):
        assert "no friends" in stages.embed(Switches(2, 0, 0, 3, 1, 1, objective, 0), values).failed


def test_similarities_as_they_are_can_make_friends_repel_each_other():
    """Friends of opposite directions: dot products below 0, and M_B with them."""
    X = np.array([[5.0, 0.1], [-5.0, 0.2], [0.1, 4.0], [0.3, -4.0]])
    stages = [
        Stages(StageRows(X, LabelMatrix.of([0, 0, 1, 1])), g_raw=True, lam_scale=scale, k_cap=2)
        for scale in ("trace", "raw")
    ]
    values = {"n_friends": 1, "n_enemies": None, "lam": 1.0}
    for stage, objective, fails in [(0, 1, True), (1, 1, False), (0, 2, True), (1, 2, False), (0, 4, False)]:
        found = stages[stage].embed(Switches(0, 0, 0, 1, 1, 2, objective, 0), values)
        assert (found.failed is not None) is fails
        raised = ("M_B + lam I was not positive definite: 10,000 times the lam",)
        assert found.repairs == (raised if (stage, objective) == (1, 2) else ())
        assert not fails or "below 0 on the whole: weigh pairs with g_raw=False" in found.failed
    large = stages[1].embed(Switches(0, 0, 0, 1, 1, 2, 2, 0), {**values, "lam": 1e5})
    assert large.failed is None and large.repairs == ()  # M_B + lam I is positive definite
    clipped = Stages(StageRows(X, LabelMatrix.of([0, 0, 1, 1])))
    assert "no friends" in clipped.embed(Switches(0, 0, 0, 1, 1, 2, 2, 0), values).failed


def test_similarities_as_they_are_can_ask_for_a_larger_lam():
    """About M_B = diag(810, -64): one class along each axis, the second of opposite directions."""
    stages = Stages(
        StageRows(np.array([[10.0, 0], [1, 0], [0.1, 2], [0.1, -2]]), LabelMatrix.of([0, 0, 1, 1])), g_raw=True
    )
    embedded = [
        stages.embed(Switches(0, 0, 0, 1, 1, 2, 2, 0), {"n_friends": 1, "n_enemies": None, "lam": lam})
        for lam in (1.0, 1e-2, 1e-6)
    ]
    assert embedded[0].failed is None and embedded[0].repairs == ()
    assert embedded[1].failed is None and "M_B + lam I was not positive definite: 100 times" in embedded[1].repairs[0]
    assert "M_B + lam I is not positive definite" in embedded[2].failed


def test_no_friends_and_what_needs_them():
    X, _ = rows(0, 5, 3)
    stages = Stages(StageRows(X, LabelMatrix.of([0, 1, 2, 3, 4])))
    values = {"n_friends": 1, "n_enemies": 2, "lam": 1.0}
    assert stages.embed(Switches(0, 0, 0, 3, 1, 1, 1, 0), values).repairs == ("no friends: enemies only",)
    for objective in (2, 4):
        assert "no friends" in stages.embed(Switches(0, 0, 0, 3, 1, 1, objective, 0), values).failed
    assert stages.embed(Switches(0, 0, 0, 3, 1, 1, 3, 0), values).failed is None


def test_what_cannot_be_used_is_told_not_raised():
    X, y = DATA["ordinary"]
    labels = LabelMatrix.of(y)
    huge = Stages(StageRows(X * 1e80, labels)).embed(
        Switches(0, 2, 0, 3, 2, 1, 3, 0), {"relation_p": 5, "n_neighbors": 5}
    )
    assert huge.Z is None and "not finite" in huge.failed
    constant = Stages(StageRows(np.ones((4, 2)), LabelMatrix.of([0, 1, 0, 1])))
    assert "constant" in constant.embed(Switches(0, 0, 0, 3, 2, 1, 3, 0), {"n_neighbors": 2}).failed
    overlap = Stages(StageRows(X[:4], LabelMatrix.of(np.array([[1, 0], [1, 1], [1, 0], [1, 1]]))))
    assert ": no enemies" in overlap.embed(Switches(0, 0, 0, 3, 1, 1, 3, 0), {"n_enemies": 2}).failed


def test_repairs_of_features():
    X, y = DATA["ordinary"]
    wide = np.column_stack([X[:, :2], np.full(len(X), 3.0)])
    found = Stages(StageRows(wide, LabelMatrix.of(y))).embed(Switches(0, 8, 0, 7, 2, 1, 3, 0), {"n_neighbors": 9})
    assert found.repairs == (
        "1 constant features removed",
        "correlation of fewer than 3 features: the cosine of centred rows instead",
    )
    plain = Stages(StageRows(X[:, :2], LabelMatrix.of(y))).embed(Switches(2, 3, 0, 3, 2, 1, 3, 0), {"n_neighbors": 9})
    assert np.allclose(found.Z[:, :3], plain.Z[:, :3], atol=1e-9 * np.abs(plain.Z).max())


def test_bad_calls_are_errors():
    X, y = DATA["ordinary"]
    labels = LabelMatrix.of(y)
    with pytest.raises(ValueError, match="params lacks 'n_neighbors'"):
        Stages(StageRows(X, labels)).embed(Switches(0, 0, 0, 3, 2, 1, 3, 0), {"lam": 1.0})
    with pytest.raises(ValueError, match="at least two classes"):
        Stages(StageRows(X, LabelMatrix.of(np.zeros(len(X)))))
    with pytest.raises(ValueError, match="labels has"):
        Stages(StageRows(X[:-1], labels))
    with pytest.raises(ValueError, match="X_val has 2 features"):
        Stages(StageRows(X, labels, X[:, :2]))
    for option in vars(PairOptions()):
        with pytest.raises(ValueError, match=f"{option}='unit'"):
            Stages(StageRows(X, labels), **{option: "unit"})
    with pytest.raises(TypeError, match="'lam_unit'"):
        Stages(StageRows(X, labels), lam_unit="raw")
    unknown = LabelMatrix.of(np.where(np.arange(len(y)) < 2, np.nan, y))
    with pytest.raises(ValueError, match="unknown"):
        Stages(StageRows(X, unknown))


def test_components_stop_at_the_cap():
    X, y = rows(8, 130, 120)
    found = Stages(StageRows(X, LabelMatrix.of(y))).embed(Switches(0, 0, 0, 3, 2, 1, 3, 0), {"n_neighbors": 9})
    assert found.Z.shape == (130, K_CAP)


MODELS = {
    "friends and enemies": [2, 5, 0, 5, 1, 2, 2, 0],
    "constant weights": [2, 5, 0, 5, 1, 1, 2, 1],
    "local Fisher": [2, 5, 3, 6, 2, 2, 2, 0],
    "polynomial": [2, 5, 0, 2, 1, 2, 2, 0],
}
SETTING = {
    "similarity_sigma": 1.0,
    "similarity_tau": 0.5,
    "similarity_p": 2,
    "n_friends": 3,
    "n_enemies": 9,
    "n_neighbors": 12,
    "lam": 0.1,
}
PAIRS = {"weights", "friends", "enemies", "solution"}
REMADE = [
    ("friends and enemies", "lam", {"solution"}),
    ("friends and enemies", "n_enemies", {"enemies", "solution"}),
    ("friends and enemies", "n_friends", {"friends", "solution"}),
    ("friends and enemies", "similarity_sigma", PAIRS),
    ("constant weights", "similarity_sigma", set()),
    ("constant weights", "n_enemies", {"enemies", "solution"}),
    ("local Fisher", "lam", {"solution"}),
    ("local Fisher", "n_neighbors", {"fisher", "solution"}),
    ("local Fisher", "similarity_tau", {"weights", "fisher", "solution"}),
    ("polynomial", "similarity_p", PAIRS | {"ranks"}),
]


@pytest.mark.parametrize(("model", "name", "remade"), REMADE)
def test_a_parameter_makes_only_what_depends_on_it_anew(model, name, remade):
    X, y = DATA["ordinary"]
    cache, switches = Kept(), Switches.of(MODELS[model])
    stages = Stages(StageRows(X, LabelMatrix.of(y), new_rows(X)), cache)
    first = stages.embed(switches, SETTING)
    before = set(cache)
    other = stages.embed(switches, SETTING | {name: SETTING[name] * 2})
    assert {key[0] for key in set(cache) - before} == remade
    assert np.array_equal(first.Z, other.Z) == (not remade)


@pytest.mark.parametrize(("s", "name"), [(5, "similarity_sigma"), (6, "similarity_tau")])
def test_ranks_are_those_of_the_similarities(s, name):
    X, y = DATA["ordinary"]
    for value in (0.3, 4.0):
        cache = Kept()
        Stages(StageRows(X, LabelMatrix.of(y)), cache).embed(Switches(3, 5, 0, s, 1, 2, 3, 0), SETTING | {name: value})
        S = next(found for key, found in cache.items() if key[0] == "weights")  # S over its largest
        ranks = next(found for key, found in cache.items() if key[0] == "ranks")
        expected = rank_matrices(S, LabelMatrix.of(y))
        for part in ("friends", "enemies", "neighbors"):
            assert np.array_equal(getattr(ranks, part), getattr(expected, part))


@pytest.mark.parametrize("em", [1, 2])
def test_objectives_of_equal_parameters_share_a_cache_and_differ(em):
    """Whichever comes first, an objective does not get the solution of another one."""
    X, y = rows(0, 40, 5)
    params = {"similarity_sigma": 0.5, "n_friends": 4, "n_enemies": 12, "n_neighbors": 12, "lam": 0.5}
    part, objectives = (
        StageRows(X, LabelMatrix.of(y), X[:8] + 0.1),
        [Switches(3, 5, 0, 5, em, 2, eo, 0) for eo in (1, 2, 3, 4)],
    )
    alone = [Stages(part).embed(switches, params).Z_val for switches in objectives]
    for order in ([0, 1, 2, 3], [3, 2, 1, 0]):
        shared = Stages(part, Kept())
        found = {i: shared.embed(objectives[i], params).Z_val for i in order}
        assert all(np.array_equal(found[i], alone[i]) for i in order)
    assert not any(np.allclose(alone[i], alone[j]) for i in range(4) for j in range(i))


@pytest.mark.parametrize("kind", [0, 2, 3, 5])
def test_bytes_told_to_the_cache_are_those_of_all_arrays(kind):
    """The directions of a whitening, n x n, among them."""
    X, y = rows(0, 50, 4)
    cache, told = Kept(), {}
    put = cache.put
    cache.put = lambda key, value, nbytes: (put(key, value, nbytes), told.update({key: nbytes}))
    Stages(StageRows(X, LabelMatrix.of(y), X[:5]), cache).embed(
        Switches(3, 6, kind, 3, 2, 1, 2, 0), {"relation_sigma": 0.5, "n_neighbors": 9, "lam": 0.5}
    )
    spaces = [(key, value) for key, value in cache.items() if key[0] == "space"]
    assert len(spaces) == 1
    key, space = spaces[0]
    state = [value for value in vars(space.state).values() if isinstance(value, np.ndarray)]
    assert told[key] == sum(each.nbytes for each in (space.T, space.T_new, space.basis, *state))
    assert any(each.shape[0] == 50 and each.ndim == 2 for each in state) is (kind == 5)


def test_rows_that_coincide_but_for_rounding_are_no_embedding():
    """Unit rows of one feature are two points, both in each class: where friends coincide, so do all rows."""
    X, y = np.resize([[1.0], [-2.0], [3.0]], (36, 1)), np.arange(36) // 3 % 2
    vector, params = Switches(1, 5, 0, 3, 2, 1, 4, 0), {"n_neighbors": 35}
    found = Stages(StageRows(X, LabelMatrix.of(y)), k_cap=1).embed(vector, params)
    assert found.failed is not None and "All rows coincide" in found.failed
    both = Stages(StageRows(X, LabelMatrix.of(y)), k_cap=2).embed(vector, params)
    assert both.failed is None and both.flat == 1 and np.ptp(both.Z[:, 0]) < 1e-12 < 1e-3 < np.ptp(both.Z[:, 1])
    with pytest.raises(ValueError, match="All rows coincide"):
        EmbeddingModel.from_switches(vector, params, n_components=1).fit(X, y)
    with pytest.raises(ValueError, match="All rows coincide"):
        EmbeddingModel.from_switches(vector, params, n_components=2).fit(X, y).truncate(1)
    ordinary = Stages(StageRows(*DATA["ordinary"][:1], LabelMatrix.of(DATA["ordinary"][1]))).embed(
        Switches(3, 5, 0, 3, 2, 1, 2, 0), {"n_neighbors": 9, "lam": 0.1}
    )
    assert ordinary.flat == 0
