"""Figures as SVG text: lines with error bars, and a matrix as shaded cells, each in panels side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

from proxembed.report.figures import COLOURS, INK, shades

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 310, 330, 52, 64, 50
DASHES = ("", "6 3", "2 3", "8 3 2 3")
Line = Mapping[float, tuple[float, float]]


def line_panels(title: str, axes: tuple[str, str], panels: Mapping[str, Mapping[str, Line]]) -> str:
    """Lines of values with their errors, one panel for each set; all panels have the same names, in one legend.

    panels : set -> name -> x -> (value, error).

    >>> line_panels("made", ("x", "y"), {"yeast": {"PCA": {1.0: (0.5, 0.1), 2.0: (0.6, 0.1)}}}).count("<polyline")
    1
    """
    names = list(dict.fromkeys(name for lines in panels.values() for name in lines))
    looks = {name: (COLOURS[i % len(COLOURS)], DASHES[i % len(DASHES)]) for i, name in enumerate(names)}
    body = [piece for i, (name, lines) in enumerate(panels.items()) for piece in _lines(i, name, lines, looks, axes)]
    return _whole(title, len(panels), [*_legend(looks), *body])


def cell_panels(title: str, axes: tuple[str, str], panels: Mapping[str, tuple[Sequence, Sequence, np.ndarray]]) -> str:
    """Matrices as cells, dark where values are large, each with its value: set -> (rows, columns, values (a, h)).

    >>> cell_panels("made", ("x", "y"), {"yeast": ([0.1], [0.3, 0.6], np.array([[0.5, 0.7]]))}).count("<rect")
    3
    """
    colours = shades()
    body = [piece for i, (name, found) in enumerate(panels.items()) for piece in _cells(i, name, found, axes, colours)]
    return _whole(title, len(panels), body)


def _whole(title: str, panels: int, body: list[str]) -> str:
    width = WIDTH * max(panels, 1) + 16
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}" width="{width}" height="{HEIGHT}" '
        f'font-family="Helvetica, Arial, sans-serif" font-size="11" fill="{INK}">'
    )
    ground = f'<rect width="{width}" height="{HEIGHT}" fill="#ffffff"/>'
    return "\n".join([head, ground, _text(12, 18, title, 'font-size="14" font-weight="bold"'), *body, "</svg>"]) + "\n"


def _text(x: float, y: float, words: str, how: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {how}>{escape(words)}</text>'


def _legend(looks: Mapping[str, tuple[str, str]]) -> list[str]:
    parts, x = [], 14.0
    for name, (colour, dash) in looks.items():
        parts.append(f'<line x1="{x}" x2="{x + 22}" y1="34" y2="34" {_stroke(colour, dash)}/>')
        parts.append(_text(x + 27, 38, name))
        x += 44 + 6.0 * len(name)
    return parts


def _stroke(colour: str, dash: str) -> str:
    return f'stroke="{colour}" stroke-width="1.8" stroke-dasharray="{dash}"'


def _frame(number: int) -> tuple[float, float, float, float]:
    """Left, right, top and bottom of a panel."""
    return number * WIDTH + LEFT, (number + 1) * WIDTH, TOP, HEIGHT - BOTTOM


def _titles(number: int, name: str, axes: tuple[str, str]) -> list[str]:
    left, right, top, bottom = _frame(number)
    middle = (left + right) / 2
    upright = f'text-anchor="middle" transform="rotate(-90 {left - 38:.1f} {(top + bottom) / 2:.1f})"'
    return [
        _text(left, top - 8, name, 'font-weight="bold"'),
        _text(middle, bottom + 36, axes[0], 'text-anchor="middle"'),
        _text(left - 38, (top + bottom) / 2, axes[1], upright),
    ]


def _lines(number: int, name: str, lines: Mapping[str, Line], looks, axes: tuple[str, str]) -> list[str]:
    left, right, top, bottom = _frame(number)
    points = [(x, value) for line in lines.values() for x, (value, _) in line.items()]
    if not points:
        return []
    xs, ys = (np.array(each) for each in zip(*points, strict=True))
    low, high = np.floor(20 * ys.min()) / 20, np.ceil(20 * ys.max()) / 20 + 1e-9
    span = max(float(xs.max()), 1e-9)

    def place(x: float, y: float) -> tuple[float, float]:
        return left + (right - left) * x / (1.02 * span), bottom - (bottom - top) * (y - low) / (high - low)

    parts = _titles(number, name, axes)
    for tick in np.arange(low, high + 1e-6, 0.1 if high - low > 0.3 else 0.05):
        y = place(0, tick)[1]
        parts.append(f'<line x1="{left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" stroke="#dddddd"/>')
        parts.append(_text(left - 6, y + 4, f"{tick:.2f}", 'text-anchor="end"'))
    for tick in np.arange(0, span + 1e-6, 10 if span > 10 else max(span / 5, 1e-9)):
        parts.append(_text(place(tick, 0)[0], bottom + 16, f"{tick:g}", 'text-anchor="middle"'))
    for label, line in lines.items():
        colour, dash = looks[label]
        way = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(at, value) for at, (value, _) in line.items()))
        parts.append(f'<polyline points="{way}" fill="none" {_stroke(colour, dash)}/>')
        for at, (value, error) in line.items():
            (x, down), (_, up) = place(at, value - error), place(at, value + error)
            told = f"<title>{escape(f'{label}, {at:g}: {value:.3f}')}</title>"
            parts.append(
                f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{down:.1f}" y2="{up:.1f}" stroke="{colour}">{told}</line>'
            )
    return parts


def _cells(number: int, name: str, found, axes: tuple[str, str], colours: np.ndarray) -> list[str]:
    left, right, top, bottom = _frame(number)
    rows, columns, values = found
    wide, tall = (right - left) / len(columns), (bottom - top) / len(rows)
    low, high = float(values.min()), float(values.max())
    shade = np.rint(255 * (values - low) / max(high - low, 1e-12)).astype(int)
    parts = _titles(number, name, axes)
    for i, row in enumerate(rows):
        y = bottom - tall * (i + 1)
        parts.append(_text(left - 5, y + tall / 2 + 4, f"{row:g}", 'text-anchor="end"'))
        for j, column in enumerate(columns):
            x, colour = left + wide * j, "#{:02x}{:02x}{:02x}".format(*colours[shade[i, j]])
            told = f"<title>{row:g}, {column:g}: {values[i, j]:.3f}</title>"
            where = f'x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{tall:.1f}"'
            parts.append(f'<rect {where} fill="{colour}">{told}</rect>')
            ink = "#ffffff" if shade[i, j] > 130 else INK
            digits = f"{values[i, j]:.2f}".lstrip("0")
            parts.append(
                _text(x + wide / 2, y + tall / 2 + 3, digits, f'text-anchor="middle" font-size="8" fill="{ink}"')
            )
    for j, column in enumerate(columns):
        parts.append(_text(left + wide * (j + 0.5), bottom + 14, f"{column:g}", 'text-anchor="middle" font-size="9"'))
    return parts
