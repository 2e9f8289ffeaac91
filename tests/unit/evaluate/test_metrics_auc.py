"""AUC by label and over all entries: scikit-learn, pairs counted by hand, labels that cannot be ranked."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import roc_auc_score

from proxembed.measures.metrics import label_auc, macro_auc, micro_auc


@pytest.mark.parametrize("decimals", [0, 1, 8])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_matrix])
def test_auc_equals_scikit_learn_with_and_without_ties(decimals, form):
    rng = np.random.default_rng(decimals)
    Y = (rng.random((60, 7)) < 0.3).astype(int)
    S = np.round(rng.normal(size=Y.shape) + Y, decimals)
    np.testing.assert_allclose(label_auc(form(Y), S), roc_auc_score(Y, S, average=None), rtol=1e-12)
    assert macro_auc(form(Y), S) == (pytest.approx(roc_auc_score(Y, S), rel=1e-12), 7)
    assert micro_auc(form(Y), S) == pytest.approx(roc_auc_score(Y, S, average="micro"), rel=1e-12)
    assert macro_auc(Y, form(S)) == macro_auc(Y, S)


def test_auc_is_the_share_of_pairs_in_order():
    y, s = np.array([1, 0, 1, 0, 0]), np.array([2.0, 2.0, 0.5, 1.0, 0.1])
    pairs = [(a > b) + (a == b) / 2 for a in s[y == 1] for b in s[y == 0]]
    assert label_auc(y[:, None], s[:, None])[0] == pytest.approx(np.mean(pairs))
    assert label_auc(y[:, None], np.zeros((5, 1)))[0] == 0.5


def test_labels_of_no_row_or_of_all_rows_are_skipped_and_counted():
    Y = np.array([[1, 0, 1], [0, 0, 1]])
    S = np.array([[2.0, 1.0, 1.0], [1.0, 2.0, 2.0]])
    np.testing.assert_array_equal(label_auc(Y, S), [1, np.nan, np.nan])
    assert macro_auc(Y, S) == (1.0, 1)
    value, n_labels = macro_auc(Y[:, 1:], S[:, 1:])
    assert np.isnan(value) and n_labels == 0
    assert np.isnan(micro_auc(Y[:, 2:], S[:, 2:])) and np.isnan(micro_auc(np.zeros((0, 2)), np.zeros((0, 2))))


@pytest.mark.parametrize("measure", [label_auc, macro_auc, micro_auc])
def test_bad_input_is_refused(measure):
    with pytest.raises(ValueError, match="one shape"):
        measure(np.eye(2), np.zeros((2, 3)))
    with pytest.raises(ValueError, match="only 0 and 1"):
        measure(np.full((1, 1), 2), np.zeros((1, 1)))
    with pytest.raises(ValueError, match="must be finite"):
        measure(np.eye(1), np.full((1, 1), np.inf))
