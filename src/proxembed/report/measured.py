"""The panels of measured outputs: Q2 and R2, predictions, permutations, scores, VIP, distance to the model."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from proxembed.params import safe_repr

from .plots import WIDE, Frame
from .views import LABEL_COLOURS, middle_cut, short_name
from .views import number as decimals

BLUE, ORANGE = LABEL_COLOURS[:2]
DARK, GREY = "#1a1a1a", "#8a96a1"
UNKNOWN = "#b5bcc3"  # of rows whose value is unknown
REST = "#7d8894"  # of classes without a colour of their own
SHADES = 32  # of viridis
WRITTEN = 6  # rows beyond both limits whose names stand in the figure
SMALL, LARGE, OUTLINE = 6.0, 9.0, 11.5  # widths of dots: training rows, held-out rows, and the line about them
DASH = "6 5"


def viridis(count: int = SHADES) -> list[str]:
    """Colours of viridis, evenly from its dark end to its light one."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return [to_hex(colour) for colour in colormaps["viridis"](np.linspace(0, 1, count))]


def output_name(output: dict[str, Any]) -> str:
    """The name of an output; "output 0" for the first column of a y without names."""
    name = short_name(output["name"])
    return f"output {name}" if name.isdecimal() else name


def rank_colour(rank: float | None, shades: Sequence[str]) -> str:
    """The colour of a rank from 0 to 1; grey where it is unknown."""
    return UNKNOWN if rank is None else shades[min(int(rank * len(shades)), len(shades) - 1)]


def measured_view(found: dict[str, Any] | None) -> dict[str, Any] | None:
    """The panels for the template, in their order; None where the record has none."""
    if not found:
        return None
    shades = viridis()
    colours = _colours(found, shades)
    panels = [_curve(found), _predictions(found), _permutations(found), _scores(found, colours)]
    if found["vip"] is not None:
        panels += [_importance(found), _distances(found)]
    elif found["outputs"][0]["importance"] is not None:
        panels.append(_losses(found))
    panels += [_plane(found, plane, colours) for plane in found.get("planes", ())]
    return {
        "panels": panels,
        "coefficients": None if found["vip"] is None else _coefficients(found),
        "absent": found["absent"],
        "honest": _honest_words(found),
        "sampled": len(found["rows"]["train"]) < found["train"] + found["held_out"],
        "outputs": [output_name(output) for output in (*found["outputs"], *found["classes"])],
        "numbers": len(found["outputs"]),
        "classes": [_class_view(column) for column in found["classes"]],
        "left_out": found["n_outputs"] - len(found["outputs"]),
        "other": [short_name(name) for name in found["other_columns"]],
        "ramp": f"linear-gradient(90deg, {', '.join(shades[::4] + shades[-1:])})",
        "errors": [
            {"name": output_name(each), **each["errors"], **{key: each[key] for key in ("agreement", "rank_agreement")}}
            for each in found["outputs"]
        ],
        "unknown_colour": UNKNOWN,
    }


def _colours(found: dict[str, Any], shades: Sequence[str]) -> list[list[str]]:
    """The colour of each row by each output: numbers by their rank, then columns of classes."""
    own = (*LABEL_COLOURS, REST)
    numbers = [[rank_colour(rank, shades) for rank in output["ranks"]] for output in found["outputs"]]
    classes = [
        [UNKNOWN if place is None else own[min(place, len(LABEL_COLOURS))] for place in column["places"]]
        for column in found["classes"]
    ]
    return numbers + classes


