"""The page of a map: nothing fetched, hostile names stay text, places and labels as they are, pictures."""

import base64
import hashlib
import json
import re
import struct
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from proxembed.data import Dataset
from proxembed.evaluate.evidence import Places
from proxembed.report.map_page import UNITS, map_image, map_page_html, map_record
from proxembed.splits.splits import Split
from proxembed.tables.notes import visible
from unit.report.synthetic import HOSTILE
from unit.report.test_page import Tags

SHOWN = tuple(map(visible, HOSTILE))

N, CUT = 300, 220
RNG = np.random.default_rng(0)
Z, NULL = RNG.normal(size=(N, 2)) * [3.0, 1.0], RNG.normal(size=(N, 2))
Y = (RNG.random((N, 8)) < 0.3).astype(np.uint8)
NAMES = [*HOSTILE, "one", "two", "three"]


def places(places, honest=False, shuffled=False, inside=0.6):
    return Places(honest, shuffled, places[:CUT], places[CUT:], inside, 0.5, 0.45, 0.25)


def record_of(pairs, **more):
    rows = np.random.default_rng(1).permutation(N)
    data = Dataset(np.zeros((N, 1)), Y[np.argsort(rows)], label_names=NAMES, name="made <rows>", **more)
    facts = {"method": "<b>OPLS</b>", "layout": "sklearn", "seed": 0, "cuts": [], "command": "proxembed map 'a<b>.csv'"}
    return map_record(pairs, Y, data, Split("test", rows[:CUT], rows[CUT:]), facts)


@pytest.fixture(scope="module")
def record():
    pair, honest = (places(Z), places(NULL, shuffled=True)), (places(Z, True), places(NULL, True, True, float("nan")))
    return record_of([honest, pair], ids=[f"{HOSTILE[i % 5]} {i}" for i in range(N)])


@pytest.fixture(scope="module")
def page(record):
    return map_page_html(record)


@pytest.fixture(scope="module")
def data(page):
    return json.loads(next(script for script in Tags(page).scripts if script.startswith("{")))


def integers(text, kind):
    return np.frombuffer(base64.b64decode(text), dtype=kind)


def test_rows_in_which_a_label_is_unknown_take_no_part_in_what_differs():
    holes = np.zeros((N, 8), dtype=bool)
    holes[[3, 7], 2] = True
    rows = np.random.default_rng(1).permutation(N)
    held = np.where(holes, 0, Y)
    data = Dataset(np.zeros((N, 1)), held[np.argsort(rows)], label_names=NAMES, unknown=holes[np.argsort(rows)])
    pair = places(Z), places(NULL, shuffled=True)
    facts = {"method": "OPLS", "layout": "sklearn", "seed": 0, "cuts": [], "command": ""}
    record = map_record([pair], held, data, Split("test", rows[:CUT], rows[CUT:]), facts)
    assert record["unknown"][record["labels"].index(NAMES[2])] == [3, 7] and sum(map(len, record["unknown"])) == 2
    script = next(each for each in Tags(map_page_html(record)).scripts if each.startswith("{"))
    assert json.loads(script)["unknown"] == record["unknown"] and "data.unknown[label]" in map_page_html(record)


def test_hostile_names_stay_text(page, data):
    parsed = Tags(page)
    tags = [tag for tag, _ in parsed.tags]
    assert tags.count("script") == 2 and tags.count("img") == 1 and "rows" not in tags
    assert not [key for _, attrs in parsed.tags for key in attrs if key.startswith("on")]
    text = "".join(parsed.text)
    assert all(name in text for name in SHOWN) and "made <rows>" in text and "<b>OPLS</b>" in text
    assert set(SHOWN) <= set(data["labels"])
    assert "<" not in next(script for script in parsed.scripts if script.startswith("{"))
    inside = [tag for tag, text in parsed.placed if SHOWN[3] in text and tag not in ("script", "style")]
    assert inside and set(inside) == {"bdi"}


