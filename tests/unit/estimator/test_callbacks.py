"""Callbacks of scikit-learn: which tasks a fit has, that they end, and that a saved model has none."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import proxembed
from proxembed import BSML, DEFC, OPLS, EmbeddingSearch, Kernelized, VariationalProbit
from proxembed.estimator.callbacks import SUPPORTED, steps

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 5))
Y = (X[:, :3] + rng.standard_normal((60, 3)) > 0).astype(int)
pytestmark = pytest.mark.skipif(not SUPPORTED, reason="this scikit-learn has no callbacks")


class Recorded:
    """A callback that remembers its calls, and may ask to stop after some steps."""

    max_propagation_depth = None

    def __init__(self, stop_after=None):
        self.calls, self.stop_after = [], stop_after

    def setup(self, estimator, context):
        self.calls.append(("setup", type(estimator).__name__))

    def on_fit_task_begin(self, estimator, context):
        self.calls.append(("begin", context.task_name))

    def on_fit_task_end(self, estimator, context):
        self.calls.append(("end", context.task_name))
        return context.task_name == "sweep" and self.count("end", "sweep") == self.stop_after

    def teardown(self, estimator, context):
        self.calls.append(("teardown", type(estimator).__name__))

    def count(self, *call):
        return self.calls.count(call)


def test_a_fit_is_one_task():
    seen = Recorded()
    OPLS().set_callbacks(seen).fit(X, Y)
    assert seen.calls == [("setup", "OPLS"), ("begin", "fit"), ("end", "fit"), ("teardown", "OPLS")]


@pytest.mark.parametrize("estimator", [BSML(n_components=2, max_iter=4, tol=0), VariationalProbit(max_iter=4, tol=0)])
def test_sweeps_are_tasks_and_change_nothing(estimator):
    seen = Recorded()
    watched = type(estimator)(**estimator.get_params()).set_callbacks(seen).fit(X, Y)
    assert [seen.count(kind, "sweep") for kind in ("begin", "end")] == [4, 4]
    assert seen.calls[2] == ("begin", "sweeps") and seen.calls[-3:-1] == [("end", "sweeps"), ("end", "fit")]
    np.testing.assert_array_equal(watched.lower_bound_, estimator.fit(X, Y).lower_bound_)


def test_a_callback_may_end_the_sweeps():
    model = BSML(n_components=2, max_iter=50, tol=0).set_callbacks(Recorded(stop_after=3)).fit(X, Y)
    assert model.n_iter_ == 3


def test_converged_sweeps_end_their_tasks():
    seen = Recorded()
    model = BSML(n_components=2, max_iter=500, tol=1e-2).set_callbacks(seen).fit(X, Y)
    assert model.converged_ and seen.count("end", "sweep") == model.n_iter_ and seen.count("end", "sweeps") == 1


@pytest.mark.parametrize(
    "search", [EmbeddingSearch(methods=["opls"], max_trials=2, max_seconds=None), DEFC(search="random", max_evals=3)]
)
def test_trials_of_a_search_are_tasks(search):
    seen, told = Recorded(), []
    y = Y if isinstance(search, EmbeddingSearch) else Y[:, 0]
    search.set_params(progress=lambda done, total, text: told.append(text)).set_callbacks(seen).fit(X, y)
    assert told and [name for kind, name in seen.calls if kind == "begin"] == ["fit", *told]


def test_a_fit_that_fails_tears_down():
    seen = Recorded()
    with pytest.raises(ValueError, match="labels that differ"):
        OPLS().set_callbacks(seen).fit(X, np.zeros(60))
    assert seen.calls[-1] == ("teardown", "OPLS") and seen.count("end", "fit") == 0


def test_a_pipeline_hands_its_callbacks_on():
    seen = Recorded()
    make_pipeline(StandardScaler(), BSML(n_components=2, max_iter=2, tol=0)).set_callbacks(seen).fit(X, Y)
    assert seen.count("setup", "Pipeline") == 1 and seen.count("end", "sweep") == 2


def test_steps_without_callbacks_are_a_range():
    assert list(steps(OPLS(), "sweep", 3)) == [0, 1, 2]


def test_a_saved_model_has_no_callbacks(tmp_path):
    model, seen = OPLS(n_components=2), Recorded()
    model.set_callbacks(seen).fit(X, Y)
    proxembed.save(model, tmp_path / "model.skops")
    found = proxembed.load(tmp_path / "model.skops")
    assert "_skl_callbacks" not in vars(found) and model._skl_callbacks == [seen]
    np.testing.assert_array_equal(found.transform(X), model.transform(X))


def test_callbacks_of_steps_and_of_methods_inside_are_not_saved_either(tmp_path):
    inside = Kernelized(OPLS().set_callbacks(Recorded()), n_components=2)
    model = make_pipeline(StandardScaler(), inside).fit(X, Y)
    proxembed.save(model, tmp_path / "model.skops")
    np.testing.assert_array_equal(proxembed.load(tmp_path / "model.skops").transform(X), model.transform(X))
    assert "_skl_callbacks" in vars(model[-1].method)
