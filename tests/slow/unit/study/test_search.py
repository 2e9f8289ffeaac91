"""EmbeddingSearch: longer searches, on real data and with final folds."""

import numpy as np

from proxembed import EmbeddingSearch
from proxembed.data import read
from proxembed.study import candidates
from unit.study.test_search import found, many, without_seconds

__all__ = ["many"]  # a fixture


def test_a_perfect_score_ends_the_search():
    X = np.repeat([[0.0, 0.0], [4.0, 4.0]], 20, axis=0) + np.random.default_rng(0).normal(scale=0.1, size=(40, 2))
    searched = EmbeddingSearch(max_trials=None, max_seconds=60).fit(X, np.repeat(["a", "b"], 20))
    assert searched.best_score_ == 1.0 and len(searched.trials_) <= 2 + len(candidates.candidates(several_labels=False))


def test_leaves_and_kernel_opls_come_out_best_on_scene(data_folder):
    data = read(data_folder / "scene.npz").take(np.arange(0, 1211, 2))
    methods = ["opls", "kernelized", "forestleaves", "mddm", "mvmd"]
    searched = EmbeddingSearch(methods, max_trials=8, max_seconds=None).fit(data.X, data.Y)
    linear, kernel, leaves = (
        next(t["score"] for t in searched.trials_ if t["method"] == name)
        for name in ("OPLS", "Kernelized(OPLS)", "ForestLeaves(OPLS)")
    )
    assert leaves > kernel > linear + 0.02 and leaves >= searched.best_score_ - 0.01


def test_final_folds_are_counted_work_and_half_of_it_at_most(many):
    searched = found(*many, max_trials=None, max_work=1.0, refit=False, n_components=2)
    spent = searched.work_
    assert searched.final_ and spent <= 1.0
    without = found(*many, max_trials=None, max_work=1.0, refit=False, n_components=2, final_cv=0)
    assert not any(t["final"] for t in without.trials_) and without.n_choice_folds_ == 3
    assert len(without.trials_) > len(searched.trials_)
    again = found(*many, max_trials=None, max_work=1.0, refit=False, n_components=2, n_jobs=2)
    assert without_seconds(again) == without_seconds(searched) and again.work_ == spent
