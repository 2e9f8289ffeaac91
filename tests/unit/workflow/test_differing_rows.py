"""explain_rows: which labels and features differ, of held-out rows where they are enough, and the table of them."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.compose import make_column_transformer
from sklearn.preprocessing import OneHotEncoder

import proxembed
from proxembed.data import Dataset, digits
from proxembed.measures.selections import differences
from proxembed.measures.statistics import holm
from proxembed.workflow.differing_rows import DRAWN, REMEDY, differing_rows, selected_rows

rng = np.random.default_rng(0)
N = 80
X = rng.standard_normal((N, 4))
Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0.3, rng.random(N) < 0.4]).astype(int)
INSIDE = X[:, 0] > 0
IDS = tuple(f"p{i}" for i in range(N))
ALL, NAMES = np.zeros(N, bool), ["a", "b", "c", "d"]
DATA = Dataset(X, Y, feature_names=NAMES, label_names=("red", "<b>big</b>", "old"))


def test_every_label_and_feature_is_adjusted_for_their_number():
    found = differing_rows(DATA, X, NAMES, INSIDE, ALL)
    assert (len(found), found.inside, found.outside, found.held_out) == (7, INSIDE.sum(), (~INSIDE).sum(), False)
    expected = np.concatenate([differences(each, INSIDE).p for each in (Y, X)])
    names = [*DATA.label_names, *NAMES]
    told = {each.name: each for each in found}
    np.testing.assert_allclose([told[name].p for name in names], expected, rtol=1e-9)
    np.testing.assert_allclose([told[name].p_holm for name in names], holm(expected), rtol=1e-9)
    assert [each.p_holm for each in found] == sorted(each.p_holm for each in found)
    assert told["red"].effect == told["a"].effect == 1.0 and {told["red"].kind, told["a"].kind} == {"label", "feature"}


def test_held_out_rows_alone_are_compared_where_they_are_enough():
    held = np.isin(np.arange(N), [*np.flatnonzero(INSIDE)[:5], *np.flatnonzero(~INSIDE)[:6]])
    found = differing_rows(DATA, X, NAMES, INSIDE, held)
    assert found.held_out and (found.inside, found.outside) == (5, 6)
    p = {each.name: each.p for each in found}["c"]
    assert p == pytest.approx(differences(X[held], INSIDE[held]).p[2])
    fewer = held & (np.arange(N) != np.flatnonzero(INSIDE)[0])
    assert str(found).startswith("5 held-out rows inside, 6 outside\n") and REMEDY not in str(found)
    mixed = differing_rows(DATA, X, NAMES, INSIDE, fewer)
    assert not mixed.held_out and mixed.fitted == N - 10 and "test=" in REMEDY and REMEDY in str(mixed)
    assert mixed.title == f"{INSIDE.sum()} rows inside, {(~INSIDE).sum()} outside; 70 of them are rows of the fit"


def test_the_table_prints_and_shows_in_notebooks():
    found = differing_rows(DATA, X, NAMES, INSIDE, ALL)
    text, html = str(found), found._repr_html_()
    assert text.splitlines()[0] == f"{INSIDE.sum()} rows of the fit inside, {(~INSIDE).sum()} outside"
    assert repr(found) == text and str(found).endswith(REMEDY)
    assert "<b>big</b>" in text and "&lt;b&gt;big&lt;/b&gt;" in html and "<b>big</b>" not in html
    assert DRAWN in text and "all 7 tests" in text and html.count("<tr>") == 8
    frame = found.to_frame()
    assert frame.shape == (7, 7) and frame["name"].tolist() == [each.name for each in found]
    wide = Dataset(rng.standard_normal((N, 30)), Y)
    more = differing_rows(wide, wide.X, wide.feature_names, INSIDE, ALL)
    assert "13 more are in to_frame()." in str(more) and more[32].name in more.to_frame()["name"].tolist()


def test_unknown_labels_outputs_and_sparse_features():
    unknown = sp.csc_array(np.eye(N, 3, dtype=bool))
    found = differing_rows(Dataset(X, Y * (1 - np.eye(N, 3, dtype=int)), unknown=unknown), X, NAMES, INSIDE, ALL)
    expected = differences(np.where(np.eye(N, 3, dtype=bool), np.nan, Y), INSIDE)
    assert {each.name: each.effect for each in found}["label1"] == pytest.approx(expected.effect[1])
    kinds = np.where(X[:, 1] > 0, "up", "down")
    frame = pd.DataFrame({"size": X[:, 0], "kind": kinds})
    found = differing_rows(Dataset.from_targets(X, frame), sp.csr_array(X), NAMES, INSIDE, ALL)
    told = {each.name: each for each in found if each.kind == "output"}
    assert set(told) == {"size", "kind=up", "kind=down"} and told["size"].effect == 1.0
    assert told["kind=up"].effect == pytest.approx(-told["kind=down"].effect)


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        ([1, 80], "selection holds row 80 of 80 rows"),
        ([-1], "selection holds row -1 of 80 rows"),
        ([], "selection holds 0 of 80 rows; select some of them, but not all"),
        (np.ones(80, bool), "selection holds 80 of 80 rows"),
        (np.ones(7, bool), "must be numbers of rows from 0 to 79, or 80 times True or False"),
        ([0.5], "must be numbers of rows"),
        ("all", "must be numbers of rows"),
        ({0.5, 1.5}, "must be numbers of rows"),
        (["p1", "p9"], "must be numbers of rows from 0 to 79, or 80 times"),
    ],
)
def test_a_selection_that_cannot_be_compared_is_refused(selection, message):
    with pytest.raises(ValueError, match=message):
        selected_rows(selection, 80)


def test_numbers_sets_ids_and_a_mask_select_the_same():
    mask = np.array([0, 1, 0, 1, 0], bool)
    for selection in ([3, 1, 3], mask, {1, 3}, frozenset({np.int64(1), 3}), {1: "", 3: ""}.keys()):
        np.testing.assert_array_equal(selected_rows(selection, 5), mask)
    for selection in (
        ["d", "b"],
        {"b", "d"},
        pd.Index(["b", "d"]),
        pd.Series(["b", "d"]),
        np.array(["b", "d"]),
        [1, 3],
    ):
        np.testing.assert_array_equal(selected_rows(selection, 5, tuple("abcde")), mask)
    with pytest.raises(ValueError, match="selection holds 'x', 'y', which the 5 rows do not have as an id"):
        selected_rows(["y", "b", "x"], 5, tuple("abcde"))


def test_a_long_value_is_shortened_in_the_error():
    with pytest.raises(
        ValueError, match=r"^selection=\[0.5, 0.5.*\.\.\. must be numbers of rows.*ids of rows, or 80"
    ) as caught:
        selected_rows([0.5] * 700, 80, IDS)
    assert len(str(caught.value)) < 400


def test_a_text_index_names_the_rows_in_every_result(quick, tmp_path):
    table = pd.DataFrame(X, columns=NAMES, index=IDS).assign(kind=np.where(INSIDE, "u", "v"))
    for frame in (table, table.assign(town=rng.choice(["Bern", "Uri"], N))):
        weight = np.where(np.arange(N) < 3, 0, 1)
        found = proxembed.search(frame.assign(w=weight), labels="kind", sample_weight="w", **quick)
        assert found.dataset.ids == IDS[3:]
        assert found.explain_row(frame.iloc[[20]]).nearest[0].name == "p20"
    found = proxembed.search(table[NAMES], table["kind"], **quick)
    assert pd.read_parquet(found.write_map(tmp_path / "map.parquet"))["id"].tolist() == list(IDS)
    assert found.explain_rows(IDS[:9]).to_frame().equals(found.explain_rows(range(9)).to_frame())


def test_only_an_index_of_a_text_for_each_row_names_them(tmp_path, quick):
    frame = pd.DataFrame(X, columns=NAMES, index=IDS)
    assert Dataset(frame, Y).ids == IDS and Dataset(frame, Y, ids=IDS[::-1]).ids == IDS[::-1]
    assert Dataset(frame, Y).take([4, 2]).ids == ("p4", "p2")
    for index in (range(N), ["a"] * N, np.arange(N) / 2):
        assert Dataset(frame.set_axis(index), Y).ids is None
    found = proxembed.search(
        frame.assign(recipe=IDS, kind=np.where(INSIDE, "u", "v")).set_axis(range(N)), labels="kind", **quick
    )
    assert found.dataset.ids is None and found.dataset.row_names == IDS  # of a column that was found
    assert pd.read_parquet(found.write_map(tmp_path / "map.parquet"))["id"].tolist() == list(IDS)
    assert found.explain_rows({"p1", "p2"}).inside == 2


@pytest.fixture(scope="module")
def quick():
    return {"methods": "opls", "n_components": 2, "max_trials": 1, "folds": 2, "shuffles": 0, "max_work": 5}


def test_a_search_explains_rows_of_its_data(quick):
    data = digits().take(range(120))
    held = Dataset(data.X, data.Y, train_idx=np.arange(80), test_idx=np.arange(80, 120), label_names=data.label_names)
    found = proxembed.search(held, **quick)
    even = data.Y.toarray()[:, 0] > 0
    why = found.explain_rows(np.flatnonzero(even))
    assert why.held_out and why.inside == even[80:].sum() and why[0].name == "even" and why[0].effect == 1.0


def test_a_search_of_a_table_explains_by_the_features_of_its_encoder(quick):
    colour = rng.choice(["red", "green", "blue"], 90)
    table = pd.DataFrame({"colour": colour, "size": rng.standard_normal(90)})
    y = np.where((colour == "red") | (table["size"] > 1), "yes", "no")
    found = proxembed.search(table.assign(y=y), labels="y", **quick)
    told = {each.name: each for each in found.explain_rows(colour == "red")}
    assert told["colour=red"].effect == pytest.approx(1.0) and abs(told["size"].effect) < 0.5


def test_means_of_a_table_are_in_the_units_of_its_columns(quick):
    town, size = rng.choice(["Bern", "Basel", "Uri"], N), rng.normal(300, 50, N).round()
    holds = {word: rng.random(N) < share for word, share in (("lemon", 0.4), ("ginger", 0.5))}
    words = ["stir and" + "".join(f" {word}" * (1 + i % 3) for word in holds if holds[word][i]) for i in range(N)]
    table = pd.DataFrame({"town": town, "size": size, "dish": words, "y": np.where(size > 300, "big", "small")})
    found = proxembed.search(table, labels="y", text=["dish"], **quick)
    inside = np.arange(N) % 3 == 0
    told = {each.name: each for each in found.explain_rows(inside)}
    columns = {"size": size, "town=Bern": town == "Bern", "dish: and": np.ones(N)}
    columns |= {f"dish: {word}": [word in text.split() for text in words] for word in holds}
    for name, column in columns.items():
        expected = differences(np.array(column, dtype=np.float64)[:, None], inside)
        assert told[name].inside == pytest.approx(expected.inside[0]), name
        assert told[name].outside == pytest.approx(expected.outside[0]), name
        assert told[name].effect == pytest.approx(expected.effect[0]) and told[name].p == pytest.approx(expected.p[0])


def test_rows_before_an_encoder_are_compared_as_it_gives_them(quick):
    data = pd.DataFrame({"size": rng.normal(300, 50, N), "town": rng.choice(["Bern", "Uri"], N)})
    encoder = make_column_transformer((OneHotEncoder(sparse_output=False), ["town"]), remainder="passthrough")
    found = proxembed.search(data, np.where(data["size"] > 300, "big", "small"), encoder=encoder, **quick)
    inside = np.arange(N) < 30
    told = {each.name: each for each in found.explain_rows(inside)}
    assert told["remainder__size"].inside == pytest.approx(data["size"][inside].mean())
    assert told["onehotencoder__town_Uri"].outside == pytest.approx((data["town"] == "Uri")[~inside].mean())
