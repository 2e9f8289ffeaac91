"""The panels of measured outputs on the page: six in order, a switch per output, colours by rank, no word of labels."""

from __future__ import annotations

import re

import numpy as np
import pytest
from matplotlib.figure import Figure

from proxembed import OPLS, Kernelized
from proxembed.data import Dataset
from proxembed.report import make_record, page_html
from proxembed.report.measured import UNKNOWN, ellipse, figure_number, measured_view, rank_colour, viridis
from proxembed.report.page import target_words
from proxembed.report.plots import Frame, nice_ticks, tick_texts
from proxembed.report.views import LABEL_COLOURS
from proxembed.workflow.results import Comparison
from unit.evaluate.test_measured import made, section
from unit.report.synthetic import HOSTILE, made_record
from unit.report.test_page import SHOWN, Tags

CURVE, PERMUTATIONS = [(1, 0.5, 0.6), (2, 0.7, 0.9)], [(0.1, 0.2, -0.1), (0.3, 0.1, 0.0)]
TITLES = ["Q2 and R2 against k", "Predicted against measured", "Permutations", "Scores", "VIP", "Distance to the model",
          "Coefficients"]  # fmt: skip


@pytest.fixture(scope="module")
def found():
    return section(OPLS(n_components=2), made(), curve=CURVE, permutations=PERMUTATIONS)[1]


def record_of(found):
    """A record of numbers with this section; what else it has is of a comparison."""
    record = made_record(60, 3, hostile=False, sections=False)
    known = {"kind": "real", "unknown": 0, "low": 0.0, "high": 1.0}
    outputs = [{"name": each["name"], **known} for each in found["outputs"]]
    record["summary"]["dataset"] |= {"outputs": outputs, "labels": 0, "label_counts": [], "label_sets": 1}
    record["summary"] |= {"measures": ["Q2"], "curves": {"Q2": {}}, "best": [], "leaderboard": [], "notes": []}
    for arm, k in (("OPLS", 2), ("all features", None)):
        score = {"mean": 0.7, "standard_error": 0.1, "test": 0.6, "by_fold": [0.6, 0.8]}
        entry = {"arm": arm, "rival": k is None, "k": k, "components": k or 20, "labels": 2, "seconds": 0.1,
                 "failures": [], "scores": {"Q2": score}}  # fmt: skip
        record["summary"]["best"].append(entry)
        record["summary"]["leaderboard"].append(entry)
        record["summary"]["curves"]["Q2"][arm] = [[k, 0.7, 0.1]]
    record["summary"]["verdict"] = {"goals": {}, "text": "No verdict.", "note": "", "basis": "folds"}
    record["summary"]["protocol"] |= {"measures": [["Q2", "own"]], "further_measures": []}
    record["diagnosis"] = {"measure": "Q2", "value": 0.7, "null": [0.0, 0.1], "p": 0.05, "passed": True}
    record["components"] = [{"component": 1, "eigenvalue": 0.5, "features": [["850", 1.0]], "labels": [["0", 1.0]],
                             "stability": None, "effects": False}]  # fmt: skip
    return {**record, "measured": found}


def test_the_page_has_the_panels_in_order_and_no_word_of_labels(found, without_figures):
    page = page_html(record_of(found))
    parts = page[page.index('<section id="measured"') : page.index('<section id="size">')]
    assert re.findall(r"<h3>(.*?)</h3>", parts) == TITLES
    text = " ".join(data for tag, data in Tags(page).placed if tag not in ("style", "script"))
    assert not re.search(r"labels?\b", text, re.IGNORECASE), re.search(r".{40}labels?\b.{40}", text, re.I | re.S)
    assert "2 outputs" in text and "shuffled outputs" in text and "Shuffled outputs" in text
    assert 'href="#measured"' in page and 'id="labels"' not in page and "Errors of all outputs" in text
    assert "sample 0" in text and text.count("n = ") >= 6 and "(no unit)" in text


def test_labels_keep_their_words(without_figures):
    page = page_html(made_record(60, 3, hostile=False))
    assert 'id="measured"' not in page and "shuffled labels" in page and "Label by label" in page and "3 labels" in page
    assert target_words({"labels": 3})["count"] == 3 and target_words({"labels": 0, "outputs": [{}]})["numbers"]


