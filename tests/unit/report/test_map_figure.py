"""The held-out map in matplotlib: what its artists hold."""

import numpy as np
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from proxembed.report import map_section
from proxembed.report.figures import COLOURS
from proxembed.report.map_page import PALE_GREY, map_axes

rng = np.random.default_rng(0)


def section(Y, names, **options):
    Z = rng.normal(size=(len(Y), 3))
    return Z, map_section([("PCA", -Z, None, None), ("OPLS", Z, 0.5, None)], Y, names, **options)


def drawn(ax) -> dict[str, np.ndarray]:
    """Rows by the words of the legend."""
    legend = ax.get_legend()
    names = [text.get_text() for text in legend.get_texts()]
    return dict(zip(names, [np.asarray(each.get_offsets()) for each in reversed(ax.collections)], strict=True))


def test_each_row_is_drawn_once_in_the_colour_of_its_rarest_label():
    Y = np.array([[1, 1, 0], [1, 0, 0], [0, 0, 0], [1, 1, 1], [1, 0, 0]])
    Z, found = section(Y, ["common", "_mid$x$", "rare"])
    ax = map_axes(found, Figure().add_subplot())
    points = drawn(ax)
    expected = {"rare (n = 1)": [3], "_mid$x$ (n = 1)": [0], "common (n = 2)": [1, 4], "no label (n = 1)": [2]}
    assert list(points) == list(expected)
    for name, rows in expected.items():
        np.testing.assert_allclose(points[name], Z[rows, :2], rtol=1e-4)
    colours = [to_hex(each.get_facecolor()[0]) for each in ax.collections]
    assert colours == [PALE_GREY, *(colour.lower() for colour in COLOURS[:3])]
    assert ax.get_legend().get_title().get_text() == "rarest label of each row"
    assert not any(text.get_parse_math() for text in ax.get_legend().get_texts())
    assert ax.get_title(loc="left") == "OPLS: 5 held-out rows" and "units" in ax.get_xlabel()
    ax.figure.savefig("/dev/null", format="png")  # a name with $ is no mathematics


def test_many_classes_share_the_colour_of_others_and_a_sample_says_so():
    Y = np.eye(9, dtype=int)[np.r_[np.repeat(np.arange(9), 10), np.zeros(5, dtype=int)]]
    _, found = section(Y, [f"class {j}" for j in range(9)], limit=50)
    ax = map_axes(found, Figure().add_subplot())
    assert ax.get_title(loc="left") == "OPLS: 50 of 95 held-out rows"
    points = drawn(ax)
    assert len(points) == 8 and any(name.startswith("other labels") for name in points)
    assert sum(map(len, points.values())) == 50
    assert len({to_hex(each.get_facecolor()[0]) for each in ax.collections}) == 8
    assert ax.get_legend().get_title().get_text() == ""
