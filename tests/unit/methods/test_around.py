"""ReadoutAxes: inner products and cosines are those of label scores; one fit of the method serves all sizes."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from proxembed import OPLS, PCA, EmbeddingSearch, Kernelized, LaplacianEigenmaps, ReadoutAxes, load, save
from proxembed.classify.ridge import loo_penalty
from proxembed.data import read
from proxembed.evaluate.arms import embedding_arm, title_of
from proxembed.evaluate.costs import Shape, fit_work
from proxembed.evaluate.measures import MEASURES
from proxembed.evaluate.part import make_part, prepare
from proxembed.methods.around import readout_axes
from proxembed.model import embedding_pipeline
from proxembed.splits.splits import standard_split
from proxembed.study.candidates import candidates, suited
from proxembed.study.trials import measured, run_trial
from proxembed.targets.labels import LabelMatrix

rng = np.random.default_rng(0)
X = rng.normal(size=(150, 8)) * np.arange(1, 9)
Y = (X[:, :4] + 2 * rng.normal(size=(150, 4)) > 1).astype(int)
JACCARD = MEASURES["Jaccard@10"]


def cosines(Z):
    Z = Z - Z.mean(axis=0)
    Z = Z / np.linalg.norm(Z, axis=1, keepdims=True)
    return Z @ Z.T


@pytest.mark.parametrize("k", [1, 3, 4])
def test_cosines_are_those_of_the_scores_of_a_ridge_regression(k):
    model = ReadoutAxes(PCA(), n_components=k).fit(X, Y)
    Z = PCA(n_components=k).fit_transform(X)
    ridge = Ridge(alpha=loo_penalty(Z, 2.0 * Y - 1)).fit(Z, 2.0 * Y - 1)
    assert model.transform(X).shape == (150, k)
    assert np.allclose(cosines(model.transform(X)), cosines(ridge.predict(Z)), atol=1e-9)
    new = rng.normal(size=(5, 8))
    own, scores = model.transform(new) - model.transform(X[:1]), Z[:1]
    scores = (PCA(n_components=k).fit(X).transform(new) - scores) @ ridge.coef_.T
    assert np.allclose(own @ own.T, scores @ scores.T)
    lengths = np.linalg.norm(model.axes_, axis=0)
    assert (np.diff(lengths) <= 1e-12).all(), "the longest axis first"


def test_there_are_no_more_axes_than_labels():
    assert ReadoutAxes(PCA(n_components=6)).fit(X, Y).transform(X).shape == (150, 4)
    with pytest.raises(ValueError, match="n_components=5 is more than the 4 labels, by which ReadoutAxes weighs"):
        ReadoutAxes(OPLS(), n_components=5).fit(X, Y)


def test_a_method_without_a_rule_for_new_rows_is_refused():
    with pytest.raises(ValueError, match="ReadoutAxes needs a method that embeds new rows"):
        ReadoutAxes(LaplacianEigenmaps(graph="directed", weights="constant", normalization="none")).fit(X, Y)


def test_rows_with_unknown_labels_take_no_part_in_the_axes():
    unknown = Y.astype(float)
    unknown[:20, 1] = np.nan
    Z = rng.normal(size=(150, 3))
    assert np.array_equal(readout_axes(Z, LabelMatrix.of(unknown)), readout_axes(Z[20:], LabelMatrix.of(Y[20:])))


def test_one_fit_serves_all_sizes_as_a_fit_of_each_would():
    part = make_part(X, LabelMatrix.of(Y), np.arange(100), np.arange(100, 150), "standard")
    whole = run_trial(ReadoutAxes(OPLS()), part, (1, 2, 3, 4, 7), JACCARD)
    assert sorted(whole.curve) == [1, 2, 3, 4] and whole.failure is None
    for k, value in whole.curve.items():
        model = ReadoutAxes(OPLS(), n_components=k).fit(part.X, part.labels)
        Z, Z_new = model.transform(part.X), model.transform(part.X_held_out)
        assert measured(JACCARD, Z, Z_new, part) == pytest.approx(value, abs=1e-12)


def test_it_is_a_candidate_where_neighbours_are_measured_and_nowhere_else():
    plain, weighed = candidates(["opls", "mvmd"]), candidates(["opls", "mvmd"], weighed=True)
    assert [c.title for c in weighed] == ["OPLS", "MVMD", "ReadoutAxes(OPLS)", "ReadoutAxes(MVMD)"]
    assert weighed[:2] == plain
    drawn = weighed[3].sample(np.random.default_rng(0))
    assert title_of(drawn) == "ReadoutAxes(MVMD)" and 0 <= drawn.method.beta <= 1
    assert weighed[3].makes(drawn) and not weighed[1].makes(drawn) and weighed[1].makes(drawn.method)
    options = {"methods": ["opls", "mvmd"], "n_components": (2, 4), "max_trials": 6, "max_seconds": None}
    near = EmbeddingSearch(**options, measure="Jaccard@10").fit(X, Y)
    assert {"ReadoutAxes(OPLS)", "ReadoutAxes(MVMD)"} < {t["method"] for t in near.trials_}
    assert all(t["failure"] is None for t in near.trials_)
    assert {t["method"] for t in EmbeddingSearch(**options).fit(X, Y).trials_} == {"OPLS", "MVMD"}


def test_a_saved_model_has_its_axes(tmp_path):
    model = embedding_pipeline(ReadoutAxes(OPLS(), n_components=3), X).fit(X, Y)
    path = tmp_path / "model.skops"
    save(model, path)
    assert np.array_equal(load(path).transform(X[:7]), model.transform(X[:7]))
    explained = model.explain(0)
    weights = model["embedding"].axes_.T @ model["embedding"].method_.components_
    assert dict(explained.features)["x0"] == pytest.approx(weights[0, 0])
    assert len(explained.labels) == 4
    assert np.abs(list(dict(explained.labels).values())).max() <= 1


def test_sizes_costs_and_prototypes_are_those_of_its_method():
    arm = embedding_arm("axes", ReadoutAxes(OPLS(), n_components=5))
    assert arm.sizes((2, 3, 5, 10)) == (2, 5) and embedding_arm("axes", ReadoutAxes()).sizes((2, 3, 5)) == (2, 5)
    shape = Shape(2000, 50, 50.0, 5)
    assert fit_work(OPLS(), shape) < fit_work(ReadoutAxes(OPLS()), shape) < fit_work(Kernelized(), shape)
    made = suited(ReadoutAxes(Kernelized(OPLS())), 5000, 3)
    assert made.method.n_prototypes == 1000 and made.method.random_state == 3


@pytest.mark.slow
@pytest.mark.parametrize("method", [OPLS(), Kernelized()], ids=title_of)
def test_neighbours_of_enron_share_more_labels(data_folder, method):
    data = read(data_folder / "enron.npz")
    part = prepare(data, standard_split(data))
    plain, weighed = (run_trial(each, part, (part.labels.c,), JACCARD) for each in (method, ReadoutAxes(method)))
    assert max(weighed.curve.values()) > max(plain.curve.values()) + 0.03
