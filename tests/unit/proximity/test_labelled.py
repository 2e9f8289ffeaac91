"""Friends and enemies over label copies, against explicit duplication of every copy, and worked by hand."""

import itertools

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from designs import WHOLE, pairwise
from proxembed.proximity import distances, search
from proxembed.proximity.labelled import class_neighbors, enemies, friends, shared_labels
from proxembed.targets.labels import LabelMatrix

LINKS = ("undirected", "directed", "mutual")


def problem(seed: int, n: int = 24, c: int = 4, whole: bool = True):
    """Grid or continuous rows with duplicates, labels of any number a row with rows of none, K that may be large."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n, 2)).astype(float) if whole else rng.standard_normal((n, 3))
    X[n // 2 : n // 2 + 5] = X[:5]
    Y = (rng.random((n, c)) < rng.choice([0.2, 0.5, 0.8])).astype(float)
    Y[rng.integers(n)] = 0.0
    Y[0, 0], Y[1, 1] = 1.0, 1.0
    Y[:, c - 1] = 0.0
    Y[2, c - 1] = 1.0
    return X, Y[:, Y.sum(axis=0) > 0]


def copies_of(Y):
    return [(i, k) for i in range(len(Y)) for k in range(Y.shape[1]) if Y[i, k]]


def collapsed(E, copies, n, link):
    E = {"directed": E, "undirected": np.maximum(E, E.T), "mutual": np.minimum(E, E.T)}[link]
    S = np.zeros((len(copies), n))
    S[np.arange(len(copies)), [i for i, _ in copies]] = 1.0
    return S.T @ E @ S


def friends_by_copies(D, Y, K, link):
    copies = copies_of(Y)
    E = np.zeros((len(copies),) * 2)
    for s, (i, k) in enumerate(copies):
        mates = sorted((D[i, j], j, t) for t, (j, other) in enumerate(copies) if other == k and j != i)
        for *_, t in mates[:K]:
            E[s, t] = 1.0
    return collapsed(E, copies, len(Y), link)


def eligible(Y, i, k, j, other, enemy):
    return j != i and other != k and (enemy == "any" or not np.any(Y[i] * Y[j]))


def enemies_by_copies(D, Y, K, by, link, rule, enemy):
    """Every pair of copies, sorted; K rows ("distinct") or K copies ("count") for each copy, or pairs for a class."""
    copies = copies_of(Y)
    E = np.zeros((len(copies),) * 2)
    lists = {}
    for (s, (i, k)), (t, (j, other)) in itertools.product(enumerate(copies), repeat=2):
        if eligible(Y, i, k, j, other, enemy):
            lists.setdefault((i, k) if by == "point" else k, []).append((D[i, j], i, j, other, s, t))
    for entries in lists.values():
        entries.sort()
        pairs = list(dict.fromkeys((i, j) for _, i, j, *_ in entries))[:K]
        chosen = entries[:K] if rule == "count" else [e for e in entries if (e[1], e[2]) in pairs]
        for *_, s, t in chosen:
            E[s, t] = 1.0
    return collapsed(E, copies, len(Y), link)


@pairwise
@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("K", [1, 3, 23])
@pytest.mark.parametrize("seed", range(6 if WHOLE else 3))
def test_friends_equal_those_of_copies(seed, K, link):
    X, Y = problem(seed, whole=seed % 2 == 0)
    found = friends(X, LabelMatrix.of(Y), K, link=link)
    np.testing.assert_array_equal(found.toarray(), friends_by_copies(cdist(X, X), Y, K, link))
    assert found.dtype == np.float64 and found.diagonal().sum() == 0.0


@pairwise
@pytest.mark.parametrize("enemy", ["any", "disjoint"])
@pytest.mark.parametrize("rule", ["distinct", "count"])
@pytest.mark.parametrize("by", ["point", "class"])
@pytest.mark.parametrize("seed", range(8 if WHOLE else 4))
def test_enemies_equal_those_of_copies(seed, by, rule, enemy):
    X, Y = problem(seed, whole=seed % 2 == 0)
    K = (1, 2, 4, 23)[seed % 4]
    labels = LabelMatrix.of(Y)
    for link in LINKS:
        expected = enemies_by_copies(cdist(X, X), Y, K, by, link, rule, enemy)
        for rows in (X, sparse.csr_array(X)):
            found = enemies(rows, labels, K, by, link=link, copies=rule, enemy=enemy)
            np.testing.assert_array_equal(found.toarray(), expected)
        found = enemies(cdist(X, X), labels, K, by, link=link, copies=rule, enemy=enemy, metric="precomputed")
        np.testing.assert_array_equal(found.toarray(), expected)


def test_the_rules_differ_on_several_labels_and_agree_on_one():
    X, Y = problem(2)
    labels = LabelMatrix.of(Y)
    one = LabelMatrix.of(Y.argmax(axis=1))
    rules = list(itertools.product(["distinct", "count"], ["any", "disjoint"]))
    several = [enemies(X, labels, 3, copies=c, enemy=e).toarray() for c, e in rules]
    single = [enemies(X, one, 3, copies=c, enemy=e).toarray() for c, e in rules]
    assert all(not np.array_equal(a, b) for a, b in itertools.combinations(several, 2))
    assert all(np.array_equal(single[0], other) for other in single[1:])
    assert not np.array_equal(enemies(X, one, 3, "class").toarray(), single[0])


def test_small_blocks_and_crowded_tiles_change_nothing(monkeypatch):
    rng = np.random.default_rng(7)
    X = np.concatenate([rng.standard_normal((60, 3)), np.repeat(rng.standard_normal((2, 3)), 20, axis=0)])
    Y = (rng.random((100, 4)) < 0.4).astype(float)
    Y[80:] = Y[80]
    labels = LabelMatrix.of(Y)
    whole = [enemies(X, labels, 5, by, link=link) for by in ("point", "class") for link in LINKS]
    monkeypatch.setattr(distances, "BLOCK", 16)
    monkeypatch.setattr(search, "MANY", 10)
    monkeypatch.setattr(search, "CROWDED", 0)
    split = [enemies(X, labels, 5, by, link=link) for by in ("point", "class") for link in LINKS]
    for a, b in zip(whole, split, strict=True):
        np.testing.assert_array_equal(a.toarray(), b.toarray())
    np.testing.assert_array_equal(
        split[0].toarray(), enemies_by_copies(cdist(X, X), Y, 5, "point", "undirected", "distinct", "any")
    )


FOUR = np.array([[0.0], [1.0], [3.0], [7.0]])


def test_four_points_two_classes_by_hand():
    """0 and 1 against 3 and 7. Nearest enemies: 0 -> 3, 1 -> 3, 3 -> 1, 7 -> 1; nearest pairs: (1, 3) of both."""
    labels = LabelMatrix.of([0, 0, 1, 1])

    def edges(**options):
        found = enemies(FOUR, labels, 1, **options).toarray()
        assert set(np.unique(found)) <= {0.0, 1.0}
        return sorted(zip(*map(list, np.nonzero(found)), strict=True))

    assert edges(link="directed") == [(0, 2), (1, 2), (2, 1), (3, 1)]
    assert edges(link="undirected") == [(0, 2), (1, 2), (1, 3), (2, 0), (2, 1), (3, 1)]
    assert edges(link="mutual") == [(1, 2), (2, 1)]
    assert edges(by="class") == [(1, 2), (2, 1)]
    np.testing.assert_array_equal(friends(FOUR, labels, 1).toarray(), np.kron(np.eye(2), [[0, 1], [1, 0]]))


def test_four_points_with_two_labels_on_one_row_by_hand():
    """Row 1 has labels 0 and 1: its copies see rows with another label, and others see the copy that differs."""
    labels = LabelMatrix.of(np.array([[1, 0], [1, 1], [0, 1], [0, 1]]))
    directed = enemies(FOUR, labels, 1, link="directed").toarray()
    np.testing.assert_array_equal(directed, [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 1, 0, 0]])
    disjoint = enemies(FOUR, labels, 1, link="directed", enemy="disjoint").toarray()
    np.testing.assert_array_equal(disjoint, [[0, 0, 1, 0], [0, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]])
    np.testing.assert_array_equal(
        friends(FOUR, labels, 1).toarray(), [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]]
    )


def test_classes_of_one_row_have_no_friends_and_small_ones_use_all():
    labels = LabelMatrix.of([0, 1, 1, 1])
    found = list(class_neighbors(FOUR, labels, 3))
    assert [rows.tolist() for rows, _ in found] == [[0], [1, 2, 3]]
    assert found[0][1].index.shape == (1, 0) and found[1][1].index.shape == (3, 2)
    np.testing.assert_array_equal(found[1][1].index, [[1, 2], [0, 2], [1, 0]])
    assert friends(FOUR, labels, 3).toarray()[0].sum() == 0.0
    np.testing.assert_array_equal(enemies(FOUR, labels, 3, link="directed").toarray().sum(axis=1), [3, 1, 1, 1])


def test_all_points_identical_are_told_by_their_numbers():
    for X in (np.zeros((7, 2)), np.full((7, 2), 0.1)):
        Y = np.array([0, 1, 0, 1, 0, 1, 0])
        D, table = np.zeros((7, 7)), np.eye(2)[Y]
        for K in (1, 2, 6):
            found = enemies(X, LabelMatrix.of(Y), K, link="directed")
            np.testing.assert_array_equal(
                found.toarray(), enemies_by_copies(D, table, K, "point", "directed", "distinct", "any")
            )
            np.testing.assert_array_equal(
                friends(X, LabelMatrix.of(Y), K).toarray(), friends_by_copies(D, table, K, "undirected")
            )


def test_renaming_classes_changes_nothing():
    X, Y = problem(3)
    for by in ("point", "class"):
        a = enemies(X, LabelMatrix.of(Y), 3, by).toarray()
        np.testing.assert_array_equal(a, enemies(X, LabelMatrix.of(Y[:, ::-1]), 3, by).toarray())


def test_shared_labels():
    Y = problem(4)[1]
    i, j = (part.ravel() for part in np.indices((len(Y), len(Y))))
    np.testing.assert_array_equal(shared_labels(LabelMatrix.of(Y), i, j), (Y @ Y.T).ravel())


@pytest.mark.parametrize(
    ("options", "name"),
    [({"link": "both"}, "link"), ({"by": "row"}, "by"), ({"copies": "all"}, "copies"), ({"enemy": "x"}, "enemy")],
)
def test_unknown_names_are_refused(options, name):
    with pytest.raises(ValueError, match=f"{name}=.* is not allowed; choose one of"):
        enemies(FOUR, LabelMatrix.of([0, 0, 1, 1]), 1, **options)


@pytest.mark.parametrize("K", [0, -1, 1.5, True, 4])
def test_numbers_out_of_range_are_refused(K):
    labels = LabelMatrix.of([0, 0, 1, 1])
    for wanted in (lambda: friends(FOUR, labels, K), lambda: enemies(FOUR, labels, K)):
        with pytest.raises(ValueError, match="whole number from 1 to 3"):
            wanted()
