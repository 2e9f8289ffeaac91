"""The page is what the stored results say: ranks, corrected intervals, declared pairs, what is missing."""

import xml.etree.ElementTree as ElementTree

import numpy as np
import pandas as pd
import pytest

from benchmarks import HOME, NAME, OUTPUTS, PAGE, PROTOCOLS, TRACKS, VERSION
from benchmarks.entrants import DECLARED
from benchmarks.findings import BETTER, EQUAL, OPEN, PAIRS, Interval, by_fold, mean_ranks, means, pairs, ranks, within
from benchmarks.folds import stored_facts, tracks_of
from benchmarks.load import load
from benchmarks.page import figures, intervals, page
from benchmarks.store import COLUMNS
from proxembed.measures.statistics import nadeau_bengio

SETS = ("emotions", "birds", "scene", "yeast", "enron", "dna")


def results(values, track="all", protocol="iterative"):
    """Rows of results from method -> set -> values by fold."""
    rows = [
        dict.fromkeys(COLUMNS, 0.5)
        | {"method": method, "kind": "labels", "set": name, "protocol": protocol, "track": track, "fold": fold}
        | {"average_precision": value, "seconds": 1.0, "failure": "", "version": "1"}
        for method, by_set in values.items()
        for name, by_fold_ in by_set.items()
        for fold, value in enumerate(by_fold_, start=1)
    ]
    return pd.DataFrame(rows)


@pytest.fixture
def made():
    """OPLS a little above all features on every set, MDDM level with OPLS, PCA without its last fold of dna."""
    rng = np.random.default_rng(0)
    base = {name: 0.5 + 0.05 * i + 0.02 * rng.normal(size=5) for i, name in enumerate(SETS)}
    values = {"all features": base, "OPLS": {name: each + 0.05 for name, each in base.items()}}
    values["MDDM"] = {name: each + 0.001 * rng.normal(size=5) for name, each in values["OPLS"].items()}
    values["PCA"] = {name: each[:4] if name == "dna" else each - 0.1 for name, each in base.items()}
    return results(values)


FACTS = {
    name: {"rows": 100, "sample": 100, "features": 5, "labels": 3, "kept": ["a"], "labels_per_row": 1.0}
    for name in SETS
}


def test_means_and_ranks_take_whole_sets_alone(made):
    values = means(by_fold(made))
    assert np.isnan(values.loc["PCA", "dna"]) and values.loc["PCA"].notna().sum() == 5
    ranked = ranks(values)
    assert "PCA" not in ranked.index and ranked.loc["all features"].tolist() == [3.0] * 6
    found = mean_ranks(ranked)
    assert list(found)[-1] == "all features" and found["all features"] == Interval(3.0, 3.0, 3.0)
    assert all(each.low <= each.mean <= each.high for each in found.values())
    assert found["OPLS"].mean + found["MDDM"].mean == pytest.approx(3.0)


def test_a_fold_that_the_reference_lacks_does_not_count(made):
    made = made[~((made["method"] == "all features") & (made["set"] == "dna") & (made["fold"] == 5))]
    assert means(by_fold(made)).notna().all(axis=None)


def test_intervals_are_those_of_nadeau_and_bengio(made):
    table = by_fold(made)
    found = within(table, "MDDM", "OPLS", {name: 100 for name in SETS})
    each = (table["MDDM"] - table["OPLS"]).xs("scene", level="set")
    assert found["scene"] == (pytest.approx(each.mean()), *nadeau_bengio(each, 80, 20))
    assert "dna" not in within(table, "PCA", "OPLS", {name: 100 for name in SETS})
    assert within(table, "OPLS", "all features", {name: 100 for name in SETS})["scene"].side == 1
    assert within(table, "all features", "OPLS", {name: 100 for name in SETS})["scene"].side == -1


def test_pairs_have_a_verdict_only_where_the_tests_say_enough(made):
    values = means(by_fold(made))
    one, two, three = pairs(values, [("OPLS", "all features"), ("OPLS", "MDDM"), ("PCA", "OPLS"), ("PCA", "gone")])
    assert (one["wins"], one["ties"], one["losses"], one["verdict"]) == (6, 0, 0, OPEN)  # p = 2/64, three tests
    assert one["p"] == pytest.approx(2 / 64) and one["p_holm"] == pytest.approx(6 / 64)
    assert (two["ties"], two["verdict"]) == (6, EQUAL) and (three["sets"], three["losses"]) == (5, 5)
    assert pairs(values, [("OPLS", "all features")])[0]["verdict"] == BETTER


