"""Banana and Swiss roll: the shapes and the labels that the formulas promise, and what is refused."""

import math

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from proxembed.data import banana, swiss_roll

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
