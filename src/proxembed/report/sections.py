"""Sections of the record as plain data: the held-out map, the table of labels, the components, the data card."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from proxembed.proximity.reordering import even_sample
from proxembed.targets.labels import MANY_LABELS
from proxembed.targets.outputs import output_words

from .next_steps import Run, copies_remedy

MAP_LABELS = 200  # labels that get a switch, the most frequent first
SHOWN_OUTPUTS = 20
SHOWN_LABELS = 50  # of thousands of labels, the most frequent
MAP_ARROWS = 40  # directions kept per panel, the longest first
DENSITY_ROWS = 60_000  # rows that the density counts; above it an even sample
HEXAGONS = 44  # hexagons across a panel
EDGE = 0.0125  # where rows outside the window are put, so that their marks are whole
LANES, BINS = 6, 60  # of the histogram of a single component: labels with a lane of their own, bins across
SPREAD = 99.5  # percentage of rows inside the window of a panel, on each axis

Panel = tuple[str, Any, float | None, Any]


def _rounded(values: Any) -> list[Any]:
    """Numbers with five digits."""
    return [float(f"{value:.5g}") for value in np.asarray(values, dtype=np.float64)]


def _plane(title: str, Z: Any, lanes: np.ndarray) -> np.ndarray:
    """The first two columns of Z; a single component is stacked to a histogram per lane."""
    m = len(lanes)
    Z = np.asarray(Z, dtype=np.float64)
    if Z.ndim != 2 or len(Z) != m or Z.shape[1] == 0:
        raise ValueError(
            f"panels: {title!r} has shape {Z.shape}; give an array of ({m}, 2 or more), one row per row of the labels."
        )
    if not np.isfinite(Z[:, :2]).all():
        raise ValueError(f"panels: {title!r} holds NaN or infinity; leave the panel out.")
    return Z[:, :2] if Z.shape[1] > 1 else stacked(Z[:, 0], lanes)


def lanes_of(members: Sequence[Sequence[int]]) -> np.ndarray:
    """The lane of each row in a histogram: its rarest label among the six most frequent ones, else one more lane."""
    lead = [max((j for j in labels if j < LANES), default=LANES) for labels in members]
    return np.unique(lead, return_inverse=True)[1]


def stacked(z: np.ndarray, lanes: np.ndarray) -> np.ndarray:
    """One component as a histogram of dots per lane, one lane above the other: (m, 2)."""
    low, high = np.percentile(z, [(100 - SPREAD) / 2, (100 + SPREAD) / 2])
    width = float(high - low) or 1.0
    bins = np.clip((z - low) / width * BINS, 0, BINS - 1).astype(np.intp)
    cell = lanes * BINS + bins
    order = np.argsort(cell, kind="stable")
    _, first, counts = np.unique(cell[order], return_index=True, return_counts=True)
    rank = np.empty(len(z))
    rank[order] = np.arange(len(z)) - np.repeat(first, counts)
    return np.column_stack([z, width / (lanes.max() + 1) * (lanes + rank / counts.max())])


def _window(Z: np.ndarray) -> list[float]:
    """Centre and half width of the square that is shown: nearly all rows, both axes on one scale."""
    low, high = np.percentile(Z, [(100 - SPREAD) / 2, (100 + SPREAD) / 2], axis=0)
    middle, half = (low + high) / 2, float((high - low).max()) / 2 * 1.08
    return _rounded([*middle, half if half > 0 else 1.0])


def unit_square(x: Any, y: Any, window: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates from 0 to 1 inside the window of a panel, y upwards; rows outside are put on its edge."""
    x_middle, y_middle, half = window
    u = (np.asarray(x, dtype=np.float64) - x_middle) / (2 * half) + 0.5
    v = (np.asarray(y, dtype=np.float64) - y_middle) / (2 * half) + 0.5
    return np.clip(u, EDGE, 1 - EDGE), np.clip(v, EDGE, 1 - EDGE)


def hexagon_of(u: np.ndarray, v: np.ndarray, across: int = HEXAGONS) -> np.ndarray:
    """Number of the hexagon that holds each point of the unit square: row * (across + 1) + column."""
    height = math.sqrt(3) / 2
    x, y = u * across, v * across / height
    even_column, even_row = np.rint(x), 2 * np.rint(y / 2)
    odd_column, odd_row = np.clip(np.floor(x), 0, across - 1), 2 * np.floor(y / 2) + 1
    to_even = (x - even_column) ** 2 + ((y - even_row) * height) ** 2
    to_odd = (x - odd_column - 0.5) ** 2 + ((y - odd_row) * height) ** 2
    odd = to_odd < to_even
    return (np.where(odd, odd_row, even_row) * (across + 1) + np.where(odd, odd_column, even_column)).astype(np.intp)


