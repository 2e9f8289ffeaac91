"""Models: which scaling suits X, the pipeline of scaling, embedding and read-out, and the labels to fit it on."""

import warnings

import numpy as np
import pandas
import polars
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.manifold import TSNE
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import strategies
from proxembed import (
    MESD,
    OPLS,
    PCA,
    Isomap,
    Kernelized,
    LaplacianEigenmaps,
    Layout,
    MultiOutputRidge,
    RelationFeatures,
    Scaling,
    TableEncoder,
    TargetSpace,
    load,
    save,
)
from proxembed.algebra.arrays import centred
from proxembed.classify import Thresholded
from proxembed.classify.thresholds import label_folds, tune_thresholds
from proxembed.data import Dataset
from proxembed.estimator.base import SpectralEmbedder
from proxembed.features.scaling import scaling_kind
from proxembed.measures.calibration import calibrated, probabilities_of
from proxembed.measures.metrics import macro_f1
from proxembed.methods.pipeline import (
    EmbeddingPipeline,
    cut_rows,
    embedding_part,
    embedding_pipeline,
    fit_model,
    fit_on,
    source_of,
    training_labels,
    unseen_scores,
)
from proxembed.methods.table_encoder import table_of
from proxembed.targets.labels import LabelMatrix

N, D = 60, 7
Y = strategies.labels_multi(N, 3, 1).astype(int)
X = strategies.told_by_labels(strategies.features_dense(N, D, 1), Y, 1)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (sp.csr_array([[0, 3.0], [1.0, 0]]), "tfidf"),
        (sp.csr_array([[0, 1.0], [1.0, 0]]), "none"),
        (sp.csr_array([[0, 2.5], [1.0, 0]]), "none"),
        (sp.csr_array([[0, -3.0], [1.0, 0]]), "none"),
        (sp.csr_array((2, 2)), "none"),
        (sp.csc_matrix([[0, 3.0], [1.0, 0]]), "tfidf"),
        (np.array([[0, 3.0], [1.0, 0]]), "standard"),
    ],
)
def test_scaling_follows_the_features(values, kind):
    assert scaling_kind(values) == kind
    assert embedding_pipeline(PCA(), values)["scaling"].kind == kind


def test_the_pipeline_embeds_and_predicts():
    model = embedding_pipeline(OPLS(n_components=2), X).fit(X, Y)
    assert [name for name, _ in model.steps] == ["scaling", "embedding", "readout"]
    assert isinstance(model["readout"], Thresholded)
    Z = embedding_part(model).transform(X)
    standard = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    np.testing.assert_allclose(Z, OPLS(n_components=2).fit(standard, Y).transform(standard), atol=1e-9)
    assert (model.predict(X) == Y).mean() > 0.8


def steps_one_by_one(model, rows):
    for step in model.named_steps.values():
        if not hasattr(step, "transform"):
            return step.decision_function(rows)
        rows = step.transform(rows)
    return rows


@pytest.mark.parametrize("kind", ["standard", "center", "unit", "pca"])
@pytest.mark.parametrize(("dtype", "bound"), [("float64", 1e-12), ("float32", 3e-6)])
@pytest.mark.parametrize("method", [OPLS(n_components=2), PCA(), Kernelized(OPLS(n_components=2))])
def test_rows_embedded_at_once_are_those_of_one_step_after_the_other(kind, dtype, bound, method, monkeypatch):
    monkeypatch.setattr(centred, "CAST_BYTES", 1)  # blocks of 64 rows
    far = (np.tile(X, (3, 1)) * np.arange(1, D + 1) + 1000.0).astype(dtype)
    kept = far.copy()
    model = embedding_pipeline(method, far, scaling=kind).fit(far, np.tile(Y, (3, 1)))
    for found, part in ((model.transform(far), model[:-1]), (model.decision_function(far), model)):
        wanted = steps_one_by_one(part, far)
        assert found.dtype == wanted.dtype and np.abs(found - wanted).max() <= bound * np.abs(wanted).max()
    np.testing.assert_array_equal(model.predict(far), model.decision_function(far) > 0)
    np.testing.assert_array_equal(far, kept)


