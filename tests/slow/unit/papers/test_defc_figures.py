"""Figures of the DEFC experiment: fitted again from the record, they show what was scored."""

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.sparse import csr_array

from papers.defc.criteria import CRITERIA
from papers.defc.figures import MAPPED, SCORES, STRUCTURE, figures, in_pixels, maps, placed, spaced, structures
from papers.defc.findings import conclusions
from papers.defc.rivals import GA, ORIGINAL, REDUCED, RIVALS
from papers.defc.trials import Task, compete
from papers.experiment import plain
from proxembed.study.defc.prefixes import PrefixClassifier
from slow.unit.papers.made_classes import small_parts

METHODS = (GA, REDUCED, "PCA", "MFA", "KFDA", "KMFA", ORIGINAL)


def entry(method, classifier="flda", evaluations=8):
    return plain(compete(Task(method, 0, classifier, small_parts(), 2, evaluations, 0)))


@pytest.fixture(scope="module")
def record():
    parts = {f"banana, {title}": [entry(method, name) for method in METHODS]
             for name, title in (("flda", "FLDA"), ("1nn", "1-NN"))}  # fmt: skip
    parts["banana, criteria"] = [entry(method) for method in CRITERIA]
    return {"parts": parts, "conclusions": conclusions(parts), "draws": dict.fromkeys(parts, 1)}


@pytest.mark.parametrize("method", (GA, REDUCED, ORIGINAL, *RIVALS))
def test_a_setting_of_the_record_places_rows_as_they_were_when_they_were_scored(method):
    parts, found = small_parts(), entry(method)
    Z, Z_test = placed(found, parts)
    assert Z.shape == (60, found["k"]) and Z_test.shape == (80, found["k"])
    score = PrefixClassifier("flda").fit(Z, parts.y).score(Z_test, parts.y_test)
    assert score == pytest.approx(found["test"], abs=1e-6)


def test_class_structure_is_of_the_training_rows_by_class_before_and_after(record):
    parts = small_parts()
    before, after = structures(record["parts"], "banana", parts)
    assert (np.diff(before.y) >= 0).all() and len(before.Z) == 60 and before.Z.shape[1] == 4
    assert {(*row, y) for row, y in zip(before.Z.tolist(), before.y, strict=False) for row in [tuple(row)]} == {
        (*row, y) for row, y in zip(parts.X.tolist(), parts.y, strict=False) for row in [tuple(row)]
    }
    Z, _ = placed(record["parts"]["banana, FLDA"][0], parts)
    np.testing.assert_array_equal(after.Z, Z[np.argsort(parts.y, kind="stable")])
    (alone,) = structures({}, "banana", replace(parts, X=csr_array(parts.X)))
    np.testing.assert_array_equal(alone.Z, before.Z)


def test_a_matrix_of_many_rows_is_drawn_by_means_of_equal_squares():
    W = np.arange(501.0 * 501).reshape(501, 501)
    drawn = in_pixels(W)
    assert drawn.shape == (167, 167)
    assert drawn[0, 1] == W[:3, 3:6].mean() and drawn[-1, -1] == W[-3:, -3:].mean()
    np.testing.assert_array_equal(in_pixels(W[:250, :250]), W[:250, :250])
    assert in_pixels(W[:401, :401])[-1, 0] == W[400, :2].mean(), "the last square is smaller"


def test_documents_have_proximities_by_the_cosine_beside_the_gaussian_ones(record):
    parts = small_parts()
    sparse = replace(parts, **{name: csr_array(getattr(parts, name)) for name in ("X", "X_val", "X_test")})
    parts_of = {"Reuters, FLDA": record["parts"]["banana, FLDA"]}
    drawn = figures({**record, "parts": parts_of}, {"Reuters": sparse})[STRUCTURE][1]
    for title in ("Reuters, features", "Reuters, DEFC", "Reuters, features, cosine", "Reuters, DEFC, cosine"):
        assert f">{title}<" in drawn
    assert "cosine<" not in figures(record, {"banana": parts})[STRUCTURE][1]


def test_maps_show_test_rows_with_the_score_of_the_record(record):
    parts = small_parts()
    views = maps(record["parts"], "banana", parts)
    titles = [view.title for view in views]
    best = {e["method"]: e["test"] for e in record["parts"]["banana, FLDA"]}
    assert titles[0] == f"{ORIGINAL}, FLDA: {best[ORIGINAL]:.4f}" and f"{GA}, FLDA: {best[GA]:.4f}" in titles
    assert len(views) == 9 and all(view.Z.shape[1] <= 2 and len(view.Z) == 80 for view in views)
    np.testing.assert_array_equal(views[0].Z, parts.X_test[:, [0, -1]])
    assert views[0].axes == ("feature 1", "feature 4") and views[1].axes == ("component 1", "component 2")


def test_every_figure_names_its_axes_and_numbers_of_rows(record):
    made = figures(record, {"banana": small_parts()})
    assert set(made) == {*SCORES.values(), "criteria.svg", STRUCTURE, MAPPED["banana"][0]}
    for words, svg in made.values():
        assert words and ElementTree.fromstring(svg).tag.endswith("svg")
    for file in SCORES.values():
        assert "mean of n = 1 draws" in made[file][1] and "KMFA" in made[file][1] and ">banana<" in made[file][1]
    assert "n = 60 training rows by class" in made[STRUCTURE][1] and "squared distance" in made[STRUCTURE][1]
    assert "n = 80 test rows" in made[MAPPED["banana"][0]][1] and "no unit" in made[MAPPED["banana"][0]][1]
    groups = ElementTree.fromstring(made[MAPPED["banana"][0]][1]).iter("{http://www.w3.org/2000/svg}g")
    marks = {g.get("id"): len(list(g.iter("{http://www.w3.org/2000/svg}use"))) for g in groups}
    assert [marks[f"panel-0-class-{c}"] for c in range(3)] == np.bincount(small_parts().y_test).tolist()
    empty = {"parts": {}, "conclusions": conclusions({}), "draws": {}}
    assert set(figures(empty, {"banana": small_parts()})) == {STRUCTURE} and figures(empty, {}) == {}


def test_ends_of_small_classes_do_not_overlap():
    assert spaced([248, 400, 420, 435, 447, 500]) == ["248", "400", "", "", "447", "500"]
