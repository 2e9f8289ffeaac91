"""`proxembed fit`: one method on one labelled file, saved as a model."""

from pathlib import Path

import typer

from .columns import (
    DROP,
    GROUPS,
    ID,
    KEEP,
    LABELS,
    MISSING,
    SEPARATOR,
    TEXT,
    TIME,
    UNKNOWN,
    dataset_from,
    table_options,
)
from .refusal import refusals
from .terminal import command, notes, print_json


def setting(text: str) -> tuple[str, object]:
    """One --set NAME=VALUE; a value that is JSON (a number, true, null) is read as such, any other is text.

    Examples
    --------
    >>> from proxembed.cli.fit import setting
    >>> setting("ridge=0.1"), setting("kernel=cosine")
    (('ridge', 0.1), ('kernel', 'cosine'))
    """
    import json

    name, equals, value = text.partition("=")
    if not (name and equals):
        raise ValueError(f"--set {text!r} must be NAME=VALUE, such as ridge=0.1.")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, a list of thousands of brackets
        raise ValueError(f"--set {name}: the value of {len(value):,} characters cannot be read.") from error


def build(method: str, size: int | None, settings: list[str], seed: int, several_labels: bool):
    """The unfitted estimator of a method's name, with its options.

    Examples
    --------
    >>> from proxembed.cli.fit import build
    >>> build("opls", 2, ["ridge=0.1"], 0, several_labels=True)
    OPLS(n_components=2, ridge=0.1)
    """
    from proxembed.evaluate.arms import method_arms

    if method.strip().lower() == "all":
        raise ValueError("--method 'all' is not one method; compare methods with `proxembed compare`.")
    estimator = method_arms([method], several_labels=several_labels)[0].estimator
    known = estimator.get_params(deep=False)
    if "random_state" in known:
        estimator.set_params(random_state=seed)
    if known.get("method", estimator) is None:
        estimator.set_params(method=estimator.default_method())
    options = dict(map(setting, settings))
    for name in options.keys() & method_parameters(estimator):
        options[name] = wrapped(name, options[name])
    if size is not None:
        options["n_components"] = size
    for name in options:
        owner, dots, _ = name.partition("__")
        if dots and not hasattr(options.get(owner, getattr(estimator, owner, None)), "get_params"):
            raise ValueError(f"--set {name}: {owner} of {method} is no method; name one first (--set {owner}=NAME).")
    return estimator.set_params(**options)


def method_parameters(estimator) -> set[str]:
    """The parameters of a method whose value is another method.

    Examples
    --------
    >>> from proxembed import SSDR
    >>> from proxembed.cli.fit import method_parameters
    >>> sorted(method_parameters(SSDR()))
    ['supervised', 'unsupervised']
    """
    from sklearn.base import BaseEstimator

    from proxembed.params import declared

    kinds = {name: spec.kind for name, (_, spec) in declared(type(estimator)).items()}
    return {name for name, kind in kinds.items() if isinstance(kind, type) and issubclass(kind, BaseEstimator)}


def wrapped(parameter: str, name: object):
    """The method that --set PARAMETER=NAME names, for a method that stands on another one.

    Examples
    --------
    >>> from proxembed.cli.fit import wrapped
    >>> wrapped("method", "fda")
    FDA()
    """
    from proxembed.evaluate.arms import method_arms

    if not isinstance(name, str) or name.strip().lower() == "all":
        raise ValueError(f"--set {parameter}={name} must name one method; `proxembed methods` lists them.")
    return method_arms([name], several_labels=False)[0].estimator


def training_rows(dataset):
    """The training rows of a file that names a standard split."""
    if dataset.train_idx is None:
        raise ValueError(f"{dataset.name} names no standard split; leave --standard-split out.")
    return dataset.take(dataset.train_idx)


def fit(
    file: str = typer.Argument(metavar="DATA", help="A labelled file, or openml:NAME."),
    method: str = typer.Option("opls", "--method", "-m", help="A method or model that `proxembed methods` lists."),
    size: int = typer.Option(None, "-k", help="Number of components; without it the method's own.", min=1),
    settings: list[str] = typer.Option(None, "--set", metavar="NAME=VALUE", help="A parameter of the method."),
    labels: list[str] = LABELS,
    text: list[str] = TEXT,
    id: str = ID,
    groups: str = GROUPS,
    time: str = TIME,
    drop: list[str] = DROP,
    keep: list[str] = KEEP,
    missing: list[str] = MISSING,
    unknown: str = UNKNOWN,
    separator: str = SEPARATOR,
    standard: bool = typer.Option(False, "--standard-split", help="Fit the file's standard training rows only."),
    seed: int = typer.Option(0, "--seed", help="Seed of a method that draws.", min=0),
    out: Path = typer.Option(None, "--out", "-o", help="The model, a .skops file; without it NAME.skops."),
    json_output: bool = typer.Option(False, "--json", help="Print JSON for machines."),
) -> None:
    """Fit one method, with scaling and a read-out of the labels, and save it with a model card."""
    with refusals():
        from proxembed.persist import check_model_path
        from proxembed.workflow.labelled_data import check_labels

        if out is not None:
            check_model_path(check_suffix(out))
        dataset = dataset_from(file, **table_options(locals()))
        path = check_model_path(out or Path(f"{dataset.name}.skops"))
        dataset = training_rows(dataset) if standard else dataset
        check_labels(dataset, file, least=2)
        estimator = build(method, size, settings or [], seed, not dataset.single_label)
        show(fit_and_save(dataset, estimator, path, quiet=json_output), json_output)


def check_suffix(path: Path) -> Path:
    """The path of a model, whose name ends in .skops."""
    if path.suffix != ".skops":
        raise ValueError(f"-o {str(path)!r} must end in .skops; a model is saved in that format alone.")
    return path


def fit_and_save(dataset, estimator, path: Path, quiet: bool) -> dict:
    """Fit the pipeline on all rows and write the model and its card; what was done, as plain data."""
    from time import perf_counter

    from rich.console import Console

    from proxembed.evaluate.arms import title_of
    from proxembed.evaluate.preprocessing import choose_scaling
    from proxembed.model import embedding_pipeline, fit_model, source_of, training_labels
    from proxembed.persist import model_card, save
    from proxembed.targets.labels import LabelMatrix

    started, title = perf_counter(), title_of(estimator)
    scaling = choose_scaling(dataset.X, LabelMatrix.of(dataset.y), dataset.groups)
    model = embedding_pipeline(estimator, dataset.X, scaling=scaling)
    with notes(), Console(stderr=True, quiet=quiet).status(f"fitting {title}"):
        fit_model(model, dataset.X, training_labels(dataset), dataset.groups)
    seconds = perf_counter() - started
    save(model, path, source=source_of(dataset), card=model_card(model, dataset, command=command()))
    rows, features = dataset.X.shape
    return {
        "method": title,
        "scaling": model["scaling"].state_.kind,
        "rows": rows,
        "features": features,
        "labels": len(dataset.label_names),
        "components": int(model["embedding"].n_components_),
        "seconds": seconds,
        "written": [str(path), str(path.with_suffix(".md"))],
    }


def show(done: dict, json_output: bool) -> None:
    """Say what was fitted and written."""
    if json_output:
        print_json(done)
        return
    size = f"{done['rows']:,} rows, {done['features']:,} features, {done['labels']} labels"
    typer.echo(f"{done['method']}: {done['components']} components of {size} in {done['seconds']:.1f} s")
    typer.echo(f"written: {', '.join(done['written'])}")
