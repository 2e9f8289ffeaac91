"""New rows in the columns of a training file, whatever the formats of the two."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from proxembed.data import Columns, DataError, Dataset, read, read_rows, row_parts
from proxembed.data.readers import table_file
from proxembed.features.table import table_fit

OLD = "doc,x,kind,e,y\na,1,red,[1 2],0\nb,2,blue,[3 4],1\nc,4,red,[5 6],1\nd,5,blue,[7 8],0\n"
NEW = "e,unheard,kind,doc,x\n[9 8],1,blue,p,0.5\n[7 6],?,red,q,-1\n"
EXPECTED = {"x": [0.5, -1], "kind": ["blue", "red"], "e": [[9, 8], [7, 6]]}


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


def source_of(tmp_path, content=OLD, name="old.csv", **columns):
    (tmp_path / name).write_text(content)
    data = read(tmp_path / name, columns=Columns(labels=("y",), **columns))
    return data, json.loads(json.dumps(data.source))


@pytest.mark.parametrize("block", [None, 1])
def test_a_table_is_read_by_the_names_of_its_columns(tmp_path, monkeypatch, block):
    data, source = source_of(tmp_path, id="doc")
    if block:
        monkeypatch.setattr(table_file, "BLOCK_VALUES", block)
    (tmp_path / "new.csv").write_text(NEW)
    table = {"x": [0.5, -1], "kind": ["blue", "red"], "e": [[9, 8], [7, 6]], "doc": ["p", "q"], "y": ["-", "-"]}
    pq.write_table(pa.table(table), tmp_path / "new.parquet")
    for name in ("new.csv", "new.parquet"):
        X, ids = read_rows(tmp_path / name, source)
        assert {name: X[name].tolist() for name in EXPECTED} == EXPECTED and ids == ("p", "q")


def test_the_training_file_itself_gives_its_matrix(tmp_path):
    data, source = source_of(tmp_path, id="doc")
    X, ids = read_rows(tmp_path / "old.csv", source)
    for name in EXPECTED:
        np.testing.assert_array_equal(X[name], data.X[name])
    assert ids == data.ids


def test_unseen_categories_and_empty_cells_are_taken(tmp_path):
    _, source = source_of(tmp_path, id="doc")
    (tmp_path / "new.csv").write_text("e,kind,doc,x\n,green,p,\n[7 6],,q,2\n")
    X, _ = read_rows(tmp_path / "new.csv", source)
    assert X["kind"].tolist() == ["green", ""] and np.isnan(X["x"]).tolist() == [True, False]
    assert np.isnan(X["e"]).tolist() == [[True, True], [False, False]]


def test_without_an_id_column_there_are_no_ids(tmp_path):
    _, source = source_of(tmp_path, id="doc")
    (tmp_path / "new.csv").write_text(NEW.replace("doc", "other"))
    assert read_rows(tmp_path / "new.csv", source)[1] is None


def test_texts_are_counted_in_the_words_of_the_training_file(tmp_path):
    data, source = source_of(tmp_path, "y,t\n0,the whale sings\n1,whales sing\n", text="t")
    (tmp_path / "new.csv").write_text("t\nsing to the sea\n")
    X, _ = read_rows(tmp_path / "new.csv", source)
    (block,) = table_fit(data.X).words
    assert block.terms == ("sing", "whale") and block.counts(X["t"]).toarray().tolist() == [[1, 0]]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("doc,x", "doc,z", "new.csv: column 'x' of the training file is missing; its columns are 'e'"),
        ("[9 8],1", "[9],1", "new.csv, line 2: '[9]' in column 'e' is not a vector of 2 numbers, as in the training"),
        ("0.5", "half", "new.csv, line 2: 'half' in column 'x' is not a number, as in the training file; correct it"),
    ],
)
def test_new_rows_that_do_not_fit(tmp_path, old, new, message):
    _, source = source_of(tmp_path, id="doc")
    (tmp_path / "new.csv").write_text(NEW.replace(old, new))
    with pytest.raises(DataError) as caught:
        read_rows(tmp_path / "new.csv", source)
    assert message in str(caught.value)


def test_new_rows_of_a_matrix_have_no_empty_cells(tmp_path):
    _, source = source_of(tmp_path, "y,x,e\n0,1,[1 2]\n1,2,[3 4]\n")
    for text, message in {
        "x,e\n,[1 2]\n": "new.csv, line 2: the cell of feature 'x' is empty",
        "x,e\n1,[1 2]\n2,[1]\n": "new.csv, line 3: the vector in column 'e' has 1 values, not 2 as before",
    }.items():
        (tmp_path / "new.csv").write_text(text)
        with pytest.raises(DataError, match=message):
            read_rows(tmp_path / "new.csv", source)


def test_columns_of_other_types_and_sizes(tmp_path):
    _, source = source_of(tmp_path, "y,x,e\n0,1,[1 2]\n1,2,[3 4]\n")
    table = {"x": [1.0], "e": [[1.0, 2.0]]}
    for change, message in {
        "x": ({"x": ["1"]}, "column 'x' holds text, not a number a row as the training file did"),
        "e": ({"e": [1.0]}, "column 'e' holds number, not a vector a row"),
        "size": ({"e": [[1.0, 2, 3]]}, "the vectors of column 'e' have 3 values, not the 2 of the training file"),
    }.values():
        pq.write_table(pa.table({**table, **change}), tmp_path / "new.parquet")
        with pytest.raises(DataError, match=message):
            read_rows(tmp_path / "new.parquet", source)


SPARSE = "@relation 't: -C -1'\n@attribute a numeric\n@attribute b numeric\n"
SPARSE += "@attribute c {u,v,w}\n@attribute y {0,1}\n@data\n"


def files_of_one_matrix(folder):
    """The same two rows of four features in every format that holds their columns by place."""
    X = np.array([[0.0, 2, 1, 0], [3, 0, 0, 5]])
    np.save(folder / "new.npy", X)
    np.savez(folder / "new.npz", X=X)
    S = sparse.csr_array(X)
    np.savez(folder / "new2.npz", data=S.data, indices=S.indices, indptr=S.indptr, shape=S.shape)
    (folder / "new.svm").write_text("7 2:2 3:1\n1:3 4:5\n")
    return X, ["new.npy", "new.npz", "new2.npz", "new.svm"]


def test_matrices_without_labels_are_taken_by_the_place_of_their_columns(tmp_path):
    X, names = files_of_one_matrix(tmp_path)
    (tmp_path / "old.svm").write_text("1 1:1 4:1\n0 2:2\n")
    np.savez(tmp_path / "old.npz", X=np.eye(4), Y=np.eye(4))
    for old in ("old.svm", "old.npz"):
        source = read(tmp_path / old).source
        for name in names:
            found, ids = read_rows(tmp_path / name, source)
            np.testing.assert_array_equal(dense(found), X)
            assert ids is None and found.dtype == np.float64
    np.save(tmp_path / "new.npy", np.eye(3))
    np.savez(tmp_path / "new.npz", X=np.eye(5))
    (tmp_path / "new.svm").write_text("1 5:1\n")
    for name in ("new.npy", "new.npz", "new.svm"):
        with pytest.raises(DataError, match="features|feature index"):
            read_rows(tmp_path / name, source)


@pytest.mark.parametrize("rows", ["1,2,u,0\n3,4,w,1\n", "{0 1,1 2}\n{0 3,1 4,2 w,3 1}\n"])
def test_arff_is_read_by_the_names_of_its_attributes(tmp_path, rows):
    (tmp_path / "old.arff").write_text(SPARSE + rows)
    data = read(tmp_path / "old.arff")
    assert data.source["names"] == ["a", "b", "c=u", "c=v", "c=w"]
    new = SPARSE.replace("@attribute y {0,1}\n", "").replace("@attribute a numeric\n", "")
    new = new.replace("@data", "@attribute extra numeric\n@attribute a numeric\n@data")
    (tmp_path / "new.arff").write_text(new + "7,v,0,9\n")
    X, ids = read_rows(tmp_path / "new.arff", data.source)
    assert X.tolist() == [[9, 7, 0, 1, 0]] and ids is None
    X, _ = read_rows(tmp_path / "old.arff", data.source)
    np.testing.assert_array_equal(dense(X), dense(data.X))
    (tmp_path / "new.arff").write_text(new.replace("@attribute b ", "@attribute z ") + "7,v,0,9\n")
    with pytest.raises(DataError, match="column 'b' of the training file is missing"):
        read_rows(tmp_path / "new.arff", data.source)
    (tmp_path / "new.arff").write_text(new + "7,v,0,?\n")
    with pytest.raises(DataError, match="it holds NaN or infinite features"):
        read_rows(tmp_path / "new.arff", data.source)


def test_the_names_of_an_archive_find_the_columns_of_a_table(tmp_path):
    np.savez(tmp_path / "old.npz", X=np.eye(2), Y=np.eye(2), feature_names=["a", "b"])
    (tmp_path / "new.csv").write_text("b,a\n1,2\n")
    assert read_rows(tmp_path / "new.csv", read(tmp_path / "old.npz").source)[0].tolist() == [[2, 1]]
    np.savez(tmp_path / "old.npz", X=np.eye(2), Y=np.eye(2))
    with pytest.raises(DataError, match="the training file did not name its features"):
        read_rows(tmp_path / "new.csv", read(tmp_path / "old.npz").source)


SAVES = {"dense": lambda X: {"X": X}, "sparse": lambda X: csr_parts(sparse.csr_array(X))}


def csr_parts(S):
    return {"data": S.data, "indices": S.indices, "indptr": S.indptr, "shape": S.shape}


@pytest.mark.parametrize("names", [["a", "b", "c"], ["x0", "x1", "x2"]])
@pytest.mark.parametrize("form", SAVES)
def test_archives_that_name_their_features_are_read_by_name(tmp_path, names, form):
    X = np.arange(6.0).reshape(2, 3)
    np.savez(tmp_path / "old.npz", Y=np.eye(2), feature_names=names, **SAVES[form](X))
    source = json.loads(json.dumps(read(tmp_path / "old.npz").source))
    np.savez(tmp_path / "new.npz", feature_names=["more", *names[::-1]], **SAVES[form](np.c_[[7, 7], X[:, ::-1]]))
    np.testing.assert_array_equal(dense(read_rows(tmp_path / "new.npz", source)[0]), X)
    np.savez(tmp_path / "bare.npz", **SAVES[form](X))
    np.testing.assert_array_equal(dense(read_rows(tmp_path / "bare.npz", source)[0]), X)
    for given, message in {
        ("z", *names[1:]): f"column '{names[0]}' of the training file is missing",
        (*names, names[0]): f"two features are named '{names[0]}'",
        tuple(names[:2]): "feature_names has shape",
    }.items():
        np.savez(tmp_path / "other.npz", feature_names=given, **SAVES[form](np.ones((2, max(3, len(given))))))
        with pytest.raises(DataError, match=message):
            read_rows(tmp_path / "other.npz", source)


def test_the_names_of_an_archive_mean_nothing_to_a_model_of_an_array(tmp_path):
    np.savez(tmp_path / "new.npz", X=np.eye(2), feature_names=["b", "a"])
    for source in ({"n_features": 2, "names": ["x0", "x1"]}, {"format": "npz", "n_features": 2}):
        np.testing.assert_array_equal(read_rows(tmp_path / "new.npz", source)[0], np.eye(2))


def test_attributes_with_the_names_of_an_array_are_found_by_name(tmp_path):
    head = "@relation 't: -C 1'\n@attribute y {0,1}\n"
    x0, x1 = "@attribute x0 numeric\n", "@attribute x1 numeric\n"
    (tmp_path / "old.arff").write_text(head + x0 + x1 + "@data\n0,1,2\n1,3,4\n")
    (tmp_path / "new.arff").write_text("@relation t\n" + x1 + x0 + "@data\n2,1\n")
    assert read_rows(tmp_path / "new.arff", read(tmp_path / "old.arff").source)[0].tolist() == [[1, 2]]


def test_nan_in_an_array_is_an_empty_cell_of_a_table(tmp_path):
    X = np.array([[1.0, np.nan], [2.0, 3.0]])
    source = {"format": "table", "columns": [{"name": "a", "kind": "number"}, {"name": "b", "kind": "number"}]}
    np.save(tmp_path / "new.npy", X)
    np.savez(tmp_path / "new.npz", X=X)
    for name in ("new.npy", "new.npz"):
        for found, _ in [read_rows(tmp_path / name, source), *row_parts(tmp_path / name, source, 2)]:
            np.testing.assert_array_equal(found, X)
        with pytest.raises(DataError, match="NaN|nan"):
            read_rows(tmp_path / name, {"n_features": 2})
    np.save(tmp_path / "new.npy", np.where(np.isnan(X), np.inf, X))
    with pytest.raises(DataError, match="infinite"):
        read_rows(tmp_path / "new.npy", source)


def test_files_that_hold_no_rows(tmp_path):
    source = {"format": "npz", "n_features": 2}
    np.savez(tmp_path / "a.npz", Y=np.eye(2))
    np.savez(tmp_path / "b.npz", X=np.arange(2))
    np.save(tmp_path / "c.npy", np.array([[1.0, np.inf]]))
    (tmp_path / "d.xls").touch()
    cases = {"a.npz": "the archive holds no features", "b.npz": "X has shape", "c.npy": "row 1 holds inf"}
    for name, message in {**cases, "d.xls": "\\.xls files are not read; save it as", "e.csv": "no such file"}.items():
        with pytest.raises(DataError, match=message):
            read_rows(tmp_path / name, source)


def test_a_source_that_tells_nothing_takes_arrays_as_they_are(tmp_path):
    np.save(tmp_path / "new.npy", np.eye(3))
    (tmp_path / "new.svm").write_text("0 2:1\n")
    np.testing.assert_array_equal(read_rows(tmp_path / "new.npy", {})[0], np.eye(3))
    assert read_rows(tmp_path / "new.svm", {})[0].toarray().tolist() == [[0, 1]]


def test_rows_carry_ids_groups_and_times_through_take():
    data = Dataset(np.eye(3), np.eye(3), ids="abc", groups=[4, 4, 7], times=[3, 1, 2], source={"format": "npz"})
    part = data.take([2, 0])
    assert part.ids == ("c", "a") and part.groups.tolist() == [7, 4] and part.times.tolist() == [2, 3]
    assert part.source == {"format": "npz"} and (data.describe()["groups"], part.describe()["time_order"]) == (2, True)


def test_a_folder_in_place_of_new_rows_is_told(tmp_path):
    _, source = source_of(tmp_path, id="doc")
    with pytest.raises(DataError, match="this is a folder without .parquet files; name one file in it"):
        read_rows(tmp_path, source)


def test_ids_of_text_come_back_as_they_stand_in_the_file(tmp_path):
    told = (" a", "\tb", "1.0", "007 ")
    (tmp_path / "t.csv").write_text("doc,x,y\n" + "".join(f'"{each}",{j},{j % 2}\n' for j, each in enumerate(told)))
    data = read(tmp_path / "t.csv", columns=Columns(labels=("y",), id="doc"))
    assert data.ids == told == read_rows(tmp_path / "t.csv", data.source)[1]


@pytest.mark.parametrize("cells", ["{0}.5", "{0} m"])
def test_an_id_of_the_new_file_alone_is_carried(tmp_path, cells):
    rows = [(cells.format(i % 7), "uv"[i % 2]) for i in range(30)]
    (tmp_path / "t.csv").write_text("x,k,y\n" + "".join(f"{x},{i % 3},{y}\n" for i, (x, y) in enumerate(rows)))
    (tmp_path / "new.csv").write_text("sample,customer_id,k,x\n" + f"s,c7,1,{rows[0][0]}\ns,c9,2,{rows[1][0]}\n")
    data = read(tmp_path / "t.csv", "y")
    assert data.ids is None and read_rows(tmp_path / "new.csv", data.source)[1] == ("c7", "c9")
    assert read_rows(tmp_path / "t.csv", data.source)[1] is None
