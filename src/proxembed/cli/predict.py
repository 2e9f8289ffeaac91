"""`proxembed predict`: predict labels or numbers of new rows with a saved model."""

from pathlib import Path
from typing import Any

import typer

from .options import JSON, MEMORY, MODEL, NEW, TRUST, memory_bytes
from .refusal import refusals
from .terminal import notes, progress_bar
from .transform import report, table_path

WHY = typer.Option(
    None,
    "--why",
    metavar="TRAINING",
    help="Also write why, by the labelled file that the model was fitted on: per row its ten nearest training rows "
    "with their labels, the features that moved its largest score most, and whether it is far from all of them.",
)


WRITTEN = "What is written"  # the group of these options in the help
SCORES = typer.Option(
    False, "--scores", rich_help_panel=WRITTEN, help="Write the score of each label instead of the decision."
)
PROBABILITIES = typer.Option(
    False,
    "--probabilities",
    rich_help_panel=WRITTEN,
    help="Write the calibrated probability of each label or class instead of the decision.",
)


CUT = typer.Option(
    None,
    "--cut",
    metavar="P",
    rich_help_panel=WRITTEN,
    min=0.0,
    max=1.0,
    help="Predict a label where its calibrated probability is above P, in place of the cut of largest F1; 0.5: where "
    "it is more probable than not.",
)


BY_CUTS = (
    "Labels are predicted above their cuts of largest F1, which find more rows of rare labels; --cut 0.5 predicts what "
    "is more probable."
)


