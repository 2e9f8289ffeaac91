"""One .skops file per model: arrays and numbers, no code, checked before anything is built; and the model card."""

import io
import json
import math
import platform
import re
import sys
import warnings
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from proxembed.data.errors import DataError
from proxembed.data.unpacking import check_array, check_arrays, most_unpacked
from proxembed.execute.atomic_files import check_place, check_writable, write_whole
from proxembed.features.scaling import scaled_by_sums
from proxembed.tables.notes import counted, visible
from proxembed.targets.outputs import output_words

from .former_names import CHANGED, CHANGED_IN, PRESENT_NAMES, PRESENT_VALUES

CARD_MARK = "---\n# proxembed model card\n"  # a card begins with it: YAML front matter, its comment
FORMER_MARK = "<!-- proxembed model card -->"  # of cards of the former formats
FORMAT, FORMER_FORMATS = 11, (7, 8, 9, 10)  # models of the former formats load with the present names
FACTS, SCHEMA = "proxembed.json", "schema.json"  # ours, and that of skops
ARRAY, ARCHIVE = b"\x93NUMPY", b"PK"  # how a part of a model begins that is an array, or a sparse matrix
MOST_NAMES = 5  # that a message lists
MOST_TIMES, ALWAYS = 200, 1 << 28  # a packed part may unpack to this multiple of its size, or to this number of bytes
# What fitted estimators hold beside arrays, numbers, text and each other.
STATE = (
    "numpy.dtype",  # of scikit-learn's encoders, such as TfidfVectorizer
    "proxembed.methods.adaptive.switches.Switches",
    "proxembed.algebra.arrays.moments.Moments",
    "proxembed.estimator.base.Prepared",
    "proxembed.methods.bayes.precision.TrainingRows",
    "proxembed.classify.log_odds.LogOdds",
    "proxembed.classify.thresholds.Thresholds",
    "proxembed.measures.calibration.Calibration",
    "proxembed.study.defc.prefixes.AnyClassifier",
    "proxembed.study.defc.prefixes.PrefixClassifier",
    "proxembed.study.defc.prefixes.Discriminants",
    "proxembed.evaluate.score_space.ScoreSpace",
    "proxembed.features.scaling.Block",
    "proxembed.features.leaves.LeafMap",
    "proxembed.features.scaling.ScalingState",
    "proxembed.features.table.TableState",
    "proxembed.features.table.WordBlock",
    "proxembed.methods.forest.ForestVotes",
    "proxembed.methods.forest.OnLeaves",
    "proxembed.methods.views.LabelModels",
    "proxembed.methods.kernelized.KernelMap",
    "proxembed.methods.kernelized.OnKernel",
    "proxembed.methods.target_space.Placing",
    "proxembed.methods.target_space.Stack",
    "proxembed.methods.views.OnViews",
    "proxembed.methods.views.Plain",
    "proxembed.methods.pipeline.EmbeddingPipeline",
    "proxembed.methods.out_of_fold.KernelScores",
    "proxembed.methods.out_of_fold.LinearScores",
    "proxembed.methods.out_of_fold.NeighborScores",
    "proxembed.methods.output_readout.OutputReadout",
    "proxembed.methods.row_encoder.RowEncoder",
    "proxembed.features.layouts.BesideFeatures",
    "proxembed.features.layouts.FirstComponents",
    "proxembed.features.layouts.NeighborMap",
    "proxembed.tables.column.Column",
    "proxembed.targets.labels.LabelMatrix",
    "proxembed.targets.labels.LabelReading",
    "proxembed.targets.output_totals.OutputTotals",
    "proxembed.targets.outputs.Column",
    "proxembed.targets.outputs.Layout",
    "proxembed.targets.outputs.OutputReading",
    "proxembed.estimator.readout.ReadOut",
    "proxembed.targets.totals.LabelTotals",
    "proxembed.estimator.rows.SeenRows",
    "proxembed.estimator.sums.Sums",
    "proxembed.methods.transductive.label_iteration.Blend",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "scipy.sparse._csc.csc_array",
    "scipy.sparse._csc.csc_matrix",
    "scipy.sparse._csr.csr_array",
    "scipy.sparse._csr.csr_matrix",
)
# Parts of scikit-learn, without estimators, that import other libraries where these are installed.
OTHER_ARRAYS = tuple(f"sklearn.externals.array_api_compat.{name}" for name in ("cupy", "dask", "torch"))
LIBRARIES = ("numpy", "scipy", "scikit-learn", "skops")
USE = """## Use
`proxembed transform NAME.skops NEW -o z.csv{flags}` embeds new rows{predict}. In Python:
```python
import proxembed

model = proxembed.load("NAME.skops"{trusted})  # {runs}
{call}
```
X_new holds the columns of the training data: {columns}.{cuts}"""
CUTS = (
    "A label is predicted where its score is above its cut: that of largest F1 on cross-fitted scores of the training "
    "rows, nearer to the cut of all labels together the fewer rows have the label. Such a cut finds more rows of rare "
    "labels, and makes more answers wrong, than to predict what is more probable, which proxembed predict --cut 0.5 "
    "does; --probabilities writes the probabilities (in Python predict_proba)."
)
MATRIX = "an array, or a sparse matrix, of {} features in their order, or a DataFrame, whose columns go by name"
TABLE = "a DataFrame with {}"
TRUST = """
The encoder in front of the model is code of others, which runs only where its names are trusted: {}."""
MEANS = "Means over the held-out folds, where a method predicts by a ridge unless it predicts by itself:"
LIMITS = """## Limits
- New rows need the same features, measured alike. What was learned on other rows need not hold.
- The rows that the model was fitted on look better in its embedding than new rows do: judge it on held-out rows."""


