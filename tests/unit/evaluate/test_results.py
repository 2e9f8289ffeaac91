"""The file of held-out scores, and the precision of each label from them."""

import io
from dataclasses import replace

import numpy as np
import pytest

from proxembed.data import Dataset
from proxembed.evaluate.arms import Arm
from proxembed.evaluate.results import (
    Results,
    label_precisions,
    measure_name,
    merged_notes,
    predictions_npz,
    reason_of,
    sign_of,
    without_numbers,
)
from proxembed.evaluate.run import Protocol, run
from proxembed.measures.metrics import average_precision
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


@pytest.mark.parametrize("folds", [("1", "2"), ("test",)])
def test_the_file_holds_the_same_arrays_of_the_test_rows_or_else_of_all_folds(results, folds):
    if "test" not in folds:
        finished = {fold: results.folds[fold] for fold in folds}
        held_out = {fold: results.held_out[fold] for fold in folds}
        results = replace(results, folds=finished, held_out=held_out)
    with np.load(io.BytesIO(predictions_npz(results))) as file:
        assert file["arm"].tolist() == ["all features"] * len(folds) and file["k"].tolist() == [-1] * len(folds)
        assert file["fold"].tolist() == list(folds)
        for i, fold in enumerate(folds):
            S = file[f"scores_{i}"]
            np.testing.assert_array_equal(S, results.predictions["all features", None, fold])
            np.testing.assert_array_equal(file[f"similarity_{i}"], results.similarity["all features", None, fold])
            assert S.dtype == np.float32 and S.shape == (len(file[f"rows_{fold}"]), 4)
            assert len(file[f"same_rows_{fold}"]) == len(S)
        assert ("rows_test" in file.files) == (folds == ("test",))


def test_hostile_names_stay_text():
    name = '../"<b>\u202e/x'
    results = Results({}, {}, predictions={(name, 3, "1"): np.ones((1, 1), np.float32)}, held_out={"1": np.array([0])})
    with np.load(io.BytesIO(predictions_npz(results))) as file:
        assert (file["arm"].tolist(), file["k"].tolist()) == ([name], [3])
        assert sorted(file.files) == ["arm", "fold", "k", "rows_1", "scores_0"]


def test_nothing_kept_is_an_empty_file():
    with np.load(io.BytesIO(predictions_npz(Results({}, {})))) as file:
        assert {key: len(file[key]) for key in file.files} == {"arm": 0, "k": 0, "fold": 0}


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


def test_names_and_notes_are_plain_text():
    assert measure_name("macro average precision", "ridge") == "macro average precision (ridge)"
    assert sign_of("Hamming loss (ridge)") == -1.0 and sign_of("macro F1 (ridge)") == 1.0
    assert reason_of(ValueError("two\nlines")) == "ValueError: two lines"
    assert without_numbers("3 rows of 1.2e-3 s") == "0 rows of 0 s"
    notes = ["OPLS: OPLS leaves out 3 rows.", "MESD(FDA): MESD leaves out 2 rows.", "NCA: slow."]
    assert merged_notes(notes) == ["OPLS, MESD(FDA): leaves out 2 rows.", "NCA: slow."]
