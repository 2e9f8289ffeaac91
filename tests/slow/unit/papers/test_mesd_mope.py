"""The experiments on Reuters: draws of their own, MOPE of section 3.3.2, ML-LGC of (25), and what the page tells."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone

from papers.entrants import Entrant
from papers.experiment import Request
from papers.mesd_mope import experiment
from papers.mesd_mope.entrants import PSI, joined, partly_labelled_entrants, supervised_entrants
from papers.mesd_mope.experiment import Plan, partly_labelled_plan, run, seed_of, supervised_plan
from papers.mesd_mope.page import figures, page
from papers.mesd_mope.reuters_ten import reuters_ten
from proxembed import CCA, PCA
from proxembed.classify import FLDAClassifier
from proxembed.measures.metrics import macro_f1

FEW = (Entrant("CCA", CCA(), {"ridge": (0.1, 1.0)}, "existing multi-label"), Entrant("PCA", PCA(), {}, "unsupervised"))
WITH_FEATURES = ("MOPE G3 and W, priority", "MOPE G3 and W, Hadamard", "MOPE G3 and W, weighted sum", "MOPE W")


def named(entrants):
    return {each.name: each for each in entrants}


@pytest.fixture(scope="module")
def plan():
    entrants = (*FEW, Entrant("no embedding", None, {}, "reference"))
    return Plan("made", "Made", entrants, supervised_plan().claims, (2, 5), published_k=12, draws=3, limit=2)


@pytest.fixture(scope="module")
def held(folder, plan, tmp_path_factory):
    request = Request(folder, tmp_path_factory.mktemp("out"), seed=4)
    return run(plan, request), request


def largest_psi(X, Y, K, a, b, beta, gamma):
    """Section 3.3.2 pair by pair: the K largest psi of each row, kept where either row chose the pair."""
    Y = Y.astype(float)
    sizes, together = Y.sum(axis=0), Y.T @ Y
    Sigma = 2 * together / (sizes[:, None] + sizes)
    mean = Y / Y.sum(axis=1, keepdims=True)
    G = mean @ Sigma @ mean.T
    squared, off = cdist(X, X, "sqeuclidean"), ~np.eye(len(X), dtype=bool)
    W = np.exp(-squared / np.median(squared[off]))
    G = G / G.max()
    psi = np.where(off, gamma * G**a / (1 + beta * (1 - W**b)) + (1 - gamma) * W**b, 0.0)
    kept = np.zeros(off.shape, dtype=bool)
    for row, values in enumerate(psi):
        kept[row, np.argsort(-values, kind="stable")[:K]] = True
    return np.where(kept | kept.T, psi, 0.0)


@pytest.mark.parametrize("gamma", [1.0, 0.5])
def test_mope_keeps_the_largest_psi_of_all_pairs(stage, gamma):
    """The projections span the leading eigenvectors of X'AX, with A made pair by pair."""
    setting = {"a": 0.5, "b": 2.0, "beta": 8.0, "gamma": gamma}
    A = largest_psi(stage.R, stage.Y, 5, **setting)
    X = stage.R - stage.R.mean(axis=0)
    values, vectors = np.linalg.eigh(X.T @ A @ X)
    model = joined().set_params(n_components=3, n_links=5, **setting).fit(stage.R, stage.Y)
    assert model.eigenvalues_ == pytest.approx(values[::-1][:3])
    P, expected = model.components_.T, vectors[:, ::-1][:, :3]
    assert np.abs(P @ P.T - expected @ expected.T).max() < 1e-6