def _title(embedding: Any) -> str:
    """The class of a step, with the method that it wraps."""
    from proxembed.estimator.base import Embedder
    from proxembed.estimator.catalogue import title_of

    if isinstance(embedding, Embedder):
        return title_of(embedding)
    return str(getattr(embedding, "title", type(embedding).__name__))


def model_card(
    model: Any,
    dataset: Any = None,
    summary: Mapping[str, Any] | None = None,
    command: str | None = None,
    sampled: int | None = None,
) -> str:
    """The model card in Markdown: the model, its training data, its evaluation, how to use and cite it.

    Names from data files are escaped, and control characters in them are shown.

    Parameters
    ----------
    model : fitted estimator
        Or one with ``best_estimator_``, such as a search.
    dataset : proxembed.data.Dataset, optional
        What it was fitted on.
    summary : mapping, optional
        A comparison as plain data (``report.worded``); without it the card says that nothing was evaluated.
    command : str, optional
        The command that made the model.
    sampled : int, optional
        Rows of the file of which ``dataset`` is a sample; the embedding is fitted on all of them.

    Returns
    -------
    str

    Examples
    --------
    >>> from proxembed import OPLS
    >>> from proxembed.data import digits
    >>> from proxembed.persist import model_card
    >>> data = digits()
    >>> card = model_card(OPLS(n_components=2).fit(data.X, data.Y), data)
    >>> print(card.partition("---\\n\\n")[2].splitlines()[0])
    # OPLS: 64 features to 2 components
    """
    chosen = getattr(model, "best_estimator_", model)
    steps = [step for _, step in chosen.steps] if isinstance(chosen, Pipeline) else [chosen]
    embedding = next((step for step in steps if hasattr(step, "n_components_")), steps[-1])
    size = _feature_words(getattr(chosen, "n_features_in_", "?"), steps[0])
    if hasattr(embedding, "n_components_"):
        size += f" to {embedding.n_components_} component{'s' * (embedding.n_components_ != 1)}"
    versions = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    sections = [
        _front_matter(embedding, dataset, summary) + f"\n# {_title(embedding)}: {size}",
        f"Saved by proxembed {version('proxembed')} (Python {platform.python_version()}, {versions}) on "
        f"{datetime.now(UTC).date().isoformat()}.",
        "## Steps\n" + "\n".join(f"{number}. {_code(repr(step))}" for number, step in enumerate(steps, 1)),
        "## Data\n" + ("Not recorded." if dataset is None else _data_lines(dataset, chosen, steps[0], sampled)),
        "## Evidence\n" + _evidence(summary, dataset is not None and dataset.outputs is not None),
        _use(chosen, dataset, summary),
        LIMITS,
    ]
    if command is not None:
        sections.append(f"## Made by\n{_code(command)}")
    parts: tuple[Any, ...] = (embedding, getattr(embedding, "method_", None))
    cited = [part.citation() for part in parts if hasattr(part, "citation")]
    if cited:
        entries = "\n".join(text.strip() for text in cited)
        sections.append(f"## Cite\n~~~bibtex\n{entries}\n~~~")
    return "\n\n".join(sections) + "\n"


