"""The record: whole after JSON, no NaN, and anything else in its place refused in one sentence."""

import copy
import json

import pytest

from proxembed.report import make_record, page_html, read_record
from unit.report.synthetic import made_record

REMEDY = "run `compare` or `search` again"


@pytest.fixture(scope="module")
def record():
    return made_record(60, 4)


def written(tmp_path, record):
    (tmp_path / "results.json").write_text(json.dumps(record, allow_nan=False), encoding="utf-8")
    return tmp_path


def test_the_page_is_the_same_after_the_file(record, tmp_path, without_figures):
    again = read_record(written(tmp_path, record))
    assert again == record and page_html(again) == page_html(record)


def test_what_is_not_finite_becomes_null(record):
    entry = {**record["label_table"][0], "ap_raw": float("nan"), "threshold": float("inf")}
    made = make_record("search", record["summary"], [], "proxembed demo", seed=0, label_table=[entry])
    assert made["label_table"][0]["ap_raw"] is None and made["label_table"][0]["threshold"] is None
    json.dumps(made, allow_nan=False)


def test_a_record_of_wrong_parts_is_refused_when_made(record):
    with pytest.raises(ValueError, match="diagnosis.p is missing"):
        make_record("search", record["summary"], [], "x", seed=0, diagnosis={"measure": "AP", "value": 1.0, "null": []})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not JSON"),
        ("{", "is not JSON"),
        ("[1]", "it must be an object, not list"),
        ("{}", "format is missing"),
        ('{"format": 2, "versions": {"proxembed": "9.9"}}', "format 2, .* the version that wrote it .proxembed 9.9."),
        ('{"summary": {}, "rows": [], "command": "old"}', "format is missing"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_other_files_are_refused(tmp_path, text, message):
    (tmp_path / "results.json").write_text(text)
    with pytest.raises(ValueError, match=f"results.json .*{message}.*{REMEDY}"):
        read_record(tmp_path)


def test_bytes_that_are_no_text_and_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_record(tmp_path)
    (tmp_path / "results.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="is not JSON"):
        read_record(tmp_path)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("summary", "verdict", "text"), None, "summary.verdict.text must be text, not NoneType"),
        (("summary", "leaderboard", 2, "seconds"), "1", r"leaderboard\[2\].seconds must be a whole number or a number"),
        (("summary", "dataset", "n"), True, "summary.dataset.n must be a whole number, not bool"),
        (("summary", "best"), [], "summary has no measure or no arm"),
        (("summary", "best", 0, "scores"), {}, "of the leaderboard has no macro average precision"),
        (("summary", "curves"), {}, "summary.curves has no macro average precision"),
        (("map", "members"), [], "map.panels and map.members differ in length"),
        (("map", "panels", 0, "title"), 3, r"map.panels\[0\].title must be text"),
        (("proximity", "panels", 1, "values"), "AAAA", r"proximity.panels\[1\]: a matrix of 60 x 60 needs 3600 bytes"),
        (("proximity", "panels", 2, "rows"), 59, r"proximity.panels\[2\]: a matrix of 59 x 60 needs 3540 bytes"),
        (("proximity", "panels", 0, "top"), None, r"proximity.panels\[0\].top must be a whole number or a number"),
        (("rows",), {}, "rows must be a list"),
        (("components", 0, "features"), "x", r"components\[0\].features must be a list"),
    ],
)
def test_a_damaged_record_is_refused_with_its_place(record, tmp_path, path, value, message):
    damaged = copy.deepcopy(record)
    place = damaged
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(ValueError, match=message):
        read_record(written(tmp_path, damaged))
