"""The map of a data set: the default method by the number of rows, other methods by name, what cannot be laid out."""

import numpy as np
import pandas as pd
import pytest

from proxembed import MESD, OPLS, Kernelized, TargetSpace
from proxembed.data import Dataset
from proxembed.report.map_page import lead_sentence
from proxembed.workflow.labelled_data import frame_dataset
from proxembed.workflow.one_fit import about, draw_map, map_facts, map_layout, write_map
from proxembed.workflow.options import OptionError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(100, 6))
Y = (X[:, :3] > 0).astype(np.uint8)


def test_the_method_follows_the_rows_and_the_name():
    few, many = (map_layout(None, "sklearn", 3, (n, 9), labels=False).method for n in (6000, 6001))
    assert isinstance(few, Kernelized) and few.n_prototypes is None and many.n_prototypes == 1000
    assert isinstance(map_layout(None, "sklearn", 3, (6001, 9)).method, TargetSpace)
    assert isinstance(map_layout(None, "components", 3, (50, 9)).method, Kernelized)
    assert isinstance(map_layout("fda", "sklearn", 3, (50, 9)).method, MESD)
    one = map_layout("OPLS(ridge=0.5)", "sklearn", 3, (50, 9))
    assert isinstance(one.method, OPLS) and one.method.ridge == 0.5 and one.random_state == 3
    assert map_layout("forestleaves", "sklearn", 7, (50, 9)).method.random_state == 7


@pytest.mark.parametrize(
    ("method", "layout", "message"),
    [
        ("nothing", "sklearn", "unknown method 'nothing'"),
        ("layout", "sklearn", "method='layout' must name one method whose components are laid out"),
        ("all", "sklearn", "method='all' must name one method"),
        (
            None,
            "mds",
            "layout='mds' is not allowed; layout must be 'auto', 'opentsne', 'umap', 'sklearn' or 'components'",
        ),
    ],
)
def test_what_cannot_be_laid_out_is_refused(method, layout, message):
    with pytest.raises(ValueError, match=message):
        draw_map(Dataset(X, Y), method, layout)


def test_a_library_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setattr("proxembed.features.layouts.find_spec", lambda name: None)
    with pytest.raises(OptionError, match=r"layout='umap' cannot be used: the map needs umap-learn; install it"):
        draw_map(Dataset(X, Y), layout="umap")


def test_a_map_of_the_standard_split_holds_its_test_rows_out():
    data = Dataset(X, Y, train_idx=np.arange(70), test_idx=np.arange(70, 100), name="made")
    found = draw_map(data, "opls", "sklearn", seed=1, command="proxembed map made")
    assert found["rows"].tolist() == list(range(100)) and found["train"] == 70 and found["layout"] == "sklearn"
    facts = map_facts(found)
    plain, components, features = facts["maps"][-3:]
    assert [each["map"] for each in facts["maps"][-3:]] == ["plain", "without features", "features alone"]
    assert plain["outside"] > facts["chance"] + 0.2 and plain["null"]["outside"] < plain["outside"]
    assert features["kept"] == features["null"]["kept"] > plain["kept"] > components["kept"] > 0
    assert f"keeps {found['pairs'][0]['map']['kept']:.0%} of each held-out row's nearest" in lead_sentence(found)
    pairs = [{**pair, "map": {**pair["map"], "inside": 0.9, "outside": 0.7}} for pair in found["pairs"][-3:]]
    flattered = lead_sentence(found | {"cuts": ["no honest map"], "pairs": pairs})
    assert "(Jaccard@10 0.900 and 0.700), because their places depend partly on their own labels" in flattered
    assert "no room for an honest map" in flattered
    again = draw_map(data, "opls", "sklearn", seed=1)
    np.testing.assert_array_equal(again["pairs"][0]["map"]["xy"], found["pairs"][0]["map"]["xy"])


def test_files_by_the_end_of_the_name(tmp_path):
    record = draw_map(Dataset(X, Y), "pca", "sklearn")
    for name, start in (("m.html", b"<!doctype html>"), ("m.png", b"\x89PNG"), ("m.svg", b"<svg")):
        write_map(record, tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)


def test_values_of_features_can_be_left_out():
    held, bare = (draw_map(Dataset(X, Y), "pca", "components", features=each) for each in (True, False))
    assert len(held["features"]) == held["all_features"] == X.shape[1] and bare["features"] == []


def test_rows_of_unknown_labels_are_on_the_map():
    unknown = np.zeros(Y.shape, dtype=bool)
    unknown[:10] = True
    with pytest.warns(UserWarning, match="10 of"):
        found = draw_map(Dataset(X, np.where(unknown, 0, Y), unknown=unknown), "opls", "sklearn")
    assert set(range(10)) <= set(found["rows"][: found["train"]].tolist()) and len(found["rows"]) == 100