def _front_matter(embedding: Any, dataset: Any, summary: Mapping[str, Any] | None) -> str:
    """The YAML front matter of a model card, as model hubs read it: library, tags and metrics."""
    tags = ["proxembed", "dimensionality-reduction", "tabular", _title(embedding)]
    if dataset is not None:
        classes = "classification" if dataset.single_label else "multi-label classification"
        tags.append(classes if dataset.outputs is None else "regression")
    lists = {"tags": tags, "metrics": list(summary["measures"]) if summary is not None else []}
    lines = [CARD_MARK + "library_name: proxembed"]
    for name, values in lists.items():
        if values:
            lines += [f"{name}:", *(f"- {json.dumps(visible(str(value)), ensure_ascii=False)}" for value in values)]
    return "\n".join([*lines, "---", ""])


def reads_out_itself(model: Any) -> bool:
    """Whether the last step of a model is the read-out of its embedding, which was fitted on the same rows."""
    steps = [step for _, step in getattr(model, "steps", ())]
    if len(steps) < 2 or not hasattr(steps[-1], "reading_"):
        return False
    return getattr(steps[-2], "output_readout", lambda: None)() is not None


def _data_lines(dataset: Any, model: Any, first: Any, sampled: int | None = None) -> str:
    facts = dataset.describe()
    lines = [
        *(
            _label_lines(facts, dataset.label_names, first)
            if facts.get("outputs") is None
            else _output_lines(facts, first)
        ),
        f"- licence: {_plain(facts['licence'] or 'not stated')}",
    ]
    if sampled is not None:
        of_all = {"scaling": scaled_by_sums(first), "read-out": reads_out_itself(model)}
        *most, last = ["embedding", *(part for part, whole in of_all.items() if whole)]
        on_all = f"{', '.join(most)} and {last} are" if most else f"{last} is"
        on_sample = " and the ".join(part for part, whole in of_all.items() if not whole)
        rest = f", the {on_sample} on the sample" if on_sample else ""
        lines.append(f"- these rows are a sample of {sampled:,}: the {on_all} fitted on all of them{rest}")
    if facts["test"] is not None:
        among = f"the {facts['test']:,} test rows are among these" if facts["test"] else "no test row is among these"
        lines.append(f"- the model is fitted on these rows; {among}")
    return "\n".join(lines)


def _feature_words(d: Any, first: Any) -> str:
    """The features of a model, and the columns of a table from which its first step makes them."""
    made = getattr(first, "_n_features_out", d) if getattr(first, "columns_", None) is not None else d
    if made == d:
        return counted(d, "feature") if isinstance(d, int) else f"{d} features"
    return f"{counted(d, 'column')} as {counted(made, 'feature')}"


def _label_lines(facts: Mapping[str, Any], names: Sequence[str], first: Any) -> list[str]:
    return [
        f"- {_plain(facts['name'])}: {facts['n']} rows, {_feature_words(facts['d'], first)}, "
        f"{counted(facts['labels'], 'label')}, "
        f"{facts['cardinality']:.2f} labels per row, {facts['unknown_cells']} unknown cells",
        f"- labels: {', '.join(map(_plain, names[:50]))}"
        + (f" and {facts['labels'] - 50} more" if facts["labels"] > 50 else ""),
    ]


