"""The page of a map: training and held-out rows on a canvas, beside the map of shuffled labels or outputs; PNG and SVG
too."""

import base64
import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from proxembed.evaluate.evidence import HONEST_ABOVE
from proxembed.evaluate.measured import ranks_of
from proxembed.measures.measures import DEFAULT_NEIGHBORS, measures_of_kind
from proxembed.measures.metrics import is_yes_no
from proxembed.tables.notes import visible_texts

from .figures import COLOURS, INK, MARKERS, STYLE, svg_text
from .measured import REST, SHADES, UNKNOWN, figure_number, output_name, viridis
from .page import render_page
from .score_histogram import ScoredRows, class_names, draw_histograms, histogram_axes, histogram_svg
from .sections import stacked
from .views import LABEL_COLOURS, OTHER, middle_cut, short_name

UNITS = 65535  # places on the page are whole numbers up to it
SWITCHES = 200
LIT_AT_FIRST = 3
FIGURES = ("inside", "outside", "among", "on_ranks", "kept")
VALUES = 2_000_000  # of all outputs that the page holds; of more only the first outputs have a switch; of features too
LEVELS = 256  # of a feature on the page
DRAWN = 4  # outputs of a picture, one line of panels each
NO_HONEST = "no honest map"  # a cut for the budget
FEW_POINTS = 5000  # above it the points of an SVG are one picture


def map_record(
    maps: Sequence[tuple[Any, Any]], Y: Any, dataset: Any, split: Any, facts: Mapping[str, Any]
) -> dict[str, Any]:
    """What the page of a map shows, as plain data and arrays; ``Y``: labels of training and then held-out rows, of
    which outputs have none."""
    rows = np.concatenate([split.train, split.held_out])
    numbers = dataset.outputs is not None
    flat = maps[0][0].train.shape[1] == 1
    has = sp.csr_array(Y).toarray()[:, -1] > 0 if flat and not numbers and is_yes_no(Y) else None
    return {
        "features": [],
        "all_features": 0,
        "parts": 0,
        **facts,
        "name": dataset.name,
        "train": len(split.train),
        "held_out": len(split.held_out),
        "measure": measures_of_kind(numbers).near.format(DEFAULT_NEIGHBORS),
        "rows": rows.astype(np.uint32),
        "ids": None if dataset.ids is None else [str(dataset.ids[row]) for row in rows],
        "chance": maps[0][0].chance,
        "skewed": maps[0][0].on_ranks is not None,
        "flat": flat,
        "has": has,
        "pairs": [
            {
                "honest": own.honest,
                "form": "honest" if own.honest else own.form,
                "map": _drawn(own, rows, has),
                "null": _drawn(null, rows, has),
            }
            for own, null in maps
        ],
        **(_outputs_of(dataset.outputs, rows) if numbers else _labels_of(Y, dataset, rows)),
    }


def _labels_of(Y: Any, dataset: Any, rows: np.ndarray) -> dict[str, Any]:
    """The labels that have a switch, the label set of each row, and the rows in which each label is unknown."""
    Y = sp.csr_array(Y)
    unknown = sp.csc_array(Y.shape if dataset.unknown is None else dataset.unknown.tocsr()[rows])
    counts = np.asarray(Y.sum(axis=0, dtype=np.int64)).ravel()
    chosen = np.argsort(-counts, kind="stable")[:SWITCHES]
    chosen = chosen[counts[chosen] > 0]
    Y = sp.csr_array(Y[:, chosen])
    Y.sort_indices()
    sets: dict[tuple[int, ...], int] = {}
    members = (tuple(part.tolist()) for part in np.split(Y.indices, Y.indptr[1:-1]))
    of_row = np.array([sets.setdefault(labels, len(sets)) for labels in members], dtype=np.uint32)
    return {
        "outputs": None,
        "names": class_names(list(map(str, dataset.label_names))) if dataset.Y.shape[1] <= 2 else None,
        "single_label": dataset.single_label,
        "labels": [str(dataset.label_names[j]) for j in chosen],
        "all_labels": len(dataset.label_names),
        "counts": counts[chosen].tolist(),
        "sets": [list(labels) for labels in sets],
        "set": of_row,
        "unknown": [np.flatnonzero(unknown[:, [j]].toarray()).tolist() for j in chosen],
    }


