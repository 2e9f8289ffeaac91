"""Matrices, relation features and seconds of the MESD and MOPE paper: definitions, claims both ways, what is kept."""

import shutil
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from papers.entrants import Entrant
from papers.experiment import Request
from papers.mesd_mope import features
from papers.mesd_mope.draws import DRAW
from papers.mesd_mope.experiment import seed_of
from papers.mesd_mope.feature_claims import (
    FEWER,
    KINDS,
    MATRIX_PART,
    ORIGINAL,
    RELATED,
    SQUARE_PART,
    Held,
    feature_claims,
    seconds_part,
)
from papers.mesd_mope.feature_page import figures, page
from papers.mesd_mope.features import ENTERED, QUICK, Plan, entrants, prototype_rows, run
from papers.mesd_mope.fit_seconds import (
    GENERALISED,
    cubic,
    frequent,
    square_entrants,
    square_name,
    square_timed,
    timed,
    timed_entrants,
)
from papers.mesd_mope.matrices import (
    EXISTING,
    FEATURES,
    MATRICES,
    SCHEMES,
    TOGETHER,
    ordered,
    proximity_matrix,
    sharpness,
)
from papers.mesd_mope.matrix_figure import block_means, matrix_figure
from papers.mesd_mope.reuters_ten import related, tfidf_ten
from proxembed import CCA, PCA

FEW = (Entrant("PCA", PCA(), {}, "unsupervised"), Entrant("CCA", CCA(ridge=0.1), {}, "existing multi-label"),
       Entrant("no embedding", None, {}, "reference"))  # fmt: skip
SMALL = Plan(draws=2, limit=2, sizes=(2, 5), prototypes=20, widths=(10, 20))


def labels(n=40, c=4, seed=0):
    rng = np.random.default_rng(seed)
    Y = (rng.uniform(size=(n, c)) < 0.35).astype(int)
    Y[~Y.any(axis=1), 0] = 1
    return rng.normal(size=(n, 6)) + 2.0 * Y @ rng.normal(size=(c, 6)), Y


def off_diagonal(M):
    return M[~np.eye(len(M), dtype=bool)]


@pytest.fixture(scope="module")
def few():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(features, "entrants", lambda: FEW)
        patch.setattr(features, "QUICK", SMALL)
        yield


@pytest.fixture(scope="module")
def held(folder, few, tmp_path_factory):
    request = Request(folder, tmp_path_factory.mktemp("out"), seed=3, quick=True)
    return run(request), request


@pytest.mark.parametrize("n", [7, 12, 30])
def test_block_means_are_the_means_of_their_blocks(n):
    M = np.random.default_rng(n).normal(size=(n, n))
    found, ends = block_means(M, 5), np.linspace(0, n, 6).astype(int)
    assert found.shape == (5, 5)
    for i, j in np.ndindex(5, 5):
        assert found[i, j] == pytest.approx(M[ends[i] : ends[i + 1], ends[j] : ends[j + 1]].mean())
    np.testing.assert_array_equal(block_means(M, n + 1), M)
    narrow = block_means(M[:, :3], 5, wide=False)
    np.testing.assert_allclose(narrow, [M[a:b, :3].mean(axis=0) for a, b in zip(ends, ends[1:], strict=False)])


def test_matrices_of_labels_are_those_of_the_papers():
    X, Y = labels()
    Yc, sizes, m = Y - Y.mean(axis=0), Y.sum(axis=0), Y.sum(axis=1)
    np.testing.assert_allclose(proximity_matrix("CCA", X, Y), Yc @ np.linalg.inv(Yc.T @ Yc) @ Yc.T, atol=1e-12)
    root = np.sqrt(m)
    np.testing.assert_allclose(
        proximity_matrix("HSL, zhou", X, Y), (Y / sizes) @ Y.T / np.outer(root, root), atol=1e-12
    )
    shared = Y @ Y.T
    dice = 2 * shared / (m[:, None] + m)
    np.testing.assert_allclose(proximity_matrix("MOPE G1, Dice", X, Y), dice, atol=1e-12)
    together = Y.T @ Y
    Sigma = 2 * together / (sizes[:, None] + sizes)
    G = (Y / m[:, None]) @ Sigma @ (Y / m[:, None]).T
    np.testing.assert_allclose(proximity_matrix("MOPE G3, Dice", X, Y), G / G.max(), atol=1e-12)


def test_matrices_of_features_are_the_gaussian_kernel_and_its_combination_with_the_labels():
    X, Y = labels()
    squared = cdist(X, X, "sqeuclidean")
    W = np.exp(-squared / np.median(off_diagonal(squared)))
    np.testing.assert_allclose(off_diagonal(proximity_matrix(FEATURES, X, Y)), off_diagonal(W), atol=1e-9)
    G = proximity_matrix("MOPE G3, Dice", X, Y)
    found = off_diagonal(proximity_matrix(TOGETHER, X, Y))
    np.testing.assert_allclose(found, off_diagonal(G / (2 - W)), atol=1e-9)