@pytest.mark.parametrize(("dtype", "bound"), [("float64", 1e-10), ("float32", 1e-5)])
@pytest.mark.parametrize("kind", ["standard", "center"])
def test_scores_and_labels_by_one_product_are_those_of_one_step_after_the_other(kind, dtype, bound, monkeypatch):
    far = (np.tile(X, (3, 1)) * np.arange(1, D + 1) + 1000.0).astype(dtype)
    labels = np.tile(Y, (3, 1))
    taken = []
    whole = SpectralEmbedder.transform_blockwise
    monkeypatch.setattr(
        SpectralEmbedder, "transform_blockwise", lambda *given: taken.append(whole(*given)) or taken[-1]
    )
    for readout in (Thresholded(), MultiOutputRidge(min_one=True)):
        model = embedding_pipeline(PCA(n_components=4), far, scaling=kind)
        model.steps[-1] = ("readout", readout)
        model.fit(far, labels)
        wanted = steps_one_by_one(model, far)
        for rows in (far, np.asfortranarray(far)):
            taken.clear()
            scores, predicted = model.decision_function(rows), model.predict(rows)
            assert [each.shape for each in taken] == [scores.shape] * 2  # no embedding between
            assert scores.dtype == wanted.dtype and np.abs(scores - wanted).max() <= bound * np.abs(wanted).max()
            clear = np.abs(wanted) > bound * np.abs(wanted).max()
            by_steps = readout.predict(model[:-1].transform(rows))
            assert predicted.dtype == by_steps.dtype and ((predicted == by_steps) | ~clear).all()
            np.testing.assert_array_equal(predicted, readout.labels_of(scores))


def test_a_readout_without_one_product_is_taken_by_itself():
    sets = [set(np.flatnonzero(row).tolist()) for row in Y]
    model = embedding_pipeline(OPLS(n_components=2), X).fit(X, sets)
    assert model.predict(X) == model[-1].predict(model[:-1].transform(X))
    model = embedding_pipeline(OPLS(n_components=1), X).fit(X, Y[:, 0])
    assert model[-1].linear_scores() is None  # classes: the classifier chooses among them
    np.testing.assert_array_equal(model.predict(X), model[-1].predict(model[:-1].transform(X)))
    assert Thresholded().linear_scores() is None and MultiOutputRidge().linear_scores() is None


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_entries_that_are_not_finite_are_refused_as_by_the_first_step(wrong):
    model = embedding_pipeline(OPLS(n_components=2), X).fit(X, Y)
    for rows in (np.where(X == X.max(), wrong, X), X[:, :-1], X[:0]):
        with pytest.raises(ValueError) as first:
            model[0].transform(rows)
        for call in (model.transform, model.predict, model.decision_function):
            with pytest.raises(ValueError) as caught:
                call(rows)
            assert str(caught.value) == str(first.value)


def test_a_step_that_gives_frames_is_taken_by_itself():
    model = embedding_pipeline(OPLS(n_components=2), X).fit(X, Y)
    plain = model.transform(X)
    model[0].set_output(transform="pandas")
    with pytest.warns(UserWarning, match="X has feature names, but OPLS"):
        np.testing.assert_allclose(model.transform(X), plain, atol=1e-12)


def test_without_a_readout_the_pipeline_is_the_embedding():
    model = embedding_pipeline(OPLS(), X, readout=False).fit(X, Y)
    assert embedding_part(model) is model and not hasattr(model, "predict")


def test_fitting_leaves_the_method_as_it_was():
    method = OPLS(n_components=2)
    embedding_pipeline(method, X).fit(X, Y)
    assert not hasattr(method, "components_")


def test_kernel_values_are_not_scaled():
    K = X @ X.T
    model = embedding_pipeline(Kernelized(PCA(), kernel="precomputed"), K, readout=False)
    assert model["scaling"].kind == "none"
    np.testing.assert_allclose(
        model.fit_transform(K, None), Kernelized(PCA(), kernel="precomputed").fit_transform(K), atol=1e-9
    )


