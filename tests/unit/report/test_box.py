"""The box on the page of a map: the features that the page holds, and its script's effects and p, those of Python."""

import base64
import json
import shutil
import subprocess

import numpy as np
import pytest
import scipy.sparse as sp

from proxembed.data import Dataset
from proxembed.evaluate.evidence import Places
from proxembed.measures.selections import differences
from proxembed.measures.statistics import holm
from proxembed.report import map_page
from proxembed.report.map_page import feature_levels, map_page_html, map_record
from proxembed.report.page import templates
from proxembed.splits.splits import Split
from proxembed.tables.notes import visible
from unit.report.synthetic import HOSTILE
from unit.report.test_page import Tags

rng = np.random.default_rng(0)
N = 400
X = np.column_stack([rng.standard_normal(N), rng.integers(0, 3, N), rng.random(N) < 0.3, rng.poisson(0.4, N)])
NAMES = ("size", HOSTILE[0], "has it", "count")
NODE = shutil.which("node")


def decoded(feature):
    codes = np.frombuffer(base64.b64decode(feature["codes"]), np.uint8)
    return np.frombuffer(base64.b64decode(feature["levels"]), "<f4")[codes]


def test_features_are_held_by_their_values_or_by_parts_of_their_ranks():
    found = feature_levels(NAMES, X)
    assert found["all_features"] == 4 and [each["name"] for each in found["features"]] == list(NAMES)
    for j, each in enumerate(found["features"]):
        held = each["levels"][each["codes"]]
        assert (np.diff(each["levels"]) > 0).all() and held.mean() == pytest.approx(X[:, j].mean(), abs=1e-6)
        if j:
            np.testing.assert_array_equal(held, X[:, j].astype(np.float32))
        else:
            order = np.argsort(X[:, 0], kind="stable")
            assert len(each["levels"]) == 256 and (np.diff(held[order]) >= 0).all()
            assert np.abs(np.bincount(each["codes"]) - N / 256).max() < 1
    sparse = feature_levels(NAMES, sp.csr_array(X))["features"]
    for one, other in zip(sparse, found["features"], strict=True):
        np.testing.assert_array_equal(one["codes"], other["codes"])


def test_of_too_many_features_the_first_or_most_frequent_are_held(monkeypatch):
    monkeypatch.setattr(map_page, "VALUES", 2 * N)
    assert [each["name"] for each in feature_levels(NAMES, X)["features"]] == [NAMES[0], NAMES[1]]
    rare = X * [1, 0, 1, 1]
    assert [each["name"] for each in feature_levels(NAMES, sp.csr_array(rare))["features"]] == [NAMES[0], NAMES[3]]


def page_with(features):
    half, Y = N // 2, (rng.random((N, 2)) < 0.5).astype(np.uint8)
    places = Places(False, False, X[:half, :2], X[half:, :2], 0.6, 0.5, 0.45, 0.25)
    facts = {"method": "OPLS", "layout": "sklearn", "seed": 0, "cuts": [], "command": "proxembed map made"}
    split = Split("test", np.arange(half), np.arange(half, N))
    return map_page_html(map_record([(places, places)], Y, Dataset(X, Y), split, facts | features))


def test_the_page_tells_which_values_are_binned_and_that_it_holds_none():
    binned, none = "The values of one feature with more than 256 are binned", "The page holds no values of features."
    page = page_with(feature_levels(NAMES, X))
    assert binned in page and none not in page and "which labels and features differ" in page
    page = page_with(feature_levels(NAMES[1:], X[:, 1:]))
    assert "are binned" not in page and none not in page
    page = page_with({})
    assert none in page and "are binned" not in page and "which labels differ" in page and '"features": []' in page


def test_the_page_holds_them_and_has_a_box():
    parsed = Tags(page_with(feature_levels(NAMES, X)))
    data = json.loads(next(script for script in parsed.scripts if script.startswith("{")))
    np.testing.assert_array_equal(decoded(data["features"][3]), X[:, 3].astype(np.float32))
    assert HOSTILE[0] not in "".join(parsed.text) or visible(HOSTILE[0]) == HOSTILE[0]
    assert ("section", "box") in [(tag, attrs.get("id")) for tag, attrs in parsed.tags]
    assert [attrs.get("aria-label") for tag, attrs in parsed.tags].count("select a box") == 2


@pytest.mark.skipif(NODE is None, reason="the script of the page is run by node")
def test_effects_and_tests_of_the_script_are_those_of_python():
    templates_ = templates()
    script = templates_.loader.get_source(templates_, "differences.js")[0]
    selected = (X[:, 0] > 0.3) | (rng.random(N) < 0.2)
    counts = []
    for column in X.T:
        codes = np.unique(column, return_inverse=True)[1]
        counts.append([np.bincount(codes[side], minlength=codes.max() + 1).tolist() for side in (selected, ~selected)])
    counts += [[[3, 1], [0, 5]], [[4, 0, 0], [0, 0, 2]], [[0, 7], [0, 9]], [[0, 0], [3, 1]]]
    run = f"console.log(JSON.stringify({json.dumps(counts)}.map(([a, b]) => differences.compare(a, b))));"
    done = subprocess.run([NODE, "-e", script + run], capture_output=True, text=True, check=True)
    found, expected = json.loads(done.stdout), differences(X, selected)
    assert found.pop() is None
    np.testing.assert_allclose([each["effect"] for each in found[:4]], expected.effect, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose([each["p"] for each in found[:4]], expected.p, rtol=1e-6)
    small = [np.repeat([0, 1, 0, 1], [3, 1, 0, 5]), np.repeat([0, 2, 0, 2], [4, 0, 0, 2]), np.repeat([1, 1], [7, 9])]
    for each, column, m in zip(found[4:], small, (4, 4, 7), strict=True):
        alone = differences(column[:, None], np.arange(len(column)) < m)
        assert each["effect"] == pytest.approx(alone.effect[0]) and each["p"] == pytest.approx(alone.p[0], rel=1e-6)
    p = [0.04, 0.001, 0.02, 0.9, 0.02]
    done = subprocess.run(
        [NODE, "-e", f"{script}console.log(JSON.stringify(differences.holm({p})));"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    np.testing.assert_allclose(json.loads(done.stdout), holm(p), rtol=1e-12)
