"""Proximity matrices of the record and their pictures: values, order, sample, sizes, files for other programs."""

import io
import json

import numpy as np
import pytest
import scipy.sparse as sp
from matplotlib.image import imread

from proxembed.proximity.reordering import covat, even_sample
from proxembed.report import proximity_section
from proxembed.report.figures import matrix_png, ramp, shades
from proxembed.report.matrices import ROWS, agreement, cosine_proximity, label_proximity, packed, unpacked
from proxembed.targets.labels import LabelMatrix


def made(n=50, c=4, d=6, seed=0):
    rng = np.random.default_rng(seed)
    Y = (rng.uniform(size=(n, c)) < 0.4).astype(int)
    X = Y @ rng.normal(size=(c, d)) + 0.3 * rng.normal(size=(n, d))
    return X, Y, [f"label {j}" for j in range(c)]


def cosine(Z):
    lengths = np.linalg.norm(Z, axis=1)
    return np.maximum(Z @ Z.T / np.outer(lengths, lengths), 0)


def shown(found, number):
    """A matrix of the section in its own units, exact to half a shade."""
    panel = found["panels"][number]
    return unpacked(panel) * panel["top"] / 255


def close(given, values, top):
    np.testing.assert_allclose(given, np.minimum(values, top), atol=0.51 * top / 255 + 1e-3 * top)


def test_every_matrix_has_the_rows_in_the_order_of_the_labels():
    X, Y, names = made()
    Z = X[:, :2]
    found = proximity_section(X, [("ours", Z), ("shuffled", -Z[::-1])], sp.csc_matrix(Y), names)
    assert [panel["kind"] for panel in found["panels"]] == ["Y", "G", "W", "Psi", "Z", "Z"]
    assert [panel["title"] for panel in found["panels"]][-2:] == ["ours", "shuffled"]
    order = covat(1 - Y)
    rows = order.rows
    np.testing.assert_array_equal(shown(found, 0), Y[np.ix_(rows, order.columns)])
    assert found["labels"] == [names[j] for j in order.columns]
    G, W = label_proximity(LabelMatrix.of(Y))[np.ix_(rows, rows)], cosine(X)[np.ix_(rows, rows)]
    for number, values in enumerate((G, W, G / (2 - W), cosine(Z)[np.ix_(rows, rows)]), start=1):
        close(shown(found, number), values, found["panels"][number]["top"])


def test_shades_are_lost_above_the_top_alone_and_this_is_told():
    rng = np.random.default_rng(1)
    values = rng.uniform(size=(40, 40)) + 50 * np.eye(40)
    found = packed(values)
    off = values[~np.eye(40, dtype=bool)]
    assert 0.99 < np.mean(off <= found["top"]) < 1 and found["clipped"] and found["top"] < 1
    level = packed(np.array([[0.0, 0.5], [0.5, 0.25]]))
    assert level["top"] == 0.5 and not level["clipped"] and unpacked(level).tolist() == [[0, 255], [255, 128]]
    assert packed(np.zeros((3, 3)))["top"] == 1.0 and packed(np.eye(3))["top"] == 1.0


def test_rows_of_one_label_set_lie_together():
    X, Y, names = made(150)
    picture = shown(proximity_section(X, [], Y, names), 0)
    assert np.any(np.diff(picture, axis=0), axis=1).sum() + 1 == len(np.unique(Y, axis=0))


def test_g_is_the_mean_similarity_of_classes():
    Y = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 1], [0, 0, 0]])
    shared, n = Y.T @ Y, Y.sum(axis=0)
    Sigma = 2 * shared / (n[:, None] + n)
    M = Y / np.maximum(Y.sum(axis=1, keepdims=True), 1)
    expected = M @ Sigma @ M.T
    np.testing.assert_allclose(label_proximity(LabelMatrix.of(Y)), expected / expected.max(), atol=1e-14)


def test_the_agreement_is_a_correlation_over_pairs():
    X, Y, names = made()
    one = np.eye(4)[np.random.default_rng(3).integers(0, 4, size=50)]
    found = proximity_section(one @ X[:4] + 0.1 * X, [("classes", 3 * one)], one, names)
    by_kind = {panel["kind"]: panel["agreement"] for panel in found["panels"]}
    assert by_kind["Y"] is None and by_kind["G"] is None and by_kind["Z"] == 1.0
    assert 1 > by_kind["Psi"] > by_kind["W"] > 0.2
    A, G = cosine(X), cosine(Y + 0.1)
    pairs = [(A[i, j], G[i, j]) for i in range(50) for j in range(i)]
    assert agreement(A, G) == pytest.approx(np.corrcoef(np.transpose(pairs))[0, 1], abs=1e-4)
    noise = np.random.default_rng(2).normal(size=(50, 2))
    blind = proximity_section(X, [("noise", noise)], Y, names)["panels"][-1]["agreement"]
    assert abs(blind) < 0.15