def _members(Y: sp.csr_array) -> list[list[int]]:
    Y.sort_indices()
    return [Y.indices[a:b].tolist() for a, b in zip(Y.indptr[:-1], Y.indptr[1:], strict=True)]


def _directions(directions: Any, names: dict[str, None]) -> list[dict[str, Any]]:
    """The longest arrows of labels that have a switch."""
    arrows = []
    for arrow in directions or ():
        x, y = float(arrow["x"]), float(arrow["y"])
        if arrow["label"] in names and math.isfinite(x) and math.isfinite(y) and (x or y):
            arrows.append({"label": str(arrow["label"]), "x": _rounded([x])[0], "y": _rounded([y])[0]})
    return sorted(arrows, key=lambda arrow: -math.hypot(arrow["x"], arrow["y"]))[:MAP_ARROWS]


def _density(planes: list[np.ndarray], windows: list[list[float]], Y: sp.csr_array) -> dict[str, Any]:
    rows = even_sample(Y.shape[0], DENSITY_ROWS)
    sets: dict[tuple[int, ...], int] = {}
    of_row = [sets.setdefault(tuple(labels), len(sets)) for labels in _members(Y[rows])]
    cells = [hexagon_of(*unit_square(Z[rows, 0], Z[rows, 1], w)) for Z, w in zip(planes, windows, strict=True)]
    return {
        "rows": len(rows),
        "across": HEXAGONS,
        "panels": [cell.tolist() for cell in cells],
        "sets": [list(labels) for labels in sets],
        "set": of_row,
    }


def map_section(
    panels: Sequence[Panel],
    Y: Any,
    label_names: Sequence[str],
    ids: Sequence[str] | None = None,
    limit: int = 5000,
    *,
    laid_out: Sequence[Any] = (),
) -> dict[str, Any]:
    """The held-out map: the same held-out rows in several planes, with the labels of each row; ``laid_out``: further
    ones as ``Laid``, of which the page shows those of one form at a time."""
    Y = sp.csr_array(Y)
    m, c = Y.shape
    if len(label_names) != c or (ids is not None and len(ids) != m):
        given = f"{len(label_names)} label_names and {'no' if ids is None else len(ids)} ids"
        raise ValueError(f"Y has shape {Y.shape}, but there are {given}; give one name per column and one id per row.")
    if limit < 1:
        raise ValueError(f"limit={limit} is not allowed; it must be at least 1.")
    counts = np.asarray(Y.sum(axis=0, dtype=np.int64)).ravel()
    chosen = np.argsort(-counts, kind="stable")[: SHOWN_LABELS if c > MANY_LABELS else MAP_LABELS]
    chosen, Y = chosen[counts[chosen] > 0], sp.csr_array(Y[:, chosen[counts[chosen] > 0]] != 0)
    names = [str(label_names[j]) for j in chosen]
    lanes = lanes_of(_members(Y))
    more: list[dict[str, Any]] = [{"laid_out": False, "kept": None, "forms": []}] * len(panels)
    more += [{"laid_out": True, "kept": _finite(kept), "forms": list(forms)} for *_, kept, forms in laid_out]
    panels = [*panels, *((title, Z, score, None) for title, Z, score, *_ in laid_out)]
    planes = [_plane(title, Z, lanes) for title, Z, _, _ in panels]
    windows, rows = [_window(Z) for Z in planes], even_sample(m, limit)
    shown = [
        {
            "title": str(title),
            "x": _rounded(Z[rows, 0]),
            "y": _rounded(Z[rows, 1]),
            "window": window,
            "score": None if score is None else float(score),
            "histogram": np.shape(given)[1] == 1,
            **facts,
            "directions": [] if np.shape(given)[1] == 1 else _directions(directions, dict.fromkeys(names)),
        }
        for (title, given, score, directions), Z, window, facts in zip(panels, planes, windows, more, strict=True)
    ]
    return {
        "panels": shown,
        "labels": names,
        "counts": counts[chosen].tolist(),
        "members": _members(Y[rows]),
        "ids": [f"row {row}" for row in rows] if ids is None else [str(ids[row]) for row in rows],
        "shown": len(rows),
        "held_out": m,
        "density": _density(planes, windows, Y) if m > limit else None,
    }


