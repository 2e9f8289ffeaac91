"""search and compare with an encoder: what is refused before the long part; the adaptive search; studies."""

import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.preprocessing import FunctionTransformer

import proxembed
from proxembed.execute.ledger import digest
from proxembed.tables import RawRows
from proxembed.workflow.engines import encoded_for_defc
from proxembed.workflow.labelled_data import labelled_data
from proxembed.workflow.options import OptionError

RNG = np.random.default_rng(0)
X = RNG.normal(5.0, 1.0, size=(80, 5)) * RNG.uniform(1, 3, size=(80, 1))
CLASSES = np.where(X[:, 0] > X[:, 1], "a", "b")


def snv(X):
    return (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True)


def test_faults_of_an_encoder_show_before_the_search(tmp_path):
    for encoder, told in (
        (FunctionTransformer(lambda rows: rows[:-1]), "must give one row of features for each row"),
        (FunctionTransformer(lambda rows: rows * np.nan), "gave NaN or infinite values"),
    ):
        with pytest.raises(ValueError, match=told):
            proxembed.search(X, CLASSES, encoder=encoder, max_trials=1, max_seconds=None)
    with pytest.raises(TypeError, match="encoder='snv' is not a transformer"):
        proxembed.compare(X, CLASSES, encoder="snv")
    with pytest.raises(ValueError, match="has no name by which it can be imported"):
        proxembed.search(X, CLASSES, encoder=FunctionTransformer(lambda rows: rows), folder=tmp_path / "out")
    with pytest.raises(ValueError, match="the data have 3 features; take fewer components"):
        proxembed.search(X, CLASSES, encoder=SelectKBest(f_classif, k=3), n_components=4)


def test_the_adaptive_search_takes_encoded_rows_but_no_encoder_of_labels():
    from proxembed.features.encoded import with_encoder

    data = labelled_data(X, CLASSES)
    train = encoded_for_defc(with_encoder(data, FunctionTransformer(snv)))
    assert np.allclose(train.X, snv(X)) and encoded_for_defc(data) is data
    with pytest.raises(OptionError, match="takes no encoder that learns from labels"):
        encoded_for_defc(with_encoder(data, SelectKBest(f_classif, k=2)))


def test_a_study_knows_its_encoder():
    one, other = (RawRows(X, FunctionTransformer(function), list("abcde")) for function in (snv, np.abs))
    assert digest(one) == digest(RawRows(X.copy(), FunctionTransformer(snv), list("abcde"))) != digest(other)
