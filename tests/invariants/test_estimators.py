"""What every fitted method keeps: its input, its numbers, its state, its words, its place in scikit-learn's tools."""

import os
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits

import strategies
from invariants.cases import assert_same_gram, cases, data_for, embedded, fitted, on_cases
from proxembed import CCA, FDA, MESD, MLLS, MMC, OPLS, PCA, SLVM, Kernelized, MultiOutputRidge

ROUNDING, INVERTED = 1e-8, 1e-6
OTHER_THREADS = 2 if os.environ.get("OPENBLAS_NUM_THREADS") == "1" else 1
CITED = {"PCA": "pearson1901pca", "OPLS": "worsley1997opls", "MESD": "mu2012mesd", "CopyLDA": "park2008copylda"}
HOSTILE = ["<script>alert(1)</script>", "a,b;c\t\n", "naïve 标签 🏷", "{{ 7*7 }}"]


def labels_of(case, data):
    return None if case.labels is None else data.y


def assert_same_numbers(Z, expected) -> None:
    """Equal column by column, up to the order in which sums are taken over another memory layout."""
    np.testing.assert_allclose(Z, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


@on_cases(shared=True)
def test_input_is_left_as_it_was(case, data):
    X, new, y = data.X.copy(), data.new.copy(), data.y.copy()
    arrays = [X] if isinstance(X, np.ndarray) else [X.data, X.indices, X.indptr]
    for array in (*arrays, new, y):
        array.setflags(write=False)
    estimator = case.build().fit(X, None if case.labels is None else y)
    assert_same_gram(
        np.vstack([estimator.transform(X), estimator.transform(new)]), embedded(fitted(case, data), data), ROUNDING
    )
    before, after = (data.X, X) if isinstance(X, np.ndarray) else (data.X.toarray(), X.toarray())
    np.testing.assert_array_equal(after, before)
    np.testing.assert_array_equal(y, data.y)


@on_cases(kinds=("tall",), shared=True)
def test_read_only_memory_maps_are_enough(case, data, tmp_path):
    for name, array in (("X", data.X), ("y", data.y)):
        np.save(tmp_path / f"{name}.npy", array)
    X, y = (np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in ("X", "y"))
    estimator = case.build().fit(X, None if case.labels is None else y)
    np.testing.assert_array_equal(estimator.transform(X), fitted(case, data).transform(data.X))


@on_cases(shared=True)
def test_another_fit_gives_identical_numbers_which_fit_transform_returns(case, data):
    expected = embedded(fitted(case, data), data)
    estimator = case.build()
    Z = estimator.fit_transform(data.X, labels_of(case, data))
    np.testing.assert_array_equal(embedded(estimator, data), expected)
    np.testing.assert_array_equal(Z, expected[: len(Z)])
    if estimator.class_traits.direct:
        np.testing.assert_array_equal(estimator.embedding_, Z)


@on_cases(kinds=("tall",), shared=True)
def test_nothing_is_left_of_an_earlier_fit(case, data):
    other = data_for(case)[1]
    estimator = case.fit(other).fit(data.X, labels_of(case, data))
    np.testing.assert_array_equal(embedded(estimator, data), embedded(fitted(case, data), data))


@on_cases(shared=True)
def test_one_thread_and_two_agree(case, data):
    with threadpool_limits(OTHER_THREADS):
        other = embedded(case.fit(data), data)
    expected = embedded(fitted(case, data), data)
    assert_same_gram(other, expected, INVERTED if "MORP" in case.name or "MLSI" in case.name else ROUNDING)


@on_cases(shared=True)
def test_rows_are_embedded_one_by_one(case, data):
    """The place of a row does not depend on the rows beside it."""
    estimator = fitted(case, data)
    alone = np.vstack([estimator.transform(data.X[[i]]) for i in range(4)])
    together = estimator.transform(data.X)
    np.testing.assert_allclose(alone, together[:4], rtol=0, atol=1e-10 * np.abs(together).max())


@on_cases(lambda c: c.nested)
def test_truncate_is_fit_with_fewer_components(case, data):
    full = fitted(case, data)
    ridge = full.class_traits.direct and hasattr(full, "ridge_")
    options = {"ridge": full.ridge_, "ridge_scale": "absolute"} if ridge else {}  # chosen for all k columns
    for k in {1, full.n_components_ // 2, full.n_components_} - {0}:
        short = full.truncate(k)
        assert short.n_components_ == k and short.eigenvalues_.shape == (k,)
        assert not hasattr(full, "components_") or short.components_.shape[0] == k
        small = case.fit(data, n_components=k, **options)
        assert_same_gram(embedded(short, data), embedded(small, data), 1e-6)
        assert short.get_feature_names_out().tolist() == small.get_feature_names_out().tolist()
    assert full.n_components_ == fitted(case, data).transform(data.X).shape[1]
    for k in (0, full.n_components_ + 1, -1):
        with pytest.raises(ValueError, match="1 to"):
            full.truncate(k)


def test_truncated_shared_subspace_predicts_as_the_smaller_fit():
    X, Y = strategies.labelled_rows(60, 9, 4, 3)
    short, small = MLLS(n_components=3).fit(X, Y).truncate(1), MLLS(n_components=1).fit(X, Y)
    np.testing.assert_allclose(short.decision_function(X), small.decision_function(X), rtol=0, atol=1e-8)


@pytest.mark.parametrize("k", [1.5, True, "2", None], ids=repr)
def test_truncate_takes_whole_numbers_only(k):
    X = strategies.features_dense(40, 9, 3)
    with pytest.raises((TypeError, ValueError), match="k="):
        PCA(n_components=3).fit(X).truncate(k)


@on_cases(lambda c: c.nested, ("tall", "wide"))
def test_a_share_of_the_spectrum(case, data):
    """The fewest components that hold the share of the positive spectrum, and no fewer for a larger share; an error
    where the small eigenvalues are wanted."""
    if case.wants_smallest(data):
        with pytest.raises(ValueError, match="n_components=0.5 is not allowed.*pass an integer"):
            case.fit(data, n_components=0.5)
        return
    numbers = [case.fit(data, n_components=share).n_components_ for share in (0.2, 0.6, 0.999999)]
    assert numbers == sorted(numbers) and numbers[0] >= 1
    whole = case.fit(data, n_components=numbers[-1])
    if np.all(whole.eigenvalues_ > 0) and numbers[-1] > 1 and not case.name.startswith("MLSI("):
        w = whole.eigenvalues_
        spectrum = w.sum() / 0.9999995
        expected = int(np.searchsorted(np.cumsum(w), 0.6 * spectrum)) + 1
        assert abs(numbers[1] - expected) == 0


@on_cases(shared=True)
def test_pickles_come_back_whole(case, data):
    estimator = fitted(case, data)
    again = pickle.loads(pickle.dumps(estimator))
    assert_same_numbers(embedded(again, data), embedded(estimator, data))
    assert hasattr(again, "explain") == hasattr(estimator, "explain") == case.explains
    if case.explains:
        assert again.explain(0) == estimator.explain(0)


@on_cases(kinds=("tall",), shared=True)
def test_clone_and_parameters(case, data):
    estimator = fitted(case, data)
    fresh = clone(estimator)
    assert repr(fresh) == repr(case.build())
    assert not [name for name in vars(fresh) if name.endswith("_")]
    np.testing.assert_array_equal(embedded(fresh.fit(data.X, labels_of(case, data)), data), embedded(estimator, data))
    own = estimator.get_params(deep=False)
    assert set(own) == set(vars(clone(case.prototype)))
    again = type(estimator)().set_params(**own)
    assert repr(again) == repr(clone(estimator))


@pytest.mark.default_configuration
@on_cases(kinds=("tall", "sparse text"), shared=True)
def test_output_as_a_table(case, data):
    import pandas as pd

    estimator = case.build().set_output(transform="pandas").fit(data.X, labels_of(case, data))
    table = estimator.transform(data.X)
    assert isinstance(table, pd.DataFrame)
    prefix = type(estimator).__name__.lower()
    assert table.columns.tolist() == [f"{prefix}{j}" for j in range(estimator.n_components_)]
    assert table.columns.tolist() == list(estimator.get_feature_names_out())
    assert_same_numbers(table.to_numpy(), fitted(case, data).transform(data.X))


@pytest.mark.default_configuration
@on_cases(kinds=("tall",), shared=True)
def test_tables_in_names_out(case, data):
    """A DataFrame with names: they are kept, checked at transform, used by explain; its index goes to the output."""
    import pandas as pd

    X = pd.DataFrame(
        data.X, columns=[f"feature {j}" for j in range(data.X.shape[1])], index=np.arange(len(data.Y)) + 100
    )
    y = labels_of(case, data)
    if case.labels == "multi":
        y = pd.DataFrame(data.Y, columns=HOSTILE)
    estimator = case.build().fit(X, y)
    assert_same_numbers(estimator.transform(X), fitted(case, data).transform(data.X))
    assert estimator.feature_names_in_.tolist() == X.columns.tolist()
    with pytest.raises(ValueError, match="feature names"):
        estimator.transform(X[X.columns[::-1]])
    told = estimator.explain(0) if case.explains else None
    if case.explains:
        assert {name for name, _ in told.features} <= set(X.columns)
    if case.labels == "multi":
        assert {name for name, _ in told.labels} == set(HOSTILE)
    assert estimator.set_output(transform="pandas").transform(X).index.tolist() == X.index.tolist()


@on_cases(lambda c: c.explains, shared=True)
def test_explain(case, data):
    estimator = fitted(case, data)
    for component in range(estimator.n_components_):
        told = estimator.explain(component, n_features=5, n_labels=3)
        assert told.component == component
        assert len(told.features) == 5 and len(told.labels) == (0 if case.labels is None else 3)
        for pairs in (told.features, told.labels):
            sizes = [abs(value) for _, value in pairs]
            assert sizes == sorted(sizes, reverse=True) and np.all(np.isfinite(sizes))
        weights = estimator.feature_effects(estimator.components_)[component]
        assert told.features[0][1] == pytest.approx(weights[np.abs(weights).argmax()])
        assert len(weights) == estimator.n_features_in_
    for component in (-1, estimator.n_components_):
        with pytest.raises(ValueError, match="component="):
            estimator.explain(component)


@on_cases(lambda c: c.labels is not None, ("tall",), shared=True)
def test_explain_names_the_labels_that_a_component_serves(case, data):
    """Signed loadings: covariances of the standardised labels with the component, at unit length over all labels."""
    estimator = fitted(case, data)
    Z = estimator.transform(data.X)
    if estimator.class_traits.direct:
        Z = estimator.extend(data.X)
    told = dict(estimator.explain(0).labels)
    share = data.Y.mean(axis=0)
    expected = (Z[:, 0] - 0.0) @ (data.Y - share) / np.sqrt(share * (1 - share))
    expected /= np.linalg.norm(expected)
    found = np.array([told[str(name)] for name in estimator.classes_])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


def test_citations_are_bibtex_of_every_key_in_the_docstrings():
    from proxembed.estimator.explain import cited_keys

    for case in cases():
        entry, keys = case.prototype.citation(), cited_keys(type(case.prototype))
        assert keys and entry.count("@") >= len(keys), case.name
        assert [key for key in keys if f"{{{key}," not in entry] == [], case.name
        expected = CITED.get(type(case.prototype).__name__)
        assert expected is None or expected in keys, case.name


@on_cases(shared=True)
def test_sign_convention(case, data):
    """The entry of largest absolute value of every component (of every column of Z for a direct method) is positive."""
    estimator = fitted(case, data)
    columns = estimator.embedding_ if estimator.class_traits.direct else estimator.components_.T
    lead = columns[np.abs(columns).argmax(axis=0), np.arange(columns.shape[1])]
    assert np.all(lead > 0)


def test_nested_parameters():
    estimator = Kernelized(MESD(FDA(ridge=0.1)))
    assert estimator.get_params()["method__method__ridge"] == 0.1
    estimator.set_params(method__method__ridge=0.5, method__weighting="mimj")
    assert estimator.method.method.ridge == 0.5 and estimator.method.weighting == "mimj"
    with pytest.raises(ValueError, match="Invalid parameter"):
        estimator.set_params(method__nonsense=1)


def test_the_outer_ridge_wins_over_the_wrapped_one():
    X, Y = strategies.labelled_rows(60, 9, 4, 3)
    inner = MESD(FDA(ridge=0.5)).fit(X, Y)
    outer = MESD(FDA(), ridge=0.5).fit(X, Y)
    over = MESD(FDA(ridge=7.0), ridge=0.5).fit(X, Y)
    absolute = MESD(FDA(ridge=0.5), ridge_scale="absolute").fit(X, Y)
    np.testing.assert_array_equal(outer.components_, inner.components_)
    np.testing.assert_array_equal(over.components_, inner.components_)
    assert absolute.ridge_ == 0.5 != inner.ridge_


def test_a_wrapped_estimator_is_left_unfitted():
    X, Y = strategies.labelled_rows(60, 9, 4, 3)
    wrapped = MMC(lam=0.5)
    MESD(wrapped).fit(X, Y)
    Kernelized(wrapped, tau=5.0).fit(X, Y.argmax(axis=1))
    assert set(vars(wrapped)) == set(MMC().get_params())


@pytest.mark.parametrize(
    "method", [OPLS(), MESD(MMC()), Kernelized(OPLS(), tau=20.0), SLVM(), PCA()], ids=lambda m: type(m).__name__
)
def test_pipeline_and_grid_search(method):
    Y = strategies.labels_multi(60, 4, 3).astype(int)
    X = strategies.told_by_labels(strategies.features_dense(60, 9, 3), Y, 3)
    search = GridSearchCV(
        Pipeline([("embed", method), ("read", MultiOutputRidge())]),
        {"embed__n_components": [1, 3]},
        cv=3,
        error_score="raise",
    ).fit(X, Y)
    assert search.predict(X[:5]).shape == (5, 4)
    assert search.best_params_["embed__n_components"] == 3 or search.cv_results_["mean_test_score"].size == 2


def test_grid_search_over_nested_parameters():
    Y = strategies.labels_multi(60, 4, 3).astype(int)
    X = sp.csr_array(strategies.told_by_labels(strategies.features_dense(60, 9, 3), Y, 3))
    pipeline = Pipeline([("embed", MESD(FDA())), ("read", MultiOutputRidge())])
    grid = {
        "embed__method__ridge": [1e-3, 1.0],
        "embed__method": [FDA(), FDA(constraint="within")],
        "embed__n_components": [3],
    }
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(X, Y)
    assert len(search.cv_results_["params"]) == 4


def test_labels_and_components_of_an_embedder_share_their_signs():
    """A flip of sign flips weights and loadings together: for two classes apart on one axis, both say the same."""
    y = np.repeat([0, 1], 20)
    X = np.random.default_rng(0).standard_normal((40, 3))
    X[:, 1] += 6.0 * y
    told = CCA(n_components=1).fit(X, y).explain(0)
    assert told.features[0][0] == "x1" and told.features[0][1] > 0
    assert dict(told.labels)["1"] > 0 > dict(told.labels)["0"]
