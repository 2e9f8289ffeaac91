"""A page of thousands of labels: the 50 largest, and the means of the others in one line."""

import numpy as np
import pytest
import scipy.sparse as sp

from proxembed.report import label_section, map_section, page_html, proximity_section, views
from proxembed.report.sections import MANY_LABELS, SHOWN_LABELS
from unit.report.synthetic import made_record

C = MANY_LABELS + 200


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    raw, embedded = rng.uniform(0.2, 0.6, (2, C))
    raw[-30:] = np.nan  # labels without a held-out row
    names, counts = [f"tag {j}" for j in range(C)], np.arange(C, 0, -1) + 5
    return label_section(names, counts, raw, embedded, chance=np.full(C, 0.01))


def test_the_table_shows_the_50_largest_labels_and_the_means_of_the_others(table):
    view = views.label_view(table)
    assert [row["label"] for row in view["rows"]] == [f"tag {j}" for j in range(SHOWN_LABELS)]
    rest, others = view["rest"], table[SHOWN_LABELS:]
    known = [row for row in others if row["ap_raw"] is not None]
    assert len(known) == len(others) - 30 and view["left_out"] == len(others)
    assert rest["n"] == pytest.approx(np.mean([row["n"] for row in others]))
    for name in ("ap_raw", "ap_embedded"):
        assert rest[name] == pytest.approx(np.mean([row[name] for row in known]))
    assert rest["threshold"] is None and not rest["worse"]
    assert view["compared"] == C - 30 > view["worse"] > SHOWN_LABELS, "single labels of the rest are still counted"
    dots = view["gains"]["dots"]
    assert len(dots) == SHOWN_LABELS + 1 and dots[-1]["mean"] and f"{C - SHOWN_LABELS:,} labels" in dots[-1]["title"]


def test_a_thousand_labels_are_all_shown(table):
    view = views.label_view(table[:MANY_LABELS])
    assert len(view["rows"]) == MANY_LABELS and view["rest"] is None and view["left_out"] == 0


def test_the_page_of_many_labels_stays_small_and_says_what_it_shows(table):
    small_record = made_record(hostile=False)
    counts = [[row["label"], row["n"]] for row in reversed(table)]
    summary = {**small_record["summary"], "dataset": {**small_record["summary"]["dataset"], "label_counts": counts}}
    page = page_html({**small_record, "summary": summary, "label_table": table})
    assert page.count("<bdi>tag ") == SHOWN_LABELS
    assert f"mean of the other {C - SHOWN_LABELS:,} labels" in page and "results.json has every label" in page
    without = page_html({**small_record, "summary": summary, "label_table": None})
    assert without.count("<bdi>tag ") == SHOWN_LABELS and "<bdi>tag 0</bdi>" in without
    assert f"mean of the other {C - SHOWN_LABELS:,} labels" in without


def test_maps_and_matrices_of_many_labels_show_the_most_frequent():
    rng = np.random.default_rng(1)
    Y = sp.csr_array(rng.random((300, C)) < np.linspace(0.3, 0.01, C))
    Z, names = rng.normal(size=(300, 2)), [f"tag {j}" for j in range(C)]
    found = map_section([("Z", Z, None, None)], Y, names)
    assert len(found["labels"]) == SHOWN_LABELS and found["counts"] == sorted(found["counts"], reverse=True)
    matrices = proximity_section(Z, [("Z", Z)], Y, names)
    labels = next(panel for panel in matrices["panels"] if panel["kind"] == "Y")
    assert labels["columns"] <= 180 < matrices["n_labels"]
