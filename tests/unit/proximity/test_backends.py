"""Other libraries' searches, by name and as objects, with the libraries themselves."""

import sys
import warnings
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import KNeighborsTransformer

import strategies
from proxembed import LPP
from proxembed.proximity import backends
from proxembed.proximity.backends import nearest

GRID = np.random.default_rng(0).integers(0, 3, (60, 3)).astype(float)
SMOOTH = strategies.features_dense(60, 4, 1)
MANY = strategies.features_dense(2500, 12, 2)
FAISS = ("faiss", "faiss-ivf", "faiss-hnsw")
LIBRARIES = (*FAISS, "pynndescent")


def agree(found, exact, least):
    """Each list holds true distances in order; the recall that is told is that of the whole, to sampling error."""
    assert np.all(np.diff(found.distance, axis=1) >= 0) and np.all(found.distance >= exact.distance)
    share = np.mean(found.distance <= exact.distance[:, -1:])
    assert share >= least and abs(found.recall - share) <= 0.05


@pytest.mark.parametrize("name", FAISS)
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_named_libraries(name, metric):
    exact = nearest(MANY, 5, metric=metric)
    found = nearest(MANY, 5, metric=metric, algorithm=name)
    agree(found, exact, 0.95 if name != "faiss" else 1.0)
    assert found.algorithm == name and exact.algorithm == "exact" and exact.recall is None
    assert np.all(found.index != np.arange(len(MANY))[:, None])
    queries = MANY[:40] + 0.1
    found = nearest(MANY, 5, queries=queries, metric=metric, algorithm=name)
    exact = nearest(MANY, 5, queries=queries, metric=metric)
    agree(found, exact, 0.95)
    if name == "faiss":
        np.testing.assert_array_equal(found.index, exact.index)
        np.testing.assert_array_equal(found.distance, exact.distance)


@pytest.mark.parametrize("name", FAISS)
def test_float32_keeps_the_neighbours_of_rows_far_from_the_origin(name):
    """Distances of raw float32 rows would be all rounding here."""
    found = nearest(1e-3 * MANY + 1e4, 4, algorithm=name)
    assert found.recall > 0.95
    assert (
        nearest(1e200 * MANY, 4, algorithm=name).recall > 0.95
        and nearest(1e-200 * MANY, 4, algorithm=name).recall > 0.95
    )


def test_lists_that_are_too_short_are_completed(monkeypatch):
    """Groups far apart, each smaller than the lists that are probed need: further lists follow."""
    rng = np.random.default_rng(0)
    X = np.repeat(100.0 * rng.standard_normal((500, 6)), 5, axis=0) + rng.standard_normal((2500, 6))
    monkeypatch.setattr(backends, "PROBES", 1)
    found = nearest(X, 60, algorithm="faiss-ivf")
    assert found.index.min() >= 0 and np.isfinite(found.distance).all()


def test_candidates_that_run_out_are_searched_exactly(monkeypatch):
    inner = backends._by_name

    def fewer(*arguments):
        near = inner(*arguments)
        near[:30, 3:] = -1
        return near

    monkeypatch.setattr(backends, "_by_name", fewer)
    found, exact = nearest(MANY, 5, algorithm="faiss"), nearest(MANY, 5)
    np.testing.assert_array_equal(found.index, exact.index)


def test_the_recall_counts_what_was_missed(monkeypatch):
    inner = backends._by_name

    def wrong(*arguments):
        near = inner(*arguments)
        near[:, 2] = (near[:, 2] + 1250) % 2500
        return near

    monkeypatch.setattr(backends, "_by_name", wrong)
    found = nearest(MANY, 4, algorithm="faiss")
    assert found.recall == pytest.approx(0.75, abs=0.02)
    assert nearest(MANY, 4, algorithm="faiss").recall == found.recall
    assert np.all(np.diff(found.distance, axis=1) >= 0)


def test_the_threads_of_faiss_are_those_of_the_process(monkeypatch):
    backends.check_library("faiss", MANY)
    with backends._faiss() as faiss:
        before = faiss.omp_get_max_threads()
    monkeypatch.setattr(backends, "threads", lambda: 1)
    with backends._faiss():
        assert faiss.omp_get_max_threads() == 1
    assert faiss.omp_get_max_threads() == before
    monkeypatch.setattr(backends, "threads", lambda: before + 1)
    with backends._faiss():
        assert faiss.omp_get_max_threads() == before


@pytest.mark.parametrize("name", LIBRARIES)
def test_few_rows_are_searched_exactly(name, monkeypatch):
    """By no index: pynndescent, which takes long to import, is an empty module here."""
    monkeypatch.setitem(sys.modules, "pynndescent", ModuleType("pynndescent"))
    found = nearest(SMOOTH, 5, algorithm=name)
    np.testing.assert_array_equal(found.index, nearest(SMOOTH, 5).index)
    assert found.recall == 1.0 and found.algorithm == name


