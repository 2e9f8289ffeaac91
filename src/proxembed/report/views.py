"""What the page shows of a record, prepared for its template: positions, colours and words, no markup."""

import base64
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from proxembed.evaluate.arms import MAP_SIZE
from proxembed.evaluate.diagnose import LEAST_DISTINCT
from proxembed.evaluate.evidence import ALL_LAID_OUT, FREQUENT
from proxembed.evaluate.verdict import AS_SHOWN, TOLERANCE, loss_margin, new_neighbor_measure
from proxembed.measures.measures import AVERAGE_PRECISION, BRIER, is_near
from proxembed.splits.shuffles import GROUPS, TIMES, counted
from proxembed.targets.labels import MANY_LABELS

from .next_steps import Run
from .plain_words import measure_words, option_words, size_words
from .sections import SHOWN_LABELS, unit_square

# Okabe and Ito's colours, told apart by colour-blind readers; their yellow is too pale on white and is left out.
LABEL_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
SEVERAL, OTHER = "#1a1a1a", "#c6ced6"  # rows with several of the labels shown, and with none
RAMP = ("#dbe7f1", "#bdd5e8", "#93bbd9", "#629cc8", "#337cb2", "#135c96", "#083a66")
SIDE = 1000  # units across a panel
NAME_LENGTH, SHORT_LENGTH = 80, 22


def short_name(text: str) -> str:
    """A name of at most 80 characters, with dots where it was longer."""
    return text if len(text) <= NAME_LENGTH else text[: NAME_LENGTH - 1] + "…"


def number(value: float | None, digits: int = 3, sign: bool = False) -> str:
    """A number of the tables, or a dash."""
    return "–" if value is None or math.isnan(value) else f"{value:{'+' if sign else ''}.{digits}f}"


def shown_measures(summary: dict[str, Any]) -> list[str]:
    """The measures of the tables: the primary one, that of neighbours and that of new rows among themselves."""
    names = summary["measures"]
    near = [name for name in names[1:] if is_near(name)]
    shown = [names[0], *(near or names[1:])[:1], new_neighbor_measure(names)]
    return [name for name in dict.fromkeys(shown) if name is not None]


def board_measures(summary: dict[str, Any]) -> list[str]:
    """The measures of the leaderboard on the page: those of the tables, the Brier score after average precision."""
    names = shown_measures(summary)
    beside = [name for name in summary.get("further_measures", ()) if name.startswith(BRIER)]
    return [names[0], *beside, *names[1:]] if names[0].startswith(AVERAGE_PRECISION) else names


def every_measure(summary: dict[str, Any], scored: Sequence[dict[str, Any]]) -> list[str]:
    """All measures, of the further ones those that some scores have."""
    further = [name for name in summary.get("further_measures", []) if any(name in scores for scores in scored)]
    return [*summary["measures"], *further]


def with_values(names: Sequence[str], entries: Sequence[dict[str, Any]], kinds: Sequence[str]) -> list[str]:
    """The first measure, and those others of which an entry has a value of one of the kinds ("mean", "test")."""

    def valued(name: str) -> bool:
        return any(number(entry["scores"].get(name, {}).get(kind)) != "–" for entry in entries for kind in kinds)

    return [name for name in names if name == names[0] or valued(name)]


def score_text(score: dict[str, Any]) -> str:
    """A mean with its standard error, as in the tables."""
    error = "" if score.get("standard_error") is None else f" ± {score['standard_error']:.3f}"
    return number(score["mean"]) + error


def fold_gain_text(gain: dict[str, Any] | None, base: bool) -> str:
    """A gain over the folds with its standard error; all features are what the gains are over."""
    if base or gain is None:
        return "–"
    error = "" if gain["standard_error"] is None else f" ± {gain['standard_error']:.3f}"
    return number(gain["mean"], sign=True) + error


def gain_text(versus: dict[str, Any]) -> str:
    """A gain with its interval."""
    gain = number(versus.get("gain"), sign=True)
    if not versus.get("interval"):
        return gain
    low, high = versus["interval"]
    return f"{gain} ({number(low, sign=True)} to {number(high, sign=True)})"


