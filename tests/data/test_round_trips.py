"""The same published data set read from ARFF, svmlight and npz gives the same matrices."""

import numpy as np
import pytest
from scipy import sparse

from proxembed.data import read
from proxembed.data.readers import arff

GZIPPED = {"enron", "tmc2007-500"}


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


def read_arff(folder, name):
    suffix = ".arff.gz" if name in GZIPPED else ".arff"
    return read(folder / f"{name}-train{suffix}", test=folder / f"{name}-test{suffix}")


@pytest.mark.parametrize("name", ["emotions", "yeast", "birds", "enron"])
def test_arff_equals_npz(data_folder, name):
    arff, npz = read_arff(data_folder, name), read(data_folder / f"{name}.npz")
    assert sparse.issparse(arff.X) == sparse.issparse(npz.X) == (name in GZIPPED)
    np.testing.assert_array_equal(dense(arff.X), dense(npz.X))
    np.testing.assert_array_equal(arff.Y.toarray(), npz.Y.toarray())
    assert arff.Y.dtype == np.uint8 and arff.Y.format == "csc"
    assert arff.feature_names == npz.feature_names
    assert arff.label_names == npz.label_names
    assert arff.name == npz.name == name
    np.testing.assert_array_equal(arff.train_idx, npz.train_idx)
    np.testing.assert_array_equal(arff.test_idx, npz.test_idx)


@pytest.mark.parametrize(
    ("train", "test", "name"),
    [
        ("yeast_train.svm.gz", "yeast_test.svm.gz", "yeast"),
        ("birds_train.svm.gz", "birds_test.svm.gz", "birds"),
        ("dna.scale.gz", "dna.scale.t.gz", "dna"),
    ],
)
def test_svmlight_equals_npz(data_folder, train, test, name):
    svm, npz = read(data_folder / train, test=data_folder / test), read(data_folder / f"{name}.npz")
    np.testing.assert_array_equal(dense(svm.X), dense(npz.X))
    np.testing.assert_array_equal(svm.Y.toarray(), npz.Y.toarray())
    np.testing.assert_array_equal(svm.train_idx, npz.train_idx)
    np.testing.assert_array_equal(svm.test_idx, npz.test_idx)
    assert svm.feature_names[0] == "1" and svm.feature_names[-1] == str(svm.X.shape[1])
    assert svm.single_label == npz.single_label == (name == "dna")


@pytest.mark.parametrize("name", ["yeast", "birds"])
def test_arff_svmlight_and_npz_give_the_same_matrices(data_folder, name):
    svm = read(data_folder / f"{name}_train.svm.gz", test=data_folder / f"{name}_test.svm.gz")
    arff, npz = read_arff(data_folder, name), read(data_folder / f"{name}.npz")
    for other in (svm, npz):
        np.testing.assert_array_equal(dense(other.X), dense(arff.X))
        np.testing.assert_array_equal(other.Y.toarray(), arff.Y.toarray())
        np.testing.assert_array_equal(other.train_idx, arff.train_idx)
        np.testing.assert_array_equal(other.test_idx, arff.test_idx)


def write_arff(path, data):
    """Sparse ARFF, the labels last."""
    lines = [f"@relation '{data.name}: -C -{len(data.label_names)}'"]
    lines += [f"@attribute x{j} numeric" for j in range(data.X.shape[1])]
    lines += [f"@attribute y{j} {{0,1}}" for j in range(len(data.label_names))] + ["@data"]
    table = sparse.hstack([sparse.csr_array(data.X), data.Y], format="csr")
    table.eliminate_zeros()
    table.sort_indices()
    for start, stop in zip(table.indptr[:-1], table.indptr[1:], strict=True):
        cells = zip(table.indices[start:stop].tolist(), table.data[start:stop].tolist(), strict=True)
        lines.append("{" + ",".join(f"{j} {value!r}" for j, value in cells) + "}")
    path.write_text("\n".join(lines) + "\n")


def write_svmlight(path, data):
    """Labels by their place, features from 1."""
    X, Y = sparse.csr_array(data.X).tolil(), data.Y.tolil()
    rows = zip(Y.rows, X.rows, X.data, strict=True)
    path.write_text(
        "".join(
            ",".join(map(str, labels))
            + "".join(f" {j + 1}:{v!r}" for j, v in zip(columns, map(float, values), strict=True))
            + "\n"
            for labels, columns, values in rows
        )
    )


