"""Why a model predicts what it predicts: nearest training rows, features that moved the score, rows that are far."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import cosine_distances, euclidean_distances

from proxembed import OPLS, Kernelized, fit_on, search
from proxembed.data import Columns, Dataset, read
from proxembed.methods.table_encoder import table_of
from proxembed.workflow.explained_rows import RowExplainer, explainer_of

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(80, 5)) + 2
Y = np.column_stack([X[:, 0] > 2, X[:, 1] > 2.3, X[:, 2] + X[:, 0] > 4]).astype(int)
NEW = RANDOM.normal(size=(3, 5)) + 2
IDS = tuple(f"p{i}" for i in range(80))


def test_nearest_rows_are_those_of_the_embedding_and_a_row_far_away_is_marked():
    data = Dataset(X, Y, label_names=("red", "big", "old"), ids=IDS)
    model = fit_on(OPLS(), data)
    found = RowExplainer(model, data).explain(np.vstack([NEW, 50 * NEW[:1]]))
    apart = cosine_distances(model.transform(NEW), model.transform(X))
    for why, own in zip(found, apart, strict=False):
        order = np.argsort(own)[:10]
        assert [near.row for near in why.nearest] == order.tolist()
        assert why.nearest[0].id == IDS[order[0]] and why.nearest[0].distance == pytest.approx(own[order[0]], abs=1e-9)
    labels = [name for name, on in zip(data.label_names, Y[found[0].nearest[0].row], strict=True) if on]
    assert found[0].nearest[0].labels == (", ".join(labels) or "no label")
    assert [why.far for why in found] == [False, False, False, True]
    scaled = model[:1].transform(X)
    others = np.sort(euclidean_distances(scaled) + np.diag(np.full(80, np.inf)), axis=1)[:, 9]
    assert found[0].features.limit == pytest.approx(np.quantile(others, 0.99), rel=1e-6)
    assert str(found[3]).splitlines()[1].startswith("FAR from all training rows")
    assert found[3].columns()["far"] == 1 and found[3].describe()["far"] is True


def test_contributions_of_a_linear_model_add_up_and_others_are_against_the_median():
    data = Dataset(X, Y)
    model = fit_on(OPLS(), data)
    why = RowExplainer(model, data).explain(NEW[:1])[0]
    scores, mean = model.decision_function(NEW[:1])[0], model.decision_function(X.mean(axis=0)[None])[0]
    j = int(np.argmax(scores))
    assert why.exact and why.against == "mean" and why.of == data.label_names[j]
    assert sum(change for _, change in why.moved) == pytest.approx(scores[j] - mean[j], rel=1e-8)
    kernel = fit_on(Kernelized(OPLS()), data)
    why = RowExplainer(kernel, data).explain(NEW[:1])[0]
    changed, scores = NEW[:1].copy(), kernel.decision_function(NEW[:1])[0]
    feature = data.feature_names.index(why.moved[0][0])
    changed[0, feature] = np.median(X[:, feature])
    j = data.label_names.index(why.of)
    assert not why.exact and why.against == "median"
    assert why.moved[0][1] == pytest.approx(scores[j] - kernel.decision_function(changed)[0, j], rel=1e-6)


def test_sparse_features_numbers_and_one_yes_or_no_label():
    words = sp.csr_array(np.where(X > 2.5, X, 0.0))
    why = RowExplainer(fit_on(OPLS(), data := Dataset(words, Y)), data).explain(words[[0]])[0]
    assert why.against == "0" and {name for name, _ in why.moved} <= {data.feature_names[j] for j in words[[0]].indices}
    measured = Dataset.from_targets(X, np.column_stack([10 * X[:, 0], X[:, 1]]))
    why = RowExplainer(fit_on(OPLS(), measured), measured).explain(X[:1])[0]
    assert why.nearest[0].row == 0 and why.nearest[0].labels.endswith(f"{X[0, 1]:.4g}") and why.exact
    sick = Dataset.from_classes(X, np.array(["well", "sick"])[Y[:, 0]])
    why = RowExplainer(fit_on(OPLS(), sick), sick).explain(X[:1])[0]
    assert why.of == why.predicted == ("well", "sick")[Y[0, 0]] and why.nearest[0].labels in ("well", "sick")


def test_a_category_moves_as_one_and_is_told_by_its_value_in_the_row():
    """All its 0/1 columns and the share of rows at once; a value without a column of its own is told, too."""
    plan, code = np.array(["year", "month", ""])[np.digitize(X[:, 3], [1.7, 3])], np.arange(80) // 2
    table = pd.DataFrame({"size": X[:, 0], "plan": plan, "code": np.char.add("c", code.astype(str)), "own": X[:, 1]})
    data = Dataset(table_of(table), np.column_stack([plan == "month", X[:, 0] > 2]).astype(int))
    model = fit_on(OPLS(), data)
    new = table.iloc[[int(np.flatnonzero(plan == "")[0]), 79]].assign(code=["c39", "unseen"])
    found = RowExplainer(model, data).explain(new)
    assert {name for name, _ in found[0].moved} == {"size", "plan=(empty)", "code=c39", "own"}
    assert {name for name, _ in found[1].moved} == {"size", f"plan={plan[79] or '(empty)'}", "code=unseen", "own"}
    names, rows = model[0].get_feature_names_out(), model[0].transform(data.X)
    row, columns = rows[[new.index[0]]], [name.startswith("plan=") for name in names]
    changed = np.where(columns, rows.mean(axis=0), row)
    scores = [model[1:].decision_function(each)[0] for each in (row, changed)]
    j = data.label_names.index(found[0].of)
    assert dict(found[0].moved)["plan=(empty)"] == pytest.approx(scores[0][j] - scores[1][j], rel=1e-8)


def test_ids_of_a_column_that_was_found_name_the_nearest_training_rows(tmp_path):
    table = pd.DataFrame(X, columns=list("abcde")).assign(patient=IDS, sick=np.where(Y[:, 0], "yes", "no"))
    table.to_csv(tmp_path / "train.csv", index=False)
    data = read(tmp_path / "train.csv", columns=Columns(labels=("sick",)))
    assert data.source["found_id"] == "patient"
    model = fit_on(OPLS(), data)
    why = explainer_of(model, tmp_path / "train.csv", data.source).explain(data.X[[0]])[0]
    assert [near.id for near in why.nearest] == [IDS[near.row] for near in why.nearest]
    assert [near.id for near in RowExplainer(model, data).explain(data.X[[0]])[0].nearest] == [
        IDS[near.row] for near in why.nearest
    ]
    some = data.take([5, 3, 60])
    assert some.found_ids == ("p5", "p3", "p60") and some.ids is None


@pytest.mark.parametrize("header", [None, True])
def test_the_training_file_is_read_as_it_was_with_its_remarks_and_lines_below_the_header(tmp_path, header):
    rows = [",".join([*map(str, x), "yn"[y]]) for x, y in zip(X.round(3), Y[:, 0], strict=True)]
    lines = ["a,b,c,d,e,sick", *([] if header else ["kg,m,m,m,m,"]), *rows, "", "Total,,,,9,", ""]
    (tmp_path / "train.csv").write_text("\n".join(lines))
    data = read(tmp_path / "train.csv", columns=Columns(labels=("sick",), header=header))
    explainer = explainer_of(fit_on(OPLS(), data), tmp_path / "train.csv", data.source)
    assert data.X.shape == (80, 5) and explainer.explain(data.X[[3]])[0].nearest[0].row == 3


def test_a_search_names_the_nearest_rows_by_the_ids_that_it_found_in_a_table_of_any_kind():
    """Numbers alone are a matrix, categories beside them a table: both keep the ids of the rows that the model has."""
    numbers = pd.DataFrame(X, columns=list("abcde")).assign(patient=IDS, sick=np.where(Y[:, 0], "yes", "no"))
    for table in (numbers, numbers.assign(plan=np.where(X[:, 3] > 2, "year", "month"))):
        given = {"labels": "sick", "methods": "opls", "max_work": 4, "shuffles": 0}
        found = search(table.iloc[10:70], **given, test=[0, 1])
        assert {near.id for near in found.explain_row(table.iloc[[20]]).nearest} <= {*IDS[12:70]}
        assert found.explain_row(table.iloc[[20]]).nearest[0].id == "p20"
        row, wanted = table.iloc[20], str(found.explain_row(table.iloc[[20]]))
        for given in (row, row[::-1], row.to_dict(), row[::-1].to_dict(), pl.from_pandas(table)[20].lazy()):
            assert str(found.explain_row(given)) == wanted
    for number in (20, np.int64(20), "p20", None):
        with pytest.raises(ValueError, match="x must be one row: .*for row 20 of a DataFrame X pass X.iloc"):
            found.explain_row(number)


def test_rows_without_ids_are_named_by_their_number_in_the_data_from_0():
    found = search(X, Y[:, 0], methods="opls", max_work=2, shuffles=0, n_components=1, test=np.arange(20))
    why = found.explain_row(X[33])
    assert why.nearest[0].row == 33 and why.nearest[0].name == "row 33" and "  row 33  " in str(why)
    assert why.columns()["nearest"].startswith("row 33; row ") and min(near.row for near in why.nearest) >= 20


def test_a_series_without_names_is_explained_by_position():
    found = search(X, Y[:, 0], methods="opls", max_work=2, shuffles=0, n_components=1)
    assert str(found.explain_row(pd.Series(X[3]))) == str(found.explain_row(X[3])) == str(found.explain_row(X[[3]]))
