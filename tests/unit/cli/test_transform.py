"""`proxembed transform`: new rows by their column names, the same numbers in every format, refusals in one line."""

import csv
import io
import json
import os
import sys

import numpy as np
import pytest
from sklearn.preprocessing import FunctionTransformer

from proxembed import OPLS, PCA, fit_on
from proxembed.data import Dataset
from proxembed.measures.neighbors import cosine_frame, framed
from proxembed.methods.pipeline import source_of
from proxembed.persist import load, save
from proxembed.workflow.record import saved_model
from runs import succeeded
from unit.cli.model_files import X, Y, features, fitted, new_csv, program, refused, write_csv


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a model, its training file and new rows; tests do not change them."""
    folder = tmp_path_factory.mktemp("made")
    fitted(folder, "-k", 2)
    new_csv(folder / "new.csv")
    return folder


def expected(made):
    return load(made / "model.skops")[:-1].transform(X[:9])


@pytest.mark.parametrize("suffix", [".npz", ".csv", ".parquet"])
def test_every_format_holds_the_ids_and_the_same_numbers(made, tmp_path, suffix):
    out = tmp_path / f"z{suffix}"
    succeeded(program("transform", made / "model.skops", made / "new.csv", "-o", out))
    if suffix == ".npz":
        with np.load(out) as arrays:
            Z, ids = arrays["Z"], arrays["ids"].tolist()
    elif suffix == ".csv":
        with open(out, newline="", encoding="utf-8") as lines:
            header, *rows = csv.reader(lines)
        assert header == ["id", "z0", "z1"]
        Z, ids = np.array([row[1:] for row in rows], dtype=float), [row[0] for row in rows]
    else:
        import pyarrow.parquet

        table = pyarrow.parquet.read_table(out).to_pydict()
        assert list(table) == ["id", "z0", "z1"]
        Z, ids = np.column_stack([table["z0"], table["z1"]]), table["id"]
    np.testing.assert_array_equal(Z, expected(made))
    assert ids == [f"n{i}" for i in range(9)]


def test_the_default_name_and_json(made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = program("transform", made / "model.skops", made / "new.csv", "--json")
    assert json.loads(done.stdout) == {"rows": 9, "components": 2, "written": "new-embedding.npz"}
    assert os.listdir(tmp_path) == ["new-embedding.npz"]


def test_rows_without_ids_get_none(made, tmp_path):
    np.savez(tmp_path / "train.npz", X=X, Y=Y)
    program("fit", tmp_path / "train.npz", "-k", 2, "-o", tmp_path / "m.skops")
    np.savez(tmp_path / "new.npz", X=X[:4])
    succeeded(program("transform", tmp_path / "m.skops", tmp_path / "new.npz", "-o", tmp_path / "z.npz"))
    with np.load(tmp_path / "z.npz") as arrays:
        assert list(arrays) == ["Z"] and arrays["Z"].shape == (4, 2)


def test_a_missing_feature_is_named_and_old_output_stays(made, tmp_path):
    columns = features(slice(0, 3))
    del columns["x4"]
    write_csv(tmp_path / "short.csv", {**columns, "doc": ["a", "b", "c"]})
    (tmp_path / "z.csv").write_text("old")
    done = program("transform", made / "model.skops", tmp_path / "short.csv", "-o", tmp_path / "z.csv")
    refused(done, "short.csv", "x4")
    assert (tmp_path / "z.csv").read_text() == "old"


@pytest.mark.parametrize(
    ("out", "parts"),
    [
        ("z.txt", ["must end in one of .npz, .csv, .parquet"]),
        ("none/z.csv", ["its folder does not exist"]),
        ("taken.csv", ["this is a folder"]),
    ],
)
def test_a_bad_place_is_refused_before_the_model_is_read(made, tmp_path, monkeypatch, out, parts):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken.csv").mkdir()
    refused(program("transform", tmp_path / "absent.skops", made / "new.csv", "-o", out), *parts)


def test_the_files_that_are_read_are_never_replaced(made, tmp_path):
    new = new_csv(tmp_path / "new.csv")
    before = new.read_bytes()
    refused(program("transform", made / "model.skops", new, "-o", new), "is a file that is read; name another one")
    assert new.read_bytes() == before


@pytest.mark.parametrize("verb", ["transform", "predict"])
@pytest.mark.parametrize(
    ("content", "reason"),
    [(None, "No such file"), (b"", "is not a saved model"), (b"x,y\n1,2\n", "is not a saved model")],
)
def test_what_is_no_model_is_refused(made, tmp_path, verb, content, reason):
    model = tmp_path / "bad.skops"
    if content is not None:
        model.write_bytes(content)
    refused(program(verb, model, made / "new.csv", "-o", tmp_path / "z.csv"), "bad.skops", reason)
    assert not (tmp_path / "z.csv").exists()


def test_a_model_that_does_not_know_its_columns_is_refused(made, tmp_path):
    save(PCA().fit(X), tmp_path / "m.skops")
    done = program("transform", tmp_path / "m.skops", made / "new.csv", "-o", tmp_path / "z.csv")
    refused(done, "m.skops does not record how its training rows were read", "load it in Python")


def test_another_version_is_a_note(made, tmp_path, monkeypatch):
    import proxembed.persist.model_file as model_file

    real = model_file.version
    monkeypatch.setattr(model_file, "version", lambda name: "99.0" if name == "proxembed" else real(name))
    done = program("transform", made / "model.skops", made / "new.csv", "-o", tmp_path / "z.csv")
    assert done.exit_code == 0 and "and this is 99.0; results may differ" in done.stderr
    assert done.stderr.startswith("proxembed: note: ") and len(done.stderr.strip().splitlines()) == 1


def test_the_encoder_of_a_model_is_loaded_where_its_name_is_trusted(tmp_path, monkeypatch):
    (tmp_path / "row_lengths.py").write_text("def halved(rows):\n    return rows / 2\n")
    monkeypatch.syspath_prepend(tmp_path)
    from row_lengths import halved

    data = Dataset(X, Y)
    model = fit_on(PCA(n_components=2), data, encoder=FunctionTransformer(halved), readout=False)
    save(model, tmp_path / "m.skops", source=source_of(data))
    np.save(tmp_path / "new.npy", X[:9])
    given = ("transform", tmp_path / "m.skops", tmp_path / "new.npy", "-o", tmp_path / "z.npz")
    monkeypatch.delitem(sys.modules, "row_lengths")
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place not in ("", str(tmp_path))])
    monkeypatch.chdir(tmp_path)  # whose modules may be named
    refused(program(*given), "holds 'row_lengths.halved'", "--trust row_lengths.halved in the program")
    succeeded(program(*given, "--trust", "row_lengths.halved"))
    with np.load(tmp_path / "z.npz") as arrays:
        np.testing.assert_array_equal(arrays["Z"], model.transform(X[:9]))


def test_vectors_whose_plain_cosines_are_those_of_the_search(tmp_path, made):
    dataset = Dataset(X, Y)
    model = fit_on(PCA(n_components=2), dataset)
    (tmp_path / "model.skops").write_bytes(saved_model(model, dataset, dataset, tmp_path, None, "x")["model.skops"])
    np.savez(tmp_path / "new.npz", X=X[:9])
    given = "transform", tmp_path / "model.skops", tmp_path / "new.npz", "-o"
    done = program(*given, tmp_path / "c.npz", "--cosine")
    assert done.exit_code == 0, (done.output, done.exception)
    Z = model[:-1].transform(X)
    with np.load(tmp_path / "c.npz") as arrays:
        np.testing.assert_allclose(arrays["Z"], framed(Z[:9], *cosine_frame(Z)))
    succeeded(program(*given, tmp_path / "c.csv", "--cosine"))
    assert (tmp_path / "c.csv").read_text().startswith("z0,z1,constant\n")
    refused(program("transform", made / "model.skops", made / "new.csv", "--cosine", "-o", tmp_path / "n.csv"),
            "does not record the mean of its rows", "leave --cosine out")  # fmt: skip


def test_a_model_whose_neighbours_are_judged_by_distance_has_no_cosines(tmp_path):
    dataset = Dataset.from_targets(X, X[:, :2] @ [[1.0, 2.0], [0.5, -1.0]] + 1e-3 * X[:, 2:4])
    model = fit_on(OPLS(n_components=2), dataset)
    files = saved_model(model, dataset, dataset, tmp_path, None, "x")
    (tmp_path / "model.skops").write_bytes(files["model.skops"])
    with np.load(io.BytesIO(files["embedding.npz"])) as arrays:
        assert "Z" in arrays and "mean" not in arrays
    np.savez(tmp_path / "new.npz", X=X[:9])
    given = "transform", tmp_path / "model.skops", tmp_path / "new.npz", "--cosine", "-o", tmp_path / "c.npz"
    refused(program(*given), "neighbours are found by cosine", "leave --cosine out")
