"""Values that a parameter does not permit: the message names class, parameter, value and what is allowed."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import proxembed
from contracts.estimators import (
    CLASSES,
    EVERY,
    X,
    Y,
    several_spectral,
    spectral,
    y_for,
)
from designs import covered, each_value
from proxembed import (
    DEFC,
    FDA,
    MDDM,
    MESD,
    OPLS,
    PCA,
    Kernelized,
    RelationFeatures,
    Scaling,
)
from proxembed.methods.adaptive import PairOptions
from proxembed.params import declared


@each_value
@several_spectral
@pytest.mark.parametrize("k", [0, -1, 1.5, 1.0, 0.0, True, False, "2", "mle", np.nan, np.inf, [2]], ids=repr)
def test_n_components_out_of_range(cls, k):
    with pytest.raises(ValueError, match=f"{cls.__name__}: n_components=.* is not allowed"):
        cls(n_components=k).fit(X, y_for(cls))


@each_value
@spectral
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_n_components_above_the_bound(cls, form):
    with pytest.raises(
        ValueError, match=r"n_components=500 is more than the \d+ components that .* n_components <= \d+"
    ) as refusal:
        cls(n_components=500).fit(form(X), y_for(cls))
    bound = int(str(refusal.value).split("n_components <= ")[1].split(",")[0])
    fitted = cls(n_components=bound).fit(form(X), y_for(cls))
    assert fitted.n_components_ == bound and np.all(np.isfinite(fitted.transform(form(X))))


@several_spectral
def test_numpy_integers_are_integers(cls):
    np.testing.assert_array_equal(
        cls(n_components=np.int64(1)).fit(X, y_for(cls)).transform(X),
        cls(n_components=1).fit(X, y_for(cls)).transform(X),
    )


def wrong_values(cls: type, name: str) -> list:
    """Values that a declaration forbids: beyond each end, and of kinds that none allows."""
    _, spec = declared(cls)[name]
    found = [v for v in (float("nan"), "no such thing", object(), [], -1e300, 1j) if not spec.permits(v)]
    for end, step in (
        (spec.low, -1),
        (spec.high, 1),
        (spec.above, -1),
        (spec.above, 0),
        (spec.below, 0),
        (spec.below, 1),
    ):
        if end is not None:
            found.append(end + step)
    return [v for v in found if not spec.permits(v)]


def checked(cls: type, name: str) -> bool:
    """Whether the declaration alone decides: not where the data do, nor on options that DEFC passes on."""
    spec = declared(cls)[name][1]
    return not (spec.words and spec.test is None or cls is DEFC and name in vars(PairOptions()))


PARAMETERS = [(cls, name) for cls in EVERY for name in declared(cls) if checked(cls, name)]


@covered("cls,name", PARAMETERS, ids=lambda v: getattr(v, "__name__", v))
def test_wrong_values_of_every_parameter(cls, name):
    values = wrong_values(cls, name)
    assert values, "a declaration that permits everything checks nothing"
    for value in values:
        with pytest.raises(ValueError) as refusal:
            cls(**{name: value}).fit(X, y_for(cls))
        text = str(refusal.value)
        assert text.startswith(f"{cls.__name__}: {name}={value!r} is not allowed; {name} must be ")


@pytest.mark.parametrize("outer", [MESD, Kernelized], ids=lambda c: c.__name__)
def test_wrong_values_inside_a_wrapper_name_the_inner_class(outer):
    with pytest.raises(ValueError, match="FDA: ridge=-1 is not allowed"):
        outer(FDA(ridge=-1)).fit(X, CLASSES)
    with pytest.raises(ValueError, match="method"):
        outer(FDA).fit(X, CLASSES)
    with pytest.raises(ValueError, match="method"):
        outer("FDA").fit(X, CLASSES)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (MESD(PCA()), "MESD extends single-label methods, and PCA"),
        (MESD(OPLS()), "MESD extends single-label methods, and OPLS"),
        (MESD(MESD()), "MESD extends single-label methods, and MESD"),
        (Kernelized(proxembed.SLVM()), "SLVM places the rows themselves"),
        (Kernelized(Kernelized()), "cannot wrap Kernelized"),
        (proxembed.Scaled(proxembed.Scaling()), "Scaled cannot wrap Scaling, which has no components"),
        (proxembed.Scaled(proxembed.RelationFeatures()), "Scaled cannot wrap RelationFeatures, which has no"),
    ],
    ids=lambda v: str(v)[:30],
)
def test_wrappers_of_what_cannot_be_wrapped(estimator, message):
    with pytest.raises(ValueError, match=message):
        estimator.fit(X, Y)


OWN = {
    "MultiOutputRidge": {"penalty": [-1, np.nan, np.inf, "none", None, [1]]},
    "LabelScores": {"penalty": [-1, "none"], "n_components": [0, 9, 1.5, "2", True], "n_folds": [1, 2.5, "5"]},
}


@pytest.mark.parametrize(
    ("name", "parameter", "value"), [(n, p, v) for n, ps in OWN.items() for p, vs in ps.items() for v in vs], ids=repr
)
def test_wrong_values_of_the_other_estimators(name, parameter, value):
    with pytest.raises((TypeError, ValueError), match=parameter):
        getattr(proxembed, name)(**{parameter: value}).fit(X, Y)


@pytest.mark.parametrize(
    "weights", [[1.0], [1.0, 2.0, 3.0, 0.0], [1.0, -1.0, 1.0, 1.0], [1.0, np.nan, 1.0, 1.0], [[1.0] * 4]], ids=str
)
def test_edge_weights_that_do_not_fit(weights):
    with pytest.raises(ValueError, match="edge_weights must hold 4 positive numbers"):
        proxembed.HSL(edge_weights=weights).fit(X, Y)


@pytest.mark.parametrize("result", [np.ones(3), np.full((100, 100), np.nan), "kernel"], ids=["shape", "nan", "text"])
def test_a_label_kernel_that_gives_nonsense(result):
    with pytest.raises((TypeError, ValueError), match="similarity|label|kernel|convert"):
        MDDM(label_kernel=lambda sets: result).fit(X, Y)


def test_a_kernel_that_is_not_square_at_fit():
    with pytest.raises(ValueError, match="square|precomputed"):
        Kernelized(OPLS(), kernel="precomputed").fit(X, Y)


def test_unbiased_dependence_needs_four_rows():
    with pytest.raises(ValueError, match='at least 4 rows, got 3; use estimator="biased"'):
        proxembed.SFEHS().fit(X[:3], [0, 1, 1])


@pytest.mark.parametrize("number", [0, -1, 1.5, "3", True], ids=repr)
def test_prototypes_out_of_range(number):
    for estimator in (RelationFeatures(prototypes="random", n_prototypes=number), Kernelized(n_prototypes=number)):
        with pytest.raises(ValueError, match="n_prototypes"):
            estimator.fit(X, Y)


def test_stratified_prototypes_need_labels():
    with pytest.raises(ValueError, match="stratified|labels|y"):
        RelationFeatures(prototypes="stratified", n_prototypes=5).fit(X)


def test_counts_that_are_negative_have_no_tfidf():
    with pytest.raises(ValueError, match="needs counts"):
        Scaling("tfidf").fit(np.round(X) - 5.0)