def _output_lines(facts: Mapping[str, Any], first: Any) -> list[str]:
    outputs = facts["outputs"]
    shown = "; ".join(f"{_plain(each['name'])} ({_plain(output_words(each))})" for each in outputs[:50])
    return [
        f"- {_plain(facts['name'])}: {facts['n']} rows, {_feature_words(facts['d'], first)}, "
        f"{counted(len(outputs), 'output')}",
        f"- outputs: {shown}" + (f" and {len(outputs) - 50} more" if len(outputs) > 50 else ""),
    ]


def _use(model: Any, dataset: Any, summary: Mapping[str, Any] | None) -> str:
    """How to embed and predict, for the program and in three lines of Python."""
    call, predict, foreign = "Z = model.transform(X_new)", "", foreign_of_encoder(model)
    flags = "".join(f" --trust {name}" for name in foreign)
    if hasattr(model, "predict"):
        what = "labels" if dataset is None or dataset.outputs is None else "outputs"
        call = f"Z, {what} = model.transform(X_new), model.predict(X_new)"
        predict = f", and `proxembed predict NAME.skops NEW -o {what}.csv{flags}` gives their {what}"
    columns = MATRIX.format(getattr(model, "n_features_in_", "all"))
    if dataset is not None and (dataset.source or {}).get("format") == "table" and not hasattr(dataset.X, "dtype"):
        columns = TABLE.format(", ".join(map(_plain, dataset.feature_names)))
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    answers = _plain(summary["verdict"].get("answers", "")) if summary is not None else ""
    rule = CUTS if hasattr(last, "global_cut_") and last.cuts_ is not None else ""
    cuts = "".join(f"\n{text}" for text in (rule, answers) if text)
    facts = {"predict": predict, "call": call, "columns": columns, "cuts": cuts, "flags": flags}
    if not foreign:
        return USE.format(**facts, trusted="", runs="runs no code of the file")
    trust = TRUST.format(", ".join(map(_code, foreign)))
    return USE.format(**facts, trusted=f", trusted={list(foreign)}", runs="runs the code that is named") + trust


def _evidence(summary: Mapping[str, Any] | None, numbers: bool) -> str:
    if summary is None:
        compare = "" if numbers else ": compare it with honest rivals before use (`proxembed compare`)"
        return f"Not evaluated{compare}."
    verdict, names = summary["verdict"], summary["measures"]
    head = "| arm | k | " + " | ".join(map(_plain, names)) + " |\n|" + "---|" * (2 + len(names))
    goals = [
        f"- **{_plain(goal['title'])}: {_plain(goal.get('said', goal['word']))}.** {_plain(goal['sentence'])}"
        for goal in verdict["goals"].values()
    ]
    answer = [_plain(verdict["headline"]), ""] if summary.get("saved") and verdict.get("headline") else []
    lines = [*answer, *(goals or [_plain(verdict["text"])]), "", _plain(verdict["note"]), "", MEANS, "", head]
    for entry in summary["best"]:
        means = [entry["scores"][name]["mean"] for name in names]
        scores = ["-" if mean is None or math.isnan(mean) else f"{mean:.3f}" for mean in means]
        lines.append("| " + " | ".join([_plain(entry["arm"]), str(entry["k"] or "-"), *scores]) + " |")
    return "\n".join(lines)


def _plain(text: Any) -> str:
    """Text that Markdown shows as it is: one line, marks escaped, invisible characters shown."""
    shown = " ".join(visible(str(text)).split())
    return re.sub(r"([\\`*_{}\[\]<>()#+!|~&])", r"\\\1", shown)


def _code(text: str) -> str:
    """Text as a code span that no backtick inside it can end."""
    shown = " ".join(visible(text).split())
    fence = "`" * (max(map(len, re.findall("`+", shown)), default=0) + 1)
    return f"{fence} {shown} {fence}"