def test_nothing_is_fetched_and_only_the_script_of_the_page_may_run(page):
    parsed = Tags(page)
    digest = base64.b64encode(hashlib.sha256(parsed.scripts[-1].encode()).digest()).decode()
    policy = next(attrs["content"] for _, attrs in parsed.tags if attrs.get("http-equiv"))
    assert policy == f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    assert not re.search("innerHTML|eval|fetch|XMLHttp|import", parsed.scripts[-1])
    links = [value for _, attrs in parsed.tags for key, value in attrs.items() if key in ("src", "href")]
    assert len(links) == 1 and links[0].startswith("data:image/png;base64,")
    assert "@import" not in page and "url(" not in page


def test_the_page_holds_the_places_and_labels_of_every_row(data, record):
    """Places as whole numbers of two bytes, in the proportions of the map; training rows first."""
    assert data["train"] == CUT
    for pair in data["pairs"]:
        for text, expected in zip(pair, (Z, NULL), strict=True):
            xy = integers(text, "<u2").reshape(2, N).astype(float)
            size = np.ptp(expected, axis=0).max()
            np.testing.assert_allclose(xy[0] - xy[0, 0], UNITS * (expected[:, 0] - expected[0, 0]) / size, atol=1.01)
            np.testing.assert_allclose(xy[1] - xy[1, 0], -UNITS * (expected[:, 1] - expected[0, 1]) / size, atol=1.01)
    of_row = integers(data["set"], "<u2")
    order = [NAMES.index(name) for name in record["labels"]]
    assert record["counts"] == sorted(Y.sum(axis=0).tolist(), reverse=True)
    found = np.zeros_like(Y)
    for row, number in enumerate(of_row):
        found[row, [order[label] for label in data["sets"][number]]] = 1
    np.testing.assert_array_equal(found, Y)
    rows = integers(data["rows"], "<u4")
    assert sorted(rows) == list(range(N)) and data["ids"] == [f"{SHOWN[row % 5]} {row}" for row in rows]


def test_the_table_shows_every_figure_and_the_honest_map_leads(page):
    text = " ".join(" ".join(Tags(page).text).split())
    assert "The honest map comes first" in text and "honest map 0.600 0.500 0.450 –" in text
    assert text.index("honest map 0.6") < text.index("plain map 0.6") and "By chance it is 0.250" in text
    assert "the same on shuffled labels – 0.500 0.450" in text
    assert "proxembed map 'a<b>.csv'" in text and "220 training rows, 80 held out, 8 labels" in text


def test_the_figures_above_the_maps_are_explained_and_no_button_covers_a_point(page):
    text = " ".join(" ".join(Tags(page).text).split())
    assert "Above each map: the Jaccard@10 of training rows among themselves (in), of held-out rows" in text
    for heading in (
        "in: 220 training rows",
        "out: 80 held-out rows",
        "new: held-out rows",
        "How similar neighbours are",
    ):
        assert heading in text
    assert page.index("</canvas></div>") < page.index('<div class="zoom">')
    assert re.search(r"\.zoom \{ (?!position)", page)


def test_a_plain_map_alone_has_no_switch_of_maps():
    page = map_page_html(record_of([(places(Z, inside=0.55), places(NULL))]))
    assert (
        'name="pair"' not in page
        and "share only slightly more labels" in page
        and "honest" not in page.partition("<style>")[0]
    )
    data = json.loads(next(script for script in Tags(page).scripts if script.startswith("{")))
    assert data["ids"] is None and len(data["pairs"]) == 1


def test_100_000_rows_fit_a_page_of_6_MB():
    n, cut = 100_000, 75_000
    Z, Y = RNG.normal(size=(n, 2)), np.eye(8, dtype=np.uint8)[RNG.integers(0, 8, size=n)]
    one, plain = (Places(honest, False, Z[:cut], Z[cut:], 0.5, 0.5, 0.5, 0.125) for honest in (True, False))
    data = Dataset(np.zeros((n, 1)), Y, ids=[f"row-{i}" for i in range(n)])
    facts = {"method": "none", "layout": "none", "seed": 0, "cuts": [], "command": ""}
    split = Split("test", np.arange(cut), np.arange(cut, n))
    page = map_page_html(map_record([(one, one), (plain, plain)], Y, data, split, facts))
    assert len(page) < 6_000_000
    assert "at most 5,000 rows of each kind" in page


