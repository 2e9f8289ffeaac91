"""One method with parameters on a data set: fitted, diagnosed, or drawn as a map."""

import difflib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone

from proxembed.data import Dataset
from proxembed.estimator.catalogue import name_of, title_of
from proxembed.evaluate.arms import check_places_rows, method_arms
from proxembed.evaluate.costs import Shape, fit_work, machine_speed
from proxembed.evaluate.diagnose import LEAST_DISTINCT, Diagnosis, diagnose
from proxembed.evaluate.evidence import drawn_maps
from proxembed.evaluate.part import choose_scaling, prepare
from proxembed.execute.atomic_files import write_whole
from proxembed.execute.executor import Progress, own_configuration, silent
from proxembed.features.layouts import COMPONENTS, check_installed, layout_named
from proxembed.features.scaling import scaled_by_sums
from proxembed.measures.measures import Q2
from proxembed.measures.metrics import is_yes_no
from proxembed.methods.dependence import PLS
from proxembed.methods.layout import Layout, method_for
from proxembed.methods.pipeline import embedding_pipeline, fit_on, source_of, training_labels
from proxembed.params import check_params, declared
from proxembed.persist import model_card, save
from proxembed.persist.model_file import reads_out_itself
from proxembed.report.map_page import map_image, map_page_html, map_record
from proxembed.splits.shuffles import GROUPS, TIMES
from proxembed.splits.splits import Splitting, fold_limit, make_splits
from proxembed.study.candidates import suited
from proxembed.targets.labels import LabelMatrix

from .budget import Budget, check_fit, cut_diagnosis, cut_map, training_shape
from .labelled_data import check_labels, with_test_rows
from .large_fit import LargeFit
from .map_table import SUFFIX as TABLE
from .map_table import check_map_table, columns_of_split, shown_features, write_map_table
from .options import LEAST_SHUFFLES, OptionError
from .record import named_labels

MAP_SUFFIXES = (".html", ".png", ".svg", TABLE)
MAP_SIZE = 2  # outputs up to which their components are the map


def method_with(
    method: str, size: int | None, settings: Mapping[str, Any], seed: int, *, several_labels: bool
) -> BaseEstimator:
    """The unfitted estimator of a method's name, with parameters."""
    if method.strip().lower() == "all":
        raise ValueError("--method 'all' is not one method; compare methods with `proxembed compare`.")
    estimator = method_arms([method], several_labels=several_labels)[0].estimator
    known = estimator.get_params(deep=False)
    if "random_state" in known:
        estimator.set_params(random_state=seed)
    if known.get("method", estimator) is None:
        estimator.set_params(method=estimator.default_method())
    options = dict(settings)
    for name in options.keys() & method_parameters(estimator):
        options[name] = _wrapped(name, options[name])
    if size is not None:
        options["n_components"] = size
    for name in options:
        owner, dots, _ = name.partition("__")
        if dots and not hasattr(options.get(owner, getattr(estimator, owner, None)), "get_params"):
            raise ValueError(f"--set {name}: {owner} of {method} is not a method; name one first (--set {owner}=NAME).")
    _refuse_unknown(method, estimator, options)
    check_places_rows(estimator.set_params(**options))
    return estimator


def _refuse_unknown(method: str, estimator: BaseEstimator, options: Mapping[str, Any]) -> None:
    """A ValueError for the first option that is not a parameter of a method, with one of its inner method or a near
    name."""
    known = estimator.get_params(deep=True)
    own = [name for name in known if "__" not in name]
    for name in options:
        if name in known or "__" in name:
            continue
        inner = [each for each in known if each.endswith(f"__{name}")]
        near = inner[:1] or difflib.get_close_matches(name, own, n=1)
        remedy = f"did you mean --set {near[0]}=...?" if near else f"its parameters are {', '.join(own)}."
        raise ValueError(f"--set {name}: {method} has no parameter {name}; {remedy}")


def method_parameters(estimator: BaseEstimator) -> set[str]:
    """The parameters of a method whose value is another method."""
    kinds = {name: spec.kind for name, (_, spec) in declared(type(estimator)).items()}
    return {name for name, kind in kinds.items() if isinstance(kind, type) and issubclass(kind, BaseEstimator)}


