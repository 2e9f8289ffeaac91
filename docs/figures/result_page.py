"""The picture of a page of results in headless Chromium, in few colours.

    python docs/figures/result_page.py PAGE PICTURE
    python docs/figures/result_page.py PAGE PICTURE --callouts

The first form shows the first screen. The second shows the sections that docs/read_the_page.md explains, with its
numbers on them; further sections and lines of tables are left out. `make figure` calls both.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image, ImageChops

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WIDTH, HEIGHT, TALL = 1100, 1132, 8000  # the first screen ends below the verdict
COLORS = 128
CALLOUTS = (
    ".headline",
    "section.verdict .goal:first-child",
    "section.verdict .goal:nth-child(2)",
    "section.verdict > p:last-child",
    "dl.tiles",
    "#size",
    "#map",
    "#labels",
    "#leaderboard",
)
SHORT = """
#size figure ~ figure, #size figure ~ p, #components, #data, #words, #repeat, #details, #leaderboard tr:nth-child(n+8),
#labels tr:nth-child(n+8), footer { display: none; }
%s { position: relative; }
%s { position: absolute; left: -2.3rem; top: 0; width: 1.9rem; height: 1.9rem;
  border-radius: 50%%; background: #b3261e; color: #fff; font: bold 1.05rem/1.9rem sans-serif; text-align: center; }
.goal::before { left: -1.1rem !important; top: -1.1rem !important; }
dl.tiles { overflow: visible !important; }
body { padding-left: 3rem !important; }
"""


def with_callouts(page: str) -> str:
    """The page with a number beside each part that is explained, and without what the picture has no room for."""
    every = ", ".join(CALLOUTS)
    style = SHORT % (every, ", ".join(f"{selector}::before" for selector in CALLOUTS))
    style += "".join(f'{selector}::before {{ content: "{i}"; }}\n' for i, selector in enumerate(CALLOUTS, 1))
    return page.replace("</head>", f"<style>{style}</style></head>", 1)


def screenshot(page: Path, height: int, folder: str) -> Image.Image:
    """The page in a window of this height."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.exit(f"a picture of a page needs one of {', '.join(BROWSERS)}; on Debian: apt-get install chromium")
    shot = Path(folder, "shot.png")
    words = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder}/profile"]
    size = f"--window-size={WIDTH},{height}"
    url = page.resolve().as_uri()
    subprocess.run([browser, *words, size, f"--screenshot={shot}", url], check=True, capture_output=True)
    with Image.open(shot) as image:
        return image.convert("RGB")


def without_empty_end(image: Image.Image) -> Image.Image:
    """The picture up to the last line that differs from its last one."""
    last = image.crop((0, image.height - 1, image.width, image.height)).resize(image.size)
    box = ImageChops.difference(image, last).getbbox()
    return image.crop((0, 0, image.width, min(image.height, box[3] + 20))) if box else image


def main(page: Path, picture: Path, callouts: bool = False) -> None:
    with tempfile.TemporaryDirectory() as folder:
        if callouts:
            shown = Path(folder, "page.html")
            shown.write_text(with_callouts(page.read_text(encoding="utf-8")), encoding="utf-8")
            image = without_empty_end(screenshot(shown, TALL, folder))
        else:
            image = screenshot(page, HEIGHT, folder)
        image.quantize(COLORS, dither=Image.Dither.NONE).save(picture, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), "--callouts" in sys.argv[3:])