@pytest.mark.parametrize("name", MATRICES)
def test_every_matrix_is_of_all_rows_and_symmetric(name):
    X, Y = labels()
    M = proximity_matrix(name, X, Y)
    assert M.shape == (40, 40) and np.abs(M - M.T).max() < 1e-12 and M.max() > 0


def test_sharpness_is_the_correlation_with_sharing_a_label_whatever_unit_and_order():
    X, Y = labels()
    M, pairs = proximity_matrix("CCA", X, Y), np.triu_indices(len(Y), 1)
    share = (Y @ Y.T > 0)[pairs]
    found = sharpness(M, Y)
    assert found == pytest.approx(np.corrcoef(M[pairs], share)[0, 1], abs=1e-4)
    p = np.random.default_rng(1).permutation(len(Y))
    assert sharpness(3.0 * M[np.ix_(p, p)] - 7.0, Y[p]) == pytest.approx(found, abs=1e-4)
    assert sharpness(np.ones((40, 40)), Y) is None


def test_matrices_come_in_the_order_of_the_labels_whatever_the_order_of_the_rows():
    X, Y = labels(60)
    sets = len(np.unique(Y, axis=0))
    for p in (np.arange(60), np.random.default_rng(2).permutation(60)):
        columns, found = ordered(("MOPE G1, Dice",), X[p], Y[p])
        code = found["Y"][:, np.argsort(columns)] @ (1 << np.arange(4))
        assert 1 + np.count_nonzero(np.diff(code)) == sets  # rows of one label set lie together
        np.testing.assert_allclose(found["MOPE G1, Dice"], proximity_matrix("MOPE G1, Dice", X, found["Y"]), atol=1e-12)
        np.testing.assert_array_equal(np.unique(code, return_counts=True)[1], np.unique(Y @ (1 << np.arange(4)),
                                      return_counts=True)[1])  # fmt: skip


def test_more_rows_than_a_report_shows_are_all_in_order():
    Y = np.eye(3, dtype=int)[np.arange(2100) % 3]
    _, found = ordered((), np.ones((2100, 1)), Y)
    assert len(found["Y"]) == 2100 and np.count_nonzero(np.diff(found["Y"].argmax(axis=1))) == 2


def test_the_figure_has_a_panel_a_matrix_the_scores_and_the_note():
    X, Y = labels()
    columns, matrices = ordered(MATRICES, X, Y)
    drawn = matrix_figure(matrices, list("abcd"), {"CCA": "0.876"}, "n = 40 documents")
    ElementTree.fromstring(drawn)
    assert drawn.count("<image") == len(MATRICES) + 1 and "CCA (0.876)" in drawn and "n = 40 documents" in drawn
    assert all(name in drawn for name in MATRICES)


def test_prototypes_are_columns_of_the_distances_to_all(folder):
    stage = tfidf_ten(folder, seed=0)
    assert sp.issparse(stage.R) and stage.R.shape == (len(stage.Y), stage.n_terms)
    chosen = prototype_rows(len(stage.Y), 10, 0)
    few, whole = related(stage, chosen), related(stage)
    assert len(set(chosen)) == 10
    for part in ("R", "R_validation", "R_test"):
        np.testing.assert_allclose(getattr(few, part), getattr(whole, part)[:, chosen], atol=1e-7)
    np.testing.assert_allclose(whole.R_test, cdist(stage.R_test.toarray(), stage.R.toarray()), atol=1e-7)


def test_a_timed_fit_says_what_it_was_on(folder):
    stage = tfidf_ten(folder, seed=0)
    n, chosen, entrant = len(stage.Y), np.arange(7), timed_entrants()[0]
    for prototypes, on, width in ((None, False, stage.n_terms), (None, True, n), (chosen, True, 7)):
        found = timed(entrant, stage.R, stage.Y, prototypes, on)
        assert found["failure"] is None and found["features"] == width
        assert 0 <= found["of_features"] <= found["cpu_seconds"]
    lost = timed(Entrant("PCA", PCA(solver="none")), stage.R, stage.Y, None, False)
    assert lost["cpu_seconds"] is None and "solver" in lost["failure"]


def test_d_by_d_problems_are_solved_as_such_on_the_terms_that_most_documents_have(folder):
    stage = tfidf_ten(folder, seed=0)
    columns, have = frequent(stage.R, 9), (stage.R.toarray() != 0).sum(axis=0)
    assert have[columns].min() >= np.delete(have, columns).max()
    for each in square_entrants():
        found = square_timed(each, stage.R, stage.Y, 9)
        assert found["solver"] == "primal" and found["features"] == 9 and found["failure"] is None
    assert cubic(1.0, 10, 20) == 8.0


