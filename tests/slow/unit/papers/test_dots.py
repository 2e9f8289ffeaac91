"""The dot plot: one mark a value, at its place, with its words escaped, the same text every time."""

import re
import xml.etree.ElementTree as ElementTree

from papers.dots import dot_plot

SPACE = "{http://www.w3.org/2000/svg}"


def group_of(root, name):
    (group,) = (group for group in root.iter(f"{SPACE}g") if group.get("id") == name)
    return group


def marks(root, name):
    """Places of the marks in a group."""
    return [(float(mark.get("x")), float(mark.get("y"))) for mark in group_of(root, name).iter(f"{SPACE}use")]


def line_start(root, name):
    """First point of the grid line of a tick."""
    return [float(number) for number in next(group_of(root, name).iter(f"{SPACE}path")).get("d").split()[1:3]]


def test_marks_stand_at_their_values():
    drawn = dot_plot("t", "axis", {"a": {"x": 0.0, "y": None}, "<b>": {"x": 1.0}}, ["x", "y"])
    root = ElementTree.fromstring(drawn)
    (low, _), (high, _), (_, first), (_, second) = (
        line_start(root, tick) for tick in ("xtick_1", "xtick_11", "ytick_1", "ytick_2")
    )
    assert marks(root, "column-0") == [(low, first), (high, second)]
    assert low < high and first < second and "&lt;b&gt;" in drawn
    assert marks(root, "column-1") == []


def test_more_columns_than_colours_have_another_shape():
    columns = [f"set {number}" for number in range(9)]
    drawn = dot_plot("t", "axis", {"a": dict.fromkeys(columns, 0.5)}, columns)
    root, looks = ElementTree.fromstring(drawn), set()
    paths = {path.get("id"): path.get("d") for path in root.iter(f"{SPACE}path")}
    for group in root.iter(f"{SPACE}g"):
        if re.fullmatch(r"column-\d", group.get("id", "")):
            (mark,) = group.iter(f"{SPACE}use")
            colour = re.search("fill: #......|$", mark.get("style"))[0]  # black goes without saying
            looks.add((colour, paths[mark.get("{http://www.w3.org/1999/xlink}href")[1:]]))
    assert len(looks) == 9 and len({colour for colour, _ in looks}) == 7


def test_equal_values_give_equal_text():
    first, second = (dot_plot("t", "axis", {"a": {"x": 0.5}}, ["x"]) for _ in range(2))
    assert first == second and "<dc:date>" not in first