def save(model: Any, path: str | Path, *, source: Mapping[str, Any] | None = None, card: str | None = None) -> Path:
    """Save a fitted model as a .skops file: arrays and numbers, no code.

    Parameters
    ----------
    model : fitted estimator
        Of proxembed, scikit-learn, or a registered method of your own; also a pipeline of these.
    path : str or Path
        ``NAME.skops`` in an existing folder. An earlier file is replaced whole or not at all.
    source : mapping, optional
        How the columns of the training file were read (``Dataset.source``), as plain data; see ``load_source``.
    card : str, optional
        Markdown, written beside the model as ``NAME.md``; see ``model_card``.

    Returns
    -------
    Path

    Raises
    ------
    ValueError
        The name does not end in .skops, the model is not fitted or holds objects of classes that ``load`` would
        refuse (a function of yours as a kernel, for example), ``source`` is not plain data, or ``NAME.md`` is another
        document.
    TypeError
        ``model`` is not an estimator.
    OSError
        The files cannot be written; earlier ones stay as they were.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from proxembed import OPLS
    >>> from proxembed.data import digits
    >>> from proxembed.persist import load, save
    >>> data = digits()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = save(OPLS(n_components=2).fit(data.X, data.Y), Path(folder) / "digits.skops")
    ...     load(file)
    OPLS(n_components=2)
    """
    path = Path(path)
    write_whole(model_files(model, path, source=source, card=card))
    return path


def model_files(
    model: Any, path: Path, *, source: Mapping[str, Any] | None = None, card: str | None = None
) -> dict[Path, bytes]:
    """What ``save`` writes, by path, for writers of further files; parameters and errors are those of ``save``."""
    _check_model(model, path)
    content = _packed(model, _facts(source))
    _check_sizes(content, path)
    _refuse_foreign(content, path, foreign_of_encoder(model))
    files = {path: content}
    if card is not None:
        _check_card(path.with_suffix(".md"))
        files[path.with_suffix(".md")] = card.encode("utf-8")
    return files


def check_model_path(path: str | Path, encoder: Any = None) -> Path:
    """Prove that a model and its card can be saved under a name, and with an encoder if there is one, before the long
    part starts; nothing is left behind."""
    path = Path(path)
    _check_suffix(path)
    check_writable(path)
    _check_card(path.with_suffix(".md"))
    if encoder is not None:
        _foreign_names(encoder)
    return path


def load(path: str | Path, *, trusted: Iterable[str] = ()) -> Any:
    """Load a model that ``save`` wrote. All classes in the file are checked before any is loaded.

    Allowed are the public estimators of proxembed, the registered methods, their parts, and the classes of
    scikit-learn, NumPy and SciPy that skops trusts; others, such as those of an encoder of yours, if ``trusted`` names
    them.

    Parameters
    ----------
    path : str or Path
    trusted : list of str, optional
        Dotted names of classes and functions whose code may run, such as "chemotools.derivative.SavitzkyGolay"; the
        model card lists those that the model holds. Nothing is imported before it is named here.

    Returns
    -------
    fitted estimator

    Raises
    ------
    ValueError
        The file is not a saved model, is damaged, has a newer format, holds foreign classes that are not ``trusted``
        (they are named), or trusted ones that cannot be imported.
    TypeError
        ``trusted`` is not a list of names.
    OSError
        The file cannot be read.

    Warns
    -----
    UserWarning
        Another version of proxembed saved the model.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from proxembed import PCA, load, save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     load(save(PCA(n_components=2).fit(np.eye(4)), Path(folder) / "model.skops")).n_components_
    2
    """
    skops_io = _skops()

    path, names = Path(path), _checked_names(trusted)
    content = path.read_bytes()
    facts = _read_facts(content, path)
    if facts["format"] in FORMER_FORMATS:
        content = _with_present_names(content, path, facts)
    held, foreign = _held_classes(content, path)
    if untrusted := [name for name in foreign if not _is_trusted(name, names)]:
        raise ValueError(_untrusted(path, untrusted))
    ours, theirs = version("proxembed"), facts["proxembed"]
    if ours != theirs:
        warnings.warn(
            f"{path} was saved by proxembed {theirs}, and this is {ours}; results may differ. Fit and save it again, "
            f"or install proxembed {theirs}.",
            UserWarning,
            stacklevel=2,
        )
    _import_trusted(path, foreign)
    try:
        model = skops_io.loads(content, trusted=sorted(held))
        check_is_fitted(model)
    except (MemoryError, Warning):
        raise
    except Exception as error:  # whatever a damaged file makes the libraries raise
        raise _damaged(path, error) from error
    return model


