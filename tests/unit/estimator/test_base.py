"""Embedder: a class statement makes an estimator, the registry knows it, and what would be ignored is refused."""

import inspect
import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.utils.validation import NotFittedError

import proxembed
import strategies
from proxembed import CCA, FDA, LSI, MESD, MLLS, OPLS, PCA, Kernelized
from proxembed.algebra.operators.structured import Centering, LowRank
from proxembed.algebra.template import Template
from proxembed.estimator.base import Embedder, SpectralEmbedder, natural_components, registry
from proxembed.estimator.direct import DirectEmbedder
from proxembed.estimator.rows import Rows
from proxembed.params import declared, param
from proxembed.targets.labels import LabelMatrix

X, Y = strategies.labelled_rows(30, 8, 4, 1)
REGISTERED = [name for name, cls in registry().items() if cls.__module__.startswith("proxembed.")]


@pytest.fixture
def scratch_registry(monkeypatch):
    """Classes made in a test leave no trace."""
    monkeypatch.setattr("proxembed.estimator.base._REGISTRY", dict(registry()))


def test_registry_is_sorted_and_holds_the_public_estimators():
    names = [name for name, cls in registry().items() if cls.__module__.startswith("proxembed.")]
    assert names == sorted(names)
    assert {"PCA", "FDA", "MESD", "Kernelized", "Scaling", "LabelScores", "LabelKNN", "DEFC"} <= set(names)
    for name in names:
        cls = registry()[name]
        assert getattr(proxembed, name, None) is cls or (cls.role == "rival" and name not in proxembed.__all__)


def test_the_registry_that_is_given_out_is_a_copy():
    registry().clear()
    assert "PCA" in registry()


def test_a_class_statement_is_an_estimator(scratch_registry):
    class Mine(SpectralEmbedder):
        """My own PCA.  [pearson1901pca]"""

        gain: float = param(default=2.0, above=0, doc="Does nothing to the directions.")

        def template(self, rows):
            return Template(self.gain * Centering(), offset=rows.ones)

    assert registry()["Mine"] is Mine
    assert Mine().get_params() == {"n_components": None, "scaling": "auto", "solver": "auto", "gain": 2.0}
    np.testing.assert_allclose(Mine(n_components=2).fit_transform(X), PCA(n_components=2).fit_transform(X), atol=1e-10)
    assert "gain : a number > 0 and <= 1e+100, default=2.0" in Mine.__doc__ and "Does nothing" in Mine.__doc__
    assert "pearson1901pca" in Mine.citation()
    assert repr(clone(Mine(gain=3.0))) == "Mine(gain=3.0)"
    with pytest.raises(ValueError, match="Mine: gain=-1 is not allowed; gain must be a number > 0"):
        Mine(gain=-1).fit(X)
    with pytest.raises(TypeError):
        Mine(2.0)


def test_names_of_parameters_are_read_once_from_each_constructor(scratch_registry, monkeypatch):
    class Wide(PCA):
        width: int = param(default=3, doc="")

    assert set(Wide._get_param_names()) == {*PCA._get_param_names(), "width"}
    read = []
    monkeypatch.setattr("sklearn.base.inspect.signature", lambda of: read.append(of))
    Wide._get_param_names().clear()
    assert "width" in Wide(width=5).get_params() and not read
    monkeypatch.undo()
    monkeypatch.setattr(Wide, "__init__", lambda self, other=1: None)
    assert Wide._get_param_names() == ["other"]


def test_names_with_an_underscore_and_abstract_classes_are_not_registered(scratch_registry):
    class _Hidden(PCA):
        pass

    class Shape(SpectralEmbedder, abstract=True):
        pass

    assert not {"_Hidden", "Shape", "SpectralEmbedder", "TemplateWrapper", "FitWrapper", "Embedder"} & set(registry())
    np.testing.assert_array_equal(_Hidden(n_components=2).fit_transform(X), PCA(n_components=2).fit_transform(X))


def test_the_same_name_from_another_module_is_refused(scratch_registry):
    with pytest.raises(TypeError, match="PCA is already registered by proxembed.methods.variance"):
        type("PCA", (SpectralEmbedder,), {"__module__": "elsewhere"})


def test_a_class_may_be_defined_again_in_its_own_module(scratch_registry):
    first = type("Again", (LSI,), {"__module__": __name__, "__doc__": "One."})
    second = type("Again", (LSI,), {"__module__": __name__, "__doc__": "Two."})
    assert registry()["Again"] is second is not first


def test_a_parameter_overridden_without_annotation_is_refused(scratch_registry):
    with pytest.raises(TypeError, match=r"Wrong.n_components overrides a parameter without annotation.*param\("):

        class Wrong(SpectralEmbedder):
            n_components = 3


def test_a_method_without_a_docstring_still_works(scratch_registry):
    bare = type("Bare", (SpectralEmbedder,), {"template": lambda self, rows: Template(Centering(), offset=rows.ones)})
    assert bare.__doc__ is None
    assert bare(n_components=1).fit_transform(X).shape == (30, 1)


