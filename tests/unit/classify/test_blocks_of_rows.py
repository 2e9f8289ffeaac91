"""Read-outs of blocks of rows: fits from sums, predictions and scores block by block, as of all rows at once."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import strategies
from designs import pairwise
from proxembed import OPLS, Kernelized, RowBlocks
from proxembed.classify import FLDAClassifier, LabelKNN, MultiOutputRidge, Thresholded

N, D, C = 300, 8, 4
Y = strategies.labels_multi(N, C, 3)
X = strategies.told_by_labels(strategies.features_dense(N, D, 3), Y, 3) + 5.0
CLASSES = np.array(["b", "c", "a", "d"])[Y.argmax(axis=1)]
SETS = [set(np.array(["p", "q", "r", "s"])[row > 0].tolist()) for row in Y]
SIGNS = np.where(Y > 0, 1, -1)


@pairwise
@pytest.mark.parametrize("penalty", [0.1, 0.0, "auto"])
@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("y", [Y, SIGNS, CLASSES, SETS], ids=["indicator", "signs", "classes", "sets"])
def test_ridge_of_blocks_is_that_of_all_rows(penalty, stored, y):
    rows = stored(np.where(X < 4.5, 0.0, X))
    model, blocks = MultiOutputRidge(penalty), RowBlocks.from_arrays(rows, y, block_rows=41)
    found, whole = clone(model).fit(blocks), clone(model).fit(rows, y)
    np.testing.assert_allclose(found.coef_, whole.coef_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(found.intercept_, whole.intercept_, rtol=1e-8, atol=1e-10)
    assert found.penalty_ == pytest.approx(whole.penalty_, rel=1e-9)
    assert found.classes_.tolist() == whole.classes_.tolist() and found.n_features_in_ == D
    assert np.asarray(found.predict(rows) == whole.predict(rows)).all()
    predicted = [row for part, _ in found.predict(blocks) for row in part]
    assert all(np.array_equal(one, other) for one, other in zip(predicted, whole.predict(rows), strict=True))
    assert found.score(blocks) == pytest.approx(whole.score(rows, y), abs=1e-12)
    np.testing.assert_allclose(found.decision_function(blocks).stacked(), whole.decision_function(rows), atol=1e-9)


@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array])
def test_rows_too_wide_for_a_gram_matrix(stored, monkeypatch):
    """Conjugate gradients, a reading for each step."""
    monkeypatch.setattr("proxembed.estimator.sums.DENSE_LIMIT", 5)
    rows = stored(np.where(X < 4.5, 0.0, X))
    found = MultiOutputRidge(30.0).fit(RowBlocks.from_arrays(rows, Y, block_rows=41))
    whole = MultiOutputRidge(30.0).fit(rows, Y)
    np.testing.assert_allclose(found.coef_, whole.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(found.intercept_, whole.intercept_, rtol=1e-6, atol=1e-7)


def test_a_label_that_no_row_has_is_never_predicted():
    y = Y.copy()
    y[:, 2] = 0
    found, whole = MultiOutputRidge().fit(RowBlocks.from_arrays(X, y)), MultiOutputRidge().fit(X, y)
    np.testing.assert_allclose(found.coef_, whole.coef_, atol=1e-10)
    np.testing.assert_allclose(found.intercept_, whole.intercept_, atol=1e-10)


@pytest.mark.default_configuration
def test_a_pipeline_of_blocks():
    """From the kernel to the read-out, without an array of all rows."""
    pipeline = make_pipeline(Kernelized(OPLS(), n_prototypes=40, random_state=0), MultiOutputRidge("auto"))
    blocks = RowBlocks.from_arrays(X, Y, block_rows=70)
    found, whole = clone(pipeline).fit(blocks), clone(pipeline).fit(X, Y)
    assert found.score(blocks) == pytest.approx(whole.score(X, Y), abs=1e-12)
    np.testing.assert_array_equal(found.predict(blocks).stacked(), whole.predict(X))
    np.testing.assert_array_equal(np.vstack([y for _, y in found.predict(blocks)]), Y)


@pytest.mark.parametrize("model", [LabelKNN(), FLDAClassifier(), Thresholded()], ids=lambda one: type(one).__name__)
def test_read_outs_of_rows_in_memory_predict_blocks(model):
    y = CLASSES if isinstance(model, FLDAClassifier) else Y
    model, blocks = model.fit(X, y), RowBlocks.from_arrays(X, y, block_rows=41)
    np.testing.assert_array_equal(model.predict(blocks).stacked(), model.predict(X))
    assert model.score(blocks) == pytest.approx(model.score(X, y))
    with pytest.raises(ValueError, match="as RowBlocks.sample gives"):
        clone(model).fit(blocks, y) if isinstance(model, FLDAClassifier) else clone(model).fit(blocks, Y)


def test_unknown_labels_leave_rows_out():
    y = Y.astype(float)
    y[:40] = np.nan
    with pytest.warns(UserWarning, match="MultiOutputRidge cannot use rows without a known label: 40 of 300"):
        found = MultiOutputRidge().fit(RowBlocks.from_arrays(X, y, block_rows=30))
    np.testing.assert_allclose(found.coef_, MultiOutputRidge().fit(X[40:], Y[40:]).coef_, atol=1e-10)


def test_unknown_cells_are_means_of_labels():
    y = Y.astype(float)
    y[:40, 1] = np.nan
    found = MultiOutputRidge().fit(RowBlocks.from_arrays(X, y, block_rows=30))
    np.testing.assert_allclose(found.coef_, MultiOutputRidge().fit(X, y).coef_, atol=1e-10)


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda rows: MultiOutputRidge(penalize_intercept=True).fit(rows), "Set penalize_intercept=False"),
        (lambda rows: MultiOutputRidge().fit(rows, Y), "y must come with the blocks"),
        (lambda rows: MultiOutputRidge().fit(RowBlocks([X])), "This MultiOutputRidge estimator requires y"),
        (
            lambda rows: MultiOutputRidge().fit(RowBlocks([(X * np.nan, Y)])),
            "MultiOutputRidge has no rule for unknown features",
        ),
        (
            lambda rows: MultiOutputRidge().fit(X, Y).score(rows, sample_weight=np.ones(N)),
            "sample_weight must come with the blocks",
        ),
        (lambda rows: MultiOutputRidge().fit(X, Y).score(RowBlocks([X])), r"must be pairs \(X, y\)"),
        (lambda rows: MultiOutputRidge().fit(X, Y).score(X), "requires y to be passed"),
    ],
)
def test_what_is_refused(build, words):
    with pytest.raises(ValueError, match=words):
        build(RowBlocks.from_arrays(X, Y))
