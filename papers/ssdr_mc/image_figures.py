"""The images of a draw and their projections, as SVG: for the paper's Figures 1 and 2.  [qian2010ssdrmc]"""

from __future__ import annotations

from typing import Any

import numpy as np

from papers.ssdr_mc.images import DIGITS, EACH, TRAITS, Images, images_of, projections, together
from proxembed.report.figures import COLOURS, MARKERS, svg_text

FACES, PROJECTIONS = "digit_images.svg", "digit_projections.svg"
LATER = tuple(f"pass {number}" for number in range(3, 50))  # passes between the second and the last are not shown
GAP = 1  # pixels between images


def image_figures(seed: int, draw: int = 1) -> dict[str, str]:
    """File name -> SVG, of one draw.

    Examples
    --------
    >>> from papers.ssdr_mc.image_figures import image_figures
    >>> sorted(image_figures(0))
    ['digit_images.svg', 'digit_projections.svg']
    """
    images = images_of(seed, draw)
    return {FACES: _faces(images), PROJECTIONS: _projections(images, draw)}


def _traits(labels: np.ndarray) -> str:
    """The traits of an image in words."""
    return ", ".join(name for name, held in zip(TRAITS, labels[DIGITS:], strict=True) if held) or "no trait"


def _faces(images: Images) -> str:
    """A line a digit: its ten images, the labelled ones framed, and its traits."""
    side = round(np.sqrt(images.X.shape[1]))
    step = side + GAP
    sheet = np.full((DIGITS * step, EACH * step), np.nan)
    for number, pixels in enumerate(images.X):
        row, column = divmod(number, EACH)
        sheet[row * step : row * step + side, column * step : column * step + side] = pixels.reshape(side, side)

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        axes.imshow(sheet, cmap="gray_r", interpolation="nearest")
        for number in np.flatnonzero(images.known):
            row, column = divmod(int(number), EACH)
            frame = [column * step - 0.5, column * step + side - 0.5, row * step - 0.5, row * step + side - 0.5]
            x, y = [frame[i] for i in (0, 1, 1, 0, 0)], [frame[i] for i in (2, 2, 3, 3, 2)]
            axes.plot(x, y, color=COLOURS[1], linewidth=1.5)
        words = [f"{images.digit[row * EACH]}: {_traits(images.labels[row * EACH])}" for row in range(DIGITS)]
        axes.set_yticks(np.arange(DIGITS) * step + side / 2, words)
        axes.set_xticks([])
        axes.tick_params(length=0)
        for edge in axes.spines.values():
            edge.set_visible(False)
        axes.set_title("Images of the first draw; the framed ones are labelled", fontsize=10, loc="left")

    return svg_text((8.0, 3.2), draw, "digit images")


def _projections(images: Images, draw_number: int) -> str:
    """A panel a projection: shapes are digits, colours sets of traits, labelled images filled."""
    found = projections(images)
    shown = [name for name in found if not name.endswith(LATER)]
    across, kinds = 4, sorted({_traits(labels) for labels in images.labels})
    down = -(-len(shown) // across)

    def draw(figure: Any) -> None:
        places = figure.subplots(down, across, squeeze=False).ravel()
        for axes, name in zip(places, shown, strict=False):
            share = 100 * together(found[name], images)
            axes.set_title(f"{name}\n{share:.0f} % beside their digit", fontsize=9)
            axes.set(xticks=[], yticks=[])
            _scatter(axes, found[name], images, kinds)
        for axes in places[len(shown) :]:
            axes.axis("off")
        handles, names = places[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside upper left", ncols=DIGITS, frameon=False, fontsize=8.5)
        note = f"n = {len(images.X)} images of draw {draw_number}, {images.known.sum()} labelled (filled)"
        figure.supxlabel(note, fontsize=9)

    return svg_text((9.6, 2.5 * down + 0.9), draw, "digit projections")


def _scatter(axes: Any, Z: np.ndarray, images: Images, kinds: list[str]) -> None:
    for number, digit in enumerate(np.unique(images.digit)):
        own = images.digit == digit
        traits = _traits(images.labels[own][0])
        colour = COLOURS[kinds.index(traits)]
        look = {"marker": MARKERS[number], "markersize": 5, "linestyle": "", "markeredgecolor": colour}
        axes.plot(*Z[own & ~images.known].T, markerfacecolor="none", **look)
        axes.plot(*Z[own & images.known].T, markerfacecolor=colour, label=f"{digit}: {traits}", **look)