def test_rows_without_a_label_count_in_no_agreement():
    X, Y, names = made()
    some = Y.any(axis=1)
    assert 0 < np.sum(~some) < 25
    found, part = (proximity_section(X[k], [("ours", X[k])], Y[k], names) for k in (np.arange(50), some))
    assert found["without_label"] == np.sum(~some) and part["without_label"] == 0
    for whole, known in zip(found["panels"], part["panels"], strict=True):
        assert whole["agreement"] == pytest.approx(known["agreement"], abs=2e-4)


def test_many_rows_are_sampled_and_this_is_told():
    X, Y, names = made(500)
    found = proximity_section(X, [("ours", X)], Y, names)
    assert (found["shown"], found["held_out"]) == (ROWS, 500)
    part = even_sample(500, ROWS)
    again = proximity_section(X[part], [("ours", X[part])], Y[part], names)
    assert again["panels"] == found["panels"]
    assert len(json.dumps(found)) < 250_000


def test_sparse_features_give_the_same_and_labels_without_a_row_are_left_out():
    X, Y, names = made()
    X[X < 0.3] = 0.0
    Y[:, 2] = 0
    dense = proximity_section(X, [("ours", X)], Y, names)
    assert proximity_section(sp.csr_array(X), [("ours", X)], sp.csr_array(Y), names) == dense
    assert dense["n_labels"] == 3 and "label 2" not in dense["labels"]


def test_one_label_alone_is_no_pair_of_classes():
    """Rows without the label are similar to none."""
    X, Y, names = made(20, 1)
    picture = shown(proximity_section(X, [], Y, names), 1)
    has = np.sort(Y[:, 0])[::-1] == 1
    ordered = shown(proximity_section(X, [], Y, names), 0)[:, 0] == 1
    np.testing.assert_array_equal(picture, np.outer(ordered, ordered))
    assert has.sum() == ordered.sum()


def test_too_little_to_show_is_no_section():
    X, Y, names = made(2)
    assert proximity_section(X, [], np.ones_like(Y), names) is None
    X, Y, names = made(20)
    assert proximity_section(X, [], np.zeros_like(Y), names) is None


def test_zero_rows_and_one_component_are_no_error():
    X, Y, names = made()
    X[:5] = 0
    found = proximity_section(X, [("line", X[:, :1]), ("nothing", np.zeros((50, 1)))], Y, names)
    assert found["panels"][-1]["agreement"] is None
    np.testing.assert_array_equal(shown(found, 5), np.eye(50))
    np.testing.assert_array_equal(cosine_proximity(np.zeros((3, 2))), np.eye(3))


@pytest.mark.parametrize("Z", [np.zeros((49, 2)), np.full((50, 2), np.nan), np.zeros(50)])
def test_an_embedding_of_other_rows_is_refused(Z):
    X, Y, names = made()
    with pytest.raises(ValueError, match="'ours' must be a finite array of 50 rows"):
        proximity_section(X, [("ours", Z)], Y, names)


@pytest.mark.parametrize("text", ["", "*", "eJwDAAAAAAE=", "AAAA"])
def test_damaged_values_are_refused(text):
    with pytest.raises(ValueError, match="a matrix of 2 x 2 needs 4 bytes"):
        unpacked({"rows": 2, "columns": 2, "values": text})


def test_values_of_another_size_are_refused():
    panel = packed(np.ones((2, 3)))
    for rows in (1, 3):
        with pytest.raises(ValueError, match=f"a matrix of {rows} x 3 needs {3 * rows} bytes"):
            unpacked({**panel, "rows": rows})


def test_the_picture_is_the_matrix_to_another_reader():
    values = np.random.default_rng(0).integers(0, 256, size=(7, 11)).astype(np.uint8)
    picture = imread(io.BytesIO(matrix_png(values)), format="png")
    np.testing.assert_array_equal(np.rint(255 * picture[:, :, :3]), shades()[values])
    for wrong in (values.astype(float), values[0], values[:0]):
        with pytest.raises(ValueError, match="give a matrix of uint8"):
            matrix_png(wrong)


def test_shades_grow_ever_darker_for_every_eye():
    """Luminance falls at every step, so that the order is seen without any colour."""
    linear = np.where(shades() <= 10, shades() / 3294.6, ((shades() / 255 + 0.055) / 1.055) ** 2.4)
    luminance = linear @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(luminance) <= 0).all() and len(np.unique(luminance)) > 250
    assert luminance[0] > 0.9 and luminance[-1] < 0.02
    assert [f"#{r:02x}{g:02x}{b:02x}" for r, g, b in shades()[[0, 255]]] == [ramp()[0], ramp()[-1]]
