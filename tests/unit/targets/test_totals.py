"""Totals of labels: those of blocks are those of all rows, whatever labels a block has."""

import numpy as np
import pytest
from scipy import sparse

from proxembed.targets.labels import LabelMatrix
from proxembed.targets.totals import MAX_SETS, LabelTotals, labels_of_block

Y = np.random.default_rng(2).integers(0, 2, size=(40, 4))
Y[:, 3] = 0
SETS = [set("badc"[k] for k in np.flatnonzero(row)) for row in Y]


def totals(y, cuts=(5, 6, 30)) -> LabelTotals:
    found = None
    for part in np.split(np.arange(len(y)), cuts):
        own = LabelTotals.of(LabelMatrix.of([y[i] for i in part] if isinstance(y, list) else y[part]), whole=True)
        found = own if found is None else found.merged(own)
    return found


@pytest.mark.parametrize(
    "y", [Y, 2 * Y - 1, SETS, np.array(list("cab"))[np.arange(40) % 3]], ids=["01", "pm1", "sets", "classes"]
)
def test_totals_of_blocks(y):
    found, whole = totals(y), LabelMatrix.of(y).drop_empty()
    block = found.block(LabelMatrix.of(y[:5]))
    assert block.classes_.tolist() == whole.classes_.tolist() and block.form == whole.form
    for name in ("n", "c", "nt", "several", "bare", "one_hot", "differ", "rank"):
        assert getattr(block, name) == getattr(whole, name)
    for name in ("nk", "gram", "centred_gram"):
        np.testing.assert_array_equal(getattr(block, name), getattr(whole, name))
    np.testing.assert_allclose(block.shares, whole.shares)
    np.testing.assert_allclose(block.shared, whole.shared)
    np.testing.assert_allclose(np.diag(whole.shared), whole.shares)
    np.testing.assert_array_equal(block.Y.toarray(), whole.Y.toarray()[:5])
    np.testing.assert_array_equal(block.m, whole.m[:5])


def test_label_sets():
    found, whole = totals(SETS), LabelMatrix.of(SETS).drop_empty()
    sets, index = found.block(LabelMatrix.of(SETS[7:20])).groups()
    np.testing.assert_array_equal(sets[index], whole.Y.toarray()[7:20])
    counts = {tuple(row): n for row, n in zip(sets.tolist(), found.no_rows().set_counts(), strict=True)}
    assert counts == {tuple(row): n for row, n in zip(whole.groups()[0].tolist(), whole.set_counts(), strict=True)}


def test_too_many_label_sets():
    wide = sparse.csr_array(((np.arange(MAX_SETS + 1)[:, None] >> np.arange(15)) & 1).astype(float))
    with pytest.raises(ValueError, match="label_kernel='linear'"):
        LabelTotals.of(LabelMatrix.of(wide), whole=True)


@pytest.mark.parametrize(
    "y", [[None, None], np.full((2, 3), np.nan), np.array([np.nan, np.nan]), sparse.csr_array(np.full((2, 2), np.nan))]
)
def test_a_block_without_labels_of_block(y):
    labels, index, n = labels_of_block(y)
    assert labels is None and len(index) == 0 and n == 2


def test_rows_with_an_unknown_label_are_left_out():
    labels, index, n = labels_of_block(np.array([[1, 0], [np.nan, 1], [0, 1]]))
    assert index.tolist() == [0, 2] and n == 3 and labels.Y.toarray().tolist() == [[1, 0], [0, 1]]


def test_numbers_and_text():
    with pytest.raises(ValueError, match="numbers and text"):
        LabelTotals.of(LabelMatrix.of([1, 2])).merged(LabelTotals.of(LabelMatrix.of(["a", "b"])))
