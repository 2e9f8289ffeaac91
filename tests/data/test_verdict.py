"""What must hold of the verdict on real data: stored figures to the bit, order of the test rows, known baselines."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import proxembed
from proxembed.data import read
from proxembed.evaluate.arms import Arm, rival_arms
from proxembed.evaluate.part import prepare
from proxembed.evaluate.run import Protocol, same_rows_similarity
from proxembed.evaluate.scoring import score
from proxembed.measures.metrics import macro_average_precision
from proxembed.splits.splits import standard_split
from proxembed.workflow.comparison import arms_of
from runs import empty_figures, planes_alone  # noqa: F401

QUICK = {"methods": "opls", "n_components": [2, 5], "folds": 2}


@pytest.mark.parametrize(("name", "known"), [("yeast", 0.441), ("birds", 0.467), ("enron", 0.298)])
def test_the_same_ten_rows_have_the_figures_that_were_measured_elsewhere(data_folder, name, known):
    data = read(data_folder / f"{name}.npz")
    split = standard_split(data)
    protocol = Protocol(rival_arms(data.X)[:1], (2,))
    assert same_rows_similarity(protocol, data, split.train, split.held_out).mean() == pytest.approx(known, abs=6e-4)


def recomputed(data_folder, folder, folds):
    """Compares each stored figure with that of the stored scores; the number of arms in all folds."""
    data = read(data_folder / "emotions.npz")
    found = proxembed.compare(data, **QUICK, standard_split="test" in folds, folder=folder)
    stored = np.load(folder / "predictions.npz")
    Y, values = data.Y.toarray(), {}
    for row in found.results.rows:
        values[row["arm"], row["k"] or -1, row["fold"], row["measure"], row["readout"]] = row["value"]
    for i, key in enumerate(zip(stored["arm"].tolist(), stored["k"].tolist(), stored["fold"].tolist(), strict=True)):
        truth = Y[stored[f"rows_{key[2]}"]]
        precision = macro_average_precision(truth, stored[f"scores_{i}"]).value
        assert precision == values[(*key, "macro average precision", "ridge")]
        assert stored[f"similarity_{i}"].mean() == values[(*key, "Jaccard@10", "cosine kNN")]
        assert stored[f"new_similarity_{i}"].mean() == values[(*key, "new-new Jaccard@10", "cosine kNN")]
    assert set(stored["fold"]) == folds
    return i + 1


def stored_embeddings(data_folder, splits):
    """Arms of the comparison, each at every size that it has."""
    arms = arms_of(("opls",), read(data_folder / "emotions.npz"), 0, splits)
    return sum(len(arm.names) * len(arm.sizes((2, 5))) for arm in arms)


def test_every_figure_is_recomputed_from_the_file_of_predictions(data_folder, tmp_path, few_rivals):
    assert recomputed(data_folder, tmp_path, {"test"}) == stored_embeddings(data_folder, 2)


def test_one_component_of_two_classes_tells_them_apart_by_neighbours(few_rivals):
    X, y = load_breast_cancer(return_X_y=True)
    found = proxembed.compare(X, y, methods="opls,mddm", n_components=1, folds=2)
    majority = max(np.bincount(y)) / len(y)
    for entry in found.record["summary"]["leaderboard"]:
        if entry["arm"] in ("OPLS", "MDDM", "PCA"):
            assert entry["scores"]["Jaccard@10 (cosine kNN)"]["mean"] > majority + 0.1


def test_a_failed_arm_scores_nothing(data_folder):
    data = read(data_folder / "emotions.npz")
    split = standard_split(data)
    arm = Arm("OPLS", proxembed.OPLS(ridge=-1.0))
    scores = score(arm, prepare(data, split), Protocol((arm,), (2,)).measures_of(arm))
    assert scores.similarity == scores.predictions == {} and all(row["failure"] for row in scores.rows)