def test_auto_is_exact_up_to_a_number_of_pairs(monkeypatch):
    found = nearest(MANY, 3, algorithm="auto")
    np.testing.assert_array_equal(found.index, nearest(MANY, 3).index)
    assert found.algorithm == "exact" and found.recall is None
    monkeypatch.setattr(backends, "EXACT_PAIRS", 2500 * 2500 - 1)
    monkeypatch.setattr(backends, "find_spec", lambda name: name == "faiss")
    found = nearest(MANY, 3, algorithm="auto")
    assert found.algorithm == "faiss-hnsw" and 0.9 < found.recall <= 1.0
    assert nearest(MANY, 3, queries=MANY[:100], algorithm="auto").algorithm == "exact"
    assert nearest(MANY[:, :3], 3, algorithm="auto").algorithm == "exact"  # a tree
    fitted = LPP(n_components=2).fit(MANY)
    assert fitted.algorithm_ == "faiss-hnsw" and 0.9 < fitted.recall_ <= 1.0
    monkeypatch.setattr(backends, "find_spec", lambda name: name == "pynndescent")
    assert backends.settled(MANY, 2500, 3, "euclidean", "auto") == "pynndescent"
    assert backends.settled(sparse.csr_array(MANY), 2500, 3, "cosine", "auto") == "pynndescent"
    monkeypatch.setattr(backends, "find_spec", lambda name: None)
    with pytest.warns(UserWarning, match=r'pip install "proxembed\[fast,neighbors\]"'):
        assert nearest(MANY, 3, algorithm="auto").algorithm == "exact"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert nearest(MANY, 3, algorithm="exact").algorithm == "exact"


@pytest.mark.parametrize(("name", "extra"), [*((name, "fast") for name in FAISS), ("pynndescent", "neighbors")])
def test_a_library_that_is_not_installed_is_named_with_its_extra(monkeypatch, name, extra):
    monkeypatch.setitem(sys.modules, name.partition("-")[0], None)
    with pytest.raises(ImportError, match=rf'algorithm="{name}" .* pip install "proxembed\[{extra}\]"'):
        nearest(SMOOTH, 3, algorithm=name)


@pytest.mark.parametrize("name", FAISS)
def test_sparse_rows_go_to_the_library_that_takes_them(name):
    X = sparse.csr_array(SMOOTH)
    with pytest.raises(ValueError, match="needs dense rows"):
        nearest(X, 3, algorithm=name)


@pytest.mark.parametrize("mode", ["distance", "connectivity"])
@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_an_object_of_scikit_learn(mode, form):
    """It lists a row among its own neighbours, and duplicates as explicit zeros: neither harms."""
    X = form(np.concatenate([SMOOTH, SMOOTH[:6]]))
    transformer = KNeighborsTransformer(n_neighbors=11, mode=mode)
    found = nearest(X, 8, algorithm=transformer)
    exact = nearest(X, 8)
    np.testing.assert_array_equal(found.index, exact.index)
    np.testing.assert_array_equal(found.distance, exact.distance)
    assert found.recall == 1.0 and np.all(found.distance[:6, 0] == 0.0)
    assert found.algorithm == "KNeighborsTransformer" and not hasattr(transformer, "n_features_in_")
    found = nearest(X, 8, queries=X[:9], algorithm=transformer)
    np.testing.assert_array_equal(found.index, nearest(X, 8, queries=X[:9]).index)


def test_an_object_on_tied_rows_gives_true_neighbours():
    found = nearest(GRID, 4, algorithm=KNeighborsTransformer(n_neighbors=12))
    exact = nearest(GRID, 4)
    assert found.recall == 1.0
    np.testing.assert_array_equal(found.distance, exact.distance)
    assert np.all(found.index != np.arange(60)[:, None])


def test_a_row_that_an_object_lists_twice_is_one_neighbour():
    """Its list filled up with the nearest once more."""
    twice = SimpleNamespace(fit=lambda X: twice)
    near = nearest(SMOOTH, 4).index[:, [0, 1, 2, 3, 0]]
    parts = np.ones(near.size), near.ravel(), np.arange(len(SMOOTH) + 1) * near.shape[1]
    twice.transform = lambda X: sparse.csr_matrix(parts, shape=(len(SMOOTH), len(SMOOTH)))
    np.testing.assert_array_equal(nearest(SMOOTH, 4, algorithm=twice).index, nearest(SMOOTH, 4).index)
    with pytest.raises(ValueError, match="found only 4 neighbours"):
        nearest(SMOOTH, 5, algorithm=twice)


def test_objects_that_give_too_little():
    with pytest.raises(ValueError, match="found only 3 neighbours of a row, and K=9"):
        nearest(SMOOTH, 9, algorithm=KNeighborsTransformer(n_neighbors=3))
    with pytest.raises(TypeError, match="no fit and transform"):
        nearest(SMOOTH, 3, algorithm=object())
    with pytest.raises(ValueError, match="algorithm='annoy' is not known"):
        nearest(SMOOTH, 3, algorithm="annoy")
    with pytest.raises(ValueError, match="precomputed"):
        nearest(np.zeros((5, 5)), 2, metric="precomputed", algorithm="faiss")
    dense = SimpleNamespace()
    dense.fit = lambda X: dense
    dense.transform = lambda X: np.zeros((60, 60))
    with pytest.raises(ValueError, match="sparse 60 x 60 graph"):
        nearest(SMOOTH, 3, algorithm=dense)


def test_the_sample_of_the_recall_is_bounded(monkeypatch):
    monkeypatch.setattr(backends, "SAMPLE", 10)
    sizes = []
    inner = backends.queried
    monkeypatch.setattr(backends, "queried", lambda X, Q, *rest: sizes.append(len(Q)) or inner(X, Q, *rest))
    nearest(SMOOTH, 3, algorithm=KNeighborsTransformer(n_neighbors=3))
    assert sizes == [10]
