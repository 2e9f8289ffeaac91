"""What the test rows say: panels of test rows alone, scores against a plain computation, shuffled labels."""

from contextlib import nullcontext

import numpy as np
import pytest
from sklearn.metrics import average_precision_score
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from proxembed import OPLS, PCA, ForestLeaves, Layout, TargetSpace
from proxembed.algebra.shared import Shared
from proxembed.classify import MultiOutputRidge
from proxembed.data import Dataset
from proxembed.evaluate import evidence
from proxembed.evaluate.arms import Arm
from proxembed.evaluate.evidence import held_out_evidence
from proxembed.evaluate.part import make_part
from proxembed.measures import kept_neighbors
from proxembed.splits.splits import Split
from proxembed.targets.labels import LabelMatrix


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 60))
    Y = (X[:, :3] + 0.3 * rng.normal(size=(400, 3)) > 0.5).astype(int)
    return Dataset(X, Y, label_names=["a", "b", "c"]), Split("test", np.arange(250), np.arange(250, 400))


def test_each_label_is_scored_as_scikit_learn_does(made):
    data, split = made
    found = held_out_evidence(OPLS(n_components=2), data, split)
    scale = StandardScaler().fit(data.X[split.train])
    train, test = (scale.transform(data.X[rows]) for rows in (split.train, split.held_out))
    Y = data.Y.toarray()
    raw = MultiOutputRidge(penalty="auto").fit(train, Y[split.train]).decision_function(test)
    model = OPLS(n_components=2).fit(train, Y[split.train])
    ours = MultiOutputRidge(penalty="auto").fit(model.transform(train), Y[split.train])
    embedded = ours.decision_function(model.transform(test))
    for scores, given in ((raw, found.ap_raw), (embedded, found.ap_embedded)):
        each = [average_precision_score(Y[split.held_out, j], scores[:, j]) for j in range(3)]
        assert given == pytest.approx(each, abs=1e-9)
    assert found.thresholds.shape == found.calibration.shape == (3,)
    assert np.all(found.calibration >= 0) and np.all(found.calibration < 0.3)
    curve = found.reliability
    assert (curve.labels, curve.rows) == (3, 150) and curve.cells.sum() == 450 and len(curve.cells) == 10
    assert curve.cells @ curve.share == pytest.approx(Y[split.held_out].sum())


def test_panels_are_the_test_rows_and_shuffled_labels_are_at_chance(made):
    data, split = made
    found = held_out_evidence(OPLS(n_components=3), data, split, seed=1)
    assert found.rows.tolist() == split.held_out.tolist()
    (_, pca, _, none), (title, ours, score, directions), (_, shuffled, null, _) = found.panels
    assert title == "OPLS" and none is None and pca.shape == ours.shape == shuffled.shape == (150, 2)
    chance = data.Y.toarray()[split.held_out].mean()
    assert score > chance + 0.2 and abs(null - chance) < 0.15
    middle = ours - ours.mean(axis=0)
    first = data.Y.toarray()[split.held_out][:, 0] == 1
    assert directions[0]["label"] == "a"
    assert [directions[0]["x"], directions[0]["y"]] == pytest.approx(middle[first].mean(axis=0).tolist())
    scaled = StandardScaler().fit(data.X[split.train])
    expected = PCA(n_components=2).fit(scaled.transform(data.X[split.train]))
    same = np.abs(np.corrcoef(pca.T, expected.transform(scaled.transform(data.X[split.held_out])).T))[:2, 2:]
    assert np.diag(same) == pytest.approx(1, abs=1e-9)


