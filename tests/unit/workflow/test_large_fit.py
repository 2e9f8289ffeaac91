"""Tables that exceed the memory: scaling and embedding are those of all rows, the read-out that of a sample."""

import csv
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from proxembed import FDA, LPP, OPLS, ReadoutAxes, TargetSpace
from proxembed.cli import app
from proxembed.data import Columns, DataError, read
from proxembed.data.large_table import LargeTable, stratified_rows
from proxembed.data.table_writer import TableWriter
from proxembed.features.scaling import ColumnSums
from proxembed.methods.pipeline import fit_on
from proxembed.persist import load
from proxembed.workflow import large_fit as large_fits
from proxembed.workflow.large_fit import PassingSums, fits_from_sums, large_fit
from proxembed.workflow.one_fit import method_with
from runs import succeeded
from unit.cli.model_files import program, refused

pytestmark = pytest.mark.default_configuration

N, NAMES = 4000, ("sea", "sky")
rng = np.random.default_rng(0)
X = rng.normal(size=(N, 5)) + [0, 10, 0, 0, 0]
Y = (X[:, :2] + rng.normal(size=(N, 2)) > [0.5, 11]).astype(int)
CLASSES = np.array(["low", "mid", "high"])[np.digitize(X[:, 0] + 0.5 * rng.normal(size=N), [-1, 1])]


def written(path, labels: dict, kind=None):
    columns = {"row": [f"r{i}" for i in range(N)], **{f"x{j}": X[:, j] for j in range(5)}, **labels}
    with TableWriter(path) as table:
        for first in range(0, N, 1500):
            own = slice(first, first + 1500)
            table.add(
                {name: values[own] for name, values in columns.items()} | ({} if kind is None else {"kind": kind[own]})
            )
    return path


INDICATOR = {"sea": Y[:, 0], "sky": Y[:, 1]}


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_the_embedding_is_that_of_all_rows_and_the_sample_is_what_memory_holds(tmp_path, suffix):
    file = written(tmp_path / f"t{suffix}", INDICATOR)
    large = large_fit(file, Columns(labels=NAMES, id="row"), memory=120_000)
    drawn = large.sample.X.shape[0]
    assert large.table.n == N and 256 <= drawn < N / 4
    model = large.fit(OPLS(ridge=0.1), "none")
    whole = OPLS(ridge=0.1).fit(X, Y)
    np.testing.assert_allclose(model["embedding"].eigenvalues_, whole.eigenvalues_, rtol=1e-8)
    np.testing.assert_allclose(np.abs(model.transform(X[:50])), np.abs(whole.transform(X[:50])), rtol=1e-6, atol=1e-8)
    assert (model.predict(X) == Y).mean() > 0.75 and model.label_names_ == NAMES
    assert set(large.sample.ids) <= {f"r{i}" for i in range(N)} and large.sample.name == "t"


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_scaling_and_embedding_are_those_of_a_fit_in_memory(tmp_path, suffix):
    file = written(tmp_path / f"t{suffix}", INDICATOR)
    columns, told = Columns(labels=NAMES, id="row"), []
    large = large_fit(file, columns, memory=120_000)
    model = large.fit(OPLS(), "standard", lambda *given: told.append(given))
    whole = fit_on(OPLS(), read(file, columns=columns), scaling="standard")
    np.testing.assert_allclose(model["scaling"].state_.std, whole["scaling"].state_.std, rtol=1e-12)
    np.testing.assert_allclose(model["scaling"].state_.mean, X.mean(axis=0), rtol=1e-12)
    assert model["embedding"].ridge_ == pytest.approx(whole["embedding"].ridge_, rel=1e-8)
    np.testing.assert_allclose(model.transform(X[:50]), whole.transform(X[:50]), rtol=1e-6, atol=1e-8)
    readings = list(dict.fromkeys(text.split(",")[0] for _, _, text in told))
    first = [] if suffix == ".parquet" else ["scaling: reading 1"]  # of Parquet, while the sample is drawn
    assert readings == [*first, "embedding: reading 1", "embedding: reading 2"]
    assert [done for done, _, _ in told].count(N) == len(readings) and {total for _, total, _ in told} == {N}