def _wrapped(parameter: str, name: Any) -> BaseEstimator:
    """The method of this name, for a method that stands on another one."""
    if not isinstance(name, str) or name.strip().lower() == "all":
        raise ValueError(f"--set {parameter}={name} must name one method; `proxembed methods` lists them.")
    return method_arms([name], several_labels=False)[0].estimator


def training_rows(dataset: Dataset) -> Dataset:
    """The training rows of a data set that names a standard split; a ValueError for one that does not."""
    if dataset.train_idx is None:
        raise ValueError(f"{dataset.name} names no standard split; leave --standard-split out.")
    return dataset.take(dataset.train_idx)


@own_configuration()
def fit_and_save(
    dataset: Dataset,
    estimator: BaseEstimator,
    path: Path,
    command: str,
    large: LargeFit | None = None,
    progress: Progress = silent,
    *,
    max_seconds: float | None = None,
    max_work: float | None = None,
) -> dict[str, Any]:
    """Fit the pipeline on all rows and write the model and its card; what was done, as plain data. A ValueError before
    the fit where it is forecast above the budget."""
    check_fit(Budget.of(max_seconds, max_work), estimator, dataset, None if large is None else large.table.n)
    started = perf_counter()
    targets = LabelMatrix.of(dataset.y) if dataset.outputs is None else dataset.outputs
    scaling = choose_scaling(dataset.X, targets, dataset.groups, weights=dataset.sample_weight)
    model = fit_on(estimator, dataset, scaling=scaling) if large is None else large.fit(estimator, scaling, progress)
    seconds = perf_counter() - started
    sampled = None if large is None else large.table.n
    save(model, path, source=source_of(dataset), card=model_card(model, dataset, command=command, sampled=sampled))
    rows, features = dataset.X.shape
    whole, of_all, by = scaled_by_sums(model["scaling"]), reads_out_itself(model), {True: "all", False: "sample"}
    return {
        "method": title_of(estimator),
        "scaling": model["scaling"].state_.kind,
        "rows": rows if sampled is None else sampled,
        **({} if sampled is None else {"sample": rows, "scaled_by": by[whole], "read_out_by": by[of_all]}),
        "features": features,
        **({"feature_names": list(dataset.feature_names)} if (dataset.source or {}).get("format") == "table" else {}),
        "labels": len(dataset.label_names),
        **({} if dataset.outputs is None else {"outputs": len(dataset.outputs.layout.columns)}),
        "components": int(model["embedding"].n_components_),
        "seconds": seconds,
        "written": [str(path), str(path.with_suffix(".md"))],
    }