def test_a_method_that_predicts_labels_is_fitted_once_for_its_embedding_and_its_scores(made, monkeypatch):
    data, split = made
    fitted, fit = [], TargetSpace.fit
    monkeypatch.setattr(TargetSpace, "fit", lambda self, *a, **k: fitted.append(self) or fit(self, *a, **k))
    method = TargetSpace(2, bases=["ridge"])
    found = held_out_evidence(method, data, split)
    assert len(fitted) == 2, "of true and of shuffled labels"
    scale = StandardScaler().fit(data.X[split.train])
    train, test = (scale.transform(data.X[rows]) for rows in (split.train, split.held_out))
    own = TargetSpace(2, bases=["ridge"])
    fit(own, train, data.Y.toarray()[split.train])
    assert found.panels[1][1] == pytest.approx(own.transform(test), abs=1e-8)
    scores, Y = own.label_scores(test), data.Y.toarray()[split.held_out]
    each = [average_precision_score(Y[:, j], scores[:, j]) for j in range(3)]
    assert found.ap_embedded == pytest.approx(each, abs=1e-6)


def test_the_plane_and_the_layout_of_a_method_have_one_forest(made, monkeypatch):
    data, split = made
    monkeypatch.setattr(evidence, "places_on_layout", lambda Z, Z_new, part: (Z[:, :2], Z_new[:, :2]))
    monkeypatch.setattr(evidence, "scored_places", lambda places, new, part: (new, 0.0))
    grown, fit = [], DecisionTreeRegressor.fit
    monkeypatch.setattr(DecisionTreeRegressor, "fit", lambda self, *a, **k: grown.append(1) or fit(self, *a, **k))
    given = {"lay_out": True, "decided": False}
    found = held_out_evidence(ForestLeaves(n_components=2, n_estimators=8), data, split, **given)
    assert len(grown) == 2 * 8, "of true and of shuffled labels"
    monkeypatch.setattr(Shared, "active", lambda self: nullcontext())
    apart = held_out_evidence(ForestLeaves(n_components=2, n_estimators=8), data, split, **given)
    assert len(grown) == (2 + 4) * 8
    for one, other in zip(found.panels, apart.panels, strict=True):
        np.testing.assert_array_equal(one[1], other[1])


def test_whole_embeddings_of_the_test_rows_come_with_their_planes(made):
    data, split = made
    found = held_out_evidence(OPLS(n_components=3), data, split, seed=1)
    train = data.X[split.train]
    scaled = (data.X[split.held_out] - train.mean(axis=0)) / train.std(axis=0, ddof=1)
    assert np.asarray(found.features) == pytest.approx(scaled, abs=1e-12)
    assert [title for title, _ in found.embeddings] == ["OPLS", "OPLS on shuffled labels"]
    for (_, Z), (_, plane, _, _) in zip(found.embeddings, found.panels[1:], strict=True):
        assert Z.shape == (150, 3)
        np.testing.assert_array_equal(Z[:, :2], plane)


def test_the_map_of_the_verdict_has_a_panel_of_its_own_unless_the_choice_has_the_same(made):
    data, split = made
    same = held_out_evidence(OPLS(n_components=3), data, split, judged=(Arm("OPLS", OPLS()), (2, 3)))
    assert (len(same.panels), same.judged) == (3, 1)
    other = held_out_evidence(OPLS(n_components=3), data, split, judged=(Arm("PCA", PCA()), (2,)))
    assert (len(other.panels), other.judged) == (4, 3) and other.panels[3][0] == "PCA at k = 2"


def test_titles_take_the_name_that_the_method_is_given(made):
    found = held_out_evidence(OPLS(n_components=1), *made, name="mine")
    assert [title for title, *_ in found.panels] == ["PCA", "mine", "mine on shuffled labels"]
    assert [title for title, _ in found.embeddings] == ["mine", "mine on shuffled labels"]


def test_test_rows_with_unknown_labels_are_left_out(made):
    data, split = made
    unknown = np.zeros(data.Y.shape, dtype=bool)
    unknown[260], unknown[:10] = True, True
    Y = data.Y.toarray()
    Y[unknown] = 0
    holes = Dataset(data.X, Y, unknown=unknown)
    found = held_out_evidence(OPLS(n_components=1), holes, split)
    assert 260 not in found.rows and len(found.rows) == 149 and found.panels[1][1].shape == (149, 1)
    unknown[250:] = True
    Y[250:] = 0
    with pytest.raises(ValueError, match="no test row has known labels"):
        held_out_evidence(OPLS(n_components=1), Dataset(data.X, Y, unknown=unknown), split)


