"""`proxembed search --engine defc`: repeated searches, and sizes that the models have."""

import numpy as np

from unit.cli.test_search_defc import searched


def test_sizes_that_were_found_are_compared_unless_others_are_asked_for(unsplit, tmp_path):
    record = searched(unsplit, tmp_path / "a", "--strategy", "random", "--classifier", "flda")
    found = record["adaptive"]
    assert (found["search"], found["classifier"]) == ("random", "flda")
    assert {model["k"] for model in found["models"][:3]} <= {*record["summary"]["protocol"]["sizes"]}
    record = searched(unsplit, tmp_path / "b", "-k", "1,2")
    assert record["summary"]["protocol"]["sizes"] == [1, 2]
    assert max(model["k"] for model in record["adaptive"]["models"]) <= 2


def test_it_repeats(unsplit, tmp_path):
    rows = [[{**row, "seconds": 0} for row in searched(unsplit, tmp_path / name)["rows"]] for name in "ab"]
    assert rows[0] == rows[1]


def test_two_features_have_models_of_more_components_which_are_compared_at_them(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 2))
    Y = ((np.floor(2 * X[:, 0]) + np.floor(2 * X[:, 1])) % 2).astype(np.uint8)[:, None]
    np.savez(tmp_path / "squares.npz", X=X, Y=Y, label_names=["odd"])
    record = searched(tmp_path / "squares.npz", tmp_path / "out", "--classifier", "flda", "--max-trials", "40")
    assert max(model["k"] for model in record["adaptive"]["models"]) > 2
    wide = [entry for entry in record["summary"]["best"] if entry["components"] and entry["components"] > 2]
    assert wide and not any(entry["rival"] or entry["failures"] for entry in wide)
