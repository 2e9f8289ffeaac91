"""svmlight files: labels, indices, and malformed rows named by line."""

import numpy as np
import pytest

from proxembed.data import DataError, read


def load(tmp_path, text, test=None):
    file = tmp_path / "t.svm"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    if test is None:
        return read(file)
    (tmp_path / "u.svm").write_text(test)
    return read(file, test=tmp_path / "u.svm")


def test_multi_label_rows_with_and_without_labels(tmp_path):
    data = load(tmp_path, "# a comment\n2,0 1:0.5 3:-1e2\n 2:1 # no label\n10 3:+.5\n2,2 1:1\n")
    np.testing.assert_array_equal(data.X.toarray(), [[0.5, 0, -100], [0, 1, 0], [0, 0, 0.5], [1, 0, 0]])
    assert data.feature_names == ("1", "2", "3") and data.label_names == ("0", "2", "10")
    assert data.Y.toarray().tolist() == [[1, 1, 0], [0, 0, 0], [0, 0, 1], [0, 1, 0]]
    assert not data.single_label


def test_an_empty_label_list_needs_no_leading_space(tmp_path):
    assert load(tmp_path, "1:2 2:3\n5 1:1\n").Y.toarray().tolist() == [[0], [1]]


def test_single_label_with_negative_class(tmp_path):
    data = load(tmp_path, "-1 1:1\n+1 1:2\n-1.0 1:3\n")
    assert data.label_names == ("-1", "1") and data.single_label
    assert data.Y.toarray()[:, 0].tolist() == [1, 0, 1]


def test_indices_from_zero_are_seen(tmp_path):
    data = load(tmp_path, "1 0:5 2:1\n0 1:1\n")
    assert data.feature_names == ("0", "1", "2") and data.X[0, 0] == 5.0


def test_a_pair_shares_labels_indices_and_width(tmp_path):
    data = load(tmp_path, "3 1:5\n1 1:2\n", test="2 4:1\n")
    assert data.X.shape == (3, 4) and data.label_names == ("1", "2", "3")
    assert data.Y.toarray().argmax(axis=1).tolist() == [2, 0, 1]
    assert data.train_idx.tolist() == [0, 1] and data.test_idx.tolist() == [2]


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("1 1:1\n1 2:x\n", 2, "'2:x' is not INDEX:VALUE"),
        ("1 1:1\n\n1 3:1 2:1\n", 3, "index 2 does not rise above 3 before it"),
        ("1 3:1 3:1\n", 1, "index 3 does not rise above 3 before it"),
        ("1 1:1\n1 -3:1\n", 2, "'-3:1' is not INDEX:VALUE"),
        ("1 1:1\n1,a 1:1\n", 2, "'1,a' is no comma-separated list of whole-number labels"),
        ("1 1:1\n1.5 1:1\n", 2, "'1.5' is no comma-separated list of whole-number labels"),
        ("1 1:1\nnan 1:1\n", 2, "'nan' is no comma-separated list"),
        ("1 1:1\n1 1:nan\n", 2, "'1:nan' is not INDEX:VALUE with an index from 0 up and a finite value"),
        ("1 1:1\n1 1:1e999\n", 2, "'1:1e999' is not INDEX:VALUE"),
        ("1 1:1\n1 7\n", 2, "'7' is not INDEX:VALUE"),
        ("1 1:1\n1 99999999999999999999:1\n", 2, "is above 10000000"),
        (b"1 1:1\n\xff 1:1\n", 2, "is no comma-separated list"),
    ],
)
def test_a_malformed_row_is_named(tmp_path, text, line, reason):
    with pytest.raises(DataError) as caught:
        load(tmp_path, text)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 't.svm'}, line {line}: ") and reason in message
    assert message.endswith("; write LABEL[,LABEL...] INDEX:VALUE INDEX:VALUE, and so on.")


def test_a_malformed_row_of_the_second_file_is_named_with_its_file(tmp_path):
    with pytest.raises(DataError) as caught:
        load(tmp_path, "1 1:1\n", test="1 1:1\n1 1:one\n")
    assert str(caught.value).startswith(f"{tmp_path / 'u.svm'}, line 2: '1:one' is not INDEX:VALUE")


@pytest.mark.parametrize("text", ["", "# only a comment\n", "1\n2\n", "1:1\n2:2\n"])
def test_nothing_to_learn_from(tmp_path, text):
    with pytest.raises(DataError) as caught:
        load(tmp_path, text)
    assert "it holds no label or no feature" in str(caught.value)


def test_a_huge_index_is_refused_before_names_are_made(tmp_path):
    with pytest.raises(DataError, match="largest feature index is 400000000, above 10000000; renumber"):
        load(tmp_path, "1 400000000:1\n")