def test_one_row_of_two_labels_outside_the_sample_is_seen(tmp_path):
    """The sample alone shows one class per row; the table does not."""
    one = np.zeros((N, 2), dtype=int)
    one[np.arange(N), rng.integers(2, size=N)] = 1
    one[3] = 1
    file = written(tmp_path / "t.parquet", dict(zip(NAMES, one.T, strict=True)))
    seed = next(
        s for s in range(20) if "r3" not in large_fit(file, Columns(labels=NAMES, id="row"), 60_000, 300, s).sample.ids
    )
    large = large_fit(file, Columns(labels=NAMES, id="row"), 60_000, 300, seed)
    assert large.sample.single_label and not large.table.single_label
    model = large.fit(OPLS(ridge=0.1), "none")
    np.testing.assert_allclose(model["embedding"].eigenvalues_, OPLS(ridge=0.1).fit(X, one).eigenvalues_, rtol=1e-6)
    assert model.predict(X[:4]).shape == (4, 2)


def test_classes_and_tables_with_categories(tmp_path):
    kind = rng.choice(["a", "b"], size=N)
    file = written(tmp_path / "t.parquet", {"class": CLASSES}, kind)
    large = large_fit(file, Columns(labels=("class",), id="row"), memory=400_000, sample=600)
    assert large.sample.X.shape[0] == 600
    model = large.fit(FDA())
    data = large.sample
    assert model["embedding"].n_components_ == 2
    assert (model.predict(data.X) == np.array(data.label_names)[data.Y.tocsr().indices]).mean() > 0.6


@pytest.mark.parametrize(("suffix", "empty"), [(".csv", ""), (".parquet", None)])
def test_unknown_labels_are_left_out_as_in_memory(tmp_path, suffix, empty):
    y = Y.astype(float)
    y[[5, 3000]] = np.nan
    y[7, 1] = np.nan
    cells = [[empty if np.isnan(cell) else str(int(cell)) for cell in column] for column in y.T]
    file = written(tmp_path / f"t{suffix}", dict(zip(NAMES, cells, strict=True)))
    large = large_fit(file, Columns(labels=NAMES, id="row"), memory=120_000)
    with pytest.warns(UserWarning, match="2 of .* rows have no known label"):
        model = large.fit(OPLS(ridge=0.1), "none")
    known = ~np.isnan(y).all(axis=1)
    whole = OPLS(ridge=0.1).fit(X[known], y[known])
    np.testing.assert_allclose(model["embedding"].eigenvalues_, whole.eigenvalues_, rtol=1e-8)


def by_parts(monkeypatch, sample=500):
    """From here on a table of these tests is a large one, of which a sample is drawn."""
    monkeypatch.setattr(large_fits, "WHOLE_BYTES", 100_000)
    monkeypatch.setattr(large_fits, "SAMPLE_ROWS", sample)


def test_a_large_table_that_fits_is_read_by_parts_where_sums_suffice(tmp_path, monkeypatch):
    file, columns, asked = written(tmp_path / "t.parquet", INDICATOR), Columns(labels=NAMES, id="row"), []

    def suffice(single):
        asked.append(single)
        return True

    assert large_fit(file, columns, by_sums=suffice) is None and not asked, "a small one"
    by_parts(monkeypatch)
    found = large_fit(file, columns, by_sums=suffice)
    assert found.table.n == N and found.sample.X.shape[0] == 500 and asked == [False]
    assert large_fit(file, columns, memory=10**9, sample=600, by_sums=suffice).sample.X.shape[0] == 600
    assert large_fit(file, columns, by_sums=lambda single: False) is None
    assert large_fit(file, columns) is None, "where the method is not known"
    assert large_fit(file, columns, sample=N, by_sums=suffice) is None, "the sample would be the table"
    small = large_fit(file, columns, memory=120_000, by_sums=suffice)
    assert 256 <= small.sample.X.shape[0] < 500, "what memory holds"
    text = written(tmp_path / "t.csv", INDICATOR)
    assert large_fit(text, columns, by_sums=suffice) is None, "parsed again by every reading"
    one = written(tmp_path / "c.parquet", {"class": CLASSES})
    large_fit(one, Columns(labels=("class",), id="row"), by_sums=suffice)
    assert asked[-1] is True


