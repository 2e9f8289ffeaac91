"""The file of held-out scores, and the precision of each label from them."""

import zipfile

import numpy as np
import pytest

from proxembed.data import Dataset
from proxembed.evaluate.arms import Arm
from proxembed.evaluate.metrics import average_precision
from proxembed.evaluate.predictions import label_precisions, load_predictions, save_predictions
from proxembed.evaluate.protocol import Protocol, run
from proxembed.evaluate.results import Results
from proxembed.splits.splits import Splitting

RAW = Arm("all features", None, rival=True)


@pytest.fixture(scope="module")
def dataset():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    Y = np.column_stack([X[:, :2] > 0, np.arange(60) == 3, np.zeros(60)]).astype(np.uint8)
    return Dataset(X, Y, train_idx=range(40), test_idx=range(40, 60))


@pytest.fixture(scope="module")
def results(dataset):
    return run(Protocol((RAW,), sizes=(2,), splitting=Splitting(n_folds=2), standard=True), dataset)


def test_a_round_trip_gives_the_same_arrays(results, tmp_path):
    scores, rows = load_predictions(save_predictions(results, tmp_path / "predictions.npz"))
    assert list(scores) == list(results.predictions) == [("all features", None, fold) for fold in ("1", "2", "test")]
    for key, S in scores.items():
        np.testing.assert_array_equal(S, results.predictions[key])
        assert S.dtype == np.float32 and S.shape == (len(rows[key[2]]), 4)
    assert rows["test"].tolist() == list(range(40, 60)) and list(rows) == ["1", "2", "test"]


def test_hostile_names_stay_text(tmp_path):
    name = '../"<b>\u202e/x'
    results = Results({}, {}, predictions={(name, 3, "1"): np.ones((1, 1), np.float32)}, held_out={"1": np.array([0])})
    path = save_predictions(results, tmp_path / "predictions.npz")
    assert list(load_predictions(path)[0]) == [(name, 3, "1")]
    assert sorted(zipfile.ZipFile(path).namelist()) == ["arm.npy", "fold.npy", "k.npy", "rows_1.npy", "scores_0.npy"]


def test_nothing_kept_is_an_empty_file(tmp_path):
    assert load_predictions(save_predictions(Results({}, {}), tmp_path / "none.npz")) == ({}, {})


@pytest.mark.parametrize("content", [b"", b"no archive", None])
def test_other_files_are_refused(tmp_path, content):
    path = tmp_path / "other.npz"
    if content is None:
        np.savez(path, X=np.ones(3))
    else:
        path.write_bytes(content)
    with pytest.raises(ValueError, match="other.npz is not a file of predictions"):
        load_predictions(path)


def test_an_error_leaves_the_earlier_file(results, tmp_path, monkeypatch):
    path = save_predictions(results, tmp_path / "predictions.npz")
    before = path.read_bytes()
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space left"):
        save_predictions(results, path)
    assert path.read_bytes() == before and [p.name for p in tmp_path.iterdir()] == ["predictions.npz"]


def test_the_precision_of_labels_is_the_mean_over_validation_folds(results, dataset):
    found, folds = label_precisions(results, dataset.Y, "all features", None)
    Y = dataset.Y.toarray()
    each = [
        average_precision(Y[results.held_out[fold]], results.predictions["all features", None, fold]) for fold in "12"
    ]
    assert found[:2] == pytest.approx(np.mean(each, axis=0)[:2])
    assert folds.tolist() == [2, 2, 1, 0] and np.isnan(found[3])


def test_a_failed_fold_counts_as_zero(dataset):
    folds, rows = {"1": {}, "2": {}}, {"1": np.array([0, 1]), "2": np.array([2, 3])}
    scores = {("OPLS", 2, "1"): np.array([[2.0], [1.0]])}
    results = Results({}, {}, predictions=scores, folds=folds, held_out=rows)
    Y = np.array([[1], [0], [1], [0]])
    assert label_precisions(results, Y, "OPLS", 2)[0].tolist() == [0.5]