def tiles(record: dict[str, Any]) -> list[dict[str, Any]]:
    """The facts beside the verdict: model, score, null, time."""
    summary, diagnosis = record["summary"], record.get("diagnosis")
    numbers = bool(summary.get("dataset", {}).get("outputs"))
    shuffled = f"Shuffled {'outputs' if numbers else 'labels'}"
    primary, found = summary["measures"][0], []
    choice = summary.get("choice") or {"method": None, "k": None}
    ours = [entry for entry in summary["best"] if not entry["rival"]]
    ours.sort(key=lambda entry: (entry["arm"], entry["k"]) != (choice["method"], choice["k"]))
    best = ours[0] if ours else None
    nested = summary.get("nested")
    if best:
        chosen = (record.get("search") or {}).get("chosen") if nested else None
        name, size = (chosen["method"], chosen.get("n_components")) if chosen else (best["arm"], best["k"])
        k = "all" if size is None else str(size)
        what = "Saved model" if chosen else "Best embedding"
        if saved := summary.get("saved"):
            found.append({"what": "Saved model", "value": saved["arm"], "note": "a rival, which is better"})
        own = bool(best.get("reads_features")) and not is_near(primary)
        few = not chosen and "components" in best and best["components"] != best["k"]
        size = size_words(best).removeprefix(" at ") if few else f"k = {k} component{'s' * (k != '1')}"
        found.append({"what": what, "value": name, "note": size + "; it predicts without these" * own})
        test = best["scores"][primary]["test"]
        if test is None:
            value, note = score_text(best["scores"][primary]), "on held-out folds"
        else:
            value, note = number(test), f"on {'all rows, held out in turn' if nested else 'the test rows'}"
        found.append({"what": measure_words(primary, own), "value": value, "note": note})
    if diagnosis:
        shuffles = diagnosis.get("n_shuffles", len(diagnosis["null"]))
        value = "cannot tell" if few_shuffles(diagnosis) else "beaten" if diagnosis["passed"] else "not beaten"
        found.append({"what": shuffled, "value": value, "note": f"p = {diagnosis['p']:.3f}, {shuffles} shuffles"})
    searched = (record.get("search") or {}).get("seconds")
    if searched is not None:
        found.append({"what": "Time of the search", "value": seconds_text(searched), "note": ""})
    folds = f"{len(summary['folds'])} fold{'s' * (len(summary['folds']) != 1)} of the comparison"
    found.append({"what": "Time of the comparison", "value": seconds_text(summary["seconds"]), "note": folds})
    return found


def seconds_text(seconds: float) -> str:
    """A duration in the unit that suits it."""
    return f"{seconds:.1f} s" if seconds < 100 else f"{int(seconds // 60)} min {int(seconds % 60)} s"


def _scale(values: list[float]) -> tuple[float, float]:
    """A little more than the range of the values."""
    low, high = min(values), max(values)
    margin = 0.06 * (high - low) or 0.05
    return low - margin, high + margin


def _place(value: float | None, low: float, high: float) -> float | None:
    return None if value is None else round(100 * (value - low) / (high - low), 2)


WITHOUT_LABELS = ("PCA", "LSI")  # titles of maps
MOVED = {GROUPS: ", which exchange the labels of whole groups", TIMES: ", which move all labels on along time"}


def few_shuffles(diagnosis: dict[str, Any]) -> bool:
    """Whether too few different shuffles are possible for a test at its level."""
    return bool(diagnosis.get("distinct", LEAST_DISTINCT) < LEAST_DISTINCT)


def shuffles_text(diagnosis: dict[str, Any]) -> str:
    """How many shuffles reach the value, and p, beside the smallest p that is possible with this number of shuffles."""
    count = len(diagnosis["null"])
    reached = round(diagnosis["p"] * (1 + count)) - 1
    least = f", the smallest p that {count} shuffles can give" if reached == 0 else ""
    return f"{reached or 'none'} of {count} shuffles reached it (p = {number(diagnosis['p'])}{least})"


