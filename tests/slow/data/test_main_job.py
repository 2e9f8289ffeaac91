"""The main job on real files of every format: the same numbers from each, and verdicts that stand to reason."""

import json

import pytest
from typer.testing import CliRunner

from proxembed.cli import app

pytestmark = pytest.mark.usefixtures("few_rivals")


def compare(out, *words):
    done = CliRunner().invoke(app, ["compare", *map(str, words), "--jobs", "1", "-o", str(out)])
    assert done.exit_code == 0, done.output
    return json.loads((out / "results.json").read_text())


def best(result, arm):
    name = result["summary"]["measures"][0]
    return next(entry["scores"][name] for entry in result["summary"]["best"] if entry["arm"] == arm)


def test_emotions_from_arff_with_xml_equals_npz(data_folder, tmp_path):
    options = "--methods", "opls", "-k", "2,5", "--folds", "3"
    train, test = data_folder / "emotions-train.arff", data_folder / "emotions-test.arff"
    arff = compare(tmp_path / "arff", train, "--test", test, "--labels", data_folder / "emotions.xml", *options)
    npz = compare(tmp_path / "npz", data_folder / "emotions.npz", "--standard-split", *options)
    values = [[row["value"] for row in result["rows"]] for result in (arff, npz)]
    assert values[0] == pytest.approx(values[1], abs=1e-6)
    assert best(npz, "OPLS")["mean"] > best(npz, "random projection")["mean"]
    assert best(npz, "all features")["test"] > 0.6


def test_svmlight_equals_npz_on_birds(data_folder, tmp_path):
    options = "--methods", "mddm", "-k", "3", "--folds", "2"
    files = data_folder / "birds_train.svm.gz", "--test", data_folder / "birds_test.svm.gz"
    result = compare(tmp_path / "svm", *files, *options)
    assert result["summary"]["dataset"]["rows_without_label"] == 294
    assert not result["summary"]["failures"]


def test_sparse_mulan_file_goes_through(data_folder, tmp_path):
    result = compare(
        tmp_path, data_folder / "enron-train.arff.gz", "--methods", "opls,mddm", "-k", "5,20", "--folds", "2"
    )
    summary = result["summary"]
    assert summary["dataset"]["sparse"] and summary["preprocessing"] in ("tfidf", "unit") and not summary["failures"]
    assert {"LSI", "all features", "label scores"} <= {entry["arm"] for entry in summary["best"]}


def test_one_class_a_row_goes_through(data_folder, tmp_path):
    result = compare(tmp_path, data_folder / "dna.npz", "--methods", "fda", "-k", "2", "--folds", "2")
    assert "FDA" in {entry["arm"] for entry in result["summary"]["best"]}
    assert best(result, "FDA")["mean"] > 0.9


def test_the_demo_runs_and_says_what_it_found(tmp_path):
    done = CliRunner().invoke(app, ["demo", "-o", str(tmp_path / "demo"), "--max-work", "2", "--json"])
    assert done.exit_code == 0, done.output
    summary = json.loads(done.stdout)
    assert summary["failures"] == [] and summary["dataset"]["name"] == "digits"
    assert set(summary["verdict"]["goals"]) == {"neighbours", "predict", "compress", "map"}
    assert (tmp_path / "demo" / "index.html").stat().st_size < 2_000_000
    assert (tmp_path / "demo" / "model.skops").is_file()
