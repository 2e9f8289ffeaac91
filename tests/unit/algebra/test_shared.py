"""Shared results: made once, known by all that they are made of, bounded, and nowhere but inside ``active``."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from proxembed.algebra.arrays.blas import in_order
from proxembed.algebra.shared import Shared, active, key_of, remembered, remembered_each, sharing


def test_equal_facts_are_made_once_inside_alone():
    made, X = [], np.arange(6.0).reshape(2, 3)

    def squares(rows):
        return remembered(lambda: made.append(1) or rows**2, "squares", rows)

    shared = Shared()
    with shared.active():
        assert np.array_equal(squares(X), squares(X.copy())) and len(made) == 1
        for other in (X + 1, X.T, X.astype(np.float32), X.reshape(3, 2)):
            squares(other)
        assert len(made) == 5
        assert np.array_equal([*in_order(squares, [X, X], None)], [X**2, X**2]) and len(made) == 5  # in threads too
        with pytest.raises(ValueError, match="read-only"):
            squares(X)[0] = 1.0
    assert active() is None and squares(X).flags.writeable and len(made) == 6
    assert pickle.loads(pickle.dumps(shared)).find(key_of("squares", X)) is None


def test_a_block_shares_with_what_is_shared_there_else_alone():
    made = []

    def number():
        return remembered(lambda: made.append(1) or np.arange(3.0), "number")

    for block in (1, 2):
        with sharing():
            assert number() is number()
        assert active() is None and len(made) == block
    with Shared().active():
        first = number()
        with sharing():
            assert number() is first
        assert number() is first and len(made) == 3


def test_only_what_is_missing_is_made():
    asked = []

    def doubled(numbers):
        return remembered_each(lambda some: asked.append(some) or [np.array(2 * n) for n in some], numbers, "doubled")

    with Shared().active():
        assert doubled([1, 2]) == [2, 4] and doubled([2, 3, 1]) == [4, 6, 2]
    assert asked == [[1, 2], [3]] and doubled([1]) == [2] and asked[-1] == [1]


def test_of_more_bytes_the_latest_used_are_kept():
    shared = Shared(most_bytes=100)
    shared.keep("a", np.zeros(5))
    shared.keep("b", [np.zeros(2), {"c": np.zeros(3)}])
    assert shared.bytes == 80 and shared.find("a") is not None
    shared.keep("d", np.zeros(6))
    assert shared.find("b") is None and shared.find("a") is not None and shared.bytes == 88
    shared.keep("e", np.zeros(13))
    assert shared.find("e") is None and shared.bytes == 88
    shared.keep("a", np.zeros(1))
    assert shared.find("a").shape == (1,) and shared.bytes == 56


def test_sparse_rows_have_a_key_of_their_entries():
    X = sp.csr_array(np.eye(3))
    assert key_of(X) == key_of(X.copy()) != key_of(X * 2) and key_of(X) != key_of(X[:, ::-1])
    assert key_of("a", "b") != key_of("b", "a")
    assert key_of(1, 23) != key_of(12, 3), "facts are apart"
    square = sp.csr_array([[0, 1], [0, 0]])
    assert key_of(square) != key_of(square.T), "the same arrays, by rows and by columns"