def load_source(path: str | Path) -> dict[str, Any] | None:
    """How the training rows of a saved model were read; None if ``save`` got no source."""
    path = Path(path)
    return _read_facts(path.read_bytes(), path)["source"]


def trusted_names(among: Iterable[str] | None = None) -> set[str]:
    """Dotted names of the classes that ``load`` builds beside those that skops trusts by itself; ``among`` the names
    that a file holds, only the modules of proxembed that define these are loaded to see what is registered."""
    from proxembed.estimator.base import registry

    modules = None if among is None else {name.rpartition(".")[0] for name in among}
    return {f"{cls.__module__}.{cls.__qualname__}" for cls in registry(modules).values()} | set(STATE)


def _check_suffix(path: Path) -> None:
    if path.suffix != ".skops":
        raise ValueError(f"path={str(path)!r} must end in .skops; a model is saved in that format alone.")


def _check_model(model: Any, path: Path) -> None:
    _check_suffix(path)
    if isinstance(model, type) or not isinstance(model, BaseEstimator):
        raise TypeError(f"model={model!r} is not an estimator; pass a fitted one, such as OPLS().fit(X, y).")
    try:
        check_is_fitted(model)
    except NotFittedError as error:
        raise ValueError(f"model={model!r} is not fitted; call fit first.") from error


def _check_card(path: Path) -> None:
    check_place(path)
    if not path.exists():
        return
    with open(path, "rb") as file:
        if not file.read(64).startswith((CARD_MARK.encode(), FORMER_MARK.encode())):
            raise ValueError(f"{path} exists and is not a model card; give the model another name.")


def _facts(source: Mapping[str, Any] | None) -> str:
    facts = {"format": FORMAT, "proxembed": version("proxembed"), "source": None if source is None else dict(source)}
    libraries = {name: version(name) for name in LIBRARIES}
    try:
        return json.dumps({**facts, "python": platform.python_version(), **libraries}, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"source must be plain data (text, numbers, lists, dicts), but {error}.") from error


def _skops() -> Any:
    """skops.io, whose first import imports every package of scikit-learn, save those that import other libraries."""
    left_out = [] if "skops.io" in sys.modules else [name for name in OTHER_ARRAYS if name not in sys.modules]
    sys.modules.update(dict.fromkeys(left_out))  # type: ignore[arg-type]  # None: an ImportError, which is passed over
    try:
        from skops import io
    finally:
        for name in left_out:
            sys.modules.pop(name, None)
    return io


def _packed(model: Any, facts: str) -> bytes:
    skops_io = _skops()

    buffer = io.BytesIO()
    try:
        skops_io.dump(_without_callbacks(model), buffer)
    except (TypeError, AttributeError, NotImplementedError) as error:  # by skops, or by the state of a member object
        raise ValueError(f"{type(model).__name__} holds what a .skops file cannot: {error}.") from error
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr(FACTS, facts)
    return buffer.getvalue()


def _without_callbacks(part: Any) -> Any:
    """A model, or a part of one, less the callbacks of its fits, which belong to the session that set them; the same
    object if it has none."""
    if isinstance(part, list | tuple) and type(part) in (list, tuple):
        found = [_without_callbacks(each) for each in part]
        return part if all(a is b for a, b in zip(found, part, strict=True)) else type(part)(found)
    if not isinstance(part, BaseEstimator) or isinstance(part, type):
        return part
    kept = {name: _without_callbacks(value) for name, value in vars(part).items() if name != "_skl_callbacks"}
    if kept.keys() == vars(part).keys() and all(value is vars(part)[name] for name, value in kept.items()):
        return part
    bare = copy(part)
    bare.__dict__ = kept
    return bare