def _outputs_of(outputs: Any, rows: np.ndarray) -> dict[str, Any]:
    """The outputs that have a switch: the values of the rows, and the number of the colour of each, 0 where unknown."""
    shown = max(1, min(SWITCHES, VALUES // max(len(rows), 1)))
    cells = (outputs.cells.toarray() if outputs.is_sparse else outputs.cells)[rows]
    values = np.where(outputs.dense_holes()[rows], np.nan, cells)
    columns = outputs.layout.columns
    found = [_output_of(column, values[:, j]) for j, column in enumerate(columns[:shown])]
    return {"outputs": found, "all_outputs": len(columns)}


def feature_levels(names: Sequence[str], X: Any) -> dict[str, Any]:
    """The features X (n, d) that the page can compare, each as the number of its level: its values in ascending order,
    or of more than 256 the means of 256 parts of its ranks (``parts`` counts these features). Of more than fit the page
    the first, of sparse ones those that most rows have."""
    n, d = X.shape
    shown = np.arange(min(d, max(1, VALUES // max(n, 1))))
    if sp.issparse(X):
        X = sp.csc_array(X)
        shown = np.sort(np.argsort(-np.diff(X.indptr), kind="stable")[: len(shown)])
    found, in_parts = [], 0
    for j in shown:
        column = X[:, [j]].toarray()[:, 0] if sp.issparse(X) else X[:, j]
        values, codes = np.unique(np.asarray(column, dtype=np.float64), return_inverse=True)
        if len(values) > LEVELS:
            in_parts += 1
            parts = (np.cumsum(np.bincount(codes)) - 1)[codes] * LEVELS // n
            codes = np.unique(parts, return_inverse=True)[1]
            values = np.bincount(codes, column) / np.bincount(codes)
        found.append({"name": str(names[j]), "codes": codes.astype(np.uint8), "levels": values.astype(np.float32)})
    return {"features": found, "all_features": d, "parts": in_parts}


def _output_of(column: Any, values: np.ndarray) -> dict[str, Any]:
    """One output: numbers by the rank of the value, classes by their frequency."""
    known = np.isfinite(values)
    colour = np.zeros(len(values), dtype=np.uint8)
    facts: dict[str, Any] = {"name": output_name({"name": str(column.name)}), "values": values.astype(np.float32)}
    facts |= {"unknown": int((~known).sum()), "names": None, "classes": None, "range": None}
    if column.kind == "classes" or (column.kind == "labels" and not column.soft):
        names = column.value_names
        counts = np.bincount(values[known].astype(np.intp), minlength=len(names))
        order = np.argsort(-counts, kind="stable")
        place = np.empty(len(names), dtype=np.intp)
        place[order] = np.arange(len(names))
        colour[known] = 1 + np.minimum(place[values[known].astype(np.intp)], len(LABEL_COLOURS))
        classes = [(names[j], int(counts[j])) for j in order if counts[j]]
        return {**facts, "colour": colour, "names": names, "classes": classes}
    ranks = ranks_of(values)[known].astype(np.float64)
    colour[known] = 1 + np.minimum((ranks * SHADES).astype(np.intp), SHADES - 1)
    ends = [float(values[known].min()), float(values[known].max())] if known.any() else None
    facts["names"] = None if column.values is None else column.value_names
    return {**facts, "colour": colour, "range": ends}


def _drawn(places: Any, rows: np.ndarray, has: np.ndarray | None = None) -> dict[str, Any]:
    """The places of training and then held-out rows as whole numbers in a square, y downwards, and the figures; an only
    component is spread by the places of the ``rows`` in their file, or piled up per class by ``has``."""
    Z = np.concatenate([places.train, places.new])
    scores = None if has is None else Z[:, 0]
    if has is not None:
        Z = stacked(Z[:, 0], has.astype(np.intp))
    elif Z.shape[1] == 1:
        Z = np.column_stack([Z, rows / max(int(rows.max()), 1) * (np.ptp(Z) or 1.0)])
    low, high = Z.min(axis=0), Z.max(axis=0)
    size = float((high - low).max()) or 1.0
    unit = 0.5 + (Z - (low + high) / 2) / size
    xy = np.rint(UNITS * np.column_stack([unit[:, 0], 1 - unit[:, 1]])).astype(np.uint16)
    return {"xy": np.ascontiguousarray(xy.T), "scores": scores, **{name: getattr(places, name) for name in FIGURES}}


def map_page_html(record: dict[str, Any]) -> str:
    """The page of a map as HTML text: one file, nothing fetched, all names escaped, control characters shown."""
    record = visible_texts(record)
    return render_page(
        "map",
        scripts=("differences",),
        r=record,
        data=_page_data(record),
        lead=lead_sentence(record),
        picture=base64.b64encode(map_image(record, "png")).decode("ascii"),
        chips=_chips(record),
        levels=LEVELS,
        histogram=None if record["has"] is None else histogram_svg(*_histograms(record)),
        ramp=f"linear-gradient(90deg, {', '.join(viridis(9))})",
        looks={"unknown": UNKNOWN, "rest": REST, "classes": LABEL_COLOURS},
        figure_number=figure_number,
        short=short_name,
    )


def _chips(record: dict[str, Any]) -> list[dict[str, Any]]:
    """The switches: one per label, with its rows, or one per output."""
    if record["outputs"] is not None:
        return [{"name": short_name(each["name"]), "count": None} for each in record["outputs"]]
    pairs = zip(record["labels"], record["counts"], strict=True)
    return [{"name": short_name(name), "count": count} for name, count in pairs]


def lead_sentence(record: dict[str, Any]) -> str:
    """Why the first map is the one to look at, and how many neighbours of the features it keeps."""
    found, kept = _lead(record), {pair["form"]: pair["map"]["kept"] for pair in record["pairs"]}
    (form, share), *_ = kept.items()
    if share != share:
        return found
    alone = f"; the features alone {kept['features alone']:.0%}" if "features alone" in kept else ""
    return f"{found} The {form} map keeps {share:.0%} of each held-out row's nearest training rows{alone}."


def _lead(record: dict[str, Any]) -> str:
    """Why the first map is the one to look at."""
    plain = next(pair["map"] for pair in record["pairs"] if pair["form"] == "plain")
    figures = f"({record['measure']} {plain['inside']:.3f} and {plain['outside']:.3f})."
    if NO_HONEST in record["cuts"] and plain["inside"] - plain["outside"] > HONEST_ABOVE:
        what, more = ("labels", "share more labels with") if record["outputs"] is None else ("outputs", "are more like")
        return (
            f"Training rows {more} their neighbours than held-out rows {figures[:-1]}, because their places depend "
            f"partly on their own {what}: trust the held-out rows. The budget had no room for an honest map."
        )
    if record["outputs"] is not None:
        if record["pairs"][0]["honest"]:
            return (
                "The honest map comes first: on the plain map training rows are more like their neighbours than "
                f"held-out rows are {figures[:-1]}, because their places depend partly on their own outputs."
            )
        figures = (
            f"({record['measure']} {plain['inside']:.3f}, n = {record['train']:,}, and {plain['outside']:.3f}, "
            f"n = {record['held_out']:,})."
        )
        how = {1: "only slightly more like", -1: "less like", 0: "as much like"}[_lead_of(plain)]
        than = "than" if _lead_of(plain) else "as"
        return f"Training rows are {how} their neighbours {than} held-out rows are {figures}"
    if record["pairs"][0]["honest"]:
        return (
            "The honest map comes first: on the plain map training rows share more labels with their neighbours than "
            f"held-out rows do {figures[:-1]}, because their places depend partly on their own labels."
        )
    words = {1: "only slightly more labels with their neighbours than", -1: "fewer labels with their neighbours than"}
    said = words.get(_lead_of(plain), "as many labels with their neighbours as")
    return f"Training rows share {said} held-out rows do {figures}"


def _lead_of(plain: Mapping[str, Any]) -> int:
    """Which rows are more like their neighbours, to the digits that are shown: 1 training rows, -1 held-out rows, 0 as
    much."""
    gap = round(plain["inside"] - plain["outside"], 3)
    return int(gap > 0) - int(gap < 0)


def _page_data(record: dict[str, Any]) -> dict[str, Any]:
    """What the script of the page reads: places, label sets and row numbers as base64 of little-endian integers."""
    shared = {
        "train": record["train"],
        "rows": _base64(record["rows"], "<u4"),
        "ids": None if record["ids"] is None else [short_name(name) for name in record["ids"]],
        "pairs": [[_base64(pair[each]["xy"], "<u2") for each in ("map", "null")] for pair in record["pairs"]],
        "features": [
            {
                "name": short_name(each["name"]),
                "codes": _base64(each["codes"], "u1"),
                "levels": _base64(each["levels"], "<f4"),
            }
            for each in record["features"]
        ],
    }
    if record["outputs"] is not None:
        outputs = [
            {
                "name": short_name(each["name"]),
                "classes": each["classes"] is not None,
                "names": None if each["names"] is None else [short_name(name) for name in each["names"]],
                "colour": _base64(each["colour"], "u1"),
                "values": _base64(each["values"], "<f4"),
            }
            for each in record["outputs"]
        ]
        return {**shared, "outputs": outputs, "shades": viridis()}
    wide = len(record["sets"]) > UNITS
    lit = len(LABEL_COLOURS) if record["single_label"] else LIT_AT_FIRST
    return {
        **shared,
        "outputs": None,
        "labels": [short_name(name) for name in record["labels"]],
        "sets": record["sets"],
        "unknown": record["unknown"],
        "set": _base64(record["set"], "<u4" if wide else "<u2"),
        "wide": wide,
        "start": list(range(min(len(record["labels"]), lit))),
    }


def _base64(values: np.ndarray, kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode("ascii")


def map_image(record: dict[str, Any], kind: str) -> bytes:
    """The first map beside that of shuffled labels, as a PNG or SVG file; of outputs a line of panels each."""
    record = visible_texts(record)
    if record["has"] is not None:
        return _histogram_image(record, kind)
    pair, outputs = record["pairs"][0], record["outputs"]
    control = "shuffled labels" if outputs is None else "shuffled outputs"
    panels = [(("honest map" if pair["honest"] else "map"), pair["map"]), (control, pair["null"])]
    lines: Any = [None] if outputs is None else outputs[:DRAWN]

    def draw(figure: Any) -> None:
        for output, line in zip(lines, figure.subplots(len(lines), 2, squeeze=False), strict=True):
            for axes, (title, drawn) in zip(line, panels, strict=True):
                handles = _scatter(axes, record, drawn) if output is None else _coloured(axes, record, drawn, output)
                told = f"chance {record['chance']:.3f}" if output is None else f"n = {record['held_out']:,}"
                words = f"{title}: held-out {record['measure']} {drawn['outside']:.3f}, {told}"
                axes.set_title(words, loc="left", fontsize=9.5, color=INK)
                ends = -0.03 * UNITS, 1.03 * UNITS
                axes.set(xticks=[], yticks=[], aspect="equal", xlim=ends, ylim=ends)
                axes.spines[["top", "right"]].set_visible(True)
            _legend(figure if output is None else line[0], handles, output)

    size = (10.0, 5.6 * len(lines))
    if kind == "svg":
        return svg_text(size, draw, "map").encode("utf-8", "replace")
    return _png(size, draw)


def _histogram_image(record: dict[str, Any], kind: str) -> bytes:
    """The histograms of the score of a yes/no label as a PNG or SVG file."""
    columns, names, axis = _histograms(record)
    if kind == "svg":
        return histogram_svg(columns, names, axis).encode("utf-8", "replace")
    return _png((10.0, 5.6), lambda figure: draw_histograms(figure, columns, names, axis))


def _histograms(record: dict[str, Any]) -> tuple[list[tuple[str, ScoredRows]], tuple[str, str], str]:
    """Columns, class names and the words of the axis of the histograms of a yes/no label."""
    pair, n = record["pairs"][0], record["train"]
    columns = []
    for title, drawn in (("score", pair["map"]), ("shuffled labels", pair["null"])):
        z, has = drawn["scores"], record["has"]
        words = f"{title}: {record['measure']} {drawn['outside']:.3f}, chance {record['chance']:.3f}"
        columns.append((words, ScoredRows(z[n:], has[n:], z[:n], has[:n])))
    return columns, record["names"], "component 1 (units of the scores)"


def _legend(owner: Any, handles: dict[str, Any], output: Any) -> None:
    """The names of the colours: of labels below the figure, of an output below its panels."""
    place: Any = {"loc": "outside lower center", "ncols": 4}
    if output is not None:
        place = {"loc": "upper left", "bbox_to_anchor": (0.0, 0.0), "ncols": 3, "title": middle_cut(output["name"])}
        place |= {"alignment": "left", "title_fontsize": 8.5, "borderaxespad": 0.2}
    legend = owner.legend(handles.values(), map(str, range(len(handles))), frameon=False, fontsize=8.5, **place)
    legend.get_title().set_parse_math(False)
    for text, words in zip(legend.get_texts(), handles, strict=True):
        text.set_text(words)
        text.set_parse_math(False)


def _coloured(axes: Any, record: dict[str, Any], drawn: dict[str, Any], output: dict[str, Any]) -> dict[str, Any]:
    """Draw the rows in the colours of an output; the handles of a legend by name."""
    n, (x, y) = len(output["colour"]), drawn["xy"].astype(float)
    held = np.arange(n) >= record["train"]
    numbers = output["classes"] is None
    colours = np.array([UNKNOWN, *viridis()] if numbers else [UNKNOWN, *LABEL_COLOURS, REST])
    size = float(np.clip(12000 / n, 0.6, 22))
    for part, edge, scale in ((~held, "none", 1.0), (held, INK, 1.6)):
        axes.scatter(x[part], UNITS - y[part], s=scale * size, color=colours[output["colour"][part]], edgecolors=edge,
                     linewidths=0.35, rasterized=n > FEW_POINTS)  # fmt: skip
    if numbers:
        low, high = output["range"] or (None, None)
        named = [(f"lowest {figure_number(low)}", 1), ("middle rank", 1 + SHADES // 2)]
        named += [(f"highest {figure_number(high)}", SHADES)]
    else:
        shown = output["classes"][: len(LABEL_COLOURS)]
        named = [(middle_cut(name), 1 + place) for place, (name, _) in enumerate(shown)]
        rest = len(output["classes"]) - len(LABEL_COLOURS)
        named += [(f"{rest} other classes", 1 + len(LABEL_COLOURS))] if rest > 0 else []
    named += [("unknown", 0)] if output["unknown"] else []
    return {name: axes.scatter([], [], s=22, color=colours[place]) for name, place in named}


def _png(size: tuple[float, float], draw: Any) -> bytes:
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    out = io.BytesIO()
    style: Any = STYLE
    with rc_context(style):
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        draw(figure)
        figure.savefig(out, format="png", dpi=130, metadata={"Software": None})
    return out.getvalue()


def _scatter(axes: Any, record: dict[str, Any], drawn: dict[str, Any]) -> dict[str, Any]:
    """Draw the rows; the handles of a legend by name."""
    n, shown = len(record["set"]), min(len(record["labels"]), len(COLOURS) - 1)
    lead = np.array([max((j for j in labels if j < shown), default=-1) for labels in record["sets"]])[record["set"]]
    held, (x, y) = np.arange(n) >= record["train"], drawn["xy"].astype(float)
    size, handles = float(np.clip(12000 / n, 0.6, 22)), {}
    for j in range(-1, shown):
        name, colour = (record["labels"][j], COLOURS[j]) if j >= 0 else ("other rows", OTHER)
        for part, edge, scale in ((~held, "none", 1.0), (held, INK, 1.6)):
            here = (lead == j) & part
            dots = axes.scatter(x[here], UNITS - y[here], s=scale * size, color=colour, edgecolors=edge,
                                linewidths=0.35, rasterized=n > FEW_POINTS)  # fmt: skip
            if here.any() and part is held:
                handles[f"{name} (outlined: held out)" if j == -1 else name] = dots
    return handles


OURS = 1  # the panel of the chosen embedding: PCA stands before it, shuffled labels after it
OTHERS, NONE = "other labels", "no label"
PALE_GREY = "#b5b5b5"


def map_axes(section: dict[str, Any], ax: Any = None) -> Any:
    """Draw the held-out rows in the first two components of the chosen embedding, coloured by label; an only component
    as a histogram per label."""
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.subplots(layout="constrained")[1]
    if "scores" in section:
        return histogram_axes(section, ax)
    panel, members = section["panels"][OURS], section["members"]
    Z = np.column_stack([panel["x"], panel["y"]])
    shown, rows = section["labels"][: len(COLOURS)], np.arange(len(members))
    lead = np.array([_rarest(labels, len(shown)) for labels in members], dtype=np.intp)
    looks: list[tuple[str, int, dict[str, Any]]] = [(NONE, -2, {"color": PALE_GREY, "marker": "."})]
    looks.append((OTHERS, -1, {"color": PALE_GREY, "marker": "x"}))
    looks += [(name, j, {"color": COLOURS[j], "marker": MARKERS[j]}) for j, name in enumerate(shown)]
    entries = []
    for name, code, look in looks:
        here = rows[lead == code]
        if len(here):
            entries.append((f"{name} (n = {len(here):,})", ax.scatter(*Z[here].T, s=16, linewidths=0.6, **look)))
    _words(ax, section, panel, entries[::-1])
    return ax


def _rarest(labels: list[int], shown: int) -> int:
    """The label that colours a row (labels are in descending order of frequency): -1 for others, -2 for none."""
    return max((j for j in labels if j < shown), default=-1 if labels else -2)


def _words(ax: Any, section: dict[str, Any], panel: dict[str, Any], entries: list[tuple[str, Any]]) -> None:
    """Title with the number of rows, units of the axes, and a legend of names as they are written."""
    n, m = section["shown"], section["held_out"]
    count = f"{n:,} held-out rows" if n == m else f"{n:,} of {m:,} held-out rows"
    title = ax.set_title(f"{panel['title']}: {count}", loc="left", fontsize=10, color=INK)
    several = any(len(labels) > 1 for labels in section["members"])
    legend = ax.legend(
        [handle for _, handle in entries],
        [str(j) for j in range(len(entries))],
        title="rarest label of each row" if several else None,
        fontsize=8.5,
        title_fontsize=8.5,
        frameon=False,
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
    )
    for text, (words, _) in zip(legend.get_texts(), entries, strict=True):
        text.set_text(words)  # not as the label of an artist, where an underscore in front would hide it
    for text in (title, *legend.get_texts()):
        text.set_parse_math(False)
    second = "rows of each label, stacked" if panel.get("histogram") else "component 2 (same units)"
    ax.set(xlabel="component 1 (units of the embedding)", ylabel=second, aspect="equal")
    if panel.get("histogram"):
        ax.set_yticks([])
