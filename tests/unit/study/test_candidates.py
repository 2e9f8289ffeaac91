"""The search space: candidates follow the labels, every drawn configuration of every registered embedding builds and
fits."""

import numpy as np
import pytest
from scipy import sparse

from designs import WHOLE
from proxembed import FDA, MESD, MMC, OPLS, Kernelized, TargetSpace, Views
from proxembed.estimator.base import Embedder
from proxembed.estimator.catalogue import estimators
from proxembed.params import Methods, declared, integers, log
from proxembed.study import candidates
from proxembed.study.candidates import Draws

DRAWS = 8 if WHOLE else 2


def data(single: bool):
    """Counts, so that every scaling takes them; four classes or four labels."""
    rng = np.random.default_rng(5)
    X = rng.poisson(3.0, size=(40, 6)).astype(float)
    if single:
        return X, X[:, :4].argmax(axis=1)
    return X, (X[:, :4] > 3).astype(int)


def ours():
    classes = {name: cls for name, cls in estimators().items() if issubclass(cls, Embedder)}
    return {name: cls for name, cls in classes.items() if cls.__module__.startswith("proxembed.")}


@pytest.mark.parametrize("name", sorted(ours()))
def test_every_drawn_configuration_builds_and_fits(name):
    cls = ours()[name]
    X, y = data(cls.class_traits.labels == "single")
    rng = np.random.default_rng(0)
    for _ in range(DRAWS):
        estimator = candidates.suited(candidates.sample(cls, Draws(rng)), len(X), 0)
        try:
            Z = estimator.fit(X, y).transform(X)
        except ValueError as error:  # of sets of labels a large lam of MMC leaves no direction to place rows by
            assert name == "DirectMESD" and "no eigenvalue is positive" in str(error)
            continue
        assert Z.shape[0] == len(X) and np.isfinite(Z.toarray() if sparse.issparse(Z) else Z).all()


@pytest.mark.parametrize("name", sorted(ours()))
def test_drawn_values_lie_in_the_declared_ranges(name):
    cls, rng = ours()[name], np.random.default_rng(1)
    for _ in range(DRAWS):
        estimator = candidates.sample(cls, Draws(rng))
        for parameter, (field, spec) in declared(cls).items():
            value = getattr(estimator, parameter)
            if spec.search is None:
                assert value is field.default or value == field.default
            elif not isinstance(spec.search, Methods):
                assert spec.permits(value)
            else:
                assert type(value).class_traits.labels == spec.search.labels


def test_kinds_of_ranges():
    rng = np.random.default_rng(0)
    decades = np.log10([candidates._value(log(1e-6, 1e2), Draws(rng), "value") for _ in range(2000)])
    counts = np.histogram(decades, bins=4, range=(-6, 2))[0]
    assert decades.min() >= -6 and decades.max() <= 2 and counts.min() > 400
    assert {candidates._value(integers(2, 4), Draws(rng), "value") for _ in range(50)} == {2, 3, 4}
    assert {candidates._value((1, 3), Draws(rng), "value") for _ in range(50)} == {1, 2, 3}
    assert {candidates._value(("a", "b", "c"), Draws(rng), "value") for _ in range(50)} == {"a", "b", "c"}
    fractions = [candidates._value((0.0, 1.0), Draws(rng), "value") for _ in range(50)]
    assert all(isinstance(value, float) and 0 <= value <= 1 for value in fractions) and len(set(fractions)) == 50
    ridges = [candidates._value("ridge", Draws(rng), "value") for _ in range(100)]
    assert 30 < ridges.count("auto") < 70 and all(r == "auto" or 1e-6 <= r <= 1e2 for r in ridges)


@pytest.mark.parametrize("search", ["width", 3.0, ()])
def test_an_unknown_kind_of_range_is_refused(search):
    with pytest.raises(TypeError, match="is not a search range"):
        candidates._value(search, Draws(np.random.default_rng(0)), "value")


def test_drawing_is_reproducible():
    draws = [[candidates.sample(Kernelized, Draws(np.random.default_rng(3))).get_params(deep=False)] for _ in range(2)]
    assert repr(draws[0]) == repr(draws[1])


def test_candidates_follow_the_labels():
    several = {candidate.title for candidate in candidates.candidates()}
    single = {candidate.title for candidate in candidates.candidates(several_labels=False)}
    assert {"MESD(FDA)", "MESD(MMC)", "OPLS", "Kernelized(OPLS)"} <= several and not {"FDA", "PCA", "LSI"} & several
    assert {"FDA", "MMC", "OPLS"} <= single and not any(title.startswith("MESD") for title in single)