@pytest.mark.parametrize("method", [OPLS, "opls", None, MultiOutputRidge()])
def test_what_is_no_transformer_is_refused(method):
    with pytest.raises(TypeError, match="is not a transformer; pass an embedding"):
        embedding_pipeline(method, X)


def test_a_mere_classifier_has_no_embedding():
    with pytest.raises(TypeError, match="MultiOutputRidge only predicts"):
        embedding_part(MultiOutputRidge())


@pytest.mark.parametrize("model", [TSNE(), make_pipeline(StandardScaler(), TSNE())])
def test_a_map_that_places_no_new_rows_is_refused_and_its_scaling_is_not_taken_for_it(model):
    with pytest.raises(TypeError, match="TSNE has no transform.*Layout, or openTSNE.sklearn.TSNE"):
        embedding_part(model)


def test_a_search_is_its_own_embedding():
    class Search(BaseEstimator):
        def transform(self, X):
            return X

    search = Search()
    assert embedding_part(search) is search


def test_one_class_a_row_becomes_names_and_exactly_one_is_predicted():
    classes = strategies.labels_classes(N, 3, 1)
    rows = strategies.told_by_labels(strategies.features_dense(N, D, 1), strategies.one_hot(classes), 1)
    names = ("Zoë", "a b", "<i>")
    data = Dataset.from_classes(rows, classes, names)
    y = training_labels(data)
    assert y.tolist() == [names[j] for j in classes]
    found = embedding_pipeline(MESD(n_components=2), rows).fit(rows, y).predict(rows)
    assert set(found) <= set(names) and (found == y).mean() > 0.8


def test_other_labels_stay_an_indicator_with_the_unknown():
    assert training_labels(Dataset(X, Y)).toarray().tolist() == Y.tolist()
    unknown = np.zeros((N, 3), dtype=bool)
    unknown[4, 1] = True
    y = training_labels(Dataset(X, np.where(unknown, 0, Y), unknown=unknown))
    assert np.isnan(y[4, 1]) and np.isnan(y).sum() == 1


def test_the_source_tells_how_rows_were_read_and_names_the_labels():
    data = Dataset(X, Y, label_names=["a", "b", "c"], source={"format": "table"})
    assert source_of(data) == {"format": "table", "label_names": ["a", "b", "c"]}
    plain = source_of(Dataset(X, Y, feature_names=list("stuvwxy"), label_names=["a", "b", "c"]))
    assert plain == {"n_features": D, "names": list("stuvwxy"), "label_names": ["a", "b", "c"]}


def noisy(n=90, d=60, seed=3):
    """Many features that say little: an embedding separates its own rows far better than new ones."""
    rng = np.random.default_rng(seed)
    labels = rng.random((n, 2)) < (0.3, 0.15)
    return rng.normal(size=(n, d)) + labels @ rng.normal(size=(2, d)) * 0.1, labels.astype(float)


def test_cuts_are_those_of_scores_by_models_that_have_not_seen_the_rows():
    values, labels = noisy()
    model = fit_model(embedding_pipeline(OPLS(n_components=2), values), values, labels)
    scores = np.empty(labels.shape)
    for train, held_out in label_folds(3, labels > 0):
        part = embedding_pipeline(OPLS(n_components=2), values, readout=False).fit(values[train], labels[train])
        ridge = MultiOutputRidge(penalty="auto").fit(part.transform(values[train]), labels[train].astype(int))
        scores[held_out] = ridge.decision_function(part.transform(values[held_out]))
    assert model["readout"].cuts_ == pytest.approx(tune_thresholds(scores, labels).cuts)
    plain = embedding_pipeline(OPLS(n_components=2), values).fit(values, labels)
    assert np.abs(model["readout"].cuts_ - plain["readout"].cuts_).max() > 0.1  # the check above can fail


