"""One DataFrame, two calls: labels named among its columns, and labels passed as y, give one data set and one model."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

import proxembed
from proxembed import OPLS
from proxembed.methods.pipeline import fit_on
from proxembed.workflow.labelled_data import labelled_data

N = 24
RNG = np.random.default_rng(0)
F = pd.DataFrame(RNG.normal(size=(N, 3)), columns=list("abc"))
HIGH = (F.a + 0.3 * F.b > 0).to_numpy()


def words(no, yes, dtype=None):
    return pd.Series(np.where(HIGH, yes, no), dtype=dtype)


def with_hole(column):
    column = column.astype(object)
    column[3] = None
    return column


TRUTHS = {
    "yes/no": (words("no", "yes"), "no", "yes"),
    "Yes/No": (words("No", "Yes"), "No", "Yes"),
    "true/false": (words("false", "true"), "false", "true"),
    "y/n": (words("n", "y"), "n", "y"),
    "t/f": (words("f", "t"), "f", "t"),
    "1/0 as text": (words("0", "1"), "0", "1"),
    "ja/nein": (words("nein", "ja"), "nein", "ja"),
    "s\u00ed/no": (words("no", "s\u00ed"), "no", "s\u00ed"),
    "bool": (pd.Series(HIGH), False, True),
    "int": (words(0, 1), 0, 1),
    "float": (words(0.0, 1.0), 0.0, 1.0),
    "signs": (words(-1, 1), -1, 1),
    "text signs": (words("-1", "+1"), "-1", "+1"),
    "category": (words("no", "yes").astype("category"), "no", "yes"),
    "nullable bool": (pd.Series(HIGH).astype("boolean"), False, True),
    "with a hole": (with_hole(words("no", "yes")), "no", "yes"),
}
CLASSES = {
    "two words": words("well", "ill"),
    "numbers": pd.Series(np.arange(N) % 3 + 9),
    "floats": pd.Series(np.arange(N) % 3 + 1.0),
    "with a hole": with_hole(words("well", "ill")),
    "numbers with a hole": pd.Series(np.where(np.arange(N) == 3, np.nan, np.arange(N) % 3)),
    "category": words("well", "ill").astype("category"),
}
SETS = {
    "joined": pd.Series(["p;q", "q", "p", ""] * 6),
    "lists": pd.Series([["p", "q"], ["q"], ["p"], []] * 6),
    "sets": pd.Series([{"p", "q"}, {"q"}, {"p"}, set()] * 6),
    "lists with a hole": pd.Series([["p", "q"], ["q"], None, []] * 6),
}


def both(y, frame=F):
    """The data sets of the two calls."""
    return labelled_data(frame.assign(left=y), labels="left"), labelled_data(frame, y.rename("left"))


def assert_equal(one, other):
    assert one.label_names == other.label_names and one.feature_names == other.feature_names
    np.testing.assert_array_equal(
        one.y.toarray() if hasattr(one.y, "toarray") else one.y,
        other.y.toarray() if hasattr(other.y, "toarray") else other.y,
    )
    assert one.notes == other.notes and one.values == other.values
    assert [type(value) for value in one.values or ()] == [type(value) for value in other.values or ()]


@pytest.mark.filterwarnings("ignore:(OPLS|Thresholded) cannot use rows without a known label")
@pytest.mark.parametrize("name", TRUTHS)
def test_two_truth_words_are_one_label_and_come_back(name):
    y, no, yes = TRUTHS[name]
    one, other = both(y)
    assert_equal(one, other)
    assert one.label_names == ("left",) and one.values == (no, yes)
    known = np.array([value is not None for value in y])
    assert (one.Y.toarray().ravel()[known] == HIGH[known]).all()
    found = [fit_on(OPLS(n_components=1), data).predict(F.to_numpy()) for data in (one, other)]
    np.testing.assert_array_equal(*found)
    assert found[0].shape == (N,) and set(found[0].tolist()) <= {no, yes}
    assert {type(value) for value in found[0].tolist()} == {type(yes)}


@pytest.mark.filterwarnings("ignore:(OPLS|Thresholded) cannot use rows without a known label")
@pytest.mark.parametrize("name", CLASSES)
def test_other_values_are_classes_and_come_back(name):
    y = CLASSES[name]
    one, other = both(y)
    assert_equal(one, other)
    model = fit_on(OPLS(n_components=1), one)
    known = [value for value in y.tolist() if value is not None and value == value]
    assert len(one.label_names) == len(set(known))
    found = model.predict(F.to_numpy())
    assert found.shape == (N,) and set(found.tolist()) <= set(known) and isinstance(found.tolist()[0], type(known[0]))
    assert set(model.classes_.tolist()) == set(known)
    if len(model.classes_) > 2:
        np.testing.assert_array_equal(model.classes_[model.decision_function(F.to_numpy()).argmax(axis=1)], found)
    if len(known) == N:
        assert model.score(F.to_numpy(), y) == np.mean(found == y.to_numpy())


@pytest.mark.parametrize("name", SETS)
def test_labels_in_lists_and_joined_labels(name):
    one, other = both(SETS[name])
    assert_equal(one, other)
    assert one.label_names == ("p", "q") and one.values is None


def test_several_columns_lists_and_arrays_without_names():
    three = pd.DataFrame({"p": HIGH, "q": np.where(HIGH, "no", "yes"), "r": np.arange(N) % 2})
    one, other = labelled_data(F.join(three), labels=["p", "q", "r"]), labelled_data(F, three)
    assert_equal(one, other)
    assert one.label_names == ("p", "q", "r")
    for y in (HIGH, HIGH.astype(int), HIGH.astype(int)[:, None], HIGH.tolist(), words("no", "yes").tolist()):
        data = labelled_data(F.to_numpy(), y)
        assert data.label_names == ("y",) and (data.Y.toarray().ravel() == HIGH).all()
    assert labelled_data(F.to_numpy(), [{"p"}, {"q"}] * 12).label_names == ("p", "q")
    assert labelled_data(F.to_numpy(), [["p"], ["q", "p"]] * 12).label_names == ("p", "q")
    assert labelled_data(F.to_numpy(), np.eye(2)[np.arange(N) % 2]).label_names == ("0", "1")
    masked = labelled_data(F.to_numpy(), np.ma.array(HIGH, mask=np.arange(N) == 0))
    assert masked.unknown.toarray().ravel().tolist() == [True] + [False] * (N - 1)


def test_polars_is_read_like_pandas():
    y = words("no", "yes")
    P = pl.from_pandas(F)
    for data in (
        both(y, F),
        (
            labelled_data(P.with_columns(left=pl.Series(y.tolist())), labels="left"),
            labelled_data(P, pl.Series("left", y.tolist())),
        ),
    ):
        assert_equal(*data)
        assert data[0].label_names == ("left",) and data[0].values == ("no", "yes")


@pytest.mark.parametrize(
    "more",
    [
        {"when": pd.date_range("2024-01-01", periods=N)},
        {"day": [datetime.date(2024, 1, 1 + row) for row in range(N)]},
        {"kind": list("uvw") * 8, "size": np.where(HIGH, np.nan, 1.5)},
        {"tags": [["u"], ["u", "v"]] * 12},
        {"vector": [np.arange(2.0) + row for row in range(N)]},
        {"text": [f"word{row} says word{row % 5} again and again" for row in range(N)]},
        {"user": np.arange(N) // 3},
        {"flag": HIGH, "count": pd.array([1, 2, None, 4] * 6, dtype="Int64")},
        {"small": np.arange(N, dtype="float32"), "mixed": [1, "a"] * 12},
    ],
    ids=lambda more: next(iter(more)),
)
def test_features_of_every_kind_are_read_alike(more):
    one, other = both(words("well", "ill"), F.assign(**more))
    assert_equal(one, other)
    assert type(one.X) is type(other.X) and one.X.shape == other.X.shape
    if isinstance(one.X, np.ndarray):
        np.testing.assert_array_equal(one.X, other.X)
    else:
        assert one.X.columns == other.X.columns


@pytest.mark.parametrize(
    ("more", "remedy"),
    [
        ({"dur": pd.to_timedelta(np.arange(N), unit="h")}, "drop='dur'"),
        ({"code": np.where(np.arange(N) < 2, -999.0, np.arange(N))}, "missing='-999'"),
        ({"odd": [{"a": 1}, {"b": 2}] * 12}, "drop='odd'"),
        ({"short": [[1.0], [1.0, 2.0]] * 12}, "drop='short'"),
    ],
    ids=lambda more: next(iter(more)) if isinstance(more, dict) else "",
)
def test_columns_that_are_refused_are_refused_alike_with_an_argument_of_python(more, remedy):
    frame, y = F.assign(**more), words("well", "ill")
    told = []
    for call in (lambda: labelled_data(frame.assign(left=y), labels="left"), lambda: labelled_data(frame, y)):
        with pytest.raises(ValueError, match=remedy) as caught:
            call()
        told.append(str(caught.value))
    assert told[0] == told[1] and "--" not in told[0]
    name = remedy.split("=")[0]
    settled = {name: remedy.split("'")[1]}
    assert_equal(
        labelled_data(frame.assign(left=y), labels="left", **settled), labelled_data(frame, y.rename("left"), **settled)
    )


def test_both_calls_find_the_same(tmp_path):
    y, options = words("no", "yes"), dict(methods="opls", n_components=1, max_work=1.5, shuffles=0)
    one, other = (
        proxembed.search(F.assign(left=y), labels="left", **options),
        proxembed.search(F, y.rename("left"), **options),
    )
    boards = [found.leaderboard.filter(regex="arm|^k$|test ") for found in (one, other)]
    pd.testing.assert_frame_equal(*boards)
    np.testing.assert_array_equal(one.model.predict(F.to_numpy()), other.model.predict(F.to_numpy()))
    proxembed.save(one.model, tmp_path / "m.skops")
    again = proxembed.load(tmp_path / "m.skops")
    np.testing.assert_array_equal(again.predict(F.to_numpy()), one.model.predict(F.to_numpy()))
