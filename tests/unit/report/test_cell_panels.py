"""Matrices as shaded cells: values in their cells, dark where large, names escaped."""

import re

import numpy as np
import pytest

from proxembed.report.figures import CellPanel, cell_panels


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