def test_cuts_of_unseen_rows_serve_new_rows_better():
    train, new = slice(200), slice(200, None)
    for seed in range(3):
        values, labels = noisy(3000, seed=seed)
        model = embedding_pipeline(OPLS(n_components=2), values)
        seen = macro_f1(labels[new], model.fit(values[train], labels[train]).predict(values[new]))[0]
        unseen = macro_f1(labels[new], fit_model(model, values[train], labels[train]).predict(values[new]))[0]
        assert unseen > seen + 0.03


def test_rows_with_unknown_labels_are_learnt_from_in_every_fold_and_have_no_scores():
    values, labels = noisy()
    labels[::9] = np.nan
    fitted = []

    class Watched(PCA, abstract=True):
        def fit(self, X, y=None):
            fitted.append(X)
            return super().fit(X)

        def fit_transform(self, X, y=None):
            return self.fit(X).transform(X)

    scores = unseen_scores(Watched(n_components=2), values, LabelMatrix.of(labels))
    assert scores.shape == (80, 2) and len(fitted) == 3
    assert all((values[::9][:, None] == part).all(axis=2).any(axis=1).all() for part in fitted)


def test_a_map_is_fitted_to_some_rows_for_cuts_and_places_the_others():
    values, labels = noisy()
    labels[::3] = np.nan
    known = np.flatnonzero(LabelMatrix.of(labels).rows_any)
    fitted = []

    class Watched(PCA, abstract=True):
        most_rows_for_cuts = 50

        def fit(self, X, y=None):
            fitted.append(X)
            return super().fit(X)

        def fit_transform(self, X, y=None):
            return self.fit(X).transform(X)

    assert cut_rows(Watched(), 90) == 50 and cut_rows(OPLS(), 90) == 60 and cut_rows(Layout(), 9000) == 1000
    scores = unseen_scores(Watched(n_components=2), values, LabelMatrix.of(labels))
    assert scores.shape == (len(known), 2) and np.isfinite(scores).all()
    assert [len(part) for part in fitted] == [50] * 3, "all 40 rows with labels, and 10 of 30 without"
    of_fit = [(values[:, None] == part).all(axis=2).any(axis=1) for part in fitted]
    assert all(each[known].sum() == 40 for each in of_fit)
    assert np.sum(of_fit, axis=0)[known].tolist() == [2] * len(known), "each is left out by one of the three"


def test_a_fold_without_a_rare_label_has_fewer_components_and_scores_all_the_same():
    values, labels = noisy()
    rare = np.column_stack([labels, np.arange(90) == 4])
    scores = unseen_scores(OPLS(n_components=3), values, LabelMatrix.of(rare.astype(float)))
    assert scores.shape == (90, 3) and np.isfinite(scores).all()


class _Many(PCA):
    """Refuses fewer than 20 rows."""

    def fit_transform(self, X, y=None):
        if len(X) < 20:
            raise ValueError("too few rows")
        return super().fit_transform(X)


def test_cuts_stay_with_a_warning_where_a_fold_cannot_be_fitted():
    values, labels = noisy(20, 40)
    with pytest.warns(UserWarning, match="cuts and probabilities are tuned on rows that .*: too few rows"):
        fit_model(embedding_pipeline(_Many(n_components=2), values), values, labels)


def test_one_class_a_row_needs_no_cuts():
    model = fit_model(embedding_pipeline(OPLS(), X), X, Y.argmax(axis=1))
    assert model["readout"].cuts_ is None and set(model.predict(X)) <= {0, 1, 2}


def test_rows_of_a_group_are_scored_by_models_that_have_seen_none_of_them():
    rng = np.random.default_rng(0)
    values = np.repeat(rng.normal(size=(30, 40)), 3, axis=0)
    labels = LabelMatrix.of(np.repeat(rng.random((30, 1)) < 0.5, 3, axis=0).astype(float))
    values += 0.001 * rng.normal(size=values.shape)  # equal rows would be left out together
    groups, truth = np.repeat(np.arange(30), 3), labels.Y.toarray().ravel()
    apart = unseen_scores(OPLS(n_components=1), values, labels, groups).ravel()
    leaked = unseen_scores(OPLS(n_components=1), values, labels).ravel()
    assert abs(np.corrcoef(apart, truth)[0, 1]) < 0.5 < np.corrcoef(leaked, truth)[0, 1]