def _class_view(column: dict[str, Any]) -> dict[str, Any]:
    """A column of classes: the key of its colours, in words how well it is predicted, and its tables."""
    key = [*zip(LABEL_COLOURS, map(short_name, column["classes"]), strict=False)]
    rest = len(column["classes"]) - len(key)
    if rest > 0:
        key.append((REST, f"{rest} other class{'es' * (rest > 1)}"))
    span = column["interval"]
    told = "" if span is None else f" ({decimals(span[0])} to {decimals(span[1])}, 95 % interval)"
    words = (
        f"Balanced accuracy {decimals(column['balanced'])}{told}, accuracy {decimals(column['accuracy'])}; "
        f"n = {column['n']:,} held-out rows. The same class for every row has a balanced accuracy of "
        f"{decimals(column['chance'])}."
    )
    most = max((max(row) for row in column["confusion"] or ()), default=0)
    names = [middle_cut(name) for name in column["classes"]]
    cells = [
        (name, [(count, round(100 * count / max(most, 1))) for count in row])
        for name, row in zip(names, column["confusion"] or (), strict=False)
    ]
    table = [{**row, "class": short_name(row["class"])} for row in column["table"]]
    left_out = len(column["classes"]) - len(table)
    return {"name": output_name(column), "key": key, "words": words, "names": names, "cells": cells, "table": table,
            "left_out": left_out}  # fmt: skip


def figure_number(value: float | None, digits: int = 3) -> str:
    """A number with three significant digits, a minus sign, or a dash where there is none."""
    if value is None:
        return "–"
    shown = f"{value:,.0f}" if abs(value) >= 10**digits else f"{value:.{digits}g}"
    return shown.replace("-", "−") if "e" not in shown else shown


