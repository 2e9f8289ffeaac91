"""Sections of the record: the map and its hexagons, the table of labels, the components."""

import json

import numpy as np
import pandas
import pytest
import scipy.sparse as sp

from proxembed import OPLS, Isomap, Kernelized
from proxembed.data import Dataset
from proxembed.methods.pipeline import fit_on
from proxembed.report import component_section, label_section, map_section
from proxembed.report.sections import HEXAGONS, MAP_LABELS, hexagon_of
from unit.report.synthetic import made_labels


def centres(across):
    rows = range(int(across / (np.sqrt(3) / 2)) + 2)
    ids = [(row * (across + 1) + column, row, column) for row in rows for column in range(across + 1 - row % 2)]
    places = [((column + row % 2 / 2) / across, row * np.sqrt(3) / 2 / across) for _, row, column in ids]
    return np.array([each[0] for each in ids]), np.array(places)


@pytest.mark.parametrize("across", [2, 5, HEXAGONS])
def test_a_point_goes_to_the_hexagon_with_the_nearest_centre(across):
    points = np.random.default_rng(across).uniform(size=(500, 2))
    ids, places = centres(across)
    distance = np.linalg.norm(points[:, None] - places[None], axis=2)
    found = hexagon_of(points[:, 0], points[:, 1], across)
    at = {number: i for i, number in enumerate(ids)}
    chosen = distance[np.arange(500), [at[number] for number in found]]
    np.testing.assert_allclose(chosen, distance.min(axis=1), atol=1e-12)


def test_the_map_keeps_rows_labels_and_ids_together():
    Z, Y = made_labels(30, 4)
    Y[:, 3] = 0
    names = ["a", "b", "c", "never"]
    found = map_section([("ours", Z, 0.5, None)], sp.csc_matrix(Y), names, [f"id {i}" for i in range(30)])
    assert json.loads(json.dumps(found)) == found and found["density"] is None
    assert found["shown"] == found["held_out"] == 30 and "never" not in found["labels"]
    for row in range(30):
        assert {found["labels"][j] for j in found["members"][row]} == {names[j] for j in np.flatnonzero(Y[row])}
    np.testing.assert_allclose(found["panels"][0]["x"], Z[:, 0], rtol=1e-4)
    assert found["counts"] == sorted(Y.sum(axis=0)[:3].tolist(), reverse=True)


def test_above_the_limit_a_sample_of_points_and_the_density_of_all():
    Z, Y = made_labels(700, 5)
    found = map_section([("a", Z, None, None), ("b", -Z, None, None)], Y, list("vwxyz"), limit=100)
    density = found["density"]
    assert (found["shown"], found["held_out"], density["rows"]) == (100, 700, 700)
    assert [len(cells) for cells in density["panels"]] == [700, 700]
    for row in (0, 123, 699):
        labels = {found["labels"][j] for j in density["sets"][density["set"][row]]}
        assert labels == {"vwxyz"[j] for j in np.flatnonzero(Y[row])}
    assert found["ids"] == map_section([("a", Z, None, None)], Y, list("vwxyz"), limit=100)["ids"]


def test_many_labels_keep_the_most_frequent_switches():
    rng = np.random.default_rng(0)
    Y = sp.random(300, 500, density=0.05, random_state=rng, format="csr")
    Y.data[:] = 1
    found = map_section([("a", rng.normal(size=(300, 2)), None, None)], Y, [f"l{j}" for j in range(500)])
    assert len(found["labels"]) == MAP_LABELS
    assert min(found["counts"]) >= np.sort(Y.sum(axis=0).A1)[::-1][MAP_LABELS - 1]


def test_one_component_and_one_place_are_no_error():
    for Z in (np.arange(4.0)[:, None], np.zeros((4, 1))):
        heights = map_section([("line", Z, None, None)], np.eye(4), list("abcd"))["panels"][0]["y"]
        assert heights == sorted(set(heights)) and heights[0] == 0.0  # one lane per label
    still = map_section([("point", np.zeros((4, 2)), None, None)], np.eye(4), list("abcd"))
    assert still["panels"][0]["window"] == [0.0, 0.0, 1.0]


def test_directions_of_labels_without_a_switch_are_left_out():
    arrows = [{"label": "a", "x": 1, "y": 2}, {"label": "zzz", "x": 1, "y": 2}, {"label": "b", "x": 0, "y": 0}]
    found = map_section([("m", np.eye(2), None, arrows)], np.eye(2), ["a", "b"])
    assert found["panels"][0]["directions"] == [{"label": "a", "x": 1.0, "y": 2.0}]


@pytest.mark.parametrize(
    ("Z", "names", "limit", "message"),
    [
        (np.zeros((3, 2)), ["a", "b"], 10, r"'m' has shape \(3, 2\); give an array of \(2, 2 or more\)"),
        (np.array([[0, np.nan], [0, 1]]), ["a", "b"], 10, "NaN or infinity"),
        (np.zeros((2, 2)), ["a"], 10, "1 label_names and no ids"),
        (np.zeros((2, 2)), ["a", "b"], 0, "limit=0"),
    ],
)
def test_a_map_that_does_not_fit_is_refused(Z, names, limit, message):
    with pytest.raises(ValueError, match=message):
        map_section([("m", Z, None, None)], np.eye(2), names, limit=limit)