def test_the_page_says_what_the_results_say(made):
    text = page(made, FACTS)
    values = means(by_fold(made))
    best = values["scene"].max()
    assert f"**{best:.3f}** ▲" in text and f"{values.loc['PCA', 'birds']:.3f} ▼" in text
    assert "Not on every set yet, so without a rank: PCA." in text
    assert "which of them is best cannot be told from ranks" in text
    assert "All labels known, iterative folds: not run are cosine kNN, " in text
    assert "All labels known, random folds: not run." in text
    assert "Folds per set: 5 iterative." in text
    assert "Without results of both: OPLS – label scores, Kernelized(OPLS) – all features, " in text
    assert text.startswith(f"# The benchmark\n\n**{NAME} {VERSION}**.") and "0.500 |" in text
    assert "1 of 4 methods have 29 of 30 folds" in text and "genbase (id 40591)" in text
    lost = made.copy()
    lost.loc[(lost["method"] == "MDDM") & (lost["set"] == "birds"), "failure"] = "OutOfBudget: the budget is spent"
    assert "| all | MDDM | birds | 5 | 5 | OutOfBudget: the budget is spent |" in page(lost, FACTS)
    assert "## Failures\n\nNone." in text


def test_the_figures_have_a_mark_per_method_and_are_the_same_every_time(made):
    drawn = figures(made)
    assert set(drawn) == {"ranks-all.svg", "seconds-all.svg"} and drawn == figures(made)
    for text in drawn.values():
        assert ElementTree.fromstring(text).tag.endswith("svg") and "MDDM" in text
    assert "n = 6 data sets" in drawn["ranks-all.svg"]


def test_the_table_of_intervals_has_every_method_and_reference(made):
    lines = intervals(made, FACTS).splitlines()
    assert lines[0] == "track,protocol,method,reference,set,difference,low,high"
    assert len(lines) == 1 + 6 * 2 + 6 + 6 + 5 * 2  # MDDM by both, OPLS and all features by the other, PCA on five sets
    assert any(line.startswith("all,iterative,OPLS,all features,scene,0.05000,") for line in lines)


def test_numbers_have_a_section_of_their_own(made):
    numbers = made.assign(track=OUTPUTS, q2=made["average_precision"] - 0.1, average_precision=np.nan, agreement=0.5)
    facts = {name: {"rows": 90, "sample": 90, "features": 5, OUTPUTS: 3} for name in SETS}
    text = page(numbers, facts)
    mean = (means(by_fold(made)).loc["OPLS"] - 0.1).mean()
    assert "## Outputs that are numbers\n\n![Mean ranks](ranks-outputs.svg)" in text and "| 90 | 90 | 5 | 3 |" in text
    assert f"| OPLS | labels | {mean:.3f} |" in text and "rank by A@10" in text and "Q2 by set, iterative folds" in text
    assert "Declared pairs" not in text and set(figures(numbers)) == {"ranks-outputs.svg", "seconds-outputs.svg"}
    assert "All labels known, iterative folds: not run." in text


def test_pairs_are_declared_among_those_that_run_and_can_reach_the_level():
    for track in TRACKS:
        names = {name for pair in PAIRS[track] for name in pair}
        assert all(names <= set(DECLARED[track, protocol]) for protocol in PROTOCOLS)
        sets = sum(track in tracks_of(facts) for facts in stored_facts(HOME).values())
        assert len(PAIRS[track]) * 2 / 2**sets < 0.05


@pytest.mark.skipif(not list((HOME / "results").glob("*.jsonl")), reason="no results are stored")
def test_the_committed_page_is_that_of_the_committed_results():
    rows, facts = load(), stored_facts(HOME)
    assert (PAGE / "README.md").read_text(encoding="utf-8") == page(rows, facts)
    assert set(rows["protocol"]) <= set(PROTOCOLS)
    for name in figures(rows):
        assert (PAGE / name).is_file()
    if (PAGE / "intervals.csv").is_file():  # the sdist has no tables of results
        assert (PAGE / "intervals.csv").read_text(encoding="utf-8") == intervals(rows, facts)
