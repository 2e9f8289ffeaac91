"""pandas X beside y and groups: rows are matched by their indices, or by position with a note, or refused."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import proxembed
from proxembed.workflow.labelled_data import labelled_data

N = 12
X = pd.DataFrame({"a": np.arange(N) ** 2.0, "b": np.arange(N) % 5}, index=[f"r{row}" for row in range(N)])
Y = pd.Series(list("uuvv") * 3, index=X.index, name="kind")
ORDER = np.random.default_rng(0).permutation(N)
PLAIN = X.reset_index(drop=True)


def labels(data):
    return [data.label_names[code] for code in data.Y.toarray().argmax(axis=1)]


@pytest.mark.parametrize(
    "y", [Y, Y.to_frame(), pd.DataFrame({"p": Y == "u", "q": np.arange(N) % 2 == 0}, index=Y.index)]
)
def test_the_same_index_in_another_order_is_aligned_with_a_note(y):
    there, moved = labelled_data(X, y), labelled_data(X, y.iloc[ORDER])
    np.testing.assert_array_equal(there.Y.toarray(), moved.Y.toarray())
    assert "y is put in the order of the index of X" in moved.notes and not any("index" in note for note in there.notes)


def test_numbers_that_are_no_default_index_are_names_too():
    numbered = X.set_axis(np.arange(N) * 10)
    assert labels(labelled_data(numbered, Y.set_axis(numbered.index).iloc[ORDER])) == list(Y)
    shuffled = X.set_axis(ORDER)
    assert labels(labelled_data(shuffled, Y.set_axis(ORDER).iloc[ORDER])) == list(Y)


def test_groups_are_aligned_too():
    groups = pd.Series(np.arange(N) // 2, index=X.index)
    moved = labelled_data(X, Y, groups=groups.iloc[ORDER])
    assert moved.groups.tolist() == groups.tolist() and "groups is put in the order of the index of X" in moved.notes
    with pytest.raises(ValueError, match="the indices of X and groups differ"):
        labelled_data(X, Y, groups=groups.set_axis([f"s{row}" for row in range(N)]))
    with pytest.raises(ValueError, match="the indices of X and groups differ"):
        labelled_data(X, labels="b", groups=groups.set_axis([f"s{row}" for row in range(N)]))


@pytest.mark.parametrize(
    ("frame", "y"),
    [(PLAIN, Y.reset_index(drop=True).iloc[ORDER]), (PLAIN.iloc[ORDER], Y.reset_index(drop=True))],
    ids=["default X", "default y"],
)
def test_a_default_index_beside_a_permutation_of_it_is_refused(frame, y):
    with pytest.raises(ValueError, match=r"may or may not name the rows. Pass y.loc\[X.index\] .* or y.to_numpy\(\)"):
        labelled_data(frame, y)
    assert labels(labelled_data(frame, y.to_numpy())) == list(y)


@pytest.mark.parametrize(
    ("frame", "y"),
    [(PLAIN, Y), (X, Y.reset_index(drop=True)), (PLAIN, Y.set_axis(np.arange(N) + 50))],
    ids=["names beside X", "names beside y", "other numbers"],
)
def test_other_values_beside_a_default_index_go_by_position_with_a_note(frame, y):
    data = labelled_data(frame, y)
    assert labels(data) == list(Y) and any("by position" in note for note in data.notes)


@pytest.mark.parametrize("index", [[f"s{row}" for row in range(N)], ["r0"] * N, [*X.index[1:], "other"]])
def test_other_values_are_refused(index):
    with pytest.raises(ValueError, match="the indices of X and y differ; give both the same unique index values"):
        labelled_data(X, Y.set_axis(index))


def adata():
    return SimpleNamespace(
        X=np.column_stack([np.arange(40) % 7, np.arange(40) ** 2 % 11]).astype(float),
        obs=pd.DataFrame({"type": list("uv") * 20, "ok": ["yes", "no"] * 20, "donor": np.arange(40) // 4}),
        var_names=["g1", "g2"],
    )


def test_anndata_is_read_by_its_columns_of_obs():
    data = labelled_data(adata(), labels="type", groups="donor", test=[0, 1])
    assert data.label_names == ("u", "v") and data.feature_names == ("g1", "g2") and len(set(data.groups)) == 10
    assert data.test_idx.tolist() == [0, 1]
    assert labelled_data(adata(), labels="ok").values == ("no", "yes")
    assert labelled_data(adata(), labels=["ok"], groups=np.arange(40) // 4).groups.max() == 9
    for more, message in {
        "X is AnnData, and no labels are named": {},
        "X is AnnData, and y was passed": {"labels": "type", "y": [0, 1] * 20},
        "drop was passed": {"labels": "type", "drop": "ok"},
    }.items():
        with pytest.raises(ValueError, match=more):
            labelled_data(adata(), **message)


def test_anndata_is_searched():
    found = proxembed.search(adata(), labels="type", methods="opls", n_components=1, max_work=1.5, shuffles=0)
    assert set(found.model.predict(adata().X).tolist()) <= {"u", "v"}


def test_an_object_of_anndata_itself():
    real, given = pytest.importorskip("anndata"), adata()
    made = real.AnnData(X=given.X, obs=given.obs.set_axis([f"c{row}" for row in range(40)]))
    data = labelled_data(made, labels="type", groups="donor")
    assert data.label_names == ("u", "v") and data.ids[0] == "c0" and len(set(data.groups)) == 10
