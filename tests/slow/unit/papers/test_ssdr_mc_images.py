"""Images of digits in two dimensions: which take part, what is seen of their labels, and how they are judged."""

import numpy as np
import pytest

from papers.ssdr_mc.image_figures import image_figures
from papers.ssdr_mc.images import (
    DIGITS,
    EACH,
    FIRST,
    LAST,
    SIZES,
    Images,
    image_draw,
    images_of,
    projections,
    ssdr_mc,
    together,
    traits_kept,
)
from proxembed import SSDRMC
from proxembed.data import digits


def test_a_draw_has_ten_images_of_each_of_five_digits_and_three_of_each_are_labelled():
    images, target = images_of(0, 2), {}
    for digit in np.unique(images.digit):
        own = images.digit == digit
        target[int(digit)] = (int(own.sum()), int(images.known[own].sum()))
        names, traits = images.labels[own][0, :DIGITS], images.labels[own][0, DIGITS:]
        assert names.sum() == 1 and traits.tolist() == [digit % 2 == 0, digit >= 5, digit in (0, 6, 8, 9)]
    assert len(target) == DIGITS and set(target.values()) == {(EACH, 3)}
    assert images.X.min() == 0 and images.X.max() == 1 and np.isnan(images.y).all(axis=1).sum() == 35
    assert (images_of(0, 3).X != images.X).any() and (images_of(1, 2).X != images.X).any()


def test_the_digits_are_those_of_the_bundle():
    from sklearn.datasets import load_digits

    images, bundle = images_of(0, 1), load_digits()
    place = {row.tobytes(): digit for row, digit in zip(bundle.data / 16, bundle.target, strict=True)}
    assert [place[row.tobytes()] for row in images.X] == images.digit.tolist()
    assert digits().X.shape == bundle.data.shape


def test_projections_see_no_hidden_label_and_end_as_the_whole_fit():
    images = images_of(0, 4)
    labels, digit = images.labels.copy(), images.digit.copy()
    labels[~images.known] = ~labels[~images.known]
    digit[~images.known] = 0
    found, other = projections(images), projections(Images(images.X, digit, images.known, labels))
    assert found.keys() == other.keys()
    for name, Z in found.items():
        np.testing.assert_array_equal(Z, other[name])
    for size in SIZES:
        whole = SSDRMC(n_neighbors=size).fit(images.X, images.y)
        np.testing.assert_array_equal(found[ssdr_mc(size, LAST)], whole.embedding_)
        assert sum(name.startswith(ssdr_mc(size, "")) for name in found) == whole.n_iter_


def test_images_beside_their_digit_and_traits_are_counted():
    digit = np.array([1, 1, 2, 2, 3, 3])
    known = np.array([True, False] * 3)
    labels = np.hstack([digit[:, None] == [1, 2, 3, 4, 5], (digit == 3)[:, None], np.zeros((6, 2), dtype=bool)])
    images = Images(np.zeros((6, 4)), digit, known, labels)
    Z = np.array([[0.0, 0], [0.1, 0], [1, 0], [1.1, 0], [5, 0], [1.25, 0]])
    assert together(Z, images) == pytest.approx(2 / 3)  # the last lies beside a two
    Z[5] = [5.1, 0]
    assert together(Z, images) == 1.0
    assert traits_kept(Z, images) == pytest.approx(0.866, abs=1e-3)  # the three is far from both
    assert traits_kept(Z[[0, 1, 4, 5, 2, 3]], images) < -0.8
    same = Images(images.X, digit, known, np.zeros((6, 8), dtype=bool))
    assert traits_kept(Z, same) is None


def test_an_entry_holds_every_projection_and_a_failure(monkeypatch):
    entry = image_draw(0, 1)
    assert entry["failure"] is None and entry["entrant"] == "draw 1"
    assert {"PCA", "PCA + LDA", *(ssdr_mc(size, place) for size in SIZES for place in (FIRST, LAST))} <= set(
        entry["together"]
    )
    monkeypatch.setattr("papers.ssdr_mc.images.projections", lambda images: 1 / 0)
    assert image_draw(0, 1)["failure"].startswith("ZeroDivisionError")


def test_the_figures_name_digits_and_projections():
    found = image_figures(0)
    for name in ("PCA + LDA", ssdr_mc(15, FIRST), ssdr_mc(9, LAST)):
        assert name in found["digit_projections.svg"]
    assert all(f">{digit}: " in found["digit_images.svg"] for digit in np.unique(images_of(0, 1).digit))
