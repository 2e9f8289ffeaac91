"""explain_rows: which labels and features differ, of held-out rows where they are enough, and the table of them."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import proxembed
from proxembed.data import Dataset, digits
from proxembed.measures.selections import differences
from proxembed.measures.statistics import holm
from proxembed.workflow.differing_rows import DRAWN, differing_rows, selected_rows

rng = np.random.default_rng(0)
N = 80
X = rng.standard_normal((N, 4))
Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0.3, rng.random(N) < 0.4]).astype(int)
INSIDE = X[:, 0] > 0
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
    assert not differing_rows(DATA, X, NAMES, INSIDE, fewer).held_out


def test_the_table_prints_and_shows_in_notebooks():
    found = differing_rows(DATA, X, NAMES, INSIDE, ALL)
    text, html = str(found), found._repr_html_()
    assert text.splitlines()[0] == f"{INSIDE.sum()} rows inside, {(~INSIDE).sum()} outside" and repr(found) == text
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
    ],
)
def test_a_selection_that_cannot_be_compared_is_refused(selection, message):
    with pytest.raises(ValueError, match=message):
        selected_rows(selection, 80)


def test_numbers_and_a_mask_select_the_same():
    np.testing.assert_array_equal(selected_rows([3, 1, 3], 5), selected_rows(np.array([0, 1, 0, 1, 0], bool), 5))


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
