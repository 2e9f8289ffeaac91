"""Static figures: the k-curve as SVG text for wide and narrow screens, and matrices as PNG."""

import base64
import io
import re
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from proxembed.evaluate.arms import ALL_FEATURES
from proxembed.evaluate.results import name_parts
from proxembed.evaluate.verdict import rows_of_folds
from proxembed.measures.measures import unit_of_measure
from proxembed.tables.notes import counted, visible

from .matrices import unpacked
from .views import LABEL_COLOURS, RAMP

COLOURS = (*LABEL_COLOURS, "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "h", "p")
LINES = (*LABEL_COLOURS, "#7f0000", "#332288")  # of methods, as far apart, for colour-blind readers too, as these are
GREYS = ("#4d4d4d", "#949494", "#707070")  # of rivals, which share no colour with methods
DASHES: tuple[Any, ...] = ("--", "-.", (0, (7, 2, 1, 2, 1, 2)), (0, (8, 3)))  # of rivals, one per round of the greys
DOTS: tuple[Any, ...] = ((0, (1, 2)), (0, (1, 4)), (0, (1, 7)))  # of rivals without an embedding, likewise
INK = "#1a1a1a"
EMBEDDED = re.compile(r"data:image/png;base64,\s*([\w+/=\s]+)", re.ASCII)
APART = 0.05  # of an axis, between two ticks with labels
ROW = 0.21  # inches of a line of a legend
STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.sans-serif": ["Helvetica", "Arial", "DejaVu Sans"],
    "font.size": 10.5,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": "#666666",
    "xtick.color": INK,
    "ytick.color": INK,
    "text.parse_math": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def line_looks(arms: Sequence[tuple[str, bool]], flat: Collection[str]) -> dict[str, dict[str, Any]]:
    """Colour, dash and marker of each line, no two alike: methods coloured and solid, rivals grey, dashed with hollow
    markers, or dotted without k; all features are a bold line of black dots."""
    bold: dict[str, Any] = {"color": INK, "linewidth": 2.2, "linestyle": ":"}
    looks = {ALL_FEATURES: bold} if ALL_FEATURES in flat else {}
    for number, arm in enumerate(arm for arm, _ in arms if arm in flat and arm != ALL_FEATURES):
        turn, place = divmod(number, len(GREYS))
        looks[arm] = {"color": GREYS[place], "linewidth": 1.1, "linestyle": DOTS[turn % len(DOTS)]}
    for number, arm in enumerate(arm for arm, rival in arms if rival and arm not in flat):
        turn, place = divmod(number, len(GREYS))
        mark = MARKERS[(number + number // len(MARKERS)) % len(MARKERS)]
        look = {"color": GREYS[place], "marker": mark, "markerfacecolor": "white"}
        looks[arm] = look | {"linestyle": DASHES[turn % len(DASHES)]}
    for number, arm in enumerate(arm for arm, rival in arms if not rival and arm not in flat):
        turn, place = divmod(number, len(LINES))
        mark = MARKERS[(number + turn) % len(MARKERS)]
        looks[arm] = {"color": LINES[place], "marker": mark, "linestyle": "-"}
    return looks


def _arms(summary: dict[str, Any]) -> list[tuple[str, bool]]:
    """Arms and whether they are rivals: methods first, each kind in the order of the leaderboard."""
    return sorted(((entry["arm"], entry["rival"]) for entry in summary["best"]), key=lambda arm: arm[1])


def _size(n_arms: int, narrow: bool) -> tuple[float, float]:
    """Inches, with room for a legend of this many names (two columns on narrow screens)."""
    return (4.0, 4.1 + ROW / 2 * n_arms) if narrow else (9.2, max(3.9, 0.5 + ROW * n_arms))


def _caption(axes: Any, summary: dict[str, Any], name: str) -> None:
    axes.set_xlabel("number of components k (log scale)")
    axes.set_ylabel(name + unit_of_measure(name_parts(name)[0]))
    n, folds = rows_of_folds(summary), len(summary["folds"])
    axes.set_title(f"n = {n:,} rows in all, {counted(folds, 'fold')}, bars: 1 s.e.", fontsize=10, loc="left")
    axes.grid(axis="y", color="#dddddd", linewidth=0.7)


def _draw(axes: Any, arms: list[tuple[str, bool]], curve: dict[str, Any], stem: str) -> list[str]:
    """One line per arm, in a group whose id ends with -arm and its number, which the page lights up; returns ids."""
    ids = []
    ticks = sorted({k for points in curve.values() for k, _, _ in points if k is not None})
    looks = line_looks(arms, [arm for arm, points in curve.items() if points and points[0][0] is None])
    for number, (arm, _) in enumerate(arms):
        points, look = curve.get(arm, []), looks[arm]
        if not points:
            continue
        if points[0][0] is None:
            axes.axhline(points[0][1], **look, label=f"{arm} (no k)", gid=f"{stem}-arm{number}")
            ids.append(f"{stem}-name-arm{number}")
            continue
        ks, means, errors = zip(*points, strict=True)
        bars = [error or 0.0 for error in errors]
        drawn = axes.errorbar(ks, means, yerr=bars, label=arm, linewidth=1.6, markersize=5.5, elinewidth=0.9, **look)
        for part, artist in enumerate((drawn.lines[0], *drawn.lines[2])):
            artist.set_gid(f"{stem}-{'bar' * part}-arm{number}")
        ids.append(f"{stem}-name-arm{number}")
    if ticks:
        axes.set_xscale("log")
        named = spaced(ticks)
        axes.set_xticks(named, [str(k) for k in named])
        axes.minorticks_off()
    return ids


def spaced(ticks: Sequence[int]) -> list[int]:
    """Ticks of a logarithmic axis whose labels do not overlap: of two that are too close the larger."""
    if len(ticks) < 2:
        return list(ticks)
    least = APART * np.log(ticks[-1] / ticks[0])
    kept = [ticks[-1]]
    for tick in reversed(ticks[:-1]):
        if np.log(kept[-1] / tick) >= least:
            kept.append(tick)
    return kept[::-1]


def k_curve(summary: dict[str, Any], name: str, *, narrow: bool = False) -> str:
    """Draw a measure against the number of components k, one line per arm, bars of one standard error."""
    if name not in summary["measures"]:
        raise ValueError(f"name={name!r} is not a measure of this summary; it has {', '.join(summary['measures'])}.")

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        stem = re.sub(r"\W+", "-", f"{name} {'narrow' if narrow else 'wide'}")
        ids = _draw(axes, _arms(summary), summary["curves"][name], stem)
        _caption(axes, summary, name)
        legend = _legend(figure, narrow)
        for text, identifier in zip(legend.get_texts(), ids, strict=False):
            text.set_gid(identifier)

    return svg_text(_size(len(summary["best"]), narrow), draw, f"{name}-{narrow}")


def _legend(figure: Any, narrow: bool) -> Any:
    """The names of the lines: beside the axes, or on narrow screens below, in two columns where both fit."""
    if not narrow:
        return figure.legend(loc="outside right upper", frameon=False)
    tight: Any = {"fontsize": 9, "handlelength": 1.6, "handletextpad": 0.5, "columnspacing": 0.8, "borderaxespad": 0.1}
    legend = figure.legend(loc="outside lower center", ncols=2, frameon=False, **tight)
    figure.draw_without_rendering()
    if legend.get_window_extent().width <= figure.bbox.width:
        return legend
    legend.remove()
    names = len(legend.get_texts())
    figure.set_figheight(figure.get_figheight() + ROW * (names - (names + 1) // 2))
    return figure.legend(loc="outside lower center", frameon=False, **tight)


def svg_text(size: tuple[float, float], draw: Callable[[Any], None], salt: str) -> str:
    """A figure as SVG markup without an XML head, in the style of the page; the same text every time."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure
    from matplotlib.text import Text

    settings: Any = {**STYLE, "svg.hashsalt": salt}
    with matplotlib.rc_context(settings):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        texts: Any = figure.findobj(Text)
        for text in texts:
            text.set_text(visible(text.get_text()))
        FigureCanvasSVG(figure)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    svg = EMBEDDED.sub(lambda found: _with_palette(found[1]), out.getvalue())
    return svg[svg.index("<svg") :]


def _with_palette(encoded: str) -> str:
    """An image of at most 256 colours in an SVG with a byte per pixel in place of four; any other as it is."""
    from PIL import Image

    pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(encoded))).convert("RGBA"))
    colours, codes = np.unique(pixels.reshape(-1, 4), axis=0, return_inverse=True)
    if len(colours) > 256:
        return f"data:image/png;base64,{encoded}"
    picture, out = Image.fromarray(codes.reshape(pixels.shape[:2]).astype(np.uint8)), io.BytesIO()
    opaque = bool((colours[:, 3] == 255).all())
    picture.putpalette((colours[:, :3] if opaque else colours).tobytes(), "RGB" if opaque else "RGBA")
    picture.save(out, format="png", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(out.getvalue()).decode()}"


def ramp() -> tuple[str, ...]:
    """Colours of the shades from 0 to the darkest: one hue, ever darker, told apart by colour-blind readers too."""
    return ("#f7fafc", *RAMP, "#03192d")


def shades() -> np.ndarray:
    """The 256 colours of a matrix, uint8 of shape (256, 3), evenly along the ramp."""
    stops = np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in ramp()], dtype=np.float64)
    at = np.linspace(0, len(stops) - 1, 256)
    return np.rint([np.interp(at, np.arange(len(stops)), channel) for channel in stops.T]).astype(np.uint8).T


def matrix_png(values: np.ndarray) -> bytes:
    """A matrix of uint8 as a PNG file, one pixel per entry, 0 light and 255 dark."""
    if values.ndim != 2 or values.dtype != np.uint8 or 0 in values.shape:
        raise ValueError(
            f"values has shape {values.shape} and type {values.dtype}; give a matrix of uint8, at least one by one."
        )
    from PIL import Image

    picture, out = Image.fromarray(values), io.BytesIO()
    picture.putpalette(shades().tobytes())
    picture.save(out, format="png", optimize=True)
    return out.getvalue()


def matrix_view(found: dict[str, Any] | None) -> dict[str, Any] | None:
    """The proximity matrices for the page: each with its picture as a data address."""
    if not found or not found["panels"]:
        return None
    head = "data:image/png;base64,"
    panels = [
        {**panel, "address": head + base64.b64encode(matrix_png(unpacked(panel))).decode("ascii")}
        for panel in found["panels"]
    ]
    return {**found, "panels": panels}
