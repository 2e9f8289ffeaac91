"""One self-contained page from a record: verdict first, evidence after it, nothing fetched from elsewhere."""

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from functools import cache, partial
from typing import Any

from proxembed.evaluate.arms import ALL_FEATURES
from proxembed.evaluate.results import sign_of
from proxembed.evaluate.rivals.rival import rivals
from proxembed.evaluate.verdict import TOLERANCE, feature_count
from proxembed.measures.measures import is_near
from proxembed.persist.model_file import CUTS
from proxembed.tables.notes import counted, visible_texts

from . import views
from .adaptive import adaptive_view, convergence
from .figures import k_curve, matrix_view, ramp
from .measured import figure_number, measured_view
from .next_steps import Run
from .plain_words import BOTH_CLASSES, BY_ITSELF, CONSTANT, and_words, by_itself, glossary, is_yes_no, per_cent
from .score_histogram import score_view
from .sections import data_card, leak_warnings
from .verdict import query_times

QUOTED = re.compile(r"`([^`]+)`")  # a command in a text
OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*(?: \d[\d.]*\b)?")  # of the program, perhaps with a number, in a text


def page_html(record: dict[str, Any]) -> str:
    """Write the page of a run as HTML text: all names escaped, control characters shown, no network."""
    from markupsafe import Markup

    record = visible_texts(record)
    figures = [
        (name, Markup(k_curve(record["summary"], name)), Markup(k_curve(record["summary"], name, narrow=True)))
        for name in views.shown_measures(record["summary"])[:2]
    ]
    adaptive: Any = record.get("adaptive")
    shown = adaptive and adaptive["models"] and adaptive["history"]["best"]
    steps = [Markup(convergence(adaptive, narrow=narrow)) for narrow in (False, True)] if shown else None
    return render_page("page", **_context(record), curves=figures, convergence=steps)


def render_page(name: str, /, scripts: Sequence[str] = (), **context: Any) -> str:
    """A page as HTML text, from the template, the style and the script of a name, behind other ``scripts``."""
    from markupsafe import Markup

    environment = templates()
    read = partial(environment.loader.get_source, environment)
    script, style = "".join(read(f"{each}.js")[0] for each in (*scripts, name)), read(f"{name}.css")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    page = environment.get_template(f"{name}.html").render(
        **context, style=Markup(style), script=Markup(script), script_hash=f"sha256-{digest}"
    )
    return page.encode("utf-8", "replace").decode("utf-8")  # a lone surrogate in a name cannot be written


def verdict_card(verdict: dict[str, Any]) -> str:
    """The verdict as a piece of HTML that stands for itself, such as in a notebook."""
    return templates().get_template("verdict.html").render(verdict=visible_texts(verdict), queries="", explained=False)


def table_card(title: str, head: Sequence[str], lines: Sequence[Sequence[str]], notes: Sequence[str]) -> str:
    """A table of cells as a piece of HTML that stands for itself; the first two columns are words, the others
    numbers."""
    return templates().get_template("differing.html").render(title=title, head=head, lines=lines, notes=notes)


@cache
def templates() -> Any:
    """The templates of the page, read and compiled once."""
    import jinja2

    loader = jinja2.PackageLoader("proxembed.report", "html")
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["unbroken"] = _unbroken
    return environment


def _unbroken(text: Any) -> Any:
    """A text as HTML whose options, such as --goal, do not break at hyphens, and whose quoted commands are code."""
    from markupsafe import Markup, escape

    shown = OPTION.sub(r'<span style="white-space: nowrap">\g<0></span>', str(escape(text)))
    return Markup(QUOTED.sub(r"<code>\1</code>", shown))


def _context(record: dict[str, Any]) -> dict[str, Any]:
    """Everything of the template that is neither figure nor script."""
    summary = record["summary"]
    shown = views.with_values(views.board_measures(summary), summary["best"], ("mean", "test"))
    scored = [entry["scores"] for entry in summary["leaderboard"]]
    return {
        "record": record,
        "s": summary,
        "primary": shown[0],
        "shown": shown,
        "every": views.every_measure(summary, scored),
        "tiles": views.tiles(record),
        "queries": query_times(summary),
        **_constant_words(summary) | _map_and_labels(record) | _shuffled(record.get("diagnosis"), summary),
        "maps": summary["verdict"].get("asked") == "map",
        "per_cent": per_cent,
        "cuts": "" if summary["dataset"]["single_label"] else CUTS,
        "map": views.map_view(record.get("map"), summary["dataset"]["single_label"]),
        "histogram": score_view(record.get("map")),
        "measured": measured_view(record.get("measured")),
        "figure_number": figure_number,
        "of": {**target_words(summary["dataset"]), "features": feature_words(summary)},
        "labels": views.label_view(record.get("label_table"), summary["verdict"].get("tolerance", TOLERANCE)),
        "reliability": views.reliability_view(record.get("reliability")),
        "parts": views.component_view(record.get("components")),
        "board": views.board_view(summary["best"], shown[0], ALL_FEATURES),
        "sizes": views.with_gains(summary["leaderboard"], ALL_FEATURES),
        "base": ALL_FEATURES,
        **_read_outs(summary),
        "fold_gain": views.fold_gain_text,
        "matrices": matrix_view(record.get("proximity")),
        "adaptive": adaptive_view(record.get("adaptive")),
        "trials": views.trials_view(record.get("search")),
        "choice": views.choice_text(record["summary"]),
        "card": data_card(summary["dataset"]),
        "label_counts": views.label_counts_view(summary["dataset"]["label_counts"]),
        "ramp": f"linear-gradient(90deg, {', '.join(ramp())})",
        "leaks": leak_warnings(summary["dataset"], summary["protocol"], Run(record["command"])),
        "notes": summary["dataset"].get("notes", ()),
        "planned": planned_folds(summary["protocol"]),
        "splitting": folds_text(summary["protocol"], len(summary["folds"]), bool(summary["dataset"].get("outputs"))),
        "tested": any(scores[shown[0]]["test"] is not None for scores in scored),
        "score": views.score_text,
        "number": views.number,
        "gain": views.gain_text,
        "bars": views.bars,
        "seconds": views.seconds_text,
        "words": lambda value: "–" if value is None else json.dumps(value, ensure_ascii=False),
        "short": _heading,
    }