def test_parts_are_small_whatever_the_memory(tmp_path, monkeypatch):
    by_parts(monkeypatch)
    monkeypatch.setattr(large_fits, "PART_BYTES", 120_000)
    file, columns = written(tmp_path / "t.parquet", INDICATOR), Columns(labels=NAMES, id="row")
    assert large_fit(file, columns, by_sums=lambda single: True).rows == 120_000 // (8 * 6 * 5)


@pytest.mark.parametrize(
    ("name", "several"), [("opls", True), ("pls", True), ("mope", True), ("fda", True), ("fda", False)]
)
def test_methods_of_sums_are_known(name, several):
    assert fits_from_sums(method_with(name, None, {}, 0, several_labels=several))


@pytest.mark.parametrize(
    ("name", "settings"), [("lpp", {}), ("kernelized", {"n_prototypes": 50}), ("layout", {}), ("views", {})]
)
def test_methods_of_more_than_sums_are_known(name, settings):
    assert not fits_from_sums(method_with(name, None, settings, 0, several_labels=True))


@pytest.mark.parametrize(("method", "labels"), [("opls", INDICATOR), ("fda", {"class": CLASSES})])
def test_the_program_fits_a_large_file_by_parts_as_it_fits_it_whole(tmp_path, monkeypatch, method, labels):
    file = written(tmp_path / "t.parquet", labels)
    words = ["fit", file, "--labels", ",".join(labels), "--id", "row", "-m", method, "--json", "-o"]
    whole = program(*words, tmp_path / "whole.skops")
    by_parts(monkeypatch)
    parts = program(*words, tmp_path / "parts.skops")
    assert whole.exit_code == parts.exit_code == 0, (whole.output, parts.output)
    one, two = json.loads(whole.stdout), json.loads(parts.stdout)
    assert two["sample"] == 500 and two["scaled_by"] == "all" and "sample" not in one
    changing = ("sample", "scaled_by", "read_out_by", "seconds", "written")
    assert {name: one[name] for name in one if name not in changing} == {
        name: two[name] for name in two if name not in changing
    }
    assert "4,000 rows are read by parts; choices use a sample of 500" in parts.stderr
    model, other = load(tmp_path / "whole.skops"), load(tmp_path / "parts.skops")
    Z, found = model.transform(X), other.transform(X)
    np.testing.assert_allclose(found, Z, rtol=0, atol=1e-8 * np.abs(Z).max())
    assert (np.asarray(other.predict(X)) == np.asarray(model.predict(X))).mean() > 0.9


def test_a_large_file_of_a_method_of_all_rows_is_read_as_a_whole(tmp_path, monkeypatch):
    by_parts(monkeypatch)
    file, out = written(tmp_path / "t.parquet", INDICATOR), tmp_path / "m.skops"
    words = ["--labels", "sea,sky", "--id", "row", "-m", "lpp", "-o", out, "--json"]
    done = succeeded(program("fit", file, *words))
    assert "sample" not in json.loads(done.stdout) and "by parts" not in done.stderr


NUMBERS = {
    "float32": rng.normal(size=N).astype("float32"),
    "float64": rng.normal(size=N) + 1e4,
    "whole": rng.integers(-9, 9, N),
    "byte": rng.integers(0, 2, N).astype("uint8"),
    "truth": rng.random(N) > 0.5,
}