def test_each_output_has_a_switch_and_the_first_is_shown(found, without_figures):
    parsed = Tags(page_html(record_of(found)))
    switches = [attrs for tag, attrs in parsed.tags if "data-show" in attrs]
    assert [(each["data-show"], each["aria-pressed"]) for each in switches] == [("0", "true"), ("1", "false")]
    shown = [attrs for _, attrs in parsed.tags if "data-output" in attrs]
    assert len(shown) == 2 * (1 + 1 + 1 + 2)  # predictions, dots of scores, their key, coefficients wide and narrow
    assert all(("hidden" in attrs) == (attrs["data-output"] != "0") for attrs in shown)
    figures = [attrs for tag, attrs in parsed.tags if tag == "svg" and attrs.get("role") == "img"]
    assert all(attrs.get("aria-label") for attrs in figures) and len(figures) == 1 + 2 + 1 + 1 + 1 + 1 + 4
    script = parsed.scripts[-1]
    assert "data-show" in script and 'toggleAttribute("hidden"' in script


def test_names_of_rows_and_outputs_stay_text_in_isolation(found, without_figures):
    hostile = {**found, "outputs": [{**each, "name": HOSTILE[j + 3]} for j, each in enumerate(found["outputs"])]}
    hostile["beyond"] = {"count": 3, "rows": [{**found["beyond"]["rows"][0], "id": name} for name in HOSTILE[3:5]]}
    parsed = Tags(page_html(record_of(hostile)))
    assert not [key for _, attrs in parsed.tags for key in attrs if key.startswith("on")]
    name = SHOWN[3][:7]
    inside = [tag for tag, text in parsed.placed if name in text and tag not in ("script", "style")]
    assert len(inside) > 5 and set(inside) <= {"bdi", "text"}
    assert " and 1 more." in "".join(parsed.text)


def test_a_damaged_section_is_refused_with_its_place(found):
    head = {
        "summary": made_record(60, 3, hostile=False, sections=False)["summary"],
        "rows": [],
        "command": "c",
        "seed": 0,
    }
    assert make_record("search", **head, measured=found)["measured"] == found
    for part, place in (
        ({"k": None}, "measured.k must be a whole number"),
        ({"outputs": [{**found["outputs"][0], "ranks": [0.5]}]}, "differ in length"),
        ({"rows": {**found["rows"], "t2": [1.0]}}, "differ in length"),
        ({"outputs": []}, "differ in length"),
    ):
        with pytest.raises(ValueError, match=place):
            make_record("search", **head, measured={**found, **part})


def test_a_method_without_coefficients_has_permutation_importance_and_a_sentence(without_figures):
    found = section(Kernelized(OPLS(n_components=1)), made())[1]
    page = page_html(record_of(found))
    parts = page[page.index('<section id="measured"') : page.index('<section id="size">')]
    assert re.findall(r"<h3>(.*?)</h3>", parts) == [*TITLES[:4], "Permutation importance"]
    assert parts.count("no coefficients") == 1 and "block (20 of adjacent features)" in parts
    losses = np.array([output["importance"]["values"] for output in found["outputs"]])
    assert losses.shape == (2, 20) and losses.max() > 0.02 and found["outputs"][0]["importance"]["x"][0] == 850
    assert "No shuffles were made." in parts and "Other numbers of components were not tried." in parts
    assert "row, in the order of the file" in parts  # one component: its scores against the row


def test_features_without_order_are_bars(without_figures):
    found = section(OPLS(n_components=1), made(names=[f"gene {j}" for j in range(20)]))[1]
    view = measured_view(found)
    bars = view["panels"][4]["bars"], view["coefficients"]["bars"]
    assert len(bars[0][0]["pairs"]) == 15 and [each["output"] for each in bars[1]] == [0, 1]
    page = page_html(record_of(found))
    assert page.count("15 largest of 20 features") == 2 and ">gene 4<" in page
    assert "from training rows that folds have left out" in page


def test_colours_are_viridis_by_rank_and_unknown_is_grey(found):
    shades = viridis()
    assert (shades[0], shades[-1]) == ("#440154", "#fde725") and rank_colour(None, shades) == UNKNOWN
    assert rank_colour(0.0, shades) == shades[0] and rank_colour(1.0, shades) == shades[-1]
    groups = measured_view(found)["panels"][3]["plots"][0]["groups"]
    for group, output in zip(groups, found["outputs"], strict=True):
        dots = {mark["colour"]: 0 for mark in group}
        for mark in group:
            dots[mark["colour"]] += mark["d"].count("M")
        assert dots[UNKNOWN] == output["unknown"] > 0
        assert sum(dots.values()) == 60 + 20  # and a dark line about each held-out row