def test_hooks_that_are_missing_say_so(scratch_registry):
    class Nothing(SpectralEmbedder):
        """No template."""

    with pytest.raises(TypeError, match=r"Nothing must define template\(rows\)"):
        Nothing().fit(X)

    class Placed(DirectEmbedder):
        """No rule for new rows."""

    with pytest.raises(TypeError, match=r"Placed must define extend\(X\)"):
        Placed().extend(X)


@pytest.mark.parametrize("name", REGISTERED)
def test_the_constructor_stores_and_does_nothing_else(name):
    cls = registry()[name]
    estimator = cls()
    assert set(vars(estimator)) == set(estimator.get_params(deep=False))
    signature = inspect.signature(cls.__init__).parameters
    assert set(signature) - {"self"} == set(estimator.get_params(deep=False))
    strange = object()
    for parameter in estimator.get_params(deep=False):
        assert getattr(cls(**{parameter: strange}), parameter) is strange


@pytest.mark.parametrize("name", REGISTERED)
def test_parameters_are_documented_from_their_declaration(name):
    cls = registry()[name]
    assert cls.__doc__.count("Parameters\n") == 1
    for parameter, (_, spec) in declared(cls).items():
        assert f"{parameter} : {spec.allowed()}" in cls.__doc__
        assert spec.permits(getattr(cls(), parameter)), "the default must be permitted"


@pytest.mark.parametrize("name", REGISTERED)
def test_tags(name):
    estimator = registry()[name]()
    tags = estimator.__sklearn_tags__()
    assert tags.input_tags.sparse
    kind = estimator.traits.labels
    assert tags.target_tags.required == (kind is not None)
    assert tags.target_tags.multi_output == (kind == "multi")


def test_kernelized_takes_the_labels_of_the_method_it_wraps():
    kinds = [Kernelized(method).traits.labels for method in (None, PCA(), FDA(), MESD(FDA()), CCA())]
    assert kinds == ["multi", None, "single", "multi", "multi"]
    assert Kernelized(PCA(), kernel="precomputed").__sklearn_tags__().input_tags.pairwise


@pytest.mark.parametrize("shape", [(30, 1), (30, 8), (5, 8)])
def test_natural_number_of_components(shape):
    part = X[: shape[0], : shape[1]]
    labels = LabelMatrix.of(Y[: shape[0]]).drop_empty()
    assert natural_components(Rows(part, None)) == min(2, *shape)
    assert natural_components(Rows(part, labels)) == max(1, min(labels.rank, *shape))


def test_at_most_a_hundred_components_by_default():
    many = np.eye(130)[np.arange(260) % 130]
    wide = np.random.default_rng(0).standard_normal((260, 140))
    assert natural_components(Rows(wide, LabelMatrix.of(many))) == 100
    assert OPLS(ridge=0.1).fit(wide, many).n_components_ == 100
    assert OPLS(ridge=0.1, n_components=129).fit(wide, many).n_components_ == 129


def test_scalings():
    P = OPLS(ridge=0.1, n_components=3).fit(X, Y)
    orthonormal, unit, eigen = (
        OPLS(ridge=0.1, n_components=3, scaling=scaling).fit(X, Y) for scaling in ("orthonormal", "unit", "eigenvalue")
    )
    np.testing.assert_allclose(orthonormal.components_ @ orthonormal.components_.T, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(unit.components_, axis=1), 1.0)
    np.testing.assert_allclose(eigen.components_, P.components_ * np.sqrt(P.eigenvalues_)[:, None])
    for other in (orthonormal, unit, eigen):
        both = np.vstack([P.components_, other.components_])
        assert np.linalg.matrix_rank(both, tol=1e-8) == 3


def test_components_of_a_map_back_are_found_before_they_are_scaled():
    fit = MLLS(n_components=3).fit(X, Y)
    np.testing.assert_allclose(fit.components_ @ fit.components_.T, np.eye(3), atol=1e-10)


def test_unsupervised_methods_ignore_y():
    np.testing.assert_array_equal(PCA().fit_transform(X, Y), PCA().fit_transform(X))
    assert PCA().fit(X, "nonsense").n_components_ == 2


def test_whitened_scores_have_unit_variance():
    Z = PCA(n_components=3, whiten=True).fit_transform(X)
    np.testing.assert_allclose(np.cov(Z.T), np.eye(3), atol=1e-10)


@pytest.mark.parametrize("call", ["transform", "truncate", "explain", "get_feature_names_out"])
def test_what_needs_a_fit_says_so(call):
    arguments = {"transform": (X,), "truncate": (1,), "explain": (), "get_feature_names_out": ()}[call]
    with pytest.raises(NotFittedError):
        getattr(OPLS(), call)(*arguments)


def test_truncation_leaves_the_fitted_estimator_alone():
    full = OPLS(ridge=0.1).fit(X, Y)
    before = full.transform(X)
    short = full.truncate(2)
    assert short is not full and (short.n_components, short.n_components_) == (2, 2)
    np.testing.assert_array_equal(full.transform(X), before)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(short)).transform(X), short.transform(X))
    assert len(short.explain(1).labels) == 4
    with pytest.raises(ValueError, match="component=2"):
        short.explain(2)


