"""Digits and their attributes; banana, Swiss roll and documents: what the formulas promise, and what is refused."""

import math

import numpy as np
import pytest
from scipy.sparse import issparse
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsClassifier

from proxembed.data import banana, digits, swiss_roll, zipf_counts

MAKERS = [banana, swiss_roll]


@pytest.mark.parametrize("make", MAKERS)
def test_the_seed_alone_decides(make):
    one, same, other = make(50, seed=3), make(50, seed=3), make(50, seed=4)
    np.testing.assert_array_equal(one.X, same.X)
    np.testing.assert_array_equal(one.Y.toarray(), same.Y.toarray())
    assert not np.array_equal(one.X, other.X)


@pytest.mark.parametrize("make", MAKERS)
def test_what_is_told_of_the_data(make):
    facts = make(200, seed=0).describe()
    assert facts["n"] == 200 and facts["licence"] == "made by a formula, free of rights"
    assert facts["duplicate_rows"] == facts["labels_without_row"] == facts["unknown_cells"] == 0


def test_banana_lies_on_two_arcs_without_noise():
    data = banana(301, seed=1, noise=0.0)
    upper = data.Y.toarray()[:, 0] == 1
    assert data.single_label and data.Y.sum(axis=0).tolist() == [151, 150]
    centre = np.where(upper[:, None], 0.0, [5.0, 0.5])
    np.testing.assert_allclose(np.linalg.norm(data.X - centre, axis=1), 5.0, rtol=1e-12)
    angle = np.degrees(np.arctan2(*(data.X - centre).T[::-1])) % 360
    turned = (angle - np.where(upper, 0, 180) + 22.5) % 360
    assert turned.max() < 225 and turned.min() < 10 and turned.max() > 215


def test_banana_needs_a_curved_border():
    data = banana(600, seed=0)
    y = data.Y.toarray()[:, 1]
    linear = cross_val_score(LinearDiscriminantAnalysis(), data.X, y, cv=3).mean()
    curved = cross_val_score(KNeighborsClassifier(9), data.X, y, cv=3).mean()
    assert linear < 0.86 < 0.94 < curved


def test_swiss_roll_unrolls_to_an_even_sheet_whose_places_are_the_labels():
    data = swiss_roll(2000, seed=0)
    x, height, z = data.X.T
    t = np.hypot(x, z)
    np.testing.assert_allclose(np.column_stack([t * np.cos(t), t * np.sin(t)]), data.X[:, ::2], atol=1e-10)
    assert 1.5 * math.pi <= t.min() and t.max() <= 4.5 * math.pi and 0 <= height.min() and height.max() <= 21
    ends = np.array([1.5, 4.5]) * math.pi
    start, stop = (ends * np.sqrt(1 + ends**2) + np.arcsinh(ends)) / 2
    along = ((t * np.sqrt(1 + t**2) + np.arcsinh(t)) / 2 - start) / (stop - start)
    for place in (along, height / 21):
        assert np.abs(np.histogram(place, 10, (0, 1))[0] - 200).max() < 5 * math.sqrt(200)
    told = np.column_stack([along > 0.5, height > 10.5, (along > 0.25) & (along < 0.75)])
    away = np.abs(along[:, None] - [0.25, 0.5, 0.75]).min(axis=1) > 1e-4  # the spiral's length is tabulated
    assert away.mean() > 0.99
    np.testing.assert_array_equal(data.Y.toarray()[away], told[away])


@pytest.mark.parametrize("make", MAKERS)
def test_noise_moves_points_by_its_size(make):
    still, moved = make(4000, seed=0, noise=0.0), make(4000, seed=0, noise=0.5)
    assert abs((moved.X - still.X).std() - 0.5) < 0.02
    np.testing.assert_array_equal(still.Y.toarray(), moved.Y.toarray())


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 1}, "n=1 must be a whole number of rows, at least 2"),
        ({"n": 10.0}, "n=10.0 must be a whole number"),
        ({"n": True}, "n=True must be a whole number"),
        ({"seed": -1}, "seed=-1 must be a whole number from 0 up"),
        ({"seed": None}, "seed=None must be a whole number from 0 up"),
        ({"noise": -0.1}, "noise=-0.1 must be a finite number from 0 up"),
        ({"noise": math.inf}, "noise=inf must be a finite number"),
        ({"noise": "1"}, "noise='1' must be a finite number"),
    ],
)
def test_what_is_refused(make, options, message):
    with pytest.raises(ValueError, match=message):
        make(**options)


def test_documents_are_a_sparse_table_of_counts_that_the_seed_alone_decides():
    one, same, other = (zipf_counts(60, seed=seed, n_features=700) for seed in (3, 3, 4))
    assert issparse(one.X) and one.X.format == "csr" and one.X.has_canonical_format and one.X.shape == (60, 700)
    assert (one.X != same.X).nnz == 0 and (one.Y != same.Y).nnz == 0 and (one.X != other.X).nnz > 0
    assert one.X.data.min() >= 1 and np.array_equal(one.X.data, np.round(one.X.data))
    assert one.single_label and one.Y.shape == (60, 11) and one.X.sum(axis=1).min() >= 1


def test_documents_have_the_stated_size_and_length():
    data = zipf_counts(500, seed=0, mean_length=80)
    lengths = np.asarray(data.X.sum(axis=1)).ravel()
    assert data.X.shape == (500, 69_593) and abs(lengths.mean() - 80) < 4 * math.sqrt(79 / 500)
    assert set(zipf_counts(9, seed=0, n_classes=3, mean_length=1).X.sum(axis=1).tolist()) == {1.0}
    assert data.X.nnz < 500 * 80 < 0.01 * data.X.shape[0] * data.X.shape[1]


def test_terms_follow_the_law_of_zipf():
    counts = np.sort(np.asarray(zipf_counts(4000, seed=1, n_features=3000, n_classes=1).X.sum(axis=0)).ravel())[::-1]
    counts = counts[3:]  # the topic has an order of its own, whose first term may stand anywhere
    ranks = np.arange(4, len(counts) + 4)
    middle = slice(6, 300)
    slope = np.polyfit(np.log(ranks[middle]), np.log(counts[middle]), 1)[0]
    assert -1.2 < slope < -0.8


def test_documents_of_a_topic_share_its_terms():
    data = zipf_counts(330, seed=0, n_features=2000)
    y = data.Y.toarray().argmax(axis=1)
    right = cross_val_score(MultinomialNB(), data.X, y, cv=3).mean()
    shuffled = np.random.default_rng(0).permutation(y)
    assert right > 0.9 and cross_val_score(MultinomialNB(), data.X, shuffled, cv=3).mean() < 0.2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 1}, "n=1 must be a whole number of rows, at least 2"),
        ({"seed": -1}, "seed=-1 must be a whole number from 0 up"),
        ({"n_features": 0}, "n_features=0 must be a whole number, at least 1"),
        ({"n_classes": 11, "n": 10}, "n_classes=11 must be a whole number, from 1 to n=10"),
        ({"n_classes": 2.0}, "n_classes=2.0 must be a whole number"),
        ({"mean_length": 0.5}, "mean_length=0.5 must be a finite number from 1 up"),
        ({"mean_length": math.nan}, "mean_length=nan must be a finite number"),
    ],
)
def test_documents_that_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        zipf_counts(**options)


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
