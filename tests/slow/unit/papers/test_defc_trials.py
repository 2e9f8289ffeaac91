"""Trials of the DEFC experiment: the test part has no say, the best validation score counts, chance is chance."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.sparse import csr_array
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from papers.defc.criteria import CRITERIA, FISHER, LOCAL, PAIRS, best_of_criterion, equal_settings
from papers.defc.rivals import GA, ORIGINAL, PUBLISHED, REDUCED, RIVALS, Rival, Scale, rivals_on
from papers.defc.trials import PERMUTED, RivalTrials, Task, by_chance, compete, tune
from proxembed import DEFC, PCA
from proxembed.methods.adaptive.copies import Domain, Limits
from slow.unit.papers.made_classes import small_parts

METHODS = (ORIGINAL, *RIVALS, GA, REDUCED, PERMUTED, *CRITERIA)
SAME = ("chosen", "k", "validation", "evaluations", "models")


def task(method, classifier="1nn", parts=None, **options):
    settings = {"largest": 4, "evaluations": 8, "seed": 0} | options
    return Task(method, 0, classifier, parts or small_parts(), **settings)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("classifier", ["1nn", "flda"])
def test_every_entrant_beats_chance_and_the_test_part_has_no_say(method, classifier):
    found, parts = compete(task(method, classifier)), small_parts()
    assert found["failure"] is None and found["evaluations"] <= 8
    if method != PERMUTED:
        assert found["validation"] > 0.5 and found["test"] > 0.5
    turned = replace(parts, X_test=parts.X_test[::-1] ** 2, y_test=(parts.y_test + 1) % 3)
    other = compete(task(method, classifier, turned))
    assert [found[name] for name in SAME] == [other[name] for name in SAME]
    assert found["test"] != other["test"]


def test_the_best_setting_is_scored_as_a_plain_fit_is():
    parts, found = small_parts(), compete(task("PCA"))
    model = PCA(n_components=found["k"]).fit(parts.X)
    nearest = KNeighborsClassifier(1).fit(model.transform(parts.X), parts.y)
    for name, X, y in (("validation", parts.X_val, parts.y_val), ("test", parts.X_test, parts.y_test)):
        assert found[name] == nearest.score(model.transform(X), y)
    plain = KNeighborsClassifier(1).fit(parts.X, parts.y)
    assert compete(task(ORIGINAL))["test"] == plain.score(parts.X_test, parts.y_test)


def test_original_documents_are_read_by_a_linear_svm_in_place_of_discriminants():
    names = ("X", "X_val", "X_test")
    parts = replace(small_parts(), **{name: getattr(small_parts(), name) ** 3 for name in names})
    sparse = replace(parts, **{name: csr_array(getattr(parts, name)) for name in names})
    linear = LinearSVC(random_state=0).fit(sparse.X, parts.y)
    expected = {"1nn": KNeighborsClassifier(1).fit(parts.X, parts.y).score(parts.X_test, parts.y_test),
                "flda": linear.score(sparse.X_test, parts.y_test)}  # fmt: skip
    for classifier, score in expected.items():
        assert compete(task(ORIGINAL, classifier, sparse))["test"] == score
    assert compete(task(ORIGINAL, "flda", parts))["test"] != expected["flda"]


def test_a_rival_keeps_its_best_validation_score_with_the_smallest_k():
    trials, parts = RivalTrials(task("FDA", "flda")), small_parts()
    scores = [trials.score({"lam": lam}) for lam in (1e-6, 1e-2, 1e2)]
    assert trials.value == max(scores) and trials.count == 3 and trials.failures == []
    copied = replace(parts, X=parts.X[:, :1], X_val=parts.X_val[:, :1], X_test=parts.X_test[:, :1])
    two = replace(copied, **{name: np.hstack([getattr(copied, name), np.zeros((len(getattr(copied, name)), 1))])
                             for name in ("X", "X_val", "X_test")})  # fmt: skip
    assert compete(task("PCA", parts=two))["k"] == 1


def test_what_cannot_be_fitted_is_counted_and_has_its_reason(monkeypatch):
    class Stuck(PCA, abstract=True):
        def fit(self, X, y=None):
            raise RuntimeError("no convergence")

    monkeypatch.setitem(RIVALS, "stuck", Rival(Stuck))
    found = compete(task("stuck"))
    assert found["failure"] == "RuntimeError: no convergence" and found["test"] is None and found["failed"] == 1


def test_one_parameter_has_a_grid_several_a_search_that_finds_the_peak_none_a_single_fit():
    tried = []

    def score(values):
        tried.append(values)
        return -abs(np.log10(values["a"])) - abs(np.log10(values["b"] / 30))

    tune({}, lambda values: tried.append(values) or 0.0, 200, seed=0)
    assert tried == [{}]
    tried.clear()
    tune({"n": Domain("integer", 1, 5)}, lambda values: tried.append(values["n"]) or 0.0, 200, seed=0)
    assert sorted(tried) == [1, 2, 3, 4, 5]
    for evaluations, expected in ((9, 9), (400, 200)):
        tried.clear()
        tune({"x": Domain("log", 0.01, 1.0)}, lambda values: tried.append(values["x"]) or 0.0, evaluations, seed=0)
        assert len(set(tried)) == expected and (min(tried), max(tried)) == (0.01, 1.0)
    for evaluations, expected in ((399, 399), (60, 40)):
        tried.clear()
        tune({"n": Domain("integer", 1, 399)}, lambda values: tried.append(values["n"]) or 0.0, evaluations, seed=0)
        assert expected <= len(set(tried)) == len(tried) <= evaluations and (min(tried), max(tried)) == (1, 399)
    tried.clear()
    ranges = {"a": Domain("log", 1e-6, 1e2), "b": Domain("integer", 1, 400)}
    tune(ranges, score, 200, seed=1)
    assert len(tried) == 200 and max(map(score, tried[:25])) < max(map(score, list(tried[25:])))
    tried.clear()
    tune(ranges, score, 7, seed=1)
    assert len(tried) == 7


@pytest.mark.parametrize(("better_until", "expected"), [(0, 200), (150, 250), (10**6, 330)])
def test_a_rival_stops_before_its_settings_are_spent_only_where_the_last_hundred_of_200_bring_nothing(
    better_until, expected
):
    tried = []

    def score(values):
        tried.append(values)
        return float(min(len(tried), better_until))

    tune({"a": Domain("log", 1e-6, 1e2), "b": Domain("log", 1e-6, 1e2)}, score, 330, seed=0)
    assert expected <= len(tried) < expected + 25 and len(tried) <= 330


@pytest.mark.parametrize(("method", "lam"), [("FDA", 1e-2), ("KFDA", 1e-3)])
def test_fishers_rivals_have_more_components_than_classes_and_the_ratio_of_the_scatters(method, lam):
    parts = small_parts()
    trials = RivalTrials(task(method, "flda", largest=10))
    values = {"lam": lam} | ({"relation_sigma": 1.0} if method == "KFDA" else {})
    model = trials.rival.model(values, trials.scale)
    k = 4 if method == "FDA" else 10  # of 3 classes
    Z = model.set_params(n_components=k).fit(parts.X, parts.y).transform(parts.X)
    R = parts.X
    if method == "KFDA":
        gaps = ((parts.X[:, None] - parts.X[None]) ** 2).sum(-1)
        R = np.exp(-gaps / np.median(gaps[np.triu_indices(60, 1)]))
    centred = [R[parts.y == c] - R[parts.y == c].mean(0) for c in range(3)]
    within = sum(rows.T @ rows for rows in centred)
    between = (R - R.mean(0)).T @ (R - R.mean(0)) - within
    constraint = within + lam * np.trace(within) / R.shape[1] * np.eye(R.shape[1])
    values, vectors = eigh(between, constraint)
    assert values[-3] < 1e-8 * values[-1]  # beyond c - 1 nothing is told apart, but the ridge admits directions
    expected = R @ vectors[:, ::-1][:, :2]
    Z = Z - Z.mean(axis=0)
    expected = expected - expected.mean(axis=0)
    gram = expected @ expected.T
    np.testing.assert_allclose(Z[:, :2] @ Z[:, :2].T, gram, atol=1e-6 * np.abs(gram).max())
    assert Z.shape[1] == k and np.ptp(Z[:, k - 1]) > 0


def test_every_k_of_fishers_rivals_is_looked_at_and_the_smallest_of_the_best_kept():
    trials, parts = RivalTrials(task("KFDA", "1nn", largest=30)), small_parts()
    values = {"lam": 1e-3, "relation_sigma": 1.0}
    value = trials.score(values)
    model = trials.rival.model(values, trials.scale).set_params(n_components=30).fit(parts.X, parts.y)
    Z, Z_val = model.transform(parts.X), model.transform(parts.X_val)
    curve = [KNeighborsClassifier(1).fit(Z[:, :k], parts.y).score(Z_val[:, :k], parts.y_val) for k in range(1, 31)]
    assert value == trials.value == max(curve) and trials.k == 1 + int(np.argmax(curve))
    assert trials.model.n_components_ == trials.k
    assert RivalTrials(task("KFDA", "1nn", largest=1)).score(values) == curve[0] < value and trials.objective.all_k


def test_ranges_of_the_rivals_can_be_fitted_at_both_ends():
    parts = small_parts()
    scale = Scale.of(parts.X, parts.y)
    gaps = parts.X[:, None] - parts.X[None]
    assert scale.rows == 60 and scale.largest == np.bincount(parts.y).max()
    assert scale.distance == pytest.approx(np.median((gaps**2).sum(-1)[np.triu_indices(60, 1)]))
    for name, rival in RIVALS.items():
        for end in ("low", "high"):
            values = {each: getattr(domain, end) for each, domain in rival.domains(scale).items()}
            model = rival.model(values, scale).fit(parts.X, parts.y)
            assert np.isfinite(model.transform(parts.X_val)).all(), (name, end)


def test_rivals_are_the_nine_of_the_paper_with_its_figures():
    assert set(RIVALS) == {"PCA", "LSI", "OLPP", "FDA", "MFA", "DNE", "OLPP-R", "KFDA", "KMFA"}
    assert set(PUBLISHED) == {ORIGINAL, GA, REDUCED, *RIVALS} and set(PUBLISHED[REDUCED]) == {"Reuters"}
    tabular = {"satimage", "dna", "banana"}
    for name, each in PUBLISHED.items():
        on_documents = name in (ORIGINAL, GA, REDUCED, *rivals_on("Reuters"))
        assert set(each) == {*(() if name == REDUCED else tabular), *(["Reuters"] if on_documents else [])}
    assert PUBLISHED[GA]["dna"] == (91.57, 90.98) and PUBLISHED["KMFA"]["satimage"] == (80.55, 83.60)


def test_permuted_labels_are_at_chance_and_those_of_the_test_part_stay():
    found = [compete(task(PERMUTED, evaluations=16, seed=seed)) for seed in range(6)]
    gaps = np.array([each["test"] - each["chance"] for each in found])
    assert abs(gaps.mean()) < 0.08 and compete(task(REDUCED, evaluations=16))["test"] > 0.7
    assert all(each["validation"] > each["test"] - 0.1 for each in found)


def test_chance_is_what_predictions_score_in_random_order():
    rng = np.random.default_rng(0)
    predicted, true = rng.integers(0, 3, 400), rng.integers(0, 4, 400)
    drawn = [np.mean(rng.permutation(predicted) == true) for _ in range(400)]
    assert by_chance(predicted, true) == pytest.approx(np.mean(drawn), abs=0.004)


def test_criteria_have_equal_degrees_and_lambdas_and_their_own_neighbours():
    limits = Limits(60, 25, 45)
    settings = {name: equal_settings(name, limits, 20, seed=3) for name in CRITERIA}
    for one, two, three in zip(*settings.values(), strict=True):
        assert [(each["relation_p"], each["lam"]) for each in (one, two, three)] == [
            (one["relation_p"], one["lam"])
        ] * 3
    assert {each["n_neighbors"] for each in settings[FISHER]} == {None} and len(
        {each["n_neighbors"] for each in settings[LOCAL]}
    ) > 5
    assert all(set(each) >= {"n_friends", "n_enemies"} for each in settings[PAIRS])
    assert equal_settings(FISHER, limits, 5, seed=3) == settings[FISHER][:5]


def test_fishers_criterion_is_between_less_lambda_times_within_scatter_of_polynomial_relations():
    parts = small_parts()
    found, model = best_of_criterion(FISHER, parts, "flda", 2, 6, seed=0)
    R = (1.0 + parts.X @ parts.X.T) ** found["chosen"]["relation_p"]
    R /= np.abs(R).max()
    within = sum((R[parts.y == c] - R[parts.y == c].mean(0)).T @ (R[parts.y == c] - R[parts.y == c].mean(0))
                 for c in range(3))  # fmt: skip
    total = (R - R.mean(0)).T @ (R - R.mean(0))
    between = total - within
    lam = found["chosen"]["lam"] * np.trace(between) / np.trace(within)
    vectors = np.linalg.eigh(between - lam * within)[1][:, ::-1][:, : found["k"]]
    Z, expected = (values - values.mean(axis=0) for values in (model.transform(parts.X), R @ vectors))
    gram = expected @ expected.T
    np.testing.assert_allclose(Z @ Z.T, gram, atol=1e-6 * np.abs(gram).max())


def test_the_search_is_scored_by_its_fit_on_the_training_part_alone():
    parts, own = small_parts(), {}
    for refit in ("train", "all"):
        model = DEFC("reduced8", "1nn", max_evals=8, n_components=4, refit=refit, random_state=0)
        model.fit(parts.X, parts.y, parts.X_val, parts.y_val)
        own[refit] = np.mean(model.predict(parts.X_test) == parts.y_test)
    assert compete(task(REDUCED))["test"] == own["train"] != own["all"]
