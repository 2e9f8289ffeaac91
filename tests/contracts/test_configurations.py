"""Under every global configuration of scikit-learn an estimator fits and predicts as under the default one."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas
import polars
import pytest
import sklearn
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import proxembed
from configurations import CONFIGURATIONS, DEFAULT
from contracts.estimators import READINGS, X, Y, build, dense, every, y_for
from designs import each_value
from proxembed import OPLS, RowBlocks, Scaled, Scaling, Thresholded, diagnose
from proxembed.data import Dataset
from proxembed.methods.pipeline import fit_on
from proxembed.proximity.backends import nearest
from proxembed.workflow.one_fit import diagnose_method, draw_map
from worker_tasks import NeedsFrame

N_NEW = 7
pytestmark = pytest.mark.default_configuration
configurations = pytest.mark.parametrize("configuration", CONFIGURATIONS)


def told(cls: type) -> dict[str, np.ndarray]:
    """Values that an estimator gives, by the name of the method."""
    y, found = y_for(cls), {}
    estimator = build(cls).fit(X, y)
    for name in READINGS:
        if hasattr(estimator, name):
            found[name] = dense(getattr(estimator, name)(X[:N_NEW]))
    if hasattr(estimator, "score"):
        found["score"] = estimator.score(X, Y if y is None else y)
    if hasattr(estimator, "fit_transform"):
        found["fit_transform"] = dense(build(cls).fit_transform(X, y))
    return found


def assert_same(got, expected) -> None:
    """The same numbers; NaN where the others are NaN."""
    assert list(got) == list(expected)
    for name, values in expected.items():
        np.testing.assert_allclose(got[name], values, rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.fixture(scope="module")
def wanted():
    known = {}

    def of(cls):
        if cls not in known:
            with sklearn.config_context(**DEFAULT):
                known[cls] = told(cls)
        return known[cls]

    return of


@each_value
@every
@configurations
def test_an_estimator_gives_the_values_of_the_default_configuration(configuration, cls, wanted):
    expected = wanted(cls)
    with sklearn.config_context(**CONFIGURATIONS[configuration]):
        got = told(cls)
    assert_same(got, expected)


@configurations
def test_normal_scores_are_those_of_the_default_configuration(configuration):
    for model in (Scaled(OPLS(), "quantile"), Scaled(OPLS(), "quantile", pca_var=0.9), Scaling("quantile")):
        expected = clone(model).fit(X, Y).transform(X)
        with sklearn.config_context(**CONFIGURATIONS[configuration]):
            np.testing.assert_array_equal(np.asarray(clone(model).fit(X, Y).transform(X)), expected)


TABLE = pandas.DataFrame(X, columns=[f"width {j}" for j in range(X.shape[1])]).assign(
    kind=["odd", "even"] * (len(X) // 2)
)


def arms(found) -> dict[str, float]:
    """The numbers of a leaderboard, without the seconds."""
    rows = found.leaderboard.drop(columns=["seconds", "rival"]).to_dict("records")
    rows.sort(key=lambda row: row["arm"])
    return {f"{row['arm']}, {name}": float(value or 0) for row in rows for name, value in row.items() if name != "arm"}


def searched(rows, **options) -> dict:
    found = proxembed.search(
        rows, Y, methods="opls", max_trials=1, max_work=1, shuffles=0, n_components=2, folds=2, **options
    )
    saved = {"embedding": np.asarray(found.embedding), "predict": np.asarray(found.model.predict(rows))}
    return saved | arms(found)


def compared(rows, **options) -> dict:
    return arms(proxembed.compare(rows, Y, methods="opls", n_components=2, folds=2, **options))


def fitted_on(rows) -> dict:
    model = fit_on(OPLS(n_components=2), Dataset(rows, Y))
    again = fit_on(OPLS(n_components=2), Dataset(rows, Y), readout=False)
    return {
        "transform": np.asarray(model.transform(rows)),
        "predict": model.predict(rows),
        "score": model.score(rows, Y),
        "fit_transform": np.asarray(again.fit_transform(rows, Y)),
    }


SPARSE = csr_array(X)
JOBS = {
    "compare": lambda: compared(X),
    "compare of a table": lambda: compared(TABLE),
    "compare of sparse rows": lambda: compared(SPARSE),
    "compare by two workers": lambda: compared(X, n_jobs=2),
    "search": lambda: searched(X),
    "search of a table": lambda: searched(TABLE),
    "search of sparse rows": lambda: searched(SPARSE),
    "fit_on": lambda: fitted_on(X),
    "fit_on of sparse rows": lambda: fitted_on(SPARSE),
    "diagnose": lambda: diagnose(OPLS(n_components=2), X, Y, n_shuffles=2, n_resamples=2, crossfit=True).describe(),
    "diagnose_method": lambda: diagnose_method(Dataset(X, Y), OPLS(n_components=2), n_shuffles=2, n_resamples=2),
    "map": lambda: draw_map(Dataset(X, Y), "opls", "sklearn"),
}


@cache
def known(job: str) -> dict:
    """The result of a job under the default configuration."""
    with sklearn.config_context(**DEFAULT):
        return JOBS[job]()


def assert_job_is_the_same(configuration: str, job: str) -> None:
    with sklearn.config_context(**CONFIGURATIONS[configuration]):
        got = JOBS[job]()
    np.testing.assert_equal(got, known(job))


# Every short job under every configuration; `tests/slow` has the others.
SHORT = [(each, job) for each in CONFIGURATIONS for job in JOBS if not job.startswith(("compare", "search"))]


@pytest.mark.parametrize(("configuration", "job"), SHORT)
def test_a_job_gives_the_result_of_the_default_configuration(configuration, job):
    assert_job_is_the_same(configuration, job)


FRAMES = {"pandas": pandas.DataFrame, "polars": polars.DataFrame}


@pytest.mark.parametrize("rows", [X, SPARSE], ids=["array", "sparse"])
@pytest.mark.parametrize("container", FRAMES)
def test_the_embedding_of_a_model_is_in_the_container_of_the_caller(container, rows):
    model = fit_on(OPLS(n_components=2), Dataset(rows, Y))
    with sklearn.config_context(transform_output=container):
        found = model.transform(rows)
        again = fit_on(OPLS(n_components=2), Dataset(rows, Y), readout=False).fit_transform(rows, Y)
    for frame in (found, again):
        assert isinstance(frame, FRAMES[container]) and list(frame.columns) == ["opls0", "opls1"]


def assert_frames_reach_estimators_of_the_caller(n_jobs: int) -> None:
    method = make_pipeline(StandardScaler(), NeedsFrame())
    with sklearn.config_context(transform_output="pandas"):
        found = diagnose(method, X, Y, n_shuffles=2, n_resamples=2, n_jobs=n_jobs)
        read = Thresholded(make_pipeline(StandardScaler(), NeedsFrame(), OneVsRestClassifier(LogisticRegression())))
        assert read.fit(X, Y).predict(X).shape == Y.shape
    assert found.failed_resamples == 0 and found.held_out > 0


@pytest.mark.parametrize("configuration", ["pandas", "polars"])
@pytest.mark.parametrize("estimator", [OPLS(), Scaling("standard")], ids=lambda e: type(e).__name__)
def test_blocks_of_rows_into_frames_are_refused_with_the_way_out(configuration, estimator):
    fitted = clone(estimator).fit(RowBlocks([(X, Y)]))
    with sklearn.config_context(**CONFIGURATIONS[configuration]):
        with pytest.raises(ValueError, match=f"X is RowBlocks, and the output is set to '{configuration}'. Call set_o"):
            fitted.transform(RowBlocks([X]))
        blocks = clone(estimator).set_output(transform="default").fit(X, Y).transform(RowBlocks([X]))
        np.testing.assert_allclose(blocks.stacked(), fitted.set_output(transform="default").transform(X))


@configurations
def test_a_search_object_of_scikit_learn_gives_its_sparse_graph(configuration):
    expected = nearest(X, 3)
    with sklearn.config_context(**CONFIGURATIONS[configuration]):
        found = nearest(X, 3, algorithm=KNeighborsTransformer(n_neighbors=3))
    np.testing.assert_array_equal(found.index, expected.index)


def test_estimators_of_the_caller_run_under_the_configuration_of_the_caller():
    assert_frames_reach_estimators_of_the_caller(n_jobs=1)
