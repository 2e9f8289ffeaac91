"""TableEncoder: frames of every library, arrays with unknown numbers, new rows by name."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from proxembed import OPLS, TableEncoder

HOLED = np.arange(24.0).reshape(8, 3) ** 2 % 7
HOLED[3, 2] = np.nan


@pytest.mark.parametrize(
    "form",
    [np.asarray, np.ndarray.tolist, lambda X: X.astype(object), np.float32],
    ids=["array", "list", "object", "float32"],
)
def test_nan_in_an_array_is_an_empty_number(form):
    X, frame = form(HOLED), pd.DataFrame(HOLED, columns=["x0", "x1", "x2"])
    encoder, wanted = TableEncoder().fit(X), TableEncoder().fit(frame)
    assert encoder.get_feature_names_out().tolist() == wanted.get_feature_names_out().tolist()
    for new in (X, frame, frame[["x2", "x0", "x1"]]):
        np.testing.assert_allclose(encoder.transform(new), wanted.transform(frame))
    np.testing.assert_allclose(wanted.transform(X), wanted.transform(frame))


def test_an_array_of_another_width_is_refused():
    encoder = TableEncoder().fit(HOLED)
    with pytest.raises(ValueError, match="X has 2 features, but TableEncoder is expecting 3"):
        encoder.transform(HOLED[:, :2])
    with pytest.raises(ValueError, match="pass a DataFrame"):
        encoder.transform(HOLED[0])
    with pytest.raises(ValueError, match="masked"):
        encoder.transform(np.ma.masked_invalid(HOLED))


def test_an_empty_column_of_an_array_keeps_its_place():
    X = HOLED.copy()
    X[:, 1] = np.nan
    Z = TableEncoder().fit(X).transform(X)
    np.testing.assert_allclose(Z, TableEncoder().fit(HOLED[:, [0, 2]]).transform(HOLED[:, [0, 2]]))


def test_rows_without_unknown_cells_in_fit_refuse_them_later():
    encoder = TableEncoder().fit(np.nan_to_num(HOLED))
    with pytest.raises(ValueError, match="(?s)Input X contains NaN.*Fit it on rows that have some"):
        encoder.transform(HOLED)


def test_a_frame_goes_by_position_where_the_fit_had_no_names():
    encoder = TableEncoder().fit(HOLED)
    wanted = encoder.transform(HOLED)
    np.testing.assert_allclose(encoder.transform(pd.DataFrame(HOLED, columns=list("abc"))), wanted)
    np.testing.assert_allclose(encoder.transform(pd.DataFrame(HOLED)[[2, 0, 1]]), wanted)
    with pytest.raises(ValueError, match="X has 4 columns, but the model was fitted on an array of 3"):
        encoder.transform(pd.DataFrame(np.zeros((2, 4)), columns=list("abcd")))


def test_features_of_texts_as_a_frame_are_refused_with_the_remedy():
    texts = ["sea and boat", "boat at sea", "hill and tree", "tree on a hill"] * 5
    frame = pd.DataFrame(
        {"size": np.arange(20.0) % 7 + 0.5, "note": [f"{text} no {i}" for i, text in enumerate(texts)]}
    )
    y = [text.split()[0] for text in texts]
    pipeline = make_pipeline(TableEncoder(), OPLS(n_components=1)).set_output(transform="pandas")
    with pytest.raises(
        ValueError, match=r"output is set to 'pandas'.*columns note are sparse. Call set_output\(transform="
    ):
        pipeline.fit(frame, y)
    pipeline[0].set_output(transform="default")
    assert pipeline.fit(frame, y).transform(frame).shape == (20, 1)
    plain = frame[["size"]].assign(kind=y)
    found = TableEncoder().set_output(transform="pandas").fit_transform(plain)
    assert {*found.columns} == {"size", "kind=boat", "kind=hill", "kind=sea", "kind=tree"}