def test_the_timed_methods_have_both_kinds_of_eigenproblem():
    """What is called ordinary has P'P = I; what is called generalised has a constraint of the rows."""
    X, Y = labels()
    for each in (*timed_entrants(), *square_entrants()):
        model = each.estimator.fit(X, Y)
        P = model.components_.T
        orthonormal = np.abs(P.T @ P - np.eye(P.shape[1])).max() < 1e-8
        assert orthonormal == (each.group != GENERALISED), each.name


def test_the_entrants_are_those_of_the_supervised_experiment():
    assert {each.name for each in entrants()} == set(ENTERED)
    assert Plan().draws == 5 and Plan().limit == 3 and QUICK.rows


def record(draws=5, spread=1e-5, sharp=None, scores=None, gap=0.0, cost=None):
    """A record as the experiment leaves it, made of means for each name and noise."""
    rng, parts = np.random.default_rng(0), {}
    noise = lambda: spread * rng.standard_normal()  # noqa: E731
    sharp, scores, cost = (
        sharp or {},
        scores or {},
        {ORIGINAL: 30.0, RELATED: 10.0, FEWER: 1.0, "d": 40.0} | (cost or {}),
    )
    for draw in range(1, draws + 1):
        parts[f"{MATRIX_PART}{DRAW}{draw}"] = [
            {"entrant": name, "sharpness": sharp.get(name, 0.9 if name in SCHEMES else 0.5) + noise()}
            for name in MATRICES
        ]
        for kind in KINDS:
            below = 0.0 if kind == ORIGINAL else gap
            parts[f"{kind}{DRAW}{draw}"] = [
                {"entrant": name, "group": "", "test": scores.get(name, 0.8) + below + noise()} for name in ENTERED
            ]
            parts[f"{seconds_part(kind)}{DRAW}{draw}"] = [
                {"entrant": each.name, "cpu_seconds": cost[kind] + noise()} for each in timed_entrants()
            ]
        parts[f"{SQUARE_PART}{DRAW}{draw}"] = [
            {"entrant": square_name(each.name, 1000), "cpu_seconds": cost["d"] + noise()} for each in square_entrants()
        ]
    stage = {"training": 3000, "test": 3000, "terms": 2000}
    return {"parts": parts, "stages": {str(draw): stage for draw in range(draws)}, "widths": [1000]}


AS_PUBLISHED = {
    "sharp": {FEATURES: 0.2},
    "scores": {name: 0.9 for name in SCHEMES},
}
OTHERWISE = {
    "sharp": {FEATURES: 0.8, **{name: 0.4 for name in SCHEMES}},
    "scores": {name: 0.7 for name in SCHEMES},
    "gap": -0.02,
    "cost": {ORIGINAL: 2000.0, RELATED: 3000.0, FEWER: 4000.0, "d": 1.0},
}


def test_every_claim_can_come_out_can_come_out_otherwise_and_can_be_open():
    assert [each["came_out"] for each in feature_claims(record(**AS_PUBLISHED))] == [True] * 10
    assert [each["came_out"] for each in feature_claims(record(**OTHERWISE))] == [False] * 10
    one = feature_claims(record(draws=1, **AS_PUBLISHED))
    assert [each["came_out"] for each in one] == [None] * 10
    assert all(each["ours"] and each["interval"] for each in one)
    assert [each["came_out"] for each in feature_claims(record(draws=4, **AS_PUBLISHED))] == [None] * 10
    noisy = feature_claims(record(spread=0.3, **AS_PUBLISHED))
    assert [each["came_out"] for each in noisy[:5]] == [None] * 5


def test_where_one_of_many_pairs_is_surely_below_the_claim_cannot_be_told():
    """With the others decided, Holm's correction leaves the last one its own p-value."""
    made, gap = record(**AS_PUBLISHED), (-0.002, -0.005, -0.009, -0.003, -0.006)
    for draw, less in enumerate(gap, start=1):
        for entry in made["parts"][f"{RELATED}{DRAW}{draw}"]:
            if entry["entrant"] in ("CCA", SCHEMES[0]):
                entry["test"] = 0.85 + (less if entry["entrant"] == SCHEMES[0] else 0.0)
    found = feature_claims(made)[2]
    assert found["interval"].startswith("23 of 24 support it, 1 contradict it") and "p = 0.015" in found["interval"]
    assert found["came_out"] is None and found["decided_by"].startswith("nothing")


def test_what_failed_in_a_draw_decides_nothing():
    made = record(**AS_PUBLISHED)
    for entries in made["parts"].values():
        for entry in entries:
            entry |= {key: None for key in ("sharpness", "test", "cpu_seconds") if key in entry}
    assert [each["came_out"] for each in feature_claims(made)] == [None] * 10


