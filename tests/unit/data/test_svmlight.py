"""svmlight files: labels, indices, and malformed rows named by line."""

import numpy as np
import pytest

from proxembed.data import DataError, read, read_rows


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
        ("1 1:1\n1,a 1:1\n", 2, "'1,a' is not a comma-separated list of whole-number labels"),
        ("1 1:1\n1.5,2 1:1\n", 2, "'1.5,2' is not a comma-separated list of whole-number labels, or one number"),
        ("1 1:1\nnan 1:1\n", 2, "'nan' is not a comma-separated list"),
        ("1 1:1\n1 1:nan\n", 2, "'1:nan' is not INDEX:VALUE with an index from 0 up and a finite value"),
        ("1 1:1\n1 1:1e999\n", 2, "'1:1e999' is not INDEX:VALUE"),
        ("1 1:1\n1 7\n", 2, "'7' is not INDEX:VALUE"),
        ("1 1:1\n1 99999999999999999999:1\n", 2, "is above 10000000"),
        (b"1 1:1\n\xff 1:1\n", 2, "is not a comma-separated list"),
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


BASE = r"its features are counted from {}, not from {} as in the training file; renumber its features as the training"
ONE, ZERO = "0 1:5 2:1 3:2\n1 1:2 2:3 3:1\n", "0 0:5 1:1 2:2\n1 0:2 1:3 2:1\n"


def new_rows(tmp_path, trained, text, **source):
    (tmp_path / "new.svm").write_text(text)
    return read_rows(tmp_path / "new.svm", load(tmp_path, trained).source | source)[0].toarray().tolist()


def test_new_rows_counted_otherwise_than_the_training_rows_are_refused(tmp_path):
    for text in (ZERO, "0 0:0 1:2\n", "0 1:1\n1 0:2 3:1\n"):
        with pytest.raises(DataError, match=BASE.format(0, 1)):
            new_rows(tmp_path, ONE, text)
    with pytest.raises(DataError, match=r"index is 3, not 2 as in the training file, which counts features from 0;"):
        new_rows(tmp_path, ZERO, ONE)
    with pytest.raises(DataError, match=r"largest feature index is 4, not 3 as in the training file; give"):
        new_rows(tmp_path, ONE, "0 4:1\n")


def test_new_rows_that_do_not_tell_their_base_follow_the_training_rows(tmp_path):
    assert new_rows(tmp_path, ONE, "0 1:7\n") == [[7, 0, 0]]
    assert new_rows(tmp_path, ZERO, "0 1:7\n") == [[0, 7, 0]]


def test_new_rows_of_a_model_from_another_format_show_their_base(tmp_path):
    for text in (ONE, ZERO):
        assert new_rows(tmp_path, ONE, text, format="npz")[0] == [5, 1, 2]


def test_a_test_file_counted_otherwise_is_refused(tmp_path):
    for train, test, bases in ((ONE, ZERO, (0, 1)), (ZERO, ONE, (1, 0))):
        with pytest.raises(DataError, match=BASE.format(*bases)) as caught:
            load(tmp_path, train, test)
        assert str(tmp_path / "u.svm") in str(caught.value)
    assert load(tmp_path, ZERO, "0 1:4\n").X[2].toarray().tolist() == [0, 4, 0]
