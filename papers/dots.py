"""A figure as SVG text: one line an entrant, one dot a column (a data set, or a share of labelled rows)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from proxembed.report.figures import COLOURS, INK

WIDTH, LEFT, RIGHT, ROW, TOP = 900, 190, 24, 24, 78
SHAPES = ("circle", "square")


def dot_plot(title: str, axis: str, rows: Mapping[str, Mapping[str, float]], columns: Sequence[str]) -> str:
    """Draw values from 0 to 1: rows of dots, a colour and a shape for each column.

    Parameters
    ----------
    title, axis : str
    rows : mapping of str to mapping of str to float
        For each entrant the value in each column; columns that it lacks have no dot.
    columns : sequence of str
        In the order of the legend.

    Returns
    -------
    str
        SVG markup.

    Examples
    --------
    >>> from papers.dots import dot_plot
    >>> dot_plot("made", "macro F1", {"PCA": {"yeast": 0.5}}, ["yeast"]).count("<circle")
    2
    """
    looks = {name: (COLOURS[i % len(COLOURS)], SHAPES[i // len(COLOURS) % 2]) for i, name in enumerate(columns)}
    height = TOP + ROW * len(rows) + 44
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'font-family="Helvetica, Arial, sans-serif" font-size="12" fill="{INK}">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        _text(12, 22, title, 'font-size="15" font-weight="bold"'),
        *_legend(looks),
        *_grid(height - 40, axis),
    ]
    for number, (name, values) in enumerate(rows.items()):
        y = TOP + ROW * number + ROW / 2
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}" stroke="#eeeeee"/>')
        parts.append(_text(LEFT - 10, y + 4, name, 'text-anchor="end"'))
        known = [(column, values[column]) for column in columns if values.get(column) is not None]
        parts += [_mark(_x(value), y, *looks[column], f"{name}, {column}: {value:.3f}") for column, value in known]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _x(value: float) -> float:
    return round(LEFT + (WIDTH - LEFT - RIGHT) * value, 1)


def _text(x: float, y: float, words: str, how: str = "") -> str:
    return f'<text x="{x}" y="{y}" {how}>{escape(words)}</text>'


def _mark(x: float, y: float, colour: str, shape: str, words: str) -> str:
    told = f"<title>{escape(words)}</title>"
    if shape == "circle":
        return f'<circle cx="{x}" cy="{y}" r="5" fill="{colour}" fill-opacity="0.85">{told}</circle>'
    return f'<rect x="{x - 4.5}" y="{y - 4.5}" width="9" height="9" fill="{colour}" fill-opacity="0.85">{told}</rect>'


def _legend(looks: Mapping[str, tuple[str, str]]) -> list[str]:
    parts, x, y = [], 18.0, 44
    for name, look in looks.items():
        width = 24 + 7.0 * len(name)
        if x + width > WIDTH:
            x, y = 18.0, y + 18
        parts += [_mark(x, y - 4, *look, name), _text(x + 9, y, name)]
        x += width
    return parts


def _grid(bottom: float, axis: str) -> list[str]:
    parts = []
    for tick in range(11):
        x = _x(tick / 10)
        parts.append(f'<line x1="{x}" x2="{x}" y1="{TOP - 4}" y2="{bottom}" stroke="#dddddd"/>')
        parts.append(_text(x, bottom + 15, f"{tick / 10:g}", 'text-anchor="middle"'))
    return [*parts, _text((LEFT + WIDTH - RIGHT) / 2, bottom + 33, axis, 'text-anchor="middle"')]
