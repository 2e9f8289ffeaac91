"""The page and the files: hostile names stay text, nothing is fetched, figures parse, files are whole or absent."""

import os
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn.decomposition import PCA

from proxembed.data import Dataset
from proxembed.evaluate import LabelScores
from proxembed.evaluate.arms import Arm
from proxembed.evaluate.protocol import Protocol, run
from proxembed.report import page_html, summarise, write_atomic
from proxembed.report.figures import COLOURS, k_curve

HOSTILE = ("<script>alert(1)</script>", "\"quoted\" & 'single'", "$\\frac{1}{2}$ {{ 7 * 7 }}")


@pytest.fixture(scope="module")
def summary():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    data = Dataset(X, (X[:, :3] > 0).astype(int), label_names=HOSTILE, name="<b>made</b>", licence="<i>none</i>")
    arms = Arm("all features", None, rival=True), Arm("PCA", PCA()), Arm("label scores", LabelScores(), rival=True)
    return summarise(run(Protocol(arms, sizes=(1, 2, 3), n_folds=3), data))


@pytest.fixture(scope="module")
def page(summary):
    return page_html(summary, "proxembed compare '<made>.npz'")


class Tags(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.tags, self.text = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text.append(data)


def test_hostile_names_stay_text(page):
    parsed = Tags(page)
    assert not {"script", "b", "i"} & {tag for tag, _ in parsed.tags}
    text = "".join(parsed.text)
    assert all(name in text for name in HOSTILE)
    assert "<b>made</b>" in text and "<i>none</i>" in text and "'<made>.npz'" in text


def test_nothing_is_fetched_and_the_page_is_small(page):
    assert len(page.encode()) < 500_000
    links = [
        value for _, attrs in Tags(page).tags for key, value in attrs.items() if key in ("src", "href", "xlink:href")
    ]
    assert all(link.startswith("#") for link in links)
    assert "@import" not in page and not re.search(r"url\((?!['\"]?#)", page)


def test_the_page_holds_every_part(page, summary):
    for part in (
        "Measures against size",
        "Leaderboard",
        "Data card",
        "How it was measured",
        "How to repeat it",
        "numpy 2",
    ):
        assert part in page
    assert summary["verdict"]["headline"] in page and page.count("<svg") == 4


@pytest.mark.parametrize("narrow", [False, True])
def test_figures_parse_and_keep_their_text(summary, narrow):
    root = ElementTree.fromstring(k_curve(summary, summary["measures"][0], narrow=narrow))
    words = " ".join("".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text"))
    for word in ("number of components k", "n = 60 rows", "all features (no k)", "label scores", "PCA", "(0 to 1)"):
        assert word in words
    assert len(set(COLOURS)) == len(COLOURS)


def test_figures_are_the_same_every_time(summary):
    name = summary["measures"][0]
    assert k_curve(summary, name) == k_curve(summary, name)


def test_an_unknown_measure_is_refused(summary):
    with pytest.raises(ValueError, match="name='recall' is not a measure"):
        k_curve(summary, "recall")


def test_files_are_written_whole_or_not_at_all(tmp_path, monkeypatch):
    target = tmp_path / "leaderboard.csv"
    write_atomic(target, "first\r\n")
    assert target.read_bytes() == b"first\r\n"

    def full(*args):
        raise OSError(28, "No space left on device")

    for call in ("replace", "fsync"):
        with monkeypatch.context() as patch:
            patch.setattr(os, call, full)
            with pytest.raises(OSError, match="No space left"):
                write_atomic(target, "second")
        assert target.read_bytes() == b"first\r\n"
        assert [path.name for path in tmp_path.iterdir()] == ["leaderboard.csv"]
