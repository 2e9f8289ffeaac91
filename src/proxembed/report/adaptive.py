"""The section of a search for an adaptive model: the best models, how they were found, as plain data and for the page.

The page names a model as the paper's table does, by its eight switches, and in words.
"""

import math
from collections.abc import Sequence
from typing import Any

from proxembed.measures.measures import is_loss, unit_of_measure
from proxembed.methods.adaptive import Switches
from proxembed.study.defc.model_strategies import ModelStrategy
from proxembed.study.trials import STRATEGIES

from .figures import COLOURS, svg_text

MODELS = 10  # best models kept
POINTS = 2000  # points of the convergence curve kept at most
CLASSIFIERS = {"1nn": "1-NN", "flda": "FLDA", "svm": "linear SVM"}

CALL = """from sklearn.pipeline import make_pipeline
from proxembed import EmbeddingModel, Scaling

model = make_pipeline(
    Scaling({!r}),
    EmbeddingModel.from_switches({}, {}, n_components={}),
)"""


def vector_text(switches: Sequence[int]) -> str:
    """The eight switches as the paper writes them."""
    return f"[{','.join(map(str, switches))}]"


def best_of_each_model(leaderboard: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The best evaluation of each vector of switches, in the order of the leaderboard; those that failed are
    left out."""
    found: dict[tuple[int, ...], dict[str, Any]] = {}
    for entry in leaderboard:
        if not entry["failed"] and math.isfinite(entry["score"]):
            found.setdefault(tuple(entry["switches"]), entry)
    return list(found.values())


def adaptive_section(
    leaderboard: Sequence[dict[str, Any]], history: Sequence[dict[str, Any]], *, search: str, classifier: str,
    measure: str, rows: int, folds: int, scaling: str = "none", fitted: dict[str, Any] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """The best models of a search over switches, and its convergence.  [mu2012defc]"""
    of_model: dict[tuple[int, ...], list[dict[str, Any]]] = {}
    for entry in leaderboard:
        of_model.setdefault(tuple(entry["switches"]), []).append(entry)
    best = best_of_each_model(leaderboard)[:MODELS]
    return {
        "search": search,
        "classifier": classifier,
        "measure": measure,
        "rows": rows,
        "folds": folds,
        "n_models": len(of_model),
        "n_evaluations": len(leaderboard),
        "n_failed": sum(bool(entry["failed"]) for entry in leaderboard),
        "scaling": scaling,
        "fitted": _params(best[0], fitted) if best else None,
        "models": [_model(entry, of_model[tuple(entry["switches"])]) for entry in best],
        "history": _curve(history),
        "generations": _generations(history),
    }


def _model(entry: dict[str, Any], evaluations: list[dict[str, Any]]) -> dict[str, Any]:
    switches = Switches.of(entry["switches"])
    return {
        "switches": list(switches.as_tuple()),
        "words": switches.describe(),
        "params": _params(entry),
        "k": int(entry["k"]),
        "score": float(entry["score"]),
        "by_fold": [float(value) for value in entry["by_fold"]],
        "settings": len(evaluations),
        "seconds": float(sum(each["seconds"] for each in evaluations)),
        "repairs": [str(repair) for repair in entry["repairs"]],
    }


def _params(entry: dict[str, Any], values: dict[str, Any] | None = None) -> dict[str, Any]:
    """The parameters of an evaluation, or others of its model, as plain data in the order of the model's."""
    values = entry["params"] if values is None else values
    return {name: values[name] for name in Switches.of(entry["switches"]).numeric() if name in values}


def _curve(history: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The points where the best rises, the first and the last: between them it is level."""
    points = [point for point in history if math.isfinite(point["best"])]
    last = len(points) - 1
    steps = [point for i, point in enumerate(points) if i in (0, last) or point["best"] > points[i - 1]["best"]]
    return _lists(steps[-POINTS:], evaluations="evaluations", seconds="seconds", best="best")


def _generations(history: Sequence[dict[str, Any]]) -> dict[str, Any]:
    ends = [point for point in history if "generation_mean" in point]
    return _lists(ends[-POINTS:], evaluations="evaluations", best="generation_best", mean="generation_mean")


def _lists(points: Sequence[dict[str, Any]], **names: str) -> dict[str, Any]:
    found = {name: [point[key] for point in points] for name, key in names.items()}
    return {name: [int(v) if name == "evaluations" else float(v) for v in values] for name, values in found.items()}


def parameter_words(params: dict[str, Any]) -> list[str]:
    """Parameters in words; None is all."""
    words = {name: f"{value:g}" if isinstance(value, int | float) else value for name, value in params.items()}
    return [f"{name} = {'all' if value is None else value}" for name, value in words.items()]


def adaptive_view(found: dict[str, Any] | None) -> dict[str, Any] | None:
    """The section for the page: with words for its facts, and the Python that makes the best model from the features as
    they are."""
    if not found or not found["models"]:
        return None
    models = [
        {**model, "vector": vector_text(model["switches"]), "settings_words": parameter_words(model["params"])}
        for model in found["models"]
    ]
    best = models[0]
    call = CALL.format(found["scaling"], best["switches"], found["fitted"], best["k"])
    classifier = CLASSIFIERS.get(found["classifier"], found["classifier"])
    known = STRATEGIES[ModelStrategy.space].get(found["search"])
    strategy = known.words if known else found["search"]
    return {**found, "models": models, "call": call, "classifier": classifier, "strategy": strategy}


AXES = (("evaluations", "evaluations (settings of a model)"), ("seconds", "seconds of the search"))


def convergence(found: dict[str, Any], *, narrow: bool = False) -> str:
    """Draw the best score so far against evaluations and against seconds, as steps, and the mean of each generation."""
    history, generations = found["history"], found["generations"]

    def draw(figure: Any) -> None:
        shape = (2, 1) if narrow else (1, 2)
        panels = figure.subplots(*shape, sharey=True).ravel()
        for panel, (name, caption), colour, mark in zip(panels, AXES, COLOURS, "os", strict=False):
            values = history[name]
            panel.step(values, history["best"], where="post", color=colour, linewidth=1.8)
            panel.plot(values, history["best"], linestyle="none", marker=mark, markersize=4.5, color=colour)
            panel.set_xlabel(caption)
            panel.set_xlim(left=0)
            panel.grid(axis="y", color="#dddddd", linewidth=0.7)
            panel.yaxis.set_tick_params(labelleft=True)
            if narrow or panel is panels[0]:
                unit = " (sign changed)" if is_loss(found["measure"]) else unit_of_measure(found["measure"])
                panel.set_ylabel(f"best {found['measure']} so far{unit}")
        if len(generations["mean"]) > 1:
            look: Any = {"color": "#536170", "marker": "^", "markersize": 4.5, "linewidth": 1.0, "linestyle": "--"}
            panels[0].plot(generations["evaluations"], generations["mean"], label="mean of a generation", **look)
            panels[0].legend(frameon=False, loc="lower right", fontsize=9.5)
        n = f"n = {found['rows']:,} training rows, {found['folds']} inner folds"
        panels[0].set_title(n, fontsize=10, loc="left")

    return svg_text((4.0, 5.4) if narrow else (9.2, 3.3), draw, f"convergence-{narrow}")
