"""The built-in digits and their attributes."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from proxembed.data import digits


@pytest.fixture(scope="module")
def data():
    return digits()


def test_shape_names_and_determinism(data):
    assert data.X.shape == (1797, 64) and data.Y.shape == (1797, 7)
    assert data.feature_names[:2] == ("pixel_0_0", "pixel_0_1")
    again = digits()
    np.testing.assert_array_equal(data.X, again.X)
    assert (data.Y != again.Y).nnz == 0


def test_attributes_are_true_of_every_digit(data):
    true_of = {
        "even": lambda v: v % 2 == 0,
        "prime": lambda v: v > 1 and all(v % f for f in range(2, v)),
        "at least five": lambda v: v >= 5,
        "has a loop": lambda v: str(v) in "0689",
        "square": lambda v: round(v**0.5) ** 2 == v,
        "multiple of three": lambda v: v % 3 == 0,
        "Fibonacci": lambda v: any(round(s**0.5) ** 2 == s for s in (5 * v * v + 4, abs(5 * v * v - 4))),
    }
    assert data.label_names == tuple(true_of)
    wanted = [[rule(int(v)) for rule in true_of.values()] for v in load_digits().target]
    np.testing.assert_array_equal(data.Y.toarray(), np.array(wanted))


def test_no_attribute_is_constant_repeated_or_a_complement_and_every_digit_has_its_own_set(data):
    Y = data.Y.toarray().astype(int)
    columns = [tuple(column) for column in Y.T] + [tuple(1 - column) for column in Y.T]
    assert len(set(columns)) == 14 and 0 not in Y.sum(axis=0) and len(Y) not in Y.sum(axis=0)
    assert data.describe()["label_sets"] == 10