def test_sums_of_the_drawn_columns_are_those_of_a_reading(tmp_path):
    file = tmp_path / "t.parquet"
    pq.write_table(pa.table(NUMBERS | {"words": [str(j % 7) for j in range(N)], **INDICATOR}), file, row_group_size=900)
    table = LargeTable(file, Columns(labels=NAMES))
    sums = PassingSums(table.numbers)
    table.sample(100, 0, sums.add)
    wanted = ["byte", "float64", "truth", "whole", "float32"]
    rows = np.column_stack([NUMBERS[name].astype(float) for name in wanted])
    found, whole = sums.of(wanted).moments(), ColumnSums.of(rows).moments()
    np.testing.assert_allclose(found[0], whole[0], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found[1], whole[1], rtol=1e-12)
    assert sums.of(["words"]) is None and sums.of(["sea"]) is None, "no number, and no feature"


def test_sums_of_columns_with_empty_cells_are_not_taken(tmp_path):
    cells = [None if row == 3000 else float(row % 7) for row in range(N)]
    file = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": X[:, 0], "c": cells, **INDICATOR}), file)
    table = LargeTable(file, Columns(labels=NAMES))
    sums = PassingSums(table.numbers)
    table.sample(100, 0, sums.add)
    assert sums.of(["x"]) is not None and sums.of(["x", "c"]) is None


def test_methods_that_need_all_rows_are_refused_in_words(tmp_path):
    large = large_fit(written(tmp_path / "t.csv", INDICATOR), Columns(labels=NAMES, id="row"), memory=120_000)
    told = []
    for method in (LPP(), TargetSpace(), ReadoutAxes(OPLS())):
        with pytest.raises(ValueError, match=rf"{type(method).__name__} cannot be fitted on blocks: .* rows"):
            large.fit(method, "standard", lambda *given: told.append(given))
    assert told == [], "nothing was read in vain"
    words = ["--labels", "sea,sky", "--id", "row", "--memory", "120kB", "-m", "lpp", "-o", tmp_path / "m.skops"]
    done = program("fit", tmp_path / "t.csv", *words)
    assert done.exit_code == 2 and "Give more --memory, or use a method" in done.stderr