def _read_facts(content: bytes, path: Path) -> dict[str, Any]:
    """The plain facts of a saved model, checked; the version rule is the format number."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            whole = {FACTS, SCHEMA} <= set(archive.namelist())
            if whole:
                _check_sizes(content, path)
            facts = json.loads(archive.read(FACTS)) if whole else None
    except DataError:
        raise
    except zipfile.BadZipFile as error:
        raise ValueError(
            f"{path} is not a saved model, or is incomplete; give a .skops file written by `proxembed fit`, "
            "`proxembed search` or proxembed.save."
        ) from error
    except Exception as error:
        raise _damaged(path, error) from error
    if not isinstance(facts, dict):
        raise ValueError(
            f"{path} is not a model that proxembed saved; give a .skops file written by `proxembed fit`, "
            "`proxembed search` or proxembed.save. Data sets are read by proxembed.data.read."
        )
    found, saved_by = facts.get("format"), facts.get("proxembed")
    described = isinstance(saved_by, str) and saved_by.isprintable() and isinstance(facts.get("source"), dict | None)
    if type(found) is not int or not described:
        raise _damaged(path, ValueError(f"{FACTS} lacks its facts"))
    if found not in (FORMAT, *FORMER_FORMATS):
        raise ValueError(
            f"{path} has format {found} (proxembed {saved_by}), and proxembed {version('proxembed')} reads format "
            f"{FORMAT}; install proxembed {saved_by}, or fit and save the model again."
        )
    return facts


def _with_present_names(content: bytes, path: Path, facts: dict[str, Any]) -> bytes:
    """A model of a former format whose classes and values of parameters have their present names. Raises DataError
    where it holds parts that have changed since."""

    def renamed(node: dict[str, Any]) -> dict[str, Any]:
        name = f"{node.get('__module__')}.{node.get('__class__')}"
        if name in CHANGED and facts["format"] < CHANGED_IN:
            raise DataError.at(
                path,
                None,
                f"it has format {facts['format']} and holds {CHANGED[name]}, whose form has changed",
                f"install proxembed {facts['proxembed']}, or fit and save the model again",
            )
        if name in PRESENT_NAMES:
            node["__module__"], _, node["__class__"] = PRESENT_NAMES[name].rpartition(".")
        for parameter in PRESENT_VALUES.keys() & node.keys():
            _rename_value(node[parameter], PRESENT_VALUES[parameter])
        return node

    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as former, zipfile.ZipFile(buffer, "w") as present:
        for name in former.namelist():
            part = former.read(name)
            try:
                part = json.dumps(json.loads(part, object_hook=renamed)).encode() if name == SCHEMA else part
            except json.JSONDecodeError as error:
                raise _damaged(path, error) from error
            present.writestr(name, part)
    return buffer.getvalue()


def _rename_value(value: Any, present: dict[str | None, str]) -> None:
    """Give a parameter, as skops writes it, the present name of its value."""
    if not isinstance(value, dict) or value.get("__loader__") != "JsonNode":
        return
    old = json.loads(value["content"])
    if isinstance(old, str | None) and old in present:
        value.update({"__class__": "str", "__module__": "builtins", "content": json.dumps(present[old])})


def _check_sizes(content: bytes, path: Path) -> None:
    """Raise where an array of a model is not what its header claims, or where parts would unpack to too much."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()
        for member in members:
            if member.compress_type != zipfile.ZIP_STORED:
                reason = f"its part {ascii(member.filename)} is packed, and a model is saved unpacked"
                raise DataError.at(path, None, reason, "save the model again")
        if sum(member.file_size for member in members) > len(content):
            raise zipfile.BadZipFile("its parts overlap")
        for member in members:
            with archive.open(member) as part:
                first = part.read(len(ARRAY))
                part.seek(0)
                if first == ARRAY:
                    check_array(part, member.file_size, path, "an array of it", member.file_size)
                elif first.startswith(ARCHIVE):
                    most = min(max(MOST_TIMES * member.file_size, ALWAYS), most_unpacked())
                    check_arrays(io.BytesIO(part.read()), path, most, remedy="fit and save a smaller model")