def _finite(value: Any) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)


def _cell(values: Any, j: int) -> float | None:
    """A finite number or None."""
    return None if values is None else _finite(values[j])


def label_section(
    label_names: Sequence[str], counts: Sequence[int], ap_raw: Any, ap_embedded: Any, thresholds: Any = None,
    calibration: Any = None, chance: Any = None, decisions: Any = None,
) -> list[dict[str, Any]]:  # fmt: skip
    """The table of labels, most frequent first; ``chance``: the share of held-out rows with each label; ``decisions``:
    (2, 2, c), the held-out rows without or with it for which it is not predicted or predicted."""
    parts = {"counts": counts, "ap_raw": ap_raw, "ap_embedded": ap_embedded, "thresholds": thresholds}
    parts |= {"calibration": calibration, "chance": chance}
    for name, part in {**parts, "decisions": decisions if decisions is None else decisions[0, 0]}.items():
        if part is not None and len(part) != len(label_names):
            raise ValueError(f"{name} has {len(part)} values for {len(label_names)} labels; give one per label.")
    rows = []
    for j in sorted(range(len(label_names)), key=lambda j: -int(counts[j])):
        rows.append(
            {
                "label": str(label_names[j]),
                "n": int(counts[j]),
                "ap_raw": _cell(ap_raw, j),
                "ap_embedded": _cell(ap_embedded, j),
                "threshold": _cell(thresholds, j),
                "calibration": _cell(calibration, j),
                "chance": _cell(chance, j),
                "decisions": None if decisions is None else decisions[..., j].tolist(),
            }
        )
    return rows


def reliability_section(probability: Any, share: Any, cells: Any, labels: int, rows: int) -> dict[str, Any] | None:
    """The reliability curve: bins of cells by their probability; None without a bin."""
    gaps, cells = np.abs(np.asarray(probability) - np.asarray(share)), np.asarray(cells)
    if not len(cells):
        return None
    bins = {"probability": _rounded(probability), "share": _rounded(share), "cells": _rounded(cells)}
    return {**bins, "labels": labels, "rows": rows, "error": float(cells @ gaps / cells.sum())}


def component_section(
    estimator: Any, stability: Sequence[float] | None = None, n_features: int = 8
) -> list[dict[str, Any]] | None:
    """What each component is made of and which labels it serves."""
    if not hasattr(estimator, "explain"):
        return None
    embedding = getattr(estimator, "named_steps", {}).get("embedding", estimator)
    values, found = getattr(embedding, "eigenvalues_", None), []
    for j in range(embedding.n_components_):
        explanation = estimator.explain(j, n_features)
        found.append(
            {
                "component": j + 1,
                "eigenvalue": _cell(values, j),
                "features": [list(pair) for pair in explanation.features],
                "labels": [list(pair) for pair in explanation.labels],
                "effects": explanation.effects,
                "stability": _cell(stability, j) if stability is not None and j < len(stability) else None,
            }
        )
    return found


