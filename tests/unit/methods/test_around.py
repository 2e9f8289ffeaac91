"""ReadoutAxes: inner products and cosines are those of label scores; one fit of the method serves all sizes.

Scaled: the method on rows that it scales for itself.
"""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import PCA as SKPCA
from sklearn.linear_model import Ridge
from sklearn.preprocessing import QuantileTransformer

from designs import pairwise
from proxembed import OPLS, PCA, EmbeddingSearch, Kernelized, LaplacianEigenmaps, ReadoutAxes, Scaled, load, save
from proxembed.classify.ridge import loo_penalty
from proxembed.estimator.catalogue import title_of
from proxembed.evaluate.arms import Arm, embedding_arm
from proxembed.evaluate.costs import KERNEL_ROWS, Shape, fit_work
from proxembed.evaluate.part import make_part
from proxembed.evaluate.results import RIDGE
from proxembed.evaluate.scoring import Measures, Readings, embed, refit_on_inner_folds, score
from proxembed.features.scaling import scaling_apply
from proxembed.measures.measures import MEASURES
from proxembed.methods.around import readout_axes
from proxembed.methods.pipeline import embedding_pipeline
from proxembed.study.candidates import Draws, candidates, family_of, suited
from proxembed.targets.labels import LabelMatrix

rng = np.random.default_rng(0)
X = rng.normal(size=(150, 8)) * np.arange(1, 9)
Y = (X[:, :4] + 2 * rng.normal(size=(150, 4)) > 1).astype(int)
JACCARD = MEASURES["Jaccard@10"]


def curve(method, part, sizes, measure):
    """The scores of one fit of a method at all sizes."""
    found = score(Arm("it", method), part, Measures(((measure, RIDGE),), sizes))
    assert found.failure is None
    return found.curve


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
    unknown[:20] = np.nan
    Z = rng.normal(size=(150, 3))
    assert np.array_equal(readout_axes(Z, LabelMatrix.of(unknown)), readout_axes(Z[20:], LabelMatrix.of(Y[20:])))


def test_one_fit_serves_all_sizes_as_a_fit_of_each_would():
    train = np.concatenate([np.arange(100), np.arange(30)])  # equal rows count as one that occurs twice
    part = make_part(X, LabelMatrix.of(Y), train, np.arange(100, 150), "standard")
    whole = curve(ReadoutAxes(OPLS()), part, (1, 2, 3, 4, 7), JACCARD)
    assert sorted(whole) == [1, 2, 3, 4]
    for k, value in whole.items():
        model = ReadoutAxes(OPLS(), n_components=k).fit(part.X, part.labels)
        Z, Z_new = model.transform(part.X), model.transform(part.X_held_out)
        found, _ = JACCARD.value(part.Y_held_out, Readings(Z, Z_new, part).of(JACCARD))
        assert found == pytest.approx(value, abs=1e-12)


def test_it_is_a_candidate_where_neighbours_are_measured_and_nowhere_else():
    plain, weighed = candidates(["opls", "mvmd"]), candidates(["opls", "mvmd"], weighed=True)
    assert [c.title for c in weighed] == ["OPLS", "MVMD", "ReadoutAxes(OPLS)", "ReadoutAxes(MVMD)"]
    assert weighed[:2] == plain
    drawn = weighed[3].sample(Draws(np.random.default_rng(0)))
    assert title_of(drawn) == "ReadoutAxes(MVMD)" and 0 <= drawn.method.beta <= 1
    assert weighed[3].makes(drawn) and not weighed[1].makes(drawn) and weighed[1].makes(drawn.method)
    options = {"methods": ["opls", "mvmd"], "n_components": (2, 4), "max_trials": 6, "max_seconds": None}
    near = EmbeddingSearch(**options, measure="Jaccard@10").fit(X, Y)
    assert {"ReadoutAxes(OPLS)", "ReadoutAxes(MVMD)"} < {t["method"].replace("Scaled", "") for t in near.trials_}
    assert all(t["failure"] is None for t in near.trials_)
    assert not any("ReadoutAxes" in t["method"] for t in EmbeddingSearch(**options).fit(X, Y).trials_)


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
    made = suited(ReadoutAxes(Kernelized(OPLS())), KERNEL_ROWS + 1, 3)
    assert made.method.n_prototypes == 1000 and made.method.random_state == 3