def named_data(single: bool = False) -> Dataset:
    names, labels = [f"f{j}" for j in range(D)], ["sea", "sky", "sand"]
    if single:
        return Dataset.from_classes(X, np.asarray(labels)[Y.argmax(axis=1)], feature_names=names)
    return Dataset(X, Y, names, labels)


@pytest.mark.default_configuration
def test_a_model_is_a_pipeline_that_embeds():
    """What scikit-learn asks of a pipeline, with and without a read-out."""
    model = fit_on(OPLS(n_components=2), named_data())
    Z = model["embedding"].transform(model["scaling"].transform(X))
    for found in (model.transform(X), model[:-1].transform(X)):
        np.testing.assert_allclose(found, Z, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), model["readout"].predict(Z))
    np.testing.assert_allclose(model.decision_function(X), model["readout"].decision_function(Z), rtol=0, atol=1e-12)
    assert list(model.named_steps) == ["scaling", "embedding", "readout"] and isinstance(model, Pipeline)
    assert model.get_feature_names_out().tolist() == ["opls0", "opls1"] and model.n_features_in_ == D
    assert "scaling" in model._repr_html_() and repr(model).startswith("EmbeddingPipeline(steps=")
    again = clone(model).set_params(embedding__n_components=1).fit(X, Y)
    assert again.transform(X).shape == (N, 1) and model.transform(X).shape == (N, 2)
    np.testing.assert_allclose(clone(model).fit_transform(X, Y), Z, rtol=0, atol=1e-12)
    framed = clone(model).set_output(transform="pandas").fit(X, Y)
    assert framed.transform(X).columns.tolist() == ["opls0", "opls1"]
    np.testing.assert_array_equal(framed.predict(X), clone(model).fit(X, Y).predict(X))
    assert 0.5 < cross_val_score(model, X, Y, cv=3).mean() <= 1


def test_a_model_is_a_step_of_another_pipeline():
    model = make_pipeline(embedding_pipeline(OPLS(n_components=2), X), MultiOutputRidge()).fit(X, Y)
    assert model.predict(X).shape == Y.shape and model[:-1].transform(X).shape == (N, 2)


def test_what_cannot_embed_or_explain_says_so():
    assert not hasattr(EmbeddingPipeline([("readout", MultiOutputRidge())]), "transform")
    with pytest.raises(AttributeError) as refusal:
        embedding_pipeline(Isomap(), X).explain  # noqa: B018
    assert "Isomap has no projection" in str(refusal.value.__cause__) and "explain_row" in str(refusal.value.__cause__)
    direct = EmbeddingPipeline([("scaling", Scaling()), ("embedding", LaplacianEigenmaps(normalization="none"))])
    assert not hasattr(direct, "transform")


@pytest.mark.parametrize("method", [OPLS(n_components=2), Kernelized(OPLS(), n_components=2)], ids=["linear", "kernel"])
@pytest.mark.parametrize("single", [False, True])
def test_a_model_of_a_data_set_explains_by_name(method, single, tmp_path):
    data = named_data(single)
    model = fit_on(method, data)
    other = load(save(model, tmp_path / "m.skops"))
    for told in (model.explain(0), other.explain(0)):
        assert {name for name, _ in told.features} == set(data.feature_names)
        assert {name for name, _ in told.labels} == {"sea", "sky", "sand"}
    assert other.explain(1, 2, 1) == model.explain(1, 2, 1) and len(model.explain(1, 2, 1).features) == 2