def null_view(diagnosis: dict[str, Any] | None) -> dict[str, Any] | None:
    """The score beside those on shuffled labels, as percentages of a line."""
    if not diagnosis or not diagnosis["null"]:
        return None
    marks = {key: diagnosis.get(key) for key in ("value", "raw")}
    low, high = _scale([*diagnosis["null"], *(mark for mark in marks.values() if mark is not None)])
    places: dict[str, Any] = {key: _place(mark, low, high) for key, mark in marks.items()}
    moved = MOVED.get(diagnosis.get("unit", ""))
    places["moved"] = f"{moved} ({counted(diagnosis['distinct'])} are possible)" if moved else ""
    return {**places, "null": [_place(value, low, high) for value in diagnosis["null"]], "low": low, "high": high}


def with_gains(entries: list[dict[str, Any]], base: str) -> list[dict[str, Any]]:
    """Entries with ``gains``: per measure the mean difference to all features over the same folds, and its error."""
    known: dict[str, Any] = next((entry["scores"] for entry in entries if entry["arm"] == base), {})
    found = []
    for entry in entries:
        gains = {}
        for name, score in entry["scores"].items():
            pairs = zip(score["by_fold"], known.get(name, {}).get("by_fold", ()), strict=False)
            steps = [own - other for own, other in pairs if own is not None and other is not None]
            steps = [step for step in steps if math.isfinite(step)]
            if steps:
                error = float(np.std(steps, ddof=1) / math.sqrt(len(steps))) if len(steps) > 1 else None
                gains[name] = {"mean": float(np.mean(steps)), "standard_error": error}
        found.append({**entry, "gains": gains})
    return found


def board_view(entries: list[dict[str, Any]], primary: str, base: str) -> list[dict[str, Any]]:
    """Entries of the leaderboard with their gains and their places on one line."""
    entries = with_gains(entries, base)
    at_base = next((e["scores"][primary]["test"] for e in entries if e["arm"] == base), None)
    spans = []
    for entry in entries:
        score, test = entry["scores"][primary], entry["scores"][primary]["test"]
        if at_base is not None and primary in entry["gains"]:
            score, test = entry["gains"][primary], None if test is None else test - at_base
        error = score.get("standard_error") or 0.0
        spans.append([score["mean"] - error, score["mean"] + error, score["mean"], test])
    low, high = _scale([value for span in spans for value in span if value is not None])
    names = ("from", "to", "mean", "test")
    places = [dict(zip(names, (_place(value, low, high) for value in span), strict=True)) for span in spans]
    return [{**entry, "place": place} for entry, place in zip(entries, places, strict=True)]


def label_view(table: list[dict[str, Any]] | None, tolerance: float = TOLERANCE) -> dict[str, Any] | None:
    """The table of labels, with how many are served worse: by more than the tolerance. Of more than 1,000 labels the 50
    of most rows, and the means of the others in one row."""
    if table is None:
        return None
    table = [{**row, "worse": _falls(row, tolerance)} for row in table]
    both = [row for row in table if _compared(row)]
    shown, rest = shown_labels(table)
    mean = None if not rest else mean_row(rest)
    drawn = [row for row in (*shown, *([mean] if mean else ())) if _compared(row)]
    return {
        "rows": shown,
        "rest": mean,
        "left_out": len(rest),
        "worse": sum(row["worse"] for row in both),
        "compared": len(both),
        "all": len(table),
        "tolerance": tolerance,
        "least": AS_SHOWN,
        "threshold": any(row.get("threshold") is not None for row in table),
        "calibration": any(row.get("calibration") is not None for row in table),
        "decisions": any(row.get("decisions") is not None for row in table),
        "gains": _gain_plot(drawn) if len(drawn) > 2 else None,
    }


