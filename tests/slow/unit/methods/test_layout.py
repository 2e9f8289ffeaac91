"""Layouts of real rows, and by the other libraries themselves."""

import sys

import numpy as np
import pytest

from proxembed import OPLS, Layout, load, save
from proxembed.data import read
from proxembed.measures.metrics import jaccard_at_k
from proxembed.measures.neighbors import neighbor_weights
from unit.methods.test_layout import NEW, X, Y, among, chance, check_known_rows_stay, kept, moved


@pytest.fixture(scope="module")
def emotions(data_folder):
    """The first 400 rows, standardised with the others by them, and all labels."""
    data = read(data_folder / "emotions.npz")
    return (data.X - data.X[:400].mean(axis=0)) / data.X[:400].std(axis=0), data.Y.toarray()


def test_noise_draws_clusters_on_a_plain_map_and_none_on_an_honest_one(emotions):
    rows, labels = emotions
    rows, shuffled = rows[:400], labels[np.random.default_rng(0).permutation(400)]
    expected = chance(shuffled, shuffled)
    plain, honest = (Layout(layout="sklearn", honest=flag).fit(rows, shuffled).places_ for flag in (False, True))
    assert among(plain, shuffled) > expected + 0.2
    assert abs(among(honest, shuffled) - expected) < 0.03


def test_true_labels_stay_on_an_honest_map_which_tells_of_new_rows(emotions):
    rows, labels = emotions
    train, new = slice(400), slice(400, None)
    inside, outside = {}, {}
    for honest in (False, True):
        layout = Layout(layout="sklearn", honest=honest).fit(rows[train], labels[train])
        Z = layout.transform(rows[new])
        inside[honest] = among(layout.places_, labels[train])
        outside[honest] = jaccard_at_k(labels[new], labels[train], neighbor_weights(Z, layout.places_, 10))
    assert inside[False] > outside[False] + 0.05
    assert abs(inside[True] - outside[True]) < 0.05
    assert outside[False] > 0.5 and outside[True] > chance(labels[new], labels[train]) + 0.2


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("layout", "module"), [("opentsne", "openTSNE"), ("umap", "umap")])
@pytest.mark.parametrize("honest", [False, True])
def test_layouts_of_the_real_packages(layout, module, honest, emotions, tmp_path, monkeypatch):
    pytest.importorskip(module)
    rows, labels = emotions
    fitted = Layout(layout=layout, honest=honest).fit(rows[:400], labels[:400])
    Z = fitted.transform(rows[400:])
    assert jaccard_at_k(labels[400:], labels[:400], neighbor_weights(Z, fitted.places_, 10)) > (0.43 if honest else 0.5)
    alone = np.vstack([fitted.transform(rows[[i]]) for i in range(400, 420)])
    np.testing.assert_allclose(alone, Z[:20], rtol=0, atol=1e-12 * np.abs(Z).max())
    saved = load(save(fitted, tmp_path / "map.skops"))
    with monkeypatch.context() as without:
        without.setitem(sys.modules, module, None)
        np.testing.assert_array_equal(saved.transform(rows), fitted.transform(rows))
    other = Layout(layout=layout, n_components=1).fit(X[:12], Y[:12])
    assert other.places_.shape == (12, 1) and np.isfinite(other.transform(NEW)).all()
    narrow = Layout(OPLS(n_components=1), layout=layout, honest=honest).fit(X[:12], Y[:12])
    assert narrow.places_.shape == (12, 2) and np.isfinite(narrow.places_).all()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("layout", "module"), [("opentsne", "openTSNE"), ("umap", "umap")])
def test_known_rows_stay_on_maps_of_the_real_packages(layout, module):
    pytest.importorskip(module)
    check_known_rows_stay(layout)


def test_known_rows_of_emotions_stay_where_they_were(emotions):
    """A fifth of the rows is new."""
    pytest.importorskip("openTSNE")
    rows, labels = emotions
    old = Layout(OPLS(), layout="opentsne").fit(rows[:475], labels[:475])
    anew, again = (Layout(OPLS(), layout="opentsne", start=start).fit(rows, labels) for start in (None, old))
    assert moved(again.transform(rows[:475]), old.places_) < 0.5 * moved(anew.transform(rows[:475]), old.places_)
    assert kept(again) > 0.95 * kept(anew)
