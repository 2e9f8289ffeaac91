"""Numbers that no float holds, infinities, huge counts and functions of another signature, for every parameter of
every public estimator: a sentence that names the parameter, or the fit that it documents."""

from __future__ import annotations

import math
import signal
import tracemalloc
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import strategies
from contracts.estimators import EVERY, X, Y, build, dense, output, several, several_spectral, y_for
from designs import covered, each_value
from proxembed import BSML, LLE, LSI, MLSI, MORP, OPLS, SSDRMC, Kernelized, LaplacianEigenmaps
from proxembed.algebra.arrays import matrix
from proxembed.estimator.base import Embedder
from proxembed.params import declared

SECONDS = 60
FEW = {
    "BSML": {"max_iter": 5},
    "BSSML": {"max_iter": 5},
    "VariationalProbit": {"max_iter": 5},
    "ForestLeaves": {"n_estimators": 5},
    "Views": {"n_estimators": 5},
    "Kernelized": {"random_state": 0},
    "RelationFeatures": {"random_state": 0},
}
PARAMETERS = [(cls, name) for cls in EVERY for name in cls().get_params(deep=False)]
parameters, some_parameters = (
    covered("cls,name", PARAMETERS, ids=lambda v: getattr(v, "__name__", v), of=of) for of in (1, 3)
)
ODD = [10**400, -(10**400), 10**5000, Fraction(1, 3), Fraction(10**400, 3), Decimal("0.5"), np.longdouble("1e4000"), 1j]
ENDLESS = {("DEFC", "max_seconds"), ("DEFC", "cache_bytes"), ("EmbeddingSearch", "max_seconds")}  # documented: no bound
pytestmark = [
    pytest.mark.filterwarnings("ignore:.* before its bound settled:sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:RankSVM has a relative duality gap:sklearn.exceptions.ConvergenceWarning"),
]


@pytest.fixture
def in_time():
    """An error in the place of a hang."""

    def late(*_):
        raise TimeoutError(f"not done in {SECONDS} CPU seconds")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)  # of the processor, whatever else runs beside
    yield
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.signal(signal.SIGPROF, before)


def fit(cls, options):
    return build(cls, **FEW.get(cls.__name__, {}) | options).fit(X, y_for(cls))


@parameters
def test_numbers_that_no_float_holds_are_refused_by_name(cls, name):
    for value in ODD:
        with pytest.raises(ValueError, match=f"{name}="):
            fit(cls, {name: value})


@some_parameters
def test_infinity_is_refused_by_name_or_documented(cls, name):
    for value in (math.inf, -math.inf, np.float32(np.inf)):
        if (cls.__name__, name) in ENDLESS and type(value) is float and value > 0:
            assert np.isfinite(dense(output(fit(cls, {name: value}), X))).all()
            continue
        with pytest.raises(ValueError, match=f"{name}="):
            fit(cls, {name: value})


COUNTS = [
    (cls, name)
    for cls, name in PARAMETERS
    if isinstance(getattr(cls(), name), int | np.integer) and not isinstance(getattr(cls(), name), bool)
] + [(cls, name) for cls, name in PARAMETERS if issubclass(cls, Embedder) and declared(cls)[name][1].integer]


@each_value
@covered("cls,name", list(dict.fromkeys(COUNTS)), ids=lambda v: getattr(v, "__name__", v))
@pytest.mark.parametrize("value", [10**9, 10**18, 2**63, np.uint64(2**63)], ids=["10^9", "10^18", "2^63", "uint64"])
@pytest.mark.usefixtures("in_time")
def test_huge_counts_are_bounded(cls, name, value, monkeypatch):
    monkeypatch.setattr("proxembed.features.layouts.cpu_count", lambda: 1)  # several threads spin for seconds
    try:
        fitted = fit(cls, {name: value})
    except ValueError as refusal:
        assert name in str(refusal) or "neighbours" in str(refusal)
    else:
        assert np.isfinite(dense(output(fitted, X))).all()


@covered(
    "cls,name",
    [(cls, name) for cls, name in dict.fromkeys(COUNTS) if name != "n_jobs"],  # processes are slow to start
    ids=lambda v: getattr(v, "__name__", v),
)
def test_narrow_integers_count_like_others(cls, name):
    """100 times two is no int8."""
    try:
        plain = fit(cls, {name: 3})
    except ValueError as refusal:
        with pytest.raises(ValueError) as other:
            fit(cls, {name: np.int8(3)})
        assert str(other.value).replace("np.int8(3)", "3") == str(refusal)
        return
    narrow = fit(cls, {name: np.int8(3)})
    np.testing.assert_array_equal(dense(output(narrow, X)), dense(output(plain, X)))


@several_spectral
def test_shares_of_other_float_types_are_shares(cls):
    try:
        expected = fit(cls, {"n_components": 0.5})
    except ValueError as refusal:
        assert "hold no share of a spectrum" in str(refusal)
        return
    for value in (np.float16(0.5), np.float32(0.5), np.longdouble(0.5)):
        assert fit(cls, {"n_components": value}).n_components_ == expected.n_components_