@own_configuration()
def diagnose_method(
    dataset: Dataset,
    estimator: BaseEstimator,
    n_folds: int = 3,
    *,
    n_all: int | None = None,
    max_seconds: float | None = None,
    max_work: float | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Diagnose a method, with scaling, on folds that respect the groups and the order of time of a data set; options as
    of ``diagnose``, the covariates by column, (n,) each. A budget cuts shuffles and rows (``cuts``)."""
    n, budget = dataset.X.shape[0], Budget.of(max_seconds, max_work, options.get("n_jobs", 1))
    dataset, options, cuts = cut_diagnosis(budget, estimator, dataset, n_folds, options)
    n_all = n if n_all is None and dataset.X.shape[0] < n else n_all
    scaling = choose_scaling(dataset.X, dataset.targets, dataset.groups, weights=dataset.sample_weight)
    model = embedding_pipeline(estimator, dataset.X, readout=False, scaling=scaling)
    n_folds = fold_limit(dataset, n_folds)
    folds = make_splits(dataset, Splitting(n_folds=n_folds, seed=options.get("seed", 0)))
    units: dict[str, Any] = {"groups": dataset.groups, "times": dataset.times, "sample_weight": dataset.sample_weight}
    found = diagnose(model, dataset.X, training_labels(dataset), cv=folds, **units, **options)
    described = named_labels(replace(found, n_all=n_all).describe(), dataset)
    what = "labels" if dataset.outputs is None else "outputs"
    taken_off = [
        {"name": name, "kind": f"{len(set(cells)):,} levels" if cells.dtype == object else "number"}
        for name, cells in (options.get("covariates") or {}).items()
    ]
    facts = {
        "covariates": taken_off,
        "cuts": cuts,
        "missing": killed_fits(found, what),
        "what": what,
        "verdict": verdict(found, what) + more_components(estimator, found),
    }
    return {"method": title_of(estimator), **described, **facts}


def killed_fits(found: Diagnosis, what: str) -> list[str]:
    """What is missing from a diagnosis as a worker process was killed twice, at most one line."""
    if not found.killed:
        return []
    fits = f"{found.killed} fit{'s' * (found.killed != 1)} on shuffled {what} or on halves of the rows"
    return [f"without {fits}, whose worker process was killed twice, perhaps for lack of memory"]


def more_components(estimator: BaseEstimator, found: Diagnosis) -> str:
    """How PLS without deflation may do better, a sentence, where it predicts numbers worse than all features do."""
    bound = isinstance(estimator, PLS) and estimator.deflation is None and found.measure == Q2
    if not bound or found.held_out >= found.raw:
        return ""
    return (
        " Without deflation PLS has no more components than outputs: --set deflation=nipals with a larger -k, or "
        "-m opls, may predict better."
    )


def verdict(found: Diagnosis, what: str = "labels") -> str:
    """What a diagnosis says of labels, or of outputs, in one sentence."""
    shuffles = len(found.null) + found.failed_shuffles
    tested = found.held_out if found.tested is None else found.tested
    reached = found.failed_shuffles + sum(value >= tested for value in found.null)
    if found.distinct < LEAST_DISTINCT:
        unit = {GROUPS: " of whole groups", TIMES: " along time"}.get(found.unit, "")
        verb = " is" if found.distinct == 1 else "s are"
        return f"Cannot tell: {found.distinct} different shuffle{verb} possible{unit}; {LEAST_DISTINCT} are needed."
    if shuffles < LEAST_SHUFFLES:
        return f"Cannot tell: {shuffles} shuffles of the {what} are too few; take {LEAST_SHUFFLES} or more."
    times = "no shuffle" if reached == 0 else f"{reached} shuffle{'s' * (reached != 1)}"
    reach = f"reach{'es' * (reached < 2)} {tested:.3f} on held-out rows"
    if found.passed:
        good = "are at least as good" if found.raw >= found.held_out else "have less"
        raw = f"all features {good} ({found.raw:.3f})"
        return f"Better than shuffled {what}: {times} of {shuffles} {reach}; {raw}."
    return f"Not better than shuffled {what}: {times} of {shuffles} {reach} (p = {found.p:.3f})."


def map_layout(
    method: str | None, layout: str, seed: int, shape: tuple[int, int], *, labels: bool = True, several: bool = True
) -> Layout:
    """The unfitted layout of a method by name, for training rows and features of this shape; ``labels``: else numbers,
    ``several`` of them a row."""
    if method is None:
        inner: Any = method_for(*shape, labels and layout != COMPONENTS)
    else:
        arms = method_arms([method], several_labels=several)
        inner = arms[0].estimator
        if len(arms) > 1 or isinstance(inner, Layout):
            raise OptionError("method", method, "must name one method whose components are laid out, such as opls.")
    found = Layout(suited(inner, shape[0], seed), layout=layout, random_state=seed)
    check_params(found)
    try:
        check_installed("the map", layout_named(layout))
    except ImportError as error:
        raise OptionError("layout", layout, f"cannot be used: {error}") from error
    return found


@own_configuration()
def draw_map(
    dataset: Dataset,
    method: str | None = None,
    layout: str = "auto",
    *,
    seed: int = 0,
    command: str = "",
    progress: Progress | None = None,
    max_seconds: float | None = None,
    max_work: float | None = None,
    table: bool = False,
    features: bool = True,
) -> dict[str, Any]:
    """What the page of a map shows: the rows of a data set, a quarter held out where it names no test rows. A budget
    cuts the honest map, the method, unless one is named, and training rows (``cuts``). With ``table`` also the columns
    of its table; ``features=False`` leaves out the values of features, which a box on the page compares."""
    check_labels(dataset, dataset.name)
    if dataset.sample_weight is not None:
        raise ValueError(f"{dataset.name}: sample_weight is not allowed for a map, whose layouts take no weights.")
    dataset, split = with_test_rows(dataset, seed)
    one = dataset.outputs is None and is_yes_no(dataset.Y)
    if layout == "auto" and (one or (dataset.outputs is not None and dataset.outputs.rank <= MAP_SIZE)):
        layout = COMPONENTS
    sizes, numbers = (len(split.train), dataset.X.shape[1]), dataset.outputs is not None
    chosen = map_layout(method, layout, seed, sizes, labels=not numbers, several=dataset.several_labels)
    if one and layout == COMPONENTS:
        chosen.set_params(n_components=1)
    budget = Budget.of(max_seconds, max_work)
    chosen, split, honest, cuts = cut_map(budget, chosen, dataset, split, free=method is None)
    part, progress = prepare(dataset, split, seed), progress or silent
    forecast = forecast_text(chosen, training_shape(dataset, split), honest)
    progress(0, 0, "; ".join([f"forecast: {forecast}", *(f"cut for the budget: {each}" for each in cuts)]))
    maps = drawn_maps(chosen, part, honest, progress=progress)
    rows = split._replace(held_out=part.rows)
    facts = {
        "method": name_of(chosen.method),
        "title": title_of(chosen.method),
        "layout": layout_named(layout),
        "seed": seed,
        "command": command,
        "cuts": cuts,
    }
    order = np.concatenate([rows.train, rows.held_out])
    facts |= shown_features(dataset, order) if features else {}
    if table:
        places = np.concatenate([maps[0][0].train, maps[0][0].new])
        facts["columns"] = columns_of_split(dataset, order, places, len(rows.train))
    if dataset.outputs is not None:
        return map_record(maps, None, dataset, rows, facts)
    Y = sp.vstack([sp.csr_array(dataset.Y)[rows.train], sp.csr_array(part.Y_held_out.astype(np.uint8))])
    return map_record(maps, Y, dataset, rows, facts)


def forecast_text(layout: Layout, shape: Shape, honest: bool) -> str:
    """How long the maps of a layout take on this machine, about."""
    one, other = (fit_work(clone(layout).set_params(honest=each), shape) / machine_speed() for each in (False, True))
    further = f"; where these flatter the training rows, 2 honest ones of {about(other)}" if honest else ""
    return f"2 maps of {about(one)} each{further}"


def about(seconds: float) -> str:
    """Seconds of a forecast in words."""
    return "less than a second" if seconds < 1 else f"about {seconds:,.0f} s"


def check_map_path(path: Path) -> Path:
    """The path of a map, whose name ends in .html, .png or .svg."""
    if path.suffix not in MAP_SUFFIXES:
        *most, last = MAP_SUFFIXES
        raise ValueError(f"-o {str(path)!r} must end in {', '.join(most)} or {last}.")
    return check_map_table(path) if path.suffix == TABLE else path


def write_map(record: dict[str, Any], path: Path) -> None:
    """Write the page, the picture or the table of a map, by the end of the name."""
    if path.suffix == TABLE:
        write_map_table(path, record["columns"])
        return
    html = path.suffix == ".html"
    write_whole({path: map_page_html(record).encode() if html else map_image(record, path.suffix[1:])})


def map_facts(record: dict[str, Any]) -> dict[str, Any]:
    """The figures of a map as plain data, for programs and the terminal."""
    names = ("inside", "outside", "among", "kept", *(["on_ranks"] if record["skewed"] else []))
    maps = []
    for pair in record["pairs"]:
        own, null = ({name: pair[each][name] for name in names} for each in ("map", "null"))
        maps.append({"map": pair["form"], **own, "null": null})
    shared = ("name", "method", "layout", "seed", "train", "held_out", "measure", "chance", "cuts")
    return {**{name: record[name] for name in shared}, "maps": maps}
