"""A model with an encoder in front: raw rows in, as preprocessing by hand has it; saved under the names it needs."""

import importlib
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import make_column_transformer
from sklearn.cross_decomposition import PLSRegression
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from proxembed import OPLS, fit_on, load, save
from proxembed.data import Dataset, read
from proxembed.methods.pipeline import embedding_pipeline, source_of
from proxembed.methods.row_encoder import RowEncoder
from proxembed.persist import check_model_path, model_card
from proxembed.workflow.labelled_data import labelled_data

RNG = np.random.default_rng(0)
X = RNG.normal(5.0, 1.0, size=(40, 6)) * RNG.uniform(1, 3, size=(40, 1))
CLASSES = np.where(X[:, 0] > X[:, 1], "a", "b")
MODULE = """
from sklearn.base import BaseEstimator, TransformerMixin
class SNV(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self
    def transform(self, X):
        return (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True)
"""


def snv(X):
    return (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True)


@pytest.fixture
def foreign(tmp_path, monkeypatch):
    """The transformer SNV of a module elsewhere, and the folder of the module."""
    (tmp_path / "my_spectra.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    import my_spectra

    yield my_spectra.SNV, tmp_path
    sys.modules.pop("my_spectra", None)


def test_a_row_wise_encoder_equals_preprocessing_by_hand():
    model = fit_on(OPLS(), Dataset.from_classes(X, CLASSES), encoder=FunctionTransformer(snv))
    manual = fit_on(OPLS(), Dataset.from_classes(snv(X), CLASSES))
    assert list(model.named_steps) == ["encoder", "scaling", "embedding", "readout"]
    assert np.allclose(model.transform(X), manual.transform(snv(X)), atol=1e-10)
    assert (model.predict(X) == manual.predict(snv(X))).all()
    assert np.allclose(model.decision_function(X), manual.decision_function(snv(X)), atol=1e-10)
    named = [name for name, _ in model.explain(0).features]
    assert set(named) == {f"x{j}" for j in range(6)} and model.get_feature_names_out().tolist() == ["opls0"]
    assert list(embedding_pipeline(OPLS(), labelled_data(X, CLASSES).X).named_steps)[0] == "scaling"


def test_new_rows_go_by_name_and_may_be_unknown_where_the_encoder_fills_them_in():
    holes = X.copy()
    holes[3, 2] = np.nan
    frame = pd.DataFrame(holes, columns=list("abcdef"))
    data = labelled_data(frame, CLASSES)
    model = fit_on(OPLS(), data, encoder=make_pipeline(SimpleImputer(), StandardScaler()))
    expected = fit_on(OPLS(), Dataset.from_classes(SimpleImputer().fit_transform(holes), CLASSES))
    Z = model.transform(frame[["f", "a", "b", "c", "d", "e"]].assign(more="text"))
    assert np.allclose(Z, model.transform(holes)) and np.allclose(model.transform(data.X), Z)
    assert np.allclose(Z, expected.transform(SimpleImputer().fit_transform(holes)), atol=1e-10)
    assert model.set_output(transform="pandas").transform(frame).index.equals(frame.index)
    with pytest.raises(ValueError, match="X has 5 features, but RowEncoder is expecting 6"):
        model.transform(X[:, :5])
    with pytest.raises(ValueError, match="'f'|column f|f is"):
        model.transform(frame[list("abcde")])


def test_a_table_with_text_goes_to_the_encoder_as_a_frame():
    frame = pd.DataFrame({"size": X[:, 0], "kind": list("uvuw") * 10, "y": CLASSES}, index=np.arange(40) + 7)
    encoder = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["kind"]), (StandardScaler(), ["size"]))
    found = labelled_data(frame, labels="y")
    of_cells = fit_on(OPLS(), found, encoder=encoder)  # as of a file
    from proxembed.features.encoded import with_encoder

    data = with_encoder(found, encoder, frame)
    model = fit_on(OPLS(), data)
    assert model[0].get_feature_names_out().tolist()[-1] == "standardscaler__size"
    assert np.allclose(model.transform(frame[["kind", "size"]]), model.transform(data.X))
    assert np.allclose(of_cells.transform(found.X), model.transform(frame))
    with pytest.raises(ValueError, match="takes a pandas DataFrame with the columns size, kind, and X lacks kind"):
        model.transform(frame[["size"]])
    with pytest.raises(ValueError, match="and X is none"):
        model.transform(X)
    assert data.describe()["duplicate_rows"] == 0 and "encoder ColumnTransformer" in data.notes[-1]


def test_numbers_to_predict_reach_an_encoder_that_needs_them():
    y = X[:, :2] @ [1.0, -1.0]
    model = fit_on(OPLS(), Dataset.from_targets(X, y), encoder=PLSRegression(n_components=2))
    score = model.predict(X)
    assert model.transform(X).shape == (40, 1) and np.corrcoef(score, y)[0, 1] > 0.9


