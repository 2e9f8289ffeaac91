"""The model card: what a saved model is, what it learned from, how well it did, how to use and cite it."""

from __future__ import annotations

import math
import platform
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from sklearn.pipeline import Pipeline

from proxembed.features.scaling import BY_SUMS
from proxembed.tables.visible import visible

CARD_MARK = "<!-- proxembed model card -->"
LIBRARIES = ("numpy", "scipy", "scikit-learn", "skops")
USE = """## Use
`proxembed transform NAME.skops NEW -o z.csv` embeds new rows{predict}. In Python:
```python
import proxembed

model = proxembed.load("NAME.skops")  # runs no code of the file
{call}
```
X_new holds the columns of the training data: {columns}."""
MATRIX = "an array, or a sparse matrix, of {} features in their order, or a DataFrame, whose columns go by name"
TABLE = "a DataFrame with {}"
LIMITS = """## Limits
- New rows need the same features, measured alike. What was learned on other rows need not hold.
- The rows that the model was fitted on look better in its embedding than new rows do: judge it on held-out rows."""


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
    >>> print(model_card(OPLS(n_components=2).fit(data.X, data.Y), data).splitlines()[1])
    # OPLS: 64 features to 2 components
    """
    chosen = getattr(model, "best_estimator_", model)
    steps = [step for _, step in chosen.steps] if isinstance(chosen, Pipeline) else [chosen]
    embedding = next((step for step in steps if hasattr(step, "n_components_")), steps[-1])
    size = f"{getattr(chosen, 'n_features_in_', '?')} features"
    if hasattr(embedding, "n_components_"):
        size += f" to {embedding.n_components_} components"
    versions = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    sections = [
        f"{CARD_MARK}\n# {type(embedding).__name__}: {size}",
        f"Saved by proxembed {version('proxembed')} (Python {platform.python_version()}, {versions}) on "
        f"{datetime.now(UTC).date().isoformat()}.",
        "## Steps\n" + "\n".join(f"{number}. {_code(repr(step))}" for number, step in enumerate(steps, 1)),
        "## Data\n" + ("Not recorded." if dataset is None else _data_lines(dataset, steps[0], sampled)),
        "## Evidence\n" + _evidence(summary),
        _use(chosen, dataset),
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


def _data_lines(dataset: Any, first: Any, sampled: int | None = None) -> str:
    facts = dataset.describe()
    lines = [
        f"- {_plain(facts['name'])}: {facts['n']} rows, {facts['d']} features, {facts['labels']} labels, "
        f"{facts['cardinality']:.2f} labels per row, {facts['unknown_cells']} unknown cells",
        f"- labels: {', '.join(map(_plain, dataset.label_names[:50]))}"
        + (f" and {facts['labels'] - 50} more" if facts["labels"] > 50 else ""),
        f"- licence: {_plain(facts['licence'] or 'not stated')}",
    ]
    if sampled is not None:
        whole = getattr(first, "kind", None) in BY_SUMS  # as ``LargeFit`` fits it
        on_all, on_sample = ("embedding and scaling are", "") if whole else ("embedding is", "scaling and the ")
        lines.append(
            f"- these rows are a sample of {sampled:,}: the {on_all} fitted on all of them, the {on_sample}read-out on "
            "the sample"
        )
    if facts["test"] is not None:
        among = f"the {facts['test']:,} test rows are among these" if facts["test"] else "no test row is among these"
        lines.append(f"- the model is fitted on these rows; {among}")
    return "\n".join(lines)


def _use(model: Any, dataset: Any) -> str:
    """How to embed and predict, for the program and in three lines of Python."""
    call, predict = "Z = model.transform(X_new)", ""
    if hasattr(model, "predict"):
        call = "Z, labels = model.transform(X_new), model.predict(X_new)"
        predict = ", and `proxembed predict NAME.skops NEW -o labels.csv` gives their labels"
    columns = MATRIX.format(getattr(model, "n_features_in_", "all"))
    if dataset is not None and (dataset.source or {}).get("format") == "table" and not hasattr(dataset.X, "dtype"):
        columns = TABLE.format(", ".join(map(_plain, dataset.feature_names)))
    return USE.format(predict=predict, call=call, columns=columns)


def _evidence(summary: Mapping[str, Any] | None) -> str:
    if summary is None:
        return "Not evaluated: compare it with honest rivals before use (`proxembed compare`)."
    verdict, names = summary["verdict"], summary["measures"]
    head = "| arm | k | " + " | ".join(map(_plain, names)) + " |\n|" + "---|" * (2 + len(names))
    goals = [
        f"- **{_plain(goal['title'])}: {_plain(goal['word'])}.** {_plain(goal['sentence'])}"
        for goal in verdict["goals"].values()
    ]
    lines = [*(goals or [_plain(verdict["text"])]), "", _plain(verdict["note"]), "", head]
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