def test_it_is_the_method_on_rows_scaled_by_scikit_learn():
    """Normal scores, then as many principal components as hold the share, written out."""
    new = X[100:] + 0.1
    model = Scaled(OPLS(n_components=2), "quantile", pca_var=0.6).fit(X[:100], Y[:100])
    scale = QuantileTransformer(n_quantiles=100, output_distribution="normal", subsample=None).fit(X[:100])
    project = SKPCA(n_components=0.6, svd_solver="full").fit(scale.transform(X[:100]))
    expected = OPLS(n_components=2).fit(project.transform(scale.transform(X[:100])), Y[:100])
    Z = expected.transform(project.transform(scale.transform(new)))
    assert project.n_components_ < 8
    np.testing.assert_allclose(np.abs(model.transform(new)), np.abs(Z), atol=1e-9)
    whole = Scaled(OPLS(n_components=2), "none").fit(X, Y)
    np.testing.assert_array_equal(whole.transform(X), OPLS(n_components=2).fit(X, Y).transform(X))


def test_normal_scores_of_sparse_rows_are_dense_and_keep_the_type_of_rows():
    of_sparse = Scaled(OPLS(), "quantile").fit(sparse.csr_array(X), Y)
    np.testing.assert_allclose(of_sparse.transform(X), Scaled(OPLS(), "quantile").fit(X, Y).transform(X))
    model = Scaled(OPLS(), "quantile").fit(X.astype(np.float32), Y)
    assert model.transform(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(model.transform(sparse.csr_array(X)), model.transform(X))


@pytest.mark.parametrize("wrapped", [ReadoutAxes(OPLS()), Scaled(OPLS())], ids=title_of)
def test_what_scales_or_weighs_stands_outside(wrapped):
    with pytest.raises(ValueError, match=r"Scaled cannot wrap \w+; put Scaled inside it"):
        Scaled(wrapped).fit(X, Y)


def test_parts_give_it_the_rows_as_they_are():
    """In a trial, an arm and its refits the standardised part is not seen; the pipeline scales nothing before it."""
    standard, plain = (
        make_part(X, LabelMatrix.of(Y), np.arange(100), np.arange(100, 150), kind) for kind in ("standard", "none")
    )
    precision = MEASURES["macro average precision"]
    for method in (Scaled(PCA(), "none"), ReadoutAxes(Scaled(PCA(), "none"))):
        own = curve(method, standard, (1, 2), precision)
        alone = method.set_params(method=PCA()) if method.class_traits.each_size else PCA()
        assert own == curve(alone, plain, (1, 2), precision)
        assert own != curve(PCA(), standard, (1, 2), precision)
    arm = Arm("own", Scaled(OPLS(), "none"))
    Z_new = embed(arm, standard, (2,)).Z_held_out
    expected = OPLS(n_components=2).fit(X[:100], Y[:100])
    np.testing.assert_array_equal(Z_new, expected.transform(X[100:]))
    (others, _), *_ = refit_on_inner_folds(arm, standard, (2,))
    inner = standard.inner == 0
    refit = OPLS(n_components=2).fit(X[:100][~inner], Y[:100][~inner])
    np.testing.assert_array_equal(others.Z_held_out, refit.transform(X[:100][inner]))
    assert embedding_pipeline(Scaled(OPLS()), X)["scaling"].kind == "none"
    assert embedding_pipeline(ReadoutAxes(Scaled(OPLS())), X)["scaling"].kind == "none"


def test_draws_of_a_search_have_scalings_of_their_own():
    pool = candidates(["opls", "kernelized"], weighed=True, scalings=("standard", "none", "unit"))
    draws = [pool[1].sample(Draws(np.random.default_rng(seed))) for seed in range(200)]
    scaled = [each for each in draws if isinstance(each, Scaled)]
    assert 80 < len(scaled) < 180 and {each.kind for each in scaled} == {"standard", "none", "unit"}
    assert len({each.pca_var for each in scaled}) == 5 and all(pool[1].makes(each) for each in draws)
    linear = [pool[0].sample(Draws(np.random.default_rng(seed))) for seed in range(200)]
    assert {each.pca_var for each in linear if isinstance(each, Scaled)} == {1.0}
    assert 60 < sum(isinstance(each, Scaled) for each in linear) < 140
    assert {family_of(each) for each in linear} == {"OPLS"}
    weighed = [pool[3].sample(Draws(np.random.default_rng(seed))) for seed in range(20)]
    assert "ReadoutAxes(Scaled(Kernelized(OPLS)))" in {title_of(each) for each in weighed} and all(
        map(pool[3].makes, weighed)
    )
    assert title_of(pool[1].default()) == "Kernelized(OPLS)"


def test_a_search_finds_the_scaling_that_serves(tmp_path):
    """Two features carry the labels; all others are noise of small size, which standardising blows up."""
    rng = np.random.default_rng(3)
    signal = rng.normal(size=(160, 2))
    features = np.hstack([10 * signal, 0.1 * rng.normal(size=(160, 30))])
    labels = (signal + 0.2 * rng.normal(size=(160, 2)) > 0).astype(int)
    found = EmbeddingSearch(["pca"], 2, max_trials=8, max_seconds=None).fit(features, labels)
    assert found.scaling_ == "standard" and found.best_params_["method"] == "Scaled(PCA)"
    assert found.best_params_["kind"] == "none" and found.best_score_ > found.trials_[0]["score"] + 0.1
    assert found.best_estimator_["scaling"].kind == "none"
    path = tmp_path / "model.skops"
    save(found.best_estimator_, path)
    assert np.array_equal(load(path).transform(features), found.transform(features))
    first = found.best_estimator_["embedding"]
    effect = first.components_[0, 0] * features[:, 0].std()
    assert dict(found.best_estimator_.explain(0).features)["x0"] == pytest.approx(effect)


def test_quantiles_are_saved_as_arrays(tmp_path):
    model = embedding_pipeline(Scaled(OPLS(), "quantile", pca_var=0.9), X).fit(X, Y)
    save(model, tmp_path / "model.skops")
    assert np.array_equal(load(tmp_path / "model.skops").transform(X[:9] + 1), model.transform(X[:9] + 1))
    state, axes = model["embedding"].state_, model["embedding"].axes_
    assert state.quantiles.shape == (150, 8)
    effects = model["embedding"].components_[0] @ axes.axes.T * scaling_apply(state, X).std(axis=0)
    assert dict(model.explain(0).features)["x3"] == pytest.approx(effects[3])


@pairwise
@pytest.mark.parametrize("inner", [OPLS(), Kernelized(OPLS(), kernel="linear")], ids=["linear", "kernel"])
@pytest.mark.parametrize("pca_var", [1.0, 0.95])
@pytest.mark.parametrize("kind", ["none", "center", "standard", "pca", "whiten", "quantile"])
def test_bars_show_the_effect_of_one_standard_deviation(kind, pca_var, inner):
    """A rare label-like column has scores of -5.2 and 5.2: its weight alone would say little of its effect."""
    rows = np.column_stack([X[:, :4] * [1, 2, 3, 1], X[:, 0] > 1.2])
    model = Scaled(clone(inner), kind, pca_var=pca_var, n_components=2).fit(rows, Y)
    told = model.explain(1)
    scaled = rows if kind in ("pca", "whiten") else scaling_apply(model.state_, rows)
    slopes = np.linalg.lstsq(scaled - scaled.mean(axis=0), model.transform(rows)[:, 1], rcond=None)[0]
    effects = slopes * scaled.std(axis=0)
    assert told.effects and [name for name, _ in told.features] == [f"x{j}" for j in np.argsort(-np.abs(effects))]
    np.testing.assert_allclose(
        [dict(told.features)[f"x{j}"] for j in range(5)], effects, atol=1e-6 * abs(effects).max()
    )
