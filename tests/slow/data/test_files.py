"""Small files of other people through a search and the transform of its model; an encoder of the user's own."""

import pytest
from typer.testing import CliRunner

from data.files.make_files import CLS, FILES, write_files
from extras import needed
from proxembed.cli import app

pytestmark = pytest.mark.filterwarnings("ignore:The 'future.infer_string' option")  # which anndata sets


def called(*args):
    found = CliRunner().invoke(app, list(map(str, args)))
    assert found.exit_code == 0, found.output
    return found


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_searched_and_its_rows_are_embedded(tmp_path, name):
    if FILES[name].needs:
        needed(FILES[name].needs)
    (file,) = write_files(tmp_path, [name])
    called("search", file, *FILES[name].options, "--max-work", 10, "-o", tmp_path / "found")
    if name == "german_bank.csv":  # of new rows, no last line is left out
        file.write_text("\n".join(file.read_text("cp1252").split("\n")[:63]), encoding="cp1252")
    done = called("transform", tmp_path / "found" / "model.skops", file, "-o", tmp_path / "z.npz")
    assert "60 rows" in done.stdout
    if name.endswith(".h5ad"):
        called("transform", tmp_path / "found" / "model.skops", file, "-o", tmp_path / "out.h5ad")
        adata = needed("anndata").read_h5ad(tmp_path / "out.h5ad")
        assert adata.obsm["X_proxembed"].shape[0] == adata.n_obs


def test_an_encoder_of_the_users_own(tmp_path, monkeypatch):
    (file,) = write_files(tmp_path, ["cp1252.csv"])
    (tmp_path / "own_encoder.py").write_text(
        "from sklearn.compose import make_column_transformer\n"
        "from sklearn.impute import SimpleImputer\n"
        "from sklearn.preprocessing import OneHotEncoder\n"
        "words = OneHotEncoder(handle_unknown='ignore', sparse_output=False)\n"
        "def make():\n"
        "    numbers = (SimpleImputer(), ['age', 'income', 'hours'])\n"
        "    return make_column_transformer(numbers, (words, ['city']))\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*__import__("sys").path])
    for verb in ("search", "compare"):
        work = ["--max-work", 5] if verb == "search" else ["-m", "opls", "--folds", 2]
        called(verb, file, *CLS, "--encoder", "own_encoder:make", *work, "-o", tmp_path / verb)
    model = tmp_path / "search" / "model.skops"
    called("transform", model, file, "-o", tmp_path / "z.csv", "--trust", "numpy.dtype")
    assert len((tmp_path / "z.csv").read_text().splitlines()) == 61
