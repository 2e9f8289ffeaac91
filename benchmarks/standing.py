"""Where one method stands among the stored ones: its rank per set, by what it keeps of labels and of neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks import NAME, OUTPUTS, PROTOCOLS, TRACKS, VERSION
from benchmarks.cell import KEPT, K
from benchmarks.load import frame_of, load

LABELS = {"average_precision": "average precision", "jaccard": f"Jaccard@{K}", "micro_f1": "micro F1"}
NUMBERS = {"q2": "Q2", "agreement": f"A@{K}"}
STRUCTURE = {KEPT: "neighbours kept"}
NO_VALUE, DIGITS = "-", 6


def standing(rows: Sequence[dict[str, Any]], home: Path) -> str:
    """The tables of one method: a line per set, each value with its rank among the stored methods on the same folds.

    Parameters
    ----------
    rows : sequence of dict
        Its stored rows.
    home : Path
        Folder of the benchmark.
    """
    (method,) = {row["method"] for row in rows}
    own, stored = frame_of(rows), load(home)
    stored = stored[stored["method"] != method]
    text = [f"{NAME} {VERSION}: {method}, each value with its rank among the stored methods on the same folds"]
    for track in TRACKS:
        for protocol in PROTOCOLS:
            part, others = (each[(each["track"] == track) & (each["protocol"] == protocol)] for each in (own, stored))
            if len(part):
                text += ["", *_table(part, others, track, protocol)]
    return "\n".join(text)


def _table(own: pd.DataFrame, stored: pd.DataFrame, track: str, protocol: str) -> list[str]:
    """The lines of one track and kind of folds."""
    axis, of_axis = (OUTPUTS, NUMBERS) if track == OUTPUTS else ("labels", LABELS)
    measures = of_axis | STRUCTURE
    ranks: dict[str, list[int]] = {name: [] for name in measures}
    heads = ["", "", axis, *[""] * (len(of_axis) - 1), "structure", ""]  # the axis, above its first measure
    lines = [heads, ["set", "folds", *measures.values(), "CPU s"]]
    for name, part in own.groupby("set", sort=False):
        others = stored[(stored["set"] == name) & stored["fold"].isin(part["fold"])]
        cells = []
        for measure, found in ranks.items():
            rank, count = rank_of(part, others, measure)
            value = part[measure].mean(skipna=False)
            cells.append(NO_VALUE if pd.isna(value) else f"{value:.3f} {rank:>4} of {count:<2}")
            found += [] if pd.isna(value) else [rank]
        lines.append([str(name), str(len(part)), *cells, f"{part['seconds'].mean():.2f}"])
    means = [f"{sum(found) / len(found):.1f}" if found else NO_VALUE for found in ranks.values()]
    lines.append(["mean rank", "", *means, ""])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [f"track {track}, {protocol} folds", *("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)]


def rank_of(own: pd.DataFrame, stored: pd.DataFrame, measure: str) -> tuple[int, int]:
    """The rank of the mean over the folds of one method (1 is best), and the number of methods with it.

    Parameters
    ----------
    own, stored : DataFrame
        Rows of one set, track and kind of folds; stored methods that lack a fold or its value are left out.
    measure : str

    Examples
    --------
    >>> import pandas as pd
    >>> from benchmarks.standing import rank_of
    >>> own = pd.DataFrame({"fold": [1, 2], "jaccard": [0.5, 0.7]})
    >>> stored = {"method": ["a", "a", "b"], "fold": [1, 2, 1], "jaccard": [0.7, 0.8, 0.9]}
    >>> rank_of(own, pd.DataFrame(stored), "jaccard")
    (2, 2)
    """
    table = stored.pivot_table(index="method", columns="fold", values=measure, aggfunc="first").reindex(
        columns=own["fold"]
    )
    means = table.dropna().mean(axis=1).round(DIGITS)
    return 1 + int((means > round(own[measure].mean(), DIGITS)).sum()), 1 + len(means)