@pytest.mark.parametrize(
    ("part", "names", "key", "open_"),
    [
        (RELATED, ENTERED[:5], "test", {3}),
        (FEWER, ENTERED[:5], "test", {4}),
        (SQUARE_PART, (square_name("CCA", 1000),), "cpu_seconds", {7}),
        (MATRIX_PART, EXISTING[:2], "sharpness", {1}),
    ],
)
def test_a_claim_of_all_needs_three_quarters_in_every_draw(part, names, key, open_):
    """Of an entrant that lacks one draw nothing is told."""
    made = record(**AS_PUBLISHED)
    for entry in made["parts"][f"{part}{DRAW}2"]:
        entry[key] = None if entry["entrant"] in names else entry[key]
    came = [each["came_out"] for each in feature_claims(made)]
    assert {number for number, each in enumerate(came) if each is None} == open_


def test_the_d_by_d_problem_grows_with_the_cube_of_the_terms():
    held = Held.of(record())
    assert held.predicted("PCA", held.terms) == pytest.approx(np.full(5, 8 * 40.0), rel=1e-3)
    assert held.predicted("LSI", held.terms) is None


def test_each_draw_is_that_of_the_supervised_experiment_and_all_its_parts_are_kept(held, folder):
    found, request = held
    assert list(found["parts"]) == [
        f"{part}{DRAW}{draw}"
        for draw in (1, 2)
        for part in (MATRIX_PART, *(p for kind in KINDS for p in (kind, seconds_part(kind))), SQUARE_PART)
    ]
    for draw in (1, 2):
        stage = tfidf_ten(folder, seed_of(request.seed, draw))
        assert found["stages"][str(draw)]["terms"] == stage.n_terms
        one = next(e for e in found["parts"][f"{MATRIX_PART}{DRAW}{draw}"] if e["entrant"] == FEATURES)
        assert one["sharpness"] == sharpness(proximity_matrix(FEATURES, related(stage).R, stage.Y), stage.Y)
    assert all(entry["failure"] is None for entries in found["parts"].values() for entry in entries)


def test_what_is_done_stays_and_more_draws_go_on_from_fewer(held, few, tmp_path, monkeypatch):
    found, request = held
    request = replace(request, folder=shutil.copytree(request.folder, tmp_path / "out"))
    with monkeypatch.context() as patch:
        for name in ("compete", "measured", "timed", "square_timed"):
            patch.setattr(features, name, None)
        assert run(request)["parts"] == run(replace(request, draws=1))["parts"] == found["parts"]
    more = run(replace(request, draws=3))
    assert "3 draws of" in page(more)
    fewer = run(replace(request, draws=1))
    told = (request.folder / "README.md").read_text()
    assert "1 of 2 planned draws of" in told and "no interval" in told
    assert fewer["parts"] == more["parts"] and "(one draw)" in fewer["claims"][5]["ours"]
    assert len(more["stages"]) == 3 and len(more["parts"]) == 24
    assert all(more["parts"][part] == entries for part, entries in found["parts"].items())


def test_the_page_opens_with_the_claims_and_holds_the_figure_and_the_tables(held, folder):
    found, request = held
    told = page(found)
    head = next(line for line in told.splitlines() if line.startswith("| "))
    assert head == "| the paper says | where | of | ours | interval | came out | open until |"
    assert [told.index(f"## {part}") for part in ("Proximity", "Relation", "CPU", "How")] == sorted(
        told.index(f"## {part}") for part in ("Proximity", "Relation", "CPU", "How")
    )
    both = [
        [e["test"] for part, es in found["parts"].items() for e in es
         if part.startswith(kind) and e["entrant"] == "CCA"] for kind in (RELATED, ORIGINAL)
    ]  # fmt: skip
    line = next(line for line in told.splitlines() if line.startswith("| CCA | 0"))
    assert f"{np.mean(both[1]):.4f} (" in line and f"{np.mean(both[0]):.4f} (" in line
    assert f"| {np.mean(both[0]) - np.mean(both[1]):+.4f} (" in line
    assert all(f"| {name} | " in told for name in (*MATRICES, *(each.name for each in timed_entrants())))
    drawn = (request.folder / "proximity-matrices.svg").read_text()
    assert "(proximity-matrices.svg)" in told and f"n = {found['stages']['1']['training']} training" in drawn


def test_the_figure_shows_the_best_and_the_worst_version_of_hsl(folder):
    made = record(scores={"HSL, zhou": 0.8, "HSL, clique": 0.9, "HSL, star": 0.7})
    (drawn,) = figures(made, tfidf_ten(folder, seed=0)).values()
    assert "HSL, clique (0.900)" in drawn and "HSL, star (0.700)" in drawn and "HSL, zhou" not in drawn
    assert "W (OLPP 0.800)" in drawn and all(name in drawn for name in (*SCHEMES, EXISTING[0], TOGETHER))
