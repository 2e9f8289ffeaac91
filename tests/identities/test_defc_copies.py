"""The adaptive model on label copies against its definition, and against rows written down once for each label."""

import numpy as np
import pytest

from designs import pairwise
from identities.comparison import DIFFERENT, IDENTITY, gram_distance
from oracles.local import Copies as Duplicated
from proxembed import DEFC, EmbeddingModel
from proxembed.methods.adaptive import Limits, PairOptions, StageRows, Stages, Switches, candidate, limits_of
from proxembed.methods.adaptive.copies import Copies
from proxembed.methods.adaptive.pairs import PairLabels, enemy_matrix, fisher_matrices, friend_matrix, rank_matrices
from proxembed.targets.labels import LabelMatrix

RNG = np.random.default_rng(5)
N, C = 26, 4
Y = (RNG.random((N, C)) < 0.4).astype(int)
Y[:C] = np.eye(C, dtype=int)
Y[9], Y[10] = 0, 1
X = RNG.normal(size=(N, 5)) + Y @ RNG.normal(size=(C, 5))
X[12] = X[11]
NEW = RNG.normal(size=(7, 5))
LABELS = LabelMatrix.of(Y)
EXPLICIT = Duplicated(X, Y)  # the list of all copies (row, label), and sums over them
ROW, CLASS = np.array(EXPLICIT.list).T
TIED = RNG.integers(0, 9, (N, N)).astype(float)  # ties, and not symmetric
MESD = PairOptions(multilabel="mesd")
NUMBERS = [(1, 1), (3, 5), (7, 20), (N - 1, N - 1), (len(ROW), len(ROW))]


def first(S, s, pool, k):
    """The k nearest copies of a pool by (similarity, row, label), none of the copy's own row."""
    pool = [t for t in pool if ROW[t] != ROW[s]]
    return sorted(pool, key=lambda t: (-S[ROW[s], ROW[t]], ROW[t], CLASS[t]))[:k]


def listed(S, n_friends, n_enemies, n_neighbors, enemy_pool="pair"):
    """Which copies each copy lists as friends, enemies and neighbours."""
    F, E, N_ = (np.zeros((len(ROW), len(ROW)), dtype=bool) for _ in range(3))
    every = range(len(ROW))
    for s in every:
        own = [t for t in every if CLASS[t] == CLASS[s]]
        F[s, first(S, s, own, n_friends)] = True
        N_[s, first(S, s, every, n_neighbors)] = True
        for u in set(range(C)) - {CLASS[s]}:
            others = [t for t in every if CLASS[t] == u]
            pool = others + own if enemy_pool == "pair" else others
            E[s, [t for t in first(S, s, pool, n_enemies) if CLASS[t] == u]] = True
    return F, E, N_


@pytest.mark.parametrize("link", ["undirected", "mutual"])
@pytest.mark.parametrize("pool", ["pair", "other"])
def test_pairs_of_copies_by_their_lists(link, pool):
    copies = Copies.of(LABELS)
    assert copies.row.tolist() == ROW.tolist() and copies.labels.Y.toarray().argmax(axis=1).tolist() == CLASS.tolist()
    ranks = copies.ranks(TIED, PairOptions(link=link, enemy_pool=pool, multilabel="mesd"))
    join = np.logical_or if link == "undirected" else np.logical_and
    for n_friends, n_enemies in NUMBERS:
        for R, k, found in zip(
            (ranks.friends, ranks.enemies, ranks.neighbors),
            (n_friends, n_enemies, n_friends),
            listed(TIED, n_friends, n_enemies, n_friends, pool),
            strict=True,
        ):
            expected = join(found, found.T)
            assert np.array_equal(R <= k, expected)
            assert np.array_equal(copies.collapse(R <= k), EXPLICIT.collapse(expected))


def test_two_rows_are_friends_by_one_label_and_enemies_by_others():
    copies = Copies.of(LabelMatrix.of([[1, 1], [1, 1], [1, 0]]))
    ranks = copies.ranks(np.ones((3, 3)), MESD)
    assert copies.collapse(ranks.friends <= 2).tolist() == [[0, 2, 1], [2, 0, 1], [1, 1, 0]]
    assert copies.collapse(ranks.enemies <= 9).tolist() == [[0, 2, 1], [2, 0, 1], [1, 1, 0]]


