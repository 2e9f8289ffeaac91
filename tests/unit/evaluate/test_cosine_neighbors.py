"""Nearest rows by cosine about the training mean: against the plain definition, ties, sparse input, offsets."""

import numpy as np
import pytest
import scipy.sparse as sp

from proxembed.evaluate.neighbors import cosine_neighbors, neighbor_scores


def by_definition(Z, Z_train, k):
    mean = Z_train.mean(axis=0)
    found = []
    for z in Z - mean:
        pairs = []
        for i, t in enumerate(Z_train - mean):
            size = np.linalg.norm(z) * np.linalg.norm(t)
            pairs.append((-np.round(z @ t / size, 12) if size > 0 else 0.0, i))
        found.append([i for _, i in sorted(pairs)[:k]])
    return np.array(found)


@pytest.mark.parametrize("block_bytes", [1, 8 * 40 * 7, 2**26])
def test_equals_the_definition_in_any_block(block_bytes):
    rng = np.random.default_rng(0)
    Z_train, Z = rng.normal(size=(40, 3)), rng.normal(size=(25, 3))
    found = cosine_neighbors(Z, Z_train, 6, block_bytes=block_bytes)
    np.testing.assert_array_equal(found, by_definition(Z, Z_train, 6))


def test_ties_go_to_the_lower_row_number():
    Z_train = np.array([[1.0, 0], [0, 1], [1, 0], [-1, -1], [1, 0]])
    Z_train = np.vstack([Z_train, -Z_train])
    assert cosine_neighbors(np.array([[3.0, 0]]), Z_train, 2).tolist() == [[0, 2]]
    assert cosine_neighbors(np.array([[3.0, 0]]), Z_train, 3).tolist() == [[0, 2, 4]]


def test_sparse_equals_dense():
    Z_train, Z = (sp.coo_array(sp.random(n, 30, density=0.2, random_state=n)) for n in (50, 20))
    dense = cosine_neighbors(Z.toarray(), Z_train.toarray(), 5)
    np.testing.assert_array_equal(cosine_neighbors(sp.csr_array(Z), sp.csr_array(Z_train), 5), dense)


def test_a_shift_and_a_scale_change_nothing():
    rng = np.random.default_rng(2)
    Z_train, Z = rng.normal(size=(40, 4)), rng.normal(size=(20, 4))
    shifted = cosine_neighbors(1e-6 * Z + 7, 1e-6 * Z_train + 7, 5)
    np.testing.assert_array_equal(shifted, cosine_neighbors(Z, Z_train, 5))


def test_a_row_at_the_mean_is_near_to_none_and_few_rows_are_all_returned():
    Z_train = np.array([[1.0, 0], [-1, 0], [0, 0]])
    assert cosine_neighbors(np.array([[0.0, 0]]), Z_train, 10).tolist() == [[0, 1, 2]]


def test_scores_are_shares_of_the_neighbours():
    Y = np.array([[1, 0], [1, 1], [0, 0]])
    np.testing.assert_allclose(neighbor_scores(np.array([[0, 1, 2], [2, 2, 2]]), Y), [[2 / 3, 1 / 3], [0, 0]])


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="n_neighbors=0"):
        cosine_neighbors(np.eye(2), np.eye(2), 0)
    with pytest.raises(ValueError, match="Z has 3 columns and Z_train 2"):
        cosine_neighbors(np.eye(3), np.eye(2), 1)
