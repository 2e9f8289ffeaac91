"""unlabelled(), and every refusal and warning of LabelMatrix with its words."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from proxembed import unlabelled
from proxembed.targets.labels import LabelMatrix

NAN = float("nan")
Y = np.array([[1, 0, 1], [0, 1, 0], [0, 0, 0], [1, 1, 0]])


def test_unlabelled():
    np.testing.assert_array_equal(unlabelled([0, 2, -1]), [0.0, 2.0, NAN])
    np.testing.assert_array_equal(unlabelled(np.array([[1, 0], [-1, 1]])), [[1.0, 0.0], [NAN, 1.0]])
    np.testing.assert_array_equal(unlabelled(Y, marker=0), np.where(Y == 0, NAN, 1.0))
    named = unlabelled(np.array(["a", "?", "b"]), marker="?")
    assert LabelMatrix.of(named).classes_.tolist() == ["a", "b"]
    assert LabelMatrix.of(named).rows_known.tolist() == [True, False, True]


def test_unlabelled_leaves_y_alone_and_refuses_an_absent_marker():
    y = np.array([0, 1, -1])
    y.setflags(write=False)
    assert unlabelled(y) is not y and y.tolist() == [0, 1, -1]
    with pytest.raises(ValueError, match="marker=5"):
        unlabelled(y, marker=5)


@pytest.mark.parametrize("y", [pd.Series([0, 2, -1]), [0.0, 2.0, -1.0]], ids=["series", "floats"])
def test_unlabelled_of_tables(y):
    np.testing.assert_array_equal(unlabelled(y), [0.0, 2.0, NAN])


REFUSED = {
    "mixed signs": ([[1, 0, -1], [0, 1, 1]], "mixes -1, 0 and 1.*NaN"),
    "mixed signs, sparse": (sp.csr_array([[1, 0, -1], [0, 1, 1]]), "mixes -1, 0 and 1.*unlabelled"),
    "fractions of classes": ([0.5, 1.0, 2.0], "continuous.*fractions such as 0.5"),
    "fractions beside NaN": ([0.5, NAN, 2.0], "fractions such as 0.5"),
    "fractions of an indicator": ([[0.25, 1.0], [0.0, 1.0]], "fractions such as 0.25"),
    "sparse fractions": (sp.csr_array([[0.25, 1.0], [0.0, 1.0]]), "fractions such as 0.25"),
    "counts": ([[2, 1], [0, 1]], "y holds 2; an n x c indicator holds only 0 and 1"),
    "negative counts": ([[-2, 1], [0, 1]], "y holds -2"),
    "table of text": (np.array([["a", "b"], ["c", "d"]]), "table of text.*list of sets"),
    "object table of text": (np.array([["a", "b"], ["c", "d"]], dtype=object), "table of text"),
    "frame of text": (pd.DataFrame({"p": ["a", "b"], "q": ["c", "d"]}), "table of text"),
    "ragged numbers": ([[1, 0], [1]], "different lengths"),
    "infinite classes": ([0.0, 1.0, np.inf], "infinity.*NaN stands for unknown"),
    "infinite cells": ([[0.0, 1.0], [np.inf, 1.0]], "infinity"),
    "complex": (np.array([1j, 0]), "[Cc]omplex"),
    "complex indicator": (np.array([[1j, 0], [0, 1]]), "[Cc]omplex"),
    "sparse complex": (sp.csr_array(np.array([[1j, 0], [0, 1]])), "[Cc]omplex"),
    "three axes": (np.zeros((2, 2, 2)), "shape \\(2, 2, 2\\)"),
    "a number": (np.array(1), "shape \\(\\)"),
    "all unknown": ([NAN, NAN], "unknown in every row"),
    "all None": ([None, None], "unknown in every row"),
    "all cells unknown": ([[NAN, NAN], [NAN, NAN]], "unknown in every cell"),
    "all cells unknown, sparse": (sp.csr_array(np.full((2, 2), NAN)), "unknown in every cell"),
    "all sets unknown": (np.array([None, NAN], dtype=object), "unknown in every"),
    "no columns": (np.zeros((3, 0)), "no columns"),
    "no columns, sparse": (sp.csr_array((3, 0)), "no columns"),
    "mixed kinds": (np.array([1, "a", 2], dtype=object), "mixes.*numbers only, strings only"),
    "text among numbers": (np.array([[1, "x"], [0, 1]], dtype=object), "table of text"),
}


@pytest.mark.parametrize(("y", "message"), REFUSED.values(), ids=REFUSED)
def test_refusals_say_what_is_wrong(y, message):
    with pytest.raises(ValueError, match=message):
        LabelMatrix.of(y)


@pytest.mark.parametrize("y", ["abc", 5, {"a": 1}, lambda: 0], ids=["string", "number", "dict", "function"])
def test_what_is_no_y_at_all_is_refused(y):
    with pytest.raises((TypeError, ValueError), match="y"):
        LabelMatrix.of(y)


@pytest.mark.parametrize(
    "y", [[0, 1, 2, -1], np.array([0.0, 1.0, -1.0]), [0, 1, 2, -1, None]], ids=["integers", "floats", "with None"]
)
def test_minus_one_beside_other_classes_warns_and_names_the_remedy(y):
    with pytest.warns(UserWarning, match=r"unlabelled\(y, marker=-1\)"):
        labels = LabelMatrix.of(y)
    assert -1 in labels.classes_


@pytest.mark.parametrize("y", [[-1, 1, 1], [0, -1, 0], [-1, -2, -1]], ids=str)
def test_minus_one_of_two_classes_does_not_warn(y):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(LabelMatrix.of(y).classes_) == 2