def test_labels_stand_by_support():
    rows = label_section(["a", "b", "c"], [2, 9, 5], [0.5, 0.4, np.nan], [0.6, 0.3, 0.2], thresholds=[0.1, 0.2, np.inf])
    assert [(row["label"], row["n"]) for row in rows] == [("b", 9), ("c", 5), ("a", 2)]
    assert rows[1]["ap_raw"] is None and rows[1]["threshold"] is None and rows[1]["calibration"] is None
    counts = np.arange(12).reshape(2, 2, 3)
    named = label_section(["a", "b", "c"], [2, 9, 5], [0.5] * 3, [0.6] * 3, decisions=counts)
    assert [row["decisions"] for row in named] == [counts[..., j].tolist() for j in (1, 2, 0)]
    assert rows[0]["decisions"] is None
    with pytest.raises(ValueError, match="decisions has 3 values for 2 labels"):
        label_section(["a", "b"], [1, 1], [0.5] * 2, [0.5] * 2, decisions=counts)
    with pytest.raises(ValueError, match="ap_raw has 1 values for 2 labels"):
        label_section(["a", "b"], [1, 1], [0.5], [0.5, 0.5])


def test_components_tell_features_and_labels_by_name():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    Y = np.column_stack([X[:, 4] > 0, X[:, 1] > 0.5]).astype(int)
    data = Dataset(X, Y, list("abcdef"), ["four", "one"])
    found = component_section(fit_on(OPLS(n_components=2), data), [0.9], 3)
    assert [part["component"] for part in found] == [1, 2] and [part["stability"] for part in found] == [0.9, None]
    assert {part["features"][0][0] for part in found} == {"b", "e"}
    assert all(len(part["features"]) == 3 and not part["effects"] for part in found)
    assert {name for part in found for name, _ in part["labels"]} == {"four", "one"}
    assert json.loads(json.dumps(found)) == found
    bare = component_section(OPLS(n_components=2).fit(pandas.DataFrame(X, columns=data.feature_names), Y))
    assert {name for part in bare for name, _ in part["labels"]} == {"0", "1"}
    assert {part["features"][0][0] for part in bare} == {"b", "e"}


def test_components_of_a_kernel_tell_features_by_name():
    X = np.random.default_rng(0).normal(size=(80, 3))
    data = Dataset(X, (X[:, :2] > 0).astype(int), ["a", "b", "c"], ["first", "second"])
    found = component_section(fit_on(Kernelized(OPLS(), n_components=2), data))
    assert all(part["effects"] for part in found)
    assert {name for part in found for name, _ in part["features"][:1]} <= {"a", "b"}


def test_classes_that_are_numbers_keep_their_names():
    """Class "2" is not the class in column 2."""
    X = np.random.default_rng(0).normal(size=(90, 3))
    data = Dataset.from_classes(X, np.repeat([1, 2, 3], 30))
    for part in component_section(fit_on(OPLS(), data)):
        assert sorted(name for name, _ in part["labels"]) == ["1", "2", "3"]


def test_what_has_no_components_has_no_section():
    assert component_section(Isomap().fit(np.random.default_rng(0).normal(size=(40, 3)))) is None


def test_a_single_component_is_a_histogram_of_each_label():
    rng = np.random.default_rng(0)
    z = np.concatenate([rng.normal(-2, 1, 150), rng.normal(2, 1, 50)])
    y = np.repeat([[1, 0], [0, 1]], [150, 50], axis=0)
    panel = map_section([("ours", z[:, None], 0.5, [{"label": "a", "x": 1.0, "y": 0.0}])], y, ["a", "b"])["panels"][0]
    assert panel["histogram"] and panel["directions"] == []
    np.testing.assert_allclose(panel["x"], z, rtol=1e-4)
    heights, lane = np.array(panel["y"]), np.ptp(np.percentile(z, [0.25, 99.75])) / 2
    assert np.all((heights[:150] >= 0) & (heights[:150] < lane)) and heights[:150].max() > 0.5 * lane
    assert np.all((heights[150:] >= lane * 0.999) & (heights[150:] < 2 * lane))
    bins = np.clip((z[:150] - np.percentile(z, 0.25)) / (2 * lane) * 60, 0, 59).astype(int)
    tallest = np.bincount(bins).argmax()
    steps = np.sort(heights[:150][bins == tallest])
    np.testing.assert_allclose(np.diff(steps), lane / np.bincount(bins).max(), rtol=1e-3)


def test_a_plane_of_two_components_is_left_as_it_is():
    panel = map_section([("ours", [[0.0, 1.0], [1.0, 0.5]], None, None)], [[1], [0]], ["a"])["panels"][0]
    assert not panel["histogram"] and panel["y"] == [1.0, 0.5]