def test_label_sets_beyond_two_bytes_take_four(record):
    many = record | {"sets": [[j % 8] for j in range(70_000)], "set": np.full(N, 69_999, dtype=np.uint32)}
    data = json.loads(next(s for s in Tags(map_page_html(many)).scripts if s.startswith("{")))
    assert data["wide"] and set(integers(data["set"], "<u4")) == {69_999}


def test_an_only_component_is_spread_by_the_order_of_the_file():
    line = places(Z[:, :1])
    record = record_of([(line, line)])
    xy = record["pairs"][0]["map"]["xy"].astype(int)
    assert np.ptp(xy[0]) == np.ptp(xy[1]) == UNITS
    assert (np.diff(xy[1][np.argsort(record["rows"])]) < 0).all()
    assert "upwards rows are in the order of the file" in map_page_html(record)


def output_record(Y, kinds, **more):
    pair = Places(False, False, Z[:CUT], Z[CUT:], 0.55, 0.5, 0.45, 0.0, **more)
    data = Dataset.from_targets(np.zeros((N, 1)), Y, target_type=kinds, name="made")
    facts = {"method": "OPLS", "layout": "components", "seed": 0, "cuts": [], "command": "proxembed map"}
    rows = np.random.default_rng(1).permutation(N)
    return map_record([(pair, pair)], None, data, Split("test", rows[:CUT], rows[CUT:]), facts), rows


def test_outputs_have_a_switch_each_ranks_as_shades_and_grey_where_unknown():
    numbers, kinds = (
        RNG.gamma(1.0, size=N),
        np.array([*HOSTILE, "six", "seven", "eight"], dtype=object)[np.arange(N) % 8],
    )
    numbers[5] = np.nan
    record, rows = output_record(pd.DataFrame({"fat & <b>": numbers, "kind": kinds}), None)
    page = map_page_html(record)
    data = json.loads(next(script for script in Tags(page).scripts if script.startswith("{")))
    colour, values = (integers(data["outputs"][0][name], kind) for name, kind in (("colour", "u1"), ("values", "<f4")))
    np.testing.assert_allclose(values, numbers[rows].astype(np.float32))
    known = np.isfinite(values)
    assert colour[~known].tolist() == [0] and len(data["shades"]) == 32
    ranks = np.argsort(np.argsort(values[known])) / (N - 2)
    np.testing.assert_array_equal(colour[known], 1 + np.minimum(np.round(ranks, 4) * 32, 31).astype(int))
    classes = integers(data["outputs"][1]["colour"], "u1")
    assert set(classes.tolist()) == set(range(1, 8)) and (np.bincount(classes)[7] > np.bincount(classes)[1])
    text = " ".join(" ".join(Tags(page).text).split())
    assert "2 outputs" in text and "fat & <b>" in text and "2 other classes" in text and "unknown 1" in text
    assert "A@10 0.550, n = 220, and 0.500, n = 80" in text and "abels" not in text.partition("How to repeat")[0]
    assert "skewed" not in text and map_image(record, "png").startswith(b"\x89PNG")


def test_figures_of_ranks_stand_below_those_of_values():
    ranks = {"inside": 0.41, "outside": 0.42, "among": 0.43}
    text = " ".join(" ".join(Tags(map_page_html(output_record(Z, "real", on_ranks=ranks)[0])).text).split())
    assert "plain map, A@10 of ranks 0.410 0.420 0.430" in text and "An output is skewed" in text


def test_a_name_that_no_file_can_hold_does_not_stop_the_page(record):
    page = map_page_html(record | {"labels": ["half \ud800 a pair", *record["labels"][1:]]})
    assert "half \\ud800 a pair" in page.encode().decode()


def test_pictures_are_png_and_svg_with_names_as_they_are(record):
    png, svg = map_image(record, "png"), map_image(record, "svg")
    assert png[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", png[16:24]) == (1300, 728)
    text = "".join(ElementTree.fromstring(svg).itertext())
    assert "honest map: held-out Jaccard@10 0.500, chance 0.250" in text and "<img src=x onerror=alert(2)>" in text
    assert map_image(record, "svg") == svg