@pytest.mark.parametrize("method", [OPLS(n_components=1), Kernelized(OPLS(), n_components=1)])
def test_a_model_of_numbers_explains_by_the_names_of_the_outputs(method):
    outputs = pandas.DataFrame({"fat": X[:, 0] + 0.1 * X[:, 1], "water": -X[:, 0] + 0.1 * X[:, 2]})
    names = [f"{850 + j}" for j in range(X.shape[1])]
    told = fit_on(method, Dataset.from_targets(X, outputs, feature_names=names)).explain(0)
    loadings = dict(told.labels)
    assert set(loadings) == {"fat", "water"} and loadings["fat"] * loadings["water"] < 0
    assert told.features[0][0] == "850"


@pytest.mark.parametrize("dataset", [(np.eye(4), np.eye(4)), np.eye(4), OPLS()])
def test_what_is_no_data_set_is_refused_with_the_remedy(dataset):
    with pytest.raises(TypeError, match=r"needs a data set; got \w+\. Make one with Dataset\(X, Y\)"):
        fit_on(OPLS(), dataset)


def test_a_model_of_a_table_explains_by_what_its_columns_become():
    frame = pandas.DataFrame({"size": X[:, 0], "kind": np.where(Y[:, 0] > 0, "big", "small")})
    model = embedding_pipeline(OPLS(n_components=1), table_of(frame)).fit(frame, Y)
    assert {name for name, _ in model.explain(0).features} == {"size", "kind=big", "kind=small"}


def test_relation_features_are_traced_back_to_the_features():
    data = named_data()
    steps = [("scaling", Scaling("standard")), ("relation", RelationFeatures("gaussian")), ("embedding", OPLS())]
    model = EmbeddingPipeline(steps).fit(pandas.DataFrame(X, columns=data.feature_names), Y)
    told = model.explain(0)
    assert told.effects and {name for name, _ in told.features} == set(data.feature_names)
    expected = model["relation"].feature_effects(model["embedding"].components_)[0]
    assert told.features[0][1] == expected[np.abs(expected).argmax()]


NAMED = pandas.DataFrame(X, columns=[f"width_{j}" for j in range(D)])
OF_NAMES = fit_on(OPLS(n_components=2), Dataset(X, Y, list(NAMED.columns)))


@pytest.mark.parametrize("call", ["transform", "predict", "decision_function"])
def test_columns_of_a_frame_are_selected_by_name(call, tmp_path):
    given = NAMED.assign(extra="text")[["extra", *reversed(NAMED.columns)]]
    saved, of_frame = load(save(OF_NAMES, tmp_path / "m.skops")), embedding_pipeline(OPLS(), NAMED).fit(NAMED, Y)
    for model in (OF_NAMES, saved, of_frame):
        wanted = getattr(model, call)(NAMED)
        np.testing.assert_allclose(getattr(model, call)(given), wanted)
        np.testing.assert_allclose(getattr(model, call)(polars.from_pandas(given).lazy()), wanted)
        with pytest.raises(ValueError, match=r"no column 'width_3'"):
            getattr(model, call)(NAMED.rename(columns={"width_3": "height"}))
    np.testing.assert_allclose(getattr(OF_NAMES, call)(X), getattr(OF_NAMES, call)(NAMED))


def test_score_and_slices_select_by_name():
    given = NAMED[NAMED.columns[::-1]]
    assert OF_NAMES.score(given, Y) == OF_NAMES.score(NAMED, Y)
    np.testing.assert_allclose(OF_NAMES[:-1].transform(given), OF_NAMES.transform(NAMED))
    np.testing.assert_allclose(embedding_part(OF_NAMES).transform(given), OF_NAMES.transform(NAMED))


def test_a_refit_forgets_the_names():
    model = clone(OF_NAMES).fit(X, Y)
    assert not hasattr(model, "feature_names_")
    model = fit_on(OPLS(n_components=2), Dataset(X, Y, list(NAMED.columns))).fit(X, Y)
    assert not hasattr(model, "feature_names_")