def _map_and_labels(record: dict[str, Any]) -> dict[str, Any]:
    """Which map is shown, and how many labels count in the average precision of every fold."""
    summary = record["summary"]
    counted = min((entry["labels"] for entry in summary["leaderboard"]), default=0)
    return {"map_words": views.map_words(summary, record.get("map"), Run(record["command"])), "counted_labels": counted}


def _shuffled(diagnosis: dict[str, Any] | None, summary: dict[str, Any]) -> dict[str, Any]:
    """The score beside those on shuffled labels, and its words."""
    words = {"few_shuffles": views.few_shuffles, "shuffles_text": views.shuffles_text}
    chosen = summary.get("choice") or {}
    own = [entry.get("reads_features") for entry in summary["leaderboard"] if entry["arm"] == chosen.get("method")]
    predictions = diagnosis is not None and not is_near(diagnosis["measure"])
    return {**words, "null": views.null_view(diagnosis), "own_scores": any(own), "of_predictions": predictions}


def _constant_words(summary: dict[str, Any]) -> dict[str, Any]:
    """The row of the leaderboard that no feature has a part in, and how neighbours of one yes/no label are judged."""
    both = BOTH_CLASSES[2:] if is_yes_no(summary["dataset"]) else ""
    words = {"explained": True, "glossary": glossary(summary["dataset"].get("outputs") is not None)}
    return {**words, "constant": CONSTANT, "constants": summary.get("constant") or {}, "both_classes": both}


def _read_outs(summary: dict[str, Any]) -> dict[str, Any]:
    """Who predicts by itself: the rivals, the methods, and which entries of the leaderboard are marked and how."""
    marked = by_itself(summary)
    own = list(dict.fromkeys(entry["arm"] for entry in summary["best"] if entry.get("reads_features")))
    return {
        "predicting": and_words(_predicting(summary["dataset"])),
        "own_classifiers": and_words(own) if own else "",
        "by_itself": marked,
        "itself": BY_ITSELF * any(map(marked, summary["leaderboard"])),
    }


def _predicting(dataset: dict[str, Any]) -> list[str]:
    """The rivals of these targets that predict by themselves."""
    kind = "numbers" if dataset.get("outputs") else "labels"
    return [rival.title for rival in rivals() if rival.predicts and kind in rival.takes]


def target_words(facts: dict[str, Any]) -> dict[str, Any]:
    """What the page calls the targets of a data set: labels, or outputs, and how many there are."""
    outputs = facts.get("outputs")
    if not outputs:
        words = {"what": "label", "shuffled": "shuffled labels", "shuffles": "shuffles of the labels"}
        return {**words, "numbers": False, "count": facts["labels"]}
    words = {"what": "output", "shuffled": "shuffled outputs", "shuffles": "shuffles of the outputs"}
    return {**words, "numbers": True, "count": len(outputs)}


def feature_words(summary: dict[str, Any]) -> str:
    """The features of a data set, and the columns of a table that they come from where these are fewer."""
    d = summary["dataset"]["d"]
    features = feature_count(summary.get("best", []), d)
    return counted(d, "feature") if features == d else f"{counted(d, 'column')} as {counted(features, 'feature')}"


def _heading(name: str) -> str:
    """A measure as a column's heading, with an arrow where lower is better."""
    short = name.replace("macro average precision", "macro AP")
    return f"↓ {short}" if sign_of(name) < 0 else short


def planned_folds(protocol: dict[str, Any]) -> int:
    """Number of folds of all repetitions of a comparison."""
    splitting = protocol.get("splitting")
    return protocol["n_folds"] * ((splitting.get("n_repeats") if isinstance(splitting, dict) else None) or 1)


def folds_text(protocol: dict[str, Any], finished: int, numbers: bool = False) -> str:
    """The folds in words: those that were finished, and how many were planned where these are more."""
    splitting = protocol.get("splitting")
    splitting = splitting if isinstance(splitting, dict) else {}
    words = {"groups": "{} with the rows of a group kept together", "time": "{} in time order, trained on earlier rows"}
    kind = words.get(splitting.get("kind", ""), "stratified {}" if numbers else "multi-label stratified {}")
    planned = planned_folds(protocol)
    repeats = planned // protocol["n_folds"]
    if finished < planned:
        return f"{finished} {kind.format('fold' if finished == 1 else 'folds')} ({planned} were planned)"
    return f"{protocol['n_folds']} {kind.format('folds')}" + (f", repeated {repeats} times" if repeats > 1 else "")