def test_a_layout_is_shown_in_every_form_with_what_it_keeps(made, monkeypatch):
    """Nine training rows are placed by their principal scores, so that no layout amplifies rounding."""
    data, _ = made
    split = Split("test", np.arange(9), np.arange(9, 60))
    fits: list[int] = []
    monkeypatch.setattr(OPLS, "fit", lambda self, X, y, fit=OPLS.fit: fits.append(X.shape[0]) or fit(self, X, y))
    found = held_out_evidence(Layout(OPLS(), features=0.5), data, split, lay_out=True, decided=False)
    assert fits.count(9) == 4, "one fit of the labels, one of shuffled ones, and one each in front of honest models"
    weights = {"features at weight 0.5": 0.5, "features at weight 1": 1.0, "without features": 0.0}
    forms = (*weights, "honest", "features alone")
    own, null = "Layout(OPLS)", "Layout(OPLS) on shuffled labels"
    assert [(each.title, each.forms) for each in found.laid_out] == [
        ("PCA", forms),
        *((title, (form,)) for form in forms[:-1] for title in (own, null)),
        (own, (forms[-1],)),
    ]
    part = make_part(data.X, LabelMatrix.of(data.y), split.train, split.held_out)
    maps = {form: Layout(OPLS(), features=weight).fit(part.X, part.labels) for form, weight in weights.items()}
    maps["honest"] = Layout(OPLS(), features=0.5, honest=True).fit(part.X, part.labels)
    maps["features alone"] = maps["without features"].set_params(features=1).fit(part.X, part.labels).reweighted(0, 1)
    maps["without features"] = Layout(OPLS(), features=0).fit(part.X, part.labels)
    for each in [each for each in found.laid_out if each.title == own]:
        layout = maps[each.forms[0]]
        train, new = layout.transform(part.X), layout.transform(part.X_held_out)
        np.testing.assert_allclose(each.places, new, atol=1e-9)
        assert each.kept == pytest.approx(kept_neighbors(part.X_held_out, part.X, new, train))


def test_probabilities_of_classes_are_those_of_the_model_and_labels_that_are_rare_have_no_curve(made):
    data, split = made
    y = data.Y.toarray()[:, 0] + data.Y.toarray()[:, 1]
    classes = Dataset(data.X, np.eye(3, dtype=int)[y], label_names=["a", "b", "c"])
    part = make_part(classes.X, LabelMatrix.of(classes.y), split.train, split.held_out)
    scores = np.random.default_rng(0).normal(size=(250, 3))
    assert part.of_classes and part.calibrated(scores).one_class
    several = make_part(data.X, LabelMatrix.of(data.y), split.train, split.held_out)
    assert not several.of_classes and not several.calibrated(scores).one_class
    few = data.take(np.arange(120))
    rare = held_out_evidence(OPLS(n_components=2), few, Split("test", np.arange(80), np.arange(80, 120)))
    assert rare.reliability.labels == 0 and len(rare.reliability.cells) == 0


def test_of_two_classes_the_reliability_is_that_of_the_rarer_one(made):
    data, split = made
    y = data.Y.toarray()[:, 0]
    two = Dataset(data.X, np.column_stack([1 - y, y]), label_names=["no", "yes"])
    part = make_part(two.X, LabelMatrix.of(two.y), split.train, split.held_out)
    found = evidence.frequent_labels(part)
    rarer = int(part.indicator.sum(axis=0).argmin())
    assert found.sum() <= 1 and not found[1 - rarer]
    shown = held_out_evidence(OPLS(n_components=1), two, split).reliability
    assert shown.labels == found.sum() and shown.cells.sum() == found.sum() * len(split.held_out)