USED = {  # settings under which a function is called
    ("Kernelized", "prototypes"): {"n_prototypes": 5},
    ("RelationFeatures", "prototypes"): {"n_prototypes": 5},
    ("MOPE", "combine"): {"gamma": 0.5, "weights": "gaussian"},
    ("SSMOPE", "combine"): {"gamma": 0.5, "weights": "gaussian"},
    ("MOPE", "metric"): {"weights": "gaussian"},
    ("DirectMOPE", "metric"): {"weights": "gaussian"},
}
DECLARED = [(cls, name) for cls in EVERY if issubclass(cls, Embedder) for name in declared(cls)]
FUNCTIONS = [(cls, name) for cls, name in DECLARED if declared(cls)[name][1].callable]


@each_value
@covered("cls,name", FUNCTIONS, ids=lambda v: getattr(v, "__name__", v))
@pytest.mark.parametrize(
    "function",
    [len, lambda: 0, lambda *given, **named: "text", lambda *given, **named: None, lambda *given, **named: np.ones(1)],
    ids=["len", "no argument", "text", "nothing", "one number"],
)
def test_functions_that_do_not_fit_are_named(cls, name, function):
    with pytest.raises((ValueError, TypeError), match=f"{name}|precomputed weights") as refusal:
        output(fit(cls, {name: function, **USED.get((cls.__name__, name), {})}), X)
    assert "/proxembed/" in str(refusal.traceback[-1].path)


@some_parameters
def test_a_class_is_no_function_and_no_estimator(cls, name):
    for value in (int, OPLS, object):
        with pytest.raises(ValueError, match=f"{name}="):
            fit(cls, {name: value})


WRONG = {
    "component": [True, False, -1, 10**6, 10**400, 0.0, 1.5, "0", None, np.nan],
    "n_features": [-1, True, 2.0, "3", None, np.inf],
    "n_labels": [-1, True, 2.0, "3", None],
}


@several
def test_what_cannot_be_explained(cls):
    if not hasattr(cls, "explain") or not hasattr(fitted := fit(cls, {}), "explain"):
        return
    for name, values in WRONG.items():
        for value in values:
            with pytest.raises(ValueError, match=f"^{name}=.* is not allowed; it must be a whole number"):
                fitted.explain(**{name: value})
    told = fitted.explain(np.int64(0), np.int8(2), 10**400)
    assert told == fitted.explain(0, 2) or len(told.labels) > 10
    assert fitted.explain(0, 0, 0).features == []


def test_lanczos_that_does_not_converge_says_what_does():
    y = Y[:36].astype(float)
    y[18:] = np.nan
    for estimator in (SSDRMC(eigen_solver="lanczos"), LLE(solver="lanczos")):
        with pytest.raises(ValueError, match="The solver 'lanczos' found . of 2 eigenvectors.*Use 'auto'"):
            estimator.fit(X[:36], y)
    assert SSDRMC(eigen_solver="dense").fit(X[:36], y).embedding_.shape == (36, 2)
    assert LaplacianEigenmaps(solver="lanczos").fit(X).embedding_.shape == (40, 2)


def test_components_beyond_the_memory_are_refused_before_they_are_made():
    with pytest.raises(ValueError, match="n_components=1000000000 is not allowed; n_components must be .* <= 10,000"):
        BSML(n_components=10**9).fit(X, Y)
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"n_components=9000: .* dense 4 x 9,001 x 9,001 array of 2.4 GiB"):
        BSML(n_components=9000).fit(X, Y)
    assert tracemalloc.get_traced_memory()[1] < 1e7
    tracemalloc.stop()


@pytest.mark.parametrize("options", [{}, {"constraint": "coef"}, {"n_prototypes": 300}], ids=str)
def test_the_kernel_guard_speaks_before_any_matrix_is_made(options, monkeypatch):
    rows, y = strategies.features_dense(400, 5, 1), strategies.labels_multi(400, 3, 1)
    Kernelized(**options).fit(rows[:60], y[:60])  # what is loaded and kept on first use
    monkeypatch.setattr(matrix.guard_dense, "__defaults__", (100_000, 8))
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"The kernel matrix \(set n_prototypes to bound it\) would be a dense 400 x"):
        Kernelized(**options).fit(rows, y)
    assert tracemalloc.get_traced_memory()[1] < 300_000
    tracemalloc.stop()


def test_latent_semantic_indexing_of_wide_rows_names_a_way_that_works(monkeypatch):
    rows, y = strategies.features_text(150, 120, 1), strategies.labels_multi(150, 4, 1)
    monkeypatch.setattr(matrix, "MAX_DENSE_BYTES", 8 * 40**2)
    with pytest.raises(ValueError, match='MLSI: form="inverse".*Use form="ratio".* reduce X to 40 features'):
        MLSI().fit(rows, y)
    with pytest.raises(ValueError, match="Reduce X to 40 features or fewer"):
        MORP().fit(rows, y)
    assert MLSI(form="ratio", n_components=2).fit(rows, y).solver_ == "iterative"
    fewer = LSI(n_components=40).fit_transform(rows)
    for estimator in (MLSI(), MORP()):
        assert np.isfinite(estimator.fit(fewer, y).transform(fewer)).all()