def _panel(title: str, note: str, plots: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """One panel: a figure for all outputs, or one per output; ``bars`` in place of figures for features."""
    return {"title": title, "note": note, "plots": plots, "bars": None, "key": [], "points": False, **more}


def _line(path: str, colour: str, dash: str = "") -> dict[str, Any]:
    return {"d": path, "kind": "line", "colour": colour, "dash": dash, "size": 2}


def _dots(path: str, colour: str, size: float, opacity: float = 1.0) -> dict[str, Any]:
    return {"d": path, "kind": "dots", "colour": colour, "size": size, "opacity": opacity}


def _curve(found: dict[str, Any]) -> dict[str, Any]:
    """Panel 1: Q2 on folds and R2 of the fit against the number of components."""
    title, points, k = "Q2 and R2 against k", found["curve"], found["k"]
    if not points:
        return _panel(title, "Other numbers of components were not tried.", [])
    sizes = [point[0] for point in points]
    values = [value for point in points for value in point[1:] if value is not None]
    low, high = Frame.around(sizes, [*values, 1.0]).y
    frame = Frame(Frame.around(sizes, [0]).x, (min(low, 0.0), min(high, 1.04)))
    marks = [_line(frame.upright(k), GREY, "2 4")]
    for place, colour, dash in ((2, ORANGE, DASH), (1, BLUE, "")):
        line = [point[place] for point in points]
        marks.append(_line(frame.line(sizes, line), colour, dash))
        marks.append(_dots(frame.dots(sizes, line), colour, 8))
    chosen = next((point for point in points if point[0] == k), [k, None, None])
    alt = f"Q2 and R2 against k; at the chosen k = {k}, Q2 {figure_number(chosen[1])} and R2 {figure_number(chosen[2])}"
    plot = frame.view(f"number of components k (n = {found['train']:,} training rows)", "Q2, R2 (no unit)", alt, marks)
    if all(size == int(size) for size in sizes):
        plot["ticks"]["x"] = [
            {"at": round(frame.at(size, 0)[0], 1), "text": str(size)} for size in _spaced(sorted(set(sizes)), frame)
        ]
    note = (
        f"Mean over the outputs. Dotted: the chosen k = {k}. R2 rises with k even where noise is learned; Q2 does not."
    )
    key = [(BLUE, "", "Q2 on left-out folds"), (ORANGE, DASH, "R2 of the fit")]
    return _panel(title, note, [plot], key=key)


def _spaced(sizes: list[int], frame: Frame) -> list[int]:
    """Sizes whose numbers do not touch each other under the axis: of two that are too close the larger."""
    kept: list[int] = []
    for size in reversed(sizes):
        if not kept or frame.at(kept[-1], 0)[0] - frame.at(size, 0)[0] >= 24:
            kept.append(size)
    return kept[::-1]


def _predictions(found: dict[str, Any]) -> dict[str, Any]:
    """Panel 2: predicted against measured values of held-out rows, with the 1:1 line, per output."""
    held_out = [place for place, train in enumerate(found["rows"]["train"]) if not train]
    plots = []
    for number, output in enumerate(found["outputs"]):
        x, y = ([output[name][place] for place in held_out] for name in ("measured", "predicted"))
        y = [None if a is None else b for a, b in zip(x, y, strict=True)]
        span = Frame.around([*x, *y], [0]).x
        frame = Frame(span, span)
        error, name = output["errors"], output_name(output)
        marks = [
            _line(frame.line(span, span), GREY, DASH),
            _dots(frame.dots(x, y), "#ffffff", 10),
            _dots(frame.dots(x, y), BLUE, 8, 0.75),
        ]
        facts = [f"{word} {figure_number(error[key])}" for word, key in
                 (("RMSEP", "rmsep"), ("bias", "bias"), ("RPD", "rpd"), ("Q2", "q2"))]  # fmt: skip
        alt = f"{name}: predicted against measured, n = {error['n']:,}, {', '.join(facts)}"
        units = f"{name} (its units)"
        plots.append(frame.view(f"measured {units}, n = {error['n']:,} held-out rows", f"predicted {units}", alt, marks,
                                corner=[*facts, f"n {error['n']:,}"], output=number))  # fmt: skip
    note = "Rows that the model has not seen. Dashed: predicted = measured. RMSEP and bias are in units of the output."
    more = {"told": True} if found["classes"] else {}
    note = note.replace("Dashed", "Of numbers, dashed") if found["classes"] else note
    return _panel("Predicted against measured", note, plots, **more)


def _permutations(found: dict[str, Any]) -> dict[str, Any]:
    """Panel 3: R2 and Q2 of models of shuffled outputs, beside those of the true ones at a correlation of 1."""
    title, points = "Permutations", found["permutations"]
    if not points:
        return _panel(title, "No shuffles were made.", [])
    known = [value for point in points for value in point[1:] if value is not None]
    own = next((point for point in found["curve"] if point[0] == found["k"]), [None, found["q2"], found["r2_fit"]])
    own = [1.0, own[2], own[1]]
    frame = Frame((-0.03, 1.05), Frame.around([0], [*known, *[v for v in own[1:] if v is not None], 0.0]).y)
    marks = [_line(frame.across(0.0), GREY, "2 4")]
    for place, colour in ((1, ORANGE), (2, BLUE)):
        x, y = [point[0] for point in points], [point[place] for point in points]
        marks.append(_dots(frame.dots(x, y), colour, 7))
        marks.append(_dots(frame.dots([1.0], [own[place]]), DARK, 15))
        marks.append(_dots(frame.dots([1.0], [own[place]]), colour, 11))
    means = [_mean(point[place] for point in points) for place in (1, 2)]
    ours, chance = (" and ".join(map(figure_number, each)) for each in (own[1:], means))
    alt = f"R2 and Q2 of {len(points)} shuffles, means {chance}; of the true outputs {ours}"
    x_title = f"|r| of shuffled and true outputs (n = {len(points)} shuffles)"
    plot = frame.view(x_title, "Q2, R2 (no unit)", alt, marks)
    note = (
        "Each pair of dots is a model of shuffled (permuted) rows of y. Large dots at |r| = 1: the true y. Chance "
        "alone gives values such as those of the shuffles."
    )
    return _panel(title, note, [plot], key=[(BLUE, "", "Q2"), (ORANGE, "", "R2 of the fit")], points=True)


def _mean(values: Any) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def ellipse(plane: dict[str, Any], points: int = 90) -> tuple[list[float], list[float]]:
    """The ellipse in two components inside which T2 of a new row stays below its limit: x and y."""
    (first, shared), (_, second) = plane["covariance"]
    angle, size = np.linspace(0, 2 * math.pi, points), math.sqrt(first * plane["limit"])
    slope = shared / first if first > 0 else 0.0
    rest = math.sqrt(max(second - slope * shared, 0.0) * plane["limit"])
    x = plane["mean"][0] + size * np.cos(angle)
    y = plane["mean"][1] + slope * size * np.cos(angle) + rest * np.sin(angle)
    return x.tolist(), y.tolist()


def _scores(found: dict[str, Any], colours: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Panel 4: the scores of all rows, coloured by an output, with the ellipse of new rows."""
    rows, plane, one = found["rows"], found["plane"], found["k"] == 1
    x = rows["scores"][0]
    y: list[Any] = list(range(1, len(x) + 1)) if one else rows["scores"][1]
    marks: list[dict[str, Any]] = []
    if plane is not None and one:
        reach = math.sqrt(plane["limit"] * plane["covariance"][0][0])
        ends = [plane["mean"][0] - reach, plane["mean"][0] + reach]
        frame = Frame.around([*x, *ends], y)
        marks = [_line(frame.upright(end), DARK, DASH) for end in ends]
        limit = "Dashed: 95 % limits of Hotelling's T2 for new rows."
    elif plane is not None:
        edge = ellipse(plane)
        frame = Frame.around([*x, *edge[0]], [*y, *edge[1]])
        marks = [_line(frame.line(*edge), DARK, DASH)]
        limit = "Dashed: 95 % ellipse of Hotelling's T2 for new rows, in the two components shown."
    else:
        frame, limit = Frame.around(x, y), "Too few training rows for the ellipse of Hotelling's T2."
    held_out = sum(not train for train in rows["train"])
    sizes = f"{len(x) - held_out:,} training and {held_out:,} held-out rows"
    alt = f"Scores of {sizes}, coloured by {_coloured_by(found)}"
    second = "row, in the order of the file, training rows first" if one else "component 2 (units of the scores)"
    x_title = f"component 1 (units of the scores), n = {len(x):,} rows"
    groups = [_coloured(frame, x, y, rows["train"], each) for each in colours]
    plot = frame.view(x_title, second, alt, marks, groups=groups)
    classes = "; of classes, the class" if found["classes"] else ""
    note = f"{sizes}. {limit} Colour: the rank of the value among all rows{classes}."
    ranges = [each["range"] for each in found["outputs"]]
    texts = [[figure_number(value) for value in each] if each else ["–", "–"] for each in ranges]
    return _panel("Scores", note, [plot], ranges=texts, whole=True)


def _coloured_by(found: dict[str, Any]) -> str:
    return "an output" if found["classes"] else "the rank of an output"


def _plane(found: dict[str, Any], plane: dict[str, Any], colours: Sequence[Sequence[str]]) -> dict[str, Any]:
    """A map of the held-out rows, an honest one of the training rows too, coloured by an output."""
    train = found["rows"]["train"]
    rows = [place for place, own in enumerate(train) if plane["honest"] or not own]
    x, one = plane["places"][0], len(plane["places"]) == 1
    y: list[Any] = list(range(1, len(x) + 1)) if one else plane["places"][1]
    frame, title = Frame.around(x, y), short_name(plane["title"])
    side = [train[place] for place in rows]
    groups = [_coloured(frame, x, y, side, [each[place] for place in rows]) for each in colours]
    held_out = f"{side.count(False):,} held-out rows"
    what = f"{sum(own and at is not None for own, at in zip(side, x, strict=True)):,} training and {held_out}"
    what = what if plane["honest"] else held_out
    agreement = decimals(plane["outside"])
    alt = f"Map of {what} by {title}, coloured by {_coloured_by(found)}; A@10 {agreement}"
    second = "row, in the order of the file" if one else "second coordinate (units of the map)"
    plot = frame.view(f"first coordinate (units of the map), n = {what}", second, alt, [], groups=groups)
    ranges = [[figure_number(value) for value in each["range"]] if each["range"] else ["–", "–"]
              for each in found["outputs"]]  # fmt: skip
    kind = "Honest map" if plane["honest"] else "Map"
    title = f"{kind}{', laid out' if plane['laid_out'] else ''}: {title}"
    return _panel(title, _plane_words(found, plane), [plot], ranges=ranges, whole=plane["honest"])


def _plane_words(found: dict[str, Any], plane: dict[str, Any]) -> str:
    """What a map shows, and how alike neighbours are on it."""
    figures = [(plane, "A@10")] + ([(plane["on_ranks"], "A@10 of ranks")] if plane["on_ranks"] else [])
    told = [
        f"{name} {decimals(each['outside'])} of held-out rows (n = {found['held_out']:,}), "
        f"{decimals(each['inside'])} of training rows (n = {found['train']:,})"
        for each, name in figures
    ]
    words = f"{'; '.join(told)}; each row by its ten nearest training rows on this map (0: chance, 1: perfect)."
    if plane["honest"]:
        return f"Training rows are placed by models of five folds that have not seen them. {words}"
    return f"Held-out rows. {words}"


def _honest_words(found: dict[str, Any]) -> str | None:
    """Why honest maps are shown, or that none was made; None if the plain map does not flatter its training rows."""
    planes = [plane for plane in found.get("planes", ()) if not plane["honest"]]
    needed = next((plane for plane in planes[-2:-1] if plane["flatters"]), None)
    if needed is None:
        return None
    words = (
        "On the plain map training rows are more like their neighbours than held-out rows are "
        f"(A@10 {decimals(needed['inside'])} and {decimals(needed['outside'])}), because their places depend "
        "partly on their own outputs. "
    )
    if any(plane["honest"] for plane in found["planes"]):
        return f"{words}So honest maps are shown, too, beside those of shuffled outputs."
    return f"{words}No honest map was made: trust the held-out rows alone."


def _coloured(
    frame: Frame, x: Sequence[float], y: Sequence[float], train: Sequence[bool], colours: Sequence[str]
) -> list[dict[str, Any]]:
    """Dots per colour: training rows small, held-out rows large with a dark line about them, unknown values below."""
    marks = []
    for own, size in ((True, SMALL), (False, LARGE)):
        here = [place for place, each in enumerate(train) if each == own]
        if not own:
            outline = frame.dots([x[place] for place in here], [y[place] for place in here])
            marks.append(_dots(outline, DARK, OUTLINE))
        for colour in (UNKNOWN, *sorted({*colours} - {UNKNOWN})):
            places = [place for place in here if colours[place] == colour]
            path = frame.dots([x[place] for place in places], [y[place] for place in places])
            marks.append(_dots(path, colour, size))
    return [mark for mark in marks if mark["d"]]


def _chart(chart: dict[str, Any], found: dict[str, Any], y_title: str, alt: str, level: float, wide: bool) -> Any:
    """A value per feature in the order of its number, as a line."""
    frame = Frame.around(chart["x"], [*chart["values"], level], **({"width": WIDE, "height": 330} if wide else {}))
    marks = [
        _line(frame.across(level), GREY, DASH),
        _line(frame.line(chart["x"], chart["values"]), BLUE),
    ]
    x_title = f"name of the feature, such as a wavelength (n = {found['features']:,} features)"
    return frame.view(x_title, y_title, alt, marks)


def _importance(found: dict[str, Any]) -> dict[str, Any]:
    """Panel 5: VIP, spectra in order of wavelength, else the largest as bars."""
    title, chart = "VIP", found["vip"]
    note = (
        "Variable importance in the projection (no unit); its mean square is 1, so features above 1 count for more "
        "than the average."
    )
    if chart["x"] is None:
        shown = f"The {len(chart['values'])} largest of {found['features']:,} features. "
        return _panel(title, shown + note, [], bars=[{"pairs": _pairs(chart), "output": None, "signed": False}])
    top = chart["x"][int(np.argmax(chart["values"]))]
    alt = f"VIP of {found['features']:,} features in order, largest at {top:g}"
    return _panel(title, f"{note} Dashed: 1.", [_chart(chart, found, "VIP (no unit)", alt, 1.0, False)])


def _losses(found: dict[str, Any]) -> dict[str, Any]:
    """In place of VIP: what predictions lose when features change places between held-out rows, per output."""
    title, charts = "Permutation importance", [output["importance"] for output in found["outputs"]]
    note = (
        "The loss of Q2 of held-out rows (no unit) when a feature{} changes places between them; near 0, the "
        "predictions do not need it, or others stand in for it."
    )
    if charts[0]["x"] is None:
        bars = [{"pairs": _pairs(chart), "output": number, "signed": False} for number, chart in enumerate(charts)]
        return _panel(title, f"The {len(charts[0]['values'])} largest. {note.format('')}", [], bars=bars)
    plots = []
    for number, (chart, output) in enumerate(zip(charts, found["outputs"], strict=True)):
        name = output_name(output)
        top = chart["x"][int(np.argmax(chart["values"]))]
        alt = f"Permutation importance of {len(chart['x'])} blocks of features for {name}, largest at {top:g}"
        plot = _chart(chart, found, f"loss of Q2 of {name}", alt, 0.0, False)
        plots.append({**plot, "output": number})
    return _panel(title, note.format(f" block ({len(charts[0]['x'])} of adjacent features)"), plots)


def _pairs(chart: dict[str, Any]) -> list[list[Any]]:
    return [[name, value] for name, value in zip(chart["names"], chart["values"], strict=True)]


def _distances(found: dict[str, Any]) -> dict[str, Any]:
    """Panel 6: distance to the model against T2, both limits, and the rows beyond both by name."""
    title, rows, limits = "Distance to the model", found["rows"], found["limits"]
    beyond = found["beyond"]
    x, y = rows["t2"], rows["distance"]
    far = beyond["rows"]
    frame = Frame.around([0.0, *x, limits["t2"], *(row["t2"] for row in far)],
                         [0.0, *y, limits["distance"], *(row["distance"] for row in far)])  # fmt: skip
    frame = Frame((0.0, frame.x[1]), (0.0, frame.y[1]))
    marks = [_line(line, DARK, DASH) for line in (frame.upright(limits["t2"]), frame.across(limits["distance"]))]
    for train, colour, size in ((True, GREY, SMALL), (False, BLUE, LARGE - 1)):
        own = [place for place, each in enumerate(rows["train"]) if each == train]
        path = frame.dots([x[place] for place in own], [y[place] for place in own])
        marks.append(_dots(path, colour, size, 0.75))
    path = frame.dots([row["t2"] for row in far], [row["distance"] for row in far])
    marks.append(_dots(path, ORANGE, LARGE))
    unit = "standard deviations per feature" if found["standardised"] else "units of the scaled features"
    alt = f"Distance to the model against T2; {beyond['count']:,} rows are beyond both limits"
    plot = frame.view(f"Hotelling's T2 (no unit), k = {found['k']}", f"distance ({unit})", alt, marks,
                      names=_names(frame, far))  # fmt: skip
    counts = f"n = {found['train']:,} training and {found['held_out']:,} held-out rows. "
    key = [(GREY, "", "training rows"), (BLUE, "", "held-out rows"), (ORANGE, "", "beyond both limits")]
    named = [short_name(row["id"]) for row in far]
    return _panel(title, counts + _limit_words(found), [plot], key=key, points=True, named=named, count=beyond["count"])


def _limit_words(found: dict[str, Any]) -> str:
    """What the limits are, and how many rows are beyond both."""
    if found["limits"]["distance"] is None or found["limits"]["t2"] is None:
        return "Without folds, or with too few rows, there are no limits, and no row is named."
    words = "Dashed: 95 % limits, of T2 for new rows, of the distance from training rows that folds have left out. "
    return words + ("Beyond both: " if found["beyond"]["count"] else "No row is beyond both.")


def _names(frame: Frame, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Names beside the dots of rows; a name that would cover a dot or another name is left out."""
    found: list[dict[str, Any]] = []
    places = [frame.at(row["t2"], row["distance"]) for row in rows]
    taken = [(u - 5, v - 5, u + 5, v + 5) for u, v in places]
    for row, (u, v) in zip(rows[:WRITTEN], places[:WRITTEN], strict=True):
        text = short_name(row["id"])[:24]
        wide = 7 * len(text)
        for x, y, anchor in (
            (u + 9, v + 4, "start"),
            (u - 9, v + 4, "end"),
            (u, v - 9, "middle"),
            (u, v + 18, "middle"),
        ):
            left = x - {"start": 0, "end": wide, "middle": wide / 2}[anchor]
            box = (left, y - 10, left + wide, y + 2)
            inside = frame.box["left"] < left and box[2] < frame.width and 0 < box[1] and y < frame.box["bottom"]
            if inside and not any(box[0] < b[2] and b[0] < box[2] and box[1] < b[3] and b[1] < box[3] for b in taken):
                taken.append(box)
                found.append({"x": round(x, 1), "y": round(y, 1), "anchor": anchor, "text": text})
                break
    return found


def _coefficients(found: dict[str, Any]) -> dict[str, Any]:
    """The coefficients of the features per output: spectra in order of wavelength, else the largest as bars."""
    charts = [output["coefficients"] for output in found["outputs"]]
    step = "one standard deviation" if found["standardised"] else "one unit"
    note = f"The change of the prediction, in units of the output, for {step} of a feature."
    if charts[0]["x"] is None:
        bars = [{"pairs": _pairs(chart), "output": number, "signed": True} for number, chart in enumerate(charts)]
        shown = f"The {len(charts[0]['values'])} largest of {found['features']:,} features. "
        return _panel("Coefficients", f"{shown}{note} Solid: plus, hollow: minus.", [], bars=bars)
    plots = []
    for number, (chart, output) in enumerate(zip(charts, found["outputs"], strict=True)):
        name = output_name(output)
        alt = f"Coefficients of {found['features']:,} features for {name}"
        wide, narrow = (_chart(chart, found, f"{name} (its units)", alt, 0.0, each) for each in (True, False))
        plots += [{**wide, "output": number, "only": "wide"}, {**narrow, "output": number, "only": "narrow"}]
    return _panel("Coefficients", note, plots)


def measured_axes(section: dict[str, Any], ax: Any = None, output: Any = None) -> Any:
    """Draw the held-out rows in the first two components, coloured by an output (its name or number; None: the first):
    by viridis of the rank, or by class."""
    number = _output_number(section, output)
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.subplots(layout="constrained")[1]
    rows, colours = section["rows"], _colours(section, viridis())[number]
    held = [place for place, train in enumerate(rows["train"]) if not train]
    x = [rows["scores"][0][place] for place in held]
    y = list(range(1, len(held) + 1)) if section["k"] == 1 else [rows["scores"][1][place] for place in held]
    ax.scatter(x, y, s=18, c=[colours[place] for place in held], linewidths=0)
    if section["plane"] is not None and section["k"] > 1:
        ax.plot(*ellipse(section["plane"]), color=DARK, linewidth=1, linestyle="--")
    second = "row" if section["k"] == 1 else "component 2 (units of the scores)"
    ax.set(xlabel="component 1 (units of the scores)", ylabel=second)
    shown = [*section["outputs"], *section["classes"]][number]
    by = f"the rank of {output_name(shown)} (dark: low)"
    if number >= len(section["outputs"]):
        by = f"the class of {output_name(shown)}"
        for colour, name in _class_view(shown)["key"]:
            ax.scatter([], [], s=18, color=colour, label=f" {name}")  # a name may begin with an underscore
        for text in ax.legend(frameon=False, fontsize=8.5).get_texts():
            text.set_parse_math(False)
    ax.set_title(f"{len(held):,} held-out rows, coloured by {by}", loc="left", fontsize=10, color=DARK).set_parse_math(
        False
    )
    return ax


def _output_number(section: dict[str, Any], output: Any) -> int:
    """The place of an output among those that are shown, by its name or number."""
    names = [each["name"] for each in (*section["outputs"], *section["classes"])]
    if output is None:
        return 0
    if isinstance(output, str) and output in names:
        return names.index(output)
    if isinstance(output, int | np.integer) and not isinstance(output, bool) and 0 <= output < len(names):
        return int(output)
    raise ValueError(f"output={safe_repr(output)} is not shown; those are {', '.join(map(short_name, names[:20]))}.")