def data_card(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Facts of a data set as pairs of words, for the page and the terminal."""
    kind = "sparse" if facts["sparse"] else "dense"
    outputs: list[dict[str, Any]] | None = facts.get("outputs")
    more = len(outputs or ()) - SHOWN_OUTPUTS
    rows = [
        ("name", facts["name"]),
        ("rows x features", f"{facts['n']:,} x {facts['d']:,} ({kind})"),
        *(_label_facts(facts) if outputs is None else [_output_fact(each) for each in outputs[:SHOWN_OUTPUTS]]),
        *([("other outputs", f"{more:,}")] if more > 0 else []),
        ("all-zero feature rows", f"{facts['zero_rows']:,}"),
        ("duplicate rows (may leak between folds)", f"{facts['duplicate_rows']:,}"),
        ("constant features", f"{facts['constant_features']:,}"),
        ("share of nonzero features", f"{facts['nonzero_share']:.3f}"),
    ]
    if facts.get("groups") is not None:
        rows.append(("groups", f"{facts['groups']:,}"))
    if (weights := facts.get("weights")) is not None:
        of = weights["column"] or "sample_weight"
        rows.append((f"rows weighted by {of}", f"sum {weights['sum']:,.6g}, effective n {weights['effective']:,.6g}"))
    if facts.get("time_order"):
        rows.append(("time of each row", "known"))
    if facts["train"] is not None and facts["test"] is not None:
        rows.append(("training rows / test rows", f"{facts['train']:,} / {facts['test']:,}"))
    if facts["licence"]:
        rows.append(("licence", facts["licence"]))
    return rows


def _label_facts(facts: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        ("labels", f"{facts['labels']:,}" + (" classes, one per row" if facts["single_label"] else "")),
        ("labels per row (cardinality)", f"{facts['cardinality']:.3f}"),
        ("label density", f"{facts['density']:.3f}"),
        ("distinct label sets", f"{facts['label_sets']:,}"),
        (
            "rows without a label" if facts.get("negative") is None else f"rows with {facts['negative']}",
            f"{facts['rows_without_label']:,}",
        ),
        ("cells with unknown label", f"{facts['unknown_cells']:,}"),
        ("labels without a row", f"{facts['labels_without_row']:,}"),
    ]


def _output_fact(output: dict[str, Any]) -> tuple[str, str]:
    """An output as `proxembed data` shows it."""
    return f"output {output['name']}", output_words(output)


def _kind_of_folds(protocol: dict[str, Any]) -> str | None:
    """What folds keep apart."""
    splitting = protocol.get("splitting")
    return splitting.get("kind") if isinstance(splitting, dict) else "stratified"


def verdict_warnings(
    facts: dict[str, Any], protocol: dict[str, Any], without: str = "", run: Run | None = None
) -> list[str]:
    """What in the data may flatter every value of the verdict, a few sentences each with its remedy. ``without``: what
    the verdict is without copies; ``run``: the command, whose data the remedy suits."""
    kind, found = _kind_of_folds(protocol), []
    if facts.get("duplicate_rows"):
        count = facts["duplicate_rows"]
        copies, known = "a copy in training of a held-out row flatters every score", facts.get("copied_test_rows")
        apart = known == 0 and kind == "groups"
        remedy = "Groups keep them together." if apart else f"{without} {copies_remedy(run)}".strip()
        of_test = "" if known is None else f"; {known:,} of {facts['test']:,} test rows have a copy in training"
        found.append(f"{_rows(count)} the features of an earlier row{of_test}: {copies}. {remedy}")
    if facts.get("groups") is not None and kind not in ("groups", "time"):
        found.append(
            "Rows have groups, but the folds did not keep them together: rows of one group may be on both sides."
        )
    if facts.get("time_order") and kind != "time":
        found.append(
            "Rows have a time, but the folds did not follow it: later rows may have helped to score earlier ones."
        )
    return found


def leak_warnings(facts: dict[str, Any], protocol: dict[str, Any], run: Run | None = None) -> list[str]:
    """What in the data may flatter or spoil the scores, one sentence each with its remedy; ``run``: as of
    ``verdict_warnings``."""
    found = verdict_warnings(facts, protocol, run=run) + _kept_apart(facts, _kind_of_folds(protocol))
    if facts["zero_rows"]:
        found.append(f"{_rows(facts['zero_rows'])} no feature but zeros; no method can tell such rows apart.")
    if facts["labels_without_row"]:
        found.append(f"{facts['labels_without_row']:,} of {facts['labels']:,} labels have no row, and count nowhere.")
    if facts["unknown_cells"]:
        partly = facts["rows_partly_known"]
        found.append(
            f"{_rows(partly)} known and unknown labels: only known cells are learned from and scored."
            if partly
            else "Rows without a known label are used for training where a method can, and never scored."
        )
    return found


def _kept_apart(facts: dict[str, Any], kind: str | None) -> list[str]:
    """What keeps groups together and follows time, and what does not; nothing where there are no such rows."""
    kept = []
    if facts.get("groups") is not None and kind in ("groups", "time"):
        kept.append("folds, test rows, cuts and read-outs keep groups together")
    if facts.get("time_order") and kind == "time":
        kept.append("folds and test rows follow time")
    if not kept:
        return []
    rest = "a ridge that a method chooses itself, and the cross-fitting of label scores, leave out single rows"
    text = f"{', and '.join(kept)}; {rest}."
    return [text[0].upper() + text[1:]]


def _rows(count: int) -> str:
    return f"{count:,} row has" if count == 1 else f"{count:,} rows have"
