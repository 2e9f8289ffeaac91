"""`proxembed fit`: a model and its card from a labelled file; bad input is one line, code 2, and writes nothing."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from proxembed.estimator.catalogue import method_named, name_of
from proxembed.execute import atomic_files
from proxembed.persist import load, load_source
from runs import succeeded
from unit.cli.model_files import (
    FEATURES,
    FIT,
    D,
    N,
    X,
    Y,
    fitted,
    one_class_csv,
    program,
    refused,
    several_labels_csv,
    write_csv,
)


@pytest.fixture
def tags(tmp_path):
    return several_labels_csv(tmp_path / "tags.csv")


def test_fit_saves_the_pipeline_its_source_and_its_card(tmp_path):
    model = load(path := fitted(tmp_path, "-k", 2))
    assert [type(step).__name__ for _, step in model.steps] == ["Scaling", "OPLS", "Thresholded"]
    assert model["embedding"].n_components_ == 2 and model.n_features_in_ == D
    assert load_source(path)["label_names"] == ["topic_sea", "topic_<b>", "topic_é"]
    card = path.with_suffix(".md").read_text(encoding="utf-8")
    assert f"tags: {N} rows, {D} features, 3 labels" in card and r"topic\_\<b\>" in card
    expected = model["embedding"].fit(model["scaling"].fit_transform(X), Y).transform(model["scaling"].transform(X))
    np.testing.assert_allclose(load(path)[:-1].transform(X), expected, atol=1e-9)


def test_json_tells_what_was_done(tags, tmp_path):
    done = program("fit", tags, *FIT, "-m", "cca", "-k", 1, "--json", "-o", tmp_path / "m.skops")
    facts = json.loads(done.stdout)
    assert facts.pop("seconds") > 0
    assert facts == {
        "method": "CCA",
        "scaling": "standard",
        "rows": N,
        "features": D,
        "feature_names": list(FEATURES),
        "labels": 3,
        "components": 1,
        "written": [str(tmp_path / "m.skops"), str(tmp_path / "m.md")],
    }


def test_the_columns_that_became_features_are_named(tags, tmp_path):
    """So that a forgotten target among them is seen; the first ten, and how many others there are."""
    lines = program("fit", tags, *FIT, "-o", tmp_path / "m.skops").stdout.splitlines()
    assert lines[1] == f"features: {', '.join(FEATURES)}"
    wide = {f"c{j}": X[:, 0] + j * X[:, 1] for j in range(13)}
    write_csv(tmp_path / "w.csv", {**wide, "y": Y[:, 0]})
    done = program("fit", tmp_path / "w.csv", "--labels", "y", "-o", tmp_path / "w.skops")
    assert f"features: {', '.join(list(wide)[:10])} and 3 more" in done.stdout


def test_without_out_the_model_is_named_after_the_file(tags, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = succeeded(program("fit", tags, *FIT))
    assert sorted(os.listdir(tmp_path)) == ["tags.csv", "tags.md", "tags.skops"]
    assert "OPLS: 3 components of 60 rows, 6 features, 3 labels" in done.stdout


@pytest.mark.parametrize(
    ("options", "name"),
    [
        (["-m", "fda"], "MESD(method=FDA())"),
        (["-m", "opls", "--set", "ridge=0.1", "--set", "scaling=unit"], "OPLS(ridge=0.1, scaling='unit')"),
        (["-m", "kernelized", "--set", "method__ridge=0.5"], "Kernelized(method=OPLS(ridge=0.5), random_state=0)"),
        (["-m", "kernelized", "--seed", "3", "--set", "tau=9"], "Kernelized(method=OPLS(), random_state=3, tau=9)"),
        (["-m", "PCA", "--set", "n_components=4"], "PCA(n_components=4)"),
    ],
)
def test_methods_and_their_parameters(tmp_path, options, name):
    built = load(fitted(tmp_path, *options))["embedding"]
    assert "".join(repr(built).split()) == "".join(name.split())


@pytest.mark.parametrize(
    "name",
    [
        "OLPP(metric='correlation', n_neighbors=8)",
        "MESD(MFA(metric='cosine'))",
        "OLPP(weights='reconstruction')",
        "LPP(weights='local_scaling', n_scale=3, graph='full')",
        "Scaled(LPP(metric='cityblock'), kind='none')",
        "DirectMOPE(scheme='labels', similarity='jaccard', weights='gaussian', metric='canberra')",
        "MOPE(scheme='classes', similarity='latent_tanimoto')",
        "MOPE(scheme='classes', similarity='hamming_linear')",
        "MESD(MMC, constraint='embedding')",
        "MESD(LFDA, weighting='mimj')",
        "MESD(MFA(weights='local_scaling', n_scale=3), weighting='printed')",
        "Kernelized(OPLS, constraint='raw')",
        "Kernelized(OPLS, kernel='spearman', constraint='raw')",
        "Kernelized(OPLS, kernel='local_scaling', n_scale=5, constraint='raw')",
    ],
)
def test_options_that_the_papers_name_are_written_in_brackets(tmp_path, name):
    built, expected = load(fitted(tmp_path, "-m", name, "-k", 2))["embedding"], method_named(name)
    seed = {"random_state": 0} if "random_state" in expected.get_params() else {}
    assert name_of(built) == name_of(expected.set_params(n_components=2, **seed)) and built.n_components_ == 2


def test_a_wrapped_method_is_set_by_its_name(tags, tmp_path):
    made = program("fit", tags, *FIT, "-m", "kernelized", "--set", "method=mddm", "-o", tmp_path / "m.skops")
    assert made.exit_code == 0 and type(load(tmp_path / "m.skops")["embedding"].method).__name__ == "MDDM"


def test_one_class_a_row_is_taken_by_single_label_methods(tmp_path):
    classes = one_class_csv(tmp_path / "c.csv")
    succeeded(program("fit", tmp_path / "c.csv", "--labels", "colour", "-m", "fda", "-o", tmp_path / "m.skops"))
    model = load(tmp_path / "m.skops")
    assert type(model["embedding"]).__name__ == "FDA" and model.classes_.tolist() == sorted(set(classes))


def test_the_standard_training_rows_alone(tmp_path):
    np.savez(tmp_path / "s.npz", X=X, Y=Y, train_idx=np.arange(40), test_idx=np.arange(40, N))
    done = program("fit", tmp_path / "s.npz", "--standard-split", "--json", "-o", tmp_path / "m.skops")
    assert json.loads(done.stdout)["rows"] == 40
    assert json.loads(program("fit", tmp_path / "s.npz", "--json", "-o", tmp_path / "m.skops").stdout)["rows"] == N


def test_rows_left_out_are_noted_once(tags, tmp_path):
    text = tags.read_text(encoding="utf-8").splitlines()
    labels = [name.startswith("topic") for name in text[0].split(",")]
    text[1] = ",".join("" if label else cell for cell, label in zip(text[1].split(","), labels, strict=True))
    tags.write_text("\n".join(text) + "\n", encoding="utf-8")
    done = program("fit", tags, *FIT, "-o", tmp_path / "m.skops")
    assert (
        done.exit_code == 0
        and done.stderr.count("OPLS cannot use rows without a known label: 1 of 60 rows have no known label") == 1
    )


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (["-m", "oplls"], ["unknown method 'oplls'; did you mean opls"]),
        (["-m", "all"], ["--method 'all' is not one method"]),
        (["-m", "opls,cca"], ["unknown method 'opls,cca'"]),
        (["-k", "4"], ["-k 4 is more than the 3 components", "Use -k 3 or less, or leave -k out"]),
        (["--set", "ridge"], ["--set 'ridge' must be NAME=VALUE"]),
        (["--set", "width=2"], ["--set width: opls has no parameter width; its parameters are"]),
        (["-m", "kernelized", "--set", "method=3"], ["--set method=3 must name one method"]),
        (["-m", "kernelized", "--set", "method=kernelized"], ["Kernelized cannot wrap Kernelized"]),
        (["--set", "method=fda"], ["--set method: opls has no parameter method; its parameters are"]),
        (["--set", "rige=1"], ["opls has no parameter rige; did you mean --set ridge=...?"]),
        (["-m", "kernelized", "--set", "unknown=drop"], ["did you mean --set method__unknown=...?"]),
        (["--set", "ridge=-1"], ["OPLS: ridge=-1 is not allowed"]),
        (["--set", "ridge__x=1"], ["--set ridge__x: ridge of opls is not a method; name one first"]),
        (["-m", "ssdr", "--set", "supervised__ridge=1"], ["name one first (--set supervised=NAME)"]),
        (["-m", "ssdr", "--set", "supervised=1"], ["--set supervised=1 must name one method"]),
        (["--set", "ridge=" + "9" * 5000], ["--set ridge: the value of 5,000 characters cannot be read"]),
        (["--set", "ridge=" + "[" * 100_000], ["--set ridge: the value of 100,000 characters cannot be read"]),
        (["-m", "LaplacianEigenmaps(weights='reconstruction')"], ["has no weights for the links of new rows"]),
        (["-m", "laplacianeigenmaps", "--set", "normalization=none"], ["has no rule for new rows"]),
        (["--standard-split"], ["tags names no standard split"]),
        (["-o", "m.pkl"], ["-o 'm.pkl' must end in .skops"]),
        (["-o", "none/m.skops"], ["none/m.skops: its folder does not exist"]),
        (["-o", "taken.skops"], ["taken.skops: this is a folder"]),
        (["--labels", "tpic_*"], ["tpic_*"]),
        (["--max-work", "1e-9"], ["forecast ", " of 1e-09 units of work (seconds of one core): use --max-work "]),
    ],
)
def test_bad_options_end_with_one_line_and_write_nothing(tags, tmp_path, monkeypatch, options, parts):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken.skops").mkdir()
    refused(program("fit", tags, *FIT, *options), *parts)
    assert sorted(os.listdir(tmp_path)) == ["tags.csv", "taken.skops"]


def test_the_place_is_checked_before_the_file_is_read(tmp_path):
    refused(program("fit", tmp_path / "absent.csv", "-o", tmp_path / "none" / "m.skops"), "its folder does not exist")


@pytest.mark.parametrize("fault", [OSError(28, "No space left on device"), PermissionError(13, "Permission denied")])
def test_a_full_disk_leaves_the_old_model(tmp_path, monkeypatch, fault):
    model = fitted(tmp_path, "-k", 2)
    before = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}

    def fail(*_):
        raise fault

    monkeypatch.setattr(atomic_files.os, "fsync", fail)
    refused(program("fit", tmp_path / "tags.csv", *FIT, "-o", model), "model.skops", fault.strerror)
    assert {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)} == before


def test_another_document_is_not_replaced_by_the_card(tags, tmp_path):
    (tmp_path / "README.md").write_text("# mine")
    refused(program("fit", tags, *FIT, "-o", tmp_path / "README.skops"), "README.md exists and is not a model card")
    assert (tmp_path / "README.md").read_text() == "# mine" and not (tmp_path / "README.skops").exists()


def test_the_verbs_start_without_numerical_libraries():
    code = (
        "import sys\nimport proxembed.cli.fit, proxembed.cli.transform, proxembed.cli.predict\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'skops', 'pyarrow', 'pandas'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
