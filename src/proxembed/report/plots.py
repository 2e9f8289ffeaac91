"""Small figures as parts of SVG for a template: axes with ticks, and marks as compact paths, without markup."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

WIDTH, HEIGHT, WIDE = 520, 390, 1080
LEFT, RIGHT, TOP, BOTTOM = 72, 16, 16, 54
MARGIN = 0.05  # of a range, on both sides


def nice_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers from ``low`` to ``high``, in steps of 1, 2 or 5 times a power of ten, ``most`` at most."""
    if not high > low:
        return [low]
    raw = (high - low) / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(each * power for each in (1, 2, 5, 10) if each * power >= raw * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    return [round(i * step, 12) + 0.0 for i in range(first, math.floor(high / step + 1e-9) + 1)]


def tick_texts(ticks: Sequence[float]) -> list[str]:
    """Ticks as text, all with the same number of digits after the point, and a minus sign."""
    step = min((b - a for a, b in zip(ticks, ticks[1:], strict=False)), default=abs(ticks[0]) or 1.0)
    if max(map(abs, ticks)) >= 1e6 or step < 1e-4:
        return [f"{tick:.3g}".replace("-", "−") for tick in ticks]
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    comma = "," if max(map(abs, ticks)) >= 10_000 else ""  # wavelengths have none
    return [f"{tick:{comma}.{digits}f}".replace("-", "−") for tick in ticks]


@dataclass(frozen=True)
class Frame:
    """The axes of a figure: what is shown from left to right and from bottom to top, in data units."""

    x: tuple[float, float]
    y: tuple[float, float]
    width: int = WIDTH
    height: int = HEIGHT

    @classmethod
    def around(cls, x: Iterable[float | None], y: Iterable[float | None], **more: Any) -> "Frame":
        """A little more than the range of the values."""
        return cls(_span(x), _span(y), **more)

    @property
    def box(self) -> dict[str, int]:
        """The edges of the area between the axes."""
        return {"left": LEFT, "right": self.width - RIGHT, "top": TOP, "bottom": self.height - BOTTOM}

    def at(self, x: float, y: float) -> tuple[float, float]:
        """A point in units of the figure, cut to the area between the axes."""
        box = self.box
        u = min(max((x - self.x[0]) / (self.x[1] - self.x[0]), 0.0), 1.0)
        v = min(max((y - self.y[0]) / (self.y[1] - self.y[0]), 0.0), 1.0)
        return box["left"] + u * (box["right"] - box["left"]), box["bottom"] - v * (box["bottom"] - box["top"])

    def line(self, x: Iterable[float | None], y: Iterable[float | None]) -> str:
        """A line through points as path data."""
        places = [self.at(a, b) for a, b in zip(x, y, strict=True) if a is not None and b is not None]
        return "M" + "L".join(f"{u:.1f} {v:.1f}" for u, v in places) if places else ""

    def dots(self, x: Iterable[float | None], y: Iterable[float | None]) -> str:
        """Points as path data: lines of no length, to be drawn with round ends."""
        places = [self.at(a, b) for a, b in zip(x, y, strict=True) if a is not None and b is not None]
        return "".join(f"M{u:.0f} {v:.0f}h0" for u, v in places)

    def across(self, y: float | None) -> str:
        """A level line."""
        return "" if y is None or not self.y[0] <= y <= self.y[1] else self.line(self.x, (y, y))

    def upright(self, x: float | None) -> str:
        """An upright line."""
        return "" if x is None or not self.x[0] <= x <= self.x[1] else self.line((x, x), self.y)

    def view(
        self, x_title: str, y_title: str, alt: str, marks: Sequence[dict[str, Any]], **more: Any
    ) -> dict[str, Any]:
        """A figure for the template. A mark has ``d`` (path data), ``kind`` (line or dots), ``colour``, ``size``, and
        ``dash`` or ``opacity``."""
        ticks = {}
        for name, span in (("x", self.x), ("y", self.y)):
            values = [value for value in nice_ticks(*span) if span[0] <= value <= span[1]] or [span[0]]
            ends = [self.at(value, self.y[0])[0] if name == "x" else self.at(self.x[0], value)[1] for value in values]
            ticks[name] = [
                {"at": round(at, 1), "text": text} for at, text in zip(ends, tick_texts(values), strict=True)
            ]
        drawn = [mark for mark in marks if mark["d"]]
        words = {"x_title": x_title, "y_title": y_title, "alt": alt, "names": []}
        return {
            **words,
            "width": self.width,
            "height": self.height,
            "box": self.box,
            "ticks": ticks,
            "marks": drawn,
            **more,
        }


def _span(values: Iterable[float | None]) -> tuple[float, float]:
    known = [value for value in values if value is not None and math.isfinite(value)] or [0.0]
    low, high = min(known), max(known)
    margin = MARGIN * (high - low) or 0.05 * abs(high) or 0.5
    return low - margin, high + margin