def test_the_program_fits_says_what_was_sampled_and_the_model_serves(tmp_path):
    file, out = written(tmp_path / "t.parquet", INDICATOR), tmp_path / "m.skops"
    words = ["fit", file, "--labels", "sea,sky", "--id", "row", "--memory", "120 kB", "-o", out, "--json"]
    done = succeeded(program(*words))
    facts = json.loads(done.stdout)
    assert facts["rows"] == N and facts["sample"] < N / 4
    assert f"4,000 rows are read by parts; choices use a sample of {facts['sample']:,}" in done.stderr
    card = (tmp_path / "m.md").read_text()
    assert "of 4,000: the embedding and scaling are fitted on all of them, the read-out on the sample" in card
    assert load(out).transform(X[:3]).shape == (3, 2)
    assert program("predict", out, file, "-o", tmp_path / "y.csv", "--memory", "100kB").exit_code == 0
    with open(tmp_path / "y.csv", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [row["id"] for row in rows] == [f"r{i}" for i in range(N)]
    assert np.mean([int(row["sea"]) == y for row, y in zip(rows, Y[:, 0], strict=True)]) > 0.75
    shown = program(*words[:-1])
    assert f"4,000 rows (read-out of {facts['sample']:,}), 5 features, 2 labels" in shown.stdout


def test_what_cannot_be_read_by_parts_is_told(tmp_path):
    np.savez(tmp_path / "t.npz", X=X, Y=Y)
    assert large_fit(tmp_path / "t.npz", Columns(), memory=1) is None, "read as a whole, as ever"
    with pytest.raises(DataError, match="only tables are read in parts"):
        LargeTable(tmp_path / "t.npz", Columns())
    file = written(tmp_path / "t.csv", INDICATOR)
    refused(program("fit", file, "--labels", "tree", "--memory", "1kB", "-o", tmp_path / "m.skops"), "tree")


def test_a_sample_shows_rare_labels_and_follows_the_seed():
    import scipy.sparse as sp

    columns = np.zeros((N, 3), dtype=np.uint8)
    columns[[7, 1234, 3999], 0] = columns[: N // 2, 1] = columns[100:150, 2] = 1
    rows = stratified_rows(sp.csr_array(columns), 200, 1)
    assert len(rows) == 200 and np.array_equal(rows, np.unique(rows)) and {7, 1234, 3999} <= set(rows.tolist())
    assert columns[rows, 2].sum() >= 20 and 0.3 < columns[rows, 1].mean() < 0.7
    assert np.array_equal(rows, stratified_rows(sp.csr_array(columns), 200, 1))
    assert not np.array_equal(rows, stratified_rows(sp.csr_array(columns), 200, 2))
    assert len(stratified_rows(sp.csr_array(columns), 5, 0)) == 43, "three, twenty and twenty, more than asked"


def searched(folder, method):
    """The folder of a search of a large table for one method, and its record."""
    file, out = written(folder / "t.parquet", INDICATOR), folder / "out"
    words = ["--labels", "sea,sky", "--id", "row", "--memory", "200 kB", "--folds", "2", "--shuffles", "0", "-k", "2"]
    words += ["--max-trials", "1", "--max-work", "60", "-m", method, "-o", out]
    done = CliRunner().invoke(app, list(map(str, ["search", file, *words])))
    assert done.exit_code == 0, (done.output, done.exception)
    return out, json.loads((out / "results.json").read_text())


def test_a_search_works_on_the_sample_and_saves_the_fit_on_all_rows(tmp_path):
    out, record = searched(tmp_path, "opls")
    assert record["search"]["fitted_on"] == {"rows": N, "all": True} and record["summary"]["dataset"]["n"] < N / 4
    assert "4,000 rows are read by parts; choices use a sample of" in (out / "index.html").read_text()
    assert "are a sample of 4,000" in (out / "model.md").read_text()
    model = load(out / "model.skops")
    scaled = model["scaling"].transform(X)
    whole = OPLS(n_components=2).fit(scaled, Y)
    np.testing.assert_allclose(model["embedding"].eigenvalues_, whole.eigenvalues_, rtol=1e-6)


def test_a_choice_that_cannot_be_fitted_by_parts_is_fitted_on_the_sample(tmp_path):
    out, record = searched(tmp_path, "lpp")
    assert not record["search"]["fitted_on"]["all"] and record["search"]["fitted_on"]["rows"] < N / 4
    cuts = record["search"]["budget"]["cuts"]
    assert any("on all 4,000 rows; it is on the sample instead: LPP cannot" in cut for cut in cuts)
    told = [text for goals, text in record["summary"]["verdict"]["cut"]["lines"] if goals == "Saved model"]
    assert any("LPP cannot" in text and text.endswith("fewer rows, but no verdict changes") for text in told)
    assert "fitted on all of them" not in (out / "model.md").read_text()


def test_without_names_a_search_tries_what_can_be_fitted_by_parts():
    from proxembed.cli.search import of_large
    from proxembed.workflow.options import SearchOptions

    found = of_large(SearchOptions()).methods
    assert found[:2] == ("opls", "kernelized") and {"mddm", "fda", "mope"} <= set(found)
    assert not {"lpp", "forestleaves", "views", "pca", "mesd", "bsml"} & set(found)
    assert of_large(SearchOptions(methods="lpp")).methods == ("lpp",)
    assert of_large(SearchOptions(engine="defc", max_work=None)).methods is None


def test_copies_are_not_kept_together_in_a_table_that_is_read_by_parts(tmp_path):
    file = written(tmp_path / "t.csv", INDICATOR)
    words = ("search", file, "--labels", "sea,sky", "--memory", "120kB", "--groups", "copies", "-o", tmp_path / "out")
    done = CliRunner().invoke(app, list(map(str, words)))
    said = (
        "--groups copies compares all rows, and these are read by parts; drop the copies in the file, or raise --memory"
    )
    assert done.exit_code == 2 and said in done.stderr, done.stderr
    assert not (tmp_path / "out").exists()
