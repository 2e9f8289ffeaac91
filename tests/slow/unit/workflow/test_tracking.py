"""A search in MLflow: parameters, figures, leaderboard, files and model arrive, and come back."""

import logging
import warnings

import numpy as np
import pytest

from extras import needed
from proxembed.workflow.tracking import figures
from unit.workflow import test_tracking

found = test_tracking.found


@pytest.fixture
def tracked(tmp_path):
    """MLflow with a store of its own."""
    mlflow = needed("mlflow")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logging.disable(logging.WARNING)
        mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/runs.db")
        mlflow.create_experiment("made", artifact_location=(tmp_path / "files").as_uri())
        mlflow.set_experiment("made")
        yield mlflow
        logging.disable(logging.NOTSET)


def test_mlflow_has_parameters_figures_files_and_model(found, tracked):
    run_id = found.log("mlflow", name="first")
    run = tracked.get_run(run_id)
    assert run.info.run_name == "first" and tracked.active_run() is None
    assert run.data.params["method"] == "OPLS" and run.data.params["rows"] == "160"
    assert run.data.metrics == pytest.approx(dict(figures(found))) and len(run.data.metrics) > 10
    table = tracked.load_table("leaderboard.json", run_ids=[run_id])
    assert table["arm"].tolist() == list(found.leaderboard["arm"])
    names = {each.path for each in tracked.artifacts.list_artifacts(run_id=run_id, artifact_path="search")}
    assert {"search/model.skops", "search/index.html", "search/results.json"} <= names
    (logged,) = tracked.search_logged_models(filter_string=f"source_run_id='{run_id}'", output_format="list")
    model = tracked.sklearn.load_model(logged.model_uri)
    np.testing.assert_array_equal(model.transform(found.dataset.X), found.embedding)


def test_an_active_run_is_logged_into(found, tracked):
    with tracked.start_run() as run:
        assert found.log("mlflow") == run.info.run_id
    assert tracked.get_run(run.info.run_id).data.params["data"] == "made"
