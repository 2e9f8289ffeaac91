"""AnnData by duck type: where features, labels, names and groups come from, and what is refused."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from proxembed.data import DataError, from_anndata

X = np.arange(12, dtype=np.float32).reshape(4, 3)
OBS = {
    "type": pd.Categorical(["T", "B", None, "T"], categories=["T", "B", "NK"]),
    "is_t": [True, False, False, True],
    "is_big": [1.0, np.nan, 0.0, 1.0],
    "donor": ["d2", "d1", "d1", "d2"],
    "dose": [0.5, 1.0, 2.0, 0.1],
    "hole": ["u", None, "u", "v"],
}
NAMES = ["cell1", "cell2", "cell3", "cell4"]


def cells(**changes):
    fields = {"X": X, "obs": pd.DataFrame(OBS, index=NAMES), "obs_names": pd.Index(NAMES)}
    fields |= {"var_names": pd.Index(["g1", "g2", "g3"]), "layers": {"counts": sparse.csr_matrix(X)}}
    fields |= {"obsm": {"X_pca": X[:, :2].astype(float), "frame": pd.DataFrame(X[:, :1])}}
    return SimpleNamespace(**(fields | changes))


def test_classes_of_one_column_with_an_unknown_row():
    data = from_anndata(cells(), "type")
    np.testing.assert_array_equal(data.X, X)
    assert data.X.dtype == np.float32 and data.feature_names == ("g1", "g2", "g3")
    assert data.label_names == ("B", "T") and data.Y.toarray().tolist() == [[0, 1], [1, 0], [0, 0], [0, 1]]
    assert data.unknown.toarray().tolist() == [[False] * 2, [False] * 2, [True] * 2, [False] * 2]


def test_several_columns_of_zero_and_one():
    data = from_anndata(cells(), "is_*")
    assert data.label_names == ("is_t", "is_big") and data.Y.toarray().tolist() == [[1, 1], [0, 0], [0, 0], [1, 1]]
    assert data.unknown.toarray().tolist() == [[False, False], [False, True], [False, False], [False, False]]
    assert from_anndata(cells(), ["is_t"]).label_names == ("is_t",)


def test_names_and_groups_of_rows():
    data = from_anndata(cells(), "type", groups="donor")
    assert data.ids == ("cell1", "cell2", "cell3", "cell4")
    assert len(set(data.groups)) == 2 and data.groups[0] == data.groups[3] != data.groups[1] == data.groups[2]
    bare = from_anndata(cells(obs_names=None), "type")
    assert bare.ids is None and bare.groups is None


def test_layers_and_embeddings_as_features():
    data = from_anndata(cells(X=None), "type", layer="counts")
    assert isinstance(data.X, sparse.csr_array) and (data.X.toarray() == X).all() and data.feature_names[0] == "g1"
    data = from_anndata(cells(), "type", obsm="X_pca")
    assert data.feature_names == ("X_pca0", "X_pca1") and (data.X == X[:, :2]).all()
    assert from_anndata(cells(), "type", obsm="frame").X.shape == (4, 1)


def test_the_least_that_will_do():
    data = from_anndata(SimpleNamespace(X=X.tolist(), obs={"y": ["a", "b", "a", "b"]}, var_names=["u", "v", "w"]), "y")
    assert data.X.shape == (4, 3) and data.ids is None and data.single_label


def test_a_matrix_on_disk_is_brought_to_memory():
    on_disk = SimpleNamespace(shape=X.shape, to_memory=lambda: sparse.csr_matrix(X))
    assert (from_anndata(cells(X=on_disk), "type").X.toarray() == X).all()


def test_columns_of_classes_are_outputs():
    outputs = from_anndata(cells(), ["is_t", "donor"]).outputs
    assert [column.kind for column in outputs.layout.columns] == ["labels", "classes"]


@pytest.mark.parametrize(
    ("changes", "options", "message"),
    [
        ({}, {"labels": "cluster"}, "labels 'cluster' names no column of the table; its columns are 'type', 'is_t'"),
        ({}, {"labels": []}, "no column is named as a label"),
        ({}, {"labels": "dose"}, "label 'dose' is the fraction '0.5'; numbers are not labels"),
        ({}, {"groups": "hole"}, "row 1: groups column 'hole' is empty; fill it in or drop the row"),
        ({}, {"groups": "gone"}, "groups 'gone' names no column of the table"),
        ({}, {"layer": "raw"}, "layers holds no 'raw'; choose from: 'counts'"),
        ({"layers": None}, {"layer": "raw"}, "layers holds no 'raw'; choose from: 'none'"),
        ({}, {"obsm": "X_umap"}, "obsm holds no 'X_umap'; choose from: 'X_pca, frame'"),
        ({"X": None}, {}, "its X is None; name a layer or an entry of obsm"),
        ({"var_names": ["g1"]}, {}, "feature_names holds 1 names for 3 columns"),
    ],
)
def test_what_is_refused(changes, options, message):
    with pytest.raises(DataError) as caught:
        from_anndata(cells(**changes), **{"labels": "type"} | options)
    assert message in str(caught.value)


def test_layer_and_embedding_are_not_both_features():
    with pytest.raises(DataError, match="layer='counts' and obsm='X_pca' both name features; give one of them"):
        from_anndata(cells(), "type", layer="counts", obsm="X_pca")


@pytest.mark.parametrize("name", ["obs", "var_names", "X"])
def test_an_object_of_another_kind(name):
    other = cells()
    delattr(other, name)
    with pytest.raises(DataError, match=f"the SimpleNamespace given: it has no {name}; give an AnnData object"):
        from_anndata(other, "type")