def predict(
    model: Path = MODEL,
    file: Path = NEW,
    out: Path | None = typer.Option(
        None, "--out", "-o", help="A .npz, .csv or .parquet file; default NEW-predictions.csv."
    ),
    scores: bool = SCORES,
    probabilities: bool = PROBABILITIES,
    cut: float | None = CUT,
    why: Path | None = WHY,
    trust: list[str] = TRUST,
    memory: str = MEMORY,
    json_output: bool = JSON,
) -> None:
    """Predict new rows with a saved model: 0 or 1 per label, one class per row, or the numbers of ``--targets``.

    A label is 1 where its score is above the cut of largest F1 on training rows that the embedding had not seen, which
    may lie below a probability of one half (see --cut). Of classes the most probable one is written.
    """
    with refusals():
        from proxembed.data.readers.table import stem
        from proxembed.workflow.new_rows import through_model

        wanted = _wanted(scores, probabilities, cut)
        target, most = table_path(out or Path(f"{stem(file)}-predictions.csv"), [model, file]), memory_bytes(memory)
        outside: list[int] = []
        by_cuts: list[bool] = []
        reasons = None if why is None else Reasons(why)

        def columns_of(fitted: Any, X: Any, source: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
            by_cuts.append(cuts_labels(fitted))
            if reasons is not None:
                return reasons.beside(read_out(fitted, X, source, model, wanted, cut), fitted, X, source)
            fitted, X = at_embedding(fitted, X)
            if hasattr(first_step(fitted), "outside_training"):
                outside.append(int(first_step(fitted).outside_training(X).sum()))
            return read_out(fitted, X, source, model, wanted, cut)

        with notes(), progress_bar(json_output) as progress:
            done = through_model(model, file, target, columns_of, most, progress, trust or ())
        counts = {"outside_training": sum(outside)} if outside else {}
        counts = counts if reasons is None else {"far": reasons.far}
        report({**done, **(counts if json_output else {}), "written": str(target)}, json_output)
        if wanted == "decisions" and cut is None and by_cuts[0] and not json_output:
            typer.echo(BY_CUTS)
        if reasons is not None and not json_output:
            typer.echo(f"{reasons.far:,} of {done['rows']:,} rows are far from all training rows.")
        if outside and not json_output:
            typer.echo(
                f"{sum(outside):,} of {done['rows']:,} rows lie outside the range of the training rows in some "
                "component."
            )


def _wanted(scores: bool, probabilities: bool, cut: float | None) -> str:
    """What is written of a model of labels."""
    if cut is not None and (scores or probabilities):
        raise ValueError(
            "--cut is of the decision, in whose place --scores or --probabilities stands: give one of them."
        )
    if scores and probabilities:
        raise ValueError("--scores and --probabilities both stand in the place of the decision: give one of them.")
    return "scores" if scores else "probabilities" if probabilities else "decisions"


class Reasons:
    """Why a model predicts what it predicts, as columns beside the predictions."""

    def __init__(self, training: Path):
        self.training, self.far = training, 0
        self.explainer: Any = None

    def beside(self, found: Any, fitted: Any, X: Any, source: dict[str, Any]) -> Any:
        """Predictions as columns and arrays, and the reasons of these rows beside them."""
        import numpy as np

        from proxembed.workflow.explained_rows import explainer_of

        if self.explainer is None:
            self.explainer = explainer_of(fitted, self.training, source)
        rows = [row.columns() for row in self.explainer.explain(X)]
        columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
        self.far += int(columns["far"].sum())
        named = {f"why: {name}" if name in found[0] else name: values for name, values in columns.items()}
        return {**found[0], **named}, {**found[1], **{name.replace(" ", "_"): values for name, values in named.items()}}


def at_embedding(fitted: Any, X: Any) -> tuple[Any, Any]:
    """The steps of a model from its embedding on, where that tells rows outside the range of the training rows, and the
    rows that these take, so that the steps before it see the rows once; else the model and the rows themselves."""
    steps = [step for _, step in getattr(fitted, "steps", ())]
    place = next((number for number, step in enumerate(steps) if hasattr(step, "outside_training")), 0)
    return (fitted[place:], fitted[:place].transform(X)) if place else (fitted, X)


def first_step(fitted: Any) -> Any:
    """The first step of a pipeline; a model that is none."""
    return fitted.steps[0][1] if hasattr(fitted, "steps") else fitted


CALLS = {"decisions": "predict", "scores": "decision_function", "probabilities": "predict_proba"}


def read_out(
    fitted: Any, X: Any, source: dict[str, Any], path: Path, wanted: str, cut: float | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Decisions, scores or probabilities as named columns for a table, and as arrays for .npz."""
    import numpy as np

    decided = wanted == "decisions"
    option = wanted if cut is None else "cut"
    if (not decided or cut is not None) and outputs(fitted, X) is not None:
        raise ValueError(f"{path} predicts numbers, which have no {option}: leave --{option} out.")
    if not hasattr(fitted, CALLS[wanted]):
        raise ValueError(_lacks(fitted, path, wanted))
    if (numbers := outputs(fitted, X)) is not None:
        return numbers
    found = getattr(fitted, CALLS[wanted])(X) if cut is None else above(cut, fitted, X, path)
    model = getattr(fitted, "best_estimator_", fitted)
    values = getattr(model, "label_values_", None)
    classes = np.asarray(getattr(model if values is None else model[-1], "classes_", ()))
    if isinstance(found, list):  # sets of labels
        found = np.array([[name in row for name in classes] for row in found], dtype=np.uint8)
    found = np.asarray(found.toarray() if hasattr(found, "toarray") else found)
    known = list(source.get("label_names", ()))
    if found.ndim == 1 and decided and len(known) != 1:
        own = list(source.get("labels") or ())
        return {own[0] if len(own) == 1 else "class": found}, {"y": found}
    if values is not None and len(known) == 1 and decided:
        positive = np.asarray(found == values[1], dtype=np.uint8)[:, None]
        return {known[0]: found}, {"Y": positive, "label_names": known}
    # Classes that are text are their own names; numbers are places in the label names of the training file.
    names = [str(name) for name in classes] if classes.dtype.kind in "USO" or not known else known
    if found.ndim == 1:
        found, names = found[:, None], names[-1:]
    found = found[:, -len(names) :]  # of one label the probability of having it
    found = found.astype(np.uint8, order="F") if decided else found  # whose columns are written
    return dict(zip(names, found.T, strict=True)), {"Y" if decided else wanted: found, "label_names": names}


def cuts_labels(fitted: Any) -> bool:
    """Whether a model predicts labels by cuts, and not the most probable class."""
    model = getattr(fitted, "best_estimator_", fitted)
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    return getattr(last, "cuts_", None) is not None


def above(cut: float, fitted: Any, X: Any, path: Path) -> Any:
    """The labels whose probability is above a cut, in the form of ``predict``."""
    import numpy as np

    model = getattr(fitted, "best_estimator_", fitted)
    if not cuts_labels(model):
        raise ValueError(f"{path} has no cut, as it predicts the most probable class: leave --cut out.")
    if not hasattr(model, "predict_proba"):
        raise ValueError(_lacks(model, path, "probabilities"))
    likely = np.asarray(model.predict_proba(X)) > cut
    values = getattr(model, "label_values_", None)
    return likely.astype(np.uint8) if values is None else np.asarray(values)[likely[:, -1].astype(int)]


def _lacks(fitted: Any, path: Path, wanted: str) -> str:
    """The refusal of a model without what is wanted."""
    if wanted == "probabilities" and hasattr(fitted, "predict"):
        return f"{path} has no probabilities, as models of former versions: fit and save it again."
    return f"{path}: {type(fitted).__name__} has no {CALLS[wanted]}; fit a model with a read-out first."


def outputs(fitted: Any, X: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Predictions of a model of numbers by the names of its outputs, and as arrays for .npz; None of other models."""
    import numpy as np

    from proxembed.methods.output_readout import OutputReadout

    if not (hasattr(fitted, "steps") and isinstance(fitted.steps[-1][1], OutputReadout)):
        return None
    found = fitted[-1].columns(fitted[:-1].transform(X))
    if all(values.dtype.kind in "iuf" for values in found.values()):
        return found, {"Y": np.column_stack([*found.values()]), "names": [*found]}
    return found, {name: v.astype(str) if v.dtype == object else v for name, v in found.items()}