def test_numbers_are_laid_out_above_two_outputs_and_their_honest_map_leads_where_they_mean_nothing():
    F = np.column_stack([X @ RNG.normal(size=(6, 2)), RNG.normal(size=100)])
    F[3, 0] = np.nan
    found = draw_map(Dataset.from_targets(X, F[:, :2]), "opls")
    facts = map_facts(found)
    assert facts["layout"] == "components" and facts["measure"] == "A@10" and facts["chance"] == 0.0
    assert facts["maps"][-1]["outside"] > 0.8 and abs(facts["maps"][-1]["null"]["outside"]) < 0.3
    noise = RNG.normal(size=(100, 3))
    wide = np.hstack([X, RNG.normal(size=(100, 40))])
    facts = map_facts(draw_map(Dataset.from_targets(wide, noise), "OPLS(ridge=1e-3)", "components"))
    honest, plain = facts["maps"]
    assert [honest["map"], plain["map"]] == ["honest", "plain"]
    assert plain["inside"] > plain["outside"] + 0.1 and abs(honest["inside"]) < 0.15


def test_numbers_beside_classes_are_on_the_map():
    classes = np.array(["a", "b", "c"], dtype=object)[RNG.integers(0, 3, size=100)]
    table = pd.DataFrame({"yield": X[:, 0] + X[:, 1], "kind": classes})
    found = draw_map(Dataset.from_targets(X, table), "opls", "sklearn")
    assert found["layout"] == "sklearn" and found["pairs"][0]["map"]["xy"].shape == (2, 100)
    assert [each["name"] for each in found["outputs"]] == ["yield", "kind"]
    assert found["outputs"][1]["classes"][0][1] >= found["outputs"][1]["classes"][-1][1]


def test_forecasts_below_a_second_are_told_as_such():
    assert [about(seconds) for seconds in (0.2, 1.4, 1234.0)] == ["less than a second", "about 1 s", "about 1,234 s"]


def test_one_yes_no_label_is_a_histogram_of_one_score_and_both_classes_count_alike(tmp_path):
    y = (X[:, 0] + 0.3 * RNG.normal(size=100) > 1.2).astype(int)
    for data in (Dataset(X, y[:, None]), Dataset.from_classes(X, np.array(["stay", "leave"])[y])):
        record = draw_map(data, "opls")
        assert record["has"] is not None and record["flat"] and record["layout"] == "components"
        assert record["chance"] == pytest.approx(0.5) and record["pairs"][0]["map"]["outside"] > 0.55
        write_map(record, tmp_path / "map.html")
        page = (tmp_path / "map.html").read_text()
        assert "its histogram per class" in page and "held out</text>" in page and "% of rows" in page
    write_map(record, tmp_path / "map.png")
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")


def test_training_and_held_out_rows_are_compared_in_the_right_direction():
    record = draw_map(Dataset(X, Y), "opls")
    plain = record["pairs"][0]["map"]
    for inside, words in (
        (0.4, "fewer labels with their neighbours than"),
        (0.5, "as many labels"),
        (0.52, "only slightly"),
    ):
        plain.update(inside=inside, outside=0.5)
        assert words in lead_sentence({**record, "pairs": [{**record["pairs"][0], "form": "plain", "honest": False}]})


def test_the_page_holds_features_and_the_table_is_written(tmp_path):
    colour = np.where(X[:, 0] > 0, "red", "blue")
    table = pd.DataFrame({"colour": colour, "size": X[:, 1], "y": np.where(Y[:, 0], "yes", "no")})
    data = frame_dataset(table, labels="y")
    record = draw_map(data, "opls", "components", table=True)
    assert {each["name"] for each in record["features"]} == {"colour=red", "colour=blue", "size"}
    held = {each["name"]: each["levels"][each["codes"]] for each in record["features"]}  # in the units of the table
    np.testing.assert_allclose(held["size"], table["size"][record["rows"]], rtol=1e-6)
    np.testing.assert_array_equal(held["colour=red"], colour[record["rows"]] == "red")
    write_map(record, tmp_path / "map.parquet")
    found = pd.read_parquet(tmp_path / "map.parquet")
    rows = record["rows"]
    assert found["row"].tolist() == sorted(rows) and (found["held_out"].sum(), len(found)) == (record["held_out"], 100)
    assert found["labels"].tolist() == table["y"].tolist() and set(found["neighbors"][0]) == {"ids", "distances"}
    assert set(found.loc[found["held_out"], "row"]) == set(rows[record["train"] :])
    assert "columns" not in draw_map(data, "opls", "components")
