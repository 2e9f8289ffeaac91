"""What must hold of the verdict on real data: stored figures of folds, order of the test rows, shuffled labels."""

from dataclasses import replace

import numpy as np
import pytest

import proxembed
from data.test_verdict import QUICK, recomputed, stored_embeddings
from proxembed.data import read
from proxembed.evaluate.arms import Arm
from proxembed.evaluate.run import Protocol, run
from proxembed.evaluate.verdict import summarise
from proxembed.splits.splits import Splitting, standard_split


@pytest.mark.parametrize("folds", [{"test"}, {"1", "2"}], ids=["test", "folds"])
def test_every_figure_is_recomputed_from_the_file_of_predictions(data_folder, tmp_path, folds):
    assert recomputed(data_folder, tmp_path, folds) == len(folds) * stored_embeddings(data_folder, 2)


@pytest.mark.usefixtures("few_rivals")
def test_the_order_of_the_test_rows_changes_nothing(data_folder):
    data = read(data_folder / "yeast.npz").take(np.arange(450))
    figures = []
    for test in (np.arange(300, 450), np.arange(450)[:299:-1]):
        order = np.concatenate([np.arange(300), test])
        X, Y = data.X[order], data.Y.toarray()[order]
        found = proxembed.compare(X, Y, test=np.arange(300, 450), **QUICK).record["summary"]
        names = found["measures"]
        figures.append({(e["arm"], e["k"]): [e["scores"][n]["test"] for n in names] for e in found["leaderboard"]})
    assert figures[0].keys() == figures[1].keys()
    for key, values in figures[0].items():
        assert values == pytest.approx(figures[1][key], abs=1e-9)


def test_labels_that_mean_nothing_are_seldom_better(data_folder):
    """The interval has 95 %, so that of 100 shuffles at most 8 say better (97.5 % of the binomial) for either goal."""
    data = read(data_folder / "emotions.npz")
    split = standard_split(data)
    arms = (Arm("all features", None, rival=True), Arm("OPLS", proxembed.OPLS()))
    protocol = Protocol(arms, (2, 5), splitting=Splitting(n_folds=2), standard=True)
    better = {"predict": 0, "neighbours": 0}
    for seed in range(100):
        order = np.random.default_rng(seed).permutation(data.X.shape[0])
        shuffled = replace(data, Y=data.Y.tocsr()[order], train_idx=split.train, test_idx=split.held_out)
        goals = summarise(run(protocol, shuffled), shuffled)["verdict"]["goals"]
        for name in better:
            better[name] += goals[name]["word"] == "better"
    assert max(better.values()) <= 8, better
