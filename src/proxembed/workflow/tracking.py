"""A search in the trackers of others: parameters, figures, leaderboard, files and model in MLflow; reports in skore."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.estimator.catalogue import settings
from proxembed.params import safe_repr
from proxembed.persist.model_file import trusted_names

REFUSED = re.compile(r"[^\w\-. /:]")  # in the name of a metric of MLflow
INSTALL = "install it (pip install 'proxembed[tracking]')."


Row = dict[str, Any]


def log_search(found: Any, to: Any, name: str, rows: Sequence[Row], arms: int) -> Any:
    """``SearchResult.log`` of a search with these rows of its leaderboard."""
    if isinstance(to, str) and to == "mlflow":
        return to_mlflow(found, name, rows)
    if hasattr(to, "put") and hasattr(to, "summarize"):
        return to_skore(found, to, name, [row["arm"] for row in rows[:arms]])
    raise ValueError(f"to={safe_repr(to)} must be 'mlflow', or a skore.Project.")


def to_mlflow(found: Any, name: str, rows: Sequence[Row]) -> str:
    """Log a search into the active run of MLflow, or a new one; the id of the run."""
    try:
        import mlflow
        import mlflow.sklearn
    except ImportError as error:
        raise ImportError(f"to='mlflow' needs mlflow; {INSTALL}") from error
    active = mlflow.active_run()
    if active is not None:
        _log_into(mlflow, found, rows)
        return str(active.info.run_id)
    with mlflow.start_run(run_name=name) as run:
        _log_into(mlflow, found, rows)
    return str(run.info.run_id)


def _log_into(mlflow: Any, found: Any, rows: Sequence[Row]) -> None:
    embedding = found.model[:-1].steps[-1][1] if len(found.model.steps) > 1 else found.model.steps[-1][1]
    n, d = found.dataset.X.shape
    facts = {"method": found.name, "data": found.dataset.name, "rows": n, "features": d}
    mlflow.log_params(facts | {key: str(value) for key, value in _settings(embedding).items()})
    mlflow.log_metrics(dict(figures(found)))
    columns = dict.fromkeys(key for row in rows for key in row)
    mlflow.log_table({key: [row.get(key) for row in rows] for key in columns}, "leaderboard.json")
    with TemporaryDirectory() as folder:
        found.save(Path(folder, "search"))
        mlflow.log_artifacts(str(Path(folder, "search")), "search")
    kinds = {"serialization_format": "skops", "skops_trusted_types": sorted(trusted_names())}
    mlflow.sklearn.log_model(found.model, name="model", **kinds)


def _settings(embedding: Any) -> dict[str, Any]:
    return settings(embedding) if hasattr(type(embedding), "_own_traits") else {}


def figures(found: Any) -> Iterable[tuple[str, float]]:
    """The values of the chosen method on the leaderboard: means over the folds and on test rows, by names that MLflow
    takes."""
    summary = found.record["summary"]
    chosen = (summary["choice"] or {}).get("method", found.name)
    entries = [entry for entry in summary["best"] if entry["arm"] in (chosen, found.name)]
    for title, score in (entries[0]["scores"] if entries else {}).items():
        plain = REFUSED.sub("", title.replace("@", " at "))
        for name, value in ((plain, score["mean"]), (f"test {plain}", score["test"])):
            if value is not None and np.isfinite(value):
                yield name, float(value)


def to_skore(found: Any, project: Any, name: str, arms: Sequence[str]) -> list[str]:
    """Put reports of the model, and of those of some rows of the leaderboard, on rows that they have not seen into a
    project of skore; their keys."""
    try:
        from skore import EstimatorReport
    except ImportError as error:
        raise ImportError(f"a project of skore needs skore; {INSTALL}") from error
    rows = np.flatnonzero(found._held_out)
    if not len(rows):
        raise ValueError(
            "the model has seen all rows, and a report of skore is of others: name test rows (test=) or "
            "refit_all=False in the search, or log it to='mlflow'."
        )
    models = {name: found.model}
    for arm in arms:
        models.setdefault(arm, found.compare_model(arm))
    for key, model in models.items():
        held_out = found.dataset.take(rows)
        y, known = truth(model, held_out)
        held_out = held_out if known.all() else held_out.take(np.flatnonzero(known))
        project.put(key, EstimatorReport(model, X_test=held_out.X, y_test=y[known]))
    return list(models)


def truth(model: Any, dataset: Any) -> tuple[np.ndarray, np.ndarray]:
    """The labels of rows in the form in which a model predicts them, and which rows have them."""
    n = dataset.X.shape[0]
    if dataset.outputs is not None:
        if any(column.kind != "real" for column in dataset.outputs.layout.columns):
            raise ValueError("skore takes numbers or labels, and y has columns of several kinds; log to='mlflow'.")
        numbers = np.asarray(dataset.outputs, dtype=np.float64)
        return (numbers[:, 0] if numbers.shape[1] == 1 else numbers), np.isfinite(numbers.sum(axis=1))
    Y, values = sparse.csr_array(dataset.Y).toarray().astype(int), getattr(model, "label_values_", None)
    known = np.ones(n, bool) if dataset.unknown is None else ~dataset.unknown.toarray().any(axis=1)
    if dataset.of_classes:
        names = np.array(dataset.label_names if values is None else dataset.values)
        return names[Y.argmax(axis=1)], known & (Y.sum(axis=1) == 1)
    return (values[Y[:, 0]] if values is not None and Y.shape[1] == 1 else Y), known
