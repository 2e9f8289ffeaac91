"""Parts of the DEFC experiment: sizes, what each draw shares, and the quarters of the Swiss roll."""

import math

import numpy as np
import pytest

from papers.defc.parts import REUTERS, ROLL_NOISE, SOURCES, Source, documents, quartered_roll, random_parts
from proxembed.data import Dataset, swiss_roll
from slow.unit.papers.made import counted_set
from slow.unit.papers.made_classes import class_sets

BY_NAME = {source.name: source for source in SOURCES}
ROWS = [source for source in SOURCES if source is not REUTERS]  # documents: see their own test


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("classes")
    class_sets(place)
    return place


def rows(X):
    return {tuple(row) for row in X.tolist()}


@pytest.mark.parametrize("source", ROWS, ids=lambda source: source.name)
def test_parts_have_the_sizes_of_the_paper_and_share_no_row(source, folder):
    parts = random_parts(source, source.read(folder), 0)
    assert (len(parts.X), len(parts.X_val), len(parts.X_test)) == source.sizes
    assert (len(parts.y), len(parts.y_val), len(parts.y_test)) == source.sizes
    each = [rows(X) for X in (parts.X, parts.X_val, parts.X_test)]
    assert sum(map(len, each)) == len(set.union(*each)) == sum(source.sizes)


def test_sizes_are_those_of_the_specification():
    assert {source.name: source.sizes for source in SOURCES} == {
        "satimage": (489, 3946, 2000),
        "dna": (497, 1503, 1186),
        "banana": (400, 2000, 2900),
        "Swiss roll": (400, 2400, 2800),
        "Reuters": (500, 1230, 1229),
    }


@pytest.mark.parametrize("source", ROWS, ids=lambda source: source.name)
def test_every_draw_has_other_training_rows_and_the_seed_alone_decides(source, folder):
    one, same, other = (random_parts(source, source.read(folder), seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.X, same.X)
    np.testing.assert_array_equal(one.y_test, same.y_test)
    assert rows(one.X) != rows(other.X)
    own = source.name in ("satimage", "dna")
    assert (rows(one.X_test) == rows(other.X_test)) == own


def test_a_named_test_part_stays_out_of_the_others(folder):
    with np.load(folder / "dna.npz") as file:
        X, test = file["X"], file["test_idx"]
    dataset = BY_NAME["dna"].read(folder)
    for seed in range(3):
        assert rows(random_parts(BY_NAME["dna"], dataset, seed).X_test) == rows(X[test])


def test_classes_go_with_their_rows(folder):
    with np.load(folder / "banana.npz") as file:
        known = {tuple(row): label for row, label in zip(file["X"].tolist(), file["Y"].tolist(), strict=True)}
    parts = random_parts(BY_NAME["banana"], BY_NAME["banana"].read(folder), 0)
    for X, y in ((parts.X, parts.y), (parts.X_val, parts.y_val), (parts.X_test, parts.y_test)):
        assert [known[tuple(row)] for row in X.tolist()] == y.tolist()


def test_fewer_rows_are_the_first_of_each_part(folder):
    dataset = BY_NAME["dna"].read(folder)
    whole, few = (random_parts(BY_NAME["dna"], dataset, 0, size) for size in (None, (20, 30, 40)))
    for name, size in (("X", 20), ("X_val", 30), ("X_test", 40)):
        np.testing.assert_array_equal(getattr(few, name), getattr(whole, name)[:size])


def test_a_file_of_another_size_is_refused(folder):
    with pytest.raises(ValueError, match=r"dna has 2000 rows to draw from and 1186 to test; 600 \+ 1503 and 1186"):
        random_parts(Source("dna", "dna", (600, 1503, 1186), 100), BY_NAME["dna"].read(folder), 0)


def test_permuted_labels_leave_rows_and_the_test_part():
    parts = random_parts(BY_NAME["Swiss roll"], None, 0)
    mixed = parts.permuted(3)
    assert mixed.X is parts.X and mixed.y_test is parts.y_test
    for before, after in ((parts.y, mixed.y), (parts.y_val, mixed.y_val)):
        assert sorted(before) == sorted(after)
        assert 0.1 < np.mean(before == after) < 0.5


def test_the_roll_has_four_classes_by_quarters_of_its_angle():
    X, y = quartered_roll(2000, seed=5)
    still = swiss_roll(2000, 5, 0.0).X
    turn = (np.arctan2(still[:, 2], still[:, 0]) - math.pi / 2) % (2 * math.pi)  # angle is 1.5 pi to 4.5 pi
    radius = np.hypot(still[:, 0], still[:, 2])
    angle = 1.5 * math.pi + (turn - math.pi) % (2 * math.pi)
    angle += 2 * math.pi * (np.abs(angle + 2 * math.pi - radius) < np.abs(angle - radius))
    np.testing.assert_allclose(angle, radius, atol=1e-9)
    np.testing.assert_array_equal(y, np.digitize(angle, 1.5 * math.pi + 0.75 * math.pi * np.arange(1, 4)))
    assert np.bincount(y).min() > 200
    np.testing.assert_allclose((X - still).std(axis=0), ROLL_NOISE, rtol=0.1)


def test_documents_have_one_of_the_eleven_largest_labels_alone_and_the_training_parts_frequencies(tmp_path):
    counted_set(tmp_path / "reuters.npz", n=4000)
    dataset = REUTERS.read(tmp_path)
    parts, other = (random_parts(REUTERS, dataset, seed) for seed in (0, 1))
    each = [parts.X, parts.X_val, parts.X_test]
    assert [X.shape[0] for X in each] == [500, 1230, 1229] == [len(y) for y in (parts.y, parts.y_val, parts.y_test)]
    assert set(parts.y) == set(range(11)) and (parts.y != other.y).any()
    Y, counts = dataset.Y.toarray(), dataset.X.toarray()
    single = Y.sum(axis=1) == 1
    order = np.argsort(-Y[single].sum(axis=0), kind="stable")[:11].tolist()
    known = {tuple((row > 0).tolist()): (row, order.index(label)) for row, label in
             zip(counts[single], Y[single].argmax(axis=1).tolist(), strict=True) if label in order}  # fmt: skip
    held = [known[tuple(row)] for row in (parts.X.toarray() > 0).tolist()]
    assert [label for _, label in held] == parts.y.tolist()
    frequency = np.sum([row > 0 for row, _ in held], axis=0)
    first = held[0][0]
    weighed = np.where(first > 0, 1 + np.log(np.maximum(first, 1)), 0) * (1 + np.log(501 / (1 + frequency)))
    np.testing.assert_allclose(parts.X.toarray()[0], weighed / np.linalg.norm(weighed), rtol=1e-6)


@pytest.mark.parametrize("kind", [np.uint8, np.int64])
def test_a_label_that_no_document_has_alone_is_never_among_the_largest(kind):
    Y = np.array([[0, 1, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 1]], dtype=kind)
    rows, y = documents(Dataset(np.eye(4), Y), 2)
    assert rows.tolist() == [1, 2, 3] and y.tolist() == [1, 0, 0]
