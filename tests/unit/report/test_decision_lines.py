"""Rows in two dimensions with decision lines: the lines lie where the classifiers decide, and nowhere else."""

import numpy as np
import pytest

from proxembed import BSML
from proxembed.data import digits
from proxembed.measures.metrics import hamming_loss
from proxembed.report.decision_lines import LABELS, Plane, decision_lines, ends

WINDOW = np.array([[-1.0, -2.0], [3.0, 2.0]])


@pytest.fixture(scope="module")
def fitted():
    data = digits()
    X, Y = (data.X - data.X.mean(axis=0)) / 4, data.Y.toarray().astype(int)
    return BSML(n_components=2, tol=1e-4).fit(X[:1200], Y[:1200]), X[1200:], Y[1200:], data.label_names


def made(c=3, m=40, seed=0):
    rng = np.random.default_rng(seed)
    Z, weights = rng.normal(size=(m, 2)), rng.normal(size=(2, c))
    plane = Plane("made", Z, weights, 0.3 * rng.normal(size=c))
    return plane, (Z @ weights + plane.bias > 0).astype(int)


def drawn(figure, row, label, c):
    """The points of the decision line in a label's panel."""
    line = figure.axes[row * (c + 1) + 1 + label].lines[2]
    return np.column_stack(line.get_data())


@pytest.mark.parametrize("seed", range(20))
def test_a_line_ends_on_the_edge_of_its_window_and_the_classifier_is_zero_all_along(seed):
    rng = np.random.default_rng(seed)
    w, inside = rng.normal(size=2), rng.uniform(*WINDOW)
    found = ends(w, -float(w @ inside), WINDOW)
    np.testing.assert_allclose(found @ w, w @ inside, rtol=1e-12, atol=1e-12)
    distance = np.abs(found[:, None, :] - WINDOW[None]).min(axis=(1, 2))
    assert distance.max() < 1e-12 and (found >= WINDOW[0] - 1e-12).all() and (found <= WINDOW[1] + 1e-12).all()


@pytest.mark.parametrize(
    ("w", "b", "there"),
    [((1.0, 0.0), -3.5, False), ((0.0, 1.0), 0.0, True), ((0.0, 1.0), 2.5, False), ((1.0, 1.0), -9.0, False),
     ((0.0, 0.0), 1.0, False)],
)  # fmt: skip
def test_a_line_that_misses_the_window_is_not_drawn(w, b, there):
    assert (ends(np.array(w), b, WINDOW) is not None) is there


def test_the_lines_of_a_fitted_model_decide_as_it_predicts(fitted):
    model, X, Y, names = fitted
    plane = Plane.of("BSML", model, X)
    predicted = model.predict(X)
    assert plane.wrong(Y).mean() == pytest.approx(hamming_loss(Y, predicted), abs=1e-15)
    np.testing.assert_array_equal(plane.Z @ plane.weights + plane.bias > 0, predicted.astype(bool))
    moved = Plane("moved", plane.Z, plane.weights, plane.bias + 1.0)
    assert moved.wrong(Y).mean() != plane.wrong(Y).mean()
    figure = decision_lines([plane], Y, names)
    assert [axes.get_xlabel() for axes in figure.axes[1:]] == [
        f"wrong: {share:.3f} (never: {base:.3f})"
        for share, base in zip((predicted != Y).mean(axis=0), Y.mean(axis=0), strict=True)
    ]


def test_each_label_has_its_own_line_and_rows_and_strokes_point_to_its_side():
    plane, Y = made()
    figure = decision_lines([plane], Y, ["a", "b", "c"])
    for o in range(3):
        np.testing.assert_allclose(drawn(figure, 0, o, 3) @ plane.weights[:, o] + plane.bias[o], 0, atol=1e-12)
        without, having = (np.column_stack(line.get_data()) for line in figure.axes[1 + o].lines[:2])
        assert (len(without), len(having)) == ((Y[:, o] == 0).sum(), (Y[:, o] == 1).sum())
    strokes = figure.axes[0].lines[1:]
    values = [
        np.diff(np.column_stack(line.get_data()) @ plane.weights[:, i // 4])[0]
        for i, line in enumerate(strokes)
        if i % 4 > 0
    ]
    assert len(values) == 9 and min(values) > 0


def test_all_planes_show_the_same_rows_with_the_number_of_them():
    plane, Y = made()
    other = Plane("shuffled", plane.Z[::-1], plane.weights, plane.bias, "cm")
    figure = decision_lines([plane, other], Y, ["a", "b", "c"], "some data")
    assert len(figure.axes) == 8 and "n = 40 rows" in figure._supxlabel.get_text()
    assert figure._supxlabel.get_text().startswith("some data") and figure.axes[4].get_xlabel() == "component 1 (cm)"
    assert [axes.get_title() for axes in figure.axes[1:4]] == ["a", "b", "c"]


def test_a_row_far_away_stands_on_the_edge():
    plane, Y = made(m=1000)
    Z = plane.Z.copy()
    Z[0] = 1e6
    figure = decision_lines([Plane("far", Z, plane.weights, plane.bias)], Y, ["a", "b", "c"])
    x = figure.axes[0].lines[0].get_xdata()
    assert len(x) == 1000 and x[0] == figure.axes[0].get_xlim()[1] < 10


def test_a_label_that_is_always_or_never_predicted_has_no_line():
    plane, Y = made()
    for bias, shades in ((99.0, 1), (-99.0, 0)):
        figure = decision_lines([Plane("made", plane.Z, 0 * plane.weights, np.full(3, bias))], Y, ["a", "b", "c"])
        assert len(figure.axes[1].lines) == 2 and len(figure.axes[1].collections) == shades


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"Z": np.zeros((40, 3))}, r"Z has shape \(40, 3\).*fit two components"),
        ({"Z": np.zeros((39, 2))}, r"Z has shape \(39, 2\)"),
        ({"weights": np.zeros((2, 2))}, r"weights has shape \(2, 2\).*one line per column of Y"),
        ({"bias": np.array([0.0, np.nan, 0.0])}, "bias holds NaN"),
    ],
)
def test_shapes_that_do_not_fit_are_named(change, message):
    plane, Y = made()
    parts = {"Z": plane.Z, "weights": plane.weights, "bias": plane.bias, **change}
    with pytest.raises(ValueError, match=message):
        decision_lines([Plane("made", **parts)], Y, ["a", "b", "c"])


def test_too_many_labels_or_none_and_no_plane_are_refused():
    plane, Y = made(LABELS + 1)
    with pytest.raises(ValueError, match="1 to 8 columns of Y"):
        decision_lines([plane], Y, ["a"] * (LABELS + 1))
    for planes, names in (([], ["a", "b", "c"]), ([made()[0]], ["a"])):
        with pytest.raises(ValueError, match="at least one plane"):
            decision_lines(planes, made()[1], names)
