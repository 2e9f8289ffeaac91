"""The search of enemies in its short forms (one list per row, a few enemies before the pairs of a class) against the
definition, on rows with many ties, with the searches that were made counted."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import sparse

import strategies
from designs import WHOLE, pairwise
from oracles import local
from proxembed.proximity import labelled
from proxembed.proximity.labelled import enemies, friends
from proxembed.targets.labels import LabelMatrix


def grid(n: int, d: int, seed: int) -> np.ndarray:
    """Points of a small grid: many ties and duplicates."""
    return np.random.default_rng(seed).integers(0, 3, (n, d)).astype(float)


def many_labels(n: int, singles: int, seed: int) -> np.ndarray:
    """Rows of two to four of five labels, a few of one label, and one of none."""
    rng = np.random.default_rng(seed)
    Y = np.zeros((n, 5), dtype=int)
    for i, row in enumerate(Y):
        row[rng.choice(5, 1 if i < singles else rng.integers(2, 5), replace=False)] = 1
    Y = rng.permutation(Y)
    Y[np.flatnonzero(Y.sum(axis=1) > 1)[0]] = 0
    return Y


def seen(X, Y, *options) -> np.ndarray:
    """The pairs of copies that are linked, by loops."""
    K, by, link, copies, enemy = options
    data = local.Copies(X, Y, copies, enemy)
    return data.collapse(local.enemies(data, K, by, link))


@pairwise
@pytest.mark.parametrize("singles", [0, 4, 14])
@pytest.mark.parametrize("K", [1, 3, 9, 27])
@pytest.mark.parametrize("by", ["point", "class"])
@pytest.mark.parametrize("offset", [0.0, 0.1], ids=["whole numbers", "fractions"])
def test_links_are_those_of_the_definition(singles, K, by, offset):
    X, Y = grid(28, 4, 1) + offset, many_labels(28, singles, 2)
    settings = itertools.product(("directed", "undirected"), ("distinct", "count"), ("any", "disjoint"))
    for place, (link, copies, enemy) in enumerate(settings):
        if not WHOLE and place.bit_count() % 2 != singles // 4 % 2:
            continue  # every two values occur together in either half of the product
        expected = seen(X, Y, K, by, link, copies, enemy)
        for rows in (X, sparse.csr_array(X)):
            found = enemies(rows, LabelMatrix.of(Y), K, by, link=link, copies=copies, enemy=enemy)
            np.testing.assert_array_equal(found.toarray(), expected)


@pytest.fixture
def searches(monkeypatch):
    """How many lists each search had: (all rows, few rows)."""
    made = {"exact_lists": [], "queried_lists": []}
    for name, sizes in made.items():
        inner = getattr(labelled, name)

        def counted(X, lists, *rest, inner=inner, sizes=sizes):
            sizes.append(len(lists.row))
            return inner(X, lists, *rest)

        monkeypatch.setattr(labelled, name, counted)
    return made


def test_rows_with_several_labels_share_one_list(searches):
    X, Y = np.random.default_rng(0).standard_normal((60, 4)), many_labels(60, 4, 3)
    enemies(X, LabelMatrix.of(Y), 5)
    assert searches["exact_lists"] == [59]
    assert len(searches["queried_lists"]) <= 1 and sum(searches["queried_lists"]) < Y.sum() / 4


def test_a_list_a_copy_where_many_rows_have_one_label(searches):
    X, Y = np.random.default_rng(0).standard_normal((60, 4)), many_labels(60, 20, 3)
    enemies(X, LabelMatrix.of(Y), 5)
    assert searches == {"exact_lists": [Y.sum()], "queried_lists": []}


def test_pairs_of_a_class_need_few_long_lists(searches):
    X, y = np.random.default_rng(0).standard_normal((400, 4)), np.arange(400) % 4
    found = enemies(X, LabelMatrix.of(y), 20, "class")
    assert searches["exact_lists"] == [400] and sum(searches["queried_lists"]) < 40
    assert 0 < found.nnz <= 4 * 2 * 20


@pairwise
@pytest.mark.parametrize("algorithm", ["faiss", "faiss-ivf", "faiss-hnsw"])
@pytest.mark.parametrize("enemy", ["any", "disjoint"])
@pytest.mark.parametrize("by", ["point", "class"])
def test_friends_and_enemies_by_indices_of_classes(algorithm, enemy, by):
    """The same links as by the exact search, where all lists are probed; the recall is told."""
    X, labels = strategies.features_dense(3000, 12, 0), LabelMatrix.of(np.random.default_rng(1).random((3000, 3)) < 0.5)
    record: list = []
    exact = enemies(X, labels, 4, by, enemy=enemy)
    found = enemies(X, labels, 4, by, enemy=enemy, algorithm=algorithm, record=record)
    [search] = record
    assert search.algorithm == ("faiss" if algorithm == "faiss" else "faiss-ivf") and 0.9 < search.recall <= 1.0
    same = found.multiply(exact > 0).sum() / exact.sum()
    assert same == pytest.approx(1.0, abs=0.0 if algorithm == "faiss" else 0.1)
    links = found.tocoo()
    shared = labels.Y.tocsr()[links.row].multiply(labels.Y.tocsr()[links.col]).sum(axis=1)
    m = labels.m
    if enemy == "disjoint":
        assert np.all(np.ravel(shared) == 0)
    else:
        assert np.all(m[links.row] * m[links.col] > np.ravel(shared))
    record.clear()
    near = friends(X, labels, 4, algorithm=algorithm, record=record)
    assert len(record) == labels.c and all(0.9 < each.recall <= 1.0 for each in record)
    assert abs(near - friends(X, labels, 4)).sum() <= 0.05 * near.sum()


def test_inverted_lists_of_one_class_alone_take_no_part():
    """Classes far apart: the lists near a row hold its own class only, and its enemies are found all the same."""
    rng = np.random.default_rng(0)
    y = np.arange(3000) % 3
    X = 50.0 * np.eye(3)[y] @ rng.standard_normal((3, 12)) + rng.standard_normal((3000, 12))
    labels = LabelMatrix.of(y)
    record: list = []
    found = enemies(X, labels, 3, algorithm="faiss-ivf", record=record)
    exact = enemies(X, labels, 3)
    assert record[0].recall > 0.8 and found.multiply(exact > 0).sum() > 0.8 * exact.sum()