def test_each_copy_takes_a_place():
    """A row of two labels fills two places of the nearest three, so that the third row has one copy among them."""
    S = -np.abs(np.subtract.outer([0.0, 1.0, 2.0], [0.0, 1.0, 2.0]))
    copies = Copies.of(LabelMatrix.of([[1, 0, 0], [1, 1, 0], [0, 1, 1]]))
    mutual = PairOptions(link="mutual", multilabel="mesd")
    assert (copies.ranks(S, mutual).neighbors <= 3)[0].tolist() == [False, True, True, True, False]


VALUES = {"n_friends": 3, "n_enemies": 7, "n_neighbors": 11, "similarity_sigma": 0.7, "similarity_p": 2, "lam": 0.3}


def duplicated(vector, values, monkeypatch, own_last=True, **options):
    """The single-label model of rows written down once per label; copies of a row come last in each other's lists."""
    if own_last:
        with monkeypatch.context() as patched:
            patched.setattr(
                candidate,
                "rank_matrices",
                lambda S, *rest: rank_matrices(np.where(ROW[:, None] == ROW, -np.inf, S), *rest),
            )
            return duplicated(vector, values, monkeypatch, False, **options)
    return embed(vector, values, rows=X[ROW], labels=LabelMatrix.of(CLASS), **options)


def embed(vector, values, rows=X, labels=LABELS, k_cap=4, **options):
    found = Stages(StageRows(rows, labels, NEW), k_cap=k_cap, **options).embed(Switches.of(vector), values)
    assert found.failed is None, found.failed
    return found


@pairwise
@pytest.mark.parametrize("criterion", [1, 2])
@pytest.mark.parametrize("weights", [1, 2])
@pytest.mark.parametrize("objective", [1, 2, 3, 4])
@pytest.mark.parametrize(
    "options", [{}, {"enemy_pool": "other"}, {"link": "mutual", "g_raw": True}], ids=["usual", "other", "mutual raw"]
)
def test_embeddings_are_those_of_explicit_duplication(criterion, weights, objective, options, monkeypatch):
    """Spec 13.11: every row once for each of its labels through the single-label model."""
    vector = [0, 0, 0, 3, criterion, weights, objective, 0]
    if options.get("g_raw") and weights == 2:
        vector[3] = 4
    found = embed(vector, VALUES, multilabel="mesd", **options)
    expected = duplicated(vector, VALUES, monkeypatch, **options)
    w, Z_val = expected.eigenvalues, expected.Z_val
    assert np.allclose(found.eigenvalues, w, rtol=0, atol=IDENTITY * np.abs(w).max())
    assert gram_distance(found.Z_val, Z_val) < IDENTITY and gram_distance(found.Z[ROW], expected.Z) < IDENTITY


@pytest.mark.parametrize("vector", [[0, 0, 0, 3, 1, 1, 1, 0], [0, 0, 0, 3, 2, 2, 2, 0]])
def test_the_comparison_sees_label_sets_and_copies_of_the_own_row(vector, monkeypatch):
    found = embed(vector, VALUES, multilabel="mesd").Z_val
    assert gram_distance(found, embed(vector, VALUES).Z_val) > DIFFERENT
    assert gram_distance(found, duplicated(vector, VALUES, monkeypatch, own_last=False).Z_val) > DIFFERENT


@pytest.mark.parametrize("criterion", [1, 2])
def test_weights_of_rows_are_sums_over_their_copies(criterion):
    """The matrices themselves, before any eigenvector."""
    S = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 9.0)
    copies = Copies.of(LABELS)
    ranks, told, weights = copies.ranks(S, MESD), PairLabels(copies.labels), copies.spread(S)
    if criterion == 1:
        found = enemy_matrix(ranks, 7, weights)[0], friend_matrix(ranks, 3, weights, told)
        F, E, _ = listed(S, 3, 7, 1)
        expected = (E | E.T).astype(float), (F | F.T).astype(float)
    else:
        found = fisher_matrices(ranks, 11, weights, told)
        near = listed(S, 1, 1, 11)[2]
        within = (CLASS[:, None] == CLASS) / Y.sum(axis=0)[CLASS]
        expected = (near | near.T) * (1 / len(ROW) - within), (near | near.T) * within
    for one, other in zip(found, expected, strict=True):
        assert np.abs(copies.collapse(one) - EXPLICIT.collapse(other * S[ROW][:, ROW])).max() < 1e-14


