"""Histograms of the score of a yes/no label: shares per class, names, in pages and figures."""

import numpy as np
from matplotlib.figure import Figure

from proxembed.report.map_page import map_axes
from proxembed.report.score_histogram import ScoredRows, class_names, score_view, shares

SECTION = {
    "scores": {
        "labels": ["churn"],
        "new_has": [True, False, False],
        "train_has": [True, True, False, False],
        "columns": [[name, [0.9, 0.8, 0.1, 0.2], [0.7, 0.3, 0.0]] for name in ("all features", "OPLS")],
    },
}


def test_bars_are_shares_of_the_rows_of_a_class_also_of_rows_beyond_the_edges():
    rows = ScoredRows(np.arange(100.0), np.arange(100) % 4 == 0)
    train, new = rows.sides(True)
    assert train is None and len(new) == 25
    assert shares(new, rows.edges()).sum() == 100 and shares(np.array([]), rows.edges()).sum() == 0
    assert len(np.unique(np.diff(ScoredRows(np.zeros(3), np.ones(3, bool)).edges()).round(9))) == 1, "equal scores"


def test_classes_are_named_by_one_label_or_by_two_classes():
    assert class_names(["churn"]) == ("churn", "no churn") and class_names(["a", "b"]) == ("b", "a")


def test_the_page_and_the_figure_name_classes_and_rows():
    page = score_view(SECTION)
    for words in (
        "churn: n = 2 training, 1 held out",
        "no churn: n = 2 training, 2 held out",
        "score of churn",
        "OPLS",
    ):
        assert words in page
    assert score_view({"panels": []}) is None
    ax = map_axes(SECTION, Figure().add_subplot())
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words[0] == "churn (n = 2 training, outlined; 1 held out)" and ax.get_title(loc="left") == "OPLS"