def write_npz(path, data):
    X = sparse.csr_array(data.X)
    np.savez(path, data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, Y=data.Y.toarray())


@pytest.mark.parametrize("name", ["emotions", "corel5k", "banana"])
def test_a_set_written_in_three_formats_reads_back_the_same(data_folder, tmp_path, name):
    data = read(data_folder / f"{name}.npz")
    for suffix, write in ((".arff", write_arff), (".svm", write_svmlight), (".npz", write_npz)):
        write(tmp_path / f"t{suffix}", data)
        again = read(tmp_path / f"t{suffix}")
        assert sparse.issparse(again.X), suffix
        np.testing.assert_array_equal(dense(again.X), dense(data.X), err_msg=suffix)
        np.testing.assert_array_equal(again.Y.toarray(), data.Y.toarray(), err_msg=suffix)


@pytest.mark.parametrize("name", ["yeast", "enron"])
def test_labels_are_matched_by_name_where_xml_and_arff_disagree_on_the_order(data_folder, name):
    xml = (data_folder / f"{name}.xml").read_text()
    in_xml = [part.split('"')[0] for part in xml.split('<label name="')[1:]]
    data = read_arff(data_folder, name)
    assert sorted(in_xml) == sorted(data.label_names)
    assert in_xml != list(data.label_names)


def test_birds_names_hold_spaces_and_quotes_and_location_stays_a_number(data_folder):
    data = read_arff(data_folder, "birds")
    assert "Swainson's Thrush" in data.label_names and "MacGillivray's Warbler" in data.label_names
    location = data.X[:, data.feature_names.index("location")]
    assert set(location) <= {1, 2, 4, 5, 7, 8, 10, 11, 13, 15, 16, 17} and len(set(location)) > 2
    assert data.describe()["rows_without_label"] == 294


def test_one_file_named_is_one_file_read(data_folder):
    train = read(data_folder / "emotions-train.arff")
    assert train.X.shape == (391, 72) and train.train_idx is None and train.name == "emotions-train"
    union = read(data_folder / "emotions.arff")
    assert union.X.shape == (593, 72)


# facts of Mulan's own table, recomputed
FACTS = {
    "emotions": (593, 72, 6, 1.868, 27, 0, 0),  # 1108 / 593 = 1.8685; Mulan prints 1.869
    "scene": (2407, 294, 6, 1.074, 15, 0, 0),
    "yeast": (2417, 103, 14, 4.237, 198, 0, 0),
    "tmc2007-500": (28596, 500, 22, 2.158, 1341, 0, 11),
    "enron": (1702, 1001, 53, 3.378, 753, 0, 8),
    "corel5k": (5000, 499, 374, 3.522, 3175, 0, 0),
    "birds": (645, 260, 19, 1.014, 133, 294, 0),
    "reuters": (10789, 23484, 90, 1.235, 468, 0, 0),
}


@pytest.mark.parametrize("name", FACTS)
def test_described_facts_are_the_published_ones(data_folder, name):
    facts = read(data_folder / f"{name}.npz").describe()
    n, d, labels, cardinality, label_sets, unlabelled, zero_rows = FACTS[name]
    assert (facts["n"], facts["d"], facts["labels"]) == (n, d, labels)
    assert round(facts["cardinality"], 3) == cardinality
    assert (facts["label_sets"], facts["rows_without_label"], facts["zero_rows"]) == (label_sets, unlabelled, zero_rows)


@pytest.mark.parametrize(("name", "classes"), [("satimage", 6), ("dna", 3), ("banana", 2)])
def test_single_label_archives_become_one_hot(data_folder, name, classes):
    data = read(data_folder / f"{name}.npz")
    with np.load(data_folder / f"{name}.npz", allow_pickle=False) as archive:
        codes, names = archive["Y"], archive["label_names"]
    assert data.single_label and data.Y.shape[1] == classes and data.label_names == tuple(names)
    np.testing.assert_array_equal(data.Y.toarray().argmax(axis=1), codes)


@pytest.mark.parametrize("name", ["emotions", "birds", "tmc2007-500"])
def test_published_files_are_read_in_bulk_throughout(data_folder, name, monkeypatch):
    def line_by_line(block):
        raise AssertionError(f"{len(block.rows)} rows were left to the slow parse")

    monkeypatch.setattr(arff._DenseRows, "exact", line_by_line)
    monkeypatch.setattr(arff._SparseRows, "exact", line_by_line)
    assert read_arff(data_folder, name).name == name
