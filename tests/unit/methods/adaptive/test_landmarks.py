"""Landmarks of EmbeddingModel: the rows that are fitted, the others placed by the projection."""

import numpy as np
import pytest
import scipy.sparse as sp

from proxembed import EmbeddingModel
from proxembed.methods import adaptive
from proxembed.methods.adaptive.embedding_model import chosen_landmarks
from proxembed.persist import load, save
from proxembed.targets.labels import LabelMatrix

RNG = np.random.default_rng(0)
Y = RNG.choice(3, 120, p=[0.6, 0.3, 0.1])
X = RNG.normal(size=(120, 6)) + np.eye(6)[Y] * 3
NEW = RNG.normal(size=(9, 6)) + np.eye(6)[[0, 1, 2] * 3] * 3


def same_embedding(one, other):
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-7 * np.abs(other).max())


def patch_limits(monkeypatch, exact: int, number: int) -> None:
    monkeypatch.setattr(adaptive.embedding_model, "EXACT_UP_TO", exact)
    monkeypatch.setattr(adaptive.embedding_model, "LANDMARKS", number)


@pytest.mark.parametrize("stored", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("relation", ["none", "euclidean"])
def test_a_model_on_landmarks_is_the_model_of_these_rows(relation, stored):
    few = EmbeddingModel(relation=relation, n_components=2, n_landmarks=40).fit(stored(X), Y)
    assert np.bincount(Y[few.landmarks_]).tolist() == np.round(np.bincount(Y) / 3).tolist()
    alone = EmbeddingModel(relation=relation, n_components=2).fit(stored(X[few.landmarks_]), Y[few.landmarks_])
    for rows in (X, NEW):
        same_embedding(few.transform(stored(rows)), alone.transform(stored(rows)))
    cut = few.truncate(1).transform(stored(NEW))
    np.testing.assert_allclose(cut, few.transform(stored(NEW))[:, :1], rtol=1e-12)


def test_all_rows_as_landmarks_are_the_exact_model():
    exact = EmbeddingModel(n_components=2, n_landmarks=None).fit(X, Y)
    every = EmbeddingModel(n_components=2, n_landmarks=120).fit(X, Y)
    np.testing.assert_array_equal(every.landmarks_, np.arange(120))
    np.testing.assert_array_equal(every.transform(NEW), exact.transform(NEW))
    few = EmbeddingModel(n_components=2, n_landmarks=30).fit(X, Y)
    assert np.abs(few.transform(NEW) - exact.transform(NEW)).max() > 1e-3


def test_auto_fits_all_rows_up_to_a_number(monkeypatch):
    np.testing.assert_array_equal(EmbeddingModel().fit(X, Y).landmarks_, np.arange(120))
    patch_limits(monkeypatch, 119, 30)
    assert len(EmbeddingModel().fit(X, Y).landmarks_) == 30
    assert len(EmbeddingModel(n_landmarks=None).fit(X, Y).landmarks_) == 120
    assert len(EmbeddingModel().fit(X[:119], Y[:119]).landmarks_) == 119


def test_rows_are_placed_in_blocks(monkeypatch):
    model = EmbeddingModel(n_components=2, n_landmarks=30).fit(X, Y)
    whole = model.transform(X)
    monkeypatch.setattr("proxembed.algebra.arrays.matrix.BLOCK_ENTRIES", 100)
    same_embedding(model.transform(X), whole)


def test_labels_that_no_landmark_has_and_label_sets_of_one_row():
    sets = np.column_stack([Y == 0, Y == 1, RNG.random((120, 4)) < 0.3, np.arange(120) == 7])
    chosen = chosen_landmarks("EmbeddingModel", X, LabelMatrix.of(sets), 20, 0)
    assert len(chosen) == 20
    assert np.isfinite(EmbeddingModel(n_components=2, n_landmarks=20).fit(X, sets).transform(NEW)).all()


def test_seeds_saved_models_and_refusals(tmp_path):
    model = EmbeddingModel(n_components=2, n_landmarks=30).fit(X, Y)
    again = EmbeddingModel(n_components=2, n_landmarks=30).fit(X, Y)
    np.testing.assert_array_equal(model.transform(NEW), again.transform(NEW))
    other = EmbeddingModel(n_components=2, n_landmarks=30, random_state=1).fit(X, Y)
    assert not np.array_equal(model.landmarks_, other.landmarks_)
    np.testing.assert_array_equal(load(save(model, tmp_path / "m.skops")).transform(NEW), model.transform(NEW))
    with pytest.raises(ValueError, match="EmbeddingModel: n_landmarks=121 is not allowed with 120 rows"):
        EmbeddingModel(n_landmarks=121).fit(X, Y)