def foreign_of_encoder(model: Any) -> tuple[str, ...]:
    """Dotted names of what the encoder in front of a model holds beside classes that ``load`` trusts by itself; a
    ValueError for functions and classes that cannot be imported by their names."""
    from proxembed.methods.row_encoder import RowEncoder

    steps = [step for _, step in getattr(model, "steps", ())]
    encoder = next((step for step in steps if isinstance(step, RowEncoder)), None)
    return () if encoder is None else _foreign_names(encoder)


def _foreign_names(encoder: Any) -> tuple[str, ...]:
    _, foreign = _held_classes(_packed(encoder, _facts(None)), Path("the encoder"))
    if unnamed := [name for name in foreign if not all(part.isidentifier() for part in name.split("."))]:
        raise ValueError(
            f"the encoder holds {', '.join(map(ascii, unnamed))}, which has no name by which it can be imported; put "
            "it at the top of a module of its own, or keep the model in memory."
        )
    return tuple(foreign)


def _held_classes(content: bytes, path: Path) -> tuple[set[str], list[str]]:
    """Dotted names of the classes and functions in a model beside those that skops trusts, none of which is imported;
    and of those among them that ``load`` does not trust by itself, sorted."""
    skops_io = _skops()

    try:
        held = set(skops_io.get_untrusted_types(data=content))
        return held, sorted(held - trusted_names(held))
    except (MemoryError, Warning):
        raise
    except Exception as error:
        raise _damaged(path, error) from error


def _refuse_foreign(content: bytes, path: Path, named: Iterable[str]) -> None:
    """Raise where the model holds classes or functions beyond the trusted ones and those of its encoder."""
    foreign = [name for name in _held_classes(content, path)[1] if name not in set(named)]
    if foreign:
        raise ValueError(
            f"{path}: the model holds {_few(foreign)}, which is not proxembed's nor trusted of scikit-learn; name a "
            "built-in kind instead of a function, or import the module that registers the method first."
        )


def _untrusted(path: Path, foreign: Sequence[str]) -> str:
    flags = " ".join(f"--trust {name}" if name.isprintable() else "--trust NAME" for name in foreign)
    return (
        f"{path}: the model holds {_few(foreign)}, which is not proxembed's nor trusted of scikit-learn, so that "
        f"nothing was loaded; if you trust this code, load the model with trusted={ascii(list(foreign))} ({flags} in "
        "the program), or import the module that registers the method first."
    )


def _few(names: Sequence[str]) -> str:
    more = "" if len(names) <= MOST_NAMES else f" and {len(names) - MOST_NAMES} more"
    return ", ".join(map(ascii, names[:MOST_NAMES])) + more


def _checked_names(trusted: Any) -> frozenset[str]:
    names = () if isinstance(trusted, str) else tuple(trusted)
    if isinstance(trusted, str) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"trusted={trusted!r} must be a list of dotted names, such as ['chemotools.scatter.SNV'].")
    return frozenset(names)


def _is_trusted(name: str, names: Iterable[str]) -> bool:
    """Whether a dotted name is among those that are trusted, or what one of a package above it stands for, as
    chemotools.derivative.SavitzkyGolay does for that of its private module. No other name is imported."""
    if name in names:
        return True
    module, _, own = name.rpartition(".")
    above = [each.rpartition(".")[0] for each in names if each.rpartition(".")[2] == own]
    for package in above:
        if module.startswith(f"{package}."):
            with suppress(ImportError):
                found = getattr(import_module(package), own, None)
                if f"{getattr(found, '__module__', None)}.{getattr(found, '__qualname__', None)}" == name:
                    return True
    return False


def _import_trusted(path: Path, names: Iterable[str]) -> None:
    """Import what the caller trusts, so that an error names what is missing."""
    for name in names:
        module, _, attribute = name.rpartition(".")
        try:
            getattr(import_module(module), attribute)
        except (ImportError, AttributeError, ValueError) as error:
            raise ValueError(
                f"{path} needs {ascii(name)}, which cannot be imported ({error}); install the package that has it, or "
                "run where its module can be found."
            ) from error


def _damaged(path: Path, error: Exception) -> ValueError:
    reason = " ".join(f"{type(error).__name__}: {error}".split())
    return ValueError(f"{path} is damaged and cannot be loaded ({reason[:200]}); save the model again.")
