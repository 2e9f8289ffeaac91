"""Other libraries' searches: by name (a stub stands for those that are not installed) and as objects."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import KNeighborsTransformer

import strategies
from proxembed.proximity import backends
from proxembed.proximity.neighbors import nearest

GRID = np.random.default_rng(0).integers(0, 3, (60, 3)).astype(float)
SMOOTH = strategies.features_dense(60, 4, 1)


def all_by(Q, X, wanted, wrong=()):
    """A library's answer: the nearest rows, itself among them; some columns of it replaced by far rows."""
    order = np.argsort(((Q[:, None, :] - X[None, :, :]) ** 2).sum(axis=2), axis=1, kind="stable")
    index = order[:, :wanted].copy()
    for place in wrong:
        index[:, place] = order[:, -1 - place]
    return index


def faiss_stub(wrong=()):
    class IndexFlatL2:
        def __init__(self, d):
            self.d = d

        def add(self, X):
            assert X.dtype == np.float32 and X.flags.c_contiguous and X.shape[1] == self.d
            self.X = X

        def search(self, Q, wanted):
            return None, all_by(Q, self.X, wanted, wrong)

    return SimpleNamespace(IndexFlatL2=IndexFlatL2)


def descent_stub():
    class NNDescent:
        def __init__(self, X, metric, n_neighbors, random_state):
            self.X = X.toarray() if sparse.issparse(X) else X
            self.neighbor_graph = all_by(self.X, self.X, n_neighbors), None

        def query(self, Q, k):
            Q = Q.toarray() if sparse.issparse(Q) else Q
            return all_by(Q, self.X, k), None

    return SimpleNamespace(NNDescent=NNDescent)


@pytest.mark.parametrize("name", ["faiss", "pynndescent"])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_named_libraries(monkeypatch, name, metric):
    monkeypatch.setitem(sys.modules, name, {"faiss": faiss_stub, "pynndescent": descent_stub}[name]())
    exact = nearest(SMOOTH, 5, metric=metric)
    found = nearest(SMOOTH, 5, metric=metric, algorithm=name)
    np.testing.assert_array_equal(found.index, exact.index)
    np.testing.assert_array_equal(found.distance, exact.distance)
    assert found.recall == 1.0 and exact.recall is None
    found = nearest(SMOOTH, 5, queries=SMOOTH[:7] + 0.1, metric=metric, algorithm=name)
    exact = nearest(SMOOTH, 5, queries=SMOOTH[:7] + 0.1, metric=metric)
    np.testing.assert_array_equal(found.index, exact.index)
    np.testing.assert_array_equal(found.distance, exact.distance)


def test_the_recall_counts_what_was_missed(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", faiss_stub(wrong=[2]))
    found = nearest(SMOOTH, 4, algorithm="faiss")
    assert found.recall == pytest.approx(0.75)
    again = nearest(SMOOTH, 4, algorithm="faiss")
    assert again.recall == found.recall
    assert np.all(np.diff(found.distance, axis=1) >= 0)


@pytest.mark.parametrize(("name", "extra"), [("faiss", "fast"), ("pynndescent", "neighbors")])
def test_a_library_that_is_not_installed_is_named_with_its_extra(monkeypatch, name, extra):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=rf'algorithm="{name}" .* pip install "proxembed\[{extra}\]"'):
        nearest(SMOOTH, 3, algorithm=name)


def test_sparse_rows_go_to_the_library_that_takes_them(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", faiss_stub())
    monkeypatch.setitem(sys.modules, "pynndescent", descent_stub())
    X = sparse.csr_array(SMOOTH)
    np.testing.assert_array_equal(nearest(X, 3, algorithm="pynndescent").index, nearest(SMOOTH, 3).index)
    with pytest.raises(ValueError, match="needs dense rows"):
        nearest(X, 3, algorithm="faiss")


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
    assert not hasattr(transformer, "n_features_in_")
    found = nearest(X, 8, queries=X[:9], algorithm=transformer)
    np.testing.assert_array_equal(found.index, nearest(X, 8, queries=X[:9]).index)


def test_an_object_on_tied_rows_gives_true_neighbours():
    found = nearest(GRID, 4, algorithm=KNeighborsTransformer(n_neighbors=12))
    exact = nearest(GRID, 4)
    assert found.recall == 1.0
    np.testing.assert_array_equal(found.distance, exact.distance)
    assert np.all(found.index != np.arange(60)[:, None])


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
    inner = backends.exact_nearest
    monkeypatch.setattr(
        backends,
        "exact_nearest",
        lambda X, K, queries, *rest: sizes.append(len(queries)) or inner(X, K, queries, *rest),
    )
    nearest(SMOOTH, 3, algorithm=KNeighborsTransformer(n_neighbors=3))
    assert sizes == [10]