def test_an_encoder_of_ones_own_comes_back_where_its_name_is_trusted(foreign, tmp_path):
    SNV, _ = foreign
    data = Dataset.from_classes(X, CLASSES)
    model = fit_on(OPLS(), data, encoder=make_pipeline(SNV(), StandardScaler()))
    path = save(model, tmp_path / "m.skops", source=source_of(data), card=model_card(model, data))
    card = path.with_suffix(".md").read_text()
    assert "trusted=['my_spectra.SNV'])" in card and "-o z.csv --trust my_spectra.SNV`" in card
    with pytest.raises(ValueError) as caught:
        load(path)
    told = str(caught.value)
    assert (
        "holds 'my_spectra.SNV'" in told
        and "trusted=['my_spectra.SNV'] (--trust my_spectra.SNV in the program)" in told
    )
    with pytest.raises(ValueError, match="holds 'my_spectra.SNV'"):
        load(path, trusted=["my_spectra.Other"])
    assert np.array_equal(load(path, trusted=["my_spectra.SNV"]).transform(X), model.transform(X))
    with pytest.raises(TypeError, match="trusted='my_spectra.SNV' must be a list"):
        load(path, trusted="my_spectra.SNV")


def test_nothing_is_imported_before_it_is_trusted(foreign, tmp_path):
    SNV, folder = foreign
    path = save(fit_on(OPLS(), Dataset.from_classes(X, CLASSES), encoder=SNV()), tmp_path / "m.skops")
    sys.modules.pop("my_spectra")
    for names in ((), ["os.system"]):
        with pytest.raises(ValueError, match="so that nothing was loaded"):
            load(path, trusted=names)
        assert "my_spectra" not in sys.modules
    load(path, trusted=["my_spectra.SNV"])
    assert "my_spectra" in sys.modules
    (folder / "my_spectra.py").unlink()
    sys.modules.pop("my_spectra")
    importlib.invalidate_caches()
    with pytest.raises(ValueError, match="needs 'my_spectra.SNV', which cannot be imported"):
        load(path, trusted=["my_spectra.SNV"])


def test_the_name_in_a_package_stands_for_that_in_its_private_module(tmp_path, monkeypatch):
    package = tmp_path / "my_spectra"
    package.mkdir()
    (package / "__init__.py").write_text("from my_spectra._snv import SNV\n")
    (package / "_snv.py").write_text(MODULE)
    (package / "_other.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    from my_spectra import SNV, _other

    data = Dataset.from_classes(X, CLASSES)
    load(save(fit_on(OPLS(), data, encoder=SNV()), tmp_path / "a.skops"), trusted=["my_spectra.SNV"])
    path = save(fit_on(OPLS(), data, encoder=_other.SNV()), tmp_path / "b.skops")
    with pytest.raises(ValueError, match="holds 'my_spectra._other.SNV'"):
        load(path, trusted=["my_spectra.SNV"])
    for name in ("my_spectra", "my_spectra._snv", "my_spectra._other"):
        sys.modules.pop(name)


def test_what_scikit_learn_has_loads_as_it_is_and_what_has_no_name_is_not_saved(tmp_path):
    data = Dataset.from_classes(X, CLASSES)
    model = fit_on(OPLS(), data, encoder=make_pipeline(FunctionTransformer(np.abs), StandardScaler()))
    assert "trusted" not in model_card(model, data)
    assert np.array_equal(load(save(model, tmp_path / "m.skops")).transform(X), model.transform(X))
    without_name = FunctionTransformer(lambda rows: rows)
    with pytest.raises(ValueError, match="has no name by which it can be imported"):
        save(fit_on(OPLS(), data, encoder=without_name), tmp_path / "n.skops")
    with pytest.raises(ValueError, match="has no name by which it can be imported"):
        check_model_path(tmp_path / "n.skops", without_name)


class Bare(TransformerMixin, BaseEstimator):
    """An encoder that names no features and changes their number."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X[:, :2]


def test_features_without_names_are_numbered():
    encoder = RowEncoder(Bare())
    encoder.fit_transform(X)
    assert encoder.get_feature_names_out().tolist() == ["encoded0", "encoded1"]


def test_a_file_of_new_rows_goes_through_a_model_with_an_encoder(tmp_path):
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(y=CLASSES)
    frame.to_csv(tmp_path / "t.csv", index=False)
    data = read(tmp_path / "t.csv", labels="y")
    model = fit_on(OPLS(), data, encoder=FunctionTransformer(snv))
    assert np.allclose(model.transform(read(tmp_path / "t.csv", labels="y").X), model.transform(X), atol=1e-8)
