"""Names with control characters: shown by escapes in pages, images, the card and the terminal, and never dropped."""

import re
import unicodedata

import numpy as np
import pytest

from proxembed import PCA
from proxembed.cli.data import print_card
from proxembed.cli.terminal import print_summary, say
from proxembed.data import Dataset
from proxembed.persist import model_card
from proxembed.report import page_html, verdict_card
from proxembed.report.figures import svg_text
from proxembed.tables.notes import visible, visible_texts
from unit.report.synthetic import HOSTILE, made_record

CONTROL = "".join(map(chr, [*range(9), 11, 12, *range(14, 32), 127, *range(128, 160), 0x202E, 0x2066, 0x200B, 0xDC80]))
NAME = f"<b>a{CONTROL}z</b>"


def test_every_control_character_has_an_escape():
    shown = visible(CONTROL)
    assert (
        shown.isprintable()
        and shown.startswith(r"\x00\x01\x02")
        and r"\x7f\x80" in shown
        and "\\u202e" in shown
        and "\\udc80" in shown
    )
    for c in map(chr, range(0x3000)):
        kept = visible(c) == c
        assert kept or unicodedata.category(c) in ("Cc", "Cf", "Cn", "Co", "Zl", "Zp")
    for text in ("naïve", "可視", "क्‍ष", "👩‍👧", "two\nlines", "no\xa0break", ""):
        assert visible(text) == text
    assert visible(shown) == shown


def test_plain_data_become_visible_with_their_keys():
    array = np.zeros(2)
    found = visible_texts({"a\x07": ["b\x00", 1, None, ("c\x1f", 2.5)], "array": array})
    assert found == {r"a\x07": [r"b\x00", 1, None, (r"c\x1f", 2.5)], "array": array} and found["array"] is array


def shown_in(text: str, escaped: str = "&lt;b&gt;a") -> bool:
    return (
        escaped in text
        and re.search(r"\\+x07", text) is not None
        and not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", text)
    )


def test_the_page_and_its_figures():
    record = renamed(made_record(n=60, c=5))
    assert shown_in(page_html(record))


def test_a_figure_as_svg():
    def draw(figure):
        figure.suptitle(NAME)

    svg = svg_text((3.0, 2.0), draw, "names")
    assert shown_in(svg) or r"\x07" in svg and not re.search(r"[\x00-\x08\x0e-\x1f]", svg)


def test_the_verdict_of_a_notebook():
    goal = {"title": "Map", "word": "better", "tone": "yes", "sentence": NAME, "plain": NAME}
    assert shown_in(verdict_card({"headline": NAME, "goals": {"map": goal}, "note": "", "text": ""}))


def test_the_card_of_a_model():
    X, Y = np.random.default_rng(0).normal(size=(20, 3)), np.tile([[0, 1], [1, 0]], (10, 1))
    data = Dataset(X, Y, label_names=[NAME, "b"], name=NAME, licence=NAME)
    summary = {
        "verdict": {"goals": {"map": {"title": NAME, "word": NAME, "sentence": NAME}}, "note": NAME, "text": NAME},
        "measures": [NAME],
        "best": [{"arm": NAME, "k": 2, "scores": {NAME: {"mean": 0.5}}}],
    }
    card = model_card(PCA(n_components=2).fit(X), data, summary, command=NAME)
    assert shown_in(card, r"\<b\>a")
    outside = re.sub(r"^(`+) .* \1$", "", card.split("## Data")[1].split("## Cite")[0], flags=re.MULTILINE)
    assert "<b>" not in outside.split("## Use")[0]


def test_the_terminal(capsys):
    X, Y = np.random.default_rng(0).normal(size=(20, 3)), np.tile([[0, 1], [1, 0]], (10, 1))
    data = Dataset(X, Y, label_names=[NAME, "b"], name="a\x07\x1b[31m", licence="b\x08")
    print_card(data, data.describe())
    say("a\x07\x1c")
    told = capsys.readouterr()
    assert r"a\x07\x1b[31m" in told.out and r"b\x08" in told.out and r"a\x07\x1c" in told.err
    record = made_record(n=60, c=5)
    record["summary"]["dataset"]["name"] = "a\x07"
    print_summary(record["summary"], [])
    told = capsys.readouterr().out
    assert r"a\x07" in told and "\x07" not in told


def renamed(value, old=HOSTILE[0]):
    """A record with another name for a label."""
    if isinstance(value, str):
        return value.replace(old, NAME)
    if isinstance(value, dict):
        return {renamed(key): renamed(each) for key, each in value.items()}
    return [renamed(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("kind", ["svg", "png", "html"])
def test_the_page_and_the_pictures_of_a_map(kind):
    from proxembed.evaluate.evidence import Places
    from proxembed.report.map_page import map_image, map_page_html, map_record
    from proxembed.splits.splits import Split

    data = Dataset(np.eye(4), [[1, 0], [0, 1], [1, 1], [0, 1]], label_names=[NAME, "b"], ids=[NAME, "2", "3", "4"])
    places = Places(False, False, np.eye(2), np.ones((2, 2)), 0.5, 0.5, 0.5, 0.5)
    split = Split("test", np.array([0, 1]), np.array([2, 3]))
    facts = {"method": "OPLS", "layout": "umap", "seed": 0, "cuts": [], "command": NAME}
    record = map_record([(places, places)], data.Y, data, split, facts)
    if kind == "html":
        page = map_page_html(record)
        assert shown_in(page) and not re.search(r"(?<!\\)\\u00[01]", page)
    else:
        found = map_image(record, kind)
        assert found[:4] in (b"<svg", b"\x89PNG")
        assert kind == "png" or not re.search(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]", found)
