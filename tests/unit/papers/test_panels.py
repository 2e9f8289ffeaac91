"""Panels of lines, in which a name looks the same everywhere, and matrices as shaded cells, dark where large."""

import io
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from papers import panels as module
from papers.panels import CellPanel, Panel, cell_panels, line_panels

LINES = {"PCA": ([1, 2, 3], [0.5, 0.4, 0.3]), "MDDM": ([1, 2], [0.6, 0.2])}


def panels():
    return [Panel("one", "k", "loss", LINES, {"none": 0.1}), Panel("two", "k", "F1", {"MDDM": ([1, 2], [0.1, 0.9])})]


def words(svg):
    return ["".join(each.itertext()) for each in ElementTree.fromstring(svg).iter() if each.tag.endswith("text")]


def test_titles_axes_note_and_one_entry_a_name():
    found = words(line_panels(panels(), 2, "n = 3 rows"))
    for told in ("one", "two", "k", "loss", "F1", "n = 3 rows"):
        assert told in found
    assert [found.count(name) for name in ("PCA", "MDDM", "none")] == [1, 1, 1]


def test_the_legend_is_no_wider_than_the_figure(monkeypatch):
    """As many columns as fit: the last of eight entries was cut off."""
    names = [f"method {number}, labels coupled" for number in range(8)]
    panel = Panel("yeast", "k", "loss", {name: ([1, 2], [0.5, 0.4]) for name in names})
    widths = []

    def measured(size, draw, note):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        FigureCanvasSVG(figure).print_svg(io.StringIO())
        widths.append((figure.legends[0].get_window_extent().x1, figure.bbox.x1))
        return "<svg"

    monkeypatch.setattr(module, "svg_text", measured)
    line_panels([panel] * 3, 3, "n = 3")
    line_panels([panel], 1, "n = 3")
    assert all(right <= edge for right, edge in widths) and len(widths) == 2


def test_the_markup_is_the_same_every_time_and_follows_the_values():
    first = line_panels(panels(), 2, "n = 3 rows")
    assert first == line_panels(panels(), 2, "n = 3 rows")
    other = [Panel("one", "k", "loss", {**LINES, "PCA": ([1, 2, 3], [0.5, 0.4, 0.35])}, {"none": 0.1}), panels()[1]]
    assert first != line_panels(other, 2, "n = 3 rows")


def test_a_name_has_one_colour_in_all_panels():
    svg = line_panels(panels(), 1, "n = 3 rows", marks=False)
    assert svg.count("stroke: #d55e00") == 3  # MDDM in two panels and in the legend
    assert svg.count("stroke: #0072b2") == 2


def test_bars_have_the_colour_of_their_line_and_the_length_of_its_errors():
    drawn = {
        error: line_panels(
            [Panel("one", "k", "loss", LINES, errors={"MDDM": [0.1, error]})], 1, "n = 3 rows", marks=False
        )
        for error in (0.1, 0.2)
    }
    plain = line_panels([Panel("one", "k", "loss", LINES)], 1, "n = 3 rows", marks=False)
    assert drawn[0.1].count("stroke: #d55e00") == plain.count("stroke: #d55e00") + 2
    assert drawn[0.1] != drawn[0.2]


@pytest.mark.parametrize(
    ("given", "across", "message"),
    [
        ([], 1, "there are 0 panels"),
        ([Panel("one", "k", "loss", LINES)], 0, "0 a row"),
        ([Panel("one", "k", "loss", {"PCA": ([1, 2], [0.5])})], 1, "one: PCA has 2 x, 1 y"),
        ([Panel("one", "k", "loss", LINES, errors={"MDDM": [0.1]})], 1, "MDDM has 2 x, 2 y and 1 errors"),
    ],
)
def test_what_cannot_be_drawn_is_named(given, across, message):
    with pytest.raises(ValueError, match=message):
        line_panels(given, across, "")


def cells(values, **changes):
    settings = {"title": "a < b", "x": "H", "y": "alpha", "columns": [0.3, 0.6], "rows": [0.1, 0.2]}
    return CellPanel(**{**settings, **changes}, values=np.asarray(values))


def test_every_value_stands_in_a_cell_and_large_ones_are_dark():
    svg = cell_panels([cells([[0.25, 0.5], [0.75, 0.9]])], "n = 3")
    assert all(f">{value}<" in svg for value in (".25", ".50", ".75", ".90", "0.1", "0.6", "H", "alpha", "n = 3"))
    assert "a &lt; b" in svg and "a < b" not in svg
    fills = re.findall(r"fill: (#[0-9a-f]{6})", svg)
    assert "#f7fafc" in fills and "#03192d" in fills


def test_a_constant_matrix_is_light_and_the_text_is_the_same_every_time():
    panels = [cells(np.ones((2, 2))), cells(np.zeros((2, 2)), title="other")]
    assert cell_panels(panels, "n") == cell_panels(panels, "n")
    assert "#03192d" not in cell_panels(panels, "n")


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match="no panels"):
        cell_panels([], "n")
    with pytest.raises(ValueError, match=r"a < b: values have shape \(1, 2\); \(2, 2\) is needed"):
        cell_panels([cells([[0.1, 0.2]])], "n")
    with pytest.raises(ValueError, match=r"outlined has shape \(2,\); \(2, 2\) is needed"):
        cell_panels([cells(np.ones((2, 2)), outlined=np.ones(2))], "n")


def test_of_many_cells_the_title_tells_the_range():
    many = {"columns": np.arange(13), "rows": np.arange(2)}
    svg = cell_panels([cells(np.linspace(0, 1, 26).reshape(2, 13), **many)], "n")
    assert "a &lt; b: 0.00 (light) to 1.00 (dark)" in svg and ">.04<" not in svg
    assert ">12<" in svg and ">11<" not in svg


def test_a_line_goes_round_outlined_cells():
    def lines(outlined):
        return cell_panels([cells(np.ones((2, 2)), outlined=np.array(outlined))], "n").count("stroke: #d55e00")

    assert lines([[True, False], [False, False]]) == 4
    assert lines([[True, True], [False, False]]) == 6
    assert lines([[False, False], [False, False]]) == 0