def test_trace_ratio_is_not_nested():
    fit = FDA(criterion="trace_ratio", n_components=2, ridge=0.1).fit(X, Y.argmax(axis=1))
    with pytest.raises(ValueError, match="not nested.*n_components"):
        fit.truncate(1)
    with pytest.raises(ValueError, match="trace_ratio.*n_components"):
        FDA(criterion="trace_ratio", n_components=0.5, ridge=0.1).fit(X, Y.argmax(axis=1))


def test_a_template_may_be_flipped_spread_and_rescaled():
    rows = Rows(X[:20], LabelMatrix.of(Y[:20]))
    template = Template(LowRank(rows.labels.Y), Centering(), a=0.5, b=2.0, offset=rows.ones)
    flipped = template.flipped()
    assert (flipped.a, flipped.b) == (-2.0, 0.5)
    np.testing.assert_allclose(flipped.A.todense(20), -Centering().todense(20))
    wide = template.spread(np.arange(5, 25), 30)
    assert wide.A.todense(30)[:5].any() == 0 and wide.offset.sum() == 20
    np.testing.assert_allclose(wide.B.todense(30)[5:25, 5:25], Centering().todense(20))
    double = template.rescale(2.0)
    assert double.a == 1.0 and double.b == 2.0
    np.testing.assert_allclose(double.A.todense(), 2 * template.A.todense())
    with pytest.raises(ValueError, match="constraint operator"):
        Template(Centering()).flipped()


def test_embedders_do_not_compare_by_their_fields():
    """Estimators stay hashable and are equal only to themselves."""
    one, other = PCA(), PCA()
    assert one != other and len({one, other}) == 2 and isinstance(one, Embedder)


def test_attributes_of_a_family_are_told_beside_its_own(scratch_registry):
    class Family(Embedder, abstract=True):
        """A family."""

        attributes = """
        shared_ : what all learn.
        """

    class Bare(Family):
        """Bare.

        Raises
        ------
        ValueError
            Never.
        """

    class Own(Family):
        """Own.

        Attributes
        ----------
        own_ : its own.

        Examples
        --------
        """

    assert "\nAttributes\n----------\nshared_ : what all learn.\n" in Bare.__doc__
    assert Bare.__doc__.index("shared_") < Bare.__doc__.index("Raises")
    assert Own.__doc__.count("Attributes\n") == 1 and "shared_ : what all learn." in Own.__doc__


def test_a_fit_that_fails_forgets_the_one_before():
    model = PCA(n_components=1).fit(np.eye(3))
    with pytest.raises(RuntimeError), model._learning():
        model.half_ = 1
        raise RuntimeError("stopped")
    assert not [name for name in vars(model) if name.endswith("_")]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, csr_array], ids=["rows", "columns", "sparse"])
def test_new_rows_that_are_not_finite_are_refused_also_where_no_component_looks(form, dtype, value):
    X = strategies.features_dense(30, 4, 0).astype(dtype)
    bad = X.copy()
    bad[7, 2] = value
    model = LSI(n_components=2).fit(X)
    model.components_[:, 2] = 0.0
    with pytest.raises(ValueError, match="contains NaN" if np.isnan(value) else "infinity or a value too large"):
        model.transform(form(bad))
    assert np.isfinite(model.transform(form(X))).all()


def test_new_rows_that_overflow_are_told_from_those_that_are_not_finite():
    model = MESD(FDA(n_components=1)).fit(strategies.features_dense(30, 4, 0), np.eye(2)[np.arange(30) % 2])
    model.components_ = np.full((1, 4), 1e200)
    with pytest.raises(ValueError, match="beyond the range of float64"):
        model.transform(np.full((3, 4), 1e200))
    with pytest.raises(ValueError, match="MESD has no rule for unknown features"):
        model.transform(np.full((3, 4), np.nan))


def test_the_product_is_the_check_where_rows_are_projected_as_they_are():
    X, Y = strategies.features_dense(30, 4, 0), np.eye(2)[np.arange(30) % 2]
    assert PCA().multiplies_rows and MESD(FDA()).fit(X, Y).multiplies_rows
    assert not Kernelized(PCA()).fit(X).multiplies_rows and not MESD(Kernelized(FDA())).fit(X, Y).multiplies_rows


def test_sparse_rows_with_repeated_entries_are_projected_as_their_sums_and_left_alone():
    X = strategies.features_dense(6, 4, 0)
    model = PCA(n_components=2).fit(X)
    twice = csr_array((np.array([1.0, 2.0, 4.0]), np.array([3, 3, 0]), np.array([0, 2, 3])), shape=(2, 4))
    np.testing.assert_allclose(model.transform(twice), model.transform(np.array([[0, 0, 0, 3.0], [4.0, 0, 0, 0]])))
    assert twice.nnz == 3
