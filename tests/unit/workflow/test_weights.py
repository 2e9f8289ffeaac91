"""Weights of rows come as an array or as a column of a table; what cannot take them says so."""

import numpy as np
import pandas as pd
import pytest

from proxembed import OPLS, EmbeddingSearch, fit_on
from proxembed.data import Columns, Dataset, read
from proxembed.workflow.labelled_data import check_row_weights, labelled_data
from proxembed.workflow.large_fit import large_fit
from proxembed.workflow.one_fit import draw_map
from proxembed.workflow.options import OptionError

TABLE = pd.DataFrame({"a": [0.5, 1.0, 2.5, 3.5, 4.0], "b": [1.0, 0.5, 0.25, 2.0, 1.0], "y": [0, 1, 0, 1, 1]})
WEIGHTS = [2.0, 1.0, 0.0, 0.5, 1.0]


def test_a_column_and_an_array_give_the_same_rows(tmp_path):
    file = tmp_path / "rows.csv"
    TABLE.assign(w=WEIGHTS).to_csv(file, index=False)
    found = [
        labelled_data(file, labels="y", sample_weight="w"),
        labelled_data(file, labels="y", drop="w", sample_weight=WEIGHTS),
        labelled_data(TABLE.assign(w=WEIGHTS), labels="y", sample_weight="w"),
        labelled_data(TABLE[["a", "b"]], TABLE["y"], sample_weight=pd.Series(WEIGHTS)),
        labelled_data(TABLE[["a", "b"]].to_numpy(), TABLE["y"], sample_weight=WEIGHTS),
        labelled_data(Dataset(TABLE[["a", "b"]], TABLE[["y"]]), sample_weight=WEIGHTS),
    ]
    for data in found:
        np.testing.assert_array_equal(data.X, TABLE[["a", "b"]].to_numpy()[[0, 1, 3, 4]])
        np.testing.assert_array_equal(data.sample_weight, [2.0, 1.0, 0.5, 1.0])
    assert found[0].describe()["weights"] == {"sum": 4.5, "effective": pytest.approx(4.5**2 / 6.25), "column": "w"}
    assert labelled_data(TABLE[["a", "b"]].to_numpy(), TABLE["y"], sample_weight=np.ones(5)).sample_weight is None
    np.testing.assert_array_equal(found[0].take([3, 0]).sample_weight, [1.0, 2.0])


def test_errors_name_the_cell_or_what_takes_no_weights(tmp_path, monkeypatch):
    file = tmp_path / "rows.csv"
    TABLE.assign(w=[1, 2, "x", 1, 1]).to_csv(file, index=False)
    with pytest.raises(ValueError, match="line 4: sample_weight column 'w' holds 'x'; give weights that are numbers"):
        read(file, columns=Columns(labels="y", sample_weight="w"))
    with pytest.raises(ValueError, match="sample_weight='w' names a column, but X is neither a file nor a table"):
        labelled_data(TABLE[["a", "b"]].to_numpy(), TABLE["y"], sample_weight="w")
    with pytest.raises(ValueError, match="sample_weight='w' is not allowed for a table that is read part by part"):
        large_fit(file, Columns(labels="y", sample_weight="w"), memory=1)
    data = labelled_data(TABLE[["a", "b"]].to_numpy(), TABLE["y"], sample_weight=WEIGHTS)
    with pytest.raises(OptionError, match="takes no weights of rows"):
        check_row_weights(data, "defc")
    with pytest.raises(ValueError, match="sample_weight is not allowed for a map"):
        draw_map(data)
    many = Dataset(np.eye(3), np.eye(3, 1001, dtype=int)).weighted([1.0, 2.0, 1.0])
    with pytest.raises(ValueError, match="sample_weight is not allowed with more than 1,000 labels"):
        check_row_weights(many)
    with pytest.raises(ValueError, match="sample_weight is not allowed with more than 1,000 labels"):
        EmbeddingSearch(max_trials=1).fit(many.X, many.Y, sample_weight=[1.0, 2.0, 1.0])


def test_a_model_takes_whole_weights_as_repeats():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(40, 3))
    y, w = X @ [1.0, -1.0, 0.5] + draw.normal(size=40), draw.integers(0, 3, 40).astype(float)
    rows = np.repeat(np.arange(40), w.astype(int))
    data = Dataset.from_targets(X, y)
    for method in (OPLS(ridge=0.1), OPLS()):  # whose penalty leaves equal rows out together
        found, expected = fit_on(method, data.weighted(w)), fit_on(method, data.take(rows))
        np.testing.assert_allclose(found.predict(X), expected.predict(X), rtol=1e-8)
