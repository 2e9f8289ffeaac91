"""The held-out map of a record as axes of matplotlib, for notebooks and papers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .figures import COLOURS, INK, MARKERS

OURS = 1  # the panel of the chosen embedding: PCA stands before it, shuffled labels after it
OTHERS, NONE = "other labels", "no label"
PALE = "#b5b5b5"


def map_axes(section: dict[str, Any], ax: Any = None) -> Any:
    """Draw the held-out rows in the first two components of the chosen embedding, coloured by label; an only component
    as a histogram per label.

    The seven most frequent labels have a colour and a marker each (Okabe and Ito's colours, which colour-blind readers
    tell apart). A row of several of them has those of its rarest; the legend counts the rows that are drawn so.

    Parameters
    ----------
    section : dict
        From ``map_section``, its second panel that of the embedding.
    ax : matplotlib Axes, optional
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib Axes
        One collection per entry of the legend.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from proxembed.report import map_section
    >>> from proxembed.report.map_figure import map_axes
    >>> Z = [[0.0, 1.0], [1.0, 0.0]]
    >>> section = map_section([("PCA", Z, None, None), ("OPLS", Z, 0.5, None)], [[1, 0], [1, 1]], ["a", "b"])
    >>> ax = map_axes(section, Figure().add_subplot())
    >>> ax.get_title(loc="left"), [text.get_text() for text in ax.get_legend().get_texts()]
    ('OPLS: 2 held-out rows', ['b (n = 1)', 'a (n = 1)'])
    """
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.subplots(layout="constrained")[1]
    panel, members = section["panels"][OURS], section["members"]
    Z = np.column_stack([panel["x"], panel["y"]])
    shown, rows = section["labels"][: len(COLOURS)], np.arange(len(members))
    lead = np.array([_rarest(labels, len(shown)) for labels in members], dtype=np.intp)
    looks: list[tuple[str, int, dict[str, Any]]] = [(NONE, -2, {"color": PALE, "marker": "."})]
    looks.append((OTHERS, -1, {"color": PALE, "marker": "x"}))
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
