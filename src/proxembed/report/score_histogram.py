"""Histograms of the one score of a yes/no label: one panel per class, training and held-out rows apart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .figures import COLOURS, INK, svg_text
from .views import middle_cut

BINS, TITLE = 30, 56  # of a panel: bins, and letters of a title
OURS = 1  # the column of the chosen embedding; all features stand before it
ROW = 1.5  # inches of a panel
OUTLINED, FILLED = "training rows", "held-out rows"


@dataclass(frozen=True)
class ScoredRows:
    """Scores of training and held-out rows, and whether each row has the label. ``train`` may be None."""

    new: np.ndarray
    new_has: np.ndarray
    train: np.ndarray | None = None
    train_has: np.ndarray | None = None

    def sides(self, has: bool) -> tuple[np.ndarray | None, np.ndarray]:
        """Scores of the training and the held-out rows of a class."""
        train = None if self.train is None else self.train[self.train_has == has]
        return train, self.new[self.new_has == has]

    def edges(self) -> np.ndarray:
        """Edges of the bins: all rows but half a per cent at either end, which are in the last bins."""
        every = self.new if self.train is None else np.concatenate([self.train, self.new])
        low, high = np.percentile(every, [0.5, 99.5])
        return np.linspace(low, high if high > low else low + 1.0, BINS + 1)


def class_names(labels: Sequence[str]) -> tuple[str, str]:
    """What the rows with and without the label are called, by one label or the two classes of a column."""
    return (str(labels[1]), str(labels[0])) if len(labels) == 2 else (str(labels[0]), f"no {labels[0]}")


def score_view(section: Mapping[str, Any] | None) -> str | None:
    """The histograms of the map section of a record; None where it holds none."""
    if not section or "scores" not in section:
        return None
    names = class_names(section["scores"]["labels"])
    return histogram_svg(scored_columns(section["scores"]), names, f"score of {middle_cut(names[0])} (no unit)")


def scored_columns(scores: Mapping[str, Any]) -> list[tuple[str, ScoredRows]]:
    """The titles and scored rows of a record."""
    has = np.asarray(scores["new_has"], dtype=bool), np.asarray(scores["train_has"], dtype=bool)
    return [
        (title, ScoredRows(np.asarray(new), has[0], np.asarray(train), has[1]))
        for title, train, new in scores["columns"]
    ]


def draw_histograms(
    figure: Any, columns: Sequence[tuple[str, ScoredRows]], names: tuple[str, str], axis: str = "score"
) -> None:
    """Draw one column per title: above the rows with the label, below those without; each bar is a share of the rows
    of its class and side. Held-out rows are filled, training rows outlined."""
    grid = figure.subplots(2, len(columns), squeeze=False, sharex="col")
    for (title, rows), panels in zip(columns, grid.T, strict=True):
        edges = rows.edges()
        for axes, has, name, colour in zip(panels, (True, False), names, COLOURS, strict=False):
            fill_panel(axes, rows.sides(has), edges, colour)
            sides = zip(rows.sides(has), ("training", "held out"), strict=True)
            counts = [f"{len(side):,} {what}" for side, what in sides if side is not None]
            axes.set_title(f"{middle_cut(name)}: n = {', '.join(counts)}", loc="left", fontsize=9, color=INK)
            axes.set_ylabel("% of rows", fontsize=8.5)
        words = title if len(title) <= TITLE else middle_cut(title)
        panels[0].text(0, 1.22, words, transform=panels[0].transAxes, fontweight="bold", fontsize=9)
        panels[1].set_xlabel(axis, fontsize=9)


def fill_panel(axes: Any, sides: tuple[np.ndarray | None, np.ndarray], edges: np.ndarray, colour: str) -> None:
    """The bars of the held-out rows of a class, and the outline of its training rows."""
    train, new = sides
    if len(new):
        axes.hist(edges[:-1], edges, weights=shares(new, edges), color=colour, alpha=0.75, label=FILLED)
    if train is not None and len(train):
        axes.stairs(shares(train, edges), edges, color=INK, linewidth=1.1, label=OUTLINED)


def histogram_axes(section: Mapping[str, Any], ax: Any) -> Any:
    """The histogram of the chosen embedding, both classes on one axes."""
    title, rows = scored_columns(section["scores"])[OURS]
    edges = rows.edges()
    for has, name, colour in zip((True, False), class_names(section["scores"]["labels"]), COLOURS, strict=False):
        train, new = rows.sides(has)
        own = 0 if train is None else len(train)
        words = f"{middle_cut(name)} (n = {own:,} training, outlined; {len(new):,} held out)"
        ax.hist(edges[:-1], edges, weights=shares(new, edges), color=colour, alpha=0.5, label=words)
        if train is not None and own:
            ax.stairs(shares(train, edges), edges, color=colour, linewidth=1.4)
    ax.set(xlabel="score (no unit)", ylabel="% of the rows of a class")
    ax.set_title(middle_cut(title), loc="left", fontsize=10, parse_math=False)
    for text in ax.legend(frameon=False, fontsize=8.5).get_texts():
        text.set_parse_math(False)
    return ax


def shares(scores: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Per cent of the rows in each bin."""
    return 100 * np.histogram(np.clip(scores, edges[0], edges[-1]), edges)[0] / max(len(scores), 1)


def histogram_svg(columns: Sequence[tuple[str, ScoredRows]], names: tuple[str, str], axis: str = "score") -> str:
    """These histograms as SVG markup."""
    size = (3.6 * len(columns), 2 * ROW + 0.9)
    return svg_text(size, lambda figure: draw_histograms(figure, columns, names, axis), "scores")