@pytest.mark.default_configuration
@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_a_model_of_text_columns_gives_frames_on_request(container):
    """Its first step gives sparse rows, which no frame holds."""
    frame = pandas.DataFrame(X[:, :3], columns=list("abc")).assign(words=np.where(Y[:, 0] > 0, "red sky", "blue sea"))
    steps = [("scaling", TableEncoder()), ("embedding", OPLS(n_components=2)), ("readout", MultiOutputRidge())]
    model = EmbeddingPipeline(steps).fit(frame, Y)
    Z, predicted = model.transform(frame), model.predict(frame)
    asked = model.set_output(transform=container)
    assert asked is model and type(model.transform(frame)).__module__.startswith(container)
    for found in (model, clone(model).fit(frame, Y), model[:-1]):
        table = found.transform(frame)
        assert list(table.columns) == ["opls0", "opls1"]
        np.testing.assert_allclose(np.asarray(table), Z, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(model.predict(frame), predicted)
    np.testing.assert_array_equal(model.set_output(transform="default").transform(frame), Z)
    with pytest.raises(ValueError, match="transform='nothing' is not allowed; use 'default', 'pandas' or 'polars'"):
        model.set_output(transform="nothing")


@pytest.mark.default_configuration
def test_a_frame_keeps_its_index_in_the_output():
    rows = NAMED[NAMED.columns[::-1]].set_axis([f"row {i}" for i in range(N)])
    with config_context(transform_output="pandas"):
        model = fit_on(OPLS(n_components=2), Dataset(X, Y, list(NAMED.columns)))
        assert model.transform(rows).index.tolist() == rows.index.tolist()


def test_unknown_numbers_in_new_rows_are_told_by_row_and_column():
    holed = NAMED.copy()
    holed.iloc[3, 2] = np.nan
    for rows in (holed, holed[holed.columns[::-1]], holed.convert_dtypes()):
        with pytest.raises(ValueError, match="Input X contains NaN in row 3 of column 'width_2', but the model"):
            OF_NAMES.transform(rows)
    with pytest.raises(ValueError, match="infinity"):
        OF_NAMES.transform(NAMED.assign(width_0=np.inf, width_1=-np.inf))


def test_a_refit_forgets_the_values_of_the_labels():
    model = fit_on(OPLS(n_components=2), Dataset(X, Y, list(NAMED.columns)))
    model.label_values_ = np.array(["no", "yes"])
    assert model[:-1].label_values_ is model.label_values_
    assert not hasattr(model.fit(X, Y), "label_values_")


def test_the_read_out_of_target_space_is_its_stack_cut_by_the_shared_rule():
    """At fewer components than labels too; of groups, cuts are tuned on fits without the group."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    Y = (X[:, :3] + 0.5 * rng.normal(size=(60, 3)) > 0.3).astype(int)
    space = TargetSpace(n_estimators=5, bases=["ridge", "forest"])
    model = fit_model(embedding_pipeline(clone(space).set_params(n_components=2), X, scaling="standard"), X, Y)
    rows = model[0].transform(X)
    alone = space.fit(rows, Y)
    assert model.transform(X).shape == (60, 2)
    unseen, odds = alone.own_label_scores(), alone.label_scores(rows)
    assert model.predict_proba(X) == pytest.approx(probabilities_of(odds, calibrated(unseen, Y)))
    cuts = tune_thresholds(alone.own_label_scores(), Y).cuts
    assert model.decision_function(X) == pytest.approx(alone.label_scores(rows) - cuts)
    assert np.array_equal(model.predict(X), (alone.label_scores(rows) > cuts).astype(int))
    assert model.score(X, Y) == np.mean((model.predict(X) == Y).all(axis=1))
    groups = np.arange(60) // 4
    grouped = fit_model(embedding_pipeline(clone(space), X, scaling="standard"), X, Y, groups)
    assert not np.allclose(grouped.predict_proba(X), model.predict_proba(X), atol=1e-3)
    assert not np.allclose(grouped[-1].cuts_, model[-1].cuts_)
    classes = Y[:, 0] + Y[:, 1]
    one = fit_model(embedding_pipeline(clone(space), X), X, classes)
    assert one.predict_proba(X).sum(axis=1) == pytest.approx(1.0)
    assert np.array_equal(one.predict(X), one.classes_[one.predict_proba(X).argmax(axis=1)])


def test_one_label_with_values_has_a_column_of_probabilities_per_value():
    model = fit_on(OPLS(), Dataset(X, Y[:, :1], label_names=["bought"]))
    alone = model.predict_proba(X)
    assert alone.shape == (len(X), 1)
    model.label_values_ = np.array(["no", "yes"])
    np.testing.assert_array_equal(model.predict_proba(X), np.hstack([1 - alone, alone]))
    assert model.classes_.tolist() == ["no", "yes"]


def test_rows_of_one_group_are_fitted_like_rows_without_groups():
    """No warning says that the scores have seen the rows: an embedding that predicts by itself has unseen ones."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    classes = (X[:, 0] + 0.5 * rng.normal(size=60) > 0).astype(int)
    space = TargetSpace(n_estimators=5, bases=["ridge"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one, without = (
            fit_model(embedding_pipeline(clone(space), X), X, classes, groups) for groups in (np.zeros(60, int), None)
        )
    assert np.array_equal(one.predict_proba(X), without.predict_proba(X))


@pytest.mark.parametrize("library", [lambda frame: frame, polars.from_pandas], ids=["pandas", "polars"])
def test_a_score_takes_the_columns_of_y_by_their_names(library):
    X = np.random.default_rng(0).normal(size=(60, 4))
    Y = pandas.DataFrame({"a": X[:, 0] + 0.1 * X[:, 3], "b": 9 * X[:, 1], "c": X[:, 2] - X[:, 0]})
    L = (Y > 0).astype(int)
    wanted, other = {}, {}
    for name, table, model in (
        ("numbers", Y, OPLS(ridge=0.1).fit(X, library(Y))),
        ("labels", L, MultiOutputRidge().fit(X, library(L))),
        ("model of numbers", Y, fit_on(OPLS(), Dataset.from_targets(X, library(Y)))),
        ("model of labels", L, fit_on(OPLS(), Dataset(X, library(L)))),
    ):
        wanted[name] = model.score(X, table.to_numpy())
        other[name] = model.score(X, library(table[["c", "a", "b"]]))
    assert other == pytest.approx(wanted) and min(wanted.values()) > 0.7
    with pytest.raises(ValueError, match="y has 2 columns, and the model predicts 3"):
        OPLS(ridge=0.1).fit(X, library(Y)).score(X, library(Y[["a", "b"]]))


def test_a_score_by_label_values_takes_known_labels_of_the_fit_one_per_row():
    X = np.random.default_rng(0).normal(size=(40, 3))
    words = np.where(X[:, 0] > 0, "yes", "no")
    model = fit_on(OPLS(), Dataset(X, words[:, None] == "yes", values=["no", "yes"]))
    wanted = model.score(X, words)
    assert wanted > 0.8 and model.score(X, words[:, None]) == model.score(X, polars.Series(words.tolist())) == wanted
    hidden = np.where(np.arange(40) < 10, None, words.astype(object))
    assert model.score(X, hidden) == model.score(X, words, sample_weight=np.arange(40) >= 10)
    for y, message in (
        (words[:1], r"y has shape \(1,\); give one label for each of the 40 rows"),
        (np.column_stack([words, words]), r"y has shape \(40, 2\); give one label for each"),
        (words == "yes", "y holds none of the labels of the model, no, yes; give labels as those of the fit"),
        ([None] * 40, "y has no known label"),
    ):
        with pytest.raises(ValueError, match=message):
            model.score(X, y)
    with pytest.raises(ValueError, match="sample_weight is 0 in every row with a known label"):
        model.score(X, hidden, sample_weight=np.arange(40) < 10)
    assert model.score(X, ["perhaps"] * 40) == 0.0, "classes that the fit has not seen"
