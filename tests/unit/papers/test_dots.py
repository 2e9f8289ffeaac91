"""The dot plot: one mark a value, at its place, with its words escaped."""

import xml.etree.ElementTree as ElementTree

from papers.dots import LEFT, RIGHT, WIDTH, dot_plot

SPACE = "{http://www.w3.org/2000/svg}"


def test_marks_stand_at_their_values():
    drawn = dot_plot("t", "axis", {"a": {"x": 0.0, "y": None}, "<b>": {"x": 1.0}}, ["x", "y"])
    root = ElementTree.fromstring(drawn)
    marks = {mark[0].text: float(mark.get("cx")) for mark in root.iter(f"{SPACE}circle") if ": " in mark[0].text}
    assert marks == {"a, x: 0.000": LEFT, "<b>, x: 1.000": WIDTH - RIGHT}


def test_more_columns_than_colours_have_another_shape():
    columns = [f"set {number}" for number in range(9)]
    root = ElementTree.fromstring(dot_plot("t", "axis", {"a": dict.fromkeys(columns, 0.5)}, columns))
    looks = {(mark.tag, mark.get("fill")) for mark in root.iter() if len(mark) and mark.tag != f"{SPACE}svg"}
    assert len(looks) == 9
