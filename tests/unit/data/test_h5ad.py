"""AnnData files: labels by columns of obs, new rows by the names of variables, and the embedding in obsm."""

import numpy as np
import pytest

from extras import needed
from proxembed.data import Columns, DataError, read, read_rows, unpacking
from proxembed.data.readers import h5ad
from proxembed.data.readers.h5ad import write_embedding

pytestmark = pytest.mark.filterwarnings("ignore:The 'future.infer_string' option")  # which anndata sets


def written(path, types, donors, X, genes, ids):
    anndata, pd = needed("anndata"), needed("pandas")
    with anndata.settings.override(allow_write_nullable_strings=True):  # those of pandas 3
        obs = pd.DataFrame({"cell_type": pd.Categorical(types), "donor": donors}, index=list(ids))
        anndata.AnnData(X, obs, pd.DataFrame(index=genes)).write_h5ad(path)
    return path


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    X = needed("scipy.sparse").csr_matrix(np.eye(3, dtype=np.float32))
    path = tmp_path_factory.mktemp("cells") / "cells.h5ad"
    return written(path, list("BTB"), list("ppq"), X, ["g1", "g2", "g3"], "uvw")


def test_labels_groups_and_new_rows(file):
    data = read(file, columns=Columns(labels=("obs:cell_type",), groups="donor"))
    assert data.label_names == ("B", "T") and data.feature_names == ("g1", "g2", "g3") and data.ids == ("u", "v", "w")
    assert data.groups.tolist() == [0, 0, 1] and data.name == "cells"
    assert (read(file, "cell_type").Y != data.Y).nnz == 0
    X, ids = read_rows(file, data.source | {"names": ["g3", "g1"], "n_features": 2})
    assert X.toarray().tolist() == [[0, 1], [0, 0], [1, 0]] and ids == data.ids


def test_what_does_not_fit_is_refused(file, tmp_path, monkeypatch):
    for columns, message in (
        (
            Columns(),
            "no labels are named; its obs holds 'cell_type', 'donor'; name one of them, such as labels='cell_type'",
        ),
        (Columns(labels=("kind",)), "labels 'kind' names no column"),
        (
            Columns(labels=("donor",), text="x"),
            "text was given, but of an .h5ad file only labels, targets and groups are named",
        ),
    ):
        with pytest.raises(DataError, match=message):
            read(file, columns=columns)
    with pytest.raises(DataError, match="column 'g4' of the training file is missing"):
        read_rows(file, {"format": "h5ad", "names": ["g4"], "n_features": 1})
    (tmp_path / "t.h5ad").write_bytes(file.read_bytes()[:900])
    with pytest.raises(DataError, match=r"t.h5ad: it cannot be read as an AnnData file \(.*; fetch it again"):
        read(tmp_path / "t.h5ad", "donor")
    monkeypatch.setattr(h5ad, "most_unpacked", lambda: 100)
    with pytest.raises(DataError, match="its arrays would take .*, above 100 bytes, the most that may be unpacked"):
        read(file, "donor")
    assert unpacking.most_unpacked() > 100


@pytest.mark.parametrize("dense", [False, True])
def test_a_second_file_holds_the_test_rows(file, tmp_path, dense):
    X = np.array([[2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0]], dtype=np.float32)
    X = X if dense else needed("scipy.sparse").csr_matrix(X)
    test = written(tmp_path / "cells-test.h5ad", ["T", None], list("qr"), X, ["g3", "other", "g2", "g1"], "xy")
    data = read(file, "cell_type", test=test, columns=Columns(groups="donor"))
    assert data.X.toarray()[3:].tolist() == [[5, 4, 2], [9, 8, 6]] and data.feature_names == ("g1", "g2", "g3")
    assert data.label_names == ("B", "T") and data.Y.toarray()[:4].tolist() == [[1, 0], [0, 1], [1, 0], [0, 1]]
    assert data.unknown.toarray()[:, 0].tolist() == [False] * 4 + [True]
    assert data.train_idx.tolist() == [0, 1, 2] and data.test_idx.tolist() == [3, 4]
    assert data.groups.tolist() == [0, 0, 1, 1, 2] and data.ids == tuple("uvwxy") and data.name == "cells"
    few = written(tmp_path / "few.h5ad", ["T"], ["q"], np.ones((1, 2)), ["g3", "g1"], "x")
    with pytest.raises(DataError, match="few.h5ad: column 'g2' of the training file is missing"):
        read(file, "cell_type", test=few)
    with pytest.raises(DataError, match="cells.h5ad: column 'kind' of obs of the training file is missing"):
        kinds = needed("anndata").read_h5ad(few)
        kinds.obs["kind"] = ["a"]
        kinds.write_h5ad(tmp_path / "kinds.h5ad")
        read(tmp_path / "kinds.h5ad", "kind", test=file)


def test_numbers_of_obs_are_targets(file, tmp_path):
    adata = needed("anndata").read_h5ad(file)
    adata.obs["age"] = np.arange(len(adata)) + 0.5
    adata.write_h5ad(tmp_path / "aged.h5ad")
    outputs = read(tmp_path / "aged.h5ad", targets="obs:age").outputs
    assert np.asarray(outputs)[:, 0].tolist() == [0.5, 1.5, 2.5]


def test_the_embedding_is_written_back(file, tmp_path):
    Z = np.arange(6.0).reshape(3, 2)
    write_embedding(file, tmp_path / "out.h5ad", Z)
    adata = needed("anndata").read_h5ad(tmp_path / "out.h5ad")
    assert np.array_equal(adata.obsm["X_proxembed"], Z) and list(adata.obs["donor"]) == list("ppq")
    assert "X_proxembed" not in needed("anndata").read_h5ad(file).obsm