def test_a_named_single_label_method_stays_the_one_that_is_wrapped():
    (candidate,) = candidates.candidates(["mmc"])
    rng = np.random.default_rng(0)
    assert candidate == candidates.Candidate(MESD, MMC)
    assert all(isinstance(candidate.sample(Draws(rng)).method, MMC) for _ in range(10))


def test_methods_that_parameters_name_stay_and_are_not_shared():
    (candidate,) = candidates.candidates(["ssdr(supervised=MDDM(mix=0.2), unsupervised=PCA)"], partly_labelled=True)
    made = [candidate.default(), *(candidate.sample(Draws(np.random.default_rng(seed))) for seed in range(5))]
    for each in made:
        assert repr(each.supervised) == "MDDM(mix=0.2)" and repr(each.unsupervised) == "PCA()"
    assert len({id(each.supervised) for each in made}) == len(made)
    assert len({each.mix for each in made}) == len(made)


def test_names_are_checked():
    with pytest.raises(ValueError, match="did you mean opls"):
        candidates.candidates(["oplls"])
    with pytest.raises(ValueError, match="methods is empty"):
        candidates.candidates([])
    assert [candidate.title for candidate in candidates.candidates("opls")] == ["OPLS"]


def test_a_wrapper_is_never_drawn_inside_its_own_kind():
    inner = candidates.inner_classes(Kernelized, Methods("multi"))
    assert Kernelized not in inner and MESD in inner and all(not cls.class_traits.direct for cls in inner)


def test_kernels_are_bounded_on_many_rows_only():
    assert candidates.suited(Kernelized(), 6000, 1).n_prototypes is None
    assert candidates.suited(Kernelized(), 6001, 1).n_prototypes == candidates.PROTOTYPES
    assert candidates.suited(Kernelized(n_prototypes=7), 9000, 1).n_prototypes == 7
    assert candidates.suited(OPLS(), 9000, 1).get_params() == OPLS().get_params()


def test_a_kernel_on_views_of_many_rows_gets_prototypes():
    assert repr(candidates.suited(Views(), 6000, 1)) == "Views(random_state=1)"
    assert candidates.suited(Views(), 6001, 1).method.n_prototypes == candidates.PROTOTYPES
    assert candidates.suited(Views(), 2000, 1, 500).method.n_prototypes == 500
    assert candidates.suited(Views(OPLS()), 9000, 1).method.get_params() == OPLS().get_params()


def test_settings_rebuild_the_estimator():
    assert candidates.settings(Kernelized()) == {}
    assert candidates.settings(MESD(FDA(ridge=0.5), n_components=np.int64(3))) == {
        "n_components": 3,
        "method__ridge": 0.5,
    }
    rebuilt = MESD(FDA()).set_params(**candidates.settings(MESD(FDA(ridge=0.5), n_components=3)))
    assert repr(rebuilt) == repr(MESD(FDA(ridge=0.5), n_components=3))


def test_methods_for_unknown_labels_enter_where_labels_are_unknown():
    full = {candidate.title for candidate in candidates.candidates()}
    partly = {candidate.title for candidate in candidates.candidates(partly_labelled=True)}
    assert full < partly and {"SSDR", "SSMOPE", "BSML"} <= partly - full and "MOPE" in full


@pytest.mark.parametrize(
    "methods",
    [np.array(2), 3, len, (1.0, np.nan), np.array([1, 2])],
    ids=["an array without axes", "a number", "a function", "numbers", "an array of numbers"],
)
def test_what_names_no_methods_is_refused(methods):
    with pytest.raises(ValueError, match=r"methods=.* is not allowed; it must be a name, a sequence of names, or None"):
        candidates.candidates(methods)


def test_target_space_is_reduced_base_by_base_of_those_that_sizes_and_targets_allow():
    assert [*candidates.fewer_bases(500, 20)] == [
        ("ridge", "forest", "neighbors"),
        ("ridge", "neighbors"),
        ("neighbors",),
    ]
    wide = [*candidates.fewer_bases(10_789, 23_484)]  # a ridge regression is factorised up to a side of 10,000
    assert wide == [("forest", "neighbors"), ("neighbors",)]
    assert [*candidates.fewer_bases(500, 20, numbers=True)] == [("ridge", "forest"), ("ridge",)]
    forms = [*candidates.lighter(TargetSpace(random_state=3), 500, 20)]
    assert [each.bases for each in forms] == [None, *candidates.fewer_bases(500, 20)]
    assert all(each.random_state == 3 and candidates.plain_name(each) == "TargetSpace" for each in forms)
    for alone in (OPLS(), TargetSpace(bases=["ridge"])):
        assert [*candidates.lighter(alone, 500, 20)] == [alone]