def share_interval(share: float, n: float, z: float = 1.96) -> tuple[float, float, float]:
    """A share of n cells between the ends of Wilson's 95 % interval, the upper end first."""
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return min(middle + half, 1.0), share, max(middle - half, 0.0)


def reliability_view(section: dict[str, Any] | None) -> dict[str, Any] | None:
    """The reliability curve in units of its drawing: dots with the 95 % interval of their share, and ticks."""
    if section is None:
        return None
    left, right, top, bottom = 58, 388, 14, 344
    dots = []
    for probability, share, cells in zip(*(section[name] for name in ("probability", "share", "cells")), strict=True):
        high, y, low = (round(bottom - (bottom - top) * end, 1) for end in share_interval(share, cells))
        count, x = f"{cells:,.0f}", round(left + (right - left) * probability, 1)
        title = f"{count} cells given {probability:.3f}: {share:.3f} have the label"
        own = {"probability": probability, "share": share, "count": count, "title": title}
        dots.append({**own, "x": x, "y": y, "low": low, "high": high})
    ticks = [
        {"x": left + (right - left) * v / 4, "y": bottom - (bottom - top) * v / 4, "text": f"{v / 4:g}"}
        for v in range(5)
    ]
    facts = {name: section[name] for name in ("labels", "rows", "error")}
    counts = sorted({round(cells) for cells in section["cells"]})
    facts["sizes"] = " to ".join(f"{count:,}" for count in dict.fromkeys((counts[0], counts[-1])))
    ends = {"left": left, "right": right, "top": top, "bottom": bottom}
    return {**facts, **ends, "frequent": FREQUENT, "dots": dots, "ticks": ticks}