def test_every_mope_with_features_is_of_all_pairs_and_keeps_k_of_them():
    entrants = named(supervised_entrants())
    for name in WITH_FEATURES:
        found = entrants[name].configurations(24)
        assert {each.graph for each in found} == {"full"} and len({each.n_links for each in found}) == 4
    assert {each.gamma for each in entrants["MOPE W"].configurations()} == {0.0}
    tuned = entrants["MOPE G3 and W, priority"].configurations(supervised_plan().limit, seed=1)
    assert all(len({getattr(each, name) for each in tuned}) > 1 for name in ("a", "b", "beta", "gamma", "n_links"))
    part = named(partly_labelled_entrants())
    assert dict(part["MOPE"].grid) == PSI
    mixed = part["SSMOPE"].configurations(24, seed=1)
    assert {each.supervised.graph for each in mixed} == {"full"}
    assert all(len({getattr(each.supervised, name) for each in mixed}) > 1 for name in PSI)


def test_the_pairs_of_a_class_are_tuned_in_mfa():
    found = named(supervised_entrants())["MESD(MFA)"].configurations(supervised_plan().limit)
    assert {each.method.n_enemies for each in found} > {5, 20, 80}


def test_ml_lgc_is_as_printed_in_every_setting_and_all_of_it_is_tuned(stage):
    """More l2 makes scores larger, as -l2 tr(Z Sigma Z') rewards them; the Laplacian of Sigma would keep their sum."""
    entrant = named(partly_labelled_entrants())["ML-LGC"]
    tuned = entrant.configurations(partly_labelled_plan().limit, seed=1)
    assert {each.sigma_form for each in tuned} == {"similarity"}
    for name in ("smoothness", "label_smoothness", "n_neighbors", "sigma"):
        assert len({getattr(each, name) for each in tuned}) > 1
    part = stage.with_labels(0.8, 0)
    weak, strong = (clone(tuned[0]).set_params(label_smoothness=l2).fit(part.R, part.y) for l2 in (0.01, 0.3))
    assert strong.scores_.sum() > 1.05 * weak.scores_.sum() > 0


def test_both_experiments_have_five_draws():
    for each in (supervised_plan(), partly_labelled_plan()):
        assert each.draws == 5 and each.limit == 24 and each.rows is None
    further = supervised_plan().entrants_of(6)
    assert supervised_plan().last == 10 and {each.group for each in further} == {"MOPE, labels alone"}
    assert partly_labelled_plan().last == 5 and not partly_labelled_plan().entrants_of(6)


def test_each_draw_has_parts_settings_and_discriminants_of_its_own(held, plan):
    record, _ = held
    names = [f"100 %{k}, draw {draw}" for draw in (1, 2, 3) for k in ("", ", k = 12")]
    assert list(record["parts"]) == names == list(record["readouts"]) == list(record["stages"])
    assert len({tuple(e["test"] for e in entries) for entries in record["parts"].values()}) == 6
    assert all(len(entry["tried"]) <= plan.limit for entries in record["parts"].values() for entry in entries)
    assert record["plan"]["limit"] == 2


def test_at_the_papers_k_every_method_has_as_many_components_by_directions_of_eigenvalue_0(held, folder):
    record, request = held
    stage = reuters_ten(folder, seed_of(request.seed, 1))
    tuned, printed = (
        {e["entrant"]: e for e in record["parts"][part]} for part in ("100 %, draw 1", "100 %, k = 12, draw 1")
    )
    assert printed["CCA"]["k"] == 12 > tuned["CCA"]["k"] and printed["PCA"]["k"] == 12
    assert printed["CCA"]["chosen"] == {**tuned["CCA"]["chosen"], "fill": "null"}
    ridge = tuned["CCA"]["chosen"].get("ridge", "auto")
    model = CCA(n_components=12, ridge=ridge, fill="null").fit(stage.R, stage.Y)
    classifier = FLDAClassifier(**record["readouts"]["100 %, draw 1"]).fit(model.transform(stage.R), stage.Y)
    expected = macro_f1(stage.Y_test, classifier.predict(model.transform(stage.R_test))).value
    assert printed["CCA"]["test"] == pytest.approx(expected, abs=1e-6)
    assert {**printed["no embedding"], "run": 0} == {**tuned["no embedding"], "run": 0}