@pairwise
@pytest.mark.parametrize("criterion", [1, 2])
@pytest.mark.parametrize("weights", [1, 2])
@pytest.mark.parametrize("objective", [1, 2, 3, 4])
@pytest.mark.parametrize("by_copies", [False, True])
def test_one_hot_labels_give_the_single_label_model(criterion, weights, objective, by_copies, monkeypatch):
    """To the bit, and where copies are made of them as well."""
    vector, y = [3, 5, 2, 5, criterion, weights, objective, 0], Y.argmax(axis=1)
    single = embed(vector, VALUES, labels=LabelMatrix.of(y))
    if by_copies:
        monkeypatch.setattr(candidate, "copies_of", lambda labels, options: Copies.of(labels))
    found = embed(vector, VALUES, labels=LabelMatrix.of(np.eye(C, dtype=int)[y]), multilabel="mesd")
    assert np.array_equal(found.Z, single.Z) and np.array_equal(found.Z_val, single.Z_val)


def test_all_neighbours_are_the_scatter_of_the_copies(monkeypatch):
    """n_neighbors of all copies: the closed form, and the lists agree with it; as many as rows are local."""
    vector, every, options = [0, 0, 0, 3, 2, 1, 2, 0], len(ROW) - 1, {"multilabel": "mesd", "k_cap": C - 1}
    closed = embed(vector, VALUES | {"n_neighbors": None}, **options).Z
    assert np.array_equal(embed(vector, VALUES | {"n_neighbors": every}, **options).Z, closed)
    assert gram_distance(embed(vector, VALUES | {"n_neighbors": N - 1}, **options).Z, closed) > DIFFERENT
    monkeypatch.setattr(candidate.Candidate, "global_fisher", False)
    assert gram_distance(embed(vector, VALUES | {"n_neighbors": every}, **options).Z, closed) < IDENTITY


@pytest.mark.parametrize("criterion", [1, 2])
def test_a_row_without_labels_weighs_nothing(criterion):
    vector, kept = [0, 0, 0, 3, criterion, 2, 2, 0], Y.any(axis=1)
    found = embed(vector, VALUES, multilabel="mesd").Z_val
    without = embed(vector, VALUES, rows=X[kept], labels=LabelMatrix.of(Y[kept]), multilabel="mesd").Z_val
    assert not kept.all() and gram_distance(found, without) < IDENTITY


def test_numbers_of_neighbours_go_as_far_as_the_copies():
    sizes = np.sort(Y.sum(axis=0))[::-1]
    assert limits_of(LABELS, MESD) == Limits(len(ROW), sizes[0], min(sizes[:2].sum(), len(ROW)))
    assert limits_of(LABELS, PairOptions()) == Limits.of(LABELS)
    one = LabelMatrix.of([[1], [0], [1]])
    assert limits_of(one, MESD) == limits_of(one, PairOptions()) == Limits(3, 2, 3)


def test_too_many_copies_are_refused_with_their_number():
    copies = Copies.of(LabelMatrix.of(np.ones((9000, 2), dtype=int)))
    with pytest.raises(ValueError, match="pairs of the 18,000 copies of 9,000 rows .multilabel='mesd'. would be"):
        copies.ranks(np.zeros((9000, 1)), MESD)


@pytest.mark.parametrize("search", ["reduced8", "random"])
def test_a_search_by_copies(search):
    """One class per row: the same leaderboard. Several: other scores, and a model that predicts."""

    def boards(y, **options):
        model = DEFC(search, max_evals=16, **options).fit(X, y)
        return model, [(e["switches"], e["params"], e["score"], e["k"]) for e in model.leaderboard_]

    classes = np.arange(N) % 2
    assert boards(classes, multilabel="mesd")[1] == boards(classes)[1]
    model, board = boards(Y, multilabel="mesd")
    assert board != boards(Y)[1] and model.predict(X).shape == (N, C)
    assert model.best_estimator_.multilabel == "mesd"


def test_the_estimator_takes_copies():
    one = EmbeddingModel(criterion="pairs", multilabel="mesd", n_components=2).fit(X, Y).transform(NEW)
    other = EmbeddingModel(criterion="pairs", n_components=2).fit(X, Y).transform(NEW)
    assert gram_distance(one, other) > DIFFERENT