def shown_labels(labels: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
    """Labels, the most frequent first, as a page shows them: those that it lists, and the rest, if they are many."""
    most = SHOWN_LABELS if len(labels) > MANY_LABELS else len(labels)
    return labels[:most], labels[most:]


def mean_row(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The means of rows of the table of labels as one row, each over the labels that have the figure; the change of
    average precision is that of the labels that have both. Never worse: single labels are."""
    means: dict[str, Any] = {}
    compared = [row for row in rows if _compared(row)]
    for name in ("n", "ap_raw", "ap_embedded", "threshold", "calibration", "chance"):
        of = compared if name.startswith("ap_") else rows
        known = [row[name] for row in of if row.get(name) is not None]
        means[name] = float(np.mean(known)) if known else None
    return {
        "label": "the other label" if len(rows) == 1 else f"mean of the other {len(rows):,} labels",
        **means,
        "worse": False,
        "mean": True,
    }


def _compared(row: dict[str, Any]) -> bool:
    """Whether a label has both average precisions."""
    return row.get("ap_raw") is not None and row.get("ap_embedded") is not None


def label_counts_view(counts: list[list[Any]]) -> dict[str, Any]:
    """The labels with their rows: of more than 1,000 the 50 of most rows, and the mean number of rows of the others."""
    shown, rest = shown_labels(sorted(counts, key=lambda pair: -pair[1]) if len(counts) > MANY_LABELS else counts)
    mean = float(np.mean([count for _, count in rest])) if rest else None
    return {"rows": shown, "left_out": len(rest), "mean": mean}


def _falls(row: dict[str, Any], tolerance: float) -> bool:
    """Whether the average precision of a label loses more than counts as level; none can where it is at chance."""
    before, after = row.get("ap_raw"), row.get("ap_embedded")
    if before is None or after is None:
        return False
    margin = loss_margin(before, row.get("chance"), 1.0, tolerance)
    return margin is not None and after < before - margin


def _gain_plot(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Gain of each label against its rows: places in percent, ticks in whole powers of ten."""
    points = [
        {"x": math.log10(max(row["n"], 1)), "gain": row["ap_embedded"] - row["ap_raw"], "row": row} for row in rows
    ]
    reach = max(0.02, max(abs(point["gain"]) for point in points)) * 1.08
    first, last = math.floor(min(point["x"] for point in points)), math.ceil(max(point["x"] for point in points) + 1e-9)
    last = max(last, first + 1)
    dots = [
        {
            "left": _place(point["x"], first, last),
            "top": _place(-point["gain"], -reach, reach),
            "worse": point["row"]["worse"],
            "mean": point["row"].get("mean", False),
            "title": f"{short_name(point['row']['label'])}: {point['row']['n']:,.0f} rows, {point['gain']:+.3f}",
        }
        for point in points
    ]
    ticks = [{"left": _place(power, first, last), "text": f"{10**power:,}"} for power in range(first, last + 1)]
    return {"dots": dots, "ticks": ticks, "reach": reach / 1.08}


def component_view(components: list[dict[str, Any]] | None) -> dict[str, Any] | None:
    """Components with bars, and the spectrum as heights in percent."""
    if not components:
        return None
    values = [part.get("eigenvalue") for part in components]
    top = max((abs(value) for value in values if value is not None), default=0.0)
    heights = [{"k": part["component"], "value": value, "height": round(100 * abs(value) / top, 1)}
               for part, value in zip(components, values, strict=True) if value is not None and top > 0]  # fmt: skip
    return {"first": components[:6], "more": components[6:40], "all": len(components), "spectrum": heights}


def bars(pairs: list[list[Any]]) -> list[dict[str, Any]]:
    """Signed weights with the length of each bar in percent of the strongest."""
    top = max((abs(weight) for _, weight in pairs), default=0.0) or 1.0
    return [
        {
            "name": short_name(str(name)),
            "short": middle_cut(str(name)),
            "weight": weight,
            "length": round(100 * abs(weight) / top, 1),
        }
        for name, weight in pairs
    ]


def middle_cut(name: str) -> str:
    """A long name without its middle, since names of one file often begin alike."""
    return name if len(name) <= SHORT_LENGTH else f"{name[: SHORT_LENGTH - 14]}…{name[-11:]}"


def trials_view(search: dict[str, Any] | None) -> list[dict[str, Any]]:
    """The trials of a search, best first, with parameters as words; their scores are those on final folds, if any."""
    trials = search.get("trials") if search else None
    rows = []
    for trial in trials if isinstance(trials, list) else []:
        scores = trial.get("final") or trial.get("scores")
        known = {k: score for k, score in (scores or {}).items() if isinstance(score, int | float)}
        size = max(known, key=known.__getitem__, default=None)
        parameters = trial.get("params") or {}
        words = (
            ", ".join(f"{key} = {value}" for key, value in parameters.items()) if isinstance(parameters, dict) else ""
        )
        found = {"score": known.get(size), "k": trial.get("k") if size is None else int(size)}
        facts = {name: trial.get(name) for name in ("seconds", "failure")}
        rows.append({"method": str(trial.get("method")), "params": short_name(words), **found, **facts})
    return sorted(rows, key=lambda row: -math.inf if row["score"] is None else row["score"], reverse=True)[:300]


def choice_text(summary: dict[str, Any]) -> str:
    """What is to be expected of a choice among many, and what its folds show of it, in words; empty for none."""
    choice = summary.get("choice")
    if not choice or choice["score"] is None:
        return ""
    several, kept = choice["configurations"] > 1, choice["anchored"]
    best = f", the best of {choice['configurations']} configurations" * (several and not kept)
    ahead = choice.get("ahead") or "Another one"
    another = (
        f" {ahead} was ahead by less than one standard error; {choice['method']} is kept unless another is ahead by "
        "more."
    ) * kept
    compared = len(summary.get("folds", ()))
    beside = f" (other folds than the {compared} of the comparison)" if compared else ""
    return (
        f"Chosen: {choice['method']}, k = {choice['k']}. Its mean over the {choice['folds']} folds of the search"
        f"{beside} is {choice['mean']:.3f}{best}. If the choice is made without each of these folds in turn, what is "
        f"chosen scores {choice['score']:.3f} on the folds left out.{another}"
    )


def map_view(found: dict[str, Any] | None, single_label: bool) -> dict[str, Any] | None:
    """The map for the page: data for its script, and the same picture as paths for readers without one."""
    if not found or not found["panels"] or "scores" in found:
        return None
    found = _judged_first(found)
    density = found.get("density")
    start = [] if density else list(range(min(len(found["labels"]), 6 if single_label else 3)))
    places = [_places(panel) for panel in found["panels"]]
    data: dict[str, Any] = {
        "members": found["members"],
        "ids": [short_name(name) for name in found.get("ids") or [f"row {i}" for i in range(found["shown"])]],
        "labels": [short_name(name) for name in found["labels"]],
        "start": start,
        "colours": [*LABEL_COLOURS, SEVERAL, OTHER],
        "ramp": list(RAMP),
        "panels": [{"x": x, "y": y} for x, y in places],
    }
    if density:
        data |= {"across": density["across"], "sets": density["sets"], "set": _packed(density["set"])}
        data["cells"] = [_packed(cells) for cells in density["panels"]]
    panels, forms = [], _forms(found["panels"])
    for i, panel in enumerate(found["panels"]):
        paths = _hexagons(density, i) if density else _dots(places[i], found["members"], start)
        of = f" at k = {MAP_SIZE}" if panel.get("judged") and " at k = " not in panel["title"] else ""
        panels.append({"title": panel["title"] + of, "score": panel.get("score"), "paths": paths,
                       "judged": bool(panel.get("judged")), "kept": panel.get("kept"),
                       "laid_out": bool(panel.get("laid_out")),
                       "places": _shown_at(panel, forms),
                       "arrows": _arrows(panel, found["labels"], start)})  # fmt: skip
    counts = found.get("counts") or _counts(found)
    labels = [
        {"name": short_name(name), "count": counts[j], "on": j in start} for j, name in enumerate(found["labels"])
    ]
    colours = [LABEL_COLOURS[j] for j in start]
    several = len({panel["laid_out"] for panel in panels}) > 1
    switch = [*enumerate(forms), ("plane", "the first two components")] if several else []
    return {
        "data": data,
        "switch": switch,
        "panels": panels,
        "labels": labels,
        "density": bool(density),
        "colours": colours,
    }


def _judged_first(found: dict[str, Any]) -> dict[str, Any]:
    """The map, with the panel that the verdict speaks of in front."""
    order = sorted(range(len(found["panels"])), key=lambda i: not found["panels"][i].get("judged"))
    density = found.get("density")
    density = density and {**density, "panels": [density["panels"][i] for i in order]}
    return {**found, "panels": [found["panels"][i] for i in order], "density": density}


def map_words(summary: dict[str, Any], found: dict[str, Any] | None, run: Run | None = None) -> str:
    """Which model the pictures of held-out rows show, and which one the map of the verdict is of, with its figure;
    empty where the verdict has no map. ``run``: the search, whose data the command that draws a map names."""
    goal, choice = summary["verdict"]["goals"].get("map"), summary.get("choice")
    if not found or goal is None:
        return ""
    judged = f"{goal['arm']} at k = {goal['k']} ({goal['measure']} {number(goal['value'])})"
    option = option_words("goal", "map", run is not None and run.in_python)
    if "scores" in found:
        drawn = "" if run is None else run.draws(goal["arm"])
        return (
            f"The verdict “Map” is of the two-dimensional map of {judged}, which is not drawn here"
            f"{': ' * bool(drawn)}{drawn}. These histograms show the best embedding for the goal of this search."
        )
    if any(panel.get("judged") for panel in found["panels"]):
        return (
            f"The first picture is the map that the verdict “Map” is of: {judged}. The others show the best embedding "
            "for the goal of this search, beside PCA or LSI, which do not see labels, and beside itself on shuffled "
            f"labels.{_lower_map(summary, found)}{_above_laid_out(summary, found, option)}"
        )
    if choice and (goal["arm"], goal["k"]) == (choice["method"], choice["k"]):
        shown = f"The verdict “Map” is of the map of the model that is shown here, {judged}."
        return f"{shown}{_above_laid_out(summary, found, option)}"
    return (
        f"The verdict “Map” is of another map than these pictures show, that of {judged}: they show the best embedding "
        f"for the goal of this search. A search with {option} looks for the best map and draws it."
    )


def _lower_map(summary: dict[str, Any], found: dict[str, Any]) -> str:
    """Why the map of the verdict is below a picture of the choice: it was ahead on the folds."""
    goal, ours = summary["verdict"]["goals"]["map"], (summary.get("choice") or {}).get("method")
    plain = [each for each in found["panels"] if not (each.get("judged") or each.get("laid_out"))]
    above = any(each["title"] == ours and (each.get("score") or 0.0) > goal["value"] for each in plain)
    of = {(e["arm"], e["k"]): e["scores"][goal["measure"]]["mean"] for e in summary.get("leaderboard", ()) if above}
    judged, other = of.get((goal["arm"], MAP_SIZE)), of.get((ours, MAP_SIZE))
    if judged is None or other is None or judged <= other:
        return ""
    return (
        f" The picture of {ours} has a higher figure on these rows, but it was not chosen: maps are chosen on the "
        f"training folds, where {goal['arm']} has {number(judged)} and {ours} at k = {MAP_SIZE} {number(other)}."
    )


def best_laid_out(summary: dict[str, Any], found: dict[str, Any]) -> dict[str, Any] | None:
    """``title`` and ``score`` of the best map that is laid out from all components and was not compared, where it is
    above the map that was judged, and ``without_labels`` that of PCA or LSI, where this is above it, too; ``found``:
    the section of maps of a record."""
    verdict = summary["verdict"]
    if verdict.get("asked") == "map" or "map" not in verdict["goals"]:
        return None
    laid_out = [each for each in found["panels"] if each.get("laid_out") and not each.get("judged")]
    laid_out = [each for each in laid_out if not each["title"].endswith(" on shuffled labels")]
    best = max(laid_out, key=lambda each: each.get("score") or 0.0, default=None)
    if best is None or (best.get("score") or 0.0) <= verdict["goals"]["map"]["value"]:
        return None
    plain = [each for each in laid_out if each["title"] in WITHOUT_LABELS and each is not best]
    above = [each for each in plain if (each.get("score") or 0.0) > verdict["goals"]["map"]["value"]]
    more = {"without_labels": {key: above[0].get(key) for key in ("title", "score", "kept")}} if above else {}
    return {"title": best["title"], "score": best["score"], **more}


def _above_laid_out(summary: dict[str, Any], found: dict[str, Any], option: str) -> str:
    """Why maps that are laid out have not been chosen although their figure is higher: they were not compared, as a
    search with this option does."""
    if best_laid_out(summary, found) is None:
        return ""
    return (
        " Maps that are laid out have higher figures here; they were not chosen, as this search compares maps of two "
        f"components alone: a search with {option} compares them, too."
    )


def _forms(panels: list[dict[str, Any]]) -> list[str]:
    """The forms of the maps that are laid out, in words."""
    laid_out = [panel for panel in panels if panel.get("laid_out")]
    return list(dict.fromkeys(form for panel in laid_out for form in panel.get("forms") or [ALL_LAID_OUT]))


def _shown_at(panel: dict[str, Any], forms: list[str]) -> str:
    """The places of the switch at which a panel is shown."""
    if panel.get("judged"):
        return " ".join([*map(str, range(len(forms))), "plane"])
    if not panel.get("laid_out"):
        return "plane"
    return " ".join(str(forms.index(form)) for form in panel.get("forms") or [ALL_LAID_OUT])


def _counts(found: dict[str, Any]) -> list[int]:
    counts = Counter(label for row in found["members"] for label in row)
    return [counts[j] for j in range(len(found["labels"]))]


def _window(panel: dict[str, Any]) -> list[float]:
    if panel.get("window"):
        return panel["window"]
    middles = [(max(panel[axis]) + min(panel[axis])) / 2 for axis in "xy"]
    half = max(max(panel[axis]) - min(panel[axis]) for axis in "xy") / 2
    return [*middles, half or 1.0]


def _places(panel: dict[str, Any]) -> tuple[list[int], list[int]]:
    """Whole units in the panel, y downwards."""
    if not panel["x"]:
        return [], []
    u, v = unit_square(panel["x"], panel["y"], _window(panel))
    return np.rint(SIDE * u).astype(int).tolist(), np.rint(SIDE * (1 - v)).astype(int).tolist()


def _packed(values: list[int]) -> str:
    """Whole numbers below 65,536 as base64, two bytes each."""
    return base64.b64encode(np.asarray(values, dtype="<u2").tobytes()).decode("ascii")


def _dots(places: tuple[list[int], list[int]], members: list[list[int]], start: list[int]) -> list[dict[str, Any]]:
    """One path per colour; a dot is a line of no length with a round end."""
    paths: dict[str, list[str]] = {colour: [] for colour in (OTHER, *LABEL_COLOURS, SEVERAL)}
    for x, y, labels in zip(*places, members, strict=True):
        hits = [j for j in labels if j in start]
        colour = OTHER if not hits else SEVERAL if len(hits) > 1 else LABEL_COLOURS[start.index(hits[0])]
        paths[colour].append(f"M{x} {y}h0")
    return [{"fill": "none", "stroke": colour, "d": "".join(parts)} for colour, parts in paths.items() if parts]


def _hexagons(density: dict[str, Any], panel: int) -> list[dict[str, Any]]:
    """One path per shade; hexagons are shaded by the square root of their rows."""
    across, counts = density["across"], Counter(density["panels"][panel])
    width, top = SIDE / across, max(counts.values())
    side = width / math.sqrt(3)
    half = f"{width / 2:.1f}"
    shape = f"l{half} {side / 2:.1f}v{side:.1f}l-{half} {side / 2:.1f}-{half}-{side / 2:.1f}v-{side:.1f}z"
    paths: dict[int, list[str]] = {}
    for cell, count in counts.items():
        row, column = divmod(cell, across + 1)
        x, y = (column + row % 2 / 2) * width, SIDE - row * width * math.sqrt(3) / 2
        shade = min(len(RAMP) - 1, int(len(RAMP) * math.sqrt(count / top)))
        paths.setdefault(shade, []).append(f"M{x:.1f} {y - side:.1f}{shape}")
    return [{"fill": RAMP[shade], "stroke": "none", "d": "".join(paths[shade])} for shade in sorted(paths)]


def _arrows(panel: dict[str, Any], labels: list[str], start: list[int]) -> list[dict[str, Any]]:
    """Directions of labels from the origin, scaled together so that all stay inside the panel."""
    given = [arrow for arrow in panel.get("directions") or () if arrow["label"] in labels]
    origin = unit_square([0.0], [0.0], _window(panel))
    x0, y0 = float(np.clip(origin[0][0], 0.25, 0.75)), float(np.clip(origin[1][0], 0.25, 0.75))
    room = [
        (1 - at if step > 0 else at) / abs(step)
        for arrow in given for at, step in ((x0, arrow["x"]), (y0, arrow["y"])) if step
    ]  # fmt: skip
    scale, arrows = 0.82 * min(room, default=1.0), []
    for arrow in given:
        x, y = x0 + scale * arrow["x"], y0 + scale * arrow["y"]
        j = labels.index(arrow["label"])
        ends = {"x1": x0, "y1": 1 - y0, "x2": x, "y2": 1 - y, "tx": x, "ty": 1 - y + (0.035 if y < y0 else -0.012)}
        places = {key: round(SIDE * value) for key, value in ends.items()}
        anchor = "end" if x > 0.6 else "start" if x < 0.4 else "middle"
        arrows.append({**places, "label": j, "text": arrow["label"][:28], "anchor": anchor, "on": j in start})
    return arrows