def test_the_labelled_rows_are_drawn_anew_and_the_smaller_share_lies_in_the_larger(folder, plan, tmp_path, monkeypatch):
    seen = []

    def looked(entrant, stage, *others):
        seen.append((stage.labelled, stage.R))
        return {"entrant": entrant.name, "group": "", "test": None, "validation": None, "k": None, "chosen": None,
                "tried": [], "seconds": 0.0, "failure": "not run"}  # fmt: skip

    monkeypatch.setattr(experiment, "compete", looked)
    monkeypatch.setattr(experiment, "compete_at", lambda entrant, stage, k, tuned, *others: tuned)
    partly = replace(plan, entrants=FEW[:1], shares=(0.4, 0.8), draws=2)
    record = run(partly, Request(folder, tmp_path))
    drawn = ["40 %, draw 1", "80 %, draw 1", "40 %, draw 2", "80 %, draw 2"]
    assert [part for part in record["parts"] if "k =" not in part] == drawn
    (few, R), (many, _), (others, other_R), _ = seen
    assert set(few) < set(many) and set(few) != set(others) and not np.array_equal(R, other_R)
    assert "not run" in page(record)


def test_what_is_done_stays_and_more_draws_go_on_from_fewer(held, plan, monkeypatch, tmp_path):
    record, request = held
    request = replace(request, folder=shutil.copytree(request.folder, tmp_path / "out"))
    with monkeypatch.context() as patch:
        patch.setattr(experiment, "compete", None)
        patch.setattr(experiment, "compete_at", None)
        assert run(plan, request)["parts"] == run(plan, replace(request, draws=2))["parts"] == record["parts"]
        with pytest.raises(ValueError, match="another plan"):
            run(replace(plan, limit=3), request)
    more = run(plan, replace(request, draws=4))
    assert list(more["parts"]) == [*record["parts"], "100 %, draw 4", "100 %, k = 12, draw 4"]
    assert more["parts"]["100 %, draw 1"] == record["parts"]["100 %, draw 1"] and "4 draws" in page(more)


def test_the_page_opens_with_the_claims_and_tells_means_and_paired_intervals(held):
    record, request = held
    told = page(record)
    first = told.splitlines()
    head = next(line for line in first if line.startswith("| "))
    assert head == "| the paper says | where | labels | ours | interval | came out | open until |"
    assert told.index(head) < told.index("## Macro F1")
    tuned = [entries for part, entries in record["parts"].items() if "k =" not in part]
    tests = {name: [e["test"] for es in tuned for e in es if e["entrant"] == name] for name in ("CCA", "no embedding")}
    line = next(line for line in first if line.startswith("| CCA |"))
    assert f"| {np.mean(tests['CCA']):.4f} | {np.std(tests['CCA'], ddof=1):.4f} |" in line
    assert f"| {np.mean(tests['CCA']) - np.mean(tests['no embedding']):+.4f} (" in line
    ridges = [e["chosen"].get("ridge") for es in tuned for e in es if e["entrant"] == "CCA"]
    assert all("default" if ridge is None else f"{ridge:g}" in line for ridge in ridges)
    assert (request.folder / "macro_f1_100.svg").is_file() and "![" in told and "(macro_f1_100.svg)" in told
    assert "drawn anew 3 times" in told and "at most 2 settings" in told


def test_the_figure_has_the_means_the_intervals_and_n(held):
    record, _ = held
    drawn, at_the_papers_k = figures(record).values()
    assert "k tuned" in drawn and "k = 12 as in the paper" in at_the_papers_k
    n = np.mean([stage["test"] for stage in record["stages"].values()])
    assert f"n = {n:,.0f} documents, 3 draws" in drawn
    assert all(f"{kind}-{row}" in drawn for kind in ("mean", "interval") for row in range(3))
    assert all(name in drawn for name in ("CCA", "PCA", "no embedding", "existing multi-label"))
