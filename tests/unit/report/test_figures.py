"""Images in figures."""

import base64
import io
import re

import numpy as np
from PIL import Image

from proxembed.report import figures
from proxembed.report.figures import svg_text


def test_an_image_of_few_colours_in_a_figure_has_a_byte_per_pixel(monkeypatch):
    """The same pixels in half of the bytes or less."""
    values = np.random.default_rng(0).uniform(size=(64, 64))

    def draw(figure):
        figure.subplots().imshow(values, cmap="Greys", interpolation="none")

    small = svg_text((3, 3), draw, "x")
    monkeypatch.setattr(figures, "EMBEDDED", re.compile("(?!)"))
    large = svg_text((3, 3), draw, "x")
    pictures = [re.search(r"base64,\s*([\w+/=\s]+)", svg)[1] for svg in (small, large)]
    assert 2 * len(pictures[0]) < len(pictures[1])
    pixels = [np.asarray(Image.open(io.BytesIO(base64.b64decode(each))).convert("RGBA")) for each in pictures]
    np.testing.assert_array_equal(*pixels)