def test_the_ellipse_is_where_t2_has_its_limit(found):
    plane = found["plane"]
    inverse, edge = np.linalg.inv(plane["covariance"]), np.column_stack(ellipse(plane)) - plane["mean"]
    np.testing.assert_allclose(np.einsum("ij,jk,ik->i", edge, inverse, edge), plane["limit"], rtol=1e-8)


def test_ticks_are_round_and_points_lie_inside_the_axes():
    assert nice_ticks(0.0, 1.0) == [0.0, 0.2, 0.4, 0.6, 0.8, 1.0] and nice_ticks(3.0, 3.0) == [3.0]
    assert tick_texts([-0.5, 0.0, 0.5]) == ["−0.5", "0.0", "0.5"] and tick_texts([0, 20_000]) == ["0", "20,000"]
    assert tick_texts([850.0, 1050.0]) == ["850", "1050"] and tick_texts([0, 1e-7]) == ["0", "1e−07"]
    frame = Frame((0.0, 1.0), (0.0, 2.0))
    box = frame.box
    assert frame.at(-9, 9) == (box["left"], box["top"]) and frame.at(1, 0) == (box["right"], box["bottom"])
    assert frame.dots([0.5, None], [1.0, 2.0]).count("M") == 1 and frame.upright(None) == frame.across(3.0) == ""
    assert [figure_number(value) for value in (None, -0.01234, 12345.6, 0.5)] == ["–", "−0.0123", "12,346", "0.5"]


def test_plot_draws_held_out_rows_by_the_rank_of_the_first_output(found):
    ax = Comparison(record_of(found), None, None).plot(Figure().add_subplot())
    dots = ax.collections[0]
    assert dots.get_offsets().shape == (20, 2) and len(ax.lines) == 1
    assert ax.get_title(loc="left").startswith("20 held-out rows")
    held = [rank for rank, train in zip(found["outputs"][0]["ranks"], found["rows"]["train"], strict=True) if not train]
    unknown = np.array([rank is None for rank in held])
    grey = np.all(np.isclose(dots.get_facecolors()[:, :3] * 255, [0xB5, 0xBC, 0xC3]), axis=1)
    assert np.array_equal(grey, unknown)
    one = section(OPLS(n_components=1), made())[1]
    assert Comparison(record_of(one), None, None).plot(Figure().add_subplot()).get_ylabel() == "row"


def test_columns_of_classes_have_a_switch_a_table_of_confusions_and_one_of_classes(without_figures):
    pandas = pytest.importorskip("pandas")
    data, names = made(), np.array(["<b>low", "high"], dtype=object)
    values = data.targets.as_given()[0]
    both = pandas.DataFrame({"value": values, "kind": names[(data.X[:, 4] > 0).astype(int)]})
    both.loc[50, "kind"] = None
    mixed = Dataset.from_targets(data.X, both, feature_names=data.feature_names, ids=data.ids)
    found = section(OPLS(n_components=1), mixed)[1]
    view = measured_view(found)
    assert view["outputs"] == ["value", "kind"] and view["numbers"] == 1
    page = page_html(record_of(found))
    assert page.count('data-show="') == 2 and '<table class="confusion small">' in page
    text = " ".join(" ".join(Tags(page).text).split())
    assert (
        "Classes of kind on held-out rows Balanced accuracy" in text and "<b>low" in text and "n = 19 held-out" in text
    )
    groups = next(panel for panel in view["panels"] if panel["title"] == "Scores")["plots"][0]["groups"]
    drawn = Comparison({"measured": found, "summary": {}}, None, None).plot(Figure().add_subplot(), output="kind")
    assert drawn.get_title(loc="left") == "20 held-out rows, coloured by the class of kind"
    assert [text.get_text().strip() for text in drawn.get_legend().get_texts()] == found["classes"][0]["classes"]
    with pytest.raises(ValueError, match="output='weight' is not shown; those are value, kind"):
        Comparison({"measured": found, "summary": {}}, None, None).plot(Figure().add_subplot(), output="weight")
    assert len(groups) == 2 and {mark["colour"] for mark in groups[1]} == {*LABEL_COLOURS[:2], UNKNOWN, "#1a1a1a"}
